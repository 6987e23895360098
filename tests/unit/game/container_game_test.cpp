// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games in the array container: what is written is read, what was damaged is not, and what is wrong
// is named. tests/cli/test_hostile_games.py has more of the last kind.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/core/container.h"
#include "vlearn/core/json.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::filesystem::path& path) {
  const FileBytes file = FileBytes::read(path, std::uint64_t{1} << 24U);
  return {file.bytes().begin(), file.bytes().end()};
}

/// A container as other software writes it, without a commit.
class PlainFile {
 public:
  PlainFile() { metadata("format", "vlearn.game/1").metadata("horizon", "2"); }

  PlainFile& metadata(const std::string& key, const std::string& value) {
    for (auto& [name, text] : metadata_) {
      if (name == key) {
        text = value;
        return *this;
      }
    }
    metadata_.emplace_back(key, value);
    return *this;
  }

  /// In place of an array of that name, if there is one.
  template <class T>
  PlainFile& add(const std::string& name,
                 std::vector<std::uint64_t> shape,
                 const std::vector<T>& values) {
    drop(name);
    Bytes data(values.size() * sizeof(T));
    if (!data.empty()) std::memcpy(data.data(), values.data(), data.size());
    arrays_.push_back({name, std::string(name_of(*kElementType<T>)), std::move(shape), data});
    return *this;
  }
  PlainFile& add(const std::string& name,
                 std::vector<std::uint64_t> shape,
                 const std::vector<double>& values) {
    return add<double>(name, std::move(shape), values);
  }
  PlainFile& about(const std::string& text) {
    return add<std::uint8_t>("about", {text.size()}, {text.begin(), text.end()});
  }
  PlainFile& drop(const std::string& name) {
    std::erase_if(arrays_, [&](const Array& array) { return array.name == name; });
    return *this;
  }

  [[nodiscard]] Bytes bytes() const {
    JsonWriter json(JsonWriter::Layout::compact);
    json.begin_object().key("__metadata__").begin_object();
    for (const auto& [key, value] : metadata_) json.member(key, value);
    json.end_object();
    std::uint64_t at = 0;
    Bytes data;
    for (const Array& array : arrays_) {
      json.key(array.name).begin_object().member("dtype", array.type).key("shape").begin_array();
      for (const std::uint64_t size : array.shape) json.value(size);
      json.end_array().key("data_offsets").begin_array().value(at);
      at += array.data.size();
      json.value(at).end_array().end_object();
      data.insert(data.end(), array.data.begin(), array.data.end());
    }
    const std::string header = json.end_object().text();
    const std::uint64_t length = header.size();
    Bytes file(sizeof(length) + header.size());
    std::memcpy(file.data(), &length, sizeof(length));
    std::memcpy(file.data() + sizeof(length), header.data(), header.size());
    file.insert(file.end(), data.begin(), data.end());
    return file;
  }

  [[nodiscard]] LoadedGame read() const { return parse_game_container(bytes(), "game"); }
  [[nodiscard]] std::string message() const {
    return error_of(ErrorKind::input, [&] { static_cast<void>(read()); });
  }

 private:
  struct Array {
    std::string name;
    std::string type;
    std::vector<std::uint64_t> shape;
    Bytes data;
  };
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Array> arrays_;
};

/// A dilemma: one state, two players with two actions each.
PlainFile regular() {
  return PlainFile()
      .add("P", {1, 2, 2, 1}, {1, 1, 1, 1})
      .add("R", {2, 1, 2, 2}, {3, 0, 5, 1, 3, 5, 0, 1});
}

/// The same.
PlainFile flat() {
  return PlainFile()
      .add<std::uint32_t>("num_states", {1}, {1})
      .add<std::uint32_t>("num_actions", {2}, {2, 2})
      .add("rewards", {8}, {3, 0, 5, 1, 3, 5, 0, 1})
      .add("transitions", {4}, {1, 1, 1, 1});
}

/// One player, two states, two actions.
PlainFile sparse() {
  return PlainFile()
      .add("R", {1, 2, 2}, {0, 1, 2, 3})
      .add<std::uint64_t>("row_begins", {5}, {0, 1, 2, 4, 5})
      .add<std::uint32_t>("successors", {5}, {0, 1, 0, 1, 1})
      .add("probabilities", {5}, {1, 1, 0.5, 0.5, 1});
}

