"""Tables of counts with named axes and categories, and what is given as one: lists, arrays, fields.

A table is dense, or sparse with its non-zero cells. Cells are numbered by rows, the last axis
fastest. A margin of a dense table costs its cells, that of a sparse one its non-zero cells.

What is given becomes whole numbers or a list of problems. No message shows a count, which may be a
true one: cells are named by their categories.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases import schemes
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.data.tables import subtotals
from gamekeeper.data.tables.axes import (
    Axis,
    Groups,
    PublishedTable,
    axes_of,
    axis_problems,
    cell_words,
    cells_words,
    grouped,
    published_axes,
    raise_all,
    unknown_axes,
)
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import (
    be,
    count_of,
    did_you_mean,
    magnitude_text,
    memory_text,
    quoted,
    shape_text,
)

__all__ = ["DENSE_CELLS", "MOST_DENSE", "Axis", "CountTable"]

Integers = NDArray[np.int64]

_NOT_TEXT = "{are} a text, where a number belongs"
_NOT_WHOLE = "{are} no whole number"
_NEGATIVE = "{are} below 0"
_TOO_LARGE = f"{{are}} {UNBOUNDED:,} or more"
_NOTHING = "{are} missing"
_NO_NUMBER = "{are} no number"
_NO_INTERVAL = "{are} no interval: a pair of a lower and an upper limit, or null for no upper one"
_REVERSED = "{have} an upper limit below the lower one"
_COUNTS_ARE = f"Counts are whole numbers from 0 to {UNBOUNDED - 1:,}."


def given_counts(
    given: object,
    axes: Sequence[Axis],
    where: str,
    problems: list[Problem],
    *,
    hidden: bool = False,
) -> Integers | None:
    """Return counts in the shape of the axes; None after adding problems.

    With `hidden`, a cell without a count is hidden; without, it is a fault.
    """
    shape = tuple(map(len, axes))
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf":
        return _array(cast("NDArray[Any]", given), axes, where, problems)
    found = Faults(axes, where)
    cells = _cells(given, shape, where, problems)
    if cells is None:
        return None
    made = np.empty(len(cells), np.int64)
    for place, cell in enumerate(cells):
        if cell is None and hidden:
            made[place] = schemes.HIDDEN
        else:
            made[place] = found.whole(place, cell)
    return found.settle(problems, made.reshape(shape))


def given_intervals(
    given: object, axes: Sequence[Axis], where: str, problems: list[Problem]
) -> tuple[Integers, Integers] | None:
    """Return lower and upper limits, `HIDDEN` where a cell is; None after adding problems."""
    shape = tuple(map(len, axes))
    found = Faults(axes, where)
    cells = _cells(given, shape, where, problems)
    if cells is None:
        return None
    made = np.empty((len(cells), 2), np.int64)
    for place, cell in enumerate(cells):
        if cell is None:
            made[place] = schemes.HIDDEN, schemes.HIDDEN
        elif isinstance(cell, list | tuple):
            ends = cast("Sequence[object]", cell)
            if len(ends) != 2:
                found.add(_NO_INTERVAL, place)
                continue
            low = found.whole(place, ends[0])
            high = UNBOUNDED if ends[1] is None else found.whole(place, ends[1])
            made[place] = low, high
            if low > high >= 0:
                found.add(_REVERSED, place)
        else:
            made[place] = found.whole(place, cell)
    if found.settle(problems, made) is None:
        return None
    return made[:, 0].reshape(shape), made[:, 1].reshape(shape)


def sum_problems(counts: Integers, where: str) -> list[Problem]:
    """Return a problem where counts add up to more than can be computed with."""
    if float(counts.sum(dtype=np.float64)) < UNBOUNDED:
        return []
    return [Problem(Reason.BAD_COUNT, where, f"its counts add up to {UNBOUNDED:,} or more.")]


class Faults:
    """The cells that have no usable count, by what is wrong with them."""

    def __init__(self, axes: Sequence[Axis], where: str) -> None:
        self.axes = axes
        self.where = where
        self.places: dict[str, list[int]] = {}

    def add(self, fault: str, place: int) -> None:
        """Note a fault of a cell."""
        places = self.places.setdefault(fault, [])
        if not places or places[-1] != place:
            places.append(place)

    def whole(self, place: int, cell: object) -> int:
        """Return a cell as a whole number from 0 up, or note what is wrong and return `HIDDEN`."""
        fault = ""
        number = schemes.HIDDEN
        if isinstance(cell, float | np.floating):
            if cell == cell and abs(float(cell)) != np.inf and float(cell).is_integer():
                number = int(cell)
            else:
                fault = _NOT_WHOLE
        elif isinstance(cell, int | np.integer) and not isinstance(cell, bool):
            number = int(cell)
        elif cell is None:
            fault = _NOTHING
        else:
            fault = _NOT_TEXT if isinstance(cell, str) else _NO_NUMBER
        if not fault and not 0 <= number < UNBOUNDED:
            fault = _NEGATIVE if number < 0 else _TOO_LARGE
        if fault:
            self.add(fault, place)
            return schemes.HIDDEN
        return number

    def settle(self, problems: list[Problem], made: Integers) -> Integers | None:
        """Return what was made, or None after adding a problem for each kind of fault."""
        for fault, places in self.places.items():
            have = "has" if len(places) == 1 else "have"
            said = fault.format(are=be(len(places)), have=have)
            found = f"{count_of(len(places), 'count')} {said} ({cells_words(self.axes, places)})."
            problems.append(Problem(Reason.BAD_COUNT, self.where, found, _COUNTS_ARE))
        return None if self.places else made


def _array(
    given: NDArray[Any], axes: Sequence[Axis], where: str, problems: list[Problem]
) -> Integers | None:
    shape = tuple(map(len, axes))
    if given.shape != shape:
        problems.append(_misshapen(where, f"its counts have the shape {given.shape}", shape))
        return None
    flat = given.reshape(-1)
    right = (flat >= 0) & (flat < UNBOUNDED) & (flat == np.floor(flat))
    found = Faults(axes, where)
    for place in np.flatnonzero(~right).tolist():
        found.whole(place, flat[place])
    return found.settle(problems, np.where(right, flat, 0).astype(np.int64).reshape(shape))


def _cells(
    given: object, shape: tuple[int, ...], where: str, problems: list[Problem]
) -> list[object] | None:
    """Return the cells of nested lists by rows; None after adding a problem of their shape."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    misfit = ""

    def walk(part: object, depth: int) -> Iterator[object]:
        nonlocal misfit
        if depth == len(shape):
            yield part
        elif not isinstance(part, list | tuple):
            misfit = misfit or f"its counts are nested {depth} deep in places"
        else:
            items = cast("Sequence[object]", part)
            if len(items) != shape[depth]:
                misfit = misfit or (
                    f"there is a list of {count_of(len(items), 'item')} at depth {depth + 1}, "
                    f"where {shape[depth]} belong"
                )
                return
            for item in items:
                yield from walk(item, depth + 1)

    cells = list(walk(given, 0))
    if misfit:
        problems.append(_misshapen(where, misfit, shape))
        return None
    return cells


