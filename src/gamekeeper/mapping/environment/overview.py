"""What an environment holds, as lists and tables, and what can be told apart within a universe.

A category of everybody whom the target does not ask is no category to match on: nobody in the
target has it. So all categorizations are looked at within the target's universe, the sinks that
its people can have: those that it does not take as `OUTSIDE` and that its own universe does not
rule out. Within it, blocks that only people outside would join stay apart, because an intruder
knows whom the target asks. A code means a partition of all sinks: that of what is told apart within
a universe is the code of the same blocks with everybody else as one block more.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from gamekeeper import results
from gamekeeper.algorithms.categories.bands import BandStyle, parse_band
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, bits, is_finer
from gamekeeper.arrow import pa
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import metadata_problems
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.groups import Query, parse_query, unknown_names
from gamekeeper.mapping.variables.codes import RESERVED, Variable, code_order
from gamekeeper.prompt_syntax import MAX_NODES
from gamekeeper.wording import count_of, did_you_mean, folded, quoted


def find_forms(environment: Environment, where: str) -> tuple[Form, ...]:
    """Return the forms that a query finds.

    Examples
    --------
    >>> forms = [Form("Bank", metadata={"year": 2030}), Form("Shop", metadata={"year": 2031})]
    >>> [form.name for form in find_forms(Environment([], forms), "year > 2030")]
    ['Shop']
    """
    query = parse_query(where)
    forms = environment.forms.values()
    problems = unknown_in_query(environment, query)
    asked = "Forms were asked for by a query."
    refuse(problems, asked, f"It names {count_of(len(problems), 'thing')} that no form has.")
    return tuple(form for form in forms if query.matches(form, environment))


def unknown_in_query(environment: Environment, query: Query) -> list[Problem]:
    """Return a problem for every key, variable, code and category of a query that is not known.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> known = Environment([age], [Form("Bank", {"Age": ("0-15", "16+")})])
    >>> [str(p) for p in unknown_in_query(known, parse_query("code of Age finer than C9.001"))]
    ["code 'C9.001' of 'Age': is not known. Near to it: 'C2.001'."]
    """
    problems = unknown_names(query, environment.forms.values(), environment.variables)
    for asked, code in sorted(query.codes, key=lambda pair: (pair[0].text, pair[1])):
        for name in asked.among(environment.variables):
            codes = sorted(environment.register(name), key=code_order)
            if code not in codes:
                problems.append(_unknown(f"code {quoted([code])} of {quoted([name])}", code, codes))
    for asked, label in sorted(query.categories, key=lambda pair: (pair[0].text, pair[1])):
        for name in asked.among(environment.variables):
            variable = environment.variable(name)
            if label not in RESERVED and variable.resolve(label) is None:
                known = variable.graph.categories
                what = f"category {quoted([label])} of {quoted([name])}"
                problems.append(_unknown(what, label, known))
    return problems


def _unknown(what: str, name: str, known: Iterable[str]) -> Problem:
    return Problem(Reason.UNKNOWN_NAME, what, "is not known.", did_you_mean(name, list(known)))


def list_forms(
    environment: Environment,
    *,
    where: str = "",
    group: str = "",
    page: results.Page = results.EVERYTHING,
) -> results.Listing:
    """List forms with their metadata, the keys that most forms have first.

    Only those are listed that a query finds, and that a group has, where these are given.

    Examples
    --------
    >>> forms = [Form("Bank", metadata={"year": 2030}), Form("Shop", metadata={"year": 2031})]
    >>> list_forms(Environment([], forms), page=results.Page(sort="year", descending=True)).rows
    (('Shop', 0, 2031), ('Bank', 0, 2030))
    """
    forms = _chosen(environment, where, group)
    counts = Counter(key for form in forms for key in form.metadata)
    keys = sorted(counts, key=lambda key: (-counts[key], key))
    # A key may have the name of a column of ours; then it is told apart.
    ours = ("form", "variables")
    columns = [*ours, *(f"{k} (metadata)" if k.casefold() in ours else k for k in keys)]
    rows = [
        (form.name, len(form.instances), *(form.metadata.get(key) for key in keys))
        for form in forms
    ]
    return results.make_listing("forms", columns, rows, page)


def _chosen(environment: Environment, where: str, group: str) -> tuple[Form, ...]:
    forms = find_forms(environment, where) if where else tuple(environment.forms.values())
    if not group:
        return forms
    inside = set(environment.group(group).forms)
    return tuple(form for form in forms if form.name in inside)


def list_grid(
    environment: Environment,
    *,
    where: str = "",
    group: str = "",
    variables: Sequence[str] = (),
    page: results.Page = results.EVERYTHING,
) -> results.Listing:
    """List forms by variables, with the code of each in the cells.

    A cell is empty where a form does not ask, and a question mark where its categorization is not
    valid. By default all variables that some of the forms ask for have a column.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> forms = [Form("Bank", {"Age": ("0-15", "16+")}), Form("Shop")]
    >>> list_grid(Environment([age], forms)).rows
    (('Bank', 'C2.001'), ('Shop', None))
    """
    forms = _chosen(environment, where, group)
    for name in variables:
        environment.variable(name)
    asked = {name for form in forms for name in form.instances}
    columns = list(variables) or [name for name in environment.variables if name in asked]
    codes: dict[tuple[str, tuple[str, ...]], str] = {}

    def cell(form: Form, variable: str) -> str | None:
        if variable not in form.instances:
            return None
        key = variable, form.instances[variable]
        if key not in codes:
            codes[key] = environment.code_of(form.name, variable) or "?"
        return codes[key]

    rows = [(form.name, *(cell(form, name) for name in columns)) for form in forms]
    return results.make_listing("forms", ("form", *columns), rows, page)


def list_variables(
    environment: Environment, *, matching: str = "", page: results.Page = results.EVERYTHING
) -> results.Listing:
    """List variables: scale, categories, how many forms ask for them, and in how many codes.

    `matching` is a part of the name, in whatever case.
    """
    columns = ("variable", "scale", "categories", "sinks", "forms", "codes", "description")
    rows: list[tuple[results.Cell, ...]] = []
    for name, variable in environment.variables.items():
        if folded(matching) not in folded(name):
            continue
        rows.append((*variable_counts(environment, name).values(), variable.description))
    return results.make_listing("variables", columns, rows, page)


def variable_counts(environment: Environment, name: str) -> dict[str, str | int]:
    """Return what a variable is, how many forms ask for it, and in how many codes."""
    variable, instances = environment.variable(name), environment.instances(name)
    return {
        "variable": name,
        "scale": variable.scale.value,
        "categories": len(variable.graph.categories),
        "sinks": len(variable.graph.sinks),
        "forms": sum(len(forms) for _, forms in instances),
        "codes": len({item.partition for item, _ in instances} - {None}),
    }


def list_groups(
    environment: Environment, *, matching: str = "", page: results.Page = results.EVERYTHING
) -> results.Listing:
    """List groups: how many forms each has now, and how it is defined."""
    rows: list[tuple[results.Cell, ...]] = []
    for name, group in environment.groups.items():
        if folded(matching) not in folded(name):
            continue
        ((way, given),) = group.definition.items()
        told = given if isinstance(given, str) else f"({'; '.join(given)})"
        how = "by hand" if way == "forms" else f"{way} {told}"
        rows.append((name, len(environment.group(name).forms), how, group.description))
    return results.make_listing("groups", ("group", "forms", "defined", "description"), rows, page)


@dataclass(frozen=True, repr=False)
class EnvironmentCheck(results.Result):
    """The state of an environment: per variable what there is, and which instances are faulty.

    `faults` has, per variable, the forms whose categorization is not valid, with the reasons;
    `undeclared` where metadata of forms and questions is not as declared, which is no fault.
    """

    name: str
    counts: Mapping[str, int]
    rows: tuple[Mapping[str, Any], ...]
    faults: Mapping[str, Mapping[str, str]]
    provenance: results.Provenance
    undeclared: tuple[Problem, ...] = ()

    @property
    def is_consistent(self) -> bool:
        """Whether every categorization is valid."""
        return not self.faults

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        inconsistent = sum(len(forms) for forms in self.faults.values())
        return {"environment": self.name, **self.counts, "inconsistent": inconsistent}

    def to_arrow(self) -> pa.Table:
        """Return one row per variable."""
        texts = ("variable", "scale", "same_category")
        numbers = ("categories", "sinks", "forms", "codes", "inconsistent")
        schema = pa.schema(
            [(name, pa.string()) for name in texts[:2]]
            + [(name, pa.int32()) for name in numbers]
            + [(texts[2], pa.string())]
        )
        return pa.Table.from_pylist(list(self.rows), schema=schema)


def check_environment(environment: Environment) -> EnvironmentCheck:
    """Look at every variable and every categorization of an environment.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> list(check_environment(Environment([age], [Form("Bank", {"Age": ("16+",)})])).faults)
    ['Age']
    """
    started = time.perf_counter()
    rows: list[Mapping[str, Any]] = []
    faults: dict[str, Mapping[str, str]] = {}
    for name, variable in environment.variables.items():
        faulty = environment.faulty_instances(name)
        if faulty:
            faults[name] = faulty
        rows.append(
            {
                **variable_counts(environment, name),
                "inconsistent": len(faulty),
                "same_category": "; ".join(
                    " = ".join(group) for group in variable.graph.equal_categories()
                ),
            }
        )
    counts = {
        "forms": len(environment.forms),
        "variables": len(environment.variables),
        "groups": len(environment.groups),
        "instances": environment.n_instances,
    }
    provenance = results.Provenance(
        "environment check",
        parameters={"environment": environment.name},
        fingerprint=_fingerprint(
            [(name, item.graph.edges) for name, item in environment.variables.items()],
            [(name, item.instances) for name, item in environment.forms.items()],
        ),
        seconds=time.perf_counter() - started,
    )
    undeclared = tuple(
        problem
        for form in (environment.forms.values() if environment.rules.metadata else ())
        for problem in metadata_problems(
            environment.rules, form, None, [question.name for question in form.questions]
        )
    )
    return EnvironmentCheck(environment.name, counts, tuple(rows), faults, provenance, undeclared)


@dataclass(frozen=True, repr=False)
class CodeTable(results.Result):
    """The harmonization graph of a variable as a table: one row per code."""

    variable: str
    rows: tuple[Mapping[str, Any], ...]
    n_edges: int
    provenance: results.Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        observed = sum(row["code"].startswith("C") for row in self.rows)
        return {
            "variable": self.variable,
            "codes": len(self.rows),
            "observed": observed,
            "harmonizations": len(self.rows) - observed,
            "edges": self.n_edges,
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per code, the coarsest first."""
        schema = pa.schema(
            [
                ("code", pa.string()),
                ("categories", pa.int32()),
                ("forms", pa.int32()),
                ("forms_below", pa.int32()),
                ("finer_codes", pa.string()),
                ("in_words", pa.string()),
            ]
        )
        return pa.Table.from_pylist(list(self.rows), schema=schema)


