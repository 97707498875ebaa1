"""What is printed on an instrument: questions with their answers, and how their texts are compared.

Questions are what a reader makes of an instrument, not yet judged. Their texts are compared as
sequences of plain words. Words that only ask, words that deny, other people, and answers that are
none are lists in eight languages, written as `plain_text` leaves a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gamekeeper.algorithms.categories.bands import Band, BandStyle, Bound, PrintedBands
from gamekeeper.algorithms.categories.printed_band import plain_text
from gamekeeper.importing.vocabulary import SENSES, listed, listed_by_name
from gamekeeper.mapping.variables.definitions import DEFINITION, Interval


class Answering(StrEnum):
    """How a question is answered."""

    ONE = "one"
    """One of the printed answers."""
    SEVERAL = "several"
    """Any of the printed answers: boxes to tick."""
    NUMBER = "number"
    DATE = "date"
    TEXT = "text"
    NOTHING = "nothing"
    """Notes, calculations, identifiers: not asked of anybody."""


@dataclass(frozen=True, slots=True)
class ProposedAnswer:
    """A printed answer: its words, its code, other wordings, and whether the file calls it missing."""

    text: str
    code: str = ""
    others: tuple[str, ...] = ()
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question as an instrument has it.

    `text` is what people read. `label` is the short name that data managers give it, `others` are
    wordings in other languages, `universe` says who is asked, in words.
    """

    name: str
    text: str = ""
    label: str = ""
    answering: Answering = Answering.ONE
    answers: tuple[ProposedAnswer, ...] = ()
    others: tuple[str, ...] = ()
    universe: str = ""
    section: str = ""
    is_identifier: bool = False


@dataclass(frozen=True, slots=True)
class Instrument:
    """A form as it was read: its title, its questions in order, and what was passed over."""

    title: str
    format: str
    questions: tuple[ProposedQuestion, ...]
    language: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()


def instrument_of(tree: Mapping[str, Any]) -> Instrument:
    """Return an instrument from plain values, as `dataclasses.asdict` makes them."""
    plain: dict[str, Any] = dict(tree)
    plain["questions"] = tuple(map(_question, tree["questions"]))
    plain["notes"] = tuple(tree["notes"])
    return Instrument(**plain)


def _question(tree: Mapping[str, Any]) -> ProposedQuestion:
    plain: dict[str, Any] = dict(tree)
    plain["answering"] = Answering(tree["answering"])
    plain["answers"] = tuple(map(_answer, tree["answers"]))
    plain["others"] = tuple(tree["others"])
    return ProposedQuestion(**plain)


def _answer(tree: Mapping[str, Any]) -> ProposedAnswer:
    plain: dict[str, Any] = dict(tree)
    plain["others"] = tuple(tree["others"])
    return ProposedAnswer(**plain)


def bands_of(read: PrintedBands) -> dict[str, Band]:
    """Return the band of every answer that is one."""
    return {text: Band(_bound(low), _bound(high)) for text, (low, high) in read.ends.items()}


def interval_definition(name: str, bands: Mapping[str, Band], description: str = "") -> Interval:
    """Return the definition of a variable with these bands.

    Whole numbers are in the inclusive style, others half-open. The range starts at 0 unless a
    band has a number below.
    """
    whole = all(
        isinstance(end, int | float) for band in bands.values() for end in (band.low, band.high)
    )
    style = BandStyle.INCLUSIVE if whole else BandStyle.HALF_OPEN
    below = any(-math.inf < band.low < 0 or band.high < 0 for band in bands.values())
    space = Band(-math.inf if below else 0, math.inf)
    names = dict.fromkeys(band.within(space).name(style) for band in bands.values())
    tree: dict[str, Any] = {
        "name": name,
        "description": description,
        "scale": "interval",
        "bands": list(names),
    }
    if not whole:
        tree["style"] = "half-open"
    if below:
        tree["from"] = None
    made = DEFINITION.validate_python(tree)
    assert isinstance(made, Interval)
    return made


def _bound(end: Fraction | float) -> Bound:
    if isinstance(end, Fraction) and end.denominator == 1:
        return end.numerator
    return end


