"""What attacks on a release achieve: figures, words, and each beside what it was before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum, nan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compatibility.candidates import Candidates
from gamekeeper.algorithms.compatibility.matchings import Matchings
from gamekeeper.attack.assessment.criteria import CRITERIA, Found
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.protect.attacking.linking import LinkedShare
from gamekeeper.protect.targets import ASSIGNMENTS, Criterion
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, percent_text

if TYPE_CHECKING:
    import pyarrow as pa


CANDIDATES = "candidates"
"""What is not known, of counts of who fits what, where nothing tells what categories stand for."""


@dataclass(frozen=True, repr=False, eq=False)
class FileAttack(Result):
    """What an intruder can do with a file.

    Attributes
    ----------
    n_people, n_rows
        How many people there are in the release, and released rows; all people of the original where
        it is not known which row is whose.
    candidates
        Who can be whom, by criterion.
    response_knowledge
        Whether the intruder is taken to know who is in the file.
    n_misfits
        How many people do not fit their own row, because a value was changed; 0 where it is not known
        which that is.
    matchings
        What all one-to-one assignments have in common; None where that is not known.
    linked
        How many records links re-identify; None where that was not tried.
    measured, criteria
        An assessment of the file as released, and its figures by name; None and nothing where it was
        not made.
    why_not
        Why something is not known, by what it is.
    is_repeatable
        Whether cells are suppressed in a way that somebody who knows the keys of all can do again: what
        is drawn by lot cannot.
    household
        The variable that tells households, which are not attacked as a whole; empty where there is none.
    """

    tells_of_records: ClassVar[bool] = False
    why_no_plot: ClassVar[str] = "it is a list of figures; the map of a study draws some of them"

    n_people: int
    n_rows: int
    candidates: Candidates
    matchings: Matchings | None
    linked: LinkedShare | None
    measured: Measured | None
    criteria: Mapping[str, Found]
    why_not: Mapping[str, str]
    provenance: Provenance
    response_knowledge: bool = True
    n_misfits: int = 0
    household: str = ""
    is_repeatable: bool = False

    def _counts(self, criterion: Criterion | str) -> list[NDArray[np.int64]]:
        """Return what a criterion holds to at least k: candidates of records, of people, or of both."""
        found = self.candidates
        match Criterion(criterion):
            case Criterion.OWN:
                return [found.own]
            case Criterion.RELEASED_TO_PEOPLE:
                return [found.released_to_people]
            case Criterion.PEOPLE_TO_RELEASED:
                return [found.people_to_released]
            case Criterion.BOTH:
                return [found.people_to_released, found.released_to_people]
            case Criterion.WILDCARD:
                return [] if found.wildcard is None else [found.wildcard]

    def smallest(self, criterion: Criterion | str) -> int:
        """Return the largest k for which a criterion holds: the fewest candidates of anybody."""
        return min((int(counts.min()) for counts in self._counts(criterion)), default=0)

    def below(self, criterion: Criterion | str, k: int) -> int:
        """Return how many records or people have fewer than k candidates."""
        found = [np.count_nonzero(counts < k) for counts in self._counts(criterion)]
        return int(max(found, default=0))

    @cached_property
    def expected(self) -> float | None:
        """The expected number of right matches; exact where it can be, else approximate."""
        chances = self.candidates.right
        if chances is None or "expected" in self.why_not:
            return None
        exact = self._exact_chances
        return fsum(chances if exact is None else np.where(np.isnan(exact), chances, exact))

    @cached_property
    def roughly_expected(self) -> float:
        """How many of the expected right matches are of people for whom these are approximate."""
        chances = self.candidates.right
        if chances is None or not self.n_approximate:
            return 0.0
        exact = self._exact_chances
        return fsum(chances if exact is None else chances[np.isnan(exact)])

    @cached_property
    def _exact_chances(self) -> NDArray[np.float64] | None:
        return None if self.matchings is None else _floats(self.matchings.right)

    @cached_property
    def n_approximate(self) -> int:
        """For how many people the probability of a right match is only approximate."""
        if not self.response_knowledge and not self.n_misfits:
            # Who does not know who is in the file takes any of the people whom a record fits.
            return 0
        return self.n_people - (0 if self.matchings is None else self.matchings.n_known)

    @cached_property
    def n_repeated(self) -> int | None:
        """How many right matches there are at most for whoever suppresses again; None where nobody can.

        Such a one knows the released row of everybody, so that only rows that are the same hide each
        other: as many are right as there are different rows.
        """
        if not self.is_repeatable:
            return None
        sizes, n_rows = np.unique(self.candidates.own, return_counts=True)
        return int((n_rows // sizes).sum())

    @property
    def repeated_text(self) -> str:
        """What whoever suppresses again would match, as part of a sentence; empty where nobody can."""
        if self.n_repeated is None:
            return ""
        share = percent_text(self.n_repeated / max(self.n_people, 1))
        return f"whoever knows the keys of all and suppresses again matches up to {share} rightly"

    @property
    def right_share(self) -> float | None:
        """The share of people who are matched rightly, by the better of what was tried."""
        found = [] if self.expected is None else [self.expected / max(self.n_people, 1)]
        found += [] if self.linked is None else [self.linked.share]
        return max(found, default=None)

    @property
    def n_alone(self) -> int:
        """How many people fit exactly one released row."""
        return int(np.count_nonzero(self.candidates.people_to_released == 1))

    @property
    def n_nowhere(self) -> int:
        """How many people fit no released row."""
        return int(np.count_nonzero(self.candidates.people_to_released == 0))

    def fewest_in_assignments(self) -> int | None:
        """Return the fewest rows of anybody in some assignment; None where that is not known."""
        return None if self.matchings is None else int(self.matchings.candidates.min())

    def below_in_assignments(self, k: int) -> int:
        """Return how many people have fewer than k rows in some assignment, where it is known."""
        found = self.matchings
        return 0 if found is None else int(np.count_nonzero(found.candidates < k))

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "people": self.n_people,
            "rows": self.n_rows,
            "own": self.smallest(Criterion.OWN),
            "released_to_people": self.smallest(Criterion.RELEASED_TO_PEOPLE),
            "people_to_released": self.smallest(Criterion.PEOPLE_TO_RELEASED),
            "both": self.smallest(Criterion.BOTH),
            "one_candidate": self.n_alone,
            "assignments": self.fewest_in_assignments(),
            "expected_matches": None if self.expected is None else round(self.expected, 4),
            "linkage": None if self.linked is None else round(self.linked.share, 6),
            "right_share": None if self.right_share is None else round(self.right_share, 6),
            **({} if self.n_repeated is None else {"right_if_repeated": self.n_repeated}),
            **({"whole_households": "not examined"} if self.household else {}),
        }

    def unexamined(self) -> list[str]:
        """Return what was not looked at, in words."""
        return [WHOLE_HOUSEHOLDS] if self.household else []

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        alone, nobody = self.n_alone, self.n_nowhere
        none = f", {nobody:,} none" if nobody else ""
        alone_text = count_of(alone, "person fits", "people fit")
        read = " as far as categories are read" if CANDIDATES in self.why_not else ""
        said = [f"{alone_text} exactly one released record{none}, of {self.n_people:,}{read}."]
        if self.expected is not None:
            said.append(self._expected_text(self.expected))
        if self.n_repeated is not None:
            sure = int(np.count_nonzero(self.candidates.own == 1))
            who = count_of(sure, "person is", "people are")
            said.append(
                f"Suppression that is not drawn by lot can be done again: {self.repeated_text}"
                f" ({self.n_repeated:,})"
                + (f", and {who} alone with their row" if sure else "")
                + ". Neither candidates nor expected right matches count that; the criterion 'own' does."
            )
        if self.matchings is not None:
            fixed = self.below_in_assignments(2)
            if fixed > alone:
                who = count_of(fixed, "person has", "people have")
                said.append(
                    f"{who} one record left where everybody must have one of their own, which"
                    " only somebody who knows the keys of all can work out (a target:"
                    " 'assignments>=2')."
                )
        if self.linked is not None:
            said.append(f"Links re-identify {self.linked.words}.")
        return said

    def _expected_text(self, expected: float) -> str:
        share = percent_text(expected / max(self.n_people, 1))
        who = "" if self.response_knowledge else ", and not who is in the file,"
        rough = ""
        if self.n_misfits:
            rough = (
                f"; that is by equal values, and {count_of(self.n_misfits, 'person has', 'people have')}"
                " another one now: see what links find"
            )
        elif self.n_approximate:
            rough = f" (approximate for {count_of(self.n_approximate, 'person', 'people')})"
        return (
            f"Somebody who knows the keys of all{who} would be expected to match {expected:,.1f} of them"
            f" rightly, {share}{rough}."
        )

    def beside(self, before: FileAttack) -> pa.Table:
        """Return one row per figure, as it was before and as it is now."""
        import pyarrow as pa

        earlier = {row["measure"]: row["value"] for row in before.rows()}
        rows = [
            {**row, "before": earlier.get(row["measure"]), "after": row["value"]}
            for row in self.rows()
        ]
        kinds = {"measure": pa.string(), "before": pa.float64(), "after": pa.float64()}
        return pa.Table.from_pylist(
            rows, pa.schema({**kinds, "kind": pa.string(), "note": pa.string()})
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per figure: what it is, its value, how sure it is."""
        exactly, rough, as_read = "exact", "approximate", "as far as read"
        made: list[dict[str, Any]] = []
        for criterion in Criterion:
            if criterion is Criterion.WILDCARD and self.candidates.wildcard is None:
                if criterion in self.why_not:
                    made.append(_row(criterion.value, None, exactly, self.why_not[criterion]))
                continue
            note = "" if criterion.may_be_target else "protects nobody by itself"
            sure = exactly
            if criterion is not Criterion.OWN and CANDIDATES in self.why_not:
                sure, note = as_read, self.why_not[CANDIDATES]
            made.append(_row(criterion.value, float(self.smallest(criterion)), sure, note))
        counts: dict[str, float | None] = {
            "one_candidate": float(self.n_alone),
            "no_candidate": float(self.n_nowhere),
        }
        if self.matchings is not None:
            counts[ASSIGNMENTS] = self.fewest_in_assignments()
            counts["one_candidate_in_assignments"] = float(self.below_in_assignments(2))
        elif ASSIGNMENTS in self.why_not:
            counts[ASSIGNMENTS] = None
        why = self.why_not.get(CANDIDATES, "")
        made += [
            _row(name, count, as_read if why else exactly, why)
            if count is not None
            else _row(name, None, exactly, self.why_not[name])
            for name, count in counts.items()
        ]
        kind = rough if self.n_approximate else exactly
        note = "by equal values: see linkage" if self.n_misfits else ""
        made.append(
            _row("expected_matches", self.expected, kind, self.why_not.get("expected", note))
        )
        if self.n_repeated is not None:
            note = "by whoever knows the keys of all and suppresses again"
            made.append(_row("right_if_repeated", float(self.n_repeated), "at most", note))
        linked = self.linked
        made.append(
            _row(
                "linkage",
                None if linked is None else linked.share,
                "of a sample" if linked is not None and linked.is_sample else exactly,
                self.why_not.get("linkage", "not tried (--attack of protect try)")
                if linked is None
                else linked.way,
            )
        )
        if self.household:
            note = "no attack looked at households as a whole"
            made.append({**_row("whole_households", None, "", note), "kind": "not examined"})
        if self.measured is not None:
            for name, found in self.criteria.items():
                known = found.interval
                sure = exactly if known is not None and known.is_exact else "estimate"
                value = None if known is None else known.value
                made.append(_row(name, value, sure, found.why or found.note))
        elif "assessment" in self.why_not:
            made += [_row(name, None, exactly, self.why_not["assessment"]) for name in CRITERIA]
        return made

    def to_arrow(self) -> pa.Table:
        """Return one row per figure."""
        import pyarrow as pa

        kinds = {"measure": pa.string(), "value": pa.float64()}
        schema = pa.schema({**kinds, "kind": pa.string(), "note": pa.string()})
        return pa.Table.from_pylist(self.rows(), schema)


def _floats(chances: Sequence[Fraction | None]) -> NDArray[np.float64]:
    """Return probabilities as numbers, not a number where one is not known.

    Many people share one, and each is turned but once.
    """
    known: dict[int, float] = {}
    for chance in chances:
        if id(chance) not in known:
            known[id(chance)] = nan if chance is None else float(chance)
    return np.fromiter((known[id(chance)] for chance in chances), np.float64, len(chances))


def _row(measure: str, value: float | None, kind: str, note: str) -> dict[str, Any]:
    return {
        "measure": measure,
        "value": value,
        "kind": "not known" if value is None else kind,
        "note": note,
    }
