// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/regret.h"

#include <fmt/format.h>

#include "text_table.h"
#include "vlearn/core/json.h"
#include "vlearn/core/log.h"
#include "vlearn/core/version.h"
#include "vlearn/run/with_rule.h"

namespace vlearn {
namespace {

/// Of rules whose steps depend on how often a bound may fail.
constexpr double kDelta = 0.01;

RuleChoice choice_of(RuleName name, const RegretSettings& settings) {
  return {name, needs_control_variate(name), settings.horizon, -log(kDelta)};
}

/// At each number of visits, of one play.
std::vector<double> regrets_of(RuleName name,
                               const RegretSettings& settings,
                               const RegretMatch& match,
                               std::uint64_t seed) {
  std::vector<double> regrets;
  with_rule(choice_of(name, settings), [&](const auto& rule) {
    play_match(
        rule, match, seed, [](std::uint64_t) { return 0.0; },
        [&](std::uint64_t t, const WeightedAverages& averages) {
          if (t == settings.visits[regrets.size()]) regrets.push_back(averages.regret());
        });
  });
  return regrets;
}

std::string_view name_of(Regret kind) { return kind == Regret::swap ? "swap" : "external"; }
std::string_view name_of(RuleName rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

}  // namespace

std::string_view proof_of(RuleName rule) noexcept {
  switch (rule) {
    case RuleName::ftrl:
    case RuleName::ftrl_predictive:
      return "proven: at most 10 sqrt(H B log(B/delta)/t), the paper's corollary, whose proof has "
             "a "
             "gap for very small delta";
    case RuleName::ftrl_swap:
      return "proven: at most 10 B sqrt(H log(B^2/delta)/t), the paper's corollary, whose proof "
             "has "
             "a gap for very small delta";
    case RuleName::ftrl_rigorous:
    case RuleName::ftrl_swap_rigorous: return "proven: docs/theory/rigorous_bonus.md";
    case RuleName::optimistic_rigorous:
    case RuleName::optimistic_swap_rigorous: return "proven: docs/theory/optimistic_rule.md";
    case RuleName::exp3_ix:
      return "proven: its steps meet the conditions of the paper's Theorem 20";
    case RuleName::tsallis:
    case RuleName::log_barrier:
    case RuleName::optimistic:
    case RuleName::optimistic_nash:
    case RuleName::optimistic_swap: break;
  }
  return "no proof: measured only";
}

RuleRegret measure_regret(RuleName rule,
                          const RegretSettings& settings,
                          const ParallelOptions& parallel) {
  RuleRegret result;
  result.rule = rule;
  result.regret = has_swap_regret(rule) ? Regret::swap : Regret::external;
  result.weights = with_rule(choice_of(rule, settings),
                             [&](const auto& its) { return weights_of(its, settings.horizon); });
  std::vector<std::vector<double>> plays(kAdversaries.size() * settings.seeds);
  parallel_for(plays.size(), parallel, [&](std::size_t i) {
    const RegretMatch match{result.weights, settings.num_actions,
                            kAdversaries.at(i / settings.seeds).adversary, result.regret,
                            settings.visits.back()};
    plays[i] = regrets_of(rule, settings, match, i % settings.seeds + 1);
  });
  result.at.resize(settings.visits.size());
  std::vector<double> of_seeds(settings.seeds);
  for (std::size_t look = 0; look < settings.visits.size(); ++look) {
    for (std::size_t adversary = 0; adversary < kAdversaries.size(); ++adversary) {
      for (std::size_t seed = 0; seed < settings.seeds; ++seed) {
        of_seeds[seed] = plays[adversary * settings.seeds + seed][look];
      }
      result.at[look].at(adversary) = quartiles_of(of_seeds);
    }
  }
  return result;
}

std::string to_text(const RegretSettings& settings, std::span<const RuleRegret> rules) {
  std::string text = fmt::format(
      "weighted regret, B = {}: median of {} seed{} (quartiles); below 0: better than any fixed "
      "choice\n",
      settings.num_actions, settings.seeds, settings.seeds == 1 ? "" : "s");
  for (const RuleRegret& rule : rules) {
    text += fmt::format("\n{}: {} regret, weights of c = {}; {}\n\n", name_of(rule.rule),
                        name_of(rule.regret), rule.weights, proof_of(rule.rule));
    std::vector<std::vector<std::string>> table = {{"visits"}};
    for (const NamedAdversary& adversary : kAdversaries) table[0].emplace_back(adversary.name);
    for (std::size_t look = 0; look < settings.visits.size(); ++look) {
      std::vector<std::string>& row = table.emplace_back();
      row.push_back(std::to_string(settings.visits[look]));
      for (const Quartiles& regret : rule.at[look]) {
        row.push_back(
            fmt::format("{:.3f} ({:.3f}, {:.3f})", regret.median, regret.lower, regret.upper));
      }
    }
    text += markdown_table(table);
  }
  return text;
}

std::string to_json(const RegretSettings& settings, std::span<const RuleRegret> rules) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.regret/1");
  json.member("version", build_info().version).member("horizon", settings.horizon);
  json.member("actions", std::uint64_t{settings.num_actions}).member("seeds", settings.seeds);
  json.key("rules").begin_array();
  for (const RuleRegret& rule : rules) {
    json.begin_object().member("rule", name_of(rule.rule)).member("regret", name_of(rule.regret));
    json.member("weights", rule.weights)
        .member("proof", proof_of(rule.rule))
        .key("points")
        .begin_array();
    for (std::size_t look = 0; look < settings.visits.size(); ++look) {
      for (std::size_t i = 0; i < kAdversaries.size(); ++i) {
        const Quartiles& regret = rule.at[look].at(i);
        json.on_one_line().begin_object().member("adversary", kAdversaries.at(i).name);
        json.member("visits", settings.visits[look]).member("median", regret.median);
        json.member("lower_quartile", regret.lower).member("upper_quartile", regret.upper);
        json.end_object();
      }
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

}  // namespace vlearn
