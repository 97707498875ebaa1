"""What every risk command says before it is believed: missing cells, stale scenarios, scores."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex

import pytest

import gamekeeper as gk
from gamekeeper.mapping.edits import DeclareImpossible, MarkSensitive, apply_edits
from tests.given.microdata import KEYS, OF_SCENARIO, OTHERS, PEOPLE, SCENARIO, world, write

ALL = ",".join(KEYS)
MODELS = ("--method", "annealing", "--chains", "1", "--workers", "1")
COMMANDS = {
    "keys": (),
    "measures": (),
    "dis": ("-f", "1/2"),
    "suda": ("-f", "1/2", "--workers", "1"),
    "special": ("-f", "1/2", "--rounds", "0"),
    "match": ("-f", "1/2"),
    "simulate": ("-f", "1/2", "--workers", "1"),
    "model": MODELS,
    "infer": ("-f", "1/2", *MODELS),
    "compare": ("-f", "1/2", "--measure", "is", "--workers", "1"),
}
# The widowed have no age, and nobody said so.
WITH_NA = PEOPLE.replace("16,f", "NA,f").replace("71,f", "NA,f")
NOTICE = (
    "'NA' looks like a code for missing in the column 'Age' (3 of 12 records), and is read as a"
    " value. Where it means missing, add --missing-value NA."
)


def notices(told):
    assert told.exit_code == 0, told.err
    return json.loads(told.out)["notices"]


@pytest.mark.parametrize("command", COMMANDS)
def test_codes_for_missing_are_told_by_every_command(run, tmp_path, command):
    file = write(tmp_path, "people.csv", WITH_NA)
    asked = ("risk", command, file, "-k", ALL, *COMMANDS[command])
    told = run(*asked)
    assert told.exit_code == 0, told.err
    assert f"! {NOTICE}" in told.out
    # It is said before what was found.
    assert told.out.index(NOTICE) < told.out.index("records", told.out.index(NOTICE) + len(NOTICE))
    assert notices(run(*asked, "--format", "json")) == [NOTICE]
    assert notices(run(*asked, "--missing-value", "NA", "--format", "json")) == []
    told = run(*asked, "--format", "csv")
    assert f"! {NOTICE}" in told.err.replace("\n", " ")
    assert "NA looks" not in told.out
    assert list(csv.DictReader(io.StringIO(told.out)))


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("NA", "NA"),
        (".", "'.'"),
        ("n.a.", "'n.a.'"),
        ("?", "'?'"),
        ("*", "'*'"),
        ("-9", "-9"),
        ("999", "999"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_a_notice_advises_can_be_typed(run, tmp_path, code, shown, ending):
    ages = [str(age) for age in range(20, 60)] + [code] * 4
    file = tmp_path / f"ages.{ending}"
    if ending == "csv":
        file.write_text("age\n" + "\n".join(ages) + "\n")
    else:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        numbers = code.lstrip("-").isdigit()
        parquet.write_table(pa.table({"age": [int(a) for a in ages] if numbers else ages}), file)
    asked = ("risk", "keys", file, "-k", "age", "--format", "json")
    (notice,) = notices(run(*asked))
    assert f"'{code}' looks like a code for missing in the column 'age' (4 of 44" in notice
    advised = re.search(r"add (--missing-value .*)\.$", notice)
    assert advised is not None
    assert advised[1] == f"--missing-value {shown}"
    told = run(*asked, *shlex.split(advised[1]))
    assert notices(told) == []
    words = {row["age"] for row in json.loads(told.out)["rows"]}
    assert "missing" in words
    assert code not in words


def test_tables_that_are_published_of_such_a_file_say_so_in_csv_as_well(run, tmp_path):
    file = write(tmp_path, "people.csv", WITH_NA)
    asked = ("tables", "release", file, "-k", "Age", "-o", tmp_path / "release.json", "--replace")
    assert f"! {NOTICE}" in run(*asked).out
    assert notices(run(*asked, "--format", "json")) == [NOTICE]
    told = run(*asked, "--format", "csv")
    assert f"! {NOTICE}" in told.err.replace("\n", " ")
    assert told.out.startswith("table,scheme\n")


def test_links_say_so_for_each_file(run, tmp_path):
    file = write(tmp_path, "people.csv", PEOPLE)
    other = write(tmp_path, "other.csv", WITH_NA)
    told = f"In the file 'other.csv': {NOTICE}"
    assert told in run("link", "files", file, other).out
    assert (
        told
        in json.loads(run("link", "evaluate", other, file, "--format", "json").out)["sentences"]
    )
    assert NOTICE not in run("link", "files", file, other, "--missing-value", "NA").out
    numbers = [f"{n % 7 + 20},{n % 5 + 30},{n * n % 11 + 1}" for n in range(40)]
    first = write(tmp_path, "first.csv", "a,b,c\n" + "\n".join(numbers) + "\n")
    second = write(tmp_path, "second.csv", "d,e,f\n" + "\n".join([*numbers, "-9,-9,3", "-9,-9,4"]))
    said = run("link", "structure", first, second).out
    assert "In the file 'second.csv': '-9' looks like a code for missing in the columns 'd'" in said
    assert "In the file 'first.csv'" not in said


def test_several_codes_and_columns_are_told_in_one_sentence(run, tmp_path):
    rows = [f"{n % 5 + 1},{n % 7 + 1},{n % 40 + 20}" for n in range(200)]
    rows += ["-9,-9,30", "-9,-9,31", "-8,-8,32", "-8,-8,33"]
    file = write(tmp_path, "coded.csv", "a,b,age\n" + "\n".join(rows) + "\n")
    told = run("risk", "keys", file, "-k", "a,b,age", "--format", "json")
    assert notices(told) == [
        (
            "'-9' and '-8' look like codes for missing in the columns 'a' (4 of 204 records) and 'b'"
            " (4 of 204 records), and are read as values. Where they mean missing, add --missing-value"
            " -9 --missing-value -8."
        )
    ]


def test_numbers_that_belong_to_their_range_raise_no_alarm(run, tmp_path):
    rows = [f"{n % 100},{n % 9 + 1},{n % 5 - 2}" for n in range(900)]
    file = write(tmp_path, "ages.csv", "age,class,change\n" + "\n".join(rows) + "\n")
    told = run("risk", "keys", file, "-k", "age,class,change", "--format", "json")
    assert notices(told) == []


def test_the_population_is_looked_at_as_well(run, tmp_path):
    people = write(tmp_path, "people.csv", PEOPLE)
    more = "".join(OTHERS) + "NA,f,single,North,1\n" * 9
    everybody = write(tmp_path, "everybody.csv", PEOPLE + more)
    asked = ("risk", "match", people, "-k", ALL, "--population", everybody, "--format", "json")
    (notice,) = notices(run(*asked))
    assert notice.startswith("In the file 'everybody.csv': 'NA' looks like a code for missing")


def test_what_a_person_has_explained_is_not_suspected(run, tmp_path):
    folder = tmp_path / "world"
    gk.write_environment(world(), folder)
    text = OF_SCENARIO.replace("single", "NA").replace("divorced", "NA")
    file = write(tmp_path, "clerk.csv", text)
    asked = ("risk", "keys", file, "--scenario", SCENARIO, "-e", folder, "--format", "json")
    assert run(*asked).exit_code == 2
    values = write(tmp_path, "v.csv", "variable,value,category\nMarital status,NA,single\n")
    assert notices(run(*asked, "--values", values)) == []
    # 999 lies in a band, so that nobody is asked what it means.
    old = OF_SCENARIO.replace("70,male", "999,male").replace("71,female", "999,female")
    told = run(*asked[:2], write(tmp_path, "old.csv", old), *asked[3:])
    (notice,) = notices(told)
    assert "'999' looks like a code for missing in the column 'AGE' (2 of 7 records)" in notice


CODED = OF_SCENARIO.replace("marital_status", "Marital status")
for _age, _code in (("4", "1"), ("17", "2"), ("34", "4"), ("52", "6"), ("70", "8"), ("71", "8")):
    CODED = CODED.replace(f"\n{_age},", f"\n{_code},")
ASKED = "'Age': the column 'AGE' has 5 small whole numbers in 7 records, which may be codes"


@pytest.fixture
def coded(tmp_path):
    """The options of a file whose ages are the numbers of age groups."""
    folder = tmp_path / "world"
    gk.write_environment(world(), folder)
    return (write(tmp_path, "coded.csv", CODED), "--scenario", SCENARIO, "--environment", folder)


@pytest.mark.parametrize(
    "asked",
    [
        *(("risk", command, *more) for command, more in COMMANDS.items()),
        ("assess",),
        ("protect", "try", "-t", "own>=2"),
        ("tables", "release", "--scheme", "exact"),
    ],
    ids=lambda asked: " ".join(asked[:2]),
)
def test_numbers_that_may_be_codes_of_bands_are_asked_about_by_every_command(
    run, tmp_path, coded, asked, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = asked[: 1 if asked[0] == "assess" else 2]
    command = (*words, coded[0], *asked[len(words) :], *coded[1:])
    told = run(*command)
    said = " ".join(told.err.split())
    assert told.exit_code == 2
    assert told.out == ""
    assert "[unmapped-values]" in said
    assert ASKED in said
    assert "if they are numbers, add --numbers Age; if they are codes" in said
    told = run(*command, "--numbers", "Aeg")
    assert "not one of the key variables. Near to it: 'Age'." in " ".join(told.err.split())
    meant = run(*command, "--numbers", "Age", "--format", "json")
    assert meant.exit_code in (0, 4), meant.err


def test_codes_of_bands_are_mapped_one_by_one(run, tmp_path, coded):
    asked = ("risk", "keys", *coded, "--format", "json")
    listed = tmp_path / "list.csv"
    assert run(*asked, "--unmapped", listed).exit_code == 2
    assert listed.read_text() == (
        "variable,value,label,records,as a number,category\n"
        "Age,1,,1,0-15,\nAge,2,,1,0-15,\nAge,4,,2,0-15,\nAge,6,,1,0-15,\nAge,8,,2,0-15,\n"
    )
    bands = {1: "0-15", 2: "16-64", 4: "16-64", 6: "16-64", 8: "65+"}
    text = "variable,value,category\n" + "".join(f"Age,{n},{band}\n" for n, band in bands.items())
    # What is not said of one of them is asked still.
    told = run(*asked, "--values", write(tmp_path, "some.csv", text.replace("Age,8,65+\n", "")))
    assert "has 1 small whole number in 2 records" in " ".join(told.err.split())
    rows = json.loads(run(*asked, "--values", write(tmp_path, "all.csv", text)).out)["rows"]
    true = run("risk", "keys", write(tmp_path, "true.csv", OF_SCENARIO), *asked[3:])
    assert rows == json.loads(true.out)["rows"]


def test_a_first_look_tells_what_does_not_fit_a_scenario(run, tmp_path, coded):
    listed = tmp_path / "list.csv"
    text = CODED.replace("Marital status", "ms").replace("male,m", "man,m")
    asked = ("look", write(tmp_path, "odd.csv", text), *coded[1:])
    told = run(*asked, "--unmapped", listed)
    said = " ".join(told.out.split())
    assert told.exit_code == 0, told.err
    assert f"Key variable {ASKED}" in said
    assert "Key variable 'Marital status': the file has no column 'Marital status'" in said
    assert listed.read_text().count("Age,") == 5
    document = json.loads(run(*asked, "--format", "json").out)
    assert any(ASKED in sentence for sentence in document["sentences"])
    listed.unlink()
    told = run(*asked, "--numbers", "Age", "--column", "Marital status=ms", "--unmapped", listed)
    assert "codes of bands" not in told.out
    assert "no column" not in told.out
    assert not listed.exists()


@pytest.mark.parametrize("command", [*COMMANDS, "assess", "look", "protect"])
def test_marks_that_no_attack_uses_are_named(run, tmp_path, command):
    marked = apply_edits(
        world(),
        [
            MarkSensitive(variable="Marital status", categories=("widowed",)),
            DeclareImpossible(combination={"Age": ("0-15",), "Marital status": ("widowed",)}),
        ],
    )
    folder = tmp_path / "marked"
    gk.write_environment(marked, folder)
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    words = {
        "assess": ("assess",),
        "look": ("look",),
        "protect": ("protect", "try"),
    }.get(command, ("risk", command))
    more = COMMANDS.get(command, ())
    asked = (*words, file, *more, "--scenario", SCENARIO, "--environment", folder)
    sensitive, impossible = notices(run(*asked, "--format", "json"))
    assert sensitive.startswith("Not used: ")
    assert "sensitive, of 'Marital status' ('widowed')." in sensitive
    assert "impossible, 'Age' '0-15' with 'Marital status' 'widowed'." in impossible
    told = " ".join(run(*asked).out.split())
    assert " ".join(sensitive.split()) in told
    assert " ".join(impossible.split()) in told


@pytest.fixture
def stale(tmp_path):
    """The options of a file whose scenario was made before a form came."""
    plain = world()
    shop = gk.Form("Shop", {"Age": ("0-15", "16+")})
    bank = gk.Form("Bank", {"Age": ("0-15", "16+"), "Sex": (), "Marital status": ()})
    later = plain.changed(forms={"Shop": shop, "Bank": bank})
    folder = tmp_path / "later"
    gk.write_environment(later, folder)
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    return (file, "--scenario", SCENARIO, "--environment", folder)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_stale_scenario_is_told_by_every_command(run, tmp_path, stale, command):
    asked = ("risk", command, *stale, *COMMANDS[command])
    (notice,) = notices(run(*asked, "--format", "json"))
    assert notice.startswith("The scenario 'A clerk' may be stale")
    assert "`gamekeeper scenario review`" in notice
    assert f"! {notice}" in run(*asked).out
    assert "! " in run(*asked, "--format", "csv").err
    fresh = tmp_path / "fresh"
    gk.write_environment(world(), fresh)
    assert (
        notices(run("risk", command, *stale[:-1], fresh, *COMMANDS[command], "--format", "json"))
        == []
    )


def test_a_stale_scenario_is_told_by_a_first_look_and_where_it_is_exported(run, tmp_path, stale):
    words = "The scenario 'A clerk' may be stale"
    assert words in run("look", *stale).out
    assert words in run("look", *stale, "--format", "csv").err
    assert words in notices(run("look", *stale, "--format", "json"))[0]
    told = run("scenario", "export", stale[-1], SCENARIO, tmp_path / "clerk.json")
    assert (told.exit_code, words in told.out) == (0, True)
    fresh = tmp_path / "fresh"
    gk.write_environment(world(), fresh)
    assert words not in run("look", *stale[:-1], fresh).out
    told = run("scenario", "export", fresh, SCENARIO, tmp_path / "fresh.json")
    assert (told.exit_code, words in told.out) == (0, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("suda", ("-f", "1/2")),
        ("compare", ("-f", "1/2", "--measure", "is", "--workers", "1", "--no-attacks")),
    ],
)
def test_reports_have_the_notices(run, tmp_path, stale, command, options):
    page = tmp_path / "page.html"
    told = run("risk", command, *stale, *options, "--report", page)
    assert told.exit_code == 0, told.err
    shown = page.read_text(encoding="utf-8")
    assert "Please note" in shown
    assert "may be stale" in shown
    file = write(tmp_path, "people.csv", WITH_NA)
    assert (
        run("risk", command, file, "-k", ALL, *options, "--report", page, "--replace").exit_code
        == 0
    )
    assert "looks like a code for missing" in page.read_text(encoding="utf-8")


# After local suppression: whoever knows that somebody is 30 finds the first record and no other.
SUPPRESSED = "age,sex\n,m\n40,m\n50,f\n50,f\n"
PROVES = "That does not prove that nobody can be found"
UNLIKE = "As released, missing cells and all, 2 records (50.0%) are like no other."


@pytest.mark.parametrize("command", ["keys", "dis", "suda", "special"])
def test_a_wildcard_count_says_what_it_does_not_prove(run, tmp_path, command):
    file = write(tmp_path, "suppressed.csv", SUPPRESSED)
    asked = ("risk", command, file, "-k", "age,sex", "--missing", "wildcard", *COMMANDS[command])
    told = run(*asked)
    assert told.exit_code == 0, told.err
    first = told.out.splitlines()[:4]
    assert any(line.startswith(PROVES) and line.endswith(UNLIKE) for line in first), told.out
    document = json.loads(run(*asked, "--format", "json").out)
    assert any(PROVES in sentence for sentence in document["sentences"][:3])
    if command in ("keys", "suda"):
        assert document["summary"]["uniques_as_released"] == 2
    assert "nothing needs to be coarsened" not in told.out
    assert "0 records in classes of fewer than 2 (2-anonymity)" not in told.out
    plain = run(*asked[:5], *COMMANDS[command], "--missing", "category")
    assert PROVES not in plain.out


def test_a_report_says_what_a_wildcard_count_does_not_prove(run, tmp_path):
    file, page = write(tmp_path, "suppressed.csv", SUPPRESSED), tmp_path / "risk.html"
    asked = ("risk", "suda", file, "-k", "age,sex", "--missing", "wildcard", "--report", page)
    assert run(*asked).exit_code == 0
    lead = page.read_text(encoding="utf-8").partition("</section>")[0]
    assert PROVES in lead
    shown = page.read_text(encoding="utf-8")
    assert "<strong>2</strong> like no other as released" in shown


@pytest.mark.slow
def test_a_score_is_not_said_to_count_matches(run, tmp_path):
    file, page = write(tmp_path, "people.csv", PEOPLE), tmp_path / "risk.html"
    asked = ("risk", "suda", file, "-k", ALL, "-f", "1/10", "--report", page)
    told = run(*asked)
    assert "which uniques to look at first, and not how many would be matched rightly" in told.out
    shown = page.read_text(encoding="utf-8")
    for text in (told.out, shown):
        assert "re-identifications" not in text
        assert not re.search(r"about [\d.]+ of them would be\s+matched rightly", text)
    document = json.loads(run(*asked[:-2], "--format", "json").out)
    assert "expected_reidentifications" not in document["summary"]


@pytest.mark.slow
def test_limits_that_a_message_advises_to_raise_are_options(run, tmp_path):
    file = write(tmp_path, "people.csv", PEOPLE)
    asked = ("risk", "infer", file, "-k", ALL, "-f", "1/3", *MODELS, "--categories", "Age")
    told = run(*asked, "--by", "collapsing", "--max-pairs", "5")
    assert told.exit_code == 3
    assert "6 pairs, and the limit is 5" in told.err.replace("\n", " ")
    for options in (("--neighbours", "--max-pairs", "3"), ("--max-pairs", "6")):
        assert run(*asked, "--by", "collapsing", *options).exit_code == 0
    asked = ("risk", "infer", file, "-k", ALL, "-f", "1/3", *MODELS, "--ask", "Status")
    assert run(*asked, "--known", "Sex=f", "--most-cells", "1").exit_code == 3
    for options in (("--ask-precision", "0"), ("--most-cells", "100")):
        assert run(*asked, "--known", "Sex=f", *options).exit_code == 0


@pytest.mark.parametrize(
    "asked",
    [
        ("suda",),
        ("special", "--rounds", "0"),
        ("simulate", "-f", "1/2", "--experiment", "pilot", "--samples", "1", "--workers", "1"),
        ("compare", "-f", "1/2", "--measure", "is", "--workers", "1"),
    ],
)
def test_a_search_that_would_take_too_long_can_be_asked_for(run, tmp_path, asked):
    columns = [f"v{number}" for number in range(18)]
    rows = [",".join(str(n >> bit & 1) for bit in range(18)) for n in range(0, 1 << 18, 641)]
    file = write(tmp_path, "wide.csv", "\n".join([",".join(columns), *rows]) + "\n")
    command, *options = asked
    told = run("risk", command, file, "-k", ",".join(columns), *options, "--max-seconds", "0.001")
    assert told.exit_code == 3, told.out
    said = " ".join(told.err.split())
    assert "--max-seconds" in said
    for option in re.findall(r"--[a-z-]+", said):
        assert option in {"--max-seconds", "--max-size", "--max-msus", "--no-listing"}


def test_searches_take_burn_in_thinning_and_cooling(run, tmp_path):
    file = write(tmp_path, "people.csv", PEOPLE)
    asked = ("risk", "model", file, "-k", ALL, "--precision", "1", "--format", "json")

    def parameters(*options):
        told = run(*asked, *options)
        assert told.exit_code == 0, told.err
        return json.loads(told.out)["provenance"]["parameters"]

    chains = ("--sweeps", "64", "--chains", "2")
    assert not {"burn_in", "thin"} & set(parameters(*chains))
    found = parameters(*chains, "--burn-in", "0.25", "--thin", "2")
    assert (found["burn_in"], found["thin"]) == ("0.25", "2")
    assert parameters(*MODELS, "--cooling", "thesis")["cooling"] == "thesis"
    assert parameters("--method", "occam", "--most-models", "50")["most_models"] == "50"


def test_strategies_have_one_default(run, tmp_path):
    file = write(tmp_path, "people.csv", PEOPLE)
    told = run("risk", "match", file, "-k", ALL, "-f", "1/2", "--format", "json")
    keys = gk.count_keys(gk.code_source(gk.open_source(file), KEYS), KEYS, fraction="1/2")
    assert json.loads(told.out)["rows"] == gk.assess_matching(keys).to_arrow().to_pylist()
