# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Compilers, optimisation levels and machines that no preset builds for: the same bits.

The presets compare both hashes too: gcc -O3 (release), clang -O2 (asan) and, for the signature,
gcc -O2 (tsan). Here are gcc and clang without optimisation and clang with all of it; `--slow` adds
what is between.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ARCHIVES = os.environ["VLEARN_ARCHIVES"].split(":")
INCLUDES = [ROOT / "include", ROOT / "tests"] + [
    ROOT / "src" / module for module in ("core", "bandit", "game", "agent", "run", "lp")
]
LIBRARIES = ["-lhwy", "-lfmt", "-lcrypto", "-lxxhash", "-lpthread"]
BUILDS = [("g++", "-O0"), ("clang++-16", "-O0"), ("clang++-16", "-O3")]
SLOW_BUILDS = [("g++", "-O1"), ("g++", "-O2"), ("clang++-16", "-O1")]


def sources(module, *names):
    return [ROOT / "src" / module / f"{name}.cpp" for name in names]


# What computes is compiled anew; what reads, writes and formats comes from the library as built.
KERNELS = sources("core", "alpha", "draws_ahead", "kernels", "random")
KERNELS += sources("bandit", "potentials", "stationary")
LEARNING = KERNELS + sources("agent", "bonus", "options")
LEARNING += sources("game", "callback", "congestion", "frame", "grid_games", "head_counts")
LEARNING += sources("game", "joint_sums", "law", "polymatrix", "seeded_games", "tabular")
LEARNING += sources("run", "dispatch", "self_play", "signature", "trainer")

# Named on purpose: what is tested must not depend on the machine that tests.
MACHINES = ("x86-64-v3", "icelake-server", "sapphirerapids")
VECTORISED = [
    source
    for source in sorted((ROOT / "src").glob("*/*.cpp"))
    if "simd-targets.h" in source.read_text()
]


def compile_all(folder, jobs):
    """The objects of (build, source) pairs, each compiled once."""

    def compile_one(job):
        (compiler, *flags), source = job
        place = Path(folder, "".join(map(str, job[0])).replace("/", "-"))
        place.mkdir(exist_ok=True)
        made = place / f"{source.parent.name}-{source.stem}.o"
        command = ["ccache", compiler, "-std=c++20", "-ffp-contract=off", *flags]
        for include in INCLUDES:
            command += ["-I", include]
        subprocess.run([*command, "-c", source, "-o", made], check=True)
        return made

    jobs = sorted(set(jobs), key=str)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(jobs, pool.map(compile_one, jobs), strict=True))


class SameBits(unittest.TestCase):
    builds = BUILDS

    def expect_success(self, build, program, objects, *words):
        subprocess.run(
            [build[0], *objects, "-o", program]
            + ["-Wl,--start-group", *ARCHIVES, "-Wl,--end-group", *LIBRARIES],
            check=True,
        )
        run = subprocess.run([program, *words], capture_output=True, text=True)
        with self.subTest(build=build, program=program.name):
            self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_every_build_gives_the_recorded_bits(self):
        recorded = (HERE / "signature.txt").read_text().strip()
        bits = [HERE / "bits.cpp", *KERNELS]
        learning = [HERE / "signature.cpp", *LEARNING]
        with tempfile.TemporaryDirectory() as folder:
            objects = compile_all(folder, product(self.builds, bits + learning))
            for build in self.builds:
                for program, parts, words in (
                    ("bits", bits, []),
                    ("signature", learning, [recorded]),
                ):
                    own = [objects[build, part] for part in parts]
                    self.expect_success(build, Path(folder, program), own, *words)


class AnyMachine(unittest.TestCase):
    """Users may compile for the machine they have."""

    clang_machines = MACHINES[:1]

    def test_kernels_compile_and_nothing_is_fused(self):
        """A fused multiply-add rounds once where others round twice."""
        self.assertTrue(VECTORISED)
        builds = [("g++", "-O2", f"-march={machine}") for machine in MACHINES]
        # One machine shows what the other compiler fuses; `--slow` has the rest.
        builds += [("clang++-16", "-O2", f"-march={machine}") for machine in self.clang_machines]
        with tempfile.TemporaryDirectory() as folder:
            jobs = product(builds, [*VECTORISED, HERE / "bits.cpp"])
            for (build, source), made in compile_all(folder, jobs).items():
                code = subprocess.run(
                    ["objdump", "-d", "--no-show-raw-insn", made],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
                with self.subTest(build=build, source=source.name):
                    self.assertRegex(code, r"\bv?mulsd\b|\bvmulpd\b|\bvpmuludq\b")
                    self.assertIsNone(re.search(r"\bvf?n?m(add|sub)\w*", code))


if __name__ == "__main__":
    if "--slow" in sys.argv:
        sys.argv.remove("--slow")
        SameBits.builds = SLOW_BUILDS
        AnyMachine.clang_machines = MACHINES[1:]
    unittest.main()
