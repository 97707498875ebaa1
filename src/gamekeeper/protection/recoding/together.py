"""Recoding and suppression together, cheapest in all; recoding for targets that are not monotone.

One price for both. A recoding loses bits; a suppressed cell costs what its variable tells of a
record on average, in the same unit (its entropy over the records), times a factor: 1 says that a
cell lost by a star is as bad as one lost by putting everything together. Prices are rounded to a
twentieth of the highest. What is searched is the cost of cells for the criterion released to
people, (k,1), which is found exactly for each recoding and never grows where categories are merged.
Other criteria need at least these cells, so that the lower bound holds for them as well; their own
cells are found at the end, and the gap says how much dearer they are.

For targets that are not monotone (links, expected matches, a policy) classes of at least k records
are a stand-in. For a k the recodings that meet it come in the order of their loss, and each is
attacked. One that fails is left out, that one alone; after a few failures a larger k is asked for.
Once one has passed, smaller k between the last two are tried, and what is left of the attacks goes
to recodings that are cheaper still. So the answer is the cheapest that was seen to pass, "best
verified": what was not attacked is not known, and nothing is called the least.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.choices import Labels
from gamekeeper.algorithms.recoding_search.price_search import FoundTogether, search_together
from gamekeeper.algorithms.recoding_search.search import MOST_VERIFIED
from gamekeeper.algorithms.suppression.both import cheapest_sets
from gamekeeper.algorithms.suppression.problem import MAX_WORK, SuppressionProblem
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import matched_name
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.options import Option, defaulting, given, require_valid
from gamekeeper.prompt_syntax import names_of, number_pairs_of
from gamekeeper.protection.recoding.options import Loss, Recoding, SearchOptions
from gamekeeper.protection.recoding.problem import (
    SearchProblem,
    checked_wishes,
    problem_of,
    recoded_codes,
)
from gamekeeper.protection.recoding.search import (
    WIDE_GAP,
    SearchedRecoding,
    SearchRecoding,
    recoding_step,
    search_for_recoding,
)
from gamekeeper.protection.step import (
    NotReachableError,
    Protected,
    Setting,
    Step,
    problems_of,
    protected_by,
)
from gamekeeper.protection.suppression import Suppress
from gamekeeper.protection.targets import Criterion
from gamekeeper.wording import count_of, percent_text, quoted

_together = defaulting(partial(Option, panel="Recoding and suppression together"))


@dataclass(frozen=True, kw_only=True)
class RecodeAndSuppress(SearchOptions, Step):
    """Recode, and suppress what is left: cheapest together."""

    do: ClassVar[str] = "recode and suppress"
    iso: ClassVar[str] = "generalization and local suppression"
    criterion: Criterion | str = _together(
        Criterion.BOTH, "What suppression is to reach in the end."
    )
    cell_price: float = _together(
        1.0,
        "What a suppressed cell costs: so many times what its variable tells on average.",
        least=0.001,
    )
    costs: Mapping[str, float] = _together(
        {},
        "VARIABLE=NUMBER: a suppressed cell of it costs so many times as much.",
        flags="--cost",
        read=partial(number_pairs_of, "--cost VARIABLE=NUMBER"),
    )
    pinned: tuple[str, ...] = _together(
        (), "A key variable that is never suppressed.", flags="--pin", read=names_of
    )
    seconds: float = _together(
        10.0, "After so long the best so far is taken, with what is proven.", least=0
    )

    def check(self, table: CodedTable, setting: Setting) -> list[Problem]:
        """Return what cannot be asked: of recoding, and of suppression."""
        return [
            *problems_of(self._require_cells, self.do),
            *self._last_step().check(table, setting),
            *problems_of(lambda: checked_wishes(table, setting, self), "recoding"),
        ]

    def _last_step(self) -> Suppress:
        """Return what suppression is asked for, before cells have their prices."""
        return Suppress(
            criterion=self.criterion,
            k=max(self.k, 2),
            costs=self.costs,
            pinned=self.pinned,
            household_variables=self.household_variables,
        )

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Search, recode and suppress."""
        require_valid(self, "Recoding and suppression were to be searched together.")
        began = time.perf_counter()
        # What the last step would refuse is refused before the search.
        problems = list(dict.fromkeys(self.check(table, setting)))
        asked = "Recoding and suppression were to be searched together."
        refuse(problems, asked, f"{count_of(len(problems), 'thing')} cannot be asked.")
        problem = problem_of(table, setting, self)
        prices = _Prices(self, table, setting, problem)
        stars = Suppress(
            criterion=self.criterion,
            k=self.k,
            costs={name: cost for name, cost in prices.units.items() if name not in prices.pinned},
            pinned=prices.pinned,
            household_variables=self.household_variables,
        )
        found = search_together(
            problem.choices,
            problem.records,
            prices.of,
            prices.of_cells,
            seconds=self.seconds,
            progress=setting.progress,
        )
        recode = recoding_step(table, problem, found.chosen, setting.decimal)
        first = recode.apply(table, setting, place)
        last = stars.apply(first.table, setting, place)
        cells_cost = float(last.found["cost"]) * prices.unit
        facts = _facts(self, problem, found, cells_cost, last.log.n_suppressed, prices)
        return protected_by(
            self,
            table,
            last.table,
            first.log.then(last.log),
            setting,
            told=[*_told(self, facts, len(first.log.variables)), *first.told, *last.told],
            found=facts,
            frozen=(recode, stars),
            began=began,
        )

    def _require_cells(self) -> None:
        """Refuse limits that are for a recoding alone: here suppression meets what is asked."""
        given = {
            "most_records": self.most_records,
            "most_share": self.most_share,
            "most_classes": self.most_classes is not None,
            "most_is": self.most_is is not None,
            "weighted": self.weighted,
        }
        problems = [
            Problem(Reason.BAD_OPTION, f"option {quoted([name])}", "it is for recoding alone.")
            for name, value in given.items()
            if value
        ]
        asked = "Recoding and suppression were to be searched together."
        found = f"{count_of(len(problems), 'option')} cannot be used with both."
        refuse(problems, asked, found, "Search a recoding (search recoding), then suppress.")


