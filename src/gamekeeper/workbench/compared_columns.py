"""Which columns of two files are compared, and how, as a person says it for linkage."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from gamekeeper.attack.linkage.columns.guessing import identifiers, telling_alone
from gamekeeper.attack.linkage.columns.variables import Kind, LinkVariable, common_variables
from gamekeeper.attack.linkage.options import ObjectiveName
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, did_you_mean, quoted
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.requests.linkage import ComparedColumns


def compared_variables(sources: Sequence[Source], asked: ComparedColumns) -> list[LinkVariable]:
    """Return the variables to compare; the first file is the one by whose names they are asked for."""
    columns = [[column.name for column in source.columns] for source in sources]
    if asked.on:
        chosen = [
            LinkVariable(first.strip(), second.strip())
            for first, _, second in (name.partition("=") for name in asked.on)
        ]
    else:
        common = set(columns[0]).intersection(*columns[1:])
        without = [name for name in columns[0] if name not in common]
        chosen = common_variables(columns[0], columns[1], without=[*without, asked.identifier])
    named = {one.name for one in chosen}
    problems: list[Problem] = []
    for what, pairs in (
        ("kind", asked.kinds),
        ("measure", asked.measures),
        ("missing", asked.missing),
        ("order", asked.order),
        ("weight", asked.weights),
        ("steps", asked.steps),
    ):
        problems += unknown_names(
            pairs, named, f"{what} of", "it is not among the variables that are compared."
        )
    known = [kind.value for kind in Kind]
    problems += [
        Problem(
            Reason.BAD_OPTION,
            f"kind of {quoted([name])}",
            f"there is no kind {quoted([kind])}.",
            f"There are: {quoted(known)}.",
        )
        for name, kind in asked.kinds.items()
        if kind not in known
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Two files were to be linked.",
            f"{count_of(len(problems), 'option')} cannot be used.",
            problems=problems,
        )
    made = [
        replace(
            one,
            kind=Kind(asked.kinds[one.name]) if one.name in asked.kinds else None,
            measure=asked.measures.get(one.name, ""),
            order=tuple(asked.order.get(one.name, ())),
            missing=_missing(asked.missing.get(one.name, "expected")),
        )
        for one in chosen
    ]
    return _mapped(made, asked.environment)


def unknown_names(
    names: Iterable[str], known: Collection[str], what: str, found: str
) -> list[Problem]:
    """Return a problem for each name that is not known."""
    return [
        Problem(
            Reason.UNKNOWN_NAME,
            f"{what} {quoted([name])}",
            found,
            did_you_mean(name, sorted(known)),
        )
        for name in names
        if name not in known
    ]


def _missing(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _mapped(variables: list[LinkVariable], environment: StorePlace | None) -> list[LinkVariable]:
    """Give the variables that are compared by sinks their partition graph."""
    asked = [one.name for one in variables if one.kind is Kind.MAPPED]
    if environment is not None and not asked:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Columns were to be compared by the categories of an environment.",
            "None was named.",
            "Say which (--kind COLUMN=mapped), or leave the environment out.",
        )
    if environment is None:
        if asked:
            raise InputError(
                Reason.NOTHING_GIVEN,
                f"{quoted(asked)} {'was' if len(asked) == 1 else 'were'} to be compared by the"
                " categories of an environment.",
                "No environment was named.",
                "Name a store or folder (--environment).",
            )
        return variables
    known = variables_in(environment)
    problems = unknown_names(asked, known, "variable", "is not in the environment.")
    refuse(
        problems,
        "Categories were to be compared by the partition graphs of an environment.",
        f"{count_of(len(problems), 'variable is', 'variables are')} not there.",
    )
    return [
        replace(one, variable=known[one.name]) if one.kind is Kind.MAPPED else one
        for one in variables
    ]


def weights_of(
    variables: Sequence[LinkVariable],
    asked: ComparedColumns,
    objectives: Sequence[ObjectiveName | str],
) -> list[float]:
    """Return a weight per variable; none where none are asked for or given."""
    if not asked.weights and ObjectiveName.WEIGHTED not in objectives:
        return []
    return [asked.weights.get(one.name, 1.0) for one in variables]


def steps_of(variables: Sequence[LinkVariable], asked: ComparedColumns) -> list[int | None]:
    """Return steps per variable, None where they are to be chosen; none where none are given."""
    return [asked.steps.get(one.name) for one in variables] if asked.steps else []


def without_identifiers(
    pairs: Sequence[tuple[CodedTable, CodedTable, tuple[str, str]]],
    variables: list[LinkVariable],
    columns: ComparedColumns,
) -> tuple[list[LinkVariable], list[str]]:
    """Leave out columns that only say which record it is, unless they were named; say which.

    Columns that link by themselves stay, and are said too.
    """
    if columns.on:
        return variables, []
    asked = {*columns.measures, *columns.order, *columns.weights, *columns.steps}
    seen = {name for a, b, decimals in pairs for name in identifiers(a, b, variables, decimals)}
    found = [one.name for one in variables if one.name in seen - asked]
    left = [one for one in variables if one.name not in found]
    if not left:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Two files were to be linked on the columns they share.",
            f"{quoted(found)} {'looks' if len(found) == 1 else 'look'} like an identifier, and there"
            " is no other.",
            "Name the columns to compare all the same (--on), or the column that says who is who (--id).",
        )
    notes: list[str] = []
    if found:
        verb = (
            "looks like an identifier and is"
            if len(found) == 1
            else "look like identifiers and are"
        )
        notes.append(
            f"{quoted(found)} {verb} not compared; name it (--on) to compare it all the same."
        )
    told = {name for a, b, decimals in pairs for name in telling_alone(a, b, left, decimals)}
    telling = [one.name for one in left if one.name in told - asked]
    if telling:
        is_one = len(telling) == 1
        notes.append(
            f"{quoted(telling)} {'has' if is_one else 'have'} another value for each record and"
            f" {'links by itself' if is_one else 'link by themselves'}; to link without, name the other"
            " columns (--on)."
        )
    return left, notes


def variables_in(environment: StorePlace) -> dict[str, Variable]:
    """Return the variables of an environment by name."""
    with opened(environment) as place:
        return {name: place.environment.variable(name) for name in place.environment.variables}
