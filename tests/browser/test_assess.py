"""Stage two in the browser: a file is assessed, a job is cancelled, one is cut off by a restart."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


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
