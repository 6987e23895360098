// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A tiny writer of HTML and SVG. All text and all attributes go through escape(), so nothing that a
// file says can become markup.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vlearn {

/// Safe between tags and in quoted attributes, and visible: see core/text.h.
[[nodiscard]] std::string escape(std::string_view text);

using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Html {
 public:
  /// Opens an element; an attribute without value stands alone.
  Html& open(std::string_view tag, Attributes attributes = {});
  Html& close();  ///< the one that was opened last
  /// An element that never has content.
  Html& single(std::string_view tag, Attributes attributes = {});
  Html& text(std::string_view text);
  /// A name from outside, whose direction of writing stays its own.
  Html& name(std::string_view name);
  /// Markup that this program has written.
  Html& raw(std::string_view markup);
  /// A whole element with a text.
  Html& element(std::string_view tag, std::string_view text, Attributes attributes = {});

  [[nodiscard]] const std::string& str() const noexcept { return out_; }

 private:
  void start(std::string_view tag, Attributes attributes);

  std::string out_;
  std::vector<std::string> open_;
};

/// A column of a table.
struct Column {
  std::string_view title;
  bool number = false;  ///< aligned by its digits
};

/// A table as long as it lives: row(), then a cell for each column.
class TableWriter {
 public:
  TableWriter(Html& html,
              std::string_view caption,
              const std::vector<Column>& columns,
              std::string_view css_class = {});
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  TableWriter(TableWriter&&) = delete;
  TableWriter& operator=(TableWriter&&) = delete;

  TableWriter& row();  ///< a new one
  TableWriter& cell(std::string_view text);
  TableWriter& name(std::string_view name);
  TableWriter& head(std::string_view name);  ///< names its row

 private:
  Html& open_cell();

  Html* html_;
  std::vector<Column> columns_;
  std::size_t at_ = 0;
  bool in_row_ = false;
};

}  // namespace vlearn
