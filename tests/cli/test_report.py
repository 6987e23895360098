# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn report`: runs of all kinds as a page, and what is no run."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from command_test import VLEARN, CommandTest

ZERO_SUM = "random:players=2,states=3,actions=3,horizon=3,kind=zero-sum,seed=5"

# Each is made, and then made again by the command that its report gives.
LEARNED = (
    "rps --episodes 40",
    "rps --target cce --episodes 40 --preset paper --seed 7",
    "rps --episodes 40 --preset rigorous --delta 0.05",
    "fishery --episodes 40 --rule exp3-ix --loss-scale paper",
    "fishery --episodes 40 --bonus visits --control-variate on",
    "fishery --episodes 40 --bonus-constant 0.123 --pessimistic",
    "fishery --episodes 40 --preset fast --output nested --action-draws independent",
    "fishery --episodes 40 --preset practical --output markov --output-weights 3",
    "chicken --target ce --episodes 40 --history none",
    "chicken --target ce --episodes 40 --certify off --value-weights step",
    "rps --episodes 40 --monotone --horizon-episodes 1000",
    "river-swim --episodes 40 --preset fast --rule optimistic-swap",
    "rps --until-gap 0.5 --max-time 100",
    "congestion-10 --episodes 3 --certify on",
    "rps --algorithm nash-vi --episodes 20",
    "rps --algorithm nash-vi --episodes 20 --vi-bonus hoeffding --vi-constant 6",
    "chicken --algorithm multi-ce-vi --until-gap 1 --vi-replan episode --delta 0.2",
    "chicken --algorithm multi-cce-vi --episodes 20 --vi-output least --max-memory 1e6",
    "chicken --algorithm plug-in --target ce --episodes 20 --seed 3",
)
SOLVED = (
    "soccer:horizon=2",
    "chicken --target ce --select egalitarian",
    "chicken --target cce --method oftrl --until-gap 0.125 --seed 5",
    "stag-hunt --select player:2 --max-iterations 1000 --max-time 50",
)


