"""What a file needs of the machine, and files to be written: refused before any work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pytest

from gamekeeper.budget import Work, within_memory
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.options import Option
from gamekeeper.workbench.answers import Need, require_outputs, write_outputs
from gamekeeper.workbench.requests.records import MicrodataRequest
from tests.given.microdata import write
from tests.workbench.conftest import SECRET, refused


def test_text_files_are_refused_by_their_size_before_they_are_read(tmp_path):
    lines = 300_000
    file = write(tmp_path, "many.csv", "a,b\n" + "1,22\n" * lines + f"{SECRET}\n")
    assert open_source(file).about_records() == pytest.approx(lines, rel=0.01)
    need = Need(Work.INFERENCE)  # 198 bytes a record with two keys
    asked = MicrodataRequest(file=file, keys=("a", "b"))
    with within_memory("50MB"):
        error = refused(asked, LimitError, need=need)
    assert (error.reason, error.asked.split()[0]) == (Reason.TOO_LARGE, "About")
    # Within the limit it is read, and its last record found to be too short.
    with within_memory("80MB"):
        assert refused(asked, need=need).reason is Reason.MALFORMED


@dataclass(frozen=True, kw_only=True)
class Request:
    file: Annotated[Path, Option("Read.", is_argument=True)]
    others: Annotated[tuple[Path, ...], Option("Read as well.")] = ()
    records: Annotated[Path | None, Option("Records.", writes="table", label="Records")] = None
    plot: Annotated[Path | None, Option("A plot.", writes="picture", label="Plot")] = None
    report: Annotated[Path | None, Option("A page.", writes="page", label="Report")] = None
    notes: Annotated[Path | None, Option("Notes.", writes="text", label="Notes")] = None
    replace: Annotated[bool, Option("Replace.")] = False


class Found:
    def to_arrow(self) -> pa.Table:
        return pa.table({"a": [1, 2]})

    def plot(self):
        from matplotlib.figure import Figure

        return Figure()


@pytest.fixture
def data(tmp_path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text("a\n1\n")
    return file


def unwritable(asked: Request) -> list[str]:
    with pytest.raises(InputError) as caught:
        require_outputs(asked)
    assert caught.value.reason is Reason.NOT_WRITABLE
    return [problem.found for problem in caught.value.problems]


def test_nothing_and_what_can_be_written_is_let_through(data, tmp_path):
    require_outputs(Request(file=data))
    require_outputs(Request(file=data, records=tmp_path / "a.parquet", notes=tmp_path / "any.name"))


def test_all_that_cannot_be_written_is_told_at_once(data, tmp_path):
    asked = Request(file=data, records=tmp_path / "a.txt", plot=tmp_path / "no" / "p.svg")
    assert unwritable(asked) == [
        "has a name with another ending.",
        "lies in a folder that does not exist.",
    ]


@pytest.mark.parametrize("name", ["people.csv", "../{folder}/people.csv"])
def test_what_is_read_is_not_replaced(data, tmp_path, name):
    target = tmp_path / name.format(folder=tmp_path.name)
    assert unwritable(Request(file=data, records=target)) == [
        "is to be read, and would be replaced."
    ]
    other = tmp_path / "other.csv"
    other.write_text("")
    found = unwritable(Request(file=other, others=(data,), records=target))
    assert found == ["is to be read, and would be replaced."]


def test_a_folder_may_be_kept_clean(data, tmp_path):
    read = tmp_path / "environment"
    read.mkdir()
    asked = Request(file=data, others=(read,), report=read / "r.html")
    assert unwritable(asked) == ["lies within what is to be read."]
    require_outputs(Request(file=data, others=(read,), report=tmp_path / "r.html"))


def test_a_file_that_is_there_is_replaced_only_where_that_is_asked(data, tmp_path):
    there = tmp_path / "r.html"
    there.write_text("kept")
    assert unwritable(Request(file=data, report=there)) == ["is there already."]
    require_outputs(Request(file=data, report=there, replace=True))


def test_one_file_is_not_written_twice(data, tmp_path):
    asked = Request(file=data, report=tmp_path / "r.html", notes=tmp_path / "r.html")
    assert unwritable(asked) == ["is asked for twice."]


def test_files_are_written_by_their_kind(data, tmp_path):
    asked = Request(
        file=data,
        records=tmp_path / "r.csv",
        plot=tmp_path / "p.svg",
        report=tmp_path / "r.html",
        notes=tmp_path / "n.txt",
    )
    write_outputs(
        asked,
        Found(),
        page=lambda path: path.write_text("page"),
        text=lambda path: path.write_text("notes"),
    )
    assert (tmp_path / "r.csv").read_text() == '"a"\n1\n2\n'
    assert "<svg" in (tmp_path / "p.svg").read_text()
    assert (tmp_path / "r.html").read_text() == "page"
    assert (tmp_path / "n.txt").read_text() == "notes"
    write_outputs(
        Request(file=data, records=tmp_path / "r.csv"),
        Found(),
        table=lambda path: path.write_text("another way"),
    )
    assert (tmp_path / "r.csv").read_text() == "another way"
    with pytest.raises(AssertionError, match="page"):
        write_outputs(Request(file=data, report=tmp_path / "r.html"), Found())
