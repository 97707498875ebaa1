"""A file attacked as it would be released: who can be whom, links, and an assessment of what is left.

An intruder knows what people are at the detail of the original, and how the release was recoded. So
the keys of people are recoded as the release was, and compared with its rows wherever these are not
suppressed. Where categories of a release overlap, people keep their values, and a cell is the set
of values it can stand for. What a missing cell of the input means is the scenario's choice: with
"category" it is known and equal to its like; with "ignore" a released one tells nothing; with
"wildcard" it is not known of the people either. Who knows which people are in the release compares
it with these alone, so that records that were left out hide nobody; who does not compares it with
all people of the original.

Who can be whom is always counted. Links with the original and an assessment (uniques, models,
matching, measures) take longer, and are done where they are asked for or a target needs them. Where
cells have another value than the true one, people are not found by equality, and counts of who fits
whom say little: links are then always tried.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import CellSets, fits_in_column
from gamekeeper.algorithms.suppression import compatibility
from gamekeeper.attack.assessment.criteria import CRITERIA, Found
from gamekeeper.attack.assessment.measured import Measured, measure_file
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import LimitError
from gamekeeper.prompt_syntax import Missing, parse_fraction
from gamekeeper.protection.attacking.result import CANDIDATES, FileAttack, link_release
from gamekeeper.protection.step import ChangeLog, Setting
from gamekeeper.protection.targets import ASSIGNMENTS, LINKAGE, Target
from gamekeeper.results import Progress, Provenance
from gamekeeper.wording import quoted


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FileSides:
    """Both sides of a release: keys of `people` and `released` rows in the same codes, a row each.

    `held` has by column whose released categories overlap the values that each can stand for (its
    codes mean different things on the two sides). `suppressed` and `unknown` have as bits, for each
    row and person, the columns that are open or not known (None where all are known), and `truth`
    for each person the right row, or -1 (None where that is not known).
    """

    people: NDArray[np.int64]
    released: NDArray[np.int64]
    suppressed: NDArray[np.uint64]
    unknown: NDArray[np.uint64] | None
    truth: NDArray[np.int64] | None
    held: Mapping[int, CellSets] = field(default_factory=dict[int, CellSets])

    def count(self, *, wildcard: bool = False) -> compatibility.Candidates:
        """Count candidates by every criterion."""
        return compatibility.count_candidates(
            self.people,
            self.released,
            self.suppressed,
            unknown=self.unknown,
            truth=np.full(len(self.people), -1) if self.truth is None else self.truth,
            wildcard=wildcard,
            held=self.held,
        )

    def matchings(self) -> compatibility.Matchings | None:
        """What all assignments have in common; None where somebody fits no row (a value was changed)."""
        truth = self.truth
        if truth is None or self.unknown is not None or len(self.people) != len(self.released):
            return None
        if (truth < 0).any() or len(np.unique(truth)) < len(truth):
            return None
        rows, open_columns = self.released[truth], self.suppressed[truth]
        for column in range(self.people.shape[1]):
            is_open = (open_columns >> np.uint64(column)) & np.uint64(1) == 1
            fits = fits_in_column(self.people[:, column], rows[:, column], column, self.held)
            if not (is_open | fits).all():
                return None
        return compatibility.find_matchings(self.people, open_columns, rows, self.held)


def sides_of(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog,
    setting: Setting,
    held: Mapping[str, CellSets] | None = None,
) -> FileSides:
    """Return both sides of a file where its changes are known; `held` as in `FileSides`."""
    sets = held or {}
    left = np.arange(before.n_records) if log.records is None else log.records
    people = np.empty((before.n_records, len(setting.keys)), dtype=np.int64)
    released = np.empty((after.n_records, len(setting.keys)), dtype=np.int64)
    stars = np.zeros(after.n_records, dtype=np.uint64)
    for column, name in enumerate(setting.keys):
        change = log.variables.get(name)
        own = before.codebook[name]
        codes = before.codes(name).astype(np.int64)
        words = own.words
        if change is not None and change.recode is not None:
            codes, words = change.recode.codes[codes], change.recode.words
        there = after.codebook[name]
        is_plain = name in sets or words == there.words
        people[:, column] = codes if is_plain else aligned_codes(words, there)[codes]
        released[:, column] = after.codes(name)
        stars |= log.suppressed(name).astype(np.uint64) << np.uint64(column)
    if setting.response_knowledge:
        people, truth = people[left], np.arange(len(left), dtype=np.int64)
    else:
        truth = np.full(before.n_records, -1, dtype=np.int64)
        truth[left] = np.arange(len(left))
    of_columns = {place: sets[name] for place, name in enumerate(setting.keys) if name in sets}
    return laid_out(people, released, stars, truth, setting.missing, of_columns)


def laid_out(
    people: NDArray[np.int64],
    released: NDArray[np.int64],
    stars: NDArray[np.uint64],
    truth: NDArray[np.int64] | None,
    missing: Missing,
    held: Mapping[int, CellSets] | None = None,
) -> FileSides:
    """Return both sides with missing cells read as a scenario says."""
    unknown = None
    if missing in (Missing.IGNORE, Missing.WILDCARD):
        stars = stars | missing_sets(released)
    if missing is Missing.WILDCARD:
        unknown = missing_sets(people)
    return FileSides(people, released, stars, unknown, truth, held or {})


def missing_sets(codes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return for each row its missing columns, as bits."""
    found = np.zeros(len(codes), dtype=np.uint64)
    for column in range(codes.shape[1]):
        found |= (codes[:, column] == MISSING).astype(np.uint64) << np.uint64(column)
    return found


