"""A step of protection: its options, what holds for all steps, the protected file, what changed.

A step is a frozen dataclass whose fields are its options, written as in `gamekeeper.options`::

    @dataclass(frozen=True, kw_only=True)
    class TopCode(Step):
        do: ClassVar[str] = "top code"
        variable: Annotated[str, Option("The variable.")]
        share: Annotated[float, Option("So many records at the top.", least=0, most=1)] = 0.01

        def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected: ...

Its JSON form is ``{"do": "top code", "variable": "Income", "share": 0.05}``: `do` and every option
that is not at its default. Options are texts, numbers, truths, enums by their value, lists and
mappings of these; one that is anything else overrides `to_json` and `from_json`. The step is
entered in `gamekeeper.protection.recipe.STEPS`, and then recipes, studies and the prompt know it.

`apply` gets the table as earlier steps left it, what holds for all steps (`Setting`), and the place
of the step in its recipe (from 1), by which `setting.stream(place, self.do, variable)` gives random
numbers that depend on seed, step, variable and record only. It returns a `Protected` (see
`protected_by`), and raises one `InputError` with all that is wrong, before anything is changed.

A `ChangeLog` says where a file was changed, cell by cell, and never what was there. Cells are kept
as one bit per record of the input, so that a million records and ten variables take a little over a
megabyte.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.perturbation.counter_streams import CounterStream
from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.recoding import Recoded, recode_table
from gamekeeper.options import option_text, options_of, require_valid
from gamekeeper.prompt_syntax import Missing
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import count_of, did_you_mean, joined, quoted

if TYPE_CHECKING:
    from gamekeeper.mapping.environment.environment import Environment


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What holds for every step of a recipe.

    `keys` are the variables of the table that an intruder could match on, `missing` what a missing
    cell of the input means. `weight` is the numeric column of sampling weights, and `strata`,
    `household`, `identifier` are variables that tell strata, households and records; each empty
    where there is none. `fraction` is the share of the population that is in the file, as
    `count_keys` takes it. Finding a class of records must not give away the `sensitive` variables.
    `response_knowledge`: an intruder may know that somebody is in the file.

    Categories are looked up in the `environment`; for variables coded as a scenario says, `sinks`
    has for each code from 1 on what it means there. Small whole numbers of the variables in
    `numbers` are numbers, and no codes of bands; `decimal` is how numbers of the file are written.
    The result is the same however many `workers` there are; `progress` is told how far the work is,
    and may raise to cancel it.
    """

    keys: tuple[str, ...]
    missing: Missing = Missing.CATEGORY
    weight: str = ""
    strata: str = ""
    household: str = ""
    identifier: str = ""
    fraction: Any = None
    sensitive: tuple[str, ...] = ()
    response_knowledge: bool = True
    seed: int = 0
    environment: Environment | None = field(default=None, repr=False)
    sinks: Mapping[str, Sequence[Sequence[int]]] = field(
        default_factory=dict[str, Sequence[Sequence[int]]], repr=False
    )
    numbers: tuple[str, ...] = ()
    decimal: str = "."
    workers: int | None = None
    progress: Progress | None = field(default=None, repr=False)

    def stream(self, place: int, do: str, variable: str = "") -> CounterStream:
        """Return the stream of random numbers of a step, by its place in the recipe from 1."""
        return CounterStream(self.seed, (f"{place} {do}", variable))

    def households(self, table: CodedTable) -> NDArray[np.int64] | None:
        """Return a number of each record's household, who has none being one; None without a column."""
        if not self.household:
            return None
        codes = table.codes(self.household).astype(np.int64)
        alone = codes == MISSING
        codes[alone] = codes.max(initial=0) + 1 + np.arange(int(alone.sum()))
        return codes

    def records(self, table: CodedTable) -> NDArray[np.uint64]:
        """Return what each record is drawn by: its identifier, whatever the order; else its place."""
        if not self.identifier:
            return np.arange(table.n_records, dtype=np.uint64)
        codes = table.codes(self.identifier)
        counts = np.bincount(codes, minlength=1)
        n_twice = int(counts[1:][counts[1:] > 1].sum())
        n_none = int(counts[MISSING])
        if n_twice or n_none:
            raise InputError(
                Reason.DUPLICATE,
                f"Records were to be told apart by {quoted([self.identifier])}.",
                f"{count_of(n_none, 'record has', 'records have')} none, and"
                f" {count_of(n_twice, 'record shares', 'records share')} one with another.",
                "Name a column with another value for each record (--id), or none: then records"
                " are told apart by their place in the file.",
            )
        values = table.codebook[self.identifier].values
        named = [int.from_bytes(sha256(v.encode()).digest()[:8], "little") for v in values]
        return np.array(named, dtype=np.uint64)[codes]


