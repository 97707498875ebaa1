"""The variables of the population of Norland and their categories."""

from __future__ import annotations

from gamekeeper.data.population.places import DISTRICTS

HOUSEHOLD = "Household"
"""The column with the number of the household; it is no variable of the census."""


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split("; "))


CATEGORIES: dict[str, tuple[str, ...]] = {
    "Age": (*(str(age) for age in range(90)), "90+"),
    "Sex": ("female", "male"),
    "Marital status": _listed(
        "never married; married; in a civil partnership; separated; divorced; widowed"
    ),
    "Country of birth": _listed(
        "Ardmoor; Breskland; Corvane; Karsund; Dessaly; Pelmark; Tarnovia; Sulana; Imbaru; "
        "Quendia; Jandara; Maranesh; Tosang; elsewhere"
    ),
    "Ethnic group": _listed(
        "Ardish; Bresk; Corvanian; Fenland Traveller; Karsundi; Tarnovian; other Vestrian; "
        "Sulanese; Imbarun; other Meridian; Jandaran; Maraneshi; Tosanese; other Islander; "
        "Norlandic and Meridian; Norlandic and Islander; other mixed; any other group"
    ),
    "Religion": _listed(
        "no religion; Christian; Muslim; Jewish; Hindu; Buddhist; another religion"
    ),
    "General health": _listed(
        "very good (of five); good (of five); fair; bad (of five); very poor"
    ),
    "Dependent children": ("0", "1", "2", "3", "4", "5+"),
    "Place of residence": DISTRICTS,
    "Tenure": _listed(
        "owned outright; owned with a mortgage; part owner; rented from council or association; "
        "rented privately; rent free"
    ),
    "Dwelling type": _listed(
        "detached; semi-detached; terraced; flat in a block; flat in a converted house; "
        "flat over a shop; mobile home"
    ),
    "Household size": ("1", "2", "3", "4", "5", "6", "7", "8+"),
    "Number of cars": ("0", "1", "2", "3", "4+"),
    "Economic activity": _listed(
        "full-time employee; part-time; student with a job; self-employed with staff; "
        "self-employed without staff; on a training scheme; unemployed; student without a job; "
        "retired; looking after home or family; long-term sick or disabled; "
        "inactive for other reasons; under 16"
    ),
    "Occupation": _listed(
        "senior managers; shop and site managers; doctors and nurses; teachers; "
        "scientists and engineers; lawyers and accountants; technicians; "
        "police and fire officers; artists and designers; clerks; secretaries; building trades; "
        "metal and electrical trades; farmers and gardeners; care workers; "
        "hairdressers and stewards; shop assistants; call centre agents; machine operatives; "
        "drivers; cleaners and porters; farm and factory hands; not in work"
    ),
    "Highest qualification": _listed(
        "still at school; none; basic certificate; school certificate; apprenticeship; "
        "upper school certificate; higher diploma; first degree; higher degree"
    ),
    "Income": (*(f"{low}-{low + 4_999}" for low in range(0, 100_000, 5_000)), "100000+"),
    "Travel to work": _listed(
        "works at home; on foot; bicycle; bus; tram or underground; train; taxi; motorcycle; "
        "car as driver; car, as passenger; other means; not in work"
    ),
}
"""The categories of each variable, in the order of its codes."""
