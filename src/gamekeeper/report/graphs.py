"""Partition graphs and harmonization graphs as drawings, the general above the fine.

The looks follow the original system: observed codes are blue ellipses, harmonizations yellow
rectangles, selected categories orange.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.algorithms.layout_layers import Extent, Placement, place
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import OUTSIDE, RESERVED, Variable
from gamekeeper.report.page import (
    FONT_SIZE,
    LINE_HEIGHT,
    SMALL_SIZE,
    Arrow,
    Drawing,
    Mark,
    Node,
    Shape,
    text_width,
)
from gamekeeper.report.tables import palette
from gamekeeper.wording import count_of, did_you_mean, listed, quoted, short

__all__ = ["MAX_DRAWN", "Drawing", "draw_harmonization_graph", "draw_partition_graph"]
MAX_DRAWN = 250
"""The number of nodes above which a graph is not drawn by default."""
# Beyond these limits the layout takes more than a few seconds, and nobody can read the outcome.
_EDGES_PER_NODE = 5
_LINE_LETTERS = 22
_MOST_LINES = 3
_SHOWN_CATEGORIES = 40
_NODE_GAP = 12.0
_PAGE = 1_400.0
_MOSTLY = 0.8


def draw_partition_graph(
    graph: PartitionGraph,
    *,
    selected: Iterable[str] = (),
    title: str = "",
    sideways: bool | None = None,
    max_nodes: int = MAX_DRAWN,
) -> Drawing:
    """Draw a partition graph as it is given, its sinks shaded and on the lowest layer.

    `graph.deepen()` usually has fewer edges. Categories in `selected` are filled with orange; with
    "outside this form's universe" among them, the sinks that the others leave over are marked too.
    With `sideways` the general stands to the left of the fine instead of above it; by default only
    where the sinks would take more room side by side than a page has.

    Examples
    --------
    >>> graph = PartitionGraph({"Britain": ["England", "Scotland", "Wales"]})
    >>> drawing = draw_partition_graph(graph, selected=["Britain"])
    >>> [node.lines for node in drawing.nodes]
    [('Britain',), ('England',), ('Scotland',), ('Wales',)]
    """
    chosen = set(selected)
    named = chosen.difference(RESERVED)
    _require_known("category", named, graph.categories)
    _require_room("partition graph", len(graph.categories), len(graph.edges), max_nodes)
    left_over: set[str] = set()
    if OUTSIDE in chosen:
        holders = graph.reached(sorted(named))
        left_over = {sink for sink, names in zip(graph.sinks, holders, strict=True) if not names}
    nodes = [
        _category_node(
            category,
            graph.sinks_of(category),
            is_sink=not graph.children(category),
            is_selected=category in chosen,
            is_outside=category in left_over,
        )
        for category in graph.categories
    ]
    numbers = {category: number for number, category in enumerate(graph.categories)}
    bottom = [numbers[sink] for sink in graph.sinks]
    breadth = sum(nodes[number].width + _NODE_GAP for number in bottom)
    n_categories = count_of(len(nodes), "category", "categories")
    marked = f"; {len(chosen)} selected" if chosen else ""
    return _drawn(
        nodes,
        [(numbers[parent], numbers[child]) for parent, child in graph.edges],
        bottom=bottom,
        keep_order=_is_in_order(graph),
        sideways=breadth > _PAGE if sideways is None else sideways,
        title=title,
        description=f"Partition graph of {n_categories}, {len(graph.sinks)} of them sinks{marked}",
    )


def draw_harmonization_graph(
    environment: Environment,
    variable: str,
    *,
    forms: Iterable[str] | None = None,
    target: str | None = None,
    selected: Iterable[str] = (),
    title: str | None = None,
    sideways: bool = False,
    max_nodes: int = MAX_DRAWN,
) -> Drawing:
    """Draw the harmonization graph of a variable, with the number of forms that have each code.

    Of `forms` (by default all) those that do not have the variable, or no valid categorization of
    it, do not count. The code of the form `target` takes part and is marked, but is not counted
    itself. Codes in `selected` are outlined in orange. With `sideways` the general stands to the
    left of the fine instead of above it.

    Examples
    --------
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> drawing = draw_harmonization_graph(Environment([age], [bank]), "Age")
    >>> [(node.lines, node.small) for node in drawing.nodes]
    [(('C3.001',), '1 form')]
    """
    counts = _observed(environment, variable, forms, target)
    own = None if target is None else environment.categorization(target, variable).partition
    if own is not None:
        counts[own] += 0
    if not counts:
        asked = f"The harmonization graph of '{variable}' was asked for."
        fault = "No form has a valid categorization of it."
        do = "Choose another variable, or more forms."
        raise InputError(Reason.NOTHING_GIVEN, asked, fault, do)
    try:
        graph = HarmonizationGraph.of(counts, max_nodes=max_nodes)
    except LimitError as error:
        found = f"It has more than {count_of(max_nodes, 'node')}, the most that are drawn."
        raise _too_large("harmonization graph", found) from error
    _require_room("harmonization graph", len(graph.nodes), len(graph.edges), max_nodes)
    codes = environment.codes(variable, graph.nodes)
    chosen = set(selected)
    _require_known("code", chosen, codes)
    n_under = graph.weights([counts[graph.nodes[node]] for node in graph.observed])
    meaning = environment.variable(variable)
    nodes = [
        _code_node(
            meaning,
            code,
            node,
            n_forms=counts[node],
            n_under=under,
            is_target=node == own,
            is_selected=code in chosen,
        )
        for code, node, under in zip(codes, graph.nodes, n_under.tolist(), strict=True)
    ]
    n_observed = sum(code.startswith("C") for code in codes)
    return _drawn(
        nodes,
        graph.edges,
        sideways=sideways,
        title=variable if title is None else title,
        legend=_legend(has_harmonizations=n_observed < len(codes), has_selected=bool(chosen)),
        description=f"Harmonization graph of {short(variable, 60)}:"
        f" {count_of(n_observed, 'observed code')} and"
        f" {count_of(len(codes) - n_observed, 'harmonization')}",
    )


def _drawn(
    nodes: Sequence[Node],
    edges: Sequence[tuple[int, int]],
    *,
    title: str,
    description: str,
    legend: tuple[Mark, ...] = (),
    bottom: Sequence[int] = (),
    keep_order: bool = False,
    sideways: bool = False,
) -> Drawing:
    extents = [Extent(node.width, node.height, node.shape is Shape.ELLIPSE) for node in nodes]
    if sideways:
        extents = [Extent(each.height, each.width, each.is_round) for each in extents]
    placed = place(
        extents,
        edges,
        bottom=bottom,
        keep_order=keep_order,
        # Many edges need room between the layers, or they run flat and nobody can follow them.
        rank_gap=min(max(36.0, len(edges) / _n_steps(len(nodes), edges)), 180.0),
        node_gap=_NODE_GAP / 2 if sideways else _NODE_GAP,
    )
    if sideways:
        placed = _turned(placed)
    return Drawing(
        placed.width,
        placed.height,
        tuple(replace(node, x=x, y=y) for node, (x, y) in zip(nodes, placed.centres, strict=True)),
        tuple(map(Arrow.along, placed.courses)),
        description,
        short(title, 80),
        legend,
    )


def _legend(*, has_harmonizations: bool, has_selected: bool) -> tuple[Mark, ...]:
    marks = [
        Mark(Shape.ELLIPSE, palette.OBSERVED_FILL, palette.OBSERVED_LINE, "code seen on forms")
    ]
    if has_harmonizations:
        fill, line = palette.HARMONIZATION_FILL, palette.HARMONIZATION_LINE
        marks.append(Mark(Shape.RECTANGLE, fill, line, "harmonization"))
    if has_selected:
        line = palette.SELECTED_LINE
        marks.append(Mark(Shape.RECTANGLE, palette.NODE_FILL, line, "marked code", 2.5))
    return tuple(marks)


def _turned(placed: Placement) -> Placement:
    return Placement(
        placed.height,
        placed.width,
        tuple((y, x) for x, y in placed.centres),
        tuple(tuple((y, x) for x, y in course) for course in placed.courses),
    )


def _n_steps(n_nodes: int, edges: Sequence[tuple[int, int]]) -> int:
    """Return the number of edges on the longest path, at least 1."""
    layers = [0] * n_nodes
    is_settled = False
    while not is_settled:
        is_settled = True
        for upper, lower in edges:
            if layers[lower] <= layers[upper]:
                layers[lower] = layers[upper] + 1
                is_settled = False
    return max(layers, default=0) or 1


def _is_in_order(graph: PartitionGraph) -> bool:
    """Tell whether the order of the sinks means something: most categories are runs of them."""
    runs = [graph.is_contiguous(graph.sinks_of(name)) for name in graph.categories]
    return sum(runs) >= _MOSTLY * len(runs)


def _category_node(
    category: str, sinks: Sequence[str], *, is_sink: bool, is_selected: bool, is_outside: bool
) -> Node:
    fill, line = palette.NODE_FILL, palette.NODE_LINE
    notes = [category]
    if is_sink:
        fill, line = palette.SINK_FILL, palette.SINK_LINE
    else:
        notes.append(f"{count_of(len(sinks), 'sink')}: {listed(sinks, _SHOWN_CATEGORIES)}")
    if is_outside:
        fill, line = palette.OUTSIDE_FILL, palette.SELECTED_LINE
        notes.append(OUTSIDE)
    if is_selected:
        fill, line = palette.SELECTED_FILL, palette.SELECTED_LINE
        notes.append("selected")
    lines = _wrapped(category)
    return Node(
        x=0,
        y=0,
        width=round(max(text_width(text, FONT_SIZE) for text in lines) + 14, 1),
        height=LINE_HEIGHT * len(lines) + 9,
        shape=Shape.RECTANGLE,
        fill=fill,
        line=line,
        lines=lines,
        tooltip="\n".join(notes),
        is_dashed=is_outside,
        corner=4.0,
    )


def _code_node(
    variable: Variable,
    code: str,
    categorization: Partition | Arbitrary,
    *,
    n_forms: int,
    n_under: int,
    is_target: bool,
    is_selected: bool,
) -> Node:
    is_observed = code.startswith("C")
    having = count_of(n_forms, "form") if n_forms else ""
    small = " + ".join(part for part in (having, "target" if is_target else "") if part)
    notes = [f"{having} with this code"] if having else []
    notes += ["the code of the target"] if is_target else []
    notes += [f"{count_of(n_under, 'form')} with it or a finer code"]
    words = _in_words(variable, categorization)
    width = max(text_width(code, FONT_SIZE), text_width(small, SMALL_SIZE)) + 16
    height = LINE_HEIGHT * (2 if small else 1) + 10
    line = palette.OBSERVED_LINE if is_observed else palette.HARMONIZATION_LINE
    return Node(
        x=0,
        y=0,
        # The text stays inside an ellipse that is half again as wide and a quarter higher.
        width=round(width * 1.3 if is_observed else width, 1),
        height=round(height * 1.2 if is_observed else height, 1),
        shape=Shape.ELLIPSE if is_observed else Shape.RECTANGLE,
        fill=palette.OBSERVED_FILL if is_observed else palette.HARMONIZATION_FILL,
        line=palette.SELECTED_LINE if is_selected else line,
        lines=(code,),
        small=small,
        tooltip=f"{code}: {words}\n{'; '.join(notes)}",
        line_width=2.5 if is_selected else 1.0,
    )


def _observed(
    environment: Environment, variable: str, forms: Iterable[str] | None, target: str | None
) -> Counter[Partition | Arbitrary]:
    taken = environment.forms if forms is None else [environment.form(form).name for form in forms]
    wanted = set(taken) - {target}
    counts: Counter[Partition | Arbitrary] = Counter()
    for categorization, having in environment.instances(variable):
        n_forms = len(wanted.intersection(having))
        if n_forms and categorization.partition is not None:
            counts[categorization.partition] += n_forms
    return counts


def _require_known(kind: str, names: set[str], known: Sequence[str]) -> None:
    unknown = sorted(names.difference(known))
    if unknown:
        asked = f"A drawing with the {kind} {quoted(unknown)} marked was asked for."
        found = f"The graph has no such {kind}."
        raise InputError(Reason.UNKNOWN_NAME, asked, found, did_you_mean(unknown[0], known))


def _require_room(kind: str, n_nodes: int, n_edges: int, max_nodes: int) -> None:
    max_edges = max_nodes * _EDGES_PER_NODE
    if n_nodes > max_nodes or n_edges > max_edges:
        found = (
            f"It has {count_of(n_nodes, 'node')} and {count_of(n_edges, 'edge')};"
            f" at most {max_nodes:,} and {max_edges:,} are drawn."
        )
        raise _too_large(kind, found)


def _too_large(kind: str, found: str) -> LimitError:
    advice = {
        "partition graph": "Prune it to fewer categories, deepen it to fewer edges (--deepen), or"
        " raise max_nodes (--max-nodes); a large graph is better read as a table or as JSON.",
        "harmonization graph": "Take fewer forms, or raise max_nodes (--max-nodes); the analysis needs"
        " no drawing, and its table has the codes that matter.",
    }
    return LimitError(
        Reason.TOO_LARGE, f"A drawing of a {kind} was asked for.", found, advice[kind]
    )


def _in_words(variable: Variable, categorization: Partition | Arbitrary) -> str:
    if isinstance(categorization, Arbitrary):
        return variable.words(categorization)[0]
    n_categories = count_of(categorization.n_blocks, "category", "categories")
    # The words of thousands of categories take long to find, and nobody reads them in a tooltip.
    if categorization.n_blocks > 10 * _SHOWN_CATEGORIES:
        return n_categories
    return f"{n_categories}\n{listed(variable.words(categorization), _SHOWN_CATEGORIES)}"


def _wrapped(label: str) -> tuple[str, ...]:
    lines = textwrap.wrap(
        short(label, _LINE_LETTERS * _MOST_LINES),
        _LINE_LETTERS,
        max_lines=_MOST_LINES,
        placeholder="…",
    )
    return tuple(lines) or ("\N{REPLACEMENT CHARACTER}",)
