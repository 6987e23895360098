#!/usr/bin/env python3
# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/figures/report.png: parts of the report that `./dev run` leaves, as a browser shows
them, side by side.

Usage: make_report_picture.py [REPORT [PICTURE]]
"""

import base64
import os
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 1000, 1200
PARTS = ("#headline", "#gap", "#deviations"), ("#game h3", "#policies")  # where each column begins


def column(page, parts):
    """The page from the first part on, and from the second on below it."""
    pieces, left = [], HEIGHT
    for part in parts:
        top = 0 if part == "#headline" else page.locator(part).bounding_box()["y"] - 16
        page_height = page.evaluate("document.documentElement.scrollHeight")
        following = parts[parts.index(part) + 1 :]
        if part == "#headline":
            height = page.locator("#game").bounding_box()["y"] - 8
        elif following:
            section = page.locator(part).locator("xpath=ancestor-or-self::section")
            box = section.bounding_box()
            height = box["y"] + box["height"] + 8 - top
        else:
            height = left
        height = min(height, left, page_height - top)
        clip = {"x": 0, "y": top, "width": WIDTH, "height": height}
        pieces.append(base64.b64encode(page.screenshot(full_page=True, clip=clip)).decode())
        left -= height
        if left <= 0:
            break
    return "".join(f'<img src="data:image/png;base64,{piece}">' for piece in pieces)


def main():
    report = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "runs/first/report.html")
    picture = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/figures/report.png")
    arguments = ["--disable-gpu"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-drawn]")
        columns = [column(page, parts) for parts in PARTS]
        size = {"width": 2 * WIDTH, "height": HEIGHT}
        board = browser.new_page(viewport=size)
        style = "body{margin:0;display:flex}div{width:50%}img{display:block}"
        columns = "".join(f"<div>{column}</div>" for column in columns)
        board.set_content(f"<style>{style}</style>{columns}")
        board.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
