"""Variables whose finest categories are sets: what the boxes of one question tell together.

Smith and Elliot, section 2.2: a question with boxes to tick has as many possible answers as there
are sets of boxes. Usually each box is better a yes/no variable of its own. Where they are to be
one variable, its sinks are the sets, so it can have few boxes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of, quoted

MOST_BOXES = 10
NONE = "none of these"


def sets_of(boxes: Sequence[str]) -> dict[str, Any]:
    """Return the scale and categories of a variable whose sinks are all sets of some boxes.

    Every box is a category: all sets that hold it.

    Examples
    --------
    >>> sets_of(["asthma", "diabetes"])["order"]
    ['none of these', 'only asthma', 'only diabetes', 'asthma + diabetes']
    """
    wanted = f"A variable of sets of {count_of(len(boxes), 'box', 'boxes')} was asked for."
    if len(boxes) > MOST_BOXES:
        raise LimitError(
            Reason.TOO_LARGE,
            wanted,
            f"It would have {2 ** len(boxes):,} finest categories, and {MOST_BOXES} boxes are the"
            " most.",
            "Let every box be a yes/no variable of its own.",
        )
    if len(set(boxes)) < len(boxes) or NONE in boxes:
        found = f"A box is there twice, or called {quoted([NONE])}."
        raise InputError(Reason.DUPLICATE, wanted, found, "Name each box once.")
    children: dict[str, list[str]] = {box: [] for box in boxes}
    order = [NONE]
    for size in range(1, len(boxes) + 1):
        for held in combinations(boxes, size):
            name = f"only {held[0]}" if size == 1 else " + ".join(held)
            order.append(name)
            for box in held:
                children[box].append(name)
    return {
        "scale": "nominal",
        "categories": {**children, **{name: [] for name in order}},
        "order": order,
    }
