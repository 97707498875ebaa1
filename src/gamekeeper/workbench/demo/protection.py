"""The demo of stage three: the file is protected, attacked again, and written with a map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gamekeeper.files.asides import remove
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.protect.attacking.attack import AttackName
from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.trying.plan import Plan
from gamekeeper.wording import percent_text
from gamekeeper.workbench.protection.applying import ReleasedFile, apply_recipe
from gamekeeper.workbench.protection.trying import try_protection
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.protection import (
    ApplyRequest,
    Method,
    ReleaseOptions,
    Searched,
    TryRequest,
)

_TARGET = "both>=3"
# Long enough that no search is stopped by the clock: a demo tells the same story every time.
_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class ProtectionDemo:
    """Candidates, the release of the best, and where the files are."""

    plan: Plan
    released: ReleasedFile
    release: Path
    map: Path
    report: Path

    def sentences(self) -> list[str]:
        """Tell what was tried, what was released and what is left for an intruder, in words."""
        tried = [f"Candidate {c.number}, {c.sentence}" for c in self.plan.candidates]
        best = self.plan.nearest
        assert best is not None
        before, after = self.released.before, self.released.after
        return [
            f"Before: {before.sentences()[0]}",
            *tried,
            (
                f"Candidate {best.number} is released; the release was attacked again, under the same"
                " scenario:"
            ),
            after.sentences()[0],
            (
                f"Somebody who knows the keys of all would match {_share(after)} of them rightly,"
                f" and {_share(before)} before (expected)."
            ),
            (
                f"{self.release.name} is the release, its records shuffled, {self.map.name} shows what"
                f" each candidate costs, and {self.report.name} tells before and after."
            ),
        ]


def run_protection_demo(
    output: Path, store: Path, sample: Path, scenario: Scenario, *, seed: int
) -> ProtectionDemo:
    """Try suppression and recoding for one target, and release the best of them.

    Categories are those that forms of the environment have, so that the release fits other data.
    """
    recipe, drawn = output / "recipe.json", output / "risk-utility-map.svg"
    release, report = output / "released-sample.csv", output / "protection.html"
    for earlier in (recipe, drawn, release, report):
        remove(earlier)
    plan = try_protection(
        TryRequest(
            microdata=MicrodataRequest(file=sample, scenario=scenario.name, environment=store),
            design=SampleDesign(weight="Weight"),
            targets=(_TARGET,),
            methods=(Method.SUPPRESS, Method.RECODE),
            search=Searched(
                observed=tuple(key.variable for key in scenario.keys), seconds=_SECONDS
            ),
            recipe=recipe,
            plot=drawn,
            seed=seed,
            workers=1,
        )
    ).found
    released = apply_recipe(
        ApplyRequest(
            recipe=recipe,
            file=sample,
            environment=store,
            release=ReleaseOptions(output=release, report=report, leave_out=("Household",)),
            attacks=(AttackName.LINKAGE,),
            workers=1,
        )
    ).found
    return ProtectionDemo(plan, released, release, drawn, report)


def _share(attack: FileAttack) -> str:
    if attack.expected is None:
        return "an unknown share"
    return percent_text(attack.expected / max(attack.n_people, 1))
