"""Which clusterings a matching of two files rests on: each is left out in turn.

Without a technique the classes are coarser and the matching is sought anew. What it carried is the
drop in correct records, where the truth is known, and in the share of agreements reached. A
technique whose clusters in one file have nothing to do with those in the other lowers the share of
agreements by being there.

Torra, Towards the re-identification of individuals in data files with non-common variables,
section 5, asks the question. The cost is one matching per technique and one more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.conjunction import conjunction
from gamekeeper.algorithms.structure.group_matching import match_groups
from gamekeeper.algorithms.structure.group_success import GroupSuccess, checked_truth, group_success
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

__all__ = ["TechniqueInformation", "technique_information"]


@dataclass(frozen=True, eq=False, repr=False)
class TechniqueInformation:
    """What is reached with all techniques and without each.

    Attributes
    ----------
    agreement, agreement_without
        The share of agreements among all pairs of record and technique.
    own_agreement
        For each technique the share of records that agree in it, in the matching by all.
    success, success_without
        Re-identification at the level of groups, where the truth is known.
    """

    agreement: float
    agreement_without: NDArray[np.float64]
    own_agreement: NDArray[np.float64]
    success: GroupSuccess | None
    success_without: tuple[GroupSuccess, ...]

    @property
    def lost_correct(self) -> NDArray[np.int64]:
        """For each technique the correct records that are lost without it; negative where it harms."""
        if self.success is None:
            return np.zeros(0, np.int64)
        n_correct = self.success.n_correct
        return np.array([n_correct - without.n_correct for without in self.success_without])

    def __repr__(self) -> str:
        return f"TechniqueInformation({len(self.own_agreement)} techniques)"


def technique_information(
    labels_a: ArrayLike,
    labels_b: ArrayLike,
    *,
    truth: ArrayLike | None = None,
    one_to_one: bool = False,
    restarts: int = 40,
    seed: int = 0,
    exact: bool | str = "auto",
    progress: Progress | None = None,
) -> TechniqueInformation:
    """Match two files by all their clusterings and without each of them.

    Classes count by their records. Options not named here are those of `match_groups`.

    Parameters
    ----------
    labels_a, labels_b
        The label of each record by each technique.
    truth
        For each record of A the number of its record of B, -1 where there is none.
    one_to_one
        Whether records rather than classes are matched, each with another one.

    Examples
    --------
    >>> labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> found = technique_information(labels, labels + 5, truth=[0, 1, 2, 3])
    >>> found.agreement, found.own_agreement
    (1.0, array([1., 1.]))
    """
    a, b = conjunction(labels_a), conjunction(labels_b)
    n_techniques = a.rows.shape[1]
    if n_techniques < 2 or b.rows.shape[1] != n_techniques:
        raise InputError(
            Reason.WRONG_SCHEMA,
            "What each clustering carries was asked for.",
            f"The files have {n_techniques} and {b.rows.shape[1]} clusterings.",
            "Give the same two or more clusterings of both files.",
        )
    links = None if truth is None else checked_truth(truth, len(a.classes), len(b.classes))

    def matched(kept: list[int]) -> tuple[NDArray[np.float64], GroupSuccess | None]:
        """Return the share of records that agree in each technique kept, and the success."""
        records_a, records_b = a.rows[a.classes][:, kept], b.rows[b.classes][:, kept]
        part_a, part_b = conjunction(records_a), conjunction(records_b)
        search = partial(match_groups, restarts=restarts, seed=seed, exact=exact)
        if one_to_one:
            matching = search(records_a, records_b, one_to_one=True)
            pointed = np.where(matching.groups < 0, -1, part_b.classes[matching.groups])
        else:
            sizes = part_a.sizes, part_b.sizes
            matching = search(part_a.rows, part_b.rows, weights=part_a.sizes, sizes=sizes)
            pointed = matching.groups[part_a.classes]
        shares = matching.by_technique / len(records_a)
        return shares, None if links is None else group_success(pointed, part_b, links)

    every = list(range(n_techniques))
    own_agreement, success = matched(every)
    shares: list[float] = []
    successes: list[GroupSuccess] = []
    for left_out in every:
        if progress is not None:
            progress(left_out + 1, n_techniques + 1)
        agreement, its_success = matched([t for t in every if t != left_out])
        shares.append(float(agreement.mean()))
        if its_success is not None:
            successes.append(its_success)
    if progress is not None:
        progress(n_techniques + 1, n_techniques + 1)
    return TechniqueInformation(
        float(own_agreement.mean()),
        np.array(shares),
        own_agreement,
        success,
        tuple(successes),
    )
