"""Key variable mapping: at which detail could a target be matched against the forms out there?

For every variable of a target form, the finest categorization at which the target can be matched
against enough of the other forms, as Smith and Elliot define it in sections 2.1 and 5 (with the
corrections that the target's own categorization takes part and that the target never matches
itself), and how that changes with the prevalence asked for. Section 5.2 names three uses:

- specific: against one data set that the intruder has;
- typical: against a group of data sets, any share of which the intruder might have;
- multiple: against data sets drawn from several groups.

What counts is what can be told apart within the universe of the target (`Scope`). Smith and Elliot
count everybody, also those whom the target does not ask; `within_universe=False` does so too.

With |E| forms to match against, a prevalence of k/|E| asks that k of them can be matched. What is
found changes at few k: where the maximal harmonizations are those of fewer forms no longer, or the
effective categories are not. Between them lie the levels, each exactly what `map_key_variables`
finds for any k in it.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from typing import Any, TypeVar

from gamekeeper.algorithms.categories import partitions
from gamekeeper.algorithms.categories.maximal_harmonization import MaximalHarmonizations
from gamekeeper.arrow import pa
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap, Maximal
from gamekeeper.mapping.environment.asked import Evidence, MapOptions, Mode
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import Scope
from gamekeeper.mapping.variables.codes import code_order
from gamekeeper.options import takes
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import count_of, quoted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """A target, the forms to match it against, and how; everything in it is valid.

    `wanted` are the forms to match against, to be found at once.
    """

    environment: Environment
    asked: MapOptions
    target: str
    forms: tuple[str, ...]
    groups: tuple[str, ...]
    match_forms: tuple[str, ...]
    wanted: frozenset[str]
    mode: Mode
    prevalence: Fraction


def pose(environment: Environment, asked: MapOptions) -> Question:
    """Check what is asked against an environment; every fault is reported at once."""
    target = asked.target
    faults: list[InputError] = []

    def checked(check: Callable[[], T], otherwise: T) -> T:
        try:
            return check()
        except InputError as error:
            faults.append(error)
            return otherwise

    named = (asked.forms,) if isinstance(asked.forms, str) else tuple(asked.forms)
    grouped = (asked.groups,) if isinstance(asked.groups, str) else tuple(asked.groups)
    share = checked(lambda: partitions.parse_prevalence(asked.prevalence), Fraction(0))
    use = checked(lambda: _mode(asked.mode, named, grouped), Mode.TYPICAL)
    checked(lambda: _require_most(asked.most), None)
    checked(lambda: environment.form(target).name, "")
    chosen = [checked(lambda form=form: environment.form(form).name, form) for form in named]
    for group in grouped:
        chosen += checked(lambda group=group: environment.group(group).forms, ())
    if not named and not grouped:
        chosen = list(environment.forms)
    match_forms = tuple(dict.fromkeys(form for form in chosen if form != target))
    if not faults and not match_forms:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"The key variables of {quoted([target])} were asked for.",
            "There is no other form to match against.",
            "Name forms or groups besides the target.",
        )
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise InputError(
            faults[0].reason,
            f"The key variables of {quoted([target])} were asked for.",
            f"What was asked has {count_of(len(faults), 'fault')}.",
            problems=[
                Problem(fault.reason, fault.asked.removesuffix("."), fault.found, fault.do)
                for fault in faults
            ],
        )
    wanted = frozenset(match_forms)
    return Question(environment, asked, target, named, grouped, match_forms, wanted, use, share)


def _require_most(most: int) -> None:
    if most < 1:
        asked = f"The option most was given as {most}."
        do = "Give a positive whole number, or leave it out."
        raise InputError(Reason.BAD_OPTION, asked, "That is less than one.", do)


def _mode(asked: Mode | str | None, forms: Sequence[str], groups: Sequence[str]) -> Mode:
    if asked is None:
        if len(groups) > 1:
            return Mode.MULTIPLE
        return Mode.SPECIFIC if len(forms) == 1 and not groups else Mode.TYPICAL
    mode = Mode(asked)
    if mode is Mode.SPECIFIC and (len(forms) != 1 or groups):
        need = "exactly one form and no group"
    elif mode is Mode.MULTIPLE and len(groups) < 2:
        need = "two groups or more"
    else:
        return mode
    found = (
        f"It takes {need}; given were {count_of(len(forms), 'form')} and"
        f" {count_of(len(groups), 'group')}."
    )
    do = "Change the forms and groups to match against, or the mode."
    raise InputError(Reason.BAD_OPTION, f"The mode '{mode.value}' was asked for.", found, do)


Holders = dict[partitions.Partition | partitions.Arbitrary, tuple[str, ...]]
"""Categorizations of all sinks, each with the matched forms that have it."""

Categorizations = Counter[partitions.Partition | partitions.Arbitrary]


def holders_of(environment: Environment, variable: str, wanted: Collection[str]) -> Holders:
    """Return the valid categorizations of a variable, with those of some forms that have them."""
    among = frozenset(wanted)
    holders: Holders = {}
    for item, forms in environment.instances(variable):
        matched = tuple(form for form in forms if form in among)
        if item.partition is not None and matched:
            holders[item.partition] = holders.get(item.partition, ()) + matched
    return holders


def counts_inside(scope: Scope, holders: Holders) -> Categorizations:
    """Return how many forms hold each categorization as it is within a universe."""
    counts: Categorizations = Counter()
    for each, forms in holders.items():
        counts[scope.inside(each)] += len(forms)
    return counts


def n_matched(
    scope: Scope, holders: Holders, categorization: partitions.Partition | partitions.Arbitrary
) -> int:
    """Return how many forms can be matched at a categorization within a universe."""
    return sum(
        len(forms) for finer, forms in holders.items() if scope.is_finer(finer, categorization)
    )


def evidence_at(
    environment: Environment,
    scope: Scope,
    holders: Holders,
    categorization: partitions.Partition | partitions.Arbitrary,
) -> tuple[Evidence, ...]:
    """Return the codes that refine a categorization within a universe, the most frequent first."""
    found = [
        Evidence(environment.code(scope.variable.name, finer), len(forms), forms)
        for finer, forms in holders.items()
        if scope.is_finer(finer, categorization)
    ]
    return tuple(sorted(found, key=lambda item: (-item.n_forms, code_order(item.code))))


@takes(MapOptions)
def map_key_variables(environment: Environment, asked: MapOptions) -> KeyVariableMap:
    """Map the key variables of a target form.

    By default the target is matched against all other forms, and the use follows from what it is
    matched against. Beyond `max_nodes` results are still exact: where the area cannot be known it
    is left out, and where the prevalence asked for cannot be answered the variable has a message
    instead of a result. With `strict=False`, inconsistent categorizations are set aside with a
    warning.

    Examples
    --------
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.codes import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> census = Form("Census", {"Age": ()})
    >>> outcome = map_key_variables(Environment([age], [bank, census]), "Census")
    >>> outcome.variables[0].codes
    ('C3.001',)
    """
    started = time.perf_counter()
    question = pose(environment, asked)
    target, levels, progress = asked.target, asked.levels, asked.progress
    fingerprint = sha256(repr((target, sorted(question.match_forms))).encode())
    wanted = environment.form(target).instances
    outcomes: list[KeyVariable] = []
    for done, variable in enumerate(wanted):

        def tick(*_parts: int | None, done: int = done) -> None:
            if progress is not None:
                progress(done, len(wanted))

        tick()
        holders = holders_of(environment, variable, question.wanted)
        fingerprint.update(_fingerprint(question, variable, holders))
        outcomes.append(_map_variable(question, variable, holders, tick))
    provenance = Provenance(
        method="key variable mapping",
        variant="Smith and Elliot, target constrained"
        + (", within its universe" if asked.within_universe else ""),
        parameters={
            "target": target,
            "mode": question.mode.value,
            "prevalence": str(question.prevalence),
            "strict": str(asked.strict).lower(),
            "levels": "unbounded" if levels is None else str(levels),
            "universe": "of the target" if asked.within_universe else "everybody",
            "match": quoted((*question.groups, *question.forms), most=20) or "all other forms",
        },
        fingerprint=fingerprint.hexdigest()[:16],
        seconds=time.perf_counter() - started,
    )
    return KeyVariableMap(
        target, question.mode, question.match_forms, question.prevalence, asked.strict,
        tuple(sorted(outcomes, key=_usefulness)), tuple(_notes(question, outcomes)), provenance,
        asked.within_universe,
    )  # fmt: skip


def _map_variable(
    question: Question, variable: str, holders: Holders, progress: Progress
) -> KeyVariable:
    environment, asked = question.environment, question.asked
    own = environment.categorization(question.target, variable)
    scope = scope_of(question, variable)
    counts = counts_inside(scope, holders)
    faulty = {
        form: fault
        for form, fault in environment.faulty_instances(variable).items()
        if form in question.wanted
    }
    target = None if own.partition is None else scope.inside(own.partition)
    n_forms, n_having = len(question.match_forms), sum(counts.values())
    needed = partitions.threshold(n_forms, question.prevalence)
    message = ""
    if own.partition is None:
        message = f"the target's own categorization is inconsistent: it {own.fault}"
    elif asked.strict and faulty:
        reasons = "; ".join(f"{quoted([form])} {fault}" for form, fault in faulty.items())
        message = f"inconsistent categorizations: {reasons}"
    answers = None
    over_limit = False
    if target is not None and not message:
        try:
            answers = MaximalHarmonizations(
                target, counts, max_nodes=asked.max_nodes, progress=progress
            )
        except LimitError as error:
            over_limit = True
            message = f"refused. {error.found} Match against fewer forms."
    null = bool(message) or partitions.is_null(n_forms, n_having, question.prevalence)
    unknown = () if answers is None else answers.unknown()
    not_known = (unknown[0], unknown[-1]) if unknown else None
    if not_known is not None and not null and needed in unknown:
        null = over_limit = True
        message = (
            f"refused, because its {len(counts)} categorizations have too many harmonizations for"
            f" a limit of {asked.max_nodes:,}. The finest categorization is known"
            f" {_known_text(not_known)}, but not for {needed}. Raise max_nodes (--max-nodes),"
            " match against fewer forms, or ask for another prevalence."
        )
    curve = None if over_limit or unknown else partitions.SizeCurve(n_forms, ())
    found: tuple[partitions.Partition | partitions.Arbitrary, ...] = ()
    n_categories: float = 0
    may_have_more = False
    if answers is not None:
        any_detail = any_detail_of(answers, counts, asked.levels)
        if not unknown:
            sizes = tuple(answers.sizes())
            if math.inf in sizes:
                sizes = tuple(any_detail if size == math.inf else size for size in sizes)
            curve = partitions.SizeCurve(n_forms, sizes)
        if not null:
            size = answers.size(needed)
            n_categories = any_detail if size == math.inf else size
            found = answers.maximal(needed, most=asked.most + 1)
            may_have_more = len(found) <= asked.most and not answers.is_complete(needed)
    return KeyVariable(
        variable=variable,
        target_code="" if own.partition is None else environment.code(variable, own.partition),
        n_forms=n_forms,
        n_asking=n_having + len(faulty),
        n_having=n_having,
        prevalence=question.prevalence,
        threshold=needed,
        maximal=tuple(
            sorted(
                (explained(environment, scope, node, holders) for node in found[: asked.most]),
                key=lambda item: code_order(item.code),
            )
        ),
        has_more=len(found) > asked.most,
        may_have_more=may_have_more,
        n_categories=n_categories,
        curve=curve,
        not_known=not_known,
        effective=Fraction(0)
        if null or target is None
        else effective_of(target, counts, needed, asked.levels),
        message=message,
        over_limit=over_limit,
        set_aside=faulty,
        having=tuple(chain.from_iterable(holders.values())),
        outside=scope.left_out,
        restricted=_restricted(question, variable, scope),
        answers=answers,
    )


def scope_of(question: Question, variable: str) -> Scope:
    """Return the universe that counts for a variable."""
    within_universe = question.asked.within_universe
    return Scope.of(
        question.environment, question.target, variable, within_universe=within_universe
    )


def _restricted(question: Question, variable: str, scope: Scope) -> tuple[str, ...]:
    left_out = set(scope.left_out)
    return tuple(
        form
        for item, forms in question.environment.instances(variable)
        if item.partition is not None and not left_out.issuperset(item.outside)
        for form in forms
        if form in question.wanted
    )


def _notes(question: Question, outcomes: Iterable[KeyVariable]) -> Iterator[str]:
    asked = [*question.forms]
    asked += [form for group in question.groups for form in question.environment.group(group).forms]
    if question.target in asked:
        yield f"The target {quoted([question.target])} was left out of the forms to match against."
    for outcome in outcomes:
        name = quoted([outcome.variable])
        if outcome.set_aside and not outcome.message:
            yield (
                f"{name}: {count_of(len(outcome.set_aside), 'form')} set aside for"
                f" inconsistent categorizations ({quoted(outcome.set_aside)})."
            )
        if outcome.has_more:
            most = len(outcome.maximal)
            yield f"{name}: more than {most} maximal harmonizations; {most} are listed."
        if outcome.may_have_more:
            yield (
                f"{name}: there may be more maximal harmonizations than the"
                f" {len(outcome.maximal)} listed. Raise max_nodes (--max-nodes) to search on."
            )
        if outcome.not_known is not None and not outcome.message:
            yield (
                f"{name}: the area under its curve is not known, so it is not ranked. There are too"
                f" many harmonizations for a limit of {question.asked.max_nodes:,}; the finest"
                f" categorization is known {_known_text(outcome.not_known)}. Raise max_nodes"
                " (--max-nodes) to search on."
            )
    if question.asked.within_universe:
        yield from _universe_notes([item for item in outcomes if not item.message])


def _universe_notes(outcomes: Sequence[KeyVariable]) -> Iterator[str]:
    left_out = [
        f"{quoted([item.variable])} without {quoted(item.outside)}"
        for item in outcomes
        if item.outside
    ]
    if left_out:
        yield f"Counted among people whom the target asks: {'; '.join(left_out)}."
    some = [
        f"{len(item.restricted)} of {item.n_having} with {quoted([item.variable])}"
        for item in outcomes
        if item.restricted
    ]
    if some:
        yield f"Forms that ask only some of these people: {'; '.join(some)}."


def explained(
    environment: Environment,
    scope: Scope,
    node: partitions.Partition | partitions.Arbitrary,
    holders: Holders,
) -> Maximal:
    """Return a maximal harmonization, given as it is within the universe, with its evidence."""
    variable, whole = scope.variable.name, scope.whole(node)
    evidence = evidence_at(environment, scope, holders, whole)
    return Maximal(environment.code(variable, whole), scope.words(whole), evidence, whole)


def effective_of(
    target: partitions.Partition | partitions.Arbitrary,
    counts: Categorizations,
    needed: int,
    levels: int | None,
) -> Fraction | float:
    """Return the effective categories that at least `needed` single forms reach."""
    steps = effective_steps(target, counts, levels)
    return next((number for last, number in steps if last >= needed), Fraction(0))


def effective_steps(
    target: partitions.Partition | partitions.Arbitrary, counts: Categorizations, levels: int | None
) -> list[tuple[int, Fraction | float]]:
    """Return up to which number of single forms which effective categories are reached."""
    reached: dict[Fraction | float, int] = {}
    for categorization, count in counts.items():
        number = partitions.effective_categories(target, categorization)
        if isinstance(number, partitions.Arbitrary):
            number = math.inf if levels is None else Fraction(levels)
        reached[number] = reached.get(number, 0) + count
    steps: list[tuple[int, Fraction | float]] = []
    total = 0
    for number in sorted(reached, reverse=True):
        total += reached[number]
        steps.append((total, number))
    return steps


def any_detail_of(
    answers: MaximalHarmonizations, counts: Categorizations, levels: int | None
) -> float:
    """Return what arbitrary precision counts as; a curve never rises."""
    return (
        math.inf if levels is None else max(levels, answers.size(counts[partitions.ARBITRARY] + 1))
    )


def _known_text(not_known: tuple[int, int]) -> str:
    first, last = not_known
    return f"for up to {count_of(first - 1, 'form')} and from {last + 1} forms on"


def _usefulness(item: KeyVariable) -> tuple[bool, bool, float, Fraction, float, str]:
    curve = item.curve or partitions.SizeCurve(item.n_forms, ())
    return (
        bool(item.message),
        item.curve is None,
        -float(curve.area),
        -curve.unbounded_up_to,
        # Of equal areas, one category that all forms have tells nobody apart.
        -float(item.effective) if item.maximal else 0.0,
        item.variable,
    )


def _fingerprint(question: Question, variable: str, holders: Holders) -> bytes:
    def labels(categorization: partitions.Partition | partitions.Arbitrary | None) -> bytes:
        return (
            categorization.labels.tobytes()
            if isinstance(categorization, partitions.Partition)
            else b""
        )

    environment = question.environment
    own = environment.categorization(question.target, variable).partition
    seen = sorted((labels(each), len(forms)) for each, forms in holders.items())
    return repr((variable, environment.variable(variable).graph.sinks, labels(own), seen)).encode()


@dataclass(frozen=True, slots=True)
class Level:
    """What is found where `first` to `last` forms must be matched.

    The number of categories is `math.inf` for arbitrary precision, None where it is not known; the
    codes are those of the maximal harmonizations; so many effective categories as many forms reach.
    """

    first: int
    last: int
    n_categories: float | None
    codes: tuple[str, ...]
    effective: Fraction | float
    has_more: bool = False
    may_have_more: bool = False


@dataclass(frozen=True, slots=True)
class VariableLevels:
    """The levels of one variable, what each code in them means, and what was asked for and found."""

    outcome: KeyVariable
    levels: tuple[Level, ...]
    maximal: dict[str, Maximal]


@dataclass(frozen=True, repr=False)
class MapLevels(Result):
    """An analysis at every prevalence; `outcome` is the one that was asked for."""

    outcome: KeyVariableMap
    variables: tuple[VariableLevels, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        levels = sum(len(item.levels) for item in self.variables)
        return {**self.outcome.summary(), "levels": levels}

    def to_arrow(self) -> pa.Table:
        """Return one row per variable and level."""
        rows = [
            {
                "variable": item.outcome.variable,
                "from_forms": level.first,
                "to_forms": level.last,
                "categories": None if level.n_categories is None else float(level.n_categories),
                "codes": ", ".join(level.codes),
                "effective": float(level.effective),
            }
            for item in self.variables
            for level in item.levels
        ]
        schema = pa.schema(
            [
                ("variable", pa.string()), ("from_forms", pa.int32()), ("to_forms", pa.int32()),
                ("categories", pa.float64()), ("codes", pa.string()), ("effective", pa.float64()),
            ]
        )  # fmt: skip
        return pa.Table.from_pylist(rows, schema=schema)


def map_levels(environment: Environment, asked: MapOptions) -> MapLevels:
    """Map the key variables of a target at every prevalence.

    Examples
    --------
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.codes import Variable
    >>> fine, coarse = ("0-15", "16-64", "65+"), ("0-15", "16+")
    >>> age = Variable.of_bands("Age", [*fine, "16+"])
    >>> forms = [
    ...     Form("Bank", {"Age": fine}),
    ...     Form("Shop", {"Age": coarse}),
    ...     Form("Census", {"Age": fine}),
    ... ]
    >>> (found,) = map_levels(Environment([age], forms), MapOptions("Census")).variables
    >>> [(level.first, level.last, level.codes) for level in found.levels]
    [(1, 1, ('C3.001',)), (2, 2, ('C2.001',))]
    """
    outcome = map_key_variables(environment, asked=asked)
    question = pose(environment, asked)
    return MapLevels(
        outcome,
        tuple(_of_variable(question, item) for item in outcome.variables),
        outcome.provenance,
    )


def _of_variable(question: Question, item: KeyVariable) -> VariableLevels:
    answers = item.answers
    if answers is None:
        return VariableLevels(item, (), {})
    holders = holders_of(question.environment, item.variable, question.wanted)
    scope = scope_of(question, item.variable)
    maximal: dict[partitions.Partition | partitions.Arbitrary, Maximal] = {}

    def meaning(node: partitions.Partition | partitions.Arbitrary) -> Maximal:
        if node not in maximal:
            maximal[node] = explained(question.environment, scope, node, holders)
        return maximal[node]

    levels = tuple(_levels(question.asked, answers, counts_inside(scope, holders), meaning))
    return VariableLevels(item, levels, {found.code: found for found in maximal.values()})


def _levels(
    asked: MapOptions,
    answers: MaximalHarmonizations,
    counts: Categorizations,
    meaning: Callable[[partitions.Partition | partitions.Arbitrary], Maximal],
) -> Iterator[Level]:
    any_detail = any_detail_of(answers, counts, asked.levels)
    steps = effective_steps(answers.target, counts, asked.levels)
    first = 1
    while first <= answers.n_forms:
        effective_end, effective = next(step for step in steps if step[0] >= first)
        if not answers.is_known(first):
            last = first
            while last < effective_end and not answers.is_known(last + 1):
                last += 1
            yield Level(first, last, None, (), effective)
        else:
            size = answers.size(first)
            found = answers.maximal(first, most=asked.most + 1)
            told = [meaning(node) for node in found]
            last = min(effective_end, *(each.n_forms for each in told))
            while last > first and answers.is_complete(last) != answers.is_complete(first):
                last -= 1
            yield Level(
                first,
                last,
                any_detail if size == math.inf else size,
                tuple(sorted((each.code for each in told[: asked.most]), key=code_order)),
                effective,
                has_more=len(found) > asked.most,
                may_have_more=len(found) <= asked.most and not answers.is_complete(first),
            )
        first = last + 1
