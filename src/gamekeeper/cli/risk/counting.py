"""The commands that count keys: keys, measures, dis and match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import say_end, say_first, show_for_programs, show_result
from gamekeeper.cli.show import Format, progress_bar, say, say_all, show_table
from gamekeeper.wording import percent_text
from gamekeeper.workbench.requests.risk import (
    DisRequest,
    KeysRequest,
    MatchRequest,
    MeasuresRequest,
)

if TYPE_CHECKING:
    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.workbench.risk import CountedFile

app = typer.Typer()

_KS = (2, 3, 5, 10)
_SIZES_SHOWN = 10


@command(app, "keys")
def keys_command(asked: KeysRequest, how: AsFormat = Format.TABLE) -> None:
    """Count the keys of a file: how many records share theirs with how many others.

    [bold]Examples[/bold]

      gamekeeper risk keys people.csv --keys Age,Sex,Region

    With the key variables of a scenario, at its level of detail:
      gamekeeper risk keys people.sav --scenario "A data broker" --environment norland.gk
    """
    from gamekeeper.workbench.risk import count_release

    with progress_bar("Counting keys") as progress:
        answer = count_release(asked, progress=progress)
    source, table = answer.found.source, answer.found.table
    if how is not Format.TABLE:
        show_for_programs(
            table, how, answer.notices, what_if=answer.what_if, **_parts(answer.found)
        )
        return
    settings = ", ".join(f"{name} {value!r}" for name, value in source.settings.items())
    say(f"File {source.name} ({source.kind}{': ' + settings if settings else ''}).")
    say_first(answer)
    say_all(table.sentences())
    say()
    _show_sizes(table)
    say()
    for k in _KS:
        say(table.k_sentence(k))
    say_end(asked, table)


def _line(table: KeyTable, sizes: Sequence[int]) -> dict[str, float]:
    """Return how many records share their key with so many others."""
    records = sum(table.records_by_size[size] for size in sizes)
    return {
        "class_size": sizes[0],
        "different_keys": sum(table.structure[size] for size in sizes),
        "records": records,
        "share": records / table.n_records,
    }


def _larger(table: KeyTable) -> list[int]:
    """Return the sizes of classes that people see in one line."""
    return sorted(table.structure)[_SIZES_SHOWN:]


def _show_sizes(table: KeyTable) -> None:
    """Print how many records share their key with how many others."""
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
    show_table(["class size", "different keys", "records", "share"], rows)


def _parts(found: CountedFile) -> dict[str, Any]:
    """Return what people read besides the classes."""
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


@command(app, "measures")
def measures_command(asked: MeasuresRequest, how: AsFormat = Format.TABLE) -> None:
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

    with progress_bar("Measuring") as progress:
        answer = measure_release(asked, progress=progress)
    found = answer.found
    if how is not Format.TABLE:
        show_for_programs(
            found,
            how,
            answer.notices,
            what_if=answer.what_if,
            unsafe={"rows": found.unsafe.to_pylist()},
        )
        return
    say_first(answer)
    say_all(found.sentences())
    say()
    show_result(found, {"measure": "measure", "value": "value", "meaning": "meaning"})
    if found.unsafe.num_columns > 1:
        say()
        say("Unsafe combinations that each key variable has a part in:")
        say()
        show_result(found, table=found.unsafe)
    say_end(asked, found)


@command(app, "dis")
def dis_command(asked: DisRequest, how: AsFormat = Format.TABLE) -> None:
    """Estimate what a unique match is worth: data intrusion simulation (DIS).

    [bold]Examples[/bold]

      gamekeeper risk dis people.csv --keys Age,Sex,Region --fraction 2%

    Does a perturbation help? Attack the release with the originals:
      gamekeeper risk dis swapped.csv -k Age,Sex,Region -f 2% --method special --original people.csv
    """
    from gamekeeper.workbench.risk import simulate_intrusion

    with progress_bar("Simulating an intruder") as progress:
        answer = simulate_intrusion(asked, progress=progress)
    found = answer.found
    if how is not Format.TABLE:
        show_for_programs(found, how, answer.notices, what_if=answer.what_if)
        return
    say_first(answer)
    say_all(found.sentences())
    say()
    show_result(
        found, {"measure": "measure", "value": "value", "exact": "exact", "meaning": "meaning"}
    )
    say_end(asked, found)


@command(app, "match")
def match_command(asked: MatchRequest, how: AsFormat = Format.TABLE) -> None:
    """Compare ways to find a match: how likely each is right, and what the search costs.

    The population is given as a file, or models of the sample infer it from weights or the sampling
    fraction, as [bold]risk infer[/bold] does.

    [bold]Examples[/bold]

      gamekeeper risk match sample.csv --keys Age,Sex,Region --population everybody.parquet

      gamekeeper risk match sample.csv --keys Age,Sex,Region --weight w --plot cost.svg
    """
    from gamekeeper.workbench.risk import match_release

    with progress_bar("Matching") as progress:
        answer = match_release(asked, progress=progress)
    found = answer.found
    if how is not Format.TABLE:
        show_for_programs(found, how, answer.notices, what_if=answer.what_if)
        return
    say_first(answer)
    say_all(found.file_sentences())
    say()
    show_result(
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
    say()
    say_all(found.dominance_sentences())
    say_end(asked, found)
