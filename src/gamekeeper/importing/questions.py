"""What a reader makes of an instrument: questions with their printed answers, not yet judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from gamekeeper.algorithms.categories.bands import Band, BandStyle, Bound, PrintedBands
from gamekeeper.mapping.variables.definitions import DEFINITION, Interval


class Answering(StrEnum):
    """How a question is answered."""

    ONE = "one"
    """One of the printed answers."""
    SEVERAL = "several"
    """Any of the printed answers: boxes to tick."""
    NUMBER = "number"
    DATE = "date"
    TEXT = "text"
    NOTHING = "nothing"
    """Notes, calculations, identifiers: not asked of anybody."""


@dataclass(frozen=True, slots=True)
class ProposedAnswer:
    """A printed answer: its words, its code, other wordings, and whether the file calls it missing."""

    text: str
    code: str = ""
    others: tuple[str, ...] = ()
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question as an instrument has it.

    `text` is what people read. `label` is the short name that data managers give it, `others` are
    wordings in other languages, `universe` says who is asked, in words.
    """

    name: str
    text: str = ""
    label: str = ""
    answering: Answering = Answering.ONE
    answers: tuple[ProposedAnswer, ...] = ()
    others: tuple[str, ...] = ()
    universe: str = ""
    section: str = ""
    is_identifier: bool = False


@dataclass(frozen=True, slots=True)
class Instrument:
    """A form as it was read: its title, its questions in order, and what was passed over."""

    title: str
    format: str
    questions: tuple[ProposedQuestion, ...]
    language: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()


def instrument_of(tree: Mapping[str, Any]) -> Instrument:
    """Return an instrument from plain values, as `dataclasses.asdict` makes them."""
    plain: dict[str, Any] = dict(tree)
    plain["questions"] = tuple(map(_question, tree["questions"]))
    plain["notes"] = tuple(tree["notes"])
    return Instrument(**plain)


def _question(tree: Mapping[str, Any]) -> ProposedQuestion:
    plain: dict[str, Any] = dict(tree)
    plain["answering"] = Answering(tree["answering"])
    plain["answers"] = tuple(map(_answer, tree["answers"]))
    plain["others"] = tuple(tree["others"])
    return ProposedQuestion(**plain)


def _answer(tree: Mapping[str, Any]) -> ProposedAnswer:
    plain: dict[str, Any] = dict(tree)
    plain["others"] = tuple(tree["others"])
    return ProposedAnswer(**plain)


def bands_of(read: PrintedBands) -> dict[str, Band]:
    """Return the band of every answer that is one."""
    return {text: Band(_bound(low), _bound(high)) for text, (low, high) in read.ends.items()}


def interval_definition(name: str, bands: Mapping[str, Band], description: str = "") -> Interval:
    """Return the definition of a variable with these bands.

    Whole numbers are in the inclusive style, others half-open. The range starts at 0 unless a
    band has a number below.
    """
    whole = all(
        isinstance(end, int | float) for band in bands.values() for end in (band.low, band.high)
    )
    style = BandStyle.INCLUSIVE if whole else BandStyle.HALF_OPEN
    below = any(-math.inf < band.low < 0 or band.high < 0 for band in bands.values())
    space = Band(-math.inf if below else 0, math.inf)
    names = dict.fromkeys(band.within(space).name(style) for band in bands.values())
    tree: dict[str, Any] = {
        "name": name,
        "description": description,
        "scale": "interval",
        "bands": list(names),
    }
    if not whole:
        tree["style"] = "half-open"
    if below:
        tree["from"] = None
    made = DEFINITION.validate_python(tree)
    assert isinstance(made, Interval)
    return made


def _bound(end: Fraction | float) -> Bound:
    if isinstance(end, Fraction) and end.denominator == 1:
        return end.numerator
    return end
