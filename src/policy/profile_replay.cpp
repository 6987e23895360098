// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/profile_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "vlearn/core/error.h"
#include "vlearn/policy/walk.h"

namespace vlearn {
namespace {

/// Numbers of the policies that are kept at a time.
constexpr std::uint64_t kBlockNumbers = std::uint64_t{1} << 22U;

/// The walks of all players through one cell.
struct CellWalk {
  std::size_t cell;
  Step h;
  State s;
  std::vector<ReplayMemory> memory;
  std::vector<PolicyWalk> walks;
};

constexpr const char* kWantOneRun = "give the files of all players of one run, in their order";

/// `key` of its header, or its visits, are not those of the first file.
Error not_of_one_run(const PolicyFile& file, const char* key, const PolicyFile& first) {
  return {ErrorKind::input, fmt::format("{}: {}", file.source(), key),
          fmt::format("is not of the same run as {}", first.source()), kWantOneRun};
}

std::vector<CellWalk> make_walks(std::span<const PolicyFile> files, std::uint64_t episodes) {
  const Seat& seat = files.front().header().seat;
  std::vector<CellWalk> all_walks;
  for (std::size_t h = 0; h < seat.horizon; ++h) {
    for (std::size_t cell = seat.first_cell[h]; cell < seat.first_cell[h + 1]; ++cell) {
      if (files.front().visits_before(cell, episodes) == 0) continue;
      CellWalk& made = all_walks.emplace_back();
      made.cell = cell;
      made.h = Step(h);
      made.s = State(cell - seat.first_cell[h]);
      made.memory.resize(files.size());
      made.walks.reserve(files.size());
      for (std::size_t j = 0; j < files.size(); ++j) {
        made.walks.emplace_back(files[j], cell, made.memory[j]);
      }
    }
  }
  return all_walks;
}

}  // namespace

void check_one_run(std::span<const PolicyFile> files, std::uint64_t episodes) {
  if (files.empty()) throw Error(ErrorKind::input, "policy files", "are missing", kWantOneRun);
  const PolicyFile& first = files.front();
  const PolicyHeader& wanted = first.header();
  if (files.size() != wanted.seat.num_players) {
    throw Error(ErrorKind::input, first.source() + ": players",
                fmt::format("is {}, and there are {} files", wanted.seat.num_players, files.size()),
                kWantOneRun);
  }
  for (std::size_t j = 0; j < files.size(); ++j) {
    const PolicyFile& file = files[j];
    const PolicyHeader& header = file.header();
    if (header.player != Player(j)) {
      throw Error(ErrorKind::input, file.source() + ": player",
                  fmt::format("is {}, want {}", header.player.number(), j + 1), kWantOneRun);
    }
    const auto check = [&](const char* key, bool same) {
      if (!same) throw not_of_one_run(file, key, first);
    };
    // Whoever executes a file goes by its own weights and target.
    check("states", header.seat.first_cell == wanted.seat.first_cell);
    check("target", header.target == wanted.target);
    check("weights", header.weights == wanted.weights);
    check("taper", header.taper == wanted.taper);
    check("game_hash", header.game_hash == wanted.game_hash);
    check("config_hash", header.config_hash == wanted.config_hash);
    check("episodes", file.episodes() >= episodes);
    for (std::size_t cell = 0; cell < wanted.seat.num_cells(); ++cell) {
      check("visits", file.visits_before(cell, episodes) == first.visits_before(cell, episodes));
    }
  }
}

void replay_profiles(std::span<const PolicyFile> files,
                     std::uint64_t episodes,
                     const ParallelOptions& options,
                     const SeeProfile& see) {
  check_one_run(files, episodes);
  const Seat& seat = files.front().header().seat;
  std::size_t width = 0;  // of the widest profile
  for (const PolicyFile& file : files) {
    const std::vector<std::uint32_t>& actions = file.header().seat.num_actions;
    width += *std::max_element(actions.begin(), actions.end());
  }
  std::vector<CellWalk> walks = make_walks(files, episodes);
  const std::uint64_t numbers = std::max<std::uint64_t>(width * seat.horizon, 1);  // of an episode
  const std::uint64_t block =
      std::clamp<std::uint64_t>(kBlockNumbers / numbers, 1, std::max<std::uint64_t>(episodes, 1));
  std::vector<double> policies(block * seat.horizon * width);
  std::vector<const CellWalk*> path(block * seat.horizon);  // who was visited
  std::vector<std::size_t> sizes(path.size());

  for (std::uint64_t begin = 0; begin < episodes; begin += block) {
    const std::uint64_t end = std::min(begin + block, episodes);
    std::fill(path.begin(), path.end(), nullptr);
    parallel_for(walks.size(), options, [&](std::size_t i) {
      CellWalk& cell = walks[i];
      while (cell.walks.front().logged() && cell.walks.front().episode() < end) {
        const std::uint64_t episode = cell.walks.front().episode();
        const std::size_t slot = (episode - begin) * seat.horizon + cell.h.index();
        double* next = policies.data() + slot * width;
        for (std::size_t j = 0; j < cell.walks.size(); ++j) {
          PolicyWalk& walk = cell.walks[j];
          if (!walk.logged() || walk.episode() != episode) {
            throw not_of_one_run(files[j], "visits", files.front());
          }
          next = std::copy(walk.policy().begin(), walk.policy().end(), next);
          walk.next();
        }
        path[slot] = &cell;
        sizes[slot] = static_cast<std::size_t>(next - (policies.data() + slot * width));
      }
    });
    const std::size_t slots = (end - begin) * seat.horizon;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (path[slot] == nullptr) {
        throw Error(ErrorKind::input, files.front().source() + ": visits",
                    fmt::format("are missing of episode {}, step {}",
                                begin + slot / seat.horizon + 1, slot % seat.horizon + 1),
                    "the file is damaged");
      }
      see(path[slot]->h, path[slot]->s, std::span(policies).subspan(slot * width, sizes[slot]));
    }
  }
}

}  // namespace vlearn
