"""The commands whose answers `benchmarks.answers` keeps, and the small files that they read.

One command a line, under a name. Each is run with `--format json`; a star has it run once more for
the words that people read, a dash for the words only. The first is the demo, which the others need.
Edits are made in office.gk, a copy of the store of the demo, in the order of the lines.
"""

from __future__ import annotations

__all__ = ["COMMANDS", "FILES", "WORDS"]

WORDS = {
    "target": "'Census microdata 2031 (proposed release)'",
    "bank": "'Bank of Corvane, current account'",
    "card": "'Greenbarrow Foods, loyalty card'",
    "store": "d/norland.gk",
    "broker": "--scenario 'A data broker' -e d/norland.gk",
    "clerk": "--scenario 'A clerk' -e office.gk --column Age=age --column Sex=sex",
    "sample": "d/census-sample.csv",
    "everybody": "d/everybody.parquet",
    "area": "d/small-area-release.json",
    "keys": "-k 'Sex,Tenure,Household size,Number of cars'",
    "few": "-k 'Sex,Marital status,Number of cars'",
    "one": "--workers 1",
}

COMMANDS = """
-demo: demo --output d
-version: --version
-usage-none: risk
-usage-wrong: risk keys $sample --mising wildcard

*map-typical: map d/environment $target -g Commercial -p 10% --no-strict
map-strict: map $store $target -g Public -p 1/4 --levels 100 --as-of 1
map-multiple: map $store $target -g Health -g Retail --mode multiple -p 20% --no-strict
map-specific: map $store $target -a $bank --mode specific --report map.html --plot map.svg
map-curves: map $store $target -g Commercial --no-strict --curves
-map-csv: map $store $target -g Retail --no-strict --format csv
-map-unknown: map $store 'Census microdata' -g Comercial

*graph-codes: graph $store Tenure
graph-common: graph $store 'Marital status' -c C6.001 -c C5.001 -o codes.svg
graph-partition: graph d/environment Age --kind partition --form $target -o age.svg
graph-file: graph d/environment/variables/tenure.json --kind partition --deepen
-graph-limit: graph $store Age --max-nodes 3
*check-folder: check d/environment
check-store: check $store
check-file: check d/environment/variables/tenure.json

*env-show: env show $store
*env-history: env history $store --by demo
-env-new: env new new.gk --name Small --description 'Nothing yet'
env-import: env import d/environment imported.gk
-env-import-again: env import d/environment imported.gk
-env-export: env export $store exported --as-of 2
env-edit: env edit office.gk edits.json --note 'both or none'
-env-edit-refused: env edit office.gk refused.json
-env-edit-stale: form set office.gk 'Dental plan' year=2034 --base 3
-env-undo-other: env undo $store
env-undo: env undo office.gk
env-redo: env redo office.gk
env-describe: env describe office.gk --description 'Changed since' --note word

*form-list: form list $store -w 'sector in (banks, insurers) and has Income' --sort year -d
form-page: form list d/environment --sort form --page 2 --per-page 10
-form-query-wrong: form list $store -w 'sektor = banks'
*form-show: form show $store $bank
form-add: form add office.gk Club -s year=2031 -a 'Sex=female; male' -a Age=
form-like: form add office.gk Team --like $card -s year=2032
form-set: form set office.gk Club kind=commercial --remove year
form-ask: form ask office.gk Club Tenure owned rented 'rent free'
-form-ask-wrong: form ask office.gk Club Tenure owned rented
-form-drop: form drop office.gk Club Age
form-rename: form rename office.gk Club 'The club'
form-remove: form remove office.gk Team
-form-unknown: form show office.gk Clubb

*variable-list: variable list $store --sort forms -d
*variable-show: variable show $store 'Number of cars'
variable-add: variable add office.gk Pet --ordinal -c none -c 'some: one; more'
-variable-bands: variable add-bands office.gk Age 16-19 20-34
variable-join: variable join office.gk Sex 'all people' female male
variable-split: variable split office.gk Pet more two 'three or more'
variable-order: variable order office.gk Pet none one two 'three or more'
variable-rename: variable rename office.gk 'Travel to work' Commuting
-variable-split-wrong: variable split office.gk Sex anyone he she
variable-rename-category: variable rename-category office.gk Pet none 'no pet'
-variable-break: variable remove-category office.gk Tenure 'rent free' --unrestricted
variable-break-yes: variable remove-category office.gk Tenure 'rent free' --unrestricted --yes
-variable-refused: variable remove office.gk Age

*group-list: group list $store
group-show: group show $store 'Online and commercial' --sort year
group-add: group add office.gk Recent --where 'year >= 2029 and has Age'
group-made: group add office.gk Rest --difference Recent --difference Commercial
group-change: group change office.gk Recent $card 'The club'
group-rename: group rename office.gk Rest 'The rest'
-group-refused: group remove office.gk Recent
*scenario-list: scenario list $store
*scenario-show: scenario show $store 'A data broker'
*scenario-review: scenario review $store 'A data broker'
scenario-save: scenario save office.gk Clerk $target -g Health -p 10% --no-strict -k Sex -k Age
-scenario-export: scenario export $store 'A data broker' broker.json
scenario-rename: scenario rename office.gk Clerk 'A clerk'
scenario-remove: scenario remove office.gk 'A data broker'
env-history-office: env history office.gk
-env-export-office: env export office.gk edited
check-assign: check exported --assign

*risk-keys: risk keys survey.csv -k age,sex,area --missing-value NA --sensitive 'marital status'
risk-keys-ignore: risk keys holes.csv -k 'Age,Sex,Marital status' --missing ignore -o keys.csv
risk-keys-wildcard: risk keys holes.csv -k 'Age,Sex,Marital status' --missing wildcard
risk-keys-exclude: risk keys holes.csv -k 'Age,Sex,Marital status' --missing exclude
risk-keys-scenario: risk keys $sample $broker --weight Weight --strata Tenure
-risk-keys-unmapped: risk keys survey.csv $clerk --unmapped unmapped.csv --missing-value NA
risk-keys-values: risk keys survey.csv $clerk --values values.csv --missing-value NA
-risk-keys-column: risk keys $sample -k Age,Sexx
-risk-keys-no-file: risk keys nothing.csv -k Age
*risk-dis: risk dis $sample $broker --weight Weight
risk-dis-strata: risk dis survey.csv -k age,sex --strata area -f '007=10%, 012=1/8'
risk-dis-special: risk dis swapped.csv $keys -f 2% --original part.csv --rounds 4096 --plot dis.svg
-risk-dis-fraction: risk dis survey.csv -k age,sex
*risk-suda: risk suda $sample $broker --weight Weight --report suda.html --records suda.csv
risk-suda-wildcard: risk suda holes.csv -k 'Age,Sex,Marital status' --missing wildcard -f 5% $one
risk-suda-ranked: risk suda part.csv $keys -f 1/50 --rank-by dis_suda --max-size 3 --power 4
risk-suda-classes: risk suda part.csv $few -f 2% --classes 'act on=0.2,look at=0.01' --explain 17
-risk-suda-limit: risk suda part.csv $keys --max-msus 5
*risk-special: risk special $sample $broker --weight Weight --rounds 3 --records special.csv
risk-special-known: risk special $sample $keys --weight Weight --population $everybody --rounds 2
*risk-match: risk match $sample $keys --population $everybody --plot match.svg
risk-match-weights: risk match $sample $broker --weight Weight --r 2 --r 5
*risk-simulate: risk simulate $everybody $keys --experiment pilot --samples 2 $one -o pilot.csv
risk-simulate-strata: risk simulate $sample $few --samples 2 -f 5% --stratify-by Tenure $one
risk-simulate-strategies: risk simulate $sample $few --experiment strategies --samples 2 $one
risk-simulate-measures: risk simulate $sample $few --experiment measures --measure dis -f 10% $one
-risk-simulate-wrong: risk simulate $sample $few --experiment measures --measure nonsense -f 9%
*risk-model: risk model $sample $keys --method annealing $one --plot model.svg
risk-model-mc3: risk model $sample $few --precision 1 --chains 2 --sweeps 400 $one
risk-model-occam: risk model $sample $few --method occam --precision 4 --window 10 --workers 2
*risk-infer: risk infer $sample $keys --weight Weight --method annealing $one --records infer.csv
risk-infer-known: risk infer part.csv $few -f 2% --method annealing --known Sex=male \
--ask 'Marital status' --precision 1 --estimator printed --categories Sex $one
risk-infer-strata: risk infer $sample $few --strata Tenure --weight Weight --method annealing $one
*risk-compare: risk compare $sample $keys -f 5% --measure suda --measure annealing \
--attack-fraction 10% $one --report compare.html
-risk-compare-wrong: risk compare $sample $keys --measure nonsense

-tables-release: tables release $everybody -k 'Place of residence,Number of cars' --truth \
--scheme conventional:3 -o areas.json
-tables-release-mixed: tables release part.csv -k 'Sex,Number of cars' \
--margin 'Sex,Number of cars' --margin Sex --margin '' \
--scheme random:3 --scheme conventional:5 --scheme exact --seed 5 --truth \
--title Mixed -o mixed.json
-tables-release-wrong: tables release part.csv -k Sex --scheme conventional:4
*tables-bounds: tables bounds $area --report bounds.html -o bounds.csv
tables-bounds-hidden: tables bounds wards.csv --scheme suppressed:5
tables-bounds-shuttle: tables bounds mixed.json --method shuttle
tables-bounds-group: tables bounds wards.csv --scheme suppressed:5 \
--group 'Ward:city=North|South;country=East'
-tables-bounds-conflict: tables bounds wrong.csv
-tables-bounds-impossible: tables bounds wrong.csv --scheme conventional:3
*tables-infer: tables infer $area --about 'Number of cars' --report infer.html -o told.csv
tables-infer-hidden: tables infer wards.csv --scheme suppressed:5 --conditions 1
*tables-feasible: tables feasible rounded.csv --scheme conventional:3 -o feasible.csv
tables-feasible-poisson: tables feasible rounded.csv --scheme conventional:3 --prior poisson
tables-feasible-drawn: tables feasible $area --most 50 --draws 200 --prior multinomial $one
*tables-sap: tables sap rounded.csv --scheme conventional:3 --truth true.csv -n 0-20:5 --at 10
tables-sap-within: tables sap areas.json --within 'Place of residence' -n 1,5 -o sap.csv
tables-sap-anywhere: tables sap areas.json --within 'Place of residence' --anywhere -n 5 --draws 50
tables-sap-drawn: tables sap $area -n 0-10:5 --method sampling --draws 100 --report sap.html
-tables-sap-truth: tables sap rounded.csv --scheme conventional:3
*tables-compare: tables compare conventional:3 random:3 exact --tables 20 -n 0,4,8 -o schemes.csv
tables-compare-margins: tables compare barnardization:0.8 --shape 3x3 --margin 1,2 --margin 1 \
--tables 10 -n 0-4

*link-files: link files d/blurred-ages.csv d/original-part.csv -o links.csv --plot links.svg
link-files-greedy: link files swapped.csv part.csv --on Age,Sex,Income --id row \
--objective weighted --weight Age=3 --method greedy --kind Age=text --measure Age=jaro-winkler
link-files-block: link files swapped.csv part.csv --on 'Age,Sex,Tenure,Marital status' \
--block Sex,Tenure -e $store --kind 'Marital status=mapped' --method nearest
link-files-em: link files voters.csv patients.csv --id id --kind name=text --kind born=date \
--objective fellegi-sunter --unlinked 0.5 --missing name=expected
link-files-again: link files swapped.csv part.csv --on Household,Weight --resamples 2 \
--objective mahalanobis --measure Weight=relative
link-files-order: link files voters.csv patients.csv --objective lexicographic \
--method greedy-rows --order 'ward=west|middle|east' --kind ward=ordinal --on ward,name
-link-files-column: link files voters.csv patients.csv --on nam
*link-evaluate: link evaluate d/original-part.csv d/blurred-ages.csv d/swapped-values.csv \
--on 'Age,Sex,Income' --block Sex -o rates.csv
link-evaluate-more: link evaluate part.csv swapped.csv --id row --on Age,Sex,Tenure \
--objective equal --objective estimated --method optimal --method greedy
*link-structure: link structure accounts.csv energy.csv --id firm --leave-out --clusters 3 \
-o structure.csv
link-structure-groups: link structure accounts.csv energy.csv --id firm --clusters 4 --one-to-one \
--individuals groups --seed 2
-link-structure-columns: link structure accounts.csv energy.csv --columns a,z
""".replace("\\\n", "")

