"""An intruder who matches sample and population: chances, costs, and which strategy is better.

With the population known, the strategies of algorithms/intrusion/strategies.py are evaluated
exactly; otherwise as models of the sample expect it (estimates.py), and where these have too little to
learn from, nothing is known. Smith's thesis, chapter 5, corrected. Linear in classes.
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
    Predicate,
    Strategy,
    custom_strategies,
    evaluate_strategies,
    matching_probabilities,
    numbered_strategies,
)
from gamekeeper.attack.matching.estimates import (
    EstimatedCells,
    estimate_strategies,
    unknown_strategies,
)
from gamekeeper.attack.matching.options import NUMBERS, MatchingOptions
from gamekeeper.attack.matching.population import check_contained, check_policy, match_classes
from gamekeeper.attack.matching.result import (
    MatchingRisk,
    dis_line,
    known_lines,
    modelled_lines,
)
from gamekeeper.attack.missing_cells import missing_reservations
from gamekeeper.attack.models.fitting import fit_models, why_no_models
from gamekeeper.attack.models.inference import ModelRisk, infer_risk, require_same_keys
from gamekeeper.attack.risk import FileRisk, RiskLine, keyed_provenance
from gamekeeper.attack.uniques.dis import general_dis
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import takes
from gamekeeper.wording import count_of, quoted


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
    _require_possible(key_table, population, population_size)
    chosen = _chosen(asked.strategies, asked.r, asked.predicates or {})
    # A file with everybody in it is its own population.
    is_known = population is not None or key_table.fraction == 1
    why = "" if is_known else why_no_models(key_table)
    models = None if is_known or why else asked.models or _models(key_table, asked)
    lines: tuple[RiskLine, ...] = ()
    values = unknown_strategies(chosen)
    n_people: int | float
    if is_known:
        f, people = _known(key_table, population, population_size)
        values = evaluate_strategies(people, f, chosen, exact=asked.exact)
        found = matching_probabilities(people, f, exact=asked.exact)
        whole = isinstance(population, KeyTable | None)
        lines = known_lines(found, whole=whole, has_uniques=bool((f == 1).any()))
        n_people = int(people.sum())
        variant = "population known"
    else:
        n_people = key_table.n_records / float(key_table.fraction or 1)
        variant = "not known"
        if models is not None:
            require_same_keys(key_table, models.fit)
            cells = EstimatedCells.of(models)
            values, n_people = estimate_strategies(cells, chosen), cells.size
            lines = modelled_lines(models)
            variant = f"as models expect it; {models.provenance.variant}"
    own = Fraction(key_table.n_records, int(n_people)) if key_table.fraction is None else None
    lines = (*lines, dis_line(general_dis(key_table, own).dis))
    provenance = keyed_provenance(
        "matching strategies",
        variant,
        key_table,
        {
            "population": f"{n_people:.6g}",
            "strategies": ", ".join(strategy.name for strategy in chosen),
        },
        seed=None if models is None else models.provenance.seed,
        seconds=time.perf_counter() - started,
    )
    return MatchingRisk(
        key_table.n_records,
        n_people,
        key_table.n_uniques,
        not is_known,
        values,
        () if why else find_dominance(values),
        FileRisk(lines, tuple(line.name for line in lines), provenance),
        provenance,
        why,
        missing_reservations(key_table) if models is None else models.reservations,
    )


def _models(key_table: KeyTable, asked: MatchingOptions) -> ModelRisk:
    fit = fit_models(
        key_table, method=asked.method, patient=asked.patient, seed=asked.seed, workers=asked.workers,
        progress=asked.progress,
    )  # fmt: skip
    return infer_risk(key_table, fit, seed=asked.seed)


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


def _require_possible(key_table: KeyTable, population: object, population_size: int | None) -> None:
    """Refuse a population that cannot be used, or that nothing is known of; all faults at once."""
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
    is_list = population is not None and not isinstance(population, KeyTable)
    if is_list and population_size is None:
        found = "needed with the people of the sampled classes."
        problems.append(Problem(Reason.NOTHING_GIVEN, "population_size", found))
    if population is None and population_size is not None:
        found = "given without the people of the sampled classes."
        do = "Count the keys with a fraction, or give the population."
        problems.append(Problem(Reason.BAD_OPTION, "population_size", found, do))
    if population is None and key_table.fraction is None:
        found = "it is not given, and the key table has no weights and no fraction."
        do = (
            "Give the population (--population), or count the keys with a weight (--weight) or"
            " a fraction (--fraction)."
        )
        problems.append(Problem(Reason.NOTHING_GIVEN, "population", found, do))
    refuse(problems, "A sample was to be matched with its population.")


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
    if population is None:
        return f, f
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
