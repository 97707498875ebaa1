"""Checks of the worked examples of audits: what follows from published figures and rounded shares."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from gamekeeper.algorithms.linear.facts import LinearFacts
from gamekeeper.algorithms.linear.search import FactBounds, FactSearch
from gamekeeper.data.tables.cell_facts import share_rows
from tests.reference.cases import Case, NotRun

__all__ = ["tables_protect_audit_percentages", "tables_protect_audit_whole_against_real"]

_MOST_TABLES = 200_000
_MOST_PATTERNS = 2_000


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
    """Hidden figures, with as few others hidden as make every level reached: all patterns are audited."""
    primary = [int(number) for number in case.needs("primary")]
    others = sorted(set(case.given.get("may_hide", primary)) - set(primary))
    most = min(int(case.given.get("most", len(others))), len(others))
    if sum(math.comb(len(others), size) for size in range(most + 1)) > _MOST_PATTERNS:
        raise NotRun("it has too many patterns to audit them all")
    prices = case.given.get("cost", [1] * len(case.needs("published")))
    safe: dict[tuple[int, ...], dict[str, list[float]]] = {}
    for size in range(most + 1):
        for chosen in combinations(others, size):
            bounds = _safe_bounds(case, primary, chosen)
            if bounds is not None:
                safe[chosen] = bounds
    case.compare("safe_without_secondaries", () in safe)
    least = min((sum(prices[one] for one in chosen) for chosen in safe), default=None)
    best = sorted(chosen for chosen in safe if sum(prices[one] for one in chosen) == least)
    case.compare("optimal_secondaries", [list(chosen) for chosen in best])
    if least is None:
        case.describes("cost")
    else:
        case.compare("cost", least)
        case.compare("bounds_of_first", safe[best[0]])
    case.describes("patterns_looked_at")


def _safe_bounds(
    case: Case, primary: list[int], chosen: tuple[int, ...]
) -> dict[str, list[float]] | None:
    """Return the bounds of all hidden figures, or None where a level is missed."""
    truth, published = case.needs("truth"), case.needs("published")
    hidden = sorted([*primary, *chosen])
    n = len(truth)
    limits: list[tuple[int, int | None]] = [(0, None)] * (n + len(hidden))
    rows: list[Any] = []
    for number, cells in enumerate(published):
        if number in hidden:
            rows.append(({**dict.fromkeys(cells, 1), n + hidden.index(number): -1}, 0, 0))
        else:
            known = sum(truth[cell] for cell in cells)
            rows.append((dict.fromkeys(cells, 1), known, known))
    whole = case.needs("attacker") == "whole"
    found = _bounds(LinearFacts.of(limits, rows, whole=whole), range(n, n + len(hidden)))
    made: dict[str, list[float]] = {}
    for at, number in enumerate(hidden):
        low, high = found.least[at], found.most[at]
        level = case.needs("levels").get(str(number))
        if low is None or high is None:
            continue
        value = sum(truth[cell] for cell in published[number])
        if level is not None and not _is_reached(level, low, high, value):
            return None
        made[str(number)] = [float(low), float(high)]
    return made


def _is_reached(level: dict[str, Any], low: Fraction, high: Fraction, value: int) -> bool:
    if "width" in level:
        return high - low >= Fraction(str(level["width"]))
    up, down = (Fraction(str(level[name])) for name in ("upper", "lower"))
    return high >= value + up and low <= value - down


def _number_of_tables(facts: LinearFacts, found: FactBounds) -> int:
    """Count by trying everything within the bounds."""
    ranges = [
        range(int(a), int(b) + 1)
        for a, b in zip(found.least, found.most, strict=True)
        if a is not None and b is not None
    ]
    if len(ranges) < len(found.least):
        raise NotRun("it has endlessly many tables")
    if math.prod(map(len, ranges)) > _MOST_TABLES:
        raise NotRun("it has too many tables to try them all")
    return sum(facts.admits(numbers) for numbers in product(*ranges))


def _bounds(facts: LinearFacts, wanted: Any) -> FactBounds:
    search = FactSearch(facts, list(wanted))
    search.run()
    return search.found()


def _plain(bound: Fraction | None) -> int | None:
    return None if bound is None else int(bound)
