"""Random inputs that several tests draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate

from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import Band, BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import Variable

Categorizations = list[Partition | Arbitrary]


def partitions(n_sinks: int) -> st.SearchStrategy[Partition]:
    """Partitions of 0 .. n-1."""
    label = st.integers(0, max(n_sinks - 1, 0))
    return st.lists(label, min_size=n_sinks, max_size=n_sinks).map(Partition.from_labels)


def categorizations(n_sinks: int) -> st.SearchStrategy[Partition | Arbitrary]:
    """Partitions, and now and then arbitrary precision."""
    return st.one_of(partitions(n_sinks), partitions(n_sinks), st.just(ARBITRARY))


@st.composite
def lists_of_partitions(
    draw: st.DrawFn, *, least: int = 1, most: int = 5, most_sinks: int = 8
) -> list[Partition]:
    """Partitions of the same sinks."""
    n_sinks = draw(st.integers(1, most_sinks))
    return draw(st.lists(partitions(n_sinks), min_size=least, max_size=most))


@st.composite
def lists_of_categorizations(
    draw: st.DrawFn, *, least: int = 1, most: int = 5, most_sinks: int = 6
) -> Categorizations:
    """Categorizations of the same sinks."""
    n_sinks = draw(st.integers(1, most_sinks))
    return draw(st.lists(categorizations(n_sinks), min_size=least, max_size=most))


def disjoint_pairs(n: int) -> list[Partition]:
    """Return n categorizations that each merge a pair of their own: the worst case."""
    pairs: list[Partition] = []
    for number in range(n):
        labels = list(range(2 * n))
        labels[2 * number + 1] = 2 * number
        pairs.append(Partition.from_labels(labels))
    return pairs


def ring_and_pairs(n: int) -> list[Partition]:
    """Return n categorizations that each merge neighbours on a ring and a pair of their own.

    They are one part, and nearly every subset has its own harmonization.
    """
    found: list[Partition] = []
    for number in range(n):
        labels = list(range(3 * n))
        labels[(number + 1) % n] = number
        labels[n + 2 * number + 1] = n + 2 * number
        found.append(Partition.from_labels(labels))
    return found


def crossing_bands() -> list[Partition]:
    """Return 13 categorizations with 4 of 13 cuts each, any two of which share exactly one.

    So one form leaves 5 categories, two to four forms 2, and more of them 1.
    """
    kept = [{(first + step) % 13 for step in (0, 1, 3, 9)} for first in range(13)]
    return [
        Partition.from_labels([0, *accumulate(int(cut in own) for cut in range(13))])
        for own in kept
    ]


def crossing_environment() -> Environment:
    """Return forms that have those bands of X and all the same two categories of Y."""
    bands = crossing_bands()
    labels = {f"form{number:02d}": labels_of("X", own) for number, own in enumerate(bands)}
    labels["target"] = labels_of("X", Partition.finest(14))
    return Environment(
        [variable_of("X", bands, 14), variable_of("Y", [], 2)],
        [Form(name, {"X": own, "Y": ("Y0", "Y1")}) for name, own in labels.items()],
    )


@st.composite
def partition_graph_children(draw: st.DrawFn) -> dict[str, list[str]]:
    """Partition graphs as children of each category: any shape, some categories equal."""
    n_sinks = draw(st.integers(1, 6))
    children: dict[str, list[str]] = {f"s{number}": [] for number in range(n_sinks)}
    reach = {name: {name} for name in children}
    for number in range(draw(st.integers(0, 6))):
        below: list[str] = []
        covered: set[str] = set()
        for name in draw(st.permutations(sorted(children))):
            if not reach[name] & covered and (not below or draw(st.booleans())):
                below.append(name)
                covered |= reach[name]
        children[f"c{number}"] = below
        reach[f"c{number}"] = covered
    return children


@st.composite
def digraphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Any directed graphs without repeated edges, cycles and loops among them."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 6)))]
    return {name: draw(st.lists(st.sampled_from(names), unique=True, max_size=3)) for name in names}


def cut_points() -> st.SearchStrategy[list[int]]:
    """Cut points above 0 of a categorization of a number by intervals."""
    return st.lists(st.integers(1, 30), unique=True, max_size=6).map(sorted)


def variable_of(name: str, partitions: Iterable[Partition], n_sinks: int) -> Variable:
    """Return a variable that has every block of some partitions as a category."""
    sinks = [f"{name}{number}" for number in range(n_sinks)]
    blocks = [block for partition in partitions for block in partition.blocks()]
    children = {block_name(name, block): [sinks[n] for n in block] for block in blocks}
    return Variable(
        name,
        PartitionGraph(
            {**{sink: [] for sink in sinks}, **{k: v for k, v in children.items() if len(v) > 1}},
            order=sinks,
        ),
    )


def block_name(name: str, block: Sequence[int]) -> str:
    """Return the name of the category of a block."""
    return "+".join(f"{name}{number}" for number in block)


def labels_of(name: str, categorization: Partition | Arbitrary) -> tuple[str, ...]:
    """Return the labels that select a categorization of a variable made by `variable_of`."""
    if isinstance(categorization, Arbitrary):
        return ()
    return tuple(block_name(name, block) for block in categorization.blocks())


@st.composite
def environments(draw: st.DrawFn, *, most_forms: int = 6) -> Environment:
    """Environments with a form `target` and at least one other; not every form has all."""
    names = ["X", "Y"][: draw(st.integers(1, 2))]
    n_forms = draw(st.integers(1, most_forms))
    form_names = ["target", *(f"form{number}" for number in range(n_forms))]
    instances: dict[str, dict[str, tuple[str, ...]]] = {form: {} for form in form_names}
    variables: list[Variable] = []
    for name in names:
        n_sinks = draw(st.integers(1, 5))
        offered = draw(st.lists(categorizations(n_sinks), min_size=1, max_size=4))
        real = [c for c in offered if isinstance(c, Partition)]
        variables.append(variable_of(name, real, n_sinks))
        for form in form_names:
            if form == "target" or draw(st.integers(0, 3)):
                instances[form][name] = labels_of(name, draw(st.sampled_from(offered)))
    return Environment(variables, [Form(form, given) for form, given in instances.items()])


@st.composite
def band_variables(draw: st.DrawFn) -> Variable:
    style = draw(st.sampled_from(BandStyle))
    scale = 1 if style is BandStyle.INCLUSIVE else draw(st.sampled_from([1, 10, 8]))
    cuts = draw(st.lists(st.integers(-40, 40), unique=True, min_size=2, max_size=8).map(sorted))
    bounds = [Fraction(cut, scale) for cut in cuts]
    exact = [cut.numerator if cut.denominator == 1 else cut for cut in bounds]
    ends = [draw(st.sampled_from([-math.inf, exact[0]])), *exact[1:-1]]
    ends.append(draw(st.sampled_from([exact[-1], math.inf])))
    pairs = st.tuples(st.sampled_from(ends), st.sampled_from(ends))
    bands = draw(st.lists(pairs.filter(lambda pair: pair[0] < pair[1]), max_size=6))
    return Variable.of_bands(
        "Number",
        [Band(low, high).name(style) for low, high in bands],
        style=style,
        space=Band(ends[0], ends[-1]),
        description=draw(st.sampled_from(["", "in metres"])),
    )