PlainFile congestion() {
  return PlainFile()
      .metadata("model", "congestion")
      .add<std::uint32_t>("num_states", {1}, {1})
      .add<std::uint32_t>("num_actions", {1, 2}, {2, 1})
      .add("rewards", {1, 2, 2}, {4, 1, 2, 2})
      .add("base", {1, 2}, {0, 0.5})
      .add("transitions", {2}, {1, 1})
      .add<std::uint32_t>("routes", {3}, {1, 0, 1});
}

PlainFile polymatrix() {
  return PlainFile()
      .metadata("model", "polymatrix")
      .add<std::uint32_t>("num_states", {1}, {1})
      .add<std::uint32_t>("num_actions", {2}, {1, 1})
      .add("rewards", {4}, {0.5, 1, 2, 0})
      .add("weights", {1, 2}, {0.25, 0.75})
      .add("transitions", {2}, {1, 1})
      .add("ranges", {2, 2}, {0, 2, -1, 2});
}

void expect_message(const PlainFile& file, const std::string& part) {
  const std::string message = file.message();
  EXPECT_TRUE(message.starts_with("game")) << message;
  EXPECT_NE(message.find(part), std::string::npos) << "want '" << part << "' in: " << message;
}

// -------------------------------------------------------------------------------- what is good

TEST(ContainerGame, KeepsLawAndNames) {
  const TemporaryFolder folder;
  for (const std::string name :
       {"rps", "chicken", "lock", "lock-2", "soccer", "fishery", "commons", "grid-game-2",
        "congestion-10", "random-polymatrix", "random-zero-sum", "random-team", "pursuit",
        "random:players=1,states=2,actions=3,horizon=1,seed=2",
        "random:players=3,states=2,actions=2,horizon=4,seed=7,kind=general"}) {
    const LoadedGame game = load_game(name);
    write_game(folder / "x.safetensors", game);
    const LoadedGame again = read_game(folder / "x.safetensors");
    EXPECT_EQ(law_hash_of(again.game), law_hash_of(game.game)) << name;
    EXPECT_EQ(again.about, game.about) << name;
    EXPECT_EQ(model_of(again.game), model_of(game.game)) << name;
    EXPECT_TRUE(again.remarks.empty()) << name;
    // The same game is the same bytes.
    write_game(folder / "y.safetensors", again);
    EXPECT_EQ(bytes_of(folder / "x.safetensors"), bytes_of(folder / "y.safetensors")) << name;
  }
}

TEST(ContainerGame, SaysThatAFileHasNoChecksum) {
  const LoadedGame game = regular().read();
  ASSERT_EQ(game.remarks.size(), 1U);
  EXPECT_NE(game.remarks[0].find("has no checksum"), std::string::npos);
}

TEST(ContainerGame, OneLawInManyForms) {
  EXPECT_EQ(law_hash_of(flat().read().game), law_hash_of(regular().read().game));
  const PlainFile rows = flat()
                             .drop("transitions")
                             .add<std::uint64_t>("row_begins", {5}, {0, 1, 2, 3, 4})
                             .add<std::uint32_t>("successors", {4}, {0, 0, 0, 0})
                             .add("probabilities", {4}, {1, 1, 1, 1});
  EXPECT_EQ(law_hash_of(rows.read().game), law_hash_of(regular().read().game));
  const PlainFile dense = sparse()
                              .drop("row_begins")
                              .drop("successors")
                              .drop("probabilities")
                              .add("P", {2, 2, 2}, {1, 0, 0, 1, 0.5, 0.5, 0, 1});
  EXPECT_EQ(law_hash_of(dense.read().game), law_hash_of(sparse().read().game));
}

TEST(ContainerGame, StepsWithAndWithoutTheLastRows) {
  const auto steps = [](std::uint64_t count) {
    return PlainFile()
        .metadata("stationary", "false")
        .add("P", {count, 1, 2, 1}, std::vector<double>(2 * count, 1.0))
        .add("R", {2, 1, 1, 2}, {1, 2, 3, 4});
  };
  const LoadedGame game = steps(1).read();
  EXPECT_FALSE(frame_of(game.game).stationary());
  EXPECT_EQ(law_hash_of(game.game), law_hash_of(steps(2).read().game));
  expect_message(steps(3), "array 'P': has shape [3, 1, 2, 1]; want [1, 1, 2, 1]");
}

