"""The categories that a variable of a file may get, what each is called, and where they come from.

Below them there are *places*: the codes of the variable (0 is a missing cell, which stays one), and
after those the finest categories of a partition graph that no record has. A categorization must
have these too: bands that overlap where nobody is would not be a categorization next year.

Sources are, in this order: recodings that the steward types as alternatives ("Age=width 5",
"Age=width 10"), a file of levels (one row per value, a column per level, as ARX has it), the
partition graph of the environment, and otherwise bands of a few widths for numbers, or all values
in one category.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.bands import Band, BandStyle
from gamekeeper.algorithms.categories.partitions import Partition, bits, joined_blocks
from gamekeeper.algorithms.recoding_search.choices import Choice, bits_lost
from gamekeeper.data.coding.codebook import MISSING, CodedVariable, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.importing.files import OpenedFile
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.recoding import place_of, sink_finder
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.protection.step import Setting, recoded_by
from gamekeeper.wording import count_of, did_you_mean, quoted

Places = tuple[int, ...]
ANY = "any"
"""What a variable's only category is called."""


@dataclass(frozen=True, eq=False)
class KeyCategories:
    """What a variable may become.

    `names` has every allowed category, the missing cell among them; `where` the number or the band
    that each place is, where it is one; `ways` the only categorizations to choose from, None for
    all that the categories allow. `source` says where they come from; names may be shown in an
    error where they are not values of the file (`may_show`).
    """

    variable: CodedVariable
    n_places: int
    names: Mapping[Places, str]
    where: tuple[Band | Fraction | None, ...]
    ways: tuple[Partition, ...] | None = None
    source: str = ""
    may_show: bool = False

    @property
    def codes(self) -> range:
        """The codes of values."""
        return range(MISSING + 1, self.variable.n_codes)

    def choice(self, counts: NDArray[np.float64], factor: float, least: int) -> Choice:
        """Return what a search may choose; `counts` are of the codes."""
        categories = tuple(self.names)
        # The missing cell is a category by itself that nobody asks for.
        least = least + 1 if self.n_places > 1 else 1
        every = np.zeros(self.n_places)
        # What is missing stays missing, and loses nothing.
        every[MISSING + 1 : self.variable.n_codes] = counts[MISSING + 1 :]
        losses = bits_lost(categories, every) * factor
        numbers = {category: number for number, category in enumerate(categories)}
        ways = None
        if self.ways is not None:
            ways = tuple(
                way
                for own in self.ways
                if len(way := tuple(sorted(numbers[tuple(block)] for block in own.blocks())))
                >= least
            )
        return Choice(self.n_places, categories, losses, ways, least)

    def of_codes(self, partition: Partition) -> Partition:
        """Return what a categorization of the places is on codes alone, the missing cell by itself."""
        return Partition.from_labels(partition.labels[: self.variable.n_codes])

    def put_together(self, partition: Partition) -> list[tuple[str, Places]]:
        """Return the categories that have several values of the file: what each is called, its codes."""
        found: list[tuple[str, Places]] = []
        for block in partition.blocks():
            codes = tuple(place for place in block if place in self.codes)
            if len(codes) > 1:
                found.append((self.names.get(tuple(block), ""), codes))
        return found

    def entropy(self, counts: NDArray[np.float64]) -> float:
        """Return how many bits the variable tells in all."""
        return float(bits_lost([list(self.codes)], counts)[0]) if len(self.codes) else 0.0


_WIDTHS = (2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 5000, 10000, 50000, 100000)


def categories_by_rules(
    table: CodedTable, name: str, rules: Sequence[str], setting: Setting, *, whole: bool,
    together: bool,
) -> KeyCategories:  # fmt: skip
    """Return the categories of recodings that were typed; `whole` makes them the only ways."""
    variable = table.codebook[name]
    names: dict[Places, str] = {}
    ways = [Partition.finest(variable.n_codes)]
    for rule in rules:
        (made,) = recoded_by([rule], table, setting).recodes
        ways.append(made.partition)
        names |= {
            tuple(block): made.words[made.codes[block[0]]]
            for block in made.partition.blocks()
            if len(block) > 1
        }
    source = "recodings that were typed"
    return _made(variable, names, setting, together, source, ways=ways if whole else None)


