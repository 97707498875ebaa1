"""Codes that keep their meaning while revisions are taken back, environments replaced, codes saved.

For undo, for redo and for the environment as it was, revisions are taken back in memory. Documents
become exactly what they were, and so do the meanings of codes that existed then. Codes given since
are not unlearnt: they are carried over the partition graph of that time, or retired where they would
mean nothing. A code never changes its meaning, and none is given twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sqlalchemy import Connection, update

from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.mapping.edits import (
    AddVariable,
    Edit,
    RemoveVariable,
    RenameCategory,
    RenameVariable,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE, CodeRegister, Variable, carry_codes
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.store.database import engines as tables
from gamekeeper.store.database import loading
from gamekeeper.store.database.changes import Change, PatchedParts, write
from gamekeeper.store.database.words import Contradiction
from gamekeeper.wording import quoted

CodeAges = Mapping[str, Mapping[str, int]]
"""For every variable the revisions in which its codes were given."""

_Coded = tuple[Variable, CodeRegister]


@dataclass(frozen=True)
class Renames:
    """Names before a revision to names after it, where they differ.

    `categories` goes by the name of their variable before; `added` has variables after it that were
    not there before, under whatever name.

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

    `registers` has its codes as they are kept, `ages` when codes were given, also to variables that are
    not there now.
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
        definitions: dict[str, loading.Document] = {}
        codes: dict[str, dict[str, loading.Document]] = {}
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
        definitions: Mapping[str, loading.Document],
        changed: Mapping[str, loading.Document],
    ) -> _Coded | None:
        now = self._coded(name)
        tree = definitions.get(name)
        if name in definitions and tree is None:
            return None
        known: dict[str, loading.Document] = {}
        if now is not None:
            tree = definition_tree(now[0]) if tree is None else tree
            given = self._ages.get(name, {})
            # A code that the step did not change was written before it as it is now.
            known = {
                code: document
                for code, document in loading.code_documents(*now).items()
                if given.get(code, step.number) < step.number
            }
        known |= changed
        made = loading.coded_variable(
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


def without_spent(
    connection: Connection, state: loading.State, after: Environment, renames: Renames
) -> Environment:
    """Return an environment in which no variable has codes that its name had before.

    Variables that only come under another name keep the codes that they have.
    """
    keeping = set(renames.variables.values())
    new = renames.added | keeping | (after.variables.keys() - state.environment.variables.keys())
    there = [name for name in new if name in after.variables]
    registers = {
        name: _beyond(after.register(name), set(codes) - {ARBITRARY_CODE}, name in keeping)
        for name, codes in loading.code_ages(connection, there).items()
        if codes
    }
    return _with_registers(after, registers)


def merged(state: loading.State, given: Environment) -> tuple[Environment, tuple[str, ...]]:
    """Return an environment from elsewhere with the codes of a store, and what to say about it.

    Codes of the store keep their meaning. Codes of the environment that mean something else here
    are given anew.
    """
    registers: dict[str, CodeRegister] = {}
    notes: list[str] = []
    for name, variable in given.variables.items():
        before, theirs = state.environment.variables.get(name), given.register(name)
        if before is None:
            continue
        ours = carry_codes(state.registers[name], before, variable, {})
        registers[name], anew = _merged(ours, theirs)
        if anew:
            notes.append(
                f"Codes of {quoted([name])} in the environment given mean something else in the"
                f" store, and were given anew: {quoted(anew)}."
            )
    return _with_registers(given, registers), tuple(notes)


def new_codes(state: loading.State, environment: Environment, asked: str) -> list[Change]:
    """Return the codes of an environment that a store has not yet, if they fit.

    Raises
    ------
    StoreError
        If variables with new codes have changed since, or the store has other meanings for them.
    """
    changes: list[Change] = []
    problems: list[Problem] = []
    for name, variable in environment.variables.items():
        theirs, ours = environment.given_codes(name), state.registers.get(name, CodeRegister())
        there = state.environment.variables.get(name)
        same_graph = there is not None and there.graph == variable.graph
        given = [code for code in theirs if code not in ours]
        other = [code for code in theirs if code in ours] if same_graph else []
        other = [code for code in other if ours.meaning(code) != theirs.meaning(code)]
        other += [
            code
            for code in given
            if code in ours.retired or (ours.code(theirs.meaning(code)) or " ")[0] == code[0]
        ]
        where = f"variable {quoted([name])}"
        if given and not same_graph:
            found = "was changed since the environment was read."
            problems.append(Problem(Reason.STALE, where, found))
        elif other:
            found = (
                f"has codes that others have given meanings of their own since: {quoted(other)}."
            )
            problems.append(Problem(Reason.STALE, where, found))
        else:
            new = CodeRegister((code, theirs.meaning(code)) for code in given)
            documents = loading.code_documents(variable, new)
            changes += [Change("code", name, None, documents[code], code) for code in given]
    if problems:
        found = "What they are codes of has changed in the store. Nothing was saved."
        do = "Read the environment again, and repeat the analysis."
        raise StoreError(Reason.STALE, asked, found, do, problems=problems)
    return changes


def save_codes(
    connection: Connection, state: loading.State, changes: list[Change]
) -> loading.State:
    """Write new codes to a store, apart from revisions, and return the state then."""
    write(connection, changes, state.revision)
    saved = state.codes_saved + 1
    connection.execute(update(tables.environment).values(codes_saved=saved))
    loading.renew_seals(connection, ["code"])
    coded = loading.load_variables(connection, {change.name for change in changes})
    registers = state.registers | {variable.name: register for variable, register in coded}
    environment = _with_registers(state.environment, registers)
    return loading.State(state.revision, saved, environment, registers)


def _merged(ours: CodeRegister, theirs: CodeRegister) -> tuple[CodeRegister, list[str]]:
    entries = {code: ours.meaning(code) for code in ours}
    taken = {(code[0], meaning) for code, meaning in entries.items()}
    anew: list[str] = []
    for code in theirs:
        meaning = theirs.meaning(code)
        if entries.get(code) == meaning:
            continue
        if code in entries or code in ours.retired:
            anew.append(code)
        elif (code[0], meaning) not in taken:
            entries[code] = meaning
    retired = (ours.retired | theirs.retired) - entries.keys()
    return CodeRegister(entries.items(), retired=retired), anew


def _beyond(register: CodeRegister, spent: set[str], keeps: bool) -> CodeRegister:
    entries = [(code, register.meaning(code)) for code in register]
    codes = {code for code, _ in entries}
    if keeps or not codes & spent:
        return CodeRegister(entries, retired=register.retired | (spent - codes))
    bare = CodeRegister(retired=register.retired | spent)
    observed = bare.with_observed(meaning for code, meaning in entries if code[0] == "C")
    return observed.with_harmonizations(meaning for _, meaning in entries)


def _with_registers(environment: Environment, registers: dict[str, CodeRegister]) -> Environment:
    changed = {
        name: register
        for name, register in registers.items()
        if register != environment.register(name)
    }
    if not changed:
        return environment
    # Copies of the variables, so that their codes are taken from here.
    variables = {name: replace(environment.variable(name)) for name in changed}
    return environment.changed(variables=variables, registers=changed)
