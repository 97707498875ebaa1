"""An intruder who matches sample and population: chances, costs, and which strategy is better.

With the population known, the strategies of algorithms/intrusion/strategies.py are evaluated
exactly; otherwise they are estimated from weights or the sampling fraction (estimates.py). Smith's
thesis, chapter 5, corrected. Linear in classes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.intrusion.dominance import find_dominance
from gamekeeper.algorithms.intrusion.strategies import (
    Direction,
    Predicate,
    Strategy,
    custom_strategies,
    evaluate_strategies,
    matching_probabilities,
    numbered_strategies,
)
from gamekeeper.attack.matching.estimates import EstimatedCells, estimate_strategies
from gamekeeper.attack.matching.options import NUMBERS, Estimate, MatchingOptions
from gamekeeper.attack.matching.population import check_contained, check_policy, match_classes
from gamekeeper.attack.matching.result import MatchingRisk, file_lines
from gamekeeper.attack.risk import FileRisk, keyed_provenance
from gamekeeper.attack.uniques.dis import general_dis
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import takes
from gamekeeper.wording import count_of, quoted

Measures = dict[str, Fraction | float | None]


def matching_bytes(n_records: int, n_keys: int) -> int:
    """Return the bytes that matching takes at least; measured with one and two million records."""
    return n_records * (17 + 4 * n_keys)


@takes(MatchingOptions)
def assess_matching(key_table: KeyTable, asked: MatchingOptions) -> MatchingRisk:
    """Return what matching strategies achieve on a sample, and at what cost.

    Missing cells are counted as `category` or `exclude`. The population, and strategies of your
    own, `MatchingOptions` explains.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> words = [("missing", "young", "old", "very old")]
    >>> people = coded_from_codes([[1], [1], [2], [2], [2], [3]], ["age"], words)
    >>> sample = coded_from_codes([[1], [2], [2]], ["age"], words)
    >>> risk = assess_matching(count_keys(sample, ["age"]), population=count_keys(people, ["age"]))
    >>> risk["4"].pr_cm, risk["5"].cost_with
    (Fraction(1, 2), Fraction(3, 1))
    """
    started = time.perf_counter()
    check_policy(key_table)
    population, population_size = asked.population, asked.population_size
    chosen = _chosen(asked.strategies, asked.r, asked.predicates or {})
    method = _method(key_table, population, population_size, asked.estimate)
    measures: Measures
    if isinstance(method, Estimate):
        cells = _estimated(key_table, method, population_size)
        values = estimate_strategies(cells, chosen)
        measures = _estimated_measures(cells)
        n_people: int | float = cells.size
        variant = f"negative binomial from {method}"
    else:
        f, people = _known(key_table, population, population_size)
        values = evaluate_strategies(people, f, chosen, exact=asked.exact)
        found = matching_probabilities(people, f, exact=asked.exact)
        whole = isinstance(population, KeyTable)
        given_uniques = bool((f == 1).any())
        measures = {
            "pr_pu": found.pr_pu if whole else None,
            "pr_pu_given_su": found.pr_pu_given_su if given_uniques else None,
            "pr_cm_given_um": found.pr_cm_given_um if given_uniques else None,
            "pr_cm_given_su": found.pr_cm_given_su if given_uniques else None,
        }
        n_people = int(people.sum())
        variant = "population known"
    own = None if isinstance(method, Estimate) else Fraction(key_table.n_records, int(n_people))
    measures["dis"] = general_dis(key_table, own if key_table.fraction is None else None).dis
    provenance = keyed_provenance(
        "matching strategies",
        variant,
        key_table,
        {
            "population": f"{n_people:.6g}",
            "strategies": ", ".join(strategy.name for strategy in chosen),
        },
        seconds=time.perf_counter() - started,
    )
    lines = file_lines(measures, estimated=isinstance(method, Estimate))
    return MatchingRisk(
        key_table.n_records,
        n_people,
        key_table.n_uniques,
        isinstance(method, Estimate),
        values,
        find_dominance(values),
        FileRisk(lines, tuple(line.name for line in lines), provenance),
        provenance,
    )


def _chosen(
    strategies: Sequence[int], r: Sequence[int], predicates: Mapping[str, Predicate]
) -> tuple[Strategy, ...]:
    unknown = [str(number) for number in strategies if number not in NUMBERS]
    if unknown or not (strategies or predicates):
        raise InputError(
            Reason.UNKNOWN_NAME if unknown else Reason.NOTHING_GIVEN,
            "Matching strategies were asked for.",
            f"Not known: {quoted(unknown)}." if unknown else "None was named.",
            "There are strategies 1 to 7, and your own by predicates.",
        )
    numbered = numbered_strategies(r)
    kept = tuple(strategy for strategy in numbered if strategy.number in strategies)
    return (*kept, *custom_strategies(predicates))


def _method(
    key_table: KeyTable,
    population: object,
    population_size: int | None,
    estimate: str | None,
) -> Estimate | None:
    """Return how the population is estimated, or None where it is known; all faults at once."""
    if (
        population is not None
        and not isinstance(population, KeyTable)
        and np.asarray(population).ndim != 1
    ):
        raise InputError(
            Reason.BAD_OPTION,
            "A sample was to be matched with its population.",
            "The population is neither counted by its keys nor a list with the people of each class.",
            "Count it as the sample was: population=gk.count_keys(gk.code_frame(frame), keys); for a"
            " file, gk.code_source(gk.open_source(path)).",
        )
    problems: list[Problem] = []
    if population_size is not None and population_size < key_table.n_records:
        found = f"{population_size:,} is less than the {count_of(key_table.n_records, 'record')}."
        problems.append(Problem(Reason.BAD_OPTION, "population_size", found))
    if population is not None and estimate is not None:
        found = "given together with a population."
        problems.append(Problem(Reason.BAD_OPTION, "estimate", found, "Give one of them."))
    if population is not None and not isinstance(population, KeyTable) and population_size is None:
        found = "needed with the people of the sampled classes."
        problems.append(Problem(Reason.NOTHING_GIVEN, "population_size", found))
    known = {Estimate.WEIGHTS: bool(key_table.weight), Estimate.FRACTION: bool(key_table.fraction)}
    method = None
    if population is None:
        if estimate is not None and estimate not in known:
            found = f"{quoted([str(estimate)])} is not known."
            problems.append(
                Problem(Reason.BAD_OPTION, "estimate", found, f"There are: {quoted(Estimate)}.")
            )
        else:
            wanted = [Estimate(estimate)] if estimate else list(Estimate)
            method = next((item for item in wanted if known[item]), None)
            if method is None:
                found = f"the key table has no {' and no '.join(wanted)}."
                do = (
                    "Give the population (--population), or count the keys with a weight (--weight) or"
                    " a fraction (--fraction)."
                )
                problems.append(Problem(Reason.NOTHING_GIVEN, "population", found, do))
    refuse(problems, "A sample was to be matched with its population.")
    return method


def _known(
    key_table: KeyTable,
    population: KeyTable | Sequence[int] | NDArray[Any] | None,
    population_size: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the counts f and F of every class; all people without a sampled class are one."""
    if isinstance(population, KeyTable):
        matched = match_classes(key_table, population)
        if population_size is not None and population_size != matched.population.sum():
            raise InputError(
                Reason.BAD_OPTION,
                f"A population of {population_size:,} was named.",
                f"The population that was given has {int(matched.population.sum()):,} people.",
                "Leave population_size out.",
            )
        return matched.sample, matched.population
    f = key_table.of_classes("n")
    people = np.asarray(population)
    if people.shape != f.shape or people.dtype.kind not in "iu":
        raise InputError(
            Reason.BAD_OPTION,
            "The number of people in each class was given.",
            f"There are {people.size:,} values of type {people.dtype} for {len(f):,} classes.",
            "Give one whole number per class, in the order of classes().",
        )
    people = people.astype(np.int64)
    check_contained(f, people)
    others = (population_size or 0) - int(people.sum())
    if others < 0:
        raise InputError(
            Reason.BAD_OPTION,
            f"A population of {population_size:,} was named.",
            f"The sampled classes alone have {int(people.sum()):,} people.",
            "Give the number of all people.",
        )
    if others:
        f, people = np.append(f, 0), np.append(people, others)
    return f, people


