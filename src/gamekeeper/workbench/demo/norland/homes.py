"""Questions about where and how people live: place, tenure, dwelling, household, cars."""

from __future__ import annotations

from gamekeeper.mapping.variables.variable import OUTSIDE
from gamekeeper.workbench.demo.norland.question import ANY_DETAIL, CENSUS, Question, counted, worded

_DISTRICTS = (
    "Tarnwick; Ostlery; Grimsholt; Larkenby; Dunmarrow; Pellowick; Saltry; Evenholm; Marlock; "
    "Quellin Centre; Quellin Heath; Quellin Docks; Skelmire; Orrindale; Fennick; Brackenhow; "
    "Tollmere; Port Illary; Sandrick; Corvane City; Glasmoor; Tivenhall; Great Isle; Outer Isles"
)
_REGIONS = (
    "North Ardmoor; Mid Ardmoor; South Ardmoor; the Capital; Upper Breskland; Lower Breskland; "
    "the Bresk Coast; Inner Corvane; the Corvane Isles"
)

# Five districts lie in two postcode areas each; these parts are the sinks.
PLACE_OF_RESIDENCE = worded(
    "Place of residence",
    "Tarnwick; Ostlery (TN); Ostlery (GR); Grimsholt; Larkenby; Dunmarrow (LD); Dunmarrow (PW); "
    "Pellowick; Saltry; Evenholm (PW); Evenholm (SM); Marlock; Quellin Centre; Quellin Heath; "
    "Quellin Docks; Skelmire; Orrindale; Fennick (SK); Fennick (FT); Brackenhow; Tollmere; "
    "Port Illary; Sandrick; Corvane City; Glasmoor; Tivenhall (CV); Tivenhall (IS); Great Isle; "
    "Outer Isles",
    {
        "Ostlery": "Ostlery (TN); Ostlery (GR)",
        "Dunmarrow": "Dunmarrow (LD); Dunmarrow (PW)",
        "Evenholm": "Evenholm (PW); Evenholm (SM)",
        "Fennick": "Fennick (SK); Fennick (FT)",
        "Tivenhall": "Tivenhall (CV); Tivenhall (IS)",
        "North Ardmoor": "Tarnwick; Ostlery; Grimsholt",
        "Mid Ardmoor": "Larkenby; Dunmarrow; Pellowick",
        "South Ardmoor": "Saltry; Evenholm; Marlock",
        "the Capital": "Quellin Centre; Quellin Heath; Quellin Docks",
        "Upper Breskland": "Skelmire; Orrindale",
        "Lower Breskland": "Fennick; Brackenhow; Tollmere",
        "the Bresk Coast": "Port Illary; Sandrick",
        "Inner Corvane": "Corvane City; Glasmoor; Tivenhall",
        "the Corvane Isles": "Great Isle; Outer Isles",
        "Ardmoor": "North Ardmoor; Mid Ardmoor; South Ardmoor; the Capital",
        "Breskland": "Upper Breskland; Lower Breskland; the Bresk Coast",
        "Corvane": "Inner Corvane; the Corvane Isles",
        "postcode area TN": "Tarnwick; Ostlery (TN)",
        "postcode area GR": "Ostlery (GR); Grimsholt",
        "postcode area LD": "Larkenby; Dunmarrow (LD)",
        "postcode area PW": "Dunmarrow (PW); Pellowick; Evenholm (PW)",
        "postcode area SM": "Saltry; Evenholm (SM); Marlock",
        "postcode area SK": "Skelmire; Orrindale; Fennick (SK)",
        "postcode area FT": "Fennick (FT); Brackenhow; Tollmere",
        "postcode area CV": "Corvane City; Glasmoor; Tivenhall (CV)",
        "postcode area IS": "Tivenhall (IS); Great Isle; Outer Isles",
        "Northern Health Board": "North Ardmoor; Larkenby",
        "Central Health Board": "Dunmarrow; Pellowick; Marlock",
        "Southern Health Board": "Saltry; Evenholm",
        "sales area North": "North Ardmoor; Upper Breskland",
        "sales area Middle": "Mid Ardmoor; Lower Breskland",
        "sales area South": "South Ardmoor; the Capital",
        "sales area West": "the Bresk Coast; Corvane",
    },
    {
        CENSUS: _DISTRICTS,
        "address": ANY_DETAIL,
        "districts": _DISTRICTS,
        "postcode areas": "postcode area TN; postcode area GR; postcode area LD; "
        "postcode area PW; postcode area SM; the Capital; postcode area SK; postcode area FT; "
        "the Bresk Coast; postcode area CV; postcode area IS",
        "regions": _REGIONS,
        "health boards": "Northern Health Board; Central Health Board; Southern Health Board; "
        "the Capital; Breskland; Corvane",
        "sales areas": "sales area North; sales area Middle; sales area South; sales area West",
        "nations": "Ardmoor; Breskland; Corvane",
        "Corvane only": f"Corvane City; Glasmoor; Tivenhall; Great Isle; Outer Isles; {OUTSIDE}",
        "Capital only": f"Quellin Centre; Quellin Heath; Quellin Docks; {OUTSIDE}",
        "Breskland only": f"Skelmire; Orrindale; Fennick; Brackenhow; Tollmere; Port Illary; "
        f"Sandrick; {OUTSIDE}",
    },
    description="Usual place of residence: districts in regions in nations; the areas of the "
    "post, of the health service and of shops cut across these.",
)

