"""Published tables as a person audits them: read what others wrote, say what adds up, hold it to rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gamekeeper.attack.tables.audit.auditing import audit_tables
from gamekeeper.attack.tables.audit.marking import MarkedTable, mark_cells, tops_needed
from gamekeeper.attack.tables.audit.result import TableAudit
from gamekeeper.attack.tables.audit.standing import read_rules
from gamekeeper.data.cells.argus_file import apply_apriori, read_argus_table
from gamekeeper.data.cells.cell_file import Columns, read_cells
from gamekeeper.data.cells.cell_rows import CellRows
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
from gamekeeper.wording import did_you_mean, quoted
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.outputs import require_outputs, write_outputs
from gamekeeper.workbench.requests.audit import AuditRequest, MarkRequest, PublishedRequest

_VARIABLE = "variable:"


def open_tables(asked: PublishedRequest) -> TableSet:
    """Read published tables, and put them together by their axes."""
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
        read, own = _read(file, asked)
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
        and not any(f.suffix.lower() == ".tab" for f in asked.files),
    )


def audit_published(asked: AuditRequest, *, progress: Progress | None = None) -> Answer[TableAudit]:
    """Say which hidden cells of published tables are given away, and how rules stand."""
    require_outputs(asked)
    read_rules(asked.options.rules)
    tables = open_tables(asked.published)
    found = audit_tables(tables, **given(asked.options), progress=progress)

    def write_page(path: Path) -> None:
        from gamekeeper.report.audit_report import audit_report
        from gamekeeper.report.risk_page import write_risk_report

        write_risk_report(audit_report(found, with_records=not asked.published.no_records), path)

    write_outputs(asked, found, page=write_page)
    told = (*(n for table in tables.tables for n in table.notices), *tables.notices)
    if asked.published.no_records:
        # What is after a colon names labels.
        told = tuple(f"{notice.partition(':')[0].rstrip('.')}." for notice in told)
    notices = (*told, *found.known.notices)
    return Answer(found, notices)


def mark_records(asked: MarkRequest) -> MarkedTable:
    """Add up a file of records, and say which cells are unsafe to publish."""
    require_outputs(asked)
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
        hierarchies={axis: own for axis, own in declared.items() if isinstance(own, Hierarchy)},
        total=asked.total,
        most=tops,
    )
    found = mark_cells(table, **given(asked.options))
    write_outputs(asked, found)
    return found


def _read(file: Path, asked: PublishedRequest) -> tuple[list[CellRows], Mapping[str, Hierarchy]]:
    ending = file.suffix.lower()
    if ending == ".json":
        release, _ = read_release_and_truth(file, disjoint=asked.disjoint)
        return cells_of_release(release)
    if ending == ".tab":
        table = read_argus_table(file, value=asked.value)
        return [table], {
            axis: read_hierarchy(path).beside(table.outside.get(axis, ()))
            for axis, path in table.hierarchies.items()
        }
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
        means=asked.means,
        weight=asked.weight,
        ignore=asked.ignore,
        wide=asked.wide,
        hidden=asked.hidden,
    )
    reading = {"delimiter": asked.delimiter, "encoding": asked.encoding, "decimal": asked.decimal}
    return [read_cells(file, columns, sheet=asked.sheet, **reading)], {}


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
        first, *more = made
        for other in more:
            if isinstance(first, Hierarchy) and isinstance(other, Hierarchy):
                first = first.joined(other)
        found[axis] = first
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
