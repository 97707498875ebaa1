"""What a release gives away that no attack looked at: what a steward must know before it goes out."""

from __future__ import annotations

from gamekeeper.attack.unexamined import ORDER, OTHER_COLUMNS
from gamekeeper.protect.protected import Protected
from gamekeeper.wording import at_start, be, count_of, quoted
from gamekeeper.workbench.protection.opening import ProtectedInput
from gamekeeper.workbench.requests.protection import ReleaseOptions


def release_notices(
    opened: ProtectedInput, made: Protected, asked: ReleaseOptions
) -> tuple[str, ...]:
    """Say which columns would be released as they are, and in which order, examined by no attack.

    Protection is of the keys alone. A name, an address or a number of a register in another column
    undoes all of it.
    """
    setting = opened.setting
    examined = {opened.columns.get(name, name) for name in (*setting.keys, *made.log.variables)}
    examined |= {setting.weight}
    others = [
        name
        for name in opened.data.source.names
        if name not in examined and name not in set(asked.leave_out)
    ]
    said: list[str] = []
    if asked.keep_order:
        said.append(
            f"Records are released in the order of the original, and no attack looked at it: {ORDER.words}."
            " Leave out --keep-order to have them shuffled."
        )
    telling = [name for name in others if name and name in (setting.identifier, setting.household)]
    if telling:
        said.append(
            f"{quoted(telling)} {be(len(telling))} released as in the original: whoever has a list with"
            " the same numbers finds everybody, and numbers in the order of the original tell that order."
            " Leave it out (--leave-out), unless they are made up."
        )
    if setting.household:
        said.append(
            "Columns in which the members of a household are alike, such as its size or its income, can tell"
            " who lives together, in whatever order the records are: no attack looked at that."
        )
    rest = [name for name in others if name not in telling]
    if rest:
        # Each by its name: the one that is cut off may be the one that tells who somebody is.
        said.append(
            f"{count_of(len(rest), 'column is', 'columns are')} released as in the original, and no"
            f" attack looked at {'it' if len(rest) == 1 else 'them'}: {quoted(rest, most=len(rest))}."
            f" {at_start(OTHER_COLUMNS.around)} (--leave-out, or --keys of protect try)."
        )
    return tuple(said)
