"""Opening a file of microdata as a person asks for it: its columns, its keys, its categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.keys.counting import counting_bytes
from gamekeeper.data.keys.key_table import EVEN_WEIGHTS, KeyTable
from gamekeeper.data.reading.column_names import matched_names
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.recoding.applying import read_rules, recode_table
from gamekeeper.mapping.recoding.rules import RecodeRule
from gamekeeper.mapping.scenario.recoding import columns_of, plan_recodes
from gamekeeper.mapping.variables.category_blocks import categorization_of
from gamekeeper.results import Progress
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, quoted, shown_path
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.microdata.engines import engine_for
from gamekeeper.workbench.microdata.file import NO_DESIGN, Microdata, require_design
from gamekeeper.workbench.microdata.need import Need, require_room
from gamekeeper.workbench.microdata.values import named_values, read_values, require_mapped
from gamekeeper.workbench.notices import in_file, missing_code_notices, scenario_notices
from gamekeeper.workbench.requests.counting import ON_THIS_MACHINE, EngineRequest
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.reading import Reading

_COUNTED = Need(counting_bytes, by_key=True)
# More weights than this, or of fewer records each, are no strata but adjusted.
_MOST_WEIGHTS, _RECORDS_PER_WEIGHT = 50, 20


def opened_file(file: Path, asked: Reading) -> Source:
    """Open a data file as people say that it is to be read."""
    return open_source(
        file,
        delimiter=asked.delimiter,
        encoding=asked.encoding,
        decimal=asked.decimal,
        missing=asked.missing_values,
        keep_user_missing=asked.keep_user_missing,
        header=asked.header,
        sheet=asked.sheet,
    )


def open_microdata(
    asked: MicrodataRequest,
    *,
    counting: EngineRequest = ON_THIS_MACHINE,
    design: SampleDesign = NO_DESIGN,
    sensitive: Sequence[str] = (),
    extra: Sequence[str] = (),
    identifier: str = "",
    person: str = "",
    strict: bool = True,
    by_weight: bool = False,
    need: Need = _COUNTED,
    progress: Progress | None = None,
) -> Microdata:
    """Open a file of microdata and code the columns that are needed; nothing of it is kept.

    `counting` says who keeps and counts its records. `extra` names further columns to code, such as a
    household; `identifier` is the user's own name of records, and `person` the column that tells whose
    they are, where one record of each is to be counted. Where it is not `strict`, recodings may
    name categories that do not occur. With `by_weight`, records of one weight are a stratum where weights
    are few and the design names neither strata nor a fraction. `need` is what the attack will need of
    the machine, at least what counting does: it is asked before records are read, by the number that the
    file tells or, for a text file, that its size and its first lines suggest.
    """
    _require_one_way(asked)
    source = opened_file(asked.file, asked.reading)
    names = source.names
    design = replace(
        design,
        weight=matched_names([design.weight], names)[0],
        strata=matched_names([design.strata], names)[0],
    )
    sensitive, extra = matched_names(sensitive, names), matched_names(extra, names)
    identifier, person = matched_names([identifier, person], names)
    others = [name for name in (design.strata, *sensitive, *extra, identifier, person) if name]
    numbers = [design.weight] if design.weight else []

    def coded(columns: Iterable[str]) -> CodedTable:
        nonlocal design
        wanted = list(dict.fromkeys([*columns, *others]))
        if counting.is_elsewhere:
            # To reach a cluster takes half a minute: what is wrong with the rest is told before.
            source.check_names(list(dict.fromkeys([*wanted, *numbers])))
            require_design(design, len(keys))
            _require_keys(read_rules(asked.recodes), keys)
        require_room(source, wanted, need, elsewhere=counting.is_elsewhere)
        made = code_source(
            source, wanted, numbers=numbers, engine=engine_for(counting), progress=progress
        )
        by_weights = _with_weight_strata(made, design) if by_weight else None
        if by_weights is None:
            return made
        design = replace(design, strata=design.weight)
        return by_weights

    environment = None if asked.environment is None else _environment(asked.environment)
    scenario = None
    if not asked.scenario:
        keys = matched_names(_names(asked.keys, names), names)
        table = read = coded(keys)
        # Identifiers of records and people mean what they are.
        known = {name: table.codebook[name].values for name in (identifier, person) if name}
    else:
        assert environment is not None
        given = asked.scenario
        scenario = given if isinstance(given, Scenario) else environment.scenario(given)
        keys = tuple(key.variable for key in scenario.keys)
        columns = columns_of(keys, names, asked.columns)
        values = read_values(asked.values) if asked.values is not None else {}
        read = coded(columns.values())
        plan = plan_recodes(
            scenario,
            environment,
            read.codebook,
            columns,
            values=values,
            numbers=asked.numbers,
            decimal=source.decimal,
        )
        require_mapped(plan, read, asked.unmapped)
        known = named_values(scenario, plan, read.codebook, values)
        table = read.recoded(plan.recodes)
    data = Microdata(
        source,
        table,
        keys,
        asked.missing,
        design,
        tuple(sensitive),
        missing_code_notices(read, known=known, decimal=source.decimal),
        scenario_notices(scenario, environment),
        scenario,
        None if scenario is None else environment,
        identifier=identifier,
        person=person,
    )
    return _recoded(data, asked, environment, strict=strict)


def _with_weight_strata(table: CodedTable, design: SampleDesign) -> CodedTable | None:
    """Return a table whose weights are a variable as well; None where they cannot be strata."""
    if not design.weight or design.strata or design.fraction:
        return None
    # A record stands for itself at least; weights below that are scaled to something else.
    if table.n_below(design.weight, 1.0):
        return None
    most = min(_MOST_WEIGHTS, table.n_records // _RECORDS_PER_WEIGHT)
    coded = table.with_number_coded(design.weight, most)
    if coded is None:
        return None
    first, *_, last = map(float, coded.codebook[design.weight].values[1:])
    return coded if last > EVEN_WEIGHTS * first else None


@dataclass(frozen=True, slots=True)
class OtherFile:
    """The keys of a file beside the one that is attacked, None where there is no such file."""

    keys: KeyTable | None
    notices: tuple[str, ...] = ()


def require_other(
    asked: MicrodataRequest, file: Path | None, *, counting: EngineRequest = ON_THIS_MACHINE
) -> None:
    """Refuse another file that cannot be read, or not for its size, before anything is worked out."""
    if file is not None:
        source = opened_file(file, asked.reading)
        require_room(source, (), _COUNTED, elsewhere=counting.is_elsewhere)


def open_other(
    asked: MicrodataRequest, file: Path | None, *, counting: EngineRequest = ON_THIS_MACHINE
) -> OtherFile:
    """Count the keys of another file, such as a population, read like the one that is attacked."""
    if file is None:
        return OtherFile(None)
    data = open_microdata(replace(asked, file=file), counting=counting, strict=False)
    # That the scenario is stale is said already.
    codes = in_file(file.name, data.missing_codes)
    return OtherFile(data.count(), codes)


def _environment(given: StorePlace | Environment) -> Environment:
    if isinstance(given, Environment):
        return given
    with opened(given) as place:
        return place.environment


def _recoded(
    data: Microdata, asked: MicrodataRequest, environment: Environment | None, *, strict: bool
) -> Microdata:
    """Return the file with its recodings, none of which is written."""
    if not asked.recodes:
        return data
    made = recode_table(
        data.coded,
        asked.recodes,
        environment=environment,
        sinks=sinks_of(data.scenario, environment),
        numbers=asked.numbers,
        decimal=data.source.decimal,
        strict=strict,
    )
    _require_keys(made.rules, data.keys)
    return replace(data, coded=made.table, recoded=made, before=data.coded)


def _require_keys(rules: Sequence[RecodeRule], keys: Sequence[str]) -> None:
    """Refuse to recode what is no key variable."""
    named = matched_names([rule.variable for rule in rules], keys)
    unused = [rule.variable for rule, name in zip(rules, named, strict=True) if name not in keys]
    if unused:
        raise InputError(
            Reason.BAD_OPTION,
            f"{quoted(unused)} {'was' if len(unused) == 1 else 'were'} to be recoded.",
            f"The key variables are {quoted(keys)}.",
            "Recode key variables.",
        )


def sinks_of(
    scenario: Scenario | None, environment: Environment | None
) -> dict[str, list[list[int]]]:
    """Return what the codes of a scenario's key variables mean in its environment."""
    found: dict[str, list[list[int]]] = {}
    for key in () if scenario is None or environment is None else scenario.keys:
        assert environment is not None
        partition = categorization_of(environment.variable(key.variable), key.blocks)
        if partition is not None and not isinstance(partition, Arbitrary):
            found[key.variable] = partition.blocks()
    return found


