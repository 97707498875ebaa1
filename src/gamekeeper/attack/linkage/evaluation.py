"""Masked versions of one file compared: how many records of each an intruder re-identifies."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.linkage.files import FileLinks, link_files
from gamekeeper.attack.linkage.linking import LinkMethod, ObjectiveName
from gamekeeper.attack.linkage.truth import share_interval
from gamekeeper.attack.linkage.variables import LinkVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress, Provenance, Result

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

__all__ = ["MaskingComparison", "compare_maskings"]


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
    """

    names: tuple[str, ...]
    methods: tuple[str, ...]
    links: tuple[tuple[FileLinks, ...], ...]
    provenance: Provenance

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
            correct, n_records = best.n_correct or 0, best.n_records[0]
            low, high = share_interval(correct, n_records)
            said.append(
                f"{self.names[k]}: {correct:,} of {n_records:,} records re-identified,"
                f" {correct / max(n_records, 1):.1%} ({low:.1%} to {high:.1%}), by"
                f" {_way(best.provenance.variant)}."
            )
        notes = (note for version in self.links for one in version for note in one.notes)
        return [*said, *dict.fromkeys(notes)]

    def to_arrow(self) -> pa.Table:
        """Return one row per version and way of linking."""
        import pyarrow as pa

        rows: list[dict[str, Any]] = []
        for name, found in zip(self.names, self.links, strict=True):
            for one in found:
                correct, n_records = one.n_correct or 0, one.n_records[0]
                low, high = share_interval(correct, n_records)
                linked = one.linked
                rows.append(
                    {
                        "version": name,
                        "linked_by": one.provenance.variant,
                        "records": n_records,
                        "links": one.n_linked,
                        "correct": correct,
                        "rate": correct / max(n_records, 1),
                        "lower": low,
                        "upper": high,
                        "by_chance": (one.by_chance or 0.0) / max(n_records, 1),
                        "median_margin": _median(one.margins),
                        "gap_to_bound": linked.gap_to_bound,
                    }
                )
        counts = ("records", "links", "correct")
        types = {
            "version": pa.string(),
            "linked_by": pa.string(),
            **dict.fromkeys(counts, pa.int64()),
        }
        schema = pa.schema([(name, types.get(name, pa.float64())) for name in rows[0]])
        return pa.Table.from_pylist(rows, schema)

    def plot(self) -> Figure:
        """Draw the rates with their intervals; needs no display."""
        from gamekeeper.attack.linkage.link_plots import plot_maskings

        return plot_maskings(self)


def compare_maskings(
    original: CodedTable,
    masked: Mapping[str, CodedTable],
    variables: Sequence[LinkVariable],
    *,
    truths: Mapping[str, NDArray[np.int64]],
    weights: Sequence[float] = (),
    objectives: Sequence[ObjectiveName | str] = (ObjectiveName.ESTIMATED,),
    methods: Sequence[LinkMethod | str] = (LinkMethod.OPTIMAL, LinkMethod.NEAREST),
    block: Sequence[str] = (),
    max_pairs: int | None = None,
    decimals: Mapping[str, str] | None = None,
    decimal: str = ".",
    seed: int = 0,
    progress: Progress | None = None,
) -> MaskingComparison:
    """Link every masked version of a file with the original, and count who is re-identified.

    Parameters
    ----------
    original, masked
        The original file, and its masked versions by name.
    variables
        What to compare, and how; the same for all.
    truths
        For each version the record of the original that each of its records was made from.
    weights
        For the objective "weighted".
    objectives, methods
        The ways of linking to try; every combination of them.
    block, max_pairs
        Variables that must agree, and the limit on pairs, as for `link_files`.
    decimals, decimal
        The decimal marks of the versions by name, and of the original.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> original = coded_from_codes([[1, 1], [2, 3], [3, 2]], ["age", "sex"])
    >>> masked = coded_from_codes([[1, 1], [2, 3], [3, 3]], ["age", "sex"])
    >>> variables = [LinkVariable("age"), LinkVariable("sex")]
    >>> compare_maskings(original, {"mild": masked}, variables, truths={"mild": np.arange(3)})
    MaskingComparison(mild=1.0)
    """
    started = time.perf_counter()
    if not masked:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Masked versions of a file were to be compared.",
            "None was given.",
            "Give at least one.",
        )
    ways = [(ObjectiveName(o), LinkMethod(m)) for o in objectives for m in methods]
    if not ways or not set(truths).issuperset(masked):
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Masked versions of a file were to be compared.",
            "No way of linking was given." if not ways else "Not all of them have a truth.",
            "Give at least one objective and method, and the truth of each version.",
        )
    marks = decimals or {}
    has_weighted = any(objective is ObjectiveName.WEIGHTED for objective, _ in ways)
    found: list[tuple[FileLinks, ...]] = []
    for number, (name, table) in enumerate(masked.items()):
        found.append(
            tuple(
                link_files(
                    table,
                    original,
                    variables,
                    objective=objective,
                    method=method,
                    weights=()
                    if has_weighted and objective is not ObjectiveName.WEIGHTED
                    else weights,
                    block=block,
                    truth=truths[name],
                    max_pairs=max_pairs,
                    decimals=(marks.get(name, decimal), decimal),
                    seed=seed,
                )
                for objective, method in ways
            )
        )
        if progress is not None:
            progress(number + 1, len(masked))
    return MaskingComparison(
        tuple(masked),
        tuple(f"{method}, {objective}" for objective, method in ways),
        tuple(found),
        Provenance(
            "re-identification by record linkage",
            "",
            {
                "variables": ", ".join(one.name for one in variables),
                "blocking": ", ".join(block),
            },
            seed=seed,
            fingerprint=sha256(
                " ".join(table.fingerprint for table in (original, *masked.values())).encode()
            ).hexdigest()[:16],
            seconds=time.perf_counter() - started,
        ),
    )


def _way(variant: str) -> str:
    method, objective = variant.split(", ")
    return f"{method} links ({objective})"


def _median(margins: NDArray[np.float64]) -> float | None:
    known = margins[np.isfinite(margins)]
    return float(np.median(known)) if known.size else None
