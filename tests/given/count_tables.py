"""Random tables of counts and releases of them, for tests of tables."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import make_release

SCHEMES = [
    "exact",
    "conventional:3",
    "conventional:4:even",
    "random:5",
    "barnardization:0.5",
    "suppressed",
    "suppressed:3",
    "interval:0,1,4",
]


@st.composite
def truths(draw):
    """Tables of one to three axes with up to four categories each."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axes = [Axis(f"v{k}", tuple(f"c{j}" for j in range(n))) for k, n in enumerate(shape)]
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size))
    return CountTable(tuple(axes), np.array(counts, np.int64).reshape(shape))


def random_release(truth, random, schemes=SCHEMES):
    """Return some margins of a table, recoded or not, in any order of axes and categories."""
    margins, groups = [], []
    for _ in range(random.randint(1, 4)):
        margin = random.sample(truth.names, random.randint(0, len(truth.names)))
        own = {}
        for name in margin:
            if random.random() < 0.5:
                labels = {}
                for category in random.sample(truth.axis(name).categories, len(truth.axis(name))):
                    labels.setdefault(f"g{random.randint(0, 2)}", []).append(category)
                own[name] = labels
        margins.append(margin)
        groups.append(own)
    chosen = [random.choice(schemes) for _ in margins]
    return make_release(truth, margins, chosen, groups=groups, seed=random.randint(0, 99))
