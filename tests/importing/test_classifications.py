from __future__ import annotations

import pytest

from gamekeeper.errors import InputError, Reason
from gamekeeper.importing.classifications import read_classifications
from gamekeeper.mapping.variables.definitions import variable_of


def graph(tmp_path, name, text, **how):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (found, *_) = read_classifications(path, **how)
    return variable_of(found.definition("V")).graph, found


SDMX = """<m:Structure xmlns:m="http://www.sdmx.org/x/message" xmlns:s="structure"><s:Codelists>
<s:Codelist id="CL_AREA"><s:Code id="_T"><s:Name xml:lang="en">Total</s:Name></s:Code>
<s:Code id="U"><s:Name xml:lang="fr">Urbain</s:Name><s:Name xml:lang="en">Urban</s:Name></s:Code>
<s:Code id="C"><s:Name>City</s:Name><s:Parent><Ref id="U"/></s:Parent></s:Code>
<s:Code id="T"><s:Name>Total</s:Name></s:Code>
<s:Code id="N"><s:Name>Town</s:Name><s:Parent><Ref id="U"/></s:Parent></s:Code>
<s:Code id="R"><s:Name>Rural</s:Name></s:Code></s:Codelist></s:Codelists>
<s:Hierarchy id="H"><s:HierarchicalCode id="h1"><s:Code><Ref id="U"/></s:Code>
<s:HierarchicalCode id="h2"><s:Code><Ref id="C"/></s:Code></s:HierarchicalCode>
<s:HierarchicalCode id="h3"><s:Code><Ref id="N"/></s:Code></s:HierarchicalCode></s:HierarchicalCode></s:Hierarchy>
</m:Structure>"""


def test_sdmx_code_lists_and_hierarchies(tmp_path):
    found, _ = graph(tmp_path, "a.xml", SDMX)
    assert set(found.sinks) == {"City", "Town", "Rural"}
    assert found.children("Urban") == ("City", "Town")
    lists = read_classifications(tmp_path / "a.xml")
    assert [item.name for item in lists] == ["CL_AREA", "H"]
    assert dict(lists[1].children) == {"Urban": ("City", "Town"), "City": (), "Town": ()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.hrc", "Urban\n@City\n@Town\nRural\n"),
        ("a.csv", "level0,level1,level2\nCity,Urban,*\nTown,Urban,*\nRural,Rural,*\n"),
        ("a.csv", "City;Urban;*\nTown;Urban;*\nRural;Rural;*\n"),
        ("a.csv", "Rural;Rural;*\nCity;Urban;*\nTown;Urban;*\n"),
        ("a.csv", "code,label,parent\nU,Urban,\nC,City,U\nT1,Town,U\nR,Rural,\n"),
        ("a.csv", "id,name,description,name_locale\nA,Urban,,en\nA1,City,,en\nA2,Town,,en\nB,Rural,,en\n"),
    ],
)  # fmt: skip
def test_the_same_classification_in_other_formats(tmp_path, name, text):
    found, _ = graph(tmp_path, name, text)
    assert set(found.sinks) == {"City", "Town", "Rural"}
    assert set(found.children("Urban")) == {"City", "Town"}


CENSUS = """topic,variable,variable_name,classification,classification_name,category_code,category_name
P,eth,Ethnic group,eth_2,x,1,White
P,eth,Ethnic group,eth_2,x,2,Asian
P,eth,Ethnic group,eth_2,x,3,Unclear
P,eth,Ethnic group,eth_3,x,1,White
P,eth,Ethnic group,eth_3,x,2,Asian: Indian
P,eth,Ethnic group,eth_3,x,3,Asian: Other
P,eth,Ethnic group,eth_3,x,4,Black
P,age,Age,age_2,x,1,Aged 15 years and under
P,age,Age,age_2,x,2,Aged 16 years and over
"""


def test_census_tables_are_joined_by_words_and_what_cannot_be_told_is_named(tmp_path):
    found, ethnic = graph(tmp_path, "c.csv", CENSUS)
    assert found.children("Asian") == ("Asian: Indian", "Asian: Other")
    assert "Unclear" not in found
    assert "'Unclear'" in ethnic.notes[0]
    age = read_classifications(tmp_path / "c.csv")[1]
    assert variable_of(age.definition()).graph.sinks == ("0-15", "16+")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.hrc", "A\n@@@B\n", Reason.MALFORMED),
        ("a.csv", "x,y\n1,2\n3,4\n", Reason.WRONG_SCHEMA),
        ("a.csv", "level0,level1,level2\na,x,*\na,y,*\n", Reason.MALFORMED),
        ("a.xml", "<Structure>sdmx", Reason.MALFORMED),
    ],
)
def test_bad_lists_are_one_clear_error(tmp_path, name, text, reason):
    with pytest.raises(InputError) as caught:
        graph(tmp_path, name, text)
    assert caught.value.reason is reason


def test_a_category_with_two_parents_counts_once(tmp_path):
    with pytest.raises(InputError, match="1 category with two parents: 'a'"):
        graph(tmp_path, "a.csv", "level0,level1,level2\na,x,*\na,y,*\na,y,*\n")


def test_codes_that_go_round_in_a_circle_are_not_followed(tmp_path):
    found, _ = graph(tmp_path, "a.csv", "code,label,parent\nA,One,B\nB,Two,A\nC,Three,A\n")
    assert found.sinks


def test_one_level_alone_is_a_list_of_finest_categories(tmp_path):
    found, _ = graph(tmp_path, "a.csv", "City\nCity\n", format_name="levels")
    assert found.sinks == ("City",)
