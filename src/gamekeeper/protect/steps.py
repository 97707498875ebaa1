"""The methods of protection by name: one line each. A recipe is read and written by this table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gamekeeper.errors import InputError, Reason
from gamekeeper.protect.perturbation.microaggregation import Microaggregate
from gamekeeper.protect.perturbation.noise import Noise
from gamekeeper.protect.perturbation.pram import Pram
from gamekeeper.protect.perturbation.rank_swap import RankSwap
from gamekeeper.protect.perturbation.sample import Sample
from gamekeeper.protect.perturbation.tails import TailCode
from gamekeeper.protect.recoding.recode import Recoding
from gamekeeper.protect.recoding.search import SearchRecoding
from gamekeeper.protect.recoding.together import RecodeAndSuppress
from gamekeeper.protect.step import Step
from gamekeeper.protect.suppression.suppress import Suppress
from gamekeeper.wording import did_you_mean, quoted

_ALL: tuple[type[Step], ...] = (
    Recoding,
    SearchRecoding,
    RecodeAndSuppress,
    Suppress,
    TailCode,
    Sample,
    Pram,
    Microaggregate,
    RankSwap,
    Noise,
)

STEPS: Mapping[str, type[Step]] = {step.do: step for step in _ALL}
"""Every method by its name in a recipe."""


def read_step(content: Mapping[str, Any]) -> Step:
    """Return a step from its JSON form, `{"do": ...}` with its options.

    Examples
    --------
    >>> read_step({"do": "supress"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamekeeper.errors.InputError: ...
    """
    do = str(content.get("do", ""))
    if do not in STEPS:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"A step that does {quoted([do])} was to be read.",
            "There is no such method.",
            did_you_mean(do, list(STEPS)),
        )
    return STEPS[do].from_json(content)
