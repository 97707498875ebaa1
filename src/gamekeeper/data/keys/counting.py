"""Counting keys: a request checked, classes in the engine, their sizes, fractions and diversity."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from gamekeeper.algorithms.uniques.scores import class_sizes
from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine.gate import FEWER_KEYS, RECORD, Engine, require_brought
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.listed_records import KeyedRecords, keyed_records
from gamekeeper.data.keys.weights import (
    WeightSum,
    fractions_by_code,
    overall_fraction,
    sum_of_weights,
)
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import require_made
from gamekeeper.prompt_syntax import FractionLike, Missing, parse_fraction
from gamekeeper.results import Progress, Provenance
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
    *, weight: str, strata: str, fraction: FractionLike | Mapping[str, FractionLike] | None
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


# Keys are compared with each other, which one machine does.
_BY_THEMSELVES = f"Read missing cells as 'category' or 'exclude' (--missing). {FEWER_KEYS}"


def count_keys(
    coded: CodedTable,
    keys: Sequence[str],
    *,
    missing: Missing | str = Missing.CATEGORY,
    weight: str = "",
    strata: str = "",
    fraction: FractionLike | Mapping[str, FractionLike] | None = None,
    sensitive: Sequence[str] = (),
    person: str = "",
    blank: bool = False,
    progress: Progress | None = None,
) -> KeyTable:
    """Count the records of each class on some key variables.

    Parameters
    ----------
    keys
        The names of up to 64 key variables.
    missing
        What a missing cell means: "category" (a value of its own), "ignore" (a record is in a class
        with all that have its values wherever it has one), "wildcard" (a missing cell matches
        anything, on either side) or "exclude" (records with a missing cell are left out).
    weight
        A numeric column; the weights of each class are summed.
    strata
        A variable whose categories were sampled with different fractions.
    fraction
        The sampling fraction in (0, 1], such as "2%" or "1/50"; with strata, one per stratum, by
        its word. When None it follows from the weights, if there are any.
    sensitive
        Variables whose values are counted within each class.
    person
        A variable that tells whose a record is, where people may have several: the first record of
        each is counted. The sampling fraction is then one of people.
    blank
        Whether a key variable may be without a single value, as where it was suppressed wholly: it
        then tells nobody from anybody else.
    progress
        Told how much of the step at hand is done, and of how much; it may raise to cancel.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> coded = coded_from_codes([[1, 1], [1, 1], [1, 2], [2, 0]], ["sex", "age"])
    >>> found = count_keys(coded, ["sex", "age"], fraction="1/10")
    >>> found.class_sizes().tolist(), dict(found.structure), found.k_violations(2)
    ([2, 2, 1, 1], {1: 2, 2: 1}, 2)
    """
    started = time.perf_counter()
    require_made(coded, (CodedTable,), "count_keys was called.")
    rule = _missing_of(missing)
    if isinstance(keys, str) or isinstance(sensitive, str):
        raise InputError(
            Reason.BAD_OPTION,
            "Keys were to be counted.",
            "The variables are given as one text.",
            "Give a list of names.",
        )
    names = coded.codebook.names
    keys, sensitive = matched_names(keys, names), matched_names(sensitive, names)
    strata, person = matched_names([strata, person], names)
    (weight,) = matched_names([weight], coded.numbers)
    problems = request_problems(
        coded, keys, weight=weight, strata=strata, fraction=fraction, sensitive=sensitive,
        person=person,
    )  # fmt: skip
    if not blank or rule is Missing.EXCLUDE:
        problems += all_missing_problems(coded, keys)
    problems += nameless_problems(coded, person)
    # Weights and strata are looked at only where names are in order and there are records.
    raise_problems(problems, len(keys))
    excluding = rule is Missing.EXCLUDE
    counted = keyed_records(coded, keys, excluding=excluding, person=person)
    weights: WeightSum | None = None
    if weight:
        weights, problems = weights_problems(counted, weight)
    fractions, overall, found = _fractions(counted, weight, weights, strata, fraction)
    raise_problems([*problems, *found], len(keys))
    relation, size_column = _classes(counted, rule, weight, weights, progress)
    try:
        structure, by_size = _sizes(coded.engine, relation, size_column)
        released = by_size if size_column == "n" else _sizes(coded.engine, relation, "n")[1]
        n_records = sum(by_size.values())
        if not n_records:
            raise_problems([_nothing_left(coded, keys)], len(keys))
        diversity = {name: _diversity(counted, name) for name in sensitive}
        n_further = 0
        if person:
            n_further = _n_counted(keyed_records(coded, keys, excluding=excluding)) - n_records
    except BaseException:
        coded.engine.drop(relation)
        raise
    parameters = {
        "keys": ", ".join(keys),
        "missing": rule.value,
        "fraction": "" if overall is None else str(overall),
        "weight": weight,
        "strata": strata,
        "sensitive": ", ".join(sensitive),
        "person": person,
    }
    provenance = Provenance(
        "key table",
        variant=rule.words,
        parameters={name: text for name, text in parameters.items() if text},
        fingerprint=coded.fingerprint,
        engine=coded.engine.name,
        seconds=time.perf_counter() - started,
    )
    return KeyTable(
        coded, tuple(keys), rule, n_records, coded.n_records - n_records - n_further,
        sum(structure.values()), structure, by_size, released, diversity, overall, fractions,
        weight, strata, provenance, counted, relation, size_column, person, n_further,
        _weights_differ(counted, weight, strata) if weight else 1.0,
    )  # fmt: skip


def _weights_differ(counted: KeyedRecords, weight: str, strata: str) -> float:
    """Return the largest ratio of two weights of counted records that are of one stratum."""
    column = counted.coded.column_of_number(weight)
    of = counted.coded.column(strata) if strata else ""
    found = counted.coded.engine.query(
        f"SELECT MIN({column}) AS low, MAX({column}) AS high "
        f"FROM {counted.select(column, *([of] if strata else []))}"
        + (f" GROUP BY {of}" if strata else "")
    )
    return max(row["high"] / row["low"] for row in found.to_pylist())


def _n_counted(counted: KeyedRecords) -> int:
    found = counted.coded.engine.query(f"SELECT COUNT(*) AS n FROM {counted.select(RECORD)}")
    return int(found.to_pylist()[0]["n"])


def _classes(
    counted: KeyedRecords,
    missing: Missing,
    weight: str,
    weights: WeightSum | None,
    progress: Progress | None,
) -> tuple[str, str]:
    """Return a relation with one row per key, and its column with the size of the class.

    A row has the numbers of its key, `n`, the records that have it, and `weight`.
    """
    matches = missing in (Missing.IGNORE, Missing.WILDCARD) and _has_missing(counted)
    sums, columns = ["COUNT(*) AS n"], list[str]()
    if weights is not None:
        column = counted.coded.column_of_number(weight)
        sums.append(f"{weights.number(column)} AS weight")
        columns.append(column)
    relation = counted.coded.engine.create(counted.grouped(sums, *columns), progress=progress)
    if matches:
        return _matched(counted, relation, missing, weight, progress), "size"
    return relation, "n"


def _sizes(engine: Engine, relation: str, size: str) -> tuple[dict[int, int], dict[int, int]]:
    """Return how many keys, and how many records, there are of each size of a column."""
    found = engine.query(
        f"SELECT {size} AS size, COUNT(*) AS classes, CAST(SUM(n) AS BIGINT) AS records "
        f"FROM {relation} GROUP BY {size} ORDER BY {size}"
    ).to_pydict()
    sizes = found["size"]
    return (
        dict(zip(sizes, found["classes"], strict=True)),
        dict(zip(sizes, found["records"], strict=True)),
    )


def _has_missing(counted: KeyedRecords) -> bool:
    some = " OR ".join(f"{column} = {MISSING}" for column in counted.packing.columns)
    query = f"SELECT 1 AS found FROM {counted.coded.relation} WHERE {some} LIMIT 1"
    return counted.coded.engine.query(query).num_rows > 0


def _matched(
    counted: KeyedRecords, relation: str, missing: Missing, weight: str, progress: Progress | None
) -> str:
    """Return a relation of the same keys whose sizes count every record that matches."""
    engine = counted.coded.engine
    names = counted.packing.names
    order = ", ".join(names)
    try:
        n_keys = engine.query(f"SELECT COUNT(*) AS n FROM {relation}").column(0)[0].as_py()
        row_bytes = 8 * (len(names) + 5) + len(counted.packing.columns)
        require_brought(engine, n_keys, row_bytes, "different keys", _BY_THEMSELVES)
        table = engine.query(f"SELECT * FROM {relation} ORDER BY {order}")
    finally:
        engine.drop(relation)
    codes = counted.packing.unpack([table.column(name).to_numpy() for name in names])
    counts = table.column("n").to_numpy()
    columns = {name: table.column(name) for name in (*names, "n")}
    columns["size"] = pa.array(class_sizes(codes, counts, missing=missing, progress=progress))
    if weight:
        weights = table.column("weight").to_numpy()
        columns["weight"] = pa.array(class_sizes(codes, weights, missing=missing))
    made = pa.table(columns)
    return engine.load(made.schema, made.to_batches())


def _diversity(counted: KeyedRecords, variable: str) -> Mapping[int, int]:
    values = counted.diversity(counted.coded.column(variable))
    found = counted.coded.engine.query(
        f"SELECT l, CAST(SUM(n) AS BIGINT) AS n FROM ({values}) AS d GROUP BY l ORDER BY l"
    ).to_pydict()
    return dict(zip(found["l"], found["n"], strict=True))


def _fractions(
    counted: KeyedRecords,
    weight: str,
    weights: WeightSum | None,
    strata: str,
    given: FractionLike | Mapping[str, FractionLike] | None,
) -> tuple[Mapping[str, Fraction] | None, Fraction | None, list[Problem]]:
    """Return the fractions of strata, that of the file, and what is wrong with them."""
    if not strata:
        if given is not None:
            assert not isinstance(given, Mapping)
            return None, parse_fraction(given), []
        if weights is None:
            return None, None, []
        found, problems = _from_weights(counted, weight, weights, "")
        return None, found.get(MISSING), problems
    variable = counted.coded.codebook[strata]
    column = counted.coded.column(strata)
    table = counted.coded.engine.query(
        f"SELECT {column} AS code, COUNT(*) AS n FROM {counted.select(column)} "
        f"GROUP BY {column} ORDER BY {column}"
    ).to_pydict()
    counts: dict[int, int] = dict(zip(table["code"], table["n"], strict=True))
    if isinstance(given, Mapping):
        found, problems = fractions_by_code(variable, counts, given)
    elif given is not None:
        found, problems = dict.fromkeys(counts, parse_fraction(given)), []
    elif weights is None:  # the weights are at fault, and that is said already
        return None, None, []
    else:
        found, problems = _from_weights(counted, weight, weights, column)
    if problems or not counts:
        return None, None, problems
    by_word = {variable.words[code]: found[code] for code in counts}
    return by_word, overall_fraction(counts, found), []


def _from_weights(
    counted: KeyedRecords, weight: str, weights: WeightSum, strata: str
) -> tuple[dict[int, Fraction], list[Problem]]:
    """Return records over weights, by code of the stratum; of the file, as code 0, without."""
    column = counted.coded.column_of_number(weight)
    code, group, columns = f"{MISSING}", "", [column]
    if strata:
        code, group, columns = strata, f" GROUP BY {strata}", [column, strata]
    found = counted.coded.engine.query(
        f"SELECT {code} AS code, COUNT(*) AS n, {weights.whole(column)} AS total "
        f"FROM {counted.select(*columns)}{group}"
    ).to_pylist()
    fractions = {row["code"]: row["n"] / weights.exact(row["total"]) for row in found}
    above = sum(fraction > 1 for fraction in fractions.values())
    if not above:
        return fractions, []
    where = f"weight {quoted([weight])}"
    what = f"in {count_of(above, 'stratum', 'strata')} the weights" if strata else "the weights"
    return {}, [
        Problem(
            Reason.BAD_OPTION,
            where,
            f"{what} sum to less than the number of records.",
            "Give weights that gross up to the population, or a fraction (--fraction).",
        )
    ]


def _nothing_left(coded: CodedTable, keys: Sequence[str]) -> Problem:
    return Problem(
        Reason.NOTHING_GIVEN,
        "keys",
        f"each of the {count_of(coded.n_records, 'record')} has a missing cell among its "
        f"{count_of(len(keys), 'key variable')}, so that all would be left out.",
        "Choose another rule for missing cells (--missing), or fewer keys.",
    )


def _missing_of(given: Missing | str) -> Missing:
    try:
        return Missing(given)
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Missing cells were to be read as {quoted([str(given)])}.",
            "There is no such rule.",
            f"There are: {quoted(Missing)}.",
        ) from None
