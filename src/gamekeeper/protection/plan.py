"""Candidates: ways to protect a file, each with its cost and what attacks then achieve, and their map.

Of a candidate figures and steps are kept, so that a study can keep it without the data; the
protected file is made again from the steps. All are attacked under the same scenario. One is on the
frontier of the risk-utility map if no other leaves less at risk and loses no more, or loses less
and leaves no more at risk. Risk is the share of people who are expected to be matched rightly; loss
is the share of what the key variables told, in bits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper.arrow import pa
from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.options import given
from gamekeeper.protection.attacking.result import FileAttack, JudgedTarget
from gamekeeper.protection.recipe import RecipeStep
from gamekeeper.protection.step import Protected
from gamekeeper.protection.targets import Criterion, Target
from gamekeeper.protection.utility.result import Utility
from gamekeeper.results import COLOURS, GRID, MUTED, Provenance, Result
from gamekeeper.wording import count_of, digits_text, joined, percent_text, quoted, three_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to protect a file.

    `number` counts from 1 in the study, `parent` is that of the one it was made from, 0 for the
    file itself. `label` and `told` say what it is and what it costs in words, `steps` what each
    found. `risk` and `loss` are headline figures (of the loss, `share` is that of all that key
    variables told, in bits), `targets` each with what was reached. `failed` says why it could not
    be done.
    """

    number: int
    parent: int
    label: str
    steps: tuple[RecipeStep, ...]
    risk: Mapping[str, Any] = field(default_factory=dict[str, Any])
    targets: tuple[Mapping[str, Any], ...] = ()
    loss: Mapping[str, float] = field(default_factory=dict[str, float])
    told: tuple[str, ...] = ()
    is_met: bool = False
    failed: str = ""
    output: str = ""

    @property
    def expected_share(self) -> float | None:
        """The share of people who are matched rightly, by expectation or by links, whichever is more."""
        if self.risk.get("right_share") is not None:
            return float(self.risk["right_share"])
        expected, people = self.risk.get("expected_matches"), self.risk.get("people")
        return None if expected is None or not people else float(expected) / float(people)

    @property
    def lost_share(self) -> float | None:
        """The share of what key variables told that is lost."""
        return self.loss.get("share")

    @property
    def n_cells(self) -> int | None:
        """How many cells were suppressed or have another value; None where that was not kept."""
        return self.risk.get("changed", self.risk.get("suppressed"))

    @property
    def left(self) -> str:
        """What it leaves at risk and what it costs, as a clause."""
        expected, lost = self.expected_share, self.lost_share
        risk = (
            "how many people somebody who knows the keys of all matches rightly is not known"
            if expected is None
            else "somebody who knows the keys of all is expected to match"
            f" {percent_text(expected)} of the people rightly"
        )
        cost = (
            "what is lost is not known"
            if lost is None
            else f"{percent_text(lost)} of what was told is lost"
        )
        return f"{risk}, and {cost}"

    def is_beaten_by(self, other: Candidate) -> bool:
        """Tell whether it is worse than another in right matches (unknown ones are most), in cells, or both."""
        if self.n_cells is None or other.n_cells is None:
            return False
        own = self.order_of_risk, self.n_cells
        others = other.order_of_risk, other.n_cells
        return own != others and others[0] <= own[0] and others[1] <= own[1]

    @property
    def unexamined(self) -> list[str]:
        """What no attack on it looked at, in words."""
        return [WHOLE_HOUSEHOLDS] if "whole_households" in self.risk else []

    @property
    def order_of_risk(self) -> float:
        """The share of right matches, to compare: what is not known is more than everybody."""
        return 2.0 if self.expected_share is None else self.expected_share

    @property
    def sentence(self) -> str:
        """What it is and how it stands, in one sentence."""
        if self.failed:
            return f"{self.label}: cannot be done. {self.failed}"
        expected, lost = self.expected_share, self.lost_share
        risk = "not known" if expected is None else percent_text(expected)
        cost = "not known" if lost is None else percent_text(lost)
        standing = "meets every target" if self.is_met else "misses a target"
        if not self.targets:
            standing = "no target"
        return f"{self.label}: right matches {risk}, lost {cost} of what was told; {standing}."

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return given(
            self,
            steps=[step.to_json() for step in self.steps],
            risk=dict(self.risk),
            targets=[dict(target) for target in self.targets],
            loss=dict(self.loss),
            told=list(self.told),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tried:
    """A candidate with all that was made and found, while the data are at hand."""

    candidate: Candidate
    protected: Protected
    attack: FileAttack
    judged: tuple[JudgedTarget, ...]
    utility: Utility


def loss_figures(utility: Utility, keys: tuple[str, ...]) -> dict[str, float]:
    """Return what is lost, as a few numbers.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.protection.utility.measuring import measure_utility
    >>> file = coded_from_codes([[1, 1], [2, 1], [2, 2]], ["sex", "job"])
    >>> loss_figures(measure_utility(file, file), ("sex", "job"))["share"]
    0.0
    """
    own = [each for each in utility.variables if each.variable in keys]
    before = sum(each.bits_before for each in own)
    lost = sum(each.bits_lost or 0.0 for each in own)
    worst = utility.farthest
    return {
        "share": lost / before if before else 0.0,
        "bits": lost,
        "farthest": worst.distance if worst else 0.0,
        **{f"mean_{size}way": mean for size, mean, _ in utility.mean_distances},
    }


def cost_in_words(
    utility: Utility, keys: tuple[str, ...], recoded: Collection[str] = ()
) -> list[str]:
    """Return what a candidate costs, in plain terms; `recoded` have other categories than before."""
    own = sorted(
        (each for each in utility.variables if each.variable in keys and each.bits_lost),
        key=lambda each: -(each.bits_lost or 0),
    )
    share = percent_text(loss_figures(utility, keys)["share"])
    said = [f"Of all that the key variables told, {share} is lost (entropy)."] if own else []
    for each in own[:3]:
        parts: list[str] = []
        if each.categories_after < each.categories_before:
            before, after = each.categories_before, each.categories_after
            left = count_of(after, "category", "categories")
            gone = "occurs no more" if before - after == 1 else "occur no more"
            parts.append(
                f"{left} instead of {before:,}"
                if each.variable in recoded
                else f"{before - after:,} of {before:,} categories {gone}"
            )
        if each.suppressed_share:
            parts.append(f"{percent_text(each.suppressed_share)} of its cells suppressed")
        if each.changed_share and each.changed_share > (each.suppressed_share or 0):
            parts.append(f"{percent_text(each.changed_share)} of its cells changed")
        told = ", ".join(parts) or "changed"
        lost = percent_text((each.bits_lost or 0) / each.bits_before) if each.bits_before else "all"
        said.append(f"{each.variable}: {told}; {lost} of what it told is lost.")
    if len(own) > 3:
        said.append(f"{count_of(len(own) - 3, 'more variable loses', 'more variables lose')} less.")
    worst = utility.farthest
    if worst is not None and worst.distance > 0:
        said.append(
            f"The table that moved farthest is {worst.name} (Hellinger {three_digits(worst.distance)};"
            " 0 is the same, 1 nothing in common)."
        )
    return said


@dataclass(frozen=True, repr=False, eq=False)
class RiskUtilityMap(Result):
    """All candidates of a study by their numbers, risk against loss.

    `before` is the share at risk before anything was done (None where not known), and `current` the
    number of the candidate that the next one is made from, 0 for the file itself.
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

        One beats another that leaves no fewer right matches, changes no fewer cells, and more of
        one of them.
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
        on_frontier = set(self.frontier)
        every = self.candidates
        whole, share, truth, text = pa.int64(), pa.float64(), pa.bool_(), pa.string()
        columns = {
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
        return pa.table(columns)

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


@dataclass(frozen=True, repr=False, eq=False)
class Plan(Result):
    """Candidates for some targets.

    `tried` are those that were made now, with their files; `map` has all of the study. `blocked` says
    what stands in the way where no candidate meets the targets.
    """

    tells_of_records: ClassVar[bool] = False
    targets: tuple[Target, ...]
    before: FileAttack
    judged_before: tuple[JudgedTarget, ...]
    tried: tuple[Tried, ...]
    map: RiskUtilityMap
    blocked: tuple[str, ...]
    provenance: Provenance

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates, those of before among them."""
        return self.map.candidates

    @property
    def best(self) -> Candidate | None:
        """The candidate that meets every target, is not beaten, and loses least; None where none does."""
        return self.map.best

    @property
    def nearest(self) -> Candidate | None:
        """The best that could be reached: it misses fewest targets, then leaves least at risk."""
        known = [c for c in self.map.candidates if not c.failed]

        def order(candidate: Candidate) -> tuple[int, float, int, float]:
            missed = sum(target["standing"] != "met" for target in candidate.targets)
            one = candidate
            return missed, one.order_of_risk, one.n_cells or 0, one.lost_share or 0.0

        return self.best or min(known, key=order, default=None)

    @property
    def is_met(self) -> bool:
        """Whether some candidate meets every target."""
        return self.best is not None

    def of(self, number: int) -> Tried | None:
        """Return a candidate that was made now, with its file, by its number."""
        return next((each for each in self.tried if each.candidate.number == number), None)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "targets": ", ".join(target.text for target in self.targets),
            **self.map.summary(),
            "met": self.is_met,
        }

    def sentences(self) -> list[str]:
        """Return what was reached, at what cost, and what stands in the way."""
        nearest = self.nearest
        said: list[str] = []
        if nearest is None:
            said.append("No candidate could be made.")
        elif self.is_met:
            said += self.map.headline(nearest, f"meets {self._targets()}")
        else:
            first, *more = self.map.headline(nearest, "is the best that was reached")
            targets = self._targets(start=True)
            said += [f"{targets} cannot be met by what was tried: c{first[1:]}", *more]
            missed = [t for t in nearest.targets if t["standing"] != "met"]
            said += [
                f"It misses {quoted([t['target']])}"
                + (f": reached {digits_text(t['reached'], 6)}" if t["reached"] is not None else "")
                + (f"; {t['why']}." if t["why"] else ".")
                for t in missed
            ]
        said += self.before.unexamined()
        said += [f"In the way: {text}" for text in self.blocked]
        said += self._taken()
        said.append(f"Before: {self.before.sentences()[0]}")
        if nearest is not None:
            said.append(f"Candidate {nearest.number}: {nearest.label}.")
            said += list(nearest.told)
        latest = self.tried[-1].candidate if self.tried else None
        if latest is not None and self.of(nearest.number if nearest else 0) is None:
            # What stands best was tried before: what was tried now is told too.
            said.append(f"Tried now, candidate {latest.number}: {latest.label}.")
            said += list(latest.told)
        return said

    def _taken(self) -> list[str]:
        criteria = {target.criterion for target in self.targets}
        if self.before.response_knowledge and criteria == {Criterion.RELEASED_TO_PEOPLE}:
            told = (
                "(k,1) is for intruders who cannot know who is in the file; where some may (response"
                " knowledge), ask for 'both'."
            )
            return [told]
        if not self.before.response_knowledge:
            return ["Nobody is taken to know who is in the file (--no-response-knowledge)."]
        return []

    def to_arrow(self) -> pa.Table:
        """Return one row per candidate."""
        return self.map.to_arrow()

    def plot(self) -> Figure:
        """Draw the map of candidates."""
        return self.map.plot()

    def _targets(self, *, start: bool = False) -> str:
        if not self.targets:
            return "Nothing was asked for, and it" if start else "what was asked for (nothing)"
        texts = joined([quoted([target.text]) for target in self.targets])
        word = "target" if len(self.targets) == 1 else "targets"
        return f"{'The' if start else 'the'} {word} {texts}"
