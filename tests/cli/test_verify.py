# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn verify`: what a certificate says is derived again. Here it is made by hand, for a game of
one step, with a replay of `ftrl` that needs twenty lines; and its schema refuses what the reader
refuses."""

import copy
import hashlib
import json
import math
import struct
import unittest
from pathlib import Path

from command_test import CommandTest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/schema/vlearn.certificate-1.schema.json").read_text())
CHICKEN = [[(6, 6), (2, 7)], [(7, 2), (0, 0)]]
EPISODES = 400
GONE = object()


def played_policies(file):
    """What was played at each visit of the only (step, state): theta ~ exp(-eta G)."""
    data = file.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    assert header["rule"] == "ftrl" and not header["control_variate"]
    at = 16 + size
    first, episodes, runs, numbers, _ = struct.unpack_from("<5Q", data, at)
    assert (first, episodes, runs) == (0, EPISODES, 1)
    at += 40 + 8 * numbers + 8 * runs
    scores = struct.unpack_from(f"<{episodes}f", data, at)
    at += 6 * episodes
    actions = struct.unpack_from(f"<{episodes}B", data, at)
    horizon, losses, theta = 1, [0.0, 0.0], [0.5, 0.5]
    for t, (action, score) in enumerate(zip(actions, scores, strict=True), 1):
        yield theta
        losses = [(t - 1) / (horizon + t - 1) * loss for loss in losses]
        losses[action] += score
        losses = [loss - min(losses) for loss in losses]
        eta = math.sqrt(horizon * math.log(2) / (2 * t))
        weights = [math.exp(-eta * loss) for loss in losses]
        theta = [weight / sum(weights) for weight in weights]


def mixture_of(files):
    """sum_i alpha_n^i prod_j theta_j^i over joint actions."""
    mixture = [[0.0, 0.0], [0.0, 0.0]]
    profiles = zip(*(played_policies(file) for file in files), strict=True)
    for n, (first, second) in enumerate(profiles, 1):
        alpha = 2 / (1 + n)
        for a in range(2):
            for b in range(2):
                mixture[a][b] += alpha * (first[a] * second[b] - mixture[a][b])
    return mixture


def certificate_of(run):
    files = [run / "policy" / f"player-{j}.policy" for j in (1, 2)]
    mixture = mixture_of(files)
    rounding = 1e-9
    players = []
    for j, name in enumerate(("row", "column")):
        value = sum(mixture[a][b] * CHICKEN[a][b][j] for a in range(2) for b in range(2))
        marginal = [sum(row[b] for row in mixture) if j == 0 else sum(mixture[b]) for b in range(2)]
        answers = [
            sum(marginal[b] * (CHICKEN[a][b] if j == 0 else CHICKEN[b][a])[j] for b in range(2))
            for a in range(2)
        ]
        best = max(answers)
        players.append(
            {
                "player": j + 1,
                "name": name,
                "value": {"kind": "exact", "lower": value, "upper": value},
                "deviation": {"kind": "exact", "lower": best, "upper": best},
                "rounding": rounding,
                "gap": {
                    "lower": best - value - 2 * rounding,
                    "upper": best - value + 2 * rounding,
                },
                "witness": [1 + answers.index(best)],
            }
        )
    gaps = [player["gap"] for player in players]
    return {
        "schema": "vlearn.certificate/1",
        "version": "by hand",
        "game": "chicken",
        "game_hash": json.loads((run / "result.json").read_text())["game_hash"],
        "target": "cce",
        "output": "nested",
        "weights": 1,
        "episodes": EPISODES,
        "start": {"rule": "last", "episode": EPISODES + 1},
        "policy_hashes": [hashlib.sha256(file.read_bytes()).hexdigest() for file in files],
        "gap": {end: max(gap[end] for gap in gaps) for end in ("lower", "upper")},
        "sum": {end: sum(gap[end] for gap in gaps) for end in ("lower", "upper")},
        "players": players,
    }


# What is not a certificate, whatever the game: where, and what stands there instead.
DAMAGES = [
    (["schema"], "vlearn.certificate/2"),
    (["version"], GONE),
    (["game"], 1),
    (["game_hash"], "0"),
    (["target"], "equilibrium"),
    (["output"], "average"),
    (["output"], "markov"),
    (["weights"], 0),
    (["weights"], GONE),
    (["episodes"], GONE),
    (["output"], "table"),
    (["taper"], True),
    (["weights"], 1.5),
    (["episodes"], -1),
    (["start"], GONE),
    (["start", "rule"], "first"),
    (["start", "rule"], "uniform"),
    (["start", "episode"], GONE),
    (["start", "episode"], 0),
    (["policy_hashes"], GONE),
    (["policy_hashes"], []),
    (["policy_hashes", 0], "x" * 64),
    (["stream_hash"], "0" * 64),
    (["gap"], GONE),
    (["gap", "upper"], GONE),
    (["gap", "kind"], "exact"),
    (["sum", "upper"], "1"),
    (["players"], []),
    (["players"], {}),
    (["players", 0, "player"], 0),
    (["players", 0, "name"], GONE),
    (["players", 0, "names"], "row"),
    (["players", 0, "value", "lower"], GONE),
    (["players", 0, "value", "kind"], "upper"),
    (["players", 0, "deviation", "kind"], "upper"),
    (["players", 0, "deviation", "lower"], GONE),
    (["players", 0, "rounding"], -1),
    (["players", 0, "gap"], GONE),
    (["players", 0, "witness"], []),
    (["players", 0, "witness"], [0]),
    (["players", 0, "witness"], [65536]),
]
# What is one, and not true.
LIES = [
    (["game_hash"], "0" * 64),
    (["target"], "ce"),
    (["weights"], 2),
    (["policy_hashes", 1], "0" * 64),
    (["start"], {"rule": "uniform"}),
    (["start"], {"rule": "best", "episode": 200}),
    (["gap", "upper"], 2.0),
    (["sum", "lower"], 0.0),
    (["players", 0, "rounding"], 0.1),
    (["players", 1, "value"], {"kind": "exact", "lower": 5, "upper": 5}),
    (["players", 1, "gap", "upper"], 0.5),
]


def changed(certificate, path, value):
    result = copy.deepcopy(certificate)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return result


class Verify(CommandTest):
    def setUp(self):
        super().setUp()
        self.good(
            "learn",
            "chicken",
            *("--target", "cce", "--preset", "practical", "--rule", "ftrl"),
            *("--episodes", str(EPISODES), "--out", "run"),
        )
        self.certificate = certificate_of(self.folder / "run")

    def verify(self, certificate, *more, game="chicken", policies=("run",)):
        (self.folder / "certificate.json").write_text(json.dumps(certificate))
        return self.run_command("verify", game, *policies, "certificate.json", *more)

    def test_what_is_true_is_accepted(self):
        done = self.verify(self.certificate)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("accepted: gap ", done.stdout)
        self.assertIn("exact rationals", done.stdout)
        files = [f"run/policy/player-{j}.policy" for j in (2, 1)]
        done = self.verify(self.certificate, "--json", policies=files)
        verdict = json.loads(done.stdout)
        self.assertEqual(
            (done.returncode, verdict["accepted"], verdict["refuted"]), (0, True, None)
        )
        low, high = verdict["derived"][0]["value_lower"]
        value = self.certificate["players"][0]["value"]["upper"]
        self.assertLess(high - low, 1e-9)
        self.assertLess(abs(value - low), 1e-9)

    def test_what_is_not_is_refuted(self):
        for path, value in LIES:
            with self.subTest(path=path):
                lie = changed(self.certificate, path, value)
                self.assertTrue(Draft202012Validator(SCHEMA).is_valid(lie))
                done = self.verify(lie)
                self.assertEqual((done.returncode, done.stderr), (4, ""))
                self.assertTrue(done.stdout.startswith("refuted: "), done.stdout)
                verdict = json.loads(self.verify(lie, "--json").stdout)
                self.assertFalse(verdict["accepted"])
                self.assertIn(verdict["refuted"], done.stdout)
        done = self.verify(changed(self.certificate, ["players", 1, "deviation", "upper"], 9))
        self.assertEqual(done.returncode, 3)  # its kind does not say exact any more
        done = self.verify(self.certificate, game="prisoners-dilemma")
        self.assertEqual(done.returncode, 4)
        self.assertIn("game_hash", done.stdout)

    def test_schema_and_reader_refuse_the_same(self):
        Draft202012Validator.check_schema(SCHEMA)
        validator = Draft202012Validator(SCHEMA)
        self.assertEqual([error.message for error in validator.iter_errors(self.certificate)], [])
        for path, value in DAMAGES:
            shown = "gone" if value is GONE else json.dumps(value)[:40]
            with self.subTest(path=path, value=shown):
                bad = changed(self.certificate, path, value)
                self.assertFalse(validator.is_valid(bad), "the schema takes it")
                done = self.verify(bad)
                self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
                self.assertIn("certificate.json:", done.stderr)

    def test_files_that_cannot_be_read(self):
        policy = self.folder / "run/policy/player-1.policy"
        data = bytearray(policy.read_bytes())
        data[-9] ^= 1
        policy.write_bytes(data)
        done = self.verify(self.certificate)
        self.assertEqual(done.returncode, 3)
        self.assertIn("wrong checksum", done.stderr)
        done = self.verify(self.certificate, policies=("nowhere.policy",))
        self.assertEqual(done.returncode, 3)
        done = self.run_command("verify", "chicken", "certificate.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("vlearn verify GAME RUN CERTIFICATE", done.stderr)


if __name__ == "__main__":
    unittest.main()
