"""Names, numbers and texts as they stand in a sentence, on one line and fit to be shown.

Names that look the same: covered are the Cyrillic, Greek and Armenian letters that common typefaces
draw like Latin ones (`_LOOKS`), everything that `folded` takes for the same (case, accents,
compatibility forms such as full width), and characters without a shape: format characters such as
the soft hyphen, joiners, marks of direction, selectors of variants and fillers. Not covered are
letters and digits of one script that resemble each other (l and 1, O and 0), and other scripts.

Cells of spreadsheets: one of a CSV file that begins with ``= + - @``, a tab or a line end is run as
a formula, which can call other programs. An apostrophe before it makes it a text. A plain number
such as -9 is no formula and stays as it is.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

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
        (0x202A, 0x202E), (0x2066, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0001, 0xE0001),
    )
    for number in range(first, last + 1)
}  # fmt: skip


def on_one_line(text: str, most: int) -> str:
    r"""Return a text without what is unfit to show, cut after so many letters.

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

    >>> at_start("annealing")
    'Annealing'
    """
    return text[:1].upper() + text[1:]


def unfit_character(name: str) -> str:
    r"""Return the first character that a name must not hold, in words; empty if there is none.

    Names may hold what writing systems need, such as joiners and no-break spaces, and nothing
    that would change the text around them or disturb a terminal.

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

    >>> shown_path("my forms")
    "'my forms'"
    """
    return quoted([str(path)], letters=_PATH_LETTERS)


def short(text: str, most: int = _LABEL_LETTERS) -> str:
    r"""Return a text on one line, without what cannot be seen, cut after so many letters.

    >>> short("one\ntwo three", 8)
    'one two…'
    """
    return on_one_line(" ".join(text[: 10 * most].split()), most)


def listed(
    names: Sequence[str], most: int, *, among: int = 0, letters: int = _LABEL_LETTERS
) -> str:
    """Return names with semicolons, and the number of those left out.

    Where there are too many to word them all, the first are enough, and `among` is their number.

    >>> listed(["a", "b", "c"], 2), listed(["a", "b"], 2, among=3)
    ('a; b; and 1 more', 'a; b; and 1 more')
    """
    shown = "; ".join(short(name, letters) for name in names[:most])
    left_out = max(len(names), among) - most
    return f"{shown}; and {left_out:,} more" if left_out > 0 else shown


def joined(parts: Sequence[str], most: int | None = None, *, among: int = 0) -> str:
    """Return parts of a sentence with commas and a last "and", and the number of those left out.

    Where there are too many to word them all, the first are enough, and `among` is their number.

    >>> joined(["a", "b", "c"]), joined(["a", "b", "c"], most=1)
    ('a, b and c', 'a and 2 more')
    """
    left_out = 0 if most is None else max(len(parts), among) - most
    if left_out > 0:
        parts = [*parts[:most], f"{left_out:,} more"]
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


_WORD = re.compile(r"[^\W_]+")
_NEAR = 0.86
_COMPARED_LETTERS = 200
_SHOWN = 3


def folded(name: str) -> str:
    """Return what is left of a name without case, accents and extra white space.

    Two names of a kind that come to the same are taken for one name written twice.

    >>> folded("Économie  et Emploi") == folded("economie et emploi")
    True
    """
    if name.isascii():
        return " ".join(name.lower().split())
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(plain.split())


def did_you_mean(name: str, known: Iterable[str], *, lists: bool = True) -> str:
    """Return a sentence with the known names near to `name`, or else with all of them.

    Without `lists` none are named that are not near: where names may be something else, such as
    the first line of a file without a header.

    >>> did_you_mean("regoin", ["region", "sex", "age"])
    "Near to it: 'region'."
    """
    names = list(known)
    without_case = {candidate.casefold(): candidate for candidate in names}
    close = difflib.get_close_matches(name.casefold(), without_case, n=_SHOWN, cutoff=0.6)
    if close:
        return f"Near to it: {quoted(without_case[match] for match in close)}."
    if not lists:
        return ""
    if not names:
        return "There are none."
    return f"There are: {quoted(sorted(names))}."


def near_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names that a new one may have been meant to be, the nearest first.

    Near are names of the same words in another order, in singular or plural, with other
    punctuation, or with a slip of the pen.

    >>> near_names("Country of residance", ["Country of residence", "Age", "Residence, country of"])
    ('Country of residence',)
    >>> near_names("Marital statuses", ["Marital status"])
    ('Marital status',)
    """
    words = _words(name)
    text = " ".join(words)[:_COMPARED_LETTERS]
    bag = sorted(words)
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(text)
    ranked: list[tuple[float, str]] = []
    for other in known:
        if other == name:
            continue
        theirs = _words(other)
        if sorted(theirs) == bag:
            ranked.append((-1.0, other))
            continue
        if _marks(words) != _marks(theirs):
            continue
        matcher.set_seq1(" ".join(theirs)[:_COMPARED_LETTERS])
        if matcher.real_quick_ratio() >= _NEAR and matcher.quick_ratio() >= _NEAR:
            ratio = matcher.ratio()
            if ratio >= _NEAR:
                ranked.append((-ratio, other))
    return tuple(other for _, other in sorted(ranked)[:_SHOWN])


