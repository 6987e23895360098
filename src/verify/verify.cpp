// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "derive.h"
#include "law.h"
#include "numbers.h"
#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/float_environment.h"
#include "vlearn/core/hash.h"
#include "vlearn/verify/policy_log.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kRationalVisits = 1000;
constexpr double kRationalProducts = 2e6;  // of all visits: some seconds

/// Thrown where the first false number is met, caught in this file.
struct Refuted {
  std::string text;
};

template <class T>
void expect_same(const std::string& what, const T& stated, const T& derived) {
  if (stated != derived) {
    throw Refuted{fmt::format("{}: stated {}, derived {}", what, stated, derived)};
  }
}

void expect_in(const std::string& what, double stated, const Interval& derived, double rounding) {
  // Written so that what is not a number is refuted.
  if (stated >= derived.low - rounding && stated <= derived.high + rounding) return;
  throw Refuted{
      fmt::format("{}: stated {}, derived [{}, {}]", what, stated, derived.low, derived.high)};
}

/// For numbers that follow from other stated ones by a few additions; all have the smallest
/// positive number as their unit.
void expect_follows(const std::string& what, double stated, double derived, double rounding) {
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  constexpr double largest = std::numeric_limits<double>::max();
  const double finite = std::clamp(derived, -largest, largest);
  if (std::abs(stated - finite) <= rounding + 16.0 * smallest) return;
  throw Refuted{
      fmt::format("{}: stated {}, but {} follows from the others", what, stated, derived)};
}

template <class Policy>
void check_shape(const Policy& policy, const Frame& frame) {
  const auto refuse = [&] { return policy.error("does not fit the game"); };
  if (policy.first_cell().size() != frame.horizon() + 1) throw refuse();
  std::size_t cell = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    const std::size_t first = policy.first_cell()[h.index()];
    if (policy.first_cell()[h.index() + 1] - first != frame.num_states(h)) throw refuse();
    for (const State s : all<State>(frame.num_states(h))) {
      if (policy.num_actions()[cell++] != frame.num_actions(policy.player(), h, s)) throw refuse();
    }
  }
}

/// All players were there: the same cells in the same episodes.
void check_alike(const PolicyLog& log, const PolicyLog& first) {
  bool alike = log.segments().size() == first.segments().size() &&
               log.weights() == first.weights() && log.tapered() == first.tapered() &&
               log.target() == first.target();
  for (std::size_t g = 0; alike && g < log.segments().size(); ++g) {
    const PolicyLog::Segment& a = log.segments()[g];
    const PolicyLog::Segment& b = first.segments()[g];
    alike = std::ranges::equal(a.directory, b.directory) &&
            std::ranges::equal(a.episode_offsets, b.episode_offsets);
  }
  if (!alike) throw log.error("is not of the same run as " + first.source());
}

/// All draw from the same parts.
void check_alike(const PolicyParts& table, const PolicyParts& first) {
  const bool alike = std::ranges::equal(table.first_part(), first.first_part()) &&
                     std::ranges::equal(table.weights(), first.weights()) &&
                     table.target() == first.target();
  if (!alike) throw table.error("does not have the parts of " + first.source());
}

/// Of PolicyLog or PolicyParts: one for each player, in their order.
template <class Policy>
std::vector<Policy> read_policies(std::span<const std::filesystem::path> files,
                                  const Frame& frame) {
  const std::size_t m = frame.num_players();
  std::vector<Policy> policies;
  for (const std::filesystem::path& path : files) policies.push_back(Policy::read(path));
  if (policies.size() != m) {
    throw Error(ErrorKind::input, "policy files", fmt::format("there are {}", policies.size()),
                fmt::format("want one for each of the {} players", m));
  }
  std::stable_sort(policies.begin(), policies.end(),
                   [](const Policy& a, const Policy& b) { return a.player() < b.player(); });
  for (std::size_t j = 0; j < m; ++j) {
    const Policy& own = policies[j];
    if (own.player() != Player(j)) throw own.error("is of a player who has a file already");
    // Who plays alone may have been trained beside somebody without a choice.
    if (own.num_players() != m && !(m == 1 && own.num_players() == 2)) {
      throw own.error("is of a game with another number of players");
    }
    check_shape(own, frame);
    check_alike(own, policies.front());
  }
  return policies;
}

