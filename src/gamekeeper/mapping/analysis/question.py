"""What is asked of key variable mapping, checked as a whole before any work is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from gamekeeper.algorithms.categories.prevalence import parse_prevalence
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.evidence import Mode
from gamekeeper.wording import count_of, quoted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """A target, the forms to match it against, and how; everything in it is valid.

    `wanted` are the forms to match against once more, to be found at once. `asked` has the options
    that are taken as they were given.
    """

    environment: Environment
    asked: MapOptions
    target: str
    forms: tuple[str, ...]
    groups: tuple[str, ...]
    match_forms: tuple[str, ...]
    wanted: frozenset[str]
    mode: Mode
    prevalence: Fraction


def pose(environment: Environment, asked: MapOptions) -> Question:
    """Check what is asked against an environment; every fault is reported at once."""
    target = asked.target
    faults: list[InputError] = []

    def checked(check: Callable[[], T], otherwise: T) -> T:
        try:
            return check()
        except InputError as error:
            faults.append(error)
            return otherwise

    named = (asked.forms,) if isinstance(asked.forms, str) else tuple(asked.forms)
    grouped = (asked.groups,) if isinstance(asked.groups, str) else tuple(asked.groups)
    share = checked(lambda: parse_prevalence(asked.prevalence), Fraction(0))
    use = checked(lambda: _mode(asked.mode, named, grouped), Mode.TYPICAL)
    checked(lambda: _require_most(asked.most), None)
    checked(lambda: environment.form(target).name, "")
    chosen = [checked(lambda form=form: environment.form(form).name, form) for form in named]
    for group in grouped:
        chosen += checked(lambda group=group: environment.group(group).forms, ())
    if not named and not grouped:
        chosen = list(environment.forms)
    match_forms = tuple(dict.fromkeys(form for form in chosen if form != target))
    if not faults and not match_forms:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"The key variables of {quoted([target])} were asked for.",
            "There is no other form to match against.",
            "Name forms or groups besides the target.",
        )
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise InputError(
            faults[0].reason,
            f"The key variables of {quoted([target])} were asked for.",
            f"What was asked has {count_of(len(faults), 'fault')}.",
            problems=[
                Problem(fault.reason, fault.asked.removesuffix("."), fault.found, fault.do)
                for fault in faults
            ],
        )
    wanted = frozenset(match_forms)
    return Question(environment, asked, target, named, grouped, match_forms, wanted, use, share)


def _require_most(most: int) -> None:
    if most < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"The option most was given as {most}.",
            "That is less than one.",
            "Give a positive whole number, or leave it out.",
        )


def _mode(asked: Mode | str | None, forms: Sequence[str], groups: Sequence[str]) -> Mode:
    if asked is None:
        if len(groups) > 1:
            return Mode.MULTIPLE
        return Mode.SPECIFIC if len(forms) == 1 and not groups else Mode.TYPICAL
    mode = Mode(asked)
    if mode is Mode.SPECIFIC and (len(forms) != 1 or groups):
        need = "exactly one form and no group"
    elif mode is Mode.MULTIPLE and len(groups) < 2:
        need = "two groups or more"
    else:
        return mode
    raise InputError(
        Reason.BAD_OPTION,
        f"The mode '{mode.value}' was asked for.",
        f"It takes {need}; given were {count_of(len(forms), 'form')} and"
        f" {count_of(len(groups), 'group')}.",
        "Change the forms and groups to match against, or the mode.",
    )
