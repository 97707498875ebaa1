"""Cases by their number: most begin with input that is right and get past the first check."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat

from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.folder import write_environment
from tests.fuzz.case import Case
from tests.fuzz.mutating import OPTIONS, WORDS, cells, leaves, some_bytes
from tests.given.microdata import OF_SCENARIO, PEOPLE, SCENARIO, world

CANARY = "QZCANARY"
_SCHEMES = (
    "exact", "exact", "conventional:3", "conventional:5:up", "random:3", "random:5",
    "barnardization:0.8", "suppressed:3", "suppressed",
)  # fmt: skip


def case_of(seed: int, number: int) -> Case:
    """Return the case of a number: the same for the same seed."""
    random = Random(f"{seed}:{number}")
    names = list(KINDS)
    kind = random.choice(names)
    return KINDS[kind](random)


def _maybe(random: Random, arguments: list[str], *more: tuple[str, ...]) -> list[str]:
    """Return a command with some options, now and then one with a value that is wrong."""
    chosen = [one for one in more if random.random() < 0.15]
    made = [*arguments, *(text for one in chosen for text in one)]
    valued = [
        place for place, text in enumerate(made) if place and made[place - 1].startswith("--")
    ]
    if valued and random.random() < 0.12:
        made[random.choice(valued)] = random.choice((*OPTIONS, *WORDS[:30])) or "''"
    return made


def _text(rows: list[list[object]]) -> bytes:
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def _count_rows(random: Random, n_axes: int, scheme: str) -> list[list[object]]:
    shape = [random.randint(2, 3) for _ in range(n_axes)]
    names = [f"A{axis}" for axis in range(n_axes)]
    rows: list[list[object]] = [[*names, "n"]]
    table = np.array([random.choice((0, 0, 1, 2, 3, 5, 12)) for _ in range(int(np.prod(shape)))])
    table = table.reshape(shape)
    if scheme.startswith(("random", "conventional")):
        table = table * 15
    hidden = scheme.startswith("suppressed")
    if hidden:
        table = np.where(table > 2, table * 4, table)
    rows += [
        [*(f"c{k}" for k in place), "*" if hidden and 0 < table[place] < 3 else table[place]]
        for place in np.ndindex(*shape)
    ]
    if random.random() < 0.5 and n_axes > 1 and not hidden:
        for axis in range(n_axes if n_axes == 2 else 0):
            for k in range(shape[axis]):
                labels = ["Total"] * n_axes
                labels[axis] = f"c{k}"
                rows.append([*labels, table.take(k, axis).sum()])
        if random.random() < 0.7:
            rows.append([*(["Total"] * n_axes), table.sum()])
    return rows


def _counts(random: Random, content: bytes) -> bytes:
    """Return a table with another count, so that published sums may contradict each other."""
    lines = content.decode(errors="replace").splitlines()
    if not lines:
        return content
    where = random.randrange(1, len(lines)) if len(lines) > 1 else 0
    head, _, count = lines[where].rpartition(",")
    step = random.choice((15, 3, 1, 10**6, 10**12))
    # Python reads no number of more than 4,300 digits.
    is_number = count.isascii() and count.isdigit() and len(count) < 4_000
    lines[where] = f"{head},{int(count) + step if is_number else count}"
    return ("\n".join(lines) + "\n").encode()


_TABLE_OPTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "bounds": (
        ("--method", "integer"), ("--method", "shuttle"), ("--keep", "A0"), ("--top", "3"),
        ("--output", "{place}/out.csv"), ("--report", "{place}/out.html"), ("--plot", "{place}/o.svg"),
    ),
    "feasible": (
        ("--prior", "poisson"), ("--prior", "multinomial"), ("--draws", "50"), ("--list", "3"),
        ("--most", "100"),
    ),
    "infer": (("--about", "A0"), ("--max-conditions", "1"), ("--top", "5")),
    "sap": (
        ("--n", "0-3"), ("--draws", "50"), ("--within", "A0"), ("--method", "sampling"), ("--at", "2"),
    ),
}  # fmt: skip


def _count_case(random: Random) -> Case:
    scheme = random.choice(_SCHEMES)
    rows = _count_rows(random, random.choice((1, 2, 2, 3)), scheme)
    content = _text(rows)
    command = random.choice(list(_TABLE_OPTIONS))
    files = {"t.csv": content}
    for _ in range(random.choice((0, 0, 1, 2))):
        change = _counts if random.random() < 0.6 else cells
        files["t.csv"] = change(random, files["t.csv"])
    arguments = ["tables", command, "{place}/t.csv", "--scheme", scheme]
    if command == "sap":
        is_hidden = scheme.startswith("suppressed")
        files["truth.csv"] = content.replace(b",*", b",2") if is_hidden else content
        arguments += ["--truth", "{place}/truth.csv", "--draws", "50"]
    absent = ("--absent", random.choice(("zero", "hidden", "error")))
    common = (absent, ("--count", "n"), ("--disjoint", "A0"))
    if random.random() < 0.1:
        common = (*common, ("--axes", "A0"), ("--total", "All"))
    formats = (("--format", random.choice(("json", "csv"))),)
    return Case(
        f"counts-{command}",
        tuple(_maybe(random, arguments, *_TABLE_OPTIONS[command], *common, *formats)),
        files,
    )


def _release_case(random: Random) -> Case:
    n_axes = random.choice((1, 2, 2, 3, 4))
    shape = [random.randint(1, 3) for _ in range(n_axes)]
    table = np.array([random.choice((0, 0, 1, 3, 6, 15)) for _ in range(int(np.prod(shape)))])
    table = table.reshape(shape)
    names = [f"A{axis}" for axis in range(n_axes)]
    published = []
    for _ in range(random.choice((1, 2, 3))):
        kept = sorted(random.sample(range(n_axes), random.randint(0, n_axes)))
        summed = table.sum(axis=tuple(set(range(n_axes)) - set(kept)))
        published.append(
            {"margin": [names[axis] for axis in kept], "counts": np.asarray(summed).tolist(),
             "scheme": random.choice(_SCHEMES[:3] + _SCHEMES[4:5])}
        )  # fmt: skip
    from gamekeeper.data.tables.release import Release
    from gamekeeper.data.tables.release_file import write_release
    from gamekeeper.errors import GamekeeperError

    axes = {name: [f"c{k}" for k in range(n)] for name, n in zip(names, shape, strict=True)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.json")
        try:
            write_release(Release.typed(axes, published), path)
            content = path.read_bytes()
        except GamekeeperError:
            content = json.dumps({"axes": axes, "published": published}).encode()
    for _ in range(random.choice((0, 1, 1, 2))):
        content = leaves(random, content)
    if random.random() < 0.1:
        content = some_bytes(random, content)
    command = random.choice(("bounds", "feasible", "infer"))
    arguments = ["tables", command, "{place}/r.json"]
    more = (*_TABLE_OPTIONS[command], ("--format", "json"))
    return Case(f"release-{command}", tuple(_maybe(random, arguments, *more)), {"r.json": content})


def _people(random: Random, n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [random.choice((16, 34, 34, 52, 71)) for _ in range(n)],
            "sex": [random.choice(("f", "m")) for _ in range(n)],
            "place": [random.choice(("North", "South", CANARY)) for _ in range(n)],
            "w": [random.choice((1.0, 2.5, 10.0)) for _ in range(n)],
            "id": [f"p{k}" for k in range(n)],
        }
    )


def _file(random: Random, frame: pd.DataFrame) -> tuple[str, bytes]:
    """Return a data file of some kind, with faults in its cells or its bytes, or none."""
    ending = random.choice(("csv", "csv", "csv", "parquet", "sav", "dta"))
    if random.random() < 0.4 and len(frame):
        for _ in range(random.choice((1, 2, 6))):
            column = random.choice(list(frame.columns))
            frame[column] = frame[column].astype(object)
            frame.loc[random.randrange(len(frame)), column] = random.choice((None, *WORDS))
    if ending == "csv":
        content = frame.to_csv(index=False, sep=random.choice((",", ",", ";", "\t"))).encode(
            random.choice(("utf-8", "utf-8", "utf-8", "utf-16", "cp1252")), "replace"
        )
        if random.random() < 0.3:
            content = cells(random, content)
        if random.random() < 0.1:
            content = some_bytes(random, content)
        return "d.csv", content
    if ending == "parquet":
        out = io.BytesIO()
        table = pa.table({name: _typed(random, frame[name]) for name in frame.columns})
        pyarrow.parquet.write_table(table, out)
        content = out.getvalue()
    else:
        plain = frame.astype({"w": float, "age": float}, errors="ignore").astype(
            dict.fromkeys(("sex", "place", "id"), str)
        )
        for name in ("age", "w"):
            plain[name] = pd.to_numeric(plain[name], errors="coerce").clip(-1e30, 1e30)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, f"d.{ending}"))
            plain = plain.map(lambda cell: cell[:200] if isinstance(cell, str) else cell)
            write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
            write(plain, path)
            content = Path(path).read_bytes()
    if random.random() < 0.25:
        content = some_bytes(random, content)
    return f"d.{ending}", content


def _typed(random: Random, cells_: pd.Series) -> pa.Array:
    texts = [None if cell is None else str(cell) for cell in cells_]
    match random.randrange(8):
        case 0:
            ticks = [random.choice((0, 1, 2**62, -(2**62), None)) for _ in texts]
            return pa.array(ticks, pa.timestamp(random.choice(("ms", "us", "ns"))))
        case 1:
            return pa.array(texts, pa.string()).dictionary_encode()
        case 2:
            return pa.array([random.choice((0, 1, -(2**63), 2**63 - 1)) for _ in texts])
        case 3:
            return pa.array([random.choice((0.5, float("nan"), float("inf"), None)) for _ in texts])
        case 4:
            return pa.array([[1]] * len(texts))
        case _:
            return pa.array(texts, pa.large_string())


_RISK_OPTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "keys": (("--sensitive", "place"),),
    "suda": (
        ("--max-size", "2"), ("--explain", "1"), ("--no-listing",), ("--workers", "1"),
        ("--report", "{place}/o.html"), ("--records", "{place}/o.csv"), ("--rank-by", "is"),
    ),
    "dis": (("--method", "special"), ("--rounds", "20"), ("--removed", "2")),
    "match": (("--r", "2"),),
    "special": (("--rounds", "2"), ("--special-size", "1")),
}  # fmt: skip


def _risk_case(random: Random) -> Case:
    name, content = _file(random, _people(random, random.choice((0, 1, 2, 6, 12, 12, 12, 30))))
    command = random.choice(list(_RISK_OPTIONS))
    arguments = [
        "risk",
        command,
        f"{{place}}/{name}",
        "--keys",
        random.choice(("age,sex", "sex,place")),
    ]
    if command in ("dis", "match"):
        arguments += ["--fraction", random.choice(("10%", "1/2", "0.9"))]
    design = (
        ("--weight", "w"),
        ("--strata", "place"),
        ("--fraction", random.choice(("10%", "1/2"))),
    )
    reading = (
        ("--missing-value", random.choice(WORDS)), ("--missing", "ignore"), ("--missing", "wildcard"),
        ("--encoding", random.choice(("utf-8", "cp1252", "utf-16", "punycode", "utf-7"))),
        ("--decimal", ","), ("--delimiter", ";"), ("--format", random.choice(("json", "csv"))),
    )  # fmt: skip
    return Case(
        f"risk-{command}",
        tuple(_maybe(random, arguments, *_RISK_OPTIONS[command], *design, *reading)),
        {name: content},
    )


def _link_case(random: Random) -> Case:
    files: dict[str, bytes] = {}
    for name in ("a", "b"):
        content = _people(random, random.choice((1, 3, 8))).to_csv(index=False).encode()
        for _ in range(random.choice((0, 0, 1, 2))):
            content = cells(random, content)
        files[f"{name}.csv"] = content
    command = random.choice(("files", "files", "structure"))
    arguments = ["link", command, "{place}/a.csv", "{place}/b.csv"]
    if command == "structure":
        arguments += ["--columns", "age,w", "--others", "age,w"]
    if command == "files":
        arguments += ["--on", random.choice(("age,sex", "age,sex,place", "age,sex,w"))]
    more = (
        ("--id", "id"), ("--objective", "weighted"), ("--objective", "estimated"),
        ("--method", "greedy"), ("--block", "sex"), ("--window", "age=2"), ("--neighbours", "1"),
        ("--unlinked", "0.5"), ("--resamples", "2"), ("--kind", "age=ordinal"),
        ("--missing", "sex=ignore"), ("--weight", "age=2"), ("--format", "json"),
    )  # fmt: skip
    if command == "structure":
        more = (("--id", "id"), ("--restarts", "2"), ("--format", "json"))
    return Case(f"link-{command}", tuple(_maybe(random, arguments, *more)), files)


@cache
def _world() -> dict[str, bytes]:
    """Return the files of an environment, and of a store of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_environment(world(), place / "w")
        EnvironmentStore.create(place / "w.gk", world(), who="fuzz").close()
        return {
            str(path.relative_to(place)): path.read_bytes()
            for path in sorted(place.rglob("*"))
            if path.is_file()
        }


