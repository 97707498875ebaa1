"""What the status of a cell says: shown, hidden and why; in the letters of the tools that write it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted


class Status(StrEnum):
    """What became of a cell."""

    SHOWN = "shown"
    UNSAFE = "unsafe"
    """Hidden because a rule or a person says so."""
    SECONDARY = "secondary"
    """Hidden so that others cannot be worked out."""
    HIDDEN = "hidden"
    """Hidden, and nobody says why."""
    UNPUBLISHED = "unpublished"
    """Never meant to be published: nobody asks what it is."""
    EMPTY = "empty"
    """Known to be empty: it can hold nobody."""

    @property
    def is_hidden(self) -> bool:
        """Whether the figure is kept back."""
        return self in (Status.UNSAFE, Status.SECONDARY, Status.HIDDEN)


def _letters(shown: str, unsafe: str, secondary: str, **others: str) -> dict[str, Status]:
    found = dict.fromkeys(shown.split(), Status.SHOWN)
    found |= dict.fromkeys(unsafe.split(), Status.UNSAFE)
    found |= dict.fromkeys(secondary.split(), Status.SECONDARY)
    for name, letters in others.items():
        found |= dict.fromkeys(letters.split(), Status(name))
    return found


VOCABULARIES: Mapping[str, Mapping[str, Status]] = {
    "argus": _letters("S P s p", "U u", "M m", empty="E e"),
    "numbers": _letters("1 2 10", "3 4 5 6 7 8 9", "11 12", unpublished="13", empty="14"),
    "sbs": _letters("V", "A B C", "D"),
    "sdctable": _letters("s z", "u", "x", unpublished="w"),
    "sdmx": _letters("F U", "A B C G M N O P R T W", "D S"),
    "yes-no": _letters("False false FALSE 0 no No", "", "", hidden="True true TRUE 1 yes Yes"),
    "acro": _letters(
        "ok pass", "fail review threshold; p-ratio; nk-rule; missing; all-values-are-same;", ""
    ),
}
"""The letters of tau-ARGUS (tables that it reads, and its numbers), of structural business
statistics, sdcTable, SDMX's CONF_STATUS and ACRO, and a column that says yes or no."""

_BY_NAME = {"conf_status": "sdmx", "sdcstatus": "sdctable", "suppressed": "yes-no"}


def read_statuses(
    texts: Iterable[str],
    column: str,
    asked: str,
    *,
    vocabulary: str | None = None,
    hidden: Iterable[str] = (),
) -> dict[str, Status]:
    """Return the status that each text of a column stands for.

    With `hidden`, these texts and no others are hidden ones. Without a vocabulary, that which has
    every text is taken, if no other reads them differently.

    Examples
    --------
    >>> found = read_statuses(["V", "A", "D"], "Status", "x")
    >>> [str(found[text]) for text in ("V", "A", "D")]
    ['shown', 'unsafe', 'secondary']
    """
    every = list(dict.fromkeys(text.strip() for text in texts))
    named = {text.strip() for text in hidden}
    if named:
        return {text: Status.HIDDEN if text in named else Status.SHOWN for text in every}
    known = [text for text in every if text]
    chosen = vocabulary or _BY_NAME.get(column.strip().casefold())
    if chosen is not None and chosen not in VOCABULARIES:
        raise InputError(
            Reason.UNKNOWN_NAME,
            asked,
            f"There are no statuses {quoted([chosen])}.",
            f"There are: {quoted(VOCABULARIES)}.",
        )
    names = [chosen] if chosen else list(VOCABULARIES)
    fitting = [name for name in names if all(text in VOCABULARIES[name] for text in known)]
    read = {name: tuple(VOCABULARIES[name][text].is_hidden for text in known) for name in fitting}
    if not fitting:
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            f"Column {quoted([column])} has statuses of no kind that is known.",
            "Say which of them are hidden (--hidden-status A,B), or of which kind they are"
            f" (--status-kind): {quoted(VOCABULARIES)}.",
        )
    if len(set(read.values())) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            f"The statuses of column {quoted([column])} mean different things: {quoted(fitting)}.",
            "Say which (--status-kind), or which of them are hidden (--hidden-status A,B).",
        )
    found = {text: VOCABULARIES[fitting[0]][text] for text in known}
    return {**found, "": Status.SHOWN}
