from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import subprocess
import sys
import textwrap

import pyarrow as pa
import pytest

from gamekeeper.results import Provenance, Result, package_version


@dataclasses.dataclass(frozen=True, repr=False)
class Count(Result):
    """A small result of its own."""

    names: tuple[str, ...]
    provenance: Provenance

    def summary(self):
        return {"names": len(self.names)}

    def to_arrow(self):
        return pa.table({"name": pa.array(self.names, pa.string()), "n": range(len(self.names))})


@pytest.fixture
def count():
    return Count(("<b>one</b>", "two"), Provenance("counting"))


def test_a_result_is_shown_by_its_headline_numbers_only(count):
    assert repr(count) == "Count(names=2)"


def test_a_result_becomes_a_frame(count):
    frame = count.to_frame()
    assert list(frame.columns) == ["name", "n"]
    assert frame["name"].tolist() == ["<b>one</b>", "two"]


def test_a_result_is_an_arrow_stream(count):
    assert pa.table(count) == count.to_arrow()
    assert pa.RecordBatchReader.from_stream(count).read_all() == count.to_arrow()


def test_a_result_shows_itself_in_a_notebook(count):
    shown = count._repr_html_()
    assert "<caption>Count</caption>" in shown
    assert "&lt;b&gt;one&lt;/b&gt;" in shown
    assert "<b>" not in shown


def test_a_result_must_say_what_it_is():
    class Nothing(Result):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Nothing()


def test_without_pandas_a_frame_is_refused_kindly():
    code = """
        import sys

        class NoPandas:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "pandas":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, NoPandas())
        from gamekeeper.errors import InputError, Reason
        from gamekeeper.mapping.environment.overview import list_categories
        from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
        try:
            list_categories("X", PartitionGraph({"all": ["a", "b"]})).to_frame()
        except InputError as error:
            assert error.reason is Reason.MISSING_PACKAGE
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "gamekeeper[frames]" in done.stdout


def test_provenance_is_plain_and_frozen():
    provenance = Provenance("counting", parameters={"base": "10"}, seed=7)
    plain = provenance.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert set(plain) == {field.name for field in dataclasses.fields(Provenance)}
    assert plain["version"] == package_version() == importlib.metadata.version("gamekeeper")
    assert plain["parameters"] is not provenance.parameters
    with pytest.raises(dataclasses.FrozenInstanceError):
        provenance.seed = 8
