"""One band of numbers as people print it, in the words and signs of eight languages.

English, German, French, Spanish, Italian, Dutch, Portuguese and Polish, written in small letters
without accents, as `plain_text` leaves them. A word that several languages share has one meaning
here, or one that its place decides: 'a' and 'do' lie between two numbers, or before one.

A text is cut into numbers, known words and others, and the order of its parts is looked up among
the few orders that mean a band. Unknown words make it no band. The cost is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple


class Part(StrEnum):
    """What a word or sign does in a printed band."""

    NUMBER = "n"
    DECADE = "s"
    """A number with an s, as in 'under 16s'."""
    DASH = "-"
    TO = "t"
    """Between two numbers a range; before one, at most."""
    FROM = "f"
    """Before a number: at least, or the start of a range."""
    OF = "o"
    """Before a number: the start of a range, or nothing."""
    AND = "&"
    OR = "|"
    BELOW = "<"
    AT_MOST = "l"
    ABOVE = ">"
    AT_LEAST = "g"
    OR_MORE = "+"
    OR_LESS = "_"
    UNIT = "u"
    PERIOD = "p"
    FILLER = "."
    ANY = "*"
    OTHER = "?"


_PHRASES: dict[Part, str] = {
    Part.DASH: "- | .. | ... | / | ~",
    Part.TO: "to | up to | until | till | thru | through | up to and including | bis | bis zu | "
    "bis einschliesslich | a | jusqu'a | jusque | hasta | al | fino a | sino a | tot | tot en met | "
    "t/m | ate | do | and up to | but not more than | bis hochstens",
    Part.FROM: "from | ab | desde | vanaf | od | starting at | beginning at",
    Part.OF: "between | von | zwischen | de | entre | da | tra | fra | van | tussen | miedzy | "
    "pomiedzy | d' | dai | dal | des",
    Part.AND: "and | und | et | y | e | en | i | but | aber | mais moins de | , | & | pero | ma | "
    "maar | mas | ale | as well as",
    Part.OR: "or | oder | ou | o | of | lub | and/or",
    Part.BELOW: "< | less than | fewer than | under | below | younger than | lower than | smaller than | "
    "before | weniger als | unter | junger als | bis unter | kleiner als | moins de | moins d' | "
    "moins que | inferieur a | inferieure a | menos de | menor de | menores de | menor que | inferior a | "
    "por debajo de | meno di | inferiore a | sotto | sotto i | minder dan | onder | jonger dan | "
    "lager dan | abaixo de | menos que | ponizej | mniej niz | mlodszy niz | au-dessous de | "
    "en dessous de | not yet",
    Part.AT_MOST: "<= | ≤ | =< | at most | no more than | not more than | maximum | max | max. | "
    "within | hochstens | maximal | au plus | au maximum | como maximo | a lo sumo | al massimo | non piu di | "
    "maximaal | hoogstens | ten hoogste | no maximo | najwyzej | maksymalnie | nie wiecej niz",
    Part.ABOVE: "> | more than | greater than | over | above | older than | higher than | larger than | "
    "after | exceeding | in excess of | mehr als | uber | alter als | grosser als | plus de | plus d' | "
    "superieur a | superieure a | au-dessus de | au-dela de | mas de | mayor de | mayores de | mayor que | "
    "superior a | "
    "por encima de | piu di | oltre | oltre i | sopra | sopra i | superiore a | meer dan | ouder dan | boven | "
    "hoger dan | mais de | mais que | acima de | powyzej | wiecej niz | ponad | starszy niz",
    Part.AT_LEAST: ">= | ≥ | => | at least | no less than | not less than | minimum | min | min. | "
    "mindestens | wenigstens | au moins | a partir de | a partire da | a partir dos | al menos | por lo menos | "
    "como minimo | "
    "almeno | minstens | ten minste | pelo menos | no minimo | co najmniej | minimalnie | des l'age de | "
    "ab dem alter von",
    Part.OR_MORE: "+ | plus | and over | or over | and above | or above | and older | or older | "
    "and more | or more | and up | and upward | and upwards | or greater | or higher | and higher | upwards | "
    "or later | and later | und mehr | oder mehr | und alter | oder alter | und daruber | und hoher | "
    "oder hoher | et plus | ou plus | et au-dela | ou plus age | et plus ages | y mas | o mas | "
    "o mayor | y mayor | y mayores | en adelante | o superior | e oltre | e piu | o piu | ed oltre | "
    "e superiore | in su | en ouder | of ouder | en meer | of meer | en hoger | of hoger | e mais | "
    "ou mais | e acima | i wiecej | lub wiecej | i powyzej | i starsi | i starszy | i starsze | wzwyz | "
    "ou + | et + | and + | y +",
    Part.OR_LESS: "and under | or under | or less | and less | or fewer | and fewer | or below | "
    "and below | or younger | and younger | or lower | or earlier | and earlier | und weniger | "
    "oder weniger | und junger | oder junger | und darunter | oder darunter | et moins | ou moins | "
    "y menos | o menos | o menor | y menores | o inferior | e meno | o meno | of minder | en minder | "
    "of jonger | en jonger | e menos | ou menos | i mniej | lub mniej | i mlodsi | i ponizej",
    Part.FILLER: "age | alter | aged | ages | the | old | alt | aus | im alter von | im alter | age de | ages de | "
    "agee de | ages d' | agees de | edad | eta | leeftijd | idade | wiek | w wieku | in the age of | of age | d'age | "
    "inclusive | inkl | inkl. | incl | incl. | einschliesslich | inclus | inclusief | exactly | "
    "only | about | approximately | approx. | ca | ca. | circa | roughly | les | los | las | le | i | gli | il | "
    "person | persons | people | child | children | personen | kind | kinder | personne | personnes | "
    "enfant | enfants | persona | personas | hijo | hijos | persone | figli | kinderen | pessoa | "
    "pessoas | filhos | osoba | osoby | osob | dziecko | dzieci | "
    "net | gross | netto | brutto | before tax | after tax | your | : | . | ; | = | *",
    Part.ANY: "any",
}
"""What each word or phrase does; phrases are apart by ' | '. A later part wins over an earlier
one for a word that both list, and the longest phrase wins over its words."""

_UNITS: dict[str, str] = {
    "year": "year years year's yr yrs y.o. yo y/o jahr jahre jahren jahrig jahrige an ans annee annees "
    "ano anos anno anni jaar jaren lat lata rok roku",
    "month": "month months mo mos monat monate monaten mois mes meses mese mesi maand maanden mois "
    "miesiac miesiace miesiecy",
    "week": "week weeks wk wks woche wochen semaine semaines semana semanas settimana settimane weken "
    "tydzien tygodnie tygodni",
    "day": "day days tag tage tagen jour jours dia dias giorno giorni dag dagen dzien dni",
    "hour": "hour hours hr hrs h std stunde stunden heure heures hora horas ora ore uur uren godzina "
    "godziny godzin",
    "minute": "minute minutes min mins minuten minuto minutos minuti minuut minuty minut",
    "%": "% percent percents per-cent prozent pourcent procent porcento",
    "£": "£ gbp pound pounds",
    "$": "$ us$ usd dollar dollars dolares ca$ a$",
    "€": "€ eur euro euros",
    "CHF": "chf sfr fr. franken francs franchi",
    "zł": "zl pln zloty zlotych",
    "kr": "kr kr. sek nok dkk",
    "¥": "¥ yen jpy",
    "₹": "₹ inr rupees rs rs.",
    "kg": "kg kilo kilos kilogram kilograms",
    "cm": "cm",
    "km": "km kilometer kilometers kilometre kilometres miles mile",
}

_YEARS_OF_AGE = (
    "years old | years of age | year old | jahre alt | anos de edad | anni di eta | anos de idade | "
    "ans d'age | jaar oud | roku zycia | ans revolus"
)

_PERIODS: dict[str, str] = {
    "hour": "per hour | an hour | hourly | /hour | pro stunde | par heure | por hora | all'ora | per uur",
    "day": "per day | a day | daily | /day | pro tag | taglich | par jour | al dia | por dia | "
    "al giorno | per dag | dziennie | a diario",
    "week": "per week | a week | weekly | /week | each week | pro woche | wochentlich | die woche | in der woche | "
    "par semaine | a la semana | por semana | semanal | semanales | alla settimana | a settimana | "
    "settimanali | per week | wekelijks | tygodniowo | na tydzien | in a week | /woche",
    "month": "per month | a month | monthly | /month | each month | pro monat | monatlich | im monat | "
    "par mois | mensuel | mensuels | al mes | por mes | mensual | mensuales | mensais | al mese | mensili | "
    "per maand | maandelijks | miesiecznie | na miesiac | /monat | /mois | /mes | /mese",
    "year": "per year | a year | yearly | annually | annual | per annum | p.a. | /year | each year | /yr | pro jahr | "
    "jahrlich | im jahr | par an | par annee | annuel | al ano | por ano | anual | anuales | anuais | all'anno | "
    "annui | "
    "per jaar | jaarlijks | rocznie | na rok | /jahr | /an",
}

_NUMERALS: tuple[str, ...] = (
    "zero null cero nul",
    "one ein eine einen einer un une uno una um uma een jeden jedna jedno",
    "two zwei deux dos due twee dois duas dwa dwie dwoje",
    "three drei trois tres tre drie trzy troje",
    "four vier quatre cuatro quattro quatro cztery czworo",
    "five funf cinq cinco cinque vijf piec",
    "six sechs seis sei zes szesc",
    "seven sieben sept siete sette zeven sete siedem",
    "eight acht huit ocho otto oito osiem",
    "nine neun neuf nueve nove negen dziewiec",
    "ten zehn dix diez dieci tien dez dziesiec",
    "eleven elf onze once undici jedenascie",
    "twelve zwolf douze doce dodici twaalf doze dwanascie",
)

_NONE = (
    "no none nil never nobody kein keine keiner keinen aucun aucune ningun ninguno ninguna nessuno "
    "nessun nessuna geen nenhum nenhuma brak zadnych zaden sin ohne"
)
NOTHING = frozenset(_NONE.split())
"""Words that stand for none; they are the number 0 only among answers that are numbers."""

_THOUSAND = "thousand k tausend tsd tsd. tys tys. mille mil mila duizend tysiecy"
_MILLION = "million millions mio mio. m mln millionen"
TIMES: dict[str, int] = dict.fromkeys(_THOUSAND.split(), 1000)
TIMES.update((word, 1_000_000) for word in _MILLION.split())
"""What a word right after a number multiplies it by."""

_DASHES = re.compile(r"[‐‑‒–—―−﹣-]")
_APOSTROPHES = re.compile("[‘’ʼ´`′]")
_UNDECOMPOSED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "…": "..."})


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(" | "))


BEYOND = _phrases(
    "older | more | over | above | higher | and older | or more | alter | mehr | daruber | hoher"
    " | plus age | plus age(e) | plus | plus eleve | davantage | mayor | mas | mas mayor | mas alto"
    " | piu anziano | piu | piu alto | oltre | ouder | meer | hoger | mais velho | mais | superior"
    " | starszy | wiecej | powyzej | wyzej"
)
"""Words that alone, among bands, mean all that lies above them."""

SHORT_OF = _phrases(
    "younger | less | fewer | under | below | lower | junger | weniger | darunter | niedriger"
    " | plus jeune | moins | menor | menos | mas joven | inferior | piu giovane | meno | jonger"
    " | minder | lager | mais novo | mais jovem | mlodszy | mniej | ponizej | nizej"
)
"""Words that alone, among bands, mean all that lies below them."""


def plain_text(text: str) -> str:
    r"""Return a text in small letters, without accents and with one kind of dash and space.

    Examples
    --------
    >>> plain_text("Älter  als 65\u202f000 – więcej")
    'alter als 65 000 - wiecej'
    """
    folded = _APOSTROPHES.sub("'", _DASHES.sub("-", text.casefold())).translate(_UNDECOMPOSED)
    bare = "".join(c for c in unicodedata.normalize("NFD", folded) if not unicodedata.combining(c))
    return " ".join(bare.replace("\ufeff", "").split())


def _vocabulary() -> dict[str, tuple[Part, str]]:
    words: dict[str, tuple[Part, str]] = {
        phrase: (part, "") for part, phrases in _PHRASES.items() for phrase in _phrases(phrases)
    }
    # The Polish 'i', and French or Italian articles, are fillers only where no number follows.
    words["i"] = words["e"] = (Part.AND, "")
    for unit, names in _UNITS.items():
        for name in names.split():
            words.setdefault(name, (Part.UNIT, unit))
    words.update((phrase, (Part.UNIT, "year")) for phrase in _phrases(_YEARS_OF_AGE))
    for period, phrases in _PERIODS.items():
        words.update((phrase, (Part.PERIOD, period)) for phrase in _phrases(phrases))
    for value, names in enumerate(_NUMERALS):
        for name in names.split():
            words.setdefault(name, (Part.NUMBER, str(value)))
    return words


VOCABULARY = _vocabulary()
"""Every word and phrase, in plain text, with its part and its unit, period or value."""
_BY_LETTER: dict[str, list[str]] = {}
for _phrase in sorted(VOCABULARY, key=len, reverse=True):
    _BY_LETTER.setdefault(_phrase[0], []).append(_phrase)


LONGEST = 300
"""No longer text is a band."""
_MOST_PARTS = 40

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,12})?(?![\d])"
    r"|\d{1,30}(?:[.,]\d{1,12})?)(?:[.,]-(?!\d))?(?P<tail>k\b|s\b|m\b(?!\w))?"
)
WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?|\S")
_LETTER, _OF_A_WORD = re.compile(r"[^\W\d]"), re.compile(r"\w")
BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_PASSED_OVER = ("\\", '"', "'")
TIME_UNITS = {"minute": 1, "hour": 60, "day": 1440, "week": 10_080}
CALENDAR_UNITS = {"month": 1, "year": 12}


class _Meaning(NamedTuple):
    """Which of the numbers, by its place, is each end of a band; None at an open end."""

    low: int | None
    high: int | None
    has_low: bool = True
    has_high: bool = True


# Of one number or another, which is a band only where the one follows the other.
_EITHER = ("n|n", "n&n")
_MEANINGS: dict[str, _Meaning] = {
    shape: meaning
    for shapes, meaning in (
        ("n-n ntn on&n on-n ontn fntn fn-n fn&n n-tn", _Meaning(0, 1)),
        ("gn&ln gnln n+&ln gntn gn-n gn&tn", _Meaning(0, 1)),
        ("nt<n n-<n n<n ont<n fnt<n gn&<n gn<n n+&<n", _Meaning(0, 1, has_high=False)),
        ("n+<n n&<n fn&<n gnt<n on<n fn<n on&<n", _Meaning(0, 1, has_high=False)),
        (">n&ln >nln >ntn >n-n >n&tn >n&n", _Meaning(0, 1, has_low=False)),
        (">n&<n >n<n >nt<n", _Meaning(0, 1, has_low=False, has_high=False)),
        ("n+ fn gn s+", _Meaning(0, None)),
        (">n >s", _Meaning(0, None, has_low=False)),
        ("<n <s", _Meaning(None, 0, has_high=False)),
        ("ln tn n_ o<n", _Meaning(None, 0)),
        ("n", _Meaning(0, 0)),
        ("n|n n&n", _Meaning(0, 1)),
        ("*", _Meaning(None, None)),
    )
    for shape in shapes.split()
}
"""The parts in order, without units and fillers, and what they mean."""


@dataclass(frozen=True, slots=True)
class _Token:
    part: Part
    text: str


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed band: its ends as numbers, which of them belong to it, and in what it counts.

    `low` or `high` is None at an open end. `unit` is a time, a currency or a measure, `period`
    the time in which it is earned or spent; both are empty where nothing is said.
    """

    low: Fraction | None
    high: Fraction | None
    has_low: bool = True
    has_high: bool = True
    unit: str = ""
    period: str = ""
    is_exact: bool = False
    decimals: int = 0