def _estimated(
    key_table: KeyTable, method: Estimate, population_size: int | None
) -> EstimatedCells:
    f = key_table.of_classes("n")
    if method is Estimate.WEIGHTS:
        weights = key_table.of_classes("weight")
    else:
        weights = key_table.class_people()
    # The population holds at least the sample.
    weights = np.maximum(weights, f)
    size = float(weights.sum()) if population_size is None else float(population_size)
    return EstimatedCells.of(f, f / weights, size)


def _estimated_measures(cells: EstimatedCells) -> Measures:
    unique = cells.sample == 1
    n_uniques = int(unique.sum())
    if not n_uniques:
        return dict.fromkeys(("pr_pu", "pr_pu_given_su", "pr_cm_given_um", "pr_cm_given_su"))
    both = estimate_strategies(
        cells, [Strategy("", direction, _is_unique) for direction in Direction]
    )
    by_direction = {value.direction: value.pr_cm for value in both}
    return {
        # A population unique is in the sample with probability p; each found stands for 1/p.
        "pr_pu": float((cells.pr_unique[unique] * cells.expected[unique]).sum()) / cells.size,
        "pr_pu_given_su": float(cells.pr_unique[unique].mean()),
        "pr_cm_given_um": by_direction[Direction.P2S],
        "pr_cm_given_su": by_direction[Direction.S2P],
    }


def _is_unique(sample: NDArray[Any], people: NDArray[Any]) -> NDArray[np.bool_]:
    del people
    return sample == 1
