"""What can be asked of a search for a recoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Annotated

from gamekeeper.options import Option
from gamekeeper.prompt_syntax import names_of, number_pairs_of, pairs_of
from gamekeeper.protect.suppression.households import HouseholdVariables

_searching = partial(Option, panel="Recoding by search")


class Loss(StrEnum):
    """How the loss of a variable is counted."""

    BITS = "bits"
    SHARE = "share"


def _whole_pairs(typed: Sequence[str]) -> dict[str, float]:
    """Return pairs with whole numbers; others are left for the check of the request to refuse."""
    pairs = number_pairs_of("--at-least VARIABLE=NUMBER", typed)
    return {name: int(value) if value == int(value) else value for name, value in pairs.items()}


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What a recoding must reach, what it may choose, and what counts as a loss."""

    k: Annotated[int, _searching("Every class has at least so many records.", least=1)] = 3
    most_records: Annotated[
        int, _searching("So many records may be in smaller classes.", least=0)
    ] = 0
    most_share: Annotated[
        float, _searching("The same as a share of all records.", least=0, most=1)
    ] = 0.0
    most_classes: Annotated[
        int | None,
        _searching("There are at most so many classes: the right matches to be expected.", least=1),
    ] = None
    most_is: Annotated[
        int | None, _searching("The intruder score IS of every record is at most this.", least=0)
    ] = None
    weighted: Annotated[
        bool, _searching("Classes are counted by weights: in people and not in records.")
    ] = False
    household_variables: HouseholdVariables = ()
    variables: Annotated[
        tuple[str, ...],
        _searching(
            "The key variables that may be recoded; all of them by default.",
            flags="--recodable",
            read=names_of,
        ),
    ] = ()
    loss: Annotated[
        Loss, _searching("What is lost: bits, or the mean share of what each variable tells.")
    ] = Loss.BITS
    factors: Annotated[
        Mapping[str, float],
        _searching(
            "VARIABLE=NUMBER: how dear it is; its loss is multiplied by so much.",
            flags="--factor",
            read=partial(number_pairs_of, "--factor VARIABLE=NUMBER"),
        ),
    ] = field(default_factory=dict[str, float])
    ways: Annotated[
        tuple[str, ...],
        _searching(
            "A recoding whose categories may be chosen, several for a variable: 'Age=width 5'.",
            flags="--way",
        ),
    ] = ()
    levels: Annotated[
        Mapping[str, str],
        _searching(
            "VARIABLE=FILE: a file of levels, one row per value and a column per level.",
            flags="--levels",
            read=partial(pairs_of, "--levels VARIABLE=FILE"),
        ),
    ] = field(default_factory=dict[str, str])
    whole_levels: Annotated[
        bool,
        _searching("One level, or one of the ways, for all values of a variable; no mixtures."),
    ] = False
    observed: Annotated[
        tuple[str, ...],
        _searching(
            "A variable that may only be categorized as some form of the environment does it.",
            flags="--observed",
            read=names_of,
        ),
    ] = ()
    together: Annotated[
        bool,
        _searching(
            "Whether a variable may be put together wholly, as if it were left out.",
            flags="--together/--no-together",
        ),
    ] = True
    keep: Annotated[
        tuple[str, ...],
        _searching(
            "A cut or category that stays: 'Age: 18' keeps those below 18 apart.", flags="--keep"
        ),
    ] = ()
    forbid: Annotated[
        tuple[str, ...],
        _searching("A category that may not be chosen: 'Age: 16-24'.", flags="--forbid"),
    ] = ()
    at_least: Annotated[
        Mapping[str, int],
        _searching(
            "VARIABLE=NUMBER: at least so many categories of it.",
            flags="--at-least",
            read=_whole_pairs,
        ),
    ] = field(default_factory=dict[str, int])
    seconds: Annotated[
        float, _searching("After so long the best so far is taken, with what is proven.", least=0)
    ] = 30.0
