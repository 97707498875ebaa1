"""The commands on forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.cli.commands import AsFormat, command, command_group
from gamekeeper.cli.environment.completing import OFFERS
from gamekeeper.cli.environment.edit_commands import edit_command, record_command
from gamekeeper.cli.environment.printing import show_listing
from gamekeeper.cli.show import Format, progress_bar, say, say_all, show, warn
from gamekeeper.workbench.requests.environment.browsing import (
    FormRequest,
    FormsRequest,
    GridRequest,
)
from gamekeeper.workbench.requests.environment.editing import (
    AddFormRequest,
    AskQuestionRequest,
    AskVariableRequest,
    UniverseRequest,
)
from gamekeeper.workbench.requests.environment.importing import ImportFormsRequest

if TYPE_CHECKING:
    from gamekeeper.mapping.edits import Edit

app = command_group(
    "form",
    "Forms: what is asked out there, by whom, and in which categories.",
)


@command(app, "list")
def list_command(asked: FormsRequest, how: AsFormat = Format.TABLE) -> None:
    """List forms with their metadata.

    [bold]Examples[/bold]

      gamekeeper form list norland.gk

    Banks and insurers since 2029 that ask for age, the newest first:
      gamekeeper form list norland.gk -w "sector in (banks, insurers) and year >= 2029 and has Age" --sort year -d
    """
    from gamekeeper.workbench.environment.browsing import forms

    with progress_bar("Opening") as progress:
        listing = forms(asked, for_people=how is Format.TABLE, progress=progress)
    show_listing(listing, how)


@command(app, "grid", offers=OFFERS)
def grid_command(asked: GridRequest, how: AsFormat = Format.TABLE) -> None:
    """List forms by variables, with the code of each variable in the cells.

    [bold]Examples[/bold]

      gamekeeper form grid norland.gk -w "sector = banks" -v Age -v Sex

    As a table for a spreadsheet:
      gamekeeper form grid norland.gk --format csv
    """
    from gamekeeper.workbench.environment.browsing import grid

    with progress_bar("Opening") as progress:
        listing = grid(asked, for_people=how is Format.TABLE, progress=progress)
    show_listing(listing, how)


@command(app, "show", offers=OFFERS)
def show_command(asked: FormRequest, how: AsFormat = Format.TABLE) -> None:
    """Show a form: its metadata, the categories and code of every variable, and its own words.

    [bold]Examples[/bold]

      gamekeeper form show norland.gk "Survey X"
    """
    from gamekeeper.mapping.forms.question_words import question_lines, universe_text
    from gamekeeper.store.forms import words_tree
    from gamekeeper.workbench.environment.browsing import form

    found, metadata, groups, itself = form(asked)
    if how is Format.TABLE:
        for key, value in metadata.items():
            say(f"{key}: {value}")
        if groups:
            say(f"groups: {'; '.join(groups)}")
        if itself.universe is not None:
            say(f"asked of: {universe_text(itself.universe)}")
        say()
    words = words_tree(itself)
    show(found, how, parts={"metadata": dict(metadata), "groups": list(groups), **words})
    if how is Format.TABLE:
        for question in itself.questions:
            say()
            say_all(question_lines(question))


@edit_command(app, "add", AddFormRequest)
def add_command(asked: AddFormRequest) -> Edit:
    """Add a form.

    [bold]Examples[/bold]

      gamekeeper form add norland.gk "Survey X" -s "Organisation=Pollsters" -s year=2031 -a "Age=0-15; 16-64; 65+"

    One more that differs from it in one variable:
      gamekeeper form add norland.gk "Survey Y" --like "Survey X" -a "Age=0-17; 18+"
    """
    from gamekeeper.workbench.environment.requested_edits import new_form

    return new_form(asked)


@command(app, "import")
def import_command(asked: ImportFormsRequest, how: AsFormat = Format.TABLE) -> None:
    """Read questionnaires, and propose which variables their questions are about.

    Nothing enters unless it is asked for: --take-sure enters what is sure, --ask goes through all
    that is proposed (with --take-sure through the rest), and --save writes decisions that can be
    changed and entered later with --decisions. Reads DDI codebooks, XLSForms, REDCap dictionaries,
    LimeSurvey surveys, SPSS, Stata and SAS files, questionnaires in JSON and codebooks in CSV.
    Nothing is fetched.

    [bold]Examples[/bold]

    What is proposed:
      gamekeeper form import norland.gk survey.xlsx

    Enter what is sure, look at the rest in a file, and enter that:
      gamekeeper form import norland.gk survey.xlsx --take-sure --save rest.json
      gamekeeper form import norland.gk --decisions rest.json
    """
    from gamekeeper.cli.environment.importing import ask_person
    from gamekeeper.workbench.environment.importing import import_forms

    made = import_forms(asked, ask=ask_person if asked.ask else None)
    told = made.sentences()
    if made.edited is None or how is not Format.TABLE:
        decisions = made.decisions.model_dump(mode="json", exclude_defaults=True)
        notices = () if made.edited is None else made.edited.notes
        show(made.listing(), how, sentences=told, notices=notices, parts={"decisions": decisions})
    if how is Format.TABLE:
        say_all(told)
    for note in made.edited.notes if made.edited else ():
        warn(f"! {note}")


record_command(
    app,
    "set",
    "SetMetadata",
    "Set or remove metadata of a form.",
    'gamekeeper form set norland.gk "Survey X" "Form Type=Paper" year=2031 --remove draft',
)


@edit_command(app, "ask", AskVariableRequest, can_break=True)
def ask_command(asked: AskVariableRequest) -> Edit:
    """Put a variable on a form with the categories it offers, or change them.

    [bold]Examples[/bold]

      gamekeeper form ask norland.gk "Survey X" Age 0-15 16-64 "65 and over"

    Where people write what they like:
      gamekeeper form ask norland.gk "Survey X" Occupation --any-detail
    """
    from gamekeeper.workbench.environment.requested_edits import asked_variable

    return asked_variable(asked)


@edit_command(app, "question", AskQuestionRequest, can_break=True)
def question_command(asked: AskQuestionRequest) -> Edit:
    """Put a question on a form in its own words: what is printed, and what each answer means.

    The categories of its variable follow from what the answers mean.

    [bold]Examples[/bold]

      gamekeeper form question norland.gk "Survey X" Q4 -v Married -a "Yes=married" -a "No=other" -n "Secret=refused"

    Boxes to tick, each with a yes/no variable of its own:
      gamekeeper form question norland.gk "Survey X" Q9 --box "Asthma=Has asthma" --box "Diabetes=Has diabetes"

    Asked of some people only:
      gamekeeper form question norland.gk "Survey X" Q2 -v Age -a 16-64 -a 65+ --outside --asked-of "People over 15"
    """
    from gamekeeper.workbench.environment.requested_edits import asked_question

    return asked_question(asked)


record_command(
    app,
    "drop-question",
    "DropQuestion",
    "Take a question off a form, with what it told of variables.",
    'gamekeeper form drop-question norland.gk "Survey X" Q4',
    can_break=True,
)


@edit_command(app, "universe", UniverseRequest)
def universe_command(asked: UniverseRequest) -> Edit:
    """Say who a form is for, in its words and in categories.

    [bold]Examples[/bold]

      gamekeeper form universe norland.gk "Survey X" "Pensioners of 65 and over" --within "Age=65+"
    """
    from gamekeeper.workbench.environment.requested_edits import asked_universe

    return asked_universe(asked)


record_command(
    app,
    "drop",
    "DropVariable",
    "Take a variable off a form.",
    'gamekeeper form drop norland.gk "Survey X" Age',
)
record_command(
    app,
    "rename",
    "RenameForm",
    "Rename a form, in groups too.",
    'gamekeeper form rename norland.gk "Survey X" "Survey X (2031)"',
)
record_command(
    app,
    "remove",
    "RemoveForm",
    "Remove a form, from groups too. Its codes stay what they are.",
    'gamekeeper form remove norland.gk "Survey X"',
)