/// That the certificate speaks of these files and this game.
template <class Policy>
void check_identity(const Certificate& certificate,
                    const AnyGame& game,
                    std::span<const Policy> policies) {
  expect_same("game_hash", certificate.game_hash, to_hex(law_hash_of(game)));
  expect_same("players", certificate.players.size(), policies.size());
  expect_same("policy_hashes", certificate.policy_hashes.size(), policies.size());
  for (std::size_t j = 0; j < policies.size(); ++j) {
    expect_same(fmt::format("policy_hashes[{}]", j), certificate.policy_hashes[j],
                policies[j].hash());
  }
  if (certificate.target == Target::optimal) {
    expect_same("players", policies.size(), std::size_t{1});
  }
  if (certificate.target == Target::nash && !frame_of(game).constant_sum()) {
    throw Refuted{"target: stated nash, but this is not a zero-sum game of two players"};
  }
  if (!is_executable(certificate.target, certificate.output)) {
    throw Refuted{fmt::format("output: stated {}, which players of {} cannot execute",
                              kCertifiedOutputNames[static_cast<std::size_t>(certificate.output)],
                              name_of(certificate.target))};
  }
}

/// That players of nash share no index: one part everywhere.
void check_executed(const Certificate& certificate, const PolicyParts& table) {
  const bool correlated = table.weights().size() > table.num_actions().size();
  if (certificate.target == Target::nash && correlated) {
    throw Refuted{"target: stated nash, but the files correlate the players"};
  }
}

/// That the certificate speaks of what is executed of these files.
void check_executed(const Certificate& certificate, const PolicyLog& log) {
  expect_same("weights", certificate.weights, log.weights());
  expect_same("episodes", certificate.episodes, log.episodes());
  if (certificate.taper != (log.tapered() && certificate.output != CertifiedOutput::nested)) {
    throw Refuted{
        fmt::format("taper: stated {}, but the files say {}", certificate.taper, log.tapered())};
  }
  // Whether players share their indices decides what is executed.
  const bool nash = certificate.target == Target::nash;
  if (nash != (log.target() == Target::nash)) {
    throw Refuted{fmt::format("target: stated {}, but the files are executed for {}",
                              name_of(certificate.target), name_of(log.target()))};
  }
  if (!has_start(certificate)) return;
  const std::uint64_t after = certificate.episodes + 1;
  const std::uint64_t start = certificate.start_episode;
  const bool good = certificate.start == CertifiedStart::uniform ? certificate.episodes > 0
                    : certificate.start == CertifiedStart::last  ? start == after
                                                                 : start >= 1 && start <= after;
  if (!good) throw Refuted{fmt::format("start.episode: stated {}, there are {}", start, after)};
}

template <class Policy>
void check_witness(const Certificate& certificate, std::size_t j, const Policy& policy) {
  const std::vector<std::uint32_t>& witness = certificate.players[j].witness;
  if (witness.empty()) return;
  const std::string what = fmt::format("players[{}].witness", j);
  const bool swap = certificate.target == Target::ce;
  std::size_t wanted = 0;
  for (const std::uint32_t n : policy.num_actions()) wanted += swap ? n : 1;
  expect_same(what, witness.size(), wanted);
  std::size_t i = 0;
  for (const std::uint32_t n : policy.num_actions()) {
    for (std::uint32_t b = 0; b < (swap ? n : 1); ++b, ++i) {
      if (witness[i] >= n) {
        throw Refuted{
            fmt::format("{}[{}]: stated {}, there are {} actions", what, i, witness[i] + 1, n)};
      }
    }
  }
}

/// What exact numbers would have to hold.
struct ExactWork {
  std::uint64_t visits = 0;
  double digits = 1.0;  ///< how many times longer numbers are at the first step than at the last
};
/// Every step multiplies with chances: numbers grow with the steps that are still to come.
ExactWork work_of(const PolicyLog& log, const Frame& frame) {
  return {log.episodes() * frame.horizon(), static_cast<double>(frame.horizon())};
}
/// Weights of 50 bits multiply with those of all next states, at every step.
ExactWork work_of(const PolicyParts& table, const Frame& frame) {
  const auto horizon = static_cast<double>(frame.horizon());
  return {table.weights().size(),
          std::max(horizon, std::pow(static_cast<double>(frame.max_states()), horizon - 1.0))};
}

