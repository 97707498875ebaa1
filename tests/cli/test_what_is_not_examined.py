"""Every command has said what it does not look at; options, helps and notices agree with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from gamekeeper.attack.unexamined import (
    ATTACK_NOTHING,
    CHANCES,
    CHANGES,
    CONTRIBUTORS,
    DIVERGENCE,
    FAMILIES,
    FIGURES,
    HIDDEN,
    HOUSEHOLDS,
    IMPOSSIBLE,
    JOINT,
    METHOD,
    MISSING,
    ORDER,
    OTHER_COLUMNS,
    OTHER_RELEASES,
    REPEATS,
    RESPONSE,
    ROUNDING,
    SENSITIVE_MARKS,
    SENSITIVE_VALUES,
    SUBTOTALS,
    WHOLE_HOUSEHOLDS,
    ZEROS,
    Subject,
    left_out_words,
    not_examined,
)
from gamekeeper.cli.app import PARTS, load
from gamekeeper.mapping.edits import DeclareImpossible, MarkSensitive, apply_edits
from gamekeeper.wording import at_start
from gamekeeper.workbench.scenario_file import scenario_notices
from tests.given.microdata import KEYS, PEOPLE, world, write
from tests.given.reachable import reached

LOOKS = {
    (command, subject): family.looks[command].get(subject)
    for family in FAMILIES
    for command in family.looks
    for subject in family.subjects
}
ATTACKS = sorted({command for command, _ in LOOKS})

# How the help of an option reads that looks at a subject.
SIGNS = {
    ORDER: r"\border of the original|shuffle|stood beside",
    HOUSEHOLDS: r"household|lives together",
    REPEATS: r"people have several",
    SENSITIVE_VALUES: r"sensitive",
    SENSITIVE_MARKS: r"marks as sensitive|marked as sensitive",
    IMPOSSIBLE: r"impossible combination|knows? to be empty|nobody can be in",
    MISSING: r"What a missing cell is|cell without a row|for a missing value",
    DIVERGENCE: r"before they were perturbed|attack with",
    METHOD: r"tells of the count",
    OTHER_RELEASES: r"earlier (version|release)|revis",
    RESPONSE: r"who is in the file|has a partner in the other",
    CHANCES: r"Column of sampling weights|^Sampling fraction|Columns? of strata",
    HIDDEN: r"recomputed",
    SUBTOTALS: r"sums of other|add up to others",
    ROUNDING: r"\bround(ed|ing)",
    ZEROS: r"counts is about|zero and disclosure",
    CONTRIBUTORS: r"contribut|of people known|who put together|tell each other",
    FIGURES: r"published (percentages|ratios|means)|median",
    JOINT: r"composite keys by",
    CHANGES: r"As it was on a date",
}
# Options that read as if they looked at a subject, or do so in other commands: why they do not.
OTHERWISE = {
    ("tables release", "--scheme", ROUNDING): "tables are published by it",
    ("tables release", "--scheme", METHOD): "tables are published by it",
    ("tables compare", "--total", SUBTOTALS): "whether random tables have one",
    ("tables compare", "--mean", FIGURES): "of the cells of random tables",
    ("tables audit", "--holding", CONTRIBUTORS): "of --contributors",
    ("tables audit", "--largest", CONTRIBUTORS): "of --rule",
    ("tables audit", "--count", CONTRIBUTORS): "of --rule",
    ("tables audit", "--tolerance", ROUNDING): "it is for what is hidden beside rounded figures",
    ("tables bounds", "--rule", HIDDEN): "it is held to what was found",
    ("tables bounds", "--largest", CONTRIBUTORS): "of --rule",
    ("tables bounds", "--count", CONTRIBUTORS): "of --rule",
    ("tables bounds", "--tolerance", ROUNDING): "it is for what is hidden beside rounded figures",
    ("tables mark", "--shadow", CONTRIBUTORS): "of --rule",
    ("protect apply", "--keep-order", ORDER): "it takes back that records are shuffled",
    ("protect replay", "--keep-order", ORDER): "it takes back that records are shuffled",
    ("protect audit", "--same-order", ORDER): "it tells whose the records are",
    ("protect try", "--household-variables", HOUSEHOLDS): "of --household",
}


@cache
def commands() -> dict[str, Any]:
    def within(found: Any, name: str) -> Iterator[tuple[str, Any]]:
        for own, inner in getattr(found, "commands", {"": found}).items():
            yield f"{name} {own}".strip(), inner

    return {name: found for part in PARTS for name, found in within(load(part), part)}


@cache
def options(command: str) -> dict[str, str]:
    """Return the options of a command, each by its first name, with its help."""
    given = [item for item in commands()[command].params if item.param_type_name == "option"]
    return {max(item.opts, key=len): item.help or "" for item in given}


def test_every_command_has_an_entry():
    told = {*ATTACKS, *(c for c in commands() if {c, c.split()[0]} & ATTACK_NOTHING)}
    assert set(commands()) == told
    assert not {c for c in ATTACKS if {c, c.split()[0]} & ATTACK_NOTHING}
    assert all(any(one in (c, c.split()[0]) for c in commands()) for one in ATTACK_NOTHING)


@pytest.mark.parametrize("command", ATTACKS)
def test_options_that_an_entry_names_are_there(command):
    for (own, subject), look in LOOKS.items():
        if own == command and look is not None:
            assert set(look.options) <= set(options(look.options_of or command)), subject.name
            assert not look.in_part or subject.partly, subject.name


def test_an_entry_is_for_a_subject_of_its_family():
    for family in FAMILIES:
        for command, looks in family.looks.items():
            assert set(looks) <= set(family.subjects), command


def test_nothing_is_left_out_that_an_option_looks_at():
    of_subject: dict[Subject, set[str]] = {}
    for (_, subject), look in LOOKS.items():
        of_subject.setdefault(subject, set()).update(look.options if look else ())
    found = {
        (command, name, subject)
        for (command, subject), look in LOOKS.items()
        if look is None or look.options or look.in_part
        for name, words in options(command).items()
        if name not in (look.options if look else ())
        and (name in of_subject[subject] or re.search(SIGNS.get(subject, "(?!)"), words))
    }
    assert found == set(OTHERWISE)


@pytest.mark.parametrize("command", ATTACKS)
def test_help_ends_with_what_is_left_out(run, command):
    said = " ".join(run(*command.split(), "--help").out.split())
    assert left_out_words(not_examined(command)) in said


@pytest.mark.slow
def test_who_looks_at_households_in_part_says_that_they_were_not_attacked():
    told = ("gamekeeper.attack.unexamined", "WHOLE_HOUSEHOLDS")
    for (command, subject), look in LOOKS.items():
        if subject is HOUSEHOLDS and look is not None and command != "protect undo":
            assert options(command), "which makes the function of the command"
            work = commands()[command].callback
            assert told in reached((work.__module__, work.__name__)), command


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("assess", ("-f", "1/2", "--workers", "1")),
        ("risk measures", ("-f", "1/2")),
        ("risk infer", ("-f", "1/2", "--method", "annealing", "--chains", "1", "--workers", "1")),
    ],
)
def test_results_with_households_name_them(run, tmp_path, command, more):
    rows = PEOPLE.splitlines()
    text = "".join(f"{row},{'home' if not at else at // 2}\n" for at, row in enumerate(rows))
    file = write(tmp_path, "people.csv", text)
    asked = (*command.split(), file, "-k", ",".join(KEYS), *more)
    assert "Whole households" not in run(*asked).out
    told = run(*asked, "--household", "home")
    assert told.exit_code == 0, told.err
    assert WHOLE_HOUSEHOLDS in " ".join(told.out.split())


def test_choosing_a_candidate_names_households(run, tmp_path):
    file = write(tmp_path, "people.csv", PEOPLE)
    study = tmp_path / "s.gkp"
    asked = ("protect", "try", file, "-k", "Age,Region", "--household", "Sex", "-t", "both>=2")
    run(*asked, "--method", "suppress", "--study", study)
    assert WHOLE_HOUSEHOLDS in " ".join(run("protect", "choose", study, 1).out.split())


def test_notices_of_a_release_name_order_and_other_columns(run, tmp_path):
    file = write(tmp_path, "people.csv", PEOPLE)
    recipe = tmp_path / "recipe.json"
    asked = ("protect", "try", file, "-k", "Age,Region", "-t", "both>=2", "--method", "suppress")
    assert run(*asked, "--recipe", recipe).exit_code == 0
    told = run("protect", "apply", recipe, file, "-o", tmp_path / "out.csv", "--keep-order")
    said = " ".join(told.out.split())
    assert ORDER.words in said
    assert at_start(OTHER_COLUMNS.around) in said
    assert ORDER not in not_examined("protect apply")
    assert OTHER_COLUMNS in not_examined("protect apply")


def test_rounded_tables_are_named_by_an_audit_and_a_release(run, tmp_path):
    table = write(tmp_path, "t.csv", "A,n\n" + "".join(f"a{i},{5 * (i + 1)}\n" for i in range(9)))
    told = run("tables", "audit", table, "--disjoint", "A")
    assert f"{ROUNDING.name} was not examined" in " ".join(told.out.split())
    assert LOOKS["tables audit", ROUNDING].options == ("--scheme",)
    file = write(tmp_path, "people.csv", PEOPLE)
    asked = ("tables", "release", file, "-k", "Sex", "--scheme", "conventional:5")
    told = run(*asked, "-o", tmp_path / "t.json")
    assert "rounded, perturbed or grouped counts was not examined" in " ".join(told.out.split())
    assert ROUNDING in not_examined("tables release")


def test_marks_of_an_environment_are_named():
    edits = [
        MarkSensitive(variable="Marital status", categories=("widowed",)),
        DeclareImpossible(combination={"Age": ("0-15",), "Marital status": ("widowed",)}),
    ]
    sensitive, impossible = scenario_notices(None, apply_edits(world(), edits))
    assert SENSITIVE_MARKS.name in sensitive
    assert at_start(SENSITIVE_MARKS.words) in sensitive
    assert IMPOSSIBLE.name in impossible
    scenarios = [c for c in ATTACKS if "--scenario" in options(c)]
    assert len(scenarios) > 10
    for command in scenarios:
        assert {SENSITIVE_MARKS, IMPOSSIBLE} <= set(not_examined(command)), command
