"""An invented population: time and memory by size, and how many of its people are unique."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Row, measured
from gamekeeper.data.population import CATEGORIES, make_population, sample_population

__all__ = ["rows"]

_KEYS = ("Age", "Sex", "Place of residence", "Marital status", "Occupation")
_SIZES = (100_000, 1_000_000)
_FRACTIONS = ("2%", "5%")


def rows() -> Iterator[Row]:
    """Measure making, sampling and counting."""
    for size in _SIZES:
        row, people = measured(
            f"make {size:,} people",
            lambda size=size: make_population(size),
            output=lambda table: table.num_rows,
            aim="10 s" if size == _SIZES[-1] else "",
        )
        yield row
        yield _uniques(f"population uniques of {size:,}", people)
        for fraction in _FRACTIONS:
            row, sample = measured(
                f"sample {fraction} of {size:,}, by place",
                lambda people=people, fraction=fraction: sample_population(
                    people, fraction, seed=1, stratify_by="Place of residence"
                ),
                output=lambda table: table.num_rows,
            )
            yield row
            yield _uniques(f"sample uniques of {fraction} of {size:,}", sample)


def _uniques(name: str, people: Any) -> Row:
    """Count the people who are alone in their class on five keys; the output is their number."""
    row, number = measured(name, lambda: _count_uniques(people), output=int, memory=False)
    share = number / people.num_rows
    return Row(f"{row.name} ({share:.2%})", row.output, row.wall, row.cpu, row.peak_mb)


def _count_uniques(people: Any) -> int:
    key = np.zeros(people.num_rows, dtype=np.int64)
    for name in _KEYS:
        codes = people[name].combine_chunks().indices.to_numpy()
        key = key * len(CATEGORIES[name]) + codes
    return int((np.unique(key, return_counts=True)[1] == 1).sum())
