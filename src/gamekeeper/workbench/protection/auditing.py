"""Anybody's masking of a file, attacked: who can be whom, links, an assessment, and utility."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.arrow import pa
from gamekeeper.attack.linkage.truth import true_partners
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.duckdb_engine import default_engine
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Reason
from gamekeeper.protection import releases
from gamekeeper.protection.attacking import attacks, result
from gamekeeper.protection.attacking.masking import (
    MaskedVariable,
    Masking,
    as_written,
    read_masking,
)
from gamekeeper.protection.recipe import read_recipe
from gamekeeper.protection.step import ChangeLog, Protected, Setting
from gamekeeper.protection.targets import Criterion, parse_targets
from gamekeeper.protection.utility.analyses import analysed_names
from gamekeeper.protection.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.protection.utility.result import Utility
from gamekeeper.report.page import RiskReport
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import count_of, percent_text, quoted
from gamekeeper.workbench.answers import Answer, require_outputs, write_outputs
from gamekeeper.workbench.microdata import opened_file
from gamekeeper.workbench.protection.opening import ProtectedInput, open_for_protection
from gamekeeper.workbench.requests.protection import AuditRequest

_EVERY = (attacks.AttackName.LINKAGE, attacks.AttackName.ASSESSMENT)


@dataclass(frozen=True, repr=False, eq=False)
class ReleaseAudit(Result):
    """What a release of a file gives away, and what it is still good for.

    `copies` counts released records that are word for word in the original, `masked` says what was done
    to each key variable, `is_linked` whether it is known which released record is whose.
    """

    tells_of_records: ClassVar[bool] = False

    masked: tuple[MaskedVariable, ...]
    before: result.FileAttack
    after: result.FileAttack
    targets: tuple[result.JudgedTarget, ...]
    utility: Utility
    is_linked: bool
    copies: releases.Copies
    provenance: Provenance

    @property
    def is_met(self) -> bool:
        """Whether every target is met."""
        return all(target.is_met for target in self.targets)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        found = self.after.summary()
        return {
            **({"met": self.is_met} if self.targets else {}),
            **{row["measure"]: int(row["after"]) for row in self.copies.rows()},
            **{name: found[name] for name in ("people", "rows", "own", "both", "one_candidate")},
            "expected_before": self.before.summary()["expected_matches"],
            "expected_after": found["expected_matches"],
            "linkage_before": self.before.summary()["linkage"],
            "linkage_after": found["linkage"],
            **{
                name: found[name]
                for name in ("right_if_repeated", "whole_households")
                if name in found
            },
        }

    def sentences(self) -> list[str]:
        """Return copies and a verdict, what attacks achieve before and after, and what was done."""
        after = self.after
        alone, nowhere = after.n_alone, after.n_nowhere
        wild = after.smallest(Criterion.WILDCARD)
        none = f"; {nowhere:,} fit none" if nowhere else ""
        if self.targets:
            said = [result.targets_sentence(self.targets)]
        elif not self.is_linked:
            who = count_of(alone, "person fits", "people fit")
            said = [
                (
                    f"{who} exactly one released record{none}. Whose the records are is not known, so that no"
                    " attack can be told right or wrong."
                )
            ]
        elif "expected" in after.why_not:
            said = [f"How many matches are right is not known: {after.why_not['expected']}."]
        elif alone or nowhere:
            said = [self._verdict(none)]
        else:
            rows = count_of(after.smallest(Criterion.PEOPLE_TO_RELEASED), "released record")
            people = after.smallest(Criterion.RELEASED_TO_PEOPLE)
            fits = count_of(people, "person", "people")
            said = [f"Everybody fits at least {rows}, and every record at least {fits}."]
        # Whoever set targets asked for a verdict on them; rows of nobody come with no other.
        said.insert(1 if self.targets and self.is_linked else 0, self.copies.words)
        if wild > max(1, after.smallest(Criterion.BOTH)):
            others = count_of(wild - 1, "other")
            said.append(
                f"Counted as if a suppressed cell matched anything, every record is like {others} at"
                f" least; that proves nothing, and both ways it is {after.smallest(Criterion.BOTH)} with"
                " the record itself."
            )
        said += after.unexamined()
        said += [f"Before: {text}" for text in self.before.sentences()]
        said += [f"After: {text}" for text in after.sentences()]
        said += [each.words for each in self.masked]
        return [*said, *self.utility.sentences()[:3]]

    def _verdict(self, none: str) -> str:
        """Return the first sentence on a release that does not hide everybody among others."""
        after = self.after
        if after.n_misfits and after.right_share is not None:
            # Values were changed: who fits whom by equal values is not what an intruder goes by.
            return (
                f"The release does not hide everybody: {percent_text(after.right_share)} of"
                f" {count_of(after.n_people, 'person', 'people')} are found by the better of links and"
                " equal values."
            )
        who = f"{after.n_alone:,} of {count_of(after.n_people, 'person', 'people')}"
        return f"The release does not hide everybody: {who} fit exactly one released record{none}."

    def to_arrow(self) -> pa.Table:
        """Return one row per figure, copies first, before and after."""
        figures = self.after.beside(self.before)
        copies = pa.Table.from_pylist(self.copies.rows(), figures.schema)
        return pa.concat_tables([copies, figures])

    def plot(self) -> Any:
        """Draw what was lost, variable by variable."""
        return self.utility.plot()


def audit_release(asked: AuditRequest, *, progress: Progress | None = None) -> Answer[ReleaseAudit]:
    """Attack a release of a file as an intruder would, and measure what it is still good for."""
    require_outputs(asked)
    started = time.perf_counter()
    _require_told(asked)
    targets = parse_targets(asked.targets)
    known = {*asked.microdata.keys, asked.design.weight}
    opened = open_for_protection(
        asked.microdata,
        design=asked.design,
        household=asked.household,
        identifier=asked.identifier,
        sensitive=asked.sensitive,
        extra=[name for name in analysed_names(asked.utility.analyses) if name not in known],
        response_knowledge=asked.response_knowledge,
        seed=asked.seed,
        workers=asked.workers,
        progress=progress,
    )
    source, by_variable = _released_source(asked, opened)
    released = _released(asked, opened, source, by_variable)
    records = _records(asked, opened.table, released)
    setting = opened.setting
    # A key variable that is not released tells as little as one that is suppressed wholly.
    there = tuple(name for name in setting.keys if name in released.codebook)
    masking = read_masking(
        *(opened.table, released, there, records, setting.decimal),
        are_alike=not asked.suppressed_values,
    )
    before, after = _attacked(
        *(opened.table, masking, setting, there, records),
        by_place=asked.same_order,
        progress=progress,
    )
    absent = tuple(
        MaskedVariable(name, False, 0, 0, None, None, released.n_records, is_left_out=True)
        for name in setting.keys
        if name not in there
    )
    options = UtilityOptions(
        variables=there,
        weight=setting.weight if setting.weight in released.numbers else "",
        analyses=asked.utility.analyses,
    )
    log = None if records is None else masking.log
    utility = measure_utility(
        opened.table, masking.after, options, log=log, decimal=setting.decimal
    )
    found = ReleaseAudit(
        (*masking.variables, *absent),
        before,
        after,
        result.judge_targets(targets, after),
        utility,
        records is not None,
        _copies(asked, opened, source, by_variable),
        Provenance(
            "audit of a release",
            "records by their identifier"
            if asked.identifier
            else "records in the order of the files"
            if asked.same_order
            else "records in the order that the recipe tells"
            if asked.recipe is not None
            else "records of nobody",
            {"keys": ", ".join(setting.keys), "missing": setting.missing.value},
            setting.seed,
            released.fingerprint,
            released.engine.name,
            seconds=time.perf_counter() - started,
        ),
    )
    notices = (
        *opened.data.notices,
        *_star_notices(opened.table, released, there),
        *_order_notices(asked, after),
    )

    def report() -> RiskReport:
        from gamekeeper.report.protection_report import (
            AboutProtection,
            attack_changes,
            protection_report,
        )
        from gamekeeper.workbench.protection.applying import reached

        scenario = opened.data.scenario
        said, tiles = reached(before, after)
        told = tuple(each.words for each in found.masked)
        made = Protected(opened.table, masking.after, masking.log, told, found.provenance)
        about = AboutProtection(
            opened.data.source.name,
            release=asked.released.name,
            scenario="" if scenario is None else scenario.name,
            attacker="" if scenario is None else scenario.attacker,
            notices=(*notices, *after.unexamined()),
            reached=(found.copies.words, *([] if targets else found.sentences()[1:2]), *said),
            tiles=tiles,
            changed=_changed(made, found),
            is_counted=found.is_linked,
        )
        lines = attack_changes(before, after, found.targets)
        return protection_report(about, made, utility, lines)

    write_outputs(asked, found, report=report)
    return Answer(found, notices)


def _changed(made: Protected, found: ReleaseAudit) -> list[str]:
    """Say what was changed where counts of cells do not tell it."""
    if not found.is_linked:
        return [
            "Which cells were changed is not known, for it is not known which released record is whose."
        ]
    several = [each for each in found.masked if each.overlaps]
    if not several:
        return []
    what = "variable has categories that overlap", "variables have categories that overlap"
    said = (
        f"{count_of(len(several), *what)}, each taken for every value it can stand for:"
        f" {quoted([each.variable for each in several])}."
    )
    log = made.log
    is_all = not log.n_changed and log.n_left == log.n_records
    return [said, *([] if is_all else made.sentences()[:1])]


_STARS = frozenset(
    {"*", ".", "-", "--", "?", "x", "X", "na", "NA", "n/a", "N/A", "-9", "-99", "-999"}
)


def _star_notices(before: CodedTable, released: CodedTable, keys: Sequence[str]) -> tuple[str, ...]:
    """Say which usual signs of a suppressed cell the release has, and the original has not."""
    found: dict[str, list[str]] = {}
    for name in keys:
        new = set(released.codebook[name].values) - set(before.codebook[name].values)
        for sign in sorted(new & _STARS):
            found.setdefault(sign, []).append(name)
    return tuple(
        f"{quoted([sign])} is in the release ({quoted(names)}) and not in the original, and is read as a"
        f" value. Where it stands for a suppressed cell, add --suppressed-value {shlex.quote(sign)}."
        for sign, names in found.items()
    )


def _order_notices(asked: AuditRequest, after: result.FileAttack) -> tuple[str, ...]:
    """Say that records may be in another order, or nobody's, where most do not fit their person."""
    if not asked.same_order or 2 * after.n_misfits <= after.n_people:
        return ()
    said = (
        f"{after.n_misfits:,} of {count_of(after.n_people, 'person', 'people')} do not fit the released"
        " record at their place. If values were not changed so much, records are in another order (--id,"
        " --recipe) or nobody's (--unlinked), and an intruder finds people whom this does not."
    )
    return (said,)


