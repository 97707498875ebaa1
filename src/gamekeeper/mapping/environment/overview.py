"""What an environment holds: its state, the codes of a variable, the categories of a variable."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from gamekeeper.algorithms.categories.bands import BandStyle, parse_band
from gamekeeper.algorithms.categories.limits import MAX_NODES
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.errors import InputError, Problem
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.listing import variable_counts
from gamekeeper.mapping.environment.rules import metadata_problems
from gamekeeper.results import Progress, Provenance, Result

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class EnvironmentCheck(Result):
    """The state of an environment: per variable what there is, and which instances are faulty.

    `faults` has, per variable, the forms whose categorization is not valid, with the reasons;
    `undeclared` where metadata of forms and questions is not as declared, which is no fault.
    """

    name: str
    counts: Mapping[str, int]
    rows: tuple[Mapping[str, Any], ...]
    faults: Mapping[str, Mapping[str, str]]
    provenance: Provenance
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
        import pyarrow as pa

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
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.variable import Variable
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
    provenance = Provenance(
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
class CodeTable(Result):
    """The harmonization graph of a variable as a table: one row per code."""

    variable: str
    rows: tuple[Mapping[str, Any], ...]
    n_edges: int
    provenance: Provenance

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
        import pyarrow as pa

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
    progress: Progress | None = None,
) -> CodeTable:
    """List the codes of a variable, or one code: how many forms have them, what is finer.

    Examples
    --------
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.variable import Variable
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
    provenance = Provenance(
        "harmonization graph",
        parameters={"variable": variable, "only": only or "", "max_nodes": str(max_nodes)},
        fingerprint=_fingerprint(environment.variable(variable).graph.edges, rows),
        seconds=time.perf_counter() - started,
    )
    return CodeTable(variable, tuple(rows), len(graph.edges), provenance)


@dataclass(frozen=True, repr=False)
class CategoryTable(Result):
    """A partition graph as a table: one row per category."""

    name: str
    graph: PartitionGraph
    provenance: Provenance

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
        import pyarrow as pa

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
    provenance = Provenance(
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
