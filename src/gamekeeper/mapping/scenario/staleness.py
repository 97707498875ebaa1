"""Whether a scenario is stale: what its analysis looked at is not as it was.

This is light: no analysis is made anew. What a change means for the scenario, `review_scenario`
tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.wording import be, count_of, quoted

_REVIEW = (
    "`gamekeeper scenario review` says what that means for it, and `gamekeeper scenario renew`"
    " accepts it."
)


def staleness(scenario: Scenario, environment: Environment) -> str:
    """Say in a sentence that a scenario is stale, and why; empty where it is not.

    A scenario follows when what it names is renamed. Changes of forms that it was not matched
    against, and of variables that its target does not ask for, leave it as good as it was.
    """
    why = _why_stale(scenario, environment)
    return f"The scenario {quoted([scenario.name])} {why}. {_REVIEW}" if why else ""


def fingerprint_of(environment: Environment, target: str, match_forms: Iterable[str]) -> str:
    """Return a short text that stays the same while all that an analysis looks at does.

    That is: the names of the forms, the variables of the target with their sinks in order, and
    how many of the forms have which categorization, valid or not.
    """
    wanted = set(match_forms)
    digest = sha256(repr((target, sorted(wanted))).encode())
    for variable in sorted(environment.form(target).instances):
        counts: Counter[tuple[str, bool]] = Counter()
        for item, forms in environment.instances(variable):
            partition = item.partition
            if isinstance(partition, Partition):
                meaning = partition.labels.tobytes().hex()
            else:
                meaning = repr((partition, sorted(item.categories)))
            counts[meaning, False] += len(wanted.intersection(forms))
            counts[meaning, True] += target in forms
        sinks = environment.variable(variable).graph.sinks
        digest.update(repr((variable, sinks, sorted((+counts).items()))).encode())
    return digest.hexdigest()[:16]


def _why_stale(scenario: Scenario, environment: Environment) -> str:
    if scenario.target not in environment.forms:
        return f"is stale: its target {quoted([scenario.target])} is gone"
    gone = [name for name in scenario.groups if name not in environment.groups]
    if gone:
        groups = count_of(len(gone), "group")
        return f"is stale: {groups} that it was matched against {be(len(gone))} gone"
    now = _match_forms(scenario, environment)
    if not now:
        return "is stale: no form is left to match against"
    then = set(scenario.match_forms)
    changes = [
        f"{count_of(len(forms), 'form')} {be(len(forms))} {word}"
        for word, forms in (("new", now - then), ("gone", then - now))
        if forms
    ]
    if changes:
        return f"is stale: {' and '.join(changes)} among those to match against"
    if fingerprint_of(environment, scenario.target, now) != scenario.fingerprint:
        return "may be stale: forms or variables that it rests on have changed since it was made"
    return ""


def _match_forms(scenario: Scenario, environment: Environment) -> set[str]:
    """Return the forms that are now matched against; all others where none were named."""
    chosen = {form for form in scenario.forms if form in environment.forms}
    for name in scenario.groups:
        chosen.update(environment.group(name).forms)
    if not scenario.forms and not scenario.groups:
        chosen = set(environment.forms)
    return chosen - {scenario.target}
