// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Random games of every model, with awkward names, through every format and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/core/file.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

using test::error_of;

class RandomGame {
 public:
  explicit RandomGame(std::uint64_t seed)
      : draws_({.seed = seed, .purpose = Purpose::game, .episode = Episode(77U)}) {}

  LoadedGame make() {
    const std::size_t kind = below(4);
    FrameOptions options;
    options.num_players = 1 + below(3);
    options.horizon = 1 + below(3);
    options.stationary = below(2) == 0;
    const bool per_step = !options.stationary && below(2) == 0;
    for (std::size_t i = 0; i < (per_step ? options.horizon : 1); ++i) {
      options.num_states.push_back(static_cast<std::uint32_t>(1 + below(3)));
    }
    options.zero_sum = kind < 2 && options.num_players == 2 && below(2) == 0;
    options.noise = static_cast<RewardNoise>(below(3));
    const bool irregular = below(2) == 0;
    num_routes_ = 2 + below(2);
    set_actions(options, irregular, kind == 2);
    options.initial = row(options.num_states[0]);
    const RewardRange range{-3.0 - uniform(), 8.0 + uniform()};
    options.ranges = {range};
    if (options.zero_sum) options.ranges = {range, below(2) == 0 ? range.negated() : range};
    const Frame frame(options);
    GameAbout about = make_about(frame, per_step, kind == 2);
    return {make_law(frame, kind), std::move(about)};
  }

 private:
  std::size_t below(std::uint64_t count) { return draws_.below(count); }
  double uniform() { return draws_.uniform(); }

  std::vector<double> row(std::size_t size) {
    std::vector<double> values(size, 0.0);
    if (below(3) == 0) {
      values[below(size)] = 1.0;
      return values;
    }
    for (double& value : values) value = below(3) == 0 ? 0.0 : uniform();
    if (!normalise(values)) values[0] = 1.0;
    if (below(8) == 0) values[0] += 1e-13;  // kept as it is
    return values;
  }

  void set_actions(FrameOptions& options, bool irregular, bool routes) {
    std::size_t cells = 0;
    for (std::size_t h = 0; h < (options.stationary ? 1 : options.horizon); ++h) {
      cells += options.num_states[options.num_states.size() == 1 ? 0 : h];
    }
    for (std::size_t k = 0; k < (irregular ? cells : 1) * options.num_players; ++k) {
      options.num_actions.push_back(
          static_cast<std::uint32_t>(1 + below(routes ? num_routes_ : 3)));
    }
  }

  /// Distinct names, some of which look like something else.
  std::vector<std::string> some_names(std::size_t count) {
    static const std::vector<std::string> pool = {
        "1",  "2",  "3",         "-",    "01",    "a b",  "\"q\"", "\\", "caf\xC3\xA9",
        "\n", "[]", "{\"x\":1}", "next", "state", "</s>", "\x1b[", "x",  "y"};
    std::vector<std::string> names = pool;
    for (std::size_t i = names.size(); i-- > 1;) std::swap(names[i], names[below(i + 1)]);
    names.resize(count);
    return names;
  }