def _phrase_at(plain: str, place: int) -> str:
    """Return the longest word of the vocabulary that stands at a place; empty where none does."""
    first = plain[place]
    if first.isalpha() and place and _LETTER.match(plain, place - 1):
        return ""
    for phrase in _BY_LETTER.get(first, ()):
        if plain.startswith(phrase, place):
            # 'CHF100' is money, 'e8' is a name.
            more = _LETTER if VOCABULARY[phrase][0] is Part.UNIT else _OF_A_WORD
            if not (phrase[-1].isalpha() and more.match(plain, place + len(phrase))):
                return phrase
    return ""


def read_band(
    text: str,
    *,
    decimal: str = "",
    shared: frozenset[str] = frozenset(),
    nothing_is_zero: bool = False,
) -> Printed | None:
    """Read one band, or return None.

    Examples
    --------
    >>> band = read_band("Between £1,000 and £1,999 a week")
    >>> str(band.low), str(band.high), band.unit, band.period
    ('1000', '1999', '£', 'week')
    >>> read_band("18 bis unter 25 Jahre").has_high, read_band("Grade 4") is None
    (False, True)
    """
    if len(text) > LONGEST:
        return None
    plain = plain_text(text).strip("\"' ")
    whole = read_plain(plain, decimal, shared, nothing_is_zero=nothing_is_zero)
    if whole is None and BRACKETS.search(plain):
        outside = " ".join(BRACKETS.sub(" ", plain).split())
        whole = read_plain(outside, decimal, shared, nothing_is_zero=nothing_is_zero)
    return whole


