# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Reports in a real browser: they open from a file, ask for nothing else, and every control works.

VLEARN_PAGES is the program that writes the example pages, VLEARN_SHOTS the folder where pages and
screenshots are left for looking at.
"""

import os
import subprocess
import unittest
from contextlib import contextmanager
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import sync_playwright

FOLDER = Path(os.environ["VLEARN_SHOTS"]).resolve()
CHROMIUM = os.environ.get("VLEARN_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EXAMPLES = [
    "harbour",
    "interval",
    "grid",
    "smallest",
    "begun",
    "refuted",
    "sampled",
    "hostile",
    "groups",
    "many",
]
NO_SIDEWAYS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def setUpModule():
    global playwright, browser
    FOLDER.mkdir(parents=True, exist_ok=True)
    subprocess.run([os.environ["VLEARN_PAGES"], str(FOLDER)], check=True)
    playwright = sync_playwright().start()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox + ARGUMENTS)


def tearDownModule():
    browser.close()
    playwright.stop()


def drawn(page):
    """Waits until what was asked for is on the screen."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


class BrowserTest(unittest.TestCase):
    @contextmanager
    def opened(self, name, *, width=1200, errors=(), **options):
        """A page that is drawn; it may complain about `errors` alone, and ask for nothing else."""
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.on("dialog", lambda dialog: complaints.append("dialog") or dialog.dismiss())
        address = (FOLDER / f"{name}.html").as_uri()
        page.goto(address)
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-drawn]", timeout=20000)
        try:
            yield page
            unexpected = [text for text in complaints if not any(e in text for e in errors)]
            self.assertEqual(unexpected, [])
            self.assertEqual(set(requests), {address})
        finally:
            context.close()

    def choose(self, page, select, value):
        """By the value alone: a step's label is another step's value."""
        page.select_option(select, index=self.options_of(page, select).index(value))

    def options_of(self, page, select):
        return page.eval_on_selector_all(f"{select} option", "all => all.map(o => o.value)")


