"""The data environment: forms, the variables on them, and groups of forms.

A form stands for the data set that it gives rise to. It has free metadata and, for each variable
that it asks for, the categories that it offers (a variable instance). Everything is immutable:
an environment with one more form is another environment, in which every code means what it meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from gamekeeper.algorithms.harmonization import MAX_NODES, HarmonizationGraph
from gamekeeper.algorithms.partitions import Arbitrary, Partition, harmonize
from gamekeeper.errors import (
    InputError,
    LimitError,
    Problem,
    Reason,
    count_of,
    did_you_mean,
    quoted,
)
from gamekeeper.mapping.categorization import Categorization, categorize
from gamekeeper.mapping.codes import ARBITRARY_CODE, CodeRegister
from gamekeeper.mapping.variable import Variable, name_problems
from gamekeeper.results import Progress

__all__ = ["Environment", "Form", "Group"]

# Up to this many nodes the whole harmonization graph of a variable is numbered at once, so that
# H codes do not depend on what is asked first. Larger graphs are numbered as their nodes are met.
_NUMBERED_AT_ONCE = 2_000

Metadata = str | int | float | bool | None


@dataclass(frozen=True)
class Form:
    """A form: its name, its metadata, and per variable the labels of the categories it offers.

    An empty list of labels means that the form takes any level of detail.
    """

    name: str
    instances: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    metadata: Mapping[str, Metadata] = field(default_factory=dict[str, Metadata])

    def __post_init__(self) -> None:
        # Lists are at hand in notebooks and files; selections are compared and must not change.
        taken = dict(self.instances)
        listed = [variable for variable, labels in taken.items() if type(labels) is not tuple]
        if bare := [variable for variable in listed if isinstance(taken[variable], str)]:
            raise InputError(
                Reason.BAD_OPTION,
                f"The form {quoted([self.name])} was asked for.",
                f"Its labels are one string for {quoted(bare)}.",
                "Give a list of labels for every variable.",
            )
        taken.update((variable, tuple(taken[variable])) for variable in listed)
        object.__setattr__(self, "instances", taken)


@dataclass(frozen=True)
class Group:
    """A named set of forms."""

    name: str
    forms: tuple[str, ...]
    description: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.forms, str):
            raise InputError(
                Reason.BAD_OPTION,
                f"The group {quoted([self.name])} was asked for.",
                "Its forms are one string.",
                "Give a list of the names of forms.",
            )
        object.__setattr__(self, "forms", tuple(self.forms))


_Named = TypeVar("_Named", Variable, Form, Group)


class Environment:
    """Forms, variables, groups and codes that belong together.

    Parameters
    ----------
    variables, forms, groups
        The parts. Codes are given to categorizations in the order of the forms.
    registers
        Codes that were given earlier, per variable.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> Environment([age], [bank]).code_of("Bank", "Age")
    'C3.001'
    """

    def __init__(
        self,
        variables: Iterable[Variable],
        forms: Iterable[Form] = (),
        groups: Iterable[Group] = (),
        *,
        name: str = "environment",
        description: str = "",
        registers: Mapping[str, CodeRegister] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        problems = name_problems("environment", [name])
        self.variables = _by_name("variable", variables, problems)
        self.forms = _by_name("form", forms, problems)
        self.groups = _by_name("group", groups, problems)
        self._selections: dict[str, dict[tuple[str, ...], Categorization]] = {}
        self._having: dict[str, dict[tuple[str, ...], list[str]]] = {v: {} for v in self.variables}
        problems += self._instance_problems()
        problems += self._group_problems()
        if problems:
            raise InputError(
                problems[0].reason,
                f"The environment {quoted([name])} was asked for.",
                f"It has {count_of(len(problems), 'fault')}.",
                problems=problems,
            )
        given = registers or {}
        self._registers = {
            variable: given.get(variable, CodeRegister()).with_observed(
                categorization.partition
                for categorization in self._selections.get(variable, {}).values()
                if categorization.partition is not None
            )
            for variable in self.variables
        }
        self._numbered: set[str] = set()

    def __repr__(self) -> str:
        return (
            f"Environment({quoted([self.name])}, {len(self.forms)} forms,"
            f" {len(self.variables)} variables, {len(self.groups)} groups)"
        )

    def variable(self, name: str) -> Variable:
        """Return a variable by its name."""
        return _found("variable", name, self.variables)

    def form(self, name: str) -> Form:
        """Return a form by its name."""
        return _found("form", name, self.forms)

    def group(self, name: str) -> Group:
        """Return a group by its name."""
        return _found("group", name, self.groups)

    def with_form(self, form: Form) -> Environment:
        """Return the environment with one more form, or with a form of that name replaced."""
        forms = {**self.forms, form.name: form}
        # Harmonizations of variables that change are numbered now, so that their codes stay.
        before = self.forms.get(form.name, form)
        for variable in self.variables.keys() & {*form.instances, *before.instances}:
            self.register(variable)
        return Environment(
            self.variables.values(),
            forms.values(),
            self.groups.values(),
            name=self.name,
            description=self.description,
            registers=self._registers,
        )

    def categorization(self, form: str, variable: str) -> Categorization:
        """Return the categorization of a variable on a form that has it."""
        instances = self.form(form).instances
        self.variable(variable)
        if variable not in instances:
            raise InputError(
                Reason.NOT_FOUND,
                f"The variable {quoted([variable])} of the form {quoted([form])} was asked for.",
                "The form does not have it.",
                did_you_mean(variable, instances),
            )
        return self._selections[variable][instances[variable]]

    def instances(self, variable: str) -> Sequence[tuple[Categorization, Sequence[str]]]:
        """Return the distinct selections of a variable, each with the forms that make it."""
        self.variable(variable)
        selections = self._selections.get(variable, {})
        return [(selections[labels], forms) for labels, forms in self._having[variable].items()]

    def faulty_instances(self, variable: str) -> Mapping[str, str]:
        """Return the forms whose categorization of a variable is not valid, with the reasons."""
        return {
            form: categorization.fault
            for categorization, forms in self.instances(variable)
            if not categorization.is_valid
            for form in forms
        }

    def harmonization_graph(
        self, variable: str, *, max_nodes: int = MAX_NODES, progress: Progress | None = None
    ) -> HarmonizationGraph:
        """Return the harmonization graph of all valid categorizations of a variable."""
        observed = [
            categorization.partition
            for categorization, _ in self.instances(variable)
            if categorization.partition is not None
        ]
        return HarmonizationGraph.of(observed, max_nodes=max_nodes, progress=progress)

    def register(self, variable: str) -> CodeRegister:
        """Return the codes of a variable given so far, harmonizations among them."""
        self.variable(variable)
        if variable not in self._numbered:
            self._numbered.add(variable)
            try:
                graph = self.harmonization_graph(variable, max_nodes=_NUMBERED_AT_ONCE)
            except LimitError:
                return self._registers[variable]
            self._number(variable, graph.nodes)
        return self._registers[variable]

    def code(self, variable: str, categorization: Partition | Arbitrary) -> str:
        """Return the code of a categorization or harmonization, giving it one if need be."""
        return self.codes(variable, [categorization])[0]

    def codes(
        self, variable: str, categorizations: Sequence[Partition | Arbitrary]
    ) -> tuple[str, ...]:
        """Return the codes of many categorizations; those without one are numbered together."""
        register = self.register(variable)
        if any(register.code(each) is None for each in categorizations):
            self._number(variable, categorizations)
            register = self._registers[variable]
        return tuple(register.code(each) or ARBITRARY_CODE for each in categorizations)

    def code_of(self, form: str, variable: str) -> str | None:
        """Return the code of a variable on a form, None where its categorization is not valid."""
        partition = self.categorization(form, variable).partition
        return None if partition is None else self.code(variable, partition)

    def harmonize_codes(self, variable: str, codes: Iterable[str]) -> str:
        """Return the code of the harmonization of some codes of a variable."""
        register = self.register(variable)
        return self.code(variable, harmonize(register.meaning(code) for code in codes))

    @cached_property
    def n_instances(self) -> int:
        """The number of variable instances on all forms."""
        return sum(len(form.instances) for form in self.forms.values())

    def _number(self, variable: str, nodes: Iterable[Partition | Arbitrary]) -> None:
        harmonizations = sorted(
            (node for node in nodes if isinstance(node, Partition)),
            key=lambda node: (-node.n_blocks, node.labels.tolist()),
        )
        self._registers[variable] = self._registers[variable].with_harmonizations(harmonizations)

    def _instance_problems(self) -> list[Problem]:
        unknown: set[str] = set()
        for form in self.forms.values():
            for name, labels in form.instances.items():
                having = self._having.get(name)
                if having is None:
                    unknown.add(name)
                elif (forms := having.get(labels)) is None:
                    having[labels] = [form.name]
                else:
                    forms.append(form.name)
        # Equal selections are worked out once; their faults are those of every form that has them.
        faults = {
            (variable, labels): found
            for variable, selections in self._having.items()
            for labels in selections
            if (found := self._first_seen(variable, labels))
        }
        if not unknown and not faults:
            return []
        # One misspelt name may stand on every form: look for near ones once.
        near = {name: did_you_mean(name, self.variables) for name in unknown}
        return [
            problem
            for form in self.forms.values()
            for name, labels in form.instances.items()
            for problem in _faults_of(form.name, name, near, faults.get((name, labels), ()))
        ]

    def _first_seen(self, variable: str, labels: tuple[str, ...]) -> tuple[Problem, ...]:
        try:
            categorization = categorize(self.variables[variable], labels)
        except InputError as error:
            return error.problems
        self._selections.setdefault(variable, {})[labels] = categorization
        return ()

    def _group_problems(self) -> list[Problem]:
        return [
            Problem(
                Reason.UNKNOWN_NAME,
                f"group {quoted([group.name])}",
                f"names {quoted([form])}, which is not a form.",
                did_you_mean(form, self.forms),
            )
            for group in self.groups.values()
            for form in group.forms
            if form not in self.forms
        ]


def _faults_of(
    form: str, variable: str, near: Mapping[str, str], found: Iterable[Problem]
) -> Iterator[Problem]:
    where = f"form {quoted([form])}"
    if variable in near:
        text = f"has {quoted([variable])}, which is not a variable."
        yield Problem(Reason.UNKNOWN_NAME, where, text, near[variable])
    for fault in found:
        yield Problem(fault.reason, f"{where}, {fault.where}", fault.found, fault.do)


def _by_name(kind: str, items: Iterable[_Named], problems: list[Problem]) -> dict[str, _Named]:
    named: dict[str, _Named] = {}
    for item in items:
        if item.name in named:
            problems.append(
                Problem(
                    Reason.DUPLICATE,
                    f"{kind} {quoted([item.name])}",
                    "is there twice.",
                    "Leave one out or rename it.",
                )
            )
        named[item.name] = item
    problems += name_problems(kind, named)
    return named


def _found(kind: str, name: str, known: Mapping[str, _Named]) -> _Named:
    try:
        return known[name]
    except KeyError:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The {kind} {quoted([name])} was asked for.",
            f"The environment has no such {kind}.",
            did_you_mean(name, known),
        ) from None
