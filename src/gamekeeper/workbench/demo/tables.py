"""The demo of released tables: the smallest place of the invented country, rounded with its margins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gamekeeper.attack.tables.attributions import Attributions, infer_attributions
from gamekeeper.attack.tables.bounds import TableBounds, bound_cells
from gamekeeper.attack.tables.subtraction import SubtractionAttack, subtract_known
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import make_release
from gamekeeper.data.tables.release_file import write_release
from gamekeeper.data.tables.tabulation import tabulate
from gamekeeper.report.attacks.release_report import released_report
from gamekeeper.report.risk_page import write_risk_report
from gamekeeper.results import Progress
from gamekeeper.workbench.microdata.opening import open_microdata
from gamekeeper.workbench.requests.microdata import MicrodataRequest

_PLACE = "Place of residence"
_AXES = ("Number of cars", "Country of birth")
_SCHEME = "conventional:3"
_KNOWN = 5
STEPS = 2
"""How many steps `run_tables_demo` tells of."""


@dataclass(frozen=True, slots=True)
class TablesDemo:
    """What the published tables of one place give away."""

    place: str
    axes: tuple[str, ...]
    n_people: int
    n_true_zeros: int
    alone: TableBounds
    bounds: TableBounds
    attributions: Attributions
    subtraction: SubtractionAttack
    release: Path
    report: Path

    def sentences(self) -> list[str]:
        """Tell how the rounding fails, in words."""
        risk = self.subtraction.risk
        cells = self.bounds.n_cells
        said = [
            (
                f"By itself the rounded table hides every count: of {cells} cells,"
                f" {self.alone.n_known} can be worked out."
            ),
            (
                f"With its margins and its total, rounded the same way, {self.bounds.n_known} can, and"
                f" {self.bounds.n_zeros} of the {self.n_true_zeros} empty cells are known to be empty."
            ),
        ]
        certain = [one for one in self.attributions.statements if one.certain]
        positive = [one for one in certain if one.kind == "positive"]
        said += [self.attributions.words(one) for one in (positive or certain)[:2]]
        at = int(np.flatnonzero(risk.n == _KNOWN)[0])
        said.append(
            f"Without margins a neighbour who knows {_KNOWN} of the {self.n_people:,} people finds a"
            f" cell with nobody else in it with probability {risk.values[at]:.2f}."
        )
        return said


def run_tables_demo(output: Path, population: Path, *, progress: Progress) -> TablesDemo:
    """Publish the table of the smallest place, rounded with its margins, and attack it.

    `progress` is told of steps 0 to `STEPS`.
    """
    progress(0, STEPS)
    place, truth = _smallest_place(population)
    margins = (_AXES, _AXES[:1], _AXES[1:], ())
    release = make_release(truth, margins, _SCHEME, title=f"{' by '.join(_AXES)}, {place}")
    written = output / "small-area-release.json"
    write_release(release, written, truth)
    bounds = bound_cells(release)
    progress(1, STEPS)
    alone = make_release(truth, margins[:1], _SCHEME)
    subtraction = subtract_known(alone, truth, n=range(21))
    attributions = infer_attributions(release, bounds=bounds)
    report = output / "tables.html"
    with_margins = subtract_known(release, truth, n=range(21))
    write_risk_report(
        released_report(release, bounds, attributions, subtraction=with_margins), report
    )
    progress(2, STEPS)
    return TablesDemo(
        place,
        _AXES,
        truth.total,
        int(np.count_nonzero(truth.dense() == 0)),
        bound_cells(alone),
        bounds,
        attributions,
        subtraction,
        written,
        report,
    )


def _smallest_place(population: Path) -> tuple[str, CountTable]:
    request = MicrodataRequest(file=population, keys=(_PLACE, *_AXES))
    counted = tabulate(open_microdata(request).coded, (_PLACE, *_AXES))
    counts = counted.dense()
    smallest = int(counts.sum(axis=(1, 2)).argmin())
    return counted.axes[0].categories[smallest], CountTable(counted.axes[1:], counts[smallest])
