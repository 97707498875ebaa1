"""Risk classes: names for ranges of a measure, with lower thresholds that the user can set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import did_you_mean, digits_text, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOT_UNIQUE = "not unique"
"""The class of records that share their key with another."""

_MEASURES = ("dis_is", "dis_suda", "dis_is_suda", "pol", "is", "suda", "p_match")
_UP_TO_ONE = frozenset({"dis_is", "dis_suda", "dis_is_suda", "pol", "p_match"})
_NAME_LETTERS = 40


@dataclass(frozen=True, slots=True, init=False)
class RiskClasses:
    """Classes of risk for sample uniques: a record is in the highest class whose threshold it meets.

    Parameters
    ----------
    thresholds
        The name of each class and its lower threshold, in any order.
    below
        The name of the class of sample uniques that meet no threshold.
    measure
        The measure that is classified: dis_is, dis_suda, dis_is_suda, pol, is or suda; p_match in
        an assessment.

    Attributes
    ----------
    names
        The classes of sample uniques, the highest first; `below` is the last, unless the lowest
        threshold is 0.
    lower
        Their lower thresholds; that of `below` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> classes = RiskClasses({"high": 0.2, "medium": 0.05})
    >>> classes.names, classes.lower
    (('high', 'medium', 'low'), (0.2, 0.05, 0.0))
    >>> classes.classify(np.array([0.3, 0.01, 0.2])).tolist()
    [0, 2, 0]
    """

    names: tuple[str, ...]
    lower: tuple[float, ...]
    measure: str

    def __init__(
        self,
        thresholds: Mapping[str, float],
        *,
        below: str = "low",
        measure: str = "dis_is",
    ) -> None:
        problems = [*_name_problems(thresholds, below), *_measure_problems(measure)]
        problems += _threshold_problems(thresholds, measure)
        if not thresholds:
            problems.append(
                Problem(Reason.NOTHING_GIVEN, "Thresholds", "there are none.", "Give one at least.")
            )
        if problems:
            raise InputError(
                Reason.BAD_OPTION,
                "Risk classes were to be set.",
                "Their names or thresholds cannot be used.",
                "Give names with lower thresholds, such as 'high=0.2,medium=0.05'.",
                problems=problems,
            )
        ordered = sorted(thresholds.items(), key=lambda item: -item[1])
        if ordered[-1][1] > 0:
            ordered.append((below, 0.0))
        object.__setattr__(self, "names", tuple(name for name, _ in ordered))
        object.__setattr__(self, "lower", tuple(float(value) for _, value in ordered))
        object.__setattr__(self, "measure", measure)

    @property
    def lowest_threshold(self) -> float:
        """The lowest threshold above 0; a record that meets it is called risky.

        Where 0 is the only threshold, every sample unique is risky.
        """
        return min((value for value in self.lower if value > 0), default=0.0)

    @property
    def text(self) -> str:
        """The thresholds as a user would write them.

        Examples
        --------
        >>> RiskClasses({"medium": 0.05, "high": 0.2}).text
        'high=0.2,medium=0.05'
        """
        return ",".join(
            f"{name}={str(value).removesuffix('.0')}"
            for name, value in zip(self.names, self.lower, strict=True)
            if value > 0 or len(self.names) == 1
        )

    def classify(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Return the position in `names` of each value's class; a missing value has -1."""
        import numpy as np

        rising = np.array(self.lower[::-1], dtype=np.float64)
        found = len(self.names) - np.searchsorted(rising, values, side="right")
        return np.where(np.isnan(values), -1, found).astype(np.int8)


def parse_risk_classes(text: str, *, below: str = "low", measure: str = "dis_is") -> RiskClasses:
    """Read risk classes from a text of names and lower thresholds.

    Examples
    --------
    >>> parse_risk_classes("high=0.2, medium=0.05").names
    ('high', 'medium', 'low')
    """
    thresholds: dict[str, float] = {}
    problems: list[Problem] = []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for part in parts:
        name, sign, number = (piece.strip() for piece in part.partition("="))
        where = f"Class {quoted([name])}"
        if name in thresholds:
            problems.append(Problem(Reason.DUPLICATE, where, "it is given twice."))
        try:
            thresholds[name] = float(number)
        except ValueError:
            found = f"{quoted([number])} is not a number." if sign else "it has no threshold."
            problems.append(
                Problem(Reason.BAD_OPTION, where, found, "Write a name, '=' and a number.")
            )
            # A threshold of its own lets the other faults of this class be found as well.
            thresholds[name] = -math.inf
    good = {name: value for name, value in thresholds.items() if value != -math.inf}
    if not problems:
        return RiskClasses(good, below=below, measure=measure)
    problems += [*_name_problems(thresholds, below), *_measure_problems(measure)]
    problems += _threshold_problems(good, measure)
    raise InputError(
        Reason.BAD_OPTION,
        "Risk classes were to be read from a text.",
        "It cannot be understood.",
        "Write names with lower thresholds, such as 'high=0.2,medium=0.05'.",
        problems=problems,
    )


def _name_problems(thresholds: Mapping[str, float], below: str) -> list[Problem]:
    problems: list[Problem] = []
    for name in {**thresholds, below: 0}:
        fault = ""
        if not name.strip():
            fault = "the name is empty."
        elif len(name) > _NAME_LETTERS or not name.isprintable():
            fault = f"the name is not one line of at most {_NAME_LETTERS} letters."
        elif "," in name or "=" in name:
            fault = "the name has a comma or an '='."
        elif name.strip().casefold() == NOT_UNIQUE:
            fault = "this name is kept for records that are not unique."
        if fault:
            problems.append(Problem(Reason.BAD_NAME, f"Class {quoted([name])}", fault))
    if below.casefold() in {name.casefold() for name, value in thresholds.items() if value != 0}:
        problems.append(
            Problem(
                Reason.DUPLICATE,
                f"Class {quoted([below])}",
                "this name is kept for sample uniques below every threshold.",
                "Choose another name, or give it the threshold 0.",
            )
        )
    return problems


def _measure_problems(measure: str) -> list[Problem]:
    if measure in _MEASURES:
        return []
    found, do = "no such measure can be classified.", did_you_mean(measure, _MEASURES)
    return [Problem(Reason.UNKNOWN_NAME, f"Measure {quoted([measure])}", found, do)]


def _threshold_problems(thresholds: Mapping[str, float], measure: str) -> list[Problem]:
    problems: list[Problem] = []
    seen: dict[float, str] = {}
    for name, value in thresholds.items():
        where = f"Class {quoted([name])}"
        if not math.isfinite(value) or value < 0:
            found = f"the threshold {digits_text(value)} is not a finite number from 0 up."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
        elif measure in _UP_TO_ONE and value > 1:
            found = f"the threshold {digits_text(value)} is above 1, which {measure} never is."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
        elif value in seen:
            found = f"it has the same threshold as {quoted([seen[value]])}."
            do = "Give each class a threshold of its own."
            problems.append(Problem(Reason.DUPLICATE, where, found, do))
        seen.setdefault(value, name)
    return problems


DEFAULT_RISK_CLASSES = RiskClasses({"very high": 0.5, "high": 0.2, "medium": 0.05})
"""The classes of DIS-IS unless others are given; no authority has set these thresholds."""
