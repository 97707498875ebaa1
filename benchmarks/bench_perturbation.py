"""Perturbation and utility: MDAV and its peers by size, PRAM, and a million records compared.

MDAV on 10,000 x 10 normal numbers is what the reference package was measured on (0.98 CPU s with
groups of 3, 1.23 with groups of 5); PRAM on three variables of Adult (0.86 CPU s) needs that file,
which GAMEKEEPER_DATA has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.perturbation.masking import rank_swapped
from gamekeeper.algorithms.perturbation.microaggregation import mdav_groups, univariate_groups
from gamekeeper.data.coding.coded_table import coded_from_codes, replace_cells
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.source import open_source
from gamekeeper.protection.pram import Pram
from gamekeeper.protection.step import ChangeLog, Setting, VariableChange
from gamekeeper.protection.utility.measuring import measure_utility

__all__ = ["rows"]

MILLION = 1_000_000
ADULT = ("education", "occupation", "marital-status")
LEVELS = (2, 90, 5, 7, 16, 40, 8, 14, 2)


def rows() -> Iterator[Row]:
    """Yield one line per method and size."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(40_000, 10))
    # So that no kernel is compiled while the clock runs.
    mdav_groups(numbers[:50], 3)
    for n_records, k, aim in ((10_000, 3, "0.245 s"), (10_000, 5, "0.307 s"), (40_000, 5, "")):
        yield measured(
            f"MDAV {n_records:,} x 10, k = {k}",
            lambda n=n_records, k=k: mdav_groups(numbers[:n], k),
            output=lambda labels: int(labels.max()) + 1,
            aim=aim,
        )[0]
    values, draws = rng.normal(size=MILLION), rng.random((MILLION, 2))
    univariate_groups(values[:50], 3)
    rank_swapped(values[:50], Fraction(1, 10), draws[:50])
    yield measured(
        "optimal groups of one variable, 1,000,000, k = 5",
        lambda: univariate_groups(values, 5),
        output=lambda labels: int(labels.max()) + 1,
    )[0]
    yield measured(
        "rank swapping, 1,000,000 within 5%",
        lambda: rank_swapped(values, Fraction(1, 20), draws),
        output=len,
    )[0]
    yield from _pram()
    yield _utility()


def _pram() -> Iterator[Row]:
    folder = os.environ.get("GAMEKEEPER_DATA")
    if not folder:
        return
    source = open_source(Path(folder, "adult", "adult_arx.csv"))
    table = code_source(source, ADULT)
    setting = Setting(keys=ADULT, seed=1)
    for exact in (False, True):
        step = Pram(variables=ADULT, exact_counts=exact)
        step.apply(table, setting)
        yield measured(
            f"PRAM, 3 variables of Adult{', counts kept exactly' if exact else ''}",
            lambda step=step: step.apply(table, setting),
            output=lambda made: made.log.n_changed,
            aim="" if exact else "0.086 s",
        )[0]


def _utility() -> Row:
    rng = np.random.default_rng(2)
    codes = np.stack(
        [1 + np.minimum(rng.exponential(n / 4, MILLION).astype(int), n - 1) for n in LEVELS], axis=1
    )
    table = coded_from_codes(codes, [f"v{place}" for place in range(len(LEVELS))])
    stars = {name: rng.random(MILLION) < 0.05 for name in table.codebook.names}
    after = replace_cells(
        table,
        {
            name: np.where(own, 0, codes[:, place])
            for place, (name, own) in enumerate(stars.items())
        },
    )
    log = ChangeLog(
        MILLION, {name: VariableChange.of_cells(suppressed=own) for name, own in stars.items()}
    )
    return measured(
        "utility, 1,000,000 x 9, 129 tables",
        lambda: measure_utility(table, after, log=log),
        output=lambda found: found.n_tables,
    )[0]
