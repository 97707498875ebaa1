"""Stores with flipped, cut or overwritten bytes: what every command makes of them.

A test tries some; more at the prompt, by number and seed::

    python -m tests.store.database.damage 2500 1
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from gamekeeper.cli.app import main
from gamekeeper.mapping.edits import AddForm, AddGroup, RenameForm, SetMetadata
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.store.database.conftest import WHO, small_environment

OUR_FAULT = 1


@dataclass
class Outcome:
    """How many commands ended how, and every case that must not be."""

    ends: Counter[str] = field(default_factory=Counter[str])
    faults: list[str] = field(default_factory=list[str])


def command(*words: object) -> tuple[int, str]:
    """Run a command and return its exit code and what it printed."""
    before, printed, told = sys.argv, io.StringIO(), io.StringIO()
    sys.argv = ["gamekeeper", *map(str, words)]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
            main()
    except SystemExit as end:
        return (end.code if isinstance(end.code, int) else 0), printed.getvalue() + told.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("a command ends by leaving")


def make_store(path: Path) -> bytes:
    """Make a store with some history, and return its bytes."""
    with EnvironmentStore.create(path, small_environment(), who=WHO) as store:
        for number in range(12):
            form = AddForm(name=f"Form {number}", metadata={"sector": "bank", "year": number})
            store.apply([form], who=WHO, note="some words about it")
        store.apply([AddGroup(name="Young", where="year >= 6")], who=WHO)
        store.apply([RenameForm(form="Form 3", to="Form 33")], who=WHO)
        store.apply([SetMetadata(form="Form 5", values={"sector": "shop"})], who=WHO)
        store.undo(who=WHO)
    return path.read_bytes()


def spoilt(data: bytes, rng: Random) -> tuple[str, bytes]:
    """Return what was done to the bytes of a file, and the bytes then."""
    changed = bytearray(data)
    at = rng.randrange(len(data))
    if rng.random() < 0.6:
        # Pages are half empty; a letter in a text is what no database notices.
        texts = [place for place in range(len(data)) if 32 <= data[place] < 127]
        at = rng.choice(texts)
    match rng.randrange(4):
        case 0:
            changed[at] ^= 1 << rng.randrange(8)
            return f"flip a bit of byte {at}", bytes(changed)
        case 1:
            changed[at] = rng.choice([value for value in range(256) if value != data[at]])
            return f"change byte {at} to {changed[at]}", bytes(changed)
        case 2:
            length = min(len(data) - at, rng.choice([2, 16, 512, 4096]))
            changed[at : at + length] = rng.randbytes(length)
            return f"change {length} bytes from {at}", bytes(changed)
        case _:
            return f"cut after {at}", bytes(changed[:at])


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with what it holds."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def commands(store: Path, out: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield commands that read all there is, and one that writes."""
    yield "export", ("env", "export", store, out)
    yield "as it was", ("env", "export", store, out, "--as-of", 5)
    yield "list", ("form", "list", store, "--format", "json")
    yield "history", ("env", "history", store, "--format", "json")
    yield "undo", ("env", "undo", store, "--who", WHO)


def try_damage(number: int, seed: int) -> Outcome:
    """Spoil a store in so many ways, and run every command on each."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        store = root / "forms.gk"
        data = make_store(store)
        good = _results(root, data, data)
        assert {code for code, _ in good.values()} == {0}
        for case in range(number):
            what, changed = spoilt(data, Random(f"{seed} {case}"))
            for name, (code, told) in _results(root, changed, data).items():
                outcome.ends[f"{name}: exit {code}"] += 1
                if code not in (0, 2):
                    outcome.faults.append(f"{what}; {name} ended with {code}: {told!r:.300}")
                elif code == 0 and told != good[name][1]:
                    outcome.faults.append(f"{what}; {name} gave something else")
                elif code == 2 and isinstance(told, str) and "restore" not in told:
                    outcome.faults.append(f"{what}; {name} names no restore: {told:.300}")
    return outcome


def _results(root: Path, data: bytes, backup: bytes) -> dict[str, tuple[int, object]]:
    results: dict[str, tuple[int, object]] = {}
    for number in range(len(list(commands(root, root)))):
        # A file of its own for each: what is spoilt may leave a connection open.
        with tempfile.TemporaryDirectory(dir=root) as folder:
            store, out = Path(folder) / "forms.gk", Path(folder) / "out"
            name, words = list(commands(store, out))[number]
            store.write_bytes(data)
            # As after every edit: what is no store any more can be put back.
            store.with_name("forms.gk.backup").write_bytes(backup)
            code, printed = command(*words)
            told: object = printed.replace(folder, "FOLDER")
            if code == 0 and name != "list" and name != "history":
                told = files(out)
            results[name] = code, told
    return results


if __name__ == "__main__":
    tried = try_damage(int(sys.argv[1]), int(sys.argv[2]))
    for ended, times in sorted(tried.ends.items()):
        print(f"{times:7,}  {ended}")
    print(*tried.faults[:20], sep="\n")
    sys.exit(bool(tried.faults))
