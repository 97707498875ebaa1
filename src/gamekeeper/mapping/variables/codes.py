"""Codes: short names of categorizations, such as C45.001 and H7.001.

The letter says whether a form was seen with the categorization (C) or it only arose as a
harmonization (H); then comes the number of categories, 0 for arbitrary precision; then a running
number, of three digits or more. Codes belong to the environment: once given, a code means one
categorization for good. A harmonization that is observed later gets a C code, and its H code
stays as another name. A code whose meaning was lost, because an unrestricted edit changed the
categories themselves, is retired: it means nothing, and its number is not used again.
Smith and Elliot, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import did_you_mean, quoted

ARBITRARY_CODE = "C0.001"
"""The code of arbitrary precision, on whatever forms."""

_CODE = re.compile(r"(?P<letter>[CH])(?P<size>0|[1-9]\d*)\.(?P<number>\d{3,})")


def is_code(text: str) -> bool:
    """Tell whether a text has the form of a code."""
    return _CODE.fullmatch(text) is not None


def code_order(code: str) -> tuple[str, int, int]:
    """Return the sort key of a code: letter, number of categories, running number.

    Examples
    --------
    >>> sorted(["C10.001", "H1.001", "C2.010", "C2.009"], key=code_order)
    ['C2.009', 'C2.010', 'C10.001', 'H1.001']
    """
    size, number = code[1:].split(".")
    return code[0], int(size), int(number)


class CodeRegister:
    """The codes of one variable with their meanings, and those that meant something once.

    It is immutable.

    Examples
    --------
    >>> register = CodeRegister().with_observed([Partition.from_labels([0, 0, 1])])
    >>> register = register.with_harmonizations([Partition.from_labels([0, 0, 0])])
    >>> list(register)
    ['C2.001', 'H1.001']
    """

    retired: frozenset[str]

    def __init__(
        self,
        codes: Iterable[tuple[str, Partition | Arbitrary]] = (),
        *,
        retired: Iterable[str] = (),
    ) -> None:
        self.retired = frozenset(retired)
        self._meaning: dict[str, Partition | Arbitrary] = {}
        self._code: dict[Partition | Arbitrary, str] = {}
        self._alias: dict[Partition | Arbitrary, str] = {}
        self._last: dict[tuple[str, int], int] = {}
        for code in sorted(self.retired):
            self._retire(code)
        for code, categorization in codes:
            self._enter(code, categorization)

    def with_observed(self, categorizations: Iterable[Partition | Arbitrary]) -> CodeRegister:
        """Return the register with C codes for categorizations that were seen on forms."""
        return self._extended("C", categorizations)

    def with_harmonizations(self, categorizations: Iterable[Partition | Arbitrary]) -> CodeRegister:
        """Return the register with H codes for harmonizations that have no code yet."""
        return self._extended("H", categorizations)

    def __iter__(self) -> Iterator[str]:
        return iter(self._meaning)

    def __len__(self) -> int:
        return len(self._meaning)

    def __contains__(self, code: object) -> bool:
        return code in self._meaning

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodeRegister):
            return NotImplemented
        return self._meaning == other._meaning and self.retired == other.retired

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def code(self, categorization: Partition | Arbitrary) -> str | None:
        """Return the code of a categorization, the C code where it has both."""
        return self._code.get(categorization)

    def alias(self, categorization: Partition | Arbitrary) -> str | None:
        """Return the H code that an observed categorization had before it was observed."""
        return self._alias.get(categorization)

    def meaning(self, code: str) -> Partition | Arbitrary:
        """Return the categorization that a code stands for."""
        try:
            return self._meaning[code]
        except KeyError:
            found = "The variable has no such code." if is_code(code) else "That is not a code."
            if code in self.retired:
                found = "It is retired: the categories that it stood for were changed."
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"The code {quoted([code])} was asked for.",
                found,
                did_you_mean(code, self._meaning),
            ) from None

    def _extended(
        self, letter: str, categorizations: Iterable[Partition | Arbitrary]
    ) -> CodeRegister:
        new = [c for c in dict.fromkeys(categorizations) if self._needs(letter, c)]
        if not new:
            return self
        extended = CodeRegister(self._meaning.items(), retired=self.retired)
        for categorization in new:
            size = 0 if isinstance(categorization, Arbitrary) else categorization.n_blocks
            number = extended._last.get((letter, size), 0) + 1
            extended._enter(f"{letter}{size}.{number:03d}", categorization)
        return extended

    def _needs(self, letter: str, categorization: Partition | Arbitrary) -> bool:
        known = self._code.get(categorization)
        return known is None or (letter == "C" and known.startswith("H"))

    def _retire(self, code: str) -> None:
        match = _CODE.fullmatch(code)
        if match is None or match["size"] == "0":
            raise InputError(
                Reason.INCONSISTENT_CODE,
                f"The code {quoted([code])} was to be retired.",
                "Arbitrary precision keeps its meaning." if match else "That is not a code.",
                "Leave it out.",
            )
        place = (match["letter"], int(match["size"]))
        self._last[place] = max(self._last.get(place, 0), int(match["number"]))

    def _enter(self, code: str, categorization: Partition | Arbitrary) -> None:
        match = _CODE.fullmatch(code)
        size = 0 if isinstance(categorization, Arbitrary) else categorization.n_blocks
        taken = code in self._meaning or code in self.retired
        if match is None or int(match["size"]) != size or taken:
            raise InputError(
                Reason.INCONSISTENT_CODE,
                f"The code {quoted([code])} was to be entered for {size} categories.",
                "It is there already." if taken else "It does not say so.",
                "Write C or H, the number of categories, a dot and a running number: C7.001.",
            )
        letter = match["letter"]
        other = self._code.get(categorization)
        if other is not None and other.startswith(letter):
            raise InputError(
                Reason.INCONSISTENT_CODE,
                f"The code '{code}' was to be entered.",
                f"Its categorization is '{other}' already.",
                "Leave one of them out.",
            )
        self._meaning[code] = categorization
        self._last[letter, size] = max(self._last.get((letter, size), 0), int(match["number"]))
        if letter == "C" and other is not None:
            self._alias[categorization] = other
        if letter == "H" and other is not None:
            self._alias[categorization] = code
        else:
            self._code[categorization] = code
