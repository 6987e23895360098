// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/certify.h"
#include "vlearn/certify/user_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/version.h"
#include "vlearn/game/joint_profile.h"
#include "vlearn/policy/profile_replay.h"
#include "vlearn/policy/walk.h"

namespace vlearn {
namespace {

/// The best deviations that were found, and what they earn.
struct Earned {
  std::vector<double> values;
  std::vector<WitnessPlan> plans;
};

constexpr double kLargest = std::numeric_limits<double>::max();

/// Of a Markov output; 0: it draws from all visits.
void start_before(Certificate& certificate, std::uint64_t episode) {
  if (episode > certificate.episodes + 1) {
    throw Error(ErrorKind::usage, "start_episode",
                fmt::format("is {}, and {} episodes were played", episode, certificate.episodes),
                fmt::format("want 1 to {}", certificate.episodes + 1));
  }
  certificate.start = episode == 0 ? CertifiedStart::last : CertifiedStart::best;
  certificate.start_episode = episode;
}

Error misfit(const ContainerArrays& arrays, const char* array) {
  return arrays.header().error(array, "does not fit the run",
                               "the file is damaged or of another run");
}

void check_finite(double sum_of_gaps) {
  if (std::isfinite(sum_of_gaps)) return;
  throw Error(ErrorKind::input, "rewards",
              "are so large that the sum of all players' gaps is not a finite number",
              "give them in a larger unit");
}

/// Everything that follows from values and deviations, in units of [0, 1] rewards.
void fill_players(Certificate& certificate,
                  const Frame& frame,
                  const AssessedStart& assessed,
                  const std::optional<Earned>& lower) {
  const Assessment& found = assessed.assessment;
  // Of independent mixtures nobody knows the value; of Markov policies everybody does.
  const bool nash =
      certificate.target == Target::nash && certificate.output == CertifiedOutput::nested;
  const std::size_t m = frame.num_players();
  std::optional<double> largest_lower;
  double sum_lower = 0.0;
  for (const Player player : all<Player>(m)) {
    const std::size_t j = player.index();
    PlayerCertificate& one = certificate.players[j];
    one.rounding = user_rounding(frame, player, assessed.rounding);
    one.deviation_upper = to_user(frame, player, found.deviations[j]);
    if (lower) {
      // Where both ends are the same, rounding may have put them in the wrong order.
      one.deviation_lower = std::min(to_user(frame, player, lower->values[j]), one.deviation_upper);
      one.witness = lower->plans[j];
    }
    if (nash) {
      // The values of the two sum to H: what the other can get bounds what this one has.
      one.value_upper = one.deviation_upper;
      // Where the two are the same, as above.
      one.value_lower = std::min(
          to_user(frame, player, horizon_of(frame) - found.deviations[1 - j]), one.value_upper);
      continue;
    }
    one.value_lower = one.value_upper = to_user(frame, player, found.values[j]);
    const double width = width_of(frame, player);
    // No gap is larger than H times the width, which is finite.
    one.gap_upper = std::min(
        kLargest,
        up(difference_above(width, found.deviations[j] - found.values[j]) + 2.0 * one.rounding));
    certificate.gap_upper = j == 0 ? one.gap_upper : std::max(certificate.gap_upper, one.gap_upper);
    certificate.sum_upper = j == 0 ? one.gap_upper : up(certificate.sum_upper + one.gap_upper);
    if (!lower) continue;
    const double earned = std::min(lower->values[j], found.deviations[j]);
    one.gap_lower = std::max(
        -kLargest, down(difference_below(width, earned - found.values[j]) - 2.0 * one.rounding));
    largest_lower = std::max(largest_lower.value_or(*one.gap_lower), *one.gap_lower);
    sum_lower = j == 0 ? *one.gap_lower : down(sum_lower + *one.gap_lower);
  }
  if (!nash) {
    check_finite(certificate.sum_upper);
    if (!lower) return;
    certificate.gap_lower = largest_lower;
    certificate.sum_lower = std::max(sum_lower, -kLargest);
    return;
  }
  // Only both gains together are known; the larger is at least half of them. Both have one width,
  // or nearly so, and 4 `rounding` cover two numbers and the sum that is taken of them.
  const auto [narrow, wide] = std::minmax({width_of(frame, Player(0)), width_of(frame, Player(1))});
  const double rounding =
      4.0 * std::max(certificate.players[0].rounding, certificate.players[1].rounding);
  const double both = found.deviations[0] + found.deviations[1] - horizon_of(frame);
  certificate.sum_upper = std::min(kLargest, up(difference_above(wide, both) + rounding));
  certificate.gap_upper = certificate.sum_upper;
  for (PlayerCertificate& one : certificate.players) one.gap_upper = certificate.sum_upper;
  if (!lower) return;
  const double earned = lower->values[0] + lower->values[1] - horizon_of(frame);
  certificate.sum_lower = down(difference_below(earned > 0.0 ? narrow : wide, earned) - rounding);
  certificate.gap_lower = *certificate.sum_lower / 2.0;
}

/// Joint actions of a cell, on average over cells.
double mean_joint_actions(const Frame& frame) {
  double sum = 0.0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    sum += static_cast<double>(frame.num_joint_actions(cell).value_or(UINT64_MAX));
  }
  return sum / static_cast<double>(frame.num_cells());
}

/// Multiplications of backup_all().
struct BackupWork {
  double operator()(const DenseGame& game) const { return tabular(game.frame(), successors(game)); }
  double operator()(const SparseGame& game) const {
    return tabular(game.frame(), successors(game));
  }
  double operator()(const CongestionGame& game) const {
    const auto players = static_cast<double>(game.frame().num_players());
    const auto routes = static_cast<double>(game.frame().max_actions());
    // Counts as they are kept on average, in vectors; what else there is to do for each is more
    // than that up to a hundred players. Value and deviations share one counting of three.
    const double counts = std::min(0.5 * players, 4.6 * std::sqrt(players));
    return 2.0 / 3.0 * players * routes * (36.0 + 0.7 * counts);
  }
  double operator()(const PolymatrixGame& game) const {
    const auto profile = static_cast<double>(game.frame().max_profile_size());
    return profile * (profile + static_cast<double>(game.frame().max_states()));
  }
  double operator()(const CallbackGame& game) const {
    return 10.0 * tabular(game.frame(), static_cast<double>(game.frame().max_states()));
  }
  /// States that may follow a joint action, on average.
  static double successors(const DenseGame& game) {
    return static_cast<double>(game.frame().max_states());
  }
  static double successors(const SparseGame& game) {
    const auto& tables = game.rows().tables();
    return static_cast<double>(tables.successors.size()) /
           static_cast<double>(tables.begins.size());
  }
  static double tabular(const Frame& frame, double successors) {
    return mean_joint_actions(frame) * static_cast<double>(frame.num_players()) *
           (successors + 3.0);
  }
};

/// Where joint actions are few, what is played is kept as their chances: a visit is then a product,
/// and only the average is asked what it is worth.
class JointMixture {
 public:
  static constexpr std::uint64_t kMost = 4096;

