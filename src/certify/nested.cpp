// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/nested.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/joint_profile.h"
#include "vlearn/game/law.h"

namespace vlearn {

double gap_of(const Assessment& assessment, Target target, double horizon) noexcept {
  const std::vector<double>& deviations = assessment.deviations;
  if (target == Target::nash) return deviations[0] + deviations[1] - horizon;
  double gap = deviations[0] - assessment.values[0];
  for (std::size_t j = 1; j < deviations.size(); ++j) {
    gap = std::max(gap, deviations[j] - assessment.values[j]);
  }
  return gap;
}

namespace {

constexpr double kEpsilon = 0x1p-53;

/// One number for each player and state of a step, as backups want them.
class StepValues {
 public:
  StepValues(std::size_t num_players, std::size_t num_states)
      : num_states_(num_states), values_(num_players * num_states, 0.0) {}
  [[nodiscard]] double& at(std::size_t player, State s) noexcept {
    return values_[player * num_states_ + s.index()];
  }
  [[nodiscard]] double at(std::size_t player, State s) const noexcept {
    return values_[player * num_states_ + s.index()];
  }
  [[nodiscard]] NextValues next() const noexcept { return {values_, num_states_}; }
  [[nodiscard]] std::span<double> all() noexcept { return values_; }
  [[nodiscard]] std::span<const double> all() const noexcept { return values_; }

 private:
  std::size_t num_states_;
  std::vector<double> values_;
};

/// Values that are averages, and what they have lost to rounding.
struct StepAverages {
  StepAverages(std::size_t num_players, std::size_t num_states)
      : values(num_players, num_states), lost(num_players, num_states) {}
  void move(std::size_t player, State s, double share, double x) noexcept {
    move_compensated(values.at(player, s), lost.at(player, s), share, x);
  }
  StepValues values;
  StepValues lost;
};

/// of(s, row), averaged by the law of the first state.
template <class Of>
std::vector<double> over_first_states(const Frame& frame, std::size_t width, const Of& of) {
  std::vector<double> result(width, 0.0);
  std::vector<double> row(width);
  for (const State s : all<State>(frame.num_states(Step()))) {
    const double chance = frame.initial()[s.index()];
    if (chance == 0.0) continue;
    of(s, std::span(row));
    for (std::size_t i = 0; i < width; ++i) result[i] += chance * row[i];
  }
  return result;
}

/// As many numbers of each first state.
std::vector<std::size_t> even_begins(const Frame& frame, std::size_t width) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t s = 0; s < frame.num_states(Step()); ++s) begins.push_back(width * (s + 1));
  return begins;
}

/// absorb(stage) for uniform play everywhere, from the last step to the first.
template <class Absorb>
void for_uniform_play(const Frame& frame, const Absorb& absorb) {
  std::vector<double> uniform(frame.max_profile_size());
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    for (const State s : all<State>(frame.num_states(Step(h)))) {
      const PlayerRows<double> rows(frame.action_begins(Step(h), s), uniform);
      for (const Player player : all<Player>(frame.num_players())) {
        const std::span<double> row = rows[player];
        std::fill(row.begin(), row.end(), 1.0 / static_cast<double>(row.size()));
      }
      absorb(Stage{Step(h), s, rows});
    }
  }
}

