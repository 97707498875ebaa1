"""The demo environment: invented forms of a country that does not exist.

Norland has banks, shops, councils, hospitals, surveys and employers, each with forms that ask
what such forms ask, in wordings that overlap as real ones do. They are kept beside this file, in
the folder of an environment. No name is meant to be that of a real organisation, person or place.
"""

from __future__ import annotations

from pathlib import Path

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.folder import read_environment

TARGET = "Census microdata 2031 (proposed release)"
"""The name of the target form."""

_NORLAND = Path(__file__).with_name("norland")


def demo_environment() -> Environment:
    """Return the demo environment.

    It has 98 forms of many sectors, groups of them, and the target `TARGET`, which has all of
    the 18 variables in detail. Two forms have an inconsistent categorization of one variable
    each, as forms sometimes have.

    Examples
    --------
    >>> environment = demo_environment()
    >>> environment
    Environment('Norland', 99 forms, 18 variables, 15 groups)
    """
    return read_environment(_NORLAND)