  JointMixture(std::span<const std::uint32_t> begins, std::size_t num_joint)
      : begins_(begins), chances_(num_joint, 0.0), lost_(num_joint, 0.0) {}

  void move(std::span<const double> profile, double share) {
    const std::span<const double> now = joint_chances_.of(begins_, profile);
    for (std::size_t a = 0; a < chances_.size(); ++a) {
      move_compensated(chances_[a], lost_[a], share, now[a]);
    }
  }

  [[nodiscard]] std::span<const double> chances() const noexcept { return chances_; }

 private:
  std::span<const std::uint32_t> begins_;
  std::vector<double> chances_;  // of each joint action
  std::vector<double> lost_;     // to rounding by these
  JointChances joint_chances_;
};

/// Markov policies are nested mixtures whose later steps are all there before the earlier ones
/// begin: put(certifier, h, s) says what is played at one state.
template <class Put>
void fill_markov(Certificate& certificate,
                 const AnyGame& game,
                 double visits,
                 ParallelOptions options,
                 const Put& put) {
  const Frame& frame = frame_of(game);
  // The values of a product of Markov policies are known, of nash too. There are no visits that
  // weights would count.
  const Target target = certificate.target == Target::nash ? Target::cce : certificate.target;
  const auto certifier = make_nested_certifier(game, target, 1);
  // Starting threads for a step takes longer than a million multiplications.
  const double work = 2.0 * std::visit(BackupWork(), game) * visits;
  if (work < 1e6 * static_cast<double>(frame.horizon())) options.threads = 1;
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    parallel_for(frame.num_states(Step(h)), options,
                 [&](std::size_t s) { put(*certifier, Step(h), State(s)); });
  }
  AssessedStart found;
  found.assessment = certifier->last();
  found.rounding = certifier->rounding();
  Earned earned{found.assessment.deviations, {}};
  for (const Player player : all<Player>(frame.num_players())) {
    earned.plans.push_back(std::move(certifier->witnesses(player, false).front()));
  }
  fill_players(certificate, frame, found, earned);
}

