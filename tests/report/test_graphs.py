from __future__ import annotations

import math
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, LimitError, Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import OUTSIDE, Variable
from gamekeeper.report.graphs import (
    MAX_DRAWN,
    Drawing,
    draw_harmonization_graph,
    draw_partition_graph,
)
from gamekeeper.report.page import Arrow, Shape
from gamekeeper.report.tables import palette

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    '<script>alert("1")</script>',
    "fish & chips",
    'it\'s "quoted"',
    "back\\slash \\N \\G \\l",
    "two\nlines",
    "\x00\x01",
    "日本語",
    "עברית",
    "e\u0301",
    "$x^2$",
    "{{ 7 * 7 }}",
    "]]>",
    "-->",
    "x" * 10_000,
)


def texts(svg: str) -> list[str]:
    """The texts of nodes, each with its lines joined."""
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]


def tooltips(svg: str) -> list[str]:
    return [group.findtext(f"{SVG}title", "") for group in ET.fromstring(svg).iter(f"{SVG}g")][3:]


def node(drawing: Drawing, label: str):
    found = [one for one in drawing.nodes if one.lines == (label,)]
    assert len(found) == 1
    return found[0]


def drawn_edge(drawing: Drawing, arrow: Arrow) -> tuple[str, str]:
    """The labels of the nodes that an arrow starts and ends at."""

    def nearest(point: tuple[float, float]) -> str:
        x, y = point
        return min(
            drawing.nodes,
            key=lambda one: (
                math.dist(
                    (one.x, one.y),
                    (x, y),
                )
                - one.height / 2
            ),
        ).lines[0]

    return nearest(arrow.controls[0]), nearest(arrow.head[2])


def test_every_category_is_drawn_once(residence: PartitionGraph):
    svg = draw_partition_graph(residence).svg()
    assert sorted(texts(svg)) == list(residence.categories)
    assert len(list(ET.fromstring(svg).iter(f"{SVG}path"))) == len(residence.edges)


def test_general_is_above_fine_and_sinks_share_the_lowest_layer(residence: PartitionGraph):
    drawing = draw_partition_graph(residence)
    for parent, child in residence.edges:
        assert node(drawing, parent).y < node(drawing, child).y
    heights = {node(drawing, sink).y for sink in residence.sinks}
    assert len(heights) == 1
    assert all(one.y <= max(heights) for one in drawing.nodes)


def test_sideways_puts_the_general_to_the_left(residence: PartitionGraph):
    drawing = draw_partition_graph(residence, sideways=True)
    for parent, child in residence.edges:
        assert node(drawing, parent).x < node(drawing, child).x


def test_many_sinks_are_drawn_sideways_in_their_order():
    age = Variable.of_bands("Age", [str(year) for year in range(60)] + ["0-29", "30+"])
    drawing = draw_partition_graph(age.graph)
    width, height = drawing.size
    assert height > width
    heights = [node(drawing, sink).y for sink in age.graph.sinks]
    assert heights == sorted(heights)


def test_ordered_sinks_stand_in_order_side_by_side():
    order = ["none", "few", "some", "many"]
    graph = PartitionGraph({"any": order, "not many": order[:3]}, order=order)
    drawing = draw_partition_graph(graph)
    places = [node(drawing, sink).x for sink in order]
    assert places == sorted(places)


def test_nodes_do_not_overlap(residence: PartitionGraph):
    nodes = draw_partition_graph(residence).nodes
    for number, one in enumerate(nodes):
        for other in nodes[:number]:
            apart_x = abs(one.x - other.x) >= (one.width + other.width) / 2
            apart_y = abs(one.y - other.y) >= (one.height + other.height) / 2
            assert apart_x or apart_y


def test_selected_categories_are_orange_and_sinks_shaded(residence: PartitionGraph):
    drawing = draw_partition_graph(residence, selected=["Britain", "abroad"])
    fills = {one.lines[0]: one.fill for one in drawing.nodes}
    assert fills.pop("Britain") == fills.pop("abroad") == palette.SELECTED_FILL
    assert fills.pop("UK") == fills.pop("non Britain") == palette.NODE_FILL
    assert set(fills.values()) == {palette.SINK_FILL}
    assert "2 selected" in drawing.svg()


