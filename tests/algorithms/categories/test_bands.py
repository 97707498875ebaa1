from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import (
    Band,
    BandGraph,
    BandStyle,
    check_bands,
    parse_band,
    read_bands,
)
from gamekeeper.algorithms.categories.printed_band import VOCABULARY, read_band
from gamekeeper.errors import InputError, Reason
from tests.given.categorizations import cut_points

HALF_OPEN, INCLUSIVE = BandStyle.HALF_OPEN, BandStyle.INCLUSIVE
INF = math.inf


@st.composite
def bands_within(draw, low=0, high=40):
    start = draw(st.integers(low, high - 1))
    return Band(start, draw(st.integers(start + 1, high) | st.just(INF)))


def between(cuts):
    """Return the half-open intervals between neighbouring cut points, written."""
    return [f"{low}-{high}" for low, high in pairwise(cuts)]


@given(st.lists(bands_within(), max_size=8))
def test_sinks_are_the_intervals_between_all_cut_points(bands):
    grown = BandGraph(["0-inf"], HALF_OPEN)
    for band in bands:
        grown.add(band.name(HALF_OPEN))
    cuts = sorted({0, INF, *(b.low for b in bands), *(b.high for b in bands)})
    graph = grown.graph
    assert list(graph.sinks) == between(cuts)
    for band in bands:
        inside = [cut for cut in cuts if band.low <= cut <= band.high]
        assert list(graph.sinks_of(band.name(HALF_OPEN))) == between(inside)
    assert graph.sinks_of("0-inf") == graph.sinks
    assert set(grown.bands) == set(graph.categories)


@given(cut_points(), st.lists(bands_within(), max_size=6))
def test_the_start_may_be_any_categorization(cuts, bands):
    first = between([0, *cuts, INF])
    grown = BandGraph(first, HALF_OPEN)
    for band in bands:
        grown.add(band.name(HALF_OPEN))
    all_cuts = sorted({0, INF, *cuts, *(x for b in bands for x in (b.low, b.high))})
    assert list(grown.graph.sinks) == between(all_cuts)
    assert all(category in grown.graph for category in first)


@given(st.lists(bands_within(), max_size=8), st.randoms(use_true_random=False))
def test_a_graph_of_bands_does_not_depend_on_their_order(bands, random):
    space = Band(0, INF)
    shuffled = [*bands, *bands[:2]]
    random.shuffle(shuffled)

    def graph(some):
        return BandGraph.of([band.name(HALF_OPEN) for band in some], HALF_OPEN, space).graph

    assert graph(shuffled) == graph(bands)


@given(st.lists(bands_within(), min_size=1, max_size=6))
def test_adding_a_band_again_changes_nothing(bands):
    grown = BandGraph(["0-inf"], HALF_OPEN)
    for band in bands:
        grown.add(band.name(HALF_OPEN))
    before = grown.graph
    for category in before.categories:
        grown.add(category)
    assert grown.graph == before


def test_age_in_figure_6():
    grown = BandGraph(["0-18", "18-inf"], HALF_OPEN)
    for category in ("0-16", "16-21", "21-inf"):
        grown.add(category)
    assert grown.graph.edges == (
        ("0-18", "0-16"),
        ("0-18", "16-18"),
        ("16-21", "16-18"),
        ("16-21", "18-21"),
        ("18-inf", "18-21"),
        ("18-inf", "21-inf"),
    )


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        ("16-24", 16, 25),
        ("16–24", 16, 25),
        ("16 - 24", 16, 25),
        ("25 to 34", 25, 35),
        ("25 up to 34", 25, 35),
        ("Aged 25 to 34 years", 25, 35),
        ("65+", 65, INF),
        ("65 and over", 65, INF),
        ("65 or more", 65, INF),
        ("at least 65", 65, INF),
        (">= 65", 65, INF),
        ("65-inf", 65, INF),
        ("over 64", 65, INF),
        (">64", 65, INF),
        ("under 16", -INF, 16),
        ("<16", -INF, 16),
        ("less than 16", -INF, 16),
        ("up to 15", -INF, 16),
        ("15 or less", -INF, 16),
        ("≤15", -INF, 16),
        ("16", 16, 17),
        ("16-16", 16, 17),
        ("-5 to 5", -5, 6),
        ("£1,000 - £1,999", 1000, 2000),
        ("any", -INF, INF),
    ],
)
def test_inclusive_bands_are_read_as_forms_print_them(written, low, high):
    assert parse_band(written, INCLUSIVE) == Band(low, high)


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        ("16-25", 16, 25),
        ("16 to 25", 16, 25),
        ("65-inf", 65, INF),
        ("65+", 65, INF),
        ("<16", -INF, 16),
        ("0.5-1.5", Fraction(1, 2), Fraction(3, 2)),
        ("-5--2", -5, -2),
    ],
)
def test_half_open_bands_leave_their_upper_bound_out(written, low, high):
    assert parse_band(written, HALF_OPEN) == Band(low, high)


