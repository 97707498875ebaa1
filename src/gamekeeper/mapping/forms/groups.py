"""Groups of forms, listed by hand, found by a query or made from other groups; and queries.

Queries and combinations stay live: a form that is added later and fits belongs to the group. A query
says which forms are meant by their metadata, their names and what they ask for. It compares keys of
the metadata with values, and combines comparisons::

    Form Type = On-line and year >= 2029
    name contains bank or not (Sector in (Retail, 'Oil, gas'))
    has Date of Birth and Fee != none

- `KEY = VALUE`, `!=`, `<`, `<=`, `>`, `>=`, `contains`, and `in` with a list of values in
  parentheses. The key `name` is the form's own name.
- `has VARIABLE`: the form asks for the variable.
- `code of VARIABLE = CODE`, `!=`, `in`, `finer than CODE`, `coarser than CODE`: what it asks for it
  in. Finer and coarser leave the code itself out.
- `category of VARIABLE = CATEGORY`, or `in` with a list: the form offers that very category.
- `not` binds before `and`, and `and` before `or`; parentheses group.
- Names and values may be several words. Those that hold one of the words above, a sign of the
  language or a quote at their start go in quotes ('...' or "..."), with a quote in them doubled.
  The quoted key "name" is the key `name` of the metadata.

Text, keys and variables compare without regard to case, accents and white space. A value without
quotes that is a number compares as a number with numbers, also with those that a form has as
text; only numbers are below or above it. True and false are text. A form that does not have the
key (or has null there) fits no comparison, so not `KEY != VALUE` either; it does fit
`not KEY = VALUE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.forms import conditions
from gamekeeper.mapping.forms.form import Form
from gamekeeper.wording import did_you_mean, folded, quoted


@dataclass(frozen=True, repr=False)
class Query:
    """A condition on forms; make one with `parse_query`.

    Equal queries say the same in the same order: spaces, needless quotes and parentheses and the
    case of `and`, `or` and the like make no difference.
    """

    condition: conditions.Condition

    def __repr__(self) -> str:
        return f"Query({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def matches(self, form: Form, codes: conditions.Codes | None = None) -> bool:
        """Tell whether a form is meant; `codes` answers for the environment that it is in.

        Examples
        --------
        >>> query = parse_query("Type = on-line and not year < 2029")
        >>> query.matches(Form("Bank", metadata={"type": "On-Line", "year": 2030}))
        True
        """
        return self.condition.matches(form, codes)

    @cached_property
    def text(self) -> str:
        """The query in its one way of writing, which reads back as an equal query.

        Examples
        --------
        >>> parse_query("((YEAR  >=2029)) AND 'form type' in('a','b or c')").text
        "YEAR >= 2029 and form type in (a, 'b or c')"
        """
        return _text(self.condition)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the metadata that are compared, as they are written."""
        return frozenset(
            leaf.key.text
            for leaf in _leaves(self.condition)
            if isinstance(leaf, conditions.Comparison) and leaf.key is not None
        )

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that forms are to ask for, as they are written."""
        return frozenset(
            leaf.variable.text
            for leaf in _leaves(self.condition)
            if isinstance(leaf, conditions.Has | conditions.OfVariable)
        )

    @cached_property
    def codes(self) -> frozenset[tuple[conditions.Name, str]]:
        """The codes of variables that are compared with."""
        return self._compared("code")

    @cached_property
    def categories(self) -> frozenset[tuple[conditions.Name, str]]:
        """The categories of variables that are asked for."""
        return self._compared("category")

    def _compared(self, what: str) -> frozenset[tuple[conditions.Name, str]]:
        return frozenset(
            (leaf.variable, value)
            for leaf in _leaves(self.condition)
            if isinstance(leaf, conditions.OfVariable) and leaf.what == what
            for value in leaf.values
        )

    def renamed_variable(self, old: str, new: str) -> Query:
        """Return the query that asks for a variable under its new name.

        Examples
        --------
        >>> parse_query("has age or has Sex").renamed_variable("Age", "Age (years)").text
        "has 'Age (years)' or has Sex"
        """
        return Query(_renamed(self.condition, folded(old), conditions.Name(new)))


def parse_query(text: str) -> Query:
    """Read a query; see the module for the language.

    Examples
    --------
    >>> parse_query("Form Type = On-line and year >= 2029").keys == {"Form Type", "year"}
    True
    >>> parse_query("Form Type = ")
    Traceback (most recent call last):
    gamekeeper.errors.InputError: The query 'Form Type = ' was asked for. At position 13 a value was
    expected; there the query ends. Write a word, a number, or any text in quotes.
    """
    return Query(conditions.parse_condition(text))


def unknown_names(query: Query, forms: Iterable[Form], variables: Iterable[str]) -> list[Problem]:
    """Return a problem for every key that no form has and every variable that is none.

    Examples
    --------
    >>> bank = Form("Bank", metadata={"year": 2029})
    >>> [str(problem) for problem in unknown_names(parse_query("yaer > 2020"), [bank], ["Age"])]
    ["key 'yaer': no form has it. Near to it: 'year'."]
    """
    keys = dict.fromkeys(key for form in forms for key in form.metadata)
    known = list(variables)
    problems = [
        Problem(
            Reason.UNKNOWN_NAME, f"key {quoted([key])}", "no form has it.", did_you_mean(key, keys)
        )
        for key in sorted(query.keys)
        if not conditions.Name(key).among(keys)
    ]
    problems += [
        Problem(
            Reason.UNKNOWN_NAME,
            f"variable {quoted([name])}",
            "there is no such variable.",
            did_you_mean(name, known),
        )
        for name in sorted(query.variables)
        if not conditions.Name(name).among(known)
    ]
    return problems


def _leaves(
    condition: conditions.Condition,
) -> Iterator[conditions.Comparison | conditions.Has | conditions.OfVariable]:
    if isinstance(condition, conditions.Comparison | conditions.Has | conditions.OfVariable):
        yield condition
    else:
        parts = (condition.part,) if isinstance(condition, conditions.Not) else condition.parts
        for part in parts:
            yield from _leaves(part)


def _renamed(
    condition: conditions.Condition, old: str, new: conditions.Name
) -> conditions.Condition:
    match condition:
        case conditions.Comparison():
            return condition
        case conditions.Has(variable) | conditions.OfVariable(variable=variable):
            return replace(condition, variable=new) if folded(variable.text) == old else condition
        case conditions.Not(part):
            return conditions.Not(_renamed(part, old, new))
        case conditions.AllOf(parts) | conditions.AnyOf(parts):
            return replace(condition, parts=tuple(_renamed(part, old, new) for part in parts))


def _text(condition: conditions.Condition) -> str:
    match condition:
        case conditions.Comparison(key, sign, values):
            left = "name" if key is None else _written(key.text, quote=_is_taken(key.text))
            listed = ", ".join(_written(value.text, quote=value.is_text) for value in values)
            return f"{left} {sign} ({listed})" if sign == "in" else f"{left} {sign} {listed}"
        case conditions.Has(variable):
            return f"has {_written(variable.text)}"
        case conditions.OfVariable(what, variable, sign, values):
            told = ", ".join(_written(value) for value in values)
            told = f"({told})" if sign == "in" else told
            # A variable with such a word in its name would end there.
            ends = {"finer", "coarser"}.intersection(variable.text.casefold().split())
            return f"{what} of {_written(variable.text, quote=bool(ends))} {sign} {told}"
        case conditions.Not(part):
            return f"not {_grouped(part, conditions.AllOf, conditions.AnyOf)}"
        case conditions.AllOf(parts):
            return " and ".join(_grouped(part, conditions.AnyOf) for part in parts)
        case conditions.AnyOf(parts):
            return " or ".join(map(_text, parts))


def _is_taken(key: str) -> bool:
    words = folded(key).split()
    return words == ["name"] or words[:2] in (["code", "of"], ["category", "of"])


def _grouped(condition: conditions.Condition, *kinds: type[conditions.Condition]) -> str:
    text = _text(condition)
    return f"({text})" if isinstance(condition, kinds) else text


def _written(text: str, *, quote: bool = False) -> str:
    words = text.split()
    if not quote and words and " ".join(words) == text and all(map(conditions.is_bare, words)):
        return text
    return "'" + text.replace("'", "''") + "'"


_COMBINATIONS = ("union", "intersection", "difference")
GROUP_WAYS = ("forms", "where", *_COMBINATIONS)
"""The ways in which a group can be defined."""
_DEEPEST = 100


@dataclass(frozen=True)
class Group:
    """A named set of forms, defined in one way: by hand, by a query, or from other groups.

    Those are the forms in any of them, in all of them, or in the first but no other. In a group that an
    environment returns, `forms` are whatever forms it has.

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
    codes: conditions.Codes | None = None,
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
    codes: conditions.Codes | None,
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