def recoded_by(
    rules: Sequence[str], table: CodedTable, setting: Setting, *, strict: bool = True
) -> Recoded:
    """Return a file recoded by rules, with names looked up where a setting has them."""
    return recode_table(
        table,
        rules,
        environment=setting.environment,
        sinks=setting.sinks,
        numbers=setting.numbers,
        decimal=setting.decimal,
        strict=strict,
    )


Bits = NDArray[np.uint8]
"""Truths of records, eight to a byte as `numpy.packbits` has them."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VariableChange:
    """What was done to a variable: `recode` has which new code each code of the input became.

    `changed` are records whose cell got another value or none, `suppressed` those whose cell is
    shown as suppressed. A cell that was missing before may be shown as suppressed, but is no change
    and is not counted. A recode alone changes no cell in this sense.
    """

    recode: Recode | None = None
    changed: Bits | None = None
    suppressed: Bits | None = None

    @classmethod
    def of_cells(
        cls,
        changed: NDArray[np.bool_] | None = None,
        *,
        suppressed: NDArray[np.bool_] | None = None,
    ) -> VariableChange:
        """Return a change of some cells, given as one truth per record.

        What is suppressed is changed, unless what was changed is told as well.

        Examples
        --------
        >>> change = VariableChange.of_cells(suppressed=np.array([True, False, True]))
        >>> change.n_changed, change.n_suppressed
        (2, 2)
        """
        if changed is None:
            changed = suppressed
        return cls(
            None,
            None if changed is None else np.packbits(changed),
            None if suppressed is None else np.packbits(suppressed),
        )

    @property
    def n_changed(self) -> int:
        """How many cells have another value, or none any more."""
        return _count(self.changed)

    @property
    def n_suppressed(self) -> int:
        """How many cells were suppressed."""
        if self.suppressed is None or self.changed is None:
            return 0
        return _count(self.suppressed & self.changed)

    def __repr__(self) -> str:
        coarser = "" if self.recode is None else f"{len(self.recode.words) - 1} categories, "
        return f"VariableChange({coarser}{count_of(self.n_changed, 'cell')} changed)"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ChangeLog:
    """Where a file of `n_records` was changed: by variable (or numeric column) what was done to it.

    `records` are the places in the input of the records that are left, in their order; None where
    all are.

    Examples
    --------
    >>> stars = VariableChange.of_cells(suppressed=np.array([True, False]))
    >>> ChangeLog(2, {"age": stars})
    ChangeLog(2 records, 1 variable changed, 1 cell suppressed)
    """

    n_records: int
    variables: Mapping[str, VariableChange] = field(default_factory=dict[str, VariableChange])
    records: NDArray[np.int64] | None = None

    @property
    def n_left(self) -> int:
        """How many records are left."""
        return self.n_records if self.records is None else len(self.records)

    @property
    def n_suppressed(self) -> int:
        """How many cells were suppressed."""
        return sum(change.n_suppressed for change in self.variables.values())

    @property
    def n_changed(self) -> int:
        """How many cells have another value, or none any more."""
        return sum(change.n_changed for change in self.variables.values())

    def suppressed(self, variable: str) -> NDArray[np.bool_]:
        """Return whether the cell of a variable was suppressed, for each record that is left."""
        change = self.variables.get(variable)
        return self._left(None if change is None else change.suppressed)

    def changed(self, variable: str) -> NDArray[np.bool_]:
        """Return whether the cell of a variable was changed, for each record that is left."""
        change = self.variables.get(variable)
        return self._left(None if change is None else change.changed)

    def then(self, later: ChangeLog) -> ChangeLog:
        """Return the log of two steps, one after the other; the later one began where this ended."""
        assert later.n_records == self.n_left, "the later log is of another file"
        made = dict(self.variables)
        for name, change in later.variables.items():
            first = made.get(name, VariableChange())
            made[name] = VariableChange(
                _composed(first.recode, change.recode),
                self._joined(first.changed, change.changed),
                self._joined(first.suppressed, change.suppressed),
            )
        records = self.records
        if later.records is not None:
            records = later.records if records is None else records[later.records]
        return ChangeLog(self.n_records, made, records)

    def cells(self) -> pa.Table:
        """Return one row per changed cell: the record of the input from 1, the variable, and how.

        Examples
        --------
        >>> stars = VariableChange.of_cells(suppressed=np.array([False, True]))
        >>> ChangeLog(2, {"age": stars}).cells().to_pylist()
        [{'record': 2, 'variable': 'age', 'change': 'suppressed'}]
        """
        records: list[NDArray[np.int64]] = []
        names: list[str] = []
        hows: list[str] = []

        def add(bits: NDArray[np.bool_], name: str, how: str) -> None:
            found = np.flatnonzero(bits)
            records.append(found + 1)
            names.extend([name] * len(found))
            hows.extend([how] * len(found))

        for name, change in self.variables.items():
            stars = self._whole(change.suppressed)
            changed = self._whole(change.changed)
            add(stars & changed, name, "suppressed")
            add(stars & ~changed, name, "missing before, shown as suppressed")
            add(changed & ~stars, name, "another value")
            if change.recode is not None:
                hows.append("every cell recoded")
                names.append(name)
                records.append(np.zeros(1, dtype=np.int64))
        if self.records is not None:
            left_out = np.ones(self.n_records, dtype=np.bool_)
            left_out[self.records] = False
            add(left_out, "", "record left out")
        whole = np.concatenate([*records, np.zeros(0, dtype=np.int64)])
        numbers = pa.array(whole, mask=whole == 0)
        columns = {"record": numbers, "variable": pa.array(names, pa.string())}
        return pa.table({**columns, "change": pa.array(hows, pa.string())})

    def _whole(self, bits: Bits | None) -> NDArray[np.bool_]:
        if bits is None:
            return np.zeros(self.n_records, dtype=np.bool_)
        return np.unpackbits(bits, count=self.n_records).astype(np.bool_)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per variable: numbers of cells and categories, no places and no values."""
        return [
            {
                "variable": name,
                "recoded": change.recode is not None,
                "categories": None if change.recode is None else len(change.recode.words) - 1,
                "suppressed": change.n_suppressed,
                "changed": change.n_changed,
                "changed_share": change.n_changed / max(self.n_records, 1),
            }
            for name, change in self.variables.items()
        ]

    def __repr__(self) -> str:
        left_out = self.n_records - self.n_left
        without = f", {left_out:,} left out" if left_out else ""
        return (
            f"ChangeLog({count_of(self.n_records, 'record')}{without},"
            f" {count_of(len(self.variables), 'variable')} changed,"
            f" {count_of(self.n_suppressed, 'cell')} suppressed)"
        )

    def _left(self, bits: Bits | None) -> NDArray[np.bool_]:
        every = self._whole(bits)
        return every if self.records is None else every[self.records]

    def _joined(self, first: Bits | None, later: Bits | None) -> Bits | None:
        if later is None or self.records is None:
            return later if first is None else first if later is None else first | later
        every = np.zeros(self.n_records, dtype=np.bool_)
        every[self.records] = np.unpackbits(later, count=self.n_left).astype(np.bool_)
        made = np.packbits(every)
        return made if first is None else first | made


