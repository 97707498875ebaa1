"""Questions about work and means: activity, occupation, qualification, income, travel."""

from __future__ import annotations

from gamekeeper.mapping.variables.variable import OUTSIDE, Scale
from gamekeeper.workbench.demo.norland.question import ANY_DETAIL, CENSUS, Question, banded, worded

ECONOMIC_ACTIVITY = worded(
    "Economic activity",
    "full-time employee; part-time employee; pensioner with a part-time job; student with a job; "
    "self-employed with staff; self-employed without staff; on a training scheme; unemployed; "
    "student without a job; retired; looking after home or family; long-term sick or disabled; "
    "inactive for other reasons; under 16",
    {
        "part-time": "part-time employee; pensioner with a part-time job",
        "part-time or student job": "part-time; student with a job",
        "self-employed": "self-employed with staff; self-employed without staff",
        "in work": "full-time employee; part-time or student job; self-employed",
        "student": "student with a job; student without a job",
        "pensioner": "retired; pensioner with a part-time job",
        "seeking work": "unemployed; on a training scheme",
        "at home": "looking after home or family; long-term sick or disabled; "
        "inactive for other reasons",
        "not working": "seeking work; at home",
        "inactive": "student without a job; retired; at home",
        "no job": "seeking work; inactive",
    },
    {
        CENSUS: "full-time employee; part-time; student with a job; self-employed with staff; "
        "self-employed without staff; on a training scheme; unemployed; student without a job; "
        "retired; looking after home or family; long-term sick or disabled; "
        "inactive for other reasons; under 16",
        "customers": "full-time employee; part-time employee; self-employed; student; "
        f"pensioner; not working; {OUTSIDE}",
        "customers, long": "full-time employee; part-time employee; self-employed; student; "
        "pensioner; seeking work; looking after home or family; long-term sick or disabled; "
        f"inactive for other reasons; {OUTSIDE}",
        "labour market": f"in work; seeking work; inactive; {OUTSIDE}",
        "labour market, long": "full-time employee; part-time or student job; self-employed; "
        "seeking work; student without a job; retired; looking after home or family; "
        f"long-term sick or disabled; inactive for other reasons; {OUTSIDE}",
        "job or no job": f"in work; no job; {OUTSIDE}",
        "claimants": "full-time employee; part-time or student job; self-employed; seeking work; "
        f"inactive; {OUTSIDE}",
    },
    description="What a person mainly did last week; who is both student or pensioner and at "
    "work is placed differently by different forms.",
)

_MAJOR_GROUPS = (
    "managers; professionals; associate professionals; office staff; skilled trades; "
    "carers and leisure staff; sales staff; operatives; elementary occupations"
)

OCCUPATION = worded(
    "Occupation",
    "senior managers; shop and site managers; doctors and nurses; teachers; "
    "scientists and engineers; lawyers and accountants; technicians; police and fire officers; "
    "artists and designers; clerks; secretaries; building trades; metal and electrical trades; "
    "farmers and gardeners; care workers; hairdressers and stewards; shop assistants; "
    "call centre agents; machine operatives; drivers; cleaners and porters; "
    "farm and factory hands; not in work",
    {
        "managers": "senior managers; shop and site managers",
        "professionals": "doctors and nurses; teachers; scientists and engineers; "
        "lawyers and accountants",
        "associate professionals": "technicians; police and fire officers; artists and designers",
        "office staff": "clerks; secretaries",
        "skilled trades": "building trades; metal and electrical trades; farmers and gardeners",
        "carers and leisure staff": "care workers; hairdressers and stewards",
        "sales staff": "shop assistants; call centre agents",
        "operatives": "machine operatives; drivers",
        "elementary occupations": "cleaners and porters; farm and factory hands",
        "managers and professionals": "managers; professionals",
        "office and sales": "associate professionals; office staff; sales staff",
        "skilled manual": "skilled trades; drivers",
        "other manual": "carers and leisure staff; machine operatives; elementary occupations",
        "manual": "skilled trades; carers and leisure staff; operatives; elementary occupations",
    },
    {
        CENSUS: "senior managers; shop and site managers; doctors and nurses; teachers; "
        "scientists and engineers; lawyers and accountants; technicians; "
        "police and fire officers; artists and designers; clerks; secretaries; building trades; "
        "metal and electrical trades; farmers and gardeners; care workers; "
        "hairdressers and stewards; shop assistants; call centre agents; machine operatives; "
        "drivers; cleaners and porters; farm and factory hands; not in work",
        "job title": ANY_DETAIL,
        "major groups": f"{_MAJOR_GROUPS}; not in work",
        "major groups of workers": f"{_MAJOR_GROUPS}; {OUTSIDE}",
        "social grade": "managers and professionals; office and sales; skilled manual; "
        "other manual; not in work",
        "staff grade": "managers; professionals; associate professionals; office staff; "
        f"sales staff; manual; {OUTSIDE}",
        "white or blue collar": "managers and professionals; office and sales; manual; not in work",
    },
    description="Occupation in the main job.",
)