class Opening(BrowserTest):
    def test_every_example_in_every_size_and_theme(self):
        axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
        for name in EXAMPLES:
            with self.subTest(name), self.opened(name, color_scheme="light") as page:
                self.assertEqual(page.locator("h1").count(), 1)
                self.look(page, name, "light")
                if name in ("many", "sampled"):  # as groups and harbour
                    continue
                page.eval_on_selector_all("details", "all => all.forEach(d => { d.open = true; })")
                page.evaluate(axe)  # not a <script>: the page forbids these
                self.assertEqual(self.grave(page, "{}"), [])
                page.emulate_media(color_scheme="dark")
                # What a theme can change.
                self.assertEqual(self.grave(page, "{runOnly: ['color-contrast']}"), [])
                page.reload()
                page.wait_for_selector("html[data-drawn]")
                self.look(page, name, "dark")

    def grave(self, page, options):
        """What axe-core finds that keeps people from using the page."""
        found = page.evaluate(f"axe.run({options}).then(r => r.violations)")
        return [
            (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"])
            for v in found
            if v["impact"] in ("serious", "critical")
        ]

    def look(self, page, name, scheme):
        """In two widths: nothing to be scrolled sideways; screenshots for people."""
        for width in (400, 1200):
            page.set_viewport_size({"width": width, "height": 900})
            self.assertTrue(page.evaluate(NO_SIDEWAYS))
            if name in ("harbour", "grid", "groups"):
                drawn(page)  # charts follow the width
                page.screenshot(path=FOLDER / f"{name}-{width}-{scheme}.png", full_page=True)

    def test_twenty_long_runs_are_drawn(self):
        with self.opened("many") as page:
            self.assertEqual(
                page.locator("[data-chart=groups]").get_attribute("data-points"), "2000"
            )
            time = page.locator("html").get_attribute("data-drawn")
            print(f"20 runs x 2000 points drawn after {time} ms")

    def test_readable_without_scripts(self):
        with self.opened("harbour", java_script_enabled=False) as page:
            for part in ("#gap-chart", "#value-chart", "#graph", "#gap-bars", "#visits-map"):
                self.assertTrue(page.locator(part).is_visible(), part)
            self.assertEqual(page.locator("#witness tbody tr").count(), 10)
            self.assertTrue(page.locator("#policy-table table").is_visible())
            self.assertEqual(page.locator("button, select").count(), 0)
        with self.opened("groups", java_script_enabled=False) as page:
            self.assertTrue(page.locator("#group-chart").is_visible())

    def test_the_policy_of_the_page_blocks_other_scripts(self):
        blocked = ["Content Security Policy"]
        with self.opened("harbour", errors=blocked) as page:
            page.evaluate("""() => {
                const script = document.createElement("script");
                script.textContent = "window.intruder = 1";
                document.body.append(script);
                const box = document.createElement("div");
                box.innerHTML = '<b id=styled style="color:red" onclick="window.intruder=2">x</b>';
                document.body.append(box);
                document.getElementById("styled").click();
            }""")
            self.assertIsNone(page.evaluate("window.intruder ?? null"))
            self.assertNotEqual(
                page.eval_on_selector("#styled", "b => getComputedStyle(b).color"), "rgb(255, 0, 0)"
            )
            self.assertEqual(
                page.evaluate("fetch('x.json').then(() => 'read', () => 'blocked')"), "blocked"
            )

    def test_on_paper(self):
        with self.opened("harbour", color_scheme="dark") as page:
            page.emulate_media(media="print")
            self.assertEqual(
                page.eval_on_selector("body", "b => getComputedStyle(b).backgroundColor"),
                "rgb(255, 255, 255)",
            )
            self.assertEqual(page.locator("button:visible, select:visible, nav:visible").count(), 0)
            self.assertTrue(page.locator("#gap-chart").is_visible())
            self.assertFalse(page.locator(".uplot").first.is_visible())
            self.assertTrue(page.locator("#making details table").is_visible())
            self.assertTrue(page.locator("#policy-table table").is_visible())
            page.emulate_media(media="screen")
            page.locator("#making details table").wait_for(state="hidden")
            page.pdf(path=FOLDER / "harbour.pdf")
        with self.opened("harbour", java_script_enabled=False) as page:
            page.emulate_media(media="print")
            self.assertTrue(page.locator("#making details table").is_visible())

    def test_names_stay_names(self):
        with self.opened("hostile") as page:
            self.assertEqual(page.locator("main img, main script").count(), 0)
            self.assertIn("</script><script>alert(1)</script>", page.locator("h1").text_content())
            names = page.eval_on_selector_all(
                "#explorer-player option", "all => all.map(o => o.text)"
            )
            self.assertEqual(names[1], '"><img src=x onerror=alert(1)>')
            self.assertEqual(names[3], "__proto__")
            for step in self.options_of(page, "#explorer-step"):
                self.choose(page, "#explorer-step", step)
                for state in self.options_of(page, "#explorer-state"):
                    self.choose(page, "#explorer-state", state)
            self.assertEqual(page.locator("main img, main script").count(), 0)


class Controls(BrowserTest):
    def test_theme(self):
        with self.opened("harbour", color_scheme="light") as page:
            back = "getComputedStyle(document.body).backgroundColor"
            colours = [page.evaluate(back)]
            pixels = "document.querySelector('.uplot canvas').toDataURL()"
            pictures = [page.evaluate(pixels)]
            for word in ("light", "dark", "auto"):
                page.click("#theme")
                self.assertEqual(page.locator("#theme").text_content(), f"Theme: {word}")
                drawn(page)
                colours.append(page.evaluate(back))
                pictures.append(page.evaluate(pixels))
            self.assertEqual(colours[0], colours[1])
            self.assertNotEqual(colours[1], colours[2])
            self.assertEqual(colours[0], colours[3])
            self.assertNotEqual(pictures[1], pictures[2])

    def test_legends_toggle_lines(self):
        for name, chart in (("harbour", "gap"), ("harbour", "value"), ("groups", "groups")):
            with self.subTest(chart), self.opened(name) as page:
                pixels = f"document.querySelector('[data-chart={chart}] canvas').toDataURL()"
                for button in page.locator(f"[data-chart={chart}] .legend button").all():
                    if not button.is_visible():
                        continue
                    before = page.evaluate(pixels)
                    button.press("Enter")
                    self.assertEqual(button.get_attribute("aria-pressed"), "false")
                    page.wait_for_function(f"before => {pixels} !== before", arg=before)
                    button.click()
                    self.assertEqual(button.get_attribute("aria-pressed"), "true")

    def test_charts_answer_to_the_mouse(self):
        with self.opened("harbour") as page:
            page.locator("[data-chart=gap] .u-over").hover()
            self.assertIn(
                "certified gap (exact), derived again: 0.",
                page.locator("[data-chart=gap] .readout").text_content(),
            )

    def test_charts_follow_the_width(self):
        with self.opened("harbour") as page:
            wide = page.locator("[data-chart=gap] canvas").bounding_box()["width"]
            page.set_viewport_size({"width": 500, "height": 900})
            canvas = "document.querySelector('[data-chart=gap] canvas')"
            page.wait_for_function(
                f"most => {canvas}.getBoundingClientRect().width < most", arg=min(wide, 500)
            )
            self.assertTrue(page.evaluate(NO_SIDEWAYS))

    def column(self, page, number):
        return page.eval_on_selector_all(
            f"#witness .live tbody tr > :nth-child({number})", "all => all.map(c => c.textContent)"
        )

    def test_witnesses_sort_and_filter(self):
        with self.opened("harbour") as page:
            self.assertEqual(page.locator("#witness .live tbody tr").count(), 15)
            page.click("#witness-more")
            self.assertEqual(page.locator("#witness .live tbody tr").count(), 52)
            heads = page.locator("#witness .live thead th")
            self.assertEqual(heads.count(), 8)
            for i in range(8):
                head = heads.nth(i)
                head.locator("button").click()
                first = head.get_attribute("aria-sort")
                once = self.column(page, i + 1)
                head.locator("button").press("Enter")
                self.assertNotEqual(head.get_attribute("aria-sort"), first)
                twice = self.column(page, i + 1)
                self.assertNotEqual(once, twice)
                self.assertEqual(sorted(once), sorted(twice))
                self.assertEqual((once[0], once[-1]), (twice[-1], twice[0]))
            heads.nth(5).locator("button").click()
            gains = [float(text) for text in self.column(page, 6)]
            self.assertEqual(gains, sorted(gains, reverse=True))
            self.choose(page, "#witness-player", "2")
            self.assertEqual(set(self.column(page, 1)), {"carla"})
            self.assertEqual(len(self.column(page, 1)), 13)

    def test_every_place_of_the_explorer(self):
        with self.opened("harbour") as page:
            seen = set()
            for player in self.options_of(page, "#explorer-player"):
                self.choose(page, "#explorer-player", player)
                for step in self.options_of(page, "#explorer-step"):
                    self.choose(page, "#explorer-step", step)
                    for state in self.options_of(page, "#explorer-state"):
                        self.choose(page, "#explorer-state", state)
                        seen.add(page.locator("#where").text_content())
                        self.assertEqual(page.locator("#policy-bars tbody tr").count(), 3)
                        self.assertEqual(page.locator("#mixture tbody tr").count(), 5)
            self.assertEqual(len(seen), 4 * 13)

    def test_two_players_together(self):
        with self.opened("harbour") as page:

            def shown():
                return page.eval_on_selector_all(
                    "#correlation g text", "all => all.map(t => t.textContent)"
                )

            joint = shown()
            self.assertEqual(len(joint), 9)
            # Rounded to a tenth or to one, nine numbers are off by at most 4.5 in all.
            self.assertAlmostEqual(sum(float(text) for text in joint), 100, delta=4.5)
            page.click("#difference")
            self.assertEqual(page.locator("#difference").get_attribute("aria-pressed"), "true")
            difference = [float(text.replace("−", "-")) for text in shown()]
            self.assertAlmostEqual(sum(difference), 0, delta=4.5)
            self.assertNotEqual(joint, shown())
            self.assertIn("bits", page.locator("#strength").text_content())
            strength = page.locator("#strength").text_content()
            self.choose(page, "#explorer-other", "3")
            self.assertIn("dimitri", page.locator("#strength").text_content())
            self.assertNotEqual(page.locator("#strength").text_content(), strength)
            self.choose(page, "#explorer-player", "3")  # the two change places
            self.assertEqual(page.input_value("#explorer-other"), "0")

    def test_pictures_choose_places(self):
        with self.opened("harbour") as page:
            page.locator("#graph .node[data-h='2'][data-s='1']").click()
            self.assertIn("step 3, fog", page.locator("#where").text_content())
            self.assertEqual(page.input_value("#explorer-step"), "2")
            self.assertEqual(page.locator("#graph .chosen").get_attribute("data-s"), "1")
            page.locator("#visits-map .cell[data-h='3'][data-s='2']").click()
            self.assertIn("step 4, storm", page.locator("#where").text_content())
            # With keys alone: one shape is in the order of tabs, arrows lead on.
            for picture in ("#graph", "#visits-map"):
                self.assertEqual(page.locator(f"{picture} [tabindex='0']").count(), 1)
            page.locator("#graph [tabindex='0']").focus()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
            self.assertIn("step 2", page.locator("#where").text_content())
            page.locator("#visits-map [tabindex='0']").focus()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            page.keyboard.press(" ")
            self.assertIn("step 3, calm", page.locator("#where").text_content())

    def test_boards(self):
        with self.opened("grid") as page:
            self.assertEqual(page.locator("#board .piece").count(), 2)
            self.choose(page, "#explorer-state", "17")
            self.assertEqual(page.locator("#explorer-board .piece").count(), 2)
            self.assertEqual(page.locator("#explorer-board .ball").count(), 1)
            first = page.locator("#explorer-board").get_attribute("aria-label")
            self.choose(page, "#explorer-state", "3")
            self.assertNotEqual(page.locator("#explorer-board").get_attribute("aria-label"), first)
            self.choose(page, "#explorer-state", "60")
            self.assertIn("the game is over", page.locator("#explorer-board").text_content())

    def test_details_open(self):
        for name in ("harbour", "groups"):
            with self.subTest(name), self.opened(name) as page:
                for details in page.locator("details").all():
                    open_before = details.evaluate("d => d.open")
                    details.locator("summary").press("Enter")
                    self.assertNotEqual(details.evaluate("d => d.open"), open_before)

    def test_commands_are_copied(self):
        with self.opened("harbour", permissions=["clipboard-read", "clipboard-write"]) as page:
            for box in page.locator(".command").all():
                box.locator("button").click()
                box.locator("button", has_text="Copied").wait_for()
                copied = page.evaluate("navigator.clipboard.readText()")
                self.assertEqual(copied, box.locator("code").text_content())

    def test_links_lead_to_parts(self):
        with self.opened("harbour") as page:
            links = page.eval_on_selector_all(
                "nav a", "all => all.map(a => a.getAttribute('href'))"
            )
            self.assertEqual(len(links), 8)
            for link in links:
                self.assertEqual(page.locator(f"section{link} h2").count(), 1)


if __name__ == "__main__":
    unittest.main()
