"""Mutants of the certificate, of the table that proves itself, and of the float checks."""

from __future__ import annotations

from evidence.mutants import Mutant

_PROOF = ("test_certificate.py::test_the_proof_agrees_with_the_definition_of_privacy",)
_TABLE = ("test_certificate.py::test_what_is_no_table_is_not_proved",)
_GROWTH = ("test_certificate.py::test_growth_is_compared_with_the_exponential_exactly",)
_EVENTS = ("test_verification.py::test_least_epsilon_delta_and_profile_equal_enumeration_of_events",)
_TOLERANCE = ("test_verification.py::test_tolerance_is_honoured_and_reported",)

_CERTIFICATE, _VERIFICATION = "exact/certificate.py", "verification.py"

MUTANTS = (
    Mutant(
        "the proof looks at one direction only",
        _CERTIFICATE,
        "for one, other in ((u, v), (v, u)):",
        "for one, other in ((u, v),):",
        _PROOF,
    ),
    Mutant(
        "the proof looks at the other direction only",
        _CERTIFICATE,
        "for one, other in ((u, v), (v, u)):",
        "for one, other in ((v, u),):",
        _PROOF,
    ),
    Mutant(
        "the proof forgives one unit",
        _CERTIFICATE,
        "if excess > allowed * down:",
        "if excess > (allowed + 1) * down:",
        _PROOF,
    ),
    Mutant(
        "the proof compares floats with a tolerance",
        _CERTIFICATE,
        "if excess > allowed * down:",
        "if excess > allowed * down + 1e-9 * down * total:",
        _PROOF,
    ),
    Mutant(
        "the proof takes the worst answer instead of the sum over answers",
        _CERTIFICATE,
        "                    excess += over",
        "                    excess = max(excess, over)",
        _PROOF,
    ),
    Mutant(
        "the proof rounds R up",
        _CERTIFICATE,
        "over = down * mine - up * theirs",
        "over = down * mine - (up + 1) * theirs",
        _PROOF,
    ),
    Mutant(
        "the proof skips the last edge",
        _CERTIFICATE,
        "enumerate(edges, start=1)",
        "enumerate(list(edges)[:-1], start=1)",
        _PROOF,
    ),
    Mutant(
        "the proof holds every edge to the first budget",
        _CERTIFICATE,
        "up, down, allowed = limits[number]",
        "up, down, allowed = limits[0]",
        _PROOF,
    ),
    Mutant(
        "the proof rounds δN up",
        _CERTIFICATE,
        "term.delta.numerator * total // term.delta.denominator",
        "-(-term.delta.numerator * total // term.delta.denominator)",
        _PROOF,
    ),
    Mutant(
        "the proof accepts rows that sum to less",
        _CERTIFICATE,
        "or sum(row) != total:",
        "or sum(row) > total:",
        _TABLE,
    ),
    Mutant(
        "the proof accepts negative units",
        _CERTIFICATE,
        "type(entry) is not int or entry < 0",
        "type(entry) is not int",
        _TABLE,
    ),
    Mutant(
        "the proof accepts units that are floats or truth values",
        _CERTIFICATE,
        "type(entry) is not int or entry < 0",
        "entry < 0",
        _TABLE,
    ),
    Mutant(
        "the proof accepts a δ of one",
        _CERTIFICATE,
        "if not 0 <= term.delta < 1:",
        "if not 0 <= term.delta <= 1:",
        _TABLE,
    ),
    Mutant(
        "the proof believes R without looking at ε",
        _CERTIFICATE,
        "if not at_most_exp(term.growth, term.epsilon):",
        "if False:",
        _TABLE + _PROOF,
    ),
    Mutant(
        "R is compared with e^ε in floats",
        _CERTIFICATE,
        "    places = 128\n",
        "    return float(growth) <= 2.718281828459045 ** float(value)\n    places = 128\n",
        _GROWTH,
    ),
    Mutant(
        "R is compared with a bound above e^ε",
        _CERTIFICATE,
        "<= low * growth.denominator:",
        "<= high * growth.denominator:",
        _GROWTH,
    ),
    Mutant(
        "the lower bound of e^ε is squared upwards",
        _CERTIFICATE,
        "low, high = low * low >> places,",
        "low, high = -(-low * low >> places) + 1,",
        _GROWTH,
    ),
    Mutant(
        "R may exceed a logarithm's argument a little",
        _CERTIFICATE,
        "        return growth <= value\n",
        "        return growth <= value * (1 + Fraction(1, 10**9))\n",
        _GROWTH,
    ),
    Mutant(
        "numbers in certificates have several spellings",
        _CERTIFICATE,
        "    if str(value) != text:",
        "    if False:",
        ("test_certificate.py::test_rationals_have_one_spelling",),
    ),
    Mutant(
        "a table is called certified without a proof",
        "exact/certified.py",
        'object.__setattr__(self, "proof", check(self, progress=self.progress))',
        'object.__setattr__(self, "proof", Proof(len(self.vertices), len(self.ends), 2, self.denominator, self.terms))',
        ("test_certificate.py::test_a_certified_table_proves_itself_when_it_is_made",),
    ),
    Mutant(
        "any graph may claim to stand for a whole line",
        "exact/certified.py",
        "if self.clamped and not self._is_line():",
        "if False:",
        ("test_certificate.py::test_parts_that_do_not_fit_together_are_refused",),
    ),
    Mutant(
        "a certificate may be spelled in another way",
        "exact/files.py",
        "    if text != _text(certified):",
        "    if False:",
        ("test_certificate.py::test_other_spellings_are_refused",),
    ),
    Mutant(
        "a certificate's edges may be left out of the file",
        "exact/files.py",
        "    return np.array(edges, np.int32).reshape(-1, 2)",
        "    return np.array(edges[1:], np.int32).reshape(-1, 2)",
        ("test_certificate.py::test_certificates_survive_a_file",),
    ),
    Mutant(
        "verify looks at one direction only",
        _VERIFICATION,
        "        search.look_at(rows, columns, entries)\n",
        "        one = rows < columns\n        search.look_at(rows[one], columns[one], entries[one])\n",
        _EVENTS,
    ),
    Mutant(
        "verify's tolerance is absolute",
        _VERIFICATION,
        "<= delta * slack).all()",
        "<= delta * slack + self.tolerance).all()",
        _TOLERANCE,
    ),
    Mutant(
        "verify forgives a thousandth",
        _VERIFICATION,
        "slack = 1.0 + self.tolerance",
        "slack = 1.001 + self.tolerance",
        _TOLERANCE,
    ),
    Mutant(
        "verify is content if any edge is private",
        _VERIFICATION,
        "<= delta * slack).all())",
        "<= delta * slack).any())",
        _EVENTS,
    ),
    Mutant(
        "verify takes the worst answer instead of the sum over answers",
        _VERIFICATION,
        "np.maximum(0.0, here - scaled).sum(axis=1)",
        "np.maximum(0.0, here - scaled).max(axis=1)",
        _EVENTS,
    ),
    Mutant(
        "verify forgets answers that only one side can give",
        _VERIFICATION,
        "np.where(beyond > below, (beyond - below) / below, 0.0)",
        "np.where((beyond > below) & (below > 0), (beyond - below) / below, 0.0)",
        ("test_verification.py::test_a_zero_on_one_side_only_is_an_infinite_epsilon",),
    ),
    Mutant(
        "verify looks at single answers instead of events",
        _VERIFICATION,
        "if here.shape[1] == 2:",
        "if here.shape[1] >= 2:",
        _EVENTS,
    ),
)
