// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate, who has checked it, and how the run was made.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "command_line.h"
#include "figures.h"
#include "page_parts.h"

namespace vlearn {
namespace {

constexpr std::size_t kMostRows = 50;

std::string bounds_or_upper(const std::optional<double>& lower, double upper) {
  return lower ? bounds(*lower, upper) : "at most " + figure(upper, 6, Rounding::up);
}

std::string kind_of(const PlayerCertificate& player) {
  const bool exact = player.value_lower == player.value_upper;
  const std::string value = exact ? "value exact" : "value between bounds";
  if (!player.deviation_lower) return value + ", deviation from above";
  return value + (*player.deviation_lower == player.deviation_upper ? ", deviation exact"
                                                                    : ", deviation between bounds");
}

std::string method_words(const Certificate& certificate) {
  if (!certificate.method)
    return "Every number follows from the game and the policy; nothing was drawn.";
  const std::string confidence = confidence_text(certificate.method->confidence);
  if (certificate.method->name == MethodName::data) {
    return fmt::format(
        "Bounds from what players have seen while they learned; all hold at once with {} "
        "confidence.",
        confidence);
  }
  return fmt::format(
      "Sampled: {} of each cell, seed {}; all bounds hold at once with {} confidence.",
      plural(certificate.method->samples, "draw"), certificate.method->seed, confidence);
}

std::string output_words(const Certificate& certificate) {
  switch (certificate.output) {
    case CertifiedOutput::nested:
      return "nested: an index drawn at the start leads through the visits";
    case CertifiedOutput::markov: return "markov: the visit is drawn anew at every step";
    case CertifiedOutput::marginals:
      return "marginals: each player plays its average, independently";
    case CertifiedOutput::table: break;
  }
  return "table: a Markov policy written out";
}

void add_player_table(Html& html,
                      const RunView& run,
                      const Certificate& certificate,
                      const std::string& caption) {
  std::vector<std::size_t> order(certificate.players.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > kMostRows) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return certificate.players[a].gap_upper > certificate.players[b].gap_upper;
    });
    order.resize(kMostRows);
  }
  {
    TableWriter table(html, caption,
                      {{"player"},
                       {"value", true},
                       {"best deviation", true},
                       {"gap", true},
                       {"rounding", true},
                       {"kinds"}});
    for (const std::size_t i : order) {
      const PlayerCertificate& player = certificate.players[i];
      table.row().head(player_name(run, i)).cell(bounds(player.value_lower, player.value_upper));
      table.cell(bounds_or_upper(player.deviation_lower, player.deviation_upper));
      table.cell(bounds_or_upper(player.gap_lower, player.gap_upper));
      table.cell(figure(player.rounding, 2, Rounding::up)).cell(kind_of(player));
    }
  }
  if (order.size() < certificate.players.size()) {
    html.element("p",
                 fmt::format("The {} largest gaps of {} players.", kMostRows,
                             count(certificate.players.size())),
                 {{"class", "note"}});
  }
}

/// Where executions begin: the visits before it count.
std::string start_words(const Certificate& certificate) {
  if (!has_start(certificate)) return {};
  switch (certificate.start) {
    case CertifiedStart::uniform: return "before an episode that is drawn";
    case CertifiedStart::last: return "after the last episode";
    case CertifiedStart::best: break;
  }
  return fmt::format("before episode {}, the best of those that were looked at",
                     count(certificate.start_episode));
}

void add_facts(Html& html, const RunView& run, const Certificate& certificate) {
  html.open("dl", {{"class", "facts"}});
  add_fact(html, "method", method_words(certificate));
  add_fact(html, "policy", output_words(certificate));
  add_fact(html, "executions start", start_words(certificate));
  if (certificate.output != CertifiedOutput::table) {
    add_fact(html, "made of", plural(certificate.episodes, "episode"));
  }
  add_fact(html, "sum of gaps", bounds_or_upper(certificate.sum_lower, certificate.sum_upper));
  add_fact(html, "game", certificate.game_hash, true);
  if (certificate.stream_hash) add_fact(html, "policies", *certificate.stream_hash, true);
  const std::size_t shown = std::min<std::size_t>(certificate.policy_hashes.size(), 8);
  for (std::size_t i = 0; i < shown; ++i) {
    add_fact(html, "policy of " + player_name(run, i), certificate.policy_hashes[i], true);
  }
  html.close();
  if (certificate.policy_hashes.size() > shown) {
    html.element("p", "The first eight policy files; the certificate names all.",
                 {{"class", "note"}});
  }
}

