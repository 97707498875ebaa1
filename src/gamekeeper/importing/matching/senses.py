"""Printed answers that mean the same, in eight languages, written as `answer_text` leaves a text.

The first wording is the plainest; a wording may have several senses ('none'). Nothing here names
a category of an environment: an answer means the one category that has a sense in common with it.
"""

from __future__ import annotations

from gamekeeper.importing.matching.listing import listed

SENSES: tuple[tuple[str, ...], ...] = (
    listed(
        "female | f | w | woman | women | girl | weiblich | frau | femme | feminin | fille | "
        "mujer | femenino | femmina | femminile | donna | vrouw | vrouwelijk | mulher | feminino "
        "| kobieta | zenska"
    ),
    listed(
        "male | m | man | men | boy | mannlich | mann | homme | masculin | garcon | hombre | "
        "masculino | varon | maschio | maschile | uomo | mannelijk | homem | mezczyzna | meska"
    ),
    listed("yes | y | true | ja | oui | si | sim | tak"),
    listed("no | n | false | nein | non | nee | nao | nie"),
    listed(
        "never married | single | single never married | single/never married | single (never "
        "married) | never married or never registered | never been married | not yet married | "
        "never married and never registered a civil partnership | never married or never "
        "registered a civil partnership | single never married or never registered a civil "
        "partnership | single never married or never registered a same-sex civil partnership | "
        "never married and never registered a same-sex civil partnership | never married or never "
        "registered a same-sex civil partnership | ledig | celibataire | jamais marie | jamais "
        "marie(e) | soltero | soltera | soltero/a | soltero(a) | celibe | nubile | celibe/nubile "
        "| ongehuwd | nooit gehuwd | ongehuwd/nooit gehuwd | solteiro | solteira | solteiro/a | "
        "solteiro(a) | kawaler | panna | kawaler/panna"
    ),
    listed(
        "married | now married | currently married | legally married | married person | married "
        "or in a registered civil partnership | married or in a civil partnership | married or "
        "civil partnership | married or in a registered same-sex civil partnership | "
        "married/civil partnership | verheiratet | marie | mariee | marie(e) | casado | casada | "
        "casado/a | casado(a) | coniugato | coniugata | coniugato/a | sposato | sposata | "
        "sposato/a | gehuwd | getrouwd | zonaty | zamezna | zonaty/zamezna"
    ),
    listed(
        "widowed | widow | widower | widow/widower | widow / widower | widow or widower | widowed "
        "person | widowed or surviving partner from a civil partnership | widowed or surviving "
        "partner from a same-sex civil partnership | widowed or a surviving civil partner | "
        "verwitwet | veuf | veuve | veuf/veuve | veuf(ve) | viudo | viuda | viudo/a | viudo(a) | "
        "vedovo | vedova | vedovo/a | weduwe | weduwnaar | weduwe/weduwnaar | verweduwd | viuvo | "
        "viuva | viuvo/a | viuvo(a) | wdowiec | wdowa | wdowiec/wdowa"
    ),
    listed(
        "divorced | divorcee | divorced person | divorced or formerly in a civil partnership "
        "which is now legally dissolved | divorced or formerly in a same-sex civil partnership "
        "which is now legally dissolved | geschieden | divorce | divorce(e) | divorciado | "
        "divorciada | divorciado/a | divorciado(a) | divorziato | divorziata | divorziato/a | "
        "gescheiden | rozwiedziony | rozwiedziona | rozwiedziony/rozwiedziona"
    ),
    listed(
        "separated | legally separated | married but separated | separated but still legally "
        "married | separated but still married | separated but still legally married or still "
        "legally in a civil partnership | separated but still legally married or still legally in "
        "a same-sex civil partnership | separated but still legally married or separated but "
        "still legally in a same-sex civil partnership | getrennt lebend | getrennt | verheiratet "
        "getrennt lebend | separe | separee | separe(e) | separado | separada | separado/a | "
        "separado(a) | separato | separata | separato/a | w separacji"
    ),
    listed(
        "very good | very good health | sehr gut | tres bon | tres bonne | muy bueno | muy buena "
        "| molto buono | molto buona | zeer goed | heel goed | muito bom | muito boa | bardzo "
        "dobry | bardzo dobre"
    ),
    listed(
        "good | good health | gut | bon | bonne | bueno | buena | buono | buona | goed | bom | "
        "boa | dobry | dobre"
    ),
    listed(
        "fair | fair health | mittelmassig | moyen | assez bon | assez bonne | regular | discreto "
        "| discreta | redelijk | razoavel | taki sobie | takie sobie"
    ),
    listed(
        "bad | bad health | poor | poor health | schlecht | mauvais | mauvaise | malo | mala | "
        "cattivo | cattiva | slecht | mau | ma | zly | zle"
    ),
    listed(
        "very bad | very bad health | very poor | very poor health | sehr schlecht | tres mauvais "
        "| tres mauvaise | muy malo | muy mala | molto cattivo | molto cattiva | zeer slecht | "
        "heel slecht | muito mau | muito ma | bardzo zly | bardzo zle"
    ),
    listed(
        "excellent | excellent health | ausgezeichnet | excelente | eccellente | uitstekend | "
        "doskonaly"
    ),
    listed(
        "full time | full-time | fulltime | full time employment | employed full time | vollzeit "
        "| in vollzeit | temps plein | a temps plein | temps complet | tiempo completo | jornada "
        "completa | tempo pieno | voltijd | voltijds | tempo inteiro | tempo integral | pelny "
        "etat | pelny wymiar"
    ),
    listed(
        "part time | part-time | parttime | part time employment | employed part time | teilzeit "
        "| in teilzeit | temps partiel | a temps partiel | tiempo parcial | jornada parcial | "
        "tempo parziale | deeltijd | deeltijds | tempo parcial | niepelny etat | niepelny wymiar"
    ),
    listed(
        "employed | in employment | working | in work | in paid work | currently employed | "
        "currently working | employed for wages or salary | erwerbstatig | berufstatig | en "
        "emploi | en activite | empleado | empleada | trabajando | ocupado | occupato | occupata "
        "| occupato/a | werkend | werkzaam | empregado | empregada | pracujacy | pracujaca | "
        "working now | at work"
    ),
    listed(
        "employee | an employee | employees | working as an employee | angestellt | arbeitnehmer "
        "| salarie | salariee | asalariado | dipendente | lavoratore dipendente | werknemer | in "
        "loondienst | trabalhador por conta de outrem | pracownik najemny"
    ),
    listed(
        "self-employed | self employed | selfemployed | self-employed or freelance | freelance or "
        "self-employed | selbstandig | selbststandig | independant | a son compte | autonomo | "
        "por cuenta propia | trabajador por cuenta propia | lavoratore autonomo | autonomo/a | "
        "zelfstandige | zelfstandig | trabalhador por conta propria | samozatrudniony"
    ),
    listed(
        "unemployed | not employed looking for work | unemployed looking for work | out of work | "
        "out of work and looking for work | looking for work unemployed | looking for work | "
        "unemployed and looking for work | arbeitslos | arbeitssuchend | au chomage | chomeur | "
        "chomeuse | demandeur d'emploi | en recherche d'emploi | desempleado | desempleada | "
        "parado | en paro | disoccupato | disoccupata | in cerca di occupazione | werkloos | "
        "werkzoekend | desempregado | desempregada | bezrobotny | bezrobotna"
    ),
    listed(
        "retired | pensioner | in rente | rentner | rentner/in | pensioniert | im ruhestand | "
        "retraite | retraitee | retraite(e) | jubilado | jubilada | pensionista | pensionato | "
        "pensionata | in pensione | gepensioneerd | reformado | reformada | aposentado | emeryt | "
        "emerytka | na emeryturze"
    ),
    listed(
        "student | in education | studying | full time student | schoolchild or student | pupil "
        "or student | pupil/student | schuler | schuler/in | schuler oder student | studierend | "
        "etudiant | etudiante | etudiant(e) | eleve ou etudiant | estudiante | estudiando | "
        "studente | studentessa | scolaro | estudante | uczen | uczen/student"
    ),
    listed(
        "looking after home or family | looking after family or home | looking after the home or "
        "family | looking after the home | looking after family | homemaker | home maker | "
        "keeping house | housewife | housewife/househusband | home duties | caring for home or "
        "family | hausfrau | hausfrau/hausmann | hausmann | haushalt | femme au foyer | homme au "
        "foyer | au foyer | ama de casa | labores del hogar | casalinga | casalinga/o | huisvrouw "
        "| huisvrouw/huisman | domestica/o | prowadzenie domu"
    ),
    listed(
        "long-term sick or disabled | long term sick or disabled | permanently sick or disabled | "
        "sick or disabled | unable to work | unable to work due to illness or disability | unable "
        "to work disabled | disabled unable to work | permanently disabled | erwerbsunfahig | "
        "dauerhaft krank oder behindert | en incapacite de travail | invalide | incapacitado | "
        "incapacidad permanente | inabile al lavoro | arbeidsongeschikt | incapaz de trabalhar | "
        "niezdolny do pracy"
    ),
    listed(
        "no qualification | no qualifications | no formal qualification | no formal "
        "qualifications | no formal education | no education | no schooling | no schooling "
        "completed | never attended school | never went to school | have never gone to school | "
        "none | ohne abschluss | kein abschluss | kein schulabschluss | aucun diplome | sans "
        "diplome | sin estudios | sin escolaridad | nessun titolo | nessun titolo di studio | "
        "geen diploma | geen opleiding | sem escolaridade | sem instrucao | brak wyksztalcenia"
    ),
    listed(
        "primary | primary school | primary education | elementary | elementary school | "
        "grundschule | primarschule | ecole primaire | primaire | primaria | educacion primaria | "
        "scuola elementare | licenza elementare | scuola primaria | basisonderwijs | lagere "
        "school | ensino basico | ensino fundamental | podstawowe | szkola podstawowa"
    ),
    listed(
        "secondary | secondary school | secondary education | high school | high school diploma | "
        "high school graduate | high school graduate or ged | high school or ged | high school "
        "diploma or equivalent | high school diploma or ged | secondaire | ecole secondaire | "
        "secundaria | educacion secundaria | scuola secondaria | scuola superiore | middelbare "
        "school | voortgezet onderwijs | ensino secundario | ensino medio | srednie | szkola "
        "srednia"
    ),
    listed(
        "first degree | bachelor's degree | bachelors degree | bachelor degree | bachelor | "
        "bachelors | undergraduate degree | licence | laurea triennale | licenciatura | licencjat"
    ),
    listed(
        "higher degree | postgraduate degree | graduate degree | postgraduate | master's or "
        "doctorate | master's or doctoral degree | master's degree or higher | graduate or "
        "professional degree | advanced degree"
    ),
    listed(
        "owned | owner | own | owns | owner occupied | home owner | owned by household | eigentum "
        "| eigentumer | proprietaire | en propiedad | propia | di proprieta | proprieta | koop | "
        "koopwoning | eigendom | proprio | propria | wlasne | wlasnosc"
    ),
    listed(
        "rented | rent | rents | renting | renter | tenant | rented from somebody | miete | "
        "mieter | zur miete | locataire | en location | en alquiler | alquilada | in affitto | "
        "affitto | huur | huurwoning | arrendado | arrendada | alugado | alugada | wynajem | "
        "wynajmowane"
    ),
    listed(
        "owned outright | owns outright | own outright | owned without a mortgage | owned free "
        "and clear | eigentum ohne hypothek | proprietaire sans emprunt"
    ),
    listed(
        "owned with a mortgage | owns with a mortgage or loan | own with a mortgage or loan | own "
        "with a mortgage | owned with a mortgage or loan | being bought on a mortgage | buying "
        "with a mortgage | mortgaged | eigentum mit hypothek | proprietaire accedant"
    ),
    listed(
        "christian | christianity | christlich | christ | chretien | chretienne | cristiano | "
        "cristiana | christen | christelijk | cristao | crista | chrzescijanin | chrzescijanstwo"
    ),
    listed(
        "no religion | none | no religious affiliation | not religious | no religion or belief | "
        "no religious beliefs | konfessionslos | keine religion | keine konfession | sans "
        "religion | aucune religion | aucune | sin religion | ninguna | nessuna religione | "
        "nessuna | geen religie | geen godsdienst | sem religiao | nenhuma | bezwyznaniowy | brak "
        "wyznania"
    ),
    listed(
        "muslim | moslem | islam | islamic | muslimisch | islamisch | musulman | musulmane | "
        "musulmano | musulmana | moslim | muculmano | muculmana | muzulmanin"
    ),
    listed(
        "jewish | jew | judaism | judisch | judentum | juif | juive | judio | judia | ebreo | "
        "ebrea | joods | judeu | zyd"
    ),
    listed("hindu | hinduism | hinduistisch | hindou | induista | hindoe"),
    listed("buddhist | buddhism | buddhistisch | bouddhiste | budista | buddista | boeddhist"),
    listed("sikh | sikhism"),
    listed(
        "heterosexual | straight | straight or heterosexual | heterosexual or straight | "
        "heterosexual/straight | straight/heterosexual | heterosexuell | heterosexuel | "
        "eterosessuale | heteroseksueel | heteroseksualny"
    ),
    listed(
        "gay or lesbian | lesbian or gay | gay/lesbian | lesbian/gay | homosexual | homosexual "
        "(gay or lesbian) | schwul oder lesbisch | homosexuell | homosexuel | homosexuel ou "
        "lesbienne | homosexual o lesbiana | omosessuale | homoseksueel | homoseksualny"
    ),
    listed("bisexual | bisexuell | bisexuel | bisessuale | biseksueel | biseksualny"),
    listed(
        "white | white alone | white only | weiss | blanc | blanca | blanco | bianco | blank | "
        "branco | branca"
    ),
    listed(
        "black | black alone | black only | black or african american | black or african american "
        "alone | black/african american | african american | black african caribbean or black "
        "british | black black british caribbean or african | black or black british | "
        "black/african/caribbean/black british | noir | negro | preto"
    ),
    listed(
        "asian | asian alone | asian only | asian or asian british | asian and asian british | "
        "asian/asian british | asiatique | asiatico"
    ),
    listed(
        "mixed or multiple ethnic groups | mixed | mixed ethnic group | mixed/multiple ethnic "
        "groups | mixed/multiple ethnic group | mixed or multiple ethnic group | multiple ethnic "
        "groups | mixed race"
    ),
    listed(
        "american indian or alaska native | american indian/alaska native | american indian or "
        "alaskan native | american indian alaskan native | native american | american indian or "
        "alaska native alone"
    ),
    listed(
        "pacific islander | native hawaiian or other pacific islander | native hawaiian/other "
        "pacific islander | native hawaiian or pacific islander | hawaiian/pacific islander | "
        "native hawaiian and other pacific islander | native hawaiian and other pacific islander "
        "alone | hawaiian/pacific islander only"
    ),
    listed(
        "other race | some other race | some other race alone | other race alone | another race"
    ),
    listed(
        "not hispanic | not hispanic or latino | non-hispanic | non hispanic | not "
        "spanish/hispanic/latino | not of hispanic or latino origin | not of hispanic latino or "
        "spanish origin | non-hispanic or latino | no not of hispanic latino or spanish origin | "
        "no not of hispanic or latino origin"
    ),
    listed(
        "hispanic | hispanic or latino | hispanic/latino | hispanic latino or spanish | "
        "spanish/hispanic/latino | of hispanic or latino origin | yes of hispanic or latino "
        "origin | yes of hispanic latino or spanish origin | hispanic latino or spanish origin"
    ),
    listed(
        "uk | united kingdom | great britain | vereinigtes konigreich | royaume-uni | reino unido "
        "| regno unito | verenigd koninkrijk"
    ),
    listed("ireland | republic of ireland | irish republic | irland | irlande | irlanda | ierland"),
    listed(
        "germany | deutschland | allemagne | alemania | germania | duitsland | alemanha | niemcy"
    ),
    listed("france | frankreich | francia | frankrijk | franca"),
    listed("spain | spanien | espagne | espana | spagna | spanje | espanha | hiszpania"),
    listed("italy | italien | italie | italia | wlochy"),
    listed("poland | polen | pologne | polonia | polska"),
    listed(
        "head | head of household | household head | householder | reference person | household "
        "reference person | self | haushaltsvorstand | chef de menage | jefe del hogar | jefe de "
        "hogar | capofamiglia | hoofd van het huishouden | chefe de familia"
    ),
    listed(
        "spouse or partner | spouse/partner | husband wife or partner | husband/wife/partner | "
        "spouse or cohabiting partner | wife/husband/partner | ehepartner oder partner | conjoint "
        "| conyuge o pareja | coniuge o convivente"
    ),
    listed(
        "child | son/daughter | son or daughter | son / daughter | daughter/son | own child | "
        "kind | sohn/tochter | enfant | fils/fille | hijo | hijo/a | hijo o hija | figlio/a | "
        "zoon/dochter | filho/a | syn/corka"
    ),
    listed(
        "other relative | other relatives | another relative | other related person | other "
        "family member | andere verwandte | autre parent | otro pariente | altro parente | ander "
        "familielid | outro parente"
    ),
    listed(
        "not related | non-relative | nonrelative | unrelated | other non-relative | non relative "
        "| not a relative | nicht verwandt | sans lien de parente | sin parentesco | non parente "
        "| niet verwant | sem parentesco"
    ),
)
"""Printed answers that mean the same."""

OTHERS = frozenset(
    listed(
        "another | any other | other | others | other (specify) | other (please specify) | other "
        "please specify | other specify | other please describe | other - please specify | "
        "something else | none of these | none of the above | any other religion | another "
        "religion | other religion | other religions | other race | other ethnic group | other "
        "nationality | other language | andere | andere angabe | anderes | anderer | sonstige | "
        "sonstiges | etwas anderes | keine der genannten | autre | autres | autre (precisez) | "
        "autre precisez | otro | otra | otros | otras | otro (especifique) | ninguno de los "
        "anteriores | altro | altra | altri | altro (specificare) | anders | overig | overige | "
        "iets anders | outro | outra | outros | outras | inne | inny | inna | cos innego"
    )
)
"""Answers for everybody whom no other answer fits."""
