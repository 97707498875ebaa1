"""A file of microdata as a person opens it: its engine, its columns, its keys and their categories.

Keys are columns, or the key variables of a scenario: then each value is mapped to a category, by its
name or by a table of values, and those that fit none are written to be filled in. Nothing of the file
is kept but codes.
"""

from __future__ import annotations

import csv
import io
import os
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING, Codebook, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.duckdb_engine import default_engine
from gamekeeper.data.engine.gate import Engine
from gamekeeper.data.keys.counting import (
    count_keys,
    counting_bytes,
    design_problems,
    raise_problems,
)
from gamekeeper.data.keys.key_table import EVEN_WEIGHTS, KeyTable
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files import require_ordinary, write_file
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.mapping.recoding import Recoded, read_rules, recode_table
from gamekeeper.mapping.recoding_rules import RecodeRule
from gamekeeper.mapping.scenario.proposal import (
    RecodePlan,
    UnmappedValues,
    columns_of,
    plan_recodes,
)
from gamekeeper.mapping.variables.categorization import categorization_of, coarsenings
from gamekeeper.prompt_syntax import Missing, parse_fraction
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, folded, quoted, read_cell, shown_cell, shown_path
from gamekeeper.workbench.answers import (
    Need,
    in_file,
    missing_code_notices,
    require_room,
    scenario_notices,
)
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.requests.records import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.shared import (
    ON_THIS_MACHINE,
    SCRATCH_VARIABLE,
    THIS_MACHINE,
    EngineRequest,
    Reading,
)

if TYPE_CHECKING:
    from gamekeeper.attack.options import FitOptions
    from gamekeeper.attack.what_if import WhatIf
    from gamekeeper.report.risk_report import AboutFile

_opened: dict[tuple[str, str], Engine] = {}
_opening = threading.Lock()


def engine_for(asked: EngineRequest) -> Engine:
    """Return the engine that is asked for; one for all requests of this process that name it."""
    if not isinstance(asked.engine, str):
        return asked.engine
    name = asked.named
    if name == THIS_MACHINE:
        if asked.scratch.strip():
            raise InputError(
                Reason.BAD_OPTION,
                f"The folder {quoted([asked.scratch], letters=400)} was named for what a cluster keeps.",
                "No cluster is named: it is counted on this machine.",
                "Name one (--engine), or leave out --scratch.",
            )
        return default_engine()
    scratch = asked.scratch.strip() or os.environ.get(SCRATCH_VARIABLE, "").strip()
    # To start a session takes many seconds, so that it is kept until the process ends.
    with _opening:
        engine = _opened.get((name, scratch))
        if engine is None or engine.is_closed:
            from gamekeeper.data.engine.duckdb_engine import open_engine

            engine = _opened[name, scratch] = open_engine(name, scratch=scratch or None)
        return engine


def require_mapped(plan: RecodePlan, table: CodedTable, unmapped: Path | None) -> None:
    """Refuse a file with values that no category is known for; write them where a file is named."""
    do = "Write them to a file with --unmapped FILE, fill in their categories, and give it by --values."
    problems = unmapped_problems(plan, table, unmapped)
    if unmapped is not None:
        do = f"They are in {shown_path(unmapped)}: fill in their categories, and give it by --values."
    n_keys = len({item.variable for item in plan.unmapped})
    refuse(
        problems,
        f"The values of the file were to be mapped to the categories of {quoted([plan.scenario])}.",
        f"{count_of(n_keys, 'key variable')} could not be mapped.",
        do,
    )


def unmapped_problems(plan: RecodePlan, table: CodedTable, unmapped: Path | None) -> list[Problem]:
    """Return what is wrong with values that are not mapped; write them where a file is named."""
    if not plan.unmapped:
        return []
    counts = table.counts(list({item.column for item in plan.unmapped}))
    if unmapped is not None:
        _write_unmapped(plan.unmapped, counts, unmapped)
    return plan.problems(lambda item: int(counts[item.column][list(item.codes)].sum()))


