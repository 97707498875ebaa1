"""Which candidates to try for some targets: suppression, recoding, both together; then stronger ones.

Targets on candidates say what to ask for, and for a recoding the right matches to be expected do too:
they are as many as there are classes. Others (links, a policy; expected matches with suppressed cells)
are not monotone or have no criterion of their own: for these a criterion is asked for that makes them
smaller, each candidate is attacked, and k grows for each way until it meets them, then is halved back.
So what is found is the best that was verified, and never called the best there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gamekeeper.options import options_of
from gamekeeper.protect.recoding.search import SearchRecoding
from gamekeeper.protect.recoding.together import RecodeAndSuppress
from gamekeeper.protect.step import Step
from gamekeeper.protect.suppression.suppress import Suppress
from gamekeeper.protect.targets import ASSIGNMENTS, EXPECTED, LINKAGE, Criterion, Target

_LADDER = (2, 3, 5, 10, 20, 50, 100)
_STRENGTH = (Criterion.RELEASED_TO_PEOPLE, Criterion.BOTH, Criterion.OWN)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Steps to try, and what they are in a few words."""

    label: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a steward wishes of candidates.

    Attributes
    ----------
    suppress
        Options of suppression by name: costs, pinned variables and so on.
    search
        Options of the search for recodings by name: keep, at least, forbid and so on.
    methods
        Which to try: "suppress", "recode", "both"; all of them when empty.
    """

    suppress: Mapping[str, Any] = field(default_factory=dict[str, Any])
    search: Mapping[str, Any] = field(default_factory=dict[str, Any])
    methods: Sequence[str] = ()

    def wants(self, method: str) -> bool:
        """Tell whether a method is to be tried."""
        return not self.methods or method in self.methods


def aim_of(
    targets: Sequence[Target], *, response_knowledge: bool = True
) -> tuple[Criterion, int, bool]:
    """Return the criterion and the k to begin with, and whether these are all that is asked.

    Where no target names a criterion, it is `both` if an intruder may know who is in the file, and
    `released_to_people` if nobody can.

    Examples
    --------
    >>> from gamekeeper.protect.targets import parse_targets
    >>> aim_of(parse_targets(["both>=3"]))
    (<Criterion.BOTH: 'both'>, 3, True)
    >>> aim_of(parse_targets(["policy=k5", "linkage<=2%"]))[:2]
    (<Criterion.OWN: 'own'>, 5)
    """
    criterion, k, is_all = None, 0, bool(targets)
    for target in targets:
        own, number = target.criterion, int(target.limit)
        if target.measure == ASSIGNMENTS:
            # Rows that look alike can change places in every assignment.
            own = Criterion.OWN
        if own is None:
            own, number, exactly = _alike(target)
            is_all &= exactly
        if own is not None:
            k = max(k, number)
            if criterion is None or _STRENGTH.index(own) > _STRENGTH.index(criterion):
                criterion = own
    unsaid = Criterion.BOTH if response_knowledge else Criterion.RELEASED_TO_PEOPLE
    return criterion or unsaid, max(k, 2), is_all


def _alike(target: Target) -> tuple[Criterion | None, int, bool]:
    """Return the number of records that must look alike for a target on policies, if it is one."""
    limits = (
        [(limit.criterion.name, limit.value) for limit in target.policy.limits]
        if target.policy is not None
        else [(target.measure, target.limit)]
    )
    found = 0
    for name, value in limits:
        if name == "k_anonymity":
            found = max(found, int(value))
        elif name == "highest_risk" and value > 0:
            found = max(found, math.ceil(1 / value))
        elif name == "share_of_uniques" and value == 0:
            found = max(found, 2)
    exactly = all(name in ("k_anonymity", "highest_risk") for name, _ in limits)
    return (Criterion.OWN, found, exactly) if found else (None, 0, False)


@dataclass(frozen=True, slots=True)
class Ladder:
    """One way to protect, weaker to stronger: what is tried for each k, until the targets are met.

    Attributes
    ----------
    place
        The place of the way among the proposals for a k.
    rungs
        The values of k, ascending.
    is_verified
        Whether recodings are searched in the order of their loss, each verified by the attack, and not
        one for each k.
    """

    place: int
    rungs: tuple[int, ...]
    is_verified: bool = False


def ladders(
    targets: Sequence[Target],
    wishes: Wishes,
    n_records: int,
    *,
    response_knowledge: bool = True,
    most_classes: int | None = None,
) -> tuple[Criterion, tuple[Ladder, ...]]:
    """Return the criterion to ask for, and the ways to climb.

    Where targets are on candidates alone, a larger k than asked for reaches them no better; nor does it
    where they come down to so many classes of a recoding.
    """
    criterion, first, is_all = aim_of(targets, response_knowledge=response_knowledge)
    more = () if is_all or not targets else tuple(k for k in _LADDER if first < k <= n_records)
    made: list[Ladder] = []
    for place, proposal in enumerate(proposals(criterion, first, wishes)):
        is_search = any(isinstance(step, SearchRecoding) for step in proposal.steps)
        if is_search and most_classes is not None:
            # As many right matches as classes: one search finds the least loss there is.
            made.append(Ladder(place, (asked_k(targets),)))
        else:
            made.append(Ladder(place, (first, *more), is_verified=is_search and bool(more)))
    return criterion, tuple(made)


def most_classes_of(targets: Sequence[Target], n_records: int) -> int | None:
    """Return the most classes that a recoding may have; None where targets do not come down to that.

    Examples
    --------
    >>> from gamekeeper.protect.targets import parse_targets
    >>> most_classes_of(parse_targets(["both>=3", "expected matches<=1%"]), 250)
    2
    """
    others = [t for t in targets if t.measure != EXPECTED and t.criterion is None]
    return None if any(not _alike(t)[2] for t in others) else classes_needed(targets, n_records)


def classes_needed(targets: Sequence[Target], n_records: int) -> int | None:
    """Return how many classes a recoding has at most if it meets some of the targets; None if none says.

    As many right matches as classes are to be expected, and a target on links is missed where more than
    its share are. What has so few classes need not meet it.

    Examples
    --------
    >>> from gamekeeper.protect.targets import parse_targets
    >>> classes_needed(parse_targets(["policy=k3", "linkage<=10%"]), 250)
    25
    """
    limits: list[int] = []
    for target in targets:
        if target.measure in (EXPECTED, LINKAGE):
            limit = target.limit * n_records if target.is_share else target.limit
            limits.append(max(1, math.floor(limit + 1e-9)))
    return min(limits, default=None)


def asked_k(targets: Sequence[Target]) -> int:
    """Return the k that targets ask for; 1 where none does."""
    return aim_of(targets)[1] if any(t.measure not in (EXPECTED, LINKAGE) for t in targets) else 1


def proposals(
    criterion: Criterion, k: int, wishes: Wishes, most_classes: int | None = None
) -> list[Proposal]:
    """Return candidates for a criterion and a k; recodings may be held to so many classes besides."""
    found: list[Proposal] = []
    name = criterion.value.replace("_", " ")
    if wishes.wants("suppress"):
        asked_stars: dict[str, Any] = {**wishes.suppress, "criterion": criterion, "k": max(k, 2)}
        found.append(Proposal(f"suppression, {name} {k}", (Suppress(**asked_stars),)))
    if wishes.wants("recode"):
        homes = wishes.suppress.get("household_variables", ())
        options: dict[str, Any] = {"household_variables": homes, **wishes.search}
        options |= {"k": k, "most_classes": most_classes}
        few = "" if most_classes is None else f", {most_classes:,} at most"
        found.append(Proposal(f"recoding, classes of {k}{few}", (SearchRecoding(**options),)))
    if wishes.wants("both"):
        known = {item.name for item in options_of(RecodeAndSuppress)}
        wished: dict[str, Any] = {
            **wishes.search,
            **wishes.suppress,
            "criterion": criterion,
            "k": k,
        }
        both = RecodeAndSuppress(**{n: value for n, value in wished.items() if n in known})
        found.append(Proposal(f"recoding and suppression together, {name} {k}", (both,)))
    return found