bool use_rationals(const AnyGame& game, const ExactWork& work, VerifyNumbers numbers) {
  const bool table =
      std::holds_alternative<DenseGame>(game) || std::holds_alternative<SparseGame>(game);
  if (!table || numbers == VerifyNumbers::intervals) return false;
  if (numbers == VerifyNumbers::rationals) return true;
  const Frame& frame = frame_of(game);
  if (work.visits > kRationalVisits) return false;
  double joint = 1.0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    joint =
        std::max(joint, static_cast<double>(frame.num_joint_actions(cell).value_or(UINT64_MAX)));
  }
  const auto cells = static_cast<double>(frame.num_cells());
  return (static_cast<double>(work.visits) + cells) * joint *
             static_cast<double>(frame.max_states()) * static_cast<double>(frame.num_players()) *
             work.digits <=
         kRationalProducts;
}

/// Routes of a congestion game.
double num_routes(const AnyGame& game) {
  const auto* const congestion = std::get_if<CongestionGame>(&game);
  return congestion == nullptr ? 0.0 : static_cast<double>(congestion->num_routes());
}

/// Numbers in the user's units, from those that were derived in [0, 1] rewards.
class Units {
 public:
  /// A policy that is off by `error` of each chance moves an expectation over m of them by less
  /// than 1.01 m error of at most H_h, and so the value of an episode by the sum of these over its
  /// steps.
  Units(const AnyGame& game, double error) : frame_(frame_of(game)) {
    const auto horizon = static_cast<double>(frame_.horizon());
    const auto players = static_cast<double>(frame_.num_players());
    margin_ = 1.01 * players * error * horizon * (horizon + 1.0) / 2.0;
    // docs/theory/certificate_rounding.md
    const Interval defect = law_defect_of(game);
    const double sizes = static_cast<double>(frame_.max_states()) +
                         players * (static_cast<double>(frame_.max_actions()) + 2.0) +
                         num_routes(game) + 64.0;
    least_rounding_ = defect.low * horizon * horizon;
    most_rounding_ = horizon * (1e-9 + (horizon + 1.0) * (16.0 * sizes * 0x1p-53 + defect.high));
  }

  /// A value between 0 and H.
  [[nodiscard]] Interval value(Player player, double low, double high) const {
    const RewardRange& range = frame_.range(player);
    const auto horizon = static_cast<double>(frame_.horizon());
    const double slack = written(player);
    return {range.from_unit(low - margin_, horizon) - slack,
            range.from_unit(high + margin_, horizon) + slack};
  }
  /// What a value may lose where it is written as a double, twice.
  [[nodiscard]] double written(Player player) const {
    const RewardRange& range = frame_.range(player);
    const double share = 0x1p-49 * static_cast<double>(frame_.horizon());
    return share * std::abs(range.low) + share * std::abs(range.high);
  }
  [[nodiscard]] Interval value(Player player, const Interval& unit) const {
    return value(player, unit.low, unit.high);
  }
  /// The difference of two values of a player: nothing is lost to where its rewards begin.
  [[nodiscard]] Interval gain(Player player, const Interval& a, const Interval& b) const {
    return scaled(player, a.low - b.high - slack(), a.high - b.low + slack());
  }
  /// Two players' values less the H that they share. Their widths are the same, or nearly so.
  [[nodiscard]] Interval excess(const Interval& a, const Interval& b) const {
    const auto horizon = static_cast<double>(frame_.horizon());
    const double low = a.low + b.low - horizon - slack();
    const double high = a.high + b.high - horizon + slack();
    const Interval first = scaled(Player(0), low, high);
    const Interval second = scaled(Player(1), low, high);
    return {std::min(first.low, second.low), std::max(first.high, second.high)};
  }
  /// What rows that do not sum to one take at least,
  [[nodiscard]] double least_rounding(Player player) const {
    return width(player) * least_rounding_;
  }
  /// and what is allowed at most.
  [[nodiscard]] double most_rounding(Player player) const {
    return width(player) * most_rounding_ + 4.0 * std::numeric_limits<double>::denorm_min();
  }

 private:
  [[nodiscard]] double width(Player player) const {
    return frame_.range(player).high - frame_.range(player).low;
  }
  /// A difference of values in the user's units.
  [[nodiscard]] Interval scaled(Player player, double low, double high) const {
    return {width(player) * low, width(player) * high};
  }
  /// Of a difference of two values, each off by the margin: and of its roundings.
  [[nodiscard]] double slack() const {
    return 2.0 * margin_ + 0x1p-49 * static_cast<double>(frame_.horizon());
  }

