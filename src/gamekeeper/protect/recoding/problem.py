"""From a coded file and what was asked to what an algorithm searches: choices, records, targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import floor

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.choices import Choice, Chosen
from gamekeeper.algorithms.recoding_search.class_tables import (
    Labels,
    Records,
    distinct_records,
    search_bytes,
)
from gamekeeper.algorithms.recoding_search.targets import (
    ClassNumber,
    MonotoneAttack,
    SmallClasses,
    Target,
)
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.reading.column_names import matched_name
from gamekeeper.protect.recoding.categories import KeyCategories, Places
from gamekeeper.protect.recoding.checked import checked_wishes
from gamekeeper.protect.recoding.household_target import household_target
from gamekeeper.protect.recoding.options import Loss, SearchOptions
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.suppression.households import find_households
from gamekeeper.wording import count_of

WEIGHT_UNIT = 1_000_000
"""Weights are counted in millionths, so that sums of them are exact."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What is searched.

    `variables` are the key variables and, where there are strata, their variable, which is never
    recoded. `categories` are those that may be recoded, as wished.
    """

    variables: tuple[str, ...]
    categories: Mapping[str, KeyCategories]
    choices: tuple[Choice, ...]
    records: Records
    targets: tuple[Target, ...]
    entropy: float
    """How much the key variables tell, in the unit of the loss."""

    household_variables: tuple[str, ...] = ()
    """The key variables by which households are counted, each as one."""

    def blocks(self, chosen: Chosen) -> dict[str, tuple[Places, ...]]:
        """Return the categories that are chosen, by variable, in the order of their places."""
        return {
            name: tuple(sorted(choice.categories[number] for number in own))
            for name, choice, own in zip(self.variables, self.choices, chosen, strict=True)
            if name in self.categories
        }


def problem_of(table: CodedTable, setting: Setting, asked: SearchOptions) -> SearchProblem:
    """Return what is searched, or one error with all that is wrong."""
    wished = checked_wishes(table, setting, asked)
    names, left, at_least = wished.names, wished.categories, wished.at_least
    keys = list(setting.keys)
    if setting.strata and setting.strata not in keys:
        keys.append(setting.strata)
    require_memory(
        "A recoding was to be searched.",
        search_bytes(table.n_records, len(keys)),
        f"{count_of(table.n_records, 'record')} with {count_of(len(keys), 'key variable')}",
        "Take fewer key variables, or part of the file",
    )
    codes = table.matrix(keys).astype(np.int64)
    kept = np.ones(len(codes), dtype=bool)
    if setting.missing is Missing.EXCLUDE:
        kept = (codes != MISSING).all(axis=1)
    weights = None
    if asked.weighted:
        scaled = np.rint(table.number(setting.weight) * WEIGHT_UNIT)
        weights = np.nan_to_num(scaled).astype(np.int64)[kept]
    factors = {matched_name(name, names): factor for name, factor in asked.factors.items()}
    choices: list[Choice] = []
    entropy = 0.0
    for place, name in enumerate(keys):
        if name not in left:
            n_codes = table.codebook[name].n_codes
            every = tuple((code,) for code in range(n_codes))
            choices.append(Choice(n_codes, every, np.zeros(n_codes)))
            continue
        own = left[name]
        # Loss is of records that are released, whether or not they can be matched.
        counts = np.bincount(codes[:, place], minlength=own.variable.n_codes).astype(np.float64)
        tells = own.entropy(counts)
        factor = factors.get(name, 1.0)
        if asked.loss is Loss.SHARE:
            factor /= len(left) * tells if tells > 0 else 1.0
        entropy += tells * factor
        choices.append(own.choice(counts, factor, at_least.get(name, 1)))
    records = distinct_records(codes[kept], weights)
    targets = _targets(asked, setting, codes[kept])
    wanted = [matched_name(name, setting.keys) for name in asked.household_variables]
    homes = find_households(table, setting, wanted)
    if homes is not None and homes.variables:
        columns = [keys.index(name) for name in homes.variables]
        columns += [keys.index(setting.strata)] if setting.strata else []
        targets = (*targets, household_target(homes, columns, codes, kept, weights, targets[0]))
    return SearchProblem(
        tuple(keys),
        left,
        tuple(choices),
        records,
        targets,
        entropy,
        () if homes is None else homes.variables,
    )


def _targets(
    asked: SearchOptions, setting: Setting, codes: NDArray[np.int64]
) -> tuple[SmallClasses, *tuple[Target, ...]]:
    most = max(asked.most_records, floor(asked.most_share * len(codes)))
    k = asked.k * WEIGHT_UNIT if asked.weighted else asked.k
    made: list[Target] = []
    if asked.most_classes is not None:
        made.append(ClassNumber(asked.most_classes))
    if asked.most_is is not None:
        highest = partial(_highest_is, codes[:, : len(setting.keys)], setting)
        made.append(MonotoneAttack(highest, asked.most_is))
    return (SmallClasses(k, most), *made)


def _highest_is(codes: NDArray[np.int64], setting: Setting, labels: Labels) -> float:
    """Return the highest IS of a record under a recoding; strata are no key."""
    from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
    from gamekeeper.algorithms.uniques.scores import size_weights, weigh

    recoded = np.zeros(codes.shape, dtype=np.uint32)
    for place in range(codes.shape[1]):
        shown = labels[place].astype(np.int64) + 1
        shown[MISSING] = MISSING
        recoded[:, place] = shown[codes[:, place]]
    # One category for everybody tells nobody apart; a missing cell counts as a category.
    found = find_minimal_uniques(recoded, missing="category", listing=False, workers=1)
    scores = weigh(found.counts, size_weights(codes.shape[1]))
    return max(map(int, scores.tolist()), default=0)