def _require_one_way(request: MicrodataRequest) -> None:
    """Refuse a request that has neither keys nor a scenario, or both."""
    problems: list[Problem] = []
    if bool(request.keys) == bool(request.scenario):
        both = "they are given by name and by a scenario." if request.keys else "none is given."
        problems.append(
            Problem(
                Reason.BAD_OPTION if request.keys else Reason.NOTHING_GIVEN,
                "key variables",
                both,
                "Name the columns (--keys), or a scenario (--scenario).",
            )
        )
    if request.scenario and request.environment is None:
        problems.append(
            Problem(
                Reason.NOTHING_GIVEN,
                "environment",
                "the scenario is kept in an environment, and none is given.",
                "Name its store or folder (--environment).",
            )
        )
    # Recodings may be looked up in an environment without a scenario.
    unused = None if request.recodes else request.environment
    unused_numbers = () if request.environment is not None else request.numbers
    of_scenario = (unused, request.columns, request.values, request.unmapped, unused_numbers)
    if not request.scenario and any(of_scenario):
        problems.append(
            Problem(
                Reason.BAD_OPTION,
                "environment, columns, values, unmapped or numbers",
                "they say how a file fits a scenario, and no scenario is given.",
                "Leave them out, or name a scenario (--scenario).",
            )
        )
    refuse(
        problems,
        f"{_file_words(request.file)} was to be opened.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found in what was asked.",
    )


def _file_words(file: Path | object) -> str:
    # A frame is no path, and its text has values.
    return f"The file {shown_path(file)}" if isinstance(file, Path) else "A data frame"


def _names(given: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Return names that may be given one by one or several with commas between them."""
    names: list[str] = []
    for text in given:
        # A column may have a comma in its name.
        parts = [text] if text in columns else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    return tuple(names)