  const Frame& frame_;
  double margin_ = 0.0;
  double least_rounding_ = 0.0;  // in units of [0, 1]
  double most_rounding_ = 0.0;
};

bool is_independent(const Certificate& certificate) {
  return certificate.target == Target::nash && certificate.output == CertifiedOutput::nested;
}

/// Where the best deviation is known exactly, and a witness need not be asked for.
bool is_exact(const Certificate& certificate) {
  return certificate.target == Target::optimal || certificate.output != CertifiedOutput::nested;
}

std::vector<VerifiedPlayer> in_units(const Certificate& certificate,
                                     const Frame& frame,
                                     const Units& units,
                                     const std::vector<Derived>& derived) {
  const auto horizon = static_cast<double>(frame.horizon());
  std::vector<VerifiedPlayer> players;
  for (const Player player : all<Player>(derived.size())) {
    const Derived& own = derived[player.index()];
    VerifiedPlayer& verified = players.emplace_back();
    const bool optimal = certificate.target == Target::optimal;
    verified.deviation_upper = units.value(player, optimal ? own.optimum : own.deviate);
    if (own.earned) {
      verified.deviation_lower = units.value(player, *own.earned);
    } else if (is_exact(certificate)) {
      verified.deviation_lower = verified.deviation_upper;
    }
    if (is_independent(certificate)) {
      const Interval& other = derived[1 - player.index()].deviate;
      verified.value_lower = units.value(player, horizon - other.high, horizon - other.low);
      verified.value_upper = verified.deviation_upper;
    } else {
      verified.value_lower = units.value(player, own.follow);
      verified.value_upper = verified.value_lower;
    }
  }
  return players;
}

void check_player(const Certificate& certificate,
                  const Units& units,
                  Player player,
                  const VerifiedPlayer& verified) {
  const PlayerCertificate& own = certificate.players[player.index()];
  const std::string place = fmt::format("players[{}].", player.index());
  if (!(own.rounding >= 0.0 && own.rounding <= units.most_rounding(player))) {
    throw Refuted{fmt::format("{}rounding: stated {}, at most {} is allowed", place, own.rounding,
                              units.most_rounding(player))};
  }
  if (own.rounding < units.least_rounding(player)) {
    throw Refuted{fmt::format(
        "{}rounding: stated {}, at least {} is needed: rows of the game sum to one only nearly",
        place, own.rounding, units.least_rounding(player))};
  }
  expect_in(place + "value.lower", own.value_lower, verified.value_lower, own.rounding);
  expect_in(place + "value.upper", own.value_upper, verified.value_upper, own.rounding);
  expect_in(place + "deviation.upper", own.deviation_upper, verified.deviation_upper, own.rounding);
  if (!own.deviation_lower) return;
  Interval lower = *verified.deviation_lower;
  // Without a witness nobody says how it is to be earned: it is enough that it can be.
  if (own.witness.empty() && !is_exact(certificate)) {
    lower.low = -std::numeric_limits<double>::infinity();
  }
  expect_in(place + "deviation.lower", *own.deviation_lower, lower, own.rounding);
}

/// Of one player: what follows from the numbers that were checked. Where rewards are far from 0,
/// these have lost digits that the gap has: so it is also held against what was derived.
void check_gap(const Certificate& certificate,
               const Units& units,
               Player player,
               const Derived& derived,
               const Interval& excess) {
  const PlayerCertificate& own = certificate.players[player.index()];
  const std::string place = fmt::format("players[{}].gap.", player.index());
  const double lost = 2.0 * units.written(player) + 0x1p-49 * own.rounding;
  const double room = 4.0 * own.rounding;
  const bool optimal = certificate.target == Target::optimal;
  const Interval& best = optimal ? derived.optimum : derived.deviate;
  if (is_independent(certificate)) {
    expect_in(place + "upper", own.gap_upper, {excess.low, excess.high + room}, 0.0);
  } else {
    const Interval gain = units.gain(player, best, derived.follow);
    expect_follows(place + "upper", own.gap_upper,
                   own.deviation_upper - own.value_lower + 2.0 * own.rounding, lost);
    expect_in(place + "upper", own.gap_upper, {gain.low, gain.high + room}, 0.0);
  }
  if (!own.gap_lower) return;
  if (!own.deviation_lower) throw Refuted{place + "lower: stated without a deviation"};
  expect_follows(place + "lower", *own.gap_lower,
                 *own.deviation_lower - own.value_upper - 2.0 * own.rounding, lost);
  if (is_independent(certificate)) return;
  Interval gain = units.gain(player, derived.earned.value_or(best), derived.follow);
  if (own.witness.empty() && !is_exact(certificate)) {
    gain.low = -std::numeric_limits<double>::infinity();  // as the deviation that it follows from
  }
  expect_in(place + "lower", *own.gap_lower, {gain.low - room, gain.high}, 0.0);
}

