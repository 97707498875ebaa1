"""Collection instruments and classifications of others, brought into an environment.

From the bottom: `files` opens what may be hostile, `documents` and `surveys` turn an instrument into
proposed questions and `classifications` a code list into a partition graph, `matching` proposes
variables and categories, and says how sure it is; `proposing` leads from files to decisions and
edits. Begin with `questions` and `registry`.
"""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
