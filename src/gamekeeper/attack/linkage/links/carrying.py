"""What carried links: in which variables linked records agree, nearly agree or differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.fellegi_sunter import FellegiSunterModel
from gamekeeper.wording import joined

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_LINKS = 20_000
_NEAR = 0.25


@dataclass(frozen=True, slots=True)
class ExampleLink:
    """A link in words: records numbered from 0, and the variables in which they agree, or do not."""

    record: int
    other: int
    agree: tuple[str, ...]
    near: tuple[str, ...]
    differ: tuple[str, ...]
    missing: tuple[str, ...]

    def words(self) -> str:
        """Return the link in words, without any value."""
        parts = [
            f"{joined(names)} {text if len(names) > 1 else one}"
            for names, one, text in (
                (self.agree, "agrees", "agree"),
                (self.near, "nearly agrees", "nearly agree"),
                (self.differ, "differs", "differ"),
                (self.missing, "is missing", "are missing"),
            )
            if names
        ]
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Carried:
    """For each variable the share of links that agree, nearly agree, differ or miss a value.

    Attributes
    ----------
    shares
        One row per variable: equal, within a quarter of the usual distance, farther, missing.
    chance
        The share of pairs of different people that agree; NaN where that is not known.
    weights
        The mean weight of the links, for each variable; NaN where costs are no weights.
    n_links
        Of how many links.
    """

    names: tuple[str, ...]
    shares: Floats
    chance: Floats
    weights: Floats
    n_links: int
    examples: tuple[ExampleLink, ...]

    def to_arrow(self) -> pa.Table:
        """Return one row per variable, those that say most first."""
        import pyarrow as pa

        key = np.nan_to_num(self.weights, nan=0.0) if np.isfinite(self.weights).any() else None
        order = np.argsort(-(self.shares[:, 0] if key is None else key), kind="stable")
        columns = {
            "variable": pa.array([self.names[k] for k in order], pa.string()),
            "agree_share": pa.array(self.shares[order, 0]),
            "nearly_share": pa.array(self.shares[order, 1]),
            "differ_share": pa.array(self.shares[order, 2]),
            "missing_share": pa.array(self.shares[order, 3]),
        }
        if np.isfinite(self.weights).any():
            columns["agree_by_chance_share"] = pa.array(
                self.chance[order], mask=~np.isfinite(self.chance[order])
            )
            columns["mean_weight"] = pa.array(
                self.weights[order], mask=~np.isfinite(self.weights[order])
            )
        return pa.table(columns)


def what_carried(
    comparisons: Sequence[Comparison],
    columns: Integers,
    orders: tuple[Integers, Integers],
    model: FellegiSunterModel | None,
    examples: Integers,
) -> Carried | None:
    """Look at links, at most 20,000 of them, evenly spread; None without links.

    Records are in the order of the comparisons; `orders` has their numbers in the two files. `columns`
    are records of the second file, `examples` those of the first whose links are told in words.
    """
    linked = np.flatnonzero(columns >= 0)
    if not len(linked):
        return None
    rows = linked[:: max(len(linked) // _MOST_LINKS, 1)]
    told = examples[columns[examples] >= 0]
    names = tuple(one.name for one in comparisons)
    shares = np.zeros((len(names), 4))
    weights, chance = np.full(len(names), np.nan), np.full(len(names), np.nan)
    kinds = np.zeros((len(names), len(told)), np.int64)
    for k, comparison in enumerate(comparisons):
        plain = comparison.with_missing(math.nan)
        mean = comparison.mean_distance()
        near = _NEAR * (mean if mean > 0 else 0.0)
        distances = plain.pairs(rows, columns[rows])
        shares[k] = np.bincount(_kinds(distances, near), minlength=4) / len(rows)
        kinds[k] = _kinds(plain.pairs(told, columns[told]), near)
        if model is not None and comparison.name in model.names:
            place = model.names.index(comparison.name)
            levels = np.searchsorted(model.limits[place], distances[~np.isnan(distances)])
            found = model.weights[place][levels]
            weights[k] = float(found.sum()) / len(rows)
            chance[k] = float(model.u[place][0])
    made = tuple(
        ExampleLink(
            int(orders[0][row]),
            int(orders[1][columns[row]]),
            *(
                tuple(name for name, kind in zip(names, kinds[:, at], strict=True) if kind == one)
                for one in range(4)
            ),
        )
        for at, row in enumerate(told)
    )
    return Carried(names, shares, chance, weights, len(rows), made)


def _kinds(distances: Floats, near: float) -> Integers:
    """Return 0 for equal, 1 for near, 2 for others, 3 for missing."""
    found = np.where(distances <= near, 1, 2)
    found[distances == 0] = 0
    found[np.isnan(distances)] = 3
    return found.astype(np.int64)
