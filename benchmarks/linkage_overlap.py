"""How often the interval of the number of people in both files holds, over many splits of real files.

`python -m benchmarks.linkage_overlap [SPLITS [PART OF A NAME]]` with the folder of data in GAMEKEEPER_DATA: of febrl4
and of the masked business files, parts are drawn with a known number of people in both, linked by
the default of `link files`, and the truth is looked up. So with 1,200 records of EIA, whose numbers are
masked here: nothing was tuned on them. One line per file and overlap.
"""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gamekeeper.algorithms.perturbation.masking import rank_swapped
from gamekeeper.attack.linkage.file_links import FileLinks
from gamekeeper.attack.linkage.files import link_files

_SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)


@dataclass(frozen=True)
class Pair:
    """Two files with a column that says who is who, and the columns to compare."""

    name: str
    first: list[dict[str, str]]
    second: list[dict[str, str]]
    identifier: str
    columns: list[str]
    n_each: int


def pairs(folder: Path) -> Iterator[Pair]:
    """Read the pairs of files: names with errors, and masked numbers."""
    a, b = _read(folder / "febrl4a.csv"), _read(folder / "febrl4b.csv")
    every = [name for name in a[0] if name not in ("rec_id", "true_entity")]
    few = ["given_name", "surname", "suburb", "postcode", "state", "date_of_birth"]
    yield Pair("febrl4, 10 columns, 500 each", a, b, "true_entity", every, 500)
    yield Pair("febrl4, 6 columns, 300 each", a, b, "true_entity", few, 300)
    yield Pair("febrl4, name and state, 300 each", a, b, "true_entity", few[:2] + few[4:5], 300)
    for name in ("CASCrefmicrodata", "Tarragona"):
        original = _read(folder / f"{name}_original.csv")
        for masking in ("noise10", "rankswap5", "mdav3"):
            masked = _read(folder / f"{name}_masked_{masking}.csv")
            columns = [one for one in original[0] if one != "row"]
            yield Pair(f"{name}, {masking}, 400 each", masked, original, "row", columns, 400)
    yield from _masked_here(_read(folder.parent / "sdcmicro" / "EIA.csv"))


def _masked_here(records: list[dict[str, str]]) -> Iterator[Pair]:
    """Mask numbers with noise of 10 and 30%, and by rank swapping within 5%."""
    rng = np.random.default_rng(1)
    names = [name for name in records[0] if name.endswith(("REVENUE", "SALES"))]
    drawn = np.sort(rng.permutation(len(records))[:1_200]).tolist()
    values = np.array([[float(records[k][name]) for name in names] for k in drawn])
    n, within = len(values), Fraction(5, 100)
    masked = {
        f"noise{share}": values + share / 100 * values.std(0) * rng.normal(size=values.shape)
        for share in (10, 30)
    }
    swapped = [rank_swapped(column, within, rng.random((n, 2))) for column in values.T]
    masked["rankswap5"] = np.column_stack(swapped)
    original = _rows(names, values)
    for masking, made in masked.items():
        yield Pair(f"EIA, {masking}, 400 each", _rows(names, made), original, "row", names, 400)


def _rows(names: list[str], values: NDArray[np.float64]) -> list[dict[str, str]]:
    return [
        {"row": str(k), **{name: f"{x:.3f}" for name, x in zip(names, row, strict=True)}}
        for k, row in enumerate(values.tolist())
    ]


def split(pair: Pair, share: float, seed: int) -> tuple[FileLinks, int]:
    """Draw two parts with a share of people in both, and link them."""
    rng = np.random.default_rng(seed)
    people = sorted({one[pair.identifier] for one in pair.first})
    rng.shuffle(people)
    n = min(pair.n_each, int(len(people) / (2 - share)))
    n_both = round(share * n)
    chosen = {*people[:n]}, {*people[:n_both], *people[n : 2 * n - n_both]}
    parts = [
        [one for one in records if one[pair.identifier] in wanted]
        for records, wanted in zip((pair.first, pair.second), chosen, strict=True)
    ]
    rng.shuffle(parts[1])
    place = {one[pair.identifier]: number for number, one in enumerate(parts[1])}
    truth = np.array([place.get(one[pair.identifier], -1) for one in parts[0]])
    tables = [
        pa.table({name: [one[name] or None for one in part] for name in pair.columns})
        for part in parts
    ]
    return link_files(tables[0], tables[1], pair.columns, truth=truth, seed=seed), n_both


def _read(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _main(n_splits: int, part: str) -> None:
    folder = Path(os.environ["GAMEKEEPER_DATA"]) / "linkage"
    for pair in pairs(folder):
        if part not in pair.name:
            continue
        for share in _SHARES:
            _measure(pair, share, n_splits)


def _measure(pair: Pair, share: float, n_splits: int) -> None:
    started = time.process_time()
    held = inside = links = right = both = calibrated = 0
    widths: list[int] = []
    errors: list[float] = []
    for seed in range(n_splits):
        found, truth = split(pair, share, seed)
        stated = found.linked.probabilities
        assert found.partners is not None
        assert stated is not None
        one, precision = found.partners.overlap, found.precision or 0.0
        held += one.low <= truth <= one.high
        widths.append(one.high - one.low)
        errors.append(one.estimate - truth)
        links += found.n_linked
        right += found.n_correct or 0
        both += truth
        ends = found.partners.precision(stated)
        inside += ends is None or ends[0] - 0.005 <= precision <= ends[1] + 0.005
        calibration = found.calibration
        calibrated += calibration is not None and calibration.verdict == "yes"
    print(
        f"{pair.name}, {both // n_splits} in both: interval held in {held} of {n_splits}, mean width"
        f" {np.mean(widths):.0f}, mean error {np.mean(errors):+.0f}; {links / n_splits:.0f} links,"
        f" precision {right / max(links, 1):.3f} (expected range held in {inside}), recall"
        f" {right / max(both, 1):.3f}; calibrated in {calibrated};"
        f" {(time.process_time() - started) / n_splits:.2f} CPU s each",
        flush=True,
    )


if __name__ == "__main__":
    asked = [*sys.argv[1:], *("20", "")[len(sys.argv) - 1 :]]
    _main(int(asked[0]), asked[1])
