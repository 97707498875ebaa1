"""A file opened for protection, steps as they are typed, what no attack on a release sees."""

from __future__ import annotations

import json
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from gamekeeper.attack.unexamined import ORDER, OTHER_COLUMNS
from gamekeeper.budget import Work
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.data.reading.frames import is_path
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.scenario.proposal import columns_of
from gamekeeper.options import given, options_of
from gamekeeper.protection.recipe import STEPS, Recipe, Scenario, read_step
from gamekeeper.protection.step import Protected, Setting, Step
from gamekeeper.protection.utility.analyses import analysed_names
from gamekeeper.results import Progress
from gamekeeper.store.place import ServerPlace, StorePlace, store_place
from gamekeeper.wording import at_start, be, count_of, did_you_mean, quoted
from gamekeeper.workbench.answers import Need
from gamekeeper.workbench.microdata import Microdata, fraction_of, open_microdata
from gamekeeper.workbench.requests.protection import ReleaseOptions
from gamekeeper.workbench.requests.records import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.shared import Reading
from gamekeeper.workbench.scenario_file import sinks_of

_OPTION = re.compile(r"^(?P<name>\w+)=(?P<value>.*)$", re.DOTALL)


def parse_steps(typed: Sequence[str]) -> tuple[Step, ...]:
    """Return steps from what was typed; one error names all that cannot be read.

    >>> [step.to_json() for step in parse_steps(["suppress k=2 criterion=own pinned=Sex,Age"])]
    [{'do': 'suppress', 'criterion': 'own', 'k': 2, 'pinned': ['Sex', 'Age']}]
    """
    made: list[Step] = []
    problems: list[Problem] = []
    for number, text in enumerate(typed, 1):
        where = f"step {number}"
        try:
            made.append(read_step(_content(text)))
        except InputError as error:
            problems += [
                Problem(p.reason, f"{where}, {p.where}", p.found, p.do) for p in error.problems
            ] or [Problem(error.reason, where, error.found, error.do)]
        except ValueError:
            how = "Write a name and options: 'suppress k=3 criterion=own'; or JSON."
            problems.append(Problem(Reason.BAD_OPTION, where, "it cannot be read.", how))
    refuse(
        problems,
        f"{count_of(len(typed), 'step was', 'steps were')} given.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found.",
    )
    return tuple(made)


def _content(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        read: Any = json.loads(text)
        return cast("dict[str, Any]", read)
    words = shlex.split(text)
    first = next((n for n, word in enumerate(words) if _OPTION.match(word)), len(words))
    do = " ".join(words[:first])
    if do not in STEPS:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"A step that does {quoted([do])} was given.",
            "There is no such method.",
            did_you_mean(do, list(STEPS)),
        )
    kinds = {item.name: item for item in options_of(STEPS[do])}
    made: dict[str, Any] = {"do": do}
    for word in words[first:]:
        match = _OPTION.match(word)
        if match is None:
            raise ValueError(word)
        name, value = match["name"], match["value"]
        item = kinds.get(name)
        made[name] = value if item is None else _value(item, value)
    return made


def _value(item: Any, text: str) -> Any:
    if item.element is not None and not text.lstrip().startswith(("[", "{")):
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if item.option.read is not None:
            read = item.option.read(parts)
            return list(read) if isinstance(read, tuple) else read
        return [_plain(part, item.element) for part in parts]
    return _plain(text, item.kind)


def _plain(text: str, kind: Any) -> Any:
    if kind is str:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


_OF_THE_MACHINE = frozenset({"memory", "no_records"})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProtectedInput:
    """A file that is to be protected, as stage two opens it, and what holds for every step.

    `columns` has by key variable its column in the file, where that is called otherwise; `environment`
    says where the scenario is kept, if in a file; `reading` how the file was read, where that was told.
    """

    data: Microdata
    setting: Setting
    columns: dict[str, str]
    environment: str
    reading: dict[str, Any]

    @property
    def table(self) -> CodedTable:
        """The codes of the file."""
        return self.data.coded

    def beside(self, analyses: Sequence[str]) -> CodedTable | None:
        """Return the columns that analyses name and the codes do not have; None where there are none."""
        known = {*self.table.codebook.names, *self.table.numbers}
        source = self.data.source
        names = [name for name in analysed_names(analyses) if name not in known]
        wanted = [name for name in names if name in source.names]
        if not wanted:
            return None
        return code_source(source, wanted, engine=self.table.engine)

    def recipe(self) -> Recipe:
        """Return a recipe for this file, as yet without steps."""
        setting, scenario = self.setting, self.data.scenario
        kept = None
        if scenario is not None:
            kept = Scenario(scenario.name, self.environment, scenario.fingerprint)
        fraction = "" if setting.fraction is None else str(setting.fraction)
        if isinstance(setting.fraction, Mapping):
            fraction = ", ".join(f"{name}={value}" for name, value in setting.fraction.items())
        return Recipe(
            (),
            setting.keys,
            self.columns,
            setting.missing,
            setting.weight,
            setting.strata,
            setting.household,
            setting.identifier,
            fraction,
            setting.sensitive,
            setting.seed,
            kept,
            fingerprint=self.table.fingerprint,
            n_records=self.table.n_records,
            file=self.data.source.name,
            response_knowledge=setting.response_knowledge,
            reading=self.reading,
        )