/// One step of learning, of all players: as long as some 100 multiplications and 10 for each action
/// of each of them.
double learning_work(const Frame& frame) {
  return static_cast<double>(frame.num_players()) *
         (100.0 + 10.0 * static_cast<double>(frame.max_actions()));
}

/// What a Markov output is worth, from the last step to the first.
double sweep_work(const AnyGame& game, CertifiedOutput output) {
  const Frame& frame = frame_of(game);
  double stages = 0.0;
  for (const Step h : all<Step>(frame.horizon())) {
    stages += static_cast<double>(frame.num_states(h));
  }
  if (output == CertifiedOutput::marginals) return 2.0 * stages * std::visit(BackupWork(), game);
  // Every joint action meets the states that follow, twice, and the player's own actions.
  const double successors = std::visit(
      [](const auto& model) {
        if constexpr (requires { BackupWork::successors(model); }) {
          return BackupWork::successors(model);
        } else {
          return static_cast<double>(model.frame().max_states());
        }
      },
      game);
  return stages * mean_joint_actions(frame) * static_cast<double>(frame.num_players()) *
         (2.0 * successors + static_cast<double>(frame.max_actions()));
}

}  // namespace

Certificate begin_certificate(const Frame& frame,
                              const CertificateTitle& title,
                              Target target,
                              const std::optional<OutputWeights>& weights,
                              std::uint64_t episodes) {
  check_choice("target", target, kTargetNames);
  Certificate certificate;
  certificate.version = build_info().version;
  certificate.game = title.game;
  certificate.game_hash = title.game_hash;
  certificate.target = target;
  if (weights) {
    certificate.weights = weights->c();
    certificate.taper = weights->tapered();
  }
  certificate.episodes = episodes;
  certificate.policy_hashes = title.policy_hashes;
  certificate.players.resize(frame.num_players());
  for (std::size_t j = 0; j < title.player_names.size(); ++j) {
    certificate.players[j].name = title.player_names[j];
  }
  return certificate;
}

CertifiedGap gap_in_user_units(const Frame& frame,
                               Target target,
                               CertifiedOutput output,
                               const AssessedStart& assessed) {
  Certificate certificate;
  certificate.target = target;
  certificate.output = output;
  certificate.players.resize(frame.num_players());
  fill_players(certificate, frame, assessed, std::nullopt);
  return {certificate.gap_upper, certificate.sum_upper};
}

