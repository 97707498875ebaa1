"""A file of microdata with its sample design in one request, until all commands have requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.results import Progress
from gamekeeper.workbench.microdata import Microdata, open_microdata
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign

__all__ = ["SampledRequest", "open_sampled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRequest(MicrodataRequest):
    """A file and how it was drawn."""

    weight: str = ""
    strata: str = ""
    fraction: str = ""
    sensitive: Sequence[str] = ()


def open_sampled(
    request: SampledRequest, *, extra: Sequence[str] = (), progress: Progress | None = None
) -> Microdata:
    """Open a file as a sample."""
    design = SampleDesign(weight=request.weight, strata=request.strata, fraction=request.fraction)
    return open_microdata(
        request, design=design, sensitive=request.sensitive, extra=extra, progress=progress
    )
