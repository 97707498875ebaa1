"""Utility of a changed file: what is measured, what is said, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gamekeeper import InputError, LimitError
from gamekeeper.algorithms.statistics import least_squares
from gamekeeper.data.coding.codebook import Recode
from gamekeeper.data.coding.coded_table import coded_from_codes, replace_cells
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.protection.numbers import Microaggregate
from gamekeeper.protection.pram import Pram, Sample
from gamekeeper.protection.step import ChangeLog, Setting, VariableChange
from gamekeeper.protection.utility.measuring import UtilityOptions, measure_utility

N = 400


def people():
    rng = np.random.default_rng(4)
    sex = rng.integers(0, 2, N)
    age = rng.integers(20, 80, N)
    frame = pa.table(
        {
            "sex": ["f" if s else "m" for s in sex],
            "age": age.tolist(),
            "region": [str(r) for r in rng.choice(["n", "s", "w"], N)],
            "income": (1000 + 10 * age + 300 * sex + rng.normal(0, 100, N)).round(2).tolist(),
            "weight": rng.integers(1, 4, N).astype(float).tolist(),
        }
    )
    return code_frame(frame, ["sex", "age", "region"], numbers=["income", "weight"])


SETTING = Setting(keys=("sex", "age", "region"), weight="weight", seed=1)


def starred(table, share=0.2):
    stars = np.random.default_rng(2).random(N) < share
    codes = table.codes("age").astype(np.int64)
    made = replace_cells(table, {"age": np.where(stars, 0, codes)})
    return made, ChangeLog(N, {"age": VariableChange.of_cells(suppressed=stars)}), stars


def shuffled(n, n_values, seed=5):
    rng = np.random.default_rng(seed)
    first = rng.integers(1, n_values + 1, n)
    codes = np.stack([first, first, first], axis=1)
    names = ("a", "b", "c")
    turned = np.stack([rng.permutation(column) for column in codes.T], axis=1)
    return coded_from_codes(codes, names), coded_from_codes(turned, names)


def of_propensity(found):
    (said,) = [text for text in found.sentences() if "told apart" in text]
    return said


def test_what_a_model_of_propensity_cannot_see_is_said_beside_it():
    # Columns that were shuffled are as they were one by one, and far from that together.
    before, after = shuffled(600, 14)
    found = measure_utility(before, after)
    assert found.farthest.distance > 0.5
    assert found.propensity.pmse == 0
    assert not found.propensity.has_pairs
    said = of_propensity(found)
    assert said.startswith("By one variable at a time, records of before and after can hardly")
    assert "does not see how variables go together" in said
    assert "the rarer categories of 3 variables" in said
    # With few categories pairs are in the model, and show it.
    found = measure_utility(*shuffled(600, 4))
    assert found.propensity.has_pairs
    assert found.propensity.n_pooled == 0
    assert of_propensity(found).startswith("Records of before and after are easily told apart")


def test_three_variables_that_go_together_no_more_are_not_seen_by_pairs():
    rng = np.random.default_rng(1)
    one, two, three = rng.integers(0, 2, (3, 4000))
    names = ("a", "b", "c")
    before = coded_from_codes(np.stack([one, two, one ^ two], axis=1) + 1, names)
    after = coded_from_codes(np.stack([one, two, three], axis=1) + 1, names)
    said = of_propensity(measure_utility(before, after))
    assert "can hardly be told apart" in said
    assert said.endswith("This does not see how three variables go together.")


def test_hardly_is_said_of_small_numbers_only():
    # Two drawings of a dozen: pMSE is large, and labels dealt by lot would give no less.
    rng = np.random.default_rng(3)
    files = [coded_from_codes(rng.integers(1, 4, (12, 3)), ("a", "b", "c")) for _ in range(2)]
    found = measure_utility(*files)
    assert found.propensity.of_most > 0.1
    assert found.propensity.ratio < 1.5
    said = of_propensity(found)
    assert "hardly" not in said
    assert "no better than with labels dealt by lot" in said


def test_a_copy_lost_nothing():
    table = people()
    same = measure_utility(table, table, UtilityOptions(weight="weight"), log=ChangeLog(N))
    assert same.sentences()[0] == "Every table of up to 3 variables is as it was."
    assert same.farthest is None
    assert same.propensity.pmse == 0
    assert all(line.bits_lost == 0 and line.changed_share == 0 for line in same.variables)
    assert [line.moved for line in same.numbers] == [0.0]


def test_suppressed_cells_are_a_category_and_bits_are_lost():
    table = people()
    made, log, stars = starred(table)
    found = measure_utility(table, made, log=log)
    (age,) = [line for line in found.variables if line.variable == "age"]
    assert age.suppressed_share == pytest.approx(stars.mean())
    assert age.distance > 0.2
    # Whoever sees a star knows nothing, whoever sees an age knows it.
    codes = table.codes("age")[stars]
    shares = np.bincount(codes)[np.bincount(codes) > 0] / stars.sum()
    assert age.bits_lost == pytest.approx(-(shares * np.log2(shares)).sum() * stars.mean())
    assert "age" in found.farthest.variables
    assert any("most of them in 'age'" in sentence for sentence in found.sentences())
    without = measure_utility(table, made)
    assert without.variables[1].bits_lost is None
    assert without.variables[1].distance == pytest.approx(age.distance)


def test_a_missing_cell_that_looks_suppressed_now_is_no_loss():
    table = coded_from_codes([[1], [0], [2], [0]], ["sex"])
    bits = np.packbits(np.array([False, True, False, True]))
    nothing = np.packbits(np.zeros(4, bool))
    log = ChangeLog(4, {"sex": VariableChange(None, nothing, bits)})
    found = measure_utility(table, table, log=log)
    assert found.farthest is None
    assert found.variables[0].suppressed_share == 0
    assert found.variables[0].bits_lost == 0


def test_a_recoded_variable_is_compared_as_it_is_released():
    table = people()
    n_codes = table.codebook["age"].n_codes
    recode = Recode("age", [0, *(1 + (np.arange(n_codes - 1) >= 30))], ("missing", "low", "high"))
    log = ChangeLog(N, {"age": VariableChange(recode)})
    found = measure_utility(table, table.recoded([recode]), log=log)
    assert found.farthest is None
    age = found.variables[1]
    assert (age.categories_after, age.distance) == (2, 0.0)
    assert 0 < age.bits_lost < age.bits_before
    assert "detail" in found.sentences()[0]
    assert any("is lost (entropy)" in sentence for sentence in found.sentences())


def test_an_amount_that_is_coded_is_a_number_and_no_category():
    rng = np.random.default_rng(8)
    frame = pa.table({"id": [f"p{n}" for n in range(N)], "income": rng.integers(0, 9**6, N).tolist(),
                      "sex": rng.choice(["f", "m"], N).tolist()})  # fmt: skip
    table = code_frame(frame, ["id", "income", "sex"])
    made = Microaggregate(variables=("income",), k=5).apply(table, Setting(keys=("sex",)))
    found = measure_utility(table, made.table, log=made.log)
    assert [line.variable for line in found.variables] == ["sex"]
    assert [line.variable for line in found.numbers] == ["income"]
    assert 0 < found.numbers[0].moved < 0.1
    named = measure_utility(
        table, made.table, UtilityOptions(variables=("income", "sex")), log=made.log
    )
    assert named.n_tables == 3


def test_weights_are_beside_and_not_instead():
    table = people()
    made = Pram(variables=("sex", "region"), share=1.0).apply(table, SETTING)
    plain = measure_utility(table, made.table, log=made.log)
    both = measure_utility(table, made.table, UtilityOptions(weight="weight"), log=made.log)
    assert [t.distance for t in both.tables] == [t.distance for t in plain.tables]
    assert both.tables[0].distance_weighted is not None
    assert plain.tables[0].distance_weighted is None
    assert both.propensity_weighted is not None
    assert both.numbers[0].weighted_mean_before == pytest.approx(
        np.average(table.number("income"), weights=table.number("weight"))
    )


def test_numbers_and_correlations():
    table = people()
    made = Microaggregate(variables=("income",), k=20).apply(table, SETTING)
    found = measure_utility(table, made.table, log=made.log)
    (income,) = [line for line in found.numbers if line.variable == "income"]
    assert 0 < income.moved < 0.2
    assert income.mean_after == pytest.approx(income.mean_before, rel=1e-4)
    assert income.deviation_after < income.deviation_before
    assert 0 < found.correlation_moved < 0.1
    assert 0 < found.eigenvalue_moved < 0.2
    assert any("Numbers moved in 1 column" in sentence for sentence in found.sentences())


def test_numbers_vary_together_as_numpy_says():
    rng = np.random.default_rng(5)
    frame = pa.table({"s": ["a"] * 30, "x": rng.normal(size=30).tolist(),
                      "y": [None, *rng.normal(size=29).tolist()],
                      "w": rng.integers(1, 4, 30).astype(float).tolist()})  # fmt: skip
    table = code_frame(frame, ["s"], numbers=["x", "y", "w"])
    made = Microaggregate(variables=("x",), k=5, decimals=9).apply(table, Setting(keys=("s",)))
    found = measure_utility(table, made.table, UtilityOptions(weight="w"), log=made.log)
    (pair,) = found.pairs
    for side, numbers in (("before", table), ("after", made.table)):
        x, y = numbers.number("x")[1:], numbers.number("y")[1:]
        weights = numbers.number("w")[1:]
        assert getattr(pair, f"covariance_{side}") == pytest.approx(np.cov(x, y, ddof=0)[0, 1])
        assert getattr(pair, f"correlation_{side}") == pytest.approx(np.corrcoef(x, y)[0, 1])
        spread = np.cov(x, y, ddof=0, aweights=weights)
        wanted = spread[0, 1] / np.sqrt(spread[0, 0] * spread[1, 1])
        assert getattr(pair, f"weighted_correlation_{side}") == pytest.approx(wanted)
        assert getattr(pair, f"weighted_covariance_{side}") == pytest.approx(spread[0, 1])
    assert found.pairs_listing().to_arrow().num_rows == 1


def test_analyses_before_and_after():
    table = people()
    made, log, _ = starred(table)
    texts = ("income ~ sex + region", "mean of income by sex", "share of region", "mean of age")
    found = measure_utility(table, made, UtilityOptions(analyses=texts), log=log)
    lines = {(line.analysis, line.estimate): line for line in found.analyses}
    assert all(line.overlap == 1 for (text, _), line in lines.items() if text != "mean of age")
    slope = lines["income ~ sex + region", "sex: m"]
    design = np.column_stack(
        [
            np.ones(N),
            table.codes("sex") == 2,
            table.codes("region") == 2,
            table.codes("region") == 3,
        ]
    ).astype(float)
    beta, *_ = np.linalg.lstsq(design, table.number("income"), rcond=None)
    assert slope.before[0] == pytest.approx(beta[1])
    aged = lines["mean of age", "all"]
    assert 0 < aged.overlap < 1
    shares = [line.before[0] for (text, _), line in lines.items() if text == "share of region"]
    assert sum(shares) == pytest.approx(1)
    assert any("at worst ('mean of age')" in sentence for sentence in found.sentences())
    assert found.analyses_listing().to_arrow().num_rows == len(found.analyses)


def test_analyses_of_columns_that_nobody_changed_and_by_weight():
    table = people()
    made, log, _ = starred(table)
    amounts = [str(n % 7) for n in range(N)]
    rooms = code_frame(
        pa.table({"rooms": amounts, "heating": ["gas", "oil"] * (N // 2)}), ["rooms", "heating"]
    )
    options = UtilityOptions(weight="weight", analyses=("mean of rooms by heating", "rooms ~ age"))
    found = measure_utility(table, made, options, log=log, beside=rooms)
    lines = {(line.analysis, line.estimate, line.weighted): line for line in found.analyses}
    one = lines["mean of rooms by heating", "gas", False]
    assert one.before[0] == pytest.approx(np.mean([n % 7 for n in range(0, N, 2)]))
    weights = table.number("weight")[::2]
    two = lines["mean of rooms by heating", "gas", True]
    assert two.before[0] == pytest.approx(
        np.average([n % 7 for n in range(0, N, 2)], weights=weights)
    )
    assert one.overlap == two.overlap == 1
    assert any(text == "rooms ~ age" and not weighted for text, _, weighted in lines)
    assert "rooms" not in [line.variable for line in found.variables]


def test_entropies_by_weight_are_those_of_records_repeated():
    codes = [[1], [2], [2], [3], [3], [3]]
    repeated = [row for row, n in zip(codes, (3, 1, 2, 1, 1, 2), strict=True) for _ in range(n)]
    stars = np.array([False, False, True, False, True, False])
    weights = np.array([3.0, 1, 2, 1, 1, 2])

    def of(rows, star, numbers=None):
        before = coded_from_codes(rows, ["a"], numbers=numbers)
        after = replace_cells(before, {"a": np.where(star, 0, before.codes("a"))})
        log = ChangeLog(len(rows), {"a": VariableChange.of_cells(suppressed=star)})
        options = UtilityOptions(weight="w" if numbers else "")
        return measure_utility(before, after, options, log=log).variables[0]

    weighted = of(codes, stars, {"w": weights})
    plain = of(repeated, np.repeat(stars, weights.astype(int)))
    assert weighted.bits_before_weighted == pytest.approx(plain.bits_before)
    assert weighted.bits_lost_weighted == pytest.approx(plain.bits_lost)
    assert weighted.distance_weighted == pytest.approx(plain.distance)
    assert plain.bits_lost_weighted is None


def test_suppressed_cells_are_lost_to_regressions_and_a_category_of_shares():
    table = people()
    made, log, stars = starred(table)
    found = measure_utility(
        table, made, UtilityOptions(analyses=("share of age", "mean of age")), log=log
    )
    lines = {(line.analysis, line.estimate): line for line in found.analyses}
    star = lines["share of age", "suppressed"]
    assert star.before is None
    assert star.overlap is None
    assert star.after[0] == pytest.approx(stars.mean())
    kept = np.array([float(v) for v in table.codebook["age"].values[1:]])[table.codes("age") - 1]
    assert lines["mean of age", "all"].after[0] == pytest.approx(kept[~stars].mean())
    assert any("cannot be compared" in sentence for sentence in found.sentences())


def test_a_sample_is_compared_with_the_whole_file():
    table = people()
    made = Sample(fraction=0.5).apply(table, SETTING)
    found = measure_utility(table, made.table, UtilityOptions(weight="weight"), log=made.log)
    assert (found.n_before, found.n_after) == (N, N // 2)
    assert 0 < found.farthest.distance < 1
    assert all(line.changed_share == 0 for line in found.variables)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (UtilityOptions(variables=("agee",)), "agee"),
        (UtilityOptions(weight="agee"), "agee"),
        (UtilityOptions(analyses=("income on age", "income ~ x", "share of income")), "3 faults"),
        (UtilityOptions(most=4), "most"),
    ],
)
def test_what_cannot_be_asked(options, words):
    table = people()
    with pytest.raises(InputError, match=words):
        measure_utility(table, table, options)


def test_too_many_tables_are_refused_beforehand(monkeypatch):
    monkeypatch.setattr("gamekeeper.protection.utility.measuring._MOST_CELLS", 1000)
    with pytest.raises(LimitError, match="7 tables"):
        measure_utility(people(), people())


def test_least_squares_where_it_cannot_be_told():
    assert least_squares([[1.0, 1.0]] * 5, [1.0] * 5) is None
    assert least_squares([[1.0]], [1.0]) is None
    assert least_squares([[1.0, 0.0]] * 3, [1.0] * 3) is None


def test_least_squares_intervals_cover_as_they_say():
    rng = np.random.default_rng(9)
    hits = 0
    for _ in range(300):
        x = rng.normal(size=80)
        y = 2 * x + rng.normal(size=80) * (0.5 + np.abs(x))
        fit = least_squares(np.column_stack((np.ones(80), x)), y)
        hits += fit.low[1] <= 2 <= fit.high[1]
    assert 0.9 < hits / 300 < 0.98


def test_one_variable_and_two_records():
    table = coded_from_codes([[1], [2]], ["sex"])
    found = measure_utility(table, table, UtilityOptions(variables=("sex",)))
    assert found.n_tables == 1
    found.plot()
