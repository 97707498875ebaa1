r"""Names that look the same and are not: letters of other scripts, characters that do not show.

Covered are the Cyrillic, Greek and Armenian letters that common typefaces draw like Latin ones
(each listed below), everything that `folded` takes for the same (case, accents, compatibility
forms such as full width), and characters without a shape: format characters such as the soft
hyphen, joiners, marks of direction, selectors of variants and fillers. Not covered are letters and
digits of one script that resemble each other (l and 1, O and 0), and other scripts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from gamekeeper.wording.names import folded

# Pairs of a letter and the Latin one that it looks like, all in small letters after folding, and
# capitals whose small letters look otherwise.
_LOOKS = str.maketrans(
    dict(
        zip(
            # Cyrillic; then capitals of it; Greek; then capitals of it; Armenian.
            "аеорсухіјѕһԁԛԝѵӏАВЕКМНОРСТУХІЈЅԌοναικρυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսհոց",
            "aeopcyxijshdqwvlabekmhopctyxijsgovaikpuxyabezhikmnoptyxouhng",
            strict=True,
        )
    )
)
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE")
_JOINED_PICTURES = re.compile(
    "(?<=[\U0001f300-\U0001faff\u2600-\u27bf])\ufe0f?(\u200d(?=[\U0001f300-\U0001faff\u2600-\u27bf]))?"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"


def look_alikes(name: str, known: Iterable[str]) -> tuple[str, ...]:
    r"""Return the known names that look like one, and are written otherwise.

    Examples
    --------
    >>> look_alikes("B\u0430nk", ["Bank", "Shop"])
    ('Bank',)
    """
    own = likeness(name)
    return tuple(other for other in known if other != name and likeness(other) == own)


def likeness(name: str) -> str:
    """Return what names come to that look the same."""
    if name.isascii():
        return folded(name)
    shown = "".join(letter for letter in name if not _is_unseen(letter))
    # Capitals first, as their small letters may look otherwise; then accents and case.
    decomposed = unicodedata.normalize("NFKD", shown)
    return folded(folded(decomposed.translate(_LOOKS)).translate(_LOOKS))


def oddity(name: str) -> str:
    r"""Return what of a name cannot be seen: characters without a shape, words of two scripts.

    Examples
    --------
    >>> oddity("Bank"), oddity("B\u0430nk"), oddity("Ba\u00adnk")
    ('', 'mixes Cyrillic and Latin letters in a word', 'holds U+00AD, which does not show')
    """
    if name.isascii():
        return ""
    # A picture of several joined ones shows its joiners.
    bare = _JOINED_PICTURES.sub("", name)
    unseen = dict.fromkeys(f"U+{ord(letter):04X}" for letter in bare if _is_unseen(letter))
    if unseen:
        shows = "which does not show" if len(unseen) == 1 else "which do not show"
        return f"holds {', '.join(unseen)}, {shows}"
    for word in _LETTERS.findall(unicodedata.normalize("NFC", name)):
        scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
        mixed = sorted(scripts & set(_ALIKE))
        if len(mixed) > 1:
            return f"mixes {' and '.join(map(str.capitalize, mixed))} letters in a word"
    return ""


def _is_unseen(letter: str) -> bool:
    return (
        unicodedata.category(letter) == "Cf"
        or letter in _FILLERS
        or "\ufe00" <= letter <= "\ufe0f"
        or "\U000e0100" <= letter <= "\U000e01ef"
    )
