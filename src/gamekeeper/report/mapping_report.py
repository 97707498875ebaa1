"""The HTML report of an analysis, and what it found in sentences.

It is one file that needs nothing else, to be read, printed or sent: it holds its style and drawings
itself, has no scripts, and forbids browsers to load anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from markupsafe import Markup

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, threshold
from gamekeeper.errors import LimitError
from gamekeeper.files import PAGE_ENDINGS, write_file
from gamekeeper.mapping.analysis import key_variables
from gamekeeper.mapping.analysis.composite_keys import CompositeKeys
from gamekeeper.mapping.environment.asked import Evidence, Mode
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import Scope
from gamekeeper.mapping.variables.codes import Scale
from gamekeeper.report.graphs import Drawing, draw_harmonization_graph
from gamekeeper.report.page import Frame, curve_text, runs
from gamekeeper.report.tables import palette, render, require_ending
from gamekeeper.wording import (
    asking_text,
    categories_text,
    count_of,
    exact_percent,
    joined,
    listed,
    number_text,
    quoted,
    short,
)

_SHOWN_NAMES = 5


def prevalence_text(outcome: key_variables.KeyVariableMap) -> str:
    """Say how many of the forms must be matched, and how many must have a variable.

    Of 46 forms at 10%: "at least 4 of 46 forms; a variable counts only if at least 5 have it, 10%
    of 46 being 4.6".
    """
    n_forms, share = len(outcome.match_forms), outcome.prevalence
    if n_forms == 1:
        return "the one form"
    matched = f"at least {threshold(n_forms, share)} of {n_forms} forms"
    exact = n_forms * share
    if exact <= 1 or exact.denominator == 1:
        return f"{matched} (a prevalence of {exact_percent(share)})"
    have = math.ceil(exact)
    return (
        f"{matched}; a variable counts only if at least {have} have it,"
        f" {exact_percent(share)} of {n_forms} being {_decimal(exact)}"
    )


def mode_text(outcome: key_variables.KeyVariableMap) -> str:
    """Say what the use of the analysis is."""
    return {
        Mode.SPECIFIC: "one data set that the intruder has",
        Mode.TYPICAL: "a group of data sets, some of which the intruder might have",
        Mode.MULTIPLE: "data sets from several groups, some of which the intruder might have",
    }[outcome.mode]


def headline(outcome: key_variables.KeyVariableMap) -> list[str]:
    """Return the outcome in a few sentences: what can be matched, at which detail, and why."""
    usable = [item for item in outcome.variables if item.maximal]
    n_variables = len(outcome.variables)
    of_target = f"of '{short(outcome.target)}'"
    against = _against(outcome)
    if not n_variables:
        sentences = [
            f"The form '{short(outcome.target)}' asks for no variable: there is nothing to match on."
        ]
    elif n_variables == 1:
        can = "can" if usable else "cannot"
        sentences = [f"The one variable {of_target} {can} be matched {against}."]
    elif not usable:
        sentences = [f"None of the {n_variables} variables {of_target} can be matched {against}."]
    elif len(usable) == n_variables:
        sentences = [f"All {n_variables} variables {of_target} can be matched {against}."]
    else:
        sentences = [
            f"Of the {n_variables} variables {of_target}, {len(usable)} can be matched {against}."
        ]
    if len(usable) == 1:
        sentences.append(f"That is {_detail(usable[0])}.")
    elif usable:
        sentences += _leading([item for item in usable if item.area is not None])
        sentences += _not_ranked([item for item in usable if item.area is None])
    too_few = [short(i.variable) for i in outcome.variables if not i.maximal and not i.message]
    if too_few and len(outcome.match_forms) == 1:
        sentences.append(f"The form has no valid categorization of {_some(too_few)}.")
    elif too_few:
        sentences.append(f"Too few of the forms ask for {_some(too_few)}.")
    return sentences


def explain(item: key_variables.KeyVariable, target: str, environment: Environment) -> list[str]:
    """Return the outcome for one variable in sentences."""
    own = environment.categorization(target, item.variable)
    if not own.is_valid or item.over_limit:
        return [f"There is no result: {item.message.removesuffix('.')}."]
    n_set_aside = item.n_asking - item.n_having
    if item.message:
        faulty = (
            "the categorization of 1 form is"
            if n_set_aside == 1
            else f"the categorizations of {n_set_aside} forms are"
        )
        return [f"There is no result: {faulty} inconsistent."]
    asking = asking_text(item.n_asking, item.n_forms, n_set_aside)
    if not item.maximal:
        return [f"There is no result: {asking}{_wanting(item)}."]
    scope = Scope.of(environment, target, item.variable, within_universe=bool(item.outside))
    assert own.partition is not None
    inside = scope.inside(own.partition)
    released = inside.n_blocks if isinstance(inside, Partition) else math.inf
    first = item.maximal[0]
    matched = (
        "can be matched against the one form"
        if item.n_forms == 1
        else f"can be matched against {first.n_forms} of {item.n_forms} forms"
    )
    if first.code == item.target_code:
        sentences = [f"All the detail that is released, {_coded(released, first.code)}, {matched}."]
    else:
        sentences = [
            f"It is released in {_coded(released, item.target_code)}.",
            f"At the detail of {_coded(item.n_categories, first.code)} it {matched}.",
        ]
    coarser = item.n_having - first.n_forms
    if item.n_forms > 1:
        rest = (
            f"{coarser} in categories that are coarser or cut otherwise"
            if coarser
            else "all the others at this detail or finer"
            if n_set_aside
            else "all of them at this detail or finer"
        )
        sentences.append(f"{asking[0].upper()}{asking[1:]}, {rest}.")
    if item.n_categories < item.effective < math.inf:
        variable = environment.variable(item.variable)
        overlap = "bands" if variable.scale is Scale.INTERVAL else "categories"
        matching = (
            "a form by itself"
            if item.threshold == 1
            else f"at least {item.threshold} forms, each by itself,"
        )
        sentences.append(
            f"Harmonization hides something here: {matching} can be matched with"
            f" {number_text(item.effective)} effective categories, because {overlap} overlap."
        )
    if item.not_known is not None:
        first, last = item.not_known
        sentences.append(
            "Its curve and its area are not known: there are too many harmonizations to say what"
            f" is left when between {first} and {last} forms must be matched."
            if first < last
            else "Its curve and its area are not known: there are too many harmonizations to say"
            f" what is left when {first} forms must be matched."
        )
    return sentences


def _leading(ranked: Sequence[key_variables.KeyVariable]) -> list[str]:
    if not ranked:
        return []
    leading = joined([_detail(item) for item in ranked[:3]])
    together = "Detail and number of forms taken together"
    return [f"{together}, the target could be matched best on {leading}.", _reason(ranked[0])]


def _not_ranked(items: Sequence[key_variables.KeyVariable]) -> list[str]:
    if not items:
        return []
    details = joined([_detail(item) for item in items], _SHOWN_NAMES)
    return [f"Not ranked, because too many harmonizations hide the area: {details}."]


def _against(outcome: key_variables.KeyVariableMap) -> str:
    n_forms = len(outcome.match_forms)
    if n_forms == 1:
        return f"against '{short(outcome.match_forms[0])}'"
    return f"against at least {threshold(n_forms, outcome.prevalence)} of the {n_forms} forms"


def _wanting(item: key_variables.KeyVariable) -> str:
    """Say how many forms a variable without result would need, where that is not plain."""
    exact = item.n_forms * item.prevalence
    if item.n_forms == 1 or exact <= 1 or not item.n_asking:
        return ""
    have = "have it" if item.n_asking == item.n_having else "have it without fault"
    needed = f"; a variable counts only if at least {item.n_needed} {have}"
    if exact.denominator == 1:
        return needed
    return f"{needed}, {exact_percent(item.prevalence)} of {item.n_forms} being {_decimal(exact)}"


def _coded(number: float, code: str) -> str:
    return f"{categories_text(number)} ({code})"


def _detail(item: key_variables.KeyVariable) -> str:
    code = item.maximal[0].code
    return f"{short(item.variable)} ({categories_text(item.n_categories)}, {code})"


def _reason(item: key_variables.KeyVariable) -> str:
    first = item.maximal[0]
    detail = (
        "with any level of detail"
        if item.n_categories == math.inf
        else f"with {_these(item.n_categories)}"
    )
    area = (
        "its detail has no bound"
        if item.area == math.inf
        else "its curve has the largest area of all that can be matched"
        f" ({number_text(item.area or 0)})"
    )
    forms = count_of(first.n_forms, "form")
    return f"{short(item.variable)} comes first: {forms} {detail}, and {area}."


def _these(n_categories: float) -> str:
    if n_categories == 1:
        return "this one category or finer ones"
    return f"these {categories_text(n_categories)} or finer ones"


def _decimal(number: Fraction) -> str:
    """Return a number that is not whole with two decimals, and "about" where that is not all."""
    return f"{'' if (number * 100).denominator == 1 else 'about '}{number_text(number)}"


def _some(names: Sequence[str]) -> str:
    return joined([f"'{name}'" for name in names], _SHOWN_NAMES)


# What a reader can take in. The report says how much is left out.
_SHOWN_CATEGORIES = 24
_FOLDED_CATEGORIES = 400
_SHOWN_CODES = 10
_SHOWN_RUNS = 12
_SHOWN_FORMS = 300
_SHOWN_FAULTS = 12
_SHOWN_KEYS = 40
_WORDS_OF_A_CODE = 8
_NAME_LETTERS = 120
_TEXT_LETTERS = 600
_DRAWN_NODES = 60
_NARROW_GRAPH = 480.0
_DRAWN_GRAPHS = 24
_Row = tuple[str, str, str, str]
"""A code in a table: the code, its size, its forms, its categories in words."""


def build_mapping_report(
    key_variable_map: key_variables.KeyVariableMap,
    environment: Environment,
    composite: CompositeKeys | None = None,
) -> str:
    """Return the report of an analysis as one HTML page, with composite keys where they are given.

    Examples
    --------
    >>> from gamekeeper.mapping.analysis.key_mapping import map_key_variables
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.codes import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> environment = Environment([age], [bank, Form("Census", {"Age": ()})])
    >>> page = build_mapping_report(map_key_variables(environment, "Census"), environment)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    outcome = key_variable_map
    curves = [item.curve for item in outcome.variables if item.curve is not None]
    frame = Frame.around(curves, width=330, height=120, is_log=True)
    # The ranking goes by linear area: on a linear axis the small curves show just that.
    small = Frame.around(curves, width=72, height=26)
    sections = [
        _section(rank, item, outcome, environment, frame, small)
        for rank, item in enumerate(outcome.variables, start=1)
    ]
    header, rows = key_variables.map_table(outcome)
    forms = outcome.match_forms
    return render(
        "report.html.jinja",
        outcome=outcome,
        target=short(outcome.target, _NAME_LETTERS),
        environment=short(environment.name, _NAME_LETTERS),
        parameters={
            name: short(value, _TEXT_LETTERS)
            for name, value in outcome.provenance.parameters.items()
        },
        levels=_levels(outcome),
        palette=palette,
        headline=headline(outcome),
        mode=mode_text(outcome),
        prevalence=prevalence_text(outcome),
        n_variables=count_of(len(outcome.variables), "variable"),
        n_forms=count_of(len(forms), "form"),
        forms=[short(form) for form in forms[:_SHOWN_FORMS]],
        n_forms_left_out=max(0, len(forms) - _SHOWN_FORMS),
        notices=_notices(outcome),
        header=header,
        rows=rows,
        composite=None if composite is None else _composite(composite, outcome.prevalence),
        sections=sections,
        frame=frame,
        small=small,
    )


