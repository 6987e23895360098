# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Every command of the documents runs, and prints what they show.

A document is a script. From top to bottom, in a folder of its own, which begins empty:

- a block ```sh is run line by line. A line must end with code 0, unless its comment says
  `# exit code 4`. A line that ends with \\ goes on in the next one. Lines that build, install or
  test (./dev, cmake, ctest, git clone, pip, cd, build/release/tests/) are not run; what they name
  has to exist;
- a block ```sh slow is run by `./dev test --slow` alone;
- a block ```text that follows one of these, with nothing but blank lines between, is what it
  prints, stderr included, but for notes and progress. `...` stands for any text in a line; a line
  of it alone for any number of lines;
- any other block with a file's name behind its language, ```json mine.json, is that file.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from documents import ROOT, documents  # noqa: E402

FENCE = re.compile(r"^( *)```(.*)$")
EXIT_CODE = re.compile(r"#.*\bexit code (\d+)")
NOT_RUN = ("./dev", "cmake", "ctest", "git", "pip", "cd")
TESTS = "build/release/tests/"
REMARK = re.compile(r"vlearn: (note: | *[0-9]+ %: )")
# vlearn followed by a sub-command, at the beginning of a line.
COMMAND = re.compile(r"^(?:\$ )?(?:build/release/)?vlearn +[a-z-]+\b")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|…")


@dataclass
class Block:
    """What stands between two fences."""

    words: list  # behind the opening fence
    line: int  # of the opening fence, from 1 on
    lines: list = field(default_factory=list)
    alone: bool = True  # something else than blank lines stands before it

    @property
    def language(self):
        return self.words[0] if self.words else ""


def blocks_of(text):
    found, block, indent, only_blank = [], None, "", False
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if block is None and fence:
            indent = fence[1]
            block = Block(fence[2].split(), number, alone=not only_blank)
        elif block is not None and fence and not fence[2]:
            found.append(block)
            block, only_blank = None, True
        elif block is not None:
            block.lines.append(line.removeprefix(indent))
        elif line.strip():
            only_blank = False
    assert block is None, "a block has no end"
    return found


def commands_of(block):
    """The lines of a block, continued ones joined: (number, command)."""
    begun = ""
    for number, line in enumerate(block.lines, block.line + 1):
        if line.endswith("\\"):
            begun += line[:-1]
        elif (begun + line).strip():
            yield number, begun + line
            begun = ""


