"""Looking around in an environment: what is there, in lists and one by one."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.listing import (
    list_forms,
    list_grid,
    list_groups,
    list_variables,
)
from gamekeeper.mapping.forms.form import Form, Metadata
from gamekeeper.results import EVERYTHING, Cell, Listing, Progress, make_listing
from gamekeeper.wording import count_of, listed, number_text
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.requests.environment.browsing import (
    FormRequest,
    FormsRequest,
    GridRequest,
    GroupRequest,
    NamesRequest,
    VariableRequest,
)
from gamekeeper.workbench.requests.environment.shared import Opened

if TYPE_CHECKING:
    from gamekeeper.mapping.environment.overview import CategoryTable

_SHOWN_CATEGORIES = 12


def describe_environment(asked: Opened) -> Listing:
    """Say what an environment is and holds, and the last edits where it is a store."""
    from gamekeeper.workbench.environment.history import revision_text

    with opened(asked.environment, as_of=asked.as_of) as place:
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
            rows += [("kept as", "store"), ("revision", str(place.store.revision))]
            rows += [
                (
                    f"revision {item.number}",
                    f"{item.at:%Y-%m-%d %H:%M} {item.who}: {revision_text(item)}",
                )
                for item in place.store.history(most=3)
            ]
    return make_listing("facts", ("what", "is"), rows, EVERYTHING)


def rules(asked: Opened) -> Listing:
    """List the rules of an environment."""
    with _opened(asked) as environment:
        found = environment.rules
    rows: list[tuple[Cell, ...]] = [
        (
            "metadata",
            f"{item.key} of {item.of}s",
            "required" if item.required else "",
            "; ".join(map(str, item.values)) or item.kind,
            item.description,
        )
        for item in found.metadata
    ]
    rows += [
        (
            "impossible",
            " with ".join(f"{name} {' or '.join(own)}" for name, own in item.combination.items()),
            "",
            "",
            item.why,
        )
        for item in found.impossible
    ]
    return make_listing("rules", ("rule", "of", "must", "values", "why"), rows, EVERYTHING)


def forms(
    asked: FormsRequest, *, for_people: bool = False, progress: Progress | None = None
) -> Listing:
    """List forms that a query finds."""
    with _opened(asked.opened, progress) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return list_forms(environment, where=asked.where, page=page)


def grid(
    asked: GridRequest, *, for_people: bool = False, progress: Progress | None = None
) -> Listing:
    """List forms by variables, with codes in the cells."""
    with _opened(asked.opened, progress) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return list_grid(
            environment,
            where=asked.where,
            group=asked.group,
            variables=asked.variables,
            page=page,
        )


def variables(
    asked: NamesRequest, *, for_people: bool = False, progress: Progress | None = None
) -> Listing:
    """List variables by a part of their names."""
    with _opened(asked.opened, progress) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return list_variables(environment, matching=asked.matching, page=page)


def groups(
    asked: NamesRequest, *, for_people: bool = False, progress: Progress | None = None
) -> Listing:
    """List groups by a part of their names."""
    with _opened(asked.opened, progress) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return list_groups(environment, matching=asked.matching, page=page)


def form(asked: FormRequest) -> tuple[Listing, Mapping[str, Metadata], Sequence[str], Form]:
    """Return the variables of a form with codes and categories, its metadata, its groups, itself."""
    name = asked.form
    with _opened(asked.opened) as environment:
        found = environment.form(name)
        rows: list[tuple[Cell, ...]] = []
        for variable in sorted(found.instances):
            item = environment.categorization(name, variable)
            code = environment.code_of(name, variable)
            labels = "; ".join(found.instances[variable]) or "any level of detail"
            rows.append((variable, code, labels, item.fault or None))
        columns = ("variable", "code", "categories", "fault")
        inside = [group for group in environment.groups if name in environment.group(group).forms]
    return make_listing("questions", columns, rows, EVERYTHING), found.metadata, inside, found


def variable(asked: VariableRequest) -> tuple[CategoryTable, Sequence[str]]:
    """Return the categories of a variable, and the main facts in words."""
    from gamekeeper.mapping.environment.overview import list_categories

    name = asked.variable
    with _opened(asked.opened) as environment:
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
        if found.sensitive:
            marked = [name for name in found.graph.categories if name in found.sensitive]
            lines.append(f"Marked as sensitive: {listed(marked, _SHOWN_CATEGORIES)}")
        lines += [f"! {form} {fault}" for form, fault in environment.faulty_instances(name).items()]
    return list_categories(name, found.graph), lines


def group(asked: GroupRequest, *, for_people: bool = False) -> Listing:
    """List the forms that a group has now."""
    with _opened(asked.opened) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return list_forms(environment, group=asked.group, page=page)


@contextmanager
def _opened(asked: Opened, progress: Progress | None = None) -> Generator[Environment]:
    with opened(asked.environment, as_of=asked.as_of, progress=progress) as place:
        yield place.environment


def _n_faults(environment: Environment) -> int:
    return sum(len(environment.faulty_instances(name)) for name in environment.variables)
