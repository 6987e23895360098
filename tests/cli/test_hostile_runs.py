# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""A run folder from a stranger costs no more than its files say.

config.json names the game, and a few words can stand for gigabytes: every command that reads a run
must refuse such a game before it is built, for less than 256 MB. A large game that fits the run's
own files is built as ever.
"""

import json
import resource
import shutil
import unittest

from command_test import VLEARN, CommandTest
from measure import run_measured

PEAK = 256 * 10**6
ADDRESSES = 2**30  # a game that gets around the limits must not take the machine with it

HUGE = "random:players=2,states=1000,actions=10,horizon=10"  # 8 GB
# Learners of these would be huge, the tables of the games are not.
LONG = "pursuit:size=12,horizon=10000"
CROWD = "congestion:players=10000,routes=1000,states=3,horizon=100"
# Somewhat larger than what is built without a look: 4.8 million numbers.
LARGE = "random:players=2,states=60,actions=8,horizon=20"

READERS = {
    "play": ("play", "run", "--episodes", "1"),
    "play one step": ("play", "run", "--episodes", "1", "--trace"),
    "certify": ("certify", "run"),
    "certify sampled": ("certify", "run", "--method", "sampled"),
    "deviate": ("deviate", "run"),
    "policy show": ("policy", "show", "run"),
    "policy table": ("policy", "table", "run", "-o", "table.safetensors"),
    "report": ("report", "run"),
    "resume": ("learn", "--resume", "run"),
}


def limit_addresses():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


class HostileRuns(CommandTest):
    def learn(self, *arguments):
        self.good("learn", *arguments, "--quiet", "--force", "--out", "run")

    def rename_game(self, word):
        config = self.folder / "run" / "config.json"
        written = json.loads(config.read_text())
        written["game"] = word
        config.write_text(json.dumps(written))

    def refused(self, arguments):
        done = run_measured([VLEARN, *arguments], cwd=self.folder, preexec_fn=limit_addresses)
        error = done["err"].decode()
        lines = [line for line in error.splitlines() if "where the game has moved" not in line]
        self.assertEqual((done["code"], len(lines)), (3, 1), error)
        self.assertLess(done["peak"], PEAK, error)
        return lines[0]

    def test_files_of_another_size(self):
        self.learn("rps", "--target", "cce", "--episodes", "20", "--certify", "off")
        for word in (HUGE, LONG, CROWD):
            self.rename_game(word)
            for name, arguments in READERS.items():
                with self.subTest(name, word=word):
                    error = self.refused(arguments)
                    self.assertIn(f"run/config.json: game: '{word}' has ", error)
                    self.assertRegex(error, "and run/policy/player-1.policy has [0-9]+; restore")

    def test_tables_of_another_size(self):
        for arguments in (
            ("solve", "rps"),
            ("learn", "rps", "--algorithm", "nash-vi", "--episodes", "5"),
        ):
            self.good(*arguments, "--quiet", "--force", "--out", "run")
            self.rename_game(HUGE)
            for name in ("play", "certify", "deviate", "report"):
                with self.subTest(name, made_by=arguments):
                    error = self.refused(READERS[name])
                    self.assertIn("run/config.json: game: ", error)
                    self.assertIn("and run/policy/player-1.markov has ", error)

    def test_runs_without_policy_files(self):
        # tables.safetensors, then a checkpoint, then nothing has the sizes.
        self.learn("rps", "--episodes", "20", "--certify", "off", "--history", "none")
        self.rename_game(HUGE)
        for wanted, gone in (
            ("and run/tables.safetensors has 1;", "tables.safetensors"),
            ("and run/checkpoint.safetensors has 1;", "checkpoint.safetensors"),
            ("the run has no file that says how large its game is; if the run is yours", None),
        ):
            for name in ("report", "resume"):
                with self.subTest(name, wanted=wanted):
                    error = self.refused(READERS[name])
                    self.assertIn("run/config.json: game: ", error)
                    self.assertIn(wanted, error)
            for name in ("play", "certify", "deviate", "policy show"):
                self.assertIn("run: has no policy files", self.refused(READERS[name]))
            if gone:
                (self.folder / "run" / gone).unlink()

    def test_names_that_are_no_game(self):
        self.learn("rps", "--episodes", "20", "--certify", "off")
        for word, wanted in (
            ("random:players=0", "game: random: players: is '0'"),
            ("random:player=2", "game: random: has no parameter 'player'"),
            ("congestion-x", "game: congestion: players: is 'x'"),
            ("roshambo", "game: game 'roshambo': is not known"),
            ("gone.json", "game: gone.json: "),
        ):
            self.rename_game(word)
            for name, arguments in READERS.items():
                with self.subTest(name, word=word):
                    self.assertIn(f"run/config.json: {wanted}", self.refused(arguments))

    def test_large_games_that_fit_their_runs_are_read(self):
        self.learn(LARGE, "--episodes", "3", "--certify", "off", "--target", "cce")
        for name in ("play", "policy show", "resume"):
            self.good(*READERS[name])
        self.good("report", "run", "--verify", "off")
        whole = (self.folder / "run" / "tables.safetensors").read_bytes()
        # Without a history there are tables, and before they are written a checkpoint.
        self.learn(
            *(LARGE, "--episodes", "3", "--certify", "off", "--target", "cce"),
            *("--history", "none", "--checkpoint-episodes", "2"),
        )
        self.good("report", "run", "--verify", "off")
        for file in ("tables.safetensors", "result.json"):
            (self.folder / "run" / file).unlink()
        self.good(*READERS["resume"], "--quiet")
        self.assertEqual((self.folder / "run" / "tables.safetensors").read_bytes(), whole)
        # Where nothing has its size, whoever knows the game names it.
        shutil.copytree(self.folder / "run", self.folder / "bare")
        for file in ("tables.safetensors", "checkpoint.safetensors"):
            (self.folder / "bare" / file).unlink()
        self.good("report", "bare", "--game", LARGE)
        self.good("learn", LARGE, "--resume", "bare", "--quiet")


if __name__ == "__main__":
    unittest.main()