def _attacked(
    table: CodedTable,
    masking: Masking,
    setting: Setting,
    keys: tuple[str, ...],
    records: NDArray[np.int64] | None,
    *,
    by_place: bool,
    progress: Progress | None,
) -> tuple[result.FileAttack, result.FileAttack]:
    nothing = ChangeLog(table.n_records)
    before = attacks.attack_file(
        table, table, nothing, setting, _EVERY, wildcard=True, progress=progress
    )
    setting = replace(setting, keys=keys)
    if records is not None:
        after = attacks.attack_file(
            *(table, masking.after, masking.log, setting, _EVERY),
            held=masking.held,
            by_place=by_place,
            unread=masking.unread,
            wildcard=True,
            progress=progress,
        )
        return before, after
    # Nobody's records: people and rows are compared, and nothing is known of who is who.
    n = masking.after.n_records
    setting = replace(setting, response_knowledge=False)
    aside = replace(masking.log, records=np.zeros(n, dtype=np.int64))
    laid = attacks.sides_of(table, masking.after, aside, setting, masking.held)
    stars = attacks.missing_sets(laid.released) if masking.is_open else np.zeros(n, dtype=np.uint64)
    sides = attacks.laid_out(laid.people, laid.released, stars, None, setting.missing, laid.held)
    whole = ChangeLog(n)
    after = attacks.attack_file(
        masking.after,
        masking.after,
        whole,
        setting,
        (attacks.AttackName.ASSESSMENT,),
        sides=sides,
        wildcard=True,
    )
    return before, after


