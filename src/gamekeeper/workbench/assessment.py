"""The assessment of a file: all that was measured of it, judged, explained, ready to be shown."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.arrow import pa
from gamekeeper.attack.assessment.criteria import Answer, answers
from gamekeeper.attack.assessment.measured import (
    MEANINGS,
    Measured,
    measure_file,
    numbers_of,
    record_table,
)
from gamekeeper.attack.assessment.policy import JudgedPolicy, Policy, judge_policy, read_policy
from gamekeeper.attack.assessment.sentences import (
    advice,
    drivers,
    of_record,
    plot_assessment,
    verdict,
)
from gamekeeper.attack.measure_lines import households_across
from gamekeeper.attack.options import FitMethod
from gamekeeper.attack.risk import RecordRisk, listed_risk
from gamekeeper.attack.what_if import WhatIf
from gamekeeper.budget import Work, require_memory
from gamekeeper.data.engine.gate import FEWER_KEYS, MOST_WRITTEN
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.data.reading.frames import is_path
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import build, options_of, require_known, require_valid
from gamekeeper.prompt_syntax import FractionLike, Missing
from gamekeeper.results import Audience, Progress, Provenance, Result, table_html
from gamekeeper.store.place import store_place
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench.answers import (
    WITHOUT_HOUSEHOLDS,
    Need,
    listed_notices,
    listed_writer,
    require_outputs,
    write_outputs,
)
from gamekeeper.workbench.answers import Answer as Answered
from gamekeeper.workbench.microdata import Microdata, open_microdata
from gamekeeper.workbench.requests.assessment import AssessRequest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# One to five million records, nearly all of which differ, took so much more than where few do.
_BYTES_OF_KEY = 330


@dataclass(frozen=True, repr=False, eq=False)
class Assessment(Result):
    """The assessment of a file.

    `measured` has what was measured, each a result of its own; `policy` how the file stands to each limit,
    None where none was named; `name`, `settings`, `scenario` and `attacker` what was assessed. `frame` is the
    frame that was given, None for a file; `what_if` the measures before and after a recoding, if there was
    one; `named` the file with the user's own names of its records, None where no column has them.
    """

    measured: Measured
    policy: JudgedPolicy | None
    name: str
    settings: Mapping[str, str]
    scenario: str
    attacker: str
    notices: tuple[str, ...]
    provenance: Provenance
    frame: Any = field(default=None, repr=False)
    what_if: WhatIf | None = field(default=None, repr=False)
    named: Microdata | None = field(default=None, repr=False)

    @property
    def verdict(self) -> str:
        """The outcome in one sentence; with a policy one on that comes before it."""
        return verdict(self.measured, self.policy)

    @property
    def reservations(self) -> tuple[str, ...]:
        """What changes how the numbers of the verdict may be used, in words."""
        return self.measured.chances.reservations

    @property
    def drivers(self) -> tuple[str, ...]:
        """What drives the risk, in words."""
        return drivers(self.measured)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do about it, in words."""
        return advice(self.measured, self.policy)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        keys, chances = self.measured.keys, self.measured.chances
        found = chances.right_matches
        known = "not known" if found.value is None else round(found.value, 4)
        judged = {} if self.policy is None else {"policy": self.policy.standing.value}
        return {
            **judged,
            "records": keys.n_records,
            "uniques": keys.n_unlike,
            "right_matches": known,
            "at_least": round(found.lower, 4),
            "at_most": round(found.upper, 4),
            "basis": chances.basis.value,
            **({"whole_households": "not examined"} if self.measured.household else {}),
        }

    def sentences(self) -> list[str]:
        """Return the verdict with its reservations, what drives the risk and what to do about it."""
        return [self.verdict, *self.reservations, *self.drivers, *self.advice]

    def to_arrow(self) -> pa.Table:
        """Return one row per record, in the order of the file."""
        return self.with_identifiers(record_table(self.measured))

    def with_identifiers(self, table: pa.Table) -> pa.Table:
        """Return a table of records with the user's own name of each beside its number, if known."""
        return table if self.named is None else self.named.with_identifiers(table)

    def ranked(self) -> RecordRisk:
        """Return the records as a result that ranks them by the probability of a right match."""
        known = "p_bound" if self.measured.chances.right_matches.value is None else "p_match"
        return listed_risk(
            known, self.measured.keys.listed, self.to_arrow(), MEANINGS, self.provenance
        )

    def records(self) -> Any:
        """Return the risk of every record, to be joined to the frame that was assessed.

        For a pandas frame it is one with the same index: `frame.join(assessment.records())`. For one of Polars
        it is one of Polars in the same order; otherwise an Arrow table with the place in the file, `record`.
        """
        kind = type(self.frame).__module__.partition(".")[0]
        if kind == "pandas":
            # The frame has its own names already: joined to it they would be there twice.
            frame = record_table(self.measured).drop_columns(["record"]).to_pandas()
            frame.index = self.frame.index
            return frame
        if kind == "polars":
            import polars as pl

            return pl.from_arrow(self.to_arrow())
        return self.to_arrow()

    def explain(self, label: Any) -> list[str]:
        """Return what is known of a record in words: what a match is worth, and what sets it apart.

        Its label is that of the index of a pandas frame, or else its number in the file, from 1.
        """
        return self.explain_record(self._number(label))

    def explain_record(self, record: int) -> list[str]:
        """Return the same of a record by its number in the file, from 1."""
        return [*of_record(self.measured, record), *self.measured.uniques.explain(record)]

    def guidance(self) -> tuple[Answer, ...]:
        """Return what guidance on anonymity asks, answered by our measures."""
        return answers(self.measured)

    def k_violations(self) -> dict[int, int]:
        """Return how many records look like fewer than k, for the usual k."""
        return {k: self.measured.keys.released_violations(k) for k in (2, 3, 5, 10)}

    def _number(self, label: Any) -> int:
        if type(self.frame).__module__.partition(".")[0] != "pandas":
            return label
        try:
            place = self.frame.index.get_loc(label)
        except (KeyError, TypeError):
            place = None
        if isinstance(place, int):
            return place + 1
        # Labels may be values of the file: they are not repeated.
        asked = "A record was to be explained by its label."
        if place is None:
            raise InputError(
                Reason.UNKNOWN_NAME, asked, "The index of the frame has no such label.",
                "Give one of frame.index.",
            )  # fmt: skip
        n = len(self.frame.index[place])
        raise InputError(
            Reason.DUPLICATE, asked, f"{count_of(n, 'record has', 'records have')} this label.",
            "Give every record a label of its own: frame.reset_index().",
        )  # fmt: skip

    def parts(self) -> dict[str, Any]:
        """Return what is told besides the records, by name: results, and plain values."""
        measured = self.measured
        keys, chances = measured.keys, measured.chances
        known = {
            "right_matches": chances.right_matches,
            "population_uniques": chances.population_uniques,
            "unique_match": chances.unique_match,
            "average": chances.average,
        }
        lower = measured.classes.lower
        return {
            "verdict": {
                "verdict": self.verdict,
                "reservations": list(self.reservations),
                "drivers": list(self.drivers),
                "advice": list(self.advice),
            },
            "policy": None
            if self.policy is None
            else {
                "name": self.policy.policy.name,
                "standing": self.policy.standing.value,
                "rows": self.policy.rows(),
            },
            "chances": {
                "basis": chances.basis.value,
                "basis_in_words": chances.basis_words,
                "why": chances.why,
                **{name: numbers_of(found) for name, found in known.items() if found is not None},
            },
            "classes": {
                "rows": [
                    {"class": name, "from": least, "records": n, "share": n / keys.n_records}
                    for (name, n), least in zip(measured.class_counts().items(), lower, strict=True)
                ]
            },
            "anonymity": {
                "rows": [
                    {"fewer_than": k, "records": n, "share": n / keys.n_records}
                    for k, n in self.k_violations().items()
                ]
            },
            "guidance": {"rows": [answer.row() for answer in self.guidance()]},
            "relative_risks": measured.variables,
            "variables": measured.uniques.variables,
            "categories": measured.uniques.categories,
            "sizes": measured.uniques.sizes,
            "uniques": measured.uniques.file,
            "models": None if measured.models is None else measured.models.file,
            "matching": measured.matching,
        }

    def plot(self) -> Figure:
        """Plot how probable right matches are over the records, and what variables add."""
        return plot_assessment(self.measured)

    def report(
        self,
        path: str | Path,
        *,
        with_records: bool = True,
        audience: Audience | str = Audience.INTERNAL,
    ) -> Path:
        """Write the assessment as one HTML page, which ends in .html.

        Without records it describes no single records and categories, so that more people may see it. For
        the audience "external" it tells what was done, without values of risk and parameters.
        """
        # Imported here: most who assess a file write no page.
        from gamekeeper.report.assessment_report import AssessmentPage, assessment_page, shown_to
        from gamekeeper.report.page import write_risk_report
        from gamekeeper.report.risk_report import AboutFile

        about = AboutFile(
            self.name, self.settings, self.scenario, self.attacker, self.notices, self.what_if
        )
        page = AssessmentPage(
            self.measured,
            self.policy,
            self.ranked(),
            self.verdict,
            self.reservations,
            self.drivers,
            self.advice,
            about,
            self.named is not None,
        )
        measured = self.measured
        made = (measured.keys, measured.uniques, measured.models, measured.matching)
        results = [result for result in made if result is not None]
        internal = assessment_page(page, with_records=with_records)
        shown = shown_to(audience, internal, about, measured.keys, results)
        return write_risk_report(shown, path)

    def _repr_html_(self) -> str:
        measured = self.measured
        rows: list[tuple[str, str]] = []
        if self.policy is not None:
            rows += [
                (
                    line.limit.criterion.name,
                    f"{line.found_text}, {line.limit.text}: {line.standing_text}",
                )
                for line in self.policy.lines
            ]
        rows += [("reservation", text) for text in self.reservations]
        rows += [("drives the risk", text) for text in self.drivers]
        rows += [("to do", text) for text in self.advice]
        rows += [(f"class {name}", f"{n:,}") for name, n in measured.class_counts().items()]
        rows += [(answer.question, answer.words) for answer in self.guidance()]
        return table_html(["", "found"], rows, caption=self.verdict)


