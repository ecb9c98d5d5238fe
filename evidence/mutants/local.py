"""Mutants of what runs on people's own devices."""

from __future__ import annotations

from evidence.mutants import Mutant

_UNITS, _DRAWS, _ONE = (
    ("test_collecting.py::test_units_are_private_by_the_definition",),
    ("test_collecting.py::test_draws_follow_the_enumerated_distribution",),
    ("test_collecting.py::test_one_unit_too_many_is_refused",),
)
_REVEALED = ("test_local_delta.py::test_one_unit_too_many_revealed_is_refused",)
_PROVED = ("test_mutants.py::test_one_unit_too_many_of_a_table_or_a_hash_is_refused",)

MUTANTS = (
    Mutant(
        "randomized response rounds the lie down",
        "randomized_response",
        "-(-TOTAL * growth.denominator // (growth.numerator + (count - 1) * growth.denominator))",
        "TOTAL * growth.denominator // (growth.numerator + (count - 1) * growth.denominator)",
        _UNITS,
    ),
    Mutant(
        "the ratio of randomized response is compared in floats",
        "keeps_ratio",
        "0 < other <= own <= growth * other",
        "0 < other <= own and float(own) <= float(growth) * float(other)",
        _ONE,
    ),
    Mutant(
        "randomized response tells the truth too often",
        "randomized_response",
        "np.uint64(own - other)",
        "np.uint64(own)",
        _DRAWS,
    ),
    Mutant("a table's ratios are not looked at", "TableRandomiser._keeps_ratio", "min(column)", "max(column)", _PROVED),
    Mutant(
        "a table's ratios are compared in floats",
        "TableRandomiser._keeps_ratio",
        "down * max(column) <= up * min(column)",
        "max(column) / min(column) <= up / down",
        _PROVED,
    ),
    Mutant(
        "a table's δ is checked for each answer by itself",
        "TableRandomiser._keeps_ratio",
        "sum(... for a, b in ...)",
        "max(... for a, b in ...)",
        _PROVED,
    ),
    Mutant(
        "a table's δ is checked in one direction only",
        "TableRandomiser._keeps_ratio",
        "all(... for one in rows for other in rows)",
        "all(... for one in rows for other in rows[: rows.index(one)])",
        _PROVED,
    ),
    Mutant(
        "a table's rows need not sum to the total",
        "TableRandomiser._keeps_ratio",
        "min(row) < 0 or sum(row) != self.total",
        "min(row) < 0",
        _PROVED,
    ),
    Mutant(
        "R is believed without looking at ε",
        "Randomiser.prove",
        "not self.growth >= 1 or not at_most_exp(self.growth, self.epsilon)",
        "not self.growth >= 1",
        ("test_mutants.py::test_a_growth_above_the_budget_is_refused",),
    ),
    Mutant(
        "a subset holds the truth one unit too often",
        "SubsetChannel.in_units",
        "TOTAL * up // (up + down)",
        "-(-TOTAL * up // (up + down))",
        _UNITS,
    ),
    Mutant(
        "a symbol may be revealed more often than δ says",
        "RevealRandomiser._keeps_ratio",
        "0 <= self.reveal <= self.allowed",
        "0 <= self.reveal",
        _REVEALED,
    ),
    Mutant(
        "what is revealed is not taken from the cells' units",
        "RevealRandomiser._keeps_ratio",
        "self.total - self.reveal",
        "self.own + (self.count - 1) * self.other",
        _REVEALED,
    ),
    Mutant(
        "a symbol is revealed twice as often",
        "RevealRandomiser.draw_batch",
        "drawn < kept",
        "drawn < kept + kept",
        ("test_local_delta.py::test_one_draw_reveals_or_answers",),
    ),
    Mutant(
        "the ratio of subsets is wrong by one member",
        "SubsetRandomiser._keeps_ratio",
        "self.growth * outside * d",
        "self.growth * outside * (d + 1)",
        _ONE,
    ),
    Mutant("subsets hold the own symbol always", "SubsetRandomiser.draw_batch", "self.inside", "self.total", _DRAWS),
    Mutant(
        "unary encoding rounds the lie down",
        "UnaryChannel.in_units",
        "-(-TOTAL * growth.denominator // ...)",
        "TOTAL * growth.denominator // ...",
        _UNITS,
    ),
    Mutant(
        "unary encoding tells the truth too often",
        "UnaryRandomiser.draw_batch",
        "self.total // 2",
        "self.total // 4 * 3",
        _DRAWS,
    ),
    Mutant(
        "the ratio of hashes is not looked at",
        "HashRandomiser._keeps_ratio",
        "return keeps_ratio(self.buckets, self.own, self.other, self.total, self.growth)",
        "return self.own + (self.buckets - 1) * self.other == self.total",
        _PROVED,
    ),
    Mutant(
        "Hadamard response rounds the truth up",
        "HadamardChannel.in_units",
        "TOTAL * growth.numerator // ...",
        "-(-TOTAL * growth.numerator // ...)",
        _UNITS,
    ),
    Mutant(
        "the ratio of Hadamard response forgives a unit",
        "HadamardRandomiser._keeps_ratio",
        "self.growth * (self.total - self.plus)",
        "self.growth * (self.total - self.plus + 1)",
        _ONE,
    ),
    Mutant(
        "a randomiser is run without a proof",
        "LocalMechanism",
        "made.prove()",
        "",
        ("test_mutants.py::test_a_randomiser_that_is_not_private_is_never_run",),
    ),
    Mutant("R is a float", "LocalBudget", "growth_below(self.exact)", "Fraction(self.growth)", _UNITS),
    Mutant(
        "δ is rounded up",
        "written_out_table",
        "int(terms.delta * TOTAL)",
        "int(terms.delta * TOTAL) + 1",
        ("test_collecting.py::test_delta_is_kept_exactly",),
    ),
    Mutant(
        "an unknown answer is counted as the first symbol",
        "_lookup",
        "place.get(value, -1)",
        "place.get(value, 0)",
        ("test_collecting.py::test_unknown_values_are_refused_without_naming_them",),
    ),
    Mutant(
        "a refusal shows somebody's answer",
        "codes_of",
        "int(np.argmax(unknown))",
        "list(values)[int(np.argmax(unknown))]",
        ("test_collecting.py::test_unknown_values_are_refused_without_naming_them",),
    ),
    Mutant(
        "a file's units are believed",
        "_mechanism",
        "randomiser.prove()",
        "pass",
        ("test_collecting.py::test_edited_files_are_refused",),
    ),
    Mutant(
        "a file may spend more than its δ",
        "_mechanism",
        "delta * randomiser.total",
        "randomiser.total",
        (
            "test_collecting.py::test_edited_files_are_refused",
            "test_mutants.py::test_a_file_cannot_spend_more_than_its_delta",
        ),
    ),
)