def _words(name: str) -> list[str]:
    return [_singular(word) for word in _WORD.findall(folded(name[: 4 * _COMPARED_LETTERS]))]


def _singular(word: str) -> str:
    for ending in ("es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def _marks(words: list[str]) -> list[str]:
    """Return words that tell names apart: "Survey 1" or "Survey A" is no slip for "Survey 2"."""
    return [word for word in words if len(word) == 1 or any(letter.isdigit() for letter in word)]


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


STARTS: Final = "=+-@\t\r\n＝＋－＠"
"""What a formula may begin with, as it is and in full width."""

NUMERAL: Final = r"^[+-][0-9]+([.,][0-9]+)*(e[+-]?[0-9]+)?%?$"
"""A plain number with a sign."""

_NUMERAL = re.compile(NUMERAL, re.IGNORECASE)


def shown_cell(cell: Any) -> Any:
    """Return a cell as it may be opened in a spreadsheet; what is no text stays as it is.

    >>> shown_cell("=1+1"), shown_cell("-9"), shown_cell(-9)
    ("'=1+1", '-9', -9)
    """
    if not isinstance(cell, str):
        return cell
    start = cell.lstrip("'")[:1]
    return f"'{cell}" if start and start in STARTS and not _NUMERAL.match(cell) else cell


def read_cell(text: str) -> str:
    """Return what a cell was before it was written to be shown.

    >>> [read_cell(shown_cell(text)) for text in ("=1", "'=1", "-9", "a")]
    ['=1', "'=1", '-9', 'a']
    """
    start = text.lstrip("'")[:1]
    return text[1:] if text.startswith("'") and start and start in STARTS else text


_A_MILLIONTH, _A_TENTH = 1e-6, 0.1
_LARGE = 10**15
_SHORT_POWER = 9


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count_of(1, "form"), count_of(3, "category", "categories")
    ('1 form', '3 categories')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def be(number: int) -> str:
    """Return the verb for so many.

    >>> be(1), be(0)
    ('is', 'are')
    """
    return "is" if number == 1 else "are"


def there_are(number: int, singular: str, plural: str = "") -> str:
    """Return the beginning of a sentence that says how many there are.

    >>> there_are(1, "problem"), there_are(1200, "class", "classes")
    ('There is 1 problem', 'There are 1,200 classes')
    """
    return f"There {be(number)} {count_of(number, singular, plural)}"


def number_text(value: Fraction | float) -> str:
    """Return a number with at most two decimals, ∞ where it is unbounded.

    >>> number_text(Fraction(359, 31)), number_text(3.0), number_text(math.inf)
    ('11.58', '3', '∞')
    """
    if value == math.inf:
        return "∞"
    return f"{float(value):,.2f}".rstrip("0").rstrip(".")


def digits_text(number: Fraction | float, digits: int = 6) -> str:
    """Return a number with so many digits that count, and never as a power of ten.

    >>> digits_text(1234.5678), digits_text(1e-7), digits_text(2.5e16), digits_text(1234, 2)
    ('1,234.57', '0.0000001', '25,000,000,000,000,000', '1,200')
    """
    text = f"{float(number):,.{digits}g}"
    return f"{Decimal(text):,f}" if "e" in text else text


def three_digits(number: Fraction | float) -> str:
    """Return an estimate for reading: three digits, or all before the point where there are more.

    >>> three_digits(0.030523), three_digits(Fraction(2, 3)), three_digits(64.7058)
    ('0.0305', '0.667', '64.7')
    >>> three_digits(12345.6), three_digits(0.0000123), three_digits(6.21e-07)
    ('12,346', '0.0000123', 'less than 0.000001')
    """
    if 0 < number < _A_MILLIONTH:
        return "less than 0.000001"
    return digits_text(number, 3) if number < 100 else f"{float(number):,.0f}"


def expected_text(number: Fraction | float) -> str:
    """Return an expected number of people or records: nothing below a tenth of one.

    >>> expected_text(1154.3), expected_text(0.42), expected_text(6.21e-07), expected_text(0)
    ('1,154', '0.42', 'fewer than 0.1', '0')
    """
    if 0 < number < _A_TENTH:
        return "fewer than 0.1"
    return f"{float(number):,.0f}" if number >= 10 else three_digits(number)


def people_text(number: Fraction | float) -> str:
    """Return how many people are met on average: one decimal where they are few.

    >>> people_text(1), people_text(2.5), people_text(Fraction(359, 31)), people_text(87604.6)
    ('1 person', '2.5 people', '11.6 people', '87,605 people')
    """
    met = float(number)
    said = number_text(met if met == math.inf else round(met, 1 if met < 100 else None))
    return f"{said} {'person' if said == '1' else 'people'}"


def times_text(number: float) -> str:
    """Return how often something would be so by chance, in words.

    >>> times_text(1.0), times_text(0.02), times_text(1234.5), times_text(1e-9)
    ('about once', 'about 0.02 times', 'about 1,234 times', 'less than once in a million times')
    """
    if 0 < number < _A_MILLIONTH:
        return "less than once in a million times"
    if 0.95 <= number < 1.05:
        return "about once"
    said = f"{number:,.0f}" if number >= 10 else digits_text(number, 2)
    return f"about {said} times"


def large_text(number: int) -> str:
    """Return an exact count of any size, by its length where nobody reads all its digits.

    >>> large_text(1_234_567), large_text(7 * 10**400)
    ('1,234,567', 'more than a million billion (a number of 401 digits)')
    """
    if number < _LARGE:
        return f"{number:,}"
    digits = Decimal(number).adjusted() + 1
    return f"more than a million billion (a number of {digits:,} digits)"


def magnitude_text(number: float) -> str:
    """Return how much there would be to do, which can be more than a float holds.

    >>> magnitude_text(1_234_567), magnitude_text(7 * 10**400)
    ('1,234,567', 'more than a billion (a number of 401 digits)')
    """
    return f"{number:,.0f}" if number < 10**_SHORT_POWER else power_text(math.log10(number))


def power_text(power: float) -> str:
    """Return an estimate of any size, given as a power of ten.

    >>> power_text(3.5), power_text(412.34)
    ('about 3,162', 'more than a billion (a number of 413 digits)')
    """
    if power < _SHORT_POWER:
        return f"about {10**power:,.0f}"
    return f"more than a billion (a number of {math.floor(power) + 1:,} digits)"


def shape_text(shape: Iterable[int]) -> str:
    """Return the shape of a table, which has one cell if it has no axes.

    >>> shape_text([2, 3]), shape_text([])
    ('2 x 3', '1')
    """
    return " x ".join(map(str, shape)) or "1"


def memory_text(n_bytes: float) -> str:
    """Return an amount of memory in gigabytes, a small one in megabytes.

    >>> memory_text(3.2e9), memory_text(40e6)
    ('3.2 GB', '40 MB')
    """
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:,.0f} MB"


