"""A large environment: open the folder, then all curves for a target."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.store.folder import read_environment, write_environment

__all__ = ["large_environment", "rows"]


def _band_variable(name: str, rng: random.Random) -> tuple[Variable, list[tuple[str, ...]]]:
    selections: list[tuple[str, ...]] = [()]
    for _ in range(rng.randint(4, 10)):
        cuts = sorted(rng.sample(range(5, 95, 5), rng.randint(2, 12)))
        lows = [0, *cuts]
        selections.append(
            tuple(
                f"{low}-{high - 1}" if high else f"{low}+"
                for low, high in zip(lows, [*cuts, 0], strict=True)
            )
        )
    return Variable.of_bands(name, {label for bands in selections for label in bands}), selections


def _nominal_variable(name: str, rng: random.Random) -> tuple[Variable, list[tuple[str, ...]]]:
    sinks = [f"{name} {number:02d}" for number in range(rng.randint(5, 30))]
    children: dict[str, list[str]] = {}
    selections: list[tuple[str, ...]] = [tuple(sinks)]
    for level in range(rng.randint(2, 6)):
        blocks: dict[str, list[str]] = {}
        for sink in sinks:
            blocks.setdefault(f"{name} {level}-{rng.randrange(2 + level)}", []).append(sink)
        children.update(blocks)
        selections.append(tuple(blocks))
    return Variable(name, PartitionGraph(children)), selections


def large_environment(n_forms: int, n_variables: int, seed: int) -> Environment:
    """Make up an environment; some variables are on most forms, most on few."""
    rng = random.Random(seed)
    made = [
        (_band_variable if number % 3 == 0 else _nominal_variable)(f"Variable {number:03d}", rng)
        for number in range(n_variables)
    ]
    popularity = [1 / (rank + 2) for rank in range(n_variables)]
    forms: list[Form] = []
    for number in range(n_forms):
        chosen = set(rng.choices(range(n_variables), popularity, k=30))
        forms.append(
            Form(
                f"Form {number:05d}",
                {made[n][0].name: rng.choice(made[n][1]) for n in sorted(chosen)},
                {"sector": f"sector {number % 12}", "year": 2000 + number % 26},
            )
        )
    target = {made[n][0].name: max(made[n][1], key=len) for n in range(20)}
    forms.append(Form("Target", target))
    return Environment((variable for variable, _ in made), forms)


def rows() -> Iterator[Row]:
    """Measure by number of forms."""
    for n_forms, aim in ((1_000, ""), (10_000, "1 s with the curves"), (30_000, "")):
        environment = large_environment(n_forms, 200, 1)
        with tempfile.TemporaryDirectory() as folder:
            write_environment(environment, Path(folder) / "environment")
            row, opened = measured(
                f"open {n_forms:,} forms, 200 variables",
                lambda folder=folder: read_environment(Path(folder) / "environment"),
                output=lambda environment: environment.n_instances,
                aim=aim,
            )
        yield row
        yield measured(
            f"all curves of a 20-variable target, {n_forms:,} forms",
            lambda opened=opened: map_key_variables(opened, "Target"),
            output=lambda outcome: sum(
                len(curve.sizes) for curve in outcome.curves().curves.values()
            ),
        )[0]
