"""What a reader makes of an instrument: questions with their printed answers, not yet judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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