  GameAbout make_about(const Frame& frame, bool per_step, bool routes) {
    GameAbout about;
    about.title = below(2) == 0 ? "a title" : "";
    about.note = below(2) == 0 ? "a \"note\"" : "";
    GameNames& names = about.names;
    if (below(2) == 0) names.players = some_names(frame.num_players());
    if (below(2) == 0) {
      for (std::size_t h = 0; h < (per_step ? frame.horizon() : 1); ++h) {
        names.states.push_back(some_names(frame.num_states(Step(h))));
      }
      if (names.states.size() == 1 && per_step && frame.horizon() > 1) names.states.clear();
    }
    // In a congestion game an action is called by its route.
    route_of_action_.clear();
    const std::vector<std::string> route_names = some_names(num_routes_);
    const bool named = routes || below(2) == 0;
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      for (std::size_t i = 0; i < frame.num_players(); ++i) {
        const std::size_t count = begins[i + 1] - begins[i];
        std::vector<std::string> list = some_names(count);
        if (routes) {
          std::vector<std::uint32_t> order(num_routes_);
          for (std::size_t b = 0; b < num_routes_; ++b) order[b] = static_cast<std::uint32_t>(b);
          for (std::size_t b = num_routes_; b-- > 1;) std::swap(order[b], order[below(b + 1)]);
          for (std::size_t a = 0; a < count; ++a) {
            route_of_action_.push_back(order[a]);
            list[a] = route_names[order[a]];
          }
        }
        if (!named) continue;
        const auto place = std::find(names.action_lists.begin(), names.action_lists.end(), list);
        names.action_list.push_back(static_cast<std::uint32_t>(place - names.action_lists.begin()));
        if (place == names.action_lists.end()) names.action_lists.push_back(list);
      }
    }
    if (below(2) == 0) about.known = {make_known(frame)};
    return about;
  }

  KnownSolution make_known(const Frame& frame) {
    KnownSolution known{static_cast<Target>(below(4)), "somebody", {}, {}};
    for (std::size_t i = 0; i < frame.num_players(); ++i) known.values.push_back(uniform());
    if (below(4) == 0) return known;
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        std::vector<WeightedProfile>& stage = known.policy.emplace_back();
        const std::span<const std::uint32_t> begins = frame.action_begins(h, s);
        const bool choice = begins.back() != frame.num_players();
        const std::size_t parts = choice && below(3) == 0 ? 2 : 1;
        for (std::size_t k = 0; k < parts; ++k) {
          WeightedProfile& part = stage.emplace_back();
          part.weight = parts == 1 ? 1.0 : 0.25 + 0.5 * static_cast<double>(k);
          for (std::size_t i = 0; i < frame.num_players(); ++i) {
            std::vector<double> policy(begins[i + 1] - begins[i], 0.0);
            policy[below(2) == 0 ? 0 : below(policy.size())] = 1.0;
            part.policies.insert(part.policies.end(), policy.begin(), policy.end());
          }
        }
      }
    }
    return known;
  }

  double reward() { return below(4) == 0 ? 0.0 : uniform() - 0.5; }

  AnyGame make_law(const Frame& frame, std::size_t kind) {
    const std::vector<std::uint32_t> width = frame.next_states();
    if (kind == 2) return make_congestion(frame, width);
    if (kind == 3) return make_polymatrix(frame, width);
    const JointIndex joints(frame);
    std::vector<double> rewards;
    SparseRows::Tables sparse;
    std::vector<double> dense;
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      const std::size_t payers = frame.zero_sum() ? 1 : frame.num_players();
      for (std::size_t k = 0; k < payers * joints.count(cell); ++k) rewards.push_back(reward());
      for (std::size_t joint = 0; joint < joints.count(cell); ++joint) {
        if (width[cell] > 0) {
          const std::vector<double> next = row(width[cell]);
          dense.insert(dense.end(), next.begin(), next.end());
          for (std::uint32_t s = 0; s < next.size(); ++s) {
            if (next[s] == 0.0) continue;
            sparse.successors.push_back(s);
            sparse.probabilities.push_back(next[s]);
          }
        }
        sparse.begins.push_back(sparse.successors.size());
      }
    }
    if (kind == 0) return DenseGame(frame, std::move(rewards), std::move(dense));
    return SparseGame(frame, std::move(rewards), std::move(sparse));
  }

  AnyGame make_congestion(const Frame& frame, const std::vector<std::uint32_t>& width) {
    CongestionOptions tables{.num_routes = num_routes_};
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      for (std::size_t b = 0; b < num_routes_; ++b) {
        for (std::size_t n = 0; n < frame.num_players(); ++n) tables.rewards.push_back(reward());
        tables.base.push_back(below(2) == 0 ? 0.0 : 0.25 * uniform());
        const std::vector<double> next = width[cell] > 0 ? row(width[cell]) : std::vector<double>();
        tables.transitions.insert(tables.transitions.end(), next.begin(), next.end());
      }
    }
    tables.routes = route_of_action_;
    return CongestionGame(frame, std::move(tables));
  }

  AnyGame make_polymatrix(const Frame& frame, const std::vector<std::uint32_t>& width) {
    PolymatrixOptions tables;
    const bool weighted = below(2) == 0;
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      const auto owner = [&](std::size_t a) {
        return std::upper_bound(begins.begin(), begins.end(), a) - begins.begin();
      };
      for (std::size_t a = 0; a < begins.back(); ++a) {
        for (std::size_t b = 0; b < begins.back(); ++b) {
          tables.rewards.push_back(owner(a) == owner(b) && a != b ? 0.0 : reward());
        }
        const std::vector<double> next = width[cell] > 0 ? row(width[cell]) : std::vector<double>();
        tables.transitions.insert(tables.transitions.end(), next.begin(), next.end());
      }
      if (!weighted) continue;
      const std::vector<double> weights = row(frame.num_players());
      tables.weights.insert(tables.weights.end(), weights.begin(), weights.end());
    }
    return PolymatrixGame(frame, std::move(tables));
  }

  Draws draws_;
  std::size_t num_routes_ = 0;
  std::vector<std::uint32_t> route_of_action_;
};

