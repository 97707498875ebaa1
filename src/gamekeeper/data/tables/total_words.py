"""Labels that read like a sum: 'Total', 'All ages', 'insgesamt', 'Both sexes', '_T'.

Words of statistical offices in their languages, and the codes of their exchange formats. A word is
a reason to ask, never to conclude: 'Both' beside 'Car' and 'Bike' is a category like any other.
"""

from __future__ import annotations

import re

_ALONE = frozenset(
    """
    t tot ttl all sum both overall everyone everybody persons people whole combined together hm
    alle allen alles zusammen summe gesamtheit beide samen
    tous toutes tout somme deux
    todos todas ambos ambas suma conjunto tutti tutte somma insieme ambosessi
    alla samtliga båda summa ialt alt begge kaikki
    wszystkie wszyscy suma viso kopā iomlán
    """.split()  # noqa: SIM905 - a list of words reads best as words
)
_PHRASES = frozenset(
    (
        "i alt", "iš viso", "both sexes", "both genders", "male and female", "men and women",
        "males and females", "both kinds", "begge kjønn", "båda könen", "beide geschlechter",
        "beide geslachten", "les deux sexes", "deux sexes", "ambos sexos", "ambele sexe",
        "hommes et femmes", "männer und frauen", "mannen en vrouwen", "maschi e femmine",
        "w sumie", "in total", "en total", "au total", "in totale", "in totaal",
    )
)  # fmt: skip
_ANYWHERE = frozenset(
    """
    total totals subtotal subtotals subtot totaal totale totali totaux totales totais totalt totala
    gesamt insgesamt gesamtsumme zwischensumme ensemble
    ogółem razem łącznie celkem úhrnem spolu összesen yhteensä kokku pavisam
    ukupno skupaj toplam σύνολο συνολο всего итого общо вкупно укупно разом усього
    """.split()  # noqa: SIM905 - a list of words reads best as words
)
_ALL_OF = re.compile(
    r"all (?!times?\b)(?:\w+ )?(?:\w{2,}s|people|men|women|children)(?: .*)?"
    r"|alle \w{4,}|tous(?: les)? \w{3,}|toutes(?: les)? \w{3,}|todos los \w+|todas las \w+"
    r"|tutti i \w+|tutte le \w+"
)
_REST = frozenset(
    """
    other others else rest remaining andere anderen anderer sonstige sonstigen übrige übrigen overige
    autres autre demás otros otras altri altre
    """.split()  # noqa: SIM905 - a list of words reads best as words
)


def is_sum_of_all(label: str) -> bool:
    """Whether a label reads like the sum over all other labels of its axis.

    Examples
    --------
    >>> [is_sum_of_all(label) for label in ("TOTAL", "All ages", "_T", "All others", "North")]
    [True, True, True, False, False]
    """
    words = _words(label)
    plain = " ".join(words)
    if plain in _PHRASES or (len(words) == 1 and (words[0] in _ALONE or words[0] in _ANYWHERE)):
        return True
    if plain in ("grand total", "sum total", "overall total", "total general", "total général"):
        return True
    return bool(_ALL_OF.fullmatch(plain)) and not _REST & set(words)


def is_sum_of_some(label: str) -> bool:
    """Whether a label reads like a sum, be it over all or over some other labels.

    Examples
    --------
    >>> [is_sum_of_some(label) for label in ("Total_EAST", "North, total", "Totally agree")]
    [True, True, False]
    """
    return is_sum_of_all(label) or bool(_ANYWHERE & set(_words(label)))


def _words(label: str) -> list[str]:
    return re.findall(r"[^\W_]+", label.casefold().replace("sub-total", "subtotal"))
