"""Labels as offices write them: which hold each other, and which merely begin alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.data.tables.nested_labels import (
    begins_alike,
    nested_bands,
    nested_codes,
    nested_ranges,
)

CODES = {
    "chapters and codes": ("A A01 A02 B", {"A": "A01 A02"}),
    "one part is enough": ("A A01 B", {"A": "A01"}),
    "ICD": ("A41 A41.0 A41.9", {"A41": "A41.0 A41.9"}),
    "ICD with one part": ("A41 A41.9", {"A41": "A41.9"}),
    "NUTS": ("DE DE1 DE11 DE12 DE2 DE21", {"DE": "DE1 DE2", "DE1": "DE11 DE12"}),
    "NUTS with letters": ("FR FRB FRC FRK", {"FR": "FRB FRC FRK"}),
    "NUTS of two levels": ("FR21 FR22 FR211 FR212 FR221 FR222",
                           {"FR21": "FR211 FR212", "FR22": "FR221 FR222"}),
    "NACE": ("10 10.1 10.11 10.12 10.2", {"10": "10.1 10.2", "10.1": "10.11 10.12"}),
    "leading zeros": ("01 01001 01003 02 02013", {"01": "01001 01003"}),
    "letters after a letter": ("A B Ba Bb Bc C", {"B": "Ba Bb Bc"}),
    "letters after a number": ("1 1a 1b 2", {"1": "1a 1b"}),
    "underscores": ("CH CH_PAR CH_CPL", {"CH": "CH_PAR CH_CPL"}),
    "countries": ("GB GB-ENG GB-SCT", {"GB": "GB-ENG GB-SCT"}),
    "quarters": ("2019 2019Q1 2019Q2", {"2019": "2019Q1 2019Q2"}),
    "months": ("2019 2019-01 2019-02", {"2019": "2019-01 2019-02"}),
    "occupations": ("1 11 12 13 2 21 22 3 31", {"1": "11 12 13", "2": "21 22"}),
    "occupations of three levels": (
        "1 11 111 112 12 121 2 21 211 212", {"1": "11 12", "11": "111 112", "21": "211 212"}
    ),
    "paragraphs": ("1.1 1.1.1 1.1.2", {"1.1": "1.1.1 1.1.2"}),
}  # fmt: skip
PHRASES = {
    "colons": ["White", "White: British", "White: Irish"],
    "brackets": ["Employed", "Employed (full-time)", "Employed (part-time)"],
    "commas": ["Employed", "Employed, full-time", "Employed, part-time"],
    "dashes": ["Born in UK", "Born in UK - England", "Born in UK - Wales"],
}
APART = {
    "numbers": [str(number) for number in range(1, 31)],
    "some numbers": ["1", "2", "10", "15", "100"],
    "numbers by tens": ["1", "2", "3", "10", "11", "12", "20", "30"],
    "ages that are there": ["1", "2", "3", "13", "14", "17", "21", "23", "30", "35"],
    "coins": ["1", "2", "5", "10", "20", "50", "100", "200"],
    "numbers with decimals": ["1.0", "2.0", "10.0", "100.0"],
    "half rooms": ["1", "1.5", "2", "2.5"],
    "numbered regions": [f"R{number}" for number in range(1, 13)],
    "numbered wards": ["Ward 1", "Ward 2", "Ward 10", "Ward 11"],
    "numbered classes": ["tr1", "tr2", "tr3", "tr10"],
    "padded numbers": [f"{number:03}" for number in range(101)],
    "ages and a last one": [f"{number:02}" for number in range(100)] + ["100"],
    "versions": ["1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11"],
    "bands": ["0-4", "5-9", "10-14", "15-24", "25-64", "65+"],
    "bands in words": ["under 16", "16 to 24", "25 to 64", "65 and over"],
    "money": ["under £10,000", "£10,000 to £19,999", "£20,000 and over"],
    "sloppy bands": ["0-10", "10-20", "20-30", "30+"],
    "a number and more": ["1", "2", "3", "4", "4+"],
    "directions": ["N", "NE", "E", "SE", "S", "SW", "W", "NW"],
    "directions in words": ["North", "North East", "North West", "South", "South East"],
    "Roman numbers": ["I", "II", "III", "IV", "V", "VI"],
    "blood groups": ["A", "B", "AB", "O"],
    "ratings": ["A", "AA", "AAA", "B", "BB", "BBB"],
    "grades": ["A", "A+", "A-", "B", "B+"],
    "answers": ["Yes", "No", "None", "Not stated"],
    "transport": ["Car", "Car and bike", "Bike"],
    "work": ["Man", "Manager", "Management"],
    "sizes": ["S", "M", "L", "XL", "XXL"],
    "years": ["2019", "2020", "2021"],
    "countries": ["Niger", "Nigeria", "Guinea", "Guinea-Bissau", "Dominica", "Dominican Republic"],
    "an illness": ["COVID", "COVID-19", "flu"],
    "a sign": ["<38", ">38"],
}


def named(nested, labels):
    return {labels[whole]: [labels[part] for part in parts] for whole, parts in nested.items()}


@pytest.mark.parametrize("case", CODES)
def test_codes_of_several_levels(case):
    text, wanted = CODES[case]
    labels = text.split()
    found = named(nested_codes(labels), labels)
    assert found == {whole: parts.split() for whole, parts in wanted.items()}


@pytest.mark.parametrize("case", PHRASES)
def test_phrases_that_go_on(case):
    labels = PHRASES[case]
    assert named(nested_codes(labels), labels) == {labels[0]: labels[1:]}


@pytest.mark.parametrize("case", APART)
def test_what_merely_begins_alike(case):
    labels = APART[case]
    assert nested_codes(labels) == {}
    assert nested_ranges(labels) == {}
    assert nested_bands(labels) == {}


def test_ranges_of_codes():
    labels = ["A00-A09", "A00", "A01", "A09", "A10", "B-E", "B", "C", "D", "E", "F"]
    labels += ["C10-C12", "C10", "C11", "ED5-8", "ED5", "ED6", "X-Y"]
    assert named(nested_ranges(labels), labels) == {
        "A00-A09": ["A00", "A01", "A09"],
        "B-E": ["B", "C", "D", "E"],
        "C10-C12": ["C10", "C11"],
        "ED5-8": ["ED5", "ED6"],
    }


def test_a_letter_with_a_number_behind_a_dot_is_a_code():
    # 'A' is a word for 'up to' in some languages.
    assert nested_codes(["A", "A.1", "B"]) == {0: (1,)}
    assert nested_codes(["E", "E.1", "E.2"]) == {0: (1, 2)}
    assert nested_bands(["A.1", "A.2", "B.1"]) == {}


def test_bands_that_hold_bands():
    labels = ["0-14", "0-4", "5-9", "10-14", "15+", "65+"]
    assert named(nested_bands(labels), labels) == {"0-14": ["0-4", "5-9", "10-14"], "15+": ["65+"]}
    labels = ["Y_LT15", "Y0-4", "Y5-14", "Y15-64", "Y_GE65", "Y65-74"]
    assert named(nested_bands(labels), labels) == {
        "Y_LT15": ["Y0-4", "Y5-14"], "Y_GE65": ["Y65-74"],
    }  # fmt: skip
    labels = ["1", "2", "3", "1-3", "4+"]
    assert named(nested_bands(labels), labels) == {"1-3": ["1", "2", "3"]}
    labels = ["0-99", "0-14", "0-4", "15-99"]
    assert named(nested_bands(labels), labels) == {"0-99": ["0-14", "15-99"], "0-14": ["0-4"]}


def test_for_counts_to_decide():
    labels = ["1", "11", "12", "111", "North", "North East"]
    assert named(begins_alike(labels), labels) == {
        "1": ["11", "12"], "11": ["111"], "North": ["North East"],
    }  # fmt: skip


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30, unique=True))
def test_plain_numbers_never_hold_each_other(numbers):
    # The last one fits no level, so that they are no codes such as 1, 11, 12, 2, 21 and 22.
    labels = [str(number) for number in (*numbers, 9_999_999)]
    assert nested_codes(labels) == {}
    assert nested_bands(labels) == {}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.booleans())
def test_bands_side_by_side_never_hold_each_other(widths, is_open):
    labels, low = [], 0
    for width in widths:
        labels.append(f"{low}-{low + width}")
        low += width + 1
    labels += [f"{low}+"] if is_open else []
    assert nested_bands(labels) == {}
    assert nested_codes(labels) == {}


@given(
    st.lists(st.text("ABCDEFGH", min_size=1, max_size=3), min_size=1, max_size=5, unique=True),
    st.integers(2, 9),
    st.booleans(),
)
def test_letters_with_numbered_parts_always_hold_them(stems, n_parts, padded):
    labels = list(stems)
    labels += [f"{stem}{part:02}" if padded else f"{stem}{part}" for stem in stems
               for part in range(1, n_parts + 1)]  # fmt: skip
    found = nested_codes(labels)
    for place, stem in enumerate(stems):
        own = {labels.index(label) for label in labels if label.rstrip("0123456789") == stem}
        assert set(found[place]) >= own - {place}


@given(st.lists(st.text(max_size=8), max_size=12, unique=True))
def test_any_text_can_be_a_label(labels):
    for nested in (nested_codes, nested_ranges, nested_bands, begins_alike):
        for whole, parts in nested(labels).items():
            assert whole not in parts
            assert parts
