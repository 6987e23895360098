# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Games as NumPy arrays: read from JSON or safetensors, with the names that people use.

This is a second reading of docs/reference/game_format.md, written apart from the library's: it
serves tools that solve games and tests that compare the two. `read_game(path)` takes a `.json` file
that has `rules`, or a `.safetensors` file with any law.

A Game has `cells[layer][state]`, one layer in a stationary game, one per step otherwise. A cell has

    shape      how many actions each player has
    rewards    [player, joint action], in the file's units, the last player's action fastest
    rows       [joint action, next state], a sparse matrix; None where nothing follows

A congestion game is kept as such: its cells have `pay[route, n - 1]` and `rows[route, next state]`.
"""

import itertools
import json
import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from safetensors import safe_open
from scipy.sparse import csr_array

ANY = "*"


@dataclass
class Cell:
    shape: tuple
    rewards: np.ndarray
    rows: csr_array | None = None


@dataclass
class CongestionCell:
    routes: int
    pay: np.ndarray
    rows: np.ndarray
    base: np.ndarray


@dataclass
class Game:
    players: list
    horizon: int
    initial: np.ndarray
    cells: list
    states: list  # the names of each layer's states
    actions: dict = field(default_factory=dict)  # names: [layer, state, player] -> list
    zero_sum: bool = False

    def layer(self, h):
        return 0 if len(self.cells) == 1 else h

    def cell(self, h, s):
        return self.cells[self.layer(h)][s]

    def state_names(self, h):
        return self.states[self.layer(h) if len(self.states) > 1 else 0]

    def action_names(self, h, s, player):
        names = self.actions.get((self.layer(h), s, player))
        cell = self.cell(h, s)
        count = cell.routes if isinstance(cell, CongestionCell) else cell.shape[player]
        return names or numbers(count)

    @property
    def is_congestion(self):
        return isinstance(self.cells[0][0], CongestionCell)


def numbers(count):
    return [str(k + 1) for k in range(count)]


def names_of(value):
    return numbers(value) if isinstance(value, int) else list(value)


def state_lists(value):
    """The names of the states: one list for all steps, or one for each."""
    per_step = isinstance(value, list) and not isinstance(value[0], str)
    return [names_of(one) for one in value] if per_step else [names_of(value)]


def number(value):
    return float(Fraction(value)) if isinstance(value, str) else float(value)


def as_list(value):
    return value if isinstance(value, list) else [value]


def read_game(path):
    path = str(path)
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return game_from_json(json.load(file))
    return game_from_safetensors(path)


def uniform_value(game):
    """What each player earns in an episode in which everybody plays every action alike."""
    values = None
    for h in reversed(range(game.horizon)):
        now = np.zeros((len(game.players), len(game.cells[game.layer(h)])))
        for s in range(now.shape[1]):
            cell = game.cell(h, s)
            if game.is_congestion:
                share, others = 1 / cell.routes, len(game.players) - 1
                counts = np.array(
                    [
                        math.comb(others, n) * share**n * (1 - share) ** (others - n)
                        for n in range(others + 1)
                    ]
                )
                now[:, s] = (cell.pay @ counts).mean()
                row = (cell.base + (1 - cell.base.sum()) * share) @ cell.rows
            else:
                now[:, s] = cell.rewards.mean(axis=1)
                row = None if cell.rows is None else cell.rows.mean(axis=0)
            if values is not None:
                now[:, s] += values @ row
        values = now
    return values @ game.initial


# --------------------------------------------------------------------------------- safetensors


def game_from_safetensors(path):
    with safe_open(path, framework="numpy") as file:
        about = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    horizon = int(about["horizon"])
    stationary = about.get("stationary", "true") == "true"
    zero_sum = about.get("zero_sum", "false") == "true"
    layers = 1 if stationary else horizon
    ranges = arrays.get("ranges")
    if "R" in arrays:
        cells = cells_of_regular(arrays, layers, stationary)
    elif about.get("model", "table") == "congestion":
        cells = cells_of_congestion(arrays, layers)
    elif about.get("model", "table") == "polymatrix":
        cells = cells_of_polymatrix(arrays, layers)
    else:
        cells = cells_of_flat(arrays, layers, zero_sum)
    if zero_sum:
        for cell in (cell for layer in cells for cell in layer):
            cell.rewards = np.concatenate([cell.rewards, opposite(cell.rewards, ranges)])
    first = len(cells[0])
    initial = arrays.get("initial", np.eye(1, first)[0])
    text = json.loads(arrays["about"].tobytes()) if "about" in arrays else {}
    if "num_actions" in arrays:
        count = arrays["num_actions"].shape[-1]
    else:
        count = len(cells[0][0].shape)
    game = Game(
        players=names_of(text.get("players", count)),
        horizon=horizon,
        initial=initial,
        cells=cells,
        states=[numbers(len(layer)) for layer in cells],
        zero_sum=zero_sum,
    )
    if "states" in text:
        game.states = state_lists(text["states"])
    if "actions" in text:
        name_actions(game, text["actions"])
    return game


def opposite(rewards, ranges):
    """Player 2's rewards in a zero-sum game: their shares of the two ranges sum to one."""
    if ranges is None:
        return -rewards
    (low, high), (other_low, other_high) = np.broadcast_to(ranges, (2, 2))
    return other_low + (other_high - other_low) * (high - rewards) / (high - low)