/// Visits of every (step, state), and the episode that they belong to.
class VisitCounts {
 public:
  explicit VisitCounts(const Frame& frame) : horizon_(frame.horizon()) {
    for (const Step h : all<Step>(horizon_)) counts_.emplace_back(frame.num_states(h), 0);
  }
  /// The number of this visit; the last step ends the episode.
  std::uint64_t count(Step h, State s) noexcept {
    if (h.index() + 1 == horizon_) ++episodes_;
    return ++counts_[h.index()][s.index()];
  }
  /// Of the episode that is being played, counted from 0, at its first step.
  [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }
  [[nodiscard]] std::vector<std::vector<std::uint64_t>>& all_counts() noexcept { return counts_; }
  [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& all_counts() const noexcept {
    return counts_;
  }
  void set_episodes(std::uint64_t episodes) noexcept { episodes_ = episodes; }

 private:
  std::size_t horizon_;
  std::uint64_t episodes_ = 0;
  std::vector<std::vector<std::uint64_t>> counts_;  // [step][state]
};

/// Models that list what each joint action brings.
template <class G>
concept HasJointTable = requires(const G& game, std::span<const double> values) {
  { game.reward(Player(), std::size_t(), std::size_t()) } -> std::same_as<double>;
  { game.rows().expect(std::size_t(), std::size_t(), values) } -> std::same_as<double>;
};

template <KnownGame G>
class Certifier final : public NestedCertifier {
 public:
  Certifier(const G& game, Target target, std::uint64_t weights)
      : game_(game),
        frame_(game.frame()),
        target_(target),
        alpha_(weights),
        law_defect_(std::max(game.law_defect(), row_defect(frame_.initial()))),
        visits_(frame_),
        scratch_(frame_) {
    const std::size_t m = frame_.num_players();
    for (const Step h : all<Step>(frame_.horizon())) {
      Level& level = levels_.emplace_back(m, frame_.num_states(h));
      for (const State s : all<State>(frame_.num_states(h))) {
        level.begins.push_back(level.begins.back() + num_answers(h, s));
      }
      level.answers.resize(level.begins.back(), 0.0);
      level.lost.resize(level.begins.back(), 0.0);
    }
    value_sums_ = StartSums(even_begins(frame_, m));
    answer_sums_ = StartSums(levels_.front().begins);
    // A share of 1 puts uniform play in the place of nothing.
    for_uniform_play(frame_, [&](const Stage& stage) { absorb(stage, 1.0, scratch_); });
  }

  void visit(Step h, State s, const Profile& profile) override {
    if (h.index() == 0) {
      value_sums_.before_change(s.index(), visits_.episodes(), start_values(s));
      answer_sums_.before_change(s.index(), visits_.episodes(), answers(levels_.front(), s));
    }
    absorb({h, s, profile}, alpha_.rate(visits_.count(h, s)), scratch_);
  }

  void set(Step h, State s, const Parts& parts) override {
    Scratch scratch(frame_);
    parts([&](const Profile& profile, double share) { absorb({h, s, profile}, share, scratch); });
  }

  void set_joint(Step h, State s, std::span<const double> chances) override {
    if constexpr (HasJointTable<G>) {
      forget(h, s);
      for (const Player player : all<Player>(frame_.num_players())) {
        add_joint(h, s, player, chances);
      }
      set_deviations(h, s);
    } else {
      Scratch scratch(frame_);
      std::vector<double> profile(frame_.max_profile_size());
      const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
      double sum = 0.0;
      double lost = 0.0;
      for (std::size_t a = 0; a < chances.size(); ++a) {
        if (!(chances[a] > 0.0)) continue;
        put_pure(a, begins, std::span(profile).first(begins.back()));
        const bool first = sum == 0.0;
        add_compensated(sum, lost, chances[a]);
        absorb({h, s, Profile(begins, profile)}, first ? 1.0 : chances[a] / sum, scratch);
      }
    }
  }

  [[nodiscard]] std::uint64_t episodes() const noexcept override { return visits_.episodes(); }

