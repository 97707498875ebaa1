"""How well the words of a question ask for a variable.

A variable is known by its name and, if its name is a wording of a concept, by all wordings of it.
A wording that a text holds leaves a rest; words that only ask ('what is your') do not count, nor
do answers that the question lists ('are you married, single or widowed?'). No rest is a score of
1, and every word more takes something off: 'age of youngest child' is not about age. A question to
be answered by yes or no is also known by a category that it names ('are you married?'). Without
any wording, likeness of the letters gives a hint of less than a half.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from gamekeeper.importing.placing import NO, YES, yes_or_no
from gamekeeper.importing.questions import Answering, ProposedQuestion
from gamekeeper.importing.texts import NEUTRAL, PAST, no_answer, readings, senses_of, words_of
from gamekeeper.importing.vocabulary import CONCEPTS
from gamekeeper.mapping.variables.codes import Scale, Variable

_PER_WORD = 0.15
_NAME_ONLY = 0.85
_LEAST_LIKE = 70
_MOST_LIKE = 5
_MOST_LISTED = 30
_LEAST_LISTING = 6
_JOINERS = frozenset(["or", "and", "oder", "und", "ou", "et", "y", "czy", "lub"])
_CURRENCIES = frozenset(["dollar", "dollars", "euro", "euros", "pounds", "usd", "eur", "gbp"])
_VERSION = re.compile(r"(?:agg|v)?\d+[a-z]*")
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a question words a variable: the score, the wording found, and what it leaves.

    `by_category` tells that it names a category and not the variable.
    """

    score: float
    phrase: str = ""
    rest: tuple[str, ...] = ()
    by_category: bool = False


@dataclass(frozen=True, slots=True)
class Readings:
    """The texts of a question as words: what it asks, how it is called, and its text as spoken."""

    texts: tuple[str, ...]
    asked: tuple[Phrase, ...]
    names: tuple[Phrase, ...]
    is_yes_or_no: bool
    spoken: Phrase
    phrases: Mapping[str, tuple[Phrase, ...]]
    """For a variable, its wordings that may be held: one word of each is there."""


class Vocabulary:
    """The wordings of every variable of an environment."""

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self._phrases = {name: _phrases(variable) for name, variable in variables.items()}
        self._categories = {name: _named(variable) for name, variable in variables.items()}
        self._sayings = [(" ".join(p), name) for name, own in self._phrases.items() for p in own]
        self._alike: dict[str, dict[str, Wording]] = {}
        self._by_word: dict[str, list[tuple[str, Phrase]]] = {}
        for name, own in self._phrases.items():
            for phrase in own:
                # The longest word of a wording is seldom in other texts.
                self._by_word.setdefault(max(phrase, key=len), []).append((name, phrase))

    def read(self, question: ProposedQuestion) -> Readings:
        """Return the texts of a question as words, once for all variables."""
        texts = [text for text in (question.text, question.label, *question.others) if text]
        listed = [words_of(answer.text) for answer in question.answers[:_MOST_LISTED]]
        read = [words for text in texts for words in readings(text)]
        if question.answering is Answering.NUMBER:
            read = [tuple(w for w in words if w not in _CURRENCIES) for words in read]
        read += [_without(words, listed) for words in read]
        # Numbers in a name are versions of it: COB_AGG3, ECONOMIC_ACTIVITY_10M.
        names = [
            tuple(w for w in words if not _VERSION.fullmatch(w))
            for words in readings(question.name)
        ]
        asked = tuple(dict.fromkeys(read))
        meaning = [a.text for a in question.answers if not a.is_missing and not no_answer(a.text)]
        found: dict[str, dict[Phrase, None]] = {}
        for word in {form for words in (*asked, *names) for w in words for form in _forms(w)}:
            for variable, phrase in self._by_word.get(word, ()):
                found.setdefault(variable, {})[phrase] = None
        return Readings(
            tuple(texts), asked, tuple(names), bool(yes_or_no(meaning)), words_of(question.text),
            {variable: tuple(phrases) for variable, phrases in found.items()},
        )  # fmt: skip

    def compare(self, read: Readings, variable: str) -> Wording:
        """Return the best wording of a variable in a question."""
        phrases = read.phrases.get(variable, ())
        best = max((_held(words, phrases) for words in read.asked), default=Wording(0.0), key=_rank)
        if best.score < 1.0 and read.is_yes_or_no:
            held = [_held(words, self._categories[variable]) for words in read.asked]
            if whole := next((wording for wording in held if wording.score == 1.0), None):
                return replace(whole, by_category=True)
        named = max(
            (_held(words, phrases) for words in read.names), default=Wording(0.0), key=_rank
        )
        if named.score == 1.0 and not read.texts:
            return named
        if named.score == 1.0 and best.score < _NAME_ONLY:
            # The name says it, the words say it otherwise or more narrowly.
            return Wording(min(_NAME_ONLY, max(best.score, 0.6)), named.phrase, best.rest)
        if best.score == 1.0 and _asks_for_the_past(read.spoken, best.phrase):
            # 'What was your job title?', labelled 'Job title'.
            return Wording(_NAME_ONLY, best.phrase, ("of the past",))
        return best if best.score else self._like(read.texts).get(variable, best)

    def _like(self, texts: Sequence[str]) -> Mapping[str, Wording]:
        """Return the variables whose wordings are spelt like a text, each with its best."""
        from rapidfuzz import fuzz, process

        found: dict[str, Wording] = {}
        for text in texts:
            if text not in self._alike:
                content = " ".join(_content(words_of(text)))
                near = process.extract(
                    content,
                    [saying for saying, _ in self._sayings],
                    scorer=fuzz.token_sort_ratio,
                    score_cutoff=_LEAST_LIKE,
                    limit=_MOST_LIKE,
                )
                own: dict[str, Wording] = {}
                for saying, score, place in near:
                    own.setdefault(self._sayings[place][1], Wording(score / 250, saying))
                self._alike[text] = own
            for name, wording in self._alike[text].items():
                if _rank(wording) > _rank(found.get(name, Wording(0.0))):
                    found[name] = wording
        return found

    def wordings(self, variable: str) -> frozenset[str]:
        """Return the wordings of a variable as texts."""
        return frozenset(" ".join(phrase) for phrase in self._phrases[variable])


