"""Words for what forms often ask, and for answers that forms often print, in eight languages.

A concept is a set of wordings of the same thing. Two texts with a concept in common mean the
same; nothing here names a variable or a category of an environment. English, German, French,
Spanish, Italian, Dutch, Portuguese, Polish; written as `plain_text` leaves a text.
"""

from __future__ import annotations


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


CONCEPTS: dict[str, tuple[str, ...]] = {
    "age": _listed(
        "age | ages | age band | age group | age in years | how old | date of birth | birth date "
        "| year of birth | when born | birthday | dob | alter | wie alt | altersgruppe | "
        "geburtsdatum | geburtsjahr | how old at last birthday | age at last birthday | quel age "
        "| tranche d'age | date de naissance | annee de naissance | edad | cuantos anos | fecha "
        "de nacimiento | eta | quanti anni | data di nascita | leeftijd | hoe oud | geboortedatum "
        "| geboortejaar | idade | data de nascimento | wiek | ile lat | data urodzenia | rok "
        "urodzenia"
    ),
    "sex": _listed(
        "sex | gender | male or female | sex assigned at birth | sex registered at birth | "
        "geschlecht | sexe | genre | sexo | genero | sesso | genere | geslacht | plec"
    ),
    "gender identity": _listed(
        "gender identity | geschlechtsidentitat | identite de genre | identidad de genero"
    ),
    "sexual orientation": _listed(
        "sexual orientation | sexual identity | sexuelle orientierung | orientation sexuelle | "
        "orientacion sexual | orientamento sessuale | seksuele geaardheid | orientacao sexual | "
        "orientacja seksualna"
    ),
    "marital status": _listed(
        "marital status | legal marital status | marital or registered civil partnership status | "
        "marital or civil partnership status | legal partnership status | partnership status | "
        "marital state | civil status | familienstand | etat civil | situation matrimoniale | "
        "etat matrimonial | statut matrimonial | estado civil | stato civile | burgerlijke staat "
        "| burgerlijke stand | stan cywilny | marst | marstat"
    ),
    "education": _listed(
        "education | level of education | educational attainment | education level | highest "
        "qualification | highest level of education | highest level of school | highest level of "
        "qualification | highest degree | school level | hochster bildungsabschluss | "
        "bildungsabschluss | hochster schulabschluss | schulabschluss | bildung | niveau d'etudes "
        "| niveau d'etude | diplome le plus eleve | nivel de estudios | nivel educativo | titolo "
        "di studio | livello di istruzione | opleidingsniveau | hoogst voltooide opleiding | "
        "escolaridade | nivel de escolaridade | wyksztalcenie | poziom wyksztalcenia"
    ),
    "employment status": _listed(
        "employment status | economic activity | economic activity status | labour force status | "
        "labor force status | working status | work status | activity status | erwerbsstatus | "
        "erwerbstatigkeit | beschaftigungsstatus | situation professionnelle | statut d'emploi | "
        "situacion laboral | condizione occupazionale | condizione professionale | "
        "arbeidssituatie | situacao profissional | sytuacja zawodowa | status zawodowy"
    ),
    "full or part time": _listed(
        "full or part time | work full time or part time | full time part time employment status "
        "| full time or part time | full-time or part-time | full time part "
        "time | vollzeit oder teilzeit | temps plein ou temps partiel | jornada completa o "
        "parcial"
    ),
    "occupation": _listed(
        "occupation | profession | job title | official job title | main occupation | beruf | "
        "berufsbezeichnung | metier | ocupacion | profesion | professione | occupazione | beroep "
        "| profissao | ocupacao | zawod"
    ),
    "industry": _listed(
        "industry | branch of industry | economic sector | sector of activity | wirtschaftszweig "
        "| branche | secteur d'activite | sector de actividad | settore di attivita | bedrijfstak "
        "| setor de atividade | branza"
    ),
    "hours worked": _listed(
        "hours worked | hours worked per week | hours per week worked | working hours | weekly "
        "hours | hours a week work | how many hours a week work | how many hours per week work | "
        "how many hours work | hours worked last week | arbeitsstunden | wochenarbeitszeit | "
        "heures de travail | horas trabajadas | ore lavorate | arbeidsuren | horas trabalhadas | "
        "godziny pracy"
    ),
    "income": _listed(
        "income | personal income | annual income | total income | total personal income | "
        "earnings | salary | wage | einkommen | gehalt | revenu | salaire | ingresos | salario | "
        "reddito | stipendio | inkomen | salaris | rendimento | renda | dochod | wynagrodzenie"
    ),
    "household income": _listed(
        "household income | family income | total household income | income of household | "
        "haushaltseinkommen | revenu du menage | ingresos del hogar | reddito familiare | "
        "huishoudinkomen | renda familiar | dochod gospodarstwa domowego"
    ),
    "household size": _listed(
        "household size | size of household | number of people in household | number of persons "
        "in household | number of household members | people living in household | number of "
        "people living in household | haushaltsgrosse | personen im haushalt | taille du menage | "
        "tamano del hogar | dimensione della famiglia | huishoudgrootte | tamanho do agregado | "
        "wielkosc gospodarstwa domowego"
    ),
    "number of children": _listed(
        "number of children | how many children | anzahl kinder | anzahl der kinder | nombre "
        "d'enfants | numero de hijos | numero di figli | aantal kinderen | numero de filhos | "
        "liczba dzieci"
    ),
    "number of rooms": _listed(
        "number of rooms | how many rooms | anzahl zimmer | nombre de pieces | numero de "
        "habitaciones"
    ),
    "number of bedrooms": _listed(
        "number of bedrooms | how many bedrooms | anzahl schlafzimmer | nombre de chambres"
    ),
    "number of cars": _listed(
        "number of cars | how many cars | number of cars or vans | how many cars or vans | car "
        "availability | anzahl autos | nombre de voitures | numero de coches | aantal auto's | "
        "number of vehicles"
    ),
    "tenure": _listed(
        "tenure | tenure of household | own or rent | rented or owned | owned or rented | housing "
        "tenure | house rented or owned | household own or rent | home rented or owned | housing "
        "unit rented or owned | home ownership | eigentum oder miete | proprietaire ou locataire "
        "| regimen de tenencia | titolo di godimento | eigendom of huur"
    ),
    "ethnic group": _listed(
        "ethnic group | ethnicity | ethnic background | ethnic origin | ethnische zugehorigkeit | "
        "ethnische herkunft | groupe ethnique | origine ethnique | grupo etnico | gruppo etnico | "
        "etnische groep | grupa etniczna"
    ),
    "race": _listed("race | rasse | raza | raca | white or nonwhite"),
    "hispanic origin": _listed(
        "hispanic origin | hispanic latino or spanish origin | hispanic or latino | hispanic or "
        "latino origin"
    ),
    "country of birth": _listed(
        "country of birth | birth country | which country born | where born | country born in | "
        "birthplace | place of birth | geburtsland | geburtsort | pays de naissance | lieu de "
        "naissance | pais de nacimiento | paese di nascita | geboorteland | pais de nascimento | "
        "kraj urodzenia"
    ),
    "nationality": _listed(
        "nationality | citizenship | staatsangehorigkeit | staatsburgerschaft | nationalitat | "
        "nationalite | citoyennete | nacionalidad | ciudadania | nazionalita | cittadinanza | "
        "nationaliteit | nacionalidade | obywatelstwo | narodowosc"
    ),
    "main language": _listed(
        "main language | mother tongue | first language | preferred language | preferred language "
        "at home | language spoken at home | muttersprache | langue maternelle | lengua materna | "
        "lingua madre | moedertaal | lingua materna | jezyk ojczysty"
    ),
    "religion": _listed(
        "religion | religious affiliation | religion belong to | what religion | konfession | "
        "religionszugehorigkeit | religione | religie | religiao | religia | wyznanie | geloof"
    ),
    "general health": _listed(
        "general health | health in general | health status | state of health | self rated health "
        "| self-rated health | health | gesundheitszustand | allgemeiner gesundheitszustand | "
        "etat de sante | estado de salud | stato di salute | gezondheidstoestand | estado de "
        "saude | stan zdrowia"
    ),
    "disability": _listed(
        "disability | disabled | long-term illness or disability | limiting long-term illness | "
        "behinderung | handicap | discapacidad | disabilita | beperking | deficiencia | "
        "niepelnosprawnosc"
    ),
    "region": _listed(
        "region | region of residence | usual residence region | bundesland | provincia | regione "
        "| regio | regiao | wojewodztwo | comunidad autonoma"
    ),
    "state": _listed(
        "state | state fips code | state of residence | state or territory | us state"
    ),
    "relationship to head": _listed(
        "relationship to head of household | relationship to household head | relationship to "
        "reference person | relationship to the head of household | stellung im haushalt | lien "
        "avec le chef de menage | parentesco con el jefe del hogar"
    ),
    "student": _listed(
        "student | schoolchild or full-time student | student in full-time education | in "
        "full-time education | schoolchild or student in full-time education | full-time student "
        "| student status"
    ),
    "social grade": _listed("social grade | approximated social grade | approximate social grade"),
    "family composition": _listed(
        "family composition | family type | type of family | families type"
    ),
    "residence type": _listed(
        "residence type | type of residence | communal establishment or household | usual "
        "resident type"
    ),
}
"""What forms ask for; the first wording is the plainest."""

