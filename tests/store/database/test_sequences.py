"""Any sequence of edits, undo and redo: exact back and forth, and codes never change meaning."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.errors import Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.revisions import Action, Revision
from gamekeeper.store.folder import read_environment, write_environment
from tests.given.cases import only_thoroughly
from tests.store.database.conftest import WHO, documents, everything, small_environment
from tests.store.database.random_edits import allowed_edits

Meaning = frozenset[frozenset[str]]


def meaning_of(environment: Environment, variable: str, code: str) -> Meaning:
    meaning: Partition | Arbitrary = environment.register(variable).meaning(code)
    if isinstance(meaning, Arbitrary):
        return frozenset()
    sinks = environment.variable(variable).graph.sinks
    return frozenset(frozenset(sinks[n] for n in block) for block in meaning.blocks())


def codes_are_kept(before: Environment, after: Environment, *, exact: bool) -> None:
    """Every code of a variable that is still there is there; `exact` is for the same state."""
    for name in before.variables.keys() & after.variables.keys():
        old, new = before.register(name), after.register(name)
        # C0.001 can mean nothing else, so it need not be remembered.
        assert {*old, *old.retired} <= {*new, *new.retired, ARBITRARY_CODE}
        if exact:
            assert old.retired <= new.retired
            for code in old:
                assert meaning_of(before, name, code) == meaning_of(after, name, code)


class Walk:
    """A random walk through the history of a store, with all that was seen on the way."""

    def __init__(self, folder: Path, rng: Random) -> None:
        self.rng = rng
        self.path = folder / "forms.gk"
        self.folder = folder / "folder"
        self.store = EnvironmentStore.create(self.path, small_environment(), who=WHO)
        self.reader = EnvironmentStore.open(self.path, readonly=True)
        self.seen = {1: self.store.environment()}
        self.undone: list[int] = []
        self.done = [1]

    def step(self) -> None:
        choice = self.rng.random()
        before = self.store.environment()
        if choice < 0.25:
            self.undo(before)
        elif choice < 0.45:
            self.redo(before)
        else:
            unrestricted = self.rng.random() < 0.4
            edits = allowed_edits(self.rng, before, unrestricted=unrestricted)
            if edits is None:
                return
            made = self.store.apply(edits, who=WHO, unrestricted=unrestricted)
            assert made.edits == tuple(edits)
            self.done.append(made.number)
            self.undone = []
            event("edit")
        now = self.store.environment()
        self.seen[self.store.revision] = now
        with EnvironmentStore.open(self.path, readonly=True) as other:
            assert everything(other.environment()) == everything(now)
        # Who looks only now and then sees the same as who opens the store anew.
        if self.rng.random() < 0.5:
            assert everything(self.reader.environment()) == everything(now)

    def undo(self, before: Environment) -> None:
        if len(self.done) == 1:
            with pytest.raises(StoreError) as caught:
                self.store.undo(who=WHO)
            assert caught.value.reason is Reason.NOTHING_TO_UNDO
            return
        self.restored(before, Action.UNDO, self.store.undo, self.done, self.undone)

    def redo(self, before: Environment) -> None:
        if not self.undone:
            with pytest.raises(StoreError) as caught:
                self.store.redo(who=WHO)
            assert caught.value.reason is Reason.NOTHING_TO_UNDO
            return
        self.restored(before, Action.REDO, self.store.redo, self.undone, self.done)

    def restored(
        self,
        before: Environment,
        action: Action,
        back: Callable[..., Revision],
        taken: list[int],
        given: list[int],
    ) -> None:
        """Take the last of some revisions back: all is as before it, and no code is lost."""
        number = taken.pop()
        made = back(who=WHO)
        assert made.action is action
        after = self.store.environment()
        assert documents(after) == documents(self.seen[number - 1])
        codes_are_kept(self.seen[number - 1], after, exact=True)
        codes_are_kept(before, after, exact=False)
        given.append(made.number)
        event(action.value)

    def look_back(self) -> None:
        now = self.store.environment()
        for number, then in self.seen.items():
            again = self.store.environment(as_of=number)
            assert documents(again) == documents(then)
            codes_are_kept(then, again, exact=True)
            codes_are_kept(now, again, exact=False)
        self.store.check()

    def there_and_back(self) -> None:
        now = self.store.environment()
        write_environment(now, self.folder)
        read = read_environment(self.folder)
        made = self.store.replace(read, who=WHO)
        assert made.notes == ()
        assert everything(self.store.environment()) == everything(now)
        with EnvironmentStore.create(self.path.with_name("other.gk"), read, who=WHO) as other:
            assert everything(other.environment()) == everything(now)


def walk(rng: Random, steps: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        way = Walk(Path(folder), rng)
        with way.store, way.reader:
            for _ in range(steps):
                way.step()
            way.look_back()
            way.there_and_back()


@pytest.mark.slow
@settings(max_examples=max(6, settings.default.max_examples // 25))
@given(st.integers(0, 2**32))
def test_any_sequence_of_edits_undo_and_redo(seed: int) -> None:
    walk(Random(seed), 8)


@only_thoroughly
@pytest.mark.slow
@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_long_sequences(seed: int) -> None:
    walk(Random(seed), 25)
