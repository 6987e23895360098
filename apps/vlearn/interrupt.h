// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and its like: the first asks the command to stop in good order, the second ends it.
#pragma once

#include <optional>

#include "command.h"
#include "vlearn/core/cancel.h"

namespace vlearn::app {

/// SIGINT and SIGTERM fire the token from now on.
[[nodiscard]] CancelToken stop_on_signals();

/// The exit code that says which signal came: 130 or 143; nothing if none did.
[[nodiscard]] std::optional<ExitCode> signal_code();

}  // namespace vlearn::app
