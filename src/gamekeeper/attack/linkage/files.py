"""Re-identifying a masked file: which record is which, and which of several maskings tells more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.blocking import MAX_PAIRS, CandidatePairs, record_order
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.objective import FellegiSunterCost
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.attack.linkage import linking
from gamekeeper.attack.linkage.columns import Kind, LinkVariable, compare_files, plain_kinds
from gamekeeper.attack.linkage.file_links import FileLinks, resample_links, what_carried
from gamekeeper.attack.linkage.guessing import guess_kinds
from gamekeeper.attack.linkage.options import LinkInput, LinkMethod, MaskingInput, ObjectiveName
from gamekeeper.attack.linkage.partners import Partners, find_partners
from gamekeeper.attack.linkage.truth import plot_maskings, require_partners
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, percent_range, percent_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")
_EXAMPLES = 4
# What these make of variables is a sum: in another order it would be another by rounding.
_ORDERLESS = (ObjectiveName.FELLEGI_SUNTER, ObjectiveName.ESTIMATED, ObjectiveName.EQUAL)


def _coded(given: CodedTable | Any, names: Sequence[str]) -> CodedTable:
    return given if isinstance(given, CodedTable) else code_frame(given, list(dict.fromkeys(names)))


@takes(LinkInput)
def link_files(a: CodedTable | Any, asked: LinkInput) -> FileLinks:
    """Link the records of two files that share variables, such as a masked one with its original.

    Both are coded tables, or frames of pandas, Polars, Arrow or DuckDB. `variables` says what to
    compare, and how, a name alone for what is usual; `truth` is the true partner of each record of
    the first file, -1 for none; `decimals` are the decimal marks of the two files. For the
    objective "lexicographic", `steps` may say for each variable into how many steps its largest
    distance is divided; where it is None, that is chosen.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> left = coded_from_codes([[1, 1], [2, 3], [3, 2]], ["age", "sex"])
    >>> right = coded_from_codes([[2, 3], [3, 2], [1, 1]], ["age", "sex"])
    >>> found = link_files(left, right, ["age", "sex"], everybody=True)
    >>> found.linked.columns.tolist()
    [2, 0, 1]
    """
    started = time.perf_counter()
    variables = [LinkVariable(one) if isinstance(one, str) else one for one in asked.variables]
    a = _coded(a, [one.name for one in variables])
    b = _coded(asked.b, [one.other or one.name for one in variables])
    seed, progress = asked.seed, asked.progress
    most_pairs, most_blocked = asked.max_pairs or linking.MOST_PAIRS, asked.max_pairs or MAX_PAIRS
    objective, method = asked.chosen_objective, LinkMethod(asked.method)
    worth = (
        None if asked.least_worth is None else linking.require_worth(objective, asked.least_worth)
    )
    truth = asked.truth
    partners = None if truth is None else require_partners(truth, a.n_records, b.n_records)
    if objective is ObjectiveName.FELLEGI_SUNTER:
        require_records(a.n_records, b.n_records)
    variables, guesses = guess_kinds(a, b, variables, decimals=asked.decimals)
    chosen, comparisons = compare_files(a, b, variables, decimals=asked.decimals)
    # The order of records must not matter, nor that of variables where it says nothing.
    orders = record_order(comparisons, 0, seed), record_order(comparisons, 1, seed)
    moved = None if partners is None else _renumbered(partners[orders[0]], np.argsort(orders[1]))
    comparisons = tuple(replace(one, a=one.a[orders[0]], b=one.b[orders[1]]) for one in comparisons)
    compared = linking.Compared(a, b, orders, chosen, comparisons)
    pairs = linking.candidates(
        compared,
        block=asked.block,
        window=asked.window,
        neighbours=asked.neighbours,
        max_pairs=most_blocked,
    )
    weighed, notes = comparisons, ()
    is_blocked_only = not asked.window and asked.neighbours is None
    if objective is ObjectiveName.FELLEGI_SUNTER and is_blocked_only:
        weighed, notes = _not_blocked(chosen, comparisons, asked.block)
    if objective in _ORDERLESS and not asked.weights:
        weighed = tuple(sorted(weighed, key=lambda one: one.name))
    made, further = linking.make_objective(
        weighed,
        objective,
        weights=asked.weights,
        steps=asked.steps,
        candidates=pairs,
        everybody=asked.everybody,
        seed=seed,
        progress=progress,
    )
    costs = linking.pair_costs(made, pairs, max_pairs=most_pairs, progress=progress)
    most, told = worth, None
    if worth is not None and isinstance(made, FellegiSunterCost):
        told = find_partners(
            compared,
            made,
            costs,
            pairs,
            block=asked.block,
            is_blocked_only=is_blocked_only,
            unlinked=worth,
            max_pairs=most_blocked,
            seed=seed,
        )
        most = told.most_cost(worth)
    in_groups = None if told is None else told.groups
    if in_groups is not None:
        made, costs = in_groups.objective, in_groups.costs
    shuffled = linking.link_pairs(
        made,
        method,
        candidates=pairs,
        most_cost=most,
        margins=told is None,
        costs=costs,
        progress=progress,
    )
    grouped = None
    if told is not None and in_groups is not None and worth is not None:
        grouped = in_groups.of_links(shuffled.columns, shuffled.costs)
        # Where nothing shows that anybody is in both files, nobody is linked.
        kept = (grouped.probabilities >= worth) & (told.overlap.low > 0)
        if moved is not None:
            right = in_groups.right(shuffled.columns, moved)
            grouped = replace(grouped, is_right=right)
        grouped = grouped.kept(kept)
        shuffled = replace(linking.without(shuffled, ~kept), probabilities=grouped.single)
        told = replace(told, at_best=grouped.by_guessing)
    elif told is not None and worth is not None:
        likely = told.probabilities(shuffled, one_to_one=method is not LinkMethod.NEAREST)
        shuffled = linking.without(replace(shuffled, probabilities=likely), ~(likely >= worth))
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
            max_pairs=most_pairs,
            stay_unlinked=told is not None,
            seed=seed,
            progress=progress,
        )
    model = made.model if isinstance(made, FellegiSunterCost) else None
    carried = what_carried(comparisons, shuffled.columns, orders, model, _examples(shuffled))
    back = np.argsort(orders[0])
    linked = replace(shuffled, columns=_renumbered(shuffled.columns, orders[1])).of_rows(back)
    notes = (
        *guesses,
        *notes,
        *further,
        *(pairs.notes if pairs is not None else ()),
        *_limits_of(linked, pairs is not None, told),
    )
    return FileLinks(
        chosen,
        linked,
        partners,
        None if moved is None else _chance(moved, b.n_records, method, pairs),
        (a.n_records, b.n_records),
        None if resampled is None else resampled.of_rows(back),
        tuple(dict.fromkeys(notes)),
        Provenance(
            "record linkage",
            f"{method}, {objective}" if grouped is None else f"{method}, estimated, to groups",
            {
                "variables": ", ".join(f"{one.name} ({one.kind})" for one in chosen),
                "blocking": linking.passes_text(asked.block, asked.window, asked.neighbours),
                "solver": linked.solver,
                "unlinked": "" if worth is None else f"{worth:g}",
                "everybody": "yes" if asked.everybody else "",
            },
            seed=seed,
            fingerprint=sha256(f"{a.fingerprint} {b.fingerprint}".encode()).hexdigest()[:16],
            seconds=time.perf_counter() - started,
        ),
        told,
        model,
        carried,
        None if grouped is None else grouped.of_rows(back),
    )


def _examples(linked: linking.Linked) -> Integers:
    """Return records whose links are told in words: the cheapest, the middle and the dearest."""
    rows = np.flatnonzero(linked.columns >= 0)
    by_cost = rows[np.argsort(linked.costs[rows], kind="stable")]
    if len(by_cost) <= 3 * _EXAMPLES:
        return by_cost
    middle = len(by_cost) // 2
    return np.concatenate(
        (by_cost[:_EXAMPLES], by_cost[middle : middle + _EXAMPLES], by_cost[-_EXAMPLES:])
    )


def require_records(n_first: int, n_second: int) -> None:
    """Refuse files without records."""
    empty = [which for which, n in (("first", n_first), ("second", n_second)) if not n]
    if empty:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "The records of two files were to be linked.",
            f"The {' and the '.join(empty)} file has no record."
            if len(empty) == 1
            else "Neither file has a record.",
            "Give files with records.",
        )


def _limits_of(linked: linking.Linked, is_blocked: bool, told: Partners | None) -> list[str]:
    said: list[str] = []
    n_told = int(np.count_nonzero(~np.isnan(linked.increases)))
    n_links = int(np.count_nonzero(linked.columns >= 0))
    if linked.is_sure is not None and n_told < n_links:
        said.append(
            f"Increases were worked out for the {count_of(n_told, 'link')} farthest ahead: all would"
            f" take {count_of(n_links, 'search', 'searches')} through {linked.n_pairs:,} pairs."
        )
    if told is not None and not told.n_tried:
        said.append(
            "Each file could not be compared with itself as with the other: without the truth, how many"
            " people are in both, and how many links are right, is not known."
        )
    elif told is not None and told.groups is not None:
        said.append(
            "Links to groups are by distances over their means: weights cannot tell equal records apart."
        )
    elif told is not None and told.made_alike and not told.overlap.is_by_weights:
        said.append(
            "Many records of a file are equal to another, and not in whole groups of one file alone: how"
            " far ahead one comes by chance is not known."
        )
    elif told is not None and is_blocked:
        said.append(
            "Numbers of people in both files are of those that blocking left: more may be there."
        )
    return said


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


def _renumbered(columns: Integers, order: Integers) -> Integers:
    return np.where(columns >= 0, order[columns], -1) if len(order) else columns


def _chance(
    truth: Integers, n_columns: int, method: LinkMethod, candidates: CandidatePairs | None
) -> float:
    if candidates is not None:
        rows = candidates.rows()
        is_true = candidates.columns == truth[rows]
        return float((1 / np.diff(candidates.starts)[rows[is_true]]).sum())
    n_true = int(np.count_nonzero(truth >= 0))
    # One to one, only as many as the smaller file has are linked at all.
    n_choices = n_columns if method is LinkMethod.NEAREST else max(n_columns, len(truth))
    return n_true / max(n_choices, 1)


@dataclass(frozen=True, repr=False)
class MaskingComparison(Result):
    """The re-identification rate of each masked version of a file.

    - `links`: what was found: one list per version, in the order of the methods.
    - `notes`: what holds for all versions and a reader has to know.
    """

    tells_of_records = False

    names: tuple[str, ...]
    methods: tuple[str, ...]
    links: tuple[tuple[FileLinks, ...], ...]
    provenance: Provenance
    notes: tuple[str, ...] = ()

    def best(self, version: int) -> FileLinks:
        """Return the links of the way that re-identifies most records of a version."""
        return max(self.links[version], key=lambda one: one.n_correct or 0)

    def summary(self) -> dict[str, Any]:
        """Return the highest rate of each version."""
        return {name: self.best(number).rate for number, name in enumerate(self.names)}

    def sentences(self) -> list[str]:
        """Return how the versions compare, in words."""
        ranked = sorted(range(len(self.names)), key=lambda k: -(self.best(k).rate or 0.0))
        said: list[str] = []
        for k in ranked:
            best = self.best(k)
            rate, low, high = best.rate_and_interval
            said.append(
                f"{self.names[k]}: {best.n_correct or 0:,} of {best.n_records[0]:,} records"
                f" re-identified, {percent_text(rate)} ({percent_range(low, high)}), by"
                f" {_way(best.provenance.variant)}."
            )
        notes = (note for version in self.links for one in version for note in one.notes)
        return [*said, *self.notes, *dict.fromkeys(notes)]

    def to_arrow(self) -> pa.Table:
        """Return one row per version and way of linking."""
        numbers = ("rate", "lower", "upper", "by_chance", "median_margin", "gap_to_bound")
        columns = {
            **dict.fromkeys(("version", "linked_by"), "string"),
            **dict.fromkeys(("records", "links", "correct"), "int64"),
            **dict.fromkeys(numbers, "float64"),
        }
        rows = [
            (
                name,
                one.provenance.variant,
                one.n_records[0],
                one.n_linked,
                one.n_correct or 0,
                *one.rate_and_interval,
                (one.by_chance or 0.0) / max(one.n_records[0], 1),
                _median(one.margins),
                one.linked.gap_to_bound,
            )
            for name, found in zip(self.names, self.links, strict=True)
            for one in found
        ]
        return arrow_table(columns, rows)

    def plot(self) -> Figure:
        """Draw the rates with their intervals; needs no display."""
        return plot_maskings(self)


@takes(MaskingInput)
def compare_maskings(original: CodedTable, asked: MaskingInput) -> MaskingComparison:
    """Link every masked version of a file with the original, and count who is re-identified.

    `variables` says what to compare, and how, the same for all; every combination of objectives and
    methods is tried. `truths` has for each version the record of the original that each of its
    records was made from; `decimals` the decimal marks of versions that have another than `decimal`.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> original = coded_from_codes([[1, 1], [2, 3], [3, 2]], ["age", "sex"])
    >>> masked = coded_from_codes([[1, 1], [2, 3], [3, 3]], ["age", "sex"])
    >>> from gamekeeper.attack.linkage.columns import LinkVariable
    >>> variables = [LinkVariable("age"), LinkVariable("sex")]
    >>> compare_maskings(original, {"mild": masked}, variables, truths={"mild": np.arange(3)})
    MaskingComparison(mild=1.0)
    """
    started = time.perf_counter()
    masked, truths = asked.masked, asked.truths
    if not masked:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Masked versions of a file were to be compared.",
            "None was given.",
            "Give at least one.",
        )
    ways = [(ObjectiveName(o), LinkMethod(m)) for o in asked.objectives for m in asked.methods]
    if not ways or not set(truths).issuperset(masked):
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Masked versions of a file were to be compared.",
            "No way of linking was given." if not ways else "Not all of them have a truth.",
            "Give at least one objective and method, and the truth of each version.",
        )
    decimals = {name: (asked.decimals.get(name, asked.decimal), asked.decimal) for name in masked}
    found: list[tuple[FileLinks, ...]] = []
    for number, (name, table) in enumerate(masked.items()):
        found.append(
            tuple(
                link_files(
                    table,
                    original,
                    plain_kinds(table, original, asked.variables, decimals[name]),
                    everybody=True,
                    objective=objective,
                    method=method,
                    weights=_fit(asked.weights, ObjectiveName.WEIGHTED, objective, ways),
                    steps=_fit(asked.steps, ObjectiveName.LEXICOGRAPHIC, objective, ways),
                    block=asked.block,
                    window=asked.window,
                    neighbours=asked.neighbours,
                    truth=truths[name],
                    max_pairs=asked.max_pairs,
                    decimals=decimals[name],
                    seed=asked.seed,
                )
                for objective, method in ways
            )
        )
        if asked.progress is not None:
            asked.progress(number + 1, len(masked))
    return MaskingComparison(
        tuple(masked),
        tuple(f"{method}, {objective}" for objective, method in ways),
        tuple(found),
        Provenance(
            "re-identification by record linkage",
            "",
            {
                "variables": ", ".join(one.name for one in asked.variables),
                "blocking": linking.passes_text(asked.block, asked.window, asked.neighbours),
            },
            seed=asked.seed,
            fingerprint=sha256(
                " ".join(table.fingerprint for table in (original, *masked.values())).encode()
            ).hexdigest()[:16],
            seconds=time.perf_counter() - started,
        ),
    )


def _fit(
    given: Sequence[T],
    its: ObjectiveName,
    objective: ObjectiveName,
    ways: Sequence[tuple[ObjectiveName, LinkMethod]],
) -> Sequence[T]:
    """Return what one objective has use for; others get it only where that one is not tried."""
    is_tried = any(tried is its for tried, _ in ways)
    return () if is_tried and objective is not its else given


def _way(variant: str) -> str:
    method, objective = variant.split(", ")
    return f"{method} links ({objective})"


def _median(margins: NDArray[np.float64]) -> float | None:
    known = margins[np.isfinite(margins)]
    return float(np.median(known)) if known.size else None
