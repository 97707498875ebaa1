"""Stage three: what is done about a risk, and whether it helped.

A *step* changes a coded file: `step.Step` is what every method is, a frozen dataclass of options
with a JSON form ``{"do": ...}`` and `apply`, from a `CodedTable` to a `Protected`. `recipe.STEPS`
lists them all by name. What holds for every step of a recipe (keys, seed, households) is the
`step.Setting`. A `Protected` has the new table and a `step.ChangeLog`: where it was changed, never what
was there. Begin with `step`, then `suppression`.
"""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
