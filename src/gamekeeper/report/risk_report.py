"""Pages of a risk assessment and of a comparison of measures: which results become which sections.

What a page says of the file itself: its name, how it was read, how it was counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gamekeeper.arrow import pa
from gamekeeper.attack.experiments.attack_experiment import AttackExperiment, attack_words
from gamekeeper.attack.experiments.compare import Comparison, Setting
from gamekeeper.attack.experiments.judgement import Judgement
from gamekeeper.attack.experiments.scores import all_in_words, in_words
from gamekeeper.attack.matching_result import MatchingRisk
from gamekeeper.attack.risk import NOT_UNIQUE
from gamekeeper.attack.uniques.suda import UniquesRisk
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.report.page import RiskReport, RiskSection, RiskTable, facts_of
from gamekeeper.report.tables import glossary
from gamekeeper.wording import fraction_text, fractions_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gamekeeper.attack.what_if import WhatIf


_SIGNS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", ".": "point"}


@dataclass(frozen=True, slots=True)
class AboutFile:
    """What a report says of the file: its name, how it was read, by which scenario."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    scenario: str = ""
    attacker: str = ""
    notices: Sequence[str] = ()
    what_if: WhatIf | None = None


def file_facts(
    about: AboutFile, table: KeyTable, *more: tuple[str, object]
) -> list[tuple[str, str]]:
    """Return the facts that are known of a file and of how its keys were counted."""
    settings = about.settings.items()
    left_out = table.n_excluded + table.n_further
    return facts_of(
        [
            ("File", about.name),
            ("Read as", ", ".join(f"{key} {_SIGNS.get(value, value)}" for key, value in settings)),
            ("Scenario", about.scenario),
            ("Attacker", about.attacker),
            ("Key variables", ", ".join(table.keys)),
            ("Missing values", f"{table.missing.value}: {table.missing.words}"),
            ("Records", f"{table.n_records:,} counted, {left_out:,} left out"),
            ("Sampling fraction", fraction_text(table.fraction)),
            *more,
        ]
    )


_MEASURES = ("record", "risk_class", "dis_is", "dis_suda", "is", "msus")
WORDS = glossary("risk")


def assessment_report(
    key_table: KeyTable,
    uniques: UniquesRisk,
    *,
    matching: MatchingRisk | None = None,
    name: str,
    scenario: str = "",
    attacker: str = "",
    settings: Mapping[str, str] | None = None,
    notices: Sequence[str] = (),
    with_records: bool = True,
) -> RiskReport:
    """Put an assessment together as a report; without records it can be shown to more people."""
    about = AboutFile(name, settings or {}, scenario, attacker, notices)
    return uniques_report(about, key_table, uniques, matching=matching, with_records=with_records)


def uniques_report(
    about: AboutFile,
    key_table: KeyTable,
    uniques: UniquesRisk,
    *,
    matching: MatchingRisk | None = None,
    with_records: bool = True,
) -> RiskReport:
    """Return the report of a search for uniques; without records it can be shown to more people."""
    file = uniques.file
    sections = [
        *recoded_sections(about, with_rules=with_records),
        classes_section(key_table),
        *([_records(uniques)] if with_records else []),
        variables_section(uniques),
        *([categories_section(uniques)] if with_records else []),
        sizes_section(uniques),
        *([] if matching is None else [matching_section(matching)]),
    ]
    left_out = [] if with_records else ["Single records and categories are left out of this page."]
    shares = [line for line in file.lines if line.name.startswith("class ")]
    tiles = [
        (f"{key_table.n_records:,}", "records"),
        (f"{key_table.n_uniques:,}", "sample uniques"),
        *([(f"{key_table.n_unlike:,}", "like no other as released")] if key_table.caution else []),
        *((f"{int(line.value or 0):,}", line.name.removeprefix("class ")) for line in shares),
    ]
    return RiskReport(
        f"Disclosure risk of {about.name}",
        uniques.sentences(),
        file_facts(about, key_table),
        [tile for tile in tiles if tile[1] != NOT_UNIQUE],
        sections,
        [key_table.provenance, uniques.provenance, *([matching.provenance] if matching else [])],
        [*about.notices, *left_out],
        WORDS,
    )


