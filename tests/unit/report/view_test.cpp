// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

#include "support/expect_error.h"
#include "support/learned_run.h"
#include "support/temporary_folder.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/policy/average.h"
#include "vlearn/report/run_view.h"
#include "vlearn/run/joint_play.h"
#include "vlearn/run/solve_game.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn {
namespace {

using test::error_of;
using test::learned_run;
using test::LearnedRun;
using test::TemporaryFolder;
using test::write_run;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

RunView view_learned(const TemporaryFolder& folder, const LearnedRun& run, bool verify = false) {
  write_run(folder / "run", run);
  return view_run(folder / "run", {.verify = verify});
}

RunView view_planned(const TemporaryFolder& folder,
                     const std::string& word,
                     Target target,
                     PlanMethod method) {
  const LoadedGame game = load_game(word);
  const RunTitle title{word, "", to_hex(law_hash_of(game.game))};
  SolveConfig config{.target = target, .method = method};
  config.until_gap = default_gap(frame_of(game.game));
  auto result = solve_game(game.game, {word, title.game_hash, {}, {}}, config);
  for (PlayerCertificate& player : result->certificate.players) player.name = "p";
  RunFolder::write_planned(folder / "run", RunFolder::Existing::refuse, title, config, *result);
  return view_run(folder / "run");
}

/// Values and deviations at the start are those of the certificate, and the shares of all cells sum
/// to what a deviation gains.
void expect_gap_explained(const RunView& view) {
  ASSERT_TRUE(view.certificate);
  ASSERT_EQ(view.cells.size(), view.num_cells) << "the test wants all cells";
  const LoadedGame game = load_game(view.game.word);
  const Frame& frame = frame_of(game.game);
  for (std::size_t j = 0; j < view.shown_players.size(); ++j) {
    double value = 0.0;
    double deviation = 0.0;
    double shares = 0.0;
    double least = 0.0;
    for (const CellView& cell : view.cells) {
      const PlayerCell& own = cell.players[j];
      shares += own.share.value();
      least = std::min(least, *own.share);
      if (cell.h != Step()) continue;
      value += frame.initial()[cell.s.index()] * own.value.value();
      deviation += frame.initial()[cell.s.index()] * own.deviation.value();
    }
    const PlayerCertificate& certified = view.certificate->players[j];
    EXPECT_NEAR(value, certified.value_upper, 1e-9);
    EXPECT_NEAR(deviation, certified.deviation_upper, 1e-9);
    EXPECT_NEAR(shares, certified.deviation_upper - certified.value_upper, 1e-9);
    EXPECT_GE(least, -1e-12) << "deviating where it is best to follow gains nothing";
  }
}

/// Each part stands for a share of the weight that it lies in the middle of.
void expect_stand_for_all(const CellView& cell, const OutputWeights& alpha) {
  const std::size_t parts = cell.mixture.size();
  double older = 0.0;  // weight of all visits before the part, by plain summation
  std::uint64_t i = 1;
  for (std::size_t k = 0; k < parts; ++k) {
    const MixturePart& part = cell.mixture[k];
    while (i < part.visit) older += alpha.weight(cell.visits, i++);
    if (cell.visits == parts) {
      EXPECT_EQ(part.visit, k + 1);
      EXPECT_EQ(part.weight, alpha.weight(cell.visits, k + 1));
      continue;
    }
    const double middle = (static_cast<double>(k) + 0.5) / static_cast<double>(parts);
    EXPECT_EQ(part.weight, 1.0 / static_cast<double>(parts));
    EXPECT_LE(older, middle + 1e-9);
    EXPECT_GE(older + alpha.weight(cell.visits, part.visit), middle - 1e-9);
  }
}

TEST(View, SharesSumToTheGapOfMarkovOutputs) {
  const auto explain = [](const LearnedRun& run, CertifiedOutput output) {
    const TemporaryFolder folder;
    SCOPED_TRACE(run.game);
    const RunView view = view_learned(folder, run);
    EXPECT_EQ(view.certificate->output, output);
    expect_gap_explained(view);
  };
  explain(learned_run("rps", Preset::fast, Target::nash, 60), CertifiedOutput::marginals);
  explain(learned_run("random-zero-sum", Preset::fast, Target::nash, 300),
          CertifiedOutput::marginals);
  explain(learned_run("fishery", Preset::fast, Target::cce, 200), CertifiedOutput::markov);
  explain(learned_run("fishery", Preset::fast, Target::ce, 200), CertifiedOutput::markov);
  explain(learned_run("random:players=3,states=3,actions=2,horizon=4,seed=5", Preset::fast,
                      Target::ce, 150),
          CertifiedOutput::markov);
  explain(learned_run("river-swim", Preset::fast, Target::optimal, 100), CertifiedOutput::markov);
}

TEST(View, SharesSumToTheGapOfTables) {
  const auto explain = [](const char* word, Target target, PlanMethod method) {
    const TemporaryFolder folder;
    SCOPED_TRACE(word);
    const RunView view = view_planned(folder, word, target, method);
    EXPECT_EQ(view.output, "table");
    expect_gap_explained(view);
    return view.certificate->gap_upper;
  };
  explain("fishery", Target::ce, PlanMethod::lp);
  explain("random-zero-sum", Target::nash, PlanMethod::lp);
  // Gaps that are not rounding alone.
  EXPECT_GT(explain("fishery", Target::cce, PlanMethod::oftrl), 1e-7);
}

TEST(View, NestedCellsAreTheCertifiersOwn) {
  for (const Target target : {Target::cce, Target::ce}) {
    const TemporaryFolder folder;
    LearnedRun run = learned_run("fishery", Preset::practical, target, 300);
    ASSERT_EQ(run.config.output, CertifiedOutput::nested);
    const RunView view = view_learned(folder, run);
    const LoadedGame game = load_game(run.game);
    for (std::size_t j = 0; j < 2; ++j) {
      double value = 0.0;
      double deviation = 0.0;
      for (const CellView& cell : view.cells) {
        EXPECT_FALSE(cell.reach);
        EXPECT_FALSE(cell.players[j].share);
        EXPECT_GE(*cell.players[j].deviation, *cell.players[j].value - 1e-12);
        if (cell.h != Step()) continue;
        const double chance = frame_of(game.game).initial()[cell.s.index()];
        value += chance * *cell.players[j].value;
        deviation += chance * *cell.players[j].deviation;
      }
      EXPECT_NEAR(value, view.certificate->players[j].value_upper, 1e-9);
      EXPECT_NEAR(deviation, view.certificate->players[j].deviation_upper, 1e-9);
    }
    // The certificate is of executions that start after the last episode, which has a row.
    EXPECT_EQ(view.curve.back().gap_lower, view.certificate->gap_lower);
    EXPECT_FALSE(view.curve.front().gap_lower);
  }
}

bool has_remark(const RunView& view, const std::string& part) {
  return std::ranges::any_of(view.remarks, [&](const std::string& remark) {
    return remark.find(part) != std::string::npos;
  });
}

TEST(View, NestedCellsAreOfTheExecutionsThatAreCertified) {
  const TemporaryFolder folder;
  LearnedRun run = learned_run("random:players=2,states=3,actions=2,horizon=3,seed=5",
                               Preset::practical, Target::cce, 90);
  run.start = CertifiedStart::best;
  const RunView view = view_learned(folder, run);
  const LoadedGame game = load_game(run.game);
  const auto files = open_policies(read_run(folder / "run"), frame_of(game.game));
  const std::uint64_t start = view.certificate->start_episode;
  ASSERT_GT(start, 1U);
  ASSERT_LT(start, 91U) << "the last start is the best: nothing to tell apart";
  EXPECT_TRUE(has_remark(view, "the output is nested"));
  const OutputWeights alpha = files[0].header().markov_weights();
  ReplayMemory memory;
  for (const CellView& cell : view.cells) {
    const std::size_t place = files[0].header().seat.cell(cell.h, cell.s);
    EXPECT_EQ(cell.visits, files[0].visits_before(place, 90));
    EXPECT_EQ(cell.counted, files[0].visits_before(place, start - 1));
    EXPECT_EQ(view.visits[place], cell.visits);
    for (const MixturePart& part : cell.mixture) EXPECT_LT(part.episode, start);
    EXPECT_EQ(cell.mixture.size(), std::min<std::uint64_t>(cell.counted, 12));
    for (std::size_t j = 0; j < 2; ++j) {
      const CellAverage average = average_of(files[j], place, cell.counted, memory);
      EXPECT_EQ(cell.players[j].averaged, average.averaged);
      EXPECT_EQ(cell.players[j].played, average.played);
      if (cell.counted == 0) continue;
      EXPECT_EQ(cell.players[j].last, average.last);
      EXPECT_EQ(cell.effective_parts, effective_visits(alpha, cell.counted));
    }
  }
  for (std::size_t j = 0; j < 2; ++j) {
    double value = 0.0;
    double deviation = 0.0;
    for (const CellView& cell : view.cells) {
      if (cell.h != Step()) continue;
      const double chance = frame_of(game.game).initial()[cell.s.index()];
      value += chance * cell.players[j].value.value();
      deviation += chance * cell.players[j].deviation.value();
    }
    EXPECT_NEAR(value, view.certificate->players[j].value_upper, 1e-9);
    EXPECT_NEAR(deviation, view.certificate->players[j].deviation_upper, 1e-9);
  }
}

TEST(View, AStartThatIsDrawnHasNoOneValue) {
  const TemporaryFolder folder;
  LearnedRun run = learned_run("fishery", Preset::practical, Target::cce, 100);
  run.start = CertifiedStart::uniform;
  const RunView view = view_learned(folder, run);
  ASSERT_EQ(view.certificate->start, CertifiedStart::uniform);
  EXPECT_TRUE(has_remark(view, "the output is nested"));
  EXPECT_TRUE(has_remark(view, "executions begin at an episode that is drawn"));
  EXPECT_FALSE(has_remark(view, "takes too long"));
  ASSERT_FALSE(view.cells.empty());
  for (const CellView& cell : view.cells) {
    EXPECT_EQ(cell.counted, cell.visits);
    for (const PlayerCell& own : cell.players) {
      EXPECT_FALSE(own.value);
      EXPECT_FALSE(own.deviation);
      EXPECT_FALSE(own.averaged.empty());
    }
  }
}

TEST(View, SaysWhoseCurveItIs) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "run";
  const LearnedRun run = learned_run("rps", Preset::fast, Target::nash, 60);
  RunView view = view_learned(folder, run);
  const bool has_gaps = std::ranges::any_of(
      view.curve, [](const CurvePoint& point) { return point.gap_upper.has_value(); });
  EXPECT_EQ(view.curve_output, has_gaps ? "marginals" : "");
  EXPECT_FALSE(has_remark(view, "the curve is of"));
  // Rows with gaps, as the command writes them while it certifies.
  std::string rows;
  std::ifstream file(path / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const std::string key = R"("players")";
    rows += line.insert(line.find(key), R"("certified_gap":0.5,)") + "\n";
  }
  file.close();
  std::ofstream(path / "metrics.jsonl") << rows;
  view = view_run(path, {.verify = false});
  EXPECT_EQ(view.curve_output, "marginals");
  EXPECT_FALSE(has_remark(view, "the curve is of"));
  EXPECT_EQ(view.curve.back().gap_lower, 0.5);
  const Certificate nested =
      certify_stored(read_run(path), load_game("rps"),
                     {.output = CertifiedOutput::nested, .start = CertifiedStart::last});
  std::ofstream(path / "certificate.json") << to_json(nested);
  view = view_run(path, {.verify = false});
  EXPECT_EQ(view.output, "nested");
  EXPECT_EQ(view.curve_output, "marginals");
  EXPECT_TRUE(has_remark(
      view, "the curve is of the output marginals, and the certificate of the output nested"));
  EXPECT_EQ(view.curve.back().gap_lower, 0.5) << "a bound of another output";
}

