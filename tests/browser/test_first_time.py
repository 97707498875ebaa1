"""Whoever comes for the first time: an empty store that teaches, styles before words, pages that are light."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.browser.conftest import Running

pytestmark = pytest.mark.slow

# What each page says as long as there is nothing to show: what to do first.
TAUGHT = {
    "/": "Make a variable, and draw which categories it could have",
    "/forms": "There is no form yet",
    "/variables": "There is no variable yet",
    "/variables/new": "Double-click into the picture for a category",
    "/groups": "There is no group yet",
    "/groups/new": "They stand here as you type",
    "/import": "Each of its questions is compared",
    "/analysis": "There are no forms to analyse yet",
    "/scenarios": "Make an analysis, and save it as one",
    "/assess": "Choose a file and what an intruder could know of it",
    "/accounts": "The first must be an administrator",
}
FIRST, LARGEST = 60_000, 150_000


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("empty")
    EnvironmentStore.create(folder / "empty.gk", who="ana", name="Empty").close()
    running = Running(folder, str(folder / "empty.gk"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def page(chromium, empty: Running):
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.goto(empty.address)
    page.locator("#page-title").wait_for()
    yield page
    context.close()


def test_empty_pages_teach_and_are_light(page, empty: Running) -> None:
    weights: dict[str, int] = {}
    files: list[str] = []
    page.on("response", lambda told: files.append(told.url) if "/assets/" in told.url else None)
    packed: dict[str, int] = {}
    for address, taught in TAUGHT.items():
        files.clear()
        page.goto(empty.base + address)
        expect(page.get_by_role("main").get_by_text(taught).first).to_be_visible()
        for url in files:
            if url not in packed:
                packed[url] = len(gzip.compress(page.request.get(url).body()))
        weights[address] = sum(packed[url] for url in set(files))
    assert weights["/"] > 10_000
    assert weights["/"] <= FIRST
    assert max(weights.values()) <= LARGEST


def test_no_word_is_seen_before_its_style(page, empty: Running) -> None:
    def later(route) -> None:
        time.sleep(0.4)
        route.continue_()

    page.route("**/assets/*.css", later)
    page.goto(empty.base + "/forms", wait_until="commit")
    page.locator("#page-title").wait_for()
    # Styles of the frame and of the page itself are there when its title is.
    assert page.locator(".shell").evaluate("each => getComputedStyle(each).display") == "grid"
    assert page.locator(".page").evaluate("each => getComputedStyle(each).display") == "grid"
    page.unroute("**/assets/*.css")


def test_a_lost_connection_is_told_and_what_was_typed_stays(page, empty: Running) -> None:
    page.goto(empty.base + "/forms/new")
    page.get_by_label("Name", exact=True).fill("Typed before")
    empty.kill()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    page.get_by_role("button", name="Save …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("The server cannot be reached")
    dialog.get_by_role("button", name="Close").click()
    empty.start()
    expect(page.get_by_text("Connection lost")).to_have_count(0)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Typed before")
    page.get_by_role("button", name="Save …").click()
    dialog.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Typed before")


def test_what_is_too_large_is_said_before_it_is_sent(page, empty: Running) -> None:
    large = empty.folder / "large.csv"
    with large.open("wb") as file:
        file.truncate(51 << 20)
    page.goto(empty.base + "/import")
    page.get_by_label("The file of the questionnaire").set_input_files(large)
    expect(page.get_by_role("alert")).to_contain_text("larger than 50 MB")


def test_another_store_in_the_place_of_this_one_is_told(page, empty: Running) -> None:
    page.goto(empty.base + "/")
    other = empty.folder / "other.gk"
    EnvironmentStore.create(other, who="bo", name="Another").close()
    other.replace(empty.folder / "empty.gk")
    expect(page.get_by_text("Another program has put another store")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Another")
