"""Variable instances: which selections of categories forms make, and what each comes to.

Thousands of forms offer the same categories again and again, so every distinct selection is
worked out once. Everything is immutable: what does not change is shared between states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.variables.categorization import Categorization, categorize
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.wording import did_you_mean, quoted

_Labels = tuple[str, ...]


class Instances:
    """The selections on all forms, by variable."""

    def __init__(self) -> None:
        # Names as keys: thousands of forms may go at a time, each in no time.
        self._having: dict[str, dict[_Labels, dict[str, None]]] = {}
        self._selections: dict[str, dict[_Labels, Categorization]] = {}
        self._faults: dict[tuple[str, _Labels], tuple[Problem, ...]] = {}

    def of(self, variable: str) -> Sequence[tuple[Categorization, Sequence[str]]]:
        """Return the distinct selections of a variable, each with the forms that make it."""
        selections = self._selections.get(variable, {})
        having = self._having.get(variable, {})
        return [(selections[labels], list(having[labels])) for labels in selections]

    def categorization(self, variable: str, labels: _Labels) -> Categorization:
        """Return what a selection comes to that some form makes."""
        return self._selections[variable][labels]

    def changed(
        self,
        before: Mapping[str, Form],
        after: Mapping[str, Form],
        variables: Mapping[str, Variable],
        recut: Collection[str],
    ) -> Instances:
        """Return the instances once some forms have gone and others have come.

        `recut` are the variables that are new, gone or have another definition.
        """
        made = Instances()
        gone = _told(before, after)
        come = _told(after, before)
        touched = {variable for told in (gone, come) for variable, _, _ in told}
        made._having = dict(self._having)
        for variable in touched:
            having = self._having.get(variable, {})
            made._having[variable] = {labels: dict(names) for labels, names in having.items()}
        for variable, labels, name in gone:
            del made._having[variable][labels][name]
        for variable, labels, name in come:
            made._having[variable].setdefault(labels, {})[name] = None
        for variable in touched:
            having = {labels: names for labels, names in made._having[variable].items() if names}
            made._having[variable] = having
            if not having:
                del made._having[variable]
        made._selections = dict(self._selections)
        for variable in touched.union(recut):
            known = {} if variable in recut else self._selections.get(variable, {})
            made._select(variable, variables.get(variable), known)
        return made

    def problems(
        self, forms: Mapping[str, Form], variables: Mapping[str, Variable]
    ) -> list[Problem]:
        """Return what is wrong with the variables on forms: unknown, or with unknown labels.

        Equal selections are worked out once; their faults are those of every form with them.
        """
        unknown = self._having.keys() - variables.keys()
        if not unknown and not self._faults:
            return []
        # One misspelt name may stand on every form: look for near ones once.
        near = {name: did_you_mean(name, variables) for name in unknown}
        suspects = {
            form
            for variable in unknown.union(variable for variable, _ in self._faults)
            for names in self._having[variable].values()
            for form in names
        }
        return [
            problem
            for name, form in forms.items()
            if name in suspects
            for variable, labels in form.instances.items()
            for problem in _faults_of(
                name, variable, near, self._faults.get((variable, labels), ())
            )
        ]

    def _select(
        self, name: str, variable: Variable | None, known: Mapping[_Labels, Categorization]
    ) -> None:
        """Work out the selections of a variable that forms make now."""
        selections: dict[_Labels, Categorization] = {}
        if variable is not None:
            for labels in self._having.get(name, {}):
                try:
                    selections[labels] = known.get(labels) or categorize(variable, labels)
                except InputError as error:
                    self._faults[name, labels] = error.problems
        self._selections[name] = selections


def _told(forms: Mapping[str, Form], others: Mapping[str, Form]) -> list[tuple[str, _Labels, str]]:
    """Return what forms say that others of the same names do not: variable, labels, form."""
    told: list[tuple[str, _Labels, str]] = []
    for name, form in forms.items():
        other = others.get(name)
        if other is None:
            told += [(variable, labels, name) for variable, labels in form.instances.items()]
        elif other.instances is not form.instances:
            said = other.instances
            told += [
                (variable, labels, name)
                for variable, labels in form.instances.items()
                if said.get(variable) != labels
            ]
    return told


def changed_variables(before: Mapping[str, Form], after: Mapping[str, Form]) -> set[str]:
    """Return the variables that forms have otherwise than before."""
    return {
        variable for told in (_told(before, after), _told(after, before)) for variable, _, _ in told
    }


def _faults_of(
    form: str, variable: str, near: Mapping[str, str], found: Iterable[Problem]
) -> Iterator[Problem]:
    where = f"form {quoted([form])}"
    if variable in near:
        text = f"has {quoted([variable])}, which is not a variable."
        yield Problem(Reason.UNKNOWN_NAME, where, text, near[variable])
    for fault in found:
        yield Problem(fault.reason, f"{where}, {fault.where}", fault.found, fault.do)
