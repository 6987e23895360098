// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that nobody ran, as views: every part of a page has something to show, and every part is
// missing somewhere. Numbers are plausible and agree with each other where a page compares them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/report/run_view.h"

namespace vlearn::testing {

/// Numbers in [0, 1) that look drawn and are not.
inline double scattered(std::size_t i, std::size_t j = 0) {
  const double x = 12.9898 * static_cast<double>(i + 1) + 78.233 * static_cast<double>(j + 1);
  const double y = std::sin(x) * 43758.5453;
  return y - std::floor(y);
}

inline std::vector<double> scattered_policy(std::size_t actions, std::size_t seed) {
  std::vector<double> policy;
  double sum = 0.0;
  for (std::size_t a = 0; a < actions; ++a) {
    const double u = scattered(seed, a);
    policy.push_back(0.02 + u * u * u);
    sum += policy.back();
  }
  for (double& chance : policy) chance /= sum;
  return policy;
}

/// A gap that falls like 1 / sqrt(episodes) and then a little faster.
inline std::vector<CurvePoint> falling_curve(std::size_t points,
                                             std::uint64_t last,
                                             std::size_t series,
                                             double scale,
                                             std::size_t seed,
                                             bool interval) {
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < points; ++i) {
    const double t = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 1.0;
    const double x = std::pow(static_cast<double>(last), t);
    CurvePoint point;
    point.episode = std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(x)),
                                            curve.empty() ? 1 : curve.back().episode + 1);
    const double gap = scale * std::pow(static_cast<double>(point.episode) + 8.0, -0.56) *
                       (1.0 + 0.12 * (scattered(i / 3, seed) - 0.5));
    point.gap_upper = gap;
    point.gap_lower = interval ? gap * (0.45 + 0.35 * t) : gap;
    for (std::size_t j = 0; j < series; ++j) {
      point.values.push_back(2.2 + 0.25 * static_cast<double>(j) +
                             (0.5 - scattered(j, 7)) * 2.0 /
                                 std::sqrt(static_cast<double>(i) + 1.0) +
                             0.03 * scattered(i, j + seed));
    }
    curve.push_back(std::move(point));
  }
  return curve;
}

inline void add_certificate(RunView& run, double gap, double lower_share) {
  Certificate certificate;
  certificate.version = "0.1.0";
  certificate.game = run.game.word;
  certificate.game_hash = run.game.hash;
  certificate.target = run.target;
  certificate.output = lower_share < 1.0 ? CertifiedOutput::nested : CertifiedOutput::markov;
  certificate.weights = 2;
  certificate.episodes = run.episodes;
  for (std::size_t i = 0; i < run.game.players.size(); ++i) {
    PlayerCertificate player;
    player.name = run.game.players[i];
    player.value_lower = player.value_upper = 2.3 + 0.25 * static_cast<double>(i);
    player.gap_upper = gap * (1.0 - 0.17 * static_cast<double>(i % 5));
    player.gap_lower = player.gap_upper * lower_share;
    player.deviation_upper = player.value_upper + player.gap_upper;
    player.deviation_lower = player.value_upper + *player.gap_lower;
    player.rounding = 5.3e-13;
    certificate.policy_hashes.push_back(std::string(60, 'a') + "000" + std::to_string(i % 10));
    certificate.sum_upper += player.gap_upper;
    certificate.sum_lower = certificate.sum_lower.value_or(0.0) + *player.gap_lower;
    certificate.players.push_back(std::move(player));
  }
  certificate.gap_upper = gap;
  certificate.gap_lower = gap * lower_share;
  run.certificate = std::move(certificate);
  run.curve_derived = true;
  run.verification.outcome = Verification::Outcome::accepted;
}

