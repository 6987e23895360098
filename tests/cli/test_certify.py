# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Certificates as a user meets them: while a run learns, from its files, and checked."""

import json
import unittest
from pathlib import Path

from command_test import CommandTest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/schema/vlearn.certificate-1.schema.json").read_text())

ZERO_SUM = "random:players=2,states=3,actions=3,horizon=3,kind=zero-sum,seed=5"
FOUR = "random:players=4,states=3,actions=2,horizon=4,seed=11"
# A preset that returns the paper's nested policy.
NESTED = ("--preset", "practical")


class Certify(CommandTest):
    def learn(self, game, *arguments):
        return json.loads(self.good("learn", game, "--out", "run", *arguments, "--json"))

    def certificate(self):
        return json.loads((self.folder / "run/certificate.json").read_text())

    def test_until_a_gap(self):
        gap = ("--until-gap", "0.2")
        result = self.learn(FOUR, "--target", "cce", *gap, "--seed", "3", *NESTED)
        self.assertEqual(result["stopped"], "gap")
        self.assertLessEqual(result["gap"]["upper"], 0.2)
        self.assertLessEqual(result["gap"]["lower"], result["gap"]["upper"])
        self.assertEqual(len(result["players"]), 4)
        self.assertEqual(result["agent_steps"], 16 * result["episodes"])
        certificate = self.certificate()
        self.assertEqual(certificate["gap"], result["gap"])
        for certified, player in zip(certificate["players"], result["players"], strict=True):
            self.assertEqual(certified["value"]["kind"], "exact")
            self.assertEqual(certified["value"]["lower"], player["value"])
        accepted = self.good("verify", FOUR, "run", "run/certificate.json")
        self.assertTrue(accepted.startswith("accepted"))
        # The rows say how it came there.
        rows = [
            json.loads(line)
            for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()
        ]
        self.assertGreater(rows[0]["certified_gap"], rows[-1]["certified_gap"])
        # Executions start where the certificate says, and earn what it says.
        played = json.loads(self.good("play", "run", "--episodes", "2e4", "--json"))
        self.assertEqual(played["start"], str(certificate["start"]["episode"]))
        for certified, player in zip(certificate["players"], played["players"], strict=True):
            away = abs(player["mean_return"] - certified["value"]["lower"])
            # 4.5 standard errors: fails with probability 3e-5 for all four.
            self.assertLess(away, 4.5 * player["standard_error"])

    def test_until_a_gap_by_default(self):
        for game, target, output in (
            (FOUR, "cce", "markov"),
            (FOUR, "ce", "markov"),
            (ZERO_SUM, "nash", "marginals"),
        ):
            with self.subTest(game=game, target=target):
                gap = ("--until-gap", "0.06", "--force")
                result = self.learn(game, "--target", target, *gap)
                self.assertEqual((result["preset"], result["stopped"]), ("fast", "gap"))
                self.assertEqual(result["output"], output)
                self.assertLessEqual(result["gap"]["upper"], 0.06)
                # A Markov policy's gap is known, not bounded.
                self.assertAlmostEqual(result["gap"]["lower"], result["gap"]["upper"], delta=1e-9)
                accepted = self.good("verify", game, "run", "run/certificate.json")
                self.assertTrue(accepted.startswith("accepted"))
                certificate = self.certificate()
                self.assertEqual((certificate["output"], certificate["weights"]), (output, 3))
                self.assertTrue(certificate["taper"])
                # The last row is the certificate's, and never less.
                row = json.loads((self.folder / "run/metrics.jsonl").read_text().splitlines()[-1])
                self.assertGreaterEqual(row["certified_gap"], result["gap"]["upper"])
                self.assertLess(row["certified_gap"], result["gap"]["upper"] + 1e-9)
                played = json.loads(self.good("play", "run", "--episodes", "2e4", "--json"))
                self.assertEqual(certificate["start"]["rule"], "best")
                start = str(certificate["start"]["episode"])
                self.assertEqual((played["output"], played["start"]), (output, start))
                for certified, player in zip(
                    certificate["players"], played["players"], strict=True
                ):
                    away = abs(player["mean_return"] - certified["value"]["lower"])
                    # 4.5 standard errors: fails with probability 1e-4 for all ten.
                    self.assertLess(away, 4.5 * player["standard_error"])

    def test_markov_outputs_without_a_history(self):
        for game, target in ((FOUR, "cce"), (FOUR, "ce"), (ZERO_SUM, "nash")):
            with self.subTest(game=game, target=target):
                more = ("--history", "none", "--force")
                result = self.learn(game, "--target", target, "--episodes", "400", *more)
                one = self.certificate()
                self.assertEqual(len(one["stream_hash"]), 64)
                self.assertEqual(one["gap"], result["gap"])
                text = self.good("verify", "--replay", game, "run", "run/certificate.json")
                self.assertTrue(text.startswith("accepted"))
                one["players"][1]["deviation"]["upper"] += 1e-6
                one["players"][1]["deviation"]["lower"] += 1e-6
                (self.folder / "bad.json").write_text(json.dumps(one))
                done = self.run_command("verify", "--replay", game, "run", "bad.json")
                self.assertEqual(done.returncode, 4)

    def test_outputs_that_a_run_cannot_return(self):
        for arguments, words in (
            ((ZERO_SUM, "--output", "markov"), "use --output marginals"),
            ((FOUR, "--output", "marginals"), "use --output markov"),
            (("congestion-10", "--output", "markov"), "use --output nested"),
            (("rps", "--output-weights", "0"), "--output-weights"),
            (("rps", "--output-weights", "1e7"), "--output-weights"),
            (("rps", "--rule", "optimistic", "--control-variate", "off"), "control variates"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command("learn", *arguments, "--episodes", "10", "--out", "never")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertFalse((self.folder / "never").exists())

    def test_a_gap_that_is_not_reached(self):
        done = self.run_command(
            "learn", FOUR, "--until-gap", "0.001", "--episodes", "500", "--out", "run", "--quiet"
        )
        self.assertEqual(done.returncode, 4)
        self.assertIn("certified cce gap between", done.stdout)

    def test_from_the_files_it_is_the_same(self):
        self.learn(FOUR, "--episodes", "3000")
        online = (self.folder / "run/certificate.json").read_bytes()
        for threads in ("1", "2", "3"):
            self.good("certify", "run", "--threads", threads, "-o", "other.json")
            self.assertEqual((self.folder / "other.json").read_bytes(), online)

    def test_every_output_and_start_is_verified(self):
        for game, target in ((FOUR, "cce"), ("chicken", "ce"), (ZERO_SUM, "nash")):
            self.learn(game, "--target", target, "--episodes", "2000", "--force")
            markov = "marginals" if target == "nash" else "markov"
            for arguments in (
                ("--start", "best"),
                ("--start", "last"),
                ("--start", "uniform"),
                ("--output", markov),
                ("--output", markov, "--start", "last"),
            ):
                with self.subTest(game=game, arguments=arguments):
                    self.good("certify", "run", *arguments, "-o", "one.json")
                    self.good("verify", game, "run", "one.json")
                    one = json.loads((self.folder / "one.json").read_text())
                    if "--output" in arguments:
                        self.assertAlmostEqual(one["gap"]["lower"], one["gap"]["upper"], delta=1e-9)

    def test_what_zero_sum_runs_return(self):
        for more, output in (
            (("--preset", "practical"), "marginals"),
            (("--preset", "fast"), "marginals"),
            (("--certify", "on", "--rule", "tsallis"), "marginals"),
            # What a theorem is about, and what older runs say in their config.
            (("--preset", "paper"), "nested"),
            (("--preset", "rigorous"), "nested"),
            (("--rule", "ftrl", "--bonus", "paper", "--certify", "on"), "nested"),
            (("--preset", "practical", "--output", "nested"), "nested"),
        ):
            with self.subTest(more=more):
                result = self.learn(
                    ZERO_SUM, "--target", "nash", "--episodes", "60", "--force", *more
                )
                self.assertEqual(result["output"], output)
                first = (self.folder / "run/certificate.json").read_bytes()
                self.good("certify", "run")
                self.assertEqual((self.folder / "run/certificate.json").read_bytes(), first)
                again = json.loads(self.good("learn", "--resume", "run", "--json"))
                self.assertEqual(again["output"], output)
                self.good("verify", ZERO_SUM, "run", "run/certificate.json")
                played = json.loads(self.good("play", "run", "--episodes", "10", "--json"))
                self.assertEqual(played["output"], output)
                (told,) = json.loads(self.good("report", "run", "--json"))["runs"]
                self.assertTrue(told["verified"])
                for player in self.certificate()["players"]:
                    self.assertEqual("lower" in player["gap"], output == "marginals")

    def test_a_changed_certificate_is_refuted(self):
        self.learn(FOUR, "--episodes", "300", *NESTED)
        certificate = self.certificate()
        certificate["players"][2]["deviation"]["upper"] -= 1e-6
        (self.folder / "bad.json").write_text(json.dumps(certificate))
        done = self.run_command("verify", FOUR, "run", "bad.json")
        self.assertEqual(done.returncode, 4)
        self.assertIn("players[2].deviation.upper", done.stdout + done.stderr)

    def test_cost_is_counted_before(self):
        done = self.run_command(
            "learn", "random:players=6,actions=4", "--episodes", "2", "--out", "run"
        )
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "certifying would add about [0-9.e+]+ times .*: left out")
        self.assertFalse((self.folder / "run/certificate.json").exists())
        done = self.run_command("learn", "rps", "--episodes", "2", "--out", "two")
        self.assertRegex(done.stderr, "certifying adds about")
        done = self.run_command("learn", "rps", "--episodes", "2", "--out", "two", "--until-gap")
        self.assertEqual(done.returncode, 2)

    def test_monotone_output(self):
        self.learn("river-swim", "--monotone", "--episodes", "20000")
        text = self.good("certify", "run")
        self.assertIn("output table", text)
        one = self.certificate()
        self.assertAlmostEqual(one["players"][0]["deviation"]["upper"], 21700, delta=1)
        self.good("verify", "river-swim", "run", "run/certificate.json")
        # Played together, and by one alone, as the table says.
        played = json.loads(self.good("play", "run", "--episodes", "2000", "--json"))
        away = abs(played["players"][0]["mean_return"] - one["players"][0]["value"]["upper"])
        self.assertLess(away, 5 * played["players"][0]["standard_error"])
        trace = self.good("play", "run", "--episodes", "1", "--trace").splitlines()
        steps = [json.loads(line) for line in trace]
        moves = self.good(
            "play",
            "run/policy/player-1.markov",
            "--index-seed",
            "run/policy/index.seed",
            "--private-seed",
            "run/policy/player-1.seed",
            input="".join(
                json.dumps({key: step[key] for key in ("episode", "step", "state")}) + "\n"
                for step in steps
            ),
        ).splitlines()
        self.assertEqual(
            [json.loads(move)["action"] for move in moves],
            [step["players"][0]["action"] for step in steps],
        )

    def test_monotone_output_of_two_players(self):
        self.learn(
            ZERO_SUM, "--target", "nash", "--monotone", "--episodes", "3000", "--history", "none"
        )
        self.good("certify", "run")
        one = self.certificate()
        self.assertEqual(one["output"], "table")
        self.good("verify", ZERO_SUM, "run", "run/certificate.json")
        played = json.loads(self.good("play", "run", "--episodes", "20000", "--json"))
        for player, certified in zip(played["players"], one["players"], strict=True):
            # 5 standard errors: fails with probability 6e-7.
            away = abs(player["mean_return"] - certified["value"]["upper"])
            self.assertLess(away, 5 * player["standard_error"])
        self.assertTrue((self.folder / "run/policy/index-2.seed").exists())
        for arguments in (
            ("play", "run", "--start", "last"),
            ("certify", "run", "--start", "last"),
            ("play", "run/policy/player-1.markov", "--output", "nested"),
            ("play", "run/policy/player-1.markov", "--start", "7"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
        done = self.run_command("certify", "run", "--output", "nested")
        self.assertEqual(done.returncode, 3)

    def test_play_executes_what_is_certified(self):
        self.learn(ZERO_SUM, "--target", "nash", "--monotone", "--episodes", "200")
        for output in ("nested", "table"):
            self.good("certify", "run", "--output", output)
            played = json.loads(self.good("play", "run", "--episodes", "10", "--json"))
            self.assertEqual(played["output"], output)
        seeds = ("--index-seed", "run/policy/index-1.seed")
        seeds += ("--private-seed", "run/policy/player-1.seed")
        done = self.run_command("play", "run/policy/player-1.policy", *seeds, "--output", "table")
        self.assertEqual(done.returncode, 2)

    def test_without_a_history_the_run_is_played_again(self):
        self.learn(FOUR, "--episodes", "500", "--history", "none", "--seed", "4", *NESTED)
        one = self.certificate()
        self.assertEqual(len(one["stream_hash"]), 64)
        self.assertNotIn("lower", one["gap"])
        done = self.run_command("verify", FOUR, "run", "run/certificate.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--replay", done.stderr)
        text = self.good("verify", "--replay", FOUR, "run", "run/certificate.json")
        self.assertTrue(text.startswith("accepted"))
        wrong = {"stream_hash": "0" * 64}
        less = self.certificate()["players"]
        less[1]["deviation"]["upper"] -= 1e-6
        for change in (wrong, {"players": less}):
            (self.folder / "bad.json").write_text(json.dumps(self.certificate() | change))
            done = self.run_command("verify", "--replay", FOUR, "run", "bad.json")
            self.assertEqual(done.returncode, 4)
            self.assertTrue(done.stdout.startswith("refuted"))
        one = self.certificate() | {"episodes": 499, "start": {"rule": "last", "episode": 500}}
        (self.folder / "bad.json").write_text(json.dumps(one))
        done = self.run_command("verify", "--replay", FOUR, "run", "bad.json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("other episodes", done.stderr)
        done = self.run_command(
            "verify", "--replay", FOUR, "run", "run/certificate.json", env={"TMPDIR": "/nowhere"}
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("TMPDIR", done.stderr)
        # Nothing is left of what was played again.
        (self.folder / "tmp").mkdir()
        self.good(
            "verify",
            "--replay",
            FOUR,
            "run",
            "run/certificate.json",
            env={"TMPDIR": str(self.folder / "tmp")},
        )
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        # A run of another version may have drawn other bits: nobody is accused.
        config = self.folder / "run/config.json"
        config.write_text(config.read_text().replace('"seed": 4', '"seed": 5'))
        done = self.run_command("verify", "--replay", FOUR, "run", "run/certificate.json")
        self.assertEqual(done.returncode, 4)
        version = json.loads(config.read_text())["version"]
        config.write_text(config.read_text().replace(f'"{version}"', '"0.0.1"', 1))
        done = self.run_command("verify", "--replay", FOUR, "run", "run/certificate.json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("0.0.1", done.stderr)
        config.write_text(
            config.read_text().replace('"0.0.1"', f'"{version}"').replace('"seed": 5', '"seed": 4')
        )
        # The same seed with a history plays the same policies.
        again = ("--episodes", "500", "--seed", "4", "--out", "other", "--quiet")
        self.good("learn", FOUR, *again, *NESTED)
        other = json.loads((self.folder / "other/certificate.json").read_text())
        self.assertEqual(other["gap"]["upper"], self.certificate()["gap"]["upper"])
        done = self.run_command("verify", "--replay", FOUR, "other", "other/certificate.json")
        self.assertEqual(done.returncode, 2)
        done = self.run_command("verify", "--replay", "rps", "run", "run/certificate.json")
        self.assertEqual(done.returncode, 3)

    def test_refusals(self):
        self.learn("rps", "--episodes", "10", "--history", "none")
        for arguments, code, words in (
            (("certify", "run"), 3, "--history none"),
            (("certify", "nowhere"), 3, "nowhere"),
            (("learn", "rps", "--until-gap", "-1"), 2, "--until-gap"),
            (("learn", "rps", "--until-gap", "1", "--certify", "off"), 2, "--certify off"),
            (("learn", "rps", "--until-gap", "1", "--monotone"), 2, "--monotone"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command(*arguments)
                self.assertEqual(done.returncode, code)
                self.assertIn(words, done.stderr)

    def test_by_sampling(self):
        self.learn(FOUR, "--target", "cce", "--episodes", "500", *NESTED)
        # A run that returns the nested policy has a Markov mixture too.
        every = ("--output", "markov", "--start", "last")
        exact = json.loads(self.good("certify", "run", *every, "--json"))
        sample = ("certify", "run", "--method", "sampled", "--confidence", "0.99999")
        few = (*sample, "--samples", "2e3", "--seed", "5")
        done = self.run_command(*few, "--threads", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2000 samples of each (step, state)", done.stderr)
        sampled = json.loads(done.stdout)
        self.assertEqual(list(Draft202012Validator(SCHEMA).iter_errors(sampled)), [])
        method = {"name": "sampled", "confidence": 0.99999, "samples": 2000, "seed": 5}
        self.assertEqual(sampled["method"], method)
        for key in ("game_hash", "policy_hashes", "output", "weights", "episodes", "target"):
            self.assertEqual(sampled[key], exact[key])
        # Fails with probability 1e-5.
        self.assertLess(sampled["gap"]["lower"], exact["gap"]["upper"])
        self.assertGreater(sampled["gap"]["upper"], exact["gap"]["lower"])
        for mine, truth in zip(sampled["players"], exact["players"], strict=True):
            self.assertEqual(mine["deviation"]["kind"], "interval")
            self.assertLess(mine["value"]["lower"], truth["value"]["upper"])
            self.assertGreater(mine["value"]["upper"], truth["value"]["lower"])
            self.assertLess(mine["deviation"]["lower"], truth["deviation"]["upper"])
            self.assertGreater(mine["deviation"]["upper"], truth["deviation"]["lower"])
        # The same again, whatever the threads; in words. What is executed stays what it was.
        self.assertEqual(self.good(*few, "--threads", "3", "--json"), done.stdout)
        self.assertIn("sampled cce gap between", self.good(*few))
        self.assertIn("with confidence 0.99999", self.good(*few))
        self.assertEqual(json.loads((self.folder / "run/certificate.json").read_text()), exact)
        self.learn(FOUR, "--target", "cce", "--episodes", "20", "--force", *NESTED)
        self.assertFalse((self.folder / "run/certificate-sampled.json").exists())
        # It cannot be verified, and the message says how to repeat it.
        (self.folder / "one.json").write_text(done.stdout)
        refused = self.run_command("verify", FOUR, "run", "one.json")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        again = "--samples 2000 --confidence 0.99999 --seed 5"
        self.assertIn(again, refused.stderr)
        self.assertIn("one.json: was sampled", refused.stderr)
        self.assertIn(" 2: it holds with a confidence", self.good("verify", "--help"))
        # What a schema says of it, the reader says too.
        for change in (
            {"method": {**method, "confidence": 1}},
            {"method": {**method, "samples": 1}},
            {"method": {**method, "name": "guessed"}},
            {"output": "table"},
            {"start": {"rule": "best", "episode": 400}},
            {"method": None},
            {"players": [{**player, "estimate": None} for player in sampled["players"]]},
            {"players": exact["players"]},
        ):
            with self.subTest(change=str(change)[:60]):
                bad = {**sampled, **change}
                self.assertFalse(Draft202012Validator(SCHEMA).is_valid(bad))
                (self.folder / "bad.json").write_text(json.dumps(bad))
                refused = self.run_command("verify", FOUR, "run", "bad.json")
                self.assertEqual(refused.returncode, 3, refused.stderr)

    def test_what_cannot_be_sampled(self):
        self.learn(ZERO_SUM, "--target", "nash", "--episodes", "20")
        sampled = ("certify", "run", "--method", "sampled", "--samples", "20")
        found = json.loads(self.good(*sampled, "--json"))
        self.assertEqual(found["output"], "marginals")
        for arguments, says in (
            ((*sampled, "--output", "markov"), "use --output marginals"),
            ((*sampled, "--start", "last"), "has no start"),
            ((*sampled, "--confidence", "1"), "between 0 and 1"),
            ((*sampled[:-1], "1"), "want 2 at least"),
            (("certify", "run", "--samples", "20"), "is for --method sampled"),
            (("certify", "run", "--confidence", "0.9"), "is for --method sampled"),
            (("certify", "run", "--seed", "0"), "is for --method sampled"),
            (("certify", "run", "--method", "guess"), "--method"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(says, done.stderr)
        self.learn(ZERO_SUM, "--target", "nash", "--episodes", "20", "--history", "none", "--force")
        done = self.run_command(*sampled)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no policy files", done.stderr)


if __name__ == "__main__":
    unittest.main()
