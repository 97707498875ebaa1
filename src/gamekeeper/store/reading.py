"""The files of an environment folder as they are read, and everything that is wrong with them.

environment.json says that a folder is one; variables, forms and groups are folders with one file
each. Whatever starts with a dot is passed over, and so are files named README. Anything else that is
no .json file is a fault: a form that is left out by its name would understate the risk unseen. The
categories of a code are kept by name, so that they outlast a new order of the sinks.

Thousands of forms offer the same categories again and again. In a file that is laid out as we
write it, every variable is a stretch of whole lines; a stretch that was met before is not parsed
again. A line break cannot lie within a JSON string, so cutting at line breaks cuts between
tokens, and stretches that are members of an object by themselves are so together. Any other
layout is parsed as a whole. Either way equal lists of labels are one object in memory.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from pydantic import TypeAdapter

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.files import ENVIRONMENT, FORMAT, require_ordinary
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import NO_RULES, Scenario
from gamekeeper.mapping.forms.form import question_tree
from gamekeeper.mapping.forms.groups import GROUP_WAYS, ways_given
from gamekeeper.mapping.variables import definitions
from gamekeeper.mapping.variables.categorization import blocks_of
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE, CodeRegister, Variable, code_order
from gamekeeper.results import Progress
from gamekeeper.store import file_shapes
from gamekeeper.wording import count_of, did_you_mean, quoted, unfit_character

_ANEW = "Correct it, or remove all codes of the variable to have them given anew."


def variable_of(
    file: file_shapes.NominalFile | file_shapes.OrdinalFile | file_shapes.IntervalFile,
    where: str,
    problems: list[Problem],
) -> Variable | None:
    """Return the variable of a file, or None after adding what is wrong with it."""
    try:
        return definitions.variable_of(file)
    except InputError as error:
        problems.extend(problems_of(error, where))
        return None


def checked_file(
    tree: Any, variable: Variable, where: str, problems: list[Problem]
) -> file_shapes.NominalFile | file_shapes.OrdinalFile | file_shapes.IntervalFile | None:
    """Return the file of a variable, after adding what is wrong with it: it must lead back to it."""
    file = file_shapes.check(tree, where, file_shapes.VARIABLE_FILE, problems)
    if file is not None and variable_of(file, where, problems) != variable:
        found = "is not what its bands or its categories come to."
        do = "Make a variable on the interval scale with Variable.of_bands."
        problems.append(Problem(Reason.WRONG_SCHEMA, where, found, do))
    return file


def register_of(
    file: file_shapes.NominalFile | file_shapes.OrdinalFile | file_shapes.IntervalFile,
    variable: Variable,
    where: str,
    problems: list[Problem],
) -> CodeRegister:
    """Return the codes in a file, after adding what is wrong with them."""
    sinks = {sink: [number] for number, sink in enumerate(variable.graph.sinks)}
    meanings: dict[tuple[str, Partition | Arbitrary], str] = {}
    entries: list[tuple[str, Partition | Arbitrary]] = []
    for code, blocks in file.codes.items():
        place = f"{where}, code {quoted([code])}"
        meaning = _meaning(variable, blocks, sinks, place, problems)
        if meaning is None:
            continue
        size = 0 if isinstance(meaning, Arbitrary) else meaning.n_blocks
        other = meanings.setdefault((code[0], meaning), code)
        if int(code[1:].partition(".")[0]) != size:
            number = count_of(size, "category", "categories")
            found = f"has {number}, which is not what it says."
            problems.append(Problem(Reason.INCONSISTENT_CODE, place, found, _ANEW))
        elif other != code:
            found = f"means the same as {quoted([other])}."
            problems.append(Problem(Reason.INCONSISTENT_CODE, place, found, "Leave one out."))
        else:
            entries.append((code, meaning))
    return CodeRegister(entries, retired=_retired(file, where, problems))


def tree_of(variable: Variable, register: CodeRegister) -> dict[str, Any]:
    """Return what the file of a variable and its codes holds, as plain values."""
    tree = definitions.definition_tree(variable)
    if len(register):
        tree["codes"] = codes_of(variable, register)
    if register.retired:
        tree["retired"] = retired_of(register)
    return tree


def codes_of(variable: Variable, register: CodeRegister) -> dict[str, list[list[str]]]:
    """Return the codes of a variable as its file has them, in order."""
    codes = sorted(register, key=code_order)
    meanings = {code: blocks_of(variable, register.meaning(code)) for code in codes}
    return {code: [list(block) for block in blocks] for code, blocks in meanings.items()}


def retired_of(register: CodeRegister) -> list[str]:
    """Return the retired codes of a variable as its file has them, in order."""
    return sorted(register.retired, key=code_order)


def problems_of(error: InputError, where: str) -> list[Problem]:
    """Return the problems of an error, each with the file that it is in."""
    if not error.problems:
        return [Problem(error.reason, where, error.found, error.do)]
    return [Problem(p.reason, f"{where}, {p.where}", p.found, p.do) for p in error.problems]


def _retired(
    file: file_shapes.NominalFile | file_shapes.OrdinalFile | file_shapes.IntervalFile,
    where: str,
    problems: list[Problem],
) -> list[str]:
    """Return the retired codes of a file that can be so, after adding what is wrong with others."""
    retired: list[str] = []
    for code in dict.fromkeys(file.retired):
        if code in file.codes:
            found, do = "is retired and has a meaning.", "Leave it out of one of the two."
        elif code[1:].startswith("0."):
            found, do = f"is retired, and {ARBITRARY_CODE} never is.", "Leave it out."
        else:
            retired.append(code)
            continue
        place = f"{where}, code {quoted([code])}"
        problems.append(Problem(Reason.INCONSISTENT_CODE, place, found, do))
    return retired


def _sinks_below(graph: PartitionGraph, category: str, sinks: Mapping[str, list[int]]) -> list[int]:
    # Down the graph, not by bit set: that would cost every category the length of all sinks.
    found: list[int] = []
    waiting = [category]
    while waiting:
        node = waiting.pop()
        if node in sinks:
            found += sinks[node]
        else:
            waiting += graph.children(node)
    return found


def _meaning(
    variable: Variable,
    blocks: Sequence[Sequence[str]],
    sinks: dict[str, list[int]],
    where: str,
    problems: list[Problem],
) -> Partition | Arbitrary | None:
    """Return the partition that blocks of category names make, or None after saying why not.

    `sinks` holds the sinks of the categories met so far.
    """
    if not blocks:
        return ARBITRARY
    labels = [-1] * len(variable.graph.sinks)
    placed: list[int] = []
    unknown: list[str] = []
    for block in blocks:
        members: list[int] = []
        for name in block:
            if name not in sinks:
                category = variable.resolve(name)
                if category is None:
                    unknown.append(name)
                    continue
                sinks[name] = _sinks_below(variable.graph, category, sinks)
            members += sinks[name]
        placed += members
        first = min(members, default=0)
        for number in members:
            labels[number] = first
    missed = [number for number, label in enumerate(labels) if label < 0]
    if not unknown and not missed and len(placed) == len(labels) and all(blocks):
        return Partition(np.array(labels, dtype=np.int32), len(blocks))
    problems += [
        Problem(
            Reason.UNKNOWN_NAME,
            where,
            f"names {quoted([name])}, which is not a category.",
            did_you_mean(name, variable.graph.categories),
        )
        for name in dict.fromkeys(unknown)
    ]
    names = variable.graph.sinks
    twice = sorted(number for number, count in Counter(placed).items() if count > 1)
    for is_so, found in (
        (twice, f"holds {quoted(names[number] for number in twice)} twice."),
        (missed and not unknown, f"leaves out {quoted(names[number] for number in missed)}."),
        (not all(blocks), "has a category that is made up of nothing."),
    ):
        if is_so:
            problems.append(Problem(Reason.INCONSISTENT_CODE, where, found, _ANEW))
    return None


FORM_FILE = TypeAdapter(file_shapes.FormFile)
_VARIABLES = TypeAdapter(dict[str, list[str]])
_START = b',\n "variables": {\n'
_BETWEEN = b"],\n"
_END = b"]\n }\n}\n"


class _Members(dict[bytes, tuple[str, tuple[str, ...]]]):
    """The stretches met so far, each with its variable and labels; a new one is parsed."""

    def __init__(self, share: Callable[[list[str]], tuple[str, ...]]) -> None:
        super().__init__()
        self._share = share

    def __missing__(self, text: bytes) -> tuple[str, tuple[str, ...]]:
        tree, repeated = file_shapes.decode(b"{" + text + b"]}")
        if repeated or len(tree) != 1:
            raise ValueError
        ((name, labels),) = _VARIABLES.validate_python(tree, strict=True).items()
        member = self[text] = (name, self._share(labels))
        return member


def form_tree(form: Form, labels: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return a form as plain values, with the labels of some of its variables."""
    return {
        "name": form.name,
        "metadata": dict(sorted(form.metadata.items())),
        "variables": {name: list(own) for name, own in sorted(labels.items())},
        **words_tree(form),
    }


