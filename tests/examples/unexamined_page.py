"""The page on what is not examined, made from what the program itself goes by.

``python -m tests.examples.unexamined_page`` writes it anew.
"""

from __future__ import annotations

import re
from pathlib import Path

from gamekeeper.attack.unexamined import FAMILIES, Family, Look, Subject
from gamekeeper.wording import at_start

PAGE = Path(__file__).parents[2] / "docs/explain/what-is-not-examined.md"

_INTRODUCTION = (
    "# What is not examined\n\n"
    "A result is about what was looked at, and an intruder is free to look at the rest. This page says of every"
    " command that maps, attacks, links, protects or tabulates what it looks at, what it looks at where an"
    " option asks for it, and what it does not look at. Read the column of your command before you call a"
    " release safe: what is **no** there is not known, which is not the same as harmless. Every subject has a"
    " way around, [below](#each-subject-and-the-way-around).\n\n"
    "| in a cell | means |\n|---|---|\n"
    "| yes | the command looks at it |\n"
    "| an option | it looks at it, in the way that the option says |\n"
    "| in part | it looks at some of it; what it leaves out is told with the subject |\n"
    "| **no** | it does not look at it |\n\n"
    "The last lines of `gamekeeper COMMAND --help` name what is **no** for that command. Commands that are not"
    " here keep, show or write, and say nothing of risk.\n"
)


def page() -> str:
    """Return the page."""
    subjects = dict.fromkeys(one for family in FAMILIES for one in family.subjects)
    return "\n".join(
        (
            _INTRODUCTION,
            *(f"## {family.name}\n\n{_matrix(family)}" for family in FAMILIES),
            "## Each subject, and the way around\n",
            "\n\n".join(map(_told, subjects)) + "\n",
        )
    )


def _matrix(family: Family) -> str:
    """Return subjects by commands; commands that look at the same things stand together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for command, looks in family.looks.items():
        cells = tuple(_cell(looks.get(subject)) for subject in family.subjects)
        alike.setdefault(cells, []).append(f"`{command}`")
    lines = [["", *map(", ".join, alike.values())], ["---"] * (len(alike) + 1)]
    for row, subject in enumerate(family.subjects):
        lines.append([subject.name, *(cells[row] for cells in alike)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("|  |", "| |")


def _cell(look: Look | None) -> str:
    if look is None:
        return "**no**"
    of = f" of `{look.options_of}`" if look.options_of and look.options else ""
    options = ", ".join(f"`{name}`" for name in look.options) + of
    if not look.in_part:
        return options or "yes"
    return f"in part: {options}" if options else "in part"


def _told(subject: Subject) -> str:
    said = [f"**{at_start(subject.name)}.** {at_start(subject.words)}."]
    if subject.partly:
        said.append(f"Where it is in part: {subject.partly}")
    said.append(f"*Way around:* {subject.around}.")
    as_code = re.sub(r"'([a-z ]+)'", r"`\1`", " ".join(said))
    return re.sub(r"--[a-z-]+", r"`\g<0>`", as_code)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