def _composed(first: Recode | None, later: Recode | None) -> Recode | None:
    if first is None or later is None:
        return later if first is None else first
    return Recode(first.variable, later.codes[first.codes], later.words, later.name)


def _count(bits: Bits | None) -> int:
    return 0 if bits is None else int(np.bitwise_count(bits).sum())


@dataclass(frozen=True, repr=False, eq=False)
class Protected(Result):
    """A file after one step or after several: `before` and now (`table`), and where they differ (`log`).

    A suppressed cell has code 0 like a missing one; `log.suppressed(variable)` tells the two apart.
    The table has the variables and numeric columns of before, its records in the order of the
    original: for work inside. What is written for others is shuffled. `told` says what was done,
    without a category of the file; `found` has what the step found as plain values that a recipe
    keeps (cells, lower bounds, losses), `frozen` the steps that do the same without searching.
    """

    tells_of_records: ClassVar[bool] = False
    why_no_plot: ClassVar[str] = "it is a file; the map of a study draws what it costs"
    before: CodedTable
    table: CodedTable
    log: ChangeLog
    told: tuple[str, ...]
    provenance: Provenance
    found: Mapping[str, Any] = field(default_factory=dict[str, Any])
    frozen: tuple[Step, ...] = ()

    @property
    def fingerprints(self) -> tuple[str, str]:
        """What stands for the data before and after."""
        return self.before.fingerprint, self.table.fingerprint

    def then(self, later: Protected) -> Protected:
        """Return the file after this step and another one, which was done to its table."""
        return replace(
            later,
            before=self.before,
            log=self.log.then(later.log),
            told=(*self.told, *later.told),
            frozen=(),
        )

    def summary(self) -> dict[str, Any]:
        """Return how much was changed."""
        return {
            "records": self.log.n_left,
            "left_out": self.log.n_records - self.log.n_left,
            "suppressed": self.log.n_suppressed,
            "changed": self.log.n_changed,
        }

    def sentences(self) -> list[str]:
        """Return what was done, in words."""
        return [self._changes(), *self.told]

    def _changes(self) -> str:
        log = self.log
        n_recoded = sum(change.recode is not None for change in log.variables.values())
        n_out, n_stars = log.n_records - log.n_left, log.n_suppressed
        n_other = log.n_changed - n_stars
        parts = [
            count_of(number, one, many)
            for number, one, many in (
                (n_recoded, "variable has coarser categories", "variables have coarser categories"),
                (n_stars, "cell is suppressed", "cells are suppressed"),
                (n_other, "cell has another value", "cells have another value"),
                (n_out, "record is left out", "records are left out"),
            )
            if number
        ]
        return f"{joined(parts)}; no other value was changed." if parts else "Nothing was changed."

    def to_arrow(self) -> pa.Table:
        """Return one row per variable that was changed."""
        kinds = {"variable": pa.string(), "recoded": pa.bool_(), "categories": pa.int64()}
        kinds |= {"suppressed": pa.int64(), "changed": pa.int64(), "changed_share": pa.float64()}
        return pa.Table.from_pylist(self.log.rows(), pa.schema(kinds))


