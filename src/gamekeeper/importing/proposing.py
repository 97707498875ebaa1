"""From files to decisions on proposed questions, and from decisions to edits.

Decisions are a file that people read, change and apply. One record per question says which variable
it feeds and what each answer means. What is sure is marked to be taken; a person may change anything,
mark more, or let a question make a variable of its own (`new`). A question that is taken without a
variable is kept in the words of its form and feeds nothing, and the same words are not proposed
again. Nothing enters an environment here: `propose_forms` reads and proposes, a person or a script
changes what it returns, `edits_for` turns that into edits, and a store makes them.

A format is a name, a test whether a file is of it, and a reader from a file to an `Instrument`.
The first format whose test holds reads the file. Ours are tried in a process of its own, within
limits of memory and time (`data.reading.apart`); a format of one's own is one's own code, and reads
where it is called.

Examples
--------
A format of one's own, one question per line:

>>> import gamekeeper as gk
>>> def is_list(file):
...     return file.ending == ".questions"
>>> def read_list(file):
...     lines = enumerate(file.text.splitlines(), 1)
...     asked = tuple(gk.importing.ProposedQuestion(f"Q{number}", text) for number, text in lines)
...     return gk.importing.Instrument(file.path.stem, "list", asked)
>>> mine = gk.importing.Format("list", "questions, one per line", is_list, read_list)
>>> known = (*gk.importing.FORMATS, mine)

`propose_forms` and `read_instrument` take them as `formats=known`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from pydantic import BaseModel, Field

from gamekeeper.algorithms.categories.bands import read_bands
from gamekeeper.data.reading.apart import plain_of, send_plain
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.importing import documents, files, surveys
from gamekeeper.importing.files import MOST_MEGABYTES
from gamekeeper.importing.matching import Candidate, Matcher, Proposal
from gamekeeper.importing.questions import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
    bands_of,
    instrument_of,
    interval_definition,
    no_answer,
)
from gamekeeper.mapping.edits import AddBands, AddForm, AddVariable, AskQuestion, Edit, apply_edits
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Answer, NoAnswer, Question, Universe
from gamekeeper.mapping.variables.definitions import STRICT, Interval, Names, Nominal, variable_of
from gamekeeper.wording import count_of, did_you_mean, quoted

# Each takes a millisecond to be compared with what is known.
_MOST_QUESTIONS = 100_000


@dataclass(frozen=True, slots=True)
class Format:
    """A format of instruments."""

    name: str
    description: str
    holds: Callable[[files.OpenedFile], bool]
    read: Callable[[files.OpenedFile], Instrument]


FORMATS: tuple[Format, ...] = (
    Format("ddi", "DDI-Codebook 1.x and 2.x (XML)", documents.is_ddi, documents.read_ddi),
    Format("xlsform", "XLSForm (KoBo, ODK, SurveyCTO)", surveys.is_xlsform, surveys.read_xlsform),
    Format(
        "statistical",
        "SPSS, Stata and SAS files",
        documents.is_statistical,
        documents.read_statistical,
    ),
    Format("limesurvey", "LimeSurvey archive (.lss)", surveys.is_lss, surveys.read_lss),
    Format("redcap", "REDCap data dictionary (CSV)", surveys.is_redcap, surveys.read_redcap),
    Format(
        "limesurvey-csv",
        "LimeSurvey questions and answers (CSV)",
        surveys.is_lime_tables,
        surveys.read_lime_tables,
    ),
    Format(
        "questionnaire",
        "ONS questionnaire (JSON)",
        documents.is_questionnaire_json,
        documents.read_questionnaire_json,
    ),
    Format(
        "codebook",
        "table of variables, codes and labels (CSV)",
        documents.is_codebook_table,
        documents.read_codebook_table,
    ),
    Format(
        "codebook-json",
        "variables with values (JSON)",
        documents.is_codebook_json,
        documents.read_codebook_json,
    ),
)


def read_instrument(
    path: str | Path,
    *,
    format_name: str | None = None,
    most_megabytes: int = files.MOST_MEGABYTES,
    formats: Sequence[Format] = FORMATS,
) -> Instrument:
    """Read a file; nothing else is opened but the tables that belong to it, and nothing fetched.

    Questions of the same name are told apart by a number, and a note says so. A file without a
    question that asks anything is refused.
    """
    path = Path(path)
    named = _named_apart(_read(path, format_name, most_megabytes, formats))
    # Variables of a file of records may be known by their names alone.
    usable = named.questions if documents.is_statistical(files.OpenedFile(path)) else ()
    if not usable and not any(q.text or q.label or q.answers for q in named.questions):
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"The questions of {quoted([path.name])} were to be read.",
            f"It has {count_of(len(named.questions), 'entry', 'entries')} and no question with words"
            " or answers.",
            "Export the questionnaire or the dictionary, not the records alone.",
        )
    return named


def _read(
    path: Path, name: str | None, most_megabytes: int, formats: Sequence[Format]
) -> Instrument:
    """Return what the first format makes of a file that holds, or has the name that was given."""
    file = files.OpenedFile(path, most_megabytes)
    # A file that cannot be opened is refused before it is looked at.
    files.require_file(path, None if documents.is_statistical(file) else most_megabytes)
    wanted = [known for known in formats if name in (None, known.name)]
    for are_ours, some in groupby(wanted, FORMATS.__contains__):
        if are_ours:
            found = plain_of(
                send_instrument, str(path), [known.name for known in some], name is not None,
                most_megabytes, path=path, asked=files.asked_to_import(path.name), do=files.WAY_AROUND,
            )  # fmt: skip
            if found is not None:
                return instrument_of(found)
            continue
        for known in some:
            if name is not None or known.holds(file):
                return known.read(file)
    raise InputError(
        Reason.WRONG_SCHEMA,
        f"The questions of {quoted([path.name])} were to be read.",
        "It is of no format that is known."
        if name is None
        else f"There is no format {quoted([name])}.",
        f"These are read: {'; '.join(f'{known.name} ({known.description})' for known in formats)}.",
    )


def send_instrument(
    out: BinaryIO, path: str, names: Sequence[str], is_named: bool, most_megabytes: int
) -> None:
    """Write what the first of some formats makes of a file, or nothing where none holds."""
    file = files.OpenedFile(Path(path), most_megabytes)
    some = (known for known in FORMATS if known.name in names)
    known = next((known for known in some if is_named or known.holds(file)), None)
    found = None if known is None else known.read(file)
    if found is not None and len(found.questions) > _MOST_QUESTIONS:
        raise LimitError(
            Reason.TOO_LARGE,
            files.asked_to_import(file.name),
            f"It has {len(found.questions):,} questions, and {_MOST_QUESTIONS:,} are the most.",
            "Import a part of it at a time.",
        )
    send_plain(out, None if found is None else asdict(found))


def _named_apart(read: Instrument) -> Instrument:
    counts = Counter(question.name for question in read.questions)
    twice = {name for name, count in counts.items() if count > 1}
    if not twice:
        return read
    taken = set(counts)
    seen: Counter[str] = Counter()
    questions: list[ProposedQuestion] = []
    for question in read.questions:
        seen[question.name] += 1
        name = question.name
        if seen[question.name] > 1:
            number = seen[question.name]
            while (name := f"{question.name} ({number})") in taken:
                number += 1
            taken.add(name)
        questions.append(replace(question, name=name))
    note = f"{count_of(len(twice), 'name')} of questions is there more than once: {quoted(sorted(twice))}"
    return replace(read, questions=tuple(questions), notes=(*read.notes, note))


_Status = Literal["sure", "answers to place", "unsure", "nothing found", "left out before"]


class AnswerDecision(BaseModel):
    """A printed answer and what it means."""

    model_config = STRICT

    text: str = Field(description="The answer as it is printed.")
    means: str | None = Field(default=None, description="The category that it means.")
    no_answer: NoAnswer | None = Field(default=None, description="Why it is no answer.")


class Decision(BaseModel):
    """A question, what is proposed for it, and whether to take that."""

    model_config = STRICT

    question: str = Field(description="The name of the question on its form.")
    text: str = Field(default="", description="Its words.")
    take: bool = Field(description="Whether it enters.")
    variable: str | None = Field(default=None, description="The variable that it feeds.")
    new: bool = Field(default=False, description="Whether the variable is made of its answers.")
    status: _Status = Field(description="How sure the proposal is.")
    score: float = Field(default=0.0, description="From 0 to 1.")
    reason: str = Field(default="", description="What speaks for it, and against it.")
    others: Names = Field(default=(), description="Other variables it may be about.")
    answers: Annotated[tuple[AnswerDecision, ...], Field(strict=False)] = ()
    multiple: bool = Field(default=False, description="Whether several answers may be ticked.")
    outside: bool = Field(
        default=False, description="Whether categories that no answer means are not asked."
    )
    universe: str = Field(default="", description="Who is asked, in words.")


class FormDecisions(BaseModel):
    """A form that was read, with a decision for every question."""

    model_config = STRICT

    form: str = Field(description="The name that the form gets, or has.")
    file: str = Field(default="", description="The file that it was read from.")
    metadata: dict[str, bool | int | float | str | None] = Field(default={})
    notes: Names = ()
    questions: Annotated[tuple[Decision, ...], Field(strict=False)] = ()

    @property
    def taken(self) -> tuple[Decision, ...]:
        """The questions that enter."""
        return tuple(decision for decision in self.questions if decision.take)


class DecisionsFile(BaseModel):
    """Decisions on the questions of one or more forms."""

    model_config = STRICT

    gamekeeper: Literal["decisions 1"] = "decisions 1"
    forms: Annotated[tuple[FormDecisions, ...], Field(strict=False)]


def decisions_on(
    instrument: Instrument, proposals: Sequence[Proposal], form: str, file: str = ""
) -> FormDecisions:
    """Return a decision for every question that asks something: the sure ones are taken."""
    metadata: dict[str, bool | int | float | str | None] = {
        "format": instrument.format,
        **instrument.metadata,
    }
    if instrument.language:
        metadata["language"] = instrument.language
    if file:
        metadata["source"] = file
    asked = [p for p in proposals if p.question.answering is not Answering.NOTHING]
    return FormDecisions(
        form=form,
        file=file,
        metadata=metadata,
        notes=instrument.notes,
        questions=tuple(_decision(proposal) for proposal in asked),
    )


def _decision(proposal: Proposal) -> Decision:
    question, best = proposal.question, proposal.best
    status: _Status = "nothing found"
    if proposal.was_left_out:
        status = "left out before"
    elif proposal.is_sure:
        status = "sure"
    elif proposal.says_variable:
        status = "answers to place"
    elif best is not None:
        status = "unsure"
    return Decision(
        question=question.name, text=question.text or question.label, take=proposal.is_sure,
        variable=best.variable if best else None, status=status, score=best.score if best else 0.0,
        reason=best.reason if best else "",
        others=tuple(candidate.variable for candidate in proposal.candidates[1:]),
        answers=_answers(question, best), multiple=question.answering is Answering.SEVERAL,
        outside=best is not None and best.fit.outside, universe=question.universe,
    )  # fmt: skip


def _answers(question: ProposedQuestion, best: Candidate | None) -> tuple[AnswerDecision, ...]:
    known = {m.text: m for m in best.fit.meanings} if best is not None else {}
    found: dict[str, AnswerDecision] = {}
    for answer in question.answers:
        meaning = known.get(answer.text)
        means = meaning.means if meaning else None
        why = meaning.no_answer if meaning else no_answer(answer.text)
        tree = {"text": answer.text, "means": means, "no_answer": why}
        found.setdefault(answer.text, AnswerDecision.model_validate(tree))
    return tuple(found.values())


def decided_for(environment: Environment, decision: Decision, variable: str) -> Decision:
    """Return a decision on another variable: its answers mean what can be told of them there."""
    asked = ProposedQuestion(
        decision.question,
        decision.text,
        answering=Answering.SEVERAL if decision.multiple else Answering.ONE,
        answers=tuple(ProposedAnswer(answer.text) for answer in decision.answers),
    )
    if not decision.answers:
        asked = replace(asked, answering=Answering.TEXT)
    fit = Matcher(environment).fit(asked, variable)
    candidate = Candidate(variable, decision.score, decision.reason, fit)
    changed = {"answers": _answers(asked, candidate), "variable": variable, "outside": fit.outside}
    return decision.model_copy(update=changed)


def edits_of_decisions(environment: Environment, decided: FormDecisions) -> list[Edit]:
    """Return the edits that enter what is taken: new variables, new bands, then the form.

    One error has every question that cannot enter as it is decided.
    """
    taken = decided.taken
    problems = [p for decision in taken for p in _problems(environment, decided.form, decision)]
    if problems:
        asked = f"Questions of {quoted([decided.form])} were to be entered."
        found = f"{count_of(len(problems), 'thing is', 'things are')} not decided."
        do = "Change the decisions, or let these questions be (take: false)."
        raise InputError(Reason.BAD_OPTION, asked, found, do, problems=problems)
    if not taken:
        return []
    edits: list[Edit] = []
    made: set[str] = set()
    for decision in taken:
        if decision.new and decision.variable and decision.variable not in made:
            made.add(decision.variable)
            edits.append(AddVariable(definition=new_definition(decision)))
    for variable, bands in _new_bands(environment, taken).items():
        edits.append(AddBands(variable=variable, bands=tuple(bands)))
    questions = tuple(_question(decision) for decision in taken)
    if decided.form in environment.forms:
        edits += [AskQuestion(form=decided.form, question=question) for question in questions]
    else:
        edits.append(
            AddForm(name=decided.form, metadata=dict(decided.metadata), questions=questions)
        )
    return edits


def new_definition(decision: Decision) -> Nominal | Interval:
    """Return the definition of the variable that a question makes of its answers."""
    assert decision.variable is not None
    texts = [answer.means or answer.text for answer in decision.answers if answer.no_answer is None]
    read = read_bands(texts)
    if texts and not read.unread:
        return interval_definition(decision.variable, bands_of(read), decision.text)
    names = list(dict.fromkeys(texts))
    return Nominal(
        name=decision.variable,
        description=decision.text,
        scale="nominal",
        categories={name: [] for name in names},
        order=names,
    )


def _problems(environment: Environment, form: str, decision: Decision) -> Iterable[Problem]:
    where = f"form {quoted([form])}, question {quoted([decision.question])}"
    variable = decision.variable
    if variable is None:
        if decision.new:
            found = "is to make a variable that has no name."
            yield Problem(Reason.NOTHING_GIVEN, where, found, "Name the variable.")
        return
    if decision.new:
        if variable in environment.variables:
            yield Problem(
                Reason.DUPLICATE, where, f"{quoted([variable])} is there.", "Leave 'new'."
            )
        if not any(answer.no_answer is None for answer in decision.answers):
            found = "has no answers to make a variable of."
            yield Problem(Reason.BAD_OPTION, where, found, "Add the variable by hand.")
        return
    if variable not in environment.variables:
        near = did_you_mean(variable, environment.variables)
        yield Problem(
            Reason.UNKNOWN_NAME, where, f"There is no variable {quoted([variable])}.", near
        )
        return
    for answer in decision.answers:
        if answer.means is None and answer.no_answer is None:
            found = f"it is not said what {quoted([answer.text])} means."
            yield Problem(Reason.NOTHING_GIVEN, where, found, "Give 'means' or 'no_answer'.")


def _new_bands(environment: Environment, taken: Iterable[Decision]) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = {}
    for decision in taken:
        variable = environment.variables.get(decision.variable or "")
        if decision.new or variable is None or not variable.bands:
            continue
        for answer in decision.answers:
            label = answer.means
            if label and variable.resolve(label) is None and variable.has_room_for(label):
                found.setdefault(variable.name, {})[label] = None
    return found


def _question(decision: Decision) -> Question:
    bands: dict[str, str] = {}
    outside = decision.outside
    if decision.new:
        definition = new_definition(decision)
        if isinstance(definition, Interval):
            texts = [a.means or a.text for a in decision.answers if a.no_answer is None]
            read = bands_of(read_bands(texts))
            made = variable_of(definition)
            space = made.space
            assert space is not None
            closed = {text: band.within(space) for text, band in read.items()}
            bands = {text: band.name(made.style) for text, band in closed.items()}
            outside = min(band.low for band in closed.values()) > space.low or (
                max(band.high for band in closed.values()) < space.high
            )
    answers: list[Answer] = []
    for answer in decision.answers:
        why = answer.no_answer
        means = answer.means
        if decision.variable is None:
            means, why = None, why or "undecided"
        elif decision.new and why is None:
            means = bands.get(answer.means or answer.text, answer.means)
        answers.append(
            Answer(text=answer.text, means=means if means != answer.text else None, no_answer=why)
        )
    return Question(
        name=decision.question,
        text=decision.text,
        variable=decision.variable,
        answers=tuple(answers),
        multiple=decision.multiple,
        outside=outside and decision.variable is not None,
        universe=Universe(wording=decision.universe) if decision.universe else None,
    )


def propose_forms(
    environment: Environment,
    files: Sequence[str | Path],
    *,
    name: str | None = None,
    file_format: str | None = None,
    most_megabytes: int = MOST_MEGABYTES,
    formats: Sequence[Format] = FORMATS,
) -> DecisionsFile:
    """Read questionnaires, dictionaries or codebooks and propose what their questions are about.

    What is sure is marked to be taken. Nothing is entered. One error has every file that cannot be read.

    Parameters
    ----------
    environment
        Its variables are what questions may be about, and its forms what was decided before.
    name
        The name of the form, where there is one file; by default its title.
    file_format
        The name of the format, if it is not told from the file.
    formats
        The formats that are known; add one of your own with `(*FORMATS, mine)`.
    """
    read: list[tuple[Path, Instrument]] = []
    problems: list[Problem] = []
    for path in map(Path, files):
        try:
            instrument = read_instrument(
                path, format_name=file_format, most_megabytes=most_megabytes, formats=formats
            )
        except InputError as error:
            if len(files) == 1:
                raise
            where = f"file {quoted([path.name])}"
            problems.append(Problem(error.reason, where, error.found, error.do))
        else:
            read.append((path, instrument))
    asked = f"{count_of(len(files), 'file was', 'files were')} to be imported."
    found = f"{count_of(len(problems), 'file')} cannot be read. Nothing was entered."
    refuse(problems, asked, found, "Leave out what is no questionnaire, or name its format.")
    matcher = Matcher(environment)
    names = _form_names(environment, read, name)
    return DecisionsFile(
        forms=tuple(
            decisions_on(
                _with_notes(environment, path, instrument) if name is None else instrument,
                matcher.propose_form(instrument),
                form,
                path.name,
            )
            for (path, instrument), form in zip(read, names, strict=True)
        )
    )


def edits_for(environment: Environment, decided: DecisionsFile) -> list[Edit]:
    """Return the edits that enter what decisions take; each form sees what those before it made."""
    edits: list[Edit] = []
    for form in decided.forms:
        own = edits_of_decisions(environment, form)
        environment = apply_edits(environment, own)
        edits += own
    return edits


def _form_names(
    environment: Environment, read: Sequence[tuple[Path, Instrument]], name: str | None
) -> list[str]:
    """Return a name per form that no other has: the title, with that of the file if need be.

    A name that is asked for may be that of a form that is there, which then asks more.
    """
    if name is not None:
        return [name]
    taken = set(environment.forms)
    names: list[str] = []
    for path, instrument in read:
        chosen, number = instrument.title, 1
        while chosen in taken:
            told = path.stem if number == 1 else f"{path.stem} {number}"
            chosen, number = f"{instrument.title} ({told})", number + 1
        taken.add(chosen)
        names.append(chosen)
    return names


def _with_notes(environment: Environment, path: Path, instrument: Instrument) -> Instrument:
    """Return an instrument with a note if a form of its title is there, which may be the same."""
    if instrument.title not in environment.forms:
        return instrument
    source = environment.forms[instrument.title].metadata.get("source")
    same = ", read from a file of the same name" if source == path.name else ""
    note = (
        f"there is a form {quoted([instrument.title])} already{same}; this one counts as another"
        " form, so leave it out if it is the same"
    )
    return replace(instrument, notes=(*instrument.notes, note))
