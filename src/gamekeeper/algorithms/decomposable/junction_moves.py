"""What a rotation of a dynamic junction tree did, and the four margins that a move changes."""

from __future__ import annotations

from dataclasses import dataclass

from gamekeeper.algorithms.decomposable.adjacency_masks import members


@dataclass(frozen=True, slots=True)
class MoveTerms:
    """The margins by which a model differs after one edge was added or deleted.

    The Bayes factor of the model after the move against the model before it is the product of
    the marginal likelihoods of the margins gained over those of the margins lost (Dawid and
    Lauritzen, 1993). Margins are sets of variables as masks; the empty one has likelihood 1.

    Attributes
    ----------
    gained, lost
        Two margins each.

    Examples
    --------
    >>> MoveTerms.of_addition(0, 1, common=0b100).gained
    (7, 4)
    """

    gained: tuple[int, int]
    lost: tuple[int, int]

    @classmethod
    def of_addition(cls, v: int, w: int, *, common: int) -> MoveTerms:
        """Return the terms of adding (v, w) when `common` are the neighbours of both."""
        one, other = common | 1 << v, common | 1 << w
        return cls((one | other, common), (one, other))

    @classmethod
    def of_deletion(cls, v: int, w: int, *, common: int) -> MoveTerms:
        """Return the terms of deleting (v, w) when `common` are the neighbours of both."""
        added = cls.of_addition(v, w, common=common)
        return cls(added.lost, added.gained)


@dataclass(frozen=True, slots=True)
class Rotation:
    """A clique that was rotated with its parent: the parent is its child now.

    Attributes
    ----------
    label, parent
        The label of the clique and of its former parent.
    beside_label, beside_parent, beside_both
        The variables that were joined to the label alone, to the parent alone and to both when
        only the other variables below the two were eliminated (U_v, U_w and U_vw), as masks.

    Examples
    --------
    >>> Rotation(0, 1, beside_label=0, beside_parent=0b1000, beside_both=0b100).edges_added
    [(0, 3)]
    """

    label: int
    parent: int
    beside_label: int
    beside_parent: int
    beside_both: int

    @property
    def edges_added(self) -> list[tuple[int, int]]:
        """The edges between the label and variables that were joined to the parent alone."""
        return _edges_from(self.label, self.beside_parent)

    @property
    def edges_removed(self) -> list[tuple[int, int]]:
        """The edges between the parent and variables that were joined to the label alone."""
        return _edges_from(self.parent, self.beside_label)

    @property
    def is_neutral(self) -> bool:
        """Whether the graph is as it was."""
        return not self.beside_label and not self.beside_parent


def _edges_from(v: int, others: int) -> list[tuple[int, int]]:
    return sorted((min(v, w), max(v, w)) for w in members(others))
