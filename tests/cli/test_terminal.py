# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""How the command speaks: progress, colour, quiet, and what Ctrl-C does."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata
import unittest
from pathlib import Path

from command_test import VLEARN, CommandTest

CLEAR = "\r\x1b[K"
COLOR = re.compile(r"\x1b\[[0-9;]*m")
LONG = ("learn", "soccer", "--until-gap", "1e-6")  # takes hours


def environment(**changes):
    """Ours without what would decide on colours, and these."""
    names = ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM")
    kept = {key: value for key, value in os.environ.items() if key not in names}
    return kept | {"TERM": "xterm", "LC_ALL": "C"} | changes


def end(process):
    if process.poll() is None:
        process.kill()
    process.communicate()


class OnTerminal(CommandTest):
    """With stderr, and stdout where that is said, on a terminal of so many columns."""

    def start(self, *arguments, columns=100, out=False, **changes):
        reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [VLEARN, *arguments],
            cwd=self.folder,
            env=environment(**changes),
            stdin=subprocess.DEVNULL,
            stdout=writer if out else subprocess.PIPE,
            stderr=writer,
        )
        self.terminal = os.ttyname(writer)
        os.close(writer)
        self.addCleanup(end, process)
        self.addCleanup(os.close, reader)
        return process, reader

    def read(self, reader, until=None, seconds=60):
        """What comes until it contains these words, or until the end."""
        shown = b""
        end = time.monotonic() + seconds
        while until is None or until not in shown.decode(errors="replace"):
            if not select.select([reader], [], [], max(end - time.monotonic(), 0))[0]:
                self.fail(f"waited in vain for {until}: {shown}")
            try:
                piece = os.read(reader, 4096)
            except OSError:  # nobody writes any more
                piece = b""
            if not piece:
                break
            shown += piece
        return shown.decode()

    def show(self, *arguments, code=0, **options):
        process, reader = self.start(*arguments, **options)
        shown = self.read(reader)
        output = "" if process.stdout is None else process.stdout.read().decode()
        self.assertEqual(process.wait(60), code, shown)
        return shown, output

    def stop(self, process, reader, code=None):
        """By Ctrl-C; what is shown then, to the end."""
        process.send_signal(signal.SIGINT)
        shown = self.read(reader)
        self.assertEqual(process.wait(60), code, shown)
        self.assertRegex(COLOR.sub("", shown), r"vlearn: stopping")
        # The bar is gone.
        self.assertNotRegex(shown.split("at once)")[1].split(CLEAR)[-1], r" %  |ifying, ")
        return shown


def states_of(shown):
    """What the bar was, one after the other."""
    return [part for part in shown.split(CLEAR)[1:] if part and "\n" not in part]