inline void add_cells(RunView& run,
                      const std::vector<std::string>& states,
                      const std::vector<std::string>& actions,
                      bool correlated) {
  const std::size_t players = run.game.players.size();
  for (std::size_t i = 0; i < players; ++i) run.shown_players.emplace_back(i);
  for (std::size_t h = 0; h < run.game.states.size(); ++h) {
    for (std::size_t s = 0; s < run.game.states[h]; ++s) {
      const std::size_t seed = h * 100 + s;
      CellView cell;
      cell.h = Step(h);
      cell.s = State(s);
      cell.name = s < states.size() ? states[s] : std::to_string(s + 1);
      cell.visits = static_cast<std::uint64_t>(15000.0 * std::pow(scattered(seed, 3), 4.0));
      cell.reach = run.game.graph ? run.game.graph->reach[run.num_cells] : scattered(seed, 4) * 0.3;
      cell.effective_parts = 40.0 + 400.0 * scattered(seed, 5);
      for (std::size_t i = 0; i < players; ++i) {
        PlayerCell at;
        at.actions = actions;
        at.averaged = scattered_policy(actions.size(), seed * 10 + i);
        at.last = scattered_policy(actions.size(), seed * 10 + i + 5);
        at.played = scattered_policy(actions.size(), seed * 10 + i);
        at.value = 2.0 - 0.4 * static_cast<double>(h) + 0.2 * scattered(seed, i);
        at.deviation = *at.value + 0.02 * scattered(seed, i + 9);
        at.share = 0.004 * scattered(seed, i + 11) * cell.reach.value();
        if (run.target == Target::ce) {
          for (std::uint32_t a = 0; a < actions.size(); ++a)
            at.witness.push_back((a + 1) / 2 * 2 % 3);
        } else {
          at.witness = {static_cast<std::uint32_t>(seed % actions.size())};
        }
        cell.players.push_back(std::move(at));
      }
      for (std::size_t n = 0; n < 5; ++n) {
        MixturePart part{
            4000 - 37 * n, 14900 - 171 * n, 0.012 - 0.001 * static_cast<double>(n), {}};
        for (std::size_t i = 0; i < players; ++i) {
          part.policies.push_back(scattered_policy(actions.size(), seed + 31 * n + i));
        }
        cell.mixture.push_back(std::move(part));
      }
      for (std::size_t i = 0; i < players; ++i) {
        for (std::size_t j = i + 1; j < players; ++j) {
          PairCell pair;
          pair.first = Player(i);
          pair.second = Player(j);
          pair.information = correlated ? 0.2 * scattered(seed, i + j + 1) : 0.0;
          const double tie = correlated ? 0.6 * scattered(seed, i + j) : 0.0;
          const std::vector<double>& p = cell.players[i].averaged;
          const std::vector<double>& q = cell.players[j].averaged;
          // With chance `tie` both look at the same coin, else each at its own.
          for (std::size_t a = 0; a < actions.size(); ++a) {
            for (std::size_t b = 0; b < actions.size(); ++b) {
              pair.chances.push_back((1.0 - tie) * p[a] * q[b] + (a == b ? tie * p[a] : 0.0));
            }
          }
          cell.pairs.push_back(std::move(pair));
        }
      }
      cell.counted = cell.visits;
      run.visits.push_back(cell.visits);
      run.cells.push_back(std::move(cell));
      ++run.num_cells;
    }
  }
  run.correlates = correlated;
}

inline StateGraph example_graph(const std::vector<std::size_t>& states) {
  StateGraph graph;
  std::vector<std::size_t> first;
  std::size_t cells = 0;
  for (const std::size_t n : states) {
    first.push_back(cells);
    cells += n;
  }
  graph.reach.assign(cells, 0.0);
  graph.reach[0] = 1.0;
  for (std::size_t h = 0; h + 1 < states.size(); ++h) {
    for (std::size_t s = 0; s < states[h]; ++s) {
      const double here = graph.reach[first[h] + s];
      if (here == 0.0) continue;
      const std::vector<double> next = scattered_policy(states[h + 1], 40 + h * 7 + s);
      for (std::size_t to = 0; to < next.size(); ++to) {
        graph.edges.push_back({first[h] + s, first[h + 1] + to, next[to]});
        graph.reach[first[h + 1] + to] += here * next[to];
      }
    }
  }
  return graph;
}

/// What all learned examples have.
inline RunView plain_run(std::string word, std::vector<std::string> players, std::size_t horizon) {
  RunView run;
  run.path = "runs/" + word + "-3";
  run.game.word = std::move(word);
  run.game.model = "dense";
  run.game.hash = "3b76e071f0dff842d79ee7f5e2191da471a532ea9f8266db76680f975c0e0bf7";
  run.game.horizon = horizon;
  run.game.reward_ranges.assign(players.size(), {0.0, 1.0});
  run.game.players = std::move(players);
  run.game.fewest_actions = run.game.most_actions = 3;
  run.preset = "fast";
  run.algorithm = "v-learning";
  run.output = "markov";
  run.seed = 3;
  run.episodes = 15000;
  run.stopped = "gap reached";
  run.version = "0.1.0";
  run.config_hash = "77e1f0dff842d79ee7f5e2191da471a532ea9f8266db76680f975c0e0bf73b60";
  run.config = {{"schema", "vlearn.config/1"},
                {"game", run.game.word},
                {"target", "cce"},
                {"preset", "fast"},
                {"seed", "3"},
                {"until_gap", "0.01"}};
  run.group = run.game.word;
  run.command =
      "vlearn learn '" + run.game.word + "' --target cce --preset fast --seed 3 --until-gap 0.01";
  run.series = run.game.players;
  return run;
}

