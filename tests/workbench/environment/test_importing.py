"""Questionnaires and classifications become forms and variables, and nothing enters unasked."""

from __future__ import annotations

import io
import json

import pytest

from gamekeeper.cli.app import main
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import DeclareMetadata
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.workbench.demo_place import write_questionnaires
from gamekeeper.workbench.environment.importing import import_forms
from gamekeeper.workbench.requests.editing import ImportFormsRequest
from gamekeeper.workbench.requests.environment import InStore

NEW = {"AGE": "Age", "SEX": "Sex", "MARST": "Marital status"}


@pytest.fixture
def pile(tmp_path):
    return write_questionnaires(tmp_path / "pile")


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "pile.gk"
    EnvironmentStore.create(path, name="Pile", who="ann").close()
    return path


def asked(store, *files, **more):
    return import_forms(ImportFormsRequest(place=InStore(store=store), files=files, **more))


def environment(store):
    with EnvironmentStore.open(store) as opened:
        return opened.environment()


def revision(store):
    with EnvironmentStore.open(store) as opened:
        return opened.revision


@pytest.mark.slow
def test_a_pile_becomes_forms_in_the_words_of_each(store, pile):
    asked(store, pile["bank.xml"], new=NEW)
    before = revision(store)
    looked = asked(store, *list(pile.values())[1:])
    assert looked.edited is None
    assert revision(store) == before
    made = asked(store, *list(pile.values())[1:], take_sure=True)
    assert revision(store) == before + 1
    known = environment(store)
    poll = known.form("Umfrage Nordland")
    assert poll.instances["Sex"] == ("Female", "Male")
    sex = poll.question("geschlecht")
    assert [(a.text, a.label, a.no_answer) for a in sex.answers] == [
        ("Weiblich", "Female", None),
        ("Männlich", "Male", None),
        ("Keine Angabe", "Keine Angabe", "refused"),
    ]
    assert poll.metadata["source"] == "poll.lss"
    assert known.categorization("Umfrage Nordland", "Age").is_valid
    assert known.form("clinic").instances["Age"] == ()
    assert "would be entered" in looked.sentences()[0]
    assert " entered" in made.sentences()[0]


def test_decisions_are_saved_changed_and_entered(store, pile, tmp_path):
    asked(store, pile["bank.xml"], new=NEW)
    saved = tmp_path / "rest.json"
    asked(store, pile["clinic.csv"], take_sure=True, save=saved)
    assert saved.stat().st_mode & 0o077 == 0
    tree = json.loads(saved.read_text(encoding="utf-8"))
    (form,) = tree["forms"]
    left = {decision["question"]: decision for decision in form["questions"]}
    assert set(left) == {"record_id", "smoker", "illness"}
    left["smoker"].update(take=True, variable="Smoking", new=True)
    left["record_id"].update(take=True, variable=None)
    saved.write_text(json.dumps(tree), encoding="utf-8")
    asked(store, decisions=saved)
    clinic = environment(store).form("clinic")
    assert clinic.instances["Smoking"] == ("Yes", "No")
    assert clinic.question("record_id").variable is None
    again = asked(store, pile["clinic.csv"], name="Another clinic")
    status = {d.question: d.status for d in again.decisions.forms[0].questions}
    assert (status["record_id"], status["smoker"]) == ("left out before", "sure")


