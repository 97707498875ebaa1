"""The door: `gamekeeper` and `python -m gamekeeper` begin here.

Ctrl-C is provided for before anything is loaded that takes time. Nothing may be imported at the
top of this module but what Python itself has loaded by then.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_CANCELLED = 130
# Python looks for garbage after every 700 objects that are made, and what is imported is none.
# With few such rounds, and none at the end, `form list` takes 0.35 CPU s in place of 0.51.
_OBJECTS_PER_ROUND = 200_000


def main() -> None:
    """Run the command line."""
    # A job in the background of a script inherits that Ctrl-C is ignored. What a command does
    # must not depend on how it was started: asked to stop, it stops.
    signal.signal(signal.SIGINT, _leave)
    gc.set_threshold(_OBJECTS_PER_ROUND)
    from gamekeeper.cli.app import main as run

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        sys.exit(_CANCELLED)
    finally:
        # Python still tidies up, and threads of work that was cancelled may go on.
        signal.signal(signal.SIGINT, _leave)
        # What is there now goes with the process: it need not be looked through for garbage. Where
        # DuckDB is there, its bindings would complain of what is left.
        if "_duckdb" not in sys.modules:
            gc.freeze()


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(_CANCELLED)


if __name__ == "__main__":
    main()
