"""What an attack needs of the machine is asked before a file is read."""

from __future__ import annotations

import pytest

from gamekeeper.budget import within_memory
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import LimitError, Reason
from gamekeeper.workbench.microdata.need import Need
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from tests.given.microdata import write
from tests.workbench.microdata.conftest import SECRET, refused


def test_text_files_are_refused_by_their_size_before_they_are_read(tmp_path):
    lines = 300_000
    file = write(tmp_path, "many.csv", "a,b\n" + "1,22\n" * lines + f"{SECRET}\n")
    assert open_source(file).about_records() == pytest.approx(lines, rel=0.01)
    need = Need(lambda n_records, n_keys: 100 * n_records * n_keys)
    asked = MicrodataRequest(file=file, keys=("a", "b"))
    with within_memory("50MB"):
        error = refused(asked, LimitError, need=need)
    assert (error.reason, error.asked.split()[0]) == (Reason.TOO_LARGE, "About")
    # Within the limit it is read, and its last record found to be too short.
    with within_memory("80MB"):
        assert refused(asked, need=need).reason is Reason.MALFORMED