void check_tables(const Frame& frame, Target target, std::span<const MarkovTable> tables) {
  // A table that was read from a file has its name.
  const auto name_of = [&](std::size_t j) {
    return tables[j].source.empty() ? fmt::format("the table of player {}", j + 1)
                                    : tables[j].source;
  };
  const auto refuse = [&](std::size_t j, const char* problem) {
    return Error(ErrorKind::input, name_of(j), problem);
  };
  if (tables.size() != frame.num_players()) {
    throw Error(ErrorKind::input, "tables",
                fmt::format("there are {}, want one for each player", tables.size()));
  }
  for (std::size_t j = 0; j < tables.size(); ++j) {
    const MarkovTable& table = tables[j];
    check(table, name_of(j));
    if (table.player != Player(j)) throw refuse(j, "is of another player");
    if (table.first_cell.size() != frame.horizon() + 1) {
      throw refuse(j, "has another shape than the game");
    }
    if (table.first_part != tables.front().first_part || table.weights != tables.front().weights) {
      throw Error(ErrorKind::input, name_of(j), "has other parts than " + name_of(0));
    }
    if (target == Target::nash && table.weights.size() != table.num_cells()) {
      throw refuse(j, "has several parts, but players of nash share no index");
    }
    if (table.target != target) throw refuse(j, "is for another target");
    std::size_t cell = 0;
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        if (cell >= table.num_cells() || table.cell(h, s) != cell ||
            table.num_actions[cell] != frame.num_actions(Player(j), h, s)) {
          throw refuse(j, "has another shape than the game");
        }
        ++cell;
      }
    }
    if (cell != table.num_cells()) throw refuse(j, "has another shape than the game");
  }
}

double relative_cost(const AnyGame& game, CertifiedOutput output) {
  const Frame& frame = frame_of(game);
  const double learning = learning_work(frame);
  // Looks take as long as learning at most, and in the end the log is read once.
  if (output == CertifiedOutput::marginals) return 1.5;
  if (output == CertifiedOutput::markov) return 1.5 + 8.0 * mean_joint_actions(frame) / learning;
  // A backup for the value, one for deviations, and in the second pass one for the witness.
  return 3.0 * std::visit(BackupWork(), game) / learning;
}

double curve_work(const AnyGame& game,
                  CertifiedOutput output,
                  std::uint64_t episodes,
                  std::uint64_t looks) {
  const Frame& frame = frame_of(game);
  // A visit is replayed for every player, and then taken up.
  double of_visit = learning_work(frame);
  double of_look = 0.0;
  if (output == CertifiedOutput::nested) {
    of_visit += 2.0 * std::visit(BackupWork(), game);
  } else {
    of_look = sweep_work(game, output);
    if (output == CertifiedOutput::markov) of_visit += 4.0 * mean_joint_actions(frame);
  }
  return static_cast<double>(episodes) * static_cast<double>(frame.horizon()) * of_visit +
         static_cast<double>(looks) * of_look;
}

RunCertifier::RunCertifier(const AnyGame& game,
                           Target target,
                           const OutputWeights& weights,
                           CertifiedOutput output,
                           Stream stream)
    : frame_(frame_of(game)), target_(target), output_(output) {
  check_choice("target", target, kTargetNames);
  check_choice("output", output, kCertifiedOutputNames);
  check_choice("stream", stream, std::size_t{2});
  if (output == CertifiedOutput::nested) {
    nested_ = make_nested_certifier(game, target, weights.c());
  } else {
    markov_ = std::make_unique<MarkovCertifier>(game, target, output, weights);
    look_work_ = sweep_work(game, output);
    step_work_ = learning_work(frame_);
    if (output == CertifiedOutput::markov) step_work_ += 4.0 * mean_joint_actions(frame_);
  }
  if (stream == Stream::hashed) stream_.emplace(frame_);
}

std::optional<std::string> RunCertifier::stream_hash() const {
  if (!stream_) return std::nullopt;
  return stream_->hex();
}

bool RunCertifier::worth_a_look() const noexcept {
  const auto steps =
      static_cast<double>(episodes() - last_look_) * static_cast<double>(frame_.horizon());
  return look_work_ <= steps * step_work_;
}

std::optional<double> RunCertifier::certified_gap() const noexcept {
  return looks_.empty() ? std::nullopt : std::optional(looks_.front().gap);
}

RunCertifier::Look RunCertifier::look_at(AssessedStart now) const {
  // Certifying a Markov output from the files may round differently: that is covered once more.
  const double rounding = now.rounding;
  if (markov_) now.rounding *= 2.0;
  const double gap = gap_in_user_units(frame_, target_, output_, now).largest;
  now.rounding = rounding;
  now.start = CertifiedStart::best;
  return {std::move(now), gap};
}

