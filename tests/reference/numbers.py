"""Numbers of worked examples: exact fractions with their value, floats up to rounding, lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.reference.cases import Case

__all__ = ["check_each", "check_number", "nearly"]

_RELATIVE = 1e-9
_ABSOLUTE = 1e-12


def nearly(
    expected: object,
    found: float | Fraction | None,
    *,
    relative: float = _RELATIVE,
    absolute: float = _ABSOLUTE,
) -> object:
    """Return what is expected if what was found differs from it by rounding only."""
    if found is None or isinstance(expected, bool) or not isinstance(expected, int | float):
        return found
    close = math.isclose(expected, found, rel_tol=relative, abs_tol=absolute)
    return expected if close else float(found)


def check_number(
    case: Case,
    name: str,
    expected: Any,
    found: Fraction | float | None,
    at: str = "",
    *,
    absolute: float = _ABSOLUTE,
) -> None:
    """Compare a number that may be null, a float, or an object of 'exact' and 'value'."""
    if not isinstance(expected, dict):
        case.check(name, at, expected, nearly(expected, found, absolute=absolute))
        return
    if "exact" in expected:
        numerator, _, denominator = str(expected["exact"]).partition("/")
        exact = Fraction(int(numerator), int(denominator or 1))
        # A fraction and a float that happen to be equal are not the same claim.
        shown = str(found) if isinstance(found, Fraction) else repr(found)
        case.check(name, f"{at} exactly".lstrip(), str(exact), shown)
    if "value" in expected:
        value = expected["value"]
        case.check(name, at, value, nearly(value, found, absolute=absolute))


def check_each(
    case: Case,
    name: str,
    found: Sequence[Fraction | float | None],
    *,
    absolute: float = _ABSOLUTE,
) -> None:
    """Compare a list of numbers one by one, if the case expects it."""
    if not case.defines(name):
        return
    expected = case.expected[name]
    case.check(name, "in number", len(expected), len(found))
    for place, (wanted, value) in enumerate(zip(expected, found, strict=False)):
        check_number(case, name, wanted, value, f"of {place}", absolute=absolute)
