"""Released tables as a person attacks them: open what is published, bound, count, subtract, infer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gamekeeper.algorithms.releases.scheme_names import parse_scheme
from gamekeeper.algorithms.releases.schemes import Exact, Suppressed
from gamekeeper.attack.tables.attributions import Attributions, infer_attributions
from gamekeeper.attack.tables.audit.auditing import audit_tables
from gamekeeper.attack.tables.audit.standing import read_rules
from gamekeeper.attack.tables.bounds import (
    TableBounds,
    bound_cells,
    bound_recoded,
    bound_suppressed,
    require_listing,
)
from gamekeeper.attack.tables.comparison import SchemeComparison, compare_schemes
from gamekeeper.attack.tables.conditional import ConditionalSubtraction, subtract_within
from gamekeeper.attack.tables.feasible import FeasibleTables, explore_tables
from gamekeeper.attack.tables.options import BoundsMethod
from gamekeeper.attack.tables.subtraction import SubtractionAttack, subtract_known
from gamekeeper.data.cells.release_cells import cells_of_release
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.data.tables.count_file import HIDDEN_MARKS, read_count_table, read_counts
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, check_truth, make_release
from gamekeeper.data.tables.release_file import read_release_and_truth, write_release
from gamekeeper.data.tables.release_joining import align_truth, join_releases
from gamekeeper.data.tables.tabulation import tabulate
from gamekeeper.data.tables.unit_records import unit_records
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.options import given
from gamekeeper.prompt_syntax import names_of
from gamekeeper.report.attacks.release_report import released_report
from gamekeeper.report.risk_page import RiskReport
from gamekeeper.report.tables import write_table
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.microdata.opening import open_microdata
from gamekeeper.workbench.outputs import require_outputs, write_outputs
from gamekeeper.workbench.requests.tables import (
    BoundsRequest,
    ComparisonRequest,
    FeasibleRequest,
    InferRequest,
    PublishRequest,
    RecordsRequest,
    ReleaseRequest,
    SapRequest,
)

_MOST_SECONDS = 60.0


def open_release(asked: ReleaseRequest) -> tuple[Release, CountTable | None]:
    """Read a release, and the truth behind it where there is one."""
    if not asked.files:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A release was to be opened.",
            "No file was named.",
            "Name a release (.json) or text files with counts.",
        )
    documents = [file for file in asked.files if file.suffix.lower() == ".json"]
    if documents and len(asked.files) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(len(asked.files), 'file')} were given as one release.",
            f"{quoted([documents[0].name])} is a release of its own.",
            "Name one JSON file, or text files only.",
        )
    if documents and asked.scheme != "exact":
        raise InputError(
            Reason.BAD_OPTION,
            f"The release {quoted([documents[0].name])} was to be read with the scheme"
            f" {quoted([asked.scheme])}.",
            "A release in JSON has the scheme of each of its tables.",
            "Leave --scheme out, or write it into the file.",
        )
    if documents:
        release, truth = read_release_and_truth(documents[0], disjoint=asked.disjoint)
    else:
        release, truth = _read_text(asked), None
    if asked.truth is not None:
        # Its labels are those of the release, which has been questioned.
        true = read_count_table(asked.truth, disjoint=True, **_writing(asked))
        truth = align_truth(release, true)
        check_truth(release, truth)
    return release, truth


def publish_tables(
    asked: PublishRequest, *, progress: Progress | None = None
) -> Answer[tuple[Release, CountTable]]:
    """Count a file of microdata by its keys, publish margins under schemes, and write the release.

    With the truth, the file is as confidential as the microdata: it is the steward's own. Counts that
    are hidden, and that every reader can recompute, are written only where that was asked for.
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
    plain = tuple(t for t in release.published if isinstance(t.scheme, Exact | Suppressed))
    told: list[str] = []
    suppressed = [t for t in release.published if isinstance(t.scheme, Suppressed) and t.n_hidden]
    if suppressed and len(plain) < len(release.published):
        verdict, is_hiding = _hidden_beside_others(release, progress)
        told.append(verdict)
        _require_hiding(asked, verdict, is_hiding=is_hiding)
    elif suppressed:
        shown = TableSet.of(*cells_of_release(replace(release, published=plain)))
        try:
            found = audit_tables(shown, max_seconds=_MOST_SECONDS, progress=progress)
            verdict = found.verdict()
            is_hiding = not found.n_recomputed and not found.n_not_settled
        except LimitError:
            verdict = (
                "Whether hidden counts can be recomputed was not examined: there are too many."
            )
            is_hiding = False
        told.append(verdict)
        _require_hiding(asked, verdict, is_hiding=is_hiding)
    if len(plain) < len(release.published):
        told.append(
            "What can be worked out from rounded, perturbed or grouped counts was not examined:"
            f" gamekeeper tables bounds {asked.output} does that."
        )
    return tuple(told)


def _require_hiding(asked: PublishRequest, verdict: str, *, is_hiding: bool) -> None:
    if not is_hiding and not asked.even_if_recomputed:
        raise InputError(
            Reason.BAD_OPTION,
            f"Tables with hidden counts were to be written ({', '.join(asked.schemes)}).",
            verdict,
            "Nothing was written. Publish fewer margins, join categories, or round the counts"
            " (--scheme conventional:5). To write it all the same: --even-if-recomputed.",
        )


