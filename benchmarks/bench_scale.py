"""Stores of many forms: thousands of forms at once, undo, the past, and a category renamed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench_environment import large_environment
from benchmarks.measure import Row, measured
from gamekeeper.mapping.edits import AddForm, Edit, RenameCategory
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.environment_store import EnvironmentStore

__all__ = ["rows"]

_VARIABLES = 20
_AT_ONCE = 1_000


def rows() -> Iterator[Row]:
    """Measure at 10,000 and at 50,000 forms; every row opens the store anew, but for the first."""
    with tempfile.TemporaryDirectory() as folder:
        for n_forms in (10_000, 50_000):
            path = Path(folder) / f"{n_forms}.gk"
            environment = large_environment(n_forms, _VARIABLES, 1)
            EnvironmentStore.create(path, environment, who="bench").close()
            yield from _at(path, n_forms, environment)


def _at(path: Path, n_forms: int, environment: Environment) -> Iterator[Row]:
    some = list(environment.forms.values())[:_AT_ONCE]
    more: list[Edit] = [
        AddForm(
            name=f"{form.name}, again",
            variables=dict(form.instances),
            metadata=dict(form.metadata),
        )
        for form in some
    ]
    asked = [name for name, item in environment.variables.items() if not item.bands]
    variable = max(asked, key=lambda name: sum(name in f.instances for f in some))
    category = environment.variable(variable).graph.sinks[0]
    rename: list[Edit] = [
        RenameCategory(variable=variable, category=category, to=f"{category}, renamed")
    ]

    def within(work: Callable[[EnvironmentStore], object]) -> Callable[[], object]:
        def run() -> object:
            with EnvironmentStore.open(path) as store:
                return work(store)

        return run

    with EnvironmentStore.open(path) as store:
        store.environment()
        yield measured(
            f"{n_forms:,} forms: {_AT_ONCE:,} more in one revision",
            lambda: store.apply(more, who="bench"),
            output=lambda _: 1,
            aim="2 s" if n_forms == 10_000 else "",
            memory=False,
        )[0]
    for name, work in (
        ("open", lambda store: store.environment()),
        ("open and undo that revision", lambda store: store.undo(who="bench")),
        ("open as of the first revision", lambda store: store.environment(as_of=1)),
        ("open and rename a category", lambda store: store.apply(rename, who="bench")),
        ("open and undo that", lambda store: store.undo(who="bench")),
    ):
        yield measured(
            f"{n_forms:,} forms: {name}", within(work), output=lambda _: 1, memory=False
        )[0]
