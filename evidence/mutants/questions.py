"""Mutants of where a dataset lies and of the mode question."""

from __future__ import annotations

from evidence.mutants import Mutant

_FAMILIES, _MODES = "questions/families.py", "questions/modes/"
_REPLACE = ("test_questions.py::test_replace_positions_are_the_distances_on_the_explicit_graph",)
_ADD = ("test_questions.py::test_add_remove_positions_are_the_distances_on_the_explicit_graph",)
_MANY = ("test_questions.py::test_positions_of_many_groups_are_the_positions_of_each",)
_CERTIFICATE = (
    "test_modes.py::test_certificate_agrees_with_the_literal_check",
    "test_modes.py::test_a_table_that_was_tampered_with_is_refused",
)
_MOVES = ("test_modes.py::test_moves_are_exactly_those_of_all_datasets",)

MUTANTS = (
    Mutant(
        "a replaced row counts as one change instead of two",
        _FAMILIES,
        "return self.gain + self.loss if self.neighbors == REPLACE else max(self.gain, self.loss)",
        "return max(self.gain, self.loss)",
        _REPLACE,
    ),
    Mutant(
        "a row that goes counts like one that comes",
        _FAMILIES,
        "else max(self.gain, self.loss)",
        "else max(self.gain, 1)",
        _ADD,
    ),
    Mutant(
        "the score is taken for the distance",
        _FAMILIES,
        "found: int = self._score(true, false) // self.step",
        "found: int = self._score(true, false)",
        _ADD,
    ),
    Mutant(
        "distances are rounded away from the boundary",
        _FAMILIES,
        "found: int = self._score(true, false) // self.step",
        "found: int = -(-self._score(true, false) // self.step)",
        _ADD,
    ),
    Mutant(
        "nobody at all is forgotten",
        _FAMILIES,
        "        return min(found, true + false - 1)  # when",
        "        return found  # when",
        _ADD,
    ),
    Mutant(
        "counts of groups wrap around",
        _FAMILIES,
        "counts.astype(np.int64 if largest < _SAFE else object)",
        "counts.astype(np.int64)",
        ("test_mutants.py::test_huge_counts_of_groups_do_not_wrap_around",),
    ),
    Mutant(
        "an answer that can be otherwise is called certain",
        _FAMILIES,
        "if self.n is not None and self.n * self.gain < self.bar:",
        "if self.n is not None and self.n * self.gain <= self.bar:",
        (*_REPLACE, "test_questions.py::test_the_mechanism_by_position_is_the_optimum_on_the_explicit_graph"),
    ),
    Mutant(
        "the public number of rows may be a lie",
        _FAMILIES,
        "    if n is not None and counts.rows != n:\n",
        "    if False:\n",
        ("test_questions.py::test_counts_that_cannot_be_are_refused_without_being_printed",),
    ),
    Mutant(
        "the secret number of rows may be used",
        _FAMILIES,
        '        if n is not None:\n            raise ParameterError("n is secret',
        '        if False:\n            raise ParameterError("n is secret',
        ("test_questions.py::test_relations_without_sense_are_refused",),
    ),
    Mutant(
        "a refusal prints the counts",
        _FAMILIES,
        '"counts must not have more rows in the classes than there are rows"',
        'f"counts {counts.classes} exceed {counts.rows} rows"',
        ("test_questions.py::test_counts_that_cannot_be_are_refused_without_being_printed",),
    ),
    Mutant(
        "people in no category are not counted with the rest",
        _FAMILIES,
        "count + counts.missing if at == self.rest else count",
        "count",
        ("test_questions.py::test_mode_counts_the_rest_where_it_is_told_to",),
    ),
    Mutant(
        "the mode's proof looks at one direction only",
        _MODES + "certificate.py",
        "broken = (there < least[here]) | (here < least[there])",
        "broken = there < least[here]",
        ("test_mutants.py::test_one_unit_too_little_of_a_mode_is_refused",),
    ),
    Mutant(
        "the mode's proof compares floats",
        _MODES + "certificate.py",
        "while down * distinct[at] < up * weight:",
        "while distinct[at] / weight < up / down * (1 - 1e-15):",
        (*_CERTIFICATE, "test_mutants.py::test_one_unit_too_little_of_a_mode_is_refused"),
    ),
    Mutant(
        "equal margins may have unequal weights",
        _MODES + "certificate.py",
        "all(row[i] == row[i + 1] for i in range(space.k - 1) if margins[i] == margins[i + 1])",
        "True",
        _CERTIFICATE,
    ),
    Mutant(
        "the mode's q is believed without looking at ε",
        _MODES + "table.py",
        "        if not at_most_exp(1 / self.q, kept):\n",
        "        if False:\n",
        (*_CERTIFICATE, "test_modes.py::test_a_table_that_is_not_private_is_never_drawn_from"),
    ),
    Mutant(
        "a mode is drawn without a proof",
        _MODES + "table.py",
        '        if "proof" not in self.__dict__:\n',
        "        if False:\n",
        ("test_modes.py::test_a_table_that_is_not_private_is_never_drawn_from",),
    ),
    Mutant(
        "counts that do not sum to n are looked up all the same",
        _MODES + "table.py",
        "if people is not None and not (sum(whole) == people or (self.space.missing and sum(whole) < people)):",
        "if False:",
        ("test_modes.py::test_counts_must_fit_the_public_number",),
    ),
    Mutant(
        "margins beyond the ceiling are taken to be at it",
        _MODES + "margins.py",
        "for own in product(range(3), repeat=len(moving)):",
        "for own in product(range(1), repeat=len(moving)):",
        _MOVES,
    ),
    Mutant(
        "somebody in no category never enters one",
        _MODES + "margins.py",
        "    if space.missing:\n        yield from",
        "    if False:\n        yield from",
        _MOVES,
    ),
    Mutant(
        "the coin is a float",
        _MODES + "coins.py",
        "        return 1 / growth_below(epsilon, _PLACES)\n",
        "        return Fraction(1 / float(growth_below(epsilon, _PLACES)))\n",
        ("test_modes.py::test_retention_is_never_below_the_exponential",),
    ),
    Mutant(
        "a change of category is charged half of what it costs",
        _MODES + "coins.py",
        "Amount(epsilon.value / 2)",
        "Amount(epsilon.value)",
        (
            "test_modes.py::test_retention_is_never_below_the_exponential",
            "test_modes.py::test_coins_of_half_the_budget",
        ),
    ),
    Mutant(
        "a coin decides before it knows",
        _MODES + "coins.py",
        "        if drawn < low:",
        "        if drawn <= low:",
        ("test_modes.py::test_power_coin_over_every_draw",),
    ),
    Mutant(
        "the order of the categories is biased",
        _MODES + "permute_and_flip.py",
        "other = below(last + 1)",
        "other = below(last)",
        ("test_modes.py::test_sampler_over_every_draw",),
    ),
)
