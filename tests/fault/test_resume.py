# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are stopped, killed or starved of disk end with the same bytes as runs that were not.

VLEARN_KILLS (default 20) is how often the long test kills its run.
"""

import contextlib
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

VLEARN = os.environ["VLEARN"]
COMPILER = os.environ.get("VLEARN_COMPILER", "c++")
KILLS = int(os.environ.get("VLEARN_KILLS", "20"))
HERE = Path(__file__).parent

SOCCER = ("soccer", "--seed", "3", "--episodes", "1e5")
SMALL = ("rps", "--episodes", "50")
RUNS = {
    "nash": SOCCER,
    "ce": ("random:players=3,states=3,actions=3,horizon=4,seed=1", "--target", "ce")
    + ("--preset", "rigorous", "--episodes", "6e4"),
    "monotone": ("lock:horizon=6", "--monotone", "--preset", "paper", "--episodes", "2e5"),
    "many": ("congestion-100", "--episodes", "3000", "--control-variate", "on"),
    "bare": ("soccer", "--history", "none", "--episodes", "1e5"),
    "nested": ("random:players=3,states=3,actions=3,horizon=4,seed=1", "--preset", "practical")
    + ("--episodes", "2e4"),
    "markov": ("random:players=3,states=3,actions=3,horizon=4,seed=1", "--episodes", "5e4"),
}


def fingerprint(run):
    """The hash of every file of a run but the one with times."""
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name != "timing.jsonl"
    }


class Resume(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        # In memory where that can be: thousands of files are brought to the disk.
        memory = Path("/dev/shm")
        folder = tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.run_folder = self.folder / "run"

    def learn(self, *arguments, **options):
        options = {"capture_output": True, "text": True, "cwd": self.folder} | options
        return subprocess.run([VLEARN, "learn", *arguments, "--quiet"], **options)

    def whole(self, arguments):
        """What a run leaves that nothing happened to."""
        out = self.folder / "whole"
        done = self.learn(*arguments, "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return fingerprint(out)

    def begin(self, arguments, *more):
        """The command that begins a run, or goes on with it."""
        if (self.run_folder / "config.json").exists():
            return [VLEARN, "learn", "--resume", self.run_folder, "--quiet", *more]
        return [VLEARN, "learn", *arguments, "--out", self.run_folder, "--quiet", *more]

    def resume(self, *more):
        return self.learn("--resume", self.run_folder, *more)

    def assert_ends_as(self, whole, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(fingerprint(self.run_folder), whole)

    def interrupt(self, arguments, number=signal.SIGINT, at_least=1000):
        """Begins a run, and stops it some time after so many episodes."""
        process = subprocess.Popen(
            self.begin(arguments, "--checkpoint-episodes", "500"),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        metrics = self.run_folder / "metrics.csv"
        while process.poll() is None:
            if metrics.exists() and f"\n{at_least}," in metrics.read_text():
                break
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    def test_killed_at_random_moments(self):
        draw = random.Random(7)
        for name, arguments in RUNS.items():
            with self.subTest(name):
                shutil.rmtree(self.run_folder, ignore_errors=True)
                shutil.rmtree(self.folder / "whole", ignore_errors=True)
                whole = self.whole(arguments)
                kills = KILLS if name == "nash" else max(KILLS // 5, 4)
                for _ in range(kills):
                    command = self.begin(arguments, "--checkpoint-episodes", "700")
                    process = subprocess.Popen(
                        command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                    )
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(draw.uniform(0.0, 0.08))
                        self.assertEqual(process.returncode, 0, process.stderr.read())
                    process.kill()
                    process.communicate()
                done = subprocess.run(
                    self.begin(arguments), cwd=self.folder, capture_output=True, text=True
                )
                self.assert_ends_as(whole, done)

    def test_every_call_that_changes_a_file_may_be_the_last(self):
        """Killed in the middle of each, or failing at it, in turn."""
        shim = self.folder / "shim.so"
        subprocess.run(
            [COMPILER, "-x", "c", "-shared", "-fPIC", HERE / "shim.c", "-o", shim, "-ldl"],
            check=True,
        )
        more = ("--checkpoint-episodes", "15")
        whole = self.whole(SMALL)
        count = self.folder / "count"
        environment = dict(os.environ, LD_PRELOAD=str(shim))
        self.learn(*SMALL, *more, env=environment | {"SHIM_COUNT": str(count)})
        calls = int(count.read_text())
        self.assertGreater(calls, 100)
        codes = set()
        for mode in ("torn", "28"):
            for call in range(1, calls + 1):
                shutil.rmtree(self.run_folder, ignore_errors=True)
                wrong = {"SHIM_AT": str(call), "SHIM_MODE": mode}
                first = subprocess.run(
                    self.begin(SMALL, *more),
                    cwd=self.folder,
                    env=environment | wrong,
                    capture_output=True,
                )
                codes.add(first.returncode)
                done = subprocess.run(
                    self.begin(SMALL), cwd=self.folder, capture_output=True, text=True
                )
                with self.subTest(mode=mode, call=call):
                    self.assert_ends_as(whole, done)
        # Killed; a full disk; and calls whose failure does no harm.
        self.assertEqual(codes, {-signal.SIGKILL, 5, 0})

    def test_signals_leave_a_checkpoint(self):
        whole = self.whole(SOCCER)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
            shutil.rmtree(self.run_folder, ignore_errors=True)
            code, errors = self.interrupt(SOCCER, number)
            self.assertEqual(code, 75)
            self.assertIn(f"vlearn learn --resume {self.run_folder}", errors)
            result = json.loads((self.run_folder / "result.json").read_text())
            self.assertEqual(result["stopped"], "interrupt")
            # What was learned so far can be used.
            play = [VLEARN, "play", self.run_folder, "--episodes", "10"]
            subprocess.run(play, check=True, stdout=subprocess.DEVNULL)
            self.assert_ends_as(whole, self.resume())
        # A run that has ended can be resumed too: nothing changes.
        self.assert_ends_as(whole, self.resume())

    def test_a_certificate_that_is_gone_is_made_again(self):
        for name in ("nested", "markov", "bare"):
            with self.subTest(name):
                shutil.rmtree(self.run_folder, ignore_errors=True)
                shutil.rmtree(self.folder / "whole", ignore_errors=True)
                arguments = RUNS[name][:-1] + ("2000",)
                whole = self.whole(arguments)
                self.learn(*arguments, "--out", self.run_folder)
                (self.run_folder / "certificate.json").unlink()
                done = self.resume()
                self.assertEqual(done.stderr, "")
                self.assert_ends_as(whole, done)

    def test_a_certificate_of_another_run(self):
        self.learn(*SMALL, "--out", self.run_folder)
        self.learn("rps", "--target", "cce", "--episodes", "50", "--out", self.folder / "other")
        shutil.copy(self.folder / "other/certificate.json", self.run_folder)
        done = self.resume()
        self.assertEqual(done.returncode, 3)
        # To go on with it would end here again.
        self.assertNotIn("--resume", done.stderr)
        self.assertIn("vlearn certify RUN", done.stderr)
        subprocess.run([VLEARN, "certify", self.run_folder], check=True, capture_output=True)
        self.assertEqual(self.resume().returncode, 0)

    def test_a_folder_that_goes_while_it_is_written(self):
        process = subprocess.Popen(
            self.begin(("rps", "--episodes", "1e12"), "--checkpoint-episodes", "1000"),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        metrics = self.run_folder / "metrics.csv"
        while process.poll() is None:
            if metrics.exists() and "\n1000," in metrics.read_text():
                break
        self.run_folder.rename(self.folder / "elsewhere")
        _, errors = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn(f"{self.run_folder} is gone: learn it again, without --resume", errors)
        self.assertNotIn("go on with", errors)

    def test_sums_from_data_go_on(self):
        """The means of V over all episodes are in the result: they end the same to the last bit."""
        for arguments in (
            ("rps", "--preset", "rigorous", "--target", "nash", "--episodes", "1e5"),
            ("random:players=3,states=3,actions=3,horizon=4,seed=1", "--preset", "rigorous")
            + ("--certify", "off", "--episodes", "3e4"),
        ):
            shutil.rmtree(self.run_folder, ignore_errors=True)
            shutil.rmtree(self.folder / "whole", ignore_errors=True)
            whole = self.whole(arguments)
            result = json.loads((self.folder / "whole/result.json").read_text())
            self.assertIn("data_certificate", result)
            self.assertEqual(self.interrupt(arguments)[0], 75)
            self.assert_ends_as(whole, self.resume())

    def test_damaged_checkpoints(self):
        whole = self.whole(SOCCER)
        self.interrupt(SOCCER)
        two = sorted(self.run_folder.glob("checkpoint*.safetensors"))
        self.assertEqual(len(two), 2)
        kept = self.folder / "kept"
        shutil.copytree(self.run_folder, kept)
        for which in range(2):
            shutil.rmtree(self.run_folder)
            shutil.copytree(kept, self.run_folder)
            damaged = bytearray(two[which].read_bytes())
            damaged[len(damaged) // 3] ^= 4
            two[which].write_bytes(damaged)
            done = self.resume()
            # checkpoint-old comes first by name; where the newest is good nobody looks at it.
            self.assertEqual(f"not used: {two[1]}" in done.stderr, which == 1)
            self.assert_ends_as(whole, done)
        shutil.rmtree(self.run_folder)
        shutil.copytree(kept, self.run_folder)
        for path in two:
            path.write_bytes(path.read_bytes()[:1000])
        done = self.resume()
        self.assertEqual(done.returncode, 3)
        self.assertIn("no checkpoint that can be used; restore", done.stderr)
        for path in two:
            path.unlink()
        self.assert_ends_as(whole, self.resume())

    def test_files_that_lost_what_a_checkpoint_counts_on(self):
        self.interrupt(SOCCER)
        metrics = self.run_folder / "metrics.jsonl"
        whole = metrics.read_bytes()
        metrics.write_bytes(whole[:100])
        before = fingerprint(self.run_folder)
        done = self.resume()
        self.assertEqual(done.returncode, 3)
        self.assertIn("metrics.jsonl: has 100 bytes where", done.stderr)
        # Nothing was lost: with the file restored the run goes on.
        self.assertEqual(fingerprint(self.run_folder), before)
        metrics.write_bytes(whole)
        self.assert_ends_as(self.whole(SOCCER), self.resume())

    def test_nothing_is_written_through_links(self):
        victim = self.folder / "victim"
        for name in ("result.json", "checkpoint.safetensors", "policy/player-1.policy"):
            self.interrupt(SOCCER)
            victim.write_bytes((self.run_folder / name).read_bytes())
            before = victim.read_bytes()
            (self.run_folder / name).unlink()
            (self.run_folder / name).symlink_to(victim)
            for done in (self.resume(), self.learn(*SMALL, "--force", "--out", self.run_folder)):
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"{name}: is a link", done.stderr)
            self.assertEqual(victim.read_bytes(), before)
            shutil.rmtree(self.run_folder)
        other = self.folder / "other"
        self.learn(*SMALL, "--out", other)
        self.learn(*SMALL, "--out", self.run_folder)
        shutil.rmtree(self.run_folder / "policy")
        (self.run_folder / "policy").symlink_to(other / "policy")
        before = fingerprint(other)
        done = self.learn(*SMALL, "--force", "--out", self.run_folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("policy folder", done.stderr)
        self.assertEqual(fingerprint(other), before)

    def test_force_removes_what_a_run_writes_and_nothing_else(self):
        self.learn(*SMALL, "--out", self.run_folder)
        kept = [self.run_folder / name for name in ("mine.txt", "policy/backup.policy")]
        for path in kept:
            path.write_text("keep")
        done = self.learn(*SMALL, "--force", "--history", "none", "--out", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path.read_text() for path in kept], ["keep", "keep"])
        self.assertFalse((self.run_folder / "policy/player-1.policy").exists())

    def test_a_run_that_is_being_played_is_not_cut(self):
        self.interrupt(SOCCER)
        play = [VLEARN, "play", self.run_folder, "--episodes", "1e9", "--trace"]
        process = subprocess.Popen(play, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        done = self.resume()
        self.assertEqual(done.returncode, 2)
        self.assertIn("is being read by another process", done.stderr)
        self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        self.assert_ends_as(self.whole(SOCCER), self.resume())

    def test_seeds_that_never_began(self):
        arguments = ("rps", "--seeds", "2000", "--threads", "1", "--episodes", "1")
        command = [VLEARN, "learn", *arguments, "--out", self.run_folder, "--quiet"]
        process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        while not (self.run_folder / "rps-20/result.json").exists():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)
        self.assertIn("of 2000 seeds were not begun", errors)

    def test_a_full_disk(self):
        """No file may grow beyond a limit: the run ends with code 5, and goes on without it."""
        whole = self.whole(SOCCER)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (9_000_000, 9_000_000))

        done = subprocess.run(
            self.begin(SOCCER, "--checkpoint-episodes", "10000"),
            cwd=self.folder,
            capture_output=True,
            text=True,
            preexec_fn=limit,
        )
        self.assertEqual(done.returncode, 5)
        self.assertIn("File too large", done.stderr)
        self.assertIn("--resume", done.stderr)
        self.assert_ends_as(whole, self.resume())

    def test_a_folder_that_cannot_be_written(self):
        whole = self.whole(SOCCER)
        self.interrupt(SOCCER)
        before = fingerprint(self.run_folder)
        for path in (self.run_folder, self.run_folder / "policy"):
            path.chmod(0o555)
        for path in self.run_folder.rglob("*"):
            if path.is_file():
                path.chmod(0o444)
        self.folder.chmod(0o755)
        somebody = {"user": 65534, "group": 65534} if os.getuid() == 0 else {}
        done = self.learn("--resume", self.run_folder, **somebody)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("cannot be written and is as it was before: Permission denied", done.stderr)
        self.assertEqual(fingerprint(self.run_folder), before)
        for path in (self.run_folder, *self.run_folder.rglob("*")):
            path.chmod(0o755)
        for path in self.run_folder.glob("policy/player-*.seed"):
            path.chmod(0o600)
        self.assert_ends_as(whole, self.resume())

    def test_one_process_at_a_time(self):
        process = subprocess.Popen(
            self.begin(("rps", "--max-time", "600")),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not (self.run_folder / "timing.jsonl").exists():
            self.assertIsNone(process.poll())
        for done in (
            self.resume(),
            self.learn("rps", "--episodes", "9", "--force", "--out", "run"),
        ):
            self.assertEqual(done.returncode, 2)
            self.assertIn("in use by another process", done.stderr)
        process.kill()
        process.wait()

    def test_only_the_run_itself_is_gone_on_with(self):
        self.learn(*SMALL, "--out", self.run_folder)
        config = self.run_folder / "config.json"
        text = config.read_text()
        for old, new, code, words in (
            ('"seed": 1', '"seed": 2', 3, "is of another run"),
            ("\n}", "\n }", 3, "is not as the program wrote it"),
            ('"schema": "vlearn.config/1"', '"schema": "vlearn.config/9"', 3, "schema"),
            ('"rule": "', '"rule": "x', 3, "rule"),
            ('"version": "', '"version": "9', 2, "begun by version 9"),
            ('"game": "rps"', '"game": "chicken"', 3, "another game"),
            ('"game": "rps"', '"game": "-"', 2, "standard input"),
            ('"game": "rps"', '"game": "nowhere.json"', 3, "nowhere.json"),
        ):
            self.assertIn(old, text)
            config.write_text(text.replace(old, new))
            done = self.resume()
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)
        config.write_text(text)
        for arguments, words in (
            (("--episodes", "9"), "--episodes excludes --resume"),
            (("--seed", "2"), "--seed excludes --resume"),
        ):
            done = self.resume(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
        done = self.learn("--resume", self.folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn("config.json", done.stderr)
        done = self.learn("--episodes", "9")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no game is given", done.stderr)

    def test_a_game_that_has_moved(self):
        game = self.folder / "one.json"
        game.write_text((HERE.parents[1] / "catalog/rps.json").read_text())
        self.learn(game, "--episodes", "200", "--out", self.run_folder)
        before = fingerprint(self.run_folder)
        game.rename(self.folder / "two.json")
        self.assertEqual(self.resume().returncode, 3)
        self.assert_ends_as(before, self.resume(self.folder / "two.json"))

    def test_checkpoints_by_the_clock(self):
        process = subprocess.Popen(
            self.begin(("rps", "--max-time", "600"), "--checkpoint-seconds", "0.05"),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 60
        while not (self.run_folder / "checkpoint-old.safetensors").exists():
            self.assertLess(time.monotonic(), end)

    def test_a_run_that_time_has_ended_goes_on_for_as_long(self):
        done = self.learn("rps", "--max-time", "0.1", "--json", "--out", self.run_folder)
        first = json.loads(done.stdout)
        second = json.loads(self.resume("--json").stdout)
        self.assertEqual((first["stopped"], second["stopped"]), ("time", "time"))
        self.assertGreater(second["episodes"], first["episodes"])


if __name__ == "__main__":
    unittest.main()