bool RunCertifier::is_old(const Look& look) const noexcept {
  return markov_ && kLookLife * (look.assessed.start_episode - 1) < episodes();
}

std::optional<double> RunCertifier::record(bool must) {
  if (markov_ && !must && !worth_a_look()) return std::nullopt;
  Look now = look_at(at(CertifiedStart::last));
  if (nested_) {
    const double gap = now.gap;
    if (looks_.empty() || gap < looks_.front().gap) looks_.assign(1, now);
    return gap;
  }
  last_look_ = episodes();
  while (!looks_.empty() && looks_.back().gap >= now.gap) looks_.pop_back();
  looks_.push_back(std::move(now));
  while (is_old(looks_.front())) looks_.pop_front();
  return certified_gap();
}

AssessedStart RunCertifier::best_now(AssessedStart now) const {
  const Look last = look_at(std::move(now));
  const auto best = std::find_if(looks_.begin(), looks_.end(),
                                 [&](const Look& earlier) { return !is_old(earlier); });
  return best != looks_.end() && best->gap < last.gap ? best->assessed : last.assessed;
}

AssessedStart RunCertifier::at(CertifiedStart start) const {
  if (start == CertifiedStart::best) return looks_.front().assessed;
  if (markov_) {
    MarkovCertifier::Found now = markov_->assess();
    AssessedStart found;
    found.start_episode = episodes() + 1;
    found.assessment = std::move(now.assessment);
    found.rounding = now.rounding;
    for (WitnessPlan& plan : now.witnesses) found.witnesses.push_back({std::move(plan)});
    return found;
  }
  const bool uniform = start == CertifiedStart::uniform;
  AssessedStart found;
  found.start = start;
  found.start_episode = uniform ? 0 : episodes() + 1;
  found.assessment = uniform ? nested_->uniform() : nested_->last();
  found.rounding = nested_->rounding();
  for (const Player player : all<Player>(frame_.num_players())) {
    found.witnesses.push_back(nested_->witnesses(player, uniform));
  }
  return found;
}

void RunCertifier::save(ContainerWriter& writer) const {
  if (nested_) nested_->save(writer);
  if (markov_) markov_->save(writer);
  std::vector<std::uint8_t> digest;
  if (stream_) {
    digest.reserve(stream_->digest().size());
    for (const std::byte byte : stream_->digest()) {
      digest.push_back(std::to_integer<std::uint8_t>(byte));
    }
  }
  writer.own("certify.stream", std::move(digest));
  if (markov_) writer.own("certify.last_look", std::vector<std::uint64_t>{last_look_});
  std::vector<std::uint64_t> starts;
  std::vector<double> numbers;
  std::vector<std::uint32_t> witnesses;
  for (const Look& look : looks_) {
    starts.push_back(look.assessed.start_episode);
    numbers.push_back(look.assessed.rounding);
    for (const auto* of_players :
         {&look.assessed.assessment.values, &look.assessed.assessment.deviations}) {
      numbers.insert(numbers.end(), of_players->begin(), of_players->end());
    }
    for (const std::vector<WitnessPlan>& plans : look.assessed.witnesses) {
      for (const WitnessPlan& plan : plans) {
        witnesses.insert(witnesses.end(), plan.begin(), plan.end());
      }
    }
  }
  writer.own("certify.looks", std::move(starts));
  writer.own("certify.look_numbers", std::move(numbers));
  writer.own("certify.look_witnesses", std::move(witnesses));
}

