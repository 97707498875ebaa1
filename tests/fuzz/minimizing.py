"""The smallest case that still fails in the same way, as far as a few tries find it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.fuzz.case import Case
from tests.fuzz.running import run_case

_TRIES = 150


def minimized(case: Case, fault: str) -> Case:
    """Return a case with as little in it as possible and the same fault."""
    n_tries = 0
    found = True
    while found and n_tries < _TRIES:
        found = False
        for smaller in _smaller(case):
            n_tries += 1
            if run_case(smaller).fault == fault:
                case, found = smaller, True
                break
            if n_tries >= _TRIES:
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for place in range(3, len(case.arguments)):
        for length in (2, 1):
            rest = (*case.arguments[:place], *case.arguments[place + length :])
            if len(rest) < len(case.arguments):
                yield replace(case, arguments=rest)
    for name in case.files:
        if len(case.files) > 1:
            yield replace(case, files={k: v for k, v in case.files.items() if k != name})
    for name, content in case.files.items():
        if b"\n" not in content or name.endswith((".parquet", ".gk", ".sav", ".dta")):
            continue
        lines = content.splitlines(keepends=True)
        for size in (max(len(lines) // 2, 1), 1):
            for start in range(0, len(lines), size):
                if size < len(lines):
                    yield case.with_file(name, b"".join(lines[:start] + lines[start + size :]))