def read_plain(
    plain: str, decimal: str, shared: frozenset[str], *, nothing_is_zero: bool
) -> Printed | None:
    """Read one band from what `plain_text` leaves of a text."""
    tokens = _tokens(plain, decimal, shared, nothing_is_zero)
    if tokens is None:
        return None
    units = {t.text for t in tokens if t.part is Part.UNIT}
    periods = {t.text for t in tokens if t.part is Part.PERIOD}
    if len(periods) > 1:
        return None
    kept = [t for t in tokens if t.part not in (Part.UNIT, Part.PERIOD, Part.FILLER)]
    shape = re.sub("&+", "&", "".join(t.part for t in kept)).replace("o&", "o").strip("&")
    meaning = _MEANINGS.get(shape)
    if meaning is None:
        return None
    own = [t for t in tokens if t.part in (Part.NUMBER, Part.DECADE, Part.UNIT)]
    numbers = _scaled([t.text for t in own if t.part is not Part.UNIT])
    if len(units) > 1:
        ends = _in_one_unit(own, numbers)
        if ends is None:
            return None
        numbers, unit = ends
    else:
        unit = next(iter(units), "")
    if shape in _EITHER and numbers[1] != numbers[0] + 1:
        return None
    return Printed(
        None if meaning.low is None else numbers[meaning.low],
        None if meaning.high is None else numbers[meaning.high],
        meaning.has_low,
        meaning.has_high,
        unit=unit,
        period=next(iter(periods), ""),
        is_exact=shape == "n",
        decimals=max((_decimals(t.text) for t in own if t.part is not Part.UNIT), default=0),
    )


