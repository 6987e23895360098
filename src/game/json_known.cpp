// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Solutions that are known, and the rest of what a file says about its game.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json_reader.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/text.h"
#include "vlearn/game/law.h"

namespace vlearn {
namespace {

class PolicyReader {
 public:
  PolicyReader(const GameShape& shape, const Frame& frame, Work& work)
      : shape_(shape), frame_(frame), work_(work) {
    std::size_t stages = 0;
    for (const Step h : all<Step>(frame.horizon())) {
      first_stage_.push_back(stages);
      stages += frame.num_states(h);
    }
    policy_.resize(stages);
    givers_.resize(stages, Ledger::kNobody);
  }

  std::vector<std::vector<WeightedProfile>> read(const JsonValue& rules) {
    if (!rules.is_array()) throw rules.error("wants a list of rules");
    for (const JsonValue rule : rules.items()) add(rule);
    for (const Step h : all<Step>(frame_.horizon())) {
      for (const State s : all<State>(frame_.num_states(h))) {
        std::vector<WeightedProfile>& stage = policy_[first_stage_[h.index()] + s.index()];
        if (!stage.empty()) continue;
        const std::size_t cell = frame_.cell(h, s);
        const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
        if (begins.back() != frame_.num_players()) {
          throw rules.error("no rule says what is played at " + describe(h, s));
        }
        spend_on_profile(begins.back(), rules);
        stage = {{1.0, std::vector<double>(frame_.num_players(), 1.0)}};  // nobody has a choice
      }
    }
    return std::move(policy_);
  }

 private:
  /// Policies may differ from step to step where the law does not.
  void add(const JsonValue& rule) {
    allow_keys(rule, {"step", "state", "play", "mix"});
    const std::optional<JsonValue> play = rule.find("play");
    const std::optional<JsonValue> mix = rule.find("mix");
    if (play.has_value() == mix.has_value()) throw rule.error("wants one of play and mix");
    std::string keys;
    const std::vector<Step> steps = read_steps(rule, keys);
    const std::optional<JsonValue> state = rule.find("state");
    const std::optional<std::vector<JsonValue>> names = state ? names_or_all(*state) : std::nullopt;
    if (names) keys += " state";
    std::vector<bool> found(names ? names->size() : 0, false);
    ledger_.begin(rule, keys);
    for (const Step h : steps) {
      const std::size_t layer = shape_.stationary() ? 0 : h.index();
      work_.spend(1 + (names ? Work::kLookup * names->size() : frame_.num_states(h)), rule);
      if (!names) {
        for (const State s : all<State>(frame_.num_states(h))) {
          if (!shape_.terminal(frame_.cell(h, s))) put(rule, h, s);
        }
        continue;
      }
      for (std::size_t i = 0; i < names->size(); ++i) {
        const auto s = shape_.states(layer).find((*names)[i].string());
        if (!s) continue;
        found[i] = true;
        put(rule, h, State(*s));
      }
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t layer = shape_.stationary() ? 0 : steps.back().index();
      if (!found[i]) static_cast<void>(shape_.states(layer).at((*names)[i], "a state"));
    }
    ledger_.end();
  }

  [[nodiscard]] std::vector<Step> read_steps(const JsonValue& rule, std::string& keys) const {
    std::vector<Step> steps;
    const std::optional<JsonValue> step = rule.find("step");
    if (!step || step->is_string()) {
      if (step && step->string() != "*")
        throw step->error("wants a number, a list of them, or \"*\"");
      for (const Step h : all<Step>(frame_.horizon())) steps.push_back(h);
      return steps;
    }
    keys += " step";
    const auto add = [&](const JsonValue& number) {
      const auto largest = static_cast<std::int64_t>(frame_.horizon());
      steps.emplace_back(static_cast<std::uint32_t>(number.integer(1, largest) - 1));
    };
    if (step->is_array()) {
      if (step->size() == 0) throw step->error("is empty and matches nothing");
      for (const JsonValue number : step->items()) add(number);
    } else {
      add(*step);
    }
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  }

  void put(const JsonValue& rule, Step h, State s) {
    const std::size_t cell = frame_.cell(h, s);
    const auto what = [&] { return "what is played at " + describe(h, s); };
    const std::size_t stage = first_stage_[h.index()] + s.index();
    if (!ledger_.claim(givers_[stage], what)) return;
    if (const std::optional<JsonValue> play = rule.find("play")) {
      policy_[stage] = {{1.0, read_play(*play, cell)}};
      return;
    }
    const JsonValue mix = rule.at("mix");
    if (!mix.is_array() || mix.size() == 0) throw mix.error("wants a list of weighted profiles");
    std::vector<double> weights;
    for (const JsonValue part : mix.items()) {
      allow_keys(part, {"weight", "play"});
      weights.push_back(number_of(part.at("weight")));
      policy_[stage].push_back({weights.back(), read_play(part.at("play"), cell)});
    }
    if (const std::optional<std::string> flaw = flaw_of(weights)) throw mix.error(*flaw);
  }