def categories_by_levels(
    variable: CodedVariable, path: Path, setting: Setting, *, whole: bool, together: bool
) -> KeyCategories:
    """Return the categories of a file of levels; `whole` takes one level for all values."""
    header, rows = OpenedFile(path).table
    cells = [header, *([row.get(column, "") for column in header] for row in rows)]
    # The first row is one of names (level0, level1, ...), or a value like any other.
    by_value = {row[0].strip(): [cell.strip() for cell in row] for row in cells}
    found: dict[int, list[str]] = {}
    for code in range(MISSING + 1, variable.n_codes):
        row = by_value.get(variable.values[code]) or by_value.get(variable.words[code])
        if row is not None:
            found[code] = row
    n_left = variable.n_codes - 1 - len(found)
    if n_left:
        raise InputError(
            Reason.UNMAPPED_VALUES,
            f"Levels of {quoted([variable.name])} were read from {quoted([path.name])}.",
            f"{count_of(n_left, 'value')} of the file {'is' if n_left == 1 else 'are'} in no row.",
            "Add a row for each, or leave out the levels.",
        )
    names: dict[Places, str] = {}
    ways: list[Partition] = []
    for level in range(len(header)):
        made = Recode.by_words(variable.name, ["", *(row[level] for row in found.values())])
        ways.append(made.partition)
        for block in made.partition.blocks()[MISSING + 1 :]:
            label = made.words[made.codes[block[0]]]
            names.setdefault(tuple(block), label if label not in ("", "*") else ANY)
    source = f"the levels of {quoted([path.name])}"
    return _made(
        variable, names, setting, together, source, ways=ways if whole else None, may_show=True
    )


def categories_by_graph(
    variable: CodedVariable,
    known: Variable,
    setting: Setting,
    *,
    observed: Sequence[Partition] | None,
    together: bool,
) -> KeyCategories:
    """Return the categories of a partition graph; `observed` makes some ways the only ones."""
    graph = known.graph
    sinks = setting.sinks.get(variable.name)
    find = sink_finder(
        known, variable, sinks, setting.decimal, is_number=variable.name in setting.numbers
    )
    of_code = {code: sum(1 << sink for sink in find(code)) for code in range(1, variable.n_codes)}
    n_left = sum(not own for own in of_code.values())
    if n_left:
        asked = f"Categories of {quoted([variable.name])} were looked up in the environment."
        fault = f"{count_of(n_left, 'value')} of the file {'fits' if n_left == 1 else 'fit'} none."
        do = "Widen the variable (gamekeeper variable widen), or type recodings to choose from."
        raise InputError(Reason.UNMAPPED_VALUES, asked, fault, do)
    taken = 0
    for own in of_code.values():
        taken |= own
    empty = [sink for sink in range(len(graph.sinks)) if not taken >> sink & 1]
    place_of_sink = {sink: variable.n_codes + n for n, sink in enumerate(empty)}

    def places(mask: int) -> Places | None:
        """Return the places in a set of sinks; None where a value lies across its border."""
        inside: list[int] = []
        for code, own in of_code.items():
            if own & mask:
                if own | mask != mask:
                    return None
                inside.append(code)
        return (*inside, *(place_of_sink[sink] for sink in empty if mask >> sink & 1))

    names = {
        found: name
        for name in sorted(
            graph.categories, key=lambda name: (len(bits(graph.sink_set(name))), name)
        )
        if (found := places(graph.sink_set(name)))
    }
    ways: list[Partition] | None = None
    if observed is not None:
        ways = []
        for partition in observed:
            # Where a value is coarser than the form, what both have in common is taken.
            joined = joined_blocks(partition.labels, map(bits, of_code.values()))
            common = partition if joined is None else Partition.from_labels(joined)
            blocks = [places(sum(1 << sink for sink in block)) for block in common.blocks()]
            way = tuple(block for block in blocks if block)
            for block, name in zip(way, known.words(common), strict=True):
                names.setdefault(block, name)
            ways.append(Partition.from_blocks([(MISSING,), *way], variable.n_codes + len(empty)))
    where = tuple(known.bands.get(graph.sinks[sink]) for sink in empty)
    return _made(
        variable,
        names,
        setting,
        together and observed is None,
        "the environment",
        ways=ways,
        extra=where,
        may_show=True,
        with_own=observed is None,
    )


