"""Groups of forms: listed by hand, found by a query, or made from other groups.

Queries and combinations stay live: a form that is added later and fits belongs to the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.forms.conditions import Codes
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.queries import parse_query
from gamekeeper.wording import did_you_mean, quoted

_COMBINATIONS = ("union", "intersection", "difference")
GROUP_WAYS = ("forms", "where", *_COMBINATIONS)
"""The ways in which a group can be defined."""
_DEEPEST = 100


@dataclass(frozen=True)
class Group:
    """A named set of forms, defined in one way.

    Attributes
    ----------
    forms
        The forms by hand; in a group that an environment returns, whatever forms it has.
    where
        A query on the metadata of forms, such as ``sector = bank and year >= 2029``.
    union, intersection, difference
        Other groups: the forms in any of them, in all of them, in the first but no other.

    Examples
    --------
    >>> Group("Banks", where="sector = bank").is_live
    True
    """

    name: str
    forms: tuple[str, ...] = ()
    description: str = ""
    where: str = ""
    union: tuple[str, ...] = ()
    intersection: tuple[str, ...] = ()
    difference: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        asked = f"The group {quoted([self.name])} was asked for."
        for name in ("forms", *_COMBINATIONS):
            if isinstance(getattr(self, name), str):
                found = f"Its {name if name == 'forms' else f'{name} of groups'} are one string."
                raise InputError(Reason.BAD_OPTION, asked, found, "Give a list of names.")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        ways = [name for name in ("where", *_COMBINATIONS) if getattr(self, name)]
        if len(ways) > 1:
            found = f"It is defined in {len(ways)} ways: {quoted(ways)}."
            do = "Define it in one way, and combine groups by union, intersection or difference."
            raise InputError(Reason.BAD_OPTION, asked, found, do)

    @property
    def is_live(self) -> bool:
        """Whether its forms follow from a query or from other groups."""
        return bool(self.where or self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The groups that it is made from."""
        return self.union or self.intersection or self.difference

    @property
    def definition(self) -> dict[str, str | tuple[str, ...]]:
        """The one way in which it is defined, by its name."""
        live = {way: getattr(self, way) for way in GROUP_WAYS if way != "forms"}
        return {way: given for way, given in live.items() if given} or {"forms": self.forms}


def ways_given(record: object) -> dict[str, Any]:
    """Return the ways in which a record of plain values defines a group; it should be one."""
    return {way: given for way in GROUP_WAYS if (given := getattr(record, way)) is not None}


def members(
    name: str,
    groups: Mapping[str, Group],
    forms: Mapping[str, Form],
    known: dict[str, tuple[str, ...]] | None = None,
    codes: Codes | None = None,
) -> tuple[str, ...]:
    """Return the forms of a group, in the order of the forms unless they are listed by hand.

    `known` keeps what was worked out already, for the next call; `codes` answers queries on codes.

    Examples
    --------
    >>> forms = {form.name: form for form in (Form("A"), Form("B"), Form("C"))}
    >>> groups = {"ab": Group("ab", ["A", "B"]), "b": Group("b", ["B"])}
    >>> groups["a"] = Group("a", difference=["ab", "b"])
    >>> members("a", groups, forms)
    ('A',)
    """
    known = {} if known is None else known
    if name not in known:
        known[name] = _worked_out(groups[name], groups, forms, known, codes)
    return known[name]


def _worked_out(
    group: Group,
    groups: Mapping[str, Group],
    forms: Mapping[str, Form],
    known: dict[str, tuple[str, ...]],
    codes: Codes | None,
) -> tuple[str, ...]:
    if group.where:
        query = parse_query(group.where)
        return tuple(form.name for form in forms.values() if query.matches(form, codes))
    if not group.parts:
        return group.forms
    first, *others = (set(members(part, groups, forms, known, codes)) for part in group.parts)
    for other in others:
        if group.union:
            first |= other
        elif group.intersection:
            first &= other
        else:
            first -= other
    return tuple(form for form in forms if form in first)


def group_problems(groups: Mapping[str, Group], forms: Mapping[str, Form]) -> list[Problem]:
    """Return what is wrong with groups: unknown names, queries that cannot be read, circles."""
    problems: list[Problem] = []
    for group in groups.values():
        where = f"group {quoted([group.name])}"
        for form in group.forms:
            if form not in forms and not group.is_live:
                found = f"names {quoted([form])}, which is not a form."
                near = did_you_mean(form, forms)
                problems.append(Problem(Reason.UNKNOWN_NAME, where, found, near))
        for part in group.parts:
            if part not in groups:
                found = f"is made from {quoted([part])}, which is not a group."
                near = did_you_mean(part, groups)
                problems.append(Problem(Reason.UNKNOWN_NAME, where, found, near))
        if group.where:
            try:
                parse_query(group.where)
            except InputError as error:
                problems.append(Problem(error.reason, f"{where}, its query", error.found, error.do))
    return problems + _nesting_problems(groups)


def _nesting_problems(groups: Mapping[str, Group]) -> list[Problem]:
    """Return a problem for every group that is made from itself, or of groups nested too deep."""
    left = {
        name: {part for part in group.parts if part in groups} for name, group in groups.items()
    }
    depth = 0
    # Groups whose parts are all settled are settled; what remains in the end goes in circles.
    while settled := [name for name, parts in left.items() if not parts]:
        depth += 1
        if depth > _DEEPEST:
            found = f"is made from groups of groups, more than {_DEEPEST} deep."
            return [
                Problem(Reason.BAD_OPTION, f"group {quoted([name])}", found, "Nest them less.")
                for name in settled
            ]
        for name in settled:
            del left[name]
        gone = set(settled)
        for parts in left.values():
            parts -= gone
    return [
        Problem(
            Reason.BAD_OPTION,
            f"group {quoted([name])}",
            "is made from itself by way of other groups.",
            "Define one of them in another way.",
        )
        for name in left
        if _leads_to(name, name, left)
    ]


def _leads_to(start: str, goal: str, parts: Mapping[str, Iterable[str]]) -> bool:
    waiting, seen = list(parts[start]), set[str]()
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            waiting += parts[name]
    return False
