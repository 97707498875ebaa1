from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gamekeeper.algorithms.partition_graph import PartitionGraph
from gamekeeper.errors import Reason, StoreError
from gamekeeper.mapping.analysis import map_key_variables
from gamekeeper.mapping.environment import Environment, Form, Group
from gamekeeper.mapping.key_variables import KeyVariableMap
from gamekeeper.mapping.variable import Variable
from gamekeeper.report.build import build_report, write_report
from gamekeeper.report.findings import headline

VOID = {"meta", "br", "img", "link", "hr", "input"}
# Elements of SVG that the templates close at once.
CLOSED = {"path", "polygon", "ellipse", "rect", "circle"}


class Page(HTMLParser):
    """The elements and words of a page; fails where elements are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in CLOSED
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += " ".join(data.split()) + " " if data.strip() else ""

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture
def outcome(environment: Environment) -> KeyVariableMap:
    return map_key_variables(environment, "Census", prevalence="1/3")


@pytest.fixture
def page(outcome: KeyVariableMap, environment: Environment) -> Page:
    return Page(build_report(outcome, environment))


def test_says_what_was_asked(page: Page):
    assert "at least 2 of 6 forms (a prevalence of 1/3, about 33.33%)" in page.text
    assert "6 forms of the environment 'Small world' (all other forms)" in page.text
    assert "stop the result of a variable (strict)" in page.text
    for form in ("Bank", "Shop", "Clinic", "Survey", "Club", "Broken"):
        assert form in page.text


def test_headline_names_variables_detail_and_reason(outcome: KeyVariableMap, page: Page):
    sentences = headline(outcome)
    asked, detail, reason, rest = sentences
    assert asked == (
        "Of the 4 variables of 'Census', 2 can be matched against at least 2 of the 6 forms."
    )
    assert detail == (
        "An intruder is most likely to match on Age (5 categories, C5.001) and"
        " Sex (2 categories, C2.001)."
    )
    assert reason == (
        "Age comes first: 3 forms with these 5 categories or finer ones, and the area under its"
        " curve is the largest (4)."
    )
    assert rest == "Too few of the forms ask for 'Shoe size'."
    assert " ".join(sentences) in page.text


def test_ranked_table_and_a_section_for_each_variable(page: Page):
    assert page.count("article") == 4
    assert "1 Age C5.001 5 3 of 6 4" in page.text
    links = {attrs["href"] for tag, attrs in page.elements if tag == "a"}
    targets = {f"#{attrs['id']}" for _, attrs in page.elements if "id" in attrs}
    assert links <= targets
    assert len(targets) == sum("id" in attrs for _, attrs in page.elements)


def test_section_has_words_evidence_curve_and_graph(page: Page):
    assert "All the detail that is released, 5 categories (C5.001)," in page.text
    assert (
        "5 of 6 forms ask for it, 2 of these in categories that are coarser or cut otherwise."
        in page.text
    )
    assert "Why: the codes that are as fine as C5.001 or finer, 3 forms in all" in page.text
    assert "C0.001 ∞ 1 any level of detail" in page.text
    labels = [attrs["aria-label"] for tag, attrs in page.elements if attrs.get("role") == "img"]
    assert "5 categories up to a prevalence of 66.67%, 4 categories" in " | ".join(map(str, labels))
    assert any(str(label).startswith("Harmonization graph of Age") for label in labels)


def test_curve_as_table(page: Page):
    assert "Forms Detail 1 to 3 5 categories 4 4 categories 5 2 categories" in page.text


def test_strict_message_is_a_prominent_notice(page: Page):
    assert page.text.index("Please note") < page.text.index("What was asked")
    assert "No result for 'Residence'" in page.text
    assert "Forms to be corrected" in page.text
    assert "Broken misses 'abroad'" in page.text


def test_forms_set_aside_are_named(environment: Environment):
    outcome = map_key_variables(environment, "Census", strict=False)
    page = Page(build_report(outcome, environment))
    assert "Please note 'Residence': 1 form set aside" in page.text
    assert "that were set aside" in page.text
    assert "are set aside with a notice (not strict)" in page.text


def test_no_notice_without_a_reason(environment: Environment):
    outcome = map_key_variables(environment, "Census", groups=["Firms"])
    page = Page(build_report(outcome, environment))
    assert "Please note" not in page.text
    assert "2 forms of the environment 'Small world' ('Firms')" in page.text


def test_specific_use_speaks_of_one_form(environment: Environment):
    outcome = map_key_variables(environment, "Census", forms=["Survey"])
    page = Page(build_report(outcome, environment))
    assert "3 can be matched against 'Survey'." in page.text
    assert "Must be matched the one form" in page.text


def test_target_with_a_fault_of_its_own(environment: Environment):
    outcome = map_key_variables(environment, "Broken")
    page = Page(build_report(outcome, environment))
    assert "None of the 1 variable of 'Broken' can be matched" in page.text
    assert "the target's own categorization is inconsistent: it misses" in page.text


def test_effective_categories_are_pointed_out():
    age = Variable.of_bands("Age", ["0-9", "10-19", "20+", "0-4", "5-14", "15-24", "25+"])
    forms = [
        Form("T", {"Age": ("0-9", "10-19", "20+")}),
        Form("U", {"Age": ("0-4", "5-14", "15-24", "25+")}),
    ]
    environment = Environment([age], forms)
    page = Page(build_report(map_key_variables(environment, "T"), environment))
    assert "Harmonization hides something here" in page.text
    assert "with 2 effective categories" in page.text


def test_provenance_and_glossary(outcome: KeyVariableMap, page: Page):
    assert outcome.provenance.fingerprint in page.text
    assert f"Gamekeeper {outcome.provenance.version}" in page.text
    for word in ("Harmonization", "Prevalence", "Effective categories"):
        assert word in page.text.split("What the words mean", 2)[2]


def test_page_is_accessible(page: Page):
    tags = [tag for tag, _ in page.elements]
    assert ("html", {"lang": "en"}) in page.elements
    assert tags.count("title") >= 1
    assert tags.count("h1") == 1
    assert tags.count("main") == 1
    assert tags.count("caption") == tags.count("table")
    for tag, attrs in page.elements:
        if tag == "svg":
            assert attrs.get("role") == "img" or attrs.get("aria-hidden") == "true"
            assert attrs.get("aria-label") or attrs.get("aria-hidden")
        if tag == "th":
            assert attrs.get("scope") in ("col", "row")


def test_page_needs_nothing_from_elsewhere(outcome: KeyVariableMap, environment: Environment):
    text = build_report(outcome, environment)
    assert not re.search(r"https?:|//|\bsrc=|url\(|@import|<script|<link|<iframe", text)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    assert f'http-equiv="Content-Security-Policy" content="{policy}"' in text
    assert len(text) < 100_000


def test_hostile_names_are_text():
    evil = "<img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}</style></title><script>x</script>"
    long = "y" * 10_000
    graph = PartitionGraph(
        {f"all {evil}": [f"a {evil}", f"b {long}"], f"part {evil}": [f"a {evil}"]}
    )
    labels = (f"a {evil}", f"b {long}")
    forms = [
        Form(f"Target {evil}", {f"V {evil}": labels, f"W {long}": labels}),
        Form(f"Form {evil}", {f"V {evil}": labels, f"W {long}": (f"a {evil}",)}),
        Form(f"Form {long}", {f"V {evil}": (f"all {evil}",)}),
    ]
    variables = [Variable(f"V {evil}", graph, description=evil), Variable(f"W {long}", graph)]
    group = Group(f"G {evil}", tuple(form.name for form in forms))
    environment = Environment(variables, forms, [group], name=f"E {evil}")
    for strict in (True, False):
        outcome = map_key_variables(
            environment, f"Target {evil}", groups=[f"G {evil}"], strict=strict
        )
        text = build_report(outcome, environment)
        page = Page(text)
        tags = {tag for tag, _ in page.elements}
        assert tags.isdisjoint({"img", "script", "iframe", "link"})
        for _, attrs in page.elements:
            assert not any(name.startswith("on") or name == "src" for name in attrs)
        assert evil in page.text
        assert "49" not in page.text.split("How it was made")[0].replace(evil, "")
        assert max(map(len, page.text.split())) < 1_000


def test_long_lists_are_cut_and_counted():
    sinks = [f"place {number:04d}" for number in range(1_000)]
    variable = Variable("Place", PartitionGraph({"everywhere": sinks}))
    forms = [Form(f"Form {number}", {"Place": tuple(sinks)}) for number in range(500)]
    environment = Environment([variable], forms)
    text = build_report(map_key_variables(environment, "Form 0"), environment)
    page = Page(text)
    assert "976 more" in page.text
    assert "and 576 more that are left out here" in page.text
    assert "Form 300" in page.text
    assert "Form 301" not in page.text
    assert "and 199 more" in page.text
    assert "place 0423" in page.text
    assert "place 0424" not in page.text
    assert len(text) < 100_000


def test_large_harmonization_graph_is_left_out_with_a_word():
    n_pairs = 7
    sinks = [f"{pair}{side}" for pair in range(n_pairs) for side in "ab"]
    either = {f"either {pair}": [f"{pair}a", f"{pair}b"] for pair in range(n_pairs)}
    forms = [
        Form(name, {"X": tuple(sorted({*sinks, name} - set(below)))})
        for name, below in either.items()
    ]
    environment = Environment(
        [Variable("X", PartitionGraph(either))], [*forms, Form("T", {"X": tuple(sinks)})]
    )
    page = Page(build_report(map_key_variables(environment, "T"), environment))
    assert "The harmonization graph is not drawn: it has more than 60 codes." in page.text
    assert "As good: other codes" in page.text


def test_same_outcome_same_page(outcome: KeyVariableMap, environment: Environment):
    assert build_report(outcome, environment) == build_report(outcome, environment)


def test_writing(outcome: KeyVariableMap, environment: Environment, tmp_path: Path):
    path = write_report(outcome, environment, tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == build_report(outcome, environment)
    with pytest.raises(StoreError) as caught:
        write_report(outcome, environment, tmp_path / "nowhere" / "report.html")
    assert caught.value.reason is Reason.NOT_WRITABLE
