# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of the command share."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

VLEARN = os.environ["VLEARN"]


def without_cost(errors):
    """What stands on stderr beside notes on what certifying costs and on the preset, and how far
    a run has come, which slow machines tell."""
    usual = re.compile(r"vlearn: (note: certifying |note: with --\S+ the preset is | *[0-9]+ %: )")
    return "".join(line for line in errors.splitlines(keepends=True) if not usual.match(line))


class CommandTest(unittest.TestCase):
    """Runs the command in a folder that is gone after the test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_command(self, *arguments, **options):
        options = {"capture_output": True, "text": True, "cwd": self.folder} | options
        return subprocess.run([VLEARN, *arguments], **options)

    def good(self, *arguments, input="", **options):
        """What it prints when all is well."""
        # Through files: a reader at a pipe would be woken up for every line of millions.
        with tempfile.TemporaryFile("w+") as stdin, tempfile.TemporaryFile("w+") as stdout:
            stdin.write(input)
            stdin.seek(0)
            streams = {"stdin": stdin, "stdout": stdout, "stderr": subprocess.PIPE}
            done = self.run_command(*arguments, capture_output=False, **streams, **options)
            self.assertEqual((done.returncode, without_cost(done.stderr)), (0, ""))
            stdout.seek(0)
            return stdout.read()
