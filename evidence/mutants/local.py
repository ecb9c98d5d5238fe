"""Mutants of what runs on people's own devices."""

from __future__ import annotations

from evidence.mutants import Mutant

_UNITS, _DRAWS, _ONE = (
    ("test_collecting.py::test_units_are_private_by_the_definition",),
    ("test_collecting.py::test_draws_follow_the_enumerated_distribution",),
    ("test_collecting.py::test_one_unit_too_many_is_refused",),
)
_PROVED = ("test_mutants.py::test_one_unit_too_many_of_a_table_or_a_hash_is_refused",)
_RANDOMISERS, _ENCODINGS, _COLLECTING, _FILES = (
    "local/randomisers.py",
    "local/encodings.py",
    "local/collecting.py",
    "local/files.py",
)

MUTANTS = (
    Mutant(
        "randomized response rounds the lie down",
        _RANDOMISERS,
        "other = -(-TOTAL * growth.denominator // (growth.numerator + (count - 1) * growth.denominator))",
        "other = TOTAL * growth.denominator // (growth.numerator + (count - 1) * growth.denominator)",
        _UNITS,
    ),
    Mutant(
        "the ratio of randomized response is compared in floats",
        _RANDOMISERS,
        "return whole and self.own <= self.growth * self.other",
        "return whole and float(self.own) <= float(self.growth) * float(self.other)",
        _ONE,
    ),
    Mutant(
        "randomized response tells the truth too often",
        _RANDOMISERS,
        "surplus = np.uint64(self.own - self.other)",
        "surplus = np.uint64(self.own)",
        _DRAWS,
    ),
    Mutant(
        "a table's ratios are not looked at",
        _RANDOMISERS,
        "down * max(column) <= up * min(column)",
        "down * max(column) <= up * max(column)",
        _PROVED,
    ),
    Mutant(
        "a table's ratios are compared in floats",
        _RANDOMISERS,
        "down * max(column) <= up * min(column)",
        "max(column) / min(column) <= up / down",
        _PROVED,
    ),
    Mutant(
        "a table's δ is checked for each answer by itself",
        _RANDOMISERS,
        "sum(max(0, down * a - up * b) for a, b in zip(one, other, strict=True))",
        "max(max(0, down * a - up * b) for a, b in zip(one, other, strict=True))",
        _PROVED,
    ),
    Mutant(
        "a table's δ is checked in one direction only",
        _RANDOMISERS,
        "            for other in rows\n",
        "            for other in rows[: rows.index(one)]\n",
        _PROVED,
    ),
    Mutant(
        "a table's rows need not sum to the total",
        _RANDOMISERS,
        "if any(min(row) < 0 or sum(row) != self.total for row in rows):",
        "if any(min(row) < 0 for row in rows):",
        _PROVED,
    ),
    Mutant(
        "R is believed without looking at ε",
        _RANDOMISERS,
        "if not self.growth >= 1 or not at_most_exp(self.growth, self.epsilon):",
        "if not self.growth >= 1:",
        ("test_mutants.py::test_a_growth_above_the_budget_is_refused",),
    ),
    Mutant(
        "a subset holds the truth one unit too often",
        _ENCODINGS,
        "TOTAL * up // (up + down)",
        "-(-TOTAL * up // (up + down))",
        _UNITS,
    ),
    Mutant(
        "the ratio of subsets is wrong by one member",
        _ENCODINGS,
        "<= self.growth * outside * d\n",
        "<= self.growth * outside * (d + 1)\n",
        _ONE,
    ),
    Mutant(
        "subsets hold the own symbol always",
        _ENCODINGS,
        "holds = sampler.below_many(self.total, len(codes), read) < np.uint64(self.inside)",
        "holds = sampler.below_many(self.total, len(codes), read) < np.uint64(self.total)",
        _DRAWS,
    ),
    Mutant(
        "unary encoding rounds the lie down",
        _ENCODINGS,
        "-(-TOTAL * growth.denominator // (growth.numerator + growth.denominator))",
        "TOTAL * growth.denominator // (growth.numerator + growth.denominator)",
        _UNITS,
    ),
    Mutant(
        "unary encoding tells the truth too often",
        _ENCODINGS,
        "np.uint64(self.total // 2), np.uint64(self.other)",
        "np.uint64(self.total // 4 * 3), np.uint64(self.other)",
        _DRAWS,
    ),
    Mutant(
        "the ratio of hashes is not looked at",
        _ENCODINGS,
        "return whole and self.own <= self.growth * self.other",
        "return whole",
        _PROVED,
    ),
    Mutant(
        "Hadamard response rounds the truth up",
        _ENCODINGS,
        "TOTAL * growth.numerator // (growth.numerator + growth.denominator)",
        "-(-TOTAL * growth.numerator // (growth.numerator + growth.denominator))",
        _UNITS,
    ),
    Mutant(
        "the ratio of Hadamard response forgives a unit",
        _ENCODINGS,
        "<= self.plus <= self.growth * (self.total - self.plus)",
        "<= self.plus <= self.growth * (self.total - self.plus + 1)",
        _ONE,
    ),
    Mutant(
        "a randomiser is run without a proof",
        _COLLECTING,
        "    made.prove()\n",
        "",
        ("test_mutants.py::test_a_randomiser_that_is_not_private_is_never_run",),
    ),
    Mutant(
        "R is a float",
        _COLLECTING,
        "growth = min(growth_below(amount), Fraction(TOTAL))",
        "growth = min(Fraction(amount.growth), Fraction(TOTAL))",
        _UNITS,
    ),
    Mutant(
        "δ is rounded up",
        _COLLECTING,
        "allowed = int(mechanism.exact_delta * TOTAL)",
        "allowed = int(mechanism.exact_delta * TOTAL) + 1",
        ("test_collecting.py::test_delta_is_kept_exactly",),
    ),
    Mutant(
        "an unknown answer is counted as the first symbol",
        _COLLECTING,
        "        return place.get(value, -1)\n",
        "        return place.get(value, 0)\n",
        ("test_collecting.py::test_unknown_values_are_refused_without_naming_them",),
    ),
    Mutant(
        "a refusal shows somebody's answer",
        _COLLECTING,
        "the first at position {int(np.argmax(unknown))}: name",
        "the first is {list(values)[int(np.argmax(unknown))]}: name",
        ("test_collecting.py::test_unknown_values_are_refused_without_naming_them",),
    ),
    Mutant(
        "a file's units are believed",
        _FILES,
        "        randomiser.prove()\n",
        "        pass\n",
        ("test_collecting.py::test_edited_files_are_refused",),
    ),
    Mutant(
        "a file may spend more than its δ",
        _FILES,
        "randomiser.allowed > delta * randomiser.total:",
        "randomiser.allowed > randomiser.total:",
        (
            "test_collecting.py::test_edited_files_are_refused",
            "test_mutants.py::test_a_file_cannot_spend_more_than_its_delta",
        ),
    ),
)
