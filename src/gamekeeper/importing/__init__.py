"""Collection instruments and classifications of others, brought into an environment.

From the bottom: `files` opens what may be hostile, `readers` turn an instrument into proposed
questions and `classifications` a code list into a partition graph, `matching` proposes variables
and categories, and says how sure it is. Begin with `proposed_question` and `readers.registry`.
"""
