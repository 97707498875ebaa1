"""Words for what forms often ask and for what is often answered, in eight languages.

A concept is a set of wordings of the same thing. Two texts with a concept in common mean the same. A
wording may belong to two concepts ('ethnicity', 'gender'): then the printed answers decide. Printed
answers that mean the same have a sense in common; a wording may have several ('none'), and an answer
means the one category that has a sense in common with it. Nothing here names a variable or a
category of an environment. English, German, French, Spanish, Italian, Dutch, Portuguese, Polish;
concepts are written as `plain_text` leaves a text, answers as `answer_text` does.
"""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """Return the wordings of a text, between which bars stand."""
    return tuple(" ".join(part.split()) for part in text.split("|"))


def paragraphs(text: str) -> list[str]:
    """Return the parts of a text, between which empty lines stand."""
    return text.split("\n\n")


def listed_by_name(text: str) -> dict[str, tuple[str, ...]]:
    """Return the wordings of each paragraph of a text by what it begins with, before a colon."""
    parts = (part.partition(":") for part in paragraphs(text))
    return {name.strip(): listed(wordings) for name, _, wordings in parts}


CONCEPTS = listed_by_name("""
age: age | ages | age band | age group | age class | age category | age range | age in years | age
years | age at last birthday | age last birthday | age at interview | how old | how old at last
birthday | date of birth | birth date | birthdate | year of birth | birth year | month and year of
birth | year born | when born | in which year born | what year born | birthday | dob | yob | alter
| alter in jahren | lebensalter | wie alt | altersgruppe | altersklasse | geburtsdatum |
geburtsjahr | geburtstag | wann geboren | in welchem jahr geboren | age revolu | quel age | tranche
d'age | classe d'age | groupe d'age | date de naissance | annee de naissance | quelle annee ne |
edad | edad en anos | cuantos anos | que edad | grupo de edad | anos cumplidos | fecha de
nacimiento | ano de nacimiento | cuando nacio | eta | quanti anni | fascia d'eta | classe di eta |
data di nascita | anno di nascita | quando nato | leeftijd | leeftijd in jaren | leeftijdsgroep |
leeftijdscategorie | hoe oud | geboortedatum | geboortejaar | wanneer geboren | idade | faixa
etaria | grupo etario | quantos anos | data de nascimento | ano de nascimento | quando nasceu |
wiek | wiek w latach | ile lat | grupa wiekowa | przedzial wiekowy | data urodzenia | rok urodzenia

sex: sex | gender | sex or gender | gender sex | male or female | man or woman | sex at birth | sex
assigned at birth | sex registered at birth | biological sex | biological sex at birth | biological
sex assigned at birth | geschlecht | mann oder frau | mannlich oder weiblich | sexe | genre | homme
ou femme | sexe a la naissance | sexo | genero | sexo al nacer | hombre o mujer | sesso | genere |
sesso alla nascita | geslacht | man of vrouw | homem ou mulher | masculino ou feminino | plec |
kobieta czy mezczyzna

gender identity: gender identity | identified gender | geschlechtsidentitat | identite de genre |
identidad de genero | identita di genere | genderidentiteit | identidade de genero | tozsamosc
plciowa

sexual orientation: sexual orientation | sexual identity | sexuelle orientierung | sexuelle
identitat | orientation sexuelle | orientacion sexual | orientamento sessuale | seksuele geaardheid
| seksuele orientatie | orientacao sexual | orientacja seksualna

marital status: marital status | legal marital status | marital state | marital or partnership
status | marital or civil partnership status | marital or registered civil partnership status |
legal partnership status | partnership status | relationship status | civil status | marst |
marstat | familienstand | personenstand | beziehungsstatus | etat civil | situation matrimoniale |
situation familiale | situation de famille | etat matrimonial | statut matrimonial | estado civil |
estado conyugal | situacion conyugal | stato civile | stato coniugale | burgerlijke staat |
burgerlijke stand | estado conjugal | situacao conjugal | stan cywilny

education: education | education level | educational level | level of education | level of
schooling | educational attainment | educational qualification | highest qualification | highest
level of qualification | highest education | highest education level | highest level of education |
highest level of education completed | highest educational level | highest educational
qualification | highest level of school | highest level of schooling | highest grade completed |
highest grade of school | highest grade or level of school | highest degree | highest degree or
level of school | highest degree or level of education | highest degree or qualification | highest
academic qualification | bildung | bildungsstand | bildungsniveau | bildungsabschluss |
schulabschluss | hochster abschluss | hochster bildungsabschluss | hochster schulabschluss | niveau
d'etudes | niveau d'etude | niveau d'education | niveau d'instruction | niveau de formation |
niveau scolaire | diplome le plus eleve | plus haut diplome | plus haut niveau d'etudes | nivel de
estudios | nivel de educacion | nivel educativo | nivel de instruccion | nivel academico | maximo
nivel de estudios | escolaridad | titolo di studio | livello di istruzione | livello di studio |
grado di istruzione | opleiding | opleidingsniveau | hoogste opleiding | hoogst voltooide opleiding
| hoogst behaalde diploma | escolaridade | nivel de escolaridade | nivel de ensino | grau de
instrucao | habilitacoes literarias | wyksztalcenie | poziom wyksztalcenia

employment status: employment status | employment situation | economic activity | economic activity
status | economic status | labour force status | labor force status | labour market status |
occupational status | working status | work status | work situation | job status | activity status
| main activity | main activity status | erwerbsstatus | erwerbssituation | erwerbstatigkeit |
beschaftigungsstatus | berufliche situation | situation professionnelle | situation d'emploi |
statut d'emploi | statut professionnel | statut d'activite | situacion laboral | situacion de
empleo | situacion ocupacional | condicion de actividad | estado laboral | condizione occupazionale
| condizione professionale | condizione lavorativa | situazione lavorativa | stato occupazionale |
arbeidssituatie | arbeidsstatus | werksituatie | situacao profissional | situacao laboral |
situacao perante o trabalho | condicao de trabalho | sytuacja zawodowa | status zawodowy | status
na rynku pracy

full or part time: full or part time | full time or part time | full time part time | work full
time or part time | work full or part time | job full time or part time | employed full time or
part time | full time or part time work | full time part time employment status | full time or part
time status | vollzeit oder teilzeit | vollzeit teilzeit | temps plein ou temps partiel | temps
plein ou partiel | temps complet ou partiel | jornada completa o parcial | tiempo completo o
parcial | tempo pieno o parziale | voltijd of deeltijd | voltijds of deeltijds | tempo inteiro ou
parcial | tempo integral ou parcial | pelny czy niepelny etat

occupation: occupation | main occupation | profession | job | main job | job title | official job
title | title of job | title of main job | type of work | kind of work | beruf | ausgeubter beruf |
berufsbezeichnung | berufliche tatigkeit | metier | profession exercee | occupation principale |
ocupacion | ocupacion principal | profesion | oficio | puesto de trabajo | professione |
occupazione | mestiere | beroep | profissao | ocupacao | zawod | wykonywany zawod

industry: industry | industry sector | branch of industry | type of industry | kind of industry |
kind of business or industry | nature of business | economic sector | business sector | employment
sector | sector of employment | sector of activity | sector of industry | wirtschaftszweig |
wirtschaftsbereich | wirtschaftssektor | branche | branche d'activite | secteur d'activite |
secteur economique | sector de actividad | sector economico | rama de actividad | settore di
attivita | settore economico | ramo di attivita | bedrijfstak | bedrijfssector | setor de atividade
| setor economico | ramo de atividade | branza | sektor gospodarki

hours worked: hours worked | hours worked per week | hours worked a week | hours per week worked |
working hours | weekly hours | weekly working hours | hours a week work | how many hours a week
work | how many hours per week work | how many hours work | how many hours work per week | how many
hours work a week | hours worked last week | usual hours | usual hours worked | arbeitsstunden |
arbeitsstunden pro woche | wochenarbeitszeit | wie viele stunden arbeiten pro woche | heures de
travail | heures travaillees par semaine | combien d'heures travaillez par semaine | horas
trabajadas | horas de trabajo | cuantas horas trabaja a la semana | ore lavorate | ore di lavoro
settimanali | arbeidsuren | uren per week werkt | horas trabalhadas | horas de trabalho por semana
| godziny pracy | liczba godzin pracy

income: income | personal income | annual income | yearly income | monthly income | gross income |
net income | total income | total personal income | earnings | salary | annual salary | wage |
wages | wages or salary | wage or salary income | pay | einkommen | jahreseinkommen |
monatseinkommen | bruttoeinkommen | nettoeinkommen | gehalt | revenu | revenu annuel | revenu
mensuel | salaire | ingresos | ingresos mensuales | ingresos anuales | salario | reddito | reddito
annuo | reddito mensile | stipendio | inkomen | jaarinkomen | maandinkomen | salaris | rendimento |
rendimento mensal | renda | renda mensal | dochod | zarobki | wynagrodzenie

household income: household income | family income | total household income | total family income |
annual household income | monthly household income | gross household income | net household income
| combined household income | income of household | haushaltseinkommen | haushaltsnettoeinkommen |
familieneinkommen | revenu du menage | revenu du foyer | ingresos del hogar | ingresos familiares |
reddito familiare | huishoudinkomen | gezinsinkomen | renda familiar | rendimento do agregado |
dochod gospodarstwa domowego

household size: household size | size of household | family size | number of people in household |
number of persons in household | number of household members | number of family members | people
living in household | number of people living in household | how many people live in household |
how many persons live in household | how many people in household | people in household |
haushaltsgrosse | personen im haushalt | anzahl personen im haushalt | anzahl der personen im
haushalt | wie viele personen leben im haushalt | taille du menage | taille du foyer | nombre de
personnes dans menage | nombre de personnes dans foyer | combien de personnes vivent dans foyer |
tamano del hogar | numero de personas en hogar | cuantas personas viven en hogar | dimensione della
famiglia | numero di componenti della famiglia | quante persone vivono in famiglia |
huishoudgrootte | aantal personen in huishouden | uit hoeveel personen bestaat huishouden | tamanho
do agregado | numero de pessoas no agregado | quantas pessoas vivem no agregado | wielkosc
gospodarstwa domowego | liczba osob w gospodarstwie domowym

number of children: number of children | number of kids | how many children | how many kids |
anzahl kinder | anzahl der kinder | wie viele kinder | nombre d'enfants | combien d'enfants |
numero de hijos | cuantos hijos | numero di figli | quanti figli | aantal kinderen | hoeveel
kinderen | numero de filhos | quantos filhos | liczba dzieci | ile dzieci

number of rooms: number of rooms | how many rooms | anzahl zimmer | anzahl der zimmer | wie viele
zimmer | nombre de pieces | combien de pieces | numero de habitaciones | cuantas habitaciones |
numero di stanze | quante stanze | aantal kamers | hoeveel kamers | numero de divisoes | numero de
quartos | liczba pokoi | ile pokoi

number of bedrooms: number of bedrooms | how many bedrooms | anzahl schlafzimmer | wie viele
schlafzimmer | nombre de chambres | combien de chambres | numero de dormitorios | cuantos
dormitorios | numero di camere da letto | aantal slaapkamers | hoeveel slaapkamers | liczba
sypialni

number of cars: number of cars | how many cars | number of cars or vans | how many cars or vans |
car or van availability | car availability | number of vehicles | how many vehicles | anzahl autos
| wie viele autos | nombre de voitures | combien de voitures | numero de coches | cuantos coches |
numero di auto | quante auto | aantal auto's | hoeveel auto's | numero de carros | quantos carros |
liczba samochodow | ile samochodow

tenure: tenure | housing tenure | tenure of household | tenure of accommodation | tenure of home |
own or rent | own or rent home | own or rent accommodation | household own or rent | household own
or rent accommodation | rented or owned | owned or rented | home rented or owned | home owned or
rented | house rented or owned | house owned or rented | dwelling owned or rented | housing unit
rented or owned | home ownership | ownership of dwelling | wohnverhaltnis | eigentum oder miete |
miete oder eigentum | mieter oder eigentumer | proprietaire ou locataire | statut d'occupation |
statut d'occupation du logement | regimen de tenencia | regimen de tenencia de vivienda | tenencia
de la vivienda | titolo di godimento | titolo di godimento dell'abitazione | proprietario o
affittuario | eigendom of huur | koop of huur | eigenaar of huurder | regime de ocupacao |
proprietario ou inquilino | wlasnosc mieszkania

ethnic group: ethnic group | ethnic group or background | ethnicity | ethnic background | ethnic
origin | ethnic identity | ethnic affiliation | ethnische zugehorigkeit | ethnische herkunft |
ethnische gruppe | groupe ethnique | origine ethnique | appartenance ethnique | ethnie | grupo
etnico | origen etnico | pertenencia etnica | etnia | gruppo etnico | origine etnica | etnische
groep | etnische achtergrond | etniciteit | origem etnica | grupa etniczna | pochodzenie etniczne

race: race | rasse | raza | raca | cor ou raca

hispanic origin: hispanic origin | hispanic | hispanic or latino | latino or hispanic | hispanic or
latino origin | hispanic latino or spanish origin | hispanic or spanish origin | hispanic or latino
ethnicity | hispanic latino ethnicity | hispanic ethnicity | ethnicity

country of birth: country of birth | birth country | country born in | in which country born | in
what country born | which country born | where born | birthplace | place of birth | geburtsland |
geburtsort | in welchem land geboren | wo geboren | pays de naissance | lieu de naissance | dans
quel pays ne | pais de nacimiento | lugar de nacimiento | en que pais nacio | paese di nascita |
luogo di nascita | in quale paese nato | geboorteland | geboorteplaats | in welk land geboren |
pais de nascimento | local de nascimento | em que pais nasceu | kraj urodzenia | miejsce urodzenia

nationality: nationality | citizenship | country of citizenship | country of nationality |
staatsangehorigkeit | staatsburgerschaft | nationalitat | nationalite | citoyennete | nacionalidad
| ciudadania | nazionalita | cittadinanza | nationaliteit | staatsburgerschap | nacionalidade |
cidadania | obywatelstwo

main language: main language | mother tongue | first language | native language | primary language
| home language | preferred language | preferred language at home | language at home | language
spoken at home | language spoken most often at home | language mostly spoken at home |
muttersprache | erstsprache | hauptsprache | langue maternelle | langue principale | langue parlee
a la maison | lengua materna | idioma materno | lengua principal | lingua madre | lingua principale
| moedertaal | thuistaal | lingua materna | lingua principal | jezyk ojczysty | jezyk glowny

religion: religion | religious affiliation | religious denomination | religious group | religion or
belief | religion belong to | religion or denomination | denomination | faith | konfession |
religionszugehorigkeit | glaubensrichtung | appartenance religieuse | confession religieuse |
confesion religiosa | religione | confessione religiosa | religie | godsdienst | geloof |
geloofsovertuiging | religiao | confissao religiosa | religia | wyznanie

general health: general health | health in general | overall health | health overall | health |
health status | general health status | state of health | general state of health | self rated
health | self reported health | self perceived health | self assessed health | how health in
general | rate general health | rate health | rate overall health | gesundheitszustand |
allgemeiner gesundheitszustand | gesundheitszustand im allgemeinen | etat de sante | etat de sante
general | sante en general | estado de salud | estado general de salud | salud en general | stato
di salute | salute in generale | gezondheidstoestand | algemene gezondheid | gezondheid in het
algemeen | estado de saude | saude em geral | stan zdrowia | ogolny stan zdrowia

disability: disability | disability status | disabled | registered disabled | long-term illness or
disability | long-standing illness or disability | limiting long-term illness | long-term health
problem or disability | behinderung | schwerbehinderung | handicap | situation de handicap |
discapacidad | disabilita | beperking | deficiencia | niepelnosprawnosc

region: region | region of residence | usual residence region | geographic region | census region |
bundesland | provincia | regione | regione di residenza | regio | provincie | regiao | wojewodztwo
| comunidad autonoma

state: state | state of residence | state live in | which state live in | what state live in | us
state | home state | state or territory | state or territory of residence

relationship to head: relationship to head of household | relationship to household head |
relationship to head | relationship to the head of household | relationship to reference person |
relationship to householder | relationship with head of household | relationship to head of family
| stellung im haushalt | verhaltnis zum haushaltsvorstand | lien avec le chef de menage | lien de
parente avec chef de menage | parentesco con el jefe del hogar | relacion con el jefe del hogar |
relazione con il capofamiglia | relatie tot hoofd van huishouden | parentesco com o chefe de
familia

student: student | student status | full-time student | schoolchild or student | schoolchild or
full-time student | in full-time education | student in full-time education | schoolchild or
student in full-time education | attending school | school attendance | enrolled in school |
enrolled in education | frequenza scolastica | scolarise | in ausbildung

social grade: social grade | approximated social grade | approximate social grade

family composition: family composition | family type | type of family | family structure | family
status in household | familientyp | type de famille | tipo de familia | tipo di famiglia

residence type: residence type | type of residence | household or communal establishment | communal
establishment or household | household or group quarters | housing unit or group quarters | group
quarters status
""")
"""What forms ask for; the first wording is the plainest."""

