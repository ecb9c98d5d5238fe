"""The least μ for which a table is μ-Gaussian private, on every edge, for any number of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct.privacy.tradeoffs import probit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def least_mu(here: Floats, there: Floats) -> Floats:
    """The largest Φ⁻¹(P(S)) − Φ⁻¹(Q(S)) of any event S, for rows P of ``here`` and Q of ``there``.

    The trade-off function of P and Q has its corners at the sets of largest likelihood ratio, and that of μ-Gaussian
    DP is convex: if it is kept at the corners, it is kept everywhere. So these sets are enough for any number of
    answers.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(here > 0, here / there, 0.0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    mine, theirs = np.take_along_axis(here, order, 1), np.take_along_axis(there, order, 1)
    gap = _probit_of_prefixes(mine)
    with np.errstate(invalid="ignore"):  # impossible for both, or certain for both: no difference
        gap = np.nan_to_num(gap - _probit_of_prefixes(theirs), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return np.asarray(np.maximum(0.0, gap.max(axis=1, initial=0.0)))


def _probit_of_prefixes(rows: Floats) -> Floats:
    """Φ⁻¹ of the first k entries together, for every k but the last; each tail from its own sum."""
    first = np.minimum(np.cumsum(rows, axis=1)[:, :-1], 1.0)
    rest = np.minimum(np.cumsum(rows[:, ::-1], axis=1)[:, ::-1][:, 1:], 1.0)
    return probit(first, rest)
