# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""The schema of game files says what the page says and what the reader does."""

import copy
import json
import os
import subprocess
import unittest
from pathlib import Path

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

VLEARN = os.environ["VLEARN"]
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/game_format.md").read_text()
SCHEMAS = {
    name: json.loads((ROOT / f"docs/reference/schema/vlearn.{name}-1.schema.json").read_text())
    for name in ("game", "catalogue")
}
REGISTRY = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
GAME = Draft202012Validator(SCHEMAS["game"], registry=REGISTRY)
ENTRY = Draft202012Validator(SCHEMAS["catalogue"], registry=REGISTRY)


def run(*arguments, text=None):
    return subprocess.run([VLEARN, *arguments], input=text, capture_output=True, text=True)


def validate(game):
    return run("game", "validate", "-", text=json.dumps(game))


# Games around the page's fragments, which show one key each.
AROUND = {
    "actions": {
        "players": ["guard", "thief"],
        "states": ["yard", "door", "window"],
        "rules": [{"reward": 0, "next": "yard"}],
    },
    "polymatrix": {
        "players": ["ann", "bob", "cyd"],
        "states": ["here", "there"],
        "actions": ["left", "right"],
    },
    "known": {
        "players": 2,
        "actions": ["rock", "paper", "scissors"],
        "zero_sum": True,
        "rules": [{"payoffs": [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]}],
    },
}


def examples():
    """The games of the page, those that are shown in part made whole."""
    for block in PAGE.split("```json\n")[1:]:
        text = block.split("```")[0]
        if text.startswith("{"):
            yield json.loads(text)
        else:
            part = json.loads("{" + text + "}")
            (key,) = part
            yield {"format": "vlearn.game/1", "horizon": 2} | AROUND[key] | part


EXAMPLES = list(examples())
DILEMMA, SHEEP, DIFFER, ROADS, PAIRS, KNOWN = EXAMPLES

