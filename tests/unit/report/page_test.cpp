// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/report/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/example_views.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"

namespace vlearn {
namespace {

using namespace vlearn::testing;

std::string page_of(const RunView& run) { return report_page(std::vector<RunView>{run}); }

bool has(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

std::size_t times(const std::string& page, std::string_view text) {
  std::size_t found = 0;
  for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1))
    ++found;
  return found;
}

std::string between(const std::string& page, std::string_view begin, std::string_view end) {
  const std::size_t from = page.find(begin);
  if (from == std::string::npos) return {};
  const std::size_t start = from + begin.size();
  return page.substr(start, page.find(end, start) - start);
}

/// The page without scripts, styles and data: what HTML shows.
std::string markup_of(const std::string& page) {
  std::string markup;
  std::size_t at = 0;
  while (at < page.size()) {
    const std::size_t script = std::min(page.find("<script", at), page.find("<style", at));
    markup += page.substr(at, script == std::string::npos ? script : script - at);
    if (script == std::string::npos) break;
    at = std::min(page.find("</script>", script), page.find("</style>", script));
  }
  return markup;
}

std::string verdict_of(const RunView& run) {
  return between(page_of(run), "<p class=\"verdict ", "</p>");
}

std::vector<RunView> all_examples() {
  return {harbour_view(), interval_view(), grid_view(),    smallest_view(),
          begun_view(),   refuted_view(),  sampled_view(), hostile_view()};
}

TEST(ReportPage, BeginsAsOneOfOurs) {
  const std::string page = page_of(harbour_view());
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  const std::string generator =
      "<meta name=\"generator\" content=\"vlearn " + std::string(build_info().version) + "\">";
  EXPECT_LT(page.find(generator), 300U);
  EXPECT_EQ(times(page, "<h1>"), 1U);
  EXPECT_EQ(page_of(harbour_view()), page);  // same views, same bytes
}

TEST(ReportPage, RunsNothingButItsOwnScripts) {
  for (const RunView& run : all_examples()) {
    const std::string page = page_of(run);
    const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\">");
    EXPECT_EQ(policy.rfind("default-src 'none'; script-src 'sha256-", 0), 0U);
    EXPECT_TRUE(has(policy, "base-uri 'none'; form-action 'none'"));
    EXPECT_FALSE(has(policy, "unsafe"));
    EXPECT_FALSE(has(policy, "http"));
    EXPECT_EQ(times(policy, "'sha256-"), 3U);
    // Nothing that would need another source: no addresses, no styles or handlers in attributes.
    const std::string markup = markup_of(page);
    EXPECT_FALSE(std::regex_search(markup, std::regex("<[^>]* (src|style|on[a-z]+)=")));
    EXPECT_FALSE(std::regex_search(markup, std::regex("href=\"[^#]")));
  }
}

TEST(ReportPage, StatesTheHashesOfWhatItRuns) {
  // SHA-256 of the text between the tags, in base64: computed here bit by bit.
  const std::string page = page_of(smallest_view());
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\">");
  const std::string style = between(page, "<style>", "</style>");
  const Sha256Digest digest = sha256(std::as_bytes(std::span(style)));
  std::string bits;
  for (const std::byte byte : digest) {
    for (int i = 7; i >= 0; --i) bits += (std::to_integer<int>(byte) >> i & 1) != 0 ? '1' : '0';
  }
  bits += "00";  // 256 bits and two more are 43 digits
  std::string text;
  for (std::size_t at = 0; at < bits.size(); at += 6) {
    text +=
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[static_cast<std::size_t>(
            std::stoi(bits.substr(at, 6), nullptr, 2))];
  }
  EXPECT_TRUE(has(policy, "style-src 'sha256-" + text + "='"));
}

TEST(ReportPage, SaysWhatWasFound) {
  EXPECT_TRUE(has(verdict_of(harbour_view()),
                  "good\">No player can gain more than 0.00946 by deviating (0.237\u00A0% of what "
                  "an episode can pay), "
                  "certified exactly and verified by independent code."));
  const std::string interval = verdict_of(interval_view());
  EXPECT_TRUE(has(interval, "0.0212 by answering recommendations with other actions"));
  EXPECT_TRUE(has(interval, "some deviation gains at least 0.018. Not verified."));
  EXPECT_TRUE(has(verdict_of(grid_view()),
                  "No player can gain more than 0.0123 by deviating (0.123\u00A0% of what an "
                  "episode can pay), both together no more than 0.0226"));
  EXPECT_TRUE(has(verdict_of(refuted_view()), "bad\">Refuted"));
  EXPECT_TRUE(has(page_of(refuted_view()), "player 7: the gap is at least 0.31, not 0.004"));
  EXPECT_TRUE(has(verdict_of(sampled_view()),
                  "certified by sampling with 99\u00A0% confidence. Not verified."));
  EXPECT_TRUE(has(verdict_of(begun_view()), "has not ended"));
  EXPECT_TRUE(has(verdict_of(smallest_view()), "Not certified"));
  RunView rationals = harbour_view();
  rationals.verification.rationals = true;
  EXPECT_TRUE(has(verdict_of(rationals), "verified in exact fractions by independent code"));
  RunView upper = harbour_view();
  upper.certificate->gap_lower.reset();
  upper.certificate->players[0].deviation_lower.reset();
  EXPECT_TRUE(has(verdict_of(upper), "certified from above and verified"));
}

