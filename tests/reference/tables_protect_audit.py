"""Checks of the worked examples of audits: what follows from published figures and rounded shares."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

from gamekeeper.algorithms.cells.fact_bounds import FactBounds, FactSearch
from gamekeeper.algorithms.cells.linear_facts import LinearFacts
from gamekeeper.data.cells.cell_facts import share_rows
from tests.reference.cases import Case, NotRun

__all__ = ["tables_protect_audit_percentages", "tables_protect_audit_whole_against_real"]

_MOST_TABLES = 200_000


def tables_protect_audit_percentages(case: Case) -> None:
    limits: list[tuple[int, int | None]] = [(0, None)] * case.needs("n_cells")
    rows: list[Any] = [
        (dict.fromkeys(fact["cells"], 1), fact.get("low"), fact.get("high"))
        for fact in case.needs("facts")
    ]
    for ratio in case.given.get("ratios", ()):
        scores = ratio.get("scores", [1] * len(ratio["part"]))
        part = dict(zip(ratio["part"], scores, strict=True))
        whole = dict.fromkeys(ratio["whole"], 1)
        value = Fraction(str(ratio["value"]))
        rows += share_rows((part, 0), (whole, 0), value, ratio["decimals"], ratio.get("times", 100))
    facts = LinearFacts.of(limits, rows, whole=True)
    found = _bounds(facts, range(len(limits)))
    case.compare(
        "bounds", [[_plain(a), _plain(b)] for a, b in zip(found.least, found.most, strict=True)]
    )
    if not all(found.is_tight(at) for at in range(len(limits))):
        case.check("bounds", "proven", True, False)
    if case.defines("tables"):
        case.compare("tables", _number_of_tables(facts, found))


def tables_protect_audit_whole_against_real(case: Case) -> None:
    """Hidden figures of a pattern without secondaries: is every level reached?"""
    truth, published = case.needs("truth"), case.needs("published")
    primary = case.needs("primary")
    whole = case.needs("attacker") == "whole"
    n = len(truth)
    limits: list[tuple[int, int | None]] = [(0, None)] * (n + len(primary))
    rows: list[Any] = []
    for number, cells in enumerate(published):
        if number in primary:
            rows.append(({**dict.fromkeys(cells, 1), n + primary.index(number): -1}, 0, 0))
        else:
            known = sum(truth[cell] for cell in cells)
            rows.append((dict.fromkeys(cells, 1), known, known))
    found = _bounds(LinearFacts.of(limits, rows, whole=whole), range(n, n + len(primary)))
    if set(case.given.get("may_hide", primary)) - set(primary):
        raise NotRun("it asks which further cells to hide, which is protection")
    safe = all(
        _is_reached(
            case.needs("levels")[str(number)],
            found.least[at],
            found.most[at],
            sum(truth[cell] for cell in published[number]),
        )
        for at, number in enumerate(primary)
    )
    case.compare("safe_without_secondaries", safe)
    if safe:
        case.compare(
            "bounds_of_first",
            {
                str(number): [float(found.least[at]), float(found.most[at])]
                for at, number in enumerate(primary)
            },
        )
        case.compare("cost", 0)
        case.compare("optimal_secondaries", [[]])
    else:
        # Nothing else may be hidden.
        case.compare("optimal_secondaries", [])
        case.describes("cost")
    case.describes("patterns_looked_at")


def _is_reached(level: dict[str, Any], low: Fraction, high: Fraction | None, value: int) -> bool:
    if high is None:
        return True
    if "width" in level:
        return high - low >= Fraction(str(level["width"]))
    return high >= value + Fraction(str(level["upper"])) and low <= value - Fraction(
        str(level["lower"])
    )


def _number_of_tables(facts: LinearFacts, found: FactBounds) -> int:
    """Count by trying everything within the bounds."""
    ranges = [range(int(a), int(b) + 1) for a, b in zip(found.least, found.most, strict=True)]
    if math.prod(map(len, ranges)) > _MOST_TABLES:
        raise NotRun("it has too many tables to try them all")
    return sum(facts.admits(numbers) for numbers in product(*ranges))


def _bounds(facts: LinearFacts, wanted: Any) -> FactBounds:
    search = FactSearch(facts, list(wanted))
    search.run()
    return search.found()


def _plain(bound: Fraction | None) -> int | None:
    return None if bound is None else int(bound)