NO_ANSWER_WORDS = listed_by_name("""
refused: choose not to answer | decline to answer | declined | declined to answer | declined to say
| do not answer | do not want to answer | do not want to disclose | do not wish to answer | do not
wish to declare | does not wish to answer | doesn't wish to answer | geen antwoord | i do not want
to answer | i do not want to disclose | i do not wish to answer | i prefer not to answer | i prefer
not to say | i would prefer not to say | i would rather not say | ich mochte keine angabe machen |
ich mochte nicht antworten | je prefere ne pas repondre | keine angabe | keine antwort | mochte ich
nicht angeben | mochte ich nicht sagen | nao quero responder | nao responde | ne souhaite pas
repondre | ne souhaite pas se prononcer | ne veut pas repondre | no comment | no contesta | no
desea responder | no quiere contestar | no response | non desidero rispondere | non risponde | not
willing to answer | not willing to disclose | ns/nc | odmowa | odmowa odpowiedzi | prefer not to
answer | prefer not to disclose | prefer not to say | prefer not to specify | prefer not to state |
prefere ne pas dire | preferisco non dirlo | preferisco non rispondere | prefiere no contestar |
prefiero no contestar | prefiero no decirlo | prefiero no responder | prefiro nao dizer | prefiro
nao responder | rather not answer | rather not say | recusa | refus | refus de repondre | refusal |
refuse | refuse to answer | refused | refused to answer | rifiuta | subject refused |
unknown-refused | unwilling to answer | verweigert | wil ik niet zeggen | wil niet zeggen | wole
nie odpowiadac | wole nie podawac | zeg ik liever niet

don't know: can't say | cannot say | dk | do not know | do not know/not sure | does not know |
doesn't know | don't know | don't know / not sure | don't know or refuse to answer | don't know/not
sure | don't know/refused | dont know | i am not sure | i do not know | i don't know | i'm not sure
| ich weiss nicht | je ne sais pas | je ne sais pas/ne souhaite pas repondre | nao sabe | nao
sabe/nao responde | nao sei | ne sais pas | ne sait pas | nie wiem | nie wiem/trudno powiedziec |
no lo se | no sabe | no sabe/no contesta | no se | non lo so | non sa | non so | not sure | nsp |
trudno powiedziec | uncertain | unknown-don't know | unsure | weet ik niet | weet ik niet/geen
antwoord | weet niet | weiss ich nicht | weiss ich nicht/keine angabe | weiss nicht

not stated: blank | brak danych | brak odpowiedzi | desconhecido | desconocido | inconnu |
information not available | k. a. | k.a. | keine information | missing | missing/unknown | nao
declarado | nao especificado | nao informado | ne se prononce pas | nicht angegeben | nicht bekannt
| nie podano | niet bekend | niet opgegeven | nieznane | niu or blank | no answer | no consta | no
data | no especificado | no information | non communique | non declare | non dichiarato | non
indicato | non precise | non renseigne | non specificato | not answered | not ascertained | not
available | not collected | not given | not known | not provided | not recorded | not reported |
not reported/missing | not specified | not specified/unknown | not stated | ohne angabe | onbekend
| religion not stated | sconosciuto | sem resposta | sin datos | sin especificar | sin informacion
| unbekannt | undisclosed | unknown | unknown / not reported | unknown or not reported |
unknown-not ascertained | unknown/missing | unknown/not reported | unknown/not specified |
unspecified

not applicable: -8 does not apply | does not apply | does not apply to me | entfallt | inapplicable
| legitimate skip | n.v.t. | n/a | n/v | na | nao aplicavel | nao aplicavel/nao se aplica | nao se
aplica | ne s'applique pas | nicht anwendbar | nicht relevant | nicht zutreffend | nie dotyczy |
niet van toepassing | niu | niu (not in universe) | no aplica | no aplicable | no code required |
no corresponde | no procede | no se aplica | non applicabile | non applicable | non concerne | non
pertinente | not applicable | not applicable/not asked | not asked | not in universe | not relevant
| not required | sans objet | skip | trifft nicht zu
""")
"""Printed answers that are none, by why they are none."""