@pytest.mark.parametrize(
    "written", ["", "teenagers", "24-16", "16-", "16.5-17", "-", "1e5", "9" * 5000, "16-24-30"]
)
def test_what_is_no_inclusive_band_is_refused(written):
    with pytest.raises(InputError) as caught:
        parse_band(written, INCLUSIVE)
    assert caught.value.reason is Reason.BAD_BAND
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("written", ["16", "16-16", "25-16", ">64", "up to 15"])
def test_half_open_bands_without_a_clear_bound_are_refused(written):
    with pytest.raises(InputError) as caught:
        parse_band(written, HALF_OPEN)
    assert caught.value.reason is Reason.BAD_BAND
    assert "half-open" in str(caught.value)


@given(
    st.integers(-50, 50) | st.just(-INF),
    st.integers(51, 90) | st.just(INF),
    st.sampled_from(list(BandStyle)),
)
def test_the_name_of_a_band_reads_as_the_band(low, high, style):
    band = Band(low, high)
    assert parse_band(band.name(style), style) == band


@given(st.decimals(0, 9, places=3), st.decimals(10, 90, places=2))
def test_the_name_of_a_band_of_decimals_reads_as_the_band(low, high):
    band = Band(Fraction(low), Fraction(high))
    assert parse_band(band.name(HALF_OPEN), HALF_OPEN) == band


@given(bands_within(), bands_within())
def test_overlap_and_remainder_make_up_the_band(a, b):
    points = range(42)

    def members(bands):
        return {p for p in points for band in bands if band.low <= p < band.high}

    shared = a.overlap(b)
    assert members([shared] if shared else []) == members([a]) & members([b])
    if shared:
        assert members(a.without(b)) == members([a]) - members([b])
    assert a.holds(b) == (members([b]) <= members([a]))


@given(st.dictionaries(st.sampled_from("abcdef"), bands_within(0, 12), min_size=1))
def test_gaps_and_overlaps_are_found_as_point_by_point(bands):
    # With bounds up to 12, the point 13 stands for everything above.
    held = [sum(band.low <= p < band.high for band in bands.values()) for p in range(14)]
    reasons = {problem.reason for problem in check_bands(bands)}
    assert (Reason.BANDS_OVERLAP in reasons) == (max(held) > 1)
    assert reasons <= {Reason.BANDS_GAP, Reason.BANDS_OVERLAP}
    lowest = min(band.low for band in bands.values())
    highest = max(13 if band.high == INF else band.high for band in bands.values())
    assert (Reason.BANDS_GAP in reasons) == (0 in held[lowest:highest])


def test_gaps_and_overlaps_are_named():
    bands = {name: parse_band(name, INCLUSIVE) for name in ("0-15", "17-24", "20-64", "66+")}
    said = [str(problem) for problem in check_bands(bands)]
    assert any("'17-24' and '20-64'" in text and "20 to below 25" in text for text in said)
    assert any("band '0-15' and band '17-24'" in text and "holds 16." in text for text in said)
    assert any("band '20-64' and band '66+'" in text and "holds 65." in text for text in said)
    assert len(said) == 3
    upper = check_bands({"16+": Band(16, INF), "20+": Band(20, INF)})
    assert "20 or more" in str(upper[0])
    lower = check_bands({"under 9": Band(-INF, 9), "under 16": Band(-INF, 16)})
    assert "anything under 9" in str(lower[0])


@pytest.mark.parametrize(
    ("first", "reasons"),
    [
        (["0-15", "17+"], [Reason.BANDS_GAP]),
        (["0-16", "16+"], [Reason.BANDS_OVERLAP]),
        (["0-15", "some", "16+"], [Reason.BAD_BAND]),
        (
            ["0-15", "some", "17-20", "19+"],
            [Reason.BAD_BAND, Reason.BANDS_OVERLAP, Reason.BANDS_GAP],
        ),
        ([], []),
    ],
)
def test_a_start_with_faults_is_refused_with_all_of_them(first, reasons):
    with pytest.raises(InputError) as caught:
        BandGraph(first, INCLUSIVE)
    assert caught.value.reason is Reason.BAD_BAND
    assert [problem.reason for problem in caught.value.problems] == reasons


def test_bands_outside_the_range_are_refused():
    with pytest.raises(InputError) as caught:
        BandGraph(["0-18", "18-65"], HALF_OPEN).add("60-70")
    assert caught.value.reason is Reason.BAD_BAND
    assert "not within 0-65" in str(caught.value)
    with pytest.raises(InputError) as caught:
        BandGraph.of(["0-9", "5-12", "nothing"], INCLUSIVE, Band(0, 10))
    assert [problem.reason for problem in caught.value.problems] == [Reason.BAD_BAND] * 2


def test_open_ends_are_closed_by_the_range():
    grown = BandGraph.of(["under 16", "65+"], INCLUSIVE, Band(0, 120))
    assert grown.graph.sinks == ("0-15", "16-64", "65-119")


def test_errors_count_the_bands_given_and_never_disturb_a_terminal():
    bad = "a\x1b[2Jb"
    errors = []
    for build in (
        lambda: BandGraph.of(["0-5", bad], INCLUSIVE, Band(0, 10)),
        lambda: BandGraph(["0-5", bad], INCLUSIVE),
        lambda: parse_band(bad, INCLUSIVE),
    ):
        with pytest.raises(InputError) as caught:
            build()
        errors.append(str(caught.value))
    assert "of 2 bands was asked for" in errors[0]
    assert "starts from 2 bands was asked for" in errors[1]
    assert all(text.replace("\n", "").isprintable() for text in errors)


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
