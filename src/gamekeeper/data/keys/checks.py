"""Whether keys can be counted as they were asked for: every problem, named by variable and count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gamekeeper.algorithms.sampling_fraction import FractionLike, parse_fraction
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.keyed_records import KeyedRecords
from gamekeeper.data.keys.weight_sums import WeightSum, sum_of_weights
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted, there_are

MAX_KEYS = 64
"""How many key variables can be counted at once: sets of them are the bits of one integer."""

_FIRST_RECORDS = 10_000


def request_problems(
    coded: CodedTable,
    keys: Sequence[str],
    *,
    weight: str,
    strata: str,
    fraction: FractionLike | Mapping[str, FractionLike] | None,
    sensitive: Sequence[str],
    person: str = "",
) -> list[Problem]:
    """Return what is wrong with a request before any record is looked at."""
    problems = _name_problems(coded, keys, strata, sensitive)
    if person and person not in coded.codebook:
        problems.append(
            Problem(
                Reason.UNKNOWN_NAME,
                f"person {quoted([person])}",
                "no such variable was read.",
                did_you_mean(person, coded.codebook.names),
            )
        )
    elif person and person in keys:
        problems.append(
            Problem(
                Reason.BAD_OPTION,
                f"person {quoted([person])}",
                "it is a key variable as well.",
                "Leave it out of the keys: whoever knows it needs no other.",
            )
        )
    if coded.n_records == 0:
        problems.append(Problem(Reason.NOTHING_GIVEN, "file", "it has no records."))
    if weight and weight not in coded.numbers:
        problems.append(
            Problem(
                Reason.UNKNOWN_NAME,
                f"weight {quoted([weight])}",
                "no such column was read as numbers.",
                did_you_mean(weight, coded.numbers),
            )
        )
    problems += design_problems(weight=weight, strata=strata, fraction=fraction)
    return problems


def design_problems(
    *,
    weight: str,
    strata: str,
    fraction: FractionLike | Mapping[str, FractionLike] | None,
) -> list[Problem]:
    """Return what is wrong with how a sample is said to be drawn, whatever the file."""
    if isinstance(fraction, Mapping):
        if not strata:
            found = "fractions of strata are given, and no variable that tells the strata."
            return [Problem(Reason.BAD_OPTION, "fraction", found, "Name it as strata (--strata).")]
    elif fraction is not None:
        try:
            parse_fraction(fraction)
        except InputError as error:
            return [Problem(error.reason, "fraction", error.found, error.do)]
    elif strata and not weight:
        return [
            Problem(
                Reason.BAD_OPTION,
                f"strata {quoted([strata])}",
                "neither fractions nor weights are given.",
                "Give a fraction for each stratum (--fraction), or a weight (--weight).",
            )
        ]
    return []


def all_missing_problems(coded: CodedTable, keys: Sequence[str]) -> list[Problem]:
    """Return one problem for each key variable without a single value."""
    if coded.n_records == 0:
        return []
    waiting = [key for key in dict.fromkeys(keys) if key in coded.codebook]
    # The first records settle nearly every variable, without reading the whole of a large file.
    for limit in (f" LIMIT {_FIRST_RECORDS}", ""):
        if waiting:
            columns = ", ".join(dict.fromkeys(coded.column(key) for key in waiting))
            tops = ", ".join(f"MAX({coded.column(k)}) AS m{n}" for n, k in enumerate(waiting))
            records = f"(SELECT {columns} FROM {coded.relation}{limit}) AS r"
            found = coded.engine.query(f"SELECT {tops} FROM {records}").to_pylist()[0].values()
            waiting = [key for key, top in zip(waiting, found, strict=True) if top == MISSING]
    return [
        Problem(
            Reason.BAD_OPTION,
            f"key variable {quoted([key])}",
            f"all of its {count_of(coded.n_records, 'cell')} are missing.",
            "Leave it out.",
        )
        for key in waiting
    ]


def nameless_problems(coded: CodedTable, person: str) -> list[Problem]:
    """Return a problem if it is not told of some records whose they are."""
    if not person or person not in coded.codebook:
        return []
    column = coded.column(person)
    query = f"SELECT COUNT(*) AS n FROM {coded.relation} WHERE {column} <= {MISSING}"
    n_missing = int(coded.engine.query(query).to_pylist()[0]["n"])
    if not n_missing:
        return []
    return [
        Problem(
            Reason.BAD_OPTION,
            f"person {quoted([person])}",
            f"there is no value of it in {n_missing:,} of {count_of(coded.n_records, 'record')}.",
            "Name a column that tells of every record whose it is, or leave out those records.",
        )
    ]


def weights_problems(counted: KeyedRecords, weight: str) -> tuple[WeightSum | None, list[Problem]]:
    """Return how to sum the weights of counted records, or what is wrong with them."""
    column = counted.coded.column_of_number(weight)
    # Statistics of Parquet files know nothing of what is no number, and DuckDB takes comparisons, and
    # ISNAN, for settled by them. What is not finite differs from zero when taken from itself.
    kinds = {
        "zero": f"{column} = 0",
        "below zero": f"{column} < 0",
        "missing or not finite": f"{column} IS NULL OR {column} - {column} <> 0",
    }
    counts = [
        f"CAST(SUM(CASE WHEN {test} THEN 1 ELSE 0 END) AS BIGINT) AS n{place}"
        for place, test in enumerate(kinds.values())
    ]
    query = (
        f"SELECT {', '.join(counts)}, COUNT(*) AS n, MIN({column}) AS low, MAX({column}) AS high "
        f"FROM {counted.select(column)}"
    )
    found = counted.coded.engine.query(query).to_pylist()[0]
    if not found["n"]:
        return None, []
    faults = [
        f"{count_of(found[f'n{place}'], 'weight')} {kind}"
        for place, kind in enumerate(kinds)
        if found[f"n{place}"]
    ]
    if faults:
        where = f"weight {quoted([weight])}"
        do = "Every counted record needs a weight above 0."
        return None, [Problem(Reason.BAD_OPTION, where, f"{', '.join(faults)}.", do)]
    return sum_of_weights(found["n"], found["low"], found["high"]), []


def raise_problems(problems: Sequence[Problem], n_keys: int) -> None:
    """Raise one error with all problems, if there are any."""
    if not problems:
        return
    raise InputError(
        problems[0].reason,
        f"Classes of records on {count_of(n_keys, 'key variable')} were asked for.",
        f"{there_are(len(problems), 'problem')}.",
        problems=problems,
    )


def _name_problems(
    coded: CodedTable, keys: Sequence[str], strata: str, sensitive: Sequence[str]
) -> list[Problem]:
    problems: list[Problem] = []
    if not keys:
        problems.append(Problem(Reason.NOTHING_GIVEN, "keys", "no key variable is given."))
    if len(keys) > MAX_KEYS:
        found = f"{len(keys):,} key variables are given, and at most {MAX_KEYS} can be counted."
        problems.append(Problem(Reason.TOO_LARGE, "keys", found, "Leave some out."))
    named = [("key variable", keys), ("sensitive variable", sensitive)]
    for kind, names in named:
        for name, count in Counter(names).items():
            where = f"{kind} {quoted([name])}"
            if name not in coded.codebook:
                problems.append(_unknown(where, name, coded))
            if count > 1:
                problems.append(Problem(Reason.DUPLICATE, where, f"it is given {count} times."))
    problems += [
        Problem(Reason.BAD_OPTION, f"sensitive variable {quoted([name])}", "it is also a key.")
        for name in dict.fromkeys(sensitive)
        if name in keys
    ]
    if strata and strata not in coded.codebook:
        problems.append(_unknown(f"strata {quoted([strata])}", strata, coded))
    return problems


def _unknown(where: str, name: str, coded: CodedTable) -> Problem:
    near = did_you_mean(name, coded.codebook.names)
    return Problem(Reason.UNKNOWN_NAME, where, "it is not among the coded variables.", near)
