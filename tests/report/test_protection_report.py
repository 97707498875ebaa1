"""Pages on a protected file: what the data holder reads, and what everybody may."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.data.coding.coded_table import replace_cells
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.protection.attacking.attacks import AttackName, attack_file
from gamekeeper.protection.attacking.result import judge_targets
from gamekeeper.protection.numbers import Microaggregate
from gamekeeper.protection.pram import Pram
from gamekeeper.protection.step import ChangeLog, Protected, Setting, VariableChange
from gamekeeper.protection.targets import parse_targets
from gamekeeper.protection.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.report.page import build_risk_report
from gamekeeper.report.protection_report import (
    AboutProtection,
    AttackChange,
    attack_changes,
    protection_report,
    public_protection_report,
)
from gamekeeper.report.protection_utility import compared_in_public, public_utility
from gamekeeper.results import Provenance
from tests.given.cases import cases

CANARY = "CANARY"
SEED = 918273
STEPS = (Pram(variables=("job",), keep=0.77), Microaggregate(variables=("income",), k=4))
ATTACKS = (
    AttackChange("people with one candidate", 41, 0, "both>=3", is_met=True),
    AttackChange("links found", 0.557, 0.021, "linkage<=2%", is_met=False, is_share=True),
    AttackChange("expected matches", 20.25, None),
)


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    n = 120
    table = code_frame(
        pa.table(
            {
                "job": [f"{CANARY} {j}" for j in rng.integers(0, 4, n)],
                "age": rng.integers(20, 70, n).tolist(),
                "income": rng.normal(2000, 300, n).round().tolist(),
            }
        ),
        ["job", "age"],
        numbers=["income"],
    )
    setting = Setting(keys=("job", "age"), seed=SEED)
    done = STEPS[0].apply(table, setting, 1)
    done = done.then(STEPS[1].apply(done.table, setting, 2))
    stars = rng.random(n) < 0.1
    codes = np.where(stars, 0, done.table.codes("age").astype(int))
    later = Protected(
        done.table,
        replace_cells(done.table, {"age": codes}),
        ChangeLog(n, {"age": VariableChange.of_cells(suppressed=stars)}),
        ("Some cells were suppressed.",),
        Provenance("protection: suppress", parameters={"k": "3"}, seed=SEED, fingerprint="f" * 16),
    )
    done = done.then(later)
    options = UtilityOptions(analyses=("share of job", "income ~ age"))
    return done, measure_utility(table, done.table, options, log=done.log)


def public(about, done, utility):
    keys = Setting(keys=("job", "age"))
    compared = compared_in_public(done, keys, utility)
    return build_risk_report(public_protection_report(about, done, utility, compared, keys.keys))


def text_of(page: str) -> str:
    bare = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", bare, flags=re.DOTALL))


@pytest.mark.slow
def test_the_data_holder_reads_attacks_before_and_after(made):
    about = AboutProtection(
        "people.csv", STEPS, "the code -9", "release.csv", scenario="A data broker",
        certificate=["Every cut was checked again."], notices=["Mind the gap."],
    )  # fmt: skip
    page = build_risk_report(protection_report(about, *made, ATTACKS))
    said = text_of(page)
    for words in (
        "1 target is not met: 'linkage&lt;=2%'. Do not release the file.",
        "1 of 2",
        "people with one candidate",
        "55.7%",
        "2.1%",
        "not known",
        "Every cut was checked again.",
        "Mind the gap.",
        "microaggregation",
        "the code -9",
        "keep: 0.77",
    ):
        assert words in said or words.replace("'", "&#39;") in said, words
    assert str(SEED) in page
    assert "default-src 'none'" in page
    assert page.count("<svg") == 3
    assert page == build_risk_report(protection_report(about, *made, ATTACKS))


def test_everybody_reads_methods_and_loss_and_no_risk(made):
    about = AboutProtection(
        "people.csv", STEPS, "the code -9", "release.csv", scenario="A data broker",
        certificate=["Every cut was checked again."],
    )  # fmt: skip
    page = public(about, *made)
    said = text_of(page)
    for words in ("pram", "microaggregation", "the code -9", "share of job", "Hellinger"):
        assert words in said, words
    protected = made[0]
    for secret in (
        CANARY, str(SEED), "0.77", protected.before.fingerprint, protected.table.fingerprint, "f" * 16,
        "A data broker", "both>=3", "candidate", "target", "checked again", "people.csv",
    ):  # fmt: skip
        assert secret not in page, secret
    assert "no values of risk" in said


def test_public_figures_are_rounded_and_no_mean_of_before_is_told(made):
    """One cell can be worked out from exact figures: from the bits that are lost, from two means."""
    done, exact = made
    page = public(AboutProtection("f", STEPS), done, exact)
    income = next(line for line in exact.numbers if line.variable == "income")
    for table in (*exact.tables, *exact.variables):
        if table.distance:
            assert repr(table.distance) not in page
    for number in (income.mean_before, income.deviation_before, income.moved):
        assert number is None or repr(number) not in page
    assert "mean before" not in page
    shown = public_utility(exact)
    assert all(line.bits_lost == round(line.bits_lost, 1) for line in shown.variables)
    assert shown.tables[0].distance == round(exact.tables[0].distance, 2)


@pytest.mark.slow
def test_without_records_no_category_is_named(made):
    about = AboutProtection("people.csv", STEPS)
    whole, bare = (
        build_risk_report(protection_report(about, *made, ATTACKS, with_records=shown))
        for shown in (True, False)
    )
    assert CANARY in whole
    assert CANARY not in bare
    assert "share of job" in bare


@pytest.mark.parametrize(
    ("attacks", "words"),
    [
        ((), "No target was set"),
        (ATTACKS[:1], "The target is met"),
        ((ATTACKS[0], ATTACKS[0]), "Both targets are met"),
        ((AttackChange("x", 1, 1, "x<=2"),), "1 target is not proven"),
    ],
)
def test_the_first_sentence_is_the_verdict(made, attacks, words):
    assert words in protection_report(AboutProtection("f"), *made, attacks).lead[0]


def test_a_file_that_was_not_changed(made):
    before = made[0].before
    same = Protected(before, before, ChangeLog(before.n_records), (), Provenance("nothing"))
    utility = measure_utility(before, before, log=same.log)
    page = text_of(public(AboutProtection("f"), same, utility))
    assert "No cell was suppressed." in page
    assert "No variable was changed." in page


def test_lines_of_the_attacks_that_were_done(made):
    done = made[0]
    setting = Setting(keys=("job", "age"), seed=SEED)
    nothing = ChangeLog(done.before.n_records)
    some = [AttackName.LINKAGE]
    before = attack_file(done.before, done.before, nothing, setting, some)
    after = attack_file(done.before, done.table, done.log, setting, some)
    targets = parse_targets(["both>=2", "linkage<=99%", "k_anonymity>=2", "both>=9"])
    lines = attack_changes(before, after, judge_targets(targets, after))
    by_target = {line.target: line for line in lines if line.target}
    assert by_target["both>=2"].more_is_safer
    assert by_target["both>=2"].after == after.smallest("both")
    assert by_target["both>=2"].is_met is (after.smallest("both") >= 2)
    assert by_target["linkage<=99%"].is_share
    assert by_target["both>=9"].is_met is False
    assert by_target["k anonymity>=2"].verdict == "not proven"
    about = AboutProtection("people.csv", STEPS)
    page = text_of(build_risk_report(protection_report(about, *made, lines)))
    assert "people who fit exactly one record" in page
    assert "not proven" in page


N = 40


def released_of(missing, free):
    """Return a file of which cells without a value are given; those that were missing are told by a row."""
    rng = np.random.default_rng(8)
    columns = {name: rng.integers(1, 4, N) for name in ("job", "age", "sex")}
    empty = {name: rng.random(N) < share for name, share in (("job", 0.4), ("age", 0.2))}
    was = {name: empty[name] & missing[name] for name in empty}
    held = {
        name: np.where(was[name], 0, np.where(empty.get(name, False), free, codes))
        if name in was
        else codes
        for name, codes in columns.items()
    }
    words = pa.table({n: [None if c == 0 else f"v{c}" for c in codes] for n, codes in held.items()})
    before = code_frame(words, [*columns])
    stars = {name: empty[name] & ~was[name] for name in empty}
    table = replace_cells(
        before,
        {n: np.where(own, 0, before.codes(n).astype(int)) for n, own in stars.items()},
    )
    log = {n: VariableChange.of_cells(suppressed=own) for n, own in stars.items() if own.any()}
    return Protected(before, table, ChangeLog(N, log), (), Provenance("suppress")), stars, was


def all_of(report):
    """Return all that a page tells: its words, its tables, and how long its bars are."""
    sections = [
        (
            part.title, part.sentences, part.tables, part.notices,
            [(caption, [bar.get_width() for ax in figure.axes for bar in ax.patches])
             for figure, caption in part.figures],
        )
        for part in report.sections
    ]  # fmt: skip
    return report.title, report.lead, report.facts, report.tiles, sections, report.notices


@pytest.mark.slow
@cases(20)
@given(st.data())
def test_a_public_page_is_the_same_whichever_cells_were_missing(data):
    """Two originals with one release have one public page: nothing on it tells them apart."""
    pages = []
    for _ in range(2):
        bits = st.lists(st.booleans(), min_size=N, max_size=N)
        missing = {name: np.array(data.draw(bits)) for name in ("job", "age")}
        done, stars, _ = released_of(missing, data.draw(st.integers(1, 3)))
        assume(any(own.any() for own in stars.values()))
        utility = measure_utility(done.before, done.table, log=done.log)
        keys = Setting(keys=("job", "age", "sex"))
        compared = compared_in_public(done, keys, utility)
        about = AboutProtection("people.csv", release="out.csv")
        pages.append(all_of(public_protection_report(about, done, utility, compared, keys.keys)))
    assert pages[0] == pages[1]


def test_what_a_public_page_does_not_compare_is_said_beside_what_it_does():
    missing = {name: np.arange(N) % 2 == 0 for name in ("job", "age")}
    done, _, _ = released_of(missing, 1)
    utility = measure_utility(done.before, done.table, log=done.log)
    keys = Setting(keys=("job", "age", "sex"))
    compared = compared_in_public(done, keys, utility)
    about = AboutProtection("people.csv", release="out.csv")
    report = public_protection_report(about, done, utility, compared, keys.keys)
    (good_for,) = [part for part in report.sections if part.name == "utility"]
    # Nothing was done to the one variable that is compared, and much to the others.
    assert any("hardly be told apart" in said for said in good_for.sentences)
    assert "alone, and says nothing of the others" in good_for.sentences[0]
