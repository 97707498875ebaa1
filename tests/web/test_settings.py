"""How a server is set up: addresses, folders, and the pages that it sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from gamekeeper.errors import InputError
from gamekeeper.web.service import cookie_name
from gamekeeper.web.settings import Settings, checked_origin, named_folders
from gamekeeper.web.stamp import STAMP, is_current, stamp_of


def settings(**how: object) -> Settings:
    return Settings(store=Path("a.gk"), state=Path("a.gk.server"), folders={}, **how)  # type: ignore[arg-type]


def test_a_server_of_this_machine_knows_its_own_names_alone() -> None:
    made = settings(port=7)
    assert made.hosts == {"127.0.0.1:7", "localhost:7", "[::1]:7"}
    assert cookie_name(made) == "gamekeeper-7"
    assert not made.is_secure


def test_behind_a_proxy_only_its_address_counts() -> None:
    made = settings(origin=checked_origin("https://Forms.example:8443/"))
    assert made.origins == {"https://forms.example:8443"}
    assert made.hosts == {"forms.example:8443"}
    assert cookie_name(made) == "__Host-gamekeeper"


@pytest.mark.parametrize(
    "text", ["forms.example", "ftp://a.b", "https://a b", "https://u@a.b", "https://a.b/?c", ""]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        checked_origin(text)


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "data").mkdir(parents=True)
    made = named_folders((tmp_path / "a/data", tmp_path / "b/data", tmp_path / "a/data"))
    assert list(made) == ["data", "data (2)"]
    with pytest.raises(InputError):
        named_folders((tmp_path / "none",))


def test_built_pages_are_known_by_their_sources(tmp_path: Path) -> None:
    sources, built = tmp_path / "frontend", tmp_path / "static"
    (sources / "node_modules").mkdir(parents=True)
    built.mkdir()
    assert not is_current(sources, built)
    (built / "index.html").write_text("")
    (built / STAMP).write_text("anything\n")
    assert is_current(sources, built), "an installed wheel has no sources"
    (sources / "package.json").write_text("{}")
    assert not is_current(sources, built)
    (built / STAMP).write_text(stamp_of(sources) + "\n")
    (sources / "node_modules" / "a").write_text("")
    assert is_current(sources, built)
    (sources / "a.svelte").write_text("")
    assert not is_current(sources, built)
