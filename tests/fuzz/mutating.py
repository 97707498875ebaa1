"""Small faults: in a cell of a table, a leaf of a document, a byte, an option."""

from __future__ import annotations

import csv
import io
import json
from random import Random
from typing import Any

WORDS = (
    "", " ", "0", "-1", "1", "1.5", "1,5", "1e309", "-1e-400", "nan", "inf", "NA", ".", "..", "*",
    "x", "c", "Total", "true", "null", "9" * 30, "9" * 5000, "-" * 40, "1/0", "0/1", "50%", "=1+1",
    "@", "a\tb", "a;b", "a,b", '"', "'", "\\", "<b>", "\u00ad", "\u202e", "e\u0301", "\ufeff",
    "\U0001f600", "0-15", "16+", "under 5", "2026-02-30", "9999-12-31", "0x10", "1_000", "١٢",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**63), 10**30, 0.5, 1e308, "", " ", "a", "Total", [],
    {}, [[]], [None], {"a": 1}, "exact", "random:3", "conventional:0", "suppressed:1", ["a", "a"],
    "\u00ad", "9" * 400,
)  # fmt: skip
OPTIONS = (
    "0",
    "-1",
    "1",
    "2",
    "1000000000000",
    "1e309",
    "nan",
    "",
    "x",
    "0.5",
    "100%",
    "1/3",
    "{}",
)


def cells(random: Random, content: bytes) -> bytes:
    """Return a table with a fault in a cell, a line or a column."""
    text = content.decode("utf-8", "replace")
    rows = [line.split(",") for line in text.splitlines()] or [[""]]
    where = random.randrange(len(rows))
    # Mostly cells: a table of another shape is refused at the first look.
    match random.randrange(24):
        case 0:
            del rows[where]
        case 1:
            rows.insert(where, list(rows[where]))
        case 2:
            rows = [row[:-1] for row in rows]
        case 3:
            rows[where] = [*rows[where], random.choice(WORDS)]
        case 4:
            rows = rows[:1] if random.random() < 0.3 else rows * 3
        case 5:
            random.shuffle(rows)
        case _:
            for _ in range(random.choice((1, 1, 2, 5))):
                # Seldom in the names of columns, without which nothing is looked at.
                row = random.choice(rows[1:] or rows) if random.random() < 0.9 else rows[0]
                if row:
                    row[random.randrange(len(row))] = random.choice(WORDS)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=random.choice(("\n", "\n", "\n", "\r\n")))
    writer.writerows(rows)
    return out.getvalue().encode("utf-8", "replace")


def leaves(random: Random, content: bytes) -> bytes:
    """Return a JSON document with a fault in a leaf, a list or a name."""
    document = json.loads(content)
    found: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in list(items):
            found.append((node, key))
            if isinstance(value, dict | list):
                walk(value)

    if isinstance(document, dict | list):
        walk(document)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if not found:
            break
        node, key = random.choice(found)
        try:
            _change(random, node, key)
        except (IndexError, KeyError):  # an earlier fault removed it
            continue
    return json.dumps(document, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def _change(random: Random, node: Any, key: Any) -> None:
    # Mostly a value of the same type: what a schema refuses is not looked at.
    match random.choice((0, 1, 2, 3, 3, 3, 4, 4, 4, 5)):
        case 0:
            del node[key]
        case 1 if isinstance(node, list):
            node.insert(key, node[key])
        case 2 if isinstance(node, dict):
            node[random.choice(WORDS)] = node.pop(key)
        case 3 if isinstance(node[key], int) and not isinstance(node[key], bool):
            node[key] += random.choice((-1, 1, 3, 100, -(10**9)))
        case 4 if isinstance(node[key], str):
            node[key] = random.choice((*WORDS, node[key] + " ", node[key].upper(), node[key][:-1]))
        case _:
            node[key] = random.choice(VALUES)


def some_bytes(random: Random, content: bytes) -> bytes:
    """Return bytes with some flipped, cut, doubled or zeroed."""
    made = bytearray(content)
    if not made:
        return b"\0"
    for _ in range(random.choice((1, 1, 3, 20))):
        where = random.randrange(len(made))
        match random.randrange(5):
            case 0:
                made[where] ^= 1 << random.randrange(8)
            case 1:
                made[where] = random.choice((0, 255, 0x80, 0x22, 0x0A))
            case 2:
                del made[where : where + random.choice((1, 8, 512))]
            case 3:
                made[where:where] = made[where : where + 16]
            case _:
                made[where : where + 64] = bytes(len(made[where : where + 64]))
        if not made:
            return b""
    return bytes(made)