def aligned_codes(words: tuple[str, ...], there: CodedVariable) -> NDArray[np.int64]:
    """Return the code that each word has elsewhere; one that is not there gets a code of its own."""
    known = {word: code for code, word in enumerate(there.words)}
    made = [MISSING]
    extra = there.n_codes
    for word in words[1:]:
        code = known.get(word)
        if code is None:
            code, extra = extra, extra + 1
        made.append(code)
    return np.array(made, dtype=np.int64)


_OF_POPULATION = (
    "individual_risk",
    "global_risk",
    "average_match",
    "population_uniques",
    "right_matches",
    "unique_match",
    "household_risk",
)
_OF_PEOPLE = ("highest_risk", "average_risk", *_OF_POPULATION)
_NOBODYS = "it is not known that released records are people's, so that no match is right"
_OF_OTHERS = "most records do not fit the person whose they are, so that equal values match no one"
_UNREAD = (
    "nothing tells what some categories of {} stand for: write them as bands (18-22), or as the values that"
    " they stand for (A | B)"
)
_BY_LOT = (
    "records have no more in common with the people at their place than by lot, so that their order is not"
    " that of the original (--id and --recipe tell whose they are, --unlinked says that they are nobody's)"
)
_ORDERS = 30
# In standard deviations of what random orders give.
_FAR = 4
_OVERLAPPING = "cells stand for sets of values that overlap, and it is counted by plain categories"


class AttackName(StrEnum):
    """What is done to a file besides counting who can be whom."""

    LINKAGE = "linkage"
    ASSESSMENT = "assessment"


def attacks_for(
    targets: Collection[Target], others: Collection[AttackName] = ()
) -> frozenset[AttackName]:
    """Return the attacks that targets need, and others."""
    found = set(others)
    for target in targets:
        if target.measure == LINKAGE:
            found.add(AttackName.LINKAGE)
        elif target.measure in CRITERIA or target.policy is not None:
            found.add(AttackName.ASSESSMENT)
    return frozenset(found)


def attack_file(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog,
    setting: Setting,
    attacks: Collection[AttackName] = (),
    *,
    sides: FileSides | None = None,
    held: Mapping[str, CellSets] | None = None,
    by_place: bool = False,
    unread: Collection[str] = (),
    wildcard: bool = False,
    progress: Progress | None = None,
) -> FileAttack:
    """Attack a file as it would be released.

    `before`, `after` and `log` are the original, the release, and where they differ: nowhere in a file
    that is attacked as it is. `sides` has people and rows where these are not told by the log, `held`
    the values that cells can stand for, of variables whose categories overlap. `unread` are those with
    categories of which nothing tells what they stand for. `by_place` says that only its place tells whose a
    record is, which is not believed where most records do not fit there better than elsewhere. Either way
    no match is known to be right or wrong. With `wildcard` the count that proves nothing is shown as well.
    """
    started = time.perf_counter()
    laid = sides_of(before, after, log, setting, held) if sides is None else sides
    why: dict[str, str] = {}
    if laid.truth is None:
        why["expected"] = why["linkage"] = "it is not known which released record is whose"
        why |= dict.fromkeys(_OF_PEOPLE, _NOBODYS)
    elif laid.held:
        why |= dict.fromkeys(_OF_POPULATION, _OVERLAPPING)
    if laid.held:
        why["wildcard"] = "not counted where cells stand for several values"
    candidates = laid.count(wildcard=wildcard)
    misfits = 0
    if laid.truth is not None:
        candidates, misfits = _of_those_released(candidates, laid.truth, setting)
        if 2 * misfits > len(candidates.people_to_released):
            why |= dict.fromkeys(_OF_POPULATION, _OF_OTHERS)
        untold = ""
        if by_place and 2 * misfits > len(laid.people) and _is_by_lot(before, after, laid, setting):
            untold = _BY_LOT
        if unread:
            untold = why[CANDIDATES] = _UNREAD.format(quoted(unread))
        if untold:
            why |= dict.fromkeys(("expected", "linkage", ASSIGNMENTS, *_OF_POPULATION), untold)
    linked = None
    is_linked = laid.truth is not None and "linkage" not in why
    if is_linked and (misfits or AttackName.LINKAGE in attacks):
        try:
            linked = link_release(before, after, log, setting, held=held, progress=progress)
        except LimitError as error:
            why["linkage"] = error.found
    matchings = None
    if setting.response_knowledge and ASSIGNMENTS not in why:
        try:
            matchings = laid.matchings()
        except LimitError as error:
            why[ASSIGNMENTS] = error.found
    measured = None
    if AttackName.ASSESSMENT in attacks:
        try:
            measured = measure_release(after, log, setting, progress)
        except LimitError as error:
            # What is not known is not proven; the other attacks are told all the same.
            why["assessment"] = error.found
    return FileAttack(
        len(candidates.people_to_released),
        len(laid.released),
        candidates,
        matchings,
        linked,
        measured,
        {}
        if measured is None
        else {
            name: Found(None, why[name]) if name in why else criterion.measure(measured)
            for name, criterion in CRITERIA.items()
        },
        why,
        Provenance(
            "attacks on a release",
            "the same as before it was protected",
            {"keys": ", ".join(setting.keys), "missing": setting.missing.value},
            setting.seed,
            after.fingerprint,
            after.engine.name,
            seconds=time.perf_counter() - started,
        ),
        setting.response_knowledge,
        misfits,
        setting.household,
        # Who does not know who is in the file, or which values were changed, cannot do it again.
        setting.response_knowledge
        and laid.truth is not None
        and not misfits
        and any(log.suppressed(name).any() for name in setting.keys),
    )


