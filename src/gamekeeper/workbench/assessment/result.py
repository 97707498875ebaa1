"""An assessment: everything that was measured of a file, judged, explained and ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.attack.assessment.chances import numbers_of
from gamekeeper.attack.assessment.guidance import Answer, answers
from gamekeeper.attack.assessment.judged import JudgedPolicy
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.attack.assessment.record_table import MEANINGS, record_table
from gamekeeper.attack.assessment.sentences import advice, drivers, of_record, verdict
from gamekeeper.attack.risk import RecordRisk, listed_risk
from gamekeeper.attack.what_if import WhatIf
from gamekeeper.errors import InputError, Reason
from gamekeeper.report.audience import Audience
from gamekeeper.results import Provenance, Result
from gamekeeper.results.html import table_html
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from gamekeeper.workbench.microdata.file import Microdata

_KS = (2, 3, 5, 10)


@dataclass(frozen=True, repr=False, eq=False)
class Assessment(Result):
    """The assessment of a file.

    Attributes
    ----------
    measured
        What was measured: keys, uniques, models, matching, each a result of its own.
    policy
        How the file stands to each limit of a policy; None where none was named.
    name, settings, scenario, attacker
        What was assessed: the file, how it was read, the scenario and its attacker.
    notices
        What may be wrong with the data or the scenario.
    frame
        The frame that was given; None for a file.
    what_if
        The measures before and after a recoding; None where nothing was recoded.
    named
        The file with the user's own names of its records; None where no column has them.
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

        For a pandas frame it is one with the same index: `frame.join(assessment.records())`. For one
        of Polars it is one of Polars in the same order; otherwise an Arrow table, whose column
        `record` has the place in the file, from 1.
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

        Parameters
        ----------
        label
            Its label in the index of a pandas frame; else its number in the file, from 1.
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
        return {k: self.measured.keys.released_violations(k) for k in _KS}

    def _number(self, label: Any) -> int:
        """Return the number of a record, from 1."""
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
        from gamekeeper.attack.assessment.plots import plot_assessment

        return plot_assessment(self.measured)

    def report(
        self,
        path: str | Path,
        *,
        with_records: bool = True,
        audience: Audience | str = Audience.INTERNAL,
    ) -> Path:
        """Write the assessment as one HTML page.

        Parameters
        ----------
        path
            The file, which ends in .html.
        with_records
            Whether it describes single records and categories; without, more people may see it.
        audience
            "internal", or "external": what was done, without values of risk and parameters.
        """
        # Imported here: most who assess a file write no page.
        from gamekeeper.report.attacks.assessment_page import AssessmentPage, assessment_page
        from gamekeeper.report.attacks.attack_report import shown_to
        from gamekeeper.report.attacks.file_facts import AboutFile
        from gamekeeper.report.risk_page import write_risk_report

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