def write_mapping_report(
    key_variable_map: key_variables.KeyVariableMap,
    environment: Environment,
    path: str | Path,
    composite: CompositeKeys | None = None,
) -> Path:
    """Write the report of an analysis to a file that ends in .html or .htm."""
    require_ending("report", path, PAGE_ENDINGS)
    page = build_mapping_report(key_variable_map, environment, composite)
    return write_file(path, page.encode(), private=False)


def _composite(found: CompositeKeys, asked: Fraction) -> dict[str, object]:
    curve = found.curve
    frame = Frame.around([curve], width=330, height=120, is_log=True)
    rows = [
        (
            f"{len(key.forms):,} of {found.n_forms:,}",
            str(len(key.parts)),
            number_text(key.size),
            short(", ".join(f"{part.variable} {part.code}" for part in key.parts), _TEXT_LETTERS),
            [short(form) for form in key.forms[:_SHOWN_FORMS]],
            max(0, len(key.forms) - _SHOWN_FORMS),
        )
        for key in found.keys[:_SHOWN_KEYS]
    ]
    n_more = len(found.keys) - len(rows)
    in_words = curve_text(curve) if curve.sizes else ""
    for old, new in (("categories", "combinations"), ("category", "combination")):
        in_words = in_words.replace(old, new)
    return {
        "sentences": [short(sentence, _TEXT_LETTERS) for sentence in found.sentences],
        "rows": rows,
        "left_out": f"and {count_of(n_more, 'more key')}" if n_more else "",
        "frame": frame,
        "plot": frame.plot(curve, asked) if curve.sizes else None,
        "in_words": in_words,
    }


