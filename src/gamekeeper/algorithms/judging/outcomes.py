"""What scores are judged by: whether each record is a one or a zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import count_of


def value_problems(outcomes: NDArray[np.float64], scores: NDArray[np.float64]) -> list[Problem]:
    """Return what is wrong with the values of outcomes and scores, whatever their numbers.

    Examples
    --------
    >>> [str(one) for one in value_problems(np.array([0.0, 2.0]), np.array([1.0, np.nan]))]
    ['outcomes: 1 value other than 0 and 1.', 'scores: 1 value that is not a number.']
    """
    problems: list[Problem] = []
    n_other = int(np.count_nonzero((outcomes != 0) & (outcomes != 1)))
    if n_other:
        found = f"{count_of(n_other, 'value')} other than 0 and 1."
        problems.append(Problem(Reason.BAD_OPTION, "outcomes", found))
    n_not_numbers = int(np.count_nonzero(np.isnan(scores)))
    if n_not_numbers:
        found = count_of(n_not_numbers, "value that is not a number", "values that are not numbers")
        problems.append(Problem(Reason.BAD_OPTION, "scores", f"{found}."))
    return problems
