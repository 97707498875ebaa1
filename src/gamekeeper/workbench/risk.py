"""Stage two as a person does it: look at a file first, count its keys, attack the release.

A look shows names of columns, counts, and codes for missing from a fixed list of ours; values of the
file only where they are asked for. Each task imports its own attack: there are many, and people
run one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.arrow import pa
from gamekeeper.budget import Work
from gamekeeper.data.coding.codebook import MISSING, CodedVariable, suspected_codes
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.gate import MOST_WRITTEN
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.writing import write_classes
from gamekeeper.data.reading.columns import matched_names, number_of
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import count_of, folded, quoted
from gamekeeper.workbench import answers, microdata
from gamekeeper.workbench.requests import records

if TYPE_CHECKING:
    from gamekeeper.attack.matching_result import MatchingRisk
    from gamekeeper.attack.measures import RiskMeasures
    from gamekeeper.attack.uniques.dis import DisRisk
    from gamekeeper.attack.uniques.special import SpecialUniques
    from gamekeeper.attack.uniques.suda import UniquesRisk

_MOST_AT_ONCE, _MOST_CELLS = 512, 1 << 20
_KEYS = re.compile(
    r"\b(age|birth|dob|sex|gender|region|area|county|district|municipality|province|state|place|"
    r"postcode|zip|nuts|marital|civil|education|qualification|occupation|job|profession|industry|"
    r"nace|isco|work|employment|country|nationality|citizenship|ethnic|ethnicity|race|religion|"
    r"language|household|children|tenure|dwelling|income|health|disability)\b"
)
_IDENTIFIERS = re.compile(
    r"\b(id|pid|hid|uuid|serial|identifier|name|email|phone|ssn|key|nr|number)\b"
)
_WEIGHTS = re.compile(r"\b(w|weight|weights|wgt|pweight|grossing)\b")


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """What a first look says of a column."""

    column: str
    type: str
    levels: int
    missing: int
    missing_codes: str
    role: str
    why: str


@dataclass(frozen=True, repr=False)
class FileLook(Result):
    """The columns of a file, and which of them may be key variables."""

    name: str
    kind: str
    n_records: int
    columns: tuple[ColumnLook, ...]
    by: str
    values: tuple[tuple[str, str, int], ...]
    provenance: Provenance
    notices: tuple[str, ...] = ()
    """What to know of the scenario: what has changed since it was made, what of it is not used."""
    unfit: tuple[str, ...] = ()
    """Why the file does not fit the scenario as it is: columns, values and codes to be told of."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that may be key variables."""
        return tuple(one.column for one in self.columns if one.role == "key variable")

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {"records": self.n_records, "columns": len(self.columns), "keys": len(self.keys)}

    def sentences(self) -> list[str]:
        """Return what to know before the file is assessed."""
        n_columns = count_of(len(self.columns), "column")
        told = [f"{self.name} ({self.kind}): {count_of(self.n_records, 'record')}, {n_columns}."]
        told += [*self.notices, *self.unfit]
        suspected = [one.column for one in self.columns if one.missing_codes]
        if suspected:
            told.append(
                f"Values that look like codes for missing: {quoted(suspected)} (--missing-value)."
            )
        likely = [one.column for one in self.columns if one.role == "identifier"]
        if likely:
            told.append(f"Likely identifiers, which are no key variables: {quoted(likely)}.")
        if self.keys:
            told.append(
                f"Key variables to consider, by {self.by} (gamekeeper assess FILE):"
                f" --keys '{','.join(self.keys)}'."
            )
        else:
            told.append(
                f"No key variable is known by {self.by}: think of what an intruder may know."
            )
        return told

    def to_arrow(self) -> pa.Table:
        """Return one row per column."""
        kinds = {"str": pa.string(), "int": pa.int64()}
        schema = pa.schema({item.name: kinds[str(item.type)] for item in fields(ColumnLook)})
        return pa.Table.from_pylist([asdict(one) for one in self.columns], schema)


