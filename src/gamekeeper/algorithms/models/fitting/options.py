"""Checks of what a search over models is asked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

MOVES = ("toggle", "swap", "star", "triangle", "leaf")
"""One edge; one edge for another; two or three edges at a vertex; the three edges among three
vertices; all edges of a vertex whose neighbours form a clique."""

_SHARES = (0.5, 0.15, 0.12, 0.08, 0.15)
# A leaf move looks at every clique, so on many variables it costs hundreds of scores.
_MANY_VARIABLES = 24
_SHARES_OF_MANY = (0.69, 0.15, 0.1, 0.05, 0.01)


def check_options(options: Mapping[str, tuple[bool, str]]) -> None:
    """Raise one error for all options that are not as they must be."""
    problems = [
        Problem(Reason.BAD_OPTION, name, "not a value that can be used.", f"Give a number {must}.")
        for name, (holds, must) in options.items()
        if not holds
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "A search over models was asked for.",
            f"{count_of(len(problems), 'option')} cannot be used.",
            problems=problems,
        )


def cumulative_shares(moves: Mapping[str, float] | None, n_variables: int) -> NDArray[np.float64]:
    """Return the shares of moves, cumulated; those for so many variables if none are given."""
    if moves is None:
        chosen = _SHARES if n_variables <= _MANY_VARIABLES else _SHARES_OF_MANY
        return np.cumsum(chosen)
    unknown = sorted(set(moves) - set(MOVES))
    shares = np.array([moves.get(name, 0.0) for name in MOVES], np.float64)
    if unknown or not np.isfinite(shares).all() or (shares < 0).any() or shares[0] <= 0:
        raise InputError(
            Reason.UNKNOWN_NAME if unknown else Reason.BAD_OPTION,
            "Moves of a search over models were chosen.",
            f"There are no moves {quoted(unknown)}. {did_you_mean(unknown[0], MOVES)}"
            if unknown
            else "A share is negative, or single edges have none.",
            f"Give shares for {quoted(MOVES)}, the first above 0.",
        )
    return np.cumsum(shares / shares.sum())
