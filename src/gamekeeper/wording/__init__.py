"""How things are worded: counts, percents, numbers, lists, near names. One formatter per kind."""

from gamekeeper.wording.lists import (
    at_start,
    joined,
    listed,
    on_one_line,
    quoted,
    short,
    unfit_character,
)
from gamekeeper.wording.names import did_you_mean
from gamekeeper.wording.numbers import (
    asking_text,
    be,
    categories_text,
    cell_text,
    count_of,
    large_text,
    magnitude_text,
    memory_text,
    number_text,
    power_text,
    shape_text,
    there_are,
    three_digits,
)
from gamekeeper.wording.shares import (
    exact_percent,
    fraction_text,
    fractions_text,
    percent_text,
    share_text,
)

__all__ = [
    "asking_text",
    "at_start",
    "be",
    "categories_text",
    "cell_text",
    "count_of",
    "did_you_mean",
    "exact_percent",
    "fraction_text",
    "fractions_text",
    "joined",
    "large_text",
    "listed",
    "magnitude_text",
    "memory_text",
    "number_text",
    "on_one_line",
    "percent_text",
    "power_text",
    "quoted",
    "shape_text",
    "share_text",
    "short",
    "there_are",
    "three_digits",
    "unfit_character",
]
