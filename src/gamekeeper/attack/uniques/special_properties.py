"""What each trial did to special and to random uniques, and the lines of Table 2 made of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.attack.uniques.special_table import GroupCount, PropertyLine
from gamekeeper.attack.uniques.special_thinning import Kept, Thinning
from gamekeeper.wording import count_of, fraction_text

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Removal:
    """How many uniques are no longer unique without a variable."""

    variable: str
    special: GroupCount
    random: GroupCount


@dataclass(frozen=True, slots=True)
class Coarsening:
    """How many uniques are no longer unique with a coarser coding of a variable."""

    variable: str
    level: int
    n_categories: int
    special: GroupCount
    random: GroupCount


@dataclass(frozen=True, slots=True)
class Growth:
    """How many uniques are expected to be unique no longer in a larger sample."""

    fraction: Fraction
    special: GroupCount
    random: GroupCount


@dataclass(frozen=True, slots=True)
class Trials:
    """Everything that was tried on the uniques of a file."""

    removals: tuple[Removal, ...]
    coarsenings: tuple[Coarsening, ...]
    thinnings: tuple[Thinning, ...]
    growths: tuple[Growth, ...]


def property_lines(
    special: NDArray[np.bool_],
    smallest: NDArray[np.int64],
    trials: Trials,
    population_unique: NDArray[np.bool_] | None,
) -> tuple[PropertyLine, ...]:
    """Return the lines of the paper's table, with one for every trial.

    Of every sample unique it is told whether it is special, the size of its smallest minimal sample
    unique (-1 where that is not known), and whether it is unique in the population (None where that
    is not known). The removal of every key variable is among the trials.
    """
    n_variables = len(trials.removals)
    lines = [
        PropertyLine("Spontaneously recognisable", "", "maybe", "no", None, None),
        PropertyLine("Appears unusual", "", "maybe", "no", None, None),
    ]
    removal = "Sensitive to removal of key variables"
    lines += [
        PropertyLine(
            removal,
            f"unique no longer without {line.variable}",
            "only to its contributing variables",
            "yes",
            line.special,
            line.random,
        )
        for line in trials.removals
    ]
    fraction = "Sensitive to changes in sampling fraction"
    lines += [
        PropertyLine(
            fraction,
            f"unique in {fraction_text(line.fraction)} of the file, not in the whole, "
            f"{count_of(line.rounds, 'round')}",
            "no",
            "yes",
            _lost(line.special),
            _lost(line.random),
        )
        for line in trials.thinnings
    ]
    lines += [
        PropertyLine(
            fraction,
            f"expected to be unique no longer at {fraction_text(line.fraction)} of the population",
            "no",
            "yes",
            line.special,
            line.random,
        )
        for line in trials.growths
    ]
    lines += [
        PropertyLine(
            "Sensitive to changes in geographical or other detail",
            f"unique no longer with {line.variable} in "
            f"{count_of(line.n_categories, 'category', 'categories')}, level {line.level}",
            "no",
            "yes",
            line.special,
            line.random,
        )
        for line in trials.coarsenings
    ]
    half = n_variables // 2
    few = (smallest >= 0) & (smallest <= half)
    lines.append(
        PropertyLine(
            "Uniqueness arises from few variables",
            f"unique on {half} of the {n_variables} key variables or fewer",
            "small number of variables",
            "large number of variables",
            *both_kinds(few, special),
        )
    )
    if population_unique is not None:
        lines.append(
            PropertyLine(
                "Unique in the population",
                "no other person has the key",
                "more often",
                "less often",
                *both_kinds(population_unique, special),
            )
        )
    return tuple(lines)


def both_kinds(values: NDArray[Any], special: NDArray[np.bool_]) -> tuple[GroupCount, GroupCount]:
    """Add up what holds of uniques, or their chances of it, for special and for random ones."""
    n_special = int(special.sum())
    return (
        GroupCount(float(values[special].sum()), n_special),
        GroupCount(float(values[~special].sum()), len(special) - n_special),
    )


def _lost(kept: Kept) -> GroupCount:
    return GroupCount(kept.uniques - kept.kept, kept.uniques)
