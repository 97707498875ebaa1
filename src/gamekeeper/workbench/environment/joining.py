"""Environments side by side: what differs between two of them, and two made one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.edits import Edit, KeepHistory, KeptRevision, apply_edits
from gamekeeper.mapping.edits.differences import EnvironmentDifference, compare_environments
from gamekeeper.mapping.edits.merging import map_codes, plan_merge
from gamekeeper.results import EVERYTHING, Cell, Listing, make_listing
from gamekeeper.wording import count_of, quoted, shown_path
from gamekeeper.workbench.environment.editing import Edited, acknowledged
from gamekeeper.workbench.environment.history import kept_revisions, kept_time
from gamekeeper.workbench.environment.opening import opened, opened_store, person
from gamekeeper.workbench.requests.environment.store import DiffRequest, MergeRequest

if TYPE_CHECKING:
    from gamekeeper.store.database.environment_store import EnvironmentStore


def _history(name: str, store: EnvironmentStore | None) -> list[Edit]:
    """Return an edit that keeps the history of another store, and what that had kept of others."""
    if store is None:
        return []
    revisions = store.history()
    own = [
        KeptRevision(
            of=name,
            revision=item.number,
            at=kept_time(item),
            who=item.who,
            words=item.words,
            note=item.note,
        )
        for item in revisions
    ]
    return [KeepHistory(of=name, revisions=(*own, *kept_revisions(revisions)))]


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did, or would do: the revision, their codes here, and what to know."""

    edited: Edited | None
    n_edits: int
    codes: Listing
    notes: tuple[str, ...]


def diff(asked: DiffRequest) -> EnvironmentDifference:
    """Tell what differs between two environments, or two dates of one."""
    if asked.other is None and asked.since == asked.until:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"What differs in {shown_path(asked.environment)} was asked for.",
            "Only one state of one environment was named.",
            "Name another environment, or two dates with --since and --until.",
        )
    with (
        opened(asked.environment, as_of=asked.since) as first,
        opened(asked.other or asked.environment, as_of=asked.until) as second,
    ):
        return compare_environments(first.environment, second.environment)


def merge(asked: MergeRequest) -> Merged:
    """Bring another environment into a store, as one revision; nothing while conflicts are open."""
    path = asked.place.store
    with opened(asked.other) as other, opened_store(path) as store:
        theirs, ours = other.environment, store.environment()
        decided = {
            (kind, name): what
            for text, what in asked.decisions.items()
            for kind, _, name in (text.partition(":"),)
        }
        plan = plan_merge(ours, theirs, decided)
        if plan.conflicts:
            raise InputError(
                Reason.DUPLICATE,
                f"{shown_path(asked.other)} was to be merged into {shown_path(path)}.",
                f"{count_of(len(plan.conflicts), 'thing is', 'things are')} not decided. Nothing was"
                " changed.",
                "Decide on each: --decide 'KIND:NAME=ours', '=theirs', or '=ANOTHER NAME'.",
                problems=[
                    Problem(Reason.DUPLICATE, f"{item.kind} {quoted([item.name])}", f"{item.what}.")
                    for item in plan.conflicts
                ],
            )
        after = apply_edits(ours, plan.edits)
        edited = None
        if plan.edits and not asked.dry_run:
            was = "" if other.store is None else f", revision {other.store.revision}"
            made = store.apply(
                [*plan.edits, *_history(theirs.name, other.store)],
                who=person(asked.person.who),
                note=f"merged from {quoted([theirs.name])}{was}",
            )
            edited = acknowledged(store, made)
            after = store.environment()
        rows: list[tuple[Cell, ...]] = list(map_codes(theirs, after, plan.variables))
    codes = make_listing("codes", ("variable", "their code", "our code"), rows, EVERYTHING)
    return Merged(edited, len(plan.edits), codes, tuple(plan.notes))
