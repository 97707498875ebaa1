"""A store of a large environment: what a person waits for, and many people at once."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_environment import large_environment
from benchmarks.measure import Row, measured
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.edits import AddForm, AskVariable, RenameCategory, SetMetadata
from gamekeeper.mapping.environment.overview import list_forms
from gamekeeper.results import Page
from gamekeeper.store.database.environment_store import EnvironmentStore

__all__ = ["rows"]

_FORMS = 10_000
_VARIABLES = 200
_NEW = 1_000
_READERS, _WRITERS = 100, 5
_READS, _EDITS = 5, 10
_WHERE = "sector = 'sector 3' and year >= 2010 and has 'Variable 003'"


def rows() -> Iterator[Row]:
    """Measure one person, then many."""
    environment = large_environment(_FORMS, _VARIABLES, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.gk"
        row, _ = measured(
            f"create, {_FORMS:,} forms, {_VARIABLES} variables",
            lambda: EnvironmentStore.create(path, environment, who="bench").close(),
            output=lambda _: _FORMS,
            memory=False,
        )
        yield row
        yield from _alone(path)
        yield _together(path)


def _alone(path: Path) -> Iterator[Row]:
    def opened() -> EnvironmentStore:
        store = EnvironmentStore.open(path)
        store.environment()
        return store

    row, store = measured("open", opened, output=lambda s: len(s.environment().forms), aim="1 s")
    yield row
    environment = store.environment()
    newest = Page("year", descending=True, number=2, size=50)
    yield measured(
        "list a page, sorted by year",
        lambda: list_forms(environment, page=newest),
        output=lambda listing: listing.total,
        aim="1 s",
    )[0]
    yield measured(
        "filter by two keys and a variable",
        lambda: list_forms(environment, where=_WHERE),
        output=lambda listing: listing.total,
        aim="1 s",
    )[0]
    variable = "Variable 000"
    having = [f for f in environment.forms.values() if variable in f.instances]
    labels = max((form.instances[variable] for form in having), key=len)
    renamed = "Variable 001"
    n_renamed = sum(len(forms) for _, forms in environment.instances(renamed))
    edits = {
        "edit one form: metadata": SetMetadata(form="Form 00042", values={"year": 2031}),
        "edit one form: categories": AskVariable(
            form=having[0].name, variable=variable, labels=() if having[0].instances[variable] else labels
        ),
        f"rename a category of a variable on {n_renamed:,} forms": (
            RenameCategory(
                variable=renamed,
                category=environment.variable(renamed).graph.sinks[0],
                to="renamed",
            )
        ),
    }  # fmt: skip
    for name, edit in edits.items():
        yield measured(
            name,
            lambda edit=edit: store.apply([edit], who="bench"),
            output=lambda revision: len(revision.touched),
            aim="1 s",
            memory=False,
        )[0]
    yield measured(
        "undo", lambda: store.undo(who="bench"), output=lambda _: 1, aim="1 s", memory=False
    )[0]
    new = [
        AddForm(name=f"New {number}", metadata=dict(form.metadata), variables=dict(form.instances))
        for number, form in enumerate(list(environment.forms.values())[:_NEW])
    ]
    yield measured(
        f"add {_NEW:,} forms in one revision",
        lambda: store.apply(new, who="bench"),
        output=lambda revision: len(revision.touched),
        aim="2 s",
        memory=False,
    )[0]
    yield measured(
        "as it was three revisions ago",
        lambda: store.environment(as_of=1),
        output=lambda environment: len(environment.forms),
    )[0]
    yield measured(
        "analyse: all curves of a 20-variable target",
        lambda: map_key_variables(store.environment(), "Target"),
        output=lambda outcome: len(outcome.variables),
        aim="1 s",
    )[0]
    yield measured("close, with a backup", store.close, output=lambda _: 1, memory=False)[0]


@dataclass(frozen=True, slots=True)
class _Told:
    """What one process did: how often, how long the longest took, and what went wrong."""

    done: int
    longest: float
    faults: tuple[str, ...]


def _read(path: Path) -> _Told:
    return _repeat(_READS, lambda store, _: store.environment(), path)


def _write(given: tuple[Path, int]) -> _Told:
    path, writer = given

    def edit(store: EnvironmentStore, number: int) -> object:
        form = f"Form {writer * 1_000 + number:05d}"
        return store.apply([SetMetadata(form=form, values={"seen": number})], who=f"w{writer}")

    return _repeat(_EDITS, edit, path)


def _repeat(times: int, work: Callable[[EnvironmentStore, int], object], path: Path) -> _Told:
    longest, faults = 0.0, list[str]()
    with EnvironmentStore.open(path) as store:
        for number in range(times):
            start = time.perf_counter()
            try:
                work(store, number)
            except Exception as error:  # noqa: BLE001 - every fault is counted
                faults.append(type(error).__name__)
            longest = max(longest, time.perf_counter() - start)
    return _Told(times, longest, tuple(faults))


def _together(path: Path) -> Row:
    """Let readers and writers in processes of their own use one store at the same time."""
    context = multiprocessing.get_context("fork")
    started, cpu = time.perf_counter(), time.process_time()
    with context.Pool(_READERS + _WRITERS) as pool:
        reading = pool.map_async(_read, [path] * _READERS, chunksize=1)
        writing = pool.map_async(_write, [(path, n) for n in range(_WRITERS)], chunksize=1)
        told = [*reading.get(), *writing.get()]
    wall = time.perf_counter() - started
    faults = [fault for one in told for fault in one.faults]
    longest = max(one.longest for one in told)
    with EnvironmentStore.open(path) as store:
        seen = sum("seen" in form.metadata for form in store.environment().forms.values())
        store.check()
    assert seen == _WRITERS * _EDITS, f"{seen} edits of {_WRITERS * _EDITS} are there"
    return Row(
        f"{_READERS} readers and {_WRITERS} writers: {len(faults)} errors, {seen} of"
        f" {_WRITERS * _EDITS} edits kept, longest {longest:.1f} s",
        sum(one.done for one in told),
        wall,
        time.process_time() - cpu,
        0.0,
        "0 errors",
    )
