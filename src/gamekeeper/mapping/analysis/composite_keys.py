"""Composite keys: on which variables together, and how finely, could the same forms be matched?

The analysis of single variables says for each how finely enough forms can be matched; they may be
different forms for every variable. Here the forms are the same: a composite key is a set of
variables that some forms all have, each at the harmonization of the target's categorization with
those of these forms. Its size is the number of combinations of categories that are possible,
without those that were declared impossible. For every number of forms there is a largest key.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any

from gamekeeper.algorithms.categories import maximal_harmonization, partitions
from gamekeeper.arrow import pa
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import Scope
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.prompt_syntax import MAX_KEYS
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, number_text, quoted


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A variable of a composite key: the code to match on, its categories within the universe."""

    variable: str
    code: str
    n_categories: float


@dataclass(frozen=True, slots=True)
class CompositeKey:
    """A composite key, and the names of the forms that hold all of it.

    Its size is the possible combinations of its categories; `math.inf` with arbitrary precision.
    """

    parts: tuple[KeyPart, ...]
    size: float
    forms: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class CompositeKeys(Result):
    """The largest composite keys, by the number of forms that hold them together.

    Each key is a largest one for all numbers of forms above that of the key before it; the search may
    end at a limit, and they are `known_up_to` a number of forms. `n_holding` forms have any of the
    variables, or all of those asked for.
    """

    target: str
    n_forms: int
    n_holding: int
    keys: tuple[CompositeKey, ...]
    known_up_to: int
    provenance: Provenance

    @property
    def is_complete(self) -> bool:
        """Whether the search came to its end."""
        return self.known_up_to >= self.n_holding

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in words."""
        if not self.keys:
            return (f"No form of {self.n_forms:,} holds a composite key.",)
        first = self.keys[0]
        holds = "holds" if len(first.forms) == 1 else "hold"
        largest = (
            f"The largest composite key has {count_of(len(first.parts), 'variable')} and"
            f" {_size_text(first.size)}; {count_of(len(first.forms), 'form')} of {self.n_forms:,}"
            f" {holds} it ({quoted(first.forms)})."
        )
        told = [largest]
        if not self.is_complete:
            told.append(
                f"The search ended at its limit: for more than {self.known_up_to:,} forms the"
                " largest key is not known."
            )
        return tuple(told)

    @property
    def curve(self) -> partitions.SizeCurve:
        """The size of the largest key against joint prevalence, as far as it is known."""
        held = [0, *(min(len(key.forms), self.known_up_to) for key in self.keys)]
        steps = zip(self.keys, pairwise(held), strict=True)
        sizes = [key.size for key, (before, after) in steps for _ in range(before, after)]
        return partitions.SizeCurve(self.n_forms, tuple(sizes))

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "target": self.target,
            "match_forms": self.n_forms,
            "forms_holding": self.n_holding,
            "keys": len(self.keys),
            "known_up_to": self.known_up_to,
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per key, the fewest forms first."""
        rows = [
            {
                "forms_at_least": len(key.forms),
                "prevalence": len(key.forms) / self.n_forms,
                "variables": len(key.parts),
                "combinations": float(key.size),
                "key": ", ".join(f"{part.variable} {part.code}" for part in key.parts),
                "forms": "; ".join(key.forms),
            }
            for key in self.keys
        ]
        schema = pa.schema(
            [
                ("forms_at_least", pa.int32()),
                ("prevalence", pa.float64()),
                ("variables", pa.int32()),
                ("combinations", pa.float64()),
                ("key", pa.string()),
                ("forms", pa.string()),
            ]
        )
        return pa.Table.from_pylist(rows, schema=schema)


@dataclass(frozen=True, slots=True)
class WholeKey:
    """The whole key of a scenario: who holds all of it, and how that changes with the forms.

    `forms` hold all its variables at the detail of the scenario; `curve` has the largest keys of just
    its variables, by the number of forms that hold them together.
    """

    size: float
    forms: tuple[str, ...]
    curve: CompositeKeys

    @property
    def sentence(self) -> str:
        """Who holds the key, in words."""
        n_forms = self.curve.n_forms
        holds = "holds" if len(self.forms) == 1 else "hold"
        named = f": {quoted(self.forms, most=20)}" if self.forms else ""
        return (
            f"{len(self.forms):,} of {n_forms:,} forms {holds} all its variables at this detail"
            f" ({_size_text(self.size)}){named}."
        )


