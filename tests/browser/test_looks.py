"""Every page in both themes under axe (WCAG 2.2 AA), without a word on the console; sizes of pages."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gamekeeper.web.app import STATIC

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    "/", "/forms", "/forms/new", "/import", "/variables", "/variables/new", "/groups", "/groups/new",
    "/analysis", "/scenarios", "/assess", "/history", "/accounts", "/nowhere",
)  # fmt: skip
FIRST_LINKS = {"/variables": "Place of residence", "/scenarios": "A data broker", "/groups": None}


def _faults(page) -> list[str]:
    found = page.evaluate(
        """() => axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})"""
    )
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


@pytest.mark.skipif(not AXE.is_file(), reason="axe is not installed (npm ci in frontend)")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_keeps_anybody_out(opened, serving, theme):
    # The page's own policy stays on: axe comes as part of the browser, not of the page.
    page = opened("/", color_scheme=theme)
    page.context.add_init_script(path=AXE)
    addresses = list(PAGES)
    for start, name in FIRST_LINKS.items():
        page.goto(serving.base + start)
        links = page.get_by_role("main").get_by_role("link")
        link = links.filter(has_text=name).first if name else links.first
        link.wait_for()
        addresses.append(link.get_attribute("href"))
    faults: dict[str, list[str]] = {}
    for address in addresses:
        page.goto(serving.base + address)
        page.locator("h1").first.wait_for()
        page.wait_for_load_state("networkidle") if address != "/" else None
        if found := _faults(page):
            faults[address] = found
    assert faults == {}


def test_pages_are_small():
    packed = {
        path.name: len(gzip.compress(path.read_bytes()))
        for path in (STATIC / "assets").iterdir()
        if path.suffix in (".js", ".css")
    }
    first = sum(size for name, size in packed.items() if name.startswith(("index-", "Overview-")))
    assert first <= 60_000
    # No page loads more than everything there is.
    assert sum(packed.values()) <= 150_000
