"""What an audit found: hidden cells, those that can be recomputed first, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.attack.tables.assumptions import (
    assumed_summary,
    possible_sums_words,
    under_assumption,
)
from gamekeeper.attack.tables.audit.equations import Equation, equation_words, figure_text
from gamekeeper.attack.tables.audit.insiders import Insiders
from gamekeeper.attack.tables.audit.intervals import Interval
from gamekeeper.attack.tables.audit.rounding import Rounding
from gamekeeper.attack.tables.audit.standing import RuleStanding, failing_rules
from gamekeeper.data.cells.cell_facts import CellFacts
from gamekeeper.data.cells.statuses import Status
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.data.tables.subtotals import AssumedDisjoint
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import be, count_of, digits_text, joined, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 10


@dataclass(frozen=True, repr=False)
class HiddenCell:
    """A hidden cell, and what is known of it.

    Attributes
    ----------
    tables
        The tables that hide it.
    status
        Why it is hidden.
    truth
        Its figure, where the files have it.
    interval
        How small and how large the figure can be.
    is_near
        Whether it is known to within the percentage that was asked for.
    is_elsewhere
        Whether another table shows it.
    percent
        The percentage that was asked for.
    is_doubted
        Whether what is known of it rests on labels that nobody said exclude each other.
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
        one = self.interval
        if one.is_known:
            return not self.is_doubted
        low = one.low is not None and one.low == one.reached_low
        return low and (one.is_endless or (one.high is not None and one.high == one.reached_high))

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

    Attributes
    ----------
    tables, known
        The tables, and what they say about their open cells.
    cells
        The hidden cells, those that can be recomputed first.
    proofs
        For those that are known or nearly so, the published figures that give them away.
    standings
        How the rules that were named stand.
    within
        The percentage to which a figure counts as nearly known.
    insiders
        What contributors learn of others; None where that was not asked.
    without_flags
        How many could be recomputed if statuses told nothing; None where they were not asked about.
    is_stopped
        Whether the search was stopped, so that more may be known.
    rounding
        Whether published figures are rounded, which is not examined.
    assumed
        The axes on which labels could be sums of others, and nobody said that none is.
    if_disjoint
        What was found if none is; None where nothing rests on that.
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
            **assumed_summary(self.assumed),
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
            return under_assumption(said, "Whether hidden cells are safe", self.provenance)
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
        """Return what somebody can work out who is not in the tables."""
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
        hidden = count_of(self.n_hidden, "hidden cell")
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
            return f"The hidden cell cannot be recomputed, nor be known to within {digits_text(self.within)}%."
        return f"None of {hidden} can be recomputed, and none is known to within {digits_text(self.within)}%."

    def sentences(self, most: int = _SHOWN) -> list[str]:
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
            said += possible_sums_words(self.assumed) if most else []
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

    def told(self, most: int = _SHOWN) -> int:
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
            return f"{self.tables.words(one.cell)} is hidden in {quoted(one.tables)} and published in {quoted(names)}."
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
        import pyarrow as pa

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

    def _insider_columns(self, own: tuple[HiddenCell, ...]) -> dict[str, Any]:
        import pyarrow as pa

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
    import pyarrow as pa

    return pa.array([None if value is None else float(value) for value in values], pa.float64())