def recoded_sections(about: AboutFile, *, with_rules: bool = True) -> list[RiskSection]:
    """Return the section of a file before and after a recoding, if it was recoded.

    Rules may name categories: without them there are outlines.
    """
    what_if = about.what_if
    if what_if is None:
        return []
    told = what_if.sentences() if with_rules else what_if.outlines()
    table = RiskTable.of("Before and after", what_if.to_arrow())
    figures = [(what_if.plot(), "The file before and after recoding")]
    return [RiskSection("what-if", "Before and after recoding", told, figures, [table])]


def classes_section(key_table: KeyTable) -> RiskSection:
    """Tell how the records share their keys."""
    sizes = sorted(key_table.records_by_size)
    columns = {
        "class_size": pa.array(sizes, pa.int64()),
        "records": pa.array([key_table.records_by_size[size] for size in sizes], pa.int64()),
        "share": [key_table.records_by_size[size] / key_table.n_records for size in sizes],
    }
    table = pa.table(columns)
    caption = "How many records share their key with how many others"
    said = key_table.sentences()
    tables = [RiskTable.of(caption, table, most=15)]
    return RiskSection("keys", "How the records share their keys", said, tables=tables)


def with_reasons(uniques: UniquesRisk, shown: pa.Table, caption: str) -> tuple[pa.Table, str]:
    """Return a table of records with what sets each apart, where that is known, and its caption."""
    if uniques.explainer.found.masks is None:
        return shown, caption
    words = [
        "; ".join(line.removeprefix("unique by ") for line in uniques.explain(record, most=4))
        for record in shown["record"].to_pylist()
    ]
    column = pa.array(words, pa.string())
    return shown.append_column("unique by", column), f"{caption}, with what sets them apart"


def _records(uniques: UniquesRisk) -> RiskSection:
    top = uniques.riskiest(25)
    known = [name for name in _MEASURES if name in top.column_names]
    shown = top.select(known)
    shown, caption = with_reasons(
        uniques, shown, f"The riskiest records by {uniques.records.measure}"
    )
    return RiskSection(
        "records",
        "The riskiest records",
        figures=[(uniques.records.plot(), "How the risk is spread over the records")],
        tables=[RiskTable.of(caption, shown)],
        notices=["Click a heading to sort. Records are numbered from 1 in the order of the file."],
    )


def variables_section(uniques: UniquesRisk) -> RiskSection:
    """Tell which variables are to blame."""
    caption = "What each variable adds; an MSU counts for each of its variables"
    figures = [(uniques.variables.plot(), "Contributions to IS by variable and size of the MSU")]
    tables = [RiskTable.of(caption, uniques.variables.to_arrow())]
    return RiskSection("variables", "Which variables are to blame", figures=figures, tables=tables)


def categories_section(uniques: UniquesRisk) -> RiskSection:
    """Tell which categories are to blame."""
    caption = "What each category adds; the values of a variable sum to that of the variable"
    return RiskSection(
        "categories",
        "Which categories are to blame",
        figures=[(uniques.categories.plot(), "The categories that contribute most to IS")],
        tables=[RiskTable.of(caption, uniques.categories.to_arrow(), most=100)],
    )


def sizes_section(uniques: UniquesRisk) -> RiskSection:
    """Tell how many variables it takes to set records apart."""
    caption = "Minimal sample uniques by the number of their variables"
    figures = [(uniques.sizes.plot(), "Minimal sample uniques by size")]
    tables = [RiskTable.of(caption, uniques.sizes.to_arrow())]
    return RiskSection("sizes", "How many variables it takes", figures=figures, tables=tables)


def matching_section(matching: MatchingRisk) -> RiskSection:
    """Tell what a match would cost."""
    return RiskSection(
        "matching",
        "What a match would cost",
        matching.sentences(),
        figures=[(matching.plot(), "Probability of a correct match against the cost of finding it")]
        if not matching.why_not_known
        else [],
        tables=[RiskTable.of("Matching strategies", matching.to_arrow())],
    )


_WORDS = glossary("comparison")

