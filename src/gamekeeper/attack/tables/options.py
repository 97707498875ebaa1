"""What may be asked of attacks on tables: each option with its name, default, range and help text.

Classes whose names end in `Input` add what is no option: the true counts, and what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from gamekeeper.algorithms.releases.primary_rules import RULE_WORDS
from gamekeeper.attack.options import MaxSeconds, Seed, Workers
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import MAX_SECONDS, lists_of, names_of, pairs_of
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    from gamekeeper.attack.tables.bounds import TableBounds
    from gamekeeper.data.tables.count_table import CountTable
    from gamekeeper.data.tables.magnitudes import Contributors
    from gamekeeper.results import Progress

Rules = Annotated[
    Sequence[str],
    Option(
        "A rule that is to hold, with exit code 4 if it does not or is not proven to: exact (no"
        " hidden cell can be recomputed), within:10 (none is known to within 10%), levels (what the"
        f" file asks for each cell), or for tables with contributors {RULE_WORDS}.",
        flags="--rule",
    ),
]
PRIORS = ("uniform", "poisson", "multinomial")
_MOST_NUMBERS = 1_000_000


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


_Says = Annotated[
    Mapping[str, tuple[int, int | None]] | None,
    Option(
        "What a published status, or what is printed in a hidden cell, tells of the count: A=1-2, B=3+,"
        " '<5=1-4'. Audited with and without. A cell that reads as a limit is one without this.",
        read=says_of,
    ),
]
_Tolerance = Annotated[
    Fraction | None,
    Option(
        "By how much each published figure may be off, because it was rounded.", read=tolerance_of
    ),
]
_Negative = Annotated[bool, Option("Figures may be below 0.")]
_LongestSearch = Annotated[
    float | None,
    Option(
        "Stop after so many seconds, with what is proven by then. Without it, a search that would"
        " take more than 900 is refused.",
        least=0,
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
    says: _Says = None
    tolerance: _Tolerance = None
    negative: _Negative = False
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
    max_seconds: _LongestSearch = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInput(AuditOptions):
    """The options of an audit, and who is told how far it is and how long it will take."""

    progress: Progress | None = None
    tell: Callable[[str], None] | None = None
    contributors: Contributors | None = None


class BoundsMethod(StrEnum):
    """How bounds are found."""

    AUTO = "auto"
    CLOSED = "closed"
    SHUTTLE = "shuttle"
    INTEGER = "integer"


def numbers_of(typed: str) -> list[int] | None:
    """Return numbers of people from a text such as '0-24', '1,2,5' or '0-1000:50'.

    Examples
    --------
    >>> numbers_of("0-3,10"), numbers_of("0-20:10")
    ([0, 1, 2, 3, 10], [0, 10, 20])
    """
    if not typed.strip():
        return None
    made: set[int] = set()
    try:
        for part in typed.split(","):
            ends, _, step = part.strip().partition(":")
            first, _, last = ends.partition("-")
            start, stop, stride = int(first), int(last or first) + 1, int(step or 1)
            # Not the length of the range, which ends where numbers of the machine do.
            n_wanted = max(0, -((start - stop) // stride)) if stride else 0
            wanted = range(start, stop, stride)
            if n_wanted > _MOST_NUMBERS:
                raise LimitError(
                    Reason.TOO_LARGE,
                    f"Numbers of people were given as {quoted([typed])}.",
                    f"They are {n_wanted:,}; the limit is {_MOST_NUMBERS:,}.",
                    "Take steps, as in 0-1000000:1000.",
                )
            made |= set(wanted)
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Numbers of people were given as {quoted([typed])}.",
            "They cannot be read.",
            "Write them as 0-24, as 1,2,5, or as 0-1000:50 for every fiftieth.",
        ) from None
    return sorted(made)


def structural_of(typed: Sequence[str]) -> tuple[dict[str, str], ...]:
    """Return cells that are known to be empty from texts such as 'Age=0-14,Work=yes'.

    Examples
    --------
    >>> structural_of(["Age=0-14,Work=yes"])
    ({'Age': '0-14', 'Work': 'yes'},)
    """
    return tuple(pairs_of("--structural-zero AXIS=CATEGORY", text.split(",")) for text in typed)


def groups_of(typed: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Return groups of categories from texts such as 'Age:young=16-17|18-24;old=25+'.

    Examples
    --------
    >>> groups_of(["Age:young=16-17|18-24;old=25+"])
    {'Age': {'young': ['16-17', '18-24'], 'old': ['25+']}}
    """
    made: dict[str, dict[str, list[str]]] = {}
    for text in typed:
        axis, found, rest = text.partition(":")
        parts = [part.partition("=") for part in rest.split(";") if part.strip()]
        if not found or not parts or any(not equals for _, equals, _ in parts):
            raise InputError(
                Reason.BAD_OPTION,
                f"Groups of categories were given as {quoted([text])}.",
                "They cannot be read.",
                "Write them as AXIS:LABEL=CATEGORY|CATEGORY;LABEL=CATEGORY.",
            )
        made[axis.strip()] = {
            label.strip(): [name.strip() for name in names.split("|")] for label, _, names in parts
        }
    return made


