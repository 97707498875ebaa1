"""Populations in a folder: each a CSV or Parquet file with a small JSON file of the same name beside it.

    {"keys": ["sex", "age", "region", "occupation"], "numbers": [3, 4], "fractions": [0.01, 0.05]}

`keys` are the key variables in order; a setting takes the first so many of them. `numbers` are how
many: 6, 8, 12 and 15, as far as there are so many keys, unless given. `fractions` are 0.01, 0.05 and
0.1 unless given. Codes are read as text, a missing cell is a category of its own, and a file without
a JSON file is no population.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBERS = (6, 8, 12, 15)
_FRACTIONS = (0.01, 0.05, 0.1)
_SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class Population:
    """A file of people, its key variables, and what samples are to be drawn from it."""

    name: str
    path: Path
    keys: tuple[str, ...]
    numbers: tuple[int, ...]
    fractions: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One population, number of key variables and sampling fraction."""

    population: Population
    n_variables: int
    fraction: float

    def __str__(self) -> str:
        return f"{self.population.name} {self.n_variables} {self.fraction:.4g}"


def read_folder(folder: Path) -> list[Population]:
    """Return the populations of a folder by name; SystemExit says all that is wrong with them."""
    found: list[Population] = []
    problems: list[str] = []
    for note in sorted(folder.glob("*.json")):
        paths = [path for end in _SUFFIXES if (path := note.with_suffix(end)).exists()]
        try:
            told: Any = json.loads(note.read_text(encoding="utf-8"))
            keys = tuple(str(key) for key in told["keys"])
            numbers = tuple(int(n) for n in told.get("numbers", _NUMBERS) if int(n) <= len(keys))
            fractions = tuple(float(share) for share in told.get("fractions", _FRACTIONS))
        except (ValueError, TypeError, KeyError, AttributeError):
            problems.append(f"{note.name}: it has no list 'keys', or no lists of numbers.")
            continue
        if len(paths) != 1:
            problems.append(f"{note.name}: beside it there is not one CSV or Parquet file.")
        elif not numbers or not all(0 < share < 1 for share in fractions):
            problems.append(f"{note.name}: too few keys, or a fraction is not between 0 and 1.")
        else:
            found.append(Population(note.stem, paths[0], keys, numbers, fractions))
    if problems or not found:
        problems = problems or ["There is no CSV or Parquet file with a JSON file beside it."]
        raise SystemExit("\n".join([f"No populations could be read from {folder}.", *problems]))
    return found


def settings_of(
    populations: Sequence[Population],
    names: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
    fractions: Sequence[float] | None = None,
) -> list[Setting]:
    """Return the settings of populations, or those of them that are asked for."""
    return [
        Setting(population, number, fraction)
        for population in populations
        if not names or population.name in names
        for number in population.numbers
        if not numbers or number in numbers
        for fraction in population.fractions
        if not fractions or fraction in fractions
    ]


@cache
def codes_of(population: Population) -> NDArray[np.uint16]:
    """Return the codes of a population on all its key variables, a number for each category."""
    import pyarrow.csv
    import pyarrow.parquet
    from pyarrow.types import is_dictionary

    keys = list(population.keys)
    if population.path.suffix == ".csv":
        as_text = pyarrow.csv.ConvertOptions(
            column_types={key: pyarrow.string() for key in keys}, include_columns=keys
        )
        table = pyarrow.csv.read_csv(population.path, convert_options=as_text)
    else:
        table = pyarrow.parquet.read_table(population.path, columns=keys)
    columns: list[Any] = []
    for key in keys:
        cells = table[key].combine_chunks()
        # Parquet may have kept a column as a dictionary, with values that do not occur.
        plain = cells.dictionary_decode() if is_dictionary(cells.type) else cells
        encoded = plain.dictionary_encode(null_encoding="encode")
        columns.append(encoded.indices.to_numpy().astype(np.uint16))
    return np.stack(columns, axis=1)
