// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/convergence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/gap_curve.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

using Joint = std::vector<std::size_t>;

/// A state of a game as a table: rewards of pure profiles, without what comes after.
class Stage {
 public:
  explicit Stage(const AnyGame& game, State state = State(0)) : game_(&game) {
    const Frame& frame = frame_of(game);
    cell_ = frame.cell(Step(0), state);
    for (const Player player : all<Player>(frame.num_players())) {
      sizes_.push_back(frame.num_actions(player, Step(0), state));
    }
  }

  [[nodiscard]] const Joint& sizes() const { return sizes_; }
  [[nodiscard]] double pays(const Joint& joint, std::size_t player) const {
    std::size_t place = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) place = place * sizes_[i] + joint[i];
    return std::visit(
        [&](const auto& game) -> double {
          if constexpr (requires { game.user_reward(Player(player), cell_, place); }) {
            return game.user_reward(Player(player), cell_, place);
          } else {
            ADD_FAILURE() << "not a table";
            return 0.0;
          }
        },
        *game_);
  }
  /// The only one; nothing where several are as good.
  [[nodiscard]] std::optional<std::size_t> best_reply(Joint joint, std::size_t player) const {
    std::vector<double> values;
    for (joint[player] = 0; joint[player] < sizes_[player]; ++joint[player]) {
      values.push_back(pays(joint, player));
    }
    const auto best = std::max_element(values.begin(), values.end());
    if (std::count(values.begin(), values.end(), *best) > 1) return std::nullopt;
    return static_cast<std::size_t>(best - values.begin());
  }
  /// What CyclicGame promises.
  [[nodiscard]] bool cycles() const {
    std::size_t all = 1;
    for (const std::size_t size : sizes_) all *= size;
    for (std::size_t start = 0; start < all; ++start) {
      if (!cycles_from(start, all)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool cycles_from(std::size_t start, std::size_t all) const {
    Joint joint(sizes_.size());
    for (std::size_t i = joint.size(); i-- > 0; start /= sizes_[i]) joint[i] = start % sizes_[i];
    // After as many rounds as there are profiles play is on its cycle; it lasts no longer.
    std::vector<std::set<std::size_t>> played(sizes_.size());
    for (std::size_t round = 0; round < 2 * all; ++round) {
      for (std::size_t i = 0; i < joint.size(); ++i) {
        const std::optional<std::size_t> reply = best_reply(joint, i);
        if (!reply) return false;
        joint[i] = *reply;
        if (round >= all) played[i].insert(*reply);
      }
    }
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (played[i].size() < std::min<std::size_t>(sizes_[i], 3)) return false;
    }
    return true;
  }

  const AnyGame* game_;
  std::size_t cell_ = 0;
  Joint sizes_;
};

AnyGame game_named(const char* name) {
  return load_cyclic_game(select_cyclic_games(std::vector<std::string>{name}).at(0));
}

TEST(CyclicGames, AreThirtyOneAndGoInCircles) {
  std::set<std::string> names;
  std::size_t one_shot = 0;
  for (const CyclicGame& game : cyclic_games()) {
    EXPECT_TRUE(names.insert(game.name).second) << game.name;
    const AnyGame loaded = load_cyclic_game(game);
    const Frame& frame = frame_of(loaded);
    if (frame.horizon() == 1) ++one_shot;
    for (const State s : all<State>(frame.num_states(Step(0)))) {
      EXPECT_TRUE(Stage(loaded, s).cycles()) << game.name;
    }
  }
  EXPECT_EQ(names.size(), 31U);
  EXPECT_EQ(one_shot, 27U);
}

// The test itself can fail: a pure equilibrium, and a cycle of two actions among three.
TEST(CyclicGames, OthersDoNot) {
  const auto cycles = [](const char* payoffs) {
    const std::string text = fmt::format(
        R"({{"format":"vlearn.game/1","players":2,"actions":3,"horizon":1,"rules":[{{"payoffs":{}}}]}})",
        payoffs);
    const AnyGame game = parse_game_json(text, "it").game;
    return Stage(game).cycles();
  };
  EXPECT_TRUE(cycles("[[[2,0],[0,2],[1,1]],[[1,1],[2,0],[0,2]],[[0,2],[1,1],[2,0]]]"));
  EXPECT_FALSE(cycles("[[[9,9],[0,2],[1,1]],[[1,1],[2,0],[0,2]],[[0,2],[1,1],[2,0]]]"));
  EXPECT_FALSE(cycles("[[[2,0],[0,2],[3,-1]],[[0,2],[2,0],[4,-1]],[[-1,0],[-1,1],[-1,-1]]]"));
}

TEST(CyclicGames, PayWhatTheyShould) {
  const auto pays = [](const char* name, const Joint& joint, State state = State(0)) {
    const AnyGame game = game_named(name);
    const Stage stage(game, state);
    std::vector<double> all;
    for (std::size_t i = 0; i < joint.size(); ++i) all.push_back(stage.pays(joint, i));
    return all;
  };
  using Pay = std::vector<double>;
  EXPECT_EQ(pays("shapley", {0, 0}), (Pay{1, 0}));
  EXPECT_EQ(pays("shapley", {0, 1}), (Pay{0, 1}));
  EXPECT_EQ(pays("shapley", {0, 2}), (Pay{0, 0}));
  EXPECT_EQ(pays("circle-4", {3, 3}), (Pay{1, 0}));
  EXPECT_EQ(pays("circle-4", {3, 0}), (Pay{0, 1}));
  EXPECT_EQ(pays("circle-4", {3, 1}), (Pay{0, 0}));
  EXPECT_EQ(pays("bad-rps", {0, 1}), (Pay{-2, 1}));
  EXPECT_EQ(pays("bad-rps", {0, 2}), (Pay{1, -2}));
  EXPECT_EQ(pays("bad-rps", {2, 2}), (Pay{0, 0}));
  EXPECT_EQ(pays("matching-pennies-3", {0, 0, 0}), (Pay{1, 1, -1}));
  EXPECT_EQ(pays("pennies-heads", {0, 0, 0}), (Pay{2, 2, 0}));
  EXPECT_EQ(pays("pennies-heads", {1, 1, 1}), (Pay{1, 1, 0}));
  EXPECT_EQ(pays("pennies-heads", {1, 0, 0}), (Pay{0, 2, 2}));
  EXPECT_EQ(pays("pennies-4", {0, 0, 0, 0}), (Pay{1, 1, 1, 0}));
  EXPECT_EQ(pays("pennies-4", {1, 1, 0, 0}), (Pay{1, 0, 1, 1}));
  EXPECT_EQ(pays("circle-3-players", {2, 2, 2}), (Pay{1, 1, 0}));
  EXPECT_EQ(pays("circle-3-players", {2, 2, 0}), (Pay{1, 0, 1}));
  EXPECT_EQ(pays("four-friends-6", {0, 0, 0, 0}, State(0)), (Pay{3.5, 3.5, 3.5, 0}));
  EXPECT_EQ(pays("four-friends-9", {0, 0, 0, 0}, State(1)), (Pay{9, 9, 9, 0}));
  EXPECT_EQ(pays("four-friends-9", {1, 0, 1, 0}, State(2)), (Pay{0, 0, 0, 1}));
  EXPECT_EQ(pays("shapley-stakes", {1, 2}, State(2)), (Pay{0, 3}));
}

// The catalogue's own game is the member of stakes 3: the same states follow in all of them.
TEST(CyclicGames, FriendsDifferInTheirStakesAlone) {
  const auto next_states = [](const char* name) {
    return std::get<SparseGame>(game_named(name)).rows().tables().successors;
  };
  EXPECT_EQ(next_states("four-friends-6"), next_states("four-friends"));
  EXPECT_EQ(next_states("four-friends-9"), next_states("four-friends"));
  const AnyGame own = game_named("four-friends");
  const AnyGame other = game_named("four-friends-9");
  for (std::size_t joint = 0; joint < 16; ++joint) {
    const Joint actions = {joint / 8, joint / 4 % 2, joint / 2 % 2, joint % 2};
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(Stage(own, State(1)).pays(actions, i) * 3.0,
                Stage(other, State(1)).pays(actions, i));
      EXPECT_EQ(Stage(own, State(2)).pays(actions, i), Stage(other, State(2)).pays(actions, i));
    }
  }
}

