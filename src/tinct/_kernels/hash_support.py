"""How many answers of local hashing are the hash of each symbol, without hashing every symbol for every report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct._kernels.compiling import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]


@kernel
def count_hashes(a: Integers, b: Integers, answer: Integers, prime: int, buckets: int, support: Integers) -> None:
    """Add to ``support`` the reports with ((a·x + b) mod prime) mod buckets = answer, for every symbol x.

    Values v = answer, answer + g, … below the prime are those of symbols (v − b)/a, one step of g/a after the other.
    """
    size = len(support)
    for at in range(len(a)):
        # the inverse of a, by Euclid's algorithm
        above, below, first, second = prime, a[at], 0, 1
        while below != 0:
            share = above // below
            above, below = below, above - share * below
            first, second = second, first - share * second
        inverse = first % prime
        x = (answer[at] - b[at]) % prime * inverse % prime
        step = buckets % prime * inverse % prime
        for _ in range(answer[at], prime, buckets):
            if x < size:
                support[x] += 1
            x += step
            if x >= prime:
                x -= prime
