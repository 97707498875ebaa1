"""What many samples of a setting say together, as lines of tables, and which aims are met.

Errors are relative to the mean truth over the samples of the setting, so that a sample without any
population unique has one too: the mean over samples, and the mean of its absolute value. AUC is of the
sample uniques of all samples together, and within samples, where levels do not matter; differences
within samples are paired, with their standard error. The slope is that of the logistic calibration
line of P(F=1) over all samples together, 1 being ideal; the log loss is the mean of -log of the stated
probability of what is so. Covered is how often the interval of 95% held the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.populations import Setting
from benchmarks.truth.samples import Outcome
from gamekeeper.algorithms.judging import auc, calibration_line

Floats = NDArray[np.float64]

_RIVALS = ("printed", "main effects", "latent classes")
_FILE = (*_RIVALS, "pitman", "zayatz")
_RANKING = ("ours", *_RIVALS, "suda", "is")
_STATED = ("ours", *_RIVALS)
# A mean error relative to fewer than this says nothing.
_LEAST_TRUE = 5


@dataclass(frozen=True, slots=True)
class Errors:
    """The mean error, the mean absolute error and the standard error of the first, all relative."""

    mean: float
    absolute: float
    deviation: float

    def __str__(self) -> str:
        return f"{100 * self.mean:+.1f} ({100 * self.absolute:.1f})"


@dataclass(frozen=True, slots=True)
class Judged:
    """A setting with all its samples."""

    setting: Setting
    samples: Sequence[Outcome]

    def mean(self, name: str) -> float:
        """Return the mean of a number over the samples that have it."""
        return float(np.nanmean(self.every(name)))

    def every(self, name: str) -> Floats:
        """Return a number of each sample."""
        return np.array([sample.numbers.get(name, np.nan) for sample in self.samples])

    def errors(self, who: str, what: str) -> Errors | None:
        """Return the errors of an estimate, or None where some sample has none."""
        truth, found = self.every(f"true {what}"), self.every(f"{who} {what}")
        if not np.isfinite(found).all() or not truth.mean() > 0:
            return None
        off = (found - truth) / truth.mean()
        return Errors(
            float(off.mean()),
            float(np.abs(off).mean()),
            float(off.std(ddof=1) / np.sqrt(len(off))) if len(off) > 1 else float("nan"),
        )

    def together(self, who: str) -> tuple[NDArray[np.bool_], Floats]:
        """Return the truth and a score over the sample uniques of all samples."""
        truth = np.concatenate([sample.is_unique for sample in self.samples])
        return truth, np.concatenate([sample.scores[who] for sample in self.samples])

    def has(self, who: str) -> bool:
        """Tell whether every sample has such a score."""
        return all(who in sample.scores for sample in self.samples)

    def auc_together(self, who: str) -> float:
        """Return the AUC over the sample uniques of all samples."""
        found = auc(*self.together(who))
        return found.value if found else float("nan")

    def aucs(self, who: str) -> Floats:
        """Return the AUC of each sample."""
        found = [auc(sample.is_unique, sample.scores[who]) for sample in self.samples]
        return np.array([area.value if area else np.nan for area in found])

    def lead(self, over: str) -> tuple[float, float]:
        """Return by how much we lead in AUC within samples, and the standard error."""
        apart = self.aucs("ours") - self.aucs(over)
        apart = apart[np.isfinite(apart)]
        if len(apart) < 2:
            return float("nan"), float("nan")
        return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))

    def slope(self, who: str) -> float:
        """Return the slope of the calibration line of P(F=1)."""
        truth, stated = self.together(who)
        if truth.all() or not truth.any():
            return float("nan")
        return float(calibration_line(truth, np.clip(stated, 0, 1)).slope)

    def log_loss(self, who: str) -> float:
        """Return the mean of -log of the stated probability of what is so."""
        truth, stated = self.together(who)
        likely = np.clip(np.where(truth, stated, 1 - stated), 1e-6, 1)
        return float(-np.log(likely).mean()) if len(likely) else float("nan")

    def covered(self, what: str) -> float:
        """Return how often the interval held the truth."""
        truth = self.every(f"true {what}")
        return float(
            np.mean((self.every(f"lower {what}") <= truth) & (truth <= self.every(f"upper {what}")))
        )


def lines(every: Sequence[Judged]) -> Iterator[str]:
    """Yield the tables, in Markdown."""
    yield "Errors in percent: mean (mean absolute)."
    yield ""
    yield from _head("pairs", "tau-1", "ours", *_FILE, "covered")
    for one in every:
        yield _row(
            *_names(one),
            f"{one.mean('pairs'):.1f}",
            f"{one.mean('true tau1'):,.0f}",
            *(_text(one.errors(who, "tau1")) for who in ("ours", *_FILE)),
            f"{one.covered('tau1'):.0%}",
        )
    yield ""
    yield from _head(
        "Pr(CM\\|UM)",
        "ours",
        "printed",
        "DIS",
        "covered",
    )
    for one in every:
        yield _row(
            *_names(one),
            f"{one.mean('true um'):.3f}",
            *(_text(one.errors(who, "um")) for who in ("ours", "printed", "dis")),
            f"{one.covered('um'):.0%}",
        )
    yield ""
    leads = ("printed", "suda", "is")
    yield from _head(
        *(f"AUC {who}" for who in _RANKING),
        *(f"within: less {who}" for who in leads),
    )
    for one in every:
        yield _row(
            *_names(one),
            *(f"{one.auc_together(who):.3f}" if one.has(who) else "" for who in _RANKING),
            *("{:+.3f} ± {:.3f}".format(*one.lead(who)) for who in leads),
        )
    yield ""
    yield from _head(
        *(f"slope {who}" for who in _STATED),
        *(f"log loss {who}" for who in _STATED),
        "CPU s: search",
        "inference",
    )
    for one in every:
        yield _row(
            *_names(one),
            *(f"{one.slope(who):.2f}" if one.has(who) else "" for who in _STATED),
            *(f"{one.log_loss(who):.3f}" if one.has(who) else "" for who in _STATED),
            f"{one.mean('search seconds'):.2f}",
            f"{one.mean('inference seconds'):.2f}",
        )
    yield ""
    yield from aims(every)


def aims(every: Sequence[Judged]) -> Iterator[str]:
    """Yield how far the settings together are where they should be."""
    large = [one for one in every if one.mean("true tau1") >= _LEAST_TRUE]
    yield (
        f"{len(every)} settings, {len(large)} with {_LEAST_TRUE} population uniques or more on average;"
        " errors of tau-1 are judged on these."
    )
    for what, judged in (("tau1", large), ("um", every)):
        found = [errors for one in judged if (errors := one.errors("ours", what))]
        within = sum(abs(errors.mean) <= 0.1 for errors in found)
        far = sum(abs(errors.mean) > 0.15 + 2 * errors.deviation for errors in found)
        yield (
            f"- mean error of {what} within 10%: {within} of {len(found)}; beyond 15% and two standard"
            f" errors: {far}."
        )
    for who in ("printed", "suda", "is"):
        leads = [one.lead(who) for one in large]
        behind = sum(mean < -2 * error for mean, error in leads)
        pooled = sum(one.auc_together("ours") < one.auc_together(who) for one in large)
        yield (
            f"- AUC within samples below {who} by more than two standard errors: {behind} of"
            f" {len(large)}; over all samples together below it: {pooled}."
        )
    for fraction in sorted({one.setting.fraction for one in every}):
        some = [one for one in every if one.setting.fraction == fraction]
        absolute = {
            who: np.mean(
                [e.absolute for one in some if one in large and (e := one.errors(who, "tau1"))]
            )
            for who in ("ours", "printed")
        }
        slopes = [one.slope("ours") for one in some]
        yield (
            f"- at {fraction:.3g}: mean absolute error of tau-1 {absolute['ours']:.1%} (printed"
            f" {absolute['printed']:.1%}), median slope {np.nanmedian(slopes):.2f}, intervals of tau-1"
            f" covered {np.mean([one.covered('tau1') for one in some]):.1%}, of Pr(CM|UM)"
            f" {np.mean([one.covered('um') for one in some]):.1%}."
        )


def _names(one: Judged) -> tuple[str, ...]:
    setting = one.setting
    return (
        setting.population.name,
        str(setting.n_variables),
        f"{setting.fraction:.3%}".replace(".000", "").replace("00%", "%"),
        str(len(one.samples)),
    )


def _text(errors: Errors | None) -> str:
    return "" if errors is None else str(errors)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _head(*cells: str) -> Iterator[str]:
    yield _row("population", "keys", "sample", "samples", *cells)
    yield "|---|" + "--:|" * (3 + len(cells))
