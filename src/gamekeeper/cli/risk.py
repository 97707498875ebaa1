"""Commands on a file of microdata: a first look, and what an intruder could do with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from gamekeeper.arrow import pa
from gamekeeper.cli import commands
from gamekeeper.wording import percent_text, shown_path
from gamekeeper.workbench.requests.records import (
    CompareRequest,
    DisRequest,
    InferRequest,
    KeysRequest,
    LookRequest,
    MatchRequest,
    MeasuresRequest,
    ModelRequest,
    SimulateRequest,
    SpecialRequest,
    SudaRequest,
)

if TYPE_CHECKING:
    from gamekeeper.attack.uniques.suda import UniquesRisk
    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.workbench.risk import CountedFile

app = commands.command_group(
    "risk",
    "Stage two: attack a file of microdata that may be released.\n\n"
    "Which records would an intruder re-identify, with what probability, at what cost, and which"
    " variables and categories are to blame? Every command reads the file in place, takes key"
    " variables by name ([bold]--keys[/bold]) or from a scenario of stage one"
    " ([bold]--scenario[/bold] with [bold]--environment[/bold]), and prints how missing values"
    " were read.",
)

_KS = (2, 3, 5, 10)
_SIZES_SHOWN = 10


@commands.command(app, "keys")
def keys_command(asked: KeysRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Count the keys of a file: how many records share theirs with how many others.

    [bold]Examples[/bold]

      gamekeeper risk keys people.csv --keys Age,Sex,Region

    With the key variables of a scenario, at its level of detail:
      gamekeeper risk keys people.sav --scenario "A data broker" --environment norland.gk
    """
    from gamekeeper.workbench.risk import count_release

    with commands.progress_bar("Counting keys") as progress:
        answer = count_release(asked, progress=progress)
    source, table = answer.found.source, answer.found.table
    if how is not commands.Format.TABLE:
        commands.show_for_programs(
            table, how, answer.notices, what_if=answer.what_if, **_parts(answer.found)
        )
        return
    settings = ", ".join(f"{name} {value!r}" for name, value in source.settings.items())
    commands.say(f"File {source.name} ({source.kind}{': ' + settings if settings else ''}).")
    commands.say_first(answer)
    commands.say_all(table.sentences())
    commands.say()
    _show_sizes(table)
    commands.say()
    for k in _KS:
        commands.say(table.k_sentence(k))
    commands.say_end(asked, table)


def _line(table: KeyTable, sizes: Sequence[int]) -> dict[str, float]:
    records = sum(table.records_by_size[size] for size in sizes)
    return {
        "class_size": sizes[0],
        "different_keys": sum(table.structure[size] for size in sizes),
        "records": records,
        "share": records / table.n_records,
    }


def _larger(table: KeyTable) -> list[int]:
    return sorted(table.structure)[_SIZES_SHOWN:]


def _show_sizes(table: KeyTable) -> None:
    lines = [(_line(table, [size]), "") for size in sorted(table.structure)[:_SIZES_SHOWN]]
    if larger := _larger(table):
        lines.append((_line(table, larger), " or more"))
    rows = [
        [
            f"{line['class_size']:,}{more}",
            f"{line['different_keys']:,}",
            f"{line['records']:,}",
            percent_text(line["share"]),
        ]
        for line, more in lines
    ]
    commands.show_table(["class size", "different keys", "records", "share"], rows)


def _parts(found: CountedFile) -> dict[str, Any]:
    source, table = found.source, found.table
    larger = _larger(table)
    return {
        "file": {"name": source.name, "kind": source.kind, **source.settings},
        "sizes": {"rows": [_line(table, [size]) for size in sorted(table.structure)]},
        "larger_sizes": _line(table, larger) if larger else None,
        "anonymity": {
            "sentences": [table.k_sentence(k) for k in _KS],
            "rows": [{"k": k, "records_below": table.k_violations(k)} for k in _KS],
        },
    }


