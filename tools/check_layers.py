#!/usr/bin/env python3
# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every include follows the module graph (cmake/module_graph.txt).

Usage: check_layers.py [ROOT]. Prints each include that the graph does not allow and exits 1 if
there is any. Rules:
  * a module includes its own headers and those of the modules that the graph lets it see;
  * public headers are named "vlearn/<module>/<file>"; other quoted includes stay in the folder;
  * no include has ".." in it;
  * the umbrella header vlearn/vlearn.h is for users: nothing here includes it;
  * an include of the project is written with quotes, so that this check sees it.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".h", ".cpp", ".cu", ".inc"}


def read_graph(path):
    """Maps each module to the set of modules that it may see."""
    levels, hidden = {}, {}
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        level, module, *rest = words
        levels[module] = int(level)
        hidden[module] = {word.removeprefix("!") for word in rest}
    return {
        module: {
            other
            for other in levels
            if levels[other] < levels[module] and other not in hidden[module]
        }
        for module in levels
    }


def module_of(file, root):
    """The module that a source file belongs to, or None for files outside the graph."""
    parts = file.relative_to(root).parts
    if parts[:2] == ("include", "vlearn") and len(parts) > 3:
        return parts[2]
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == "apps":
        return "apps"
    return None


def problem_with(file, bracket, name, module, graph):
    """What is wrong with one include, or None."""
    if ".." in name.split("/"):
        return "an include does not climb"
    if name == "vlearn/vlearn.h":
        return "the umbrella header is for users"
    match = re.match(r"vlearn/([^/]+)/", name)
    if match:
        if bracket == "<":
            return "project headers are included with quotes"
        target = match.group(1)
        if target not in graph:
            return f"the graph has no module '{target}'"
        if target != module and target not in graph[module]:
            return f"'{module}' may not see '{target}'"
    elif bracket == '"' and "/" in name:
        return "a private header stays in its folder"
    return None


def violations(root):
    graph = read_graph(root / "cmake" / "module_graph.txt")
    found = []
    for folder in ("include", "src", "apps"):
        for file in sorted((root / folder).rglob("*")):
            module = module_of(file, root) if file.suffix in SUFFIXES else None
            if module is None:
                continue
            if module not in graph:
                found.append(f"{file.relative_to(root)}: the graph has no module '{module}'")
                continue
            for bracket, name in INCLUDE.findall(file.read_text()):
                problem = problem_with(file, bracket, name, module, graph)
                if problem:
                    found.append(f"{file.relative_to(root)}: includes {name}: {problem}")
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = violations(root)
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