def group_tree(group: Group) -> dict[str, Any]:
    """Return a group as plain values; forms that are listed by hand in order."""
    ((way, given),) = group.definition.items()
    names = sorted(set(given)) if way == "forms" else given
    return {
        "name": group.name,
        "description": group.description,
        way: names if isinstance(names, str) else list(names),
    }


def words_tree(form: Form) -> dict[str, Any]:
    """Return what a form says in its own words, as plain values; nothing where it says nothing."""
    tree: dict[str, Any] = {}
    if form.universe is not None:
        tree["universe"] = form.universe.model_dump(mode="json", exclude_defaults=True)
    if form.questions:
        tree["questions"] = [question_tree(question) for question in form.questions]
    return tree


def _made(
    file: file_shapes.FormFile,
    instances: dict[str, tuple[str, ...]],
    where: str,
    problems: list[Problem],
) -> Form | None:
    try:
        return Form(file.name, instances, file.metadata, tuple(file.questions), file.universe)
    except InputError as error:
        problems += problems_of(error, where)
        return None


class FormReader:
    """Reads form files one after the other.

    Examples
    --------
    >>> FormReader().read(b'{"name": "Bank", "variables": {"Age": []}}', "bank.json", [])
    Form(name='Bank', instances={'Age': ()}, metadata={}, questions=(), universe=None)
    """

    def __init__(self) -> None:
        self._labels: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._members = _Members(self._shared)

    def read(self, data: bytes, where: str, problems: list[Problem]) -> Form | None:
        """Return the form of a file, or None after adding what is wrong with it."""
        form = self._as_written(data)
        if form is None:
            file = file_shapes.parse(data, where, FORM_FILE, problems)
            if file is not None:
                shared = {name: self._shared(labels) for name, labels in file.variables.items()}
                form = _made(file, shared, where, problems)
        return form

    def _as_written(self, data: bytes) -> Form | None:
        """Return the form of a file in our layout; None if it has another or is faulty."""
        head, found, rest = data.partition(_START)
        if not found or not rest.endswith(_END):
            return None
        members = rest[: -len(_END)].split(_BETWEEN)
        try:
            tree, repeated = file_shapes.decode(head + b"}")
            if repeated or "variables" in tree:
                return None
            file = file_shapes.FormFile.model_validate({**tree, "variables": {}})
            instances = dict(map(self._members.__getitem__, members))
        except ValueError:
            return None
        if len(instances) < len(members):
            return None
        # Whatever is wrong with the questions is told when the file is parsed as a whole.
        return _made(file, instances, "", [])

    def _shared(self, labels: list[str]) -> tuple[str, ...]:
        own = tuple(labels)
        return self._labels.setdefault(own, own)


