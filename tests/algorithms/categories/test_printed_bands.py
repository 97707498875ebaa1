from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.band_words import VOCABULARY
from gamekeeper.algorithms.categories.printed_band import read_band
from gamekeeper.algorithms.categories.printed_bands import read_bands

INF = math.inf


def ends(answers):
    return {
        text: tuple(end if isinstance(end, float) else float(end) for end in pair)
        for text, pair in read_bands(answers).ends.items()
    }


def alone(text):
    return next(iter(ends([text]).values()), None)


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        # English
        ("Between 18 and 24 years old", 18, 25),
        ("Less than $15,000", -INF, 15_000),
        ("$15,000 - $19,999", 15_000, 20_000),
        ("$100,000 and above", 100_000, INF),
        ("£1,000 to £1,999 per week", 1_000, 2_000),
        ("at most 5", -INF, 6),
        ("Aged 4 years and under", -INF, 5),
        ("20 years old or younger", -INF, 21),
        ("Age 65 or older", 65, INF),
        ("5 years or more, but less than 10 years", 5, 10),
        ("10km to less than 30km", 10, 30),
        ("≥ £43,325 and < £58,172", 43_325, 58_172),
        ("more than 10 up to 20", 11, 21),
        ("16 or 17", 16, 18),
        ("under 16s", -INF, 16),
        ("10-20k", 10_000, 20_001),
        ("$1.5 million or more", 1_500_000, INF),
        ("two", 2, 3),
        # German
        ("unter 18 Jahren", -INF, 18),
        ("18 bis 24 Jahre", 18, 25),
        ("18 bis unter 25 Jahre", 18, 25),
        ("65 Jahre und älter", 65, INF),
        ("über 65", 66, INF),
        ("mehr als 3.000 Euro netto im Monat", 3_001, INF),
        ("von 1.000 € bis 1.999 €", 1_000, 2_000),
        ("höchstens 5", -INF, 6),
        ("ab 65", 65, INF),
        # French
        ("moins de 18 ans", -INF, 18),
        ("de 18 à 24 ans", 18, 25),
        ("entre 1 000 et 1 499 euros par mois", 1_000, 1_500),
        ("65 ans et plus", 65, INF),
        ("plus de 64 ans", 65, INF),
        ("jusqu'à 17 ans", -INF, 18),
        # Spanish
        ("menos de 18 años", -INF, 18),
        ("entre 18 y 24 años", 18, 25),
        ("de 18 a 24 años", 18, 25),
        ("65 años o más", 65, INF),
        ("más de 1.000 €", 1_001, INF),
        ("hasta 17 años", -INF, 18),
        # Italian
        ("meno di 18 anni", -INF, 18),
        ("tra i 18 e i 24 anni", 18, 25),
        ("da 18 a 24 anni", 18, 25),
        ("65 anni e oltre", 65, INF),
        ("oltre 64 anni", 65, INF),
        ("fino a 17 anni", -INF, 18),
        # Dutch
        ("jonger dan 18", -INF, 18),
        ("18 t/m 24 jaar", 18, 25),
        ("van 18 tot en met 24 jaar", 18, 25),
        ("65 jaar en ouder", 65, INF),
        ("meer dan 64", 65, INF),
        ("maximaal 5", -INF, 6),
        # Portuguese
        ("menos de 18 anos", -INF, 18),
        ("entre 18 e 24 anos", 18, 25),
        ("até 17 anos", -INF, 18),
        ("65 anos ou mais", 65, INF),
        ("mais de 64 anos", 65, INF),
        # Polish
        ("poniżej 18 lat", -INF, 18),
        ("od 18 do 24 lat", 18, 25),
        ("między 18 a 24", 18, 25),
        ("65 lat i więcej", 65, INF),
        ("powyżej 64 lat", 65, INF),
        ("do 17 lat", -INF, 18),
        ("2 tys. zł lub więcej", 2_000, INF),
        # Swiss thousands, decimals
        ("CHF 1'000–1'999", 1_000, 2_000),
        ("1,5 bis unter 2,5", 1.5, 2.5),
    ],
)
def test_bands_are_read_as_printed(written, low, high):
    assert alone(written) == (low, high)