def _tokens(
    plain: str, decimal: str, shared: frozenset[str], nothing_is_zero: bool
) -> list[_Token] | None:
    tokens: list[_Token] = []
    place = 0
    while place < len(plain):
        if len(tokens) > _MOST_PARTS:
            return None
        if plain[place] == " ":
            place += 1
            continue
        number = _NUMBER.match(plain, place)
        if number is not None and number["sign"] and tokens and tokens[-1].part is Part.NUMBER:
            number = None  # the sign is a dash between two numbers
        if number is not None:
            value = _value(number["digits"], decimal)
            if value is None:
                return None
            sign = "-" if number["sign"] == "-" else ""
            tail = number["tail"] or ""
            part = Part.DECADE if tail == "s" else Part.NUMBER
            text = f"{sign}{value}"
            place = number.end()
            after = WORD.match(plain, place + 1) if plain[place : place + 1] == " " else None
            times = TIMES.get(tail)
            if after is not None and after.group() in TIMES and after.group() not in ("m", "k"):
                times = TIMES[after.group()]
                place = after.end()
            if times is not None:
                text += f"e{len(str(times)) - 1}"
            tokens.append(_Token(part, text))
            continue
        phrase = _phrase_at(plain, place)
        if phrase:
            tokens.append(_Token(*VOCABULARY[phrase]))
            place += len(phrase)
            continue
        word = WORD.match(plain, place)
        assert word is not None
        if plain[word.end() : word.end() + 1].isdigit() and word.group()[0].isalpha():
            return None  # 'E8' is a name
        if stem(word.group()) in shared:
            if _is_plain_tail(plain, place, shared):
                break
            place = word.end()
            continue
        place = word.end()
        if nothing_is_zero and word.group() in NOTHING:
            tokens.append(_Token(Part.NUMBER, "0"))
            continue
        if word.group() in _PASSED_OVER:
            continue
        return None
    return tokens


