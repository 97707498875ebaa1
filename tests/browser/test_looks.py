"""Every page in both themes under axe (WCAG 2.2 AA), without a word on the console; sizes of pages."""

from __future__ import annotations

import gzip

import pytest

from gamekeeper.web.app import STATIC
from gamekeeper.web.wire import id_of
from tests.browser.axe import AXE, faults

VARIABLE = id_of("Marital status")
PAGES = (
    "/", "/forms", "/forms/new", f"/forms/{id_of('Bank of Corvane, current account')}", "/import",
    "/variables", "/variables/new", f"/variables/{VARIABLE}", f"/variables/{id_of('Age')}",
    f"/variables/{VARIABLE}?tab=harmonizations", f"/variables/{VARIABLE}?tab=codes",
    "/groups", "/groups/new", f"/groups/{id_of('Banks and insurers')}", "/analysis",
    "/analysis?target=Census%20microdata%202031%20(proposed%20release)", "/scenarios",
    f"/scenarios/{id_of('A data broker')}", "/assess", "/history", "/accounts", "/nowhere",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not AXE.is_file(), reason="axe is not installed (npm ci in frontend)")
def test_no_page_keeps_anybody_out(opened, serving):
    # The page's own policy stays on: axe comes as part of the browser, not of the page.
    page = opened("/", color_scheme="light")
    page.context.add_init_script(path=AXE)
    wrong: dict[str, list[str]] = {}
    for address in PAGES:
        page.goto(serving.base + address)
        page.locator("h1").first.wait_for()
        page.get_by_text("Loading …").first.wait_for(state="detached")
        if "target" in address:
            page.get_by_role("slider").wait_for()
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            if found := faults(page):
                wrong[f"{address} {theme}"] = found
    assert wrong == {}


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
