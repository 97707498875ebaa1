"""Released tables as a person attacks them: open what is published, bound, count, subtract, infer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.algorithms.bounds.attributions import MOST_COMBINATIONS
from gamekeeper.algorithms.releases.scheme_names import parse_scheme
from gamekeeper.attack.tables.attributions import Attributions, infer_attributions
from gamekeeper.attack.tables.bounds import (
    BoundsMethod,
    TableBounds,
    bound_cells,
    bound_recoded,
)
from gamekeeper.attack.tables.comparison import SchemeComparison, compare_schemes
from gamekeeper.attack.tables.conditional import ConditionalSubtraction, subtract_within
from gamekeeper.attack.tables.feasible import FeasibleTables, explore_tables
from gamekeeper.attack.tables.subtraction import SubtractionAttack, subtract_known
from gamekeeper.data.tables.count_file import HIDDEN_MARKS, read_count_table, read_counts
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, check_truth, make_release
from gamekeeper.data.tables.release_file import read_release_and_truth, write_release
from gamekeeper.data.tables.release_joining import align_truth, join_releases
from gamekeeper.data.tables.tabulation import tabulate
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.report.figures import save_figure
from gamekeeper.report.release_report import released_report
from gamekeeper.report.risk_page import write_risk_report
from gamekeeper.report.saving import PAGE_ENDINGS, PICTURE_ENDINGS
from gamekeeper.report.tables import TABLE_ENDINGS, write_table
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench.destinations import require_destinations
from gamekeeper.workbench.microdata import open_microdata
from gamekeeper.workbench.requests.microdata import MicrodataRequest

__all__ = [
    "ReleaseRequest",
    "attribute_release",
    "bound_release",
    "compare_published",
    "explore_release",
    "open_release",
    "publish_tables",
    "subtract_release",
    "subtract_release_within",
]

JSON_ENDINGS = (".json",)


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """Where a release is, and how it is written.

    Attributes
    ----------
    files
        One JSON release, or text files with one row per cell.
    scheme
        How the counts of text files were published.
    count, total, hidden, absent
        The column of counts; the labels of totals; what stands for a hidden count; what a cell
        without a row means.
    disjoint
        The axes whose categories exclude each other, although labels look like sums of others.
    truth
        A text file with the true counts, where the release does not hold them.
    """

    files: Sequence[Path]
    scheme: str = "exact"
    count: str = ""
    total: str | Sequence[str] = "Total"
    hidden: Sequence[str] = HIDDEN_MARKS
    absent: str = "error"
    truth: Path | None = None
    disjoint: Sequence[str] = ()


def open_release(request: ReleaseRequest) -> tuple[Release, CountTable | None]:
    """Read a release, and the truth behind it where there is one."""
    if not request.files:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A release was to be opened.",
            "No file was named.",
            "Name a release (.json) or text files with counts.",
        )
    documents = [file for file in request.files if file.suffix.lower() in JSON_ENDINGS]
    if documents and len(request.files) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(len(request.files), 'file')} were given as one release.",
            f"{quoted([documents[0].name])} is a release of its own.",
            "Name one JSON file, or text files only.",
        )
    truth: CountTable | None = None
    if documents and request.scheme != "exact":
        raise InputError(
            Reason.BAD_OPTION,
            f"The release {quoted([documents[0].name])} was to be read with the scheme"
            f" {quoted([request.scheme])}.",
            "A release in JSON has the scheme of each of its tables.",
            "Leave the scheme out, or write it into the file.",
        )
    if documents:
        release, truth = read_release_and_truth(documents[0], disjoint=request.disjoint)
    else:
        count = request.count or None
        # Several files are questioned together: one may have the sums that clear another.
        is_alone = len(request.files) == 1
        found = [
            read_counts(
                file,
                scheme=request.scheme,
                count=count,
                total=request.total or None,
                hidden=request.hidden,
                absent=request.absent,
                disjoint=request.disjoint if is_alone else True,
            )
            for file in request.files
        ]
        release = found[0] if is_alone else join_releases(found, found[0].title, request.disjoint)
    if request.truth is not None:
        # Its labels are those of the release, which has been questioned.
        given = read_count_table(
            request.truth,
            count=request.count or None,
            total=request.total or None,
            disjoint=True,
        )
        truth = align_truth(release, given)
        check_truth(release, truth)
    return release, truth


def publish_tables(
    request: MicrodataRequest,
    margins: Sequence[Sequence[str]],
    schemes: Sequence[str],
    output: Path,
    *,
    with_truth: bool = False,
    seed: int = 0,
    title: str = "",
    progress: Progress | None = None,
) -> tuple[Release, CountTable]:
    """Count a file of microdata by its keys, publish margins under schemes, and write the release.

    With the truth, the file is as confidential as the microdata: it is the steward's own.
    """
    require_destinations({output: JSON_ENDINGS}, read=[request.file])
    wanted = [parse_scheme(scheme) for scheme in schemes]
    data = open_microdata(request, progress=progress)
    truth = tabulate(data.coded, data.keys, missing=request.missing, progress=progress)
    listed = list(margins) or [data.keys]
    unknown = sorted({name for margin in listed for name in margin} - set(data.keys))
    if unknown:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Tables by {quoted(unknown)} were to be published.",
            f"The variables that are counted are {quoted(data.keys)}.",
            "Name them as keys as well.",
        )
    if len(wanted) not in (1, len(listed)):
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(len(listed), 'table was', 'tables were')} to be published.",
            f"{count_of(len(wanted), 'scheme was', 'schemes were')} given.",
            "Give one scheme, or one for each table.",
        )
    release = make_release(
        truth, listed, wanted[0] if len(wanted) == 1 else wanted, seed=seed, title=title
    )
    write_release(release, output, truth if with_truth else None)
    return release, truth


def bound_release(
    request: ReleaseRequest,
    *,
    method: BoundsMethod = BoundsMethod.AUTO,
    keep: Sequence[str] | None = None,
    groups: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    most_programs: int | None = None,
    max_nodes: int | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    report: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Release, TableBounds]:
    """Bound every cell of the base table, or of a table recoded from it."""
    is_recoded = keep is not None or bool(groups)
    is_chosen = method is not BoundsMethod.AUTO or max_nodes is not None
    if is_recoded and (report is not None or is_chosen):
        raise InputError(
            Reason.BAD_OPTION,
            "Bounds on a recoded table were asked for.",
            "Reports, methods and the limit of the shuttle are for the base table.",
            "Leave out the groups and the axes to keep, or the other options.",
        )
    destinations = {output: TABLE_ENDINGS, plot: PICTURE_ENDINGS, report: PAGE_ENDINGS}
    require_destinations(destinations, read=[*request.files, request.truth])
    release, _ = open_release(request)
    if not is_recoded:
        found = bound_cells(
            release,
            method=method,
            most_programs=most_programs,
            max_nodes=max_nodes,
            progress=progress,
        )
    else:
        found = bound_recoded(
            release, groups or {}, keep=keep, most_programs=most_programs, progress=progress
        )
    if output is not None:
        write_table(found.to_arrow(), output)
    if plot is not None:
        save_figure(found.plot(), plot)
    if report is not None:
        attributions = infer_attributions(release, bounds=found, progress=progress)
        write_risk_report(released_report(release, found, attributions), report)
    return release, found


def explore_release(
    request: ReleaseRequest,
    *,
    most: int | None = None,
    listed: int = 0,
    prior: str = "uniform",
    draws: int = 10_000,
    seed: int = 0,
    workers: int | None = None,
    output: Path | None = None,
    progress: Progress | None = None,
) -> FeasibleTables:
    """Count the tables that agree with a release, and say how probable each count is."""
    require_destinations({output: TABLE_ENDINGS}, read=[*request.files, request.truth])
    release, _ = open_release(request)
    found = explore_tables(
        release,
        most=most,
        listed=listed,
        prior=prior,
        draws=draws,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    if output is not None:
        write_table(found.to_arrow(), output)
    return found


def subtract_release(
    request: ReleaseRequest,
    *,
    n: Iterable[int] | None = None,
    at: int | None = None,
    method: str = "auto",
    max_samples: int | None = None,
    draws: int = 10_000,
    seed: int = 0,
    output: Path | None = None,
    plot: Path | None = None,
    report: Path | None = None,
    progress: Progress | None = None,
) -> SubtractionAttack:
    """Say what somebody recovers who knows n people of the table."""
    destinations = {output: TABLE_ENDINGS, plot: PICTURE_ENDINGS, report: PAGE_ENDINGS}
    require_destinations(destinations, read=[*request.files, request.truth])
    release, truth = _with_truth(request)
    found = subtract_known(
        release,
        truth,
        n=n,
        at=at,
        method=method,
        max_samples=max_samples,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    if output is not None:
        write_table(found.to_arrow(), output)
    if plot is not None:
        save_figure(found.plot(), plot)
    if report is not None:
        attributions = infer_attributions(release, progress=progress)
        page = released_report(release, attributions.bounds, attributions, subtraction=found)
        write_risk_report(page, report)
    return found


def subtract_release_within(
    request: ReleaseRequest,
    keys: Sequence[str],
    *,
    n: Iterable[int] | None = None,
    own_people: bool = True,
    draws: int = 10_000,
    seed: int = 0,
    output: Path | None = None,
    plot: Path | None = None,
    progress: Progress | None = None,
) -> ConditionalSubtraction:
    """Say what somebody recovers who knows n people, within each area or key."""
    destinations = {output: TABLE_ENDINGS, plot: PICTURE_ENDINGS}
    require_destinations(destinations, read=[*request.files, request.truth])
    release, truth = _with_truth(request)
    found = subtract_within(
        release,
        truth,
        keys,
        n=n,
        own_people=own_people,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    if output is not None:
        write_table(found.to_arrow(), output)
    if plot is not None:
        save_figure(found.plot(), plot)
    return found


def attribute_release(
    request: ReleaseRequest,
    *,
    about: Sequence[str] = (),
    max_conditions: int | None = None,
    max_combinations: int | None = None,
    output: Path | None = None,
    report: Path | None = None,
    progress: Progress | None = None,
) -> Attributions:
    """Say what a release lets anybody say for certain about people of a kind."""
    destinations = {output: TABLE_ENDINGS, report: PAGE_ENDINGS}
    require_destinations(destinations, read=[*request.files, request.truth])
    release, _ = open_release(request)
    found = infer_attributions(
        release,
        about=about,
        max_conditions=max_conditions,
        max_combinations=MOST_COMBINATIONS if max_combinations is None else max_combinations,
        progress=progress,
    )
    if output is not None:
        write_table(found.to_arrow(), output)
    if report is not None:
        write_risk_report(released_report(release, found.bounds, found), report)
    return found


def compare_published(
    schemes: Sequence[str],
    *,
    shape: Sequence[int] = (2, 6),
    mean: float = 2.0,
    tables: int = 1_200,
    total: bool = True,
    margins: Sequence[Sequence[int]] | None = None,
    n: Iterable[int] = range(25),
    seed: int = 0,
    output: Path | None = None,
    plot: Path | None = None,
    progress: Progress | None = None,
) -> SchemeComparison:
    """Compare perturbation schemes on random tables."""
    require_destinations({output: TABLE_ENDINGS, plot: PICTURE_ENDINGS})
    found = compare_schemes(
        schemes,
        shape=shape,
        mean=mean,
        tables=tables,
        total=total,
        margins=margins,
        n=n,
        seed=seed,
        progress=progress,
    )
    if output is not None:
        write_table(found.to_arrow(), output)
    if plot is not None:
        save_figure(found.plot(), plot)
    return found


def _with_truth(request: ReleaseRequest) -> tuple[Release, CountTable]:
    release, truth = open_release(request)
    if truth is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "The probability of recovering zeros was asked for.",
            "It depends on the true counts, and the release does not hold them.",
            "Name the file with the true counts (--truth).",
            problems=[Problem(Reason.NOTHING_GIVEN, "truth", "not given.")],
        )
    return release, truth