SENSES: tuple[tuple[str, ...], ...] = (
    _listed(
        "female | f | w | woman | women | girl | weiblich | frau | femme | feminin | fille | "
        "mujer | femenino | femmina | femminile | donna | vrouw | vrouwelijk | mulher | feminino "
        "| kobieta | zenska"
    ),
    _listed(
        "male | m | man | men | boy | mannlich | mann | homme | masculin | garcon | hombre | "
        "masculino | varon | maschio | maschile | uomo | mannelijk | homem | mezczyzna | meska"
    ),
    _listed("yes | y | ja | oui | si | sim | tak"),
    _listed("no | n | nein | non | nee | nao | nie"),
    _listed(
        "never married | single | never married and never registered a civil partnership | "
        "single/never married | never married or never registered | single never married | ledig "
        "| celibataire | jamais marie | soltero | soltera | soltero/a | celibe | nubile | "
        "celibe/nubile | ongehuwd | nooit gehuwd | solteiro | solteira | solteiro/a | kawaler | "
        "panna | kawaler/panna | single never married or never registered a same-sex civil "
        "partnership"
    ),
    _listed(
        "married | verheiratet | marie | mariee | marie(e) | casado | casada | casado/a | "
        "coniugato | coniugata | sposato | gehuwd | getrouwd | zonaty | zamezna | zonaty/zamezna "
        "| now married | married person"
    ),
    _listed(
        "widowed | widow | widower | widow/widower | widow / widower | verwitwet | veuf | veuve | "
        "veuf/veuve | viudo | viuda | viudo/a | vedovo | vedova | weduwe | weduwnaar | verweduwd "
        "| viuvo | viuva | wdowiec | wdowa | widowed person"
    ),
    _listed(
        "divorced | geschieden | divorce | divorcee | divorce(e) | divorciado | divorciada | "
        "divorziato | divorziata | gescheiden | rozwiedziony | rozwiedziona | divorced person"
    ),
    _listed(
        "separated | getrennt lebend | separe | separee | separado | separada | separato | "
        "separata | w separacji | separated but still legally married | separated but still "
        "married"
    ),
    _listed(
        "very good | very good health | sehr gut | tres bon | muy bueno | muy buena | molto buono "
        "| zeer goed | muito bom | bardzo dobry | bardzo dobre"
    ),
    _listed("good | good health | gut | bon | bueno | buena | buono | goed | bom | dobry | dobre"),
    _listed(
        "fair | fair health | mittelmassig | moyen | assez bon | regular | discreto | redelijk | "
        "razoavel | taki sobie"
    ),
    _listed(
        "bad | bad health | poor | poor health | schlecht | mauvais | malo | mala | cattivo | "
        "slecht | mau | zly"
    ),
    _listed(
        "very bad | very bad health | very poor | sehr schlecht | tres mauvais | muy malo | muy "
        "mala | molto cattivo | zeer slecht | muito mau | bardzo zly"
    ),
    _listed("excellent | ausgezeichnet | excelente | eccellente | uitstekend | doskonaly"),
    _listed(
        "full time | full-time | vollzeit | temps plein | tiempo completo | tempo pieno | voltijd "
        "| tempo inteiro | pelny etat"
    ),
    _listed(
        "part time | part-time | teilzeit | temps partiel | tiempo parcial | part-time | deeltijd "
        "| tempo parcial | niepelny etat"
    ),
    _listed(
        "employed | in employment | working | in work | erwerbstatig | en emploi | empleado | "
        "occupato | werkend | empregado | pracujacy | working now | at work"
    ),
    _listed(
        "unemployed | out of work | arbeitslos | au chomage | chomeur | desempleado | en paro | "
        "disoccupato | werkloos | desempregado | bezrobotny"
    ),
    _listed(
        "retired | in rente | rentner | pensioniert | retraite | jubilado | pensionato | "
        "gepensioneerd | reformado | emeryt | na emeryturze"
    ),
    _listed(
        "owned | owner | own | owner occupied | eigentum | proprietaire | en propiedad | di "
        "proprieta | koop | proprio | wlasne"
    ),
    _listed(
        "rented | rent | renting | miete | zur miete | locataire | en alquiler | in affitto | "
        "huur | arrendado | wynajem"
    ),
    _listed("christian | christlich | chretien | cristiano | christen | cristao | chrzescijanin"),
    _listed(
        "no religion | none | no religious affiliation | konfessionslos | sans religion | sin "
        "religion | nessuna religione | geen religie | sem religiao | bezwyznaniowy"
    ),
    _listed(
        "muslim | moslem | islam | muslimisch | musulman | musulmano | moslim | muculmano | "
        "muzulmanin"
    ),
    _listed("jewish | jew | judisch | juif | judio | ebreo | joods | judeu | zyd"),
    _listed("hindu | hinduism"),
    _listed("buddhist | buddhism"),
    _listed("sikh | sikhism"),
)
"""Printed answers that mean the same."""