def duration_text(seconds: float) -> str:
    """Return how long something takes, roughly.

    >>> duration_text(12.3), duration_text(900), duration_text(9000), duration_text(200_000)
    ('12 seconds', '15 minutes', '2.5 hours', '2.3 days')
    """
    for least, unit, name in ((172_800, 86_400, "days"), (7_200, 3_600, "hours")):
        if seconds >= least:
            return f"{digits_text(seconds / unit, 2)} {name}"
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{max(seconds, 1):.0f} seconds"


def cell_text(cell: Any) -> str:
    """Return a cell of a table as people read it: four digits, thousands apart, a dash for none.

    >>> cell_text(0.123456), cell_text(12345), cell_text(None), cell_text(1e-7)
    ('0.1235', '12,345', '—', '1e-07')
    """
    if cell is None:
        return "—"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 10_000 else f"{cell:.4g}"
    return str(cell)


def categories_text(number: float) -> str:
    """Return a number of categories with its noun.

    >>> categories_text(1), categories_text(math.inf)
    ('1 category', 'any level of detail')
    """
    if number == math.inf:
        return "any level of detail"
    return count_of(int(number), "category", "categories")


def asking_text(n_asking: int, n_forms: int, n_set_aside: int) -> str:
    """Say how many of the forms ask for a variable, and how many of those are set aside.

    >>> asking_text(9, 46, 1)
    '9 of 46 forms ask for it, 1 of them set aside'
    """
    if n_forms == 1:
        text = "the one form asks for it" if n_asking else "the one form does not ask for it"
        return f"{text}, and is set aside" if n_set_aside else text
    asking = "asks" if n_asking == 1 else "ask"
    text = f"{n_asking or 'none'} of {n_forms:,} forms {asking} for it"
    if not n_set_aside:
        return text
    if n_set_aside == n_asking:
        return f"{text}, and is set aside" if n_asking == 1 else f"{text}, all of them set aside"
    return f"{text}, {n_set_aside} of them set aside"


