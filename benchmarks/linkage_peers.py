"""Files linked by ours and by other tools in one run: `python -m benchmarks.linkage_peers PYTHON [PART]`.

PYTHON is an interpreter that has splink and recordlinkage installed; they are no part of this
project. Each tool runs in a process of its own: on febrl4 by its published recipe for these files, on
the whole files and on halves with 1,666 people in both; on the masked business files, which have none,
by what its documentation offers for numbers: Splink with percentage differences on all pairs,
recordlinkage with Gaussian similarities and ECM. There, it is also told what each would find at
the threshold that is best by the truth. Ours is also told as the others are, in pairs, where links are to
groups of equal records: each record with all of its group; and with everybody linked. PART is a part
of the name of what is run.
GAMEKEEPER_DATA names the folder of data.
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

# By the truth, that nobody has: the threshold with the largest F, the mean of precision and recall.
_BEST = """
import numpy as np
def best(right, scores, n_both):
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    found = np.cumsum(right)[ends]
    at = np.argmax(2 * found / (ends + 1 + n_both))
    return ends[at] + 1, found[at]
"""

_SPLINK_NUMBERS = """
import logging, sys
import pandas as pd
logging.disable(logging.CRITICAL)
from splink import DuckDBAPI, Linker, SettingsCreator
import splink.comparison_library as cl
import splink.comparison_level_library as cll
a, b = (pd.read_csv(file) for file in sys.argv[1:3])
a.columns = b.columns = ["row"] + [f"v{k}" for k in range(a.shape[1] - 1)]
a[a.columns[1:]], b[b.columns[1:]] = a.iloc[:, 1:].astype(float), b.iloc[:, 1:].astype(float)
names = [name for name in a.columns if name != "row"]
comparisons = [
    cl.CustomComparison(
        output_column_name=name,
        comparison_levels=[
            cll.NullLevel(name), cll.ExactMatchLevel(name),
            *(cll.PercentageDifferenceLevel(name, share) for share in (0.01, 0.05, 0.1, 0.25)),
            cll.ElseLevel(),
        ],
    )
    for name in names
]
settings = SettingsCreator(
    unique_id_column_name="row", link_type="link_only", comparisons=comparisons,
    blocking_rules_to_generate_predictions=["1=1"],
    probability_two_random_records_match=1 / max(len(a), len(b)),
)
engine = DuckDBAPI()
linker = Linker([engine.register(a), engine.register(b)], settings)
linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
linker.training.estimate_parameters_using_expectation_maximisation(
    "1=1", fix_u_probabilities=True, fix_probability_two_random_records_match=True)
found = linker.inference.predict(threshold_match_weight=-40).as_pandas_dataframe()
found = found.sort_values("match_weight", ascending=False)
right = (found.row_l == found.row_r).to_numpy()
is_link = found.match_probability.to_numpy() >= 0.5
print(*best(right, found.match_weight.to_numpy(), len(a)), is_link.sum(), right[is_link].sum())
"""

_RECORDLINKAGE_NUMBERS = """
import sys, warnings
warnings.simplefilter("ignore")
import pandas as pd
import recordlinkage
a, b = (pd.read_csv(file).set_index("row").astype(float) for file in sys.argv[1:3])
index = recordlinkage.Index()
index.full()
pairs = index.index(a, b)
compare = recordlinkage.Compare()
for name in a.columns:
    compare.numeric(name, name, method="gauss", scale=float(a[name].std()) / 10)
similar = (compare.compute(pairs, a, b) > 0.5).astype(int)
model = recordlinkage.ECMClassifier()
links = model.fit_predict(similar)
scores = model.prob(similar).sort_values(ascending=False)
right = (scores.index.get_level_values(0) == scores.index.get_level_values(1))
found = best(right, scores.to_numpy(), len(a))
print(*found, len(links), sum(x == y for x, y in links))
"""

_OURS = """
import sys
from pathlib import Path
from gamekeeper.attack.linkage.options import LinkOptions
from gamekeeper.workbench.linkage import link_two_files
from gamekeeper.workbench.requests.records import ComparedColumns, LinkRequest
first, second = map(Path, sys.argv[1:3])
columns = ComparedColumns(identifier=sys.argv[3])
options = LinkOptions(everybody=len(sys.argv) > 4)
found = link_two_files(LinkRequest(first=first, second=second, columns=columns, options=options))
if found.groups is not None:
    right = int(found.groups.is_right.sum())
    print(int(found.groups.sizes.sum()), right, end=" ")
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


def _measure(
    name: str, codes: dict[str, tuple[str, str]], files: tuple[Path, Path], who: str, n_both: int
) -> None:
    for tool, (python, code) in codes.items():
        before = _cpu()
        told = subprocess.run(
            [python, "-c", code, *map(str, files), who, *(["x"] if "everybody" in tool else [])],
            capture_output=True,
            check=False,
            text=True,
        )
        if told.returncode:
            last = told.stderr.strip().splitlines()[-1:]
            print(f"{name}, {tool}: failed: {''.join(last)}", flush=True)
            continue
        *at_best, n_links, n_right = map(int, told.stdout.split()[-4:])
        print(
            f"{name}, {tool}: {n_links:,} links, precision {n_right / max(n_links, 1):.4f}, recall"
            f" {n_right / n_both:.4f}, {_cpu() - before:.2f} CPU s",
            flush=True,
        )
        if len(at_best) == 2:
            which = "with all of the group" if tool == "gamekeeper" else "at its best threshold"
            print(
                f"  {which}: {at_best[0]:,} links, precision"
                f" {at_best[1] / at_best[0]:.4f}, recall {at_best[1] / n_both:.4f}",
                flush=True,
            )


def _main(peers: str, part: str) -> None:
    folder = Path(os.environ["GAMEKEEPER_DATA"]) / "linkage"
    ours = {"gamekeeper": (sys.executable, _OURS)}
    names = {**ours, "splink": (peers, _SPLINK), "recordlinkage": (peers, _RECORDLINKAGE)}
    numbers = {
        **ours,
        "gamekeeper, everybody": (sys.executable, _OURS),
        "splink": (peers, _BEST + _SPLINK_NUMBERS),
        "recordlinkage": (peers, _BEST + _RECORDLINKAGE_NUMBERS),
    }
    with tempfile.TemporaryDirectory() as place:
        halves, n_half = _halves(folder, Path(place))
        whole = folder / "febrl4a.csv", folder / "febrl4b.csv"
        for name, files, n_both in (("whole", whole, 5_000), ("half", halves, n_half)):
            if part in f"febrl4, {name}":
                _measure(f"febrl4, {name}", names, files, "true_entity", n_both)
    for name, n_both in (("Tarragona", 834), ("CASCrefmicrodata", 1_080)):
        for masking in ("noise10", "rankswap5", "mdav3"):
            masked = folder / f"{name}_masked_{masking}.csv"
            if part in f"{name}, {masking}":
                files = masked, folder / f"{name}_original.csv"
                _measure(f"{name}, {masking}", numbers, files, "row", n_both)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
