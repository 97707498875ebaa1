"""Linkage: distances, Fellegi-Sunter weights, candidate pairs and one-to-one links on them.

Synthetic files: a second file repeats the first with errors. With the environment variable
GAMEKEEPER_DATA the two files of febrl4 are linked too, blocked on the given name as other tools did
whose times and links are the aims, and once with all pairs.
`python -m benchmarks.bench_linkage 1000000` measures links on candidates at another size.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.assignment.sparse import solve_candidates
from gamekeeper.algorithms.linkage.blocking import (
    CandidatePairs,
    block_nearest,
    block_on_values,
    unite,
)
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
    compare_numbers,
    compare_texts,
)
from gamekeeper.algorithms.linkage.fellegi_sunter import fit_one_partner
from gamekeeper.algorithms.linkage.objective import (
    cost_matrix,
    cost_pairs,
    fellegi_sunter_cost,
    weighted_sum,
)
from gamekeeper.attack.linkage.files import link_files

__all__ = ["rows"]

TEXTS = ("given_name", "surname", "address_1", "address_2", "suburb")
EXACT = ("street_number", "postcode", "state", "soc_sec_id")


def rows() -> Iterator[Row]:
    """Measure one core."""
    _compile()
    yield from _dense(2_000)
    yield from rows_at(100_000)
    yield from _febrl()


def rows_at(n_records: int) -> Iterator[Row]:
    """Measure candidates and links of two files of so many records each."""
    rng = np.random.default_rng(1)
    keys, numbers = _drawn(n_records, rng)
    name = f"{n_records:,} x {n_records:,}"
    row, blocks = measured(
        f"candidates, equal values: {name}",
        lambda: block_on_values([keys[0]], [keys[1]]),
        output=lambda found: found.n_pairs,
        memory=False,
    )
    yield row
    comparisons = [compare_numbers(a, b) for a, b in zip(*numbers, strict=True)]
    yield from _linked(f"blocks: {name}", comparisons, blocks)
    row, joined = measured(
        f"candidates, two passes united: {name}",
        lambda: unite([blocks, block_nearest(numbers[0].T, numbers[1].T, 4, both=False)]),
        output=lambda found: found.n_pairs,
        memory=False,
    )
    yield row
    yield from _linked(f"two passes, unlinked at 0.5: {name}", comparisons, joined, 0.5)
    yield _solved(f"blocks, random costs: {name}", blocks, rng.random(blocks.n_pairs))
    i = np.repeat(np.arange(n_records), 15)
    scattered = CandidatePairs.from_pairs(i, rng.integers(0, n_records, len(i)), blocks.shape)
    for price in (0.1, None):
        words = "as many as possible" if price is None else f"unlinked at {price}"
        costs = np.random.default_rng(2).random(scattered.n_pairs)
        yield _solved(f"random pairs and costs, {words}: {name}", scattered, costs, price)


def _drawn(
    n_records: int, rng: np.random.Generator
) -> tuple[list[NDArray[np.integer]], list[NDArray[np.floating]]]:
    """Draw a key of some 15 records each, wrong for one in 50, and three numbers with noise."""
    key = rng.integers(1, max(n_records // 15, 1) + 1, n_records)
    wrong = rng.random(n_records) < 0.02
    other = np.where(wrong, rng.permutation(key), key)
    numbers = rng.normal(size=(3, n_records))
    noisy = numbers + 0.1 * rng.normal(size=numbers.shape)
    order = rng.permutation(n_records)
    return [key, other[order]], [numbers, noisy[:, order]]


def _linked(
    name: str,
    comparisons: list[Comparison],
    candidates: CandidatePairs,
    price: float | None = None,
) -> Iterator[Row]:
    row, costs = measured(
        f"costs, 3 variables: {name}",
        lambda: cost_pairs(weighted_sum(comparisons), candidates),
        output=len,
        memory=False,
    )
    yield row
    yield _solved(f"noisy copy, {name}", candidates, costs, price)


def _solved(
    name: str, candidates: CandidatePairs, costs: NDArray[Any], price: float | None = None
) -> Row:
    row, found = measured(
        f"links: {name}",
        lambda: solve_candidates(candidates, costs, unlinked_row=price),
        output=lambda found: found.n_links,
        aim="minutes for a million",
        memory=False,
    )
    return _named(
        row, f"({candidates.n_pairs:,} pairs, {found.n_components:,} components, {_memory()})"
    )


def _dense(n_records: int) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    codes = rng.integers(1, 9, (9, n_records))
    comparisons = [compare_categories(column, rng.permutation(column)) for column in codes]
    numbers = rng.normal(size=(9, n_records))
    measures = [compare_numbers(column, column, measure="standardized") for column in numbers]
    for name, some in (("9 categories", comparisons), ("9 numbers", measures)):
        row, _ = measured(
            f"all pairs, {name}: {n_records:,} x {n_records:,}",
            lambda some=some: cost_matrix(weighted_sum(some, "estimated")),
            output=lambda costs: costs.size,
        )
        yield row


def _febrl() -> Iterator[Row]:
    folder = Path(os.environ.get("GAMEKEEPER_DATA", "")) / "linkage"
    if not (folder / "febrl4a.csv").is_file():
        return
    a, b = _read(folder / "febrl4a.csv"), _read(folder / "febrl4b.csv")
    truth = np.array(a["true_entity"]), np.array(b["true_entity"])
    for name, block in (("blocked on given name", ["given_name"]), ("all pairs", [])):
        row, columns = measured(
            f"febrl4, ten columns, {name}, linked as by `link files`",
            lambda block=block: _links(a, b, block),
            output=lambda columns: int(np.count_nonzero(columns >= 0)),
            aim="0.8 s, 3,284 links; 1.5 s, 3,222 links" if block else "",
            memory=False,
        )
        yield _named(row, f"({_judged(columns, truth)})")
    comparisons = _comparisons(a, b)
    row, costs = measured(
        "febrl4, all pairs, 5 texts and 5 others, weighted sum",
        lambda: cost_matrix(weighted_sum(comparisons, "estimated")),
        output=lambda costs: costs.size,
        memory=False,
    )
    yield _named(row, f"({_judged(costs.argmin(1), truth)} nearest, {_memory()})")


def _links(a: dict[str, list[str]], b: dict[str, list[str]], block: list[str]) -> NDArray[np.int64]:
    names = [*TEXTS, *EXACT, "date_of_birth"]
    first, second = (
        pa.table({name: [x or None for x in side[name]] for name in names}) for side in (a, b)
    )
    return link_files(first, second, names, block=block).linked.columns


def _comparisons(a: dict[str, list[str]], b: dict[str, list[str]]) -> list[Comparison]:
    found: list[Comparison] = []
    for name in TEXTS:
        (x, texts_a), (y, texts_b) = _distinct(a[name]), _distinct(b[name])
        found.append(compare_texts(x, y, texts_a, texts_b, measure="jaro-winkler", name=name))
    found += [compare_categories(*_coded(a[name], b[name]), name=name) for name in EXACT]
    days = [np.array([_day(text) for text in side["date_of_birth"]]) for side in (a, b)]
    return [*found, compare_numbers(*days, name="date_of_birth")]


def _read(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        header, *records = csv.reader(lines)
    return {
        name.strip(): [text.strip() for text in column]
        for name, column in zip(header, zip(*records, strict=True), strict=True)
    }


def _distinct(values: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    texts, codes = np.unique(["", *values], return_inverse=True)
    return codes[1:], texts[1:].tolist()


def _coded(a: list[str], b: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    codes, _ = _distinct(a + b)
    return codes[: len(a)], codes[len(a) :]


def _day(text: str) -> float:
    try:
        return float(date(int(text[:4]), int(text[4:6]), int(text[6:])).toordinal())
    except ValueError:
        return float("nan")


def _judged(columns: NDArray[np.integer], truth: tuple[NDArray[Any], NDArray[Any]]) -> str:
    linked = np.flatnonzero(columns >= 0)
    correct = int((truth[0][linked] == truth[1][columns[linked]]).sum())
    return f"{correct:,} correct, precision {correct / max(len(linked), 1):.4f}"


def _compile() -> None:
    codes = np.array([1, 2])
    numbers = codes.astype(np.float64)
    comparisons = [
        compare_categories(codes, codes),
        compare_numbers(numbers, numbers),
        compare_texts(codes, codes, ["a", "b"], ["a", "b"]),
    ]
    pairs = block_on_values([codes], [codes])
    solve_candidates(pairs, cost_pairs(weighted_sum(comparisons), pairs))
    cost_matrix(weighted_sum(comparisons))
    model = fit_one_partner(comparisons)
    cost_matrix(fellegi_sunter_cost(comparisons, model))
    cost_pairs(fellegi_sunter_cost(comparisons, model), pairs)


def _memory() -> str:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{peak:,.0f} MB at most"


def _named(row: Row, note: str) -> Row:
    return Row(f"{row.name} {note}", row.output, row.wall, row.cpu, row.peak_mb, row.aim)


def _asked(words: list[str]) -> Iterator[Row]:
    _compile()
    match words:
        case ["febrl"]:
            return _febrl()
        case [n_records]:
            return rows_at(int(n_records))
        case _:
            return rows()


if __name__ == "__main__":
    for row in _asked(sys.argv[1:]):
        print(
            f"{row.name}: {row.output:,} out, {row.wall:.2f} s wall, {row.cpu:.2f} s CPU"
            + (f", aim {row.aim}" if row.aim else ""),
            flush=True,
        )
