// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: one that loads can be gone on with, and saves again what it was.
//
// The first byte chooses a run; the rest is a file. Its commit would stop nearly every change, so
// the right one is put in the place of its last 32 bytes.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "fuzz_target.h"
#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/trainer.h"

namespace {

using namespace vlearn;

constexpr std::size_t kCommit = sizeof(Sha256Digest);

struct Choice {
  AnyGame game;
  LearnerOptions options;
  bool history;
};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all = [] {
    std::vector<Choice> made;
    const char* const game = "random:players=2,states=2,actions=2,horizon=2,seed=1";
    made.push_back({make_game(game), preset_options(Preset::practical, Target::cce), true});
    made.push_back({make_game(game), preset_options(Preset::rigorous, Target::ce), true});
    LearnerOptions variates = preset_options(Preset::practical, Target::cce);
    variates.control_variate = true;
    made.push_back({make_game(game), variates, false});
    LearnerOptions monotone = preset_options(Preset::rigorous, Target::optimal);
    monotone.monotone = true;
    made.push_back({make_game("lock:horizon=2"), monotone, true});
    return made;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + kCommit) return 0;
  const Choice& choice = choices()[data[0] % choices().size()];
  std::vector<std::byte> bytes(size - 1);
  std::transform(data + 1, data + size, bytes.begin(), [](std::uint8_t b) { return std::byte{b}; });
  const Sha256Digest commit = sha256(std::span(bytes).first(bytes.size() - kCommit));
  std::copy(commit.begin(), commit.end(), bytes.end() - kCommit);
  const std::unique_ptr<Trainer> trainer =
      std::visit([&](const auto& model) { return make_trainer(GameRef(model), choice.options, 1); },
                 choice.game);
  if (choice.history) trainer->keep_history([](Player, std::span<const std::byte>) {});
  try {
    ContainerArrays arrays = ContainerArrays::copy(bytes, "input", [](const ContainerHeader&) {});
    trainer->load(arrays);
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    return 0;
  }
  const std::uint64_t before = trainer->episodes();
  trainer->play_until(before + 3, {});
  fuzz::promise(trainer->episodes() == before + 3, "a run goes on");
  trainer->hand_out_rest();
  return 0;
}
