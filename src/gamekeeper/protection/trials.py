"""Candidates tried for targets, each attacked again under the same scenario; stronger ones until met.

Ways are suppression, recoding, both together. Targets on candidates say what to ask for, and for a
recoding the right matches to be expected do too: they are as many as there are classes. Others
(links, a policy; expected matches with suppressed cells) are not monotone or have no criterion of
their own: for these a criterion is asked for that makes them smaller, each candidate is attacked,
and k grows for each way until it meets them, then is halved back. So what is found is the best that
was verified, and never called the best there is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.options import options_of
from gamekeeper.prompt_syntax import Missing
from gamekeeper.protection import plan
from gamekeeper.protection.attacking.attacks import AttackName, attack_file, attacks_for
from gamekeeper.protection.attacking.result import FileAttack, judge_targets, targets_sentence
from gamekeeper.protection.recipe import RecipeStep, run_steps
from gamekeeper.protection.recoding.options import SearchOptions
from gamekeeper.protection.recoding.search import SearchRecoding
from gamekeeper.protection.recoding.together import RecodeAndSuppress, search_verified
from gamekeeper.protection.step import ChangeLog, NotReachableError, Protected, Setting, Step
from gamekeeper.protection.suppression import Suppress
from gamekeeper.protection.targets import ASSIGNMENTS, EXPECTED, LINKAGE, Criterion, Target
from gamekeeper.protection.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.results import Progress, Provenance
from gamekeeper.wording import count_of, quoted

_LADDER = (2, 3, 5, 10, 20, 50, 100)
_STRENGTH = (Criterion.RELEASED_TO_PEOPLE, Criterion.BOTH, Criterion.OWN)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Steps to try, and what they are in a few words."""

    label: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a steward wishes of candidates: options of suppression and of searches for recodings, by name.

    `methods` are those to try ("suppress", "recode", "both"); all of them when empty.
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
    >>> from gamekeeper.protection.targets import parse_targets
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

    `place` is that of the way among the proposals for a k, `rungs` the values of k, ascending. With
    `is_verified` recodings are searched in the order of their loss, each verified by the attack,
    and not one for each k.
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

    Where targets are on candidates alone, or come down to so many classes of a recoding, a larger k
    than asked for reaches them no better.
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
    >>> from gamekeeper.protection.targets import parse_targets
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
    >>> from gamekeeper.protection.targets import parse_targets
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


