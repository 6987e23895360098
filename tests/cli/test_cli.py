# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""The command as a user meets it: output, streams, exit codes."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

VLEARN = os.environ["VLEARN"]


def run(*arguments, **options):
    options = {"capture_output": True, "text": True} | options
    return subprocess.run([VLEARN, *arguments], **options)


class Cli(unittest.TestCase):
    def test_version(self):
        done = run("--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("vlearn 0.", "compiler", "SIMD", "in use"):
            self.assertIn(word, done.stdout)

    def test_version_as_json_is_one_object(self):
        done = run("--version", "--json")
        info = json.loads(done.stdout)
        self.assertEqual(info["schema"], "vlearn.version/1")
        self.assertIn(info["simd"], info["simd_available"])
        self.assertEqual(done.stderr, "")

    def test_help_leads_with_two_examples(self):
        for command in (
            (),
            ("bench",),
            ("compare",),
            ("experiment",),
            ("experiment", "efficiency"),
            ("experiment", "levers"),
            ("experiment", "regret"),
            ("game",),
            ("game", "show"),
            ("game", "validate"),
            ("game", "convert"),
            ("game", "random"),
            ("game", "simulate"),
            ("games",),
            ("plan",),
            ("learn",),
            ("play",),
            ("self-test",),
            ("verify",),
        ):
            with self.subTest(command=command):
                done = run(*command, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                examples, usage = done.stdout.split("Usage:", 1)
                self.assertGreaterEqual(examples.count("\n  vlearn "), 2)
                self.assertIn("--help", usage)
                self.assertEqual(run(*command, "-h").stdout, done.stdout)

    def test_self_test_passes_at_every_vector_width(self):
        targets = json.loads(run("--version", "--json").stdout)["simd_available"]
        for target in targets:
            with self.subTest(target=target):
                environment = os.environ | {"VLEARN_SIMD": target}
                done = run("self-test", "--json", env=environment)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertTrue(all(check["ok"] for check in json.loads(done.stdout)["checks"]))
                version = json.loads(run("--version", "--json", env=environment).stdout)
                self.assertEqual(version["simd"], target)

    def test_usage_errors_exit_2_and_suggest(self):
        for arguments, words in (
            (("self-tset",), "did you mean 'self-test'?"),
            (("--versoin",), "did you mean '--version'?"),
            (("bench", "core", "--jsno"), "did you mean '--json'?"),
            (("bench", "cora"), "cora"),
            (("bench",), "required; see 'vlearn bench --help'"),
            (("bench", "core", "zzzzz"), "see 'vlearn bench --help'"),
            (("--json", "self-test"), "vlearn COMMAND --json"),
            (("--json",), "goes with --version"),
            (("zzzzz",), "see 'vlearn --help'"),
            ((), "see 'vlearn --help'"),
            (("\x1b[31m",), "\\x1b[31m"),
        ):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith("vlearn: "), done.stderr)
                self.assertIn(words, done.stderr)
                self.assertNotIn("\x1b", done.stderr)

    def test_unknown_simd_target_is_a_usage_error(self):
        done = run("--version", env=os.environ | {"VLEARN_SIMD": "abacus"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("choose one of", done.stderr)

    def test_a_full_disk_is_not_silent(self):
        with open("/dev/full", "w") as full:
            done = run("--version", capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 5)
        self.assertIn("standard output", done.stderr)

    def test_game_show(self):
        done = run("game", "show", "congestion-100", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = json.loads(done.stdout)
        self.assertEqual(shown["schema"], "vlearn.game-show/1")
        self.assertEqual((shown["players"], shown["states"], shown["horizon"]), (100, 3, 3))
        self.assertEqual(shown["actions"], [10] * 100)
        self.assertEqual(len(shown["uniform_value"]), 100)
        text = run("game", "show", "soccer").stdout
        for word in ("sparse, stationary, zero-sum", "760", "uniform play"):
            self.assertIn(word, text)

    def test_games_lists_the_catalogue(self):
        done = run("games", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        games = json.loads(done.stdout)["games"]
        self.assertGreaterEqual(len(games), 25)
        for game in games:
            for key in ("name", "title", "players", "states", "horizon", "source", "hash"):
                self.assertTrue(game[key], f"{game['name']} lacks {key}")
            self.assertTrue(game["known"])
        text = run("games").stdout
        for game in games:
            self.assertIn(f"\n{game['name']} ", text)

    def test_convert_keeps_the_law_of_every_game_in_every_format(self):
        with tempfile.TemporaryDirectory() as folder:
            for game in json.loads(run("games", "--json").stdout)["games"]:
                endings = ["json", "safetensors"]
                if game["horizon"] == 1 and game["states"] == 1:
                    endings.append("nfg")
                for ending in endings:
                    with self.subTest(game=game["name"], ending=ending):
                        file = f"{folder}/{game['name']}.{ending}"
                        done = run("game", "convert", game["name"], file, "--json")
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.assertTrue(json.loads(done.stdout)["same_law"])
                        shown = json.loads(run("game", "validate", file, "--json").stdout)
                        self.assertEqual(shown["hash"], game["hash"])
                        self.assertEqual(shown["title"], game["title"])

    def test_convert_says_what_it_cannot(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("game", "convert", "soccer", f"{folder}/soccer.nfg")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("760 states", done.stderr)
            done = run("game", "convert", "soccer", f"{folder}/soccer.xml")
            self.assertEqual(done.returncode, 2)
            self.assertIn("want .json, .safetensors or .nfg", done.stderr)
            # One step and one state, but a range of its own: payoffs go, the range stays behind.
            name = "random:states=1,horizon=1"
            done = run("game", "convert", name, f"{folder}/random.nfg", "--json")
            self.assertEqual(done.returncode, 0)
            self.assertIn("note: ", done.stderr)
            self.assertFalse(json.loads(done.stdout)["same_law"])

    def test_random_games_go_through_a_pipe(self):
        options = ("--players", "3", "--states", "2", "--actions", "2", "--horizon", "2")
        made = run("game", "random", *options, "--seed", "9")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        checked = run("game", "validate", "-", "--json", input=made.stdout)
        name = "random:players=3,states=2,actions=2,horizon=2,seed=9"
        shown = json.loads(run("game", "show", name, "--json").stdout)
        self.assertEqual(json.loads(checked.stdout)["hash"], shown["hash"])
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("json", "safetensors"):
                file = f"{folder}/game.{ending}"
                run("game", "random", *options, "--seed", "9", "-o", file)
                shown_file = json.loads(run("game", "show", file, "--json").stdout)
                self.assertEqual(shown_file["hash"], shown["hash"])
            nfg = f"{folder}/chicken.nfg"
            run("game", "convert", "chicken", nfg)
            text = Path(nfg).read_text()
            self.assertEqual(run("game", "validate", "-", input=text).returncode, 0)

    def test_game_simulate_agrees_with_the_exact_value(self):
        for game in ("soccer", "pursuit", "lock", "random:players=3", "congestion-10"):
            with self.subTest(game=game):
                done = run("game", "simulate", game, "--episodes", "2000", "--json")
                for player in json.loads(done.stdout)["players"]:
                    distance = abs(player["mean"] - player["exact"])
                    self.assertLess(distance, 5 * player["standard_error"] + 1e-12)
                self.assertEqual(
                    run("game", "simulate", game, "--episodes", "2000", "--json").stdout,
                    done.stdout,
                )

    def test_game_names_are_checked(self):
        for arguments, words in (
            (("game", "show", "socer"), "did you mean 'soccer'?"),
            (("game", "show", "chikcen"), "did you mean 'chicken'?"),
            (("game", "validate", "nothing-like-it"), "'vlearn games' lists"),
            (("game", "random", "--kind", "odd"), "want one of"),
            (("game", "show", "random:playrs=3"), "did you mean 'players'?"),
            (("game", "shwo", "soccer"), "did you mean 'show'?"),
            (("game", "show", "soccer", "--jsno"), "did you mean '--json'?"),
            (("game", "simulate", "soccer", "--episodes", "0"), "--episodes"),
        ):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(words, done.stderr)
        done = run("game", "show", "random:players=40")
        self.assertEqual(done.returncode, 5)
        self.assertIn("more numbers than can be counted", done.stderr)

    def test_plan_says_what_the_theorems_ask_for(self):
        done = run("plan", "chicken", "--eps", "0.1", "--delta", "0.01")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in (
            "m = 2 players, H = 1 steps, S = 1 states, A = 2 actions",
            "0.1 where rewards go from 0 to 7",
            "eps = 0.0142857 for rewards in [0, 1]",
            "Theorem 6  cce: 16554543540 episodes, 33109087080 agent-steps",
            "eps >= e S H^2/K + 8 e c sqrt(H^5 S A iota/K)",
            "c = 11, iota = 29.52",
            "Theorem 7  ce: ",
            "rigorous   cce: ",
            "proven     cce: ",
        ):
            self.assertIn(words, done.stdout)
        for words in ("Theorem 4", "Theorem 5", "Theorem 8"):
            self.assertNotIn(words, done.stdout)

    def test_plan_as_json(self):
        plan = json.loads(run("plan", "rps", "--eps", "0.2", "--json").stdout)
        self.assertEqual(plan["schema"], "vlearn.plan/1")
        self.assertEqual(plan["widest_range"], [-1, 1])
        self.assertEqual(plan["eps_unit"], 0.1)
        names = [row["theorem"] for row in plan["theorems"]]
        self.assertEqual(
            names,
            [
                "Theorem 5",
                "rigorous",
                "proven",
                "Theorem 8",
                "Theorem 6",
                "rigorous",
                "proven",
                "Theorem 7",
                "rigorous",
                "proven",
            ],
        )
        for row in plan["theorems"]:
            for key in ("target", "promise", "formula", "iota", "episodes", "episodes_log10"):
                self.assertTrue(row[key], key)
            self.assertEqual(row["constant"], 11 if row["theorem"].startswith("Theorem") else None)
            self.assertEqual(row["agent_steps"], 2 * row["episodes"])
        for target, expected in (("nash", 4), ("cce", 3), ("ce", 3)):
            done = run("plan", "rps", "--target", target, "--json")
            rows = json.loads(done.stdout)["theorems"]
            self.assertEqual([row["target"] for row in rows], [target] * expected)
        rows = json.loads(run("plan", "river-swim", "--json").stdout)["theorems"]
        self.assertEqual(rows[0]["theorem"], "Theorem 4")
        self.assertEqual(rows[0]["target"], "optimal")

    def test_plan_of_more_episodes_than_can_be_counted(self):
        done = run("plan", "rps", "--eps", "1e-9", "--json")
        row = json.loads(done.stdout)["theorems"][0]
        self.assertEqual((row["episodes"], row["agent_steps"]), (None, None))
        self.assertGreater(row["episodes_log10"], 18.96)
        self.assertIn("more than 9.2e18 episodes", run("plan", "rps", "--eps", "1e-9").stdout)

    def test_plan_with_a_smaller_constant_is_no_theorem(self):
        done = run("plan", "rps", "--bonus-constant", "1", "--json")
        self.assertIn("there is no theorem", done.stderr)
        self.assertEqual(json.loads(done.stdout)["theorems"][0]["constant"], 1)

    def test_plan_refuses(self):
        for arguments, words in (
            (("chicken", "--eps", "0"), "--eps: 0 is no gap"),
            (("chicken", "--eps", "-1"), "--eps: -1 is no gap"),
            (("chicken", "--eps", "nan"), "is no gap"),
            (("chicken", "--eps", "inf"), "is no gap"),
            (("chicken", "--eps", "7"), "ask for less than 7"),
            (("chicken", "--eps", "1e-200"), "more than 1e300 episodes"),
            (("chicken", "--eps", "much"), "--eps"),
            (("chicken", "--delta", "0"), "between 0 and 1"),
            (("chicken", "--delta", "1"), "between 0 and 1"),
            (("chicken", "--delta", "nan"), "between 0 and 1"),
            (("chicken", "--bonus-constant", "-1"), "from 0 on"),
            (("chicken", "--target", "nahs"), "did you mean 'nash'?"),
            (("chicken", "--target", "zzz"), "want one of optimal, nash, cce, ce"),
            (("chicken", "--target", "nash"), "ask for cce or ce"),
            (("chicken", "--target", "optimal"), "this game has 2 players"),
            (("river-swim", "--target", "nash"), "two-player zero-sum games only"),
            (("chikcen",), "did you mean 'chicken'?"),
            ((), "GAME"),
        ):
            with self.subTest(arguments=arguments):
                done = run("plan", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(words, done.stderr)

    def test_an_error_needs_no_stderr(self):
        with open("/dev/full", "w") as full:
            done = run("bogus", capture_output=False, stdout=subprocess.PIPE, stderr=full)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        done = subprocess.run(["sh", "-c", '"$0" bogus 2>&-', VLEARN], stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_bench_prints_figures_beside_their_references(self):
        done = run("bench", "core", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        measurements = json.loads(done.stdout)["measurements"]
        names = " ".join(m["name"] + " " + m["reference"] for m in measurements)
        for word in ("draw", "exp", "softmax of 10", "std::exp", "mt19937_64"):
            self.assertIn(word, names)
        for m in measurements:
            self.assertGreater(m["ns"], 0)
            self.assertGreater(m["reference_ns"], 0)


if __name__ == "__main__":
    unittest.main()
