"""What a form says in its own words, in lines for reading."""

from __future__ import annotations

from collections.abc import Iterator

from gamekeeper.mapping.forms.questions import Answer, Question, Universe
from gamekeeper.mapping.variables.variable import OUTSIDE


def universe_text(universe: Universe) -> str:
    """Return a universe in words.

    Examples
    --------
    >>> universe_text(Universe(wording="Pensioners", within={"Age": ("65+",)}))
    'Pensioners (Age: 65+)'
    """
    within = "; ".join(f"{name}: {' or '.join(own)}" for name, own in universe.within.items())
    if not within:
        return universe.wording
    return f"{universe.wording} ({within})" if universe.wording else within


def question_lines(question: Question) -> Iterator[str]:
    r"""Return a question in lines: its words, who is asked, and what each answer means.

    Examples
    --------
    >>> answers = [Answer(text="F", means="female"), Answer(text="?", no_answer="refused")]
    >>> print(*question_lines(Question(name="Q1", variable="Sex", answers=answers)), sep="\n")
    Q1 (for Sex)
      F: female
      ?: no answer (refused)
    """
    fed = f" (for {', '.join(question.variables)})" if question.variables else " (for no variable)"
    text = f" {question.text}" if question.text else ""
    yield f"{question.name}{text}{fed}{', several answers' if question.multiple else ''}"
    if question.universe is not None:
        yield f"  asked of: {universe_text(question.universe)}"
    for key, value in question.metadata.items():
        yield f"  {key}: {value}"
    for answer in question.answers:
        yield f"  {answer.text}: {_meaning(question, answer)}"
    if question.variable is not None and not question.meaning:
        yield "  any level of detail"
    if question.outside:
        yield f"  everybody else: {OUTSIDE}"


def _meaning(question: Question, answer: Answer) -> str:
    if answer.no_answer is not None:
        return f"no answer ({answer.no_answer})"
    if answer.variable is not None:
        return f"{answer.variable}, {answer.label}"
    return answer.label if question.variable is not None else "nothing yet"
