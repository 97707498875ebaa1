"""Torra's experiment over many random splits: `python -m benchmarks.ionosphere [SPLITS]`.

The objects are the 34 variables and the class of the ionosphere file, normalised; 170 of its
examples describe them in file A, the other 181 in file B. Correct is an object that lies in the
class pointed at; beside it stands what would be by chance. The folder GAMEKEEPER_DATA has to hold
ionosphere/ionosphere.csv. The paper has one split, with 57% correct.
"""

from __future__ import annotations

import csv
import os
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.structure.clusterings import (
    TECHNIQUES,
    cluster_alike,
    conjunction,
    dissimilarity_code,
    normalise,
)
from gamekeeper.algorithms.structure.group_matching import group_success, match_groups
from gamekeeper.algorithms.structure.individual_matching import match_individuals, match_structure
from gamekeeper.algorithms.structure.kernels import square_table

__all__ = ["main", "one_split", "read_objects"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

_N_EXAMPLES_A = 170
# In the order of TECHNIQUES, as many clusters as the paper has.
_PAPER = (4, 4, 4, 4, 7, 5)


def read_objects(folder: Path) -> Floats:
    """Return the examples in rows and the objects in columns, each object scaled to 0 .. 1."""
    with (folder / "ionosphere" / "ionosphere.csv").open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    values = [[*map(float, line[:-1]), float(line[-1] == "good")] for line in lines]
    return normalise(values)


def one_split(examples: Floats, seed: int) -> dict[str, float]:
    """Return the shares of correct objects of one split, by name of the method."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(examples))
    shuffled = rng.permutation(examples.shape[1])
    a = np.ascontiguousarray(examples[order[:_N_EXAMPLES_A]].T)
    b = np.ascontiguousarray(examples[order[_N_EXAMPLES_A:]].T[shuffled])
    truth = np.argsort(shuffled)
    found: dict[str, float] = {}
    for kind in ("manhattan", "taxonomic"):
        code = dissimilarity_code(kind)
        links = match_structure(square_table(a, code), square_table(b, code))
        found[f"objects, distances within the files alone ({kind})"] = float(
            (links.columns == truth).mean()
        )
    for name, n_clusters, fewest in (
        ("clusters as in the paper", _PAPER, 4),
        ("clusters chosen from 4 to 10", None, 4),
        ("clusters chosen from 2 to 10", None, 2),
    ):
        labels = cluster_alike(a, b, TECHNIQUES, n_clusters=n_clusters, fewest=fewest)
        both = labels.labels_a, labels.labels_b
        classes_a, classes_b = conjunction(both[0]), conjunction(both[1])
        found[f"{name}: classes of A"] = len(classes_a.rows)
        sizes = classes_a.sizes, classes_b.sizes
        for how, given in (("", None), (", sizes break ties", sizes)):
            matching = match_groups(
                classes_a.rows, classes_b.rows, sizes=given, restarts=6, exact=False
            )
            success = group_success(matching.groups[classes_a.classes], classes_b, truth)
            found[f"{name}: classes matched{how}"] = success.share
            found[f"{name}: classes matched{how}, by chance"] = success.by_chance / len(truth)
        matching = match_groups(*both, one_to_one=True, restarts=6, exact=False)
        pointed = classes_b.classes[matching.groups]
        success = group_success(pointed, classes_b, truth)
        found[f"{name}: objects matched one-to-one"] = success.share
        found[f"{name}: objects matched one-to-one, by chance"] = success.by_chance / len(truth)
        for how, blocks in (("within classes", (pointed, classes_b.classes)), ("anywhere", None)):
            links = match_individuals(
                a, b, *both, matching.mappings, blocks=blocks, dissimilarity="manhattan"
            )
            share = float((links == truth).mean())
            found[f"{name}: then objects linked {how}"] = share
    labels_a, labels_b = _labels(a, b)
    every = list(range(len(TECHNIQUES)))
    share = _share(labels_a, labels_b, every, truth)
    for left_out, technique in enumerate(TECHNIQUES):
        without = _share(labels_a, labels_b, [t for t in every if t != left_out], truth)
        found[f"lost without {technique} (share of objects)"] = share - without
    return found


def _share(labels_a: Labels, labels_b: Labels, kept: list[int], truth: Labels) -> float:
    """Return the share of objects in the class pointed at, by some of the techniques."""
    left, right = labels_a[:, kept], labels_b[:, kept]
    matching = match_groups(left, right, one_to_one=True, restarts=3, exact=False)
    classes = conjunction(right)
    return group_success(classes.classes[matching.groups], classes, truth).share


def _labels(a: Floats, b: Floats) -> tuple[Labels, Labels]:
    labels = cluster_alike(a, b, TECHNIQUES, fewest=4)
    return labels.labels_a, labels.labels_b


def main() -> None:
    """Print means over the splits, with their standard errors and quartiles."""
    folder = os.environ.get("GAMEKEEPER_DATA")
    if folder is None:
        print("Set GAMEKEEPER_DATA to a folder with ionosphere/ionosphere.csv.")
        raise SystemExit(2)
    n_splits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    examples = read_objects(Path(folder))
    shares: dict[str, list[float]] = defaultdict(list)
    for seed in range(n_splits):
        for name, share in one_split(examples, seed).items():
            shares[name].append(share)
    print(f"{n_splits} splits; mean, standard error, lower and upper quartile")
    for name, values in shares.items():
        error = np.std(values) / np.sqrt(len(values))
        low, high = np.quantile(values, [0.25, 0.75])
        print(f"{np.mean(values):8.3f} {error:6.3f} {low:7.3f} {high:7.3f}  {name}")


if __name__ == "__main__":
    main()