def _is_plain_tail(plain: str, place: int, shared: frozenset[str]) -> bool:
    """Tell whether only shared words follow, none of which says how far a band reaches.

    In '3 cars or vans in household' the 'or' is not one between numbers.
    """
    if any(stem(word.group()) not in shared for word in WORD.finditer(plain, place)):
        return False
    telling = (Part.UNIT, Part.PERIOD, Part.OR_MORE, Part.OR_LESS)
    while place < len(plain):
        phrase = _phrase_at(plain, place)
        if phrase and VOCABULARY[phrase][0] in telling:
            return False
        place += len(phrase) or 1
    return True


def _value(digits: str, decimal: str) -> str | None:
    """Return the digits with a point before decimals and nothing between thousands."""
    signs = [c for c in digits if c in ".,' "]
    if not signs:
        return digits
    last, tail = signs[-1], len(digits) - digits.rindex(signs[-1]) - 1
    grouped = tail == 3 and not digits.startswith("0") and decimal != last
    if last in "' " or (grouped and (len(set(signs)) == 1 or signs.count(last) > 1)):
        if len(set(signs)) > 1:
            return None
        return "".join(c for c in digits if c.isdigit())
    if signs.count(last) > 1 or last in "' ":
        return None
    whole, _, part = digits.rpartition(last)
    return f"{''.join(c for c in whole if c.isdigit())}.{part}"


