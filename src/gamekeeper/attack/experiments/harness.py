"""The harness of experiments: a known population, samples drawn from it, work on each, what is kept.

A coded file stands for everybody. Of it there are only integers: the codes of the key variables,
the number of each record's class, the size of each class and, where samples are stratified, the
number of each record's stratum. A worker gets it once and does all its tasks on it. Class sizes of
a sample are counts of the population's class numbers, so that no codes are compared again.

Records are drawn without replacement. A stratified sample has proportional allocation: the records
are put in the order of their strata, at random within a stratum, and every (N/n)-th one is taken
from a random start. A stratum of N_h records gives N_h n/N of them, rounded up or down, and every
record of the population has the same chance n/N. Strata may be as small as households, where most
give none.

A sample depends on the population, the seed and its own number only, whoever draws it, so that the
outcome is the same for any number of workers and after any interruption, and experiments with the
same seed share their samples.

In a folder, an experiment can be resumed: `plan.json` says what is done and on which data;
`sample-000001.json` and so on hold the numbers of one finished sample each, and a file of arrays
beside it what is known of its sample uniques, without the records they belong to. Files are written
beside and renamed, arrays first, so that a sample is either whole or absent.
"""

from __future__ import annotations

import json
import math
import time
import zipfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import Kernel, MapBlocks, Shared
from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.uniques import strategies
from gamekeeper.algorithms.uniques.dis import choose_cells, dis
from gamekeeper.budget import require_memory
from gamekeeper.data.keys.counting import MAX_KEYS, all_missing_problems
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files import fault_of_folder, make_folders, refusal, require_ordinary, write_file
from gamekeeper.prompt_syntax import MAX_SECONDS, FractionLike, Missing, parse_fraction
from gamekeeper.results import Progress, package_version
from gamekeeper.wording import count_of, did_you_mean, fraction_text, quoted

if TYPE_CHECKING:
    from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
    from gamekeeper.data.coding.coded_table import CodedTable

Made = TypeVar("Made")
Found = TypeVar("Found")
Values = Mapping[str, float | None]
"""Named numbers of a sample; None where one is not defined."""
Arrays = Mapping[str, NDArray[Any]]
TOP = 10
"""How many keys or sample uniques that rank first are attacked."""
# A task, what waits for it and the dictionary of what it finds; a number by its name.
_SAMPLE_BYTES, _NUMBER_BYTES = 2_000, 100


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