def look_at(asked: records.LookRequest) -> FileLook:
    """Look at a file: its columns, missing cells, likely identifiers, possible key variables."""
    if asked.scenario and asked.environment is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Key variables of a scenario were to be found.",
            "The scenario is kept in an environment, and none is given.",
            "Name its store or folder (--environment).",
        )
    answers.require_outputs(asked)
    source = microdata.opened_file(asked.file, asked.reading)
    answers.require_room(source, source.names, answers.Need(Work.LOOK))
    wanted: dict[str, str] = {}
    notices: tuple[str, ...] = ()
    problems: list[Problem] = []
    table = code_source(source, source.names)
    if asked.scenario and asked.environment is not None:
        from gamekeeper.workbench.scenario_file import environment_of, fit_of, scenario_notices

        environment = environment_of(asked.environment)
        scenario = environment.scenario(asked.scenario)
        notices = scenario_notices(scenario, environment)
        wanted, problems = fit_of(asked, scenario, environment, table, source.decimal)
    codes: dict[str, list[str]] = {}
    for found in suspected_codes(table, decimal=source.decimal):
        codes.setdefault(found.variable, []).append(found.value)
    columns: list[ColumnLook] = []
    values: list[tuple[str, str, int]] = []
    for variable, counts in _counted(table):
        n_given = table.n_records - counts[MISSING]
        kind = _type(variable, source.decimal)
        role, why = _role(variable, n_given, kind, wanted.values() if asked.scenario else None)
        suspected = ", ".join(codes.get(variable.name, ()))
        levels = variable.n_codes - 1
        columns.append(
            ColumnLook(variable.name, kind, levels, counts[MISSING], suspected, role, why)
        )
        if asked.values and levels <= 100:
            values += [(variable.name, variable.words[c], counts[c]) for c in range(1, levels + 1)]
    by = f"the scenario {quoted([asked.scenario])}" if asked.scenario else "their names"
    made = Provenance("first look", fingerprint=table.fingerprint, engine=table.engine.name)
    return FileLook(
        source.name,
        source.kind,
        table.n_records,
        tuple(columns),
        by,
        tuple(values),
        made,
        notices,
        tuple(f"{problem.where[0].upper()}{str(problem)[1:]}" for problem in problems),
    )


