"""Pages in a real browser: what a step of dragging in the graph editor costs, and what pages weigh.

A variable of 300 categories is drawn; then the picture is panned, a line is pulled from one category to
another, and the wheel is turned. What a step costs is the time that Chromium spends in scripts for it,
told by its own record of events. Needs Chromium and the built pages.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Row

__all__ = ["rows"]

_CATEGORIES = 300
_STEPS = 60


def rows() -> Iterator[Row]:
    """Measure steps of dragging, then sizes of pages."""
    from playwright.sync_api import sync_playwright

    from gamekeeper.store.database.environment_store import EnvironmentStore
    from gamekeeper.web.wire import id_of
    from tests.browser.conftest import CHROMIUM, FLAGS, Running

    assert CHROMIUM is not None, "no chromium"
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        store = Path(place) / "wide.gk"
        EnvironmentStore.create(store, _environment(), who="bench").close()
        running = Running(Path(place), str(store))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(running.address)
            page.locator("#page-title").wait_for()
            page.goto(f"{running.base}/variables/{id_of('Wide')}")
            picture = page.get_by_role("img", name="Graph of")
            picture.locator("[data-node]").first.wait_for()
            count = picture.locator("[data-node]").count()
            box = picture.bounding_box()
            assert box is not None
            x, y = box["x"] + box["width"] - 30, box["y"] + 40

            def pan() -> None:
                page.mouse.move(x, y)
                page.mouse.down()
                for step in range(_STEPS):
                    page.mouse.move(x - 3 * step, y + 2 * step)
                page.mouse.up()

            def pull() -> None:
                page.get_by_role("treeitem", name="half 0", exact=True).first.click()
                node = picture.locator('[data-node="half 0"]')
                node.locator("[data-handle]").hover()
                page.mouse.down()
                for step in range(_STEPS):
                    page.mouse.move(x - 4 * step, y + 3 * step)
                page.mouse.move(x, y)
                page.mouse.up()

            def wheel() -> None:
                page.mouse.move(x - 200, y + 200)
                for step in range(_STEPS):
                    page.mouse.wheel(0, 40 if step % 2 else 60)

            for name, work in (("pull a line", pull), ("pan", pan), ("wheel", wheel)):
                yield _row(
                    browser, page, f"{name}, {count} categories, one of {_STEPS} steps", work
                )
        finally:
            browser.close()
            running.stop()
    yield from _sizes()


def _environment() -> Any:
    from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
    from gamekeeper.mapping.environment.environment import Environment
    from gamekeeper.mapping.variables.codes import Variable

    # 200 finest, in 50 of four, in 25 of two, and across them 25 more.
    graph: dict[str, list[str]] = {}
    for each in range(50):
        graph[f"part {each}"] = [f"finest {4 * each + place}" for place in range(4)]
    for each in range(25):
        graph[f"half {each}"] = [f"part {2 * each}", f"part {2 * each + 1}"]
        graph[f"across {each}"] = [f"finest {(7 * each + 31 * place) % 200}" for place in range(3)]
    return Environment([Variable("Wide", PartitionGraph(graph))], name="Wide")


def _row(browser: Any, page: Any, name: str, work: Callable[[], None]) -> Row:
    browser.start_tracing(page=page, categories=["devtools.timeline", "v8.execute"])
    work()
    page.wait_for_timeout(200)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    moves: list[float] = []
    for event in events:
        kind = event.get("args", {}).get("data", {}).get("type", "")
        if event["name"] == "EventDispatch" and kind in ("pointermove", "wheel"):
            moves.append(event.get("tdur", event.get("dur", 0)) / 1e6)
    scripts = sum(
        event.get("tdur", event.get("dur", 0)) / 1e6
        for event in events
        if event["name"] in ("FunctionCall", "RunMicrotasks")
    )
    worst = max(moves, default=0.0)
    per_step = scripts / _STEPS
    return Row(f"{name}; wall: the worst", len(moves), worst, per_step, 0, "0.016 s of script")


def _sizes() -> Iterator[Row]:
    from gamekeeper.web.app import STATIC

    packed = {
        path.relative_to(STATIC).as_posix(): len(gzip.compress(path.read_bytes()))
        for path in STATIC.rglob("*")
        if path.suffix in (".js", ".css", ".html", ".svg")
    }
    yield Row("all pages together, bytes compressed", sum(packed.values()), 0, 0, 0, "150 kB")
