"""Opening a file of microdata as a person asks for it: its columns, its keys, its categories."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.codebook import MISSING, Codebook
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.first_records import FIRST_RECORDS, first_codes
from gamekeeper.data.coding.recode import Recode
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.duckdb_engine import default_engine
from gamekeeper.data.keys.key_table import KeyTable, count_keys
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.reading.column_names import matched_names
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.files.reading import require_ordinary
from gamekeeper.files.writing import write_file
from gamekeeper.mapping.variables.category_blocks import categorization_of
from gamekeeper.mapping.variables.coarsening import coarsenings
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.names import folded
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.recoding.applying import Recoded, recode_table
from gamekeeper.mapping.scenario.recoding import (
    RecodePlan,
    UnmappedValues,
    columns_of,
    plan_recodes,
)
from gamekeeper.mapping.scenario.staleness import staleness
from gamekeeper.results import Progress
from gamekeeper.wording import at_start, count_of, quoted, read_cell, shown_cell, shown_path
from gamekeeper.workbench.environments import opened
from gamekeeper.workbench.notices import missing_code_notices
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.reading import Reading

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.attack.models.options import FitOptions
    from gamekeeper.attack.what_if import WhatIf
    from gamekeeper.report.attack_report import AboutFile

_NO_DESIGN = SampleDesign()
_HEADER = ("variable", "value", "label", "records", "category")


@dataclass(frozen=True, slots=True)
class Need:
    """What an attack needs of the machine, asked before a file is read.

    Attributes
    ----------
    bytes_of
        The bytes that it takes, at least, for a number of records and of variables.
    look
        Refuses by the codes of the first records and the number of all, where that can be told.
    """

    bytes_of: Callable[[int, int], int]
    look: Callable[[NDArray[np.uint32], int], None] | None = None


@dataclass(frozen=True)
class Microdata:
    """A file that is open: its source, its codes and the key variables they are read under."""

    source: Source
    coded: CodedTable
    keys: tuple[str, ...]
    missing: Missing = Missing.CATEGORY
    design: SampleDesign = _NO_DESIGN
    sensitive: tuple[str, ...] = ()
    missing_codes: tuple[str, ...] = ()
    scenario: Scenario | None = None
    environment: Environment | None = None
    recoded: Recoded | None = None
    before: CodedTable | None = None
    """The file before it was recoded, where it was."""
    identifier: str = ""
    """The column with the user's own name of each record."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know before anything is believed: a stale scenario, codes that may mean missing."""
        if self.scenario is None or self.environment is None:
            return self.missing_codes
        stale = staleness(self.scenario, self.environment)
        return (stale, *self.missing_codes) if stale else self.missing_codes

    def count(self, *, progress: Progress | None = None) -> KeyTable:
        """Count the keys of the file, as a sample of the design that was given."""
        return self._counted(self.coded, progress)

    def count_before(self) -> KeyTable | None:
        """Count the keys of the file as it was before it was recoded; None where it was not."""
        return None if self.before is None else self._counted(self.before, None)

    def what_if(
        self, after: KeyTable, *, fit: FitOptions | None = None, progress: Progress | None = None
    ) -> WhatIf | None:
        """Compare the file with what it was before it was recoded; None where it was not."""
        before = self.count_before()
        if before is None or self.recoded is None:
            return None
        from gamekeeper.attack.what_if import compare_recoded

        changes = self.recoded.changes
        return compare_recoded(before, after, changes=changes, fit=fit, progress=progress)

    def about(self, notices: Sequence[str], what_if: WhatIf | None = None) -> AboutFile:
        """Return what a report says of the file."""
        from gamekeeper.report.attack_report import AboutFile

        return AboutFile(
            self.source.name,
            self.source.settings,
            "" if self.scenario is None else self.scenario.name,
            "" if self.scenario is None else self.scenario.attacker,
            notices,
            what_if,
        )

    def with_identifiers(self, table: pa.Table) -> pa.Table:
        """Return a table of records with the user's own name of each, where one is known."""
        if not self.identifier:
            return table
        import pyarrow as pa

        variable = self.coded.codebook[self.identifier]
        values = pa.array(variable.values)
        places = table["record"].to_numpy() - 1
        codes = self.coded.codes(self.identifier)[places]
        named = values.take(pa.array(codes.astype(np.int64), mask=codes == MISSING))
        name = self.identifier
        while name in table.column_names:
            name += "_"
        return table.add_column(table.column_names.index("record") + 1, name, named)

    def _counted(self, coded: CodedTable, progress: Progress | None) -> KeyTable:
        return count_keys(
            coded,
            self.keys,
            missing=self.missing,
            weight=self.design.weight,
            strata=self.design.strata,
            fraction=_fraction(self.design.fraction),
            sensitive=self.sensitive,
            progress=progress,
        )

    def coarser(self) -> dict[str, list[Recode]]:
        """Return, for each key variable of a scenario, coarser and coarser recodings of it."""
        if self.scenario is None or self.environment is None:
            return {}
        made: dict[str, list[Recode]] = {}
        recoded = () if self.recoded is None else self.recoded.rules
        taken = {rule.variable.casefold() for rule in recoded}
        for key in self.scenario.keys:
            if key.variable.casefold() in taken:
                # Its codes are no longer those of the scenario.
                continue
            variable = self.environment.variable(key.variable)
            categorization = categorization_of(variable, key.blocks)
            if categorization is None or isinstance(categorization, Arbitrary):
                continue
            fine = categorization.blocks()
            for step in coarsenings(variable, categorization):
                place = {
                    sink: code for code, block in enumerate(step.blocks(), 1) for sink in block
                }
                codes = np.array([0, *(place[block[0]] for block in fine)])
                words = ("missing", *variable.words(step))
                made.setdefault(key.variable, []).append(Recode(key.variable, codes, words))
        return made