def _counted(table: CodedTable) -> Iterator[tuple[CodedVariable, list[int]]]:
    """Yield each variable with how many records have each of its codes; a few columns at a time."""
    variables = tuple(table.codebook)
    # To ask for a column takes longer the more there are: one by one, many would take for ever.
    step = max(1, min(_MOST_AT_ONCE, _MOST_CELLS // table.n_records))
    for first in range(0, len(variables), step):
        some = variables[first : first + step]
        codes = table.matrix([variable.name for variable in some])
        for place, variable in enumerate(some):
            counts = np.bincount(codes[:, place], minlength=variable.n_codes)
            yield variable, counts.tolist()


def _type(variable: CodedVariable, decimal: str) -> str:
    numbers = [number_of(value, decimal) for value in variable.values[1:1_001]]
    if not numbers:
        return "empty"
    if any(number is None for number in numbers):
        return "text"
    return (
        "whole number" if all(n is not None and n.denominator == 1 for n in numbers) else "number"
    )


def _role(
    variable: CodedVariable, n_given: int, kind: str, wanted: Collection[str] | None
) -> tuple[str, str]:
    if wanted is not None:
        return ("key variable", "in the scenario") if variable.name in wanted else ("", "")
    bare = folded(re.sub(r"[_.\-]+", " ", variable.name))
    if _WEIGHTS.search(bare) and kind.endswith("number"):
        return "weight", "by its name"
    is_alone = n_given >= 10 and variable.n_codes - 1 >= 0.95 * n_given
    if is_alone and kind != "number":
        return "identifier", "nearly every record has a value of its own"
    if _IDENTIFIERS.search(bare):
        return "identifier", "by its name"
    return ("key variable", "by its name") if _KEYS.search(bare) else ("", "")


# Records times sets of variables: below that a search takes a second or two.
_LONG_SEARCH = 1 << 28


@dataclass(frozen=True, slots=True)
class CountedFile:
    """A file and its counted keys."""

    source: Source
    table: KeyTable


def count_release(
    asked: records.KeysRequest, *, progress: Progress | None = None
) -> answers.Answer[CountedFile]:
    """Count the keys of a file; write its classes to a table where asked for."""
    answers.require_outputs(asked)
    data = microdata.open_microdata(
        asked.microdata,
        counting=asked.counting,
        design=asked.design,
        sensitive=asked.sensitive,
        progress=progress,
    )
    attacked = microdata.Attacked(asked, data, data.count(progress=progress))
    table = attacked.table
    answer = attacked.finish(
        table,
        progress=progress,
        counted=lambda path: answers.write_where_counted(
            table.coded.engine,
            path,
            table.n_classes,
            "classes",
            there=partial(write_classes, table),
            here=table.to_arrow,
            raw=asked.raw,
        ),
    )
    return answers.Answer(CountedFile(data.source, table), answer.notices, answer.what_if)


def find_uniques(
    asked: records.SudaRequest,
    *,
    tell: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> answers.Answer[UniquesRisk]:
    """Find and score the minimal sample uniques of a file; write records and a report.

    With a population the report also tells what matching strategies would achieve and cost. `tell` is
    given an estimate in words before a search that may take long.
    """
    from gamekeeper.algorithms.uniques.minimal_uniques import require_least_seconds
    from gamekeeper.attack.uniques.records import write_unique_records
    from gamekeeper.attack.uniques.suda import assess_uniques

    answers.require_outputs(asked)
    _require_used(asked)
    search = asked.search
    need = answers.Need(
        Work.UNIQUES,
        lambda first, n: require_least_seconds(
            first, n, search.max_size, search.max_seconds or None
        ),
        by_key=True,
    )
    attacked = _opened(asked, need, progress, identifier=asked.identifier)
    data, table, people = attacked.data, attacked.table, attacked.others.keys
    if tell is not None and table.n_records << len(table.keys) > _LONG_SEARCH:
        tell(_estimated(table, asked.search.max_size))
    risk = assess_uniques(table, asked=asked.search, progress=progress)
    plain = risk.records.table
    risk = replace(risk, records=replace(risk.records, table=data.with_identifiers(plain)))

    def matching() -> list[Result]:
        if people is None:
            return []
        from gamekeeper.attack.matching import assess_matching

        return [assess_matching(table, population=people)]

    def write_there(path: Path) -> None:
        write_unique_records(
            table, plain, path, not_known=risk.not_known, identifier=data.identifier
        )

    return attacked.finish(
        risk,
        progress=progress,
        besides=matching,
        msus=lambda path: _write_msus(data, risk, path, raw=asked.raw),
        counted=lambda path: answers.write_where_counted(
            table.coded.engine,
            path,
            table.coded.n_records,
            "records",
            there=write_there,
            here=risk.records.to_arrow,
            raw=asked.raw,
        ),
    )


def _write_msus(data: microdata.Microdata, risk: UniquesRisk, path: Path, *, raw: bool) -> None:
    from gamekeeper.report.tables import write_table

    write_table(data.with_identifiers(risk.msus()), path, raw=raw)


def _opened(
    asked: records.SudaRequest
    | records.MatchRequest
    | records.SpecialRequest
    | records.MeasuresRequest,
    need: answers.Need,
    progress: Progress | None,
    *,
    identifier: str = "",
    extra: Sequence[str] = (),
) -> microdata.Attacked:
    """Open and count a file, and the population beside it; one that cannot be read is refused first."""
    microdata.require_other(asked.microdata, asked.population, counting=asked.counting)
    data = microdata.open_microdata(
        asked.microdata,
        counting=asked.counting,
        design=asked.design,
        extra=extra,
        identifier=identifier,
        by_weight=isinstance(asked, records.MatchRequest),
        need=need,
        progress=progress,
    )
    table = data.count(progress=progress)
    others = microdata.open_other(asked.microdata, asked.population, counting=asked.counting)
    return microdata.Attacked(asked, data, table, others)


def _require_used(asked: records.SudaRequest) -> None:
    if asked.population is not None and asked.report is None:
        raise InputError(
            Reason.BAD_OPTION,
            "A population was given to the search for uniques.",
            "It is for the report, and none is asked for.",
            "Ask for a --report, or compare strategies (gamekeeper risk match).",
        )
    if (asked.explain or asked.msus) and not asked.search.listing:
        raise InputError(
            Reason.BAD_OPTION,
            "Records were to be explained, or their minimal sample uniques written.",
            "Without the list of minimal sample uniques there is nothing to explain by.",
            "Leave out --no-listing.",
        )


def _estimated(table: KeyTable, max_size: int | None) -> str:
    from gamekeeper.attack.uniques.suda import estimate_search

    estimate = estimate_search(table, max_size=max_size)
    about = "more than" if estimate.at_least else "about"
    return (
        f"There are {about} {estimate.n_msus:,} minimal sample uniques to find, which takes {about}"
        f" {max(estimate.seconds, 1):,.0f} s of processor time (estimated from"
        f" {count_of(estimate.n_sampled, 'record')})."
    )


_BY_ORDER = (
    "Records of the release and of the original are taken to be in the same order. If they are not, as where"
    " a release was shuffled ('protect apply' does), the figures mean nothing."
)


def simulate_intrusion(
    asked: records.DisRequest, *, progress: Progress | None = None
) -> answers.Answer[DisRisk]:
    """Say by data intrusion simulation what a unique match is worth; with an original by its special method."""
    from gamekeeper.attack.options import DisMethod
    from gamekeeper.attack.uniques.dis import assess_dis

    answers.require_outputs(asked)
    microdata.require_other(asked.microdata, asked.original, counting=asked.counting)
    data = microdata.open_microdata(asked.microdata, counting=asked.counting, design=asked.design)
    table = data.count()
    # Only the keys of the original matter; weights and strata are those of the release.
    before = microdata.open_other(asked.microdata, asked.original, counting=asked.counting)
    method = asked.dis.method if before.keys is None else DisMethod.SPECIAL
    found = assess_dis(
        table, asked=asked.dis, method=method, original=before.keys, progress=progress
    )
    by_order = () if asked.original is None else (_BY_ORDER,)
    return microdata.Attacked(asked, data, table, before).finish(found, by_order, progress=progress)


def match_release(
    asked: records.MatchRequest, *, progress: Progress | None = None
) -> answers.Answer[MatchingRisk]:
    """Work out what matching strategies would achieve and cost."""
    from gamekeeper.attack.matching import assess_matching

    answers.require_outputs(asked)
    work = Work.MATCHING if asked.population is not None else Work.INFERENCE
    attacked = _opened(asked, answers.Need(work, by_key=True), progress)
    people = attacked.others.keys
    found = assess_matching(
        attacked.table, asked=asked.matching, population=people, progress=progress
    )
    return attacked.finish(found, progress=progress)


def find_special(
    asked: records.SpecialRequest, *, progress: Progress | None = None
) -> answers.Answer[SpecialUniques]:
    """Tell special from random uniques by what makes their uniqueness go away."""
    from gamekeeper.attack.uniques.special import assess_special_uniques

    answers.require_outputs(asked)
    need = answers.Need(Work.SPECIAL, by_key=True)
    attacked = _opened(asked, need, progress, identifier=asked.identifier)
    data, people = attacked.data, attacked.others.keys
    found = assess_special_uniques(
        attacked.table,
        asked=asked.special,
        coarser=data.coarser(),
        population=people,
        progress=progress,
    )
    return attacked.finish(
        replace(found, table=data.with_identifiers(found.table)), progress=progress
    )


def measure_release(
    asked: records.MeasuresRequest, *, progress: Progress | None = None
) -> answers.Answer[RiskMeasures]:
    """Measure a file as offices and their software do; write its records."""
    from gamekeeper.attack.measures import measure_risk

    answers.require_outputs(asked)
    wanted = asked.measures
    others = [*wanted.sensitive, *wanted.ordered, *([wanted.household] if wanted.household else [])]
    need = answers.Need(
        Work.MEASURES,
        by_key=not wanted.household,
        most_elsewhere=MOST_WRITTEN,
        do=answers.WITHOUT_HOUSEHOLDS,
    )
    attacked = _opened(
        asked, need, progress, identifier=asked.identifier, extra=list(dict.fromkeys(others))
    )
    data, table = attacked.data, attacked.table
    names = data.coded.codebook.names
    found = measure_risk(
        table,
        asked=wanted,
        sensitive=matched_names(wanted.sensitive, names),
        ordered=matched_names(wanted.ordered, names),
        household=matched_names([wanted.household], names)[0],
        population=attacked.others.keys,
        progress=progress,
    )
    plain = found.records.to_arrow()
    counted = answers.listed_writer(
        table.listed,
        lambda: plain,
        data.identifier,
        lambda: data.with_identifiers(plain),
        raw=asked.raw,
    )
    return attacked.finish(
        found, answers.listed_notices(table.listed), progress=progress, counted=counted
    )