def _named(variable: Variable) -> tuple[Phrase, ...]:
    """Return the categories of a variable in words, where they say something by themselves."""
    if variable.scale is Scale.INTERVAL:
        return ()
    words = [words_of(category) for category in variable.graph.categories]
    return tuple(
        own for own in words if _content(own) and not {YES, NO} & {*senses_of(" ".join(own))}
    )


def _without(words: Phrase, listed: Sequence[Phrase]) -> Phrase:
    """Return the words of a question without answers that it lists, if it lists two or more."""
    if len(words) < _LEAST_LISTING:
        return words
    kept = list(words)
    found = 0
    for answer in sorted(listed, key=len, reverse=True):
        place = _place_of(answer, kept)
        if answer and place is not None:
            del kept[place : place + len(answer)]
            found += 1
    return tuple(kept) if found > 1 else words


def _place_of(part: Phrase, words: Sequence[str]) -> int | None:
    size = len(part)
    places = range(len(words) - size + 1)
    return next((n for n in places if tuple(words[n : n + size]) == part), None)


def _rank(wording: Wording) -> tuple[float, int]:
    return wording.score, len(wording.phrase)


def _phrases(variable: Variable) -> tuple[Phrase, ...]:
    own = words_of(variable.name)
    found = {own: None}
    for wordings in CONCEPTS.values():
        known = [words_of(wording) for wording in wordings]
        content = _content(own)
        if own in known or (content and content in [_content(words) for words in known]):
            found.update(dict.fromkeys(known))
    return tuple(sorted(found, key=len, reverse=True))


def _held(words: Phrase, phrases: Iterable[Phrase]) -> Wording:
    best = Wording(0.0)
    for phrase in phrases:
        rest = _rest(words, phrase)
        if rest is not None:
            score = max(0.2, 1.0 - _PER_WORD * len(rest))
            found = Wording(score, " ".join(phrase), rest)
            if _rank(found) > _rank(best):
                best = found
    return best


def _rest(words: Phrase, phrase: Phrase) -> Phrase | None:
    """Return what a text says besides a phrase, or None if it does not hold the phrase.

    The words of the phrase come in their order; words that only ask may lie between them. 'Or' may
    be a stroke, which is no word.
    """
    place = 0
    words = tuple(word for word in words if word not in _JOINERS)
    phrase = tuple(word for word in phrase if word not in _JOINERS)
    rest: list[str] = []
    for word, after in pairwise((*words, "")):
        if word == "was" and after in ("ist", "sind"):
            continue  # German: what is
        if place < len(phrase) and phrase[place] in _forms(word):
            place += 1
        elif word not in NEUTRAL and not (word in PAST and _asks_for_birth(phrase)):
            rest.append(word)
    return tuple(rest) if place == len(phrase) else None


def _asks_for_the_past(words: Phrase, phrase: str) -> bool:
    spoken = {word for word, after in pairwise((*words, "")) if after != "ist"}
    said = tuple(phrase.split())
    return not _asks_for_birth(said) and not (spoken & PAST).issubset(said)


def _asks_for_birth(phrase: Phrase) -> bool:
    return not {"birth", "born", "old", "birthday"}.isdisjoint(phrase)


@lru_cache(maxsize=65_536)
def _forms(word: str) -> tuple[str, ...]:
    """Return a word as it is, and without an ending of the plural."""
    endings = [end for end in ("s", "n", "en") if word.endswith(end) and len(word) > len(end) + 3]
    return word, *(word[: -len(end)] for end in endings)


def _content(words: Phrase) -> Phrase:
    return tuple(word for word in words if word not in NEUTRAL)
