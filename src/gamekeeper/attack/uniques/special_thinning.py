"""Thinner samples of a file, and which of their uniques have a twin in the whole file.

To the reader of a thinner sample the whole file is a sample with a larger fraction. Its uniques are
told apart as special or random on the thinner sample alone; the paper expects the random ones to
lose their uniqueness more often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.attack.simulation.sampling import draw_records, sample_size
from gamekeeper.attack.uniques.special_persistence import KeyParts

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Kept:
    """Uniques of thinner samples, over all rounds, and those of them unique in the whole file.

    The standard error of the share is that of a ratio over the rounds; None for fewer than two.
    """

    uniques: int
    kept: int
    standard_error: float | None

    @property
    def share(self) -> float | None:
        """The share that is unique in the whole file; None where there was no such unique."""
        return self.kept / self.uniques if self.uniques else None


@dataclass(frozen=True, slots=True)
class Thinning:
    """What became of the uniques of thinner samples of one share of the file."""

    fraction: Fraction
    rounds: int
    special: Kept
    random: Kept


def thin(
    parts: KeyParts,
    unique: NDArray[np.bool_],
    fraction: Fraction,
    *,
    rows: NDArray[np.int64] | None = None,
    special_size: int,
    rounds: int,
    seed: int,
    number: int = 0,
) -> Thinning:
    """Draw thinner samples, and follow their special and random uniques into the whole file.

    `unique` tells which rows of the key are unique in the whole file, `fraction` the share of it that
    a thinner sample has, `rows` the row of the key of each record (its own if None), `special_size`
    the most variables of a part of the key that makes a unique special. A series of samples has a
    stream of its own, by its `number`.
    """
    n_records = len(unique if rows is None else rows)
    counts = np.zeros((rounds, 2, 2), dtype=np.int64)
    for turn in range(rounds):
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, turn)))
        size = max(1, sample_size(n_records, fraction))
        drawn = draw_records(n_records, size, generator)
        drawn = drawn if rows is None else rows[drawn]
        alone = parts.unique(records=drawn)
        is_special = parts.special(special_size, drawn)
        for kind, chosen in enumerate((alone & is_special, alone & ~is_special)):
            counts[turn, kind] = chosen.sum(), (chosen & unique[drawn]).sum()
    return Thinning(fraction, rounds, _kept(counts[:, 0]), _kept(counts[:, 1]))


def _kept(counts: NDArray[np.int64]) -> Kept:
    uniques, kept = (int(total) for total in counts.sum(axis=0))
    rounds = len(counts)
    error = None
    if rounds > 1 and uniques:
        gaps = counts[:, 1] - kept / uniques * counts[:, 0]
        error = math.sqrt(float((gaps**2).sum()) * rounds / (rounds - 1)) / uniques
    return Kept(uniques, kept, error)
