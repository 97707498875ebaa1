"""The commands of the Bayesian intruder: model, infer and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.attack.models.fitting import FitMethod
from gamekeeper.attack.models.inference import Estimator
from gamekeeper.attack.models.levels import By
from gamekeeper.cli.commands import AsFormat
from gamekeeper.cli.microdata import microdata_command
from gamekeeper.cli.risk_options import Plot, Population, Seed, Workers
from gamekeeper.cli.risk_show import say_all, say_how, show_result
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted
from gamekeeper.workbench import models
from gamekeeper.workbench.models import ModelRequest
from gamekeeper.workbench.sampled import SampledRequest

__all__ = ["app"]

app = typer.Typer()

# More lines than this say nothing to a person.
_MOST_EDGES = 120

Method = Annotated[
    FitMethod,
    typer.Option(
        help="mc3: Markov chains, averaged. annealing: the best model, fastest. occam: all models"
        " nearly as good as the best.",
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        help="Total prior precision; by default several, from 1 up.", min=0.0, show_default=False
    ),
]
Chains = Annotated[int, typer.Option(help="Chains, or runs of annealing.", min=1)]
Sweeps = Annotated[
    int, typer.Option(help="How long chains may go on until they agree, in sweeps.", min=4)
]
Window = Annotated[
    float,
    typer.Option(help="How many times less probable than the best a model of occam may be."),
]

Patient = Annotated[
    bool,
    typer.Option("--patient", help="Search by mc3 or occam even where that may take hours."),
]


@microdata_command(app, "model")
def model_command(
    request: SampledRequest,
    method: Method = FitMethod.MC3,
    precision: Precision = None,
    chains: Chains = 4,
    sweeps: Sweeps = 32_000,
    window: Window = 20.0,
    patient: Patient = False,
    seed: Seed = 0,
    workers: Workers = None,
    plot: Plot = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Fit models of how the key variables hang together, and say whether to trust them.

    Ctrl-C ends the search, and shows what it has found by then.

    [bold]Examples[/bold]

      gamekeeper risk model people.csv --keys Age,Sex,Region,Occupation --plot model.svg
    """
    asked = ModelRequest(
        method, precision, chains, sweeps, window, seed, workers, keep_partial=True, patient=patient
    )
    with progress_bar("Searching models") as progress:
        fit = models.fit_release(request, asked, plot=plot, progress=progress)
    if how is not Format.TABLE:
        show(fit, how, extra={"sentences": fit.sentences()})
        return
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
    say_how(fit)
    if plot is not None:
        say(f"Model graph: {plot}")


