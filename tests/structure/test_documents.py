# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Links and paths in the documents lead to things that exist."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from documents import ROOT, documents  # noqa: E402

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
FENCE = re.compile(r"^ *```.*?^ *```", re.M | re.S)
ANCHOR = re.compile(r"<a id=\"([^\"]+)\"")
# `src/core/x.cpp` in running text: a path of this repository.
PATH = re.compile(
    r"`((?:include|src|apps|tests|tools|docs|cmake|fuzz|benchmarks|examples)/[\w./-]*)`"
)


def anchors_of(text):
    """What #links into a document can name: its headings, as GitHub spells them, and its <a id>."""
    headings = re.findall(r"^#+ +(.*)$", FENCE.sub("", text), re.M)
    spelt = {re.sub(r"[^\w\- ]", "", heading).strip().lower() for heading in headings}
    return {heading.replace(" ", "-") for heading in spelt} | set(ANCHOR.findall(text))


class Documents(unittest.TestCase):
    def test_there_are_some(self):
        names = {str(file.relative_to(ROOT)) for file in documents()}
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
            self.assertIn(name, names)

    def test_links_and_paths_lead_somewhere(self):
        for file in documents():
            text = file.read_text()
            for target, anchor in LINK.findall(FENCE.sub("", text)):
                if "://" not in target:
                    with self.subTest(file=file.name, target=target, anchor=anchor):
                        there = file.parent / target if target else file
                        self.assertTrue(there.exists())
                        if anchor and there.suffix == ".md":
                            self.assertIn(anchor, anchors_of(there.read_text()))
            for target in PATH.findall(text):
                with self.subTest(file=file.name, path=target):
                    self.assertTrue((ROOT / target).exists())

    def test_the_index_has_all_documents(self):
        index = ROOT / "docs" / "README.md"
        targets = [target for target, _ in LINK.findall(index.read_text())]
        linked = {(index.parent / target).resolve() for target in targets}
        for file in documents():
            # Decisions are numbered, and the first says what they are.
            if index.parent in file.parents and file.parent.name != "decisions" and file != index:
                with self.subTest(file=file.name):
                    self.assertIn(file, linked)

    def test_the_example_of_the_readme_is_one_that_runs(self):
        shown = (ROOT / "README.md").read_text().split("```cpp\n")[1].split("```")[0]
        lines = [line for line in shown.splitlines() if line and "#include" not in line]
        run = (ROOT / "examples" / "congestion.cpp").read_text().splitlines()
        self.assertGreater(len(lines), 8)
        for line in lines:
            self.assertIn(line, run)


if __name__ == "__main__":
    unittest.main()