@commands.command(app, "measures")
def measures_command(
    asked: MeasuresRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Measure a file as offices and their software do, each measure as its authors define it.

    k-anonymity, prosecutor, journalist and marketer risk, individual and household risk, expected
    re-identifications, unsafe combinations, l-diversity, t-closeness, and population uniques by
    log-linear models, Pitman and Zayatz. What cannot be had says why.

    [bold]Examples[/bold]

      gamekeeper risk measures people.csv --keys Age,Sex,Region --weight w --household home

    With what a class gives away about its members:
      gamekeeper risk measures people.csv -k Age,Sex,Region --sensitive Illness --ordered Income
    """
    from gamekeeper.workbench.risk import measure_release

    with commands.progress_bar("Measuring") as progress:
        answer = measure_release(asked, progress=progress)
    found = answer.found
    if how is not commands.Format.TABLE:
        commands.show_answer(answer, how, unsafe={"rows": found.unsafe.to_pylist()})
        return
    commands.say_first(answer)
    commands.say_all(found.sentences())
    commands.say()
    commands.show_result(found, {"measure": "measure", "value": "value", "meaning": "meaning"})
    if found.unsafe.num_columns > 1:
        commands.say_part("Unsafe combinations that each key variable has a part in:")
        commands.show_result(found, table=found.unsafe)
    commands.say_end(asked, found)


@commands.command(app, "dis")
def dis_command(asked: DisRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Estimate what a unique match is worth: data intrusion simulation (DIS).

    [bold]Examples[/bold]

      gamekeeper risk dis people.csv --keys Age,Sex,Region --fraction 2%

    Does a perturbation help? Attack the release with the originals:
      gamekeeper risk dis swapped.csv -k Age,Sex,Region -f 2% --method special --original people.csv
    """
    from gamekeeper.workbench.risk import simulate_intrusion

    with commands.progress_bar("Simulating an intruder") as progress:
        answer = simulate_intrusion(asked, progress=progress)
    found = answer.found
    if how is not commands.Format.TABLE:
        commands.show_answer(answer, how)
        return
    commands.say_first(answer)
    commands.say_all(found.sentences())
    commands.say()
    commands.show_result(
        found, {"measure": "measure", "value": "value", "exact": "exact", "meaning": "meaning"}
    )
    commands.say_end(asked, found)


@commands.command(app, "match")
def match_command(asked: MatchRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Compare ways to find a match: how likely each is right, and what the search costs.

    The population is given as a file, or models of the sample infer it from weights or the sampling
    fraction, as [bold]risk infer[/bold] does.

    [bold]Examples[/bold]

      gamekeeper risk match sample.csv --keys Age,Sex,Region --population everybody.parquet

      gamekeeper risk match sample.csv --keys Age,Sex,Region --weight w --plot cost.svg
    """
    from gamekeeper.workbench.risk import match_release

    with commands.progress_bar("Matching") as progress:
        answer = match_release(asked, progress=progress)
    found = answer.found
    if how is not commands.Format.TABLE:
        commands.show_answer(answer, how)
        return
    commands.say_first(answer)
    commands.say_all(found.file_sentences())
    commands.say()
    commands.show_result(
        found,
        {
            "strategy": "strategy",
            "direction": "direction",
            "target": "target",
            "pr_cm": "correct with probability",
            "cost_without": "people to search",
            "cost_with": "with repeats",
            "eff_without": "efficiency",
        },
    )
    commands.say()
    commands.say_all(found.dominance_sentences())
    commands.say_end(asked, found)


@commands.command(app, "suda")
def suda_command(asked: SudaRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Find special uniques: every combination of variables that sets a record apart.

    Prints a summary, the riskiest records with the reasons in words, and what each variable
    contributes. With a sampling fraction (or weights) it estimates what a unique match is worth
    (DIS), and spreads it over the records by two published methods that are kept apart, DIS-SUDA
    and DIS-IS: they say which records to look at first, not how many would be matched rightly.

    [bold]Examples[/bold]

      gamekeeper risk suda people.csv --keys Age,Sex,Region,Occupation --fraction 2% --report risk.html

    Why is record 17 unique?
      gamekeeper risk suda people.csv -k Age,Sex,Region,Occupation --explain 17 --top 0
    """
    from gamekeeper.workbench.risk import find_uniques

    with commands.progress_bar("Searching for uniques") as progress:
        answer = find_uniques(asked, tell=commands.warn, progress=progress)
    found = answer.found
    has_reasons = asked.search.listing and bool(found.file["sample_uniques"])
    explained = {str(record): found.explain(record) for record in asked.explain}
    if how is not commands.Format.TABLE:
        commands.show_answer(
            answer,
            how,
            file=found.file,
            variables=found.variables,
            categories=found.categories,
            sizes=found.sizes,
            why=_why(found, asked.identifier) if has_reasons else None,
            explanations=explained or None,
        )
        return
    commands.say_first(answer)
    commands.say_all(found.sentences())
    if asked.top and has_reasons:
        commands.say_part("The riskiest records and what sets them apart:")
        commands.show_explained(found, asked.top, _identifier(found, asked.identifier))
    commands.say_part("What each variable contributes:")
    commands.show_result(found.variables)
    commands.say_explained(explained)
    commands.say_end(asked, found)


def _identifier(found: UniquesRisk, asked: str) -> str:
    # The column of the user's own names of records is beside their numbers.
    return found.records.table.column_names[1] if asked else ""


def _why(found: UniquesRisk, asked: str) -> pa.Table:
    told = found.explanations().to_arrow()
    if not asked:
        return told
    name = _identifier(found, asked)
    import numpy as np

    table = found.records.table
    # Not by their numbers: an engine elsewhere may have kept the others.
    places = np.searchsorted(table["record"].to_numpy(), told["record"].to_numpy())
    return told.add_column(1, name, table[name].take(places))


@commands.command(app, "special")
def special_command(asked: SpecialRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Tell special from random uniques: which stay unique with fewer variables or less detail?

    Coarser categories are those of the scenario's partition graphs, so this needs a scenario for
    the part on detail.

    [bold]Examples[/bold]

      gamekeeper risk special people.csv --scenario "A data broker" --environment norland.gk
    """
    from gamekeeper.workbench.risk import find_special

    with commands.progress_bar("Looking for special uniques") as progress:
        answer = find_special(asked, progress=progress)
    found = answer.found
    if how is not commands.Format.TABLE:
        commands.show_answer(answer, how, properties=found.properties)
        return
    commands.say_first(answer)
    commands.say_all(found.file_sentences())
    commands.say()
    commands.show_result(
        found.properties,
        {
            "property": "property",
            "test": "how it was tried",
            "special_share": "of special uniques",
            "random_share": "of random uniques",
        },
    )
    commands.say_end(asked, found)


@commands.command(app, "model")
def model_command(asked: ModelRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Fit models of how the key variables hang together, and say whether to trust them.

    Ctrl-C ends the search, and shows what it has found by then.

    [bold]Examples[/bold]

      gamekeeper risk model people.csv --keys Age,Sex,Region,Occupation --plot model.svg
    """
    from gamekeeper.workbench.models import fit_release

    with commands.progress_bar("Searching models") as progress:
        answer = fit_release(asked, progress=progress)
    fit = answer.found
    if how is not commands.Format.TABLE:
        commands.show_answer(answer, how)
        return
    commands.say_first(answer)
    commands.say_all(fit.sentences())
    commands.say()
    edges = fit.to_arrow()
    most = 120  # more lines than this say nothing to a person
    if edges.num_rows > most:
        commands.say(
            f"The {most} most probable of {edges.num_rows:,} pairs of variables (--format csv"
            " has all of them):"
        )
        commands.say()
        edges = edges.sort_by([("probability", "descending")]).slice(0, most)
    commands.show_result(fit, table=edges)
    commands.say_end(asked, fit)


@commands.command(app, "infer")
def infer_command(asked: InferRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Infer, as an intruder with models would, how many people share the key of each record.

    With a population, attacks on the keys that rank first are tried on it. With --known and --ask,
    values of a person are inferred from others.

    [bold]Examples[/bold]

      gamekeeper risk infer people.csv --keys Age,Sex,Region,Occupation --fraction 2%

    What does the release say of a man of 34?
      gamekeeper risk infer people.csv -k Age,Sex,Health -f 2% --known Age=34 --known Sex=male --ask Health
    """
    from gamekeeper.workbench.models import infer_release

    with commands.progress_bar("Searching models") as progress:
        answer = infer_release(asked, progress=progress)
    found, risk = answer.found, answer.found.risk
    if how is not commands.Format.TABLE:
        commands.show_for_programs(
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
    commands.say_first(answer)
    commands.say_all(risk.sentences())
    if asked.top:
        commands.say_part("The records most probably matched rightly:")
        commands.show_result(risk.records, table=risk.records.top(asked.top))
    commands.say_part("What each variable adds (the file with it over the file without it):")
    commands.show_result(
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
        commands.say()
        commands.say(f"What each category of {asked.categories} adds, by {asked.of_categories.by}:")
        commands.say_all(found.categories.sentences()[1:])
        commands.say()
        commands.show_result(
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
            commands.say()
            commands.say_all(told.sentences())
    commands.say_end(asked, risk)


@commands.command(app, "compare")
def compare_command(asked: CompareRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Judge measures of risk against the truth: which finds the population uniques?

    The file is taken as everybody there is; samples are drawn from it, scored, and attacked: how
    often are the records right that a measure ranks first, and at what cost? A report has it all.

    [bold]Examples[/bold]

      gamekeeper risk compare census.csv --keys Age,Sex,Region,Occupation --samples 10 --report compare.html
    """
    from gamekeeper.workbench.models import compare_on_population

    with commands.progress_bar("Drawing samples, scoring and attacking them") as progress:
        answer = compare_on_population(asked, progress=progress)
    found = answer.found
    attacks = [*found.attacks.sentences(), *found.attacks.notices()]
    if how is not commands.Format.TABLE:
        tried = {"sentences": attacks, "rows": found.attacks.to_arrow().to_pylist()}
        commands.show_answer(answer, how, attacks=tried)
        return
    commands.say_first(answer)
    commands.say_all(found.sentences())
    commands.say()
    commands.show_result(
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
    commands.say()
    commands.say_all(attacks)
    commands.say_end(asked, found)


@commands.command(app, "simulate")
def simulate_command(
    asked: SimulateRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Take a file as everybody there is, draw samples from it, and see how measures of risk fare.

    [bold]Examples[/bold]

      gamekeeper risk simulate census.csv --keys Age,Sex,Region --experiment strategies --plot cost.svg

      gamekeeper risk simulate census.csv -k Age,Sex,Region --experiment pilot --stratify-by Region --folder pilot
    """
    from gamekeeper.workbench.models import run_simulation

    with commands.progress_bar("Drawing samples") as progress:
        answer = run_simulation(asked, progress=progress)
    found = answer.found
    if how is not commands.Format.TABLE:
        commands.show_answer(answer, how)
        return
    commands.say_first(answer)
    commands.say_all(found.sentences())
    commands.say_end(asked, found)


look_app = typer.Typer(rich_markup_mode="rich")


@commands.command(look_app, "look")
def look_command(asked: LookRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Look at a file first: columns, levels, missing cells, likely identifiers, possible keys.

    No value of the file is shown, but for codes for missing such as -9, unless --values is given.

    [bold]Examples[/bold]

      gamekeeper look people.csv

    Which columns and values do not fit a scenario yet, and which may be codes of bands:
      gamekeeper look people.sav --scenario "A data broker" --environment norland.gk --unmapped values.csv
    """
    from gamekeeper.workbench.risk import look_at

    found = look_at(asked)
    names = ("column", "value", "records")
    if how is not commands.Format.TABLE:
        rows = [dict(zip(names, row, strict=True)) for row in found.values]
        values = {"rows": rows} if asked.values else None
        commands.show_for_programs(found, how, found.notices, values=values)
        return
    commands.say_all(found.sentences())
    commands.say()
    commands.show_result(found)
    if asked.values:
        commands.say()
        commands.show_table(names, [[column, value, f"{n:,}"] for column, value, n in found.values])
    if asked.unmapped is not None and asked.unmapped.exists():
        commands.say(f"To be filled in for --values: {shown_path(asked.unmapped)}")
    commands.say_how(found)
