"""`python -m tests.fuzz --seconds 3600 --seed 1 --workers 2`: cases until the time is over.

Each worker is a process that runs cases in itself. The parent watches them: one that is at a case
for too long, or has grown too large, is ended, and its case is a finding. Findings are made smaller
and written to a folder; those that are worth keeping go to tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from hashlib import sha256
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tests.fuzz.cases import case_of
from tests.fuzz.running import MEMORY, SECONDS
from tests.fuzz.working import work

# Wall-clock time of a machine that others use as well.
_PATIENCE = 6 * SECONDS
_LARGEST = 3 * MEMORY


def main() -> int:
    """Fuzz for a while; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"))
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    workers: dict[Connection, tuple[multiprocessing.process.BaseProcess, int, float]] = {}
    codes: Counter[tuple[str, int]] = Counter()
    faults: Counter[str] = Counter()
    asked.findings.mkdir(parents=True, exist_ok=True)

    def start(first: int) -> None:
        ours, theirs = context.Pipe()
        process = context.Process(
            target=work, args=(theirs, asked.seed, first, asked.workers), daemon=True
        )
        process.start()
        workers[ours] = (process, first, time.monotonic())

    def found(fault: str, number: int, told: str, text: str) -> None:
        faults[fault] += 1
        if faults[fault] == 1 or text:
            name = sha256(fault.encode()).hexdigest()[:8]
            (asked.findings / f"{name}-{number}.json").write_text(
                text or case_of(asked.seed, number).to_json()
            )
            print(f"case {number} of seed {asked.seed}: {fault}\n{told[-600:]}", flush=True)

    for first in range(asked.workers):
        start(first)
    began = time.monotonic()
    try:
        while time.monotonic() - began < asked.seconds:
            for pipe in wait(list(workers), timeout=1):
                process, number, _ = workers[pipe]
                try:
                    kind, number, *rest = pipe.recv()
                except EOFError:
                    del workers[pipe]
                    found("the process ended", number, "", "")
                    start(number + asked.workers)
                    continue
                workers[pipe] = (process, number, time.monotonic())
                if kind == "ended":
                    name, code, fault, told, text = rest
                    codes[name.split("-")[0], code] += 1
                    if fault:
                        found(fault, number, told, text)
            for pipe, (process, number, since) in list(workers.items()):
                is_slow = time.monotonic() - since > _PATIENCE
                is_large = _size(process.pid) > _LARGEST
                if is_slow or is_large:
                    del workers[pipe]
                    process.kill()
                    found("does not end" if is_slow else "grows too large", number, "", "")
                    start(number + asked.workers)
    except KeyboardInterrupt:
        print(f"stopped after {time.monotonic() - began:.0f} of {asked.seconds:.0f} seconds")
    for process, *_ in workers.values():
        process.kill()
    for (name, code), n in sorted(codes.items()):
        print(f"{name:14} exit {code}: {n:,}")
    print("Cases that got past reading and checking (exit 0, 3 or 4):")
    for name in sorted({name for name, _ in codes}):
        own = {code: n for (kind, code), n in codes.items() if kind == name}
        past = sum(own.get(code, 0) for code in (0, 3, 4))
        print(f"{name:14} {past:,} of {sum(own.values()):,} ({past / sum(own.values()):.0%})")
    print(f"{sum(codes.values()):,} cases, {len(faults)} kinds of faults (seed {asked.seed}).")
    return 1 if faults else 0


def _size(pid: int | None) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
