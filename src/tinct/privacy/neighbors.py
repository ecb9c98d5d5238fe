"""Which data sets count as neighbours: what one person can change."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from tinct.errors import ParameterError


class Neighbors(StrEnum):
    """The two relations; each is its own text, so that ``"replace"`` and ``Neighbors.REPLACE`` are the same.

    >>> Neighbors.of("replace") is Neighbors.REPLACE, f"{Neighbors.ADD_REMOVE}"
    (True, 'add-remove')
    """

    ADD_REMOVE = "add-remove"  # adding or removing one person; the number of people is secret
    REPLACE = "replace"  # changing one person's data; the number of people is public

    @classmethod
    def of(cls, given: str) -> Neighbors:
        """The relation with this name."""
        try:
            return cls(given)
        except ValueError:
            raise ParameterError.of("neighbors", "'add-remove' or 'replace'", given) from None


NeighborsLike = Neighbors | Literal["add-remove", "replace"]
