"""Collection instruments and classifications of others, brought into an environment.

Begin with `questions`, then `registry`. From the bottom: `files` opens what may be hostile; `surveys` and
`documents` turn an instrument into proposed questions, `classifications` a code list into a partition
graph; `matching` proposes variables and categories, and says how sure it is; `proposing` leads from
files to decisions and edits.
"""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
