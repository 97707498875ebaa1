"""Local suppression: cells taken out, as few as can be, so that people have enough candidates.

`suppress` is the step; `checked` says what may be asked of a file, `solving` asks the algorithms,
`households` treats what a household has in common as one cell of all its members.
"""