def list_codes(
    environment: Environment,
    variable: str,
    *,
    only: str | None = None,
    max_nodes: int = MAX_NODES,
    progress: results.Progress | None = None,
) -> CodeTable:
    """List the codes of a variable, or one code: how many forms have them, what is finer.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16+", "0-17", "18+"])
    >>> forms = [Form("Bank", {"Age": ("0-17", "18+")}), Form("Shop", {"Age": ("0-15", "16+")})]
    >>> [row["code"] for row in list_codes(Environment([age], forms), "Age").rows]
    ['H1.001', 'C2.001', 'C2.002']
    """
    started = time.perf_counter()
    graph = environment.harmonization_graph(variable, max_nodes=max_nodes, progress=progress)
    counts = {
        position: sum(
            len(forms)
            for categorization, forms in environment.instances(variable)
            if categorization.partition == graph.nodes[position]
        )
        for position in graph.observed
    }
    below = graph.weights(list(counts.values())).tolist()
    codes = environment.codes(variable, graph.nodes)
    finer: dict[int, list[str]] = {}
    for coarse, fine in graph.edges:
        finer.setdefault(coarse, []).append(codes[fine])
    order = sorted(range(len(codes)), key=lambda position: (-below[position], codes[position]))
    words = environment.variable(variable).words
    rows = [
        {
            "code": codes[position],
            "categories": 0
            if isinstance(node := graph.nodes[position], Arbitrary)
            else node.n_blocks,
            "forms": counts.get(position, 0),
            "forms_below": below[position],
            "finer_codes": ", ".join(sorted(finer.get(position, ()))),
            "in_words": "; ".join(words(node)),
        }
        for position in order
        if only in (None, codes[position])
    ]
    provenance = results.Provenance(
        "harmonization graph",
        parameters={"variable": variable, "only": only or "", "max_nodes": str(max_nodes)},
        fingerprint=_fingerprint(environment.variable(variable).graph.edges, rows),
        seconds=time.perf_counter() - started,
    )
    return CodeTable(variable, tuple(rows), len(graph.edges), provenance)


