// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// random: step-dependent games with Dirichlet(1) rows and rewards uniform in [0, 1].
// congestion: the family of the docs, every player the same.
// lock: a chain of right actions, for exploration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "families.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 30U;  // 8 GiB of doubles

// Which numbers of a generated game a stream gives (the step of its key).
enum class Part : std::uint32_t { transition = 0, reward = 1, other = 2 };

Draws stream(std::uint64_t seed, Part part, std::uint64_t item, std::size_t player = 0) {
  return Draws({.seed = seed,
                .purpose = Purpose::game,
                .player = Player(player),
                .episode = Episode(item),
                .step = Step(static_cast<std::uint32_t>(part))});
}

/// A uniform point of the simplex: the gaps between sorted uniforms. Multiples of 2^-53, so they
/// sum to one exactly.
void dirichlet_row(Draws draws, std::span<double> row) {
  for (std::size_t i = 0; i + 1 < row.size(); ++i) row[i] = draws.uniform();
  row.back() = 1.0;
  std::sort(row.begin(), row.end());
  for (std::size_t i = row.size() - 1; i > 0; --i) row[i] -= row[i - 1];
}

void check_size(const Parameters& parameters, std::optional<std::uint64_t> numbers) {
  if (numbers && *numbers <= kMaxNumbers) return;
  throw Error(ErrorKind::resource, parameters.family(),
              numbers ? fmt::format("would need {} numbers of 8 bytes, the limit is {}", *numbers,
                                    kMaxNumbers)
                      : "would need more numbers than can be counted",
              "make it smaller");
}

std::optional<std::uint64_t> power(std::uint64_t base, std::uint64_t exponent) {
  std::optional<std::uint64_t> product = 1;
  for (std::uint64_t i = 0; i < exponent && product; ++i)
    product = checked_multiply(*product, base);
  return product;
}

struct RandomParameters {
  GameSize size;
  std::uint64_t seed = 0;
  std::string kind;
};