SENSES = tuple(map(listed, paragraphs("""
female | f | w | woman | women | girl | weiblich | frau | femme | feminin | fille | mujer |
femenino | femmina | femminile | donna | vrouw | vrouwelijk | mulher | feminino | kobieta | zenska

male | m | man | men | boy | mannlich | mann | homme | masculin | garcon | hombre | masculino |
varon | maschio | maschile | uomo | mannelijk | homem | mezczyzna | meska

yes | y | true | ja | oui | si | sim | tak

no | n | false | nein | non | nee | nao | nie

never married | single | single never married | single/never married | single (never married) |
never married or never registered | never been married | not yet married | never married and never
registered a civil partnership | never married or never registered a civil partnership | single
never married or never registered a civil partnership | single never married or never registered a
same-sex civil partnership | never married and never registered a same-sex civil partnership |
never married or never registered a same-sex civil partnership | ledig | celibataire | jamais marie
| jamais marie(e) | soltero | soltera | soltero/a | soltero(a) | celibe | nubile | celibe/nubile |
ongehuwd | nooit gehuwd | ongehuwd/nooit gehuwd | solteiro | solteira | solteiro/a | solteiro(a) |
kawaler | panna | kawaler/panna

married | now married | currently married | legally married | married person | married or in a
registered civil partnership | married or in a civil partnership | married or civil partnership |
married or in a registered same-sex civil partnership | married/civil partnership | verheiratet |
marie | mariee | marie(e) | casado | casada | casado/a | casado(a) | coniugato | coniugata |
coniugato/a | sposato | sposata | sposato/a | gehuwd | getrouwd | zonaty | zamezna | zonaty/zamezna

widowed | widow | widower | widow/widower | widow / widower | widow or widower | widowed person |
widowed or surviving partner from a civil partnership | widowed or surviving partner from a
same-sex civil partnership | widowed or a surviving civil partner | verwitwet | veuf | veuve |
veuf/veuve | veuf(ve) | viudo | viuda | viudo/a | viudo(a) | vedovo | vedova | vedovo/a | weduwe |
weduwnaar | weduwe/weduwnaar | verweduwd | viuvo | viuva | viuvo/a | viuvo(a) | wdowiec | wdowa |
wdowiec/wdowa

divorced | divorcee | divorced person | divorced or formerly in a civil partnership which is now
legally dissolved | divorced or formerly in a same-sex civil partnership which is now legally
dissolved | geschieden | divorce | divorce(e) | divorciado | divorciada | divorciado/a |
divorciado(a) | divorziato | divorziata | divorziato/a | gescheiden | rozwiedziony | rozwiedziona |
rozwiedziony/rozwiedziona

separated | legally separated | married but separated | separated but still legally married |
separated but still married | separated but still legally married or still legally in a civil
partnership | separated but still legally married or still legally in a same-sex civil partnership
| separated but still legally married or separated but still legally in a same-sex civil
partnership | getrennt lebend | getrennt | verheiratet getrennt lebend | separe | separee |
separe(e) | separado | separada | separado/a | separado(a) | separato | separata | separato/a | w
separacji

very good | very good health | sehr gut | tres bon | tres bonne | muy bueno | muy buena | molto
buono | molto buona | zeer goed | heel goed | muito bom | muito boa | bardzo dobry | bardzo dobre

good | good health | gut | bon | bonne | bueno | buena | buono | buona | goed | bom | boa | dobry |
dobre

fair | fair health | mittelmassig | moyen | assez bon | assez bonne | regular | discreto | discreta
| redelijk | razoavel | taki sobie | takie sobie

bad | bad health | poor | poor health | schlecht | mauvais | mauvaise | malo | mala | cattivo |
cattiva | slecht | mau | ma | zly | zle

very bad | very bad health | very poor | very poor health | sehr schlecht | tres mauvais | tres
mauvaise | muy malo | muy mala | molto cattivo | molto cattiva | zeer slecht | heel slecht | muito
mau | muito ma | bardzo zly | bardzo zle

excellent | excellent health | ausgezeichnet | excelente | eccellente | uitstekend | doskonaly

full time | full-time | fulltime | full time employment | employed full time | vollzeit | in
vollzeit | temps plein | a temps plein | temps complet | tiempo completo | jornada completa | tempo
pieno | voltijd | voltijds | tempo inteiro | tempo integral | pelny etat | pelny wymiar

part time | part-time | parttime | part time employment | employed part time | teilzeit | in
teilzeit | temps partiel | a temps partiel | tiempo parcial | jornada parcial | tempo parziale |
deeltijd | deeltijds | tempo parcial | niepelny etat | niepelny wymiar

employed | in employment | working | in work | in paid work | currently employed | currently
working | employed for wages or salary | erwerbstatig | berufstatig | en emploi | en activite |
empleado | empleada | trabajando | ocupado | occupato | occupata | occupato/a | werkend | werkzaam
| empregado | empregada | pracujacy | pracujaca | working now | at work

employee | an employee | employees | working as an employee | angestellt | arbeitnehmer | salarie |
salariee | asalariado | dipendente | lavoratore dipendente | werknemer | in loondienst |
trabalhador por conta de outrem | pracownik najemny

self-employed | self employed | selfemployed | self-employed or freelance | freelance or
self-employed | selbstandig | selbststandig | independant | a son compte | autonomo | por cuenta
propia | trabajador por cuenta propia | lavoratore autonomo | autonomo/a | zelfstandige |
zelfstandig | trabalhador por conta propria | samozatrudniony

unemployed | not employed looking for work | unemployed looking for work | out of work | out of
work and looking for work | looking for work unemployed | looking for work | unemployed and looking
for work | arbeitslos | arbeitssuchend | au chomage | chomeur | chomeuse | demandeur d'emploi | en
recherche d'emploi | desempleado | desempleada | parado | en paro | disoccupato | disoccupata | in
cerca di occupazione | werkloos | werkzoekend | desempregado | desempregada | bezrobotny |
bezrobotna

retired | pensioner | in rente | rentner | rentner/in | pensioniert | im ruhestand | retraite |
retraitee | retraite(e) | jubilado | jubilada | pensionista | pensionato | pensionata | in pensione
| gepensioneerd | reformado | reformada | aposentado | emeryt | emerytka | na emeryturze

student | in education | studying | full time student | schoolchild or student | pupil or student |
pupil/student | schuler | schuler/in | schuler oder student | studierend | etudiant | etudiante |
etudiant(e) | eleve ou etudiant | estudiante | estudiando | studente | studentessa | scolaro |
estudante | uczen | uczen/student

looking after home or family | looking after family or home | looking after the home or family |
looking after the home | looking after family | homemaker | home maker | keeping house | housewife
| housewife/househusband | home duties | caring for home or family | hausfrau | hausfrau/hausmann |
hausmann | haushalt | femme au foyer | homme au foyer | au foyer | ama de casa | labores del hogar
| casalinga | casalinga/o | huisvrouw | huisvrouw/huisman | domestica/o | prowadzenie domu

long-term sick or disabled | long term sick or disabled | permanently sick or disabled | sick or
disabled | unable to work | unable to work due to illness or disability | unable to work disabled |
disabled unable to work | permanently disabled | erwerbsunfahig | dauerhaft krank oder behindert |
en incapacite de travail | invalide | incapacitado | incapacidad permanente | inabile al lavoro |
arbeidsongeschikt | incapaz de trabalhar | niezdolny do pracy

no qualification | no qualifications | no formal qualification | no formal qualifications | no
formal education | no education | no schooling | no schooling completed | never attended school |
never went to school | have never gone to school | none | ohne abschluss | kein abschluss | kein
schulabschluss | aucun diplome | sans diplome | sin estudios | sin escolaridad | nessun titolo |
nessun titolo di studio | geen diploma | geen opleiding | sem escolaridade | sem instrucao | brak
wyksztalcenia

primary | primary school | primary education | elementary | elementary school | grundschule |
primarschule | ecole primaire | primaire | primaria | educacion primaria | scuola elementare |
licenza elementare | scuola primaria | basisonderwijs | lagere school | ensino basico | ensino
fundamental | podstawowe | szkola podstawowa

secondary | secondary school | secondary education | high school | high school diploma | high
school graduate | high school graduate or ged | high school or ged | high school diploma or
equivalent | high school diploma or ged | secondaire | ecole secondaire | secundaria | educacion
secundaria | scuola secondaria | scuola superiore | middelbare school | voortgezet onderwijs |
ensino secundario | ensino medio | srednie | szkola srednia

first degree | bachelor's degree | bachelors degree | bachelor degree | bachelor | bachelors |
undergraduate degree | licence | laurea triennale | licenciatura | licencjat

higher degree | postgraduate degree | graduate degree | postgraduate | master's or doctorate |
master's or doctoral degree | master's degree or higher | graduate or professional degree |
advanced degree

owned | owner | own | owns | owner occupied | home owner | owned by household | eigentum |
eigentumer | proprietaire | en propiedad | propia | di proprieta | proprieta | koop | koopwoning |
eigendom | proprio | propria | wlasne | wlasnosc

rented | rent | rents | renting | renter | tenant | rented from somebody | miete | mieter | zur
miete | locataire | en location | en alquiler | alquilada | in affitto | affitto | huur |
huurwoning | arrendado | arrendada | alugado | alugada | wynajem | wynajmowane

owned outright | owns outright | own outright | owned without a mortgage | owned free and clear |
eigentum ohne hypothek | proprietaire sans emprunt

owned with a mortgage | owns with a mortgage or loan | own with a mortgage or loan | own with a
mortgage | owned with a mortgage or loan | being bought on a mortgage | buying with a mortgage |
mortgaged | eigentum mit hypothek | proprietaire accedant

christian | christianity | christlich | christ | chretien | chretienne | cristiano | cristiana |
christen | christelijk | cristao | crista | chrzescijanin | chrzescijanstwo

no religion | none | no religious affiliation | not religious | no religion or belief | no
religious beliefs | konfessionslos | keine religion | keine konfession | sans religion | aucune
religion | aucune | sin religion | ninguna | nessuna religione | nessuna | geen religie | geen
godsdienst | sem religiao | nenhuma | bezwyznaniowy | brak wyznania

muslim | moslem | islam | islamic | muslimisch | islamisch | musulman | musulmane | musulmano |
musulmana | moslim | muculmano | muculmana | muzulmanin

jewish | jew | judaism | judisch | judentum | juif | juive | judio | judia | ebreo | ebrea | joods
| judeu | zyd

hindu | hinduism | hinduistisch | hindou | induista | hindoe

buddhist | buddhism | buddhistisch | bouddhiste | budista | buddista | boeddhist

sikh | sikhism

heterosexual | straight | straight or heterosexual | heterosexual or straight |
heterosexual/straight | straight/heterosexual | heterosexuell | heterosexuel | eterosessuale |
heteroseksueel | heteroseksualny

gay or lesbian | lesbian or gay | gay/lesbian | lesbian/gay | homosexual | homosexual (gay or
lesbian) | schwul oder lesbisch | homosexuell | homosexuel | homosexuel ou lesbienne | homosexual o
lesbiana | omosessuale | homoseksueel | homoseksualny

bisexual | bisexuell | bisexuel | bisessuale | biseksueel | biseksualny

white | white alone | white only | weiss | blanc | blanca | blanco | bianco | blank | branco |
branca

black | black alone | black only | black or african american | black or african american alone |
black/african american | african american | black african caribbean or black british | black black
british caribbean or african | black or black british | black/african/caribbean/black british |
noir | negro | preto

asian | asian alone | asian only | asian or asian british | asian and asian british | asian/asian
british | asiatique | asiatico

mixed or multiple ethnic groups | mixed | mixed ethnic group | mixed/multiple ethnic groups |
mixed/multiple ethnic group | mixed or multiple ethnic group | multiple ethnic groups | mixed race

american indian or alaska native | american indian/alaska native | american indian or alaskan
native | american indian alaskan native | native american | american indian or alaska native alone

pacific islander | native hawaiian or other pacific islander | native hawaiian/other pacific
islander | native hawaiian or pacific islander | hawaiian/pacific islander | native hawaiian and
other pacific islander | native hawaiian and other pacific islander alone | hawaiian/pacific
islander only

other race | some other race | some other race alone | other race alone | another race

not hispanic | not hispanic or latino | non-hispanic | non hispanic | not spanish/hispanic/latino |
not of hispanic or latino origin | not of hispanic latino or spanish origin | non-hispanic or
latino | no not of hispanic latino or spanish origin | no not of hispanic or latino origin

hispanic | hispanic or latino | hispanic/latino | hispanic latino or spanish |
spanish/hispanic/latino | of hispanic or latino origin | yes of hispanic or latino origin | yes of
hispanic latino or spanish origin | hispanic latino or spanish origin

uk | united kingdom | great britain | vereinigtes konigreich | royaume-uni | reino unido | regno
unito | verenigd koninkrijk

ireland | republic of ireland | irish republic | irland | irlande | irlanda | ierland

germany | deutschland | allemagne | alemania | germania | duitsland | alemanha | niemcy

france | frankreich | francia | frankrijk | franca

spain | spanien | espagne | espana | spagna | spanje | espanha | hiszpania

italy | italien | italie | italia | wlochy

poland | polen | pologne | polonia | polska

head | head of household | household head | householder | reference person | household reference
person | self | haushaltsvorstand | chef de menage | jefe del hogar | jefe de hogar | capofamiglia
| hoofd van het huishouden | chefe de familia

spouse or partner | spouse/partner | husband wife or partner | husband/wife/partner | spouse or
cohabiting partner | wife/husband/partner | ehepartner oder partner | conjoint | conyuge o pareja |
coniuge o convivente

child | son/daughter | son or daughter | son / daughter | daughter/son | own child | kind |
sohn/tochter | enfant | fils/fille | hijo | hijo/a | hijo o hija | figlio/a | zoon/dochter |
filho/a | syn/corka

other relative | other relatives | another relative | other related person | other family member |
andere verwandte | autre parent | otro pariente | altro parente | ander familielid | outro parente

not related | non-relative | nonrelative | unrelated | other non-relative | non relative | not a
relative | nicht verwandt | sans lien de parente | sin parentesco | non parente | niet verwant |
sem parentesco
""")))  # fmt: skip
"""Printed answers that mean the same."""

OTHERS = frozenset(
    listed("""
another | any other | other | others | other (specify) | other (please specify) | other please
specify | other specify | other please describe | other - please specify | something else | none of
these | none of the above | any other religion | another religion | other religion | other
religions | other race | other ethnic group | other nationality | other language | andere | andere
angabe | anderes | anderer | sonstige | sonstiges | etwas anderes | keine der genannten | autre |
autres | autre (precisez) | autre precisez | otro | otra | otros | otras | otro (especifique) |
ninguno de los anteriores | altro | altra | altri | altro (specificare) | anders | overig | overige
| iets anders | outro | outra | outros | outras | inne | inny | inna | cos innego
""")
)
"""Answers for everybody whom no other answer fits."""
