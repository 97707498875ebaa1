"""Special uniques detection: every minimal sample unique (MSU) of a file, scored and explained.

A record is a sample unique if no other record has its key. A minimal sample unique is a combination
of key variables on which it is unique and on no part of which it is. The smaller its MSUs, and the
more there are, the more a record stands out: SUDA and IS weigh MSUs by size and add them up, and
DIS turns the scores into estimated probabilities of a correct match (DIS-SUDA, DIS-IS).

Elliot and Manning 2003; Smith's thesis, chapter 8. The search for MSUs is what costs: in the worst
case exponential in the number of key variables. The rest is linear in records and MSUs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.minimal_uniques import (
    UniquesEstimate,
    estimate_minimal_uniques,
    find_minimal_uniques,
)
from gamekeeper.arrow import pa, pc
from gamekeeper.attack import contributions, risk
from gamekeeper.attack.options import UniquesOptions
from gamekeeper.attack.uniques import file_level
from gamekeeper.attack.uniques.dis import general_dis
from gamekeeper.attack.uniques.records import (
    MEASURE_NAMES,
    MEASURES,
    Explainer,
    Explanation,
    Explanations,
    UniqueFacts,
    column_meanings,
    msu_table,
    record_table,
    score_uniques,
)
from gamekeeper.data.engine.gate import stays_elsewhere
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import takes
from gamekeeper.prompt_syntax import FractionLike, Missing, parse_fraction
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_EXPLAINED = 10
MOST_MSUS = 20


@dataclass(frozen=True, repr=False)
class UniquesRisk(Result):
    """Sample uniques and their risk: per record, for the file, per variable, category and size.

    As a table it is `records`; its summary is that of `file`. `kind` has the combination of variables
    that sets records apart most and how many it does, None where that is not known; `not_known` the
    measures that no record has.
    """

    records: risk.RecordRisk
    file: risk.FileRisk
    variables: contributions.VariableRisk
    categories: contributions.CategoryRisk
    sizes: contributions.SizeRisk
    provenance: Provenance
    told: tuple[str, ...]
    explainer: Explainer = field(compare=False)
    kind: tuple[tuple[str, ...], int] | None = None
    not_known: tuple[str, ...] = ()

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return self.file.summary()

    def to_arrow(self) -> pa.Table:
        """Return one row per record, in the order of the file."""
        return self.records.to_arrow()

    def sentences(self) -> list[str]:
        """Return what was found in a few sentences, without any value of the file."""
        return list(self.told)

    def riskiest(self, n: int) -> pa.Table:
        """Return the riskiest sample uniques, at most n, the riskiest first."""
        table = self.records.table
        unique = table.filter(pc.equal(table["class_size"], 1))
        return replace(self.records, table=unique).top(n)

    def explain(self, record: int, *, most: int = MOST_MSUS) -> list[str]:
        """Return why a record is unique, in words; records are numbered from 1.

        At `most` so many MSUs are told, the smallest first; the last line counts the others.
        """
        self._check([record], most)
        lines, left_out = self.explainer.explain(record, most)
        more = [f"and by {count_of(left_out, 'more combination')}"] if left_out else []
        return [line.text for line in lines] + more

    def explanations(
        self, records: Sequence[int] | None = None, *, most: int = MOST_MSUS
    ) -> Explanations:
        """Return the MSUs of records as a table in words: so many of each, the smallest first.

        Records are numbered from 1; the ten riskiest sample uniques by default. Others are counted.
        """
        if records is None:
            chosen = [int(record) for record in self.riskiest(MOST_EXPLAINED)["record"].to_pylist()]
        else:
            chosen = list(records)
        self._check(chosen, most)
        lines: list[Explanation] = []
        left_out = 0
        for record in chosen:
            told, more = self.explainer.explain(record, most)
            lines += told
            left_out += more
        told_uniques = sum(self.explainer.size_of(record - 1) == 1 for record in set(chosen))
        more = self.explainer.n_uniques - told_uniques
        return Explanations(tuple(lines), len(chosen), left_out, more, self.provenance)

    def msus(self) -> pa.Table:
        """Return every MSU, one row each by record: its size, its variables and their categories."""
        return msu_table(self.explainer)

    def plot(self) -> Figure:
        """Plot how risk is distributed over the records; needs no display."""
        return self.records.plot()

    def _repr_html_(self) -> str:
        return self.file._repr_html_()

    def _check(self, records: Sequence[int], most: int) -> None:
        self.explainer.check(records)
        if most < 1:
            raise InputError(
                Reason.BAD_OPTION,
                f"At most {most} combinations of a record were asked for.",
                "That is less than one.",
                "Give a positive whole number.",
            )


@takes(UniquesOptions)
def assess_uniques(key_table: KeyTable, asked: UniquesOptions) -> UniquesRisk:
    """Find every minimal sample unique of a file, score the records and say what is to blame.

    IS keeps the weight (ATT-s)! whatever the largest size that is searched. Without a sampling
    fraction all scores are given except those that need DIS; where a measure that is to rank needs
    it, IS ranks instead, and the sentences say so. A search that is expected to list more MSUs than
    the limit, or to take more processor time, is refused before it begins; see `estimate_search`.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> words = [("missing", "16", "40"), ("missing", "single", "widowed")]
    >>> people = [[1, 1], [1, 2], [2, 2], [2, 2], [1, 1], [2, 1]]
    >>> keys = count_keys(coded_from_codes(people, ["Age", "Status"], words), ["Age", "Status"])
    >>> risk = assess_uniques(keys, fraction="1/10")
    >>> risk.explain(2)
    ['unique by Age 16 + Status widowed']
    """
    started = time.perf_counter()
    keys = key_table.keys
    power, rank_by, classes = asked.power, asked.rank_by, asked.classes
    _check_options(rank_by, asked.fraction, classes)
    if isinstance(classes, str):
        classes = (
            risk.parse_risk_classes(classes, measure=rank_by)
            if classes
            else risk.DEFAULT_RISK_CLASSES
        )
    variables = tuple(key_table.coded.codebook[name] for name in keys)
    engine = key_table.coded.engine
    by_key = stays_elsewhere(engine, key_table.coded.n_records)
    codes = key_table.distinct.codes if by_key else key_table.matrix()
    found = find_minimal_uniques(
        codes,
        counts=key_table.distinct.counts if by_key else None,
        missing=_rule(key_table),
        max_size=None if asked.max_size is None else min(asked.max_size, len(keys)),
        listing=asked.listing,
        workers=asked.workers,
        n_codes=[variable.n_codes for variable in variables],
        max_msus=asked.max_msus or None,
        max_seconds=asked.max_seconds or None,
        progress=asked.progress,
        blocks=partial(engine.map_blocks, workers=asked.workers),
        apart=None if engine.is_local else engine.n_workers,
    )
    value = general_dis(key_table, asked.fraction)
    scores = score_uniques(found, value.dis, power=power, why_no_dis=value.why_none)
    ranking = rank_by if scores.columns[rank_by] is not None else "is"
    classified = scores.columns[classes.measure]
    class_numbers = (
        np.full(len(found.records), -1, dtype=np.int8)
        if classified is None
        else classes.classify(classified.astype(np.float64))
    )
    facts = UniqueFacts(
        table=key_table,
        max_size=found.max_size,
        smallest=contributions.smallest_sizes(found),
        sizes=contributions.size_contributions(found, scores.is_weights, scores.suda_weights),
        scores=scores,
        general=value,
        classes=classes,
        class_numbers=class_numbers,
        rank_by=ranking,
        asked_rank=rank_by,
    )
    provenance = risk.keyed_provenance(
        "sample uniques",
        "; ".join(MEASURE_NAMES.values()),
        key_table,
        {
            "fraction": value.fraction or "none",
            "max_size": str(found.max_size),
            "power": str(power),
            "risk_classes": f"{classes.text} of {classes.measure}",
            "rank_by": ranking if ranking == rank_by else f"{ranking} ({rank_by} is not known)",
            "listing": str(asked.listing).lower(),
        },
    )
    n_file = key_table.coded.n_records
    if by_key:
        # Results of the uniques come here; those of the others say that they are not unique.
        rows = key_table.distinct.first
        uniques = rows[found.records]
        listed, sizes, places = uniques, np.ones(len(uniques), np.int64), np.arange(len(uniques))
        size_of: Callable[[int], int] = partial(_size_elsewhere, key_table, uniques)
    else:
        rows, sizes = key_table.records, key_table.class_sizes()
        listed, places = np.arange(n_file), rows[found.records]
        size_of = partial(_size_in, sizes)
    n_msus = found.counts.sum(axis=1, dtype=np.int64)
    table = record_table(listed + 1, sizes, places, n_msus, facts)
    explainer = Explainer(variables, codes, rows, n_file, len(found.records), size_of, found)
    counts = key_table.distinct.counts if by_key else None
    made = _results(facts, explainer, table, counts, provenance, power)
    if by_key:
        made = replace(made, told=(*made.told, _only_uniques(len(listed), n_file)))
    return replace(made, provenance=replace(provenance, seconds=time.perf_counter() - started))


def _size_in(sizes: NDArray[np.int64], record: int) -> int:
    return int(sizes[record])


def _size_elsewhere(key_table: KeyTable, uniques: NDArray[np.int64], record: int) -> int:
    # Not asked where it is known: a question to a cluster takes a second.
    place = int(np.searchsorted(uniques, record))
    if place < len(uniques) and uniques[place] == record:
        return 1
    return key_table.size_of(record)


def _only_uniques(n_listed: int, n_records: int) -> str:
    return (
        f"Of {count_of(n_records, 'record')} only the {count_of(n_listed, 'sample unique')} came to this"
        " machine; --records FILE.parquet has the others written where they are."
    )


def _results(
    facts: UniqueFacts,
    explainer: Explainer,
    table: pa.Table,
    counts: NDArray[np.int64] | None,
    provenance: Provenance,
    power: int,
) -> UniquesRisk:
    found, variables, scores = explainer.found, explainer.variables, facts.scores
    weights = (scores.is_weights, scores.suda_weights)
    risky = _risky(facts)
    meanings = column_meanings(facts.classes, len(facts.table.keys), power)
    file = risk.FileRisk(file_level.file_lines(facts), file_level.headline(facts), provenance)
    lines = contributions.variable_contributions(found, variables, *weights, risky)
    by_category = contributions.category_contributions(
        found, variables, explainer.codes, *weights, risky, counts
    )
    kind = file_level.riskiest_kind(found, variables, scores.is_weights)
    return UniquesRisk(
        risk.RecordRisk(
            facts.rank_by,
            table,
            meanings,
            provenance,
            n_elsewhere=explainer.n_records - table.num_rows,
            n_excluded=facts.table.n_excluded,
        ),
        file,
        contributions.VariableRisk(lines, facts.file_is, facts.file_suda, provenance),
        contributions.CategoryRisk(by_category, facts.file_is, facts.file_suda, provenance),
        contributions.SizeRisk(facts.sizes, provenance),
        provenance,
        file_level.director_sentences(facts, file, lines, variables, kind),
        explainer,
        kind,
        tuple(scores.missing),
    )


def _risky(facts: UniqueFacts) -> NDArray[np.bool_] | None:
    values = facts.scores.columns[facts.classes.measure]
    return None if values is None else values >= facts.classes.lowest_threshold


def _check_options(
    rank_by: str, fraction: FractionLike | None, classes: risk.RiskClasses | str
) -> None:
    problems: list[Problem] = []
    if isinstance(classes, risk.RiskClasses) and classes.measure not in MEASURES:
        where, do = (
            f"Risk classes of {quoted([classes.measure])}",
            did_you_mean(classes.measure, MEASURES),
        )
        found = "uniques have no such measure."
        problems.append(Problem(Reason.UNKNOWN_NAME, where, found, do))
    if rank_by not in MEASURES:
        where, do = f"Ranking by {quoted([rank_by])}", did_you_mean(rank_by, MEASURES)
        problems.append(Problem(Reason.UNKNOWN_NAME, where, "there is no such measure.", do))
    if fraction is not None:
        try:
            parse_fraction(fraction)
        except InputError as error:
            problems.append(Problem(error.reason, "Sampling fraction", error.found, error.do))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "An assessment of sample uniques was asked for.",
            "It cannot be made as asked.",
            problems=problems,
        )


def estimate_search(key_table: KeyTable, *, max_size: int | None = None) -> UniquesEstimate:
    """Estimate how many MSUs a file has and how long it takes to find them, from some records.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(
    ...     coded_from_codes([[1, 1], [1, 2], [2, 2]], ["Age", "Sex"]), ["Age", "Sex"]
    ... )
    >>> estimate_search(keys).n_msus
    3
    """
    most = None if max_size is None else min(max_size, len(key_table.keys))
    by_key = stays_elsewhere(key_table.coded.engine, key_table.coded.n_records)
    return estimate_minimal_uniques(
        key_table.distinct.codes if by_key else key_table.matrix(),
        counts=key_table.distinct.counts if by_key else None,
        missing=_rule(key_table),
        max_size=most,
    )


def _rule(key_table: KeyTable) -> str:
    # Excluded records are not in the matrix, so that no cell of it is missing.
    rule = Missing.CATEGORY if key_table.missing is Missing.EXCLUDE else key_table.missing
    return rule.value
