# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn play`: a run executed by all players, and by one player far from the others."""

import json
import shutil
import stat
import tempfile
import unittest

from command_test import VLEARN, CommandTest
from measure import run_measured


class Play(CommandTest):
    def learn(self, game, *arguments):
        self.good("learn", game, "--out", "run", *arguments)
        return self.folder / "run"

    def alone_text(self, run, player, index_seed, states, *arguments, private_seed=None):
        """What one player plays who has nothing but its own things, in a folder of its own."""
        with tempfile.TemporaryDirectory() as away:
            policy = shutil.copy(run / f"policy/player-{player}.policy", away)
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
            ("--output", "markov"),
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
            done = run_measured([VLEARN, "play", policy, *seeds], stdin=zeros)
        self.assertEqual((done["code"], done["out"]), (5, b""))
        self.assertIn(b"line 1", done["err"])
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
