"""Candidates for some targets, all of them attacked under the same scenario: what was reached, at what cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.attacking.judging import JudgedTarget
from gamekeeper.protect.targets import Criterion, Target
from gamekeeper.protect.trying.candidate import Candidate, Tried
from gamekeeper.protect.trying.risk_utility_map import RiskUtilityMap
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import digits_text, joined, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


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
        """Say what is taken to be known of who is in the file, where a target goes with the other."""
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