_LOOKS = (
    ("check", "{e}"), ("map", "{e}", "Bank"), ("form", "list", "{e}"), ("variable", "list", "{e}"),
    ("env", "show", "{e}"), ("scenario", "list", "{e}"), ("scenario", "review", "{e}", SCENARIO),
    ("graph", "{e}", "Age"), ("group", "list", "{e}"), ("scenario", "show", "{e}", SCENARIO),
)  # fmt: skip


def _environment_case(random: Random) -> Case:
    files = {name: content for name, content in _world().items() if name.startswith("w/")}
    for _ in range(random.choice((0, 1, 1, 2))):
        name = random.choice([name for name in files if name.endswith(".json")])
        change = some_bytes if random.random() < 0.1 else leaves
        try:
            files[name] = change(random, files[name])
        except ValueError:  # it was no JSON any more
            continue
    looks = (*_LOOKS, ("env", "import", "{e}", "{place}/new.gk"))
    arguments = [text.replace("{e}", "{place}/w") for text in random.choice(looks)]
    return Case(
        f"environment-{arguments[0]}", tuple(_maybe(random, arguments, ("--format", "json"))), files
    )


def _store_case(random: Random) -> Case:
    content = _world()["w.gk"]
    for _ in range(random.choice((0, 1, 1, 2))):
        content = some_bytes(random, content)
    looks = (
        *_LOOKS, ("env", "history", "{e}"), ("env", "undo", "{e}"), ("env", "backup", "{e}"),
        ("env", "export", "{e}", "{place}/out"), ("form", "remove", "{e}", "Bank"),
    )  # fmt: skip
    arguments = [text.replace("{e}", "{place}/w.gk") for text in random.choice(looks)]
    return Case(f"store-{arguments[1]}", tuple(arguments), {"w.gk": content})


