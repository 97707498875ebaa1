"""Rules on whole rows of counts: zeros, and what a few people in a cell know of all others in its row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from gamekeeper.algorithms.cells.disclosing import disclosing_counts, disclosing_zeros
from gamekeeper.algorithms.cells.primary_rules import Contributions, Rule
from gamekeeper.data.cells.magnitudes import MagnitudeTable
from gamekeeper.data.tables.axes import raise_all, unknown_axes
from gamekeeper.errors import InputError, LimitError, Reason

_ASKED = "Cells were to be marked by what they say of people."
_MOST_CELLS = 5_000_000


def mark_rows(
    table: MagnitudeTable,
    rules: Sequence[Rule],
    about: Sequence[str],
    structural: Sequence[Mapping[str, str]],
) -> tuple[MagnitudeTable, dict[tuple[str, ...], tuple[str, ...]]]:
    """Return the table with the cells that nobody is in, and which cells break which rule."""
    _check(table, about, structural)
    labels = [tuple(dict.fromkeys(own)) for own in table.labels]
    n = math.prod(len(own) for own in labels)
    if n > _MOST_CELLS:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED,
            f"With those that nobody is in, there are {n:,} cells, above {_MOST_CELLS:,}.",
            "Name fewer axes (--axes), or hierarchies with fewer levels.",
        )
    places = [{label: at for at, label in enumerate(own)} for own in labels]
    counts = np.zeros([len(own) for own in labels], object)
    for cell, *own in zip(table.cells, *table.labels, strict=True):
        counts[tuple(place[label] for place, label in zip(places, own, strict=True))] = cell.number
    impossible = np.zeros(counts.shape, bool)
    for one in structural:
        impossible[
            tuple(
                places[axis].get(one[name], slice(0, 0)) if name in one else slice(None)
                for axis, name in enumerate(table.axes)
            )
        ] = True
    totals = [
        place.get(total, len(place) - 1) for place, total in zip(places, table.totals, strict=True)
    ]
    axes = [table.axes.index(name) for name in about]
    broken: dict[tuple[str, ...], tuple[str, ...]] = {}
    for rule in rules:
        found = (
            disclosing_zeros(counts, axes, totals, impossible)
            if rule.name == "zero"
            else disclosing_counts(counts, axes, totals, int(rule.numbers[0]))
        )
        for at in zip(*found.nonzero(), strict=True):
            key = tuple(own[place] for own, place in zip(labels, at, strict=True))
            broken[key] = (*broken.get(key, ()), rule.text)
    return _filled(table, labels), broken


def _check(
    table: MagnitudeTable, about: Sequence[str], structural: Sequence[Mapping[str, str]]
) -> None:
    if not about:
        raise InputError(
            Reason.NOTHING_GIVEN,
            _ASKED,
            "It is not said which axes the table is about.",
            "Name them: --about Diagnosis. The other axes are what is known of people.",
        )
    named = [*about, *(name for one in structural for name in one)]
    said = "is not an axis of the table."
    raise_all(_ASKED, unknown_axes(dict.fromkeys(named), table.axes, said))


def _filled(table: MagnitudeTable, labels: Sequence[tuple[str, ...]]) -> MagnitudeTable:
    """Return the table with rows for cells that nobody is in."""
    known = {own: at for at, own in enumerate(zip(*table.labels, strict=True))}
    keys = list(product(*labels))
    nobody = Contributions((), (), records=0)
    own = [known.get(key) for key in keys]
    return replace(
        table,
        labels=tuple(tuple(key[axis] for key in keys) for axis in range(len(labels))),
        figures=tuple(Fraction(0) if at is None else table.figures[at] for at in own),
        cells=tuple(nobody if at is None else table.cells[at] for at in own),
        shadows=tuple(Fraction(0) if at is None else table.shadows[at] for at in own)
        if table.shadows
        else (),
    )
