"""Passes of pairs against slow, obvious twins, and what links among them say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.attack.linkage.columns import LinkVariable, compare_files
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.linking import Compared, candidates
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.linked_files import AGE, file_of

NUMBER = LinkVariable("x", kind="number", measure="absolute")


def taken(a, b, variables, order=None, **asked):
    """Return the pairs of two files, given as columns, that the passes take."""
    left, right = file_of(a), file_of(b)
    chosen, made = compare_files(left, right, variables)
    order = np.arange(right.n_records) if order is None else order
    moved = [type(one)(**{**vars(one), "b": one.b[order]}) for one in made]
    asked = {"block": (), "window": {}, "neighbours": None, "max_pairs": 10_000, **asked}
    found = candidates(
        Compared(left, right, (np.arange(left.n_records), order), chosen, moved), **asked
    )
    return {(int(i), int(order[j])) for i, j in zip(found.rows(), found.columns, strict=True)}


def near_in_order(mine, others, n):
    """Return the places of the n next of the others below and above one."""
    ranked = sorted(range(len(others)), key=lambda place: others[place])
    below = [place for place in ranked if others[place] < mine]
    above = [place for place in ranked if others[place] > mine]
    return {*below[-n:], *above[:n]}


@st.composite
def distinct(draw):
    every = draw(st.lists(st.integers(0, 99), min_size=2, max_size=12, unique=True))
    cut = draw(st.integers(1, len(every) - 1))
    return every[:cut], every[cut:]


@given(distinct(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_window_takes_the_next_in_order_of_both_files(files, n, random):
    a, b = files
    order = list(range(len(b)))
    random.shuffle(order)
    found = taken({"x": a}, {"x": b}, [NUMBER], np.array(order), window={"x": n})
    expected = {(i, j) for i, mine in enumerate(a) for j in near_in_order(mine, b, n)}
    expected |= {(i, j) for j, mine in enumerate(b) for i in near_in_order(mine, a, n)}
    assert found == expected


@given(distinct(), st.integers(1, 3))
def test_neighbours_are_nearest_in_units_of_the_deviation(files, n):
    a, b = files
    # The second variable is in another unit, and says the same.
    columns = [{"x": one, "y": [1_000 * value for value in one]} for one in (a, b)]
    variables = [NUMBER, LinkVariable("y", kind="number")]
    found = taken(*columns, variables, neighbours=n)
    for i, mine in enumerate(a):
        reached = sorted(abs(mine - other) for other in b)[:n][-1]
        assert {j for j, other in enumerate(b) if abs(mine - other) < reached} <= {
            j for row, j in found if row == i
        }
        assert len({j for row, j in found if row == i}) >= min(n, len(b))
    for i, j in found:
        of_a = sorted(abs(a[i] - other) for other in b)[:n][-1]
        of_b = sorted(abs(b[j] - other) for other in a)[:n][-1]
        assert abs(a[i] - b[j]) <= max(of_a, of_b)


def test_texts_are_sorted_as_words_and_missing_ones_are_in_no_pair():
    a = {"name": ["adams", "young", None]}
    b = {"name": ["adam", "baker", "zorn"]}
    found = taken(a, b, [LinkVariable("name", kind="text")], window={"name": 1})
    assert found == {(0, 0), (0, 1), (1, 1), (1, 2)}


def test_passes_are_united():
    a = {"x": [1, 50, 99], "s": list("fmf")}
    b = {"x": [2, 51, 98], "s": list("mff")}
    variables = [NUMBER, LinkVariable("s")]
    by_sex = {(0, 1), (0, 2), (1, 0), (2, 1), (2, 2)}
    near = {(0, 0), (1, 1), (2, 2)}
    assert taken(a, b, variables, block=["s"]) == by_sex
    assert taken(a, b, variables, neighbours=1) == near
    assert taken(a, b, variables, block=["s"], neighbours=1) == by_sex | near


def test_links_are_made_among_the_pairs_that_are_taken():
    rng = np.random.default_rng(3)
    values = rng.permutation(1_000)[:60]
    masked, original = file_of({"x": values + 1}), file_of({"x": values})
    every = link_files(masked, original, [NUMBER], objective="equal", truth=np.arange(60))
    some = link_files(
        masked, original, [NUMBER], objective="equal", truth=np.arange(60), window={"x": 8}
    )
    assert some.linked.n_pairs < 60 * 17
    assert some.linked.total == pytest.approx(every.linked.total)
    assert some.provenance.parameters["blocking"] == "x within 8 places"
    assert "among the pairs that blocking left" in "\n".join(some.sentences())
    near = link_files(masked, original, [NUMBER], objective="equal", neighbours=4)
    assert near.linked.total == pytest.approx(every.linked.total)
    assert near.provenance.parameters["blocking"] == "4 neighbours"


def test_what_records_are_sorted_by_keeps_its_weight():
    """Blocked variables agree in every pair; those of a window do not."""
    rng = np.random.default_rng(5)
    people = {"x": rng.integers(0, 90, 50), "s": rng.choice(list("fm"), 50)}
    a, b = file_of(people), file_of(people)
    variables = [LinkVariable("x", kind="number"), LinkVariable("s")]
    asked = {"objective": "fellegi-sunter", "block": ["s"]}
    assert any("have no weight" in note for note in link_files(a, b, variables, **asked).notes)
    found = link_files(a, b, variables, **asked, window={"x": 3})
    assert not any("have no weight" in note for note in found.notes)


def test_passes_that_cannot_be_are_refused():
    a = {"x": [1, 2], "Age": ["0-15", "70"]}
    mapped = [NUMBER, LinkVariable("Age", variable=AGE)]
    for asked, words in (
        ({"window": {"y": 1}}, "blocked on 'y'"),
        ({"window": {"Age": 1}}, "mapped categories have no order"),
        ({"window": {"x": 0}}, "window of one or more"),
    ):
        with pytest.raises(InputError, match=words):
            taken(a, a, mapped, **asked)
    with pytest.raises(InputError, match="No variable is compared as a number"):
        taken(a, a, mapped[1:], neighbours=1)
    with pytest.raises(LimitError, match="smaller windows or fewer neighbours") as caught:
        taken(a, a, mapped, window={"x": 5}, max_pairs=3)
    assert caught.value.reason is Reason.TOO_LARGE
