# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles a source twice: as it is it must compile, with VLEARN_MISUSE it must not.

Usage: check.py COMPILER INCLUDE_DIR SOURCE. The compiler's complaint must match the regular
expression in the source's line "// expect: ...", so that it fails for the right reason.
"""

import re
import subprocess
import sys
from pathlib import Path


def compile_source(compiler, include, source, *definitions):
    flags = ["-std=c++20", "-fsyntax-only", "-I", include, *definitions]
    return subprocess.run([compiler, *flags, source], capture_output=True, text=True)


def main():
    compiler, include, source = sys.argv[1:]
    expected = re.search(r"^// expect: (.+)$", Path(source).read_text(), re.MULTILINE)
    if not expected:
        sys.exit(f"{source} lacks its line '// expect: REGEX'")
    good = compile_source(compiler, include, source)
    if good.returncode != 0:
        sys.exit(f"the good form does not compile:\n{good.stderr}")
    bad = compile_source(compiler, include, source, "-DVLEARN_MISUSE")
    if bad.returncode == 0:
        sys.exit("the misuse compiles")
    if not re.search(expected.group(1), bad.stderr):
        sys.exit(f"the complaint does not match {expected.group(1)!r}:\n{bad.stderr}")


if __name__ == "__main__":
    main()
