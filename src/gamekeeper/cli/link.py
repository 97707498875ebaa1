"""The commands of stage two on linkage: re-identify a masked file, or files with nothing in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.attack.linkage.linking import LinkMethod, ObjectiveName
from gamekeeper.attack.linkage.structure import Individuals
from gamekeeper.attack.linkage.variables import LinkVariable
from gamekeeper.cli.options import AsFormat
from gamekeeper.cli.output_options import Output, say_files
from gamekeeper.cli.release_options import names_of
from gamekeeper.cli.risk_options import Plot, Seed
from gamekeeper.cli.risk_show import say_all, say_how, show_result
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import quoted
from gamekeeper.workbench import linkage
from gamekeeper.workbench.linkage import LinkRequest

__all__ = ["app"]

app = typer.Typer(
    name="link",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Stage two: link records, the attack that works on every masking method.\n\n"
    "Which record of a masked file is which of the original? How sure is that, and how often is it"
    " true? And which records belong together in files that have no variable in common?",
)

_COMPARE = "How records are compared"

First = Annotated[Path, typer.Argument(help="The first file, such as a masked one.")]
Second = Annotated[Path, typer.Argument(help="The second file, such as the original.")]
On = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns to compare: Age,Sex. FIRST=SECOND where names differ between the first file"
        " named and the others. All common ones by default.",
        show_default=False,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="COLUMN=KIND: number, ordinal, category, date, text, or mapped (by the partition graph"
        " of --environment). May be repeated; by default numbers and categories.",
        rich_help_panel=_COMPARE,
        show_default=False,
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        help="COLUMN=MEASURE: of numbers standardized, absolute, squared, relative; of texts"
        " levenshtein, transposition, jaro-winkler.",
        rich_help_panel=_COMPARE,
        show_default=False,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        help="COLUMN=RULE for a missing value: expected, largest, zero, impossible, or a distance.",
        rich_help_panel=_COMPARE,
        show_default=False,
    ),
]
Order = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        help="COLUMN=LOW|MIDDLE|HIGH: the order of an ordinal column.",
        rich_help_panel=_COMPARE,
        show_default=False,
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        help="COLUMN=WEIGHT, for the objective weighted; 1 for others.",
        rich_help_panel=_COMPARE,
        show_default=False,
    ),
]
EnvironmentOption = Annotated[
    Path | None,
    typer.Option(
        "--environment",
        "-e",
        help="A store or folder of stage one, for mapped columns.",
        rich_help_panel=_COMPARE,
        show_default=False,
    ),
]
Identifier = Annotated[
    str,
    typer.Option("--id", help="Column of both files that says who is who.", show_default=False),
]
ObjectiveOption = Annotated[
    ObjectiveName,
    typer.Option(
        help="How distances become one cost: equal or weighted sums, weights estimated from the"
        " data, lexicographic in the order of the columns, mahalanobis, fellegi-sunter by EM."
    ),
]
Block = Annotated[
    list[str] | None,
    typer.Option(help="Columns that must agree (mapped ones: be compatible).", show_default=False),
]
MaxPairs = Annotated[
    int | None,
    typer.Option(help="Lifts the limit on pairs to compare.", min=1, show_default=False),
]


@app.command("files")
def files_command(
    first: First,
    second: Second,
    on: On = None,
    identifier: Identifier = "",
    objective: ObjectiveOption = ObjectiveName.ESTIMATED,
    method: Annotated[
        LinkMethod,
        typer.Option(
            help="optimal: one to one at the least total cost. greedy: the cheapest pair first."
            " greedy-rows: record by record. nearest: not one to one."
        ),
    ] = LinkMethod.OPTIMAL,
    block: Block = None,
    kinds: Kinds = None,
    measures: Measures = None,
    missing: Missing = None,
    order: Order = None,
    weights: Weights = None,
    environment: EnvironmentOption = None,
    unlinked: Annotated[
        float | None,
        typer.Option(
            help="Leave records unlinked rather than link them badly: with fellegi-sunter the least"
            " probability of a match, such as 0.5; otherwise the most a link may cost.",
            show_default=False,
        ),
    ] = None,
    resamples: Annotated[
        int,
        typer.Option(help="So often leave out a tenth of both files and link the rest.", min=0),
    ] = 0,
    max_pairs: MaxPairs = None,
    top: Annotated[int, typer.Option(help="Show so many of the surest links.", min=0)] = 10,
    seed: Seed = 0,
    output: Output = None,
    plot: Plot = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Link the records of two files that share variables.

    [bold]Examples[/bold]

    A masked file with its original, whose rows are numbered in the column row:
      gamekeeper link files masked.csv original.csv --id row

    Names and dates, blocked:
      gamekeeper link files a.csv b.csv --kind surname=text --kind born=date --block suburb
    """
    request = LinkRequest(
        on=names_of(on),
        kinds=_pairs("--kind", kinds),
        measures=_pairs("--measure", measures),
        missing=_pairs("--missing", missing),
        order={name: text.split("|") for name, text in _pairs("--order", order).items()},
        weights=_numbers("--weight", weights),
        block=names_of(block),
        identifier=identifier,
        environment=environment,
        objective=objective,
        method=method,
        seed=seed,
    )
    with progress_bar("Linking records") as progress:
        found = linkage.link_two_files(
            first,
            second,
            request,
            unlinked=unlinked,
            resamples=resamples,
            max_pairs=max_pairs,
            output=output,
            plot=plot,
            progress=progress,
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    say_all(found.sentences())
    say("Compared: " + "; ".join(_compared(one) for one in found.variables) + ".")
    if top:
        say()
        say("The surest links:")
        say()
        show_result(found, table=found.top(top))
    say_how(found)
    say_files(output, plot)


@app.command("evaluate")
def evaluate_command(
    original: Annotated[Path, typer.Argument(help="The original file.")],
    masked: Annotated[list[Path], typer.Argument(help="Masked versions of it.")],
    on: On = None,
    identifier: Identifier = "",
    objectives: Annotated[
        list[ObjectiveName] | None,
        typer.Option(
            "--objective", help="May be repeated; all are tried.", show_default="estimated"
        ),
    ] = None,
    methods: Annotated[
        list[LinkMethod] | None,
        typer.Option(
            "--method",
            help="May be repeated; all are tried.",
            show_default="optimal and nearest",
        ),
    ] = None,
    kinds: Kinds = None,
    measures: Measures = None,
    missing: Missing = None,
    order: Order = None,
    weights: Weights = None,
    environment: EnvironmentOption = None,
    block: Block = None,
    max_pairs: MaxPairs = None,
    seed: Seed = 0,
    output: Output = None,
    plot: Plot = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Compare masked versions of a file: how many records of each are re-identified.

    Without --id, records are in the same order in all files.

    [bold]Examples[/bold]

      gamekeeper link evaluate original.csv noise.csv swapped.csv --id row --plot rates.svg
    """
    request = LinkRequest(
        on=names_of(on),
        kinds=_pairs("--kind", kinds),
        measures=_pairs("--measure", measures),
        missing=_pairs("--missing", missing),
        order={name: text.split("|") for name, text in _pairs("--order", order).items()},
        weights=_numbers("--weight", weights),
        block=names_of(block),
        identifier=identifier,
        environment=environment,
        seed=seed,
    )
    with progress_bar("Linking records") as progress:
        found = linkage.evaluate_files(
            original,
            masked,
            request,
            objectives=objectives or (ObjectiveName.ESTIMATED,),
            methods=methods or (LinkMethod.OPTIMAL, LinkMethod.NEAREST),
            max_pairs=max_pairs,
            output=output,
            plot=plot,
            progress=progress,
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    say_all(found.sentences())
    say()
    show_result(
        found,
        {
            "version": "version",
            "linked_by": "linked by",
            "correct": "correct",
            "rate": "share",
            "lower": "from",
            "upper": "to",
            "median_margin": "median margin",
        },
    )
    say_how(found)
    say_files(output, plot)


@app.command("structure")
def structure_command(
    first: First,
    second: Second,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of the first file; all but the identifier by default.", show_default=False
        ),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option(help="Columns of the second file.", show_default=False),
    ] = None,
    identifier: Identifier = "",
    clusters: Annotated[
        str,
        typer.Option(
            help="Number of clusters, one for all or one per clustering: 5, or 4,4,4,4,7,5. Chosen"
            " alike in both files by default.",
            show_default=False,
        ),
    ] = "",
    one_to_one: Annotated[
        bool, typer.Option("--one-to-one", help="Match different groups with different groups.")
    ] = False,
    individuals: Annotated[
        Individuals,
        typer.Option(
            help="Single records: over the whole files by all distances within them, by distances to"
            " matched clusters, within matched groups, or none. auto: whole up to 5,000 records,"
            " clusters up to 10,000."
        ),
    ] = Individuals.AUTO,
    leave_out: Annotated[
        bool,
        typer.Option("--leave-out", help="Find out what each clustering carries. Needs --id."),
    ] = False,
    seed: Seed = 0,
    output: Output = None,
    plot: Plot = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Link records of files that have no variable in common, by the structure they share.

    [bold]Examples[/bold]

      gamekeeper link structure year1.csv year2.csv --id company --leave-out
    """
    with progress_bar("Clustering and matching") as progress:
        found = linkage.link_two_structures(
            first,
            second,
            columns=(names_of(columns), names_of(others)),
            identifier=identifier,
            clusters=_clusters(clusters),
            one_to_one=one_to_one,
            individuals=individuals,
            leave_out=leave_out,
            seed=seed,
            output=output,
            plot=plot,
            progress=progress,
        )
    if how is not Format.TABLE:
        extra: dict[str, object] = {
            "sentences": found.sentences(),
            "clusterings": found.clusterings_table().to_pylist(),
        }
        show(found, how, extra=extra)
        return
    say_all(found.sentences())
    say()
    show_result(found, table=found.clusterings_table())
    say_how(found)
    say_files(output, plot)


def _compared(one: LinkVariable) -> str:
    other = f" with {one.column}" if one.column != one.name else ""
    return f"{one.name}{other} as {one.kind}"


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    problems = [
        Problem(Reason.BAD_OPTION, f"{option} {quoted([text])}", "that is not COLUMN=VALUE.")
        for text, (name, equals, value) in zip(given or (), pairs, strict=True)
        if not equals or not name.strip() or not value.strip()
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            f"Columns were given with {option}.",
            f"{len(problems)} of {len(pairs)} cannot be read.",
            f"Write {option} COLUMN=VALUE.",
            problems=problems,
        )
    return {name.strip(): value.strip() for name, _, value in pairs}


def _numbers(option: str, given: list[str] | None) -> dict[str, float]:
    pairs = _pairs(option, given)
    try:
        return {name: float(value) for name, value in pairs.items()}
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Columns were given with {option}.",
            "Not all of them have a number.",
            f"Write {option} COLUMN=NUMBER.",
        ) from None


def _clusters(text: str) -> int | list[int] | None:
    if not text.strip():
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Numbers of clusters were given as {quoted([text])}.",
            "They cannot be read.",
            "Write 5, or 4,4,4,4,7,5.",
        ) from None
    return numbers[0] if len(numbers) == 1 else numbers