def exact_percent(share: Fraction) -> str:
    """Return a share that somebody chose, and as a fraction besides where two decimals are not it.

    >>> exact_percent(Fraction(1, 5)), exact_percent(Fraction(1, 3))
    ('20%', '1/3, about 33.33%')
    """
    text = f"{number_text(100 * share)}%"
    return text if (share * 10_000).denominator == 1 else f"{share}, about {text}"


def percent_text(share: float | None) -> str:
    """Return a share that was counted or measured, to a tenth of a percent; a dash for none.

    >>> percent_text(0.1234), percent_text(None)
    ('12.3%', '—')
    """
    return "—" if share is None else f"{share:.1%}"


def percent_range(low: float, high: float) -> str:
    """Return the ends of an interval of measured shares.

    >>> percent_range(0.1234, 0.5)
    '12.3% to 50.0%'
    """
    return f"{percent_text(low)} to {percent_text(high)}"


def share_text(share: Fraction | float) -> str:
    """Return a share with three digits, however small: of a risk, a tenth of a percent is much.

    >>> share_text(Fraction(2, 3)), share_text(0.0000123), share_text(6.21e-07)
    ('66.7%', '0.00123%', 'less than one in a million')
    """
    if 0 < share < _A_MILLIONTH:
        return "less than one in a million"
    return f"{three_digits(100 * share)}%"


def fraction_text(fraction: Fraction | None) -> str:
    """Return a sampling fraction in percent, with four digits.

    >>> fraction_text(Fraction(1, 50)), fraction_text(Fraction(1, 3)), fraction_text(None)
    ('2%', '33.33%', 'not known')
    """
    return "not known" if fraction is None else f"{digits_text(fraction * 100, 4)}%"


def fractions_text(fractions: Iterable[Fraction]) -> str:
    """Return some sampling fractions.

    >>> fractions_text([Fraction(1, 50), Fraction(1, 10)])
    '2%, 10%'
    """
    return ", ".join(map(fraction_text, fractions))
