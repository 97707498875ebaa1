"""Re-identifying a masked file: which record is which, how sure that is, and how often it is true."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.candidate_pairs import MAX_PAIRS, CandidatePairs
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.attack.linkage.candidates import Compared, candidates, passes_text
from gamekeeper.attack.linkage.linking import (
    MOST_PAIRS,
    Linked,
    link_pairs,
    make_objective,
    most_worth,
)
from gamekeeper.attack.linkage.options import LinkInput, LinkMethod, ObjectiveName
from gamekeeper.attack.linkage.resampling import Resampled, resample_links
from gamekeeper.attack.linkage.truth import require_partners, share_interval
from gamekeeper.attack.linkage.variables import Kind, LinkVariable, compare_files
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import (
    be,
    count_of,
    percent_range,
    percent_text,
    times_text,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class FileLinks(Result):
    """The links between the records of two files.

    Attributes
    ----------
    variables
        The variables that records were compared on, with their kinds.
    linked
        The links, their costs and margins.
    truth
        The true partner of each record of the first file, -1 for none; None where it is not known.
    by_chance
        About how many links would be correct if they were drawn at random from the pairs that were
        compared; None where truth is not known.
    n_records
        The numbers of records of the two files.
    resampled
        How links hold when a part of both files is left out; None where that was not asked for.
    """

    variables: tuple[LinkVariable, ...]
    linked: Linked
    truth: Integers | None
    by_chance: float | None
    n_records: tuple[int, int]
    resampled: Resampled | None
    notes: tuple[str, ...]
    provenance: Provenance

    @property
    def n_linked(self) -> int:
        """The number of links."""
        return int(np.count_nonzero(self.linked.columns >= 0))

    @property
    def is_correct(self) -> NDArray[np.bool_] | None:
        """Whether each record is linked to its true partner; None where truth is not known."""
        if self.truth is None:
            return None
        return (self.linked.columns == self.truth) & (self.linked.columns >= 0)

    @property
    def n_correct(self) -> int | None:
        """The number of correct links."""
        correct = self.is_correct
        return None if correct is None else int(np.count_nonzero(correct))

    @property
    def rate(self) -> float | None:
        """The share of the records of the first file that are re-identified."""
        correct = self.n_correct
        if correct is None or not self.n_records[0]:
            return None
        return correct / self.n_records[0]

    @property
    def margins(self) -> Floats:
        """Second least less least cost of each record; NaN where there is no candidate."""
        with np.errstate(invalid="ignore"):
            return self.linked.second - self.linked.best

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers; those of correct links only where truth is known."""
        linked = self.linked
        numbers = {
            "records_a": self.n_records[0],
            "records_b": self.n_records[1],
            "links": self.n_linked,
            "correct": self.n_correct,
            "rate": self.rate,
            "by_chance": self.by_chance,
            "total_cost": linked.total,
            "lower_bound": linked.lower_bound,
            "sure_links": None if linked.is_sure is None else int(linked.is_sure.sum()),
        }
        return {name: number for name, number in numbers.items() if number is not None}

    def sentences(self) -> list[str]:
        """Return what the links say, in words."""
        linked, (n_a, n_b) = self.linked, self.n_records
        said = [
            (
                f"{self.n_linked:,} of the {count_of(n_a, 'record')} of the first file"
                f" {be(self.n_linked)} linked with the {n_b:,} of the second, on"
                f" {count_of(len(self.variables), 'variable')}."
            )
        ]
        correct = self.n_correct
        if correct is not None and self.by_chance is not None and n_a:
            low, high = share_interval(correct, n_a)
            among = (
                " among the pairs that blocking left"
                if self.provenance.parameters["blocking"]
                else ""
            )
            said.append(
                f"{count_of(correct, 'link is', 'links are')} correct: {percent_text(correct / n_a)}"
                f" of the records of the first file are re-identified ({percent_range(low, high)})."
                f" Links drawn at random{among} would be correct {times_text(self.by_chance)}."
            )
        if self.resampled is not None:
            said += self.resampled.sentences()
        if linked.is_sure is not None and self.n_linked:
            n_sure = int(linked.is_sure.sum())
            said.append(
                "No other links cost as little together."
                if n_sure == self.n_linked
                else f"{count_of(n_sure, 'link is', 'links are')} the same in all links that cost as"
                f" little together; {self.n_linked - n_sure:,} could be another."
            )
        if linked.gap_to_bound:
            said.append(
                f"The links cost {linked.total:.6g} together; no one-to-one links could cost less than"
                f" {linked.lower_bound:.6g} ({linked.gap_to_bound:.2%} less)."
            )
        return [*said, *self.notes]

    def to_arrow(self) -> pa.Table:
        """Return one row per record of the first file, numbered from 1 as in the files."""
        import pyarrow as pa

        linked = self.linked
        columns: dict[str, Any] = {
            "record": pa.array(np.arange(1, self.n_records[0] + 1)),
            "linked_to": pa.array(linked.columns + 1, mask=linked.columns < 0),
            "cost": _masked(linked.costs),
            "margin": _masked(self.margins),
            "increase": _masked(linked.increases),
        }
        if linked.is_sure is not None:
            columns["in_every_optimum"] = pa.array(linked.is_sure)
        if self.resampled is not None:
            columns["stability"] = _masked(self.resampled.stability)
        correct = self.is_correct
        if correct is not None:
            columns["correct"] = pa.array(correct)
        return pa.table(columns)

    def top(self, n: int) -> pa.Table:
        """Return the links that are surest.

        Those whose increase is largest; where it was not worked out, those that cost least compared
        with the best other candidate of the record. Where there is no other candidate that says
        nothing: such links come last, by their costs.
        """
        linked = self.linked
        # A record may be linked to another than its nearest, which then is the best other one.
        other = np.where(linked.costs > linked.best, linked.best, linked.second)
        with np.errstate(invalid="ignore"):
            ahead = np.where(np.isnan(linked.increases), other - linked.costs, linked.increases)
        is_unlike = ~np.isfinite(ahead)
        order = np.lexsort(
            (linked.costs, np.where(is_unlike, 0.0, -ahead), is_unlike, linked.columns < 0)
        )
        return self.to_arrow().take(order[:n])

    def plot(self) -> Figure:
        """Draw how margins are distributed, correct and wrong links apart where truth is known."""
        from gamekeeper.attack.linkage.link_plots import plot_links

        return plot_links(self)

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


