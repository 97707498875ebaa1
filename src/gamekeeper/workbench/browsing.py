"""Looking around in an environment: what is there, in lists and one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.form import Form, Metadata
from gamekeeper.mapping.environment.listing import list_forms, list_groups, list_variables
from gamekeeper.mapping.environment.overview import CategoryTable, list_categories
from gamekeeper.results import EVERYTHING, Cell, Listing, Page, Progress, make_listing
from gamekeeper.wording import count_of, listed, number_text
from gamekeeper.workbench.editing import revision_text
from gamekeeper.workbench.environments import opened

__all__ = [
    "describe_environment",
    "form",
    "form_as_it_is",
    "forms",
    "group",
    "groups",
    "variable",
    "variables",
]

_SHOWN_CATEGORIES = 12


def describe_environment(path: Path, *, as_of: str = "") -> Listing:
    """Say what an environment is and holds, and the last edits where it is a store."""
    with opened(path, as_of=as_of) as place:
        environment = place.environment
        rows: list[tuple[Cell, ...]] = [
            ("name", environment.name),
            ("description", environment.description),
            ("forms", number_text(len(environment.forms))),
            ("variables", number_text(len(environment.variables))),
            ("groups", number_text(len(environment.groups))),
            ("scenarios", number_text(len(environment.scenarios))),
            ("questions on forms", number_text(environment.n_instances)),
            ("inconsistent", number_text(_n_faults(environment))),
        ]
        if place.store is None:
            rows.append(("kept as", "folder"))
        else:
            rows += [("kept as", "store"), ("revision", str(place.revision))]
            rows += [
                (
                    f"revision {item.number}",
                    f"{item.at:%Y-%m-%d %H:%M} {item.who}: {revision_text(item)}",
                )
                for item in place.store.history(most=3)
            ]
    return make_listing("facts", ("what", "is"), rows, EVERYTHING)


def forms(
    path: Path,
    *,
    where: str = "",
    page: Page = EVERYTHING,
    as_of: str = "",
    progress: Progress | None = None,
) -> Listing:
    """List forms that a query finds."""
    with opened(path, as_of=as_of, progress=progress) as place:
        return list_forms(place.environment, where=where, page=page)


def variables(
    path: Path,
    *,
    matching: str = "",
    page: Page = EVERYTHING,
    as_of: str = "",
    progress: Progress | None = None,
) -> Listing:
    """List variables by a part of their names."""
    with opened(path, as_of=as_of, progress=progress) as place:
        return list_variables(place.environment, matching=matching, page=page)


def groups(
    path: Path,
    *,
    matching: str = "",
    page: Page = EVERYTHING,
    as_of: str = "",
    progress: Progress | None = None,
) -> Listing:
    """List groups by a part of their names."""
    with opened(path, as_of=as_of, progress=progress) as place:
        return list_groups(place.environment, matching=matching, page=page)


def form_as_it_is(path: Path, name: str) -> Form:
    """Return a form."""
    with opened(path) as place:
        return place.environment.form(name)


def form(
    path: Path, name: str, *, as_of: str = ""
) -> tuple[Listing, Mapping[str, Metadata], Sequence[str]]:
    """Return the variables of a form with codes and categories, its metadata and its groups."""
    with opened(path, as_of=as_of) as place:
        environment = place.environment
        found = environment.form(name)
        rows: list[tuple[Cell, ...]] = []
        for variable in sorted(found.instances):
            item = environment.categorization(name, variable)
            code = environment.code_of(name, variable)
            labels = "; ".join(found.instances[variable]) or "any level of detail"
            rows.append((variable, code, labels, item.fault or None))
        columns = ("variable", "code", "categories", "fault")
        inside = [group for group in environment.groups if name in environment.group(group).forms]
    return make_listing("questions", columns, rows, EVERYTHING), found.metadata, inside


def variable(path: Path, name: str, *, as_of: str = "") -> tuple[CategoryTable, Sequence[str]]:
    """Return the categories of a variable, and the main facts in words."""
    with opened(path, as_of=as_of) as place:
        environment = place.environment
        found = environment.variable(name)
        instances = environment.instances(name)
        n_forms = sum(len(forms) for _, forms in instances)
        lines = [f"{name}, on the {found.scale.value} scale"]
        if found.description:
            lines.append(found.description)
        lines.append(
            f"{count_of(n_forms, 'form asks', 'forms ask')} for it, in"
            f" {count_of(len(instances), 'way')}."
        )
        lines.append(f"Finest categories: {listed(found.graph.sinks, _SHOWN_CATEGORIES)}")
        lines += [f"! {form} {fault}" for form, fault in environment.faulty_instances(name).items()]
    return list_categories(name, found.graph), lines


def group(path: Path, name: str, *, page: Page = EVERYTHING, as_of: str = "") -> Listing:
    """List the forms that a group has now."""
    with opened(path, as_of=as_of) as place:
        return list_forms(place.environment, group=name, page=page)


def _n_faults(environment: Environment) -> int:
    return sum(len(environment.faulty_instances(name)) for name in environment.variables)
