"""Check of the Age example of Figure 11: its harmonization graph, and its analysis for every N."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from gamekeeper import Environment, Form, Variable, map_key_variables
from gamekeeper.mapping import Band, BandStyle, parse_band
from tests.reference.cases import Case
from tests.reference.categorizations import n_categories
from tests.reference.keeping import kept

__all__ = ["age_figure_11"]


def age_figure_11(case: Case) -> None:
    """Check a variable of intervals, with forms counted by code."""
    age = _Age(case)
    case.compare("n_sinks_of_common_refinement", len(age.variable.graph.sinks))
    case.compare(
        "codes",
        sorted(age.sizes),
        canonical=lambda sizes: sorted((code[0], size) for code, size in sizes.items()),
    )
    case.compare(
        "edges",
        sorted([age.named(a), age.named(b)] for a, b in age.graph.edges),
        canonical=sorted,
    )
    for parts, code in case.expected.get("harmonizations", {}).items():
        case.check("harmonizations", f"of {parts}", code, age.harmonization(parts.split("+")))
    anything = case.needs("arbitrary_precision_code")
    for row in case.expected.get("analysis", []):
        for needed in range(row["N_from"], row["N_to"] + 1):
            at = f"for N = {needed}"
            case.check("analysis", at, *_any_of(row["output"], age.output(anything, needed)))
            if "candidates" in row:
                wanted = sorted(row["candidates"])
                case.check("analysis", f"{at}: candidates", wanted, age.candidates(needed))
    for target, rows in case.expected.get("analysis_with_target", {}).items():
        for row in rows:
            for needed in range(row["N_from"], row["N_to"] + 1):
                at = f"{target} for N = {needed}"
                found = age.output(target, needed)
                case.check("analysis_with_target", at, *_any_of(row["output"], found))


class _Age:
    """The environment of a case, speaking of codes by their expected names.

    A code is known by its meaning, the observed codes that refine it, so that it does not matter
    how harmonizations are numbered.
    """

    def __init__(self, case: Case) -> None:
        bands = {**case.needs("categories"), case.needs("arbitrary_precision_code"): ()}
        counts = case.needs("form_counts")
        observed = case.needs("observed_in_order")
        self.variable = _variable(bands)
        # One form shows each code; those that are counted and matched against come on top.
        self._match = [f"{code}, form {n}" for code in counts for n in range(counts[code])]
        self.environment = kept(
            Environment(
                [self.variable],
                [Form(code, {"Age": bands[code]}) for code in observed]
                + [Form(name, {"Age": bands[name.partition(",")[0]]}) for name in self._match],
            )
        )
        self.graph = self.environment.harmonization_graph("Age")
        self._codes = [self.environment.code("Age", node) for node in self.graph.nodes]
        self._counts = [counts.get(self._codes[node], 0) for node in self.graph.observed]
        expected = _meanings(case.expected.get("edges", []), observed)
        self._names = {meaning: code for code, meaning in expected.items()}

    @property
    def sizes(self) -> list[tuple[str, int | str]]:
        """The letter and the size of every code."""
        nodes = zip(self._codes, self.graph.nodes, strict=True)
        return [(code[0], n_categories(node, arbitrary=0)) for code, node in nodes]

    def named(self, node: int) -> str:
        """Return the expected code of a node, or our own where none is expected."""
        meaning = frozenset(self._codes[finer] for finer in self.graph.refiners(node))
        return self._names.get(meaning, self._codes[node])

    def harmonization(self, codes: Sequence[str]) -> str:
        """Return the code of a harmonization."""
        return self._renamed(self.environment.harmonize_codes("Age", codes))

    def output(self, target: str, needed: int) -> list[str]:
        """Return the maximal codes of an analysis that asks for so many forms."""
        share = Fraction(needed, len(self._match))
        outcome = map_key_variables(self.environment, target, forms=self._match, prevalence=share)
        return [self._renamed(code) for code in outcome.variables[0].codes]

    def candidates(self, needed: int) -> list[str]:
        """Return the finest codes that so many forms can be matched at."""
        return sorted(map(self.named, self.graph.candidates(self._counts, needed)))

    def _renamed(self, code: str) -> str:
        return self.named(self._codes.index(code))


def _variable(bands: Mapping[str, Sequence[str]]) -> Variable:
    style = BandStyle.HALF_OPEN
    every = [band for some in bands.values() for band in some]
    parsed = [parse_band(band, style) for band in every]
    space = Band(min(band.low for band in parsed), max(band.high for band in parsed))
    return Variable.of_bands("Age", every, style=style, space=space)


def _meanings(edges: Sequence[Any], observed: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return for every expected code the observed codes that can be reached from it."""
    finer: dict[str, list[str]] = {code: [] for code in observed}
    for coarse, fine in edges:
        finer.setdefault(coarse, []).append(fine)

    def reached(code: str) -> frozenset[str]:
        own = frozenset({code}) & frozenset(observed)
        return own.union(*(reached(below) for below in finer.get(code, ())))

    return {code: reached(code) for code in finer}


def _any_of(wanted: str, found: list[str]) -> tuple[str, object]:
    """Pair an expected code with itself if it is one of those found, since any will do."""
    return wanted, wanted if wanted in found else found
