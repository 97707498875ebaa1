"""The commands that count keys: keys, dis and match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gamekeeper.cli.commands import AsFormat, command, say_written
from gamekeeper.cli.risk_show import (
    say_all,
    say_how,
    say_notices,
    show_for_programs,
    show_result,
)
from gamekeeper.cli.show import Format, progress_bar, say, show_table
from gamekeeper.wording import percent_text
from gamekeeper.workbench.requests.risk import DisRequest, KeysRequest, MatchRequest

if TYPE_CHECKING:
    from gamekeeper.data.keys.key_table import KeyTable

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
        show_for_programs(table, how, answer.notices)
        return
    settings = ", ".join(f"{name} {value!r}" for name, value in source.settings.items())
    say(f"File {source.name} ({source.kind}{': ' + settings if settings else ''}).")
    say_notices(answer.notices)
    say_all(table.sentences())
    say()
    _show_sizes(table)
    say()
    for k in _KS:
        say(table.k_sentence(k))
    say_how(table)
    say_written(asked)


def _show_sizes(table: KeyTable) -> None:
    """Print how many records share their key with how many others."""
    sizes = sorted(table.structure)
    shown = sizes[:_SIZES_SHOWN]
    rows = [
        [
            f"{size:,}",
            f"{table.structure[size]:,}",
            f"{table.records_by_size[size]:,}",
            percent_text(table.records_by_size[size] / table.n_records),
        ]
        for size in shown
    ]
    larger = sizes[_SIZES_SHOWN:]
    if larger:
        records = sum(table.records_by_size[size] for size in larger)
        rows.append(
            [
                f"{larger[0]:,} or more",
                f"{sum(table.structure[size] for size in larger):,}",
                f"{records:,}",
                percent_text(records / table.n_records),
            ]
        )
    show_table(["class size", "different keys", "records", "share"], rows)


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
        show_for_programs(found, how, answer.notices)
        return
    say_notices(answer.notices)
    say_all(found.sentences())
    say()
    show_result(
        found, {"measure": "measure", "value": "value", "exact": "exact", "meaning": "meaning"}
    )
    say_how(found)
    say_written(asked)


@command(app, "match")
def match_command(asked: MatchRequest, how: AsFormat = Format.TABLE) -> None:
    """Compare ways to find a match: how likely each is right, and what the search costs.

    The population is given as a file, or estimated from weights or the sampling fraction.

    [bold]Examples[/bold]

      gamekeeper risk match sample.csv --keys Age,Sex,Region --population everybody.parquet

      gamekeeper risk match sample.csv --keys Age,Sex,Region --weight w --plot cost.svg
    """
    from gamekeeper.workbench.risk import match_release

    with progress_bar("Matching") as progress:
        answer = match_release(asked, progress=progress)
    found = answer.found
    if how is not Format.TABLE:
        show_for_programs(found, how, answer.notices)
        return
    say_notices(answer.notices)
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
    say_how(found)
    say_written(asked)
