"""The HTML report of a risk assessment: whole, closed to the outside, and discreet when asked."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import gamekeeper as gk
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap, plot_curves
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.report.page import (
    RiskReport,
    RiskSection,
    RiskTable,
    build_risk_report,
    facts_of,
    save_curves,
    write_risk_report,
)
from gamekeeper.report.risk_report import assessment_report
from gamekeeper.results import Provenance
from gamekeeper.wording import cell_text
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


MARKUP = "--></td></svg><blink>$\\frac{$ & \"co\"</blink><script>alert('x')</script>"
CANARY = "CANARY-7341"
VARIABLES = ("Place <i>of</i> birth", "Kind")
WORDS = (("missing", MARKUP, CANARY, "north"), ("missing", f"{CANARY} two", "b"))
PEOPLE = [[1, 1], [1, 1], [1, 2], [2, 1], [3, 2], [3, 2], [0, 1]]


def keys(codes=PEOPLE, **more):
    return gk.count_keys(gk.data.coded_from_codes(codes, VARIABLES, WORDS), VARIABLES, **more)


def report(table, *, matching=True, listing=True, **more):
    risk = gk.assess_uniques(table, listing=listing, workers=1)
    matched = gk.assess_matching(table, population=table) if matching else None
    return assessment_report(table, risk, matching=matched, **{"name": "people.csv", **more})


@dataclass
class Page(HTMLParser):
    """What a browser finds in a page."""

    text: str
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__(convert_charrefs=True)
        self.feed(self.text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data):
        self.said.append(data)

    def handle_comment(self, data):
        self.comments.append(data)

    def attributes(self, *names):
        return [own[name] for _, own in self.tags for name in names if name in own]


@pytest.fixture(scope="module")
def page():
    made = report(
        keys(fraction="1/4"),
        name=f"people {MARKUP}.csv",
        scenario=f"A clerk {MARKUP}",
        attacker=f"Somebody {MARKUP}",
        settings={"delimiter": "\t", "encoding": "utf-8"},
    )
    return Page(build_risk_report(made))


@pytest.fixture(scope="module")
def discreet():
    return Page(build_risk_report(report(keys(fraction="1/4"), with_records=False)))


def test_it_refers_to_nothing_outside(page):
    loading = {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "audio",
        "video",
        "image",
    }
    assert not loading & {tag for tag, _ in page.tags}
    assert not page.attributes("src", "srcset", "action", "data", "background", "poster")
    assert all(place.startswith("#") for place in page.attributes("href", "xlink:href"))
    assert not re.search(r"@import|url\((?!#)", page.text)
    # The addresses that are left are names of the languages of pictures.
    named = {value for _, own in page.tags for name, value in own.items() if "xmlns" in name}
    assert set(re.findall(r"https?://[^\"'<>\s)]+", page.text)) == named


def test_only_its_own_script_may_run(page):
    (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    assert [tag for tag, _ in page.tags].count("script") == 1
    digest = b64encode(sha256(script.encode()).digest()).decode()
    (policy,) = [own["content"] for tag, own in page.tags if "http-equiv" in own]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not [name for _, own in page.tags for name in own if name.startswith("on")]


def test_names_are_shown_and_not_obeyed(page):
    assert "blink" not in {tag for tag, _ in page.tags}
    assert "i" not in {tag for tag, _ in page.tags}
    said = "".join(page.said)
    assert f"Place <i>of</i> birth {MARKUP}" in said
    assert f"Disclosure risk of people {MARKUP}.csv" in said
    assert f"A clerk {MARKUP}" in said
    assert f"Somebody {MARKUP}" in said
    # Nothing that was meant as a comment ended one.
    assert not [comment for comment in page.comments if "<" in comment]


def test_every_place_it_points_to_is_there_once(page):
    places = page.attributes("id")
    assert len(set(places)) == len(places)
    pointed = page.attributes("href", "xlink:href")
    pointed += re.findall(r"url\((#[^)]+)\)", page.text)
    assert {place.removeprefix("#") for place in pointed} <= set(places)
    assert [tag for tag, _ in page.tags].count("svg") == 5


def test_it_says_what_was_asked_and_how_it_was_made(page):
    said = "".join(page.said)
    for text in (
        "missing is a category of its own",
        "7 counted, 0 left out",
        "delimiter tab, encoding utf-8",
        "DIS-SUDA (2003, capped apportionment of ln scores)",
        "DIS-IS (Q = 1 + (8-K)/20)",
        "Fingerprint of the input",
        "duckdb",
        "keep it as safe as the data",
    ):
        assert text in said, text
    # The riskiest records with what sets them apart, as one may hear it from a person.
    assert f"Place <i>of</i> birth {CANARY}" in said


@pytest.mark.slow
def test_without_records_it_has_no_category_and_no_record(page, discreet):
    assert CANARY in page.text
    for word in (CANARY, "-7341", "blink", "north", "unique by", "The riskiest records"):
        assert word not in discreet.text, word
    assert "Single records and categories are left out of this page." in discreet.text
    assert "Which variables are to blame" in discreet.text
    assert [tag for tag, _ in discreet.tags].count("svg") == 3


@pytest.mark.slow
@pytest.mark.parametrize("codes", [[[1, 1]], [[1, 1]] * 3], ids=["one record", "no uniques"])
def test_files_with_little_in_them_have_a_report(codes):
    made = build_risk_report(report(keys(codes), matching=False))
    assert "Which variables are to blame" in made


def test_without_the_list_there_are_no_reasons():
    made = report(keys(fraction="1/4"), listing=False, matching=False)
    (records,) = [section for section in made.sections if section.name == "records"]
    assert "unique by" not in records.tables[0].header
    assert records.tables[0].caption == "The riskiest records by dis_is"


def test_only_uniques_are_risky_records():
    made = report(keys(fraction="1/4"), matching=False)
    (records,) = [section for section in made.sections if section.name == "records"]
    (table,) = records.tables
    assert sorted(row[0][0] for row in table.rows) == ["3", "4", "7"]


def test_a_table_is_sorted_by_what_it_rounds():
    table = pa.table({"in_words": ["a", None], "share": [0.12345, None], "count": [12345, 2]})
    made = RiskTable.of("Caption", table, names={"count": "People"})
    assert made.header == ("in words", "share", "People")
    assert made.numeric == (False, True, True)
    assert made.rows == (
        (("a", ""), ("12.3%", "0.12345"), ("12,345", "12345")),
        (("—", ""), ("—", ""), ("2", "2")),
    )
    assert RiskTable.of("", table, columns=["count"], most=1).n_left_out == 1


def test_a_long_table_says_what_it_leaves_out():
    table = pa.table({"count": list(range(1234))})
    section = RiskSection("s", "S", tables=[RiskTable.of("c", table, most=4)])
    provenance = Provenance("method", seed=7)
    made = build_risk_report(RiskReport("t", ["lead"], [], [], [section], [provenance]))
    assert "and 1,230 more lines" in made
    assert "<dt>Seed</dt><dd>7</dd>" in made
    assert made == build_risk_report(RiskReport("t", ["lead"], [], [], [section], [provenance]))


@pytest.mark.parametrize(
    ("cell", "text"),
    [(None, "—"), (True, "yes"), (False, "no"), (1234, "1,234"), (0.00012344, "0.0001234"),
     (1e6, "1,000,000"), (0.0, "0"), ("<b>", "<b>")],
)  # fmt: skip
def test_cells_for_reading(cell, text):
    assert cell_text(cell) == text


def test_facts_that_are_not_known_are_left_out():
    assert facts_of([("a", None), ("b", ""), ("c", 0)]) == [("c", "0")]


def test_where_it_can_be_written(tmp_path):
    made = RiskReport("t", [], [], [], [], [Provenance("method")])
    assert write_risk_report(made, tmp_path / "r.HTM").read_text(encoding="utf-8")
    with pytest.raises(InputError) as caught:
        write_risk_report(made, tmp_path / "r.txt")
    assert caught.value.reason is Reason.BAD_OPTION
    with pytest.raises(StoreError) as failed:
        write_risk_report(made, tmp_path / "no folder" / "r.html")
    assert failed.value.reason is Reason.NOT_WRITABLE


def test_further_records_of_people_are_counted_as_left_out():
    coded = gk.data.coded_from_codes(
        [[1, 1, 1], [1, 1, 1], [2, 1, 2], [3, 2, 1]], ["Person", *VARIABLES]
    )
    table = gk.count_keys(coded, VARIABLES, person="Person")
    facts = dict(report(table, matching=False).facts)
    assert facts["Records"] == "3 counted, 1 left out"
