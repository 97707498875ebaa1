"""What an assessment of sample uniques found, before it is put into lines and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from gamekeeper.attack.contribution_risk import SizeContribution
from gamekeeper.attack.risk_classes import RiskClasses
from gamekeeper.attack.uniques.scoring import UniqueScores
from gamekeeper.data.keys.missing import Missing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class UniqueFacts:
    """The findings about a file and its sample uniques.

    Attributes
    ----------
    n_records, n_excluded
        The records that were counted, and those left out for missing values.
    n_unlike, caution
        The records that are like no other as they are released, and what the number of uniques does
        not prove, in words; it is empty where these are the uniques.
    max_size
        The largest size of MSU that was searched for.
    smallest
        Per sample unique the size of its smallest MSU, -1 where none was found.
    dis, why_no_dis
        The DIS of the file, or the reason in words why there is none.
    fraction
        The sampling fraction in words; empty where none is known.
    class_numbers
        Per sample unique the position of its risk class, -1 where that is not known.
    rank_by, asked_rank
        The measure that ranks, and the one that was asked for.
    """

    keys: tuple[str, ...]
    missing: Missing
    n_records: int
    n_excluded: int
    n_uniques: int
    n_paired: int
    n_unlike: int
    caution: str
    max_size: int
    smallest: NDArray[np.int8]
    sizes: tuple[SizeContribution, ...]
    scores: UniqueScores
    dis: Fraction | None
    why_no_dis: str
    fraction: str
    classes: RiskClasses
    class_numbers: NDArray[np.int8]
    rank_by: str
    asked_rank: str

    @property
    def file_is(self) -> int:
        """The sum of the IS scores of the file."""
        return sum(line.is_score for line in self.sizes)

    @property
    def file_suda(self) -> int:
        """The sum of the SUDA scores of the file."""
        return sum(line.suda_score for line in self.sizes)
