"""Steps that change numbers: microaggregation, noise, rank swapping, top and bottom coding.

Microaggregation puts the means of groups of at least k records in place of their numbers. Noise
adds random numbers, moments kept if asked. Rank swapping exchanges numbers of records that are near
in rank. Top and bottom coding makes numbers beyond a limit that limit, their mean, or a category.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.perturbation import masking, microaggregation
from gamekeeper.data.coding.codebook import MISSING, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import float_of, number_of, value_text
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option, option
from gamekeeper.protection import pram, step
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, digits_text, percent_text, quoted, share_text, three_digits


class Grouping(StrEnum):
    """How records are put in groups."""

    MDAV = "mdav"
    VARIABLE_SIZE = "variable size"
    ONE_BY_ONE = "one by one"


class IncompleteRecords(StrEnum):
    """What becomes of records of which a number is missing."""

    LEAVE = "leave"
    REFUSE = "refuse"


@dataclass(frozen=True, kw_only=True)
class Microaggregate(step.Step):
    """Numbers become the means of groups of near records."""

    do: ClassVar[str] = "microaggregate"
    iso: ClassVar[str] = "microaggregation"
    variables: Annotated[tuple[str, ...], Option("The numeric variables.")]
    k: int = option(3, "The least number of records of a group.", least=2)
    grouping: Grouping = option(
        Grouping.MDAV,
        "All variables together (mdav), in groups of k to 2k - 1 that belong together (variable"
        " size), or each by itself with the least error (one by one).",
    )
    gain: float = option(
        0.2,
        "How readily a near record joins a group of variable size: 0.2 where records are"
        " scattered, 1.1 where they are in clusters.",
        least=0,
    )
    within: tuple[str, ...] = option(
        (), "Groups keep within the classes of these variables, else within the strata."
    )
    weighted: bool = option(False, "Take means by weight, so that weighted totals stay.")
    incomplete: IncompleteRecords = option(
        IncompleteRecords.LEAVE,
        "Records of which a number is missing: left as they are and counted, or refused.",
    )
    decimals: int | None = option(
        None, "Round means to so many decimals.", least=0, most=15, default_text="as in the file"
    )

    def apply(self, table: CodedTable, setting: step.Setting, place: int = 1) -> step.Protected:
        """Put records in groups and give every group its mean."""
        begun = time.perf_counter()
        asked = f"Numbers were to become the means of groups of {self.k} records."
        before = pram.read_numbers(table, self.variables, setting, asked)
        strata, within = pram.strata_of(table, setting, self.within, asked)
        weights = pram.read_weights(table, setting, asked) if self.weighted else None
        every = np.arange(before.shape[1])
        is_single = self.grouping == Grouping.ONE_BY_ONE
        each = [every[p : p + 1] for p in every] if is_single else [every]
        after = before.copy()
        order = pram.canonical_order(table, setting)
        n_small = n_left = n_groups = 0
        errors: list[float] = []
        for columns in each:
            whole: NDArray[np.bool_] = np.asarray(np.isfinite(before[:, columns]).all(axis=1))
            n_left += int(np.count_nonzero(~whole))
            labels = np.full(table.n_records, -1, np.int64)
            n_own = 0
            for members in pram.members_of(strata[order]):
                own = order[members]
                own = own[whole[own]]
                if 0 < len(own) < self.k:
                    n_small += 1
                    continue
                groups = self._groups(before[np.ix_(own, columns)], setting.progress)
                labels[own] = groups + n_own
                n_own += int(groups.max(initial=-1)) + 1
            grouped = order[labels[order] >= 0]
            n_groups += n_own
            values = before[np.ix_(grouped, columns)]
            given = None if weights is None else weights[grouped]
            after[np.ix_(grouped, columns)] = microaggregation.group_means(
                values, labels[grouped], given
            )
            errors.append(
                microaggregation.error_share(values, labels[grouped]) if len(grouped) else 0.0
            )
        self._check(asked, n_small, n_left, within)
        after = pram.rounded(after, before, self.decimals)
        after[~np.isfinite(before)] = np.nan
        made, log = pram.with_numbers(table, self.variables, before, after, setting)
        loss = float(np.mean(errors))
        told = [
            (
                f"{quoted(self.variables)}: means of {count_of(n_groups, 'group')} of at least"
                f" {self.k} records{pram.within_words(within)}"
                f"{', each variable by itself' if self.grouping == Grouping.ONE_BY_ONE else ''}."
            ),
            f"{percent_text(loss)} of the variation of these numbers is lost.",
            pram.changed_words(log, self.variables),
        ]
        told += pram.left_words(n_left, "group")
        found = {"groups": n_groups, "error_share": loss, "left_as_they_are": n_left}
        return step.protected_by(
            self, table, made, log, setting, told=told, found=found, began=begun
        )

    def _groups(self, values: pram.Floats, progress: Progress | None) -> microaggregation.Labels:
        if self.grouping == Grouping.MDAV:
            return microaggregation.mdav_groups(values, self.k, progress=progress)
        if self.grouping == Grouping.VARIABLE_SIZE:
            return microaggregation.variable_mdav_groups(values, self.k, self.gain)
        return microaggregation.univariate_groups(values[:, 0], self.k)

    def _check(self, asked: str, n_small: int, n_left: int, within: tuple[str, ...]) -> None:
        if n_small:
            where = (
                f"{count_of(n_small, 'class', 'classes')} of {quoted(within)}"
                if within
                else "The file"
            )
            fault = f"{where} {'have' if within and n_small > 1 else 'has'} fewer complete records."
            advice = "Ask for smaller groups, or for groups across the whole file."
            raise InputError(Reason.BAD_OPTION, asked, fault, advice)
        if n_left and self.incomplete == IncompleteRecords.REFUSE:
            fault = f"A number is missing in {count_of(n_left, 'record')}."
            advice = "Leave such records as they are (incomplete: leave), or fill the cells first."
            raise InputError(Reason.BAD_OPTION, asked, fault, advice)


@dataclass(frozen=True, kw_only=True)
class Noise(step.Step):
    """Random numbers are added."""

    do: ClassVar[str] = "noise"
    iso: ClassVar[str] = "noise addition"
    variables: Annotated[tuple[str, ...], Option("The numeric variables.")]
    share: float = option(
        0.1, "The variance of the noise as a share of that of the variable.", least=1e-9
    )
    correlated: bool = option(
        True, "Noise has the correlations of the variables, so that theirs stay."
    )
    keep_moments: bool = option(
        True, "Means and covariances become those of before, but for rounding and limits."
    )
    keep_range: bool = option(True, "No value leaves the range that the variable had.")
    keep_zeros: bool = option(True, "A zero stays a zero: it often means that there is none.")
    weighted: bool = option(False, "Keep moments by weight.")
    decimals: int | None = option(
        None, "Round to so many decimals.", least=0, most=15, default_text="as in the file"
    )

    def apply(self, table: CodedTable, setting: step.Setting, place: int = 1) -> step.Protected:
        """Add noise to the records that have all the numbers."""
        begun = time.perf_counter()
        asked = f"Noise with {percent_text(self.share)} of the variance was to be added."
        before = pram.read_numbers(table, self.variables, setting, asked)
        weights = pram.read_weights(table, setting, asked) if self.weighted else None
        order = pram.canonical_order(table, setting)
        own = order[np.isfinite(before[order]).all(axis=1)]
        if not len(own):
            fault = "No record has all of these numbers."
            raise InputError(Reason.NOTHING_GIVEN, asked, fault, "Name fewer variables at a time.")
        ids = setting.records(table)[own]
        normals = np.stack(
            [setting.stream(place, self.do, name).normal(ids) for name in self.variables], axis=1
        )
        values = before[own]
        noisy = masking.with_noise(
            values,
            self.share,
            normals,
            correlated=self.correlated,
            keep_moments=self.keep_moments,
            weights=None if weights is None else weights[own],
        )
        noisy = pram.rounded(noisy, before, self.decimals)
        n_held = 0
        if self.keep_range:
            held = np.clip(noisy, values.min(axis=0), values.max(axis=0))
            n_held, noisy = int(np.count_nonzero(held != noisy)), held
        if self.keep_zeros:
            noisy[values == 0] = 0.0
        after = before.copy()
        after[own] = noisy
        made, log = pram.with_numbers(table, self.variables, before, after, setting)
        moved = _moved(values, noisy, None if weights is None else weights[own])
        n_left = table.n_records - len(own)
        told = [
            (
                f"{quoted(self.variables)}: noise with {percent_text(self.share)} of the variance of each"
                f"{', with their correlations' if self.correlated and len(self.variables) > 1 else ''}."
            ),
            (
                f"After rounding and limits no mean moved by more than {share_text(moved[0])} of the"
                f" standard deviation, no variance by more than {share_text(moved[1])}, and no correlation"
                f" by more than {digits_text(moved[2], 2)}."
            ),
            pram.changed_words(log, self.variables),
        ]
        if n_held:
            told.append(
                f"{count_of(n_held, 'cell')} would have left the range of the variable, and"
                f" {'has' if n_held == 1 else 'have'} its end."
            )
        told += pram.left_words(n_left, "noise")
        found = {
            "mean_moved": moved[0],
            "variance_moved": moved[1],
            "correlation_moved": moved[2],
            "left_as_they_are": n_left,
        }
        return step.protected_by(
            self, table, made, log, setting, told=told, found=found, began=begun
        )


def _moved(
    before: pram.Floats, after: pram.Floats, weights: pram.Floats | None
) -> tuple[float, float, float]:
    """Return by how much means, variances and correlations moved at most."""
    if not len(before):
        return 0.0, 0.0, 0.0
    (mean, covariance), (mean_after, covariance_after) = (
        masking.moments(values, weights) for values in (before, after)
    )
    variance, variance_after = np.diag(covariance), np.diag(covariance_after)
    varies = variance > 0
    if not varies.any():
        return 0.0, 0.0, 0.0
    scale = np.sqrt(variance[varies])
    of_means = np.abs(mean_after - mean)[varies] / scale
    of_variances = np.abs(variance_after - variance)[varies] / variance[varies]
    both = varies & (variance_after > 0)
    shown = [
        moment[np.ix_(both, both)] / np.sqrt(np.outer(spread[both], spread[both]))
        for moment, spread in ((covariance, variance), (covariance_after, variance_after))
    ]
    apart = np.abs(shown[1] - shown[0])
    return float(of_means.max()), float(of_variances.max()), float(apart.max(initial=0.0))


@dataclass(frozen=True, kw_only=True)
class RankSwap(step.Step):
    """Records whose values are near in rank exchange them, one variable at a time."""

    do: ClassVar[str] = "rank swap"
    iso: ClassVar[str] = "permutation"
    variables: Annotated[tuple[str, ...], Option("The numeric variables.")]
    share: float = option(
        0.05, "How far a value may move, as a share of the ranks.", least=0, most=1
    )
    within: tuple[str, ...] = option(
        (), "Partners are of the same class of these variables, else of the same stratum."
    )
    most_moved: float | None = option(
        None,
        "No correlation between these variables may move by more than this: the share is halved"
        " until that holds.",
        least=0,
        most=2,
    )

    def apply(self, table: CodedTable, setting: step.Setting, place: int = 1) -> step.Protected:
        """Exchange values."""
        begun = time.perf_counter()
        asked = f"Values were to change places within {percent_text(self.share)} of the ranks."
        before = pram.read_numbers(table, self.variables, setting, asked)
        strata, within = pram.strata_of(table, setting, self.within, asked)
        ids = setting.records(table)
        order = pram.canonical_order(table, setting)
        parts = [order[members] for members in pram.members_of(strata[order])]
        draws = [
            np.stack([setting.stream(place, self.do, name).uniform(ids, n) for n in (0, 1)], axis=1)
            for name in self.variables
        ]
        share = Fraction(str(self.share))
        after, n_without = _swapped(before, parts, draws, share)
        # In one order, whatever that of the file: sums of numbers depend on it.
        moved = _correlation_moved(before[order], after[order])
        while self.most_moved is not None and moved is not None and moved > self.most_moved:
            share /= 2
            after, n_without = _swapped(before, parts, draws, share)
            moved = _correlation_moved(before[order], after[order])
        if n_without == int(np.isfinite(before).sum()):
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                "That is less than one rank: nothing would change."
                if share == Fraction(str(self.share))
                else "Correlations move by more than is allowed, however near partners are.",
                "Give a larger share, allow correlations to move further, or swap across the whole file.",
            )
        made, log = pram.with_numbers(table, self.variables, before, after, setting)
        told = [
            (
                f"{quoted(self.variables)}: values of near ranks changed places, none further than"
                f" {percent_text(float(share))} of the ranks{pram.within_words(within)}; every value is still"
                " there."
            ),
            pram.changed_words(log, self.variables),
        ]
        if moved is not None:
            told.append(f"No correlation between them moved by more than {three_digits(moved)}.")
        if n_without:
            told.append(
                f"{count_of(n_without, 'cell is', 'cells are')} in classes too small for one rank,"
                " and stayed."
            )
        found = {"stayed": n_without, "share": float(share)}
        return step.protected_by(
            self, table, made, log, setting, told=told, found=found, began=begun
        )


def _swapped(
    before: pram.Floats, parts: list[NDArray[np.int64]], draws: list[pram.Floats], share: Fraction
) -> tuple[pram.Floats, int]:
    """Return the numbers with partners exchanged, and how many cells had none within one rank."""
    after, n_without = before.copy(), 0
    for column, own_draws in enumerate(draws):
        for members in parts:
            own = members[np.isfinite(before[members, column])]
            if int(share * len(own)) < 1:
                n_without += len(own)
                continue
            after[own, column] = masking.rank_swapped(before[own, column], share, own_draws[own])
    return after, n_without


def _correlation_moved(before: pram.Floats, after: pram.Floats) -> float | None:
    """Return by how much a correlation moved at most; None where there is none to be told."""
    if before.shape[1] < 2:
        return None
    found: list[float] = []
    for one, other in combinations(range(before.shape[1]), 2):
        there = np.isfinite(before[:, one]) & np.isfinite(before[:, other])
        pairs = [side[there][:, [one, other]] for side in (before, after)]
        if len(pairs[0]) > 1 and all((pair.std(axis=0) > 0).all() for pair in pairs):
            old, new = (float(np.corrcoef(pair[:, 0], pair[:, 1])[0, 1]) for pair in pairs)
            found.append(abs(new - old))
    return max(found, default=None)


class Beyond(StrEnum):
    """What is released for a value beyond a limit."""

    LIMIT = "limit"
    MEAN = "mean"
    CATEGORY = "category"


@dataclass(frozen=True, kw_only=True)
class TailCode(step.Step):
    """Values beyond limits are released as the limit, their mean, or a category such as "85+"."""

    do: ClassVar[str] = "tail code"
    iso: ClassVar[str] = "top and bottom coding"
    variable: Annotated[str, Option("The numeric variable.")]
    top: float | None = option(None, "The upper limit.")
    bottom: float | None = option(None, "The lower limit.")
    top_share: float | None = option(
        None, "Find the upper limit: at most this share lies above it.", least=0, most=1
    )
    bottom_share: float | None = option(
        None, "Find the lower limit: at most this share lies below it.", least=0, most=1
    )
    beyond: Beyond = option(
        Beyond.LIMIT,
        "What values beyond a limit become: the limit, the mean of all beyond it, or a category of"
        " their own (of coded variables).",
    )
    at_least: int = option(
        1, "So many records look alike at the end, even if that takes more than the share.", least=1
    )
    weighted: bool = option(False, "Shares and means are by weight.")

    def apply(self, table: CodedTable, setting: step.Setting, place: int = 1) -> step.Protected:
        """Cut the tails."""
        begun = time.perf_counter()
        asked = f"The tails of {quoted([self.variable])} were to be coded."
        before = pram.read_numbers(table, [self.variable], setting, asked)
        self._check(asked, table)
        weights = pram.read_weights(table, setting, asked) if self.weighted else None
        there = np.isfinite(before[:, 0])
        given = None if weights is None else weights[there]
        known = before[there, 0]
        top, bottom = self._limits(asked, known, given)
        # Who has the limit itself is in the category as well.
        at = self.beyond == Beyond.CATEGORY
        n_top = n_bottom = 0
        if top is not None:
            n_top = int(np.count_nonzero(known >= top if at else known > top))
        if bottom is not None:
            n_bottom = int(np.count_nonzero(known <= bottom if at else known < bottom))
        if self.beyond == Beyond.CATEGORY:
            recode = self._recode(table, setting.decimal, top, bottom)
            made = table.recoded([recode])
            log = step.ChangeLog(table.n_records, {self.variable: step.VariableChange(recode)})
        else:
            after = before.copy()
            after[there, 0] = masking.tail_coded(
                known,
                top=top,
                bottom=bottom,
                value=masking.TailValue(str(self.beyond)),
                weights=given,
            )
            if self.beyond == Beyond.MEAN:
                after = pram.rounded(after, before, None)
            made, log = pram.with_numbers(table, [self.variable], before, after, setting)
        became = {
            Beyond.LIMIT: "have the limit",
            Beyond.MEAN: "have the mean of all beyond it",
            Beyond.CATEGORY: "are one category",
        }[Beyond(self.beyond)]
        ends = [
            f"{count_of(number, 'record')} {'at or ' if at else ''}{word} the {side} limit {became}"
            for number, word, side, limit in (
                (n_top, "above", "upper", top),
                (n_bottom, "below", "lower", bottom),
            )
            if limit is not None
        ]
        told = [f"{quoted([self.variable])}: {'; '.join(ends)}."]
        if self.beyond != Beyond.CATEGORY:
            told.append(pram.changed_words(log, [self.variable]))
        found = {"above": n_top, "below": n_bottom}
        fixed = replace(self, top=top, bottom=bottom, top_share=None, bottom_share=None)
        frozen = [] if fixed == self else [fixed]
        return step.protected_by(
            self, table, made, log, setting, told=told, found=found, frozen=frozen, began=begun
        )

    def _check(self, asked: str, table: CodedTable) -> None:
        found, do = "", ""
        if all(x is None for x in (self.top, self.bottom, self.top_share, self.bottom_share)):
            found, do = "No limit is given.", "Give a limit (top, bottom) or a share."
        elif (self.top is not None and self.top_share is not None) or (
            self.bottom is not None and self.bottom_share is not None
        ):
            found, do = "A limit and a share are given for the same end.", "Give one of them."
        elif self.beyond == Beyond.CATEGORY and self.variable not in table.codebook:
            found = "It is read as numbers, which have no categories."
            do = "Name it among the coded variables, or let values become the limit."
        elif self.beyond == Beyond.CATEGORY and self.variable in table.numbers:
            found = "It is read as codes and as numbers, and a category is no number."
            do = "Let values become the limit or their mean."
        if found:
            raise InputError(Reason.BAD_OPTION, asked, found, do)

    def _limits(
        self, asked: str, known: pram.Floats, weights: pram.Floats | None
    ) -> tuple[float | None, float | None]:
        value = masking.TailValue.MEAN if self.beyond == Beyond.MEAN else masking.TailValue.LIMIT
        found: list[float | None] = []
        for given, share, is_bottom in (
            (self.top, self.top_share, False),
            (self.bottom, self.bottom_share, True),
        ):
            if share is not None:
                given = masking.tail_limit(
                    known,
                    share,
                    bottom=is_bottom,
                    weights=weights,
                    least=self.at_least,
                    value=value,
                )
            found.append(given)
            if given is None or share is not None or self.at_least == 1:
                continue
            beyond = known < given if is_bottom else known > given
            alike = beyond if self.beyond == Beyond.MEAN else beyond | (known == given)
            n_alike = int(np.count_nonzero(alike))
            if 0 < n_alike < self.at_least:
                raise InputError(
                    Reason.BAD_OPTION,
                    asked,
                    f"{count_of(n_alike, 'record')} would look alike at the"
                    f" {'lower' if is_bottom else 'upper'} end, and {self.at_least:,} are asked for.",
                    "Move the limit inwards, or give a share: then the limit is found.",
                )
        top, bottom = found
        return top, bottom

    def _recode(
        self, table: CodedTable, decimal: str, top: float | None, bottom: float | None
    ) -> Recode:
        """Return the recoding by which everything from a limit on is one category."""
        variable = table.codebook[self.variable]
        numbers = [
            float_of(number_of(v, decimal) or Fraction(0)) for v in variable.values[MISSING + 1 :]
        ]
        upper = np.inf if top is None else top
        lower = -np.inf if bottom is None else bottom
        words = list(variable.words)
        for code, number in enumerate(numbers, MISSING + 1):
            if number >= upper:
                words[code] = f"{_shown(upper, decimal)}+"
            elif number <= lower:
                words[code] = f"up to {_shown(lower, decimal)}"
        return Recode.by_words(self.variable, words)


def _shown(limit: float, decimal: str) -> str:
    return (value_text(float(limit)) or "").replace(".", decimal)
