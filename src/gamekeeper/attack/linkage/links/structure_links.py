"""Links by structure as a result: which groups and records belong together, and whether to believe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.structure.conjunction import Conjunction
from gamekeeper.algorithms.structure.group_matching import GroupMatching
from gamekeeper.algorithms.structure.group_success import GroupSuccess
from gamekeeper.algorithms.structure.steadiness import Steadiness
from gamekeeper.attack.linkage.truth import share_interval
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import count_of, percent_range, percent_text, times_text

if TYPE_CHECKING:
    import pyarrow as pa
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

    Attributes
    ----------
    clusterings
        The names of the clusterings.
    n_clusters
        The number of clusters of each.
    groups_a, groups_b
        The groups: records that are together in every clustering.
    matching
        Which group of the second file each group of the first is matched with.
    links
        The record that each record of the first file is linked with, from 0; -1 for none. None
        where records were not to be linked.
    linked_by
        How records were linked, in words.
    agreements
        For each clustering the share of groups whose clusters correspond.
    success
        How many records are in the group pointed at; None where truth is not known.
    drops
        For each clustering by how much that share falls when it is left out; None where truth is
        not known or it was not asked for.
    notes
        What a reader should know of the files.
    by_links
        How many records are in the group that most links of their group go to; None where truth is
        not known or records were not linked over the whole files.
    steady
        Whether links come back from halves of the columns; None where that was not tried.
    """

    clusterings: tuple[str, ...]
    n_clusters: tuple[int, ...]
    groups_a: Conjunction
    groups_b: Conjunction
    matching: GroupMatching
    links: Integers | None
    linked_by: str
    truth: Integers | None
    success: GroupSuccess | None
    drops: Floats | None
    notes: tuple[str, ...]
    provenance: Provenance
    by_links: GroupSuccess | None = None
    steady: Steadiness | None = None

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
        """Return whether links can be believed by those from halves of the columns, in words."""
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
        """Return how many records and groups are right, in words; nothing where that is not known."""
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
        import pyarrow as pa

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
        import pyarrow as pa

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
        from gamekeeper.attack.linkage.links.link_plots import plot_structure

        return plot_structure(self)

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)
