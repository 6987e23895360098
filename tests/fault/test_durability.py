# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""What a command has written survives a power loss, at every moment.

Calls that change files are recorded in their order, and the order is checked: until a file is
synced its bytes may be lost, and until its folder is synced its name may be. The rules notice the
absence of every single fsync: each is taken out of the record in turn, and the check must refuse
what is left.
"""

import os
import unittest
from pathlib import Path

from support import FaultCase

# In a run folder these say that everything else is there. Times count when the run has ended.
RELIED_ON = {"checkpoint.safetensors": {"timing.jsonl"}, "result.json": set()}


class Unsafe(Exception):
    """A power loss would leave less than the program counts on."""


class Disk:
    """What would be lost if the power went now."""

    def __init__(self):
        self.bytes = set()  # files with bytes that are not on the disk
        self.names = set()  # files and folders with names that are not on the disk
        self.moved = None  # a file that was just put in its place

    def apply(self, call, path, target=None):
        if self.moved and call != "unlink" and (call, path) != ("fsync", self.moved.parent):
            raise Unsafe(f"{call} {path}: {self.moved} is not in its folder for good")
        getattr(self, call)(*((path, target) if target else (path,)))

    def create(self, path):
        if path.parent in self.names:
            raise Unsafe(f"{path} is made in a folder that may vanish")
        self.names.add(path)

    mkdir = create

    def write(self, path):
        if path.name == "results.jsonl" and path in self.bytes:
            raise Unsafe(f"{path}: what was measured before may vanish")
        self.bytes.add(path)

    def fsync(self, path):
        if path in self.names and not path.name.startswith(".vlearn-tmp-"):
            raise Unsafe(f"{path} is synced, but its name is not")
        self.bytes.discard(path)
        self.names = {name for name in self.names if name.parent != path}
        if self.moved and self.moved.parent == path:
            self.moved = None

    def rename(self, path, target):
        if path in self.bytes:
            raise Unsafe(f"{path} becomes {target.name} and is not synced")
        if target.name in RELIED_ON:
            not_yet = {
                lost
                for lost in (self.bytes | self.names) - {path}
                if target.parent in lost.parents and lost.name not in RELIED_ON[target.name]
            }
            if not_yet:
                raise Unsafe(f"{target} counts on {not_yet}, which may vanish")
        if path.name.startswith(".vlearn-tmp-"):
            self.names.discard(path)
            self.names.add(target)
            self.moved = target

    def unlink(self, path):
        self.bytes.discard(path)
        self.names.discard(path)

    def end(self):
        if self.bytes or self.names:
            raise Unsafe(f"at the end {self.bytes | self.names} may vanish")


def check(calls):
    disk = Disk()
    for call in calls:
        disk.apply(*call)
    disk.end()


class Durability(FaultCase):
    def recorded(self, *arguments):
        """Runs a command; what it did to files."""
        trace = self.folder / "trace"
        trace.unlink(missing_ok=True)
        environment = self.preloaded("shim.c") | {"SHIM_TRACE": str(trace)}
        self.good(*arguments, env=environment)
        calls = []
        for line in trace.read_text().splitlines():
            call, *paths = line.split("\t")
            paths = [Path(os.path.normpath(self.folder / path)) for path in paths]
            calls.append((call, *paths))
        return calls

    def assert_safe_by_every_fsync(self, calls):
        check(calls)
        syncs = [i for i, call in enumerate(calls) if call[0] == "fsync"]
        self.assertTrue(syncs)
        for i in syncs:
            with self.assertRaises(Unsafe, msg=f"nothing needs {calls[i]}, call {i}"):
                check(calls[:i] + calls[i + 1 :])

    def test_the_check_knows_the_protocol(self):
        """Known answers: the order that is right, and orders that are not."""
        folder, temporary, file = Path("/a"), Path("/a/.vlearn-tmp-1-0"), Path("/a/b")
        create, write = ("create", temporary), ("write", temporary)
        sync, rename, sync_name = (
            ("fsync", temporary),
            ("rename", temporary, file),
            ("fsync", folder),
        )
        check([create, write, sync, rename, sync_name])
        for wrong in (
            [create, write, rename, sync_name],
            [create, sync, write, rename, sync_name],
            [create, write, sync, rename],
            [create, write, sync, rename, ("create", Path("/a/c")), sync_name],
            [("mkdir", folder), create, write, sync, rename, sync_name],
            [("create", file), ("fsync", file), sync_name],
        ):
            with self.assertRaises(Unsafe, msg=wrong):
                check(wrong)

    def test_learn(self):
        kinds = ((), ("--history", "none"), ("--monotone",), ("--target", "cce"))
        for number, more in enumerate(kinds):
            with self.subTest(more):
                run = self.folder / f"deep/er/{number}"
                calls = self.recorded(
                    *("learn", "soccer", "--episodes", "200", "--checkpoint-episodes", "70"),
                    *("--quiet", "--out", run, *more),
                )
                placed = [call[2].name for call in calls if call[0] == "rename"]
                self.assertGreaterEqual(placed.count("checkpoint.safetensors"), 3)
                self.assert_safe_by_every_fsync(calls)

    def test_resume(self):
        """After a kill at several moments."""
        learn = ("learn", "rps", "--episodes", "50", "--checkpoint-episodes", "15", "--quiet")
        environment = self.preloaded("shim.c")
        for call in ("60", "90", "120", "150"):
            run = self.folder / f"run{call}"
            kill = environment | {"SHIM_AT": call, "SHIM_MODE": "kill"}
            self.vlearn(*learn, "--out", run, env=kill)
            self.assertFalse((run / "result.json").exists())
            self.assert_safe_by_every_fsync(
                self.recorded("learn", "--resume", run, "--checkpoint-episodes", "15", "--quiet")
            )

    def test_replaced_run(self):
        self.good("learn", "rps", "--episodes", "50", "--quiet", "--out", "run")
        self.assert_safe_by_every_fsync(
            self.recorded("learn", "rps", "--episodes", "9", "--quiet", "--force", "--out", "run")
        )

    def test_other_commands(self):
        self.good("learn", "rps", "--episodes", "50", "--quiet", "--out", "run")
        for arguments in (
            ("certify", "run"),
            ("certify", "run", "-o", "certificate.json"),
            ("report", "run"),
            ("report", "run", "-o", "report.html"),
            ("policy", "table", "run", "-o", "table.safetensors"),
            ("solve", "soccer", "--out", "one/two/planned"),
            ("learn", "rps", "--algorithm", "nash-vi", "--episodes", "20", "--out", "a/baseline"),
            ("game", "convert", "rps", "rps.json"),
            ("game", "convert", "rps", "rps.nfg"),
            ("game", "convert", "rps", "rps.safetensors"),
            ("experiment", "curse", "--players", "2", "--seeds", "1", "--out", "x/curse"),
        ):
            with self.subTest(arguments):
                self.assert_safe_by_every_fsync(self.recorded(*arguments, "--quiet"))


if __name__ == "__main__":
    unittest.main()
