"""An intruder who matches sample and population: chances, costs, and which strategy is better.

With the population known, the strategies of algorithms/uniques/strategies.py are evaluated exactly.
Else what models infer of F, the number of people with a key (attack/models/inference.py), takes the
place of counts, and the terms of the strategies are replaced by their expectations:

    s2p: Pr(cm) = sum f E[1/F] / sum f    cost (N+1) sum f E[1/(1+F)] / sum f   or N Pr(cm)
    p2s: Pr(cm) = k / sum E[F]            cost (N+1) / (1 + sum E[F])           or N / sum E[F]

Class counts grossed up by the sampling fraction would not do: they take most sample uniques for
larger classes than they are. Where models have too little to learn from, nothing is known. Smith's
thesis, chapter 5, corrected. Linear in classes.

Of keys that models rank first, the thesis (chapter 7) attacks the ten with the highest probability
of a match; or, to match the cost of a search for any sample unique, keys in order of their expected
population size until so many people are expected (MCMCMC2), or in truth (MCMCMC1), to have them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.uniques.dis import choose_cells
from gamekeeper.algorithms.uniques.strategies import (
    Direction,
    Predicate,
    Strategy,
    StrategyValue,
    chosen_by,
    custom_strategies,
    evaluate_strategies,
    find_dominance,
    matching_probabilities,
    numbered_strategies,
    value_of,
)
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.attack.matching_result import MatchingRisk, dis_line, known_lines, modelled_lines
from gamekeeper.attack.models.fitting import fit_models, why_no_models
from gamekeeper.attack.models.inference import ModelRisk, infer_risk, require_same_keys
from gamekeeper.attack.options import NUMBERS, MatchingOptions
from gamekeeper.attack.risk import FileRisk, RiskLine, keyed_provenance
from gamekeeper.attack.uniques.dis import general_dis
from gamekeeper.data.coding.coded_table import aligned
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable, missing_reservations
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import takes
from gamekeeper.prompt_syntax import Missing
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, number_text, quoted, three_digits

_WORDS = {
    "top": "The {top} keys with the highest probability of a match",
    "mcmcmc1": "Keys by expected size, at the true cost of a search for any unique (MCMCMC1)",
    "mcmcmc2": "Keys by expected size, at the expected cost of that search (MCMCMC2)",
}


@dataclass(frozen=True, repr=False, eq=False)
class EstimatedCells:
    """The sampled classes with E[F], E[1/F] and E[1/(1+F)]; `size` is the population N."""

    sample: NDArray[np.int64]
    expected: NDArray[np.float64]
    reciprocal: NDArray[np.float64]
    reciprocal_of_next: NDArray[np.float64]
    size: float

    @classmethod
    def of(cls, risk: ModelRisk) -> EstimatedCells:
        """Make the classes of a sample with what its models infer."""
        found = risk.estimate
        return cls(
            risk.table.records,
            found.expected_size,
            found.p_match,
            found.p_next,
            risk.fit.n_records / float(risk.fraction),
        )


def estimate_strategies(
    cells: EstimatedCells, strategies: Sequence[Strategy]
) -> tuple[StrategyValue, ...]:
    """Return what each strategy is expected to achieve."""
    return tuple(_estimate(cells, strategy) for strategy in strategies)


def unknown_strategies(strategies: Sequence[Strategy]) -> tuple[StrategyValue, ...]:
    """Return strategies of which nothing is known."""
    nan = float("nan")
    return tuple(
        StrategyValue(strategy, False, 0, 0, nan, nan, nan, nan, nan) for strategy in strategies
    )


def _estimate(cells: EstimatedCells, strategy: Strategy) -> StrategyValue:
    used = chosen_by(strategy, cells.sample, cells.expected, "class", "classes")
    n_used = int(used.sum())
    if not n_used:
        return StrategyValue(strategy, False, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
    size, f = cells.size, cells.sample[used]
    if strategy.direction is Direction.P2S:
        # Classes are estimated one by one, and together could have more people than there are.
        # Strategy 2 takes anybody, also people whose class has no record in the sample.
        people = size if strategy.number == 2 else min(float(cells.expected[used].sum()), size)
        pr_cm = n_used / people
        cost_without, cost_with = (size + 1) / (1 + people), size / people
    else:
        n_records = int(f.sum())
        pr_cm = float((f * cells.reciprocal[used]).sum()) / n_records
        cost_without = (size + 1) * float((f * cells.reciprocal_of_next[used]).sum()) / n_records
        cost_with = size * pr_cm
    return value_of(strategy, n_used, n_used, pr_cm, cost_without, cost_with)


@dataclass(frozen=True, repr=False, eq=False)
class MatchedClasses:
    """Every class that the population has, with its counts f (`sample`) and F (`population`).

    - `of_key`: the number of the class of each key of the sample, in the order of its `classes()`.
    - `keys`: the counted keys of the sample, coded as the population is.
    - `listed`: the records of the sample as rows, coded as they were given.
    """

    sample: NDArray[np.int64]
    population: NDArray[np.int64]
    of_key: NDArray[np.int64]
    keys: KeyTable
    listed: ListedRecords

    @cached_property
    def of_record(self) -> NDArray[np.int64]:
        """The number of the class of each listed record of the sample."""
        if not self.listed.by_key:
            rows = self.keys.class_numbers()
            return self.of_key[rows[rows >= 0]]
        known, asked = class_numbers(_class_counts(self.keys)[0], self._codes())
        place = np.zeros(len(known), dtype=np.int64)
        place[known] = self.of_key
        return place[asked]

    def _codes(self) -> NDArray[np.int64]:
        given = self.listed.table
        codes = self.listed.codes().astype(np.int64)
        for place, name in enumerate(given.keys):
            new = {
                word: code for code, word in enumerate(self.keys.coded.codebook[name].words[1:], 1)
            }
            own = [0, *(new[word] for word in given.coded.codebook[name].words[1:])]
            codes[:, place] = np.array(own)[codes[:, place]]
        return codes

    def __repr__(self) -> str:
        return f"MatchedClasses({len(self.sample):,} classes)"


def match_classes(key_table: KeyTable, population: KeyTable) -> MatchedClasses:
    """Return the classes of a sample and its population, by the words of their categories.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = coded_from_codes([[1], [1], [2]], ["sex"], [("missing", "m", "w")])
    >>> sample = coded_from_codes([[1]], ["sex"], [("missing", "w")])
    >>> found = match_classes(count_keys(sample, ["sex"]), count_keys(people, ["sex"]))
    >>> found.sample.tolist(), found.population.tolist()
    ([0, 1], [2, 1])
    """
    check_policy(key_table)
    problems: list[Problem] = []
    for one, other, where in (
        (key_table.keys, population.keys, "only in the sample"),
        (population.keys, key_table.keys, "only in the population"),
    ):
        lacking = [name for name in one if name not in other]
        if lacking:
            problems.append(Problem(Reason.UNKNOWN_NAME, f"key variables {where}", quoted(lacking)))
    if key_table.missing != population.missing:
        found = f"'{key_table.missing}' in the sample, '{population.missing}' in the population."
        problems.append(Problem(Reason.BAD_OPTION, "missing cells", found))
    refuse(
        problems,
        "A sample was to be matched with its population.",
        "They are not counted alike:",
        "Count both with the same key variables and the same treatment of missing cells.",
    )
    tables = aligned(key_table.coded, population.coded, list(key_table.keys))
    counted = [
        given
        if coded is given.coded and given.keys == key_table.keys
        else count_keys(coded, key_table.keys, missing=key_table.missing)
        for coded, given in zip(tables, (key_table, population), strict=True)
    ]
    (sample_codes, f), (people_codes, people) = (_class_counts(table) for table in counted)
    of_sample, of_people = class_numbers(sample_codes, people_codes)
    n_classes = max(int(of_sample.max(initial=-1)), int(of_people.max(initial=-1))) + 1
    by_sample, by_people = (np.zeros(n_classes, np.int64) for _ in range(2))
    by_sample[of_sample] = f
    by_people[of_people] = people
    check_contained(by_sample, by_people)
    return MatchedClasses(by_sample, by_people, of_sample, counted[0], key_table.listed)


def check_contained(sample: NDArray[np.int64], population: NDArray[np.int64]) -> None:
    """Refuse a sample that has more records of a class than the population has people."""
    outside = np.maximum(sample - population, 0)
    if outside.any():
        n_classes = int(np.count_nonzero(outside))
        n_absent = int(np.count_nonzero(population[sample > 0] == 0))
        raise InputError(
            Reason.BAD_OPTION,
            "A sample was to be matched with its population.",
            f"{count_of(n_classes, 'class', 'classes')} of the sample "
            f"{'has' if n_classes == 1 else 'have'} more records than people in the population, "
            f"{count_of(int(outside.sum()), 'record')} too many in all; {n_absent:,} of these "
            "classes have nobody there.",
            "Give the population that the sample was drawn from, coded alike.",
        )


def _class_counts(table: KeyTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found = table.classes()
    n_keys = len(table.keys)
    columns = [found.column(place).to_numpy() for place in range(n_keys)]
    return np.column_stack(columns), found.column(n_keys).to_numpy()


def check_policy(key_table: KeyTable) -> None:
    """Refuse a treatment of missing cells that does not divide the records into classes."""
    if key_table.missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        raise InputError(
            Reason.BAD_OPTION,
            "A sample was to be matched with its population.",
            f"With missing cells read as '{key_table.missing}', records do not fall into classes.",
            "Count the keys with missing as 'category' or 'exclude' (--missing).",
        )


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


@dataclass(frozen=True, repr=False, eq=False)
class RankedAttack(Result):
    """What attacks on the keys that rank first achieve, with the population known."""

    tells_of_records = False

    values: tuple[StrategyValue, ...]
    n_people: int
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        best = max(self.values, key=lambda value: value.pr_cm)
        return {
            "attacks": len(self.values),
            "people": self.n_people,
            "best": best.strategy.words,
            "pr_cm": float(best.pr_cm),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per attack and direction."""
        parts = ("pr_cm", "cost_with", "cost_without")
        columns = {"attack": "string", "direction": "string", "keys": "int64"}
        rows = [
            (
                value.strategy.words,
                value.direction.words,
                value.n_cells,
                *(float(getattr(value, part)) for part in parts),
            )
            for value in self.values
        ]
        return arrow_table({**columns, **dict.fromkeys(parts, "float64")}, rows)

    def sentences(self) -> list[str]:
        """Return what each attack achieves, in words."""
        return [
            f"{value.strategy.words}, {value.direction.words}, {count_of(value.n_cells, 'key')}:"
            f" right with probability {three_digits(value.pr_cm)}, after a search of"
            f" {number_text(round(float(value.cost_with), 1))} people."
            if value.feasible
            else f"{value.strategy.words}, {value.direction.words}: no key can be attacked."
            for value in self.values
        ]


