"""The door: `gamekeeper` and `python -m gamekeeper` begin here.

Ctrl-C is provided for before anything large is loaded. Nothing but the standard library may be
imported at the top of this module.
"""

from __future__ import annotations

import signal
import sys

from gamekeeper.cli.loading import loading

__all__ = ["main"]

_CANCELLED = 130


def main() -> None:
    """Run the command line."""
    # A job in the background of a script inherits that Ctrl-C is ignored. What a command does
    # must not depend on how it was started: asked to stop, it stops.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with loading():
            from gamekeeper.cli.app import main as run
        run()
    except KeyboardInterrupt:
        sys.exit(_CANCELLED)


if __name__ == "__main__":
    main()