def _lengths(typed: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in typed.lower().split("x"))
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Tables of the shape {quoted([typed])} were asked for.",
            "It cannot be read.",
            "Write it as 2x6.",
        ) from None


_MostPrograms = Annotated[
    int | None,
    Option(
        "Stop after so many programs, linear and integer; what is open then is marked as not tight."
        " By default 20,000.",
        least=1,
    ),
]
_People = Annotated[
    Iterable[int] | None,
    Option(
        "Numbers of people known: 0-24, 1,2,5 or 0-1000:50. By default 0 to 100, or to everybody;"
        " within areas or keys 1, 2, 3, 5, 10 and 20.",
        flags="--n -n",
        read=numbers_of,
    ),
]
_Draws = Annotated[int, Option("How many random draws, where they are needed.", least=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsOptions:
    """How cells are bounded."""

    method: Annotated[
        BoundsMethod | str,
        Option(
            "auto: the cheapest that is exact. closed: closed form. shuttle: the generalized shuttle"
            " algorithm with trial tightening. integer: integer programs."
        ),
    ] = BoundsMethod.AUTO
    most_programs: _MostPrograms = None
    max_nodes: Annotated[int | None, Option("Lifts the limit of the shuttle.", least=1)] = None
    rules: Rules = ()
    says: _Says = None
    tolerance: _Tolerance = None
    negative: _Negative = False
    max_seconds: _LongestSearch = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsInput(BoundsOptions):
    """How cells are bounded, and who is told how far it is and how long it will take."""

    progress: Progress | None = None
    tell: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Recoding:
    """The table that is bounded, where it is not the base table."""

    groups: Annotated[
        Mapping[str, Mapping[str, Sequence[str]]],
        Option(
            "Join categories first: 'Age:young=16-17|18-24;old=25+'.",
            flags="--group",
            read=groups_of,
        ),
    ] = field(default_factory=dict[str, Mapping[str, Sequence[str]]])
    keep: Annotated[
        Sequence[str] | None,
        Option("Bound the table of these axes only, the others summed out.", read=names_of),
    ] = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class RecodedInput(Recoding):
    """The table that is bounded, and how."""

    most_programs: _MostPrograms = field(default=None, kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionOptions:
    """Which statements about people are sought."""

    about: Annotated[Sequence[str], Option("Statements about these axes only.", read=names_of)] = ()
    max_conditions: Annotated[
        int | None,
        Option("Statements with so many conditions at most.", flags="--conditions", least=0),
    ] = None
    max_combinations: Annotated[
        int | None,
        Option("Lifts the limit on combinations of categories. By default 20,000,000.", least=1),
    ] = None
    max_statements: Annotated[
        int | None, Option("Lifts the limit on statements. By default 500,000.", least=1)
    ] = None
    share: Annotated[
        float | None,
        Option(
            "Tell also where at least so many percent of those of a kind have something: 95.",
            least=50,
            most=100,
        ),
    ] = None
    coalition: Annotated[
        int,
        Option(
            "Tell also what so many people, who put together what they know of themselves, know of all"
            " others of a kind.",
            least=0,
        ),
    ] = 0
    sensitive: Annotated[
        Mapping[str, tuple[str, ...]],
        Option(
            "Categories that are worse to learn, told first: 'Diagnosis=HIV; cancer'.",
            read=lists_of,
        ),
    ] = field(default_factory=dict[str, tuple[str, ...]])
    structural: Annotated[
        Sequence[Mapping[str, str]],
        Option(
            "Cells that everybody knows to be empty, which is no news: 'Age=0-14,Work=yes'.",
            flags="--structural-zero",
            read=structural_of,
        ),
    ] = ()
    most_programs: _MostPrograms = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionInput(AttributionOptions):
    """Which statements are sought, and the bounds of the cells where they are known already."""

    bounds: TableBounds | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibleOptions:
    """How the tables that agree with a release are counted and weighed."""

    prior: Annotated[
        str,
        Option(
            "uniform over tables; poisson with the means of the margins; multinomial: people fall"
            " into all cells alike."
        ),
    ] = "uniform"
    most: Annotated[
        int | None, Option("Visit so many tables at most to count them; beyond, estimate.", least=1)
    ] = None
    listed: Annotated[
        int, Option("Print the tables if there are at most so many.", flags="--list", least=0)
    ] = 0
    draws: _Draws = 10_000
    seed: Seed = 0
    workers: Workers = None
    max_seconds: MaxSeconds = MAX_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibleInput(FeasibleOptions):
    """How tables are counted and weighed, and who is told."""

    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtractionOptions:
    """How many people are known, and how what they recover is worked out."""

    n: _People = None
    at: Annotated[int | None, Option("The number of people for which cells are told.", least=0)] = (
        None
    )
    method: Annotated[str, Option("exact, sampling, or auto: exact where it can be done.")] = "auto"
    max_samples: Annotated[
        int | None, Option("Search so many samples for an exact answer.", least=1)
    ] = None
    max_bits: Annotated[
        int | None,
        Option(
            "Numbers of zeros are exact up to this size of their table. By default 50,000,000.",
            least=1,
        ),
    ] = None
    draws: _Draws = 10_000
    seed: Seed = 0


@dataclass(frozen=True, slots=True)
class SubtractionInput(SubtractionOptions):
    """The true base table, which the steward has, and how many people are known of it."""

    truth: CountTable
    progress: Progress | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class WithinInput:
    """The true base table, the axes that tell areas or keys apart, and how many people are known."""

    truth: CountTable
    keys: Sequence[str]
    n: _People = field(default=None, kw_only=True)
    own_people: Annotated[
        bool,
        Option(
            "Whether the people known are of the same area or key, and not of the whole population."
            " Everything that is published counts in both cases."
        ),
    ] = field(default=True, kw_only=True)
    draws: _Draws = field(default=10_000, kw_only=True)
    seed: Seed = field(default=0, kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOptions:
    """The random tables on which schemes are compared."""

    shape: Annotated[
        Iterable[int], Option("Shape of the random tables.", read=_lengths, default_text="2x6")
    ] = (2, 6)
    mean: Annotated[float, Option("Expected count of a cell.", least=0.0)] = 2.0
    tables: Annotated[int, Option("How many tables.", least=1)] = 1_200
    total: Annotated[
        bool, Option("Publish the total with the table.", flags="--total/--no-total")
    ] = True
    n: Annotated[
        Iterable[int] | None,
        Option("Numbers of people known.", flags="--n -n", read=numbers_of, default_text="0-24"),
    ] = None
    seed: Seed = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonInput(ComparisonOptions):
    """The random tables, and the axes of every margin that is published of them, from 0."""

    margins: Sequence[Sequence[int]] | None = None
    progress: Progress | None = None
