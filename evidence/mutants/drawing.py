"""Mutants of the dice."""

from __future__ import annotations

from evidence.mutants import Mutant

_SAMPLER = "exact/sampler.py"
_UNIFORM = ("test_sampler.py::test_rejection_is_uniform_for_every_bound",)
_PLACES = ("test_sampler.py::test_every_draw_lands_where_the_table_says",)
_BULK = ("test_sampler.py::test_bulk_draws_follow_the_scalar_rule_on_the_same_bytes",)
_RELEASES = ("test_sampler.py::test_releases_follow_the_row",)

MUTANTS = (
    Mutant(
        "the mask lacks a bit",
        _SAMPLER,
        "size, mask = -(-width // 8), (1 << width) - 1",
        "size, mask = -(-width // 8), (1 << width - 1) - 1",
        _UNIFORM,
    ),
    Mutant(
        "rejection is replaced by a remainder",
        _SAMPLER,
        "        if drawn < bound:\n            return drawn\n",
        "        return drawn % bound\n",
        _UNIFORM,
    ),
    Mutant(
        "the largest number is never drawn",
        _SAMPLER,
        "        if drawn < bound:\n",
        "        if drawn < bound - 1:\n",
        _UNIFORM,
    ),
    Mutant(
        "a prefix sum belongs to the answer before it",
        _SAMPLER,
        "at += step * (drawn >= prefixes[other])",
        "at += step * (drawn > prefixes[other])",
        _PLACES,
    ),
    Mutant(
        "the bisection looks one place too far",
        _SAMPLER,
        "other = min(at + step, len(prefixes)) - 1",
        "other = min(at + step, len(prefixes) - 1)",
        _PLACES,
    ),
    Mutant(
        "bulk draws are not rejected",
        _SAMPLER,
        "    if bound - 1 != int(mask):\n",
        "    if False:\n",
        _BULK,
    ),
    Mutant(
        "bulk draws are rejected once only",
        _SAMPLER,
        "rejected = rejected[drawn[rejected] >= bound]",
        "rejected = rejected[:0]",
        _BULK,
    ),
    Mutant(
        "bulk draws are even numbers only",
        _SAMPLER,
        "mask = np.uint64((1 << (bound - 1).bit_length()) - 1)",
        "mask = np.uint64((1 << (bound - 1).bit_length()) - 2)",
        ("test_mutants.py::test_every_number_below_a_bound_can_be_drawn_in_bulk",),
    ),
    Mutant(
        "a bulk draw of two answers is off by one unit",
        _SAMPLER,
        "np.greater_equal(drawn, steps[:, 0][rows]",
        "np.greater(drawn, steps[:, 0][rows]",
        _PLACES,
    ),
    Mutant(
        "a bulk draw of many answers is off by one unit",
        _SAMPLER,
        "(drawn >= flat[base + out + (step - 1)])",
        "(drawn > flat[base + out + (step - 1)])",
        _PLACES,
    ),
    Mutant(
        "too little entropy is taken as it is",
        _SAMPLER,
        "    if len(data) != size:\n",
        "    if False:\n",
        ("test_sampler.py::test_without_entropy_there_is_no_answer",),
    ),
    Mutant(
        "without entropy, zeros are used",
        _SAMPLER,
        "    except (OSError, NotImplementedError) as error:\n",
        "    except (OSError, NotImplementedError) as error:\n        return bytes(size)\n",
        ("test_sampler.py::test_without_entropy_there_is_no_answer",),
    ),
    Mutant(
        "the dice are loaded",
        _SAMPLER,
        "data = os.urandom(size)",
        "data = bytes(size)",
        _RELEASES,
    ),
    Mutant(
        "the columns of a table are drawn in reverse",
        "exact/certified.py",
        "np.cumsum(self.numerators, axis=1)",
        "np.cumsum(self.numerators[:, ::-1], axis=1)",
        _RELEASES,
    ),
    Mutant(
        "a refusal shows the dataset",
        "exact/certified.py",
        "hangs on to it\n        raise _stranger(self)",
        'hangs on to it\n        raise ParameterError(f"{vertex!r} is not a vertex")',
        ("test_sampler.py::test_a_stranger_is_refused_without_a_word_about_it",),
    ),
)
