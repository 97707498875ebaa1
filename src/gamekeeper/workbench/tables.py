"""Tables as a person attacks them: releases bounded, counted and subtracted, published ones audited.

A release is made from microdata, or read with the scheme of each table. Tables that others published
are read with what adds up, held to rules, and records are added up to be marked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from gamekeeper.algorithms.releases.schemes import Exact, Suppressed, parse_scheme
from gamekeeper.attack.tables import auditing, bounds, feasible, subtraction
from gamekeeper.attack.tables.audit_result import TableAudit
from gamekeeper.attack.tables.comparison import SchemeComparison, compare_schemes
from gamekeeper.attack.tables.options import BoundsMethod
from gamekeeper.attack.tables.rules import read_rules
from gamekeeper.data.reading.source import open_source
from gamekeeper.data.tables.argus import (
    read_argus_records,
    read_batch,
)
from gamekeeper.data.tables.count_file import read_count_table
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.magnitudes import Contributors, read_contributors, tabulate_magnitudes
from gamekeeper.data.tables.release import (
    Release,
    make_release,
    tabulate,
    unit_records,
)
from gamekeeper.data.tables.release_file import (
    write_release,
)
from gamekeeper.data.tables.table_set import TableSet, cells_of_release
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.options import given
from gamekeeper.prompt_syntax import names_of
from gamekeeper.report.page import RiskReport
from gamekeeper.report.tables import write_table
from gamekeeper.report.tables_report import audit_report, bounds_report, released_report
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench import table_files
from gamekeeper.workbench.answers import Answer, require_outputs, write_outputs
from gamekeeper.workbench.microdata import open_microdata
from gamekeeper.workbench.requests.tables import (
    AuditRequest,
    BoundsRequest,
    ComparisonRequest,
    FeasibleRequest,
    InferRequest,
    MarkRequest,
    PublishRequest,
    RecordsRequest,
    ReleaseRequest,
    SapRequest,
)


def publish_tables(
    asked: PublishRequest, *, progress: Progress | None = None
) -> Answer[tuple[Release, CountTable]]:
    """Count a file of microdata by its keys, publish margins under schemes, and write the release.

    With the truth, the file is as confidential as the microdata. Hidden counts that every reader can
    recompute are written only where that was asked for.
    """
    require_outputs(asked)
    wanted = [parse_scheme(scheme) for scheme in asked.schemes]
    data = open_microdata(asked.microdata, counting=asked.counting, progress=progress)
    truth = tabulate(data.coded, data.keys, missing=data.missing, progress=progress)
    listed = list(asked.margins) or [data.keys]
    unknown = sorted({name for margin in listed for name in margin} - set(data.keys))
    if unknown:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Tables by {quoted(unknown)} were to be published.",
            f"The variables that are counted are {quoted(data.keys)}.",
            "Name them as keys as well (--keys).",
        )
    if len(wanted) not in (1, len(listed)):
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(len(listed), 'table was', 'tables were')} to be published.",
            f"{count_of(len(wanted), 'scheme was', 'schemes were')} given.",
            "Give one scheme (--scheme), or one for each table.",
        )
    schemes = wanted[0] if len(wanted) == 1 else wanted
    release = make_release(truth, listed, schemes, seed=asked.seed, title=asked.title)
    told = _what_is_hidden(release, asked, progress)
    write_release(release, asked.output, truth if asked.with_truth else None)
    return Answer((release, truth), (*data.notices, *told))


def _what_is_hidden(
    release: Release, asked: PublishRequest, progress: Progress | None
) -> tuple[str, ...]:
    """Say what the hidden counts of a release give away, or refuse one whose counts can be recomputed."""
    is_plain = all(isinstance(t.scheme, Exact | Suppressed) for t in release.published)
    told: list[str] = []
    if any(isinstance(t.scheme, Suppressed) and t.n_hidden for t in release.published):
        verdict = "Whether hidden counts can be recomputed was not examined: there are too many."
        is_hiding = False
        with suppress(LimitError):
            tables = TableSet.of(*cells_of_release(release))
            found = auditing.audit_tables(tables, max_seconds=60.0, progress=progress)
            verdict, is_hiding = found.verdict(), not found.n_recomputed and not found.n_not_settled
            if not is_plain:
                verdict, is_hiding = _hidden_beside_others(found)
        told.append(verdict)
        if not is_hiding and not asked.even_if_recomputed:
            raise InputError(
                Reason.BAD_OPTION,
                f"Tables with hidden counts were to be written ({', '.join(asked.schemes)}).",
                verdict,
                "Nothing was written. Publish fewer margins, join categories, or round the counts"
                " (--scheme conventional:5). To write it all the same: --even-if-recomputed.",
            )
    if not is_plain:
        told.append(
            "What can be worked out from rounded, perturbed or grouped counts was not examined:"
            f" gamekeeper tables bounds {asked.output} does that."
        )
    return tuple(told)


def _hidden_beside_others(found: TableAudit) -> tuple[str, bool]:
    """Say whether hidden counts can be recomputed where other tables are rounded or perturbed."""
    own = [one for one in found.cells if one.status.is_hidden]
    n_known = sum(one.is_known for one in own)
    n_open = sum(one.interval.is_open for one in own)
    hidden = count_of(len(own), "hidden cell")
    if n_known:
        return f"{n_known:,} of {hidden} can be recomputed from what is published.", False
    if n_open < len(own):
        return f"Of {hidden}, none is known, but {len(own) - n_open:,} not settled.", False
    none = "The hidden cell cannot" if len(own) == 1 else f"None of {hidden} can"
    return f"{none} be recomputed, tables that are not exact among what is published.", True


def write_units(asked: RecordsRequest) -> CountTable:
    """Write a table of true counts as records, one per unit; they are as confidential as the counts."""
    require_outputs(asked)
    table = read_count_table(asked.file, disjoint=asked.disjoint, **table_files.written_as(asked))
    write_table(unit_records(table), asked.output, raw=asked.raw)
    return table


def bound_release(
    asked: BoundsRequest,
    *,
    listing: bool = False,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> Answer[bounds.TableBounds]:
    """Bound every cell of the base table, or of a table recoded from it.

    Where all cells are to be listed (`listing`, or a file to write), what is too large is refused first.
    `tell` is told, before a long search in tables with subtotals, how long it will take.
    """
    options, recoding = asked.options, asked.recoding
    if not _is_flat(asked):
        return _bound_tables(asked, listing=listing, progress=progress, tell=tell)
    is_recoded = recoding.keep is not None or bool(recoding.groups)
    is_chosen = options.method != BoundsMethod.AUTO or options.max_nodes is not None
    read_rules(options.rules)
    if is_recoded and (asked.report is not None or is_chosen or options.rules):
        raise InputError(
            Reason.BAD_OPTION,
            "Bounds on a recoded table were asked for.",
            "Reports, rules, methods and the limit of the shuttle are for the base table.",
            "Leave out --group and --keep, or --report, --rule, --method and --max-nodes.",
        )
    require_outputs(asked)
    release, _ = table_files.open_release(_as_release(asked))
    if not is_recoded and (listing or asked.output or asked.report):
        bounds.require_listing(release.size, len(release.axes))
    if is_recoded:
        limit = options.most_programs
        found = bounds.bound_recoded(
            release, **given(recoding), most_programs=limit, progress=progress
        )
    else:
        found = bounds.bound_cells(release, **given(options), progress=progress)

    def report() -> RiskReport:
        said = feasible.infer_attributions(release, bounds=found, progress=progress)
        return released_report(release, found, said, with_records=not asked.tables.no_records)

    write_outputs(asked, found, report=report)
    return Answer(found)


_OF_SUBTOTALS = (
    "value", "status", "hidden_status", "largest", "lower_level", "upper_level", "percents", "ratios",
    "means", "weight", "ignore", "wide", "hierarchies", "apriori", "sheet",
)  # fmt: skip


def _is_flat(asked: BoundsRequest) -> bool:
    """Whether tables are of counts by axes without subtotals, and nothing else is said of them."""
    options = asked.options
    said = (options.says, options.tolerance, options.max_seconds, asked.tables.status_kind)
    return (
        not any(getattr(asked.tables, name) for name in _OF_SUBTOTALS)
        and all(one is None for one in said)
        and not options.negative
        and not any(
            file.suffix.lower() in (".tab", ".arb", ".xlsx", ".parquet")
            for file in asked.tables.files
        )
    )


def _as_release(asked: BoundsRequest) -> ReleaseRequest:
    own = asked.tables
    return ReleaseRequest(
        files=own.files, schemes=own.schemes, count=own.count, axes=own.axes, total=own.total,
        hidden=own.hidden, absent=own.absent, disjoint=own.disjoint, truth=asked.truth,
        delimiter=own.delimiter, encoding=own.encoding, decimal=own.decimal, memory=own.memory,
        no_records=own.no_records,
    )  # fmt: skip


def _bound_tables(
    asked: BoundsRequest,
    *,
    listing: bool,
    progress: Progress | None,
    tell: Callable[[str], None] | None,
) -> Answer[bounds.TableBounds]:
    """Bound the cells of tables with subtotals, of values, or of which statuses tell something."""
    require_outputs(asked)
    recoding = asked.recoding
    if recoding.keep is not None or recoding.groups or asked.truth is not None:
        raise InputError(
            Reason.BAD_OPTION,
            "Bounds on published tables were asked for.",
            "Recoded tables, and true counts beside a release, are for counts without subtotals.",
            "Leave out --group, --keep and --truth.",
        )
    read_rules(asked.options.rules)
    tables = table_files.open_tables(asked.tables, asked.options.says or ())
    if listing or asked.output or asked.report:
        bounds.require_listing(sum(map(len, tables.tables)), len(tables.axes))
    found = bounds.bound_cells(tables, **given(asked.options), progress=progress, tell=tell)
    shown = not asked.tables.no_records
    write_outputs(asked, found, report=lambda: bounds_report(found, with_records=shown))
    assert found.cells is not None
    return Answer(found, (*_notices(tables, with_records=shown), *found.cells.notices))


def explore_release(
    asked: FeasibleRequest, *, progress: Progress | None = None
) -> feasible.FeasibleTables:
    """Count the tables that agree with a release, and say how probable each count is."""
    require_outputs(asked)
    release, _ = table_files.open_release(asked.release)
    found = feasible.explore_tables(release, **given(asked.options), progress=progress)
    write_outputs(asked, found)
    return found


def attribute_release(
    asked: InferRequest, *, progress: Progress | None = None
) -> feasible.Attributions:
    """Say what a release lets anybody say for certain about people of a kind."""
    require_outputs(asked)
    release, _ = table_files.open_release(asked.release)
    found = feasible.infer_attributions(release, **given(asked.options), progress=progress)
    shown = not asked.release.no_records
    write_outputs(
        asked,
        found,
        report=lambda: released_report(release, found.bounds, found, with_records=shown),
    )
    return found


def subtract_release(
    asked: SapRequest, *, progress: Progress | None = None
) -> subtraction.SubtractionAttack:
    """Say what somebody recovers who knows n people of the table."""
    if asked.anywhere:
        raise _misplaced()
    require_outputs(asked)
    release, truth = _with_truth(asked.release)
    found = subtraction.subtract_known(release, truth, **given(asked.options), progress=progress)

    def report() -> RiskReport:
        said = feasible.infer_attributions(release, progress=progress)
        shown = not asked.release.no_records
        return released_report(release, said.bounds, said, subtraction=found, with_records=shown)

    write_outputs(asked, found, report=report)
    return found


def subtract_release_within(
    asked: SapRequest, *, progress: Progress | None = None
) -> subtraction.ConditionalSubtraction:
    """Say what somebody recovers who knows n people, within each area or key."""
    options = asked.options
    whole = (asked.report, options.at, options.max_samples, options.max_bits)
    if any(one is not None for one in whole) or options.method != "auto":
        raise _misplaced()
    require_outputs(asked)
    release, truth = _with_truth(asked.release)
    found = subtraction.subtract_within(
        release,
        truth,
        asked.within,
        n=options.n,
        own_people=not asked.anywhere,
        draws=options.draws,
        seed=options.seed,
        progress=progress,
    )
    write_outputs(asked, found)
    return found


def compare_published(
    asked: ComparisonRequest, *, progress: Progress | None = None
) -> SchemeComparison:
    """Compare perturbation schemes on random tables."""
    require_outputs(asked)
    margins = _margins(asked.margins, len(tuple(asked.options.shape))) if asked.margins else None
    found = compare_schemes(
        asked.schemes, **given(asked.options), margins=margins, progress=progress
    )
    write_outputs(asked, found)
    return found


def _with_truth(asked: ReleaseRequest) -> tuple[Release, CountTable]:
    release, truth = table_files.open_release(asked)
    if truth is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "The probability of recovering zeros was asked for.",
            "It depends on the true counts, and the release does not hold them.",
            "Name the file with the true counts (--truth).",
            problems=[Problem(Reason.NOTHING_GIVEN, "truth", "not given.")],
        )
    return release, truth


def _misplaced() -> InputError:
    return InputError(
        Reason.BAD_OPTION,
        "SAP was asked for.",
        "--report, --at, --method, --max-samples and --max-bits are for the whole table, --anywhere"
        " is for --within.",
        "Leave out the one or the other; a table of areas goes to --output.",
    )


def _margins(typed: Sequence[str], n_axes: int) -> list[tuple[int, ...]]:
    """Return margins that are typed with axes from 1, with axes from 0."""
    try:
        made = [tuple(int(part) - 1 for part in names_of([text])) for text in typed]
    except ValueError:
        made = [(-1,)]
    if any(not 0 <= axis < n_axes for axes in made for axis in axes):
        raise InputError(
            Reason.BAD_OPTION,
            f"The margins {quoted(typed)} were to be published.",
            f"The tables have the axes 1 to {n_axes}.",
            "Write a --margin as 1,2; the total as ''.",
        )
    return made


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
    tables = table_files.open_tables(asked.published, asked.options.says or ())
    options = given(asked.options)
    if not asked.options.rules:
        options["rules"] = table_files.batch_rules(asked.published.files)
    if asked.contributors is not None:
        options |= {"insiders": True, "contributors": _contributors(asked, tables)}
    found = auditing.audit_tables(tables, **options, progress=progress, tell=tell)

    shown = not asked.published.no_records
    write_outputs(asked, found, report=lambda: audit_report(found, with_records=shown))
    return Answer(found, (*_notices(tables, with_records=shown), *found.known.notices))


def _notices(tables: TableSet, *, with_records: bool) -> tuple[str, ...]:
    told = (*(n for table in tables.tables for n in table.notices), *tables.notices)
    if with_records:
        return told
    # What is after a colon names labels.
    return tuple(f"{notice.partition(':')[0].rstrip('.')}." for notice in told)


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


def mark_records(asked: MarkRequest) -> auditing.MarkedTable:
    """Add up a file of records, and say which cells are unsafe to publish."""
    require_outputs(asked)
    is_batch = asked.file.suffix.lower() == ".arb"
    found = _mark_batch(asked) if is_batch else _mark_file(asked)
    write_outputs(asked, found)
    return found


def _mark_file(asked: MarkRequest) -> auditing.MarkedTable:
    if not asked.axes:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Records were to be added up.",
            "It is not said by which columns.",
            "Name them: --axes Activity,Size.",
        )
    tops = auditing.tops_needed(asked.options.rules)
    declared = table_files.declared_hierarchies(asked.hierarchies, asked.environment)
    words = [axis for axis, one in declared.items() if isinstance(one, str)]
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
    return auditing.mark_cells(table, **given(asked.options))


def _mark_batch(asked: MarkRequest) -> auditing.MarkedTable:
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
    rules = (
        table.rules
        if asked.options.rules == auditing.MarkingOptions().rules
        else asked.options.rules
    )
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
        most=auditing.tops_needed(options["rules"]),
    )
    return auditing.mark_cells(made, **options)
