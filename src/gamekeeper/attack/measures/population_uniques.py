"""Estimates of how many sample uniques are unique in the population, by published models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gamekeeper.algorithms.superpopulation.log_linear import (
    main_effects,
    n_cells,
    poisson_risk,
    two_way_effects,
)
from gamekeeper.algorithms.superpopulation.pitman import estimate_pitman
from gamekeeper.algorithms.superpopulation.zayatz import estimate_zayatz
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing

NO_FRACTION = "no sampling fraction and no weights are known"


@dataclass(frozen=True, slots=True)
class ModelledUniques:
    """What one model says: tau1, tau2 where it has one, or why it says nothing."""

    model: str
    tau1: float | None
    tau2: float | None
    why_none: str = ""


def population_size(key_table: KeyTable) -> int | None:
    """Return the number of people that the records were drawn from, as far as it is known."""
    if key_table.weight:
        total = float(key_table.of_classes("weight").sum())
        return max(round(total), key_table.n_records)
    if key_table.fraction is None:
        return None
    # The fractions of strata are in that of the file, exactly.
    return max(round(key_table.n_records / key_table.fraction), key_table.n_records)


def modelled_uniques(key_table: KeyTable, *, max_cells: int) -> list[ModelledUniques]:
    """Return what each model says of the sample uniques."""
    names = ("main effects", "two-way interactions", "Pitman", "Zayatz")
    why = ""
    people = population_size(key_table)
    if people is None or key_table.fraction is None:
        why = NO_FRACTION
    elif key_table.missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        why = f"where {key_table.missing.words}, records do not fall into classes"
    elif not key_table.n_uniques:
        why = "there is no sample unique"
    if why or people is None:
        return [ModelledUniques(name, None, None, why) for name in names]
    return [*_log_linear(key_table, max_cells), *_by_sizes(key_table, people)]


def _log_linear(key_table: KeyTable, max_cells: int) -> list[ModelledUniques]:
    listed = key_table.listed
    codes = listed.codes().astype(np.int64)
    counts = listed.counts if listed.by_key else None
    rows = np.flatnonzero(listed.sizes() == 1)
    shares = listed.fractions()[rows]
    plain = poisson_risk(main_effects(codes, rows, counts), shares)
    found = [ModelledUniques("main effects", plain.tau1, plain.tau2)]
    cells, name = n_cells(codes), "two-way interactions"
    if cells > max_cells:
        why = f"the table has {cells:,} cells, more than {max_cells:,} (--max-cells)"
        return [*found, ModelledUniques(name, None, None, why)]
    expected = two_way_effects(codes, rows, counts)
    if expected is None:
        return [*found, ModelledUniques(name, None, None, "the fit did not settle")]
    fine = poisson_risk(expected, shares)
    return [*found, ModelledUniques(name, fine.tau1, fine.tau2)]


def _by_sizes(key_table: KeyTable, people: int) -> list[ModelledUniques]:
    structure = dict(key_table.structure)
    pitman = estimate_pitman(structure, people)
    zayatz = estimate_zayatz(structure, people)
    # A population unique is in the sample with the chance of any person.
    sampled = key_table.n_records / people
    both = None if pitman is None else min(pitman.population_uniques * sampled, key_table.n_uniques)
    no_maximum = "its likelihood has no maximum on these sizes of classes"
    return [
        ModelledUniques("Pitman", both, None, "" if pitman else no_maximum),
        ModelledUniques("Zayatz", zayatz.uniques_of_both if zayatz else None, None),
    ]
