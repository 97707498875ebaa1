"""A worker: a process that runs cases in itself, and tells of each."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection

from tests.fuzz.cases import case_of
from tests.fuzz.minimizing import minimized
from tests.fuzz.running import run_case


def work(pipe: Connection, seed: int, start: int, step: int) -> None:
    """Run every `step`-th case and tell of each when it begins and how it ends."""
    os.nice(10)
    number = start
    seen: set[str] = set()
    while True:
        pipe.send(("begins", number))
        case = case_of(seed, number)
        outcome = run_case(case)
        text = ""
        if outcome.fault and outcome.fault not in seen:
            seen.add(outcome.fault)
            small = case if outcome.fault in ("slow", "memory") else minimized(case, outcome.fault)
            text = small.to_json()
        pipe.send(("ended", number, case.kind, outcome.code, outcome.fault, outcome.told, text))
        number += step
