"""Mutants of the search for the optimal extension: bounds that are missed make a mechanism that is not private."""

from __future__ import annotations

from evidence.mutants import Mutant

_BOUNDS = (
    "test_kernels.py::test_settling_equals_exact_region_bounds",
    "test_kernels.py::test_any_window_gives_the_same_keys",
    "test_kernels.py::test_kernels_agree_on_graphs_with_many_rounds",
)
_MISSED = ("test_kernels.py::test_an_edge_that_nobody_fixed_is_always_noticed",)
_PREFIX_BOUNDS = ("test_kernels.py::test_prefix_bounds_equal_exact_bounds",)
_ASYMMETRY = (
    "test_kernels.py::test_asymmetry_notices_any_edge_with_two_values",
    "test_kernels.py::test_asymmetry_equals_its_twin",
)

MUTANTS = (
    Mutant(
        "the floor of the second branch holds from odds 0 on",
        "by_rounds",
        "key >= 1.0 and not probit",
        "not probit",
        _BOUNDS,
    ),
    Mutant(
        "a floor that is too high spares the look at an edge",
        "by_rounds",
        "series + shifts[e]",
        "series + x + shifts[e]",
        _BOUNDS,
    ),
    Mutant("classes forget their own shift", "by_rounds", "shifts[classes[e]]", "shifts[0]", _BOUNDS),
    Mutant("a vertex whose key falls again does not wait again", "by_rounds", "waiting[v] = 0", "", _BOUNDS),
    Mutant("vertices beyond the window are forgotten", "by_rounds", "later[after] = v\nafter += 1", "", _BOUNDS),
    Mutant("what the second colour fell to is kept without its sign", "by_rounds", "sign * new", "new", _BOUNDS),
    Mutant("the other colour next door is no missed edge", "by_rounds", "old <= 0.0", "old < -1e300", _MISSED),
    Mutant(
        "unreached vertices are not searched for missed edges",
        "missed_entry",
        "state[v] < FIXED",
        "state[v] < 0",
        _MISSED,
    ),
    Mutant(
        "a step has only its second branch",
        "propagation.step",
        "key * (gain + shift) <= rest",
        "key * (gain + shift) <= 0.0",
        _BOUNDS,
    ),
    Mutant(
        "a fixed vertex is excused by a bound that is too high",
        "worst_fixed_edge",
        "1.0 + gains[i] if layout == DENSE else gains[i]",
        "2.0 + gains[i] if layout == DENSE else 2.0 * gains[i]",
        ("test_kernels.py::test_worst_fixed_edge_has_the_largest_excess",),
    ),
    Mutant(
        "sources after the first window are left out",
        "by_rounds",
        "count > 0 or at < len(sources)",
        "count > 0 or at == 0 < len(sources)",
        _BOUNDS,
    ),
    Mutant(
        "keys that round to one start are one key",
        "_in_waves",
        "..., ..., keys[order], (leading[order] << 48).view(np.float64)",
        "..., ..., *[(leading[order] << 48).view(np.float64)] * 2",
        ("test_extension.py::test_extension_equals_linear_program",),
    ),
    Mutant(
        "prefixes settle with one key above the floor",
        "prefix_bounds",
        "above or keys[w, k] > floor[orders[v], k]",
        "keys[w, k] > floor[orders[v], k]",
        _PREFIX_BOUNDS,
    ),
    Mutant(
        "the floor of the prefixes rises twice as fast",
        "prefix_bounds",
        "_raise(floor, gain, shift, probit)\nafter = 0",
        "_raise(floor, gain * gain, shift, probit)\nafter = 0",
        _PREFIX_BOUNDS,
    ),
    Mutant(
        "budgets in the two directions are compared without their edge",
        "asymmetry",
        "mixed = ends ^ ...",
        "mixed = ...",
        _ASYMMETRY,
    ),
)
