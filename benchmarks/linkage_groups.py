"""Links to groups of equal records, after microaggregation.

`python -m benchmarks.linkage_groups [SPLITS [PART OF A NAME]]` with the folder of data in
GAMEKEEPER_DATA. Of the business files people are drawn for two files, with
everybody, half, a tenth or nobody in both; the first is microaggregated (MDAV, k = 3 and 5) after that,
as an office would, and linked with the other by the default of `link files`, either file first. Last,
parts of the file that was masked as a whole, whose groups have lost members. One line per file and
overlap; stated probabilities are held against the truth over all splits.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

from gamekeeper.algorithms.perturbation.microaggregation import group_means, mdav_groups
from gamekeeper.attack.linkage.file_links import FileLinks
from gamekeeper.attack.linkage.files import link_files

_SHARES = (1.0, 0.5, 0.1, 0.0)
_LIMITS = (0.0, 0.5, 0.7, 0.9, 0.95, 1.01)
_MOST = 400


def _read(file: Path) -> NDArray[np.float64]:
    table = pc.read_csv(file)
    names = [name for name in table.column_names if name != "row"]
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in names])


def _table(values: NDArray[np.float64]) -> pa.Table:
    return pa.table({f"v{k}": values[:, k] for k in range(values.shape[1])})


def split(
    values: NDArray[np.float64],
    masked: NDArray[np.float64] | None,
    share: float,
    size: int,
    seed: int,
) -> tuple[list[FileLinks], int]:
    """Draw two files with a share of people in both, mask the first, and link them both ways."""
    rng = np.random.default_rng(seed)
    people = rng.permutation(len(values))
    n = min(_MOST, int(len(values) / (2 - share)))
    n_both = round(share * n)
    first, second = people[:n], rng.permutation(np.r_[people[:n_both], people[n : 2 * n - n_both]])
    if masked is None:
        ours = group_means(values[first], np.asarray(mdav_groups(values[first], size)))
    else:
        ours = masked[first]
    place = {person: number for number, person in enumerate(second.tolist())}
    truth = np.array([place.get(person, -1) for person in first.tolist()])
    back = np.full(n, -1)
    back[truth[truth >= 0]] = np.flatnonzero(truth >= 0)
    a, b = _table(ours), _table(values[second])
    names = list(a.column_names)
    return [
        link_files(a, b, names, truth=truth, seed=seed),
        link_files(b, a, names, truth=back, seed=seed),
    ], n_both


def _measure(
    name: str,
    values: NDArray[np.float64],
    masked: NDArray[np.float64] | None,
    size: int,
    n_splits: int,
) -> None:
    for share in _SHARES:
        started = time.process_time()
        links = right = in_group = both = held = expected = 0
        lows: list[int] = []
        stated: list[NDArray[np.float64]] = []
        truths: list[NDArray[np.bool_]] = []
        n_found = 0
        for seed in range(n_splits):
            found, n_both = split(values, masked, share, size, seed)
            for one in found:
                assert one.partners is not None
                assert one.linked.probabilities is not None
                overlap = one.partners.overlap
                held += overlap.low <= n_both <= overlap.high
                lows.append(overlap.low)
                links += one.n_linked
                right += one.n_correct or 0
                both += n_both
                n_found += 1
                ends = one.partners.precision(one.linked.probabilities)
                expected += ends is None or ends[0] - 0.03 <= (one.precision or 0) <= ends[1] + 0.03
                if one.groups is not None and one.groups.is_right is not None:
                    linked = one.linked.columns >= 0
                    in_group += int(np.count_nonzero(one.groups.is_right))
                    stated.append(one.groups.probabilities[linked])
                    truths.append(one.groups.is_right[linked])
        print(
            f"{name}, {both // n_found} in both: {links / n_found:.0f} links, right group"
            f" {in_group / max(links, 1):.3f}, right record {right / max(links, 1):.3f} (expected range"
            f" held in {expected} of {n_found}), recall {right / max(both, 1):.3f}, of groups"
            f" {in_group / max(both, 1):.3f}; interval held in {held}, mean lower end"
            f" {np.mean(lows):.0f}; {(time.process_time() - started) / n_found:.2f} CPU s each",
            flush=True,
        )
        if not stated:
            continue
        likely, is_right = np.concatenate(stated), np.concatenate(truths)
        for low, high in pairwise(_LIMITS):
            band = (likely >= low) & (likely < high)
            if band.any():
                print(
                    f"    stated {likely[band].mean():.3f}: right group {is_right[band].mean():.3f} of"
                    f" {np.count_nonzero(band)}",
                    flush=True,
                )


def _main(n_splits: int, part: str) -> None:
    folder = Path(os.environ["GAMEKEEPER_DATA"]) / "linkage"
    for name in ("Tarragona", "CASCrefmicrodata"):
        values = _read(folder / f"{name}_original.csv")
        masked = _read(folder / f"{name}_masked_mdav3.csv")
        for what, size, given in (
            ("groups of 3", 3, None),
            ("groups of 5", 5, None),
            ("part of the masked file", 3, masked),
        ):
            if part in f"{name}, {what}":
                _measure(f"{name}, {what}", values, given, size, n_splits)


if __name__ == "__main__":
    _main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2] if len(sys.argv) > 2 else "")
