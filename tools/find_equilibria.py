#!/usr/bin/env python3
# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Solves a small game by backward induction, and checks what a file says is known of it.

    find_equilibria.py solve GAME [--target nash|ce|optimal] [--source TEXT] [--values-only]
    find_equilibria.py check GAME [FILE]

GAME is a `.json` file with rules or a `.safetensors` file (`vlearn game convert NAME x.safetensors`
makes one of any game). `solve` prints an entry for the list `known` of a game file: the values and
the policy of an equilibrium that is one in every step and state. `check` takes the entries of
`known` in FILE (default: GAME) one by one and prints, for each, how far the stated values are from
the policy's and how much anybody gains by deviating; it fails if either is larger than 1e-12 times
the size of the values (at least 1).

How a stage, the game at a step and state with the next values added, is solved:

    one player, or all with the same rewards    the best joint action
    zero-sum                                    linear programming, then equations of the support
    pure equilibria exist                       the one with the largest sum of values
    two players, or a sum of terms per pair     the first equilibrium by enumeration of supports
    a congestion game with falling linear pay   everybody the same: water-filling over the routes
    --target ce                                 the correlated equilibrium with the largest sum
"""

import argparse
import collections
import itertools
import json
import math
import sys
from fractions import Fraction

import numpy as np
from game_arrays import number, read_game
from scipy.optimize import linprog

TOLERANCE = 1e-12


# ------------------------------------------------------------------------------ stage solvers
#
# q[i] is player i's table of values over joint actions, shape as the cell's. A profile is a list of
# one probability vector per player; a lottery is a list of (weight, profile).


def deviation_values(q, profile, player):
    """What each action of a player earns against the others' policies."""
    table = q[player]
    for other in reversed(range(len(profile))):
        if other != player:
            table = np.tensordot(table, profile[other], axes=(other, 0))
    return table


def gain(q, profile):
    return max(
        values.max() - values @ profile[i]
        for i in range(len(profile))
        for values in [deviation_values(q, profile, i)]
    )


def pure_profile(joint, shape):
    return [np.eye(n)[a] for n, a in zip(shape, joint, strict=True)]


def best_pure(q, shape):
    """The pure equilibrium with the largest sum, the first of them; None when there is none."""
    stable = np.ones(shape, dtype=bool)
    for i, table in enumerate(q):
        stable &= table >= table.max(axis=i, keepdims=True) - 1e-13
    if not stable.any():
        return None
    total = np.where(stable, sum(q), -math.inf)
    # Sums that differ by rounding alone count as equal.
    joint = np.argmax(np.round(total, 10))
    return pure_profile(np.unravel_index(joint, shape), shape)


def pair_terms(q, shape):
    """terms[i][j]: matrices with q[i] = sum_j terms[i][j][a_i, a_j]; None if it is not a sum."""
    terms = []
    for i, table in enumerate(q):
        others = [j for j in range(len(shape)) if j != i]
        row = {}
        first = [0] * len(shape)
        for count, j in enumerate(others):
            index = [slice(None) if k in (i, j) else first[k] for k in range(len(shape))]
            part = table[tuple(index)]
            part = part if i < j else part.T
            row[j] = part if count == 0 else part - part[:, :1]
        total = sum(
            np.moveaxis(part.reshape(part.shape + (1,) * (len(shape) - 2)), (0, 1), (i, j))
            for j, part in row.items()
        )
        if abs(total - table).max() > 1e-9:
            return None
        terms.append(row)
    return terms


def by_supports(q, shape):
    """An equilibrium by enumeration of supports, small ones first."""
    terms = pair_terms(q, shape)
    if terms is None:
        raise ValueError("no pure equilibrium, and payoffs are no sum over pairs")
    subsets = [
        [s for size in range(1, n + 1) for s in itertools.combinations(range(n), size)]
        for n in shape
    ]
    choices = sorted(itertools.product(*subsets), key=lambda c: [sum(map(len, c)), c])
    for supports in choices:
        profile = equal_on(terms, supports, shape)
        if profile is not None and gain(q, profile) < 1e-13:
            return profile
    raise ValueError("no equilibrium found: the stage is degenerate")


def equal_on(terms, supports, shape):
    """Policies on the supports that make everybody indifferent; None if there are none."""
    places = [(i, a) for i, support in enumerate(supports) for a in support]
    column = {place: k for k, place in enumerate(places)}
    size = len(places) + len(shape)  # probabilities, and a value for each player
    matrix, right = [], []
    for i, a in places:
        line = np.zeros(size)
        for j, part in terms[i].items():
            for b in supports[j]:
                line[column[j, b]] = part[a, b]
        line[len(places) + i] = -1
        matrix.append(line)
        right.append(0)
    for i, support in enumerate(supports):
        line = np.zeros(size)
        for a in support:
            line[column[i, a]] = 1
        matrix.append(line)
        right.append(1)
    try:
        solution = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return None
    if solution[: len(places)].min() <= 0:
        return None
    profile = [np.zeros(n) for n in shape]
    for (i, a), p in zip(places, solution, strict=False):
        profile[i][a] = p
    return [p / p.sum() for p in profile]


