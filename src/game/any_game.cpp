// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/any_game.h"

#include <algorithm>
#include <array>

#include "families.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

struct Entry {
  GameFamily family;
  GameSize (*size)(Parameters&);
  AnyGame (*make)(Parameters&);
};

constexpr std::array<Entry, 7> kFamilies = {{
    {{"random", "random:players=2,states=4,actions=3,horizon=5,seed=1,kind=general",
      "Dirichlet(1) rows, rewards uniform in [0, 1]; kind=zero-sum|team|polymatrix"},
     size_of_random,
     make_random},
    {{"congestion", "congestion:players=10,routes=10,states=3,horizon=3,seed=5",
      "players share routes; the more on one, the less it pays (congestion-100: 100 players)"},
     size_of_congestion,
     make_congestion},
    {{"lock", "lock:horizon=6,actions=3,players=1,success=0.9,seed=1",
      "one reward after a chain of right actions, a lure for wrong ones"},
     size_of_lock,
     make_lock},
    {{"soccer", "soccer:horizon=10", "Littman's soccer on a 4 by 5 pitch, zero-sum"},
     size_of_soccer,
     make_soccer},
    {{"pursuit", "pursuit:size=4,horizon=10",
      "one chases, one flees on a square board, zero-sum, ends early"},
     size_of_pursuit,
     make_pursuit},
    {{"grid-game-1", "grid-game-1:horizon=10,discount=0.9",
      "two walk from lower corners to opposite upper ones, general-sum, ends early"},
     size_of_grid_game,
     make_grid_game_1},
    {{"grid-game-2", "grid-game-2:horizon=10,discount=0.9",
      "two walk to one goal, past barriers or through the middle, general-sum, ends early"},
     size_of_grid_game,
     make_grid_game_2},
}};

constexpr std::string_view kCongestionPrefix = "congestion-";

/// congestion-100 is short for congestion:players=100.
std::string spelled_out(std::string_view name) {
  if (!name.starts_with(kCongestionPrefix)) return std::string(name);
  return "congestion:players=" + std::string(name.substr(kCongestionPrefix.size()));
}

const Entry& entry_of(const Parameters& parameters) {
  std::vector<std::string_view> known;
  for (const Entry& entry : kFamilies) {
    if (parameters.family() == entry.family.name) return entry;
    known.push_back(entry.family.name);
  }
  std::string fix = suggestion(parameters.family(), known);
  if (fix.empty()) {
    fix = "there are";
    for (const std::string_view family : known) fix += " " + std::string(family);
  }
  throw Error(ErrorKind::usage, "game '" + printable(parameters.family(), 100) + "'",
              "is not known", fix);
}

}  // namespace

std::span<const GameFamily> game_families() noexcept {
  static const std::array<GameFamily, kFamilies.size()> families = [] {
    std::array<GameFamily, kFamilies.size()> list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = kFamilies[i].family;
    return list;
  }();
  return families;
}

bool is_family(std::string_view name) noexcept {
  if (name.starts_with(kCongestionPrefix)) return true;
  const std::string_view family = name.substr(0, name.find(':'));
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](const Entry& entry) { return entry.family.name == family; });
}

GameSize size_of_family(std::string_view name) {
  Parameters parameters(spelled_out(name));
  return entry_of(parameters).size(parameters);
}

AnyGame make_game(std::string_view name) {
  Parameters parameters(spelled_out(name));
  return entry_of(parameters).make(parameters);
}

const Frame& frame_of(const AnyGame& game) {
  return std::visit([](const auto& model) -> const Frame& { return model.frame(); }, game);
}

GameRef ref_of(const AnyGame& game) {
  return std::visit([](const auto& model) { return GameRef(model); }, game);
}

Sha256Digest law_hash_of(const AnyGame& game) {
  return std::visit([](const auto& model) { return law_hash(model); }, game);
}

std::string_view model_of(const AnyGame& game) noexcept {
  constexpr std::array<std::string_view, std::variant_size_v<AnyGame>> names = {
      "dense", "sparse", "congestion", "polymatrix", "callback"};
  return names[game.index()];
}

}  // namespace vlearn
