// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vlearn/core/certificate.h"

namespace vlearn::app {

/// One line on the gap, for people.
[[nodiscard]] std::string gap_text(const Certificate& certificate);

/// The same and a line for each player.
[[nodiscard]] std::string certificate_text(const Certificate& certificate);

}  // namespace vlearn::app
