# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/policy_format.md as a program: who has the page can replay a policy file.

Everything here is written from the page alone, in plain loops over Python's floats. Files of every
rule are replayed visit by visit; every snapshot in the file, the averages and last policies that
`vlearn policy table` states, and the policies that the run would play next must come out.
"""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path

from safetensors.numpy import load_file

VLEARN = os.environ["VLEARN"]
TOLERANCE = 1e-12

# ------------------------------------------------------------------------- "Layout" to "Segment"


@dataclass
class Visit:
    action: int
    score: float
    mean: float


@dataclass
class Run:
    """The visits of one cell in one segment."""

    cell: int
    visits: list


@dataclass
class Segment:
    runs: list
    snapshots: list


@dataclass
class PolicyFile:
    header: dict
    segments: list = field(default_factory=list)

    @property
    def num_states(self):
        return [number for number, often in self.header["states"] for _ in range(often)]

    @property
    def num_actions(self):
        return [number for number, often in self.header["actions"] for _ in range(often)]

    @property
    def horizon(self):
        return len(self.num_states)


def read_policy(path):
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    file = PolicyFile(json.loads(data[8 : 8 + size]))
    with_means = file.header["control_variate"]
    wide = max(file.num_actions) > 256
    at = 16 + size

    def take(count, letter):
        nonlocal at
        values = struct.unpack_from(f"<{count}{letter}", data, at)
        at += struct.calcsize(f"<{count}{letter}")
        return values

    while at < len(data):
        _, episodes, runs, numbers, _ = take(5, "Q")
        visits = episodes * file.horizon
        snapshots = list(take(numbers, "d"))
        directory = take(2 * runs, "I")
        scores = take(visits, "f")
        means = take(visits, "f") if with_means else [0.0] * visits
        take(visits, "H")  # episodes
        actions = take(visits, "H" if wide else "B")
        at += -at % 8
        all_visits = [Visit(*visit) for visit in zip(actions, scores, means, strict=True)]
        segment = Segment([], snapshots)
        begin = 0
        for cell, count in zip(directory[::2], directory[1::2], strict=True):
            segment.runs.append(Run(cell, all_visits[begin : begin + count]))
            begin += count
        file.segments.append(segment)
    return file


# --------------------------------------------------------------------------- "What a visit does"


def eta(rule, t, B, H, L):
    predictive = t / (H + t)

    def big_lambda(p):
        return (math.log(B) + (L + p * math.log(B)) / 2) / 1.5

    return {
        "ftrl": lambda: math.sqrt(H * math.log(B) / (B * t)),
        "ftrl-predictive": lambda: math.sqrt(H * math.log(B) / (B * (t + 1))) * predictive,
        "ftrl-rigorous": lambda: math.sqrt(H * big_lambda(1) / (B * (t + 1))) * predictive,
        "ftrl-swap": lambda: math.sqrt(H * math.log(B) / t),
        "ftrl-swap-rigorous": lambda: math.sqrt(H * big_lambda(2) / (t + 1)) * predictive,
        "exp3-ix": lambda: math.sqrt((H + 1) * math.log(B) / (B * t)),
        "tsallis": lambda: 2 * math.sqrt((H + 1) / t),
        "log-barrier": lambda: math.sqrt((H + 1) * B * t.bit_length() / t),
        # Divided by the noise of the row.
        "optimistic": lambda: 1.5 * max(1, B / 3) ** 0.25,
        "optimistic-nash": lambda: 0.8 * max(1, B / 3) ** 0.5,
        "optimistic-swap": lambda: 1.25 * max(1, B / 3) ** 0.25,
        "optimistic-rigorous": lambda: 1.0,
        "optimistic-swap-rigorous": lambda: 1.0,
    }[rule]()


def nu(t, B, H, L, swap):
    big_lambda = L + (B if swap else 1) * math.log(B)
    return min(1 / (2 * B), math.sqrt(0.75 * (H + 0.5) * big_lambda / (B * t)))


def divided_by_sum(numbers):
    total = sum(numbers)
    return [number / total for number in numbers]


def entropy(G, eta):
    return divided_by_sum([math.exp(-min(eta * g, 708.0)) for g in G])


def root(z, p):
    """The y with sum(1/(z + y)^p) = 1, by plain bisection: the page says what y is."""
    low, high = 1.0, len(z) ** (1 / p) + 1
    for _ in range(200):
        y = (low + high) / 2
        if sum(1 / (number + y) ** p for number in z) > 1:
            low = y
        else:
            high = y
    return low


def inverse_power(z, p):
    y = root(z, p)
    return divided_by_sum([1 / (number + y) ** p for number in z])


def potential(rule, G, eta):
    if rule == "tsallis" or rule.startswith("optimistic"):
        return inverse_power([eta * g / 2 for g in G], 2)
    if rule == "log-barrier":
        return inverse_power([eta * g for g in G], 1)
    return entropy(G, eta)


def stationary(T):
    T = [[max(entry, 1e-300) for entry in row] for row in T]
    B = len(T)
    for k in range(B - 1, 0, -1):
        s = sum(T[k][:k])
        for j in range(k):
            T[k][j] /= s
        for i in range(k):
            for j in range(k):
                T[i][j] += T[i][k] * T[k][j]
            T[i][k] /= s
    theta = [1.0]
    for k in range(1, B):
        theta.append(sum(theta[i] * T[i][k] for i in range(k)))
    return divided_by_sum(theta)


class Bandit:
    """The state of "Snapshots and replay", and a visit of it."""

    def __init__(self, header, horizon, B):
        self.rule = header["rule"]
        self.variate = header["control_variate"]
        self.L = header["rule_parameter"]
        self.H = horizon
        self.B = B
        self.t = 0
        self.swap = "swap" in self.rule
        self.scaled = self.rule.startswith("optimistic")
        self.cuts = self.scaled and self.rule.endswith("rigorous")
        self.c = {"optimistic": 2, "optimistic-nash": 1, "optimistic-swap": 3}.get(
            self.rule, horizon
        )
        self.theta = [1 / B] * B
        self.m = [0.5] * B
        self.n = [0] * B
        self.rows = [[0.0] * B for _ in range(B if self.swap else 1)]
        self.D = [0.0] * len(self.rows)
        self.M = [0.0] * len(self.rows)

    @property
    def interval(self):
        if self.swap:
            return max(40 if self.cuts else 36 if self.scaled else 32, self.B)
        if self.cuts:
            return max(50, 4 * self.B)
        return max(64, (10 if self.scaled else 12) * self.B)

    def snapshot(self):
        numbers = list(self.theta) if self.swap and not self.scaled else []
        if self.variate:
            numbers += [*self.m, *self.n]
        for row in self.rows:
            numbers += row
        if self.scaled:
            numbers += self.D
        return numbers + self.M if self.scaled and not self.cuts else numbers

    def restore(self, numbers):
        """What is left of a snapshot that agrees: a replay goes on with the file's own numbers."""
        rest = iter(numbers)

        def take(count):
            return [next(rest) for _ in range(count)]

        if self.swap and not self.scaled:
            self.theta = take(self.B)
        if self.variate:
            self.m, self.n = take(self.B), take(self.B)
        self.rows = [take(self.B) for _ in self.rows]
        if self.scaled:
            self.D = take(len(self.rows))
        if self.scaled and not self.cuts:
            self.M = take(len(self.rows))

    def row_policy(self, r):
        rate = eta(self.rule, self.t, self.B, self.H, self.L)
        if self.cuts:
            t, H = self.t, self.H
            guard = 3 * ((H + t) / t) ** 2 / nu(t + 1, self.B, H, self.L, self.swap)
            rate /= math.sqrt(self.D[r] + guard)
        elif self.scaled:
            rate /= math.sqrt(self.D[r] + self.M[r] + 0.12 / len(self.rows) ** 2)
        return potential(self.rule, self.rows[r], rate)

    def cut(self, t):
        limit = 4 * nu(t, self.B, self.H, self.L, self.swap)
        return [min(m, p / limit) for m, p in zip(self.m, self.theta, strict=True)]

    def add_cut_noise(self, visit, decay, cut):
        a, B = visit.action, self.B
        for r in range(len(self.rows)):
            if self.swap:
                T = self.row_policy(r) if self.t > 0 else [1 / B] * B
                weight = self.theta[r]
            else:
                T, weight = self.theta, 1.0
            more = T[a] ** 1.5 * visit.score**2
            more += sum(T[b] ** 1.5 * (cut[b] - cut[a]) ** 2 for b in range(B))
            self.D[r] = decay**2 * self.D[r] + weight**2 * more / (4 * (math.sqrt(B) + 1))

    def add_noise(self, visit, decay):
        a, B, x = visit.action, self.B, visit.score
        s = visit.mean * (self.c + 1 + self.n[a]) / (self.c + 1)
        middle = sum(self.m) / B
        v = sum((m - middle) ** 2 for m in self.m) / B
        for r in range(len(self.rows)):
            noise, drop = abs(s) ** 1.5 * abs(x) ** 0.5 + 0.3 * v, abs(s * x)
            if self.swap:
                # The chain before the visit; all rows are uniform before the first.
                T = self.row_policy(r)[a] if self.t > 0 else 1 / B
                noise = self.theta[r] ** 2 * (T**1.5 * x * x + 0.3 * v)
                drop = self.theta[r] ** 2 * T * x * x
            self.D[r] = decay**2 * self.D[r] + noise
            self.M[r] = max(decay**2 * self.M[r], drop if x < 0 else 0.0)

    def visit(self, visit):
        t, a, B = self.t + 1, visit.action, self.B
        decay = (t - 1) / (self.c + t - 1)
        used = self.m
        if self.cuts:
            used = self.cut(t)
            self.add_cut_noise(visit, decay, used)
        elif self.scaled:
            self.add_noise(visit, decay)
        self.t = t
        for b, row in enumerate(self.rows):
            share = self.theta[b] if self.swap else 1.0
            for i in range(B):
                row[i] = decay * row[i] + (share * used[i] if self.variate else 0.0)
            row[a] += share * visit.score
            least = min(row)
            for i in range(B):
                row[i] -= least
        if self.swap:
            self.theta = stationary([self.row_policy(r) for r in range(B)])
        else:
            self.theta = self.row_policy(0)
        if self.variate:
            self.m[a] += visit.mean
            if self.cuts:
                self.m[a] = min(1.0, max(0.0, self.m[a]))
            self.n[a] += 1


