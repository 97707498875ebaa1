from __future__ import annotations

import json
import sys
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.files import one_run, was_read
from gamekeeper.importing.documents import read_statistical
from gamekeeper.importing.files import OpenedFile
from gamekeeper.importing.proposing import FORMATS, Format, read_instrument
from gamekeeper.importing.questions import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
    instrument_of,
)
from tests.given.hostile import SPELLINGS, far_apart, repeated

# Names of files may hold what is no text.
words = st.text(st.characters(codec=None), max_size=8)
answers = st.builds(
    ProposedAnswer, words, words, st.lists(words, max_size=2).map(tuple), st.booleans()
)
questions = st.builds(
    ProposedQuestion,
    words,
    words,
    words,
    st.sampled_from(Answering),
    st.lists(answers, max_size=3).map(tuple),
    st.lists(words, max_size=2).map(tuple),
    words,
    words,
    st.booleans(),
)
instruments = st.builds(
    Instrument,
    words,
    words,
    st.lists(questions, max_size=3).map(tuple),
    words,
    st.dictionaries(words, words, max_size=2),
    st.lists(words, max_size=2).map(tuple),
)


def read(tmp_path, name, text, **how):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_instrument(path, **how)


def texts(question):
    return [answer.text for answer in question.answers]


def test_the_same_questions_are_read_from_four_formats(pile):
    found = {name: read_instrument(path) for name, path in pile.items()}
    assert [f.format for f in found.values()] == ["DDI-Codebook", "REDCap", "XLSForm", "LimeSurvey"]
    bank, clinic, club, poll = found.values()
    assert bank.title == "Norland Savings Bank: opening an account"
    assert texts(bank.questions[0])[0] == "Under 18"
    assert [q.answering for q in clinic.questions] == [
        Answering.TEXT,
        Answering.DATE,
        Answering.ONE,
        Answering.ONE,
        Answering.ONE,
        Answering.SEVERAL,
    ]
    assert clinic.questions[0].is_identifier
    assert texts(clinic.questions[4]) == ["Yes", "No"]
    assert club.questions[0].others == ("Quel âge avez-vous ?",)
    assert club.questions[0].answers[0].others == ("Moins de 16 ans",)
    assert (poll.language, poll.title) == ("de", "Umfrage Nordland")
    assert texts(poll.questions[1]) == ["Weiblich", "Männlich", "Keine Angabe"]


DDI = """<codeBook><stdyDscr><citation><titlStmt><titl>T</titl></titlStmt></citation></stdyDscr>
<dataDscr>{}</dataDscr></codeBook>"""


def test_ddi_has_questions_universes_and_missing_values(tmp_path):
    var = """<var name="SEX" intrvl="discrete"><labl>Sex</labl><qstn><qstnLit>What is your sex?</qstnLit></qstn>
    <universe>All persons</universe><invalrng><item VALUE="9"/></invalrng>
    <catgry><catValu>1</catValu><labl>Male</labl></catgry>
    <catgry missing="Y"><catValu>8</catValu><labl>Refused</labl></catgry>
    <catgry><catValu>9</catValu><labl>Blank</labl></catgry></var>
    <var name="INC" intrvl="contin"><labl>Income</labl></var>"""
    sex, income = read(tmp_path, "a.xml", DDI.format(var)).questions
    assert (sex.text, sex.label, sex.universe) == ("What is your sex?", "Sex", "All persons")
    assert [answer.is_missing for answer in sex.answers] == [False, True, True]
    assert income.answering is Answering.NUMBER


def test_statistical_files_have_labels_missing_ranges_and_observed_values(tmp_path):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {"sex": [1.0, 2.0, 9.0], "kids": [0.0, 1.0, 2.0], "income": [1e4, 2e4, 3e4]}
    )
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(
        frame,
        str(path),
        column_labels=["Sex", "Number of children", "Income"],
        variable_value_labels={
            "sex": {1.0: "Female", 2.0: "Male", 9.0: "Refused"},
            "kids": {0.0: "None", 1.0: "One"},
        },
        missing_ranges={"sex": [{"lo": 9.0, "hi": 9.0}]},
    )
    sex, kids, income = read_instrument(path).questions
    assert [(a.text, a.is_missing) for a in sex.answers] == [
        ("Female", False),
        ("Male", False),
        ("Refused", True),
    ]
    assert texts(kids) == ["None", "One", "2"]
    assert (income.answering, income.answers) == (Answering.NUMBER, ())
    stata = tmp_path / "people.dta"
    pyreadstat.write_dta(frame, str(stata), column_labels=["Sex", "Kids", "Income"])
    assert read_instrument(stata).questions[0].text == "Sex"


