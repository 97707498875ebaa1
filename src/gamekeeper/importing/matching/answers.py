"""What the printed answers of a question mean as categories of a variable.

An answer that is none is marked so. Bands are read together, and bands that the variable does not
have yet can be added, which is always safe. Other answers are placed by their words (`placing`).
It all fits if what the answers mean is a categorization: every sink once, and no two answers the
same. The ends of a range that no band has, below the lowest or above the highest, are people who
are not asked. Where an earlier form printed the same answers for the variable, they mean what they
meant there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gamekeeper.algorithms.categories.bands import BandStyle, check_bands
from gamekeeper.algorithms.categories.printed_bands import read_bands
from gamekeeper.importing.banding import bands_of
from gamekeeper.importing.matching.placing import Categories, place_answers
from gamekeeper.importing.matching.texts import answer_text, no_answer, words_of
from gamekeeper.importing.proposed_question import Answering, ProposedAnswer, ProposedQuestion
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.variable import OUTSIDE, Scale, Variable

MOST_ANSWERS = 2_000
"""Beyond so many answers a question is not matched by itself."""

_MONEY = ("£", "$", "€", "CHF", "zł", "kr", "¥", "₹")
_MEASURED = {
    "hour": ("hour", "hours"),
    "month": ("month", "months"),
    "week": ("week", "weeks"),
    "day": ("day", "days"),
    "minute": ("minute", "minutes"),
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a printed answer means: a category, or why it is no answer; neither if not known."""

    text: str
    means: str | None = None
    no_answer: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether it is known what the answer means."""
        return self.means is not None or self.no_answer is not None


@dataclass(frozen=True, slots=True)
class Fit:
    """How the answers of a question fit a variable.

    `share` is the share of answers, without those that are none, of which the meaning is known;
    `fits` tells whether together they are a categorization. `why` says what stands against it.
    """

    meanings: tuple[Meaning, ...] = ()
    share: float = 0.0
    fits: bool = False
    new_bands: tuple[str, ...] = ()
    outside: bool = False
    why: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_told(self) -> bool:
        """Whether printed answers fit, so that they speak for the variable."""
        return self.fits and bool(self.meanings)


def fit_answers(question: ProposedQuestion, categories: Categories) -> Fit:
    """Return how the answers of a question fit a variable."""
    variable = categories.variable
    if question.answering is Answering.NOTHING:
        return Fit(why="it asks nothing")
    if question.answering is Answering.SEVERAL:
        return Fit(why="several answers may be ticked")
    if question.answering is not Answering.ONE or not question.answers:
        return _free(question, variable)
    if len(question.answers) > MOST_ANSWERS:
        return Fit(why=f"{len(question.answers):,} answers are too many to be placed")
    real = [answer for answer in question.answers if _reason(answer) is None]
    if len({answer.text for answer in real}) < 2:
        # A label on the top value alone, or a box by itself, is no list of answers.
        return Fit(why="fewer than two answers are printed")
    if variable.scale is Scale.INTERVAL:
        return _banded(question.answers, real, variable)
    return _placed(question, real, categories)


def _free(question: ProposedQuestion, variable: Variable) -> Fit:
    # A number may be asked for without a check of what is typed, a word not by a number.
    suits = question.answering is Answering.TEXT
    if variable.scale is Scale.INTERVAL:
        suits = question.answering in (Answering.NUMBER, Answering.DATE, Answering.TEXT)
    meanings = tuple(Meaning(a.text, None, _reason(a) or "undecided") for a in question.answers)
    if not suits:
        return Fit(meanings, why=f"a {question.answering.value} is asked for")
    undecided = [m for m in meanings if m.no_answer == "undecided"]
    why = "some answers have a code that means something" if undecided else ""
    return Fit(meanings, 1.0, not undecided, why=why)


def _reason(answer: ProposedAnswer) -> str | None:
    return no_answer(answer.text) or ("not stated" if answer.is_missing else None)


def _banded(
    answers: Sequence[ProposedAnswer], real: Sequence[ProposedAnswer], variable: Variable
) -> Fit:
    read = read_bands([answer.text for answer in real])
    space = variable.space
    assert space is not None
    bands = {text: band.within(space) for text, band in bands_of(read).items()}
    meanings = tuple(
        Meaning(
            a.text,
            bands[a.text].name(variable.style) if a.text in bands and _reason(a) is None else None,
            _reason(a),
        )
        for a in answers
    )
    share = len(bands) / len({answer.text for answer in real})
    found = Fit(meanings, share, notes=read.notes)
    if read.unread:
        return replace(found, why=f"not a band: {read.unread[0]!r}")
    if why := _other_measure(read.unit, read.period, variable):
        return replace(found, why=why)
    if not read.is_whole and variable.style is BandStyle.INCLUSIVE:
        return replace(found, why="the bands are not of whole numbers")
    if any(not space.holds(band) for band in bands.values()):
        return replace(found, why="a band lies outside the range of the variable")
    if problems := check_bands(bands):
        return replace(found, why=str(problems[0]))
    names = dict.fromkeys(band.name(variable.style) for band in bands.values())
    low, high = min(b.low for b in bands.values()), max(b.high for b in bands.values())
    new = tuple(name for name in names if name not in variable.bands)
    return replace(found, fits=True, new_bands=new, outside=low > space.low or high < space.high)


def _other_measure(unit: str, period: str, variable: Variable) -> str:
    """Say what the bands count that the variable may not, or nothing.

    A variable says in its name or description what it counts; where it does not, years and plain
    numbers are taken for granted, money and other times are not.
    """
    said = set(words_of(f"{variable.name} {variable.description}"))
    text = f"{variable.name} {variable.description}"
    if unit in _MONEY and unit not in text:
        return f"the bands are in {unit}, and the variable does not say that it is"
    if unit in _MEASURED and not said.intersection(_MEASURED[unit]):
        return f"the bands count in {unit}s, and the variable does not say that it does"
    if period and unit in _MONEY and period not in said:
        return f"the bands are per {period}, and the variable does not say that it is"
    return ""


def _placed(
    question: ProposedQuestion, real: Sequence[ProposedAnswer], categories: Categories
) -> Fit:
    found = place_answers(question, real, categories)
    meanings = tuple(
        Meaning(a.text, found.get(a.text) if _reason(a) is None else None, _reason(a))
        for a in question.answers
    )
    known = [category for category in found.values() if category is not None]
    fit = Fit(meanings, len(known) / len(found))
    if len(known) < len(found):
        missing = next(text for text, category in found.items() if category is None)
        return replace(fit, why=f"no category for {missing!r}")
    if OUTSIDE in known:
        return replace(fit, why="an answer has a reserved name")
    if len(set(known)) < len({answer_text(text) for text in found}):
        return replace(fit, why="two answers mean the same category")
    made = categorize(categories.variable, list(dict.fromkeys(known)))
    return replace(
        fit,
        fits=made.is_valid,
        why="" if made.is_valid else f"the answers leave a fault: it {made.fault}",
    )
