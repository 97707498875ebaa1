"""What work may use: amounts as people write them, what is free, and who is refused."""

from __future__ import annotations

import os

import pytest

from gamekeeper import budget
from gamekeeper.errors import InputError, LimitError, Reason


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("4GB", 4 * 10**9),
        ("4 gb", 4 * 10**9),
        ("1.5G", 15 * 10**8),
        ("2GiB", 2 << 30),
        ("500MB", 5 * 10**8),
        ("64k", 64_000),
        ("7", 7),
        (12, 12),
        ("1tb", 10**12),
    ],
)
def test_amounts(typed, meant):
    assert budget.bytes_of(typed) == meant


@pytest.mark.parametrize("typed", ["", "much", "-1GB", "0GB", "4 potatoes", "1e9", "GB", "1.2.3MB"])
def test_what_is_no_amount(typed):
    with pytest.raises(InputError) as caught:
        budget.bytes_of(typed)
    assert caught.value.reason is Reason.BAD_OPTION


def test_what_was_allowed_is_held_to_and_then_forgotten():
    free = budget.memory_budget()
    with budget.within_memory("1MB"):
        assert budget.is_memory_given()
        assert budget.memory_budget() == 10**6
        with budget.within_memory(None):
            assert budget.memory_budget() == 10**6
        budget.require_memory("It was asked for.", 10**6, "It", "Do less")
        with pytest.raises(LimitError, match=r"about 0\.1 GB of memory") as caught:
            budget.require_memory("It was asked for.", 10**8, "It", "Do less")
    assert "--memory" in caught.value.do
    assert not budget.is_memory_given()
    assert (free is None) == (budget.memory_budget() is None)


def test_where_nothing_is_told_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(budget, "free_memory", lambda: None)
    budget.require_memory("It was asked for.", 1e30, "It", "Do less")


def test_the_least_of_machine_groups_and_process_counts(monkeypatch):
    monkeypatch.setattr(budget, "_machine", lambda: iter([5_000]))
    monkeypatch.setattr(budget, "_groups", lambda: iter([None, 3_000, 9_000]))
    monkeypatch.setattr(budget, "_process", lambda: iter([]))
    assert budget.free_memory() == 3_000
    assert budget.memory_budget() == 2_700


@pytest.mark.parametrize(
    ("files", "room"),
    [
        (
            {
                "memory.max": "1000\n",
                "memory.current": "600\n",
                "memory.stat": "inactive_file 200\n",
            },
            600,
        ),
        ({"memory.max": "max\n", "memory.current": "600\n"}, None),
        ({"memory.max": "1000\n", "memory.current": "600\n"}, 400),
        ({}, None),
    ],
)
def test_what_a_control_group_has_left(tmp_path, files, room):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    names = ("memory.max", "memory.current", "inactive_file")
    assert budget.group_room(tmp_path, *names) == room


def test_workers_are_one_per_core_and_two_at_most(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert budget.workers_of(None) == 4
    assert budget.workers_of(3) == 3
    assert budget.workers_of(100_000) == 8
    assert budget.workers_of(100_000, 2) == 2
    assert budget.workers_of(None, 0) == 1
