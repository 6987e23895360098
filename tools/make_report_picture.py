#!/usr/bin/env python3
# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/figures/report.png: the report that `./dev run` leaves, as a browser shows it.

Usage: make_report_picture.py [REPORT [PICTURE]]
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
SIZE = {"width": 1120, "height": 1180}


def main():
    report = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "runs/first/report.html")
    picture = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/figures/report.png")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-drawn]")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
