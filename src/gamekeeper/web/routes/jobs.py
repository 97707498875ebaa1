"""Files that may be read, and long work on them as jobs."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, Response

from gamekeeper.attack.assessment.policy import PROFILES
from gamekeeper.errors import Reason
from gamekeeper.results.plain import plain_value
from gamekeeper.web.jobs.files import allowed_files, allowed_path
from gamekeeper.web.jobs.jobs import State
from gamekeeper.web.jobs.kinds import PLOT, RECORDS, REPORT, RESULT, TABLES
from gamekeeper.web.people.roles import Role
from gamekeeper.web.people.sessions import Who
from gamekeeper.web.service.access import Editor, Reader, TheServer
from gamekeeper.web.service.server import Server
from gamekeeper.web.shapes.jobs import (
    AllowedFileShape,
    AllowedFolder,
    AssessAsked,
    FileList,
    JobAsked,
    JobList,
    JobShape,
    LookAsked,
    PolicyShape,
    ResultShape,
    TablePage,
    job_shape,
)
from gamekeeper.web.wire.errors import Refused, missing
from gamekeeper.wording import quoted

router = APIRouter(prefix="/api")

_DOWNLOADS = {
    REPORT: "text/html",
    PLOT: "image/svg+xml",
    "records.parquet": "application/octet-stream",
}
_MOST_ROWS = 1_000


@router.get("/files")
def files(who: Editor, server: TheServer) -> FileList:
    """Return the files in the folders that may be read: names and sizes, nothing of what is in them."""
    folders: dict[str, list[AllowedFileShape]] = {name: [] for name in server.settings.folders}
    for each in allowed_files(server.settings.folders):
        changed = datetime.fromtimestamp(each.changed, UTC).isoformat(timespec="seconds")
        folders[each.folder].append(
            AllowedFileShape(name=each.name, size=each.size, changed=changed)
        )
    return FileList(
        folders=[AllowedFolder(folder=name, files=found) for name, found in folders.items()],
        policies=[
            PolicyShape(name=name, description=policy.limits[0].source)
            for name, policy in PROFILES.items()
        ],
    )


@router.post("/jobs", status_code=202)
def submit(asked: JobAsked, who: Editor, server: TheServer) -> JobShape:
    """Have a file looked at or assessed."""
    return _shape(server, who, server.jobs.submit(asked.kind, _request(server, asked), who.name))


@router.get("/jobs")
def jobs(who: Reader, server: TheServer, kind: str = "") -> JobList:
    """Return jobs, the newest first."""
    return JobList(jobs=[_shape(server, who, job) for job in server.jobs.all(kind)])


@router.get("/jobs/{job}")
def job(job: str, who: Reader, server: TheServer) -> JobShape:
    """Return how far a job is."""
    return _shape(server, who, server.jobs.job(job))


@router.post("/jobs/{job}/cancel")
def cancel(job: str, who: Editor, server: TheServer) -> JobShape:
    """Ask a job to stop."""
    return _shape(server, who, server.jobs.cancel(job))


@router.post("/jobs/{job}/again", status_code=202)
def again(job: str, who: Editor, server: TheServer) -> JobShape:
    """Run a job again that has ended, with the same request, if its file may still be read."""
    asked = server.jobs.job(job).request["file_asked"]
    allowed_path(server.settings.folders, asked["folder"], asked["name"])
    return _shape(server, who, server.jobs.run_again(job, who.name))


@router.delete("/jobs/{job}", status_code=204)
def remove(job: str, who: Editor, server: TheServer) -> None:
    """Forget a job that has ended, and delete what it found."""
    server.jobs.remove(job)


@router.get("/jobs/{job}/result")
def result(job: str, who: Reader, server: TheServer) -> ResultShape:
    """Return what a job found; single records and categories are for editors."""
    found = server.jobs.job(job)
    folder = server.jobs.folder(job)
    with_records = who.role >= Role.EDITOR
    path = folder / (RECORDS if with_records else RESULT)
    if found.state is not State.DONE or not path.is_file():
        raise _no_result()
    names = [name for name in _DOWNLOADS if (folder / name).is_file()] if with_records else []
    return ResultShape(
        job=_shape(server, who, found),
        document=json.loads(path.read_text(encoding="utf-8")),
        with_records=with_records,
        downloads=names,
    )


@router.get("/jobs/{job}/tables/{table}")
def table(
    job: str,
    table: str,
    who: Editor,
    server: TheServer,
    offset: Annotated[int, Query(ge=0, le=2**40)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_ROWS)] = 100,
    sort: Annotated[str, Query(max_length=200)] = "",
    descending: bool = True,
    record: Annotated[int | None, Query(ge=1, description="Only this record.")] = None,
) -> TablePage:
    """Return some rows of a table that a job left: single records, or values to be mapped."""
    if table not in TABLES:
        raise missing("table")
    folder = server.jobs.folder(job)
    if table == "unmapped":
        return _unmapped(folder / "unmapped.csv", offset, limit)
    path = folder / f"{table}.parquet"
    if not path.is_file():
        raise _no_result()
    import pyarrow.parquet as pq

    only = None if record is None else [("record", "==", record)]
    found = pq.read_table(path, filters=only)
    if sort in found.column_names:
        order = "descending" if descending else "ascending"
        found = found.sort_by([(sort, order), ("record", "ascending")])
    some = found.slice(offset, limit)
    rows = zip(*(column.to_pylist() for column in some.columns), strict=True)
    return TablePage(
        columns=found.column_names,
        total=found.num_rows,
        offset=offset,
        rows=[[plain_value(cell) for cell in row] for row in rows],
    )


@router.get("/jobs/{job}/files/{name}", response_class=FileResponse)
def download(job: str, name: str, who: Editor, server: TheServer) -> Response:
    """Return a report, a picture or the table of records, to be kept by whoever asks."""
    if name not in _DOWNLOADS:
        raise missing("file")
    path = server.jobs.folder(job) / name
    if not path.is_file():
        raise _no_result()
    return FileResponse(path, media_type=_DOWNLOADS[name], filename=name)


def _request(server: Server, asked: LookAsked | AssessAsked) -> dict[str, Any]:
    path = allowed_path(server.settings.folders, asked.file.folder, asked.file.name)
    # A policy may be the path of a file for others; here it is one of the names that we know.
    if isinstance(asked, AssessAsked) and asked.policy and asked.policy not in PROFILES:
        raise Refused(
            422,
            Reason.UNKNOWN_NAME.value,
            f"The policy {quoted([asked.policy])} was asked for. It is not known.",
            f"Choose one of {quoted(PROFILES)}.",
        )
    told = asked.model_dump(exclude={"kind", "file", "reading"})
    if asked.scenario:
        told["environment"] = str(server.settings.store)
    return {
        **told,
        **asked.reading.model_dump(),
        "file": str(path),
        "file_asked": asked.file.model_dump(),
    }


def _shape(server: Server, who: Who, job: Any) -> JobShape:
    return job_shape(job, server.settings.keep_days, with_values=who.role >= Role.EDITOR)


def _unmapped(path: Path, offset: int, limit: int) -> TablePage:
    if not path.is_file():
        raise _no_result()
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    header, *lines = rows or [[]]
    return TablePage(
        columns=header, total=len(lines), offset=offset, rows=lines[offset : offset + limit]
    )


def _no_result() -> Refused:
    return Refused(
        404,
        "not-found",
        "This job has left nothing of that kind; it may not have ended, or it was deleted.",
        "Wait for it, or run it again.",
    )
