"""How long a cluster may take to answer before it counts as not there."""

from __future__ import annotations

import math
import os
from typing import Final

from gamekeeper.data.engine.spark.address import Address
from gamekeeper.errors import InputError, Reason

WAIT_VARIABLE: Final = "GAMEKEEPER_ENGINE_WAIT"
"""Names the seconds for clusters that are slow to answer."""

LONGER: Final = f"Where it is there and slow, wait longer ({WAIT_VARIABLE}=120, in seconds)."

_SECONDS: Final = 30.0
_STARTED_HERE: Final = 150.0


def seconds_to_wait(address: Address) -> float:
    """Return how long a cluster may take to take us, and again to give us its first worker.

    What is started on this machine is there, however long that takes on a busy one.

    Examples
    --------
    >>> from gamekeeper.data.engine.spark.address import parse_address
    >>> seconds_to_wait(parse_address("local[2]"))
    150.0
    """
    given = os.environ.get(WAIT_VARIABLE, "").strip()
    if not address.places or not given:
        return _STARTED_HERE if not address.places else _SECONDS
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(
            Reason.BAD_OPTION,
            f"An engine was to be opened: {address.shown}.",
            f"{WAIT_VARIABLE} is not a number of seconds above 0.",
            f"Give a number, such as {WAIT_VARIABLE}=120, or leave it out.",
        )
    return seconds
