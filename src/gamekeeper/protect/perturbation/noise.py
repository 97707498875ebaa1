"""Noise as a step: numbers with random ones added, moments kept if asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from gamekeeper.algorithms.perturbation.moment_noise import moments, with_noise
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option
from gamekeeper.protect.perturbation.columns import (
    Floats,
    canonical_order,
    changed_words,
    left_words,
    read_numbers,
    read_weights,
    rounded,
    with_numbers,
)
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.wording import count_of, digits_text, percent_text, quoted, share_text


@dataclass(frozen=True, kw_only=True)
class Noise(Step):
    """Random numbers are added."""

    do: ClassVar[str] = "noise"
    iso: ClassVar[str] = "noise addition"

    variables: Annotated[tuple[str, ...], Option("The numeric variables.")]
    share: Annotated[
        float, Option("The variance of the noise as a share of that of the variable.", least=1e-9)
    ] = 0.1
    correlated: Annotated[
        bool, Option("Noise has the correlations of the variables, so that theirs stay.")
    ] = True
    keep_moments: Annotated[
        bool, Option("Means and covariances become those of before, but for rounding and limits.")
    ] = True
    keep_range: Annotated[bool, Option("No value leaves the range that the variable had.")] = True
    keep_zeros: Annotated[
        bool, Option("A zero stays a zero: it often means that there is none.")
    ] = True
    weighted: Annotated[bool, Option("Keep moments by weight.")] = False
    decimals: Annotated[
        int | None,
        Option("Round to so many decimals.", least=0, most=15, default_text="as in the file"),
    ] = None

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Add noise to the records that have all the numbers."""
        begun = time.perf_counter()
        asked = f"Noise with {percent_text(self.share)} of the variance was to be added."
        before = read_numbers(table, self.variables, setting, asked)
        weights = read_weights(table, setting, asked) if self.weighted else None
        order = canonical_order(table, setting)
        own = order[np.isfinite(before[order]).all(axis=1)]
        if not len(own):
            raise InputError(
                Reason.NOTHING_GIVEN,
                asked,
                "No record has all of these numbers.",
                "Name fewer variables at a time.",
            )
        ids = setting.records(table)[own]
        normals = np.stack(
            [setting.stream(place, self.do, name).normal(ids) for name in self.variables], axis=1
        )
        values = before[own]
        noisy = with_noise(
            values,
            self.share,
            normals,
            correlated=self.correlated,
            keep_moments=self.keep_moments,
            weights=None if weights is None else weights[own],
        )
        noisy = rounded(noisy, before, self.decimals)
        n_held = 0
        if self.keep_range:
            held = np.clip(noisy, values.min(axis=0), values.max(axis=0))
            n_held, noisy = int(np.count_nonzero(held != noisy)), held
        if self.keep_zeros:
            noisy[values == 0] = 0.0
        after = before.copy()
        after[own] = noisy
        made, log = with_numbers(table, self.variables, before, after, setting)
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
            changed_words(log, self.variables),
        ]
        if n_held:
            told.append(
                f"{count_of(n_held, 'cell')} would have left the range of the variable, and"
                f" {'has' if n_held == 1 else 'have'} its end."
            )
        told += left_words(n_left, "noise")
        found = {
            "mean_moved": moved[0],
            "variance_moved": moved[1],
            "correlation_moved": moved[2],
            "left_as_they_are": n_left,
        }
        return protected_by(self, table, made, log, setting, told=told, found=found, began=begun)


def _moved(before: Floats, after: Floats, weights: Floats | None) -> tuple[float, float, float]:
    """Return by how much means, variances and correlations moved at most."""
    if not len(before):
        return 0.0, 0.0, 0.0
    (mean, covariance), (mean_after, covariance_after) = (
        moments(values, weights) for values in (before, after)
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