TEST(CyclicGames, RandomOnesAreTheFirstOfTheirSize) {
  std::size_t place = 11;
  for (const auto& [players, actions] : {std::pair{2, 3}, {2, 4}, {2, 5}, {3, 3}}) {
    std::size_t found = 0;
    for (std::uint64_t seed = 1; found < 5; ++seed) {
      const std::string word = fmt::format(
          "random:players={},states=1,actions={},horizon=1,seed={}", players, actions, seed);
      const AnyGame game = make_game(word);
      if (!Stage(game).cycles()) continue;
      EXPECT_EQ(cyclic_games()[place].game, word);
      ++place;
      ++found;
    }
  }
  EXPECT_EQ(place, cyclic_games().size());
}

TEST(CyclicGames, AreSelectedInTheirOwnOrder) {
  const std::vector<CyclicGame> chosen =
      select_cyclic_games(std::vector<std::string>{"bad-rps", "shapley"});
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].name, "shapley");
  EXPECT_EQ(select_cyclic_games({}).size(), cyclic_games().size());
  const auto refused = [](const char* name) {
    return error_of(ErrorKind::usage, [&] {
      static_cast<void>(select_cyclic_games(std::vector<std::string>{name}));
    });
  };
  EXPECT_NE(refused("shaply").find("did you mean 'shapley'?"), std::string::npos);
  EXPECT_NE(refused("zzz").find("four-friends-9"), std::string::npos);
}