def zero_sum_stage(q, shape):
    """Linear programming finds the supports, their equations the digits."""
    profile = []
    for table in (q[0], q[1].T):
        rows, columns = table.shape
        found = linprog(
            np.append(np.zeros(rows), -1),
            A_ub=np.hstack([-table.T, np.ones((columns, 1))]),
            b_ub=np.zeros(columns),
            A_eq=[np.append(np.ones(rows), 0)],
            b_eq=[1],
            bounds=[(0, None)] * rows + [(None, None)],
            method="highs",
        )
        policy = np.clip(found.x[:-1], 0, None)
        profile.append(policy / policy.sum())
    supports = [tuple(np.flatnonzero(p > 1e-9)) for p in profile]
    exact = equal_on(pair_terms(q, shape), supports, shape)
    if exact is not None and gain(q, exact) < gain(q, profile):
        return exact
    return profile


def correlated_stage(q, shape):
    """The lottery over joint actions with the largest sum of values among correlated equilibria."""
    size = math.prod(shape)
    lines = []
    for i, table in enumerate(q):
        for a, b in itertools.permutations(range(shape[i]), 2):
            line = np.zeros(shape)
            index = [slice(None)] * len(shape)
            index[i] = a
            line[tuple(index)] = np.take(table, b, axis=i) - np.take(table, a, axis=i)
            lines.append(line.ravel())
    found = linprog(
        -sum(q).ravel(),
        A_ub=lines or None,
        b_ub=np.zeros(len(lines)) if lines else None,
        A_eq=[np.ones(size)],
        b_eq=[1],
        method="highs",
    )
    weights = np.where(found.x > 1e-12, found.x, 0)
    weights /= weights.sum()
    return [
        (weights[k], pure_profile(np.unravel_index(k, shape), shape))
        for k in np.flatnonzero(weights)
    ]


def solve_stage(q, shape, target, zero_sum):
    """A lottery: a single profile of weight one unless it is a correlated equilibrium."""
    if target == "ce":
        return correlated_stage(q, shape)
    if len(shape) == 1 or all(np.array_equal(q[0], other) for other in q[1:]):
        joint = np.unravel_index(np.argmax(q[0]), shape)
        return [(1.0, pure_profile(joint, shape))]
    profile = best_pure(q, shape)
    if profile is None:
        profile = zero_sum_stage(q, shape) if zero_sum else by_supports(q, shape)
    return [(1.0, profile)]


# ------------------------------------------------------------------------- backward induction


def stage_tables(cell, following):
    """q of every player; following[i, s'], None after the last step."""
    q = cell.rewards.copy()
    if following is not None:
        q += (cell.rows @ following.T).T
    return [row.reshape(cell.shape) for row in q]


def lottery_values(q, lottery):
    values = np.zeros(len(q))
    for weight, profile in lottery:
        for i in range(len(q)):
            values[i] += weight * (deviation_values(q, profile, i) @ profile[i])
    return values


def following_of(game, h, values):
    return values if h + 1 < game.horizon else None


def solve(game, target):
    """The policy, a lottery for each (step, state), and what everybody earns."""
    policy = {}
    values = None
    for h in reversed(range(game.horizon)):
        now = np.zeros((len(game.players), len(game.cells[game.layer(h)])))
        for s in range(now.shape[1]):
            cell = game.cell(h, s)
            if game.is_congestion:
                policy[h, s], now[:, s] = symmetric_stage(cell, following_of(game, h, values))
                continue
            q = stage_tables(cell, following_of(game, h, values))
            policy[h, s] = solve_stage(q, cell.shape, target, game.zero_sum)
            now[:, s] = lottery_values(q, policy[h, s])
        values = now
    return policy, values @ game.initial


def evaluate(game, policy):
    """What everybody earns."""
    values = None
    for h in reversed(range(game.horizon)):
        now = np.zeros((len(game.players), len(game.cells[game.layer(h)])))
        for s in range(now.shape[1]):
            following = following_of(game, h, values)
            if game.is_congestion:
                routes = route_values(game.cell(h, s), policy[h, s], following)
                now[:, s] = routes @ policy[h, s][0][1][0]
            else:
                q = stage_tables(game.cell(h, s), following)
                now[:, s] = lottery_values(q, policy[h, s])
        values = now
    return values @ game.initial


