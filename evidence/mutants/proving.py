"""Mutants of the certificate, of the table that proves itself, and of the float checks."""

from __future__ import annotations

from evidence.mutants import Mutant

_PROOF = ("test_certificate.py::test_the_proof_agrees_with_the_definition_of_privacy",)
_TABLE = ("test_certificate.py::test_what_is_no_table_is_not_proved",)
_GROWTH = ("test_certificate.py::test_growth_is_compared_with_the_exponential_exactly",)
_EVENTS = ("test_verification.py::test_least_epsilon_delta_and_profile_equal_enumeration_of_events",)
_TOLERANCE = ("test_verification.py::test_tolerance_is_honoured_and_reported",)

MUTANTS = (
    Mutant("the proof looks at one direction only", "prove", "((u, v), (v, u))", "((u, v),)", _PROOF),
    Mutant("the proof looks at the other direction only", "prove", "((u, v), (v, u))", "((v, u),)", _PROOF),
    Mutant("the proof forgives one unit", "prove", "excess > allowed * down", "excess > (allowed + 1) * down", _PROOF),
    Mutant(
        "the proof compares floats with a tolerance",
        "prove",
        "excess > allowed * down",
        "excess > allowed * down + 1e-9 * down * total",
        _PROOF,
    ),
    Mutant(
        "the proof takes the worst answer instead of the sum over answers",
        "prove",
        "excess += over",
        "excess = max(excess, over)",
        _PROOF,
    ),
    Mutant("the proof rounds R up", "prove", "up * theirs", "(up + 1) * theirs", _PROOF),
    Mutant(
        "the proof skips the last edge",
        "prove",
        "enumerate(edges, start=1)",
        "enumerate(list(edges)[:-1], start=1)",
        _PROOF,
    ),
    Mutant("the proof holds every edge to the first budget", "prove", "limits[number]", "limits[0]", _PROOF),
    Mutant(
        "the proof rounds δN up",
        "_limits",
        "term.delta.numerator * total // term.delta.denominator",
        "-(-term.delta.numerator * total // term.delta.denominator)",
        _PROOF,
    ),
    Mutant("the proof accepts rows that sum to less", "require_rows", "sum(row) != total", "sum(row) > total", _TABLE),
    Mutant(
        "the proof accepts negative units",
        "require_rows",
        "type(entry) is not int or entry < 0",
        "type(entry) is not int",
        _TABLE,
    ),
    Mutant(
        "the proof accepts units that are floats or truth values",
        "require_rows",
        "type(entry) is not int or entry < 0",
        "entry < 0",
        _TABLE,
    ),
    Mutant("the proof accepts a δ of one", "_limits", "0 <= term.delta < 1", "0 <= term.delta <= 1", _TABLE),
    Mutant(
        "the proof believes R without looking at ε",
        "_limits",
        "not at_most_exp(term.growth, term.epsilon)",
        "False",
        _TABLE + _PROOF,
    ),
    Mutant(
        "R is compared with e^ε in floats",
        "at_most_exp",
        "places = 128",
        "return float(growth) <= 2.718281828459045 ** float(value)\nplaces = 128",
        _GROWTH,
    ),
    Mutant(
        "R is compared with a bound above e^ε",
        "at_most_exp",
        "low * growth.denominator",
        "high * growth.denominator",
        _GROWTH,
    ),
    Mutant(
        "the lower bound of e^ε is squared upwards",
        "_around_exp",
        "low * low >> places",
        "-(-low * low >> places) + 1",
        _GROWTH,
    ),
    Mutant(
        "R may exceed a logarithm's argument a little",
        "at_most_exp",
        "growth <= value",
        "growth <= value * (1 + Fraction(1, 10**9))",
        _GROWTH,
    ),
    Mutant(
        "numbers in certificates have several spellings",
        "parse_rational",
        "str(value) != text",
        "False",
        ("test_certificate.py::test_rationals_have_one_spelling",),
    ),
    Mutant(
        "a table is called certified without a proof",
        "Certified.__post_init__",
        "check(self, progress=self.progress)",
        "Proof(len(self.vertices), len(self.ends), 2, self.denominator, self.terms)",
        ("test_certificate.py::test_a_certified_table_proves_itself_when_it_is_made",),
    ),
    Mutant(
        "a graph in pieces is called one",
        "Certified.__post_init__",
        "self.proof.pieces != self.pieces",
        "False",
        ("test_certificate.py::test_pieces_are_counted_and_must_be_confirmed",),
    ),
    Mutant(
        "pieces are joined by any edge",
        "count_pieces",
        "if u != v: ...",
        "if True: ...",
        ("test_certificate.py::test_pieces_are_counted_and_must_be_confirmed",),
    ),
    Mutant(
        "budgets may be listed twice",
        "distinct",
        "same.setdefault(term, at)",
        "at",
        ("test_certificate.py::test_a_table_lists_each_budget_once",),
    ),
    Mutant(
        "any graph may claim to stand for a whole line",
        "Certified.__post_init__",
        "self.clamped and not self._is_line()",
        "False",
        ("test_certificate.py::test_parts_that_do_not_fit_together_are_refused",),
    ),
    Mutant(
        "a certificate may be spelled in another way",
        "require_spelling",
        "text != again",
        "False",
        ("test_certificate.py::test_other_spellings_are_refused",),
    ),
    Mutant(
        "a certificate's edges may be left out of the file",
        "_ends",
        "np.array(edges, np.int32)",
        "np.array(edges[1:], np.int32)",
        ("test_certificate.py::test_certificates_survive_a_file",),
    ),
    Mutant(
        "verify looks at one direction only",
        "verify",
        "search.look_at(rows, columns, entries)",
        "one = rows < columns\nsearch.look_at(rows[one], columns[one], entries[one])",
        _EVENTS,
    ),
    Mutant(
        "verify's tolerance is absolute",
        "_keeps",
        "shift * slack",
        "shift * slack + tolerance",
        _TOLERANCE,
    ),
    Mutant(
        "verify forgives a thousandth",
        "_keeps",
        "1.0 + tolerance",
        "1.001 + tolerance",
        _TOLERANCE,
    ),
    Mutant(
        "verify is content if any edge is private",
        "_WorstEdge.look_at",
        "kept.all()",
        "kept.any()",
        _EVENTS,
    ),
    Mutant(
        "verify takes the worst answer instead of the sum over answers",
        "excess",
        "np.maximum(...).sum(...)",
        "np.maximum(...).max(...)",
        _EVENTS,
    ),
    Mutant(
        "verify forgets answers that only one side can give",
        "_needed_epsilon",
        "beyond > below",
        "(beyond > below) & (below > 0)",
        ("test_verification.py::test_a_zero_on_one_side_only_is_an_infinite_epsilon",),
    ),
    Mutant(
        "verify looks at single answers instead of events",
        "_needed_epsilon",
        "here.shape[1] == 2",
        "here.shape[1] >= 2",
        _EVENTS,
    ),
)