def opened_file(file: Path, asked: Reading) -> Source:
    """Open a data file as people say that it is to be read."""
    return open_source(
        file,
        delimiter=asked.delimiter,
        encoding=asked.encoding,
        decimal=asked.decimal,
        missing=asked.missing_values,
        keep_user_missing=asked.keep_user_missing,
        header=asked.header,
        sheet=asked.sheet,
    )


def open_microdata(
    asked: MicrodataRequest,
    *,
    design: SampleDesign = _NO_DESIGN,
    sensitive: Sequence[str] = (),
    extra: Sequence[str] = (),
    identifier: str = "",
    strict: bool = True,
    need: Need | None = None,
    progress: Progress | None = None,
) -> Microdata:
    """Open a file of microdata and code the columns that are needed; nothing of it is kept.

    `extra` names further columns to code, such as a household; `identifier` is the user's own name
    of records. Where it is not `strict`, recodings may name categories that do not occur. `need` is
    what the attack will need of the machine: it is asked before records are read, by the number that
    the file tells or, for a text file, that its size and its first lines suggest.
    """
    _require_one_way(asked)
    source = opened_file(asked.file, asked.reading)
    names = source.names
    design = replace(
        design,
        weight=matched_names([design.weight], names)[0],
        strata=matched_names([design.strata], names)[0],
    )
    sensitive, extra = matched_names(sensitive, names), matched_names(extra, names)
    (identifier,) = matched_names([identifier], names)
    others = [name for name in (design.strata, *sensitive, *extra, identifier) if name]
    numbers = [design.weight] if design.weight else []

    def coded(columns: Iterable[str]) -> CodedTable:
        wanted = list(dict.fromkeys([*columns, *others]))
        _require_room(source, wanted, need)
        return code_source(
            source, wanted, numbers=numbers, engine=default_engine(), progress=progress
        )

    if not asked.scenario:
        keys = matched_names(_names(asked.keys, names), names)
        table = coded(keys)
        codes = missing_code_notices(
            table, known=_own_names(table, identifier), decimal=source.decimal
        )
        data = Microdata(
            source, table, keys, asked.missing, design, tuple(sensitive), codes,
            identifier=identifier,
        )  # fmt: skip
        return _recoded(data, asked, _looked_up(asked), strict=strict)
    assert asked.environment is not None
    environment = _environment(asked.environment)
    scenario = _scenario(asked.scenario, environment)
    wanted = tuple(key.variable for key in scenario.keys)
    columns = columns_of(wanted, names, asked.columns)
    table = coded(columns.values())
    values = _read_values(asked.values) if asked.values is not None else {}
    plan = plan_recodes(
        scenario, environment, table.codebook, columns, values=values, decimal=source.decimal
    )
    _require_mapped(plan, table, asked)
    known = _named_values(scenario, plan, table.codebook, values)
    data = Microdata(
        source,
        table.recoded(plan.recodes),
        wanted,
        asked.missing,
        design,
        tuple(sensitive),
        missing_code_notices(table, known=known, decimal=source.decimal),
        scenario,
        environment,
        identifier=identifier,
    )
    return _recoded(data, asked, environment, strict=strict)


def _own_names(table: CodedTable, identifier: str) -> dict[str, tuple[str, ...]]:
    """Return the identifiers as values that mean what they are."""
    return {identifier: table.codebook[identifier].values} if identifier else {}


def _looked_up(asked: MicrodataRequest) -> Environment | None:
    return None if asked.environment is None else _environment(asked.environment)


