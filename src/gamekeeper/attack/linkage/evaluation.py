"""Masked versions of one file compared: how many records of each an intruder re-identifies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.linkage.columns.variables import plain_kinds
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.links.file_links import FileLinks
from gamekeeper.attack.linkage.options import LinkMethod, MaskingInput, ObjectiveName
from gamekeeper.attack.linkage.pairs.candidates import passes_text
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result, arrow_table
from gamekeeper.wording import percent_range, percent_text

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class MaskingComparison(Result):
    """The re-identification rate of each masked version of a file.

    Attributes
    ----------
    names
        The masked versions.
    methods
        The ways of linking that were tried.
    links
        What was found: one list per version, in the order of the methods.
    notes
        What holds for all versions and a reader has to know.
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
        from gamekeeper.attack.linkage.links.link_plots import plot_maskings

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
    >>> from gamekeeper.attack.linkage.columns.variables import LinkVariable
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
                "blocking": passes_text(asked.block, asked.window, asked.neighbours),
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
    """Return what one objective has use for; to others it is given only where that one is not tried."""
    is_tried = any(tried is its for tried, _ in ways)
    return () if is_tried and objective is not its else given


def _way(variant: str) -> str:
    method, objective = variant.split(", ")
    return f"{method} links ({objective})"


def _median(margins: NDArray[np.float64]) -> float | None:
    known = margins[np.isfinite(margins)]
    return float(np.median(known)) if known.size else None
