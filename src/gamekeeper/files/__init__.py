"""Files of this computer: what may be written and read, and how. Begin with `gate`.

Nothing else in the package opens a file to write to it, makes a folder or gives a file another
name; a test looks for that. `writing` has whole files, `sets` many files that change together, and
`asides` what both rest on: a file is made beside its place and then given its name. `scratch` has
what engines keep in folders of their own while they work.
"""