_OF_RECIPES = ("do", "found", "frozen")
# Options that name columns.
_COLUMNS = ("variable", "variables", "within")


class NotReachableError(InputError):
    """What was asked of a step is in order, but this file cannot reach it: a search goes on elsewhere."""


class Step(ABC):
    """A method of protection with its options."""

    do: ClassVar[str] = ""
    """Its name in a recipe."""
    iso: ClassVar[str] = ""
    """What ISO/IEC 20889 calls it."""

    @abstractmethod
    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Do it to a file; `place` is that of the step in its recipe, from 1."""

    def check(self, table: CodedTable, setting: Setting) -> list[Problem]:
        """Return what is wrong with what is asked, as far as that is known before any work."""
        return []

    def columns(self) -> tuple[str, ...]:
        """Return the columns of the file that the step needs besides the keys."""
        found: list[str] = []
        for name in _COLUMNS:
            value = getattr(self, name, ())
            found += [value] if isinstance(value, str) else list(value or ())
        return tuple(name for name in found if name)

    def to_json(self) -> dict[str, Any]:
        """Return the step as plain values; what is at its default is left out."""
        made: dict[str, Any] = {"do": self.do}
        for item in fields(self):  # pyright: ignore[reportArgumentType]
            value = getattr(self, item.name)
            default = item.default if item.default_factory is NO_DEFAULT else item.default_factory()
            if default is NO_DEFAULT or value != default:
                made[item.name] = _plain(value)
        return made

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return a step from its plain values; one error names all that cannot be used."""
        asked = f"The step {quoted([cls.do])} was to be read."
        options = {item.name: item for item in options_of(cls)}
        problems = [
            Problem(Reason.UNKNOWN_NAME, f"option {quoted([name])}", "it is not known.",
                    did_you_mean(name, list(options)))
            for name in content
            if name not in options and name not in _OF_RECIPES
        ]  # fmt: skip
        problems += [
            Problem(Reason.NOTHING_GIVEN, f"option {quoted([name])}", "it is not given.")
            for name, item in options.items()
            if item.is_required and name not in content
        ]
        problems += [
            Problem(Reason.WRONG_SCHEMA, f"option {quoted([name])}", *_UNFIT[shape])
            for name, item in options.items()
            if content.get(name) is not None and (shape := _unfit(item.kind, content[name]))
        ]
        refuse(problems, asked, f"{count_of(len(problems), 'option')} cannot be used.")
        given = {
            name: _read(options[name].kind, content[name]) for name in options if name in content
        }
        made = cls(**given)
        require_valid(made, asked)
        return made


