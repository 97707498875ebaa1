"""Codes of a store: a code never changes its meaning, and none is given twice."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, update

from gamekeeper.errors import Problem, Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.carrying import carry_codes
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE, CodeRegister
from gamekeeper.store.database.contents import tables
from gamekeeper.store.database.contents.changes import Change
from gamekeeper.store.database.contents.documents import code_documents
from gamekeeper.store.database.contents.loading import State
from gamekeeper.store.database.contents.seals import renew_seals
from gamekeeper.store.database.contents.some_variables import code_ages, load_variables
from gamekeeper.store.database.contents.writing import write
from gamekeeper.store.database.history.reverting import Renames
from gamekeeper.wording import quoted


def without_spent(
    connection: Connection, state: State, after: Environment, renames: Renames
) -> Environment:
    """Return an environment in which no variable has codes that its name had before.

    Variables that only come under another name keep the codes that they have.
    """
    keeping = set(renames.variables.values())
    new = renames.added | keeping | (after.variables.keys() - state.environment.variables.keys())
    there = [name for name in new if name in after.variables]
    registers = {
        name: _beyond(after.register(name), set(codes) - {ARBITRARY_CODE}, name in keeping)
        for name, codes in code_ages(connection, there).items()
        if codes
    }
    return _with_registers(after, registers)


def merged(state: State, given: Environment) -> tuple[Environment, tuple[str, ...]]:
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


def new_codes(state: State, environment: Environment, asked: str) -> list[Change]:
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
            documents = code_documents(variable, new)
            changes += [Change("code", name, None, documents[code], code) for code in given]
    if problems:
        raise StoreError(
            Reason.STALE,
            asked,
            "What they are codes of has changed in the store. Nothing was saved.",
            "Read the environment again, and repeat the analysis.",
            problems=problems,
        )
    return changes


def save_codes(connection: Connection, state: State, changes: list[Change]) -> State:
    """Write new codes to a store, apart from revisions, and return the state then."""
    write(connection, changes, state.revision)
    saved = state.codes_saved + 1
    connection.execute(update(tables.environment).values(codes_saved=saved))
    renew_seals(connection, ["code"])
    coded = load_variables(connection, {change.name for change in changes})
    registers = state.registers | {variable.name: register for variable, register in coded}
    environment = _with_registers(state.environment, registers)
    return State(state.revision, saved, environment, registers)


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
