"""Dependencies: advisories are found by the versions of the locks, and licences are allowed ones."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci/audit.py")
audit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(audit)


def advisory(*events, name="Some_Package", versions=(), ecosystem="PyPI", **more):
    affected = {
        "package": {"ecosystem": ecosystem, "name": name},
        "ranges": [{"type": "ECOSYSTEM", "events": list(events)}],
        "versions": list(versions),
    }
    return {"id": "PYSEC-1", "modified": "2026-01-02T03:04:05Z", "affected": [affected], **more}


@pytest.mark.parametrize(
    ("version", "events", "is_affected"),
    [
        ("1.0", [{"introduced": "0"}, {"fixed": "1.0"}], False),
        ("1.0rc1", [{"introduced": "0"}, {"fixed": "1.0"}], True),
        ("0.9", [{"introduced": "0"}, {"fixed": "1.0"}], True),
        ("1.10", [{"introduced": "1.9"}, {"fixed": "1.11"}], True),
        ("1.0.post1", [{"introduced": "0"}, {"last_affected": "1.0"}], False),
        ("1.0", [{"introduced": "0"}, {"last_affected": "1.0"}], True),
        ("2.5", [{"introduced": "0"}, {"fixed": "1.0"}, {"introduced": "2.0"}], True),
        ("1.5", [{"introduced": "2.0"}, {"introduced": "0"}, {"fixed": "1.0"}], False),
        ("1!1.0", [{"introduced": "0"}, {"fixed": "2.0"}], False),
        ("3.0", [{"introduced": "0"}], True),
    ],
)
def test_versions_are_compared_as_packages_are(version, events, is_affected):
    packages = {audit.Locked("some-package", version): ["run.lock"]}
    found, unread, n_read, newest = audit.findings(packages, [advisory(*events)])
    assert bool(found) is is_affected
    assert (unread, n_read, newest) == ([], 1, "2026-01-02")


def test_what_is_listed_withdrawn_or_of_others():
    packages = {audit.Locked("some-package", "1.0"): ["run.lock"]}

    def found(*advisories):
        return audit.findings(packages, advisories)[:2]

    assert found(advisory(versions=["1.0.0"]))[0]
    assert found(advisory(versions=["not a version", "1.1"])) == ([], [])
    assert found(advisory({"introduced": "0"}, withdrawn="2026-01-01T00:00:00Z")) == ([], [])
    assert found(advisory({"introduced": "0"}, ecosystem="npm")) == ([], [])
    assert found(advisory({"introduced": "0"}, name="other")) == ([], [])
    # What cannot be read is said, never taken for harmless.
    assert found(advisory({"introduced": "one"}))[1] == ["PYSEC-1"]
    assert found("text")[1] == ["number 1"]


@pytest.mark.parametrize("kind", ["file", "list", "folder", "zip"])
def test_files_in_every_form(tmp_path, capsys, kind):
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/run.lock").write_text(
        "some-package==1.0 ; x \\\n    --hash=sha256:0\n"
    )
    one, other = advisory({"introduced": "0"}), advisory({"introduced": "5"}, id="PYSEC-2")
    path = tmp_path / "advisories"
    if kind == "folder":
        path.mkdir()
        for number, document in enumerate((one, other)):
            (path / f"{number}.json").write_text(json.dumps(document))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("1.json", json.dumps(one))
            packed.writestr("2.json", json.dumps(other))
    else:
        path.write_text(json.dumps(one if kind == "file" else [one, other]))
    assert audit.audit(path, tmp_path) == 1
    said = capsys.readouterr().out
    assert "some-package 1.0 (run.lock): PYSEC-1" in said
    assert "PYSEC-2" not in said


def osv(number, package, *, ranges=(), versions=(), **more):
    """Return an advisory with every field that the exports of OSV have."""
    return {
        "schema_version": "1.7.3",
        "id": f"GHSA-0000-0000-000{number}",
        "modified": f"2026-03-0{number}T12:00:00.123456Z",
        "published": "2025-11-01T00:00:00Z",
        "aliases": [f"CVE-2025-000{number}", f"PYSEC-2025-{number}"],
        "related": ["CVE-2024-1"],
        "upstream": [],
        "summary": f"summary {number}",
        "details": "Several\nlines.",
        "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
        "affected": [
            {
                "package": {**package, "purl": f"pkg:pypi/{package['name']}"},
                "ranges": list(ranges),
                "versions": list(versions),
                "ecosystem_specific": {"affects": {}},
                "database_specific": {"source": "https://example.org/a.json"},
            }
        ],
        "references": [{"type": "FIX", "url": "https://example.org/fix"}],
        "credits": [{"name": "Somebody", "type": "FINDER"}],
        "database_specific": {"cwe_ids": ["CWE-1"], "github_reviewed": True},
        **more,
    }


def ecosystem(*events):
    return {"type": "ECOSYSTEM", "events": list(events), "database_specific": {"x": 1}}


PYPI, COMMITS = (
    "PyPI",
    {"type": "GIT", "repo": "https://example.org/r", "events": [{"introduced": "0"}]},
)


def test_an_export_with_all_that_the_schema_has(tmp_path, capsys):
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/run.lock").write_text("ruamel-yaml==1.2.3 ; x\nzope-interface==5.0\n")
    dotted = {"ecosystem": PYPI, "name": "Ruamel.YAML"}
    lined = {"ecosystem": PYPI, "name": "zope_interface"}
    export = [
        # Affected: from a second stretch, by a list, by the last version, from other ranges.
        osv(1, dotted, ranges=[COMMITS, ecosystem({"introduced": "0"}, {"fixed": "1.0"}),
                               ecosystem({"introduced": "1.2"}, {"fixed": "1.2.4"})]),
        osv(2, lined, versions=["4.9", "5.0.0"]),
        osv(3, dotted, ranges=[ecosystem({"introduced": "1.2.0"}, {"last_affected": "1.2.3"})]),
        # Not affected: fixed, before, ended, commits only, withdrawn, of another ecosystem, another name.
        osv(4, dotted, ranges=[ecosystem({"introduced": "0"}, {"fixed": "1.2.3"})]),
        osv(5, dotted, ranges=[COMMITS], versions=["1.2.2"]),
        osv(6, lined, ranges=[ecosystem({"introduced": "0"}, {"last_affected": "4.9.9"})]),
        osv(7, dotted, ranges=[ecosystem({"introduced": "0"})], withdrawn="2026-01-01T00:00:00Z"),
        osv(8, {"ecosystem": "npm", "name": "ruamel-yaml"}, ranges=[ecosystem({"introduced": "0"})]),
        osv(9, {"ecosystem": PYPI, "name": "ruamel"}, ranges=[ecosystem({"introduced": "0"})]),
    ]  # fmt: skip
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for one in export:
            packed.writestr(f"{one['id']}.json", json.dumps(one))
    assert audit.audit(path, tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "9 advisories, the newest of 2026-03-09.",
        "ruamel-yaml 1.2.3 (run.lock): GHSA-0000-0000-0001, CVE-2025-0001, PYSEC-2025-1: summary 1",
        "ruamel-yaml 1.2.3 (run.lock): GHSA-0000-0000-0003, CVE-2025-0003, PYSEC-2025-3: summary 3",
        "zope-interface 5.0 (run.lock): GHSA-0000-0000-0002, CVE-2025-0002, PYSEC-2025-2: summary 2",
        "3 findings among 2 locked versions.",
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"ranges": [COMMITS]},
        {"ranges": [{"type": "NEW-KIND", "events": [{"introduced": "0"}]}]},
        {},
    ],
)
def test_an_advisory_that_tells_no_version_is_not_taken_for_harmless(item):
    told = osv(1, {"ecosystem": PYPI, "name": "some-package"}, **item)
    packages = {audit.Locked("some-package", "1.0"): ["run.lock"]}
    assert audit.findings(packages, [told])[:2] == ([], [told["id"]])


def test_what_is_no_advisory(tmp_path):
    (tmp_path / "requirements").mkdir()
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "none.json").write_text("[]")
    for name in ("bad.json", "none.json", "not-there.json"):
        assert audit.audit(tmp_path / name, tmp_path) == 2


def test_our_own_locks_are_read():
    packages = audit.locked((ROOT / "requirements").glob("*.lock"))
    assert len(packages) > 50
    numpy = next(one for one in packages if one.name == "numpy")
    found = audit.findings(packages, [advisory({"introduced": "0"}, name="NumPy")])[0]
    assert any(line.startswith(f"numpy {numpy.version} ") for line in found)


@pytest.mark.parametrize(
    ("expression", "is_allowed"),
    [
        ("MIT", True),
        ("MIT AND BSD-3-Clause", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("(MIT OR GPL-3.0-only) AND BSD-3-Clause", False),
        ("", False),
    ],
)
def test_expressions(expression, is_allowed):
    assert audit.is_allowed(expression, ["MIT", "BSD-3-Clause"]) is is_allowed


def test_everything_at_run_time_has_an_allowed_licence(capsys):
    assert audit.licences() == 0, capsys.readouterr().out


def test_a_package_without_a_licence_is_not_allowed(tmp_path, capsys):
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/run.lock").write_text("no-such-package-here==1.0\n")
    rules = (ROOT / "requirements/licences.toml").read_text()
    (tmp_path / "requirements/licences.toml").write_text(rules)
    assert audit.licences(tmp_path) == 1
    assert "not known" in capsys.readouterr().out