HEADER: Final = ENVIRONMENT
HEADER_FILE = TypeAdapter(file_shapes.EnvironmentFile)
KINDS: Final = ("variables", "forms", "groups", "scenarios")
"""The folders, in the order in which they are read."""


def shape_of(kind: str) -> TypeAdapter[Any]:
    """Return the shape of the files in one of the folders."""
    if kind == "scenarios":
        # Imported here: it takes as long as all else, and many environments have none.
        from gamekeeper.mapping.scenario.document import SCENARIO

        return SCENARIO
    return {
        "variables": file_shapes.VARIABLE_FILE,
        "forms": FORM_FILE,
        "groups": file_shapes.GROUP_FILE,
    }[kind]


def header(root: Path, problems: list[Problem]) -> file_shapes.EnvironmentFile | None:
    """Return what environment.json says, or None after adding what is wrong with it."""
    read = read_tree(root, HEADER, HEADER, problems)
    if read is None:
        return None
    tree, repeated = read
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        found = f"does not say that its format is '{FORMAT}'."
        problems.append(Problem(Reason.WRONG_SCHEMA, HEADER, found, "Check the folder."))
        return None
    version: object = tree.get("version")
    if isinstance(version, int) and version > file_shapes.VERSION:
        found = f"is of version {version}, newer than version {file_shapes.VERSION}, the last that is known."
        problems.append(Problem(Reason.WRONG_SCHEMA, HEADER, found, "Update Gamekeeper."))
        return None
    return file_shapes.check_once(tree, repeated, HEADER, HEADER_FILE, problems)


