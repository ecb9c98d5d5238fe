"""What reports of a local mechanism look like by its definition: a number for each report, and every probability.

Written from the definitions in docs/theory.md §8 and the units, without the code that draws.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tinct.local.mechanisms.base import Randomiser

Keys = Callable[[NDArray[Any]], NDArray[np.int64]]
Table = NDArray[np.float64]


def distributions(randomiser: Randomiser) -> tuple[Keys, Table]:
    """A function from reports to numbers, and the probability of every number for every symbol."""
    return _KINDS[randomiser.kind](randomiser)


def _plain(reports: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(reports, np.int64)


def _cells(made: Any) -> tuple[Keys, Table]:
    rows = [[made.own if y == cell else made.other for y in range(made.count)] for cell in made.cell_of.tolist()]
    return _plain, np.array(rows, float) / made.total


def _table(made: Any) -> tuple[Keys, Table]:
    return _plain, made.units / made.total


def _hadamard(made: Any) -> tuple[Keys, Table]:
    plus = made.plus / made.total
    rows = [
        [2 / made.order * (plus if ((x + 1) & y).bit_count() % 2 == 0 else 1 - plus) for y in range(made.order)]
        for x in range(made.size)
    ]
    return _plain, np.array(rows)


def _unary(made: Any) -> tuple[Keys, Table]:
    chance = (made.other / made.total, 0.5)
    rows = [
        [
            np.prod([chance[at == x] if bit else 1 - chance[at == x] for at, bit in enumerate(bits)])
            for bits in _bits(made)
        ]
        for x in range(made.size)
    ]
    weights = 2 ** np.arange(made.size)[::-1]
    return (lambda reports: np.asarray(reports, np.int64) @ weights), np.array(rows)


def _bits(made: Any) -> Any:
    return product((0, 1), repeat=made.size)


def _subset(made: Any) -> tuple[Keys, Table]:
    k, d, inside = made.size, made.members, made.inside / made.total
    subsets = list(combinations(range(k), d))
    rows = [
        [inside / comb(k - 1, d - 1) if x in subset else (1 - inside) / comb(k - 1, d) for subset in subsets]
        for x in range(k)
    ]
    number = np.zeros(2**k, np.int64)
    for at, subset in enumerate(subsets):
        number[sum(1 << member for member in subset)] = at
    return (lambda reports: number[(1 << np.asarray(reports, np.int64)).sum(axis=1)]), np.array(rows)


def _hash(made: Any) -> tuple[Keys, Table]:
    p, g = made.prime, made.buckets
    shape = (p, p, g)  # a = 0 never occurs
    rows = np.zeros((made.size, p * p * g))
    for x in range(made.size):
        for a, b, y in product(range(1, p), range(p), range(g)):
            units = made.own if (a * x + b) % p % g == y else made.other
            rows[x, np.ravel_multi_index((a, b, y), shape)] = units / made.total / (p * (p - 1))
    return (lambda reports: np.ravel_multi_index(tuple(np.asarray(reports, np.int64).T), shape)), rows


_KINDS: dict[str, Callable[[Any], tuple[Keys, Table]]] = {
    "cells": _cells, "table": _table, "hadamard": _hadamard, "unary": _unary, "subset": _subset, "hash": _hash,
}  # fmt: skip