void expect_same(const LoadedGame& game, const LoadedGame& again, const std::string& text) {
  EXPECT_EQ(law_hash_of(again.game), law_hash_of(game.game)) << text;
  EXPECT_EQ(again.about.title, game.about.title);
  EXPECT_EQ(again.about.note, game.about.note);
  EXPECT_EQ(again.about.known, game.about.known) << text;
  const Frame& frame = frame_of(game.game);
  for (const Player player : all<Player>(frame.num_players())) {
    EXPECT_EQ(again.about.names.player(player), game.about.names.player(player));
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        EXPECT_EQ(again.about.names.state(h, s), game.about.names.state(h, s)) << text;
        for (const Action a : all<Action>(frame.num_actions(player, h, s))) {
          EXPECT_EQ(again.about.names.action(frame, player, h, s, a),
                    game.about.names.action(frame, player, h, s, a))
              << text;
        }
      }
    }
  }
}

TEST(GameIo, RandomGamesSurviveJson) {
  for (std::uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    const LoadedGame game = RandomGame(seed).make();
    const std::string text = game_to_json(game);
    const LoadedGame again = parse_game_json(text, "seed " + std::to_string(seed));
    expect_same(game, again, text);
    EXPECT_EQ(game_to_json(again), text);
  }
}

TEST(GameIo, RandomGamesSurviveTheContainer) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "game.safetensors";
  for (std::uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    const LoadedGame game = RandomGame(seed).make();
    write_game(path, game);
    const LoadedGame again = read_game(path);
    expect_same(game, again, "seed " + std::to_string(seed));
    EXPECT_TRUE(again.remarks.empty());
  }
}

// A file is replaced only by one that can be read.
TEST(GameIo, AGameThatIsTooLargeForJsonLeavesTheFileAlone) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "game.json";
  write_file(path, "precious");
  for (const char* name : {"random:states=400", "congestion:players=10000,routes=100,states=2"}) {
    const LoadedGame game = load_game(name);
    EXPECT_NE(error_of(ErrorKind::usage, [&] { write_game(path, game); }).find(".safetensors"),
              std::string::npos);
    EXPECT_EQ(FileBytes::read(path, 100).text(), "precious");
  }
  EXPECT_EQ(folder.count(), 1U);
}

TEST(GameIo, NamesThatDoNotFitAreRefused) {
  LoadedGame game = load_game("rps");
  game.about.names.players = {"only one"};
  error_of(ErrorKind::input, [&] { static_cast<void>(game_to_json(game)); });
}

}  // namespace
}  // namespace vlearn
