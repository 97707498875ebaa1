"""Options written once: flattening, checks, provenance, signatures, and faults in words of the function."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pytest

import gamekeeper as gk
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import (
    Option,
    build,
    given,
    options_of,
    paths,
    require_valid,
    takes,
    texts_of,
    written,
)

if TYPE_CHECKING:
    from somewhere_slow import Table  # pyright: ignore[reportMissingImports]


@dataclass(frozen=True, kw_only=True)
class Choices:
    often: Annotated[int, Option("So many times.", least=1)] = 2


@takes(Choices)
def repeated(text: str, asked: Choices) -> str:
    """Repeat a text."""
    return text * asked.often


def test_it_is_called_with_keywords():
    assert repeated("a") == "aa"
    assert repeated("a", often=3) == "aaa"
    assert list(inspect.signature(repeated).parameters) == ["text", "often"]
    assert "So many times." in repeated.__doc__


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: repeated("a", oftne=3), r"^repeated\(\): got an unexpected keyword .*'oftne'"),
        (lambda: gk.link.files(1, 2), r"^link_files\(\): missing a required argument: 'variables'"),
    ],
)
def test_a_wrong_call_is_told_in_words_of_the_function(call, said):
    with pytest.raises(TypeError, match=said) as caught:
        call()
    assert caught.value.__suppress_context__


class Method(StrEnum):
    PLAIN = "plain"
    ODD = "odd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    rounds: Annotated[int, Option("At most so many rounds.", least=1, most=100)] = 10
    method: Annotated[Method, Option("How.")] = Method.PLAIN
    methods: Annotated[tuple[Method | str, ...], Option("Others.")] = ()
    sizes: Annotated[tuple[int, ...], Option("Sizes.", least=1)] = (2, 3)
    limit: Annotated[float | None, Option("A limit.", least=0)] = None
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    file: Annotated[Path, Option("A file.", is_argument=True)]
    search: Search
    plot: Annotated[Path | None, Option("A plot.", writes="picture", label="Plot")] = None


def test_options_of_parts_stand_in_their_place():
    assert [item.name for item in options_of(Request)] == [
        "file", "rounds", "method", "methods", "sizes", "limit", "plot",
    ]  # fmt: skip
    by_name = {item.name: item for item in options_of(Request)}
    assert by_name["file"].is_required
    assert not by_name["rounds"].is_required
    assert by_name["limit"].is_optional
    assert by_name["limit"].kind is float
    assert by_name["sizes"].element is int
    assert by_name["rounds"].element is None


def test_a_request_is_built_from_flat_values_and_taken_apart_again():
    asked = build(Request, {"file": Path("a.csv"), "rounds": 7})
    assert asked == Request(file=Path("a.csv"), search=Search(rounds=7))
    assert given(asked.search)["rounds"] == 7
    assert texts_of(asked) == {
        "file": "a.csv", "rounds": "7", "method": "plain", "methods": "", "sizes": "2, 3",
    }  # fmt: skip
    assert texts_of(asked, "rounds", "limit") == {"rounds": "7", "limit": "None"}


def test_files_to_be_written_are_known():
    asked = build(Request, {"file": Path("a.csv"), "plot": Path("b.svg")})
    assert [(option.label, path) for option, path in written(asked)] == [("Plot", Path("b.svg"))]
    assert written(build(Request, {"file": Path("a.csv")})) == []


def test_files_that_are_named_and_not_written_are_known():
    @dataclass(frozen=True)
    class Several:
        one: Request
        others: Annotated[tuple[Path, ...], Option("Files.")] = ()
        columns: Annotated[Mapping[str, str], Option("A=B.")] = field(default_factory=dict)

    one = build(Request, {"file": Path("a.csv"), "plot": Path("b.svg")})
    assert paths(Several(one, (Path("c"), Path("d")))) == [Path("a.csv"), Path("c"), Path("d")]
    assert paths(Several(one)) == [Path("a.csv")]
    assert {item.name: item.element for item in options_of(Several)}["columns"] is str


@takes(Search)
def search(data: list[int], asked: Search) -> int:
    """Search.

    Examples
    --------
    >>> search([1], rounds=2)
    2
    """
    return asked.rounds * len(data)


@dataclass(frozen=True, slots=True)
class SearchInput(Search):
    other: list[int]


@takes(SearchInput)
def search_both(data: list[int], asked: SearchInput) -> int:
    """Search two."""
    return asked.rounds * (len(data) + len(asked.other))


def test_a_function_takes_the_object_that_has_its_options():
    given_options = Search(rounds=3)
    assert search([1, 2], asked=given_options) == 6
    assert search([1, 2], asked=given_options, rounds=4) == 8
    assert search_both([1], [2, 3], asked=given_options) == 9
    assert search_both([1], [2, 3], asked=given_options, rounds=1) == 3
    with pytest.raises(TypeError, match=r"^search_both\(\): missing a required argument: 'other'"):
        search_both([1], asked=given_options)
    with pytest.raises(TypeError, match=r"^search\(\): got an unexpected keyword argument 'asked'"):
        search([1], asked=3)
    with pytest.raises(TypeError, match=r"^search\(\): "):
        search([1], asked=given_options, wrong=3)
    with pytest.raises(InputError):
        search([1], asked=Search(rounds=0))


def test_a_function_takes_its_options_as_keywords():
    assert search([1, 2], rounds=3) == 6
    assert search([1]) == 10
    assert list(inspect.signature(search).parameters) == [
        "data", "rounds", "method", "methods", "sizes", "limit", "table",
    ]  # fmt: skip
    assert "At most so many rounds." in search.__doc__
    assert search.__doc__.index("rounds\n") < search.__doc__.index("Examples\n----")
    with pytest.raises(TypeError):
        search([1], wrong=3)


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"rounds": 0}, "rounds: 0 is less than 1."),
        ({"rounds": 101}, "rounds: 101 is more than 100."),
        ({"rounds": 2.5}, "rounds: 2.5 is no whole number."),
        ({"rounds": float("nan")}, "rounds: nan is no whole number."),
        ({"rounds": float("inf")}, "rounds: inf is no whole number."),
        ({"rounds": "many"}, "rounds: a str is no number."),
        ({"rounds": True}, "rounds: a bool is no number."),
        ({"rounds": None}, "rounds: it is None."),
        ({"method": "strange"}, "method: 'strange' is not known."),
        ({"methods": ("odd", "strange")}, "methods: 'strange' is not known."),
        ({"sizes": (1, 0)}, "sizes: 0 is less than 1."),
        ({"limit": -1.0}, "limit: -1.0 is less than 0."),
        ({"limit": float("nan")}, "limit: nan is less than 0."),
    ],
)
def test_what_is_out_of_range_is_refused(wrong, where):
    with pytest.raises(InputError) as caught:
        search([1], **wrong)
    is_name = "is not known" in where
    assert caught.value.reason is (Reason.UNKNOWN_NAME if is_name else Reason.BAD_OPTION)
    assert str(caught.value.problems[0]).startswith(where)


def test_names_of_an_enum_may_be_texts():
    @dataclass(frozen=True)
    class Either:
        method: Annotated[Method | str, Option("How.")] = Method.PLAIN
        other: Annotated[Method | str | None, Option("How else.")] = None

    assert [(item.kind, item.is_optional) for item in options_of(Either)] == [
        (Method, False), (Method, True),
    ]  # fmt: skip
    with pytest.raises(InputError, match="Near to it: 'plain'"):
        require_valid(Either(method="plian"), "Asked.")


def test_all_faults_are_told_at_once():
    with pytest.raises(InputError) as caught:
        search([1], rounds=0, limit=-1)
    assert len(caught.value.problems) == 2
    assert search([1], method="odd") == 10


@dataclass(frozen=True, kw_only=True)
class Design:
    table: Annotated[str, Option("A name.")] = ""


@dataclass(frozen=True, kw_only=True)
class Both:
    design: Design
    search: Search


def test_fields_that_are_no_options_are_left_alone():
    asked = build(Both, {"table": "w", "rounds": 3})
    assert asked.design.table == "w"
    assert asked.search.table is None
    with_data = Search(table=Request(file=Path("a.csv"), search=Search(rounds=9)))
    assert texts_of(Both(design=Design(), search=with_data), "rounds", "table") == {
        "rounds": "10", "table": "",
    }  # fmt: skip
    assert paths(with_data) == []


def test_options_may_be_inherited_with_another_default():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Longer(Search):
        rounds: Annotated[int, Option("At most so many rounds.", least=1)] = 50
        more: Annotated[bool, Option("More.")] = False

    found = {item.name: item.default for item in options_of(Longer)}
    assert found == {
        "rounds": 50, "method": Method.PLAIN, "methods": (), "sizes": (2, 3), "limit": None, "more": False,
    }  # fmt: skip
    assert texts_of(Longer(rounds=7), "rounds", "method") == {"rounds": "7", "method": "plain"}


def test_an_option_that_is_there_twice_is_a_fault_of_ours():
    @dataclass(frozen=True)
    class Twice:
        rounds: Annotated[int, Option("Again.")]
        search: Search

    with pytest.raises(AssertionError, match="twice"):
        options_of(Twice)
