"""Words for what forms often ask, in eight languages.

A concept is a set of wordings of the same thing. Two texts with a concept in common mean the
same; nothing here names a variable of an environment. A wording may belong to two concepts
('ethnicity', 'gender'): then the printed answers decide. English, German, French, Spanish,
Italian, Dutch, Portuguese, Polish; written as `plain_text` leaves a text.
"""

from __future__ import annotations

from gamekeeper.importing.matching.listing import listed

CONCEPTS: dict[str, tuple[str, ...]] = {
    "age": listed(
        "age | ages | age band | age group | age class | age category | age range | age in years "
        "| age years | age at last birthday | age last birthday | age at interview | how old | "
        "how old at last birthday | date of birth | birth date | birthdate | year of birth | "
        "birth year | month and year of birth | year born | when born | in which year born | what "
        "year born | birthday | dob | yob | alter | alter in jahren | lebensalter | wie alt | "
        "altersgruppe | altersklasse | geburtsdatum | geburtsjahr | geburtstag | wann geboren | "
        "in welchem jahr geboren | age revolu | quel age | tranche d'age | classe d'age | groupe "
        "d'age | date de naissance | annee de naissance | quelle annee ne | edad | edad en anos | "
        "cuantos anos | que edad | grupo de edad | anos cumplidos | fecha de nacimiento | ano de "
        "nacimiento | cuando nacio | eta | quanti anni | fascia d'eta | classe di eta | data di "
        "nascita | anno di nascita | quando nato | leeftijd | leeftijd in jaren | leeftijdsgroep "
        "| leeftijdscategorie | hoe oud | geboortedatum | geboortejaar | wanneer geboren | idade "
        "| faixa etaria | grupo etario | quantos anos | data de nascimento | ano de nascimento | "
        "quando nasceu | wiek | wiek w latach | ile lat | grupa wiekowa | przedzial wiekowy | "
        "data urodzenia | rok urodzenia"
    ),
    "sex": listed(
        "sex | gender | sex or gender | gender sex | male or female | man or woman | sex at birth "
        "| sex assigned at birth | sex registered at birth | biological sex | biological sex at "
        "birth | biological sex assigned at birth | geschlecht | mann oder frau | mannlich oder "
        "weiblich | sexe | genre | homme ou femme | sexe a la naissance | sexo | genero | sexo al "
        "nacer | hombre o mujer | sesso | genere | sesso alla nascita | geslacht | man of vrouw | "
        "homem ou mulher | masculino ou feminino | plec | kobieta czy mezczyzna"
    ),
    "gender identity": listed(
        "gender identity | identified gender | geschlechtsidentitat | identite de genre | "
        "identidad de genero | identita di genere | genderidentiteit | identidade de genero | "
        "tozsamosc plciowa"
    ),
    "sexual orientation": listed(
        "sexual orientation | sexual identity | sexuelle orientierung | sexuelle identitat | "
        "orientation sexuelle | orientacion sexual | orientamento sessuale | seksuele geaardheid "
        "| seksuele orientatie | orientacao sexual | orientacja seksualna"
    ),
    "marital status": listed(
        "marital status | legal marital status | marital state | marital or partnership status | "
        "marital or civil partnership status | marital or registered civil partnership status | "
        "legal partnership status | partnership status | relationship status | civil status | "
        "marst | marstat | familienstand | personenstand | beziehungsstatus | etat civil | "
        "situation matrimoniale | situation familiale | situation de famille | etat matrimonial | "
        "statut matrimonial | estado civil | estado conyugal | situacion conyugal | stato civile "
        "| stato coniugale | burgerlijke staat | burgerlijke stand | estado conjugal | situacao "
        "conjugal | stan cywilny"
    ),
    "education": listed(
        "education | education level | educational level | level of education | level of "
        "schooling | educational attainment | educational qualification | highest qualification | "
        "highest level of qualification | highest education | highest education level | highest "
        "level of education | highest level of education completed | highest educational level | "
        "highest educational qualification | highest level of school | highest level of schooling "
        "| highest grade completed | highest grade of school | highest grade or level of school | "
        "highest degree | highest degree or level of school | highest degree or level of "
        "education | highest degree or qualification | highest academic qualification | bildung | "
        "bildungsstand | bildungsniveau | bildungsabschluss | schulabschluss | hochster abschluss "
        "| hochster bildungsabschluss | hochster schulabschluss | niveau d'etudes | niveau "
        "d'etude | niveau d'education | niveau d'instruction | niveau de formation | niveau "
        "scolaire | diplome le plus eleve | plus haut diplome | plus haut niveau d'etudes | nivel "
        "de estudios | nivel de educacion | nivel educativo | nivel de instruccion | nivel "
        "academico | maximo nivel de estudios | escolaridad | titolo di studio | livello di "
        "istruzione | livello di studio | grado di istruzione | opleiding | opleidingsniveau | "
        "hoogste opleiding | hoogst voltooide opleiding | hoogst behaalde diploma | escolaridade "
        "| nivel de escolaridade | nivel de ensino | grau de instrucao | habilitacoes literarias "
        "| wyksztalcenie | poziom wyksztalcenia"
    ),
    "employment status": listed(
        "employment status | employment situation | economic activity | economic activity status "
        "| economic status | labour force status | labor force status | labour market status | "
        "occupational status | working status | work status | work situation | job status | "
        "activity status | main activity | main activity status | erwerbsstatus | "
        "erwerbssituation | erwerbstatigkeit | beschaftigungsstatus | berufliche situation | "
        "situation professionnelle | situation d'emploi | statut d'emploi | statut professionnel "
        "| statut d'activite | situacion laboral | situacion de empleo | situacion ocupacional | "
        "condicion de actividad | estado laboral | condizione occupazionale | condizione "
        "professionale | condizione lavorativa | situazione lavorativa | stato occupazionale | "
        "arbeidssituatie | arbeidsstatus | werksituatie | situacao profissional | situacao "
        "laboral | situacao perante o trabalho | condicao de trabalho | sytuacja zawodowa | "
        "status zawodowy | status na rynku pracy"
    ),
    "full or part time": listed(
        "full or part time | full time or part time | full time part time | work full time or "
        "part time | work full or part time | job full time or part time | employed full time or "
        "part time | full time or part time work | full time part time employment status | full "
        "time or part time status | vollzeit oder teilzeit | vollzeit teilzeit | temps plein ou "
        "temps partiel | temps plein ou partiel | temps complet ou partiel | jornada completa o "
        "parcial | tiempo completo o parcial | tempo pieno o parziale | voltijd of deeltijd | "
        "voltijds of deeltijds | tempo inteiro ou parcial | tempo integral ou parcial | pelny czy "
        "niepelny etat"
    ),
    "occupation": listed(
        "occupation | main occupation | profession | job | main job | job title | official job "
        "title | title of job | title of main job | type of work | kind of work | beruf | "
        "ausgeubter beruf | berufsbezeichnung | berufliche tatigkeit | metier | profession "
        "exercee | occupation principale | ocupacion | ocupacion principal | profesion | oficio | "
        "puesto de trabajo | professione | occupazione | mestiere | beroep | profissao | ocupacao "
        "| zawod | wykonywany zawod"
    ),
    "industry": listed(
        "industry | industry sector | branch of industry | type of industry | kind of industry | "
        "kind of business or industry | nature of business | economic sector | business sector | "
        "employment sector | sector of employment | sector of activity | sector of industry | "
        "wirtschaftszweig | wirtschaftsbereich | wirtschaftssektor | branche | branche d'activite "
        "| secteur d'activite | secteur economique | sector de actividad | sector economico | "
        "rama de actividad | settore di attivita | settore economico | ramo di attivita | "
        "bedrijfstak | bedrijfssector | setor de atividade | setor economico | ramo de atividade "
        "| branza | sektor gospodarki"
    ),
    "hours worked": listed(
        "hours worked | hours worked per week | hours worked a week | hours per week worked | "
        "working hours | weekly hours | weekly working hours | hours a week work | how many hours "
        "a week work | how many hours per week work | how many hours work | how many hours work "
        "per week | how many hours work a week | hours worked last week | usual hours | usual "
        "hours worked | arbeitsstunden | arbeitsstunden pro woche | wochenarbeitszeit | wie viele "
        "stunden arbeiten pro woche | heures de travail | heures travaillees par semaine | "
        "combien d'heures travaillez par semaine | horas trabajadas | horas de trabajo | cuantas "
        "horas trabaja a la semana | ore lavorate | ore di lavoro settimanali | arbeidsuren | "
        "uren per week werkt | horas trabalhadas | horas de trabalho por semana | godziny pracy | "
        "liczba godzin pracy"
    ),
    "income": listed(
        "income | personal income | annual income | yearly income | monthly income | gross income "
        "| net income | total income | total personal income | earnings | salary | annual salary "
        "| wage | wages | wages or salary | wage or salary income | pay | einkommen | "
        "jahreseinkommen | monatseinkommen | bruttoeinkommen | nettoeinkommen | gehalt | revenu | "
        "revenu annuel | revenu mensuel | salaire | ingresos | ingresos mensuales | ingresos "
        "anuales | salario | reddito | reddito annuo | reddito mensile | stipendio | inkomen | "
        "jaarinkomen | maandinkomen | salaris | rendimento | rendimento mensal | renda | renda "
        "mensal | dochod | zarobki | wynagrodzenie"
    ),
    "household income": listed(
        "household income | family income | total household income | total family income | annual "
        "household income | monthly household income | gross household income | net household "
        "income | combined household income | income of household | haushaltseinkommen | "
        "haushaltsnettoeinkommen | familieneinkommen | revenu du menage | revenu du foyer | "
        "ingresos del hogar | ingresos familiares | reddito familiare | huishoudinkomen | "
        "gezinsinkomen | renda familiar | rendimento do agregado | dochod gospodarstwa domowego"
    ),
    "household size": listed(
        "household size | size of household | family size | number of people in household | "
        "number of persons in household | number of household members | number of family members "
        "| people living in household | number of people living in household | how many people "
        "live in household | how many persons live in household | how many people in household | "
        "people in household | haushaltsgrosse | personen im haushalt | anzahl personen im "
        "haushalt | anzahl der personen im haushalt | wie viele personen leben im haushalt | "
        "taille du menage | taille du foyer | nombre de personnes dans menage | nombre de "
        "personnes dans foyer | combien de personnes vivent dans foyer | tamano del hogar | "
        "numero de personas en hogar | cuantas personas viven en hogar | dimensione della "
        "famiglia | numero di componenti della famiglia | quante persone vivono in famiglia | "
        "huishoudgrootte | aantal personen in huishouden | uit hoeveel personen bestaat "
        "huishouden | tamanho do agregado | numero de pessoas no agregado | quantas pessoas vivem "
        "no agregado | wielkosc gospodarstwa domowego | liczba osob w gospodarstwie domowym"
    ),
    "number of children": listed(
        "number of children | number of kids | how many children | how many kids | anzahl kinder "
        "| anzahl der kinder | wie viele kinder | nombre d'enfants | combien d'enfants | numero "
        "de hijos | cuantos hijos | numero di figli | quanti figli | aantal kinderen | hoeveel "
        "kinderen | numero de filhos | quantos filhos | liczba dzieci | ile dzieci"
    ),
    "number of rooms": listed(
        "number of rooms | how many rooms | anzahl zimmer | anzahl der zimmer | wie viele zimmer "
        "| nombre de pieces | combien de pieces | numero de habitaciones | cuantas habitaciones | "
        "numero di stanze | quante stanze | aantal kamers | hoeveel kamers | numero de divisoes | "
        "numero de quartos | liczba pokoi | ile pokoi"
    ),
    "number of bedrooms": listed(
        "number of bedrooms | how many bedrooms | anzahl schlafzimmer | wie viele schlafzimmer | "
        "nombre de chambres | combien de chambres | numero de dormitorios | cuantos dormitorios | "
        "numero di camere da letto | aantal slaapkamers | hoeveel slaapkamers | liczba sypialni"
    ),
    "number of cars": listed(
        "number of cars | how many cars | number of cars or vans | how many cars or vans | car or "
        "van availability | car availability | number of vehicles | how many vehicles | anzahl "
        "autos | wie viele autos | nombre de voitures | combien de voitures | numero de coches | "
        "cuantos coches | numero di auto | quante auto | aantal auto's | hoeveel auto's | numero "
        "de carros | quantos carros | liczba samochodow | ile samochodow"
    ),
    "tenure": listed(
        "tenure | housing tenure | tenure of household | tenure of accommodation | tenure of home "
        "| own or rent | own or rent home | own or rent accommodation | household own or rent | "
        "household own or rent accommodation | rented or owned | owned or rented | home rented or "
        "owned | home owned or rented | house rented or owned | house owned or rented | dwelling "
        "owned or rented | housing unit rented or owned | home ownership | ownership of dwelling "
        "| wohnverhaltnis | eigentum oder miete | miete oder eigentum | mieter oder eigentumer | "
        "proprietaire ou locataire | statut d'occupation | statut d'occupation du logement | "
        "regimen de tenencia | regimen de tenencia de vivienda | tenencia de la vivienda | titolo "
        "di godimento | titolo di godimento dell'abitazione | proprietario o affittuario | "
        "eigendom of huur | koop of huur | eigenaar of huurder | regime de ocupacao | "
        "proprietario ou inquilino | wlasnosc mieszkania"
    ),
    "ethnic group": listed(
        "ethnic group | ethnic group or background | ethnicity | ethnic background | ethnic "
        "origin | ethnic identity | ethnic affiliation | ethnische zugehorigkeit | ethnische "
        "herkunft | ethnische gruppe | groupe ethnique | origine ethnique | appartenance ethnique "
        "| ethnie | grupo etnico | origen etnico | pertenencia etnica | etnia | gruppo etnico | "
        "origine etnica | etnische groep | etnische achtergrond | etniciteit | origem etnica | "
        "grupa etniczna | pochodzenie etniczne"
    ),
    "race": listed("race | rasse | raza | raca | cor ou raca"),
    "hispanic origin": listed(
        "hispanic origin | hispanic | hispanic or latino | latino or hispanic | hispanic or "
        "latino origin | hispanic latino or spanish origin | hispanic or spanish origin | "
        "hispanic or latino ethnicity | hispanic latino ethnicity | hispanic ethnicity | "
        "ethnicity"
    ),
    "country of birth": listed(
        "country of birth | birth country | country born in | in which country born | in what "
        "country born | which country born | where born | birthplace | place of birth | "
        "geburtsland | geburtsort | in welchem land geboren | wo geboren | pays de naissance | "
        "lieu de naissance | dans quel pays ne | pais de nacimiento | lugar de nacimiento | en "
        "que pais nacio | paese di nascita | luogo di nascita | in quale paese nato | "
        "geboorteland | geboorteplaats | in welk land geboren | pais de nascimento | local de "
        "nascimento | em que pais nasceu | kraj urodzenia | miejsce urodzenia"
    ),
    "nationality": listed(
        "nationality | citizenship | country of citizenship | country of nationality | "
        "staatsangehorigkeit | staatsburgerschaft | nationalitat | nationalite | citoyennete | "
        "nacionalidad | ciudadania | nazionalita | cittadinanza | nationaliteit | "
        "staatsburgerschap | nacionalidade | cidadania | obywatelstwo"
    ),
    "main language": listed(
        "main language | mother tongue | first language | native language | primary language | "
        "home language | preferred language | preferred language at home | language at home | "
        "language spoken at home | language spoken most often at home | language mostly spoken at "
        "home | muttersprache | erstsprache | hauptsprache | langue maternelle | langue "
        "principale | langue parlee a la maison | lengua materna | idioma materno | lengua "
        "principal | lingua madre | lingua principale | moedertaal | thuistaal | lingua materna | "
        "lingua principal | jezyk ojczysty | jezyk glowny"
    ),
    "religion": listed(
        "religion | religious affiliation | religious denomination | religious group | religion "
        "or belief | religion belong to | religion or denomination | denomination | faith | "
        "konfession | religionszugehorigkeit | glaubensrichtung | appartenance religieuse | "
        "confession religieuse | confesion religiosa | religione | confessione religiosa | "
        "religie | godsdienst | geloof | geloofsovertuiging | religiao | confissao religiosa | "
        "religia | wyznanie"
    ),
    "general health": listed(
        "general health | health in general | overall health | health overall | health | health "
        "status | general health status | state of health | general state of health | self rated "
        "health | self reported health | self perceived health | self assessed health | how "
        "health in general | rate general health | rate health | rate overall health | "
        "gesundheitszustand | allgemeiner gesundheitszustand | gesundheitszustand im allgemeinen "
        "| etat de sante | etat de sante general | sante en general | estado de salud | estado "
        "general de salud | salud en general | stato di salute | salute in generale | "
        "gezondheidstoestand | algemene gezondheid | gezondheid in het algemeen | estado de saude "
        "| saude em geral | stan zdrowia | ogolny stan zdrowia"
    ),
    "disability": listed(
        "disability | disability status | disabled | registered disabled | long-term illness or "
        "disability | long-standing illness or disability | limiting long-term illness | "
        "long-term health problem or disability | behinderung | schwerbehinderung | handicap | "
        "situation de handicap | discapacidad | disabilita | beperking | deficiencia | "
        "niepelnosprawnosc"
    ),
    "region": listed(
        "region | region of residence | usual residence region | geographic region | census "
        "region | bundesland | provincia | regione | regione di residenza | regio | provincie | "
        "regiao | wojewodztwo | comunidad autonoma"
    ),
    "state": listed(
        "state | state of residence | state live in | which state live in | what state live in | "
        "us state | home state | state or territory | state or territory of residence"
    ),
    "relationship to head": listed(
        "relationship to head of household | relationship to household head | relationship to "
        "head | relationship to the head of household | relationship to reference person | "
        "relationship to householder | relationship with head of household | relationship to head "
        "of family | stellung im haushalt | verhaltnis zum haushaltsvorstand | lien avec le chef "
        "de menage | lien de parente avec chef de menage | parentesco con el jefe del hogar | "
        "relacion con el jefe del hogar | relazione con il capofamiglia | relatie tot hoofd van "
        "huishouden | parentesco com o chefe de familia"
    ),
    "student": listed(
        "student | student status | full-time student | schoolchild or student | schoolchild or "
        "full-time student | in full-time education | student in full-time education | "
        "schoolchild or student in full-time education | attending school | school attendance | "
        "enrolled in school | enrolled in education | frequenza scolastica | scolarise | in "
        "ausbildung"
    ),
    "social grade": listed("social grade | approximated social grade | approximate social grade"),
    "family composition": listed(
        "family composition | family type | type of family | family structure | family status in "
        "household | familientyp | type de famille | tipo de familia | tipo di famiglia"
    ),
    "residence type": listed(
        "residence type | type of residence | household or communal establishment | communal "
        "establishment or household | household or group quarters | housing unit or group "
        "quarters | group quarters status"
    ),
}
"""What forms ask for; the first wording is the plainest."""