def open_for_protection(
    asked: MicrodataRequest,
    *,
    design: SampleDesign,
    household: str = "",
    identifier: str = "",
    sensitive: Sequence[str] = (),
    extra: Sequence[str] = (),
    response_knowledge: bool = True,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> ProtectedInput:
    """Open a file with the columns that protection needs; `extra` are those that steps name."""
    if asked.recodes:
        raise InputError(
            Reason.BAD_OPTION,
            "A file was to be protected, with key variables recoded beforehand (--recode).",
            "What a recoding would do is asked of attacks; here it is a step of its own.",
            "Leave out --recode, and give it by --step of protect try: 'recode rules=\"Age=width 5\"'.",
        )
    others = [name for name in (household, *extra) if name]
    data = open_microdata(
        asked,
        design=design,
        sensitive=sensitive,
        extra=others,
        identifier=identifier,
        need=Need(Work.PROTECTION),
        progress=progress,
    )
    names = data.coded.codebook.names
    (home,) = matched_names([household], names)
    columns: dict[str, str] = {}
    if data.scenario is not None:
        every = columns_of(data.keys, data.source.names, asked.columns)
        columns = {name: column for name, column in every.items() if name != column}
    setting = Setting(
        keys=tuple(data.keys),
        missing=data.missing,
        weight=data.design.weight,
        strata=data.design.strata,
        household=home,
        identifier=data.identifier,
        fraction=fraction_of(data.design.fraction),
        sensitive=tuple(data.sensitive),
        response_knowledge=response_knowledge,
        seed=secrets.randbelow(2**53) if seed is None else seed,
        environment=data.environment,
        sinks=sinks_of(data.scenario, data.environment),
        numbers=asked.numbers,
        decimal=data.source.decimal,
        workers=workers,
        progress=None,
    )
    place = asked.environment
    kept = place if is_path(place) or isinstance(place, ServerPlace) else ""
    return ProtectedInput(data, setting, columns, str(kept or ""), _told(asked.reading))


def _told(reading: Reading) -> dict[str, Any]:
    """Return how a file is read where that is not the default, as a recipe keeps it."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in not_default(reading).items()
        if name not in _OF_THE_MACHINE
    }


def not_default(part: Any) -> dict[str, Any]:
    """Return the options of a part of a request that are not at their default."""
    plain = given(type(part)())
    return {name: value for name, value in given(part).items() if value != plain[name]}


def _read_as(recipe: Recipe, reading: Reading) -> Reading:
    """Return how a recipe reads a file; what is told now comes first."""
    kept = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in recipe.reading.items()
        if name not in _told(reading)
    }
    known = {item.name for item in fields(Reading)} - _OF_THE_MACHINE
    problems = [
        Problem(Reason.UNKNOWN_NAME, f"field 'reading', {quoted([name])}", "it is not known.",
                did_you_mean(name, sorted(known)))
        for name in kept
        if name not in known
    ]  # fmt: skip
    refuse(
        problems,
        "A recipe was to be used.",
        "It says how its file is read, in a way that is not known here.",
    )
    return replace(reading, **kept)


def asked_by(
    recipe: Recipe,
    file: Path | Any,
    environment: StorePlace | None,
    *,
    reading: Reading,
    **others: Any,
) -> MicrodataRequest:
    """Return what a recipe asks of a file."""
    others = {**others, "reading": _read_as(recipe, reading)}
    if recipe.scenario is None:
        return MicrodataRequest(
            file=file, keys=recipe.keys, missing=recipe.missing, environment=environment, **others
        )
    place = environment or (
        store_place(recipe.scenario.environment) if recipe.scenario.environment else None
    )
    if place is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A recipe was to be used.",
            "Its key variables are those of a scenario, and it does not say where that is kept.",
            "Name the store or folder (--environment).",
        )
    return MicrodataRequest(
        file=file,
        scenario=recipe.scenario.name,
        environment=place,
        columns=recipe.columns,
        missing=recipe.missing,
        **others,
    )


def release_notices(
    opened: ProtectedInput, made: Protected, asked: ReleaseOptions
) -> tuple[str, ...]:
    """Say which columns would be released as they are, and in which order, examined by no attack.

    Protection is of the keys alone. A name, an address or a number of a register in another column
    undoes all of it.
    """
    setting = opened.setting
    examined = {opened.columns.get(name, name) for name in (*setting.keys, *made.log.variables)}
    examined |= {setting.weight}
    others = [
        name
        for name in opened.data.source.names
        if name not in examined and name not in set(asked.leave_out)
    ]
    said: list[str] = []
    if asked.keep_order:
        said.append(
            f"Records are released in the order of the original, and no attack looked at it: {ORDER.words}."
            " Leave out --keep-order to have them shuffled."
        )
    telling = [name for name in others if name and name in (setting.identifier, setting.household)]
    if telling:
        said.append(
            f"{quoted(telling)} {be(len(telling))} released as in the original: whoever has a list with"
            " the same numbers finds everybody, and numbers in the order of the original tell that order."
            " Leave it out (--leave-out), unless they are made up."
        )
    if setting.household:
        said.append(
            "Columns in which the members of a household are alike, such as its size or its income, can tell"
            " who lives together, in whatever order the records are: no attack looked at that."
        )
    rest = [name for name in others if name not in telling]
    if rest:
        # Each by its name: the one that is cut off may be the one that tells who somebody is.
        said.append(
            f"{count_of(len(rest), 'column is', 'columns are')} released as in the original, and no"
            f" attack looked at {'it' if len(rest) == 1 else 'them'}: {quoted(rest, most=len(rest))}."
            f" {at_start(OTHER_COLUMNS.around)} (--leave-out, or --keys of protect try)."
        )
    return tuple(said)
