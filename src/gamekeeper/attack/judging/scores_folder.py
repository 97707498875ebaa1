"""A folder that keeps the scored samples of a comparison, so that it can be resumed.

Beside the plan and the numbers of a simulation's folder, each finished sample has one file of
arrays: class sizes and scores of its sample uniques, without the records they belong to; none of
a sample for attacks only. It is written before the sample counts as finished.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.judging.attacks import ATTACKS
from gamekeeper.attack.judging.scores import AttackValue, ScoredSample, Scores
from gamekeeper.attack.simulation.folder import SampleFolder
from gamekeeper.files.writing import write_file

_PARTS = ("values", "match", "unique")
_VALUES = ("pr_cm", "cost", "keys")


class ScoreFolder:
    """The scored samples of one plan, on disk."""

    def __init__(self, path: Path, plan: Mapping[str, Any], measures: Sequence[str]) -> None:
        """Open a folder, or make it; refuse one that belongs to another plan."""
        self.path = path
        self.measures = tuple(measures)
        self._numbers = SampleFolder(path, plan)

    def read(self, number: int, fraction: str) -> ScoredSample | None:
        """Return a finished sample, or None if it must still be drawn."""
        numbers = self._numbers.read(number, fraction)
        if numbers is None:
            return None
        try:
            with np.load(self._path(number), allow_pickle=False) as kept:
                arrays = {name: kept[name] for name in kept.files}
            return self._sample(numbers, arrays)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def write(self, number: int, fraction: str, sample: ScoredSample) -> None:
        """Keep a finished sample."""
        arrays: dict[str, NDArray[Any]] = {"population_sizes": sample.population_sizes}
        if sample.joint is not None:
            arrays["joint"] = sample.joint
        numbers: dict[str, float | None] = {"judged": float(bool(sample.scores))}
        for place, name in enumerate(self.measures):
            numbers[f"{place}.seconds"] = sample.seconds.get(name)
            scores = sample.scores.get(name)
            if scores is None:
                continue
            for part in _PARTS:
                column = getattr(scores, part)
                if column is not None:
                    arrays[f"{place}.{part}"] = column
            numbers[f"{place}.pr_cm_given_um"] = scores.pr_cm_given_um
        for (attack, name), value in sample.attacks.items():
            place = self.measures.index(name) if name else ""
            for part in _VALUES:
                numbers[f"{place}.{attack}.{part}"] = getattr(value, part)
        write_file(
            self._path(number),
            lambda file: np.savez_compressed(file, allow_pickle=False, **arrays),
            private=True,
            asked="A sample of a comparison was to be kept in {}.",
        )
        self._numbers.write(number, fraction, numbers)

    def _sample(
        self, numbers: Mapping[str, float | None], arrays: Mapping[str, NDArray[Any]]
    ) -> ScoredSample:
        # A sample for attacks only has no scores.
        joint = arrays["joint"] if numbers["judged"] else None
        scores: dict[str, Scores] = {}
        seconds: dict[str, float] = {}
        for place, name in enumerate(self.measures):
            taken = numbers[f"{place}.seconds"]
            if taken is not None:
                seconds[name] = taken
            if joint is not None:
                scores[name] = Scores(
                    arrays[f"{place}.values"],
                    arrays.get(f"{place}.match"),
                    arrays.get(f"{place}.unique"),
                    numbers[f"{place}.pr_cm_given_um"],
                )
        return ScoredSample(
            arrays["population_sizes"], scores, seconds, joint, self._attacks(numbers)
        )

    def _attacks(self, numbers: Mapping[str, float | None]) -> dict[tuple[str, str], AttackValue]:
        found: dict[tuple[str, str], AttackValue] = {}
        places = [("", ""), *((str(place), name) for place, name in enumerate(self.measures))]
        for place, name in places:
            for attack in ATTACKS:
                pr_cm, cost, keys = (numbers.get(f"{place}.{attack}.{part}") for part in _VALUES)
                if pr_cm is not None:
                    found[attack, name] = AttackValue(pr_cm, cost, keys)
        return found

    def _path(self, number: int) -> Path:
        return self.path / f"sample-{number + 1:06d}.npz"
