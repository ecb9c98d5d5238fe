"""Mutants of where a dataset lies and of the mode question."""

from __future__ import annotations

from evidence.mutants import Mutant

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
        "Line.step",
        "... if self.neighbors == REPLACE else max(self.gain, self.loss)",
        "max(self.gain, self.loss)",
        _REPLACE,
    ),
    Mutant(
        "a row that goes counts like one that comes",
        "Line.step",
        "max(self.gain, self.loss)",
        "max(self.gain, 1)",
        _ADD,
    ),
    Mutant(
        "the score is taken for the distance",
        "Line._reached",
        "self._score(true, false) // self.step",
        "self._score(true, false)",
        _ADD,
    ),
    Mutant(
        "distances are rounded away from the boundary",
        "Line._reached",
        "self._score(true, false) // self.step",
        "-(-self._score(true, false) // self.step)",
        _ADD,
    ),
    Mutant("nobody at all is forgotten", "Line._reached", "min(found, true + false - 1)", "found", _ADD),
    Mutant(
        "counts of groups wrap around",
        "Line.positions",
        "np.int64 if largest < _SAFE else object",
        "np.int64",
        ("test_mutants.py::test_huge_counts_of_groups_do_not_wrap_around",),
    ),
    Mutant(
        "an answer that can be otherwise is called certain",
        "Line.certain",
        "self.n * self.gain < self.bar",
        "self.n * self.gain <= self.bar",
        (*_REPLACE, "test_questions.py::test_the_mechanism_by_position_is_the_optimum_on_the_explicit_graph"),
    ),
    Mutant(
        "each class may have n rows of its own",
        "positions.capped",
        "left -= kept[-1]",
        "",
        ("test_questions.py::test_capping_at_a_declared_number_keeps_neighbours_neighbours",),
    ),
    Mutant(
        "groups are not held to the declared number",
        "Line.positions",
        "false = np.minimum(false, self.n - true)",
        "",
        ("test_questions.py::test_positions_take_any_counts_and_stay_within_a_step",),
    ),
    Mutant(
        "the secret number of rows may be used",
        "require_relation",
        "n is not None",
        "False",
        ("test_questions.py::test_relations_without_sense_are_refused",),
    ),
    Mutant(
        "a refusal prints the counts",
        "positions.require_counts",
        "if sum(numbers[1:]) > counts.rows: ...",
        'if sum(numbers[1:]) > counts.rows: raise ParameterError(f"counts {counts.classes} exceed {counts.rows} rows")',
        ("test_questions.py::test_counts_that_cannot_be_are_refused_without_being_printed",),
    ),
    Mutant(
        "people in no category are not counted with the rest",
        "Histograms.histogram",
        "count + counts.missing if at == self.rest else count",
        "count",
        ("test_questions.py::test_mode_counts_the_rest_where_it_is_told_to",),
    ),
    Mutant(
        "the mode's proof looks at one direction only",
        "certify_rows",
        "(there < least[here]) | (here < least[there])",
        "there < least[here]",
        ("test_mutants.py::test_one_unit_too_little_of_a_mode_is_refused",),
    ),
    Mutant(
        "the mode's proof compares floats",
        "_least_partners",
        "down * distinct[at] < up * weight",
        "distinct[at] / weight < up / down * (1 - 1e-15)",
        (*_CERTIFICATE, "test_mutants.py::test_one_unit_too_little_of_a_mode_is_refused"),
    ),
    Mutant(
        "a coin pays for one change where there are two",
        "certify_coin",
        '1 if neighbors == "add-remove" else 2',
        "1",
        ("test_checkers.py::test_a_coin_that_keeps_too_little_is_refused",),
    ),
    Mutant(
        "people who are missing are left out of a table that is read",
        "_space",
        "histogram_margins(k, people, missing=missing)",
        "histogram_margins(k, people, missing=False)",
        ("test_checkers.py::test_certificates_of_the_mode_survive_a_file",),
    ),
    Mutant(
        "equal margins may have unequal weights",
        "_require_rows",
        "all(row[i] == row[i + 1] for i in ... if ...)",
        "True",
        _CERTIFICATE,
    ),
    Mutant(
        "the mode's q is believed without looking at ε",
        "ModeTable.certify",
        "not at_most_exp(1 / self.q, kept)",
        "False",
        (*_CERTIFICATE, "test_modes.py::test_a_table_that_is_not_private_is_never_drawn_from"),
    ),
    Mutant(
        "a mode is drawn without a proof",
        "ModeTable.draw",
        '"proof" not in self.__dict__',
        "False",
        ("test_modes.py::test_a_table_that_is_not_private_is_never_drawn_from",),
    ),
    Mutant(
        "counts that do not sum to n are looked up all the same",
        "ModeTable.row",
        "people is not None and not ...",
        "False",
        ("test_modes.py::test_counts_must_fit_the_public_number",),
    ),
    Mutant(
        "margins beyond the ceiling are taken to be at it",
        "_lifts",
        "product(range(3), repeat=len(moving))",
        "product(range(1), repeat=len(moving))",
        _MOVES,
    ),
    Mutant("somebody in no category never enters one", "_exchanges", "space.missing", "False", _MOVES),
    Mutant(
        "the coin is a float",
        "retention",
        "1 / growth_below(epsilon, _PLACES)",
        "Fraction(1 / float(growth_below(epsilon, _PLACES)))",
        ("test_modes.py::test_retention_is_never_below_the_exponential",),
    ),
    Mutant(
        "a change of category is charged half of what it costs",
        "retention",
        "epsilon.value / 2",
        "epsilon.value",
        (
            "test_modes.py::test_retention_is_never_below_the_exponential",
            "test_modes.py::test_coins_of_half_the_budget",
        ),
    ),
    Mutant(
        "a coin decides before it knows",
        "power_coin",
        "drawn < low",
        "drawn <= low",
        ("test_modes.py::test_power_coin_over_every_draw",),
    ),
    Mutant(
        "the order of the categories is biased",
        "_shuffled",
        "below(last + 1)",
        "below(last)",
        ("test_modes.py::test_sampler_over_every_draw",),
    ),
    Mutant(
        "rows may end in a carriage return alone",
        "text_files.header",
        'ending == b"\\r"',
        "False",
        ("test_sources.py::test_a_header_that_ends_in_a_carriage_return_alone_is_refused_before_the_charge",),
    ),
)
