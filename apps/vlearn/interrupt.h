// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and its like: the first asks the command to stop in good order and says so at once, the
// second ends it.
#pragma once

#include <string_view>

#include "command.h"
#include "vlearn/core/cancel.h"

namespace vlearn::app {

/// SIGINT, SIGTERM, SIGUSR1 and SIGHUP fire the token from now on, the first time each comes; the
/// second ends the process, but for SIGHUP, which shells send twice. What the
/// command does then, as "writing a checkpoint", is part of what is said; nothing: it just stops.
[[nodiscard]] CancelToken stop_on_signals(std::string_view meanwhile = {});

/// The exit code of a command that was stopped with nothing to go on from: 128 and the number of
/// the signal.
[[nodiscard]] ExitCode interrupted() noexcept;

}  // namespace vlearn::app
