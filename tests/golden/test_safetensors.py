# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Our containers open with Python's safetensors package, and its files open here."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

WRITER = os.environ["VLEARN_WRITER"]
READER = os.environ["VLEARN_READER"]
SIZES = {"f64": (2, 3, 4), "f32": (6, 1), "i64": (5,), "u64": (5,), "i32": (3,), "u32": (3,)} | {
    "i16": (7,),
    "u16": (7,),
    "i8": (3,),
    "u8": (3,),
}


class Safetensors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "x.safetensors")

    def test_python_reads_what_we_write(self):
        subprocess.run([WRITER, self.file], check=True)
        arrays = load_file(self.file)
        commit = arrays.pop("commit")
        self.assertEqual((commit.dtype, commit.shape), (np.uint8, (32,)))
        for name, shape in SIZES.items():
            with self.subTest(name=name):
                kind = name[0].replace("u", "uint").replace("i", "int").replace("uintnt", "uint")
                dtype = np.dtype({"f": "float"}.get(kind, kind) + name[1:])
                self.assertEqual(arrays[name].dtype, dtype)
                expected = np.arange(1, np.prod(shape) + 1, dtype=dtype).reshape(shape)
                np.testing.assert_array_equal(arrays[name], expected)
        self.assertEqual(arrays["empty"].shape, (0, 3))
        self.assertEqual(arrays["nom étrange/[0]"], 0.25)
        with safe_open(self.file, framework="numpy") as opened:
            self.assertEqual(opened.metadata()["note"], 'café "quoted"')
            self.assertEqual(opened.metadata()["format"], "vlearn.test/1")

    def test_we_read_what_python_writes(self):
        arrays = {
            "P": np.full((2, 3, 3), 0.25),
            "flags": np.array([True, False]),
            "R": np.arange(6, dtype=np.float32).reshape(2, 3),
            "count": np.array(7, dtype=np.int64),
        }
        save_file(arrays, self.file)
        done = subprocess.run([READER, self.file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = set(done.stdout.splitlines())
        self.assertIn("P F64 [ 2 3 3 ] open 4.5", lines)
        self.assertIn("flags BOOL [ 2 ] open 0", lines)
        self.assertIn("R F32 [ 2 3 ] open 0", lines)
        self.assertIn("count I64 [ ] open 0", lines)

    def test_python_refuses_what_we_refuse(self):
        subprocess.run([WRITER, self.file], check=True)
        self.file.write_bytes(self.file.read_bytes()[:-1])
        with self.assertRaises(Exception):  # noqa: B017 (the package's own error type)
            load_file(self.file)
        self.assertEqual(subprocess.run([READER, self.file], capture_output=True).returncode, 3)


if __name__ == "__main__":
    unittest.main()
