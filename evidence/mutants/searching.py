"""Mutants of the search for the optimal extension: bounds that are missed make a mechanism that is not private."""

from __future__ import annotations

from evidence.mutants import Mutant

_ROUNDS = "_kernels/propagate.py"
_PREFIXES = "_kernels/prefixes.py"
_CHECKS = "_kernels/checks.py"
_CHOICE = "binary/extension.py"
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
        _ROUNDS,
        "more = 1.0 if key >= 1.0 and not probit else 0.0",
        "more = 1.0 if not probit else 0.0",
        _BOUNDS,
    ),
    Mutant(
        "a floor that is too high spares the look at an edge",
        _ROUNDS,
        "floor = least * (series + shifts[e]) - more",
        "floor = least * (series + x + shifts[e]) - more",
        _BOUNDS,
    ),
    Mutant(
        "classes forget their own shift",
        _ROUNDS,
        "step(key, gains[classes[e]], shifts[classes[e]], probit)",
        "step(key, gains[classes[e]], shifts[0], probit)",
        _BOUNDS,
    ),
    Mutant(
        "a vertex whose key falls again does not wait again",
        _ROUNDS,
        "                waiting[v] = 0\n",
        "",
        _BOUNDS,
    ),
    Mutant(
        "vertices beyond the window are forgotten",
        _ROUNDS,
        "                    later[after] = v\n                    after += 1\n",
        "",
        _BOUNDS,
    ),
    Mutant(
        "what the second colour fell to is kept without its sign",
        _ROUNDS,
        "keys[w] = sign * new",
        "keys[w] = new",
        _BOUNDS,
    ),
    Mutant(
        "the other colour next door is no missed edge",
        _ROUNDS,
        "if old <= 0.0 and not source and state[w] == (1 if sign > 0.0 else 0):",
        "if old < -1e300 and not source and state[w] == (1 if sign > 0.0 else 0):",
        _MISSED,
    ),
    Mutant(
        "unreached vertices are not searched for missed edges",
        _CHECKS,
        "if keys[v] == np.inf and state[v] < FIXED:",
        "if keys[v] == np.inf and state[v] < 0:",
        _MISSED,
    ),
    Mutant(
        "a step has only its second branch",
        _ROUNDS,
        "if below > 0.0 and key * (gain + shift) <= 1.0 - shift:",
        "if below > 0.0 and key * (gain + shift) <= 0.0:",
        _BOUNDS,
    ),
    Mutant(
        "a fixed vertex is excused by a bound that is too high",
        _CHECKS,
        "if value <= keys[w] * (1.0 + gains[i] if layout == DENSE else gains[i]):",
        "if value <= keys[w] * (2.0 + gains[i] if layout == DENSE else 2.0 * gains[i]):",
        ("test_kernels.py::test_worst_fixed_edge_has_the_largest_excess",),
    ),
    Mutant(
        "sources after the first window are left out",
        _ROUNDS,
        "while count > 0 or at < len(sources):",
        "while count > 0 or at == 0 < len(sources):",
        _BOUNDS,
    ),
    Mutant(
        "keys that round to one start are one key",
        _CHOICE,
        "return vertices[order], colors[order], keys[order], (leading[order] << 48).view(np.float64)",
        "return vertices[order], colors[order], *[(leading[order] << 48).view(np.float64)] * 2",
        ("test_extension.py::test_extension_equals_linear_program",),
    ),
    Mutant(
        "prefixes settle with one key above the floor",
        _PREFIXES,
        "above = above or keys[w, k] > floor[orders[v], k]",
        "above = keys[w, k] > floor[orders[v], k]",
        _PREFIX_BOUNDS,
    ),
    Mutant(
        "the floor of the prefixes rises twice as fast",
        _PREFIXES,
        "        _raise(floor, gain, shift, probit)\n        after = 0\n",
        "        _raise(floor, gain * gain, shift, probit)\n        after = 0\n",
        _PREFIX_BOUNDS,
    ),
    Mutant(
        "budgets in the two directions are compared without their edge",
        _CHECKS,
        "mixed = ends ^ (np.uint64(first[e]) * np.uint64(0x9E3779B97F4A7C15))",
        "mixed = np.uint64(first[e]) * np.uint64(0x9E3779B97F4A7C15)",
        _ASYMMETRY,
    ),
)