_EDITS = """[
 {"edit": "split-category", "variable": "Religion", "category": "another religion",
  "into": ["a small church", "a large one"]},
 {"edit": "add-form", "name": "Dental plan", "metadata": {"sector": "insurers", "year": 2032},
  "variables": {"Sex": ["female", "male"], "Age": []}}
]"""

FILES = {
    "edits.json": _EDITS,
    "refused.json": _EDITS.replace("another religion", "Buddhist").replace('"male"', '"men"'),
    "survey.csv": """age;sex;marital status;area;weight
34;1;married or in a civil partnership;007;9,5
34;1;married or in a civil partnership;007;9,5
34;2;never married;007;10,5
34;NA;never married;007;10,5
61;2;wid;012;8,0
61;2;;012;8,0
61;1;divorced;012;8,0
61;NA;divorced;012;8,0
19;1;never married;012;14,0
19;2;never married;012;14,0
""",
    "values.csv": "variable,value,category\nSex,1,male\nSex,2,female\n",
    "wards.csv": """Ward,Diagnosis,n
North,flu,12
North,asthma,*
North,hepatitis,0
South,flu,9
South,asthma,7
South,hepatitis,*
East,flu,*
East,asthma,8
East,hepatitis,*
North,Total,15
South,Total,18
East,Total,13
Total,flu,25
Total,asthma,18
Total,hepatitis,*
Total,Total,46
""",
    "rounded.csv": """Ward,Diagnosis,n
North,flu,12
North,asthma,3
North,hepatitis,0
South,flu,9
South,asthma,6
South,hepatitis,3
East,flu,3
East,asthma,9
East,hepatitis,0
Total,Total,45
""",
    "true.csv": """Ward,Diagnosis,n
North,flu,12
North,asthma,3
South,flu,9
South,asthma,7
South,hepatitis,2
East,flu,4
East,asthma,8
East,hepatitis,1
""",
    "wrong.csv": """Age,Sex,n
young,f,4
young,m,3
old,f,5
old,m,2
young,Total,8
old,Total,7
""",
    "voters.csv": """id,name,born,ward
4,carla dunham,1961-03-05,west
2,bert ashbey,1987-11-20,east
1,anna fenwick,1950-01-31,middle
6,frank oldgate,1999-07-08,west
3,,1974-06-12,east
""",
    "patients.csv": """id,name,born,ward
1,anna fenwick,1950-01-31,middle
2,bert ashby,1987-11-20,middle
3,david langley,1974-06-12,east
4,karla dunham,1961-03-06,west
5,elena marwood,1990-09-09,middle
6,frank oldgate,1999-07-08,
""",
}