void RunCertifier::load(ContainerArrays& arrays) {
  if (nested_) nested_->load(arrays);
  if (markov_) markov_->load(arrays);
  std::vector<std::uint8_t> digits(stream_ ? sizeof(Sha256Digest) : 0);
  arrays.take_parts<std::uint8_t>("certify.stream", {digits});
  if (stream_) {
    Sha256Digest digest{};
    std::transform(digits.begin(), digits.end(), digest.begin(),
                   [](std::uint8_t byte) { return std::byte{byte}; });
    stream_->set_digest(digest);
  }
  if (markov_) {
    const auto last = arrays.take<std::uint64_t>("certify.last_look");
    if (last.size() != 1 || last[0] > episodes()) throw misfit(arrays, "certify.last_look");
    last_look_ = last[0];
  }
  load_looks(arrays);
}

void RunCertifier::load_looks(ContainerArrays& arrays) {
  looks_.clear();
  const std::size_t m = frame_.num_players();
  const auto starts = arrays.take<std::uint64_t>("certify.looks");
  const std::vector<double> numbers = arrays.take<double>("certify.look_numbers");
  const auto witnesses = arrays.take<std::uint32_t>("certify.look_witnesses");
  if (nested_ && starts.size() > 1) throw misfit(arrays, "certify.looks");
  const std::size_t per_look = 1 + 2 * m;
  if (numbers.size() != starts.size() * per_look) throw misfit(arrays, "certify.look_numbers");
  // Plans are as long as they are now, and of actions that are there.
  const AssessedStart now = starts.empty() ? AssessedStart() : at(CertifiedStart::last);
  std::span<const double> number = numbers;
  std::span<const std::uint32_t> action = witnesses;
  for (const std::uint64_t start : starts) {
    const std::uint64_t earliest = looks_.empty() ? 1 : looks_.back().assessed.start_episode + 1;
    if (start < earliest || start > episodes() + 1) throw misfit(arrays, "certify.looks");
    Look look{now};
    look.assessed.start_episode = start;
    look.assessed.rounding = number[0];
    std::copy_n(number.begin() + 1, m, look.assessed.assessment.values.begin());
    std::copy_n(number.begin() + 1 + static_cast<std::ptrdiff_t>(m), m,
                look.assessed.assessment.deviations.begin());
    const bool possible = std::all_of(
        number.begin(), number.begin() + static_cast<std::ptrdiff_t>(per_look), [&](double x) {
          return x >= -1.0 && x <= static_cast<double>(frame_.horizon()) + 1.0;  // no NaN either
        });
    if (!possible || number[0] < 0.0) throw misfit(arrays, "certify.look_numbers");
    look = look_at(std::move(look.assessed));
    if (!looks_.empty() && look.gap <= looks_.back().gap) {
      throw misfit(arrays, "certify.look_numbers");
    }
    number = number.subspan(per_look);
    for (const Player player : all<Player>(m)) {
      for (WitnessPlan& plan : look.assessed.witnesses[player.index()]) {
        if (action.size() < plan.size()) throw misfit(arrays, "certify.look_witnesses");
        const std::span<const std::uint32_t> own = action.first(plan.size());
        if (!is_plan(own, player)) throw misfit(arrays, "certify.look_witnesses");
        std::copy(own.begin(), own.end(), plan.begin());
        action = action.subspan(plan.size());
      }
    }
    looks_.push_back(std::move(look));
  }
  if (!action.empty()) throw misfit(arrays, "certify.look_witnesses");
}

bool RunCertifier::is_plan(std::span<const std::uint32_t> actions, Player player) const {
  std::size_t i = 0;
  for (const Step h : all<Step>(frame_.horizon())) {
    for (const State s : all<State>(frame_.num_states(h))) {
      const std::size_t n = frame_.num_actions(player, h, s);
      for (std::size_t b = 0; b < (target_ == Target::ce ? n : 1); ++b, ++i) {
        if (actions[i] >= n) return false;
      }
    }
  }
  return true;
}

Certificate certify_played(const AnyGame& game,
                           const CertificateTitle& title,
                           Target target,
                           CertifiedOutput output,
                           const OutputWeights& weights,
                           std::uint64_t episodes,
                           const AssessedStart& assessed) {
  const Frame& frame = frame_of(game);
  Certificate certificate = begin_certificate(frame, title, target, weights, episodes);
  certificate.output = output;
  if (assessed.start == CertifiedStart::best) start_before(certificate, assessed.start_episode);
  Earned earned{assessed.assessment.deviations, {}};
  for (const std::vector<WitnessPlan>& plans : assessed.witnesses) {
    earned.plans.push_back(plans.front());
  }
  fill_players(certificate, frame, assessed, earned);
  return certificate;
}

