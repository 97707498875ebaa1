"""The commands of stage one: map, graph and check."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.algorithms.categories.harmonization import MAX_NODES
from gamekeeper.cli.completing import offer_forms, offer_variables
from gamekeeper.cli.options import AsFormat, AsOf, Environment
from gamekeeper.cli.show import Format, progress_bar, say, show, warn
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.mapping.analysis.key_table import key_table
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.environment.evidence import Mode
from gamekeeper.mapping.environment.overview import EnvironmentCheck
from gamekeeper.wording import count_of, number_text, quoted
from gamekeeper.workbench import mapping as workbench
from gamekeeper.workbench.environments import is_store

__all__ = [
    "Against",
    "Groups",
    "Levels",
    "MaxNodes",
    "OfMode",
    "Prevalence",
    "Strict",
    "Target",
    "app",
    "check_command",
    "describe_map",
    "graph_command",
    "map_command",
    "show_map",
]

Target = Annotated[
    str,
    typer.Argument(
        help="The form whose data are to be released.",
        show_default=False,
        autocompletion=offer_forms,
    ),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        "-a",
        help="A form to match against; may be repeated.",
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        "-g",
        help="A group of forms to match against; may be repeated.",
    ),
]
Prevalence = Annotated[
    str,
    typer.Option(
        "--prevalence", "-p", help="Share of those forms that must be matched: 0.1, 1/10, 10%."
    ),
]
OfMode = Annotated[
    Mode | None,
    typer.Option(
        "--mode", help="One data set, a typical one of a group, or several groups at once."
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict/--no-strict",
        help="Give no result for a variable with inconsistent categorizations.",
    ),
]
Levels = Annotated[
    int | None,
    typer.Option(help="What arbitrary precision (C0.001) counts as; unbounded if left out."),
]
MaxNodes = Annotated[
    int,
    typer.Option(help="Largest harmonization graph that is searched.", min=1),
]


class Kind(StrEnum):
    """Which graph of a variable."""

    HARMONIZATION = "harmonization"
    PARTITION = "partition"


def map_command(
    environment: Environment,
    target: Target,
    against: Against = None,
    group: Groups = None,
    prevalence: Prevalence = "0",
    mode: OfMode = None,
    strict: Strict = True,
    levels: Levels = None,
    curves: Annotated[
        bool, typer.Option("--curves", help="Print code size against prevalence instead.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curves to this .svg or .png file.")
    ] = None,
    max_nodes: MaxNodes = MAX_NODES,
    as_of: AsOf = "",
    how: AsFormat = Format.TABLE,
) -> None:
    """Map key variables: what could the target be matched on, and at which detail?

    For every variable of the target, the finest categorization at which enough of the other
    forms can be matched, ranked by the area under the curve of code size against prevalence.

    [bold]Examples[/bold]

    All other forms, any single one of them:
      gamekeeper map environment "Census"

    A tenth of the banks, with a report:
      gamekeeper map environment "Census" -g Banks -p 10% --report census.html

    One data set that the intruder is known to have:
      gamekeeper map environment "Census" -a "Loyalty card" --mode specific
    """
    request = workbench.MapRequest(
        target, against or (), group or (), mode, prevalence, strict, levels, max_nodes
    )
    with progress_bar("Mapping key variables") as progress:
        outcome = workbench.map_target(
            environment, request, report=report, plot=plot, as_of=as_of, progress=progress
        )
    if curves:
        steps = outcome.curves()
        names = ("variable", "from_prevalence", "to_prevalence", "categories")
        rows = [
            [number_text(row[name]) if name == "categories" else row[name] for name in names]
            for row in steps.to_arrow().to_pylist()
        ]
        header = [name.replace("_", " ") for name in names]
        title = f"Code size against prevalence: {outcome.target}"
        show(steps, how, table=(header, rows), title=title)
        _tell_notes(outcome, how)
    else:
        show_map(outcome, how)
    if how is Format.TABLE:
        for path in (report, plot):
            if path is not None:
                say(f"Written: {path}")
    if any(item.over_limit for item in outcome.variables):
        raise typer.Exit(LimitError.exit_code)


def show_map(outcome: KeyVariableMap, how: Format) -> None:
    """Print the outcome of an analysis with what was asked and what to be careful about."""
    header, rows = key_table(outcome)
    if how is Format.TABLE:
        say(describe_map(outcome))
        say()
    show(outcome, how, table=(header, rows), extra={"notes": list(outcome.notes)})
    _tell_notes(outcome, how)


def _tell_notes(outcome: KeyVariableMap, how: Format) -> None:
    tell = say if how is Format.TABLE else warn
    for item in outcome.variables:
        if item.message:
            tell(f"! {item.variable}: {item.message}")
    for note in outcome.notes:
        tell(f"! {note}")


def describe_map(outcome: KeyVariableMap) -> str:
    """Say in a sentence what was asked."""
    n_forms = len(outcome.match_forms)
    first = outcome.variables[0] if outcome.variables else None
    matched, having = (first.threshold, first.n_needed) if first else (1, 1)
    must = f"{matched} of them must be matched"
    if having != matched:
        must = f"{having} of them must have a variable, and {matched} must be matched"
    return (
        f"Target {quoted([outcome.target])} against {count_of(n_forms, 'form')}"
        f" ({outcome.mode.value}); at least {must} (prevalence {outcome.prevalence})."
    )


def graph_command(
    path: Annotated[
        Path,
        typer.Argument(
            help="Store or folder of an environment, or a file with a partition graph.",
            show_default=False,
        ),
    ],
    variable: Annotated[
        str | None,
        typer.Argument(help="The variable.", show_default=False, autocompletion=offer_variables),
    ] = None,
    kind: Annotated[
        Kind, typer.Option(help="The graph of codes, or the graph of categories.")
    ] = Kind.HARMONIZATION,
    form: Annotated[
        str | None,
        typer.Option(help="Mark the categories that this form offers (partition graph)."),
    ] = None,
    deepen: Annotated[
        bool,
        typer.Option("--deepen", help="Mostly fewer edges, more levels (partition graph)."),
    ] = False,
    code: Annotated[
        list[str] | None,
        typer.Option(
            "--code", "-c", help="Only the harmonization of these codes; may be repeated."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw it to this .svg or .png file.")
    ] = None,
    max_nodes: MaxNodes = MAX_NODES,
    as_of: AsOf = "",
    how: AsFormat = Format.TABLE,
) -> None:
    """Show or draw the harmonization graph or the partition graph of a variable.

    [bold]Examples[/bold]

    The codes of a variable, what they mean and which are finer:
      gamekeeper graph environment Age

    Drawn, observed codes as blue ellipses and harmonizations as yellow rectangles:
      gamekeeper graph environment Age -o age.svg

    At which detail can data sets with these two codes be matched with each other?
      gamekeeper graph environment Age -c C7.001 -c C9.001

    The categories, with those of one form marked:
      gamekeeper graph environment Age --kind partition --form "Census" -o age.png
    """
    of_categories = kind is Kind.PARTITION or (path.is_file() and not is_store(path))
    _require_fitting(of_categories, code=code, form=form, deepen=deepen)
    with progress_bar("Working out the graph") as progress:
        if of_categories:
            _require_variable(path, variable)
            result = workbench.show_categories(
                path,
                variable,
                form=form,
                deepen=deepen,
                output=output,
                as_of=as_of,
                progress=progress,
            )
        else:
            result = workbench.show_codes(
                path,
                _require_variable(path, variable),
                codes=code or (),
                output=output,
                max_nodes=max_nodes,
                as_of=as_of,
                progress=progress,
            )
    show(result, how)
    if how is Format.TABLE:
        say()
        if not code:
            say(", ".join(f"{name} {value}" for name, value in result.summary().items()))
        if output is not None:
            say(f"Drawn: {output}")


def check_command(
    path: Annotated[
        Path,
        typer.Argument(
            help="Store or folder of an environment, or a file with a partition graph.",
            show_default=False,
        ),
    ],
    assign: Annotated[
        bool, typer.Option("--assign", help="Write the codes into the folder, so that they stay.")
    ] = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Check an environment: every file, every partition graph, every categorization.

    Exit code 0 if all is consistent, 2 if not; everything that is wrong is listed at once.

    [bold]Examples[/bold]

    A whole environment:
      gamekeeper check environment

    One partition graph:
      gamekeeper check age.json
    """
    with progress_bar("Checking") as progress:
        result, written = workbench.check(path, assign=assign, progress=progress)
    faults = result.faults if isinstance(result, EnvironmentCheck) else {}
    listed = [
        {"variable": variable, "form": form, "fault": fault}
        for variable, forms in faults.items()
        for form, fault in forms.items()
    ]
    show(result, how, extra={"faults": listed})
    tell = say if how is Format.TABLE else warn
    if how is Format.TABLE:
        say()
        say(", ".join(f"{name} {value}" for name, value in result.summary().items()))
    for item in listed:
        tell(f"! {item['variable']} on {quoted([item['form']])} {item['fault']}")
    if how is Format.TABLE and not listed:
        say("Consistent.")
    for file in written:
        tell(f"Codes written: {file}")
    if assign and not written:
        tell("No codes to write: all were there.")
    if listed:
        raise typer.Exit(2)


def _require_fitting(
    of_categories: bool, *, code: list[str] | None, form: str | None, deepen: bool
) -> None:
    """Refuse an option that the graph asked for would ignore."""
    idle = {"--code": code} if of_categories else {"--form": form, "--deepen": deepen}
    given = [name for name, value in idle.items() if value]
    if given:
        kind, other = ("categories", "codes") if of_categories else ("codes", "categories")
        raise InputError(
            Reason.BAD_OPTION,
            f"The graph of {kind} was asked for with {quoted(given)}.",
            f"That goes with the graph of {other} only.",
            "Leave it out, or choose the other graph with --kind.",
        )


def _require_variable(path: Path, variable: str | None) -> str:
    if variable is None and (is_store(path) or not path.is_file()):
        raise InputError(
            Reason.NOTHING_GIVEN,
            "The graph of a variable was asked for.",
            "No variable was named.",
            "Name one after the path; 'gamekeeper variable list' has them.",
        )
    return variable or ""


app = typer.Typer(rich_markup_mode="rich")
app.command("map")(map_command)
app.command("graph")(graph_command)
app.command("check")(check_command)
