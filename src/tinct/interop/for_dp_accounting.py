"""Mechanisms for dp_accounting: the privacy-loss distribution of a table, or an event for its accountants."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError
from tinct.exact import Certified
from tinct.interop.dominating_pairs import dominating_pair
from tinct.interop.group_privacy import Promise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinct.mechanism import Mechanism

_ON_A_CELL = 1e-9  # of an interval: how near a loss must be to a multiple of it to be taken for one
_LEAST_INTERVAL, _LARGEST_INTERVAL = 1e-9, 1.0
_LOWEST = -750.0  # outcomes with less than this have next to no probability; they may only be counted as worse


def privacy_loss(mechanism: Certified | Mechanism, *, interval: float = 1e-4) -> Any:
    """The privacy-loss distribution of a mechanism, for dp_accounting to compose with others.

    It covers all edges of the mechanism's graph in both directions and is as tight as the table: at multiples of
    ``interval`` its δ(ε) is the largest of any edge. In between it errs on the safe side. What it knows as
    neighbours are the neighbours of the graph: compose it only with mechanisms for the same neighbours.

    Args:
        mechanism: A Certified, or a Mechanism in floats.
        interval: Privacy losses are spread to multiples of it (dp_accounting composes only equal intervals).

    Returns:
        A ``dp_accounting.pld.PrivacyLossDistribution``. Like everything in dp_accounting it is made of floats: losses
        within 10^−9 of an interval from a multiple are taken to be one.

    >>> from tinct import Privacy, exact
    >>> loss = privacy_loss(exact.line(Privacy("0.5")))
    >>> round(loss.get_epsilon_for_delta(0), 4), round(loss.self_compose(100).get_epsilon_for_delta(1e-6), 2)
    (0.5, 33.32)
    """
    if isinstance(interval, bool) or not isinstance(interval, int | float):
        raise ParameterError.of("interval", "a number", interval)
    if not _LEAST_INTERVAL <= interval <= _LARGEST_INTERVAL:
        raise ParameterError(f"interval must be a number in [{_LEAST_INTERVAL:g}, {_LARGEST_INTERVAL:g}]")
    losses = dominating_pair(mechanism).losses()
    _require_accounting()
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    finite = [(max(loss, _LOWEST), share) for loss, share in losses if loss < math.inf]
    infinite = math.fsum(share for loss, share in losses if loss == math.inf)
    above = math.nextafter(infinite, 1.0) if infinite else 0.0
    return PrivacyLossDistribution(pld_pmf.create_pmf(_spread(finite, float(interval)), interval, above, True))


def privacy_event(certified: Certified) -> Any:
    """An event for dp_accounting's accountants that is at least as revealing as one release.

    Every mechanism with δ = 0 is at most as revealing as the geometric mechanism for a count with the same ε, and one
    with a balanced boundary edge exactly as much, so that is the event. (Randomized response would be too, but
    dp_accounting up to 0.6.0 counts it once however often it is composed.) The accountant's neighbour relation
    must mean the certificate's neighbours. There is no event for δ > 0: use ``privacy_loss``.

    >>> from tinct import Privacy, exact
    >>> privacy_event(exact.line(Privacy("1/2")))
    DiscreteLaplaceDpEvent(noise_parameter=0.5, sensitivity=1)
    """
    if not isinstance(certified, Certified):
        raise ParameterError(f"a Certified is needed (tinct.exact makes them), got {certified!r:.80}")
    promise = Promise.of(certified.terms)
    if promise.delta > 0:
        raise ParameterError("dp_accounting has no event for delta > 0: compose privacy_loss(certified) instead")
    _require_accounting()
    from dp_accounting.dp_event import DiscreteLaplaceDpEvent, NoOpDpEvent

    if promise.epsilon == 0:  # a parameter of 0 means no noise to them
        return NoOpDpEvent()
    return DiscreteLaplaceDpEvent(noise_parameter=promise.epsilon, sensitivity=1)


def _spread(losses: Iterable[tuple[float, float]], interval: float) -> dict[int, float]:
    """Each outcome as two, at the multiples around its loss, with the same probability under both distributions.

    Whoever confuses the two has the outcome back, so the result is at least as revealing ("connect the dots").
    """
    cells: dict[int, float] = defaultdict(float)
    for loss, share in losses:
        cell = loss / interval
        if abs(cell - round(cell)) <= _ON_A_CELL:
            cells[round(cell)] += share
            continue
        low = math.floor(cell)
        # m0 + m1 = share and m0·e^−x0 + m1·e^−x1 = share·e^−loss, for cells x0 < loss < x1
        upper = share * math.expm1(low * interval - loss) / math.expm1(-interval)
        cells[low + 1] += upper
        cells[low] += share - upper
    return dict(cells)


def _require_accounting() -> None:
    try:
        import dp_accounting  # noqa: F401
        from dp_accounting.dp_event import DiscreteLaplaceDpEvent  # noqa: F401 # new in 0.5
    except ImportError:
        raise ParameterError("dp-accounting 0.5 or later is not installed: pip install 'tinct[accounting]'") from None
