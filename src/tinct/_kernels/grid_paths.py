"""The extension in integers: shortest paths for Ũ on {0, …, N}, N ≤ 2^62, without a single float.

Products of two 62-bit numbers have up to 124 bits. They are kept as two 64-bit halves and divided digit by digit
(Knuth, The Art of Computer Programming, vol. 2, 4.3.1 D), so nothing can overflow. All numbers are uint64: mixing
signed and unsigned ones would silently turn them into floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels.compiling import kernel, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Units = NDArray[np.uint64]
    Offsets = NDArray[np.int64]
    Positions = NDArray[np.int32]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_BASE = np.uint64(1 << 32)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@part
def product(a: Any, b: Any) -> tuple[Any, Any]:
    """a·b as (high, low) halves of 64 bits, for a, b < 2^63: no intermediate sum reaches 2^64."""
    a1, a0, b1, b0 = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    low = a0 * b0
    middle = a1 * b0 + (low >> _HALF)
    other = a0 * b1 + (middle & _LOW)
    return a1 * b1 + (middle >> _HALF) + (other >> _HALF), (other << _HALF) | (low & _LOW)


@part
def quotient(high: Any, low: Any, divisor: Any) -> tuple[Any, Any]:
    """(high·2^64 + low) // divisor and the remainder, for high < divisor < 2^63: two digits of 32 bits."""
    shift = _ZERO
    while (divisor << shift) >> np.uint64(63) == _ZERO:  # normalise: the first digit guessed is then off by at most 2
        shift += _ONE
    if shift > _ZERO:
        divisor <<= shift
        high = (high << shift) | (low >> (np.uint64(64) - shift))
        low <<= shift
    d1, d0 = divisor >> _HALF, divisor & _LOW
    upper, rest = _digit(high, low >> _HALF, d1, d0, divisor)
    lower, rest = _digit(rest, low & _LOW, d1, d0, divisor)
    return (upper << _HALF) + lower, rest >> shift


@part
def _digit(rest: Any, following: Any, d1: Any, d0: Any, divisor: Any) -> tuple[Any, Any]:
    """One digit of a long division, and what is left; arithmetic modulo 2^64 in the last line is meant."""
    digit = rest // d1
    left = rest - digit * d1
    while digit >= _BASE or digit * d0 > (left << _HALF) + following:
        digit -= _ONE
        left += d1
        if left >= _BASE:
            break
    return digit, (rest << _HALF) + following - digit * divisor


@part
def grid_upper(a: Any, up: Any, down: Any, shift: Any, total: Any) -> Any:
    """Ũ(a) = min(⌊R·a⌋ + D, N − ⌈(N − a − D)/R⌉, N) for R = up/down, all below 2^63."""
    if a + shift >= total:
        return total
    high, low = product(a, up)
    risen = total
    if high < down:
        risen, _ = quotient(high, low, down)
        risen = total if risen >= total else min(total, risen + shift)
    high, low = product(total - a - shift, down)
    fallen, rest = quotient(high, low, up)  # down ≤ up, so the quotient fits
    if rest > _ZERO:
        fallen += _ONE
    return min(risen, total - fallen)


@kernel
def least_units(
    indptr: Offsets,
    indices: Positions,
    classes: Positions,
    ups: Units,
    downs: Units,
    shifts: Units,
    units: Units,
    total: np.uint64,
) -> None:
    """Lower ``units`` (N where a vertex is free) to the least bound that any path puts on each vertex.

    Dijkstra's algorithm for increasing edge functions with Ũ(a) ≥ a (Knuth 1977), on a binary heap of vertices in which
    every vertex occurs at most once.
    """
    n = len(units)
    heap = np.empty(n, np.int64)
    where = np.full(n, -1, np.int64)
    size = 0
    for v in range(n):
        if units[v] < total:
            size = _raise(heap, where, units, size, v)
    while size > 0:
        v = heap[0]
        size = _take_first(heap, where, units, size)
        here = units[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if units[w] > here:
                c = classes[e]
                bound = grid_upper(here, ups[c], downs[c], shifts[c], total)
                if bound < units[w]:
                    units[w] = bound
                    size = _raise(heap, where, units, size, w)


@kernel
def fair_units(
    indptr: Offsets,
    indices: Positions,
    classes: Positions,
    colors: NDArray[np.uint8],
    ups: Units,
    downs: Units,
    shifts: Units,
    ends: Positions,
    balances: Units,
    units: Units,
    total: np.uint64,
) -> None:
    """The units of the truth in the fair optimum (docs/theory.md §3a), N where nothing bounds a vertex.

    ``ends`` has both ends of every boundary edge, sorted by ``balances``, the most units that both may have. One
    vertex after the other, as in ``fair_search.fair_by_heap``.
    """
    n = len(units)
    units[:] = total
    heap = np.empty(n, np.int64)
    where = np.full(n, -1, np.int64)
    settled = np.zeros(n, np.uint8)
    size = 0
    at = 0
    while size > 0 or at < len(balances):
        if at < len(balances) and (size == 0 or balances[at] <= units[heap[0]]):
            u, v = ends[at, 0], ends[at, 1]
            if not settled[u] and not settled[v]:
                for w in (u, v):  # not only one, whose rounding the other would follow: equal budgets, equal truths
                    if balances[at] < units[w]:
                        units[w] = balances[at]
                        size = _raise(heap, where, units, size, w)
            at += 1
            continue
        v = heap[0]
        size = _take_first(heap, where, units, size)
        settled[v] = 1
        here = units[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if settled[w]:
                continue
            c = classes[e]
            bound = grid_upper(here if colors[w] == colors[v] else total - here, ups[c], downs[c], shifts[c], total)
            if bound < units[w]:
                units[w] = bound
                size = _raise(heap, where, units, size, w)


@part
def _raise(heap: Any, where: Any, units: Any, size: int, v: int) -> int:
    """Move a vertex whose units fell up to its place, entering it if it is not there; returns the size."""
    i = where[v]
    if i < 0:
        i = size
        size += 1
    while i > 0:
        parent = (i - 1) >> 1
        if units[heap[parent]] <= units[v]:
            break
        heap[i] = heap[parent]
        where[heap[i]] = i
        i = parent
    heap[i] = v
    where[v] = i
    return size


@part
def _take_first(heap: Any, where: Any, units: Any, size: int) -> int:
    """Remove the first vertex; returns the size."""
    size -= 1
    where[heap[0]] = -1
    v = heap[size]
    i = 0
    while size > 0:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and units[heap[child + 1]] < units[heap[child]]:
            child += 1
        if units[heap[child]] >= units[v]:
            break
        heap[i] = heap[child]
        where[heap[i]] = i
        i = child
    if size > 0:
        heap[i] = v
        where[v] = i
    return size


@kernel
def upper_units(values: Units, up: np.uint64, down: np.uint64, shift: np.uint64, total: np.uint64, out: Units) -> None:
    """Ũ of every entry: how tests compare the arithmetic above with Python's integers."""
    for i in range(len(values)):
        out[i] = grid_upper(values[i], up, down, shift, total)
