// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What players do at a (step, state) when they execute the output of a run: one part of a mixture
// is drawn, a visit of a history or a part of a table, and each plays its policy of that part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vlearn/core/certificate.h"
#include "vlearn/game/frame.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/markov.h"

namespace vlearn {

class OutputPolicy {
 public:
  /// Of histories, those of all players or of the first ones, which fit the frame; it must live on.
  /// Executions draw from the visits of the first `episodes` episodes alone, all where there are
  /// fewer. Throws Error (input) where they are not of one run.
  OutputPolicy(const Frame& frame,
               Target target,
               CertifiedOutput output,
               std::vector<PolicyFile> files,
               std::uint64_t episodes);
  /// Of tables, those of all players. Throws Error (input) where they do not fit.
  OutputPolicy(const Frame& frame, Target target, std::vector<MarkovTable> tables);

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  [[nodiscard]] Target target() const noexcept { return target_; }
  [[nodiscard]] CertifiedOutput output() const noexcept { return output_; }
  /// Whose policies there are.
  [[nodiscard]] std::size_t num_players() const noexcept;
  /// Whether players draw the same part: else their actions are independent of each other.
  [[nodiscard]] bool correlates() const noexcept {
    return target_ != Target::nash && output_ != CertifiedOutput::marginals;
  }
  [[nodiscard]] std::span<const PolicyFile> files() const noexcept { return files_; }

  /// Of a history, episodes whose visits are drawn from.
  [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }

  /// Of a history, visits of the cell that are drawn from; cells are counted over all steps.
  [[nodiscard]] std::uint64_t visits(std::size_t cell) const noexcept;
  /// Parts that for_each_part() goes through, at least one.
  [[nodiscard]] std::uint64_t num_parts(std::size_t cell) const noexcept;
  [[nodiscard]] std::size_t cell(Step h, State s) const noexcept {
    return first_cell_[h.index()] + s.index();
  }

  struct Part {
    std::uint64_t number = 1;  ///< from 1 on
    /// Of all up to this one: the first has 1.
    double share = 1.0;
    std::span<const double> policies;       ///< one player after the other, as PlayerRows has them
    std::span<const std::uint32_t> played;  ///< what each did, of a visit
  };
  /// Of the first players.
  void for_each_part(Step h,
                     State s,
                     std::size_t num_players,
                     const std::function<void(const Part&)>& see) const;

  /// Equal weights on so many would be as concentrated.
  [[nodiscard]] double effective_parts(std::size_t cell) const;

  struct WeightedPart {
    std::uint64_t number = 0;   ///< from 1 on
    std::uint64_t episode = 0;  ///< from 1 on; 0: of a table
    double weight = 0.0;        ///< that it stands for
  };
  /// At most so many that stand for all. Of a history with more visits each has the middle of an
  /// equal share of the weight, from the oldest to the newest; of a table those with the largest
  /// weights. Nothing where nothing was visited.
  [[nodiscard]] std::vector<WeightedPart> some_parts(std::size_t cell, std::size_t most) const;

 private:
  /// Of visits, as they are executed.
  [[nodiscard]] OutputWeights weights() const;
  void walk_visits(Step h,
                   State s,
                   std::size_t num_players,
                   const std::function<void(const Part&)>& see) const;
  void walk_table(Step h,
                  State s,
                  std::size_t num_players,
                  const std::function<void(const Part&)>& see) const;

  const Frame& frame_;
  Target target_;
  CertifiedOutput output_;
  std::uint64_t episodes_ = 0;
  std::vector<PolicyFile> files_;
  std::vector<MarkovTable> tables_;
  std::vector<std::size_t> first_cell_;
};

/// Of each action of each of the first players: its chance in executions.
[[nodiscard]] std::vector<double> averages_of(const OutputPolicy& policy,
                                              Step h,
                                              State s,
                                              std::size_t num_players);

}  // namespace vlearn
