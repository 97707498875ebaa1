"""Gamekeeper: a workbench for statistical disclosure control that takes the intruder's side.

One call assesses a file that may be released::

    import gamekeeper as gk

    assessment = gk.assess("people.csv", keys=["Age", "Sex", "Region"], fraction="2%")
    assessment.summary(), assessment.explain(17), assessment.report("people.html")

What is on top is what most scripts need; the rest has a home by task:

- `gk.mapping`: stage one, which variables an intruder could match on; `gk.store` keeps it;
- `gk.importing`: questionnaires and classifications of others, brought into stage one;
- `gk.data`: files, frames, codes, keys and tables of counts;
- `gk.risk`: uniques, matching, simulation and what they tell of a file;
- `gk.models`: what an intruder infers with models of the population;
- `gk.tables`: what tables of counts give away;
- `gk.link`: two files linked by what they have in common;
- `gk.protection`: stage three, what is done about a risk, and whether it helped;
- `gk.report`: pages and drawings.
"""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