@dataclass(slots=True)
class Trying:
    """Candidates as they are tried: the file, its targets and all that was found so far."""

    table: CodedTable
    setting: Setting
    targets: tuple[Target, ...]
    attacks: Collection[AttackName] = ()
    utility: UtilityOptions = field(default_factory=UtilityOptions)
    earlier: tuple[plan.Candidate, ...] = ()
    parent: int = 0
    progress: Progress | None = None
    blocked: list[str] = field(default_factory=list[str])
    keep: Callable[[plan.Candidate], plan.Candidate] | None = None
    beside: CodedTable | None = None
    above: tuple[RecipeStep, ...] = field(default=(), init=False)
    """The steps of the parent."""
    tried: list[plan.Tried] = field(default_factory=list[plan.Tried], init=False)
    failed: list[plan.Candidate] = field(default_factory=list[plan.Candidate], init=False)

    def run(self, wishes: Wishes | None = None, steps: Sequence[Step] = ()) -> plan.Plan:
        """Try what is proposed for the targets; or just the given steps, after those of the parent."""
        started = time.perf_counter()
        self.tried, self.failed = [], []
        # Steps tell that they are at work, so that they can be stopped; what counts are candidates.
        self.setting = replace(self.setting, progress=self._tell)
        _require_possible(self.targets, self.table.n_records)
        if self.parent:
            self.above = next(c.steps for c in self.earlier if c.number == self.parent)
        if not steps:
            self._require_granted(wishes or Wishes())
        nothing = ChangeLog(self.table.n_records)
        before = self._attack(self.table, nothing)
        if steps:
            self._try(Proposal(" then ".join(step.do for step in steps), tuple(steps)))
        else:
            self._climb_all(wishes or Wishes())
        made = [*self.earlier, *(each.candidate for each in self.tried), *self.failed]
        provenance = Provenance(
            "protection by trial",
            "every candidate attacked again",
            {
                "targets": ", ".join(target.text for target in self.targets) or "none",
                "keys": ", ".join(self.setting.keys),
                "missing": self.setting.missing.value,
                "response_knowledge": "yes" if self.setting.response_knowledge else "no",
                **({"household": self.setting.household} if self.setting.household else {}),
            },
            self.setting.seed,
            self.table.fingerprint,
            self.table.engine.name,
            seconds=time.perf_counter() - started,
        )
        overview = plan.RiskUtilityMap(
            tuple(sorted(made, key=lambda c: c.number)), before.right_share, self.parent, provenance
        )
        judged = judge_targets(self.targets, before)
        blocked = () if overview.best is not None else tuple(self._in_the_way(wishes))
        return plan.Plan(
            self.targets, before, judged, tuple(self.tried), overview, blocked, provenance
        )

    def _attack(self, table: CodedTable, log: ChangeLog) -> FileAttack:
        wanted = attacks_for(self.targets, self.attacks)
        return attack_file(self.table, table, log, self.setting, wanted)

    def _require_granted(self, wishes: Wishes) -> None:
        """Refuse before any work what cannot be asked: all of it at once, of every way."""
        criterion, k, _ = aim_of(self.targets, response_knowledge=self.setting.response_knowledge)
        base = run_steps(self._frozen(), self.table, self.setting)[0].table
        problems: dict[tuple[str, str], Problem] = {}
        for proposal in proposals(criterion, k, wishes):
            for step in proposal.steps:
                for problem in step.check(base, self.setting):
                    problems.setdefault((problem.where, problem.found), problem)
        found = f"{count_of(len(problems), 'thing')} cannot be asked."
        refuse(list(problems.values()), "Candidates were to be tried, with wishes.", found)

    def _climb_all(self, wishes: Wishes) -> None:
        """Try every way, as strong as the targets need it."""
        n = self.table.n_records
        # Missing cells that are no category are in several classes, or in none.
        is_plain = self.setting.missing is Missing.CATEGORY
        most_classes = most_classes_of(self.targets, n) if is_plain else None
        criterion, ways = ladders(
            self.targets,
            wishes,
            n,
            response_knowledge=self.setting.response_knowledge,
            most_classes=most_classes,
        )
        for way in ways:
            few = classes_needed(self.targets, n) if is_plain and way.is_verified else most_classes

            def attempt(k: int, place: int = way.place, few: int | None = few) -> bool:
                n_failed = len(self.failed)
                self._try(proposals(criterion, k, wishes, few)[place])
                return len(self.failed) == n_failed and self.tried[-1].candidate.is_met

            if way.is_verified:
                # Few classes are what links cannot do without; what has them may pass at once.
                if few is None or not attempt(asked_k(self.targets)):
                    self._try_verified(way, wishes)
            else:
                _climb(way.rungs, attempt, self.failed)

    def _try_verified(self, way: Ladder, wishes: Wishes) -> None:
        """Try the recoding that loses least among those that pass the real attack."""
        before = self._frozen()
        label = "recoding, best verified"
        base, _ = run_steps(before, self.table, self.setting)

        def passes(made: Protected) -> bool:
            self._tell()
            whole = base.then(made)
            attack = self._attack(whole.table, whole.log)
            return all(each.is_met for each in judge_targets(self.targets, attack))

        options: dict[str, Any] = dict(wishes.search)
        asked = SearchOptions(**options)
        try:
            found = search_verified(
                base.table, self.setting, asked, passes, rungs=way.rungs, place=len(before) + 1
            )
        except (NotReachableError, LimitError) as error:
            options["k"] = way.rungs[0]
            self._fail(label, (*self.above, RecipeStep(SearchRecoding(**options))), error)
            return
        own = RecipeStep(found.step, found.protected.found, found.protected.frozen)
        self._judge(label, (*self.above, own), base.then(found.protected))

    def _try(self, proposal: Proposal) -> None:
        before = self._frozen()
        steps = proposal.steps
        label = proposal.label
        try:
            try:
                made, done = run_steps([*before, *steps], self.table, self.setting)
            except NotReachableError as error:
                # The best that can be reached, with what it leaves.
                self.blocked.append(f"{label}: {error.found}")
                steps, label = _as_far_as_possible(steps), f"{label}, as far as it goes"
                made, done = run_steps([*before, *steps], self.table, self.setting)
        except (NotReachableError, LimitError) as error:
            self._fail(label, tuple(RecipeStep(step) for step in (*before, *steps)), error)
            return
        self._judge(label, (*self.above, *done[len(before) :]), made)

    def _judge(self, label: str, steps: tuple[RecipeStep, ...], made: Protected) -> None:
        """Attack a candidate again, measure what it costs, and keep it."""
        attack = self._attack(made.table, made.log)
        judged = judge_targets(self.targets, attack)
        utility = measure_utility(
            self.table,
            made.table,
            self.utility,
            log=made.log,
            beside=self.beside,
            decimal=self.setting.decimal,
        )
        keys = self.setting.keys
        recoded = {name for name, change in made.log.variables.items() if change.recode is not None}
        told = (
            *made.told,
            *plan.cost_in_words(utility, keys, recoded),
            "After, under the same scenario: " + targets_sentence(judged),
            *attack.sentences(),
        )
        candidate = plan.Candidate(
            self._number(),
            self.parent,
            label,
            steps,
            {
                **attack.summary(),
                "suppressed": made.log.n_suppressed,
                "changed": made.log.n_changed,
            },
            tuple(each.to_json() for each in judged),
            plan.loss_figures(utility, keys),
            told,
            bool(judged) and all(each.is_met for each in judged),
            output=made.table.fingerprint,
        )
        self.tried.append(plan.Tried(self._kept(candidate), made, attack, judged, utility))
        self._tell()

    def _fail(
        self, label: str, steps: tuple[RecipeStep, ...], error: InputError | LimitError
    ) -> None:
        """Keep a candidate that could not be made, with why."""
        why = f"{error.asked} {error.found}" + "".join(f" {p}" for p in error.problems[:3])
        candidate = plan.Candidate(self._number(), self.parent, label, steps, failed=why)
        self.failed.append(self._kept(candidate))
        self._tell()

    def _number(self) -> int:
        """Return the number of the next candidate."""
        known = (*self.earlier, *self.failed, *(each.candidate for each in self.tried))
        return max((c.number for c in known), default=0) + 1

    def _kept(self, candidate: plan.Candidate) -> plan.Candidate:
        return candidate if self.keep is None else self.keep(candidate)

    def _tell(self, done: int = 0, total: int | None = None) -> None:
        """Tell how many candidates were tried; what a step counts by itself says nothing to people."""
        if self.progress is not None:
            self.progress(len(self.tried) + len(self.failed), None)

    def _frozen(self) -> list[Step]:
        """Return the steps of the parent as they were found."""
        return [frozen for own in self.above for frozen in own.frozen or (own.step,)]

    def _in_the_way(self, wishes: Wishes | None) -> list[str]:
        said = [*self.blocked, *(f"{c.label}: {c.failed}" for c in self.failed)]
        if wishes is None:
            return said
        for name, options in (("pinned", wishes.suppress), ("keep", wishes.search), ("at_least", wishes.search),
                              ("forbid", wishes.search)):  # fmt: skip
            value = options.get(name)
            if value:
                said.append(f"{name.replace('_', ' ')} {quoted([str(each) for each in value])}.")
        return said


