"""A policy held against what was measured of a file: each criterion met, not met or not proven.

An exact measure is compared with its limit. An estimate is judged by its interval: it is met if the
worse end meets the limit, not met if the better end does not, and not proven between. A measure that
its authors publish as a point estimate is judged at its value, and said to be. What is not known is not
proven, and nothing is proven of records that were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gamekeeper.attack.assessment.chances import Interval, numbers_of
from gamekeeper.attack.assessment.criteria import Found, Unit
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.attack.assessment.policy import Limit, Policy
from gamekeeper.wording import count_of, joined, quoted


class Standing(StrEnum):
    """How a file stands to a limit."""

    MET = "met"
    NOT_MET = "not met"
    NOT_PROVEN = "not proven"


@dataclass(frozen=True, slots=True)
class JudgedLimit:
    """One limit of a policy, what was found, how the file stands to it, and why not better.

    `note` is what to know of a point estimate that was judged at its value.
    """

    limit: Limit
    found: Interval | None
    standing: Standing
    why: str
    note: str = ""

    @property
    def standing_text(self) -> str:
        """How the file stands to it and why, in words."""
        reasons = "; ".join(text for text in (self.why, self.note) if text)
        return f"{self.standing.value}: {reasons}" if reasons else self.standing.value

    @property
    def found_text(self) -> str:
        """What was found, in words."""
        if self.found is None:
            return "not known"
        if self.limit.criterion.unit is Unit.SHARE:
            return self.found.percent_text
        return self.found.count_text if self.limit.criterion.counts else self.found.text


@dataclass(frozen=True, slots=True)
class JudgedPolicy:
    """A policy and how a file stands to each of its limits."""

    policy: Policy
    lines: tuple[JudgedLimit, ...]

    @property
    def standing(self) -> Standing:
        """How the file stands to the policy: as it stands to the limit that it fails most."""
        found = {line.standing for line in self.lines}
        return next(
            standing
            for standing in (Standing.NOT_MET, Standing.NOT_PROVEN, Standing.MET)
            if standing in found
        )

    @property
    def is_met(self) -> bool:
        """Whether every limit is met."""
        return self.standing is Standing.MET

    @property
    def sentence(self) -> str:
        """How the file stands to the policy, in words."""
        named = quoted([self.policy.name])
        if self.is_met:
            noted = [line.limit.criterion.name for line in self.lines if line.note]
            how = f" as published, by point estimates ({', '.join(noted)})" if noted else ""
            return f"The file meets the policy {named}{how}."
        parts = [
            f"{count_of(len(names), 'criterion', 'criteria')} of {len(self.lines)}"
            f" {'is' if len(names) == 1 else 'are'} {standing.value} ({', '.join(names)})"
            for standing in (Standing.NOT_MET, Standing.NOT_PROVEN)
            if (names := [x.limit.criterion.name for x in self.lines if x.standing is standing])
        ]
        does = "does not meet" if self.standing is Standing.NOT_MET else "is not proven to meet"
        return f"The file {does} the policy {named}: {joined(parts)}."

    def rows(self) -> list[dict[str, object]]:
        """Return one row per criterion, for tables and programs."""
        return [
            {
                "criterion": line.limit.criterion.name,
                "asked": line.limit.text,
                "limit": line.limit.value,
                "found": line.found_text,
                **numbers_of(line.found),
                "standing": line.standing.value,
                "why": line.why,
                "note": line.note,
                "measures": line.limit.criterion.words,
                "source": line.limit.source,
            }
            for line in self.lines
        ]


def judge_policy(
    policy: Policy, measured: Measured, unknown: Mapping[str, str] | None = None
) -> JudgedPolicy:
    """Judge every limit of a policy; `unknown` says of criteria by name why they are not known here."""
    why = unknown or {}
    return JudgedPolicy(policy, tuple(_judged(limit, measured, why) for limit in policy.limits))


def _judged(limit: Limit, measured: Measured, unknown: Mapping[str, str]) -> JudgedLimit:
    why_not = unknown.get(limit.criterion.name)
    found = limit.criterion.measure(measured) if why_not is None else Found(None, why_not)
    standing, why = judge_limit(limit, found)
    if standing is Standing.MET:
        doubts = list(_doubts(measured, limit, found))
        if doubts:
            standing, why = Standing.NOT_PROVEN, joined(doubts)
    return JudgedLimit(limit, found.interval, standing, why, found.note)


def judge_limit(limit: Limit, found: Found) -> tuple[Standing, str]:
    """Return how what was found stands to a limit, and why not better.

    Examples
    --------
    >>> from gamekeeper.attack.assessment.criteria import CRITERIA
    >>> limit = Limit(CRITERIA["average_match"], 0.03)
    >>> [
    ...     judge_limit(limit, Found(Interval(0.02, low, up)))[0].value
    ...     for low, up in ((0, 0.03), (0, 0.04))
    ... ]
    ['met', 'not proven']
    """
    if found.interval is None:
        return Standing.NOT_PROVEN, found.why
    worse, better = found.interval.upper, found.interval.lower
    if limit.criterion.at_least:
        worse, better = -better, -worse
    most = -limit.value if limit.criterion.at_least else limit.value
    if worse <= most:
        return Standing.MET, ""
    if better > most:
        return Standing.NOT_MET, ""
    return Standing.NOT_PROVEN, found.why or "the interval of the estimate reaches beyond the limit"


def _doubts(measured: Measured, limit: Limit, found: Found) -> Iterable[str]:
    """Return why a limit that seems to be met is not proven to be."""
    left_out = measured.keys.n_excluded
    if left_out:
        yield f"{count_of(left_out, 'record')} with missing cells were left out"
    if found.by_models is not None and found.by_models > limit.value:
        yield "models of the file find more, and what is published takes rare keys for common ones"
    if measured.keys.n_further:
        further = count_of(measured.keys.n_further, "further record")
        yield f"{further} of the same people were left out"
    if found.interval is not None and not found.interval.is_exact:
        yield from measured.chances.cautions