def _released_source(asked: AuditRequest, opened: ProtectedInput) -> tuple[Source, dict[str, str]]:
    """Return the released file, and by key variable what it is called there, where it is."""
    reading = asked.microdata.reading
    missing = (*reading.missing_values, *asked.suppressed_values)
    source = opened_file(asked.released, replace(reading, missing_values=missing))
    setting = opened.setting
    names = [opened.columns.get(name, name) for name in setting.keys]
    by_variable = dict(zip(setting.keys, matched_names(names, source.names), strict=True))
    wanted = {name: column for name, column in by_variable.items() if column in source.names}
    if not wanted:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"A release was to be audited on {quoted(setting.keys)}.",
            "It has none of these columns.",
            "Name columns that both files have (--keys), or the released file.",
        )
    return source, wanted


def _copies(
    asked: AuditRequest, opened: ProtectedInput, source: Source, wanted: dict[str, str]
) -> releases.Copies:
    original = opened.data.source

    def both(names: Sequence[str]) -> list[tuple[str, str]]:
        there = zip(names, matched_names(names, source.names), strict=True)
        return [(own, other) for own, other in there if other in source.names]

    aside = {opened.setting.identifier} if asked.identifier else set[str]()
    whole = [
        pair
        for pair in both([name for name in original.names if name not in aside])
        if releases.is_readable(original, pair[0]) and releases.is_readable(source, pair[1])
    ]
    columns = {name: opened.columns.get(name, name) for name in wanted}
    keys = [(original.matched([columns[name]])[0], other) for name, other in wanted.items()]
    sensitive = both(opened.setting.sensitive)
    decimal = opened.setting.decimal
    found = releases.count_copies(original, source, whole, keys, sensitive, decimal)
    named = {other for _, other in [*keys, *sensitive]}
    numbering = releases.numbering_columns(
        source, [other for _, other in whole if other not in named]
    )
    if found.whole == found.n_records or not numbering:
        return found
    # Whoever makes records numbers them anew, which makes a copy no other record.
    rest = [pair for pair in whole if pair[1] not in numbering]
    without = releases.count_copies(original, source, rest, keys, sensitive, decimal)
    is_more = without.whole > found.whole
    return replace(without, numbering=tuple(numbering)) if is_more else found


