#!/usr/bin/env python3
# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that libraries neither end the process nor print.

Usage: check_symbols.py ARCHIVE... Prints every reference to a forbidden symbol, with its object
file, and exits 1 if there is any.
"""

import re
import subprocess
import sys

ENDING = {"abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail", "raise"}
PRINTING = {"stdout", "stderr", "printf", "__printf_chk", "fprintf", "__fprintf_chk", "vprintf"} | {
    "puts",
    "putchar",
    "perror",
}
STREAMS = {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "_ZSt5wcout", "_ZSt5wcerr"}
FORBIDDEN = ENDING | PRINTING | STREAMS
# hwy::Abort, std::__glibcxx_assert_fail, and fmt::vprint of any version.
MANGLED = re.compile(r"_ZN3hwy5AbortE|_ZSt21__glibcxx_assert_fail|_ZN3fmt\w*6vprintE")


def forbidden_references(archive):
    """Pairs (object file, symbol) of one archive or object file."""
    listing = subprocess.run(
        ["nm", "--undefined-only", "--print-file-name", archive],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = []
    for line in listing.splitlines():
        place, _, symbol = line.rpartition(" U ")
        name = symbol.split("@")[0]
        if name in FORBIDDEN or MANGLED.match(name):
            found.append((place.strip().rstrip(":"), name))
    return found


def main():
    bad = [pair for archive in sys.argv[1:] for pair in forbidden_references(archive)]
    for place, symbol in bad:
        print(f"{place}: refers to {symbol}")
    sys.exit(1 if bad or len(sys.argv) < 2 else 0)


if __name__ == "__main__":
    main()
