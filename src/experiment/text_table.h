// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A table of texts that people read in a terminal and in a Markdown file alike.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace vlearn {

/// The first row has the names of the columns; every row has as many cells. The first column stands
/// left, the others right.
[[nodiscard]] std::string markdown_table(std::span<const std::vector<std::string>> rows);

}  // namespace vlearn
