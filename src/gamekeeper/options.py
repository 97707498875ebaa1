"""Options, written once: a field of a request has the name, type, default, range and help text.

A request is a plain frozen dataclass. A field made by `option`, or annotated with an `Option` where
it has no default or several requests have it, is something that people may ask for; a field that is
itself such a dataclass stands for all of its options; any other field (a callback, a table) is
passed on as it is. From this come the options at the prompt (`cli.commands`), the checks, the
provenance and the signature of library functions::

    @dataclass(frozen=True, kw_only=True)
    class DisOptions:
        rounds: int = option(200_000, "At most so many rounds.", least=1)


    @takes(DisOptions)  # so that it is called as assess_dis(key_table, rounds=1_000)
    def assess_dis(key_table: KeyTable, asked: DisOptions) -> DisRisk: ...
"""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, make_dataclass, replace
from dataclasses import Field as DataclassField
from enum import Enum
from functools import cache, wraps
from numbers import Integral, Real
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

Asked = TypeVar("Asked")

_LONGEST_PATH = 1_000


@dataclass(frozen=True, slots=True)
class Option:
    """What an option is for, and what may be asked of it.

    - `flags`: its names at the prompt, such as "--keys -k" or, of an argument, "PART...".
    - `least`, `most`: the range of a number.
    - `panel`: the heading that it stands under at the prompt.
    - `is_argument`: whether it is given at the prompt by its place and not by a name.
    - `default_text`: the default in words; "" for none, None where the value itself is shown.
    - `read`: turns what was typed (a text, or a list of texts) into the value.
    - `writes`: what is written to the file that it names: table, counted (a table that the engine
      writes where it has the rows elsewhere), picture, page, json, text or values (that fit no
      category); or to the folder: folder, or environment.
    - `label`: what that file is called when it has been written.
    """

    help: str
    flags: str = ""
    least: float | None = None
    most: float | None = None
    panel: str = ""
    is_argument: bool = False
    default_text: str | None = None
    read: Callable[[Any], Any] | None = None
    writes: str = ""
    label: str = ""


P = ParamSpec("P")
Value = TypeVar("Value")
_MARK = "option"


def defaulting(make: Callable[P, Option]) -> Callable[Concatenate[Value, P], Value]:
    """Return what makes a field of a default, and of what `make` makes an option of."""

    def made(default: Any, *args: P.args, **told: P.kwargs) -> Any:
        marked = {_MARK: make(*args, **told)}
        if isinstance(default, dict):
            return field(default_factory=default.copy, metadata=marked)
        return field(default=default, metadata=marked)

    return made


option = defaulting(Option)
"""A field of a request that people may ask for: its default, and what an `Option` has.

>>> @dataclass(frozen=True)
... class Asked:
...     rounds: int = option(10, "At most so many rounds.", least=1)
>>> Asked(), [(item.name, item.option.least) for item in options_of(Asked)]
(Asked(rounds=10), [('rounds', 1)])
"""


@dataclass(frozen=True, slots=True)
class Field:
    """An option of a request: its name, its type without None, its default."""

    name: str
    kind: Any
    default: Any
    option: Option
    is_optional: bool

    @property
    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.default is MISSING

    @property
    def element(self) -> Any:
        """The type of one element of a list, or of a mapping (typed as a list of pairs); else None."""
        many = (tuple, Sequence, Mapping)
        return _bare(get_args(self.kind)[0])[0] if get_origin(self.kind) in many else None


@cache
def options_of(request: type) -> tuple[Field, ...]:
    """Return the options of a request, those of its parts in their place.

    >>> @dataclass(frozen=True)
    ... class Asked:
    ...     rounds: Annotated[int, Option("At most so many rounds.", least=1)] = 10
    >>> [(item.name, item.default, item.option.least) for item in options_of(Asked)]
    [('rounds', 10, 1)]
    """
    found: list[Field] = []
    hints = _hints(request)
    for item in fields(request):
        hint = hints[item.name]
        if is_dataclass(hint):
            found += options_of(hint)  # pyright: ignore[reportArgumentType]
            continue
        asked = _option(item, hint)
        if asked is not None:
            made = item.default_factory
            default = item.default if made is MISSING else made()
            kind, is_optional = _bare(get_args(hint)[0] if get_origin(hint) is Annotated else hint)
            found.append(Field(item.name, kind, default, asked, is_optional))
    names = [item.name for item in found]
    assert len(set(names)) == len(names), f"an option of {request.__name__} is there twice"
    return tuple(found)


