"""Record linkage as a person runs it: open two files, link them, compare masked versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.linkage.columns import floats_of
from gamekeeper.attack.linkage.evaluation import MaskingComparison, compare_maskings
from gamekeeper.attack.linkage.files import FileLinks, link_files
from gamekeeper.attack.linkage.linking import LinkMethod, ObjectiveName
from gamekeeper.attack.linkage.structure import Individuals, StructureLinks, link_structure
from gamekeeper.attack.linkage.truth import true_partners
from gamekeeper.attack.linkage.variables import Kind, LinkVariable, common_variables
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.report.figures import save_figure
from gamekeeper.report.saving import PICTURE_ENDINGS
from gamekeeper.report.tables import TABLE_ENDINGS, write_table
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, did_you_mean, quoted
from gamekeeper.workbench.destinations import require_destinations
from gamekeeper.workbench.environments import opened

__all__ = ["LinkRequest", "evaluate_files", "link_two_files", "link_two_structures"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """Which variables two files are linked on, and how.

    Attributes
    ----------
    on
        Columns to compare; all common ones by default. `first=second` where names differ between
        the first file named and the others.
    kinds, measures, missing
        By column of the first file: how to compare it, by which measure, what a missing value is.
    order
        The categories of ordinal variables.
    weights
        By column, for a weighted sum; 1 for the others.
    block
        Columns that must agree.
    identifier
        A column of both files that says who is who.
    environment
        A store or folder whose partition graphs say what categories of `mapped` columns mean.
    """

    on: Sequence[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    measures: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    order: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    block: Sequence[str] = ()
    identifier: str = ""
    environment: Path | None = None
    objective: ObjectiveName = ObjectiveName.ESTIMATED
    method: LinkMethod = LinkMethod.OPTIMAL
    seed: int = 0


def link_two_files(
    first: Path,
    second: Path,
    request: LinkRequest,
    *,
    unlinked: float | None = None,
    resamples: int = 0,
    max_pairs: int | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    progress: Progress | None = None,
) -> FileLinks:
    """Link the records of two files that share variables."""
    require_destinations({output: TABLE_ENDINGS, plot: PICTURE_ENDINGS}, read=[first, second])
    sources = [open_source(file) for file in (first, second)]
    variables = _variables(sources, request)
    a, b = (
        _coded(source, [getattr(one, side) for one in variables], request.identifier, progress)
        for source, side in zip(sources, ("name", "column"), strict=True)
    )
    truth = true_partners(a, b, request.identifier) if request.identifier else None
    found = link_files(
        a,
        b,
        variables,
        objective=request.objective,
        weights=_weights(variables, request, [request.objective]),
        method=request.method,
        block=request.block,
        truth=truth,
        unlinked=unlinked,
        resamples=resamples,
        decimals=(sources[0].decimal, sources[1].decimal),
        seed=request.seed,
        max_pairs=max_pairs,
        progress=progress,
    )
    _write(found, output, plot)
    return found


def evaluate_files(
    original: Path,
    masked: Sequence[Path],
    request: LinkRequest,
    *,
    objectives: Sequence[ObjectiveName] = (ObjectiveName.ESTIMATED,),
    methods: Sequence[LinkMethod] = (LinkMethod.OPTIMAL, LinkMethod.NEAREST),
    max_pairs: int | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    progress: Progress | None = None,
) -> MaskingComparison:
    """Link every masked version of a file with the original, and count who is re-identified.

    Without an identifier, records are in the same order in all files.
    """
    if not masked:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Masked versions of a file were to be compared.",
            "None was given.",
            "Name at least one.",
        )
    destinations = {output: TABLE_ENDINGS, plot: PICTURE_ENDINGS}
    require_destinations(destinations, read=[original, *masked])
    files = _version_names(masked)
    source = open_source(original)
    sources = {name: open_source(file) for name, file in files.items()}
    # Links go from a masked version to the original, which is the first file named.
    asked = _variables([source, *sources.values()], request)
    variables = [replace(one, name=one.column, other=one.name) for one in asked]
    columns = {one.name: one.column for one in asked}
    first = _coded(source, [one.column for one in variables], request.identifier, progress)
    versions = {
        name: _coded(masked_source, [one.name for one in variables], request.identifier, progress)
        for name, masked_source in sources.items()
    }
    truths: dict[str, NDArray[np.int64]] = {}
    problems: list[Problem] = []
    for name, table in versions.items():
        if request.identifier:
            truths[name] = true_partners(table, first, request.identifier)
        elif table.n_records != first.n_records:
            found = f"{table.n_records:,} records, not {first.n_records:,}."
            problems.append(Problem(Reason.BAD_OPTION, f"file {quoted([files[name].name])}", found))
        else:
            truths[name] = np.arange(table.n_records)
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Masked versions of a file were to be compared without an identifier.",
            "They then have to have the same records in the same order.",
            "Name the column that says who is who (--id).",
            problems=problems,
        )
    found = compare_maskings(
        first,
        versions,
        variables,
        truths=truths,
        weights=_weights(asked, request, objectives),
        objectives=objectives,
        methods=methods,
        block=[columns.get(name, name) for name in request.block],
        max_pairs=max_pairs,
        decimals={name: one.decimal for name, one in sources.items()},
        decimal=source.decimal,
        seed=request.seed,
        progress=progress,
    )
    _write(found, output, plot)
    return found


def link_two_structures(
    first: Path,
    second: Path,
    *,
    columns: tuple[Sequence[str], Sequence[str]] = ((), ()),
    identifier: str = "",
    clusters: int | Sequence[int] | None = None,
    one_to_one: bool = False,
    individuals: Individuals = Individuals.AUTO,
    leave_out: bool = False,
    seed: int = 0,
    output: Path | None = None,
    plot: Path | None = None,
    progress: Progress | None = None,
) -> StructureLinks:
    """Link two files that have no variable in common, by the structure of their numbers."""
    if leave_out and not identifier:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "What is lost without each clustering was asked for.",
            "That takes an identifier, and none was named.",
            "Name the column that says who is who (--id), or do not ask for it.",
        )
    require_destinations({output: TABLE_ENDINGS, plot: PICTURE_ENDINGS}, read=[first, second])
    tables: list[CodedTable] = []
    values: list[Floats] = []
    for file, chosen in zip((first, second), columns, strict=True):
        source = open_source(file)
        names = [column.name for column in source.columns]
        wanted = list(chosen) or [name for name in names if name != identifier]
        table = _coded(source, wanted, identifier, progress)
        tables.append(table)
        values.append(_numbers(table, wanted, source, file))
    truth = true_partners(tables[0], tables[1], identifier) if identifier else None
    found = link_structure(
        values[0],
        values[1],
        n_clusters=clusters,
        one_to_one=one_to_one,
        individuals=individuals,
        truth=truth,
        leave_out=leave_out,
        seed=seed,
        progress=progress,
    )
    _write(found, output, plot)
    return found


def _write(
    found: FileLinks | MaskingComparison | StructureLinks, output: Path | None, plot: Path | None
) -> None:
    if output is not None:
        write_table(found.to_arrow(), output)
    if plot is not None:
        save_figure(found.plot(), plot)


def _version_names(files: Sequence[Path]) -> dict[str, Path]:
    """Return the files by names that tell them apart: without folder and ending where that does."""
    distinct = list(dict.fromkeys(files))
    for naming in (lambda file: file.stem, lambda file: file.name, str):
        named = {naming(file): file for file in distinct}
        if len(named) == len(distinct):
            break
    return named


def _coded(
    source: Source, names: Sequence[str], identifier: str, progress: Progress | None
) -> CodedTable:
    wanted = list(dict.fromkeys(name for name in (*names, identifier) if name))
    return code_source(source, wanted, progress=progress)


def _variables(sources: Sequence[Source], request: LinkRequest) -> list[LinkVariable]:
    columns = [[column.name for column in source.columns] for source in sources]
    if request.on:
        chosen = [
            LinkVariable(first.strip(), second.strip())
            for first, _, second in (name.partition("=") for name in request.on)
        ]
    else:
        common = set(columns[0]).intersection(*columns[1:])
        without = [name for name in columns[0] if name not in common]
        chosen = common_variables(columns[0], columns[1], without=[*without, request.identifier])
    named = {one.name for one in chosen}
    problems: list[Problem] = []
    for what, given in (
        ("kind", request.kinds),
        ("measure", request.measures),
        ("missing", request.missing),
        ("order", request.order),
        ("weight", request.weights),
    ):
        problems += [
            Problem(
                Reason.UNKNOWN_NAME,
                f"{what} of {quoted([name])}",
                "it is not among the variables that are compared.",
                did_you_mean(name, sorted(named)),
            )
            for name in given
            if name not in named
        ]
    known = [kind.value for kind in Kind]
    problems += [
        Problem(
            Reason.BAD_OPTION,
            f"kind of {quoted([name])}",
            f"there is no kind {quoted([kind])}.",
            f"There are: {quoted(known)}.",
        )
        for name, kind in request.kinds.items()
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
            kind=Kind(request.kinds[one.name]) if one.name in request.kinds else None,
            measure=request.measures.get(one.name, ""),
            order=tuple(request.order.get(one.name, ())),
            missing=_missing(request.missing.get(one.name, "expected")),
        )
        for one in chosen
    ]
    return _mapped(made, request.environment)


def _missing(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _mapped(variables: list[LinkVariable], environment: Path | None) -> list[LinkVariable]:
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
    with opened(environment) as place:
        known = {name: place.environment.variable(name) for name in place.environment.variables}
    problems = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"variable {quoted([name])}",
            "is not in the environment.",
            did_you_mean(name, sorted(known)),
        )
        for name in asked
        if name not in known
    ]
    if problems:
        raise InputError(
            Reason.UNKNOWN_NAME,
            "Categories were to be compared by the partition graphs of an environment.",
            f"{count_of(len(problems), 'variable is', 'variables are')} not there.",
            problems=problems,
        )
    return [
        replace(one, variable=known[one.name]) if one.kind is Kind.MAPPED else one
        for one in variables
    ]


def _weights(
    variables: Sequence[LinkVariable], request: LinkRequest, objectives: Sequence[ObjectiveName]
) -> list[float]:
    """Return a weight per variable; none where none are asked for or given."""
    if not request.weights and ObjectiveName.WEIGHTED not in objectives:
        return []
    return [request.weights.get(one.name, 1.0) for one in variables]


def _numbers(table: CodedTable, names: Sequence[str], source: Source, file: Path) -> Floats:
    """Return columns as numbers; refuse what has none."""
    made = np.empty((table.n_records, len(names)))
    problems: list[Problem] = []
    for place, name in enumerate(names):
        numbers, faults = floats_of(table.codebook[name], source.decimal)
        codes = table.codes(name)
        n_missing = int(np.count_nonzero(codes == MISSING))
        if n_missing:
            faults.append(f"{count_of(n_missing, 'cell is', 'cells are')} missing")
        if faults:
            found = f"{' and '.join(faults)}."
            problems.append(Problem(Reason.BAD_OPTION, f"column {quoted([name])}", found))
            continue
        made[:, place] = numbers[codes]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            f"The structure of file {quoted([file.name])} was to be used.",
            f"{count_of(len(problems), 'column')} cannot be: clusters need numbers everywhere.",
            "Name the columns to use, or fill in what is missing.",
            problems=problems,
        )
    return made
