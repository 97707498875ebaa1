"""The commands of the Bayesian intruder: model, infer and compare."""

from __future__ import annotations

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import say_end, say_first, show_for_programs, show_result
from gamekeeper.cli.show import Format, progress_bar, say, say_all
from gamekeeper.workbench.requests.models import CompareRequest, InferRequest, ModelRequest

app = typer.Typer()

# More lines than this say nothing to a person.
_MOST_EDGES = 120


@command(app, "model")
def model_command(asked: ModelRequest, how: AsFormat = Format.TABLE) -> None:
    """Fit models of how the key variables hang together, and say whether to trust them.

    Ctrl-C ends the search, and shows what it has found by then.

    [bold]Examples[/bold]

      gamekeeper risk model people.csv --keys Age,Sex,Region,Occupation --plot model.svg
    """
    from gamekeeper.workbench.models import fit_release

    with progress_bar("Searching models") as progress:
        answer = fit_release(asked, progress=progress)
    fit = answer.found
    if how is not Format.TABLE:
        show_for_programs(fit, how, answer.notices, what_if=answer.what_if)
        return
    say_first(answer)
    say_all(fit.sentences())
    say()
    edges = fit.to_arrow()
    if edges.num_rows > _MOST_EDGES:
        say(
            f"The {_MOST_EDGES} most probable of {edges.num_rows:,} pairs of variables (--format csv"
            " has all of them):"
        )
        say()
        edges = edges.sort_by([("probability", "descending")]).slice(0, _MOST_EDGES)
    show_result(fit, table=edges)
    say_end(asked, fit)


@command(app, "infer")
def infer_command(asked: InferRequest, how: AsFormat = Format.TABLE) -> None:
    """Infer, as an intruder with models would, how many people share the key of each record.

    With a population, attacks on the keys that rank first are tried on it. With --known and --ask,
    values of a person are inferred from others.

    [bold]Examples[/bold]

      gamekeeper risk infer people.csv --keys Age,Sex,Region,Occupation --fraction 2%

    What does the release say of a man of 34?
      gamekeeper risk infer people.csv -k Age,Sex,Health -f 2% --known Age=34 --known Sex=male --ask Health
    """
    from gamekeeper.workbench.models import infer_release

    with progress_bar("Searching models") as progress:
        answer = infer_release(asked, progress=progress)
    found, risk = answer.found, answer.found.risk
    if how is not Format.TABLE:
        show_for_programs(
            risk,
            how,
            answer.notices,
            what_if=answer.what_if,
            variables=found.variables,
            categories=found.categories,
            attacks=found.attacks,
            answers=found.values,
        )
        return
    say_first(answer)
    say_all(risk.sentences())
    if asked.top:
        say()
        say("The records most probably matched rightly:")
        say()
        show_result(risk.records, table=risk.records.top(asked.top))
    say()
    say("What each variable adds (the file with it over the file without it):")
    say()
    show_result(
        found.variables,
        {
            "variable": "variable",
            "tau1_left": "population uniques left without it",
            "tau1_lower": "from",
            "tau1_upper": "to",
            "relative_tau1": "times fewer",
            "relative_match": "match probability, times less",
        },
    )
    if found.categories is not None:
        say()
        say(f"What each category of {asked.categories} adds, by {asked.of_categories.by}:")
        say_all(found.categories.sentences()[1:])
        say()
        show_result(
            found.categories,
            {
                "category": "category",
                "uniques_left": "uniques left",
                "tau1_left": "population uniques left",
                "relative_tau1": "times fewer",
            },
        )
    for told in (found.attacks, found.values):
        if told is not None:
            say()
            say_all(told.sentences())
    say_end(asked, risk)


@command(app, "compare")
def compare_command(asked: CompareRequest, how: AsFormat = Format.TABLE) -> None:
    """Judge measures of risk against the truth: which finds the population uniques?

    The file is taken as everybody there is; samples are drawn from it, scored, and attacked: how
    often are the records right that a measure ranks first, and at what cost? A report has it all.

    [bold]Examples[/bold]

      gamekeeper risk compare census.csv --keys Age,Sex,Region,Occupation --samples 10 --report compare.html
    """
    from gamekeeper.workbench.models import compare_on_population

    with progress_bar("Drawing samples, scoring and attacking them") as progress:
        answer = compare_on_population(asked, progress=progress)
    found = answer.found
    attacks = [*found.attacks.sentences(), *found.attacks.notices()]
    if how is not Format.TABLE:
        tried = {"sentences": attacks, "rows": found.attacks.to_arrow().to_pylist()}
        show_for_programs(found, how, answer.notices, what_if=answer.what_if, attacks=tried)
        return
    say_first(answer)
    say_all(found.sentences())
    say()
    show_result(
        found,
        {
            "fraction": "fraction",
            "measure": "measure",
            "sample_uniques": "sample uniques",
            "auc": "AUC",
            "auc_low": "from",
            "auc_high": "to",
            "population_uniques": "population uniques, expected",
            "population_uniques_true": "in truth",
        },
    )
    say()
    say_all(attacks)
    say_end(asked, found)
