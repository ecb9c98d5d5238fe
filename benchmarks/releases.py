"""Certifying and sampling: against the operating system's entropy."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import cases
from benchmarks.measuring import seconds
from benchmarks.rows import Row, slower
from tinct import Privacy, exact
from tinct.exact import sampler
from tinct.questions.noise import count_noise

if TYPE_CHECKING:
    from collections.abc import Iterator

DRAWS = 10_000_000


def rows() -> Iterator[Row]:
    """Every comparison."""
    yield from sampling()
    yield from certifying()


def sampling() -> Iterator[Row]:
    """Bulk draws against reading eight bytes of entropy for each."""
    limit = seconds(lambda: os.urandom(8 * DRAWS), 3)
    rng = np.random.default_rng(1)
    line = exact.line(Privacy("0.5"))
    positions = line.positions(rng.integers(-30, 30, DRAWS))
    mine = seconds(lambda: sampler.draw_many(line.prefixes, positions), 3)
    yield slower("10 million exact draws, 2 answers", mine, "os.urandom", limit, 2.0)
    wide = np.sort(rng.integers(1, 2**62, (100, 8)), axis=1)
    wide[:, -1] = 2**62
    places = rng.integers(0, 100, DRAWS)
    mine = seconds(lambda: sampler.draw_many(wide, places), 3)
    yield slower("10 million exact draws, 8 answers", mine, "os.urandom", limit, 2.0)
    for name, delta in (("with δ", "1e-6"), ("without δ", 0)):
        noise = count_noise(Privacy("0.5", delta))
        mine = seconds(partial(noise.draw_many, DRAWS, sampler.below_many, sampler.below), 3)
        yield slower(f"10 million noisy counts {name}", mine, "os.urandom", limit, 2.0)


def certifying() -> Iterator[Row]:
    """The integer extension and its proof, when the graph doubles."""
    times = []
    for n in (14, 15):
        cube = cases.cube(n).graph
        exact.balanced(cube, cases.UNIFORM)
        times.append(seconds(partial(exact.balanced, cube, cases.UNIFORM), 2))
    yield slower("integer optimum with proof, 15-cube (doubled)", times[1], "14-cube", times[0], 2.3)
