"""What a steward wants to reach, as it is typed: `both>=3`, `expected matches<=0.5%`, `policy=k3`.

A target names a measure, a side and a limit. Measures are

- how many candidates everybody has, by a criterion (`own`, `released to people` or `(k,1)`, `both`);
- `assignments`, how many records everybody has in some assignment of all people to all records, which
  is what somebody who knows the keys of all can work out;
- `expected matches`, the right matches to be expected of a masked file, as a share of the records or
  as a number (approximate, and said to be);
- `linkage`, the share of records that the best of the links tried re-identifies;
- every criterion of a policy by its name (`k_anonymity`, `share_of_uniques`, `global_risk` and so on);
- `policy`, all limits of a named policy or of a file at once.

The wildcard count and `people to released` alone are no targets: both are met by a few records
suppressed wholly, and protect nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gamekeeper.attack.assessment.criteria import CRITERIA
from gamekeeper.attack.assessment.policy import Policy, read_policy
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, digits_text, folded, quoted

_TYPED = re.compile(r"^(?P<name>.+?)\s*(?P<side><=|>=|≤|≥|=|<|>)\s*(?P<value>.+)$")
_NUMBER = re.compile(r"^(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<percent>%?)$")
_HOW = (
    "Write NAME>=NUMBER or NAME<=NUMBER: 'both>=3', 'expected matches<=0.5%', 'linkage<=2%',"
    " 'policy=k3'."
)


class Criterion(StrEnum):
    """Who can be whom: what is counted of people and released rows (see `algorithms.suppression.compatibility`)."""

    OWN = "own"
    RELEASED_TO_PEOPLE = "released_to_people"
    PEOPLE_TO_RELEASED = "people_to_released"
    BOTH = "both"
    WILDCARD = "wildcard"

    @property
    def words(self) -> str:
        """The criterion in words, for a k."""
        return _WORDS[self]

    @property
    def may_be_target(self) -> bool:
        """Whether reaching it protects anybody."""
        return self not in (Criterion.PEOPLE_TO_RELEASED, Criterion.WILDCARD)


_WORDS = {
    Criterion.OWN: "every record looks like k-1 others, suppressed cells and all",
    Criterion.RELEASED_TO_PEOPLE: "every record fits at least k people",
    Criterion.PEOPLE_TO_RELEASED: "everybody fits at least k records",
    Criterion.BOTH: "everybody fits at least k records, and every record at least k people",
    Criterion.WILDCARD: "every record fits k records, where a suppressed cell fits anything",
}
_ALIASES = {
    "(k,1)": Criterion.RELEASED_TO_PEOPLE,
    "(1,k)": Criterion.PEOPLE_TO_RELEASED,
    "(k,k)": Criterion.BOTH,
    "candidates": Criterion.BOTH,
}
ASSIGNMENTS = "assignments"
EXPECTED = "expected_matches"
LINKAGE = "linkage"
POLICY = "policy"


@dataclass(frozen=True, slots=True)
class Target:
    """A measure (a criterion of who can be whom or of policies, or one named above) and its limit.

    The limit is the least that is allowed if `at_least`, else the most, and 0 of a policy;
    `is_share`: of the records.
    """

    measure: str
    at_least: bool
    limit: float
    is_share: bool = False
    policy: Policy | None = None

    @property
    def criterion(self) -> Criterion | None:
        """The criterion of who can be whom, if the target is one on candidates."""
        return Criterion(self.measure) if self.measure in set(Criterion) else None

    @property
    def text(self) -> str:
        """The target as it is typed.

        Examples
        --------
        >>> [target.text for target in parse_targets(["BOTH >= 3", "Expected matches<=0.5%"])]
        ['both>=3', 'expected matches<=0.5%']
        """
        name = self.measure.replace("_", " ")
        if self.policy is not None:
            return f"policy={self.policy.name}"
        number = digits_text(100 * self.limit if self.is_share else self.limit, 12)
        limit = f"{number.replace(',', '')}{'%' if self.is_share else ''}"
        return f"{name}{'>=' if self.at_least else '<='}{limit}"


def parse_targets(typed: Iterable[str | Target]) -> tuple[Target, ...]:
    """Return targets from what was typed; one error names all that cannot be read."""
    made: list[Target] = []
    problems: list[Problem] = []
    for text in typed:
        if isinstance(text, Target):
            made.append(text)
            continue
        try:
            made.append(_parsed(text))
        except InputError as fault:
            where = f"target {quoted([text])}"
            problems.append(Problem(fault.reason, where, fault.found, fault.do))
    twice = {target.text for target in made if made.count(target) > 1}
    problems += [
        Problem(Reason.DUPLICATE, f"target {quoted([text])}", "it is given twice.")
        for text in sorted(twice)
    ]
    asked = f"{count_of(len(made) + len(problems), 'target was', 'targets were')} given."
    refuse(problems, asked, f"{count_of(len(problems), 'target')} cannot be used.")
    return tuple(made)


def _fault(reason: Reason, found: str, do: str = "") -> InputError:
    return InputError(reason, "A target was to be read.", found, do)


def _parsed(typed: str) -> Target:
    match = _TYPED.match(typed.strip())
    if match is None:
        raise _fault(Reason.BAD_OPTION, "it cannot be read.", _HOW)
    name = " ".join(match["name"].split())
    side, value = match["side"], match["value"].strip()
    if folded(name) == POLICY:
        if side != "=":
            raise _fault(Reason.BAD_OPTION, "a policy has no side.", "Write 'policy=NAME'.")
        return Target(POLICY, False, 0.0, policy=read_policy(value))
    if side in ("<", ">", "="):
        raise _fault(Reason.BAD_OPTION, "its side is not told.", _HOW)
    at_least = side in (">=", "≥")
    measure = _measure(name)
    number = _NUMBER.match(value)
    if number is None:
        raise _fault(Reason.BAD_OPTION, "its limit is no number.", _HOW)
    is_share = bool(number["percent"])
    limit = float(number["number"]) / (100 if is_share else 1)
    return _checked(measure, at_least, limit, is_share)


def _measure(name: str) -> str:
    known: Mapping[str, str] = {
        **{folded(each.value.replace("_", " ")): each.value for each in Criterion},
        **{folded(alias): each.value for alias, each in _ALIASES.items()},
        **{
            folded(each.replace("_", " ")): each
            for each in (ASSIGNMENTS, EXPECTED, LINKAGE, *CRITERIA)
        },
    }
    found = known.get(folded(name.replace("_", " ")))
    if found is None:
        near = did_you_mean(name, [*known, POLICY])
        raise _fault(Reason.UNKNOWN_NAME, "there is no such measure.", near)
    return found


def _checked(measure: str, at_least: bool, limit: float, is_share: bool) -> Target:
    if measure in set(Criterion) and not Criterion(measure).may_be_target:
        raise _fault(
            Reason.BAD_OPTION,
            "a few records suppressed wholly meet it, and protect nobody.",
            "Ask for 'both', 'own' or '(k,1)'.",
        )
    if measure in {*Criterion, ASSIGNMENTS}:
        if not at_least or is_share or limit != int(limit) or limit < 2:
            raise _fault(
                Reason.BAD_OPTION,
                "candidates are a whole number of at least 2.",
                "Write 'both>=3'.",
            )
        return Target(measure, True, limit)
    wants_least = measure in CRITERIA and CRITERIA[measure].at_least
    if at_least != wants_least:
        side = ">=" if wants_least else "<="
        raise _fault(Reason.BAD_OPTION, "its side is the wrong one.", f"Write {side}.")
    if measure == LINKAGE and not is_share and limit > 1:
        raise _fault(Reason.BAD_OPTION, "it is a share of the records.", "Write 'linkage<=2%'.")
    if is_share and limit > 1:
        raise _fault(Reason.BAD_OPTION, "a share is 100% at most.")
    if measure in CRITERIA:
        top = CRITERIA[measure].most
        if is_share and CRITERIA[measure].counts:
            raise _fault(Reason.BAD_OPTION, "it is a number and no share.", "Leave out the %.")
        if limit < CRITERIA[measure].least or (top is not None and limit > top):
            raise _fault(Reason.BAD_OPTION, "its limit is out of range.")
    if measure == LINKAGE:
        is_share = True
    return Target(measure, at_least, limit, is_share)
