"""From files to decisions, and from decisions to edits.

Nothing enters an environment here: `propose_forms` reads and proposes, a person or a script changes
what it returns, `edits_for` turns that into edits, and a store makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gamekeeper.errors import InputError, Problem, refuse
from gamekeeper.importing.decisions import DecisionsFile, decisions_on, edits_of_decisions
from gamekeeper.importing.files.limits import MOST_MEGABYTES
from gamekeeper.importing.matching.proposal import Matcher
from gamekeeper.importing.proposed_question import Instrument
from gamekeeper.importing.readers.registry import FORMATS, Format, read_instrument
from gamekeeper.mapping.edits import Edit, apply_edits
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.wording import count_of, quoted


def propose_forms(
    environment: Environment,
    files: Sequence[str | Path],
    *,
    name: str | None = None,
    file_format: str | None = None,
    most_megabytes: int = MOST_MEGABYTES,
    formats: Sequence[Format] = FORMATS,
) -> DecisionsFile:
    """Read questionnaires, dictionaries or codebooks and propose what their questions are about.

    What is sure is marked to be taken. Nothing is entered.

    Parameters
    ----------
    environment
        Its variables are what questions may be about, and its forms what was decided before.
    name
        The name of the form, where there is one file; by default its title.
    file_format
        The name of the format, if it is not told from the file.
    formats
        The formats that are known; add one of your own with `(*FORMATS, mine)`.

    Raises
    ------
    InputError
        With every file that cannot be read.
    """
    read: list[tuple[Path, Instrument]] = []
    problems: list[Problem] = []
    for path in map(Path, files):
        try:
            instrument = read_instrument(
                path, format_name=file_format, most_megabytes=most_megabytes, formats=formats
            )
        except InputError as error:
            if len(files) == 1:
                raise
            where = f"file {quoted([path.name])}"
            problems.append(Problem(error.reason, where, error.found, error.do))
        else:
            read.append((path, instrument))
    refuse(
        problems,
        f"{count_of(len(files), 'file was', 'files were')} to be imported.",
        f"{count_of(len(problems), 'file')} cannot be read. Nothing was entered.",
        "Leave out what is no questionnaire, or name its format.",
    )
    matcher = Matcher(environment)
    names = _form_names(environment, read, name)
    return DecisionsFile(
        forms=tuple(
            decisions_on(
                _with_notes(environment, path, instrument) if name is None else instrument,
                matcher.propose_form(instrument),
                form,
                path.name,
            )
            for (path, instrument), form in zip(read, names, strict=True)
        )
    )


def edits_for(environment: Environment, decided: DecisionsFile) -> list[Edit]:
    """Return the edits that enter what decisions take; each form sees what those before it made.

    Raises
    ------
    InputError
        With every question of a form that cannot enter as it is decided.
    """
    edits: list[Edit] = []
    for form in decided.forms:
        own = edits_of_decisions(environment, form)
        environment = apply_edits(environment, own)
        edits += own
    return edits


def _form_names(
    environment: Environment, read: Sequence[tuple[Path, Instrument]], name: str | None
) -> list[str]:
    """Return a name per form that no other has: the title, with that of the file if need be.

    A name that is asked for may be that of a form that is there, which then asks more.
    """
    if name is not None:
        return [name]
    taken = set(environment.forms)
    names: list[str] = []
    for path, instrument in read:
        chosen, number = instrument.title, 1
        while chosen in taken:
            told = path.stem if number == 1 else f"{path.stem} {number}"
            chosen, number = f"{instrument.title} ({told})", number + 1
        taken.add(chosen)
        names.append(chosen)
    return names


def _with_notes(environment: Environment, path: Path, instrument: Instrument) -> Instrument:
    """Return an instrument with a note if a form of its title is there, which may be the same."""
    if instrument.title not in environment.forms:
        return instrument
    source = environment.forms[instrument.title].metadata.get("source")
    same = ", read from a file of the same name" if source == path.name else ""
    note = (
        f"there is a form {quoted([instrument.title])} already{same}; this one counts as another"
        " form, so leave it out if it is the same"
    )
    return replace(instrument, notes=(*instrument.notes, note))