def _coded(given: CodedTable | Any, names: Sequence[str]) -> CodedTable:
    return given if isinstance(given, CodedTable) else code_frame(given, list(dict.fromkeys(names)))


@takes(LinkInput)
def link_files(a: CodedTable | Any, asked: LinkInput) -> FileLinks:
    """Link the records of two files that share variables, such as a masked one with its original.

    Both are coded tables, or frames of pandas, Polars, Arrow or DuckDB. `variables` says what to
    compare, and how, a name alone for what is usual; `truth` is the true partner of each record of the
    first file, -1 for none; `decimals` are the decimal marks of the two files. For the objective
    "lexicographic", `steps` may say for each variable into how many steps its largest distance is
    divided; where it is None, that is chosen.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> left = coded_from_codes([[1, 1], [2, 3], [3, 2]], ["age", "sex"])
    >>> right = coded_from_codes([[2, 3], [3, 2], [1, 1]], ["age", "sex"])
    >>> found = link_files(left, right, [LinkVariable("age"), LinkVariable("sex")])
    >>> found.linked.columns.tolist()
    [2, 0, 1]
    """
    started = time.perf_counter()
    variables = [LinkVariable(one) if isinstance(one, str) else one for one in asked.variables]
    a = _coded(a, [one.name for one in variables])
    b = _coded(asked.b, [one.other or one.name for one in variables])
    seed = asked.seed
    objective, method = ObjectiveName(asked.objective), LinkMethod(asked.method)
    truth = asked.truth
    partners = None if truth is None else require_partners(truth, a.n_records, b.n_records)
    chosen, comparisons = compare_files(a, b, variables, decimals=asked.decimals)
    # Files in the same order must not help: among links of equal cost, the order of records decides.
    order = np.random.default_rng(seed).permutation(b.n_records)
    moved = None if partners is None else _put_back(partners, np.argsort(order))
    comparisons = tuple(replace(one, b=one.b[order]) for one in comparisons)
    pairs = candidates(
        Compared(a, b, order, chosen, comparisons),
        block=asked.block,
        window=asked.window,
        neighbours=asked.neighbours,
        max_pairs=asked.max_pairs or MAX_PAIRS,
    )
    weighed, notes = comparisons, ()
    is_blocked_only = not asked.window and asked.neighbours is None
    if objective is ObjectiveName.FELLEGI_SUNTER and is_blocked_only:
        weighed, notes = _not_blocked(chosen, comparisons, asked.block)
    made, further = make_objective(
        weighed,
        objective,
        weights=asked.weights,
        steps=asked.steps,
        candidates=pairs,
        seed=seed,
        progress=asked.progress,
    )
    most = None if asked.unlinked is None else most_worth(made, asked.unlinked)
    shuffled = link_pairs(
        made,
        method,
        candidates=pairs,
        most_cost=most,
        max_pairs=asked.max_pairs or MOST_PAIRS,
        progress=asked.progress,
    )
    linked = replace(shuffled, columns=_put_back(shuffled.columns, order))
    resampled = None
    if asked.resamples:
        resampled = resample_links(
            made,
            method,
            shuffled.columns,
            candidates=pairs,
            most_cost=most,
            truth=moved,
            resamples=asked.resamples,
            max_pairs=asked.max_pairs or MOST_PAIRS,
            seed=seed,
            progress=asked.progress,
        )
    notes = (*notes, *further, *(pairs.notes if pairs is not None else ()))
    return FileLinks(
        chosen,
        linked,
        partners,
        None if moved is None else _chance(moved, b.n_records, method, pairs),
        (a.n_records, b.n_records),
        resampled,
        tuple(dict.fromkeys(notes)),
        Provenance(
            "record linkage",
            f"{method}, {objective}",
            {
                "variables": ", ".join(f"{one.name} ({one.kind})" for one in chosen),
                "blocking": passes_text(asked.block, asked.window, asked.neighbours),
                "solver": linked.solver,
                "unlinked": "" if asked.unlinked is None else f"{asked.unlinked:g}",
            },
            seed=seed,
            fingerprint=sha256(f"{a.fingerprint} {b.fingerprint}".encode()).hexdigest()[:16],
            seconds=time.perf_counter() - started,
        ),
    )