  [[nodiscard]] Assessment last() const override {
    const Level& first = levels_.front();
    return assess([&](State s, std::span<double> values, std::span<double> deviations) {
      for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] = first.follow.values.at(j, s);
        deviations[j] = first.deviate.at(j, s);
      }
    });
  }

  [[nodiscard]] Assessment uniform() const override {
    std::vector<double> row;
    return assess([&](State s, std::span<double> values, std::span<double> deviations) {
      value_sums_.mean(s.index(), episodes(), start_values(s), values);
      const std::span<const double> now = answers(levels_.front(), s);
      row.resize(now.size());
      answer_sums_.mean(s.index(), episodes(), now, row);
      const double* answer = row.data();
      for (const Player player : all<Player>(deviations.size())) {
        deviations[player.index()] = best_sum(answer, Step(), s, player);
      }
    });
  }

  [[nodiscard]] Assessment at(Step h, State s) const override {
    const Level& level = levels_[h.index()];
    Assessment found;
    for (std::size_t j = 0; j < frame_.num_players(); ++j) {
      found.values.push_back(level.follow.values.at(j, s));
      found.deviations.push_back(level.deviate.at(j, s));
    }
    return found;
  }

  [[nodiscard]] std::vector<WitnessPlan> witnesses(Player player, bool uniform) const override {
    const bool swap = target_ == Target::ce;
    WitnessPlan looking;
    WitnessPlan blind;
    std::vector<double> row;
    std::vector<double> sums;
    for (const Step h : all<Step>(frame_.horizon())) {
      for (const State s : all<State>(frame_.num_states(h))) {
        const std::span<const double> now = answers(levels_[h.index()], s);
        row.assign(now.begin(), now.end());
        if (uniform && h.index() == 0) answer_sums_.mean(s.index(), episodes(), now, row);
        const double* answer = row.data();
        for (const Player before : all<Player>(player.index())) {
          answer += answers_of(frame_.num_actions(before, h, s));
        }
        const std::size_t n = frame_.num_actions(player, h, s);
        sums.assign(n, 0.0);
        for (std::size_t b = 0; b < (swap ? n : 1); ++b, answer += n) {
          looking.push_back(place_of_largest({answer, n}));
          for (std::size_t x = 0; x < n; ++x) sums[x] += answer[x];
        }
        if (swap) blind.insert(blind.end(), n, place_of_largest(sums));
      }
    }
    if (!swap) return {std::move(looking)};
    return {std::move(looking), std::move(blind)};
  }

  /// Let eps be 2^-53 and V = H. One visit adds the error of a backup to what the next step has
  /// already, weighted like everything else; and a share of the rounding of its own operations: of
  /// at most 6 eps V with the weight alpha, while what is lost in the sum itself is kept aside, so
  /// that 2^-100 V remain of each of 2^40 visits at most. Policies sum to one within 2 (B + 2) eps
  /// each. Maxima add nothing, sums over B actions B eps V, over S first states S eps V, over the
  /// visits of a first state (start `uniform`) a few eps V. Twice that covers terms of second
  /// order. Sums over the chances of joint actions keep what they lose. Rows that do not sum to one
  /// add their defect times H^2. docs/theory/certificate_rounding.md has all of it.
  [[nodiscard]] double rounding() const noexcept override {
    const auto horizon = static_cast<double>(frame_.horizon());
    const auto actions = static_cast<double>(frame_.max_actions());
    const auto players = static_cast<double>(frame_.num_players());
    const double backup =
        game_.backup_error(horizon) + players * 2.0 * (actions + 2.0) * kEpsilon * (1.0 + horizon);
    double sum = 0.0;
    for (std::size_t h = 0; h < frame_.horizon(); ++h) {
      sum += backup + (12.0 + 2.0 * actions) * kEpsilon * horizon;
    }
    const auto starts = static_cast<double>(frame_.num_states(Step()));
    sum += (starts + 8.0) * kEpsilon * horizon;
    return (2.0 * sum + law_defect_ * horizon * horizon) * (1.0 + 0x1p-50);
  }

  void use(std::shared_ptr<Crew> crew) override { scratch_.workspace.use(std::move(crew)); }

  void save(ContainerWriter& writer) const override {
    std::vector<std::span<const std::uint64_t>> counts;
    std::vector<std::span<const double>> follow;
    std::vector<std::span<const double>> answers;
    std::vector<std::span<const double>> lost;
    for (const auto& step : visits_.all_counts()) counts.emplace_back(step);
    for (const Level& level : levels_) {
      follow.push_back(level.follow.values.all());
      answers.emplace_back(level.answers);
      lost.push_back(level.follow.lost.all());
      lost.emplace_back(level.lost);
    }
    writer.add_parts("certify.visits", counts);
    writer.add_parts("certify.values", follow).add_parts("certify.answers", answers);
    writer.add_parts("certify.lost", lost);
    writer.add_parts<double>("certify.sums", {value_sums_.sums(), answer_sums_.sums()});
    writer.add_parts<std::uint64_t>("certify.since", {value_sums_.since(), answer_sums_.since()});
  }

  void load(ContainerArrays& arrays) override {
    std::vector<std::span<std::uint64_t>> counts;
    std::vector<std::span<double>> follow;
    std::vector<std::span<double>> answers;
    std::vector<std::span<double>> lost;
    for (auto& step : visits_.all_counts()) counts.emplace_back(step);
    for (Level& level : levels_) {
      follow.push_back(level.follow.values.all());
      answers.emplace_back(level.answers);
      lost.push_back(level.follow.lost.all());
      lost.emplace_back(level.lost);
    }
    arrays.take_parts("certify.visits", counts);
    arrays.take_parts("certify.values", follow);
    arrays.take_parts("certify.answers", answers);
    arrays.take_parts("certify.lost", lost);
    arrays.take_parts<double>("certify.sums", {value_sums_.sums(), answer_sums_.sums()});
    arrays.take_parts<std::uint64_t>("certify.since", {value_sums_.since(), answer_sums_.since()});
    const auto refuse = [&](const char* array) {
      return arrays.header().error(array, "is not what any visits leave",
                                   "the file is damaged or of another run");
    };
    std::optional<std::uint64_t> episodes;
    for (const auto& step : visits_.all_counts()) {
      std::uint64_t sum = 0;
      for (const std::uint64_t count : step) {
        if (count > kMaxEpisodes - sum) throw refuse("certify.visits");
        sum += count;
      }
      if (episodes.value_or(sum) != sum) throw refuse("certify.visits");
      episodes = sum;
    }
    visits_.set_episodes(*episodes);
    for (const StartSums* sums : {&value_sums_, &answer_sums_}) {
      for (const std::uint64_t since : sums->since()) {
        if (since > *episodes) throw refuse("certify.since");
      }
    }
    for (const Step h : all<Step>(frame_.horizon())) {
      for (const State s : all<State>(frame_.num_states(h))) set_deviations(h, s);
    }
  }

 private:
  struct Level {
    Level(std::size_t num_players, std::size_t num_states)
        : follow(num_players, num_states), deviate(num_players, num_states) {}
    StepAverages follow;                    // U
    StepValues deviate;                     // W
    std::vector<std::size_t> begins = {0};  // of each state among the answers
    std::vector<double> answers;            // Q of each player, or C
    std::vector<double> lost;               // to rounding by these
  };
  /// Of one visit.
  struct Scratch {
    explicit Scratch(const Frame& frame)
        : values(frame.num_players()), q(frame.max_profile_size()) {}
    std::vector<double> values;
    std::vector<double> q;
    Workspace workspace;
  };

  /// Q has a number for each own action, C one for each pair.
  [[nodiscard]] std::size_t answers_of(std::size_t num_actions) const noexcept {
    return target_ == Target::ce ? num_actions * num_actions : num_actions;
  }
  [[nodiscard]] std::size_t num_answers(Step h, State s) const noexcept {
    std::size_t count = 0;
    for (const Player player : all<Player>(frame_.num_players())) {
      count += answers_of(frame_.num_actions(player, h, s));
    }
    return count;
  }
  [[nodiscard]] static std::span<const double> answers(const Level& level, State s) noexcept {
    const std::size_t begin = level.begins[s.index()];
    return std::span(level.answers).subspan(begin, level.begins[s.index() + 1] - begin);
  }
  /// U of all players at a first state; valid until the next call.
  [[nodiscard]] std::span<const double> start_values(State s) const {
    start_values_.resize(frame_.num_players());
    for (std::size_t j = 0; j < start_values_.size(); ++j) {
      start_values_[j] = levels_.front().follow.values.at(j, s);
    }
    return start_values_;
  }

  void forget(Step h, State s) noexcept {
    Level& level = levels_[h.index()];
    for (std::size_t j = 0; j < frame_.num_players(); ++j) {
      level.follow.values.at(j, s) = level.follow.lost.at(j, s) = 0.0;
    }
    const std::size_t begin = level.begins[s.index()];
    const std::size_t end = level.begins[s.index() + 1];
    std::fill(level.answers.data() + begin, level.answers.data() + end, 0.0);
    std::fill(level.lost.data() + begin, level.lost.data() + end, 0.0);
  }

  /// What a player has at a state where joint actions have these chances, and what each answer of
  /// its own would bring instead.
  void add_joint(Step h, State s, Player player, std::span<const double> chances)
    requires HasJointTable<G>
  {
    const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
    const std::size_t j = player.index();
    const std::size_t n = begins[j + 1] - begins[j];
    std::size_t stride = 1;  // between joint actions that differ by one in the player's own
    for (std::size_t k = j + 1; k + 1 < begins.size(); ++k) stride *= begins[k + 1] - begins[k];
    const std::size_t cell = frame_.cell(h, s);
    Level& level = levels_[h.index()];
    const Level* const next = frame_.is_last(h) ? nullptr : &levels_[h.index() + 1];
    std::vector<double> worth(chances.size());
    double& value = level.follow.values.at(j, s);
    double& value_lost = level.follow.lost.at(j, s);
    for (std::size_t a = 0; a < chances.size(); ++a) {
      const double reward = game_.reward(player, cell, a);
      double followed = reward;
      worth[a] = reward;
      if (next != nullptr) {
        followed += game_.rows().expect(cell, a, next->follow.values.next()[player]);
        worth[a] += game_.rows().expect(cell, a, next->deviate.next()[player]);
      }
      add_compensated(value, value_lost, chances[a] * followed);
    }
    std::size_t own_begin = level.begins[s.index()];
    for (std::size_t k = 0; k < j; ++k) own_begin += answers_of(begins[k + 1] - begins[k]);
    for (std::size_t a = 0; a < chances.size(); ++a) {
      const std::size_t own = a / stride % n;
      const std::size_t first = target_ == Target::ce ? own_begin + own * n : own_begin;
      double* const answer = level.answers.data() + first;
      double* const lost = level.lost.data() + first;
      const double* const other = worth.data() + (a - own * stride);
      for (std::size_t b = 0; b < n; ++b) {
        add_compensated(answer[b], lost[b], chances[a] * other[b * stride]);
      }
    }
  }

  void absorb(const Stage& stage, double share, Scratch& scratch) noexcept {
    const ActionValues q(frame_.action_begins(stage.h, stage.s), scratch.q);
    Level& level = levels_[stage.h.index()];
    const bool last = frame_.is_last(stage.h);
    const Level* const next = last ? nullptr : &levels_[stage.h.index() + 1];
    const NextValues deviate = last ? NextValues() : next->deviate.next();
    if (target_ == Target::nash) {
      game_.backup_all(stage, deviate, q, scratch.workspace);
    } else {
      const NextValues follow = last ? NextValues() : next->follow.values.next();
      backup_both(game_, stage, follow, deviate, scratch.values, q, scratch.workspace);
      for (std::size_t j = 0; j < scratch.values.size(); ++j) {
        level.follow.move(j, stage.s, share, scratch.values[j]);
      }
    }
    std::size_t i = level.begins[stage.s.index()];
    const auto move = [&](double x) {
      move_compensated(level.answers[i], level.lost[i], share, x);
      ++i;
    };
    for (const Player player : all<Player>(frame_.num_players())) {
      const std::span<const double> own = q[player];
      if (target_ != Target::ce) {
        for (const double x : own) move(x);
        continue;
      }
      for (const double chance : stage.profile[player]) {
        for (const double x : own) move(chance * x);
      }
    }
    set_deviations(stage.h, stage.s);
  }

  void set_deviations(Step h, State s) noexcept {
    Level& level = levels_[h.index()];
    const double* answer = level.answers.data() + level.begins[s.index()];
    for (const Player player : all<Player>(frame_.num_players())) {
      level.deviate.at(player.index(), s) = best_sum(answer, h, s, player);
    }
  }

  /// What a player's best answers are worth; moves on to those of the next.
  double best_sum(const double*& answer, Step h, State s, Player player) const noexcept {
    const std::size_t n = frame_.num_actions(player, h, s);
    const std::size_t rows = target_ == Target::ce ? n : 1;
    double sum = 0.0;
    for (std::size_t b = 0; b < rows; ++b, answer += n)
      sum += *std::max_element(answer, answer + n);
    return sum;
  }
  /// The first of equals.
  static std::uint32_t place_of_largest(std::span<const double> numbers) noexcept {
    return static_cast<std::uint32_t>(std::max_element(numbers.begin(), numbers.end()) -
                                      numbers.begin());
  }

  /// of(s, values, deviations), averaged by the law of the first state.
  template <class Of>
  [[nodiscard]] Assessment assess(const Of& of) const {
    const std::size_t m = frame_.num_players();
    const std::vector<double> both = over_first_states(
        frame_, 2 * m, [&](State s, std::span<double> row) { of(s, row.first(m), row.last(m)); });
    return {{both.begin(), both.begin() + static_cast<std::ptrdiff_t>(m)},
            {both.begin() + static_cast<std::ptrdiff_t>(m), both.end()}};
  }

  const G& game_;
  const Frame& frame_;
  Target target_;
  AlphaWeights alpha_;
  double law_defect_;  // of rows and of the law of the first state
  VisitCounts visits_;
  std::vector<Level> levels_;
  StartSums value_sums_;
  StartSums answer_sums_;
  Scratch scratch_;
  mutable std::vector<double> start_values_;
};

