// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens if there is no more memory. A large request that fails throws std::bad_alloc, as
// usual, and there is room for a message. If a small request fails, an exception does not help:
// libraries throw it from functions that must not throw, and crash. So the process ends here, with
// a message that takes no memory. Files are whole, as after a kill.
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
