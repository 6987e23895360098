# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""The documents of the repository."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def documents():
    """All that git knows or would add, and that are still there."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in sorted(listing.splitlines()) if (ROOT / name).exists()]
