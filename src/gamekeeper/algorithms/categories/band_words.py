"""The words and signs in which bands of numbers are printed, in eight languages.

English, German, French, Spanish, Italian, Dutch, Portuguese and Polish, written in small letters
without accents, as `plain_text` leaves them. A word that several languages share has one meaning
here, or one that its place decides: 'a' and 'do' lie between two numbers, or before one.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum


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
