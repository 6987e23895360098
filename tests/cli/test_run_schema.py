# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Configs and results of runs are as their schemas say, and have no other members."""

import copy
import json
import unittest
from pathlib import Path

from command_test import CommandTest
from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schema"
CONFIG, RESULT = (
    Draft202012Validator(json.loads((SCHEMAS / f"vlearn.{name}-1.schema.json").read_text()))
    for name in ("config", "learn")
)

# Together they have every member.
RUNS = (
    ("random", "--until-gap", "5", "--episodes", "100", "--max-time", "60"),
    ("random-zero-sum", "--preset", "paper", "--episodes", "20"),
    ("chicken", "--target", "ce", "--preset", "rigorous", "--episodes", "20"),
    ("lock", "--monotone", "--preset", "practical", "--episodes", "20"),
    ("rps", "--certify", "off", "--history", "none", "--pessimistic", "--episodes", "20"),
)


def members(value):
    """All keys of an object, and of those in it."""
    if isinstance(value, list):
        return {key for entry in value for key in members(entry)}
    if not isinstance(value, dict):
        return set()
    return set(value) | {key for entry in value.values() for key in members(entry)}


def properties(schema):
    """All keys that a schema has a description of."""
    if isinstance(schema, list):
        return {key for entry in schema for key in properties(entry)}
    if not isinstance(schema, dict):
        return set()
    found = {key for entry in schema.values() for key in properties(entry)}
    return found | set(schema.get("properties", ()))


class RunSchemas(CommandTest):
    def test_fit_what_is_written(self):
        seen = ((CONFIG, set()), (RESULT, set()))
        for number, run in enumerate(RUNS):
            printed = json.loads(self.good("learn", *run, "--json", "--out", str(number)))
            config = json.loads((self.folder / str(number) / "config.json").read_text())
            result = json.loads((self.folder / str(number) / "result.json").read_text())
            for (schema, found), values in zip(seen, ((config,), (result, printed)), strict=True):
                for value in values:
                    with self.subTest(run=run):
                        self.assertEqual([e.message for e in schema.iter_errors(value)], [])
                    found |= members(value)
        for schema, found in seen:
            self.assertEqual(properties(schema.schema) - found, set())

    def test_refuse_others(self):
        self.good("learn", "rps", "--episodes", "2", "--out", "run")
        for schema, name in ((CONFIG, "config.json"), (RESULT, "result.json")):
            good = json.loads((self.folder / "run" / name).read_text())
            for key in ("seed", "target", "game_hash"):
                less, other = copy.deepcopy(good), copy.deepcopy(good)
                del less[key]
                other[key] = "none"
                self.assertFalse(schema.is_valid(less))
                self.assertFalse(schema.is_valid(other))
            self.assertFalse(schema.is_valid(good | {"colour": "red"}))


if __name__ == "__main__":
    unittest.main()
