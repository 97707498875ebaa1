"""Attacks before and after protection as lines of a page: what each achieves, and what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.attack.assessment.criteria import CRITERIA, Unit
from gamekeeper.attack.assessment.judged import Standing
from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.attacking.judging import JudgedTarget
from gamekeeper.protect.targets import ASSIGNMENTS, EXPECTED, LINKAGE, Criterion

_WORDS = {
    Criterion.OWN.value: "fewest records that look alike (own)",
    Criterion.RELEASED_TO_PEOPLE.value: "fewest people whom a record fits",
    Criterion.PEOPLE_TO_RELEASED.value: "fewest records that a person fits",
    Criterion.BOTH.value: "fewest candidates, both ways",
    Criterion.WILDCARD.value: "fewest records that look alike if a star matches anything (proves nothing)",
    ASSIGNMENTS: "fewest records of anybody in one-to-one assignments",
    "one_candidate": "people who fit exactly one record",
    "no_candidate": "people who fit no record",
    "one_candidate_in_assignments": "people with one record in all one-to-one assignments",
    "expected_matches": "right matches to be expected",
    "linkage": "records that links re-identify",
    "right_if_repeated": "right matches by whoever suppresses again, at most",
    "whole_households": "people found by their whole household",
}
_OF_TARGETS = {EXPECTED: "expected_matches", LINKAGE: "linkage"}


@dataclass(frozen=True, slots=True)
class AttackChange:
    """What an attack achieves before and after.

    Attributes
    ----------
    attack
        What is measured, in words: "people who fit at most one record".
    before, after
        What was found; None where it is not known.
    target
        What was asked for, as it was typed.
    is_met
        Whether it is reached; None where nothing was asked, or it is not proven.
    is_share
        Whether the figures are shares.
    more_is_safer
        Whether a larger figure is better, as with candidates.
    note
        What to know of the figure, such as that it is approximate.
    """

    attack: str
    before: float | None
    after: float | None
    target: str = ""
    is_met: bool | None = None
    is_share: bool = False
    more_is_safer: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met, in a word."""
        if not self.target:
            return ""
        return {True: "met", False: "not met", None: "not proven"}[self.is_met]


def attack_changes(
    before: FileAttack, after: FileAttack, judged: Sequence[JudgedTarget] = ()
) -> list[AttackChange]:
    """Return a line for every figure of the same attacks, and one for every target besides.

    Targets are held against what was found after, on the file as it would be released.
    """
    old = {row["measure"]: row for row in before.rows()}
    waiting = list(judged)
    lines: list[AttackChange] = []
    for row in after.rows():
        name = row["measure"]
        line = next((each for each in waiting if _measure(each) == name), None)
        if line is not None:
            waiting.remove(line)
        criterion = CRITERIA.get(name)
        note = row["note"] or ("" if row["kind"] in ("exact", "not known") else row["kind"])
        shares = (Unit.SHARE, Unit.PROBABILITY)
        is_share = name == "linkage" or (criterion is not None and criterion.unit in shares)
        safer = name in {*Criterion, ASSIGNMENTS} or (criterion is not None and criterion.at_least)
        lines.append(
            AttackChange(
                _WORDS.get(name) or (criterion.words if criterion else name),
                old.get(name, {}).get("value"),
                row["value"],
                "" if line is None else line.target.text,
                None if line is None else _standing(line),
                is_share,
                safer,
                note,
            )
        )
    # Policies, targets that none of the figures is, and further ones of the same figure.
    lines += [
        AttackChange(
            line.target.text, None, None, line.target.text, _standing(line), note=line.text
        )
        for line in waiting
    ]
    return lines


def _measure(line: JudgedTarget) -> str:
    target = line.target
    if target.criterion is not None:
        return str(target.criterion.value)
    if target.policy is not None:
        return target.text
    return _OF_TARGETS.get(target.measure, target.measure)


def _standing(line: JudgedTarget) -> bool | None:
    return None if line.standing is Standing.NOT_PROVEN else line.standing is Standing.MET
