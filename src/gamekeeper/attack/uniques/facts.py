"""What an assessment of sample uniques found, before it is put into lines and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gamekeeper.attack.contribution_risk import SizeContribution
from gamekeeper.attack.risk_classes import RiskClasses
from gamekeeper.attack.uniques.dis_result import GeneralDis
from gamekeeper.attack.uniques.scoring import UniqueScores
from gamekeeper.data.keys.key_table import KeyTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class UniqueFacts:
    """The findings about a file and its sample uniques.

    Attributes
    ----------
    table
        The counted keys of the file.
    max_size
        The largest size of MSU that was searched for.
    smallest
        Per sample unique the size of its smallest MSU, -1 where none was found.
    general
        The DIS of the file by the general method, or why there is none.
    class_numbers
        Per sample unique the position of its risk class, -1 where that is not known.
    rank_by, asked_rank
        The measure that ranks, and the one that was asked for.
    """

    table: KeyTable
    max_size: int
    smallest: NDArray[np.int8]
    sizes: tuple[SizeContribution, ...]
    scores: UniqueScores
    general: GeneralDis
    classes: RiskClasses
    class_numbers: NDArray[np.int8]
    rank_by: str
    asked_rank: str

    @property
    def n_uniques(self) -> int:
        """The number of sample uniques."""
        return len(self.smallest)

    @property
    def file_is(self) -> int:
        """The sum of the IS scores of the file."""
        return sum(line.is_score for line in self.sizes)

    @property
    def file_suda(self) -> int:
        """The sum of the SUDA scores of the file."""
        return sum(line.suda_score for line in self.sizes)
