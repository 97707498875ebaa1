"""Recoding for targets that are not monotone: a stand-in is searched, the real attack verifies.

Classes of at least k records stand in for what is aimed at (links, expected matches, a policy). For a
k the recodings that meet it come in the order of their loss, and each is attacked. One that fails is
left out, that one alone; after a few failures a larger k is asked for. Once one has passed, smaller
k between the last two are tried, and what is left of the attacks goes to recodings that are cheaper
still. So the answer is the cheapest that was seen to pass, "best verified": what was not attacked is
not known, and nothing is called the least.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gamekeeper.algorithms.recoding_search.search import MOST_VERIFIED
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import Reason
from gamekeeper.options import given
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.recoding.options import SearchOptions
from gamekeeper.protect.recoding.recode import Recoding
from gamekeeper.protect.recoding.search import (
    SearchedRecoding,
    SearchRecoding,
    search_for_recoding,
)
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import NotReachableError, protected_by
from gamekeeper.wording import count_of

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

    `protected` is the file after it; where none passed, after the strongest that was tried. `step` is
    the search with the k under which it was found: what a recipe keeps.
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

    `asked.seconds` are for all of it, and `asked.k` does not matter: `rungs` are the values of k that
    stand in, ascending. `place` is that of the step in its recipe, from 1.

    Raises
    ------
    NotReachableError
        Where no recoding that may be chosen has classes of the first k.
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
