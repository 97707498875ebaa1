"""What a page says of the utility of a protected file: words, tables, and analyses before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.protect.utility.result import Utility
from gamekeeper.report.protection.public_utility import public_numbers, public_pairs
from gamekeeper.report.risk_page import RiskSection, RiskTable
from gamekeeper.wording import percent_text

if TYPE_CHECKING:
    import pyarrow as pa

_VARIABLE_COLUMNS = (
    "variable", "categories_before", "categories_after", "bits_before", "bits_lost", "changed_share",
    "suppressed_share", "distance",
)  # fmt: skip
_BY_WEIGHT = ("distance_weighted", "bits_lost_weighted")


def utility_section(utility: Utility, *, is_public: bool = False) -> RiskSection:
    """Return the section on what a file is still good for; the public has `public_utility`."""
    numbers = public_numbers(utility) if is_public else utility.numbers_listing().to_arrow()
    pairs = public_pairs(utility) if is_public else utility.pairs_listing().to_arrow()
    farthest = utility.tables_listing().to_arrow()
    if farthest["distance_weighted"].null_count == len(farthest):
        farthest = farthest.drop_columns(["distance_weighted"])
    tables = [
        RiskTable.of("The tables that are farthest from before", farthest),
        RiskTable.of(
            "What every variable lost",
            utility.to_arrow().slice(0, len(utility.variables)),
            columns=_VARIABLE_COLUMNS
            + (_BY_WEIGHT if utility.propensity_weighted is not None else ()),
        ),
    ]
    if not utility.tables:
        tables = tables[1:]
    if utility.numbers:
        tables.append(RiskTable.of("Numbers before and after", numbers))
    if utility.pairs:
        tables.append(RiskTable.of("How numbers vary together", pairs))
    return RiskSection(
        "utility",
        "What the file is still good for",
        utility.sentences(),
        [(utility.plot(), "The farthest tables, and what of each variable is lost")],
        tables,
    )


def analyses_sections(utility: Utility, *, with_categories: bool) -> list[RiskSection]:
    """Return the section on analyses, if some were asked for; without categories they are summed up."""
    if not utility.analyses:
        return []
    listed = utility.analyses_listing().to_arrow() if with_categories else _by_analysis(utility)
    return [
        RiskSection(
            "analyses",
            "Analyses before and after",
            ["Confidence intervals of 95%; suppressed cells are lost to means and regressions."],
            (),
            [RiskTable.of("Estimates and how much their intervals overlap", listed)],
        )
    ]


def _by_analysis(utility: Utility) -> pa.Table:
    """Return how well each analysis comes out, without its categories."""
    import pyarrow as pa

    rows: list[dict[str, object]] = []
    for text, weighted in dict.fromkeys(
        (line.analysis, line.weighted) for line in utility.analyses
    ):
        own = [
            line for line in utility.analyses if (line.analysis, line.weighted) == (text, weighted)
        ]
        known = [line.overlap for line in own if line.overlap is not None]
        rows.append(
            {
                "analysis": f"{text} (by weight)" if weighted else text,
                "estimates": len(own),
                "mean overlap": percent_text(sum(known) / len(known)) if known else "not known",
                "least overlap": percent_text(min(known)) if known else "not known",
            }
        )
    schema = pa.schema(
        [("analysis", pa.string()), ("estimates", pa.int64())]
        + [(name, pa.string()) for name in ("mean overlap", "least overlap")]
    )
    return pa.Table.from_pylist(rows, schema)
