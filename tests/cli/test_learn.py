# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn learn` as a user meets it: what it learns, what it leaves behind, how it stops."""

import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from command_test import VLEARN, CommandTest
from safetensors.numpy import load_file

FILES = [
    "checkpoint.safetensors",
    "config.json",
    "metrics.csv",
    "metrics.jsonl",
    "result.json",
    "tables.safetensors",
]


class Learn(CommandTest):
    def learn(self, *arguments):
        return json.loads(self.good("learn", *arguments, "--json"))

    def test_rock_paper_scissors(self):
        target = ("--target", "nash", "--preset", "practical")
        result = self.learn("rps", *target, "--episodes", "1e6", "--seed", "1")
        self.assertEqual(result["schema"], "vlearn.learn/1")
        self.assertEqual((result["episodes"], result["agent_steps"]), (10**6, 2 * 10**6))
        for player in result["players"]:
            # The value of the game is 0. The estimate moves by about 1e-3; V is at most 0.01 above.
            self.assertAlmostEqual(player["value"], 0.0, delta=0.01)
            self.assertAlmostEqual(player["mean_return"], 0.0, delta=0.01)
            self.assertGreater(player["upper"], 0.0)
            self.assertLess(player["upper"], 0.02)
        tables = load_file(self.folder / "runs/rps-1/tables.safetensors")
        self.assertEqual(tables["visits"].tolist(), [[10**6]])
        self.assertEqual(tables["current_policy"].shape, (2, 1, 1, 3))

    def test_eight_players(self):
        game = "random:players=8,states=4,actions=3,horizon=5,seed=1"
        result = self.learn(game, "--target", "cce", "--episodes", "1e5")
        self.assertEqual(len(result["players"]), 8)
        for player in result["players"]:
            # Means of many rewards between 0 and 1, five a game. What was learned is worth about as
            # much as what was earned lately, and V is above it.
            self.assertAlmostEqual(player["value"], player["mean_return"], delta=0.05)
            self.assertGreater(player["upper"], player["value"])

    def test_nash_of_games_whose_rewards_sum_to_a_constant(self):
        """As .nfg files, JSON and arrays need no word for it. The equilibria are known."""
        third = {"rock": 0, "paper": 1, "scissors": 2}
        for unit in (1, 0.5):  # rock-paper-scissors for -1, 0 and 1, and for 0, 1/2 and 1
            rules = []
            for mine, i in third.items():
                for other, j in third.items():
                    win = unit * ((i - j + 4) % 3 - 1)
                    pay = [win, -win] if unit == 1 else [0.5 + win, 0.5 - win]
                    rules.append({"actions": [mine, other], "reward": pay})
            game = {
                "format": "vlearn.game/1",
                "players": 2,
                "actions": list(third),
                "horizon": 2,
                "rules": rules,
            }
            (self.folder / "game.json").write_text(json.dumps(game))
            # The law, and what is learned where nobody asks for a target, are as they always were.
            known = json.loads(self.good("game", "show", "game.json", "--json"))
            self.assertFalse(known["zero_sum"])
            self.assertEqual(self.learn("game.json", "--episodes", "5", "--force")["target"], "cce")
            self.good("game", "convert", "game.json", "game.safetensors")
            for word in ("game.json", "game.safetensors"):
                out = ("--target", "nash", "--out", "run", "--force")
                for command in (
                    ("solve", word),
                    ("solve", word, "--method", "oftrl", "--until-gap", "0.01"),
                    ("learn", word, "--episodes", "20000"),
                    ("learn", word, "--episodes", "2000", "--output", "nested"),
                    ("learn", word, "--algorithm", "nash-vi", "--episodes", "2000"),
                    ("learn", word, "--episodes", "200", "--preset", "rigorous", "--monotone"),
                ):
                    with self.subTest(word=word, command=command, unit=unit):
                        result = json.loads(self.good(*command, *out, "--json", "--quiet"))
                        self.assertEqual(result["game_hash"], known["hash"])
                        if "--monotone" in command:
                            self.good("certify", "run", "--output", "table")
                        self.good("verify", word, "run", "run/certificate.json")
                        self.good("play", "run", "--episodes", "3")
                        for player in result["players"] if command == ("solve", word) else ():
                            self.assertAlmostEqual(player["value"], 0 if unit == 1 else 1, 9)
                            self.assertLess(player["gap"]["upper"], 1e-9)

    def test_who_is_not_zero_sum_is_told_what_is(self):
        self.good("game", "convert", "chicken", "game.json")
        for command in (
            ("learn", "game.json", "--episodes", "5"),
            ("solve", "game.json"),
            ("learn", "game.json", "--algorithm", "nash-vi", "--episodes", "5"),
            ("learn", "game.json", "--algorithm", "plug-in", "--episodes", "5"),
        ):
            done = self.run_command(*command, "--target", "nash", "--out", "run")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn('if its file has "zero_sum": true', done.stderr)
            self.assertIn("their ranges have one width", done.stderr)

    def test_correlated_equilibrium_of_chicken(self):
        result = self.learn("chicken", "--target", "ce", "--episodes", "1e6")
        low, high = sorted(player["value"] for player in result["players"])
        # Learning ends in one of the two pure equilibria, worth 2 and 7.
        self.assertAlmostEqual(low, 2.0, delta=0.1)
        self.assertAlmostEqual(high, 7.0, delta=0.1)

    def test_best_policy_of_river_swim(self):
        result = self.learn("river-swim", "--target", "optimal", "--episodes", "1e6")
        (player,) = result["players"]
        # The optimum is 21 700. Nothing is worth more. What was played has a floor under every
        # action, which the output has not: V may end below the optimum, the gap tells how far.
        self.assertGreater(player["value"], 0.9 * 21700)
        self.assertLess(player["value"], 21700)
        self.assertGreater(player["upper"], 0.99 * 21700)
        self.assertLess(result["gap"]["upper"], 0.005 * 21700)

    def test_monotone_soccer(self):
        result = self.learn("soccer", "--target", "nash", "--monotone", "--episodes", "1e5")
        for player in result["players"]:
            self.assertAlmostEqual(player["value"], 0.0, delta=0.02)  # by symmetry
            self.assertGreaterEqual(player["upper"], 0.0)
        tables = load_file(self.folder / "runs/soccer-1/tables.safetensors")
        sums = tables["markov_policy"].sum(axis=3)
        self.assertTrue(((abs(sums - 1.0) < 1e-12) | (sums == 0.0)).all())

    def test_rigorous_run_bounds_its_gap(self):
        result = self.learn("matching-pennies", "--preset", "rigorous", "--episodes", "3e5")
        self.assertIn("probability 0.99", result["guarantee"])
        for player in result["players"]:
            self.assertLess(player["lower"], 0.0)  # the value of the game
            self.assertGreater(player["upper"], 0.0)
            self.assertGreater(player["gap_bound"], 0.0)
        self.assertLess(result["gap_bound"], 0.5)  # both gains together, of 4; 0.27 here

    def test_the_target_is_what_fits_the_game(self):
        for game, target in (("rps", "nash"), ("chicken", "cce"), ("chain", "optimal")):
            self.assertEqual(self.learn(game, "--episodes", "10")["target"], target)

    def test_refusals_say_why_and_what_to_do(self):
        for arguments, words in (
            (("chicken", "--target", "nash", "--episodes", "9"), ("zero-sum", "cce")),
            (("chicken", "--monotone", "--episodes", "9"), ("monotone", "nash")),
            (("rps", "--target", "optimal", "--episodes", "9"), ("2 players", "nash")),
            (("chicken", "--target", "ce", "--rule", "ftrl", "--episodes", "9"), ("ftrl-swap",)),
            (("rps",), ("--episodes", "--max-time")),
            (("rps", "--episodes", "1.5"), ("1e6",)),
            (("rps", "--episodes", "0"), ("1e6",)),
            (("rps", "--episodes", "1e99"), ("1e6",)),
            (("rps", "--episodes", "9", "--preset", "papr"), ("preset",)),
            (("rps", "--episodes", "9", "--delta", "2"), ("delta",)),
            (("rsp", "--episodes", "9"), ("rps",)),
            (("rps", "--max-time", "nan"), ("--max-time",)),
            (("rps", "--max-time", "0"), ("--max-time",)),
            (("rps", "--episodes", "9", "--seed", "-1"), ("--seed", "0 to")),
            (("rps", "--episodes", "9", "--seed", "18446744073709551616"), ("--seed",)),
            (
                ("rps", "--episodes", "9", "--seed", "18446744073709551615", "--seeds", "2"),
                ("2^64",),
            ),
            (("rps", "--episodes", "9", "--threads", "-1"), ("--threads",)),
            (("rps", "--episodes", "9", "--delta", "1e-310"), ("delta",)),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command("learn", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_same_files_for_any_number_of_threads(self):
        game = "random:players=3,states=3,actions=3,horizon=3,seed=2"
        folders = {}
        for threads in ("1", "2", "5"):
            out = self.folder / threads
            arguments = ("--episodes", "2e4", "--seeds", "5", "--threads", threads, "--out", out)
            runs = self.learn(game, *arguments)["runs"]
            self.assertEqual([run["seed"] for run in runs], [1, 2, 3, 4, 5])
            folders[threads] = [Path(run["out"]) for run in runs]
        for runs in zip(*folders.values(), strict=True):
            for name in FILES:
                self.assertEqual(len({(run / name).read_bytes() for run in runs}), 1)
        alone = self.learn(game, "--episodes", "2e4", "--seed", "3", "--out", "alone")
        self.assertEqual(Path(alone["out"]).name, "alone")
        for name in FILES:
            same = (self.folder / "alone" / name).read_bytes()
            self.assertEqual(same, (folders["1"][2] / name).read_bytes())

    def test_many_players_are_played_by_many_threads_alike(self):
        runs = [self.folder / threads for threads in ("1", "2", "7")]
        for run in runs:
            game = "congestion:players=300,routes=5"
            self.learn(game, "--episodes", "60", "--threads", run.name, "--out", run)
        for name in (*FILES, "certificate.json", "policy/player-300.policy"):
            self.assertEqual(len({(run / name).read_bytes() for run in runs}), 1, name)

    def test_a_run_is_not_overwritten(self):
        self.learn("rps", "--episodes", "10")
        again = self.run_command("learn", "rps", "--episodes", "20")
        self.assertEqual(again.returncode, 2)
        self.assertIn("--force", again.stderr)
        config = json.loads((self.folder / "runs/rps-1/config.json").read_text())
        self.assertEqual(config["episodes"], 10)
        self.assertEqual(self.learn("rps", "--episodes", "20", "--force")["episodes"], 20)

    def test_all_folders_are_looked_at_before_the_first_episode(self):
        (self.folder / "out/rps-3").mkdir(parents=True)
        (self.folder / "out/rps-3/mine").touch()
        arguments = ("--episodes", "1e9", "--seeds", "3", "--out", "out")
        done = self.run_command("learn", "rps", *arguments)
        self.assertEqual(done.returncode, 2)
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], ["rps-3"])

    def test_time_is_of_all_seeds_together(self):
        begin = time.monotonic()
        self.learn("rps", "--max-time", "0.5", "--seeds", "40", "--threads", "1")
        # One after the other they would take 20 s.
        self.assertLess(time.monotonic() - begin, 10.0)

    def test_names_of_files_are_safe_to_show(self):
        rps = self.good("game", "convert", "rps", "-")
        # A run keeps the name of its game, in UTF-8.
        for name, code in ((b"\x1b[31mred.json", 0), (b"\xff\xfe.json", 2)):
            path = os.fsencode(self.folder) + b"/" + name
            with open(path, "w") as file:
                file.write(rps)
            done = subprocess.run(
                [os.fsencode(VLEARN), b"learn", path, b"--episodes", b"9"],
                capture_output=True,
                cwd=self.folder,
            )
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertNotIn(b"\x1b", done.stdout + done.stderr)
            (done.stdout + done.stderr).decode()  # UTF-8

    def test_metrics_have_fixed_episodes(self):
        self.learn("rps", "--episodes", "25", "--pessimistic")
        rows = [
            json.loads(line)
            for line in (self.folder / "runs/rps-1/metrics.jsonl").read_text().splitlines()
        ]
        want = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25]
        self.assertEqual([row["episode"] for row in rows], want)
        csv = (self.folder / "runs/rps-1/metrics.csv").read_text().splitlines()
        self.assertEqual(len(csv), 1 + 2 * len(want))
        self.assertEqual(csv[-1].split(",")[:2], ["25", "2"])
        self.assertEqual(float(csv[-1].split(",")[2]), rows[-1]["players"][1]["value"])

    def test_k_of_the_bonus_is_the_episodes_asked_for(self):
        for arguments, horizon in (
            (("--episodes", "30"), 30),
            (("--episodes", "30", "--horizon-episodes", "1e7"), 10**7),
            (("--max-time", "0.01"), 10**9),
        ):
            self.learn("rps", *arguments, "--force")
            config = json.loads((self.folder / "runs/rps-1/config.json").read_text())
            self.assertEqual(config["horizon_episodes"], horizon)

    def test_time_and_signals_stop_a_run_in_good_order(self):
        result = self.learn("rps", "--max-time", "0.2")
        self.assertEqual(result["stopped"], "time")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            out = self.folder / str(number)
            command = [VLEARN, "learn", "rps", "--max-time", "600", "--json", "--out", out]
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE)
            metrics = out / "metrics.csv"
            while not (metrics.exists() and metrics.read_text().count("\n") > 20):
                time.sleep(0.01)
            process.send_signal(number)
            output, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 75)
            self.assertEqual(json.loads(output)["stopped"], "interrupt")
            self.assertTrue((out / "result.json").exists())

    def test_a_game_from_standard_input(self):
        text = self.good("game", "convert", "rps", "-")
        self.good("learn", "-", "--episodes", "10", input=text)
        self.assertTrue((self.folder / "runs/stdin-1").is_dir())

    def test_the_groups_of_bench_are_not_taken_for_commands(self):
        for group in ("learn", "game"):
            self.assertEqual(json.loads(self.good("bench", group, "--json"))["group"], group)

    def test_the_signature(self):
        recorded = Path(__file__).parents[1] / "golden" / "signature.txt"
        for threads in ("1", "2"):
            signature = self.good("bench", "--signature", "--threads", threads)
            self.assertEqual(signature, recorded.read_text())


if __name__ == "__main__":
    unittest.main()
