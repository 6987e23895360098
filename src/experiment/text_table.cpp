// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "text_table.h"

#include <algorithm>
#include <cstddef>

#include "vlearn/core/assert.h"

namespace vlearn {

std::string markdown_table(std::span<const std::vector<std::string>> rows) {
  VLEARN_ASSERT(!rows.empty());
  std::vector<std::size_t> widths(rows.front().size(), 3);
  for (const std::vector<std::string>& row : rows) {
    VLEARN_ASSERT(row.size() == widths.size());
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      text += "| " + (i == 0 ? row[i] + space : space + row[i]) + " ";
    }
    text += "|\n";
  };
  add(rows.front());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += "|" + std::string(widths[i] + 1, '-') + (i == 0 ? "-" : ":");
  }
  text += "|\n";
  for (const std::vector<std::string>& row : rows.subspan(1)) add(row);
  return text;
}

}  // namespace vlearn
