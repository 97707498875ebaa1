"""Conditions on forms, which queries are made of, and whether a form meets them.

What they mean is told where the language is, in the module `queries`. Ten thousand forms take
some ten milliseconds for each condition.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, Protocol, TypeAlias

from gamekeeper.mapping.forms.form import Form
from gamekeeper.wording import folded

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": operator.contains,
    "in": operator.eq,
}
SIGNS: Final = tuple(_COMPARE)
"""The signs and words that compare a key with values."""

# The same values stand on form after form.
_folded = lru_cache(maxsize=4_096)(folded)


@dataclass(frozen=True)
class Name:
    """A key or a variable, whatever its spelling on a form.

    Examples
    --------
    >>> Name("year").among({"Year": 2029, "Sector": "Retail"})
    ['Year']
    """

    text: str

    def among(self, names: Collection[str]) -> list[str]:
        """Return those names that differ from this one in case, accents or spaces at most."""
        # Forms have the same names again and again: each is folded once.
        if not self._seen.issuperset(names):
            for name in names:
                if name not in self._seen:
                    if folded(name) == self._folded:
                        self._spellings.append(name)
                    self._seen.add(name)
        return [name for name in self._spellings if name in names]

    @cached_property
    def _folded(self) -> str:
        return folded(self.text)

    @cached_property
    def _seen(self) -> set[str]:
        return set()

    @cached_property
    def _spellings(self) -> list[str]:
        return []


@dataclass(frozen=True)
class Value:
    """What a key is compared with; `is_text` where a number is meant as text."""

    text: str
    is_text: bool = False

    @cached_property
    def folded(self) -> str:
        """The text to compare text with."""
        return folded(self.text)

    @cached_property
    def number(self) -> float | None:
        """The number to compare numbers with."""
        return None if self.is_text else _as_number(self.text)


@dataclass(frozen=True)
class Comparison:
    """A key and one of `SIGNS`, with several values for `in`; the key None is the form's name."""

    key: Name | None
    sign: str
    values: tuple[Value, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form has the key, with a value that compares so."""
        if self.key is None:
            return self._holds(form.name, folded(form.name))
        for name in self.key.among(form.metadata):
            found = form.metadata[name]
            if found is not None and self._holds(found, _as_text(found)):
                return True
        return False

    def _holds(self, found: str | float, text: str) -> bool:
        compare = _COMPARE[self.sign]
        for value in self.values:
            if value.number is None or self.sign == "contains":
                holds = compare(text, value.folded)
            elif (number := _as_number(found)) is not None:
                holds = compare(number, value.number)
            else:
                holds = self.sign == "!="
            if holds:
                return True
        return False


@dataclass(frozen=True)
class Has:
    """The form asks for a variable."""

    variable: Name

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form asks for it."""
        return bool(self.variable.among(form.instances))


class Codes(Protocol):
    """What a query on codes and categories asks of an environment."""

    def compares(self, form: Form, variable: str, sign: str, code: str) -> bool:
        """Tell whether the code of a variable on a form compares so with another."""
        ...

    def offers(self, form: Form, variable: str, category: str) -> bool:
        """Tell whether a form offers a category of a variable."""
        ...


@dataclass(frozen=True)
class OfVariable:
    """In which code a form asks for a variable, or which category of it the form offers.

    A code compares by `=`, `!=`, `in`, `finer than` or `coarser than`, a category by `=` or `in`.
    """

    what: Literal["code", "category"]
    variable: Name
    sign: str
    values: tuple[str, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form asks for the variable in such a code, or offers the category."""
        if codes is None:
            return False
        sign = "=" if self.sign == "in" else self.sign
        return any(
            codes.compares(form, name, sign, value)
            if self.what == "code"
            else codes.offers(form, name, value)
            for name in self.variable.among(form.instances)
            for value in self.values
        )


@dataclass(frozen=True)
class Not:
    """What another condition is not."""

    part: Condition

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form does not meet the other condition."""
        return not self.part.matches(form, codes)


@dataclass(frozen=True)
class AllOf:
    """Several conditions at once."""

    parts: tuple[Condition, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form meets all of them."""
        for part in self.parts:  # noqa: SIM110 - half the time of all()
            if not part.matches(form, codes):
                return False
        return True


@dataclass(frozen=True)
class AnyOf:
    """One of several conditions."""

    parts: tuple[Condition, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form meets one of them."""
        for part in self.parts:  # noqa: SIM110 - half the time of any()
            if part.matches(form, codes):
                return True
        return False


Condition: TypeAlias = Comparison | Has | OfVariable | Not | AllOf | AnyOf


def _as_number(found: str | float) -> float | None:
    if isinstance(found, bool):
        return None
    if not isinstance(found, str):
        return found
    text = _folded(found)
    if _NUMBER.fullmatch(text) is None:
        return None
    return float(text) if "." in text else int(text)


def _as_text(found: str | float) -> str:
    if isinstance(found, str):
        return _folded(found)
    return str(found).lower()
