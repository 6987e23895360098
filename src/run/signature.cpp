// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/signature.h"

#include <array>
#include <string_view>
#include <variant>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kEpisodes = 400;

struct FixedRun {
  std::string_view game;
  LearnerOptions options;
};

std::vector<FixedRun> fixed_runs() {
  constexpr std::string_view general = "random:players=3,states=3,actions=4,horizon=3,seed=1";
  constexpr std::string_view zero_sum =
      "random:players=2,states=20,actions=10,horizon=4,kind=zero-sum,seed=2";
  constexpr std::string_view single = "random:players=1,states=4,actions=3,horizon=5,seed=3";
  constexpr std::array<std::string_view, 3> structured = {
      "congestion:players=12,routes=5,states=3,horizon=3", "soccer", "lock"};
  std::vector<FixedRun> runs;
  for (std::size_t rule = 0; rule < kRuleNames.size(); ++rule) {
    if (needs_control_variate(static_cast<RuleName>(rule)))
      continue;  // in the presets fast and proven
    for (const bool variates : {false, true}) {
      LearnerOptions options = preset_options(Preset::practical, Target::cce);
      options.rule = static_cast<RuleName>(rule);
      options.control_variate = variates;
      if (has_swap_regret(options.rule)) options.target = Target::ce;
      runs.push_back({general, options});
    }
  }
  for (const Preset preset : {Preset::paper, Preset::rigorous, Preset::practical}) {
    runs.push_back({general, preset_options(preset, Target::cce)});
    runs.push_back({general, preset_options(preset, Target::ce)});
    for (const bool monotone : {false, true}) {
      LearnerOptions nash = preset_options(preset, Target::nash);
      nash.monotone = monotone;
      runs.push_back({zero_sum, nash});
      LearnerOptions optimal = preset_options(preset, Target::optimal);
      optimal.monotone = monotone;
      runs.push_back({single, optimal});
    }
  }
  runs.push_back({structured[0], preset_options(Preset::practical, Target::cce)});
  runs.push_back({structured[1], preset_options(Preset::practical, Target::nash)});
  runs.push_back({structured[2], preset_options(Preset::practical, Target::optimal)});
  runs.push_back({general, preset_options(Preset::fast, Target::cce)});
  runs.push_back({general, preset_options(Preset::fast, Target::ce)});
  runs.push_back({general, preset_options(Preset::proven, Target::cce)});
  runs.push_back({general, preset_options(Preset::proven, Target::ce)});
  runs.push_back({zero_sum, preset_options(Preset::proven, Target::nash)});
  runs.push_back({zero_sum, preset_options(Preset::fast, Target::nash)});
  runs.push_back({single, preset_options(Preset::fast, Target::optimal)});
  runs.push_back({structured[0], preset_options(Preset::fast, Target::cce)});
  return runs;
}

}  // namespace

std::uint64_t learning_signature(std::size_t threads) {
  const std::vector<FixedRun> runs = fixed_runs();
  std::vector<std::uint64_t> signatures(runs.size());
  parallel_for(runs.size(), {.threads = threads}, [&](std::size_t i) {
    const AnyGame game = make_game(runs[i].game);
    const auto trainer = make_trainer(ref_of(game), runs[i].options, i + 1);
    trainer->play_until(kEpisodes, {});
    signatures[i] = trainer->signature();
  });
  return xxh3(std::as_bytes(std::span(signatures)));
}

}  // namespace vlearn
