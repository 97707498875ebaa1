"""What the printed answers of a question mean as categories of a variable.

An answer that is none is marked so. Bands are read together, and bands that the variable does not
have yet can be added, which is always safe. It all fits if what the answers mean is a
categorization: every sink once, and no two answers the same. The ends of a range that no band has,
below the lowest or above the highest, are people who are not asked. Where an earlier form printed
the same answers for the variable, they mean what they meant there.

Where the categories are words, answers are placed in turn, and each only where the one before found
nothing, by

1. the words of the category, what an earlier form meant with them, or a common sense of the two
   ('weiblich', 'female'); with and without what is in brackets or numbers the answer;
2. what the answer begins with ('Separated, but still legally married'), if no other answer begins
   so; of several that do, what they go on with ('Economically active: retired');
3. alternatives that are a category together ('divorced / separated');
4. the words of one category among others ('Agriculture, forestry and fishing'), one to one;
5. spelling that differs by a letter;
6. 'other' takes what no other answer means, and an answer that denies the only other one as well.

Where several answers tell more than a category of the variable, nothing is placed: a person has to
say whether to split it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gamekeeper.algorithms.categories.bands import BandStyle, check_bands, read_bands
from gamekeeper.importing import questions
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.codes import ELSE, OUTSIDE, Scale, Variable

YES, NO = "yes", "no"

_LIKE = 93
_LEAST_LETTERS = 6
_HEAD = re.compile(r"\s*(?:[,;:]|\s[-–—]\s|\bbut\b)\s*", re.IGNORECASE)
_ALTERNATIVES = re.compile(
    r"\s*(?:/|\bor\b|\boder\b|\bou\b|\bo\b|\bof\b|\blub\b)\s*", re.IGNORECASE
)
_SMALL = frozenset(
    ["a", "an", "and", "or", "of", "the", "in", "to", "with", "any", "all", "group", "groups", "is"]
)
_RESIDUAL = frozenset(
    ["other", "others", "another", "rest", "andere", "sonstige", "autre", "autres", "otro", "otros"]
)

Found = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories of a variable by what may be printed for them.

    `wordings` are those of the variable itself: of a yes or no, they mean yes.
    """

    variable: Variable
    by_text: Mapping[str, str]
    by_sense: Mapping[str, str]
    wordings: frozenset[frozenset[str]]

    @classmethod
    def of(
        cls, variable: Variable, printed: Mapping[str, str], wordings: Iterable[str]
    ) -> Categories:
        """Return them; `printed` has what earlier forms meant with their words."""
        texts = {
            questions.answer_text(category): category for category in variable.graph.categories
        }
        senses: dict[str, str] = {}
        twice: set[str] = set()
        for text, category in texts.items():
            for sense in questions.senses_of(text):
                twice |= {sense} if sense in senses else set()
                senses[sense] = category
        known = {text: category for text, category in printed.items() if category in variable.graph}
        kept = {s: c for s, c in senses.items() if s not in twice}
        return cls(variable, {**known, **texts}, kept, frozenset(map(_content, wordings)))

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the variable is answered by yes or no."""
        return {YES, NO} <= self.by_sense.keys()

    def direct(self, *texts: str) -> str | None:
        """Return the category that one of some texts means by its words or their sense."""
        for text in texts:
            for wording in questions.answer_wordings(text):
                if wording in self.by_text:
                    return self.by_text[wording]
            for wording in questions.answer_wordings(text):
                meant = {
                    self.by_sense[s] for s in questions.senses_of(wording) if s in self.by_sense
                }
                if len(meant) == 1:
                    return meant.pop()
        return None


def place_answers(
    question: questions.ProposedQuestion,
    real: Sequence[questions.ProposedAnswer],
    categories: Categories,
) -> Found:
    """Return the category of every answer, None where it is not known."""
    found: Found = {answer.text: categories.direct(answer.text, *answer.others) for answer in real}
    # Of two answers, 'other' is the rest only where the one beside it means a category to the word.
    is_exact = sum(category is not None for category in found.values()) == len(found) - 1
    _by_yes_and_no(found, question, categories)
    _by_beginning(found, categories)
    _by_alternatives(found, categories)
    _by_words(found, categories)
    _by_spelling(found, categories)
    others = [text for text, category in found.items() if category is None and _is_rest(text)]
    if len(others) == 1 and (len(found) > 2 or is_exact):
        found[others[0]] = ELSE
    _by_denial(found)
    return found


def _is_rest(text: str) -> bool:
    plain = questions.answer_text(text)
    return plain in questions.OTHERS or plain.startswith("all other ")


def yes_or_no(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the answers that say yes and no, if there are these two and no others.

    >>> yes_or_no(["No, not of Hispanic origin", "Yes, of Hispanic origin"])
    ('Yes, of Hispanic origin', 'No, not of Hispanic origin')
    """
    if len(texts) != 2:
        return None
    said = {
        questions.senses_of(questions.answer_text(_HEAD.split(text, maxsplit=1)[0])): text
        for text in texts
    }
    return (said[YES,], said[NO,]) if said.keys() == {(YES,), (NO,)} else None


