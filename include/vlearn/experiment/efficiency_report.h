// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What people and programs read of a measurement: the same bytes for the same results.
#pragma once

#include <string>

#include "vlearn/experiment/efficiency.h"

namespace vlearn {

/// Tables in Markdown, which a terminal shows well too.
[[nodiscard]] std::string to_markdown(const EfficiencySummary& summary);
/// vlearn.efficiency/1.
[[nodiscard]] std::string to_json(const EfficiencySummary& summary);
/// A line for each game and seed.
[[nodiscard]] std::string to_csv(const EfficiencySummary& summary);
/// A figure of the ratios: on a logarithmic axis a dot at each game's median, a bar for the
/// interquartile range.
[[nodiscard]] std::string to_svg(const EfficiencySummary& summary);

}  // namespace vlearn
