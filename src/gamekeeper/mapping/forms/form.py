"""A form: what a data set asks of people, in which words, in which categories, and whom it asks.

A question and its answers are not a variable and its categories (Smith and Elliot, section 2.2).
A question may feed a variable: then every printed answer means one category of it, or is marked
as no answer and takes part in nothing. Two forms may print the same words and mean different
categories. What a variable on a form comes to, its labels, follows from the questions that feed
it:

- one question: the categories that its answers mean;
- several questions: what they tell together, joined by the label `ALSO`;
- a question with boxes to tick (`multiple`): every box is a question of its own with two answers,
  ticked and not ticked. A box may tick a variable of its own, such as "Has asthma", or be one of
  several that feed one variable whose categories are sets.

Two things bound the universe of a form, in sinks of a variable. The category `OUTSIDE` of a variable
takes sinks of people whom the form does not ask, and the universe of the form may say within which
categories its people are. A universe in words alone bounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, Field

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.variables.codes import ALSO, ELSE, OUTSIDE, Variable, name_problems
from gamekeeper.mapping.variables.definitions import STRICT, Names
from gamekeeper.wording import count_of, did_you_mean, quoted

Metadata = str | int | float | bool | None
"""A value of free metadata."""


@dataclass(frozen=True)
class Form:
    """A form: its name, its metadata, and per variable the labels of the categories it offers.

    An empty list of labels means that the form takes any level of detail. Labels of variables that
    questions feed need not be given: they follow from what the answers mean. A form may have no
    questions on record; its universe says who it is for.

    Examples
    --------
    >>> answers = [Answer(text="F", means="female"), Answer(text="M", means="male")]
    >>> Form("Bank", questions=[Question(name="Q1", variable="Sex", answers=answers)]).instances
    {'Sex': ('female', 'male')}
    """

    name: str
    instances: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    metadata: Mapping[str, Metadata] = field(default_factory=dict[str, Metadata])
    questions: tuple[Question, ...] = ()
    universe: Universe | None = None

    def __post_init__(self) -> None:
        # Lists are at hand in notebooks and files; selections are compared and must not change.
        taken = dict(self.instances)
        listed = [variable for variable, labels in taken.items() if type(labels) is not tuple]
        if bare := [variable for variable in listed if isinstance(taken[variable], str)]:
            asked = f"The form {quoted([self.name])} was asked for."
            found = f"Its labels are one string for {quoted(bare)}."
            do = "Give a list of labels for every variable."
            raise InputError(Reason.BAD_OPTION, asked, found, do)
        taken.update((variable, tuple(taken[variable])) for variable in listed)
        if self.questions:
            taken |= self._fed(taken)
        object.__setattr__(self, "instances", taken)

    @property
    def fed(self) -> frozenset[str]:
        """The variables whose labels follow from questions."""
        return frozenset(name for question in self.questions for name in question.variables)

    @property
    def by_hand(self) -> Mapping[str, tuple[str, ...]]:
        """The variables that no question feeds, with their labels."""
        if not self.questions:
            return self.instances
        fed = self.fed
        return {name: labels for name, labels in self.instances.items() if name not in fed}

    def labels(self, variable: str) -> tuple[str, ...]:
        """Return the labels of a variable that the form asks for."""
        if variable not in self.instances:
            raise InputError(
                Reason.NOT_FOUND,
                f"The variable {quoted([variable])} of the form {quoted([self.name])} was asked for.",
                "The form does not have it.",
                did_you_mean(variable, self.instances),
            )
        return self.instances[variable]

    def question(self, name: str) -> Question:
        """Return a question by its name."""
        for question in self.questions:
            if question.name == name:
                return question
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The question {quoted([name])} of the form {quoted([self.name])} was asked for.",
            "The form has no such question.",
            did_you_mean(name, [question.name for question in self.questions]),
        )

    def with_questions(self, questions: Iterable[Question]) -> Form:
        """Return the form with other questions; what the old ones fed goes with them."""
        return replace(self, instances=self.by_hand, questions=tuple(questions))

    def _fed(self, given: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        object.__setattr__(self, "questions", tuple(self.questions))
        fed = labels_fed(self.questions)
        problems = question_problems(self.name, self.questions)
        problems += [
            Problem(
                Reason.BAD_OPTION,
                f"form {quoted([self.name])}, variable {quoted([variable])}",
                "has labels that are not what its questions mean.",
                "Leave the labels away: they follow from the questions.",
            )
            for variable, labels in fed.items()
            if given.get(variable, labels) != labels
        ]
        asked = f"The form {quoted([self.name])} was asked for."
        refuse(problems, asked, f"Its questions have {count_of(len(problems), 'fault')}.")
        return fed


NoAnswer = Literal["refused", "don't know", "not stated", "not applicable", "undecided"]
"""The ways in which a printed answer is none; the last: nobody has said yet what it means."""

NO_ANSWERS: tuple[NoAnswer, ...] = get_args(NoAnswer)
"""These ways, to be listed."""

Labels = tuple[str, ...]


class Universe(BaseModel):
    """Who is asked, in the words of the form and, where they can be told so, in categories."""

    model_config = STRICT

    wording: str = Field(default="", description="Who is asked, as the form says it.")
    within: dict[str, Names] = Field(
        default={},
        description="Variables with the categories that people have who are asked; nobody else is.",
    )


class Answer(BaseModel):
    """A printed answer, and the category that it means."""

    model_config = STRICT

    text: str = Field(description="The answer as it is printed.")
    means: str | None = Field(
        default=None,
        description=f"The category that it means; by default what it says. '{ELSE}' stands for all"
        " that no other answer means.",
    )
    no_answer: NoAnswer | None = Field(
        default=None,
        description="Why it is no answer; it then means no category and takes part in nothing.",
    )
    variable: str | None = Field(
        default=None,
        description="Of a box to tick: the variable that it ticks, where that is its own.",
    )

    @property
    def label(self) -> str:
        """The category that it means, as a label."""
        return self.text if self.means is None else self.means


class Question(BaseModel):
    """A question of a form: its words, its printed answers, and the variable that it feeds."""

    model_config = STRICT

    name: str = Field(description="What it is called on its form, such as Q12; each name once.")
    text: str = Field(default="", description="The question as it is printed.")
    variable: str | None = Field(
        default=None,
        description="The variable that it feeds. A question without one takes part in nothing.",
    )
    answers: Annotated[tuple[Answer, ...], Field(strict=False)] = Field(
        default=(),
        description="The printed answers. Where none means a category, people write what they like.",
    )
    multiple: bool = Field(
        default=False, description="Whether several answers may be given: boxes to tick."
    )
    outside: bool = Field(
        default=False,
        description="Whether categories that no answer means are people who are not asked.",
    )
    universe: Universe | None = Field(default=None, description="Who is asked this question.")
    metadata: dict[str, bool | int | float | str | None] = Field(
        default={}, description="Whatever is worth knowing about the question: page, source."
    )

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it feeds."""
        own = [answer.variable for answer in self.answers if answer.no_answer is None]
        named = (self.variable, *own)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def meaning(self) -> tuple[Answer, ...]:
        """The answers that mean a category."""
        return tuple(answer for answer in self.answers if answer.no_answer is None)


