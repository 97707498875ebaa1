"""Files that others published, where they are: the folder that GAMEKEEPER_DATA names."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from gamekeeper.algorithms.releases.constraints import CountConstraints


def published_file(name: str | Path) -> Path:
    """Return the path of a file of that folder; a test whose file is not there is left out."""
    path = Path(os.environ.get("GAMEKEEPER_DATA", ""), name)
    if "GAMEKEEPER_DATA" not in os.environ or not path.is_file():
        pytest.skip(f"GAMEKEEPER_DATA does not name a folder with {name}")
    return path


def published_lines(name: str | Path) -> list[list[str]]:
    """Return the cells of such a file, its header first."""
    with published_file(name).open(encoding="utf-8-sig", newline="") as file:
        return [[cell.strip() for cell in line] for line in csv.reader(file)]


def published_table(name: str):
    """Return the first letters of the axes of a table, its counts and any bounds on them."""
    header, *lines = published_lines(f"tables/{name}.csv")
    n_axes = header.index("n")
    categories = [sorted({line[axis] for line in lines}) for axis in range(n_axes)]
    numbers = np.zeros((len(header) - n_axes, *map(len, categories)), np.int64)
    for line in lines:
        cell = tuple(of_axis.index(line[axis]) for axis, of_axis in enumerate(categories))
        numbers[(slice(None), *cell)] = [int(float(text)) for text in line[n_axes:]]
    return [axis[0] for axis in header[:n_axes]], numbers


def exact_margins(counts, margins) -> CountConstraints:
    """Return what margins of a table tell of it."""
    return CountConstraints.of(
        counts.shape,
        [
            (axes, counts.sum(axis=tuple(a for a in range(counts.ndim) if a not in axes)))
            for axes in margins
        ],
    )
