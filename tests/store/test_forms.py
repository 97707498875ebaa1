"""Forms in the layout that we write are read by a shortcut; it must never differ."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import Problem, Reason
from gamekeeper.mapping.environment.environment import Form
from gamekeeper.store.forms import FORM_FILE, FormReader
from gamekeeper.store.parsing import parse

labels = st.text(st.sampled_from('ab],:{}"\\ \n\té\u2028'), max_size=6)
variables = st.dictionaries(labels, st.lists(labels, max_size=3), max_size=4)
SPOILERS = [
    *b'" ] [ { } , : 1 \\ \xff \\ud800 "name":"x", "a":[],'.split(),
    *(b"", b" ", b"\n", b"],\n", b' "variables": {\n', b"]\n }\n}\n"),
]
metadata = st.dictionaries(labels, labels | st.integers() | st.none(), max_size=2)


def as_parsed(data: bytes) -> tuple[Form | None, list[Problem]]:
    problems: list[Problem] = []
    file = parse(data, "f.json", FORM_FILE, problems)
    if file is None:
        return None, problems
    given = {name: tuple(offered) for name, offered in file.variables.items()}
    return Form(file.name, given, file.metadata), problems


def as_read(reader: FormReader, data: bytes) -> tuple[Form | None, list[Problem]]:
    problems: list[Problem] = []
    return reader.read(data, "f.json", problems), problems


def written(tree: object) -> bytes:
    return (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()


@given(st.lists(st.tuples(labels, metadata, variables), min_size=1, max_size=3))
def test_what_we_write_is_read_the_same(forms: list[tuple[str, object, object]]) -> None:
    reader = FormReader()
    for name, about, offered in forms:
        data = written({"name": name, "metadata": about, "variables": offered})
        form, problems = as_read(reader, data)
        assert (form, problems) == as_parsed(data)
        assert form is not None


@given(
    metadata,
    variables.filter(bool),
    st.data(),
    st.sampled_from(SPOILERS),
)
def test_spoilt_files_are_read_the_same(
    about: object, offered: object, data: st.DataObject, inserted: bytes
) -> None:
    text = written({"name": "x", "metadata": about, "variables": offered})
    reader = FormReader()
    reader.read(text, "f.json", [])
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    spoilt = text[:at] + inserted + text[at + cut :]
    assert as_read(reader, spoilt) == as_parsed(spoilt)


def test_the_shortcut_is_taken() -> None:
    """Else the tests above would compare the same thing with itself."""
    reader = FormReader()
    data = written({"name": "x", "metadata": {}, "variables": {"Age": ["0-9", "10+"], "Sex": []}})
    shortcut = reader._as_written(data)
    assert shortcut == Form("x", {"Age": ("0-9", "10+"), "Sex": ()}, {})
    assert reader._as_written(data.replace(b"\n ", b"\n  ")) is None


@pytest.mark.parametrize(
    "text",
    [
        '{\n "name": "x",\n "variables": {\n  "Age": [],\n  "Age": [\n   "a"\n  ]\n }\n}\n',
        '{\n "name": "x",\n "variables": {\n  "Age": [], "Age": [],\n  "Sex": []\n }\n}\n',
        '{\n "variables": {},\n "name": "x",\n "variables": {\n  "Age": []\n }\n}\n',
        '{\n "name": "x",\n "name": "x",\n "variables": {\n  "Age": []\n }\n}\n',
    ],
)
def test_what_comes_twice_is_not_passed_over(text: str) -> None:
    json.loads(text)
    form, (problem,) = as_read(FormReader(), text.encode())
    assert form is None
    assert problem.reason is Reason.DUPLICATE
