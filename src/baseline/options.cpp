// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/log.h"
#include "vlearn/core/random.h"

namespace vlearn {

double theory_constant(BaselineName algorithm) noexcept {
  switch (algorithm) {
    case BaselineName::nash_vi: return 6.0;
    case BaselineName::multi_cce_vi:
    case BaselineName::multi_ce_vi: return 1.0;
    case BaselineName::plug_in: break;
  }
  return 0.0;
}

double usual_constant(BaselineName algorithm) noexcept {
  switch (algorithm) {
    case BaselineName::nash_vi: return 0.0001;
    case BaselineName::multi_cce_vi:
    case BaselineName::multi_ce_vi: return 0.01;
    case BaselineName::plug_in: break;
  }
  return 0.0;
}

Target natural_target(BaselineName algorithm, const Frame& frame) noexcept {
  switch (algorithm) {
    case BaselineName::nash_vi: return Target::nash;
    case BaselineName::multi_cce_vi:
      return frame.num_players() == 1 ? Target::optimal : Target::cce;
    case BaselineName::multi_ce_vi: return Target::ce;
    case BaselineName::plug_in: break;
  }
  if (frame.num_players() == 1) return Target::optimal;
  return frame.zero_sum() ? Target::nash : Target::cce;
}

BaselineOptions usual_options(BaselineName algorithm, const Frame& frame) noexcept {
  BaselineOptions options;
  options.algorithm = algorithm;
  options.target = natural_target(algorithm, frame);
  options.constant = usual_constant(algorithm);
  return options;
}

void check_choices(const BaselineOptions& options) {
  check_choice("algorithm", options.algorithm, kBaselineNames);
  check_choice("target", options.target, kTargetNames);
  check_choice("bonus", options.bonus, kBaselineBonusNames);
  check_choice("replan", options.replan, kReplanNames);
  check_choice("output", options.output, kBaselineOutputNames);
}

void check_options(const Frame& frame, const BaselineOptions& options) {
  check_choices(options);
  const std::string name(name_of(options.algorithm));
  const auto refuse = [&](const std::string& problem, const std::string& fix) {
    return Error(ErrorKind::usage, name, problem, fix);
  };
  const auto for_target = [&](Target target, const char* instead) {
    if (options.target == target) return;
    throw refuse(fmt::format("finds {}, not {}", name_of(target), name_of(options.target)),
                 instead);
  };
  switch (options.algorithm) {
    case BaselineName::nash_vi:
      if (!frame.constant_sum()) {
        throw refuse(
            "is for zero-sum games of two players",
            "use multi-cce-vi or multi-ce-vi, which fit every game" + std::string(kZeroSumHint));
      }
      for_target(Target::nash, "use multi-cce-vi for cce, multi-ce-vi for ce");
      break;
    case BaselineName::multi_cce_vi:
      if (options.target == Target::optimal && frame.num_players() == 1) break;
      for_target(Target::cce, "use nash-vi for nash in zero-sum games, multi-ce-vi for ce");
      break;
    case BaselineName::multi_ce_vi:
      for_target(Target::ce, "use nash-vi for nash in zero-sum games, multi-cce-vi for cce");
      break;
    case BaselineName::plug_in:
      if (options.target == Target::optimal && frame.num_players() != 1) {
        throw refuse("finds what is optimal for one player only",
                     "use cce, ce or, of a zero-sum game, nash");
      }
      if (options.target == Target::nash && !frame.constant_sum()) {
        throw refuse("finds nash in zero-sum games of two players only",
                     "use cce or ce, which every game has" + std::string(kZeroSumHint));
      }
      break;
  }
  if (!(std::isfinite(options.constant) && options.constant >= 0.0)) {
    throw refuse("the constant of the bonus is not a number from 0 on", "");
  }
  if (!(options.delta > 0.0 && options.delta < 1.0)) {
    throw refuse("delta is not between 0 and 1", "");
  }
  if (options.horizon_episodes == 0 || options.horizon_episodes >= kMaxEpisodes) {
    throw refuse("K inside iota is out of range", fmt::format("want 1 to {}", kMaxEpisodes - 1));
  }
}

double iota_of(const Frame& frame, const BaselineOptions& options) {
  double joint = 1.0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const auto count = frame.num_joint_actions(cell);
    joint = std::max(joint, count ? static_cast<double>(*count) : 0x1p64);
  }
  const auto states = static_cast<double>(frame.max_states());
  const auto players = static_cast<double>(frame.num_players());
  const double events = 4.0 * states * (states + 2.0 * players) * joint *
                        static_cast<double>(frame.horizon()) *
                        static_cast<double>(options.horizon_episodes);
  return log(events / options.delta);
}

}  // namespace vlearn
