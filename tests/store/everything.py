"""What makes two environments the same."""

from __future__ import annotations

from gamekeeper.mapping.environment.environment import Environment


def everything_in(environment: Environment) -> dict[str, object]:
    """All that makes an environment what it is; groups are sets of forms."""
    return {
        "name": environment.name,
        "description": environment.description,
        "rules": environment.rules,
        "variables": environment.variables,
        "forms": environment.forms,
        "scenarios": environment.scenarios,
        "groups": {
            group.name: (frozenset(group.forms), group.description)
            for group in environment.groups.values()
        },
        "codes": {name: environment.register(name) for name in environment.variables},
    }