def test_what_a_form_leaves_outside_is_marked(residence: PartitionGraph):
    drawing = draw_partition_graph(residence, selected=["Britain", OUTSIDE])
    dashed = {one.lines[0] for one in drawing.nodes if one.is_dashed}
    assert dashed == {"Northern Ireland", "abroad"}


def test_unknown_selection_is_refused_with_near_names(residence: PartitionGraph):
    with pytest.raises(InputError, match="Britain") as caught:
        draw_partition_graph(residence, selected=["Britian"])
    assert caught.value.reason is Reason.UNKNOWN_NAME


def test_hostile_labels_are_shown_as_text_and_kept_in_tooltips():
    graph = PartitionGraph({"all": HOSTILE})
    drawing = draw_partition_graph(graph, selected=HOSTILE[:2], title="<b> & " + "t" * 500)
    svg = drawing.svg()
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}
    assert tags == {"svg", "title", "rect", "text", "tspan", "g", "path", "polygon"}
    shown = "\n".join(texts(svg))
    assert "<b> & ttt" in shown
    assert "fish & chips" in shown
    assert max(len(text) for text in texts(svg)) <= 90
    tips = "\n".join(tooltips(svg))
    for label in HOSTILE:
        assert label.replace("\x00\x01", "\N{REPLACEMENT CHARACTER}" * 2) in tips
    assert drawing.png().startswith(b"\x89PNG\r\n\x1a\n")


def test_harmonization_graph_of_figure_11(age_environment: Environment):
    drawing = draw_harmonization_graph(age_environment, "Age")
    svg = drawing.svg()
    observed = {"C0.001": 21, "C2.001": 36, "C7.001": 7, "C9.001": 30, "C45.001": 10}
    harmonizations = ["H1.001", "H3.001", "H4.001", "H7.001"]
    counts = [f"{count} forms" for count in observed.values()]
    words = ["Age", "code seen on forms", "harmonization"]
    assert sorted(texts(svg)) == sorted([*observed, *harmonizations, *counts, *words])
    for code in observed:
        assert node(drawing, code).shape is Shape.ELLIPSE
        assert node(drawing, code).fill == palette.OBSERVED_FILL
        assert node(drawing, code).small == f"{observed[code]} forms"
    for code in harmonizations:
        assert node(drawing, code).shape is Shape.RECTANGLE
        assert node(drawing, code).fill == palette.HARMONIZATION_FILL
        assert node(drawing, code).small == ""
    below = {
        "H1.001": ["C2.001", "H3.001"],
        "H3.001": ["H4.001", "H7.001"],
        "H4.001": ["C7.001", "C45.001"],
        "H7.001": ["C9.001", "C45.001"],
        "C2.001": ["H7.001"],
        "C7.001": ["C0.001"],
        "C9.001": ["C0.001"],
        "C45.001": ["C0.001"],
    }
    expected = {(coarser, finer) for coarser, codes in below.items() for finer in codes}
    assert {drawn_edge(drawing, arrow) for arrow in drawing.arrows} == expected
    for coarser, finer in expected:
        assert node(drawing, coarser).y < node(drawing, finer).y
    root = ET.fromstring(svg)
    # One more of each is in the legend, and one rectangle is the background.
    assert len(list(root.iter(f"{SVG}ellipse"))) == 5 + 1
    assert len(list(root.iter(f"{SVG}rect"))) == 4 + 1 + 1


def test_colours_are_blue_and_yellow():
    def channels(colour: str) -> tuple[int, int, int]:
        return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)

    red, green, blue = channels(palette.OBSERVED_FILL)
    assert blue > green > red
    red, green, blue = channels(palette.HARMONIZATION_FILL)
    assert red > 200
    assert green > 200
    assert blue < 150
    red, green, blue = channels(palette.SELECTED_FILL)
    assert red > green > blue


