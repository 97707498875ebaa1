"""Mahalanobis distance of several numbers between the records of two files.

Differences count by the inverse of the covariance, pooled within the two files: numbers are turned
once so that the distance is Euclidean. A pair costs the number of variables.

Mahalanobis (1936); its use for linkage in Torra, Abowd and Domingo-Ferrer (2006).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linkage.comparison import observed
from gamekeeper.errors import InputError, Reason

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MahalanobisCost:
    """The squared Mahalanobis distance of several numbers.

    The least total of squares is the most likely set of links where noise is normal with a
    covariance proportional to that of the data.
    """

    a: Floats = field(repr=False)
    b: Floats = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return len(self.a), len(self.b)

    def add_block(self, out: Floats, rows: slice) -> None:
        """Add the costs of some rows and all columns to `out`."""
        from gamekeeper.algorithms.linkage.distance_kernels import add_squares_matrix

        add_squares_matrix(out, self.a[rows], self.b)

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the cost of each listed pair."""
        from gamekeeper.algorithms.linkage.distance_kernels import add_squares_pairs

        out = np.zeros(len(rows))
        add_squares_pairs(out, self.a, self.b, rows, columns)
        return out


def mahalanobis_cost(a: ArrayLike, b: ArrayLike) -> MahalanobisCost:
    """Combine numbers by the inverse of their covariance.

    Parameters
    ----------
    a, b
        Numbers of the two files, one row per record, NaN for missing. A missing value stands at
        the mean of the observed ones of both files, and a note says how many there are.

    Notes
    -----
    The covariance is pooled within the files, so that a shift between them does not count. Where it
    is singular (constant variables, one a combination of others) its pseudo-inverse is taken: the
    directions without variance count for nothing, and a note says so.

    Examples
    --------
    >>> cost = mahalanobis_cost([[0, 0], [2, 0], [0, 4], [2, 4]], [[1, 2]])
    >>> cost.pairs(np.array([0]), np.array([0])).round(6).tolist()
    [1.5]
    """
    x, y = np.array(a, np.float64), np.array(b, np.float64)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1] or not x.size or not y.size:
        raise _bad(
            f"The files have numbers of shape {x.shape} and {y.shape}.",
            "Give one row per record and the same columns, at least one of each.",
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise _bad("There is an infinite value.", "Give numbers, NaN for missing.")
    notes = ()
    n_missing = int(np.isnan(x).sum() + np.isnan(y).sum())
    if n_missing:
        notes = (f"{n_missing:,} missing values stand at the mean of their variable.",)
    for k in range(x.shape[1]):
        known = np.concatenate((observed(x[:, k]), observed(y[:, k])))
        centre = known.mean() if len(known) else 0.0
        x[:, k] = np.where(np.isnan(x[:, k]), 0.0, x[:, k] - centre)
        y[:, k] = np.where(np.isnan(y[:, k]), 0.0, y[:, k] - centre)
    scatter = sum((f - f.mean(0)).T @ (f - f.mean(0)) for f in (x, y))
    covariance = np.atleast_2d(scatter) / max(len(x) + len(y) - 2, 1)
    # By the correlations, so that the units of variables do not decide what counts as singular.
    deviations = np.sqrt(np.diag(covariance))
    scales = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
    values, vectors = np.linalg.eigh(covariance * np.outer(scales, scales))
    kept = values > len(values) * 1e-10 * max(float(values.max()), 0.0)
    if not kept.all():
        note = (
            f"The covariance has rank {int(kept.sum())} for {len(values)} variables; directions "
            "without variance count for nothing."
        )
        notes += (note,)
    whitening = scales[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    left, right = np.ascontiguousarray(x @ whitening), np.ascontiguousarray(y @ whitening)
    return MahalanobisCost(left, right, notes)


def _bad(found: str, do: str) -> InputError:
    asked = "Mahalanobis distances between the records of two files were asked for."
    return InputError(Reason.BAD_OPTION, asked, found, do)
