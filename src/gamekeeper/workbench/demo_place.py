"""A place to try the workbench at: forms of an invented country in a store, a file, questionnaires.

Norland does not exist. It has banks, shops, councils, hospitals, surveys and employers, each with
forms that ask what such forms ask, in wordings that overlap as real ones do; they are kept beside
this file, in the folder of an environment. Four questionnaires, kept there as well, ask for much
the same in words of their own: a bank's codebook (DDI), a clinic's dictionary (REDCap), a running
club's form (XLSForm, in English and French) and a poll (LimeSurvey, in German). No name is meant to
be that of a real organisation, person or place. The place is made once; what was done there since
stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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

_HERE = Path(__file__).parent
TARGET = "Census microdata 2031 (proposed release)"
"""The name of the target form."""


def demo_environment() -> Environment:
    """Return the demo environment.

    It has 98 forms of many sectors, groups of them, and the target `TARGET`, which has all of the 18
    variables in detail. Two forms have an inconsistent categorization of one variable each.

    >>> environment = demo_environment()
    >>> environment
    Environment('Norland', 99 forms, 18 variables, 15 groups)
    """
    return read_environment(_HERE / "norland")


def write_questionnaires(folder: Path) -> dict[str, Path]:
    """Write the four files into a folder, and return where each is."""
    make_folders(folder, [])
    kept = sorted(_HERE.joinpath("questionnaires").iterdir())
    return {
        file.name: write_file(folder / file.name, file.read_bytes(), private=False) for file in kept
    }


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
