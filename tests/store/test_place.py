"""Where an environment is kept: paths, and addresses of servers, which hold no password."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import InputError
from gamekeeper.store.place import ServerPlace, is_address, slugs, store_place

_NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(
    st.from_regex(r"[a-oq-z_][a-z0-9_]{0,49}", fullmatch=True),
    _NAMES | st.just(""),
    st.sampled_from(["", "db.example", "127.0.0.1", "::1", "/var/run/postgresql", "/tmp/a b&c"]),
    st.sampled_from(["", "5433"]),
    _NAMES | st.just(""),
    st.dictionaries(st.sampled_from(["sslmode", "service"]), _NAMES),
)
def test_what_is_shown_is_read_as_the_same_place(
    schema: str, user: str, host: str, port: str, database: str, settings: dict[str, str]
) -> None:
    place = ServerPlace(schema, user, host, port, database, dict(sorted(settings.items())))
    again = store_place(str(place))
    assert (again, hash(again)) == (place, hash(place))


@pytest.mark.parametrize(
    "text", ["forms.gk", "a:/b", "postgresql", "postgresql:/forms", "http://x/y"]
)
def test_other_texts_are_paths(text: str) -> None:
    assert not is_address(text)
    assert store_place(text) == Path(text)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("postgresql://ana:Hunter2@db/forms?schema=a", "password"),
        ("postgresql://ana:@db/forms?schema=a", "password"),
        ("postgresql://db/forms?schema=a&password=Hunter2", "password"),
        ("postgresql://db/forms?schema=a&passfile=Hunter2", "password"),
        ("postgresql://db/forms", "schema"),
        ("postgresql://db/forms?schema=", "schema"),
        ("postgresql://db/forms?schema=public", "schema"),
        ("postgresql://db/forms?schema=pg_temp", "schema"),
        ("postgresql://db/forms?schema=Norland", "schema"),
        ("postgresql://db/forms?schema=a;drop", "schema"),
        ("postgresql://db/forms?schema=" + "a" * 51, "schema"),
        ("postgresql://db/forms?schema=a&schema=b", "twice"),
        ("postgresql://db/forms?schema=a&options=-c", "options"),
        ("postgresql://db/forms/more?schema=a", "after the host"),
        ("postgresql://db:port/forms?schema=a", "cannot be read"),
        ("postgresql://[db/forms?schema=a", "cannot be read"),
        ("postgresql://ana:Hunter2@db\u2100/forms?schema=a", "cannot be read"),
        ("POSTGRES://ana:Hunter2@db:x/forms", "cannot be read"),
    ],
)
def test_faulty_addresses(address: str, found: str) -> None:
    with pytest.raises(InputError, match=found) as caught:
        store_place(address)
    assert "Hunter2" not in str(caught.value) + repr(caught.value.__context__)


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
