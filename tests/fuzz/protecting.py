"""Protection of files, what is kept of it, tables to be published, and sheets that say what they are not."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from typer.testing import CliRunner

from gamekeeper.cli.app import app
from tests.fuzz.case import Case
from tests.fuzz.ingredients import data_file, maybe, people, text_of, world_files
from tests.fuzz.mutating import cells, leaves, some_bytes
from tests.given.hostile import SPELLINGS, far_apart, repeated, xlsx

_TARGETS = (
    "both>=2", "both>=3", "own>=2", "(1,k)>=2", "(k,1)>=3", "own>=3", "both>=0", "x",
)  # fmt: skip
_KEYS = ("age,sex", "sex,place", "age,sex,place")


def try_case(random: Random) -> Case:
    """Candidates for a target."""
    name, content = data_file(random, people(random, random.choice((0, 1, 2, 6, 12, 30))))
    target = random.choice(_TARGETS[: random.choice((4, 6, 8))])
    arguments = [
        "protect", "try", f"{{place}}/{name}", "--keys", random.choice(_KEYS), "--target", target,
        "--seed", "1", "--workers", "1",
    ]  # fmt: skip
    more = (
        ("--method", random.choice(("suppress", "recode", "both"))), ("--pin", "sex"),
        ("--cost", random.choice(("sex=3", "sex=0", "sex=-1"))), ("--household", "id"),
        ("--sensitive", "place"), ("--weight", "w"), ("--fraction", "1/2"), ("--keep", "1"),
        ("--missing", random.choice(("ignore", "wildcard", "exclude"))), ("--max-work", "100"),
        ("--recipe", "{place}/r.json"), ("--study", "{place}/s.gkp"), ("--plot", "{place}/o.svg"),
        ("--step", random.choice(("suppress", "noise", "x"))),
        ("--format", random.choice(("json", "csv"))),
    )  # fmt: skip
    return Case("trials", tuple(maybe(random, arguments, *more)), {name: content})


def protected_audit_case(random: Random) -> Case:
    """A release beside its original: bands, missing cells, rows in another order."""
    frame = people(random, random.choice((1, 2, 6, 12, 30)))
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
        for _ in range(random.choice((0, 0, 1, 2))):
            files[name] = cells(random, files[name])
    way = random.choice((("--same-order",), ("--id", "id"), ("--unlinked",)))
    arguments = [
        "protect", "audit", "{place}/a.csv", "{place}/b.csv", "--keys", random.choice(_KEYS), *way,
        "--workers", "1",
    ]  # fmt: skip
    more = (
        ("--target", random.choice(_TARGETS)), ("--sensitive", "w"), ("--sensitive", "place"),
        ("--suppressed-value", "*"), ("--household", "id"), ("--missing", "wildcard"),
        ("--report", "{place}/o.html"), ("--output", "{place}/o.csv"), ("--format", "json"),
    )  # fmt: skip
    return Case("released", tuple(maybe(random, arguments, *more)), files)


@cache
def _kept() -> dict[str, bytes]:
    """Return a file, and the recipe and the study of its protection."""
    content = people(Random(1), 24).to_csv(index=False).encode()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "p.csv").write_bytes(content)
        asked = ("protect", "try", f"{folder}/p.csv", "--keys", "age,sex", "--target", "both>=3")
        kept = ("--recipe", f"{folder}/r.json", "--study", f"{folder}/s.gkp")
        told = CliRunner().invoke(app, [*asked, *kept, "--seed", "1", "--workers", "1"])
        assert told.exit_code == 0, told.output
        return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def recipe_case(random: Random) -> Case:
    """A recipe that was edited, applied; most have no checksum, which is checked first."""
    files = {name: _kept()[name] for name in ("p.csv", "r.json")}
    if random.random() < 0.8:
        document = json.loads(files["r.json"])
        document.pop("checksum", None)
        files["r.json"] = json.dumps(document).encode()
    for _ in range(random.choice((0, 1, 1, 2))):
        files["r.json"] = leaves(random, files["r.json"])
    if random.random() < 0.2:
        files["p.csv"] = cells(random, files["p.csv"])
    arguments = ["protect", random.choice(("apply", "replay")), "{place}/r.json", "{place}/p.csv"]
    arguments += ["--output", "{place}/o.csv", "--workers", "1"]
    more = (
        ("--public", "{place}/o.html"), ("--public-recipe", "{place}/o.json"), ("--keep-order",),
        ("--leave-out", "id"), ("--changes", "{place}/c.csv"), ("--suppressed", "code"),
    )  # fmt: skip
    return Case("recipes", tuple(maybe(random, arguments, *more)), files)


def study_case(random: Random) -> Case:
    """A study that may be damaged."""
    content = _kept()["s.gkp"]
    for _ in range(random.choice((0, 1, 1, 2))):
        content = some_bytes(random, content)
    looks = (("map",), ("undo",), ("choose", "1"), ("choose", "2"))
    command, *rest = random.choice(looks)
    more = (("--recipe", "{place}/o.json"),) if command == "choose" else ()
    arguments = maybe(random, ["protect", command, "{place}/s.gkp", *rest], *more)
    return Case(f"studies-{command}", tuple(arguments), {"s.gkp": content})


def table_audit_case(random: Random) -> Case:
    """A table with totals and hidden cells, as it is to be published."""
    places, ages = ("North", "South", "West")[: random.randint(2, 3)], ("young", "old")
    counts = {(p, a): random.choice((0, 1, 2, 3, 5, 12)) for p in places for a in ages}
    counts |= {("Total", a): sum(counts[p, a] for p in places) for a in ages}
    counts |= {(p, "Total"): sum(counts[p, a] for a in ages) for p in (*places, "Total")}
    mark = random.choice(("*", "<5", "1-4", "x", ""))
    rows: list[list[object]] = [["A", "B", "n"]]
    rows += [[p, a, mark if random.random() < 0.3 else n] for (p, a), n in counts.items()]
    files = {"t.csv": text_of(rows), "h.csv": b"level0,level1\nNorth,N\nSouth,S\nWest,S\n"}
    for name in files:
        for _ in range(random.choice((0, 0, 1))):
            files[name] = cells(random, files[name])
    rule = random.choice(("exact", "exact", "exact", "minimum:3", "x"))
    more = (
        ("--rule", rule), ("--hidden", mark or "*"), ("--says", f"{mark or '*'}=1-4"),
        ("--hierarchy", "A={place}/h.csv"), ("--disjoint", "B"), ("--total", "Total"),
        ("--absent", random.choice(("zero", "hidden", "error"))), ("--negative",),
        ("--insiders",), ("--coalition", "2"), ("--tolerance", random.choice(("0.5", "x"))),
        ("--within", "10"), ("--count", "n"), ("--report", "{place}/o.html"),
        ("--format", "json"),
    )  # fmt: skip
    return Case("audits", tuple(maybe(random, ["tables", "audit", "{place}/t.csv"], *more)), files)


def mark_case(random: Random) -> Case:
    """Records of which a table is to be published."""
    name, content = data_file(random, people(random, random.choice((0, 1, 6, 12, 30))))
    rule = random.choice(("minimum:3", "records:3", "minimum:1", "dominance:1:80", "x"))
    arguments = [
        "tables", "mark", f"{{place}}/{name}", "--axes", random.choice(_KEYS), "--rule", rule,
    ]  # fmt: skip
    more = (
        ("--value", "w"), ("--value", "age"), ("--weight", "w"), ("--holding", "id"),
        ("--shadow", "w"), ("--request", "sex"), ("--about", "sex"), ("--total", "All"),
        ("--structural-zero", "sex=f"), ("--hierarchy", "place={place}/h.csv"), ("--top", "1"),
        ("--output", "{place}/o.csv"), ("--format", random.choice(("json", "csv"))),
    )  # fmt: skip
    files = {name: content, "h.csv": b"level0,level1\nNorth,Land\nSouth,Land\nQZCANARY,Sea\n"}
    return Case("marks", tuple(maybe(random, arguments, *more)), files)


def sheet_case(random: Random) -> Case:
    """A workbook that says of itself what it is not: most can be opened, and are larger than their size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.xlsx")
        row, column = random.choice((3, 40, 1_200, 1_048_576)), random.choice(("C", "AZ"))
        # So many columns that are there, and not only said to be, are looked at for a minute.
        column = "XFD" if row > 1_200 else column
        if random.random() < 0.25:
            path = repeated(path.with_suffix(".ods"), row, random.choice((2, 60, 16_384)))
        elif random.random() < 0.4:
            far_apart(path, f"{column}{row}", random.choice(list(SPELLINGS)))
        else:
            kind, cell = (
                random.choice(("", ' t="s"', ' t="b"', ' t="e"')),
                random.choice(("C2", "AZ2", "2C")),
            )
            value = random.choice(("1", "-1", "1e309", "99999999999", "x", ""))
            one = f'<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="{cell}"{kind}>'
            xlsx(path, f"{one}<v>{value}</v></c></row>", sheet=random.choice(("survey", "x", " ")))
        content = path.read_bytes()
        if random.random() < 0.2:
            content = some_bytes(random, content)
    file = f"{{place}}/{path.name}"
    asked = random.choice((("look", file), ("form", "import", "{place}/w.gk", file)))
    if path.suffix == ".ods":
        asked = ("form", "import", "{place}/w.gk", file)
    files = {path.name: content, "w.gk": world_files()["w.gk"]}
    return Case("sheets", tuple(maybe(random, [*asked], ("--format", "json"))), files)
