"""The demo of linkage: two masked copies of the file to be released, linked with the original."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from gamekeeper.attack.linkage.evaluation import MaskingComparison
from gamekeeper.attack.linkage.options import MaskingOptions
from gamekeeper.report.tables import write_table
from gamekeeper.wording import share_text
from gamekeeper.workbench.linkage import evaluate_files
from gamekeeper.workbench.requests.linkage import ComparedColumns, EvaluateRequest

_RECORDS = 1_000
_VARIABLES = (
    *("Age", "Sex", "Marital status", "Household size", "Number of cars"),
    *("Economic activity", "Income"),
)
_YEARS = 3
_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class LinkageDemo:
    """How many records of each masked copy are re-identified."""

    n_records: int
    rates: MaskingComparison
    files: tuple[Path, ...]

    def sentences(self) -> list[str]:
        """Tell what was done and who is found again, in words."""
        return [
            (
                f"Ages are blurred by up to {_YEARS} years in one copy; in the other,"
                f" {share_text(_SHARE)} of the values of each variable are swapped between records."
            ),
            *self.rates.sentences(),
            f"Links drawn by lot would be right for one record of {self.n_records:,}.",
        ]


def run_linkage_demo(output: Path, sample: Path, *, seed: int) -> LinkageDemo:
    """Mask the first records of a file in two ways, and link the copies with the original."""
    as_text = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(_VARIABLES, pa.string()), include_columns=list(_VARIABLES)
    )
    table = pyarrow.csv.read_csv(sample, convert_options=as_text).slice(0, _RECORDS)
    rng = np.random.default_rng(seed)
    versions = {
        "original-part": table,
        "blurred-ages": _blurred(table, rng),
        "swapped-values": _swapped(table, rng),
    }
    files: list[Path] = []
    for name, masked in versions.items():
        file = output / f"{name}.csv"
        write_table(masked, file, raw=True)
        files.append(file)
    rates = evaluate_files(
        EvaluateRequest(
            original=files[0],
            masked=tuple(files[1:]),
            columns=ComparedColumns(kinds={"Age": "ordinal"}),
            options=MaskingOptions(seed=seed),
        )
    )
    return LinkageDemo(table.num_rows, rates, tuple(files))


def _blurred(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    place = table.column_names.index("Age")
    # Some ages are written as a number with a plus sign.
    ages = [int(str(age).rstrip("+")) for age in table["Age"].to_pylist()]
    moved = np.clip(ages + rng.integers(-_YEARS, _YEARS + 1, len(ages)), 0, None)
    return table.set_column(place, "Age", pa.array([str(age) for age in moved]))


def _swapped(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    for place, name in enumerate(table.column_names):
        chosen = np.flatnonzero(rng.random(table.num_rows) < _SHARE)
        order = np.arange(table.num_rows)
        order[chosen] = chosen[rng.permutation(len(chosen))]
        table = table.set_column(place, name, table[name].take(pa.array(order)))
    return table