def test_edits_can_be_written_read_and_made(store, pile, tmp_path, monkeypatch):
    edits = tmp_path / "edits.json"
    made = asked(store, pile["bank.xml"], new=NEW, edits=edits)
    assert edits.stat().st_mode & 0o077 == 0
    assert made.edited is None
    assert environment(store).forms == {}
    monkeypatch.setattr("sys.argv", ["gamekeeper", "env", "edit", str(store), str(edits)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert set(environment(store).variables) == set(NEW.values())


def test_what_is_not_decided_is_listed_and_nothing_enters(store, pile, tmp_path):
    asked(store, pile["bank.xml"], new=NEW)
    saved, before = tmp_path / "rest.json", revision(store)
    asked(store, pile["clinic.csv"], save=saved)
    tree = json.loads(saved.read_text(encoding="utf-8"))
    for decision in tree["forms"][0]["questions"]:
        decision["take"] = True
        if decision["question"] == "smoker":
            decision["variable"] = "Sexx"
        if decision["question"] == "sex":
            decision["answers"][0] = {"text": "Female"}
    saved.write_text(json.dumps(tree), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        asked(store, decisions=saved)
    assert {p.reason for p in caught.value.problems} == {Reason.UNKNOWN_NAME, Reason.NOTHING_GIVEN}
    assert revision(store) == before


@pytest.mark.parametrize(
    "more",
    [{}, {"name": "x", "files": ("a", "b")}, {"decisions": "d.json", "files": ("a",)}],
)
def test_what_does_not_go_together_is_refused(store, tmp_path, more):
    given = {k: tmp_path / v if k == "decisions" else v for k, v in more.items()}
    files = tuple(tmp_path / name for name in given.pop("files", ()))
    with pytest.raises(InputError):
        asked(store, *files, **given)


def test_one_bad_file_among_several_enters_nothing(store, pile, tmp_path):
    bad = tmp_path / "bad.xml"
    bad.write_text("<codeBook><", encoding="utf-8")
    before = revision(store)
    with pytest.raises(InputError) as caught:
        asked(store, pile["bank.xml"], bad, new=NEW)
    assert "bad.xml" in str(caught.value)
    assert revision(store) == before
    with pytest.raises(InputError) as unknown:
        asked(store, pile["bank.xml"], new={"AGEE": "Age"})
    assert unknown.value.reason is Reason.UNKNOWN_NAME
    with pytest.raises(InputError) as nothing:
        asked(store, pile["bank.xml"], take_sure=True)
    assert nothing.value.reason is Reason.NOTHING_GIVEN


def test_a_person_is_asked_at_the_prompt(store, pile, tmp_path, monkeypatch, capsys):
    asked(store, pile["bank.xml"], new=NEW)
    odd = tmp_path / "odd.csv"
    odd.write_text(
        "variable,code,label,question\nS,1,Female,What is your sex?\nS,2,Male,\nS,3,Neither,\n"
        "P,1,F,Sex of your partner\nP,2,M,\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("sys.argv", ["gamekeeper", "form", "import", str(store), str(odd), "--ask"])
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n-\nx\n"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0, capsys.readouterr()
    form = environment(store).form("odd")
    assert form.instances == {"Sex": ("Female", "Male")}
    assert form.question("S").answers[2].no_answer == "not stated"
    assert form.question("P").variable is None


def test_a_classification_becomes_a_variable(store, tmp_path, monkeypatch):
    listed = tmp_path / "areas.hrc"
    listed.write_text("Urban\n@City\n@Town\nRural\n", encoding="utf-8")
    command = ["gamekeeper", "variable", "import", str(store), str(listed), "--variable", "Area"]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert environment(store).variables["Area"].graph.children("Urban") == ("City", "Town")


def test_nothing_enters_with_a_new_variable_but_that(store, pile):
    asked(store, pile["bank.xml"], new=NEW)
    asked(store, pile["club.xlsx"], new={"work": "Work"})
    assert set(environment(store).form("City Runners: membership").instances) == {"Work"}


@pytest.mark.slow
def test_a_file_that_was_read_before_is_another_form_and_said_to_be(store, pile):
    asked(store, pile["bank.xml"], new=NEW)
    names = []
    for _ in range(3):
        made = asked(store, pile["poll.lss"], take_sure=True)
        names.append(made.decisions.forms[0].form)
    assert names == ["Umfrage Nordland", "Umfrage Nordland (poll)", "Umfrage Nordland (poll 2)"]
    assert len(environment(store).forms) == 4
    assert any("there is a form 'Umfrage Nordland' already" in line for line in made.sentences())


def test_metadata_that_must_be_given_is_given_with_the_files(store, pile):
    asked(store, pile["bank.xml"], new=NEW)
    with EnvironmentStore.open(store) as opened:
        opened.apply([DeclareMetadata(key="year", required=True, kind="number")], who="ann")
    with pytest.raises(InputError, match="year"):
        asked(store, pile["poll.lss"], take_sure=True)
    asked(store, pile["poll.lss"], take_sure=True, metadata={"year": 2031})
    assert environment(store).form("Umfrage Nordland").metadata["year"] == 2031


def run(monkeypatch, capsys, *words, typed=""):
    monkeypatch.setattr("sys.argv", ["gamekeeper", *map(str, words)])
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed
    return printed.out


def test_at_the_prompt_what_is_sure_is_asked_for_too(store, pile, monkeypatch, capsys):
    asked(store, pile["bank.xml"], new=NEW)
    run(monkeypatch, capsys, "form", "import", store, pile["poll.lss"], "--ask", typed="n\n\nn\n")
    assert set(environment(store).form("Umfrage Nordland").instances) == {"Sex"}


def test_names_that_are_not_known_are_asked_for_again(store, pile, tmp_path, monkeypatch, capsys):
    asked(store, pile["bank.xml"], new=NEW)
    odd = tmp_path / "odd.csv"
    odd.write_text(
        "variable,code,label,question\nP,1,F,Sex of your partner\nP,2,Mr,\nP,3,Else,\n",
        encoding="utf-8",
    )
    typed = "Sexx\nSex\nMaile\nMale\n-\n"
    told = run(monkeypatch, capsys, "form", "import", store, odd, "--ask", typed=typed)
    assert "no variable 'Sexx'" in told
    assert "no category 'Maile'" in told
    assert environment(store).form("odd").instances == {"Sex": ("Female", "Male")}


def test_another_variable_gets_the_answers_that_fit_it(store, pile, tmp_path, monkeypatch, capsys):
    asked(store, pile["bank.xml"], new=NEW)
    odd = tmp_path / "odd.csv"
    rows = ["Single", "Married", "Separated", "Divorced", "Widowed"]
    text = "variable,code,label,question\n"
    text += "".join(f"P,{n},{row},Sex or so of yours\n" for n, row in enumerate(rows))
    odd.write_text(text, encoding="utf-8")
    run(monkeypatch, capsys, "form", "import", store, odd, "--ask", typed="Marital status\n")
    assert environment(store).form("odd").instances == {"Marital status": tuple(rows)}


def test_programs_get_what_people_read(store, pile, monkeypatch, capsys):
    asked(store, pile["bank.xml"], new=NEW)
    words = ["form", "import", store, pile["poll.lss"], "--take-sure", "--format", "json"]
    told = json.loads(run(monkeypatch, capsys, *words))
    assert told["sentences"][-1].startswith("Revision 3: ")
    assert told["parts"]["decisions"]["forms"][0]["form"] == "Umfrage Nordland"
