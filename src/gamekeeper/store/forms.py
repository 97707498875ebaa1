"""Form files to forms, fast.

Thousands of forms offer the same categories again and again. In a file that is laid out as we
write it, every variable is a stretch of whole lines; a stretch that was met before is not parsed
again. A line break cannot lie within a JSON string, so cutting at line breaks cuts between
tokens, and stretches that are members of an object by themselves are so together. Any other
layout is parsed as a whole. Either way equal lists of labels are one object in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from gamekeeper.errors import InputError, Problem
from gamekeeper.mapping.environment.environment import Form
from gamekeeper.mapping.forms.questions import question_tree
from gamekeeper.store.models import FormFile
from gamekeeper.store.parsing import decode, parse
from gamekeeper.store.variables import problems_of

FORM_FILE = TypeAdapter(FormFile)
_VARIABLES = TypeAdapter(dict[str, list[str]])
_START = b',\n "variables": {\n'
_BETWEEN = b"],\n"
_END = b"]\n }\n}\n"


class _Members(dict[bytes, tuple[str, tuple[str, ...]]]):
    """The stretches met so far, each with its variable and labels; a new one is parsed."""

    def __init__(self, share: Callable[[list[str]], tuple[str, ...]]) -> None:
        super().__init__()
        self._share = share

    def __missing__(self, text: bytes) -> tuple[str, tuple[str, ...]]:
        tree, repeated = decode(b"{" + text + b"]}")
        if repeated or len(tree) != 1:
            raise ValueError
        ((name, labels),) = _VARIABLES.validate_python(tree, strict=True).items()
        member = self[text] = (name, self._share(labels))
        return member


def words_tree(form: Form) -> dict[str, Any]:
    """Return what a form says in its own words, as plain values; nothing where it says nothing."""
    tree: dict[str, Any] = {}
    if form.universe is not None:
        tree["universe"] = form.universe.model_dump(mode="json", exclude_defaults=True)
    if form.questions:
        tree["questions"] = [question_tree(question) for question in form.questions]
    return tree


def _made(
    file: FormFile,
    instances: dict[str, tuple[str, ...]],
    where: str,
    problems: list[Problem],
) -> Form | None:
    try:
        return Form(file.name, instances, file.metadata, tuple(file.questions), file.universe)
    except InputError as error:
        problems += problems_of(error, where)
        return None


class FormReader:
    """Reads form files one after the other.

    Examples
    --------
    >>> FormReader().read(b'{"name": "Bank", "variables": {"Age": []}}', "bank.json", [])
    Form(name='Bank', instances={'Age': ()}, metadata={}, questions=(), universe=None)
    """

    def __init__(self) -> None:
        self._labels: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._members = _Members(self._shared)

    def read(self, data: bytes, where: str, problems: list[Problem]) -> Form | None:
        """Return the form of a file, or None after adding what is wrong with it."""
        form = self._as_written(data)
        if form is None:
            file = parse(data, where, FORM_FILE, problems)
            if file is not None:
                shared = {name: self._shared(labels) for name, labels in file.variables.items()}
                form = _made(file, shared, where, problems)
        return form

    def _as_written(self, data: bytes) -> Form | None:
        """Return the form of a file in our layout; None if it has another or is faulty."""
        head, found, rest = data.partition(_START)
        if not found or not rest.endswith(_END):
            return None
        members = rest[: -len(_END)].split(_BETWEEN)
        try:
            tree, repeated = decode(head + b"}")
            if repeated or "variables" in tree:
                return None
            file = FormFile.model_validate({**tree, "variables": {}})
            instances = dict(map(self._members.__getitem__, members))
        except ValueError:
            return None
        if len(instances) < len(members):
            return None
        # Whatever is wrong with the questions is told when the file is parsed as a whole.
        return _made(file, instances, "", [])

    def _shared(self, labels: list[str]) -> tuple[str, ...]:
        own = tuple(labels)
        return self._labels.setdefault(own, own)
