from __future__ import annotations

import pytest

from gamekeeper.data.tables.total_words import is_sum_of_all, is_sum_of_some

ALL = """
Total|TOTAL|total|Totals|All|ALL|Sum|Overall|T|_T|TOT|Tot|Grand total|Both sexes|Both|Persons|All ages
All persons|All people|All usual residents|All causes of death|All ages (0-99)|Everyone|Sub-total
Gesamt|insgesamt|Insgesamt|Summe|Zusammen|Alle Altersgruppen|Männer und Frauen|Ensemble|Tous les âges
Totaal|Alle leeftijden|Totale|Todas las edades|Ambos sexos|Ogółem|Razem|Celkem|Összesen|Yhteensä
I alt|Totalt|Samtliga|Kokku|Ukupno|Skupaj|Toplam|Σύνολο|Всего|Итого|Iš viso
"""
SOME = "Total_EAST|Total, North|North - total|Women, total|Subtotal men|Zwischensumme West|EU total"
NONE = """
All others|All other causes|All day|All the time|All year round|Both parents|Alle anderen|Tous les autres
Totally agree|Gesamtschule|Small|Tall|Allotment|North|Assumed|Other|Not stated|A|TX|Tom|Summer
Todos los demás|Personal|Ballet|1|10|65+|t1|None|Every day
"""


def labels(text):
    return [label for line in text.strip().splitlines() for label in line.split("|")]


@pytest.mark.parametrize("label", labels(ALL))
def test_a_sum_of_all(label):
    assert is_sum_of_all(label)
    assert is_sum_of_some(label)
    assert is_sum_of_all(f" {label.upper()} ")


@pytest.mark.parametrize("label", labels(SOME))
def test_a_sum_of_some(label):
    assert not is_sum_of_all(label)
    assert is_sum_of_some(label)


@pytest.mark.parametrize("label", labels(NONE))
def test_no_sum(label):
    assert not is_sum_of_some(label)
