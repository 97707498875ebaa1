"""What is inferred about the population from decomposable models and the sample.

Two ways from cell probabilities p to the population size F of a class with f records:

`printed`, as in chapter 7 of the thesis: F - f is Poisson with mean n (1-pi)/pi p, p by maximum
likelihood; measures are averaged over models by their weights. It believes the models, and since
these are fitted to the same records and leave dependences out, it finds too many population
uniques.

`calibrated`, the estimate to use. (1) Probabilities with each class counted as one record are
pooled over models: the weighted mean of log p, which ranks better than any one model; a latent
class model, which errs elsewhere, has a share of it. (2) What rate of twins such a p usually stands
for, and the line of `rate_calibration`, which corrects that for the file: learnt from pairs in the
sample, from near twins (`merged_classes`) and from what other populations were like. (3) Classes
with the same p still differ: `rate_mixture`, with a spread that falls with the number of records
and that the triples of the sample correct. Neither line nor spread is known; both have posteriors,
each given by values that stand for equal parts of it, and a line with repeats has a law of repeats
in turn. That is averaged over for sample uniques: their measures are smooth in z, the log of the
usual rate, so they are computed for every line, with a spread to each, at multiples of 1/10 of z
alone, and in between by straight lines. The mean over lines, by `shares`, is what is inferred of a
record; the sums over the file for each line are draws of the file's measures. For larger classes,
whose own records say most, the mean line stands. Where people may have several records or not,
intervals span what follows from either. Nothing here is by chance, and no part of it has seen the
population. Feed it models of several prior precisions (`recommended_precisions`): sparse and rich
ones together rank better than either, and the calibration makes up for both. Both ways are linear
in classes.

What a variable or a category adds to the risk of a file follows without fitting models anew:
leaving a variable out, or putting some of its categories into one, merges classes
(`merged_classes`), and sample uniques that survive have another class size in the population. The
risk of the file with the variable over the risk without it is the relative risk of including it. A
category can also be suppressed: sample uniques that have it no longer count. The calibration is
repeated on the merged classes, with the prior of the level that the whole file has, which takes
milliseconds; and each record is held to what was inferred of it before: merging makes no class
smaller and nobody unique. Smith's thesis, chapter 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.decomposable import junction_tree
from gamekeeper.algorithms.decomposable.graphs import AdjacencyLike
from gamekeeper.algorithms.models import (
    match_probability,
    merged_classes,
    rate_calibration,
    rate_mixture,
)
from gamekeeper.algorithms.models.latent_classes import LatentClasses, fit_latent_classes
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NODES_PER_UNIT = 10
# Where there are more fractions than this, they have nodes too.
_MOST_FRACTIONS = 50
_FRACTIONS_PER_UNIT = 20
_LEAST_OUTSIDE = 1e-12


@dataclass(frozen=True, slots=True, repr=False)
class DrawnSizes:
    """What is inferred of each sample unique, and the sums of P(F=1), E[1/F] and E[F] by line."""

    sizes: rate_mixture.MixedSizes
    sums: Floats


def draw_sizes(
    log_usual: Floats,
    outside: Floats,
    calibration: rate_calibration.RateCalibration,
    spreads: rate_mixture.SpreadLaw,
) -> DrawnSizes:
    """Average the measures of sample uniques over the lines of a calibration.

    Given are z and (1-pi)/pi of each sample unique, and the posteriors of the line and of the
    spread.

    Examples
    --------
    >>> from gamekeeper.algorithms.models.rate_calibration import calibrate_rates
    >>> from gamekeeper.algorithms.models.rate_mixture import learn_spread
    >>> z, f = np.array([-4.0, -3.0]), np.array([1, 1])
    >>> line = rate_calibration.calibrate_rates(z, f)
    >>> found = draw_sizes(
    ...     z, np.full(2, 9.0), line, rate_mixture.learn_spread(line.log_rates(z), f)
    ... )
    >>> bool(found.sizes.p_unique[0] > found.sizes.p_unique[1]), found.sums.shape
    (True, (96, 3))
    """
    lines = np.array(calibration.lines)
    if not len(log_usual):
        return DrawnSizes(rate_mixture.MixedSizes(*np.zeros((6, 0))), np.zeros((len(lines), 3)))
    nodes, places, shares = _nodes(log_usual, outside)
    z, people = nodes[:, 0], nodes[:, 1]
    held = np.zeros(len(z))
    for place, share in zip(places, shares, strict=True):
        held += np.bincount(place, share, len(z))
    every = np.array(spreads.even(len(lines)))
    shapes = np.where(lines[:, 2] > 0, np.resize(rate_mixture.REPEAT_SHAPES, len(lines)), 0.0)
    mean = np.zeros((6, len(z)))
    sums = np.empty((len(lines), 3))
    for spread, shape in sorted(set(zip(every.tolist(), shapes.tolist(), strict=True))):
        (chosen,) = np.nonzero((every == spread) & (shapes == shape))
        rates = np.minimum(
            lines[chosen, :1] + lines[chosen, 1:2] * z, rate_calibration.LARGEST_LOG_RATE
        )
        ones = np.ones(rates.size, dtype=np.int64)
        found = rate_mixture.mix_sizes(
            rates.ravel(),
            ones,
            np.tile(people, len(chosen)),
            spread=spread,
            repeats=(lines[chosen, 2:] * people).ravel() if shape else None,
            shape=shape,
        )
        columns = np.stack(
            [
                found.p_match,
                found.p_match_set,
                found.p_unique,
                found.expected_size,
                found.variance,
                found.p_next,
            ]
        ).reshape(6, len(chosen), len(z))
        mean += np.einsum("l,mlz->mz", calibration.shares[chosen], columns)
        sums[chosen] = (columns[[2, 0, 3]] @ held).T
    each = np.zeros((6, len(log_usual)))
    for place, share in zip(places, shares, strict=True):
        each += mean[:, place] * share
    # Means round, and may pass what they are means of.
    each[:3], each[3] = np.minimum(each[:3], 1.0), np.maximum(each[3], 1.0)
    return DrawnSizes(rate_mixture.MixedSizes(*each), sums)


def _nodes(log_usual: Floats, outside: Floats) -> tuple[Floats, list[Integers], list[Floats]]:
    """Return nodes, (z, people outside), and of each record the nodes around it and its shares."""
    scaled = log_usual * _NODES_PER_UNIT
    below = np.floor(scaled)
    corners = [(below + up, outside, np.abs(1 - up - (scaled - below))) for up in (0, 1)]
    if len(np.unique(outside)) > _MOST_FRACTIONS:
        logs = np.log(np.maximum(outside, _LEAST_OUTSIDE)) * _FRACTIONS_PER_UNIT
        under = np.floor(logs)
        corners = [
            (
                at,
                np.exp((under + up) / _FRACTIONS_PER_UNIT),
                share * np.abs(1 - up - (logs - under)),
            )
            for at, _, share in corners
            for up in (0, 1)
        ]
    points = np.concatenate([np.stack([at / _NODES_PER_UNIT, k], axis=1) for at, k, _ in corners])
    nodes, place = np.unique(points, axis=0, return_inverse=True)
    places = np.split(place.ravel(), len(corners))
    return nodes, places, [share for _, _, share in corners]


Models = Sequence[AdjacencyLike | junction_tree.JunctionTree]

_PRECISIONS = (1.0, 10.0, 50.0, 200.0)
_RECORDS_PER_PRECISION = 5


@dataclass(frozen=True, slots=True, repr=False)
class PopulationEstimate:
    """Per class what is inferred about F, and the measures of the file.

    `p_next` is E[1/(1+F)], for searches without replacement. `lower` and `upper` bound F with the
    probability `interval`, and so do the intervals of the file. `calibration` and `latent`, the
    latent classes that were averaged with, are None for `printed`.
    """

    p_match: Floats
    p_match_set: Floats
    p_unique: Floats
    expected_size: Floats
    lower: Integers
    upper: Integers
    p_next: Floats
    file: rate_mixture.FileEstimate
    interval: float
    calibration: rate_calibration.RateCalibration | None = None
    latent: LatentClasses | None = None

    def __repr__(self) -> str:
        return (
            f"PopulationEstimate({count_of(len(self.p_match), 'class', 'classes')},"
            f" tau1 {self.file.tau1.value:.1f}, Pr(CM|UM) {self.file.pr_cm_given_um.value:.4f})"
        )


def calibrated_estimate(
    table: junction_tree.ClassTable,
    models: Models,
    *,
    fraction: float | ArrayLike,
    weights: ArrayLike | None = None,
    interval: float = 0.95,
    seed: int = 0,
    one_each: bool = False,
) -> PopulationEstimate:
    """Infer the population sizes of the classes of a sample by the calibrated estimate.

    Models are decomposable graphs as adjacency masks, or junction trees; their `weights`, 0 or
    more, are equal if not given. The sampling fraction, above 0 and up to 1, is one, or one for
    each class; see `CellFractions` for classes whose records have different ones. Intervals have
    the probability `interval`; `seed` is of the draws behind those of the file measures. `one_each`
    says that nobody has several records.

    Examples
    --------
    >>> table = junction_tree.ClassTable([[0, 0], [0, 1], [1, 0], [2, 1]], [9, 2, 1, 1])
    >>> found = calibrated_estimate(table, [[0, 0], [2, 1]], fraction=0.1)
    >>> bool(found.p_unique[2] > found.p_unique[0]), found.file.n_uniques
    (True, 2)
    >>> calibrated_estimate(table, [[0, 0]], fraction=1).p_match.round(3)
    array([0.111, 0.5  , 1.   , 1.   ])
    """
    latent = fit_latent_classes(table.rows, table.counts, table.levels)
    pooled = pooled_log_expected(table, models, weights, latent)
    level = merged_classes.learn_level(table, models, pooled, weights, latent)
    found = estimate_from_rates(
        pooled,
        table.counts,
        fraction=fraction,
        interval=interval,
        seed=seed,
        level=level,
        one_each=one_each,
        records=table.records,
    )
    return replace(found, latent=latent)


def recommended_precisions(n_records: int) -> tuple[float, ...]:
    """Return the prior precisions to search models with, one search for each.

    1, 10, 50 and 200, up to a fifth of the records: with a higher precision the prior outweighs
    a small sample and asks for models that are too rich.

    Examples
    --------
    >>> recommended_precisions(634), recommended_precisions(3)
    ((1.0, 10.0, 50.0), (1.0,))
    """
    most = max(n_records / _RECORDS_PER_PRECISION, 1.0)
    return tuple(precision for precision in _PRECISIONS if precision <= most)


def pooled_log_expected(
    table: junction_tree.ClassTable,
    models: Models,
    weights: ArrayLike | None = None,
    latent: LatentClasses | None = None,
) -> Floats:
    """Return the weighted mean of log(n p) over models (and latent classes), each class one record.

    Examples
    --------
    >>> table = junction_tree.ClassTable([[0, 0], [1, 1]], [5, 1])
    >>> pooled_log_expected(table, [[0, 0]]).round(3)
    array([ 0.405, -1.792])
    """
    shares = _shares(models, weights)
    pooled = junction_tree.mean_log_probabilities(table, models, shares.tolist()) + np.log(
        table.n_records
    )
    if latent is None:
        return pooled
    return merged_classes.averaged(pooled, latent.log_expected(table.rows, table.counts))


def estimate_from_rates(
    log_expected: Floats,
    counts: NDArray[np.integer[Any]],
    *,
    fraction: float | ArrayLike,
    interval: float = 0.95,
    seed: int = 0,
    level: rate_calibration.LevelPrior | None = None,
    one_each: bool = False,
    records: NDArray[np.integer[Any]] | None = None,
) -> PopulationEstimate:
    """Calibrate expected counts and infer the population sizes: steps 2 and 3 of the estimate.

    The log of the expected count of each class may be of whatever model, that does not know how
    many records the class has itself. `level` is what is thought of the level beforehand; what
    other populations say if not given. `records` are those of each class where `counts` has its
    households.

    Examples
    --------
    >>> x, f = np.log([0.01, 0.02, 0.5, 0.6, 0.8, 4.0]), np.array([1, 1, 1, 2, 1, 3])
    >>> found = estimate_from_rates(x, f, fraction=0.05)
    >>> bool(found.p_match[0] > found.p_match[2])
    True
    """
    outside = _outside(fraction, len(counts))
    levels = _levels(interval)
    usual = rate_calibration.usual_log_rates(log_expected)
    law = _repeat_law(counts, outside, one_each=one_each)
    fitted = _fitted_rates(usual, counts, level, law)
    calibration, log_rates, spreads = fitted
    every_one = counts if records is None else records
    most, spread = float(every_one @ outside), spreads.mean
    alone = every_one == 1
    drawn = draw_sizes(usual[alone], outside[alone], calibration, spreads)
    sizes = rate_mixture.mix_sizes(
        log_rates[~alone],
        every_one[~alone],
        outside[~alone],
        spread=spread,
        most=most,
        seen=counts[~alone],
    )
    p_match, p_match_set, p_unique, expected, p_next = np.empty((5, len(counts)))
    for chosen, found in ((alone, drawn.sizes), (~alone, sizes)):
        p_match[chosen], p_match_set[chosen] = found.p_match, found.p_match_set
        p_unique[chosen], expected[chosen] = found.p_unique, found.expected_size
        p_next[chosen] = found.p_next
    file = rate_mixture.sum_over_uniques(drawn.sizes, drawn.sums, levels, seed=seed)
    every = [fitted]
    if calibration.repeats_in_question:
        readings = [_fitted_rates(usual, counts, level, one) for one in law.readings]
        every += readings
        drawn_so = [draw_sizes(usual[alone], outside[alone], c, s) for c, _, s in readings]
        file = rate_mixture.spanned(
            file,
            [rate_mixture.sum_over_uniques(d.sizes, d.sums, levels, seed=seed) for d in drawn_so],
        )
    ends = [
        rate_mixture.size_interval(
            rates,
            every_one,
            outside,
            levels,
            spread=law_of_spread.mean,
            most=most,
            seen=counts,
            unsure=line.deviations(usual),
        )
        for line, rates, law_of_spread in every
    ]
    return PopulationEstimate(
        p_match,
        p_match_set,
        p_unique,
        expected,
        np.minimum.reduce([lower for lower, _ in ends]),
        np.maximum.reduce([upper for _, upper in ends]),
        p_next,
        file,
        interval,
        calibration,
    )


def file_from_rates(
    log_expected: Floats,
    counts: NDArray[np.integer[Any]],
    *,
    fraction: float | ArrayLike,
    interval: float = 0.95,
    finer: rate_mixture.FinerClasses | None = None,
    level: rate_calibration.LevelPrior | None = None,
    n_records: int | None = None,
    one_each: bool = False,
    in_question: bool = False,
    alone: NDArray[np.bool_] | None = None,
) -> rate_mixture.FileEstimate:
    """Return the measures of the file alone, as `estimate_from_rates` has them, in less time.

    Classes of more than three records may be left out if `n_records`, the number of all records, is
    given: they do not enter otherwise. Where classes were merged, `finer` is what was inferred of
    the sample uniques before, and `in_question` whether repeats were in question there. `alone`
    says which classes have one record, where counts are those of households.

    Examples
    --------
    >>> x, f = np.log([0.01, 0.02, 0.5, 0.6, 0.8, 4.0]), np.array([1, 1, 1, 2, 1, 3])
    >>> file_from_rates(x, f, fraction=0.05) == estimate_from_rates(x, f, fraction=0.05).file
    True
    """
    outside = _outside(fraction, len(counts))
    levels = _levels(interval)
    usual = rate_calibration.usual_log_rates(log_expected)
    law = _repeat_law(counts, outside, one_each=one_each)
    alone = counts == 1 if alone is None else alone

    def measured(
        calibration: rate_calibration.RateCalibration, spreads: rate_mixture.SpreadLaw
    ) -> rate_mixture.FileEstimate:
        drawn = draw_sizes(usual[alone], outside[alone], calibration, spreads)
        return rate_mixture.sum_over_uniques(drawn.sizes, drawn.sums, levels, finer)

    calibration, _, spreads = _fitted_rates(usual, counts, level, law, n_records)
    file = measured(calibration, spreads)
    if not (in_question or calibration.repeats_in_question):
        return file
    readings = [_fitted_rates(usual, counts, level, one, n_records) for one in law.readings]
    return rate_mixture.spanned(file, [measured(line, spread) for line, _, spread in readings])


def printed_estimate(
    table: junction_tree.ClassTable,
    models: Models,
    *,
    fraction: float | ArrayLike,
    weights: ArrayLike | None = None,
    finite: bool = False,
    interval: float = 0.95,
) -> PopulationEstimate:
    """Infer the population sizes as the thesis prints it: Poisson, averaged over models.

    With `finite`, F - f is binomial, n (1-pi)/pi people outside the sample with the chance p each:
    for large fractions and large p, where the Poisson law spreads too wide.

    Examples
    --------
    >>> table = junction_tree.ClassTable([[0, 0], [0, 1], [1, 1]], [2, 1, 1])
    >>> printed_estimate(table, [[0, 0]], fraction=0.5).expected_size
    array([3.5, 2.5, 1.5])
    """
    shares = _shares(models, weights)
    outside = _outside(fraction, len(table))
    levels = _levels(interval)
    logs = junction_tree.log_cell_probabilities(table, models)
    counts = table.counts
    columns = np.zeros((6, len(table)))
    people = table.n_records * outside

    def law_of(chance: Floats) -> match_probability.CountLaw:
        return (
            match_probability.Binomial(people, chance)
            if finite
            else match_probability.Poisson(people * chance)
        )

    chances = np.minimum(np.exp(logs), 1.0)
    for share, chance in zip(shares, chances, strict=True):
        law = law_of(chance)
        size = match_probability.expected_size(counts, law)
        parts = (
            match_probability.single_unit(counts, law),
            match_probability.set_match(counts, law),
            match_probability.pr_unique(counts, law),
            size,
        )
        spread = law.mean * (1 - chance if finite else 1)
        columns += share * np.stack(
            [*parts, spread + size**2, match_probability.single_unit(counts + 1, law)]
        )
    # Rounding may pass the bounds.
    columns[:3] = np.minimum(columns[:3], 1.0)
    columns[4] = np.maximum(columns[4] - columns[3] ** 2, 0.0)
    sizes = rate_mixture.MixedSizes(*columns)
    pooled = law_of(shares @ chances)
    alone = rate_mixture.MixedSizes(*columns[:, counts == 1])
    return PopulationEstimate(
        sizes.p_match,
        sizes.p_match_set,
        sizes.p_unique,
        sizes.expected_size,
        match_probability.size_quantiles(counts, pooled, levels[0]),
        match_probability.size_quantiles(counts, pooled, levels[1]),
        sizes.p_next,
        rate_mixture.sum_over_uniques(alone, None, levels),
        interval,
    )


def _repeat_law(
    counts: NDArray[np.integer[Any]], outside: Floats, *, one_each: bool
) -> rate_calibration.RepeatLaw:
    small = outside[counts <= 2]
    may_repeat = len(small) and not one_each
    return (
        rate_calibration.RepeatLaw.usual(1 / (1 + float(small.mean())))
        if may_repeat
        else rate_calibration.RepeatLaw()
    )


def _fitted_rates(
    log_usual: Floats,
    counts: NDArray[np.integer[Any]],
    level: rate_calibration.LevelPrior | None,
    law: rate_calibration.RepeatLaw,
    n_records: int | None = None,
) -> tuple[rate_calibration.RateCalibration, Floats, rate_mixture.SpreadLaw]:
    """Return the calibration, the log rates of classes with repeats, and the spread."""
    calibration = rate_calibration.calibrate_rates(log_usual, counts, level, law)
    log_rates, own = calibration.log_rates(log_usual), calibration.repeats.mean
    spreads = rate_mixture.learn_spread(log_rates, counts, own, n_records)
    if own:
        log_rates = np.minimum(
            np.logaddexp(log_rates, np.log(own)), rate_calibration.LARGEST_LOG_RATE
        )
    return calibration, log_rates, spreads


def _shares(models: Models, weights: ArrayLike | None) -> Floats:
    given = np.ones(len(models)) if weights is None else np.asarray(weights, dtype=np.float64)
    right = given.shape == (len(models),) and bool(np.all(np.isfinite(given) & (given >= 0)))
    if not len(models) or not right or not given.sum() > 0:
        raise InputError(
            Reason.BAD_OPTION,
            f"An inference from {count_of(len(models), 'model')} was asked for.",
            f"There are {given.size:,} weights, or some are negative, or none is above 0.",
            "Give at least one model, and one weight for each.",
        )
    return given / given.sum()


def _outside(fraction: float | ArrayLike, n_classes: int) -> Floats:
    """Return (1-pi)/pi of each class."""
    given = np.asarray(fraction, dtype=np.float64)
    problems: list[Problem] = []
    wrong = int(np.count_nonzero(~((given > 0) & (given <= 1))))
    if wrong:
        found = f"{count_of(wrong, 'number')} outside of (0, 1]."
        problems.append(Problem(Reason.BAD_OPTION, "fraction", found))
    if given.shape not in ((), (n_classes,)):
        found = f"{given.size:,} numbers for {count_of(n_classes, 'class', 'classes')}."
        problems.append(Problem(Reason.BAD_OPTION, "fraction", found))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Population sizes were to be inferred from a sample.",
            "The sampling fraction cannot be used.",
            "Give a share of the population above 0 and up to 1, one or one for each class.",
            problems=problems,
        )
    return np.broadcast_to((1 - given) / given, n_classes).copy()


def _levels(interval: float) -> tuple[float, float]:
    if not 0 < interval < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"Intervals with the probability {interval} were asked for.",
            "It must lie strictly between 0 and 1.",
            "Give 0.95, for example.",
        )
    return (1 - interval) / 2, (1 + interval) / 2


def risk_without(
    table: junction_tree.ClassTable,
    models: Sequence[AdjacencyLike | junction_tree.JunctionTree],
    variable: int,
    recode: ArrayLike | None = None,
    *,
    fraction: float | merged_classes.CellFractions,
    weights: ArrayLike | None = None,
    whole: PopulationEstimate | None = None,
) -> rate_mixture.FileEstimate:
    """Return the file measures after leaving a variable out, or merging its categories.

    The relative risk of the variable is a measure of the whole file over the one returned here; of
    the expected numbers tau1 and tau2 it is at least 1. Parameters are those of `merge_classes` and
    `calibrated_estimate`; `fraction` is one, or the sampling fractions of cells, and `whole` is the
    calibrated estimate of the whole file, which is made if it is not given. Intervals have the
    probability of its intervals, whose ends they are held to.

    Examples
    --------
    >>> table = junction_tree.ClassTable([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> risk_without(table, [[0, 0]], 1, fraction=0.5).n_uniques
    1
    """
    by_cell = fraction if isinstance(fraction, merged_classes.CellFractions) else None
    if whole is None:
        each = (
            fraction.of(table.rows)
            if isinstance(fraction, merged_classes.CellFractions)
            else fraction
        )
        whole = calibrated_estimate(table, models, fraction=each, weights=weights)
    merged = merged_classes.merge_classes(
        table, models, variable, recode, weights=weights, fractions=by_cell, latent=whole.latent
    )
    share = merged.fractions if isinstance(fraction, merged_classes.CellFractions) else fraction
    assert share is not None
    # A merged class of one record holds one class, of that record.
    is_alone = merged.records == 1
    alone = merged.members[is_alone]
    finer = rate_mixture.FinerClasses(
        whole.p_unique[alone], whole.p_match[alone], whole.expected_size[alone], whole.file
    )
    return file_from_rates(
        merged.log_expected,
        merged.counts,
        alone=is_alone,
        fraction=share,
        interval=whole.interval,
        finer=finer,
        level=None if whole.calibration is None else whole.calibration.prior,
        n_records=table.n_records,
        one_each=whole.calibration is not None and not whole.calibration.repeats.possible,
        in_question=whole.calibration is not None and whole.calibration.repeats_in_question,
    )


@dataclass(frozen=True, slots=True)
class SuppressedSums:
    """File measures over the sample uniques that do not have a category."""

    n_uniques: int
    tau1: float
    tau2: float
    pr_cm_given_um: float


def suppressed_sums(
    table: junction_tree.ClassTable, estimate: PopulationEstimate, variable: int
) -> tuple[SuppressedSums, ...]:
    """Return for each category of a variable the measures without the sample uniques that have it.

    Pr(CM|UM) is NaN where no sample unique is left.

    Examples
    --------
    >>> table = junction_tree.ClassTable([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> found = calibrated_estimate(table, [[0, 0]], fraction=0.5)
    >>> [left.n_uniques for left in suppressed_sums(table, found, 0)]
    [1, 2]
    """
    merged_classes.checked_recode(table, variable, None)
    alone = table.records == 1
    codes = table.rows[alone, variable]
    columns = (
        np.ones(len(codes)),
        estimate.p_unique[alone],
        estimate.p_match[alone],
        estimate.expected_size[alone],
    )
    left = [
        values.sum() - np.bincount(codes, weights=values, minlength=table.levels[variable])
        for values in columns
    ]
    found: list[SuppressedSums] = []
    for uniques, tau1, tau2, people in zip(*left, strict=True):
        n = round(float(uniques))
        # Differences of sums can fall below 0 by rounding.
        sums = (max(float(tau1), 0.0), max(float(tau2), 0.0)) if n else (0.0, 0.0)
        found.append(SuppressedSums(n, *sums, n / float(people) if n else float("nan")))
    return tuple(found)
