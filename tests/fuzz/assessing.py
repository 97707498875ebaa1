"""Files of records: looked at, assessed, attacked, and the values of one that fit a scenario."""

from __future__ import annotations

import json
from random import Random

from tests.fuzz.case import Case
from tests.fuzz.ingredients import CANARY, data_file, maybe, people, text_of, world_files
from tests.fuzz.mutating import WORDS, cells, leaves
from tests.given.microdata import OF_SCENARIO, SCENARIO

_RISK_OPTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "keys": (("--sensitive", "place"),),
    "suda": (
        ("--max-size", "2"), ("--explain", "1"), ("--no-listing",), ("--workers", "1"),
        ("--report", "{place}/o.html"), ("--records", "{place}/o.csv"), ("--rank-by", "is"),
    ),
    "dis": (("--method", "special"), ("--rounds", "20"), ("--removed", "2")),
    "match": (("--r", "2"),),
    "special": (("--rounds", "2"), ("--special-size", "1")),
    "measures": (
        ("--household", "id"), ("--sensitive", "place"), ("--ordered", "age"), ("--dimension", "2"),
        ("--unsafe-below", "3"), ("--threshold", "0.1"), ("--recursive", "2"), ("--max-cells", "4"),
        ("--records", "{place}/o.csv"),
    ),
}  # fmt: skip


_RECODES = (
    "age=0-40, 41+", "age=top 60", "age=bottom 20, top 60", "age=width 10", "age=width 0",
    "age=neighbours 2", "place=first 1", "place=any: North | South", "sex=together", "age=",
    "age=level 1", "sex=as Bank", "nobody=together", "age=9-1", "place=a: North; b: North",
)  # fmt: skip


def _common(random: Random) -> list[tuple[str, ...]]:
    """Return some options that every command on a file of records takes; few of them are wrong."""
    right: list[tuple[str, ...]] = [
        ("--weight", "w"), ("--fraction", random.choice(("10%", "1/2"))), ("--missing", "ignore"),
        ("--missing", "wildcard"), ("--missing", "exclude"), ("--missing-value", "34"),
        ("--format", random.choice(("json", "csv"))), ("--no-records",),
        ("--recode", random.choice(_RECODES[:8])), ("--recode", "sex=together"),
    ]  # fmt: skip
    doubtful: list[tuple[str, ...]] = [
        ("--missing-value", random.choice(WORDS)), ("--strata", "place"), ("--decimal", ","),
        ("--encoding", random.choice(("utf-8", "cp1252", "utf-16", "punycode", "utf-7"))),
        ("--delimiter", ";"), ("--recode", random.choice(_RECODES)), ("--no-header",),
        ("--sheet", random.choice(("people", "x"))),
    ]  # fmt: skip
    return [*random.sample(right, 4), *random.sample(doubtful, 1)]


def risk_case(random: Random) -> Case:
    """One attack on a file."""
    name, content = data_file(random, people(random, random.choice((0, 1, 2, 6, 12, 12, 12, 30))))
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
    return Case(
        f"risk-{command}",
        tuple(maybe(random, arguments, *_RISK_OPTIONS[command], *_common(random))),
        {name: content},
    )


def values_case(random: Random) -> Case:
    """A file with a scenario, and what its values mean."""
    files = {name: content for name, content in world_files().items() if name.startswith("w/")}
    people = OF_SCENARIO.replace("divorced", CANARY).encode()
    values = text_of(
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
    return Case(f"values-{command}", tuple(maybe(random, arguments, *more)), files)


_CRITERIA = (
    "k_anonymity", "share_of_uniques", "highest_risk", "average_risk", "individual_risk",
    "global_risk", "household_risk", "average_match", "population_uniques", "right_matches",
    "unique_match", "unsafe_combinations", "l_diversity", "t_closeness", "one_sensitive_value",
)  # fmt: skip


def _policy(random: Random) -> bytes:
    chosen = random.sample(_CRITERIA, random.randint(0, 5))
    limits = {name: random.choice((0, 0.05, 0.5, 1, 2, 3, 5)) for name in chosen}
    made = {"policy": "ours", "criteria": {
        name: {"limit": limit, "source": "x"} if random.random() < 0.3 else limit
        for name, limit in limits.items()
    }}  # fmt: skip
    content = json.dumps(made).encode()
    return leaves(random, content) if random.random() < 0.4 else content


def assess_case(random: Random) -> Case:
    """A file assessed as a whole, with a policy or without."""
    # Seldom enough records for models, which take their time.
    n_records = random.choice((0, 1, 2, 6, 12, 12, 30, 30, 1_100))
    name, content = data_file(random, people(random, n_records))
    arguments = ["assess", f"{{place}}/{name}", "--keys", random.choice(("age,sex", "sex,place"))]
    if random.random() < 0.5:
        arguments += ["--policy", "{place}/policy.json"]
    own = (
        ("--policy", random.choice(("k2", "k5", "ema", "hdx", "nobody"))), ("--household", "id"),
        ("--sensitive", "place"), ("--sensitive", "w"), ("--explain", "1"), ("--id", "id"),
        ("--report", "{place}/o.html"), ("--records", "{place}/o.csv"),
        ("--records", "{place}/o.xlsx"), ("--plot", "{place}/o.svg"), ("--max-size", "1"),
        ("--method", random.choice(("greedy", "annealing", "x"))), ("--report-for", "external"),
    )  # fmt: skip
    files = {name: content, "policy.json": _policy(random)}
    return Case("assess", tuple(maybe(random, arguments, *own, *_common(random))), files)


def look_case(random: Random) -> Case:
    """A first look at a file."""
    name, content = data_file(random, people(random, random.choice((0, 1, 6, 30))))
    files = {name: content}
    arguments = ["look", f"{{place}}/{name}"]
    if random.random() < 0.15:
        files |= {path: made for path, made in world_files().items() if path.startswith("w/")}
        arguments += ["--scenario", SCENARIO, "--environment", "{place}/w"]
    more = [pair for pair in _common(random) if pair[0] in _OF_LOOKS]
    # With --values the values are what is asked for.
    return Case("look", tuple(maybe(random, arguments, *more)), files)


_OF_LOOKS = (
    "--missing-value", "--encoding", "--decimal", "--delimiter", "--format", "--no-header",
    "--sheet", "--no-records",
)  # fmt: skip