def find_composite_keys(
    outcome: KeyVariableMap, environment: Environment, *, most: int = MAX_KEYS
) -> CompositeKeys:
    """Find the largest composite keys of a target, by the number of forms that hold them.

    Target, forms and universe are those of an analysis of single variables in the same
    environment. At most so many keys are looked at; beyond them the rest is not known, and the
    result says so.

    Examples
    --------
    >>> from gamekeeper.mapping.analysis.key_mapping import map_key_variables
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.codes import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bands = {"Age": ("0-15", "16-64", "65+")}
    >>> forms = [Form("Bank", bands), Form("Shop", bands), Form("Census", bands)]
    >>> environment = Environment([age], forms)
    >>> keys = find_composite_keys(map_key_variables(environment, "Census"), environment)
    >>> [(key.size, key.forms) for key in keys.keys]
    [(3, ('Bank', 'Shop'))]
    """
    variables = [item.variable for item in outcome.variables if item.having]
    finder = _Finder(
        environment, outcome.target, variables, within_universe=outcome.within_universe
    )
    return finder.largest(outcome.match_forms, most, needs_all=False)


def find_whole_key(
    scenario: Scenario, environment: Environment, *, most: int = MAX_KEYS
) -> WholeKey:
    """Tell which forms hold the whole key of a scenario, and how large it is for how many."""
    variables = [key.variable for key in scenario.keys]
    finder = _Finder(
        environment, scenario.target, variables, within_universe=scenario.within_universe
    )
    forms = [form for form in scenario.match_forms if form in environment.forms]
    meanings = [environment.register(key.variable).meaning(key.code) for key in scenario.keys]
    wanted = tuple(
        scope.inside(meaning) for scope, meaning in zip(finder.scopes, meanings, strict=True)
    )
    holding = tuple(form for form in forms if finder.holds(form, wanted))
    curve = finder.largest(forms, most, needs_all=True)
    return WholeKey(_number(finder.size(wanted)), holding, curve)


class _Finder:
    """The rows of forms over some variables of a target."""

    def __init__(
        self,
        environment: Environment,
        target: str,
        variables: Sequence[str],
        *,
        within_universe: bool,
    ) -> None:
        self._environment = environment
        self._target = target
        self._variables = list(variables)
        self.scopes = [
            Scope.of(environment, target, name, within_universe=within_universe)
            for name in variables
        ]
        self._inside: dict[
            tuple[str, tuple[str, ...]], partitions.Partition | partitions.Arbitrary | None
        ] = {}
        self._boxes = _impossible(environment, self._variables, self.scopes)

    def row(self, form: str) -> maximal_harmonization.Row:
        instances = self._environment.form(form).instances
        return tuple(
            None if scope.variable.name not in instances else self._cell(form, scope)
            for scope in self.scopes
        )

    def holds(self, form: str, wanted: maximal_harmonization.Row) -> bool:
        """Tell whether a form has all variables at some detail or finer."""
        return all(
            cell is not None and coarse is not None and partitions.is_finer(cell, coarse)
            for cell, coarse in zip(self.row(form), wanted, strict=True)
        )

    def size(self, row: maximal_harmonization.Row) -> maximal_harmonization.Size:
        unbounded = sum(isinstance(cell, partitions.Arbitrary) for cell in row)
        sizes = [cell.n_blocks if isinstance(cell, partitions.Partition) else 1 for cell in row]
        boxes = [box for rule in self._boxes if (box := _box(rule, row)) is not None]
        return unbounded, maximal_harmonization.possible_combinations(sizes, boxes)

    def largest(self, forms: Sequence[str], most: int, *, needs_all: bool) -> CompositeKeys:
        started = time.perf_counter()
        rows = {form: self.row(form) for form in forms}
        if needs_all:
            rows = {form: row for form, row in rows.items() if None not in row}
        else:
            rows = {form: row for form, row in rows.items() if any(c is not None for c in row)}
        found, known = maximal_harmonization.largest_keys(
            self.row(self._target), rows, size=self.size, most=most
        )
        fingerprint = sha256(repr((self._target, self._variables, sorted(rows))).encode())
        return CompositeKeys(
            self._target,
            len(forms),
            len(rows),
            tuple(self._told(key) for key in found),
            known,
            Provenance(
                method="composite keys",
                parameters={"target": self._target, "keys looked at, at most": str(most)},
                fingerprint=fingerprint.hexdigest()[:16],
                seconds=time.perf_counter() - started,
            ),
        )

    def _cell(self, form: str, scope: Scope) -> partitions.Partition | partitions.Arbitrary | None:
        name = scope.variable.name
        key = name, self._environment.form(form).instances[name]
        if key not in self._inside:
            partition = self._environment.categorization(form, name).partition
            self._inside[key] = None if partition is None else scope.inside(partition)
        return self._inside[key]

    def _told(self, key: maximal_harmonization.JointKey) -> CompositeKey:
        parts = tuple(
            KeyPart(
                scope.variable.name,
                self._environment.code(scope.variable.name, scope.whole(cell)),
                math.inf if isinstance(cell, partitions.Arbitrary) else cell.n_blocks,
            )
            for scope, cell in zip(self.scopes, key.row, strict=True)
            if cell is not None
        )
        return CompositeKey(parts, _number(key.size), key.forms)


