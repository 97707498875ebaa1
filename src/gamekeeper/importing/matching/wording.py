"""How well the words of a question ask for a variable.

A variable is known by its name and, if its name is a wording of a concept, by all wordings of it.
A wording that a text holds leaves a rest; words that only ask ('what is your') do not count. No
rest is a score of 1, and every word more takes something off: 'age of youngest child' is not
about age. Without any wording, likeness of the letters gives a hint of less than a half.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gamekeeper.importing.matching.concepts import CONCEPTS, NEUTRAL, PAST
from gamekeeper.importing.matching.texts import readings, words_of
from gamekeeper.importing.proposed_question import ProposedQuestion
from gamekeeper.mapping.variables.variable import Variable

_PER_WORD = 0.15
_NAME_ONLY = 0.85
_LEAST_LIKE = 70
_MOST_LIKE = 5
_VERSION = re.compile(r"(?:agg|v)?\d+[a-z]?")

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a question words a variable: the score, the wording found, and what it leaves."""

    score: float
    phrase: str = ""
    rest: tuple[str, ...] = ()


class Vocabulary:
    """The wordings of every variable of an environment."""

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self._phrases = {name: _phrases(variable) for name, variable in variables.items()}
        self._sayings = [(" ".join(p), name) for name, own in self._phrases.items() for p in own]
        self._alike: dict[str, dict[str, Wording]] = {}

    def compare(self, question: ProposedQuestion, variable: str) -> Wording:
        """Return the best wording of a variable in a question."""
        phrases = self._phrases[variable]
        texts = [text for text in (question.text, question.label, *question.others) if text]
        read = [words for text in texts for words in readings(text)]
        best = max((_held(words, phrases) for words in read), default=Wording(0.0), key=_rank)
        # Numbers in a name are versions of it: COB_AGG3, ECONOMIC_ACTIVITY_10M.
        names = [
            tuple(w for w in words if not _VERSION.fullmatch(w))
            for words in readings(question.name)
        ]
        named = max((_held(words, phrases) for words in names), key=_rank)
        if named.score == 1.0 and not texts:
            return named
        if named.score == 1.0 and best.score < _NAME_ONLY:
            # The name says it, the words say it otherwise or more narrowly.
            return Wording(min(_NAME_ONLY, max(best.score, 0.6)), named.phrase, best.rest)
        if best.score == 1.0 and _asks_for_the_past(question.text, best.phrase):
            # 'What was your job title?', labelled 'Job title'.
            return Wording(_NAME_ONLY, best.phrase, ("of the past",))
        return best if best.score else self._like(texts).get(variable, best)

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
    """Return the wording that leaves the least of a text; the longest of several."""
    best = Wording(0.0)
    joined = " ".join(words)
    for phrase in phrases:
        if not all(word in joined for word in phrase):
            continue
        rest = _rest(words, phrase)
        if rest is not None:
            score = max(0.2, 1.0 - _PER_WORD * len(rest))
            found = Wording(score, " ".join(phrase), rest)
            if _rank(found) > _rank(best):
                best = found
    return best


def _rest(words: Phrase, phrase: Phrase) -> Phrase | None:
    """Return what a text says besides a phrase, or None if it does not hold the phrase.

    The words of the phrase come in their order; words that only ask may lie between them.
    """
    place = 0
    rest: list[str] = []
    for word, after in pairwise((*words, "")):
        if word == "was" and after in ("ist", "sind"):
            continue  # German: what is
        if place < len(phrase) and _same(word, phrase[place]):
            place += 1
        elif word not in NEUTRAL and not (word in PAST and _is_of_birth(phrase)):
            rest.append(word)
    return tuple(rest) if place == len(phrase) else None


def _asks_for_the_past(text: str, phrase: str) -> bool:
    words = words_of(text)
    spoken = {word for word, after in pairwise((*words, "")) if after != "ist"}
    said = tuple(phrase.split())
    return not _is_of_birth(said) and not (spoken & PAST).issubset(said)


def _is_of_birth(phrase: Phrase) -> bool:
    return not {"birth", "born", "old", "birthday"}.isdisjoint(phrase)


def _same(word: str, other: str) -> bool:
    return word == other or (len(other) > 3 and word in (f"{other}s", f"{other}n", f"{other}en"))


def _content(words: Phrase) -> Phrase:
    return tuple(word for word in words if word not in NEUTRAL)
