"""Run the benchmarks: `python -m benchmarks [SUITE...]`, all of them by default.

Some take a folder of real data from the environment variable GAMEKEEPER_DATA, and leave out what
needs it where that is not set.
"""

from __future__ import annotations

import platform
import sys

from rich.console import Console
from rich.table import Table

from benchmarks import (
    bench_assignment,
    bench_audit,
    bench_environment,
    bench_harmonization,
    bench_history,
    bench_key_table,
    bench_linkage,
    bench_measures,
    bench_models,
    bench_pages,
    bench_perturbation,
    bench_population,
    bench_protection,
    bench_recoding,
    bench_scale,
    bench_store,
    bench_structure,
    bench_subtraction,
    bench_tables,
    bench_tables_closed,
    bench_uniques,
    bench_web,
)

_SUITES = {
    "harmonization": bench_harmonization.rows,
    "environment": bench_environment.rows,
    "scale": bench_scale.rows,
    "store": bench_store.rows,
    "history": bench_history.rows,
    "population": bench_population.rows,
    "key-table": bench_key_table.rows,
    "measures": bench_measures.rows,
    "uniques": bench_uniques.rows,
    "models": bench_models.rows,
    "tables": bench_tables.rows,
    "tables-closed": bench_tables_closed.rows,
    "audit": bench_audit.rows,
    "subtraction": bench_subtraction.rows,
    "assignment": bench_assignment.rows,
    "linkage": bench_linkage.rows,
    "structure": bench_structure.rows,
    "perturbation": bench_perturbation.rows,
    "web": bench_web.rows,
    "pages": bench_pages.rows,
    "protection": bench_protection.rows,
    "recoding": bench_recoding.rows,
}


def main() -> None:
    """Print one table per suite."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    names = sys.argv[1:] or list(_SUITES)
    unknown = [name for name in names if name not in _SUITES]
    if unknown:
        console.print(f"No such benchmark: {', '.join(unknown)}. There are: {', '.join(_SUITES)}.")
        raise SystemExit(2)
    console.print(f"Python {platform.python_version()}, {platform.machine()}")
    for name in names:
        table = Table(title=name, title_justify="left", box=None)
        for column in ("what", "output", "wall s", "CPU s", "µs per output", "peak MB", "aim"):
            table.add_column(column, justify="left" if column in ("what", "aim") else "right")
        with console.status(f"measuring {name} ..."):
            for row in _SUITES[name]():
                table.add_row(
                    row.name,
                    f"{row.output:,}",
                    f"{row.wall:.3f}",
                    f"{row.cpu:.3f}",
                    f"{row.cpu / max(row.output, 1) * 1e6:,.1f}",
                    f"{row.peak_mb:,.1f}",
                    row.aim,
                )
        console.print(table)


if __name__ == "__main__":
    main()