TEST(ContainerGame, ZeroSum) {
  const PlainFile file = PlainFile()
                             .metadata("zero_sum", "true")
                             .add("P", {1, 2, 2, 1}, {1, 1, 1, 1})
                             .add("R", {1, 1, 2, 2}, {0, -1, 1, 4});
  const LoadedGame loaded = file.read();
  const Frame& frame = frame_of(loaded.game);
  EXPECT_TRUE(frame.zero_sum());
  EXPECT_EQ(frame.range(Player(0)), (RewardRange{-1, 4}));
  EXPECT_EQ(frame.range(Player(1)), (RewardRange{-4, 1}));
  PlainFile stated = file;
  const LoadedGame other = stated.add("ranges", {1, 2}, {-2, 8}).read();
  EXPECT_EQ(frame_of(other.game).range(Player(1)), (RewardRange{-8, 2}));
}

TEST(ContainerGame, ConstantSumsAreFoundInTheTables) {
  const auto frame = [](std::vector<double> rewards) {
    return frame_of(PlainFile()
                        .add("P", {1, 2, 2, 1}, {1, 1, 1, 1})
                        .add("R", {2, 1, 2, 2}, std::move(rewards))
                        .read()
                        .game);
  };
  const Frame found = frame({0, -1, 1, 4, 0, 1, -1, -4});
  EXPECT_TRUE(found.constant_sum());
  EXPECT_FALSE(found.zero_sum());
  EXPECT_TRUE(frame({0.5, 0.1, 0.2, 0.3, 0.5, 0.9, 0.8, 0.7}).constant_sum());
  EXPECT_FALSE(frame({0, -1, 1, 4, 0, 1, -1, 4}).constant_sum());
}

TEST(ContainerGame, NaturalRanges) {
  const auto ranges = [](const LoadedGame& loaded) {
    const Frame& frame = frame_of(loaded.game);
    return std::pair(frame.range(Player(0)), frame.range(Player(1)));
  };
  const std::pair expected(RewardRange{0, 5}, RewardRange{0, 5});
  EXPECT_EQ(ranges(regular().read()), expected);
  EXPECT_EQ(ranges(flat().read()), expected);
  const std::pair uneven(RewardRange{-2, 5}, RewardRange{0, 1});
  EXPECT_EQ(ranges(regular().add("R", {2, 1, 2, 2}, {-2, 5, 0, 0, 1, 1, 1, 1}).read()), uneven);
  EXPECT_EQ(ranges(flat().add("rewards", {8}, {-2, 5, 0, 0, 1, 1, 1, 1}).read()), uneven);
  const std::pair constant(RewardRange{7, 8}, RewardRange{-3, -2});
  EXPECT_EQ(ranges(regular().add("R", {2, 1, 2, 2}, {7, 7, 7, 7, -3, -3, -3, -3}).read()),
            constant);
  EXPECT_EQ(ranges(congestion().read()), std::pair(RewardRange{1, 4}, RewardRange{1, 4}));
  EXPECT_EQ(ranges(polymatrix().read()), std::pair(RewardRange{0, 2}, RewardRange{-1, 2}));
}

TEST(ContainerGame, Names) {
  const LoadedGame game =
      regular()
          .about(R"({"title": "a dilemma", "players": ["ann", "bob"], "actions": ["c", "d"],
                     "known": [{"target": "nash", "source": "me", "values": [2, 2],
                                "policy": [{"play": ["d", "d"]}]}]})")
          .read();
  EXPECT_EQ(game.about.title, "a dilemma");
  EXPECT_EQ(game.about.names.player(Player(1)), "bob");
  ASSERT_EQ(game.about.known.size(), 1U);
  EXPECT_EQ(game.about.known[0].policy.size(), 2U);  // of both steps
}

// --------------------------------------------------------------------------- what was damaged

