"""Graphs on the wire: of categories as they are, of codes as the command line lays them out."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel, Field

from gamekeeper.algorithms.categories.limits import MAX_NODES
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.report.drawings.graphs import draw_harmonization_graph

_SHOWN_WORDS = 400


class Box(BaseModel):
    """Where a node is: its centre, its size and its lines of text."""

    x: float
    y: float
    width: float
    height: float
    lines: list[str]


class Course(BaseModel):
    """An edge: from which node to which, its line as SVG path data, the corners of its head."""

    start: int
    end: int
    path: str
    head: str


class Category(BaseModel):
    """A category of a partition graph."""

    name: str
    children: list[str]
    n_sinks: int = Field(description="How many finest categories it has.")
    is_sink: bool


class GraphShape(BaseModel):
    """A partition graph: what is made of what. Pages place it themselves, for it changes as one draws."""

    sinks: list[str] = Field(description="The finest categories, in their order.")
    categories: list[Category]


def graph_shape(graph: PartitionGraph) -> GraphShape:
    """Return a partition graph."""
    return GraphShape(
        sinks=list(graph.sinks),
        categories=[
            Category(
                name=name,
                children=list(graph.children(name)),
                n_sinks=len(graph.sinks_of(name)),
                is_sink=not graph.children(name),
            )
            for name in graph.categories
        ],
    )


class CodeNode(BaseModel):
    """A code: observed on forms (an ellipse) or a harmonization (a rectangle)."""

    code: str
    box: Box
    is_observed: bool
    n_categories: int = Field(description="0 for any level of detail.")
    n_forms: int
    n_below: int = Field(description="Forms with this code or a finer one.")
    words: list[str] = Field(description="Its categories; of very many the first.")


class HarmonizationsShape(BaseModel):
    """The harmonization graph of a variable, laid out."""

    width: float
    height: float
    codes: list[CodeNode]
    edges: list[Course]


def harmonizations_shape(environment: Environment, variable: str) -> HarmonizationsShape:
    """Return the codes of a variable with their layout; a variable that no form has, has none."""
    counts: Counter[Partition | Arbitrary] = Counter()
    for item, forms in environment.instances(variable):
        if item.partition is not None and forms:
            counts[item.partition] += len(forms)
    if not counts:
        return HarmonizationsShape(width=0, height=0, codes=[], edges=[])
    drawing = draw_harmonization_graph(environment, variable, title="", sideways=True)
    graph = environment.harmonization_graph(variable, max_nodes=MAX_NODES)
    codes = environment.codes(variable, graph.nodes)
    below = graph.weights([counts[graph.nodes[place]] for place in graph.observed]).tolist()
    words = environment.variable(variable).words
    nodes = [
        CodeNode(
            code=code,
            box=Box.model_validate(drawn, from_attributes=True),
            is_observed=code.startswith("C"),
            n_categories=0 if isinstance(node, Arbitrary) else node.n_blocks,
            n_forms=counts[node],
            n_below=under,
            words=list(words(node)[:_SHOWN_WORDS]),
        )
        for code, node, under, drawn in zip(codes, graph.nodes, below, drawing.nodes, strict=True)
    ]
    edges = [
        Course(start=start, end=end, path=arrow.path, head=arrow.corners)
        for (start, end), arrow in zip(graph.edges, drawing.arrows, strict=True)
    ]
    return HarmonizationsShape(width=drawing.width, height=drawing.height, codes=nodes, edges=edges)
