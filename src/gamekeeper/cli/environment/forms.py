"""Commands on forms, groups of forms and scenarios, and what a person is asked on an import."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import typer

from gamekeeper.cli import commands
from gamekeeper.cli.environment import edits
from gamekeeper.wording import did_you_mean, quoted
from gamekeeper.workbench.requests import editing
from gamekeeper.workbench.requests.environment import (
    FormRequest,
    FormsRequest,
    GridRequest,
    GroupRequest,
    NamesRequest,
    ScenarioRequest,
)

if TYPE_CHECKING:
    from gamekeeper.importing.proposing import AnswerDecision, Decision, FormDecisions
    from gamekeeper.mapping.edits import Edit
    from gamekeeper.mapping.environment.environment import Environment
    from gamekeeper.mapping.variables.codes import Variable

app = commands.command_group(
    "form", "Forms: what is asked out there, by whom, and in which categories."
)


@commands.command(app, "list")
def list_command(asked: FormsRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """List forms with their metadata.

    [bold]Examples[/bold]

      gamekeeper form list norland.gk

    Banks and insurers since 2029 that ask for age, the newest first:
      gamekeeper form list norland.gk -w "sector in (banks, insurers) and year >= 2029 and has Age" --sort year -d
    """
    from gamekeeper.workbench.environment.browsing import forms

    with commands.progress_bar("Opening") as progress:
        listing = forms(asked, for_people=how is commands.Format.TABLE, progress=progress)
    edits.show_listing(listing, how)


@commands.command(app, "grid", offers=edits.OFFERS)
def grid_command(asked: GridRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """List forms by variables, with the code of each variable in the cells.

    [bold]Examples[/bold]

      gamekeeper form grid norland.gk -w "sector = banks" -v Age -v Sex

    As a table for a spreadsheet:
      gamekeeper form grid norland.gk --format csv
    """
    from gamekeeper.workbench.environment.browsing import grid

    with commands.progress_bar("Opening") as progress:
        listing = grid(asked, for_people=how is commands.Format.TABLE, progress=progress)
    edits.show_listing(listing, how)


@commands.command(app, "show", offers=edits.OFFERS)
def show_command(asked: FormRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Show a form: its metadata, the categories and code of every variable, and its own words.

    [bold]Examples[/bold]

      gamekeeper form show norland.gk "Survey X"
    """
    from gamekeeper.mapping.forms.form import question_lines, universe_text
    from gamekeeper.store.reading import words_tree
    from gamekeeper.workbench.environment.browsing import form

    found, metadata, groups, itself = form(asked)
    if how is commands.Format.TABLE:
        for key, value in metadata.items():
            commands.say(f"{key}: {value}")
        if groups:
            commands.say(f"groups: {'; '.join(groups)}")
        if itself.universe is not None:
            commands.say(f"asked of: {universe_text(itself.universe)}")
        commands.say()
    words = words_tree(itself)
    commands.show(found, how, parts={"metadata": dict(metadata), "groups": list(groups), **words})
    if how is commands.Format.TABLE:
        for question in itself.questions:
            commands.say()
            commands.say_all(question_lines(question))


@edits.edit_command(app, "add", editing.AddFormRequest)
def add_command(asked: editing.AddFormRequest) -> Edit:
    """Add a form.

    [bold]Examples[/bold]

      gamekeeper form add norland.gk "Survey X" -s "Organisation=Pollsters" -s year=2031 -a "Age=0-15; 16-64; 65+"

    One more that differs from it in one variable:
      gamekeeper form add norland.gk "Survey Y" --like "Survey X" -a "Age=0-17; 18+"
    """
    from gamekeeper.workbench.environment.editing import new_form

    return new_form(asked)


