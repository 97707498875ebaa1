"""Stated probabilities and margins of links held against the truth: what share is right in each band."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.linkage.truth import share_interval
from gamekeeper.results import arrow_table
from gamekeeper.wording import count_of, percent_text

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

_LIMITS = (0.0, 0.5, 0.8, 0.95, 0.99, 1.0)
_MARGINS = 5
_FEWEST = 20


@dataclass(frozen=True, slots=True)
class Band:
    """Links between two limits of a probability or margin: how many, how many of them right.

    Attributes
    ----------
    low, high
        The limits; a link at the upper one is in the band only if it is the last.
    stated
        The mean of the stated probabilities; NaN for margins.
    lower, upper
        The interval of the share that is right, at 95%.
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

    Examples
    --------
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
    """Return the share of right links in fifths of the margin, the smallest margins first.

    Links with equal margins are in one band.
    """
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
