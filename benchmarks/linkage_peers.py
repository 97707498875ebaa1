"""febrl4 linked by ours and by other tools in one run: `python -m benchmarks.linkage_peers PYTHON`.

PYTHON is an interpreter that has splink and recordlinkage installed; they are no part of this
project. Each tool runs in a process of its own, by its published recipe for these files, on the whole
files and on halves with 1,666 people in both. GAMEKEEPER_DATA names the folder of data.
"""

from __future__ import annotations

import csv
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

_EACH, _SEED = 3_333, 1

_SPLINK = """
import logging, sys
import pandas as pd
logging.disable(logging.CRITICAL)
from splink import DuckDBAPI, Linker, SettingsCreator, block_on
import splink.comparison_library as cl
a, b = (pd.read_csv(file, dtype=str) for file in sys.argv[1:3])
settings = SettingsCreator(
    unique_id_column_name="rec_id",
    link_type="link_only",
    blocking_rules_to_generate_predictions=[
        block_on("given_name", "surname"),
        "l.given_name = r.surname and l.surname = r.given_name",
        block_on("date_of_birth"), block_on("soc_sec_id"), block_on("state", "address_1"),
        block_on("street_number", "address_1"), block_on("postcode"),
    ],
    comparisons=[
        cl.NameComparison("given_name").configure(term_frequency_adjustments=True),
        cl.NameComparison("surname").configure(term_frequency_adjustments=True),
        cl.DateOfBirthComparison("date_of_birth", input_is_string=True,
                                 datetime_format="%Y%m%d", invalid_dates_as_null=True),
        cl.DamerauLevenshteinAtThresholds("soc_sec_id", [1, 2]),
        cl.ExactMatch("street_number").configure(term_frequency_adjustments=True),
        cl.DamerauLevenshteinAtThresholds("postcode", [1, 2]).configure(
            term_frequency_adjustments=True),
    ],
    additional_columns_to_retain=["true_entity"],
)
engine = DuckDBAPI()
linker = Linker([engine.register(a), engine.register(b)], settings)
train = linker.training
certain = [block_on("soc_sec_id"), block_on("given_name", "surname", "date_of_birth")]
train.estimate_probability_two_random_records_match(certain, recall=0.8)
train.estimate_u_using_random_sampling(max_pairs=1e6)
for name in ("date_of_birth", "postcode"):
    train.estimate_parameters_using_expectation_maximisation(
        block_on(name), estimate_without_term_frequencies=True)
found = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
print(len(found), int((found.true_entity_l == found.true_entity_r).sum()))
"""

_RECORDLINKAGE = """
import sys, warnings
warnings.simplefilter("ignore")
import pandas as pd
import recordlinkage
a, b = (pd.read_csv(file, dtype=str).set_index("rec_id") for file in sys.argv[1:3])
index = recordlinkage.Index()
index.block("given_name")
pairs = index.index(a, b)
compare = recordlinkage.Compare()
compare.string("surname", "surname", method="jarowinkler", threshold=0.85)
for name in ("date_of_birth", "suburb", "state"):
    compare.exact(name, name)
compare.string("address_1", "address_1", threshold=0.85)
links = recordlinkage.ECMClassifier().fit_predict(compare.compute(pairs, a, b))
print(len(links), sum(a.true_entity[x] == b.true_entity[y] for x, y in links))
"""

_OURS = """
import sys
from pathlib import Path
from gamekeeper.workbench.linkage import link_two_files
from gamekeeper.workbench.requests.linkage import ComparedColumns, LinkRequest
first, second = map(Path, sys.argv[1:3])
columns = ComparedColumns(identifier="true_entity")
found = link_two_files(LinkRequest(first=first, second=second, columns=columns))
print(found.n_linked, found.n_correct)
"""


def _halves(folder: Path, out: Path) -> tuple[tuple[Path, Path], int]:
    files: list[Path] = []
    parts: list[set[str]] = []
    for name in ("a", "b"):
        with (folder / f"febrl4{name}.csv").open(encoding="utf-8", newline="") as lines:
            records = list(csv.DictReader(lines))
        people = sorted({one["true_entity"] for one in records})
        random.Random(_SEED).shuffle(people)
        parts.append({*(people[:_EACH] if name == "a" else people[-_EACH:])})
        files.append(out / f"{name}.csv")
        with files[-1].open("w", encoding="utf-8", newline="") as lines:
            writer = csv.DictWriter(lines, records[0])
            writer.writeheader()
            writer.writerows(one for one in records if one["true_entity"] in parts[-1])
    return (files[0], files[1]), len(parts[0] & parts[1])


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _main(peers: str) -> None:
    folder = Path(os.environ["GAMEKEEPER_DATA"]) / "linkage"
    with tempfile.TemporaryDirectory() as place:
        halves, n_half = _halves(folder, Path(place))
        whole = folder / "febrl4a.csv", folder / "febrl4b.csv"
        for name, files, n_both in (("whole", whole, 5_000), ("half", halves, n_half)):
            for tool, python, code in (
                ("gamekeeper", sys.executable, _OURS),
                ("splink", peers, _SPLINK),
                ("recordlinkage", peers, _RECORDLINKAGE),
            ):
                before = _cpu()
                told = subprocess.run(
                    [python, "-c", code, *map(str, files)],
                    capture_output=True,
                    check=True,
                    text=True,
                )
                n_links, n_right = map(int, told.stdout.split()[-2:])
                print(
                    f"febrl4, {name}, {tool}: {n_links:,} links, precision"
                    f" {n_right / max(n_links, 1):.4f}, recall {n_right / n_both:.4f},"
                    f" {_cpu() - before:.2f} CPU s",
                    flush=True,
                )


if __name__ == "__main__":
    _main(sys.argv[1])