_Rule = dict[int, frozenset[int]]
"""An impossible combination: per variable, by its place, the sinks within the universe."""


def _impossible(
    environment: Environment, variables: Sequence[str], scopes: Sequence[Scope]
) -> list[_Rule]:
    places: Mapping[str, int] = {name: place for place, name in enumerate(variables)}
    rules: list[_Rule] = []
    for item in environment.rules.impossible:
        if not item.combination.keys() <= places.keys():
            continue
        rule: _Rule = {}
        for name, categories in item.combination.items():
            scope = scopes[places[name]]
            graph = scope.variable.graph
            named = (scope.variable.resolve(category) for category in categories)
            sinks = {
                n for one in named if one is not None for n in partitions.bits(graph.sink_set(one))
            }
            kept = range(len(graph.sinks)) if scope.kept is None else scope.kept
            rule[places[name]] = frozenset(n for n, sink in enumerate(kept) if sink in sinks)
        rules.append(rule)
    return rules


def _box(rule: _Rule, row: maximal_harmonization.Row) -> list[frozenset[int] | None] | None:
    """Return the categories of a key that a rule makes impossible; None if a variable lacks."""
    box: list[frozenset[int] | None] = [None] * len(row)
    for place, sinks in rule.items():
        cell = row[place]
        if not isinstance(cell, partitions.Partition):
            return None
        box[place] = frozenset(
            number for number, block in enumerate(cell.blocks()) if sinks.issuperset(block)
        )
    return box


def _number(size: maximal_harmonization.Size) -> float:
    return math.inf if size[0] else size[1]


def _size_text(size: float) -> str:
    if size == math.inf:
        return "combinations of any detail"
    return f"{number_text(size)} possible {'combination' if size == 1 else 'combinations'}"


def describe_map(outcome: KeyVariableMap) -> str:
    """Say in a sentence what was asked."""
    n_forms = len(outcome.match_forms)
    first = outcome.variables[0] if outcome.variables else None
    matched, having = (first.threshold, first.n_needed) if first else (1, 1)
    must = f"{matched} of them must be matched"
    if having != matched:
        must = f"{having} of them must have a variable, and {matched} must be matched"
    return (
        f"Target {quoted([outcome.target])} against {count_of(n_forms, 'form')}"
        f" ({outcome.mode.value}); at least {must} (prevalence {outcome.prevalence})."
    )


def map_notes(outcome: KeyVariableMap) -> list[str]:
    """Return what to know before an analysis is believed: variables without a result first."""
    faults = [f"{item.variable}: {item.message}" for item in outcome.variables if item.message]
    return [*faults, *outcome.notes]


def composite_rows(composite: CompositeKeys) -> list[dict[str, object]]:
    """Return composite keys as plain values."""
    return [
        {
            "forms": list(key.forms),
            "combinations": "unbounded" if math.isinf(key.size) else int(key.size),
            "parts": [{"variable": part.variable, "code": part.code} for part in key.parts],
        }
        for key in composite.keys
    ]
