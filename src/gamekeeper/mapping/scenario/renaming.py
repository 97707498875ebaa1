"""Scenarios follow when what they name is renamed; what they concluded stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario, ScenarioKey
from gamekeeper.mapping.scenario.staleness import fingerprint_of, staleness


@dataclass(frozen=True, slots=True)
class Renamed:
    """Old names with new ones; categories are those of one variable."""

    forms: Mapping[str, str] = field(default_factory=dict[str, str])
    groups: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    categories: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )


def follow_renames(before: Environment, after: Environment, renamed: Renamed) -> Environment:
    """Return the environment after an edit with new names in its scenarios.

    A scenario that was fresh stays so: names are part of what its fingerprint is made of.
    """
    if renamed == Renamed():
        return after
    changed: dict[str, Scenario] = {}
    for name, scenario in after.scenarios.items():
        new = _followed(scenario, renamed)
        if not staleness(scenario, before):
            new = replace(new, fingerprint=fingerprint_of(after, new.target, new.match_forms))
        if new != scenario:
            changed[name] = new
    return after.changed(scenarios=changed) if changed else after


def _followed(scenario: Scenario, renamed: Renamed) -> Scenario:
    return replace(
        scenario,
        target=renamed.forms.get(scenario.target, scenario.target),
        forms=_each(scenario.forms, renamed.forms),
        match_forms=_each(scenario.match_forms, renamed.forms),
        groups=_each(scenario.groups, renamed.groups),
        left_out=_each(scenario.left_out, renamed.variables),
        keys=tuple(_key(key, renamed) for key in scenario.keys),
    )


def _key(key: ScenarioKey, renamed: Renamed) -> ScenarioKey:
    variable = renamed.variables.get(key.variable, key.variable)
    names = renamed.categories.get(key.variable, {})
    if renamed.forms:
        told = tuple(replace(item, forms=_each(item.forms, renamed.forms)) for item in key.evidence)
        key = replace(key, evidence=told)
    if variable == key.variable and not names:
        return key
    blocks = tuple(_each(block, names) for block in key.blocks)
    categories = key.categories
    if key.blocks:
        # The words of a category are the names of what makes it up, except for bands.
        categories = tuple(
            " or ".join(new) if words == " or ".join(old) else words
            for old, new, words in zip(key.blocks, blocks, key.categories, strict=True)
        )
    why = key.why
    if why.startswith(f"{key.variable} "):
        why = f"{variable} {why.removeprefix(key.variable + ' ')}"
    return replace(key, variable=variable, blocks=blocks, categories=categories, why=why)


def _each(names: tuple[str, ...], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed.get(name, name) for name in names)
