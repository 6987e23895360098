# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""`vlearn experiment` and `vlearn compare` as a user meets them."""

import csv
import json
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree

from command_test import VLEARN, CommandTest

FILES = ("results.jsonl", "table.md", "efficiency.json", "efficiency.csv", "efficiency.svg")
SHORT = ("--reference-episodes", "2000", "--quiet")


class Efficiency(CommandTest):
    def efficiency(self, *arguments):
        return self.good("experiment", "efficiency", *SHORT, *arguments)

    def bytes_of(self, folder):
        return [(self.folder / folder / name).read_bytes() for name in FILES]

    def test_a_short_one(self):
        table = self.efficiency("--games", "rps,lock", "--seeds", "2", "--out", "out")
        self.assertEqual((self.folder / "out/table.md").read_text(), table)
        for word in ("| rps ", "nash", "2 of 2", "Over games: median", "| lock ", "optimum"):
            self.assertIn(word, table)
        result = json.loads((self.folder / "out/efficiency.json").read_text())
        self.assertEqual(result["schema"], "vlearn.efficiency/1")
        rps, lock = result["games"]
        self.assertEqual((rps["name"], lock["measure"]), ("rps", "share"))
        for run in rps["runs"]:
            self.assertAlmostEqual(run["ratio"], 2000 / run["episodes"])
            self.assertLessEqual(run["gap"], run["wanted_gap"])
        self.assertEqual(result["over_games"]["least"], rps["ratio"]["median"])
        with open(self.folder / "out/efficiency.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["seed"] for row in rows], ["1", "2", "1", "2"])
        self.assertEqual(float(rows[1]["value"]), rps["runs"][1]["ratio"])
        figure = ElementTree.parse(self.folder / "out/efficiency.svg").getroot()
        self.assertTrue(figure.tag.endswith("svg"))

    def test_it_goes_on_and_ends_the_same(self):
        games = ("--games", "rps,general,team-lock", "--seeds", "2")
        self.efficiency(*games, "--out", "whole", "--threads", "3")
        self.efficiency(*games, "--out", "part", "--threads", "1")
        whole = self.bytes_of("whole")
        self.assertEqual(self.bytes_of("part"), whole)
        results = self.folder / "part/results.jsonl"
        lines = results.read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 1 + 2 * (2 + 2 + 1))
        for text in ("".join(lines[:-1]), "".join(lines[:4]) + lines[4][:20], lines[0][:9], ""):
            with self.subTest(text=text[-30:]):
                results.write_text(text)
                self.efficiency(*games, "--out", "part")
                self.assertEqual(self.bytes_of("part"), whole)
        # What is there is not measured again.
        lines[1] = lines[1].replace('"gap":', '"gap":1')
        results.write_text("".join(lines))
        self.efficiency(*games, "--out", "part")
        self.assertNotEqual(self.bytes_of("part"), whole)

    def test_an_interrupt_leaves_what_is_done(self):
        games = ("--games", "rps,horizon-12", "--seeds", "1", "--out", "out")
        command = [VLEARN, "experiment", "efficiency", "--reference-episodes", "1e8", *games]
        with subprocess.Popen(
            command + ["--threads", "2"], cwd=self.folder, stderr=subprocess.PIPE, text=True
        ) as running:
            results = self.folder / "out/results.jsonl"
            while not (results.exists() and results.read_text().endswith("\n")):
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            errors = running.communicate(timeout=60)[1]
        self.assertEqual(running.returncode, 75, errors)
        self.assertIn("go on with the same command", errors)
        self.assertFalse((self.folder / "out/table.md").exists())

    def test_other_seeds(self):
        first = ("--games", "general", "--json", "--seeds")
        one, two, three = json.loads(self.efficiency(*first, "3", "--out", "a"))["games"][0]["runs"]
        result = json.loads(self.efficiency(*first, "2", "--first-seed", "2", "--out", "b"))
        self.assertEqual((result["first_seed"], result["games"][0]["runs"]), (2, [two, three]))
        self.assertNotEqual(one["gap"], two["gap"])
        self.assertIn("2 seeds from 2 on", (self.folder / "b/table.md").read_text())

    def test_ce_has_the_games_of_two_players(self):
        result = json.loads(self.efficiency("--target", "ce", "--seeds", "1", "--json"))
        games = {game["name"]: game for game in result["games"]}
        self.assertEqual({game["target"] for game in games.values()}, {"ce"})
        self.assertIn("soccer", games)
        for name in ("team", "players-4", "congestion-10", "lock"):
            self.assertNotIn(name, games)
        self.assertTrue((self.folder / "experiments/efficiency-ce/table.md").exists())

    def test_refusals(self):
        rps = ("--games", "rps", "--seeds", "1")
        self.efficiency(*rps, "--out", "out")
        before = self.bytes_of("out")
        (self.folder / "hostile").mkdir()
        header = before[0].splitlines(keepends=True)[0]
        (self.folder / "hostile/results.jsonl").write_bytes(header + b'{"game":"chess"}\n')
        for arguments, code, words in (
            (("--games", "rps", "--seeds", "2", "--out", "out"), 2, "other settings"),
            ((*rps, "--first-seed", "2", "--out", "out"), 2, "other settings"),
            ((*rps, "--out", "hostile"), 3, "results.jsonl:2"),
            (("--games", "rsp", "--out", "none"), 2, "did you mean 'rps'?"),
            (("--games", "team", "--target", "ce", "--out", "none"), 2, "two players"),
            (("--target", "nash", "--out", "none"), 2, "--target"),
            (("--seeds", "0", "--out", "none"), 2, "--seeds"),
            (("--first-seed", "0", "--out", "none"), 2, "--first-seed"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command("experiment", "efficiency", *SHORT, *arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn(words, done.stderr)
        self.assertEqual(self.bytes_of("out"), before)
        self.assertFalse((self.folder / "none").exists())


class Curse(CommandTest):
    def test_a_small_one(self):
        command = ("experiment", "curse", "--players", "2-3", "--seeds", "1", "--out", "out")
        text = self.run_command(*command)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("congestion, 3 players, plug-in, seed 1: reached after", text.stderr)
        self.assertIn("| 3 players ", text.stdout)
        names = ("table.md", "curse.json", "curse.csv", "curse.svg", "results.jsonl")
        before = [(self.folder / "out" / name).read_bytes() for name in names]
        self.assertEqual(before[0].decode(), text.stdout)
        lines = before[2].decode().splitlines()
        self.assertEqual(len(lines), 1 + 2 * 2 * 5)
        self.assertEqual({line.split(",")[4] for line in lines[1:]}, {"reached"})
        # Nothing is measured again.
        result = json.loads(self.good(*command, "--json", "--quiet"))
        self.assertEqual(result["schema"], "vlearn.curse/1")
        self.assertEqual(len(result["methods"]), 10)
        after = [(self.folder / "out" / name).read_bytes() for name in names]
        self.assertEqual(after, before)

    def test_refusals(self):
        for players in ("1-3", "5-4", "2-65", "two", "2-"):
            done = self.run_command("experiment", "curse", "--players", players)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--players", done.stderr)
        self.assertFalse((self.folder / "experiments").exists())


class Convergence(CommandTest):
    FILES = ("results.jsonl", "table.md", "convergence.json", "convergence.csv")
    BARE = ("experiment", "convergence")
    COMMAND = (*BARE, "--games", "shapley,bad-rps", "--seeds", "2")

    def bytes_of(self, folder):
        return [(self.folder / folder / name).read_bytes() for name in self.FILES]

    def test_a_small_one(self):
        done = self.run_command(*self.COMMAND, "--episodes", "1e4", "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("8 of 8, ", done.stderr)
        self.assertIn("bad-rps, ce, seed 2: ", done.stderr)
        self.assertEqual((self.folder / "out/table.md").read_text(), done.stdout)
        for word in ("| bad-rps ", " 10^3.5 |", " 10^4 |", " open |", "too short to tell"):
            self.assertIn(word, done.stdout)
        result = json.loads((self.folder / "out/convergence.json").read_text())
        self.assertEqual(result["schema"], "vlearn.convergence/1")
        self.assertEqual((result["preset"], result["bars"]), ("fast", "open"))
        self.assertEqual(result["half_decades"], [3162, 10000])
        rows = [(game["name"], game["target"]) for game in result["games"]]
        names = ("shapley", "bad-rps")
        self.assertEqual(rows, [(name, target) for name in names for target in ("cce", "ce")])
        for game in result["games"]:
            for i, worst in enumerate(game["worst"]):
                self.assertEqual(max(run["worst"][i] for run in game["runs"]), worst)
        with open(self.folder / "out/convergence.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2 * 2 * 2 * 2)
        self.assertEqual(float(rows[-1]["worst_gap"]), result["games"][-1]["runs"][-1]["worst"][-1])

    def test_it_goes_on_and_ends_the_same(self):
        command = (*self.COMMAND, "--episodes", "4000", "--quiet")
        self.good(*command, "--out", "whole", "--threads", "3")
        self.good(*command, "--out", "part", "--threads", "1")
        whole = self.bytes_of("whole")
        self.assertEqual(self.bytes_of("part"), whole)
        results = self.folder / "part/results.jsonl"
        lines = results.read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 1 + 2 * 2 * 2)
        results.write_text("".join(lines[:3]) + lines[3][:20])
        self.good(*command, "--out", "part")
        self.assertEqual(self.bytes_of("part"), whole)

    def test_a_broken_bar_has_an_exit_code(self):
        command = (*self.BARE, "--games", "shapley", "--target", "cce", "--seeds", "1")
        command += ("--episodes", "4e5", "--quiet", "--out", "out")
        self.run_command(*command)
        results = self.folder / "out/results.jsonl"
        header, line = results.read_text().splitlines()
        run = json.loads(line)
        for last, code in ((0.012, 0), (0.0121, 4)):
            run["worst"] = [0.4, 0.3, 0.2, 0.01, last]
            results.write_text(header + "\n" + json.dumps(run) + "\n")
            done = self.run_command(*command)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual("a bar is broken" in done.stderr, code == 4)
            self.assertEqual("rise: 1 |" in done.stdout, code == 4)

    def test_refusals(self):
        self.good(*self.COMMAND, "--episodes", "4000", "--quiet", "--out", "out")
        two = (*self.COMMAND[2:], "--episodes", "4000")
        for arguments, code, words in (
            ((*two, "--first-seed", "2", "--out", "out"), 2, "other settings"),
            ((*two, "--target", "ce", "--out", "out"), 2, "other settings"),
            (("--episodes", "3161", "--out", "none"), 2, "--episodes"),
            (("--episodes", "1e10", "--out", "none"), 2, "--episodes"),
            (("--episodes", "1e4", "--slow", "--out", "none"), 2, "--slow"),
            (("--games", "shaply", "--out", "none"), 2, "did you mean 'shapley'?"),
            (("--target", "nash", "--out", "none"), 2, "--target"),
            (("--preset", "fats", "--out", "none"), 2, "fast"),
            (("--seeds", "0", "--out", "none"), 2, "--seeds"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command(*self.BARE, *arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn(words, done.stderr)
        self.assertFalse((self.folder / "none").exists())


class Levers(CommandTest):
    ARGUMENTS = ("experiment", "levers", "--episodes", "300", "--seeds", "2", "--quiet")

    def test_a_row_for_each_choice(self):
        text = self.good(*self.ARGUMENTS, "--games", "rps,general")
        rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
        self.assertEqual([cell.strip() for cell in rows[0][1:]], ["rps", "general", "all games"])
        self.assertEqual([float(cell) for cell in rows[2][1:]], [1, 1, 1])
        self.assertIn("| no bonus ", text)
        self.assertIn("more than 1 says", text)

    def test_json_has_every_gap(self):
        arguments = (*self.ARGUMENTS, "--games", "general", "--json")
        texts = {self.good(*arguments, "--threads", threads) for threads in ("1", "3")}
        self.assertEqual(len(texts), 1)
        result = json.loads(texts.pop())
        self.assertEqual((result["schema"], result["first_seed"]), ("vlearn.levers/1", 101))
        gaps = {lever["name"]: lever["games"][0]["gaps"] for lever in result["levers"]}
        for lever in result["levers"]:
            product = 1
            for gap, fast in zip(gaps[lever["name"]], gaps["fast"], strict=True):
                product *= gap / fast
            self.assertAlmostEqual(lever["games"][0]["ratio"], product**0.5)
        self.assertNotEqual(gaps["no bonus"], gaps["fast"])

    def test_it_is_what_learn_certifies(self):
        name = "random:players=2,states=4,actions=3,horizon=3,seed=102"
        learner = ("--preset", "fast", "--bonus", "none", "--episodes", "300", "--seed", "102")
        self.good("learn", name, *learner, "--horizon-episodes", "300", "--quiet", "--out", "run")
        certificate = json.loads((self.folder / "run/certificate.json").read_text())
        result = json.loads(self.good(*self.ARGUMENTS, "--games", "general", "--json"))
        (lever,) = (lever for lever in result["levers"] if lever["name"] == "no bonus")
        gap = lever["games"][0]["gaps"][1]
        self.assertAlmostEqual(gap, certificate["gap"]["upper"], delta=1e-9)

    def test_refusals(self):
        for arguments, words in (
            (("--games", "rsp"), "did you mean 'rps'?"),
            (("--seeds", "0"), "--seeds"),
            (("--episodes", "0"), "--episodes"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command("experiment", "levers", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(words, done.stderr)


class Compare(CommandTest):
    ARGUMENTS = ("compare", "chicken", "--episodes", "1000", "--seeds", "3", "--quiet")

    def test_gaps_against_episodes(self):
        text = self.good(*self.ARGUMENTS)
        for word in ("| 10 ", "| 30 ", "| 300 ", "| 1000 ", "paper", "fast", "times fewer"):
            self.assertIn(word, text)

    def test_json_has_every_run(self):
        result = json.loads(self.good(*self.ARGUMENTS, "--presets", "paper,practical", "--json"))
        self.assertEqual(result["schema"], "vlearn.compare/1")
        self.assertEqual([one["preset"] for one in result["presets"]], ["paper", "practical"])
        for one in result["presets"]:
            self.assertEqual(one["points"][-1]["episodes"], 1000)
            for point in one["points"]:
                self.assertEqual(sorted(point["gaps"])[1], point["median"])
        ends = {one["preset"]: one["points"][-1]["median"] for one in result["presets"]}
        self.assertEqual(result["best"], min(ends, key=ends.get))

    def test_it_is_what_learn_certifies(self):
        learner = ("--preset", "paper", "--episodes", "1000", "--seed", "2")
        self.good("learn", "chicken", *learner, "--quiet", "--out", "run")
        self.good("certify", "run", "--start", "last", "-o", "last.json")
        certificate = json.loads((self.folder / "last.json").read_text())
        result = json.loads(self.good(*self.ARGUMENTS, "--json"))
        gap = result["presets"][0]["points"][-1]["gaps"][1]
        self.assertAlmostEqual(gap, certificate["gap"]["upper"], delta=1e-9)

    def test_refusals(self):
        for arguments, words in (
            (("chicken", "--presets", "paper,fats"), "fats"),
            (("chicken", "--presets", "fast,fast"), "twice"),
            (("chicken", "--target", "nash"), "zero-sum"),
            (("chicken", "--episodes", "0"), "--episodes"),
            ((), "required"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_command("compare", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(words, done.stderr)


class Regret(CommandTest):
    def test_says_what_is_proven(self):
        text = self.good("experiment", "regret", "--seeds", "1")
        self.assertIn("ftrl: external regret, weights of c = 5; proven: ", text)
        self.assertIn(
            "optimistic: external regret, weights of c = 2; no proof: measured only", text
        )

    def test_json(self):
        arguments = ("--rules", "optimistic-swap", "--seeds", "3", "--json")
        texts = {
            self.good("experiment", "regret", *arguments, "--threads", threads)
            for threads in ("1", "2")
        }
        self.assertEqual(len(texts), 1)
        (rule,) = json.loads(texts.pop())["rules"]
        self.assertEqual((rule["rule"], rule["regret"]), ("optimistic-swap", "swap"))
        self.assertEqual(rule["weights"], 3)
        self.assertEqual(len({point["adversary"] for point in rule["points"]}), 6)

    def test_visits(self):
        command = ("experiment", "regret", "--rules", "ftrl", "--seeds", "1", "--json", "--visits")
        (rule,) = json.loads(self.good(*command, "2000,50,2e3"))["rules"]
        self.assertEqual({point["visits"] for point in rule["points"]}, {50, 2000})
        for visits in ("0", "2e6", "many"):
            done = self.run_command(*command, visits)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--visits", done.stderr)


if __name__ == "__main__":
    unittest.main()
