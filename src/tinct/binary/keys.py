"""Between probabilities and the keys that the propagation kernels order them by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.propagation import HIGHEST
from tinct.privacy.tradeoffs import probit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def to_keys(p: Floats, q: Floats, coordinate: str) -> Floats:
    """Keys of probabilities p whose complements are q."""
    if coordinate == "probit":
        return np.exp(probit(p, q))
    return _quotient(p, q)


def _quotient(above: Floats | float, below: Floats) -> Floats:
    """A quotient that is infinite only where its denominator is 0."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(below > 0, np.minimum(above / below, HIGHEST), np.inf)


def other_color(keys: Floats) -> Floats:
    """Keys of the complements."""
    return _quotient(1.0, keys)


def from_keys(keys: Floats, coordinate: str) -> tuple[Floats, Floats]:
    """Probabilities and their complements, each with its own relative precision."""
    if coordinate == "probit":
        from scipy.special import ndtr

        with np.errstate(divide="ignore"):
            position = np.log(keys)
        return ndtr(position), ndtr(-position)
    q = 1.0 / (1.0 + keys)
    with np.errstate(invalid="ignore"):
        p = np.where(np.isinf(keys), 1.0, keys * q)
    return p, q
