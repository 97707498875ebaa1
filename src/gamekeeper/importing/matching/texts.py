"""Texts as sequences of plain words, and how two of them compare."""

from __future__ import annotations

import re
from functools import lru_cache

from gamekeeper.algorithms.categories.band_words import plain_text
from gamekeeper.importing.matching.asking import NO_ANSWER_WORDS
from gamekeeper.importing.matching.senses import SENSES

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

    Examples
    --------
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

    Examples
    --------
    >>> answer_wordings("2. Married (now)")
    ('2 married (now)', '2 married', 'married (now)', 'married')
    """
    item = _ITEM.match(text)
    whole = [answer_text(part) for part in (text, text[item.end() :] if item else text)]
    found = [w for part in whole for w in (part, " ".join(_BRACKETS.sub(" ", part).split()))]
    return tuple(dict.fromkeys(wording for wording in found if wording))


def senses_of(wording: str) -> tuple[str, ...]:
    """Return what an answer may mean in general.

    Examples
    --------
    >>> senses_of("weiblich"), senses_of("none")
    (('female',), ('no qualification', 'no religion'))
    """
    return _SENSES_OF.get(wording, ())


def no_answer(text: str) -> str | None:
    """Return why a printed answer is none, or None.

    Examples
    --------
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
