"""The files of an environment folder as they are read, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import NO_RULES
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.forms.groups import GROUP_WAYS, ways_given
from gamekeeper.mapping.scenario.document import SCENARIO, scenario_of
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.results import Progress
from gamekeeper.store.forms import FormReader
from gamekeeper.store.layout import SHAPES, content, listed, unreadable
from gamekeeper.store.models import GROUP_FILE, VARIABLE_FILE, EnvironmentFile
from gamekeeper.store.parsing import parse
from gamekeeper.store.variables import problems_of, register_of, variable_of
from gamekeeper.wording import count_of, quoted

_TICK = 256

_Item = TypeVar("_Item", Variable, Form, Group, Scenario)


class Reading:
    """One pass over the files of a folder."""

    def __init__(self, root: Path, progress: Progress | None) -> None:
        self.problems: list[Problem] = []
        self._root = root
        self._progress = progress
        self._done = 0
        self._listed: dict[str, list[str]] = {}
        self._where: dict[str, dict[str, str]] = {kind: {} for kind in SHAPES}
        # What other files may refer to although it could not be read: variables by name, and
        # kinds with files of which not even the names are known.
        self._faulty: set[str] = set()
        self._nameless: set[str] = set()
        for kind in SHAPES:
            before = len(self.problems)
            self._listed[kind] = listed(root, kind, self.problems)
            if len(self.problems) > before:
                self._nameless.add(kind)

    def environment(self, header: EnvironmentFile) -> Environment:
        """Return the environment; there is one only if no problem was added."""
        registers: dict[str, CodeRegister] = {}
        variables = self._variables(registers)
        forms = self._forms()
        groups = self._groups()
        scenarios = self._scenarios()
        self._require("variables", "forms have variables", (f.instances for f in forms.values()))
        self._require("forms", "groups name forms", (g.forms for g in groups.values()))
        judged_forms, judged_groups = _sorted(forms), _sorted(groups)
        if self.problems:
            judged_forms = [self._judged_form(form, variables) for form in judged_forms]
            judged_groups = [self._judged_group(group, forms) for group in judged_groups]
        return Environment(
            _sorted(variables),
            judged_forms,
            judged_groups,
            scenarios=_sorted(scenarios),
            name=header.name,
            description=header.description,
            registers=registers,
            rules=header.rules if not self.problems else NO_RULES,
        )

    def placed(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return problems that the environment found, each with the file that it is in."""
        files: dict[str, str] = {}
        for kind, named in self._where.items():
            for name, file in named.items():
                subject = f"{kind.removesuffix('s')} {quoted([name])}"
                # Long names may be cut to the same; then no file is named rather than a wrong one.
                files[subject] = "" if subject in files else f"{file}, "
        return [
            Problem(
                problem.reason,
                files.get(problem.where.partition(", category ")[0], "") + problem.where,
                problem.found,
                problem.do,
            )
            for problem in problems
        ]

    def _require(self, kind: str, why: str, uses: Iterable[Collection[str]]) -> None:
        """Say once that a folder has no files, in place of all that is then unknown."""
        if self._listed[kind] or kind in self._nameless or not any(uses):
            return
        is_there = (self._root / kind).exists()
        found = f"{'holds no files' if is_there else 'is missing'}, but {why}."
        do = f"Add a file for every {kind.removesuffix('s')}."
        self.problems.append(Problem(Reason.NOT_FOUND, f"folder {kind}", found, do))
        self._nameless.add(kind)

    def _variables(self, registers: dict[str, CodeRegister]) -> dict[str, Variable]:
        variables: dict[str, Variable] = {}
        for where, data in self._files("variables"):
            file = parse(data, where, VARIABLE_FILE, self.problems)
            if file is None:
                self._nameless.add("variables")
                continue
            variable = variable_of(file, where, self.problems)
            if variable is None:
                self._faulty.add(file.name)
            elif self._is_new("variables", variable.name, where):
                variables[variable.name] = variable
                registers[variable.name] = register_of(file, variable, where, self.problems)
        return variables

    def _forms(self) -> dict[str, Form]:
        forms: dict[str, Form] = {}
        reader = FormReader()
        for where, data in self._files("forms"):
            form = reader.read(data, where, self.problems)
            if form is None:
                self._nameless.add("forms")
            elif self._is_new("forms", form.name, where):
                forms[form.name] = form
        return forms

    def _groups(self) -> dict[str, Group]:
        groups: dict[str, Group] = {}
        for where, data in self._files("groups"):
            file = parse(data, where, GROUP_FILE, self.problems)
            if file is None:
                self._nameless.add("groups")
                continue
            if not self._is_new("groups", file.name, where):
                continue
            given = ways_given(file)
            if len(given) != 1 or (not any(given.values()) and "forms" not in given):
                found = f"defines its forms in {count_of(len(given), 'way')}, or by nothing."
                do = f"Give one of {quoted(GROUP_WAYS)}."
                self.problems.append(Problem(Reason.WRONG_SCHEMA, where, found, do))
                self._nameless.add("groups")
                continue
            for way, names in given.items():
                if not isinstance(names, str) and len(set(names)) < len(names):
                    twice = quoted(n for n in dict.fromkeys(names) if names.count(n) > 1)
                    found = f"names more than once {twice}."
                    do = f"Name a {'form' if way == 'forms' else 'group'} once."
                    self.problems.append(Problem(Reason.DUPLICATE, where, found, do))
                    given[way] = list(dict.fromkeys(names))
            groups[file.name] = Group(file.name, description=file.description, **given)
        return groups

    def _scenarios(self) -> dict[str, Scenario]:
        scenarios: dict[str, Scenario] = {}
        for where, data in self._files("scenarios"):
            file = parse(data, where, SCENARIO, self.problems)
            if file is None or not self._is_new("scenarios", file.name, where):
                continue
            try:
                scenarios[file.name] = scenario_of(file)
            except InputError as error:
                self.problems += problems_of(error, where)
        return scenarios

    def _files(self, kind: str) -> Iterator[tuple[str, bytes]]:
        total = sum(map(len, self._listed.values()))
        for where in self._listed[kind]:
            try:
                data = content(self._root, where)
            except OSError as error:
                self.problems.append(unreadable(where, error))
                self._nameless.add(kind)
            else:
                yield where, data
            self._done += 1
            if self._progress is not None and (self._done % _TICK == 0 or self._done == total):
                self._progress(self._done, total)

    def _is_new(self, kind: str, name: str, where: str) -> bool:
        other = self._where[kind].setdefault(name, where)
        if other != where:
            found = f"is named {quoted([name])}, and so is {other}."
            self.problems.append(Problem(Reason.DUPLICATE, where, found, "Rename or remove one."))
        return other == where

    def _judged_form(self, form: Form, variables: Mapping[str, Variable]) -> Form:
        """Return a form without the variables that may be those of a faulty file."""
        unjudged = "variables" in self._nameless
        judged = {
            name: labels
            for name, labels in form.instances.items()
            if name in variables or not (unjudged or name in self._faulty)
        }
        # Questions and universes may name them too; they are judged once the file is right.
        return Form(form.name, judged, form.metadata)

    def _judged_group(self, group: Group, forms: Mapping[str, Form]) -> Group:
        """Return a group without the forms and groups that may be those of a faulty file."""
        if group.parts and "groups" in self._nameless:
            return Group(group.name)
        unjudged = "forms" in self._nameless
        judged = tuple(name for name in group.forms if name in forms or not unjudged)
        return replace(group, forms=judged)


def _sorted(named: Mapping[str, _Item]) -> list[_Item]:
    return [named[name] for name in sorted(named)]
