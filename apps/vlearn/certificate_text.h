// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "vlearn/core/certificate.h"

namespace vlearn::app {

/// One line on the gap, for people; in green where it is what was wanted.
[[nodiscard]] std::string gap_text(const Certificate& certificate,
                                   std::optional<double> wanted = std::nullopt);

/// The same and a line for each player.
[[nodiscard]] std::string certificate_text(const Certificate& certificate,
                                           std::optional<double> wanted = std::nullopt);

}  // namespace vlearn::app
