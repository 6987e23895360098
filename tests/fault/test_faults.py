# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Troubles of the operating system end in a message, an exit code and files that are whole."""

import errno
import hashlib
import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import unittest

from support import HERE, VLEARN, FaultCase

SMALL = ("learn", "rps", "--episodes", "50", "--quiet")


def limited(what, soft, hard):
    return lambda: resource.setrlimit(what, (soft, hard))


def fingerprint(folder):
    """The hash of every file that counts: not those with times, nor what a failed write leaves."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timing.jsonl" and not path.name.startswith(".vlearn-")
    }


class Descriptors(FaultCase):
    def test_more_players_than_descriptors(self):
        few = limited(resource.RLIMIT_NOFILE, 1024, 1024)
        game = "congestion:players=1100,routes=2,states=1,horizon=1"
        learn = ("learn", game, "--episodes", "20", "--certify", "off", "--out", "run")
        self.good(*learn, "--quiet", preexec_fn=few)
        for arguments in (
            ("play", "run", "--episodes", "2"),
            ("certify", "run", "--output", "markov"),
            ("verify", game, "run", "run/certificate.json"),
            ("report", "run"),
            ("policy", "table", "run", "-o", "table.safetensors"),
            ("deviate", "run", "--player", "1", "--episodes", "10", "--rollouts", "10"),
        ):
            with self.subTest(arguments):
                self.good(*arguments, "--quiet", preexec_fn=few)

    def test_what_the_system_allows_is_used(self):
        """Forty runs at a time have more files open than the soft limit."""
        learn = ("learn", "rps", "--seeds", "40", "--threads", "40", "--max-time", "1")
        few = limited(resource.RLIMIT_NOFILE, 32, 1024)
        self.good(*learn, "--certify", "off", "--quiet", preexec_fn=few)

    def test_none_left(self):
        """Enough for the program to be loaded, and for one file."""
        done = self.vlearn(*SMALL, preexec_fn=limited(resource.RLIMIT_NOFILE, 4, 4))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(b"Too many open files; allow more open files (ulimit -n)", done.stderr)


class Errors(FaultCase):
    """Every call that reads or writes files fails in turn, in ways that are no fault of a file."""

    CODES = (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM)

    def assert_resource(self, calls, arguments, prepare=lambda: None):
        count = self.folder / "count"
        environment = self.preloaded("shim.c") | {"SHIM_CALLS": calls}
        prepare()
        self.good(*arguments, env=environment | {"SHIM_COUNT": str(count)})
        number = int(count.read_text())
        self.assertGreater(number, 3)
        failed = 0
        # Errors take turns: each call fails, and each error comes at many calls.
        for call in range(1, number + 1):
            code = self.CODES[call % len(self.CODES)]
            prepare()
            fault = {"SHIM_AT": str(call), "SHIM_MODE": str(code)}
            done = self.vlearn(*arguments, env=environment | fault)
            with self.subTest(arguments, call=call, error=errno.errorcode[code]):
                self.assertIn(done.returncode, (0, 5), done.stderr)
                if done.returncode == 5:
                    failed += 1
                    self.assertIn(os.strerror(code).encode(), done.stderr)
        self.assertGreater(failed, 1)

    def test_reading(self):
        self.good(*SMALL, "--out", "run")
        self.good("game", "convert", "rps", "rps.json")
        for arguments in (
            ("play", "run", "--episodes", "2"),
            ("certify", "run"),
            ("verify", "rps.json", "run", "run/certificate.json"),
            ("report", "run"),
            ("policy", "table", "run", "-o", "table.safetensors"),
            ("game", "validate", "rps.json"),
        ):
            self.assert_resource("reads", (*arguments, "--quiet"))

    def test_writing(self):
        def fresh():
            shutil.rmtree(self.folder / "run", ignore_errors=True)

        more = ("--checkpoint-episodes", "15", "--out", "run")
        self.assert_resource("writes", (*SMALL, *more), fresh)
        self.assert_resource("reads", (*SMALL, *more), fresh)

    def test_a_run_that_cannot_be_seen_is_not_replaced(self):
        """The folder cannot be listed: nobody knows that a run is in it."""
        self.good(*SMALL, "--out", "run")
        before = fingerprint(self.folder / "run")
        environment = self.preloaded("shim.c") | {"SHIM_CALLS": "reads"}
        for call in range(1, 12):
            fault = {"SHIM_AT": str(call), "SHIM_MODE": str(errno.EIO)}
            done = self.vlearn(*SMALL, "--out", "run", env=environment | fault)
            self.assertIn(done.returncode, (2, 5), (call, done.stderr))
            self.assertEqual(fingerprint(self.folder / "run"), before)

    def test_fixes(self):
        self.good(*SMALL, "--out", "run")
        environment = self.preloaded("shim.c") | {"SHIM_CALLS": "reads", "SHIM_AT": "2"}
        for code, fix in (
            (errno.EMFILE, b"; allow more open files (ulimit -n)"),
            (errno.ENFILE, b"; the whole system has too many open files: end other programs"),
            (errno.EIO, b"; the disk fails: check it"),
            (errno.ENOMEM, b"; free memory, or allow more of it (ulimit -v)"),
        ):
            done = self.vlearn("play", "run", env=environment | {"SHIM_MODE": str(code)})
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(
                b"config.json: cannot be opened: " + os.strerror(code).encode(), done.stderr
            )
            self.assertIn(fix, done.stderr)


class Paths(FaultCase):
    """A path may have any bytes; what is printed and written is UTF-8."""

    BAD = b"bad\xff"

    def shown(self, *arguments, code=0, **options):
        words = [word if isinstance(word, bytes) else word.encode() for word in arguments]
        done = self.vlearn(*words, **options)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        done.stderr.decode()
        return done.stdout.decode()

    def test_every_command(self):
        bad = self.BAD
        run, planned = bad + b"/run", bad + b"/planned"
        vi, game = bad + b"/vi", bad + b"/rps.json"
        (self.folder / os.fsdecode(bad)).mkdir()
        for arguments, key in (
            (("game", "convert", "rps", game), "to"),
            (("game", "convert", game, bad + b"/rps.safetensors"), "to"),
            (("game", "random", "-o", bad + b"/random.json"), "to"),
            (("game", "show", game), "game"),
            (("game", "validate", game), "game"),
            (("game", "simulate", game), "game"),
            (("plan", game, "--eps", "0.1"), "game"),
            (("compare", game, "--episodes", "10"), "game"),
            (("learn", "rps", "--episodes", "50", "--out", run), "out"),
            (("learn", "rps", "--episodes", "9", "--seeds", "2", "--out", bad + b"/seeds"), None),
            (("learn", "--resume", run), "out"),
            (("learn", game, "--resume", run), "out"),
            (("learn", "rps", "--algorithm", "nash-vi", "--episodes", "9", "--out", vi), "out"),
            (("solve", "rps", "--out", planned), "run"),
            (("play", run, "--episodes", "2"), None),
            (("play", planned, "--episodes", "2"), None),
            (("certify", run), None),
            (("certify", run, "-o", bad + b"/other.json"), None),
            (("verify", game, run, run + b"/certificate.json"), None),
            (("policy", "show", run), None),
            (("policy", "table", run, "-o", bad + b"/table.safetensors"), "file"),
            (("deviate", run, "--episodes", "10", "--rollouts", "10"), None),
            (("report", run, planned, "-o", bad + b"/report.html"), "file"),
            (("report", run, "--game", game), "file"),
            (("experiment", "curse", "--players", "2", "--seeds", "1", "--out", bad + b"/x"), None),
        ):
            with self.subTest(arguments):
                result = json.loads(self.shown(*arguments, "--json"))
                if key:
                    self.assertTrue(result[key].startswith("bad\\xff/"), result[key])
                if "--out" not in arguments:
                    self.shown(*arguments)
        for path in (self.folder / os.fsdecode(bad)).rglob("*"):
            if path.suffix in (".json", ".jsonl", ".html", ".md", ".csv"):
                path.read_bytes().decode()

    def test_from_within(self):
        inside = self.folder / os.fsdecode(self.BAD)
        inside.mkdir()
        for arguments in ((*SMALL, "--out", "run"), ("report", "run"), ("play", "run")):
            self.shown(*arguments, cwd=inside)

    def test_a_run_keeps_the_name_of_its_game(self):
        """So that it can be found again; a file does not take just any name."""
        bad = self.BAD + b".json"
        shutil.copy(HERE.parents[1] / "catalog/rps.json", os.fsencode(self.folder) + b"/" + bad)
        for arguments in (
            ("learn", bad, "--episodes", "9"),
            ("learn", bad, "--episodes", "9", "--algorithm", "nash-vi"),
            ("solve", bad),
        ):
            done = self.vlearn(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(
                "bad\\xff.json: is not UTF-8, and a run keeps this name", done.stderr.decode()
            )
            self.assertFalse((self.folder / "runs").exists())

    def test_messages(self):
        bad = self.BAD
        for arguments in (
            ("play", bad),
            ("report", bad),
            ("certify", bad),
            ("learn", bad, "--episodes", "9"),
            ("learn", "--resume", bad),
            ("game", "show", bad + b".json"),
            ("game", "convert", "rps", bad + b"/missing/rps.json"),
            (bad,),
            ("learn", "rps", "--episodes", bad),
            ("learn", "rps", "--preset", bad),
        ):
            done = self.vlearn(*arguments)
            self.assertIn(done.returncode, (2, 3), done.stderr)
            self.assertIn("bad\\xff", done.stderr.decode())


class Memory(FaultCase):
    POINTS = 90  # of failure, for each command and kind

    def counted(self, environment, *arguments):
        count = self.folder / "count"
        self.good(*arguments, env=environment | {"ALLOCATION_COUNT": str(count)})
        return int(count.read_text())

    def points(self, begin, end, most):
        return range(begin, end, max((end - begin) // most, 1))

    def test_any_allocation_may_fail(self):
        """Alone, or with all that come after it."""
        environment = self.preloaded("allocations.c")
        run, part, again = (self.folder / name for name in ("run", "part", "again"))
        self.good(*SMALL, "--out", run)
        self.good("report", run, "--quiet")
        whole = fingerprint(run)
        del whole["report.html"]
        # A run that was killed between two checkpoints.
        kill = self.preloaded("shim.c") | {"SHIM_AT": "120", "SHIM_MODE": "kill"}
        self.vlearn(*SMALL, "--checkpoint-episodes", "15", "--out", part, env=kill)
        self.assertTrue((part / "checkpoint.safetensors").exists())
        self.assertFalse((part / "result.json").exists())
        before = fingerprint(run)

        def is_as_it_was():
            self.assertEqual(fingerprint(run), before)

        def begin_again():
            shutil.rmtree(again, ignore_errors=True)
            shutil.copytree(part, again)

        def goes_on():
            self.good("learn", "--resume", again, "--quiet")
            self.assertEqual(fingerprint(again), whole)

        def remove():
            shutil.rmtree(again, ignore_errors=True)

        def can_be_planned():
            self.good("solve", "rps", "--quiet", "--force", "--out", again)

        parser = self.counted(environment, "--version")
        for command, prepare, check in (
            (("learn", "--resume", again, "--quiet"), begin_again, goes_on),
            (("solve", "rps", "--out", again, "--quiet"), remove, can_be_planned),
            (("play", run, "--episodes", "2", "--quiet"), lambda: None, is_as_it_was),
            (("certify", run, "--quiet"), lambda: None, is_as_it_was),
            (("report", run, "--quiet"), lambda: None, is_as_it_was),
        ):
            prepare()
            total = self.counted(environment, *command)
            self.assertGreater(total, parser)
            codes = set()
            for mode in ("once", "ever"):
                for number in (
                    *self.points(1, parser, self.POINTS // 6),
                    *self.points(parser, total + 1, self.POINTS),
                ):
                    prepare()
                    fault = {"ALLOCATION_FAILS": str(number), "ALLOCATION_MODE": mode}
                    done = self.vlearn(*command, env=environment | fault)
                    with self.subTest(command[0], mode=mode, number=number):
                        self.assertIn(done.returncode, (0, 5), done.stderr)
                        codes.add(done.returncode)
                        if mode == "ever" and done.returncode == 5:
                            self.assertIn(b"vlearn: out of memory; ", done.stderr)
                        check()
            self.assertIn(5, codes)

    def test_the_message_says_what_takes_less(self):
        """And it does take less."""
        little = limited(resource.RLIMIT_AS, 56 << 20, 56 << 20)
        learn = ("learn", "soccer", "--episodes", "100", "--quiet", "--out")
        done = self.vlearn(*learn, "one", preexec_fn=little)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(b"vlearn: out of memory; use --history none, --certify off", done.stderr)
        self.good(*learn, "two", "--history", "none", "--certify", "off", preexec_fn=little)


class Signals(FaultCase):
    def learning(self, **options):
        """A run that has begun, and goes on until it is told to stop."""
        command = [VLEARN, "learn", "rps", "--max-time", "600", "--out", "run"]
        usual = {"cwd": self.folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, **(usual | options))
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for_rows(lambda: self.assertIsNone(process.poll()))
        return process

    def wait_for_rows(self, check_that_it_lives):
        metrics = self.folder / "run/metrics.csv"
        while not (metrics.exists() and metrics.read_text().count("\n") > 20):
            check_that_it_lives()

    def assert_goes_on(self):
        self.assertTrue((self.folder / "run/checkpoint.safetensors").exists())
        result = json.loads((self.folder / "run/result.json").read_text())
        self.assertEqual(result["stopped"], "interrupt")
        self.good("play", "run", "--episodes", "2")

    def test_a_policy_file_that_is_cut(self):
        self.good("learn", "soccer", "--episodes", "20000", "--certify", "off", "--out", "run")
        path = self.folder / "run/policy/player-1.policy"
        play = [VLEARN, "play", "run", "--episodes", "1e9", "--trace"]
        process = subprocess.Popen(
            play, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.addCleanup(process.kill)
        process.stdout.readline()
        os.truncate(path, 4096)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn(f"vlearn: {path}: was cut while it was read", errors.decode())

    def test_a_bus_error_from_elsewhere(self):
        process = self.learning()
        process.send_signal(signal.SIGBUS)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGBUS)

    def test_hanging_up_leaves_a_checkpoint(self):
        """Shells send the signal once, and the system again when they end."""
        stop = self.folder / "stop"
        shim = self.preloaded("shim.c") | {"SHIM_STOP": str(stop)}
        process = self.learning(env=shim)
        stop.touch()
        process.send_signal(signal.SIGHUP)
        # It stands still in the middle of its checkpoint.
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, errors)
        self.assertIn(b"vlearn: stopping: writing a checkpoint\n", errors)
        self.assertIn(b"go on with: vlearn learn --resume run", errors)
        self.assert_goes_on()

    def test_a_terminal_that_closes(self):
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execv(VLEARN, [VLEARN, "learn", "rps", "--max-time", "600", "--out", "run"])
        self.wait_for_rows(lambda: self.assertEqual(os.waitpid(child, os.WNOHANG), (0, 0)))
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 75)
        self.assert_goes_on()

    def test_nohup(self):
        """A process that is told to ignore the signal goes on."""
        process = self.learning(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        metrics = self.folder / "run/metrics.csv"
        rows = metrics.read_text().count("\n")
        while metrics.read_text().count("\n") <= rows:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, errors)


if __name__ == "__main__":
    unittest.main()
