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
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from gamekeeper.algorithms.harmonization import MAX_NODES
from gamekeeper.algorithms.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.partitions import (
    Arbitrary,
    Partition,
    effective_categories,
    is_finer,
)
from gamekeeper.algorithms.prevalence import SizeCurve, is_null, parse_prevalence, threshold
from gamekeeper.errors import InputError, Reason, count_of, quoted
from gamekeeper.mapping.environment import Environment
from gamekeeper.results import Progress, Provenance, Result

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

__all__ = [
    "Evidence",
    "KeyVariable",
    "KeyVariableMap",
    "Maximal",
    "Mode",
    "SizeCurves",
    "map_key_variables",
]

_SHOWN_MAXIMAL = 20
Categorizations = Counter[Partition | Arbitrary]


class Mode(StrEnum):
    """The three uses of key variable mapping."""

    SPECIFIC = "specific"
    TYPICAL = "typical"
    MULTIPLE = "multiple"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A code that refines a result, and how many of the matched forms have it."""

    code: str
    n_forms: int


@dataclass(frozen=True, slots=True)
class Maximal:
    """One maximal harmonization: its code, its categories in words, and what lies under it."""

    code: str
    categories: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    partition: Partition | Arbitrary

    @property
    def n_forms(self) -> int:
        """The number of forms that can be matched at this categorization."""
        return sum(item.n_forms for item in self.evidence)


@dataclass(frozen=True, slots=True)
class KeyVariable:
    """The outcome for one variable of the target.

    Attributes
    ----------
    target_code
        The code of the target's own categorization.
    n_forms, n_having
        The forms matched against, and those that have the variable.
    prevalence, threshold
        The share asked for, and how many forms must be matched for it.
    maximal
        The maximal harmonizations; empty where too few forms have the variable.
    n_categories
        Their number of categories: 0 where there is none, `math.inf` for arbitrary precision.
    curve
        Code size against prevalence.
    effective
        At least `threshold` forms match the target, each by itself, with that many effective
        categories or more: what harmonization hides where bands overlap.
    message
        Why there is no result, where categorizations are inconsistent.
    set_aside
        Forms whose categorization was left out, with the reasons.
    """

    variable: str
    target_code: str
    n_forms: int
    n_having: int
    prevalence: Fraction
    threshold: int
    maximal: tuple[Maximal, ...]
    n_categories: float
    curve: SizeCurve
    effective: Fraction | float
    message: str = ""
    set_aside: Mapping[str, str] | None = None

    @property
    def area(self) -> Fraction | float:
        """The area under the curve of code size against prevalence."""
        return self.curve.area

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the maximal harmonizations."""
        return tuple(item.code for item in self.maximal)

    @property
    def why(self) -> str:
        """The reason for the result in words."""
        if self.message:
            return self.message
        if not self.maximal:
            if not self.n_having:
                return f"none of {count_of(self.n_forms, 'form')} has it"
            share = f"{self.n_having} of {self.n_forms} forms have it"
            return f"{share}: fewer than the prevalence of {self.prevalence} asks for"
        first = self.maximal[0]
        parts = ", ".join(f"{item.n_forms} at {item.code}" for item in first.evidence)
        return f"{first.n_forms} of {self.n_forms} forms can be matched at {first.code} ({parts})"


