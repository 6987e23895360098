// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Gambit's strategic games. A text is a title, the names of the players, their strategies (counted
// or named), a comment, and the payoffs: listed, or as outcomes with the number of the outcome of
// each profile. Profiles come in the order in which player 1's strategy varies fastest, which is
// the opposite of ours.
//
// Tables grow with what the text holds, never by the sizes that it declares.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "fraction.h"
#include "nfg_tokens.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

using Kind = NfgToken::Kind;

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
constexpr std::size_t kMostPlayers = 64;
constexpr std::size_t kMostPayoffs = std::size_t{1} << 20U;
constexpr std::size_t kMostOutcomes = std::size_t{1} << 20U;
constexpr std::size_t kMostNameBytes = 255;

/// Calls visit(joint) for our index of every profile, in the order of the file.
template <class Visit>
void for_each_profile(std::span<const std::uint32_t> num_actions, const Visit& visit) {
  std::vector<std::size_t> stride(num_actions.size(), 1);
  for (std::size_t i = stride.size() - 1; i > 0; --i) stride[i - 1] = stride[i] * num_actions[i];
  std::vector<std::uint32_t> actions(num_actions.size(), 0);
  std::size_t joint = 0;
  for (;;) {
    visit(joint);
    std::size_t i = 0;
    for (; i < actions.size() && actions[i] + 1 == num_actions[i]; ++i) {
      joint -= stride[i] * actions[i];
      actions[i] = 0;
    }
    if (i == actions.size()) return;
    joint += stride[i];
    ++actions[i];
  }
}

/// "1", "2", ...
std::vector<std::string> numbers(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("{}", i));
  return names;
}

/// Why a list cannot be names, as GameNames::check() wants them.
std::optional<std::string> flaw_of_names(const std::vector<std::string>& names) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front().empty()) return "one is empty";
  for (const std::string& name : names) {
    if (!can_be_name(name)) return fmt::format("'{}' is taken", printable(name, 60));
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return std::nullopt;
  return fmt::format("'{}' is there twice", printable(*twice, 60));
}

/// Not -0.
double negative(double number) { return number == 0.0 ? 0.0 : -number; }

