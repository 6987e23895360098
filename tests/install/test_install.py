# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Installs the build to a fresh prefix; a foreign project finds it, links it and runs."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ["VLEARN_BUILD"]
FOREIGN = Path(__file__).parent


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    def test_a_foreign_project_links_and_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, build = Path(folder, "prefix"), Path(folder, "build")
            run("cmake", "--install", BUILD, "--prefix", prefix)
            compiler = f"-DCMAKE_CXX_COMPILER={os.environ['VLEARN_COMPILER']}"
            run(
                "cmake",
                "-G",
                "Ninja",
                "-S",
                FOREIGN,
                "-B",
                build,
                f"-DCMAKE_PREFIX_PATH={prefix}",
                compiler,
            )
            run("cmake", "--build", build)
            outputs = {run(build / name) for name in ("foreign", "foreign_core")}
            self.assertEqual(len(outputs), 1)
            self.assertRegex(
                outputs.pop(),
                r"^version \d+\.\d+\.\d+, index \d+ of 100, policy 0\.3333333333333333",
            )
            self.assertIn("vlearn", run(prefix / "bin" / "vlearn", "--version"))
            for file in prefix.rglob("*"):
                if file.suffix in (".cmake", ".h"):
                    for place in (BUILD, str(FOREIGN.parents[1] / "include")):
                        self.assertNotIn(place, file.read_text(), file)


if __name__ == "__main__":
    unittest.main()
