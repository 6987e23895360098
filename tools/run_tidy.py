#!/usr/bin/env python3
# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over sources, leaving out those that it has found clean before.

Usage: run_tidy.py BUILD_DIR SOURCE... A source is known by a hash of its preprocessed text (with
comments, which hold NOLINT, and macros), of the configuration and of the version of clang-tidy.
Clean ones are remembered in $XDG_CACHE_HOME/vlearn-tidy (default ~/.cache), for all checkouts.
"""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TIDY = "clang-tidy-16"
ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vlearn-tidy"


def preprocess_command(entry):
    """The compiler's command of a compilation database, turned to preprocessing."""
    words = shlex.split(entry["command"])
    if words[0].endswith("ccache"):
        words.pop(0)
    output = words.index("-o")
    del words[output : output + 2]
    words[words.index("-c")] = "-E"
    return [*words, "-P", "-C", "-dD"]


def identity(entry, version):
    text = subprocess.run(
        preprocess_command(entry), cwd=entry["directory"], check=True, capture_output=True
    ).stdout
    config = (ROOT / ".clang-tidy").read_bytes()
    # Where a checkout lies does not matter.
    return hashlib.sha256(version + config + text.replace(bytes(ROOT), b"")).hexdigest()


def check(source, entry, build, version):
    """The complaints about one source, empty when it is clean."""
    stamp = CACHE / identity(entry, version)
    if stamp.exists():
        return ""
    command = [TIDY, "--quiet", "-p", build, "--warnings-as-errors=*", source]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        stamp.touch()
        return ""
    return done.stdout + done.stderr


def main():
    build, *sources = sys.argv[1:]
    database = json.loads(Path(build, "compile_commands.json").read_text())
    entries = {entry["file"]: entry for entry in database}
    version = subprocess.run([TIDY, "--version"], check=True, capture_output=True).stdout
    CACHE.mkdir(parents=True, exist_ok=True)
    paths = [str(Path(source).resolve()) for source in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = pool.map(lambda path: check(path, entries[path], build, version), paths)
        complaints = [report for report in reports if report]
    for report in complaints:
        print(report)
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
