"""Mutants of noise for counts, of the questions with numbers for answers, and of what follows from them."""

from __future__ import annotations

from evidence.mutants import Mutant

_WEIGHTS = ("test_counts.py::test_weights_are_private_in_both_directions_and_use_every_unit",)
_ALIAS = ("test_counts.py::test_an_alias_table_gives_every_number_exactly_its_units",)
_TABLE = ("test_counts.py::test_a_table_is_drawn_from_exactly_one_by_one_and_many_at_once",)
_GEOMETRIC = ("test_counts.py::test_geometric_noise_has_exactly_its_probabilities",)
_CELLS = ("test_counts.py::test_the_cells_that_decide_lie_whole_within_their_number",)
_CERTIFIED = ("test_counts.py::test_noise_that_is_not_private_cannot_be_certified",)
_ACCEPTED = ("test_counts.py::test_both_checkers_accept_every_certificate_and_it_reads_back",)
_CHANGES = ("test_counts.py::test_one_person_changes_no_more_numbers_than_the_question_says_each_by_one",)
_SELECTION = ("test_counts.py::test_groups_are_shown_as_often_as_the_optimal_selection_shows_them",)
_FOLLOWING = ("test_following.py::test_what_follows_from_the_true_number_is_the_true_answer",)
_POPULATION = ("test_counts.py::test_bounds_for_the_population_cover_the_sample_and_the_noise",)

MUTANTS = (
    Mutant("every weight is as large as it may be", "_tail", "min(most, max(least, before))", "most", _WEIGHTS),
    Mutant(
        "what the first weight takes of D is counted twice",
        "_tail",
        "growth if at else growth - 1",
        "growth",
        _WEIGHTS,
    ),
    Mutant(
        "noise is proved against itself, not moved",
        "prove_noise",
        "[[*weights, 0], [0, *weights]]",
        "[[*weights, 0], [*weights, 0]]",
        _CERTIFIED,
    ),
    Mutant(
        "two numbers that change count as one",
        "NoiseCertificate._require_growth",
        "growth**self.changes",
        "growth",
        _CERTIFIED,
    ),
    Mutant(
        "two numbers share delta once each",
        "count_noise",
        "privacy.exact_delta / changes",
        "privacy.exact_delta",
        _ACCEPTED,
    ),
    Mutant(
        "groups without anybody may be shown",
        "selecting_weights",
        "return -len(weights), weights",
        "return 1 - len(weights), weights",
        _SELECTION,
    ),
    Mutant(
        "a column of many draws is off by one unit",
        "AliasTable.draw",
        "units >= self.bounds[place]",
        "units > self.bounds[place]",
        _ALIAS,
    ),
    Mutant(
        "an alias takes a unit too few", "AliasTable.of", "column - left[small]", "column - left[small] - 1", _ALIAS
    ),
    Mutant("noise begins one too high", "TableNoise.draw", "self.first + ...", "self.first + 1 + ...", _TABLE),
    Mutant(
        "a cell that a bound cuts is taken as decided",
        "GeometricNoise._decided",
        "distance + 1 <= self._bounds(sure + (1 << at), bits)[0]",
        "distance < self._bounds(sure + (1 << at), bits)[1]",
        _GEOMETRIC,
    ),
    Mutant(
        "cells that are cut go to the number beside them",
        "_Cells.of",
        "max(0, top - ceiling)",
        "max(0, top - floor)",
        _CELLS,
    ),
    Mutant(
        "whoever changes category changes one number",
        "Histogram.changes",
        "super().changes(neighbors) + (neighbors == REPLACE)",
        "super().changes(neighbors)",
        _CHANGES,
    ),
    Mutant(
        "a margin is asked of people who change sides",
        "Margin.changes",
        "neighbors != ADD_REMOVE",
        "False",
        ("test_counts.py::test_what_cannot_be_asked_is_refused_before_a_charge",),
    ),
    Mutant(
        "noise is cut before it is added",
        "NumberDesign.noisy",
        "max(-LARGEST, min(int(number), LARGEST))",
        "int(number)",
        ("test_counts.py::test_noise_beyond_every_count_is_cut_after_it_was_added",),
    ),
    Mutant(
        "the numbers that top shows hold each on its own",
        "number_designs.together",
        "not isinstance(question, Top)",
        "True",
        ("test_counts.py::test_of_top_all_numbers_hold_together",),
    ),
    Mutant(
        "bounds for the population forget the sample's other side",
        "ShareBounds.around",
        "1.0 - ...",
        "1.0 - 2 * ...",
        _POPULATION,
    ),
    Mutant(
        "what follows is read off any request with such words",
        "with_ledger.recalled",
        "found is None",
        "False",
        ("test_following.py::test_the_words_of_an_entry_do_not_decide_what_follows",),
    ),
    Mutant(
        "a threshold that is just reached is missed", "following._read", "stored >= bar", "stored > bar", _FOLLOWING
    ),
    Mutant(
        "exists follows from a noisy count",
        "following._read",
        "not isinstance(question, Weighted) or isinstance(question, Exists)",
        "not isinstance(question, Weighted)",
        ("test_following.py::test_what_does_not_follow_is_refused_with_the_reason",),
    ),
)
