"""What is known of the packages in the locks: advisories against their versions, and licences.

Nothing is fetched. Advisories are a file that the user provides, in the JSON of the OSV schema: one
advisory, a list of them, a folder of such files, or the zip that OSV exports for PyPI. Licences are
those that installed packages state; what they do not state as an SPDX expression is in
requirements/licences.toml, with the licences that are allowed.

    python .ci/audit.py advisories FILE        what of the locks is affected
    python .ci/audit.py licences               the licence of everything in the run-time lock
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
_COMPARED = ("ECOSYSTEM", "SEMVER")
_LOCKED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)")


class Locked(NamedTuple):
    """A package as a lock has it."""

    name: str
    version: str


def locked(locks: Iterable[Path]) -> dict[Locked, list[str]]:
    """Return every package and version of some locks, with the names of the locks that have it."""
    found: dict[Locked, list[str]] = {}
    for lock in locks:
        for line in lock.read_text(encoding="utf-8").splitlines():
            if met := _LOCKED.match(line):
                one = Locked(str(canonicalize_name(met[1])), met[2])
                found.setdefault(one, []).append(lock.name)
    return found


def read_advisories(path: Path) -> Iterator[Any]:
    """Yield the advisories of a file, a folder or a zip."""
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            yield from _advisories(file.read_text(encoding="utf-8"))
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for name in sorted(packed.namelist()):
                if name.endswith(".json"):
                    yield from _advisories(packed.read(name).decode("utf-8"))
    else:
        yield from _advisories(path.read_text(encoding="utf-8"))


def _advisories(text: str) -> list[Any]:
    document = json.loads(text)
    if isinstance(document, dict) and "vulns" in document:
        document = document["vulns"]
    return document if isinstance(document, list) else [document]


def is_affected(version: str, affected: dict[str, Any]) -> bool:
    """Tell whether a version is listed, or lies in a range from `introduced` to `fixed`.

    ValueError where neither is given that can be compared: ranges of commits say nothing of versions.
    """
    this = Version(version)
    compared = [one for one in affected.get("ranges") or () if one.get("type") in _COMPARED]
    if not affected.get("versions") and not compared:
        raise ValueError
    for listed in affected.get("versions") or ():
        try:
            if Version(listed) == this:
                return True
        except InvalidVersion:
            continue
    return any(_in_range(this, found.get("events") or ()) for found in compared)


def _in_range(this: Version, events: Iterable[dict[str, str]]) -> bool:
    # The events of a range in their order: the last one at or before the version decides.
    order = {"introduced": 0, "fixed": 1, "limit": 1, "last_affected": 2}
    told = [(_bound(text), order[kind]) for one in events for kind, text in one.items()]
    inside = False
    for bound, kind in sorted(told, key=lambda event: event):
        if bound > this or (bound == this and kind == 2):
            break
        inside = kind == 0
    return inside


def _bound(text: str) -> Version:
    return Version("0.dev0") if text == "0" else Version(text)


def findings(
    packages: dict[Locked, list[str]], advisories: Iterable[Any]
) -> tuple[list[str], list[str], int, str]:
    """Return what is affected, what could not be read, the number of advisories and the newest date."""
    by_name: dict[str, list[Locked]] = {}
    for one in packages:
        by_name.setdefault(one.name, []).append(one)
    affected: list[str] = []
    unread: list[str] = []
    n_read, newest = 0, ""
    for advisory in advisories:
        try:
            n_read += 1
            newest = max(newest, str(advisory.get("modified", "")))
            if advisory.get("withdrawn"):
                continue
            for item in advisory.get("affected") or ():
                package = item.get("package") or {}
                if package.get("ecosystem") != "PyPI":
                    continue
                for one in by_name.get(canonicalize_name(str(package.get("name", ""))), ()):
                    if is_affected(one.version, item):
                        told = advisory.get("summary") or "no summary"
                        also = ", ".join([advisory["id"], *(advisory.get("aliases") or ())])
                        locks = ", ".join(packages[one])
                        affected.append(f"{one.name} {one.version} ({locks}): {also}: {told}")
        except (AttributeError, InvalidVersion, KeyError, TypeError, ValueError):
            name = advisory.get("id") if isinstance(advisory, dict) else None
            unread.append(str(name or f"number {n_read}"))
    return sorted(set(affected)), unread, n_read, newest[:10]


def licence_of(name: str, written: dict[str, str]) -> str:
    """Return the licence that a package states, or that was written down for it; "" if neither."""
    if name in written:
        return written[name]
    try:
        stated = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    return stated.get("License-Expression") or ""


def is_allowed(expression: str, allowed: Iterable[str]) -> bool:
    """Tell whether an SPDX expression asks for allowed licences only."""
    known = set(allowed)
    bare = expression.replace("(", " ").replace(")", " ")
    if "(" in expression and " OR " in expression and " AND " in expression:
        # Without working brackets out: every licence that is named must be allowed.
        return all(part.strip() in known for part in re.split(r" AND | OR ", bare))
    choices = [[part.strip() for part in one.split(" AND ")] for one in bare.split(" OR ")]
    return any(all(part in known for part in parts) for parts in choices)


def audit(path: Path, root: Path = ROOT) -> int:
    """Print what of the locks is affected by advisories; 1 if anything is."""
    packages = locked(sorted((root / "requirements").glob("*.lock")))
    try:
        affected, unread, n_read, newest = findings(packages, read_advisories(path))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        print(f"The advisories cannot be read ({type(error).__name__}): {path}", file=sys.stderr)
        return 2
    if not n_read:
        print(f"There is no advisory in {path}.", file=sys.stderr)
        return 2
    print(f"{n_read:,} advisories, the newest of {newest or 'a date that is not known'}.")
    if unread:
        print(f"Not understood, so that nothing is known from them: {', '.join(unread[:20])}")
    for line in affected:
        print(line)
    n = len(packages)
    print(f"{len(affected)} findings among {n} locked versions.")
    return 1 if affected or unread else 0


def licences(root: Path = ROOT) -> int:
    """Print the licence of everything in the run-time locks; 1 if one is not allowed or not known."""
    with (root / "requirements/licences.toml").open("rb") as file:
        rules = tomllib.load(file)
    locks = [root / "requirements" / name for name in ("run.lock", "web.lock")]
    names = sorted({one.name for one in locked(lock for lock in locks if lock.is_file())})
    bad = 0
    for name in names:
        expression = licence_of(name, rules["written"])
        fine = bool(expression) and is_allowed(expression, rules["allowed"])
        bad += not fine
        print(f"{name:24} {expression or 'not known'}{'' if fine else '   <- not allowed'}")
    print(f"{len(names)} packages, {bad} without an allowed licence.")
    return 1 if bad else 0


def main(arguments: list[str]) -> int:
    """Run a chore by name."""
    match arguments:
        case ["advisories", path]:
            return audit(Path(path))
        case ["licences"]:
            return licences()
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
