"""Requests for small files, and how they are refused."""

from __future__ import annotations

import traceback

import pytest

from gamekeeper.errors import InputError
from gamekeeper.workbench.microdata import open_microdata
from gamekeeper.workbench.requests.records import MicrodataRequest
from tests.given.microdata import KEYS, OF_SCENARIO, PEOPLE, SCENARIO, write, write_world

SECRET = "Zanzibar"


@pytest.fixture
def people(tmp_path):
    return MicrodataRequest(file=write(tmp_path, "people.csv", PEOPLE), keys=KEYS)


@pytest.fixture
def clerk(tmp_path):
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    return MicrodataRequest(file=file, scenario=SCENARIO, environment=write_world(tmp_path))


def refused(request, kind=InputError, **more):
    with pytest.raises(kind) as caught:
        open_microdata(request, **more)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    return caught.value


def words(data, name):
    variable = data.coded.codebook[name]
    return [variable.words[code] for code in data.coded.codes(name)]
