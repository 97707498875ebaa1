"""Gamekeeper: a workbench for statistical disclosure control that takes the intruder's side.

Stage one, key variable mapping, is here: describe the forms out there, and see which variables of
a planned release an intruder could match on, and at which level of detail::

    import gamekeeper as gk

    environment = gk.read_environment("environment")
    outcome = gk.map_key_variables(environment, "Census", prevalence="10%")

A team keeps its environment in a store, with history and undo::

    with gk.EnvironmentStore.open("norland.gk") as store:
        store.apply([gk.edits.RenameForm(form="Bank", to="Bank (2031)")], who="ann")
"""

from typing import TYPE_CHECKING

from gamekeeper.algorithms.graph_property import find_violations
from gamekeeper.algorithms.harmonization import HarmonizationGraph
from gamekeeper.algorithms.intervals import Band, BandGraph, BandStyle, parse_band
from gamekeeper.algorithms.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.partition_graph import PartitionGraph
from gamekeeper.algorithms.partitions import (
    ARBITRARY,
    Partition,
    effective_categories,
    harmonize,
    is_finer,
    join,
    meet,
)
from gamekeeper.algorithms.prevalence import SizeCurve, is_null, parse_prevalence, threshold
from gamekeeper.errors import Cancelled, GamekeeperError, InputError, LimitError, StoreError
from gamekeeper.mapping import edits as edits
from gamekeeper.mapping.analysis import map_key_variables
from gamekeeper.mapping.categorization import Categorization, categorize
from gamekeeper.mapping.codes import CodeRegister
from gamekeeper.mapping.environment import Environment, Form, Group
from gamekeeper.mapping.key_variables import KeyVariableMap, Mode
from gamekeeper.mapping.overview import check_environment, list_categories, list_codes
from gamekeeper.mapping.variable import OUTSIDE, Scale, Variable
from gamekeeper.report.build import build_report, write_report
from gamekeeper.report.drawing import draw_harmonization_graph, draw_partition_graph
from gamekeeper.store.folder import read_environment, write_environment

if TYPE_CHECKING:
    from gamekeeper.store.database.environment_store import EnvironmentStore

__all__ = [
    "ARBITRARY",
    "OUTSIDE",
    "Band",
    "BandGraph",
    "BandStyle",
    "Cancelled",
    "Categorization",
    "CodeRegister",
    "Environment",
    "EnvironmentStore",
    "Form",
    "GamekeeperError",
    "Group",
    "HarmonizationGraph",
    "InputError",
    "KeyVariableMap",
    "LimitError",
    "MaximalHarmonizations",
    "Mode",
    "Partition",
    "PartitionGraph",
    "Scale",
    "SizeCurve",
    "StoreError",
    "Variable",
    "build_report",
    "categorize",
    "check_environment",
    "draw_harmonization_graph",
    "draw_partition_graph",
    "effective_categories",
    "find_violations",
    "harmonize",
    "is_finer",
    "is_null",
    "join",
    "list_categories",
    "list_codes",
    "map_key_variables",
    "meet",
    "parse_band",
    "parse_prevalence",
    "read_environment",
    "threshold",
    "write_environment",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Import the store, and the database library with it, only where it is used."""
    if name == "EnvironmentStore":
        from gamekeeper.store.database.environment_store import EnvironmentStore

        return EnvironmentStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING"})