class Report(CommandTest):
    def learn(self, *arguments, command="learn", codes=(0,)):
        done = self.run_command(command, *arguments, "--quiet")
        self.assertIn(done.returncode, codes, done.stderr)

    def report(self, *arguments, code=0):
        done = self.run_command("report", *arguments, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["schema"], "vlearn.report/1")
        page = (self.folder / told["file"]).read_bytes()
        self.assertEqual(len(page), told["bytes"])
        self.assertTrue(page.startswith(b"<!doctype html>"))
        return told

    def refused(self, *arguments, code=3):
        done = self.run_command("report", *arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_one_run_of_each_kind(self):
        self.learn("rps", "--episodes", "40", "--out", "learned")
        self.learn("rps", "--out", "planned", command="solve")
        self.learn("rps", "--algorithm", "nash-vi", "--episodes", "20", "--out", "baseline")
        for run in ("learned", "planned", "baseline"):
            told = self.report(run)
            self.assertEqual(told["file"], f"{run}/report.html")
            (one,) = told["runs"]
            gap = json.loads((self.folder / run / "certificate.json").read_text())["gap"]["upper"]
            self.assertEqual((one["path"], one["gap"], one["verified"]), (run, gap, True))
        text = self.good("report", "learned", "-o", "page.html")
        size = (self.folder / "page.html").stat().st_size
        found, place = text.splitlines()
        self.assertRegex(found, "^No player can gain more than .*, both together .*verified")
        self.assertEqual(place, f"report: page.html ({-(-size // 1000)} kB)")
        # The same view, the same bytes, whatever the number of threads.
        first = (self.folder / "page.html").read_bytes()
        self.good("report", "learned", "-o", "page.html", "--threads", "1")
        self.assertEqual((self.folder / "page.html").read_bytes(), first)
        # Whoever begins the run anew removes its report.
        self.learn("rps", "--episodes", "30", "--out", "learned", "--force")
        self.assertFalse((self.folder / "learned" / "report.html").exists())
        self.assertIsNone(self.report("learned", "--verify", "off")["runs"][0]["verified"])

    def test_the_hour_is_not_in_it(self):
        """Runs of one config, made at different times: all files but timing.jsonl are alike."""
        pages = []
        for folder in ("first", "second"):
            (self.folder / folder).mkdir()
            where = {"cwd": self.folder / folder}
            for arguments in (
                ("learn", "rps", "--episodes", "40", "--out", "learned"),
                ("learn", "rps", "--algorithm", "nash-vi", "--episodes", "9", "--out", "baseline"),
            ):
                self.assertEqual(self.run_command(*arguments, **where).returncode, 0)
            # As if the second machine were slower.
            if folder == "second":
                for timing in (self.folder / folder).glob("*/timing.jsonl"):
                    timing.write_text(timing.read_text().replace('seconds":', 'seconds":1000'))
            for runs in (("learned",), ("baseline",), ("learned", "baseline")):
                done = self.run_command("report", *runs, "-o", "page.html", "--force", **where)
                self.assertEqual(done.returncode, 0, done.stderr)
                pages.append((self.folder / folder / "page.html").read_bytes())
        for first, second in zip(pages[:3], pages[3:], strict=True):
            self.assertTrue(first == second)

    def test_several_runs(self):
        self.learn("fishery", "--episodes", "200", "--seeds", "10", "--out", "runs")
        self.learn("rps", "--episodes", "200", "--seeds", "10", "--out", "runs")
        runs = sorted(f"runs/{run.name}" for run in (self.folder / "runs").iterdir())
        told = self.report(*runs)
        self.assertEqual(told["file"], "report.html")
        self.assertEqual([run["path"] for run in told["runs"]], runs)
        self.assertTrue(all(run["verified"] for run in told["runs"]))

    def test_commands_make_the_same_runs(self):
        for kind, cases in (("learn", LEARNED), ("solve", SOLVED)):
            for number, arguments in enumerate(cases):
                with self.subTest(kind=kind, arguments=arguments):
                    first, again = f"{kind}-{number}", f"{kind}-{number}-again"
                    # Some do not reach what they should, or cannot.
                    self.learn(*arguments.split(), "--out", first, command=kind, codes=(0, 4))
                    command = self.report(first, "--verify", "off")["runs"][0]["command"]
                    words = shlex.split(command)
                    self.assertEqual(words[:2], ["vlearn", kind])
                    self.learn(*words[2:], "--out", again, command=kind, codes=(0, 4))
                    self.assertEqual(
                        (self.folder / first / "config.json").read_bytes(),
                        (self.folder / again / "config.json").read_bytes(),
                    )

    def test_game_names_are_quoted(self):
        name = "it's a $(game).json"
        self.good("game", "convert", "rps", name)
        self.learn(name, "--episodes", "10", "--out", "run")
        words = shlex.split(self.report("run")["runs"][0]["command"])
        self.assertEqual(words[2], name)

    def test_no_history(self):
        self.learn("rps", "--episodes", "40", "--history", "none", "--out", "run")
        (run,) = self.report("run")["runs"]
        self.assertIsNone(run["verified"])
        self.assertIsNotNone(run["gap"])

    def test_an_unfinished_run(self):
        command = [VLEARN, "learn", "fishery", "--max-time", "100", "--out", "run", "--quiet"]
        killed = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL)
        try:
            metrics = self.folder / "run" / "metrics.jsonl"
            for _ in range(1000):
                found = metrics.exists() and metrics.read_text().count("\n") > 10
                if found:
                    break
                time.sleep(0.02)
            self.assertTrue(found, "no rows came")
        finally:
            killed.send_signal(signal.SIGKILL)
            killed.wait()
        with metrics.open("a") as file:
            file.write('{"episode": 1')  # as a kill may leave it
        (run,) = self.report("run")["runs"]
        self.assertEqual((run["gap"], run["verified"]), (None, None))

    def test_a_certificate_of_another_run(self):
        for seed in ("1", "2"):
            self.learn("rps", "--episodes", "40", "--seed", seed, "--out", f"run-{seed}")
        path = "certificate.json"
        shutil.copy(self.folder / "run-2" / path, self.folder / "run-1" / path)
        told = self.refused("run-1")
        self.assertIn("run-1/certificate.json: is not of this run", told)
        self.assertIn("vlearn certify RUN", told)
        self.good("certify", "run-1")
        self.assertTrue(self.report("run-1")["runs"][0]["verified"])

    def test_a_refuted_certificate(self):
        self.learn("rps", "--episodes", "40", "--out", "run")
        path = self.folder / "run" / "certificate.json"
        certificate = json.loads(path.read_text())
        for end in ("lower", "upper"):
            certificate["players"][0]["value"][end] += 0.01
        path.write_text(json.dumps(certificate))
        done = self.run_command("report", "run")
        self.assertEqual(done.returncode, 4)
        self.assertIn("refuted", done.stderr)
        self.assertIn("report: run/report.html", done.stdout)

    def test_a_forged_curve(self):
        def forge(line, run):
            path = self.folder / run / "metrics.jsonl"
            rows = [json.loads(text) for text in path.read_text().splitlines()]
            rows[line]["certified_gap"] /= 2
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            return rows[line].get("episode", rows[line].get("iterations"))

        def mismatch(episode, *arguments):
            done = self.run_command("report", *arguments)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(f"metrics.jsonl, {episode}: certified_gap is", done.stderr)
            self.assertRegex(done.stdout, "^Mismatch: the gap that this run recorded")
            page = (self.folder / "run/report.html").read_text()
            self.assertIn('verdict bad">Mismatch', page)
            self.assertNotIn("verified by independent code", page)
            (run,) = self.report(*arguments, code=4)["runs"]
            self.assertEqual(run["verified"], False)

        cases = (
            ("chicken", "--target", "ce", "--episodes", "40", "--seed", "4"),
            ("chicken", "--target", "cce", "--episodes", "40", "--preset", "practical"),
            (ZERO_SUM, "--target", "nash", "--episodes", "40"),
            (ZERO_SUM, "--target", "nash", "--episodes", "40", "--preset", "paper"),
        )
        for arguments in cases:
            with self.subTest(arguments=arguments):
                self.learn(*arguments, "--out", "run", "--force")
                self.report("run", "--verify", "off")
                page = (self.folder / "run/report.html").read_text()
                self.assertIn("the run&#39;s record", page)
                self.assertTrue(self.report("run")["runs"][0]["verified"])
                page = (self.folder / "run/report.html").read_text()
                self.assertIn("derived again from the policies", page)
                # Rows in between are known from the policies alone.
                mismatch(f"episode {forge(5, 'run')}", "run")
                self.assertIsNotNone(self.report("run", code=4))
                # The last one is the certificate's, where executions start there.
                self.learn(*arguments, "--out", "run", "--force")
                self.good("certify", "run", *(("--start", "last") if "nested" in page else ()))
                episode = forge(-1, "run")
                mismatch(f"episode {episode}", "run", "--verify", "off")
                mismatch(f"episode {episode}", "run")
        self.learn(
            "chicken",
            "--target",
            "cce",
            "--method",
            "oftrl",
            "--out",
            "run",
            "--force",
            command="solve",
        )
        mismatch(f"iteration {forge(-1, 'run')}", "run", "--verify", "off")
        self.learn("rps", "--algorithm", "nash-vi", "--episodes", "20", "--out", "run", "--force")
        mismatch(f"episode {forge(-1, 'run')}", "run", "--verify", "off")

    def test_a_curve_that_cannot_be_derived(self):
        arguments = ("chicken", "--target", "ce", "--episodes", "40", "--history", "none")
        self.learn(*arguments, "--out", "run")
        self.report("run")
        page = (self.folder / "run/report.html").read_text()
        self.assertIn("the run&#39;s record", page)
        self.assertIn("the curve is not derived again: with --history none", page)

    def test_what_is_no_run(self):
        self.assertIn("nowhere: is not there", self.refused("nowhere"))
        (self.folder / "other").mkdir()
        (self.folder / "other" / "letter.txt").write_text("hello")
        self.assertIn("other: is no run folder", self.refused("other"))
        (self.folder / "other" / "config.json").write_text('{"schema": "of something else"}')
        self.assertIn("other/config.json:1: schema", self.refused("other"))
        self.assertIn("letter.txt: is not a folder", self.refused("other/letter.txt"))
        self.assertFalse((self.folder / "other" / "report.html").exists())
        self.assertIn("runs", self.refused(code=2))

    def test_damage_is_named(self):
        self.learn("rps", "--episodes", "40", "--out", "run")
        metrics = self.folder / "run" / "metrics.jsonl"
        text = metrics.read_text()
        lines = text.splitlines(keepends=True)
        metrics.write_text("".join(lines[:4] + ['{"episode": true}\n'] + lines[5:]))
        self.assertIn("run/metrics.jsonl:5: [4].episode", self.refused("run"))
        metrics.write_text(text[:-10])
        self.assertIn("the last line was cut", self.refused("run"))
        metrics.write_text(text)
        self.report("run")
        timing = self.folder / "run" / "timing.jsonl"
        timing.write_text("[1]\n")
        self.report("run")  # which does not read it: a page has no times
        timing.unlink()
        self.report("run")

    def test_another_game(self):
        self.good("game", "convert", "rps", "game.json")
        self.learn("game.json", "--episodes", "40", "--out", "run")
        self.report("run")
        self.good("game", "convert", "matching-pennies", "other.json")
        self.assertIn("another game", self.refused("run", "--game", "other.json"))
        (self.folder / "game.json").rename(self.folder / "moved.json")
        self.assertIn("--game", self.refused("run"))
        (told,) = self.report("run", "--game", "moved.json")["runs"]
        self.assertEqual(shlex.split(told["command"])[2], "moved.json")
        shutil.copy(self.folder / "other.json", self.folder / "game.json")
        self.assertIn("another game", self.refused("run"))

    def test_other_files_stay(self):
        self.learn("rps", "--episodes", "10", "--out", "run")
        (self.folder / "page.html").write_text("<!doctype html><title>mine</title>")
        self.assertIn("page.html", self.refused("run", "-o", "page.html", code=2))
        self.assertIn("folder", self.refused("run", "-o", "run", code=2))
        self.assertEqual((self.folder / "page.html").read_text()[15:], "<title>mine</title>")
        self.report("run", "-o", "page.html", "--force")
        self.report("run", "-o", "page.html")
        self.assertEqual(self.refused("run", "-o", "nowhere/page.html", code=2).count("\n"), 1)
        self.assertEqual(os.listdir(self.folder / "run").count("report.html"), 0)


if __name__ == "__main__":
    unittest.main()
