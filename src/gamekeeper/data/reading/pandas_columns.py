"""Columns of pandas frames as Arrow arrays: categoricals, intervals, periods, mixed objects.

Categories are written as texts one by one, since they may be anything: numbers, dates, intervals
of `pd.cut`. An interval is written with its ends as values are, `(16, 24]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gamekeeper.data.reading.cell_texts import cell_texts, plain_text, texts_of
from gamekeeper.data.reading.column import ColumnKind
from gamekeeper.data.reading.values import kind_of
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def pandas_column(series: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    """Return the cells of a column; raise `OddCells` where some are no values."""
    import pandas as pd
    import pyarrow as pa

    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return _dictionary(series.cat.codes.to_numpy(), kind.categories)
    if isinstance(kind, pd.IntervalDtype | pd.PeriodDtype):
        codes, categories = pd.factorize(series)
        return _dictionary(codes, categories)
    try:
        made = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Mixed Python objects. The fault quotes a value, so it is let go.
        made = None
    # Lists and dicts have a type in Arrow, but in pandas they are objects.
    if made is None or (
        pd.api.types.is_object_dtype(kind) and kind_of(made.type) is ColumnKind.OTHER
    ):
        return cell_texts(series.tolist(), series.isna().tolist())
    return made


def ordered_categories(series: pd.Series[Any]) -> tuple[str, ...]:
    """Return the values of a column in the order that it has for them; none where it has none."""
    import pandas as pd

    kind = series.dtype
    if isinstance(kind, pd.IntervalDtype):
        categories: Iterable[Any] = pd.Index(series.dropna().unique()).sort_values()
    elif isinstance(kind, pd.CategoricalDtype) and (
        kind.ordered or isinstance(kind.categories.dtype, pd.IntervalDtype)
    ):
        categories = kind.categories
        if not kind.ordered:
            categories = kind.categories.sort_values()
    else:
        return ()
    try:
        texts = [_text(category) for category in categories]
    except TypeError:
        return ()  # no values, which is told where they are read
    return tuple(dict.fromkeys(text for text in texts if text is not None))


def index_names(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the names that the index of a frame has."""
    return tuple(name for name in frame.index.names if isinstance(name, str))


def require_plain_axes(frame: pd.DataFrame, asked: str) -> None:
    """Refuse rows or columns that are labelled on several levels."""
    import pandas as pd

    if isinstance(frame.columns, pd.MultiIndex):
        raise InputError(
            Reason.BAD_NAME,
            asked,
            f"The names of its columns have {frame.columns.nlevels} levels (a MultiIndex).",
            "Give each column one name: frame.columns = ['_'.join(map(str, name)) for name in"
            " frame.columns].",
        )
    if isinstance(frame.index, pd.MultiIndex):
        named = index_names(frame)
        raise InputError(
            Reason.BAD_NAME,
            asked,
            f"Its rows are labelled on {frame.index.nlevels} levels (a MultiIndex"
            + (f" of {quoted(named)}" if named else "")
            + ").",
            "Make columns of them: frame.reset_index().",
        )


def _dictionary(codes: Any, categories: Any) -> pa.Array:
    """Return codes and categories as a dictionary of texts."""
    import pyarrow as pa

    texts = pa.array(texts_of(categories, _text), pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)


def _text(category: Any) -> str | None:
    import pandas as pd

    if isinstance(category, pd.Interval):
        left, right = (
            ("[" if category.closed_left else "("),
            ("]" if category.closed_right else ")"),
        )
        return f"{left}{plain_text(category.left)}, {plain_text(category.right)}{right}"
    return str(category) if isinstance(category, pd.Period) else plain_text(category)
