"""One visit of a steward, on one server and in one page: what needs neither a fresh store nor a second browser."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from gamekeeper.cli.app import app
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.groups import members
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.browser.axe import AXE, faults
from tests.browser.conftest import Running, is_complaint

pytestmark = pytest.mark.slow

TARGET = "Census microdata 2031 (proposed release)"
GROUP = "Banks and insurers"


@pytest.fixture(scope="module")
def served(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("visit")
    shutil.copytree(demo_folder, folder, dirs_exist_ok=True)
    files = folder / "demo-workbench" / "files"
    with (files / "census-sample.csv").open(newline="") as file:
        names, *rows = [row for row, _ in zip(csv.reader(file), range(60), strict=False)]
    # A file of others: one column has another name, and one value is written in their way.
    names[names.index("Sex")] = "gender of person"
    at = names.index("gender of person")
    others = [[*row[:at], row[at].replace("female", "F"), *row[at + 1 :]] for row in rows]
    with (files / "others.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *others])
    running = Running(folder, "--demo")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def visit(chromium, served: Running) -> Iterator[object]:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    if AXE.is_file():
        context.add_init_script(path=AXE)
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.goto(served.address)
    page.get_by_role("heading", name="Norland").wait_for()
    yield page
    context.close()


@pytest.fixture
def page(visit) -> Iterator[object]:
    complaints: list[str] = []

    def hear(said) -> None:
        if is_complaint(said):
            complaints.append(said.text)

    def fail(error) -> None:
        complaints.append(str(error))

    visit.on("console", hear)
    visit.on("pageerror", fail)
    yield visit
    visit.remove_listener("console", hear)
    visit.remove_listener("pageerror", fail)
    assert complaints == []


@pytest.fixture
def go(page, served: Running) -> Callable[[str], None]:
    def to(address: str) -> None:
        page.goto(served.base + address)
        page.locator("h1").first.wait_for()

    return to


def _environment(served: Running) -> Environment:
    with EnvironmentStore.open(_store(served), readonly=True) as store:
        return store.environment()


def _store(served: Running) -> Path:
    return served.folder / "demo-workbench" / "norland.gk"


def _members(environment: Environment, name: str) -> set[str]:
    return set(members(name, environment.groups, environment.forms))


def _answer(page, label: str, text: str) -> None:
    page.get_by_role("dialog").get_by_label(label).fill(text)
    page.get_by_role("button", name="OK").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def _save(page) -> None:
    page.get_by_role("button", name="Save …").click()
    page.get_by_role("dialog").get_by_role("button", name="Save …").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def _require_open_to_all(page, *themes: str) -> None:
    """Require that axe has nothing to say of the page as it is, in these themes."""
    if AXE.is_file():
        found = {}
        for theme in themes:
            page.emulate_media(color_scheme=theme)
            found[theme] = faults(page)
        assert found == {theme: [] for theme in themes}


def test_a_draft_is_renamed_split_joined_and_taken_back(page, go, served):
    go("/variables/new")
    tools = page.get_by_role("toolbar")
    tree = page.get_by_role("tree")
    for name in ("north", "south"):
        tools.get_by_role("button", name="New", exact=True).click()
        _answer(page, "Name", name)
    tools.get_by_role("button", name="Split …").click()
    _require_open_to_all(page, "light")
    _answer(page, "Its parts", "east side; west side")
    expect(tree.get_by_role("treeitem", name="east side")).to_be_visible()
    tree.get_by_role("treeitem", name="north").click()
    tools.get_by_role("button", name="Rename").click()
    _answer(page, "Name", "far north")
    for name in ("far north", "east side"):
        tree.get_by_role("treeitem", name=name).click()
        tools.get_by_role("button", name="Choose", exact=True).click()
    tools.get_by_role("button", name="Join chosen …").click()
    _answer(page, "Name", "cold places")
    undo, redo = (tools.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    expect(redo).to_be_disabled()
    # Back to before it was renamed, and forth again, by mouse and by key.
    undo.click()
    undo.click()
    expect(tree.get_by_role("treeitem", name=re.compile("^north"))).to_be_visible()
    expect(tree.get_by_role("treeitem", name="cold places")).to_have_count(0)
    redo.click()
    tree.get_by_role("treeitem", name="far north").press("Control+y")
    expect(tree.get_by_role("treeitem", name="cold places")).to_be_visible()
    expect(redo).to_be_disabled()
    page.get_by_label("Name", exact=True).fill("Where it is cold")
    _save(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Where it is cold")
    drawn = _environment(served).variable("Where it is cold").graph
    assert set(drawn.edges) == {
        ("south", "east side"), ("south", "west side"),
        ("cold places", "far north"), ("cold places", "east side"),
    }  # fmt: skip


def test_bands_that_are_typed_become_a_graph(page, go, served):
    go("/variables/new")
    page.get_by_label("Scale").select_option("interval")
    bands = page.get_by_label("Bands, one in a line")
    picture = page.get_by_role("img", name="Graph of")
    bands.fill("0-15\n16 to 64\n65+\n16+")
    for band in ("0-15", "16-64", "65+", "16+"):
        expect(picture.locator(f'[data-node="{band}"]')).to_have_count(1)
    # All of them together are a band as well.
    expect(picture.locator("path.edge")).to_have_count(4)
    bands.fill("0-15\nsixteen")
    expect(page.get_by_role("alert")).to_be_visible()
    bands.fill("0-15\n16 to 64\n65+\n16+")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Name", exact=True).fill("Age typed")
    _save(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Age typed")
    made = _environment(served).variable("Age typed").graph
    assert set(made.edges) >= {("16+", "16-64"), ("16+", "65+")}


def test_what_is_exported_is_what_the_command_line_prints(page, go, served):
    go("/analysis")
    page.get_by_role("combobox", name="Target").fill(TARGET)
    page.get_by_role("combobox", name="Against").select_option(GROUP)
    page.get_by_role("button", name="Analyse").click()
    slider = page.get_by_role("slider")
    slider.fill("2")
    kept = {}
    for title in ("Table (CSV)", "Everything (JSON)", "Plot (SVG)", "Plot (PNG)"):
        page.locator("summary", has_text="Export").click()
        with page.expect_download() as coming:
            page.get_by_role("button", name=title).click()
        kept[coming.value.suggested_filename] = Path(coming.value.path()).read_bytes()
    asked = ["map", str(_store(served)), TARGET, "--group", GROUP]
    asked += ["--prevalence", f"2/{slider.get_attribute('max')}", "--format"]
    printed = CliRunner().invoke(app, [*asked, "csv"]).stdout_bytes
    assert kept["analysis.csv"] == printed
    assert json.loads(kept["analysis.json"])["rows"]
    assert b"<svg" in kept["analysis.svg"][:1_000]
    assert kept["analysis.png"].startswith(b"\x89PNG")
    page.get_by_role("button", name="Save as scenario").click()
    _require_open_to_all(page, "dark")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()


def test_an_analysis_against_what_a_query_finds(page, go, served):
    go("/analysis")
    page.get_by_role("combobox", name="Target").fill(TARGET)
    page.get_by_role("combobox", name="Against").select_option(label="forms that a query finds …")
    query = page.get_by_label("Find forms")
    query.fill("sector in (banks, insurers)")
    page.get_by_role("button", name="Analyse").click()
    found = _members(_environment(served), GROUP)
    expect(page.get_by_role("slider")).to_have_attribute("max", str(len(found)))
    refused = {"sector = nowhere": "The query finds no form", "sector =": "a value was expected"}
    for wrong, told in refused.items():
        query.fill(wrong)
        page.get_by_role("button", name="Analyse").click()
        expect(page.get_by_role("alert")).to_contain_text(told)
        # What was found for another question does not stand beside it.
        expect(page.get_by_role("slider")).to_have_count(0)


def test_groups_are_made_from_groups_with_a_live_count(page, go, served):
    environment = _environment(served)
    one, two = (_members(environment, name) for name in ("Commercial", "Everything online"))
    wanted = {"union": one | two, "intersection": one & two, "difference": one - two}
    assert len({len(each) for each in wanted.values()}) == 3
    go("/groups/new")
    for way, forms in wanted.items():
        page.get_by_label("Definition").select_option(way)
        for name, count in (("Commercial", len(one)), ("Everything online", len(forms))):
            page.get_by_role("combobox", name="Add a group").fill(name)
            page.get_by_role("option", name=name, exact=True).click()
            expect(page.get_by_role("heading", name=f"{count} forms now")).to_be_visible()
    page.get_by_label("Name").fill("Commerce on paper")
    _save(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Commerce on paper")
    assert _members(_environment(served), "Commerce on paper") == wanted["difference"]
    # What is taken out again counts at once.
    page.get_by_role("button", name="Take out Everything online").click()
    expect(page.get_by_role("heading", name=f"{len(one)} forms now")).to_be_visible()


def test_the_last_edit_is_taken_back_and_made_again(page, go, served):
    go("/forms/new")
    page.get_by_label("Name").fill("Soon undone")
    page.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("dialog")).to_contain_text("Add the form")
    _require_open_to_all(page, "light")
    page.get_by_role("dialog").get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Soon undone")
    page.get_by_role("link", name="History").click()
    newest = page.get_by_role("row").nth(1)
    expect(newest).to_contain_text("Add the form 'Soon undone'")
    number = newest.get_by_role("cell").first
    before = int(number.inner_text())
    page.get_by_role("button", name="Undo the last").click()
    expect(number).to_have_text(str(before + 1))
    assert "Soon undone" not in _environment(served).forms
    page.get_by_role("button", name="Redo").click()
    expect(number).to_have_text(str(before + 2))
    assert "Soon undone" in _environment(served).forms
    page.get_by_role("button", name="Redo").click()
    expect(page.get_by_role("alert")).to_be_visible()


def test_other_names_of_columns_and_other_values_are_mapped_on_the_page(page, go):
    go("/assess")
    page.get_by_role("combobox", name="File").select_option(label="others.csv")
    page.get_by_role("combobox", name="Key variables").select_option("A data broker")
    page.get_by_role("button", name="Look at its columns").click()
    columns = page.get_by_role("group", name="Which column is which key variable")
    age, sex = (columns.get_by_role("combobox", name=name, exact=True) for name in ("Age", "Sex"))
    expect(age).to_have_value("Age", timeout=60_000)
    expect(sex).to_have_value("")
    sex.select_option("gender of person")
    page.get_by_role("button", name="Assess", exact=True).click()
    # Before anything is worked out.
    expect(
        page.get_by_role("heading", name="Values whose category is to be chosen: 1")
    ).to_be_visible(timeout=60_000)
    _require_open_to_all(page, "dark")
    page.get_by_label("What F of Sex means").select_option("female")
    page.get_by_role("button", name="Take these meanings").click()
    page.get_by_role("button", name="Assess", exact=True).click()
    expect(page.get_by_text("Sex: gender of person", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Sex (1)", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="What drives the risk")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name=re.compile("^Why record")).first.click()
    expect(page.get_by_text(re.compile("unique by")).first).to_be_visible()
    _require_open_to_all(page, "light", "dark")


def test_whoever_is_not_signed_in_can_sign_in(page, go):
    # The last of the visit: from the first account on everybody signs in.
    go("/accounts")
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_label("Role").select_option("administrator")
    with page.expect_response(lambda told: told.request.method == "POST") as added:
        page.get_by_role("button", name="Add").click()
    assert added.value.ok
    page.context.clear_cookies()
    go("/")
    signing = page.get_by_role("button", name="Sign in")
    expect(signing).to_be_visible()
    _require_open_to_all(page, "light", "dark")
    for password in ("wrong", "correct horse battery"):
        page.get_by_label("Name").fill("ana")
        page.get_by_label("Password").fill(password)
        signing.click()
        if password == "wrong":
            expect(page.get_by_role("alert")).to_be_visible()
            _require_open_to_all(page, "dark")
    expect(page.get_by_role("heading", name="Norland")).to_be_visible()
