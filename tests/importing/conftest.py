from __future__ import annotations

import pytest

from gamekeeper.workbench.demo_place import write_questionnaires


@pytest.fixture(scope="session")
def pile(tmp_path_factory):
    """The four made-up questionnaires, by name of file."""
    return write_questionnaires(tmp_path_factory.mktemp("pile"))