NEUTRAL = frozenset(
    listed("""
a | achieved | actual | actualmente | actuel | actuelle | actuellement | aktuell | aktuelle |
aktueller | aktuelles | am | an | angeben | annual | answer | applicable | applicant | applies |
apply | are | as | at | attained | attended | attuale | attualmente | atual | atualmente | au |
avez | be | bei | belong | bent | best | bist | bitte | box | boxes | bracket | by | categories |
category | census | check | choose | client | code | codes | completed | consider | cual | cuales |
current | currently | customer | da | das | de | dear | dein | deine | deiner | del | della | den |
der | derzeit | derzeitige | derzeitiger | des | describe | describes | detailed | di | die | digit
| do | does | dos | du | e | earned | een | ein | eine | el | en | enter | es | est | etes | exact
| express | far | favor | favore | field | fips | folgenden | following | for | gained | geben |
general | give | gli | ha | haben | hai | has | hast | hat | have | hebben | hebt | heeft | held |
her | het | his | how | huidige | i | icd | identifies | identify | if | ihnen | ihr | ihre | ihrem
| ihren | ihrer | il | in | indicare | indicate | indichi | indique | indiquez | individual |
interviewee | is | isced | isco | ist | it | jaka | jaki | jakie | je | jest | jouw | kindly | la |
las | le | legal | lei | les | list | lo | los | ma | madam | main | mark | masz | me | mein |
meine | meu | mi | mia | mijn | minha | mio | moj | moja | moment | momentan | momenteel | mon | my
| myself | nace | naics | now | nuts | o | obecna | obecnie | obecny | obtained | of | on | one |
only | option | optional | options | pan | pana | pani | participant | participant's | participants
| patient | patients | per | person | person's | personal | please | podac | podaj | por | present
| presently | prosze | provide | q | quais | qual | quale | quali | quel | quelle | quelles | quels
| question | range | reached | received | recode | record | reported | represent | represents |
respondent | respondent's | s | sa | say | select | self | senale | seu | sie | sind | sir | so |
su | sua | subject | subjects | sue | suo | sus | swoj | swoja | ta | tell | tem | tens | terms |
teu | the | their | there | these | think | tick | tiene | tienes | to | today | ton | total | tu |
tuo | twoj | twoja | un | una | une | us | usted | usual | usually | uw | van | variable | version
| veuillez | voce | vos | votre | vous | w | wat | we | week | welche | welchem | welchen | welcher
| welches | welk | what | which | wie | with | would | you | your | yourself | z | zu | zum | zur |
zurzeit
""")
)
"""Words that ask and do not say what for."""

PAST = frozenset(
    listed("""
ago | did | earlier | era | etait | first | former | had | last | past | previous | previously |
war | waren | was | were
""")
)
"""Words that ask for how it was: of a birth they go without saying, of a job they do not."""

NEGATIONS = frozenset(
    listed("""
aucun | bez | except | geen | kein | keine | ne | never | nicht | nie | niet | no | non | none |
not | nunca | ohne | pas | sem | senza | sin | without
""")
)
"""Words that turn an answer round."""

OTHER_PEOPLE = frozenset(
    listed("""
babies | baby | baby's | boyfriend | brother | caregiver | carer | child | children | cohabitant |
compagno | companheiro | companion | coniuge | conjoint | conjointe | conjuge | conyuge | daughter
| deceased | doctor | donor | dzieci | dziecko | echtgenoot | echtgenote | ehefrau | ehemann |
ehepartner | eltern | elternteil | emergency | employer | enfant | enfants | enumerator | epouse |
epoux | esposa | esposo | father | fathers | figli | figlia | figlio | filha | filho | filhos |
friend | genitori | girlfriend | grandparent | guardian | hija | hijo | hijos | husband | infant |
interviewer | kid | kids | kin | kinder | kinderen | lebenspartner | madre | mae | malzonek |
marido | marito | matka | maz | mere | moeder | moglie | mother | mothers | mutter | neighbor |
neighbour | newborn | ojciec | ouders | padre | padres | pai | parceiro | pareja | parent | parents
| partenaire | partner | partnera | partnerin | partners | pere | physician | relative | rodzice |
sibling | sister | sohn | son | spouse | supervisor | tochter | twin | vader | vater | visitor |
wife | zona
""")
)
"""People who are not the one that a form is about."""