_EDITS = (
    {"edit": "rename-variable", "variable": "Sex", "to": "Gender"},
    {"edit": "add-variable", "definition": {
        "name": "Tenure", "scale": "nominal",
        "categories": {"owns": [], "rents": ["from council", "from others"],
                       "from council": [], "from others": []}}},
    {"edit": "replace-variable", "variable": "Sex", "definition": {
        "name": "Sex", "scale": "nominal",
        "categories": {"female": [], "male": [], "anybody": ["female", "male"]}}},
    {"edit": "add-form", "name": "New", "metadata": {"year": 2031}, "variables": {"Sex": []}},
)  # fmt: skip


def _edit_case(random: Random) -> Case:
    content = json.dumps(random.sample(_EDITS, random.choice((1, 1, 2)))).encode()
    for _ in range(random.choice((0, 1, 1))):
        content = leaves(random, content)
    arguments = ["env", "edit", "{place}/w.gk", "{place}/e.json"]
    return Case(
        "edits", tuple(_maybe(random, arguments, ("--unrestricted", "--yes"))),
        {"w.gk": _world()["w.gk"], "e.json": content},
    )  # fmt: skip


def _values_case(random: Random) -> Case:
    """A file with a scenario, and what its values mean."""
    files = {name: content for name, content in _world().items() if name.startswith("w/")}
    people = OF_SCENARIO.replace("divorced", CANARY).encode()
    values = _text(
        [
            ["variable", "value", "category"],
            ["Marital status", CANARY, "formerly married"],
            ["Sex", "x", "male"],
        ]
    )
    for _ in range(random.choice((0, 0, 1))):
        people = cells(random, people)
    for _ in range(random.choice((0, 1, 1))):
        values = cells(random, values)
    files |= {"p.csv": people, "v.csv": values}
    command = random.choice(("keys", "suda", "special"))
    arguments = [
        "risk", command, "{place}/p.csv", "--scenario", SCENARIO, "--environment", "{place}/w",
    ]  # fmt: skip
    if random.random() < 0.8:
        arguments += ["--values", "{place}/v.csv"]
    more = (("--unmapped", "{place}/u.csv"), ("--column", "Marital status=marital_status"))
    return Case(f"values-{command}", tuple(_maybe(random, arguments, *more)), files)


def _publish_case(random: Random) -> Case:
    content = PEOPLE.encode()
    for _ in range(random.choice((0, 1, 1))):
        content = cells(random, content)
    arguments = [
        "tables", "release", "{place}/p.csv", "--keys", "Age,Sex", "--output", "{place}/r.json",
        "--scheme", random.choice(_SCHEMES),
    ]  # fmt: skip
    more = (
        ("--margin", "Age"),
        ("--margin", ""),
        ("--truth",),
        ("--seed", "3"),
        ("--missing", "exclude"),
    )
    return Case("publish", tuple(_maybe(random, arguments, *more)), {"p.csv": content})


KINDS: dict[str, Callable[[Random], Case]] = {
    "counts": _count_case,
    "releases": _release_case,
    "microdata": _risk_case,
    "links": _link_case,
    "values": _values_case,
    "environments": _environment_case,
    "stores": _store_case,
    "edits": _edit_case,
    "publishing": _publish_case,
}
