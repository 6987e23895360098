# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn policy`: what an output policy does at one place, and on average everywhere."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

VLEARN = os.environ["VLEARN"]


def output_weights(shown, n):
    """alpha_n^i, times n + 1 - i where they are tapered, for i = 1, ..., n."""
    weights = alpha_weights(shown["weights"], n)
    if shown.get("taper"):
        weights = weights * np.arange(n, 0, -1)
    return weights / weights.sum()


def alpha_weights(c, n):
    """alpha_n^i = a_i prod_{j > i} (1 - a_j) for i = 1, ..., n."""
    rates = (c + 1) / (c + np.arange(1, n + 1))
    rest = np.append(np.cumprod((1 - rates[1:])[::-1])[::-1], 1.0)
    return rates * rest


class Policy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        for game, arguments in (
            ("fishery", ("--episodes", "3000", "--preset", "practical")),
            ("river-swim", ("--episodes", "300")),
            ("rps", ("--episodes", "40", "--seed", "7")),
            ("chicken", ("--episodes", "10", "--history", "none")),
        ):
            cls.run_command("learn", game, "--out", game, *arguments)

    @classmethod
    def run_command(cls, *arguments):
        command = [VLEARN, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=cls.folder)

    def good(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def show(self, *arguments):
        shown = json.loads(self.good("policy", "show", *arguments, "--json"))
        self.assertEqual(shown["schema"], "vlearn.policy-show/1")
        return shown

    def column(self, shown, name):
        return [action[name] for action in shown["actions"]]

    def test_the_start_is_the_default(self):
        shown = self.show("rps", "--episode", "last")
        place = ("--player", 1, "--step", 1, "--state", "start")
        self.assertEqual(shown, self.show("rps", *place, "--episode", "last"))
        self.assertEqual((shown["visits"], shown["episodes"], shown["episode"]), (40, 40, 41))
        self.assertEqual(shown["seed"], 7)
        weights = output_weights(shown, 40)
        mixture = shown["mixture"]
        self.assertAlmostEqual(mixture["last_weight"], weights[-1], 14)
        self.assertAlmostEqual(mixture["effective_visits"], 1 / (weights**2).sum(), 10)
        recent = np.cumsum(weights[::-1])
        for key, share in (("half", 0.5), ("ninety_percent", 0.9), ("ninety_nine_percent", 0.99)):
            self.assertEqual(mixture[key], 1 + np.searchsorted(recent, share))
        self.assertEqual([top["visit"] for top in shown["top_visits"]], [40, 39, 38, 37, 36])
        self.assertEqual([top["episode"] for top in shown["top_visits"]], [40, 39, 38, 37, 36])
        for top in shown["top_visits"]:
            self.assertAlmostEqual(top["weight"], weights[top["visit"] - 1], 14)
        self.assertEqual(self.column(shown, "last"), shown["top_visits"][0]["policy"])

    def test_what_is_executed_is_the_default(self):
        """The output draws from the visits before the certified start."""
        start = json.loads((self.folder / "rps" / "certificate.json").read_text())["start"]
        self.assertLess(start["episode"], 41)
        self.assertEqual(self.show("rps"), self.show("rps", "--episode", start["episode"]))

    def test_averages_are_sums_over_all_visits(self):
        # Every visit's own policy and action: the last of those before the next episode.
        visits = [self.show("rps", "--episode", k + 1)["top_visits"][0] for k in range(1, 41)]
        self.assertEqual([visit["visit"] for visit in visits], list(range(1, 41)))
        shown = self.show("rps", "--episode", "last")
        weights = output_weights(shown, 40)
        averaged = weights @ np.array([visit["policy"] for visit in visits])
        np.testing.assert_allclose(self.column(shown, "averaged"), averaged, rtol=0, atol=1e-14)
        played = np.zeros(3)
        for weight, visit in zip(weights, visits, strict=True):
            played[visit["action"] - 1] += weight
        np.testing.assert_allclose(self.column(shown, "played"), played, rtol=0, atol=1e-14)

    def test_names_and_numbers(self):
        place = ("fishery", "--step", 2)
        by_name = self.show(*place, "--player", "south", "--state", "2")
        self.assertEqual(by_name, self.show(*place, "--player", 2, "--state", 3))
        # A name comes before a number: the third state is called 2, and none is called 3.
        self.assertEqual((by_name["state"], by_name["state_name"]), (3, "2"))
        extinct = self.show(*place, "--state", "extinct")
        self.assertEqual((extinct["state"], self.column(extinct, "name")), (4, ["-"]))

    def test_text(self):
        text = self.good(
            "policy", "show", "fishery", "--player", "south", "--step", "2", "--state", "6"
        )
        for words in (
            "fishery/policy/player-2.policy",
            "'south' (2) of 2, target cce, rule tsallis",
            "step 2 of 4, state '6' (1)",
            "in 3000 episodes",
            "averaged",
        ):
            self.assertIn(words, text)
        self.assertEqual([line for line in text.splitlines() if line != line.rstrip()], [])

    def test_an_opponent_without_a_choice_is_not_counted(self):
        self.good(
            "learn", "river-swim", "--monotone", "--episodes", "50", "--out", "monotone", "--quiet"
        )
        self.assertIn("'swimmer' (1) of 1", self.good("policy", "show", "monotone"))
        arguments = ("policy", "table", "monotone", "-o", "monotone.safetensors", "--json")
        self.assertEqual(json.loads(self.good(*arguments))["shape"], [1, 20, 6, 2])

    def test_several_first_states(self):
        for what in ("river-swim", "river-swim/policy/player-1.policy"):
            self.assertIn("the likeliest of the first states", self.good("policy", "show", what))
            self.assertIn("there are 2: 2, 3", self.good("policy", "show", what))
            self.assertIn(self.show(what)["state"], (2, 3))

    def test_unvisited_places_are_uniform(self):
        for arguments in (("--state", "extinct"), ("--episode", "1")):
            text = self.good("policy", "show", "fishery", *arguments)
            self.assertIn("never visited: uniform to the end", text)
            shown = self.show("fishery", *arguments)
            self.assertEqual((shown["visits"], shown["top_visits"]), (0, []))
            averaged = self.column(shown, "averaged")
            self.assertEqual(averaged, [1 / len(averaged)] * len(averaged))
            self.assertNotIn("mixture", shown)

    def test_a_file_alone_has_numbers(self):
        file = "fishery/policy/player-2.policy"
        alone = self.show(file, "--step", 2, "--state", 1)
        within = self.show("fishery", "--player", 2, "--step", 2, "--state", "6")
        self.assertEqual((alone["player_name"], alone["state_name"]), ("2", "1"))
        self.assertEqual(self.column(alone, "name"), ["1", "2", "3", "4"])
        for name in ("averaged", "last", "played"):
            self.assertEqual(self.column(alone, name), self.column(within, name))
        self.assertEqual(alone["top_visits"], within["top_visits"])

    def test_tables(self):
        for run, episode in (("fishery", "last"), ("fishery", "1000"), ("rps", "last")):
            file = self.folder / "table.safetensors"  # replaced, as all outputs are
            arguments = ("policy", "table", run, "--episode", episode, "-o", file)
            shape = json.loads(self.good(*arguments, "--json"))["shape"]
            arrays = load_file(file)
            self.assertEqual(set(arrays), {"averaged_policy", "last_policy", "visits", "commit"})
            self.assertEqual(list(arrays["averaged_policy"].shape), shape)
            self.assertEqual(list(arrays["last_policy"].shape), shape)
            self.assertEqual(list(arrays["visits"].shape), shape[1:3])
            with safe_open(file, "np") as opened:
                metadata = opened.metadata()
            self.assertEqual(metadata["format"], "vlearn.policy-table/1")
            for h in range(shape[1]):
                for s in range(shape[2] if h > 0 else 1):
                    for player in range(shape[0]):
                        place = ("--player", player + 1, "--step", h + 1)
                        # Numbers, since in a file there are no names.
                        path = f"{run}/policy/player-{player + 1}.policy"
                        shown = self.show(path, *place, "--state", s + 1, "--episode", episode)
                        self.assertEqual(metadata["episode"], str(shown["episode"]))
                        self.assertEqual(metadata["game_hash"], shown["game_hash"])
                        self.assertEqual(arrays["visits"][h, s], shown["visits"])
                        for array, name in (
                            ("averaged_policy", "averaged"),
                            ("last_policy", "last"),
                        ):
                            row = np.zeros(shape[3])
                            row[: len(shown["actions"])] = self.column(shown, name)
                            np.testing.assert_array_equal(arrays[array][player, h, s], row)

    def test_the_last_policy_is_not_the_next(self):
        # What bandits would play next stands in tables.safetensors; a mixture ends before it.
        current = load_file(self.folder / "rps/tables.safetensors")["current_policy"]
        self.good("policy", "table", "rps", "-o", self.folder / "t.safetensors")
        last = load_file(self.folder / "t.safetensors")["last_policy"]
        self.assertFalse(np.array_equal(current, last))

    def test_refusals(self):
        show = ("policy", "show")
        for arguments, code, words in (
            ((*show, "fishery", "--player", "west"), 2, ("--player", "2: north, south")),
            ((*show, "fishery", "--player", "3"), 2, ("--player", "2: north, south")),
            ((*show, "fishery", "--player", "0"), 2, ("--player",)),
            ((*show, "fishery", "--step", "5"), 2, ("--step", "4: 1, 2, 3, 4")),
            ((*show, "fishery", "--state", "mud"), 2, ("--state", "step 1", "4: 6, 4, 2, extinct")),
            ((*show, "fishery", "--step", "2"), 2, ("--state", "4: 6, 4, 2, extinct")),
            ((*show, "fishery", "--episode", "3002"), 2, ("--episode", "1 to 3001")),
            ((*show, "fishery", "--episode", "0"), 2, ("--episode",)),
            ((*show, "fishery/policy/player-2.policy", "--player", "1"), 2, ("player 2's",)),
            ((*show, "chicken"), 3, ("--history none",)),
            ((*show, "nowhere"), 3, ("nowhere",)),
            ((*show, "rps/config.json"), 3, ("config.json",)),
            (("policy", "table", "rps"), 2, ("--out",)),
            (("policy", "table", "rps/policy/player-1.policy", "-o", "x"), 2, ("run folder",)),
            (("policy", "table", "rps", "-o", "no/where"), 2, ("no/where",)),
            (("policy",), 2, ("policy --help",)),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command(*arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                for word in words:
                    self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