/// The gap of one row of metrics.jsonl, counted from 0, changed by this much.
void change_gap(const std::filesystem::path& run, std::size_t row, double by) {
  std::string rows;
  std::ifstream file(run / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const std::string key = R"("certified_gap":)";
    const std::size_t begin = line.find(key);
    if (row-- == 0 && begin != std::string::npos) {
      const std::size_t number = begin + key.size();
      const std::size_t end = line.find_first_of(",}", number);
      const double gap = std::stod(line.substr(number, end - number));
      std::ostringstream text;
      text << std::setprecision(17) << gap + by;
      line.replace(number, end - number, text.str());
    }
    rows += line + "\n";
  }
  file.close();
  std::ofstream(run / "metrics.jsonl") << rows;
}

TEST(View, DerivesTheCurveAgain) {
  const auto check = [](const std::string& game, Preset preset, Target target,
                        CertifiedStart start) {
    SCOPED_TRACE(game);
    const TemporaryFolder folder;
    LearnedRun run = learned_run(game, preset, target, 100);
    run.records_gaps = true;
    run.start = start;
    const RunView view = view_learned(folder, run, true);
    EXPECT_EQ(view.verification.outcome, Verification::Outcome::accepted)
        << view.verification.message;
    EXPECT_TRUE(view.curve_derived);
    EXPECT_FALSE(view_run(folder / "run", {.verify = false}).curve_derived);
    const double horizon = static_cast<double>(view.game.horizon);
    const double width = view.game.reward_ranges[0].second - view.game.reward_ranges[0].first;
    std::size_t gaps = 0;
    for (std::size_t row = 0; row < view.curve.size(); ++row) {
      if (!view.curve[row].gap_upper) continue;
      ++gaps;
      for (const double by : {1e-7, -1e-7}) {
        change_gap(folder / "run", row, by * horizon * width);
        const RunView forged = view_run(folder / "run", {.policies = false});
        EXPECT_EQ(forged.verification.outcome, Verification::Outcome::mismatch) << row;
        EXPECT_FALSE(forged.curve_derived);
        EXPECT_NE(forged.verification.message.find(
                      "episode " + std::to_string(view.curve[row].episode) + ": certified_gap is"),
                  std::string::npos)
            << forged.verification.message;
        change_gap(folder / "run", row, -by * horizon * width);
      }
    }
    EXPECT_GT(gaps, 3U);
    EXPECT_TRUE(view_run(folder / "run", {.policies = false}).curve_derived);
  };
  check("chicken", Preset::fast, Target::ce, CertifiedStart::last);
  check("fishery", Preset::practical, Target::cce, CertifiedStart::best);
  check("fishery", Preset::practical, Target::ce, CertifiedStart::uniform);
  check("rps", Preset::fast, Target::nash, CertifiedStart::last);
  check("random:players=2,states=2,actions=2,horizon=3,kind=zero-sum,seed=3", Preset::paper,
        Target::nash, CertifiedStart::best);
}

