"""One key variable of a scenario, then and now.

Categorizations then and now are compared by their meaning, not by their codes: a harmonization
that was observed since has got another code, and is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.mapping.analysis.holders import evidence_at, holders_of, n_matched
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario, ScenarioKey
from gamekeeper.mapping.environment.scope import Scope
from gamekeeper.mapping.variables.category_blocks import categorization_of
from gamekeeper.wording import joined, listed, quoted

_SHOWN_CATEGORIES = 6


@dataclass(frozen=True)
class KeyReview:
    """A key variable of a scenario then and now.

    Attributes
    ----------
    key
        The key variable as the scenario has it.
    code_now, categories_now
        What a scenario made now would match on, and its categories in words: the same as then
        where that can still be matched (and is still maximal, if it was), else the first maximal
        harmonization; empty where the variable can no longer be matched.
    maximal_now
        The codes of the maximal harmonizations now.
    n_forms_now
        How many forms can now be matched at the scenario's own code; None where that code has no
        meaning any more, or there is no analysis.
    changes
        What has changed, in words.
    """

    key: ScenarioKey
    code_now: str
    categories_now: tuple[str, ...]
    maximal_now: tuple[str, ...]
    n_forms_now: int | None
    changes: tuple[str, ...]


def review_key(
    scenario: Scenario, key: ScenarioKey, environment: Environment, outcome: KeyVariableMap | None
) -> KeyReview:
    """Compare a key variable with what an analysis gives now; None where there is no analysis."""
    if key.variable not in environment.variables:
        return _without_result(key, "the environment has no such variable any more")
    if outcome is None:
        return _without_result(key, "there is no analysis now")
    for item in outcome.variables:
        if item.variable == key.variable:
            return _Comparison(scenario, key, environment, outcome, item).review()
    target = quoted([scenario.target])
    return _without_result(key, f"the target {target} does not ask for it any more")


def _without_result(key: ScenarioKey, why: str) -> KeyReview:
    return KeyReview(key, "", (), (), None, (why,))


class _Comparison:
    def __init__(
        self,
        scenario: Scenario,
        key: ScenarioKey,
        environment: Environment,
        outcome: KeyVariableMap,
        item: KeyVariable,
    ) -> None:
        self._scenario = scenario
        self._key = key
        self._environment = environment
        self._item = item
        self._variable = environment.variable(key.variable)
        self._register = environment.register(key.variable)
        self._own = environment.categorization(scenario.target, key.variable).partition
        self._holders = holders_of(environment, key.variable, outcome.match_forms)
        self._scope = Scope.of(
            environment,
            scenario.target,
            key.variable,
            within_universe=scenario.within_universe,
        )
        self._meaning, self._fault = self._meaning_now()

    def review(self) -> KeyReview:
        code = self._code_now()
        # A code may be given just now, after the register was looked at.
        register = self._environment.register(self._key.variable)
        return KeyReview(
            key=self._key,
            code_now=code,
            categories_now=self._variable.words(register.meaning(code)) if code else (),
            maximal_now=self._item.codes,
            n_forms_now=None if self._meaning is None else self._n_forms(self._meaning),
            changes=tuple(self._changes()),
        )

    def _meaning_now(self) -> tuple[Partition | Arbitrary | None, str]:
        """Return what the code means now, and what is wrong with it or its categories."""
        code = self._key.code
        by_names = categorization_of(self._variable, self._key.blocks)
        if code in self._register.retired:
            return None, f"{code} is retired: the categories that it stood for were changed"
        if code not in self._register:
            lost = f"{code} is not one of its codes any more"
            return by_names, lost if by_names is None else ""
        meaning = self._register.meaning(code)
        if by_names == meaning:
            return meaning, ""
        words = listed(self._variable.words(meaning), _SHOWN_CATEGORIES)
        return meaning, f"the categories of {code} have other names now, or are others: {words}"

    def _n_forms(self, categorization: Partition | Arbitrary) -> int:
        return n_matched(self._scope, self._holders, categorization)

    def _can_match(self, categorization: Partition | Arbitrary) -> bool:
        return (
            bool(self._item.maximal)
            and self._own is not None
            and self._scope.is_finer(self._own, categorization)
            and self._n_forms(categorization) >= self._item.threshold
        )

    def _is_maximal(self, categorization: Partition | Arbitrary) -> bool:
        # Maximal harmonizations are those with the most categories; not all may be listed.
        if not self._can_match(categorization):
            return False
        size, now = (
            _size(self._scope.inside(each))
            for each in (categorization, self._item.maximal[0].partition)
        )
        return size == now

    def _code_now(self) -> str:
        key, item, meaning = self._key, self._item, self._meaning
        if meaning is None or not self._can_match(meaning):
            return item.codes[0] if item.codes else ""
        # Who took a maximal harmonization would take one again; a coarser choice stays.
        if key.code in key.maximal and not self._is_maximal(meaning):
            return item.codes[0]
        return self._environment.code(key.variable, meaning)

    def _changes(self) -> Iterator[str]:
        key, item, meaning = self._key, self._item, self._meaning
        if self._fault:
            yield self._fault
        if meaning is not None:
            yield from self._evidence_changes(meaning)
        if item.message:
            yield f"there is no result now: {item.message.removesuffix('.')}"
            return
        if not item.maximal:
            yield f"it cannot be matched any more: {item.why}"
            return
        if (
            meaning is not None
            and self._own is not None
            and not self._scope.is_finer(self._own, meaning)
        ):
            yield f"{key.code} tells apart what the target's own {item.target_code} does not"
        elif meaning is not None and not self._can_match(meaning):
            yield f"{key.code} cannot be matched with enough forms any more"
        if not self._has_same_maximal():
            yield f"the finest possible was {_codes(key)}, and is {_codes(item)}"

    def _evidence_changes(self, meaning: Partition | Arbitrary) -> Iterator[str]:
        key, n_now = self._key, self._n_forms(meaning)
        n_then, of_then = key.n_forms, len(self._scenario.match_forms)
        if (n_now, self._item.n_forms) != (n_then, of_then):
            yield (
                f"{n_then:,} of {of_then:,} forms could be matched at {key.code},"
                f" {n_now:,} of {self._item.n_forms:,} can now"
            )
        elif evidence_at(self._environment, self._scope, self._holders, meaning) != key.evidence:
            yield "the forms that it rests on have other codes now"

    def _has_same_maximal(self) -> bool:
        key, item, register = self._key, self._item, self._register
        if not all(
            code in register and self._is_maximal(register.meaning(code)) for code in key.maximal
        ):
            return False
        # Those listed then are maximal still. Are there others now? A list may be cut.
        n_then, n_now = len(key.maximal), len(item.maximal)
        if key.has_more:
            return n_now > n_then or item.has_more or item.may_have_more
        if key.may_have_more:
            return True
        then = {register.meaning(code) for code in key.maximal}
        return not item.has_more and all(one.partition in then for one in item.maximal)


def _size(categorization: Partition | Arbitrary) -> float:
    return float("inf") if isinstance(categorization, Arbitrary) else categorization.n_blocks


def _codes(found: ScenarioKey | KeyVariable) -> str:
    codes = found.maximal if isinstance(found, ScenarioKey) else found.codes
    return f"{', '.join(codes)} and more" if found.has_more else joined(codes)