def alike(shown, printed):
    """Whether lines were printed as they are shown, `...` standing for anything."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(alike(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    pattern = ".*".join(re.escape(part) for part in shown[0].rstrip().split("..."))
    return (
        bool(printed)
        and re.fullmatch(pattern, printed[0].rstrip()) is not None
        and alike(shown[1:], printed[1:])
    )


def problem_of_unrun(command):
    """What is wrong with a line that is not run, or nothing."""
    words = shlex.split(command, comments=True)
    usage = subprocess.run([ROOT / "dev", "help"], check=True, capture_output=True, text=True)
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    names = {preset["name"] for preset in presets}
    if words[0] == "./dev":
        if not any(line.split()[:2] == words[:2] for line in usage.stdout.splitlines()):
            return f"./dev help does not know '{words[1]}'"
    elif words[:2] == ["git", "clone"] or words[0] in ("pip", "cd"):
        return None
    elif words[0] in ("cmake", "ctest"):
        folders = [word for word in words if word.startswith("build/")]
        asked = [words[i + 1] for i, word in enumerate(words) if word == "--preset"]
        for name in [folder.split("/")[1] for folder in folders] + asked:
            if name not in names:
                return f"there is no preset '{name}'"
    elif words[0].startswith(TESTS):
        if (
            f"  {words[0].removeprefix(TESTS)}\n"
            not in (ROOT / "tests" / "CMakeLists.txt").read_text()
        ):
            return f"there is no test '{words[0]}'"
    else:
        return "it is none that may stand in a document"
    return None


class Runner:
    """Runs the blocks of one document, in a folder of its own."""

    def __init__(self, test, file, folder, slow):
        self.test, self.file, self.folder, self.slow = test, file, folder, slow
        programs = [str(folder / ".programs"), str(ROOT / ".venv" / "bin")]
        (folder / ".programs").mkdir()
        (folder / ".programs" / "vlearn").symlink_to(os.environ["VLEARN"])
        self.environment = os.environ | {
            "PATH": os.pathsep.join([*programs, os.environ["PATH"]]),
            "NO_COLOR": "1",
        }

    def run(self, blocks):
        printed = None
        for block in blocks:
            if block.language == "sh":
                printed = (
                    None
                    if "slow" in block.words[1:] and not self.slow
                    else self.run_commands(block)
                )
            elif len(block.words) > 1 and "." in block.words[1]:
                name = block.words[1]
                self.test.assertEqual(Path(name).name, name, "a file's name")
                (self.folder / name).write_text("\n".join(block.lines) + "\n")
                printed = None
            elif block.language == "text" and not block.alone:
                if printed is not None:
                    self.compare(block, printed)
                printed = None

    def run_commands(self, block):
        printed = []
        for number, command in commands_of(block):
            if command.split()[0].startswith("#"):
                continue
            place = f"{self.file.relative_to(ROOT)}:{number}: {command}"
            first = command.split()[0]
            if first in NOT_RUN or first.startswith(TESTS):
                problem = problem_of_unrun(command)
                self.test.assertIsNone(problem, f"{place}: {problem}")
                continue
            wanted = EXIT_CODE.search(command)
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            code = int(wanted[1]) if wanted else 0
            self.test.assertEqual(done.returncode, code, f"{place}\n{done.stdout[-2000:]}")
            lines = done.stdout.splitlines()
            printed += [line for line in lines if not REMARK.match(line)]
        return printed

    def compare(self, block, printed):
        place = f"{self.file.relative_to(ROOT)}:{block.line}"
        said = "\n".join(printed)
        self.test.assertTrue(alike(block.lines, printed), f"{place}: this was printed:\n{said}")


class Commands(unittest.TestCase):
    slow = False

    def test_run_as_the_documents_say(self):
        for file in documents():
            blocks = blocks_of(file.read_text())
            marks = [block.words for block in blocks if block.language == "sh"]
            if not marks or (self.slow and not any("slow" in words for words in marks)):
                continue
            with self.subTest(file=str(file.relative_to(ROOT))):
                with tempfile.TemporaryDirectory() as folder:
                    Runner(self, file, Path(folder), self.slow).run(blocks)


class Marks(unittest.TestCase):
    """No command hides in a block that is not run."""

    def test_commands_stand_in_blocks_that_are_run(self):
        for file in documents():
            for block in blocks_of(file.read_text()):
                if block.language == "sh":
                    continue
                for number, line in enumerate(block.lines, block.line + 1):
                    if COMMAND.match(line) and not PLACEHOLDER.search(line):
                        self.fail(
                            f"{file.relative_to(ROOT)}:{number}: '{line}' is not run: use ```sh"
                        )

    def test_blocks_are_marked(self):
        for file in documents():
            for block in blocks_of(file.read_text()):
                if block.language == "sh":
                    self.assertIn(block.words[1:], ([], ["slow"]), f"{file.name}:{block.line}")


class Comparison(unittest.TestCase):
    """The test itself can fail."""

    def test_of_lines(self):
        self.assertTrue(alike(["a", "b"], ["a", "b"]))
        self.assertTrue(alike(["...", "b"], ["x", "y", "b"]))
        self.assertTrue(alike(["in ... s"], ["in 3.2 s"]))
        self.assertTrue(alike(["a", "..."], ["a"]))
        self.assertFalse(alike(["a"], ["a", "b"]))
        self.assertFalse(alike(["...", "b"], ["x", "y"]))
        self.assertFalse(alike(["gap 0.1"], ["gap 0.11"]))
        self.assertFalse(alike(["a.b"], ["a:b"]))

    def test_of_blocks(self):
        text = "```sh\na \\\n b\n```\n\n```text\nx\n```\nwords\n\n```text\ny\n```\n"
        command, output, other = blocks_of(text)
        self.assertEqual(list(commands_of(command)), [(3, "a  b")])
        self.assertEqual((output.alone, other.alone), (False, True))

    def test_of_lines_that_are_not_run(self):
        self.assertIsNone(problem_of_unrun("./dev run  # builds"))
        self.assertIsNotNone(problem_of_unrun("./dev fly"))
        self.assertIsNone(problem_of_unrun("cmake --build build/release"))
        self.assertIsNotNone(problem_of_unrun("cmake --preset none-such"))
        self.assertIsNotNone(problem_of_unrun("git push"))
        self.assertIsNone(problem_of_unrun("build/release/tests/core_test"))
        self.assertIsNotNone(problem_of_unrun("build/release/tests/no_test"))


if __name__ == "__main__":
    if "--slow" in sys.argv:
        sys.argv.remove("--slow")
        Commands.slow = True
    unittest.main()
