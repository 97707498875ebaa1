"""What an intruder could know or do, and which command looks at it: the one place where it is written.

Notices of results, the last lines of a command's help, and docs/explain/what-is-not-examined.md
come from here. What a command is not said to look at, it does not look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gamekeeper.wording import at_start


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that an intruder could know or do: its name within a sentence, and words about it.

    - `words`: what follows where nobody looks at it, within a sentence.
    - `around`: what to do about it instead, within a sentence.
    - `partly`: what is looked at where only a part is, and what is left out.
    """

    name: str
    words: str
    around: str
    partly: str = ""


ORDER = Subject(
    "the order of records",
    "who stands beside whom tells of households and addresses, and whoever knows by what the file was"
    " sorted finds people by their places",
    "release the records shuffled, as 'gamekeeper protect apply' does",
    "A release is shuffled, unless the order is kept on demand. Numbers in a column that tell the order"
    " are not looked for.",
)
OTHER_COLUMNS = Subject(
    "other columns",
    "a name, an address or a number of a register in a column that is no key undoes all that was done",
    "leave out what tells who somebody is, or name it among the keys",
    "'protect audit' counts records that are copied word for word, in all columns, and attacks the keys."
    " Links compare the columns that are named, or all that both files have.",
)
HOUSEHOLDS = Subject(
    "whole households",
    "what its members are together can fit one household alone, although no member stands alone",
    "to look at that, make a file with one record per household and what its members are as columns, and"
    " attack that as well",
    "Members are found one by one, and one who is found may give the others away, or they are protected"
    " together. Nobody looks for the household as a whole.",
)
REPEATS = Subject(
    "several records of one person",
    "a person with several records is found by what these are together, and estimates take them for"
    " different people",
    "keep one record of each person, or put what a person's records are into one, and attack that",
    "The first record of each person is attacked. What several of them are together is not.",
)
SENSITIVE_VALUES = Subject(
    "what is learned without finding anybody",
    "where all who look alike share a value, or most of them, it is known of each",
    "name sensitive variables where a command takes them, or count them and attack the table",
    "Variables that are named are looked at, and others are not.",
)
SENSITIVE_MARKS = Subject(
    "the categories that the environment marks as sensitive",
    "what is learned of them is not weighed",
    "name the column of a sensitive variable (--sensitive) where a command takes one",
)
IMPOSSIBLE = Subject(
    "what the environment declares impossible",
    "nothing is ruled out by it",
    "where a command takes cells that everybody knows to be empty, name them",
    "Cells that are named to the command are ruled out, or, of composite keys, combinations that the"
    " environment declares. Tables take nothing from the environment by themselves.",
)
MISSING = Subject(
    "missing cells",
    "an intruder may know what is missing, or match on its being missing",
    "attack under each reading of a missing cell, and believe the worst",
    "A record without a category is refused.",
)
DIVERGENCE = Subject(
    "divergence between the file and what the intruder knows",
    "whoever allows for errors, changes and other codes finds people whose values do not agree, and"
    " whoever does not takes others for them",
    "link the release with the original, or with what an intruder may have ('gamekeeper link files')",
    "Released values are compared with those of the original, and the intruder is taken to have these."
    " That other sources err is not looked at.",
)
METHOD = Subject(
    "how it was protected",
    "whoever knows the method can do it again, or work out from what was changed what was there",
    "ask 'gamekeeper protect audit' for the criterion own, which stands up to suppression that is done"
    " again, and keep seeds secret",
    "What whoever suppresses again matches at most is told. What a choice of cells tells those who cannot"
    " do it again is not looked at; of tables, schemes and the limits of hidden cells count as known.",
)
OTHER_RELEASES = Subject(
    "other releases and revisions",
    "an earlier version, a table or another file about the same people can be put together with this one",
    "give tables of one base to one command, earlier versions among them, and link files with each other",
    "What is given to one run is put together. What is published elsewhere is not known.",
)
RESPONSE = Subject(
    "who is in the file",
    "whoever knows that somebody is in it needs no chance that this is so",
    "look at classes of records alike ('gamekeeper risk keys'), which hold for those who know",
    "Records that look alike are counted, which is for those who know. Probabilities are for those who"
    " do not.",
)
CHANCES = Subject(
    "how the sample was drawn",
    "estimates take records for people who were drawn one by one, each with the chance that was told",
    "tell strata, weights and fractions as they were, and have the estimates tried on a population"
    " ('gamekeeper risk compare')",
    "What is told of chances is used, and believed.",
)
_OF_ZEROS = (
    "What follows of empty cells, or of all people of a kind, is looked at. What else the counts can be is"
    " not listed."
)
HIDDEN = Subject(
    "hidden cells that can be recomputed",
    "a hidden figure is the difference of two that are shown",
    "audit what is to be published ('gamekeeper tables audit')",
    _OF_ZEROS,
)
SUBTOTALS = Subject(
    "labels that are sums of others",
    "a subtotal that nobody declared gives hidden cells away, and so do labels that divide the same people"
    " in two ways, or hold others beside people without a label, which are not looked for",
    "name hierarchies and totals in 'gamekeeper tables audit' or 'gamekeeper tables bounds'",
    "Labels that could be sums are asked about, and totals are used. Other subtotals are refused.",
)
ROUNDING = Subject(
    "what rounded figures stand for",
    "several rounded figures together can leave one count possible",
    "name the scheme in 'gamekeeper tables audit' or 'gamekeeper tables bounds'",
    _OF_ZEROS,
)
CONTRIBUTORS = Subject(
    "people who know their own part",
    "whoever is in a cell knows one figure of it, and several can put theirs together",
    "ask for insiders, coalitions or known people where a command takes them",
    "The people who tell each other what they know are so many as is said, or drawn at random. People who"
    " live or work together are not looked for.",
)
ZEROS = Subject(
    "what counts say of people",
    "an empty cell says of everybody what they are not, without a hidden figure",
    "ask for attributions ('gamekeeper tables infer')",
    "Cells that are found to be empty count. What is said of people by them is not listed.",
)
PROBABLE = Subject(
    "what is probable and not certain",
    "a count that is not given away may still be nearly certain",
    "ask for probabilities ('gamekeeper tables feasible')",
)
FIGURES = Subject(
    "published percentages and means",
    "a published share is a figure, and can be solved for a count",
    "name their columns in 'gamekeeper tables audit'; nothing looks at medians and other quantiles",
)
HELD = Subject(
    "what data sets hold",
    "forms say what could be held and not what is held, how old it is, or whether it is right",
    "let somebody who knows the sources look at the forms behind each key variable",
)
UNLISTED = Subject(
    "data sets that are not in the environment",
    "an intruder may have one that nobody put in",
    "put in what is asked out there, and take a low prevalence",
)
JOINT = Subject(
    "key variables together",
    "each variable may be held by other data sets than the next, and several can be joined",
    "ask for composite keys (--joint of 'gamekeeper map')",
    "Keys that the same data sets hold are found. Data sets that an intruder joins are not.",
)
RARITY = Subject(
    "how rare people are",
    "a key variable may tell few people apart or many",
    "assess a file under the scenario ('gamekeeper assess')",
)
CHANGES = Subject(
    "later changes of the environment",
    "a form that was added since may be matched in more detail",
    "review the scenario ('gamekeeper scenario review')",
    "The environment is read as it was at the time that is asked for.",
)

