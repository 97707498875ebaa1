"""Worked examples of perturbation schemes: mass functions, bounds, and what is never published."""

from __future__ import annotations

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import Scheme, parse_scheme
from tests.reference.cases import Case

__all__ = ["TABLES_ROUNDING", "rounding"]

# Published counts are listed up to this one at least.
_LAST = 20


def rounding(case: Case) -> None:
    scheme = parse_scheme(case.needs("scheme"))
    if case.defines("pmf"):
        for true, expected in case.expected["pmf"].items():
            case.check("pmf", f"of {true}", expected, _mass(scheme, int(true)))
    if case.defines("trivial_bounds"):
        for published, expected in case.expected["trivial_bounds"].items():
            found = list(scheme.bounds(int(published)))
            case.check("trivial_bounds", f"of {published}", expected, found)
            ends = [int(limit[0]) for limit in scheme.limits([int(published)])]
            found = [None if end == UNBOUNDED else end for end in ends]
            case.check("trivial_bounds", f"of {published} in an array", expected, found)
    # An empty list is a result: everything can be published.
    if "invalid_published" in case.expected:
        bounded = [int(published) for published in case.expected.get("trivial_bounds", {})]
        invalid = case.expected["invalid_published"]
        asked = range(max([*bounded, *invalid, _LAST]) + 1)
        never = [published for published in asked if not scheme.can_publish(published)]
        case.check("invalid_published", "", invalid, never)


def _mass(scheme: Scheme, true: int) -> dict[str, str]:
    return {str(published): str(chance) for published, chance in scheme.mass(true).items()}


TABLES_ROUNDING = {"tables_rounding": rounding}
"""The kinds checked here; they join the runner's."""
