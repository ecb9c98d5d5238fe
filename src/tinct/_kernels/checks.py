"""Before and after a propagation: edges that nobody covers, bounds that are broken, keys back to probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels.compiling import kernel, part
from tinct._kernels.propagation import CLASSES, DENSE, FIXED, UNIFORM, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tinct._kernels.propagation import Floats, Offsets, Positions, Small


@kernel
def missed_entry(indptr: Offsets, indices: Positions, state: Small, keys: Floats) -> int:
    """An edge between two free vertices of different colours that no bound reached, or −1."""
    for v in range(len(indptr) - 1):
        if keys[v] == np.inf and state[v] < FIXED:
            other = 1 - state[v]
            for e in range(indptr[v], indptr[v + 1]):
                if state[indices[e]] == other:
                    return e
    return -1


@kernel
def level_table(levels: NDArray[np.int32], colors: Small, right: Floats, wrong: Floats, table: Floats) -> None:
    """Truth and error by colour (row) and distance (column) to both columns of a table; certain where level is −1."""
    for v in range(len(levels)):
        color = colors[v]
        if levels[v] < 0:
            table[v, color] = 1.0
            table[v, 1 - color] = 0.0
        else:
            table[v, color] = right[color, levels[v]]
            table[v, 1 - color] = wrong[color, levels[v]]


@kernel
def odds_table(keys: Floats, colors: Small, fixed: Positions, table: Floats) -> None:
    """Odds of the true colour (of the first colour for fixed vertices) to both columns of a table."""
    for v in range(len(keys)):
        small = 1.0 / (1.0 + keys[v])
        table[v, colors[v]] = keys[v] * small if keys[v] < np.inf else 1.0
        table[v, 1 - colors[v]] = small
    for v in fixed:
        small = 1.0 / (1.0 + keys[v])
        table[v, 0] = keys[v] * small if keys[v] < np.inf else 1.0
        table[v, 1] = small


@kernel
def worst_fixed_edge(
    indptr: Offsets,
    indices: Positions,
    state: Small,
    colors: Small,
    keys: Floats,
    fixed: Positions,
    layout: int,
    classes: Small,
    gains: Floats,
    shifts: Floats,
    probit: bool,
    tolerance: float,
) -> tuple[int, int, int]:
    """The fixed vertex, edge and colour whose bound is broken most, or (−1, −1, 0) if none is.

    ``keys`` holds the key of the true colour for free vertices and of the first colour for fixed ones; with the
    layout DENSE, ``gains`` holds ε.
    """
    worst = 0.0
    found_vertex, found_edge, found_color = -1, -1, 0
    for u in fixed:
        for e in range(indptr[u], indptr[u + 1]):
            w = indices[e]
            color = 0 if state[w] == FIXED else int(colors[w])
            i = 0 if layout == UNIFORM else (int(classes[e]) if layout == CLASSES else e)
            value = keys[u] if color == 0 else _inverse(keys[u])
            if value <= keys[w] * (1.0 + gains[i] if layout == DENSE else gains[i]):
                continue  # U(k) ≥ E·k, and e^ε ≥ 1 + ε
            gain = math.exp(gains[i]) if layout == DENSE else gains[i]
            bound = step(keys[w], gain, shifts[i], probit)
            excess = _excess(value, bound, tolerance)
            if excess > worst:
                worst = excess
                found_vertex, found_edge, found_color = u, e, color
    return found_vertex, found_edge, found_color


@part
def _inverse(key: float) -> float:
    """The key of the other colour."""
    return 1.0 / key if key > 0.0 else np.inf


@part
def _excess(value: float, bound: float, tolerance: float) -> float:
    """The factor by which value exceeds bound; 0 within the tolerance."""
    if value <= bound * (1.0 + tolerance):
        return 0.0
    return value / bound if bound > 0.0 else np.inf


@kernel
def asymmetry(indptr: Offsets, indices: Positions, first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether some edge has different whole numbers, or bit patterns, in its two directions.

    Each direction of an edge is hashed together with its two values to 64 bits, and the sums over the two directions
    are compared, modulo 2^64: one pass in the order of memory. For one edge different values have different hashes,
    since each operation can be undone; several cancel each other with probability 2^−64 or so.
    """
    difference = np.uint64(0)
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            ends = (np.uint64(min(v, w)) << np.uint64(32)) ^ np.uint64(max(v, w))
            mixed = ends ^ (np.uint64(first[e]) * np.uint64(0x9E3779B97F4A7C15))
            mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(second[e])
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(32))
            difference += mixed if v < w else np.uint64(0) - mixed
    return bool(difference != np.uint64(0))