template <KnownGame G>
class Witness final : public NestedWitness {
 public:
  Witness(const G& game, Target target, std::uint64_t weights, std::vector<WitnessPlan> witnesses)
      : game_(game),
        frame_(game.frame()),
        target_(target),
        alpha_(weights),
        visits_(frame_),
        witnesses_(std::move(witnesses)),
        q_(frame_.max_profile_size()) {
    const std::size_t m = frame_.num_players();
    std::vector<std::size_t> next(m, 0);
    for (const Step h : all<Step>(frame_.horizon())) {
      levels_.emplace_back(m, frame_.num_states(h));
      for (const State s : all<State>(frame_.num_states(h))) {
        for (const Player player : all<Player>(m)) {
          const std::size_t j = player.index();
          begins_.push_back(next[j]);
          next[j] += target_ == Target::ce ? frame_.num_actions(player, h, s) : 1;
        }
      }
      first_cell_.push_back(begins_.size());
    }
    sums_ = StartSums(even_begins(frame_, m));
    for_uniform_play(frame_, [&](const Stage& stage) { absorb(stage, 1.0); });
  }

  void visit(Step h, State s, const Profile& profile) override {
    if (h.index() == 0) sums_.before_change(s.index(), visits_.episodes(), start_values(s));
    absorb({h, s, profile}, alpha_.rate(visits_.count(h, s)));
  }

