# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""vlearn doctor: what it says of the machine, and that it finds what is wrong."""

import json
import os
import resource
import shutil
import unittest
from pathlib import Path

from command_test import CommandTest

SIGNATURE = (Path(__file__).parents[1] / "golden" / "signature.txt").read_text().strip()


class Doctor(CommandTest):
    def test_this_machine_is_well(self):
        text = self.good("doctor")
        lines = text.splitlines()
        for line in lines:
            self.assertRegex(line, r"^(ok|note) +\S")
        for about in ("build", "libraries", "processor", "SIMD", "threads", "memory", "disk"):
            self.assertEqual(sum(line.split()[1] == about for line in lines), 1, text)
        self.assertRegex(text, rf"(?m)^ok +signature +{SIGNATURE}: the same")
        self.assertEqual(text.count("self-test"), len(self.good("self-test").splitlines()))

    def test_as_json(self):
        result = json.loads(self.good("doctor", "--json"))
        self.assertEqual(result["schema"], "vlearn.doctor/1")
        self.assertTrue(result["ok"])
        self.assertEqual(result["signature"], SIGNATURE)
        version = json.loads(self.good("--version", "--json"))
        for key in ("version", "commit", "compiler", "build", "simd", "simd_available"):
            self.assertEqual(result[key], version[key])
        self.assertEqual(result["threads"], len(os.sched_getaffinity(0)))
        free = shutil.disk_usage(self.folder).free
        self.assertAlmostEqual(result["disk_available_bytes"] / free, 1.0, delta=0.2)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.assertAlmostEqual(result["memory_bytes"] / memory, 1.0, delta=0.01)
        self.assertEqual(len(result["libraries"]), 8)
        for name, number in result["libraries"].items():
            self.assertRegex(number, r"^\d+(\.\d+)+", name)
        self.assertLessEqual({one["verdict"] for one in result["findings"]}, {"ok", "note"})

    def test_the_instruction_set_that_was_asked_for(self):
        worst = json.loads(self.good("--version", "--json"))["simd_available"][-1]
        result = json.loads(self.good("doctor", "--json", env=os.environ | {"VLEARN_SIMD": worst}))
        self.assertEqual(result["simd"], worst)
        (simd,) = [one for one in result["findings"] if one["about"] == "SIMD"]
        self.assertEqual(simd["verdict"], "ok" if len(result["simd_available"]) == 1 else "note")

    def test_a_processor_taken_away(self):
        one = min(os.sched_getaffinity(0))
        result = json.loads(
            self.good("doctor", "--json", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        )
        self.assertEqual(result["threads"], 1)

    def test_no_folder_for_scratch_files_is_a_note(self):
        nowhere = os.environ | {"TMPDIR": str(self.folder / "nowhere")}
        text = self.good("doctor", env=nowhere)
        self.assertRegex(text, r"(?m)^note +self-test +cannot tell: a container")
        self.assertTrue(json.loads(self.good("doctor", "--json", env=nowhere))["ok"])

    def test_no_thread_to_be_had_is_a_note(self):
        if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
            self.skipTest("stacks are limited")

        def want_too_much():  # a thread's stack is as large as this
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 47, resource.RLIM_INFINITY))

        text = self.good("doctor", preexec_fn=want_too_much)
        self.assertRegex(text, r"(?m)^note +numbers +cannot tell: ")
        self.assertRegex(text, rf"(?m)^ok +signature +{SIGNATURE}: the same")


if __name__ == "__main__":
    unittest.main()
