"""Pages on a protected file: before and after for the data holder, methods and loss for all.

The internal page has the attacks before and after, what was asked for, searched and proven, and
what is lost. The public one has methods by name, the loss, and how suppressed cells look: no risk,
no parameter, no seed, no fingerprint and no category, so that it can go with the file.

Once a cell is suppressed, nobody outside is to tell such cells from those that were missing before.
So the public page counts what everybody can count in the release, cells without a value, of every
key variable; and variables with such cells are in no figure that compares them with before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gamekeeper.arrow import pa
from gamekeeper.attack.assessment.criteria import CRITERIA, Unit
from gamekeeper.attack.assessment.policy import Standing
from gamekeeper.protection.attacking.result import FileAttack, JudgedTarget
from gamekeeper.protection.step import ChangeLog, Protected, Step
from gamekeeper.protection.targets import ASSIGNMENTS, EXPECTED, LINKAGE, Criterion
from gamekeeper.protection.utility.result import Utility
from gamekeeper.report import protection_utility
from gamekeeper.report.page import RiskReport, RiskSection, RiskTable, facts_of
from gamekeeper.report.tables import glossary
from gamekeeper.results import Provenance, for_outsiders
from gamekeeper.wording import count_of, digits_text, quoted, share_text, three_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_WORDS = {
    Criterion.OWN.value: "fewest records that look alike (own)",
    Criterion.RELEASED_TO_PEOPLE.value: "fewest people whom a record fits",
    Criterion.PEOPLE_TO_RELEASED.value: "fewest records that a person fits",
    Criterion.BOTH.value: "fewest candidates, both ways",
    Criterion.WILDCARD.value: "fewest records that look alike if a star matches anything (proves nothing)",
    ASSIGNMENTS: "fewest records of anybody in one-to-one assignments",
    "one_candidate": "people who fit exactly one record",
    "no_candidate": "people who fit no record",
    "one_candidate_in_assignments": "people with one record in all one-to-one assignments",
    "expected_matches": "right matches to be expected",
    "linkage": "records that links re-identify",
    "right_if_repeated": "right matches by whoever suppresses again, at most",
    "whole_households": "people found by their whole household",
}
_OF_TARGETS = {EXPECTED: "expected_matches", LINKAGE: "linkage"}


@dataclass(frozen=True, slots=True)
class AttackChange:
    """What an attack achieves before and after; None where it is not known.

    `attack` is in words ("people who fit at most one record"), `target` what was asked for as it
    was typed, and `is_met` whether it is reached, None where nothing was asked or it is not proven.
    `more_is_safer`: a larger figure is better, as with candidates. `note` is what to know of the
    figure, such as that it is approximate.
    """

    attack: str
    before: float | None
    after: float | None
    target: str = ""
    is_met: bool | None = None
    is_share: bool = False
    more_is_safer: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met, in a word."""
        if not self.target:
            return ""
        return {True: "met", False: "not met", None: "not proven"}[self.is_met]


def attack_changes(
    before: FileAttack, after: FileAttack, judged: Sequence[JudgedTarget] = ()
) -> list[AttackChange]:
    """Return a line for every figure of the same attacks, and one for every target besides.

    Targets are held against what was found after, on the file as it would be released.
    """
    old = {row["measure"]: row for row in before.rows()}
    waiting = list(judged)
    lines: list[AttackChange] = []
    for row in after.rows():
        name = row["measure"]
        line = next((each for each in waiting if _measure(each) == name), None)
        if line is not None:
            waiting.remove(line)
        criterion = CRITERIA.get(name)
        note = row["note"] or ("" if row["kind"] in ("exact", "not known") else row["kind"])
        shares = (Unit.SHARE, Unit.PROBABILITY)
        is_share = name == "linkage" or (criterion is not None and criterion.unit in shares)
        safer = name in {*Criterion, ASSIGNMENTS} or (criterion is not None and criterion.at_least)
        lines.append(
            AttackChange(
                _WORDS.get(name) or (criterion.words if criterion else name),
                old.get(name, {}).get("value"),
                row["value"],
                "" if line is None else line.target.text,
                None if line is None else _standing(line),
                is_share,
                safer,
                note,
            )
        )
    # Policies, targets that none of the figures is, and further ones of the same figure.
    lines += [
        AttackChange(
            line.target.text, None, None, line.target.text, _standing(line), note=line.text
        )
        for line in waiting
    ]
    return lines