Certificate certify_nested(const AnyGame& game,
                           const CertificateTitle& title,
                           Target target,
                           std::uint64_t weights,
                           std::uint64_t episodes,
                           const AssessedStart& assessed,
                           std::span<const PolicyFile> files,
                           const ParallelOptions& options) {
  const Frame& frame = frame_of(game);
  Certificate certificate = begin_certificate(frame, title, target, weights, episodes);
  certificate.output = CertifiedOutput::nested;
  certificate.start = assessed.start;
  certificate.start_episode = assessed.start_episode;
  std::optional<Earned> lower;
  if (!files.empty()) {
    const bool uniform = assessed.start == CertifiedStart::uniform;
    // All players have as many plans: the first of each, the second of each, ...
    std::vector<std::vector<WitnessPlan>> plans(assessed.witnesses.front().size());
    for (const std::vector<WitnessPlan>& own : assessed.witnesses) {
      for (std::size_t i = 0; i < own.size(); ++i) plans[i].push_back(own[i]);
    }
    std::vector<std::unique_ptr<NestedWitness>> witnesses;
    witnesses.reserve(plans.size());
    const auto crew = Crew::for_players(frame.num_players(), options.threads);
    for (const std::vector<WitnessPlan>& of_all : plans) {
      witnesses.push_back(make_nested_witness(game, target, weights, of_all));
      witnesses.back()->use(crew);
    }
    replay_profiles(files, uniform ? episodes : assessed.start_episode - 1, options,
                    [&](Step h, State s, std::span<const double> policies) {
                      const Profile profile(frame.action_begins(h, s), policies);
                      for (const auto& witness : witnesses) witness->visit(h, s, profile);
                    });
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const std::vector<double> earned = uniform ? witnesses[i]->uniform() : witnesses[i]->last();
      if (!lower) lower = {earned, plans[i]};
      for (std::size_t j = 0; j < earned.size(); ++j) {
        if (earned[j] <= lower->values[j]) continue;
        lower->values[j] = earned[j];
        lower->plans[j] = plans[i][j];
      }
    }
  }
  fill_players(certificate, frame, assessed, lower);
  return certificate;
}

Certificate certify_markov(const AnyGame& game,
                           const CertificateTitle& title,
                           Target target,
                           std::span<const PolicyFile> files,
                           const ParallelOptions& options,
                           std::uint64_t start_episode) {
  const std::uint64_t played = files.front().episodes();
  check_one_run(files, played);
  const Frame& frame = frame_of(game);
  const OutputWeights weights = files.front().header().markov_weights();
  Certificate certificate = begin_certificate(frame, title, target, weights, played);
  certificate.output = CertifiedOutput::markov;
  start_before(certificate, start_episode);
  const std::uint64_t episodes = start_episode == 0 ? played : start_episode - 1;
  const double visits = static_cast<double>(episodes) * static_cast<double>(frame.horizon());
  fill_markov(certificate, game, visits, options, [&](NestedCertifier& certifier, Step h, State s) {
    const std::size_t cell = files.front().header().seat.cell(h, s);
    const std::uint64_t n = files.front().visits_before(cell, episodes);
    // use(profile, share) for every visit. Before the first the walks stand at uniform play, which
    // is what is played where there is none.
    const auto walk_through = [&](const auto& use) {
      std::vector<ReplayMemory> memory(files.size());
      std::vector<PolicyWalk> walks;
      walks.reserve(files.size());
      for (std::size_t j = 0; j < files.size(); ++j) walks.emplace_back(files[j], cell, memory[j]);
      std::vector<double> numbers(frame.max_profile_size());
      const PlayerRows<double> rows(frame.action_begins(h, s), numbers);
      const std::uint64_t last = std::max<std::uint64_t>(n, 1);
      for (std::uint64_t i = 1; i <= last; ++i) {
        for (const Player player : all<Player>(files.size())) {
          const std::span<const double> policy = walks[player.index()].policy();
          std::copy(policy.begin(), policy.end(), rows[player].begin());
        }
        use(Profile(rows), weights.rate(last, i));
        for (PolicyWalk& walk : walks) {
          if (walk.logged()) walk.next();
        }
      }
    };
    const std::uint64_t joint =
        frame.num_joint_actions(frame.cell(h, s)).value_or(JointMixture::kMost + 1);
    if (joint > JointMixture::kMost || joint >= n) return certifier.set(h, s, walk_through);
    JointMixture mixture(frame.action_begins(h, s), joint);
    walk_through(
        [&](const Profile& profile, double share) { mixture.move(profile.flat(), share); });
    certifier.set_joint(h, s, mixture.chances());
  });
  return certificate;
}