WHOLE_HOUSEHOLDS = (
    f"{at_start(HOUSEHOLDS.name)} were not attacked (not examined): {HOUSEHOLDS.words}."
    f" {at_start(HOUSEHOLDS.around)}."
)
"""What is not known wherever households are named: the attack on them all at once is not there yet."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a command looks at a subject: wholly or in part, always or where options ask for it.

    Options are those of the command itself, or of `options_of`, where its input was made.
    """

    options: tuple[str, ...] = ()
    in_part: bool = False
    options_of: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Commands that could look at the same subjects, and how each does; what is left out is not."""

    name: str
    subjects: tuple[Subject, ...]
    looks: Mapping[str, Mapping[Subject, Look]]


def _by(*options: str, of: str = "") -> Look:
    return Look(options, options_of=of)


def _part(*options: str, of: str = "") -> Look:
    return Look(options, in_part=True, options_of=of)


_ALWAYS = Look()
_OF_KEYS = {MISSING: _by("--missing"), CHANCES: _part("--weight", "--strata", "--fraction")}
_OF_DRAWN = {MISSING: _by("--missing"), CHANCES: _part("--fraction", "--stratify-by")}
_OF_PROTECTION = {
    HOUSEHOLDS: _part("--household"),
    SENSITIVE_VALUES: _part("--sensitive"),
    MISSING: _by("--missing"),
    METHOD: _part(),
    RESPONSE: _by("--response-knowledge"),
    CHANCES: _part("--weight", "--strata", "--fraction"),
}
_OF_TRIALS = {**_OF_PROTECTION, DIVERGENCE: _part("--attack")}
_OF_STUDIES = {
    subject: Look(look.options, look.in_part, "protect try") for subject, look in _OF_TRIALS.items()
}
_OF_RECIPES = {**_OF_STUDIES, ORDER: _part(), DIVERGENCE: _part("--attack")}
_OF_RELEASES = {
    HIDDEN: _by("--scheme", "--hidden"),
    SUBTOTALS: _part("--total", "--disjoint"),
    ROUNDING: _by("--scheme"),
    METHOD: _part("--scheme"),
    OTHER_RELEASES: _part(),
    MISSING: _by("--absent"),
}
_OF_STATEMENTS = {
    **_OF_RELEASES,
    HIDDEN: _part("--scheme", "--hidden"),
    ROUNDING: _part("--scheme"),
}
_OF_RECORDS = (
    *(OTHER_COLUMNS, ORDER, HOUSEHOLDS, REPEATS, SENSITIVE_VALUES, SENSITIVE_MARKS, IMPOSSIBLE),
    *(MISSING, DIVERGENCE, METHOD, OTHER_RELEASES, RESPONSE),
)
FAMILIES = (
    Family(
        "Mapping",
        (HELD, UNLISTED, JOINT, RARITY, CHANGES, SENSITIVE_MARKS, IMPOSSIBLE),
        {
            "map": {
                JOINT: _part("--joint"),
                CHANGES: _part("--as-of"),
                IMPOSSIBLE: _part("--joint"),
            },
            "scenario save": {},
            "scenario review": {CHANGES: _ALWAYS},
            "scenario renew": {CHANGES: _ALWAYS},
        },
    ),
    Family(
        "Attacks on a file of records",
        (*_OF_RECORDS, CHANCES),
        {
            "assess": {
                **_OF_KEYS,
                HOUSEHOLDS: _part("--household"),
                REPEATS: _part("--person"),
                SENSITIVE_VALUES: _part("--sensitive"),
                RESPONSE: _part(),
            },
            "risk keys": {**_OF_KEYS, SENSITIVE_VALUES: _part("--sensitive"), RESPONSE: _ALWAYS},
            "risk measures": {
                **_OF_KEYS,
                HOUSEHOLDS: _part("--household"),
                SENSITIVE_VALUES: _part("--sensitive", "--ordered"),
                RESPONSE: _ALWAYS,
            },
            "risk dis": {**_OF_KEYS, DIVERGENCE: _part("--original")},
            "risk match": _OF_KEYS,
            "risk suda": {**_OF_KEYS, RESPONSE: _part()},
            "risk special": {**_OF_KEYS, RESPONSE: _part()},
            "risk model": _OF_KEYS,
            "risk infer": {
                **_OF_KEYS,
                HOUSEHOLDS: _part("--household"),
                REPEATS: _part("--person"),
                SENSITIVE_VALUES: _part("--ask"),
                RESPONSE: _part(),
            },
            "risk compare": _OF_DRAWN,
            "risk simulate": _OF_DRAWN,
        },
    ),
    Family(
        "Links of records",
        _OF_RECORDS,
        {
            "link files": {
                OTHER_COLUMNS: _part("--on"),
                MISSING: _by("--missing"),
                DIVERGENCE: _ALWAYS,
                OTHER_RELEASES: _part(),
                RESPONSE: _by("--everybody"),
            },
            "link evaluate": {
                OTHER_COLUMNS: _part("--on"),
                MISSING: _by("--missing"),
                DIVERGENCE: _part(),
                RESPONSE: _ALWAYS,
            },
            "link structure": {
                OTHER_COLUMNS: _part("--columns", "--others"),
                MISSING: _ALWAYS,
                DIVERGENCE: _ALWAYS,
                OTHER_RELEASES: _part(),
            },
        },
    ),
    Family(
        "Protection of a file",
        (*_OF_RECORDS, CHANCES),
        {
            "protect audit": {**_OF_PROTECTION, OTHER_COLUMNS: _part(), DIVERGENCE: _part()},
            "protect try": _OF_TRIALS,
            "protect map": _OF_STUDIES,
            "protect choose": _OF_STUDIES,
            "protect undo": _OF_STUDIES,
            "protect apply": _OF_RECIPES,
            "protect replay": _OF_RECIPES,
        },
    ),
    Family(
        "Tables",
        (
            *(HIDDEN, SUBTOTALS, ROUNDING, ZEROS, CONTRIBUTORS, PROBABLE, FIGURES, METHOD),
            *(OTHER_RELEASES, MISSING, SENSITIVE_MARKS, IMPOSSIBLE),
        ),
        {
            "tables release": {HIDDEN: _ALWAYS, MISSING: _by("--missing")},
            "tables bounds": {
                **_OF_RELEASES,
                SUBTOTALS: _by("--hierarchy", "--total", "--disjoint"),
                CONTRIBUTORS: _part("--rule"),
                FIGURES: _by("--percent", "--ratio", "--mean"),
                METHOD: _part("--scheme", "--says"),
            },
            "tables feasible": {**_OF_RELEASES, PROBABLE: _ALWAYS},
            "tables infer": {
                **_OF_STATEMENTS,
                ZEROS: _ALWAYS,
                CONTRIBUTORS: _part("--coalition"),
                IMPOSSIBLE: _part("--structural-zero"),
            },
            "tables sap": {**_OF_STATEMENTS, ZEROS: _part(), CONTRIBUTORS: _part("--n")},
            "tables compare": {
                HIDDEN: _part(),
                ROUNDING: _part(),
                ZEROS: _part(),
                CONTRIBUTORS: _part("--n"),
                METHOD: _part(),
            },
            "tables audit": {
                HIDDEN: _ALWAYS,
                SUBTOTALS: _by("--hierarchy", "--total", "--disjoint"),
                CONTRIBUTORS: _part("--insiders", "--coalition", "--contributors", "--rule"),
                FIGURES: _by("--percent", "--ratio", "--mean"),
                ROUNDING: _by("--scheme"),
                METHOD: _part("--scheme", "--says"),
                OTHER_RELEASES: _part(),
                MISSING: _by("--absent"),
            },
            "tables mark": {
                SUBTOTALS: _by("--hierarchy", "--total"),
                ZEROS: _by("--about"),
                MISSING: _part(),
                CONTRIBUTORS: _part("--rule", "--holding"),
                IMPOSSIBLE: _part("--structural-zero"),
            },
        },
    ),
)
"""What each command looks at, by what it works on."""
ATTACK_NOTHING = frozenset(
    (
        *("account", "check", "demo", "env", "form", "graph", "group", "look", "serve", "shell"),
        *("variable", "tables records"),
        *(f"scenario {name}" for name in ("list", "show", "export", "rename", "remove")),
    )
)
"""Commands, or whole groups of them, that keep, show or write, and say nothing of risk."""


def not_examined(command: str) -> tuple[Subject, ...]:
    """Return what a command looks at in no way, whatever is asked of it."""
    for family in FAMILIES:
        if command in family.looks:
            return tuple(one for one in family.subjects if one not in family.looks[command])
    return ()


def left_out_words(subjects: Iterable[Subject]) -> str:
    """Return what is not looked at, as one sentence; "" where that is nothing.

    >>> left_out_words([ORDER, HOUSEHOLDS])
    'Not examined: the order of records; whole households.'
    """
    names = [one.name for one in subjects]
    return f"Not examined: {'; '.join(names)}." if names else ""
