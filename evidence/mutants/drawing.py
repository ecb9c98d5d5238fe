"""Mutants of the dice."""

from __future__ import annotations

from evidence.mutants import Mutant

_UNIFORM = ("test_sampler.py::test_rejection_is_uniform_for_every_bound",)
_PLACES = ("test_sampler.py::test_every_draw_lands_where_the_table_says",)
_BULK = ("test_sampler.py::test_bulk_draws_follow_the_scalar_rule_on_the_same_bytes",)
_RELEASES = ("test_sampler.py::test_releases_follow_the_row",)

MUTANTS = (
    Mutant("the mask lacks a bit", "below", "1 << width", "1 << width - 1", _UNIFORM),
    Mutant(
        "rejection is replaced by a remainder",
        "below",
        "if drawn < bound:\n    return drawn",
        "return drawn % bound",
        _UNIFORM,
    ),
    Mutant("the largest number is never drawn", "below", "drawn < bound", "drawn < bound - 1", _UNIFORM),
    Mutant(
        "a prefix sum belongs to the answer before it",
        "place",
        "drawn >= prefixes[other]",
        "drawn > prefixes[other]",
        _PLACES,
    ),
    Mutant(
        "the bisection looks one place too far",
        "place",
        "min(at + step, len(prefixes)) - 1",
        "min(at + step, len(prefixes) - 1)",
        _PLACES,
    ),
    Mutant("bulk draws are not rejected", "below_many", "bound - 1 != int(mask)", "False", _BULK),
    Mutant(
        "bulk draws are rejected once only", "below_many", "rejected[drawn[rejected] >= bound]", "rejected[:0]", _BULK
    ),
    Mutant(
        "bulk draws are even numbers only",
        "below_many",
        "(1 << (bound - 1).bit_length()) - 1",
        "(1 << (bound - 1).bit_length()) - 2",
        ("test_mutants.py::test_every_number_below_a_bound_can_be_drawn_in_bulk",),
    ),
    Mutant(
        "a bulk draw of two answers is off by one unit",
        "_place_many",
        "np.greater_equal(...)",
        "np.greater(...)",
        _PLACES,
    ),
    Mutant(
        "a bulk draw of many answers is off by one unit",
        "_place_many",
        "drawn >= flat[base + out + (step - 1)]",
        "drawn > flat[base + out + (step - 1)]",
        _PLACES,
    ),
    Mutant(
        "too little entropy is taken as it is",
        "entropy",
        "len(data) != size",
        "False",
        ("test_sampler.py::test_without_entropy_there_is_no_answer",),
    ),
    Mutant(
        "without entropy, zeros are used",
        "entropy",
        "raise TinctError(...) from None",
        "return bytes(size)\nraise TinctError(...) from None",
        ("test_sampler.py::test_without_entropy_there_is_no_answer",),
    ),
    Mutant("the dice are loaded", "entropy", "os.urandom(size)", "bytes(size)", _RELEASES),
    Mutant(
        "the columns of a table are drawn in reverse",
        "Certified.prefixes",
        "self.numerators",
        "self.numerators[:, ::-1]",
        _RELEASES,
    ),
    Mutant(
        "a refusal shows the dataset",
        "Certified._position",
        "_stranger(self)",
        'ParameterError(f"{vertex!r} is not a vertex")',
        ("test_sampler.py::test_a_stranger_is_refused_without_a_word_about_it",),
    ),
)
