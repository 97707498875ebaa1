"""Candidates tried for targets, each attacked again under the same scenario."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from typing import Any

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.protect.attacking.attack import AttackName, attack_file, attacks_for
from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.attacking.judging import judge_targets, targets_sentence
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.recipe import RecipeStep, run_steps
from gamekeeper.protect.recoding.options import SearchOptions
from gamekeeper.protect.recoding.search import SearchRecoding
from gamekeeper.protect.recoding.verified import search_verified
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import NotReachableError, Step
from gamekeeper.protect.suppression.suppress import Suppress
from gamekeeper.protect.targets import ASSIGNMENTS, Target
from gamekeeper.protect.trying.candidate import Candidate, Tried, cost_in_words, loss_figures
from gamekeeper.protect.trying.plan import Plan
from gamekeeper.protect.trying.proposing import (
    Ladder,
    Proposal,
    Wishes,
    aim_of,
    asked_k,
    classes_needed,
    ladders,
    most_classes_of,
    proposals,
)
from gamekeeper.protect.trying.risk_utility_map import RiskUtilityMap
from gamekeeper.protect.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.results import Progress, Provenance
from gamekeeper.wording import count_of, quoted

_HALVINGS = 2


@dataclass(slots=True)
class Trying:
    """Candidates as they are tried: the file, its targets and all that was found so far."""

    table: CodedTable
    setting: Setting
    targets: tuple[Target, ...]
    attacks: Collection[AttackName] = ()
    utility: UtilityOptions = field(default_factory=UtilityOptions)
    earlier: tuple[Candidate, ...] = ()
    parent: int = 0
    progress: Progress | None = None
    blocked: list[str] = field(default_factory=list[str])
    keep: Callable[[Candidate], Candidate] | None = None
    beside: CodedTable | None = None
    above: tuple[RecipeStep, ...] = field(default=(), init=False)
    """The steps of the parent."""
    tried: list[Tried] = field(default_factory=list[Tried], init=False)
    failed: list[Candidate] = field(default_factory=list[Candidate], init=False)

    def run(self, wishes: Wishes | None = None, steps: Sequence[Step] = ()) -> Plan:
        """Try what is proposed for the targets; or just the given steps, after those of the parent."""
        started = time.perf_counter()
        self.tried, self.failed = [], []
        # Steps tell that they are at work, so that they can be stopped; what counts are candidates.
        self.setting = dataclass_replace(self.setting, progress=self._tell)
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
        overview = RiskUtilityMap(
            tuple(sorted(made, key=lambda c: c.number)), before.right_share, self.parent, provenance
        )
        judged = judge_targets(self.targets, before)
        blocked = () if overview.best is not None else tuple(self._in_the_way(wishes))
        return Plan(self.targets, before, judged, tuple(self.tried), overview, blocked, provenance)

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
        refuse(
            list(problems.values()),
            "Candidates were to be tried, with wishes.",
            f"{count_of(len(problems), 'thing')} cannot be asked.",
        )

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
            *cost_in_words(utility, keys, recoded),
            "After, under the same scenario: " + targets_sentence(judged),
            *attack.sentences(),
        )
        candidate = Candidate(
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
            loss_figures(utility, keys),
            told,
            bool(judged) and all(each.is_met for each in judged),
            output=made.table.fingerprint,
        )
        self.tried.append(Tried(self._kept(candidate), made, attack, judged, utility))
        self._tell()

    def _fail(
        self, label: str, steps: tuple[RecipeStep, ...], error: InputError | LimitError
    ) -> None:
        """Keep a candidate that could not be made, with why."""
        why = f"{error.asked} {error.found}" + "".join(f" {p}" for p in error.problems[:3])
        candidate = Candidate(self._number(), self.parent, label, steps, failed=why)
        self.failed.append(self._kept(candidate))
        self._tell()

    def _number(self) -> int:
        """Return the number of the next candidate."""
        known = (*self.earlier, *self.failed, *(each.candidate for each in self.tried))
        return max((c.number for c in known), default=0) + 1

    def _kept(self, candidate: Candidate) -> Candidate:
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
        dataclass_replace(step, partial=True) if isinstance(step, Suppress) else step
        for step in steps
    )


def _require_possible(targets: Sequence[Target], n_records: int) -> None:
    problems = [
        Problem(
            Reason.BAD_OPTION,
            f"target {quoted([target.text])}",
            f"there are {count_of(n_records, 'record')}.",
            "Ask for a smaller number.",
        )
        for target in targets
        if (target.criterion is not None or target.measure == ASSIGNMENTS)
        and target.limit > n_records
    ]
    refuse(
        problems,
        f"{count_of(len(targets), 'target was', 'targets were')} given.",
        f"{count_of(len(problems), 'target')} cannot be reached by any file of this size.",
    )


def _climb(
    rungs: Sequence[int], attempt: Callable[[int], bool], failed: Sequence[Candidate]
) -> None:
    """Try larger and larger k until one meets the targets, then smaller ones between the last two."""
    low, n_failed = 0, len(failed)
    for k in rungs:
        if attempt(k):
            high = k
            for _ in range(_HALVINGS):
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
