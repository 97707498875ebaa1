"""Worked examples of judging: the logit rank plot of a score."""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.algorithms.judging import logit_rank_plot
from tests.reference.cases import Case
from tests.reference.numbers import nearly

__all__ = ["is_rank_plot", "rank_plots"]

# The line of each window is the end of an iteration, so the last digits are nobody's definition.
_RELATIVE = 1e-6
_ABSOLUTE = 1e-9


def is_rank_plot(case: Case) -> bool:
    """Tell whether a case of the kind 'extras' is a logit rank plot."""
    return "y" in case.given and "score" in case.given


def rank_plots(case: Case) -> None:
    y, score, m, h = (case.needs(name) for name in ("y", "score", "m", "h"))
    found = logit_rank_plot(y, score, m, h)
    _check(case, "t", found.t.tolist())
    _check(case, "value", found.value.tolist())


def _check(case: Case, name: str, found: Sequence[float]) -> None:
    if not case.defines(name):
        return
    expected = case.expected[name]
    case.check(name, "in number", len(expected), len(found))
    for place, (wanted, value) in enumerate(zip(expected, found, strict=False)):
        near = nearly(wanted, value, relative=_RELATIVE, absolute=_ABSOLUTE)
        case.check(name, f"of {place}", wanted, near)
