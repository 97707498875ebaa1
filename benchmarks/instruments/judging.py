"""How many proposals are right: variables and the meanings of answers, held against the keys.

A question counts as right when its variable is one of the key's and every answer means what the
key says. Meanings are compared by what they are made of, so that 'other' is right wherever it
takes what the key's word takes. Bands are held against the numbers that are printed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gamekeeper.importing.matching import Matcher, Proposal
from gamekeeper.importing.placing import Fit, Meaning
from gamekeeper.importing.questions import Instrument
from gamekeeper.mapping import Environment, Variable
from gamekeeper.mapping.variables.codes import ELSE, Scale

_HERE = Path(__file__).parent
KEY = json.loads((_HERE / "key.json").read_text(encoding="utf-8"))
ANSWERS = json.loads((_HERE / "answers.json").read_text(encoding="utf-8"))
_NUMBER = re.compile(r"\d+(?:[.,' \u00a0]\d{3})*")


@dataclass
class Judged:
    """What came of the questions of some files."""

    files: int = 0
    questions: int = 0
    matchable: int = 0
    first: int = 0
    said: Counter[bool] = field(default_factory=Counter[bool])
    taken: Counter[bool] = field(default_factory=Counter[bool])
    answers: Counter[bool] = field(default_factory=Counter[bool])
    faults: list[str] = field(default_factory=list[str])

    def print(self, name: str, *, details: bool) -> None:
        """Print the figures, and what is wrong if that is asked for."""
        total = sum(self.taken.values())
        print(
            f"{name}: {self.files} files, {self.questions:,} questions, {self.matchable} matchable"
        )
        print(f"  right variable proposed first: {self.first}")
        print(f"  variable sure: {sum(self.said.values())}, right {self.said[True]}")
        share, precision = total / max(self.matchable, 1), self.taken[True] / max(total, 1)
        print(
            f"  taken: {total} ({share:.1%}), right with all answers {self.taken[True]} ({precision:.3f})"
        )
        print(
            f"  answers of what is taken: {sum(self.answers.values())}, right {self.answers[True]}"
        )
        if details:
            for fault in self.faults:
                print(f"  {fault}")


def judge(
    environment: Environment,
    read: Mapping[str, Instrument],
    truth: Mapping[str, Mapping[str, str | list[str]]],
) -> Judged:
    """Return what comes of the questions of the files that have a key here."""
    matcher = Matcher(environment)
    found = Judged()
    for file, right in truth.items():
        if file not in read:
            continue
        found.files += 1
        for proposal in matcher.propose_form(read[file]):
            _count(found, file, proposal, right.get(proposal.question.name), environment)
    return found


def _count(
    found: Judged,
    file: str,
    proposal: Proposal,
    right: str | list[str] | None,
    environment: Environment,
) -> None:
    allowed = [right] if isinstance(right, str) else right or []
    best = proposal.best
    is_right = best is not None and best.variable in allowed
    found.questions += 1
    found.matchable += bool(allowed)
    found.first += is_right
    where = f"{file} {proposal.question.name}"
    if best is None:
        if allowed:
            found.faults.append(f"not found: {where} ({' or '.join(allowed)})")
        return
    if proposal.says_variable:
        found.said[is_right] += 1
        if not is_right:
            found.faults.append(f"wrong variable: {where}: {best.variable}")
    if not proposal.is_sure:
        if allowed:
            found.faults.append(
                f"not taken: {where} ({' or '.join(allowed)}): {best.variable}, {best.reason}"
            )
        return
    wrong = [
        m
        for m in best.fit.meanings
        if not means_right(m, best.fit, environment.variable(best.variable))
    ]
    found.answers[True] += len(best.fit.meanings) - len(wrong)
    found.answers[False] += len(wrong)
    found.taken[is_right and not wrong] += 1
    for meaning in wrong:
        told = meaning.means or meaning.no_answer
        found.faults.append(f"wrong answer: {where}: {meaning.text!r} as {told!r}")


def means_right(meaning: Meaning, fit: Fit, variable: Variable) -> bool:
    """Tell whether an answer means what the key says."""
    text = meaning.text
    if text in ANSWERS["none"] or text.lower().startswith(("no code required", "n/a ")):
        return meaning.no_answer is not None
    if variable.scale is Scale.INTERVAL:
        return _numbers_agree(text, meaning)
    key = ANSWERS["answers"].get(variable.name, {}).get(text)
    for start, told in ANSWERS["begins"].get(variable.name, {}).items():
        key = told if key is None and text.startswith(start) else key
    if key is None and variable.name == "State":
        key = text.casefold()
    if key is None or key.startswith(("?", "<")):
        return False
    if key == "-" or meaning.means is None:
        return key == "-" and meaning.no_answer is not None
    if key == "*":
        return meaning.means == ELSE or meaning.means not in {
            other.means for other in fit.meanings if other is not meaning
        }
    sinks = set(variable.graph.sinks_of(key))
    if meaning.means == ELSE:
        known = {m.means for m in fit.meanings if m.means and m.means != ELSE}
        taken = {
            sink
            for name in known
            if name in variable.graph
            for sink in variable.graph.sinks_of(name)
        }
        return set(variable.graph.sinks) - taken == sinks
    return meaning.means in variable.graph and set(variable.graph.sinks_of(meaning.means)) == sinks


def _numbers_agree(text: str, meaning: Meaning) -> bool:
    if meaning.means is None:
        return meaning.no_answer is not None and not _NUMBER.search(text)
    bare = re.sub(r"\([^()]*\)", " ", text)  # '90 (90+, 1988-2002)' is 90, or more in some years
    printed = {int(re.sub(r"\D", "", number)) for number in _NUMBER.findall(bare)}
    ends = {int(number) for number in re.findall(r"\d+", meaning.means)}
    near = {end + step for end in ends for step in (-1, 0, 1)}
    return printed <= near
