"""Routes of people and their work: signing in and out, accounts and sessions, files and jobs.

Signing in is by the start address where there are no accounts, else by name and password. Accounts,
their roles, and whose sessions end are for administrators.
"""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.attack.assessment.policy import PROFILES
from gamekeeper.errors import Reason
from gamekeeper.results import package_version, plain_value
from gamekeeper.web import service
from gamekeeper.web.job_work import PLOT, RECORDS, REPORT, RESULT, TABLES
from gamekeeper.web.jobs import State, allowed_files, allowed_path
from gamekeeper.web.people import LONGEST_SECONDS, Account, Role, Who, role_of
from gamekeeper.web.settings import Settings
from gamekeeper.web.shapes import variables
from gamekeeper.web.shapes.questions import AssessAsked, JobAsked, LookAsked
from gamekeeper.web.wire import Refused, id_of, missing
from gamekeeper.wording import quoted
from gamekeeper.workbench.environment.opening import person

router = APIRouter(prefix="/api/accounts")
RoleName = Literal["reader", "editor", "administrator"]


class AccountShape(BaseModel):
    """Somebody who may sign in."""

    id: str
    name: str
    role: RoleName


class AccountList(BaseModel):
    """All accounts."""

    accounts: list[AccountShape]


class NewAccount(BaseModel):
    """An account to be added."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    name: str = Field(max_length=200)
    role: RoleName
    password: str = Field(max_length=10_000)


class ChangedAccount(BaseModel):
    """Another role or password; sessions of the account end."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    role: RoleName | None = None
    password: str | None = Field(default=None, max_length=10_000)


@router.get("")
def accounts(who: service.Administrator, server: service.TheServer) -> AccountList:
    """Return all accounts."""
    return _list(server)


@router.post("", status_code=201)
def add(asked: NewAccount, who: service.Administrator, server: service.TheServer) -> AccountList:
    """Add an account; the first one must be an administrator."""
    server.accounts.add(asked.name, role_of(asked.role), asked.password)
    return _list(server)


@router.post("/{account}")
def change(
    account: str, asked: ChangedAccount, who: service.Administrator, server: service.TheServer
) -> AccountList:
    """Give an account another role or password."""
    role = None if asked.role is None else role_of(asked.role)
    server.accounts.change(_name(server, account), role=role, password=asked.password)
    return _list(server)


@router.delete("/{account}")
def remove(account: str, who: service.Administrator, server: service.TheServer) -> AccountList:
    """Remove an account; its sessions end."""
    server.accounts.remove(_name(server, account))
    return _list(server)


@router.delete("/{account}/sessions", status_code=204)
def revoke(account: str, who: service.Administrator, server: service.TheServer) -> None:
    """End all sessions of an account."""
    server.sessions.revoke(_name(server, account))


def _list(server: service.Server) -> AccountList:
    return AccountList(
        accounts=[
            AccountShape(id=id_of(each.name), name=each.name, role=each.role.word)  # pyright: ignore[reportArgumentType]
            for each in server.accounts.all()
        ]
    )


def _name(server: service.Server, account: str) -> str:
    for each in server.accounts.all():
        if id_of(each.name) == account:
            return each.name
    raise missing("account")


session_router = APIRouter()


class SessionShape(BaseModel):
    """Who is signed in, if anybody, and how one signs in."""

    who: str | None
    role: str | None
    accounts: bool = Field(description="Whether people sign in by name and password.")
    environment: str = Field(description="The name of the environment, for those signed in.")
    version: str


