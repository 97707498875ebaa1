"""The measures of record-level risk that are known by name.

A measure is a function of a `SampleData` that returns `Scores`. To add one, write it at the top of
a module, so that processes can be given it, and put it in `MEASURES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.intrusion.dis import dis
from gamekeeper.algorithms.uniques.apportionment import dis_is, dis_suda
from gamekeeper.algorithms.uniques.scores import ScoreKind, size_weights, weigh
from gamekeeper.attack.judging.model_measures import annealing, mc3, occam
from gamekeeper.attack.judging.scores import Measure, SampleData, Scores
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import did_you_mean, quoted, there_are


def _suda(sample: SampleData) -> Scores:
    return Scores(_sums(sample, ScoreKind.SUDA).astype(np.float64))


def _is(sample: SampleData) -> Scores:
    return Scores(_sums(sample, ScoreKind.IS).astype(np.float64))


def _dis_suda(sample: SampleData) -> Scores:
    share = _dis(sample)
    chances = dis_suda(_sums(sample, ScoreKind.SUDA), share).values
    return Scores(chances, match=chances, pr_cm_given_um=share)


def _dis_is(sample: SampleData) -> Scores:
    share = _dis(sample)
    chances = dis_is(_sums(sample, ScoreKind.IS), share, sample.codes.shape[1])
    return Scores(chances, match=chances, pr_cm_given_um=share)


def _dis(sample: SampleData) -> float | None:
    n_paired = int(np.count_nonzero(sample.class_sizes == 2))
    share = dis(len(sample.uniques), n_paired, sample.fraction)
    return None if share is None else float(share)


def _sums(sample: SampleData, kind: ScoreKind) -> NDArray[Any]:
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
    weights = size_weights(found.n_variables, kind, max_size=found.max_size)
    return weigh(found.counts, weights)


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
    if problems:
        raise InputError(
            problems[0].reason,
            "Measures were to be compared.",
            f"{there_are(len(problems), 'problem')}:",
            problems=problems,
        )
    return found