def _measure(line: JudgedTarget) -> str:
    target = line.target
    if target.criterion is not None:
        return str(target.criterion.value)
    if target.policy is not None:
        return target.text
    return _OF_TARGETS.get(target.measure, target.measure)


def _standing(line: JudgedTarget) -> bool | None:
    return None if line.standing is Standing.NOT_PROVEN else line.standing is Standing.MET


_PAGE_WORDS = glossary("protection")


_NOT_COMPARED = (
    "Variables with such cells are not compared with before: that would tell how many were missing."
)
_REST = (
    "This compares the variables without suppressed or missing cells alone, and says nothing of the"
    " others."
)
_EVERY = {1: "The target is", 2: "Both targets are"}


@dataclass(frozen=True, slots=True)
class AboutProtection:
    """What the pages say of a protected file besides what was found.

    `name` is that of the file that was protected, `release` of the one that was written, if any;
    `steps` are the methods in their order. `suppressed` says how a suppressed cell looks ("empty",
    "the code -9"), `scenario` and `attacker` who would attack it and how, `certificate` what was
    proven and how it can be checked. `reached` and `tiles` are what attacks achieve, in sentences
    and as figures with their names, for those who read no further. `changed` says what was changed
    where counts of cells do not tell it. Where records are nobody's, it is not known which cells were
    changed (`is_counted`).
    """

    name: str
    steps: Sequence[Step] = ()
    suppressed: str = "empty"
    release: str = ""
    scenario: str = ""
    attacker: str = ""
    certificate: Sequence[str] = ()
    notices: Sequence[str] = ()
    reached: Sequence[str] = ()
    tiles: Sequence[tuple[str, str]] = ()
    changed: Sequence[str] = ()
    is_counted: bool = True


def protection_report(
    about: AboutProtection,
    protected: Protected,
    utility: Utility,
    attacks: Sequence[AttackChange],
    *,
    map_figure: Figure | None = None,
    candidates: pa.Table | None = None,
    provenances: Sequence[Provenance] = (),
    with_records: bool = True,
) -> RiskReport:
    """Return the page for the data holder: attacks before and after, what it cost, what is proven.

    `map_figure` is the map of candidates, risk against loss, and `candidates` their list; attacks
    and search came about by `provenances`. Without records no categories are named, neither in the
    options of steps nor in estimates.
    """
    log = protected.log
    sections = [_attacks(attacks)]
    if map_figure is not None or candidates is not None:
        sections.append(_map(map_figure, candidates))
    sections += [
        _methods(about.steps, protected.told, with_options=with_records),
        _cells(log, about),
    ]
    sections += [
        protection_utility.utility_section(utility),
        *protection_utility.analyses_sections(utility, with_categories=with_records),
    ]
    if about.certificate:
        sections.append(RiskSection("certificate", "What is proven", [*about.certificate]))
    known = [line for line in attacks if line.target]
    n_met = sum(line.is_met is True for line in known)
    records = (
        f"{log.n_left:,} of {log.n_records:,} released"
        if about.is_counted
        else f"{protected.table.n_records:,} released, of nobody; {log.n_records:,} in the original"
    )
    return RiskReport(
        f"{about.name}: before and after protection",
        [
            *_verdict(attacks),
            *about.reached,
            *(about.changed or protected.sentences()[:1]),
            utility.sentences()[0],
        ],
        facts_of(
            [
                ("File", about.name),
                ("Release", about.release),
                ("Scenario", about.scenario),
                ("Attacker", about.attacker),
                ("Records", records),
                ("Suppressed cells", about.suppressed),
                ("Before", protected.fingerprints[0]),
                ("After", protected.fingerprints[1]),
            ]
        ),
        [
            *([(f"{n_met} of {len(known)}", "targets met")] if known else []),
            *about.tiles,
            *_tiles(log, utility)[0 if about.is_counted else 2 :],
        ],
        sections,
        [protected.provenance, *provenances, utility.provenance],
        list(about.notices),
        words=_PAGE_WORDS,
        kicker="Protection",
        question="What could an intruder do before, what after, and what did that cost?",
    )


