"""What an intruder who knows some values of a person infers about others, by models of the release.

The sensitive variables must be among those that the models were fitted to. Nothing is looked up: the
answer is what the models say of anybody with the known values. Smith's thesis, chapter 6.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.decomposable.junction_queries import infer_values
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.attack.models.inference import ModelRisk, require_same_keys
from gamekeeper.attack.models.options import MOST_CELLS
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import be, count_of, did_you_mean, quoted, there_are, three_digits

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.data.keys.key_table import KeyTable


@dataclass(frozen=True, repr=False, eq=False)
class Inference(Result):
    """The distribution of some variables given known values, the most probable first.

    Attributes
    ----------
    asked, known
        The variables asked for, in the order asked, and the known values in words.
    rows
        Values in words, one per asked variable, and their probability.
    known_probability
        How probable the known values are together; 0 where the models exclude them.
    strata_differ
        Whether strata were sampled with different fractions: the models, and so the answer, are of
        people as they are in the file.
    """

    asked: tuple[str, ...]
    known: Mapping[str, str]
    rows: tuple[tuple[tuple[str, ...], float], ...]
    known_probability: float
    provenance: Provenance
    strata_differ: bool = False

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "asked": ", ".join(self.asked),
            "known": len(self.known),
            "combinations": len(self.rows),
            "most_probable": self.rows[0][1] if self.rows else 0.0,
            "known_probability": self.known_probability,
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per combination of values."""
        import pyarrow as pa

        columns: dict[str, Any] = {
            name: pa.array([words[place] for words, _ in self.rows], pa.string())
            for place, name in enumerate(self.asked)
        }
        chances = pa.array([chance for _, chance in self.rows], pa.float64())
        return pa.table({**columns, "probability": chances})

    def sentences(self) -> list[str]:
        """Return the answer in words."""
        if not self.rows:
            return ["Nobody has the known values, as far as the models know."]
        words, chance = self.rows[0]
        told = ", ".join(f"{name} {word}" for name, word in zip(self.asked, words, strict=True))
        answer = [
            f"Most probable, with {three_digits(chance)}: {told}.",
            (
                f"{count_of(len(self.rows), 'combination')}"
                f" {be(len(self.rows))} possible. The known values are found"
                f" together with probability {three_digits(self.known_probability)}."
            ),
        ]
        if self.strata_differ:
            answer.append(
                "Strata were sampled with different fractions: this is about people as they are in"
                " the file, not in the population."
            )
        return answer

    def _repr_html_(self) -> str:
        # A notebook travels further than its file: numbers, and no value of a person.
        rows = list(self.summary().items())
        return table_html(["measure", "value"], rows, caption=type(self).__name__)


def infer_target(
    risk: ModelRisk,
    key_table: KeyTable,
    known: Mapping[str, str],
    ask: Sequence[str],
    *,
    precision: float = 1.0,
    most_cells: int = MOST_CELLS,
) -> Inference:
    """Infer values of a person from others that are known of them.

    Models are of the file: where strata were sampled with different fractions, so is the answer.

    Parameters
    ----------
    known, ask
        The words of the known values, by key variable, and the key variables to infer.
    precision
        The total precision of the prior, so that values that do not occur together in the file are
        unlikely and not impossible; 0 for maximum likelihood.
    most_cells
        Refuse a question that needs a table of more cells.

    Examples
    --------
    >>> from gamekeeper.attack.models.fitting import fit_models
    >>> from gamekeeper.attack.models.inference import infer_risk
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> words = [("missing", "young", "old"), ("missing", "well", "ill")]
    >>> people = [[1, 1]] * 9 + [[1, 2], [2, 2], [2, 2]] + [[2, 1]]
    >>> keys = count_keys(coded_from_codes(people, ["age", "health"], words), ["age", "health"])
    >>> risk = infer_risk(keys, fit_models(keys, method="annealing"), fraction="1/10")
    >>> infer_target(risk, keys, {"age": "young"}, ["health"]).rows[0][0]
    ('well',)
    """
    started = time.perf_counter()
    require_same_keys(key_table, risk.fit)
    keys = risk.fit.keys
    # Where no cell is missing, "missing" is no category that a prior should think of.
    shift = (risk.table.rows.min(axis=0) > 0).astype(np.int64)
    codes = check_question(key_table, known, ask)
    models, weights = risk.fit.pooled()
    numbers = sorted(keys.index(name) for name in ask)
    levels = [level - int(less) for level, less in zip(risk.table.levels, shift, strict=True)]
    table = ClassTable(risk.table.rows - shift, risk.table.records, levels)
    found = infer_values(
        table,
        list(models),
        numbers,
        {number: code - int(shift[number]) for number, code in codes.items()},
        weights=weights,
        precision=precision,
        most_cells=most_cells,
    )
    asked = tuple(ask)
    places = [found.variables.index(keys.index(name)) for name in asked]
    told = (found.codes + shift[list(found.variables)])[:, places]
    books = [key_table.coded.codebook[name] for name in asked]
    rows = sorted(
        (
            (tuple(book.words[code] for book, code in zip(books, line, strict=True)), float(chance))
            for line, chance in zip(told.tolist(), found.probabilities, strict=True)
        ),
        key=lambda row: -row[1],
    )
    made = replace(
        risk.provenance,
        method="inference of values",
        parameters={**risk.provenance.parameters, "asked": ", ".join(asked)},
        seconds=time.perf_counter() - started,
    )
    return Inference(
        asked,
        dict(known),
        tuple(rows),
        float(found.known_probability),
        made,
        risk.fractions is not None,
    )


def check_question(
    key_table: KeyTable, known: Mapping[str, str], ask: Sequence[str]
) -> dict[int, int]:
    """Return the codes of known values by the number of their variable, or refuse the question.

    It needs no models, so that nobody waits for these to be told of a slip.
    """
    keys, codes_of_file = key_table.keys, key_table.listed.codes()
    problems: list[Problem] = []
    if not ask:
        problems.append(Problem(Reason.NOTHING_GIVEN, "variables", "none is asked for."))
    for name in (*known, *ask):
        if name not in keys:
            where = f"variable {quoted([name])}"
            hint = did_you_mean(name, keys)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "is no key variable.", hint))
    twice = sorted({name for name in ask if list(ask).count(name) > 1})
    if twice:
        problems.append(
            Problem(Reason.DUPLICATE, f"variables {quoted(twice)}", "are asked for twice.")
        )
    both = sorted(set(known) & set(ask))
    if both:
        problems.append(
            Problem(Reason.DUPLICATE, f"variables {quoted(both)}", "are known and asked for.")
        )
    codes: dict[int, int] = {}
    for name, word in known.items():
        if name not in keys:
            continue
        book = key_table.coded.codebook[name]
        # Code 0 is the missing cell, which is a category only where there are some.
        least = int((codes_of_file[:, keys.index(name)] > 0).all())
        matches = [code for code, own in enumerate(book.words) if own == word and code >= least]
        matches += [code for code, own in enumerate(book.values) if code and own == word]
        if matches:
            codes[keys.index(name)] = matches[0]
        else:
            # What was asked is the user's own; what the file has is not named.
            where = f"value {quoted([word])} of {quoted([name])}"
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "is not in the file."))
    refuse(
        problems,
        "Values of a person were to be inferred.",
        f"{there_are(len(problems), 'problem')}.",
    )
    return codes
