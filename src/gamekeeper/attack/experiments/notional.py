"""The notional population of experiments, a coded file that is everybody; its samples, tasks on them.

Of the population there are only integers: the codes of the key variables, the number of each
record's class, the size of each class and, where samples are stratified, the number of each
record's stratum. A worker gets it once and does all its tasks on it. Class sizes of a sample are
counts of the population's class numbers, so that no codes are compared again.

Records are drawn without replacement. A stratified sample has proportional allocation: the records
are put in the order of their strata, at random within a stratum, and every (N/n)-th one is taken
from a random start. A stratum of N_h records gives N_h n/N of them, rounded up or down, and every
record of the population has the same chance n/N. Strata may be as small as households, where most
give none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import Kernel, MapBlocks, Shared
from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.uniques.dis import choose_cells, dis
from gamekeeper.algorithms.uniques.scores import ScoreKind, dis_is, dis_suda, size_weights, weigh
from gamekeeper.algorithms.uniques.strategies import (
    Direction,
    Strategy,
    StrategyValue,
    evaluate_strategies,
)
from gamekeeper.data.keys.counting import MAX_KEYS, all_missing_problems
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.prompt_syntax import MAX_SECONDS, Missing
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
    from gamekeeper.data.coding.coded_table import CodedTable

Plan = TypeVar("Plan")
Task = TypeVar("Task")
Found = TypeVar("Found")


@dataclass(frozen=True, repr=False, eq=False)
class NotionalPopulation:
    """Everybody, as integers: codes, classes, the size F of each class, and strata if any."""

    codes: NDArray[np.unsignedinteger]
    classes: NDArray[np.int64]
    sizes: NDArray[np.int64]
    strata: NDArray[np.int32] | None = None

    @property
    def n_records(self) -> int:
        """The number N of records."""
        return len(self.classes)

    @property
    def n_uniques(self) -> int:
        """The number of records whose class has no other."""
        return int(np.count_nonzero(self.sizes == 1))

    def fingerprint(self) -> str:
        """Return the first digits of a hash of all codes and strata."""
        digest = sha256(repr((self.codes.shape, self.codes.dtype.str)).encode())
        digest.update(self.codes.tobytes())
        if self.strata is not None:
            digest.update(self.strata.tobytes())
        return digest.hexdigest()[:16]

    def __repr__(self) -> str:
        return f"NotionalPopulation({self.n_records:,} records, {len(self.sizes):,} classes)"


def open_population(
    coded: CodedTable,
    keys: Sequence[str],
    *,
    missing: Missing = Missing.CATEGORY,
    stratify_by: Sequence[str] = (),
) -> NotionalPopulation:
    """Return a coded file as a notional population.

    Missing cells are `category` or `exclude`: other treatments do not divide records into classes.
    Variables that make strata come with the outermost first, such as region and household.
    """
    _check(coded, keys, missing, stratify_by)
    codes = coded.matrix(list(keys))
    strata = coded.matrix(list(stratify_by)) if stratify_by else None
    if missing == Missing.EXCLUDE:
        kept = (codes != 0).all(axis=1)
        codes = codes[kept]
        strata = None if strata is None else strata[kept]
    if not len(codes):
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Samples were to be drawn from a notional population.",
            "It has no records, or none without a missing cell in the key variables.",
            "Give a file with records, or count missing cells as a category (--missing category).",
        )
    (classes,) = class_numbers(codes)
    numbered = None if strata is None else class_numbers(strata)[0].astype(np.int32)
    return NotionalPopulation(codes, classes, np.bincount(classes), numbered)


def _check(
    coded: CodedTable, keys: Sequence[str], missing: Missing, stratify_by: Sequence[str]
) -> None:
    problems: list[Problem] = []
    if not keys:
        problems.append(
            Problem(Reason.NOTHING_GIVEN, "key variables", "none is given.", "Name at least one.")
        )
    for kind, names in (("key variable", keys), ("stratum variable", stratify_by)):
        for name in dict.fromkeys(names):
            where = f"{kind} {quoted([name])}"
            if name not in coded.codebook.names:
                hint = did_you_mean(name, coded.codebook.names)
                problems.append(Problem(Reason.UNKNOWN_NAME, where, "not in the file.", hint))
            elif list(names).count(name) > 1:
                times = count_of(list(names).count(name), "time")
                problems.append(Problem(Reason.DUPLICATE, where, f"given {times}."))
    if len(keys) > MAX_KEYS:
        found = f"{len(keys):,} are given, and at most {MAX_KEYS} can be compared."
        problems.append(Problem(Reason.TOO_LARGE, "key variables", found, "Leave some out."))
    problems += all_missing_problems(coded, keys)
    if missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        found = f"'{missing}' does not divide records into classes."
        do = "Use 'category' or 'exclude' (--missing)."
        problems.append(Problem(Reason.BAD_OPTION, "missing cells", found, do))
    refuse(problems, "Samples were to be drawn from a notional population.")


def sample_size(n_records: int, fraction: Fraction) -> int:
    """Return the number of records in a sample: the nearest whole number, halves upwards.

    Examples
    --------
    >>> sample_size(10_000, Fraction(3, 100)), sample_size(10, Fraction(1, 4))
    (300, 3)
    """
    return math.floor(n_records * fraction + Fraction(1, 2))


def draw_records(
    n_records: int,
    n_drawn: int,
    generator: np.random.Generator,
    strata: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return the positions of the records of one sample, in ascending order.

    0 < n_drawn <= n_records; the sample depends on nothing but the generator. Strata are one number
    per record; neighbouring numbers share what rounding leaves over.

    Examples
    --------
    >>> halves = np.repeat(np.array([0, 1], np.int32), 10)
    >>> drawn = draw_records(20, 4, np.random.default_rng(1), halves)
    >>> np.bincount(halves[drawn]).tolist()
    [2, 2]
    """
    if strata is None:
        drawn = generator.choice(n_records, n_drawn, replace=False, shuffle=False)
    else:
        order = np.lexsort((generator.random(n_records), strata))
        # Whole numbers: with floats the last record could be taken twice or not at all.
        start = int(generator.integers(n_records))
        drawn = order[(np.arange(n_drawn, dtype=np.int64) * n_records + start) // n_drawn]
    return np.sort(drawn).astype(np.int64, copy=False)


class Score(StrEnum):
    """The scores of sample uniques whose relation to 1/F can be measured."""

    SUDA = "suda"
    IS = "is"
    DIS_SUDA = "dis_suda"
    DIS_IS = "dis_is"


TOP = 10
"""How many keys or sample uniques that rank first are attacked."""
PROBABILITIES = (Score.DIS_SUDA, Score.DIS_IS)
"""The scores that estimate a probability."""


@dataclass(repr=False, eq=False)
class Sample:
    """The records at some places of the population, with what is known of them and of it."""

    population: NotionalPopulation
    records: NDArray[np.int64]
    max_size: int | None = None
    max_seconds: float | None = MAX_SECONDS
    power: int = 6

    @property
    def fraction(self) -> Fraction:
        """The sampling fraction that was reached, n/N."""
        return Fraction(len(self.records), self.population.n_records)

    @cached_property
    def class_counts(self) -> NDArray[np.int64]:
        """The sample count f of every class of the population, 0 where none was drawn."""
        drawn = self.population.classes[self.records]
        return np.bincount(drawn, minlength=len(self.population.sizes))

    @cached_property
    def codes(self) -> NDArray[np.unsignedinteger]:
        """The codes of the key variables of the sampled records."""
        return self.population.codes[self.records]

    @cached_property
    def sample_sizes(self) -> NDArray[np.int64]:
        """The sample class size f of every sampled record."""
        return self.class_counts[self.population.classes[self.records]]

    @cached_property
    def population_sizes(self) -> NDArray[np.int64]:
        """The population class size F of every sampled record."""
        return self.population.sizes[self.population.classes[self.records]]

    @property
    def n_uniques(self) -> int:
        """The number of sample uniques."""
        return int(np.count_nonzero(self.class_counts == 1))

    @property
    def n_paired(self) -> int:
        """The number of records in classes of two."""
        return 2 * int(np.count_nonzero(self.class_counts == 2))

    @cached_property
    def dis(self) -> Fraction | None:
        """The DIS of the sample by the general method; None where it is not defined."""
        return dis(self.n_uniques, self.n_paired, self.fraction)

    @cached_property
    def minimal_uniques(self) -> MinimalUniques:
        """Numbers of minimal sample uniques by record and size."""
        from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques

        return find_minimal_uniques(
            self.codes,
            max_size=self.max_size,
            listing=False,
            workers=1,
            max_seconds=self.max_seconds,
        )

    def score(self, score: Score) -> NDArray[np.float64]:
        """Return a score of the sample uniques, in the order of `minimal_uniques.records`."""
        return scores_of(self.minimal_uniques, score, self.dis, power=self.power)

    def ranked_classes(
        self,
        classes: NDArray[np.int64],
        p_match: NDArray[np.float64],
        expected_size: NDArray[np.float64],
    ) -> dict[str, NDArray[np.bool_]]:
        """Return the classes of the population that attacks on those that rank first take.

        Of some sampled classes, by number, the chance of a match and the expected size are given.
        """
        chance = np.zeros(len(self.population.sizes))
        expected = np.full(len(chance), np.inf)
        chance[classes], expected[classes] = p_match, expected_size
        return choose_cells(chance, expected, self.class_counts, self.population.sizes, top=TOP)

    def attacked(self, classes: NDArray[np.bool_], direction: Direction) -> StrategyValue:
        """Return what an attack on some classes of the population achieves."""
        strategy = Strategy("attack", direction, lambda f, people: classes)
        (value,) = evaluate_strategies(
            self.population.sizes, self.class_counts, [strategy], exact=False
        )
        return value


def scores_of(
    found: MinimalUniques, score: Score, share: Fraction | float | None, *, power: int = 6
) -> NDArray[np.float64]:
    """Return a score of the sample uniques; `share` is the DIS of the sample."""
    kind = ScoreKind.SUDA if score in (Score.SUDA, Score.DIS_SUDA) else ScoreKind.IS
    weights = size_weights(found.n_variables, kind, power=power, max_size=found.max_size)
    sums = weigh(found.counts, weights)
    if score is Score.DIS_SUDA:
        return dis_suda(sums, share).values
    if score is Score.DIS_IS:
        return dis_is(sums, share, found.n_variables)
    return sums.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Failure:
    """A measure of one's own that could not be taken: which, what kind of error, what to do."""

    measure: str
    kind: str
    do: str


def run_tasks(
    population: NotionalPopulation,
    plan: Plan,
    tasks: Sequence[Task],
    work: Callable[[NotionalPopulation, Plan, Task], Found | Failure],
    *,
    blocks: MapBlocks | None,
    finish: Callable[[Task, Found], None],
    prepare: Callable[[NotionalPopulation, Plan], None] | None = None,
) -> None:
    """Do tasks, here or by blocks, and hand over what each found, in their order.

    `work` and `prepare`, done once by every worker, stand at the top of a module.
    """
    if blocks is None or len(tasks) < 2:
        if prepare is not None and tasks:
            prepare(population, plan)
        made = (work(population, plan, task) for task in tasks)
    else:
        kernel = Kernel(partial(_prepared, plan, work, prepare), _do)
        made = blocks(kernel, arrays_of(population), tasks)
    with closing(made) as outcomes:
        for task, outcome in zip(tasks, outcomes, strict=True):
            if isinstance(outcome, Failure):
                raise InputError(
                    Reason.BAD_OPTION,
                    f"The measure {quoted([outcome.measure])} was to be taken of a sample.",
                    f"It ended with an error of the kind {outcome.kind}.",
                    outcome.do,
                )
            finish(task, outcome)


def arrays_of(population: NotionalPopulation) -> Shared:
    """Return the arrays of a population by name, those that it has."""
    arrays = {item.name: getattr(population, item.name) for item in fields(population)}
    return {name: array for name, array in arrays.items() if array is not None}


def _prepared(
    plan: Any,
    work: Callable[[NotionalPopulation, Any, Any], Any],
    prepare: Callable[[NotionalPopulation, Any], None] | None,
    shared: Shared,
) -> Callable[[Any], Any]:
    population = NotionalPopulation(**shared)
    if prepare is not None:
        prepare(population, plan)
    return partial(work, population, plan)


def _do(work: Callable[[Any], Any], task: Any) -> Any:
    return work(task)
