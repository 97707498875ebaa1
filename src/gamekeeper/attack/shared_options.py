"""Options that several attacks have in common: each is written here, once."""

from __future__ import annotations

from typing import Annotated

from gamekeeper.options import Option

__all__ = ["MaxSize", "Seed", "Workers"]

Seed = Annotated[int, Option("The same seed gives the same result.", least=0)]
Workers = Annotated[int | None, Option("How many at a time; by default one per core.", least=1)]
MaxSize = Annotated[
    int | None,
    Option("Search combinations of so many variables at most; all by default.", least=1),
]
