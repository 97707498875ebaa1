"""An assessment in words and as a plot: verdict, drivers of the risk, advice; no value of the file."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.attack.assessment.measured import Basis, Interval, Measured
from gamekeeper.attack.assessment.policy import JudgedPolicy, Standing
from gamekeeper.attack.models.levels import RelativeRisk
from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.results import COLOURS, MUTED, name_bars, new_figure, ruled
from gamekeeper.wording import (
    at_start,
    be,
    count_of,
    expected_text,
    joined,
    number_text,
    percent_text,
    quoted,
    share_text,
    three_digits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLAMED, _MOST_TO_LOOK_AT = 3, 100
_N_BINS, _MOST_BARS, _NAME_LETTERS = 20, 12, 32


def verdict(measured: Measured, judged: JudgedPolicy | None) -> str:
    """Return the outcome in one sentence, for a director; with a policy it begins with that."""
    risk = _risk(measured)
    if measured.household:
        risk = f"{risk} Whole households were not attacked."
    if judged is None:
        return risk
    return f"{judged.sentence.removesuffix('.')}; {risk[0].lower()}{risk[1:]}"


def _risk(measured: Measured) -> str:
    keys, chances = measured.keys, measured.chances
    n = count_of(keys.n_records, "record")
    if not keys.n_unlike:
        smallest = min(keys.released_by_size)
        # Through a household a record is found more often.
        match = "match with a single record" if measured.household else "match"
        return (
            f"No record of the {keys.n_records:,} stands alone on the key variables: each looks like"
            f" {count_of(smallest - 1, 'other')} at least, so that no {match} is right with a"
            f" probability above {share_text(Fraction(1, smallest))}."
        )
    uniques = f"{keys.n_unlike:,} ({percent_text(keys.n_unlike / keys.n_records)})"
    if chances.basis is Basis.EVERYBODY:
        return (
            f"Of {n}, {uniques} can be matched with certainty: the file holds everybody, and they look"
            " like nobody else on the key variables."
        )
    if chances.basis is Basis.BOUND:
        return (
            f"Of {n}, {uniques} {be(keys.n_unlike)} unique on the key variables, and"
            f" {'it' if keys.n_unlike == 1 else 'any of them'} may be re-identified: how many is not"
            f" known, because {chances.why}."
        )
    return (
        f"An intruder who knows the key variables would re-identify"
        f" {chances.right_matches.about_text} of the {count_of(keys.n_unlike, 'record')}"
        f" ({percent_text(keys.n_unlike / keys.n_records)} of {keys.n_records:,}) that"
        f" {be(keys.n_unlike)} unique in the file; right guesses among records that look alike are not"
        " counted."
    )


def drivers(measured: Measured) -> tuple[str, ...]:
    """Return what drives the risk: variables, and the combination that sets records apart most."""
    keys, uniques = measured.keys, measured.uniques
    if not keys.n_uniques:
        blamed = "No record is unique, so that no variable is to blame."
        if keys.n_unlike:
            blamed = (
                f"What sets unique records apart is not searched for where {keys.missing.words}:"
                " count missing cells as a category to be told (--missing category)."
            )
        return (blamed, *_households(measured))
    if keys.n_records == 1:
        return ("It is the only record: nothing is needed to set it apart.",)
    told: list[str] = []
    if measured.variables is not None:
        told.append(
            f"A match with {count_of(measured.chances.n_likely, 'record')} is more likely right than wrong, and with"
            f" {measured.class_counts()['high']:,} more it is right in one case of five at least."
        )
        told.append(_population_uniques(measured, measured.variables))
    file_is = uniques.variables.file_is
    if file_is and len(keys.keys) > 1:
        parts = [
            f"{line.variable} ({percent_text(line.is_score / file_is)})"
            for line in uniques.variables.lines[:_BLAMED]
            if line.is_score
        ]
        told.append(
            f"{joined(parts)} {'weighs' if len(parts) == 1 else 'weigh'} most in the combinations that"
            " set records apart (share of IS, a ranking)."
        )
    if uniques.kind is not None and len(keys.keys) > 1:
        names, count = uniques.kind
        how = f"{names[0]} alone sets" if len(names) == 1 else f"{joined(names)} together set"
        told.append(f"{how} {count_of(count, 'record')} apart.")
    return (*told, *_households(measured))


def _population_uniques(measured: Measured, variables: RelativeRisk) -> str:
    found = measured.chances.population_uniques
    if found.is_few:
        return (
            "Fewer than one of the unique records is expected to be unique in the population"
            f" ({found.limit_text})."
        )
    parts = [
        f"{expected_text(line.tau1_left)} without {line.variable}"
        for line in variables.lines[:_BLAMED]
    ]
    return (
        f"{at_start(found.about_text)} of the unique records are unique in the population; it would be"
        f" {joined(parts)}."
    )


def _households(measured: Measured) -> Iterator[str]:
    """Return what households add: who finds one member finds all."""
    if measured.household:
        yield WHOLE_HOUSEHOLDS
    if measured.household_chances is None:
        return
    most = "at most " if measured.chances.basis is Basis.BOUND else ""
    mean, highest = (
        three_digits(float(value))
        for value in (measured.household_chances.mean(), measured.household_chances.max())
    )
    yield (
        f"Through the members of its household ({measured.household}) a record is found with probability"
        f" {most}{mean} on average and {highest} in the worst case, if they are found independently of"
        " each other."
    )


def advice(measured: Measured, judged: JudgedPolicy | None) -> tuple[str, ...]:
    """Return what to do about the risk, the most telling first."""
    keys = measured.keys
    told = [f"{line}" for line in _for_policy(measured, judged)]
    if not keys.n_unlike or (not told and _is_nobody_found(measured)):
        return (
            *told,
            "Assess it on other key variables that somebody may know, too: nothing is said about those.",
        )
    told += _coarsen(measured)
    name, n = next(iter(measured.class_counts().items()))
    if measured.chances.basis is not Basis.BOUND and n > _MOST_TO_LOOK_AT:
        told.append(
            f"{count_of(n, 'record')} are in the class {quoted([name])}, too many to be looked at one by"
            " one (--records FILE lists them)."
        )
    elif measured.chances.basis is not Basis.BOUND and n:
        told.append(
            f"Look at the {count_of(n, 'record')} of the class {quoted([name])} one by one (--records"
            " FILE lists them; --explain NUMBER says what sets one apart)."
        )
    if measured.chances.basis is Basis.BOUND:
        told.append(
            "Until it is known what a match is worth, treat every unique record as one that can be"
            f" re-identified. It is not known because {measured.chances.why}."
        )
    return tuple(told)


def _is_nobody_found(measured: Measured) -> bool:
    """Tell whether there is no risk to do something about.

    The upper limit of people who are matched rightly is below one; or that of people who are unique
    is, and either every match is unlikely, or none is likely and it is not sure that one is right.
    """
    chances, homes = measured.chances, measured.household_chances
    if chances.basis is not Basis.MODELS:
        return False
    worst = int(measured.classes.classify(chances.ranking if homes is None else homes).min())
    lowest = len(measured.classes.names) - 1
    if homes is not None and worst < lowest:
        return False
    if chances.population_uniques.upper >= 1:
        return chances.right_matches.upper < 1
    return worst == lowest or (worst == lowest - 1 and chances.right_matches.lower < 1)


def _for_policy(measured: Measured, judged: JudgedPolicy | None) -> Iterator[str]:
    for line in () if judged is None else judged.lines:
        if line.standing is Standing.MET:
            continue
        limit, name = line.limit, line.limit.criterion.name
        told = f"{name} is {line.found_text}, and {limit.text} is asked"
        if name == "k_anonymity":
            below = measured.keys.released_violations(int(limit.value))
            told += f": {count_of(below, 'record')} must come to look like others"
        elif line.why:
            told += f": {line.why}"
        yield f"{told}."


def _coarsen(measured: Measured) -> Iterator[str]:
    codebook = measured.keys.coded.codebook
    n_categories = {name: codebook[name].n_codes - 1 for name in measured.keys.keys}
    by_models = measured.variables
    if by_models is not None:
        left = {line.variable: line for line in by_models.lines}
        order = list(left)
    else:
        left = {}
        order = [line.variable for line in measured.uniques.variables.lines if line.is_score]
    if not order:
        return
    # Two categories have nothing coarser than the variable's removal.
    first = next((name for name in order if n_categories[name] > 2), None)
    if first is None:
        yield f"Leave {order[0]} out, since no variable has more than two categories to join."
        return
    gain, line = "", left.get(first)
    if line is not None:
        is_given = line.tau1_lower is not None
        found = Interval(line.tau1_left, *line.tau1_range, is_given=is_given)
        gain = (
            f": without it fewer than one population unique would be left ({found.limit_text})"
            if found.is_few
            else f": without it {found.count_text} population uniques would be left"
        )
    yield (
        f"Coarsen {first} first, which has"
        f" {count_of(n_categories[first], 'category', 'categories')}{gain}. Then assess again."
    )


def of_record(measured: Measured, record: int) -> tuple[str, ...]:
    """Return what a match with a record (numbered from 1) is worth; nothing where it was left out."""
    measured.uniques.explainer.check([record])
    place = measured.keys.listed.row_of(record - 1)
    if place is None:
        return ()
    chances = measured.chances
    most = "at most " if chances.basis is Basis.BOUND else ""
    worth = three_digits(float(chances.ranking[place]))
    told = [f"A match with it is right with probability {most}{worth}."]
    if chances.basis is Basis.MODELS:
        most = chances.people_upper[place]
        span = (
            "no interval"
            if np.isnan(most)
            else f"{chances.people_lower[place]:,.0f} to {most:,.0f}"
        )
        told.append(
            f"{number_text(chances.expected_size[place])} people are expected to have its key"
            f" ({span}), and with"
            f" probability {three_digits(chances.p_unique[place])} nobody else has it."
        )
    if measured.household_chances is not None:
        risk = float(measured.household_chances[place])
        told.append(
            f"A match with its household is right with probability {most}{three_digits(risk)}."
        )
    return tuple(told)


def plot_assessment(measured: Measured) -> Figure:
    """Plot an assessment; needs no display."""
    figure = new_figure(10.0, 4.0)
    left, right = figure.subplots(1, 2)
    _spread(ruled(left), measured)
    _variables(ruled(right), measured)
    return figure


def _spread(ax: Axes, measured: Measured) -> None:
    values = measured.chances.ranking
    counts, unique = measured.chances.counts, measured.keys.listed.released() == 1
    edges = np.linspace(0.0, 1.0, _N_BINS + 1).tolist()
    parts = [values[unique], values[~unique]]
    weights = [counts[unique], counts[~unique]]
    n_unique, n_others = (int(each.sum()) for each in weights)
    ax.hist(
        parts,
        bins=edges,
        weights=weights,
        stacked=True,
        color=[COLOURS[1], COLOURS[0]],
        label=[f"unique ({n_unique:,})", f"not unique ({n_others:,})"],
    )
    is_bound = measured.chances.basis is Basis.BOUND
    ax.set_xlabel("Probability of a right match" + (", at most" if is_bound else ""))
    ax.set_ylabel("Records")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.legend(frameon=False, loc="best")
    ax.set_title("How many records can be matched", loc="left")


def _variables(ax: Axes, measured: Measured) -> None:
    by_models = measured.variables
    if by_models is not None:
        lines = by_models.lines[:_MOST_BARS]
        names = [f"without {line.variable}" for line in lines]
        values = [line.tau1_left for line in lines]
        whole = measured.chances.population_uniques
        assert whole.value is not None
        names, values = ["as it is", *names], [whole.value, *values]
        ends = [(whole.lower, whole.upper), *(line.tau1_range for line in lines)]
        spans = np.abs(np.array(ends).T - np.array(values))
        ax.barh(range(len(names)), values, xerr=spans, color=COLOURS[0], ecolor=MUTED, capsize=2)
        ax.set_xlabel("Unique in the population (95% interval)")
        ax.set_title("What each variable adds", loc="left")
        n_left = len(by_models.lines) - len(lines)
    else:
        scores = measured.uniques.variables
        shown = scores.lines[:_MOST_BARS]
        names = [line.variable for line in shown]
        values = [100 * line.is_score / scores.file_is if scores.file_is else 0.0 for line in shown]
        ax.barh(range(len(names)), values, color=COLOURS[0])
        ax.set_xlabel("Percent of the file's IS, a ranking")
        ax.set_title("Which variables set records apart", loc="left")
        n_left = len(scores.lines) - len(shown)
    name_bars(ax, names, _NAME_LETTERS)
    if n_left:
        ax.annotate(f"{count_of(n_left, 'more variable')} not shown", (0.99, 0.02),
                    xycoords="axes fraction", ha="right", color=MUTED)  # fmt: skip
