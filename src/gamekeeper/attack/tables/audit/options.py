"""What may be asked of an audit: each option with its name, default, range and help text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from gamekeeper.algorithms.cells.primary_rules import RULE_WORDS
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import pairs_of
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    from gamekeeper.data.cells.contributors import Contributors
    from gamekeeper.results import Progress


def says_of(typed: Sequence[str]) -> dict[str, tuple[int, int | None]]:
    """Return what statuses tell of a count, from texts such as 'A=1-2' or 'B=3+'.

    Examples
    --------
    >>> says_of(["A=1-2", "B=3+"])
    {'A': (1, 2), 'B': (3, None)}
    """
    found: dict[str, tuple[int, int | None]] = {}
    for status, text in pairs_of("--says STATUS=FROM-TO", typed).items():
        low, _, high = text.removesuffix("+").partition("-")
        try:
            found[status] = int(low), (None if text.endswith("+") else int(high or low))
        except ValueError:
            raise InputError(
                Reason.BAD_OPTION,
                f"The status {quoted([status])} was said to tell {quoted([text])}.",
                "That is no range of counts.",
                "Write it as A=1-2, or as B=3+.",
            ) from None
    return found


def tolerance_of(typed: str) -> Fraction | None:
    """Return by how much figures may be off, as it is typed."""
    if not typed.strip():
        return None
    found = number_of(typed)
    if found is None or found < 0:
        raise InputError(
            Reason.BAD_OPTION,
            f"Figures were said to be off by up to {quoted([typed])}.",
            "That is no number from 0 up.",
            "Write it as 0.5.",
        )
    return found


Rules = Annotated[
    Sequence[str],
    Option(
        "A rule that is to hold, with exit code 4 if it does not or is not proven to: exact (no"
        " hidden cell can be recomputed), within:10 (none is known to within 10%), levels (what the"
        f" file asks for each cell), or for tables with contributors {RULE_WORDS}.",
        flags="--rule",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How tables are audited."""

    rules: Rules = ()
    within: Annotated[
        float,
        Option("Tell which hidden cells are known to within so many percent.", least=0, most=100),
    ] = 10.0
    says: Annotated[
        Mapping[str, tuple[int, int | None]] | None,
        Option(
            "What a published status, or what is printed in a hidden cell, tells of the count: A=1-2, B=3+,"
            " '<5=1-4'. Audited with and without. A cell that reads as a limit is one without this.",
            read=says_of,
        ),
    ] = None
    tolerance: Annotated[
        Fraction | None,
        Option(
            "By how much each published figure may be off, because it was rounded.",
            read=tolerance_of,
        ),
    ] = None
    negative: Annotated[bool, Option("Figures may be below 0.")] = False
    insiders: Annotated[
        bool,
        Option(
            "What contributors, who know their own figures, learn of hidden cells and of the largest in"
            " a cell; rules are then held against them too. By --count and --largest, or --contributors.",
            panel="Attackers who are in the tables",
        ),
    ] = False
    coalition: Annotated[
        int,
        Option("So many contributors tell each other what they know.", least=1, most=6,
               panel="Attackers who are in the tables"),
    ] = 1  # fmt: skip
    max_seconds: Annotated[
        float | None,
        Option(
            "Stop after so many seconds, with what is proven by then. Without it, a search that would"
            " take more than 900 is refused.",
            least=0,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInput(AuditOptions):
    """The options of an audit, and who is told how far it is and how long it will take."""

    progress: Progress | None = None
    tell: Callable[[str], None] | None = None
    contributors: Contributors | None = None
