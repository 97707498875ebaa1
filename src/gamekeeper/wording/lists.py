"""Names and texts as they stand in a sentence: on one line, quoted, listed, joined."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

_SHOWN_NAMES = 8
_LABEL_LETTERS = 80
_PATH_LETTERS = 1_000
_UNFIT = {
    "Cc": "a control character",
    "Cs": "half of a character",
    "Cn": "which stands for no character",
    "Co": "which stands for no character that all agree on",
    "Zl": "a line break",
    "Zp": "a line break",
}
# Embeddings, overrides and isolates of direction, marks that are no longer to be used, the byte
# order mark, annotations and the tag of a language.
_CHANGING = {
    chr(number)
    for first, last in (
        (0x202A, 0x202E),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
        (0xE0001, 0xE0001),
    )
    for number in range(first, last + 1)
}


def on_one_line(text: str, most: int) -> str:
    r"""Return a text without what is unfit to show, cut after so many letters.

    Examples
    --------
    >>> on_one_line("one\atwo three", 8)
    'one�two…'
    """
    if not text.isprintable():
        text = "".join(
            "\N{REPLACEMENT CHARACTER}" if unfit_character(letter) else letter for letter in text
        )
    return text if len(text) <= most else text[: most - 1] + "…"


def at_start(text: str) -> str:
    """Return a text as a sentence begins with it.

    Examples
    --------
    >>> at_start("annealing")
    'Annealing'
    """
    return text[:1].upper() + text[1:]


def unfit_character(name: str) -> str:
    r"""Return the first character that a name must not hold, in words; empty if there is none.

    Names may hold what writing systems need, such as joiners and no-break spaces, and nothing
    that would change the text around them or disturb a terminal.

    Examples
    --------
    >>> unfit_character("B\aank"), unfit_character("Bank")
    ('U+0007, a control character', '')
    """
    for letter in "" if name.isprintable() else name:
        unfit = _UNFIT.get(unicodedata.category(letter))
        if letter in _CHANGING:
            unfit = "a character that changes the text around it"
        if unfit:
            return f"U+{ord(letter):04X}, {unfit}"
    return ""


def quoted(names: Iterable[str], *, most: int = _SHOWN_NAMES, letters: int = 60) -> str:
    """Return names as a readable list, cut after `most` of them and each after some letters.

    Whatever could disturb a terminal is replaced.

    Examples
    --------
    >>> quoted(["Age", "Sex"])
    "'Age', 'Sex'"
    >>> quoted("abcd", most=2)
    "'a', 'b' and 2 more"
    """
    listed = list(names)
    text = ", ".join(f"'{on_one_line(name, letters)}'" for name in listed[:most])
    return f"{text} and {len(listed) - most:,} more" if len(listed) > most else text


def shown_path(path: object) -> str:
    """Return a path or an address in quotes, in full, without what would change the text around it.

    Examples
    --------
    >>> shown_path("my forms")
    "'my forms'"
    """
    return quoted([str(path)], letters=_PATH_LETTERS)


def short(text: str, most: int = _LABEL_LETTERS) -> str:
    r"""Return a text on one line, without what cannot be seen, cut after so many letters.

    Examples
    --------
    >>> short("one\ntwo three", 8)
    'one two…'
    """
    return on_one_line(" ".join(text[: 10 * most].split()), most)


def listed(
    names: Sequence[str], most: int, *, among: int = 0, letters: int = _LABEL_LETTERS
) -> str:
    """Return names with semicolons, and the number of those left out.

    Where there are too many to word them all, the first are enough, and `among` is their number.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2), listed(["a", "b"], 2, among=3)
    ('a; b; and 1 more', 'a; b; and 1 more')
    """
    shown = "; ".join(short(name, letters) for name in names[:most])
    left_out = max(len(names), among) - most
    return f"{shown}; and {left_out:,} more" if left_out > 0 else shown


def joined(parts: Sequence[str], most: int | None = None, *, among: int = 0) -> str:
    """Return parts of a sentence with commas and a last "and", and the number of those left out.

    Where there are too many to word them all, the first are enough, and `among` is their number.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a", "b", "c"], most=1)
    ('a, b and c', 'a and 2 more')
    """
    left_out = 0 if most is None else max(len(parts), among) - most
    if left_out > 0:
        parts = [*parts[:most], f"{left_out:,} more"]
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
