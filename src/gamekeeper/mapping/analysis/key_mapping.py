"""Key variable mapping: at which detail could a target be matched against the forms out there?

For every variable of a target form, the finest categorization at which the target can be matched
against enough of the other forms, as Smith and Elliot define it in sections 2.1 and 5 (with the
corrections that the target's own categorization takes part and that the target never matches
itself), and how that changes with the prevalence asked for. Section 5.2 names three uses:

- specific: against one data set that the intruder has;
- typical: against a group of data sets, any share of which the intruder might have;
- multiple: against data sets drawn from several groups.

What counts is what can be told apart within the universe of the target (`scope`). Smith and Elliot
count everybody, also those whom the target does not ask; `within_universe=False` does so too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import chain

from gamekeeper.algorithms.categories.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Arbitrary,
    Partition,
    effective_categories,
)
from gamekeeper.algorithms.categories.prevalence import SizeCurve, is_null, threshold
from gamekeeper.errors import LimitError
from gamekeeper.mapping.analysis.holders import (
    Categorizations,
    Holders,
    counts_inside,
    evidence_at,
    holders_of,
)
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap, Maximal
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.mapping.analysis.question import Question, pose
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scope import Scope
from gamekeeper.mapping.variables.codes import code_order
from gamekeeper.options import takes
from gamekeeper.results import Progress, Provenance
from gamekeeper.wording import count_of, quoted


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
    >>> from gamekeeper.mapping.variables.variable import Variable
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
        target,
        question.mode,
        question.match_forms,
        question.prevalence,
        asked.strict,
        tuple(sorted(outcomes, key=_usefulness)),
        tuple(_notes(question, outcomes)),
        provenance,
        asked.within_universe,
    )


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
    needed = threshold(n_forms, question.prevalence)
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
    null = bool(message) or is_null(n_forms, n_having, question.prevalence)
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
    curve = None if over_limit or unknown else SizeCurve(n_forms, ())
    found: tuple[Partition | Arbitrary, ...] = ()
    n_categories: float = 0
    may_have_more = False
    if answers is not None:
        any_detail = any_detail_of(answers, counts, asked.levels)
        if not unknown:
            sizes = tuple(answers.sizes())
            if math.inf in sizes:
                sizes = tuple(any_detail if size == math.inf else size for size in sizes)
            curve = SizeCurve(n_forms, sizes)
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
    """Return the matched forms that ask only some of the people of the target."""
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
    environment: Environment, scope: Scope, node: Partition | Arbitrary, holders: Holders
) -> Maximal:
    """Return a maximal harmonization, given as it is within the universe, with its evidence."""
    variable, whole = scope.variable.name, scope.whole(node)
    evidence = evidence_at(environment, scope, holders, whole)
    return Maximal(environment.code(variable, whole), scope.words(whole), evidence, whole)


def effective_of(
    target: Partition | Arbitrary, counts: Categorizations, needed: int, levels: int | None
) -> Fraction | float:
    """Return the effective categories that at least `needed` single forms reach."""
    steps = effective_steps(target, counts, levels)
    return next((number for last, number in steps if last >= needed), Fraction(0))


def effective_steps(
    target: Partition | Arbitrary, counts: Categorizations, levels: int | None
) -> list[tuple[int, Fraction | float]]:
    """Return up to which number of single forms which effective categories are reached."""
    reached: dict[Fraction | float, int] = {}
    for categorization, count in counts.items():
        number = effective_categories(target, categorization)
        if isinstance(number, Arbitrary):
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
    return math.inf if levels is None else max(levels, answers.size(counts[ARBITRARY] + 1))


def _known_text(not_known: tuple[int, int]) -> str:
    first, last = not_known
    return f"for up to {count_of(first - 1, 'form')} and from {last + 1} forms on"


def _usefulness(item: KeyVariable) -> tuple[bool, bool, float, Fraction, float, str]:
    curve = item.curve or SizeCurve(item.n_forms, ())
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
    def labels(categorization: Partition | Arbitrary | None) -> bytes:
        return categorization.labels.tobytes() if isinstance(categorization, Partition) else b""

    environment = question.environment
    own = environment.categorization(question.target, variable).partition
    seen = sorted((labels(each), len(forms)) for each, forms in holders.items())
    return repr((variable, environment.variable(variable).graph.sinks, labels(own), seen)).encode()