OTHERS = frozenset(
    _listed(
        "altri | altro | andere | andere angabe | anderes | anders | another | another religion | "
        "any other | any other religion | autre | autres | inne | inny | other | other (specify) "
        "| other please specify | other religion | other specify | others | otra | otro | otros | "
        "outra | outro | outros | overig | something else | sonstige | sonstiges"
    )
)
"""Answers for everybody whom no other answer fits."""

NO_ANSWER_WORDS: dict[str, frozenset[str]] = {
    "refused": frozenset(
        _listed(
            "choose not to answer | decline to answer | declined | declined to answer | do not answer "
            "| do not want to answer | do not wish to answer | i do not wish to answer | ich mochte "
            "nicht antworten | je prefere ne pas repondre | keine angabe | mochte ich nicht angeben | "
            "nao responde | ne souhaite pas repondre | no contesta | no response | odmowa | odmowa "
            "odpowiedzi | prefer not to answer | prefer not to disclose | prefer not to say | "
            "preferisco non rispondere | prefiere no contestar | prefiero no contestar | prefiero no "
            "decirlo | prefiro nao responder | refus | refusal | refuse | refuse to answer | refused "
            "| rifiuta | unknown-refused | verweigert | wil niet zeggen | wole nie odpowiadac | zeg "
            "ik liever niet"
        )
    ),
    "don't know": frozenset(
        _listed(
            "do not know | don't know | don't know / not sure | don't know or refuse to answer | dont "
            "know | i don't know | je ne sais pas | nao sabe | nao sei | ne sait pas | nie wiem | no "
            "sabe | no se | non sa | non so | not sure | nsp | trudno powiedziec | uncertain | "
            "unknown-don't know | unsure | weet ik niet | weet niet | weiss ich nicht | weiss nicht"
        )
    ),
    "not stated": frozenset(
        _listed(
            "blank | brak danych | brak odpowiedzi | desconhecido | desconocido | inconnu | missing | "
            "missing/unknown | nieznane | niu or blank | no answer | non indicato | non renseigne | "
            "not answered | not ascertained | not available | not recorded | not reported | not "
            "reported/missing | not stated | ohne angabe | onbekend | sconosciuto | sem resposta | "
            "sin especificar | unbekannt | unknown | unknown-not ascertained | unknown/missing | "
            "unspecified"
        )
    ),
    "not applicable": frozenset(
        _listed(
            "does not apply | entfallt | inapplicable | n.v.t. | n/a | na | nao aplicavel | nao se "
            "aplica | ne s'applique pas | nicht zutreffend | nie dotyczy | niet van toepassing | niu "
            "| niu (not in universe) | no aplicable | no code required | no corresponde | no procede "
            "| non applicabile | non concerne | not applicable | not in universe | not required | "
            "sans objet | trifft nicht zu"
        )
    ),
}
"""Printed answers that are none, by why they are none."""