def _recoded(
    data: Microdata, asked: MicrodataRequest, environment: Environment | None, *, strict: bool
) -> Microdata:
    """Return the file with its recodings, none of which is written."""
    if not asked.recodes:
        return data
    made = recode_table(
        data.coded,
        asked.recodes,
        environment=environment,
        sinks=_sinks(data.scenario, environment),
        decimal=data.source.decimal,
        strict=strict,
    )
    unused = [rule.variable for rule in made.rules if not _is_among(rule.variable, data.keys)]
    if unused:
        raise InputError(
            Reason.BAD_OPTION,
            f"{quoted(unused)} {'was' if len(unused) == 1 else 'were'} to be recoded.",
            f"The key variables are {quoted(data.keys)}.",
            "Recode key variables.",
        )
    return replace(data, coded=made.table, recoded=made, before=data.coded)


def _is_among(name: str, keys: Sequence[str]) -> bool:
    return matched_names([name], keys)[0] in keys


def _sinks(
    scenario: Scenario | None, environment: Environment | None
) -> dict[str, list[list[int]]]:
    """Return what the codes of a scenario's key variables mean in its environment."""
    found: dict[str, list[list[int]]] = {}
    for key in () if scenario is None or environment is None else scenario.keys:
        assert environment is not None
        partition = categorization_of(environment.variable(key.variable), key.blocks)
        if partition is not None and not isinstance(partition, Arbitrary):
            found[key.variable] = partition.blocks()
    return found


def _environment(given: Path | Environment) -> Environment:
    if isinstance(given, Environment):
        return given
    with opened(given) as place:
        return place.environment


def _scenario(given: str | Scenario, environment: Environment) -> Scenario:
    return given if isinstance(given, Scenario) else environment.scenario(given)


@dataclass(frozen=True, slots=True)
class OtherFile:
    """The keys of a file beside the one that is attacked, None where there is no such file."""

    keys: KeyTable | None
    notices: tuple[str, ...] = ()


def open_other(asked: MicrodataRequest, file: Path | None) -> OtherFile:
    """Count the keys of another file, such as a population, read like the one that is attacked."""
    if file is None:
        return OtherFile(None)
    data = open_microdata(replace(asked, file=file), strict=False)
    # That the scenario is stale is said already.
    codes = tuple(f"In the file {quoted([file.name])}: {text}" for text in data.missing_codes)
    return OtherFile(data.count(), codes)


def _require_room(source: Source, columns: Sequence[str], need: Need | None) -> None:
    """Refuse a file that is too large for an attack, before its records are read."""
    n_records = None if need is None else source.about_records()
    if need is None or n_records is None:
        return
    source.check_names(columns)
    n_keys = len(columns)
    is_exact = source.n_records is not None
    records = f"{'' if is_exact else 'about '}{count_of(n_records, 'record')}"
    require_memory(
        f"{at_start(records)} of {source.words} were to be read.",
        need.bytes_of(n_records, n_keys),
        f"What is kept of {records} with {count_of(n_keys, 'variable')}",
        "Take a random part of the records, or one region at a time",
    )
    if need.look is not None and is_exact and n_records > FIRST_RECORDS:
        need.look(first_codes(source, columns), n_records)


def _named_values(
    scenario: Scenario,
    plan: RecodePlan,
    codebook: Codebook,
    values: Mapping[str, Mapping[str, str]],
) -> dict[str, set[str]]:
    """Return, by column, the values that are categories by name, or are said to be."""
    known: dict[str, set[str]] = {}
    for key, recode in zip(scenario.keys, plan.recodes, strict=True):
        column = codebook[recode.variable]
        named = known.setdefault(column.name, set(values.get(key.variable, ())))
        if key.blocks:
            named.update(
                value
                for value, word, code in zip(column.values, column.words, recode.codes, strict=True)
                if folded(recode.words[code]) in (folded(value), folded(word))
            )
    return known


def _require_one_way(request: MicrodataRequest) -> None:
    """Refuse a request that has neither keys nor a scenario, or both."""
    problems: list[Problem] = []
    if bool(request.keys) == bool(request.scenario):
        both = "they are given by name and by a scenario." if request.keys else "none is given."
        problems.append(
            Problem(
                Reason.BAD_OPTION if request.keys else Reason.NOTHING_GIVEN,
                "key variables",
                both,
                "Name the columns (--keys), or a scenario (--scenario).",
            )
        )
    if request.scenario and request.environment is None:
        problems.append(
            Problem(
                Reason.NOTHING_GIVEN,
                "environment",
                "the scenario is kept in an environment, and none is given.",
                "Name its store or folder (--environment).",
            )
        )
    # Recodings may be looked up in an environment without a scenario.
    unused = None if request.recodes else request.environment
    of_scenario = (unused, request.columns, request.values, request.unmapped)
    if not request.scenario and any(of_scenario):
        problems.append(
            Problem(
                Reason.BAD_OPTION,
                "environment, columns, values or unmapped",
                "they say how a file fits a scenario, and no scenario is given.",
                "Leave them out, or name a scenario (--scenario).",
            )
        )
    if problems:
        raise InputError(
            problems[0].reason,
            f"{_file_words(request.file)} was to be opened.",
            f"{count_of(len(problems), 'fault was', 'faults were')} found in what was asked.",
            problems=problems,
        )


