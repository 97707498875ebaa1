"""The data environment: forms, the variables on them, and groups of forms.

A form stands for the data set that it gives rise to. It has free metadata and, for each variable
that it asks for, the categories that it offers (a variable instance). Thousands of forms offer the
same categories again and again, so every distinct selection is worked out once. Everything is
immutable: an environment with one more form is another environment, in which every code means what
it meant, and what does not change is shared between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, ClassVar, TypeVar

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, harmonize, is_finer
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.mapping.environment.rules import NO_RULES, Rules, Scenario, rule_problems
from gamekeeper.mapping.forms.form import Form, universe_problems
from gamekeeper.mapping.forms.groups import Group, group_problems, members
from gamekeeper.mapping.variables.categorization import Categorization, categorize
from gamekeeper.mapping.variables.codes import (
    ARBITRARY_CODE,
    CodeRegister,
    Variable,
    carry_codes,
    clashes,
    name_problems,
)
from gamekeeper.prompt_syntax import MAX_NODES
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, did_you_mean, folded, quoted

if TYPE_CHECKING:
    from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph

__all__ = ["Environment", "Form", "Group"]
_Labels = tuple[str, ...]


class Instances:
    """The selections on all forms, by variable."""

    def __init__(self) -> None:
        # Names as keys: thousands of forms may go at a time, each in no time.
        self._having: dict[str, dict[_Labels, dict[str, None]]] = {}
        self._selections: dict[str, dict[_Labels, Categorization]] = {}
        self._faults: dict[tuple[str, _Labels], tuple[Problem, ...]] = {}

    def of(self, variable: str) -> Sequence[tuple[Categorization, Sequence[str]]]:
        """Return the distinct selections of a variable, each with the forms that make it."""
        selections = self._selections.get(variable, {})
        having = self._having.get(variable, {})
        return [(selections[labels], list(having[labels])) for labels in selections]

    def categorization(self, variable: str, labels: _Labels) -> Categorization:
        """Return what a selection comes to that some form makes."""
        return self._selections[variable][labels]

    def changed(
        self,
        before: Mapping[str, Form],
        after: Mapping[str, Form],
        variables: Mapping[str, Variable],
        recut: Collection[str],
    ) -> Instances:
        """Return the instances once some forms have gone and others have come.

        `recut` are the variables that are new, gone or have another definition.
        """
        made = Instances()
        gone = _told(before, after)
        come = _told(after, before)
        touched = {variable for told in (gone, come) for variable, _, _ in told}
        made._having = dict(self._having)
        for variable in touched:
            having = self._having.get(variable, {})
            made._having[variable] = {labels: dict(names) for labels, names in having.items()}
        for variable, labels, name in gone:
            del made._having[variable][labels][name]
        for variable, labels, name in come:
            made._having[variable].setdefault(labels, {})[name] = None
        for variable in touched:
            having = {labels: names for labels, names in made._having[variable].items() if names}
            made._having[variable] = having
            if not having:
                del made._having[variable]
        made._selections = dict(self._selections)
        for variable in touched.union(recut):
            known = {} if variable in recut else self._selections.get(variable, {})
            made._select(variable, variables.get(variable), known)
        return made

    def problems(
        self, forms: Mapping[str, Form], variables: Mapping[str, Variable]
    ) -> list[Problem]:
        """Return what is wrong with the variables on forms: unknown, or with unknown labels.

        Equal selections are worked out once; their faults are those of every form with them.
        """
        unknown = self._having.keys() - variables.keys()
        if not unknown and not self._faults:
            return []
        # One misspelt name may stand on every form: look for near ones once.
        near = {name: did_you_mean(name, variables) for name in unknown}
        suspects = {
            form
            for variable in unknown.union(variable for variable, _ in self._faults)
            for names in self._having[variable].values()
            for form in names
        }
        return [
            problem
            for name, form in forms.items()
            if name in suspects
            for variable, labels in form.instances.items()
            for problem in _faults_of(
                name, variable, near, self._faults.get((variable, labels), ())
            )
        ]

    def _select(
        self, name: str, variable: Variable | None, known: Mapping[_Labels, Categorization]
    ) -> None:
        selections: dict[_Labels, Categorization] = {}
        if variable is not None:
            for labels in self._having.get(name, {}):
                try:
                    selections[labels] = known.get(labels) or categorize(variable, labels)
                except InputError as error:
                    self._faults[name, labels] = error.problems
        self._selections[name] = selections


def _told(forms: Mapping[str, Form], others: Mapping[str, Form]) -> list[tuple[str, _Labels, str]]:
    """Return what forms say that others of the same names do not: variable, labels, form."""
    told: list[tuple[str, _Labels, str]] = []
    for name, form in forms.items():
        other = others.get(name)
        if other is None:
            told += [(variable, labels, name) for variable, labels in form.instances.items()]
        elif other.instances is not form.instances:
            said = other.instances
            told += [
                (variable, labels, name)
                for variable, labels in form.instances.items()
                if said.get(variable) != labels
            ]
    return told


def changed_variables(before: Mapping[str, Form], after: Mapping[str, Form]) -> set[str]:
    """Return the variables that forms have otherwise than before."""
    return {
        variable for told in (_told(before, after), _told(after, before)) for variable, _, _ in told
    }


def _faults_of(
    form: str, variable: str, near: Mapping[str, str], found: Iterable[Problem]
) -> Iterator[Problem]:
    where = f"form {quoted([form])}"
    if variable in near:
        text = f"has {quoted([variable])}, which is not a variable."
        yield Problem(Reason.UNKNOWN_NAME, where, text, near[variable])
    for fault in found:
        yield Problem(fault.reason, f"{where}, {fault.where}", fault.found, fault.do)


# Up to this many nodes the whole harmonization graph of a variable is numbered at once, so that
# H codes do not depend on what is asked first. Larger graphs are numbered as their nodes are met.
_NUMBERED_AT_ONCE = 2_000
# Pages that look at groups take no turn, and a group may ask for codes: these are given by one at a
# time all the same.
_GIVING = RLock()
_Named = TypeVar("_Named", Variable, Form, Group, Scenario)


class Environment:
    """Forms, variables, groups and codes that belong together.

    Codes are given to categorizations in the order of the forms; `registers` has those that were given
    earlier, per variable. Scenarios are what was concluded from analyses, for later stages; rules are
    what holds for the environment as a whole: declared metadata, impossible combinations.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> Environment([age], [bank]).code_of("Bank", "Age")
    'C3.001'
    """

    MADE_BY: ClassVar[str] = (
        "gk.read_environment(folder), or of a store gk.EnvironmentStore.open(path)"
    )

    def __init__(
        self,
        variables: Iterable[Variable],
        forms: Iterable[Form] = (),
        groups: Iterable[Group] = (),
        *,
        scenarios: Iterable[Scenario] = (),
        name: str = "environment",
        description: str = "",
        registers: Mapping[str, CodeRegister] | None = None,
        rules: Rules = NO_RULES,
    ) -> None:
        self.name = name
        self.description = description
        self.variables: dict[str, Variable] = {}
        self.forms: dict[str, Form] = {}
        self.groups: dict[str, Group] = {}
        self.scenarios: dict[str, Scenario] = {}
        self.rules = NO_RULES
        self._instances = Instances()
        self._registers: dict[str, CodeRegister] = {}
        self._numbered: set[str] = set()
        self._members: dict[str, tuple[str, ...]] = {}
        problems = name_problems("environment", [name])
        problems += self._take(
            _by_name("variable", variables, problems),
            _by_name("form", forms, problems),
            _by_name("group", groups, problems),
            _by_name("scenario", scenarios, problems),
            registers or {},
            rules,
        )
        self._require_sound(problems)

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
        """Return a group by its name, with the forms that it has now."""
        group = _found("group", name, self.groups)
        if not group.is_live:
            return group
        forms = members(name, self.groups, self.forms, self._members, self)
        return replace(group, forms=forms)

    def scenario(self, name: str) -> Scenario:
        """Return a scenario by its name."""
        return _found("scenario", name, self.scenarios)

    def with_form(self, form: Form) -> Environment:
        """Return the environment with one more form, or with a form of that name replaced."""
        return self.changed(forms={form.name: form})

    def changed(
        self,
        *,
        variables: Mapping[str, Variable | None] | None = None,
        forms: Mapping[str, Form | None] | None = None,
        groups: Mapping[str, Group | None] | None = None,
        scenarios: Mapping[str, Scenario | None] | None = None,
        registers: Mapping[str, CodeRegister] | None = None,
        name: str | None = None,
        description: str | None = None,
        rules: Rules | None = None,
    ) -> Environment:
        """Return the environment with some parts added, replaced or, by None, removed.

        Everything happens at once, so a variable and the forms that have it may change together.
        What stays the same is shared, and only what changes is checked. Codes keep their meaning:
        those of a variable with another partition graph are carried over it, unless `registers`
        has them.

        Examples
        --------
        >>> age = Variable.of_bands("Age", ["0-15", "16+"])
        >>> before = Environment([age], [Form("Bank", {"Age": ["0-15", "16+"]})])
        >>> before.changed(forms={"Bank": None, "Shop": Form("Shop", {"Age": []})})
        Environment('environment', 1 forms, 1 variables, 0 groups)
        """
        variables, forms, groups = variables or {}, forms or {}, groups or {}
        before = {name: self.forms[name] for name in forms if name in self.forms}
        after = {name: form for name, form in forms.items() if form is not None}
        touched = changed_variables(before, after)
        # Harmonizations of variables that change are numbered now, so that their codes stay.
        for variable in self.variables.keys() & (touched | variables.keys()):
            self.register(variable)
        made = copy(self)
        made.name = self.name if name is None else name
        made.description = self.description if description is None else description
        problems = name_problems("environment", [made.name])
        made._numbered = self._numbered.difference(variables, registers or ())
        made._members = {}
        problems += made._take(variables, forms, groups, scenarios or {}, registers or {}, rules)
        # Where no categorization is new, no harmonization is.
        made._numbered = {
            name
            for name in made._numbered
            if name not in touched or made._registers.get(name) is self._registers.get(name)
        }
        made._require_sound(problems)
        return made

    def categorization(self, form: str, variable: str) -> Categorization:
        """Return the categorization of a variable on a form that has it."""
        asking = self.form(form)
        self.variable(variable)
        return self._instances.categorization(variable, asking.labels(variable))

    def instances(self, variable: str) -> Sequence[tuple[Categorization, Sequence[str]]]:
        """Return the distinct selections of a variable, each with the forms that make it."""
        self.variable(variable)
        return self._instances.of(variable)

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
        # Imported here: few commands need the graph.
        from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph

        return HarmonizationGraph.of(observed, max_nodes=max_nodes, progress=progress)

    def register(self, variable: str) -> CodeRegister:
        """Return the codes of a variable given so far, harmonizations among them."""
        self.variable(variable)
        with _GIVING:
            if variable not in self._numbered:
                try:
                    graph = self.harmonization_graph(variable, max_nodes=_NUMBERED_AT_ONCE)
                except LimitError:
                    pass
                else:
                    self._number(variable, graph.nodes)
                # Only now: whoever asks meanwhile would find no codes.
                self._numbered.add(variable)
            return self._registers[variable]

    def given_codes(self, variable: str) -> CodeRegister:
        """Return the codes of a variable given so far, without giving any more."""
        self.variable(variable)
        return self._registers[variable]

    def code(self, variable: str, categorization: Partition | Arbitrary) -> str:
        """Return the code of a categorization or harmonization, giving it one if need be."""
        return self.codes(variable, [categorization])[0]

    def codes(
        self, variable: str, categorizations: Sequence[Partition | Arbitrary]
    ) -> tuple[str, ...]:
        """Return the codes of many categorizations; those without one are numbered together."""
        with _GIVING:
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

    def compares(self, form: Form, variable: str, sign: str, code: str) -> bool:
        """Tell whether the code of a variable on a form compares so with another, for queries.

        The signs are =, !=, finer than and coarser than; the last two leave the code itself out.
        """
        if variable not in self.variables:
            return False
        own = self._instances.categorization(variable, form.instances[variable]).partition
        register = self._registers[variable]
        if code not in register:
            # A code of a harmonization may not have been given yet.
            register = self.register(variable)
        if own is None or code not in register:
            return False
        meant = register.meaning(code)
        if sign in ("=", "!="):
            return (own == meant) == (sign == "=")
        fine, coarse = (own, meant) if sign == "finer than" else (meant, own)
        return own != meant and is_finer(fine, coarse)

    def offers(self, form: Form, variable: str, category: str) -> bool:
        """Tell whether a form offers a category of a variable, for queries."""
        if variable not in self.variables:
            return False
        meant = self.variables[variable].resolve(category)
        selected = self._instances.categorization(variable, form.instances[variable])
        return meant is not None and meant in selected.categories

    @property
    def n_instances(self) -> int:
        """The number of variable instances on all forms."""
        return sum(len(form.instances) for form in self.forms.values())

    def _number(self, variable: str, nodes: Iterable[Partition | Arbitrary]) -> None:
        harmonizations = sorted(
            (node for node in nodes if isinstance(node, Partition)),
            key=lambda node: (-node.n_blocks, node.labels.tolist()),
        )
        self._registers[variable] = self._registers[variable].with_harmonizations(harmonizations)

    def _take(
        self,
        variables: Mapping[str, Variable | None],
        forms: Mapping[str, Form | None],
        groups: Mapping[str, Group | None],
        scenarios: Mapping[str, Scenario | None],
        registers: Mapping[str, CodeRegister],
        rules: Rules | None,
    ) -> list[Problem]:
        """Put parts in their places and return what is wrong then.

        Dictionaries that other environments share are replaced, never changed.
        """
        old_variables, old_forms = self.variables, self.forms
        problems: list[Problem] = []
        self.variables = _updated("variable", self.variables, variables, problems)
        self.forms = _updated("form", self.forms, forms, problems)
        self.groups = _updated("group", self.groups, groups, problems)
        self.scenarios = _updated("scenario", self.scenarios, scenarios, problems)
        before = {name: old_forms[name] for name in forms if name in old_forms}
        after = {name: form for name, form in forms.items() if form is not None}
        recut = {
            name for name, variable in variables.items() if old_variables.get(name) is not variable
        }
        self._instances = self._instances.changed(before, after, self.variables, recut)
        problems += self._instances.problems(self.forms, self.variables)
        problems += universe_problems(
            self.forms.values() if recut else after.values(), self.variables
        )
        if rules is not None or recut:
            self.rules = self.rules if rules is None else rules
            problems += rule_problems(self.rules, self.variables)
        self._registers = dict(self._registers)
        for name in recut.union(registers, changed_variables(before, after)):
            self._enter(name, old_variables.get(name), registers)
        if groups or old_forms.keys() != self.forms.keys():
            problems += group_problems(self.groups, self.forms)
        return problems

    def _enter(
        self, name: str, before: Variable | None, registers: Mapping[str, CodeRegister]
    ) -> None:
        variable = self.variables.get(name)
        if variable is None:
            self._registers.pop(name, None)
            return
        register = registers.get(name)
        if register is None:
            register = self._registers.get(name, CodeRegister())
            if before is not None and before.graph.sinks != variable.graph.sinks:
                register = carry_codes(register, before, variable, {})
        self._registers[name] = register.with_observed(
            categorization.partition
            for categorization, _ in self._instances.of(name)
            if categorization.partition is not None
        )

    def _require_sound(self, problems: Sequence[Problem]) -> None:
        asked = f"The environment {quoted([self.name])} was asked for."
        refuse(problems, asked, f"It has {count_of(len(problems), 'fault')}.")


def _by_name(kind: str, items: Iterable[_Named], problems: list[Problem]) -> dict[str, _Named]:
    named: dict[str, _Named] = {}
    for item in items:
        if item.name in named:
            where = f"{kind} {quoted([item.name])}"
            found = "is there twice."
            problems.append(Problem(Reason.DUPLICATE, where, found, "Leave one out or rename it."))
        named[item.name] = item
    return named


def _updated(
    kind: str,
    items: dict[str, _Named],
    changes: Mapping[str, _Named | None],
    problems: list[Problem],
) -> dict[str, _Named]:
    """Return items with changes made, after adding what is wrong with the names of new ones."""
    if not changes:
        return items
    new = [name for name, item in changes.items() if item is not None and name not in items]
    updated = dict(items)
    for name, item in changes.items():
        if item is not None:
            updated[name] = item
            if item.name != name:
                where = f"{kind} {quoted([item.name])}"
                found = f"was to be entered as {quoted([name])}."
                do = "Give each under its own name."
                problems.append(Problem(Reason.BAD_NAME, where, found, do))
        elif updated.pop(name, None) is None:
            where = f"{kind} {quoted([name])}"
            found = "is to be removed, and is not there."
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, did_you_mean(name, items)))
    if new:
        problems += name_problems(kind, new)
        fresh = set(new)
        known = {folded(name): name for name in updated if name not in fresh}
        problems += clashes(kind, new, known)
    return updated


def _found(kind: str, name: str, known: Mapping[str, _Named]) -> _Named:
    try:
        return known[name]
    except KeyError:
        asked = f"The {kind} {quoted([name])} was asked for."
        found = f"The environment has no such {kind}."
        raise InputError(Reason.UNKNOWN_NAME, asked, found, did_you_mean(name, known)) from None
