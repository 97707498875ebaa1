"""Protection with whatever may be asked of it: small files and any options get an answer, or one refusal."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import GamekeeperError, InputError
from gamekeeper.prompt_syntax import Missing
from gamekeeper.protection.plan import Candidate
from gamekeeper.workbench.protection.auditing import audit_release
from gamekeeper.workbench.protection.trying import microdata, read_candidate
from gamekeeper.workbench.requests.protection import AuditRequest
from gamekeeper.workbench.requests.records import MicrodataRequest
from tests.given.cases import cases
from tests.given.microdata import write

KEYS = ("u", "v", "w")
MISSING = ["category", "ignore", "wildcard"]
_SEARCHED = {"seconds": 0.2}


def small_file(random, keys, homes):
    """Return a few people; some keys have one value or none, and what homes share is theirs."""
    n = random.choice([1, 2, 3, 5, 8, 15])
    columns = {"home": [str(random.randint(1, max(1, n // 2))) for _ in range(n)]}
    for key in keys:
        values = random.choice(
            [[None], ["a"], *[["a", "b", "c", None], [*["18", "19", "24", "31"]]] * 4]
        )
        columns[key] = [random.choice(values) for _ in range(n)]
        if key in homes:
            first = dict(zip(columns["home"], columns[key], strict=True))
            columns[key] = [first[home] for home in columns["home"]]
    columns["born"] = [random.choice(["1980", "1981"]) for _ in range(n)]
    columns["s"] = [random.choice("xyz") for _ in range(n)]
    made = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    return pa.table({**made, "weight": [random.uniform(1, 9) for _ in range(n)]})


def some_options(random, keys, homes, n):
    """Return wishes as they may be asked, together or not, and other options."""
    pinned = random.sample(keys, random.randint(0, len(keys))) if random.random() < 0.5 else []
    free = [key for key in keys if key not in pinned or random.random() < 0.05]
    dear = random.random() < 0.5
    costs = {key: random.choice([0.5, 1, 3, 100]) for key in free if dear}
    wishes = {"pinned": pinned, "costs": costs, "household_variables": homes}
    if random.random() < 0.15:
        wishes["related"] = {"born": random.choice(keys)}
    others = {"missing": random.choice(MISSING), "sensitive": random.choice([[], ["s"]])}
    others |= {"household": "home"} if homes or random.random() < 0.1 else {}
    if random.random() < 0.3:
        others["weight"] = "weight"
        wishes["weighted"] = random.random() < 0.5
    criteria = [f"{name}>={min(n, k)}" for name in ("both", "(k,1)", "own") for k in (2, 3, 5)]
    shares = ["expected matches<=30%", "linkage<=40%", "policy=k3", "global_risk<=3%"]
    targets = random.sample(criteria, 1) + random.sample(shares, 1) * (random.random() < 0.3)
    if random.random() < 0.5:
        methods = random.sample(["suppress", "recode", "both"], random.randint(1, 2))
        return targets, (), others | wishes | _SEARCHED | {"methods": methods}
    return targets, some_steps(random, wishes, n), others


def some_steps(random, wishes, n):
    """Return a step or two, as they are typed in JSON."""
    rows_only = {"dimension": random.randint(1, 2), "max_is": random.choice([0, 3]), "thresholds": [2],
                 "above": "is>1"}  # fmt: skip
    steps = []
    for _ in range(random.choice([1, 1, 2])):
        k = min(max(n, 2), random.choice([2, 3, 5, 30]))
        criterion = random.choice(["both", "own", "released_to_people"])
        step = {"do": "suppress", "k": k, "criterion": criterion, **wishes}
        step["partial"] = random.random() < 0.7
        if criterion == "released_to_people" and random.random() < 0.4:
            name = random.choice(list(rows_only))
            step[name] = rows_only[name]
        other = {"do": random.choice(["search recoding", "recode and suppress"]), "k": k}
        steps.append(json.dumps(step if random.random() < 0.8 else other | _SEARCHED))
    return tuple(steps)


@pytest.mark.slow
@cases(500)
@given(st.randoms(use_true_random=False))
def test_whatever_is_asked_gets_an_answer_or_one_refusal(random):
    keys = KEYS[: random.randint(1, 3)]
    homes = random.sample(keys, random.randint(1, len(keys))) if random.random() < 0.2 else []
    people = small_file(random, keys, homes)
    targets, steps, others = some_options(random, keys, homes, len(people))
    # Whatever else is raised is a fault of ours.
    refused = None
    try:
        plan = microdata(
            people, keys=keys, targets=targets, steps=steps, seed=1, workers=1, **others
        )
    except GamekeeperError as error:
        refused = error
    if refused is not None:
        assert refused.found
        assert refused.do or refused.problems
        return
    assert plan.sentences()[0]
    assert len(plan.map.to_arrow()) == len(plan.candidates)
    best = plan.best
    assert best is None or not any(c.is_met and best.is_beaten_by(c) for c in plan.candidates)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("blank", [("v",), ("u", "v"), KEYS])
def test_a_key_that_is_suppressed_wholly_tells_nobody_from_anybody(tmp_path, blank, missing):
    rows = [
        ("a", "x", 1),
        ("a", "y", 1),
        ("b", "x", 2),
        ("b", "y", 2),
        ("b", "y", 3),
        ("a", "x", 3),
    ]
    left = [
        ["" if key in blank else cell for key, cell in zip(KEYS, row, strict=True)] for row in rows
    ]
    file, released = (
        write(tmp_path, name, "u,v,w\n" + "".join(",".join(map(str, row)) + "\n" for row in own))
        for name, own in (("people.csv", rows), ("released.csv", left))
    )
    found = audit_release(
        AuditRequest(
            microdata=MicrodataRequest(file=file, keys=KEYS, missing=Missing(missing)),
            released=released,
            same_order=True,
            targets=("policy=k3", "both>=2"),
        )
    ).found
    kept = [key for key in KEYS if key not in blank]
    classes = {tuple(row[KEYS.index(key)] for key in kept) for row in rows}
    assert found.after.expected == pytest.approx(len(classes))
    n_alone = found.after.summary()["one_candidate"]
    assert found.after.criteria["share_of_uniques"].interval.value == n_alone / 6
    # The same file, as the original: there is nothing to match on where nothing is told.
    again = microdata(
        released, keys=KEYS, targets="policy=k3", missing=missing, methods=["suppress"]
    )
    assert again.candidates[0].risk["people"] == 6


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", None), ("risk", "x"), ("risk", {"suppressed": 10**30}), ("risk", {"both": 1.5}),
        ("risk", {"right_share": "x"}), ("loss", {"share": []}), ("targets", ["x"]), ("told", [1]),
        ("is_met", "yes"), ("failed", 1), ("output", None),
    ],
)  # fmt: skip
def test_a_candidate_that_is_not_as_it_was_written_is_told(field, value):
    content = Candidate(1, 0, "nothing", ()).to_json()
    plain = json.loads(json.dumps(content))
    assert read_candidate(plain).label == "nothing"
    with pytest.raises(InputError) as caught:
        read_candidate({**plain, field: value})
    assert [problem.where for problem in caught.value.problems] == [f"field '{field}'"]
