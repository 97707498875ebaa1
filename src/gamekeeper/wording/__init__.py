"""How things are worded: counts, percents, numbers, lists, near names. One formatter per kind."""

from gamekeeper.wording.lists import joined, listed, on_one_line, quoted, short, unfit_character
from gamekeeper.wording.names import did_you_mean
from gamekeeper.wording.numbers import (
    asking_text,
    categories_text,
    count_of,
    number_text,
    percent_text,
)

__all__ = [
    "asking_text",
    "categories_text",
    "count_of",
    "did_you_mean",
    "joined",
    "listed",
    "number_text",
    "on_one_line",
    "percent_text",
    "quoted",
    "short",
    "unfit_character",
]
