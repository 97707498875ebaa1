"""What attacks on a released file achieve, each beside what it was before, and held against targets.

Links compare the release with its original, recoded as the release was, which the intruder knows. A
small file is linked as a whole, optimally; of a large one a sample of records, drawn by the seed,
is linked with all of the original, each to its nearest, and the share has an interval.

A target is met, not met, or not proven. A count is exact. The expected number of right matches is
judged at its value, and said to be approximate where it is; one that is near to its limit and could
be above it is not proven. A share of a sample is judged by its interval. What was not attacked is
not proven. Links and expected matches are two ways to find the same people: a target on one is
missed where the other finds more. Suppression that is worked out can be done again by somebody who
knows the keys of all: candidates do not count that, and are said not to; right matches to be
expected are not proven where such a one could have more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import fsum, nan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import CellSets
from gamekeeper.algorithms.perturbation.counter_streams import CounterStream
from gamekeeper.algorithms.suppression.compatibility import Candidates, Matchings
from gamekeeper.arrow import pa
from gamekeeper.attack.assessment.criteria import CRITERIA, Found
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.attack.assessment.policy import Limit, Policy, Standing, judge_policy
from gamekeeper.attack.linkage.columns import LinkVariable
from gamekeeper.attack.linkage.files import compare_maskings
from gamekeeper.attack.linkage.options import LinkMethod, ObjectiveName
from gamekeeper.attack.linkage.truth import share_interval
from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.data.coding.coded_table import CodedTable, replace_cells
from gamekeeper.errors import LimitError, Reason
from gamekeeper.protection.step import ChangeLog, Setting
from gamekeeper.protection.targets import ASSIGNMENTS, EXPECTED, LINKAGE, Criterion, Target
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import count_of, joined, percent_range, percent_text, quoted

MOST_PAIRS = 25_000_000
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class LinkedShare:
    """How many records of a release are linked with the right record of the original.

    `n_right` of the `n_linked` that were tried, of `n_records` in the release; `lower` and `upper`
    bound the share, and are the share itself where all were tried. `way` says how they were linked.
    """

    n_right: int
    n_linked: int
    n_records: int
    lower: float
    upper: float
    way: str

    @property
    def share(self) -> float:
        """The share of records that were re-identified."""
        return self.n_right / max(self.n_linked, 1)

    @property
    def is_sample(self) -> bool:
        """Whether only some of the records were tried."""
        return self.n_linked < self.n_records

    @property
    def words(self) -> str:
        """What was found, in words."""
        if not self.is_sample:
            return f"{percent_text(self.share)} ({self.n_right:,} of {self.n_linked:,} records)"
        return (
            f"{percent_text(self.share)} ({percent_range(self.lower, self.upper)}, by a sample of"
            f" {count_of(self.n_linked, 'record')})"
        )


def link_release(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog,
    setting: Setting,
    *,
    held: Mapping[str, CellSets] | None = None,
    most_pairs: int = MOST_PAIRS,
    progress: Progress | None = None,
) -> LinkedShare:
    """Link a release with its original on the keys; a cell in `held` is far from all but its values."""
    sets = held or {}
    _require_tables(sets)
    recodes = [
        change.recode
        for name, change in log.variables.items()
        if change.recode is not None and name in setting.keys
    ]
    original = before.recoded(recodes)
    truth = np.arange(before.n_records) if log.records is None else log.records
    n = after.n_records
    whole = n * before.n_records <= most_pairs
    chosen = np.arange(n)
    if not whole:
        n_tried = max(200, most_pairs // max(before.n_records, 1))
        order = CounterStream(setting.seed, ("linkage", "sample")).order(setting.records(after))
        chosen = np.sort(order[:n_tried])
    released = after if whole else replace_cells(after, records=chosen)
    variables = [
        LinkVariable(name, fits=sets[name].table()[1:, 1:] if name in sets else None)
        for name in setting.keys
    ]
    method = LinkMethod.OPTIMAL if whole else LinkMethod.NEAREST
    found = compare_maskings(
        original,
        {"release": released},
        variables,
        objectives=(ObjectiveName.EQUAL,),
        methods=(method,),
        truths={"release": truth[chosen]},
        decimal=setting.decimal,
        seed=setting.seed,
        max_pairs=max(most_pairs, len(chosen) * before.n_records),
        progress=progress,
    ).best(0)
    right = found.n_correct or 0
    low, high = (right / max(n, 1),) * 2 if whole else share_interval(right, len(chosen))
    return LinkedShare(right, len(chosen), n, low, high, f"{method.value} links on the keys")


def _require_tables(held: Mapping[str, CellSets]) -> None:
    for sets in held.values():
        if sets.category_at.shape[1] * sets.nobody > _MOST_CELLS:
            asked = "A release was to be linked with its original."
            found = "a variable has too many values and overlapping categories to be linked on"
            raise LimitError(Reason.TOO_LARGE, asked, found, "Leave it out of the keys.")


CANDIDATES = "candidates"
"""What is not known, of counts of who fits what, where nothing tells what categories stand for."""


@dataclass(frozen=True, repr=False, eq=False)
class FileAttack(Result):
    """What an intruder can do with a file.

    `n_people` are those in the release, or all of the original where nobody knows whose row is
    which; `n_misfits` do not fit their own row, because a value was changed (0 where nobody knows).
    `candidates` says by criterion who can be whom, `matchings` what all one-to-one assignments have
    in common, `linked` how many records links re-identify, and `measured` with `criteria` is an
    assessment of the file as released; each is None or empty where not known or not tried, and
    `why_not` says why. `response_knowledge`: the intruder knows who is in the file.
    `is_repeatable`: cells are suppressed in a way that somebody who knows the keys of all can do
    again, as what is drawn by lot cannot. `household` is the variable of households, which are not
    attacked as a whole.
    """

    tells_of_records: ClassVar[bool] = False
    why_no_plot: ClassVar[str] = "it is a list of figures; the map of a study draws some of them"
    n_people: int
    n_rows: int
    candidates: Candidates
    matchings: Matchings | None
    linked: LinkedShare | None
    measured: Measured | None
    criteria: Mapping[str, Found]
    why_not: Mapping[str, str]
    provenance: Provenance
    response_knowledge: bool = True
    n_misfits: int = 0
    household: str = ""
    is_repeatable: bool = False

    def _counts(self, criterion: Criterion | str) -> list[NDArray[np.int64]]:
        """What a criterion holds to at least k: candidates of records, of people, or of both."""
        found = self.candidates
        match Criterion(criterion):
            case Criterion.OWN:
                return [found.own]
            case Criterion.RELEASED_TO_PEOPLE:
                return [found.released_to_people]
            case Criterion.PEOPLE_TO_RELEASED:
                return [found.people_to_released]
            case Criterion.BOTH:
                return [found.people_to_released, found.released_to_people]
            case Criterion.WILDCARD:
                return [] if found.wildcard is None else [found.wildcard]

    def smallest(self, criterion: Criterion | str) -> int:
        """Return the largest k for which a criterion holds: the fewest candidates of anybody."""
        return min((int(counts.min()) for counts in self._counts(criterion)), default=0)

    def below(self, criterion: Criterion | str, k: int) -> int:
        """Return how many records or people have fewer than k candidates."""
        found = [np.count_nonzero(counts < k) for counts in self._counts(criterion)]
        return int(max(found, default=0))

    @cached_property
    def expected(self) -> float | None:
        """The expected number of right matches; exact where it can be, else approximate."""
        chances = self.candidates.right
        if chances is None or "expected" in self.why_not:
            return None
        exact = self._exact_chances
        return fsum(chances if exact is None else np.where(np.isnan(exact), chances, exact))

    @cached_property
    def roughly_expected(self) -> float:
        """How many of the expected right matches are of people for whom these are approximate."""
        chances = self.candidates.right
        if chances is None or not self.n_approximate:
            return 0.0
        exact = self._exact_chances
        return fsum(chances if exact is None else chances[np.isnan(exact)])

    @cached_property
    def _exact_chances(self) -> NDArray[np.float64] | None:
        return None if self.matchings is None else _floats(self.matchings.right)

    @cached_property
    def n_approximate(self) -> int:
        """For how many people the probability of a right match is only approximate."""
        if not self.response_knowledge and not self.n_misfits:
            # Who does not know who is in the file takes any of the people whom a record fits.
            return 0
        return self.n_people - (0 if self.matchings is None else self.matchings.n_known)

    @cached_property
    def n_repeated(self) -> int | None:
        """How many right matches whoever suppresses again has at most (different rows); None if nobody can."""
        if not self.is_repeatable:
            return None
        sizes, n_rows = np.unique(self.candidates.own, return_counts=True)
        return int((n_rows // sizes).sum())

    @property
    def repeated_text(self) -> str:
        """What whoever suppresses again would match, as part of a sentence; empty where nobody can."""
        if self.n_repeated is None:
            return ""
        share = percent_text(self.n_repeated / max(self.n_people, 1))
        return f"whoever knows the keys of all and suppresses again matches up to {share} rightly"

    @property
    def right_share(self) -> float | None:
        """The share of people who are matched rightly, by the better of what was tried."""
        found = [] if self.expected is None else [self.expected / max(self.n_people, 1)]
        found += [] if self.linked is None else [self.linked.share]
        return max(found, default=None)

    @property
    def n_alone(self) -> int:
        """How many people fit exactly one released row."""
        return int(np.count_nonzero(self.candidates.people_to_released == 1))

    @property
    def n_nowhere(self) -> int:
        """How many people fit no released row."""
        return int(np.count_nonzero(self.candidates.people_to_released == 0))

    def fewest_in_assignments(self) -> int | None:
        """Return the fewest rows of anybody in some assignment; None where that is not known."""
        return None if self.matchings is None else int(self.matchings.candidates.min())

    def below_in_assignments(self, k: int) -> int:
        """Return how many people have fewer than k rows in some assignment, where it is known."""
        found = self.matchings
        return 0 if found is None else int(np.count_nonzero(found.candidates < k))

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "people": self.n_people,
            "rows": self.n_rows,
            "own": self.smallest(Criterion.OWN),
            "released_to_people": self.smallest(Criterion.RELEASED_TO_PEOPLE),
            "people_to_released": self.smallest(Criterion.PEOPLE_TO_RELEASED),
            "both": self.smallest(Criterion.BOTH),
            "one_candidate": self.n_alone,
            "assignments": self.fewest_in_assignments(),
            "expected_matches": None if self.expected is None else round(self.expected, 4),
            "linkage": None if self.linked is None else round(self.linked.share, 6),
            "right_share": None if self.right_share is None else round(self.right_share, 6),
            **({} if self.n_repeated is None else {"right_if_repeated": self.n_repeated}),
            **({"whole_households": "not examined"} if self.household else {}),
        }

    def unexamined(self) -> list[str]:
        """Return what was not looked at, in words."""
        return [WHOLE_HOUSEHOLDS] if self.household else []

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        alone, nobody = self.n_alone, self.n_nowhere
        none = f", {nobody:,} none" if nobody else ""
        alone_text = count_of(alone, "person fits", "people fit")
        read = " as far as categories are read" if CANDIDATES in self.why_not else ""
        said = [f"{alone_text} exactly one released record{none}, of {self.n_people:,}{read}."]
        if self.expected is not None:
            said.append(self._expected_text(self.expected))
        if self.n_repeated is not None:
            sure = int(np.count_nonzero(self.candidates.own == 1))
            who = count_of(sure, "person is", "people are")
            said.append(
                f"Suppression that is not drawn by lot can be done again: {self.repeated_text}"
                f" ({self.n_repeated:,})"
                + (f", and {who} alone with their row" if sure else "")
                + ". Neither candidates nor expected right matches count that; the criterion 'own' does."
            )
        if self.matchings is not None:
            fixed = self.below_in_assignments(2)
            if fixed > alone:
                who = count_of(fixed, "person has", "people have")
                said.append(
                    f"{who} one record left where everybody must have one of their own, which"
                    " only somebody who knows the keys of all can work out (a target:"
                    " 'assignments>=2')."
                )
        if self.linked is not None:
            said.append(f"Links re-identify {self.linked.words}.")
        return said

    def _expected_text(self, expected: float) -> str:
        share = percent_text(expected / max(self.n_people, 1))
        who = "" if self.response_knowledge else ", and not who is in the file,"
        rough = ""
        if self.n_misfits:
            rough = (
                f"; that is by equal values, and {count_of(self.n_misfits, 'person has', 'people have')}"
                " another one now: see what links find"
            )
        elif self.n_approximate:
            rough = f" (approximate for {count_of(self.n_approximate, 'person', 'people')})"
        return (
            f"Somebody who knows the keys of all{who} would be expected to match {expected:,.1f} of them"
            f" rightly, {share}{rough}."
        )

    def beside(self, before: FileAttack) -> pa.Table:
        """Return one row per figure, as it was before and as it is now."""
        earlier = {row["measure"]: row["value"] for row in before.rows()}
        rows = [
            {**row, "before": earlier.get(row["measure"]), "after": row["value"]}
            for row in self.rows()
        ]
        kinds = {"measure": pa.string(), "before": pa.float64(), "after": pa.float64()}
        return pa.Table.from_pylist(
            rows, pa.schema({**kinds, "kind": pa.string(), "note": pa.string()})
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per figure: what it is, its value, how sure it is."""
        exactly, rough, as_read = "exact", "approximate", "as far as read"
        made: list[dict[str, Any]] = []
        for criterion in Criterion:
            if criterion is Criterion.WILDCARD and self.candidates.wildcard is None:
                if criterion in self.why_not:
                    made.append(_row(criterion.value, None, exactly, self.why_not[criterion]))
                continue
            note = "" if criterion.may_be_target else "protects nobody by itself"
            sure = exactly
            if criterion is not Criterion.OWN and CANDIDATES in self.why_not:
                sure, note = as_read, self.why_not[CANDIDATES]
            made.append(_row(criterion.value, float(self.smallest(criterion)), sure, note))
        counts: dict[str, float | None] = {
            "one_candidate": float(self.n_alone),
            "no_candidate": float(self.n_nowhere),
        }
        if self.matchings is not None:
            counts[ASSIGNMENTS] = self.fewest_in_assignments()
            counts["one_candidate_in_assignments"] = float(self.below_in_assignments(2))
        elif ASSIGNMENTS in self.why_not:
            counts[ASSIGNMENTS] = None
        why = self.why_not.get(CANDIDATES, "")
        made += [
            _row(name, count, as_read if why else exactly, why)
            if count is not None
            else _row(name, None, exactly, self.why_not[name])
            for name, count in counts.items()
        ]
        kind = rough if self.n_approximate else exactly
        note = "by equal values: see linkage" if self.n_misfits else ""
        made.append(
            _row("expected_matches", self.expected, kind, self.why_not.get("expected", note))
        )
        if self.n_repeated is not None:
            note = "by whoever knows the keys of all and suppresses again"
            made.append(_row("right_if_repeated", float(self.n_repeated), "at most", note))
        linked = self.linked
        made.append(
            _row(
                "linkage",
                None if linked is None else linked.share,
                "of a sample" if linked is not None and linked.is_sample else exactly,
                self.why_not.get("linkage", "not tried (--attack of protect try)")
                if linked is None
                else linked.way,
            )
        )
        if self.household:
            note = "no attack looked at households as a whole"
            made.append({**_row("whole_households", None, "", note), "kind": "not examined"})
        if self.measured is not None:
            for name, found in self.criteria.items():
                known = found.interval
                sure = exactly if known is not None and known.is_exact else "estimate"
                value = None if known is None else known.value
                made.append(_row(name, value, sure, found.why or found.note))
        elif "assessment" in self.why_not:
            made += [_row(name, None, exactly, self.why_not["assessment"]) for name in CRITERIA]
        return made

    def to_arrow(self) -> pa.Table:
        """Return one row per figure."""
        kinds = {"measure": pa.string(), "value": pa.float64()}
        schema = pa.schema({**kinds, "kind": pa.string(), "note": pa.string()})
        return pa.Table.from_pylist(self.rows(), schema)


def _floats(chances: Sequence[Fraction | None]) -> NDArray[np.float64]:
    """Return probabilities as numbers, NaN where not known; one that many share is turned once."""
    known: dict[int, float] = {}
    for chance in chances:
        if id(chance) not in known:
            known[id(chance)] = nan if chance is None else float(chance)
    return np.fromiter((known[id(chance)] for chance in chances), np.float64, len(chances))


def _row(measure: str, value: float | None, kind: str, note: str) -> dict[str, Any]:
    return {
        "measure": measure,
        "value": value,
        "kind": "not known" if value is None else kind,
        "note": note,
    }


# On public files the approximation was too low by 15 to 17 percent.
_MARGIN = 0.25


@dataclass(frozen=True, slots=True)
class JudgedTarget:
    """A target, what was reached, and how that stands to it.

    `reached` is None where it is not known or a policy, `text` the same in words; `why` says why it
    is not met or not proven, or what to know of it.
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
