"""Recoding by search: the categories that lose least and meet the targets, proven or with a gap.

Classes of records are what is searched (`k` records look alike on the keys; so many classes at
most). Without suppressed cells that is the same for every criterion of who can be whom: own, (k,1)
and both. What else is aimed at is verified by the attack itself, answer by answer (`verify`). What
was found becomes rules that can be typed: bands where the categories are bands, else groups.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, ClassVar

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.algorithms.recoding_search import choices
from gamekeeper.algorithms.recoding_search.cuts import fewest_categories
from gamekeeper.algorithms.recoding_search.search import (
    MOST_VERIFIED,
    FoundRecoding,
    search_recoding,
)
from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem
from gamekeeper.mapping.recoding import recode_table
from gamekeeper.mapping.recoding_rules import Bands, Groups, RecodeRule, Together, Way
from gamekeeper.options import require_valid, texts_of
from gamekeeper.protection.recoding.options import Loss, Recoding, SearchOptions
from gamekeeper.protection.recoding.problem import SearchProblem, checked_wishes, problem_of
from gamekeeper.protection.recoding.sources import KeyCategories, Places
from gamekeeper.protection.step import Protected, Setting, Step, problems_of, protected_by
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, joined, percent_text, quoted


def recoding_step(
    table: CodedTable, problem: SearchProblem, chosen: choices.Chosen, decimal: str = "."
) -> Recoding:
    """Return a recoding as a step that applies it: rules where it can be typed, else groups."""
    rules: list[str] = []
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, partition in problem.partitions(chosen).items():
        own = problem.categories[name]
        if own.of_codes(partition).n_blocks == own.variable.n_codes:
            continue
        rule = written_rule(table, own, partition, decimal)
        if rule is not None:
            rules.append(rule.text)
        else:
            groups[name] = named_groups(own, partition)
    return Recoding(rules=tuple(rules), groups=groups, strict=False)


def written_rule(
    table: CodedTable, own: KeyCategories, partition: Partition, decimal: str = "."
) -> RecodeRule | None:
    """Return the rule for these categories; None where none can be typed that is read as the same."""
    name, words = own.variable.name, own.variable.words
    of_codes = own.of_codes(partition)
    if of_codes.n_blocks == 2:
        return RecodeRule(name, Together())
    groups = [
        (label, tuple(words[code] for code in codes))
        for label, codes in own.put_together(partition)
    ]
    for way in (_bands(own, partition), Groups(tuple(groups))):
        rule = None if way is None else RecodeRule(name, way)
        try:
            if (
                rule
                and recode_table(table, [rule.text], decimal=decimal).recodes[0].partition
                == of_codes
            ):
                return rule
        except InputError:
            continue
    return None


def named_groups(own: KeyCategories, partition: Partition) -> dict[str, tuple[str, ...]]:
    """Return categories of several values, by name, each with its values as the file has them."""
    made: dict[str, tuple[str, ...]] = {}
    for label, codes in own.put_together(partition):
        name = label or "group"
        while name in made:
            name += " "
        made[name.strip() if name.strip() not in made else name] = tuple(
            own.variable.values[code] for code in codes
        )
    return made


def _bands(own: KeyCategories, partition: Partition) -> Way | None:
    bands: list[tuple[Band, str]] = []
    for block in partition.blocks()[MISSING + 1 :]:
        band = _band(own, block)
        if band is None:
            return None
        bands.append((band, _label(own, block, band)))
    bands.sort(key=lambda pair: pair[0].low)
    if any(a[0].high > b[0].low for a, b in pairwise(bands)):
        return None
    return Bands(tuple(label for _, label in bands))


def _band(own: KeyCategories, block: Sequence[int]) -> Band | None:
    """Return the band that a category is; its values are bands or whole numbers."""
    lows: list[float | int | Fraction] = []
    highs: list[float | int | Fraction] = []
    for place in block:
        where = own.where[place]
        if isinstance(where, Band):
            lows.append(where.low)
            highs.append(where.high)
        elif isinstance(where, Fraction) and where.denominator == 1:
            lows.append(where.numerator)
            highs.append(where.numerator + 1)
        else:
            return None
    return Band(min(lows), max(highs))


def _label(own: KeyCategories, block: Sequence[int], band: Band) -> str:
    """Return the name of a category where it is a band that holds it, else the band."""
    name = own.names.get(tuple(block), "")
    try:
        named = parse_band(name, BandStyle.INCLUSIVE)
    except InputError:
        return band.name(BandStyle.INCLUSIVE)
    return name if named.holds(band) and "," not in name else band.name(BandStyle.INCLUSIVE)


WIDE_GAP = 0.1
"""A gap above this share is explained in words."""


@dataclass(frozen=True, repr=False, eq=False)
class SearchedRecoding(Result):
    """What a search for a recoding found.

    `found` is the algorithm's answer with its proof; `chosen` the best recoding that is known or,
    where none meets the targets, one of fewest categories, with `n_missed` records in classes that
    are too small; `step` applies it without a search. `blocked_by` are variables whose wishes alone
    stand in the way.
    """

    why_no_plot: ClassVar[str] = (
        "it is a choice of categories; the map of a study draws what it costs"
    )
    tells_of_records: ClassVar[bool] = False
    problem: SearchProblem
    asked: SearchOptions
    found: FoundRecoding
    chosen: choices.Chosen
    n_missed: int
    blocked_by: tuple[str, ...]
    step: Recoding
    provenance: Provenance

    @property
    def is_met(self) -> bool:
        """Whether the targets are met."""
        return self.found.chosen is not None

    @property
    def loss(self) -> float:
        """What the recoding loses."""
        return choices.total_loss(self.problem.choices, self.chosen)

    @property
    def share_lost(self) -> float:
        """What share of all that the key variables tell is lost."""
        return self.loss / self.problem.entropy if self.problem.entropy > 0 else 0.0

    @property
    def status(self) -> str:
        """How good it is known to be: optimal, best verified, within a gap, or not met."""
        if not self.is_met:
            return "cannot be met" if self.found.is_over else "not found in time"
        if self.found.is_stand_in:
            return "best verified"
        return "optimal" if self.found.is_optimal else "best so far"

    @cached_property
    def blocks(self) -> Mapping[str, tuple[Places, ...]]:
        """The categories that were chosen, by variable, as codes of the file."""
        chosen = self.problem.partitions(self.chosen)
        return {name: tuple(map(tuple, own.blocks())) for name, own in chosen.items()}

    @cached_property
    def n_categories(self) -> Mapping[str, int]:
        """How many categories are left of the values of each variable that may be recoded."""
        return self.problem.n_categories(self.chosen)

    @property
    def rules(self) -> tuple[str, ...]:
        """The recoding as it is typed for --recode; variables that stay have no rule."""
        return self.step.rules

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        found = self.found
        return {
            "status": self.status,
            "loss": self.loss,
            "loss_unit": str(self.asked.loss),
            "share_lost": self.share_lost,
            "lower_bound": None if found.lower_bound == inf else found.lower_bound,
            "gap": found.gap if self.is_met else None,
            "recodings": found.n_recodings,
            "checks": found.n_checks,
            "cuts": len(found.cuts),
            "records_in_small_classes": self.n_missed,
        }

    def facts(self) -> dict[str, Any]:
        """Return what a recipe keeps of it: the headline numbers, and categories by variable."""
        return {
            **self.summary(),
            "is_met": self.is_met,
            "blocked_by": list(self.blocked_by),
            "categories": dict(self.n_categories),
        }

    def sentences(self) -> list[str]:
        """Return what was found, in words, without a category of the file."""
        return [self._verdict(), *self._coarser(), *self._proof()]

    def _verdict(self) -> str:
        k, loss = self.asked.k, self._loss_text(self.loss)
        share = percent_text(self.share_lost)
        who = "people" if self.asked.weighted else "records"
        if self.is_met and k == 1 and self.asked.most_classes is not None:
            return (
                f"Recoded, there are at most {self.asked.most_classes:,} classes; that loses {loss},"
                f" {share} of what the key variables tell."
            )
        if self.is_met:
            score = "" if self.asked.most_is is None else f" and no IS above {self.asked.most_is:,}"
            return (
                f"Recoded, every class has at least {k:,} {who}{self._except()}{score}{self._homes()}; that loses"
                f" {loss}, {share} of what the key variables tell."
            )
        missed = count_of(self.n_missed, "record stays", "records stay")
        if not self.found.is_over:
            return (
                f"No recoding with classes of at least {k:,} {who} was found in time: as coarse as"
                f" it was tried, {missed} in smaller ones."
            )
        return (
            f"No recoding that may be chosen meets this: classes of at least {k:,} {who}"
            f"{self._except()}{self._more()}{self._homes()}. With as few categories as can be,"
            f" {missed} in smaller ones."
        )

    def _homes(self) -> str:
        common = self.problem.household_variables
        names = joined([quoted([name]) for name in common])
        return f", and as many households look alike in {names}" if common else ""

    def _more(self) -> str:
        asked = self.asked
        more = [] if asked.most_classes is None else [f"at most {asked.most_classes:,} of them"]
        more += [] if asked.most_is is None else [f"no IS above {asked.most_is:,}"]
        return "".join(f", {text}" for text in more)

    def _except(self) -> str:
        most = next(
            target.most
            for target in self.problem.targets
            if isinstance(target, choices.SmallClasses)
        )
        return f" (but for {count_of(most, 'record')} at most)" if most else ""

    def _coarser(self) -> list[str]:
        return [
            f"{quoted([name])}: {count_of(before, 'category becomes', 'categories become')} {after:,}."
            for name, own in self.problem.categories.items()
            if (after := self.n_categories[name]) < (before := len(own.codes))
        ]

    def _proof(self) -> list[str]:
        found = self.found
        many = "recodings" if found.n_recodings is None else f"{found.n_recodings:,} recodings"
        cuts = count_of(len(found.cuts), "unsafe recoding")
        if not self.is_met:
            told = [f"Proven by {cuts} among {many}."] if found.is_over else []
            if found.n_failed:
                told = [f"{count_of(found.n_failed, 'recoding')} met this and failed the attack."]
            if self.blocked_by:
                told.append(
                    f"What is asked of {quoted(self.blocked_by)} stands in the way: without it the"
                    " targets could be met."
                )
            return told
        if found.is_stand_in:
            failed = count_of(found.n_failed, "cheaper one", "cheaper ones")
            return [
                f"It is the cheapest that passed the attack among those that were tried; {failed} failed.",
                "Others were not tried: it is not proven to be the least.",
            ]
        if found.is_optimal:
            return [f"Of {many} none that meets this loses less: proven by {cuts}."]
        lower = self._loss_text(found.lower_bound)
        gap = percent_text(found.gap or 0.0)
        told = [
            f"The search was stopped after its time: nothing loses less than {lower} (gap {gap})."
        ]
        if (found.gap or 0.0) > WIDE_GAP:
            told.append(self._why_wide())
        return told

    def _why_wide(self) -> str:
        why = (
            "where some records may be in small classes, each recoding that has too many of them tells"
            " little of the others"
            if self._except()
            else "few of so many recodings could be looked at"
        )
        return (
            f"The gap is wide, so that something much better may exist: {why}. More time (--seconds),"
            " levels as a whole (--whole-levels) or fewer variables (--recodable) make it smaller."
        )

    def _loss_text(self, loss: float) -> str:
        if self.asked.loss is Loss.SHARE:
            return f"{percent_text(loss)} on average of a variable"
        return f"{loss:,.0f} bits"

    def to_arrow(self) -> pa.Table:
        """Return one row per variable that could be recoded."""
        rule_of = {rule.partition("=")[0]: rule for rule in self.rules}
        every = zip(self.problem.variables, self.problem.choices, self.chosen, strict=True)
        loss_of = {name: choice.loss(own) for name, choice, own in every}
        known = self.problem.categories
        names = [name for name in self.problem.variables if name in known]
        columns = {
            "variable": pa.array(names, pa.string()),
            "categories_from": pa.array([known[name].source for name in names], pa.string()),
            "before": pa.array([len(known[name].codes) for name in names], pa.int64()),
            "after": pa.array([self.n_categories[name] for name in names], pa.int64()),
            "loss": pa.array([loss_of[name] for name in names], pa.float64()),
            "rule": pa.array([rule_of.get(name) for name in names], pa.string()),
        }
        return pa.table(columns)

    def certificate(self) -> list[dict[str, Any]]:
        """Return the proof: unsafe partitions of codes, and of what one must be chosen each time.

        Whoever doubts it counts the classes under each partition once, and looks for a cheaper
        recoding that has a category of each list.
        """
        made: list[dict[str, Any]] = []
        for cut in self.found.cuts:
            names = self.problem.variables
            made.append(
                {
                    "target": cut.target,
                    "partitions": {
                        name: labels.tolist()
                        for name, labels in zip(names, cut.labels, strict=True)
                    },
                    "one_of": {
                        name: [choice.categories[n] for n in range(len(inside)) if not inside[n]]
                        for name, choice, inside in zip(
                            names, self.problem.choices, cut.inside, strict=True
                        )
                    },
                }
            )
        return made


def search_for_recoding(
    table: CodedTable,
    setting: Setting,
    asked: SearchOptions,
    *,
    verify: Callable[[Recoding, float], bool] | None = None,
    most_verified: int = MOST_VERIFIED,
) -> SearchedRecoding:
    """Search for the recoding of a file that loses least and meets a target.

    `verify` is a real attack for which the target only stands in: whether a recoding passes it,
    given with its loss. Recodings come in the order of their loss, `most_verified` of them at most.
    """
    require_valid(asked, "A recoding was to be searched.")
    began = time.perf_counter()
    problem = problem_of(table, setting, asked)

    def passes(chosen: choices.Chosen) -> bool:
        assert verify is not None
        step = recoding_step(table, problem, chosen, setting.decimal)
        return verify(step, choices.total_loss(problem.choices, chosen))

    found = search_recoding(
        problem.choices,
        problem.records,
        problem.targets,
        seconds=asked.seconds,
        verify=None if verify is None else passes,
        most_verified=most_verified,
        progress=setting.progress,
    )
    chosen = found.chosen if found.chosen is not None else _coarsest(problem)
    blocked = () if found.chosen is not None or not found.is_over else _blocked_by(problem, chosen)
    provenance = Provenance(
        "recoding by search",
        f"{problem.targets}",
        {**texts_of(asked), "keys": ", ".join(setting.keys), "missing": setting.missing.value},
        fingerprint=table.fingerprint,
        engine=table.engine.name,
        seconds=time.perf_counter() - began,
    )
    return SearchedRecoding(
        problem,
        asked,
        found,
        chosen,
        _missed(problem, chosen),
        blocked,
        recoding_step(table, problem, chosen, setting.decimal),
        provenance,
    )


@dataclass(frozen=True, kw_only=True)
class SearchRecoding(SearchOptions, Step):
    """Search for the recoding that loses least and meets a target, and apply it."""

    do: ClassVar[str] = "search recoding"
    iso: ClassVar[str] = "generalization"

    def check(self, table: CodedTable, setting: Setting) -> list[Problem]:
        """Return the wishes that cannot be granted."""
        return problems_of(lambda: checked_wishes(table, setting, self), "recoding")

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Search and recode."""
        began = time.perf_counter()
        searched = search_for_recoding(table, setting, self)
        made = searched.step.apply(table, setting, place)
        return protected_by(
            self,
            table,
            made.table,
            made.log,
            setting,
            told=searched.sentences(),
            found=searched.facts(),
            frozen=(searched.step,),
            began=began,
        )


