"""Options that several attacks have in common: each is written here, once."""

from __future__ import annotations

from typing import Annotated

from gamekeeper.data.keys.missing import Missing
from gamekeeper.options import Option

Seed = Annotated[int, Option("The same seed gives the same result.", least=0)]
Workers = Annotated[
    int | None, Option("How many at a time; by default one per core, at most two.", least=1)
]
MaxSize = Annotated[
    int | None,
    Option("Search combinations of so many variables at most; all by default.", least=1),
]
MaxSeconds = Annotated[
    float | None,
    Option("Refuse a search that is estimated to take longer; 0 for no limit.", least=0),
]
Power = Annotated[
    int, Option("The power of ten of the SUDA score; DIS-SUDA depends on it.", least=0, most=18)
]
Household = Annotated[
    str,
    Option(
        "Column that tells households, which are in the file with all their members: one member found is"
        " all found, and that members are alike is no sign that others are.",
        panel="The sample",
    ),
]
Whose = Annotated[
    str,
    Option(
        "Column that tells whose a record is, where people have several: the first record of each in the"
        " file is taken, and all that is said is of people. A sampling fraction is then the share of"
        " people who are in the file, not of records.",
        flags="--person",
        panel="The sample",
    ),
]
MissingInClasses = Annotated[
    Missing | str, Option("Whether a missing cell is a `category`, or its record is to `exclude`.")
]