def named_category(question: questions.ProposedQuestion, categories: Categories) -> str | None:
    """Return the category that the words of a question name, if one does: 'Are you married?'."""
    for words in questions.readings(question.text or question.label):
        said = frozenset(map(_singular, words))
        held = {
            category: own
            for text, category in categories.by_text.items()
            if (own := _content(text)) and own <= said and _negated(own) == _negated(said)
        }
        longest = max(map(len, held.values()), default=0)
        best = [category for category, own in held.items() if len(own) == longest]
        if len(set(best)) == 1:
            return best[0]
    return None


def _by_yes_and_no(
    found: Found, question: questions.ProposedQuestion, categories: Categories
) -> None:
    """Let yes mean the category that the question names, and no everybody else.

    Of a variable that is itself a yes or no, an answer in its own words means yes.
    """
    texts = list(found)
    if categories.is_yes_or_no:
        yes = [text for text in texts if found[text] is None and _is_variable(text, categories)]
        if len(yes) == 1:
            found[yes[0]] = categories.by_sense[YES]
        return
    if (said := yes_or_no(texts)) and not any(found.values()):
        category = named_category(question, categories)
        if category is not None:
            found.update({said[0]: category, said[1]: ELSE})


def _is_variable(text: str, categories: Categories) -> bool:
    return any(
        _content(wording) in categories.wordings for wording in questions.answer_wordings(text)
    )


def _by_beginning(found: Found, categories: Categories) -> None:
    parts = {text: _HEAD.split(_bare(text), maxsplit=1) for text in found}
    heads = {text: questions.answer_text(split[0]) for text, split in parts.items()}
    for text in [text for text, category in found.items() if category is None]:
        if len(parts[text]) < 2:
            continue
        category = categories.direct(parts[text][0])
        if category is None:
            continue
        same = [other for other, head in heads.items() if head == heads[text]]
        if len(same) == 1 and category not in found.values():
            found[text] = category
        elif len(same) > 1:
            inner = categories.direct(parts[text][1])
            graph = categories.variable.graph
            if inner is not None and set(graph.sinks_of(inner)) < set(graph.sinks_of(category)):
                found[text] = inner


def _by_alternatives(found: Found, categories: Categories) -> None:
    graph = categories.variable.graph
    for text in [text for text, category in found.items() if category is None]:
        parts = [part for part in _ALTERNATIVES.split(_bare(text)) if part.strip()]
        meant = [categories.direct(part) for part in parts]
        known = [category for category in meant if category is not None]
        if len(parts) < 2 or len(known) < len(parts):
            continue
        sinks = {sink for category in known for sink in graph.sinks_of(category)}
        same = [name for name in graph.categories if set(graph.sinks_of(name)) == sinks]
        if len(same) == 1 and same[0] not in found.values():
            found[text] = same[0]


def _by_words(found: Found, categories: Categories) -> None:
    """Place answers that hold the words of one category, or are held by them, one to one.

    Where several answers hold the words of a category they tell more than it. Of alternatives each
    has to hold them: 'English or Welsh' is not 'English'. A category for the rest holds nothing
    more than its words: 'Chinese or other' is not 'other'.
    """
    shared = _content(categories.variable.name)
    content = {text: _content(text) - shared for text in categories.by_text}
    exact: dict[str, list[str]] = {}
    near: dict[str, list[str]] = {}
    for text in [text for text, own in found.items() if own is None and not _is_rest(text)]:
        parts = [_content(part) - shared for part in _ALTERNATIVES.split(_bare(text))]
        words = frozenset[str]().union(*parts)
        same = [other for other, own in content.items() if own == words and words]
        held = same or [
            other
            for other, own in content.items()
            if own and words and _negated(own) == _negated(words) and _holds(words, parts, own)
        ]
        claimed = {categories.by_text[other] for other in held}
        if not same:
            claimed -= {c for c in claimed if categories.variable.graph.children(c)}
        if len(claimed) == 1:
            (exact if same else near).setdefault(claimed.pop(), []).append(text)
    for claims in (exact, near):
        for category, texts in claims.items():
            if len(texts) == 1 and category not in found.values():
                found[texts[0]] = category


