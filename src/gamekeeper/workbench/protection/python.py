"""Protection from Python: candidates for targets in one call, in the spirit of `gk.assess`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gamekeeper.algorithms.sampling_fraction import FractionLike
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.reading.frames import is_path
from gamekeeper.data.writing.release import WrittenRelease
from gamekeeper.data.writing.released_column import SuppressedCells
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import build, options_of, require_known, require_valid
from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.recipe import Recipe
from gamekeeper.protect.releasing import write_protected
from gamekeeper.protect.trying.candidate import Candidate, Tried
from gamekeeper.protect.trying.plan import Plan
from gamekeeper.protect.trying.risk_utility_map import RiskUtilityMap
from gamekeeper.results import Progress
from gamekeeper.store.place import store_place
from gamekeeper.wording import count_of
from gamekeeper.workbench.protection.opening import ProtectedInput
from gamekeeper.workbench.protection.trying import recipe_of, tried_plan
from gamekeeper.workbench.requests.protection import TryRequest

_NOT_OF_PYTHON = frozenset({"file", "recipe", "plot", "replace"})


@dataclass(frozen=True, eq=False)
class ProtectionPlan:
    """Candidates for some targets, with the file that they are of."""

    plan: Plan
    _opened: ProtectedInput

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates."""
        return self.plan.candidates

    @property
    def map(self) -> RiskUtilityMap:
        """The candidates, risk against loss; `map.plot()` draws it."""
        return self.plan.map

    @property
    def best(self) -> Candidate | None:
        """The candidate that meets every target, is not beaten, and loses least; None where none does."""
        return self.plan.best

    @property
    def is_met(self) -> bool:
        """Whether some candidate meets every target."""
        return self.plan.is_met

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know before anything is believed: of the scenario, of codes that may mean missing."""
        return self._opened.data.notices

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return self.plan.summary()

    def sentences(self) -> list[str]:
        """Return what was reached, at what cost, and what stands in the way."""
        return self.plan.sentences()

    def attack_again(self, number: int | None = None) -> FileAttack:
        """Return what attacks achieve on a candidate, the best one by default."""
        return self._tried(number).attack

    def recipe(self, number: int | None = None) -> Recipe:
        """Return the recipe of a candidate, the best one by default."""
        return recipe_of(self._opened, self._tried(number).candidate, self.plan.candidates)

    def write(
        self,
        path: str | Path,
        number: int | None = None,
        *,
        leave_out: Sequence[str] = (),
        suppressed: SuppressedCells = SuppressedCells(),  # noqa: B008 - it is frozen
        keep_order: bool = False,
        replace: bool = False,
    ) -> WrittenRelease:
        """Write the release of a candidate that meets every target, the best one by default.

        Its records are shuffled, by the seed, unless their order is kept: that tells who stood beside
        whom. What is in memory (`plan.plan.tried`) keeps its order and is for work inside.
        """
        tried = self._tried(number)
        if tried.candidate.targets and not tried.candidate.is_met:
            raise InputError(
                Reason.BAD_OPTION,
                f"The release of candidate {tried.candidate.number} was to be written.",
                "It misses a target.",
                "Ask for less, or allow more.",
            )
        written, _ = write_protected(
            self._opened.data.source,
            path,
            tried.protected,
            self._opened.setting,
            columns=self._opened.columns,
            leave_out=leave_out,
            suppressed=suppressed,
            keep_order=keep_order,
            replace=replace,
        )
        return written

    def __repr__(self) -> str:
        return f"Protection{self.plan!r}"

    def _tried(self, number: int | None) -> Tried:
        nearest = self.plan.nearest
        wanted = number if number is not None else None if nearest is None else nearest.number
        found = None if wanted is None else self.plan.of(wanted)
        if found is None:
            raise InputError(
                Reason.UNKNOWN_NAME,
                "A candidate was asked for.",
                f"There is none of that number among {count_of(len(self.plan.tried), 'candidate')} that"
                " could be made now.",
                "See plan.candidates.",
            )
        return found


def microdata(
    data: Any,
    *,
    keys: str | Sequence[str] = (),
    scenario: Any = "",
    environment: Any = None,
    targets: str | Sequence[str] = (),
    steps: str | Sequence[str] = (),
    weight: str = "",
    strata: str = "",
    fraction: FractionLike | Mapping[str, FractionLike] | None = None,
    household: str = "",
    missing: Missing | str = Missing.CATEGORY,
    seed: int | None = None,
    progress: Progress | None = None,
    **how: Any,
) -> ProtectionPlan:
    """Protect a file or frame: try candidates for targets, and attack each again.

    Parameters
    ----------
    data
        The path of a file, or a frame of pandas, Polars, Arrow or DuckDB.
    keys, scenario, environment
        What an intruder could match on: columns, or a scenario of stage one and what keeps it.
    targets
        What is to be reached: "both>=3", "expected matches<=0.5%", "linkage<=2%", "policy=k3".
    steps
        Steps to try instead of what targets propose, as they are typed or as JSON.
    weight, strata, fraction, household
        How the file was drawn from the population, and what tells households.
    missing
        What a missing cell is: "category", "ignore" or "wildcard".
    seed
        The one seed of all that is drawn; one is drawn when None, and kept in the recipe.
    progress
        Told how far the work is; it may raise to cancel it.
    how
        Any other option of `gamekeeper protect try`, by its name: costs, pinned, study and so on.

    Returns
    -------
    ProtectionPlan
        With `candidates`, `map.plot()`, `attack_again()`, `recipe()` and `write(path)`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 41, 52, 52], "sex": ["m", "m", "f", "f"]})
    >>> plan = microdata(
    ...     people, keys=["age", "sex"], targets="both>=2", methods=["suppress"], seed=1
    ... )
    >>> plan.best.risk["suppressed"], plan.attack_again().smallest("both")
    (2, 2)
    """
    known = {item.name for item in options_of(TryRequest)} - _NOT_OF_PYTHON
    require_known(how, known, "A file was to be protected.")
    asked = build(
        TryRequest,
        {
            **{name: tuple(v) if isinstance(v, list) else v for name, v in how.items()},
            "file": Path(data) if is_path(data) else data,
            "keys": _many(keys),
            "scenario": scenario,
            "environment": store_place(environment) if is_path(environment) else environment,
            "targets": _many(targets),
            "steps": _many(steps),
            "weight": weight,
            "strata": strata,
            "fraction": "" if fraction is None else fraction,
            "household": household,
            "missing": missing,
            "seed": seed,
        },
    )
    require_valid(asked, "protect.microdata was called.")
    request = replace(asked.microdata, missing=Missing(missing))
    plan, opened = tried_plan(replace(asked, microdata=request), progress=progress)
    return ProtectionPlan(plan, opened)


def _many(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
