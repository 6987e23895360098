// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn learn --algorithm NAME: centralised baselines in the place of V-learning.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "command.h"

namespace vlearn::app {

/// What V-learning is called among the algorithms.
inline constexpr const char* kVLearning = "v-learning";

/// As given; what is empty comes from the algorithm or the game.
struct BaselineArguments {
  // Of the baselines alone:
  std::string algorithm = kVLearning;
  std::string bonus;
  std::optional<double> constant;
  std::string replan;
  std::string output;
  std::string max_memory;
  // That V-learning has too:
  std::string game;
  std::string target;
  std::string episodes;
  std::string horizon_episodes;
  std::optional<double> until_gap;
  std::optional<double> max_time;
  double delta = 0.01;
  std::string seed = "1";
  std::uint64_t threads = 0;
  std::string out;
  bool force = false;
  bool as_json = false;
};

/// Adds --algorithm and what the baselines alone have. The arguments must outlive the command.
void add_baseline_options(CLI::App& command, BaselineArguments& arguments);

/// Throws Error (usage) where an option was given that the algorithm does not have.
void check_given(const CLI::App& command, const BaselineArguments& arguments);

[[nodiscard]] ExitCode learn_by_baseline(const BaselineArguments& arguments);

}  // namespace vlearn::app
