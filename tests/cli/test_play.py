# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn play`: a run executed by all players, and by one player far from the others."""

import json
import shutil
import stat
import tempfile
import unittest

from command_test import VLEARN, CommandTest
from measure import run_measured_from_small

ZERO_SUM = "random:players=2,states=3,actions=3,horizon=3,kind=zero-sum,seed=5"
ALONE = "random:players=1,states=4,actions=3,horizon=4,seed=3"


class Play(CommandTest):
    def learn(self, game, *arguments):
        self.good("learn", game, "--out", "run", *arguments)
        return self.folder / "run"

    def alone_text(
        self, run, player, index_seed, states, *arguments, private_seed=None, ending="policy"
    ):
        """What one player plays who has nothing but its own things, in a folder of its own."""
        with tempfile.TemporaryDirectory() as away:
            policy = shutil.copy(run / f"policy/player-{player}.{ending}", away)
            private = shutil.copy(private_seed or run / f"policy/player-{player}.seed", away)
            index = shutil.copy(run / "policy" / index_seed, away)
            seeds = ("--index-seed", index, "--private-seed", private)
            return self.good(
                "play", policy, "--player", str(player), *seeds, *arguments, input=states, cwd=away
            )

    def alone(self, *arguments, **options):
        return [json.loads(line) for line in self.alone_text(*arguments, **options).splitlines()]

    def trace(self, run, *arguments):
        steps = [json.loads(s) for s in self.good("play", run, "--trace", *arguments).splitlines()]
        keys = ("episode", "step", "state")
        states = "".join(json.dumps({key: step[key] for key in keys}) + "\n" for step in steps)
        return steps, states

    def test_a_player_alone_plays_its_part(self):
        run = self.learn("soccer", "--episodes", "5000")
        for arguments in (
            (),  # where the certificate says, which the index seed knows too
            ("--start", "last"),
            ("--start", "uniform"),
            ("--start", "4000"),
            ("--output", "marginals"),
            ("--output", "marginals", "--start", "last"),
            ("--output", "marginals", "--start", "700"),
        ):
            steps, states = self.trace(run, "--episodes", "300", *arguments)
            self.assertEqual(len(steps), 3000)
            for player in (1, 2):
                moves = self.alone(run, player, f"index-{player}.seed", states, *arguments)
                for step, move in zip(steps, moves, strict=True):
                    part = step["players"][player - 1]
                    self.assertEqual({key: move[key] for key in part}, part)

    def test_players_who_correlate_draw_the_same_visits(self):
        # Each player in a process of its own, given the index seed alone, against all in one. That
        # is millions of lines: they are compared as bytes, not read as JSON.
        episodes = 100_000
        start = ("--start", "uniform")
        for players in (2, 3, 5, 8, 16):
            game = f"congestion:players={players},routes=2,states=2,horizon=2"
            run = self.learn(game, "--episodes", "2000", "--force")
            trace = self.good("play", run, "--trace", "--episodes", str(episodes), *start)
            places, indices, actions = [], [], []
            for line in trace.splitlines():
                place, parts = line.split(',"players":[{')
                parts = parts.removesuffix("}]}").split("},{")
                index = parts[0][len('"action":1') :]
                for part in parts:  # "action":1,"visit":7,"k":9
                    if not part.endswith(index):
                        self.fail(line)
                places.append(place)
                indices.append(index)
                actions.append("".join(part[len('"action":')] for part in parts))
            self.assertEqual(len(places), 2 * episodes)
            states = "".join(place + "}\n" for place in places)
            for player in range(1, players + 1):
                lines = zip(places, actions, indices, strict=True)
                wanted = "".join(f'{p},"action":{a[player - 1]}{i}}}\n' for p, a, i in lines)
                moves = self.alone_text(run, player, "index.seed", states, *start)
                # assertEqual would write out the difference.
                self.assertTrue(moves == wanted, f"player {player} of {players}")

    def test_a_private_seed_is_private(self):
        run = self.learn("chicken", "--target", "ce", "--episodes", "50")
        _, states = self.trace(run, "--episodes", "300", "--start", "uniform")
        before = self.alone(run, 1, "index.seed", states, "--start", "uniform")
        other = self.folder / "other.seed"
        other.write_text("0123456789abcdef" * 4 + "\n")
        start = ("--start", "uniform")
        after = self.alone(run, 1, "index.seed", states, *start, private_seed=other)
        self.assertEqual([move["visit"] for move in before], [move["visit"] for move in after])
        self.assertNotEqual([move["action"] for move in before], [move["action"] for move in after])
        mode = stat.S_IMODE((run / "policy/player-1.seed").stat().st_mode)
        self.assertEqual(mode, 0o600)
        seeds = {path.read_text() for path in (run / "policy").glob("*.seed")}
        self.assertEqual(len(seeds), 3)  # one for the indices, one for each player

    def test_what_was_learned_is_what_is_played(self):
        run = self.learn("matching-pennies", "--episodes", "1e5")
        result = json.loads(self.good("play", run, "--episodes", "1e5", "--json"))
        self.assertEqual(result["schema"], "vlearn.play/1")
        for player in result["players"]:
            # The value of the game is 0; four standard errors, and what was not yet learned.
            self.assertLess(abs(player["mean_return"]), 4 * player["standard_error"] + 0.02)
            self.assertLess(player["standard_error"], 0.004)

    def test_what_is_certified_is_what_is_executed(self):
        nested = ("--output", "nested", "--start")
        starts = tuple((*nested, start) for start in ("best", "last", "uniform"))
        of_all = ("--start", "last")
        markov, marginals = ("--output", "markov"), ("--output", "marginals")
        markovs, both = (markov, (*markov, *of_all)), (marginals, (*marginals, *of_all))
        table = ("--output", "table")
        # Runs that have learned little: outputs and starts are far apart.
        few = ("--episodes", "12", "--seed", "4")
        cases = (
            ("chicken", ("--target", "ce", *few), (*starts, *markovs)),
            ("chicken", ("--target", "cce", *few), (*starts, *markovs)),
            ("four-friends", ("--target", "cce", "--episodes", "40"), (*starts, *markovs)),
            (ZERO_SUM, ("--target", "nash", "--episodes", "30"), (*starts, *both)),
            (ALONE, ("--target", "optimal", "--episodes", "30"), (*starts, *markovs)),
            (ZERO_SUM, ("--monotone", "--episodes", "30"), (*starts, *both, table)),
        )
        compared = 0
        for game, arguments, outputs in cases:
            run = self.learn(game, *arguments, "--force")
            for output in outputs:
                with self.subTest(game=game, arguments=arguments, output=output):
                    self.good("certify", run, *output)
                    certificate = json.loads((run / "certificate.json").read_text())
                    played = json.loads(self.good("play", run, "--episodes", "1e4", "--json"))
                    self.assertEqual(played["output"], certificate["output"])
                    for one, player in zip(certificate["players"], played["players"], strict=True):
                        compared += 1
                        error = 5.5 * player["standard_error"] + one["rounding"]
                        mean = player["mean_return"]
                        self.assertGreater(mean, one["value"]["lower"] - error)
                        self.assertLess(mean, one["value"]["upper"] + error)
                    self.assert_alone_as_together(run, certificate)
        # Off by 5.5 standard errors, of means of 10^4, with probability 4e-8: 2e-6 for all.
        self.assertEqual(compared, 67)

    def assert_alone_as_together(self, run, certificate):
        """By the index seed alone, without the certificate and without the others."""
        steps, states = self.trace(run, "--episodes", "50")
        nash = certificate["target"] == "nash"
        ending = "markov" if certificate["output"] == "table" else "policy"
        for player in range(1, len(certificate["players"]) + 1):
            seed = f"index-{player}.seed" if nash else "index.seed"
            moves = self.alone(run, player, seed, states, ending=ending)
            for step, move in zip(steps, moves, strict=True):
                part = step["players"][player - 1]
                self.assertEqual({key: move[key] for key in part}, part)

    def test_no_certificate_of_what_is_not_executed(self):
        for game, target, output, other in (
            ("chicken", "ce", "marginals", "markov"),
            ("chicken", "cce", "marginals", "markov"),
            (ALONE, "optimal", "marginals", "markov"),
            (ZERO_SUM, "nash", "markov", "marginals"),
        ):
            with self.subTest(target=target):
                run = self.learn(game, "--target", target, "--episodes", "12", "--force")
                certificate = run / "certificate.json"
                certificate.unlink()
                for command in ("certify", "play", "deviate"):
                    done = self.run_command(command, run, "--output", output)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f"use --output {other}", done.stderr)
                self.assertFalse(certificate.exists())
                # One from elsewhere, with the label of what is not executed.
                self.good("certify", run, "--output", other)
                forged = json.loads(certificate.read_text())
                forged["output"] = output
                certificate.write_text(json.dumps(forged))
                done = self.run_command("verify", game, run, certificate)
                self.assertEqual(done.returncode, 4)
                self.assertIn(f"players of {target} cannot execute", done.stdout + done.stderr)
                for command in ("play", "deviate", "report"):
                    done = self.run_command(command, run)
                    self.assertEqual((done.returncode, done.stdout), (3, ""))
                    self.assertIn("certificate.json", done.stderr)
                    self.assertIn(f"cannot execute the output {output}", done.stderr)

    def test_a_certificate_that_executions_do_not_follow(self):
        run = self.learn("chicken", "--target", "cce", "--episodes", "12", "--seed", "4")
        path = run / "certificate.json"
        self.good("certify", run, "--output", "nested", "--start", "best")
        good = json.loads(path.read_text())
        other = "0" * 64
        for change, word in (
            ({"weights": 7}, "weights is 7"),
            ({"episodes": 11}, "episodes is 11"),
            ({"start": {"rule": "uniform"}}, "index.seed says start"),
            ({"output": "markov", "taper": True}, "index.seed says start"),
            ({"target": "ce"}, "target is another"),
            ({"game_hash": other}, "game_hash is another"),
            ({"policy_hashes": [good["policy_hashes"][0], other]}, "policy_hashes[1]"),
        ):
            with self.subTest(change=change):
                path.write_text(json.dumps(good | change))
                done = self.run_command("play", run)
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertIn("certificate.json: is not of what this run executes", done.stderr)
                self.assertIn(word, done.stderr)
                # Whoever says what to execute gets that.
                said = ("--output", "markov", "--start", "last")
                self.good("play", run, *said, "--episodes", "10")
        path.write_text(json.dumps(good))
        self.good("play", run, "--episodes", "10")

    def test_a_table_and_a_history_are_not_confused(self):
        run = self.learn(ZERO_SUM, "--monotone", "--episodes", "30")
        private = ("--private-seed", run / "policy/player-1.seed")
        seeds = ("--index-seed", run / "policy/index-1.seed", *private)
        for output, right, wrong in (("table", "markov", "policy"), ("nested", "policy", "markov")):
            self.good("certify", run, "--output", output)
            self.good("play", run / f"policy/player-1.{right}", *seeds)
            done = self.run_command("play", run / f"policy/player-1.{wrong}", *seeds, input="")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f".{right} file", done.stderr)

    def test_the_same_files_for_any_number_of_threads(self):
        for threads in ("1", "2"):
            arguments = ("--episodes", "3e4", "--seeds", "3", "--threads", threads)
            self.good("learn", "shapley", "--out", threads, *arguments)
        for path in sorted((self.folder / "1").glob("*/policy/*")):
            other = self.folder / "2" / path.relative_to(self.folder / "1")
            self.assertEqual(path.read_bytes(), other.read_bytes())

    def test_a_run_without_history_cannot_be_played(self):
        run = self.learn("rps", "--episodes", "10", "--history", "none")
        self.assertFalse((run / "policy").exists())
        done = self.run_command("play", run)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--history none", done.stderr)

    def test_refusals(self):
        run = self.learn("rps", "--episodes", "100", "--certify", "off")
        policy = run / "policy/player-1.policy"
        seeds = ("--index-seed", run / "policy/index-1.seed")
        seeds += ("--private-seed", run / "policy/player-1.seed")
        for arguments, code, words in (
            ((run, "--start", "best"), 2, ("certificate", "last")),
            ((run, "--start", "102"), 2, ("101",)),
            ((run, "--start", "soon"), 2, ("--start",)),
            ((run, "--output", "marginals", "--start", "best"), 2, ("certificate", "last")),
            ((run, "--output", "marginals", "--start", "102"), 2, ("101",)),
            ((run, "--output", "marginals", "--start", "uniform"), 2, ("nested",)),
            ((run, "--episodes", "0"), 2, ("--episodes",)),
            ((policy,), 2, ("--index-seed",)),
            ((policy, "--player", "2", *seeds), 2, ("player 1",)),
            ((run / "config.json", *seeds), 3, ("config.json",)),
            ((self.folder / "nowhere", *seeds), 3, ("nowhere",)),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command("play", *arguments, input="")
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                for word in words:
                    self.assertIn(word, done.stderr)
        for line, word in (
            ('{"episode": 1, "step": 2, "state": 1}', "want"),
            ('{"episode": 1, "step": 1, "state": 2}', "state"),
            ('{"episode": 0, "step": 1, "state": 1}', "counts from 1"),
            ("nonsense", "line 1"),
            ('{"episode": 1}' + " " * 10000, "line 1"),
        ):
            done = self.run_command("play", policy, *seeds, input=line + "\n")
            self.assertIn(done.returncode, (3, 5))
            self.assertIn(word, done.stderr)
        # A line without end takes no memory, and is not taken for the end of the input.
        with open("/dev/zero") as zeros:
            done = run_measured_from_small([VLEARN, "play", policy, *seeds], stdin=zeros)
        self.assertEqual((done["code"], done["out"]), (5, ""))
        self.assertIn("line 1", done["err"])
        self.assertLess(done["peak"], 256 << 20)
        other = self.folder / "other.seed"
        other.write_text((run / "policy/player-1.seed").read_text() + "start best\n")
        seeds = ("--index-seed", other, "--private-seed", run / "policy/player-1.seed")
        done = self.run_command("play", policy, *seeds, input="")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("other.seed: the start 'best' is not known", done.stderr)
        damaged = bytearray(policy.read_bytes())
        damaged[-20] ^= 1
        policy.write_bytes(damaged)
        done = self.run_command("play", run)
        self.assertEqual(done.returncode, 3)
        self.assertIn("segment 1: has a wrong checksum", done.stderr)


if __name__ == "__main__":
    unittest.main()