class Bars(OnTerminal):
    def test_the_bar_has_episodes_rate_gap_and_time_and_goes(self):
        shown, _ = self.show("learn", "soccer", "--max-time", "1.5", "--seeds", "2")
        bars = states_of(shown)
        self.assertGreater(len(bars), 3, shown)
        last = [bar for bar in bars if not bar.startswith("certifying, ")][-1]
        self.assertRegex(last, r"^\[#+ *\] +\d+ %  ")
        for words in ("episodes, ", "agent-steps/s, ", "gap ", " s left"):
            self.assertIn(words, last)
        self.assertNotIn("about", last)
        self.assertTrue(shown.endswith(CLEAR), shown[-100:])

    def test_it_never_exceeds_the_width(self):
        learn = ("learn", "soccer", "--until-gap", "1e-6", "--max-time", "0.6", "--force")
        for columns, locale in ((20, "C.UTF-8"), (45, "C"), (80, "C.UTF-8"), (132, "C")):
            shown, _ = self.show(*learn, columns=columns, code=4, LC_ALL=locale)
            bars = states_of(shown)
            self.assertTrue(bars, shown)
            for bar in bars:
                self.assertLess(len(bar), columns, bar)
                self.assertTrue(bar.isascii() or locale != "C", bar)
                self.assertFalse(any(unicodedata.east_asian_width(one) in "WF" for one in bar))
            if columns == 80:
                self.assertIn("\u2588", "".join(bars))

    def test_time_left_until_a_gap_is_a_guess(self):
        process, reader = self.start("learn", "soccer", "--until-gap", "0.001", columns=132)
        shown = self.read(reader, until=" left")
        last = [bar for bar in states_of(shown) if " left" in bar][-1]
        self.assertRegex(last, r" %  .*gap \S+ \(want 0.001\), about \S+ \S+ left")
        self.stop(process, reader, 75)

    def test_nothing_is_guessed_beyond_a_day(self):
        process, reader = self.start("learn", "soccer", "--until-gap", "1e-30", columns=132)
        shown = self.read(reader, until="(want 1e-30)" + CLEAR)
        self.assertNotIn("left", shown)
        self.stop(process, reader, 75)

    def test_work_that_nobody_can_count_shows_its_time(self):
        learn = ("learn", "soccer", "--episodes", "3e5", "--certify", "off", "--out", "run")
        self.good(*learn, "--quiet")
        process, reader = self.start("certify", "run", "--output", "nested", "--start", "uniform")
        shown = self.read(reader, until=" s" + CLEAR)
        self.assertRegex(states_of(shown)[0], r"^certifying, \d+ s$")
        self.stop(process, reader, 130)
        self.assertFalse((self.folder / "run" / "certificate.json").exists())

    def test_deviate_counts_episodes(self):
        self.good("learn", "rps", "--episodes", "1e4", "--out", "run", "--quiet")
        shown, _ = self.show("deviate", "run", "--episodes", "3e5", "--rollouts", "1e5")
        self.assertRegex(states_of(shown)[-1], r"^\[#* *\] +\d+ %  \S+ episodes, \d+ s left$")

    def test_runs_are_counted(self):
        process, reader = self.start("compare", "rps", "--seeds", "4", "--episodes", "1e9")
        self.read(reader, until="of 8 runs")
        self.stop(process, reader, 130)

    def test_no_bar_where_it_is_unwanted(self):
        learn = ("learn", "rps", "--max-time", "0.5", "--force")
        for extra, changes in (
            (("--quiet",), {}),
            (("--progress", "never"), {}),
            ((), {"TERM": "dumb"}),
        ):
            shown, _ = self.show(*learn, *extra, **changes)
            self.assertEqual(states_of(shown), [])
            self.assertNotIn("\x1b[K", shown)

    def test_without_a_terminal_there_are_only_lines(self):
        done = self.run_command("learn", "rps", "--max-time", "0.5", env=environment())
        self.assertNotIn("\r", done.stderr)
        self.assertNotIn("\x1b", done.stderr + done.stdout)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("vlearn: "), line)
        always = ("--progress", "always", "--force")
        done = self.run_command("learn", "rps", "--max-time", "0.5", *always, env=environment())
        self.assertIn("agent-steps/s", done.stderr)


