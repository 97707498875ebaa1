"""The forms of businesses in Norland, by sector."""

from __future__ import annotations

from gamekeeper.workbench.demo.norland.plan import NOT_ASKED, Plan

_MORTGAGE = {"Income": "amount", "Tenure": "lender", "Dwelling type": "insurer"}
_MOTOR = {"Age": "drivers", "Number of cars": "drivers", "Marital status": "partners"}
_HOME = {"Dwelling type": "insurer", "Tenure": "lender", "General health": NOT_ASKED}

FORMS: dict[str, tuple[Plan, ...]] = {
    "banks": (
        Plan("Quellin Savings Bank", "current account", "adult customers"),
        Plan("Quellin Savings Bank", "personal loan", "adult customers"),
        Plan("Bank of Corvane", "current account", "adult customers"),
        Plan("Bank of Corvane", "mortgage application", "home buyers", fixed=_MORTGAGE),
        Plan("Larkenby and District Bank", "credit card", "adult customers"),
        Plan("Tollmere Building Society", "mortgage application", "home buyers", fixed=_MORTGAGE),
        Plan("Brackenhow Building Society", "savings account", "savers of any age"),
        Plan("Dunlin Bank", "app account", "adult customers"),
        Plan("Marrowgate Credit", "store card", "adult customers"),
        Plan("Quellin Docks Credit Union", "membership", "members", "the Capital"),
    ),
    "insurers": (
        Plan("Saltry Mutual", "car insurance quotation", "drivers", fixed=_MOTOR),
        Plan("Tollmere Motor Cover", "car insurance quotation", "drivers", fixed=_MOTOR),
        Plan(
            "Norland Motoring Club",
            "breakdown cover",
            "drivers",
            fixed={"Number of cars": "census", "General health": NOT_ASKED},
        ),
        Plan("Hollinhearth", "home insurance proposal", "householders", fixed=_HOME),
        Plan("Evenholm Assurance", "home insurance proposal", "householders", fixed=_HOME),
        Plan(
            "Grimsholt Mutual",
            "home insurance renewal",
            "householders",
            fixed={"Dwelling type": "house, bungalow, flat", "Tenure": "three"},
        ),
        Plan(
            "Evenholm Assurance",
            "life insurance proposal",
            "adults",
            fixed={"Age": "date of birth", "General health": "four answers"},
        ),
        Plan(
            "Pellowick Provident",
            "health insurance proposal",
            "adults and their families",
            fixed={"General health": "four answers"},
        ),
        Plan("Larkenby Pensions", "annuity quotation", "people near retirement"),
        Plan("Sandrick Travel Cover", "travel insurance quotation", "travellers"),
    ),
    "retail": (
        Plan("Greenbarrow Foods", "loyalty card", "shoppers"),
        Plan(
            "Tiller and Tansy",
            "loyalty card",
            "shoppers",
            fixed={"Dependent children": "large families"},
        ),
        Plan("Penny Lantern Stores", "loyalty card", "shoppers"),
        Plan(
            "Marlock Motors", "warranty card", "car buyers", fixed={"Number of cars": "up to two"}
        ),
        Plan(
            "Skelmire Timber and Tools",
            "customer account",
            "home improvers",
            fixed={"Dwelling type": "house, bungalow, flat"},
        ),
        Plan(
            "Pram and Puddle", "baby club", "parents", fixed={"Dependent children": "parents only"}
        ),
        Plan("Pellowick Books", "reader card", "shoppers"),
        Plan(
            "Ostlery Mail Order",
            "mail order account",
            "shoppers",
            fixed={"Dwelling type": "house or flat"},
        ),
        Plan("Grimsholt Opticians", "customer card", "customers"),
    ),
    "online services": (
        Plan("Fennick Films", "film streaming account", "subscribers"),
        Plan("Tarnwick Tunes", "music streaming account", "subscribers"),
        Plan(
            "Two Teacups",
            "dating profile",
            "single adults",
            fixed={
                "Sex": "census",
                "Marital status": "partners",
                "Religion": "four answers",
                "Highest qualification": "graduate or not",
            },
        ),
        Plan(
            "Hare and Moonbeam",
            "dating profile",
            "single adults",
            fixed={
                "Sex": "census",
                "Marital status": "four legal",
                "Religion": "four answers",
                "Ethnic group": "broad",
            },
        ),
        Plan("Nattervane", "social network profile", "users", fixed={"Ethnic group": "write-in"}),
        Plan("Ninepin Halls", "gaming account", "players"),
        Plan("Norland Bazaar", "online marketplace account", "buyers and sellers"),
        Plan(
            "Jobwren",
            "job seeker profile",
            "job seekers",
            fixed={
                "Occupation": "job title",
                "Highest qualification": "recruiter",
                "Country of birth": "right to work",
            },
        ),
    ),
    "utilities": (
        Plan("Norland Light and Heat", "supply contract", "bill payers"),
        Plan("Brackenhow Energy", "supply contract", "bill payers"),
        Plan(
            "Brackenhow Energy",
            "home insulation grant",
            "low-income households",
            fixed={"Income": "means test", "Age": "three life stages"},
        ),
        Plan(
            "Breskland Water",
            "water meter",
            "bill payers",
            "Breskland",
            fixed={"Place of residence": "Breskland only"},
        ),
        Plan("Orrin Telecom", "broadband contract", "bill payers"),
    ),
    "market research": (
        Plan("Straw Poll Norland", "opinion poll", "adults"),
        Plan("Ostlery Research", "consumer panel", "adults"),
        Plan(
            "Ostlery Research",
            "motoring panel",
            "households",
            fixed={"Number of cars": "counted twice"},
        ),
        Plan("Norland Listener Index", "broadcast audience diary", "adults"),
    ),
}
