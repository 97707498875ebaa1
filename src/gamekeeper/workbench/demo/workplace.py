"""A place to try the workbench at: made-up forms in a store, a made-up file, questionnaires.

Made once. What was done there since stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gamekeeper.data.population import make_population, sample_population
from gamekeeper.files.asides import make_folders
from gamekeeper.files.writing import refusal
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.report.tables import write_table
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.wording import shown_path
from gamekeeper.workbench.demo.environment import TARGET, demo_environment
from gamekeeper.workbench.demo.questionnaires import write_questionnaires
from gamekeeper.workbench.environment.opening import is_store
from gamekeeper.workbench.environment.scenarios import save_scenario
from gamekeeper.workbench.requests.environment.mapping import SaveScenarioRequest
from gamekeeper.workbench.requests.environment.shared import InStore, Person

DEMO = Path("demo-workbench")
"""The folder of the demo, in the folder from which it is asked for."""

_WHO = "demo"
_KEYS = ("Age", "Sex", "Place of residence", "Marital status", "Economic activity")
_PEOPLE = 150_000


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
        everybody = make_population(_PEOPLE, seed=seed)
        drawn = sample_population(everybody, "2%", seed=seed, stratify_by="Place of residence")
        write_table(drawn, sample, raw=True)
        write_questionnaires(folder / "questionnaires")
    if not is_store(found.store):
        _make_store(found.store)
    return found


def _make_store(store: Path) -> None:
    environment = demo_environment()
    EnvironmentStore.create(store, environment, who=_WHO, note="made up for the demo").close()
    known = environment.form(TARGET).instances
    save_scenario(
        SaveScenarioRequest(
            place=InStore(store=store),
            scenario="A data broker",
            question=MapOptions(TARGET, groups=("Commercial",), prevalence="10%", strict=False),
            attacker="Somebody who buys data sets of businesses",
            keys={name: "" for name in _KEYS if name in known},
            person=Person(who=_WHO),
        )
    )