def test_tooltips_have_categories_in_words(age_environment: Environment):
    drawing = draw_harmonization_graph(age_environment, "Age")
    tip = node(drawing, "H4.001").tooltip
    assert tip.startswith("H4.001: 4 categories\n0-24; 25-44; 45-64; 65+\n")
    assert "38 forms with it or a finer code" in tip
    assert node(drawing, "C0.001").tooltip.startswith("C0.001: any level of detail")
    assert "and 5 more" in node(drawing, "C45.001").tooltip


def test_target_takes_part_but_is_not_counted(environment: Environment):
    drawing = draw_harmonization_graph(
        environment, "Age", forms=["Shop", "Clinic", "Census"], target="Census", selected=["C5.001"]
    )
    assert node(drawing, "C5.001").small == "1 form + target"
    assert node(drawing, "C5.001").line == palette.SELECTED_LINE
    assert node(drawing, "C5.002").small == "1 form"
    assert len(drawing.nodes) == 3


def test_legend_explains_what_is_drawn_and_nothing_else(environment: Environment):
    drawing = draw_harmonization_graph(environment, "Sex", selected=["C2.001"], title="")
    assert drawing.title == ""
    assert [mark.text for mark in drawing.legend] == ["code seen on forms", "marked code"]
    drawing = draw_harmonization_graph(environment, "Age")
    assert drawing.title == "Age"
    assert [(mark.text, mark.shape, mark.fill) for mark in drawing.legend] == [
        ("code seen on forms", Shape.ELLIPSE, palette.OBSERVED_FILL),
        ("harmonization", Shape.RECTANGLE, palette.HARMONIZATION_FILL),
    ]


def test_legend_and_title_have_room_of_their_own(environment: Environment):
    drawing = draw_harmonization_graph(environment, "Sex", selected=["C2.001"])
    bare = replace(drawing, title="", legend=())
    assert drawing.size[0] > bare.size[0]
    assert drawing.size[1] > bare.size[1] + 2 * 11
    root = ET.fromstring(drawing.svg())
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    [shifted] = [group for group in root.iter(f"{SVG}g") if group.get("transform")]
    left, top = map(float, shifted.get("transform", "")[len("translate(") : -1].split())
    marks = [text for text in shifted if text.tag == f"{SVG}text"]
    assert len(marks) == 2
    for text in marks:
        y = float(text.get("y", 0))
        assert drawing.height < y < height - top
        assert 0 < left + float(text.get("x", 0)) < width / 2
    assert len(drawing.png()) > len(bare.png())


def test_only_the_forms_asked_for_are_drawn(environment: Environment):
    drawing = draw_harmonization_graph(environment, "Residence", forms=["Survey", "Broken"])
    assert [(one.lines, one.small) for one in drawing.nodes] == [(("C5.001",), "1 form")]


def test_codes_to_mark_must_be_drawn(environment: Environment):
    with pytest.raises(InputError) as caught:
        draw_harmonization_graph(environment, "Age", selected=["C9.001"])
    assert caught.value.reason is Reason.UNKNOWN_NAME


def test_variable_that_nobody_asks_for_cannot_be_drawn(environment: Environment):
    with pytest.raises(InputError) as caught:
        draw_harmonization_graph(environment, "Shoe size", forms=["Bank"])
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_large_partition_graph_is_refused_with_advice():
    graph = PartitionGraph({"all": [f"sink {number}" for number in range(MAX_DRAWN)]})
    with pytest.raises(LimitError, match=r"Prune .*max_nodes") as caught:
        draw_partition_graph(graph)
    assert caught.value.reason is Reason.TOO_LARGE
    assert len(draw_partition_graph(graph, max_nodes=MAX_DRAWN + 1).nodes) == MAX_DRAWN + 1


def test_graph_with_too_many_edges_is_refused():
    sinks = [f"sink {number}" for number in range(100)]
    graph = PartitionGraph({f"name {number}": sinks for number in range(50)})
    with pytest.raises(LimitError, match="5,000 edges"):
        draw_partition_graph(graph)