def question_tree(question: Question) -> dict[str, object]:
    """Return a question as plain values, with nothing that goes without saying."""
    return question.model_dump(mode="json", exclude_defaults=True)


def labels_fed(questions: Iterable[Question]) -> dict[str, Labels]:
    """Return the labels of every variable that questions of one form feed.

    Examples
    --------
    >>> answers = [Answer(text="Yes", means="smokes"), Answer(text="No", means="does not smoke")]
    >>> answers.append(Answer(text="Prefer not to say", no_answer="refused"))
    >>> labels_fed([Question(name="Q7", variable="Smoking", answers=answers)])
    {'Smoking': ('smokes', 'does not smoke')}
    >>> boxes = [Answer(text="Asthma", variable="Has asthma", means="yes")]
    >>> labels_fed([Question(name="Q8", multiple=True, answers=boxes)])
    {'Has asthma': ('yes', 'what no other answer of this form means')}
    """
    parts: dict[str, dict[Labels, None]] = {}
    for question in questions:
        for variable, labels in _parts(question):
            parts.setdefault(variable, {})[labels] = None
    return {variable: _joined(list(told)) for variable, told in parts.items()}


def question_problems(form: str, questions: Iterable[Question]) -> list[Problem]:
    """Return what is wrong with the questions of a form by themselves."""
    problems: list[Problem] = []
    seen: set[str] = set()
    for question in questions:
        where = f"form {quoted([form])}, question {quoted([question.name])}"
        problems += name_problems("question", [question.name])
        if question.name in seen:
            found = "is there twice."
            problems.append(Problem(Reason.DUPLICATE, where, found, "Rename one of them."))
        seen.add(question.name)
        problems += _faults(question, where)
    return problems


def relabelled(
    question: Question, variable: str, now: Callable[[str], str | None], to: str | None
) -> Question:
    """Return a question after a variable got another name, or its categories other names.

    `now` tells what a label of that variable is now, None where nothing is left of one; `to` is the
    name of the variable now. If that is None it is gone, and the question feeds nothing then.
    """

    def moved(answer: Answer) -> Answer:
        of = answer.variable or question.variable
        if of != variable or answer.no_answer is not None:
            return answer
        if to is None:
            # The words stay; a box that ticked the variable is undecided again.
            return answer.model_copy(
                update={"variable": None, "no_answer": "undecided"} if answer.variable else {}
            )
        label = now(answer.label)
        given = {} if answer.variable is None else {"variable": to}
        if label is None:
            return answer.model_copy(update={**given, "means": None, "no_answer": "undecided"})
        if label != answer.label:
            given["means"] = label
        return answer.model_copy(update=given) if given else answer

    answers = tuple(map(moved, question.answers))
    fed = to if question.variable == variable else question.variable
    universe = question.universe and relabelled_universe(question.universe, variable, now, to)
    if question.variable == variable and question.meaning:
        # An empty list of labels would mean any level of detail.
        fed = fed if any(answer.no_answer is None for answer in answers) else None
    changed = {
        "answers": answers,
        "variable": fed,
        "universe": universe,
        "outside": question.outside and fed is not None,
    }
    if all(getattr(question, name) == value for name, value in changed.items()):
        return question
    return question.model_copy(update=changed)