def _released(
    asked: AuditRequest, opened: ProtectedInput, source: Source, wanted: dict[str, str]
) -> CodedTable:
    """Return the released file, its variables called as in the original."""
    setting = opened.setting
    others = [setting.strata, setting.household, *setting.sensitive]
    others += [setting.identifier] if asked.identifier else []
    others += [name for name in analysed_names(asked.utility.analyses) if name not in wanted]
    there = set(source.names)
    columns = list(wanted.values())
    columns += [name for name in others if name and name in there and name not in columns]
    numbers = [setting.weight] if setting.weight and setting.weight in there else []
    absent = [name for name in (setting.weight, setting.strata) if name and name not in there]
    if absent:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"A release was to be audited under a design with {quoted(absent)}.",
            "The released file has no such column.",
            "Leave the design out (--weight, --strata), or give a fraction.",
        )
    table = code_source(source, columns, numbers=numbers, engine=default_engine())
    written = [
        recode
        for name, column in wanted.items()
        if (
            recode := as_written(
                table.codebook[column], opened.table.codebook[name], setting.decimal
            )
        )
        is not None
    ]
    return table.recoded(written)


def _require_told(asked: AuditRequest) -> None:
    """Refuse an audit that would have to guess whose the released records are.

    By their number alone the order is not taken to be the same: a shuffled release would look safe.
    """
    ways = {
        "--id": bool(asked.identifier),
        "--recipe": asked.recipe is not None,
        "--same-order": asked.same_order,
        "--unlinked": asked.unlinked,
    }
    chosen = [way for way, is_given in ways.items() if is_given]
    if len(chosen) == 1:
        return
    raise InputError(
        Reason.BAD_OPTION if chosen else Reason.NOTHING_GIVEN,
        "A release was to be audited.",
        f"Whose its records are is told in several ways: {quoted(chosen)}."
        if chosen
        else "Whose its records are is not told, and their order need not be that of the original.",
        "Name a column of both files (--id), or the recipe that was written with the release (--recipe); or"
        " say that record by record the order is the same (--same-order), or that the records are nobody's,"
        " as in synthetic data (--unlinked).",
    )


def _records(
    asked: AuditRequest, before: CodedTable, after: CodedTable
) -> NDArray[np.int64] | None:
    """Return for each released record whose it is; None where they are nobody's."""
    if asked.unlinked:
        return None
    if asked.recipe is not None:
        recipe = read_recipe(asked.recipe)
        if recipe.fingerprint != before.fingerprint:
            raise InputError(
                Reason.STALE,
                "Released records were to be told by a recipe.",
                "It was made for another original, or the original was changed since.",
                "Give the original and the recipe that belong together, or name a column (--id).",
            )
        with asked.released.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return releases.order_of_release(recipe, digest, after.n_records)
    if asked.identifier:
        found = true_partners(after, before, asked.identifier)
        nobody = int(np.count_nonzero(found < 0))
        if nobody:
            raise InputError(
                Reason.BAD_OPTION,
                f"Released records were to be told by {quoted([asked.identifier])}.",
                f"{count_of(nobody, 'released record is', 'released records are')} of nobody in the"
                " original.",
                "Leave out --id and say that records are nobody's (--unlinked).",
            )
        return found
    if before.n_records != after.n_records:
        raise InputError(
            Reason.BAD_OPTION,
            "Released records were to be told by their order (--same-order).",
            f"The release has {count_of(after.n_records, 'record')}, and the original"
            f" {before.n_records:,}.",
            "Name a column of both files that says which record is whose (--id).",
        )
    return np.arange(before.n_records)