def _notices(outcome: key_variables.KeyVariableMap) -> list[str]:
    refused = [item.variable for item in outcome.variables if item.over_limit]
    stopped = [i.variable for i in outcome.variables if i.message and not i.over_limit]
    notices: list[str] = []
    if refused:
        notices.append(
            f"No result for {quoted(refused)}, because there are too many harmonizations. Raise"
            " max_nodes (--max-nodes), match against fewer forms, or ask for another prevalence."
        )
    if stopped:
        notices.append(
            f"No result for {quoted(stopped)}, because categorizations are inconsistent. The"
            " sections of these variables name the forms and what is wrong with them. Correct the"
            " forms, or analyse again without strictness: then they are set aside."
        )
    return [*notices, *(short(note, _TEXT_LETTERS) for note in outcome.notes)]


def _levels(outcome: key_variables.KeyVariableMap) -> str:
    levels = outcome.provenance.parameters.get("levels", "")
    return f"{levels} categories" if levels.isdecimal() else "more categories than any number"


def _section(
    rank: int,
    item: key_variables.KeyVariable,
    outcome: key_variables.KeyVariableMap,
    environment: Environment,
    frame: Frame,
    small: Frame,
) -> dict[str, object]:
    maximal = item.maximal
    first = maximal[0] if maximal else None
    categories = first.categories if first else ()
    folded = categories[_SHOWN_CATEGORIES : _SHOWN_CATEGORIES + _FOLDED_CATEGORIES]
    evidence = first.evidence if first else ()
    graph, graph_note = _graph(rank, item, outcome, environment)
    is_wide = graph is not None and graph.size[0] > _NARROW_GRAPH
    faults = sorted((item.set_aside or {}).items())
    n_more_faults = len(faults) - _SHOWN_FAULTS
    curve = item.curve if item.curve is not None and item.curve.sizes else None
    sizes = [
        (f"{start}" if start == stop else f"{start} to {stop}", categories_text(size))
        for start, stop, size in (runs(curve) if curve else ())
    ]
    if len(sizes) > _SHOWN_RUNS:
        sizes = [*sizes[:_SHOWN_RUNS], ("more", count_of(len(sizes) - _SHOWN_RUNS, "further step"))]
    return {
        "rank": rank,
        "name": short(item.variable),
        "description": short(environment.variable(item.variable).description, _TEXT_LETTERS),
        "sentences": [
            short(sentence, _TEXT_LETTERS)
            for sentence in explain(item, outcome.target, environment)
        ],
        "is_stopped": bool(item.message),
        "is_ranked": item.area is not None and not item.message,
        "maximal": first,
        "categories": [short(name) for name in categories[:_SHOWN_CATEGORIES]],
        "more_categories": [short(name) for name in folded],
        "n_more_left_out": max(0, len(categories) - _SHOWN_CATEGORIES - _FOLDED_CATEGORIES),
        "others": [_other(other) for other in maximal[1 : 1 + _SHOWN_CODES]],
        "others_left_out": _others_left_out(item),
        "matched": count_of(first.n_forms, "form") if first else "",
        "evidence": [_seen(item.variable, seen, environment) for seen in evidence[:_SHOWN_CODES]],
        "evidence_left_out": _left_out(evidence[_SHOWN_CODES:]),
        "plot": frame.plot(curve, outcome.prevalence) if curve else None,
        "spark": small.plot(curve, outcome.prevalence) if curve else None,
        "curve_in_words": curve_text(curve) if curve else "",
        "runs": sizes,
        # The drawing is a template of this room too and has escaped every label.
        "graph": Markup(graph.svg(inline=True)) if graph else None,  # noqa: S704
        "is_wide": is_wide,
        "graph_note": graph_note,
        "faults": [
            (short(form), short(fault, _TEXT_LETTERS)) for form, fault in faults[:_SHOWN_FAULTS]
        ],
        "faults_left_out": count_of(n_more_faults, "more form") if n_more_faults > 0 else "",
        "names": [short(form) for form in (first.forms if first else ())[:_SHOWN_FORMS]],
        "n_names_left_out": max(0, len(first.forms) - _SHOWN_FORMS) if first else 0,
    }


