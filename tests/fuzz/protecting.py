"""Protection of files, what is kept of it, tables to be published, and sheets that say what they are not."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random

from typer.testing import CliRunner

from gamekeeper.cli.app import app
from gamekeeper.store import study
from gamekeeper.store.study import Study
from tests.fuzz.case import Case
from tests.fuzz.ingredients import data_file, maybe, people, text_of, world_files
from tests.fuzz.mutating import cells, leaves, some_bytes
from tests.given.hostile import SPELLINGS, far_apart, repeated, rows_of, xlsx

_TARGETS = ("both>=2", "both>=3", "own>=2", "(k,1)>=3", "own>=3", "both>=4")
_ODD_TARGETS = ("(1,k)>=2", "both>=0", "own>=99", "x")
_KEYS = ("age,sex", "sex,place", "age,sex,place")
_STEPS = (
    "suppress k=2", "search recoding k=2", "noise variables=w", "sample fraction=1/2",
    "microaggregate variables=w", "pram variables=sex", "rank swap variables=w",
    "tail code variable=w top=9",
)  # fmt: skip


def _mostly(random: Random, right: tuple[str, ...], odd: tuple[str, ...]) -> str:
    return random.choice(right if random.random() < 0.96 else odd)


def _records(random: Random, sizes: tuple[int, ...] = (6, 12, 30)) -> tuple[str, bytes]:
    """Return a file of records; most are as they should be, but for a cell."""
    frame = people(random, random.choice(sizes if random.random() < 0.95 else (0, 1, 2)))
    if random.random() < 0.1:
        return data_file(random, frame)
    content = frame.to_csv(index=False).encode()
    return "d.csv", cells(random, content) if random.random() < 0.1 else content


def try_case(random: Random) -> Case:
    """Candidates for a target."""
    name, content = _records(random)
    keys = random.choice(_KEYS)
    arguments = [
        "protect", "try", f"{{place}}/{name}", "--keys", keys, "--target",
        _mostly(random, _TARGETS, _ODD_TARGETS), "--seed", "1", "--workers", "1",
    ]  # fmt: skip
    more = (
        ("--method", random.choice(("suppress", "recode", "both"))), ("--pin", "sex"),
        ("--cost", _mostly(random, ("age=3",), ("age=0", "sex=3"))), ("--household", "id"),
        ("--sensitive", _mostly(random, ("w",), ("place",))), ("--weight", "w"),
        ("--fraction", "1/2"), ("--keep", _mostly(random, ("sex: f",), ("1", "age: 34"))),
        ("--missing", _mostly(random, ("ignore", "wildcard"), ("exclude",))), ("--max-work", "100"),
        ("--recipe", "{place}/r.json"), ("--study", "{place}/s.gkp"), ("--plot", "{place}/o.svg"),
        ("--step", _mostly(random, _STEPS, ("suppress", "noise", "x"))),
        ("--format", random.choice(("json", "csv"))),
    )  # fmt: skip
    return Case("trials", tuple(maybe(random, arguments, *more)), {name: content})


def protected_audit_case(random: Random) -> Case:
    """A release beside its original: bands, missing cells, rows in another order."""
    frame = people(random, random.choice((2, 6, 12, 30)))
    released = frame.astype({"age": object})
    for at in released.index:
        age = int(frame.loc[at, "age"])
        released.loc[at, "age"] = random.choice((age, f"{age - 2}-{age + 2}", f"{age}+", "", "*"))
    if random.random() < 0.3:
        released = released.sample(frac=1, random_state=random.randrange(99))
    files = {
        "a.csv": frame.to_csv(index=False).encode(),
        "b.csv": released.to_csv(index=False).encode(),
    }
    for name in files:
        for _ in range(random.choice((0, 0, 0, 0, 0, 1, 2))):
            files[name] = cells(random, files[name])
    keys = random.choice(_KEYS)
    way = random.choice((("--same-order",), ("--id", "id"), ("--unlinked",)))
    arguments = [
        "protect", "audit", "{place}/a.csv", "{place}/b.csv", "--keys", keys, *way,
        "--workers", "1",
    ]  # fmt: skip
    more = (
        ("--target", _mostly(random, _TARGETS, _ODD_TARGETS)), ("--sensitive", "w"),
        ("--sensitive", "w" if "place" in keys else "place"),
        ("--suppressed-value", "*"), ("--household", "id"), ("--missing", "wildcard"),
        ("--report", "{place}/o.html"), ("--output", "{place}/o.csv"), ("--format", "json"),
    )  # fmt: skip
    return Case("released", tuple(maybe(random, arguments, *more)), files)


@cache
def _kept() -> dict[str, bytes]:
    """Return a file, the recipe and the study of its protection, and that study with a choice."""
    content = people(Random(1), 24).to_csv(index=False).encode()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "p.csv").write_bytes(content)
        asked = ("protect", "try", f"{folder}/p.csv", "--keys", "age,sex", "--target", "both>=3")
        kept = ("--recipe", f"{folder}/r.json", "--study", f"{folder}/s.gkp")
        told = CliRunner().invoke(app, [*asked, *kept, "--seed", "1", "--workers", "1"])
        assert told.exit_code == 0, told.output
        made = {path.name: path.read_bytes() for path in sorted(place.iterdir())}
        Study.open(place / "s.gkp").choose(1)
        return {**made, "chosen.gkp": (place / "s.gkp").read_bytes()}


def recipe_case(random: Random) -> Case:
    """A recipe that was bent in a place, applied; most have no checksum, which is checked first."""
    files = {name: _kept()[name] for name in ("p.csv", "r.json")}
    document = json.loads(files["r.json"])
    if random.random() < 0.9:
        document.pop("checksum", None)
    # Mostly what is below the first level: a recipe without its keys or its steps is no recipe.
    for _ in range(random.choice((0, 1, 1, 1))):
        inner = random.choice(("steps", "targets", "candidates", "journal", "seed", "output"))
        if random.random() < 0.1:
            document = json.loads(leaves(random, json.dumps(document).encode()))
        elif isinstance(document, dict) and inner in document:
            # Two levels below where there are so many: one below are lists and objects.
            outer = document[inner]
            at = random.randrange(len(outer)) if isinstance(outer, list) and outer else None
            if at is not None and isinstance(outer[at], dict):
                outer[at] = json.loads(leaves(random, json.dumps(outer[at]).encode()))
            elif isinstance(outer, int):
                document[inner] = outer + random.choice((1, -1, 2**31, 2**63))
            else:
                document[inner] = json.loads(leaves(random, json.dumps(outer).encode()))
    files["r.json"] = json.dumps(document).encode()
    if random.random() < 0.1:
        files["p.csv"] = cells(random, files["p.csv"])
    arguments = ["protect", random.choice(("apply", "replay")), "{place}/r.json", "{place}/p.csv"]
    arguments += ["--output", "{place}/o.csv", "--workers", "1"]
    more = (
        ("--public", "{place}/o.html"), ("--public-recipe", "{place}/o.json"), ("--keep-order",),
        ("--leave-out", "id"), ("--changes", "{place}/c.csv"), ("--suppressed", "code"),
    )  # fmt: skip
    return Case("recipes", tuple(maybe(random, arguments, *more)), files)


def _sealed(random: Random, content: bytes) -> bytes:
    """Return a study with a candidate that was bent in a place before it was sealed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.gkp")
        path.write_bytes(content)
        with closing(sqlite3.connect(path)) as connection, connection:
            rows = connection.execute("SELECT number, content FROM candidate").fetchall()
            number, text = random.choice(rows)
            bent = leaves(random, text.encode()).decode("utf-8", "replace")
            connection.execute("UPDATE candidate SET content=? WHERE number=?", (bent, number))
            study._seal(connection)
        return path.read_bytes()


