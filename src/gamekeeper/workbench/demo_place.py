"""A place to try the workbench at: forms of an invented country in a store, a file, questionnaires.

Norland does not exist. It has banks, shops, councils, hospitals, surveys and employers, each with
forms that ask what such forms ask, in wordings that overlap as real ones do; they are kept beside this
file, in the folder of an environment. Four questionnaires ask for much the same in words of their own:
a bank's codebook (DDI), a clinic's dictionary (REDCap), a running club's form (XLSForm, in English and
French) and a poll (LimeSurvey, in German). No name is meant to be that of a real organisation, person
or place. The place is made once; what was done there since stays.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from gamekeeper.data.population import make_population, sample_population
from gamekeeper.files import make_folders, refusal, write_file
from gamekeeper.mapping.environment.asked import MapOptions
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.report.tables import write_table
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.folder import read_environment
from gamekeeper.wording import shown_path
from gamekeeper.workbench.environment.mapping import save_scenario
from gamekeeper.workbench.environment.opening import is_store
from gamekeeper.workbench.requests.editing import SaveScenarioRequest
from gamekeeper.workbench.requests.environment import InStore, Person

TARGET = "Census microdata 2031 (proposed release)"
"""The name of the target form."""


def demo_environment() -> Environment:
    """Return the demo environment.

    It has 98 forms of many sectors, groups of them, and the target `TARGET`, which has all of the 18
    variables in detail. Two forms have an inconsistent categorization of one variable each.

    Examples
    --------
    >>> environment = demo_environment()
    >>> environment
    Environment('Norland', 99 forms, 18 variables, 15 groups)
    """
    return read_environment(Path(__file__).with_name("norland"))


_BANK = (
    ("AGE", "Age", ("Under 18", "18 to 24", "25 to 44", "45 to 64", "65 and over")),
    ("SEX", "Sex", ("Female", "Male", "Not stated")),
    ("MARST", "Marital status", ("Single", "Married", "Separated", "Divorced", "Widowed")),
    ("EMPST", "Employment status", ("Employed", "Unemployed", "Student", "Retired", "Other")),
    ("KIDS", "Number of dependent children", ("None", "1", "2", "3 or more")),
    ("OVERDR", "Overdraft wanted", ("Yes", "No")),
)
_CLINIC = (
    ("record_id", "text", "Record number", "", ""),
    ("dob", "text", "Date of birth", "", "date_ymd"),
    ("sex", "radio", "What is your sex?", "1, Female | 2, Male | 9, Prefer not to say", ""),
    (
        "marital",
        "dropdown",
        "What is your marital status?",
        "1, Never married | 2, Married | 3, Separated | 4, Divorced | 5, Widowed | 9, Refused",
        "",
    ),
    ("smoker", "yesno", "Do you smoke?", "", ""),
    ("illness", "checkbox", "Which illnesses have you had?", "1, Asthma | 2, Diabetes", ""),
)
_CLUB = (
    ("select_one age", "age", "How old are you?", "Quel âge avez-vous ?"),
    ("select_one sex", "sex", "Sex", "Sexe"),
    ("select_one work", "work", "What is your employment status?", "Situation professionnelle"),
    ("select_one distance", "distance", "How far do you run each week?", "Distance par semaine"),
)
_CLUB_LISTS = {
    "age": (
        ("Under 16", "Moins de 16 ans"),
        ("16-24", "16-24"),
        ("25-64", "25-64"),
        ("65+", "65+"),
    ),
    "sex": (("Female", "Femme"), ("Male", "Homme"), ("Prefer not to say", "Refus")),
    "work": (
        ("Employed", "En emploi"),
        ("Unemployed", "Au chômage"),
        ("Student", "Étudiant"),
        ("Retired", "Retraité"),
        ("Other", "Autre"),
    ),
    "distance": (("Less than 10 km", "Moins de 10 km"), ("10 km or more", "10 km et plus")),
}
_POLL = (
    ("alter", "Wie alt sind Sie?", ("18 bis 29 Jahre", "30 bis 44 Jahre", "45 bis 64 Jahre", "65 Jahre und älter")),
    ("geschlecht", "Geschlecht", ("Weiblich", "Männlich", "Keine Angabe")),
    ("familienstand", "Familienstand", ("Ledig", "Verheiratet", "Getrennt lebend", "Geschieden", "Verwitwet")),
    ("wahl", "Welche Partei würden Sie wählen?", ("Hafenpartei", "Bergpartei", "Weiß nicht")),
)  # fmt: skip


def write_questionnaires(folder: Path) -> dict[str, Path]:
    """Write the four files into a folder, and return where each is."""
    make_folders(folder, [])
    texts: Mapping[str, bytes] = {
        "bank.xml": _ddi("Norland Savings Bank: opening an account", _BANK).encode(),
        "clinic.csv": _redcap().encode(),
        "club.xlsx": _xlsform("City Runners: membership"),
        "poll.lss": _lime("Umfrage Nordland").encode(),
    }
    for name, content in texts.items():
        write_file(folder / name, content, private=False)
    return {name: folder / name for name in texts}


def _ddi(title: str, asked: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    variables = "".join(
        f'<var name="{name}"><labl>{escape(label)}</labl>'
        + "".join(
            f"<catgry><catValu>{code}</catValu><labl>{escape(text)}</labl></catgry>"
            for code, text in enumerate(answers, 1)
        )
        + "</var>\n"
        for name, label, answers in asked
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<codeBook xmlns="ddi:codebook:2_5" version="2.5">\n'
        f"<stdyDscr><citation><titlStmt><titl>{escape(title)}</titl></titlStmt></citation></stdyDscr>\n"
        f"<dataDscr>\n{variables}</dataDscr>\n</codeBook>\n"
    )


def _redcap() -> str:
    out = io.StringIO()
    write = csv.writer(out)
    write.writerow(
        [
            "Variable / Field Name",
            "Form Name",
            "Field Type",
            "Field Label",
            "Choices, Calculations, OR Slider Labels",
            "Text Validation Type OR Show Slider Number",
            "Identifier?",
        ]
    )
    for name, kind, label, choices, validation in _CLINIC:
        marked = "y" if name == "record_id" else ""
        write.writerow([name, "registration", kind, label, choices, validation, marked])
    return out.getvalue()


def _xlsform(title: str) -> bytes:
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    survey, choices = book.add_worksheet("survey"), book.add_worksheet("choices")
    survey.write_row(0, 0, ["type", "name", "label::English (en)", "label::French (fr)"])
    for row, question in enumerate(_CLUB, 1):
        survey.write_row(row, 0, question)
    choices.write_row(0, 0, ["list_name", "name", "label::English (en)", "label::French (fr)"])
    lines = [
        (name, str(code), *texts)
        for name, listed in _CLUB_LISTS.items()
        for code, texts in enumerate(listed, 1)
    ]
    for row, line in enumerate(lines, 1):
        choices.write_row(row, 0, line)
    settings = book.add_worksheet("settings")
    settings.write_row(0, 0, ["form_title", "default_language"])
    settings.write_row(1, 0, [title, "English"])
    book.close()
    return out.getvalue()


def _lime(title: str) -> str:
    def rows(table: str, lines: Sequence[Mapping[str, str]]) -> str:
        cells = "".join(
            "<row>"
            + "".join(f"<{key}><![CDATA[{value}]]></{key}>" for key, value in line.items())
            + "</row>\n"
            for line in lines
        )
        return f"<{table}><rows>\n{cells}</rows></{table}>\n"

    questions = [
        {
            "qid": str(n),
            "parent_qid": "0",
            "type": "L",
            "title": name,
            "question": text,
            "language": "de",
            "question_order": str(n),
        }
        for n, (name, text, _) in enumerate(_POLL, 1)
    ]
    answers = [
        {
            "qid": str(n),
            "code": f"A{code}",
            "answer": text,
            "sortorder": str(code),
            "language": "de",
        }
        for n, (_, _, listed) in enumerate(_POLL, 1)
        for code, text in enumerate(listed, 1)
    ]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<document>\n'
        "<LimeSurveyDocType>Survey</LimeSurveyDocType>\n<languages><language>de</language></languages>\n"
        + rows("answers", answers)
        + rows("questions", questions)
        + rows("surveys_languagesettings", [{"surveyls_title": title}])
        + "</document>\n"
    )


DEMO = Path("demo-workbench")
"""The folder of the demo, in the folder from which it is asked for."""

_KEYS = ("Age", "Sex", "Place of residence", "Marital status", "Economic activity")


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where the store is, and the folder with the file."""

    store: Path
    files: Path


def demo_workplace(folder: Path, *, seed: int = 2026) -> Workplace:
    """Return the place of the demo; what is missing is made."""
    found = Workplace(folder / "norland.gk", folder / "files")
    try:
        make_folders(found.files, [])
    except OSError as error:
        raise refusal(f"The folder {shown_path(folder)} was to be made.", error) from error
    sample = found.files / "census-sample.csv"
    if not sample.exists():
        everybody = make_population(150_000, seed=seed)
        drawn = sample_population(everybody, "2%", seed=seed, stratify_by="Place of residence")
        write_table(drawn, sample, raw=True)
        write_questionnaires(folder / "questionnaires")
    if not is_store(found.store):
        _make_store(found.store)
    return found


def _make_store(store: Path) -> None:
    environment = demo_environment()
    EnvironmentStore.create(store, environment, who="demo", note="made up for the demo").close()
    known = environment.form(TARGET).instances
    save_scenario(
        SaveScenarioRequest(
            place=InStore(store=store),
            scenario="A data broker",
            question=MapOptions(TARGET, groups=("Commercial",), prevalence="10%", strict=False),
            attacker="Somebody who buys data sets of businesses",
            keys={name: "" for name in _KEYS if name in known},
            person=Person(who="demo"),
        )
    )