def problems_of(check: Callable[[], object], where: str) -> list[Problem]:
    """Return the problems of the error that a check raises; none where it passes."""
    try:
        check()
    except InputError as error:
        return list(error.problems) or [Problem(error.reason, where, error.found, error.do)]
    return []


def protected_by(
    step: Step,
    before: CodedTable,
    table: CodedTable,
    log: ChangeLog,
    setting: Setting,
    *,
    told: Sequence[str],
    found: Mapping[str, Any] | None = None,
    frozen: Sequence[Step] = (),
    began: float | None = None,
) -> Protected:
    """Return what a step has made, with its provenance; `began` is by `time.perf_counter`."""
    options = {name: option_text(value) for name, value in step.to_json().items() if name != "do"}
    made = Provenance(
        f"protection: {step.do}",
        step.iso,
        {**options, "keys": ", ".join(setting.keys), "missing": setting.missing.value},
        setting.seed,
        before.fingerprint,
        before.engine.name,
        seconds=0.0 if began is None else time.perf_counter() - began,
    )
    return Protected(before, table, log, tuple(told), made, dict(found or {}), tuple(frozen))


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


_UNFIT = {
    "truth": ("it is neither true nor false.", "Write true or false."),
    "text": ("it is no text.", "Give a text."),
    "list": ("it is no list.", "Give a list of texts or numbers."),
    "pairs": ("it is no object of names and values.", "Give a value for each name."),
}


def _unfit(kind: Any, value: Any) -> str:
    """Return what a plain value that cannot be of a type should be, by a key of `_UNFIT`.

    What is no number, or out of its range, is told by the check of all options.
    """
    parts = get_args(kind)
    if kind is bool:
        return "" if isinstance(value, bool) else "truth"
    if isinstance(kind, type) and issubclass(kind, str):
        return "" if isinstance(value, str) else "text"
    if get_origin(kind) is Mapping:
        is_right = isinstance(value, Mapping) and all(
            isinstance(each, int | float) and not isinstance(each, bool)
            if parts[1] in (int, float)
            else not _unfit(parts[1], each)
            for each in value.values()
        )
        return "" if is_right else "pairs"
    if get_origin(kind) in (tuple, Sequence):
        is_right = isinstance(value, list | tuple) and not any(_unfit(parts[0], v) for v in value)
        return "" if is_right else "list"
    return ""


def _read(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value) if value in {each.value for each in kind} else value
    return _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