# -------------------------------------------------------------------------------------- the test

RULES = (
    "ftrl",
    "ftrl-predictive",
    "ftrl-rigorous",
    "exp3-ix",
    "tsallis",
    "log-barrier",
    "optimistic",
    "optimistic-nash",
    "optimistic-rigorous",
    "ftrl-swap",
    "ftrl-swap-rigorous",
    "optimistic-swap",
    "optimistic-swap-rigorous",
)
# Cells with one, two and more actions; actions that need two bytes; several segments.
GAMES = {
    "random:players=2,states=2,actions=5,horizon=4,seed=4": 400,
    "lock:horizon=2,actions=2,players=2,success=0.5": 150,
}
MANY_ACTIONS = "random:players=2,states=1,actions=300,horizon=1"


class ReplayFromThePage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def command(self, *arguments):
        done = subprocess.run(
            [VLEARN, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def close(self, found, stated, what):
        for one, other in zip(found, stated, strict=True):
            self.assertLessEqual(abs(one - other), TOLERANCE * (1 + abs(other)), what)

    def replay(self, run, player):
        """Compares everything that the run states about one player; returns what was compared."""
        file = read_policy(self.folder / run / "policy" / f"player-{player}.policy")
        header = file.header
        table = load_file(self.folder / run / "table.safetensors")
        tables = load_file(self.folder / run / "tables.safetensors")
        first_cell = [sum(file.num_states[:h]) for h in range(file.horizon)]
        place_of = [(h, s) for h in range(file.horizon) for s in range(file.num_states[h])]
        bandits = [Bandit(header, file.horizon, B) for B in file.num_actions]
        last = [None] * len(bandits)
        average = [None] * len(bandits)
        snapshots = 0
        for segment in file.segments:
            at = 0
            for one in segment.runs:
                bandit = bandits[one.cell]
                for visit in one.visits:
                    # The policy of this visit, and its part in the average of all so far.
                    last[one.cell] = bandit.theta
                    c, i = header["weights"], bandit.t + 1
                    weight = (c + 1) / (c + i)
                    if header.get("taper"):
                        left = (c + 2) * (table["visits"][place_of[one.cell]] + 1 - i)
                        weight *= left / (left + i - 1)
                    before = average[one.cell] or bandit.theta
                    average[one.cell] = [
                        p + weight * (q - p) for p, q in zip(before, bandit.theta, strict=True)
                    ]
                    bandit.visit(visit)
                    if bandit.t % bandit.interval == 0:
                        own = bandit.snapshot()
                        stated = segment.snapshots[at : at + len(own)]
                        self.close(own, stated, f"snapshot after visit {bandit.t}")
                        bandit.restore(stated)
                        at += len(own)
                        snapshots += 1
            self.assertEqual(at, len(segment.snapshots))
        policies = 0
        for h, begin in enumerate(first_cell):
            for s in range(file.num_states[h]):
                cell = begin + s
                B = file.num_actions[cell]
                place = (player - 1, h, s)
                self.assertEqual(bandits[cell].t, table["visits"][h, s])
                self.close(bandits[cell].theta, tables["current_policy"][place][:B], "next policy")
                if last[cell] is None:
                    continue
                self.close(last[cell], table["last_policy"][place][:B], "last policy")
                self.close(average[cell], table["averaged_policy"][place][:B], "average")
                policies += 1
        return snapshots, policies, len(file.segments)

    def check(self, game, rule, variate, episodes):
        run = f"{rule}-{variate}-{episodes}"
        target = "ce" if "swap" in rule else "cce"
        self.command(
            *("learn", game, "--target", target, "--rule", rule, "--control-variate", variate),
            *("--episodes", episodes, "--certify", "off", "--out", run, "--force"),
        )
        self.command("policy", "table", run, "-o", f"{run}/table.safetensors")
        compared = [self.replay(run, player) for player in (1, 2)]
        for snapshots, policies, _ in compared:
            self.assertGreater(policies, 0)
            if episodes >= 400:
                self.assertGreater(snapshots, 0)
        return compared

    def test_every_rule(self):
        for game, episodes in GAMES.items():
            for rule in RULES:
                # These have control variates always.
                for variate in ("on",) if rule.startswith("optimistic") else ("on", "off"):
                    with self.subTest(game=game, rule=rule, control_variate=variate):
                        self.check(game, rule, variate, episodes)

    def test_many_actions_take_two_bytes(self):
        self.check(MANY_ACTIONS, "tsallis", "off", 60)

    def test_the_next_segment_goes_on(self):
        ((_, _, segments), _) = self.check("rps", "ftrl", "off", 70_000)
        self.assertEqual(segments, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