def study_case(random: Random) -> Case:
    """A study that may be damaged, or was bent before it was sealed."""
    command, *rest = random.choice((("map",), ("undo",), ("choose", "1"), ("choose", "2")))
    is_chosen = random.random() < (0.9 if command == "undo" else 0.5)
    content = _kept()["chosen.gkp" if is_chosen else "s.gkp"]
    way = random.random()
    if way < 0.25:
        content = some_bytes(random, content)
    elif way < 0.75:
        content = _sealed(random, content)
    more = (("--recipe", "{place}/o.json"),) if command == "choose" else ()
    arguments = maybe(random, ["protect", command, "{place}/s.gkp", *rest], *more)
    return Case(f"studies-{command}", tuple(arguments), {"s.gkp": content})


def table_audit_case(random: Random) -> Case:
    """A table with totals and hidden cells, as it is to be published; most have totals that fit."""
    places, ages = ("North", "South", "West")[: random.randint(2, 3)], ("young", "old")
    inner = {(p, a): random.choice((0, 1, 2, 3, 5, 12)) for p in places for a in ages}
    # By a hierarchy, there are the sums of its inner categories as well.
    has_levels = random.random() < 0.25
    over = {"N": places[:1], "S": places[1:]} if has_levels else {}
    whole = {**{p: (p,) for p in places}, **over, "Total": places}
    counts = {
        (p, a): sum(inner[part, age] for part in own for age in (ages if a == "Total" else (a,)))
        for p, own in whole.items()
        for a in (*ages, "Total")
    }
    mark = random.choice(("*", "<5", "1-4", "x", ""))
    # What is hidden is small, as the words for it say; now and then something else is.
    hidden = {at for at, n in counts.items() if 0 < n < 5 and random.random() < 0.7}
    hidden |= {at for at in counts if random.random() < (0.1 if mark in ("*", "x", "") else 0.01)}
    rows: list[list[object]] = [["A", "B", "n"]]
    rows += [[*at, mark if at in hidden else n] for at, n in counts.items()]
    tree = [["level0", "level1"], *([p, top] for top, own in over.items() for p in own)]
    files = {"t.csv": text_of(rows), "h.csv": text_of(tree)}
    for name in files:
        if random.random() < 0.15:
            files[name] = cells(random, files[name])
    more = (
        ("--rule", _mostly(random, ("exact", "exact", "minimum:3"), ("x",))),
        ("--hidden", mark or "*"), ("--disjoint", "B"), ("--total", "Total"),
        ("--absent", random.choice(("zero", "hidden", "error"))), ("--negative",),
        ("--tolerance", _mostly(random, ("0.5",), ("x",))), ("--count", "n"),
        ("--report", "{place}/o.html"), ("--format", "json"),
        # These are for tables of some kinds alone.
        *(one if random.random() < 0.3 else () for one in (
            ("--insiders",), ("--coalition", "2"), ("--within", "10"),
            ("--says", f"{mark or '*'}=1-4"),
        )),
    )  # fmt: skip
    asked = ["tables", "audit", "{place}/t.csv"]
    asked += ["--hierarchy", "A={place}/h.csv"] if has_levels else []
    return Case("audits", tuple(maybe(random, asked, *filter(None, more))), files)