def cells_of_regular(arrays, layers, stationary):
    """R with P or with sparse rows; the last step of a game that depends on it leads nowhere."""
    r = arrays["R"][None] if stationary else arrays["R"]
    states, shape = r.shape[2], r.shape[3:]
    joint = math.prod(shape)
    cells = []
    for h in range(layers):
        layer = []
        for s in range(states):
            rows = None
            if (stationary or h + 1 < layers) and "P" in arrays:
                p = arrays["P"][s] if stationary else arrays["P"][h, s]
                rows = csr_array(p.reshape(joint, states))
            elif stationary or h + 1 < layers:
                rows = sparse_rows(arrays, (h * states + s) * joint, joint, states)
            layer.append(Cell(shape, r[h, :, s].reshape(r.shape[1], joint), rows))
        cells.append(layer)
    return cells


def sparse_rows(arrays, first, count, following):
    begins = arrays["row_begins"][first : first + count + 1].astype(np.int64)
    part = slice(begins[0], begins[-1])
    return csr_array(
        (arrays["probabilities"][part], arrays["successors"][part], begins - begins[0]),
        shape=(count, following),
    )


def frame_of(arrays, layers):
    """For each layer and state the numbers of actions, and how many states follow."""
    states = [int(n) for n in np.broadcast_to(arrays["num_states"], layers)]
    actions = arrays["num_actions"]
    actions = np.broadcast_to(actions, (sum(states), actions.shape[-1]))
    cell = 0
    for h, count in enumerate(states):
        following = states[0] if layers == 1 else (states[h + 1] if h + 1 < layers else 0)
        for s in range(count):
            yield h, s, tuple(int(a) for a in actions[cell]), following
            cell += 1


def cells_of_flat(arrays, layers, zero_sum):
    cells = [[] for _ in range(layers)]
    at, row, dense = 0, 0, 0
    for h, _, shape, following in frame_of(arrays, layers):
        joint = math.prod(shape)
        payers = 1 if zero_sum else len(shape)
        rewards = arrays["rewards"][at : at + payers * joint].reshape(payers, joint)
        at += payers * joint
        rows = None
        if following and "row_begins" in arrays:
            rows = sparse_rows(arrays, row, joint, following)
        elif following:
            size = joint * following
            rows = csr_array(arrays["transitions"][dense : dense + size].reshape(joint, following))
            dense += size
        row += joint if following else 0
        cells[h].append(Cell(shape, rewards, rows))
    return cells