_RANKING = {
    "measure": "measure",
    "auc": "AUC",
    "auc_low": "from",
    "auc_high": "to",
    "auc_within": "AUC within samples",
    "rank_slope": "slope of logit ranks",
}
_PROBABILITIES = {
    "measure": "measure",
    "unique_brier": "Brier, F = 1",
    "unique_skill": "skill, F = 1",
    "unique_slope": "slope, F = 1",
    "match_brier": "Brier, 1/F",
    "match_skill": "skill, 1/F",
    "match_slope": "slope, 1/F",
    "non_unique_ratio": "estimate by truth, F > 1",
}
_FILE = {
    "population_uniques": "Population uniques among the sample uniques",
    "correct_matches": "Correct matches, were every sample unique matched",
    "pr_cm_given_um": "Pr(CM|UM)",
}

_CAPTIONS = {
    "top": "Probability of a correct match: the first ten of each measure, beside strategies that"
    " use counts alone",
    "matched": "Probability of a correct match of attacks that cost what the search for any sample"
    " unique, Pr(CM|UM), costs; of MCMCMC1 in truth, of MCMCMC2 as expected",
    "cost": "People searched on average, anybody again; on the right that is the number of people"
    " times the probability of a correct match, whatever the choice",
}


def comparison_report(
    comparison: Comparison, *, name: str, notices: Sequence[str] = ()
) -> RiskReport:
    """Put a comparison together as a report; it has no words on single records."""
    fractions = ", ".join(setting.words for setting in comparison.settings)
    attacked = fractions_text(comparison.attacks.fractions)
    n_samples = len(comparison.settings[0].judgement.samples)
    few = "With fewer than ten samples of a fraction, intervals tell how records differ, not how samples do."
    sections = [
        _setting(number, setting) for number, setting in enumerate(comparison.settings, start=1)
    ]
    sections += [_attacks(comparison.attacks), _times(comparison)]
    return RiskReport(
        f"Measures of risk compared on {name}",
        [*comparison.sentences(), comparison.attacks.headline],
        facts_of(
            [
                ("Population", name),
                ("Key variables", ", ".join(comparison.keys)),
                ("Cells of the key", f"{comparison.n_cells:,}"),
                ("Sampling fractions", fractions),
                ("Samples of each", f"{n_samples:,}"),
                ("Sampling fractions of attacks", attacked),
                ("Measures", ", ".join(map(in_words, comparison.measures))),
            ]
        ),
        _tiles(comparison),
        sections,
        [comparison.provenance],
        [*notices, *([few] if n_samples < 10 else [])],
        _WORDS,
        kicker="Measures of risk compared",
        question=(
            "Which measure finds the records that are unique in the population, and what does an"
            " attack on those it ranks first achieve?"
        ),
    )


def _tiles(comparison: Comparison) -> list[tuple[str, str]]:
    tiles = [
        (f"{comparison.n_records:,}", "people"),
        (f"{comparison.n_population_uniques:,}", "population uniques"),
    ]
    for setting in comparison.settings:
        best = setting.judgement.best
        if best is not None and best.auc is not None:
            words = f"best AUC at {setting.words}: {all_in_words(setting.judgement.best_measures)}"
            tiles.append((f"{best.auc.value:.3f}", words))
    first = comparison.attacks.best
    if first is not None:
        measure, chance = first
        tiles.append((f"{chance:.3f}", f"right matches of the first ten by {in_words(measure)}"))
    return tiles


def _setting(number: int, setting: Setting) -> RiskSection:
    judgement = setting.judgement
    figures = [(judgement.plot(), "Logit rank plot: steeper is better")]
    for figure, caption in (
        (
            judgement.plot_predictions(),
            "Estimated against true probability of a correct match; on the broken line both agree",
        ),
        (judgement.plot_calibration(), "Truth against probability, by tenths of sample uniques"),
    ):
        if figure is not None:
            figures.append((figure, caption))
    tables = [_table("How well measures rank", judgement, _RANKING)]
    if any(line.match or line.unique for line in judgement.lines):
        tables.append(_table("How right probabilities are", judgement, _PROBABILITIES))
    for column, caption in _FILE.items():
        if any(getattr(line, column) is not None for line in judgement.lines):
            tables.append(_table(f"{caption}, mean per sample", judgement, _file_columns(column)))
    if judgement.best is not None and len(judgement.lines) > 1:
        tables.append(_differences(judgement, judgement.best.measure))
    caption = "Cells by count in the sample (rows) and in the population (columns)"
    if setting.joint.samples > 1:
        caption += ", mean per sample"
    tables.append(RiskTable.of(caption, setting.joint.listing().to_arrow()))
    said = judgement.sentences()[: 1 + len(judgement.lines)]
    return RiskSection(f"fraction-{number}", f"Samples of {setting.words}", said, figures, tables)


