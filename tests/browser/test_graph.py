"""The Place of Residence graph of the paper (figure 4), drawn by mouse and again by keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from gamekeeper.store.database.environment_store import EnvironmentStore

pytestmark = pytest.mark.slow

EDGES = [
    ("Britain", "England"),
    ("Britain", "Scotland"),
    ("Britain", "Wales"),
    ("UK", "Britain"),
    ("UK", "Northern Ireland"),
    ("non Britain", "Northern Ireland"),
    ("non Britain", "non UK"),
]
NAMES = [
    "England",
    "Scotland",
    "Wales",
    "Northern Ireland",
    "non UK",
    "Britain",
    "UK",
    "non Britain",
]


def _require_drawn(serving, name):
    path = next((serving.folder / "demo-workbench").glob("*.gk"))
    with EnvironmentStore.open(path, readonly=True) as store:
        graph = store.environment().variable(name).graph
    assert set(graph.edges) == set(EDGES)
    assert set(graph.categories) == set(NAMES)


def _save(page, name):
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Save …").click()
    page.get_by_role("dialog").get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_by_mouse(opened, serving):
    page = opened("/variables/new")
    picture = page.get_by_role("img", name="Graph of")
    for name in NAMES:
        picture.dblclick(position={"x": 600, "y": 10})
        page.get_by_role("dialog").get_by_label("Name").fill(name)
        page.get_by_role("button", name="OK").click()
    expect(picture.locator("[data-node]")).to_have_count(len(NAMES))
    for start, end in EDGES:
        picture.locator(f'[data-node="{start}"]').click()
        picture.locator(f'[data-node="{start}"] [data-handle]').hover()
        page.mouse.down()
        picture.locator(f'[data-node="{end}"]').hover()
        page.mouse.up()
        expect(page.get_by_role("treeitem", name=end, exact=True).first).to_be_visible()
    expect(picture.locator("path.edge")).to_have_count(len(EDGES))
    # What a form would select is judged at once: one is missed, then one is covered twice.
    for name in ("UK", "non Britain"):
        picture.locator(f'[data-node="{name}"]').dblclick()
    expect(page.get_by_text("Covered more than once: Northern Ireland.")).to_be_visible()
    picture.locator('[data-node="non Britain"]').dblclick()
    expect(page.get_by_text("Missed: non UK.")).to_be_visible()
    picture.locator('[data-node="non UK"] text').first.dblclick()
    expect(page.get_by_text("covers every finest category once")).to_be_visible()
    _save(page, "Residence by mouse")
    _require_drawn(serving, "Residence by mouse")


def test_by_keys_with_undo_and_a_reload(opened, serving):
    page = opened("/variables/new")
    page.get_by_role("treeitem").focus()
    for name in NAMES:
        page.keyboard.press("Shift+N")
        page.get_by_role("dialog").get_by_label("Name").fill(name)
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("treeitem", name=name, exact=True).focus()
    for start, end in EDGES:
        line = page.get_by_role("treeitem", name=start, exact=True).first
        line.press("Home")
        line.focus()
        line.click()
        page.keyboard.press("e")
        page.get_by_role("combobox", name="Category that is a part").fill(end)
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
    # A category can be taken away and brought back; what is drawn outlives a reload.
    page.get_by_role("treeitem", name="Wales").first.click()
    page.keyboard.press("Delete")
    expect(page.get_by_role("treeitem", name="Wales")).to_have_count(0)
    page.get_by_role("treeitem").first.focus()
    page.keyboard.press("Control+z")
    expect(page.get_by_role("treeitem", name="Wales").first).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_text("what you had drawn before")).to_be_visible()
    _save(page, "Residence by keys")
    _require_drawn(serving, "Residence by keys")


def test_a_code_tells_what_it_means_and_several_are_harmonized(opened):
    page = opened("/variables")
    page.get_by_role("link", name="Marital status").click()
    page.get_by_role("tab", name="Harmonizations").click()
    codes = page.get_by_role("button", name="on ")
    codes.first.click()
    expect(page.get_by_role("heading", name="Forms with this code")).to_be_visible()
    codes.nth(1).click(modifiers=["Shift"])
    expect(page.get_by_text("The harmonization of")).to_be_visible()


def test_widening_mends_every_form_in_one_revision(opened, serving):
    page = opened("/variables")
    page.get_by_role("link", name="General health", exact=True).click()
    page.get_by_role("button", name="Widen …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("The new category").fill("another")
    dialog.get_by_label("Nowhere: they were not asked").check()
    dialog.get_by_role("button", name="Show what it does").click()
    saving = page.get_by_role("dialog").last
    saving.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    path = next((serving.folder / "demo-workbench").glob("*.gk"))
    with EnvironmentStore.open(path, readonly=True) as store:
        environment = store.environment()
    assert "another" in environment.variable("General health").graph.sinks
    assert not environment.faulty_instances("General health")
