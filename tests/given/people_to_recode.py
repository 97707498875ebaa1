"""People of any age whose marital status can be told coarsely, and the key that recoding is of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gamekeeper import Variable
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.mapping import PartitionGraph
from gamekeeper.protection.step import Setting

AGE = Variable.of_bands(
    "Age", ["0-15", "16-17", "18-24", "16-24", "25-64", "65+", "0-24", "25+", "0-17", "18-64"]
)
STATUS = Variable(
    "Status",
    PartitionGraph(
        {"any": ["single", "was married", "married"], "was married": ["widowed", "divorced"]}
    ),
)
SETTING = Setting(keys=("Age", "Sex", "Status"))


def people(n=120, seed=5):
    rng = np.random.default_rng(seed)
    ages = rng.integers(14, 80, n)
    status = rng.choice(["single", "married", "widowed", "divorced"], n, p=[0.4, 0.4, 0.1, 0.1])
    return code_frame(
        pa.table(
            {
                "Age": [str(age) for age in ages],
                "Sex": rng.choice(["f", "m"], n).tolist(),
                "Status": status.tolist(),
                "w": rng.integers(1, 30, n).astype(float).tolist(),
                "Region": rng.choice(["N", "S"], n).tolist(),
            }
        ),
        ["Age", "Sex", "Status", "Region"],
        numbers=["w"],
    )
