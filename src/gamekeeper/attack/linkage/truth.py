"""Links held against the truth: who is who, what share is right, with intervals, bands and plots.

Partners are known by an identifier that both files have. Links are told apart by stated
probability, by margin, or by how many runs on halves of the columns made them. Every plot is a
figure of its own that needs no display.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper import results
from gamekeeper.algorithms.statistics import Z_95
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, percent_text, quoted, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.attack.linkage.file_links import FileLinks
    from gamekeeper.attack.linkage.files import MaskingComparison
    from gamekeeper.attack.linkage.structure import StructureLinks

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
_LIMITS = (0.0, 0.5, 0.8, 0.95, 0.99, 1.0)
_MARGINS, _FEWEST = 5, 20
_BINS, _SHOWN = 30, 0.95


def true_partners(
    a: CodedTable,
    b: CodedTable,
    name: str,
    other: str = "",
    *,
    files: tuple[str, str] = ("the first file", "the second file"),
) -> NDArray[np.int64]:
    """Return for each record of a first file the record of a second with the same identifier.

    -1 where there is none. Records without an identifier have no partner. An identifier that is
    there twice is refused, and so are files that have no identifier in common; `files` says what to
    call them then.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> left, right = coded_from_codes([[1], [2]], ["id"]), coded_from_codes([[3], [1]], ["id"])
    >>> true_partners(left, right, "id").tolist()
    [1, -1]
    """
    second = other or name
    problems: list[Problem] = []
    for table, column, which in ((a, name, files[0]), (b, second, files[1])):
        where = f"identifier {quoted([column])}"
        if column not in table.codebook:
            found = f"is not in {which}."
            do = did_you_mean(column, table.codebook.names)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, do))
            continue
        codes = table.codes(column)
        codes = codes[codes != MISSING]
        n_twice = len(codes) - len(np.unique(codes))
        if n_twice:
            found = f"{count_of(n_twice, 'record repeats', 'records repeat')} one in {which}."
            problems.append(Problem(Reason.DUPLICATE, where, found, "Give each record its own."))
    refuse(problems, "Links were to be compared with the truth.", "The identifiers cannot be used.")
    place = {
        value: record
        for record, code in enumerate(b.codes(second).tolist())
        if code != MISSING
        for value in [b.codebook[second].values[code]]
    }
    values = a.codebook[name].values
    found = np.array(
        [-1 if code == MISSING else place.get(values[code], -1) for code in a.codes(name).tolist()],
        np.int64,
    )
    if not (found >= 0).any():
        raise InputError(
            Reason.BAD_OPTION,
            "Links were to be compared with the truth.",
            f"No identifier of {files[0]} ({quoted([name])}) is in {files[1]} ({quoted([second])}).",
            "Name the column that says who is who, written alike in both files.",
        )
    return found


def require_partners(truth: ArrayLike, n_first: int, n_second: int) -> NDArray[np.int64]:
    """Return true partners as numbers of records from 0, -1 for none; refuse what cannot be.

    >>> require_partners([1, -1], 2, 2).tolist()
    [1, -1]
    """
    partners = np.asarray(truth)
    if partners.shape == (n_first,) and (np.issubdtype(partners.dtype, np.integer) or not n_first):
        known = partners[partners >= 0]
        is_within = not partners.size or (partners.min() >= -1 and partners.max() < n_second)
        if is_within and len(np.unique(known)) == len(known):
            return partners.astype(np.int64)
    raise InputError(
        Reason.BAD_OPTION,
        "Links were to be compared with the truth.",
        f"The truth does not give {count_of(n_first, 'record')} different partners among"
        f" {n_second:,}.",
        "Give for each record of the first file the number of its record of the second, from 0, or"
        " -1.",
    )


def share_interval(number: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share.

    >>> [round(end, 3) for end in share_interval(5, 10)]
    [0.237, 0.763]
    """
    if not of:
        return 0.0, 1.0
    share = number / of
    middle = (share + Z_95**2 / (2 * of)) / (1 + Z_95**2 / of)
    half = Z_95 / (1 + Z_95**2 / of) * math.sqrt(share * (1 - share) / of + Z_95**2 / (4 * of**2))
    # Rounding must not leave out a share of none or of all.
    return 0.0 if not number else middle - half, 1.0 if number == of else middle + half


