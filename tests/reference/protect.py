"""Worked examples of protection: every kind with its check."""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference.cases import Case, Check, NotRun
from tests.reference.protect_perturbation import PROTECT_PERTURBATION, mdav_of_file
from tests.reference.protect_recoding import PROTECT_RECODING, recoding_of_adult
from tests.reference.protect_utility import PROTECT_UTILITY
from tests.reference.protect_who import (
    PROTECT_WHO,
    suppression_on_real_data,
    wildcard_on_real_data,
)

__all__ = ["PROTECT"]

_ON_REAL_DATA: Mapping[str, Check] = {
    "mdav": mdav_of_file,
    "recoding": recoding_of_adult,
    "suppression": suppression_on_real_data,
    "wildcard": wildcard_on_real_data,
}


def _real_data(case: Case) -> None:
    """Check figures on files that are not ours, by the first word of the case's name."""
    check = _ON_REAL_DATA.get(case.name.partition("-")[0])
    if check is None:
        raise NotRun("figures of this kind are not looked at yet")
    check(case)


PROTECT: Mapping[str, Check] = {
    **PROTECT_PERTURBATION,
    **PROTECT_RECODING,
    **PROTECT_UTILITY,
    **PROTECT_WHO,
    "protect_real_data": _real_data,
}
