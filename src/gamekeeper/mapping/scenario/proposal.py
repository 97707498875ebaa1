"""From an analysis to a scenario: which key variables, and at which code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.analysis.holders import evidence_at, holders_of, n_matched
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.mapping.analysis.question import pose
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario, ScenarioKey, no_keys, require_sound
from gamekeeper.mapping.environment.scope import Scope
from gamekeeper.mapping.scenario.staleness import fingerprint_of
from gamekeeper.mapping.variables.category_blocks import blocks_of
from gamekeeper.mapping.variables.codes import code_order, is_code
from gamekeeper.wording import count_of, did_you_mean, quoted, short


def propose_scenario(
    outcome: KeyVariableMap,
    environment: Environment,
    *,
    name: str,
    forms: str | Iterable[str] = (),
    groups: str | Iterable[str] = (),
    attacker: str = "",
    description: str = "",
    keys: str | Mapping[str, str] | Iterable[str] | None = None,
    revision: int = 0,
    who: str = "",
    at: datetime | None = None,
) -> Scenario:
    """Make a scenario of the outcome of an analysis.

    Parameters
    ----------
    outcome, environment
        An analysis, and the environment that it was made of.
    forms, groups
        What the analysis was asked to match against; by default all other forms.
    attacker, description
        Who would match, with which aim; free text.
    keys
        The key variables, each with the code to match on, or their names alone; by default all
        that can be matched. Without a code (or with an empty one) it is the first maximal
        harmonization. A code must be one at which enough forms can be matched: a maximal
        harmonization or anything coarser.
    revision, who, at
        The revision of the environment, 0 for a folder; who makes the scenario; when, by default
        now.

    Raises
    ------
    InputError
        With everything that is wrong with what was chosen, and what would be possible.

    Examples
    --------
    >>> from gamekeeper.mapping.analysis.key_mapping import map_key_variables
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.variable import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> environment = Environment([age], [bank, Form("Census", {"Age": ()})])
    >>> outcome = map_key_variables(environment, "Census")
    >>> scenario = propose_scenario(outcome, environment, name="A bank's clerk")
    >>> scenario.key("Age").why
    'Age at C3.001, because 1 of 1 forms can be matched at it (1 at C3.001).'
    >>> scenario.key("Age").blocks
    (('0-15',), ('16-64',), ('65+',))
    """
    named = (forms,) if isinstance(forms, str) else tuple(forms)
    grouped = (groups,) if isinstance(groups, str) else tuple(groups)
    problems = _origin_problems(outcome, environment, named, grouped)
    require_sound(name, problems)
    wanted = _wanted(outcome, keys)
    matchable = [item.variable for item in outcome.variables if item.maximal]
    on_target = {item.variable for item in outcome.variables}
    problems += [
        Problem(
            Reason.UNKNOWN_NAME,
            f"key variable {quoted([variable])}",
            f"is not on the target {quoted([outcome.target])}.",
            did_you_mean(variable, matchable),
        )
        for variable in wanted
        if variable not in on_target
    ]
    chosen = [
        key
        for item in outcome.variables
        if item.variable in wanted
        for key in _Choice(outcome, environment, item).keys(wanted[item.variable], problems)
    ]
    if not wanted:
        problems.append(no_keys())
    require_sound(name, problems)
    levels = outcome.provenance.parameters.get("levels", "unbounded")
    return Scenario(
        name=name,
        attacker=attacker,
        description=description,
        target=outcome.target,
        forms=named,
        groups=grouped,
        match_forms=outcome.match_forms,
        mode=outcome.mode,
        prevalence=outcome.prevalence,
        strict=outcome.strict,
        within_universe=outcome.within_universe,
        levels=None if levels == "unbounded" else int(levels),
        keys=tuple(chosen),
        left_out=tuple(variable for variable in matchable if variable not in wanted),
        environment=environment.name,
        revision=revision,
        fingerprint=fingerprint_of(environment, outcome.target, outcome.match_forms),
        who=who,
        at=datetime.now(UTC) if at is None else at,
    )


def _wanted(
    outcome: KeyVariableMap, keys: str | Mapping[str, str] | Iterable[str] | None
) -> dict[str, str]:
    """Return the variables asked for, each with its code or nothing."""
    if keys is None:
        return {item.variable: "" for item in outcome.variables if item.maximal}
    if isinstance(keys, Mapping):
        return dict(keys)
    return dict.fromkeys([keys] if isinstance(keys, str) else keys, "")


class _Choice:
    """The codes that can be chosen for one variable."""

    def __init__(
        self, outcome: KeyVariableMap, environment: Environment, item: KeyVariable
    ) -> None:
        self._outcome = outcome
        self._environment = environment
        self._item = item
        self._holders = holders_of(environment, item.variable, outcome.match_forms)
        self._scope = _scope(environment, outcome, item.variable)
        self._register = environment.register(item.variable)

    def keys(self, code: str, problems: list[Problem]) -> Iterator[ScenarioKey]:
        """Return the key variable at a code, or nothing after adding what is wrong with it."""
        item = self._item
        where = f"key variable {quoted([item.variable])}"
        if not item.maximal:
            matchable = [other.variable for other in self._outcome.variables if other.maximal]
            do = f"Choose among {quoted(matchable)}." if matchable else "Leave it out."
            found = f"cannot be matched: {item.why.removesuffix('.')}."
            problems.append(Problem(Reason.BAD_OPTION, where, found, do))
            return
        code = code or item.codes[0]
        reason, fault = Reason.UNKNOWN_NAME, ""
        if code in self._register.retired:
            fault = "is retired: the categories that it stood for were changed."
        elif code not in self._register:
            fault = "is not a code of the variable." if is_code(code) else "is not a code."
        else:
            reason, fault = Reason.BAD_OPTION, self._fault(self._register.meaning(code))
        if fault:
            place = f"{where}, code {quoted([code])}"
            problems.append(Problem(reason, place, fault, self._possible()))
            return
        yield self._key(code)

    def _key(self, code: str) -> ScenarioKey:
        item, categorization = self._item, self._register.meaning(code)
        variable = self._environment.variable(item.variable)
        evidence = evidence_at(self._environment, self._scope, self._holders, categorization)
        parts = ", ".join(f"{one.n_forms:,} at {one.code}" for one in evidence)
        n_forms = sum(one.n_forms for one in evidence)
        return ScenarioKey(
            variable=item.variable,
            code=code,
            categories=variable.words(categorization),
            blocks=blocks_of(variable, categorization),
            evidence=evidence,
            why=f"{short(item.variable)} at {code}, because {n_forms:,} of {item.n_forms:,} forms"
            f" can be matched at it ({parts}).",
            maximal=item.codes,
            has_more=item.has_more,
            may_have_more=item.may_have_more,
        )

    def _fault(self, categorization: Partition | Arbitrary) -> str:
        item = self._item
        own = self._environment.categorization(self._outcome.target, item.variable).partition
        if own is None or not self._scope.is_finer(own, categorization):
            return f"tells apart what the target's own {item.target_code} does not."
        n_forms = n_matched(self._scope, self._holders, categorization)
        if n_forms >= item.threshold:
            return ""
        return (
            f"can be matched with {n_forms:,} of {item.n_forms:,} forms; {item.threshold:,} must."
        )

    def _possible(self) -> str:
        codes = self._item.codes
        others = [
            code
            for code in sorted(self._register, key=code_order)
            if code not in codes and not self._fault(self._register.meaning(code))
        ]
        text = f"The finest possible: {quoted(codes)}."
        return f"{text} Others: {quoted(others)}." if others else text


def _origin_problems(
    outcome: KeyVariableMap,
    environment: Environment,
    forms: tuple[str, ...],
    groups: tuple[str, ...],
) -> list[Problem]:
    """Return what tells that the analysis was not made of this environment, or of other forms."""
    try:
        question = pose(
            environment,
            MapOptions(
                outcome.target,
                forms=forms,
                groups=groups,
                mode=outcome.mode,
                prevalence=outcome.prevalence,
            ),
        )
    except InputError as error:
        return list(error.problems) or [
            Problem(error.reason, error.asked.removesuffix("."), error.found, error.do)
        ]
    if set(question.match_forms) != set(outcome.match_forms):
        now, then = len(question.match_forms), len(outcome.match_forms)
        return [
            Problem(
                Reason.BAD_OPTION,
                "forms and groups",
                f"come to {count_of(now, 'form')}, which are not the {then:,} of the analysis.",
                "Give those of the analysis, or analyse again.",
            )
        ]
    return [
        Problem(
            Reason.STALE,
            f"variable {quoted([item.variable])}",
            "is not as the analysis found it.",
            "Analyse again.",
        )
        for item in outcome.variables
        if not _is_as_found(environment, outcome, item)
    ]


def _is_as_found(environment: Environment, outcome: KeyVariableMap, item: KeyVariable) -> bool:
    if item.variable not in environment.form(outcome.target).instances:
        return False
    if not item.maximal:
        return True
    first = item.maximal[0]
    if environment.register(item.variable).code(first.partition) != first.code:
        return False
    holders = holders_of(environment, item.variable, outcome.match_forms)
    scope = _scope(environment, outcome, item.variable)
    return evidence_at(environment, scope, holders, first.partition) == first.evidence


def _scope(environment: Environment, outcome: KeyVariableMap, variable: str) -> Scope:
    return Scope.of(environment, outcome.target, variable, within_universe=outcome.within_universe)
