"""Policies: limits to the risk of a file, each with its source, and how a file stands to them.

A policy is known by name, or is a small JSON file that names criteria and their limits::

    {
        "policy": "Our office, scientific use files",
        "criteria": {
            "k_anonymity": 3,
            "population_uniques": {"limit": 0.001, "source": "board decision of May"},
        },
    }

An exact measure is compared with its limit. An estimate is judged by its interval: it is met if the
worse end meets the limit, not met if the better end does not, and not proven between. A measure
that its authors publish as a point estimate is judged at its value, and said to be. What is not
known is not proven, and nothing is proven of records that were left out.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from gamekeeper.attack.assessment.criteria import CRITERIA, Criterion, Found, Unit
from gamekeeper.attack.assessment.measured import Interval, Measured, numbers_of
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.files import require_ordinary
from gamekeeper.wording import (
    count_of,
    did_you_mean,
    digits_text,
    joined,
    percent_text,
    quoted,
    shown_path,
)

_FIELDS = ("policy", "criteria")
_LIMIT_FIELDS = ("limit", "source")
_LARGEST_FILE, _NAME_LETTERS = 1_000_000, 200
_DO = 'Write {"policy": "a name", "criteria": {"k_anonymity": 3}}.'


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit to a criterion, and who set it."""

    criterion: Criterion
    value: float
    source: str = ""

    @property
    def text(self) -> str:
        """The limit in words.

        >>> Limit(CRITERIA["k_anonymity"], 3).text, Limit(CRITERIA["global_risk"], 0.03).text
        ('at least 3', 'at most 3.0%')
        """
        side = "at least" if self.criterion.at_least else "at most"
        is_share = self.criterion.unit is Unit.SHARE
        return f"{side} {percent_text(self.value) if is_share else digits_text(self.value)}"


@dataclass(frozen=True, slots=True)
class Policy:
    """A name and some limits."""

    name: str
    limits: tuple[Limit, ...]


def _profile(name: str, source: str, **limits: float) -> Policy:
    made = (Limit(CRITERIA[criterion], value, source) for criterion, value in limits.items())
    return Policy(name, tuple(made))


_ALIKE = "IHSN guide to microdata: at least {} alike; a usual choice, set by no authority"
_PROFILES = (
    _profile("k2", "no record may be unique: the least that is asked anywhere", k_anonymity=2),
    _profile("k3", _ALIKE.format(3), k_anonymity=3),
    _profile("k5", _ALIKE.format(5), k_anonymity=5),
    _profile(
        "ema",
        "European Medicines Agency, guidance to Policy 0070, public release",
        highest_risk=0.09,
        average_risk=0.09,
    ),
    _profile(
        "health-canada",
        "Health Canada, guidance on the public release of clinical information",
        highest_risk=0.09,
        average_risk=0.09,
    ),
    _profile(
        "hdx",
        "OCHA Centre for Humanitarian Data, Humanitarian Data Exchange: global risk from weights",
        global_risk=0.03,
    ),
)

PROFILES: Mapping[str, Policy] = {policy.name: policy for policy in _PROFILES}


def read_policy(given: str | Path | Mapping[str, Any] | Policy) -> Policy:
    """Return a policy by the name of a profile, from a JSON file, or from its content.

    >>> read_policy("hdx").limits[0].text
    'at most 3.0%'
    >>> read_policy({"policy": "Ours", "criteria": {"k_anonymity": 3}}).name
    'Ours'
    """
    if isinstance(given, Policy):
        return given
    if isinstance(given, Mapping):
        return _checked(given, "A policy was given.", [])
    if str(given) in PROFILES:
        return PROFILES[str(given)]
    path = Path(given)
    if not path.is_file():
        named = quoted([str(given)], letters=_NAME_LETTERS)
        raise InputError(
            Reason.NOT_FOUND,
            f"The policy {named} was asked for.",
            "There is no such profile, and no ordinary file of that name.",
            f"{did_you_mean(str(given), PROFILES)} Or give a JSON file of your own.",
        )
    asked = f"A policy was to be read from {shown_path(path)}."
    twice: list[str] = []

    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in pairs)
        twice.extend(name for name, count in counts.items() if count > 1)
        return dict(pairs)

    found = ""
    content: Any = None
    try:
        require_ordinary(path)
        if path.stat().st_size > _LARGEST_FILE:
            found = "It is larger than a policy can be."
        else:
            content = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=once)
    except (OSError, UnicodeDecodeError) as error:
        found = f"It could not be read ({type(error).__name__})."
    except (ValueError, RecursionError):
        found = "It is no JSON."
    if found:
        raise InputError(Reason.MALFORMED, asked, found, _DO)
    if not isinstance(content, dict):
        raise InputError(Reason.WRONG_SCHEMA, asked, "It is no JSON object.", _DO)
    return _checked(cast("dict[str, Any]", content), asked, twice)


