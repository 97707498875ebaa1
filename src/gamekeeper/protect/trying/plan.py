"""Candidates tried for targets, each attacked again under the same scenario."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.protect.attacking.attack import AttackName, FileAttack, attack_file, attacks_for
from gamekeeper.protect.attacking.judging import JudgedTarget, judge_targets, targets_sentence
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.recipe import RecipeStep, run_steps
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import NotReachableError, Step
from gamekeeper.protect.suppression.suppress import Suppress
from gamekeeper.protect.targets import Target
from gamekeeper.protect.trying.candidate import Candidate, Tried, cost_in_words, loss_figures
from gamekeeper.protect.trying.proposing import Proposal, Wishes, ladders, proposals
from gamekeeper.protect.trying.risk_utility_map import RiskUtilityMap
from gamekeeper.protect.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import count_of, joined, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

_HALVINGS = 2


@dataclass(frozen=True, repr=False, eq=False)
class Plan(Result):
    """Candidates for some targets.

    Attributes
    ----------
    targets
        What was to be reached.
    before, judged_before
        What attacks achieve before anything is done, and how that stands to the targets.
    tried
        The candidates that were made now, with their files.
    map
        All candidates of the study, risk against loss.
    blocked
        What stands in the way where no candidate meets the targets.
    """

    tells_of_records: ClassVar[bool] = False

    targets: tuple[Target, ...]
    before: FileAttack
    judged_before: tuple[JudgedTarget, ...]
    tried: tuple[Tried, ...]
    map: RiskUtilityMap
    blocked: tuple[str, ...]
    provenance: Provenance

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates, those of before among them."""
        return self.map.candidates

    @property
    def best(self) -> Candidate | None:
        """The candidate that meets every target and loses least; None where none does."""
        return self.map.best

    @property
    def nearest(self) -> Candidate | None:
        """The best that could be reached: it misses fewest targets, then leaves least at risk."""
        known = [c for c in self.map.candidates if not c.failed]

        def order(candidate: Candidate) -> tuple[int, float, float]:
            missed = sum(target["standing"] != "met" for target in candidate.targets)
            return missed, candidate.expected_share or 0.0, candidate.lost_share or 0.0

        return self.best or min(known, key=order, default=None)

    @property
    def is_met(self) -> bool:
        """Whether some candidate meets every target."""
        return self.best is not None

    def of(self, number: int) -> Tried | None:
        """Return a candidate that was made now, with its file, by its number."""
        return next((each for each in self.tried if each.candidate.number == number), None)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "targets": ", ".join(target.text for target in self.targets),
            **self.map.summary(),
            "met": self.is_met,
        }

    def sentences(self) -> list[str]:
        """Return what was reached, at what cost, and what stands in the way."""
        nearest = self.nearest
        said: list[str] = []
        if nearest is None:
            said.append("No candidate could be made.")
        elif self.is_met:
            said.append(
                f"Candidate {nearest.number} meets {self._targets()} and loses least of"
                f" {count_of(len(self.candidates), 'candidate')}."
            )
        else:
            said.append(
                f"{self._targets(start=True)} cannot be met by what was tried. The best that was reached is"
                f" candidate {nearest.number}."
            )
            missed = [t for t in nearest.targets if t["standing"] != "met"]
            said += [
                f"It misses {quoted([t['target']])}"
                + (f": reached {t['reached']:.6g}" if t["reached"] is not None else "")
                + (f"; {t['why']}." if t["why"] else ".")
                for t in missed
            ]
        said += [f"In the way: {text}" for text in self.blocked]
        said.append(f"Before: {self.before.sentences()[0]}")
        if nearest is not None:
            said.append(f"Candidate {nearest.number}: {nearest.label}.")
            said += list(nearest.told)
        return said

    def to_arrow(self) -> pa.Table:
        """Return one row per candidate."""
        return self.map.to_arrow()

    def plot(self) -> Figure:
        """Draw the map of candidates."""
        return self.map.plot()

    def _targets(self, *, start: bool = False) -> str:
        if not self.targets:
            return "Nothing was asked for, and it" if start else "what was asked for (nothing)"
        texts = joined([quoted([target.text]) for target in self.targets])
        word = "target" if len(self.targets) == 1 else "targets"
        return f"{'The' if start else 'the'} {word} {texts}"


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

    def run(
        self, wishes: Wishes | None = None, steps: Sequence[Step] = (), label: str = ""
    ) -> Plan:
        """Try what is proposed for the targets; or just the given steps, after those of the parent."""
        started = time.perf_counter()
        _require_possible(self.targets, self.table.n_records)
        wanted = attacks_for(self.targets, self.attacks)
        nothing = ChangeLog(self.table.n_records)
        before = attack_file(self.table, self.table, nothing, self.setting, wanted)
        above = self._parent_steps()
        tried: list[Tried] = []
        failed: list[Candidate] = []
        if steps:
            names = " then ".join(step.do for step in steps)
            self._try(Proposal(label or names, tuple(steps)), above, wanted, tried, failed)
        else:
            criterion, ways = ladders(self.targets, wishes or Wishes(), self.table.n_records)
            for way in ways:

                def attempt(k: int, place: int = way.place) -> bool:
                    proposal = proposals(criterion, k, wishes or Wishes())[place]
                    n_failed = len(failed)
                    self._try(proposal, above, wanted, tried, failed)
                    if self.progress is not None:
                        self.progress(len(tried) + len(failed), None)
                    return len(failed) == n_failed and tried[-1].candidate.is_met

                _climb(way.rungs, attempt, failed)
        made = sorted(
            [*self.earlier, *(each.candidate for each in tried), *failed], key=lambda c: c.number
        )
        provenance = Provenance(
            "protection by trial",
            "every candidate attacked again",
            {
                "targets": ", ".join(target.text for target in self.targets) or "none",
                "keys": ", ".join(self.setting.keys),
                "missing": self.setting.missing.value,
            },
            self.setting.seed,
            self.table.fingerprint,
            self.table.engine.name,
            seconds=time.perf_counter() - started,
        )
        share = None if before.expected is None else before.expected / max(before.n_people, 1)
        overview = RiskUtilityMap(tuple(made), share, self.parent, provenance)
        judged = judge_targets(self.targets, before)
        blocked = () if overview.best is not None else tuple(_blocked(self.blocked, failed, wishes))
        return Plan(self.targets, before, judged, tuple(tried), overview, blocked, provenance)

    def _parent_steps(self) -> tuple[RecipeStep, ...]:
        if not self.parent:
            return ()
        return next(c.steps for c in self.earlier if c.number == self.parent)

    def _try(
        self,
        proposal: Proposal,
        above: tuple[RecipeStep, ...],
        wanted: Collection[AttackName],
        tried: list[Tried],
        failed: list[Candidate],
    ) -> None:
        number = max((c.number for c in (*self.earlier, *failed)), default=0)
        number = max([number, *(each.candidate.number for each in tried)]) + 1
        before = [frozen for own in above for frozen in own.frozen or (own.step,)]
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
            whole = tuple(RecipeStep(step) for step in (*before, *steps))
            found = error.found + "".join(f" {p}" for p in error.problems[:3])
            text = f"{error.asked} {found}"
            failed.append(self._kept(Candidate(number, self.parent, label, whole, failed=text)))
            return
        attack = attack_file(self.table, made.table, made.log, self.setting, wanted)
        judged = judge_targets(self.targets, attack)
        utility = measure_utility(
            self.table, made.table, self.utility, log=made.log, decimal=self.setting.decimal
        )
        keys = self.setting.keys
        told = (
            *made.told,
            *cost_in_words(utility, keys),
            "After, under the same scenario: " + targets_sentence(judged),
            *attack.sentences(),
        )
        candidate = Candidate(
            number,
            self.parent,
            label,
            (*above, *done[len(before) :]),
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
        tried.append(Tried(self._kept(candidate), made, attack, judged, utility))

    def _kept(self, candidate: Candidate) -> Candidate:
        return candidate if self.keep is None else self.keep(candidate)


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
        if target.criterion is not None and target.limit > n_records
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(len(targets), 'target was', 'targets were')} given.",
            f"{count_of(len(problems), 'target')} cannot be reached by any file of this size.",
            problems=problems,
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


def _blocked(met: Sequence[str], failed: Sequence[Candidate], wishes: Wishes | None) -> list[str]:
    said = [*met, *(f"{c.label}: {c.failed}" for c in failed)]
    if wishes is None:
        return said
    for name, options in (("pinned", wishes.suppress), ("keep", wishes.search), ("at_least", wishes.search),
                          ("forbid", wishes.search)):  # fmt: skip
        value = options.get(name)
        if value:
            said.append(f"{name.replace('_', ' ')} {quoted([str(each) for each in value])}.")
    return said
