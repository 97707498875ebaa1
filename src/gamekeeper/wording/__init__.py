"""How things are worded: counts, percents, numbers, lists, near names. One formatter per kind."""

from gamekeeper.wording.lists import joined, listed, on_one_line, quoted, short, unfit_character
from gamekeeper.wording.names import did_you_mean
from gamekeeper.wording.numbers import (
    asking_text,
    categories_text,
    cell_text,
    count_of,
    number_text,
    three_digits,
)
from gamekeeper.wording.shares import exact_percent, fraction_text, percent_text, share_text

__all__ = [
    "asking_text",
    "categories_text",
    "cell_text",
    "count_of",
    "did_you_mean",
    "exact_percent",
    "fraction_text",
    "joined",
    "listed",
    "number_text",
    "on_one_line",
    "percent_text",
    "quoted",
    "share_text",
    "short",
    "three_digits",
    "unfit_character",
]
