"""Published tables as a person audits them: read what others wrote, say what adds up, hold it to rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.attack.tables.audit.auditing import audit_tables
from gamekeeper.attack.tables.audit.marking import (
    MarkedTable,
    MarkingOptions,
    mark_cells,
    tops_needed,
)
from gamekeeper.attack.tables.audit.result import TableAudit
from gamekeeper.attack.tables.audit.standing import read_rules
from gamekeeper.data.cells.argus_batch import ArgusBatch, read_batch
from gamekeeper.data.cells.argus_file import apply_apriori, read_argus_table
from gamekeeper.data.cells.argus_records import read_argus_records
from gamekeeper.data.cells.cell_file import Columns, read_cells
from gamekeeper.data.cells.cell_rows import CellRows
from gamekeeper.data.cells.contributors import Contributors, read_contributors
from gamekeeper.data.cells.hierarchy import Hierarchy
from gamekeeper.data.cells.hierarchy_file import read_hierarchy
from gamekeeper.data.cells.magnitudes import tabulate_magnitudes
from gamekeeper.data.cells.release_cells import cells_of_release
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.data.reading.source import open_source
from gamekeeper.data.tables.release_file import read_release_and_truth
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import given
from gamekeeper.results import Progress
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, did_you_mean, quoted
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.outputs import require_outputs, write_outputs
from gamekeeper.workbench.requests.audit import AuditRequest, MarkRequest, PublishedRequest

if TYPE_CHECKING:
    from gamekeeper.report.risk_page import RiskReport

_VARIABLE = "variable:"


def open_tables(asked: PublishedRequest, said: Collection[str] = ()) -> TableSet:
    """Read published tables, and put them together by their axes.

    `said` are the texts of hidden figures, and statuses, of which a person says what they tell.
    """
    if not asked.files:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Published tables were to be audited.",
            "No file was named.",
            "Name text files (CSV), workbooks, .tab files with their .rda, or a release (.json).",
        )
    hierarchies: dict[str, Hierarchy | str] = {}
    tables: list[CellRows] = []
    for file in asked.files:
        read, own = _read(file, asked, said)
        tables += read
        for axis, hierarchy in own.items():
            known = hierarchies.get(axis)
            hierarchies[axis] = (
                known.joined(hierarchy) if isinstance(known, Hierarchy) else hierarchy
            )
    hierarchies |= _hierarchies(asked.hierarchies, asked.environment)
    if asked.apriori is not None:
        tables = [apply_apriori(tables[0], asked.apriori), *tables[1:]]
    return TableSet.of(
        tables,
        hierarchies,
        totals=[label for label in asked.total if label.strip()] or ("Total",),
        disjoint=asked.disjoint,
        absent=asked.absent,
        whole=not asked.value
        and not asked.weight
        and not any(f.suffix.lower() in (".tab", ".arb") for f in asked.files),
    )


def audit_published(
    asked: AuditRequest,
    *,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> Answer[TableAudit]:
    """Say which hidden cells of published tables are given away, and how rules stand.

    `tell` is told, before a long search, how long it will take.
    """
    require_outputs(asked)
    read_rules(asked.options.rules)
    tables = open_tables(asked.published, asked.options.says or ())
    options = given(asked.options)
    if not asked.options.rules:
        options["rules"] = batch_rules(asked.published.files)
    if asked.contributors is not None:
        options |= {"insiders": True, "contributors": _contributors(asked, tables)}
    found = audit_tables(tables, **options, progress=progress, tell=tell)

    def report() -> RiskReport:
        from gamekeeper.report.attacks.audit_report import audit_report

        return audit_report(found, with_records=not asked.published.no_records)

    write_outputs(asked, found, report=report)
    told = (*(n for table in tables.tables for n in table.notices), *tables.notices)
    if asked.published.no_records:
        # What is after a colon names labels.
        told = tuple(f"{notice.partition(':')[0].rstrip('.')}." for notice in told)
    notices = (*told, *found.known.notices)
    return Answer(found, notices)


def _contributors(asked: AuditRequest, tables: TableSet) -> Contributors:
    written = asked.published
    assert asked.contributors is not None
    source = open_source(
        asked.contributors,
        delimiter=written.delimiter,
        encoding=written.encoding,
        decimal=written.decimal,
    )
    return read_contributors(
        source, tables, asked.contribution or written.value, holding=asked.holding
    )


def mark_records(asked: MarkRequest) -> MarkedTable:
    """Add up a file of records, and say which cells are unsafe to publish."""
    require_outputs(asked)
    is_batch = asked.file.suffix.lower() == ".arb"
    found = _mark_batch(asked) if is_batch else _mark_file(asked)
    write_outputs(asked, found)
    return found


def _mark_file(asked: MarkRequest) -> MarkedTable:
    if not asked.axes:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Records were to be added up.",
            "It is not said by which columns.",
            "Name them: --axes Activity,Size.",
        )
    tops = tops_needed(asked.options.rules)
    declared = _hierarchies(asked.hierarchies, asked.environment)
    words = [axis for axis, given_ in declared.items() if isinstance(given_, str)]
    if words:
        raise InputError(
            Reason.BAD_OPTION,
            f"Records were to be added up by {quoted(asked.axes)}.",
            f"{quoted(words)} {'has' if len(words) == 1 else 'have'} no hierarchy that records could be added up by.",
            "Name a file or a variable: 'codes' and 'detected' are for tables that have sums already.",
        )
    source = open_source(
        asked.file, delimiter=asked.delimiter, encoding=asked.encoding, decimal=asked.decimal, sheet=asked.sheet
    )  # fmt: skip
    table = tabulate_magnitudes(
        source,
        asked.axes,
        asked.value,
        weight=asked.weight,
        holding=asked.holding,
        request=asked.request,
        shadow=asked.shadow,
        hierarchies={axis: own for axis, own in declared.items() if isinstance(own, Hierarchy)},
        total=asked.total,
        most=tops,
    )
    return mark_cells(table, **given(asked.options))


def _mark_batch(asked: MarkRequest) -> MarkedTable:
    """Mark the cells of a table that a batch file of tau-ARGUS specifies."""
    batch = read_batch(asked.file)
    said = "Records were to be added up as a batch file says."
    if not batch.is_microdata:
        raise InputError(
            Reason.BAD_OPTION, said, "The batch file is about a table, and not about records.",
            "Audit that table: gamekeeper tables audit FILE.arb.",
        )  # fmt: skip
    fitting = [own for own in batch.tables if not asked.axes or set(own.axes) == set(asked.axes)]
    if len(fitting) != 1:
        names = "; ".join(",".join(own.axes) for own in batch.tables)
        raise InputError(
            Reason.BAD_OPTION, said, f"It specifies {count_of(len(batch.tables), 'table')}: {names}.",
            "Name the axes of one of them (--axes).",
        )  # fmt: skip
    (table,) = fitting
    records = read_argus_records(batch.data, batch.description)
    rules = table.rules if asked.options.rules == MarkingOptions().rules else asked.options.rules
    options: dict[str, Any] = {**given(asked.options), "rules": rules or asked.options.rules}
    made = tabulate_magnitudes(
        records.source,
        table.axes,
        asked.value or table.response,
        weight=asked.weight or (records.weight if table.is_weighted else ""),
        holding=asked.holding or records.holding,
        request=asked.request or records.request,
        shadow=asked.shadow or table.shadow,
        hierarchies={axis: own for axis, own in records.hierarchies.items() if axis in table.axes},
        total=asked.total,
        most=tops_needed(options["rules"]),
    )
    return mark_cells(made, **options)


def _read(
    file: Path, asked: PublishedRequest, said: Collection[str]
) -> tuple[list[CellRows], Mapping[str, Hierarchy]]:
    ending = file.suffix.lower()
    if ending == ".json":
        release, _ = read_release_and_truth(file, disjoint=asked.disjoint)
        return cells_of_release(release)
    if ending == ".arb":
        return _of_batch(read_batch(file), asked)
    if ending == ".tab":
        return _with_hierarchies(read_argus_table(file, value=asked.value))
    axes = asked.axes
    if axes and len(asked.files) > 1:
        # Linked tables need not have all axes.
        own = open_source(
            file, delimiter=asked.delimiter, encoding=asked.encoding, sheet=asked.sheet
        ).names
        axes = [name for name in axes if name in own] or axes
    columns = Columns(
        axes=axes,
        count=asked.count,
        value=asked.value,
        status=asked.status,
        status_kind=asked.status_kind,
        hidden_status=asked.hidden_status,
        tops=asked.largest,
        lower=asked.lower_level,
        upper=asked.upper_level,
        percents=asked.percents,
        ratios=asked.ratios,
        means=asked.means,
        weight=asked.weight,
        ignore=asked.ignore,
        wide=asked.wide,
        hidden=asked.hidden,
        said=said,
    )
    reading = {"delimiter": asked.delimiter, "encoding": asked.encoding, "decimal": asked.decimal}
    return [read_cells(file, columns, sheet=asked.sheet, **reading)], {}


def _with_hierarchies(table: CellRows) -> tuple[list[CellRows], dict[str, Hierarchy]]:
    return [table], {
        axis: read_hierarchy(path).beside(table.outside.get(axis, ()))
        for axis, path in table.hierarchies.items()
    }


def _of_batch(
    batch: ArgusBatch, asked: PublishedRequest
) -> tuple[list[CellRows], Mapping[str, Hierarchy]]:
    """Read the table that a batch file is about, with what was decided before."""
    if batch.is_microdata:
        raise InputError(
            Reason.BAD_OPTION,
            "Published tables were to be audited.",
            "The batch file is about records, and not about a table.",
            "Mark its cells first: gamekeeper tables mark FILE.arb -o marked.csv.",
        )
    (first, *_) = batch.tables
    made, hierarchies = _with_hierarchies(
        read_argus_table(
            batch.data, description=batch.description, value=asked.value or first.response
        )
    )
    if first.apriori is not None and asked.apriori is None:
        made = [apply_apriori(made[0], first.apriori)]
    if first.left_out:
        told = f"Of the batch file this was not used: {', '.join(first.left_out)}"
        made = [replace(made[0], notices=(*made[0].notices, f"{told}."))]
    return made, hierarchies


def batch_rules(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the rules that batch files among some files name."""
    batches = [read_batch(file) for file in files if file.suffix.lower() == ".arb"]
    return tuple(dict.fromkeys(rule for own in batches for rule in own.tables[0].rules))


