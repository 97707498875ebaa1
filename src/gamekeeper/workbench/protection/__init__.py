"""Stage three as a person does it: audit, try, choose, apply, replay.

Begin with `opening`, which opens a file with all that protection needs of it. `trying` tries candidates
and keeps a study, and is the door for Python users; `applying` makes a release by a recipe, `auditing`
attacks anybody's.
"""
