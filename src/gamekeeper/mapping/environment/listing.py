"""What an environment holds, as lists: forms, variables and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.queries import Query, parse_query, unknown_names
from gamekeeper.mapping.variables.codes import code_order
from gamekeeper.mapping.variables.variable import RESERVED
from gamekeeper.results import EVERYTHING, Cell, Listing, Page, make_listing
from gamekeeper.wording import count_of, did_you_mean, folded, quoted


def find_forms(environment: Environment, where: str) -> tuple[Form, ...]:
    """Return the forms that a query finds.

    Examples
    --------
    >>> forms = [Form("Bank", metadata={"year": 2030}), Form("Shop", metadata={"year": 2031})]
    >>> [form.name for form in find_forms(Environment([], forms), "year > 2030")]
    ['Shop']
    """
    query = parse_query(where)
    forms = environment.forms.values()
    problems = unknown_in_query(environment, query)
    refuse(
        problems,
        "Forms were asked for by a query.",
        f"It names {count_of(len(problems), 'thing')} that no form has.",
    )
    return tuple(form for form in forms if query.matches(form, environment))


def unknown_in_query(environment: Environment, query: Query) -> list[Problem]:
    """Return a problem for every key, variable, code and category of a query that is not known.

    Examples
    --------
    >>> from gamekeeper.mapping.variables.variable import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> known = Environment([age], [Form("Bank", {"Age": ("0-15", "16+")})])
    >>> [str(p) for p in unknown_in_query(known, parse_query("code of Age finer than C9.001"))]
    ["code 'C9.001' of 'Age': is not known. Near to it: 'C2.001'."]
    """
    problems = unknown_names(query, environment.forms.values(), environment.variables)
    for asked, code in sorted(query.codes, key=lambda pair: (pair[0].text, pair[1])):
        for name in asked.among(environment.variables):
            codes = sorted(environment.register(name), key=code_order)
            if code not in codes:
                problems.append(_unknown(f"code {quoted([code])} of {quoted([name])}", code, codes))
    for asked, label in sorted(query.categories, key=lambda pair: (pair[0].text, pair[1])):
        for name in asked.among(environment.variables):
            variable = environment.variable(name)
            if label not in RESERVED and variable.resolve(label) is None:
                known = variable.graph.categories
                what = f"category {quoted([label])} of {quoted([name])}"
                problems.append(_unknown(what, label, known))
    return problems


def _unknown(what: str, name: str, known: Iterable[str]) -> Problem:
    return Problem(Reason.UNKNOWN_NAME, what, "is not known.", did_you_mean(name, list(known)))


def list_forms(
    environment: Environment, *, where: str = "", group: str = "", page: Page = EVERYTHING
) -> Listing:
    """List forms with their metadata, the keys that most forms have first.

    Only those are listed that a query finds, and that a group has, where these are given.

    Examples
    --------
    >>> forms = [Form("Bank", metadata={"year": 2030}), Form("Shop", metadata={"year": 2031})]
    >>> list_forms(Environment([], forms), page=Page(sort="year", descending=True)).rows
    (('Shop', 0, 2031), ('Bank', 0, 2030))
    """
    forms = _chosen(environment, where, group)
    counts = Counter(key for form in forms for key in form.metadata)
    keys = sorted(counts, key=lambda key: (-counts[key], key))
    # A key may have the name of a column of ours; then it is told apart.
    ours = ("form", "variables")
    columns = [*ours, *(f"{k} (metadata)" if k.casefold() in ours else k for k in keys)]
    rows = [
        (form.name, len(form.instances), *(form.metadata.get(key) for key in keys))
        for form in forms
    ]
    return make_listing("forms", columns, rows, page)


def _chosen(environment: Environment, where: str, group: str) -> tuple[Form, ...]:
    forms = find_forms(environment, where) if where else tuple(environment.forms.values())
    if not group:
        return forms
    inside = set(environment.group(group).forms)
    return tuple(form for form in forms if form.name in inside)


def list_grid(
    environment: Environment,
    *,
    where: str = "",
    group: str = "",
    variables: Sequence[str] = (),
    page: Page = EVERYTHING,
) -> Listing:
    """List forms by variables, with the code of each in the cells.

    A cell is empty where a form does not ask, and a question mark where its categorization is not
    valid. By default all variables that some of the forms ask for have a column.

    Examples
    --------
    >>> from gamekeeper.mapping.variables.variable import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> forms = [Form("Bank", {"Age": ("0-15", "16+")}), Form("Shop")]
    >>> list_grid(Environment([age], forms)).rows
    (('Bank', 'C2.001'), ('Shop', None))
    """
    forms = _chosen(environment, where, group)
    for name in variables:
        environment.variable(name)
    asked = {name for form in forms for name in form.instances}
    columns = list(variables) or [name for name in environment.variables if name in asked]
    codes: dict[tuple[str, tuple[str, ...]], str] = {}

    def cell(form: Form, variable: str) -> str | None:
        if variable not in form.instances:
            return None
        key = variable, form.instances[variable]
        if key not in codes:
            codes[key] = environment.code_of(form.name, variable) or "?"
        return codes[key]

    rows = [(form.name, *(cell(form, name) for name in columns)) for form in forms]
    return make_listing("forms", ("form", *columns), rows, page)


def list_variables(
    environment: Environment, *, matching: str = "", page: Page = EVERYTHING
) -> Listing:
    """List variables: scale, categories, how many forms ask for them, and in how many codes.

    `matching` is a part of the name, in whatever case.
    """
    columns = ("variable", "scale", "categories", "sinks", "forms", "codes", "description")
    rows: list[tuple[Cell, ...]] = []
    for name, variable in environment.variables.items():
        if folded(matching) not in folded(name):
            continue
        rows.append((*variable_counts(environment, name).values(), variable.description))
    return make_listing("variables", columns, rows, page)


def variable_counts(environment: Environment, name: str) -> dict[str, str | int]:
    """Return what a variable is, how many forms ask for it, and in how many codes."""
    variable, instances = environment.variable(name), environment.instances(name)
    return {
        "variable": name,
        "scale": variable.scale.value,
        "categories": len(variable.graph.categories),
        "sinks": len(variable.graph.sinks),
        "forms": sum(len(forms) for _, forms in instances),
        "codes": len({item.partition for item, _ in instances} - {None}),
    }


def list_groups(
    environment: Environment, *, matching: str = "", page: Page = EVERYTHING
) -> Listing:
    """List groups: how many forms each has now, and how it is defined."""
    rows: list[tuple[Cell, ...]] = []
    for name, group in environment.groups.items():
        if folded(matching) not in folded(name):
            continue
        ((way, given),) = group.definition.items()
        told = given if isinstance(given, str) else f"({'; '.join(given)})"
        how = "by hand" if way == "forms" else f"{way} {told}"
        rows.append((name, len(environment.group(name).forms), how, group.description))
    return make_listing("groups", ("group", "forms", "defined", "description"), rows, page)
