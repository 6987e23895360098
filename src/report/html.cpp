// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "html.h"

#include "vlearn/core/text.h"

namespace vlearn {

std::string escape(std::string_view text) {
  std::string shown = visible(text);
  if (shown.find_first_of("&<>\"'") == std::string::npos) return shown;
  std::string safe;
  safe.reserve(shown.size() + 8);
  for (const char c : shown) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

void Html::start(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [key, value] : attributes) {
    if (key.empty()) continue;
    out_ += ' ';
    out_ += key;
    if (value.empty()) continue;
    out_ += "=\"";
    out_ += escape(value);
    out_ += '"';
  }
}

Html& Html::open(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  out_ += '>';
  open_.emplace_back(tag);
  return *this;
}

Html& Html::close() {
  out_ += "</";
  out_ += open_.back();
  out_ += ">\n";
  open_.pop_back();
  return *this;
}

Html& Html::single(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  out_ += "/>";
  return *this;
}

Html& Html::text(std::string_view text) {
  out_ += escape(text);
  return *this;
}

Html& Html::name(std::string_view name) {
  out_ += "<bdi>";
  out_ += escape(name);
  out_ += "</bdi>";
  return *this;
}

Html& Html::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

Html& Html::element(std::string_view tag, std::string_view text, Attributes attributes) {
  start(tag, attributes);
  out_ += '>';
  out_ += escape(text);
  out_ += "</";
  out_ += tag;
  out_ += '>';
  return *this;
}

TableWriter::TableWriter(Html& html,
                         std::string_view caption,
                         const std::vector<Column>& columns,
                         std::string_view css_class)
    : html_(&html), columns_(columns) {
  html.open("div",
            {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", caption}});
  html.open("table", {{css_class.empty() ? "" : "class", css_class}}).element("caption", caption);
  html.raw("<thead><tr>");
  for (const Column& column : columns) {
    html.element("th", column.title, {{"scope", "col"}, {column.number ? "class" : "", "n"}});
  }
  html.raw("</tr></thead>\n").open("tbody");
}

TableWriter::~TableWriter() {
  if (in_row_) html_->raw("</tr>\n");
  html_->close().close().close();
}

TableWriter& TableWriter::row() {
  html_->raw(in_row_ ? "</tr>\n<tr>" : "<tr>");
  in_row_ = true;
  at_ = 0;
  return *this;
}

Html& TableWriter::open_cell() {
  const bool number = at_ < columns_.size() && columns_[at_].number;
  ++at_;
  return html_->raw(number ? "<td class=\"n\">" : "<td>");
}

TableWriter& TableWriter::cell(std::string_view text) {
  open_cell().text(text).raw("</td>");
  return *this;
}

TableWriter& TableWriter::name(std::string_view name) {
  open_cell().name(name).raw("</td>");
  return *this;
}

TableWriter& TableWriter::head(std::string_view name) {
  ++at_;
  html_->raw("<th scope=\"row\">").name(name).raw("</th>");
  return *this;
}

}  // namespace vlearn