def part_of(request: type, *names: str) -> type:
    """Return a request that has only some options of another, as they are written there.

    >>> @dataclass(frozen=True)
    ... class Asked:
    ...     rounds: Annotated[int, Option("At most so many rounds.", least=1)] = 10
    ...     seed: Annotated[int, Option("The seed.")] = 0
    >>> [item.name for item in options_of(part_of(Asked, "seed"))]
    ['seed']
    """
    hints = _hints(request)
    chosen = {item.name: item for item in fields(request)}
    parts = [(name, hints[name], copy(chosen[name])) for name in names]
    made_by = f"Some options of {request.__name__}."
    part = make_dataclass(
        f"PartOf{request.__name__}",
        parts,
        frozen=True,
        kw_only=True,
        namespace={"__doc__": made_by},
    )
    # Where its annotations are looked up.
    part.__module__ = request.__module__
    return part


def build(request: type[Asked], values: Mapping[str, Any]) -> Asked:
    """Return a request, its parts built from the same values; absent ones take their default.

    A list, as JSON has it, becomes a tuple.
    """
    hints = _hints(request)
    made: dict[str, Any] = {}
    for item in fields(request):  # pyright: ignore[reportArgumentType]
        hint = hints[item.name]
        if is_dataclass(hint):
            made[item.name] = build(hint, values)  # pyright: ignore[reportArgumentType]
        elif item.name in values and _option(item, hint) is not None:
            value = values[item.name]
            made[item.name] = tuple(value) if isinstance(value, list) else value
    return request(**made)


def given(asked: Any, **others: Any) -> dict[str, Any]:
    """Return the fields of a request as keyword arguments, with others in place of some."""
    return {item.name: getattr(asked, item.name) for item in fields(asked)} | others


def texts_of(asked: Any, *names: str) -> dict[str, str]:
    """Return options as texts for a provenance: those named, or all but what is not known."""
    values = _values(asked)
    chosen = names or tuple(name for name, value in values.items() if value is not None)
    return {name: option_text(values[name]) for name in chosen}