GONE = object()
# What is done to a good game: where, and what stands there instead. The last key of a path may be
# new. Every one of these breaks the grammar, not just the sense, of a file.
MUTATIONS = [
    (DILEMMA, ["format"], "vlearn.game/2"),
    (DILEMMA, ["format"], GONE),
    (DILEMMA, ["players"], GONE),
    (DILEMMA, ["players"], 0),
    (DILEMMA, ["players"], []),
    (DILEMMA, ["players"], ["row", "row"]),
    (DILEMMA, ["players"], ["row", "*"]),
    (DILEMMA, ["players"], ["row", 2]),
    (DILEMMA, ["players"], ["row", "x" * 256]),
    (DILEMMA, ["actions"], GONE),
    (DILEMMA, ["actions"], {"row": 2, "column": "two"}),
    (DILEMMA, ["actions"], {"*": 2, "note": 2}),
    (DILEMMA, ["horizon"], GONE),
    (DILEMMA, ["horizon"], 0),
    (DILEMMA, ["horizon"], "1"),
    (DILEMMA, ["horizon"], 1.5),
    (DILEMMA, ["title"], 7),
    (DILEMMA, ["note"], ["a", "b"]),
    (DILEMMA, ["$schema"], 7),
    (DILEMMA, ["family"], "soccer"),
    (DILEMMA, ["Title"], "with a capital"),
    (DILEMMA, ["stationary"], "yes"),
    (DILEMMA, ["zero_sum"], 1),
    (DILEMMA, ["noise"], "gaussian"),
    (DILEMMA, ["range"], [0, 1, 2]),
    (DILEMMA, ["range"], [[0, 5], [0]]),
    (DILEMMA, ["range"], {"low": 0}),
    (DILEMMA, ["rules"], GONE),
    (DILEMMA, ["rules"], []),
    (DILEMMA, ["rules"], {"payoffs": []}),
    (DILEMMA, ["polymatrix"], {"rules": []}),
    (DILEMMA, ["rules", 0, "reward"], 1),
    (DILEMMA, ["rules", 0, "actions"], ["*", "*"]),
    (DILEMMA, ["rules", 0, "payoffs"], [[3, None], [0, 1]]),
    (DILEMMA, ["rules", 0, "payoffs"], 3),
    (SHEEP, ["states"], [["green", "bare"], []]),
    (SHEEP, ["initial"], {"green": -1, "bare": 2}),
    (SHEEP, ["initial"], ["green"]),
    (SHEEP, ["initial"], {}),
    (SHEEP, ["terminal"], "bare"),
    (SHEEP, ["rules", 0, "step"], 0),
    (SHEEP, ["rules", 0, "step"], []),
    (SHEEP, ["rules", 0, "state"], 1),
    (SHEEP, ["rules", 0, "sate"], "green"),
    (SHEEP, ["rules", 0, "reward"], GONE),
    (SHEEP, ["rules", 0, "reward"], "one"),
    (SHEEP, ["rules", 0, "reward"], "1/0"),
    (SHEEP, ["rules", 0, "reward"], "0.5"),
    (SHEEP, ["rules", 0, "reward"], True),
    (SHEEP, ["rules", 0, "reward"], {"ann": "much"}),
    (SHEEP, ["rules", 3, "count"], {"graze": -1}),
    (SHEEP, ["rules", 3, "count"], ["graze", 2]),
    (SHEEP, ["rules", 3, "next"], {"bare": "3/2", "green": "-1/2"}),
    (SHEEP, ["rules", 3, "next"], ["bare"]),
    (SHEEP, ["rules", 3, "own"], "graze"),
    (SHEEP, ["rules", 4, "next", "note"], 1),
    (SHEEP, ["rules", 6, "actions"], {"*": "wait"}),
    (DIFFER, ["actions", 0, "actions"], GONE),
    (DIFFER, ["actions", 0, "players"], ["guard"]),
    (ROADS, ["rules"], [{"reward": 0}]),
    (ROADS, ["congestion", "routes"], GONE),
    (ROADS, ["congestion", "rules"], {}),
    (ROADS, ["congestion", "roads"], 2),
    (ROADS, ["congestion", "rules", 0, "reward", "all"], GONE),
    (ROADS, ["congestion", "rules", 0, "reward"], GONE),
    (ROADS, ["congestion", "rules", 0, "base"], -0.25),
    (PAIRS, ["polymatrix", "rules", 0, "payoffs"], [1, 2]),
    (PAIRS, ["polymatrix", "rules", 2, "payoffs"], [[1, 0], [0, 1]]),
    (PAIRS, ["polymatrix", "rules", 0, "weight"], 1),
    (PAIRS, ["polymatrix", "rules", 3, "against"], "bob"),
    (PAIRS, ["polymatrix", "rules", 0, "action"], "left"),
    (PAIRS, ["polymatrix", "rules", 5, "weight"], GONE),
    (KNOWN, ["known"], {"target": "nash"}),
    (KNOWN, ["known", 0, "target"], "equilibrium"),
    (KNOWN, ["known", 0, "source"], GONE),
    (KNOWN, ["known", 0, "values"], 0),
    (KNOWN, ["known", 0, "policy", 0, "play"], GONE),
    (KNOWN, ["known", 0, "policy", 0, "mix"], [{"weight": 1, "play": ["rock", "rock"]}]),
    (KNOWN, ["known", 0, "policy", 0, "play"], [1, 1]),
    (KNOWN, ["known", 0, "policy", 0, "play"], {"*": {"rock": -1, "paper": 2}}),
]


def mutated(game, path, value):
    result = copy.deepcopy(game)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return result


class GameSchema(unittest.TestCase):
    def assert_valid(self, validator, game):
        self.assertEqual([error.message for error in validator.iter_errors(game)], [])

    def test_the_schemas_are_schemas(self):
        for schema in SCHEMAS.values():
            Draft202012Validator.check_schema(schema)

    def test_the_catalogue(self):
        files = sorted((ROOT / "catalog").glob("*.json"))
        self.assertGreaterEqual(len(files), 20)
        for file in files:
            with self.subTest(file=file.name):
                self.assert_valid(ENTRY, json.loads(file.read_text()))

    def test_the_examples_of_the_page(self):
        for game in EXAMPLES:
            with self.subTest(game=game.get("title", "a part")):
                self.assert_valid(GAME, game)
                self.assert_valid(GAME, game | {"$schema": "vlearn.game-1.schema.json"})
                done = validate(game)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_we_write(self):
        names = [file.stem for file in sorted((ROOT / "catalog").glob("*.json"))]
        names += [
            f"random:players={players},states=3,actions=2,horizon=3,seed={players},kind={kind}"
            for players, kind in ((1, "general"), (2, "zero-sum"), (3, "team"), (4, "polymatrix"))
        ]
        for name in names:
            with self.subTest(game=name):
                done = run("game", "convert", name, "-")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_valid(GAME, json.loads(done.stdout))

    def test_schema_and_reader_refuse_the_same(self):
        for game, path, value in MUTATIONS:
            shown = "gone" if value is GONE else json.dumps(value)[:40]
            with self.subTest(path=path, value=shown):
                bad = mutated(game, path, value)
                self.assertFalse(GAME.is_valid(bad), "the schema takes it")
                done = validate(bad)
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
