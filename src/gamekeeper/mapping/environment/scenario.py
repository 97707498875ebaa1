"""Scenarios: the outcome of an analysis, saved under a name for the stages that follow.

A scenario says who the attacker is, what is to be released, what it was matched against and how,
which key variables were chosen and, for each, the categorization to match on with the evidence
for it. The categories of each are there by name, so that the values of a file can be recoded. It
is a record of one moment: `review_scenario` tells what has changed since.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.environment.evidence import Evidence, Mode
from gamekeeper.mapping.names import name_problems
from gamekeeper.mapping.variables.codes import code_order, is_code
from gamekeeper.wording import count_of, did_you_mean, quoted

_FINGERPRINT = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True)
class ScenarioKey:
    """A key variable of a scenario, and the categorization to match on.

    Attributes
    ----------
    code
        The code of the categorization.
    categories
        Its categories in words.
    blocks
        For each of them, the categories of the environment that make it up; none for arbitrary
        precision.
    evidence
        The codes that refine it, each with how many of the forms matched against have it.
    why
        The evidence in a sentence.
    maximal, has_more, may_have_more
        The codes of the maximal harmonizations at the time, and whether there were more of them,
        or may have been.
    """

    variable: str
    code: str
    categories: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...]
    evidence: tuple[Evidence, ...]
    why: str
    maximal: tuple[str, ...]
    has_more: bool = False
    may_have_more: bool = False

    @property
    def n_forms(self) -> int:
        """The number of forms that could be matched at the code."""
        return sum(item.n_forms for item in self.evidence)

    @property
    def n_categories(self) -> float:
        """The number of categories, `math.inf` for arbitrary precision."""
        return len(self.blocks) or math.inf


@dataclass(frozen=True)
class Scenario:
    """The outcome of an analysis under a name.

    Attributes
    ----------
    forms, groups, match_forms
        What the target was matched against, as it was asked for (all other forms if neither), and
        the forms that this came to.
    keys
        The key variables that were chosen.
    left_out
        The other variables that could be matched.
    environment, revision, fingerprint
        The name of the environment, its revision (0 for a folder), and what tells whether all
        that the analysis looked at is still the same.
    who, at
        Who made the scenario, and when.
    within_universe
        Whether it counts what can be told apart among people whom the target asks; scenarios of
        earlier versions count everybody.
    """

    name: str
    attacker: str
    description: str
    target: str
    forms: tuple[str, ...]
    groups: tuple[str, ...]
    match_forms: tuple[str, ...]
    mode: Mode
    prevalence: Fraction
    strict: bool
    levels: int | None
    keys: tuple[ScenarioKey, ...]
    left_out: tuple[str, ...]
    environment: str
    revision: int
    fingerprint: str
    who: str
    at: datetime
    within_universe: bool = False

    def __post_init__(self) -> None:
        problems = name_problems("scenario", [self.name])
        for field in ("attacker", "description", "who"):
            problems += _text_problems(field, getattr(self, field))
        if self.revision < 0:
            problems.append(
                Problem(Reason.BAD_OPTION, "revision", "is below 0.", "Give 0 for a folder.")
            )
        if self.at.tzinfo is None:
            problems.append(
                Problem(Reason.BAD_OPTION, "time", "has no time zone.", "Give it in UTC.")
            )
        if _FINGERPRINT.fullmatch(self.fingerprint) is None:
            found = "is not made of 16 hexadecimal digits."
            problems.append(Problem(Reason.WRONG_SCHEMA, "fingerprint", found, "Make it anew."))
        if not self.keys:
            problems.append(no_keys())
        problems += _key_problems(self.keys)
        require_sound(self.name, problems)
        if self.at.tzinfo is not UTC:
            object.__setattr__(self, "at", self.at.astimezone(UTC))

    def key(self, variable: str) -> ScenarioKey:
        """Return a key variable by its name."""
        for key in self.keys:
            if key.variable == variable:
                return key
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The key variable {quoted([variable])} was asked for.",
            f"The scenario {quoted([self.name])} has no such key variable.",
            did_you_mean(variable, [key.variable for key in self.keys]),
        )


def no_keys() -> Problem:
    """Return the problem of a scenario without key variables."""
    found = "there are none: no variable can be matched, or none was chosen."
    do = "Choose one, or match against other forms or at a lower prevalence."
    return Problem(Reason.NOTHING_GIVEN, "key variables", found, do)


def require_sound(name: str, problems: list[Problem]) -> None:
    """Raise everything that is wrong with a scenario at once."""
    refuse(
        problems,
        f"The scenario {quoted([name])} was asked for.",
        f"It has {count_of(len(problems), 'fault')}.",
    )


def _key_problems(keys: Iterable[ScenarioKey]) -> list[Problem]:
    problems: list[Problem] = []
    seen: set[str] = set()
    for key in keys:
        where = f"key variable {quoted([key.variable])}"
        problems += name_problems("key variable", [key.variable])
        if key.variable in seen:
            problems.append(Problem(Reason.DUPLICATE, where, "is there twice.", "Leave one out."))
        seen.add(key.variable)
        names = [name for block in key.blocks for name in block]
        n_blocks = count_of(len(key.blocks), "block")
        words = count_of(len(key.categories), "category", "categories")
        for is_so, found in (
            (
                not is_code(key.code) or code_order(key.code)[1] != len(key.blocks),
                f"has {n_blocks}, which is not what its code {quoted([key.code])} says.",
            ),
            (
                len(key.categories) != max(len(key.blocks), 1),
                f"has {words} in words for {n_blocks}.",
            ),
            (len(set(names)) < len(names), "has a category in two places."),
            (not all(key.blocks), "has a block that is made up of nothing."),
        ):
            if is_so:
                problems.append(Problem(Reason.INCONSISTENT_CODE, where, found, "Make it anew."))
    return problems


def _text_problems(field: str, text: str) -> list[Problem]:
    try:
        text.encode()
    except UnicodeEncodeError:
        found = "holds half of a character (a lone surrogate)."
        return [Problem(Reason.WRONG_ENCODING, field, found, "Write it whole.")]
    return []
