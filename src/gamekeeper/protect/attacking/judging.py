"""Targets held against what attacks found: each met, not met, or not proven.

A count is exact. The expected number of right matches is judged at its value, and said to be
approximate where it is; one that is near to its limit and could be above it is not proven. A share of a
sample is judged by its interval. What was not attacked is not proven. Links and expected matches are two
ways to find the same people: a target on one is missed where the other finds more. Suppression that is
worked out can be done again by somebody who knows the keys of all: candidates do not count that, and are
said not to; right matches to be expected are not proven where such a one could have more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gamekeeper.attack.assessment.criteria import CRITERIA
from gamekeeper.attack.assessment.judged import Standing, judge_policy
from gamekeeper.attack.assessment.policy import Limit, Policy
from gamekeeper.protect.attacking.file_attack import CANDIDATES, FileAttack
from gamekeeper.protect.targets import ASSIGNMENTS, EXPECTED, LINKAGE, Criterion, Target
from gamekeeper.wording import count_of, joined, percent_text, quoted

# On public files the approximation was too low by 15 to 17 percent.
_MARGIN = 0.25


@dataclass(frozen=True, slots=True)
class JudgedTarget:
    """A target, what was reached, and how that stands to it.

    Attributes
    ----------
    reached
        The value that was reached; None where it is not known, or where it is a policy.
    text
        The same in words.
    why
        Why it is not met or not proven, or what to know of it.
    """

    target: Target
    standing: Standing
    reached: float | None
    text: str
    why: str = ""

    @property
    def is_met(self) -> bool:
        """Whether it is met."""
        return self.standing is Standing.MET

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, as a recipe keeps them."""
        return {
            "target": self.target.text,
            "reached": self.reached,
            "standing": self.standing.value,
            "why": self.why,
        }


def judge_targets(targets: Sequence[Target], found: FileAttack) -> tuple[JudgedTarget, ...]:
    """Judge every target."""
    return tuple(_judged(target, found) for target in targets)


def targets_sentence(judged: Sequence[JudgedTarget]) -> str:
    """Return how a file stands to its targets, in words."""
    failed = [each for each in judged if not each.is_met]
    if not judged:
        return "No target was given."
    if not failed:
        noted = [f"{quoted([each.target.text])}: {each.why}" for each in judged if each.why]
        doubts = f" ({joined(noted)})" if noted else ""
        every = {1: "The target is", 2: "Both targets are"}
        return f"{every.get(len(judged), f'All {len(judged)} targets are')} met{doubts}."
    parts = [
        f"{quoted([each.target.text])} is {each.standing.value} ({each.text})" for each in failed
    ]
    return f"{count_of(len(failed), 'target')} of {len(judged)} not met: {joined(parts)}."


def _judged(target: Target, found: FileAttack) -> JudgedTarget:
    if target.criterion is not None:
        below = found.below(target.criterion, int(target.limit))
        judged = _of_candidates(target, found.smallest(target.criterion), below, found)
        if CANDIDATES in found.why_not and judged.is_met and target.criterion is not Criterion.OWN:
            return replace(judged, standing=Standing.NOT_PROVEN, why=found.why_not[CANDIDATES])
        return judged
    if target.measure == ASSIGNMENTS:
        return _of_assignments(target, found)
    if target.measure == EXPECTED:
        return _of_expected(target, found)
    if target.measure == LINKAGE:
        return _of_links(target, found)
    if found.measured is None:
        why = found.why_not.get("assessment", "it was not assessed")
        return JudgedTarget(target, Standing.NOT_PROVEN, None, "not known", why)
    policy = target.policy or Policy(target.text, (Limit(CRITERIA[target.measure], target.limit),))
    outcome = judge_policy(policy, found.measured, found.why_not)
    lines = [line for line in outcome.lines if line.standing is not Standing.MET]
    why = joined([f"{line.limit.criterion.name} {line.standing_text}" for line in lines])
    reached = None
    if target.policy is None and outcome.lines[0].found is not None:
        reached = outcome.lines[0].found.value
    text = joined([f"{line.limit.criterion.name} {line.found_text}" for line in outcome.lines])
    return JudgedTarget(target, outcome.standing, reached, text, why)


def _of_assignments(target: Target, found: FileAttack) -> JudgedTarget:
    reached = found.fewest_in_assignments()
    if reached is None:
        why = found.why_not.get(
            ASSIGNMENTS, "it is not known whose the records are, or values were changed"
        )
        if not found.response_knowledge:
            why = "it asks what somebody can work out who knows who is in the file"
        return JudgedTarget(target, Standing.NOT_PROVEN, None, "not known", why)
    below = found.below_in_assignments(int(target.limit))
    return _of_candidates(target, reached, below, found)


def _of_candidates(target: Target, reached: int, below: int, found: FileAttack) -> JudgedTarget:
    k = int(target.limit)
    if reached >= k:
        # Whoever suppresses again has the rows that are the same as candidates, and no others.
        why = "" if found.smallest(Criterion.OWN) >= k else found.repeated_text
        return JudgedTarget(target, Standing.MET, reached, f"{reached:,}", why)
    why = f"{below:,} have fewer than {k}"
    return JudgedTarget(target, Standing.NOT_MET, reached, f"{reached:,}", why)


def _of_expected(target: Target, found: FileAttack) -> JudgedTarget:
    expected, linked = found.expected, found.linked
    if expected is None:
        why = found.why_not.get("expected", "")
        return JudgedTarget(target, Standing.NOT_PROVEN, None, "not known", why)
    share, n = expected / max(found.n_people, 1), found.n_people
    limit = target.limit if target.is_share else target.limit / max(n, 1)
    text = f"{expected:,.1f}, {percent_text(share)}"
    why, standing = "", Standing.MET
    if found.n_approximate:
        why = f"approximate for {count_of(found.n_approximate, 'person', 'people')}"
    if share > limit:
        standing = Standing.NOT_MET
    elif share + _MARGIN * found.roughly_expected / max(n, 1) > limit:
        standing, why = Standing.NOT_PROVEN, f"{why}, and too near to the limit"
    elif linked is not None and linked.upper > limit:
        # Links find more than equal values do.
        text, why = linked.words, "links re-identify more"
        standing = Standing.NOT_MET if linked.lower > limit else Standing.NOT_PROVEN
        share = max(share, linked.share)
    elif found.n_repeated is not None and found.n_repeated / max(n, 1) > limit:
        standing, why = Standing.NOT_PROVEN, found.repeated_text
    return JudgedTarget(target, standing, share if target.is_share else share * n, text, why)


def _of_links(target: Target, found: FileAttack) -> JudgedTarget:
    linked = found.linked
    if linked is None:
        why = found.why_not.get("linkage", "it was not tried")
        return JudgedTarget(target, Standing.NOT_PROVEN, None, "not known", why)
    share = 0.0 if found.expected is None else found.expected / max(found.n_people, 1)
    if share > target.limit and share > linked.share:
        why = "an assignment of everybody finds more than links of single records"
        return JudgedTarget(target, Standing.NOT_MET, share, percent_text(share), why)
    if linked.upper <= target.limit:
        repeats = (found.n_repeated or 0) / max(found.n_people, 1) > target.limit
        standing, why = Standing.MET, found.repeated_text if repeats else ""
    elif linked.lower > target.limit:
        standing, why = Standing.NOT_MET, ""
    else:
        standing, why = Standing.NOT_PROVEN, "the interval of the sample reaches beyond the limit"
    return JudgedTarget(target, standing, linked.share, linked.words, why)
