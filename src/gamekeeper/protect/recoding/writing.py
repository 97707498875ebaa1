"""What was found, as a rule that can be typed: bands where the categories are bands, else groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.recoding_search.choices import Chosen
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError
from gamekeeper.mapping.recoding.applying import recode_table
from gamekeeper.mapping.recoding.rules import Bands, Groups, RecodeRule, Together, Way
from gamekeeper.protect.recoding.categories import KeyCategories, Places
from gamekeeper.protect.recoding.problem import SearchProblem
from gamekeeper.protect.recoding.recode import Recoding


def recoding_step(
    table: CodedTable, problem: SearchProblem, chosen: Chosen, decimal: str = "."
) -> Recoding:
    """Return a recoding as a step that applies it: rules where it can be typed, else groups."""
    rules: list[str] = []
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, blocks in problem.blocks(chosen).items():
        own = problem.categories[name]
        if not is_changed(own, blocks):
            continue
        rule = written_rule(table, own, blocks, decimal)
        if rule is not None:
            rules.append(rule.text)
        else:
            groups[name] = named_groups(own, blocks)
    return Recoding(rules=tuple(rules), groups=groups, strict=False)


def written_rule(
    table: CodedTable, own: KeyCategories, blocks: Sequence[Places], decimal: str = "."
) -> RecodeRule | None:
    """Return the rule that puts these categories together; None where it cannot be typed.

    A rule is only returned where reading it again gives the same categories.
    """
    of_codes = _of_codes(own, blocks)
    if len(of_codes) == 1:
        return RecodeRule(own.variable.name, Together())
    for way in (_bands(own, blocks), _groups(own, blocks)):
        if way is not None and _is_read_again(table, own, way, of_codes, decimal):
            return RecodeRule(own.variable.name, way)
    return None


def is_changed(own: KeyCategories, blocks: Sequence[Places]) -> bool:
    """Tell whether any values of the file are put together."""
    return any(len(block) > 1 for block in _of_codes(own, blocks))


def named_groups(own: KeyCategories, blocks: Sequence[Places]) -> dict[str, tuple[str, ...]]:
    """Return categories of several values, by name, each with its values as the file has them."""
    made: dict[str, tuple[str, ...]] = {}
    for block in blocks:
        codes = [place for place in block if MISSING < place < own.variable.n_codes]
        if len(codes) > 1:
            name = own.names.get(tuple(block)) or "group"
            while name in made:
                name += " "
            made[name.strip() if name.strip() not in made else name] = tuple(
                own.variable.values[code] for code in codes
            )
    return made


def _of_codes(own: KeyCategories, blocks: Sequence[Places]) -> list[Places]:
    n_codes = own.variable.n_codes
    kept = [tuple(p for p in block if MISSING < p < n_codes) for block in blocks]
    return [block for block in kept if block]


def _bands(own: KeyCategories, blocks: Sequence[Places]) -> Way | None:
    bands: list[tuple[Band, str]] = []
    for block in blocks:
        if tuple(block) == (MISSING,):
            continue
        band = _band(own, block)
        if band is None:
            return None
        bands.append((band, _label(own, block, band)))
    bands.sort(key=lambda pair: pair[0].low)
    if any(a[0].high > b[0].low for a, b in pairwise(bands)):
        return None
    return Bands(tuple(label for _, label in bands))


def _band(own: KeyCategories, block: Places) -> Band | None:
    """Return the band that a category is; its values are bands or whole numbers."""
    lows: list[float | int | Fraction] = []
    highs: list[float | int | Fraction] = []
    for place in block:
        where = own.where[place]
        if isinstance(where, Band):
            lows.append(where.low)
            highs.append(where.high)
        elif isinstance(where, Fraction) and where.denominator == 1:
            lows.append(where.numerator)
            highs.append(where.numerator + 1)
        else:
            return None
    return Band(min(lows), max(highs))


def _label(own: KeyCategories, block: Places, band: Band) -> str:
    """Return the name of a category where it is a band that holds it, else the band."""
    name = own.names.get(tuple(block), "")
    try:
        named = parse_band(name, BandStyle.INCLUSIVE)
    except InputError:
        return band.name(BandStyle.INCLUSIVE)
    return name if named.holds(band) and "," not in name else band.name(BandStyle.INCLUSIVE)


def _groups(own: KeyCategories, blocks: Sequence[Places]) -> Way | None:
    groups: list[tuple[str, tuple[str, ...]]] = []
    for block in blocks:
        codes = [place for place in block if MISSING < place < own.variable.n_codes]
        if len(codes) > 1:
            name = own.names.get(tuple(block), "")
            groups.append((name, tuple(own.variable.words[code] for code in codes)))
    return Groups(tuple(groups)) if groups else None


def _is_read_again(
    table: CodedTable, own: KeyCategories, way: Way, blocks: Sequence[Places], decimal: str
) -> bool:
    rule = RecodeRule(own.variable.name, way)
    try:
        made = recode_table(table, [rule.text], decimal=decimal).recodes[0]
    except InputError:
        return False
    place = np.zeros(own.variable.n_codes, np.int64)
    for number, block in enumerate(blocks, 1):
        place[list(block)] = number
    pairs = set(zip(place.tolist(), made.codes.tolist(), strict=True))
    return len(pairs) == len(blocks) + 1 == len({b for _, b in pairs})
