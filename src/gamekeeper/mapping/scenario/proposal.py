"""From an analysis to a scenario, and from the values of a file to the categories it matches on.

A value is read as a category of the variable by its label or by itself, case and accents aside; on
the interval scale a number is read as the band that it lies in. It is mapped where all its sinks
lie in one block of the scenario's categorization. Everything else is unmapped: a value that the
environment does not know, one that is coarser than the categorization, or a number that may be the
code of a band, as long as nobody has said which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.data.coding.codebook import MISSING, Codebook, CodedVariable, Recode
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.analysis.key_mapping import evidence_at, holders_of, n_matched, pose
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.environment.asked import MapOptions
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import Scope
from gamekeeper.mapping.environment.rules import Scenario, ScenarioKey, no_keys, require_sound
from gamekeeper.mapping.recoding import SinkFinder, codes_or_numbers
from gamekeeper.mapping.scenario.document import fingerprint_of
from gamekeeper.mapping.variables.categorization import blocks_of, categorization_of
from gamekeeper.mapping.variables.codes import Variable, code_order, is_code
from gamekeeper.wording import count_of, did_you_mean, folded, quoted, short

_CODES = np.int32


@dataclass(frozen=True, repr=False)
class UnmappedValues:
    """The values of one column that no category of a key variable takes.

    The values themselves are for the steward's own file; the repr has only their number.
    """

    variable: str
    column: str
    code: str
    values: tuple[str, ...]
    words: tuple[str, ...]
    codes: tuple[int, ...]
    n_coarse: int
    """How many of them are known, but coarser than the categorization."""
    as_numbers: tuple[str, ...] = ()
    """What each would be as a number, where they are numbers that may be codes of bands."""

    def __repr__(self) -> str:
        return f"UnmappedValues({self.variable!r}, {count_of(len(self.values), 'value')})"


@dataclass(frozen=True)
class RecodePlan:
    """How the columns of a file become the key variables of a scenario."""

    scenario: str
    columns: Mapping[str, str]
    recodes: tuple[Recode, ...]
    unmapped: tuple[UnmappedValues, ...]

    def problems(self, count: Callable[[UnmappedValues], int]) -> list[Problem]:
        """Return what fits no category or may be read in two ways: variables and counts, no values.

        `count` tells how many records have such values.
        """
        return [_problem(item, count(item)) for item in self.unmapped]


def _problem(item: UnmappedValues, n_records: int) -> Problem:
    where = f"key variable {quoted([item.variable])}"
    records = count_of(n_records, "record")
    if item.as_numbers:
        told = codes_or_numbers(item.column, item.variable, len(item.values), records)
        return Problem(Reason.UNMAPPED_VALUES, where, *told)
    coarse = f", {item.n_coarse:,} of them too coarse for it" if item.n_coarse else ""
    found = (
        f"{count_of(len(item.values), 'value')} of the column {quoted([item.column])}"
        f" in {records} fit no category of {item.code}{coarse}."
    )
    return Problem(Reason.UNMAPPED_VALUES, where, found)


def columns_of(
    keys: Iterable[str], names: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Return the column of a file for each key variable: as given, or of the same name.

    Case, accents and white space do not matter, and an underscore may stand for a space.

    Examples
    --------
    >>> columns_of(["Age", "Marital status"], ["AGE", "marital_status"], {})
    {'Age': 'AGE', 'Marital status': 'marital_status'}
    """
    wanted = list(keys)
    by_fold: dict[str, list[str]] = {}
    for name in names:
        by_fold.setdefault(folded(name.replace("_", " ")), []).append(name)
    problems: list[Problem] = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"key variable {quoted([key])}",
            "is given a column, but is not one of the key variables.",
            did_you_mean(key, wanted),
        )
        for key in given
        if key not in wanted
    ]
    found: dict[str, str] = {}
    # Where no name is right, the first line of the file may be a record and not a header.
    has_header = any(folded(given.get(key, key).replace("_", " ")) in by_fold for key in wanted)
    for key in wanted:
        asked = given.get(key, key)
        near = by_fold.get(folded(asked.replace("_", " ")), [])
        if asked in names:
            found[key] = asked
        elif len(near) == 1:
            found[key] = near[0]
        else:
            where = f"key variable {quoted([key])}"
            is_several = f"could be any of the columns {quoted(near)}."
            no_column = f"the file has no column {quoted([asked])}."
            do = f"{did_you_mean(asked, names, lists=has_header)} Name its column.".strip()
            problems.append(
                Problem(Reason.UNKNOWN_NAME, where, is_several if near else no_column, do)
            )
    refuse(
        problems,
        f"The columns of {count_of(len(wanted), 'key variable')} were to be found in the file.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found.",
    )
    return found


