// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "vlearn/baseline/options.h"
#include "vlearn/core/error.h"
#include "vlearn/run/learn.h"
#include "vlearn/run/solve_game.h"

namespace vlearn {
namespace {

template <class Enum, std::size_t kSize>
std::string_view name_in(const std::array<std::string_view, kSize>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

/// A command that grows option by option.
class Command {
 public:
  explicit Command(std::string_view words) : text_(words) {}

  Command& add(std::string_view option, std::string_view value) {
    text_ += fmt::format(" {} {}", option, shell_word(value));
    return *this;
  }
  Command& add(std::string_view option, double value) {
    JsonWriter json(JsonWriter::Layout::compact);  // the fewest digits that read back
    return add(option, json.value(value).text());
  }
  Command& add(std::string_view option, std::uint64_t value) {
    return add(option, std::to_string(value));
  }
  Command& flag(std::string_view option) {
    text_ += fmt::format(" {}", option);
    return *this;
  }
  /// Where it is not what would be taken anyway.
  template <class Value>
  Command& add_other(std::string_view option, const Value& value, const Value& usual) {
    return value == usual ? *this : add(option, value);
  }
  template <class Value>
  Command& add_given(std::string_view option, const std::optional<Value>& value) {
    return value ? add(option, *value) : *this;
  }
  template <class Enum, std::size_t kSize>
  Command& add_name(std::string_view option,
                    const std::array<std::string_view, kSize>& names,
                    Enum value,
                    Enum usual) {
    return value == usual ? *this : add(option, name_in(names, value));
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// What the bandits and the values do otherwise than the preset says.
void add_learner(Command& command, const LearnerOptions& learner, Preset preset) {
  const LearnerOptions usual = preset_options(preset, learner.target);
  command.add_name("--rule", kRuleNames, learner.rule, usual.rule);
  const bool varies = usual.control_variate || needs_control_variate(learner.rule);
  if (learner.control_variate != varies) {
    command.add("--control-variate", learner.control_variate ? "on" : "off");
  }
  command.add_name("--bonus", kBonusNames, learner.bonus, usual.bonus);
  command.add_other(
      "--bonus-constant", learner.bonus_constant,
      learner.bonus == usual.bonus ? usual.bonus_constant : usual_constant(learner.bonus));
  command.add_name("--loss-scale", kLossScaleNames, learner.loss_scale, usual.loss_scale);
  command.add_name("--value-weights", kValueWeightsNames, learner.value_weights,
                   usual.value_weights);
  command.add_name("--action-draws", kActionDrawsNames, learner.action_draws, usual.action_draws);
  if (learner.monotone) command.flag("--monotone");
  if (learner.pessimistic && !usual.pessimistic) command.flag("--pessimistic");
  command.add_other("--delta", learner.delta, usual.delta);
}

void add_output(Command& command, const LearnConfig& config, const AnyGame& game, Preset preset) {
  const LearnerOptions& learner = config.learner;
  if (!learner.monotone) {
    command.add_name("--output", kCertifiedOutputNames, config.output,
                     natural_output(game, preset, learner.target));
    const std::optional<std::uint64_t> usual =
        natural_weights(preset, config.output, frame_of(game).horizon());
    if (learner.output_weights != usual) {
      command.add_given("--output-weights", learner.output_weights);
    }
  }
  if (!config.history) command.add("--history", "none");
  if (config.until_gap || learner.monotone) return;  // these leave no choice
  const bool usual = relative_cost(game, config.output) <= kMostCertifyCost;
  if (config.certify != usual) command.add("--certify", config.certify ? "on" : "off");
}

std::string learn_command(const ConfigFile& file,
                          const AnyGame& game,
                          const std::string& game_word) {
  const LearnConfig& config = file.run.config;
  const std::string& word = file.run.title.preset;
  const auto* const found = std::find(kPresetNames.begin(), kPresetNames.end(), word);
  if (found == kPresetNames.end()) {
    throw file.document.root().at("preset").error(
        fmt::format("is none of {}", fmt::join(kPresetNames, ", ")));
  }
  const auto preset = static_cast<Preset>(found - kPresetNames.begin());
  Command command("vlearn learn " + shell_word(game_word));
  command.add("--target", name_of(config.learner.target)).add("--preset", word);
  command.add_given("--episodes", config.episodes).add_given("--until-gap", config.until_gap);
  command.add_given("--max-time", config.max_seconds).add("--seed", config.seed);
  add_learner(command, config.learner, preset);
  command.add_other("--horizon-episodes", config.learner.horizon_episodes,
                    config.episodes.value_or(LearnerOptions().horizon_episodes));
  add_output(command, config, game, preset);
  return command.text();
}

std::optional<std::uint64_t> count_in(const JsonValue& root, const char* key) {
  const auto found = root.find(key);
  return found ? std::optional(found->natural(UINT64_MAX)) : std::nullopt;
}

std::string baseline_command(const ConfigFile& file,
                             const AnyGame& game,
                             const std::string& game_word) {
  const JsonValue root = file.document.root();
  const auto* const found =
      std::find(kBaselineNames.begin(), kBaselineNames.end(), file.run.algorithm);
  if (found == kBaselineNames.end()) {
    throw root.at("algorithm").error(fmt::format("is none of {}", fmt::join(kBaselineNames, ", ")));
  }
  const BaselineOptions usual =
      usual_options(static_cast<BaselineName>(found - kBaselineNames.begin()), frame_of(game));
  Command command("vlearn learn " + shell_word(game_word));
  command.add("--algorithm", file.run.algorithm);
  command.add("--target", name_of(file.run.config.learner.target));
  const auto episodes = count_in(root, "episodes");
  command.add_given("--episodes", episodes).add_given("--until-gap", number_in(root, "until_gap"));
  command.add_given("--max-time", number_in(root, "max_seconds"));
  command.add("--seed", file.run.config.seed);
  const auto add_word = [&](const char* option, const char* key, std::string_view by_default) {
    const auto word = root.find(key);
    if (word && word->string() != by_default) command.add(option, word->string());
  };
  add_word("--vi-bonus", "bonus", name_in(kBaselineBonusNames, usual.bonus));
  if (const auto constant = number_in(root, "constant")) {
    command.add_other("--vi-constant", *constant, usual.constant);
  }
  add_word("--vi-replan", "replan", name_in(kReplanNames, usual.replan));
  add_word("--vi-output", "output", name_in(kBaselineOutputNames, usual.output));
  if (const auto delta = number_in(root, "delta")) {
    command.add_other("--delta", *delta, usual.delta);
  }
  if (const auto horizon = count_in(root, "horizon_episodes")) {
    command.add_other("--horizon-episodes", *horizon, episodes.value_or(usual.horizon_episodes));
  }
  command.add_other("--max-memory", root.at("max_memory").natural(UINT64_MAX), usual.max_memory);
  return command.text();
}

std::string solve_command(const ConfigFile& file,
                          const AnyGame& game,
                          const std::string& game_word) {
  const JsonValue root = file.document.root();
  const SolveConfig usual;
  Command command("vlearn solve " + shell_word(game_word));
  command.add("--target", name_of(file.run.config.learner.target));
  command.add("--method", root.at("method").string());
  if (const auto select = root.find("select")) {
    command.add_other("--select", std::string_view(select->string()), std::string_view("welfare"));
  }
  command.add_other("--until-gap", root.at("until_gap").number(), default_gap(frame_of(game)));
  command.add_given("--max-time", number_in(root, "max_seconds"));
  command.add_other("--max-iterations", root.at("max_iterations").natural(UINT64_MAX),
                    usual.max_iterations);
  return command.add("--seed", file.run.config.seed).text();
}

}  // namespace

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string command_of(const ConfigFile& config, const AnyGame& game, const std::string& word) {
  switch (config.kind) {
    case RunView::Kind::learned: break;
    case RunView::Kind::planned: return solve_command(config, game, word);
    case RunView::Kind::baseline: return baseline_command(config, game, word);
  }
  return learn_command(config, game, word);
}

}  // namespace vlearn
