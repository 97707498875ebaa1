"""What an analysis says besides its table: what was asked, what to be careful about, keys together."""

from __future__ import annotations

import math

from gamekeeper.mapping.analysis.composite_keys import CompositeKeys
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.wording import count_of, quoted


def describe_map(outcome: KeyVariableMap) -> str:
    """Say in a sentence what was asked."""
    n_forms = len(outcome.match_forms)
    first = outcome.variables[0] if outcome.variables else None
    matched, having = (first.threshold, first.n_needed) if first else (1, 1)
    must = f"{matched} of them must be matched"
    if having != matched:
        must = f"{having} of them must have a variable, and {matched} must be matched"
    return (
        f"Target {quoted([outcome.target])} against {count_of(n_forms, 'form')}"
        f" ({outcome.mode.value}); at least {must} (prevalence {outcome.prevalence})."
    )


def map_notes(outcome: KeyVariableMap) -> list[str]:
    """Return what to know before an analysis is believed: variables without a result first."""
    faults = [f"{item.variable}: {item.message}" for item in outcome.variables if item.message]
    return [*faults, *outcome.notes]


def composite_rows(composite: CompositeKeys) -> list[dict[str, object]]:
    """Return composite keys as plain values."""
    return [
        {
            "forms": list(key.forms),
            "combinations": "unbounded" if math.isinf(key.size) else int(key.size),
            "parts": [{"variable": part.variable, "code": part.code} for part in key.parts],
        }
        for key in composite.keys
    ]
