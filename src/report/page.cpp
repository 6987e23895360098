// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "html.h"
#include "page_parts.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/version.h"
#include "web_files.h"

namespace vlearn {
namespace {

std::string_view web_file(std::string_view name) {
  for (const WebFile& file : web_files()) {
    if (file.name == name) return file.text;
  }
  throw Error(ErrorKind::internal, "web/" + std::string(name), "is not compiled in");
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      three = (three << 8U) | (i + j < bytes.size() ? std::to_integer<unsigned>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool there = i + j <= bytes.size();
      text += there ? digits[(three >> (18U - 6U * static_cast<unsigned>(j))) & 63U] : '=';
    }
  }
  return text;
}

/// How a policy names a script or style that stands in the page.
std::string source_of(std::string_view text) {
  return "'sha256-" + base64(sha256(std::as_bytes(std::span(text)))) + "'";
}

/// What the page runs: nothing else can.
struct Inline {
  std::string style;
  std::string library;
  std::string script;

  Inline()
      : style(std::string(web_file("uplot/uPlot.min.css")) + "\n" +
              std::string(web_file("report.css"))),
        library("/*!\n" + std::string(web_file("uplot/LICENSE")) + "*/\n" +
                std::string(web_file("uplot/uPlot.iife.min.js"))),
        script(web_file("report.js")) {}

  [[nodiscard]] std::string policy() const {
    return fmt::format(
        "default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
        source_of(library), source_of(script), source_of(style));
  }
};

std::string title_of(std::span<const RunView> runs) {
  if (runs.empty()) return "No runs";
  const GameView& game = runs.front().game;
  const bool one_game = std::all_of(runs.begin(), runs.end(),
                                    [&](const RunView& run) { return run.game.word == game.word; });
  std::string name = game.title.empty() ? game.word : game.title;
  if (runs.size() == 1) return name;
  return one_game ? fmt::format("{}: {} runs", name, runs.size())
                  : fmt::format("{} runs", runs.size());
}

void add_head(Html& html, const std::string& title, const Inline& parts) {
  html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  html.raw(fmt::format("<meta name=\"generator\" content=\"vlearn {}\">\n",
                       escape(build_info().version)));
  html.raw(fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n",
                       parts.policy()));
  html.raw(
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n");
  html.element("title", title + " · vlearn")
      .raw("\n<style>")
      .raw(parts.style)
      .raw("</style>\n</head>\n<body>\n");
}

void add_header(Html& html, const std::string& title, const std::string& line) {
  html.raw("<a class=\"skip\" href=\"#main\">Skip to the report</a>\n").open("header");
  html.open("div", {{"class", "top"}}).open("p", {{"class", "brand"}}).raw("vlearn report").close();
  html.raw("<div id=\"tools\"></div>").close();
  html.open("h1").name(title).close().open("p", {{"class", "under"}}).name(line).close().close();
}

std::string target_words(Target target) {
  switch (target) {
    case Target::optimal: return "an optimal policy";
    case Target::nash: return "a Nash equilibrium";
    case Target::ce: return "a correlated equilibrium";
    case Target::cce: break;
  }
  return "a coarse correlated equilibrium";
}

std::string line_of(const RunView& run) {
  const char* made = run.kind == RunView::Kind::planned ? "planned" : "learned";
  std::string text = fmt::format("{} of {}, {}", target_words(run.target), run.game.word, made);
  if (!run.algorithm.empty()) text += " by " + run.algorithm;
  if (!run.preset.empty()) text += ", preset " + run.preset;
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

using Link = std::pair<std::string_view, std::string_view>;

void add_navigation(Html& html, const std::vector<Link>& links) {
  html.open("nav", {{"aria-label", "Parts of the report"}}).open("ul");
  for (const auto& [id, title] : links) {
    html.raw("<li>").element("a", title, {{"href", "#" + std::string(id)}}).raw("</li>\n");
  }
  html.close().close();
}

std::string body_of(const RunView& run) {
  Html html;
  add_headline(html, run);
  add_game(html, run);
  add_gap_curve(html, run);
  add_values(html, run);
  add_deviations(html, run);
  add_policies(html, run);
  add_visits(html, run);
  add_certificate(html, run);
  add_making(html, run);
  return html.str();
}

/// Links to those parts that the body has.
std::vector<Link> links_of(const std::string& body) {
  constexpr std::pair<std::string_view, std::string_view> all_parts[] = {
      {"game", "Game"},
      {"gap", "Gap"},
      {"values", "Values"},
      {"deviations", "Deviations"},
      {"policies", "Policies"},
      {"visits", "Visits"},
      {"certificate", "Certificate"},
      {"making", "How it was made"},
      {"runs", "Runs"}};
  std::vector<Link> links;
  for (const Link& part : all_parts) {
    if (body.find(fmt::format("<section id=\"{}\"", part.first)) != std::string::npos)
      links.push_back(part);
  }
  return links;
}

}  // namespace

std::string report_page(std::span<const RunView> runs) {
  const Inline parts;
  const std::string title = title_of(runs);
  std::string body;
  std::string data;
  std::string line;
  if (runs.size() == 1) {
    body = body_of(runs.front());
    data = page_data(runs.front());
    line = line_of(runs.front());
  } else {
    const std::vector<NamedGroup> groups = name_groups(runs);
    Html html;
    add_runs_headline(html, runs, groups);
    add_groups(html, runs, groups);
    add_each_run(html, runs);
    body = html.str();
    data = page_data(runs, groups);
    line = "Runs side by side";
  }
  Html html;
  add_head(html, title, parts);
  add_header(html, title, line);
  add_navigation(html, links_of(body));
  html.open("main", {{"id", "main"}}).raw(body).close();
  html.open("footer").open("p").text("Made by vlearn " + std::string(build_info().version) +
                                     ". This page needs nothing but itself.");
  html.close().close();
  html.raw("<script type=\"application/json\" id=\"data\">").raw(data).raw("</script>\n");
  html.raw("<script>")
      .raw(parts.library)
      .raw("</script>\n<script>")
      .raw(parts.script)
      .raw("</script>\n</body>\n</html>\n");
  return html.str();
}

}  // namespace vlearn
