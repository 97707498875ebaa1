"""Re-identifying records of files that have no variable in common, by the structure they share.

Both files are clustered in several ways, into as many clusters each. Records that are together in
every clustering form a group. Groups of one file are matched with groups of the other so that
clusters correspond as well as they can (Torra 2000). Single records are linked by the distances
within the files: over the whole files, or within matched groups where files are large.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linkage.blocking import values_order
from gamekeeper.algorithms.structure import group_matching, individual_matching
from gamekeeper.algorithms.structure.clusterings import (
    MOST_RECORDS,
    TECHNIQUES,
    CommonClusterings,
    Conjunction,
    cluster_alike,
    conjunction,
    normalise,
)
from gamekeeper.arrow import pa
from gamekeeper.attack.linkage.options import Individuals, StructureInput
from gamekeeper.attack.linkage.truth import plot_structure, share_interval
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import count_of, percent_range, percent_text, times_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Between what was measured where links were right and where they were not.
_STEADY, _SOMEWHAT = 0.5, 0.15
# Files of so many groups and clusterings that share nothing were never seen to correspond throughout.
_MANY_GROUPS, _MANY_CLUSTERINGS = 10, 6


@dataclass(frozen=True, repr=False)
class StructureLinks(Result):
    """Groups and records of two files that belong together by structure.

    - `links`: the record that each record of the first file is linked with, from 0; -1 for none.
      None where records were not to be linked.
    - `success`: how many records are in the group pointed at; None where truth is not known.
    - `drops`: for each clustering by how much that share falls when it is left out; None where
      truth is not known or it was not asked for.
    - `by_links`: how many records are in the group that most links of their group go to; None where
      truth is not known or records were not linked over the whole files.
    - `steady`: whether links come back from halves of the columns; None where that was not tried.
    """

    clusterings: tuple[str, ...]
    n_clusters: tuple[int, ...]
    groups_a: Conjunction
    groups_b: Conjunction
    matching: group_matching.GroupMatching
    links: Integers | None
    linked_by: str
    truth: Integers | None
    success: group_matching.GroupSuccess | None
    drops: Floats | None
    notes: tuple[str, ...]
    provenance: Provenance
    by_links: group_matching.GroupSuccess | None = None
    steady: individual_matching.Steadiness | None = None

    @property
    def agreements(self) -> Floats:
        """For each clustering the share of the groups whose clusters correspond."""
        total = max(len(self.matching.groups), 1)
        return np.asarray(self.matching.by_technique, np.float64) / total

    @property
    def n_records(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return len(self.groups_a.classes), len(self.groups_b.classes)

    @property
    def n_correct(self) -> int | None:
        """The number of records that are linked to their true partner."""
        if self.truth is None or self.links is None:
            return None
        columns = self.links
        return int(np.count_nonzero((columns == self.truth) & (columns >= 0)))

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers; those of right records only where truth is known."""
        numbers = {
            "records_a": self.n_records[0],
            "records_b": self.n_records[1],
            "groups_a": len(self.groups_a.sizes),
            "groups_b": len(self.groups_b.sizes),
            "similarity": self.matching.similarity,
            "upper_bound": self.matching.upper_bound,
            "in_the_right_group": None if self.success is None else self.success.n_correct,
            "by_chance": None if self.success is None else self.success.by_chance,
            "in_the_right_group_by_links": None
            if self.by_links is None
            else self.by_links.n_correct,
            "right_record": self.n_correct,
            "steadiness": None if self.steady is None else self.steady.share,
            "believable": self.believable,
        }
        return {name: number for name, number in numbers.items() if number is not None}

    @property
    def is_whole_match(self) -> bool:
        """Whether all groups of both files correspond in every clustering."""
        n_groups = len(self.groups_a.sizes)
        return (
            # One group corresponds with one whatever the files are.
            n_groups == len(self.groups_b.sizes) > 1
            and bool((self.matching.groups >= 0).all())
            and len(np.unique(self.matching.groups)) == n_groups
            and bool(self.matching.agreements.all())
        )

    @property
    def _is_telling_match(self) -> bool:
        """Whether all groups correspond, and that is no chance: there are many, as large in both."""
        return (
            self.is_whole_match
            and len(self.groups_a.sizes) >= _MANY_GROUPS
            and len(self.clusterings) >= _MANY_CLUSTERINGS
            and np.array_equal(self.groups_a.sizes, self.groups_b.sizes[self.matching.groups])
        )

    @property
    def believable(self) -> str | None:
        """Whether links can be believed: "yes", "in part", "not shown"; None where not tried."""
        if self.steady is None:
            return None
        if self.steady.share >= _STEADY:
            return "yes"
        is_in_part = self.steady.share >= _SOMEWHAT or self._is_telling_match
        return "in part" if is_in_part else "not shown"

    def _belief(self) -> list[str]:
        said = [self._by_halves()]
        if self.believable == "not shown":
            said.append(
                "That proves no safety: columns that have nothing to do with each other can link all"
                " records rightly, and halves of them do not show it."
            )
        if self.is_whole_match:
            said.append(
                "All groups correspond in every clustering and are as large in both files: files that"
                " share nothing hardly ever do so, and the links may well be right."
                if self._is_telling_match
                else "All groups correspond in every clustering, as in files that share their structure;"
                " so few groups or clusterings, or groups of other sizes, can do so by chance."
            )
        return said

    def _by_halves(self) -> str:
        if self.steady is None:
            # Silence would be taken for a sign that nothing speaks against the links.
            return (
                "Whether this can be believed is not known: no links from halves of the columns were"
                " compared, which takes two files of at least four columns and links over the whole"
                " files (--halves, --individuals whole)."
            )
        share = self.steady.share
        n_back = int(np.count_nonzero(2 * self.steady.votes >= self.steady.n_runs))
        verdict = {
            "yes": "the links can be believed",
            "in part": "the links can be believed in part",
            "not shown": "nothing shows that the links can be believed",
        }[self.believable or "not shown"]
        if self.believable == "in part" and share < _SOMEWHAT:
            verdict += ", by their groups alone"
        if self.truth is not None:
            # Beside a count of right links it would be a contradiction.
            verdict = f"to somebody who does not know the truth, {verdict}"
        back = "link comes back" if n_back == 1 else "links come back"
        return (
            f"{verdict[0].upper()}{verdict[1:]}: from halves of the columns, {percent_text(share)} of the"
            f" records are linked alike in two of {self.steady.n_runs} runs, and {n_back:,} {back} in at"
            " least half of them."
        )

    def _right(self) -> list[str]:
        if self.success is None:
            return []
        said: list[str] = []
        found, correct = self.success, self.n_correct
        if correct is not None:
            share = correct / max(found.n_known, 1)
            low, high = share_interval(correct, found.n_known)
            by_chance = times_text(found.n_known / max(*self.n_records, 1))
            said.append(
                f"{count_of(correct, 'record is', 'records are')} linked to"
                f" {'its' if correct == 1 else 'their'} partner, {self.linked_by}:"
                f" {percent_text(share)} ({percent_range(low, high)}). Links drawn at"
                f" random would be correct {by_chance}."
            )
        low, high = share_interval(found.n_correct, found.n_known)
        said.append(
            f"{found.n_correct:,} of {count_of(found.n_known, 'record')} have their partner in the"
            f" group pointed at, {percent_text(found.share)} ({percent_range(low, high)}); by"
            f" chance it would be {found.by_chance:.1f}."
            f" {count_of(found.alone, 'partner is', 'partners are')} alone there."
        )
        if self.by_links is not None:
            other = self.by_links
            said.append(
                f"In the group that most links of their group go to, it is {other.n_correct:,}"
                f" ({percent_text(other.share)}); by chance {other.by_chance:.1f}."
            )
        return said

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        matching = self.matching
        groups = len(self.groups_a.sizes), len(self.groups_b.sizes)
        most = len(matching.groups) * len(self.clusterings)
        said = [
            # What is right comes before what somebody would believe who does not know it.
            *self._right(),
            *self._belief(),
            (
                f"{count_of(len(self.clusterings), 'clustering divides', 'clusterings divide')} the"
                f" {self.n_records[0]:,} and {self.n_records[1]:,} records into {groups[0]:,} and"
                f" {groups[1]:,} groups."
            ),
            (
                "Groups are matched so that clusters correspond in"
                f" {matching.similarity:,} of {most:,} pairs of a group and a clustering"
            )
            + (
                "; no matching does better."
                if matching.is_optimal
                else f"; no matching does better than {matching.upper_bound:,}."
            ),
        ]
        if self.drops is not None:
            most_missed = int(np.argmax(self.drops))
            drop = self.drops[most_missed]
            said.append(
                f"Most is lost without '{self.clusterings[most_missed]}': the share in the right group"
                f" falls by {percent_text(drop)}."
                if drop > 0
                else "Without any one of the clusterings, no fewer are in the right group."
            )
        return [*said, *self.notes]

    def to_arrow(self) -> pa.Table:
        """Return one row per record of the first file, numbered from 1 as in the files."""
        group = self.groups_a.classes
        pointed = self.matching.groups[group]
        columns: dict[str, Any] = {
            "record": pa.array(np.arange(1, self.n_records[0] + 1)),
            "group": pa.array(group + 1),
            "matched_group": pa.array(pointed + 1, mask=pointed < 0),
            "clusterings_that_agree": pa.array(self.matching.agreements.sum(axis=1)[group]),
        }
        if self.links is not None:
            links = self.links
            columns["linked_to"] = pa.array(links + 1, mask=links < 0)
        if self.steady is not None:
            columns["came_back"] = pa.array(self.steady.votes / max(self.steady.n_runs, 1))
        if self.success is not None:
            columns["right_group"] = pa.array(self.success.is_correct)
        if self.truth is not None and self.links is not None:
            columns["correct"] = pa.array((self.links == self.truth) & (self.links >= 0))
        return pa.table(columns)

    def clusterings_table(self) -> pa.Table:
        """Return one row per clustering: its clusters, how much it agrees, what it carries."""
        columns: dict[str, Any] = {
            "clustering": pa.array(self.clusterings, pa.string()),
            "clusters": pa.array(self.n_clusters),
            "agreement": pa.array(self.agreements),
        }
        if self.drops is not None:
            columns["drop_without_it"] = pa.array(self.drops)
        return pa.table(columns)

    def plot(self) -> Figure:
        """Draw how much each clustering agrees and carries; needs no display."""
        return plot_structure(self)

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


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
    links = (
        None
        if asked.truth is None
        else group_matching.checked_truth(asked.truth, len(left), len(right))
    )
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
        records = individual_matching.match_structure(
            _distances(left), _distances(right), most_steps=steps, progress=progress
        ).columns
    elif by is not Individuals.NONE:
        records = individual_matching.match_individuals(
            left,
            right,
            clustered.labels_a,
            clustered.labels_b,
            matching.mappings,
            blocks=(pointed, groups_b.classes) if by is Individuals.GROUPS else None,
            progress=progress,
        )
    success = None if moved is None else group_matching.group_success(pointed, groups_b, moved)
    by_links, steady = None, None
    if by is Individuals.WHOLE and records is not None:
        if moved is not None:
            pointed_by_links = _by_links(groups_a, groups_b, records)
            by_links = group_matching.group_success(pointed_by_links, groups_b, moved)
        n_runs = asked.halves
        if n_runs is None:
            n_runs = _HALVES if max(len(left), len(right)) <= _MOST_HALVED else 0
        steady = individual_matching.steadiness(
            left,
            right,
            records,
            lambda x, y: individual_matching.match_structure(_distances(x), _distances(y)).columns,
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
            without = group_matching.group_success(part.groups[part_a.classes], part_b, moved)
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
    n_a, n_b = len(groups_a.sizes), len(groups_b.sizes)
    linked = records >= 0
    counts = np.zeros((n_a, n_b), np.int64)
    np.add.at(counts, (groups_a.classes[linked], groups_b.classes[records[linked]]), 1)
    pointed = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    return pointed[groups_a.classes]


def _notes(values: Floats, which: str) -> list[str]:
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
) -> tuple[Conjunction, Conjunction, group_matching.GroupMatching]:
    columns = list(chosen)
    a = conjunction(clustered.labels_a[:, columns])
    b = conjunction(clustered.labels_b[:, columns])
    matching = group_matching.match_groups(
        a.rows,
        b.rows,
        one_to_one=asked.one_to_one,
        sizes=(a.sizes, b.sizes),
        restarts=asked.restarts,
        seed=asked.seed,
    )
    return a, b, matching