def mark_case(random: Random) -> Case:
    """Records of which a table is to be published."""
    name, content = _records(random)
    rules = ("minimum:3", "records:3", "minimum:1", "dominance:1:80", "p:10")
    axes = random.choice(_KEYS)
    value = random.choice(("w", "w" if "age" in axes else "age"))
    arguments = [
        "tables", "mark", f"{{place}}/{name}", "--axes", axes, "--rule",
        _mostly(random, rules, ("x",)),
    ]  # fmt: skip
    others = [name for name in ("age", "w", "id", "place") if name not in axes and name != value]
    free = random.choice(others)
    one = random.choice(("--holding", "--request", "--weight", "--shadow"))
    numeric = free in ("age", "w") or one in ("--holding", "--request")
    more = (
        ("--value", value), *(((one, free),) if numeric else ()), ("--total", "All"),
        ("--holding", _mostly(random, ("id",), ("sex",))) if free != "id" else ("--top", "2"),
        ("--structural-zero", "sex=f"), ("--top", "1"), ("--output", "{place}/o.csv"),
        *((("--hierarchy", "place={place}/h.csv"),) if "place" in axes else ()),
        ("--format", random.choice(("json", "csv"))),
    )  # fmt: skip
    files = {name: content, "h.csv": b"level0,level1\nNorth,Land\nSouth,Land\nQZCANARY,Sea\n"}
    return Case("marks", tuple(maybe(random, arguments, *more)), files)


_QUESTIONS = (
    ("type", "name", "label"),
    ("integer", "age", "How old?"),
    ("text", "job", "What job?"),
)


def sheet_case(random: Random) -> Case:
    """A workbook that says of itself what it is not: most can be opened, and are larger than their size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.xlsx")
        row, column = random.choice((4, 40, 1_200)), random.choice(("C", "AZ", "XFD"))
        if random.random() < 0.1:
            row, column = 1_048_576, "XFD"
        # So many columns, of so many rows, are looked at for a minute.
        row = 4 if (row, column) == (1_200, "XFD") else row
        if random.random() < 0.25:
            columns = random.choice((2, 60, 16_384))
            path = repeated(
                path.with_suffix(".ods"), 3 if columns > 60 else row, columns, before=_QUESTIONS
            )
        elif random.random() < 0.4:
            far_apart(path, f"{column}{row}", random.choice(list(SPELLINGS)), before=_QUESTIONS)
        else:
            kind, cell = (
                _mostly(random, ("", ' t="str"', ' t="b"'), (' t="s"', ' t="e"')),
                _mostly(random, ("C4", "AZ4"), ("4C",)),
            )
            value = random.choice(("1", "-1", "1e309", "99999999999", "x", ""))
            if kind == ' t="b"':
                value = random.choice("01")
            elif kind == "" and random.random() < 0.8:
                value = random.choice(("1", "-1", "1e300"))
            one = f'{rows_of(_QUESTIONS)}<row r="4"><c r="{cell}"{kind}><v>{value}</v></c></row>'
            xlsx(path, one, sheet=random.choice(("survey", "survey", "x")))
        content = path.read_bytes()
        if random.random() < 0.12:
            content = some_bytes(random, content)
    file = f"{{place}}/{path.name}"
    asked = random.choice((("look", file), ("form", "import", "{place}/w.gk", file)))
    if path.suffix == ".ods":
        asked = ("form", "import", "{place}/w.gk", file)
    files = {path.name: content, "w.gk": world_files()["w.gk"]}
    return Case("sheets", tuple(maybe(random, [*asked], ("--format", "json"))), files)