class Signals(OnTerminal):
    def shim(self):
        library = self.folder / "shim.so"
        source = Path(__file__).parents[1] / "fault" / "shim.c"
        compiler = os.environ.get("VLEARN_COMPILER", "c++")
        flags = ("-shared", "-fPIC", "-o", library, "-ldl")
        subprocess.run([compiler, "-x", "c", source, *flags], check=True)
        return library

    def begin(self, *arguments, out="run", rows=20, env=None):
        """A run that has played for a while, with stderr in a pipe."""
        process = subprocess.Popen(
            [VLEARN, *(arguments or LONG), "--out", out],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(end, process)
        self.wait_for_rows(process, out, rows)
        return process

    def wait_for_rows(self, process, out, rows):
        end = time.monotonic() + 60
        while self.rows(out) <= rows:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end, "waited in vain for rows")
            time.sleep(0.01)

    def rows(self, out):
        metrics = self.folder / out / "metrics.csv"
        return metrics.read_text().count("\n") if metrics.exists() else 0

    def resume(self, run):
        """Goes on with it until it plays, and stops it in good order."""
        process, reader = self.start("learn", "--resume", run)
        self.read(reader, until="gap ")
        self.stop(process, reader, 75)

    def wait_until_stopped(self, process):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pid, status = os.waitpid(process.pid, os.WUNTRACED | os.WNOHANG)
            if pid:
                return status
            time.sleep(0.01)
        self.fail("waited in vain for it to stand still")

    def episodes(self, run):
        return json.loads((self.folder / run / "result.json").read_text())["episodes"]

    def test_the_first_writes_a_checkpoint_and_the_run_goes_on(self):
        for number, words in (
            (signal.SIGINT, "stopping: writing a checkpoint (Ctrl-C again to stop at once)\n"),
            (signal.SIGTERM, "stopping: writing a checkpoint\n"),
        ):
            out = number.name
            process = self.begin("learn", "rps", "--max-time", "600", out=out)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 75, errors)
            self.assertIn("vlearn: " + words, errors)
            before = self.episodes(out)
            self.resume(out)
            self.assertGreater(self.episodes(out), before)

    def test_the_second_ends_it_at_once_and_the_run_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            out = number.name
            preload = {"LD_PRELOAD": str(self.shim()), "SHIM_STOP": str(self.folder / "stop")}
            learn = ("learn", "rps", "--max-time", "600")
            process = self.begin(*learn, out=out, env=environment(**preload))
            (self.folder / "stop").touch()
            process.send_signal(number)
            # It stands still in the middle of its checkpoint, where the second one finds it.
            status = self.wait_until_stopped(process)
            self.assertTrue(os.WIFSTOPPED(status), status)
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number)
            self.assertIn("vlearn: stopping: writing a checkpoint", errors)
            (self.folder / "stop").unlink()
            self.assertFalse((self.folder / out / "result.json").exists())
            self.resume(out)
            self.assertGreater(self.episodes(out), 0)

    def test_ctrl_c_on_a_terminal_takes_the_bar_away(self):
        process, reader = self.start(*LONG)
        self.read(reader, until="agent-steps/s")
        shown = self.stop(process, reader, 75)
        self.assertIn(CLEAR, shown.split("stopping")[0][-40:])

    def test_a_terminal_that_stands_still_stops_nothing(self):
        process, reader = self.start(*LONG, "--out", "run")
        self.read(reader, until="agent-steps/s")
        terminal = os.open(self.terminal, os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(terminal, termios.TCOOFF)  # Ctrl-S
        time.sleep(0.5)  # some bars' time
        self.wait_for_rows(process, "run", self.rows("run") + 2)
        process.terminate()
        end = time.monotonic() + 60
        while not (self.folder / "run" / "result.json").exists():
            self.assertLess(time.monotonic(), end, "no checkpoint while the terminal stands still")
            time.sleep(0.01)
        termios.tcflow(terminal, termios.TCOON)
        os.close(terminal)
        self.read(reader)
        self.assertEqual(process.wait(60), 75)
        self.assertGreater(self.episodes("run"), 0)

    def test_who_reads_stderr_may_go(self):
        for extra in ((), ("--progress", "always")):
            out = f"run{len(extra)}"
            process = self.begin("learn", "rps", "--max-time", "600", "-v", *extra, out=out)
            process.stderr.close()
            time.sleep(0.5)  # some bars' time
            self.wait_for_rows(process, out, self.rows(out))
            process.terminate()
            self.assertEqual(process.wait(60), 75)
            self.assertGreater(self.episodes(out), 0)

    def test_who_reads_stdout_ends_the_command_quietly(self):
        for ignored, code in ((False, -signal.SIGPIPE), (True, 5)):
            reader, writer = os.pipe()
            os.close(reader)
            process = subprocess.Popen(
                [VLEARN, "games"],
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=subprocess.PIPE,
                restore_signals=not ignored,  # Python ignores SIGPIPE
            )
            os.close(writer)
            self.addCleanup(end, process)
            errors = process.stderr.read().decode()
            self.assertEqual(process.wait(60), code, errors)
            self.assertEqual(bool(errors), ignored, errors)

    def test_a_certificate_that_was_interrupted_is_made_later(self):
        learn = ("learn", "soccer", "--episodes", "2e5", "--output", "nested", "--preset", "fast")
        self.good(*learn, "--out", "whole", "--quiet", "--certify", "on")
        process, reader = self.start(*learn, "--out", "run", "--certify", "on")
        self.read(reader, until="certifying, ")
        shown = self.stop(process, reader, 75)
        self.assertIn("go on with: vlearn learn --resume run", shown)
        self.assertFalse((self.folder / "run" / "certificate.json").exists())
        self.good("learn", "--resume", "run", "--quiet")
        for name in ("certificate.json", "result.json", "metrics.csv", "tables.safetensors"):
            whole, run = (self.folder / out / name for out in ("whole", "run"))
            self.assertEqual(whole.read_bytes(), run.read_bytes(), name)

    def test_verify_just_stops(self):
        learn = ("learn", "soccer", "--episodes", "1e5", "--output", "nested", "--preset", "fast")
        self.good(*learn, "--out", "run", "--quiet", "--certify", "on")
        process, reader = self.start("verify", "soccer", "run", "run/certificate.json")
        self.read(reader, until="verifying, ")
        self.stop(process, reader, 130)

    def test_commands_without_checkpoints_just_stop(self):
        self.good("learn", "rps", "--episodes", "1000", "--out", "run", "--quiet")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process, reader = self.start("deviate", "run", "--episodes", "1e9")
            self.read(reader, until="episodes")
            process.send_signal(number)
            shown = self.read(reader)
            self.assertEqual(process.wait(60), 128 + number)
            self.assertRegex(COLOR.sub("", shown), r"vlearn: stopping( \(Ctrl-C .*\))?\r?\n")

    def test_quiet_says_no_more_than_how_to_go_on(self):
        process = self.begin("learn", "rps", "--max-time", "600", "--quiet")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        go_on = "vlearn: note: go on with: vlearn learn --resume run\n"
        self.assertEqual((process.returncode, errors), (75, go_on))


class Everywhere(OnTerminal):
    def test_quiet_before_and_behind_the_command(self):
        learn = ("learn", "rps", "--episodes", "100", "--force")
        self.assertIn("note", self.run_command(*learn).stderr)
        for command in (("--quiet", *learn), (*learn, "--quiet")):
            done = self.run_command(*command)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Errors stay.
        done = self.run_command("--quiet", "learn", "socer", "--episodes", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'soccer'?", done.stderr)

    def test_verbose_says_what_was_chosen_and_where_time_went(self):
        learn = ("learn", "rps", "--episodes", "100", "--force")
        for command in (("-v", *learn), (*learn, "--verbose")):
            done = self.run_command(*command)
            self.assertEqual(done.returncode, 0)
            for words in ("SIMD ", "cores", "preset fast", "threads", "of learning", "took "):
                self.assertIn(words, done.stderr)
            self.assertIn('"episodes": 100', done.stderr)
            for line in done.stderr.splitlines():
                self.assertTrue(line.startswith("vlearn: "), line)
        # Quiet goes first, and results are the same.
        quiet = self.run_command(*learn, "-v", "--quiet")
        self.assertEqual((quiet.stderr, quiet.stdout), ("", done.stdout))

    def test_every_command_has_them_and_two_examples(self):
        def below(path):
            text = self.run_command(*path, "--help").stdout
            self.assertIn("Everywhere:\n", text)
            self.assertGreaterEqual(text.split("Usage:")[0].count("\n  vlearn "), 2, path)
            # Described once, for the whole.
            self.assertIn("--color " + ("auto|always|never" if path else "TEXT:"), text)
            self.assertEqual("NO_COLOR" in text, not path)
            if "SUBCOMMAND" not in text:
                return [path]
            names = []
            for group in text.split("\n\n"):
                heading, *lines = group.strip("\n").split("\n")
                if heading.endswith(":") and heading not in (
                    "Options:",
                    "Everywhere:",
                    "Examples:",
                ):
                    names += [line.split()[0] for line in lines if re.match(r"  [a-z]", line)]
            return [path] + [leaf for name in names for leaf in below((*path, name))]

        paths = below(())
        self.assertGreater(len(paths), 20)
        for path in paths:
            done = self.run_command(*path, "--color", "odd")
            self.assertEqual(done.returncode, 2, path)
            self.assertIn("want one of auto, always, never", done.stderr)

    def test_colour(self):
        wrong = ("learn", "socer", "--episodes", "1")
        learn = ("learn", "rps", "--episodes", "100", "--force", "--until-gap", "1")
        # Through pipes: none, but on request.
        for command in (wrong, learn):
            done = self.run_command(*command, env=environment())
            self.assertNotRegex(done.stdout + done.stderr, COLOR)
            done = self.run_command(*command, "--color", "always", env=environment())
            self.assertRegex(done.stdout + done.stderr, COLOR)
        done = self.run_command("--color=always", "lern", env=environment())
        self.assertTrue(done.stderr.startswith("\x1b[1;31mvlearn:\x1b[0m "), done.stderr)
        # On a terminal: unless somebody minds.
        shown, _ = self.show(*learn, out=True)
        self.assertIn("\x1b[1;32mcertified nash gap", shown)
        self.assertRegex(shown, r"\x1b\[1mplayer ")
        for extra, changes in (
            ((), {"NO_COLOR": "1"}),
            ((), {"TERM": "dumb"}),
            (("--color", "never"), {}),
        ):
            shown, _ = self.show(*learn, *extra, out=True, **changes)
            self.assertIn("certified nash gap", shown)
            self.assertNotRegex(shown, COLOR)
        shown, _ = self.show(*learn, "--color", "always", out=True, NO_COLOR="1")
        self.assertRegex(shown, COLOR)
        # stdout is judged for itself.
        shown, output = self.show(*learn, NO_COLOR="")
        self.assertRegex(shown, COLOR)
        self.assertNotRegex(output, COLOR)

    def test_json_and_files_have_no_colour(self):
        learn = ("learn", "rps", "--episodes", "100", "--json", "--color", "always", "--out", "run")
        text = self.run_command(*learn).stdout
        self.assertNotIn("\x1b", text)
        json.loads(text)
        json.loads(self.run_command("doctor", "--json", "--color", "always").stdout)
        for file in (self.folder / "run").rglob("*"):
            if file.is_file() and file.suffix in (".json", ".csv", ".jsonl"):
                self.assertNotIn(b"\x1b", file.read_bytes())

    def test_what_to_do_next(self):
        for command in (
            ("learn", "rps", "--episodes", "10"),
            ("learn", "rps", "--algorithm", "nash-vi", "--episodes", "10"),
            ("solve", "rps"),
        ):
            text = self.run_command(*command, "--out", "run", "--force").stdout
            self.assertTrue(text.endswith("run folder: run\nsee it:     vlearn report run\n"), text)


class Suggestions(CommandTest):
    def test_what_was_meant(self):
        for arguments, words in (
            (("lern", "rps"), "did you mean 'learn'?"),
            (("learn", "rps", "--epsiodes", "10"), "did you mean '--episodes'?"),
            (("learn", "rps", "--epsiodes=10"), "did you mean '--episodes'?"),
            (("learn", "rps", "--queit"), "did you mean '--quiet'?"),
            (("learn", "rps", "--target", "nsh"), "--target: is 'nsh'; did you mean 'nash'?"),
            (("learn", "rps", "--preset", "fats"), "did you mean 'fast'?"),
            (("learn", "rps", "--preset", "zzzzzz"), "want one of paper, "),
            (("learn", "rps", "--algorithm", "nashvi"), "did you mean 'nash-vi'?"),
            (("learn", "rps", "--certify", "atuo"), "did you mean 'auto'?"),
            (("learn", "rps", "--color", "alwasy"), "did you mean 'always'?"),
            (("learn", "socer", "--episodes", "9"), "did you mean 'soccer'?"),
            (("learn", "randon:players=3", "--episodes", "9"), "did you mean 'random"),
            (("learn", "random:playrs=3", "--episodes", "9"), "did you mean 'players'?"),
            (("learn", "random:kind=genral", "--episodes", "9"), "did you mean 'general'?"),
            (("solve", "rps", "--method", "oftlr"), "did you mean 'oftrl'?"),
            (("solve", "chicken", "--select", "welfar"), "did you mean 'welfare'?"),
            (("compare", "rps", "--presets", "paper,fats"), "did you mean 'fast'?"),
            (("experiment", "efficency"), "did you mean 'efficiency'?"),
            (("experiment", "efficiency", "--games", "rsp"), "did you mean 'rps'?"),
            (("experiment", "regret", "--rules", "frtl"), "did you mean 'ftrl'?"),
            (("game", "shw", "rps"), "did you mean 'show'?"),
            (("bench", "cora"), "did you mean 'core'?"),
            (("help", "lern"), "did you mean 'learn'?"),
            (("help", "game", "shw"), "did you mean 'show'?"),
            (("--until-gap", "0.1", "learn", "rps"), "it goes behind 'vlearn learn'"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


class Help(CommandTest):
    def test_it_leads_with_examples_and_groups_commands(self):
        text = self.good("--help")
        self.assertLess(text.index("Examples:\n  vlearn learn"), text.index("Usage:"))
        groups = ("Learn and plan:", "Look:", "Trust:", "Games:", "Tools:")
        places = [text.index("\n" + group + "\n") for group in groups]
        self.assertEqual(places, sorted(places))
        self.assertLess(places[2], text.index("  doctor "))
        self.assertNotIn("Subcommands:", text)

    def test_help_is_a_command_too(self):
        for path in ((), ("learn",), ("game", "show")):
            self.assertEqual(self.good("help", *path), self.good(*path, "--help"))


if __name__ == "__main__":
    unittest.main()
