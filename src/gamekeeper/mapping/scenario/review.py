"""What has become of a scenario: whether its environment has changed, and what it would be now.

Categorizations then and now are compared by their meaning, not by their codes: a harmonization
that was observed since has got another code, and is the same. A review is accepted by
`renew_scenario`: the same question, of the forms that there are now.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.arrow import pa
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.analysis import key_mapping
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import Scope
from gamekeeper.mapping.environment.rules import Scenario, ScenarioKey
from gamekeeper.mapping.scenario.document import fingerprint_of, staleness
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.variables.categorization import categorization_of
from gamekeeper.prompt_syntax import MAX_NODES
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import be, count_of, joined, listed, quoted

_SHOWN_CATEGORIES = 6


@dataclass(frozen=True)
class KeyReview:
    """A key variable of a scenario then and now, and what has changed, in words.

    Attributes
    ----------
    code_now, categories_now
        What a scenario made now would match on, and its categories in words: the same as then
        where that can still be matched (and is still maximal, if it was), else the first maximal
        harmonization; empty where the variable can no longer be matched.
    n_forms_now
        How many forms can now be matched at the scenario's own code; None where that code has no
        meaning any more, or there is no analysis.
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
        self._holders = key_mapping.holders_of(environment, key.variable, outcome.match_forms)
        self._scope = Scope.of(
            environment, scenario.target, key.variable, within_universe=scenario.within_universe
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
        return key_mapping.n_matched(self._scope, self._holders, categorization)

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
        elif (
            key_mapping.evidence_at(self._environment, self._scope, self._holders, meaning)
            != key.evidence
        ):
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


_LISTED = 20


@dataclass(frozen=True, repr=False)
class ScenarioReview(Result):
    """What has become of a scenario.

    Attributes
    ----------
    revision
        The revision of the environment now, 0 for a folder.
    has_environment_changed
        Whether the environment is at another revision or, where revisions are not known, anything
        that the analysis looks at is different.
    changes, keys
        What has changed for this scenario as a whole, in sentences; every key variable then and now.
    outcome
        The analysis as it would be now, None where it cannot be made.
    is_stale
        Whether the scenario is marked as stale, which it stays until it is renewed.
    """

    scenario: Scenario
    revision: int
    has_environment_changed: bool
    changes: tuple[str, ...]
    keys: tuple[KeyReview, ...]
    outcome: KeyVariableMap | None
    provenance: Provenance
    is_stale: bool

    @property
    def is_current(self) -> bool:
        """Whether nothing has changed for this scenario."""
        return not self.changes and not any(key.changes for key in self.keys)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The review in sentences: the environment, the scenario, each key variable that changed."""
        scenario = self.scenario
        then, now = scenario.revision, self.revision
        if then and now and then != now:
            first = f"The environment has changed: revision {then} then, {now} now."
        elif self.has_environment_changed:
            first = "The environment has changed since."
        elif then and now:
            first = f"The environment is at revision {now}, as it was."
        else:
            first = "What the analysis looks at is as it was."
        renew = ("It is marked as stale until it is renewed.",) if self.is_stale else ()
        if self.is_current:
            same = f"Nothing has changed for the scenario {quoted([scenario.name])}."
            return (first, same, *renew)
        single = (
            f"{quoted([key.key.variable])}: {'; '.join(key.changes)}."
            for key in self.keys
            if key.changes
        )
        return (first, *self.changes, *single, *renew)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "scenario": self.scenario.name,
            "environment_changed": self.has_environment_changed,
            "current": self.is_current,
            "stale": self.is_stale,
            "changes": len(self.changes),
            "key_variables": len(self.keys),
            "changed": sum(bool(key.changes) for key in self.keys),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per key variable of the scenario, then and now."""
        match_forms_now = 0 if self.outcome is None else len(self.outcome.match_forms)
        rows = [
            {
                "variable": item.key.variable, "code_then": item.key.code,
                "code_now": item.code_now or None, "maximal_then": ", ".join(item.key.maximal),
                "maximal_now": ", ".join(item.maximal_now), "forms_then": item.key.n_forms,
                "forms_now": item.n_forms_now, "match_forms_then": len(self.scenario.match_forms),
                "match_forms_now": match_forms_now,
                "in_words_then": "; ".join(item.key.categories),
                "in_words_now": "; ".join(item.categories_now), "changed": bool(item.changes),
                "what": "; ".join(item.changes) or "nothing",
            }
            for item in self.keys
        ]  # fmt: skip
        # A scenario has one key variable at least. All columns but these are texts.
        whole = ("forms_then", "forms_now", "match_forms_then", "match_forms_now")
        kinds = {**dict.fromkeys(whole, pa.int32()), "changed": pa.bool_()}
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in rows[0]])
        return pa.Table.from_pylist(rows, schema=schema)


