"""Stage three as a person does it: audit, try, choose, apply, replay.

`opening` opens a file with all that protection needs of it, `trying` tries candidates and keeps a
study, from Python too, `applying` makes a release by a recipe, `auditing` attacks anybody's.
"""