def relabelled_universe(
    universe: Universe, variable: str, now: Callable[[str], str | None], to: str | None
) -> Universe:
    """Return a universe after a variable got another name, or its categories other names."""
    if variable not in universe.within:
        return universe
    within = renamed_categories(universe.within, variable, now, to)
    return universe.model_copy(update={"within": within})


def renamed_categories(
    named: Mapping[str, Labels], variable: str, now: Callable[[str], str | None], to: str | None
) -> dict[str, Labels]:
    """Return categories by variable after one got another name, or its categories other names.

    A variable that is gone, or of whose categories none is left, is left out.
    """
    left = tuple(label for label in map(now, named.get(variable, ())) if label is not None)
    return {
        to if to is not None and name == variable else name: left if name == variable else own
        for name, own in named.items()
        if name != variable or (to is not None and left)
    }


def _parts(question: Question) -> Iterable[tuple[str, Labels]]:
    """Return what a question tells of variables, box by box where boxes are ticked."""
    meaning = question.meaning
    if question.multiple:
        for answer in meaning:
            variable = answer.variable or question.variable
            if variable is not None:
                yield variable, tuple(dict.fromkeys((answer.label, ELSE)))
        if meaning or question.variable is None:
            return
    if question.variable is not None:
        labels = tuple(dict.fromkeys(answer.label for answer in meaning))
        yield question.variable, (*labels, OUTSIDE) if question.outside else labels


def _joined(parts: list[Labels]) -> Labels:
    # Whoever writes what they like in one question has told all that another could ask.
    if not all(parts):
        return ()
    first, *others = parts
    return tuple(label for part in (first, *((ALSO, *other) for other in others)) for label in part)


def _faults(question: Question, where: str) -> Iterable[Problem]:
    for answer in question.answers:
        place = f"{where}, answer {quoted([answer.text])}"
        if answer.no_answer is not None and (answer.means is not None or answer.variable):
            yield Problem(
                Reason.BAD_OPTION, place, "is no answer and means a category.", "Choose one."
            )
        if answer.variable is not None and not question.multiple:
            found = "ticks a variable of its own, and only one answer can be given."
            do = "Let the question have 'multiple', or name the variable of the question."
            yield Problem(Reason.BAD_OPTION, place, found, do)
        if answer.label in (ALSO, OUTSIDE):
            yield Problem(Reason.BAD_NAME, place, "means a reserved label.", "Name a category.")
    if question.outside and not question.meaning:
        found = "has categories outside its universe, and no answer that means a category."
        do = "Say what its answers mean, or leave 'outside' away."
        yield Problem(Reason.BAD_OPTION, where, found, do)
    if question.outside and question.multiple:
        found = "has boxes to tick and categories outside its universe."
        do = "Leave 'outside' away, and say in its universe who is asked."
        yield Problem(Reason.BAD_OPTION, where, found, do)


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


def universe_problems(
    forms: Iterable[Form], variables: Mapping[str, Variable]
) -> Iterator[Problem]:
    """Return where a universe names variables or categories that there are not."""
    for form in forms:
        if form.universe is None and not form.questions:
            continue
        where = f"form {quoted([form.name])}"
        if form.universe is not None:
            yield from category_problems(form.universe.within, f"{where}, universe", variables)
        for question in form.questions:
            if question.universe is not None:
                place = f"{where}, universe of question {quoted([question.name])}"
                yield from category_problems(question.universe.within, place, variables)


def category_problems(
    named: Mapping[str, Sequence[str]], where: str, variables: Mapping[str, Variable]
) -> Iterator[Problem]:
    """Return which variables, and which categories of them, are named and are not there."""
    for name, labels in named.items():
        variable = variables.get(name)
        if variable is None:
            found = f"names {quoted([name])}, which is not a variable."
            yield Problem(Reason.UNKNOWN_NAME, where, found, did_you_mean(name, variables))
            continue
        if not labels:
            found = f"names no category of {quoted([name])}."
            yield Problem(Reason.NOTHING_GIVEN, where, found, "Name one or more.")
        for label in labels:
            if variable.resolve(label) is None:
                found = f"names {quoted([label])}, which is not a category of {quoted([name])}."
                near = did_you_mean(label, variable.graph.categories)
                if variable.has_room_for(label):
                    near += " Choose a category, or add the band to the variable."
                yield Problem(Reason.UNKNOWN_NAME, where, found, near)