def cells_of_polymatrix(arrays, layers):
    """Expanded into a table over joint actions."""
    cells = [[] for _ in range(layers)]
    at, dense = 0, 0
    for c, (h, _, shape, following) in enumerate(frame_of(arrays, layers)):
        total = sum(shape)
        begins = np.concatenate([[0], np.cumsum(shape)])
        pay = arrays["rewards"][at : at + total * total].reshape(total, total)
        at += total * total
        laws = arrays["transitions"][dense : dense + total * following].reshape(total, following)
        dense += total * following
        share = 1 / len(shape)
        weights = arrays["weights"][c] if "weights" in arrays else np.full(len(shape), share)
        rewards = np.zeros((len(shape), math.prod(shape)))
        rows = np.zeros((math.prod(shape), following))
        for k, joint in enumerate(itertools.product(*map(range, shape))):
            places = begins[:-1] + np.array(joint)
            rewards[:, k] = pay[np.ix_(places, places)].sum(axis=1)
            rows[k] = weights @ laws[places]
        cells[h].append(Cell(shape, rewards, csr_array(rows) if following else None))
    return cells


def cells_of_congestion(arrays, layers):
    """All players must have all routes."""
    cells = [[] for _ in range(layers)]
    frame = list(frame_of(arrays, layers))
    base = arrays["base"]
    if any(set(shape) != {base.shape[1]} for _, _, shape, _ in frame):
        raise ValueError("somebody lacks a route somewhere")
    pay = arrays["rewards"].reshape(*base.shape, len(frame[0][2]))
    at = 0
    for c, (h, _, shape, following) in enumerate(frame):
        size = shape[0] * following
        rows = arrays["transitions"][at : at + size].reshape(shape[0], following)
        at += size
        cells[h].append(CongestionCell(shape[0], pay[c], rows, base[c]))
    return cells


# ---------------------------------------------------------------------------------------- JSON


def game_from_json(text):
    if "rules" not in text:
        raise ValueError("no rules: convert it to safetensors first")
    players = names_of(text["players"])
    horizon = text["horizon"]
    lists = state_lists(text.get("states", 1))
    per_step = len(lists) > 1
    stationary = not per_step and not any("step" in rule for rule in text["rules"])
    stationary = text.get("stationary", stationary)
    layers = 1 if stationary else horizon
    game = Game(players, horizon, None, [], lists, zero_sum=text.get("zero_sum", False))
    terminal = set(text.get("terminal", []))
    game.cells = [[None] * len(lists[h if per_step else 0]) for h in range(layers)]
    name_actions(game, text["actions"], terminal)
    initial = text.get("initial", lists[0][0])
    weights = initial if isinstance(initial, dict) else {initial: 1}
    game.initial = np.array([number(weights.get(name, 0)) for name in lists[0]])
    ranges = text.get("range", [0])
    law = Law(game, text["rules"], ranges if isinstance(ranges[0], list) else None)
    for h, layer in enumerate(game.cells):
        for s, name in enumerate(game.state_names(h)):
            follows = stationary or h + 1 < horizon
            layer[s] = law.end(h, name, follows) if name in terminal else law.cell(h, s, follows)
    law.check_all_used()
    return game


def name_actions(game, actions, terminal=()):
    rules = actions
    if not isinstance(actions, list) or not actions or not isinstance(actions[0], dict):
        per_player = actions if isinstance(actions, dict) else {ANY: actions}
        rules = [{"player": who, "actions": what} for who, what in per_player.items() if who != ANY]
        rules += [{"actions": per_player[ANY]}] if ANY in per_player else []
    for h in range(len(game.cells)):
        for s, state in enumerate(game.state_names(h)):
            for i, player in enumerate(game.players):
                if state in terminal:
                    game.actions[h, s, i] = ["-"]
                    continue
                rule = next(
                    rule
                    for rule in rules
                    if matches(rule.get("step", ANY), h + 1)
                    and matches(rule.get("state", ANY), state)
                    and matches(rule.get("player", ANY), player)
                )
                game.actions[h, s, i] = names_of(rule["actions"])


def matches(wanted, value):
    return wanted == ANY or value in as_list(wanted)


KEYS = {"step", "state", "actions", "count", "own", "reward", "payoffs", "next", "note"}


