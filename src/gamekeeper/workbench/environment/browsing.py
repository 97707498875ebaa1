"""Looking around in an environment, in lists and one by one, and back at who changed what."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment import overview
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form, Metadata
from gamekeeper.results import EVERYTHING, Cell, Listing, Page, Progress, make_listing
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, folded, listed, number_text, quoted
from gamekeeper.workbench.environment.opening import moment, opened, opened_store
from gamekeeper.workbench.requests.environment import (
    FormRequest,
    FormsRequest,
    GridRequest,
    GroupRequest,
    HistoryRequest,
    NamesRequest,
    Opened,
    VariableRequest,
)

if TYPE_CHECKING:
    from gamekeeper.mapping.edits.environment import KeptRevision
    from gamekeeper.store.database.revisions import Revision


def list_history(asked: HistoryRequest, *, for_people: bool = False) -> Listing:
    """List the edits of a store, the newest first."""
    touching = _touching(asked)
    with opened_store(asked.place.store, readonly=True) as store:
        revisions = store.history(
            since=moment(asked.since) if asked.since else None,
            until=moment(asked.until) if asked.until else None,
            touching=touching,
        )
    by = folded(asked.by)
    found = [item for item in revisions if by in folded(item.who)]
    page = asked.lines.chosen(for_people=for_people)
    if not asked.merged:
        return _listed(found, page)
    kept = [item for item in kept_revisions(revisions) if by in folded(item.who)]
    if touching is not None:
        kept = [item for item in kept if any(quoted([touching[1]]) in text for text in item.words)]
    return _listed_together(found, kept, page)


def kept_time(revision: Revision) -> str:
    """Return when a revision was made, as a text that sorts."""
    return f"{revision.at:%Y-%m-%dT%H:%M:%S.%fZ}"


def kept_revisions(revisions: Iterable[Revision]) -> list[KeptRevision]:
    """Return the revisions of merged environments that some revisions keep."""
    # Imported here: who looks at what there is now does without edits.
    from gamekeeper.mapping.edits.environment import KeepHistory

    edits = (edit for item in revisions for edit in item.edits)
    return [kept for edit in edits if isinstance(edit, KeepHistory) for kept in edit.revisions]


def newest_revision(path: StorePlace) -> Listing:
    """Return the newest edit of a store, as the list of all has it."""
    with opened_store(path, readonly=True) as store:
        return _listed(store.history(), Page(size=1))


def revision_text(revision: Revision) -> str:
    """Say what a revision did; of many edits only the first."""
    text = _text(revision.words)
    return f"{text} (unrestricted)" if revision.unrestricted else text


def _text(words: Sequence[str]) -> str:
    text = " ".join(words[:2])
    return text if len(words) <= 2 else f"{text} And {count_of(len(words) - 2, 'more edit')}."


def _listed(revisions: Iterable[Revision], page: Page = EVERYTHING) -> Listing:
    columns = ("revision", "when", "who", "what", "note")
    return make_listing("revisions", columns, _rows(revisions), page)


def _rows(revisions: Iterable[Revision]) -> list[tuple[Cell, ...]]:
    return [
        (item.number, f"{item.at:%Y-%m-%d %H:%M:%S}", item.who, revision_text(item), item.note)
        for item in revisions
    ]


def _listed_together(
    revisions: Sequence[Revision], kept: Iterable[KeptRevision], page: Page
) -> Listing:
    """List revisions of this store and of others by when they were made, the newest first."""
    timed: list[tuple[str, tuple[Cell, ...]]] = [
        (kept_time(item), ("", *row)) for item, row in zip(revisions, _rows(revisions), strict=True)
    ]
    for item in kept:
        when = item.at[:19].replace("T", " ")
        timed.append(
            (item.at, (item.of, item.revision, when, item.who, _text(item.words), item.note))
        )
    rows = [row for _, row in sorted(timed, key=lambda pair: pair[0], reverse=True)]
    columns = ("of", "revision", "when", "who", "what", "note")
    return make_listing("revisions", columns, rows, page)


def _touching(asked: HistoryRequest) -> tuple[str, str] | None:
    named = {"form": asked.form, "variable": asked.variable, "group": asked.group}
    given = [(kind, name) for kind, name in named.items() if name]
    if len(given) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            "The history was asked for.",
            "Several of --form, --variable and --group were given.",
            "Give one of them.",
        )
    return given[0] if given else None


_SHOWN_CATEGORIES = 12


def describe_environment(asked: Opened) -> Listing:
    """Say what an environment is and holds, and the last edits where it is a store."""
    with opened(asked.environment, as_of=asked.as_of) as place:
        environment = place.environment
        n_faults = sum(len(environment.faulty_instances(name)) for name in environment.variables)
        rows: list[tuple[Cell, ...]] = [
            ("name", environment.name),
            ("description", environment.description),
            ("forms", number_text(len(environment.forms))),
            ("variables", number_text(len(environment.variables))),
            ("groups", number_text(len(environment.groups))),
            ("scenarios", number_text(len(environment.scenarios))),
            ("questions on forms", number_text(environment.n_instances)),
            ("inconsistent", number_text(n_faults)),
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
        return overview.list_forms(environment, where=asked.where, page=page)


def grid(
    asked: GridRequest, *, for_people: bool = False, progress: Progress | None = None
) -> Listing:
    """List forms by variables, with codes in the cells."""
    with _opened(asked.opened, progress) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return overview.list_grid(
            environment, where=asked.where, group=asked.group, variables=asked.variables, page=page
        )


def variables(
    asked: NamesRequest, *, for_people: bool = False, progress: Progress | None = None
) -> Listing:
    """List variables by a part of their names."""
    with _opened(asked.opened, progress) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return overview.list_variables(environment, matching=asked.matching, page=page)


def groups(
    asked: NamesRequest, *, for_people: bool = False, progress: Progress | None = None
) -> Listing:
    """List groups by a part of their names."""
    with _opened(asked.opened, progress) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return overview.list_groups(environment, matching=asked.matching, page=page)


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


def variable(asked: VariableRequest) -> tuple[overview.CategoryTable, Sequence[str]]:
    """Return the categories of a variable, and the main facts in words."""
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
    return overview.list_categories(name, found.graph), lines


def group(asked: GroupRequest, *, for_people: bool = False) -> Listing:
    """List the forms that a group has now."""
    with _opened(asked.opened) as environment:
        page = asked.lines.chosen(for_people=for_people)
        return overview.list_forms(environment, group=asked.group, page=page)


@contextmanager
def _opened(asked: Opened, progress: Progress | None = None) -> Generator[Environment]:
    with opened(asked.environment, as_of=asked.as_of, progress=progress) as place:
        yield place.environment