  std::vector<double> read_play(const JsonValue& play, std::size_t cell) {
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    const std::size_t m = frame_.num_players();
    spend_on_profile(begins.back(), play);
    std::vector<double> policies(begins.back(), 0.0);
    std::vector<bool> given(m, false);
    const auto put_player = [&](std::size_t player, const JsonValue& entry) {
      const std::span<double> row =
          std::span(policies).subspan(begins[player], begins[player + 1] - begins[player]);
      read_entry(entry, shape_.actions(cell, player), row);
      given[player] = true;
    };
    if (play.is_array()) {
      if (play.size() != m)
        throw play.error(fmt::format("wants an entry for each of {} players", m));
      std::size_t player = 0;
      for (const JsonValue entry : play.items()) put_player(player++, entry);
      return policies;
    }
    if (!play.is_object()) throw play.error("wants a list or an object of players");
    for (const JsonValue entry : play.items()) {
      if (entry.key() == "*" || is_note(entry)) continue;
      const std::optional<std::uint32_t> player = shape_.players().find(entry.key());
      if (!player) throw entry.error("is not a player", shape_.players().suggest(entry.key()));
      put_player(*player, entry);
    }
    const std::optional<JsonValue> others = play.find("*");
    for (std::size_t player = 0; player < m; ++player) {
      if (given[player]) continue;
      if (!others) {
        throw play.error(fmt::format("says nothing about player '{}'",
                                     printable(shape_.players().name(player), 100)),
                         "add it, or \"*\" for all others");
      }
      put_player(player, *others);
    }
    return policies;
  }

  [[nodiscard]] std::string describe(Step h, State s) const {
    const std::string place = shape_.describe(frame_.cell(h, s));
    return shape_.stationary() ? fmt::format("step {}, {}", h.number(), place) : place;
  }

  /// A profile is kept as eight bytes per action of everybody, and what holds it.
  void spend_on_profile(std::uint64_t actions, const JsonValue& where) {
    constexpr std::uint64_t holder = 96;
    work_.spend(holder + sizeof(double) * actions, where);
  }

  /// An action for sure, or a distribution over actions.
  void read_entry(const JsonValue& entry, const NameList& actions, std::span<double> row) {
    if (entry.is_string()) {
      work_.spend(Work::kLookup, entry);
      row[actions.at(entry, "an action here")] = 1.0;
      return;
    }
    if (!entry.is_object()) throw entry.error("wants an action, or an object of probabilities");
    for (const JsonValue item : entry.items()) {
      work_.spend(Work::kLookup + (item.is_string() ? Work::kFraction : 0), item);
      if (is_note(item)) continue;
      const std::optional<std::uint32_t> action = actions.find(item.key());
      if (!action) throw item.error("is not an action here", actions.suggest(item.key()));
      row[*action] = number_of(item);
    }
    if (const std::optional<std::string> flaw = flaw_of(row)) throw entry.error(*flaw);
  }

  const GameShape& shape_;
  const Frame& frame_;
  std::vector<std::size_t> first_stage_;  // of each step
  std::vector<std::vector<WeightedProfile>> policy_;
  std::vector<std::uint32_t> givers_;
  Ledger ledger_;
  Work& work_;  // one for all solutions of a file
};

}  // namespace

std::vector<KnownSolution> read_known(const JsonValue& list,
                                      const GameShape& shape,
                                      const Frame& frame) {
  if (!list.is_array()) throw list.error("wants a list of solutions");
  std::vector<KnownSolution> known;
  Work work;
  for (const JsonValue item : list.items()) {
    allow_keys(item, {"target", "values", "source", "policy"});
    KnownSolution& solution = known.emplace_back();
    const JsonValue word = item.at("target");
    const std::optional<Target> target = target_named(word.string());
    if (!target) {
      throw word.error("'" + printable(word.string(), 50) + "' is not a target",
                       "want nash, ce, cce or optimal");
    }
    solution.target = *target;
    solution.source = item.at("source").string();
    if (const std::optional<JsonValue> values = item.find("values")) {
      if (!values->is_array() || values->size() != frame.num_players()) {
        throw values->error(
            fmt::format("wants a number for each of {} players", frame.num_players()));
      }
      for (const JsonValue value : values->items()) solution.values.push_back(number_of(value));
    }
    if (const std::optional<JsonValue> policy = item.find("policy")) {
      const auto stages = checked_multiply(frame.horizon(), frame.max_states());
      if (!stages || *stages > kMaxJsonNumbers) {
        throw policy->error("there are too many steps times states for a policy in JSON",
                            "state the values alone");
      }
      solution.policy = PolicyReader(shape, frame, work).read(*policy);
    }
  }
  return known;
}

GameAbout read_about(const JsonValue& root, const GameShape& shape, const Frame& frame) {
  GameAbout about;
  const auto text = [&](std::string_view key) {
    const std::optional<JsonValue> value = root.find(key);
    return value ? std::string(value->string()) : std::string();
  };
  about.title = text("title");
  about.source = text("source");
  about.note = text("note");
  about.names = shape.names();
  if (const std::optional<JsonValue> known = root.find("known")) {
    about.known = read_known(*known, shape, frame);
  }
  return about;
}

}  // namespace vlearn
