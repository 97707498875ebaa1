"""Repeated samples from a notional population, and any set of measures taken of each.

What a steward can compute from a sample alone is compared with what is true in the population.
Samples are drawn without replacement. Each depends on the population, the plan, the seed and its
own number only, so that the outcome is the same for any number of workers and after any
interruption. Smith's thesis, chapters 5 and 7; Elliot and Manning 2003. A sample costs its size
plus one count per class, and what the measures cost: only scores of uniques cost more.

In a folder, a simulation can be resumed: `plan.json` says what is simulated and on which data;
`sample-000001.json` and so on hold the numbers of one finished sample each, never records. Files
are written beside and renamed, so that each is either whole or absent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.experiments.measures import (
    MeasurePlan,
    Values,
    measure_sample,
    plan_measures,
)
from gamekeeper.attack.experiments.notional import (
    Failure,
    NotionalPopulation,
    Sample,
    draw_records,
    open_population,
    run_tasks,
    sample_size,
)
from gamekeeper.attack.experiments.plots import SimulationResult
from gamekeeper.attack.options import SimulateOptions
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files import fault_of_folder, make_folders, refusal, require_ordinary, write_file
from gamekeeper.options import option_text, takes
from gamekeeper.prompt_syntax import FractionLike, Missing, Pool, parse_fraction
from gamekeeper.results import Progress, Provenance, package_version
from gamekeeper.wording import count_of, quoted

_Found = TypeVar("_Found")
# A task, what waits for it and the dictionary of what it finds; a number by its name.
_SAMPLE_BYTES, _NUMBER_BYTES = 2_000, 100


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
class SampleTask:
    """One sample to draw: its number from 0, its fraction, the seed of the whole simulation."""

    number: int
    fraction: Fraction
    seed: int


def drawn_records(population: NotionalPopulation, task: SampleTask) -> NDArray[np.int64]:
    """Return the places of the records of a sample in the population."""
    # The same as the child of that number that SeedSequence(seed).spawn would give.
    seeds = np.random.SeedSequence(task.seed, spawn_key=(task.number,))
    size = sample_size(population.n_records, task.fraction)
    generator = np.random.default_rng(seeds)
    return draw_records(population.n_records, size, generator, population.strata)


def run_task(
    population: NotionalPopulation, plan: MeasurePlan, task: SampleTask
) -> Values | Failure:
    """Draw one sample and measure it."""
    return measure_sample(
        Sample(
            population,
            drawn_records(population, task),
            max_size=plan.max_size,
            max_seconds=plan.max_seconds,
            power=plan.power,
        ),
        plan,
    )


class Kept(Protocol[_Found]):
    """Where outcomes are kept, by the number of a sample and its fraction."""

    def read(self, number: int, fraction: str, /) -> _Found | None:
        """Return an outcome that is kept, if so."""
        ...

    def write(self, number: int, fraction: str, outcome: _Found, /) -> None:
        """Keep an outcome."""
        ...


def run_left(
    tasks: Sequence[SampleTask],
    kept: Kept[_Found] | None,
    progress: Progress | None,
    run: Callable[[Sequence[SampleTask], Callable[[SampleTask, _Found], None]], None],
) -> dict[int, _Found]:
    """Return the outcome of every task by its number; `run` is given those that are not kept."""
    found: dict[int, _Found] = {}
    if kept is not None:
        for task in tasks:
            outcome = kept.read(task.number, str(task.fraction))
            if outcome is not None:
                found[task.number] = outcome

    def tell() -> None:
        if progress is not None:
            progress(len(found), len(tasks))

    def finish(task: SampleTask, outcome: _Found) -> None:
        found[task.number] = outcome
        if kept is not None:
            kept.write(task.number, str(task.fraction), outcome)
        tell()

    tell()
    run([task for task in tasks if task.number not in found], finish)
    return found


class SampleFolder:
    """The finished samples of one plan, on disk."""

    def __init__(self, path: Path, plan: Mapping[str, Any]) -> None:
        self.path = path
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

    def read(self, number: int, fraction: str) -> Values | None:
        """Return the values of a finished sample, or None if it must still be drawn."""
        found = self._read(self.path / _name(number))
        if found is None or (found.get("sample"), found.get("fraction")) != (number + 1, fraction):
            return None
        values = found.get("values")
        if not isinstance(values, dict):
            return None
        named = cast("dict[str, Any]", values)
        fit = all(value is None or type(value) is float for value in named.values())
        return named if fit else None

    def write(self, number: int, fraction: str, values: Values) -> None:
        """Keep the values of a finished sample."""
        self._write(
            _name(number), {"sample": number + 1, "fraction": fraction, "values": dict(values)}
        )

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
    return f"sample-{number + 1:06d}.json"


@takes(SimulateOptions)
def simulate(population: CodedTable | KeyTable, asked: SimulateOptions) -> SimulationResult:
    """Draw samples from a notional population and measure each.

    The population is a coded file that stands for everybody, or a key table of one. Measures are
    names from `MEASURES`, or functions of your own: `measure(codes, f, F)` gets the codes of the
    sampled records (one row each, one column per key variable) and their class sizes in sample and
    population, and returns named numbers. A number that is not finite counts as undefined.
    Functions are told apart by their names. A stratified sample is allocated in proportion.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> people = coded_from_codes([[1], [1], [2], [3]], ["age"], [("missing", "a", "b", "c")])
    >>> found = simulate(people, ["age"], fractions=1, measures=["pr_pu_given_su", "dis"])
    >>> found.to_arrow().column("value").to_pylist()
    [1.0, 1.0]
    """
    started = time.perf_counter()
    stratify_by = (
        (asked.stratify_by,)
        if isinstance(asked.stratify_by, str) and asked.stratify_by
        else tuple(asked.stratify_by)
    )
    steps = checked_fractions("A simulation was asked for.", asked.fractions)
    require_samples_fit(len(steps) * asked.samples, len(asked.measures))
    plan = plan_measures(
        asked.measures,
        r=asked.r,
        max_size=asked.max_size,
        max_seconds=asked.max_seconds or None,
        power=asked.power,
    )
    keys, missing = asked.keys, asked.missing
    if isinstance(population, KeyTable):
        keys, missing = keys or population.keys, population.missing
    coded = population.coded if isinstance(population, KeyTable) else population
    notional = open_population(coded, keys, missing=Missing(missing), stratify_by=stratify_by)
    require_samples(notional, steps)
    parameters = {
        "keys": list(keys),
        "missing": str(missing),
        "stratify_by": list(stratify_by),
        "fractions": [str(step) for step in steps],
        "samples": asked.samples,
        "measures": plan.written(),
        "r": list(plan.r),
        "max_size": plan.max_size,
        "power": plan.power,
    }
    kept = None
    if asked.folder is not None:
        plan_of_all = {
            "simulation": 1,
            **parameters,
            "seed": asked.seed,
            "data": notional.fingerprint(),
            "version": package_version(),
        }
        kept = SampleFolder(Path(asked.folder), plan_of_all)
    numbered = [step for step in steps for _ in range(asked.samples)]
    tasks = [SampleTask(number, step, asked.seed) for number, step in enumerate(numbered)]
    blocks = None
    if asked.workers != 1:
        blocks = partial(coded.engine.map_blocks, workers=asked.workers, pool=Pool(asked.pool))
    found = run_left(
        tasks,
        kept,
        asked.progress,
        lambda left, finish: run_tasks(
            notional, plan, left, run_task, blocks=blocks, finish=finish
        ),
    )
    lines = [found[number] for number in range(len(tasks))]
    # A function of one's own may name other numbers in one sample than in another.
    names = tuple(dict.fromkeys(name for values in lines for name in values))
    values = np.array(
        [[np.nan if (x := line.get(name)) is None else x for name in names] for line in lines],
        dtype=np.float64,
    )
    return SimulationResult(
        notional.n_records,
        notional.n_uniques,
        tuple(keys),
        tuple(numbered),
        names,
        values,
        Provenance(
            "simulation of samples",
            "stratified, proportional allocation" if stratify_by else "simple random",
            {name: option_text(value) for name, value in parameters.items()},
            asked.seed,
            coded.fingerprint,
            f"numpy {np.__version__}",
            seconds=time.perf_counter() - started,
        ),
    )
