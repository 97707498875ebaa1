"""Questions about a person: age, sex, marital status, origin, belief, health."""

from __future__ import annotations

from gamekeeper.mapping.variables.variable import OUTSIDE, Scale
from gamekeeper.workbench.demo.norland.question import (
    ANY_DETAIL,
    CENSUS,
    Question,
    banded,
    counted,
    worded,
)


def _single_years(first: int, last: int) -> str:
    return "; ".join(str(age) for age in range(first, last + 1))


def _five_years(first: int, last: int) -> str:
    return "; ".join(f"{age}-{age + 4}" for age in range(first, last, 5))


AGE = banded(
    "Age",
    {
        CENSUS: f"{_single_years(0, 89)}; 90+",
        "date of birth": ANY_DETAIL,
        "five-year bands": f"{_five_years(0, 85)}; 85+",
        "tens from 16": f"16-24; 25-34; 35-44; 45-54; 55-64; 65-74; 75+; {OUTSIDE}",
        "tens and children": "under 16; 16-24; 25-34; 35-44; 45-54; 55-64; 65-74; 75+",
        "tens from 18": f"18-24; 25-34; 35-44; 45-54; 55-64; 65+; {OUTSIDE}",
        "decades from 18": f"18-29; 30-39; 40-49; 50-59; 60-69; 70+; {OUTSIDE}",
        "workforce": f"16-19; {_five_years(20, 65)}; 65+; {OUTSIDE}",
        "patients": "0-4; 5-15; 16-24; 25-44; 45-64; 65-74; 75-84; 85+",
        "drivers": f"17-20; 21-24; 25-29; 30-39; 40-49; 50-59; 60-69; 70+; {OUTSIDE}",
        "shoppers": "under 25; 25-39; 40-59; 60+",
        "viewers": f"18-34; 35-54; 55+; {OUTSIDE}",
        "students": f"16-17; 18-20; 21-24; 25-29; 30+; {OUTSIDE}",
        "three life stages": "under 18; 18-64; 65 and over",
        "single years of childhood": f"{_single_years(0, 15)}; {OUTSIDE}",
        "sixty and over": f"60-64; 65-69; 70-74; 75-79; 80+; {OUTSIDE}",
    },
    description="Age in whole years at the time of asking.",
)

SEX = worded(
    "Sex",
    "female; male",
    {},
    {
        CENSUS: "female; male",
        "women only": f"female; {OUTSIDE}",
        "write-in": ANY_DETAIL,
    },
    description="Sex as entered in the civil register.",
)

MARITAL_STATUS = worded(
    "Marital status",
    "never married, no partner; never married, with a partner; married; in a civil partnership; "
    "separated, no partner; separated, with a partner; divorced, no partner; "
    "divorced, with a partner; widowed, no partner; widowed, with a partner",
    {
        "never married": "never married, no partner; never married, with a partner",
        "married or in a civil partnership": "married; in a civil partnership",
        "separated": "separated, no partner; separated, with a partner",
        "divorced": "divorced, no partner; divorced, with a partner",
        "widowed": "widowed, no partner; widowed, with a partner",
        "divorced or separated": "separated; divorced",
        "formerly married": "separated; divorced; widowed",
        "not married": "never married; formerly married",
        "living with a partner, not married": "never married, with a partner; "
        "separated, with a partner; divorced, with a partner; widowed, with a partner",
        "no spouse or partner": "never married, no partner; separated, no partner; "
        "divorced, no partner; widowed, no partner",
        "married or living with a partner": "married or in a civil partnership; "
        "living with a partner, not married",
    },
    {
        CENSUS: "never married; married; in a civil partnership; separated; divorced; widowed",
        "five legal": "never married; married or in a civil partnership; separated; divorced; "
        "widowed",
        "four legal": "never married; married or in a civil partnership; divorced or separated; "
        "widowed",
        "three legal": "never married; married or in a civil partnership; formerly married",
        "partners": "never married, no partner; living with a partner, not married; "
        "married or in a civil partnership; separated, no partner; divorced, no partner; "
        "widowed, no partner",
        "partners, short": "no spouse or partner; living with a partner, not married; "
        "married or in a civil partnership",
        "couples": "married or living with a partner; no spouse or partner",
    },
    description="Legal status, or on many forms the living arrangement, which cuts across it.",
)

COUNTRY_OF_BIRTH = worded(
    "Country of birth",
    "Ardmoor; Breskland; Corvane; Karsund; Dessaly; Pelmark; Tarnovia; Sulana; Imbaru; Quendia; "
    "Jandara; Maranesh; Tosang; elsewhere",
    {
        "Norland": "Ardmoor; Breskland; Corvane",
        "Vestria": "Karsund; Dessaly; Pelmark; Tarnovia",
        "Meridia": "Sulana; Imbaru; Quendia",
        "the Far Isles": "Jandara; Maranesh; Tosang",
        "abroad": "Vestria; Meridia; the Far Isles; elsewhere",
        "the Customs Union": "Karsund; Dessaly; Quendia",
        "outside the Customs Union": "Pelmark; Tarnovia; Sulana; Imbaru; Jandara; Maranesh; "
        "Tosang; elsewhere",
    },
    {
        CENSUS: "Ardmoor; Breskland; Corvane; Karsund; Dessaly; Pelmark; Tarnovia; Sulana; "
        "Imbaru; Quendia; Jandara; Maranesh; Tosang; elsewhere",
        "write-in": ANY_DETAIL,
        "continents": "Norland; Vestria; Meridia; the Far Isles; elsewhere",
        "nations": "Ardmoor; Breskland; Corvane; abroad",
        "right to work": "Norland; the Customs Union; outside the Customs Union",
        "home or abroad": "Norland; abroad",
    },
    description="Country where the person was born, by present borders.",
)

