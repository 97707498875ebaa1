"""Links of records, and of maskings, against brute force, the truth of who is who, and what is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.attack.linkage import linking
from gamekeeper.attack.linkage.columns import LinkVariable, compare_files
from gamekeeper.attack.linkage.files import compare_maskings, link_files
from gamekeeper.attack.linkage.options import LinkMethod, ObjectiveName
from gamekeeper.attack.linkage.truth import share_interval, true_partners
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.linked_files import AGE, STATUS, file_of
from tests.twins.linking import every_linking, least_cost

NUMBERS = [LinkVariable("x", kind="number", measure="absolute")]


def one_variable(a, b, **options):
    return link_files(file_of({"x": a}), file_of({"x": b}), NUMBERS, objective="equal", **options)


def absolute(a, b):
    return np.abs(np.subtract.outer(np.array(a, float), np.array(b, float)))


small = st.lists(st.integers(0, 9), min_size=1, max_size=4)


@given(small, small)
def test_optimal_links_are_those_of_brute_force(a, b):
    costs = absolute(a, b)
    found = one_variable(a, b)
    every = every_linking(costs)
    assert found.linked.total == pytest.approx(every[0][0])
    assert found.linked.lower_bound == pytest.approx(every[0][0])
    assert found.n_linked == min(len(a), len(b))
    best = [columns for total, columns in every if total == every[0][0]]
    assert tuple(found.linked.columns.tolist()) in best
    ordered = np.sort(costs, axis=1)
    for row, column in enumerate(found.linked.columns.tolist()):
        assert found.linked.best[row] == ordered[row, 0]
        if len(b) > 1:
            assert found.margins[row] == ordered[row, 1] - ordered[row, 0]
        if column < 0:
            assert not found.linked.is_sure[row]
            assert np.isnan(found.linked.increases[row])
            continue
        assert found.linked.costs[row] == costs[row, column]
        assert found.linked.is_sure[row] == all(columns[row] == column for columns in best)
        # As many links at the least cost, where this one is forbidden.
        others = [total for total, columns in every if columns[row] != column]
        increase = others[0] - every[0][0] if others else np.inf
        assert found.linked.increases[row] == pytest.approx(increase)


@pytest.mark.slow
@given(small, small)
def test_greedy_links_cost_no_less_and_say_by_how_much(a, b):
    costs = absolute(a, b)
    for method in ("greedy", "greedy-rows"):
        found = one_variable(a, b, method=method)
        assert found.n_linked == min(len(a), len(b))
        assert found.linked.lower_bound == pytest.approx(least_cost(costs)[1])
        assert found.linked.total >= found.linked.lower_bound - 1e-9
        linked = found.linked.columns[found.linked.columns >= 0]
        assert len(set(linked.tolist())) == len(linked)
    nearest = one_variable(a, b, method="nearest")
    assert nearest.linked.costs.tolist() == costs.min(axis=1).tolist()
    assert nearest.linked.lower_bound is None


def test_the_gap_of_a_greedy_heuristic_is_told():
    # Cheapest first takes 5 with 4, and 0 with 9 is left; the best links cross.
    found = one_variable([5, 0], [4, 9], method="greedy")
    assert found.linked.columns.tolist() == [0, 1]
    assert (found.linked.total, found.linked.lower_bound) == (10, 8)
    assert "cost 10 together; no one-to-one links could cost less than 8 (20% less)" in "\n".join(
        found.sentences()
    )
    by_rows = one_variable([5, 0], [4, 9], method="greedy-rows")
    assert by_rows.linked.columns.tolist() == [0, 1]
    assert one_variable([5, 0], [4, 9]).linked.columns.tolist() == [1, 0]
    assert one_variable([5, 0], [4, 9], method="nearest").linked.columns.tolist() == [0, 0]


def with_status(a, b, **options):
    variable = [LinkVariable("Status", kind="mapped", variable=STATUS)]
    files = (file_of({"Status": values}) for values in (a, b))
    return link_files(*files, variable, objective="equal", **options)


@pytest.mark.parametrize("is_small", [True, False])
def test_a_bound_is_of_as_many_links(monkeypatch, is_small):
    """Fewer links cost less without being better, so that they have no bound."""
    if not is_small:
        monkeypatch.setattr(linking, "_BOUND_RECORDS", 0)
    # Row by row, the first takes the only partner that the second could have.
    a, b = ["ever married", "widowed"], ["widowed", "married"]
    for seed in range(6):
        found = with_status(a, b, method="greedy-rows", seed=seed)
        best = with_status(a, b, seed=seed)
        assert best.linked.columns.tolist() == [1, 0]
        if found.n_linked < 2:
            assert found.linked.lower_bound is found.linked.gap_to_bound is None
        else:
            assert found.linked.lower_bound == pytest.approx(best.linked.total)
    # Nobody can be linked at all.
    for method in LinkMethod:
        nobody = with_status(["married"] * 3, ["widowed"] * 2, method=method)
        assert nobody.n_linked == 0
        assert nobody.linked.total == 0
        assert nobody.sentences()


def test_optimal_links_have_no_gap_by_rounding():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 40)).tolist()
    assert one_variable(a, b).linked.gap_to_bound == 0
    assert one_variable([5, 0], [4, 9], method="greedy").linked.gap_to_bound == pytest.approx(0.2)
    assert one_variable(a, b, method="nearest").linked.gap_to_bound is None


@pytest.mark.parametrize("large", ["1e151", "-1e400"])
def test_numbers_too_large_to_calculate_with_are_refused(large):
    with pytest.raises(InputError, match=r"1 value is beyond 150 digits") as caught:
        one_variable([1, large, 3], [1, 2, 3])
    assert large not in str(caught.value)
    found = one_variable([1, "9e149", 3], [1, 2, 3], truth=np.arange(3))
    assert np.isfinite(found.linked.total)


TWO = ({"x": [0, 0, 9, 4], "y": [0, 5, 1, 3]}, {"x": [1, 8, 0], "y": [5, 2, 1]})
PAIR = [LinkVariable(name, kind="number", measure="absolute") for name in "xy"]


def distances():
    return [absolute(TWO[0][name], TWO[1][name]) for name in "xy"]


def linked_two(**options):
    return link_files(file_of(TWO[0]), file_of(TWO[1]), PAIR, everybody=True, **options)


def test_equal_weighted_and_estimated_sums_are_sums():
    x, y = distances()
    estimated = np.array([1 / x.mean(), 1 / y.mean()])
    estimated /= estimated.mean()
    for options, costs in (
        ({"objective": "equal"}, x + y),
        ({"objective": "weighted", "weights": [3, 0.5]}, 3 * x + 0.5 * y),
        ({}, estimated[0] * x + estimated[1] * y),
        ({"objective": ObjectiveName.ESTIMATED}, estimated[0] * x + estimated[1] * y),
    ):
        found = linked_two(**options)
        assert found.linked.total == pytest.approx(least_cost(costs)[1])
        assert found.n_linked == 3
        assert (found.linked.columns < 0).sum() == 1


def test_lexicographic_links_are_least_in_the_first_variable_then_in_the_second():
    x, y = distances()
    every = every_linking(x)
    least = min(
        (total, sum(y[row, column] for row, column in enumerate(columns) if column >= 0))
        for total, columns in every
    )
    columns = linked_two(objective="lexicographic").linked.columns
    linked = np.flatnonzero(columns >= 0)
    got = x[linked, columns[linked]].sum(), y[linked, columns[linked]].sum()
    assert got == pytest.approx(least)


def test_mahalanobis_links_are_least_in_that_distance():
    a, b = (np.column_stack([file["x"], file["y"]]).astype(float) for file in TWO)
    spread = [part - part.mean(axis=0) for part in (a, b)]
    inverse = np.linalg.inv(sum(part.T @ part for part in spread) / (len(a) + len(b) - 2))
    costs = np.array([[(p - q) @ inverse @ (p - q) for q in b] for p in a])
    assert linked_two(objective="mahalanobis").linked.total == pytest.approx(least_cost(costs)[1])


def masked_people(seed, n=60):
    """Return a file, a copy of it in another order with some values changed, and the truth."""
    rng = np.random.default_rng(seed)
    people = {
        "age": rng.integers(0, 90, n),
        "sex": rng.integers(1, 3, n),
        "status": rng.choice(["single", "married", "widowed"], n),
        "region": rng.integers(1, 9, n),
    }
    order = rng.permutation(n)
    masked = {name: values[order] for name, values in people.items()}
    masked["age"] = masked["age"] + rng.integers(-1, 2, n)
    return file_of(people), file_of(masked), order


ALL = [LinkVariable(name) for name in ("age", "sex", "status", "region")]


@pytest.mark.parametrize("objective", [one for one in ObjectiveName if one != "mahalanobis"])
def test_a_masked_file_is_re_identified_by_every_objective(objective):
    original, masked, truth = masked_people(1)
    weights = [0.2, 1, 1, 1] if objective == "weighted" else ()
    found = link_files(masked, original, ALL, objective=objective, weights=weights, truth=truth)
    assert found.rate > 0.6
    assert found.by_chance == 1
    again = link_files(masked, original, ALL, objective=objective, weights=weights, truth=truth)
    assert again.to_arrow() == found.to_arrow()
    assert again.summary() == found.summary()


def test_mahalanobis_needs_numbers_and_says_which_are_not():
    original, masked, _ = masked_people(1)
    with pytest.raises(InputError, match="'sex', 'status', 'region' cannot be"):
        link_files(masked, original, ALL, objective="mahalanobis")


@pytest.mark.parametrize("method", ["optimal", "nearest"])
def test_blocked_links_are_those_among_all_pairs_where_blocks_are_exact(method):
    original, masked, truth = masked_people(2)
    never = [
        LinkVariable(one.name, kind="category", missing="impossible") if one.name == "sex" else one
        for one in ALL
    ]
    blocked = link_files(
        masked, original, ALL, objective="equal", method=method, block=["sex"], truth=truth
    )
    sexes = [masked.codes("sex"), original.codes("sex")]
    _, made = compare_files(masked, original, never)
    costs = sum(one.matrix() for one in made)
    costs[sexes[0][:, None] != sexes[1][None, :]] = np.inf
    if method == "nearest":
        assert blocked.linked.costs == pytest.approx(costs.min(axis=1))
    else:
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(np.where(np.isinf(costs), 1e6, costs))
        assert blocked.linked.total == pytest.approx(costs[rows, columns].sum())
        assert blocked.linked.lower_bound == pytest.approx(blocked.linked.total)
    columns = blocked.linked.columns
    assert (sexes[0] == sexes[1][columns]).all()
    ordered = np.sort(costs, axis=1)
    assert blocked.margins == pytest.approx(ordered[:, 1] - ordered[:, 0])
    # Links drawn at random find the partner among those of the same sex.
    sizes = np.bincount(sexes[1])[sexes[0]]
    assert blocked.by_chance == pytest.approx((1 / sizes).sum())
    assert blocked.linked.n_pairs == np.isfinite(costs).sum()
    assert "among the pairs that blocking left" in "\n".join(blocked.sentences())


def test_records_that_miss_a_value_to_block_on_stay_unlinked_and_are_counted():
    a, b = file_of({"x": [1, 2, None], "s": "fmm"}), file_of({"x": [2, None, 1], "s": "mfm"})
    variables = [LinkVariable("x", kind="category"), LinkVariable("s")]
    found = link_files(a, b, variables, objective="equal", block=["x"], truth=np.array([1, 0, 2]))
    assert found.linked.columns.tolist() == [2, 0, -1]
    assert found.is_correct.tolist() == [False, True, False]
    assert "1 records of the first file and 1 of the second miss a value" in "\n".join(found.notes)


MAPPED = [LinkVariable("Age", variable=AGE), LinkVariable("Status", variable=STATUS)]
BANK = {"Age": ["0-24", "16+", "16+", "0-24"], "Status": ["not married", "ever married"] * 2}
SHOP = {"Age": ["70", "0-15", "25-64", "20"], "Status": ["widowed", "single", "single", "married"]}


def test_categories_without_a_common_sink_are_never_linked_and_blocked():
    bank, shop = file_of(BANK), file_of(SHOP)
    possible = np.array([[0, 1, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0], [0, 0, 0, 1]], bool)
    for method in ("optimal", "nearest"):
        found = link_files(bank, shop, MAPPED, objective="equal", method=method)
        links = found.linked.columns
        assert (links >= 0).all()
        assert possible[np.arange(4), links].all()
        for block in (["Age"], ["Status"], ["Age", "Status"]):
            blocked = link_files(bank, shop, MAPPED, objective="equal", method=method, block=block)
            assert blocked.linked.columns.tolist() == links.tolist()
            assert blocked.linked.total == pytest.approx(found.linked.total)
            assert blocked.linked.n_pairs < 16
        assert blocked.linked.n_pairs == possible.sum()
    # Age 0-24 with 0-15 is 1 - 1/2, not married with single 1 - 1/3.
    first = link_files(bank, shop, MAPPED, objective="equal")
    assert first.linked.costs[0] == pytest.approx(1 / 2 + 2 / 3)


def test_records_without_a_possible_partner_stay_unlinked():
    a, b = file_of({"Age": ["0-15", "65+"]}), file_of({"Age": ["25-64", "90", "30"]})
    for options in ({}, {"block": ["Age"]}, {"method": "nearest"}, {"method": "greedy"}):
        found = link_files(a, b, MAPPED[:1], objective="equal", **options)
        assert found.linked.columns.tolist() == [-1, 1]
        rows = found.to_arrow().to_pylist()
        assert rows[0]["linked_to"] is rows[0]["cost"] is rows[0]["margin"] is None
        assert rows[1]["linked_to"] == 2
        assert "1 of the 2 records of the first file is linked" in found.sentences()[0]
        assert found.top(9)["record"].to_pylist() == [2]


def test_blocking_on_mapped_and_equal_variables_at_once():
    a = file_of({**BANK, "sex": "ffmm"})
    b = file_of({**SHOP, "sex": "mffm"})
    variables = [*MAPPED, LinkVariable("sex")]
    found = link_files(a, b, variables, objective="equal", block=["Age", "sex"])
    for row, column in enumerate(found.linked.columns.tolist()):
        if column >= 0:
            assert "ffmm"[row] == "mffm"[column]
    assert found.linked.n_pairs == 5


def test_the_truth_is_by_identifier():
    a, b = file_of({"id": ["p", "q", None, "r"]}), file_of({"id": ["r", "s", "p", None]})
    assert true_partners(a, b, "id").tolist() == [2, -1, -1, 0]
    other = file_of({"name": ["r", "s", "p"]})
    assert true_partners(a, other, "id", "name").tolist() == [2, -1, -1, 0]


def test_identifiers_that_are_there_twice_or_not_at_all_are_refused():
    a, b = file_of({"id": ["p", "q", "q", "q"]}), file_of({"id": ["p", "p"]})
    with pytest.raises(InputError) as caught:
        true_partners(a, b, "id")
    assert caught.value.reason is Reason.DUPLICATE
    assert "2 records repeat one in the first file" in str(caught.value)
    assert "1 record repeats one in the second file" in str(caught.value)
    with pytest.raises(InputError, match="is not in the second file"):
        true_partners(a, file_of({"number": ["p"]}), "id")
    with pytest.raises(InputError, match="No identifier of the first file"):
        true_partners(file_of({"id": ["p"]}), file_of({"id": ["q", None]}), "id")


@pytest.mark.parametrize("truth", [[0], [0, 5], [0, -2], [1, 1], [0.5, 1.0]])
def test_a_truth_that_cannot_be_is_refused(truth):
    with pytest.raises(InputError, match="2 records different partners among 3"):
        one_variable([1, 2], [1, 2, 3], truth=np.array(truth))


def test_correct_links_are_counted_against_the_truth():
    found = one_variable([1, 5, 9], [9, 1, 5, 2], truth=np.array([1, 0, -1]))
    assert found.linked.columns.tolist() == [1, 2, 0]
    assert found.is_correct.tolist() == [True, False, False]
    assert (found.n_correct, found.rate) == (1, 1 / 3)
    # Two have a partner, and four are there to choose from.
    assert found.by_chance == 2 / 4
    assert found.to_arrow()["correct"].to_pylist() == [True, False, False]
    assert found.sentences()[1].startswith("1 link is correct, a precision of 33.3%. 2 records")
    assert "50.0% of them are re-identified" in found.sentences()[1]
    assert (found.precision, found.recall, found.n_with_partner) == (1 / 3, 1 / 2, 2)
    assert "would be correct about 0.5 times" in found.sentences()[1]
    more = one_variable([1, 5, 9, 2], [9, 1], truth=np.array([1, 0, -1, -1]))
    assert more.by_chance == 2 / 4
    nearest = one_variable([1, 5, 9, 2], [9, 1], truth=np.array([1, 0, -1, -1]), method="nearest")
    assert nearest.by_chance == 2 / 2
    assert "would be correct about once" in nearest.sentences()[1]


@given(st.integers(1, 40), st.data())
def test_intervals_of_shares_are_those_of_wilson(n, data):
    k = data.draw(st.integers(0, n))
    low, high = share_interval(k, n)
    assert 0 <= low <= k / n <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            # At its ends the share is 1.96 standard errors away.
            assert abs(k / n - end) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / n))


def test_a_constant_variable_is_told_and_counts_for_nothing():
    a, b = file_of({"x": [1, 2], "c": [7, 7]}), file_of({"x": [2, 1], "c": [7, 7]})
    for kind in ("category", "number", "ordinal", "text"):
        variables = [LinkVariable("x"), LinkVariable("c", kind=kind)]
        found = link_files(a, b, variables, everybody=True)
        assert found.linked.columns.tolist() == [1, 0]
        assert "'c' tells no records apart" in "\n".join(found.sentences())
    with pytest.raises(InputError, match="No variable has a distance above 0"):
        link_files(a, b, [LinkVariable("c")])
    with pytest.raises(InputError, match="No variable has a distance above 0"):
        link_files(a, b, [LinkVariable("c")], everybody=True)
    assert link_files(a, b, [LinkVariable("c")], objective="equal").n_linked == 2


def test_a_column_without_values_does_no_harm():
    a, b = file_of({"x": [1, 2], "n": [None, None]}), file_of({"x": [2, 1], "n": [None, "y"]})
    found = link_files(a, b, [LinkVariable("x"), LinkVariable("n")], everybody=True)
    assert found.linked.columns.tolist() == [1, 0]


def test_uniqueness_is_told_in_words():
    assert "No other links cost as little together." in one_variable([1, 5], [1, 5]).sentences()
    said = "\n".join(one_variable([1, 1, 9], [1, 1, 9]).sentences())
    assert (
        "1 link is the same in all links that cost as little together; 2 could be another" in said
    )


def test_the_surest_links_come_first():
    found = one_variable([1, 50, 3], [3, 1, 50])
    assert found.top(1)["record"].to_pylist() == [2]
    assert found.top(0).num_rows == 0
    assert found.top(9).num_rows == 3


def test_links_without_another_candidate_say_little_and_come_last():
    a = file_of({"x": [1, 2, 3, 4], "s": "mfff"})
    b = file_of({"x": [9, 2, 3, 7], "s": "mfff"})
    variables = [*NUMBERS, LinkVariable("s")]
    found = link_files(a, b, variables, objective="equal", block=["s"])
    assert found.linked.columns.tolist() == [0, 1, 2, 3]
    assert found.margins.tolist() == [np.inf, 1, 1, 1]
    # Record 4 is nearer to the third than to the seven that it is linked with.
    assert found.top(4)["record"].to_pylist() == [2, 3, 4, 1]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"objective": "best"}, "objective: 'best' is not known"),
        ({"method": "quick"}, "method: 'quick' is not known"),
        ({"objective": "weighted"}, "0 weights for 1 variable"),
        ({"objective": "weighted", "weights": [1, 2]}, "2 weights for 1 variable"),
        ({"objective": "weighted", "weights": [-1]}, "negative"),
        ({"weights": [1]}, "Only the objective 'weighted'"),
        ({"block": ["y"]}, "not among the variables"),
        ({"block": ["x"], "method": "greedy"}, "optimal and nearest links only"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, found):
    a, b = file_of({"x": [1, 2]}), file_of({"x": [2, 1]})
    with pytest.raises(InputError, match=found):
        link_files(a, b, NUMBERS, **{"everybody": True, **options})


def test_too_many_pairs_are_refused_with_the_option_that_lifts_the_limit():
    for options in ({}, {"block": ["x"]}):
        with pytest.raises(LimitError, match="max_pairs") as caught:
            one_variable([1, 2, 1], [2, 1], max_pairs=2, **options)
        assert caught.value.exit_code == 3
    assert one_variable([1, 2], [2, 1], max_pairs=4).n_linked == 2


@pytest.mark.parametrize("method", LinkMethod)
def test_an_empty_file_has_no_links(method):
    empty = coded_from_codes(np.zeros((0, 1), int), ["x"])
    full = file_of({"x": [1, 2]})
    for a, b in ((empty, full), (full, empty), (empty, empty)):
        found = link_files(a, b, NUMBERS, objective="equal", method=method)
        assert found.n_linked == 0
        assert found.to_arrow().num_rows == a.n_records
        assert found.sentences()


def test_the_order_of_the_second_file_does_not_help():
    # Nothing tells the records apart: the file in the same order must not be found again.
    codes = [[1]] * 40
    a, b = coded_from_codes(codes, ["sex"]), coded_from_codes(codes, ["sex"])
    for method in ("optimal", "greedy", "greedy-rows", "nearest"):
        found = link_files(
            a, b, [LinkVariable("sex")], objective="equal", method=method, truth=np.arange(40)
        )
        assert found.n_correct < 10
        assert found.linked.total == 0


def test_a_link_that_costs_too_much_is_not_made():
    a = coded_from_codes([[1, 1], [2, 2], [3, 3]], ["age", "sex"])
    b = coded_from_codes([[1, 1], [2, 3], [9, 9]], ["age", "sex"])
    variables = [LinkVariable("age"), LinkVariable("sex")]
    for method in ("optimal", "greedy", "greedy-rows", "nearest"):
        every = link_files(a, b, variables, objective="equal", method=method)
        some = link_files(a, b, variables, objective="equal", method=method, unlinked=1.5)
        assert every.n_linked == 3
        assert some.linked.columns.tolist()[0] == 0
        assert np.nanmax(some.linked.costs) <= 1.5
        assert some.n_linked == 2 or method == "nearest"
    for objective, unlinked in (("equal", 0.0), ("fellegi-sunter", 1.0)):
        with pytest.raises(InputError, match="Give"):
            link_files(a, b, variables, objective=objective, unlinked=unlinked)


def test_what_is_blocked_on_has_no_weight_by_em():
    original, masked, _ = masked_people(2)
    found = link_files(masked, original, ALL, objective="fellegi-sunter", block=["sex"])
    assert "Variables that are blocked on agree in every pair, and have no weight." in found.notes
    with pytest.raises(InputError, match="agree in every pair"):
        link_files(
            masked, original, [LinkVariable("sex")], objective="fellegi-sunter", block=["sex"]
        )


N = 40
VARIABLES = [LinkVariable("x", kind="number"), LinkVariable("y", kind="number")]
TRUTH = np.arange(N)


def versions():
    """Return a file and versions of it with more and more noise."""
    rng = np.random.default_rng(5)
    values = {name: rng.normal(0, 10, N) for name in "xy"}

    def noisy(deviation):
        return file_of({name: part + rng.normal(0, deviation, N) for name, part in values.items()})

    return file_of(values), {"mild": noisy(0.01), "fair": noisy(3), "strong": noisy(1_000)}


def compared(**options):
    original, masked = versions()
    truths = dict.fromkeys(masked, TRUTH)
    return compare_maskings(original, masked, VARIABLES, truths=truths, **options)


def test_more_noise_is_less_risk():
    found = compared()
    rates = found.summary()
    assert list(rates) == ["mild", "fair", "strong"]
    assert rates["mild"] == 1 > rates["fair"] > rates["strong"]
    said = found.sentences()
    assert said[0].startswith("mild: 40 of 40 records re-identified, 100.0% (91.2% to 100.0%), by")
    assert [sentence.split(":")[0] for sentence in said] == ["mild", "fair", "strong"]


def test_every_row_is_what_link_files_finds():
    original, masked = versions()
    found = compared(objectives=["equal", "mahalanobis"], methods=["optimal", "greedy", "nearest"])
    rows = found.to_arrow().to_pylist()
    assert len(rows) == 3 * 2 * 3
    assert found.methods[:3] == ("optimal, equal", "greedy, equal", "nearest, equal")
    for row in rows:
        method, objective = row["linked_by"].split(", ")
        alone = link_files(
            masked[row["version"]], original, VARIABLES,
            objective=objective, method=method, truth=TRUTH,
        )  # fmt: skip
        assert row["records"] == row["links"] == N
        assert row["correct"] == alone.n_correct
        assert row["rate"] == alone.n_correct / N
        assert (row["lower"], row["upper"]) == share_interval(alone.n_correct, N)
        assert row["by_chance"] == pytest.approx(1 / N)
        assert row["median_margin"] == pytest.approx(np.median(alone.margins))
        if method == "nearest":
            assert row["gap_to_bound"] is None
        else:
            assert -1e-9 <= row["gap_to_bound"] <= 1
            assert method == "greedy" or row["gap_to_bound"] < 1e-9
    for version, name in enumerate(found.names):
        most = max(row["correct"] for row in rows if row["version"] == name)
        assert found.best(version).n_correct == most


def test_a_version_may_leave_records_out():
    original, masked = versions()
    part = file_of({"x": ["1.5"], "y": ["2"]})
    found = compare_maskings(
        original,
        {"part": part, **masked},
        VARIABLES,
        truths={"part": [3], **dict.fromkeys(masked, TRUTH)},
    )
    assert found.to_arrow().to_pylist()[0]["by_chance"] == 1 / N
    assert found.to_arrow().to_pylist()[0]["records"] == 1


def test_weights_are_for_the_weighted_objective():
    found = compared(objectives=["weighted", "equal"], weights=[1, 0], methods=["optimal"])
    one_variable = compared(objectives=["equal"], methods=["optimal"])
    assert found.links[0][1].linked.total == one_variable.links[0][0].linked.total
    assert found.links[0][0].linked.total < found.links[0][1].linked.total
    with pytest.raises(InputError, match="Only the objective 'weighted'"):
        compared(weights=[1, 0])


def test_what_a_reader_should_know_is_said_once():
    original, masked = file_of({"x": [1, 2, 3], "c": "aaa"}), file_of({"x": [1, 3, 2], "c": "aaa"})
    versions = {"one": masked, "two": masked}
    found = compare_maskings(
        original,
        versions,
        [LinkVariable("x"), LinkVariable("c")],
        truths=dict.fromkeys(versions, np.arange(3)),
    )
    assert found.sentences()[2:] == ["'c' tells no records apart and has weight 0."]


def test_decimal_marks_may_differ():
    original = file_of({"x": ["1.5", "2.5", "7.25"]})
    masked = file_of({"x": ["7,25", "1,5", "2,5"]})
    found = compare_maskings(
        original,
        {"commas": masked},
        [LinkVariable("x", kind="number")],
        truths={"commas": np.array([2, 0, 1])},
        decimals={"commas": ","},
    )
    assert found.summary() == {"commas": 1}


def test_what_is_missing_is_told():
    original, masked = versions()
    with pytest.raises(InputError, match="None was given"):
        compare_maskings(original, {}, VARIABLES, truths={})
    with pytest.raises(InputError, match="Not all of them have a truth"):
        compare_maskings(original, masked, VARIABLES, truths={"mild": TRUTH})
    with pytest.raises(InputError, match="No way of linking"):
        compared(methods=[])
    with pytest.raises(InputError, match="objectives: 'best' is not known"):
        compared(objectives=["best"])


def test_the_same_is_found_again_and_progress_is_told():
    told = []
    one = compared(seed=2, progress=lambda done, whole: told.append((done, whole)))
    other = compared(seed=2)
    assert one.to_arrow() == other.to_arrow()
    assert told == [(1, 3), (2, 3), (3, 3)]