  void use(std::shared_ptr<Crew> crew) override { workspace_.use(std::move(crew)); }

  [[nodiscard]] std::vector<double> last() const override {
    return over_first_states(frame_, frame_.num_players(), [&](State s, std::span<double> values) {
      const std::span<const double> now = start_values(s);
      std::copy(now.begin(), now.end(), values.begin());
    });
  }
  [[nodiscard]] std::vector<double> uniform() const override {
    return over_first_states(frame_, frame_.num_players(), [&](State s, std::span<double> values) {
      sums_.mean(s.index(), visits_.episodes(), start_values(s), values);
    });
  }

 private:
  void absorb(const Stage& stage, double alpha) noexcept {
    const ActionValues q(frame_.action_begins(stage.h, stage.s), q_);
    const std::size_t h = stage.h.index();
    const NextValues next = frame_.is_last(stage.h) ? NextValues() : levels_[h + 1].values.next();
    game_.backup_all(stage, next, q, workspace_);
    const std::size_t m = frame_.num_players();
    const std::size_t place = (h == 0 ? 0 : first_cell_[h - 1]) + stage.s.index() * m;
    for (const Player player : all<Player>(m)) {
      const std::size_t j = player.index();
      const std::span<const double> own = q[player];
      const std::uint32_t* const answer = witnesses_[j].data() + begins_[place + j];
      double x = 0.0;
      if (target_ != Target::ce) {
        x = own[*answer];
      } else {
        const std::span<const double> policy = stage.profile[player];
        for (std::size_t b = 0; b < policy.size(); ++b) x += policy[b] * own[answer[b]];
      }
      levels_[h].move(j, stage.s, alpha, x);
    }
  }
  [[nodiscard]] std::span<const double> start_values(State s) const {
    start_values_.resize(frame_.num_players());
    for (std::size_t j = 0; j < start_values_.size(); ++j) {
      start_values_[j] = levels_.front().values.at(j, s);
    }
    return start_values_;
  }

