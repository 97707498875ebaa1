"""Texts as sequences of plain words, and how two of them compare."""

from __future__ import annotations

import re
from functools import lru_cache

from gamekeeper.algorithms.categories.band_words import plain_text
from gamekeeper.importing.matching.concepts import NO_ANSWER_WORDS, SENSES

_PLACEHOLDERS = re.compile(r"\$\{[^}]*\}|\{[^}]*\}|\[[^\]]*\]")
_NUMBERING = re.compile(
    r"^\s*(?:[a-z]{0,4}_?)?\d{1,4}[a-z]?\s*[.):]\s+|^\s*[a-z]\.\s+", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OPENING = re.compile(
    r"^[^,]{1,60},\s+(?=(?:what|which|how|wie|welche|quel|cu[aá]l|qual|hoe|jak)\b)", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BRACKETS = re.compile(r"\([^()]*\)")
_SENSE_OF = {wording: senses[0] for senses in SENSES for wording in senses}
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

    The kernel is without brackets, ends with the first question mark, and starts after a comma
    that a question word follows ('In your main job, how many hours ...').
    """
    kernel = _BRACKETS.sub(" ", text).split("?")[0]
    if opening := _OPENING.search(kernel):
        kernel = kernel[opening.end() :]
    return tuple(dict.fromkeys((words_of(text), words_of(kernel))))


@lru_cache(maxsize=65_536)
def answer_text(text: str) -> str:
    """Return an answer as plain words, without signs around them."""
    return " ".join(re.sub(r"[^\w/'() -]+", " ", plain_text(text)).split()).strip(" -/'")


def answer_wordings(text: str) -> tuple[str, ...]:
    """Return the wordings of an answer to try: whole, then without what is in brackets."""
    whole = answer_text(text)
    short = " ".join(_BRACKETS.sub(" ", whole).split())
    return (whole,) if short in ("", whole) else (whole, short)


def sense_of(wording: str) -> str:
    """Return what an answer means in general, or nothing."""
    return _SENSE_OF.get(wording, "")


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
    if plain.startswith(("no code required", "n/a ", "niu ", "not in universe", "not applicable")):
        return "not applicable"
    return None
