"""Files without common variables, linked by their structure."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.structure import individual_matching
from gamekeeper.algorithms.structure.clusterings import Technique
from gamekeeper.algorithms.structure.group_matching import group_success
from gamekeeper.algorithms.structure.individual_matching import match_structure
from gamekeeper.attack.linkage import structure
from gamekeeper.attack.linkage.structure import link_structure
from gamekeeper.errors import InputError

TECHNIQUES = (Technique("average", "manhattan"), Technique("centroid", "taxonomic"))


def two_files(seed=0, n=30, noise=0.0):
    """Return groups of points, and the same in another order, other units and turned about."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [10.0, 2.0], [3.0, 14.0]])
    values = np.repeat(centres, [n // 2, n // 3, n - n // 2 - n // 3], axis=0)
    values = values + rng.normal(size=values.shape)
    order = rng.permutation(n)
    copy = (values + noise * rng.normal(size=values.shape))[order] * [250.0, 0.01] + [7, -3]
    return values, copy, np.argsort(order)


def test_a_shuffled_copy_in_other_units_is_re_identified():
    values, copy, truth = two_files()
    found = link_structure(values, copy, n_clusters=3, truth=truth)
    assert found.n_correct == 30
    assert found.links.tolist() == truth.tolist()
    assert found.success.n_correct == 30
    assert found.agreements.tolist() == [1] * 6
    summary = found.summary()
    assert summary["similarity"] == summary["upper_bound"]
    assert summary["right_record"] == summary["in_the_right_group"] == 30
    said = "\n".join(found.sentences())
    assert "6 clusterings divide the 30 and 30 records into 4 and 4 groups" in said
    assert (
        "30 records are linked to their partner, by all distances within the files: 100.0%" in said
    )
    assert "no matching does better." in said
    assert "would be correct about once" in said


def test_noise_leaves_more_than_chance():
    values, copy, truth = two_files(1, noise=0.1)
    found = link_structure(values, copy, techniques=TECHNIQUES, n_clusters=3, truth=truth)
    assert found.success.n_correct > 2 * found.success.by_chance
    assert found.n_correct >= 10


def test_every_row_is_about_a_record():
    values, copy, truth = two_files(2)
    found = link_structure(values, copy, techniques=TECHNIQUES, n_clusters=3, truth=truth)
    rows = found.to_arrow().to_pylist()
    for record, row in enumerate(rows):
        assert row["record"] == record + 1
        assert row["group"] == found.groups_a.classes[record] + 1
        group = found.matching.groups[found.groups_a.classes[record]]
        assert row["matched_group"] == group + 1
        assert row["right_group"] == (found.groups_b.classes[truth[record]] == group)
        assert row["correct"] == (row["linked_to"] == truth[record] + 1)
        assert 0 <= row["clusterings_that_agree"] <= 2


def test_what_each_clustering_carries_is_what_is_lost_without_it():
    values, copy, truth = two_files(3, noise=0.3)
    options = {"n_clusters": 4, "truth": truth, "individuals": "none", "seed": 1}
    three = (*TECHNIQUES, Technique("average", "taxonomic"))
    found = link_structure(values, copy, techniques=three, leave_out=True, **options)
    for left_out in range(3):
        others = [technique for k, technique in enumerate(three) if k != left_out]
        without = link_structure(values, copy, techniques=others, **options)
        assert found.drops[left_out] == pytest.approx(found.success.share - without.success.share)
    rows = found.clusterings_table().to_pylist()
    assert [row["drop_without_it"] for row in rows] == found.drops.tolist()
    assert [row["clustering"] for row in rows] == [str(technique) for technique in three]
    assert found.links is None
    assert found.n_correct is None
    assert "linked_to" not in found.to_arrow().column_names
    assert "ithout" in found.sentences()[-1]


class AtRandom:
    """A clusterer that knows nothing."""

    def fit_predict(self, values):
        return np.random.default_rng(len(values)).integers(0, 4, len(values))


def test_a_clustering_without_information_is_seen_by_leaving_it_out():
    values, copy, truth = two_files(4, n=90, noise=0.02)
    techniques = (*TECHNIQUES, AtRandom())
    found = link_structure(
        values, copy, techniques=techniques, n_clusters=3, truth=truth, leave_out=True,
        individuals="none",
    )  # fmt: skip
    assert found.drops[2] < 0
    assert found.drops.argmin() == 2


def test_a_single_clustering_cannot_be_left_out():
    values, copy, truth = two_files(5)
    one = link_structure(
        values, copy, techniques=TECHNIQUES[:1], n_clusters=3, truth=truth, leave_out=True
    )
    assert one.drops is None


def test_records_are_linked_within_matched_groups_where_that_is_asked_for():
    values, copy, truth = two_files(8)
    options = {"techniques": TECHNIQUES, "n_clusters": 3, "truth": truth}
    within = link_structure(values, copy, individuals="groups", **options)
    pointed = within.matching.groups[within.groups_a.classes]
    linked = within.links >= 0
    assert (within.groups_b.classes[within.links[linked]] == pointed[linked]).all()
    assert len(set(within.links[linked].tolist())) == linked.sum()
    assert within.n_correct > 5
    whole = link_structure(values, copy, individuals="whole", **options)
    assert whole.n_correct >= within.n_correct
    assert whole.to_arrow() == link_structure(values, copy, **options).to_arrow()
    assert within.linked_by in "\n".join(within.sentences())


def test_without_truth_nothing_is_said_of_it():
    values, copy, _ = two_files()
    found = link_structure(values, copy, techniques=TECHNIQUES, n_clusters=3, leave_out=True)
    assert found.success is found.drops is found.n_correct is None
    assert "right_record" not in found.summary()
    assert "correct" not in found.to_arrow().column_names
    assert len(found.sentences()) == 4
    assert "can do so by chance" in found.sentences()[1]
    assert found.sentences()[0].startswith("Whether this can be believed is not known")


def test_a_file_with_itself_does_not_look_safe():
    """Columns have nothing to do with each other: halves show nothing, and all links are right."""
    values = np.random.default_rng(3).random((30, 5))
    judged = link_structure(values, values, truth=np.arange(30), halves=2)
    assert judged.n_correct == 30
    assert judged.sentences()[0].startswith("30 records are linked to their partner")
    assert judged.steady.share < 0.15
    assert judged.is_whole_match
    assert judged.believable == "in part"
    unknown = link_structure(values, values, halves=2).sentences()
    assert unknown[0].startswith("The links can be believed in part, by their groups alone: from")
    assert unknown[1].startswith("All groups correspond in every clustering and are as large")


@pytest.mark.slow
def test_what_halves_do_not_show_proves_no_safety():
    rng = np.random.default_rng(3)
    files = rng.random((20, 5)), rng.random((20, 5))
    found = link_structure(*files, halves=2)
    assert found.believable == found.summary()["believable"] == "not shown"
    assert found.sentences()[0].startswith("Nothing shows that the links can be believed: from")
    assert found.sentences()[1].startswith("That proves no safety")
    judged = link_structure(*files, halves=2, truth=np.arange(20)).sentences()
    assert "linked to" in judged[0]
    assert any(
        one.startswith("To somebody who does not know the truth, nothing shows") for one in judged
    )


@pytest.mark.parametrize("n_clusterings", [1, 2])
def test_groups_of_few_clusterings_correspond_by_chance(n_clusterings):
    """One clustering always corresponds: that is no reason to believe anything."""
    rng = np.random.default_rng(5)
    found = link_structure(
        rng.random((30, 4)),
        rng.random((30, 4)),
        techniques=TECHNIQUES[:n_clusterings],
        n_clusters=10,
        halves=2,
    )
    assert found.is_whole_match or n_clusterings > 1
    assert found.believable == "not shown"
    assert not any("may well be right" in one for one in found.sentences())


def test_success_is_counted_by_hand():
    values, copy, truth = two_files(4, noise=0.5)
    some = np.where(np.arange(30) < 10, truth, -1)
    found = link_structure(values, copy, techniques=TECHNIQUES, n_clusters=3, truth=some)
    pointed = found.matching.groups[found.groups_a.classes]
    right = [pointed[k] == found.groups_b.classes[some[k]] for k in range(10)]
    assert found.success.n_known == 10
    assert found.success.n_correct == sum(right)
    assert found.success.by_chance == pytest.approx(
        sum(found.groups_b.sizes[pointed[k]] / 30 for k in range(10))
    )
    assert group_success(pointed, found.groups_b, some).n_correct == sum(right)


def test_files_of_different_sizes_and_variables_can_be_matched():
    values, copy, truth = two_files(5)
    wide = np.column_stack([copy, copy[:, 0] * 3, np.full(30, 8.0)])
    keep = truth[:22]
    found = link_structure(values[:22], wide, n_clusters=2, truth=keep)
    assert found.n_records == (22, 30)
    assert len(set(found.links.tolist())) == 22
    more = link_structure(wide, values[:22], n_clusters=2)
    assert (more.links < 0).sum() == 8
    assert more.to_arrow()["linked_to"].null_count == 8


@pytest.mark.parametrize("one_to_one", [False, True])
def test_the_same_seed_finds_the_same(one_to_one):
    values, copy, truth = two_files(6, noise=0.4)
    one, other = (
        link_structure(
            values,
            copy,
            techniques=TECHNIQUES,
            n_clusters=4,
            truth=truth,
            leave_out=True,
            one_to_one=one_to_one,
            seed=9,
        )
        for _ in range(2)
    )
    assert one.to_arrow() == other.to_arrow()
    assert one.summary() == other.summary()
    assert one.clusterings_table() == other.clusterings_table()
    if one_to_one:
        groups = one.matching.groups[one.matching.groups >= 0]
        assert len(set(groups.tolist())) == len(groups)


def test_any_clusterer_may_be_used():
    class BySum:
        n_clusters = 0

        def fit_predict(self, X):  # noqa: N803 - the name that scikit-learn has
            order = np.argsort(X.sum(axis=1), kind="stable")
            labels = np.empty(len(X), int)
            labels[order] = np.arange(len(X)) * self.n_clusters // len(X)
            return labels

    values, _, _ = two_files(7)
    found = link_structure(
        values, values[::-1] * 5, techniques=[BySum(), *TECHNIQUES], n_clusters=[5, 3, 3]
    )
    assert found.clusterings[0] == "BySum"
    assert found.n_clusters == (5, 3, 3)


def test_constant_variables_count_for_nothing():
    values, copy, _ = two_files()
    constant = np.column_stack([copy, np.full(30, 3.0)])
    one = link_structure(values, copy, techniques=TECHNIQUES[:1], n_clusters=3)
    other = link_structure(values, constant, techniques=TECHNIQUES[:1], n_clusters=3)
    assert one.groups_b.classes.tolist() == other.groups_b.classes.tolist()
    nothing = link_structure(np.zeros((5, 2)), np.zeros((5, 1)), n_clusters=2)
    assert nothing.n_records == (5, 5)
    assert nothing.sentences()


def test_large_files_are_given_fewer_steps(monkeypatch):
    seen = []

    def noted(*distances, most_steps, progress):
        seen.append(most_steps)
        return match_structure(*distances, most_steps=most_steps, progress=progress)

    monkeypatch.setattr(individual_matching, "match_structure", noted)
    values, copy, _ = two_files()
    for work in (0, 5 * 30**3, 10**9):
        monkeypatch.setattr(structure, "_WORK", work)
        found = link_structure(values, copy, techniques=TECHNIQUES, n_clusters=3)
        assert sorted(found.links.tolist()) == list(range(30))
    assert seen == [1, 5, 60]


def test_variables_that_do_not_vary_are_told():
    values, copy, _ = two_files()
    constant = np.column_stack([copy, np.full(30, 3.0)])
    said = link_structure(values, constant, techniques=TECHNIQUES, n_clusters=3).sentences()
    assert "1 column of the second file is constant and tells no records apart." in said
    found = link_structure(np.zeros((9, 2)), copy, techniques=TECHNIQUES, n_clusters=3)
    assert "All records of the first file are alike: its clusters say nothing." in found.sentences()
    assert link_structure(values, copy, techniques=TECHNIQUES, n_clusters=3).notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("individuals", ["whole", "clusters", "groups"])
def test_the_order_of_the_second_file_does_not_help(individuals):
    """Where all records are alike, any links are as good as any others."""
    right = in_group = 0
    for seed in range(20):
        found = link_structure(
            np.zeros((12, 2)),
            np.zeros((12, 2)),
            techniques=TECHNIQUES,
            n_clusters=6,
            individuals=individuals,
            truth=np.arange(12),
            seed=seed,
        )
        right += found.n_correct
        in_group += found.success.n_correct - found.success.by_chance
    # Of 240 records 20 are expected, with a standard deviation below 5.
    assert right < 45
    assert abs(in_group) < 60


def test_groups_are_those_of_the_records_in_the_order_of_their_file():
    values, copy, truth = two_files(3)
    found = link_structure(values, copy, techniques=TECHNIQUES, n_clusters=3, truth=truth)
    _, first = np.unique(found.groups_b.classes, return_index=True)
    assert first.tolist() == sorted(first.tolist())
    assert np.bincount(found.groups_b.classes).tolist() == found.groups_b.sizes.tolist()
    pointed = found.matching.groups[found.groups_a.classes]
    again = group_success(pointed, found.groups_b, truth)
    assert again.is_correct.tolist() == found.success.is_correct.tolist()
    for group, matched in enumerate(found.matching.groups.tolist()):
        agree = [
            mapping.get(int(label)) == found.groups_b.rows[matched, t]
            for t, (mapping, label) in enumerate(
                zip(found.matching.mappings, found.groups_a.rows[group], strict=True)
            )
        ]
        assert agree == found.matching.agreements[group].tolist()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"n_clusters": 31}, "31 clusters of 30 records"),
        ({"n_clusters": 0}, "0 clusters of 30 records"),
        ({"n_clusters": [2, 3]}, "2 numbers for 6 techniques"),
        ({"truth": np.zeros(30, int)}, "The truth does not link 30 records"),
        ({"truth": np.full(30, -1)}, "The truth does not link 30 records"),
        ({"a": np.where(np.eye(30, 2) > 0, np.nan, 1.0)}, "1 value missing or infinite"),
        ({"a": np.full((30, 1), np.inf)}, "30 values missing or infinite"),
        ({"a": np.zeros((0, 2))}, "has no records"),
        ({"a": np.zeros((30, 0))}, "has no variables"),
        ({"a": [["x"], ["y"]]}, "is not a table of numbers"),
        ({"techniques": []}, "none was given"),
        ({"individuals": "all"}, "'auto', 'clusters', 'groups', 'none', 'whole'"),
    ],
)
def test_what_cannot_be_matched_is_refused(change, found):
    values, copy, _ = two_files()
    options = {"a": values, **change}
    with pytest.raises(InputError) as caught:
        link_structure(options.pop("a"), copy, **options)
    assert found in str(caught.value)
    assert caught.value.exit_code == 2
