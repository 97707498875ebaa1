from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.mapping.analysis.composite_keys import find_composite_keys
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.report.mapping_report import build_mapping_report, headline, write_mapping_report
from tests.given.categorizations import crossing_environment

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
    return Page(build_mapping_report(outcome, environment))


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
        "Detail and number of forms taken together, the target could be matched best on"
        " Age (5 categories, C5.001) and Sex (2 categories, C2.001)."
    )
    assert reason == (
        "Age comes first: 3 forms with these 5 categories or finer ones, and its curve has the"
        " largest area of all that can be matched (4)."
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
        "5 of 6 forms ask for it, 2 in categories that are coarser or cut otherwise." in page.text
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
    page = Page(build_mapping_report(outcome, environment))
    assert "Please note 'Residence': 1 form set aside" in page.text
    assert "that were set aside" in page.text
    assert "4 of 6 forms ask for it, 1 of them set aside, 2 in categories" in page.text
    assert "are set aside with a notice (not strict)" in page.text


def test_no_notice_without_a_reason(environment: Environment):
    outcome = map_key_variables(environment, "Census", groups=["Firms"])
    page = Page(build_mapping_report(outcome, environment))
    assert "Please note" not in page.text
    assert "2 forms of the environment 'Small world' ('Firms')" in page.text


def test_specific_use_speaks_of_one_form(environment: Environment):
    outcome = map_key_variables(environment, "Census", forms=["Survey"])
    page = Page(build_mapping_report(outcome, environment))
    assert "3 can be matched against 'Survey'." in page.text
    assert "Must be matched the one form" in page.text


def test_target_with_a_fault_of_its_own(environment: Environment):
    outcome = map_key_variables(environment, "Broken")
    page = Page(build_mapping_report(outcome, environment))
    assert "The one variable of 'Broken' cannot be matched" in page.text
    assert "the target's own categorization is inconsistent: it misses" in page.text


def test_a_target_that_asks_for_nothing_is_told_in_words():
    empty = Environment(
        [Variable.of_bands("Age", ["0-15", "16+"])],
        [Form("Void", {}), Form("Survey", {"Age": ["0-15", "16+"]})],
    )
    assert headline(map_key_variables(empty, "Void")) == [
        "The form 'Void' asks for no variable: there is nothing to match on."
    ]


def test_effective_categories_are_pointed_out():
    age = Variable.of_bands("Age", ["0-9", "10-19", "20+", "0-4", "5-14", "15-24", "25+"])
    forms = [
        Form("T", {"Age": ("0-9", "10-19", "20+")}),
        Form("U", {"Age": ("0-4", "5-14", "15-24", "25+")}),
    ]
    environment = Environment([age], forms)
    page = Page(build_mapping_report(map_key_variables(environment, "T"), environment))
    assert "Harmonization hides something here" in page.text
    assert "a form by itself can be matched with 2 effective categories" in page.text
    assert "because bands overlap" in page.text


def test_what_has_no_bands_has_overlapping_categories():
    graph = PartitionGraph({"ab": ["a", "b"], "cd": ["c", "d"], "bc": ["b", "c"]})
    forms = [
        Form("T", {"X": ("ab", "cd")}),
        *(Form(name, {"X": ("a", "bc", "d")}) for name in "UV"),
    ]
    environment = Environment([Variable("X", graph)], forms)
    page = Page(
        build_mapping_report(map_key_variables(environment, "T", prevalence=1), environment)
    )
    assert "at least 2 forms, each by itself, can be matched with" in page.text
    assert "because categories overlap" in page.text


def test_both_numbers_of_a_prevalence_are_said_where_they_differ():
    letters = Variable("X", PartitionGraph({"all": ["a", "b"]}))
    forms = [Form(f"Form {number}", {"X": ("a", "b")} if number < 3 else {}) for number in range(7)]
    environment = Environment([letters], [*forms, Form("T", {"X": ("a", "b")})])
    both = "a variable counts only if at least 4 have it, 50% of 7 being 3.5"
    for prevalence, asked, result in (
        ("50%", f"at least 3 of 7 forms; {both}", f"result: 3 of 7 forms ask for it; {both}."),
        ("3/7", "at least 3 of 7 forms (a prevalence of 3/7, about 42.86%)", "3 of 7 forms"),
        (0, "at least 1 of 7 forms (a prevalence of 0%)", "3 of 7 forms"),
        ("4/7", "at least 4 of 7 forms (a", "ask for it; a variable counts only if at least 4"),
    ):
        outcome = map_key_variables(environment, "T", prevalence=prevalence)
        page = Page(build_mapping_report(outcome, environment))
        assert f"Must be matched {asked}" in page.text
        assert result in page.text.split("Each variable", 2)[2]


def test_one_is_not_many():
    letters = PartitionGraph({"all": ["a", "b"]})
    forms = [
        Form("T", {"X": ("a", "b")}),
        Form("U", {"X": ("a", "b")}),
        Form("V", {"X": ("all",)}),
    ]
    environment = Environment([Variable("X", letters)], forms)
    for matched in (["U"], ["V"], ["U", "V"]):
        outcome = map_key_variables(environment, "T", forms=matched)
        text = Page(build_mapping_report(outcome, environment)).text
        assert "1 variable " in text
        for plural in ("variables", "forms", "codes", "categories", "nodes", "steps"):
            assert not re.search(rf"\b1 (more )?{plural}\b", text)
        assert not re.search(r"\b1 of 1 form\b|\b1 of \d+ forms ask\b|these 1 ", text)


def test_codes_as_good_are_in_order_and_more_are_owned_up_to():
    pairs = {f"{a}{b}": [a, b] for a, b in ["ef", "de", "cd", "bc", "ab"]}
    forms = [Form(name, {"X": tuple(sorted({*"abcdef", name} - set(name)))}) for name in pairs]
    environment = Environment(
        [Variable("X", PartitionGraph(pairs))], [*forms, Form("T", {"X": tuple("abcdef")})]
    )
    page = Page(build_mapping_report(map_key_variables(environment, "T"), environment))
    assert "Categories of C5.001" in page.text
    listed = page.text.split("As good: other codes")[1].split("prevalence")[0]
    assert re.findall(r"C5\.\d+", listed) == ["C5.002", "C5.003", "C5.004", "C5.005"]
    assert "and more" not in page.text
    page = Page(build_mapping_report(map_key_variables(environment, "T", most=2), environment))
    assert re.search(r"As good: other codes .* and more .*prevalence", page.text)


def test_a_variable_without_a_curve_has_a_section_and_no_rank():
    environment = crossing_environment()
    outcome = map_key_variables(environment, "target", max_nodes=1)
    page = Page(build_mapping_report(outcome, environment))
    assert "All 2 variables of 'target' can be matched against at least 1 of the 13" in page.text
    assert "the target could be matched best on Y (2 categories, C2.001)." in page.text
    assert "Not ranked, because too many harmonizations hide the area: X (5 categor" in page.text
    assert "Please note 'X': the area under its curve is not known" in page.text
    ranked, alone = (
        page.text.split("Each variable")[2].split("What the words mean")[0].split(" X ")[:2]
    )
    assert ranked.strip().startswith("1. Y")
    assert "2. X" not in page.text
    assert "Its curve and its area are not known: there are too many" in alone
    assert "when between 2 and 12 forms must be matched." in alone
    assert "Number of categories, on a logarithmic scale" in ranked
    assert "Number of categories, on a logarithmic scale" not in alone
    # One small curve and one large one, both of Y.
    assert sum("spark" in (own.get("class") or "") for _, own in page.elements) == 1


def test_without_any_area_nothing_is_called_best():
    environment = crossing_environment()
    both = {"X": "X", "Y": "X"}
    variables = [replace(environment.variable(old), name=new) for new, old in both.items()]
    forms = [
        Form(form.name, dict.fromkeys(both, form.instances["X"]))
        for form in environment.forms.values()
    ]
    twice = Environment(variables, forms)
    sentences = headline(map_key_variables(twice, "target", max_nodes=1))
    assert len(sentences) == 2
    assert sentences[1].startswith("Not ranked, because too many harmonizations hide the area: X (")


def test_a_refused_variable_says_what_is_known():
    environment = crossing_environment()
    outcome = map_key_variables(environment, "target", prevalence="1/2", max_nodes=1)
    page = Page(build_mapping_report(outcome, environment))
    assert "No result for 'X', because there are too many harmonizations." in page.text
    assert "There is no result: refused, because its 13 categorizations" in page.text
    assert "known for up to 1 form and from 13 forms on, but not for 6." in page.text


def test_a_list_that_may_be_incomplete_says_so():
    environment = crossing_environment()
    outcome = map_key_variables(environment, "target", max_nodes=1)
    ranked, item = outcome.variables
    for n_codes, said in ((2, "and perhaps more"), (13, "and 2 more codes or more")):
        cut = replace(item, maximal=item.maximal[:n_codes], may_have_more=True)
        page = Page(build_mapping_report(replace(outcome, variables=(ranked, cut)), environment))
        assert f" {said} " in page.text


def test_axes_say_their_scale(page: Page):
    assert "categories (log scale)" in page.text
    assert "under the curve of code size against prevalence, on a linear scale" in page.text


def test_drawing_has_its_title_and_legend_from_the_page(page: Page):
    assert "code seen on forms" not in page.text
    assert "Harmonization graph, coarser above finer: observed codes, harmonizations" in page.text


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
    text = build_mapping_report(outcome, environment)
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
        text = build_mapping_report(outcome, environment)
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
    text = build_mapping_report(map_key_variables(environment, "Form 0"), environment)
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
    page = Page(build_mapping_report(map_key_variables(environment, "T"), environment))
    assert "The harmonization graph is not drawn: it has more than 60 codes." in page.text
    assert "As good: other codes" in page.text


def test_same_outcome_same_page(outcome: KeyVariableMap, environment: Environment):
    assert build_mapping_report(outcome, environment) == build_mapping_report(outcome, environment)


def test_writing(outcome: KeyVariableMap, environment: Environment, tmp_path: Path):
    path = write_mapping_report(outcome, environment, tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == build_mapping_report(outcome, environment)
    assert write_mapping_report(outcome, environment, tmp_path / "report.HTM").exists()
    lost = tmp_path / "nowhere" / "report.html"
    with pytest.raises(StoreError) as caught:
        write_mapping_report(outcome, environment, lost)
    assert caught.value.reason is Reason.NOT_WRITABLE
    assert f"The file '{lost}' was to be written." in str(caught.value)
    for name in ("report.pdf", "report"):
        with pytest.raises(InputError, match=r"Let it end in \.html or \.htm\.") as refused:
            write_mapping_report(outcome, environment, tmp_path / name)
        assert refused.value.reason is Reason.BAD_OPTION
        assert f"A report in the file '{tmp_path / name}'" in str(refused.value)
        assert not (tmp_path / name).exists()


def test_forms_of_a_composite_key_that_are_left_out_are_counted():
    bands = {"Age": ("0-15", "16+")}
    forms = [Form(f"Form {number}", bands) for number in range(302)]
    many = Environment([Variable.of_bands("Age", bands["Age"])], forms)
    found = map_key_variables(many, "Form 0")
    page = Page(build_mapping_report(found, many, find_composite_keys(found, many)))
    together = page.text[page.text.index("The largest composite key") : page.text.index("1. Age")]
    assert "301 of 301" in together
    assert "and 1 more" in together