def option_text(value: Any) -> str:
    """Return the value of an option as a provenance tells it; a list with commas.

    >>> option_text([1, "a"]), option_text(0.5)
    ('1, a', '0.5')
    """
    if isinstance(value, list | tuple):
        return ", ".join(map(option_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={option_text(each)}" for name, each in value.items())
    return str(value.value if isinstance(value, Enum) else value)


def written(asked: Any) -> list[tuple[Option, Path]]:
    """Return the files that a request asks to be written, each with its option."""
    values = _values(asked)
    return [
        (item.option, values[item.name])
        for item in options_of(type(asked))
        if item.option.writes and values[item.name] is not None
    ]


def paths(asked: Any) -> list[Path]:
    """Return the files and folders that a request names and does not ask to be written.

    A file may be named within an option: `A=levels.csv`, `policy=rules.json`. Such a text counts
    where a file of that name is there.
    """
    values = _values(asked)
    named = [values[item.name] for item in options_of(type(asked)) if not item.option.writes]
    return [path for value in named for path in _paths_in(value)]


def _paths_in(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, str):
        for text in {value, value.rpartition("=")[2].strip()}:
            if 0 < len(text) < _LONGEST_PATH and text.isprintable() and os.path.isfile(text):  # noqa: PTH113 - a Path of any text would be made
                yield Path(text)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _paths_in(part)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _paths_in(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _paths_in(getattr(value, part.name))


def require_valid(asked: Any, what: str) -> None:
    """Raise one error for all options of a request that are out of range or of another type."""
    values = _values(asked)
    problems: list[Problem] = []
    for item in options_of(type(asked)):
        found, do = _fault(item, values[item.name])
        if found:
            is_name = _is_enum(item.element or item.kind)
            reason = Reason.UNKNOWN_NAME if is_name else Reason.BAD_OPTION
            problems.append(Problem(reason, item.name, found, do))
    if problems:
        found = f"{count_of(len(problems), 'option')} cannot be used."
        raise InputError(problems[0].reason, what, found, problems=problems)


@cache
def _hints(request: type) -> dict[str, Any]:
    """Return annotations; Any for a type that only the checker knows, as it is slow to import."""
    hints: dict[str, Any] = {}
    for owner in reversed(request.__mro__):
        scope = vars(sys.modules[owner.__module__])
        for name, hint in inspect.get_annotations(owner).items():
            try:
                hints[name] = eval(hint, scope) if isinstance(hint, str) else hint  # noqa: S307 - our own code
            except NameError:
                hints[name] = Any
    return hints


def _option(item: DataclassField[Any], hint: Any) -> Option | None:
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    marked = (mark for mark in marks if isinstance(mark, Option))
    return item.metadata.get(_MARK) or next(marked, None)


def _bare(hint: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether None was allowed; an enum's names may be texts."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    every = get_args(hint)
    kinds = tuple(filter(_is_enum, every)) or tuple(k for k in every if k is not types.NoneType)
    return (kinds[0] if len(kinds) == 1 else Union[kinds]), types.NoneType in every  # noqa: UP007 - made at run time


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _values(asked: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    hints = _hints(type(asked))
    for item in fields(asked):
        value = getattr(asked, item.name)
        if is_dataclass(hints[item.name]):
            found |= _values(value)
        elif _option(item, hints[item.name]) is not None:
            found[item.name] = value
    return found


def _fault(item: Field, value: Any) -> tuple[str, str]:
    """Return what is wrong with a value and what to do, or nothing."""
    asked = item.option
    if value is None:
        return ("", "") if item.is_optional else ("it is None.", "Leave it out for the default.")
    kind, each = item.element or item.kind, value if item.element else [value]
    for name in each if _is_enum(kind) else ():
        if name not in set(kind):
            known = [str(member.value) for member in kind]
            return f"{quoted([str(name)])} is not known.", did_you_mean(str(name), known)
    numbers: Sequence[Any] = each if kind in (int, float) else ()
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, Real):
            return f"a {type(number).__name__} is no number.", "Give a number."
        if kind is int and not (isinstance(number, Integral) or float(number).is_integer()):
            return f"{number:,} is no whole number.", "Give a whole number."
        # Not as floats: a whole number may be larger than all of these.
        size: Any = number
        if asked.least is not None and not size >= asked.least:
            return f"{number:,} is less than {asked.least:,}.", "Give a larger number."
        if asked.most is not None and not size <= asked.most:
            return f"{number:,} is more than {asked.most:,}.", "Give a smaller number."
    return "", ""


Data = TypeVar("Data", contravariant=True)
Found = TypeVar("Found", covariant=True)


class Taking(Protocol[Data, P, Found]):
    """A function of data and options: by keywords, or as the object that has them (`asked`).

    What is given beside the object counts in place of what that has, such as progress.
    """

    __name__: str

    @overload
    def __call__(self, data: Data, /, *more: Any, asked: object, **others: Any) -> Found: ...
    @overload
    def __call__(self, data: Data, /, *args: P.args, **chosen: P.kwargs) -> Found: ...


def takes(
    options: Callable[P, Asked],
) -> Callable[[Callable[[Data, Asked], Found]], Taking[Data, P, Found]]:
    """Make a function of data and a request one of data and keyword arguments, checked first.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Often:
    ...     times: int = option(2, "So often.", least=1)
    >>> @takes(Often)
    ... def repeated(text: str, asked: Often) -> str:
    ...     return text * asked.times
    >>> repeated("a", times=3), repeated("a", asked=Often(times=3))
    ('aaa', 'aaa')
    """

    def decorate(work: Callable[[Data, Asked], Found]) -> Taking[Data, P, Found]:
        first = next(iter(inspect.signature(work).parameters.values()))
        signature = inspect.Signature([first, *inspect.signature(options).parameters.values()])
        make: Any = options

        @wraps(work)
        def called(data: Any, /, *args: Any, **chosen: Any) -> Any:
            require_made(data, _made_kinds(work), f"{work.__name__} was called.")
            asked: Any = chosen.pop("asked") if is_dataclass(chosen.get("asked")) else None
            if asked is not None and not isinstance(asked, make):
                # Options alone, where data are to be given besides.
                chosen = {**given(asked), **chosen}
                asked = None
            try:
                if asked is None:
                    signature.bind(data, *args, **chosen)
                    asked = make(*args, **chosen)
                elif chosen:
                    asked = replace(asked, **chosen)
            except TypeError as error:
                # Not in the words of the request, which nobody who calls this has heard of.
                raise TypeError(f"{work.__name__}(): {error}") from None
            require_valid(asked, f"{work.__name__} was called.")
            return work(data, asked)

        called.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue]
        called.__doc__ = _documented(work.__doc__ or "", options)
        return called  # pyright: ignore[reportReturnType]

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
    told = {item.name: item.option.help for item in options_of(options)}
    lines = [f"{name}\n    {text}" for name, text in told.items()]
    head, heading, examples = inspect.cleandoc(doc).partition("\nExamples\n")
    listed = f"{head.rstrip()}\n\nOther Parameters\n----------------\n" + "\n".join(lines) + "\n"
    return listed + (heading + examples if heading else "")


def require_known(names: Iterable[str], known: Collection[str], asked: str) -> None:
    """Refuse options by names that nothing is known by; all of them at once.

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
