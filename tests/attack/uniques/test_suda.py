"""Sample uniques end to end: from a key table to scores, contributions, classes and sentences."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.attack.risk import NOT_UNIQUE, RiskClasses, parse_risk_classes
from gamekeeper.attack.uniques.suda import assess_uniques
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import Cancelled, InputError, Reason
from tests.twins.minimal_uniques import minimal_uniques

MISSING = ("category", "ignore", "wildcard", "exclude")
NAMES = ["Residence", "Gender", "Education", "Labour"]
# The table of ten records in the practice guide of the International Household Survey Network.
IHSN = [
    ("urban", "female", "secondary incomplete", "employed"),
    ("urban", "female", "secondary incomplete", "employed"),
    ("urban", "female", "primary incomplete", "not in labour force"),
    ("urban", "male", "secondary complete", "employed"),
    ("rural", "female", "secondary complete", "unemployed"),
    ("urban", "male", "secondary complete", "employed"),
    ("urban", "female", "primary complete", "not in labour force"),
    ("urban", "male", "post-secondary", "unemployed"),
    ("urban", "female", "secondary incomplete", "not in labour force"),
    ("urban", "female", "secondary incomplete", "not in labour force"),
]


def key_table(rows, names=None, *, missing="category", **options):
    """Return the key table of rows of texts or numbers; None is a missing cell."""
    names = names or [f"V{place}" for place in range(len(rows[0]))]
    columns = list(zip(*rows, strict=True))
    values = [sorted({cell for cell in column if cell is not None}) for column in columns]
    codes = [
        [0 if cell is None else values[place].index(cell) + 1 for place, cell in enumerate(row)]
        for row in rows
    ]
    words = [("missing", *map(str, own)) for own in values]
    return count_keys(coded_from_codes(codes, names, words), names, missing=missing, **options)


def column(risk, name):
    return risk.records.table[name].to_pylist()


def contributions(result, *names):
    return {tuple(row[name] for name in names): row["is"] for row in result.to_arrow().to_pylist()}


def test_the_table_of_the_guide_has_the_scores_checked_by_hand():
    risk = assess_uniques(key_table(IHSN, NAMES), fraction="1%")
    unique = [place for place, size in enumerate(column(risk, "class_size")) if size == 1]
    assert unique == [2, 4, 6, 7]
    assert [column(risk, "is")[place] for place in unique] == [6, 12, 6, 10]
    assert [column(risk, "suda")[place] for place in unique] == [
        1_750_000,
        3_250_000,
        1_750_000,
        2_750_000,
    ]
    assert risk.file["dis"] == Fraction(2, 299)
    found = [[round(column(risk, name)[place], 4) for place in unique] for name in (
        "dis_is", "dis_is_suda")]  # fmt: skip
    assert found == [[0.0050, 0.0114, 0.0050, 0.0092], [0.0051, 0.0107, 0.0051, 0.0088]]
    assert column(risk, "risk_class") == [
        "low" if place in unique else NOT_UNIQUE for place in range(10)
    ]


def test_contributions_that_a_user_could_not_reproduce_by_hand():
    rows = [tuple(text) for text in ("AXP", "BXQ", "AYQ", "CZR", "BYR", "AXP", "BZQ")]
    risk = assess_uniques(key_table(rows))
    assert column(risk, "is") == [0, 2, 3, 3, 3, 0, 2]
    shares = {
        r["variable"]: round(r["is_percent"], 2) for r in risk.variables.to_arrow().to_pylist()
    }
    assert shares == {"V0": 61.54, "V1": 69.23, "V2": 53.85}


def test_a_young_widow_and_nine_others():
    rows = [
        ("16", "widowed", "F", "N"), ("16", "single", "F", "N"), ("16", "single", "M", "N"),
        ("70", "widowed", "F", "N"), ("70", "widowed", "M", "S"), ("40", "married", "F", "S"),
        ("40", "married", "M", "S"), ("40", "married", "F", "S"), ("70", "married", "M", "N"),
        ("40", "single", "M", "S"),
    ]  # fmt: skip
    risk = assess_uniques(key_table(rows, ["Age", "Status", "Sex", "Region"]))
    assert column(risk, "is") == [2, 2, 3, 3, 6, 0, 2, 0, 5, 4]
    assert risk.file["is"] == 27
    assert contributions(risk.variables, "variable") == {
        ("Age",): 15,
        ("Status",): 20,
        ("Sex",): 12,
        ("Region",): 12,
    }
    by_category = contributions(risk.categories, "variable", "category")
    assert by_category["Age", "70"] == 8
    assert by_category["Status", "married"] == 6
    assert risk.explain(1) == ["unique by Age 16 + Status widowed"]
    assert risk.file["special_uniques"] == 8


@pytest.mark.parametrize("policy", ["category", "ignore", "wildcard"])
def test_missing_cells_as_in_the_reference_cases(policy):
    rows = [
        (2, 1, 1, 1), (1, None, 0, 1), (2, 1, 0, 0), (0, 1, 0, 0), (2, 0, 0, 0), (2, 0, 2, 1),
        (0, 1, 1, 1), (None, 1, 2, 1), (1, 0, 2, 0),
    ]  # fmt: skip
    msus_of_eighth = {
        "category": ["unique by V0 missing", "unique by V1 1 + V2 2"],
        "ignore": ["unique by V1 1 + V2 2"],
        "wildcard": ["unique by V1 1 + V2 2"],
    }
    risk = assess_uniques(key_table(rows, missing=policy))
    assert risk.explain(8) == msus_of_eighth[policy]
    numbers = {
        "category": [2, 4, 2, 2, 2, 2, 2, 2, 4],
        "ignore": [2, 3, 2, 2, 2, 2, 2, 1, 4],
        "wildcard": [1, 2, 2, 2, 3, 3, 1, 1, 3],
    }
    assert column(risk, "msus") == numbers[policy]


ROWS = st.integers(1, 5).flatmap(
    lambda n_variables: st.lists(
        st.tuples(*[st.sampled_from([1, 1, 2, 3, None])] * n_variables), min_size=1, max_size=9
    )
)


def slow_risk(rows, policy, max_size):
    """Return what the definitions say, record by record."""
    kept = [place for place, row in enumerate(rows) if policy != "exclude" or None not in row]
    counted = [rows[place] for place in kept]
    n_keys = len(rows[0])
    codes = [[0 if cell is None else cell for cell in row] for row in counted]
    found = minimal_uniques(codes, "category" if policy == "exclude" else policy)
    msus = [found.get(number, set()) for number in range(len(counted))]
    scores: dict[str, dict] = {"is": {}, "suda": {}, "variable": {}, "category": {}, "users": {}}
    for place, row, own in zip(kept, counted, msus, strict=True):
        scores["is"][place] = scores["suda"][place] = 0
        for variables in own:
            size = len(variables)
            if size > max_size:
                continue
            weight = math.factorial(n_keys - size)
            scores["is"][place] += weight
            scores["suda"][place] += math.floor(
                Fraction(10**6 * (2 ** (n_keys - size) - 1), math.comb(n_keys, size))
            )
            for variable in variables:
                word = "missing" if row[variable] is None else str(row[variable])
                for kind, key in (("variable", (f"V{variable}",)),
                                  ("category", (f"V{variable}", word))):  # fmt: skip
                    scores[kind][key] = scores[kind].get(key, 0) + weight
                scores["users"].setdefault(f"V{variable}", set()).add(place)
    return kept, msus, scores


@settings(deadline=None, max_examples=50)
@given(ROWS, st.sampled_from(MISSING), st.integers(1, 5), st.booleans())
def test_scores_as_by_the_slow_twin(rows, policy, max_size, listing):
    try:
        table = key_table(rows, missing=policy, fraction="1/4")
    except InputError:
        # A key without any value is refused, and so is a file of which nothing is left.
        empty = [not any(row[v] is not None for row in rows) for v in range(len(rows[0]))]
        assert any(empty) or policy == "exclude"
        return
    risk = assess_uniques(table, max_size=max_size, listing=listing)
    kept, msus, scores = slow_risk(rows, policy, max_size)
    unique = {place for place, own in zip(kept, msus, strict=True) if own}
    for name in ("is", "suda"):
        assert column(risk, name) == [scores[name].get(place) for place in range(len(rows))]
    assert {place for place, size in enumerate(column(risk, "class_size")) if size == 1} == unique
    assert risk.file["is"] == sum(scores["is"].values())
    assert risk.file["sample_uniques"] == len(unique)
    for result, names, kind in (
        (risk.variables, ("variable",), "variable"),
        (risk.categories, ("variable", "category"), "category"),
    ):
        found = contributions(result, *names)
        assert {key: value for key, value in found.items() if value} == scores[kind]
    for row in risk.variables.to_arrow().to_pylist():
        users = len(scores["users"].get(row["variable"], ()))
        assert row["uniques"] == (users if listing else None)
    if listing:
        for place, own in zip(kept, msus, strict=True):
            told = [line for line in risk.explain(place + 1) if line.startswith("unique by")]
            assert len(told) == sum(1 for chosen in own if 0 < len(chosen) <= max_size)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(ROWS, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_records_or_variables(rows, random):
    rows = [tuple(9 if cell is None else cell for cell in row) for row in rows]
    order = random.sample(range(len(rows)), len(rows))
    places = random.sample(range(len(rows[0])), len(rows[0]))
    moved = [tuple(rows[old][place] for place in places) for old in order]
    first = assess_uniques(key_table(rows), fraction="1/3")
    second = assess_uniques(key_table(moved), fraction="1/3")
    for name in ("is", "suda", "msus", "smallest_msu", "risk_class"):
        values = column(first, name)
        assert column(second, name) == [values[old] for old in order]
    for name in ("dis_is", "dis_suda", "dis_is_suda"):
        values = column(first, name)
        assert (values[0] is None) == (column(second, name)[0] is None)
        if values[0] is not None:
            assert np.allclose(column(second, name), [values[old] for old in order])


def test_the_harmonic_mean_of_dis_is_is_dis():
    risk = assess_uniques(key_table(IHSN, NAMES), fraction="1/7")
    values = [value for value in column(risk, "dis_is") if value]
    assert len(values) / sum(1 / value for value in values) == pytest.approx(
        float(risk.file["dis"])
    )
    total = sum(column(risk, "dis_suda"))
    assert total == pytest.approx(float(risk.file["dis"]) * 4)


def test_without_a_sampling_fraction_only_what_needs_dis_is_empty():
    risk = assess_uniques(key_table(IHSN, NAMES))
    for name in ("dis_is", "dis_suda", "dis_is_suda"):
        assert column(risk, name) == [None] * 10
    assert sum(column(risk, "is")) == 34
    assert risk.records.measure == "is"
    assert risk.file["dis"] is None
    assert risk.file["class low"] is None
    assert column(risk, "risk_class").count(None) == 4
    assert risk.variables.to_arrow()["risky_records"].to_pylist() == [None] * 4
    told = " ".join(risk.sentences())
    assert "no sampling fraction was given" in told
    assert "since dis_is is not known" in told
    assert risk.provenance.parameters["rank_by"] == "is (dis_is is not known)"


def test_the_fraction_of_the_key_table_is_taken_unless_another_is_given():
    table = key_table(IHSN, NAMES, fraction="1/2")
    assert assess_uniques(table).file["dis"] == Fraction(2, 5)
    assert assess_uniques(table, fraction=0.01).file["dis"] == Fraction(2, 299)


def test_fractions_by_stratum():
    rows = [(1, "a"), (2, "a"), (3, "b"), (4, "b"), (4, "b")]
    codes = [[row[0], 1 if row[1] == "a" else 2] for row in rows]
    words = [("missing", "1", "2", "3", "4"), ("missing", "a", "b")]
    coded = coded_from_codes(codes, ["V", "stratum"], words)
    table = count_keys(coded, ["V"], strata="stratum", fraction={"a": "1/2", "b": "1/4"})
    # Two uniques at 1/2 and one at 1/4, against two paired records at 3/4.
    assert assess_uniques(table).file["dis"] == Fraction(5, 4) / (Fraction(5, 4) + Fraction(3, 2))


def test_no_uniques_at_all_has_a_result():
    risk = assess_uniques(key_table([(1, 1), (1, 1), (2, 2), (2, 2)]), fraction="1/2")
    assert risk.file["dis"] == 0
    assert risk.file["is"] == 0
    assert column(risk, "dis_is") == [0.0] * 4
    assert set(column(risk, "risk_class")) == {NOT_UNIQUE}
    assert risk.variables.to_arrow()["is_percent"].to_pylist() == [None, None]
    assert risk.explanations().lines == ()
    assert 4 <= len(risk.sentences()) <= 8


def test_neither_uniques_nor_pairs_leaves_dis_undefined():
    risk = assess_uniques(key_table([(1,), (1,), (1,)]), fraction="1/2")
    assert risk.file["dis"] is None
    assert column(risk, "dis_is") == [None] * 3
    assert "neither a sample unique nor a record in a pair" in " ".join(risk.sentences())


def test_a_single_record_is_unique_without_any_variable():
    risk = assess_uniques(key_table([(1, 2, 3)]), fraction="1/10")
    assert column(risk, "is") == [6]
    assert column(risk, "suda") == [7_000_000]
    assert column(risk, "smallest_msu") == [0]
    assert risk.explain(1) == ["unique: it is the only record"]
    assert risk.variables.to_arrow()["is"].to_pylist() == [0, 0, 0]
    assert risk.sizes.to_arrow()["size"].to_pylist() == [0, 1, 2, 3]
    assert 4 <= len(risk.sentences()) <= 8


def test_excluded_records_stay_in_the_table_without_a_score():
    rows = [(1, 1), (None, 1), (2, 1), (2, None)]
    risk = assess_uniques(key_table(rows, missing="exclude"), fraction="1/2")
    assert column(risk, "record") == [1, 2, 3, 4]
    assert column(risk, "class_size") == [1, None, 1, None]
    for name in ("msus", "is", "suda", "pol", "dis_is", "risk_class"):
        assert [cell is None for cell in column(risk, name)] == [False, True, False, True]
    assert risk.file["records_excluded"] == 2
    assert risk.explain(2) == ["left out: it has a missing value among the key variables"]
    assert risk.explain(3) == ["unique by V0 2"]


def test_a_limit_on_the_size_keeps_the_weights_and_says_what_is_hidden():
    rows = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    risk = assess_uniques(key_table(rows), fraction="1/2", max_size=1)
    assert column(risk, "is") == [0, 0, 0, 0, 1]
    assert risk.file["uniques_without_msu"] == 4
    assert risk.file["sample_uniques"] == 5
    assert "search ended" in risk.explain(1)[0]
    # They are as unique as the fifth, so nobody may read their risk as low.
    for name in ("dis_is", "dis_suda", "dis_is_suda", "risk_class"):
        assert [cell is None for cell in column(risk, name)] == [True] * 4 + [False]
    assert risk.file["class low"] == 0
    assert (
        "Not among these, since only larger combinations set them apart: 4." in risk.sentences()[2]
    )
    assert "up to 1 variable were searched" in risk.sentences()[-1]


def test_scores_beyond_64_bits_keep_the_file_level_exact():
    rng = np.random.default_rng(4)
    rows = [tuple(row) for row in rng.integers(0, 2, size=(6, 23)).tolist()]
    table = key_table([*rows, tuple([7] * 23)])
    risk = assess_uniques(table, fraction="1/2", max_size=2)
    counts = {line.size: line.msus for line in risk.sizes.lines}
    exact = counts[1] * math.factorial(22) + counts[2] * math.factorial(21)
    assert counts[1] >= 23
    assert risk.file["is"] == exact > 2**63
    assert risk.records.table["is"].type == "double"
    assert sum(column(risk, "is")) == pytest.approx(exact)
    assert all(0 <= value <= 1 for value in column(risk, "dis_is"))


def test_more_than_27_key_variables_have_no_dis_is():
    rows = [tuple([1] * 28), tuple([2] * 28), tuple([2] * 28)]
    risk = assess_uniques(key_table(rows), fraction="1/2", max_size=1)
    assert column(risk, "dis_is") == [None] * 3
    assert column(risk, "dis_suda")[0] > 0
    assert risk.records.measure == "is"
    assert "up to 27 key variables" in " ".join(risk.sentences())


def test_risky_records_meet_the_lowest_threshold_of_the_classes():
    classes = RiskClasses({"top": 12, "next": 10}, measure="is")
    risk = assess_uniques(key_table(IHSN, NAMES), classes=classes)
    assert [column(risk, "risk_class")[place] for place in (2, 4, 6, 7)] == [
        "low", "top", "low", "next"]  # fmt: skip
    shown = {r["variable"]: r["risky_records"] for r in risk.variables.to_arrow().to_pylist()}
    assert shown == {"Residence": 2, "Gender": 2, "Education": 2, "Labour": 2}
    by_category = {
        (r["variable"], r["category"]): r["risky_records"]
        for r in risk.categories.to_arrow().to_pylist()
    }
    assert by_category["Residence", "rural"] == 1
    assert by_category["Education", "primary complete"] == 0
    assert risk.file["class top"] == 1


@pytest.mark.parametrize("measure", ["suda", "is", "pol", "dis_suda", "dis_is", "dis_is_suda"])
def test_any_measure_can_rank(measure):
    risk = assess_uniques(key_table(IHSN, NAMES), fraction="1%", rank_by=measure)
    assert risk.records.top(2)["record"].to_pylist() == [5, 8]
    assert measure in risk.records.meanings


@pytest.mark.parametrize("measure", ["dis_is", "dis_suda", "suda"])
def test_right_matches_are_not_stated(measure):
    """Added up, DIS-IS was a third of the matches that would be right: it ranks, and that is said."""
    risk = assess_uniques(key_table(IHSN, NAMES), fraction="1%", rank_by=measure)
    told = " ".join(risk.sentences())
    assert "which uniques to look at first, and not how many would be matched rightly" in told
    assert "gamekeeper risk infer" in told
    assert not any("expected" in line.name for line in risk.file.lines)
    assert "expected" not in " ".join(map(str, risk.summary()))


def test_classes_may_be_written_as_a_text():
    table = key_table(IHSN, NAMES, fraction="1%")
    by_text = assess_uniques(table, classes="top=0.1,rest=0.001", rank_by="dis_suda")
    classes = parse_risk_classes("top=0.1,rest=0.001", measure="dis_suda")
    by_classes = assess_uniques(table, classes=classes, rank_by="dis_suda")
    assert by_text.to_arrow() == by_classes.to_arrow()
    assert "'top'" in by_text.sentences()[2]


def test_all_bad_options_are_told_at_once():
    with pytest.raises(InputError) as raised:
        assess_uniques(key_table(IHSN, NAMES), max_size=0, power=99)
    assert len(raised.value.problems) == 2
    with pytest.raises(InputError) as raised:
        assess_uniques(key_table(IHSN, NAMES), rank_by="dis_iss", fraction="3/2")
    assert len(raised.value.problems) == 2
    assert "Near to it: 'dis_is'" in str(raised.value)
    assert {problem.reason for problem in raised.value.problems} == {
        Reason.BAD_OPTION, Reason.UNKNOWN_NAME}  # fmt: skip


def test_sentences_and_reprs_hold_no_value_of_the_file():
    rows = [("canary", "b"), ("c", "b"), ("c", "d")]
    risk = assess_uniques(key_table(rows), fraction="1/2")
    shown = [*risk.sentences(), *risk.file.sentences()]
    for result in (risk, risk.records, risk.file, risk.variables, risk.categories, risk.sizes,
                   risk.explanations()):  # fmt: skip
        shown += [repr(result), result._repr_html_()]
    assert not any("canary" in text for text in shown)
    assert "canary" in str(risk.categories.to_arrow().to_pylist())


def test_the_search_can_be_cancelled():
    def stop(done, whole):
        raise Cancelled("An assessment was asked for.")

    with pytest.raises(Cancelled):
        assess_uniques(key_table(IHSN, NAMES), progress=stop)


def test_the_number_of_workers_changes_nothing():
    table = key_table(IHSN, NAMES, fraction="1%")
    one, two = assess_uniques(table, workers=1), assess_uniques(table, workers=2)
    assert one.records.table == two.records.table
    assert one.sentences() == two.sentences()


def test_provenance_names_what_was_done():
    risk = assess_uniques(key_table(IHSN, NAMES, missing="ignore"), fraction="1%", max_size=3)
    made = risk.provenance
    assert "DIS-SUDA (2003, capped apportionment of ln scores)" in made.variant
    assert "DIS-IS (Q = 1 + (8-K)/20)" in made.variant
    assert made.parameters == {
        "keys": "Residence, Gender, Education, Labour",
        "missing": "ignore",
        "fraction": "1/100",
        "max_size": "3",
        "power": "6",
        "risk_classes": "very high=0.5,high=0.2,medium=0.05 of dis_is",
        "rank_by": "dis_is",
        "listing": "true",
    }
    assert made.engine.startswith("duckdb")
    assert len(made.fingerprint) == 16
    for result in (risk.records, risk.file, risk.variables, risk.categories, risk.sizes):
        assert result.provenance.parameters == made.parameters


def test_a_limit_that_hides_every_unique_leaves_no_probability():
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    risk = assess_uniques(key_table(rows), fraction="1/2", max_size=1)
    assert risk.file["dis"] == 1
    assert risk.file["class low"] is None
    assert column(risk, "dis_is") == [None] * 4
    assert "only combinations larger than those searched" in risk.sentences()[2]