@dataclass(frozen=True, repr=False)
class CategoryTable(results.Result):
    """A partition graph as a table: one row per category."""

    name: str
    graph: PartitionGraph
    provenance: results.Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "name": self.name,
            "categories": len(self.graph.categories),
            "edges": len(self.graph.edges),
            "sinks": len(self.graph.sinks),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per category, the largest first; bands in their order."""
        graph = self.graph
        sizes = {name: graph.sink_set(name).bit_count() for name in graph.categories}
        place = _places(graph)
        rows = [
            {
                "category": name,
                "sinks": sizes[name],
                "children": "; ".join(sorted(graph.children(name), key=place.__getitem__)),
            }
            for name in sorted(graph.categories, key=lambda name: (-sizes[name], place[name]))
        ]
        schema = pa.schema(
            [("category", pa.string()), ("sinks", pa.int32()), ("children", pa.string())]
        )
        return pa.Table.from_pylist(rows, schema=schema)


def list_categories(name: str, graph: PartitionGraph) -> CategoryTable:
    """List the categories of a partition graph."""
    provenance = results.Provenance(
        "partition graph", parameters={"name": name}, fingerprint=_fingerprint(graph.edges)
    )
    return CategoryTable(name, graph, provenance)


def _places(graph: PartitionGraph) -> dict[str, tuple[float, float, str]]:
    """Return what to sort categories by: bands by their numbers, others by their names."""
    for style in BandStyle:
        with suppress(InputError):
            bands = {name: parse_band(name, style) for name in graph.categories}
            return {name: (float(band.low), float(band.high), name) for name, band in bands.items()}
    return {name: (0, 0, name) for name in graph.categories}


def _fingerprint(*parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Scope:
    """The sinks of a variable that count, by their numbers; None for all of them."""

    variable: Variable
    kept: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, environment: Environment, target: str, variable: str, *, within_universe: bool
    ) -> Scope:
        """Return the universe of a target, or everybody where that is asked for."""
        found = environment.variable(variable)
        if not within_universe:
            return cls(found)
        graph = found.graph
        outside = set(environment.categorization(target, variable).outside)
        kept = {number for number, sink in enumerate(graph.sinks) if sink not in outside}
        universe = environment.form(target).universe
        if universe is not None and variable in universe.within:
            named = (found.resolve(label) for label in universe.within[variable])
            asked = {n for name in named if name is not None for n in bits(graph.sink_set(name))}
            kept &= asked
        # A universe that contradicts the form bounds nothing: it is for a person to mend.
        if not kept or len(kept) == len(graph.sinks):
            return cls(found)
        return cls(found, tuple(sorted(kept)))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The sinks that do not count."""
        if self.kept is None:
            return ()
        kept = set(self.kept)
        return tuple(s for number, s in enumerate(self.variable.graph.sinks) if number not in kept)

    def inside(self, categorization: Partition | Arbitrary) -> Partition | Arbitrary:
        """Return a categorization of all sinks as it is within the universe."""
        if self.kept is None or isinstance(categorization, Arbitrary):
            return categorization
        return Partition.from_labels(categorization.labels[list(self.kept)])

    def whole(self, categorization: Partition | Arbitrary) -> Partition | Arbitrary:
        """Return a categorization within the universe with everybody else as one block more."""
        if self.kept is None or isinstance(categorization, Arbitrary):
            return categorization
        labels = np.full(len(self.variable.graph.sinks), -1, dtype=np.int64)
        labels[list(self.kept)] = categorization.labels
        return Partition.from_labels(labels)

    def words(self, categorization: Partition | Arbitrary) -> tuple[str, ...]:
        """Return the categories of a categorization of all sinks that people of the target have."""
        if self.kept is None or isinstance(categorization, Arbitrary):
            return self.variable.words(categorization)
        kept = set(self.kept)
        blocks = [[sink for sink in block if sink in kept] for block in categorization.blocks()]
        return self.variable.words_of_blocks([block for block in blocks if block])

    def is_finer(self, a: Partition | Arbitrary, b: Partition | Arbitrary) -> bool:
        """Tell whether, within the universe, a refines b."""
        return is_finer(self.inside(a), self.inside(b))
