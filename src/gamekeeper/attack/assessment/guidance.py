"""Questions that guidance on anonymity asks, answered by our measures; the formulas are stated.

With n records, n1 of them unique, and F people who have the key of a record:

    singling out (WP216)          n1 / n, and the sum of P(F = 1) over the n1 uniques, over n
    linkability (WP216)           Pr(CM|UM) = n1 / sum of E[F] over the n1 uniques
    inference (WP216)             share of the records whose class has one value of a variable
    motivated intruder (ICO)      sum of E[1/F] over the n1 uniques, and the people to be searched
                                  until one fits a unique record, (N + 1) / (1 + sum of E[F])

WP216 is Opinion 05/2014 of the Article 29 Working Party; ICO is the Information Commissioner's
Office, guidance on anonymisation of 2025.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gamekeeper.attack.assessment.chances import Interval, numbers_of
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.wording import at_start, count_of, number_text, percent_text

SINGLING_OUT = "WP216: singling out"
LINKABILITY = "WP216: linkability"
INFERENCE = "WP216: inference"
INTRUDER = "ICO: motivated intruder"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, the measure that answers it, and the answer; `found` is None where not known."""

    question: str
    measure: str
    found: Interval | None
    words: str

    def row(self) -> dict[str, object]:
        """Return the answer for tables and programs."""
        return {
            "question": self.question,
            "measure": self.measure,
            "answer": self.words,
            **numbers_of(self.found),
        }


def answers(measured: Measured) -> tuple[Answer, ...]:
    """Return the answers, in the order of the guidance."""
    return tuple(_answers(measured))


def _answers(measured: Measured) -> Iterator[Answer]:
    keys, chances = measured.keys, measured.chances
    n, n_uniques = keys.n_records, keys.n_unlike
    share = n_uniques / n
    yield Answer(
        SINGLING_OUT,
        "share of uniques",
        Interval.exactly(share),
        f"{count_of(n_uniques, 'record')} of {n:,} ({percent_text(share)}) look like no other in the"
        " file.",
    )
    found = chances.population_uniques
    yield Answer(
        SINGLING_OUT,
        "share of population uniques",
        found.over(n),
        f"{at_start(found.about_text)} of them {'is' if found.text == '1' or found.is_few else 'are'}"
        " unique in the population.",
    )
    linked = chances.unique_match
    yield Answer(
        LINKABILITY,
        "Pr(CM|UM)",
        linked,
        "No record is unique, so that no link with a single record can be made."
        if linked is None
        else f"Somebody who fits just one record is that record with probability {linked.text}.",
    )
    yield from _inference(measured)
    right = chances.right_matches
    yield Answer(
        INTRUDER,
        "right matches",
        chances.right_matches,
        "Whoever matches each unique record with one person who fits is right"
        + (
            f" less than once ({right.limit_text})."
            if right.is_few
            else f" {right.count_text} times."
        ),
    )
    yield _search(measured)


def _inference(measured: Measured) -> Iterator[Answer]:
    shares = measured.sensitive_shares()
    for name, share in shares.items():
        yield Answer(
            INFERENCE,
            f"one value of {name}",
            Interval.exactly(share),
            f"{percent_text(share)} of the records look alike only with records of the same"
            f" {name}: whoever finds the class knows it.",
        )
    if not shares:
        yield Answer(
            INFERENCE,
            "one value of a sensitive variable",
            None,
            "Not known: no sensitive variable is named (--sensitive).",
        )


def _search(measured: Measured) -> Answer:
    """Return how many people it takes to find one who fits a unique record: (N + 1) / (1 + S).

    N people are drawn without replacement until one of the S who fit is met.
    """
    what = "people to be searched"
    fraction, linked = measured.keys.fraction, measured.chances.unique_match
    if linked is None:
        return Answer(INTRUDER, what, None, "There is no unique record to search for.")
    if fraction is None or linked.value is None:
        return Answer(INTRUDER, what, None, f"Not known: {measured.chances.why}.")
    n_people = measured.keys.n_records / float(fraction)
    n_uniques = measured.keys.n_unlike

    def people(probability: float) -> float:
        return (n_people + 1) / (1 + n_uniques / probability)

    # With a probability of nothing all are searched in vain.
    ends = (people(end) if end else 0.0 for end in (linked.lower, linked.upper))
    found = Interval(people(linked.value), *ends, is_given=linked.is_given)
    return Answer(
        INTRUDER,
        what,
        found,
        f"Somebody who fits some unique record is found after {found.text} of the"
        f" {number_text(round(n_people))} people on average.",
    )