/// A file of about 16 KiB. Nothing that differs from it in one bit, or is shorter, passes.
TEST(ContainerGame, EveryBitAndEveryLength) {
  const TemporaryFolder folder;
  LoadedGame game = load_game("random:players=2,states=6,actions=4,horizon=3,seed=1,kind=general");
  game.about.title = std::string(1000, 'x');
  game.about.names.players = {"ann", "bob"};
  write_game(folder / "x.safetensors", game);
  Bytes bytes = bytes_of(folder / "x.safetensors");
  ASSERT_GT(bytes.size(), 15'000U);
  ASSERT_LT(bytes.size(), 17'000U);
  EXPECT_EQ(law_hash_of(parse_game_container(bytes, "x").game), law_hash_of(game.game));

  const auto refused = [](std::span<const std::byte> damaged) {
    try {
      static_cast<void>(parse_game_container(damaged, "x"));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::input;
    }
    return false;
  };
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_TRUE(refused(std::span(bytes).first(length))) << length << " bytes";
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const std::byte mask{static_cast<unsigned char>(1U << (bit % 8))};
    bytes[bit / 8] ^= mask;
    ASSERT_TRUE(refused(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
}

/// The header is looked at first; meanwhile the file loses its end, or gains one.
TEST(ContainerGame, AFileThatChangesWhileItIsRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  for (const int change : {-1, -1000, 1, 1000}) {
    write_game(path, load_game("soccer"));
    const auto resize = [&](const ContainerHeader& /*header*/) {
      std::filesystem::resize_file(
          path, static_cast<std::uintmax_t>(
                    static_cast<std::intmax_t>(std::filesystem::file_size(path)) + change));
    };
    const std::string message =
        error_of(ErrorKind::input, [&] { static_cast<void>(ContainerArrays::read(path, resize)); });
    EXPECT_NE(message.find("x.safetensors: changed its size"), std::string::npos) << message;
  }
}

// ------------------------------------------------------------------------------ what is wrong

TEST(ContainerGame, WrongMetadata) {
  expect_message(regular().metadata("format", "vlearn.game/2"), "the format 'vlearn.game/2'");
  expect_message(regular().metadata("horizn", "2"),
                 "metadata 'horizn': is not known here; did you");
  expect_message(regular().metadata("zzzzzz", "2"), "want one of format, horizon");
  for (const std::string horizon :
       {"", "0", "-1", "1.5", "1048576", "18446744073709551617", "2 "}) {
    expect_message(regular().metadata("horizon", horizon), "want the number of steps");
  }
  expect_message(regular().metadata("model", "tree"), "want table, congestion or polymatrix");
  expect_message(regular().metadata("stationary", "yes"), "want true or false");
  expect_message(regular().metadata("zero_sum", ""), "want true or false");
  expect_message(regular().metadata("noise", "loud"), "want none, bernoulli or uniform");
}

TEST(ContainerGame, WrongArrays) {
  expect_message(regular().add("Rewards", {1}, {0}), "did you mean 'rewards'?");
  expect_message(regular().add("zzzzzzzz", {1}, {0}), "want one of P, R");
  expect_message(regular().add("base", {1}, {0}),
                 "array 'base': does not go with the other arrays");
  expect_message(regular().drop("P"), "array 'P': is missing; give it, or sparse rows");
  expect_message(regular().drop("R"), "array 'R': is missing; give it, or flat tables");
  expect_message(flat().drop("transitions"), "array 'transitions': is missing");
  expect_message(flat().drop("num_actions"), "array 'num_actions': is not in the file");
  expect_message(regular().add<float>("R", {2, 1, 2, 2}, std::vector<float>(8)),
                 "array 'R': has type F32, want F64");
  expect_message(regular().add("ranges", {2}, {0, 5}), "array 'ranges': has shape [2]");
  expect_message(regular().add("ranges", {1, 2}, {5, 0}), "the range [5, 0] is not one");
  expect_message(regular().add("ranges", {1, 2}, {0, 4}), "reward of player 1[s=1, a=(2,1)]: is 5");
  expect_message(regular().add("initial", {2}, {1, 0}), "initial: must have one probability");
  expect_message(regular().add("initial", {1}, {0.5}), "initial: sums to 0.5");
}

TEST(ContainerGame, WrongShapes) {
  expect_message(regular().add("R", {2, 2, 2}, std::vector<double>(8)), "array 'R': has shape");
  expect_message(regular().add("R", {2, 0, 2, 2}, {}), "has an axis of length 0");
  expect_message(regular().add("R", {2, 1, 4294967296, 0}, {}), "an axis of length 4294967296");
  expect_message(regular().add("P", {2, 2, 1}, {1, 1, 1, 1}),
                 "has shape [2, 2, 1]; want [1, 2, 2, 1]");
  expect_message(flat().metadata("stationary", "false"), "want 8 joint actions times 2");
  expect_message(regular().metadata("zero_sum", "true"), "array 'R': has shape");
  expect_message(PlainFile()
                     .metadata("stationary", "false")
                     .add("R", {3, 1, 1, 1}, {0, 0, 0})
                     .add("P", {3, 1, 1, 1}, {1, 1, 1}),
                 "has 3 steps, want 2");
  expect_message(flat().add<std::uint32_t>("num_actions", {}, {2}), "want [players] or");
  expect_message(flat().add<std::uint32_t>("num_states", {1}, {UINT32_MAX}),
                 "declares 4294967295 states for 1 steps, there are 8 rewards");
  expect_message(flat().add<std::uint32_t>("num_states", {2}, {1, 1}), "states: there must be one");
  expect_message(flat().add("rewards", {7}, std::vector<double>(7)), "array 'rewards': has 7");
  expect_message(flat().add("transitions", {5}, std::vector<double>(5, 1.0)),
                 "has 5 numbers, want 4");
  expect_message(congestion().add("base", {2}, {0, 0}), "want [cells, routes]");
  expect_message(polymatrix().drop("ranges"), "a polymatrix game in arrays states its ranges");
}

TEST(ContainerGame, WrongNumbers) {
  for (const double number : {NAN, INFINITY, -INFINITY}) {
    expect_message(regular().add("R", {2, 1, 2, 2}, {0, number, 0, 0, 0, 0, 0, 0}),
                   "array 'R': its number 1 (from 0) is");
    expect_message(flat().add("rewards", {8}, {0, 0, number, 0, 0, 0, 0, 0}),
                   "array 'rewards': its number 2");
    expect_message(regular().add("P", {1, 2, 2, 1}, {1, 1, number, 1}), "[s=1, a=(2,1)]: entry 1");
    expect_message(sparse().add("probabilities", {5}, {1, 1, number, 0.5, 1}), "entry 1 is");
    expect_message(congestion().add("base", {1, 2}, {number, 0}), "array 'base'");
    expect_message(polymatrix().add("weights", {1, 2}, {number, 0}), "array 'weights'");
  }
  expect_message(regular().add("P", {1, 2, 2, 1}, {1, 1, -1, 1}), "a probability lies in [0, 1]");
  expect_message(regular().add("P", {1, 2, 2, 1}, {1, 1, 1, 0.5}), "sums to 0.5");
  expect_message(congestion().add("base", {1, 2}, {0.75, 0.5}), "sums to more than 1");
  expect_message(congestion().add<std::uint32_t>("routes", {3}, {1, 2, 1}), "a route of its own");
  expect_message(polymatrix().add("weights", {1, 2}, {0.5, 0.75}), "sums to 1.25");
}

TEST(ContainerGame, WrongRows) {
  const auto begins = [](const std::vector<std::uint64_t>& values) {
    return sparse().add<std::uint64_t>("row_begins", {values.size()}, values);
  };
  for (const std::vector<std::uint64_t>& values : {std::vector<std::uint64_t>{},
                                                   {0, 1, 2, 5},
                                                   {0, 2, 1, 4, 5},
                                                   {0, 1, 2, 4, 6},
                                                   {1, 1, 2, 4, 5},
                                                   {0, 1, std::uint64_t{1} << 63U, 4, 5}}) {
    expect_message(begins(values), "do not fit");
  }
  expect_message(begins({0, 1, 1, 4, 5}), "transition[s=1, a=(2)]: sums to 0");
  expect_message(sparse().add<std::uint32_t>("successors", {5}, {0, 1, 0, 2, 1}), "from 1 to 2");
  expect_message(sparse().add<std::uint32_t>("successors", {5}, {0, 1, 1, 0, 1}), "rising order");
  expect_message(sparse().add("probabilities", {4}, {1, 1, 0.5, 0.5}), "do not fit");
  expect_message(sparse().drop("successors"), "array 'successors': is not in the file");
}

TEST(ContainerGame, WrongAbout) {
  const auto about = [](const std::string& text) { return regular().about(text); };
  expect_message(about("{"), "array 'about':1: column 1");
  expect_message(about("[]"), "array 'about':1: wants an object");
  expect_message(about(R"({"horizon": 2})"), "is not a key that may stand here");
  expect_message(about(R"({"players": 3})"), "want 2 players");
  expect_message(about(R"({"states": ["a", "b"]})"), "want 1 states");
  expect_message(about(R"({"actions": ["a", "b", "c"]})"), "want 2 actions");
  // A law that all steps share has no names for some of them.
  expect_message(about(R"({"states": [1, 9]})"), "2 lists for 2 steps that share one law");
  expect_message(about(R"({"actions": [{"step": 2, "actions": 2}, {"actions": 2}]})"),
                 "actions[0].step: is named, but all steps share one law");
}

}  // namespace
}  // namespace vlearn