/// Four players, named states, correlated policies: every part.
inline RunView harbour_view() {
  RunView run = plain_run("harbour", {"ann", "bo", "carla", "dimitri"}, 4);
  run.game.title = "Four ships and one narrow harbour";
  run.game.source = "An example of the tests";
  run.game.note = "Ships that wait together are better off than ships that collide.";
  run.game.states = {1, 4, 4, 4};
  run.game.known = {{"the example's author", {2.31, 2.55, 2.8, 3.05}}};
  run.game.graph = example_graph(run.game.states);
  run.curve = falling_curve(160, run.episodes, 4, 2.2, 1, false);
  add_cells(run, {"calm", "fog", "storm", "harbour full"}, {"wait", "enter", "turn back"}, true);
  add_certificate(run, 0.009455, 1.0);
  run.guarantee = "None: preset fast has no theorem; the certificate says what came out.";
  return run;
}

/// The same as an interval, for ce, not verified.
inline RunView interval_view() {
  RunView run = harbour_view();
  run.target = Target::ce;
  run.output = "nested";
  run.curve = falling_curve(60, run.episodes, 4, 3.0, 2, true);
  for (std::size_t i = 0; i < run.curve.size(); i += 3)
    run.curve[i].data_bound = *run.curve[i].gap_upper * 9.0;
  run.cells.clear();
  run.visits.clear();
  run.shown_players.clear();
  run.num_cells = 0;
  add_cells(run, {"calm", "fog"}, {"wait", "enter", "turn back"}, true);
  for (CellView& cell : run.cells) cell.reach.reset();
  add_certificate(run, 0.0212, 0.85);
  run.verification = {Verification::Outcome::not_done, "nobody asked for it", false};
  return run;
}

/// Two players, zero-sum, on a board.
inline RunView grid_view() {
  RunView run = plain_run("soccer", {"left", "right"}, 5);
  run.target = Target::nash;
  run.output = "marginals";
  run.game.title = "Soccer on a small field";
  run.game.zero_sum = true;
  run.game.reward_ranges = {{-1.0, 1.0}, {-1.0, 1.0}};
  run.game.fewest_actions = run.game.most_actions = 5;
  Board board;
  board.rows = 4;
  board.columns = 5;
  board.marks = {{{1, 0}, "G1"}, {{2, 0}, "G1"}, {{1, 4}, "G2"}, {{2, 4}, "G2"}};
  for (int at = 0; at < 60; ++at) {
    BoardPosition position;
    position.players = {{at % 4, at % 5}, {(at / 4) % 4, (at / 3 + 2) % 5}};
    position.ball = Player(static_cast<std::uint32_t>(at % 2));
    board.positions.push_back(position);
  }
  board.positions.emplace_back();  // the game is over
  run.game.board = board;
  run.game.first_state = 7;
  run.game.states.assign(5, 61);
  run.curve = falling_curve(80, run.episodes, 2, 1.1, 3, false);
  add_cells(run, {}, {"north", "south", "east", "west", "stay"}, false);
  for (CellView& cell : run.cells) {
    if (cell.s.index() >= 40) cell.visits = 0;
    cell.name = "position " + std::to_string(cell.s.number());
  }
  for (std::size_t i = 0; i < run.visits.size(); ++i) {
    if (i % 61 >= 40) run.visits[i] = 0;
  }
  add_certificate(run, 0.0123, 1.0);
  return run;
}

/// One player, one state, one step, no history: as little as there can be.
inline RunView smallest_view() {
  RunView run = plain_run("coin", {"1"}, 1);
  run.target = Target::optimal;
  run.game.states = {1};
  run.game.fewest_actions = run.game.most_actions = 1;
  run.game.graph = StateGraph{{1.0}, {}};
  run.curve = falling_curve(1, 1, 1, 0.1, 1, false);
  add_cells(run, {"1"}, {"flip"}, false);
  return run;
}