def _not_blocked(
    variables: Sequence[LinkVariable], comparisons: tuple[Comparison, ...], block: Sequence[str]
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Leave out what agrees in every pair: EM would take such agreement for a sign of a match."""
    kept = tuple(
        one
        for variable, one in zip(variables, comparisons, strict=True)
        if variable.name not in block or variable.kind is Kind.MAPPED
    )
    if len(kept) == len(comparisons):
        return comparisons, ()
    if not kept:
        raise InputError(
            Reason.BAD_OPTION,
            "Weights by EM were asked for.",
            "All variables are blocked on, and agree in every pair.",
            "Compare further variables, or block on fewer.",
        )
    return kept, ("Variables that are blocked on agree in every pair, and have no weight.",)


def _put_back(columns: Integers, order: Integers) -> Integers:
    """Return numbers of records in another order; -1 stays."""
    return np.where(columns >= 0, order[columns], -1) if len(order) else columns


def _chance(
    truth: Integers, n_columns: int, method: LinkMethod, candidates: CandidatePairs | None
) -> float:
    """Return about how many links would be correct if they were drawn at random."""
    if candidates is not None:
        rows = candidates.rows()
        is_true = candidates.columns == truth[rows]
        return float((1 / np.diff(candidates.starts)[rows[is_true]]).sum())
    n_true = int(np.count_nonzero(truth >= 0))
    # One to one, only as many as the smaller file has are linked at all.
    n_choices = n_columns if method is LinkMethod.NEAREST else max(n_columns, len(truth))
    return n_true / max(n_choices, 1)


def _masked(values: Floats) -> Any:
    import pyarrow as pa

    return pa.array(values, mask=~np.isfinite(values))
