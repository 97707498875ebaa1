from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.store.slugs import slugs

names = st.text(st.characters(codec="utf-8"), min_size=1)


def test_readable_names_stay_readable() -> None:
    given = ["Bank of Ely", "Straße 7", "Économie & emploi", "ﬁne", "10%"]
    assert list(slugs(given).values()) == [
        "bank-of-ely",
        "strasse-7",
        "economie-emploi",
        "fine",
        "10",
    ]


def test_nothing_left_gives_a_hash() -> None:
    assert re.fullmatch("[0-9a-f]{8}", slugs(["年齢"])["年齢"])


def test_names_of_devices_get_a_hash() -> None:
    assert re.fullmatch("con-[0-9a-f]{8}", slugs(["CON"])["CON"])


def test_a_hash_may_be_the_name_of_another() -> None:
    first, second = slugs(["a b", "a-b"]).values()
    made = slugs(["a b", "a-b", first, second])
    assert len(set(made.values())) == 4


@given(st.lists(names | st.sampled_from(["a", "A", "a ", "ä", "-", "_", "x" * 80]), unique=True))
def test_file_names_are_plain_short_and_different(given: list[str]) -> None:
    made = slugs(given)
    assert list(made) == given
    assert len(set(made.values())) == len(given)
    for slug in made.values():
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", slug)
        assert len(slug) <= 60


@given(st.lists(names, unique=True, max_size=4), st.randoms())
def test_order_does_not_matter(given: list[str], random: object) -> None:
    assert slugs(reversed(given)) == slugs(given)