def _coarsest(problem: SearchProblem) -> choices.Chosen:
    found = [fewest_categories(choice) for choice in problem.choices]
    assert all(own is not None for own in found), "wishes that leave nothing are refused before"
    return tuple(own for own in found if own is not None)


def _missed(problem: SearchProblem, chosen: choices.Chosen) -> int:
    counter = choices.ClassCounter(problem.records, [choice.n_values for choice in problem.choices])
    table = counter.count(choices.recoding_labels(problem.choices, chosen))
    small = next(target for target in problem.targets if isinstance(target, choices.SmallClasses))
    return int(small.shares(table).sum())


def _blocked_by(problem: SearchProblem, chosen: choices.Chosen) -> tuple[str, ...]:
    """Return the variables each of which would let the targets be met, were it put together."""
    counter = choices.ClassCounter(problem.records, [choice.n_values for choice in problem.choices])
    labels = choices.recoding_labels(problem.choices, chosen)
    found: list[str] = []
    for place, name in enumerate(problem.variables):
        without = labels[place].copy()
        without[1:] = 1
        without[0] = 0
        trial = [*labels[:place], without, *labels[place + 1 :]]
        table = counter.count(trial)
        if all(choices.is_met(target, trial, table) for target in problem.targets):
            found.append(name)
    return tuple(found)