def best_deviation(game, policy, player, target):
    """What a player can earn while the others follow the policy.

    With `ce` it sees its recommended action and may answer with any other; with `cce` and `nash`
    it decides without having seen anything.
    """
    values = None
    for h in reversed(range(game.horizon)):
        now = np.zeros(len(game.cells[game.layer(h)]))
        for s in range(len(now)):
            cell = game.cell(h, s)
            lottery = policy[h, s]
            following = None if h + 1 == game.horizon else values
            if game.is_congestion:
                now[s] = route_values(cell, lottery, following).max()
                continue
            q = cell.rewards[player].copy()
            if following is not None:
                q += cell.rows @ following
            tables = [None] * len(cell.shape)
            tables[player] = q.reshape(cell.shape)
            seen = np.zeros((cell.shape[player], cell.shape[player]))  # [recommended, played]
            for weight, profile in lottery:
                answers = deviation_values(tables, profile, player)
                seen += weight * np.outer(profile[player], answers)
            now[s] = seen.max(axis=1).sum() if target == "ce" else seen.sum(axis=0).max()
        values = now
    return values @ game.initial


# ---------------------------------------------------------------------------- congestion games


def route_values(cell, lottery, following):
    """What each route earns against everybody else playing the same policy."""
    policy = lottery[0][1][0]
    others = cell.pay.shape[1] - 1
    values = np.zeros(cell.routes)
    for b, p in enumerate(policy):
        counts = [math.comb(others, n) * p**n * (1 - p) ** (others - n) for n in range(others + 1)]
        values[b] = np.dot(counts, cell.pay[b])
    if following is None:
        return values
    later = cell.rows @ (following if following.ndim == 1 else following[0])
    share = (1 - cell.base.sum()) / (others + 1)
    return values + cell.base @ later + share * (others * (policy @ later) + later)


def symmetric_stage(cell, following):
    """Everybody mixes alike: pay falls in the crowd until all routes in use are worth the same."""
    others = cell.pay.shape[1] - 1
    slope = (cell.pay[:, 0] - cell.pay[:, -1]) / others
    line = cell.pay[:, :1] - slope[:, None] * np.arange(others + 1)
    if abs(line - cell.pay).max() > 1e-12 or slope.min() <= 0:
        raise ValueError("what routes pay must fall, and linearly")
    top = cell.pay[:, 0].copy()
    if following is not None:
        top += (1 - cell.base.sum()) / (others + 1) * (cell.rows @ following[0])
    steep = slope * others
    order = np.argsort(-top)
    for used in range(1, cell.routes + 1):
        routes = order[:used]
        level = ((top / steep)[routes].sum() - 1) / (1 / steep)[routes].sum()
        if used == cell.routes or top[order[used]] <= level:
            break
    policy = np.zeros(cell.routes)
    policy[routes] = (top[routes] - level) / steep[routes]
    policy /= policy.sum()
    lottery = [(1.0, [policy])]
    return lottery, route_values(cell, lottery, following) @ policy


# --------------------------------------------------------------------------- known, in and out


def written(value):
    """A number for JSON: an integer or a short fraction where it is one, else all its digits."""
    value = float(value)
    if value == int(value):
        return int(value)
    short = Fraction(value).limit_denominator(99)
    if float(short) == value and short.denominator not in (2, 4, 5, 10, 20, 25, 50):
        return str(short)
    return value


def written_play(game, h, s, profile):
    entries = []
    for i, policy in enumerate(profile):
        names = game.action_names(h, s, i)
        used = np.flatnonzero(policy)
        if len(used) == 1:
            entries.append(names[used[0]])
        else:
            entries.append({names[a]: written(policy[a]) for a in used})
    if len(entries) > 2 and all(entry == entries[0] for entry in entries):
        return {"*": entries[0]}
    return {"*": entries[0]} if game.is_congestion else entries


