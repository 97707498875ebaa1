"""Key variable mapping: at which detail could a target be matched against the forms out there?

For every variable of a target form, the finest categorization at which the target can be matched
against enough of the other forms, as Smith and Elliot define it in sections 2.1 and 5 (with the
corrections that the target's own categorization takes part and that the target never matches
itself), and how that changes with the prevalence asked for. Section 5.2 names three uses:

- specific: against one data set that the intruder has;
- typical: against a group of data sets, any share of which the intruder might have;
- multiple: against data sets drawn from several groups.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256

from gamekeeper.algorithms.harmonization import MAX_NODES
from gamekeeper.algorithms.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.partitions import (
    Arbitrary,
    Partition,
    effective_categories,
    is_finer,
)
from gamekeeper.algorithms.prevalence import SizeCurve, is_null, parse_prevalence, threshold
from gamekeeper.errors import InputError, Reason, count_of, did_you_mean, quoted
from gamekeeper.mapping.environment import Environment
from gamekeeper.mapping.key_variables import Evidence, KeyVariable, KeyVariableMap, Maximal, Mode
from gamekeeper.results import Progress, Provenance

__all__ = ["map_key_variables"]

Categorizations = Counter[Partition | Arbitrary]


def map_key_variables(
    environment: Environment,
    target: str,
    *,
    forms: Iterable[str] = (),
    groups: Iterable[str] = (),
    mode: Mode | str | None = None,
    prevalence: str | float | Fraction = 0,
    strict: bool = True,
    levels: int | None = None,
    most: int = 20,
    max_nodes: int = MAX_NODES,
    progress: Progress | None = None,
) -> KeyVariableMap:
    """Map the key variables of a target form.

    Parameters
    ----------
    environment
        The data environment.
    target
        The form whose data are to be released.
    forms, groups
        The forms and groups of forms to match against; by default all others.
    mode
        The use; by default it follows from what is matched against.
    prevalence
        The share of those forms that must be matched, from 0 (one form) to 1 (all of them).
    strict
        Whether an inconsistent categorization of a variable stops its result (True), or is set
        aside with a warning (False).
    levels
        What arbitrary precision counts as; by default it is unbounded.
    most
        How many maximal harmonizations of a variable are listed at most; there can be
        exponentially many.
    max_nodes
        Bound on the harmonizations searched for one variable.
    progress
        Told how many variables are done.

    Examples
    --------
    >>> from gamekeeper.mapping.environment import Form
    >>> from gamekeeper.mapping.variable import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> census = Form("Census", {"Age": ()})
    >>> outcome = map_key_variables(Environment([age], [bank, census]), "Census")
    >>> outcome.variables[0].codes
    ('C3.001',)
    """
    started = time.perf_counter()
    asked_forms, asked_groups = tuple(forms), tuple(groups)
    share = parse_prevalence(prevalence)
    _require_levels(levels)
    use = _mode(mode, asked_forms, asked_groups)
    match_forms, notes = _match_set(environment, target, asked_forms, asked_groups)
    outcomes: list[KeyVariable] = []
    fingerprint = sha256(repr((target, sorted(match_forms))).encode())
    wanted = environment.form(target).instances
    for done, variable in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted))
        counts, faulty = _counted(environment, variable, match_forms)
        outcome = _map_variable(
            environment, target, variable, counts, faulty, len(match_forms), share, strict, levels,
            most, max_nodes,
        )  # fmt: skip
        fingerprint.update(_fingerprint(environment, target, variable, counts))
        outcomes.append(outcome)
        if outcome.set_aside and not outcome.message:
            notes.append(
                f"'{variable}': {count_of(len(outcome.set_aside), 'form')} set aside for"
                f" inconsistent categorizations ({quoted(outcome.set_aside)})."
            )
        if outcome.has_more:
            notes.append(
                f"'{variable}': more than {most} maximal harmonizations; {most} are listed."
            )
    parameters = {
        "target": target,
        "mode": use.value,
        "prevalence": str(share),
        "strict": str(strict).lower(),
        "levels": "unbounded" if levels is None else str(levels),
        "match": quoted((*asked_groups, *asked_forms), most=20) or "all other forms",
    }
    provenance = Provenance(
        method="key variable mapping",
        variant="Smith and Elliot, target constrained",
        parameters=parameters,
        fingerprint=fingerprint.hexdigest()[:16],
        seconds=time.perf_counter() - started,
    )
    ranked = tuple(sorted(outcomes, key=_usefulness))
    return KeyVariableMap(
        target, use, tuple(match_forms), share, strict, ranked, tuple(notes), provenance
    )


def _map_variable(
    environment: Environment,
    target: str,
    variable: str,
    counts: Categorizations,
    faulty: Mapping[str, str],
    n_forms: int,
    share: Fraction,
    strict: bool,
    levels: int | None,
    most: int,
    max_nodes: int,
) -> KeyVariable:
    own = environment.categorization(target, variable)
    n_having = sum(counts.values())
    needed = threshold(n_forms, share)
    message = ""
    if own.partition is None:
        message = f"the target's own categorization is inconsistent: it {own.fault}"
    elif strict and faulty:
        reasons = "; ".join(f"'{form}' {fault}" for form, fault in list(faulty.items())[:5])
        more = f"; and {count_of(len(faulty) - 5, 'more form')}" if len(faulty) > 5 else ""
        message = f"inconsistent categorizations: {reasons}{more}"
    if message or own.partition is None:
        code = "" if own.partition is None else environment.code(variable, own.partition)
        return KeyVariable(
            variable, code, n_forms, n_having, share, needed, (), 0,
            SizeCurve(max(n_forms, 1), ()), Fraction(0), message=message, set_aside=faulty,
        )  # fmt: skip
    answers = MaximalHarmonizations(own.partition, counts, max_nodes=max_nodes)
    sizes = tuple(_counted_as(size, levels) for size in answers.sizes())
    null = is_null(n_forms, n_having, share)
    found = () if null else answers.maximal(needed, most=most + 1)
    return KeyVariable(
        variable=variable,
        target_code=environment.code(variable, own.partition),
        n_forms=n_forms,
        n_having=n_having,
        prevalence=share,
        threshold=needed,
        maximal=tuple(_explained(environment, variable, node, counts) for node in found[:most]),
        has_more=len(found) > most,
        n_categories=0 if null else sizes[needed - 1],
        curve=SizeCurve(max(n_forms, 1), sizes),
        effective=Fraction(0) if null else _effective(own.partition, counts, needed, levels),
        set_aside=faulty,
    )


def _explained(
    environment: Environment, variable: str, node: Partition | Arbitrary, counts: Categorizations
) -> Maximal:
    evidence = sorted(
        (
            Evidence(environment.code(variable, categorization), count)
            for categorization, count in counts.items()
            if is_finer(categorization, node)
        ),
        key=lambda item: (-item.n_forms, item.code),
    )
    words = environment.variable(variable).words(node)
    return Maximal(environment.code(variable, node), words, tuple(evidence), node)


def _effective(
    target: Partition | Arbitrary, counts: Categorizations, needed: int, levels: int | None
) -> Fraction | float:
    """Return the effective categories that at least `needed` single forms reach."""
    reached: list[tuple[Fraction | float, int]] = []
    for categorization, count in counts.items():
        number = effective_categories(target, categorization)
        if isinstance(number, Arbitrary):
            number = math.inf if levels is None else Fraction(levels)
        reached.append((number, count))
    total = 0
    for number, count in sorted(reached, key=lambda item: -item[0]):
        total += count
        if total >= needed:
            return number
    return Fraction(0)


def _counted(
    environment: Environment, variable: str, match_forms: Sequence[str]
) -> tuple[Categorizations, dict[str, str]]:
    """Count the valid categorizations among the matched forms, and collect the faulty ones."""
    wanted = set(match_forms)
    counts: Categorizations = Counter()
    faulty: dict[str, str] = {}
    for categorization, having in environment.instances(variable):
        matched = [form for form in having if form in wanted]
        if matched and categorization.partition is not None:
            counts[categorization.partition] += len(matched)
        else:
            faulty.update(dict.fromkeys(matched, categorization.fault))
    return counts, faulty


def _match_set(
    environment: Environment, target: str, forms: Sequence[str], groups: Sequence[str]
) -> tuple[list[str], list[str]]:
    environment.form(target)
    if not forms and not groups:
        chosen = list(environment.forms)
    else:
        named = [environment.form(form).name for form in forms]
        named += [form for group in groups for form in environment.group(group).forms]
        chosen = list(dict.fromkeys(named))
    notes: list[str] = []
    if target in chosen and (forms or groups):
        notes.append(f"The target '{target}' was left out of the forms to match against.")
    chosen = [form for form in chosen if form != target]
    if not chosen:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"The key variables of '{target}' were asked for.",
            "There is no other form to match against.",
            "Name forms or groups besides the target.",
        )
    return chosen, notes


def _mode(asked: Mode | str | None, forms: Sequence[str], groups: Sequence[str]) -> Mode:
    if asked is None:
        if len(groups) > 1:
            return Mode.MULTIPLE
        return Mode.SPECIFIC if len(forms) == 1 and not groups else Mode.TYPICAL
    if asked not in list(Mode):
        raise InputError(
            Reason.BAD_OPTION,
            f"The mode {quoted([asked])} was asked for.",
            "There is no such mode.",
            did_you_mean(asked, list(Mode)),
        )
    mode = Mode(asked)
    if mode is Mode.SPECIFIC and (len(forms) != 1 or groups):
        need = "exactly one form and no group"
    elif mode is Mode.MULTIPLE and len(groups) < 2:
        need = "two groups or more"
    else:
        return mode
    raise InputError(
        Reason.BAD_OPTION,
        f"The mode '{mode.value}' was asked for.",
        f"It takes {need}; given were {count_of(len(forms), 'form')} and"
        f" {count_of(len(groups), 'group')}.",
        "Change the forms and groups to match against, or the mode.",
    )


def _require_levels(levels: int | None) -> None:
    if levels is not None and levels < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"Arbitrary precision was to count as {levels} levels.",
            "That is less than one.",
            "Give a positive whole number, or leave it out for unbounded.",
        )


def _counted_as(size: float, levels: int | None) -> float:
    return levels if levels is not None and size == math.inf else size


def _usefulness(item: KeyVariable) -> tuple[bool, float, Fraction, str]:
    unbounded = -item.curve.unbounded_up_to
    return (bool(item.message), -float(item.area), unbounded, item.variable)


def _fingerprint(
    environment: Environment, target: str, variable: str, counts: Categorizations
) -> bytes:
    def labels(categorization: Partition | Arbitrary | None) -> bytes:
        return categorization.labels.tobytes() if isinstance(categorization, Partition) else b""

    own = environment.categorization(target, variable).partition
    seen = sorted((labels(categorization), count) for categorization, count in counts.items())
    return repr((variable, environment.variable(variable).graph.sinks, labels(own), seen)).encode()
