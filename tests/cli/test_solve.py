# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn solve` as a user meets it: a plan, its certificate, and who verifies and plays it."""

import json
import unittest

from command_test import CommandTest

FOUR = "random:players=4,states=4,actions=3,horizon=4"


class Solve(CommandTest):
    def solve(self, game, *arguments):
        return json.loads(
            self.good("solve", game, "--out", "run", "--force", "--quiet", *arguments, "--json")
        )

    def test_every_plan_is_verified(self):
        for game, arguments, gap in (
            ("soccer", ("--target", "nash"), 1e-8),
            ("chicken", ("--target", "ce", "--select", "egalitarian"), 1e-9),
            ("chicken", ("--target", "cce", "--select", "player:2"), 1e-9),
            ("river-swim", (), 1e-4),
            ("congestion-10", ("--target", "cce", "--until-gap", "0.003"), 0.003),
            ("congestion-10", ("--target", "ce", "--until-gap", "0.03"), 0.03),
            ("congestion-100", ("--target", "cce", "--until-gap", "0.003"), 0.003),
            (FOUR, ("--method", "oftrl", "--until-gap", "4e-5"), 4e-5),
            (FOUR, ("--method", "lp"), 1e-9),
            (FOUR, ("--method", "oftrl", "--target", "ce", "--until-gap", "1e-3"), 1e-3),
        ):
            with self.subTest(game=game, arguments=arguments):
                result = self.solve(game, *arguments)
                self.assertLessEqual(result["gap"]["upper"], gap)
                self.assertAlmostEqual(result["gap"]["upper"], result["gap"]["lower"], delta=gap)
                self.assertEqual(result["stopped"], "gap")
                accepted = self.good("verify", game, "run", "run/certificate.json")
                self.assertTrue(accepted.startswith("accepted"))
                certificate = json.loads((self.folder / "run/certificate.json").read_text())
                self.assertEqual(certificate["output"], "table")
                self.assertEqual(certificate["gap"], result["gap"])
                # Certified again from its files it is the same.
                self.good("certify", "run", "-o", "again.json")
                self.assertEqual(
                    (self.folder / "again.json").read_bytes(),
                    (self.folder / "run/certificate.json").read_bytes(),
                )

    def test_it_is_played(self):
        result = self.solve("chicken", "--target", "ce", "--select", "egalitarian")
        self.assertAlmostEqual(result["players"][0]["value"], 5.25, delta=1e-9)
        played = json.loads(self.good("play", "run", "--episodes", "2e4", "--json"))
        self.assertEqual(played["output"], "table")
        for player in played["players"]:
            # 5 standard errors: fails with probability 6e-7.
            away = abs(player["mean_return"] - 5.25)
            self.assertLess(away, 5 * player["standard_error"])
        # Players who never both dare (0, 0) share an index.
        trace = self.good("play", "run", "--episodes", "200", "--trace").splitlines()
        for line in trace:
            actions = [player["action"] for player in json.loads(line)["players"]]
            self.assertNotEqual(actions, [2, 2])

    def test_files_are_the_same_for_any_number_of_threads(self):
        texts = []
        for threads in ("1", "3"):
            self.solve(FOUR, "--method", "oftrl", "--until-gap", "0.01", "--threads", threads)
            texts.append(
                [
                    (self.folder / "run" / name).read_bytes()
                    for name in ("certificate.json", "result.json", "policy/player-3.markov")
                ]
            )
        self.assertEqual(texts[0], texts[1])

    def test_a_damaged_certificate_is_refuted(self):
        self.solve("chicken", "--target", "ce")
        certificate = json.loads((self.folder / "run/certificate.json").read_text())
        value = certificate["players"][0]["value"]
        value.update(lower=value["lower"] + 1e-6, upper=value["upper"] + 1e-6)
        (self.folder / "bad.json").write_text(json.dumps(certificate))
        done = self.run_command("verify", "chicken", "run", "bad.json")
        self.assertEqual(done.returncode, 4)
        self.assertIn("players[0].value", done.stdout)

    def test_refusals(self):
        for arguments, code, words in (
            (("congestion-10", "--method", "lp"), 5, " bytes"),
            (("congestion-10", "--method", "lp"), 5, "oftrl"),
            (("chicken", "--target", "nash"), 2, "zero-sum"),
            (("chicken", "--target", "optimal"), 2, "one player"),
            (("chicken", "--select", "nobody"), 2, "player:N"),
            (("chicken", "--select", "player:3"), 2, "1 to 2"),
            (("chicken", "--select", "welfare", "--method", "oftrl"), 2, "--method lp"),
            (("soccer", "--select", "welfare"), 2, "cce and ce"),
            (("chicken", "--until-gap", "0"), 2, "--until-gap"),
            (("chicken", "--max-time", "-1"), 2, "--max-time"),
            (("nowhere.json",), 3, "nowhere.json"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command("solve", *arguments, "--out", "none")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertFalse((self.folder / "none").exists())

    def test_what_is_not_reached(self):
        arguments = ("congestion-10", "--until-gap", "1e-6", "--max-iterations", "50")
        done = self.run_command("solve", *arguments, "--out", "run")
        self.assertEqual(done.returncode, 4)
        self.assertIn("certified cce gap", done.stdout)
        self.assertIn("method oftrl: a linear program would have", done.stderr)
        self.good("verify", "congestion-10", "run", "run/certificate.json")
        done = self.run_command("solve", "rps", "--out", "run")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--force", done.stderr)
        done = self.run_command("learn", "--resume", "run")
        self.assertEqual(done.returncode, 2)
        self.assertIn("vlearn solve", done.stderr)
        # A run takes the place of another kind of run.
        self.good("learn", "rps", "--episodes", "10", "--out", "run", "--force", "--quiet")
        self.assertFalse(list((self.folder / "run/policy").glob("*.markov")))
        self.good("solve", "rps", "--out", "run", "--force", "--quiet")
        self.assertFalse(list((self.folder / "run/policy").glob("*.policy")))
        self.assertFalse(list((self.folder / "run").glob("checkpoint*")))


if __name__ == "__main__":
    unittest.main()
