# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Games between NumPy and vlearn: what one writes the other reads, and both compute the same."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from measure import run_measured_from_small
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

VLEARN = os.environ["VLEARN"]
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import find_equilibria  # noqa: E402
import game_arrays  # noqa: E402

CATALOGUE = sorted((ROOT / "catalog").glob("*.json"))


def run(*arguments):
    done = subprocess.run([VLEARN, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def show(game):
    return json.loads(run("game", "show", game, "--json"))


def random_rows(rng, *shape):
    """Distributions along the last axis."""
    rows = rng.random(shape)
    return rows / rows.sum(axis=-1, keepdims=True)


def uniform_value(p, r):
    """Of arrays with a step axis, p[h, s, a1, ..., am, s'] and r[h, i, s, a1, ..., am]."""
    joint = tuple(range(2, r.ndim - 1))
    value = np.zeros((r.shape[1], r.shape[2]))
    for h in reversed(range(len(r))):
        now = r[h].mean(axis=joint)
        if h + 1 < len(r):
            now = now + value @ p[h].mean(axis=tuple(range(1, p.ndim - 2))).T
        value = now
    return value[:, 0]


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "mine.safetensors"
        self.rng = np.random.default_rng(1)

    def save(self, arrays, **metadata):
        save_file(arrays, self.file, metadata={"format": "vlearn.game/1"} | metadata)

    def assert_shows(self, expected, value):
        shown = show(self.file)
        self.assertEqual({key: shown[key] for key in expected}, expected)
        np.testing.assert_allclose(shown["uniform_value"], value, rtol=0, atol=1e-9)


class Written(InTemporaryFolder):
    """NumPy writes, vlearn reads."""

    def test_the_code_of_the_page(self):
        section = (ROOT / "docs/reference/game_format.md").read_text().split("## Large games")[1]
        code = section.split("```python\n")[1].split("```")[0]
        self.assertIn('"mine.safetensors"', code)
        p = random_rows(self.rng, 4, 2, 3, 4)
        r = self.rng.normal(size=(2, 4, 2, 3))
        exec(code.replace('"mine.safetensors"', "FILE"), {"P": p, "R": r, "FILE": self.file})
        self.assert_shows(
            {"players": 2, "states": 4, "horizon": 10, "stationary": True, "actions": [2, 3]},
            uniform_value(np.array([p] * 10), np.array([r] * 10)),
        )

    def test_steps(self):
        p = random_rows(self.rng, 5, 3, 2, 2, 3)
        r = self.rng.normal(size=(5, 2, 3, 2, 2))
        hashes = set()
        for steps in (5, 4):  # the last step leads nowhere
            self.save({"P": p[:steps], "R": r}, horizon="5", stationary="false")
            self.assert_shows({"players": 2, "states": 3, "stationary": False}, uniform_value(p, r))
            hashes.add(show(self.file)["hash"])
        self.assertEqual(len(hashes), 1)

    def test_zero_sum(self):
        p = random_rows(self.rng, 3, 2, 4, 3)
        r = self.rng.normal(size=(1, 3, 2, 4))
        self.save({"P": p, "R": r}, horizon="3", zero_sum="true")
        (value,) = uniform_value(np.array([p] * 3), np.array([r] * 3))
        self.assert_shows({"players": 2, "zero_sum": True, "actions": [2, 4]}, [value, -value])

    def test_three_players_with_different_actions(self):
        p = random_rows(self.rng, 3, 2, 3, 4, 3)
        r = self.rng.normal(size=(3, 3, 2, 3, 4))
        initial = random_rows(self.rng, 3)
        self.save({"P": p, "R": r, "initial": initial}, horizon="1")
        value = r.mean(axis=(2, 3, 4)) @ initial
        self.assert_shows({"players": 3, "actions": [2, 3, 4]}, value)

    def test_names(self):
        about = {"title": "mine", "players": ["ann", "bob"], "states": ["x", "y"], "actions": 2}
        text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        p = random_rows(self.rng, 2, 2, 2, 2)
        r = self.rng.normal(size=(2, 2, 2, 2))
        self.save({"P": p, "R": r, "about": text}, horizon="2")
        shown = show(self.file)
        self.assertEqual((shown["title"], shown["player_names"]), ("mine", ["ann", "bob"]))

    def test_flat_tables_of_an_irregular_game(self):
        """Two steps with two and three states, and actions that differ from cell to cell."""
        actions = np.array([[2, 2], [1, 3], [1, 1], [2, 1], [1, 2]], dtype=np.uint32)
        joint = actions.prod(axis=1)
        rewards = [self.rng.normal(size=(2, count)) for count in joint]
        rows = [random_rows(self.rng, count, 3) for count in joint[:2]]
        value = [cell.mean(axis=1) for cell in rewards]
        value = value[0] + np.array(value[2:]).T @ rows[0].mean(axis=0)
        common = {
            "num_states": np.array([2, 3], dtype=np.uint32),
            "num_actions": actions,
            "rewards": np.concatenate([cell.ravel() for cell in rewards]),
        }
        flat = np.concatenate([cell.ravel() for cell in rows])
        sparse = {
            "row_begins": np.array(
                [3 * min(k, len(flat) // 3) for k in range(joint.sum() + 1)], dtype=np.uint64
            ),
            "successors": np.tile(np.arange(3, dtype=np.uint32), len(flat) // 3),
            "probabilities": flat,
        }
        hashes = set()
        for tables in ({"transitions": flat}, sparse):
            self.save(common | tables, horizon="2", stationary="false")
            self.assert_shows({"players": 2, "states": 3, "actions": [2, 3]}, value)
            value_here = game_arrays.uniform_value(game_arrays.read_game(self.file))
            np.testing.assert_allclose(value_here, value, rtol=0, atol=1e-12)
            hashes.add(show(self.file)["hash"])
        self.assertEqual(len(hashes), 1)


class Read(InTemporaryFolder):
    """vlearn writes, NumPy reads."""

    def test_shapes_are_as_documented(self):
        for kind, shape_of_p, shape_of_r in (
            ("general", (4, 3, 2, 2, 3), (5, 2, 3, 2, 2)),
            ("zero-sum", (4, 3, 2, 2, 3), (5, 1, 3, 2, 2)),
        ):
            with self.subTest(kind=kind):
                game = f"random:players=2,states=3,actions=2,horizon=5,seed=1,kind={kind}"
                run("game", "convert", game, self.file)
                arrays = load_file(self.file)
                p, r = arrays["P"], arrays["R"]
                self.assertEqual((p.shape, r.shape), (shape_of_p, shape_of_r))
                np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=0, atol=1e-12)
                self.assertEqual(arrays["initial"].shape, (3,))
                self.assertEqual(arrays["ranges"].shape, (2, 2))
                shown = show(game)["uniform_value"]
                np.testing.assert_allclose(uniform_value(p, r)[0], shown[0], rtol=0, atol=1e-9)
                with safe_open(self.file, framework="numpy") as file:
                    self.assertEqual(file.metadata()["format"], "vlearn.game/1")
                    self.assertEqual(file.metadata()["horizon"], "5")

    def test_the_catalogue_twice(self):
        """The second reader of the format, in Python, finds the values that the first one does."""
        for entry in CATALOGUE:
            files = [self.folder / f"{entry.stem}.safetensors"]
            run("game", "convert", entry.stem, files[0])
            text = json.loads(entry.read_text())
            files += [entry] if "rules" in text else []
            shown = show(entry.stem)
            for file in files:
                with self.subTest(file=file.name):
                    game = game_arrays.read_game(file)
                    value = game_arrays.uniform_value(game)
                    self.assertEqual(game.players, shown["player_names"])
                    np.testing.assert_allclose(value, shown["uniform_value"], rtol=0, atol=1e-9)


class Known(InTemporaryFolder):
    """What the catalogue states as known is checked here against the Python reading of the games;
    the unit tests check it in C++ against the library's."""

    def game(self, entry):
        text = json.loads(entry.read_text())
        file = entry
        if "rules" not in text:
            file = self.folder / f"{entry.stem}.safetensors"
            run("game", "convert", entry.stem, file)
        return game_arrays.read_game(file), text["known"]

    def test_policies(self):
        for entry in CATALOGUE:
            game, solutions = self.game(entry)
            for known in solutions:
                with self.subTest(entry=entry.stem, target=known["target"]):
                    if "policy" not in known:
                        self.assertEqual(entry.stem, "soccer")
                        continue
                    _, distance, gain = find_equilibria.check(game, known)
                    values = [abs(game_arrays.number(v)) for v in known["values"]]
                    bound = find_equilibria.TOLERANCE * max([1.0, *values])
                    self.assertLessEqual(distance, bound)
                    self.assertLessEqual(gain, bound)

    def test_soccer_by_linear_programs(self):
        game, (known,) = self.game(ROOT / "catalog/soccer.json")
        _, values = find_equilibria.solve(game, "nash")
        np.testing.assert_allclose(values, known["values"], rtol=0, atol=1e-9)


class Memory(InTemporaryFolder):
    """A large game takes its own size in memory and little more: arrays move from the file into
    the model. What the program takes for itself, its code and libraries, is measured with a game
    that is small; 1 MB is for buffers. Of transitions the model keeps a quarter more: 16 bits for
    each number, to draw by."""

    def assert_loads_lean(self, what, arrays, most):
        self.save(arrays, horizon="3")
        size = self.file.stat().st_size
        self.assertGreater(size, 79e6)
        used = run_measured_from_small([VLEARN, "game", "validate", self.file])
        self.assertEqual(used["code"], 0, used["err"])
        small = [VLEARN, "game", "validate", ROOT / "catalog/rps.json"]
        program = run_measured_from_small(small)["peak"]
        peak = used["peak"]
        print(
            f"{what}: {size / 1e6:.0f} MB, {used['cpu_seconds']:.2f} s CPU, "
            f"peak {peak / 1e6:.0f} MB = {peak / size:.2f} x, program {program / 1e6:.1f} MB",
            file=sys.stderr,
        )
        self.assertLessEqual(peak, most * size + program + 1e6)

    def test_mostly_transitions(self):
        p = random_rows(self.rng, 1054, 3, 3, 1054)
        rewards = self.rng.random((2, 1054, 3, 3))
        self.assert_loads_lean("transitions", {"P": p, "R": rewards}, 1.25)

    def test_mostly_rewards(self):
        """The rewards of a state are moved as one block, a large one here."""
        p = random_rows(self.rng, 2, 100, 100, 100, 2)
        rewards = self.rng.random((3, 2, 100, 100, 100))
        self.assert_loads_lean("rewards", {"P": p, "R": rewards}, 1.1)


if __name__ == "__main__":
    unittest.main()
