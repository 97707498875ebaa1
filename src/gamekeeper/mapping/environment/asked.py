"""What is asked of key variable mapping: its options, written once, its uses, and its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from gamekeeper.options import Option, option
from gamekeeper.prompt_syntax import MAX_NODES

if TYPE_CHECKING:
    from gamekeeper.results import Progress


class Mode(StrEnum):
    """The three uses of key variable mapping."""

    SPECIFIC = "specific"
    TYPICAL = "typical"
    MULTIPLE = "multiple"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A code that refines a result, how many of the matched forms have it, and which.

    Scenarios of earlier versions do not know which.
    """

    code: str
    n_forms: int
    forms: tuple[str, ...] = field(default=(), compare=False)


MaxNodes = Annotated[int, Option("Largest harmonization graph that is searched.", least=1)]
"""Bound on the harmonizations searched for one variable."""


@dataclass(frozen=True, slots=True)
class MapOptions:
    """A target, the forms to match it against, and how.

    At most so many maximal harmonizations of a variable are listed: there can be exponentially many.
    `progress` is told how many variables are done.
    """

    target: Annotated[str, Option("The form whose data are to be released.", is_argument=True)]
    _: KW_ONLY
    forms: Sequence[str] = option((), "A form to match against.", flags="--against -a")
    groups: Sequence[str] = option((), "A group of forms to match against.", flags="--group -g")
    prevalence: str | float | Fraction = option(
        0,
        "Share of those forms that must be matched: 0.1, 1/10, 10%.",
        flags="--prevalence -p",
        read=str,
    )
    mode: Mode | str | None = option(
        None, "One data set, a typical one of a group, or several groups at once."
    )
    strict: bool = option(
        True,
        "Give no result for a variable with inconsistent categorizations.",
        flags="--strict/--no-strict",
    )
    levels: int | None = option(
        None, "What arbitrary precision (C0.001) counts as; unbounded if left out.", least=1
    )
    within_universe: bool = option(
        True,
        "Count what can be told apart among people whom the target asks; --everybody counts those"
        " outside its universe as a category, as Smith and Elliot do.",
        flags="--within-universe/--everybody",
    )
    max_nodes: MaxNodes = MAX_NODES
    most: int = 20
    progress: Progress | None = None
