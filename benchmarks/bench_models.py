"""Search over decomposable models: proposals per second, annealing, chains that agree.

The records are drawn from a random network of dependent variables with 2 to 20 categories. With
the environment variable GAMEKEEPER_DATA the Adult file is searched too, on the same records, with
the same bands of age and the same prior as published runs of other tools, whose best log marginal
likelihoods are the aims. `python -m benchmarks.bench_models 1000000 64` measures scores and one
annealing run at another size, and `python -m benchmarks.bench_models people 1000000` MC3 as it is by
default, at all its precisions, on 12 variables of the population that the package makes up.
`python -m benchmarks.bench_models infer 400000` measures what `risk infer` does on 9 of them.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.models.annealing import anneal, sample_models
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.population_model import recommended_precisions

__all__ = ["rows"]

LEVELS = (8, 10, 6, 2, 5, 2, 3, 4, 8, 12, 5, 4, 20, 3, 6, 2)
PEOPLE = (
    *("Age", "Sex", "Marital status", "Country of birth", "Ethnic group", "Religion"),
    *("General health", "Place of residence", "Tenure", "Household size"),
    *("Economic activity", "Occupation"),
)
AGES = (25, 35, 45, 55, 65)
RELEASED = (
    *("Age", "Sex", "Marital status", "Country of birth", "Ethnic group", "General health"),
    *("Tenure", "Household size", "Economic activity"),
)
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


def rows_of_people(n_people: int) -> Iterator[Row]:
    """Measure MC3 with its defaults on so many people, at each precision and memory so far."""
    from gamekeeper.data.population import CATEGORIES, make_population

    people = make_population(n_people)
    columns = [people[name].combine_chunks().indices.to_numpy() for name in PEOPLE]
    table = np.stack(columns, axis=1).astype(np.uint8)
    levels = [len(CATEGORIES[name]) for name in PEOPLE]
    del people, columns
    sample_models(MarginScores(table[:50], levels))  # compiles
    precisions = recommended_precisions(n_people)
    row, every = measured(
        f"distinct rows: {len(PEOPLE)} variables, {n_people:,} people",
        lambda: MarginScores.at_precisions(table, levels, precisions),
        output=lambda every: every[0].n_rows,
        memory=False,
    )
    yield row
    for scores in every:
        row, found = measured(
            f"MC3, precision {scores.precision:g}",
            lambda scores=scores: sample_models(scores),
            output=lambda found: found.proposals,
            memory=False,
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield _named(
            row,
            f"(R-hat {found.worst_r_hat:.3f}, {found.n_models} models, best {found.best_score:.2f},"
            f" {peak:.0f} MB at most)",
        )


def rows_of_inference(n_people: int) -> Iterator[Row]:
    """Measure `risk infer` step by step: models, what follows of records, what variables add."""
    from gamekeeper.attack.models.fitting import fit_models
    from gamekeeper.attack.models.inference import infer_risk
    from gamekeeper.attack.models.levels import variables_risk
    from gamekeeper.data.coding.coded_table import coded_from_codes
    from gamekeeper.data.keys.counting import count_keys
    from gamekeeper.data.population import make_population

    people = make_population(n_people)
    columns = [people[name].combine_chunks().indices.to_numpy() for name in RELEASED]
    keys = count_keys(coded_from_codes(np.stack(columns, axis=1) + 1, RELEASED), RELEASED)
    del people, columns
    few = count_keys(coded_from_codes(draw(50, (3, 3)) + 1, ("a", "b")), ("a", "b"))
    fit_models(few)  # compiles
    name = f"{len(RELEASED)} variables, {n_people:,} people"
    row, fit = measured(
        f"models: {name}", lambda: fit_models(keys), output=lambda fit: len(fit.searches),
        memory=False,
    )  # fmt: skip
    yield _with_memory(row)
    row, risk = measured(
        "what follows of each record", lambda: infer_risk(keys, fit, fraction="1/10"),
        output=lambda risk: len(risk.table), memory=False,
    )  # fmt: skip
    yield _with_memory(row)
    row, _ = measured(
        "relative risks of the variables", lambda: variables_risk(risk),
        output=lambda found: len(found.lines), aim="the two above; 1,000 MB", memory=False,
    )  # fmt: skip
    yield _with_memory(row)


def _with_memory(row: Row) -> Row:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return _named(row, f"({peak:.0f} MB in all so far)")


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


def _asked(words: list[str]) -> Iterator[Row]:
    match words:
        case ["people", n_people]:
            return rows_of_people(int(n_people))
        case ["infer", n_people]:
            return rows_of_inference(int(n_people))
        case [n_records, n_variables]:
            return rows_at(int(n_records), int(n_variables))
        case _:
            return rows()


if __name__ == "__main__":
    for row in _asked(sys.argv[1:]):
        print(
            f"{row.name}: {row.output:,} out, {row.wall:.2f} s wall, {row.cpu:.2f} s CPU"
            + (f", aim {row.aim}" if row.aim else ""),
            flush=True,
        )
