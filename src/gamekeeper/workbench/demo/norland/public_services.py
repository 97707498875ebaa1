"""The forms of public services, employers and charities in Norland, by sector."""

from __future__ import annotations

from gamekeeper.workbench.demo.norland.plan import NOT_ASKED, Plan

FORMS: dict[str, tuple[Plan, ...]] = {
    "registers": (
        Plan(
            "Norland Electoral Office",
            "voter register",
            "citizens of 16 and over",
            fixed={"Age": "date of birth", "Country of birth": "home or abroad"},
        ),
        Plan(
            "Norland Licensing Office", "driving licence", "drivers", fixed={"Age": "date of birth"}
        ),
        Plan(
            "Norland Passport Office",
            "passport application",
            "citizens",
            fixed={"Age": "date of birth", "Country of birth": "write-in"},
        ),
        Plan(
            "Civil Registry of Norland",
            "marriage notice",
            "couples",
            fixed={"Age": "date of birth", "Marital status": "census", "Occupation": "job title"},
        ),
        Plan(
            "Quellin City Council",
            "parking permit",
            "car owners",
            "the Capital",
            fixed={"Number of cars": "drivers", "Place of residence": "Capital only"},
        ),
        Plan(
            "Quellin City Council",
            "library card",
            "residents",
            "the Capital",
            fixed={"Age": "tens and children", "Place of residence": "Capital only"},
        ),
        Plan(
            "Corvane Isles Council",
            "ferry discount card",
            "residents",
            "Corvane",
            fixed={"Place of residence": "Corvane only"},
        ),
        Plan(
            "Glasmoor Council",
            "older person's travel card",
            "people of 60 and over",
            "Corvane",
            fixed={"Age": "sixty and over"},
        ),
    ),
    "councils and agencies": (
        Plan(
            "Norland Revenue",
            "tax return",
            "taxpayers",
            fixed={
                "Income": "amount",
                "Marital status": "five legal",
                "Ethnic group": NOT_ASKED,
                "Religion": NOT_ASKED,
            },
        ),
        Plan(
            "Norland Benefits Agency",
            "family support claim",
            "families with children",
            fixed={
                "Income": "means test",
                "Dependent children": "up to four",
                "Marital status": "couples",
            },
        ),
        Plan(
            "Norland Pension Service",
            "state pension claim",
            "people near pension age",
            fixed={
                "Age": "date of birth",
                "Marital status": "census",
                "Dependent children": NOT_ASKED,
            },
        ),
        Plan("Tarnwick Council", "household bill reduction", "bill payers", "North Ardmoor"),
        Plan(
            "Saltry Council",
            "housing benefit",
            "low-income tenants",
            "South Ardmoor",
            fixed={"Tenure": "census", "Income": "weekly pay"},
        ),
        Plan(
            "Dunmarrow Council",
            "school admission",
            "children",
            "Mid Ardmoor",
            fixed={
                "Age": "single years of childhood",
                "Religion": "denominations",
                "Economic activity": NOT_ASKED,
                "Income": NOT_ASKED,
                "Marital status": NOT_ASKED,
                "Tenure": NOT_ASKED,
            },
        ),
        Plan("Sandrick Council", "residents' panel", "residents", "Breskland"),
    ),
    "health": (
        Plan("Northern Health Board", "patient registration", "patients", "North Ardmoor"),
        Plan("Central Health Board", "patient registration", "patients", "Mid Ardmoor"),
        Plan("Corvane Health Board", "patient registration", "patients", "Corvane"),
        Plan(
            "Southern Health Board",
            "maternity booking",
            "expectant mothers",
            "South Ardmoor",
            fixed={"Sex": "women only", "Marital status": "partners"},
        ),
        Plan(
            "Quellin General Hospital",
            "admission",
            "in-patients",
            "the Capital",
            fixed={"Religion": "chaplaincy"},
        ),
        Plan("Port Illary Hospital", "outpatient questionnaire", "out-patients", "Breskland"),
        Plan(
            "Norland Blood Service",
            "donor session",
            "donors",
            fixed={"Ethnic group": "no mixed group"},
        ),
        Plan("Tarnwick Dental Rooms", "patient record", "patients"),
        Plan("Orrindale Clinic", "wellbeing assessment", "patients"),
    ),
    "official surveys": (
        Plan(
            "Norland Statistics",
            "labour force survey",
            "people of 16 and over",
            fixed={"Occupation": "major groups", "Travel to work": "census"},
        ),
        Plan(
            "Norland Statistics",
            "household budget survey",
            "households",
            fixed={"Income": "weekly pay"},
        ),
        Plan(
            "Norland Statistics",
            "health survey",
            "people of all ages",
            fixed={"General health": "census", "Age": "five-year bands"},
        ),
        Plan(
            "Norland Statistics",
            "travel survey",
            "households",
            fixed={"Travel to work": "census", "Number of cars": "up to three"},
        ),
        Plan(
            "Norland Statistics",
            "housing conditions survey",
            "households",
            fixed={"Tenure": "census", "Dwelling type": "census"},
        ),
        Plan(
            "Corvane Executive",
            "household panel",
            "households",
            "Corvane",
            fixed={"Place of residence": "Corvane only"},
        ),
        Plan(
            "Ministry of Justice of Norland",
            "crime survey",
            "people of 16 and over",
            fixed={"Tenure": "four"},
        ),
    ),
    "employers": (
        Plan("Norland Civil Service", "equal opportunities", "applicants and staff"),
        Plan("Norland Railways", "job application", "applicants"),
        Plan("Greenbarrow Foods", "job application", "applicants"),
        Plan(
            "Fennick Steel",
            "staff record",
            "employees",
            "Breskland",
            fixed={"Occupation": "major groups of workers"},
        ),
        Plan(
            "Quellin Airport",
            "staff travel survey",
            "employees",
            "the Capital",
            fixed={"Travel to work": "staff survey"},
        ),
        Plan(
            "Central Health Board",
            "staff record",
            "employees",
            "Mid Ardmoor",
            fixed={"Occupation": "job title"},
        ),
        Plan(
            "Marrowgate Group",
            "equal opportunities",
            "applicants and staff",
            fixed={"Travel to work": "motor or not"},
        ),
    ),
    "universities": (
        Plan("University of Quellin", "admission", "applicants"),
        Plan("University of Corvane", "admission", "applicants"),
        Plan(
            "University of Corvane",
            "travel survey",
            "staff and students",
            "Corvane",
            fixed={"Travel to work": "gaps", "Religion": NOT_ASKED, "Income": NOT_ASKED},
        ),
        Plan("Skelmire College", "enrolment", "students", "Breskland"),
        Plan(
            "Norland Student Loans",
            "loan application",
            "students",
            fixed={"Income": "means test", "Age": "date of birth"},
        ),
    ),
    "housing": (
        Plan("Larkenby Homes", "housing application", "applicants", "Mid Ardmoor"),
        Plan("Port Illary Homes", "tenancy agreement", "tenants", "Breskland"),
        Plan("Quellin Hearths", "tenant survey", "tenants", "the Capital"),
        Plan("Tiven Valley Homes", "shared ownership application", "applicants", "Corvane"),
    ),
    "charities": (
        Plan("Lifeboats of Norland", "regular gift", "donors"),
        Plan("Norland Otter Society", "membership", "members"),
        Plan(
            "Second Helping Larder",
            "food bank referral",
            "clients",
            fixed={"Household size": "up to six", "Dependent children": "up to four"},
        ),
        Plan("Lamp and Ladle of Larkenby", "volunteer registration", "volunteers"),
        Plan(
            "Corvane Evening Club",
            "befriending referral",
            "older people",
            fixed={
                "Age": "sixty and over",
                "Household size": "alone",
                "General health": "three answers",
            },
        ),
    ),
}