def listed(root: Path, kind: str, problems: list[Problem]) -> list[str]:
    """Return the JSON files in one of the folders, sorted; a folder that is missing has none."""
    names: list[str] = []
    found: list[Problem] = []
    try:
        with os.scandir(root / kind) as entries:
            for entry in entries:
                is_json = entry.name.lower().endswith(".json")
                is_readme = entry.name.lower().partition(".")[0] == "readme"
                if entry.name.startswith(".") or (not is_json and is_readme):
                    continue
                strange = _strange(kind, entry, is_json=is_json)
                if strange is None:
                    names.append(f"{kind}/{entry.name}")
                else:
                    found.append(strange)
    except FileNotFoundError:
        return []
    except OSError as error:
        found.append(unreadable(f"folder {kind}", error))
    problems += sorted(found, key=lambda problem: problem.where)
    return sorted(names)


def content(root: Path, name: str) -> bytes:
    """Return what a file holds."""
    # A Path for each of ten thousand files would cost a third of reading them.
    require_ordinary(f"{root}/{name}")
    with open(f"{root}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


def read_tree(
    root: Path, name: str, where: str, problems: list[Problem]
) -> tuple[Any, list[str]] | None:
    """Return what a JSON file stands for, as `decode` does, or None after adding why it does not."""
    try:
        return file_shapes.decode(content(root, name))
    except OSError as error:
        problems.append(unreadable(where, error))
    except file_shapes.Undecodable as fault:
        problems.append(Problem(fault.reason, where, fault.found, fault.do))
    return None


def unreadable(where: str, error: OSError) -> Problem:
    """Return the problem that a file or folder cannot be read."""
    found = f"could not be read: {error.strerror or 'no reason given'}."
    return Problem(Reason.NOT_READABLE, where, found, "Check that it is there and permitted.")


def _strange(kind: str, entry: os.DirEntry[str], *, is_json: bool) -> Problem | None:
    """Return why something in one of the folders is not a file to read, if so."""
    if unfit := unfit_character(entry.name):
        where = f"{kind}, file {quoted([entry.name])}"
        return Problem(Reason.BAD_NAME, where, f"has a name with {unfit}.", "Rename it.")
    if is_json:
        return None
    where = f"{kind}/{entry.name}"
    if entry.is_dir():
        found = f"is a folder, and only the files in {kind} are read."
        do = f"Put its files into {kind}, or take it away."
    else:
        found, do = "is not a .json file.", "Take it away or rename it."
    return Problem(Reason.WRONG_SCHEMA, where, found, do)


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
        self._where: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        # What other files may refer to although it could not be read: variables by name, and
        # kinds with files of which not even the names are known.
        self._faulty: set[str] = set()
        self._nameless: set[str] = set()
        for kind in KINDS:
            before = len(self.problems)
            self._listed[kind] = listed(root, kind, self.problems)
            if len(self.problems) > before:
                self._nameless.add(kind)

    def environment(self, header: file_shapes.EnvironmentFile) -> Environment:
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
            _sorted(variables), judged_forms, judged_groups, scenarios=_sorted(scenarios),
            name=header.name, description=header.description, registers=registers,
            rules=header.rules if not self.problems else NO_RULES,
        )  # fmt: skip

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
            file = file_shapes.parse(data, where, file_shapes.VARIABLE_FILE, self.problems)
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
            file = file_shapes.parse(data, where, file_shapes.GROUP_FILE, self.problems)
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
            from gamekeeper.mapping.scenario.document import scenario_of

            file = file_shapes.parse(data, where, shape_of("scenarios"), self.problems)
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
