"""Re-identifying records of files that have no variable in common, by the structure they share.

Both files are clustered in several ways, into as many clusters each. Records that are together in
every clustering form a group. Groups of one file are matched with groups of the other so that
clusters correspond as well as they can (Torra 2000). Single records are linked by the distances
within the files: over the whole files, or within matched groups where files are large.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linkage.record_order import values_order
from gamekeeper.algorithms.structure.clusterings import MOST_RECORDS, normalise
from gamekeeper.algorithms.structure.common_clusterings import (
    TECHNIQUES,
    CommonClusterings,
    cluster_alike,
)
from gamekeeper.algorithms.structure.conjunction import Conjunction, conjunction
from gamekeeper.algorithms.structure.distance_matching import match_structure
from gamekeeper.algorithms.structure.group_matching import GroupMatching, match_groups
from gamekeeper.algorithms.structure.group_success import checked_truth, group_success
from gamekeeper.algorithms.structure.individual_matching import match_individuals
from gamekeeper.algorithms.structure.steadiness import steadiness
from gamekeeper.attack.linkage.links.structure_links import StructureLinks
from gamekeeper.attack.linkage.options import Individuals, StructureInput
from gamekeeper.options import takes
from gamekeeper.results import Provenance
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


_WORDS = {
    Individuals.WHOLE: "by all distances within the files",
    Individuals.CLUSTERS: "by distances to matched clusters",
    Individuals.GROUPS: "within matched groups",
    Individuals.NONE: "",
}
_MOST_WHOLE = 5_000
# From so many records on, linking halves of the columns takes more than a few seconds.
_MOST_HALVED = 300
_HALVES = 6
# Steps grow with the third power of the records: 5,000 are given 4, which take half a minute. Files
# that share their structure need 3 or 4, and for others more steps find no more.
_WORK = 4 * 5_000**3
_MOST_STEPS = 60
# One matrix of costs between so many records.
_MOST_CLUSTERS = 10_000


@takes(StructureInput)
def link_structure(a: ArrayLike, asked: StructureInput) -> StructureLinks:
    """Link records of two files that have no variable in common.

    The files are numbers, one row per record and any columns, which are scaled to 0 to 1 here.
    `techniques` says how to cluster, six ways by default; objects with `fit_predict` may be among
    them. `weights` has what each column counts after scaling, `origins` which columns stand for one
    together, such as the categories of a variable. `truth` is the true partner of each record of the
    first file, -1 for none.

    Examples
    --------
    >>> points = np.array([[0.0, 0.1], [0.2, 0.0], [5.0, 5.2], [5.1, 4.9], [9.0, 0.0]])
    >>> found = link_structure(points, points[[4, 3, 2, 1, 0]] * 10, n_clusters=3)
    >>> found.summary()["similarity"] == found.summary()["upper_bound"]
    True
    """
    started = time.perf_counter()
    seed, progress = asked.seed, asked.progress
    left, right = normalise(a), normalise(asked.b)
    notes = (*asked.notes, *_notes(left, "first"), *_notes(right, "second"))
    if asked.weights is not None:
        left, right = (
            np.ascontiguousarray(side * np.asarray(its, np.float64))
            for side, its in zip((left, right), asked.weights, strict=True)
        )
    fingerprint = sha256(left.tobytes() + right.tobytes()).hexdigest()[:16]
    # The order of records must not matter: among equals, it decides.
    orders = _order(left, 0, seed), _order(right, 1, seed)
    left, right = left[orders[0]], right[orders[1]]
    clustered = cluster_alike(
        left,
        right,
        TECHNIQUES if asked.techniques is None else asked.techniques,
        n_clusters=asked.n_clusters,
        most_records=asked.most_records or MOST_RECORDS,
        progress=progress,
    )
    links = None if asked.truth is None else checked_truth(asked.truth, len(left), len(right))
    back = np.argsort(orders[0]), np.argsort(orders[1])
    moved = None
    if links is not None:
        moved = np.where(links >= 0, back[1][links], -1)[orders[0]]
    groups_a, groups_b, matching = _matched(clustered, range(len(clustered.names)), asked)
    pointed = matching.groups[groups_a.classes]
    by = _how(Individuals(asked.individuals), max(len(left), len(right)))
    records = None
    if by is Individuals.WHOLE:
        steps = min(_MOST_STEPS, max(_WORK // max(len(left), len(right)) ** 3, 1))
        records = match_structure(
            _distances(left), _distances(right), most_steps=steps, progress=progress
        ).columns
    elif by is not Individuals.NONE:
        records = match_individuals(
            left,
            right,
            clustered.labels_a,
            clustered.labels_b,
            matching.mappings,
            blocks=(pointed, groups_b.classes) if by is Individuals.GROUPS else None,
            progress=progress,
        )
    success = None if moved is None else group_success(pointed, groups_b, moved)
    by_links, steady = None, None
    if by is Individuals.WHOLE and records is not None:
        if moved is not None:
            pointed_by_links = _by_links(groups_a, groups_b, records)
            by_links = group_success(pointed_by_links, groups_b, moved)
        n_runs = asked.halves
        if n_runs is None:
            n_runs = _HALVES if max(len(left), len(right)) <= _MOST_HALVED else 0
        steady = steadiness(
            left,
            right,
            records,
            lambda x, y: match_structure(_distances(x), _distances(y)).columns,
            n_runs=n_runs,
            origins=None
            if asked.origins is None
            else (np.asarray(asked.origins[0]), np.asarray(asked.origins[1])),
            seed=seed,
            progress=progress,
        )
    drops = None
    if asked.leave_out and success is not None and moved is not None and len(clustered.names) > 1:
        drops = np.zeros(len(clustered.names))
        for t in range(len(drops)):
            others = [k for k in range(len(drops)) if k != t]
            part_a, part_b, part = _matched(clustered, others, asked)
            without = group_success(part.groups[part_a.classes], part_b, moved)
            drops[t] = success.share - without.share
            if progress is not None:
                progress(t + 1, len(drops))
    in_first, numbers_a = groups_a.taken(back[0])
    in_second, numbers = groups_b.taken(back[1])
    by_number = np.argsort(numbers_a)
    pointing = matching.groups[by_number]
    matching = replace(
        matching,
        groups=np.where(pointing >= 0, numbers[pointing], -1),
        agreements=matching.agreements[by_number],
    )
    if records is not None:
        records = np.where(records >= 0, orders[1][records], -1)[back[0]]
    success, by_links = (
        None if one is None else replace(one, is_correct=one.is_correct[back[0]])
        for one in (success, by_links)
    )
    return StructureLinks(
        clustered.names,
        clustered.n_clusters,
        in_first,
        in_second,
        matching,
        records,
        _WORDS[by],
        links,
        success,
        drops,
        notes,
        Provenance(
            "re-identification by structure",
            "one to one" if asked.one_to_one else "",
            {
                "clusterings": ", ".join(clustered.names),
                "clusters": ", ".join(map(str, clustered.n_clusters)),
            },
            seed=seed,
            fingerprint=fingerprint,
            seconds=time.perf_counter() - started,
        ),
        by_links,
        None if steady is None else replace(steady, votes=steady.votes[back[0]]),
    )


def _order(values: Floats, side: int, seed: int) -> Integers:
    return values_order([(str(k), column) for k, column in enumerate(values.T)], side, seed)


def _by_links(groups_a: Conjunction, groups_b: Conjunction, records: Integers) -> Integers:
    """Return for each record the group of the second file that most links of its group go to."""
    n_a, n_b = len(groups_a.sizes), len(groups_b.sizes)
    linked = records >= 0
    counts = np.zeros((n_a, n_b), np.int64)
    np.add.at(counts, (groups_a.classes[linked], groups_b.classes[records[linked]]), 1)
    pointed = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    return pointed[groups_a.classes]


def _notes(values: Floats, which: str) -> list[str]:
    """Return what to know of a file whose variables do not all vary."""
    n_constant = int(np.count_nonzero(values.max(axis=0) == values.min(axis=0)))
    if n_constant == values.shape[1]:
        return [f"All records of the {which} file are alike: its clusters say nothing."]
    if not n_constant:
        return []
    columns = count_of(n_constant, "column of", "columns of")
    verb = "is constant and tells" if n_constant == 1 else "are constant and tell"
    return [f"{columns} the {which} file {verb} no records apart."]


def _how(asked: Individuals, n_records: int) -> Individuals:
    if asked is not Individuals.AUTO:
        return asked
    if n_records <= _MOST_WHOLE:
        return Individuals.WHOLE
    return Individuals.CLUSTERS if n_records <= _MOST_CLUSTERS else Individuals.GROUPS


def _distances(values: Floats) -> Floats:
    """Return Manhattan distances: on the data tried, they find more records than Euclidean ones."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(values, values, "cityblock"), np.float64)


def _matched(
    clustered: CommonClusterings, chosen: Sequence[int], asked: StructureInput
) -> tuple[Conjunction, Conjunction, GroupMatching]:
    columns = list(chosen)
    a = conjunction(clustered.labels_a[:, columns])
    b = conjunction(clustered.labels_b[:, columns])
    matching = match_groups(
        a.rows,
        b.rows,
        one_to_one=asked.one_to_one,
        sizes=(a.sizes, b.sizes),
        restarts=asked.restarts,
        seed=asked.seed,
    )
    return a, b, matching
