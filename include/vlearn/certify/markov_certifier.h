// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certifies the Markov outputs of a run while it is played: at every (step, state) what was played
// there, averaged by the output weights, is kept as the chances of joint actions (markov) or as one
// policy for each player (marginals). What that is worth, and what deviations from it are worth,
// takes one sweep from the last step to the first whenever somebody asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vlearn/certify/nested.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/container.h"
#include "vlearn/game/any_game.h"
#include "vlearn/game/joint_profile.h"

namespace vlearn {

class MarkovCertifier {
 public:
  /// Whether the joint actions of all (step, state) of a game can be listed.
  [[nodiscard]] static bool can_list(const AnyGame& game);

  /// The game must live on. Throws Error (usage) but for the output markov of a game that can be
  /// listed, and marginals.
  MarkovCertifier(const AnyGame& game,
                  Target target,
                  CertifiedOutput output,
                  const OutputWeights& weights);

  /// As NestedCertifier::visit(), but that the order does not matter.
  void visit(Step h, State s, const Profile& profile);
  [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }

  struct Found {
    Assessment assessment;
    std::vector<WitnessPlan> witnesses;  ///< of each player
    double rounding = 0.0;
  };
  [[nodiscard]] Found assess() const;

  void save(ContainerWriter& writer) const;
  /// Throws Error (input) for arrays that no visits leave.
  void load(ContainerArrays& arrays);

 private:
  [[nodiscard]] std::size_t cell(Step h, State s) const noexcept {
    return first_cell_[h.index()] + s.index();
  }
  [[nodiscard]] std::span<const double> mixture(std::size_t cell) const noexcept {
    return std::span(mixtures_).subspan(begins_[cell], begins_[cell + 1] - begins_[cell]);
  }

  const Frame& frame_;
  bool joint_;
  AlphaWeights alpha_;
  std::optional<AlphaWeights> outer_;  // tapered: of the average of the averages so far
  std::uint64_t episodes_ = 0;
  std::vector<std::size_t> first_cell_;  // of each step
  std::vector<std::size_t> begins_;      // of each cell among the mixtures
  std::vector<double> mixtures_;
  std::vector<double> lost_;         // to rounding by these
  std::vector<double> so_far_;       // tapered: the averages so far
  std::vector<double> lost_so_far_;  // to rounding by these
  std::vector<std::uint64_t> visits_;
  JointChances chances_;
  std::unique_ptr<NestedCertifier> sweep_;
};

}  // namespace vlearn
