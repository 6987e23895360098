# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""What is compiled into reports is what web/README.md says it is."""

import hashlib
import re
import shutil
import subprocess
import unittest
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "web"
UPLOT = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}


class Web(unittest.TestCase):
    def test_uplot_is_the_published_one(self):
        readme = (WEB / "README.md").read_text()
        for name, digest in UPLOT.items():
            with self.subTest(name):
                self.assertEqual(
                    hashlib.sha256((WEB / "uplot" / name).read_bytes()).hexdigest(), digest
                )
                self.assertIn(digest, readme)

    def test_version_and_licence(self):
        self.assertIn("(v1.6.32)", (WEB / "uplot" / "uPlot.iife.min.js").read_text()[:60])
        self.assertIn("1.6.32", (WEB / "README.md").read_text())
        licence = (WEB / "uplot" / "LICENSE").read_text()
        self.assertIn("The MIT License", licence)
        self.assertIn("Leon Sorokin", licence)
        self.assertNotIn("*/", licence)  # it stands in a comment of every page

    def test_nothing_else_is_there(self):
        files = {str(path.relative_to(WEB)) for path in WEB.rglob("*") if path.is_file()}
        known = {"README.md", "report.css", "report.js", "uplot/LICENSE"}
        self.assertEqual(files, known | {f"uplot/{name}" for name in UPLOT})

    def test_the_script_writes_text_never_markup(self):
        script = (WEB / "report.js").read_text()
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            self.assertNotIn(word, script)
        self.assertNotIn("</", script)  # would end its element
        self.assertNotIn("</", (WEB / "report.css").read_text())
        self.assertLess(len(script.splitlines()), 900)

    def test_nothing_is_fetched(self):
        for name in ("report.js", "report.css"):
            text = (WEB / name).read_text().replace("http://www.w3.org/2000/svg", "")
            self.assertIsNone(re.search(r"https?:|@import|url\(|fetch\(|XMLHttpRequest", text))

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_the_script_parses(self):
        subprocess.run(["node", "--check", str(WEB / "report.js")], check=True)


if __name__ == "__main__":
    unittest.main()
