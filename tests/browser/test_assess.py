"""Stage two in the browser: a file is assessed, a job is cancelled, one is cut off by a restart."""

from __future__ import annotations

import csv
import json
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

VALUES = "boxes => boxes.map(box => box.value)"


def _ask(page):
    page.get_by_role("combobox", name="File").select_option(label="census-sample.csv")
    page.get_by_role("combobox", name="Key variables").select_option("A data broker")
    page.get_by_label("Sampling fraction").fill("2%")
    page.get_by_role("combobox", name="Judge it by").select_option("k2")
    page.get_by_role("button", name="Assess", exact=True).click()


def test_the_demo_file_is_assessed_and_a_record_says_why_it_stands_out(opened):
    page = opened("/assess")
    _ask(page)
    verdict = page.get_by_role("heading", name="does not meet the policy")
    expect(verdict).to_be_visible(timeout=90_000)
    expect(page.get_by_role("cell", name="k_anonymity")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Why record")).first.click()
    expect(page.get_by_text(re.compile("unique by")).first).to_be_visible()
    with page.expect_download() as coming:
        page.get_by_role("link", name="Report").click()
    assert coming.value.suggested_filename == "report.html"


def test_a_job_is_cancelled_and_another_is_cut_off_by_a_restart(opened, serving, complaints):
    page = opened("/assess")
    _ask(page)
    page.get_by_role("button", name="Cancel").click()
    jobs = page.get_by_role("region", name="Assessments")
    expect(jobs.get_by_text("cancelled")).to_be_visible(timeout=60_000)
    done = jobs.get_by_text("done")
    n_before = done.count()
    _ask(page)
    expect(jobs.get_by_text("running")).to_be_visible()
    serving.kill_all()
    serving.start()
    page.goto(serving.base + "/assess")
    expect(jobs.get_by_text("interrupted")).to_be_visible()
    jobs.get_by_role("button", name="Run again").first.click()
    expect(done).to_have_count(n_before + 1, timeout=90_000)
    complaints[:] = [said for said in complaints if "net::ERR_" not in said]


def test_nothing_is_chosen_that_is_not_in_sight_and_a_reload_keeps_the_question(opened):
    page = opened("/assess")
    page.get_by_role("combobox", name="File").select_option(label="census-sample.csv")
    page.get_by_role("combobox", name="Key variables").select_option("")
    page.get_by_role("button", name="Look at its columns").click()
    boxes = page.get_by_role("group", name="Columns an intruder could know")
    expect(boxes.get_by_role("checkbox")).to_have_count(20)
    expect(boxes.get_by_role("checkbox", checked=True)).to_have_count(0)
    run = page.get_by_role("button", name="Assess", exact=True)
    expect(page.get_by_text("No column is chosen yet.")).to_be_visible()
    expect(run).to_be_disabled()
    boxes.get_by_label("Sex").check()
    expect(page.get_by_text("1 chosen: Sex", exact=True)).to_be_visible()
    page.get_by_role("button", name=re.compile("Take the .* suggested")).click()
    n_chosen = boxes.get_by_role("checkbox", checked=True).count()
    chosen = page.get_by_text(re.compile(f"^{n_chosen} chosen: "))
    names = chosen.inner_text().partition(": ")[2].split(", ")
    assert len(names) == n_chosen > 5
    for name in names[3:]:
        boxes.get_by_label(name, exact=False).first.uncheck()
    kept = ", ".join(
        sorted(names[:3], key=boxes.get_by_role("checkbox").evaluate_all(VALUES).index)
    )
    expect(page.get_by_text(f"3 chosen: {kept}", exact=True)).to_be_visible()
    page.get_by_label("Sampling fraction").fill("3%")
    page.get_by_role("combobox", name="Judge it by").select_option("")
    run.click()
    found = page.get_by_role("heading", name=re.compile("unique|records", re.I)).first
    expect(found).to_be_visible(timeout=90_000)

    def told(what):
        return page.locator("dt", has_text=what).locator("xpath=following-sibling::dd[1]")

    def asked():
        expect(told("Sampling fraction")).to_have_text("3%")
        expect(told("What an intruder knows")).to_have_text(kept)
        expect(told("Missing cells")).to_have_text("a category of their own")
        expect(told("Judged by")).to_have_text("no policy")

    asked()
    page.reload()
    expect(found).to_be_visible()
    asked()
    expect(page.get_by_label("Sampling fraction")).to_have_value("3%")
    expect(page.get_by_role("combobox", name="File")).to_have_value(re.compile("census-sample"))
    expect(page.get_by_text(f"3 chosen: {kept}")).to_be_visible()
    # Somebody who has begun another question keeps it, whatever is looked at beside it.
    page.get_by_label("Sampling fraction").fill("4%")
    page.get_by_role("region", name="Assessments").get_by_role("button", name="census").last.click()
    expect(page.get_by_label("Sampling fraction")).to_have_value("4%")


@pytest.fixture
def coded(serving):
    """The file of the demo with ages as the numbers of age groups."""
    folder = serving.folder / "demo-workbench" / "files"
    with (folder / "census-sample.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[:400]
    for row in filter(lambda row: row["Age"], rows):
        row["Age"] = str(1 + int(row["Age"].rstrip("+")) // 12)
    path = folder / "coded.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    yield path
    path.unlink()


def test_codes_of_bands_are_asked_about_before_anything_runs(opened, coded):
    page = opened("/assess")
    jobs = page.get_by_role("region", name="Assessments").get_by_role("listitem")
    page.get_by_role("combobox", name="File").select_option(label=coded.name)
    page.get_by_role("combobox", name="Key variables").select_option("A data broker")
    n_before = jobs.filter(has_text=coded.name).count()
    page.get_by_role("button", name="Assess", exact=True).click()
    question = page.get_by_role("group", name=re.compile("^Age: 8 small whole numbers"))
    expect(question.get_by_role("radio")).to_have_count(2, timeout=60_000)
    expect(question.get_by_role("radio", checked=True)).to_have_count(0)
    take = page.get_by_role("button", name="Take these meanings")
    expect(take).to_be_disabled()
    expect(page.get_by_role("button", name="Assess", exact=True)).to_be_disabled()
    question.get_by_role("radio", name="Codes").check()
    expect(page.get_by_role("combobox", name=re.compile("What . of Age means"))).to_have_count(8)
    expect(take).to_be_disabled()
    question.get_by_role("radio", name="Numbers: 1 is Age 1, in the category 1").check()
    assert jobs.filter(has_text=coded.name).count() == n_before
    take.click()
    page.get_by_role("button", name="Assess", exact=True).click()
    numbers = page.locator("dt", has_text="Numbers, and no codes")
    expect(numbers.locator("xpath=following-sibling::dd[1]")).to_have_text("Age", timeout=90_000)
    expect(page.get_by_role("heading", name="What drives the risk")).to_be_visible(timeout=90_000)


def test_a_review_is_accepted_and_the_scenario_is_stale_no_more(opened, serving):
    page = opened("/scenarios")

    def send(path, **told):
        origin = {"Origin": serving.base, "Content-Type": "application/json"}
        answer = page.request.post(serving.base + path, data=json.dumps(told), headers=origin)
        assert answer.ok, answer.text()

    def edit(*edits):
        send("/api/edits", edits=[*edits], base=None, note="", unrestricted=False, key="")

    target = "Census microdata 2031 (proposed release)"
    form = {"edit": "add-form", "name": "Club of review", "variables": {"Sex": ["female", "male"]}}
    edit(form)
    send(
        "/api/scenarios",
        name="Reviewed",
        question={"target": target, "forms": ["Club of review"], "prevalence": "100%"},
    )
    page.reload()
    row = page.get_by_role("row").filter(has_text="Reviewed")
    expect(row).to_contain_text("rests on the forms as they are")
    # What is changed elsewhere is nothing to it.
    edit({"edit": "set-metadata", "form": "Club of review", "values": {"year": 2031}})
    expect(row).to_contain_text("rests on the forms as they are")
    ask = {"edit": "ask-variable", "form": "Club of review", "variable": "Age", "labels": []}
    edit(ask)
    expect(row).to_contain_text("rests on forms that have changed")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("'Age' can now be matched")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Renew")).click()
    expect(page.get_by_text("It rests on forms that have changed")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Renew"))).to_have_count(0)
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Nothing has changed for the scenario")).to_be_visible()
