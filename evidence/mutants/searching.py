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
_FAIR = (
    "test_fair_optimum.py::test_no_program_adds_anything",
    "test_fair_optimum.py::test_it_is_what_its_definition_says",
)
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
    Mutant(
        "boundary rows of orders that meet are not compared, one row at a time",
        "row_by_region._by_distance",
        "_require_close(...)",
        "",
        ("test_rainbow.py::test_bad_questions_about_one_row_are_refused",),
    ),
    Mutant(
        "one row does not see the fixed vertices around its region",
        "row_by_region._in_region",
        "table[region.position(vertex)] = row",
        "pass",
        ("test_rainbow.py::test_one_row_by_vertex_is_that_of_the_whole",),
    ),
    Mutant(
        "fixed rows next to each other need not be close",
        "envelope.decide",
        "fixed[owner] & fixed[graph.indices[broken]]",
        "fixed[owner] & ~fixed[owner]",
        ("test_rainbow.py::test_fixed_rows_next_to_each_other_must_be_close",),
    ),
    Mutant(
        "the table of linear programs is returned without a check",
        "checked_optimum",
        "not verify(table, graph, privacy).private",
        "False",
        ("test_rainbow.py::test_what_linear_programs_propose_is_checked_on_every_edge",),
    ),
    Mutant(
        "a vertex leaves the other colour as much as its own",
        "fair_search.across",
        "step(1.0 / key if key < np.inf else 0.0, gain, shift, probit)",
        "step(key, gain, shift, probit)",
        _FAIR,
    ),
    Mutant(
        "an offer may fall below the balance of its edge",
        "fair_search.across",
        "max(step(...), balance)",
        "step(1.0 / key if key < np.inf else 0.0, gain, shift, probit)",
        ("test_fair_optimum.py::test_offers_across_steep_edges_are_not_below_the_balance",),
    ),
    Mutant(
        "given values that contradict each other are taken",
        "fair_with_given",
        "own > search.bounds[color][v] * (1 + _TOLERANCE)",
        "False",
        ("test_fair_optimum.py::test_given_values_are_kept_or_refused",),
    ),
    Mutant(
        "what a settled vertex leaves the other answer is forgotten",
        "_Bounds.settle",
        "self.add(v, 1 - color, _other(key))",
        "pass",
        ("test_fair_optimum.py::test_given_values_are_kept_or_refused",),
    ),
    Mutant(
        "next to δ = 1 everything is forgiven",
        "_verify._keeps",
        "left >= (1.0 - shift) * (1.0 - tolerance)",
        "left >= 0.0",
        ("test_verification.py::test_delta_next_to_1_forgives_nothing",),
    ),
    Mutant(
        "after an edge that was decided no other is looked for",
        "fair_by_rounds",
        "below = min(best[v], key / weight)",
        "below = 0.0",
        _FAIR,
    ),
    Mutant(
        "nobody waits for the lower candidate of the other end",
        "fair_by_rounds",
        "min(abs(keys[mate]) / weights[1 - mine], best[mate]) < level",
        "min(abs(keys[mate]) / weights[1 - mine], best[mate]) < 0.0",
        _FAIR,
    ),
    Mutant(
        "what a settled vertex leaves to the other colour is not fetched",
        "fair_by_rounds",
        "key = min(key, across(...))",
        "key = min(key, key)",
        _FAIR,
    ),
    Mutant(
        "the other end of an edge at its balance is not told",
        "fair_by_rounds",
        "max(keys[w], -new) if sign > 0.0 else min(keys[w], new)",
        "keys[w]",
        _FAIR,
    ),
    Mutant(
        "the window of the fair optimum is longer than the shortest step",
        "fair_by_rounds",
        "max(highest, lowest)",
        "max(highest * highest, lowest)",
        _FAIR,
    ),
    Mutant(
        "a balance is left out that may be the lowest",
        "fair_search._level",
        "least >= below * (1.0 - shifts[e])",
        "least >= below * (0.8 - shifts[e])",
        _FAIR,
    ),
    Mutant(
        "a floor that is too high spares an offer of the fair optimum",
        "fair_search._least_gain",
        "1.0 + x * ... + shifts[e]",
        "1.0 + x + x * ... + shifts[e]",
        _FAIR,
    ),
    Mutant(
        "the heap decides an edge though the other end is settled",
        "fair_by_heap",
        "settled[v] or settled[ends[at, 1]] or keys[v] <= key",
        "settled[v] or keys[v] <= key",
        _FAIR,
    ),
)
