from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.perturbation.counter_streams import CounterStream, philox


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # the published vectors of Philox4x32 with ten rounds
        ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_published_vectors(counter, key, expected):
    words = philox(tuple(np.array([c], dtype=np.uint64) for c in counter), key)
    assert " ".join(f"{int(word[0]):08x}" for word in words) == expected


def test_numbers_depend_on_seed_purpose_record_and_draw_and_on_nothing_else():
    stream = CounterStream(3, ("1 pram", "Sex"))
    ids = np.array([5, 2**40, 9, 1], dtype=np.uint64)
    once = stream.uniform(ids)
    assert (stream.uniform(ids[::-1])[::-1] == once).all()
    assert stream.uniform(ids[1:2])[0] == once[1]
    others = [
        CounterStream(4, ("1 pram", "Sex")).uniform(ids),
        CounterStream(3, ("2 pram", "Sex")).uniform(ids),
        CounterStream(3, ("1 pram", "Age")).uniform(ids),
        stream.uniform(ids, draw=1),
        stream.uniform(ids, draw=2),
    ]
    assert all((other != once).all() for other in others)


def test_numbers_are_uniform_and_normal():
    stream = CounterStream(0, ("test",))
    ids = np.arange(20_000)
    numbers = stream.uniform(ids)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts = np.bincount((numbers * 20).astype(int), minlength=20)
    # Chi-squared with 19 degrees of freedom: 43.8 at one in a thousand.
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8
    normal = stream.normal(ids, draw=3)
    assert np.isfinite(normal).all()
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1) < 0.03


def test_an_order_is_that_of_the_records_and_not_of_the_file():
    stream = CounterStream(1, ("order",))
    ids = np.array([10, 20, 30, 40, 50])
    turned = ids[::-1]
    assert (ids[stream.order(ids)] == turned[stream.order(turned)]).all()
