"""A function that takes options says what is wrong in words of its own."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest

import gamekeeper as gk
from gamekeeper.options import Option, takes


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