def review_scenario(
    scenario: Scenario,
    environment: Environment,
    *,
    revision: int,
    max_nodes: int = MAX_NODES,
    progress: Progress | None = None,
) -> ScenarioReview:
    """Tell what has changed for a scenario, and what its analysis would give now.

    `revision` is that of the environment now, 0 for a folder. The analysis is made anew, within
    `max_nodes`.

    Examples
    --------
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.codes import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+", "16+"])
    >>> forms = [Form("Bank", {"Age": ("0-15", "16-64", "65+")}), Form("Census", {"Age": ()})]
    >>> environment = Environment([age], forms)
    >>> outcome = key_mapping.map_key_variables(environment, "Census", prevalence=1)
    >>> scenario = propose_scenario(outcome, environment, name="A bank's clerk")
    >>> later = environment.with_form(Form("Shop", {"Age": ("0-15", "16+")}))
    >>> for sentence in review_scenario(scenario, later, revision=0).sentences:
    ...     print(sentence)
    The environment has changed since.
    1 form is new among those to match against: 'Shop'; 1 then, 2 now.
    'Age': 1 of 1 forms could be matched at C3.001, 1 of 2 can now; C3.001 cannot be matched with
    enough forms any more; the finest possible was C3.001, and is C2.001.
    It is marked as stale until it is renewed.
    """
    started = time.perf_counter()
    changes = _names_gone(scenario, environment)
    outcome = None
    fingerprint = ""
    if scenario.target in environment.forms:
        outcome = _analysed(scenario, environment, max_nodes, progress)
        if outcome is None:
            changes.append("No form is left to match against.")
    if outcome is not None:
        changes += _set_changes(scenario, outcome)
        fingerprint = fingerprint_of(environment, scenario.target, outcome.match_forms)
    keys = tuple(review_key(scenario, key, environment, outcome) for key in scenario.keys)
    known = revision > 0 and scenario.revision > 0
    provenance = Provenance(
        method="scenario review",
        parameters={"scenario": scenario.name, "revision": str(revision)},
        fingerprint=sha256(f"{scenario.fingerprint} {fingerprint}".encode()).hexdigest()[:16],
        seconds=time.perf_counter() - started,
    )
    is_other = fingerprint != scenario.fingerprint
    return ScenarioReview(
        scenario, revision, is_other or (known and revision != scenario.revision), tuple(changes),
        keys, outcome, provenance, bool(staleness(scenario, environment)),
    )  # fmt: skip


def renew_scenario(
    reviewed: ScenarioReview, environment: Environment, *, who: str = "", at: datetime | None = None
) -> Scenario:
    """Accept a review: return the scenario as the same question gives it now, of what is there now.

    Each key variable is at the code that the review says would be matched on now. One that cannot be
    matched any more is never dropped in silence: it is refused.
    """
    scenario, outcome = reviewed.scenario, reviewed.outcome
    lost = [item for item in reviewed.keys if outcome is not None and not item.code_now]
    problems = [
        Problem(
            Reason.STALE,
            f"key variable {quoted([item.key.variable])}",
            f"{'; '.join(item.changes)}.",
            "Save the scenario anew with the key variables that are left (--key of scenario save,"
            " --replace of scenario save).",
        )
        for item in lost
    ]
    if outcome is None:
        found = f"{' '.join(reviewed.changes)} There is no analysis to accept."
        do = "Save it anew for another target, or against other forms."
        problems.append(Problem(Reason.STALE, "analysis", found, do))
    asked = f"The scenario {quoted([scenario.name])} was to be renewed."
    refuse(problems, asked, f"{count_of(len(problems), 'fault was', 'faults were')} found.")
    assert outcome is not None
    return propose_scenario(
        outcome, environment, name=scenario.name,
        forms=[form for form in scenario.forms if form in environment.forms],
        groups=[group for group in scenario.groups if group in environment.groups],
        attacker=scenario.attacker, description=scenario.description,
        keys={item.key.variable: item.code_now for item in reviewed.keys},
        revision=reviewed.revision, who=who, at=at,
    )  # fmt: skip


def _names_gone(scenario: Scenario, environment: Environment) -> list[str]:
    changes: list[str] = []
    if scenario.target not in environment.forms:
        changes.append(f"The target {quoted([scenario.target])} is gone.")
    for kind, names, known in (
        ("form", scenario.forms, environment.forms),
        ("group", scenario.groups, environment.groups),
    ):
        gone = [name for name in names if name not in known]
        if gone:
            are = be(len(gone))
            changes.append(
                f"{count_of(len(gone), kind)} that it was to be matched against {are} gone:"
                f" {quoted(gone)}."
            )
    return changes


def _analysed(
    scenario: Scenario, environment: Environment, max_nodes: int, progress: Progress | None
) -> KeyVariableMap | None:
    """Make the analysis anew with what is left of the forms and groups; None if that is nothing."""
    forms = [form for form in scenario.forms if form in environment.forms]
    groups = [group for group in scenario.groups if group in environment.groups]
    if not forms and not groups and (scenario.forms or scenario.groups):
        return None  # naming nothing would mean all other forms
    most = max(_LISTED, *(len(key.maximal) for key in scenario.keys))
    try:
        return key_mapping.map_key_variables(
            environment, scenario.target, forms=forms, groups=groups,
            prevalence=scenario.prevalence, strict=scenario.strict,
            within_universe=scenario.within_universe, levels=scenario.levels, most=most,
            max_nodes=max_nodes, progress=progress,
        )  # fmt: skip
    except InputError as error:
        if error.reason is Reason.NOTHING_GIVEN:
            return None
        raise


def _set_changes(scenario: Scenario, outcome: KeyVariableMap) -> list[str]:
    then, now = set(scenario.match_forms), set(outcome.match_forms)
    changes: list[str] = []
    for word, forms, others in (
        ("new", outcome.match_forms, then),
        ("gone", scenario.match_forms, now),
    ):
        found = [form for form in forms if form not in others]
        if found:
            are = be(len(found))
            changes.append(
                f"{count_of(len(found), 'form')} {are} {word} among those to match against:"
                f" {quoted(found)}; {len(then):,} then, {len(now):,} now."
            )
    known = {*(key.variable for key in scenario.keys), *scenario.left_out}
    more = [
        item.variable for item in outcome.variables if item.maximal and item.variable not in known
    ]
    if more:
        changes.append(f"{quoted(more)} can now be matched, and could not be then.")
    return changes
