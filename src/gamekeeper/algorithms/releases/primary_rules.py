"""Rules by which a cell of a table is unsafe, and how much doubt an attacker must be left.

Each looks at the contributions to a cell, after those of one holding are added up. A unit of weight
w stands for w units of its size, so that the largest n units may be one and a half of the largest
record and the rest of the next; frequencies are weighted too. Of values below 0 the sizes count: a
rule cannot tell gains from losses, and a sum near 0 may be of large contributions. All inequalities
are strict, in exact fractions, and a cell without contributors is safe.

=====================  ==========================================  ==================================
rule                   unsafe if                                   the figure must be open upwards by
=====================  ==========================================  ==================================
minimum:n              0 < contributors < n                        not told
records:n              0 < records or holdings < n, unweighted     not told
dominance:n:k          the largest n have more than k% of all      largest n * 100 / k - all
p:p, p:p:m             all less the largest 1 + m < p% of largest  p% of largest - rest
pq:p:q                 rest * q < p * largest                      p / q of largest - rest
request:k              the largest asked, and has more than k%     as p:10
zero                   contributors, and all they have is 0        not told
=====================  ==========================================  ==================================

Hundepool and others, Statistical Disclosure Control, 2012, chapter 4. With m people who put
together what they know, the largest is estimated by all that is published less their own
contributions. With a shadow variable, contributions are those to the shadow and not to the figure:
who dominates by turnover must not be seen in investments.

Of counts, `zero` and `disclosure:k` look at whole rows: people of one kind, spread over the
categories of what a table is about. If nobody is in one of them, it is known of each that they are
not in it (`zero`). If k or fewer are in it and others are in the row, these k, who know themselves,
know it of the others (`disclosure`, k-disclosive): subtracting themselves leaves a zero, which is
that the attack with k known people succeeds in that row. A category that nobody can be in tells
nothing, and neither does a row that nobody is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import digits_text, quoted

Mask = NDArray[np.bool_]
RULE_WORDS = (
    "minimum:3, records:3 (without weights), dominance:1:85, p:10, p:10:2 (two who work together),"
    " pq:15:60, request:70, zero"
)
_NUMBERS = {
    "minimum": (1,), "records": (1,), "dominance": (2,), "p": (1, 2), "pq": (2,), "request": (1,),
    "zero": (0,), "disclosure": (1,),
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Contributions:
    """What units add to a cell, the largest first.

    - `sizes`, `weights`: the size of each contribution, and how many units it stands for.
    - `is_asked`: whether the largest asked for protection.
    - `rest`, `others`: where only the largest are known, what is left, and how many units that is.
    - `records`: how many records or holdings contribute, whatever their weights; None if not known.
    """

    sizes: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    is_asked: bool = False
    rest: Fraction = Fraction(0)
    others: Fraction = Fraction(0)
    records: int | None = None

    @classmethod
    def of(
        cls,
        values: Iterable[Fraction | int],
        weights: Sequence[Fraction | int] | None = None,
        *,
        is_asked: bool = False,
    ) -> Contributions:
        """Return contributions from values in any order."""
        listed = [abs(Fraction(value)) for value in values]
        weighed = [Fraction(1)] * len(listed) if weights is None else [Fraction(w) for w in weights]
        order = sorted(range(len(listed)), key=lambda at: -listed[at])
        return cls(tuple(listed[at] for at in order), tuple(weighed[at] for at in order), is_asked)

    @property
    def listed(self) -> Fraction:
        """The sum of the contributions that are listed."""
        return sum((s * w for s, w in zip(self.sizes, self.weights, strict=True)), Fraction(0))

    @property
    def total(self) -> Fraction:
        """The sum of all contributions."""
        return self.listed + self.rest

    @property
    def number(self) -> Fraction:
        """How many units contribute."""
        return sum(self.weights, Fraction(0)) + self.others

    @property
    def largest(self) -> Fraction:
        """The largest contribution."""
        return self.sizes[0] if self.sizes else Fraction(0)

    def top(self, n: int) -> Fraction | None:
        """Return what the largest n units have together; None where too few of them are known."""
        left, found = Fraction(n), Fraction(0)
        for size, weight in zip(self.sizes, self.weights, strict=True):
            taken = min(left, weight)
            found += taken * size
            left -= taken
        return None if left > 0 and self.rest > 0 else found


@dataclass(frozen=True)
class Rule:
    """A rule with its numbers."""

    name: str
    numbers: tuple[Fraction, ...]

    @property
    def text(self) -> str:
        """The rule as it is typed."""
        numbers = (digits_text(number).replace(",", "") for number in self.numbers)
        return ":".join([self.name, *numbers])

    @property
    def words(self) -> str:
        """The rule in words."""
        first, *more = [*map(digits_text, self.numbers), ""]
        second = more[0] if more else ""
        return {
            "minimum": f"at least {first} contribute",
            "dominance": f"the largest {first} have at most {second}% of the figure",
            "p": f"nobody can tell the largest contribution to within {first}%"
            + (f", even {second} who work together" if second and second != "1" else ""),
            "pq": f"with prior knowledge to {second}%, nobody can tell the largest to within {first}%",
            "request": f"whoever asked for protection has at most {first}% of the figure",
            "records": f"at least {first} records or holdings contribute",
            "zero": "no figure of 0 says that all who contribute have 0, or that nobody of a kind is there",
            "disclosure": "nobody, by leaving out themselves, knows what all others of a kind are not"
            if first == "1"
            else f"no {first} together, by leaving out themselves, know what all others of a kind are not",
        }[self.name]

    def is_unsafe(self, cell: Contributions) -> bool | None:
        """Whether a cell is unsafe; None where too little of its contributions is known.

        Examples
        --------
        >>> parse_rule("p:10").is_unsafe(Contributions.of([60, 40]))
        True
        """
        if cell.number == 0:
            return False
        if self.name == "zero":
            return cell.total == 0
        first = self.numbers[0]
        if self.name == "disclosure":
            # A matter of whole rows, and not of one cell.
            return False
        if self.name == "minimum":
            return cell.number < first
        if self.name == "records":
            return None if cell.records is None else cell.records < first
        if self.name == "request":
            return cell.is_asked and cell.largest * 100 > first * cell.total
        if self.name == "dominance":
            top = cell.top(int(first))
            if top is None:
                # Those that are known may be too much already.
                return True if cell.listed * 100 > self.numbers[1] * cell.total else None
            return top * 100 > self.numbers[1] * cell.total
        rest = self._rest(cell)
        if rest is None:
            return None
        if self.name == "p":
            return rest * 100 < first * cell.largest
        return rest * self.numbers[1] < first * cell.largest

    def upper_level(self, cell: Contributions) -> Fraction | None:
        """Return by how much more than the figure an attacker must think possible; None if not told."""
        if cell.number == 0 or self.name in ("minimum", "records", "zero", "disclosure"):
            return None
        if self.name == "dominance":
            top = cell.top(int(self.numbers[0]))
            return (
                None if top is None else max(Fraction(0), top * 100 / self.numbers[1] - cell.total)
            )
        rest = self._rest(cell)
        if rest is None:
            return None
        share = {
            "p": self.numbers[0] / 100,
            "pq": self.numbers[0] / (self.numbers[1] if self.name == "pq" else 1),
            "request": Fraction(1, 10),
        }[self.name]
        return max(Fraction(0), share * cell.largest - rest)

    def _rest(self, cell: Contributions) -> Fraction | None:
        coalition = int(self.numbers[1]) if self.name == "p" and len(self.numbers) > 1 else 1
        top = cell.top(1 + coalition)
        return None if top is None else cell.total - top


def parse_rule(text: str) -> Rule:
    """Return a rule from its name and numbers.

    Examples
    --------
    >>> parse_rule("dominance:2:90").words
    'the largest 2 have at most 90% of the figure'
    """
    name, *numbers = (part.strip() for part in text.split(":"))
    try:
        read = tuple(Fraction(number.removesuffix("%")) for number in numbers)
    except (ValueError, ZeroDivisionError):
        read = ()
    wanted = _NUMBERS.get(name, ())
    ranges = all(number > 0 for number in read)
    counted = ("minimum", "records", "dominance", "disclosure")
    whole = read[1:2] if name == "p" else read[:1] if name in counted else ()
    if (
        len(read) != len(numbers)
        or len(read) not in wanted
        or not ranges
        or any(number.denominator != 1 for number in whole)
    ):
        raise InputError(
            Reason.BAD_OPTION,
            f"The rule {quoted([text])} was named.",
            "There is no such rule, or its numbers do not fit.",
            f"Rules are: {RULE_WORDS}.",
        )
    return Rule(name, read)


def disclosing_zeros(
    counts: NDArray[Any], about: Sequence[int], totals: Sequence[int], impossible: Mask
) -> Mask:
    """Return the cells that nobody is in, of rows that somebody is in.

    `counts` has subtotals and one dimension per axis, with the place of the total on each. The axes
    that the table is not `about` make the rows. Nobody can be in cells that are impossible.

    Examples
    --------
    >>> counts = np.array([[1, 3, 0, 4], [4, 2, 1, 7], [5, 5, 1, 11]])
    >>> disclosing_zeros(counts, [1], [2, 3], np.zeros((3, 4), bool)).nonzero()
    (array([0]), array([2]))
    """
    in_row, is_row = _rows(counts, about, totals)
    return (counts == 0) & (in_row > 0) & ~is_row & ~impossible


def disclosing_counts(
    counts: NDArray[Any], about: Sequence[int], totals: Sequence[int], k: int
) -> Mask:
    """Return the cells of at most k people whose rows have others.

    Examples
    --------
    >>> counts = np.array([[1, 3, 0, 4], [4, 2, 1, 7], [5, 5, 1, 11]])
    >>> disclosing_counts(counts, [1], [2, 3], 1)[:2, :3].nonzero()
    (array([0, 1]), array([0, 2]))
    """
    in_row, is_row = _rows(counts, about, totals)
    return (counts > 0) & (counts <= k) & (in_row > counts) & ~is_row


def _rows(
    counts: NDArray[Any], about: Sequence[int], totals: Sequence[int]
) -> tuple[NDArray[Any], Mask]:
    """Return how many are in the row of each cell, and which cells are whole rows."""
    in_row = counts
    is_row = np.ones(counts.shape, bool)
    for axis in about:
        in_row = np.take(in_row, [totals[axis]], axis=axis)
        at = np.arange(counts.shape[axis]) == totals[axis]
        is_row &= at.reshape([-1 if other == axis else 1 for other in range(counts.ndim)])
    return np.broadcast_to(in_row, counts.shape), is_row