def _as_far_as_possible(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps of which suppression protects those who can be, where some cannot."""
    return tuple(
        replace(step, partial=True) if isinstance(step, Suppress) else step for step in steps
    )


def _require_possible(targets: Sequence[Target], n_records: int) -> None:
    fault, do = f"there are {count_of(n_records, 'record')}.", "Ask for a smaller number."
    problems = [
        Problem(Reason.BAD_OPTION, f"target {quoted([target.text])}", fault, do)
        for target in targets
        if (target.criterion is not None or target.measure == ASSIGNMENTS)
        and target.limit > n_records
    ]
    found = f"{count_of(len(problems), 'target')} cannot be reached by any file of this size."
    refuse(problems, f"{count_of(len(targets), 'target was', 'targets were')} given.", found)


def _climb(
    rungs: Sequence[int], attempt: Callable[[int], bool], failed: Sequence[plan.Candidate]
) -> None:
    """Try larger and larger k until one meets the targets, then smaller ones between the last two."""
    low, n_failed = 0, len(failed)
    for k in rungs:
        if attempt(k):
            high = k
            for _ in range(2):
                middle = (low + high) // 2
                if not low or middle in (low, high):
                    return
                if attempt(middle):
                    high = middle
                else:
                    low = middle
            return
        if len(failed) > n_failed:
            # What cannot be done for a k cannot be done for a larger one.
            return
        low = k