@dataclass(frozen=True, slots=True)
class Band:
    """Links between two limits of a probability or margin: how many, how many of them right.

    A link at the upper limit is in the band only if it is the last. `stated` is the mean of the
    stated probabilities, NaN for margins; `lower` and `upper` 95% limits of the share that is right.
    """

    low: float
    high: float
    n_links: int
    n_right: int
    stated: float

    @property
    def share(self) -> float:
        """The share of links that are right."""
        return self.n_right / max(self.n_links, 1)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of that share, at 95%."""
        return share_interval(self.n_right, self.n_links)

    @property
    def holds(self) -> bool:
        """Whether the stated probability is within the interval of the share that is right."""
        low, high = self.interval
        return low <= self.stated <= high


@dataclass(frozen=True, slots=True)
class Calibration:
    """Stated probabilities, band by band, and all together."""

    bands: tuple[Band, ...]
    all: Band

    @property
    def verdict(self) -> str:
        """Whether probabilities are calibrated: "yes", "no", or "not known" for too few links."""
        if self.all.n_links < _FEWEST:
            return "not known"
        return "yes" if all(band.holds for band in (*self.bands, self.all)) else "no"

    def sentence(self) -> str:
        """Return whether the probabilities hold, in words."""
        if not self.all.n_links:
            return "Nothing is linked, and no probability can be held against the truth."
        said = (
            f"Stated probabilities are {percent_text(self.all.stated)} on average, and"
            f" {percent_text(self.all.share)} of the {count_of(self.all.n_links, 'link')}"
            f" {'is' if self.all.n_links == 1 else 'are'} right"
        )
        ends = {
            # That few links do not contradict them is no proof.
            "yes": "they are calibrated as far as these links tell.",
            "no": "they are not calibrated, and only order the links.",
            "not known": "too few links to tell whether they are calibrated.",
        }
        return f"{said}: {ends[self.verdict]}"

    def to_arrow(self) -> pa.Table:
        """Return one row per band."""
        return bands_table(self.bands, "probability", with_stated=True)


def calibrate(stated: Floats, correct: Truths) -> Calibration:
    """Hold stated probabilities against the truth; links without one are left out.

    >>> found = calibrate(np.array([0.9, 0.9, np.nan]), np.array([True, False, False]))
    >>> found.all.n_links, found.all.n_right, found.verdict
    (2, 1, 'not known')
    """
    linked = ~np.isnan(stated)
    values, right = stated[linked], correct[linked]
    place = np.clip(np.searchsorted(_LIMITS, values, side="right") - 1, 0, len(_LIMITS) - 2)
    bands = [
        _band(low, high, right[place == k], values[place == k])
        for k, (low, high) in enumerate(pairwise(_LIMITS))
        if (place == k).any()
    ]
    return Calibration(tuple(bands), _band(0.0, 1.0, right, values))


def by_margin(margins: Floats, correct: Truths, linked: Truths) -> tuple[Band, ...]:
    """Return the share of right links by fifths of the margin, smallest first; equal margins together."""
    used = linked & np.isfinite(margins)
    if not used.any():
        return ()
    values, right = margins[used], correct[used]
    limits = np.unique(np.quantile(values, np.linspace(0, 1, _MARGINS + 1)))
    if len(limits) == 1:
        limits = np.append(limits, limits)
    place = np.clip(np.searchsorted(limits, values, side="right") - 1, 0, len(limits) - 2)
    return tuple(
        _band(float(limits[k]), float(limits[k + 1]), right[place == k], None)
        for k in range(len(limits) - 1)
        if (place == k).any()
    )


def bands_table(bands: tuple[Band, ...], of: str, *, with_stated: bool) -> pa.Table:
    """Return bands as rows."""
    columns = {
        **dict.fromkeys((f"{of}_from", f"{of}_to"), "float64"),
        **dict.fromkeys(("links", "right"), "int64"),
        **dict.fromkeys(("share_right", "lower", "upper", "stated"), "float64"),
    }
    rows = [
        (band.low, band.high, band.n_links, band.n_right, band.share, *band.interval, band.stated)
        for band in bands
    ]
    table = arrow_table(columns, rows)
    return table if with_stated else table.drop_columns(["stated"])


def _band(low: float, high: float, right: Truths, stated: Floats | None) -> Band:
    mean = float(stated.mean()) if stated is not None and stated.size else float("nan")
    return Band(low, high, len(right), int(np.count_nonzero(right)), mean)


def by_runs(found: StructureLinks) -> tuple[Band, ...]:
    """Return how many links, and right ones where known, so many runs made; nothing without runs."""
    if found.steady is None or found.links is None:
        return ()
    linked = found.links >= 0
    right = np.zeros_like(linked) if found.truth is None else linked & (found.links == found.truth)
    votes, n_most = found.steady.votes, found.steady.n_runs + 1
    counts, rights = (np.bincount(votes[some], minlength=n_most) for some in (linked, right))
    return tuple(
        Band(k, k, n, n_right, math.nan)
        for k, (n, n_right) in enumerate(zip(counts.tolist(), rights.tolist(), strict=True))
        if n
    )


def runs_table(found: StructureLinks) -> pa.Table | None:
    """Return one row per number of runs that made a link; None where there were no runs."""
    bands = by_runs(found)
    if not bands:
        return None
    table = bands_table(bands, "runs", with_stated=False).drop_columns(["runs_to"])
    table = table.rename_columns(["runs", *table.column_names[1:]])
    return table if found.truth is not None else table.select(["runs", "links"])


def plot_links(found: FileLinks) -> Figure:
    """Draw how margins are distributed; correct and wrong links apart where truth is known."""
    figure, ax = _figure(4.2)
    margins = found.margins
    linked = (found.linked.columns >= 0) & np.isfinite(margins)
    # A few records are unlike all others; with them on the axis, the rest would be one bar.
    most = float(np.quantile(margins[linked], _SHOWN)) if linked.any() else 0.0
    is_cut = 0 < 2 * most < margins[linked].max(initial=0.0)
    if is_cut:
        margins = np.minimum(margins, most, where=linked, out=margins.copy())
    correct = found.is_correct
    edges = np.histogram_bin_edges(margins[linked] if linked.any() else np.zeros(1), _BINS).tolist()
    if correct is None:
        ax.hist(margins[linked], edges, color=results.COLOURS[0])
    else:
        parts = [margins[linked & correct], margins[linked & ~correct]]
        ax.hist(
            parts,
            edges,
            stacked=True,
            color=[results.COLOURS[1], results.COLOURS[0]],
            label=["correct", "wrong"],
        )
        ax.legend(frameon=False, loc="best")
    n_alone = int(np.count_nonzero((found.linked.columns >= 0) & ~np.isfinite(margins)))
    cut = "; the last bar has all that is more" if is_cut else ""
    alone = f"; {n_alone:,} without second best not shown" if n_alone else ""
    ax.set_xlabel(f"cost of the second best less that of the best{cut}{alone}")
    ax.set_ylabel("links")
    return figure


def plot_maskings(found: MaskingComparison) -> Figure:
    """Draw the re-identification rate of each version, with its interval, by way of linking."""
    n_ways = len(found.methods)
    figure, ax = _figure(1.4 + 0.5 * len(found.names) * max(n_ways, 1) ** 0.5)
    letters = results.drawable_letters()
    for way, name in enumerate(found.methods):
        rates, low, high = np.array([version[way].rate_and_interval for version in found.links]).T
        places = np.arange(len(rates)) + (way - (n_ways - 1) / 2) * 0.16
        ax.errorbar(
            rates, places, xerr=[rates - low, high - rates], fmt="o",
            color=results.COLOURS[way % len(results.COLOURS)], capsize=3, label=results.drawable(name, letters),
        )  # fmt: skip
    ax.set_yticks(
        range(len(found.names)), [results.drawable(name, letters) for name in found.names]
    )
    ax.set_ylim(len(found.names) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of records re-identified")
    figure.legend(frameon=False, loc="outside upper center", ncols=2)
    return figure


def plot_structure(found: StructureLinks) -> Figure:
    """Draw how much each clustering agrees, and what leaving it out costs where truth is known."""
    figure, ax = _figure(1.4 + 0.5 * len(found.clusterings))
    letters = results.drawable_letters()
    places = np.arange(len(found.clusterings))
    ax.barh(
        places,
        found.agreements,
        color=results.COLOURS[0],
        height=0.5,
        label="share of groups that agree",
    )
    if found.drops is not None:
        ax.scatter(
            found.drops, places, color=results.COLOURS[1], zorder=3,
            label="share of records that is lost without it",
        )  # fmt: skip
    ax.axvline(0, color=results.MUTED, linewidth=0.8)
    ax.set_yticks(places, [results.drawable(name, letters) for name in found.clusterings])
    ax.invert_yaxis()
    ax.set_xlabel("share, in the first file")
    figure.legend(frameon=False, loc="outside upper center", ncols=2)
    return figure


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = results.new_figure(7.2, height)
    return figure, results.ruled(figure.add_subplot())


def plot_margin_shares(found: FileLinks) -> Figure:
    """Draw the share of right links by fifths of the margin; empty where truth is not known."""
    correct = found.is_correct
    figure, ax = _figure(3.4)
    if correct is not None:
        bands = by_margin(found.margins, correct, found.linked.columns >= 0)
        _bands(ax, bands, [f"{band.low:.3g} to {band.high:.3g}" for band in bands])
    ax.set_xlabel("margin: cost of the second best less that of the best")
    return figure


def plot_calibration(found: Calibration) -> Figure:
    """Draw the share of right links by stated probability, and what was stated."""
    figure, ax = _figure(3.4)
    bands = found.bands
    _bands(ax, bands, [f"{share_text(band.low)} to {share_text(band.high)}" for band in bands])
    ax.scatter(
        range(len(bands)), [band.stated for band in bands], marker="_", s=400, color=results.COLOURS[1],
        zorder=3, label="stated on average",
    )  # fmt: skip
    ax.legend(frameon=False, loc="lower right")
    ax.set_xlabel("stated probability")
    return figure


def plot_came_back(found: StructureLinks) -> Figure:
    """Draw the share of right links by how many runs made them; how many, where truth is not known."""
    figure, ax = _figure(3.4)
    bands = by_runs(found)
    names = [f"{band.low:.0f}" for band in bands]
    if found.truth is None:
        ax.bar(names, [band.n_links for band in bands], color=results.COLOURS[0], width=0.6)
        ax.set_ylabel("links")
    else:
        _bands(ax, bands, names)
    ax.set_xlabel("runs on halves of the columns that made the link")
    return figure


def _bands(ax: Axes, bands: Sequence[Band], names: Sequence[str]) -> None:
    shares = [band.share for band in bands]
    ends = [band.interval for band in bands]
    low = [max(share - end[0], 0.0) for share, end in zip(shares, ends, strict=True)]
    high = [max(end[1] - share, 0.0) for share, end in zip(shares, ends, strict=True)]
    places = range(len(bands))
    ax.errorbar(
        places,
        shares,
        yerr=[low, high],
        fmt="o",
        capsize=3,
        color=results.COLOURS[0],
        label="right",
    )
    ax.set_xticks(
        places,
        [
            f"{name}\n{count_of(band.n_links, 'link')}"
            for name, band in zip(names, bands, strict=True)
        ],
    )
    ax.set_xlim(-0.5, max(len(bands) - 0.5, 0.5))
    ax.set_ylim(-0.02, 1.05)
    ax.set_ylabel("share of links that are right")