class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : tokens_(text, source) {}

  LoadedGame read() {
    read_head();
    read_strategies();
    if (tokens_.next_is(Kind::text)) about_.note = tokens_.take().text();
    body_ = tokens_.next();
    if (tokens_.next_is(Kind::open)) {
      read_outcomes();
      read_outcome_numbers();
    } else {
      read_payoffs();
    }
    return {make_game(), std::move(about_), std::move(remarks_)};
  }

 private:
  void read_head() {
    read_word({"NFG"}, "'NFG'");
    read_word({"1"}, "version '1'");
    read_word({"R", "D"}, "'R'");
    about_.title = tokens_.take(Kind::text, "the title in quotes").text();
    tokens_.take(Kind::open, "'{' and the names of the players");
    const NfgToken first = tokens_.next();
    std::vector<std::string> players;
    while (!tokens_.next_is(Kind::close)) {
      const NfgToken token = tokens_.take(Kind::text, "the name of a player in quotes, or '}'");
      if (players.size() == kMostPlayers) {
        tokens_.refuse(token, fmt::format("there are more than {} players", kMostPlayers));
      }
      players.push_back(name_of(token));
    }
    if (players.empty()) tokens_.refuse(first, "there are no players", "want at least one");
    num_players_ = players.size();
    num_payoffs_ = players.size();
    tokens_.take();
    players = usable("players", std::move(players));
    // "1", "2", ... is how a game without names is written.
    if (players != numbers(num_players_)) about_.names.players = std::move(players);
  }

  void read_word(std::initializer_list<std::string_view> words, std::string_view wanted) {
    const NfgToken token = tokens_.take(Kind::word, wanted);
    if (std::find(words.begin(), words.end(), token.raw) == words.end()) {
      tokens_.refuse_found(token, wanted);
    }
  }

  std::string name_of(const NfgToken& token) const {
    std::string name = token.text();
    if (name.size() > kMostNameBytes) {
      tokens_.refuse(token, fmt::format("a name has {} bytes", name.size()),
                     fmt::format("want at most {}", kMostNameBytes));
    }
    return name;
  }

  /// The names themselves, or numbers and a remark.
  std::vector<std::string> usable(std::string_view whose, std::vector<std::string> names) {
    const std::optional<std::string> flaw = flaw_of_names(names);
    if (!flaw) return names;
    remarks_.push_back(fmt::format(
        "the names of the {} cannot be used ({}): numbers take their place", whose, *flaw));
    return numbers(names.size());
  }

  void read_strategies() {
    tokens_.take(Kind::open, "'{' and the strategies of each player");
    const bool named = tokens_.next_is(Kind::open);
    while (!tokens_.next_is(Kind::close)) {
      const NfgToken token = tokens_.next();
      if (num_actions_.size() == num_players_) {
        tokens_.refuse_found(token, fmt::format("'}}' after {} players", num_players_));
      }
      const std::uint64_t count = named ? read_names() : read_count();
      num_actions_.push_back(static_cast<std::uint32_t>(count));
      num_payoffs_ = checked_payoffs(count, token);
    }
    const NfgToken end = tokens_.take();
    if (num_actions_.size() != num_players_) {
      tokens_.refuse(end, fmt::format("there are strategies for {} of {} players",
                                      num_actions_.size(), num_players_));
    }
  }

  std::uint64_t read_count() {
    const std::string wanted = fmt::format("a number of strategies from 1 to {}", kMostPayoffs);
    const NfgToken token = tokens_.take(Kind::word, wanted);
    const std::optional<std::uint64_t> count = whole_number(token);
    if (!count || *count < 1 || *count > kMostPayoffs) tokens_.refuse_found(token, wanted);
    return *count;
  }

  std::uint64_t read_names() {
    const NfgToken begin = tokens_.take(Kind::open, "'{' and names of strategies");
    std::vector<std::string> names;
    while (!tokens_.next_is(Kind::close)) {
      const NfgToken token = tokens_.take(Kind::text, "the name of a strategy in quotes, or '}'");
      names.push_back(name_of(token));
      // Names are many bytes each: stop before there are too many.
      static_cast<void>(checked_payoffs(names.size(), token));
    }
    if (names.empty()) tokens_.refuse(begin, "a player has no strategies", "want at least one");
    tokens_.take();
    const std::size_t count = names.size();
    const std::string whose = fmt::format("strategies of player {}", num_actions_.size() + 1);
    add_list(usable(whose, std::move(names)));
    return count;
  }

  void add_list(std::vector<std::string> list) {
    std::vector<std::vector<std::string>>& lists = about_.names.action_lists;
    const auto place = std::find(lists.begin(), lists.end(), list);
    about_.names.action_list.push_back(static_cast<std::uint32_t>(place - lists.begin()));
    if (place == lists.end()) lists.push_back(std::move(list));
  }

  std::uint64_t checked_payoffs(std::uint64_t count, const NfgToken& token) const {
    const std::optional<std::uint64_t> payoffs = checked_multiply(num_payoffs_, count);
    if (!payoffs || *payoffs > kMostPayoffs) {
      tokens_.refuse(token, fmt::format("there are more than {} payoffs", kMostPayoffs),
                     "use the array container");
    }
    return *payoffs;
  }

  static std::optional<std::uint64_t> whole_number(const NfgToken& token) {
    std::uint64_t value = 0;
    const char* const end = token.raw.data() + token.raw.size();
    const auto [stop, error] = std::from_chars(token.raw.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
  }

  double read_payoff(std::string_view wanted) {
    const NfgToken token = tokens_.take(Kind::word, wanted);
    const std::optional<double> payoff = parse_fraction(token.raw);
    if (!payoff) tokens_.refuse_found(token, wanted);
    return *payoff;
  }

  void read_payoffs() {
    std::size_t count = 0;
    for (; !tokens_.next_is(Kind::end); ++count) {
      const double payoff = read_payoff(count < num_payoffs_ ? "a payoff" : "the end");
      if (count < num_payoffs_) payoffs_.push_back(payoff);
    }
    check_count(count, num_payoffs_, "payoffs");
  }

  void check_count(std::size_t count, std::size_t wanted, std::string_view what) const {
    if (count == wanted) return;
    tokens_.refuse(tokens_.next(), fmt::format("has {} {}, want {}", count, what, wanted));
  }

  void read_outcomes() {
    tokens_.take();
    bool named = false;
    while (!tokens_.next_is(Kind::close)) {
      const NfgToken begin = tokens_.take(Kind::open, "'{' and an outcome, or '}'");
      const std::size_t number = outcomes_.size() / num_players_ + 1;
      if (number > kMostOutcomes || number * num_players_ > kMostPayoffs) {
        tokens_.refuse(begin, fmt::format("there are more than {} outcomes", number - 1),
                       "use the array container");
      }
      const std::string name = name_of(tokens_.take(Kind::text, "the name of the outcome"));
      named = named || !(name.empty() || name == fmt::format("{}", number));
      read_outcome(number);
    }
    tokens_.take();
    if (named) remarks_.emplace_back("the names of the outcomes are not kept");
  }

  void read_outcome(std::size_t number) {
    std::size_t count = 0;
    for (; !tokens_.next_is(Kind::close); ++count) {
      if (count > 0 && tokens_.next_is(Kind::comma)) tokens_.take();
      const double payoff = read_payoff("a payoff or '}'");
      if (count < num_players_) outcomes_.push_back(payoff);
    }
    const NfgToken end = tokens_.take();
    if (count != num_players_) {
      tokens_.refuse(
          end, fmt::format("outcome {} has {} payoffs, want {}", number, count, num_players_));
    }
  }

  void read_outcome_numbers() {
    const std::size_t num_outcomes = outcomes_.size() / num_players_;
    const std::size_t num_profiles = num_payoffs_ / num_players_;
    const std::string wanted = fmt::format("the number of an outcome, from 0 to {}", num_outcomes);
    std::size_t count = 0;
    for (; !tokens_.next_is(Kind::end); ++count) {
      const std::string_view next = count < num_profiles ? std::string_view(wanted) : "the end";
      const NfgToken token = tokens_.take(Kind::word, next);
      const std::optional<std::uint64_t> number = whole_number(token);
      if (!number || *number > num_outcomes) tokens_.refuse_found(token, next);
      if (count >= num_profiles) continue;
      for (std::size_t i = 0; i < num_players_; ++i) {
        payoffs_.push_back(*number == 0 ? 0.0 : outcomes_[(*number - 1) * num_players_ + i]);
      }
    }
    check_count(count, num_profiles, "outcome numbers");
  }

  [[nodiscard]] bool zero_sum() const {
    if (num_players_ != 2) return false;
    for (std::size_t at = 0; at < payoffs_.size(); at += 2) {
      if (payoffs_[at] != -payoffs_[at + 1]) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<RewardRange> ranges() const {
    std::vector<RewardRange> ranges;
    for (std::size_t i = 0; i < num_players_; ++i) {
      double low = payoffs_[i];
      double high = payoffs_[i];
      for (std::size_t at = i; at < payoffs_.size(); at += num_players_) {
        low = std::min(low, payoffs_[at]);
        high = std::max(high, payoffs_[at]);
      }
      const RewardRange range = natural_range(low, high);
      if (!std::isfinite(range.high - range.low)) {
        tokens_.refuse(
            body_,
            fmt::format("the payoffs of player {}, from {} to {}, are too large for a range", i + 1,
                        low, high),
            "scale them");
      }
      ranges.push_back(range);
    }
    if (zero_sum()) ranges[1] = {negative(ranges[0].high), negative(ranges[0].low)};
    return ranges;
  }

  [[nodiscard]] DenseGame make_game() const {
    const std::size_t num_profiles = num_payoffs_ / num_players_;
    const std::size_t width = zero_sum() ? 1 : num_players_;  // players whose rewards are kept
    std::vector<double> rewards(width * num_profiles);
    const double* payoffs = payoffs_.data();
    for_each_profile(num_actions_, [&](std::size_t joint) {
      for (std::size_t i = 0; i < width; ++i) rewards[i * num_profiles + joint] = payoffs[i];
      payoffs += num_players_;
    });
    Frame frame({.num_players = num_players_,
                 .horizon = 1,
                 .num_states = {1},
                 .num_actions = num_actions_,
                 .ranges = ranges(),
                 .zero_sum = zero_sum()});
    return {std::move(frame), std::move(rewards), std::vector<double>(num_profiles, 1.0)};
  }

  NfgTokens tokens_;
  NfgToken body_;
  GameAbout about_;
  std::vector<std::string> remarks_;
  std::size_t num_players_ = 0;
  std::size_t num_payoffs_ = 0;
  std::vector<std::uint32_t> num_actions_;
  std::vector<double> outcomes_;  // [outcome][player]
  std::vector<double> payoffs_;   // [profile][player], in the order of the file
};

[[noreturn]] void refuse_to_write(std::string problem) {
  throw Error(ErrorKind::usage, "game", std::move(problem), "write .json or .safetensors");
}

class Writer {
 public:
  /// [player][joint]; all of it is borrowed.
  Writer(const Frame& frame, const GameAbout& about, std::span<const double> rewards)
      : about_(about), num_players_(frame.num_players()), rewards_(rewards) {
    for (const Player player : all<Player>(num_players_)) {
      num_actions_.push_back(
          static_cast<std::uint32_t>(frame.num_actions(player, Step(0), State(0))));
    }
  }

  std::string write() {
    std::vector<std::string> players = about_.names.players;
    if (players.empty()) players = numbers(num_players_);
    print("NFG 1 R {} {{ {} }}", nfg_quoted(about_.title), joined(players));
    if (about_.names.action_list.empty()) {
      print(" {{ {} }}\n", fmt::join(num_actions_, " "));
      write_note();
      for_each_profile(num_actions_,
                       [&](std::size_t joint) { print("{}\n", fmt::join(payoffs(joint), " ")); });
    } else {
      print("\n{{\n");
      for (const std::uint32_t list : about_.names.action_list) {
        print("{{ {} }}\n", joined(about_.names.action_lists[list]));
      }
      print("}}\n");
      write_note();
      write_outcomes();
    }
    return std::move(text_);
  }

 private:
  template <class... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  static std::string joined(const std::vector<std::string>& names) {
    std::vector<std::string> quoted;
    quoted.reserve(names.size());
    for (const std::string& name : names) quoted.push_back(nfg_quoted(name));
    return fmt::format("{}", fmt::join(quoted, " "));
  }

  void write_note() {
    if (!about_.note.empty()) print("{}\n", nfg_quoted(about_.note));
    print("\n");
  }

  [[nodiscard]] std::vector<double> payoffs(std::size_t joint) const {
    std::vector<double> payoffs;
    for (std::size_t at = joint; at < rewards_.size(); at += rewards_.size() / num_players_) {
      payoffs.push_back(rewards_[at]);
    }
    return payoffs;
  }

  /// Equal payoffs are one outcome.
  void write_outcomes() {
    std::map<std::vector<double>, std::size_t> known;
    std::vector<std::size_t> indices;
    print("{{\n");
    for_each_profile(num_actions_, [&](std::size_t joint) {
      const auto [outcome, fresh] = known.try_emplace(payoffs(joint), known.size() + 1);
      indices.push_back(outcome->second);
      if (fresh) print("{{ \"{}\" {} }}\n", known.size(), fmt::join(outcome->first, ", "));
    });
    print("}}\n{}\n", fmt::join(indices, " "));
    if (known.size() > kMostOutcomes) {
      refuse_to_write(
          fmt::format("has {} outcomes, .nfg files have at most {}", known.size(), kMostOutcomes));
    }
  }

  const GameAbout& about_;
  std::size_t num_players_;
  std::span<const double> rewards_;
  std::vector<std::uint32_t> num_actions_;
  std::string text_;
};

/// Of a game with one state and one step, [player][joint].
template <class Table>
std::vector<double> rewards_of(const Table& table, std::size_t num_joints) {
  std::vector<double> rewards;
  for (const Player player : all<Player>(table.frame().num_players())) {
    for (std::size_t joint = 0; joint < num_joints; ++joint) {
      rewards.push_back(table.user_reward(player, 0, joint) + 0.0);  // -0 becomes 0
    }
  }
  return rewards;
}

void check_size(const Frame& frame) {
  if (frame.horizon() != 1 || frame.num_states(Step(0)) != 1) {
    refuse_to_write(fmt::format("has {} steps and {} states, .nfg files have one of each",
                                frame.horizon(), frame.max_states()));
  }
  if (frame.num_players() > kMostPlayers) {
    refuse_to_write(fmt::format("has {} players, .nfg files have at most {}", frame.num_players(),
                                kMostPlayers));
  }
  const std::optional<std::uint64_t> joints = frame.num_joint_actions(0);
  const auto payoffs = joints ? checked_multiply(*joints, frame.num_players()) : std::nullopt;
  if (!payoffs || *payoffs > kMostPayoffs) {
    refuse_to_write(fmt::format("has more than {} payoffs", kMostPayoffs));
  }
}

}  // namespace

LoadedGame parse_nfg(std::string_view text, const std::string& source) {
  if (text.size() > kMostBytes) {
    throw Error(ErrorKind::resource, source,
                fmt::format("has {} bytes, .nfg files have at most {}", text.size(), kMostBytes),
                "use the array container");
  }
  return Reader(text, source).read();
}

std::string game_to_nfg(const LoadedGame& game) {
  const auto* const dense = std::get_if<DenseGame>(&game.game);
  const auto* const sparse = std::get_if<SparseGame>(&game.game);
  if (dense == nullptr && sparse == nullptr) {
    refuse_to_write(
        fmt::format("is a {} game, .nfg files have tables of payoffs", model_of(game.game)));
  }
  const Frame& frame = frame_of(game.game);
  check_size(frame);
  const std::size_t num_joints = *frame.num_joint_actions(0);
  const std::vector<double> rewards =
      dense != nullptr ? rewards_of(*dense, num_joints) : rewards_of(*sparse, num_joints);
  std::string text = Writer(frame, game.about, rewards).write();
  if (text.size() > kMostBytes) {
    refuse_to_write(
        fmt::format("takes {} bytes, .nfg files have at most {}", text.size(), kMostBytes));
  }
  if (!is_utf8(text)) refuse_to_write("has a title, note or name that is not UTF-8");
  return text;
}

}  // namespace vlearn