class _Prices:
    """What suppressed cells cost in the unit of the loss."""

    def __init__(
        self, asked: RecodeAndSuppress, table: CodedTable, setting: Setting, problem: SearchProblem
    ) -> None:
        self._asked, self._setting = asked, setting
        self._codes = table.matrix(list(problem.variables))
        self.pinned = tuple(matched_name(name, setting.keys) for name in asked.pinned)
        self._factors = {
            matched_name(name, setting.keys): cost for name, cost in asked.costs.items()
        }
        self._weights = {
            matched_name(name, problem.variables): each for name, each in asked.factors.items()
        }
        self._pinned = [
            place
            for place, name in enumerate(problem.variables)
            if name not in setting.keys or name in self.pinned
        ]
        self._records = problem.records
        # What all key variables tell, those that may not be recoded among them.
        self.told_in_all = 0.0
        of_cells = self._of_cells(table, problem)
        self.unit = max(of_cells.values(), default=1.0) / 20 or 1.0
        self.units = {
            name: float(max(1, round(price / self.unit))) for name, price in of_cells.items()
        }
        self._costs = [self.units.get(name, 1.0) for name in problem.variables]
        every_cell = sum(self._costs) * self.unit * problem.records.n_records
        self._dearer_than_all = 1 + problem.entropy + every_cell
        self.of_cells = [
            inf if place in self._pinned else self._costs[place] * self.unit
            for place in range(len(self._costs))
        ]

    def _of_cells(self, table: CodedTable, problem: SearchProblem) -> dict[str, float]:
        asked, made = self._asked, dict[str, float]()
        for place, name in enumerate(problem.variables):
            if name not in self._setting.keys:
                continue
            n_codes = table.codebook[name].n_codes
            counts = np.bincount(self._codes[:, place], minlength=n_codes)[MISSING + 1 :]
            shares = counts[counts > 0] / max(1, counts.sum())
            tells = float(-(shares * np.log2(shares)).sum())
            if asked.loss is Loss.SHARE:
                # A whole variable that is lost costs one share: a cell, one record of it.
                tells = 1.0 / (len(problem.categories) * max(1, table.n_records))
            weight = self._weights.get(name, 1.0)
            self.told_in_all += tells * weight * float(counts.sum())
            factor = weight * self._factors.get(name, 1.0)
            made[name] = max(tells * factor * asked.cell_price, 1e-12)
        return made

    def of(self, labels: Labels, only: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """Return the least that cells of each different record cost under a recoding, for (k,1).

        A record that no cells help costs more than all categories and cells of the file.
        """
        problem = SuppressionProblem(
            recoded_codes(self._records.rows, labels),
            self._asked.k,
            self._costs,
            self._pinned,
            self._setting.missing.value,
            self._records.counts,
            max_work=MAX_WORK,
        )
        sets, unmet = cheapest_sets(problem, only)
        prices = problem.cost_of(sets & ~problem.blank) / problem.scaled[1] * self.unit
        prices[unmet] = self._dearer_than_all
        return prices


def _facts(
    asked: RecodeAndSuppress,
    problem: SearchProblem,
    found: FoundTogether,
    cells_cost: float,
    n_cells: int,
    prices: _Prices,
) -> dict[str, Any]:
    total = found.loss + cells_cost
    is_optimal = found.is_optimal and cells_cost <= found.price * (1 + 1e-9)
    return {
        "status": "optimal" if is_optimal else "best so far",
        "cost": total,
        "loss": found.loss,
        "loss_unit": str(asked.loss),
        "share_lost": total / prices.told_in_all if prices.told_in_all > 0 else 0.0,
        "cells": n_cells,
        "cells_cost": cells_cost,
        "lower_bound": found.lower_bound,
        "gap": 0.0 if total <= 0 else max(0.0, (total - found.lower_bound) / total),
        "is_searched": found.is_optimal,
        "recodings": found.n_recodings,
        "checks": found.n_prices,
        "cell_prices": {name: units * prices.unit for name, units in prices.units.items()},
        "categories": problem.n_categories(found.chosen),
    }


def _told(asked: RecodeAndSuppress, facts: Mapping[str, Any], n_recoded: int) -> list[str]:
    cells = count_of(facts["cells"], "cell is", "cells are")
    share = percent_text(facts["share_lost"])
    keys = count_of(len(facts["cell_prices"]), "key variable")
    recoded = count_of(n_recoded, "variable is", "variables are") if n_recoded else "Nothing is"
    counted = f"The search counts that as {share} of what {keys} told, a cell as what its variable tells on average."
    told = [f"{recoded} recoded and {cells} suppressed. {counted}"]
    if facts["status"] == "optimal":
        return [*told, "Nothing cheaper does: proven."]
    least = f"Whatever does it costs at least {percent_text(1 - facts['gap'])} of that"
    rows_only = asked.criterion == Criterion.RELEASED_TO_PEOPLE
    name = Criterion(asked.criterion).value
    more = (
        "" if rows_only else f"; {quoted([name])} needs more cells, how many at least is not known"
    )
    if facts["is_searched"]:
        # Only the cells of the criterion itself are dearer than what was searched.
        return [*told, f"{least}. That is proven for (k,1){more}."]
    told.append(
        f"{least}, as far as could be proven for (k,1) before the time was up (--seconds){more}."
    )
    if facts["gap"] > WIDE_GAP:
        told.append(
            "The gap is wide, so that something much cheaper may exist: where many categories could be"
            " put together, little is proven of all of them at once. More time (--seconds), levels as a"
            " whole (--whole-levels) or fewer variables (--recodable) make it smaller."
        )
    return told


_PER_K = 3
Passes = Callable[[Protected], bool]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A recoding that was attacked: the k that stood in, what it loses, and whether it passed."""

    k: int
    loss: float
    passed: bool


@dataclass(frozen=True, eq=False, slots=True)
class VerifiedRecoding:
    """The cheapest recoding that passed the real attack, and all that was attacked.

    `protected` is the file after it; where none passed, after the strongest that was tried. `step`
    is the search with the k under which it was found: what a recipe keeps.
    """

    protected: Protected
    step: SearchRecoding
    is_met: bool
    tried: tuple[Attempt, ...]


def search_verified(
    table: CodedTable,
    setting: Setting,
    asked: SearchOptions,
    passes: Passes,
    *,
    rungs: Sequence[int],
    most_verified: int = MOST_VERIFIED,
    place: int = 1,
) -> VerifiedRecoding:
    """Search for a recoding that passes a real attack, and attack `most_verified` of them at most.

    `asked.seconds` are for all of it, and `asked.k` does not matter: `rungs` are the values of k
    that stand in, ascending. `place` is that of the step in its recipe, from 1.
    `NotReachableError`: no recoding has classes of the first k.
    """
    assert rungs, "some k must stand in"
    search = _Verifying(table, setting, asked, passes, most_verified, place)
    return search.run(rungs)


@dataclass(slots=True, eq=False)
class _Verifying:
    table: CodedTable
    setting: Setting
    asked: SearchOptions
    passes: Passes
    left: int
    place: int
    tried: list[Attempt] = field(default_factory=list[Attempt])
    known: dict[str, bool] = field(default_factory=dict[str, bool])
    best: tuple[int, SearchedRecoding] | None = None
    strongest: tuple[int, Recoding, float] | None = None
    began: float = field(default_factory=time.perf_counter)

    def run(self, rungs: Sequence[int]) -> VerifiedRecoding:
        low = high = 0
        for k in rungs:
            if self._search(k, _PER_K):
                high = k
                break
            if not self._has_more():
                break
            low = k
        while high and low and high - low > 1 and self._has_more():
            middle = (low + high) // 2
            if self._search(middle, _PER_K):
                high = middle
            else:
                low = middle
        if high and low and self._has_more():
            self._search(low, self.left)
        return self._made() if self.best is not None else self._as_far_as_it_goes()

    def _has_more(self) -> bool:
        return self.left > 0 and time.perf_counter() - self.began < self.asked.seconds

    def _search(self, k: int, most: int) -> bool:
        """Attack recodings with classes of k; tell whether one passed that is the best so far."""
        seconds = max(0.0, self.asked.seconds - (time.perf_counter() - self.began))
        left = min(most, self.left)

        def passed(recoding: Recoding, loss: float) -> bool:
            nonlocal left
            if self.best is not None and loss >= self.best[1].loss:
                # All that come after it lose as much: the search ends, and nothing is taken.
                return True
            name = json.dumps(recoding.to_json(), sort_keys=True)
            if name not in self.known:
                if not left:
                    return False
                left, self.left = left - 1, self.left - 1
                made = recoding.apply(self.table, self.setting, self.place)
                self.known[name] = self.passes(made)
                self.tried.append(Attempt(k, loss, self.known[name]))
                self.strongest = (k, recoding, loss)
            return self.known[name]

        found = search_for_recoding(
            self.table,
            self.setting,
            replace(self.asked, k=k, seconds=seconds),
            verify=passed,
            # Those that are known already are passed over.
            most_verified=left + len(self.known),
        )
        if not found.is_met and not found.found.n_failed and not self.tried:
            raise NotReachableError(
                Reason.BAD_OPTION,
                f"A recoding with classes of at least {k:,} was to be attacked.",
                " ".join(found.sentences()),
                "Ask for less, or wish for less of the variables that stand in the way.",
            )
        if found.is_met and (self.best is None or found.loss < self.best[1].loss):
            self.best = (k, found)
            return True
        return False

    def _made(self) -> VerifiedRecoding:
        assert self.best is not None
        k, searched = self.best
        n_failed = sum(not each.passed and each.loss < searched.loss for each in self.tried)
        searched = replace(searched, found=replace(searched.found, n_failed=n_failed))
        verdict, *others = searched.sentences()
        verified = (
            f"Classes of at least {k:,} stood in for what is aimed at, which was verified by"
            f" {count_of(len(self.tried), 'attack')}."
        )
        told = [verdict, verified, *others]
        return self._result(k, searched.step, told, searched.facts(), is_met=True)

    def _as_far_as_it_goes(self) -> VerifiedRecoding:
        assert self.strongest is not None
        k, recoding, loss = self.strongest
        n_tried = count_of(len(self.tried), "recoding that was", "recodings that were")
        taken = (
            f"None of {n_tried} attacked passed: the last, with classes of at least {k:,}, is taken as"
            " far as it goes."
        )
        told = [taken, "Others were not tried: that none passes is not proven."]
        found = {"status": "not verified", "loss": loss, "loss_unit": str(self.asked.loss)}
        return self._result(k, recoding, told, found, is_met=False)

    def _result(
        self, k: int, recoding: Recoding, told: list[str], found: dict[str, Any], *, is_met: bool
    ) -> VerifiedRecoding:
        step = SearchRecoding(**given(self.asked, k=k))
        made = recoding.apply(self.table, self.setting, self.place)
        facts = {
            **found,
            "is_met": is_met,
            "stand_in": f"classes of at least {k:,}",
            "k": k,
            "verified": len(self.tried),
            "failed": sum(not each.passed for each in self.tried),
        }
        protected = protected_by(
            step,
            self.table,
            made.table,
            made.log,
            self.setting,
            told=told,
            found=facts,
            frozen=(recoding,),
            began=self.began,
        )
        return VerifiedRecoding(protected, step, is_met, tuple(self.tried))
