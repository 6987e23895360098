# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn learn --algorithm NAME` as a user meets it: baselines, their folders and refusals."""

import json
import signal
import subprocess
import time
import unittest

from command_test import VLEARN, CommandTest

THREE = "random:players=3,states=3,actions=2,horizon=3,seed=1"
ZERO_SUM = "random:players=2,states=3,actions=3,horizon=3,seed=4,kind=zero-sum"
CASES = (
    ("nash-vi", "nash", ZERO_SUM),
    ("multi-cce-vi", "cce", THREE),
    ("multi-ce-vi", "ce", THREE),
    ("plug-in", "cce", THREE),
    ("plug-in", "nash", ZERO_SUM),
    ("multi-cce-vi", "optimal", "chain"),
)
FILES = ("config.json", "result.json", "certificate.json", "metrics.jsonl")


class Baseline(CommandTest):
    def learn(self, game, algorithm, *arguments):
        options = ("--out", "run", "--force", "--quiet", "--json")
        text = self.good("learn", game, "--algorithm", algorithm, *arguments, *options)
        return json.loads(text)

    def test_every_algorithm_is_verified(self):
        for algorithm, target, game in CASES:
            with self.subTest(algorithm=algorithm, target=target):
                gap = "5" if target == "optimal" else "0.05"
                result = self.learn(game, algorithm, "--until-gap", gap, "--max-time", "60")
                self.assertEqual(result["schema"], "vlearn.baseline/1")
                self.assertEqual((result["algorithm"], result["target"]), (algorithm, target))
                self.assertEqual(result["stopped"], "gap")
                self.assertLessEqual(result["gap"]["upper"], float(gap))
                self.assertGreater(result["bytes"], 0)
                self.assertEqual(result["episodes"], result["output_episodes"])
                # Episodes at which it looks.
                self.assertEqual(result["episodes"] & (result["episodes"] - 1), 0)
                self.assertEqual("optimism_gap" in result, algorithm != "plug-in")
                accepted = self.good("verify", game, "run", "run/certificate.json")
                self.assertTrue(accepted.startswith("accepted"))
                # Certified again from its files it is the same, and it can be played.
                self.good("certify", "run", "-o", "again.json")
                self.assertEqual(
                    (self.folder / "again.json").read_bytes(),
                    (self.folder / "run/certificate.json").read_bytes(),
                )
                played = json.loads(self.good("play", "run", "--episodes", "2e3", "--json"))
                for player, certified in zip(played["players"], result["players"], strict=True):
                    # 6 standard errors: fails with probability 2e-9.
                    away = abs(player["mean_return"] - certified["value"])
                    self.assertLessEqual(away, 6 * player["standard_error"] + 1e-9)

    def test_the_same_seed_gives_the_same_bytes(self):
        texts = []
        for seed, threads in (("3", "1"), ("3", "2"), ("4", "1")):
            self.learn(
                THREE, "multi-ce-vi", "--episodes", "300", "--seed", seed, "--threads", threads
            )
            names = (*FILES, "policy/player-1.markov", "policy/player-3.seed")
            texts.append([(self.folder / "run" / name).read_bytes() for name in names])
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_the_optimism_gap_says_whether_it_is_a_bound(self):
        result = self.learn("rps", "nash-vi", "--episodes", "100")
        self.assertFalse(result["optimism_gap"]["proven"])
        arguments = ("--episodes", "100", "--vi-constant", "6", "--vi-bonus", "hoeffding")
        result = self.learn("rps", "nash-vi", *arguments, "--vi-output", "least")
        self.assertTrue(result["optimism_gap"]["proven"])
        # Certified gaps are widened by their rounding.
        self.assertGreaterEqual(
            result["optimism_gap"]["value"] + 1e-9, result["sum_of_gaps"]["upper"]
        )
        more = (*arguments, "--horizon-episodes", "50")
        self.assertFalse(self.learn("rps", "nash-vi", *more)["optimism_gap"]["proven"])
        config = json.loads((self.folder / "run/config.json").read_text())
        self.assertEqual((config["constant"], config["bonus"]), (6, "hoeffding"))
        text = self.good("learn", "rps", "--algorithm", "nash-vi", "--episodes", "9")
        self.assertIn("no bound", text)
        self.assertIn("certified nash gap", text)
        self.assertIn("runs/rps-nash-vi-1", text)

    def test_replanning_before_each_episode(self):
        result = self.learn("rps", "nash-vi", "--episodes", "64", "--vi-replan", "episode")
        self.assertEqual(result["plans"], 64 + 7)  # one more at each look

    def test_refusals(self):
        baseline = ("--algorithm", "nash-vi", "--episodes", "9")
        for arguments, code, words in (
            (("congestion-10", "--algorithm", "multi-cce-vi", "--episodes", "9"), 5, "10000000000"),
            (("congestion-10", "--algorithm", "multi-cce-vi", "--episodes", "9"), 5, "v-learning"),
            (("congestion-100", "--algorithm", "plug-in", "--episodes", "9"), 5, "can be counted"),
            (("rps", *baseline, "--max-memory", "1000"), 5, "the limit is 1000 bytes"),
            (("rps", *baseline, "--max-memory", "1.5"), 2, "--max-memory"),
            (("chicken", *baseline), 2, "multi-cce-vi"),
            (("rps", *baseline, "--target", "ce"), 2, "multi-ce-vi"),
            (("rps", *baseline, "--rule", "ftrl"), 2, "--rule: is for V-learning"),
            (("rps", *baseline, "--preset", "paper"), 2, "--preset: is for V-learning"),
            (("rps", *baseline, "--bonus", "paper"), 2, "--bonus: is for V-learning"),
            (("rps", *baseline, "--seeds", "2"), 2, "--seeds: is for V-learning"),
            (("rps", *baseline, "--monotone"), 2, "--monotone: is for V-learning"),
            (("--resume", "x", "--algorithm", "nash-vi"), 2, "--resume: is for V-learning"),
            (("rps", "--vi-constant", "1", "--episodes", "9"), 2, "--vi-constant"),
            (("rps", *baseline, "--vi-constant", "-1"), 2, "constant"),
            (("rps", *baseline, "--delta", "2"), 2, "delta"),
            (("rps", "--algorithm", "nash-vi", "--episodes", "1e10"), 2, "2^32"),
            (
                ("rps", "--algorithm", "plug-in", "--episodes", "9", "--vi-bonus", "hoeffding"),
                2,
                "nash-vi",
            ),
            (("rps", "--algorithm", "nash-vi"), 2, "nobody said when to stop"),
            (("--algorithm", "nash-vi", "--episodes", "9"), 2, "which game"),
            (("rps", "--algorithm", "nash", "--episodes", "9"), 2, "--algorithm"),
            (("rps", "--algorithm", "nash-vi", "--until-gap", "0"), 2, "--until-gap"),
            (("rps", "--algorithm", "nash-vi", "--max-time", "nan"), 2, "--max-time"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command(
                    "learn", *arguments, *(() if "--resume" in arguments else ("--out", "none"))
                )
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertFalse((self.folder / "none").exists())

    def test_what_is_not_reached(self):
        arguments = ("--algorithm", "nash-vi", "--episodes", "8", "--until-gap", "1e-9")
        done = self.run_command("learn", "rps", *arguments, "--out", "run", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (4, ""))
        self.good("verify", "rps", "run", "run/certificate.json")
        # A folder is not overwritten, and there is nothing to go on from.
        done = self.run_command("learn", "rps", *arguments, "--out", "run")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--force", done.stderr)
        done = self.run_command("learn", "--resume", "run")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nash-vi", done.stderr)
        # A run takes the place of another kind of run.
        self.good("learn", "rps", "--episodes", "10", "--out", "run", "--force", "--quiet")
        self.assertFalse(list((self.folder / "run/policy").glob("*.markov")))

    def test_an_interrupted_run_keeps_what_it_has(self):
        arguments = ("learn", THREE, "--algorithm", "plug-in", "--max-time", "60", "--out", "run")
        with subprocess.Popen(
            [VLEARN, *arguments, "--json"], cwd=self.folder, stdout=subprocess.PIPE
        ) as process:
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=30)[0]
        self.assertEqual(process.returncode, 130)
        self.assertEqual(json.loads(output)["stopped"], "interrupt")
        self.good("verify", THREE, "run", "run/certificate.json")

    def test_it_is_named_in_the_help(self):
        text = self.good("learn", "--help")
        for name in ("v-learning", "nash-vi", "multi-cce-vi", "multi-ce-vi", "plug-in"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