TEST(ReportPage, ConfidenceIsNeverRoundedUp) {
  RunView run = sampled_view();
  run.sampled->method->confidence = 0.99999;
  EXPECT_TRUE(has(verdict_of(run), "with 99.999\u00A0% confidence"));
  run.sampled->method->confidence = 0.95;
  EXPECT_TRUE(has(verdict_of(run), "with 95\u00A0% confidence"));
}

TEST(ReportPage, GapsThatALogarithmHasNoPlaceForAreCounted) {
  RunView run = harbour_view();
  run.curve.resize(3);
  run.curve[0].gap_upper = run.curve[0].gap_lower = 0.5;
  run.curve[1].gap_upper = run.curve[1].gap_lower = 0.0;
  run.curve[2].gap_upper = run.curve[2].gap_lower = -0.25;
  const std::string page = page_of(run);
  EXPECT_TRUE(has(page, "2 of 3 looks found a gap of 0 or less"));
  // The one that can be drawn stands within the plot.
  const std::string circle =
      between(between(page, "id=\"gap-chart\"", "</section>"), "cy=\"", "\"");
  EXPECT_GE(std::stod(circle), 0.0);
  EXPECT_LE(std::stod(circle), 400.0);
}

/// Between numbers that hardly differ an axis counted its marks for ever; between the largest its
/// length was infinite.
TEST(ReportPage, EveryNumberCanBeDrawn) {
  const double next = std::nextafter(1.0, 2.0);
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  for (const auto& [one, other] : std::vector<std::pair<double, double>>{{1.0, next},
                                                                         {-next, -1.0},
                                                                         {1e16, 1e16 + 2.0},
                                                                         {1e-300, 1e-310},
                                                                         {0.0, least},
                                                                         {least, largest},
                                                                         {1e150, 1e-150},
                                                                         {-1e150, 1e150},
                                                                         {-largest, largest}}) {
    SCOPED_TRACE(::testing::Message() << one << " and " << other);
    RunView run = harbour_view();
    run.curve.resize(2);
    for (CurvePoint& point : run.curve) {
      const double number = &point == run.curve.data() ? one : other;
      point.gap_upper = point.gap_lower = number;
      point.values.assign(run.series.size(), number);
    }
    for (const char* const chart : {"id=\"gap-chart\"", "id=\"value-chart\""}) {
      const std::string picture = between(page_of(run), chart, "</section>");
      EXPECT_FALSE(has(picture, "nan")) << picture;
      EXPECT_FALSE(has(picture, "inf")) << picture;
      EXPECT_LT(picture.size(), 20'000U);
    }
  }
}

TEST(ReportPage, ValuesBetweenBoundsAreShownAsThat) {
  RunView run = harbour_view();
  run.certificate->players[0].value_lower = 1.25;
  run.certificate->players[0].value_upper = 1.5;
  EXPECT_EQ(times(page_of(run), "1.25 to 1.5<"),
            3U);  // of the game, of the values, of the certificate
  EXPECT_FALSE(has(verdict_of(run), "exactly"));
}

TEST(ReportPage, SaysWhereNestedExecutionsStart) {
  RunView run = interval_view();
  run.certificate->output = CertifiedOutput::nested;
  run.certificate->start = CertifiedStart::best;
  run.certificate->start_episode = 151;
  EXPECT_TRUE(has(page_of(run), "before episode 151, the best of those"));
  run.curve_output = "markov";
  EXPECT_TRUE(has(page_of(run),
                  "The curve is of the output markov, the certificate of the output nested."));
  run.game.graph->uniform = true;
  EXPECT_TRUE(has(page_of(run), "how likely uniform play"));
}

TEST(ReportPage, GapsOfDifferentGamesAreNotCompared) {
  std::vector<RunView> runs = {harbour_view(), harbour_view()};
  EXPECT_TRUE(has(report_page(runs), "no gap is larger than 0.00946"));
  runs[1].certificate.reset();
  EXPECT_TRUE(has(report_page(runs), "no certified gap is larger than 0.00946"));
  runs[1] = grid_view();
  runs[1].game.hash = "another";
  EXPECT_FALSE(has(report_page(runs), "is larger than"));
  for (RunView& run : runs) run.kind = RunView::Kind::planned;
  EXPECT_TRUE(has(report_page(runs), "\"xLabel\":\"iterations\""));
}

TEST(ReportPage, ShortenedBoundsAreStillBounds) {
  RunView run = harbour_view();
  run.certificate->gap_upper = 0.010001;
  run.certificate->gap_lower = 0.0099999;
  run.certificate->players[0].deviation_lower.reset();
  EXPECT_TRUE(has(verdict_of(run), "more than 0.0101 by"));
  EXPECT_TRUE(has(verdict_of(run), "at least 0.00999 "));
  run.certificate->gap_upper = 0.9999;
  EXPECT_TRUE(has(verdict_of(run), "more than 1 by"));
  run.certificate->gap_upper = 123456.0;
  EXPECT_TRUE(has(verdict_of(run), "more than 124000 by"));
  run.certificate->gap_upper = 1.23e-9;
  run.certificate->gap_lower.reset();
  EXPECT_TRUE(has(verdict_of(run), "more than 1.23e-9 by"));
  run.certificate->gap_upper = -0.25;  // a cce may punish who ignores it
  EXPECT_TRUE(has(verdict_of(run), "No player can gain anything by deviating, certified"));
}

TEST(ReportPage, HasEveryPartInOrder) {
  const std::string page = page_of(harbour_view());
  std::size_t at = 0;
  for (const char* part : {"headline", "game", "gap", "values", "deviations", "policies", "visits",
                           "certificate", "making"}) {
    const std::size_t next = page.find("<section id=\"" + std::string(part) + "\"");
    ASSERT_NE(next, std::string::npos) << part;
    EXPECT_GT(next, at) << part;
    at = next;
  }
  EXPECT_TRUE(has(page, "<code>vlearn learn &#39;harbour&#39; --target cce"));
  EXPECT_TRUE(has(
      page, "<code>vlearn verify harbour runs/harbour-3 runs/harbour-3/certificate.json</code>"));
  EXPECT_EQ(times(page, "class=\"node\""), 13U);
  EXPECT_EQ(times(between(page, "id=\"visits-map\"", "</section>"), "class=\"cell"), 13U);
  // What can be read without scripts: ten witnesses and the averages of all places.
  EXPECT_EQ(times(between(page, "id=\"witness\"", "</table>"), "<tr>"), 11U);
  EXPECT_EQ(times(between(page, "id=\"policy-table\"", "</table>"), "<tr>"), 14U);
}

TEST(ReportPage, LeavesOutWhatIsNotThere) {
  const std::string page = page_of(begun_view());
  for (const char* part : {"deviations", "policies", "visits"}) {
    EXPECT_FALSE(has(page, "<section id=\"" + std::string(part) + "\""));
    EXPECT_FALSE(has(page, "href=\"#" + std::string(part) + "\""));
  }
  EXPECT_TRUE(has(page, "Nothing was recorded that could be drawn."));
  EXPECT_TRUE(has(page, "<code>vlearn certify runs/harbour-3</code>"));
  EXPECT_TRUE(has(page_of(RunView{}), "</html>"));
  EXPECT_TRUE(has(report_page({}), "</html>"));
}

TEST(ReportPage, ShowsFewOfManyPlayers) {
  const std::string page = page_of(refuted_view());
  EXPECT_TRUE(has(page, "0 to 1 in a step, for everybody"));
  EXPECT_TRUE(has(page, "The 12 largest of 300 players."));
  EXPECT_LT(page.size(), 200000U);
  RunView different = refuted_view();
  different.game.reward_ranges[1] = {0.0, 2.0};
  EXPECT_TRUE(has(page_of(different), "And 280 players more."));
}

TEST(ReportPage, NamesStayText) {
  RunView twin = hostile_view();
  twin.seed = 9;
  for (const std::string& page :
       {page_of(hostile_view()), report_page(std::vector<RunView>{hostile_view(), twin})}) {
    const std::string markup = markup_of(page);
    EXPECT_FALSE(has(markup, "<img"));
    EXPECT_FALSE(has(page, "<script>alert"));
    EXPECT_EQ(times(page, "</script>"), 3U);
    EXPECT_EQ(times(page, "<script"), 3U);
    EXPECT_EQ(times(page, "<!--"), 0U);
    EXPECT_TRUE(has(markup, "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
    EXPECT_TRUE(has(markup, "<bdi>[U+001B][31mred[U+001B][0m</bdi>"));
    EXPECT_TRUE(has(markup, "<bdi>[U+202E]tfel[U+2066] [U+200B][U+FEFF]</bdi>"));
    EXPECT_TRUE(has(markup, "[0xFF][0xFE] &lt;!-- &amp; --&gt;"));
    for (const char* raw :
         {"\x1b", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x80\x8B", "\xEF\xBB\xBF", "\xff"}) {
      EXPECT_FALSE(has(page, raw));
    }
  }
}

TEST(ReportPage, DataIsJsonThatEndsNoElement) {
  for (const RunView& run : all_examples()) {
    const std::string data = between(page_of(run), "id=\"data\">", "</script>");
    EXPECT_EQ(data.find_first_of("<>&"), std::string::npos);
    const JsonDocument document = JsonDocument::parse(data, "data");
    EXPECT_EQ(document.root().at("target").string(), name_of(run.target));
    EXPECT_EQ(document.root().at("cells").size(), run.cells.size());
  }
  const std::string data = between(page_of(hostile_view()), "id=\"data\">", "</script>");
  const JsonDocument document = JsonDocument::parse(data, "data");
  EXPECT_EQ(document.root().at("shown").at(0U).at(1U).string(), hostile_names()[0]);
  EXPECT_EQ(document.root().at("shown").at(3U).at(1U).string(), "__proto__");
}

TEST(ReportPage, DataIsShort) {
  RunView run = harbour_view();
  run.curve.back().gap_upper = 0.0123456789;
  run.cells[0].players[0].averaged = {0.25, 0.33333333, 0.41666667};
  const std::string data = between(page_of(run), "id=\"data\">", "</script>");
  EXPECT_TRUE(has(data, "0.012346]"));
  EXPECT_TRUE(has(data, "\"avg\":[2500,3333,4167]"));
}

TEST(ReportPage, CurvesAreThinnedOnlyWhenLong) {
  const auto points = [](std::size_t rows) {
    RunView run = harbour_view();
    run.curve.clear();
    for (std::size_t i = 1; i <= rows; ++i) {
      CurvePoint point;
      point.episode = i;
      point.gap_upper = 1.0 / static_cast<double>(i);
      run.curve.push_back(point);
    }
    const std::string data = between(page_of(run), "id=\"data\">", "</script>");
    const JsonDocument document = JsonDocument::parse(data, "data");
    const JsonValue x = document.root().at("curve").at("x");
    EXPECT_EQ(x.at(0U).natural(1), 1U);
    EXPECT_EQ(x.at(x.size() - 1).natural(rows), rows);
    return x.size();
  };
  EXPECT_EQ(points(2000), 2000U);
  EXPECT_LE(points(50000), 2000U);
  EXPECT_GT(points(50000), 1000U);
}

TEST(ReportPage, SeveralRunsAreGrouped) {
  const std::vector<RunView> runs = group_views(3, 4, 50);
  const std::string page = report_page(runs);
  EXPECT_TRUE(has(page, "12\u00A0runs of 3\u00A0kinds: no gap is larger than"));
  EXPECT_EQ(times(page, "<path class=\"band "), 3U);
  EXPECT_EQ(times(page, "<path class=\"line thin "), 12U);
  EXPECT_EQ(times(page, "4 of 4"), 3U);
  EXPECT_EQ(times(between(page, "<section id=\"runs\"", "</section>"), "<details>"), 12U);
  EXPECT_FALSE(has(page, "<section id=\"policies\""));
  // Groups that differ by one key of their configuration are told apart by it.
  std::vector<RunView> pair = {harbour_view(), harbour_view()};
  pair[0].group = "a";
  pair[1].config[5].second = "0.5";
  EXPECT_TRUE(has(report_page(pair), "until_gap 0.5"));
}

TEST(ReportPage, TwentyLongRunsStaySmall) {
  const std::vector<RunView> runs = group_views(4, 5, 2000);
  const std::string page = report_page(runs);
  EXPECT_LT(page.size(), 1000000U);
  // Every point is there: a number for each of the runs, and three for each of the groups.
  const std::string data = between(page, "id=\"data\">", "</script>");
  const JsonDocument document = JsonDocument::parse(data, "data");
  for (const JsonValue group : document.root().at("groups").items()) {
    for (const JsonValue run : group.at("runs").items()) EXPECT_EQ(run.at("y").size(), 2000U);
    EXPECT_EQ(group.at("mid").size(), 2000U);
  }
}

}  // namespace
}  // namespace vlearn