@pytest.mark.parametrize("version", [5, 8])
def test_sas_transport_files_have_labels_dates_and_the_formats_of_a_catalog(
    tmp_path, monkeypatch, version
):
    import types

    import pandas as pd
    import pyreadstat

    born = pd.to_datetime(["1990-05-17", "1985-01-02", "2001-11-30"]).date
    frame = pd.DataFrame({"SEX": ["1", "2", "9"], "AGE": [36.0, 41.0, 25.0], "BORN": born})
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(
        frame,
        str(path),
        file_label="A survey",
        column_labels={"SEX": "Sex", "AGE": "Age in years", "BORN": "Date of birth"},
        table_name="PEOPLE",
        file_format_version=version,
        variable_format={"SEX": "$SEX"},
    )
    found = read_instrument(path)
    assert (found.format, found.title) == ("SAS", "A survey")
    sex, age, born = found.questions
    assert (sex.text, sex.answering) == ("Sex", Answering.TEXT)
    assert (age.text, age.answering) == ("Age in years", Answering.NUMBER)
    assert (born.text, born.answering) == ("Date of birth", Answering.DATE)
    # Catalogs cannot be written here; what one gives stands in for it.
    (tmp_path / "formats.sas7bcat").write_bytes(b"")
    catalog = types.SimpleNamespace(value_labels={"$SEX": {"1": "Female", "2": "Male"}})
    monkeypatch.setattr(pyreadstat, "read_sas7bcat", lambda *_, **__: ({}, catalog))
    sex = read_statistical(OpenedFile(path)).questions[0]
    assert (sex.answering, texts(sex)) == (Answering.ONE, ["Female", "Male"])
    assert [answer.code for answer in sex.answers] == ["1", "2"]


def test_a_catalog_that_is_damaged_is_one_clear_error(tmp_path):
    import pandas as pd
    import pyreadstat

    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(pd.DataFrame({"SEX": ["1"]}), str(path), variable_format={"SEX": "$S"})
    (tmp_path / "people.sas7bcat").write_bytes(b"canary-4711")
    with pytest.raises(InputError) as refused:
        read_instrument(path)
    assert refused.value.reason is Reason.MALFORMED
    assert "canary" not in str(refused.value)


def test_variables_of_a_file_of_records_are_known_by_their_names_alone(tmp_path):
    import pandas as pd
    import pyreadstat

    path = tmp_path / "people.sav"
    pyreadstat.write_sav(pd.DataFrame({"AGE": [30.0, 40.0]}), str(path))
    (age,) = read_instrument(path).questions
    assert (age.name, age.text, age.answering) == ("AGE", "", Answering.NUMBER)


def test_tables_of_limesurvey_take_the_answers_beside_them(tmp_path):
    (tmp_path / "x_answers.csv").write_text("code,n,answer\na,1,Yes\na,2,No\n")
    table = "section,code,question,answer_format\n1,a,Sure?,ONE CHOICE\n1,b,Why?,FREETEXT\n"
    first, second = read(tmp_path, "x_questions.csv", table).questions
    assert texts(first) == ["Yes", "No"]
    assert second.answering is Answering.TEXT
    assert read(tmp_path, "y_questions.csv", table).notes


def test_questionnaires_in_json_and_codebooks(tmp_path):
    tree = {"title": "T", "sections": [{"blocks": [{"questions": [{"title": "What is {{x}} sex?",
        "answers": [{"id": "sex", "type": "Radio", "options": [{"label": "F", "value": "f"}]}]}]}]}]}  # fmt: skip
    (asked,) = read(tmp_path, "q.json", json.dumps(tree)).questions
    assert (asked.name, asked.text, texts(asked)) == ("sex", "What is sex?", ["F"])
    table = "variable;code;label\nAGE;01;0-15\nAGE;02;16+\nSEX;1;männlich\n".encode("cp1252")
    age, sex = read(tmp_path, "c.csv", table).questions
    assert [answer.code for answer in age.answers] == ["01", "02"]
    assert texts(sex) == ["männlich"]
    utf16 = "variable\tcode\tlabel\nAGE\t1\t0–15\n".encode("utf-16")
    assert texts(read(tmp_path, "u.csv", utf16).questions[0]) == ["0–15"]
    book = {"AGE": {"description": "Age", "values": {"min": 0, "max": 99}}}
    assert read(tmp_path, "d.json", json.dumps(book)).questions[0].answering is Answering.NUMBER


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><codeBook><dataDscr>&b;</dataDscr></codeBook>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><codeBook>&a;</codeBook>'


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.xml", "<codeBook><dataDscr><var", Reason.MALFORMED),
        ("a.xml", BOMB, Reason.MALFORMED),
        ("a.xml", OUTSIDE, Reason.MALFORMED),
        ("a.xml", "<codeBook>" + "<a>" * 500, Reason.MALFORMED),
        ("a.xml", "<codeBook/>", Reason.NOTHING_GIVEN),
        ("a.xlsx", "no workbook", Reason.MALFORMED),
        ("a.json", "{", Reason.MALFORMED),
        ("a.csv", "x,y\n1,2\n", Reason.WRONG_SCHEMA),
        ("a.csv", "", Reason.MALFORMED),
        ("a.sav", "no file of SPSS", Reason.MALFORMED),
        ("a.pdf", "%PDF", Reason.WRONG_SCHEMA),
        ("a.csv", b"variable,code,label\n\x00\x00", Reason.MALFORMED),
    ],
)
def test_bad_files_are_one_clear_error(tmp_path, name, text, reason):
    with pytest.raises(InputError) as caught:
        read(tmp_path, name, text)
    assert caught.value.reason is reason
    assert caught.value.do


