# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""gcc and clang, -O0 to -O3, every vector width: the same bits, and those on record."""

import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = [HERE / "bits.cpp"] + [
    ROOT / "src" / "core" / name
    for name in ("alpha.cpp", "assert.cpp", "draws_ahead.cpp", "error.cpp", "kernels.cpp", "random.cpp", "text.cpp")
]
SOURCES += [ROOT / "src" / "bandit" / name for name in ("potentials.cpp", "stationary.cpp")]
# A change of this line is a change of every result: the commit says why.
RECORDED = "e5aa9fbb7fa6a87b"


def lines_of(build):
    """The lines that the probe prints when built this way."""
    compiler, *flags = build
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "bits")
        includes = ["-I", ROOT / "include", "-I", ROOT / "src" / "core"]
        includes += ["-I", ROOT / "src" / "bandit"]
        command = ["ccache", compiler, "-std=c++20", "-ffp-contract=off", *flags, *includes]
        objects = []
        for source in SOURCES:
            objects.append(Path(folder, source.stem + ".o"))
            subprocess.run([*command, "-c", source, "-o", objects[-1]], check=True)
        subprocess.run([compiler, *objects, "-o", program, "-lhwy"], check=True)
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        return [line.split() for line in output.splitlines()]


class SameBits(unittest.TestCase):
    def test_every_build_gives_the_recorded_bits(self):
        builds = [
            (compiler, level)
            for compiler in ("g++", "clang++-16")
            for level in ("-O0", "-O1", "-O2", "-O3")
        ]
        # The machine's own instructions around the kernels too: fma is available then.
        builds += [("g++", "-O3", "-march=native"), ("clang++-16", "-O3", "-march=native")]
        with ThreadPoolExecutor(2) as pool:
            for build, lines in zip(builds, pool.map(lines_of, builds), strict=True):
                self.assertTrue(lines)
                for target, value in lines:
                    with self.subTest(build=build, target=target):
                        self.assertEqual(value, RECORDED)


if __name__ == "__main__":
    unittest.main()
