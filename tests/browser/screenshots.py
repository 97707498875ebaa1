"""Take a picture of every page of the workbench: python -m tests.browser.screenshots docs/workbench

A server is started on the demo, an assessment is made, and each page is shown to Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.browser.conftest import CHROMIUM, FLAGS, Running

TARGET = "Census%20microdata%202031%20(proposed%20release)"
PAGES = {
    "overview": "/",
    "forms": "/forms",
    "import": "/import",
    "variables": "/variables",
    "groups": "/groups",
    "analysis": f"/analysis?target={TARGET}",
    "scenarios": "/scenarios",
    "assess": "/assess",
    "history": "/history",
    "accounts": "/accounts",
}
LINKS = {
    "form": ("/forms", "Bank of Corvane, current account"),
    "graph": ("/variables", "Marital status"),
    "group": ("/groups", None),
    "scenario": ("/scenarios", "A data broker"),
}


def main(folder: Path) -> None:
    """Write the pictures to a folder."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        running = Running(Path(place), "--demo")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})

        def shoot(name: str) -> None:
            page.wait_for_timeout(1_000)
            path = folder / f"{name}.png"
            page.screenshot(path=path)
            # Few colours are enough for text and lines, and keep the documentation small.
            Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)

        try:
            page.goto(running.address)
            page.locator("#page-title").wait_for()
            page.goto(running.base + "/assess")
            page.get_by_role("combobox", name="File").select_option(label="census-sample.csv")
            page.get_by_role("combobox", name="Key variables").select_option("A data broker")
            page.get_by_label("Sampling fraction").fill("2%")
            page.get_by_role("button", name="Assess", exact=True).click()
            page.get_by_role("heading", name="What drives the risk").wait_for(timeout=120_000)
            for name, address in PAGES.items():
                page.goto(running.base + address)
                page.locator("h1").first.wait_for()
                if name == "analysis":
                    page.get_by_role("slider").wait_for()
                    page.get_by_text("Looking for keys").wait_for(state="detached")
                shoot(name)
            for name, (start, title) in LINKS.items():
                page.goto(running.base + start)
                inside = page.get_by_role("main")
                if start == "/forms":
                    inside.get_by_role("button", name=title).click()
                elif title:
                    inside.get_by_role("link", name=title).click()
                else:
                    inside.get_by_role("link").first.click()
                page.get_by_role("button", name="Save …").or_(
                    page.get_by_role("button", name="Review")
                ).first.wait_for()
                shoot(name)
            page.goto(running.base + "/variables")
            page.get_by_role("link", name="Marital status").click()
            page.get_by_role("tab", name="Harmonizations").click()
            page.get_by_role("button", name="on ").first.click()
            shoot("harmonizations")
        finally:
            browser.close()
            running.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
