"""What the person who attacks tables has taken for granted: in words, and as it stands in the provenance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.subtotals import ROUNDED_SUBTOTALS, AssumedDisjoint, could_be_sums
from gamekeeper.results import Provenance
from gamekeeper.wording import count_of, quoted

_SHOWN = 6


def assumptions(release: Release, truth: CountTable | None = None) -> dict[str, str]:
    """Return the axes that were said to be disjoint in spite of their labels, and those that were assumed to.

    Where the truth is known, it may tell of an axis that no label is the sum of others.

    Examples
    --------
    >>> codes = {"code": ["A", "A01", "A02"]}
    >>> table = {"margin": ["code"], "counts": [5, 3, None]}
    >>> assumptions(Release.typed(codes, [table], disjoint=["code"]))
    {'disjoint': 'code'}
    """
    return {
        **({"disjoint": ", ".join(release.doubted)} if release.doubted else {}),
        **assumed_summary([one for one in release.assumed if _is_left_open(one.axis, truth)]),
    }


def _is_left_open(name: str, truth: CountTable | None) -> bool:
    """Whether true counts, where they are known, leave it possible that labels of an axis are sums."""
    if truth is None:
        return True
    at = truth.names.index(name)
    counts = np.moveaxis(truth.dense(), at, -1).reshape(-1, len(truth.axes[at])).astype(float)
    none = np.full(len(counts), -np.inf)
    return could_be_sums(truth.axes[at], counts, counts, none) is not None


def assumed_summary(assumed: Sequence[AssumedDisjoint]) -> dict[str, str]:
    """Return the axes that were taken to be disjoint without anybody saying so."""
    return {"assumed_disjoint": ", ".join(one.axis for one in assumed)} if assumed else {}


def under_assumption(said: str, what: str, provenance: Provenance) -> str:
    """Return a sentence after what is not known because of an assumption, and the assumption.

    Examples
    --------
    >>> found = Provenance("bounds", parameters={"assumed_disjoint": "area"})
    >>> print(under_assumption("None is known.", "What is hidden", found))
    What is hidden is not known: labels of 'area' may be sums of others. If none is (--disjoint area): None is known.
    """
    axes = provenance.parameters.get("assumed_disjoint", "")
    if not axes:
        return said
    return (
        f"{what} is not known: labels of {quoted(axes.split(', '))} may be sums of others. If none is"
        f" (--disjoint {axes.replace(', ', ',')}): {said}"
    )


def possible_sums_words(assumed: Sequence[AssumedDisjoint], most: int = _SHOWN) -> list[str]:
    """Return the labels that could be sums of others, some of them in words, for a person to answer."""
    said: list[str] = []
    for one in assumed:
        where = f"On axis {quoted([one.axis])}"
        # What could be the same as one other is less likely meant than what could be a sum.
        order = sorted(one.sums, key=lambda own: len(own.parts) == 1)
        said += [f"{where}, {own}" for own in order[:most]]
        if len(order) > most:
            said.append(f"{where}, {count_of(len(order) - most, 'more label')} could be sums.")
        if not one.is_all:
            said.append(f"{where}, there are too many labels to look at all of them.")
    if said and not all(one.is_plain for one in assumed):
        said.append(
            f"Say that nobody is counted under two of them (--disjoint). {ROUNDED_SUBTOTALS}"
        )
    elif said:
        said.append(
            "Say how labels add up (--hierarchy of tables audit), or that nobody is counted under two of"
            " them (--disjoint)."
        )
    return said
