"""A questionnaire is read, its proposals are reviewed, and what was decided enters as edits in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from gamekeeper.store.database.environment_store import EnvironmentStore

pytestmark = pytest.mark.slow


def test_a_questionnaire_is_reviewed(opened, serving, tmp_path: Path):
    made = tmp_path / "club.csv"
    made.write_text(
        "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
        '"Choices, Calculations, OR Slider Labels"\n'
        'sex,club,,radio,What is your sex?,"1, Female | 2, Male"\n'
        "shoe,club,,text,Shoe size,\n",
        encoding="utf-8",
    )
    page = opened("/import")
    page.get_by_label("The file of the questionnaire").set_input_files(made)
    page.get_by_role("button", name="Change sex").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_role("combobox", name="The variable that it asks for")
    expect(field).to_have_value("Sex")
    dialog.get_by_label("What Female means").select_option("female")
    dialog.get_by_label("What Male means").select_option("male")
    dialog.get_by_role("button", name="Close").click()
    page.get_by_label("Take sex").check()
    page.get_by_role("button", name="Show the edits of 1 questions").click()
    saving = page.get_by_role("dialog")
    expect(saving.get_by_role("listitem").first).to_be_visible()
    saving.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Forms")
    path = next((serving.folder / "demo-workbench").glob("*.gk"))
    with EnvironmentStore.open(path, readonly=True) as store:
        forms = store.environment().forms
    entered = [form for form in forms.values() if form.metadata.get("source") == "club.csv"]
    assert len(entered) == 1
    assert set(entered[0].instances["Sex"]) == {"female", "male"}
