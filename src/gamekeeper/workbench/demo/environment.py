"""The demo environment: invented forms of a country that does not exist.

Norland has banks, shops, councils, hospitals, surveys and employers, each with forms that ask
what such forms ask, in wordings that overlap as real ones do. Which questions a form asks is
drawn at random from what is usual in its sector, so one seed gives one environment. No name is
meant to be that of a real organisation, person or place.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.workbench.demo.norland import businesses, homes, people, public_services, work
from gamekeeper.workbench.demo.norland.plan import Plan
from gamekeeper.workbench.demo.norland.question import CENSUS
from gamekeeper.workbench.demo.norland.sectors import SECTORS, Sector

TARGET = "Census microdata 2031 (proposed release)"
"""The name of the target form."""

_FORMS = {**businesses.FORMS, **public_services.FORMS}
_QUESTIONS = (*people.QUESTIONS, *homes.QUESTIONS, *work.QUESTIONS)
_FIRST_YEAR, _LAST_YEAR = 2025, 2031

_GROUPS = (
    ("Banks and insurers", "What banks, building societies and insurers ask.",
     ("banks", "insurers")),
    ("Retail", "Loyalty cards and customer accounts of shops.", ("retail",)),
    ("Online services", "Streaming, dating, games and market places.", ("online services",)),
    ("Utilities", "Energy, water and telephone.", ("utilities",)),
    ("Public bodies", "Councils, agencies, registers and licences.",
     ("registers", "councils and agencies")),
    ("Health", "Health boards, hospitals and clinics.", ("health",)),
    ("Surveys", "Official surveys and market research.", ("official surveys", "market research")),
    ("Employers", "Job applications and staff records.", ("employers",)),
    ("Universities", "Admission to universities and colleges.", ("universities",)),
    ("Housing", "Housing associations.", ("housing",)),
    ("Charities", "Donors, members, volunteers and clients of charities.", ("charities",)),
)  # fmt: skip


def demo_environment(*, seed: int = 2026) -> Environment:
    """Return the demo environment of a seed.

    It has 98 forms of many sectors, groups of them, and the target `TARGET`, which has all of
    the 18 variables in detail. Two forms have an inconsistent categorization of one variable
    each, as forms sometimes have.

    Examples
    --------
    >>> environment = demo_environment()
    >>> environment
    Environment('Norland', 99 forms, 18 variables, 15 groups)
    """
    rng = Random(seed)
    forms = [_filled(sector, plan, rng) for sector, plans in _FORMS.items() for plan in plans]
    return Environment(
        [question.variable for question in _QUESTIONS],
        [*forms, _target()],
        _groups(),
        name="Norland",
        description="An invented data environment: forms of a country that does not exist.",
    )


def _filled(sector_name: str, plan: Plan, rng: Random) -> Form:
    sector = SECTORS[sector_name]
    instances: dict[str, tuple[str, ...]] = {}
    for question in _QUESTIONS:
        wording = _wording(question.name, sector, plan, rng)
        if wording:
            instances[question.name] = question.wordings[wording]
    years = _LAST_YEAR - _FIRST_YEAR + 1
    metadata = {
        "sector": sector_name,
        "kind": sector.kind,
        "organisation": plan.organisation,
        "form_type": _drawn(sector.media, rng),
        "year": _FIRST_YEAR + int(rng.random() * years),
        "population": plan.population,
        "area": plan.area,
    }
    return Form(f"{plan.organisation}, {plan.title}", instances, metadata)


def _wording(variable: str, sector: Sector, plan: Plan, rng: Random) -> str:
    """Return the wording in which a form asks a variable, empty where it does not ask it.

    Numbers are drawn even where the plan decides, so that a plan can change without effect on
    the forms after it.
    """
    share, weights = sector.asks.get(variable, (0.0, {}))
    asked = rng.random() < share
    drawn = _drawn(weights, rng)
    return plan.fixed.get(variable, drawn if asked else "")


def _drawn(weights: Mapping[str, int], rng: Random) -> str:
    """Draw by weight; only `random()` is used, which gives the same on every Python."""
    left = rng.random() * sum(weights.values())
    for name, weight in weights.items():
        left -= weight
        if left < 0:
            return name
    return ""


def _target() -> Form:
    return Form(
        TARGET,
        {question.name: question.wordings[CENSUS] for question in _QUESTIONS},
        {
            "sector": "official statistics",
            "kind": "public",
            "organisation": "Norland Statistics",
            "form_type": "online",
            "year": _LAST_YEAR,
            "population": "a sample of all residents",
            "area": "Norland",
        },
    )


def _listed(values: tuple[str, ...]) -> str:
    """Return values for a query; several words may hold one that queries know."""
    return ", ".join(f"'{value}'" if " " in value else value for value in values)


def _groups() -> list[Group]:
    # The target is no part of what is out there, so queries leave it out.
    rest = f'name != "{TARGET}"'
    return [
        *(
            Group(name, description=text, where=f"sector in ({_listed(sectors)})")
            for name, text, sectors in _GROUPS
        ),
        Group("Commercial", description="Every form of a business.", where="kind = commercial"),
        Group(
            "Public", description="Every form of a public body.", where=f"kind = public and {rest}"
        ),
        Group(
            "Everything online",
            description="Every form filled in online.",
            where=f"form_type = online and {rest}",
        ),
        Group(
            "Online and commercial",
            description="What businesses ask online.",
            intersection=("Commercial", "Everything online"),
        ),
    ]
