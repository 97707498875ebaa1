"""The assessment of a file as a person asks for it, at the prompt or from Python."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gamekeeper.algorithms.sampling_fraction import FractionLike
from gamekeeper.algorithms.uniques.minimal_uniques import least_bytes
from gamekeeper.attack.assessment.judged import judge_policy
from gamekeeper.attack.assessment.measured import measure_file, modelled_bytes
from gamekeeper.attack.assessment.policy import Policy, read_policy
from gamekeeper.attack.assessment.record_table import record_table
from gamekeeper.attack.measures.per_record import households_across
from gamekeeper.attack.models.options import FitMethod
from gamekeeper.data.engine.bringing import MOST_WRITTEN
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.reading.column_names import matched_names
from gamekeeper.data.reading.frames import is_path
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import build, given, options_of, require_known, require_valid
from gamekeeper.results import Progress, Provenance
from gamekeeper.store.place import store_place
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.assessment.result import Assessment
from gamekeeper.workbench.microdata.file import Microdata
from gamekeeper.workbench.microdata.need import WITHOUT_HOUSEHOLDS, Need
from gamekeeper.workbench.microdata.opening import open_microdata
from gamekeeper.workbench.outputs import (
    listed_notices,
    listed_writer,
    require_outputs,
    write_outputs,
)
from gamekeeper.workbench.requests.assessment import AssessRequest

_NOT_OF_PYTHON = frozenset(
    {
        "file",
        "top",
        "explain",
        "records",
        "report",
        "report_for",
        "report_records",
        "plot",
        "replace",
    }
)


def assess_release(asked: AssessRequest, *, progress: Progress | None = None) -> Answer[Assessment]:
    """Assess a file in one go; write its records, a report and a plot where asked for."""
    require_outputs(asked)
    found = _assessed(asked, progress)
    found.measured.uniques.explainer.check(asked.explain)

    def write_page(path: Path) -> None:
        found.report(path, with_records=asked.report_records, audience=asked.report_for)

    counted = listed_writer(
        found.measured.keys.listed,
        lambda: record_table(found.measured),
        "" if found.named is None else found.named.identifier,
        found.to_arrow,
        raw=asked.raw,
    )
    write_outputs(asked, found, page=write_page, counted=counted)
    return Answer(found, found.notices, found.what_if)


def told_besides(asked: AssessRequest, answer: Answer[Assessment]) -> dict[str, Any]:
    """Return what programs are told besides the records, by name: as printed, and as sent."""
    found = answer.found
    riskiest = found.ranked().top(asked.top)["record"].to_pylist() if asked.top else []
    why = found.measured.uniques.explanations(riskiest)
    explained = {str(record): found.explain_record(record) for record in asked.explain}
    return {
        "what_if": answer.what_if,
        **found.parts(),
        "why": why if found.named is None else found.with_identifiers(why.to_arrow()),
        "explanations": explained or None,
    }


def assess(
    data: Any,
    *,
    keys: str | Sequence[str] = (),
    scenario: Any = "",
    environment: Any = None,
    weight: str = "",
    strata: str = "",
    fraction: FractionLike | Mapping[str, FractionLike] | None = None,
    person: str = "",
    household: str = "",
    sensitive: str | Sequence[str] = (),
    policy: str | Path | Mapping[str, Any] | Policy = "",
    missing: Missing | str = Missing.CATEGORY,
    progress: Progress | None = None,
    **how: Any,
) -> Assessment:
    r"""Assess the risk of a file or frame that may be released, in one call.

    Parameters
    ----------
    data
        The path of a file, or a frame of pandas, Polars, Arrow or DuckDB.
    keys
        The columns that an intruder could match on; or give a scenario instead.
    scenario, environment
        A scenario of stage one and what it is kept in: the name and the path of a store or folder,
        or a `Scenario` and its `Environment`.
    weight, strata, fraction
        How the file was drawn from the population: columns of sampling weights and of strata, the
        share of the population that is in the file ("2%", "1/50", 0.02, or one for each stratum).
        Without any of these it is not known what a match is worth, and the result says so.
    person
        A column that tells whose a record is, where people have several: the first of each is taken.
    household
        A column that tells households, which are in the file with all their members: one member found
        is all found, and that members are alike is no sign that others are.
    sensitive
        Variables that finding a class of records must not give away.
    policy
        Limits to hold the file to: the name of a profile, a JSON file, or its content.
    missing
        What a missing cell is: "category", "ignore", "wildcard" or "exclude".
    progress
        Told how far the work is; it may raise to cancel it.
    how
        Any other option of `gamekeeper assess`, by its name: columns, values, missing_values,
        delimiter, method, max_size, seed, workers and so on.

    Returns
    -------
    Assessment
        With `summary()`, `verdict`, `records()`, `explain(label)`, `plot()` and `report(path)`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41, 52], "sex": ["f", "f", "m", "m"]})
    >>> found = assess(people, keys=["age", "sex"])
    >>> found.summary()["uniques"], found.explain(3)[-1]
    (2, 'unique by age 41')
    """
    if data is None:
        raise InputError(
            Reason.NOTHING_GIVEN, "An assessment was asked for.", "Neither a file nor a frame is given.",
            "Give a path, or a frame of pandas, Polars, Arrow or DuckDB.",
        )  # fmt: skip
    known = {item.name for item in options_of(AssessRequest)} - _NOT_OF_PYTHON
    require_known(how, known, "An assessment was asked for.")
    asked = build(
        AssessRequest,
        {
            **how,
            "file": Path(data) if is_path(data) else data,
            "keys": _names(keys),
            "scenario": scenario,
            "environment": store_place(environment) if is_path(environment) else environment,
            "weight": weight,
            "strata": strata,
            "fraction": "" if fraction is None else fraction,
            "person": person,
            "household": household,
            "sensitive": _names(sensitive),
            "policy": policy,
            "missing": missing,
        },
    )
    require_valid(asked, "assess was called.")
    return _assessed(
        replace(asked, microdata=replace(asked.microdata, missing=Missing(missing))), progress
    )


def _is_sample(asked: AssessRequest) -> bool:
    """Tell whether models are fitted: a file with everybody, or of no known fraction, has none."""
    return str(asked.design.fraction or "").strip() not in ("", "1", "1.0", "100%")


def _assessed(asked: AssessRequest, progress: Progress | None) -> Assessment:
    started = time.perf_counter()
    # A policy that cannot be read is told before any work is done.
    policy = None if asked.policy == "" else read_policy(asked.policy)
    household = asked.measure.household
    data = open_microdata(
        asked.microdata,
        counting=asked.counting,
        design=asked.design,
        sensitive=asked.sensitive,
        identifier=asked.identifier,
        person=asked.person,
        by_weight=True,
        extra=[household] if household else [],
        need=Need(
            modelled_bytes if _is_sample(asked) else least_bytes,
            by_key=not household,
            most_elsewhere=MOST_WRITTEN,
            do=WITHOUT_HOUSEHOLDS,
        ),
        progress=progress,
    )
    table = data.count(progress=progress)
    (household,) = matched_names([household], data.coded.codebook.names)
    options = replace(asked.measure, household=household, progress=progress)
    measured = measure_file(table, **given(options))
    scenario = data.scenario
    made = measured.uniques.provenance
    parameters = {
        "keys": ", ".join(table.keys),
        "missing": table.missing.value,
        "fraction": str(table.fraction or "none"),
        "models": "none" if measured.models is None else str(FitMethod(asked.measure.method).value),
        **({"household": household} if household else {}),
        **({"person": table.person} if table.person else {}),
        **({"sensitive": ", ".join(asked.sensitive)} if asked.sensitive else {}),
        **({"policy": policy.name} if policy else {}),
    }
    return Assessment(
        measured,
        None if policy is None else judge_policy(policy, measured),
        data.source.name,
        data.source.settings,
        "" if scenario is None else scenario.name,
        "" if scenario is None else scenario.attacker,
        (
            *data.notices,
            *_weight_notices(data),
            *_household_notices(table, household),
            *listed_notices(table.listed),
        ),
        Provenance(
            "assessment",
            measured.chances.basis_words,
            parameters,
            asked.measure.seed,
            made.fingerprint,
            made.engine,
            seconds=time.perf_counter() - started,
        ),
        None if is_path(asked.microdata.file) else asked.microdata.file,
        data.what_if(table, progress=progress),
        data if data.identifier else None,
    )


def _names(given_names: str | Sequence[str]) -> tuple[str, ...]:
    return (given_names,) if isinstance(given_names, str) else tuple(given_names)


def _household_notices(table: KeyTable, household: str) -> tuple[str, ...]:
    """Say that households lie in several strata, which may be a slip."""
    across = households_across(table, household) if household else 0
    if not across:
        return ()
    told = (
        f"{count_of(across, 'household has', 'households have')} members in more than one stratum; the"
        " chances of their members were joined all the same."
    )
    return (told,)


def _weight_notices(data: Microdata) -> tuple[str, ...]:
    """Say that weights are below one: a record stands for itself at least."""
    weight = data.design.weight
    if not weight:
        return ()
    below = data.coded.n_below(weight, 1.0)
    if not below:
        return ()
    told = (
        f"{count_of(below, 'weight')} of {quoted([weight])} {'is' if below == 1 else 'are'} below 1, though"
        " a record stands for itself at least: if weights were scaled to another sum, the population"
        " is larger than it seems here. Give weights that sum to the population, or --fraction."
    )
    return (told,)