def _checked(content: Mapping[str, Any], asked: str, twice: Sequence[str]) -> Policy:
    problems = [
        Problem(Reason.DUPLICATE, f"field {quoted([name])}", "it is there more than once.")
        for name in dict.fromkeys(twice)
    ]
    problems += _unknown(content, _FIELDS, "field")
    name = content.get("policy", "")
    if not isinstance(name, str) or not name.strip():
        problems.append(
            Problem(Reason.BAD_NAME, "field 'policy'", "it is no text.", "Give the policy a name.")
        )
    criteria = content.get("criteria")
    limits: list[Limit] = []
    if not isinstance(criteria, Mapping) or not criteria:
        problems.append(
            Problem(
                Reason.NOTHING_GIVEN,
                "field 'criteria'",
                "it has no criterion with its limit.",
                f"There are {quoted(CRITERIA, most=len(CRITERIA))}.",
            )
        )
    else:
        for criterion, limit in cast("Mapping[Any, Any]", criteria).items():
            made, faults = _limit(str(criterion), limit)
            limits += made
            problems += faults
    if problems:
        found = f"{count_of(len(problems), 'fault was', 'faults were')} found in it."
        raise InputError(problems[0].reason, asked, found, problems=problems)
    return Policy(str(name).strip(), tuple(limits))


def _limit(name: str, given: Any) -> tuple[list[Limit], list[Problem]]:
    where = f"criterion {quoted([name])}"
    if name not in CRITERIA:
        found, do = "there is no such criterion.", did_you_mean(name, CRITERIA)
        return [], [Problem(Reason.UNKNOWN_NAME, where, found, do)]
    criterion = CRITERIA[name]
    problems: list[Problem] = []
    source: Any = ""
    if isinstance(given, Mapping):
        fields = cast("Mapping[Any, Any]", given)
        problems += _unknown(fields, _LIMIT_FIELDS, f"{where}, field")
        source, given = fields.get("source", ""), fields.get("limit")
    if not isinstance(source, str):
        problems.append(Problem(Reason.BAD_OPTION, where, "its source is no text."))
    fault = _fault(criterion, given)
    if fault:
        problems.append(Problem(Reason.BAD_OPTION, where, *fault))
    return ([] if problems else [Limit(criterion, float(given), str(source))]), problems


def _fault(criterion: Criterion, value: Any) -> tuple[str, str] | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "its limit is no number.", "Give a number."
    least, most = criterion.least, criterion.most
    if value < least or (most is not None and value > most):
        upper = "" if most is None else f" to {digits_text(most)}"
        return (
            f"its limit {digits_text(value)} is out of range.",
            f"Give a number from {digits_text(least)}{upper} ({criterion.unit.value}).",
        )
    if criterion.at_least and value != int(value):
        return f"its limit {digits_text(value)} is no whole number.", "Give a whole number."
    return None


def _unknown(content: Mapping[Any, Any], known: Sequence[str], what: str) -> list[Problem]:
    return [
        Problem(
            Reason.UNKNOWN_NAME,
            f"{what} {quoted([str(name)])}",
            "it is not known.",
            did_you_mean(str(name), known),
        )
        for name in content
        if name not in known
    ]


class Standing(StrEnum):
    """How a file stands to a limit."""

    MET = "met"
    NOT_MET = "not met"
    NOT_PROVEN = "not proven"


@dataclass(frozen=True, slots=True)
class JudgedLimit:
    """One limit, what was found, how the file stands to it, why not better, and what to know."""

    limit: Limit
    found: Interval | None
    standing: Standing
    why: str
    note: str = ""

    @property
    def standing_text(self) -> str:
        """How the file stands to it and why, in words."""
        reasons = "; ".join(text for text in (self.why, self.note) if text)
        return f"{self.standing.value}: {reasons}" if reasons else self.standing.value

    @property
    def found_text(self) -> str:
        """What was found, in words."""
        if self.found is None:
            return "not known"
        if self.limit.criterion.unit is Unit.SHARE:
            return self.found.percent_text
        return self.found.count_text if self.limit.criterion.counts else self.found.text