@pytest.mark.parametrize(
    "written",
    ["Grade 4", "Round 1", "1990s", "16-24-30", "1 - Not at all", "A1", "None of these", "30s",
     "1,2,3,4", "2031-05-06", "Type 2 diabetes", "x" * 500, "9" * 200, "- - - 5 -"],
)  # fmt: skip
def test_what_is_no_band_is_not_read(written):
    assert alone(written) is None


def test_units_and_periods_are_said():
    weekly = read_bands(["less than £100 a week", "£100 to £199 a week", "£200 a week or more"])
    assert (weekly.unit, weekly.period, weekly.unread) == ("£", "week", ())
    assert weekly.ends["£200 a week or more"] == (200, INF)
    other = read_bands(["under £100 a week", "£100 to £199 a week", "£200 a year or more"])
    assert other.unread == ("£200 a year or more",)


def test_months_among_years_are_brought_to_years():
    read = read_bands(["under 6 months", "6 to 11 months", "1 to 4 years", "5 years and over"])
    assert list(read.ends.values()) == [
        (-INF, Fraction(1, 2)),
        (Fraction(1, 2), 1),
        (1, 5),
        (5, INF),
    ]
    assert (read.unit, read.is_whole) == ("year", False)
    only = read_bands(["0-5 months", "6-11 months", "12 months or more"])
    assert (only.unit, only.ends["6-11 months"]) == ("month", (6, 12))


def test_shared_ends_belong_to_the_upper_band_and_missing_ones_to_the_open_one():
    touching = ends(["up to 10", "10-20", "20-30", "over 30"])
    assert list(touching.values()) == [(-INF, 10), (10, 20), (20, 31), (31, INF)]
    read = read_bands(["Less than 27.499 EUR", "27.500 to 32.999 EUR", "More than 33.000 EUR"])
    assert list(read.ends.values()) == [(-INF, 27_500), (27_500, 33_000), (33_000, INF)]
    assert len(read.notes) == 2
    assert ends(["55-64", "over 65"])["over 65"] == (65, INF)


def test_decimals_reach_the_next_decimal():
    read = read_bands(["under 18.5", "18.5-24.9", "25-29.9", "30 or more"])
    assert list(read.ends.values()) == [
        (-INF, Fraction("18.5")),
        (Fraction("18.5"), 25),
        (25, 30),
        (30, INF),
    ]
    assert read.step == Fraction(1, 10)


@pytest.mark.parametrize(
    ("answers", "value"),
    [(["1.000", "2.500"], 1000), (["1.000", "2.5"], 1), (["1,000", "2,5"], 1), (["0.125", "1.000"], 1)],
)  # fmt: skip
def test_a_sign_before_three_digits_is_of_thousands_unless_others_show_decimals(answers, value):
    low = {text: pair[0] for text, pair in read_bands(answers).ends.items()}
    assert low["1.000" if "1.000" in answers else "1,000"] == value


def test_one_answer_that_is_no_band_leaves_the_rest_alone_and_is_named():
    read = read_bands(["16-24", "25-64", "65+", "Prefer not to say", "Student"])
    assert len(read.ends) == 3
    assert read.unread == ("Prefer not to say", "Student")