void add_verification(Html& html, const RunView& run) {
  const Verification& verification = run.verification;
  std::string text;
  std::string tone = "fair";
  switch (verification.outcome) {
    case Verification::Outcome::accepted:
      tone = "good";
      text = fmt::format(
          "Verified: code that shares nothing with the certifier derived every number again, {}.",
          verification.rationals ? "in exact fractions" : "with intervals rounded outward");
      break;
    case Verification::Outcome::refuted:
      tone = "bad";
      text = "Refuted.";
      break;
    case Verification::Outcome::mismatch:
      tone = "bad";
      text = "The recorded curve does not fit.";
      break;
    case Verification::Outcome::not_done: text = "Not verified."; break;
  }
  html.open("p", {{"class", "verdict small " + tone}}).text(text);
  if (!verification.message.empty()) html.text(" ").name(verification.message);
  html.close();
}

}  // namespace

void add_certificate(Html& html, const RunView& run) {
  const Certificate* certificate = certificate_of(run);
  open_section(html, "certificate", "The certificate");
  if (certificate == nullptr) {
    html.element("p", "This run has none.");
    if (!run.path.empty()) {
      add_command(html, "vlearn certify " + shell_word(run.path), "The command that certifies");
    }
    html.close();
    return;
  }
  add_verification(html, run);
  add_player_table(html, run, *certificate, "Players");
  add_facts(html, run, *certificate);
  if (run.certificate && run.sampled) {
    html.element("h3", "By sampling");
    add_player_table(html, run, *run.sampled, "Players, by sampling");
    html.element("p", method_words(*run.sampled), {{"class", "note"}});
  }
  if (!certificate->method) {
    html.element("h3", "Verify it again");
    const std::string folder = run.path.empty() ? "." : run.path;
    add_command(html,
                fmt::format("vlearn verify {}{} {} {}", certificate->stream_hash ? "--replay " : "",
                            shell_word(run.game.word), shell_word(folder),
                            shell_word(folder + "/certificate.json")),
                "The command that verifies");
  }
  html.close();
}

void add_making(Html& html, const RunView& run) {
  open_section(html, "making", "How it was made");
  if (!run.command.empty()) add_command(html, run.command, "The command that makes this run again");
  html.open("dl", {{"class", "facts"}});
  add_fact(html, "target", std::string(name_of(run.target)));
  add_fact(html, "algorithm", run.algorithm);
  add_fact(html, "preset", run.preset);
  add_fact(html, "output", run.output);
  add_fact(html, "seed", std::to_string(run.seed));
  add_fact(html, "stopped", run.stopped.empty() ? "not yet" : run.stopped);
  add_fact(html, "guarantee beforehand", run.guarantee);
  add_fact(html, "version", run.version.empty() ? std::string() : "vlearn " + run.version);
  add_fact(html, "config", run.config_hash, true);
  add_fact(html, "game", run.game.hash, true);
  add_fact(html, "folder", run.path);
  html.close();
  if (!run.config.empty()) {
    html.open("details").element("summary", "Configuration");
    {
      TableWriter table(html, "config.json", {{"key"}, {"value"}});
      for (const auto& [key, value] : run.config) table.row().head(key).name(value);
    }
    html.close();
  }
  if (!run.remarks.empty()) {
    html.element("h3", "Remarks").open("ul");
    for (const std::string& remark : run.remarks) html.open("li").name(remark).close();
    html.close();
  }
  html.close();
}

}  // namespace vlearn