@commands.command(app, "import")
def import_command(
    asked: editing.ImportFormsRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
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
    from gamekeeper.workbench.environment.importing import import_forms

    made = import_forms(asked, ask=ask_person if asked.ask else None)
    told = made.sentences()
    if made.edited is None or how is not commands.Format.TABLE:
        decisions = made.decisions.model_dump(mode="json", exclude_defaults=True)
        notices = () if made.edited is None else made.edited.notes
        commands.show(
            made.listing(), how, sentences=told, notices=notices, parts={"decisions": decisions}
        )
    if how is commands.Format.TABLE:
        commands.say_all(told)
    for note in made.edited.notes if made.edited else ():
        commands.warn(f"! {note}")


edits.record_command(
    *(app, "set", "SetMetadata", "Set or remove metadata of a form."),
    'gamekeeper form set norland.gk "Survey X" "Form Type=Paper" year=2031 --remove draft',
)


@edits.edit_command(app, "ask", editing.AskVariableRequest, can_break=True)
def ask_command(asked: editing.AskVariableRequest) -> Edit:
    """Put a variable on a form with the categories it offers, or change them.

    [bold]Examples[/bold]

      gamekeeper form ask norland.gk "Survey X" Age 0-15 16-64 "65 and over"

    Where people write what they like:
      gamekeeper form ask norland.gk "Survey X" Occupation --any-detail
    """
    from gamekeeper.workbench.environment.editing import asked_variable

    return asked_variable(asked)


@edits.edit_command(app, "question", editing.AskQuestionRequest, can_break=True)
def question_command(asked: editing.AskQuestionRequest) -> Edit:
    """Put a question on a form in its own words: what is printed, and what each answer means.

    The categories of its variable follow from what the answers mean.

    [bold]Examples[/bold]

      gamekeeper form question norland.gk "Survey X" Q4 -v Married -a "Yes=married" -a "No=other" -n "Secret=refused"

    Boxes to tick, each with a yes/no variable of its own:
      gamekeeper form question norland.gk "Survey X" Q9 --box "Asthma=Has asthma" --box "Diabetes=Has diabetes"

    Asked of some people only:
      gamekeeper form question norland.gk "Survey X" Q2 -v Age -a 16-64 -a 65+ --outside --asked-of "People over 15"
    """
    from gamekeeper.workbench.environment.editing import asked_question

    return asked_question(asked)


edits.record_command(
    *(app, "drop-question", "DropQuestion"),
    "Take a question off a form, with what it told of variables.",
    'gamekeeper form drop-question norland.gk "Survey X" Q4',
    can_break=True,
)


@edits.edit_command(app, "universe", editing.UniverseRequest)
def universe_command(asked: editing.UniverseRequest) -> Edit:
    """Say who a form is for, in its words and in categories.

    [bold]Examples[/bold]

      gamekeeper form universe norland.gk "Survey X" "Pensioners of 65 and over" --within "Age=65+"
    """
    from gamekeeper.workbench.environment.editing import asked_universe

    return asked_universe(asked)


edits.record_command(
    *(app, "drop", "DropVariable", "Take a variable off a form."),
    'gamekeeper form drop norland.gk "Survey X" Age',
)
edits.record_command(
    *(app, "rename", "RenameForm", "Rename a form, in groups too."),
    'gamekeeper form rename norland.gk "Survey X" "Survey X (2031)"',
)
edits.record_command(
    *(app, "remove", "RemoveForm", "Remove a form, from groups too. Its codes stay what they are."),
    'gamekeeper form remove norland.gk "Survey X"',
)


def ask_person(form: FormDecisions, decision: Decision, environment: Environment) -> Decision:
    """Show a question with what is proposed, and ask what to do with it.

    A name that is not known is asked for again. An answer without a meaning is asked for in turn:
    a category, '-' if it is no answer, or '*' if it is for all whom no other answer fits.
    """
    commands.say()
    commands.say(f"{form.form}, {decision.question}: {decision.text}")
    commands.say(f"  {decision.variable} ({decision.score:.2f}): {decision.reason}")
    known = environment.variables
    choice = _asked(
        "  y takes it, n leaves it for later, x keeps its words and feeds nothing, or name a variable",
        {*known, "y", "n", "x"},
        "y" if decision.status == "sure" else "n",
    )
    if choice == "n":
        return decision
    if choice == "x":
        return decision.model_copy(update={"take": True, "variable": None, "outside": False})
    if choice != "y":
        from gamekeeper.importing.proposing import decided_for

        decision = decided_for(environment, decision, choice)
    variable = known[decision.variable or ""]
    answers = tuple(_placed(answer, variable) for answer in decision.answers)
    return decision.model_copy(update={"take": True, "answers": answers})


def _placed(answer: AnswerDecision, variable: Variable) -> AnswerDecision:
    if answer.means is not None or answer.no_answer is not None:
        return answer
    from gamekeeper.mapping.variables.codes import ELSE

    while True:
        means = _typed(f"  {answer.text!r} means the category (- for no answer, * for the rest)")
        if means == "-":
            return answer.model_copy(update={"no_answer": "not stated"})
        if means == "*":
            return answer.model_copy(update={"means": ELSE})
        if variable.resolve(means) is not None or variable.has_room_for(means):
            return answer.model_copy(update={"means": means})
        _told_unknown("category", means, variable.graph.categories)


def _asked(text: str, known: Collection[str], default: str) -> str:
    while True:
        choice = _typed(text, default)
        if choice in known:
            return choice
        _told_unknown("variable", choice, known)


def _typed(text: str, default: str | None = None) -> str:
    return typer.prompt(text, default=default, show_default=default is not None).strip()


def _told_unknown(kind: str, name: str, known: Collection[str]) -> None:
    commands.say(f"  There is no {kind} {quoted([name])}. {did_you_mean(name, known)}")


groups_app = commands.command_group(
    "group",
    "Groups of forms: listed by hand, found by a query, or made from other groups.\n\n"
    "Queries and combinations stay live: a form that is added later and fits belongs to them.",
)


@commands.command(groups_app, "list")
def list_groups(asked: NamesRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """List groups: how many forms they have now, and how they are defined.

    [bold]Examples[/bold]

      gamekeeper group list norland.gk
    """
    from gamekeeper.workbench.environment.browsing import groups

    with commands.progress_bar("Opening") as progress:
        listing = groups(asked, for_people=how is commands.Format.TABLE, progress=progress)
    edits.show_listing(listing, how)


@commands.command(groups_app, "show", offers=edits.OFFERS)
def show_group(asked: GroupRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Show the forms that a group has now.

    [bold]Examples[/bold]

      gamekeeper group show norland.gk On-line
    """
    from gamekeeper.workbench.environment.browsing import group

    edits.show_listing(group(asked, for_people=how is commands.Format.TABLE), how)


edits.record_command(
    *(groups_app, "add", "AddGroup", "Add a group, defined in one way."),
    'By hand:\n  gamekeeper group add norland.gk Group1 "Survey X" "Survey Y" "Survey Z"',
    "By a query on metadata:\n"
    '  gamekeeper group add norland.gk On-line --where "Form Type = On-line"',
    "From other groups:\n"
    "  gamekeeper group add norland.gk Rest --difference Group1 --difference On-line",
)
edits.record_command(
    *(groups_app, "change", "ReplaceGroup", "Define a group anew."),
    'gamekeeper group change norland.gk On-line --where "Form Type = On-line and year >= 2030"',
)
edits.record_command(
    *(groups_app, "rename", "RenameGroup", "Rename a group, in the groups made from it too."),
    'gamekeeper group rename norland.gk Group1 "Recent surveys"',
)
edits.record_command(
    *(groups_app, "remove", "RemoveGroup"),
    "Remove a group that no other is made from; its forms stay.",
    "gamekeeper group remove norland.gk Group1",
)

scenarios_app = commands.command_group(
    "scenario",
    "Scenarios: who might match the target, on which key variables, at which detail.\n\n"
    "A scenario is the outcome of an analysis under a name; attacks on data read it.",
)


@commands.command(scenarios_app, "save", offers=edits.OFFERS)
def save_command(
    asked: editing.SaveScenarioRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Make an analysis as `gamekeeper map` does, and save the outcome under a name.

    [bold]Examples[/bold]

      gamekeeper scenario save norland.gk "A bank's clerk" Census -g Banks -p 10% --attacker "Somebody at a bank"

    Only some key variables, one of them coarser than it could be:
      gamekeeper scenario save norland.gk "A neighbour" Census -k Sex -k Age=H7.001
    """
    from gamekeeper.workbench.environment.mapping import save_scenario

    with commands.progress_bar("Mapping key variables") as progress:
        saved, edited = save_scenario(asked, progress=progress)
    edits.show_edited(asked.place.store, edited, how)
    if how is commands.Format.TABLE:
        for item in saved.keys:
            commands.say(f"  {item.why}")


@commands.command(scenarios_app, "list")
def list_scenarios(asked: NamesRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """List scenarios, and whether what they rest on has changed since.

    [bold]Examples[/bold]

      gamekeeper scenario list norland.gk
    """
    from gamekeeper.workbench.environment.mapping import list_scenarios

    edits.show_listing(list_scenarios(asked, for_people=how is commands.Format.TABLE), how)


@commands.command(scenarios_app, "show", offers=edits.OFFERS)
def show_scenario(asked: ScenarioRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Show a scenario: attacker, target, and every key variable with the evidence.

    [bold]Examples[/bold]

      gamekeeper scenario show norland.gk "A bank's clerk"
    """
    from gamekeeper.workbench.environment.mapping import show_scenario

    keys, lines, whole = show_scenario(asked)
    if how is commands.Format.TABLE:
        commands.say_all(lines)
        commands.say()
    parts = None
    if whole is not None:
        from gamekeeper.mapping.analysis.composite_keys import composite_rows

        held = {"forms": list(whole.forms), "curve": composite_rows(whole.curve)}
        parts = {"whole_key": {"rows": [held]}}
    commands.show(keys, how, sentences=lines, parts=parts)


@commands.command(scenarios_app, "review", offers=edits.OFFERS)
def review_command(
    asked: editing.ReviewRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Say whether the environment has changed since, and what the analysis would give now.

    [bold]Examples[/bold]

      gamekeeper scenario review norland.gk "A bank's clerk"
    """
    from gamekeeper.workbench.environment.mapping import review

    with commands.progress_bar("Mapping key variables") as progress:
        result = review(asked, progress=progress)
    rows = [
        (
            str(row["variable"]),
            str(row["code_then"]),
            f"{row['forms_then']} of {row['match_forms_then']}",
            "—" if row["forms_now"] is None else f"{row['forms_now']} of {row['match_forms_now']}",
            str(row["maximal_then"]),
            str(row["maximal_now"] or "—"),
        )
        for row in result.to_arrow().to_pylist()
    ]
    header = ("variable", "code", "forms then", "forms now", "finest then", "finest now")
    if how is commands.Format.TABLE:
        commands.say_all(result.sentences)
        commands.say()
    commands.show(result, how, table=(header, rows), sentences=result.sentences)
    if how is not commands.Format.TABLE and not result.is_current:
        for sentence in result.sentences:
            commands.warn(sentence)


@commands.command(scenarios_app, "renew", offers=edits.OFFERS)
def renew_command(
    asked: editing.RenewScenarioRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Accept what a review says: save the scenario as the same question gives it now.

    [bold]Examples[/bold]

      gamekeeper scenario renew norland.gk "A bank's clerk"
    """
    from gamekeeper.workbench.environment.mapping import renew

    with commands.progress_bar("Mapping key variables") as progress:
        reviewed, edited = renew(asked, progress=progress)
    # The last says that it is stale, which it is no more.
    for sentence in reviewed.sentences[: -1 if reviewed.is_stale else None]:
        (commands.say if how is commands.Format.TABLE else commands.warn)(sentence)
    edits.show_edited(asked.place.store, edited, how)


@commands.command(scenarios_app, "export", offers=edits.OFFERS)
def export_command(asked: editing.ExportScenarioRequest) -> None:
    """Write a scenario to a JSON file, with the categories that make up each code.

    [bold]Examples[/bold]

      gamekeeper scenario export norland.gk "A bank's clerk" clerk.json
    """
    from gamekeeper.workbench.environment.mapping import export_scenario

    if stale := export_scenario(asked):
        commands.say(f"! {stale}")
    commands.say_written(asked)


edits.record_command(
    *(scenarios_app, "rename", "RenameScenario", "Rename a scenario."),
    'gamekeeper scenario rename norland.gk "A bank\'s clerk" "Clerk of a bank"',
)
edits.record_command(
    *(scenarios_app, "remove", "RemoveScenario", "Remove a scenario."),
    'gamekeeper scenario remove norland.gk "A bank\'s clerk"',
)