class Law:
    """The rules of a file, and a record of what each of them was good for."""

    def __init__(self, game, rules, ranges=None):
        self.game = game
        self.ranges = ranges  # of a zero-sum game that has two
        self.rules = rules
        self.used = [False] * len(rules)
        for k, rule in enumerate(rules):
            if unknown := rule.keys() - KEYS:
                raise ValueError(f"rule {k + 1}: unknown key {unknown}")

    def wanted_actions(self, rule):
        wanted = rule.get("actions", {})
        if isinstance(wanted, list):
            wanted = dict(zip(self.game.players, wanted, strict=True))
        return {who: what for who, what in wanted.items() if what != ANY}

    def named(self, rule):
        keys = {key for key in ("step", "state") if rule.get(key, ANY) != ANY}
        keys |= {key for key in ("count", "own") if key in rule}
        return frozenset(keys | {("actions", who) for who in self.wanted_actions(rule)})

    def matches(self, rule, h, state, joint):
        if len(self.game.cells) > 1 and not matches(rule.get("step", ANY), h + 1):
            return False
        if not matches(rule.get("state", ANY), state):
            return False
        wanted = self.wanted_actions(rule)
        if any(
            not matches(wanted.get(who, ANY), a)
            for who, a in zip(self.game.players, joint, strict=True)
        ):
            return False
        return all(joint.count(a) in as_list(n) for a, n in rule.get("count", {}).items())

    def rewards_of(self, rule, joint, offsets):
        """What the rule says: from players to numbers."""
        game = self.game
        own = rule.get("own", ANY)
        spoken = [i for i, a in enumerate(joint) if matches(own, a)]
        value = rule.get("reward")
        if "payoffs" in rule:
            value = rule["payoffs"]
            for offset in offsets:
                value = value[offset]
        if value is None:
            return {}
        if game.zero_sum:
            return {0: number(value), 1: float(opposite(number(value), self.ranges))}
        if isinstance(value, dict):
            return {i: number(value[p]) for i in spoken if (p := game.players[i]) in value}
        if isinstance(value, list):
            return {i: number(value[i]) for i in spoken}
        return {i: number(value) for i in spoken}

    def cell(self, h, s, follows):
        game = self.game
        state = game.state_names(h)[s]
        lists = [game.actions[h, s, i] for i in range(len(game.players))]
        shape = tuple(len(names) for names in lists)
        rewards = np.zeros((len(lists), math.prod(shape)))
        after = self.following(h) if follows else []
        rows = np.zeros((rewards.shape[1], len(after)))
        for k, offsets in enumerate(itertools.product(*map(range, shape))):
            joint = [names[a] for names, a in zip(lists, offsets, strict=True)]
            where = f"step {h + 1}, {state}, {joint}"
            paid, said, row = {}, {}, None
            for index, rule in enumerate(self.rules):
                if not self.matches(rule, h, state, joint):
                    continue
                speech = {**self.rewards_of(rule, joint, offsets)}
                if "next" in rule:
                    speech["next"] = rule["next"]
                for what, value in speech.items():
                    seen = said.setdefault(what, {})
                    if (keys := self.named(rule)) in seen:
                        raise ValueError(f"{where}: {what} specified twice")
                    seen[keys] = index
                    if what == "next":
                        self.used[index] |= row is None
                        row = value if row is None else row
                    else:
                        self.used[index] |= what not in paid
                        paid.setdefault(what, value)
            if len(paid) < len(lists):
                raise ValueError(f"{where}: unmatched reward")
            rewards[:, k] = [paid[i] for i in range(len(lists))]
            if follows:
                if row is None and len(after) > 1:
                    raise ValueError(f"{where}: unmatched next state")
                for name, p in probabilities(row, after).items():
                    rows[k, after.index(name)] = p
        return Cell(shape, rewards, csr_array(rows) if follows else None)

    def following(self, h):
        """The names of the states that come after a step that is not the last."""
        return self.game.states[h + 1 if len(self.game.states) > 1 else 0]

    def end(self, h, name, follows):
        count = len(self.game.players)
        row = [[float(other == name) for other in self.following(h)]] if follows else None
        return Cell((1,) * count, np.zeros((count, 1)), csr_array(row) if follows else None)

    def check_all_used(self):
        if not all(self.used):
            raise ValueError(f"rule {self.used.index(False) + 1} never applies")


def probabilities(row, names):
    row = row or names[0]
    if not isinstance(row, dict):
        return {row: 1.0}
    row = {name: number(p) for name, p in row.items()}
    if abs(sum(row.values()) - 1) > 1e-12:
        raise ValueError(f"probabilities {row} do not sum to one")
    return row