def _decimals(text: str) -> int:
    digits, _, exponent = text.partition("e")
    return max(0, len(digits.partition(".")[2]) - int(exponent or 0))


def _scaled(texts: Sequence[str]) -> list[Fraction]:
    """Return numbers; in '10-20k' both are thousands."""
    if len(texts) == 2 and "e" in texts[1] and "e" not in texts[0]:
        low, high = Fraction(texts[0]), Fraction(texts[1].split("e")[0])
        if low < high:
            return [Fraction(f"{texts[0]}e{texts[1].split('e')[1]}"), Fraction(texts[1])]
    return [Fraction(text) for text in texts]


def _in_one_unit(
    tokens: Sequence[_Token], numbers: Sequence[Fraction]
) -> tuple[list[Fraction], str] | None:
    """Bring '1 hour and 3 days' or '6 months to 2 years' to the larger unit; else None."""
    of_numbers: list[str] = []
    unit = ""
    for token in reversed(tokens):
        if token.part is Part.UNIT:
            unit = token.text
        else:
            of_numbers.append(unit)
    of_numbers.reverse()
    for sizes in (TIME_UNITS, CALENDAR_UNITS):
        if of_numbers and all(name in sizes for name in of_numbers):
            largest = max(of_numbers, key=lambda name: sizes[name])
            scaled = [
                number * Fraction(sizes[name], sizes[largest])
                for number, name in zip(numbers, of_numbers, strict=True)
            ]
            return scaled, largest
    return None


def stem(word: str) -> str:
    """Return a word without the ending of a plural, as far as that can be told."""
    for ending in ("en", "es", "s", "n", "e"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)] + "~"
    return word + "~"
