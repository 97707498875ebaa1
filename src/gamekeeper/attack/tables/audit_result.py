"""What an audit found: hidden cells, those that can be recomputed first, each with the reason.

The reason is a proof of bounds as an equation in words, checked by putting published figures in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from gamekeeper.algorithms.linear.facts import Certificate
from gamekeeper.arrow import pa
from gamekeeper.attack.tables import bounding
from gamekeeper.attack.tables.insiders import Insiders, Interval
from gamekeeper.attack.tables.rules import Rounding, RuleStanding, failing_rules
from gamekeeper.data.tables.cell_facts import CellFacts, PublishedShare
from gamekeeper.data.tables.cell_file import Status
from gamekeeper.data.tables.subtotals import AssumedDisjoint
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import be, count_of, digits_text, joined, on_one_line, quoted

_SHOWN = 5
_SHARES = 3
_MOST_TOLD = 10


@dataclass(frozen=True, repr=False)
class Equation:
    """What follows for a cell from published figures.

    - `terms`: the published cells, each with how many times it is taken.
    - `others`: unpublished cells that can only make the figure smaller (or larger), with factors.
    - `is_upper`: whether it says what the figure is at most, and not at least.
    - `off`: by how much the value may be off, since the figures were rounded.
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
    """Return an equation as a sentence to check by hand; `is_exact` if the figure is known by it."""
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
        also.append(_own_limit(tables, known, found))
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
            shown = (
                f", published as {printed_text(tables, cell)}" if cell in tables.perturbed else ""
            )
            which = f"{tables.words(cell)}{shown}"
            words.append((1 if factor > 0 else -1, f"{times}{end} {value} ({which})"))
    return words


def printed_text(tables: TableSet, cell: int) -> str:
    """Return what is published of a cell that is not shown as it is; "" of any other."""
    told = tables.perturbed.get(cell)
    return "" if told is None else joined([figure_text(one) for one in told.figures], _SHOWN)


def _own_limit(tables: TableSet, known: CellFacts, found: Equation) -> str:
    """Say why a cell has a limit by itself: by its scheme, as it was told, or as nothing is below 0."""
    at = int(known.number[found.cell])
    factor = next(factor for cell, factor in found.others if cell == found.cell)
    is_low = (factor < 0) == found.is_upper
    limit = Fraction(int((known.facts.lower if is_low else known.facts.upper)[at]), known.scale)
    told = tables.perturbed.get(found.cell)
    if told is not None and limit == (told.low if is_low else told.high):
        stand = "stands" if len(told.figures) == 1 else "together stand"
        most = "more" if told.high is None else figure_text(told.high)
        link = "or" if told.high is None else "to"
        what = printed_text(tables, found.cell)
        return f"its published {what} {stand} for {figure_text(told.low)} {link} {most}"
    return "its limit says" if limit or not is_low else "none is below 0"


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


@dataclass(frozen=True, repr=False)
class HiddenCell:
    """A hidden cell, and what is known of it.

    - `truth`: its figure, where the files have it.
    - `interval`: how small and how large the figure can be.
    - `is_near`: whether it is known to within the percentage that was asked for.
    - `is_elsewhere`: whether another table shows it.
    - `is_doubted`: whether what is known of it rests on labels that nobody said exclude each other.
    """

    cell: int
    tables: tuple[str, ...]
    status: Status
    truth: Fraction | None
    interval: Interval
    is_near: bool
    is_elsewhere: bool
    percent: Fraction
    is_doubted: bool = False

    def doubted(self) -> HiddenCell:
        """Return it without what rests on labels that nobody said exclude each other."""
        return replace(self, interval=self.interval.doubted(), is_doubted=True)

    @property
    def is_known(self) -> bool:
        """Whether it can be recomputed."""
        return self.interval.is_known

    @property
    def verdict(self) -> str:
        """What is known of it, in a word."""
        if self.is_elsewhere:
            return "published elsewhere"
        if self.is_known:
            return "recomputed"
        if self.is_near:
            return "nearly known"
        is_open = self.interval.is_open and self.interval.is_beyond(self.percent)
        return "open" if is_open else "not settled"

    @property
    def is_tight(self) -> bool:
        """Whether figures at both ends are shown to be possible."""
        return not self.is_doubted if self.interval.is_known else self.interval.is_tight

    @property
    def is_odd(self) -> bool:
        """Whether its figure, as the files have it, does not agree with what is published."""
        low, high, truth = self.interval.low, self.interval.high, self.truth
        if truth is None:
            return False
        slack = self.interval.slack
        return (low is not None and truth < low - slack) or (
            high is not None and truth > high + slack
        )

    @property
    def order(self) -> tuple[Any, ...]:
        """The recomputed first, of these what must be hidden, then by how narrow the interval is."""
        one = self.interval
        rank = ("published elsewhere", "recomputed", "nearly known", "not settled", "open").index(
            self.verdict
        )
        width = float("inf") if one.high is None or one.low is None else float(one.high - one.low)
        middle = (
            1.0 if one.high is None or one.low is None else float(abs(one.high + one.low)) or 1.0
        )
        return rank, self.status is not Status.UNSAFE, width / middle, width, self.cell


