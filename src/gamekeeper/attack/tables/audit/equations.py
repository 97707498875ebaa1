"""Proofs of bounds as equations of published figures, in words, checked by putting the figures in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.cells.linear_facts import Certificate
from gamekeeper.data.cells.cell_facts import CellFacts
from gamekeeper.data.cells.share_facts import PublishedShare
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.wording import joined, on_one_line

_SHOWN = 5
_SHARES = 3


@dataclass(frozen=True, repr=False)
class Equation:
    """What follows for a cell from published figures.

    Attributes
    ----------
    terms
        The published cells, each with how many times it is taken.
    others
        Cells that are not published and can only make the figure smaller (or larger), with factors.
    is_upper
        Whether it says what the figure is at most, and not at least.
    shares
        The percentages, ratios and means that are needed.
    off
        By how much the value may be off, since the figures were rounded.
    """

    cell: int
    terms: tuple[tuple[int, Fraction], ...]
    others: tuple[tuple[int, Fraction], ...]
    is_upper: bool
    value: Fraction
    shares: tuple[PublishedShare, ...] = ()
    off: Fraction = Fraction(0)

    @property
    def is_equation(self) -> bool:
        """Whether the figure is the sum of published ones and nothing else."""
        return not self.others and not self.shares


def equation_of(tables: TableSet, known: CellFacts, proof: Certificate) -> Equation:
    """Return the equation of published figures that a proof stands for."""
    terms: dict[int, Fraction] = {}
    shares: dict[PublishedShare, None] = {}
    for row, times in proof.rows.items():
        equation = int(known.equations[row])
        share = known.share(row)
        if share is not None:
            shares[share] = None
            continue
        whole, parts = tables.system.equation(equation)
        for cell, sign in [(whole, 1), *((int(part), -1) for part in parts)]:
            if known.is_published[cell]:
                terms[cell] = terms.get(cell, Fraction(0)) - times * sign
    others = [
        (int(known.cells[number]), factor)
        for number, factor in proof.left_over(known.facts).items()
        if not known.is_published[known.cells[number]]
    ]
    taken = tuple((cell, times) for cell, times in terms.items() if times)
    value, off = proof.bound / known.scale, Fraction(0)
    if known.tolerance and not others and not shares:
        # Rounded figures are added up as they are; what that leaves open is told beside them.
        value = sum((times * _figure(known, cell) for cell, times in taken), Fraction(0))
        off = known.tolerance * sum((abs(times) for _, times in taken), Fraction(0))
    return Equation(
        int(known.cells[proof.target]),
        taken,
        tuple(others),
        proof.is_upper,
        value,
        tuple(shares),
        off,
    )


def equation_words(tables: TableSet, known: CellFacts, found: Equation, *, is_exact: bool) -> str:
    """Return an equation as a sentence that can be checked by hand.

    `is_exact` tells that the figure is known, and not just bounded.
    """
    verb = "is" if is_exact else ("is at most" if found.is_upper else "is at least")
    value = figure_text(found.value)
    if is_exact and tables.whole and found.value.denominator != 1:
        value = figure_text(Fraction(int(found.value)))
    added = [(cell, times) for cell, times in found.terms if times > 0]
    taken = [(cell, -times) for cell, times in found.terms if times < 0]
    ends = _ends(tables, known, found)
    listed = [_listed(tables, known, added), *(words for sign, words in ends if sign > 0)]
    shown = joined([one for one in listed if one], len(listed))
    shown = shown or ("0" if taken or len(ends) or not (found.shares or found.others) else "")
    listed = [_listed(tables, known, taken), *(words for sign, words in ends if sign < 0)]
    away = joined([one for one in listed if one], len(listed))
    less = f" less {away}" if away else ""
    also: list[str] = []
    others = [cell for cell, _ in found.others if cell != found.cell]
    if len(others) < len(found.others):
        also.append("its limit says" if _is_limited(known, found) else "none is below 0")
    if len(others) > len(ends):
        also.append(f"nothing {'else ' if ends else ''}that it is added up with can be below 0")
    if found.shares:
        also.append(
            f"{_share_words(tables, found)} {'was' if len(found.shares) == 1 else 'were'} rounded"
        )
    if found.off:
        value = f"{value}, give or take {figure_text(found.off)}"
    elif known.tolerance:
        also.append(f"each figure is off by at most {figure_text(known.tolerance)}")
    why = f", as {joined(also, 3)}" if also else ""
    figures = f": {shown}{less}" if shown else ""
    return f"{tables.words(found.cell)} {verb} {value}{figures}{why}."


def _share_words(tables: TableSet, found: Equation) -> str:
    """Return the published shares that are needed, some of them in words."""
    words: list[str] = []
    for share in found.shares[:_SHARES]:
        whole = "" if share.whole is None else tables.figures[share.whole]
        of = f" of {figure_text(whole)}" if isinstance(whole, Fraction) else ""
        over = f" over {figure_text(share.count)}" if share.count is not None else ""
        words.append(
            f"the published {on_one_line(share.name, 40)} {figure_text(share.value)}{over}{of}"
            f" ({tables.words(share.cell)})"
        )
    if len(found.shares) > _SHARES:
        words.append(f"{len(found.shares) - _SHARES:,} more")
    return joined(words, len(words))


def _ends(tables: TableSet, known: CellFacts, found: Equation) -> list[tuple[int, str]]:
    """Return the limits other than 0 of cells that are not published, each with its sign, in words."""
    words: list[tuple[int, str]] = []
    for cell, factor in found.others:
        at = int(known.number[cell])
        is_low = (factor < 0) == found.is_upper
        limit = int(known.facts.lower[at] if is_low else known.facts.upper[at])
        if limit and cell != found.cell:
            value = figure_text(Fraction(limit, known.scale))
            times = "" if abs(factor) == 1 else f"{figure_text(abs(factor))} times "
            end = "at least" if is_low else "at most"
            words.append((1 if factor > 0 else -1, f"{times}{end} {value} ({tables.words(cell)})"))
    return words


def _is_limited(known: CellFacts, found: Equation) -> bool:
    """Whether a limit of the cell itself is one that was told, and not that nothing is below 0."""
    at = int(known.number[found.cell])
    factor = next(factor for cell, factor in found.others if cell == found.cell)
    is_low = (factor < 0) == found.is_upper
    return not is_low or int(known.facts.lower[at]) != 0


def _listed(tables: TableSet, known: CellFacts, terms: list[tuple[int, Fraction]]) -> str:
    ordered = sorted(terms, key=lambda term: (-known.values[term[0]] * term[1], term[0]))
    words = [
        f"{'' if times == 1 else f'{figure_text(times)} times '}"
        f"{figure_text(_figure(known, cell))} ({tables.words(cell)})"
        for cell, times in ordered[:_SHOWN]
    ]
    rest = ordered[_SHOWN:]
    if rest:
        together = sum((times * _figure(known, cell) for cell, times in rest), Fraction(0))
        words.append(f"{len(rest):,} more published figures, together {figure_text(together)}")
    return joined(words, len(words))


def _figure(known: CellFacts, cell: int) -> Fraction:
    return Fraction(int(known.values[cell]), known.scale)


def figure_text(value: Fraction) -> str:
    """Return a figure with all its decimals, up to six.

    Examples
    --------
    >>> figure_text(Fraction(25, 2)), figure_text(Fraction(1, 3)), figure_text(Fraction(12000))
    ('12.5', '0.333333', '12,000')
    """
    if value.denominator == 1:
        return f"{value.numerator:,}"
    return f"{float(value):,.6f}".rstrip("0").rstrip(".")
