// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens if there is no more memory. Who asks for much at once gets std::bad_alloc, as usual,
// and messages have room. If even little is not to be had, exceptions help nobody: libraries throw
// them from functions that may not, and crash on their way. Then the process ends here, with a
// message that takes no memory. Files are as after a kill: whole.
#pragma once

#include <string_view>

namespace vlearn::app {

inline constexpr std::string_view kLessMemory =
    "allow it more (ulimit -v), or use a smaller game or a shorter run";

/// What the message says from now on: how to ask for less. The text must stay.
void advise_in_need(std::string_view less_memory) noexcept;

/// Says that there is no memory.
void say_out_of_memory() noexcept;

/// And ends the process, with ExitCode::resource.
[[noreturn]] void end_for_lack_of_memory() noexcept;

}  // namespace vlearn::app