  const G& game_;
  const Frame& frame_;
  Target target_;
  AlphaWeights alpha_;
  VisitCounts visits_;
  std::vector<WitnessPlan> witnesses_;   // of each player
  std::vector<std::size_t> begins_;      // [cell][player] among them
  std::vector<std::size_t> first_cell_;  // where each step's begins end
  std::vector<StepAverages> levels_;
  StartSums sums_;
  std::vector<double> q_;
  mutable std::vector<double> start_values_;
  Workspace workspace_;
};

}  // namespace

std::unique_ptr<NestedCertifier> make_nested_certifier(const AnyGame& game,
                                                       Target target,
                                                       std::uint64_t weights) {
  return std::visit(
      [&](const auto& model) -> std::unique_ptr<NestedCertifier> {
        return std::make_unique<Certifier<std::remove_cvref_t<decltype(model)>>>(model, target,
                                                                                 weights);
      },
      game);
}

std::unique_ptr<NestedWitness> make_nested_witness(const AnyGame& game,
                                                   Target target,
                                                   std::uint64_t weights,
                                                   std::vector<WitnessPlan> witnesses) {
  return std::visit(
      [&](const auto& model) -> std::unique_ptr<NestedWitness> {
        return std::make_unique<Witness<std::remove_cvref_t<decltype(model)>>>(
            model, target, weights, std::move(witnesses));
      },
      game);
}

}  // namespace vlearn