def _differences(judgement: Judgement, best: str) -> RiskTable:
    table = judgement.differences(best).to_arrow()
    words = [in_words(measure) for measure in table["measure"].to_pylist()]
    return RiskTable.of(
        f"AUC less that of {in_words(best)}, with an interval",
        table.set_column(0, "measure", pa.array(words, pa.string())),
        names={"low": "from", "high": "to", "clearly": "clearly above or below"},
    )


def _file_columns(column: str) -> dict[str, str]:
    return {
        "measure": "measure",
        column: "estimate",
        f"{column}_true": "truth",
        f"{column}_error": "mean relative error",
        f"{column}_absolute_error": "mean absolute relative error",
    }


def _table(caption: str, judgement: Judgement, names: Mapping[str, str]) -> RiskTable:
    """Make a table of the columns that some measure has, with the measures that have any."""
    table = judgement.to_arrow()
    said = [name for name in names if name != "measure" and table[name].null_count < len(table)]
    known = [any(table[name][row].is_valid for name in said) for row in range(len(table))]
    words = pa.array([in_words(measure) for measure in judgement.measures], pa.string())
    # Columns that end so are shown as percentages.
    shown = {f"{name}_share" if name.endswith("_error") else name: table[name] for name in said}
    header = dict(zip(shown, (names[name] for name in said), strict=True))
    made = pa.table({"measure": words, **shown}).filter(pa.array(known, pa.bool_()))
    return RiskTable.of(caption, made, names=header)


def _attacks(found: AttackExperiment) -> RiskSection:
    figures: list[tuple[Figure, str]] = []
    if len(found.fractions) > 1 and found.series:
        figures.append((found.plot(), _CAPTIONS["top"]))
        matched = found.plot_matched()
        if matched is not None:
            figures.append((matched, _CAPTIONS["matched"]))
        figures.append((found.plot_costs(), _CAPTIONS["cost"]))
    parts = {
        "pr_cm": "Probability of a correct match (DIS: what it says of Pr(CM|UM))",
        "cost": "People searched on average, anybody again",
        "keys": "Keys attacked",
    }
    tables = [_by_fraction(caption, found, part) for part, caption in parts.items()]
    return RiskSection(
        "attacks",
        "What attacks achieve, by sampling fraction",
        found.sentences(),
        figures,
        [table for table in tables if table is not None],
        found.notices(),
    )


def _by_fraction(caption: str, found: AttackExperiment, part: str) -> RiskTable | None:
    """Make a table with a line per attack that has such a number, and a column per fraction."""
    curves = {one: found.curve(*one, part) for one in found.series}
    known = {one: values for one, values in curves.items() if any(v is not None for v in values)}
    if not known:
        return None
    words = [attack_words(attack, measure) for attack, measure in known]
    columns = {"attack": pa.array(words, pa.string())}
    for place in range(len(found.fractions)):
        column = [values[place] for values in known.values()]
        columns[str(place)] = pa.array(column, pa.float64())
    names = {str(place): fraction_text(step) for place, step in enumerate(found.fractions)}
    return RiskTable.of(caption, pa.table(columns), names=names)


def _times(comparison: Comparison) -> RiskSection:
    figures = [(comparison.plot(), "Mean seconds per sample and measure, one process each")]
    if len(comparison.attacks.fractions) > len(comparison.settings):
        figures.append((comparison.attacks.plot_seconds(), "Mean seconds by sampling fraction"))
    tables = [RiskTable.of("Seconds per sample", comparison.timings().to_arrow())]
    notices = ["What measures share, such as a search, is counted for each that needs it."]
    return RiskSection(
        "times", "How long it takes", figures=figures, tables=tables, notices=notices
    )
