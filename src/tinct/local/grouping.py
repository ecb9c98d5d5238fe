"""Large alphabets: fewer ratios from below and from above (docs/proofs/cells.md, merging).

Merging symbols can only lower the optimum. Splitting every symbol onto two ratios next to its own can only raise it:
the symbol is then a noisy copy of something finer. Both orders are short, so the optimum is known to lie between
theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct.local.order import Order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_AROUND = 2  # groups on either side of a cut that are divided further
_PARTS = 8


def coarse_order(order: Order, groups: int) -> Integers:
    """Places to merge between: even in probability and in the angle of the ratio, so that tails get their share."""
    p0, p1 = order.p0, order.p1
    angle = np.arctan2(np.sqrt(p0), np.sqrt(p1))
    turn = np.abs(np.diff(angle, prepend=angle[:1]))
    weight = 0.5 * (p0 + p1) + turn / max(float(turn.sum()), 1e-300)
    density = np.cumsum(weight)
    wanted = np.linspace(0.0, density[-1], groups + 1)
    places = np.searchsorted(density, wanted[1:-1])
    return np.unique(np.concatenate([[0], places, [len(order)]]))


def refined_order(places: Integers, cuts: Integers, most: int) -> Integers:
    """The same places, with the groups around every cut divided further, into at most ``most`` new groups.

    What a merged or split group changes, it changes only if a cut goes through it: made fine there, nothing is lost.
    """
    near = (cuts[:, None] + np.arange(-_AROUND, _AROUND)).ravel()
    near = np.unique(near[(near >= 0) & (near < len(places) - 1)])
    near = near[places[near + 1] - places[near] > 1][: most // _PARTS]
    steps = np.arange(1, _PARTS) / _PARTS
    new = places[near, None] + (steps * (places[near + 1] - places[near])[:, None]).astype(np.int64)
    return np.unique(np.concatenate([places, new.ravel()]))


def upper_order(order: Order, places: Integers) -> Order:
    """A shorter pair of distributions from which this one arises by adding noise, so that its optimum is no smaller.

    Its ratios are those at the beginning of every group, and the largest.
    """
    p0, p1 = order.p0, order.p1
    nodes = np.unique(np.append(places[:-1], len(order) - 1))
    with np.errstate(divide="ignore", over="ignore"):
        ratio = p0 / p1
    left = np.clip(np.searchsorted(nodes, np.arange(len(order)), side="right") - 1, 0, max(len(nodes) - 2, 0))
    right = np.minimum(left + 1, len(nodes) - 1)
    low, high = ratio[nodes[left]], ratio[nodes[right]]
    # (P0, P1) = near·(low, 1) + far·(high, 1); where high is infinite, far is all on the side of P0
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        beyond = np.maximum(0.0, p0 - p1 * low)
        far = np.where(np.isfinite(high), np.where(high > low, beyond / (high - low), 0.0), 0.0)
    far = np.minimum(far, p1)
    near = p1 - far
    of_high = np.where(np.isfinite(high), far * np.where(np.isfinite(high), high, 0.0), beyond)
    of_low = np.maximum(0.0, p0 - of_high)
    first = np.bincount(left, of_low, len(nodes)) + np.bincount(right, of_high, len(nodes))
    second = np.bincount(left, near, len(nodes)) + np.bincount(right, far, len(nodes))
    return Order(first / first.sum(), second / second.sum(), np.empty(0, np.int64))