def _graph(
    rank: int,
    item: key_variables.KeyVariable,
    outcome: key_variables.KeyVariableMap,
    environment: Environment,
) -> tuple[Drawing | None, str]:
    """Draw the harmonization graph of a variable, or say why not."""
    if item.message or not item.n_having:
        return None, ""
    if rank > _DRAWN_GRAPHS:
        return None, f"Graphs are drawn for the first {_DRAWN_GRAPHS} variables only."
    try:
        drawing = draw_harmonization_graph(
            environment,
            item.variable,
            forms=outcome.match_forms,
            target=outcome.target,
            selected=item.codes,
            max_nodes=_DRAWN_NODES,
        )
    except LimitError:
        return None, f"The harmonization graph is not drawn: it has more than {_DRAWN_NODES} codes."
    # The page has the name of the variable above the drawing and the legend under it.
    plain = replace(drawing, title="", legend=())
    return (plain, "") if len(plain.nodes) > 1 else (None, "")


def _other(maximal: key_variables.Maximal) -> _Row:
    return (
        maximal.code,
        number_text(len(maximal.categories)),
        str(maximal.n_forms),
        listed(maximal.categories, _WORDS_OF_A_CODE),
    )


def _others_left_out(item: key_variables.KeyVariable) -> str:
    n_more = len(item.maximal) - 1 - _SHOWN_CODES
    if item.has_more:
        return "and more"
    if item.may_have_more:
        return f"and {count_of(n_more, 'more code')} or more" if n_more > 0 else "and perhaps more"
    return f"and {count_of(n_more, 'more code')}" if n_more > 0 else ""


def _seen(variable: str, evidence: Evidence, environment: Environment) -> _Row:
    meaning = environment.register(variable).meaning(evidence.code)
    n_forms = str(evidence.n_forms)
    if isinstance(meaning, Arbitrary):
        return evidence.code, "∞", n_forms, categories_text(math.inf)
    # The words of thousands of categories take long to find, and none of them would be shown.
    if meaning.n_blocks > _FOLDED_CATEGORIES:
        words = categories_text(meaning.n_blocks)
    else:
        words = listed(environment.variable(variable).words(meaning), _WORDS_OF_A_CODE)
    return evidence.code, number_text(meaning.n_blocks), n_forms, words


def _left_out(evidence: Sequence[Evidence]) -> str:
    if not evidence:
        return ""
    n_forms = count_of(sum(item.n_forms for item in evidence), "form")
    return f"and {count_of(len(evidence), 'more code')} on {n_forms}"
