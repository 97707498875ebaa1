"""What may be asked of an intruder with models."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from gamekeeper.algorithms.sampling_fraction import FractionLike
from gamekeeper.attack.shared_options import Household, Seed, Workers
from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.attack.models.fitting import ModelFit
    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.results import Progress

MOST_CELLS = 5_000_000
"""The largest table that is made unasked to infer values of a person."""


class FitMethod(StrEnum):
    """How models are searched."""

    MC3 = "mc3"
    ANNEALING = "annealing"
    OCCAM = "occam"

    @property
    def words(self) -> str:
        """The method in words."""
        return _METHODS[self]


_METHODS = {
    FitMethod.MC3: "MC3, several chains with tempering, averaged",
    FitMethod.ANNEALING: "simulated annealing, the best model",
    FitMethod.OCCAM: "Occam's window, all models nearly as good as the best",
}


class Cooling(StrEnum):
    """How annealing is cooled: by how the scores spread, or by the fixed schedule of the thesis."""

    ADAPTIVE = "adaptive"
    THESIS = "thesis"


class Estimator(StrEnum):
    """How population sizes are inferred from the probabilities of models."""

    CALIBRATED = "calibrated"
    PRINTED = "printed"
    FINITE = "finite"

    @property
    def words(self) -> str:
        """The estimate in words."""
        return _ESTIMATORS[self]


_ESTIMATORS = {
    Estimator.CALIBRATED: "calibrated by pairs, near twins and triples of the sample",
    Estimator.PRINTED: "Poisson with maximum likelihood, as printed in the thesis",
    Estimator.FINITE: "binomial with maximum likelihood, over the people outside the sample",
}


class By(StrEnum):
    """What is done to a category to see what it adds."""

    SUPPRESSION = "suppression"
    COLLAPSING = "collapsing"


Patient = Annotated[bool, Option("Search by mc3 or occam even where that may take hours.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """What may be asked of a search for models.

    With `keep_partial`, what was found by then is returned if `progress` raises `Cancelled`.
    """

    method: Annotated[
        FitMethod | str,
        Option(
            "mc3: Markov chains, averaged. annealing: the best model, fastest. occam: all models"
            " nearly as good as the best."
        ),
    ] = FitMethod.MC3
    precision: Annotated[
        float | None, Option("Total prior precision; by default several, from 1 up.", least=0)
    ] = None
    chains: Annotated[int, Option("Chains, or runs of annealing.", least=1, most=1_000)] = 4
    most_sweeps: Annotated[
        int,
        Option("How long chains may go on until they agree, in sweeps.", flags="--sweeps", least=4),
    ] = 32_000
    burn_in: Annotated[
        float, Option("The share of sweeps of a chain to leave out at its start.", least=0, most=1)
    ] = 0.5
    thin: Annotated[
        int, Option("Keep a model of a chain every so many sweeps.", least=1, most=1_000_000)
    ] = 1
    cooling: Annotated[
        Cooling | str,
        Option(
            "How annealing cools. adaptive: by how scores spread. thesis: the fixed schedule, one"
            " edge at a time."
        ),
    ] = Cooling.ADAPTIVE
    window: Annotated[
        float, Option("How many times less probable than the best a model of occam may be.")
    ] = 20.0
    most_models: Annotated[
        int, Option("How many models occam looks at, in either direction.", least=1)
    ] = 10_000
    patient: Patient = False
    seed: Seed = 0
    workers: Workers = None
    progress: Progress | None = None
    keep_partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InferOptions:
    """What may be asked of an inference from models.

    `fraction` is the sampling fraction, if another than that of the key table, one for all strata;
    `interval` the probability of intervals, and `seed` that of the draws behind those of the file.
    """

    estimator: Annotated[
        Estimator | str,
        Option(
            "calibrated: corrected by the sample itself. printed: as in the thesis, to compare;"
            " finite: the same for large sampling fractions, binomial instead of Poisson."
        ),
    ] = Estimator.CALIBRATED
    fraction: FractionLike | None = None
    household: Household = ""
    interval: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class InferInput(InferOptions):
    """The models that an inference is made from, and what is asked of it."""

    fit: ModelFit


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoriesOptions:
    """What may be asked of the categories of a variable."""

    by: Annotated[
        By | str,
        Option(
            "suppression: without the records that have the category. collapsing: joined with each"
            " other category in turn."
        ),
    ] = By.SUPPRESSION
    neighbours: Annotated[
        bool, Option("Collapse neighbouring categories only, for a variable on a scale.")
    ] = False
    max_pairs: Annotated[int, Option("Refuse to collapse more pairs than this.", least=1)] = 300
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class CategoriesInput(CategoriesOptions):
    """The keys of the file, the variable whose categories are judged, and what is asked."""

    key_table: KeyTable
    variable: str