@microdata_command(app, "infer")
def infer_command(
    request: SampledRequest,
    method: Method = FitMethod.MC3,
    precision: Precision = None,
    chains: Chains = 4,
    sweeps: Sweeps = 32_000,
    window: Window = 20.0,
    patient: Patient = False,
    estimator: Annotated[
        Estimator,
        typer.Option(
            help="calibrated: corrected by the sample itself. printed: as in the thesis, to compare;"
            " finite: the same for large sampling fractions, binomial instead of Poisson."
        ),
    ] = Estimator.CALIBRATED,
    population: Population = None,
    categories: Annotated[
        str,
        typer.Option(help="A key variable whose categories to judge as well.", show_default=False),
    ] = "",
    by: Annotated[
        By,
        typer.Option(
            help="suppression: without the records that have the category. collapsing: joined with"
            " each other category in turn."
        ),
    ] = By.SUPPRESSION,
    known: Annotated[
        list[str] | None,
        typer.Option(help="VARIABLE=VALUE known of a person; may be repeated.", show_default=False),
    ] = None,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            help="Variable to infer from what is known; may be repeated.", show_default=False
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Write the risk of every record to this .csv or .parquet.", show_default=False
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="Show so many of the riskiest records.", min=0)] = 10,
    seed: Seed = 0,
    workers: Workers = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Infer, as an intruder with models would, how many people share the key of each record.

    With a population, attacks on the keys that rank first are tried on it. With --known and --ask,
    values of a person are inferred from others.

    [bold]Examples[/bold]

      gamekeeper risk infer people.csv --keys Age,Sex,Region,Occupation --fraction 2%

    What does the release say of a man of 34?
      gamekeeper risk infer people.csv -k Age,Sex,Health -f 2% --known Age=34 --known Sex=male --ask Health
    """
    asked = ModelRequest(
        method, precision, chains, sweeps, window, seed, workers, keep_partial=True, patient=patient
    )
    with progress_bar("Searching models") as progress:
        found = models.infer_release(
            request,
            asked,
            estimator=estimator,
            population=population,
            categories=categories,
            by=by,
            known=_known(known or ()),
            ask=tuple(ask or ()),
            records=records,
            progress=progress,
        )
    risk = found.risk
    if how is not Format.TABLE:
        show(risk, how, extra={"sentences": risk.sentences()})
        return
    say_all(risk.sentences())
    if top:
        say()
        say("The records most probably matched rightly:")
        say()
        show_result(risk.records, table=risk.records.top(top))
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
        say(f"What each category of {categories} adds, by {by}:")
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
    say_how(risk)
    if records is not None:
        say(f"Risk of every record: {records}")


@microdata_command(app, "compare", is_sample=False)
def compare_command(
    request: SampledRequest,
    fraction: Annotated[
        list[str] | None,
        typer.Option(
            "--fraction", "-f", help="Sampling fraction; may be repeated. By default 1% and 5%.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[int, typer.Option(help="Samples at each fraction.", min=1)] = 1,
    attacks: Annotated[
        bool | None,
        typer.Option(
            "--attacks/--no-attacks",
            help="Try attacks over the range of sampling fractions as well, 1% to 90% as far as"
            " samples are not too large; by default with --report.",
            show_default=False,
        ),
    ] = None,
    attack_fraction: Annotated[
        list[str] | None,
        typer.Option(
            help="Try attacks at this fraction as well; may be repeated. In place of that range.",
            show_default=False,
        ),
    ] = None,
    attack_samples: Annotated[
        int, typer.Option(help="Samples at each fraction of attacks.", min=1)
    ] = 1,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            help="suda, is, dis_suda, dis_is, mc3, annealing or occam; may be repeated.",
            show_default=False,
        ),
    ] = None,
    stratify_by: Annotated[
        list[str] | None, typer.Option(help="Columns of strata.", show_default=False)
    ] = None,
    seed: Seed = 0,
    workers: Workers = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Keep finished samples here; the same command resumes.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write figures, tables and timings to this HTML file.", show_default=False),
    ] = None,
    how: AsFormat = Format.TABLE,
) -> None:  # fmt: skip
    """Judge measures of risk against the truth: which finds the population uniques?

    The file is taken as everybody there is; samples are drawn from it, scored, and attacked: how
    often are the records right that a measure ranks first, and at what cost? A report has it all.

    [bold]Examples[/bold]

      gamekeeper risk compare census.csv --keys Age,Sex,Region,Occupation --samples 10 --report compare.html
    """
    with progress_bar("Drawing samples, scoring and attacking them") as progress:
        found = models.compare_on_population(
            request,
            fractions=tuple(fraction or ("1%", "5%")),
            samples=samples,
            attacks=attacks,
            attack_fractions=tuple(attack_fraction or ()),
            attack_samples=attack_samples,
            measures=tuple(measure or ()),
            stratify_by=tuple(stratify_by or ()),
            seed=seed,
            workers=workers,
            folder=folder,
            report=report,
            progress=progress,
        )
    if how is not Format.TABLE:
        tried = {
            "sentences": [*found.attacks.sentences(), *found.attacks.notices()],
            "rows": found.attacks.to_arrow().to_pylist(),
        }
        show(found, how, extra={"sentences": found.sentences(), "attacks": tried})
        return
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
    say_all([*found.attacks.sentences(), *found.attacks.notices()])
    say_how(found)
    if report is not None:
        say(f"Report: {report}")


def _known(given: tuple[str, ...] | list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    wrong = [text for text, (name, equals, value) in zip(given, pairs, strict=True)
             if not (name.strip() and equals and value.strip())]  # fmt: skip
    if wrong:
        raise InputError(
            Reason.BAD_OPTION,
            f"What is known of a person was given as {quoted(wrong)}.",
            "That is not VARIABLE=VALUE.",
            "Write --known Age=34 --known Sex=male.",
        )
    return {name.strip(): value.strip() for name, _, value in pairs}