def _misshapen(where: str, found: str, shape: tuple[int, ...]) -> Problem:
    wanted = " by ".join(map(str, shape)) or "a single number, for the total"
    return Problem(Reason.MALFORMED, where, f"{found}.", f"The axes ask for {wanted}.")


DENSE_CELLS = 1 << 24
"""Tables with more cells are kept by their non-zero cells, where they are counted."""

MOST_DENSE = 1 << 27
"""Tables with more cells are never made dense unless one insists: this many take a gigabyte."""

_ASKED = "A table of counts was given."


@dataclass(frozen=True, eq=False, repr=False)
class CountTable:
    """A table of counts.

    - `axes`: the variables with their categories.
    - `counts`: an array with an axis for each variable; of a sparse table, the counts of `cells`.
    - `cells`: the numbers of cells with counts, rising; None for a dense table.

    Examples
    --------
    >>> table = CountTable.typed({"age": ["young", "old"], "work": ["yes", "no"]}, [[3, 0], [1, 2]])
    >>> table
    CountTable(2 x 2 cells, total 6)
    >>> table.margin(["work"]).dense().tolist()
    [4, 2]
    """

    axes: tuple[Axis, ...]
    counts: Integers
    cells: Integers | None = None

    def __post_init__(self) -> None:
        problems = axis_problems(self.axes)
        if not problems:
            _check_size(self.shape)
            problems = self._faults()
        raise_all(_ASKED, problems)

    @classmethod
    def typed(
        cls,
        axes: Mapping[str, Iterable[object]] | Iterable[Axis],
        counts: object,
        *,
        disjoint: subtotals.Disjoint = (),
    ) -> CountTable:
        """Return a dense table from its axes and nested lists, or an array, of counts.

        `disjoint` are the axes whose categories exclude each other, although labels look like sums
        of others; True for all.
        """
        made = axes_of(axes)
        problems = axis_problems(made)
        found = given_counts(counts, made, "table", problems)
        raise_all(_ASKED, problems, "Give a whole number from 0 up for every cell.")
        assert found is not None
        table = cls(made, found)
        table.question(_ASKED, disjoint)
        return table

    @classmethod
    def of_cells(cls, axes: Iterable[Axis], cells: ArrayLike, counts: ArrayLike) -> CountTable:
        """Return a table from numbers of cells with their counts, which add up; others are 0.

        It is dense up to `DENSE_CELLS` cells.
        """
        made = tuple(axes)
        shape = tuple(map(len, made))
        _check_size(shape)
        numbers, added = _added(np.asarray(cells, np.int64), np.asarray(counts, np.int64))
        if math.prod(shape) > DENSE_CELLS:
            return cls(made, added, numbers)
        table = np.zeros(math.prod(shape), np.int64)
        table[numbers] = added
        return cls(made, table.reshape(shape))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each axis."""
        return tuple(map(len, self.axes))

    @property
    def size(self) -> int:
        """The number of cells, with those that are 0."""
        return math.prod(self.shape)

    @property
    def is_sparse(self) -> bool:
        """Whether only the non-zero cells are kept."""
        return self.cells is not None

    @cached_property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self.counts.sum())

    @cached_property
    def nonzero(self) -> tuple[Integers, Integers]:
        """The numbers of the cells that are not 0, rising, and their counts."""
        if self.cells is not None:
            return self.cells, self.counts
        flat = self.counts.reshape(-1)
        cells = np.flatnonzero(flat)
        return cells.astype(np.int64), flat[cells]

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that stand for the table."""
        told = [(axis.name, axis.categories) for axis in self.axes]
        digest = sha256(repr(told).encode("utf-8", "replace"))
        for numbers in self.nonzero:
            digest.update(np.ascontiguousarray(numbers, dtype="<i8").data)
        return digest.hexdigest()[:16]

    def axis(self, name: str) -> Axis:
        """Return an axis by its name."""
        return self.axes[self._places([name])[0]]

    def dense(self, *, most: int = MOST_DENSE) -> Integers:
        """Return all counts as an array, unless it has more cells than `most`."""
        if self.cells is None:
            return self.counts
        if self.size > most:
            raise LimitError(
                Reason.TOO_LARGE,
                "A table of counts was asked for with all of its cells.",
                f"It has {self.size:,} cells, which take {memory_text(8 * self.size)}.",
                "Take margins of it (--margin of tables release), or raise 'most' in Python.",
            )
        table = np.zeros(self.size, np.int64)
        table[self.cells] = self.counts
        return table.reshape(self.shape)

    def question(self, asked: str, disjoint: subtotals.Disjoint = ()) -> None:
        """Refuse labels that may be sums of others; counts are looked at in a dense table only."""
        names = subtotals.disjoint_names(self.axes, disjoint)
        raise_all(asked, subtotals.disjoint_problems(self.axes, names))
        own = (
            [] if self.is_sparse else [PublishedTable("", self.names, schemes.Exact(), self.counts)]
        )
        subtotals.question_subtotals(asked, self.axes, own, names)

    def margin(
        self, names: Sequence[str], groups: Mapping[str, Groups] | None = None
    ) -> CountTable:
        """Return the table of some axes, in the order of the names, summed over the others.

        Without names it is the total. `groups` has for axes to be recoded the categories under each new label.
        """
        places = self._places(names)
        problems: list[Problem] = []
        axes: list[Axis] = []
        numbers: list[Integers | None] = []
        for place in places:
            own = (groups or {}).get(self.axes[place].name)
            made = grouped(self.axes[place], own, "margin", problems) if own else None
            axes.append(made[0] if made else self.axes[place])
            numbers.append(made[1] if made else None)
        raise_all("A margin of a table was asked for.", problems)
        if self.cells is None and not any(group is not None for group in numbers):
            rest = tuple(set(range(len(self.axes))) - set(places))
            summed = np.asarray(self.counts.sum(axis=rest), np.int64)
            order = np.argsort(np.argsort(places)) if places else ()
            return CountTable(tuple(axes), np.array(summed.transpose(order), order="C"))
        _check_size([len(axis) for axis in axes])
        cells, counts = self.nonzero
        to = np.zeros(len(cells), np.int64)
        for place, axis, group in zip(places, axes, numbers, strict=True):
            after = math.prod(self.shape[place + 1 :])
            codes = cells // after % self.shape[place]
            to = to * len(axis) + (codes if group is None else group[codes])
        return CountTable.of_cells(axes, to, counts)

    def __repr__(self) -> str:
        shape = shape_text(self.shape)
        kept = ", sparse" if self.is_sparse else ""
        return f"{type(self).__name__}({shape} cells, total {self.total:,}{kept})"

    def _places(self, names: Sequence[str]) -> list[int]:
        known = {axis.name: place for place, axis in enumerate(self.axes)}
        problems = unknown_axes(names, known, "is not in the table.")
        if len(set(names)) < len(names):
            problems.append(Problem(Reason.DUPLICATE, "margin", "an axis is named twice."))
        raise_all("A margin of a table was asked for.", problems)
        return [known[name] for name in names]

    def _faults(self) -> list[Problem]:
        """Return what is wrong with the arrays; typed-in counts have had a closer look."""
        if self.cells is None and self.counts.shape != self.shape:
            said = f"its counts have the shape {self.counts.shape}, not {self.shape}."
            return [Problem(Reason.MALFORMED, "table", said)]
        problems: list[Problem] = []
        negative = int(np.count_nonzero(self.counts < 0))
        if negative:
            said = f"{count_of(negative, 'count')} below 0."
            problems.append(Problem(Reason.BAD_COUNT, "table", said))
        if self.cells is not None:
            cells = self.cells
            inside = len(cells) == 0 or (int(cells[0]) >= 0 and int(cells[-1]) < self.size)
            if not inside or bool(np.any(cells[1:] <= cells[:-1])):
                said = "the numbers of its cells do not rise within the table."
                problems.append(Problem(Reason.MALFORMED, "table", said))
        return problems or sum_problems(self.counts, "table")


