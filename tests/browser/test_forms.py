"""Forms by mouse and by keys: made, refused, edited by two at once, saved over a dying server."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from gamekeeper.store.database.environment_store import EnvironmentStore

pytestmark = pytest.mark.slow

STORE = "demo-workbench"


def _forms(serving):
    path = next((serving.folder / STORE).glob("*.gk"))
    with EnvironmentStore.open(path, readonly=True) as store:
        return store.environment().forms


def _new_form(page, name):
    page.get_by_label("Name").fill(name)
    page.get_by_role("combobox", name="Add a variable").fill("Sex")
    page.get_by_role("option", name="Sex", exact=True).click()
    dialog = page.get_by_role("dialog")
    for category in ("female", "male"):
        dialog.get_by_label(category, exact=True).check()
    expect(dialog).to_contain_text("covers every finest category once")
    dialog.get_by_role("button", name="OK").click()


def test_a_form_is_made_and_stands_in_the_grid(opened, serving):
    page = opened("/forms")
    page.get_by_role("button", name="New form").click()
    _new_form(page, "Swimming <b>club</b>")
    page.get_by_label("Key").fill("sector")
    page.get_by_label("Value").fill("sport")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Save …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem").first).to_contain_text("Add the form")
    dialog.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Swimming <b>club</b>")
    made = _forms(serving)["Swimming <b>club</b>"]
    assert made.metadata == {"sector": "sport"}
    assert dict(made.instances) == {"Sex": ("female", "male")}
    page.goto(serving.base + "/forms")
    page.get_by_label("Find forms").fill("sector = sport")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("status").filter(has_text="1 of 100 forms")).to_be_visible()
    expect(page.get_by_role("rowheader")).to_have_text("Swimming <b>club</b>")


def test_keys_move_through_the_grid_and_open_a_form(opened):
    page = opened("/forms")
    first = page.get_by_role("rowheader").first
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+End")
    focused = page.locator(":focus")
    expect(focused).to_have_attribute("role", "gridcell")
    page.keyboard.press("Control+Home")
    expect(page.locator(":focus")).to_have_attribute("role", "rowheader")
    name = page.locator(":focus").inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_an_invalid_categorization_is_named_and_refused(opened, serving):
    page = opened("/forms")
    page.get_by_role("button", name="New form").click()
    page.get_by_label("Name").fill("Half a form")
    page.get_by_role("combobox", name="Add a variable").fill("Sex")
    page.get_by_role("option", name="Sex", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("female", exact=True).check()
    expect(dialog).to_contain_text("Missed: male.")
    dialog.get_by_role("button", name="OK").click()
    page.get_by_role("button", name="Save …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("misses")
    assert "Half a form" not in _forms(serving)


def test_two_people_edit_the_same_form(opened, serving):
    address = "/forms"
    one, two = opened(address), opened(address)
    for page in (one, two):
        page.get_by_role("rowheader").first.get_by_role("button").click()
        page.get_by_role("heading", name="Metadata").wait_for()
    name = one.get_by_role("heading", level=1).inner_text()
    one.get_by_role("textbox", name="sector").fill("one")
    one.get_by_role("textbox", name="sector").blur()
    two.get_by_role("textbox", name="sector").fill("two")
    two.get_by_role("textbox", name="sector").blur()
    one.get_by_role("button", name="Save …").click()
    one.get_by_role("dialog").get_by_role("button", name="Save …").click()
    expect(one.get_by_role("dialog")).to_have_count(0)
    # The other is told at once, and keeps what was typed.
    expect(two.get_by_text("Somebody saved meanwhile")).to_be_visible()
    expect(two.get_by_role("textbox", name="sector")).to_have_value("two")
    two.get_by_role("button", name="Save …").click()
    dialog = two.get_by_role("dialog")
    dialog.get_by_role("button", name="Save …").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Meanwhile this was changed")
    assert _forms(serving)[name].metadata["sector"] == "one"


def test_a_save_is_neither_lost_nor_made_twice_when_the_server_dies(opened, serving, complaints):
    page = opened("/forms")
    page.get_by_role("button", name="New form").click()
    _new_form(page, "Written twice")
    page.get_by_role("button", name="Save …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Add the form")

    def made_but_not_told(route):
        # The server gets the save and answers; the answer is lost, and the server dies.
        answer = route.fetch()
        assert answer.status == 200
        serving.kill()
        route.abort()

    page.route("**/api/edits", made_but_not_told, times=1)
    dialog.get_by_role("button", name="Save …").click()
    expect(dialog).to_contain_text("The server cannot be reached")
    serving.start()
    dialog.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Written twice")
    page.goto(serving.base + "/history")
    expect(
        page.get_by_role("cell", name="Add the form 'Written twice'", exact=False)
    ).to_have_count(1)
    complaints[:] = [said for said in complaints if "net::ERR_" not in said]
