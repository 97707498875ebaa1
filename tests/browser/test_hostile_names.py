"""Names that would be code, formulas, endless or backwards, on every page: shown as text, and no more."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.web.wire import id_of
from gamekeeper.workbench.environment.mapping import save_scenario
from gamekeeper.workbench.requests.editing import SaveScenarioRequest
from gamekeeper.workbench.requests.environment import InStore, Person
from tests.browser.conftest import Running

pytestmark = pytest.mark.slow

SCRIPT = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
NAMES = (
    SCRIPT,
    '=HYPERLINK("http://localhost/","x")',
    "n" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 (right to left)",
    "\U0001f4a5 emoji \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "constructor",
    "__proto__",
    "{{7*7}} ${7*7} %s",
)
OWN_PAGES = (NAMES[0], NAMES[2], NAMES[3], NAMES[6])
FILE = "<img src=x onerror=alert(1)>.csv"


def hostile_environment() -> Environment:
    deep = {f"level {depth}": [f"level {depth + 1}", f"side {depth}"] for depth in range(60)}
    variables = [Variable("Deep", PartitionGraph(deep))]
    variables += [
        Variable(
            name, PartitionGraph({f"all {name}": [f"a {name}", f"b {name}"]}), description=name
        )
        for name in NAMES
    ]
    asked = {name: (f"a {name}", f"b {name}") for name in NAMES}
    forms = [
        Form(name, {**asked, "Deep": ("level 0",)}, {"key": name, **({name: 1} if len(name) < 999 else {})})
        for name in NAMES
    ]  # fmt: skip
    forms.append(Form("Broken", {NAMES[0]: (f"a {NAMES[0]}",)}))
    groups = [Group(name, (name, "Broken"), description=name) for name in NAMES]
    return Environment(variables, forms, groups, name=SCRIPT, description=NAMES[2])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("hostile")
    store, files = folder / "hostile.gk", folder / "files"
    EnvironmentStore.create(store, hostile_environment(), who=SCRIPT, note=SCRIPT).close()
    from gamekeeper.mapping.environment.asked import MapOptions

    save_scenario(
        SaveScenarioRequest(
            place=InStore(store=store),
            scenario=SCRIPT,
            question=MapOptions(SCRIPT, strict=False),
            attacker=NAMES[2],
            description=SCRIPT,
            person=Person(who=SCRIPT),
        )
    )
    files.mkdir()
    rows = [f"a {SCRIPT},{number}" for number in range(9)]
    (files / FILE).write_text("\n".join([f'"{SCRIPT.replace(chr(34), chr(34) * 2)}",n', *rows]))
    running = Running(folder, str(store), "--allow", str(files))
    yield running
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def page(chromium, hostile: Running):
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.said = []
    page.on("dialog", lambda dialog: (page.said.append("a dialog"), dialog.dismiss()))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on(
        "console",
        lambda told: page.said.append(told.text) if told.type in ("error", "warning") else None,
    )
    page.goto(hostile.address)
    page.locator("#page-title").wait_for()
    yield page
    context.close()


def _addresses() -> Iterator[str]:
    yield from (
        "/",
        "/forms",
        "/forms/new",
        "/variables",
        "/variables/new",
        "/groups",
        "/groups/new",
    )
    yield from ("/import", "/analysis", "/scenarios", "/assess", "/history", "/accounts")
    for name in OWN_PAGES:
        for kind in ("forms", "variables", "groups"):
            yield f"/{kind}/{id_of(name)}"
    yield f"/scenarios/{id_of(SCRIPT)}"
    yield f"/variables/{id_of('Deep')}"
    yield f"/variables/{id_of(SCRIPT)}?tab=harmonizations"
    yield f"/variables/{id_of(NAMES[2])}?tab=codes"
    yield "/analysis?target=constructor"


def test_every_page_shows_them_as_text(page, hostile: Running) -> None:
    faults: dict[str, object] = {}
    for address in _addresses():
        page.goto(hostile.base + address)
        page.locator("#page-title").wait_for()
        page.locator("text=Loading …").first.wait_for(state="detached")
        if "target" in address:
            page.get_by_role("slider").wait_for()
        injected = page.locator("main script, main img, nav img, body > script").count()
        # Nothing is pushed out of the window by a name without end.
        wide = page.locator("main").evaluate("each => each.scrollWidth - each.clientWidth")
        if page.said or injected or wide > 1 or page.title() == "run":
            faults[address] = (list(page.said), injected, wide, page.title())
            page.said.clear()
    assert faults == {}


def test_names_are_there_to_be_read(page, hostile: Running) -> None:
    page.goto(hostile.base + "/")
    expect(page.get_by_role("heading", level=1)).to_have_text(SCRIPT)
    for name in OWN_PAGES:
        page.goto(f"{hostile.base}/forms/{id_of(name)}")
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.get_by_label("Name", exact=True)).to_have_value(name)
        expect(page.get_by_role("link", name=name, exact=True).first).to_be_visible()


def test_they_can_be_asked_saved_and_matched(page, hostile: Running) -> None:
    page.goto(hostile.base + "/forms/new")
    page.get_by_label("Name", exact=True).fill("Asks odd things")
    for name in ("constructor", "__proto__"):
        page.get_by_role("combobox", name="Add a variable").fill(name)
        page.get_by_role("option", name=name, exact=True).click()
        dialog = page.get_by_role("dialog")
        for part in ("a", "b"):
            dialog.get_by_label(f"{part} {name}", exact=True).check()
        dialog.get_by_role("button", name="OK").click()
        page.get_by_label("Key").fill(name)
        page.get_by_label("Value").fill(SCRIPT)
        page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Save …").click()
    # Twice at once is once.
    page.get_by_role("dialog").get_by_role("button", name="Save …").dblclick()
    expect(page.get_by_role("heading", level=1)).to_have_text("Asks odd things")
    path = next(hostile.folder.glob("*.gk"))
    with EnvironmentStore.open(path, readonly=True) as store:
        made = store.environment().form("Asks odd things")
        made_by = [each.words[0][:12] for each in store.history()]
        assert made_by.count("Add the form") == 1
    assert made.metadata == {"constructor": SCRIPT, "__proto__": SCRIPT}
    assert set(made.instances) == {"constructor", "__proto__"}
    assert page.said == []
    page.goto(hostile.base + "/assess")
    page.get_by_role("combobox", name="File").select_option(label=FILE)
    page.get_by_role("button", name="Look at its columns").click()
    expect(page.get_by_role("checkbox", name=SCRIPT)).to_be_visible(timeout=60_000)
    assert page.said == []
