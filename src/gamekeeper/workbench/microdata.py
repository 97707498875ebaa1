"""A file of microdata as a person opens it: its engine, its columns, its keys and their categories.

Keys are columns, or the key variables of a scenario: then each value is mapped to a category, by its
name or by a table of values, and those that fit none are written to be filled in. Nothing of the file
is kept but codes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gamekeeper.arrow import pa
from gamekeeper.budget import Work
from gamekeeper.data.coding.codebook import MISSING, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.duckdb_engine import default_engine
from gamekeeper.data.engine.gate import Engine
from gamekeeper.data.keys.counting import (
    count_keys,
    design_problems,
    raise_problems,
)
from gamekeeper.data.keys.key_table import EVEN_WEIGHTS, KeyTable
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.prompt_syntax import Missing, parse_fraction
from gamekeeper.results import Progress, Result
from gamekeeper.wording import count_of, quoted, shown_path
from gamekeeper.workbench import answers
from gamekeeper.workbench.requests import shared
from gamekeeper.workbench.requests.records import MicrodataRequest, SampleDesign

if TYPE_CHECKING:
    from gamekeeper.attack.options import FitOptions
    from gamekeeper.attack.what_if import WhatIf
    from gamekeeper.mapping.environment.environment import Environment
    from gamekeeper.mapping.environment.rules import Scenario
    from gamekeeper.mapping.recoding import Recoded
    from gamekeeper.mapping.recoding_rules import RecodeRule
    from gamekeeper.report.page import RiskReport
    from gamekeeper.report.risk_report import AboutFile

Found = TypeVar("Found", bound=Result)
_opened: dict[tuple[str, str], Engine] = {}
_opening = threading.Lock()


def engine_for(asked: shared.EngineRequest) -> Engine:
    """Return the engine that is asked for; one for all requests of this process that name it."""
    if not isinstance(asked.engine, str):
        return asked.engine
    name = asked.named
    if name == shared.THIS_MACHINE:
        if asked.scratch.strip():
            raise InputError(
                Reason.BAD_OPTION,
                f"The folder {quoted([asked.scratch], letters=400)} was named for what a cluster keeps.",
                "No cluster is named: it is counted on this machine.",
                "Name one (--engine), or leave out --scratch.",
            )
        return default_engine()
    scratch = asked.scratch.strip() or os.environ.get(shared.SCRATCH_VARIABLE, "").strip()
    # To start a session takes many seconds, so that it is kept until the process ends.
    with _opening:
        engine = _opened.get((name, scratch))
        if engine is None or engine.is_closed:
            from gamekeeper.data.engine.duckdb_engine import open_engine

            engine = _opened[name, scratch] = open_engine(name, scratch=scratch or None)
        return engine


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

    def coarser(self) -> dict[str, list[Recode]]:
        """Return, for each key variable of a scenario, coarser and coarser recodings of it."""
        if self.scenario is None or self.environment is None:
            return {}
        from gamekeeper.workbench.scenario_file import coarser_recodes

        taken = () if self.recoded is None else self.recoded.rules
        return coarser_recodes(self.scenario, self.environment, taken)

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


_COUNTED = answers.Need(Work.COUNTING, by_key=True)
# More weights than this, or of fewer records each, are no strata but adjusted.
_MOST_WEIGHTS, _RECORDS_PER_WEIGHT = 50, 20


def opened_file(file: Path, asked: shared.Reading) -> Source:
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
    counting: shared.EngineRequest = shared.ON_THIS_MACHINE,
    design: SampleDesign = NO_DESIGN,
    sensitive: Sequence[str] = (),
    extra: Sequence[str] = (),
    identifier: str = "",
    person: str = "",
    strict: bool = True,
    by_weight: bool = False,
    need: answers.Need = _COUNTED,
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
            if asked.recodes:
                from gamekeeper.mapping.recoding import read_rules

                _require_keys(read_rules(asked.recodes), keys)
        answers.require_room(source, wanted, need, elsewhere=counting.is_elsewhere)
        made = code_source(
            source, wanted, numbers=numbers, engine=engine_for(counting), progress=progress
        )
        by_weights = _with_weight_strata(made, design) if by_weight else None
        if by_weights is None:
            return made
        design = replace(design, strata=design.weight)
        return by_weights

    environment, scenario = None, None
    of_scenario: tuple[str, ...] = ()
    if asked.environment is not None:
        # Whoever names columns needs nothing of stage one, which is much to load.
        from gamekeeper.workbench.scenario_file import environment_of, scenario_notices

        environment = environment_of(asked.environment)
        scenario = asked.scenario or None
        if isinstance(scenario, str):
            scenario = environment.scenario(scenario)
        of_scenario = scenario_notices(scenario, environment)
    if scenario is None or environment is None:
        keys = matched_names(_names(asked.keys, names), names)
        table = read = coded(keys)
        # Identifiers of records and people mean what they are.
        known = {name: table.codebook[name].values for name in (identifier, person) if name}
    else:
        from gamekeeper.workbench.scenario_file import map_columns

        keys = tuple(key.variable for key in scenario.keys)
        read, table, known = map_columns(asked, scenario, environment, source, coded)
    data = Microdata(
        source,
        table,
        keys,
        asked.missing,
        design,
        tuple(sensitive),
        answers.missing_code_notices(read, known=known, decimal=source.decimal),
        of_scenario,
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
    asked: MicrodataRequest,
    file: Path | None,
    *,
    counting: shared.EngineRequest = shared.ON_THIS_MACHINE,
) -> None:
    """Refuse another file that cannot be read, or not for its size, before anything is worked out."""
    if file is not None:
        source = opened_file(file, asked.reading)
        answers.require_room(source, (), _COUNTED, elsewhere=counting.is_elsewhere)


def open_other(
    asked: MicrodataRequest,
    file: Path | None,
    *,
    counting: shared.EngineRequest = shared.ON_THIS_MACHINE,
) -> OtherFile:
    """Count the keys of another file, such as a population, read like the one that is attacked."""
    if file is None:
        return OtherFile(None)
    data = open_microdata(replace(asked, file=file), counting=counting, strict=False)
    # That the scenario is stale is said already.
    codes = answers.in_file(file.name, data.missing_codes)
    return OtherFile(data.count(), codes)


@dataclass(frozen=True)
class Attacked:
    """A file that was opened as asked, with its keys counted, and the file beside it."""

    asked: Any
    data: Microdata
    table: KeyTable
    others: OtherFile = OtherFile(None)

    def finish(
        self,
        found: Found,
        notices: Sequence[str] = (),
        *,
        fit: FitOptions | None = None,
        progress: Progress | None = None,
        besides: Callable[[], Sequence[Result | None]] = tuple,
        **ways: Callable[[Path], object],
    ) -> answers.Answer[Found]:
        """Write what is asked for of a result, and answer with it.

        - `notices`: what to know besides what is known of the files.
        - `besides`: makes further results for the report.
        - `ways`: how other files are written (see `write_outputs`).
        """
        what_if = self.data.what_if(self.table, fit=fit, progress=progress)
        told = (*self.data.notices, *self.others.notices, *notices)

        def report() -> RiskReport:
            from gamekeeper.report.assessment_report import report_of

            return report_of(
                self.data.about(told, what_if),
                self.table,
                found,
                besides=besides(),
                audience=self.asked.report_for,
                with_records=getattr(self.asked, "report_records", True),
            )

        answers.write_outputs(self.asked, found, report=report, **ways)
        return answers.Answer(found, told, what_if)


def _recoded(
    data: Microdata, asked: MicrodataRequest, environment: Environment | None, *, strict: bool
) -> Microdata:
    if not asked.recodes:
        return data
    from gamekeeper.mapping.recoding import recode_table
    from gamekeeper.workbench.scenario_file import sinks_of

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