def _hidden_beside_others(release: Release, progress: Progress | None) -> tuple[str, bool]:
    """Say whether hidden counts can be recomputed where other tables are rounded or perturbed."""
    try:
        known, n_open, n_hidden = bound_suppressed(release, progress)
    except LimitError:
        return (
            "Whether hidden counts can be recomputed was not examined: there are too many.",
            False,
        )
    hidden = count_of(n_hidden, "hidden cell")
    if known:
        return f"{known:,} of {hidden} can be recomputed from what is published.", False
    if n_open < n_hidden:
        return f"Of {hidden}, none is known, but {n_hidden - n_open:,} not settled.", False
    none = "The hidden cell cannot" if n_hidden == 1 else f"None of {hidden} can"
    return f"{none} be recomputed, tables that are not exact among what is published.", True


def write_units(asked: RecordsRequest) -> CountTable:
    """Write a table of true counts as records, one per unit; they are as confidential as the counts."""
    require_outputs(asked)
    table = read_count_table(asked.file, disjoint=asked.disjoint, **_writing(asked))
    write_table(unit_records(table), asked.output, raw=asked.raw)
    return table


def bound_release(
    asked: BoundsRequest, *, listing: bool = False, progress: Progress | None = None
) -> TableBounds:
    """Bound every cell of the base table, or of a table recoded from it.

    With `listing`, or a file to write, all cells are to be listed: what is too large for that is
    refused before any is bounded.
    """
    options, recoding = asked.options, asked.recoding
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
    release, _ = open_release(asked.release)
    if not is_recoded and (listing or asked.output or asked.report):
        require_listing(release.size, len(release.axes))
    if is_recoded:
        limit = options.most_programs
        found = bound_recoded(release, **given(recoding), most_programs=limit, progress=progress)
    else:
        found = bound_cells(release, **given(options), progress=progress)

    def report() -> RiskReport:
        said = infer_attributions(release, bounds=found, progress=progress)
        return released_report(release, found, said, with_records=not asked.release.no_records)

    write_outputs(asked, found, report=report)
    return found


def explore_release(asked: FeasibleRequest, *, progress: Progress | None = None) -> FeasibleTables:
    """Count the tables that agree with a release, and say how probable each count is."""
    require_outputs(asked)
    release, _ = open_release(asked.release)
    found = explore_tables(release, **given(asked.options), progress=progress)
    write_outputs(asked, found)
    return found


def attribute_release(asked: InferRequest, *, progress: Progress | None = None) -> Attributions:
    """Say what a release lets anybody say for certain about people of a kind."""
    require_outputs(asked)
    release, _ = open_release(asked.release)
    found = infer_attributions(release, **given(asked.options), progress=progress)
    shown = not asked.release.no_records
    write_outputs(
        asked,
        found,
        report=lambda: released_report(release, found.bounds, found, with_records=shown),
    )
    return found


def subtract_release(asked: SapRequest, *, progress: Progress | None = None) -> SubtractionAttack:
    """Say what somebody recovers who knows n people of the table."""
    if asked.anywhere:
        raise _misplaced()
    require_outputs(asked)
    release, truth = _with_truth(asked.release)
    found = subtract_known(release, truth, **given(asked.options), progress=progress)

    def report() -> RiskReport:
        said = infer_attributions(release, progress=progress)
        shown = not asked.release.no_records
        return released_report(release, said.bounds, said, subtraction=found, with_records=shown)

    write_outputs(asked, found, report=report)
    return found


def subtract_release_within(
    asked: SapRequest, *, progress: Progress | None = None
) -> ConditionalSubtraction:
    """Say what somebody recovers who knows n people, within each area or key."""
    options = asked.options
    whole = (asked.report, options.at, options.max_samples, options.max_bits)
    if any(one is not None for one in whole) or options.method != "auto":
        raise _misplaced()
    require_outputs(asked)
    release, truth = _with_truth(asked.release)
    found = subtract_within(
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
    n_axes = len(tuple(asked.options.shape))
    margins = _margins(asked.margins, n_axes) if asked.margins else None
    found = compare_schemes(
        asked.schemes, **given(asked.options), margins=margins, progress=progress
    )
    write_outputs(asked, found)
    return found


def _read_text(asked: ReleaseRequest) -> Release:
    # Several files are questioned together: one may have the sums that clear another.
    is_alone = len(asked.files) == 1
    found = [
        read_counts(
            file,
            scheme=asked.scheme,
            hidden=(*HIDDEN_MARKS, *asked.hidden),
            absent=asked.absent,
            disjoint=asked.disjoint if is_alone else True,
            **_writing(asked),
        )
        for file in asked.files
    ]
    return found[0] if is_alone else join_releases(found, found[0].title, asked.disjoint)


def _writing(asked: ReleaseRequest | RecordsRequest) -> dict[str, Any]:
    """Return how text files of counts are written, true ones and published ones."""
    return {
        "count": asked.count or None,
        "axes": asked.axes or None,
        "total": [label for label in asked.total if label.strip()] or None,
        "delimiter": asked.delimiter,
        "encoding": asked.encoding,
        "decimal": asked.decimal,
    }


def _with_truth(asked: ReleaseRequest) -> tuple[Release, CountTable]:
    release, truth = open_release(asked)
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