Certificate certify_table(const AnyGame& game,
                          const CertificateTitle& title,
                          Target target,
                          std::span<const MarkovTable> tables,
                          const ParallelOptions& options) {
  const Frame& frame = frame_of(game);
  check_tables(frame, target, tables);
  Certificate certificate = begin_certificate(frame, title, target, std::nullopt, 0);
  certificate.output = CertifiedOutput::table;
  const auto parts = static_cast<double>(tables.front().weights.size());
  fill_markov(certificate, game, parts, options, [&](NestedCertifier& certifier, Step h, State s) {
    const std::size_t cell = tables.front().cell(h, s);
    std::vector<double> numbers(frame.max_profile_size());
    const PlayerRows<double> rows(frame.action_begins(h, s), numbers);
    const std::span<const std::uint64_t> weights = tables.front().weights_of(cell);
    certifier.set(h, s, [&](const NestedCertifier::Absorb& absorb) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        for (const Player player : all<Player>(tables.size())) {
          const std::span<const double> policy = tables[player.index()].policy(cell, i);
          std::copy(policy.begin(), policy.end(), rows[player].begin());
        }
        sum += weights[i];
        absorb(rows, static_cast<double>(weights[i]) / static_cast<double>(sum));
      }
    });
  });
  return certificate;
}

Certificate certify_marginals(const AnyGame& game,
                              const CertificateTitle& title,
                              Target target,
                              const OutputWeights& weights,
                              std::uint64_t episodes,
                              const MarkovPolicy& policy,
                              std::uint64_t start_episode) {
  const Frame& frame = frame_of(game);
  Certificate certificate = begin_certificate(frame, title, target, weights, episodes);
  certificate.output = CertifiedOutput::marginals;
  start_before(certificate, start_episode);
  fill_markov(
      certificate, game, 1.0, {.threads = 1}, [&](NestedCertifier& certifier, Step h, State s) {
        std::vector<double> numbers(frame.max_profile_size());
        const PlayerRows<double> rows(frame.action_begins(h, s), numbers);
        for (const Player player : all<Player>(frame.num_players())) {
          const std::span<const double> own = policy(player, h, s);
          std::copy(own.begin(), own.end(), rows[player].begin());
        }
        certifier.set(h, s, [&](const NestedCertifier::Absorb& absorb) { absorb(rows, 1.0); });
      });
  return certificate;
}

void certify_history(RunCertifier& certifier,
                     const Frame& frame,
                     std::span<const PolicyFile> files,
                     const std::function<bool(std::uint64_t episodes)>& is_recorded,
                     const ParallelOptions& options) {
  const std::uint64_t episodes = files.front().episodes();
  certifier.use(Crew::for_players(frame.num_players(), options.threads));
  replay_profiles(files, episodes, options, [&](Step h, State s, std::span<const double> policies) {
    certifier.visit(h, s, Profile(frame.action_begins(h, s), policies));
    if (!frame.is_last(h)) return;
    const std::uint64_t played = certifier.episodes();
    if (played == episodes || is_recorded(played)) certifier.record(played == episodes);
  });
}

}  // namespace vlearn
