"""The measures of record-level risk that are known by name.

A measure is a function of a `SampleData` that returns `Scores`. To add one, write it at the top of
a module, so that processes can be given it, and put it in `MEASURES`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.intrusion.dis import dis
from gamekeeper.attack.judging.model_measures import annealing, mc3, occam
from gamekeeper.attack.judging.scores import Measure, SampleData, Scores
from gamekeeper.attack.simulation.sample import Score, scores_of
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.wording import did_you_mean, quoted


def _suda(sample: SampleData) -> Scores:
    return Scores(_values(sample, Score.SUDA))


def _is(sample: SampleData) -> Scores:
    return Scores(_values(sample, Score.IS))


def _dis_suda(sample: SampleData) -> Scores:
    return _chances(sample, Score.DIS_SUDA)


def _dis_is(sample: SampleData) -> Scores:
    return _chances(sample, Score.DIS_IS)


def _chances(sample: SampleData, score: Score) -> Scores:
    n_paired = int(np.count_nonzero(sample.class_sizes == 2))
    found = dis(len(sample.uniques), n_paired, sample.fraction)
    share = None if found is None else float(found)
    chances = _values(sample, score, share)
    return Scores(chances, match=chances, pr_cm_given_um=share)


def _values(sample: SampleData, score: Score, share: float | None = None) -> NDArray[np.float64]:
    from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques

    found = sample.shared(
        "minimal uniques",
        lambda: find_minimal_uniques(
            sample.codes,
            max_size=sample.max_size,
            listing=False,
            workers=1,
            max_seconds=sample.max_seconds,
        ),
    )
    return scores_of(found, score, share)


MEASURES: dict[str, Measure] = {
    "suda": _suda,
    "is": _is,
    "dis_suda": _dis_suda,
    "dis_is": _dis_is,
    "mc3": mc3,
    "annealing": annealing,
    "occam": occam,
}
"""Every measure by its name."""


def named_measures(measures: Sequence[str | Measure]) -> dict[str, Measure]:
    """Return measures by their names; a function of one's own has its own name."""
    found: dict[str, Measure] = {}
    problems: list[Problem] = []
    if not measures:
        hint = f"There are: {quoted(MEASURES)}."
        problems.append(Problem(Reason.NOTHING_GIVEN, "measures", "none is given.", hint))
    for measure in measures:
        name = measure if isinstance(measure, str) else getattr(measure, "__name__", "own")
        where = f"measure {quoted([name])}"
        if name in found:
            problems.append(Problem(Reason.DUPLICATE, where, "given twice."))
        elif not isinstance(measure, str):
            found[name] = measure
        elif measure in MEASURES:
            found[name] = MEASURES[measure]
        else:
            hint = did_you_mean(measure, MEASURES)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "not known.", hint))
    refuse(problems, "Measures were to be compared.")
    return found