def _holds(words: frozenset[str], parts: Sequence[frozenset[str]], own: frozenset[str]) -> bool:
    """Tell whether words hold those of a category or are held by them.

    A category for the rest has no words more than an answer for the rest.
    """
    if own.isdisjoint(_RESIDUAL) != words.isdisjoint(_RESIDUAL):
        return False
    if not own.isdisjoint(_RESIDUAL) and len(parts) > 1:
        return False
    return words <= own or all(own <= part for part in parts)


def _by_spelling(found: Found, categories: Categories) -> None:
    from rapidfuzz import fuzz, process

    for text in [text for text, category in found.items() if category is None]:
        wording = questions.answer_text(text)
        if len(wording) < _LEAST_LETTERS:
            continue
        near = process.extract(
            wording, list(categories.by_text), scorer=fuzz.ratio, score_cutoff=_LIKE, limit=3
        )
        same = {
            categories.by_text[other]
            for other, _, _ in near
            if _negated(_content(other)) == _negated(_content(wording))
        }
        if len(same) == 1 and not same <= set(found.values()):
            found[text] = same.pop()


def _by_denial(found: Found) -> None:
    """Place the one answer that denies another: it means everybody else."""
    texts = list(found)
    if len(texts) != 2:
        return
    for text, other in (texts, texts[::-1]):
        words, denied = questions.answer_text(text).split(), questions.answer_text(other).split()
        rest = [word for word in words[1:] if word not in _SMALL]
        same = rest == [word for word in denied if word not in _SMALL]
        if found[text] is None and found[other] and same and words[0] in questions.NEGATIONS:
            found[text] = ELSE


def _bare(text: str) -> str:
    return re.sub(r"\([^()]*(?:\)|$)", " ", text)


def _content(text: str) -> frozenset[str]:
    """Return the words of an answer that tell something, each in the singular."""
    words = re.sub(r"[^\w']+", " ", questions.answer_text(text)).split()
    return frozenset(_singular(word) for word in words if word not in _SMALL)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _negated(words: frozenset[str]) -> bool:
    return not words.isdisjoint(questions.NEGATIONS)


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


def fit_answers(question: questions.ProposedQuestion, categories: Categories) -> Fit:
    """Return how the answers of a question fit a variable."""
    variable = categories.variable
    if question.answering is questions.Answering.NOTHING:
        return Fit(why="it asks nothing")
    if question.answering is questions.Answering.SEVERAL:
        return Fit(why="several answers may be ticked")
    if question.answering is not questions.Answering.ONE or not question.answers:
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


def _free(question: questions.ProposedQuestion, variable: Variable) -> Fit:
    # A number may be asked for without a check of what is typed, a word not by a number.
    suits = question.answering is questions.Answering.TEXT
    if variable.scale is Scale.INTERVAL:
        suits = question.answering in (
            questions.Answering.NUMBER,
            questions.Answering.DATE,
            questions.Answering.TEXT,
        )
    meanings = tuple(Meaning(a.text, None, _reason(a) or "undecided") for a in question.answers)
    if not suits:
        return Fit(meanings, why=f"a {question.answering.value} is asked for")
    undecided = [m for m in meanings if m.no_answer == "undecided"]
    why = "some answers have a code that means something" if undecided else ""
    return Fit(meanings, 1.0, not undecided, why=why)


def _reason(answer: questions.ProposedAnswer) -> str | None:
    return questions.no_answer(answer.text) or ("not stated" if answer.is_missing else None)


def _banded(
    answers: Sequence[questions.ProposedAnswer],
    real: Sequence[questions.ProposedAnswer],
    variable: Variable,
) -> Fit:
    read = read_bands([answer.text for answer in real])
    space = variable.space
    assert space is not None
    bands = {text: band.within(space) for text, band in questions.bands_of(read).items()}
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
    said = set(questions.words_of(f"{variable.name} {variable.description}"))
    text = f"{variable.name} {variable.description}"
    if unit in _MONEY and unit not in text:
        return f"the bands are in {unit}, and the variable does not say that it is"
    if unit in _MEASURED and not said.intersection(_MEASURED[unit]):
        return f"the bands count in {unit}s, and the variable does not say that it does"
    if period and unit in _MONEY and period not in said:
        return f"the bands are per {period}, and the variable does not say that it is"
    return ""


def _placed(
    question: questions.ProposedQuestion,
    real: Sequence[questions.ProposedAnswer],
    categories: Categories,
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
    if len(set(known)) < len({questions.answer_text(text) for text in found}):
        return replace(fit, why="two answers mean the same category")
    made = categorize(categories.variable, list(dict.fromkeys(known)))
    return replace(
        fit,
        fits=made.is_valid,
        why="" if made.is_valid else f"the answers leave a fault: it {made.fault}",
    )
