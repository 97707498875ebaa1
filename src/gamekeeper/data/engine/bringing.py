"""What comes to this machine from an engine elsewhere, and what goes there: so much and no more.

An engine of this machine has its records here already, and work asks for memory as it always does
(`gamekeeper.budget`). With one elsewhere every row of an array crosses the network and takes memory
of the one process that asked. Counts of classes are small; arrays with a cell per record or per
different key are not. Up to the limits below they come, so that every attack gives the same answer
whoever counts. Above them they are refused, with the way around.
"""

from __future__ import annotations

from gamekeeper.budget import require_memory
from gamekeeper.data.engine.gate import Engine
from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import number_text

MOST_BROUGHT = 100_000_000
"""So many records, or different keys, come from an engine elsewhere at most."""

MOST_LOADED = 20_000_000
"""So many records are read by this machine and handed to an engine elsewhere at most."""

MOST_WRITTEN = 1_000_000
"""So many rows of what is elsewhere are listed here, or written as one text file or sheet, at most."""

MOST_VALUES = 5_000_000
"""So many different values of a column come from an engine elsewhere to be numbered at most."""

FEWER_RECORDS = "Take a random part of the records, or one region at a time"
FEWER_KEYS = "Take fewer key variables, or coarser ones (--recode)"


def stays_elsewhere(engine: Engine, n_records: int) -> bool:
    """Tell whether results of records stay with the engine, so that this machine has those of keys."""
    return not engine.is_local and n_records > MOST_WRITTEN


def require_brought(
    engine: Engine, n_rows: int, row_bytes: int, what: str, do: str = FEWER_RECORDS
) -> None:
    """Refuse to bring more rows from elsewhere than may come, or than memory holds.

    Parameters
    ----------
    engine
        Who has them; where that is this machine, nothing is refused here.
    n_rows, row_bytes
        How many there are, and what each takes.
    what
        What they are: "codes of records".
    do
        The ways around, as a sentence without its full stop.
    """
    if engine.is_local:
        return
    asked = f"{number_text(n_rows)} {what} were to come from {engine.name} to this machine."
    if n_rows > MOST_BROUGHT:
        raise LimitError(
            Reason.TOO_LARGE, asked, f"At most {number_text(MOST_BROUGHT)} do.", f"{do}."
        )
    require_memory(asked, n_rows * row_bytes, "They", do)


def require_loaded(engine: Engine, n_records: int, words: str) -> None:
    """Refuse to hand more records to an engine elsewhere than this machine reads for it."""
    if engine.is_local or n_records <= MOST_LOADED:
        return
    raise LimitError(
        Reason.TOO_LARGE,
        f"{words} was to be counted by {engine.name}.",
        "This machine would have to read its records and hand them over: it is no Parquet, or has a"
        " column that is neither whole numbers nor texts. That is done for at most"
        f" {number_text(MOST_LOADED)} records.",
        "Write it as Parquet, or a folder of Parquet files, in a place that the whole cluster sees,"
        " with key variables of whole numbers or texts: that is read in place.",
    )


def require_written(engine: Engine, n_rows: int, ending: str, what: str) -> None:
    """Refuse a text file or sheet of more rows than are written of what is elsewhere."""
    if engine.is_local or ending == ".parquet" or n_rows <= MOST_WRITTEN:
        return
    raise LimitError(
        Reason.TOO_LARGE,
        f"{number_text(n_rows)} {what} were to be written to a file that ends in {ending}.",
        f"They are kept by {engine.name}, and at most {number_text(MOST_WRITTEN)} are brought here"
        " for such a file.",
        "Let its name end in .parquet: a folder of Parquet files is then written where they are.",
    )
