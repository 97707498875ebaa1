"""What is printed on an instrument: questions with their answers, and how their texts are compared.

Questions are what a reader makes of an instrument, not yet judged. Their texts are compared as
sequences of plain words.

Words for what forms often ask, and for what is often answered, are lists in the folder `words`, in
English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. A concept is a set of
wordings of the same thing: two texts with a concept in common mean the same. A wording may belong to
two ('ethnicity', 'gender'): then the printed answers decide. Printed answers that mean the same have
a sense in common; a wording may have several ('none'), and an answer means the one category that has
a sense in common with it. Concepts and words that only ask, deny or name other people are written as
`plain_text` leaves a text, answers as `answer_text` does. No list names a variable or a category of
an environment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from gamekeeper.algorithms.categories.bands import Band, BandStyle, Bound, PrintedBands
from gamekeeper.algorithms.categories.printed_band import plain_text
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


_LISTS = Path(__file__).with_name("words")


def paragraphs(name: str) -> list[str]:
    """Return the parts of a list of words, between which empty lines stand."""
    return (_LISTS / f"{name}.txt").read_text(encoding="utf-8").split("\n\n")


def wordings(text: str) -> tuple[str, ...]:
    """Return the wordings of a text, between which bars stand."""
    return tuple(" ".join(part.split()) for part in text.split("|"))


def listed(name: str) -> tuple[str, ...]:
    """Return the wordings of a list that has one part."""
    (only,) = paragraphs(name)
    return wordings(only)


def listed_by_name(name: str) -> dict[str, tuple[str, ...]]:
    """Return the wordings of each part of a list by what it begins with, before a colon."""
    parts = (part.partition(":") for part in paragraphs(name))
    return {title.strip(): wordings(text) for title, _, text in parts}


CONCEPTS = listed_by_name("concepts")
"""What forms ask for; the first wording is the plainest."""

SENSES = tuple(map(wordings, paragraphs("answers")))
"""Printed answers that mean the same."""

OTHERS = frozenset(listed("other-answers"))
"""Answers for everybody whom no other answer fits."""

NO_ANSWER_WORDS = listed_by_name("no-answers")
"""Printed answers that are none, by why they are none."""

NEUTRAL = frozenset(listed("asking"))
"""Words that ask and do not say what for."""

PAST = frozenset(listed("past"))
"""Words that ask for how it was: of a birth they go without saying, of a job they do not."""

NEGATIONS = frozenset(listed("negations"))
"""Words that turn an answer round."""

OTHER_PEOPLE = frozenset(listed("other-people"))
"""People who are not the one that a form is about."""

_PLACEHOLDERS = re.compile(r"\$\{[^}]*\}|\{[^}]*\}|\[[^\]]*\]")
_NUMBERING = re.compile(
    r"^\s*(?:[a-z]{0,4}_?)?\d{1,4}[a-z]?\s*[.):]\s+|^\s*[a-z]\.\s+", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OPENING = re.compile(
    r"^[^,]{1,60},\s+(?=(?:what|which|how|wie|welche|quel|cu[aá]l|qual|hoe|jak)\b)", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[a-z]{3})[.:]\s+(?=[A-Z])")
_ITEM = re.compile(r"\d{1,3}[.):]\s+|[A-Z](?:, ?[A-Z])*\s+(?=[A-Z][a-z])")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BRACKETS = re.compile(r"\([^()]*(?:\)|$)")
_ALTERNATIVES = re.compile(r"\s*(?:/|\bor\b|\boder\b|\bou\b)\s*")
_SENSES_OF: dict[str, tuple[str, ...]] = {}
for _senses in SENSES:
    for _wording in _senses:
        _SENSES_OF[_wording] = (*_SENSES_OF.get(_wording, ()), _senses[0])
_REASON_OF = {text: why for why, texts in NO_ANSWER_WORDS.items() for text in texts}


@lru_cache(maxsize=65_536)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text or of a name.

    >>> words_of("103. Is ${firstname} MALE or female?"), words_of("maritalStatus_2")
    (('is', 'male', 'or', 'female'), ('marital', 'status', '2'))
    """
    bare = _NUMBERING.sub("", _PLACEHOLDERS.sub(" ", text))
    bare = _CAMEL.sub(" ", bare).replace("_", " ")
    return tuple(word.removesuffix("'s") for word in _WORDS.findall(plain_text(bare)))


def names_somebody(text: str) -> bool:
    """Tell whether a text has a place for a name or an earlier answer, so that others may be meant."""
    return re.search(r"\$?\{[^}]+\}|\[[a-z0-9_]+\]", text) is not None


@lru_cache(maxsize=65_536)
def readings(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the word sequences to try for a question: whole, and its kernel.

    The kernel is without brackets, ends with the first question mark or sentence, and starts after
    a comma that a question word follows ('In your main job, how many hours ...').
    """
    kernel = _SENTENCE.split(_BRACKETS.sub(" ", _NUMBERING.sub("", text)).split("?")[0])[0]
    if opening := _OPENING.search(kernel):
        kernel = kernel[opening.end() :]
    return tuple(dict.fromkeys((words_of(text), words_of(kernel))))


@lru_cache(maxsize=65_536)
def answer_text(text: str) -> str:
    """Return an answer as plain words, without signs around them."""
    return " ".join(re.sub(r"[^\w/'() -]+", " ", plain_text(text)).split()).strip(" -/'")


def answer_wordings(text: str) -> tuple[str, ...]:
    """Return the wordings of an answer to try: whole, without brackets, without what numbers it.

    >>> answer_wordings("2. Married (now)")
    ('2 married (now)', '2 married', 'married (now)', 'married')
    """
    item = _ITEM.match(text)
    whole = [answer_text(part) for part in (text, text[item.end() :] if item else text)]
    found = [w for part in whole for w in (part, " ".join(_BRACKETS.sub(" ", part).split()))]
    return tuple(dict.fromkeys(wording for wording in found if wording))


def senses_of(wording: str) -> tuple[str, ...]:
    """Return what an answer may mean in general.

    >>> senses_of("weiblich"), senses_of("none")
    (('female',), ('no qualification', 'no religion'))
    """
    return _SENSES_OF.get(wording, ())


def no_answer(text: str) -> str | None:
    """Return why a printed answer is none, or None.

    >>> no_answer("Prefer not to say"), no_answer("Keine Angabe"), no_answer("Married")
    ('refused', 'refused', None)
    """
    for wording in (*answer_wordings(text), plain_text(text)):
        if wording in _REASON_OF:
            return _REASON_OF[wording]
    plain = answer_text(text)
    parts = _ALTERNATIVES.split(plain)
    if len(plain.split()) > 1 and all(part in _REASON_OF for part in parts):
        return _REASON_OF[parts[0]]
    if plain.startswith(("no code required", "n/a ", "niu ", "not in universe", "not applicable")):
        return "not applicable"
    return None