def rank_attacks(
    risk: ModelRisk, key_table: KeyTable, population: KeyTable, *, top: int = 10
) -> RankedAttack:
    """Evaluate attacks on the keys that models rank first, against the known population.

    The key table is the one that the risk was inferred for; the population has the keys of everybody,
    counted alike. The first attack takes the `top` keys.

    Examples
    --------
    >>> from gamekeeper.attack.models.fitting import fit_models
    >>> from gamekeeper.attack.models.inference import infer_risk
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = [[1, 1]] * 9 + [[1, 2], [2, 2], [2, 2]] + [[2, 1]]
    >>> everybody = count_keys(coded_from_codes(people, ["age", "job"]), ["age", "job"])
    >>> keys = count_keys(coded_from_codes(people[::2], ["age", "job"]), ["age", "job"])
    >>> risk = infer_risk(keys, fit_models(keys, method="annealing"), fraction="1/2")
    >>> len(rank_attacks(risk, keys, everybody, top=1).values)
    6
    """
    started = time.perf_counter()
    if top < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"An attack on the {top} first keys was asked for.",
            "That is less than one.",
            "Give a positive whole number.",
        )
    require_same_keys(key_table, risk.fit)
    matched = match_classes(key_table, population)
    f, people = matched.sample, matched.population
    chosen = _ranked_first(risk, matched, top)
    values: list[StrategyValue] = []
    for name, cells in chosen.items():
        taking = custom_strategies({name: lambda f, people, cells=cells: cells})
        found = evaluate_strategies(people, f, taking, exact=False)
        values += sorted(found, key=lambda value: value.direction is Direction.S2P)
    provenance = replace(
        risk.provenance,
        method="ranked attacks",
        parameters={**risk.provenance.parameters, "top": str(top)},
        seconds=time.perf_counter() - started,
    )
    return RankedAttack(tuple(values), int(people.sum()), provenance)


def _ranked_first(
    risk: ModelRisk, matched: MatchedClasses, top: int
) -> Mapping[str, NDArray[np.bool_]]:
    n_classes = len(matched.sample)
    table = risk.records.table
    counted = table["class_size"].is_valid().to_numpy(zero_copy_only=False)
    chance, expected = np.zeros(n_classes), np.full(n_classes, np.inf)
    for name, into in (("p_match", chance), ("expected_size", expected)):
        into[matched.of_record] = table[name].to_numpy(zero_copy_only=False)[counted]
    cells = choose_cells(chance, expected, matched.sample, matched.population, top=top)
    return {_WORDS[way].format(top=top): taken for way, taken in cells.items()}
