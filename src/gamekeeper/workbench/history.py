"""Looking back in a store: who changed what, and when."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Reason
from gamekeeper.results import EVERYTHING, Cell, Listing, Page, make_listing
from gamekeeper.wording import count_of, folded
from gamekeeper.workbench.environments import moment, opened_store
from gamekeeper.workbench.requests.store import HistoryRequest

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
    found = (item for item in revisions if by in folded(item.who))
    return _listed(found, asked.lines.chosen(for_people=for_people))


def newest_revision(path: Path) -> Listing:
    """Return the newest edit of a store, as the list of all has it."""
    with opened_store(path, readonly=True) as store:
        return _listed(store.history(), Page(size=1))


def revision_text(revision: Revision) -> str:
    """Say what a revision did; of many edits only the first."""
    text = " ".join(revision.words[:_SHOWN_EDITS])
    if len(revision.words) > _SHOWN_EDITS:
        text += f" And {count_of(len(revision.words) - _SHOWN_EDITS, 'more edit')}."
    return f"{text} (unrestricted)" if revision.unrestricted else text


def _listed(revisions: Iterable[Revision], page: Page = EVERYTHING) -> Listing:
    rows: list[tuple[Cell, ...]] = [
        (
            item.number,
            f"{item.at:%Y-%m-%d %H:%M:%S}",
            item.who,
            revision_text(item),
            item.note,
        )
        for item in revisions
    ]
    return make_listing("revisions", ("revision", "when", "who", "what", "note"), rows, page)


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