/// A run that has just begun.
inline RunView begun_view() {
  RunView run = plain_run("harbour", {"ann", "bo"}, 3);
  run.game.states = {2, 2, 2};
  run.stopped.clear();
  run.episodes = 0;
  run.remarks = {"The run has not ended: the last row of metrics.jsonl is shown as it is."};
  return run;
}

/// Refuted, and of very many players.
inline RunView refuted_view() {
  std::vector<std::string> players;
  for (int i = 0; i < 300; ++i) players.push_back("driver " + std::to_string(i + 1));
  RunView run = plain_run("commuters:players=300", std::move(players), 2);
  run.game.states = {3, 3};
  run.series = {"least", "mean", "most"};
  run.curve = falling_curve(40, 20000, 3, 1.0, 4, false);
  add_certificate(run, 0.004, 1.0);
  run.verification = {Verification::Outcome::refuted,
                      "player 7: the gap is at least 0.31, not 0.004", false};
  return run;
}

inline RunView sampled_view() {
  RunView run = harbour_view();
  run.sampled = run.certificate;
  run.sampled->method = UncertainMethod{MethodName::sampled, 0.99, 4000, 7};
  run.certificate.reset();
  run.verification = {Verification::Outcome::not_done, "draws cannot be derived from the law",
                      false};
  return run;
}

/// Groups that differ by their preset, with some seeds each.
inline std::vector<RunView> group_views(std::size_t groups, std::size_t seeds, std::size_t points) {
  constexpr std::array<const char*, 5> presets = {"fast", "practical", "rigorous", "paper",
                                                  "other"};
  std::vector<RunView> runs;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t k = 0; k < seeds; ++k) {
      RunView run = plain_run("harbour", {"ann", "bo", "carla", "dimitri"}, 4);
      run.game.title = "Four ships and one narrow harbour";
      run.preset = presets[g % presets.size()];
      run.config[3].second = run.preset;
      run.seed = k + 1;
      run.path = "runs/" + run.preset + "-" + std::to_string(run.seed);
      run.group = run.preset;
      run.episodes = 100000;
      run.curve = falling_curve(points, run.episodes, 4, 2.0 + 3.0 * static_cast<double>(g),
                                17 * g + 5 * k, false);
      for (CurvePoint& point : run.curve) {
        *point.gap_upper *= 0.8 + 0.5 * scattered(k, g);
        point.gap_lower = point.gap_upper;
      }
      run.game.states = {1, 4, 4, 4};
      add_certificate(run, *run.curve.back().gap_upper, 1.0);
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

inline const std::array<std::string, 9>& hostile_names() {
  static const std::array<std::string, 9> names = {
      "</script><script>alert(1)</script>",
      "\"><img src=x onerror=alert(1)>",
      "\x1b[31mred\x1b[0m",
      "\xE2\x80\xAEtfel\xE2\x81\xA6 \xE2\x80\x8B\xEF\xBB\xBF",
      "__proto__",
      "",
      std::string(255, 'w'),
      "'; alert(1) //${alert(1)}`\\",
      "\xff\xfe <!-- & -->",
  };
  return names;
}

/// Names as nobody should choose them, in every place where a name can stand.
inline RunView hostile_view() {
  const auto& names = hostile_names();
  RunView run = harbour_view();
  run.game.players = {names[0], names[1], names[2], names[4]};
  run.series = run.game.players;
  run.game.word = names[1];
  run.game.title = names[0];
  run.game.source = names[3];
  run.game.note = names[7];
  run.game.model = names[8];
  run.path = names[0];
  run.command = "vlearn learn " + names[0];
  run.guarantee = names[1];
  run.remarks.assign(names.begin(), names.end());
  run.game.known[0].first = names[0];
  for (const std::string& name : names) run.config.emplace_back(name, name);
  run.verification = {Verification::Outcome::not_done, names[0], false};
  for (std::size_t c = 0; c < run.cells.size(); ++c) {
    run.cells[c].name = names[c % names.size()];
    for (PlayerCell& player : run.cells[c].players)
      player.actions = {names[c % 9], names[(c + 1) % 9], names[4]};
  }
  Board board;
  board.rows = 2;
  board.columns = 2;
  board.marks = {{{0, 0}, names[0]}};
  board.positions.assign(4, BoardPosition{{{0, 0}, {0, 0}, {1, 1}, {1, 0}}, std::nullopt});
  run.game.board = board;
  run.game.first_state = 7;
  return run;
}

}  // namespace vlearn::testing
