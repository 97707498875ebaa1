"""Record linkage as a person runs it: columns that are compared, links, masked versions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.linkage import guessing
from gamekeeper.attack.linkage.columns import Kind, LinkVariable, common_variables
from gamekeeper.attack.linkage.file_links import FileLinks
from gamekeeper.attack.linkage.files import (
    MaskingComparison,
    compare_maskings,
    link_files,
    require_records,
)
from gamekeeper.attack.linkage.options import ObjectiveName
from gamekeeper.attack.linkage.structure import StructureLinks, link_structure
from gamekeeper.attack.linkage.truth import true_partners
from gamekeeper.budget import Work
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.duckdb_engine import default_engine
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.results import Progress
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, did_you_mean, quoted
from gamekeeper.workbench import answers
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.microdata import opened_file
from gamekeeper.workbench.requests import records

if TYPE_CHECKING:
    from gamekeeper.report.page import RiskReport

Found = TypeVar("Found", FileLinks, MaskingComparison, StructureLinks)


def compared_variables(
    sources: Sequence[Source], asked: records.ComparedColumns
) -> list[LinkVariable]:
    """Return the variables to compare; the first file is the one by whose names they are asked for."""
    columns = [[column.name for column in source.columns] for source in sources]
    if asked.on:
        chosen = [
            LinkVariable(first.strip(), second.strip())
            for first, _, second in (name.partition("=") for name in asked.on)
        ]
    else:
        common = set(columns[0]).intersection(*columns[1:])
        without = [name for name in columns[0] if name not in common]
        chosen = common_variables(columns[0], columns[1], without=[*without, asked.identifier])
    named = {one.name for one in chosen}
    problems: list[Problem] = []
    for what, pairs in (
        ("kind", asked.kinds),
        ("measure", asked.measures),
        ("missing", asked.missing),
        ("order", asked.order),
        ("weight", asked.weights),
        ("steps", asked.steps),
    ):
        problems += unknown_names(
            pairs, named, f"{what} of", "it is not among the variables that are compared."
        )
    known = [kind.value for kind in Kind]
    problems += [
        Problem(
            Reason.BAD_OPTION,
            f"kind of {quoted([name])}",
            f"there is no kind {quoted([kind])}.",
            f"There are: {quoted(known)}.",
        )
        for name, kind in asked.kinds.items()
        if kind not in known
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Two files were to be linked.",
            f"{count_of(len(problems), 'option')} cannot be used.",
            problems=problems,
        )
    made = [
        replace(
            one,
            kind=Kind(asked.kinds[one.name]) if one.name in asked.kinds else None,
            measure=asked.measures.get(one.name, ""),
            order=tuple(asked.order.get(one.name, ())),
            missing=_missing(asked.missing.get(one.name, "expected")),
        )
        for one in chosen
    ]
    return _mapped(made, asked.environment)


def unknown_names(
    names: Iterable[str], known: Collection[str], what: str, found: str
) -> list[Problem]:
    """Return a problem for each name that is not known."""
    return [
        Problem(
            Reason.UNKNOWN_NAME,
            f"{what} {quoted([name])}",
            found,
            did_you_mean(name, sorted(known)),
        )
        for name in names
        if name not in known
    ]


def _missing(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _mapped(variables: list[LinkVariable], environment: StorePlace | None) -> list[LinkVariable]:
    """Give the variables that are compared by sinks their partition graph."""
    asked = [one.name for one in variables if one.kind is Kind.MAPPED]
    if environment is not None and not asked:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Columns were to be compared by the categories of an environment.",
            "None was named.",
            "Say which (--kind COLUMN=mapped), or leave the environment out.",
        )
    if environment is None:
        if asked:
            raise InputError(
                Reason.NOTHING_GIVEN,
                f"{quoted(asked)} {'was' if len(asked) == 1 else 'were'} to be compared by the"
                " categories of an environment.",
                "No environment was named.",
                "Name a store or folder (--environment).",
            )
        return variables
    known = variables_in(environment)
    problems = unknown_names(asked, known, "variable", "is not in the environment.")
    refuse(
        problems,
        "Categories were to be compared by the partition graphs of an environment.",
        f"{count_of(len(problems), 'variable is', 'variables are')} not there.",
    )
    return [
        replace(one, variable=known[one.name]) if one.kind is Kind.MAPPED else one
        for one in variables
    ]


def weights_of(
    variables: Sequence[LinkVariable],
    asked: records.ComparedColumns,
    objectives: Sequence[ObjectiveName | str],
) -> list[float]:
    """Return a weight per variable; none where none are asked for or given."""
    if not asked.weights and ObjectiveName.WEIGHTED not in objectives:
        return []
    return [asked.weights.get(one.name, 1.0) for one in variables]


def steps_of(variables: Sequence[LinkVariable], asked: records.ComparedColumns) -> list[int | None]:
    """Return steps per variable, None where they are to be chosen; none where none are given."""
    return [asked.steps.get(one.name) for one in variables] if asked.steps else []


def without_identifiers(
    pairs: Sequence[tuple[CodedTable, CodedTable, tuple[str, str]]],
    variables: list[LinkVariable],
    columns: records.ComparedColumns,
) -> tuple[list[LinkVariable], list[str]]:
    """Leave out columns that only say which record it is, unless they were named; say which.

    Columns that link by themselves stay, and are said too.
    """
    if columns.on:
        return variables, []
    asked = {*columns.measures, *columns.order, *columns.weights, *columns.steps}
    seen = {
        name for a, b, decimals in pairs for name in guessing.identifiers(a, b, variables, decimals)
    }
    found = [one.name for one in variables if one.name in seen - asked]
    left = [one for one in variables if one.name not in found]
    if not left:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Two files were to be linked on the columns they share.",
            f"{quoted(found)} {'looks' if len(found) == 1 else 'look'} like an identifier, and there"
            " is no other.",
            "Name the columns to compare all the same (--on), or the column that says who is who (--id).",
        )
    notes: list[str] = []
    if found:
        verb = (
            "looks like an identifier and is"
            if len(found) == 1
            else "look like identifiers and are"
        )
        notes.append(
            f"{quoted(found)} {verb} not compared; name it (--on) to compare it all the same."
        )
    told = {
        name for a, b, decimals in pairs for name in guessing.telling_alone(a, b, left, decimals)
    }
    telling = [one.name for one in left if one.name in told - asked]
    if telling:
        is_one = len(telling) == 1
        notes.append(
            f"{quoted(telling)} {'has' if is_one else 'have'} another value for each record and"
            f" {'links by itself' if is_one else 'link by themselves'}; to link without, name the other"
            " columns (--on)."
        )
    return left, notes


def variables_in(environment: StorePlace) -> dict[str, Variable]:
    """Return the variables of an environment by name."""
    with opened(environment) as place:
        return {name: place.environment.variable(name) for name in place.environment.variables}


_BY_ORDER = (
    "No identifier was named (--id): record by record, versions are taken to be in the order of the"
    " original. If they are not, as where a release was shuffled ('protect apply' does), the shares mean"
    " nothing."
)


def link_two_files(asked: records.LinkRequest, *, progress: Progress | None = None) -> FileLinks:
    """Link the records of two files that share variables."""
    answers.require_outputs(asked)
    columns, options = asked.columns, asked.options
    sources = [opened_file(file, asked.reading) for file in (asked.first, asked.second)]
    variables = compared_variables(sources, columns)
    wanted = [[one.name for one in variables], [one.column for one in variables]]
    a, b = _coded(sources, wanted, columns.identifier, progress)
    require_records(a.n_records, b.n_records)
    truth = true_partners(a, b, columns.identifier) if columns.identifier else None
    decimals = sources[0].decimal, sources[1].decimal
    variables, left_out = without_identifiers([(a, b, decimals)], variables, columns)
    found = link_files(
        a,
        b,
        variables,
        asked=options,
        weights=weights_of(variables, columns, [options.chosen_objective]),
        steps=steps_of(variables, columns),
        truth=truth,
        decimals=decimals,
        progress=progress,
    )
    codes = [*_missing_codes(sources[0], a), *_missing_codes(sources[1], b)]
    found = replace(found, notes=(*codes, *left_out, *found.notes))
    names = (asked.first.name, asked.second.name)
    tables = (a, b) if asked.report_values else None
    return _finish(asked, found, names, tables)


def evaluate_files(
    asked: records.EvaluateRequest, *, progress: Progress | None = None
) -> MaskingComparison:
    """Link every masked version of a file with the original, and count who is re-identified.

    Without an identifier, records are in the same order in all files.
    """
    if not asked.masked:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Masked versions of a file were to be compared.",
            "None was given.",
            "Name at least one.",
        )
    answers.require_outputs(asked)
    columns, options, identifier = asked.columns, asked.options, asked.columns.identifier
    files = _version_names(asked.masked)
    source, *sources = (
        opened_file(file, asked.reading) for file in (asked.original, *files.values())
    )
    # Links go from a masked version to the original, which is the first file named.
    named = compared_variables([source, *sources], columns)
    variables = [replace(one, name=one.column, other=one.name) for one in named]
    in_version = {one.name: one.column for one in named}
    of_first, wanted = [one.name for one in named], [one.column for one in named]
    first, *others = _coded(
        [source, *sources], [of_first, *[wanted] * len(sources)], identifier, progress
    )
    versions = dict(zip(files, others, strict=True))
    truths = _truths(first, versions, files, identifier)
    decimals = {name: one.decimal for name, one in zip(files, sources, strict=True)}
    pairs = [(one, first, (decimals[name], source.decimal)) for name, one in versions.items()]
    variables, left_out = without_identifiers(pairs, variables, columns)
    kept = {one.name for one in variables}
    named = [one for one in named if one.column in kept]
    if not identifier:
        _require_order(first, versions, files, [one for one in wanted if one not in kept])
    found = compare_maskings(
        first,
        versions,
        variables,
        asked=options,
        block=[in_version.get(name, name) for name in options.block],
        window={in_version.get(name, name): n for name, n in options.window.items()},
        truths=truths,
        weights=weights_of(named, columns, options.objectives),
        steps=steps_of(named, columns),
        decimals=decimals,
        decimal=source.decimal,
        progress=progress,
    )
    by_order = [] if identifier else [_BY_ORDER]
    opened = zip((source, *sources), (first, *others), strict=True)
    codes = [note for one, table in opened for note in _missing_codes(one, table)]
    found = replace(found, notes=(*codes, *by_order, *left_out))
    return _finish(asked, found, (asked.original.name,))


def link_two_structures(
    asked: records.StructureRequest, *, progress: Progress | None = None
) -> StructureLinks:
    """Link two files that have no variable in common, by the structure of their numbers."""
    identifier = asked.identifier
    if asked.options.leave_out and not identifier:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "What is lost without each clustering was asked for.",
            "That takes an identifier, and none was named.",
            "Name the column that says who is who (--id), or do not ask for it.",
        )
    answers.require_outputs(asked)
    graphs = {} if asked.environment is None else variables_in(asked.environment)
    sources = [opened_file(file, asked.reading) for file in (asked.first, asked.second)]
    chosen = [
        list(named) or [name for name in source.names if name != identifier]
        for source, named in zip(sources, (asked.columns, asked.others), strict=True)
    ]
    told = "it is not among the columns that are used."
    problems = unknown_names(asked.order, {*chosen[0], *chosen[1]}, "order of", told)
    refuse(
        problems,
        "The structure of two files was to be used.",
        f"{count_of(len(problems), 'order')} cannot be used.",
    )
    tables = _coded(sources, chosen, identifier, progress)
    a, b = (
        guessing.structure_columns(table, wanted, source.decimal, graphs, which, asked.order)
        for table, wanted, source, which in zip(
            tables, chosen, sources, ("first", "second"), strict=True
        )
    )
    _require_structure([a, b])
    found = link_structure(
        a.values,
        b.values,
        asked=asked.options,
        weights=(a.weights, b.weights),
        origins=(a.origins, b.origins),
        notes=(
            *(note for pair in zip(sources, tables, strict=True) for note in _missing_codes(*pair)),
            *a.notes,
            *b.notes,
        ),
        truth=true_partners(tables[0], tables[1], identifier) if identifier else None,
        progress=progress,
    )
    return _finish(asked, found, (asked.first.name, asked.second.name))


def _finish(
    asked: records.LinkRequest | records.EvaluateRequest | records.StructureRequest,
    found: Found,
    names: tuple[str, ...],
    tables: tuple[CodedTable, CodedTable] | None = None,
) -> Found:
    def report() -> RiskReport:
        from gamekeeper.report.link_report import report_of

        return report_of(found, names, tables, with_records=not asked.reading.no_records)

    answers.write_outputs(asked, found, report=report)
    return found


def _missing_codes(source: Source, table: CodedTable) -> tuple[str, ...]:
    """Say which values of a file look like codes for missing: records would agree on them."""
    return answers.in_file(source.name, answers.missing_code_notices(table, decimal=source.decimal))


def _truths(
    original: CodedTable,
    versions: Mapping[str, CodedTable],
    files: Mapping[str, Path],
    identifier: str,
) -> dict[str, NDArray[np.int64]]:
    if identifier:
        return {
            name: true_partners(
                one, original, identifier, files=(quoted([files[name].name]), "the original")
            )
            for name, one in versions.items()
        }
    found = {
        files[name]: f"{one.n_records:,} records, not {original.n_records:,}."
        for name, one in versions.items()
        if one.n_records != original.n_records
    }
    _refuse_order(list(found.items()), "Name the column that says who is who (--id).")
    return {name: np.arange(one.n_records) for name, one in versions.items()}


def _require_order(
    original: CodedTable,
    versions: Mapping[str, CodedTable],
    files: Mapping[str, Path],
    left_out: Sequence[str],
) -> None:
    """Refuse to go by the order of records where a column that numbers them says another order."""
    found: list[tuple[Path, str]] = []
    for column in left_out:
        numbers = _in_order(original, column)
        for name, one in versions.items():
            others = _in_order(one, column)
            if others != numbers and not set(others).isdisjoint(numbers):
                told = (
                    f"{quoted([column])} numbers the records in another order than in the original."
                )
                found.append((files[name], told))
    _refuse_order(
        found,
        "Name the column that says who is who (--id); or, if the order is right, the columns to"
        " compare (--on).",
    )


def _refuse_order(found: Sequence[tuple[Path, str]], do: str) -> None:
    refuse(
        [Problem(Reason.BAD_OPTION, f"file {quoted([file.name])}", told) for file, told in found],
        "Masked versions of a file were to be compared without an identifier.",
        "They then have to have the same records in the same order.",
        do,
    )


def _in_order(table: CodedTable, column: str) -> list[str]:
    values = table.codebook[column].values
    return [values[code] for code in table.codes(column)]


def _version_names(files: Sequence[Path]) -> dict[str, Path]:
    """Return the files by names that tell them apart: without folder and ending where that does."""
    distinct = list(dict.fromkeys(files))
    for naming in (lambda file: file.stem, lambda file: file.name, str):
        named = {naming(file): file for file in distinct}
        if len(named) == len(distinct):
            break
    return named


def _require_one_identifier(source: Source, identifier: str) -> None:
    named = [name.strip() for name in identifier.split(",")]
    if identifier in source.names or len(named) == 1:
        return
    raise InputError(
        Reason.BAD_OPTION,
        "Who is who was to be told by an identifier (--id).",
        f"{count_of(len(named), 'column was', 'columns were')} named: {quoted(named)}.",
        "Name one column that is in both files, and has another value for each person.",
    )


def _coded(
    sources: Sequence[Source],
    columns: Sequence[Sequence[str]],
    identifier: str,
    progress: Progress | None,
) -> list[CodedTable]:
    """Code columns of each file and the identifier; what is refused is refused before the first is read."""
    for source in sources:
        _require_one_identifier(source, identifier)
    wanted = [
        list(dict.fromkeys(name for name in (*names, identifier) if name)) for names in columns
    ]
    for source, names in zip(sources, wanted, strict=True):
        answers.require_room(source, names, answers.Need(Work.LINKING))
    return [
        code_source(source, names, engine=default_engine(), progress=progress)
        for source, names in zip(sources, wanted, strict=True)
    ]


def _require_structure(files: Sequence[guessing.StructureColumns]) -> None:
    """Refuse what cannot be clustered, of both files at once."""
    problems = [
        replace(problem, where=f"{problem.where} of the {which} file")
        for which, found in zip(("first", "second"), files, strict=True)
        for problem in found.problems
    ]
    refuse(
        problems,
        "The structure of two files was to be used.",
        f"{count_of(len(problems), 'column')} cannot be: clusters need numbers or categories.",
        "Name the columns to use (--columns, --others).",
    )