RandomParameters read_random(Parameters& parameters) {
  const std::uint64_t m = parameters.integer("players", 2, 1, 10'000);
  const std::uint64_t states = parameters.integer("states", 4, 1, 1'000'000);
  const std::uint64_t actions = parameters.integer("actions", 3, 1, 10'000);
  const std::uint64_t horizon = parameters.integer("horizon", 5, 1, 10'000);
  const std::uint64_t seed = parameters.integer("seed", 1, 0, UINT64_MAX);
  const std::string kind =
      parameters.word("kind", "general", {"general", "zero-sum", "team", "polymatrix"});
  parameters.finish();
  const bool zero_sum = kind == "zero-sum";
  if ((zero_sum && m != 2) || (kind == "polymatrix" && m < 2)) {
    throw Error(ErrorKind::usage, parameters.family(),
                fmt::format("kind={} does not go with {} players", kind, m),
                zero_sum ? "take players=2" : "take two at least");
  }
  const std::uint64_t rows =
      kind == "polymatrix" ? m * actions : power(actions, m).value_or(UINT64_MAX);
  const std::uint64_t width = states + (kind == "polymatrix" ? m * actions : m);
  return {{.players = m,
           .horizon = horizon,
           .states = states,
           .actions = actions,
           .numbers = checked_product(std::vector{horizon, states, rows, width})},
          seed,
          kind};
}

struct CongestionParameters {
  GameSize size;
  std::uint64_t seed = 0;
};

CongestionParameters read_congestion(Parameters& parameters) {
  const std::uint64_t m = parameters.integer("players", 10, 2, 10'000);
  const std::uint64_t routes = parameters.integer("routes", 10, 1, 1000);
  const std::uint64_t states = parameters.integer("states", 3, 1, 10'000);
  const std::uint64_t horizon = parameters.integer("horizon", 3, 1, 10'000);
  const std::uint64_t seed = parameters.integer("seed", 5, 0, UINT64_MAX);
  parameters.finish();
  return {{.players = m,
           .horizon = horizon,
           .states = states,
           .actions = routes,
           .numbers = checked_product(std::vector{states, routes, m + states})},
          seed};
}

struct LockParameters {
  GameSize size;
  double success = 0.0;
  std::uint64_t seed = 0;
};

LockParameters read_lock(Parameters& parameters) {
  const std::uint64_t horizon = parameters.integer("horizon", 6, 1, 10'000);
  const std::uint64_t actions = parameters.integer("actions", 3, 2, 1000);
  const std::uint64_t m = parameters.integer("players", 1, 1, 2);
  const double success = parameters.number("success", 0.9, 0.0, 1.0);
  const std::uint64_t seed = parameters.integer("seed", 1, 0, UINT64_MAX);
  parameters.finish();
  const std::uint64_t joint = m == 1 ? actions : actions * actions;
  return {{.players = m,
           .horizon = horizon,
           .states = 2,  // on the chain, out of it
           .actions = actions,
           .numbers = checked_product(std::vector{horizon, joint, m + 2})},
          success,
          seed};
}

AnyGame make_random_polymatrix(FrameOptions options, std::uint64_t seed) {
  const std::size_t m = options.num_players;
  const std::size_t actions = m * options.num_actions.front();
  const Frame frame(std::move(options));
  PolymatrixOptions tables;
  tables.rewards.reserve(frame.num_cells() * actions * actions);
  tables.transitions.reserve(frame.num_cells() * actions * frame.max_states());
  const std::vector<std::uint32_t> width = frame.next_states();
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    for (std::size_t position = 0; position < actions; ++position) {
      const std::size_t own = position / begins[1];
      Draws rewards = stream(seed, Part::reward, cell * actions + position);
      for (std::size_t other = 0; other < actions; ++other) {
        const double u = rewards.uniform() / static_cast<double>(m - 1);
        tables.rewards.push_back(other / begins[1] == own ? 0.0 : u);
      }
      if (width[cell] == 0) continue;
      std::vector<double> row(width[cell]);
      dirichlet_row(stream(seed, Part::transition, cell * actions + position), row);
      tables.transitions.insert(tables.transitions.end(), row.begin(), row.end());
    }
  }
  return PolymatrixGame(frame, std::move(tables));
}

}  // namespace

GameSize size_of_random(Parameters& parameters) { return read_random(parameters).size; }
GameSize size_of_congestion(Parameters& parameters) { return read_congestion(parameters).size; }
GameSize size_of_lock(Parameters& parameters) { return read_lock(parameters).size; }

AnyGame make_random(Parameters& parameters) {
  const auto [size, seed, kind] = read_random(parameters);
  check_size(parameters, size.numbers);
  const std::uint64_t m = size.players;
  const std::uint64_t states = size.states;
  const bool zero_sum = kind == "zero-sum";
  FrameOptions options{.num_players = m,
                       .horizon = size.horizon,
                       .stationary = false,
                       .num_states = {static_cast<std::uint32_t>(states)},
                       .num_actions = std::vector(m, static_cast<std::uint32_t>(size.actions)),
                       .zero_sum = zero_sum};
  if (kind == "polymatrix") return make_random_polymatrix(std::move(options), seed);
  const Frame frame(std::move(options));
  const JointIndex joints(frame);
  const std::vector<std::uint32_t> width = frame.next_states();
  const std::size_t payers = zero_sum ? 1 : m;
  std::vector<double> rewards;
  std::vector<double> probabilities;
  rewards.reserve(joints.size() * payers);
  probabilities.reserve(joints.size() * states);
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    for (std::size_t player = 0; player < payers; ++player) {
      for (std::size_t a = 0; a < joints.count(cell); ++a) {
        const std::size_t whose = kind == "team" ? 0 : player;
        rewards.push_back(stream(seed, Part::reward, joints.first(cell) + a, whose).uniform());
      }
    }
    if (width[cell] == 0) continue;
    std::vector<double> row(width[cell]);
    for (std::size_t a = 0; a < joints.count(cell); ++a) {
      dirichlet_row(stream(seed, Part::transition, joints.first(cell) + a), row);
      probabilities.insert(probabilities.end(), row.begin(), row.end());
    }
  }
  return DenseGame(frame, std::move(rewards), std::move(probabilities));
}

AnyGame make_congestion(Parameters& parameters) {
  const auto [size, seed] = read_congestion(parameters);
  check_size(parameters, size.numbers);
  const std::uint64_t m = size.players;
  const std::uint64_t states = size.states;
  const std::uint64_t routes = size.actions;
  const Frame frame({.num_players = m,
                     .horizon = size.horizon,
                     .stationary = true,
                     .num_states = {static_cast<std::uint32_t>(states)},
                     .num_actions = std::vector(m, static_cast<std::uint32_t>(routes))});
  CongestionOptions options{.num_routes = routes};
  options.rewards.reserve(states * routes * m);
  options.transitions.reserve(states * routes * states);
  for (std::uint64_t s = 0; s < states; ++s) {
    Draws gains = stream(seed, Part::reward, s);
    for (std::uint64_t b = 0; b < routes; ++b) {
      const double gain = 0.4 + 0.6 * gains.uniform();
      for (std::uint64_t n = 1; n <= m; ++n) {
        const double crowd = static_cast<double>(n - 1) / static_cast<double>(m - 1);
        options.rewards.push_back(gain * (1.0 - 0.9 * crowd));
      }
    }
    // P1 on the first route, P0 on all others.
    const auto row = [&](std::uint64_t item) {
      Draws draws = stream(seed, Part::transition, item);
      std::vector<double> uniforms(states);
      for (double& u : uniforms) u = draws.uniform();
      if (!normalise(uniforms)) uniforms.assign(states, 1.0 / static_cast<double>(states));
      return uniforms;
    };
    const std::vector<double> p0 = row(2 * s);
    const std::vector<double> p1 = row(2 * s + 1);
    for (std::uint64_t b = 0; b < routes; ++b) {
      const std::vector<double>& p = b == 0 ? p1 : p0;
      options.transitions.insert(options.transitions.end(), p.begin(), p.end());
    }
  }
  return CongestionGame(frame, std::move(options));
}

// On the chain the right actions of all players lead on with probability `success`; anything else
// leads out of it for good. The last right action pays 1, a wrong one a lure of 0.1, the rest 0.
// All players earn the same; the best value is the larger of success^(horizon - 1) and the lure.
AnyGame make_lock(Parameters& parameters) {
  const auto [size, success, seed] = read_lock(parameters);
  check_size(parameters, size.numbers);
  const std::uint64_t m = size.players;
  const std::uint64_t horizon = size.horizon;
  const std::uint64_t actions = size.actions;
  constexpr double lure = 0.1;
  FrameOptions options{
      .num_players = m, .horizon = horizon, .stationary = false, .num_states = {2}};
  for (std::uint64_t h = 0; h < horizon; ++h) {
    options.num_actions.insert(options.num_actions.end(), m, static_cast<std::uint32_t>(actions));
    options.num_actions.insert(options.num_actions.end(), m, 1U);
  }
  const Frame frame(std::move(options));
  const JointIndex joints(frame);
  std::vector<double> rewards;
  std::vector<double> probabilities;
  for (std::uint64_t h = 0; h < horizon; ++h) {
    const bool last = h + 1 == horizon;
    std::vector<Action> right;
    for (std::uint64_t player = 0; player < m; ++player) {
      right.emplace_back(stream(seed, Part::other, h, player).below(actions));
    }
    const std::size_t cell = frame.cell(Step(h), State(0));
    const std::size_t key = joint_offset(frame.begins_of_cell(cell), right);
    for (std::uint64_t player = 0; player < m; ++player) {
      for (std::size_t a = 0; a < joints.count(cell); ++a) {
        const double paid = last ? 1.0 : 0.0;
        rewards.push_back(a == key ? paid : lure);
      }
    }
    rewards.insert(rewards.end(), m, 0.0);
    if (last) continue;
    for (std::size_t a = 0; a < joints.count(cell); ++a) {
      const double on = a == key ? success : 0.0;
      probabilities.insert(probabilities.end(), {on, 1.0 - on});
    }
    probabilities.insert(probabilities.end(), {0.0, 1.0});
  }
  return DenseGame(frame, std::move(rewards), std::move(probabilities));
}

}  // namespace vlearn
