# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn deviate`: what a player could gain, by trying; and what data alone say of a run."""

import json
import unittest

from command_test import CommandTest

RANDOM = "random:players=3,states=3,actions=3,horizon=3,seed=4"
FEW = ("--episodes", "3000", "--rollouts", "3000")


class Deviate(CommandTest):
    def learn(self, game, *arguments):
        return json.loads(self.good("learn", game, "--out", "run", "--json", *arguments))

    def deviate(self, *arguments):
        return json.loads(self.good("deviate", "run", "--json", *FEW, *arguments))

    def assert_between(self, found, certified, share):
        """No bound is above the best deviation's gain; most of it was found."""
        for one, best in zip(found["players"], certified["players"], strict=True):
            # A bound is wrong with probability 0.01 at most; the seed is fixed.
            self.assertLessEqual(one["gain_lower"]["value"], best["gap"]["upper"])
            self.assertGreater(one["gain"]["value"], share * best["gap"]["lower"])
            self.assertGreater(one["gain"]["value"], one["gain_lower"]["value"])

    def test_finds_most_of_what_a_bad_run_has_left(self):
        for preset, target in (("fast", "cce"), ("practical", "ce"), ("practical", "cce")):
            arguments = ("--preset", preset, "--target", target, "--episodes", "60", "--force")
            certified = self.learn(RANDOM, *arguments)
            found = self.deviate()
            self.assert_between(found, certified, 0.4)
            # The policy that the certificate is about.
            self.assertEqual(found["output"], certified["output"])
            self.assertEqual(found["schema"], "vlearn.deviate/1")
            cells = 9 if target == "cce" else 27
            self.assertEqual({len(one["deviation"]) for one in found["players"]}, {cells})

    def test_runs_of_every_kind(self):
        self.run_command("solve", "chicken", "--target", "ce", "--out", "run")
        for one in self.deviate()["players"]:
            self.assertLess(one["gain_lower"]["value"], 0.0)  # it is an equilibrium
        arguments = ("--target", "nash", "--episodes", "3000", "--force")
        practical = ("--preset", "practical")
        for more in ((), (*practical, "--output", "nested"), ("--monotone", *practical)):
            self.learn("rps", *arguments, *more)
            found = self.deviate()
            certificate = json.loads(self.good("certify", "run", "--json"))
            self.assertEqual(found["output"], certificate["output"])
            lower = [one["gain_lower"]["value"] for one in found["players"]]
            self.assertEqual(len(lower), 2)
            self.assertLessEqual(sum(lower), certificate["sum"]["upper"])
            # Of two who earn each other's loss one gains half of both gains; a third was found.
            self.assertGreater(max(lower), certificate["sum"]["lower"] / 3.0 - 0.1)
        found = self.deviate("--player", "2", "--seed", "5")
        self.assertEqual([one["player"] for one in found["players"]], [2])

    def test_the_text_and_the_same_numbers_again(self):
        self.learn("prisoners-dilemma", "--preset", "practical", "--episodes", "20")
        text = self.good("deviate", "run", *FEW)
        self.assertIn("with probability 0.99: player", text)
        self.assertIn("at least", text)
        self.assertEqual(text, self.good("deviate", "run", *FEW))
        self.assertNotEqual(text, self.good("deviate", "run", *FEW, "--seed", "2"))
        text = self.good("deviate", "run", *FEW, "--start", "uniform")
        self.assertIn("start uniform", text)

    def test_refusals(self):
        self.learn("rps", "--episodes", "20", "--history", "none")
        done = self.run_command("deviate", "run")
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no policy files", done.stderr)
        self.learn("rps", "--episodes", "20", "--force")
        for arguments, words in (
            (("--player", "3"), "want 1 to 2"),
            (("--player", "0"), "want 1 to 2"),
            (("--confidence", "1"), "between 0 and 1"),
            (("--rollouts", "1"), "2 at least"),
            (("--episodes", "0"), "--episodes"),
            (("--output", "marginals", "--start", "uniform"), "--start"),
        ):
            done = self.run_command("deviate", "run", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)

    def test_data_alone_bound_what_the_law_says(self):
        """Fails with probability 0.01 at most for each run; seeds are fixed."""
        game = "random:players=2,states=2,actions=2,horizon=2,seed=1"
        for target in ("cce", "ce"):
            arguments = ("--target", target, "--preset", "rigorous", "--episodes", "1e5", "--force")
            result = self.learn(game, *arguments)
            data = result["data_certificate"]
            self.assertEqual((data["method"], data["kind"]), ("data", "upper"))
            self.assertEqual(data["confidence"], 0.99)
            self.assertEqual(data["start"], "last")
            self.good("certify", "run", "--start", "last")
            exact = json.loads((self.folder / "run/certificate.json").read_text())
            self.assertGreaterEqual(data["gap"]["upper"], exact["gap"]["upper"])
            self.assertLess(data["gap"]["upper"], 1.0)  # of 2: it says something
            for own, best in zip(data["players"], exact["players"], strict=True):
                self.assertLessEqual(own["value_lower"], best["value"]["lower"])
                self.assertGreaterEqual(own["value_upper"], best["value"]["upper"])
                self.assertGreaterEqual(own["deviation_upper"], best["deviation"]["upper"])
        text = self.good("learn", game, *arguments, "--out", "run", "--quiet")
        self.assertIn("from data alone, with probability 0.99: ce gap at most", text)
        self.assertNotIn("data_certificate", self.learn(game, "--episodes", "20", "--force"))

    def test_what_holds_with_a_probability_is_not_verified(self):
        self.learn("chicken", "--episodes", "20", "--preset", "practical")
        path = self.folder / "run/certificate.json"
        certificate = json.loads(path.read_text()) | {"method": {"name": "data", "confidence": 0.9}}
        path.write_text(json.dumps(certificate))
        done = self.run_command("verify", "chicken", "run", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("with probability 0.9", done.stderr)


if __name__ == "__main__":
    unittest.main()
