# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""The release library never ends the process and never prints; the check for it can fail."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_symbols  # noqa: E402

ARCHIVES = os.environ["VLEARN_ARCHIVES"].split(":")
COMPILER = os.environ["VLEARN_COMPILER"]

PLANTED = {
    "abort": "#include <cstdlib>\nvoid f() { std::abort(); }",
    "exit": "#include <cstdlib>\nvoid f() { std::exit(1); }",
    "_ZSt4cout": "#include <iostream>\nvoid f() { std::cout << 1; }",
    "puts": '#include <cstdio>\nvoid f() { std::puts("x"); }',
    "stderr": '#include <cstdio>\nvoid f() { std::fputs("x", stderr); }',
    "hwy5Abort": '#include <hwy/base.h>\nvoid f() { hwy::Abort("x", 1, "x"); }',
    "__glibcxx_assert_fail": "#define _GLIBCXX_ASSERTIONS\n#include <vector>\n"
    "int f(std::vector<int>& v) { return v[0]; }",
    "6vprintE": '#include <fmt/core.h>\nvoid f() { fmt::print("x"); }',
}


class Symbols(unittest.TestCase):
    def test_the_library_is_clean(self):
        for archive in ARCHIVES:
            with self.subTest(archive=archive):
                self.assertEqual(check_symbols.forbidden_references(archive), [])

    def test_planted_calls_are_found(self):
        for symbol, source in PLANTED.items():
            with self.subTest(symbol=symbol), tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "planted.cpp")
                file.write_text(source)
                object_file = str(file.with_suffix(".o"))
                subprocess.run([COMPILER, "-c", str(file), "-o", object_file], check=True)
                found = [name for _, name in check_symbols.forbidden_references(object_file)]
                self.assertTrue(any(symbol in name for name in found), found)


if __name__ == "__main__":
    unittest.main()
