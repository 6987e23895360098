# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""gcc and clang, -O0 to -O3, every vector width: the same bits, and those on record.

The presets release, asan and tsan check the signature of learning too (Signature of run_test);
here are the builds that no preset makes.
"""

import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = ("core", "bandit", "game", "policy", "agent", "run")
SOURCES = [HERE / "bits.cpp"] + [
    ROOT / "src" / "core" / name
    for name in (
        "alpha.cpp",
        "assert.cpp",
        "draws_ahead.cpp",
        "error.cpp",
        "kernels.cpp",
        "random.cpp",
        "text.cpp",
    )
]
SOURCES += [ROOT / "src" / "bandit" / name for name in ("potentials.cpp", "stationary.cpp")]
# A change of this line is a change of every result: the commit says why.
RECORDED = "3266dc5a2963ebd5"


# What keeps runs on the disk.
FOLDERS = (
    "run_folder.cpp",
    "baseline_folder.cpp",
    "baseline_game.cpp",
    "checkpoint.cpp",
    "certify_run.cpp",
    "data_certificate.cpp",
    "deviate.cpp",
    "gap_curve.cpp",
    "joint_play.cpp",
    "kept_run.cpp",
    "replay_run.cpp",
    "solve_game.cpp",
    "stored_policies.cpp",
)
# Learning: all of the library but what reads and writes games and runs.
LEARNING = (
    [HERE / "signature.cpp"]
    + [
        source
        for module in MODULES
        for source in sorted((ROOT / "src" / module).glob("*.cpp"))
        if not source.name.startswith(("json_", "container_game", "nfg", "game_io", "about"))
        and source.name not in (*FOLDERS, "learn.cpp", "plan.cpp", "version.cpp")
    ]
    + [ROOT / "src" / "core" / "json_writer.cpp"]
)


def lines_of(build, sources, libraries):
    """The lines that a program prints when built this way."""
    compiler, *flags = build
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "bits")
        includes = ["-I", ROOT / "include"]
        for module in MODULES:
            includes += ["-I", ROOT / "src" / module]
        command = ["ccache", compiler, "-std=c++20", "-ffp-contract=off", *flags, *includes]
        objects = []
        for source in sources:
            objects.append(Path(folder, f"{source.parent.name}-{source.stem}.o"))
            subprocess.run([*command, "-c", source, "-o", objects[-1]], check=True)
        subprocess.run([compiler, *objects, "-o", program, *libraries], check=True)
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        return [line.split() for line in output.splitlines()]


class SameBits(unittest.TestCase):
    def expect(self, recorded, builds, *program):
        """Every build of the program gives the recorded bits, for every vector width."""
        with ThreadPoolExecutor(2) as pool:
            outputs = pool.map(lambda build: lines_of(build, *program), builds)
            for build, lines in zip(builds, outputs, strict=True):
                self.assertTrue(lines)
                for target, value in lines:
                    with self.subTest(build=build, target=target):
                        self.assertEqual(value, recorded)

    def test_every_build_gives_the_recorded_bits(self):
        builds = [
            (compiler, level)
            for compiler in ("g++", "clang++-16")
            for level in ("-O0", "-O1", "-O2", "-O3")
        ]
        # The machine's own instructions around the kernels too: fma is available then.
        builds += [("g++", "-O3", "-march=native"), ("clang++-16", "-O3", "-march=native")]
        self.expect(RECORDED, builds, SOURCES, ["-lhwy"])

    def test_learning_without_and_with_optimisation(self):
        recorded = (HERE / "signature.txt").read_text().strip()
        builds = [("g++", "-O0"), ("clang++-16", "-O0"), ("clang++-16", "-O3")]
        self.expect(recorded, builds, LEARNING, ["-lhwy", "-lfmt", "-lcrypto", "-lpthread"])


if __name__ == "__main__":
    unittest.main()
