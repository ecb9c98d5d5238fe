"""The dice: the only module of the library that touches entropy.

One draw is one uniform integer below the denominator, by rejection from the operating system's generator, placed
among the integer prefix sums of a row by bisection. For a given denominator and width every attempt reads the same
number of bytes and makes the same number of comparisons. Nothing here falls back: without entropy there is no answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import TinctError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Read = Callable[[int], bytes]

WIDEST = 2**63  # larger denominators are drawn one at a time
_BATCH = 1 << 15  # draws at a time: 256 kB of entropy stay in the processor's cache


def entropy(size: int) -> bytes:
    """Bytes from the operating system, all of them or an error."""
    try:
        data = os.urandom(size)
    except (OSError, NotImplementedError) as error:
        raise TinctError(f"the operating system gave no entropy ({type(error).__name__}): nothing was drawn") from None
    if len(data) != size:
        raise TinctError(f"the operating system gave {len(data)} of {size} bytes of entropy: nothing was drawn")
    return data


def below(bound: int, read: Read = entropy) -> int:
    """A uniform integer in [0, bound), by rejection: every attempt reads the same number of bytes."""
    width = (bound - 1).bit_length()
    size, mask = -(-width // 8), (1 << width) - 1
    while True:
        drawn = int.from_bytes(read(size), "little") & mask
        if drawn < bound:
            return drawn


def token() -> str:
    """A name nobody else has: 128 random bits as 32 hexadecimal digits."""
    return entropy(16).hex()


def place(drawn: int, prefixes: Sequence[int]) -> int:
    """The first position whose prefix sum exceeds ``drawn``, in a fixed number of comparisons for a given width."""
    at, step = 0, 1 << (len(prefixes) - 1).bit_length() >> 1
    while step:
        other = min(at + step, len(prefixes)) - 1
        at += step * (drawn >= prefixes[other])
        step >>= 1
    return at


def draw(prefixes: Sequence[int], read: Read = entropy) -> int:
    """A position drawn from the row with these prefix sums, of which the last is the denominator."""
    return place(below(prefixes[-1], read), prefixes)


def draw_many(prefixes: NDArray[Any], rows: NDArray[Any], read: Read = entropy) -> NDArray[np.intp]:
    """For every entry of ``rows`` a position drawn from that row of a table of prefix sums."""
    answers = np.empty(len(rows), np.intp)
    bound = int(prefixes[0, -1])
    if bound > WIDEST:
        lists = prefixes.tolist()
        answers[:] = [draw(lists[row], read) for row in rows.tolist()]
        return answers
    steps = _steps(prefixes.astype(np.uint64))
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        _place_many(below_many(bound, len(batch), read), steps, batch, answers[start : start + _BATCH])
    return answers


def below_many(bound: int, count: int, read: Read = entropy) -> NDArray[np.uint64]:
    """Uniform integers in [0, bound), for bounds up to 2^63: eight bytes for every attempt."""
    mask = np.uint64((1 << (bound - 1).bit_length()) - 1)
    drawn = np.frombuffer(read(8 * count), np.uint64) & mask
    if bound - 1 != int(mask):
        rejected = np.flatnonzero(drawn >= bound)
        while len(rejected):
            drawn[rejected] = np.frombuffer(read(8 * len(rejected)), np.uint64) & mask
            rejected = rejected[drawn[rejected] >= bound]
    return drawn


def _steps(prefixes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The table as a bisection reads it: columns in order, filled up with the denominator to a power of two."""
    width = 1 << (prefixes.shape[1] - 1).bit_length()
    filled = np.repeat(prefixes[:, -1:], width, axis=1)
    filled[:, : prefixes.shape[1]] = prefixes
    return filled


def _place_many(
    drawn: NDArray[np.uint64], steps: NDArray[np.uint64], rows: NDArray[Any], out: NDArray[np.intp]
) -> None:
    width = steps.shape[1]
    if width == 2:  # the common case: one comparison
        np.greater_equal(drawn, steps[:, 0][rows], out=out, casting="unsafe")
        return
    flat, base = steps.ravel(), rows.astype(np.intp) * width
    out[:] = 0
    step = width >> 1
    while step:
        out += step * (drawn >= flat[base + out + (step - 1)])
        step >>= 1
