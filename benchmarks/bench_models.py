"""Search over decomposable models: proposals per second, annealing, chains that agree.

The records are drawn from a random network of dependent variables with 2 to 20 categories. With
the environment variable GAMEKEEPER_DATA the Adult file is searched too, on the same records, with
the same bands of age and the same prior as published runs of other tools, whose best log marginal
likelihoods are the aims. `python -m benchmarks.bench_models 1000000 64` measures scores and one
annealing run at another size.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.clique_scores import MarginScores
from gamekeeper.algorithms.model_search import anneal, sample_models

__all__ = ["rows"]

LEVELS = (8, 10, 6, 2, 5, 2, 3, 4, 8, 12, 5, 4, 20, 3, 6, 2)
AGES = (25, 35, 45, 55, 65)
ADULT = {1_000: -10074.51, 5_000: -49142.67, 30_162: -288496.43}


def draw(n_records: int, levels: tuple[int, ...], seed: int = 1) -> NDArray[np.uint8]:
    """Draw records: a variable repeats one or two earlier ones, up to its number of categories."""
    rng = np.random.default_rng(seed)
    table = np.zeros((n_records, len(levels)), np.uint8)
    for v, level in enumerate(levels):
        table[:, v] = (level * rng.random(n_records) ** 1.5).astype(np.uint8)
        for parent in rng.permutation(np.arange(max(0, v - 5), v))[:2].tolist():
            follows = rng.random(n_records) < 0.4
            table[follows, v] = (table[follows, v] + table[follows, parent]) % level
    return table


def rows() -> Iterator[Row]:
    """Measure what searches cost, on one core unless it says otherwise."""
    for n_variables, n_records, aim in ((12, 1_262, "1 s"), (16, 6_312, "3 s")):
        table, levels = draw(n_records, LEVELS[:n_variables]), LEVELS[:n_variables]
        name = f"{n_variables} variables, {n_records:,} records"
        anneal(MarginScores(table[:50], levels), restarts=1)  # compiles
        yield _annealed(f"annealing, 4 runs: {name}", table, levels, aim)
        scores = MarginScores(table, levels)
        row, found = measured(
            f"MC3, 4 chains until R-hat < 1.05: {name}",
            lambda scores=scores: sample_models(scores, workers=1),
            output=lambda found: found.proposals,
            memory=False,
        )
        row = _named(row, f"(R-hat {found.worst_r_hat:.3f}, {found.n_carrying()} models)")
        yield row
        row, found = measured(
            "the same again, single edges only, scores kept: proposals",
            lambda scores=scores: sample_models(
                scores, workers=1, moves={"toggle": 1.0}, sweeps=1_000, most_sweeps=1_000
            ),
            output=lambda found: found.proposals,
            aim="440,000 per s",
            memory=False,
        )
        yield _named(row, f"({row.output / row.cpu:,.0f} per CPU s)")
    yield from _adult()


def rows_at(n_records: int, n_variables: int) -> Iterator[Row]:
    """Measure one size: making the scores ready, scores of margins, one run of annealing."""
    levels = tuple(LEVELS[v % len(LEVELS)] for v in range(n_variables))
    table = draw(n_records, levels)
    MarginScores(table[:50], levels).score(1)
    name = f"{n_variables} variables, {n_records:,} records"
    row, scores = measured(
        f"distinct rows: {name}",
        lambda: MarginScores(table, levels),
        output=lambda scores: scores.n_rows,
        memory=False,
    )
    yield row
    masks = [0b1111 << v for v in range(min(n_variables - 3, 40))]
    row, _ = measured(
        f"scores of four variables: {name}", lambda: scores.scores(masks), output=len, memory=False
    )
    yield row
    yield _annealed(f"annealing, 1 run, 500 per level: {name}", table, levels, "", 1, 500)


def _annealed(
    name: str,
    table: NDArray[np.integer],
    levels: Any,
    aim: str,
    restarts: int = 4,
    proposals: int | None = None,
) -> Row:
    row, found = measured(
        name,
        lambda: anneal(
            MarginScores(table, levels), workers=1, restarts=restarts, proposals=proposals
        ),
        output=lambda found: found.proposals,
        aim=aim,
        memory=False,
    )
    return _named(row, f"(best {found.best_score:.2f}, {found.visits[0]} of {restarts + 1} runs)")


def _adult() -> Iterator[Row]:
    path = Path(os.environ.get("GAMEKEEPER_DATA", "")) / "adult" / "adult_arx.csv"
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as lines:
        _, *records = csv.reader(lines)
    columns = [np.unique(column, return_inverse=True)[1] for column in zip(*records, strict=True)]
    columns[1] = np.searchsorted(AGES, [int(record[1]) for record in records])
    table = np.column_stack(columns).astype(np.uint8)
    # Very probably the samples of the published runs: their full score and both others agree.
    order = np.random.RandomState(1).permutation(len(table))
    for n_records, best in ADULT.items():
        yield _annealed(f"Adult, {n_records:,} records", table[order[:n_records]], None, f"{best}")


def _named(row: Row, note: str) -> Row:
    return Row(f"{row.name} {note}", row.output, row.wall, row.cpu, row.peak_mb, row.aim)


if __name__ == "__main__":
    sizes = [int(text) for text in sys.argv[1:3]]
    for row in rows_at(sizes[0], sizes[1]) if len(sizes) == 2 else rows():
        print(
            f"{row.name}: {row.output:,} out, {row.wall:.2f} s wall, {row.cpu:.2f} s CPU"
            + (f", aim {row.aim}" if row.aim else "")
        )
