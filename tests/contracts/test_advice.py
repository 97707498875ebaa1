"""What a message advises can be done at the prompt, by every command that can say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from gamekeeper.cli.app import PARTS, load
from tests.given.reachable import pieces, reached

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+(?: of ([a-z]+ [a-z]+)(?: and ([a-z]+ [a-z]+))?)?")
_LIMIT = re.compile(r"(?<!{)\b(?:max|most)_\w+(?! \(--)\b")

# What the text tells is more than can happen. By place: options or limits that are named there, and
# why a command without them never says so.
NEVER_SAID = {
    "attack.tables.auditing.audit_tables": (
        "--insiders --contributors",
        "only where insiders are asked for",
    ),
    "algorithms.bounds.shuttle._require_nodes": ("--max-nodes", "other methods look first"),
    "algorithms.bounds.integer_bounds": (
        "max_seconds",
        "the message of a conflict goes on without",
    ),
    "algorithms.categories": (
        "--max-nodes --against --group",
        "an analysis turns limits into messages of its own",
    ),
    "algorithms.decomposable.graphs": ("most_variables", "few variables are told before"),
    "algorithms.models.mc3": (
        "most_sweeps",
        "it is the name of the option, checked before",
    ),
    "algorithms.subtraction.recovered_zeros": ("max_work", "numbers of zeros are then left out"),
    "algorithms.subtraction.release": ("max_samples max_bits", "the advice has them"),
    "algorithms.uniques.minimal_uniques": ("--max-msus --no-listing", "only a list is too long"),
    "attack.linkage.linking.require_worth": (
        "--unlinked",
        "only where records may stay unlinked",
    ),
    "attack.matching": ("--population", "an assessment matches where it can"),
    "attack.matching_result": ("--population", "an assessment matches where it can"),
    "cli.risk.app": ("--keys", "the help of the group, beside which a first look stands"),
    "attack.models.inference._Homes": ("--household", "only where one is given"),
    "attack.models.inference._design_words": (
        "--person --household --strata",
        "only of assess and risk infer; where one of them lacks an option, it names the other",
    ),
    "attack.models.inference._level_words": ("--person", "it names the command that has it"),
    "attack.models.fitting.fit_models": ("--method --patient", "a what-if says: not known"),
    "attack.uniques.suda._only_uniques": ("--records", "only of an engine elsewhere"),
    "attack.linkage.structure.StructureLinks._by_halves": (
        "--halves --individuals",
        "only of links of files without a common variable",
    ),
    "report.link_report._examples": ("--report-values", "only where pairs of values are compared"),
    "attack.uniques.special.SpecialUniques.file_sentences": (
        "--special-size",
        "only where special uniques were asked for",
    ),
    "protection.recoding.options._whole_pairs": (
        "--at-least",
        "what a study keeps was read before",
    ),
    "attack.tables.bounding": ("--method", "only for a method that was asked for"),
    "cli.environment.edits.show_listing": ("--page", "a list without pages has one"),
    "cli.environment.edits": ("--yes", "only the unrestricted editor asks again"),
    "cli.environment.edits.app": ("--unrestricted", "the help of all commands of the group"),
    "data.engine.gate": ("--recode", "only of an engine elsewhere, which the command has not"),
    "data.keys.counting._BY_THEMSELVES": ("--missing", "only of an engine elsewhere"),
    "data.keys": ("--fraction --weight --strata", "only where one of them is given"),
    "data.reading.csv_file._check_header": ("--no-header", "said of files of records only"),
    "data.reading.frames": ("--sheet", "counts are not read from workbooks"),
    "data.tables.subtotals": ("--disjoint --total", "categories of microdata are disjoint"),
    "mapping.recoding.codes_or_numbers": (
        "--numbers --values",
        "only of scenarios, which linkage has not",
    ),
    "attack.unexamined.SENSITIVE_MARKS": ("--sensitive", "it names what other commands have"),
    "protection.attacking.attacks._BY_LOT": (
        "--unlinked",
        "only where nothing but its place tells whose a record is, as of a file that is audited",
    ),
    "report.graphs": ("--deepen", "a page goes on without the drawing"),
    "workbench.protection.opening.open_for_protection": ("--recode", "only where one is given"),
    "workbench.risk.FileLook.sentences": ("--keys", "named with the command that has it"),
    "workbench.microdata": ("--engine --scratch", "only where a cluster is named"),
    "workbench.microdata.fraction_of": ("--fraction", "only where fractions are given"),
}

# What is asked somewhere else. By command: options that its advice names, and where they are given.
_OF_RECIPES = "--keys --scenario --missing --fraction --weight --sensitive --household --id"
ASKED_ELSEWHERE = dict.fromkeys(
    ("protect apply", "protect replay"),
    (
        f"{_OF_RECIPES} --at-least --max-work --seconds --whole-levels --recodable --step",
        "the recipe has them, and is made anew with others",
    ),
) | {
    **dict.fromkeys(
        (f"account {name}" for name in ("add", "list", "password", "remove", "revoke", "role")),
        ("--replace", "the server's own file is made where there is none, without a word"),
    ),
    "look": ("--replace", "a look writes nothing"),
    "protect audit": ("--at-least", "an audit searches no recoding"),
    "tables release": (
        "--axes --says --negative --tolerance --total --max-seconds --disjoint --hierarchy --absent",
        "tables that were counted here add up, and have all their cells",
    ),
    "serve": (
        "--role --max-nodes --replace",
        "the role is of the account that is added first; the others are of the demo, which gives them",
    ),
}
# Protection attacks with options of its own; what would take too long is told as not known.
NEVER_SAID_BY_PROTECT = {
    "algorithms.linkage": "links are on all keys, with equal weights, within a number of pairs",
    "attack.linkage": "links are on all keys, with equal weights, within a number of pairs",
    "algorithms.uniques": "a search that would take too long is told as not known",
    "attack.measures": "combinations and models of the population are not asked for",
    "attack.measure_lines": "combinations and models of the population are not asked for",
    "importing.files": "files of levels are read as they are",
}


@cache
def commands() -> dict[str, Any]:
    """Return every command by its name, but the demo, which works on data of its own."""

    def within(found: Any, name: str) -> Iterator[tuple[str, Any]]:
        if not hasattr(found, "commands"):
            yield name, found
        for own, inner in getattr(found, "commands", {}).items():
            yield from within(inner, f"{name} {own}")

    return {
        name: found for part in PARTS if part != "demo" for name, found in within(load(part), part)
    }


@cache
def options() -> Mapping[str, frozenset[str]]:
    """Return the options of every command."""
    return {
        name: frozenset(text for item in one.params for text in (*item.opts, *item.secondary_opts))
        for name, one in commands().items()
    }


@cache
def said(name: str) -> frozenset[tuple[str, str]]:
    """Return the texts that a command can say, each with its place."""
    options()  # which makes the function of the command
    work = commands()[name].callback
    return frozenset(
        (f"{module}.{place}".removeprefix("gamekeeper."), text)
        for module, place in reached((work.__module__, work.__name__))
        for text in pieces()[module, place].texts
        if " " in text and not is_help_of_others(name, text)
    )


def is_help_of_others(name: str, text: str) -> bool:
    """Tell whether a text is of the help of other commands alone, which one module may have many of."""
    return text not in helps()[name] and any(text in help_text for help_text in helps().values())


@cache
def helps() -> Mapping[str, str]:
    """Return the help text of every command."""
    return {name: one.help or "" for name, one in commands().items()}


def is_asked_elsewhere(command: str, place: str, named: str) -> bool:
    """Tell whether what a command advises is given to another one, or is never advised by it."""
    if command.startswith("protect ") and any(
        place.startswith(f"{known}.") for known in NEVER_SAID_BY_PROTECT
    ):
        return True
    return named in ASKED_ELSEWHERE.get(command, ("",))[0].split()


def is_never_said(place: str, named: str) -> bool:
    """Tell whether a command without that option or limit does not come to that place."""
    return any(
        named in options.split() and f"{place}.".startswith(f"{known}.")
        for known, (options, _) in NEVER_SAID.items()
    )


@cache
def texts() -> frozenset[str]:
    """Return all that the package can say."""
    return frozenset(text for piece in pieces().values() for text in piece.texts if " " in text)


@pytest.mark.slow
def test_every_option_that_a_text_names_is_there():
    every = frozenset[str]().union(*options().values())
    named = {found[0].split()[0] for text in texts() for found in _OPTION.finditer(text)}
    assert len(named) > 50, "the texts were not found"
    assert named <= every


def test_options_of_another_command_are_there():
    for text in texts():
        for found in _OPTION.finditer(text):
            for name in filter(None, found.groups()):
                assert found[0].split()[0] in options()[name], text


@pytest.mark.slow
def test_what_a_command_advises_it_has():
    missing = {
        (place, found[0], name)
        for name, own in options().items()
        for place, text in said(name)
        for found in _OPTION.finditer(text)
        if not found[1]
        and found[0] not in own
        and not is_never_said(place, found[0])
        and not is_asked_elsewhere(name, place, found[0])
    }
    assert missing == set()


@pytest.mark.slow
def test_a_limit_is_named_as_at_the_prompt():
    only_python = {
        (place, found[0])
        for name in commands()
        for place, text in said(name)
        for found in _LIMIT.finditer(text)
        if "Python" not in text and not is_never_said(place, found[0])
    }
    assert only_python == set()


def test_every_exception_is_of_a_text():
    told = {
        (f"{module}.{place}.".removeprefix("gamekeeper."), text)
        for (module, place), piece in pieces().items()
        for text in piece.texts
    }
    for known, (options, _) in NEVER_SAID.items():
        for named in options.split():
            assert any(place.startswith(f"{known}.") and named in text for place, text in told), (
                known,
                named,
            )


def test_it_sees_a_message_deep_down():
    # The search for uniques is refused far below the command, in a module that is imported late.
    deep = "algorithms.uniques.minimal_uniques._require_within_limits"
    assert any(place == deep and "--max-seconds" in text for place, text in said("risk suda"))
    assert all(place != deep for place, _ in said("risk keys"))
