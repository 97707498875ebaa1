"""Perturbation schemes by name: read from a text such as 'conventional:5', or from a mapping.

Every scheme writes itself as its name and its parameters with colons between them. Others can be
registered under a name of their own and are then read like the schemes that come with the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from gamekeeper.algorithms.releases.perturbation import Scheme
from gamekeeper.algorithms.releases.schemes import (
    Barnardization,
    Conventional,
    Exact,
    Interval,
    RandomRounding,
    Suppressed,
)
from gamekeeper.algorithms.sampling_fraction import parse_fraction
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import did_you_mean, quoted

SchemeLike = Scheme | str | Mapping[str, object]
"""How a scheme may be given: itself, 'random:3', or {"type": "random", "base": 3}."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*", re.ASCII)


def _conventional(base: object, ties: object = None) -> Scheme:
    return Conventional(_whole(base), None if ties is None else str(ties))


def _barnardization(p: object) -> Scheme:
    if isinstance(p, bool) or not isinstance(p, str | int | float | Fraction):
        raise ValueError
    return Barnardization(parse_fraction(p))


def _suppressed(below: object = None) -> Scheme:
    return Suppressed(None if below is None else _whole(below))


def _interval(cuts: object = ()) -> Scheme:
    parts = cuts.split(",") if isinstance(cuts, str) else cuts
    if not isinstance(parts, list | tuple):
        raise TypeError
    return Interval(tuple(_whole(part) for part in parts))


_MAKERS: dict[str, Callable[..., Scheme]] = {
    "barnardization": _barnardization,
    "conventional": _conventional,
    "exact": Exact,
    "interval": _interval,
    "random": lambda base: RandomRounding(_whole(base)),
    "suppressed": _suppressed,
}
_EXAMPLES = {
    "barnardization": "barnardization:0.8",
    "conventional": "conventional:5' or 'conventional:4:up",
    "interval": "interval:0,1,5,20",
    "random": "random:3",
    "suppressed": "suppressed' or 'suppressed:5",
}


def register_scheme(name: str, maker: Callable[..., Scheme]) -> None:
    """Make a scheme of your own known under a name, so that it can be read like the others.

    Parameters
    ----------
    name
        Small letters, digits, hyphens and underscores; not one that is taken by another maker.
    maker
        Returns the scheme. From a text, such as 'mine:3:0.5', it gets the parts after the name as
        texts; from a mapping, all fields but `type` by their names.

    Examples
    --------
    >>> register_scheme("round-to-ten", lambda: Conventional(10, "up"))
    >>> parse_scheme("round-to-ten").bounds(10)
    (5, 14)
    """
    if not _NAME.fullmatch(name) or _MAKERS.get(name, maker) is not maker:
        taken = name in _MAKERS
        raise InputError(
            Reason.DUPLICATE if taken else Reason.BAD_NAME,
            f"A scheme was to be registered as {quoted([name])}.",
            "There is a scheme of this name." if taken else "This is no name of a scheme.",
            "Take a name of small letters, digits and hyphens that is free.",
        )
    _MAKERS[name] = maker


def parse_scheme(given: SchemeLike) -> Scheme:
    """Read a scheme.

    Parameters
    ----------
    given
        A scheme, a text such as 'exact', 'conventional:5', 'conventional:4:up', 'random:3',
        'barnardization:0.8', 'suppressed', 'suppressed:5', 'interval' or 'interval:0,1,5,20', or a
        mapping with the name as `type` and the parameters (`base`, `ties`, `p`, `below`, `cuts`).

    Examples
    --------
    >>> parse_scheme("random:3") == parse_scheme({"type": "random", "base": 3})
    True
    """
    if isinstance(given, Scheme):
        return given
    parts: tuple[object, ...] = ()
    fields: dict[str, object] = {}
    if isinstance(given, str):
        name, *texts = (part.strip() for part in given.split(":"))
        parts = tuple(texts)
    elif isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - what callers give is not checked
        fields = {str(field): value for field, value in given.items() if field != "type"}
        name = str(given.get("type", ""))
    else:
        raise InputError(
            Reason.WRONG_SCHEMA,
            "A scheme was asked for.",
            f"A {type(given).__name__} is no scheme.",
            "Give a text such as 'conventional:5', or a mapping with its 'type'.",
        )
    name = name.casefold()
    maker = _MAKERS.get(name)
    if maker is None:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The scheme {quoted([name])} was asked for.",
            "There is no scheme of this name." if name else "It has no name.",
            did_you_mean(name, _MAKERS),
        )
    try:
        made = maker(*parts, **fields)
    except (TypeError, ValueError):
        made = None
    if not isinstance(made, Scheme):
        example = f" Write it as in '{_EXAMPLES[name]}'." if name in _EXAMPLES else ""
        raise InputError(
            Reason.BAD_OPTION,
            f"The scheme {quoted([name])} was asked for.",
            "Its parameters cannot be used.",
            f"Check their number and what they are.{example}",
        )
    return made


def _whole(value: object) -> int:
    if isinstance(value, str):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value