def _write_unmapped(
    unmapped: Iterable[UnmappedValues], counts: Mapping[str, np.ndarray], path: Path
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(("variable", "value", "label", "records", "as a number", "category"))
    for item in unmapped:
        as_numbers = item.as_numbers or [""] * len(item.values)
        rows = zip(item.values, item.words, item.codes, as_numbers, strict=True)
        for value, word, code, number in rows:
            label = word if word != value else ""
            cells = (item.variable, value, label, int(counts[item.column][code]), number, "")
            writer.writerow(map(shown_cell, cells))
    write_file(
        path,
        text.getvalue().encode(),
        private=True,
        replace=False,
        asked="The values that are not mapped were to be written to {}.",
    )


def read_values(path: Path) -> dict[str, dict[str, str]]:
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


def named_values(
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


NO_DESIGN = SampleDesign()


@dataclass(frozen=True)
class Microdata:
    """A file that is open: its source, its codes and the key variables they are read under."""

    source: Source
    coded: CodedTable
    keys: tuple[str, ...]
    missing: Missing = Missing.CATEGORY
    design: SampleDesign = NO_DESIGN
    sensitive: tuple[str, ...] = ()
    missing_codes: tuple[str, ...] = ()
    of_scenario: tuple[str, ...] = ()
    scenario: Scenario | None = None
    environment: Environment | None = None
    recoded: Recoded | None = None
    before: CodedTable | None = None
    """The file before it was recoded, where it was."""
    identifier: str = ""
    """The column with the user's own name of each record."""
    person: str = ""
    """The column that tells whose a record is, where one record of each person is to be counted."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know first: of the scenario, of codes that may mean missing, of weights as strata."""
        told = (*self.of_scenario, *self.missing_codes)
        if self.design.weight and self.design.strata == self.design.weight:
            n_weights = self.coded.codebook[self.design.weight].n_codes - 1
            by_weight = (
                f"{quoted([self.design.weight])} has {n_weights} different weights: records of one weight"
                " are taken as a stratum, of people who were drawn with the same chance."
            )
            told = (*told, by_weight)
        return told

    def count(self, *, progress: Progress | None = None) -> KeyTable:
        """Count the keys of the file, as a sample of the design that was given."""
        return self._counted(self.coded, progress)

    def what_if(
        self, after: KeyTable, *, fit: FitOptions | None = None, progress: Progress | None = None
    ) -> WhatIf | None:
        """Compare the file with what it was before it was recoded; None where it was not."""
        if self.before is None or self.recoded is None:
            return None
        from gamekeeper.attack.what_if import compare_recoded

        before = self._counted(self.before, None)
        changes = self.recoded.changes
        return compare_recoded(before, after, changes=changes, fit=fit, progress=progress)

    def about(self, notices: Sequence[str], what_if: WhatIf | None = None) -> AboutFile:
        """Return what a report says of the file."""
        from gamekeeper.report.risk_report import AboutFile

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
        variable = self.coded.codebook[self.identifier]
        values = pa.array(variable.values)
        codes = self.coded.codes_at(self.identifier, table["record"].to_numpy() - 1)
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
            fraction=fraction_of(self.design.fraction),
            sensitive=self.sensitive,
            person=self.person,
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


def require_design(design: SampleDesign, n_keys: int) -> None:
    """Refuse a sample that cannot have been drawn as it is said, before a record is read."""
    fraction = fraction_of(design.fraction)
    problems = design_problems(weight=design.weight, strata=design.strata, fraction=fraction)
    raise_problems(problems, n_keys)
    for share in fraction.values() if isinstance(fraction, Mapping) else ():
        parse_fraction(share)


def fraction_of(text: str | Any) -> Any:
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


_COUNTED = Need(counting_bytes, by_key=True)
# More weights than this, or of fewer records each, are no strata but adjusted.
_MOST_WEIGHTS, _RECORDS_PER_WEIGHT = 50, 20


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
    counting: EngineRequest = ON_THIS_MACHINE,
    design: SampleDesign = NO_DESIGN,
    sensitive: Sequence[str] = (),
    extra: Sequence[str] = (),
    identifier: str = "",
    person: str = "",
    strict: bool = True,
    by_weight: bool = False,
    need: Need = _COUNTED,
    progress: Progress | None = None,
) -> Microdata:
    """Open a file of microdata and code the columns that are needed.

    `counting` says who keeps and counts its records. `extra` names further columns to code, such as a
    household; `identifier` is the user's own name of records, and `person` the column that tells whose
    they are, where one record of each is to be counted. Where it is not `strict`, recodings may name
    categories that do not occur. With `by_weight`, records of one weight are a stratum where weights are
    few and the design names neither strata nor a fraction. `need` is asked before records are read, by the
    number that the file tells or, for a text file, that its size and its first lines suggest.
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
    identifier, person = matched_names([identifier, person], names)
    others = [name for name in (design.strata, *sensitive, *extra, identifier, person) if name]
    numbers = [design.weight] if design.weight else []

    def coded(columns: Iterable[str]) -> CodedTable:
        nonlocal design
        wanted = list(dict.fromkeys([*columns, *others]))
        if counting.is_elsewhere:
            # To reach a cluster takes half a minute: what is wrong with the rest is told before.
            source.check_names(list(dict.fromkeys([*wanted, *numbers])))
            require_design(design, len(keys))
            _require_keys(read_rules(asked.recodes), keys)
        require_room(source, wanted, need, elsewhere=counting.is_elsewhere)
        made = code_source(
            source, wanted, numbers=numbers, engine=engine_for(counting), progress=progress
        )
        by_weights = _with_weight_strata(made, design) if by_weight else None
        if by_weights is None:
            return made
        design = replace(design, strata=design.weight)
        return by_weights

    environment, scenario = asked.environment, None
    if environment is not None and not isinstance(environment, Environment):
        with opened(environment) as place:
            environment = place.environment
    if not asked.scenario:
        keys = matched_names(_names(asked.keys, names), names)
        table = read = coded(keys)
        # Identifiers of records and people mean what they are.
        known = {name: table.codebook[name].values for name in (identifier, person) if name}
    else:
        assert environment is not None
        given = asked.scenario
        scenario = given if isinstance(given, Scenario) else environment.scenario(given)
        keys = tuple(key.variable for key in scenario.keys)
        columns = columns_of(keys, names, asked.columns)
        values = read_values(asked.values) if asked.values is not None else {}
        read = coded(columns.values())
        plan = plan_recodes(
            scenario,
            environment,
            read.codebook,
            columns,
            values=values,
            numbers=asked.numbers,
            decimal=source.decimal,
        )
        require_mapped(plan, read, asked.unmapped)
        known = named_values(scenario, plan, read.codebook, values)
        table = read.recoded(plan.recodes)
    data = Microdata(
        source,
        table,
        keys,
        asked.missing,
        design,
        tuple(sensitive),
        missing_code_notices(read, known=known, decimal=source.decimal),
        scenario_notices(scenario, environment),
        scenario,
        None if scenario is None else environment,
        identifier=identifier,
        person=person,
    )
    return _recoded(data, asked, environment, strict=strict)


def _with_weight_strata(table: CodedTable, design: SampleDesign) -> CodedTable | None:
    """Return a table whose weights are a variable as well; None where they cannot be strata."""
    if not design.weight or design.strata or design.fraction:
        return None
    # A record stands for itself at least; weights below that are scaled to something else.
    if table.n_below(design.weight, 1.0):
        return None
    most = min(_MOST_WEIGHTS, table.n_records // _RECORDS_PER_WEIGHT)
    coded = table.with_number_coded(design.weight, most)
    if coded is None:
        return None
    first, *_, last = map(float, coded.codebook[design.weight].values[1:])
    return coded if last > EVEN_WEIGHTS * first else None


@dataclass(frozen=True, slots=True)
class OtherFile:
    """The keys of a file beside the one that is attacked, None where there is no such file."""

    keys: KeyTable | None
    notices: tuple[str, ...] = ()


def require_other(
    asked: MicrodataRequest, file: Path | None, *, counting: EngineRequest = ON_THIS_MACHINE
) -> None:
    """Refuse another file that cannot be read, or not for its size, before anything is worked out."""
    if file is not None:
        source = opened_file(file, asked.reading)
        require_room(source, (), _COUNTED, elsewhere=counting.is_elsewhere)


def open_other(
    asked: MicrodataRequest, file: Path | None, *, counting: EngineRequest = ON_THIS_MACHINE
) -> OtherFile:
    """Count the keys of another file, such as a population, read like the one that is attacked."""
    if file is None:
        return OtherFile(None)
    data = open_microdata(replace(asked, file=file), counting=counting, strict=False)
    # That the scenario is stale is said already.
    codes = in_file(file.name, data.missing_codes)
    return OtherFile(data.count(), codes)


def _recoded(
    data: Microdata, asked: MicrodataRequest, environment: Environment | None, *, strict: bool
) -> Microdata:
    if not asked.recodes:
        return data
    made = recode_table(
        data.coded,
        asked.recodes,
        environment=environment,
        sinks=sinks_of(data.scenario, environment),
        numbers=asked.numbers,
        decimal=data.source.decimal,
        strict=strict,
    )
    _require_keys(made.rules, data.keys)
    return replace(data, coded=made.table, recoded=made, before=data.coded)


def _require_keys(rules: Sequence[RecodeRule], keys: Sequence[str]) -> None:
    named = matched_names([rule.variable for rule in rules], keys)
    unused = [rule.variable for rule, name in zip(rules, named, strict=True) if name not in keys]
    if unused:
        raise InputError(
            Reason.BAD_OPTION,
            f"{quoted(unused)} {'was' if len(unused) == 1 else 'were'} to be recoded.",
            f"The key variables are {quoted(keys)}.",
            "Recode key variables.",
        )


def sinks_of(
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
    unused_numbers = () if request.environment is not None else request.numbers
    of_scenario = (unused, request.columns, request.values, request.unmapped, unused_numbers)
    if not request.scenario and any(of_scenario):
        problems.append(
            Problem(
                Reason.BAD_OPTION,
                "environment, columns, values, unmapped or numbers",
                "they say how a file fits a scenario, and no scenario is given.",
                "Leave them out, or name a scenario (--scenario).",
            )
        )
    refuse(
        problems,
        f"{_file_words(request.file)} was to be opened.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found in what was asked.",
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
