"""Cases by their number: most begin with input that is right and get past the first check."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from tests.fuzz.assessing import assess_case, look_case, risk_case, values_case
from tests.fuzz.case import Case
from tests.fuzz.ingredients import maybe, people, text_of, world_files
from tests.fuzz.instruments import classification_case, instrument_case
from tests.fuzz.mutating import cells, leaves, some_bytes
from tests.fuzz.protecting import (
    mark_case,
    protected_audit_case,
    recipe_case,
    sheet_case,
    study_case,
    table_audit_case,
    try_case,
)
from tests.given.microdata import PEOPLE, SCENARIO

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
    content = text_of(rows)
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
        tuple(maybe(random, arguments, *_TABLE_OPTIONS[command], *common, *formats)),
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
    return Case(f"release-{command}", tuple(maybe(random, arguments, *more)), {"r.json": content})


def _link_case(random: Random) -> Case:
    files: dict[str, bytes] = {}
    for name in ("a", "b"):
        content = people(random, random.choice((1, 3, 8))).to_csv(index=False).encode()
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
    return Case(f"link-{command}", tuple(maybe(random, arguments, *more)), files)


_LOOKS = (
    ("check", "{e}"), ("map", "{e}", "Bank"), ("form", "list", "{e}"), ("variable", "list", "{e}"),
    ("env", "show", "{e}"), ("scenario", "list", "{e}"), ("scenario", "review", "{e}", SCENARIO),
    ("graph", "{e}", "Age"), ("group", "list", "{e}"), ("scenario", "show", "{e}", SCENARIO),
)  # fmt: skip


def _environment_case(random: Random) -> Case:
    files = {name: content for name, content in world_files().items() if name.startswith("w/")}
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
        f"environment-{arguments[0]}", tuple(maybe(random, arguments, ("--format", "json"))), files
    )


def _store_case(random: Random) -> Case:
    content = world_files()["w.gk"]
    for _ in range(random.choice((0, 1, 1, 2))):
        content = some_bytes(random, content)
    looks = (
        *_LOOKS, ("env", "history", "{e}"), ("env", "undo", "{e}"), ("env", "backup", "{e}"),
        ("env", "export", "{e}", "{place}/out"), ("form", "remove", "{e}", "Bank"),
        ("env", "copy", "{e}", "{place}/copy.gk"),
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
        "edits", tuple(maybe(random, arguments, ("--unrestricted", "--yes"))),
        {"w.gk": world_files()["w.gk"], "e.json": content},
    )  # fmt: skip


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
    return Case("publish", tuple(maybe(random, arguments, *more)), {"p.csv": content})


KINDS: dict[str, Callable[[Random], Case]] = {
    "counts": _count_case,
    "releases": _release_case,
    "microdata": risk_case,
    "assessments": assess_case,
    "looks": look_case,
    "links": _link_case,
    "values": values_case,
    "instruments": instrument_case,
    "classifications": classification_case,
    "environments": _environment_case,
    "stores": _store_case,
    "edits": _edit_case,
    "publishing": _publish_case,
    "trials": try_case,
    "released": protected_audit_case,
    "recipes": recipe_case,
    "studies": study_case,
    "audits": table_audit_case,
    "marks": mark_case,
    "sheets": sheet_case,
}
