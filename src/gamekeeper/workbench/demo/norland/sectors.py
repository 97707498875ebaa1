"""What the forms of each sector ask, how often, and in which wordings.

A sector gives each variable the share of its forms that ask it and weights for the wordings.
Forms of one sector therefore resemble one another, and what is asked everywhere, such as age and
sex, differs from what only some sectors ask, such as income or health.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sector:
    """What the forms of a sector have in common.

    `media` weighs the ways in which they are filled in; `asks` has for each variable the share
    of forms that ask it and the weights of the wordings.
    """

    kind: str
    media: Mapping[str, int]
    asks: Mapping[str, tuple[float, Mapping[str, int]]]


SECTORS: dict[str, Sector] = {
    "banks": Sector(
        "commercial",
        {"online": 6, "paper": 2, "telephone": 2},
        {
            "Age": (1.0, {"date of birth": 1}),
            "Sex": (0.85, {"census": 1}),
            "Place of residence": (1.0, {"address": 1}),
            "Marital status": (0.9, {"partners": 5, "partners, short": 2, "five legal": 3}),
            "Country of birth": (0.35, {"write-in": 2, "right to work": 1}),
            "Tenure": (0.8, {"lender": 4, "lender, short": 4, "three": 1}),
            "Dependent children": (0.7, {"up to three": 3, "up to four": 2, "any": 1}),
            "Economic activity": (0.95, {"customers": 3, "customers, long": 3}),
            "Occupation": (0.75, {"job title": 3, "major groups": 1, "social grade": 1}),
            "Income": (0.95, {"amount": 4, "tax thresholds": 2, "tens of thousands": 1}),
            "Highest qualification": (0.1, {"graduate or not": 1}),
        },
    ),
    "insurers": Sector(
        "commercial",
        {"online": 6, "paper": 1, "telephone": 3},
        {
            "Age": (1.0, {"date of birth": 3, "drivers": 2, "decades from 18": 1}),
            "Sex": (0.8, {"census": 1}),
            "Place of residence": (1.0, {"address": 4, "postcode areas": 3}),
            "Marital status": (0.8, {"partners": 5, "couples": 2, "four legal": 2}),
            "Tenure": (0.5, {"lender": 2, "three": 2, "two": 1}),
            "Household size": (0.35, {"up to four": 2, "alone, small, large": 1}),
            "Dependent children": (0.5, {"any": 2, "one or two": 2, "up to three": 1}),
            "Economic activity": (0.6, {"customers": 3, "customers, long": 1}),
            "Occupation": (0.7, {"job title": 2, "major groups": 3, "social grade": 1}),
            "Income": (0.3, {"quarters": 1, "tens of thousands": 2}),
            "General health": (0.35, {"four answers": 2, "poor health": 1}),
        },
    ),
    "retail": Sector(
        "commercial",
        {"online": 6, "paper": 4},
        {
            "Age": (0.85, {"shoppers": 4, "date of birth": 2, "tens from 18": 3}),
            "Sex": (0.8, {"census": 1}),
            "Place of residence": (0.95, {"address": 3, "postcode areas": 3, "sales areas": 2}),
            "Marital status": (0.3, {"couples": 3, "partners, short": 1}),
            "Tenure": (0.25, {"two": 1, "three": 1}),
            "Dwelling type": (0.25, {"house or flat": 2, "house, bungalow, flat": 1}),
            "Household size": (0.6, {"pairs": 3, "up to five": 2, "alone, small, large": 2}),
            "Dependent children": (0.6, {"any": 2, "one or two": 2, "large families": 1}),
            "Occupation": (0.25, {"social grade": 3, "white or blue collar": 1}),
            "Income": (0.4, {"shoppers": 3, "quarters": 2}),
            "Number of cars": (0.3, {"any": 1, "up to two": 2}),
        },
    ),
    "online services": Sector(
        "commercial",
        {"online": 1},
        {
            "Age": (1.0, {"date of birth": 4, "viewers": 3, "tens from 18": 2}),
            "Sex": (0.85, {"census": 4, "write-in": 1}),
            "Place of residence": (0.8, {"regions": 3, "postcode areas": 2, "nations": 2}),
            "Marital status": (0.4, {"partners, short": 2, "couples": 1}),
            "Household size": (0.35, {"up to four": 1, "pairs": 1}),
            "Dependent children": (0.4, {"any": 3, "one or two": 1}),
            "Occupation": (0.35, {"job title": 1, "social grade": 1, "white or blue collar": 1}),
            "Highest qualification": (0.2, {"graduate or not": 2, "survey": 1}),
            "Income": (0.3, {"quarters": 2, "shoppers": 1}),
        },
    ),
    "utilities": Sector(
        "commercial",
        {"online": 5, "telephone": 4, "paper": 1},
        {
            "Age": (0.8, {"date of birth": 1, "three life stages": 3}),
            "Sex": (0.5, {"census": 1}),
            "Place of residence": (1.0, {"address": 1}),
            "Tenure": (0.8, {"two": 1, "three": 3}),
            "Dwelling type": (0.8, {"shared walls": 3, "four kinds": 2}),
            "Household size": (0.8, {"up to four": 2, "up to five": 2}),
            "Dependent children": (0.3, {"any": 1}),
            "Income": (0.3, {"means test": 2, "tax thresholds": 1}),
            "General health": (0.3, {"poor health": 1}),
        },
    ),
    "registers": Sector(
        "public",
        {"online": 5, "paper": 5},
        {
            "Age": (0.9, {"date of birth": 2, "tens and children": 1}),
            "Sex": (0.85, {"census": 1}),
            "Place of residence": (1.0, {"address": 1}),
            "Country of birth": (0.25, {"write-in": 1}),
            "Ethnic group": (0.15, {"broad": 1}),
        },
    ),
    "councils and agencies": Sector(
        "public",
        {"online": 5, "paper": 4, "telephone": 1},
        {
            "Age": (1.0, {"date of birth": 6, "tens and children": 3, "three life stages": 1}),
            "Sex": (0.95, {"census": 1}),
            "Place of residence": (1.0, {"address": 4, "districts": 4}),
            "Marital status": (0.7, {"five legal": 4, "census": 3, "partners": 2}),
            "Country of birth": (0.35, {"home or abroad": 1, "continents": 1}),
            "Ethnic group": (0.75, {"broad": 3, "broad, Travellers apart": 3, "census": 2}),
            "Religion": (0.2, {"census": 1}),
            "Tenure": (0.6, {"census": 2, "three": 2}),
            "Dwelling type": (0.25, {"census": 1, "four kinds": 2}),
            "Household size": (0.6, {"census": 1, "up to six": 2}),
            "Dependent children": (0.6, {"census": 1, "up to four": 2}),
            "Economic activity": (0.7, {"claimants": 3, "labour market": 2}),
            "Income": (0.6, {"amount": 2, "means test": 3}),
            "Number of cars": (0.2, {"up to two": 1, "up to three": 1}),
        },
    ),
    "health": Sector(
        "public",
        {"paper": 5, "online": 3},
        {
            "Age": (1.0, {"date of birth": 6, "patients": 3}),
            "Sex": (1.0, {"census": 1}),
            "Place of residence": (0.9, {"address": 4, "health boards": 4}),
            "Marital status": (0.5, {"four legal": 3, "three legal": 1, "partners": 2}),
            "Country of birth": (0.3, {"home or abroad": 2, "continents": 1}),
            "Ethnic group": (0.7, {"broad": 4, "no mixed group": 2, "census": 1}),
            "Religion": (0.5, {"denominations": 1, "chaplaincy": 2}),
            "Household size": (0.35, {"alone": 3, "up to four": 1}),
            "Dependent children": (0.25, {"any": 1}),
            "Economic activity": (0.3, {"job or no job": 1, "labour market": 1}),
            "Occupation": (0.35, {"job title": 2, "major groups": 1}),
            "General health": (0.9, {"three answers": 4, "four answers": 3, "census": 1}),
        },
    ),
    "official surveys": Sector(
        "public",
        {"online": 4, "telephone": 5, "paper": 1},
        {
            "Age": (1.0, {"five-year bands": 3, "tens from 16": 4, "date of birth": 1}),
            "Sex": (1.0, {"census": 1}),
            "Place of residence": (1.0, {"regions": 5, "districts": 2}),
            "Marital status": (0.95, {"census": 3, "partners": 3, "five legal": 2}),
            "Country of birth": (0.7, {"nations": 2, "continents": 3, "census": 1}),
            "Ethnic group": (0.9, {"census": 2, "broad, Travellers apart": 3, "broad": 3}),
            "Religion": (0.6, {"census": 4, "four answers": 1}),
            "Tenure": (0.8, {"census": 4, "three": 2, "four": 1}),
            "Dwelling type": (0.5, {"census": 3, "four kinds": 1}),
            "Household size": (0.9, {"census": 3, "up to six": 3}),
            "Dependent children": (0.7, {"census": 1, "up to three": 2}),
            "Economic activity": (0.95, {"labour market, long": 4, "labour market": 2}),
            "Occupation": (0.8, {"major groups": 3, "census": 1, "job title": 1}),
            "Highest qualification": (0.85, {"survey": 4, "census": 2}),
            "Income": (0.7, {"weekly pay": 4, "tens of thousands": 2}),
            "Number of cars": (0.55, {"up to three": 3, "up to two": 1}),
            "General health": (0.8, {"census": 4, "three answers": 2, "four answers": 2}),
            "Travel to work": (0.45, {"census": 2, "short": 1}),
        },
    ),
    "market research": Sector(
        "commercial",
        {"online": 6, "telephone": 4},
        {
            "Age": (1.0, {"tens from 18": 4, "tens from 16": 2, "viewers": 1}),
            "Sex": (1.0, {"census": 1}),
            "Place of residence": (1.0, {"regions": 3, "sales areas": 2}),
            "Marital status": (0.7, {"partners, short": 2, "couples": 1}),
            "Ethnic group": (0.4, {"no mixed group": 2, "majority or minority": 1}),
            "Tenure": (0.6, {"three": 1, "two": 1}),
            "Household size": (0.9, {"up to five": 2, "pairs": 2}),
            "Dependent children": (0.8, {"any": 1, "one or two": 2}),
            "Economic activity": (0.7, {"labour market": 1, "job or no job": 2}),
            "Occupation": (0.9, {"social grade": 1}),
            "Highest qualification": (0.6, {"survey": 1, "graduate or not": 2}),
            "Income": (0.8, {"tens of thousands": 1, "shoppers": 2}),
            "Number of cars": (0.6, {"up to two": 1, "any": 1}),
        },
    ),
    "employers": Sector(
        "employer",
        {"online": 7, "paper": 3},
        {
            "Age": (1.0, {"workforce": 4, "date of birth": 3, "tens from 16": 2}),
            "Sex": (1.0, {"census": 1}),
            "Place of residence": (0.7, {"address": 5, "regions": 1}),
            "Marital status": (0.5, {"five legal": 2, "three legal": 2}),
            "Country of birth": (0.6, {"right to work": 3, "write-in": 1}),
            "Ethnic group": (0.85, {"broad": 3, "broad, Travellers apart": 2, "census": 1}),
            "Religion": (0.5, {"census": 2, "yes or no": 1}),
            "Dependent children": (0.2, {"any": 1}),
            "Occupation": (0.9, {"staff grade": 3, "job title": 3, "major groups of workers": 2}),
            "Highest qualification": (0.9, {"recruiter": 4, "college": 1}),
            "Income": (0.5, {"amount": 2, "tens of thousands": 1}),
            "General health": (0.15, {"poor health": 1}),
            "Travel to work": (0.6, {"staff survey": 3, "short": 1, "motor or not": 1}),
        },
    ),
    "universities": Sector(
        "public",
        {"online": 8, "paper": 2},
        {
            "Age": (1.0, {"date of birth": 3, "students": 3}),
            "Sex": (1.0, {"census": 4, "write-in": 1}),
            "Place of residence": (0.8, {"address": 2, "districts": 2, "nations": 1}),
            "Country of birth": (0.8, {"write-in": 2, "right to work": 1, "continents": 1}),
            "Ethnic group": (0.9, {"census": 2, "broad": 3}),
            "Religion": (0.4, {"census": 2, "yes or no": 1}),
            "Dependent children": (0.3, {"any": 1}),
            "Highest qualification": (1.0, {"college": 4, "recruiter": 1}),
            "Income": (0.25, {"means test": 1}),
        },
    ),
    "housing": Sector(
        "public",
        {"paper": 5, "online": 4, "telephone": 1},
        {
            "Age": (1.0, {"date of birth": 3, "three life stages": 1, "tens and children": 1}),
            "Sex": (0.9, {"census": 1}),
            "Place of residence": (1.0, {"address": 3, "districts": 1}),
            "Marital status": (0.7, {"partners": 2, "couples": 2}),
            "Ethnic group": (0.8, {"broad": 2, "broad, Travellers apart": 1}),
            "Tenure": (0.9, {"lender": 1, "census": 2}),
            "Dwelling type": (0.7, {"house, bungalow, flat": 2, "four kinds": 1}),
            "Household size": (1.0, {"up to six": 2, "up to five": 1}),
            "Dependent children": (0.9, {"up to four": 2, "up to three": 1}),
            "Economic activity": (0.7, {"claimants": 2, "job or no job": 1}),
            "Income": (0.8, {"means test": 2, "weekly pay": 1}),
            "General health": (0.4, {"three answers": 1, "poor health": 1}),
        },
    ),
    "charities": Sector(
        "charity",
        {"online": 6, "paper": 4},
        {
            "Age": (0.8, {"decades from 18": 2, "tens from 18": 2, "shoppers": 1}),
            "Sex": (0.7, {"census": 1}),
            "Place of residence": (0.9, {"address": 2, "regions": 2, "nations": 1}),
            "Marital status": (0.25, {"couples": 1, "three legal": 1}),
            "Ethnic group": (0.4, {"majority or minority": 1, "broad": 1}),
            "Religion": (0.3, {"denominations": 2, "yes or no": 1}),
            "Household size": (0.25, {"alone": 1}),
            "Occupation": (0.3, {"white or blue collar": 1, "job title": 1}),
            "Highest qualification": (0.2, {"graduate or not": 1}),
        },
    ),
}
