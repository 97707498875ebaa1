"""Everything that stage two knows, done to a file as it would be released.

Who can be whom is always counted. Links with the original and an assessment (uniques, models,
matching, measures) take longer, and are done where they are asked for or a target needs them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gamekeeper.algorithms.compatibility.candidates import Candidates
from gamekeeper.algorithms.compatibility.matchings import Matchings
from gamekeeper.attack.assessment.criteria import CRITERIA, Found
from gamekeeper.attack.assessment.measured import Measured, measure_file
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import LimitError
from gamekeeper.protect.attacking.linking import LinkedShare, link_release
from gamekeeper.protect.attacking.sides import FileSides, sides_of
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.targets import LINKAGE, Criterion, Target
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, percent_text

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.results import Progress


class AttackName(StrEnum):
    """What is done to a file besides counting who can be whom."""

    LINKAGE = "linkage"
    ASSESSMENT = "assessment"


@dataclass(frozen=True, repr=False, eq=False)
class FileAttack(Result):
    """What an intruder can do with a file.

    Attributes
    ----------
    n_people, n_rows
        How many people there are, and released rows.
    candidates
        Who can be whom, by criterion.
    matchings
        What all one-to-one assignments have in common; None where that is not known.
    linked
        How many records links re-identify; None where that was not tried.
    measured, criteria
        An assessment of the file as released, and its figures by name; None and nothing where it was
        not made.
    why_not
        Why something is not known, by what it is.
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

    def smallest(self, criterion: Criterion | str) -> int:
        """Return the largest k for which a criterion holds: the fewest candidates of anybody."""
        found = self.candidates
        match Criterion(criterion):
            case Criterion.OWN:
                return int(found.own.min())
            case Criterion.RELEASED_TO_PEOPLE:
                return int(found.released_to_people.min())
            case Criterion.PEOPLE_TO_RELEASED:
                return int(found.people_to_released.min())
            case Criterion.BOTH:
                return found.both
            case Criterion.WILDCARD:
                return 0 if found.wildcard is None else int(found.wildcard.min())

    def below(self, criterion: Criterion | str, k: int) -> int:
        """Return how many records or people have fewer than k candidates."""
        found = self.candidates
        match Criterion(criterion):
            case Criterion.OWN:
                return int(np.count_nonzero(found.own < k))
            case Criterion.RELEASED_TO_PEOPLE:
                return int(np.count_nonzero(found.released_to_people < k))
            case Criterion.PEOPLE_TO_RELEASED:
                return int(np.count_nonzero(found.people_to_released < k))
            case Criterion.BOTH:
                people = int(np.count_nonzero(found.people_to_released < k))
                return max(people, int(np.count_nonzero(found.released_to_people < k)))
            case Criterion.WILDCARD:
                return 0 if found.wildcard is None else int(np.count_nonzero(found.wildcard < k))

    @property
    def expected(self) -> float | None:
        """The expected number of right matches; exact where it can be, else approximate."""
        chances = self.candidates.right
        if chances is None or "expected" in self.why_not:
            return None
        if self.matchings is None:
            return float(chances.sum())
        exact = self.matchings.right
        return float(
            sum(
                float(p) if p is not None else float(q) for p, q in zip(exact, chances, strict=True)
            )
        )

    @property
    def n_approximate(self) -> int:
        """For how many people the probability of a right match is only approximate."""
        return self.n_people - (0 if self.matchings is None else self.matchings.n_known)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "people": self.n_people,
            "rows": self.n_rows,
            "own": self.smallest(Criterion.OWN),
            "released_to_people": self.smallest(Criterion.RELEASED_TO_PEOPLE),
            "people_to_released": self.smallest(Criterion.PEOPLE_TO_RELEASED),
            "both": self.smallest(Criterion.BOTH),
            "one_candidate": self.below(Criterion.PEOPLE_TO_RELEASED, 2),
            "expected_matches": None if self.expected is None else round(self.expected, 4),
            "linkage": None if self.linked is None else round(self.linked.share, 6),
        }

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        alone = self.below(Criterion.PEOPLE_TO_RELEASED, 2)
        nobody = int(np.count_nonzero(self.candidates.people_to_released == 0))
        alone -= nobody
        none = f", {nobody:,} none" if nobody else ""
        alone_text = count_of(alone, "person fits", "people fit")
        said = [f"{alone_text} exactly one released record{none}, of {self.n_people:,}."]
        if self.expected is not None:
            rough = ""
            if self.n_approximate:
                rough = f" (approximate for {count_of(self.n_approximate, 'person', 'people')})"
            share = percent_text(self.expected / max(self.n_people, 1))
            said.append(
                f"Somebody who knows the keys of all would be expected to match {self.expected:,.1f}"
                f" of them rightly, {share}{rough}."
            )
        if self.matchings is not None:
            fixed = int(np.count_nonzero(self.matchings.candidates == 1))
            if fixed > alone:
                who = count_of(fixed, "person has", "people have")
                said.append(
                    f"{who} one record left where everybody must have one of their own, which"
                    " only somebody who knows the keys of all can work out."
                )
        if self.linked is not None:
            said.append(f"Links re-identify {self.linked.words}.")
        return said

    def beside(self, before: FileAttack) -> pa.Table:
        """Return one row per figure, as it was before and as it is now."""
        import pyarrow as pa

        earlier = {row["measure"]: row["value"] for row in before.rows()}
        rows = [
            {
                "measure": row["measure"],
                "before": earlier.get(row["measure"]),
                "after": row["value"],
                "kind": row["kind"],
                "note": row["note"],
            }
            for row in self.rows()
        ]
        kinds = {"measure": pa.string(), "before": pa.float64(), "after": pa.float64()}
        return pa.Table.from_pylist(
            rows, pa.schema({**kinds, "kind": pa.string(), "note": pa.string()})
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per figure: what it is, its value, how sure it is."""
        exactly, rough = "exact", "approximate"
        made: list[dict[str, Any]] = []
        for criterion in Criterion:
            if criterion is Criterion.WILDCARD and self.candidates.wildcard is None:
                continue
            note = "" if criterion.may_be_target else "protects nobody by itself"
            made.append(_row(criterion.value, float(self.smallest(criterion)), exactly, note))
        made.append(
            _row("one_candidate", float(self.below(Criterion.PEOPLE_TO_RELEASED, 2)), exactly, "")
        )
        if self.matchings is not None:
            fewest = self.matchings.candidates
            alone = float(np.count_nonzero(fewest == 1))
            made.append(_row("one_candidate_in_assignments", alone, exactly, ""))
        kind = rough if self.n_approximate else exactly
        made.append(_row("expected_matches", self.expected, kind, self.why_not.get("expected", "")))
        linked = self.linked
        made.append(
            _row(
                "linkage",
                None if linked is None else linked.share,
                "of a sample" if linked is not None and linked.is_sample else exactly,
                self.why_not.get("linkage", "") if linked is None else linked.way,
            )
        )
        if self.measured is not None:
            for name, found in self.criteria.items():
                value = None if found.interval is None else found.interval.value
                sure = (
                    exactly
                    if found.interval is not None and found.interval.is_exact
                    else "estimate"
                )
                made.append(_row(name, value, sure, found.why or found.note))
        elif "assessment" in self.why_not:
            made += [_row(name, None, exactly, self.why_not["assessment"]) for name in CRITERIA]
        return made

    def to_arrow(self) -> pa.Table:
        """Return one row per figure."""
        import pyarrow as pa

        schema = pa.schema(
            {
                "measure": pa.string(),
                "value": pa.float64(),
                "kind": pa.string(),
                "note": pa.string(),
            }
        )
        return pa.Table.from_pylist(self.rows(), schema)


def _row(measure: str, value: float | None, kind: str, note: str) -> dict[str, Any]:
    return {
        "measure": measure,
        "value": value,
        "kind": "not known" if value is None else kind,
        "note": note,
    }


def attacks_for(
    targets: Collection[Target], others: Collection[AttackName] = ()
) -> frozenset[AttackName]:
    """Return the attacks that targets need, and others."""
    found = set(others)
    for target in targets:
        if target.measure == LINKAGE:
            found.add(AttackName.LINKAGE)
        elif target.measure in CRITERIA or target.policy is not None:
            found.add(AttackName.ASSESSMENT)
    return frozenset(found)


def attack_file(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog,
    setting: Setting,
    attacks: Collection[AttackName] = (),
    *,
    sides: FileSides | None = None,
    wildcard: bool = False,
    progress: Progress | None = None,
) -> FileAttack:
    """Attack a file as it would be released.

    Parameters
    ----------
    before, after, log
        The original, the release, and where they differ. Nothing is changed in a file that is
        attacked as it is.
    setting
        Keys, design and seed: the same for every candidate.
    attacks
        What is done besides counting.
    sides
        People and rows, where these are not told by the log.
    wildcard
        Whether the count that proves nothing is shown as well.
    """
    started = time.perf_counter()
    laid = sides_of(before, after, log, setting) if sides is None else sides
    why: dict[str, str] = {}
    if laid.truth is None:
        why["expected"] = why["linkage"] = "it is not known which released record is whose"
    linked = None
    if AttackName.LINKAGE in attacks and laid.truth is not None:
        linked = link_release(before, after, log, setting, progress=progress)
    measured = None
    if AttackName.ASSESSMENT in attacks:
        try:
            measured = measure_release(after, log, setting, progress)
        except LimitError as error:
            # What is not known is not proven; the other attacks are told all the same.
            why["assessment"] = error.found
    return FileAttack(
        len(laid.people),
        len(laid.released),
        laid.count(wildcard=wildcard),
        laid.matchings(),
        linked,
        measured,
        {} if measured is None else {n: c.measure(measured) for n, c in CRITERIA.items()},
        why,
        Provenance(
            "attacks on a release",
            "the same as before it was protected",
            {"keys": ", ".join(setting.keys), "missing": setting.missing.value},
            setting.seed,
            after.fingerprint,
            after.engine.name,
            seconds=time.perf_counter() - started,
        ),
    )


def measure_release(
    after: CodedTable, log: ChangeLog, setting: Setting, progress: Progress | None = None
) -> Measured:
    """Assess a release on its keys, suppressed cells being cells that are missing."""
    fraction = setting.fraction
    if fraction is not None and not isinstance(fraction, Mapping) and log.n_left < log.n_records:
        from gamekeeper.algorithms.sampling_fraction import parse_fraction

        fraction = parse_fraction(fraction) * log.n_left / log.n_records
    keys = count_keys(
        after,
        setting.keys,
        missing=setting.missing,
        weight=setting.weight,
        strata=setting.strata,
        fraction=fraction,
        sensitive=[name for name in setting.sensitive if name in after.codebook],
        progress=progress,
    )
    household = setting.household if setting.household in after.codebook else ""
    return measure_file(keys, household=household, seed=setting.seed, workers=setting.workers)
