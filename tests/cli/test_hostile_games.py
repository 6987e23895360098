# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a file holds, it costs little and gets one line that says what is wrong with it.

A bad file: exit code 3 and one line on standard error that names the file, the place and what to
do, for less than a second of the processor and 256 MB. The second is no measurement: it is more
than any of these files takes, and far less than one that got around the limits would. On the clock
it may be longer where other programs run; it must not wait for anything.
"""

import json
import math
import os
import random
import re
import resource
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from measure import run_measured

VLEARN = os.environ["VLEARN"]
CPU_SECONDS = 1.0
SECONDS = 10.0
PEAK = 256 * 10**6
ADDRESSES = 2**30  # a file that gets around the limits must not take the machine with it

MEADOW = {
    "format": "vlearn.game/1",
    "title": "Two sheep farmers, one meadow",
    "players": ["ann", "bob"],
    "states": ["green", "bare"],
    "actions": ["graze", "wait"],
    "horizon": 5,
    "initial": {"green": "2/3", "bare": "1/3"},
    "rules": [
        {"state": "green", "own": "graze", "reward": 1},
        {"state": "bare", "own": "graze", "reward": 0.1},
        {"own": "wait", "reward": 0},
        {"count": {"graze": 2}, "next": "bare"},
        {"next": {"green": 0.5, "bare": 0.5}},
    ],
}
TABLE = {"players": 1, "actions": 1, "horizon": 1, "rules": [{"reward": 0}]}
NFG = """NFG 1 R "A game of chicken" { "ann" "bob" }
{ { "swerve" "dare" } { "swerve" "dare" } }
"a comment"
{
{ "both swerve" 0, 0 }
{ "bob dares" -1/2, 1.5 }
{ "ann dares" 1.5, -1/2 }
{ "crash" -9, -9 }
}
1 3 2 4
"""


def text_of(**keys):
    return json.dumps({"format": "vlearn.game/1"} | keys, separators=(",", ":"))


def meadow(**keys):
    return json.dumps(MEADOW | keys)


def table(**keys):
    return text_of(**(TABLE | keys))


def doubles(*values):
    return struct.pack(f"<{len(values)}d", *values)


def small(*values):
    return struct.pack(f"<{len(values)}I", *values)


def long(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def container(arrays, entries=None, length=None, **metadata):
    """Bytes of a container; `arrays` are (type, shape, bytes), `entries` goes over the header."""
    header = {"__metadata__": {"format": "vlearn.game/1", "horizon": "3"} | metadata}
    at = 0
    for name, (kind, shape, data) in arrays.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header | (entries or {})).encode()
    length = len(text) if length is None else length
    return struct.pack("<Q", length) + text + b"".join(data for _, _, data in arrays.values())


# One state, two actions for each of two players; the same game as flat tables; and with sparse
# rows and two states.
P = ("F64", [1, 2, 2, 1], doubles(1, 1, 1, 1))
R = ("F64", [2, 1, 2, 2], doubles(3, 0, 5, 1, 3, 5, 0, 1))
FLAT = {
    "num_states": ("U32", [1], small(1)),
    "num_actions": ("U32", [2], small(2, 2)),
    "rewards": ("F64", [8], R[2]),
    "transitions": ("F64", [4], P[2]),
}
SPARSE = {
    "R": ("F64", [1, 2, 2], doubles(0, 1, 2, 3)),
    "row_begins": ("U64", [5], long(0, 1, 2, 4, 5)),
    "successors": ("U32", [5], small(0, 1, 0, 1, 1)),
    "probabilities": ("F64", [5], doubles(1, 1, 0.5, 0.5, 1)),
}
CONGESTION = {
    "num_states": ("U32", [1], small(1)),
    "num_actions": ("U32", [2], small(2, 2)),
    "rewards": ("F64", [1, 2, 2], doubles(1, 0, 1, 0)),
    "base": ("F64", [1, 2], doubles(0, 0.5)),
    "transitions": ("F64", [2], doubles(1, 1)),
    "routes": ("U32", [4], small(0, 1, 0, 1)),
}
POLYMATRIX = {
    "num_states": ("U32", [1], small(1)),
    "num_actions": ("U32", [2], small(1, 1)),
    "rewards": ("F64", [4], doubles(0, 1, 1, 0)),
    "weights": ("F64", [1, 2], doubles(0.5, 0.5)),
    "transitions": ("F64", [2], doubles(1, 1)),
    "ranges": ("F64", [1, 2], doubles(0, 1)),
}


def with_about(text):
    data = text if isinstance(text, bytes) else text.encode()
    return container({"P": P, "R": R, "about": ("U8", [len(data)], data)})


def congestion(**arrays):
    return container(CONGESTION | arrays, model="congestion")


def polymatrix(**arrays):
    return container(POLYMATRIX | arrays, model="polymatrix")


GOOD = {
    "json": meadow(),
    "safetensors": container({"P": P, "R": R}),
    "nfg": NFG,
}
GOOD_CONTAINERS = {
    "flat": container(FLAT),
    "sparse": container(SPARSE),
    "congestion": congestion(),
    "polymatrix": polymatrix(),
    "about": with_about('{"players": ["ann", "bob"]}'),
}

# Wrong in content. What stands beside each is a part of the message.
BAD_JSON = {
    "not an object": ("[]", "a game is an object"),
    "a word": ("game", "column"),
    "another format": (meadow(format="vlearn.game/9"), "format"),
    "not a number": (meadow(range=0).replace('"range": 0', '"range": [NaN, 1]'), "column"),
    "infinity": (meadow().replace("0.1", "Infinity"), "column"),
    "too large a number": (meadow().replace("0.1", "1e999"), "column"),
    "a text for a list": (meadow(rules="none"), "rules"),
    "a list for a number": (meadow(horizon=[5]), "horizon"),
    "null": (meadow(states=None), "states"),
    "a flag for a name": (meadow(players=[True, False]), "players[0]"),
    "an unknown key": (meadow(reward=3), "reward"),
    "an unknown state": (meadow(initial="gren"), "did you mean 'green'?"),
    "an unknown action": (meadow(rules=[{"own": "gaze", "reward": 0}]), "did you mean 'graze'?"),
    "an unknown player": (meadow(rules=[{"reward": {"an": 1}}]), "did you mean 'ann'?"),
    "a step beyond": (meadow(rules=[{"step": 6, "reward": 0}]), "rules[0].step"),
    "a negative probability": (meadow(initial={"green": -0.5, "bare": 1.5}), "initial.green"),
    "a sum below one": (meadow(initial={"green": 0.5, "bare": 0.4}), "sums to 0.9"),
    "a sum above one": (meadow(rules=[{"next": {"green": 1, "bare": 1}}]), "sums to 2"),
    "nothing said": (meadow(rules=[{"state": "green"}]), "says nothing"),
    "said twice": (meadow(rules=[{"reward": 1}, {"reward": 2}]), "twice"),
    "no rule": (meadow(rules=[{"own": "wait", "reward": 0}]), "no rule gives"),
    "no reward range": (meadow(range=[1, 1]), "rewards"),
    "a reward out of range": (meadow(range=[0, 0.5]), "want a number from 0 to 0.5"),
    "rewards without a range": (table(actions=2, rules=[{"payoffs": [-1e308, 1e308]}]), "range"),
    "duplicate keys": ('{"format": "vlearn.game/1",\n"title": "a",\n"title": "b"}', "line 2"),
    "duplicate names": (meadow(players=["ann", "ann"]), "stands twice"),
    "a long name": (meadow(players=["x" * 10**6, "bob"]), "is no name"),
    "a long name that is not there": (meadow(initial="x" * 10**6), "is not a state"),
    "a long key": (meadow(**{"x" * 10**6: 1}), "is not a key"),
    "escapes in a name": (meadow(initial="\x1b[2J\x07\x9b"), "\\x1b[2J\\x07\\xc2\\x9b"),
    "escapes in a key": (meadow(**{"\x1b]0;x\x07": 1}), "\\x1b]0;x\\x07"),
    "escapes in a player": (meadow(players=["\x1b[31m", "\x1b[31m"]), "\\x1b[31m"),
    "lines in a name": (meadow(initial="a\nvlearn: all is well"), "a\\x0avlearn"),
    "raw control characters": (meadow().replace("green", "gr\x01een"), "column"),
    "not UTF-8": (meadow().encode().replace(b"bare", b"b\xffre"), "column"),
    "overlong UTF-8": (meadow().encode().replace(b"bare", b"b\xc0\xafre"), "column"),
    "half a surrogate": (meadow().replace("bare", "\\ud800"), "column"),
    "a NUL": (meadow().replace("bare", "ba\0re"), "NUL"),
    "a NUL at the end": (meadow() + "\0", "NUL"),
    "UTF-16": (meadow().encode("utf-16"), ""),
    "garbage": (random.Random(1).randbytes(10**5), ""),
    "two games": (meadow() + meadow(), "column"),
}

# Sizes without the numbers, and rules that would cost more than the file is worth. Made one by one:
# what this process has in memory counts into the peak of those that it starts.
MANY = 10**6
COSTLY_JSON = {
    "brackets": lambda: "[" * 10**7,
    "braces": lambda: '{"a":' * (2 * 10**6),
    "more players than numbers": lambda: meadow(players=2**64),
    "far more players": lambda: meadow(players=2**64 - 1),
    "players, a fraction": lambda: meadow(players=1e300),
    "a horizon of 2^63": lambda: meadow(horizon=2**63),
    "players": lambda: table(players=MANY, actions=2),
    "players and states": lambda: table(players=MANY, states=MANY),
    "players, states and steps": lambda: table(
        players=MANY, states=MANY, horizon=MANY, stationary=False, terminal=["2"]
    ),
    "states and steps": lambda: table(states=MANY, horizon=MANY, stationary=False),
    "actions": lambda: table(players=["a", "b"], actions=MANY),
    "actions of each": lambda: table(players=8, actions={"*": 2**20}),
    "actions of each cell": lambda: table(
        players=MANY, states=MANY, actions=[{"state": "1", "actions": 2}, {"actions": 1}]
    ),
    "terminal states": lambda: table(
        states=["a", "b"], stationary=False, horizon=MANY, terminal=["a"] * 4 * 10**5
    ),
    "steps that are named": lambda: table(
        horizon=MANY, rules=[{"step": k + 1, "reward": 0} for k in range(10**5)]
    ),
    "states that are named": lambda: table(
        states=["a"],
        horizon=MANY,
        stationary=False,
        rules=[{"state": ["a"] * 10**5, "reward": 0}] * 4,
    ),
    "wildcards": lambda: table(
        players=2,
        states=1000,
        actions=20,
        rules=[
            {"state": "*", "actions": [str(k + 1), "*"], "count": {"1": [0, 1, 2]}, "reward": r}
            for k in range(20)
            for r in ({"1": 0}, {"2": 0})
        ]
        * 100,
    ),
    "rules that match little": lambda: table(
        states=2**18,
        actions=[{"state": str(k + 1), "actions": [f"r{k}"]} for k in range(5 * 10**4)]
        + [{"actions": ["common"]}],
        rules=[{"actions": [f"r{k}"], "reward": 0} for k in range(5 * 10**4)],
    ),
    "counts": lambda: table(
        players=16,
        actions=[f"a{k}" for k in range(2)],
        rules=[
            {"count": {"a0": list(range(17)) * 100, "a1": list(range(17)) * 100}, "reward": 0}
            for _ in range(100)
        ],
    ),
    "counts of unknown names": lambda: table(
        players=10, actions=2, rules=[{"count": {f"x{k}": 1 for k in range(10**5)}, "reward": 0}]
    ),
    "names of players": lambda: table(
        players=10**5,
        rules=[
            {"actions": ["1"] * (10**5 - 4 + k) + ["*"] + ["1"] * (3 - k), "reward": {"1": 0}}
            for k in range(4)
        ],
    ),
    "deep payoffs": lambda: table(
        players=60, rules=[{"payoffs": json.loads("[" * 60 + "0," * 4 * 10**5 + "0" + "]" * 60)}]
    ),
    "narrow payoffs": lambda: table(
        players=60, actions=2, rules=[{"payoffs": json.loads("[" * 60 + "0" + "]" * 60)}]
    ),
    "a long mistake": lambda: table(
        states=[f"{k:063}" for k in range(2 * 10**5)], rules=[{"reward": 0, "next": "x" * 60}]
    ),
    "next states of each step": lambda: table(
        states=[[str(k) for k in range(500)]] * 900,
        horizon=900,
        rules=[{"reward": 0, "next": {str(k): "1/500" for k in range(500)}}] * 100,
    ),
    "a policy": lambda: table(
        states=MANY,
        horizon=MANY,
        rules=[{"reward": 0, "next": "1"}],
        known=[{"target": "nash", "source": "me", "policy": [{"play": ["1"]}]}],
    ),
    "policies": lambda: table(
        states=2**19,
        horizon=4,
        rules=[{"reward": 0, "next": "1"}],
        known=[{"target": "nash", "source": "me", "policy": [{"play": ["1"]}]}] * 50,
    ),
    "policies without a choice": lambda: table(
        players=10**5,
        horizon=MANY,
        known=[{"target": "nash", "source": "me", "policy": []}] * 10,
    ),
    "rules of a policy": lambda: table(
        actions=2,
        horizon=MANY,
        known=[{"target": "ce", "source": "me", "policy": [{"play": ["1"]}] * 10**5}],
    ),
    "a mixed policy of fractions": lambda: table(
        actions=2,
        horizon=MANY,
        known=[
            {
                "target": "ce",
                "source": "me",
                "policy": [{"play": [{"1": "9" * 120 + "/" + "9" * 120}]}],
            }
        ],
    ),
    "a congestion game": lambda: text_of(
        players=MANY,
        states=MANY,
        terminal=["2"],
        horizon=MANY,
        congestion={"routes": 2, "rules": [{"reward": 0, "next": "1"}]},
    ),
    "routes": lambda: text_of(
        players=MANY, horizon=1, congestion={"routes": MANY, "rules": [{"reward": 0}]}
    ),
    "a polymatrix game": lambda: text_of(
        players=MANY, actions=2, horizon=1, polymatrix={"rules": [{"payoffs": [0, 0]}]}
    ),
    "a polymatrix game with ends": lambda: text_of(
        players=MANY,
        actions=1,
        states=2,
        terminal=["2"],
        horizon=1,
        polymatrix={"rules": [{"against": "*", "payoffs": [[0]]}]},
    ),
    "pairs": lambda: text_of(
        players=700,
        actions=2,
        horizon=1,
        polymatrix={
            "rules": [
                {"player": str(k + 1), "against": "*", "payoffs": [[0, 0], [0, 0]]}
                for k in range(700)
            ]
            + [{"against": "*", "payoffs": [[0, 0], [0, 0]]}] * 1000
        },
    ),
    "digits": lambda: table().replace('"reward":0', '"reward":' + "1" * 10**5),
    "digits of a horizon": lambda: table().replace('"horizon":1', '"horizon":' + "1" * 10**5),
    "a fraction's digits": lambda: table(rules=[{"reward": "1" * 10**5 + "/3"}]),
    "a fraction's digits below": lambda: table(rules=[{"reward": "1/" + "3" * 10**5}]),
    "fractions": lambda: table(rules=[{"payoffs": ["9" * 999 + "/" + "7" * 999] * 8000}]),
    "short fractions": lambda: table(rules=[{"payoffs": ["9" * 127 + "/" + "7" * 127] * 60000}]),
    "keys": lambda: "{" + ",".join(f'"aaaaaaa{k:07x}":0' for k in range(5 * 10**5)) + "}",
    "names": lambda: table(
        states=[f"{k:012x}" for k in range(5 * 10**5)], rules=[{"reward": 0, "next": "nowhere"}]
    ),
    "a title": lambda: table(title="x" * 15 * 10**6, rules=[{"reward": "much"}]),
    "a game that is large and wrong at the end": lambda: table(
        players=["ann"],
        states=[f"{k:x}" for k in range(5 * 10**5)],
        rules=[{"reward": 0, "next": "0"}],
        known=[{"target": "nash", "source": "me", "values": [1, 2]}],
    ),
}

BAD_CONTAINERS = {
    "a header of 2^60 bytes": container({"P": P, "R": R}, length=2**60),
    "a header longer than the file": container({"P": P, "R": R}, length=10**5),
    "a header that is cut": container({"P": P, "R": R}, length=20),
    "no header": container({"P": P, "R": R}, length=0),
    "an array of 2^60 bytes": container(
        {"R": R}, {"P": {"dtype": "U8", "shape": [2**60], "data_offsets": [64, 64 + 2**60]}}
    ),
    "a shape that overflows": container(
        {"R": R}, {"P": {"dtype": "F64", "shape": [2**32, 2**32, 2], "data_offsets": [64, 64]}}
    ),
    "a shape that overflows to the right size": container(
        {"R": R}, {"P": {"dtype": "F64", "shape": [2**61], "data_offsets": [64, 64]}}
    ),
    "65 dimensions": container({"P": ("F64", [1] * 65, doubles(1)), "R": R}),
    "an empty game": container({"P": P, "R": ("F64", [2, 2**40, 0, 2], b"")}),
    "arrays that overlap": container(
        {"R": R}, {"P": {"dtype": "F64", "shape": [1, 2, 2, 1], "data_offsets": [0, 32]}}
    ),
    "a gap": container({"P": P, "x": ("U8", [8], bytes(8)), "R": R}, {"x": {}}),
    "a half type": container({"P": ("F16", [1, 2, 2, 1], bytes(8)), "R": R}),
    "single precision": container({"P": ("F32", [1, 2, 2, 1], bytes(16)), "R": R}),
    "an unknown array": container({"P": P, "R": R, "Rewards": ("F64", [1], doubles(0))}),
    "an array too many": container({"P": P, "R": R, "weights": ("F64", [1], doubles(0))}),
    "escapes in the name of an array": container({"\x1b[31m": P, "R": R}),
    "a name of 1 MB": container({"x" * 10**6: P, "R": R}),
    "unknown metadata": container({"P": P, "R": R}, horizn="3"),
    "escapes in metadata": container({"P": P, "R": R}, **{"\x1b[31m": "3"}),
    "metadata of 1 MB": container({"P": P, "R": R}, model="x" * 10**6),
    "another format": container({"P": P, "R": R}, format="vlearn.policy/1"),
    "a list for metadata": container({"P": P, "R": R}, {"__metadata__": []}),
    "no horizon": container({"P": P, "R": R}, {"__metadata__": {"format": "vlearn.game/1"}}),
    "horizon 0": container({"P": P, "R": R}, horizon="0"),
    "horizon -1": container({"P": P, "R": R}, horizon="-1"),
    "a horizon of 30 digits": container({"P": P, "R": R}, horizon="9" * 30),
    "horizon 1e3": container({"P": P, "R": R}, horizon="1e3"),
    "a maybe": container({"P": P, "R": R}, stationary="maybe"),
    "an unknown model": container({"P": P, "R": R}, model="tree"),
    "unknown noise": container({"P": P, "R": R}, noise="loud"),
    "steps that are not there": container({"P": P, "R": R}, stationary="false"),
    "a zero-sum game with two rewards": container({"P": P, "R": R}, zero_sum="true"),
    "no P": container({"R": R}),
    "no R": container({"P": P}),
    "P of another shape": container({"P": ("F64", [2, 2, 1, 1], P[2]), "R": R}),
    "R of another shape": container({"P": P, "R": ("F64", [2, 2, 2], R[2])}),
    "a commit of another kind": container({"P": P, "R": R, "commit": ("U8", [4], bytes(4))}),
    "a wrong commit": container({"P": P, "R": R, "commit": ("U8", [32], bytes(32))}),
    "an announced commit": container({"P": P, "R": R}, commit="sha256"),
    "initial of another length": container({"P": P, "R": R, "initial": ("F64", [2], bytes(16))}),
    "ranges of another shape": container({"P": P, "R": R, "ranges": ("F64", [2], doubles(0, 9))}),
    "a range upside down": container({"P": P, "R": R, "ranges": ("F64", [1, 2], doubles(9, 0))}),
    "rewards out of range": container({"P": P, "R": R, "ranges": ("F64", [1, 2], doubles(0, 4))}),
    "a range that is not finite": container(
        {"P": P, "R": R, "ranges": ("F64", [1, 2], doubles(0, math.inf))}
    ),
    "2^32 states": container(FLAT | {"num_states": ("U32", [1], small(2**32 - 1))}),
    "2^32 states for 2^20 steps": container(
        FLAT | {"num_states": ("U32", [1], small(2**32 - 1))},
        horizon=str(2**20 - 1),
        stationary="false",
    ),
    "no states": container(FLAT | {"num_states": ("U32", [1], small(0))}),
    "2^32 actions": container(FLAT | {"num_actions": ("U32", [2], small(2**32 - 1, 2**32 - 1))}),
    "no actions": container(FLAT | {"num_actions": ("U32", [2], small(0, 2))}),
    "no players": container(FLAT | {"num_actions": ("U32", [0], b"")}),
    "joint actions beyond counting": container(
        FLAT | {"num_actions": ("U32", [64], small(*[2**16] * 64))}
    ),
    "too few rewards": container(FLAT | {"rewards": ("F64", [7], R[2][8:])}),
    "too many transitions": container(FLAT | {"transitions": ("F64", [5], doubles(*[1] * 5))}),
    "rows that go backwards": container(SPARSE | {"row_begins": ("U64", [5], long(0, 2, 1, 4, 5))}),
    "rows beyond the end": container(SPARSE | {"row_begins": ("U64", [5], long(0, 1, 2, 4, 6))}),
    "rows far beyond the end": container(
        SPARSE | {"row_begins": ("U64", [5], long(0, 1, 2**63, 4, 5))}
    ),
    "too few rows": container(SPARSE | {"row_begins": ("U64", [4], long(0, 1, 2, 5))}),
    "no rows at all": container(SPARSE | {"row_begins": ("U64", [0], b"")}),
    "a successor that is no state": container(
        SPARSE | {"successors": ("U32", [5], small(0, 1, 0, 2, 1))}
    ),
    "successors out of order": container(
        SPARSE | {"successors": ("U32", [5], small(0, 1, 1, 0, 1))}
    ),
    "too few probabilities": container(SPARSE | {"probabilities": ("F64", [4], bytes(32))}),
    "a route that does not exist": congestion(routes=("U32", [4], small(0, 1, 0, 2))),
    "one route for two actions": congestion(routes=("U32", [4], small(0, 1, 1, 1))),
    "2^60 routes": congestion(base=("F64", [0, 2**60], b"")),
    "a flat base": congestion(base=("F64", [2], doubles(0, 0))),
    "a negative base": congestion(base=("F64", [1, 2], doubles(0, -1))),
    "a base above one": congestion(base=("F64", [1, 2], doubles(1, 1))),
    "weights above one": polymatrix(weights=("F64", [1, 2], doubles(1, 1))),
    "a polymatrix game without ranges": container(
        {name: array for name, array in POLYMATRIX.items() if name != "ranges"}, model="polymatrix"
    ),
    "pairs beyond counting": polymatrix(num_actions=("U32", [2], small(2**31, 2**31 - 1))),
    "about that is not JSON": with_about("{"),
    "about that is not UTF-8": with_about(b'{"title": "\xff"}'),
    "about that is a list": with_about("[]"),
    "about with an unknown key": with_about('{"horizon": 3}'),
    "about with three players": with_about('{"players": 3}'),
    "about with one name twice": with_about('{"players": ["ann", "ann"]}'),
    "about with other states": with_about('{"states": 2}'),
    "about with other actions": with_about('{"actions": 3}'),
    "about with a step of a stationary game": with_about(
        '{"actions": [{"step": 3, "actions": 2}, {"actions": 2}]}'
    ),
    "about with states per step": with_about('{"states": [1, 7, 7]}'),
    "about with a bad policy": with_about(
        '{"known": [{"target": "nash", "source": "me", "policy": [{"play": ["3", "1"]}]}]}'
    ),
    "about nested": with_about("[" * 10**7),
    "garbage": random.Random(2).randbytes(10**5),
    "zeros": bytes(10**5),
} | {
    f"{what} in {name}": container(arrays | {name: (kind, shape, doubles(value) + data[8:])})
    for what, value in (("NaN", math.nan), ("infinity", math.inf), ("a negative", -0.5))
    for arrays in ({"P": P, "R": R, "initial": ("F64", [1], doubles(1))}, FLAT, SPARSE)
    for name, (kind, shape, data) in arrays.items()
    if kind == "F64" and not (value == -0.5 and name in ("R", "rewards"))
}

BAD_NFG = {
    "another version": NFG.replace("NFG 1", "NFG 2"),
    "an extensive game": NFG.replace("NFG 1 R", "EFG 2 R"),
    "no players": NFG.replace('{ "ann" "bob" }', "{ }"),
    "an open text": NFG.replace('game of chicken"', "game of chicken"),
    "a brace too few": NFG.replace("}\n1", "\n1"),
    "an outcome that is not there": NFG.replace("1 3 2 4", "1 3 2 5"),
    "a negative outcome": NFG.replace("1 3 2 4", "1 3 2 -4"),
    "too few outcomes": NFG.replace("1 3 2 4", "1 3 2"),
    "too many outcomes": NFG.replace("1 3 2 4", "1 3 2 4 4"),
    "nan": NFG.replace("-9, -9", "nan, -9"),
    "inf": NFG.replace("-9, -9", "inf, -9"),
    "1e999": NFG.replace("-9, -9", "1e999, -9"),
    "a division by zero": NFG.replace("-1/2", "-1/0"),
    "a third payoff": NFG.replace("-9, -9", "-9, -9, -9"),
    "a name of 1 MB": NFG.replace("swerve", "x" * 10**6),
    "escapes": NFG.replace("1 3 2 4", "1 3 2 \x1b[31m"),
    "not UTF-8": NFG.encode().replace(b"dare", b"d\xffre"),
    "brackets": NFG.split("{")[0] + "{" * 10**7,
    "strategies that overflow": 'NFG 1 R "x" { "a" "b" "c" } '
    "{ 18446744073709551615 4294967296 4294967296 }\n\n1 2 3\n",
    "strategies beyond counting": 'NFG 1 R "x" { "a" "b" "c" } { 4194304 4194304 4194304 }\n\n1\n',
    "many payoffs too few": 'NFG 1 R "x" { "a" } { 4194304 }\n\n' + "1 " * 10**6,
    "many payoffs too many": 'NFG 1 R "x" { "a" } { 1 }\n\n' + "1 " * 5 * 10**6,
    "many players": 'NFG 1 R "x" { ' + '"a" ' * MANY + "}",
    "digits": NFG.replace("-9, -9", "1" * 10**5 + ", 0"),
    "digits of a fraction": NFG.replace("-9, -9", "1/" + "3" * 10**5 + ", 0"),
    "garbage": b"NFG 1 R " + random.Random(3).randbytes(10**5),
}


class Hostile(unittest.TestCase):
    slowest = []

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    @classmethod
    def tearDownClass(cls):
        print("\nslowest:", *sorted(cls.slowest)[-4:], sep="\n  ")

    def validate(self, file):
        done = run_measured(
            [VLEARN, "game", "validate", file],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES)),
        )
        self.slowest.append(
            f"{done['cpu_seconds']:.3f} s CPU, {done['seconds']:.3f} s, "
            f"{done['peak'] / 1e6:.0f} MB: {done['err'][:100]}"
        )
        return done

    def assert_refused(self, file, words="", code=3):
        done = self.validate(file)
        message = done["err"].decode()
        self.assertEqual((done["code"], done["out"]), (code, b""), message)
        self.assertRegex(message, rf"\Avlearn: {re.escape(str(file))}[^\x00-\x1f\x7f-\x9f]+\n\Z")
        self.assertIn(words, message)
        if code == 3 and file.suffix != ".nfg":
            self.assertRegex(message, "; |want|must|need", "what to do about it")
        self.assertLess(len(message), 1000)
        self.assertLess(done["cpu_seconds"], CPU_SECONDS, message)
        self.assertLess(done["seconds"], SECONDS, message)
        self.assertLess(done["peak"], PEAK, message)
        return message

    def write(self, ending, content):
        file = self.folder / f"bad.{ending}"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def assert_all_refused(self, ending, cases):
        for name, case in cases.items():
            content, words = case if isinstance(case, tuple) else (case, "")
            content = content() if callable(content) else content
            with self.subTest(case=name):
                self.assert_refused(self.write(ending, content), words)

    def test_what_is_good_is_good(self):
        """So that what is bad below is bad for the reason it should be."""
        for ending, content in [
            *GOOD.items(),
            *(("safetensors", content) for content in GOOD_CONTAINERS.values()),
        ]:
            done = self.validate(self.write(ending, content))
            self.assertEqual(done["code"], 0, done["err"])

    def test_bad_json(self):
        self.assert_all_refused("json", BAD_JSON)

    def test_costly_json(self):
        self.assert_all_refused("json", COSTLY_JSON)

    def test_bad_containers(self):
        self.assert_all_refused("safetensors", BAD_CONTAINERS)

    def test_bad_nfg(self):
        self.assert_all_refused("nfg", BAD_NFG)

    def test_truncated(self):
        for ending, whole in GOOD.items():
            whole = whole if isinstance(whole, bytes) else whole.rstrip().encode()
            size = len(whole)
            lengths = {size * k // 50 for k in range(50)}
            lengths |= set(range(min(size, 200))) | set(range(max(size - 200, 0), size))
            for length in sorted(lengths):
                with self.subTest(ending=ending, length=length):
                    self.assert_refused(self.write(ending, whole[:length]))

    def test_what_is_no_file(self):
        for ending in GOOD:
            with self.subTest(ending=ending):
                self.assert_refused(self.folder / f"missing.{ending}", "No such file")
                pipe = self.folder / f"pipe.{ending}"
                os.mkfifo(pipe)
                self.assert_refused(pipe, "not a regular file")
                folder = self.folder / f"folder.{ending}"
                folder.mkdir()
                self.assert_refused(folder, "not a regular file")
                for device in ("zero", "null", "random"):
                    link = self.folder / f"{device}.{ending}"
                    link.symlink_to(f"/dev/{device}")
                    self.assert_refused(link, "not a regular file")
                loop = self.folder / f"loop.{ending}"
                loop.symlink_to(loop)
                self.assert_refused(loop, "cannot be opened")

    def test_what_is_simply_large(self):
        """The one reason for another exit code: nothing is wrong with it but the size."""
        file = self.write("json", " " * (2**24 + 1))
        self.assert_refused(file, "the limit for JSON is 16777216", code=5)
        self.assert_refused(self.write("json", "[" + "0," * 2**19 + "0]"), "values", code=5)
        for ending in ("json", "nfg"):
            file = self.write(ending, "")
            os.truncate(file, 2**40)  # it takes no space on the disk
            self.assert_refused(file, "1099511627776 bytes, the limit is", code=5)
        file = self.write("safetensors", "")
        os.truncate(file, 2**41)
        self.assert_refused(file, "the limit is 1099511627776", code=5)

    def test_a_container_larger_than_memory(self):
        size = 2**38
        shape = [1, size // 8, 1]
        header = container({}, {"R": {"dtype": "F64", "shape": shape, "data_offsets": [0, size]}})
        file = self.write("safetensors", header)
        os.truncate(file, len(header) + size)
        self.assert_refused(file, "bytes of memory, which are not there", code=5)

    def test_escapes_in_the_name_of_a_file(self):
        file = self.folder / "\x1b[31m\nvlearn: all is well.json"
        done = self.validate(file)
        self.assertEqual(done["code"], 3)
        self.assertEqual(done["err"].count(b"\n"), 1)
        self.assertIn(b"/\\x1b[31m\\x0avlearn", done["err"])
        self.assertNotIn(b"\x1b", done["err"])

    def test_standard_input(self):
        """The same text the other way in; there is no file to name."""
        with open("/dev/zero") as zeros:
            done = run_measured([VLEARN, "game", "validate", "-"], stdin=zeros)
        self.assertEqual(done["code"], 5)
        self.assertLess(done["peak"], PEAK)
        for name, case in BAD_JSON.items():
            content = case[0] if isinstance(case[0], bytes) else case[0].encode()
            with self.subTest(case=name):
                done = subprocess.run(
                    [VLEARN, "game", "validate", "-"], input=content, capture_output=True
                )
                self.assertEqual((done.returncode, done.stdout), (3, b""))
                self.assertTrue(done.stderr.startswith(b"vlearn: standard input"), done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