def _hierarchies(
    named: Mapping[str, tuple[str, ...]], environment: StorePlace | None
) -> dict[str, Hierarchy | str]:
    found: dict[str, Hierarchy | str] = {}
    for axis, sources in named.items():
        made = [_hierarchy(axis, source, environment) for source in sources]
        words = [one for one in made if isinstance(one, str)]
        if words and len(made) > 1:
            raise InputError(
                Reason.BAD_OPTION,
                f"The labels of axis {quoted([axis])} were to be sums by {quoted(sources)}.",
                f"{quoted(words)} cannot be combined with others.",
                "Name files or variables, or one of 'codes' and 'detected' alone.",
            )
        hierarchies = [one for one in made if isinstance(one, Hierarchy)]
        found[axis] = reduce(Hierarchy.joined, hierarchies) if hierarchies else made[0]
    return found


def _hierarchy(axis: str, source: str, environment: StorePlace | None) -> Hierarchy | str:
    if source in ("codes", "detected"):
        return source
    if not source.startswith(_VARIABLE):
        return read_hierarchy(source)
    name = source.removeprefix(_VARIABLE)
    asked = f"The labels of axis {quoted([axis])} were to be sums by the variable {quoted([name])}."
    if environment is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            asked,
            "No environment was named.",
            "Name it: --environment norland.gk.",
        )
    with opened(environment) as place:
        variables = place.environment.variables
        if name not in variables:
            raise InputError(
                Reason.UNKNOWN_NAME,
                asked,
                "The environment has no such variable.",
                did_you_mean(name, variables),
            )
        graph = variables[name].graph
        children = {category: graph.children(category) for category in graph.categories}
    return Hierarchy.of_tree(children, f"variable {quoted([name])}")
