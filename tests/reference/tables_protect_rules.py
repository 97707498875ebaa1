"""Checks of the worked examples of primary rules on lists of contributions."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from gamekeeper.algorithms.releases.primary_rules import Contributions, Rule, parse_rule
from tests.reference.cases import Case, ShapeError

__all__ = ["tables_protect_primary_rules"]


def tables_protect_primary_rules(case: Case) -> None:
    rules = {json.dumps(given, sort_keys=True): _rule(given) for given in case.needs("rules")}
    for name, given in case.needs("cells").items():
        cell = _cell(given)
        expected = case.expected.get(name)
        if expected is None:
            continue
        unsafe = {text: rule.is_unsafe(cell) for text, rule in rules.items()}
        case.check(name, "unsafe", expected["unsafe"], unsafe)
        levels = {
            text: str(level)
            for text, rule in rules.items()
            if rule.name in ("dominance", "p") and (level := rule.upper_level(cell)) is not None
        }
        case.check(name, "upper_level", expected["upper_level"], levels)


def _rule(given: dict[str, Any]) -> Rule:
    kind = given.get("rule")
    texts = {
        "minimum_frequency": "minimum:{n}",
        "dominance": "dominance:{n}:{k}",
        "p": "p:{p}:{coalition}" if "coalition" in given else "p:{p}",
        "pq": "pq:{p}:{q}",
        "request": "request:{k}",
    }
    if kind not in texts:
        raise ShapeError(f"there is no rule '{kind}'")
    return parse_rule(texts[kind].format(**given))


def _cell(given: dict[str, Any]) -> Contributions:
    return Contributions.of(
        [Fraction(str(value)) for value in given["contributions"]],
        [Fraction(str(weight)) for weight in given["weights"]] if "weights" in given else None,
        is_asked=bool(given.get("asked", False)),
    )
