"""Revisions taken back in memory: for undo and redo, and for the environment as it was.

Documents become exactly what they were, and so do the meanings of codes that existed then. Codes
that were given since are not unlearnt: they are carried over the partition graph of that time, or
retired where they would mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import (
    AddVariable,
    Edit,
    RemoveVariable,
    RenameCategory,
    RenameVariable,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.carrying import carry_codes
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE, CodeRegister
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.database.contents.changes import Change
from gamekeeper.store.database.contents.documents import Document, code_documents, coded_variable
from gamekeeper.store.database.contents.patching import PatchedParts
from gamekeeper.store.database.refusals import Contradiction

CodeAges = Mapping[str, Mapping[str, int]]
"""For every variable the revisions in which its codes were given."""

_Coded = tuple[Variable, CodeRegister]


@dataclass(frozen=True)
class Renames:
    """Names before a revision to names after it, where they differ.

    Attributes
    ----------
    categories
        Those of categories, by the name of their variable before.
    added
        Variables after it that were not there before, under whatever name.

    Examples
    --------
    >>> back = Renames.of([RenameVariable(variable="Age", to="Years")]).inverted()
    >>> back.variables
    {'Years': 'Age'}
    """

    variables: dict[str, str] = field(default_factory=dict[str, str])
    categories: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    added: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, edits: Iterable[Edit]) -> Renames:
        """Return what edits one after the other rename."""
        made = cls()
        for edit in edits:
            match edit:
                case AddVariable():
                    made.added.add(edit.definition.name)
                case RemoveVariable():
                    made.added.discard(edit.variable)
                case RenameVariable() if edit.variable in made.added:
                    made.added.remove(edit.variable)
                    made.added.add(edit.to)
                case RenameVariable():
                    _rename(made.variables, edit.variable, edit.to)
                case RenameCategory() if edit.variable not in made.added:
                    first = _first_name(made.variables, edit.variable)
                    _rename(made.categories.setdefault(first, {}), edit.category, edit.to)
                case _:
                    pass
        return made

    def inverted(self) -> Renames:
        """Return the names after to the names before."""
        return Renames(
            _inverse(self.variables),
            {
                self.variables.get(variable, variable): _inverse(names)
                for variable, names in self.categories.items()
            },
        )


class Step(NamedTuple):
    """A revision to take back."""

    number: int
    changes: list[Change]
    renames: Renames


def reverted(
    environment: Environment,
    registers: Mapping[str, CodeRegister],
    steps: Iterable[Step],
    ages: CodeAges,
) -> Environment:
    """Return the environment without some revisions, which come newest first.

    Parameters
    ----------
    registers
        The codes of the environment, as they are kept.
    ages
        When codes were given, also to variables that are not there now.
    """
    work = _Reverting(environment, registers, ages)
    try:
        for step in steps:
            work.take_back(step)
        return work.environment()
    except (InputError, KeyError, TypeError, ValueError):
        raise Contradiction from None


class _Reverting:
    """An environment on its way back, as what differs from where it started."""

    def __init__(
        self, start: Environment, registers: Mapping[str, CodeRegister], ages: CodeAges
    ) -> None:
        self._start = start
        self._registers = registers
        self._ages = ages
        self._parts = PatchedParts(start)
        self._variables: dict[str, _Coded | None] = {}

    def take_back(self, step: Step) -> None:
        definitions: dict[str, Document] = {}
        codes: dict[str, dict[str, Document]] = {}
        for change in step.changes:
            match change.kind:
                case "variable":
                    definitions[change.name] = change.before
                case "code":
                    codes.setdefault(change.name, {})[change.code] = change.before
                case _:
                    self._parts.patch(change.kind, change.name, change.before)
        earlier: dict[str, _Coded | None] = {}
        for name in definitions.keys() | codes.keys():
            # New codes of a variable that stayed as it was keep their meaning without more ado.
            if name in definitions or any(before is not None for before in codes[name].values()):
                earlier[name] = self._earlier(step, name, definitions, codes.get(name, {}))
        self._variables |= earlier

    def environment(self) -> Environment:
        variables: dict[str, Variable | None] = {}
        registers: dict[str, CodeRegister] = {}
        for name, coded in self._variables.items():
            if coded is not None:
                variables[name], register = coded
                # A name may have been that of another variable since; its codes are not to return.
                lost = {*self._ages.get(name, ())} - {*register, *register.retired, ARBITRARY_CODE}
                registers[name] = _register(register, lost) if lost else register
            elif name in self._start.variables:
                variables[name] = None
        return self._parts.environment(variables, registers)

    def _earlier(
        self,
        step: Step,
        name: str,
        definitions: Mapping[str, Document],
        changed: Mapping[str, Document],
    ) -> _Coded | None:
        """Return a variable and its codes as they were before a step."""
        now = self._coded(name)
        tree = definitions.get(name)
        if name in definitions and tree is None:
            return None
        known: dict[str, Document] = {}
        if now is not None:
            tree = definition_tree(now[0]) if tree is None else tree
            given = self._ages.get(name, {})
            # A code that the step did not change was written before it as it is now.
            known = {
                code: document
                for code, document in code_documents(*now).items()
                if given.get(code, step.number) < step.number
            }
        known |= changed
        made = coded_variable(
            tree, {code: document for code, document in known.items() if document is not None}
        )
        heir = self._coded(step.renames.variables.get(name, name))
        if heir is None:
            return made
        variable, register = made
        names = _inverse(step.renames.categories.get(name, {}))
        return variable, _joined(register, carry_codes(heir[1], heir[0], variable, names))

    def _coded(self, name: str) -> _Coded | None:
        if name in self._variables:
            return self._variables[name]
        variable = self._start.variables.get(name)
        return None if variable is None else (variable, self._registers[name])


def _joined(register: CodeRegister, younger: CodeRegister) -> CodeRegister:
    """Return codes together with younger ones, which yield where they mean the same."""
    entries = [(code, register.meaning(code)) for code in register]
    taken = {(code[0], meaning) for code, meaning in entries}
    lost: set[str] = set()
    for code in younger:
        meaning = younger.meaning(code)
        if code in register or code in register.retired:
            continue
        if (code[0], meaning) in taken:
            lost.add(code)
        else:
            entries.append((code, meaning))
    retired = (register.retired | younger.retired | lost) - {code for code, _ in entries}
    return CodeRegister(entries, retired=retired)


def _register(register: CodeRegister, retired: Iterable[str]) -> CodeRegister:
    entries = [(code, register.meaning(code)) for code in register]
    return CodeRegister(entries, retired=register.retired.union(retired))


def _first_name(renamed: Mapping[str, str], name: str) -> str:
    return next((first for first, now in renamed.items() if now == name), name)


def _rename(renamed: dict[str, str], name: str, to: str) -> None:
    first = _first_name(renamed, name)
    renamed[first] = to
    if first == to:
        del renamed[first]


def _inverse(names: Mapping[str, str]) -> dict[str, str]:
    return {new: old for old, new in names.items()}
