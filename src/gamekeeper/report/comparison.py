"""What the page of a comparison of measures says: which results become which sections."""

from __future__ import annotations

from collections.abc import Mapping

from gamekeeper.attack.judging.comparison import Comparison, Setting
from gamekeeper.attack.judging.judgement import Judgement, in_words
from gamekeeper.report.risk import RiskReport, RiskSection, RiskTable, facts_of

__all__ = ["comparison_report"]

_WORDS = (
    ("Population unique", "a person whose key nobody else in the population has (F = 1)"),
    ("Sample unique", "a record whose key no other record of the sample has"),
    (
        "AUC",
        ("the chance that a population unique is ranked above a sample unique that is none; 1 is"
        " perfect, 0.5 is no better than drawing lots. All samples are put together; within"
        " samples, ranks are used instead of scores, so that a measure does not lose by a scale"
        " that differs from sample to sample"),
    ),
    (
        "Logit rank plot",
        ("the chance of being population unique along the ranking; the steeper the line, the better"
        " the measure tells who is"),
    ),
    (
        "Brier score, skill",
        ("the mean squared difference between probability and truth; the skill is what it is"
        " better than the same probability for all"),
    ),
    (
        "Calibration slope",
        ("1 where probabilities are right, below 1 where they are too extreme, above 1 where they"
        " are too alike"),
    ),
    (
        "Correct matches",
        "the sum of 1/F over the sample uniques: how many matches would be right, were all tried",
    ),
    (
        "Pr(CM|UM)",
        ("the probability that a unique match is correct: sample uniques by the number of people"
        " who have their keys"),
    ),
)  # fmt: skip

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


def comparison_report(comparison: Comparison, *, name: str) -> RiskReport:
    """Put a comparison together as a report; it has no words on single records."""
    fractions = ", ".join(setting.words for setting in comparison.settings)
    n_samples = len(comparison.settings[0].judgement.samples)
    sections = [
        _setting(number, setting) for number, setting in enumerate(comparison.settings, start=1)
    ]
    sections.append(_times(comparison))
    return RiskReport(
        f"Measures of risk compared on {name}",
        comparison.sentences(),
        facts_of(
            [
                ("Population", name),
                ("Key variables", ", ".join(comparison.keys)),
                ("Cells of the key", f"{comparison.n_cells:,}"),
                ("Sampling fractions", fractions),
                ("Samples of each", f"{n_samples:,}"),
                ("Measures", ", ".join(map(in_words, comparison.measures))),
            ]
        ),
        _tiles(comparison),
        sections,
        [comparison.provenance],
        _notices(comparison),
        _WORDS,
        kicker="Measures of risk compared",
        question="Which measure finds the records that are unique in the population?",
    )


def _tiles(comparison: Comparison) -> list[tuple[str, str]]:
    tiles = [
        (f"{comparison.n_records:,}", "people"),
        (f"{comparison.n_population_uniques:,}", "population uniques"),
    ]
    for setting in comparison.settings:
        best = setting.judgement.best
        if best is not None and best.auc is not None:
            words = f"best AUC at {setting.words}: {in_words(best.measure)}"
            tiles.append((f"{best.auc.value:.3f}", words))
    return tiles


def _notices(comparison: Comparison) -> list[str]:
    n_samples = len(comparison.settings[0].judgement.samples)
    if n_samples >= 10:
        return []
    told = "intervals tell how records differ, not how samples do."
    return [f"With fewer than ten samples of a fraction, {told}"]


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
    return RiskSection(
        f"fraction-{number}",
        f"Samples of {setting.words}",
        judgement.sentences()[: 1 + len(judgement.lines)],
        figures,
        tables,
    )


def _differences(judgement: Judgement, best: str) -> RiskTable:
    import pyarrow as pa

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
    import pyarrow as pa

    table = judgement.to_arrow()
    said = [name for name in names if name != "measure" and table[name].null_count < len(table)]
    known = [any(table[name][row].is_valid for name in said) for row in range(len(table))]
    words = pa.array([in_words(measure) for measure in judgement.measures], pa.string())
    # Columns that end so are shown as percentages.
    shown = {f"{name}_share" if name.endswith("_error") else name: table[name] for name in said}
    header = dict(zip(shown, (names[name] for name in said), strict=True))
    made = pa.table({"measure": words, **shown}).filter(pa.array(known, pa.bool_()))
    return RiskTable.of(caption, made, names=header)


def _times(comparison: Comparison) -> RiskSection:
    return RiskSection(
        "times",
        "How long it takes",
        figures=[(comparison.plot(), "Mean seconds per sample and measure, one process each")],
        tables=[RiskTable.of("Seconds per sample", comparison.timings().to_arrow())],
        notices=["What measures share, such as a search, is counted for each that needs it."],
    )
