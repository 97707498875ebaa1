"""The risk-utility map: every candidate by what is still at risk and by what is lost.

A candidate is on the frontier if no other one leaves less at risk and loses no more, or loses less
and leaves no more at risk. Risk is the share of people who are expected to be matched rightly; loss
is the share of what the key variables told, in bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.protect.trying.candidate import Candidate
from gamekeeper.results import Provenance, Result
from gamekeeper.results.plotting import COLOURS, GRID, MUTED
from gamekeeper.wording import count_of, percent_text

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, eq=False)
class RiskUtilityMap(Result):
    """All candidates of a study, risk against loss.

    Attributes
    ----------
    candidates
        The candidates, in the order of their numbers.
    before
        The share at risk before anything was done; None where it is not known.
    current
        The number of the candidate that the next one is made from; 0 for the file itself.
    """

    tells_of_records: ClassVar[bool] = False

    candidates: tuple[Candidate, ...]
    before: float | None
    current: int
    provenance: Provenance

    @property
    def frontier(self) -> tuple[int, ...]:
        """The numbers of the candidates that no other one beats, from least loss on."""
        return frontier_of(self.candidates)

    @property
    def best(self) -> Candidate | None:
        """The candidate that loses least of those that meet every target and are not beaten by another.

        One beats another that leaves no fewer right matches, changes no fewer cells, and more of one of
        them. None where none meets every target.
        """
        met = [c for c in self.candidates if c.is_met and c.lost_share is not None]
        known = [c for c in met if not any(map(c.is_beaten_by, met))]
        return min(
            known, key=lambda c: (c.lost_share or 0.0, c.order_of_risk, c.number), default=None
        )

    @property
    def safest(self) -> Candidate | None:
        """The candidate that leaves fewest right matches; None where none is known to."""
        known = [c for c in self.candidates if not c.failed and c.expected_share is not None]
        return min(
            known, key=lambda c: (c.order_of_risk, c.lost_share or 0.0, c.number), default=None
        )

    def headline(self, chosen: Candidate, standing: str) -> list[str]:
        """Say what a candidate leaves beside how it stands, and which one leaves least."""
        made = count_of(len(self.candidates), "candidate")
        safest, least = self.safest, self.cheapest
        first = f"Candidate {chosen.number} {standing}; {chosen.left}."
        said = [first]
        if safest is not None and len(self.candidates) > 1:
            if safest.order_of_risk == chosen.order_of_risk:
                said[0] = f"{first[:-1]}; none of {made} leaves fewer right matches."
            else:
                missed = "" if safest.is_met or not safest.targets else ", and misses a target"
                said[0] = (
                    f"{first[:-1]}; fewest right matches are left by candidate {safest.number}"
                    f" ({_right(safest)}, {_lost(safest)} lost{missed})."
                )
        if least is not None and chosen.is_met and least.number != chosen.number:
            other = next(c for c in self.candidates if c.is_met and least.is_beaten_by(c))
            said.append(
                f"Candidate {least.number} loses least ({_lost(least)}), and is not chosen: it leaves"
                f" {_right(least)} right matches with {least.n_cells:,} cells suppressed or altered besides"
                f" recoding, candidate {other.number} {_right(other)} with {other.n_cells:,}."
            )
        return said

    @property
    def cheapest(self) -> Candidate | None:
        """The candidate that loses least of those that meet every target, beaten or not."""
        met = [c for c in self.candidates if c.is_met and c.lost_share is not None]
        return min(
            met, key=lambda c: (c.lost_share or 0.0, c.order_of_risk, c.number), default=None
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        best, safest = self.best, self.safest
        return {
            "candidates": len(self.candidates),
            "meeting_targets": sum(c.is_met for c in self.candidates),
            "frontier": ", ".join(map(str, self.frontier)),
            "best": None if best is None else best.number,
            "right_matches": None if best is None else best.expected_share,
            "safest": None if safest is None else safest.number,
            "fewest_right_matches": None if safest is None else safest.expected_share,
        }

    def sentences(self) -> list[str]:
        """Return what the map shows, in words."""
        best = self.best
        made = count_of(len(self.candidates), "candidate")
        met = sum(c.is_met for c in self.candidates)
        if best is not None:
            said = [
                *self.headline(best, "meets every target"),
                f"Candidate {best.number}: {best.label}.",
            ]
        else:
            said = [f"None of {made} meets every target."]
            if self.safest is not None:
                first, *more = self.headline(self.safest, "comes nearest to nobody being matched")
                said = [f"{said[0][:-1]}: c{first[1:]}", *more]
        if self.provenance.parameters.get("household"):
            said.append(WHOLE_HOUSEHOLDS)
        if best is not None and met > 1:
            said.append(f"{count_of(met, 'candidate meets', 'candidates meet')} every target.")
        if self.frontier:
            numbers = ", ".join(map(str, self.frontier))
            said.append(f"On the frontier, where no other one is better in both: {numbers}.")
        if self.before is not None:
            said.append(f"Before: right matches of {percent_text(self.before)} to be expected.")
        return said

    def to_arrow(self) -> pa.Table:
        """Return one row per candidate."""
        import pyarrow as pa

        on_frontier = set(self.frontier)
        every = self.candidates
        whole, share, truth, text = pa.int64(), pa.float64(), pa.bool_(), pa.string()
        return pa.table(
            {
                "candidate": pa.array([c.number for c in every], whole),
                "from": pa.array([c.parent for c in every], whole),
                "what": pa.array([c.label for c in every], text),
                "meets_targets": pa.array([c.is_met for c in every], truth),
                "risk_share": pa.array([c.expected_share for c in every], share),
                "lost_share": pa.array([c.lost_share for c in every], share),
                "suppressed": pa.array([c.risk.get("suppressed") for c in every], whole),
                "fewest_candidates": pa.array([c.risk.get("both") for c in every], whole),
                "linkage": pa.array([c.risk.get("linkage") for c in every], share),
                "frontier": pa.array([c.number in on_frontier for c in every], truth),
                "current": pa.array([c.number == self.current for c in every], truth),
                "failed": pa.array([c.failed for c in every], text),
            }
        )

    def plot(self) -> Figure:
        """Draw the map with its frontier; needs no display."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 5.0), layout="constrained")
        ax = figure.subplots()
        ax.grid(color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        shown = [
            (c, c.lost_share, c.expected_share)
            for c in self.candidates
            if c.lost_share is not None and c.expected_share is not None
        ]
        by_number = {c.number: (lost, risk) for c, lost, risk in shown}
        line = [by_number[number] for number in self.frontier]
        if len(line) > 1:
            ax.plot(
                *zip(*line, strict=True), color=MUTED, linewidth=1.2, zorder=1, label="frontier"
            )
        for is_met, mark, label in ((True, "o", "meets every target"), (False, "x", "misses one")):
            own = [(lost, risk) for c, lost, risk in shown if c.is_met is is_met]
            if own:
                colour = COLOURS[0] if is_met else COLOURS[1]
                ax.scatter(
                    *zip(*own, strict=True), marker=mark, color=colour, zorder=2, label=label
                )
        own = [(lost, risk) for c, lost, risk in shown if c.number == self.current]
        if own:
            ax.scatter(
                *zip(*own, strict=True), s=180, facecolors="none", edgecolors=COLOURS[0],
                linewidths=1.2, label="chosen",
            )  # fmt: skip
        for c, lost, risk in shown:
            ax.annotate(str(c.number), (lost, risk), xytext=(5, 4), textcoords="offset points")
        if self.before is not None:
            ax.axhline(self.before, color=MUTED, linestyle=":", linewidth=1.0, label="before")
        ax.set_xlabel("lost, share of what the key variables told")
        ax.set_ylabel("at risk, share of people matched rightly")
        ax.set_xlim(left=0)
        ax.set_ylim(bottom=0)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False, loc="best")
        return figure


def _lost(candidate: Candidate) -> str:
    return "not known" if candidate.lost_share is None else percent_text(candidate.lost_share)


def _right(candidate: Candidate) -> str:
    risk = candidate.expected_share
    return "unknown" if risk is None else percent_text(risk)


def frontier_of(candidates: Sequence[Candidate]) -> tuple[int, ...]:
    """Return the numbers of candidates that no other one beats, from least loss on.

    Examples
    --------
    >>> one = Candidate(1, 0, "a", (), {"people": 10, "expected_matches": 5}, loss={"share": 0.1})
    >>> two = Candidate(2, 0, "b", (), {"people": 10, "expected_matches": 6}, loss={"share": 0.2})
    >>> frontier_of([one, two])
    (1,)
    """
    known = [
        (c.lost_share, c.expected_share, c.number)
        for c in candidates
        if c.lost_share is not None and c.expected_share is not None and not c.failed
    ]
    found: list[int] = []
    least = float("inf")
    for _, risk, number in sorted(known):
        if risk < least:
            least = risk
            found.append(number)
    return tuple(found)