@dataclass(frozen=True, slots=True)
class JudgedPolicy:
    """A policy and how a file stands to each of its limits."""

    policy: Policy
    lines: tuple[JudgedLimit, ...]

    @property
    def standing(self) -> Standing:
        """How the file stands to the policy: as it stands to the limit that it fails most."""
        found = {line.standing for line in self.lines}
        return next(
            standing
            for standing in (Standing.NOT_MET, Standing.NOT_PROVEN, Standing.MET)
            if standing in found
        )

    @property
    def is_met(self) -> bool:
        """Whether every limit is met."""
        return self.standing is Standing.MET

    @property
    def sentence(self) -> str:
        """How the file stands to the policy, in words."""
        named = quoted([self.policy.name])
        if self.is_met:
            noted = [line.limit.criterion.name for line in self.lines if line.note]
            how = f" as published, by point estimates ({', '.join(noted)})" if noted else ""
            return f"The file meets the policy {named}{how}."
        parts = [
            f"{count_of(len(names), 'criterion', 'criteria')} of {len(self.lines)}"
            f" {'is' if len(names) == 1 else 'are'} {standing.value} ({', '.join(names)})"
            for standing in (Standing.NOT_MET, Standing.NOT_PROVEN)
            if (names := [x.limit.criterion.name for x in self.lines if x.standing is standing])
        ]
        does = "does not meet" if self.standing is Standing.NOT_MET else "is not proven to meet"
        return f"The file {does} the policy {named}: {joined(parts)}."

    def rows(self) -> list[dict[str, object]]:
        """Return one row per criterion, for tables and programs."""
        return [
            {
                "criterion": line.limit.criterion.name,
                "asked": line.limit.text,
                "limit": line.limit.value,
                "found": line.found_text,
                **numbers_of(line.found),
                "standing": line.standing.value,
                "why": line.why,
                "note": line.note,
                "measures": line.limit.criterion.words,
                "source": line.limit.source,
            }
            for line in self.lines
        ]


def judge_policy(
    policy: Policy, measured: Measured, unknown: Mapping[str, str] | None = None
) -> JudgedPolicy:
    """Judge every limit of a policy; `unknown` says of criteria why they are not known here."""
    why = unknown or {}
    return JudgedPolicy(policy, tuple(_judged(limit, measured, why) for limit in policy.limits))


def _judged(limit: Limit, measured: Measured, unknown: Mapping[str, str]) -> JudgedLimit:
    why_not = unknown.get(limit.criterion.name)
    found = limit.criterion.measure(measured) if why_not is None else Found(None, why_not)
    standing, why = judge_limit(limit, found)
    if standing is Standing.MET:
        doubts = list(_doubts(measured, limit, found))
        if doubts:
            standing, why = Standing.NOT_PROVEN, joined(doubts)
    return JudgedLimit(limit, found.interval, standing, why, found.note)


def judge_limit(limit: Limit, found: Found) -> tuple[Standing, str]:
    """Return how what was found stands to a limit, and why not better.

    >>> from gamekeeper.attack.assessment.criteria import CRITERIA
    >>> limit = Limit(CRITERIA["average_match"], 0.03)
    >>> [
    ...     judge_limit(limit, Found(Interval(0.02, low, up)))[0].value
    ...     for low, up in ((0, 0.03), (0, 0.04))
    ... ]
    ['met', 'not proven']
    """
    if found.interval is None:
        return Standing.NOT_PROVEN, found.why
    worse, better = found.interval.upper, found.interval.lower
    if limit.criterion.at_least:
        worse, better = -better, -worse
    most = -limit.value if limit.criterion.at_least else limit.value
    if worse <= most:
        return Standing.MET, ""
    if better > most:
        return Standing.NOT_MET, ""
    return Standing.NOT_PROVEN, found.why or "the interval of the estimate reaches beyond the limit"


def _doubts(measured: Measured, limit: Limit, found: Found) -> Iterable[str]:
    left_out = measured.keys.n_excluded
    if left_out:
        yield f"{count_of(left_out, 'record')} with missing cells were left out"
    if found.by_models is not None and found.by_models > limit.value:
        yield "models of the file find more, and what is published takes rare keys for common ones"
    if measured.keys.n_further:
        further = count_of(measured.keys.n_further, "further record")
        yield f"{further} of the same people were left out"
    if found.interval is not None and not found.interval.is_exact:
        yield from measured.chances.cautions