def plan_recodes(
    scenario: Scenario,
    environment: Environment,
    codebook: Codebook,
    columns: Mapping[str, str],
    *,
    values: Mapping[str, Mapping[str, str]] | None = None,
    numbers: Collection[str] = (),
    decimal: str = ".",
) -> RecodePlan:
    """Work out how each value of a file becomes a category of a scenario's key variable.

    `columns` has the column of each key variable, as from `columns_of`, and `values`, by key
    variable, categories for values that are not known by name. Small whole numbers that may be codes
    of bands are unmapped, but for the key variables of which `numbers` says that they are numbers.
    """
    unknown = [name for name in numbers if name not in columns]
    problems = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"numbers of {quoted([name])}",
            "it is not one of the key variables.",
            did_you_mean(name, columns),
        )
        for name in unknown
    ]
    recodes: list[Recode] = []
    unmapped: list[UnmappedValues] = []
    for key in scenario.keys:
        column = codebook[columns[key.variable]]
        if not key.blocks:
            every = np.arange(len(column.words), dtype=_CODES)
            recodes.append(Recode(column.name, every, column.words, key.variable))
            continue
        variable = environment.variable(key.variable)
        partition = categorization_of(variable, key.blocks)
        if partition is None or isinstance(partition, Arbitrary):
            where = f"key variable {quoted([key.variable])}"
            found = f"its categories no longer make {key.code}."
            do = "Review the scenario, and save it anew."
            problems.append(Problem(Reason.STALE, where, found, do))
            continue
        given, faults = _given(variable, (values or {}).get(key.variable, {}))
        problems += faults
        blocks = _Blocks(variable, partition, decimal)
        recode, left = _recoded(key, column, blocks, given, is_number=key.variable in numbers)
        recodes.append(recode)
        unmapped += left
    refuse(
        problems,
        f"The values of the file were to be mapped to the categories of {quoted([scenario.name])}.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found.",
    )
    return RecodePlan(scenario.name, dict(columns), tuple(recodes), tuple(unmapped))


class _Blocks:
    """Finds the block of a categorization that a text means."""

    def __init__(self, variable: Variable, partition: Partition, decimal: str) -> None:
        self.finder = SinkFinder(variable, decimal)
        self.words = variable.words(partition)
        self._block = partition.dense().tolist()

    def find(self, texts: Iterable[str]) -> tuple[int | None, bool]:
        """Return the block of the first text that is known, and whether one was too coarse."""
        is_coarse = False
        for text in texts:
            blocks = {self._block[sink] for sink in self.finder.sinks(text)}
            if len(blocks) == 1:
                return blocks.pop(), False
            is_coarse = is_coarse or len(blocks) > 1
        return None, is_coarse


def _recoded(
    key: ScenarioKey,
    column: CodedVariable,
    blocks: _Blocks,
    given: Mapping[str, str],
    *,
    is_number: bool,
) -> tuple[Recode, list[UnmappedValues]]:
    codes = np.zeros(len(column.words), dtype=_CODES)
    asked = set[int]() if is_number else set(blocks.finder.may_be_codes(column))
    left: list[int] = []
    as_numbers: dict[int, str] = {}
    n_coarse = 0
    for code in range(MISSING + 1, len(column.words)):
        named = given.get(column.values[code], given.get(column.words[code]))
        texts = blocks.finder.texts(column, code) if named is None else [named]
        block, is_coarse = blocks.find(texts)
        if named is None and code in asked:
            as_numbers[code] = "" if block is None else blocks.words[block]
        elif block is None:
            left.append(code)
            n_coarse += is_coarse
        else:
            codes[code] = block + 1
    recode = Recode(column.name, codes, (column.words[MISSING], *blocks.words), key.variable)

    def unmapped(some: Sequence[int], n_coarse: int = 0) -> UnmappedValues:
        values, words = (
            tuple(texts[code] for code in some) for texts in (column.values, column.words)
        )
        return UnmappedValues(
            key.variable, column.name, key.code, values, words, tuple(some), n_coarse
        )

    found = [unmapped(left, n_coarse)] if left else []
    if as_numbers:
        maybe = unmapped(list(as_numbers))
        found.append(replace(maybe, as_numbers=tuple(as_numbers.values())))
    return recode, found


def _given(variable: Variable, values: Mapping[str, str]) -> tuple[dict[str, str], list[Problem]]:
    unknown = {name for name in values.values() if name and variable.resolve(name) is None}
    known = variable.graph.categories
    problems = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"category {quoted([name])}",
            f"it is not a category of {quoted([variable.name])}.",
            did_you_mean(name, known),
        )
        # A value that was copied into the place of its category must not be shown.
        for name in sorted(unknown - values.keys())
    ]
    copied = unknown & values.keys()
    if copied:
        n_copied = count_of(len(copied), "value has a value", "values have values")
        where = f"key variable {quoted([variable.name])}"
        found = f"{n_copied} of the file in place of a category."
        problems.append(Problem(Reason.UNKNOWN_NAME, where, found, f"There are: {quoted(known)}."))
    return {value: name for value, name in values.items() if name}, problems


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

    What is wrong with what was chosen is told with what would be possible.

    Parameters
    ----------
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

    Examples
    --------
    >>> from gamekeeper.mapping.analysis.key_mapping import map_key_variables
    >>> from gamekeeper.mapping.environment.environment import Form
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
        name=name, attacker=attacker, description=description, target=outcome.target, forms=named,
        groups=grouped, match_forms=outcome.match_forms, mode=outcome.mode,
        prevalence=outcome.prevalence, strict=outcome.strict,
        within_universe=outcome.within_universe,
        levels=None if levels == "unbounded" else int(levels), keys=tuple(chosen),
        left_out=tuple(variable for variable in matchable if variable not in wanted),
        environment=environment.name, revision=revision,
        fingerprint=fingerprint_of(environment, outcome.target, outcome.match_forms), who=who,
        at=datetime.now(UTC) if at is None else at,
    )  # fmt: skip


def _wanted(
    outcome: KeyVariableMap, keys: str | Mapping[str, str] | Iterable[str] | None
) -> dict[str, str]:
    if keys is None:
        return {item.variable: "" for item in outcome.variables if item.maximal}
    if isinstance(keys, Mapping):
        return dict(keys)
    return dict.fromkeys([keys] if isinstance(keys, str) else keys, "")


class _Choice:
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
        found = f"come to {count_of(now, 'form')}, which are not the {then:,} of the analysis."
        do = "Give those of the analysis, or analyse again."
        return [Problem(Reason.BAD_OPTION, "forms and groups", found, do)]
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