def public_protection_report(
    about: AboutProtection,
    protected: Protected,
    utility: Utility,
    compared: Utility | None,
    keys: Sequence[str],
) -> RiskReport:
    """Return the page that goes with a release: methods, loss, and how suppressed cells look.

    `compared` is the utility of variables that are not among those `without_values`; None where all
    are. Of the utility of all there are analyses alone.
    """
    log = protection_utility.as_shown(protected, keys)
    shown = None if compared is None else protection_utility.public_utility(compared)
    stars = (
        f"{count_of(log.n_suppressed, 'cell has', 'cells have')} no value: suppressed, or missing before. A"
        f" suppressed cell is {about.suppressed}."
        if log.n_suppressed
        else "No cell was suppressed."
    )
    left_out = log.n_records - log.n_left
    lead = [
        (
            "This file was changed so that it tells less about single people. What was done, and what that"
            " means for those who use it, is on this page."
        ),
        stars,
        *([f"{count_of(left_out, 'record was', 'records were')} left out."] if left_out else []),
        *([_NOT_COMPARED] if log.n_suppressed else []),
    ]
    if shown is not None:
        first = shown.sentences()[0]
        others = f"Of the other variables: {first[0].lower()}{first[1:]}"
        lead.append(others if log.n_suppressed else first)
    return RiskReport(
        f"How {about.release or about.name} was protected",
        lead,
        facts_of(
            [
                ("File", about.release or about.name),
                ("Records", f"{log.n_left:,}"),
                ("Suppressed cells", about.suppressed if log.n_suppressed else "none"),
            ]
        ),
        [
            (f"{log.n_suppressed:,}", "cells without a value"),
            *_tiles(log, shown)[1:],
        ],
        [
            _methods(about.steps, (), with_options=False),
            _cells(log, about, is_public=True),
            *([] if shown is None else [_good_for(shown, log)]),
            *protection_utility.analyses_sections(
                protection_utility.public_utility(utility), with_categories=False
            ),
        ],
        [for_outsiders(utility.provenance)],
        words=_PAGE_WORDS,
        kicker="Disclosure control",
        question="What was changed in this file, and what can it still be used for?",
        footer="This page has no values of risk, no parameters, no records and no categories; figures are"
        " rounded.",
    )


def _good_for(compared: Utility, log: ChangeLog) -> RiskSection:
    """Return the public section on utility, which says what it does not compare."""
    section = protection_utility.utility_section(compared, is_public=True)
    return replace(section, sentences=[_REST, *section.sentences]) if log.n_suppressed else section


def _tiles(log: ChangeLog, utility: Utility | None) -> list[tuple[str, str]]:
    made = [
        (f"{log.n_suppressed:,}", "cells suppressed"),
        (f"{log.n_changed - log.n_suppressed:,}", "cells with another value"),
    ]
    if utility is not None:
        far = utility.farthest.distance if utility.farthest else 0
        made.append((three_digits(far), "farthest table"))
    return made


def _verdict(attacks: Sequence[AttackChange]) -> list[str]:
    known = [line for line in attacks if line.target]
    missed = [line for line in known if line.is_met is False]
    unproven = [line for line in known if line.is_met is None]
    said: list[str] = []
    if missed:
        said.append(
            f"{count_of(len(missed), 'target is', 'targets are')} not met:"
            f" {quoted([line.target for line in missed])}. Do not release the file."
        )
    if unproven:
        said.append(
            f"{count_of(len(unproven), 'target is', 'targets are')} not proven:"
            f" {quoted([line.target for line in unproven])}."
        )
    if known and not missed and not unproven:
        said.append(
            f"{_EVERY.get(len(known), f'All {len(known)} targets are')} met after the same attacks,"
            " under the same scenario."
        )
    if not known:
        said.append("No target was set: whether the file is safe enough is for you to judge.")
    return said


