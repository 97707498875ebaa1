"""Text files of records: every cell is text, read in blocks, wanted columns only.

Cells are never read as numbers, so that leading zeros survive. Quotes, line breaks in quotes and
empty lines are understood. A record with too few or too many cells is an error, never padded.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.data.reading.column import Column, unreadable
from gamekeeper.data.reading.csv_layout import detect_layout, wrong_encoding
from gamekeeper.data.reading.packed import PACKED, open_bytes
from gamekeeper.errors import InputError
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import pyarrow as pa

# A record may be as long as a block; one megabyte more or less does not change the speed.
_BLOCK = 4 << 20
_FIRST_BYTES = 1 << 20


class CsvFile:
    """A text file with the names of the columns in its first line."""

    kind = "csv"

    def __init__(
        self,
        path: Path,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        has_header: bool = True,
    ) -> None:
        self.path = path
        self.layout = detect_layout(
            path, delimiter=delimiter, encoding=encoding, decimal=decimal, has_header=has_header
        )
        self.columns = tuple(Column(name) for name in self.layout.names)
        self.fingerprint = self.layout.fingerprint
        self.decimal = self.layout.decimal
        self.detected = self.layout.detected
        self.n_records: int | None = None
        self.settings: Mapping[str, str] = {
            "delimiter": self.layout.delimiter,
            "encoding": self.layout.encoding,
            "decimal": self.layout.decimal,
        }

    def about_records(self) -> int | None:
        """Return how many records there may be, by the size of the file and its first lines.

        None where the size says nothing: what is packed, and a file that begins without line breaks.
        """
        if self.path.suffix.lower() in PACKED:
            return None
        with self.path.open("rb") as file:
            first = file.read(_FIRST_BYTES)
        n_lines = first.count(b"\n") or first.count(b"\r")
        return n_lines * self.path.stat().st_size // len(first) if n_lines else None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns as text, some thousand records at a time."""
        import pyarrow as pa

        if not self.layout.has_records:
            return
        uneven = _UnevenRecords()
        n_read = 0
        error: InputError | None = None
        try:
            for batch in self._open(columns, uneven):
                n_read += batch.num_rows
                yield pa.RecordBatch.from_arrays(batch.columns, names=list(columns))
        except UnicodeDecodeError:
            error = wrong_encoding(self.path, self.layout.encoding)
        except pa.ArrowInvalid as fault:
            # The text of the fault quotes the record, so it is looked at and let go.
            error = self._broken()
            if "UTF8" in str(fault):
                error = wrong_encoding(self.path, self.layout.encoding)
        if error is not None:
            raise error
        if uneven.count:
            raise self._uneven(uneven, n_read + uneven.count)
        if self.layout.has_quotes and self.layout.n_line_ends > n_read + 1:
            self._check_quotes()

    def _open(self, columns: Sequence[str], uneven: _UnevenRecords) -> Any:
        import pyarrow as pa
        from pyarrow import csv as pa_csv

        names = self.layout.names
        wanted = [str(names.index(name)) for name in columns]
        if self.path.suffix.lower() in PACKED:
            unpacked = open_bytes(self.path)
            unpacked.read(self.layout.start)
            file = pa.PythonFile(unpacked, mode="r")
        else:
            file = pa.OSFile(str(self.path))
            file.seek(self.layout.start)
        if self.layout.encoding not in ("utf-8", "ascii"):
            file = pa.transcoding_input_stream(file, self.layout.encoding, "utf-8")
        return pa_csv.open_csv(
            file,
            read_options=pa_csv.ReadOptions(
                # Without threads the reader knows the numbers of the records it refuses.
                use_threads=False,
                block_size=_BLOCK,
                column_names=[str(place) for place in range(len(names))],
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                newlines_in_values=True,
                invalid_row_handler=uneven.add,
            ),
            convert_options=pa_csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                strings_can_be_null=False,
            ),
        )

    def _check_quotes(self) -> None:
        """Refuse quotes that swallow records: the reader in blocks takes them as they come.

        There are more lines than records, so that quotes may hold line breaks. Well-formed quotes
        do it on purpose; a stray one makes a cell of whole records.
        """
        found = ""
        try:
            with io.TextIOWrapper(
                open_bytes(self.path),
                encoding=self.layout.encoding.replace("utf-8", "utf-8-sig"),
                newline="",
            ) as file:
                for _ in csv.reader(file, delimiter=self.layout.delimiter, strict=True):
                    pass
        except csv.Error:
            found = "Some cells hold line breaks, and a quote stands alone or inside a cell."
        if found:
            raise unreadable(
                self.path,
                found,
                "Close every quote at the end of its cell; write a quote inside of quotes twice.",
            )

    def _broken(self) -> InputError:
        return unreadable(
            self.path,
            "Its records cannot be told apart.",
            f"Check the quotes, and that no record has more than {_BLOCK:,} bytes.",
        )

    def _uneven(self, uneven: _UnevenRecords, n_records: int) -> InputError:
        how = "detected" if "delimiter" in self.layout.detected else "given"
        mark = {"\t": "tab"}.get(self.layout.delimiter, self.layout.delimiter)
        widths = sorted(uneven.widths)
        cells = count_of(widths[0], "cell")
        if len(widths) > 1:
            cells = f"between {widths[0]:,} and {count_of(widths[-1], 'cell')}"
        return unreadable(
            self.path,
            f"Its first line has {count_of(len(self.columns), 'column')}, but "
            f"{count_of(uneven.count, 'record')} of {n_records:,} have {cells}; "
            f"the first of them is record {uneven.first:,}.",
            f"Check these records and the delimiter ({quoted([mark])} was {how}); --delimiter sets it.",
        )


class _UnevenRecords:
    """Counts the records with a wrong number of cells and keeps nothing of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first = 0
        self.widths: set[int] = set()

    def add(self, row: Any) -> str:
        self.count += 1
        self.first = self.first or int(row.number)
        self.widths.add(int(row.actual_columns))
        return "skip"
