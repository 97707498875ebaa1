from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.analysis.prevalence_plot import plot_curves
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.report.drawings.figures import save_curves
from tests.given.categorizations import crossing_environment


@pytest.fixture
def outcome(environment: Environment) -> KeyVariableMap:
    return map_key_variables(environment, "Census", prevalence="1/3", strict=False)


def test_lines_are_the_steps_of_the_curves(outcome: KeyVariableMap):
    ax = plot_curves(outcome)
    shown = [item for item in outcome.variables if item.curve.sizes]
    assert len(shown) == 3
    for line, item in zip(ax.lines, shown, strict=False):
        assert line.get_drawstyle() == "steps-post"
        starts = [float(start) for start, _, _ in item.curve.steps]
        sizes = [float(size) for _, _, size in item.curve.steps]
        assert line.get_xdata().tolist() == [*starts, float(item.curve.steps[-1][1])]
        assert line.get_ydata().tolist() == [*sizes, float(item.curve.sizes[-1])]
        assert item.variable in str(line.get_label())


def test_axes_speak_of_percent_and_categories(outcome: KeyVariableMap):
    ax = plot_curves(outcome)
    ax.figure.draw_without_rendering()
    assert [tick.get_text() for tick in ax.get_xticklabels()][::5] == ["0%", "100%"]
    assert ax.get_yscale() == "log"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1", "2", "3", "5"]
    assert "log scale" in ax.get_ylabel()
    assert ax.get_title(loc="left") == "Key variables of Census"
    asked = ax.lines[-1]
    assert asked.get_label() == "prevalence asked"
    assert list(asked.get_xdata()) == pytest.approx([1 / 3, 1 / 3])


def test_top_value_has_a_tick(age_environment: Environment):
    target = Form("T", {"Age": age_environment.form("C45 number 0").instances["Age"]})
    ax = plot_curves(map_key_variables(age_environment.with_form(target), "T"))
    assert max(ax.lines[0].get_ydata()) == 45
    assert [tick.get_text() for tick in ax.get_yticklabels()][-2:] == ["20", "45"]


def test_last_point_may_lie_lower_than_the_step_before_it(environment: Environment):
    outcome = map_key_variables(environment, "Census", strict=False)
    [age] = [item for item in outcome.variables if item.variable == "Age"]
    assert age.curve.last_point
    line = plot_curves(outcome).lines[0]
    assert line.get_xdata()[-1] == pytest.approx(5 / 6)
    assert list(line.get_ydata()[-2:]) == [4, 2]


def test_arbitrary_precision_has_a_line_at_the_top(environment: Environment):
    register = Form("Register", {"Age": (), "Sex": ("female", "male")})
    outcome = map_key_variables(environment.with_form(register), "Register")
    age = outcome.variables[0]
    assert age.curve.sizes[0] == math.inf
    ax = plot_curves(outcome)
    top, name = ax.get_yticks()[-1], ax.get_yticklabels()[-1].get_text()
    assert name == "any detail"
    heights = ax.lines[0].get_ydata()
    assert heights[0] == top
    assert top > max(size for size in age.curve.sizes if size != math.inf)
    assert heights[-1] == age.curve.sizes[-1]


def test_legend_says_what_is_left_out(outcome: KeyVariableMap):
    legend = plot_curves(outcome, most=2).get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[2:] == ["prevalence asked", "1 more not shown", "1 variable without a curve"]
    with pytest.raises(InputError) as caught:
        plot_curves(outcome, most=0)
    assert caught.value.reason is Reason.BAD_OPTION


def test_a_curve_that_is_not_known_is_not_drawn():
    outcome = map_key_variables(crossing_environment(), "target", max_nodes=1)
    legend = plot_curves(outcome).get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["1. Y", "prevalence asked", "1 variable without a curve"]


def test_given_axes_are_used_and_pyplot_is_left_alone(outcome: KeyVariableMap):
    ax = Figure().add_subplot()
    assert plot_curves(outcome, ax=ax) is ax
    plot_curves(outcome)
    assert plt.get_fignums() == []


@pytest.mark.slow
def test_pictures_are_the_same_every_time(outcome: KeyVariableMap, tmp_path: Path):
    for ending, start in ((".svg", b"<?xml"), (".png", b"\x89PNG\r\n\x1a\n")):
        first = save_curves(outcome, tmp_path / f"a{ending}").read_bytes()
        assert first.startswith(start)
        assert len(first) > 5_000
        assert save_curves(outcome, tmp_path / f"b{ending}").read_bytes() == first
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        save_curves(outcome, tmp_path / "a.gif")


def test_hostile_names_are_plain_text(tmp_path: Path):
    names = ["_hidden", "$x^2$ $$", "<b>&--></b>", "n" * 5_000, "50% \\frac{1}{2}"]
    graph = PartitionGraph({"all": ["a", "b"]})
    labels = dict.fromkeys(names, ("a", "b"))
    environment = Environment(
        [Variable(name, graph) for name in names], [Form("T", labels), Form("U", labels)]
    )
    outcome = map_key_variables(environment, "T")
    legend = plot_curves(outcome).get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert len(texts) == len(names) + 1
    assert any(text.endswith("_hidden") for text in texts)
    assert max(map(len, texts)) < 40
    ET.parse(save_curves(outcome, tmp_path / "a.svg"))


def test_letters_that_the_font_lacks_are_replaced_without_a_warning(tmp_path: Path):
    graph = PartitionGraph({"all": ["a", "b"]})
    names = ["年齢 é Ж", "\N{PILE OF POO} x"]
    labels = dict.fromkeys(names, ("a", "b"))
    variables = [Variable(name, graph) for name in names]
    forms = [Form("目標", labels), Form("U", labels)]
    outcome = map_key_variables(Environment(variables, forms), "目標")
    ax = plot_curves(outcome)
    legend = ax.get_legend()
    assert legend is not None
    texts = {text.get_text()[3:] for text in legend.get_texts()}
    assert {"\ufffd\ufffd é Ж", "\ufffd x"} <= texts
    assert ax.get_title(loc="left") == "Key variables of \ufffd\ufffd"
    # Warnings are errors in tests: matplotlib gives one for each letter it cannot draw.
    save_curves(outcome, tmp_path / "a.png")
    save_curves(outcome, tmp_path / "a.svg")


@pytest.mark.parametrize(
    ("fonts", "shown"),
    [(["STIXGeneral"], "\ufffd"), (["STIXGeneral", "sans-serif"], "ა"), (["Not a font"], "ა")],
)
def test_letters_of_any_font_that_matplotlib_falls_back_to_are_kept(fonts: list[str], shown: str):
    labels = {"X": ("a", "b")}
    variable = Variable("X", PartitionGraph({"all": ["a", "b"]}))
    outcome = map_key_variables(
        Environment([variable], [Form("ა", labels), Form("U", labels)]), "ა"
    )
    with mpl.rc_context({"font.family": fonts}):
        assert plot_curves(outcome).get_title(loc="left") == f"Key variables of {shown}"


def test_nothing_to_plot_is_still_a_plot(tmp_path: Path):
    graph = PartitionGraph({"all": ["a", "b"]})
    forms = [Form("T", {"X": ("a", "b")}), Form("U", {})]
    outcome = map_key_variables(Environment([Variable("X", graph)], forms), "T")
    assert save_curves(outcome, tmp_path / "a.png").stat().st_size > 1_000