def test_large_files_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(LimitError) as caught:
        read_instrument(path)
    assert "--most-megabytes" in caught.value.do
    with pytest.raises(InputError) as missing:
        read_instrument(tmp_path / "not there.csv")
    assert missing.value.reason is Reason.NOT_FOUND


def test_macros_are_not_run_and_said(tmp_path, pile):
    path = tmp_path / "club.xlsm"
    path.write_bytes(pile["club.xlsx"].read_bytes())
    assert "its macros were not run" in read_instrument(path).notes


def test_odd_texts_become_plain_ones(tmp_path):
    label = "<script>alert(1)</script><b>Sex</b> &amp; \u202egender\nnow; שלום"
    rows = f'variable,code,label\nQ,1,"{label}"\nQ,2,"a; b"\nQ,3,\n'
    (asked,) = read(tmp_path, "c.csv", rows).questions
    assert texts(asked) == ["Sex & gender now; שלום", "a; b", "3"]


def test_names_that_are_there_twice_are_told_apart(tmp_path):
    var = '<var name="A"><labl>One</labl></var><var name="A"><labl>Two</labl></var>'
    found = read(tmp_path, "a.xml", DDI.format(var))
    assert [q.name for q in found.questions] == ["A", "A (2)"]
    assert "more than once" in found.notes[0]


def test_the_format_can_be_named(tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a.csv", "x\n", format_name="nonsense")
    assert caught.value.reason is Reason.WRONG_SCHEMA
    found = read(tmp_path, "a.txt", "variable,code,label\nA,1,x\n", format_name="codebook")
    assert len(found.questions) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the limit counts address space")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_workbook_of_two_cells_far_apart_is_refused(tmp_path, spelling):
    for name, cell in (("far.xlsx", "XFD1048576"), ("wide.xlsm", "xfd12000")):
        with pytest.raises(LimitError, match="needs more than") as refused:
            read_instrument(far_apart(tmp_path / name, cell, spelling))
        assert refused.value.reason is Reason.TOO_LARGE


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit counts address space")
def test_a_sheet_of_repeated_cells_is_refused(tmp_path):
    # The most that the library itself takes, and what it takes and makes too much of.
    for rows in (1_000, 6_000):
        with pytest.raises(LimitError) as refused:
            read_instrument(repeated(tmp_path / "a.ods", rows, 16_384))
        assert refused.value.reason is Reason.TOO_LARGE
    # A small one of the same making is read.
    small = repeated(tmp_path / "b.ods", 3, 2)
    assert OpenedFile(small).sheets == {"survey": [["x", "x"]] * 3}


@pytest.mark.slow
def test_more_questions_than_anybody_asks_are_refused(tmp_path):
    lines = ["variable,code,label", *(f"V{n},1,Yes" for n in range(100_001))]
    with pytest.raises(LimitError, match="100,001 questions"):
        read(tmp_path, "a.csv", "\n".join(lines))


def test_a_format_of_ones_own_is_tried_in_its_turn(tmp_path):
    def mine(name, holds):
        asked = (ProposedQuestion("Q1", "Mine?"),)
        made = Instrument(name, name, asked)
        return Format(name, "of one's own", lambda file: holds, lambda file: made)

    never, always = mine("never", False), mine("always", True)
    path = tmp_path / "a.csv"
    path.write_text("variable,code,label\nSEX,1,Male\nSEX,2,Female\n")
    # Functions that no other process can find.
    for formats, expected in (
        ((*FORMATS, always), "codebook"),
        ((always, *FORMATS), "always"),
        ((never, *FORMATS), "codebook"),
        ((*FORMATS[:3], never, *FORMATS[3:], always), "codebook"),
        ((*FORMATS[:3], always, *FORMATS[3:]), "always"),
    ):
        assert expected in read_instrument(path, formats=formats).format.lower()
    assert read_instrument(path, formats=(*FORMATS, always), format_name="always").title == "always"
    with pytest.raises(InputError, match="of no format that is known"):
        read_instrument(path, formats=(never,))


@given(instruments)
def test_instruments_are_the_same_after_they_came_from_another_process(instrument):
    assert instrument_of(json.loads(json.dumps(asdict(instrument)))) == instrument


def test_tables_that_belong_to_a_file_are_known_as_read(tmp_path):
    (tmp_path / "a_questions.csv").write_text("code,question,answer_format\nq1,Who?,LIST\n")
    beside = tmp_path / "a_answers.csv"
    beside.write_text("code,answer,n\nq1,Me,1\n")
    with one_run():
        found = read_instrument(tmp_path / "a_questions.csv")
        assert texts(found.questions[0]) == ["Me"]
        assert was_read(beside)
        assert was_read(tmp_path / "a_questions.csv")
    assert not was_read(beside)
