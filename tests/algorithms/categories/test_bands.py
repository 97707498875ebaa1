from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import (
    Band,
    BandGraph,
    BandStyle,
    check_bands,
    parse_band,
)
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
