"""Library functions that take the options of a request as keyword arguments."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options.requests import options_of, require_valid
from gamekeeper.wording import count_of, did_you_mean, quoted

P = ParamSpec("P")
Asked = TypeVar("Asked")
Data = TypeVar("Data")
Found = TypeVar("Found")


def takes(
    options: Callable[P, Asked],
) -> Callable[[Callable[[Data, Asked], Found]], Callable[Concatenate[Data, P], Found]]:
    """Make a function of data and a request one of data and keyword arguments, checked first."""

    def decorate(work: Callable[[Data, Asked], Found]) -> Callable[Concatenate[Data, P], Found]:
        first = next(iter(inspect.signature(work).parameters.values()))
        signature = inspect.Signature([first, *inspect.signature(options).parameters.values()])

        @wraps(work)
        def called(data: Data, /, *args: P.args, **chosen: P.kwargs) -> Found:
            require_made(data, _made_kinds(work), f"{work.__name__} was called.")
            try:
                signature.bind(data, *args, **chosen)
            except TypeError as error:
                # Not in the words of the request, which nobody who calls this has heard of.
                raise TypeError(f"{work.__name__}(): {error}") from None
            asked = options(*args, **chosen)
            require_valid(asked, f"{work.__name__} was called.")
            return work(data, asked)

        called.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue]
        called.__doc__ = _documented(work.__doc__ or "", options)
        return called

    return decorate


def require_made(given: object, kinds: Sequence[type], what: str) -> None:
    """Refuse data of another kind than those that a function takes; say how these are made.

    A kind says it by its `MADE_BY`.
    """
    if not kinds or isinstance(given, tuple(kinds)):
        return
    names = " or ".join(kind.__name__ for kind in kinds)
    ways = " or ".join(kind.MADE_BY for kind in kinds)  # pyright: ignore[reportAttributeAccessIssue]
    raise InputError(
        Reason.WRONG_SCHEMA,
        what,
        f"It takes a {names}, and was given a {type(given).__name__}.",
        f"Make one by {ways}.",
    )


@cache
def _made_kinds(work: Callable[..., object]) -> tuple[type, ...]:
    """Return the kinds of the first argument, if all of them say how they are made."""
    hint = next(iter(inspect.get_annotations(work).values()))
    try:
        kind = eval(hint, vars(sys.modules[work.__module__])) if isinstance(hint, str) else hint  # noqa: S307 - our own code
    except NameError:
        return ()
    kinds = get_args(kind) or (kind,)
    return kinds if all(hasattr(each, "MADE_BY") for each in kinds) else ()


def _documented(doc: str, options: Any) -> str:
    """Return a docstring with the options as parameters, before its examples."""
    told = {item.name: item.option.help for item in options_of(options)}
    lines = [f"{name}\n    {text}" for name, text in told.items()]
    head, heading, examples = inspect.cleandoc(doc).partition("\nExamples\n")
    listed = f"{head.rstrip()}\n\nOther Parameters\n----------------\n" + "\n".join(lines) + "\n"
    return listed + (heading + examples if heading else "")


def require_known(names: Iterable[str], known: Collection[str], asked: str) -> None:
    """Refuse options by names that nothing is known by; all of them at once.

    Examples
    --------
    >>> require_known(["weight"], {"weight", "keys"}, "A file was to be assessed.")
    """
    problems = [
        Problem(Reason.UNKNOWN_NAME, f"option {quoted([name])}", "it is not known.", did_you_mean(name, known))
        for name in names
        if name not in known
    ]  # fmt: skip
    if problems:
        raise InputError(
            Reason.UNKNOWN_NAME,
            asked,
            f"{count_of(len(problems), 'option')} cannot be used.",
            problems=problems,
        )