def _added(cells: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Return each cell once, rising, with the sum of its counts, without those that are 0."""
    numbers, places = np.unique(cells, return_inverse=True)
    added = np.zeros(len(numbers), np.int64)
    np.add.at(added, places, counts)
    kept = added != 0
    return numbers[kept].astype(np.int64), added[kept]


def _check_size(shape: Sequence[int]) -> None:
    if math.prod(shape) >= UNBOUNDED:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED,
            f"It has {count_of(len(shape), 'axis', 'axes')} and {magnitude_text(math.prod(shape))} cells.",
            "Leave axes out, or group their categories.",
        )


_FIELDS = ("name", "margin", "scheme", "counts", "hidden", "groups")
_SHOWN_CELLS = 20


def typed_table(
    axes: Sequence[Axis], given: Mapping[str, Any], number: int, problems: list[Problem]
) -> PublishedTable | None:
    """Return a published table from its fields; None after adding every problem."""
    found: list[Problem] = []
    names = _names(given.get("margin"))
    name = given.get("name") or " by ".join(names or ()) or "total"
    where = f"table {quoted([str(name)])}" if names is not None else f"published table {number}"
    found += [
        Problem(
            Reason.WRONG_SCHEMA,
            where,
            f"has the field {quoted([str(field)])}, which is not known.",
            did_you_mean(str(field), _FIELDS),
        )
        for field in given
        if field not in _FIELDS
    ]
    found += [
        Problem(Reason.WRONG_SCHEMA, where, f"has no field '{field}'.")
        for field in ("margin", "counts")
        if field not in given
    ]
    if "margin" in given and names is None:
        said = "its margin is no list of names of axes."
        found.append(Problem(Reason.WRONG_SCHEMA, where, said))
    if not isinstance(name, str):
        found.append(Problem(Reason.BAD_NAME, where, "its name is no text."))
    groups = _groups(given.get("groups"), where, found)
    hidden = _hidden(given.get("hidden"), where, found)
    scheme = _scheme(given.get("scheme", "exact"), where, found)
    own = None
    if names is not None and groups is not None:
        own = published_axes(axes, names, groups, where, found)
    counts, highs = None, None
    if own is not None and scheme is not None and "counts" in given:
        if isinstance(scheme, schemes.Interval):
            ends = given_intervals(given["counts"], own, where, found)
            if ends is not None:
                counts, highs = checked_intervals(scheme, ends, own, where, found)
        else:
            counts = given_counts(given["counts"], own, where, found, hidden=True)
    problems += found
    if found or counts is None or scheme is None or names is None:
        return None
    return PublishedTable(str(name), names, scheme, counts, highs, groups or {}, hidden)


def _names(given: object) -> tuple[str, ...] | None:
    if not isinstance(given, list | tuple):
        return None
    names = cast("Sequence[object]", given)
    if not all(isinstance(name, str) for name in names):
        return None
    return tuple(str(name) for name in names)


def _groups(
    given: object, where: str, problems: list[Problem]
) -> dict[str, dict[str, tuple[str, ...]]] | None:
    said = "its groups are no lists of categories under labels, by the name of an axis."
    wrong = Problem(Reason.WRONG_SCHEMA, where, said)
    made: dict[str, dict[str, tuple[str, ...]]] = {}
    if given is None:
        return made
    if not isinstance(given, Mapping):
        problems.append(wrong)
        return None
    for axis, groups in cast("Mapping[object, object]", given).items():
        if not isinstance(groups, Mapping):
            problems.append(wrong)
            return None
        own = {
            str(label): _names(categories)
            for label, categories in cast("Mapping[object, object]", groups).items()
        }
        if None in own.values():
            problems.append(wrong)
            return None
        made[str(axis)] = cast("dict[str, tuple[str, ...]]", own)
    return made


def _hidden(given: object, where: str, problems: list[Problem]) -> tuple[int, int | None] | None:
    if given is None:
        return None
    ends = cast("Sequence[object]", given) if isinstance(given, list | tuple) else ()
    if len(ends) == 2 and _is_count(ends[0]) and (ends[1] is None or _is_count(ends[1])):
        return cast("tuple[int, int | None]", tuple(ends))
    said = "the limits of its hidden cells are no pair of counts."
    do = "Give a pair such as [1, 4], with null for no upper limit."
    problems.append(Problem(Reason.WRONG_SCHEMA, where, said, do))
    return None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < UNBOUNDED


def _scheme(given: Any, where: str, problems: list[Problem]) -> schemes.Scheme | None:
    if not isinstance(given, str | schemes.Scheme | Mapping):
        said = "its scheme is neither a text nor an object."
        problems.append(Problem(Reason.WRONG_SCHEMA, where, said))
        return None
    try:
        return schemes.parse_scheme(cast("Any", given))
    except InputError as error:
        said = f"{error.asked} {error.found}"
        problems.append(Problem(error.reason, where, said, error.do))
        return None


def limits_within(
    scheme: schemes.Scheme,
    ends: tuple[Integers, Integers],
    own: Sequence[Axis],
    where: str,
    problems: list[Problem],
) -> tuple[Integers, Integers] | None:
    """Return limits of counts of which some are shown, some hidden, and some printed as limits.

    None after adding a problem: where shown counts are not the true ones, or a limit is nothing that
    the scheme hides.
    """
    low, high = (part.copy().reshape(-1) for part in ends)
    is_limit, is_hidden = low != high, low == schemes.HIDDEN
    least, most = scheme.reach(schemes.HIDDEN) or (0, None)
    most = UNBOUNDED if most is None else most
    low[is_limit] = np.maximum(low[is_limit], least)
    high[is_limit] = np.minimum(high[is_limit], most)
    wrong = np.flatnonzero((low > high) & is_limit).tolist()
    shown = low[~is_limit & ~is_hidden]
    if not isinstance(scheme, schemes.Exact | schemes.Suppressed):
        said = f"some cells are limits, and the others counts under '{scheme.text}'."
        do = "Read such tables as exact or suppressed ones, or write every count as an interval."
        problems.append(Problem(Reason.BAD_OPTION, where, said, do))
    elif not scheme.possible(shown).all():
        said = f"a published count cannot come from '{scheme.text}'."
        problems.append(Problem(Reason.IMPOSSIBLE_COUNT, where, said, "Check the scheme."))
    elif wrong:
        said = f"a limit is nothing that '{scheme.text}' hides ({cell_words(own, wrong[0])})."
        problems.append(Problem(Reason.IMPOSSIBLE_COUNT, where, said, "Check the scheme."))
    else:
        return low.reshape(ends[0].shape), high.reshape(ends[0].shape)
    return None


def checked_intervals(
    scheme: schemes.Interval,
    ends: tuple[Integers, Integers],
    own: Sequence[Axis],
    where: str,
    problems: list[Problem],
) -> tuple[Integers | None, Integers | None]:
    """Return lower limits, and the upper ones where the scheme does not tell them.

    Both are None after adding a problem for intervals that the scheme never publishes.
    """
    if not scheme.cuts:
        return ends
    low, high = (part.reshape(-1).tolist() for part in ends)
    wrong = [
        cell
        for cell, (first, last) in enumerate(zip(low, high, strict=True))
        if first != schemes.HIDDEN and not scheme.admits(first, None if last >= UNBOUNDED else last)
    ]
    problems += [
        Problem(
            Reason.IMPOSSIBLE_COUNT,
            f"{where}, {cell_words(own, cell)}",
            f"the published interval cannot come from '{scheme.text}'.",
            "Check the interval and the scheme.",
        )
        for cell in wrong[:_SHOWN_CELLS]
    ]
    return (None, None) if wrong else (ends[0], None)
