// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/stored_game.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vlearn/core/checked.h"
#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/text.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/markov.h"

namespace vlearn {
namespace {

/// A length of 8 bytes, and the header.
constexpr std::size_t kMostHeaderBytes = 8 + kMaxHeaderBytes;

/// What a file of a run says about the sizes of its game; as much of it as it says.
struct FileSays {
  std::filesystem::path file;
  std::optional<std::uint64_t> players = std::nullopt;
  std::optional<std::uint64_t> horizon = std::nullopt;
  std::optional<std::uint64_t> states = std::nullopt;
  std::optional<std::uint64_t> actions = std::nullopt;
  std::optional<std::uint64_t> cells = std::nullopt;  ///< (step, state) pairs
};

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

FileSays policy_says(const std::filesystem::path& path) {
  const Seat seat = PolicyFile::read_header(path).seat;
  return {.file = path,
          .players = seat.num_players,
          .horizon = seat.horizon,
          .states = seat.max_states,
          .actions = seat.max_actions};
}

FileSays table_says(const std::filesystem::path& path) {
  const MarkovTable table = read_markov(path);
  std::uint64_t states = 0;
  for (std::size_t h = 0; h + 1 < table.first_cell.size(); ++h) {
    states = std::max<std::uint64_t>(states, table.first_cell[h + 1] - table.first_cell[h]);
  }
  return {.file = path,
          .players = table.num_players,
          .horizon = table.first_cell.size() - 1,
          .states = states,
          .actions = std::ranges::max(table.num_actions)};
}

/// The shape of an array, which nobody has looked into.
std::vector<std::uint64_t> shape_in(const std::filesystem::path& path,
                                    std::string_view array,
                                    std::size_t rank) {
  const FileBytes file = FileBytes::map(path, ContainerOptions{}.max_bytes);
  const std::span<const std::byte> bytes = file.bytes();
  const ContainerHeader header = ContainerHeader::parse(
      bytes.first(std::min(bytes.size(), kMostHeaderBytes)), bytes.size(), path.string());
  const ArrayInfo& info =
      header.at(array, array == "play.visits" ? ElementType::u64 : ElementType::f64);
  if (info.shape.size() != rank) throw header.error(array, "has another number of axes");
  return info.shape;
}

std::optional<FileSays> files_say(const std::filesystem::path& run) {
  if (const auto path = policy_path(run, Player(0)); is_file(path)) return policy_says(path);
  if (const auto path = markov_path(run, Player(0)); is_file(path)) return table_says(path);
  if (const auto path = run / "tables.safetensors"; is_file(path)) {
    const std::vector<std::uint64_t> shape = shape_in(path, "current_policy", 4);
    return FileSays{.file = path,
                    .players = shape[0],
                    .horizon = shape[1],
                    .states = shape[2],
                    .actions = shape[3]};
  }
  for (const char* name : {"checkpoint.safetensors", "checkpoint-old.safetensors"}) {
    const std::filesystem::path path = run / name;
    if (!is_file(path)) continue;
    return FileSays{.file = path,
                    .players = shape_in(path, "play.earned", 1)[0],
                    .cells = shape_in(path, "play.visits", 1)[0]};
  }
  return std::nullopt;
}

/// Nothing: more than 64 bits count. Learners keep a number for each action of each player.
std::optional<std::uint64_t> numbers_of(const GameSize& size) {
  const auto learned =
      checked_product(std::vector{size.players, size.horizon, size.states, size.actions});
  return size.numbers && learned ? checked_add(*size.numbers, *learned) : std::nullopt;
}

}  // namespace

void check_named_game(const StoredRun& run) {
  const std::string& word = run.title.game;
  const auto is_word = [&](const CatalogueEntry& entry) { return entry.name == word; };
  if (std::any_of(catalogue().begin(), catalogue().end(), is_word) || !is_family(word)) return;
  const std::string place = (run.path / "config.json").string() + ": game";
  GameSize size;
  try {
    size = size_of_family(word);
  } catch (const Error& error) {
    throw Error(ErrorKind::input, fmt::format("{}: {}", place, error.place()), error.problem(),
                error.fix());
  }
  const std::optional<std::uint64_t> numbers = numbers_of(size);
  if (numbers && *numbers <= kMostUncheckedNumbers) return;
  const std::optional<FileSays> says = files_say(run.path);
  if (!says) {
    throw Error(
        ErrorKind::input, place,
        fmt::format("'{}' takes {} numbers, and the run has no file that says how large "
                    "its game is",
                    printable(word, 100), numbers ? std::to_string(*numbers) : "more than 2^64"),
        "if the run is yours, name its game yourself: vlearn learn GAME --resume RUN, or "
        "vlearn report RUN --game GAME");
  }
  // Who plays alone may have been trained beside a player without a choice.
  const bool alone = size.players == 1 && says->players == 2U;
  const auto compare = [&](const char* what, std::uint64_t named,
                           const std::optional<std::uint64_t>& found) {
    if (!found || *found == named) return;
    throw Error(ErrorKind::input, place,
                fmt::format("'{}' has {} {}, and {} has {}", printable(word, 100), named, what,
                            says->file.string(), *found),
                "restore config.json from a copy");
  };
  if (!alone) compare("players", size.players, says->players);
  compare("steps", size.horizon, says->horizon);
  compare("states", size.states, says->states);
  compare("actions", size.actions, says->actions);
  compare("(step, state) pairs", size.horizon * size.states, says->cells);
}

LoadedGame load_named_game(const StoredRun& run) {
  check_named_game(run);
  try {
    return load_game(run.title.game);
  } catch (const Error& error) {
    const ErrorKind kind = error.kind() == ErrorKind::usage ? ErrorKind::input : error.kind();
    throw Error(kind,
                fmt::format("{}: game: {}", (run.path / "config.json").string(), error.place()),
                error.problem(), error.fix());
  }
}

}  // namespace vlearn