ETHNIC_GROUP = worded(
    "Ethnic group",
    "Ardish; Bresk; Corvanian; Fenland Traveller; Karsundi; Tarnovian; other Vestrian; Sulanese; "
    "Imbarun; other Meridian; Jandaran; Maraneshi; Tosanese; other Islander; "
    "Norlandic and Meridian; Norlandic and Islander; other mixed; any other group",
    {
        "Norlandic": "Ardish; Bresk; Corvanian; Fenland Traveller",
        "Vestrian": "Karsundi; Tarnovian; other Vestrian",
        "Meridian": "Sulanese; Imbarun; other Meridian",
        "Islander": "Jandaran; Maraneshi; Tosanese; other Islander",
        "mixed": "Norlandic and Meridian; Norlandic and Islander; other mixed",
        "Meridian, mixed included": "Meridian; Norlandic and Meridian",
        "Islander, mixed included": "Islander; Norlandic and Islander",
        "all other groups": "other mixed; any other group",
        "minority groups": "Vestrian; Meridian; Islander; mixed; any other group",
    },
    {
        CENSUS: "Ardish; Bresk; Corvanian; Fenland Traveller; Karsundi; Tarnovian; "
        "other Vestrian; Sulanese; Imbarun; other Meridian; Jandaran; Maraneshi; Tosanese; "
        "other Islander; Norlandic and Meridian; Norlandic and Islander; other mixed; "
        "any other group",
        "broad": "Norlandic; Vestrian; Meridian; Islander; mixed; any other group",
        "broad, Travellers apart": "Ardish; Bresk; Corvanian; Fenland Traveller; Vestrian; "
        "Meridian; Islander; mixed; any other group",
        "no mixed group": "Norlandic; Vestrian; Meridian, mixed included; "
        "Islander, mixed included; all other groups",
        "majority or minority": "Norlandic; minority groups",
        "write-in": ANY_DETAIL,
    },
    description="The group that a person says they belong to.",
)

RELIGION = worded(
    "Religion",
    "no religion; Church of Norland; Old Church; free churches; other Christian; Muslim; Jewish; "
    "Hindu; Buddhist; another religion",
    {
        "Christian": "Church of Norland; Old Church; free churches; other Christian",
        "other churches": "free churches; other Christian",
        "not Christian": "Muslim; Jewish; Hindu; Buddhist; another religion",
        "any religion": "Christian; not Christian",
        "smaller religions": "Jewish; Hindu; Buddhist; another religion",
    },
    {
        CENSUS: "no religion; Christian; Muslim; Jewish; Hindu; Buddhist; another religion",
        "denominations": "no religion; Church of Norland; Old Church; other churches; "
        "not Christian",
        "chaplaincy": "no religion; Church of Norland; Old Church; other churches; Muslim; "
        "Jewish; Hindu; Buddhist; another religion",
        "four answers": "no religion; Christian; Muslim; smaller religions",
        "yes or no": "no religion; any religion",
    },
    description="Religion that a person belongs to or was brought up in.",
)

# The sinks are finer than any scale, because the words of different scales overlap: some who
# are 'good' among three answers are 'very good' among five, and some 'fair' among four.
GENERAL_HEALTH = worded(
    "General health",
    "excellent; very good; good; fairly good; fair; rather poor; poor; very poor",
    {
        "very good (of five)": "excellent; very good",
        "good (of five)": "good; fairly good",
        "bad (of five)": "rather poor; poor",
        "good (of four)": "very good; good",
        "fair (of four)": "fairly good; fair; rather poor",
        "poor (of four)": "poor; very poor",
        "good (of three)": "excellent; very good; good",
        "fairly good (of three)": "fairly good; fair",
        "not good (of three)": "rather poor; poor; very poor",
        "not in poor health": "excellent; very good; good; fairly good; fair",
    },
    {
        CENSUS: "very good (of five); good (of five); fair; bad (of five); very poor",
        "four answers": "excellent; good (of four); fair (of four); poor (of four)",
        "three answers": "good (of three); fairly good (of three); not good (of three)",
        "poor health": "not in poor health; not good (of three)",
    },
    scale=Scale.ORDINAL,
    description="How people rate their own health, on scales of three, four or five answers.",
)

DEPENDENT_CHILDREN = counted(
    "Dependent children",
    0,
    5,
    {
        CENSUS: "0; 1; 2; 3; 4; 5+",
        "up to three": "0; 1; 2; 3+",
        "up to four": "0; 1; 2; 3; 4+",
        "any": "0; 1+",
        "one or two": "0; 1-2; 3+",
        "large families": "0-1; 2; 3+",
        "parents only": f"1; 2; 3+; {OUTSIDE}",
    },
    description="Number of children under 18 who depend on the person or couple.",
)

QUESTIONS: tuple[Question, ...] = (
    AGE,
    SEX,
    MARITAL_STATUS,
    COUNTRY_OF_BIRTH,
    ETHNIC_GROUP,
    RELIGION,
    GENERAL_HEALTH,
    DEPENDENT_CHILDREN,
)
