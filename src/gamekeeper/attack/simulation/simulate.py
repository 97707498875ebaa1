"""Repeated samples from a notional population, and any set of measures taken of each.

What a steward can compute from a sample alone is compared with what is true in the population.
Samples are drawn without replacement, each from a random stream of its own, so that the outcome
is the same for any number of workers and after any interruption. Smith's thesis, chapters 5 and 7;
Elliot and Manning 2003. A sample costs its size plus one count per class, and what the measures
cost: only scores of uniques cost more.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import numpy as np

from gamekeeper.attack.simulation.checks import (
    checked_fractions,
    require_samples,
    require_samples_fit,
)
from gamekeeper.attack.simulation.folder import SampleFolder
from gamekeeper.attack.simulation.measures import plan_measures
from gamekeeper.attack.simulation.notional import open_population
from gamekeeper.attack.simulation.options import SimulateOptions
from gamekeeper.attack.simulation.processes import run_tasks
from gamekeeper.attack.simulation.result import SimulationResult
from gamekeeper.attack.simulation.resuming import run_left
from gamekeeper.attack.simulation.running import SampleTask, run_task
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine.pool import Pool
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.options import option_text, takes
from gamekeeper.results import Provenance, package_version


@takes(SimulateOptions)
def simulate(population: CodedTable | KeyTable, asked: SimulateOptions) -> SimulationResult:
    """Draw samples from a notional population and measure each.

    The population is a coded file that stands for everybody, or a key table of one. Measures are
    names from `MEASURES`, or functions of your own: `measure(codes, f, F)` gets the codes of the
    sampled records (one row each, one column per key variable) and their class sizes in sample and
    population, and returns named numbers. A number that is not finite counts as undefined.
    Functions are told apart by their names. A stratified sample is allocated to strata in
    proportion.

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