@dataclass(frozen=True, repr=False)
class KeyVariableMap(Result):
    """The outcome of an analysis; `variables` are ranked by area, the most useful first."""

    target: str
    mode: Mode
    match_forms: tuple[str, ...]
    prevalence: Fraction
    strict: bool
    variables: tuple[KeyVariable, ...]
    notes: tuple[str, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "target": self.target,
            "mode": self.mode.value,
            "match_forms": len(self.match_forms),
            "prevalence": str(self.prevalence),
            "variables": len(self.variables),
            "matchable": sum(bool(variable.maximal) for variable in self.variables),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per variable of the target.

        `area` and `effective` are floats; the columns named `exact` have them as fractions.
        """
        import pyarrow as pa

        rows = [
            {
                "rank": rank,
                "variable": item.variable,
                "target_code": item.target_code,
                "forms_having": item.n_having,
                "match_forms": item.n_forms,
                "threshold": item.threshold,
                "code": item.codes[0] if item.codes else None,
                "other_codes": ", ".join(item.codes[1:]),
                "categories": float(item.n_categories) if item.maximal else None,
                "in_words": "; ".join(item.maximal[0].categories) if item.maximal else "",
                "effective": None if item.message else float(item.effective),
                "effective_exact": "" if item.message else str(item.effective),
                "area": None if item.message else float(item.area),
                "area_exact": "" if item.message else str(item.area),
                "why": item.why,
            }
            for rank, item in enumerate(self.variables, start=1)
        ]
        schema = pa.schema(
            [
                ("rank", pa.int32()),
                ("variable", pa.string()),
                ("target_code", pa.string()),
                ("forms_having", pa.int32()),
                ("match_forms", pa.int32()),
                ("threshold", pa.int32()),
                ("code", pa.string()),
                ("other_codes", pa.string()),
                ("categories", pa.float64()),
                ("in_words", pa.string()),
                ("effective", pa.float64()),
                ("effective_exact", pa.string()),
                ("area", pa.float64()),
                ("area_exact", pa.string()),
                ("why", pa.string()),
            ]
        )
        return pa.Table.from_pylist(rows, schema=schema)

    def curves(self) -> SizeCurves:
        """Return code size against prevalence for every variable, as one table of steps."""
        return SizeCurves(
            self.target,
            {item.variable: item.curve for item in self.variables if not item.message},
            self.provenance,
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot code size against prevalence; needs no display."""
        from gamekeeper.mapping.plots import plot_curves

        return plot_curves(self, ax=ax)


@dataclass(frozen=True, repr=False)
class SizeCurves(Result):
    """Code size against prevalence, for every variable and all prevalences at once."""

    target: str
    curves: Mapping[str, SizeCurve]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        steps = sum(len(curve.steps) for curve in self.curves.values())
        return {"target": self.target, "variables": len(self.curves), "steps": steps}

    def to_arrow(self) -> pa.Table:
        """Return one row per step: from a prevalence up to, but without, another."""
        import pyarrow as pa

        rows = [
            {
                "variable": variable,
                "from_prevalence": str(start),
                "to_prevalence": str(stop),
                "from": float(start),
                "to": float(stop),
                "categories": float(size),
            }
            for variable, curve in self.curves.items()
            for start, stop, size in curve.steps
        ]
        schema = pa.schema(
            [
                ("variable", pa.string()),
                ("from_prevalence", pa.string()),
                ("to_prevalence", pa.string()),
                ("from", pa.float64()),
                ("to", pa.float64()),
                ("categories", pa.float64()),
            ]
        )
        return pa.Table.from_pylist(rows, schema=schema)


def map_key_variables(
    environment: Environment,
    target: str,
    *,
    forms: Iterable[str] = (),
    groups: Iterable[str] = (),
    mode: Mode | None = None,
    prevalence: str | float | Fraction = 0,
    strict: bool = True,
    levels: int | None = None,
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
    mode = _mode(mode, asked_forms, asked_groups)
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
            max_nodes,
        )  # fmt: skip
        fingerprint.update(_fingerprint(environment, target, variable, counts))
        outcomes.append(outcome)
        if outcome.set_aside and not outcome.message:
            notes.append(
                f"'{variable}': {count_of(len(outcome.set_aside), 'form')} set aside for"
                f" inconsistent categorizations ({quoted(outcome.set_aside)})."
            )
    parameters = {
        "target": target,
        "mode": mode.value,
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
        target, mode, tuple(match_forms), share, strict, ranked, tuple(notes), provenance
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
            SizeCurve(max(n_forms, 1), ()), Fraction(0), message, faulty,
        )  # fmt: skip
    answers = MaximalHarmonizations(own.partition, counts, max_nodes=max_nodes)
    sizes = tuple(_counted_as(size, levels) for size in answers.sizes())
    null = is_null(n_forms, n_having, share)
    found = () if null else answers.maximal(needed, most=_SHOWN_MAXIMAL)
    return KeyVariable(
        variable=variable,
        target_code=environment.code(variable, own.partition),
        n_forms=n_forms,
        n_having=n_having,
        prevalence=share,
        threshold=needed,
        maximal=tuple(_explained(environment, variable, node, counts) for node in found),
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


def _mode(mode: Mode | None, forms: Sequence[str], groups: Sequence[str]) -> Mode:
    if mode is None:
        if len(groups) > 1:
            return Mode.MULTIPLE
        return Mode.SPECIFIC if len(forms) == 1 and not groups else Mode.TYPICAL
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
