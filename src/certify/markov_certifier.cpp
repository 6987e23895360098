// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/markov_certifier.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"

namespace vlearn {
namespace {

/// Joint actions of one (step, state), and of all.
constexpr std::uint64_t kMostJoint = 4096;
constexpr std::uint64_t kMostListed = std::uint64_t{1} << 24U;

/// An average of many visits sums to one only nearly.
bool is_policy(std::span<const double> chances) noexcept {
  double sum = 0.0;
  for (const double chance : chances) {
    if (!(chance >= -1e-12 && chance <= 1.0 + 1e-12)) return false;
    sum += chance;
  }
  return std::abs(sum - 1.0) <= 1e-9;
}

}  // namespace

bool MarkovCertifier::can_list(const AnyGame& game) {
  const bool table =
      std::holds_alternative<DenseGame>(game) || std::holds_alternative<SparseGame>(game);
  if (!table) return false;  // a sweep would take a backup for each of them
  const Frame& frame = frame_of(game);
  std::uint64_t sum = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      const std::uint64_t joint =
          frame.num_joint_actions(frame.cell(h, s)).value_or(kMostJoint + 1);
      if (joint > kMostJoint) return false;
      sum += joint;
      if (sum > kMostListed) return false;
    }
  }
  return true;
}

MarkovCertifier::MarkovCertifier(const AnyGame& game,
                                 Target target,
                                 CertifiedOutput output,
                                 const OutputWeights& weights)
    : frame_(frame_of(game)),
      joint_(output == CertifiedOutput::markov),
      alpha_(weights.c()),
      // The values of a product of Markov policies are known, of nash too.
      sweep_(make_nested_certifier(game, target == Target::nash ? Target::cce : target, 1)) {
  if (joint_ ? !can_list(game) : output != CertifiedOutput::marginals) {
    throw Error(ErrorKind::usage, "output", "cannot be certified while it is learned");
  }
  begins_.push_back(0);
  for (const Step h : all<Step>(frame_.horizon())) {
    first_cell_.push_back(begins_.size() - 1);
    for (const State s : all<State>(frame_.num_states(h))) {
      const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
      if (joint_) {
        const std::uint64_t joint = *frame_.num_joint_actions(frame_.cell(h, s));
        mixtures_.resize(mixtures_.size() + joint, 1.0 / static_cast<double>(joint));
      } else {
        for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
          const std::size_t n = begins[j + 1] - begins[j];
          mixtures_.resize(mixtures_.size() + n, 1.0 / static_cast<double>(n));
        }
      }
      begins_.push_back(mixtures_.size());
    }
  }
  lost_.resize(mixtures_.size(), 0.0);
  if (weights.tapered()) {
    outer_.emplace(weights.c() + 1);
    so_far_ = mixtures_;
    lost_so_far_ = lost_;
  }
  visits_.resize(begins_.size() - 1, 0);
}

void MarkovCertifier::visit(Step h, State s, const Profile& profile) {
  const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
  const std::span<const double> now = joint_ ? chances_.of(begins, profile.flat()) : profile.flat();
  const std::size_t cell = this->cell(h, s);
  const std::uint64_t n = ++visits_[cell];
  const std::size_t begin = begins_[cell];
  const auto average = [&](const AlphaWeights& weights, std::span<const double> of,
                           std::vector<double>& means, std::vector<double>& lost) {
    const double share = weights.rate(n);
    for (std::size_t i = 0; i < of.size(); ++i) {
      move_compensated(means[begin + i], lost[begin + i], share, of[i]);
    }
  };
  if (outer_) {
    average(alpha_, now, so_far_, lost_so_far_);
    average(*outer_, std::span(so_far_).subspan(begin, now.size()), mixtures_, lost_);
  } else {
    average(alpha_, now, mixtures_, lost_);
  }
  if (frame_.is_last(h)) ++episodes_;
}

MarkovCertifier::Found MarkovCertifier::assess() const {
  for (std::size_t h = frame_.horizon(); h-- > 0;) {
    for (const State s : all<State>(frame_.num_states(Step(h)))) {
      const std::span<const double> played = mixture(cell(Step(h), s));
      if (joint_) {
        sweep_->set_joint(Step(h), s, played);
        continue;
      }
      sweep_->set(Step(h), s, [&](const NestedCertifier::Absorb& absorb) {
        absorb(Profile(frame_.action_begins(Step(h), s), played), 1.0);
      });
    }
  }
  Found found{sweep_->last(), {}, sweep_->rounding()};
  for (const Player player : all<Player>(frame_.num_players())) {
    found.witnesses.push_back(std::move(sweep_->witnesses(player, false).front()));
  }
  return found;
}

void MarkovCertifier::save(ContainerWriter& writer) const {
  writer.add("certify.visits", {visits_.size()}, visits_);
  writer.add("certify.mixtures", {mixtures_.size()}, mixtures_);
  writer.add("certify.lost", {lost_.size()}, lost_);
  if (!outer_) return;
  writer.add("certify.so_far", {so_far_.size()}, so_far_);
  writer.add("certify.lost_so_far", {lost_so_far_.size()}, lost_so_far_);
}

void MarkovCertifier::load(ContainerArrays& arrays) {
  arrays.take_parts<std::uint64_t>("certify.visits", {visits_});
  arrays.take_parts<double>("certify.mixtures", {mixtures_});
  arrays.take_parts<double>("certify.lost", {lost_});
  if (outer_) {
    arrays.take_parts<double>("certify.so_far", {so_far_});
    arrays.take_parts<double>("certify.lost_so_far", {lost_so_far_});
  }
  const auto refuse = [&](const char* array) {
    return arrays.header().error(array, "is not what any visits leave",
                                 "the file is damaged or of another run");
  };
  for (const Step h : all<Step>(frame_.horizon())) {
    std::uint64_t sum = 0;
    for (const State s : all<State>(frame_.num_states(h))) {
      const std::uint64_t count = visits_[cell(h, s)];
      if (count > kMaxEpisodes - sum) throw refuse("certify.visits");
      sum += count;
      const auto check = [&](const char* array, const std::vector<double>& means) {
        const std::size_t at = cell(h, s);
        const auto played = std::span(means).subspan(begins_[at], begins_[at + 1] - begins_[at]);
        if (joint_ && !is_policy(played)) throw refuse(array);
        const Profile profile(frame_.action_begins(h, s), played);
        for (const Player player : all<Player>(joint_ ? 0 : frame_.num_players())) {
          if (!is_policy(profile[player])) throw refuse(array);
        }
      };
      check("certify.mixtures", mixtures_);
      if (outer_) check("certify.so_far", so_far_);
    }
    if (h.index() > 0 && sum != episodes_) throw refuse("certify.visits");
    episodes_ = sum;
  }
  const auto tiny = [](double x) { return std::abs(x) <= 1e-12; };
  if (!std::all_of(lost_.begin(), lost_.end(), tiny)) throw refuse("certify.lost");
  if (!std::all_of(lost_so_far_.begin(), lost_so_far_.end(), tiny)) {
    throw refuse("certify.lost_so_far");
  }
}

}  // namespace vlearn