def observed_ways(environment: Environment, name: str) -> list[Partition]:
    """Return the categorizations that forms of an environment have, each once, without any detail."""
    found: dict[Partition, None] = {}
    for categorization, _ in environment.instances(name):
        if isinstance(categorization.partition, Partition):
            found[categorization.partition] = None
    return list(found)


def default_categories(
    table: CodedTable, name: str, setting: Setting, *, together: bool
) -> KeyCategories:
    """Return bands of a few widths for numbers; each value and all together for anything else."""
    variable = table.codebook[name]
    where = {code: place_of(variable, code, setting.decimal) for code in range(1, variable.n_codes)}
    bands = {code: _as_band(place) for code, place in where.items() if place is not None}
    names: dict[Places, str] = {}
    # Bands end at floating-point numbers, and text may hold larger ones.
    if len(bands) == len(where) > 2 and all(
        abs(b.low) < sys.float_info.max for b in bands.values()
    ):
        lows = [float(band.low) for band in bands.values()]
        span = max(lows) - min(lows)
        widths = [width for width in _WIDTHS if 1 < span / width < len(lows)]
        for width in widths[:: max(1, -(-len(widths) // 4))]:
            names |= _banded(bands, width)
    source = "bands of a few widths" if names else "its own values"
    return _made(variable, names, setting, together, source)


def _as_band(place: Band | Fraction) -> Band:
    if isinstance(place, Band):
        return place
    return Band(place, place + 1) if place.denominator > 1 else Band(int(place), int(place) + 1)


def _banded(bands: Mapping[int, Band], width: int) -> dict[Places, str]:
    """Return bands of a width with their names; one that lies across a border goes where it begins."""
    groups: dict[int, list[int]] = {}
    for code, band in bands.items():
        if not math.isfinite(band.low):
            return {}
        groups.setdefault(math.floor(band.low / width), []).append(code)
    made: dict[Places, str] = {}
    for number, codes in groups.items():
        whole = Band(number * width, (number + 1) * width)
        if any(bands[code].high > whole.high for code in codes):
            whole = Band(whole.low, max(bands[code].high for code in codes))
        if len(codes) > 1:
            made[tuple(codes)] = whole.name(BandStyle.INCLUSIVE)
    return made


def _made(
    variable: CodedVariable,
    names: dict[Places, str],
    setting: Setting,
    together: bool,
    source: str,
    *,
    ways: Sequence[Partition] | None = None,
    extra: Sequence[object] = (),
    may_show: bool = False,
    with_own: bool = True,
) -> KeyCategories:
    """Return the categories of these names, with the missing cell and, if asked, each value and all in one.

    Names of the file's own values come before those that are given.
    """
    n_places = variable.n_codes + len(extra)
    n_own = variable.n_codes if with_own else MISSING + 1
    every: dict[Places, str] = {(code,): variable.words[code] for code in range(n_own)}
    every |= {category: name for category, name in names.items() if category not in every}
    if with_own and together and n_places > 1:
        every.setdefault(tuple(range(MISSING + 1, n_places)), ANY)
    own = [place_of(variable, code, setting.decimal) for code in range(1, variable.n_codes)]
    where = (None, *own, *extra)
    listed = None
    if ways is not None:
        used = dict.fromkeys(tuple(block) for way in ways for block in way.blocks())
        every = {block: name for block, name in every.items() if block in used}
        for block in used:
            if block not in every:
                every[block] = variable.words[block[0]] if len(block) == 1 else ""
        listed = tuple(dict.fromkeys(ways))
    return KeyCategories(variable, n_places, every, where, listed, source, may_show)  # pyright: ignore[reportArgumentType]


def unknown_variable(
    name: str, keys: Sequence[str], what: str, may: str = "that may be recoded"
) -> Problem:
    """Return the problem of a wish for what is no key variable."""
    where = f"{what} of {quoted([name])}"
    found = f"it is not one of the key variables{may and ' '}{may}."
    return Problem(Reason.UNKNOWN_NAME, where, found, did_you_mean(name, keys))
