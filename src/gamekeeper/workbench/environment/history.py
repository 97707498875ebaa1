"""Looking back in a store: who changed what, and when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits.kinds.kept_history import KeepHistory, KeptRevision
from gamekeeper.results import EVERYTHING, Cell, Listing, Page, make_listing
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, folded, quoted
from gamekeeper.workbench.environment.opening import moment, opened_store
from gamekeeper.workbench.requests.environment.store import HistoryRequest

if TYPE_CHECKING:
    from gamekeeper.store.database.history.revisions import Revision

_SHOWN_EDITS = 2


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
    text = " ".join(words[:_SHOWN_EDITS])
    if len(words) > _SHOWN_EDITS:
        text += f" And {count_of(len(words) - _SHOWN_EDITS, 'more edit')}."
    return text


def _listed(revisions: Iterable[Revision], page: Page = EVERYTHING) -> Listing:
    columns = ("revision", "when", "who", "what", "note")
    return make_listing("revisions", columns, _rows(revisions), page)


def _rows(revisions: Iterable[Revision]) -> list[tuple[Cell, ...]]:
    return [
        (
            item.number,
            f"{item.at:%Y-%m-%d %H:%M:%S}",
            item.who,
            revision_text(item),
            item.note,
        )
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
    """Return the kind and the name of the one thing whose edits are wanted, if any."""
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