def _file_words(file: Path | object) -> str:
    # A frame is no path, and its text has values.
    return f"The file {shown_path(file)}" if isinstance(file, Path) else "A data frame"


def _names(given: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Return names that may be given one by one or several with commas between them."""
    names: list[str] = []
    for text in given:
        # A column may have a comma in its name.
        parts = [text] if text in columns else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    return tuple(names)


def _fraction(text: str | Any) -> Any:
    """Return the fraction, or those of strata: '0.02', '2%', '1/50' or 'North=2%, South=5%'."""
    if not isinstance(text, str):
        return text
    if not text.strip():
        return None
    if "=" not in text:
        return text.strip()
    pairs = [part.rpartition("=") for part in text.split(",") if part.strip()]
    fractions = {name.strip(): value.strip() for name, _, value in pairs}
    n_twice = len(pairs) - len(fractions)
    if n_twice:
        raise InputError(
            Reason.DUPLICATE,
            f"Sampling fractions of {count_of(len(pairs), 'stratum', 'strata')} were given.",
            f"{count_of(n_twice, 'stratum is', 'strata are')} given more than once.",
            "Give one fraction for each: --fraction 'North=2%, South=5%'.",
        )
    return fractions


def _require_mapped(plan: RecodePlan, table: CodedTable, request: MicrodataRequest) -> None:
    if not plan.unmapped:
        return
    counts = {
        item.variable: np.bincount(
            table.codes(item.column), minlength=table.codebook[item.column].n_codes
        )
        for item in plan.unmapped
    }

    def records(item: UnmappedValues) -> int:
        return int(counts[item.variable][list(item.codes)].sum())

    do = "Write them to a file with --unmapped FILE, fill in their categories, and give it by --values."
    if request.unmapped is not None:
        _write_unmapped(plan.unmapped, counts, request.unmapped)
        do = f"They are in {shown_path(request.unmapped)}: fill in their categories, and give it by --values."
    plan.require_mapped(records, do)


def _write_unmapped(
    unmapped: Iterable[UnmappedValues], counts: Mapping[str, np.ndarray], path: Path
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_HEADER)
    for item in unmapped:
        for value, word, code in zip(item.values, item.words, item.codes, strict=True):
            label = word if word != value else ""
            cells = (item.variable, value, label, int(counts[item.variable][code]), "")
            writer.writerow(map(shown_cell, cells))
    write_file(
        path,
        text.getvalue().encode(),
        private=True,
        replace=False,
        asked="The values that are not mapped were to be written to {}.",
    )


def _read_values(path: Path) -> dict[str, dict[str, str]]:
    """Read which category each value means, by variable."""
    asked = f"The categories of values were to be read from {shown_path(path)}."
    header: tuple[str, ...] = ()
    lines: list[dict[str, str | None]] = []
    failure = ""
    try:
        require_ordinary(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = tuple(reader.fieldnames or ())
            lines = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        failure = type(error).__name__
    if failure:
        # Raised out here, since the other error holds bytes of the file and would be its context.
        raise InputError(
            Reason.NOT_READABLE, asked, f"It could not be read ({failure}).",
            "Give the file that --unmapped wrote, in UTF-8.",
        )  # fmt: skip
    needed = ("variable", "value", "category")
    absent = [name for name in needed if name not in header]
    if absent:
        raise InputError(
            Reason.WRONG_SCHEMA, asked, f"It has no column {quoted(absent)}.",
            f"Give a table with the columns {quoted(needed)}.",
        )  # fmt: skip
    read: dict[str, dict[str, str]] = {}
    unlike: Counter[str] = Counter()
    for line in lines:
        variable, value = read_cell(line["variable"] or "").strip(), read_cell(line["value"] or "")
        category = read_cell(line["category"] or "").strip()
        if read.setdefault(variable, {}).setdefault(value, category) != category:
            unlike[variable] += 1
    if unlike:
        raise InputError(
            Reason.DUPLICATE, asked, "Values are given twice, with different categories.",
            "Give one category for each value.",
            problems=[
                Problem(Reason.DUPLICATE, f"variable {quoted([name])}", count_of(number, "value") + ".")
                for name, number in unlike.items()
            ],
        )  # fmt: skip
    return read