# A household has one tenure; a person may answer 'with parents' instead, whatever they have.
TENURE = worded(
    "Tenure",
    "owner, outright; owner, with a mortgage; part owner; tenant of the council; "
    "tenant of a housing association; private tenant; tenant of employer or relative; rent free; "
    "child of owner, outright; child of owner, with a mortgage; child of social tenant; "
    "child of private tenant",
    {
        "owned outright": "owner, outright; child of owner, outright",
        "owned with a mortgage": "owner, with a mortgage; child of owner, with a mortgage",
        "owned": "owned outright; owned with a mortgage; part owner",
        "rented from council or association": "tenant of the council; "
        "tenant of a housing association; child of social tenant",
        "rented privately": "private tenant; tenant of employer or relative; "
        "child of private tenant",
        "rented": "rented from council or association; rented privately",
        "rented or rent free": "rented; rent free",
        "home owner": "owner, outright; owner, with a mortgage; part owner",
        "tenant": "tenant of the council; tenant of a housing association; private tenant; "
        "tenant of employer or relative",
        "social tenant": "tenant of the council; tenant of a housing association",
        "other tenant": "private tenant; tenant of employer or relative",
        "living with parents": "child of owner, outright; child of owner, with a mortgage; "
        "child of social tenant; child of private tenant",
    },
    {
        CENSUS: "owned outright; owned with a mortgage; part owner; "
        "rented from council or association; rented privately; rent free",
        "three": "owned; rented; rent free",
        "two": "owned; rented or rent free",
        "four": "owned outright; owned with a mortgage; part owner; rented or rent free",
        "lender": "owner, outright; owner, with a mortgage; part owner; social tenant; "
        "other tenant; living with parents; rent free",
        "lender, short": "home owner; tenant; living with parents; rent free",
    },
    description="The right by which a person or household has its home.",
)

DWELLING_TYPE = worded(
    "Dwelling type",
    "detached house; detached bungalow; semi-detached house; semi-detached bungalow; "
    "end terrace; mid terrace; flat in a block; flat in a converted house; flat over a shop; "
    "mobile home",
    {
        "detached": "detached house; detached bungalow",
        "semi-detached": "semi-detached house; semi-detached bungalow",
        "terraced": "end terrace; mid terrace",
        "bungalow": "detached bungalow; semi-detached bungalow",
        "house of two storeys": "detached house; semi-detached house; terraced",
        "house": "detached; semi-detached; terraced",
        "house with one shared wall": "semi-detached; end terrace",
        "other flat": "flat in a converted house; flat over a shop",
        "flat": "flat in a block; other flat",
        "flat or mobile home": "flat; mobile home",
    },
    {
        CENSUS: "detached; semi-detached; terraced; flat in a block; "
        "flat in a converted house; flat over a shop; mobile home",
        "insurer": "detached house; semi-detached house; end terrace; mid terrace; bungalow; "
        "flat; mobile home",
        "house, bungalow, flat": "house of two storeys; bungalow; flat; mobile home",
        "shared walls": "detached; house with one shared wall; mid terrace; flat; mobile home",
        "four kinds": "detached; semi-detached; terraced; flat or mobile home",
        "house or flat": "house; flat or mobile home",
    },
    description="The kind of building that a person lives in.",
)

HOUSEHOLD_SIZE = counted(
    "Household size",
    1,
    8,
    {
        CENSUS: "1; 2; 3; 4; 5; 6; 7; 8+",
        "up to six": "1; 2; 3; 4; 5; 6+",
        "up to five": "1; 2; 3; 4; 5+",
        "up to four": "1; 2; 3; 4+",
        "pairs": "1-2; 3-4; 5+",
        "alone, small, large": "1; 2-3; 4+",
        "alone": "1; 2+",
    },
    description="Number of people who usually live in the household.",
)

NUMBER_OF_CARS = counted(
    "Number of cars",
    0,
    4,
    {
        CENSUS: "0; 1; 2; 3; 4+",
        "up to three": "0; 1; 2; 3+",
        "up to two": "0; 1; 2+",
        "any": "0; 1+",
        "drivers": f"1; 2; 3+; {OUTSIDE}",
        "counted twice": "0; 1-2; 2+",
    },
    description="Number of cars and vans that the household owns or can use.",
)

QUESTIONS: tuple[Question, ...] = (
    PLACE_OF_RESIDENCE,
    TENURE,
    DWELLING_TYPE,
    HOUSEHOLD_SIZE,
    NUMBER_OF_CARS,
)
