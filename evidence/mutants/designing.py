"""Mutants of the integer designers: what they propose is proved afterwards, so most are stopped by the certificate."""

from __future__ import annotations

from evidence.mutants import Mutant

_PAIR = ("test_exact.py::test_grid_pair_is_suitable_and_maximal",)
_EXPONENTIAL = ("test_exact.py::test_exponentials_are_rounded_in_the_direction_they_claim",)
_GROWTH = ("test_exact.py::test_growth_is_below_the_exponential_by_less_than_its_last_bit",)
_OPERATOR = ("test_exact.py::test_best_neighbor_is_private_never_dominated_and_maximal_when_it_can_be",)

MUTANTS = (
    Mutant(
        "e^ε is rounded up", "_cut", "(value.numerator << ...) // ...", "-(-(value.numerator << ...) // ...)", _GROWTH
    ),
    Mutant(
        "e^ε is a float",
        "growth_below",
        "_cut(exp_below(epsilon.value, bits + 2), bits)",
        "Fraction(2.718281828459045 ** float(epsilon.value))",
        _GROWTH,
    ),
    Mutant(
        "the bound below e^x takes its first step upwards",
        "exp_below",
        "(x.numerator << scale) // (x.denominator << halvings)",
        "-(-(x.numerator << scale) // (x.denominator << halvings))",
        _EXPONENTIAL,
    ),
    Mutant(
        "the bound below e^x is squared upwards",
        "exp_below",
        "total * total >> scale",
        "(total * total >> scale) + 2",
        _EXPONENTIAL,
    ),
    Mutant(
        "the bound above e^x forgets the rest of the series",
        "exp_above",
        "term > 1",
        "term > 1 << scale // 2",
        _EXPONENTIAL,
    ),
    Mutant("the grid rounds R·a up", "GridPair.upper", "up * a // down", "-(-up * a // down)", _PAIR),
    Mutant(
        "the grid rounds the complement down",
        "GridPair.upper",
        "self.total + -left * down // up",
        "self.total - left * down // up",
        _PAIR,
    ),
    Mutant(
        "the grid forgets the complement",
        "GridPair.upper",
        "min(up * a // down + self.shift, self.total + -left * down // up, self.total)",
        "min(up * a // down + self.shift, self.total)",
        _PAIR,
    ),
    Mutant(
        "the grid rounds δN up",
        "GridPair.of",
        "int(privacy.exact_delta * total)",
        "-int(-privacy.exact_delta * total // 1)",
        (
            "test_exact.py::test_families_are_the_extension_of_a_long_line",
            "test_exact.py::test_iterated_grid_pair_stays_within_the_stated_bound",
        ),
    ),
    Mutant(
        "balanced neighbours may exceed each other by a unit",
        "GridPair.balance",
        "self.upper(self.total - middle)",
        "self.upper(self.total - middle) + 1",
        ("test_exact.py::test_balance_is_the_largest_truth_two_neighbours_can_share",),
    ),
    Mutant(
        "contradicting sources are not lowered",
        "extend_units",
        "total - of_first",
        "total - first",
        (
            "test_exact.py::test_extension_beats_every_table_of_the_grid",
            "test_mutants.py::test_contradicting_sources_are_lowered",
        ),
    ),
    Mutant(
        "every edge is extended with the first budget",
        "least_units_by_heap",
        "pairs[numbers[e]]",
        "pairs[0]",
        ("test_exact.py::test_kernel_and_heap_agree_on_every_grid",),
    ),
    Mutant(
        "δ is handed out again for every answer gained",
        "best_neighbor",
        "max(0, most[-1] * down - up * units)",
        "0",
        _OPERATOR,
    ),
    Mutant(
        "δ is handed out again for every answer lost",
        "best_neighbor",
        "max(0, down * units - up * least[-1])",
        "0",
        _OPERATOR,
    ),
    Mutant(
        "the operator rounds gains up",
        "best_neighbor",
        "(up * units + spare) // down",
        "-(-(up * units + spare) // down)",
        _OPERATOR,
    ),
    Mutant(
        "the operator forgets what must be kept",
        "best_neighbor",
        "min(total, gained, total - kept)",
        "min(total, gained)",
        _OPERATOR,
    ),
    Mutant(
        "a rounded table is used without mending it",
        "mended",
        "check(tried)",
        "pass",
        (
            "test_exact.py::test_random_programs_are_mended_or_refused",
            "test_exact.py::test_noise_of_a_last_digit_is_forgiven",
            "test_exact.py::test_rounding_keeps_totals_and_mixing_keeps_its_promise",
        ),
    ),
    Mutant(
        "a tiny probability becomes impossible on one side",
        "nearest_units",
        "min(max(round(value * total), ...), ...)",
        "round(value * total)",
        ("test_mutants.py::test_what_is_possible_stays_possible",),
    ),
    Mutant(
        "a leaning line gives the other side a unit too many",
        "_leaning",
        "pair.upper(pair.total - here)",
        "pair.upper(pair.total - here) + 1",
        ("test_exact.py::test_leaning_lines_give_the_other_side_all_that_is_left",),
    ),
    Mutant(
        "a loss limit is not a limit",
        "GridGraph.within",
        "moved < loss",
        "True",
        (
            "test_exact.py::test_tables_that_are_not_private_are_refused",
            "test_exact.py::test_loss_is_an_exact_limit",
            "test_mutants.py::test_no_table_farther_than_the_loss_is_certified",
        ),
    ),
)
