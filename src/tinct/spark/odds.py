"""The kernels' arithmetic on odds as column expressions, so that Spark compiles it into the joins around it.

Each function here is the twin of one in ``_kernels`` (``step``, ``_other``, ``odds_table``) or ``binary._extend``,
operation by operation: results agree to the last bit except where e^ε is computed by another library.
"""

from __future__ import annotations

from typing import Any

from tinct._kernels.propagation import HIGHEST
from tinct.privacy.differential import TINY

INFINITE = float("inf")


def step(key: Any, gain: Any, shift: Any) -> Any:
    """U on finite odds: one edge further (docs/theory.md §1). Parameters are E and δ."""
    f = _functions()
    whole, rest = 1.0 + key, 1.0 - shift
    left = rest - shift * key
    second = f.least(_quotient(gain * key + (gain - 1.0) + shift * whole, left), f.lit(HIGHEST))
    below = rest - (gain - rest) * key
    rising = (below > 0.0) & (key * (gain + shift) <= rest)
    first = _quotient(gain * key + shift * whole, below)
    return f.when(left <= 0.0, f.lit(INFINITE)).when(rising, f.least(second, first)).otherwise(second)


def bound(key: Any, gain: Any, shift: Any) -> Any:
    """U on any odds, the infinite ones of a certain answer included."""
    f = _functions()
    return f.when(key < INFINITE, step(key, gain, shift)).otherwise(f.lit(INFINITE))


def along_link(key: Any) -> Any:
    """U on finite odds along a link, with the link's own parameters."""
    f = _functions()
    return step(key, f.col("gain"), f.col("shift"))


def balance_level(gain: Any, shift: Any, weights: tuple[float, float]) -> Any:
    """The level at which both ends of a boundary edge may stand (docs/theory.md §3a)."""
    f = _functions()
    first, second = weights
    if first == second:
        return f.least(_quotient(gain + shift, 1.0 - shift), f.lit(HIGHEST)) / first
    roots = (_branch_root(gain, shift, second / first) / first, _branch_root(gain, shift, first / second) / second)
    return f.least(*roots, f.lit(HIGHEST / max(weights)))


def _branch_root(gain: Any, shift: Any, ratio: float) -> Any:
    f = _functions()
    square = ratio * (1.0 - shift)
    linear = ratio - shift - ratio * (gain + shift)
    rest = gain + shift
    root = f.hypot(linear, 2.0 * f.sqrt(square) * f.sqrt(rest))
    return f.when(linear > 0.0, _quotient(2.0 * rest, linear + root)).otherwise(_quotient(root - linear, 2.0 * square))


def from_probabilities(first: Any, second: Any) -> Any:
    """The odds of ``first`` against ``second``; what odds cannot resolve is taken for the smallest normal float."""
    f = _functions()
    high, low = (f.when((p > 0.0) & (p < TINY), f.lit(TINY)).otherwise(p) for p in (first, second))
    return f.when(low > 0.0, f.least(_quotient(high, low), f.lit(HIGHEST))).otherwise(f.lit(INFINITE))


def other(key: Any) -> Any:
    """The odds of the other answer."""
    f = _functions()
    inverse = f.least(_quotient(f.lit(1.0), key), f.lit(HIGHEST))
    return f.when(key == INFINITE, f.lit(0.0)).when(key > 0.0, inverse).otherwise(f.lit(INFINITE))


def to_probabilities(key: Any) -> tuple[Any, Any]:
    """Probability and complement, each with its own relative precision."""
    f = _functions()
    small = _quotient(f.lit(1.0), 1.0 + key)
    return f.when(key < INFINITE, key * small).otherwise(f.lit(1.0)), small


def _quotient(above: Any, below: Any) -> Any:
    # a plain division by zero is an error in Spark, even on a branch that is not taken in the end
    return _functions().try_divide(above, below)


def _functions() -> Any:
    from pyspark.sql import functions

    return functions
