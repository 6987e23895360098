// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Policy files are mapped, not read. If another program cuts one meanwhile, or its disk fails, the
// system has no bytes for the map, and sends the signal SIGBUS.
#pragma once

namespace vlearn::app {

/// From now on that ends the process with a message that names the file, and ExitCode::input.
void explain_cut_files() noexcept;

}  // namespace vlearn::app
