"""Lists of an environment and edits of a store, as they are told at the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from gamekeeper.cli.show import Format, say, show, warn
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    from gamekeeper.mapping.edits import Consequences, Edit
    from gamekeeper.results import Listing
    from gamekeeper.workbench.environment.editing import Edited
    from gamekeeper.workbench.requests.environment.editing import Freedom, Signature


def show_listing(listing: Listing, how: Format) -> None:
    """Print a page of a list, and how to see the next."""
    show(listing, how)
    if how is not Format.TABLE:
        return
    say()
    shown = listing.summary()
    if listing.n_pages > 1:
        more = f"; next: --page {listing.number + 1}" if shown["to"] < listing.total else ""
        say(f"{listing.what} {shown['from']:,} to {shown['to']:,} of {listing.total:,}{more}")
    else:
        say(count_of(listing.total, listing.what.removesuffix("s")))


def make_edits(
    store: StorePlace, edits: Sequence[Edit], signature: Signature, freedom: Freedom, how: Format
) -> None:
    """Make edits and say what was done; unrestricted ones are shown first."""
    from gamekeeper.workbench.environment import editing

    tell = say if how is Format.TABLE else warn
    consequences = editing.weigh(store, edits) if freedom.unrestricted else None
    if consequences is not None and not freedom.yes:
        show(consequences, how)
        tell(f"This would happen: {_counted(consequences)}.")
        tell("Nothing was changed. Add --yes to go ahead.")
        raise typer.Exit(2)
    edited = editing.edit_store(store, edits, signature, unrestricted=freedom.unrestricted)
    show_edited(store, edited, how)
    if consequences is not None:
        tell(f"This happened: {_counted(consequences)}.")


def show_edited(store: StorePlace, edited: Edited, how: Format) -> None:
    """Say what was acknowledged, or print the line of the history."""
    if how is Format.TABLE:
        for words in edited.words:
            say(f"Revision {edited.revision}: {words}")
    else:
        from gamekeeper.workbench.environment.history import newest_revision

        show(newest_revision(store), how)
    for note in edited.notes:
        warn(f"! {note}")


def _counted(consequences: Consequences) -> str:
    """Return the numbers of forms and codes that something happens to."""
    counts = list(consequences.summary().items())[2:]
    happens = [f"{name.replace('_', ' ')}: {number}" for name, number in counts if number]
    return "; ".join(happens) or "nothing breaks"