@dataclass(repr=False, eq=False)
class SampleData:
    """A sample as an intruder sees it.

    - `codes`: one row per record, one column per key variable; 0 is a missing cell.
    - `levels`: how many categories each key variable has in the population's codebook, with the
      missing cell as one more where it occurs.
    - `uniques`: the rows of the sample uniques, ascending: the order of every measure's answer.
    - `max_size`, `max_seconds`: for measures that search combinations of variables: how many
      variables one has at most, and how long that may be expected to take; None for no limit.
    """

    codes: NDArray[np.unsignedinteger]
    levels: tuple[int, ...]
    fraction: Fraction
    class_sizes: NDArray[np.int64]
    seed: int
    max_size: int | None = field(default=None, kw_only=True)
    max_seconds: float | None = field(default=MAX_SECONDS, kw_only=True)
    _made: dict[str, tuple[Any, float]] = field(default_factory=dict[str, Any], init=False)
    _charged: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.uniques = np.flatnonzero(self.class_sizes == 1)

    @property
    def n_paired(self) -> int:
        """The number of records in classes of two."""
        return int(np.count_nonzero(self.class_sizes == 2))

    @cached_property
    def dis(self) -> Fraction | None:
        """The DIS of the sample by the general method; None where it is not defined."""
        return dis(len(self.uniques), self.n_paired, self.fraction)

    @property
    def minimal_uniques(self) -> MinimalUniques:
        """Numbers of minimal sample uniques by record and size, searched once."""
        from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques

        return self.shared(
            "minimal uniques",
            lambda: find_minimal_uniques(
                self.codes,
                max_size=self.max_size,
                listing=False,
                workers=1,
                max_seconds=self.max_seconds,
            ),
        )

    def shared(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what several measures need, made once; each is charged the time it took."""
        if name in self._made:
            made, seconds = self._made[name]
            self._charged += seconds
            return made
        started = time.perf_counter()
        made = make()
        self._made[name] = made, time.perf_counter() - started
        return made

    def timed(self, measure: Callable[[SampleData], Made]) -> tuple[Made, float]:
        """Return the answer of a measure and the seconds that it would have taken alone."""
        self._charged = 0.0
        started = time.perf_counter()
        told = measure(self)
        return told, time.perf_counter() - started + self._charged

    def __repr__(self) -> str:
        return f"SampleData({len(self.codes):,} records, {len(self.uniques):,} sample uniques)"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with every sample.

    - `measures`: functions by name; what they take and return is for the work to know.
    - `levels`: how many categories each key variable has, where measures are told.
    - `n_judged`: the samples from this number on are drawn for attacks only.
    - `max_size`, `max_seconds`: of a search for minimal sample uniques, as a `SampleData` has them.
    """

    measures: tuple[tuple[str, Callable[[Any], Any]], ...]
    levels: tuple[int, ...] = ()
    n_judged: int = 0
    max_size: int | None = None
    max_seconds: float | None = MAX_SECONDS


@dataclass(frozen=True, slots=True)
class SampleTask:
    """One sample to draw: its number from 0, its fraction, the seed of the whole experiment."""

    number: int
    fraction: Fraction
    seed: int


@dataclass(repr=False, eq=False)
class Sample:
    """The records at some places of the population: what is `seen` of them, and what is true.

    - `class_counts`: the sample count f of every class of the population, 0 where none was drawn.
    - `population_sizes`: the population class size F of every sampled record.
    """

    population: NotionalPopulation
    records: NDArray[np.int64]
    plan: Plan = field(default_factory=lambda: Plan(()))
    number: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        population, classes = self.population, self.classes
        self.class_counts = np.bincount(classes, minlength=len(population.sizes))
        self.population_sizes = population.sizes[classes]
        self.seen = SampleData(
            population.codes[self.records],
            self.plan.levels,
            Fraction(len(self.records), population.n_records),
            self.class_counts[classes],
            self.seed,
            max_size=self.plan.max_size,
            max_seconds=self.plan.max_seconds,
        )

    @classmethod
    def drawn(cls, population: NotionalPopulation, plan: Plan, task: SampleTask) -> Sample:
        """Draw the sample of a task."""
        # The same as the child of that number that SeedSequence(seed).spawn would give, and as a
        # child of that child for what is random in measures.
        drawing = np.random.SeedSequence(task.seed, spawn_key=(task.number,))
        measuring = np.random.SeedSequence(task.seed, spawn_key=(task.number, 0))
        size = sample_size(population.n_records, task.fraction)
        generator = np.random.default_rng(drawing)
        records = draw_records(population.n_records, size, generator, population.strata)
        seed = int(measuring.generate_state(1, np.uint32)[0])
        return cls(population, records, plan, task.number, seed)

    @property
    def classes(self) -> NDArray[np.int64]:
        """The class of every sampled record in the population."""
        return self.population.classes[self.records]

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

    def attacked(
        self, classes: NDArray[np.bool_], direction: strategies.Direction
    ) -> strategies.StrategyValue:
        """Return what an attack on some classes of the population achieves."""
        strategy = strategies.Strategy("attack", direction, lambda f, people: classes)
        (value,) = strategies.evaluate_strategies(
            self.population.sizes, self.class_counts, [strategy], exact=False
        )
        return value


def checked_fractions(
    asked: str, fractions: FractionLike | Sequence[FractionLike]
) -> tuple[Fraction, ...]:
    """Return the sampling fractions exactly, or raise one error for all that is wrong with them."""
    problems: list[Problem] = []
    steps: list[Fraction] = []
    given = [fractions] if isinstance(fractions, str | int | float | Fraction) else list(fractions)
    for value in given:
        where = f"fraction {quoted([str(value)])}"
        try:
            step = parse_fraction(value)
        except InputError as error:
            problems.append(Problem(error.reason, where, error.found, error.do))
            continue
        if step in steps:
            problems.append(Problem(Reason.DUPLICATE, where, "given twice."))
        steps.append(step)
    if not given:
        problems.append(Problem(Reason.NOTHING_GIVEN, "fractions", "none is given."))
    refuse(problems, asked)
    return tuple(steps)


def range_text(fractions: Iterable[Fraction]) -> str:
    """Return the least and the greatest of some sampling fractions for reading.

    Examples
    --------
    >>> range_text([Fraction(1, 10), Fraction(1, 50)]), range_text([Fraction(1, 10)])
    ('2% to 10%', '10%')
    """
    steps = sorted(fractions)
    return " to ".join(dict.fromkeys(map(fraction_text, (steps[0], steps[-1]))))


def require_samples(notional: NotionalPopulation, steps: Sequence[Fraction]) -> None:
    """Refuse fractions that would give a sample without records."""
    small = [step for step in steps if sample_size(notional.n_records, step) == 0]
    if small:
        raise InputError(
            Reason.BAD_OPTION,
            f"Samples of a population of {count_of(notional.n_records, 'record')} were asked for.",
            f"A sample of {quoted(str(step) for step in small)} of it would be empty.",
            "Give larger fractions (--fraction).",
        )


def require_samples_fit(n_samples: int, n_measures: int) -> None:
    """Refuse more samples than can be kept: a task and a line of numbers each."""
    require_memory(
        f"{count_of(n_samples, 'sample')} were to be drawn.",
        n_samples * (_SAMPLE_BYTES + _NUMBER_BYTES * n_measures),
        "What is found in them",
        "Draw fewer (--samples); some hundred tell the spread",
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """A measure of one's own that could not be taken: which, what kind of error, what to do."""

    measure: str
    kind: str
    do: str


def run_samples(
    population: NotionalPopulation,
    plan: Plan,
    steps: Sequence[Fraction],
    work: Callable[[Sample], Found | Failure],
    *,
    seed: int,
    blocks: MapBlocks | None,
    folder: SampleFolder[Found] | None,
    progress: Progress | None,
    prepare: Callable[[NotionalPopulation, Plan], None] | None = None,
) -> list[Found]:
    """Return what work finds in samples of the given fractions, in their order, here or by blocks.

    `work` and `prepare`, done once by every worker, stand at the top of a module. What is in the
    folder is not drawn again.
    """
    tasks = [SampleTask(number, step, seed) for number, step in enumerate(steps)]
    found: dict[int, Found] = {}
    if folder is not None:
        kept = {task.number: folder.read(task) for task in tasks}
        found |= {number: outcome for number, outcome in kept.items() if outcome is not None}

    def tell() -> None:
        if progress is not None:
            progress(len(found), len(tasks))

    tell()
    left = [task for task in tasks if task.number not in found]
    kernel = Kernel(partial(_prepared, plan, work, prepare), _do)
    run = _do_here if blocks is None or len(left) < 2 else blocks
    with closing(run(kernel, arrays_of(population), left)) as outcomes:
        for task, outcome in zip(left, outcomes, strict=True):
            if isinstance(outcome, Failure):
                raise InputError(
                    Reason.BAD_OPTION,
                    f"The measure {quoted([outcome.measure])} was to be taken of a sample.",
                    f"It ended with an error of the kind {outcome.kind}.",
                    outcome.do,
                )
            found[task.number] = outcome
            if folder is not None:
                folder.write(task, outcome)
            tell()
    return [found[task.number] for task in tasks]


def arrays_of(population: NotionalPopulation) -> Shared:
    """Return the arrays of a population by name, those that it has."""
    arrays = {item.name: getattr(population, item.name) for item in fields(population)}
    return {name: array for name, array in arrays.items() if array is not None}


def _prepared(
    plan: Plan,
    work: Callable[[Sample], Any],
    prepare: Callable[[NotionalPopulation, Plan], None] | None,
    shared: Shared,
) -> Callable[[SampleTask], Any]:
    population = NotionalPopulation(**shared)
    if prepare is not None:
        prepare(population, plan)
    return lambda task: work(Sample.drawn(population, plan, task))


def _do(work: Callable[[SampleTask], Any], task: SampleTask) -> Any:
    return work(task)


def _do_here(
    kernel: Kernel[Any, SampleTask, Any], shared: Shared, tasks: Sequence[SampleTask]
) -> Generator[Any]:
    if tasks:
        state = kernel.prepare(shared)
        yield from (kernel.work(state, task) for task in tasks)


class SampleFolder(Generic[Found]):
    """The finished samples of one plan, on disk: `pack` makes numbers and arrays of an outcome."""

    @classmethod
    def of(
        cls,
        path: str | Path | None,
        population: NotionalPopulation,
        told: Mapping[str, Any],
        pack: Callable[[Found], tuple[Values, Arrays]],
        unpack: Callable[[Values, Arrays], Found],
    ) -> SampleFolder[Found] | None:
        """Return the folder of an experiment on a population; None where nothing is to be kept."""
        if path is None:
            return None
        plan = {**told, "data": population.fingerprint(), "version": package_version()}
        return cls(Path(path), plan, pack, unpack)

    def __init__(
        self,
        path: Path,
        plan: Mapping[str, Any],
        pack: Callable[[Found], tuple[Values, Arrays]],
        unpack: Callable[[Values, Arrays], Found],
    ) -> None:
        self.path, self._pack, self._unpack = path, pack, unpack
        asked = f"The simulation was to be kept in the folder {quoted([str(path)], letters=200)}."
        # Through JSON once, so that tuples and lists compare equal.
        wanted = json.loads(json.dumps(plan))
        kept = self._read(path / "plan.json")
        if kept is None:
            found, do = fault_of_folder(path)
            if found:
                raise InputError(Reason.NOT_WRITABLE, asked, f"It {found}", do)
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise InputError(
                    Reason.NOT_READABLE,
                    asked,
                    "It holds other things and no readable plan of a simulation.",
                    "Give an empty or a new folder (--folder).",
                )
            self._write("plan.json", wanted)
        elif kept != wanted:
            differing = sorted(
                name for name in kept.keys() | wanted.keys() if kept.get(name) != wanted.get(name)
            )
            raise InputError(
                Reason.STALE,
                asked,
                f"It belongs to a simulation with another plan; these differ: {quoted(differing)}.",
                "Give the same options and data to resume it, or another folder (--folder).",
            )

    def read(self, task: SampleTask) -> Found | None:
        """Return what was found in a sample, or None if it must still be drawn."""
        name = _name(task.number)
        found = self._read(self.path / f"{name}.json")
        wanted = (task.number + 1, str(task.fraction))
        if found is None or (found.get("sample"), found.get("fraction")) != wanted:
            return None
        values = found.get("values")
        if not isinstance(values, dict):
            return None
        named = cast("dict[str, Any]", values)
        if not all(value is None or type(value) is float for value in named.values()):
            return None
        try:
            return self._unpack(named, self._read_arrays(self.path / f"{name}.npz"))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def write(self, task: SampleTask, outcome: Found) -> None:
        """Keep what was found in a sample."""
        numbers, arrays = self._pack(outcome)
        name = _name(task.number)
        if arrays:
            write_file(
                self.path / f"{name}.npz",
                lambda file: np.savez_compressed(file, allow_pickle=False, **arrays),
                private=True,
                asked="A sample of a comparison was to be kept in {}.",
            )
        content = {"sample": task.number + 1, "fraction": str(task.fraction), "values": {**numbers}}
        self._write(f"{name}.json", content)

    @staticmethod
    def _read_arrays(path: Path) -> Arrays:
        if not path.exists():
            return {}
        with np.load(path, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            require_ordinary(path)
            found: object = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        place = quoted([str(self.path)], letters=200)
        asked = f"The simulation was to be kept in {place}; it keeps {quoted([name])}."
        try:
            make_folders(self.path, [], private=True)
        except OSError as error:
            raise refusal(asked, error, "Finished samples are kept.") from error
        text = json.dumps(content, allow_nan=False, indent=1)
        write_file(self.path / name, text.encode(), private=True, asked=asked)


def _name(number: int) -> str:
    return f"sample-{number + 1:06d}"
