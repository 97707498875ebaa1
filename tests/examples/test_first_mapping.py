"""The corridor of stage one, end to end, on four forms: read this first."""

from __future__ import annotations

from fractions import Fraction

import gamekeeper as gk


def test_from_forms_to_key_variables():
    # A variable has one partition graph, whatever the forms offer.
    residence = gk.Variable(
        "Place of residence",
        gk.mapping.PartitionGraph(
            {
                "UK": ["Britain", "Northern Ireland"],
                "Britain": ["England", "Scotland", "Wales"],
                "not Britain": ["Northern Ireland", "not UK"],
            }
        ),
    )
    # A form offers categories of the graph; together they leave nothing out.
    forms = [
        gk.Form("Survey", {residence.name: ("England", "Scotland", "Wales", "not Britain")}),
        gk.Form("Club", {residence.name: ("UK", "not UK")}),
        gk.Form("Register", {residence.name: ()}),
        gk.Form("Release", {residence.name: ("Britain", "Northern Ireland", "not UK")}),
    ]
    environment = gk.Environment([residence], forms)
    assert [environment.code_of(form.name, residence.name) for form in forms] == [
        "C4.001",
        "C2.001",
        "C0.001",
        "C3.001",
    ]

    # Any one of the others: the register has full detail, so the release's own is matched.
    anyone = gk.map_key_variables(environment, "Release")
    assert anyone.variables[0].codes == ("C3.001",)

    # Two of three: with the club, UK against not UK; with the survey, Britain against not.
    two = gk.map_key_variables(environment, "Release", prevalence="2/3").variables[0]
    assert two.threshold == 2
    assert two.codes == ("C2.001", "H2.001")
    assert {item.categories for item in two.maximal} == {
        ("UK", "not UK"),
        ("Britain", "not Britain"),
    }

    # All three: nothing is left to match on.
    everyone = gk.map_key_variables(environment, "Release", prevalence=1).variables[0]
    assert everyone.maximal[0].categories == ("UK or not UK",)

    # Code size against prevalence, exactly, and the area that ranks variables.
    assert everyone.curve.sizes == (3, 2, 1)
    assert everyone.area == Fraction(3 + 3 + 2, 3)