_NOT_OF_PYTHON = {
    *("file", "top", "explain", "records", "report", "report_for", "report_records"),
    *("plot", "replace"),
}


def assess_release(
    asked: AssessRequest, *, progress: Progress | None = None
) -> Answered[Assessment]:
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
    return Answered(found, found.notices, found.what_if)


def told_besides(asked: AssessRequest, answer: Answered[Assessment]) -> dict[str, Any]:
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


def _assessed(asked: AssessRequest, progress: Progress | None) -> Assessment:
    started = time.perf_counter()
    # A policy that cannot be read is told before any work is done.
    policy = None if asked.policy == "" else read_policy(asked.policy)
    household = asked.measure.household
    # Models are fitted to no file with everybody, and to none of no known fraction.
    is_sample = str(asked.design.fraction or "").strip() not in ("", "1", "1.0", "100%")
    work = Work.ASSESSMENT if is_sample else Work.UNIQUES
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
            work,
            by_key=not household,
            most_elsewhere=MOST_WRITTEN,
            do=WITHOUT_HOUSEHOLDS,
        ),
        progress=progress,
    )
    table = data.count(progress=progress)
    _require_room_for_keys(table, work)
    (household,) = matched_names([household], data.coded.codebook.names)
    measured = measure_file(table, asked=asked.measure, household=household, progress=progress)
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


def _require_room_for_keys(table: KeyTable, work: Work) -> None:
    """Refuse to assess more different keys than memory holds, which is known once they are counted."""
    listed = table.n_records if table.listed.keys is None else table.n_classes
    require_memory(
        f"{count_of(table.n_records, 'record')} were to be assessed.",
        work.least_bytes(listed, len(table.keys)) + _BYTES_OF_KEY * table.n_classes,
        f"They have {count_of(table.n_classes, 'different key')}, which",
        FEWER_KEYS,
    )


def _names(given_names: str | Sequence[str]) -> tuple[str, ...]:
    return (given_names,) if isinstance(given_names, str) else tuple(given_names)


def _household_notices(table: KeyTable, household: str) -> tuple[str, ...]:
    across = households_across(table, household) if household else 0
    if not across:
        return ()
    told = (
        f"{count_of(across, 'household has', 'households have')} members in more than one stratum; the"
        " chances of their members were joined all the same."
    )
    return (told,)


def _weight_notices(data: Microdata) -> tuple[str, ...]:
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
