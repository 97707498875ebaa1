"""A candidate: a way to protect a file, what it costs, what attacks then achieve.

What is kept of it are figures and steps, so that a study can keep it without the data; the protected
file itself is made again from the steps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.options import given
from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.attacking.judging import JudgedTarget
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.recipe import RecipeStep
from gamekeeper.protect.utility.result import Utility
from gamekeeper.wording import count_of, percent_text, three_digits


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to protect a file.

    Attributes
    ----------
    number, parent
        Its number in the study, from 1, and that of the one it was made from, 0 for the file itself.
    label
        What it is, in a few words.
    steps
        What is done, and what each step found.
    risk
        Headline figures of the attacks.
    targets
        Each target with what was reached.
    loss
        Headline figures of what is lost; `share` is that of all that key variables told, in bits.
    told
        What was done and what it costs, in words.
    is_met
        Whether every target is met.
    failed
        Why it could not be done; empty where it could.
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
        """Tell whether it is worse than another in right matches and in cells, or in one of them alone.

        Right matches that are not known are taken for more than any that are.
        """
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
    >>> from gamekeeper.protect.utility.measuring import measure_utility
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
