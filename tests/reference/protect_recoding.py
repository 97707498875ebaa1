"""Worked examples of recoding: the least loss, the proof, scores under coarser categories."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod
from pathlib import Path
from typing import Any

import numpy as np

from gamekeeper.algorithms.recoding_search.choices import (
    Choice,
    Chosen,
    ClassCounter,
    SmallClasses,
    bits_lost,
    count_ways,
    distinct_records,
    list_ways,
    recoding_labels,
)
from gamekeeper.algorithms.recoding_search.search import search_recoding
from gamekeeper.algorithms.uniques.scores import ScoreKind, size_weights, weigh
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.protection.recoding.search import SearchRecoding
from gamekeeper.protection.step import Setting
from tests.reference.cases import Case, NotRun
from tests.reference.data_files import DATA, rows_of
from tests.reference.numbers import check_number

__all__ = ["PROTECT_RECODING", "recoding", "recoding_of_adult", "scores_under_recoding"]


def recoding(case: Case) -> None:
    codes = np.array(case.needs("rows"))
    choices = [
        Choice(
            n_values,
            own := tuple(sorted(tuple(sorted(category)) for category in categories)),
            bits_lost(own, np.bincount(codes[:, place], minlength=n_values)),
        )
        for place, (n_values, categories) in enumerate(
            zip(case.needs("sinks"), case.needs("categories"), strict=True)
        )
    ]
    target = SmallClasses(int(case.needs("k")), int(case.needs("max_records_in_small_classes")))
    records = distinct_records(codes)
    ways = [list(list_ways(choice)) for choice in choices]
    case.compare("categorizations_per_variable", [count_ways(choice) for choice in choices])
    case.compare("recodings", prod(map(len, ways)))
    for most_listed in (100_000, 0):
        found = search_recoding(choices, records, [target], most_listed=most_listed)
        if found.chosen is None:
            # No recoding meets the target, and the search says that it looked at all.
            case.check("safe", "proven", True, found.is_over)
            case.compare("least_loss_bits", None)
            case.compare("optimal", [])
            continue
        case.check("least_loss_bits", "proven", True, found.is_optimal)
        if case.defines("least_loss_bits"):
            check_number(case, "least_loss_bits", case.expected["least_loss_bits"], found.loss)
        if case.defines("optimal"):
            expected = {_blocks_given(each) for each in case.expected["optimal"]}
            case.check("optimal", "", True, _blocks(choices, found.chosen) in expected)
    counter = ClassCounter(records, [choice.n_values for choice in choices])
    is_safe = {
        chosen: target.shares(counter.count(recoding_labels(choices, chosen))).sum() <= target.most
        for chosen in product(*ways)
    }
    safe = [chosen for chosen, held in is_safe.items() if held]
    unsafe = [chosen for chosen, held in is_safe.items() if not held]
    case.compare("safe", len(safe))
    least = [a for a in safe if not any(b != a and _is_finer(choices, b, a) for b in safe)]
    case.compare("minimal_safe", len(least))
    largest = [a for a in unsafe if not any(b != a and _is_finer(choices, a, b) for b in unsafe)]
    case.compare(
        "maximal_unsafe",
        {_blocks(choices, chosen) for chosen in largest},
        canonical=lambda given: {_blocks_given(each) for each in given},
    )


def _is_finer(choices: list[Choice], a: Chosen, b: Chosen) -> bool:
    return all(
        choice.inside(choice.labels(coarse))[list(fine)].all()
        for choice, fine, coarse in zip(choices, a, b, strict=True)
    )


def _blocks(choices: list[Choice], chosen: Chosen) -> Any:
    return tuple(
        frozenset(choice.categories[number] for number in own)
        for choice, own in zip(choices, chosen, strict=True)
    )


def _blocks_given(given: Any) -> Any:
    return tuple(frozenset(tuple(sorted(block)) for block in own) for own in given)


def scores_under_recoding(case: Case) -> None:
    m = int(case.needs("variables"))
    for when in filter(case.defines, ("before", "after")):
        sets = case.needs(f"msus_{when}")
        counts = np.bincount([len(each) for each in sets], minlength=m + 1)[None, :]
        expected = case.expected[when]
        case.check(when, "msus", expected["msus"], len(sets))
        of_is = weigh(counts, size_weights(m, ScoreKind.IS)).tolist()[0]
        case.check(when, "is", expected["is"], of_is)
        case.check(
            when, "is by its definition", expected["is"], sum(factorial(m - len(s)) for s in sets)
        )
        of_2002 = sum(Fraction(2 ** (m - len(s)) - 1, comb(m, len(s))) for s in sets)
        check_number(case, when, expected["score_2002"], of_2002, "2002")


def recoding_of_adult(case: Case) -> None:
    folder = next(iter(Path(os.environ.get(DATA) or "/nowhere").rglob("adult/hierarchies")), None)
    if folder is None:
        raise NotRun("the levels of the Adult file are needed")
    names = [name for name in _ORDER if (folder / f"{name}.csv").is_file()]
    rows = rows_of(names, file="adult_arx.csv", sha256="")
    import pyarrow as pa

    columns = {
        name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    step = SearchRecoding(
        k=int(case.needs("k")),
        most_share=float(case.needs("max_share_in_small_classes")),
        levels={name: str(folder / f"{name}.csv") for name in names},
        whole_levels=case.needs("mode") == "levels",
        seconds=120.0,
    )
    made = step.apply(code_frame(pa.table(columns), names), Setting(keys=tuple(names)))
    check_number(case, "bits", case.expected["bits"], made.found["loss"])
    case.check("bits", "proven", "optimal", made.found["status"])
    case.compare("recodings", made.found["recodings"])
    case.compare("categories", made.found["categories"])
    if case.defines("levels"):
        case.describes("levels")
        expected = {
            name: _n_at_level(folder / f"{name}.csv", level, set(columns[name]))
            for name, level in case.expected["levels"].items()
        }
        case.check("levels", "categories at these", expected, made.found["categories"])


_ORDER = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)


def _n_at_level(path: Path, level: int, values: set[str]) -> int:
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        return len({row[level] for row in csv.reader(file) if row[0] in values})


PROTECT_RECODING = {
    "protect_recoding": recoding,
    "protect_scores_under_recoding": scores_under_recoding,
}
