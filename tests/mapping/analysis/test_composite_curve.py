from __future__ import annotations

from itertools import combinations
from math import prod

from gamekeeper.mapping import Environment, Form, Variable, find_composite_keys, map_key_variables
from gamekeeper.report import build_mapping_report

AGE = Variable.of_bands("Age", ["0-15", "16-39", "40-64", "65+", "0-39", "40+"])
ROOMS = Variable.of_bands("Rooms", ["0-2", "3-4", "5+", "0-4"])
FINE = {"Age": ("0-15", "16-39", "40-64", "65+"), "Rooms": ("0-2", "3-4", "5+")}
SIZES = {
    "A": {"Age": 4, "Rooms": 3},
    "B": {"Age": 2, "Rooms": 3},
    "C": {"Age": 2, "Rooms": 2},
    "D": {"Age": 4},
}
LABELS = {
    ("Age", 4): FINE["Age"],
    ("Age", 2): ("0-39", "40+"),
    ("Rooms", 3): FINE["Rooms"],
    ("Rooms", 2): ("0-4", "5+"),
}
ENVIRONMENT = Environment(
    [AGE, ROOMS],
    [
        Form("Target", FINE),
        *(
            Form(name, {variable: LABELS[variable, n] for variable, n in asked.items()})
            for name, asked in SIZES.items()
        ),
    ],
)


def largest(n_forms: int) -> int:
    """The largest key that so many forms hold: here the codes nest, and the coarsest one counts."""
    sizes = [0]
    for chosen in combinations(SIZES.values(), n_forms):
        shared = set.intersection(*map(set, chosen))
        if shared:
            sizes.append(prod(min(asked[variable] for asked in chosen) for variable in shared))
    return max(sizes)


def test_the_curve_of_key_size_against_joint_prevalence():
    outcome = map_key_variables(ENVIRONMENT, "Target")
    keys = find_composite_keys(outcome, ENVIRONMENT)
    assert list(keys.curve.sizes) == [largest(n) for n in range(1, 5)]
    assert list(keys.curve.sizes) == [12, 6, 4, 2]
    page = build_mapping_report(outcome, ENVIRONMENT, keys)
    assert "Combinations of the largest key" in page
    assert "12 combinations up to" in page


def test_words_count_within_the_universe():
    adults = Form("Adults", {"Age": ("16-39", "40-64", "65+", "outside this form's universe")})
    environment = ENVIRONMENT.with_form(adults)
    page = build_mapping_report(map_key_variables(environment, "Adults"), environment)
    assert "All the detail that is released, 3 categories" in page
    everybody = map_key_variables(environment, "Adults", within_universe=False)
    assert "All the detail that is released, 4 categories" in build_mapping_report(
        everybody, environment
    )
