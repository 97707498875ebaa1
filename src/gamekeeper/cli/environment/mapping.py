"""Commands of stage one, map, graph and check, and a Python prompt with the open environment."""

from __future__ import annotations

import code
import sys
import traceback
from typing import TYPE_CHECKING, Any

import typer

import gamekeeper
from gamekeeper.cli import commands
from gamekeeper.cli.environment.edits import OFFERS
from gamekeeper.errors import GamekeeperError, LimitError
from gamekeeper.options import written
from gamekeeper.wording import listed, number_text, quoted
from gamekeeper.workbench.requests.editing import CheckRequest, GraphRequest, MapRequest
from gamekeeper.workbench.requests.environment import ShellRequest

if TYPE_CHECKING:
    from gamekeeper.mapping.analysis.composite_keys import CompositeKeys
    from gamekeeper.mapping.analysis.key_variables import KeyVariableMap

app = typer.Typer(rich_markup_mode="rich")

_EVIDENCE = ("variable", "code", "form_code", "form")


@commands.command(app, "map", offers=OFFERS)
def map_command(asked: MapRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
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
    from gamekeeper.mapping.analysis.composite_keys import map_notes
    from gamekeeper.workbench.environment.mapping import map_target

    with commands.progress_bar("Mapping key variables") as progress:
        outcome, composite = map_target(asked, progress=progress)
    if asked.joint:
        show_composite(composite, how)
    elif asked.evidence:
        evidence = outcome.evidence()
        lines = evidence.to_arrow().to_pylist()
        rows = [
            [*(line[name] for name in _EVIDENCE), "yes" if line["is_restricted"] else ""]
            for line in lines
        ]
        header = [*(name.replace("_", " ") for name in _EVIDENCE), "asks only some people"]
        commands.show(evidence, how, table=(header, rows), notices=map_notes(outcome))
        _tell_notes(outcome, how)
    elif asked.curves:
        steps = outcome.curves()
        names = ("variable", "from_prevalence", "to_prevalence", "categories")
        rows = [
            [number_text(row[name]) if name == "categories" else row[name] for name in names]
            for row in steps.to_arrow().to_pylist()
        ]
        header = [name.replace("_", " ") for name in names]
        title = f"Code size against prevalence: {outcome.target}"
        commands.show(steps, how, table=(header, rows), title=title, notices=map_notes(outcome))
        _tell_notes(outcome, how)
    else:
        show_map(outcome, how, composite)
    if how is commands.Format.TABLE:
        for option, path in written(asked):
            commands.say(f"{option.label}: {path}")
    if any(item.over_limit for item in outcome.variables):
        raise typer.Exit(LimitError.exit_code)


def show_composite(composite: CompositeKeys, how: commands.Format) -> None:
    """Print the largest composite keys by the number of forms that hold them."""
    rows = [
        [
            f"{len(key.forms):,} of {composite.n_forms:,}",
            str(len(key.parts)),
            number_text(key.size),
            ", ".join(f"{part.variable} {part.code}" for part in key.parts),
            listed(key.forms, 6),
        ]
        for key in composite.keys
    ]
    header = ["Forms", "Variables", "Combinations", "Key", "Which forms"]
    commands.show(composite, how, table=(header, rows), sentences=composite.sentences)
    if how is commands.Format.TABLE:
        commands.say()
        commands.say_all(composite.sentences)


def show_map(
    outcome: KeyVariableMap, how: commands.Format, composite: CompositeKeys | None = None
) -> None:
    """Print the outcome of an analysis with what was asked and what to be careful about."""
    from gamekeeper.mapping.analysis.composite_keys import composite_rows, describe_map, map_notes
    from gamekeeper.mapping.analysis.key_variables import map_table

    header, rows = map_table(outcome)
    asked = describe_map(outcome)
    if how is commands.Format.TABLE:
        commands.say(asked)
        commands.say()
    told = list(composite.sentences) if composite is not None else []
    parts = {
        "evidence": {"rows": outcome.evidence().to_arrow().to_pylist()},
        **({} if composite is None else {"composite_keys": {"rows": composite_rows(composite)}}),
    }
    commands.show(
        outcome,
        how,
        table=(header, rows),
        sentences=[asked, *told],
        notices=map_notes(outcome),
        parts=parts,
    )
    if how is commands.Format.TABLE and told:
        commands.say()
        commands.say_all(told)
        commands.say("The forms by name: --evidence; all keys of several variables: --joint.")
    _tell_notes(outcome, how)


def _tell_notes(outcome: KeyVariableMap, how: commands.Format) -> None:
    from gamekeeper.mapping.analysis.composite_keys import map_notes

    tell = commands.say if how is commands.Format.TABLE else commands.warn
    for note in map_notes(outcome):
        tell(f"! {note}")


@commands.command(app, "graph", offers=OFFERS)
def graph_command(asked: GraphRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
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
    from gamekeeper.workbench.environment.mapping import show_graph

    with commands.progress_bar("Working out the graph") as progress:
        result = show_graph(asked, progress=progress)
    commands.show(result, how)
    if how is commands.Format.TABLE:
        commands.say()
        if not asked.codes:
            commands.say(", ".join(f"{name} {value}" for name, value in result.summary().items()))
        commands.say_written(asked)


@commands.command(app, "check")
def check_command(asked: CheckRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Check an environment: every file, every partition graph, every categorization.

    Exit code 0 if all is consistent, 2 if not; everything that is wrong is listed at once.

    [bold]Examples[/bold]

    A whole environment:
      gamekeeper check environment

    One partition graph:
      gamekeeper check age.json
    """
    from gamekeeper.workbench.environment.mapping import check

    with commands.progress_bar("Checking") as progress:
        result, faults, files = check(asked, progress=progress)
    listed = [
        {"variable": variable, "form": form, "fault": fault}
        for variable, forms in faults.items()
        for form, fault in forms.items()
    ]
    unmet = [str(problem) for problem in getattr(result, "undeclared", ())]
    commands.show(result, how, parts={"faults": {"rows": listed}}, notices=unmet)
    tell = commands.say if how is commands.Format.TABLE else commands.warn
    if how is commands.Format.TABLE:
        commands.say()
        commands.say(", ".join(f"{name} {value}" for name, value in result.summary().items()))
    for item in listed:
        tell(f"! {item['variable']} on {quoted([item['form']])} {item['fault']}")
    for line in unmet:
        tell(f"metadata not as declared: {line}")
    if how is commands.Format.TABLE and not listed:
        commands.say("Consistent.")
    for file in files:
        tell(f"Codes written: {file}")
    if asked.assign and not files:
        tell("No codes to write: all were there.")
    if listed:
        raise typer.Exit(2)


_BANNER = """{environment!r} is open as `environment`{store}.

  environment.forms, environment.variables, environment.groups
  environment.group("...").forms, environment.form("...").metadata
  environment.variable("Age").words(environment.register("Age").meaning("H7.001"))
  gk.map_key_variables(environment, "target").to_frame()
{edits}"""
_EDITS = """  store.apply([gk.edits.AddGroup(name="...", where="Form Type = On-line")], who="...")
  environment = store.environment()    # as it is after edits
"""


@commands.command(app, "shell")
def shell_command(asked: ShellRequest) -> None:
    """Open a Python prompt with the environment, in IPython where that is installed.

    In the prompt are `environment`, `gk` (the library) and, for a store, `store` to make edits.

    [bold]Examples[/bold]

      gamekeeper shell norland.gk

    Without a prompt:
      gamekeeper shell norland.gk -c "print(environment.groups)"
    """
    from gamekeeper.workbench.environment.opening import is_store, opened, opened_store

    path, as_of = asked.opened.environment, asked.opened.as_of
    if is_store(path) and not as_of:
        with opened_store(path) as store:
            _prompt({"environment": store.environment(), "store": store}, asked.command)
    else:
        with opened(path, as_of=as_of) as place:
            _prompt({"environment": place.environment}, asked.command)


def _prompt(names: dict[str, Any], source: str | None) -> None:
    names = {"gk": gamekeeper, **names}
    banner = _BANNER.format(
        environment=names["environment"],
        store=", its store as `store`" if "store" in names else "",
        edits=_EDITS if "store" in names else "",
    )
    if source is not None or not sys.stdin.isatty():
        _run(source if source is not None else sys.stdin.read(), names)
        return
    try:
        from IPython import start_ipython  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        _complete(names)
        code.interact(banner, local=names, exitmsg="")
    else:
        sys.stdout.write(banner)
        start_ipython(argv=["--no-banner"], user_ns=names)


def _run(source: str, names: dict[str, Any]) -> None:
    """Run code of the user; what goes wrong in it is shown as Python shows it."""
    try:
        exec(compile(source, "<command>", "exec"), names)  # noqa: S102 - what a shell is for
    except GamekeeperError:
        raise
    except Exception as error:  # noqa: BLE001 - not our fault, and not our data
        traceback.print_exception(error)
        raise typer.Exit(1) from None


def _complete(names: dict[str, Any]) -> None:
    """Let the tab key complete names, where the system can."""
    try:
        import readline
        import rlcompleter
    except ModuleNotFoundError:
        return
    readline.set_completer(rlcompleter.Completer(names).complete)
    readline.parse_and_bind("tab: complete")