@dataclass(frozen=True, repr=False)
class TableAudit(Result):
    """What published tables give away of the cells that they hide.

    - `cells`: the hidden cells, those that can be recomputed first.
    - `proofs`: for those that are known or nearly so, the published figures that give them away.
    - `within`: the percentage to which a figure counts as nearly known.
    - `insiders`: what contributors learn of others; None where that was not asked.
    - `without_flags`: how many could be recomputed if statuses told nothing; None if not asked.
    - `is_stopped`: whether the search was stopped, so that more may be known.
    - `rounding`: whether published figures are rounded, which is not examined.
    - `assumed`: the axes on which labels could be sums of others, and nobody said that none is.
    - `if_disjoint`: what was found if none is; None where nothing rests on that.
    """

    tables: TableSet
    known: CellFacts
    cells: tuple[HiddenCell, ...]
    proofs: Mapping[int, tuple[Equation, ...]]
    standings: tuple[RuleStanding, ...]
    within: float
    insiders: Insiders | None
    without_flags: int | None
    is_stopped: bool
    rounding: Rounding
    provenance: Provenance
    assumed: tuple[AssumedDisjoint, ...] = ()
    if_disjoint: TableAudit | None = None

    @property
    def n_hidden(self) -> int:
        """The number of hidden cells."""
        return len(self.cells)

    @property
    def n_perturbed(self) -> int:
        """How many of them are shown, but not as they are."""
        return sum(one.status is Status.PERTURBED for one in self.cells)

    @property
    def noun(self) -> str:
        """What they are: hidden, perturbed or both."""
        if not self.n_perturbed:
            return "hidden cell"
        return "perturbed cell" if self.n_perturbed == self.n_hidden else "hidden or perturbed cell"

    @property
    def n_recomputed(self) -> int:
        """How many of them can be recomputed."""
        return sum(one.is_known for one in self.cells)

    @property
    def n_near(self) -> int:
        """How many more are known to within the percentage."""
        return sum(one.is_near and not one.is_known for one in self.cells)

    @property
    def n_not_settled(self) -> int:
        """How many are neither shown to be known nor shown to be open, beyond the percentage."""
        return sum(one.verdict == "not settled" for one in self.cells)

    @property
    def n_odd(self) -> int:
        """How many hidden figures, as the files have them, do not agree with what is published."""
        return sum(one.is_odd for one in self.cells)

    @property
    def is_met(self) -> bool:
        """Whether every rule that was named is proven to hold."""
        return all(one.is_met for one in self.standings)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "hidden": self.n_hidden,
            **({"perturbed": self.n_perturbed} if self.n_perturbed else {}),
            "recomputed": self.n_recomputed,
            f"within_{self.within:g}_percent": self.n_near,
            "not_settled": self.n_not_settled,
            "tight": sum(one.is_tight for one in self.cells),
            "rules": len(self.standings),
            "rules_met": sum(one.is_met for one in self.standings),
            "not_adding_up": self.n_odd,
            "stopped": self.is_stopped,
            "rounding": str(self.rounding),
            **self._assumed_summary(),
            **self._insider_summary(),
        }

    def _assumed_summary(self) -> dict[str, Any]:
        if self.if_disjoint is None:
            return {}
        open_ = sum(one.verdict == "open" for one in self.if_disjoint.cells)
        return {
            **bounding.assumed_summary(self.assumed),
            "open_if_disjoint": open_,
            "rules_met_if_disjoint": self.if_disjoint.summary()["rules_met"],
        }

    def _insider_summary(self) -> dict[str, Any]:
        one = self.insiders
        if one is None:
            return {}
        return {
            "recomputed_by_insiders": len(one.cells),
            "largest_known": len(one.near(Fraction(str(self.within)))),
            "coalitions": one.n_coalitions,
            "coalitions_tried": one.n_tried,
        }

    def verdict(self) -> str:
        """Return what a director needs to know, in a sentence."""
        if self.if_disjoint is not None:
            said = self.if_disjoint.verdict()
            if self.n_recomputed == self.n_hidden:
                axes = [one.axis for one in self.assumed]
                return (
                    f"{said} This takes no label of {quoted(axes)} to be the sum of others"
                    f" (--disjoint {','.join(axes)})."
                )
            return bounding.under_assumption(said, "Whether hidden cells are safe", self.provenance)
        said = self._outside()
        if self.insiders is None or not self.insiders.cells:
            return said
        who = (
            "contributors who know their own figures"
            if self.insiders.size == 1
            else f"{self.insiders.size} contributors who tell each other their own figures"
        )
        more = " more" if self.n_recomputed else ""
        return f"{said} But {who} can recompute {len(self.insiders.cells):,}{more}."

    def _outside(self) -> str:
        if not self.cells:
            if self.rounding:
                return f"No cell is hidden in what was given; {self.rounding.words}."
            is_crossed = any(set(t.axes) == set(self.tables.axes) for t in self.tables.tables)
            is_left = not is_crossed or Status.UNPUBLISHED in self.tables.statuses
            nor = ", nor what can be worked out of cells that no table shows" if is_left else ""
            return (
                "No cell is hidden in what was given: every figure can be read. Whether one of them"
                f" should be hidden was not examined{nor}."
            )
        hidden = count_of(self.n_hidden, self.noun)
        near = f"{self.n_near:,} more to within {digits_text(self.within)}%"
        if self.n_recomputed:
            also = f", {near}" if self.n_near else ""
            return (
                f"{self.n_recomputed:,} of {hidden} can be recomputed from what is published{also}."
            )
        first = ""
        if self.n_near:
            first = (
                f"{self.n_near:,} of {hidden} can be worked out to within {digits_text(self.within)}%, none"
                " exactly."
            )
        if self.n_not_settled:
            open_ = f"{count_of(self.n_not_settled, 'cell is', 'cells are')} not settled."
            return f"{first} But {open_}" if first else f"Of {hidden}, none is known, but {open_}"
        if first:
            return first
        if self.n_hidden == 1:
            return f"The {self.noun} cannot be recomputed, nor be known to within {digits_text(self.within)}%."
        return f"None of {hidden} can be recomputed, and none is known to within {digits_text(self.within)}%."

    def sentences(self, most: int = _MOST_TOLD) -> list[str]:
        """Return the verdict, how rules stand, and the cells that are given away, with the reason."""
        said = [self.verdict()]
        if self.rounding:
            begun = f"{self.rounding.words[0].upper()}{self.rounding.words[1:]}."
            said += [*([begun] if self.cells else []), self.rounding.way_around]
        said += [one.sentence() for one in self.standings]
        said += [note for one in self.standings for note in one.notes]
        if self.if_disjoint is not None:
            met = [one for one in self.if_disjoint.standings if one.is_met]
            said += [f"If no label is the sum of others, rule {one.rule} is met." for one in met]
            said += (
                bounding.possible_sums_words(self.assumed, bounding.HOW_IN_AUDITS) if most else []
            )
        if self.without_flags is not None:
            said.append(
                f"Without what the statuses tell, {self.without_flags:,} could be recomputed."
            )
        if self.insiders is not None:
            said += self.insiders.sentences(self.tables, Fraction(str(self.within)), most)
        if self.is_stopped:
            said.append("The search was stopped: more may be known than is told here.")
        if not self.tables.system.is_joined:
            said.append(
                "The tables have too many possible cells to be joined: what follows from several of them"
                " together may be missed, so that nothing is called open."
            )
        if self.n_odd:
            said.append(
                f"{count_of(self.n_odd, 'hidden figure')} of the files {be(self.n_odd)} not what the"
                " published ones leave possible: the files do not add up there."
            )
        known = [one for one in self.cells if one.is_known or one.is_near]
        said += [self.why(one) for one in known[:most]]
        if len(known) > most > 0:
            said.append(f"{len(known) - most:,} more are given away in the same way.")
        return said

    def told(self, most: int = _MOST_TOLD) -> int:
        """Return how many of the sentences are of single cells."""
        known = sum(one.is_known or one.is_near for one in self.cells)
        return min(known, most) + (known > most > 0)

    def why(self, one: HiddenCell) -> str:
        """Return why a cell is known, in words; "" where it is not."""
        if one.is_elsewhere:
            pairs = zip(self.tables.tables, self.tables.system.tables, strict=False)
            names = [
                table.name
                for table, cells in pairs
                for at in (cells == one.cell).nonzero()[0].tolist()
                if table.statuses[at] is Status.SHOWN
            ]
            is_hidden = one.cell not in self.tables.perturbed
            kept = "hidden" if is_hidden else "hidden or perturbed"
            shown = "published" if is_hidden else "published as it is"
            return f"{self.tables.words(one.cell)} is {kept} in {quoted(one.tables)} and {shown} in {quoted(names)}."
        if not one.is_known and not one.is_near:
            return ""
        words = self.tables.words(one.cell)
        made = self.proofs.get(one.cell)
        if made is None:
            return (
                f"{words} is given away too; the figures were not put together for so many cells."
            )
        if not made:
            if one.is_known and self.known.facts.whole:
                return (
                    f"{words} has one possible figure: no other whole number agrees with all sums."
                )
            return f"{words} follows from all sums together."
        is_exact = one.is_known
        told = self.tables.perturbed.get(one.cell)
        ends = (one.interval.low, one.interval.high)
        if told is not None and ends == (told.low, told.high):
            figures = joined([figure_text(own) for own in told.figures], _SHOWN)
            least, most = (figure_text(end) for end in (told.low, told.high or told.low))
            return (
                f"{words} is {least} to {most}: that is what its published {figures} can stand for."
            )
        listed = [
            equation_words(self.tables, self.known, own, is_exact=is_exact and own.is_equation)
            for own in made
        ]
        if is_exact and not made[0].is_equation and one.interval.low is not None:
            figure = figure_text(one.interval.low)
            is_cut = self.tables.whole and any(own.value != one.interval.low for own in made)
            listed.append(f"So it is {figure}{', as counts are whole' if is_cut else ''}.")
        return " ".join(listed)

    def to_arrow(self) -> pa.Table:
        """Return one row per hidden cell, those that are given away first."""
        return self.top(len(self.cells))

    def top(self, n: int) -> pa.Table:
        """Return the hidden cells that are known best."""
        own = self.cells[:n]
        labels = [self.tables.labels_of(one.cell) for one in own]
        columns: dict[str, Any] = {
            "hidden_in": pa.array([joined(one.tables, 3) for one in own], pa.string())
        }
        for at, name in enumerate(self.tables.axes):
            columns[name if name not in columns else f"axis {name}"] = pa.array(
                [row[at] for row in labels], pa.string()
            )
        more: dict[str, Any] = {
            "status": pa.array([str(one.status) for one in own], pa.string()),
            "figure": _floats(one.truth for one in own),
            **self._printed_column(own),
            "lower": _floats(one.interval.low for one in own),
            "upper": _floats(one.interval.high for one in own),
            "known": pa.array([one.verdict for one in own], pa.string()),
            "tight": pa.array([one.is_tight for one in own], pa.bool_()),
            "rules": pa.array(
                failing_rules(self.standings, [one.cell for one in own]), pa.string()
            ),
            **self._insider_columns(own),
            "why": pa.array([self.why(one) for one in own], pa.string()),
        }
        for name, values in more.items():
            columns[name if name not in columns else f"{name}_of_cell"] = values
        return pa.table(columns)

    def _printed_column(self, own: tuple[HiddenCell, ...]) -> dict[str, Any]:
        if not self.n_perturbed:
            return {}
        texts = [printed_text(self.tables, one.cell) or None for one in own]
        return {"published": pa.array(texts, pa.string())}

    def _insider_columns(self, own: tuple[HiddenCell, ...]) -> dict[str, Any]:
        if self.insiders is None:
            return {}
        known = {
            cell: gain.who.words(self.tables.words(gain.who.cell))
            for gain in reversed(self.insiders.gains)
            for cell in gain.cells
        }
        hidden = {one.cell: one for one in self.insiders.largest if not one.is_published}
        largest = [hidden.get(one.cell) for one in own]
        return {
            "known_to": pa.array([known.get(one.cell, "") for one in own], pa.string()),
            "largest_contribution": _floats(
                None if one is None else one.largest for one in largest
            ),
            "largest_at_most": _floats(None if one is None else one.at_most for one in largest),
        }


def _floats(values: Iterable[Fraction | None]) -> Any:
    return pa.array([None if value is None else float(value) for value in values], pa.float64())
