// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and its like: the first asks the command to stop in good order, the second ends it.
#pragma once

#include "vlearn/core/cancel.h"

namespace vlearn::app {

/// SIGINT, SIGTERM and SIGUSR1 fire the token from now on, the first time each comes.
[[nodiscard]] CancelToken stop_on_signals();

}  // namespace vlearn::app