HIGHEST_QUALIFICATION = worded(
    "Highest qualification",
    "still at school; none; basic certificate; school certificate; apprenticeship; "
    "upper school certificate; higher diploma; first degree; master's degree; doctorate",
    {
        "certificate at 16": "basic certificate; school certificate",
        "certificate at 18 or trade": "apprenticeship; upper school certificate",
        "certificate at 16 or trade": "basic certificate; school certificate; apprenticeship",
        "higher degree": "master's degree; doctorate",
        "degree": "first degree; higher degree",
        "higher education": "higher diploma; degree",
        "none or basic": "none; basic certificate",
        "below degree": "none; certificate at 16; certificate at 18 or trade; higher diploma",
    },
    {
        CENSUS: "still at school; none; basic certificate; school certificate; apprenticeship; "
        "upper school certificate; higher diploma; first degree; higher degree",
        "recruiter": "none; certificate at 16 or trade; upper school certificate; "
        f"higher diploma; first degree; higher degree; {OUTSIDE}",
        "survey": "none; certificate at 16; certificate at 18 or trade; higher education; "
        f"{OUTSIDE}",
        "college": "none or basic; school certificate; certificate at 18 or trade; "
        f"higher diploma; first degree; master's degree; doctorate; {OUTSIDE}",
        "graduate or not": f"below degree; degree; {OUTSIDE}",
    },
    scale=Scale.ORDINAL,
    description="Highest qualification gained so far, from the lowest to the highest.",
)


def _equal_bands(width: int, number: int) -> str:
    steps = [f"{width * step}-{width * (step + 1) - 1}" for step in range(number)]
    return "; ".join([*steps, f"{width * number}+"])


INCOME = banded(
    "Income",
    {
        CENSUS: _equal_bands(5_000, 20),
        "amount": ANY_DETAIL,
        "tens of thousands": _equal_bands(10_000, 6),
        "tax thresholds": "0-12499; 12500-24999; 25000-49999; 50000-99999; 100000+",
        "weekly pay": "0-5199; 5200-10399; 10400-15599; 15600-20799; 20800-25999; 26000-36399; "
        "36400-51999; 52000+",
        "shoppers": "under 15000; 15000-29999; 30000-44999; 45000-59999; 60000+",
        "quarters": "under 25000; 25000-49999; 50000-74999; 75000+",
        "means test": "under 10000; 10000-15999; 16000-24999; 25000+",
    },
    description="Personal income before tax in crowns a year.",
)

TRAVEL_TO_WORK = worded(
    "Travel to work",
    "works at home; on foot; bicycle; bus; tram or underground; train; taxi; motorcycle; "
    "car, driving alone; car, driving with passengers; car, as passenger; other means; "
    "not in work",
    {
        "public transport": "bus; tram or underground; train",
        "on foot or by bicycle": "on foot; bicycle",
        "car as driver": "car, driving alone; car, driving with passengers",
        "shared car": "car, driving with passengers; car, as passenger",
        "car": "car, driving alone; shared car",
        "car or motorcycle": "car; motorcycle",
        "motor vehicle": "car or motorcycle; taxi",
        "taxi or other means": "taxi; other means",
        "taxi, motorcycle or other": "taxi or other means; motorcycle",
    },
    {
        CENSUS: "works at home; on foot; bicycle; bus; tram or underground; train; taxi; "
        "motorcycle; car as driver; car, as passenger; other means; not in work",
        "staff survey": "works at home; on foot; bicycle; bus; tram or underground; train; "
        "car, driving alone; shared car; motorcycle; taxi or other means; "
        f"{OUTSIDE}",
        "short": "works at home; on foot or by bicycle; public transport; car; "
        f"taxi, motorcycle or other; {OUTSIDE}",
        "motor or not": "works at home; on foot or by bicycle; public transport; "
        f"motor vehicle; other means; {OUTSIDE}",
        "gaps": "works at home; on foot; bicycle; public transport; car, driving alone; "
        "shared car; not in work",
    },
    description="Main means of travel to the main job.",
)

QUESTIONS: tuple[Question, ...] = (
    ECONOMIC_ACTIVITY,
    OCCUPATION,
    HIGHEST_QUALIFICATION,
    INCOME,
    TRAVEL_TO_WORK,
)