TEST(View, ALongCurveIsNotDerivedAgain) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "run";
  // 2^14 joint actions: each visit takes a million multiplications.
  LearnedRun run = learned_run("random:players=7,states=2,actions=4,horizon=2,seed=1",
                               Preset::practical, Target::cce, 10'000);
  ASSERT_EQ(run.config.output, CertifiedOutput::nested);
  run.config.certify = false;
  write_run(path, run);
  // As a run is that is still going on.
  std::filesystem::remove(path / "result.json");
  const RunTitle title{run.game, run.preset, to_hex(law_hash_of(load_game(run.game).game))};
  const auto record = [&](std::uint64_t episode) {
    JsonWriter row(JsonWriter::Layout::compact);
    row.begin_object().member("episode", episode).member("certified_gap", 0.5);
    row.key("players").begin_array();
    for (const char* player : {"1", "2", "3", "4", "5", "6", "7"}) {
      row.begin_object().member("player", player).member("value", 0.5).end_object();
    }
    put(path / "metrics.jsonl", row.end_array().end_object().text() + "\n");
  };
  record(10'000);
  const RunView stranger = view_run(path, {.policies = false});
  EXPECT_EQ(stranger.verification.outcome, Verification::Outcome::mismatch)
      << "a run that was not certified has no gaps";
  run.config.certify = true;
  put(path / "config.json", config_to_json(title, run.config));
  const RunView view = view_run(path, {.policies = false});
  EXPECT_EQ(view.verification.outcome, Verification::Outcome::not_done);
  EXPECT_TRUE(has_remark(view, "the curve is not derived again from the policies: that takes"));
  EXPECT_FALSE(view.curve_derived);
  // Few episodes are quick.
  record(20);
  EXPECT_EQ(view_run(path, {.policies = false}).verification.outcome,
            Verification::Outcome::mismatch);
}

TEST(View, NobodyKnowsTheValueOfIndependentNestedMixtures) {
  const TemporaryFolder folder;
  const RunView view = view_learned(folder, learned_run("rps", Preset::paper, Target::nash, 50));
  ASSERT_EQ(view.output, "nested");
  const CellView& cell = view.cells.front();
  EXPECT_FALSE(cell.players[0].value);
  EXPECT_NEAR(*cell.players[0].deviation, view.certificate->players[0].deviation_upper, 1e-9);
}

/// sum_i alpha_n^i pi_i^1(a) pi_i^2(b), visit by visit.
std::vector<double> together(std::span<const PolicyFile> files, std::size_t cell) {
  const OutputWeights alpha = files[0].header().markov_weights();
  const std::uint64_t n = files[0].visits_before(cell, files[0].episodes());
  ReplayMemory memory;
  std::vector<double> first(files[0].header().seat.num_actions[cell]);
  std::vector<double> second(files[1].header().seat.num_actions[cell]);
  std::vector<double> sums(first.size() * second.size(), 0.0);
  for (std::uint64_t i = 1; i <= n; ++i) {
    files[0].policy(cell, i, first, memory);
    files[1].policy(cell, i, second, memory);
    for (std::size_t a = 0; a < first.size(); ++a) {
      for (std::size_t b = 0; b < second.size(); ++b) {
        sums[a * second.size() + b] += alpha.weight(n, i) * first[a] * second[b];
      }
    }
  }
  return sums;
}

/// As H(first) + H(second) - H(both).
void expect_information(const CellView& cell) {
  const auto entropy = [](const std::vector<double>& chances) {
    double sum = 0.0;
    for (const double p : chances) sum -= p > 0.0 ? p * std::log2(p) : 0.0;
    return sum;
  };
  const PairCell& pair = cell.pairs[0];
  EXPECT_NEAR(
      pair.information,
      entropy(cell.players[0].averaged) + entropy(cell.players[1].averaged) - entropy(pair.chances),
      1e-11);
  EXPECT_GE(pair.information, 0.0);
}

TEST(View, PoliciesAreThoseOfTheFiles) {
  for (const auto& [preset, target] :
       {std::pair(Preset::fast, Target::ce), std::pair(Preset::practical, Target::cce),
        std::pair(Preset::fast, Target::nash)}) {
    const TemporaryFolder folder;
    const std::string word = target == Target::nash ? "random-zero-sum" : "chicken";
    const RunView view = view_learned(folder, learned_run(word, preset, target, 80));
    const LoadedGame game = load_game(word);
    const auto files = open_policies(read_run(folder / "run"), frame_of(game.game));
    const OutputWeights alpha = files[0].header().markov_weights();
    for (const CellView& cell : view.cells) {
      const std::size_t place = files[0].header().seat.cell(cell.h, cell.s);
      EXPECT_EQ(cell.visits, files[0].visits_before(place, 80));
      EXPECT_EQ(view.visits[place], cell.visits);
      ReplayMemory memory;
      for (std::size_t j = 0; j < 2; ++j) {
        const CellAverage average = average_of(files[j], place, cell.visits, memory);
        EXPECT_EQ(cell.players[j].averaged, average.averaged);
        EXPECT_EQ(cell.players[j].played, average.played);
        if (cell.visits > 0) {
          EXPECT_EQ(cell.players[j].last, average.last);
        } else {
          EXPECT_TRUE(cell.players[j].last.empty());
        }
      }
      ASSERT_EQ(cell.mixture.size(), std::min<std::uint64_t>(cell.visits, 12));
      if (cell.visits == 0) continue;
      expect_stand_for_all(cell, alpha);
      const MixturePart& newest = cell.mixture.back();
      EXPECT_EQ(newest.episode, files[0].episode_of(place, newest.visit) + 1);
      std::vector<double> policy(newest.policies[1].size());
      files[1].policy(place, newest.visit, policy, memory);
      EXPECT_EQ(newest.policies[1], policy);
      EXPECT_EQ(cell.effective_parts, effective_visits(alpha, cell.visits));
      ASSERT_EQ(cell.pairs.size(), 1U);
      const std::vector<double> joint = together(files, place);
      std::size_t i = 0;
      double apart = 0.0;
      for (const double first : cell.players[0].averaged) {
        for (const double second : cell.players[1].averaged) {
          const double wanted = target == Target::nash ? first * second : joint[i];
          EXPECT_NEAR(cell.pairs[0].chances[i], wanted, 1e-12);
          apart = std::max(apart, std::abs(joint[i] - first * second));
          ++i;
        }
      }
      EXPECT_EQ(view.correlates, target != Target::nash);
      expect_information(cell);
      if (target == Target::ce) {
        EXPECT_GT(apart, 1e-5) << "nothing to tell apart";
      }
    }
  }
}

TEST(View, ReachIsHowOftenExecutionsComeThere) {
  const TemporaryFolder folder;
  const std::string word = "random:players=2,states=4,actions=2,horizon=4,seed=3";
  const RunView view = view_learned(folder, learned_run(word, Preset::fast, Target::cce, 100));
  const LoadedGame game = load_game(word);
  JointPlay play(read_run(folder / "run"), ref_of(game.game), {}, OutputKind::markov);
  constexpr std::uint64_t episodes = 20000;
  std::map<std::pair<std::size_t, std::size_t>, double> seen;
  static_cast<void>(play.play(episodes, 7, [&](const JointPlay::Seen& now) {
    seen[{now.h.index(), now.s.index()}] += 1.0 / episodes;
  }));
  std::vector<double> sums(4, 0.0);
  for (const CellView& cell : view.cells) {
    sums[cell.h.index()] += cell.reach.value();
    // Five standard deviations: 16 cells fail with probability 1e-5 in all; the seed is fixed.
    const double deviation = std::sqrt(*cell.reach * (1.0 - *cell.reach) / episodes);
    EXPECT_NEAR((seen[{cell.h.index(), cell.s.index()}]), *cell.reach, 5.0 * deviation + 1e-12);
  }
  for (const double sum : sums) EXPECT_NEAR(sum, 1.0, 1e-12);
  // The graph says the same: what comes to a state is what leaves those before it.
  const StateGraph& graph = view.game.graph.value();
  EXPECT_FALSE(graph.uniform);
  std::vector<double> comes(view.num_cells, 0.0);
  for (const GraphEdge& edge : graph.edges) comes[edge.to] += graph.reach[edge.from] * edge.chance;
  for (std::size_t cell = 0; cell < view.num_cells; ++cell) {
    EXPECT_NEAR(graph.reach[cell], *view.cells[cell].reach, 1e-12);
    if (view.cells[cell].h != Step()) {
      EXPECT_NEAR(comes[cell], graph.reach[cell], 1e-12);
    }
  }
}

TEST(View, ManyPlayersAndCellsStayFew) {
  const TemporaryFolder folder;
  LearnedRun run = learned_run("congestion-10", Preset::fast, Target::cce, 20);
  const RunView view = view_learned(folder, run);
  EXPECT_EQ(view.game.players.size(), 10U);
  EXPECT_EQ(view.shown_players.size(), 8U);
  EXPECT_EQ(view.cells.front().pairs.size(), 28U);
  EXPECT_EQ(view.cells.front().mixture.front().policies.size(), 8U);
  EXPECT_NE(std::ranges::find(view.remarks, "policies of the first 8 of 10 players are shown"),
            view.remarks.end());

  const TemporaryFolder other;
  const RunView soccer =
      view_learned(other, learned_run("soccer:horizon=3", Preset::fast, Target::nash, 2000));
  ASSERT_TRUE(soccer.game.board);
  EXPECT_EQ(soccer.game.board->positions.size(), 760U);
  EXPECT_EQ(soccer.num_cells, 2280U);
  EXPECT_EQ(soccer.visits.size(), 2280U);
  EXPECT_FALSE(soccer.game.graph);
  std::size_t numbers = 0;
  std::uint64_t least = UINT64_MAX;
  for (const CellView& cell : soccer.cells) {
    least = std::min(least, cell.visits);
    for (const PlayerCell& own : cell.players) {
      numbers += own.averaged.size() + own.last.size() + own.played.size();
    }
    for (const PairCell& pair : cell.pairs) numbers += pair.chances.size();
    for (const MixturePart& part : cell.mixture) {
      for (const auto& policy : part.policies) numbers += policy.size();
    }
  }
  EXPECT_LE(numbers, 40'000U);
  EXPECT_LT(soccer.cells.size(), soccer.num_cells);
  // Whatever is not shown was visited no more than what is.
  std::vector<std::uint64_t> visits = soccer.visits;
  std::sort(visits.rbegin(), visits.rend());
  EXPECT_EQ(visits[soccer.cells.size() - 1], least);
  for (std::size_t i = 1; i < soccer.cells.size(); ++i) {
    const auto place = [&](const CellView& c) { return std::pair(c.h.index(), c.s.index()); };
    EXPECT_LT(place(soccer.cells[i - 1]), place(soccer.cells[i]));
  }
}

TEST(View, SaysWhatRunItIs) {
  const TemporaryFolder folder;
  LearnedRun run = learned_run("fishery", Preset::rigorous, Target::cce, 30);
  const RunView view = view_learned(folder, run, true);
  EXPECT_EQ(view.verification.outcome, Verification::Outcome::accepted);
  EXPECT_EQ(view.kind, RunView::Kind::learned);
  EXPECT_EQ(view.algorithm, "v-learning");
  EXPECT_EQ(view.stopped, "episodes");
  EXPECT_EQ(view.episodes, 30U);
  const LoadedGame game = load_game("fishery");
  const Frame& frame = frame_of(game.game);
  EXPECT_EQ(frame.initial()[view.game.first_state.value()], std::ranges::max(frame.initial()));
  EXPECT_EQ(view.curve.size(), 13U);
  EXPECT_EQ(view.series, view.game.players);
  EXPECT_EQ(view.curve.back().values.size(), 2U);
  EXPECT_TRUE(view.curve.back().data_bound);
  EXPECT_EQ(view.config.front(), std::pair(std::string("schema"), std::string("vlearn.config/1")));
  EXPECT_EQ(view.command,
            "vlearn learn fishery --target cce --preset rigorous --episodes 30 --seed 1");

  // Runs that differ by their seed are of one group.
  const TemporaryFolder other;
  run.config.seed = 2;
  EXPECT_EQ(view_learned(other, run).group, view.group);
  const TemporaryFolder third;
  run.config.learner.delta = 0.02;
  EXPECT_NE(view_learned(third, run).group, view.group);

  const RunView quick = view_run(folder / "run", {.verify = false, .policies = false});
  EXPECT_TRUE(quick.cells.empty());
  EXPECT_FALSE(quick.game.graph);
  EXPECT_EQ(quick.verification.outcome, Verification::Outcome::not_done);
  EXPECT_EQ(quick.curve.size(), 13U);
}

TEST(View, RunsWithoutHistoryHaveVisits) {
  const TemporaryFolder folder;
  LearnedRun run = learned_run("fishery", Preset::fast, Target::cce, 40);
  run.config.history = false;
  run.config.certify = false;
  const RunView view = view_learned(folder, run);
  EXPECT_TRUE(view.cells.empty());
  const std::size_t states = view.game.states.front();
  std::uint64_t first = 0;
  for (std::size_t s = 0; s < states; ++s) first += view.visits[s];
  EXPECT_EQ(first, 40U);
  ASSERT_TRUE(view.game.graph);
  EXPECT_TRUE(view.game.graph->uniform);
  EXPECT_EQ(view.verification.message, "there is no certificate");
}

TEST(View, DamageIsNamed) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  write_run(run, learned_run("fishery", Preset::fast, Target::cce, 30));
  const std::string metrics = text_of(run / "metrics.jsonl");
  const auto message = [&]() -> std::string {
    try {
      static_cast<void>(view_run(run));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  const auto expect = [&](const std::string& text, const std::string& wanted) {
    put(run / "metrics.jsonl", text);
    EXPECT_NE(message().find(wanted), std::string::npos) << message();
  };
  const auto lines_but = [&](std::size_t line, const std::string& text) {
    std::string changed;
    std::size_t i = 0;
    std::istringstream lines(metrics);
    for (std::string one; std::getline(lines, one);) changed += (++i == line ? text : one) + "\n";
    return changed;
  };
  expect(lines_but(3, "nonsense"), "metrics.jsonl:3");
  expect(lines_but(3, "{}"), "metrics.jsonl:3: [2]: lacks the key 'episode'");
  expect(lines_but(3, "{}, {}"), "metrics.jsonl:3");
  expect(lines_but(3, R"({"episode": 3, "players": []})"), "metrics.jsonl:3: [2].players");
  expect(lines_but(3, R"({"episode": 1, "players": []})"), "metrics.jsonl:3: [2].episode");
  expect(lines_but(3, ""), "metrics.jsonl:");
  expect(metrics.substr(0, metrics.size() - 5), "metrics.jsonl:13: the last line was cut");

  // A run that was killed.
  std::filesystem::remove(run / "result.json");
  std::filesystem::remove(run / "certificate.json");
  const RunView cut = view_run(run);
  EXPECT_EQ(cut.curve.size(), 12U);
  EXPECT_EQ(cut.episodes, cut.curve.back().episode);
  EXPECT_TRUE(cut.stopped.empty());
  EXPECT_FALSE(cut.remarks.empty());
  EXPECT_FALSE(cut.cells.empty());
  std::filesystem::resize_file(run / "policy" / "player-2.policy", 1000);
  EXPECT_TRUE(view_run(run).cells.empty());
  std::filesystem::resize_file(run / "policy" / "player-1.policy", 1000);
  EXPECT_TRUE(view_run(run).cells.empty());
  put(run / "metrics.jsonl", "{\"epi");
  EXPECT_TRUE(view_run(run).curve.empty());
}

TEST(View, WhatIsOfAnotherRunIsRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  const std::filesystem::path other = folder / "other";
  write_run(run, learned_run("fishery", Preset::fast, Target::cce, 30));
  write_run(other, learned_run("fishery", Preset::fast, Target::ce, 30));
  const auto swap_in = [&](const char* file) {
    const std::string old = text_of(run / file);
    put(run / file, text_of(other / file));
    EXPECT_THROW(static_cast<void>(view_run(run)), Error) << file;
    put(run / file, old);
  };
  swap_in("certificate.json");
  swap_in("result.json");
  EXPECT_THROW(static_cast<void>(view_run(run, {.game = "rps"})), Error);
  EXPECT_THROW(static_cast<void>(view_run(folder / "nowhere")), Error);
  EXPECT_THROW(static_cast<void>(view_run(folder.path())), Error);
  // Of the same game and target, but of other policies, or of fewer episodes.
  const auto expect_strange = [&](const Certificate& certificate, const std::string& wanted) {
    for (const char* file : {"certificate.json", "certificate-sampled.json"}) {
      const bool was = std::filesystem::exists(run / file);
      const std::string old = was ? text_of(run / file) : "";
      put(run / file, to_json(certificate));
      try {
        static_cast<void>(view_run(run));
        ADD_FAILURE() << file << " is taken";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_NE(error.problem().find("is not of this run"), std::string::npos);
        EXPECT_NE(error.problem().find(wanted), std::string::npos) << error.what();
        EXPECT_EQ(error.fix(), "certify it again: vlearn certify RUN");
      }
      was ? put(run / file, old) : static_cast<void>(std::filesystem::remove(run / file));
    }
  };
  Certificate strange = read_certificate(run / "certificate.json");
  strange.policy_hashes[1][0] = strange.policy_hashes[1][0] == '0' ? '1' : '0';
  expect_strange(strange, "policy_hashes[1]");
  strange = read_certificate(run / "certificate.json");
  strange.episodes = 29;
  expect_strange(strange, "episodes is 29, and 30 were played");
  strange.policy_hashes.clear();
  strange.stream_hash = std::string(64, 'a');
  expect_strange(strange, "episodes is 29, and 30 were played");
  // A certificate that is not true is told, not thrown.
  EXPECT_EQ(view_run(run).verification.outcome, Verification::Outcome::accepted);
  const Certificate good = read_certificate(run / "certificate.json");
  Certificate bad = good;
  bad.players[1].value_lower = bad.players[1].value_upper += 0.01;
  put(run / "certificate.json", to_json(bad));
  const Verification refuted = view_run(run).verification;
  EXPECT_EQ(refuted.outcome, Verification::Outcome::refuted);
  EXPECT_NE(refuted.message.find("players[1]"), std::string::npos) << refuted.message;
  // A witness that cannot be shown is an error that says where it stands.
  bad = good;
  bad.players[1].witness.push_back(0);
  put(run / "certificate.json", to_json(bad));
  const std::string message =
      error_of(ErrorKind::input, [&] { static_cast<void>(view_run(run, {.verify = false})); });
  EXPECT_TRUE(message.starts_with((run / "certificate.json").string() + ": players[1].witness: "))
      << message;
  put(run / "certificate.json", to_json(good));
  // A policy file that is damaged is an error.
  std::string policy = text_of(run / "policy" / "player-2.policy");
  policy[policy.size() / 2] = static_cast<char>(policy[policy.size() / 2] ^ 1);
  put(run / "policy" / "player-2.policy", policy);
  EXPECT_THROW(static_cast<void>(view_run(run)), Error);
}

TEST(View, OfAnUnfinishedRunAnOlderCertificateIsLeftOut) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  write_run(run, learned_run("rps", Preset::fast, Target::nash, 30));
  std::filesystem::remove(run / "result.json");
  EXPECT_TRUE(view_run(run).certificate) << "the files are as they were certified";
  Certificate older = read_certificate(run / "certificate.json");
  older.policy_hashes[0] = std::string(64, '0');
  put(run / "certificate.json", to_json(older));
  RunView view = view_run(run);
  EXPECT_FALSE(view.certificate);
  EXPECT_TRUE(has_remark(view, "certificate.json is left out"));
  EXPECT_EQ(view.verification.message, "there is no certificate");
  older.policy_hashes.clear();
  older.stream_hash = std::string(64, '0');
  put(run / "certificate.json", to_json(older));
  view = view_run(run);
  EXPECT_FALSE(view.certificate);
  EXPECT_TRUE(has_remark(view, "certificate.json is left out"));
}

TEST(View, TablesLargerThanTheGameAreNotRead) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  LearnedRun learned = learned_run("rps", Preset::fast, Target::nash, 30);
  learned.config.history = false;
  learned.config.certify = false;
  write_run(run, learned);
  const auto refused = [&](std::uint64_t visits, std::uint64_t others) {
    const std::vector<std::uint64_t> table(visits, 1);
    const std::vector<double> numbers(others, 0.5);
    ContainerWriter writer("vlearn.tables/1");
    writer.add("visits", {1, visits}, table).add("other", {others}, numbers);
    writer.write(run / "tables.safetensors");
    try {
      static_cast<void>(view_run(run));
    } catch (const Error& error) {
      EXPECT_NE(error.place().find("tables.safetensors"), std::string::npos) << error.what();
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused(1, 10));
  EXPECT_TRUE(refused(2, 10)) << "another shape";
  EXPECT_TRUE(refused(1, std::uint64_t{1} << 18U)) << "2 MiB beside one state and three actions";
}

TEST(View, LongMetricsAreRead) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  write_run(run, learned_run("rps", Preset::fast, Target::nash, 30));
  const std::string metrics = text_of(run / "metrics.jsonl");
  const auto rows_with_room = [&](std::size_t bytes) {
    put(run / "metrics.jsonl", "{" + std::string(bytes, ' ') + metrics.substr(1));
    return view_run(run, {.verify = false, .policies = false}).curve.size();
  };
  EXPECT_EQ(rows_with_room(std::size_t{33} << 20U), 13U);
  EXPECT_THROW(static_cast<void>(rows_with_room(std::size_t{64} << 20U)), Error);
}

TEST(View, AGameThatHasMovedIsNamedAsItIsNow) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  LearnedRun learned = learned_run("rps", Preset::fast, Target::nash, 30);
  write_run(folder / "kept", learned);
  Certificate certificate = read_certificate(folder / "kept" / "certificate.json");
  certificate.policy_hashes.clear();
  certificate.stream_hash = std::string(64, '0');
  learned.config.history = false;
  learned.config.certify = false;
  write_run(run, learned);
  put(run / "certificate.json", to_json(certificate));
  // The same law under another word.
  const std::string moved = (folder / "moved.json").string();
  put(moved, game_to_json(load_game("rps")));
  const RunView view = view_run(run, {.game = moved});
  EXPECT_TRUE(view.command.starts_with("vlearn learn " + moved + " ")) << view.command;
  EXPECT_NE(view.verification.message.find("--replay " + moved), std::string::npos);
  EXPECT_EQ(view.game.word, moved);
}

TEST(View, ARunCountsOnce) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_directory(folder / "b");
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_NO_THROW(check_distinct(Paths{folder / "a", folder / "b", folder / "nowhere"}));
  EXPECT_NO_THROW(check_distinct(Paths{}));
  std::filesystem::create_directory_symlink(folder / "a", folder / "link");
  for (const std::filesystem::path& again :
       {folder / "a", folder / "a" / "", folder / "b" / ".." / "a", folder / "link"}) {
    try {
      check_distinct(Paths{folder / "a", folder / "b", again});
      ADD_FAILURE() << again << " counts twice";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.place(), again.string());
    }
  }
}

}  // namespace
}  // namespace vlearn