def written_policy(game, policy):
    """Rules with step and state; steps and states that play the same share one."""
    places = collections.defaultdict(list)  # what is played -> (step, state)
    for (h, s), lottery in sorted(policy.items()):
        if not game.is_congestion and math.prod(game.cell(h, s).shape) == 1:
            if is_end(game, h, s):
                continue
        if len(lottery) == 1:
            rule = {"play": written_play(game, h, s, lottery[0][1])}
        else:
            rule = {
                "mix": [
                    {"weight": written(w), "play": written_play(game, h, s, profile)}
                    for w, profile in lottery
                ]
            }
        places[json.dumps(rule)].append((h, game.state_names(h)[s]))
    rules = []
    default = max(places, key=lambda rule: len(places[rule]))
    for text, where in places.items():
        if text == default and len(places) > 1 and len(where) > 2:
            continue
        steps = collections.defaultdict(list)
        for h, state in where:
            steps[state].append(h + 1)
        same = collections.defaultdict(list)
        for state, when in steps.items():
            same[tuple(when)].append(state)
        for when, states in same.items():
            rule = {}
            if len(when) < game.horizon:
                rule["step"] = when[0] if len(when) == 1 else list(when)
            if len(states) < len(game.state_names(0)):
                rule["state"] = states[0] if len(states) == 1 else states
            rules.append(rule | json.loads(text))
    if len(places) > 1 and len(places[default]) > 2:
        rules.append(json.loads(default))
    return rules


def is_end(game, h, s):
    """A state that pays nothing and is never left."""
    cell = game.cell(h, s)
    return cell.rows is not None and cell.rows[[0], [s]] == 1 and not cell.rewards.any()


def read_play(game, h, s, play):
    if isinstance(play, list):
        play = dict(zip(game.players, play, strict=True))
    profile = []
    for i, player in enumerate(game.players[:1] if game.is_congestion else game.players):
        entry = play[player] if player in play else play["*"]
        names = game.action_names(h, s, i)
        weights = entry if isinstance(entry, dict) else {entry: 1}
        policy = np.zeros(len(names))
        for name, p in weights.items():
            policy[names.index(name)] = number(p)
        if abs(policy.sum() - 1) > 1e-12:
            raise ValueError(f"step {h + 1}, state {s + 1}: policy sums to {policy.sum()}")
        profile.append(policy)
    return profile


def read_policy(game, rules):
    def matches(wanted, value):
        return wanted == "*" or value in (wanted if isinstance(wanted, list) else [wanted])

    policy = {}
    for h in range(game.horizon):
        for s, state in enumerate(game.state_names(h)):
            if not game.is_congestion and math.prod(game.cell(h, s).shape) == 1:
                policy[h, s] = [(1.0, pure_profile([0] * len(game.players), game.cell(h, s).shape))]
                continue
            rule = next(
                rule
                for rule in rules
                if matches(rule.get("step", "*"), h + 1) and matches(rule.get("state", "*"), state)
            )
            if "mix" in rule:
                policy[h, s] = [
                    (number(one["weight"]), read_play(game, h, s, one["play"]))
                    for one in rule["mix"]
                ]
            else:
                policy[h, s] = [(1.0, read_play(game, h, s, rule["play"]))]
    return policy


def largest_gain(game, policy, target):
    values = evaluate(game, policy)
    players = range(1 if game.is_congestion else len(game.players))
    return max(best_deviation(game, policy, i, target) - values[i] for i in players)


def check(game, known):
    """(target, distance of the values, largest gain) of an entry; None for what is not stated."""
    stated = [number(v) for v in known.get("values", [])]
    if "policy" not in known:
        return known["target"], None, None
    policy = read_policy(game, known["policy"])
    values = evaluate(game, policy)
    distance = max((abs(a - b) for a, b in zip(values, stated, strict=True)), default=None)
    return known["target"], distance, largest_gain(game, policy, known["target"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    solving = commands.add_parser("solve")
    solving.add_argument("game")
    solving.add_argument("--target", choices=["nash", "ce", "optimal"])
    solving.add_argument("--source", default="backward induction (tools/find_equilibria.py)")
    solving.add_argument("--values-only", action="store_true")
    checking = commands.add_parser("check")
    checking.add_argument("game")
    checking.add_argument("file", nargs="?")
    options = parser.parse_args()
    game = read_game(options.game)
    if options.command == "solve":
        target = options.target or ("optimal" if len(game.players) == 1 else "nash")
        policy, values = solve(game, target)
        print(f"largest gain by deviating: {largest_gain(game, policy, target)}", file=sys.stderr)
        known = {"target": target, "values": [written(v) for v in values], "source": options.source}
        if not options.values_only:
            known["policy"] = written_policy(game, policy)
        print(json.dumps(known, indent=1))
        return 0
    with open(options.file or options.game, encoding="utf-8") as file:
        entries = json.load(file)["known"]
    failed = False
    for known in entries:
        target, distance, most = check(game, known)
        size = max([1.0] + [abs(number(v)) for v in known.get("values", [])])
        bad = any(error is not None and error > TOLERANCE * size for error in (distance, most))
        failed |= bad
        verdict = "WRONG" if bad else ("ok" if most is not None else "not checked: no policy")
        print(
            f"{target} {known.get('values', '')}: values off by {distance}, gain {most}: {verdict}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