def test_large_harmonization_graph_is_refused_before_it_is_built():
    n_pairs = 30
    sinks = [f"{pair:02d}{side}" for pair in range(n_pairs) for side in "ab"]
    either = {f"{pair:02d}": [f"{pair:02d}a", f"{pair:02d}b"] for pair in range(n_pairs)}
    forms = [
        Form(name, {"X": tuple(sorted({*sinks, name} - set(either[name])))}) for name in either
    ]
    environment = Environment([Variable("X", PartitionGraph(either))], forms)
    with pytest.raises(LimitError, match="more than 250 nodes"):
        draw_harmonization_graph(environment, "X")


def test_same_input_same_bytes(residence: PartitionGraph, age_environment: Environment):
    for draw in (
        lambda: draw_partition_graph(residence, selected=["UK", "abroad"], title="Residence"),
        lambda: draw_harmonization_graph(age_environment, "Age"),
    ):
        assert draw().svg() == draw().svg()
        assert draw().png() == draw().png()


def test_drawing_in_threads_gives_the_same(age_environment: Environment):
    alone = draw_harmonization_graph(age_environment, "Age").svg()
    with ThreadPoolExecutor(4) as pool:
        drawn = pool.map(lambda _: draw_harmonization_graph(age_environment, "Age").svg(), range(8))
        assert set(drawn) == {alone}


@pytest.mark.slow
def test_outcome_does_not_depend_on_fonts_of_the_machine(tmp_path: Path, residence: PartitionGraph):
    no_fonts = tmp_path / "fonts.conf"
    no_fonts.write_text("<?xml version='1.0'?><fontconfig></fontconfig>")
    program = """
import sys
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.report.graphs import draw_partition_graph
graph = PartitionGraph({"UK": ["Britain", "Northern Ireland"],
                        "Britain": ["England", "Scotland", "Wales"],
                        "non Britain": ["Northern Ireland", "abroad"]})
draw_partition_graph(graph).save(sys.argv[1] + "/a.svg")
draw_partition_graph(graph).save(sys.argv[1] + "/a.png")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "FONTCONFIG_FILE": str(no_fonts), "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    drawing = draw_partition_graph(residence)
    assert (tmp_path / "a.svg").read_text() == drawing.svg()
    assert (tmp_path / "a.png").read_bytes() == drawing.png()


def test_png_has_the_size_of_the_drawing_and_shows_something(residence: PartitionGraph):
    drawing = draw_partition_graph(residence, title="Residence")
    picture = drawing.png(scale=2)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(picture[at : at + 4]) for at in (16, 20))
    assert (width, height) == tuple(pytest.approx(2 * side, abs=1) for side in drawing.size)
    assert len(picture) > 5_000


def test_inline_svg_needs_no_namespace(residence: PartitionGraph):
    inline = draw_partition_graph(residence).svg(inline=True)
    assert "http" not in inline
    assert (
        ET.fromstring(inline).get("aria-label")
        == "Partition graph of 8 categories, 5 of them sinks"
    )


def test_one_category_is_a_graph_too():
    drawing = draw_partition_graph(PartitionGraph({"everything": []}))
    assert texts(drawing.svg()) == ["everything"]
    assert drawing.png().startswith(b"\x89PNG")


def test_saving_goes_by_the_ending(tmp_path: Path, residence: PartitionGraph):
    drawing = draw_partition_graph(residence)
    assert drawing.save(tmp_path / "a.SVG").read_text() == drawing.svg()
    assert drawing.save(str(tmp_path / "a.png")).read_bytes() == drawing.png()
    for name in ("a.pdf", "a"):
        with pytest.raises(InputError, match=r"\.svg or \.png") as caught:
            drawing.save(tmp_path / name)
        assert caught.value.reason is Reason.BAD_OPTION
        assert f"'{tmp_path / name}'" in str(caught.value)
    with pytest.raises(StoreError) as failed:
        drawing.save(tmp_path / "nowhere" / "a.svg")
    assert failed.value.reason is Reason.NOT_WRITABLE
    assert f"The file '{tmp_path / 'nowhere' / 'a.svg'}' was to be written." in str(failed.value)
