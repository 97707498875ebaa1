"""Jobs on the wire: what is asked of them, how far they are, what they found."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.web.jobs.jobs import Job
from gamekeeper.web.wire.errors import Refusal

_Name = Annotated[str, Field(max_length=20_000)]
_Names = Annotated[list[_Name], Field(max_length=2_000)]
_Columns = Annotated[
    dict[str, str], Field(description="Key variables of the scenario with other names in the file.")
]
_Numbers = Annotated[
    _Names, Field(description="Key variables whose small whole numbers are no codes of bands.")
]


class FileAsked(BaseModel):
    """A file that may be read: the folder by its name, and the path within it."""

    model_config = ConfigDict(extra="forbid")

    folder: str
    name: str


class Reading(BaseModel):
    """How a file is read, where that is not told by the file."""

    model_config = ConfigDict(extra="forbid")

    missing_values: _Names = []
    delimiter: str | None = Field(default=None, max_length=8)
    encoding: str | None = Field(default=None, max_length=40)
    decimal: str | None = Field(default=None, max_length=4)
    sheet: str | None = None
    header: bool = True


class LookAsked(BaseModel):
    """A first look at a file."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["look"]
    file: FileAsked
    scenario: str = Field(
        default="", description="Suggest its key variables, and tell what does not fit them."
    )
    columns: _Columns = {}
    numbers: _Numbers = []
    reading: Reading = Reading()


class AssessAsked(BaseModel):
    """The assessment of a file; the options are those of `gamekeeper assess`."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["assess"]
    file: FileAsked
    keys: _Names = Field(default=[], description="Columns to match on; or give a scenario.")
    scenario: str = ""
    columns: _Columns = {}
    values: dict[str, dict[str, str]] = Field(
        default={}, description="By variable, what values mean that fit no category."
    )
    numbers: _Numbers = []
    weight: str = ""
    strata: str = ""
    fraction: str = Field(default="", max_length=10_000)
    person: str = ""
    household: str = ""
    sensitive: _Names = []
    policy: str = Field(default="", max_length=40, description="The name of a profile.")
    missing: Literal["category", "ignore", "wildcard", "exclude"] = "category"
    recodes: _Names = []
    seed: int = 0
    max_size: int | None = Field(default=None, ge=1, le=60)
    reading: Reading = Reading()


JobAsked = Annotated[LookAsked | AssessAsked, Field(discriminator="kind")]
"""What may be asked to be done as a job."""


class JobShape(BaseModel):
    """A job and how far it is."""

    id: str
    kind: str
    who: str
    state: Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
    made: str
    changed: str
    done: int
    total: int | None
    is_cancelled: bool = Field(description="Whether it was asked to stop.")
    file: FileAsked
    request: dict[str, Any]
    error: Refusal | None
    deleted_on: str = Field(description="When what it found is deleted.")


class JobList(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobShape]


class ResultShape(BaseModel):
    """What a job found: the document that the command line prints, without single records.

    Editors get `parts` of single records and categories too; a table has the records themselves.
    """

    job: JobShape
    document: dict[str, Any]
    with_records: bool
    downloads: list[str] = Field(description="Names of what can be downloaded.")


class TablePage(BaseModel):
    """Some rows of a table."""

    columns: list[str]
    total: int
    offset: int
    rows: list[list[Any]]


class AllowedFolder(BaseModel):
    """A folder that may be read, and the files in it."""

    folder: str
    files: list[AllowedFileShape]


class AllowedFileShape(BaseModel):
    """A file that may be read."""

    name: str
    size: int
    changed: str


class PolicyShape(BaseModel):
    """A policy that is known by its name, and where its limits come from."""

    name: str
    description: str


class FileList(BaseModel):
    """The files that may be read, and the policies that they may be judged by."""

    folders: list[AllowedFolder]
    policies: list[PolicyShape]


_OURS = ("file", "environment", "file_asked")
# Names of columns, and how they are attacked. Recodes, values that are read as missing, fractions by
# stratum and what values mean are of the file; so is, until it is known better, all that is new.
_FOR_READERS = (
    "keys", "scenario", "columns", "weight", "strata", "household", "sensitive", "policy", "missing",
    "seed", "max_size", "header",
)  # fmt: skip


def job_shape(job: Job, keep_days: int, *, with_values: bool) -> JobShape:
    """Return a job as pages show it; what tells of values of a file is for editors."""
    request = {
        name: given
        for name, given in job.request.items()
        if name not in _OURS and (with_values or name in _FOR_READERS)
    }
    error = None if job.error is None else Refusal.model_validate(job.error)
    if error is not None and not with_values:
        # What was asked for may be quoted in it.
        error = Refusal(code=error.code, message="This job failed.", hint="Ask an editor why.")
    return JobShape(
        id=job.id,
        kind=job.kind,
        who=job.who,
        state=job.state.value,
        made=_time(job.made),
        changed=_time(job.changed),
        done=job.done,
        total=job.total,
        is_cancelled=job.is_cancelled,
        file=FileAsked.model_validate(job.request["file_asked"]),
        request=request,
        error=error,
        deleted_on=_time(job.changed + keep_days * 24 * 3600),
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


AllowedFolder.model_rebuild()
