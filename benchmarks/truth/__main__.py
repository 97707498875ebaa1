"""`python -m benchmarks.truth FOLDER` compares estimates with the populations of a folder.

For each population, number of key variables and sampling fraction, seeded samples are drawn, models
are fitted to the sample alone by annealing at several prior precisions, and estimates of ours and of
rivals are held against the population. `benchmarks/truth/populations.py` says what the folder holds,
`samples.py` who the rivals are, `tables.py` what is printed. Every sample is kept in a file of the
folder `--kept`, so that a run can be stopped and goes on, and more samples add to those that are there.
After a change of the estimate `--again` makes it anew from the models that were kept; after one of the
search take another folder. The number of workers changes nothing but the time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.truth.populations import Setting, read_folder, settings_of
from benchmarks.truth.samples import Outcome, kept_sample
from benchmarks.truth.tables import Judged, lines


def main() -> None:
    """Draw what samples are missing, and print the tables."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.truth",
        description="Estimates of models against known populations.",
    )
    options.add_argument("folder", type=Path, help="CSV or Parquet files, each with a JSON file")
    options.add_argument(
        "--kept", type=Path, default=Path("truth-samples"), help="where samples are kept"
    )
    options.add_argument("--populations", nargs="+", help="only these, by name of file")
    options.add_argument("--variables", nargs="+", type=int, help="only these numbers of keys")
    options.add_argument("--fractions", nargs="+", type=float, help="only these fractions")
    options.add_argument("--samples", type=int, default=20, help="of each setting")
    options.add_argument(
        "--again", action="store_true", help="estimate anew from the models that were kept"
    )
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = options.parse_args()
    settings = settings_of(
        read_folder(asked.folder), asked.populations, asked.variables, asked.fractions
    )
    if not settings or asked.samples < 1:
        sys.exit("Nothing is asked for: no population of the folder has such keys and fractions.")
    asked.kept.mkdir(parents=True, exist_ok=True)
    # All settings once, then all again: what there is after a while speaks of each.
    tasks = [(setting, number) for number in range(asked.samples) for setting in settings]
    found: defaultdict[Setting, list[Outcome]] = defaultdict(list)
    with ProcessPoolExecutor(asked.workers) as pool:
        done = pool.map(_kept, tasks, [str(asked.kept)] * len(tasks), [asked.again] * len(tasks))
        for at, ((setting, _), outcome) in enumerate(zip(tasks, done, strict=True), 1):
            found[setting].append(outcome)
            print(f"\r{at} of {len(tasks)} samples", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for line in lines([Judged(setting, samples) for setting, samples in found.items()]):
        print(line)


def _kept(task: tuple[Setting, int], folder: str, again: bool) -> Outcome:
    return kept_sample(*task, folder, again=again)


if __name__ == "__main__":
    main()
