"""An environment to match real instruments against: variables that many forms ask for.

Categories are those of common classifications in plain words, not those of any instrument that is
measured. Bands come with the forms, so that variables of numbers start with one band.
"""

from __future__ import annotations

import math

import gamekeeper as gk

_NUMBERS = {
    "Age": "in years",
    "Income": "a year, before tax",
    "Household income": "a year, before tax",
    "Hours worked": "hours a week, in the main job",
    "Household size": "people in the household",
    "Number of children": "children",
    "Number of rooms": "",
    "Number of bedrooms": "",
    "Number of cars": "",
}
_STATES = (
    "alabama; alaska; arizona; arkansas; california; colorado; connecticut; delaware; district of"
    " columbia; florida; georgia; hawaii; idaho; illinois; indiana; iowa; kansas; kentucky;"
    " louisiana; maine; maryland; massachusetts; michigan; minnesota; mississippi; missouri;"
    " montana; nebraska; nevada; new hampshire; new jersey; new mexico; new york; north carolina;"
    " north dakota; ohio; oklahoma; oregon; pennsylvania; rhode island; south carolina; south"
    " dakota; tennessee; texas; utah; vermont; virginia; washington; west virginia; wisconsin;"
    " wyoming"
)
_LISTS: dict[str, dict[str, list[str]]] = {
    "Sex": {"any": ["female", "male"]},
    "Gender identity": {"any": ["woman", "man", "another gender identity"]},
    "Sexual orientation": {
        "any": ["heterosexual", "gay or lesbian", "bisexual", "other orientation"]
    },
    "Marital status": {
        "ever married": ["married", "no longer married"],
        "no longer married": ["separated", "divorced", "widowed"],
        "separated or divorced": ["separated", "divorced"],
        "married or separated": ["married", "separated"],
        "not married": ["never married", "divorced", "widowed"],
        "any": ["never married", "ever married"],
    },
    "Education": {
        "no degree": ["no qualification", "primary", "secondary", "post-secondary"],
        "degree": ["first degree", "higher degree"],
        "any": ["no degree", "degree"],
    },
    "Employment status": {
        "economically active": ["employed", "unemployed"],
        "employed": ["employee", "self-employed"],
        "economically inactive": [
            "retired",
            "student",
            "looking after home or family",
            "long-term sick or disabled",
            "other inactive",
        ],
        "any": ["economically active", "economically inactive"],
    },
    "Full or part time": {"any": ["full time", "part time"]},
    "Occupation": {
        "any": [
            "managers",
            "professionals",
            "technicians",
            "clerical",
            "service and sales",
            "agricultural",
            "craft",
            "operators",
            "elementary",
            "armed forces",
        ]
    },
    "Industry": {
        "any": [
            "agriculture",
            "mining",
            "manufacturing",
            "energy and water",
            "construction",
            "trade",
            "transport",
            "hospitality",
            "information",
            "finance",
            "public administration",
            "education",
            "health",
            "other services",
        ]
    },
    "Ethnic group": {
        "any": ["white", "mixed or multiple ethnic groups", "asian", "black", "other ethnic group"]
    },
    "Race": {
        "nonwhite": [
            "black",
            "american indian or alaska native",
            "asian",
            "pacific islander",
            "other race",
        ],
        "any": ["white", "nonwhite"],
    },
    "Hispanic origin": {
        "hispanic": ["mexican", "puerto rican", "cuban", "other hispanic"],
        "any": ["not hispanic", "hispanic"],
    },
    "Country of birth": {
        "uk": ["england", "scotland", "wales", "northern ireland"],
        "non uk": ["ireland", "elsewhere"],
        "any": ["uk", "non uk"],
    },
    "Nationality": {
        "any": ["british", "irish", "indian", "pakistani", "polish", "other nationality"]
    },
    "Main language": {"any": ["english", "other language"]},
    "Religion": {
        "any": [
            "no religion",
            "christian",
            "buddhist",
            "hindu",
            "jewish",
            "muslim",
            "sikh",
            "other religion",
        ]
    },
    "General health": {"any": ["very good", "good", "fair", "bad", "very bad"]},
    "Disability": {"any": ["yes", "no"]},
    "Student": {"any": ["yes", "no"]},
    "Region": {"any": ["north", "east", "south", "west"]},
    "State": {"any": [*_STATES.split("; ")]},
    "Relationship to head of household": {
        "any": ["head", "spouse or partner", "child", "other relative", "not related"]
    },
    "Tenure": {
        "owned": ["owned outright", "owned with a mortgage"],
        "any": ["owned", "rented"],
    },
    "Social grade": {"any": ["ab", "c1", "c2", "de"]},
    "Family composition": {
        "any": ["not in a family", "couple family", "lone parent family", "other family"]
    },
    "Residence type": {"any": ["communal establishment", "household"]},
}


def environment() -> gk.Environment:
    """Return the environment, without forms."""
    space = gk.mapping.Band(0, math.inf)
    numbers = [
        gk.Variable.of_bands(name, [space.name(gk.mapping.BandStyle.INCLUSIVE)], description=said)
        for name, said in _NUMBERS.items()
    ]
    lists = [
        gk.Variable(name, gk.mapping.PartitionGraph(children)) for name, children in _LISTS.items()
    ]
    return gk.Environment([*numbers, *lists], [])