void check_totals(const Certificate& certificate, const Interval& excess, const Interval& earned) {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0.0;
  std::optional<double> largest_lower;
  std::optional<double> sum_lower = 0.0;
  double lost = 0.0;  // where as many numbers are added up
  double rounding = 0.0;
  const double share = 0x1p-51 * static_cast<double>(certificate.players.size() + 4);
  for (const PlayerCertificate& own : certificate.players) {
    largest = std::max(largest, own.gap_upper);
    sum += own.gap_upper;
    lost += share * std::abs(own.gap_upper) + share * std::abs(own.gap_lower.value_or(0.0));
    rounding = std::max(rounding, own.rounding);
    if (own.gap_lower)
      largest_lower = std::max(largest_lower.value_or(*own.gap_lower), *own.gap_lower);
    sum_lower =
        sum_lower && own.gap_lower ? std::optional(*sum_lower + *own.gap_lower) : std::nullopt;
  }
  const double room = 4.0 * rounding;
  expect_follows("gap.upper", certificate.gap_upper, largest, lost);
  const bool independent = is_independent(certificate);
  if (independent) {
    expect_in("sum.upper", certificate.sum_upper, {excess.low, excess.high + room}, 0.0);
    if (certificate.sum_lower) {
      expect_in("sum.lower", *certificate.sum_lower, {earned.low - room, earned.high}, 0.0);
      // Of two gaps the larger is at least half of both.
      const double half = 0.5 * *certificate.sum_lower;
      largest_lower = std::max(largest_lower.value_or(half), half);
    }
  } else {
    expect_follows("sum.upper", certificate.sum_upper, sum, lost);
    if (certificate.sum_lower) {
      if (!sum_lower) throw Refuted{"sum.lower: stated, but not for all players"};
      expect_follows("sum.lower", *certificate.sum_lower, *sum_lower, lost);
    }
  }
  if (!certificate.gap_lower) return;
  if (!largest_lower) throw Refuted{"gap.lower: stated, but for no player"};
  expect_follows("gap.lower", *certificate.gap_lower, *largest_lower, lost);
}

std::vector<Derived> derive_all(DeriveTask& task, const Certificate& certificate, bool rationals) {
  const auto run = [&] { return rationals ? derive<Rational>(task) : derive<Interval>(task); };
  const auto has_witness = [](const PlayerCertificate& own) {
    return own.deviation_lower && !own.witness.empty();
  };
  if (std::ranges::any_of(certificate.players, has_witness)) {
    for (const PlayerCertificate& own : certificate.players) {
      task.witnesses.emplace_back(has_witness(own) ? std::span(own.witness)
                                                   : std::span<const std::uint32_t>());
    }
  }
  std::vector<Derived> derived = run();
  if (is_exact(certificate)) return derived;
  // A lower bound without a witness: perhaps what the tables say at last earns as much.
  std::vector<std::vector<std::uint32_t>> found(derived.size());
  bool again = false;
  for (std::size_t j = 0; j < derived.size(); ++j) {
    if (!certificate.players[j].deviation_lower || derived[j].earned) continue;
    found[j] = std::move(derived[j].best);
    task.witnesses.resize(derived.size());
    task.witnesses[j] = found[j];
    again = true;
  }
  return again ? run() : derived;
}

void give(DeriveTask& task, std::span<const PolicyLog> logs) { task.logs = logs; }
void give(DeriveTask& task, std::span<const PolicyParts> tables) { task.tables = tables; }