def _of_those_released(
    found: compatibility.Candidates, truth: NDArray[np.int64], setting: Setting
) -> tuple[compatibility.Candidates, int]:
    """Return the candidates of people who have a row, and how many of these do not fit it.

    Somebody without a row is found in none. Who does not know who is in the file takes any of the
    people whom a row fits, each as likely as the others.
    """
    here = truth >= 0
    fitting, right = found.people_to_released[here], found.right
    assert right is not None
    right = right[here]
    if not setting.response_knowledge:
        right = np.where(right > 0, 1 / np.maximum(found.released_to_people[truth[here]], 1), 0.0)
    made = replace(found, people_to_released=fitting, right=right)
    return made, int(np.count_nonzero(right == 0))


def _is_by_lot(before: CodedTable, after: CodedTable, laid: FileSides, setting: Setting) -> bool:
    """Whether no key is equal more often, nor its numbers ranked more alike, than in random orders."""
    draws = np.random.default_rng(0)
    n = len(laid.people)
    orders = [draws.permutation(n) for _ in range(_ORDERS)]
    for column, name in enumerate(setting.keys):
        own, rows = laid.people[:, column], laid.released[:, column]
        equal = [
            np.count_nonzero(fits_in_column(own, rows[order], column, laid.held))
            for order in (np.arange(n), *orders)
        ]
        if equal[0] > np.mean(equal[1:]) + _FAR * np.std(equal[1:]):
            return False
        ranks = [_ranks(table, name, setting.decimal) for table in (before, after)]
        if ranks[0] is None or ranks[1] is None:
            continue
        spread = float(np.std(ranks[0]) * np.std(ranks[1]))
        alike = float(np.mean(ranks[0] * ranks[1]) - np.mean(ranks[0]) * np.mean(ranks[1]))
        if abs(alike) * np.sqrt(n) > _FAR * spread:
            return False
    return True


def _ranks(table: CodedTable, name: str, decimal: str) -> NDArray[np.float64] | None:
    numbers = [number_of(value, decimal) for value in table.codebook[name].values[1:]]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    order = np.argsort(np.argsort([float(number) for number in known])) + 1.0
    return np.concatenate([[0.0], order])[table.codes(name).astype(np.int64)]


def measure_release(
    after: CodedTable, log: ChangeLog, setting: Setting, progress: Progress | None = None
) -> Measured:
    """Assess a release on its keys, suppressed cells being cells that are missing."""
    fraction = setting.fraction
    if fraction is not None and not isinstance(fraction, Mapping) and log.n_left < log.n_records:
        fraction = parse_fraction(fraction) * log.n_left / log.n_records
    keys = count_keys(
        after,
        setting.keys,
        missing=setting.missing,
        weight=setting.weight,
        strata=setting.strata,
        fraction=fraction,
        sensitive=[name for name in setting.sensitive if name in after.codebook],
        blank=True,
        progress=progress,
    )
    household = setting.household if setting.household in after.codebook else ""
    return measure_file(keys, household=household, seed=setting.seed, workers=setting.workers)
