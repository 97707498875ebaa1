"""Stage three: what is done about a risk, and whether it helped.

A *step* changes a coded file: a frozen dataclass of options (`step.Step`) with a JSON form ``{"do":
...}`` and `apply`, from a `CodedTable` to a `step.Protected`: the new table and a `step.ChangeLog`
that says where it was changed, never what was there. `recipe.STEPS` has them all by name; what
holds for every step of a recipe (keys, seed, households) is the `step.Setting`. Begin with `step`,
then `suppression`.
"""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