def _attacks(attacks: Sequence[AttackChange]) -> RiskSection:
    silent = [
        line for line in attacks if line.before is None and line.after is None and not line.target
    ]
    rows = [
        {
            "attack": line.attack,
            "before": _shown(line.before, is_share=line.is_share),
            "after": _shown(line.after, is_share=line.is_share),
            "target": line.target or "—",
            "reached": line.verdict or "—",
            "note": line.note,
        }
        for line in attacks
        if line not in silent
    ]
    names = ("attack", "before", "after", "target", "reached", "note")
    table = pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in names]))
    drawn = [
        (
            line.attack,
            line.before,
            line.after,
            " → ".join(_shown(each, is_share=line.is_share) for each in (line.before, line.after)),
        )
        for line in attacks
        if line.before is not None
        and line.after is not None
        and not line.more_is_safer
        # Nothing before and nothing after is no line of a plot.
        and (line.before or line.after)
    ]
    return RiskSection(
        "attacks",
        "Attacks before and after",
        [
            (
                "What was done to the file as it was, was done again to the protected one, under the same"
                " scenario."
            ),
            *_unknown(silent),
        ]
        if attacks
        else ["No attack was done."],
        [
            (
                protection_utility.plot_attacks(drawn),
                "What is left of each attack, by what it achieved before",
            )
        ]
        if drawn
        else [],
        [
            replace(
                RiskTable.of("What attacks achieve", table),
                numeric=(False, True, True, *[False] * 3),
            )
        ]
        if rows
        else [],
    )


def _unknown(lines: Sequence[AttackChange]) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for line in lines:
        by_reason.setdefault(line.note or "not tried", []).append(line.attack)
    return [f"Not known: {'; '.join(names)}: {why}." for why, names in by_reason.items()]


def _shown(value: float | None, *, is_share: bool) -> str:
    if value is None:
        return "not known"
    if is_share:
        return share_text(value)
    return f"{value:,.0f}" if float(value).is_integer() else digits_text(value, 4)


def _map(figure: Figure | None, candidates: pa.Table | None) -> RiskSection:
    return RiskSection(
        "map",
        "The map: risk against loss",
        ["Every candidate that was tried, attacked again under the same scenario."],
        [] if figure is None else [(figure, "Down is safer, to the left is less loss")],
        [] if candidates is None else [RiskTable.of("Candidates", candidates)],
    )


def _methods(steps: Sequence[Step], told: Sequence[str], *, with_options: bool) -> RiskSection:
    rows: list[dict[str, str]] = []
    for step in steps:
        row = {"method": step.do, "ISO/IEC 20889": step.iso or "—"}
        if with_options:
            options = {key: value for key, value in step.to_json().items() if key != "do"}
            row["options"] = (
                "; ".join(f"{key}: {_option(own)}" for key, own in options.items()) or "—"
            )
        else:
            row["what"] = (type(step).__doc__ or "").strip().partition("\n")[0]
        rows.append(row)
    names = ["method", "ISO/IEC 20889", "options" if with_options else "what"]
    table = pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in names]))
    tables = [RiskTable.of("Methods, in their order", table)] if rows else []
    return RiskSection("methods", "What was done", list(told), (), tables)


def _option(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_option, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_option(own)}" for key, own in value.items())
    return str(value)


def _cells(log: ChangeLog, about: AboutProtection, *, is_public: bool = False) -> RiskSection:
    title = "What was changed, variable by variable"
    if not about.is_counted:
        return RiskSection("cells", title, [*about.changed])
    counts = dict.fromkeys(("categories", "suppressed", "changed"), pa.int64())
    schema = pa.schema({"variable": pa.string(), **counts, "changed_share": pa.float64()})
    rows = [{name: row[name] for name in schema.names} for row in log.rows()]
    table = pa.Table.from_pylist(rows, schema)
    said = [*about.changed]
    if log.n_suppressed:
        said.append(f"A suppressed cell is {about.suppressed} in the release.")
    suppressed, changed = "suppressed", "cells changed"
    drawn = "Cells that were changed, as a share of the records"
    if is_public:
        suppressed, changed = "without a value", "without a value, or changed"
        drawn = "Cells that have no value or another one, as a share of the records"
    return RiskSection(
        "cells",
        title,
        said,
        [(protection_utility.plot_changes(log), drawn)] if log.n_changed else [],
        [
            RiskTable.of(
                "Changed variables",
                table,
                names={
                    "categories": "categories after recoding",
                    "suppressed": suppressed,
                    "changed": changed,
                    "changed_share": "changed share" if not is_public else "share of the records",
                },
            )
        ]
        if table.num_rows
        else [],
        () if log.variables else ["No variable was changed."],
    )
