# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""The layer check accepts the tree as it is and refuses every kind of planted edge."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402


class Layers(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for folder in ("include", "src", "apps", "cmake"):
            shutil.copytree(ROOT / folder, self.root / folder)

    def plant(self, file, include):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#include {include}\n")
        return [v for v in check_layers.violations(self.root) if v.startswith(file)]

    def test_the_tree_is_clean(self):
        self.assertEqual(check_layers.violations(ROOT), [])

    def test_allowed_edges(self):
        self.assertFalse(self.plant("src/game/x.cpp", '"vlearn/core/id.h"'))
        self.assertFalse(self.plant("src/certify/x.cpp", '"vlearn/policy/x.h"'))
        self.assertFalse(self.plant("src/verify/x.cpp", '"vlearn/game/x.h"'))
        self.assertFalse(self.plant("src/experiment/x.cpp", '"vlearn/run/x.h"'))
        self.assertFalse(self.plant("src/run/x.cpp", '"private.h"'))
        self.assertFalse(self.plant("src/run/x.cpp", "<vector>"))

    def test_upward_edge(self):
        self.assertTrue(self.plant("src/core/x.cpp", '"vlearn/game/x.h"'))
        self.assertTrue(self.plant("include/vlearn/core/x.h", '"vlearn/run/x.h"'))
        self.assertTrue(self.plant("src/run/x.cpp", '"vlearn/experiment/x.h"'))

    def test_edge_within_a_level(self):
        self.assertTrue(self.plant("src/bandit/x.cpp", '"vlearn/game/x.h"'))
        self.assertTrue(self.plant("src/certify/x.cpp", '"vlearn/agent/x.h"'))
        self.assertTrue(self.plant("src/certify/x.cpp", '"vlearn/solve/x.h"'))

    def test_the_three_absent_edges(self):
        self.assertTrue(self.plant("src/agent/x.cpp", '"vlearn/game/x.h"'))
        self.assertTrue(self.plant("src/policy/x.cpp", '"vlearn/game/x.h"'))
        self.assertTrue(self.plant("src/verify/x.cpp", '"vlearn/policy/x.h"'))
        self.assertTrue(self.plant("src/verify/x.cpp", '"vlearn/bandit/x.h"'))

    def test_other_ways_round(self):
        self.assertTrue(self.plant("src/run/x.cpp", '"vlearn/vlearn.h"'))
        self.assertTrue(self.plant("src/run/x.cpp", "<vlearn/core/id.h>"))
        self.assertTrue(self.plant("src/core/x.cpp", '"../game/x.h"'))
        self.assertTrue(self.plant("src/core/x.cpp", '"vlearn/core/../game/x.h"'))
        self.assertTrue(self.plant("src/core/x.cpp", "<hwy/../vlearn/game/x.h>"))
        self.assertTrue(self.plant("src/core/x.cpp", '"vlearn/nowhere/x.h"'))
        self.assertTrue(self.plant("src/nowhere/x.cpp", '"vlearn/core/id.h"'))
        self.assertTrue(self.plant("src/core/x.cpp", '"game/x.h"'))


if __name__ == "__main__":
    unittest.main()