TEST(Looks, TwelveInEachHalfDecade) {
  EXPECT_EQ(half_decades(kLeastConvergenceEpisodes - 1), std::vector<std::uint64_t>());
  EXPECT_EQ(half_decades(kLeastConvergenceEpisodes), std::vector<std::uint64_t>{3162});
  EXPECT_EQ(half_decades(10'000'000),
            (std::vector<std::uint64_t>{3162, 10'000, 31'622, 100'000, 316'227, 1'000'000,
                                        3'162'277, 10'000'000}));
  EXPECT_EQ(half_decades(999'999).back(), 316'227U);
  const std::vector<std::uint64_t> looks = convergence_looks(kMostConvergenceEpisodes);
  ASSERT_EQ(looks.size(), 12U * kLooks);
  EXPECT_EQ(looks.back(), 1'000'000'000U);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const double exact = std::pow(10.0, 3.0 + static_cast<double>(i + 1) / 24.0);
    EXPECT_NEAR(static_cast<double>(looks[i]), exact, 1.0 + 1e-8 * exact);
    EXPECT_LE(static_cast<double>(looks[i]), exact * (1.0 + 1e-12));
  }
}

TEST(Bars, SeePlantedViolations) {
  using Worst = std::vector<double>;
  const auto verdict = [](const Worst& worst) { return judge_convergence(worst); };
  constexpr BarVerdict open = BarVerdict::open;
  constexpr BarVerdict holds = BarVerdict::holds;
  constexpr BarVerdict broken = BarVerdict::broken;
  // Ends: 10^3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8.
  const Worst good = {0.3, 0.4, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001};
  EXPECT_EQ(verdict(good), (ConvergenceVerdict{holds, holds}));
  // What happens before 10^5 is not judged, and nothing is before there is something to judge.
  EXPECT_EQ(verdict({}), (ConvergenceVerdict{open, open}));
  EXPECT_EQ(verdict({0.1, 0.2, 0.4, 0.8}), (ConvergenceVerdict{open, open}));
  EXPECT_EQ(verdict({0.1, 0.2, 0.4, 0.8, 0.8}), (ConvergenceVerdict{holds, open}));
  // Every half decade beyond, however the later ones look.
  for (std::size_t i = 4; i < good.size(); ++i) {
    Worst bad = good;
    bad[i] = 1.21 * bad[i - 1];
    EXPECT_EQ(verdict(bad).rise, broken) << i;
    bad[i] = 1.19 * bad[i - 1];
    if (i + 1 < good.size()) {
      EXPECT_EQ(verdict(bad).rise, holds) << i;
      EXPECT_EQ(verdict(bad).level, holds) << i;
    }
  }
  // Exactly at the bars.
  Worst edge = good;
  edge[4] = kMostRise * edge[3];
  edge[7] = kMostLevel;
  EXPECT_EQ(verdict(edge), (ConvergenceVerdict{holds, holds}));
  edge[7] = 0.00201;
  EXPECT_EQ(verdict(edge), (ConvergenceVerdict{holds, broken}));
  // Less than 10^-4, or less than nothing, counts as 10^-4.
  EXPECT_EQ(verdict({0.1, 0.1, 0.1, 1e-9, 9e-5, -1.0, 0.00012, 0.00014}),
            (ConvergenceVerdict{holds, holds}));
  EXPECT_EQ(verdict({0.1, 0.1, 0.1, 1e-9, 0.000121, -1.0, 1e-9, 1e-9}).rise, broken);
  // Later half decades count too.
  Worst longer = good;
  longer.insert(longer.end(), {0.0011, 0.0013});
  EXPECT_EQ(verdict(longer), (ConvergenceVerdict{holds, holds}));
  longer.back() = 0.0014;
  EXPECT_EQ(verdict(longer), (ConvergenceVerdict{broken, holds}));
  longer = good;
  longer.back() = 0.0019;
  longer.insert(longer.end(), {0.0021, 0.0001});
  EXPECT_EQ(verdict(longer), (ConvergenceVerdict{holds, broken}));
}

ConvergenceSettings settings_of(std::vector<std::string> names, std::uint64_t episodes = 10'000) {
  ConvergenceSettings settings;
  settings.games = select_cyclic_games(names);
  settings.seeds = 2;
  settings.episodes = episodes;
  return settings;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string reports_of(const ConvergenceSettings& settings, const ConvergenceLog& log) {
  return convergence_markdown(settings, log) + convergence_json(settings, log) +
         convergence_csv(settings, log);
}

TEST(Convergence, IsTheWorstOfWhatIsSeen) {
  const ConvergenceSettings settings = settings_of({"four-friends-9"});
  const ConvergenceRun run = run_convergence(settings, 0, Target::ce, 2).value();
  ASSERT_EQ(run.worst.size(), 2U);
  const AnyGame game = load_cyclic_game(settings.games[0]);
  std::vector<double> worst = {-1.0, -1.0};
  for (std::size_t i = 0; i < 2 * kLooks; ++i) {
    const std::uint64_t look = convergence_looks(10'000)[i];
    const LearnConfig config = preset_config(game, Preset::fast, Target::ce, 10'000, 2);
    double& its = worst[i / kLooks];
    its = std::max(its, gap_after(game, config, look).value().gap);
  }
  // Four steps, rewards from 0 to 9.
  EXPECT_DOUBLE_EQ(run.worst[0], worst[0] / 36.0);
  EXPECT_DOUBLE_EQ(run.worst[1], worst[1] / 36.0);
}

TEST(Convergence, TheSameForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const ConvergenceSettings settings = settings_of({"shapley", "pennies-4", "random-7"});
  std::vector<std::string> texts;
  for (const std::size_t threads : {1U, 3U}) {
    const std::filesystem::path out = folder / std::to_string(threads);
    ConvergenceLog log(out, settings);
    std::size_t done = 0;
    ConvergenceHooks hooks;
    hooks.parallel.threads = threads;
    hooks.done = [&](const ConvergenceRun&) { ++done; };
    EXPECT_TRUE(measure_convergence(settings, log, hooks));
    EXPECT_EQ(done, 3U * 2 * 2);
    log.put_in_order();
    texts.push_back(text_of(out / "results.jsonl") + reports_of(settings, log));
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Convergence, GoesOnWhereItWas) {
  const TemporaryFolder folder;
  const ConvergenceSettings settings = settings_of({"shapley", "bad-rps"});
  const std::filesystem::path file = folder / "in" / "results.jsonl";
  std::size_t done = 0;
  const ConvergenceHooks hooks{.done = [&](const ConvergenceRun&) { ++done; },
                               .parallel = {.threads = 1}};
  {
    ConvergenceLog log(folder / "in", settings);
    EXPECT_TRUE(measure_convergence(settings, log, hooks));
    EXPECT_EQ(done, 8U);
    log.put_in_order();
  }
  const std::string whole = text_of(file);
  // Wherever a program is killed: what was whole stays, the rest is measured again.
  for (const double part : {0.5, 0.97}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    std::ofstream(file, std::ios::binary) << whole.substr(0, size);
    done = 0;
    ConvergenceLog log(folder / "in", settings);
    const std::size_t had = log.size();
    EXPECT_GT(had, 0U);
    EXPECT_TRUE(measure_convergence(settings, log, hooks));
    EXPECT_EQ(done, 8U - had);
    log.put_in_order();
    EXPECT_EQ(text_of(file), whole);
  }
  CancelSource stop;
  stop.request();
  ConvergenceLog other(folder / "other", settings);
  EXPECT_FALSE(measure_convergence(settings, other, {.cancel = stop.token()}));
  EXPECT_EQ(other.size(), 0U);
}

TEST(Convergence, OtherSettingsAreRefused) {
  const TemporaryFolder folder;
  const ConvergenceSettings settings = settings_of({"shapley", "bad-rps"});
  { const ConvergenceLog log(folder.path(), settings); }
  const auto open = [&](const auto& change) {
    ConvergenceSettings other = settings;
    change(other);
    return error_of(ErrorKind::usage, [&] { const ConvergenceLog log(folder.path(), other); });
  };
  EXPECT_NE(open([](auto& it) { it.seeds = 3; }).find("other settings"), std::string::npos);
  EXPECT_NE(open([](auto& it) { it.first_seed = 2; }).find("--out"), std::string::npos);
  EXPECT_NE(open([](auto& it) { it.episodes = 31'622; }).find("other"), std::string::npos);
  EXPECT_NE(open([](auto& it) { it.preset = Preset::practical; }).find("other"), std::string::npos);
  EXPECT_NE(open([](auto& it) { it.targets = {Target::ce}; }).find("other"), std::string::npos);
  EXPECT_NE(open([](auto& it) { it.games.pop_back(); }).find("other"), std::string::npos);
  // A game of the same name with another law.
  EXPECT_NE(open([](auto& it) { it.games[0].game = "chicken"; }).find("other"), std::string::npos);
}

TEST(Convergence, RefusesHostileLines) {
  const ConvergenceSettings settings = settings_of({"shapley", "bad-rps"});
  const ConvergenceRun run{
      .game = 1, .target = Target::ce, .seed = 2, .worst = {0.25, -1e-17}, .last = {0.5, 0.125}};
  const std::string good = result_line(settings, run);
  EXPECT_EQ(parse_convergence_line(settings, good, "line"), run);
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
    return error_of(ErrorKind::input,
                    [&] { static_cast<void>(parse_convergence_line(settings, text, "line")); });
  };
  EXPECT_NE(refusal("bad-rps", "chess").find("game"), std::string::npos);
  EXPECT_NE(refusal("\"ce\"", "\"nash\"").find("target"), std::string::npos);
  EXPECT_NE(refusal("\"ce\"", "\"any\"").find("target"), std::string::npos);
  EXPECT_NE(refusal("\"seed\":2", "\"seed\":3").find("seed"), std::string::npos);
  EXPECT_NE(refusal("\"seed\":2", "\"seed\":0").find("seeds count from 1"), std::string::npos);
  EXPECT_NE(refusal("[0.25,", "[").find("has 1 numbers"), std::string::npos);
  EXPECT_NE(refusal("[0.25,", "[0.25,0,").find("has 3 numbers"), std::string::npos);
  EXPECT_NE(refusal("[0.25,", "[\"0.25\",").find("worst"), std::string::npos);
  EXPECT_NE(refusal("[0.25,-1e-17]", "0.25").find("worst"), std::string::npos);
  EXPECT_NE(refusal("[0.5,0.125]", "[0.5]").find("last"), std::string::npos);
  EXPECT_NE(refusal("\"worst\"", "\"best\"").find("best"), std::string::npos);
  const TemporaryFolder folder;
  { ConvergenceLog(folder.path(), settings).add(run); }
  std::ofstream(folder / "results.jsonl", std::ios::app) << good << "\n";
  EXPECT_NE(error_of(ErrorKind::input, [&] { const ConvergenceLog log(folder.path(), settings); })
                .find("again"),
            std::string::npos);
}

/// A log of runs by hand.
TEST(ConvergenceReport, NamesTheSeedsThatBreakABar) {
  const TemporaryFolder folder;
  ConvergenceSettings settings = settings_of({"shapley", "bad-rps"}, 10'000'000);
  settings.first_seed = 7;
  settings.seeds = 3;
  settings.targets = {Target::cce};
  ConvergenceLog log(folder.path(), settings);
  const std::vector<double> good = {0.3, 0.4, 0.1, 0.05, 0.02, 0.01, 0.003, 1e-9};
  std::vector<double> high = good;
  high.back() = 0.003;
  std::vector<double> rising = good;
  rising[5] = 0.03;
  log.add({.game = 0, .seed = 7, .worst = good, .last = good});
  log.add({.game = 0, .seed = 8, .worst = good, .last = rising});
  log.add({.game = 0, .seed = 9, .worst = good, .last = high});
  log.add({.game = 1, .seed = 7, .worst = rising, .last = rising});
  log.add({.game = 1, .seed = 8, .worst = high, .last = high});
  EXPECT_EQ(overall_verdict(settings, log), BarVerdict::broken);
  log.add({.game = 1, .seed = 9, .worst = rising, .last = rising});
  const std::string table = convergence_markdown(settings, log);
  EXPECT_NE(table.find("rise: 7, 9; level: 8 |"), std::string::npos) << table;
  EXPECT_NE(table.find(" hold |        8, 9 |"), std::string::npos) << table;
  EXPECT_NE(
      table.find(
          "Broken in 1 of 2 rows. If runs returned their last policy: broken in 2 of 2 rows."),
      std::string::npos)
      << table;
  EXPECT_NE(table.find(" hold |"), std::string::npos) << table;
  EXPECT_NE(table.find(" <= 0.0001 |"), std::string::npos) << table;
  EXPECT_NE(table.find(" 10^6.5 |"), std::string::npos) << table;
  EXPECT_NE(table.find("the worst of 3 seeds from 7 on"), std::string::npos) << table;
  const std::string json = convergence_json(settings, log);
  EXPECT_NE(json.find("\"bars\": \"broken\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"rise\": \"holds\", \"level\": \"broken\""), std::string::npos) << json;
  EXPECT_NE(convergence_csv(settings, log).find("bad-rps,cce,9,1000000,0.03,0.03\n"),
            std::string::npos);
}

TEST(ConvergenceReport, SaysWhenRunsAreTooShort) {
  const TemporaryFolder folder;
  ConvergenceSettings settings = settings_of({"shapley"});
  settings.seeds = 1;
  settings.targets = {Target::ce};
  ConvergenceLog log(folder / "short", settings);
  log.add({.game = 0, .target = Target::ce, .seed = 1, .worst = {0.1, 0.2}, .last = {0.1, 0.2}});
  EXPECT_EQ(overall_verdict(settings, log), BarVerdict::open);
  EXPECT_NE(convergence_markdown(settings, log).find(" open |"), std::string::npos);
  settings.episodes = 1'000'000;
  ConvergenceLog longer(folder / "longer", settings);
  const std::vector<double> gaps = {0.1, 0.2, 0.1, 0.1, 0.1, 0.1};
  longer.add({.game = 0, .target = Target::ce, .worst = gaps, .last = gaps});
  EXPECT_EQ(overall_verdict(settings, longer), BarVerdict::open);
  const std::string table = convergence_markdown(settings, longer);
  EXPECT_NE(table.find(" hold so far |"), std::string::npos) << table;
  EXPECT_NE(table.find("too short to tell"), std::string::npos) << table;
}

/// The slice of the experiment that every test run has: three games, both targets, one seed, up to
/// 10^5.5 episodes, which has one rise to judge.
TEST(ConvergenceSlice, OfThreeGames) {
  const TemporaryFolder folder;
  ConvergenceSettings settings = settings_of({"shapley", "matching-pennies-3", "bad-rps"}, 316'227);
  settings.seeds = 1;
  ConvergenceLog log(folder.path(), settings);
  ASSERT_TRUE(measure_convergence(settings, log, {}));
  std::printf("%s", convergence_markdown(settings, log).c_str());
  for (std::size_t game = 0; game < settings.games.size(); ++game) {
    for (const Target target : settings.targets) {
      const ConvergenceRun* const run = log.find(game, target, 1);
      ASSERT_NE(run, nullptr);
      const ConvergenceVerdict verdict = judge_convergence(run->worst);
      EXPECT_EQ(verdict.level, BarVerdict::open);
      for (const double gap : run->worst) EXPECT_LT(gap, 1.0);
      EXPECT_EQ(verdict.rise, BarVerdict::holds)
          << settings.games[game].name << ", " << name_of(target);
    }
  }
}

}  // namespace
}  // namespace vlearn