/// How far policies may be from those that were played: replays of other code round otherwise.
double replay_error(std::span<const PolicyLog> logs) {
  double error = 0.0;
  for (const PolicyLog& log : logs) {
    const std::uint32_t most =
        *std::max_element(log.num_actions().begin(), log.num_actions().end());
    error = std::max(error, log.rule().error(most));
  }
  return error;
}
/// Of tables: chances sum to one only nearly, and whoever draws gives the rest to somebody.
double replay_error(std::span<const PolicyParts> tables) {
  std::uint32_t most = 0;
  for (const PolicyParts& table : tables) {
    most =
        std::max(most, *std::max_element(table.num_actions().begin(), table.num_actions().end()));
  }
  return static_cast<double>(most + 2) * 0x1p-50;
}

template <class Policy>
void check(const AnyGame& game,
           std::span<const Policy> policies,
           const Certificate& certificate,
           const VerifyOptions& options,
           Verdict& verdict) {
  check_identity(certificate, game, policies);
  check_executed(certificate, policies.front());
  for (std::size_t j = 0; j < policies.size(); ++j) check_witness(certificate, j, policies[j]);
  const Frame& frame = frame_of(game);
  DeriveTask task;
  task.game = &game;
  give(task, policies);
  task.target = certificate.target;
  task.output = certificate.output;
  task.weights = certificate.weights;
  task.tapered = certificate.taper;
  if (has_start(certificate) && certificate.start != CertifiedStart::uniform) {
    task.start_episode = certificate.start_episode;
  }
  task.parallel = options.parallel;
  verdict.rationals = use_rationals(game, work_of(policies.front(), frame), options.numbers);
  const std::vector<Derived> derived = derive_all(task, certificate, verdict.rationals);
  const Units units(game, replay_error(policies));
  verdict.players = in_units(certificate, frame, units, derived);
  Interval excess;
  Interval earned;
  if (is_independent(certificate)) {
    excess = units.excess(derived[0].deviate, derived[1].deviate);
    if (derived[0].earned && derived[1].earned) {
      earned = units.excess(*derived[0].earned, *derived[1].earned);
    } else if (certificate.sum_lower) {
      throw Refuted{"sum.lower: stated, but not for all players"};
    }
  }
  for (const Player player : all<Player>(policies.size())) {
    check_player(certificate, units, player, verdict.players[player.index()]);
    check_gap(certificate, units, player, derived[player.index()], excess);
  }
  check_totals(certificate, excess, earned);
}

}  // namespace

Verdict verify(const AnyGame& game,
               std::span<const std::filesystem::path> policy_files,
               const Certificate& certificate,
               const VerifyOptions& options) {
  const DefaultFloatEnvironment environment;
  check_choice("numbers", options.numbers, std::size_t{3});
  check_choice("target", certificate.target, kTargetNames);
  check_choice("output", certificate.output, kCertifiedOutputNames);
  check_choice("start", certificate.start, kCertifiedStartNames);
  if (certificate.method && !is_sampled(certificate)) {
    throw Error(ErrorKind::usage, options.certificate,
                fmt::format("has bounds that hold with probability {} and cannot be derived again",
                            certificate.method->confidence),
                "certify the run exactly: vlearn certify RUN");
  }
  if (certificate.method) {
    const UncertainMethod& method = *certificate.method;
    throw Error(ErrorKind::usage, options.certificate,
                fmt::format("was sampled: its bounds hold with confidence {} and cannot be derived "
                            "again",
                            method.confidence),
                fmt::format("repeat it, byte for byte: vlearn certify RUN --method sampled "
                            "--samples {} --confidence {} --seed {} --out FILE",
                            method.samples, method.confidence, method.seed));
  }
  const auto cannot = [](const std::string& what, const char* why) {
    return Error(ErrorKind::input, what, why, "this certificate cannot be verified");
  };
  if (certificate.stream_hash) {
    throw cannot(options.certificate + ": stream_hash",
                 "stands in place of policy files, which were not kept");
  }
  const Frame& frame = frame_of(game);
  if (!frame.start_known()) throw cannot("game", "does not say where episodes begin");
  Verdict verdict;
  const auto check_files = [&]<class Policy>(const std::vector<Policy>& policies) {
    try {
      check(game, std::span(policies), certificate, options, verdict);
      verdict.accepted = true;
    } catch (const Refuted& refuted) {
      verdict.refuted = refuted.text;
    }
  };
  if (certificate.output == CertifiedOutput::table) {
    check_files(read_policies<PolicyParts>(policy_files, frame));
  } else {
    check_files(read_policies<PolicyLog>(policy_files, frame));
  }
  return verdict;
}

}  // namespace vlearn