NEUTRAL = frozenset(
    _listed(
        "a | achieved | an | angeben | annual | answer | are | at | attended | be | best | bist | "
        "bitte | bracket | by | categories | category | census | choose | code | codes | "
        "completed | cual | current | currently | das | de | dein | deine | deiner | del | della "
        "| den | der | des | describe | describes | detailed | di | die | do | does | du | e | "
        "een | ein | eine | el | enter | es | est | etes | etes-vous | exact | following | for | "
        "full | general | gli | haben | has | have | her | het | his | how | i | ihr | ihre | "
        "ihren | il | in | indicate | is | ist | jaka | jaki | jest | jouw | la | las | le | "
        "legal | les | list | lo | los | main | my | now | o | obtained | of | on | one | "
        "optional | pana | pani | per | person | person's | personal | please | q | qual | quel | "
        "quelle | question | range | recode | reported | respondent | respondent's | s | select | "
        "self | seu | sie | sind | specify | su | sua | suo | teu | the | their | to | today | "
        "total | tu | tuo | twoj | twoja | usted | usual | usually | uw | van | version | votre | "
        "vous | w | wat | week | welche | welcher | welches | what | which | wie | you | your | "
        "yourself | z | zu"
    )
)
"""Words that ask and do not say what for."""

PAST = frozenset(
    _listed(
        "ago | did | earlier | era | etait | first | former | had | last | past | previous | "
        "previously | war | waren | was | were"
    )
)
"""Words that ask for how it was: of a birth they go without saying, of a job they do not."""

NEGATIONS = frozenset(
    _listed(
        "aucun | bez | except | geen | kein | keine | ne | never | nicht | nie | niet | no | non "
        "| none | not | nunca | ohne | pas | sem | senza | sin | without"
    )
)
"""Words that turn an answer round."""