class SignIn(BaseModel):
    """A name and a password."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    name: str = Field(max_length=1_000)
    password: str = Field(max_length=10_000)


@session_router.get("/start", include_in_schema=False)
def start(request: Request, server: service.TheServer, token: str = "") -> Response:
    """Exchange the start token for a cookie, and go to the first page without it."""
    cookie = None if server.accounts.are_there else server.exchange(token, person(None))
    going = RedirectResponse("/", 303)
    if cookie is None:
        # A page that was kept open, or an address used before: whoever is signed in goes on.
        if service.signed_in(request, server) is None:
            return RedirectResponse("/?used", 303)
        return going
    _set(going, cookie, server.settings)
    return going


@session_router.get("/api/session")
def session(request: Request, server: service.TheServer) -> SessionShape:
    """Tell who is signed in."""
    return _shape(server, service.signed_in(request, server))


@session_router.post("/api/session", status_code=201)
def sign_in(
    asked: SignIn, request: Request, server: service.TheServer, response: Response
) -> SessionShape:
    """Sign in by name and password."""
    if not server.accounts.are_there:
        raise Refused(
            401, "no-accounts", "Nobody signs in by name here.", "Use the address that it tells."
        )
    # Behind a proxy all come from one address, and one who guesses would lock out the others.
    address = request.client.host if request.client and not server.settings.origin else ""
    account = server.accounts.sign_in(asked.name, asked.password, address)
    _set(response, server.sessions.begin(account.name), server.settings)
    return _shape(server, account)


@session_router.delete("/api/session", status_code=204)
def sign_out(who: service.Reader, server: service.TheServer, response: Response) -> None:
    """End the session."""
    server.sessions.end(who.session)
    response.delete_cookie(
        service.cookie_name(server.settings), path="/", secure=server.settings.is_secure
    )


def _shape(server: service.Server, who: Who | Account | None) -> SessionShape:
    return SessionShape(
        who=who.name if who else None,
        role=who.role.word if who else None,
        accounts=server.accounts.are_there,
        environment=server.seen().environment.name if who else "",
        version=package_version() if who else "",
    )


def _set(response: Response, value: str, settings: Settings) -> None:
    response.set_cookie(
        service.cookie_name(settings),
        value,
        max_age=LONGEST_SECONDS,
        path="/",
        secure=settings.is_secure,
        httponly=True,
        samesite="lax",
    )


jobs_router = APIRouter(prefix="/api")
_DOWNLOADS = {
    REPORT: "text/html",
    PLOT: "image/svg+xml",
    "records.parquet": "application/octet-stream",
}


@jobs_router.get("/files")
def files(who: service.Editor, server: service.TheServer) -> variables.FileList:
    """Return the files in the folders that may be read: names and sizes, nothing of what is in them."""
    folders: dict[str, list[variables.AllowedFileShape]] = {
        name: [] for name in server.settings.folders
    }
    for each in allowed_files(server.settings.folders):
        changed = datetime.fromtimestamp(each.changed, UTC).isoformat(timespec="seconds")
        folders[each.folder].append(
            variables.AllowedFileShape(name=each.name, size=each.size, changed=changed)
        )
    return variables.FileList(
        folders=[
            variables.AllowedFolder(folder=name, files=found) for name, found in folders.items()
        ],
        policies=[
            variables.PolicyShape(name=name, description=policy.limits[0].source)
            for name, policy in PROFILES.items()
        ],
    )


@jobs_router.post("/jobs", status_code=202)
def submit(asked: JobAsked, who: service.Editor, server: service.TheServer) -> variables.JobShape:
    """Have a file looked at or assessed."""
    return _job_for(server, who, server.jobs.submit(asked.kind, _request(server, asked), who.name))


@jobs_router.get("/jobs")
def jobs(who: service.Reader, server: service.TheServer, kind: str = "") -> variables.JobList:
    """Return jobs, the newest first."""
    return variables.JobList(jobs=[_job_for(server, who, job) for job in server.jobs.all(kind)])


@jobs_router.get("/jobs/{job}")
def job(job: str, who: service.Reader, server: service.TheServer) -> variables.JobShape:
    """Return how far a job is."""
    return _job_for(server, who, server.jobs.job(job))


@jobs_router.post("/jobs/{job}/cancel")
def cancel(job: str, who: service.Editor, server: service.TheServer) -> variables.JobShape:
    """Ask a job to stop."""
    return _job_for(server, who, server.jobs.cancel(job))


@jobs_router.post("/jobs/{job}/again", status_code=202)
def again(job: str, who: service.Editor, server: service.TheServer) -> variables.JobShape:
    """Run a job again that has ended, with the same request, if its file may still be read."""
    asked = server.jobs.job(job).request["file_asked"]
    allowed_path(server.settings.folders, asked["folder"], asked["name"])
    return _job_for(server, who, server.jobs.run_again(job, who.name))


@jobs_router.delete("/jobs/{job}", status_code=204, name="remove")
def remove_job(job: str, who: service.Editor, server: service.TheServer) -> None:
    """Forget a job that has ended, and delete what it found."""
    server.jobs.remove(job)


@jobs_router.get("/jobs/{job}/result")
def result(job: str, who: service.Reader, server: service.TheServer) -> variables.ResultShape:
    """Return what a job found; single records and categories are for editors."""
    found = server.jobs.job(job)
    folder = server.jobs.folder(job)
    with_records = who.role >= Role.EDITOR
    path = folder / (RECORDS if with_records else RESULT)
    if found.state is not State.DONE or not path.is_file():
        raise _no_result()
    names = [name for name in _DOWNLOADS if (folder / name).is_file()] if with_records else []
    return variables.ResultShape(
        job=_job_for(server, who, found),
        document=json.loads(path.read_text(encoding="utf-8")),
        with_records=with_records,
        downloads=names,
    )


@jobs_router.get("/jobs/{job}/tables/{table}")
def table(
    job: str,
    table: str,
    who: service.Editor,
    server: service.TheServer,
    offset: Annotated[int, Query(ge=0, le=2**40)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    sort: Annotated[str, Query(max_length=200)] = "",
    descending: bool = True,
    record: Annotated[int | None, Query(ge=1, description="Only this record.")] = None,
) -> variables.TablePage:
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
    return variables.TablePage(
        columns=found.column_names,
        total=found.num_rows,
        offset=offset,
        rows=[[plain_value(cell) for cell in row] for row in rows],
    )


@jobs_router.get("/jobs/{job}/files/{name}", response_class=FileResponse)
def download(job: str, name: str, who: service.Editor, server: service.TheServer) -> Response:
    """Return a report, a picture or the table of records, to be kept by whoever asks."""
    if name not in _DOWNLOADS:
        raise missing("file")
    path = server.jobs.folder(job) / name
    if not path.is_file():
        raise _no_result()
    return FileResponse(path, media_type=_DOWNLOADS[name], filename=name)


def _request(server: service.Server, asked: LookAsked | AssessAsked) -> dict[str, Any]:
    path = allowed_path(server.settings.folders, asked.file.folder, asked.file.name)
    told = asked.model_dump(exclude={"kind", "file", "reading"})
    # A policy may be the path of a file for others; here it is one of the names that we know.
    if (policy := told.get("policy")) and policy not in PROFILES:
        found = f"The policy {quoted([policy])} was asked for. It is not known."
        raise Refused(422, Reason.UNKNOWN_NAME.value, found, f"Choose one of {quoted(PROFILES)}.")
    if told["scenario"]:
        told["environment"] = str(server.settings.store)
    return {
        **told,
        **asked.reading.model_dump(),
        "file": str(path),
        "file_asked": asked.file.model_dump(),
    }


def _job_for(server: service.Server, who: Who, job: Any) -> variables.JobShape:
    return variables.job_shape(job, server.settings.keep_days, with_values=who.role >= Role.EDITOR)


def _unmapped(path: Path, offset: int, limit: int) -> variables.TablePage:
    if not path.is_file():
        raise _no_result()
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    header, *lines = rows or [[]]
    return variables.TablePage(
        columns=header, total=len(lines), offset=offset, rows=lines[offset : offset + limit]
    )


def _no_result() -> Refused:
    found = "This job has left nothing of that kind; it may not have ended, or it was deleted."
    return Refused(404, "not-found", found, "Wait for it, or run it again.")
