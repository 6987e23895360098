# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

VLEARN = os.environ["VLEARN"]
COMPILER = os.environ.get("VLEARN_COMPILER", "c++")
HERE = Path(__file__).parent


class FaultCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        # In memory if possible: thousands of files are brought to the disk.
        memory = Path("/dev/shm")
        folder = tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def vlearn(self, *arguments, **options):
        options = {"capture_output": True, "cwd": self.folder} | options
        return subprocess.run([VLEARN, *arguments], **options)

    def good(self, *arguments, **options):
        done = self.vlearn(*arguments, **options)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done

    def preloaded(self, source):
        """The environment of a program that has this source preloaded."""
        library = self.folder / f"{Path(source).stem}.so"
        if not library.exists():
            command = [
                COMPILER,
                "-x",
                "c",
                "-shared",
                "-fPIC",
                HERE / source,
                "-o",
                library,
                "-ldl",
            ]
            subprocess.run(command, check=True)
        return dict(os.environ, LD_PRELOAD=str(library))
