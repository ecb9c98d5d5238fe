"""A seeded stand-in for the dice, for tests and plots. Its answers are marked and are never releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.exact import sampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tinct.exact.certified import Certified


@dataclass(frozen=True)
class Simulation:
    """Answers from a seed: repeatable, therefore worthless as a release."""

    answers: NDArray[Any]
    seed: int
    released: bool = False


def simulate(certified: Certified, vertices: Sequence[Any] | NDArray[Any], seed: int) -> Simulation:
    """What ``certified.sample`` would do, with a generator that everybody can repeat.

    >>> from tinct import Privacy, exact
    >>> simulate(exact.line(Privacy(1)), [0, 0, 5], seed=1)
    Simulation(answers=array(['yes', 'no', 'yes'], dtype='<U3'), seed=1, released=False)
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError.of("seed", "a whole number of at least 0", seed)
    read = np.random.default_rng(seed).bytes
    positions = certified.positions(vertices)
    return Simulation(certified.outputs_array[sampler.draw_many(certified.prefixes, positions, read)], seed)