_PLACEHOLDERS = re.compile(r"\$\{[^}]*\}|\{[^}]*\}|\[[^\]]*\]")
_NUMBERING = re.compile(
    r"^\s*(?:[a-z]{0,4}_?)?\d{1,4}[a-z]?\s*[.):]\s+|^\s*[a-z]\.\s+", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OPENING = re.compile(
    r"^[^,]{1,60},\s+(?=(?:what|which|how|wie|welche|quel|cu[aá]l|qual|hoe|jak)\b)", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[a-z]{3})[.:]\s+(?=[A-Z])")
_ITEM = re.compile(r"\d{1,3}[.):]\s+|[A-Z](?:, ?[A-Z])*\s+(?=[A-Z][a-z])")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BRACKETS = re.compile(r"\([^()]*(?:\)|$)")
_ALTERNATIVES = re.compile(r"\s*(?:/|\bor\b|\boder\b|\bou\b)\s*")
_SENSES_OF: dict[str, tuple[str, ...]] = {}
for _senses in SENSES:
    for _wording in _senses:
        _SENSES_OF[_wording] = (*_SENSES_OF.get(_wording, ()), _senses[0])
_REASON_OF = {text: why for why, texts in NO_ANSWER_WORDS.items() for text in texts}


@lru_cache(maxsize=65_536)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text or of a name.

    Examples
    --------
    >>> words_of("103. Is ${firstname} MALE or female?"), words_of("maritalStatus_2")
    (('is', 'male', 'or', 'female'), ('marital', 'status', '2'))
    """
    bare = _NUMBERING.sub("", _PLACEHOLDERS.sub(" ", text))
    bare = _CAMEL.sub(" ", bare).replace("_", " ")
    return tuple(word.removesuffix("'s") for word in _WORDS.findall(plain_text(bare)))


def names_somebody(text: str) -> bool:
    """Tell whether a text has a place for a name or an earlier answer, so that others may be meant."""
    return re.search(r"\$?\{[^}]+\}|\[[a-z0-9_]+\]", text) is not None


@lru_cache(maxsize=65_536)
def readings(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the word sequences to try for a question: whole, and its kernel.

    The kernel is without brackets, ends with the first question mark or sentence, and starts after
    a comma that a question word follows ('In your main job, how many hours ...').
    """
    kernel = _SENTENCE.split(_BRACKETS.sub(" ", _NUMBERING.sub("", text)).split("?")[0])[0]
    if opening := _OPENING.search(kernel):
        kernel = kernel[opening.end() :]
    return tuple(dict.fromkeys((words_of(text), words_of(kernel))))


@lru_cache(maxsize=65_536)
def answer_text(text: str) -> str:
    """Return an answer as plain words, without signs around them."""
    return " ".join(re.sub(r"[^\w/'() -]+", " ", plain_text(text)).split()).strip(" -/'")


def answer_wordings(text: str) -> tuple[str, ...]:
    """Return the wordings of an answer to try: whole, without brackets, without what numbers it.

    Examples
    --------
    >>> answer_wordings("2. Married (now)")
    ('2 married (now)', '2 married', 'married (now)', 'married')
    """
    item = _ITEM.match(text)
    whole = [answer_text(part) for part in (text, text[item.end() :] if item else text)]
    found = [w for part in whole for w in (part, " ".join(_BRACKETS.sub(" ", part).split()))]
    return tuple(dict.fromkeys(wording for wording in found if wording))


def senses_of(wording: str) -> tuple[str, ...]:
    """Return what an answer may mean in general.

    Examples
    --------
    >>> senses_of("weiblich"), senses_of("none")
    (('female',), ('no qualification', 'no religion'))
    """
    return _SENSES_OF.get(wording, ())


def no_answer(text: str) -> str | None:
    """Return why a printed answer is none, or None.

    Examples
    --------
    >>> no_answer("Prefer not to say"), no_answer("Keine Angabe"), no_answer("Married")
    ('refused', 'refused', None)
    """
    for wording in (*answer_wordings(text), plain_text(text)):
        if wording in _REASON_OF:
            return _REASON_OF[wording]
    plain = answer_text(text)
    parts = _ALTERNATIVES.split(plain)
    if len(plain.split()) > 1 and all(part in _REASON_OF for part in parts):
        return _REASON_OF[parts[0]]
    if plain.startswith(("no code required", "n/a ", "niu ", "not in universe", "not applicable")):
        return "not applicable"
    return None