def test_words_that_the_answers_share_are_passed_over():
    assert ends(
        ["45 000 RWF and below", "45 001 RWF - 100 000 RWF", "Above 100 000 RWF"]
    ) == {
        "45 000 RWF and below": (-INF, 45_001),
        "45 001 RWF - 100 000 RWF": (45_001, 100_001),
        "Above 100 000 RWF": (100_001, INF),
    }  # fmt: skip
    cars = ["No cars or vans in household", "1 car or van in household"]
    cars += ["2 cars or vans in household", "3 or more cars or vans in household"]
    assert list(ends(cars).values()) == [(0, 1), (1, 2), (2, 3), (3, INF)]
    assert ends(["Round 1", "Round 2", "Round 3"]) == {}
    levels = ["Mild (< 25 spots)", "Moderate (25-99 spots)", "Severe (> 99 spots)"]
    assert list(ends(levels).values()) == [(-INF, 25), (25, 100), (100, INF)]
    assert ends(["Adult man (16 or over)", "Adult woman (16 or over)", "Child (under 16)"]) == {}
    assert ends(["N/A (less than 15 years old)", "1", "2"]) == {"1": (1, 2), "2": (2, 3)}
    assert list(ends(["Part-time: 30 hours or less", "Full-time: 31 hours or more"]).values()) == [
        (-INF, 31),
        (31, INF),
    ]
    assert ends(["E1-E7", "E8", "E9"]) == {}
    assert ends(["<2 L/min", "2-5 L/min", ">5 L/min"])["2-5 L/min"] == (2, 6)
    assert read_bands(["2-4 times a month", "2-3 times a week", "4-6 times a week"]).unread == (
        "2-4 times a month",
    )
    assert ends(["None", "1", "2", "3 or more"])["None"] == (0, 1)


def test_ranges_from_high_to_low_are_turned_where_several_are():
    assert ends(["99-75 percent", "74-50 percent"])["74-50 percent"] == (50, 75)
    assert ends(["24-16", "25-30"]) == {"25-30": (25, 31)}


SIGNS = ["", ",", ".", " ", "'"]


def grouped(number, sign):
    return f"{number:,}".replace(",", sign)


@given(
    st.integers(0, 9_999_999),
    st.integers(1, 9_999_999),
    st.sampled_from(SIGNS),
    st.sampled_from(["{} - {}", "{} to {}", "between {} and {}", "von {} bis {}", "od {} do {}"]),
    st.sampled_from(["{}", "£{}", "{} €", "CHF {}"]),
)
def test_any_thousands_in_any_range_are_read(low, width, sign, words, money):
    high = low + width
    text = words.format(money.format(grouped(low, sign)), money.format(grouped(high, sign)))
    assert alone(text) == (low, high + 1)


@given(st.lists(st.integers(0, 120), min_size=2, max_size=8, unique=True))
def test_answers_made_of_cut_points_come_back_as_the_intervals_between(cuts):
    cuts = sorted(cuts)
    answers = [f"under {cuts[0]}"]
    answers += [
        f"{low}" if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(cuts)
    ]
    answers.append(f"{cuts[-1]} and over")
    expected = [(-INF, cuts[0]), *pairwise(cuts), (cuts[-1], INF)]
    assert list(ends(answers).values()) == expected


_PIECES = [*VOCABULARY, "16", "24", "1,000", "1.5", "k", "e8", "cars", "(", "]"]


@given(st.text(max_size=60) | st.lists(st.sampled_from(_PIECES), max_size=7).map(" ".join))
@example("any months or euro")
def test_any_text_is_a_band_or_is_not(text):
    band = read_band(text)
    assert band is None or band.low is None or band.high is None or band.low.denominator > 0


@pytest.mark.parametrize(
    ("texts", "beyond", "ends"),
    [
        (["18-29 Jahre", "30-64 Jahre", "Älter"], "Älter", (65, math.inf)),
        (["Younger", "18 to 29", "30 to 64"], "Younger", (-math.inf, 18)),
        (["18 a 29 años", "30 a 64 años", "Mayor"], "Mayor", (65, math.inf)),
    ],
)
def test_a_word_alone_is_what_lies_beyond_the_bands(texts, beyond, ends):
    assert read_bands(texts).ends[beyond] == ends


@pytest.mark.parametrize(
    "texts",
    [
        ["18-29", "30 or more", "Older"],  # nothing lies above
        ["18-29", "30-39", "Older", "More"],  # which of the two
        ["18-29", "Older"],  # one band is no scale
        ["Older", "Younger"],
    ],
)
def test_a_word_alone_is_no_band_where_it_can_mean_nothing(texts):
    assert "Older" in read_bands(texts).unread
