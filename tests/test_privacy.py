"""Suitable pairs: how amounts are read, the laws every pair obeys, and U iterated."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
import strategies
from tinct import GaussianDP, ParameterError, Privacy, TradeOff

ULP = 2.0**-52
NAN, INF = math.nan, math.inf


# reading amounts


@pytest.mark.parametrize(
    ("given", "value", "is_log"),
    [
        ("0.1", Fraction(1, 10), False),
        (0.1, Fraction(0.1), False),
        ("1/3", Fraction(1, 3), False),
        (" 1e-3 ", Fraction(1, 1000), False),
        (".5", Fraction(1, 2), False),
        ("5.", Fraction(5), False),
        ("+2.5/1e1", Fraction(1, 4), False),
        (Fraction(2, 7), Fraction(2, 7), False),
        (Decimal("0.25"), Fraction(1, 4), False),
        (3, Fraction(3), False),
        (700, Fraction(700), False),
        (-0.0, Fraction(0), False),
        (np.float64(0.1), Fraction(0.1), False),
        (np.float32(0.5), Fraction(1, 2), False),
        (np.int64(2), Fraction(2), False),
        ("ln 2", Fraction(2), True),
        ("log(3)", Fraction(3), True),
        ("ln(3/2)", Fraction(3, 2), True),
        ("  ln 1.5 ", Fraction(3, 2), True),
        ("ln 1", Fraction(0), False),
    ],
)
def test_amounts_are_kept_exactly_as_written(given, value, is_log):
    """ε keeps the rational number that was written, or the rational number whose logarithm was written."""
    amount = Privacy(given).exact_epsilon
    assert (amount.value, amount.is_log) == (value, is_log)


# what no parameter may be, whatever it is a parameter of
NEVER_A_NUMBER = [
    NAN, INF, -INF, -1e-300, -1, "-0.1", True, False, np.True_, None, "", "  ", "x", "nan", "inf", "1/0", "0/0",
    "1e401", "1e-401", "1e5000000", "1e400/1e-400", "1e400", "1e309", "1_0", "0x1", "１", "1" * 65,
    "ln", "ln2", "ln 0", "ln -2", "ln ln 2", "ln 1/2", "log(3", [1], (1,), {}, 1j, b"1", object(), np.array([0.5]),
    10**400, Fraction(10) ** 400, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e400"),
    Decimal("1e-2000000"),
]  # fmt: skip


def _name(value):
    return f"{type(value).__name__}-{value!s:.12}" if not isinstance(value, int) or value < 10 else "huge-int"


@pytest.mark.parametrize("bad", [*NEVER_A_NUMBER, 700.0001, 1e308, "ln 1e305"], ids=_name)
def test_bad_epsilon_is_refused_by_name(bad):
    """Anything but a number in [0, 700] is a ParameterError that names epsilon; nothing hangs or escapes."""
    with pytest.raises(ParameterError, match="epsilon"):
        Privacy(bad)


@pytest.mark.parametrize("bad", [*NEVER_A_NUMBER, 1, 1.0, "1", "ln 2", 1.5], ids=_name)
def test_bad_delta_is_refused_by_name(bad):
    """Anything but a number in [0, 1) is a ParameterError that names delta; logarithms are for ε only."""
    with pytest.raises(ParameterError, match="delta"):
        Privacy(1, bad)


@pytest.mark.parametrize("bad", [NAN, INF, -1e-9, 100.1, True, None, "", "x", [1], 1j, 10**400], ids=_name)
def test_bad_mu_is_refused_by_name(bad):
    """Anything but a number in [0, 100] is a ParameterError that names mu."""
    with pytest.raises(ParameterError, match="mu"):
        GaussianDP(bad)


def test_the_message_says_what_would_be_right():
    """The error states the allowed range and what was given."""
    with pytest.raises(ParameterError, match=re.escape("epsilon must be a number in [0, 700], got nan")):
        Privacy(NAN)
    with pytest.raises(ParameterError, match=re.escape("delta must be a number in [0, 1), got 1")):
        Privacy(1, 1)


def test_equal_privacy_means_equal_exact_values():
    """Pairs are equal, and hash alike, exactly when the written numbers are the same numbers."""
    assert Privacy("0.5", "1/4") == Privacy(0.5, Fraction(1, 4)) == Privacy(Fraction(1, 2), 0.25)
    assert Privacy("ln 2") == Privacy("log(4/2)")
    assert Privacy("ln 1") == Privacy(0)
    assert len({Privacy("0.5"), Privacy(0.5), Privacy("1/2")}) == 1
    assert Privacy("0.1") != Privacy(0.1)  # 0.1 as a float is not one tenth
    assert Privacy(1, "0.1") != Privacy(1, 0.1)
    assert Privacy("ln 2") != Privacy(math.log(2))
    assert Privacy(1) != Privacy(1, 0.1)
    assert GaussianDP(1) == GaussianDP(1.0) != GaussianDP(2)
    assert Privacy(1) != GaussianDP(1)


_positive = st.fractions(Fraction(1, 10**12), 600, max_denominator=10**12)
_amounts = st.one_of(
    st.floats(0, 700),
    _positive,
    _positive.map(lambda value: f"ln {1 + value}"),
    st.decimals(0, 700, places=6).map(str),
    st.sampled_from(["1e-350", Fraction(1, 10**70 + 1), "ln 1e300"]),
)


@given(_amounts, st.one_of(st.floats(0, 0.99), st.fractions(0, Fraction(99, 100)), st.just("1e-30")))
@example("1e-350", 0)
@example(Fraction(1, 10**70 + 1), 0)
@example(1, "1e-400")
def test_repr_is_an_expression_for_the_same_privacy(epsilon, delta):
    """eval(repr(x)) == x, with exact amounts: nothing is lost in print."""
    privacy = Privacy(epsilon, delta)
    assert eval(repr(privacy), {"Privacy": Privacy}) == privacy  # noqa: S307 # the law is about eval


def test_repr_of_gaussian_is_an_expression():
    """eval(repr(x)) == x for Gaussian DP too."""
    assert eval(repr(GaussianDP(0.1)), {"GaussianDP": GaussianDP}) == GaussianDP(0.1)  # noqa: S307 # as above


@given(_amounts)
def test_growth_is_the_float_nearest_to_e_to_the_epsilon(epsilon):
    """E is e^ε correctly rounded; E − 1 has no cancellation (2 ulp of expm1, and ε/2 ulp from rounding ε itself)."""
    privacy = Privacy(epsilon)
    with mpmath.workdps(60):
        exact = _mp_growth(privacy)
        assert privacy.growth == float(exact)
        less_one = exact - 1 if privacy.epsilon > 1e-20 else _mp(privacy.exact_epsilon.value)  # e^x − 1 ~ x
        if not privacy.exact_epsilon.is_log and privacy.epsilon > 1e-300:
            assert abs(privacy.exact_epsilon.growth_minus_one - less_one) <= (2 + privacy.epsilon) * ULP * less_one


# the laws of a suitable pair


@given(strategies.pairs, strategies.probabilities, strategies.probabilities)
def test_every_pair_is_suitable(pair, a, b):
    """U does not fall, U(a) ≥ a, U(1 − U(a)) ≥ 1 − a, and L(a) = 1 − U(1 − a).

    Values of U may be off by a few ulp of 1; Gaussian DP goes through Φ⁻¹ and back, which costs up to 1e-14 in the
    middle of the range. The bound U(a) ≥ a is relative, since a neighbour of a possible outcome must not be denied it.
    """
    noise = 1e-14 if isinstance(pair, GaussianDP) else 4 * ULP
    low, high = sorted((a, b))
    assert pair.upper(low) <= pair.upper(high) + noise
    assert pair.upper(a) >= a * (1 - (1e-11 if isinstance(pair, GaussianDP) else 4 * ULP))
    assert pair.lower(a) <= a * (1 + (1e-11 if isinstance(pair, GaussianDP) else 4 * ULP))
    assert pair.lower(a) >= 0
    assert pair.upper(a) <= 1
    assert pair.lower(a) == pytest.approx(1 - pair.upper(1 - a), abs=noise)
    # U is at most E times as steep as 1, so an error of `noise` in U(a) may grow by E
    steepness = getattr(pair, "growth", 1.0)
    if isinstance(pair, Privacy):
        assert pair.upper(1 - pair.upper(a)) >= 1 - a - noise * (1 + steepness)


@pytest.mark.parametrize("a", [0.0, 1e-300, 1e-20, 1e-9, 0.3, 1 - 2**-53, 1.0])
def test_no_budget_allows_no_change(a):
    """With ε = δ = 0 a neighbour has the same probability, to 4 ulp of it however tiny it is (1e-11 through Φ⁻¹)."""
    for pair, relative in ((Privacy(0), 4 * ULP), (Privacy(1e-18), 4 * ULP), (GaussianDP(0), 1e-11)):
        assert pair.upper(a) == pytest.approx(a, rel=relative, abs=0)
        assert pair.lower(a) == pytest.approx(a, rel=relative, abs=0)


@given(st.floats(0, 5), strategies.probabilities)
def test_gaussian_pair_is_suitable_in_both_tails(mu, a):
    """For Gaussian DP U(1 − U(a)) = 1 − a, checked with complements so that no tail is rounded away.

    Φ(x) near −38 magnifies rounding of x by x² ≈ 1500, so 1e-11 relative.
    """
    pair = GaussianDP(mu)
    up, rest = pair.walk(1, a, 1 - a)
    back, _ = pair.walk(1, rest, up)
    assert float(back) == pytest.approx(1 - a, rel=1e-11, abs=1e-290)


@given(strategies.differential, strategies.probabilities)
def test_upper_is_the_largest_probability_that_privacy_allows(privacy, a):
    """U agrees with its definition in exact arithmetic on the same floats, to 4 ulp of 1."""
    assert privacy.upper(a) == pytest.approx(float(naive.exact_upper(a, privacy.growth, privacy.delta)), abs=4 * ULP)


@given(strategies.pairs)
def test_balance_is_the_fixed_point(pair):
    """α = U(1 − α), the highest truth that both sides of a boundary edge can have; α + error = 1."""
    truth, error = pair.balance
    assert truth + error == pytest.approx(1, abs=2 * ULP)
    assert pair.upper(error) == pytest.approx(truth, abs=1e-12)
    assert pair.upper(error * 0.99) <= truth + 4 * ULP


# U iterated


def _mp(value):
    return mpmath.mpf(Fraction(value).numerator) / Fraction(value).denominator


def _mp_growth(privacy):
    amount = privacy.exact_epsilon
    return _mp(amount.value) if amount.is_log else mpmath.exp(_mp(amount.value))


def _mp_transition(privacy, a):
    growth, delta = _mp_growth(privacy), _mp(privacy.exact_delta)
    if a == 0 and delta == 0:
        return mpmath.inf
    ratio = (growth - 1 + 2 * delta) / ((growth + 1) * (a * (growth - 1) + delta))
    return max(mpmath.mpf(0), mpmath.ceil(mpmath.log(ratio) / mpmath.log(growth)))


def _mp_walk(privacy, distance, a, b):
    """U^d(a) and 1 − U^d(a) in closed form, and the size of the terms whose difference the second one is."""
    growth, delta = _mp_growth(privacy), _mp(privacy.exact_delta)
    rho = delta / (growth - 1)
    rising = min(mpmath.mpf(distance), _mp_transition(privacy, a))
    risen = min(mpmath.mpf(1), growth**rising * (a + rho) - rho) if rising else a
    left = 1 - risen if rising else b
    decay = growth ** (rising - distance)
    terms = decay * (left + (risen if rising else 0)) + rho * (1 - decay)
    if rising == distance:
        return risen, left, terms
    fallen = max(mpmath.mpf(0), decay * (left + rho) - rho)
    return 1 - fallen, fallen, terms


SHORT = [0, 1, 2, 3, 7, 20]
LONG = [1, 10, 1000, 10**6, 10**9 + 7, 10**15, 10**18 - 1, 10**18]
STARTS = [0.0, 1e-300, 1e-100, 1e-17, 1e-9, 0.1, 0.3, 0.5, 2 / 3, 0.9, 1 - 1e-9, 1 - 2**-53, 1.0]
BUDGETS = [
    *(Privacy(epsilon, delta) for epsilon in ("ln 2", "0.1", 1, "ln 1.3", 5, 1e-9) for delta in (0, "0.1", 1e-12)),
    Privacy(1e-16), Privacy(1e-15, 1e-20), Privacy(1e-17, 1e-18), Privacy(30), Privacy(30, 1e-10), Privacy(1e-3, 1e-6),
]  # fmt: skip


@pytest.mark.parametrize("privacy", BUDGETS, ids=repr)
def test_reach_equals_iterated_upper(privacy):
    """The closed form is U applied d times, computed one step after the other with 50 digits.

    Few steps: 8 ulp of the probability is what exp and three products cost.
    """
    with mpmath.workdps(50):
        growth, delta = _mp_growth(privacy), _mp(privacy.exact_delta)
        for a in STARTS:
            value = _mp(a)
            for step in range(max(SHORT) + 1):
                if step in SHORT:
                    assert abs(privacy.reach(step, a) - value) <= 8 * ULP * value, (step, a)
                value = min(growth * value + delta, 1 - (1 - value - delta) / growth, mpmath.mpf(1))


@pytest.mark.parametrize("privacy", BUDGETS, ids=repr)
def test_walk_keeps_its_digits_at_any_distance_in_both_tails(privacy):
    """To distance 10^18 and from probabilities down to 1e-300, against the closed form with 80 digits.

    The probability is right to 8 ulp. The error 1 − U is a difference, 1 − U^τ on the way up and e^{−nε}(left + ρ) − ρ
    on the way down, so its condition number is (size of the terms)/(1 − U); it is right to 16 ulp times that number.
    Where δ = 0 an error below the smallest normal float is raised to it, never to 0.
    """
    with mpmath.workdps(80):
        for distance in [*SHORT, *LONG]:
            for a in STARTS:
                b = 1 - a
                exact_a, exact_b = (_mp(a), 1 - _mp(a)) if a <= 0.5 else (1 - _mp(b), _mp(b))
                value, error, terms = _mp_walk(privacy, distance, exact_a, exact_b)
                up, rest = (float(part) for part in privacy.walk(distance, a, b))
                assert abs(up - value) <= 8 * ULP * value, (distance, a)
                assert abs(rest - error) <= 16 * ULP * terms + np.finfo(float).tiny, (distance, a)
                assert (rest > 0) == (error > 0) or privacy.delta > 0, (distance, a)


@given(strategies.pairs, st.integers(0, 6), st.integers(0, 6), st.floats(0, 1))
def test_distances_add_up(pair, one, other, a):
    """Walking d steps and then e more is walking d + e, for every pair.

    The first walk is rounded to an ulp of 1, which the second magnifies by at most E^e; Φ⁻¹ adds 1e-13 on its own.
    """
    far = pair.reach(one + other, a)
    twice = pair.reach(other, pair.reach(one, a))
    steepness = getattr(pair, "growth", 1.0) ** other if isinstance(pair, Privacy) else math.e**other
    assert twice == pytest.approx(far, abs=min(1.0, 8 * ULP * steepness + 1e-12))


@pytest.mark.parametrize("mu", [0.0, 1e-6, 0.3, 2.0])
@pytest.mark.parametrize("a", [1e-300, 1e-100, 1e-9, 0.2, 0.5, 0.999])
def test_gaussian_reach_equals_shifted_normal(mu, a):
    """U^d(a) = Φ(Φ⁻¹(a) + dμ) with 40 digits; Φ near −38 magnifies rounding by 1500, hence 1e-11 relative."""
    with mpmath.workdps(40):
        start = mpmath.sqrt(2) * mpmath.findroot(
            lambda x: mpmath.log(mpmath.erfc(-x) / 2) - mpmath.log(_mp(a)),
            -2 if a > 1e-9 else -mpmath.sqrt(-mpmath.log(a)),
        )
        for distance in (0, 1, 3, 17):
            position = start + distance * mpmath.mpf(mu)
            up, rest = GaussianDP(mu).walk(distance, a, 1 - a)
            assert float(up) == pytest.approx(float(mpmath.ncdf(position)), rel=1e-11)
            assert float(rest) == pytest.approx(float(mpmath.ncdf(-position)), rel=1e-11, abs=1e-290)


def test_certain_and_impossible_outcomes_stay_so_without_delta():
    """With δ = 0 nothing leaves 0 and 1, for every notion and any distance."""
    for pair in (Privacy(1), Privacy(0), GaussianDP(1)):
        assert pair.reach(10**18, 0.0) == 0
        assert pair.reach(10**18, 1.0) == 1
        assert pair.lower(1.0) == 1
        assert pair.lower(0.0) == 0


def test_rounding_noise_outside_the_unit_interval_does_not_run_away():
    """A source of −2e-16 is a 0 that was rounded, so a thousand steps leave it at 0."""
    assert Privacy(1).reach(1000, -2e-16) == 0
    assert Privacy(1).reach(1000, 1 + 2e-16) == 1


# what the papers print, corrected


def test_equal_truths_of_one_half_rise_to_three_quarters():
    """α = 0.5, E = 2, one step: 0.75. Corollary 2 of optimal-binary as printed would say 0.833."""
    assert Privacy("ln 2").reach(1, 0.5) == pytest.approx(0.75, abs=ULP)


@given(strategies.differential, st.floats(0.5, 1))
def test_transition_is_never_negative(privacy, a):
    """τ is clamped at 0: from one half on every step shrinks the error; as printed the papers' τ goes below."""
    assert privacy.transition(a) == 0
    assert privacy.reach(1, a) == pytest.approx(1 - max(0.0, (1 - a - privacy.delta) / privacy.growth), abs=4 * ULP)


@pytest.mark.parametrize("epsilon", ["ln 2", 0.1, 1, 3, 0])
@pytest.mark.parametrize("delta", [0, 0.001, 0.1])
def test_balanced_error_formula(epsilon, delta):
    """The error at distance d from a balanced boundary has a closed form of its own (with the maximum with 0).

    The printed formula subtracts terms of size E^(d+1)δ, so 1e-12.
    """
    privacy = Privacy(epsilon, delta)
    growth = privacy.growth
    truth, error = privacy.balance
    for d in range(8):
        if epsilon == 0:
            expected = (1 - delta) / 2 - d * delta
        else:
            expected = (growth - 1 - delta * (growth ** (d + 1) + growth**d - 2)) / (
                growth**d * (growth + 1) * (growth - 1)
            )
        assert float(privacy.walk(d, truth, error)[1]) == pytest.approx(max(0.0, expected), abs=1e-12)


# τ


@given(strategies.pairs, st.floats(0, 1))
def test_transition_is_the_first_step_past_the_balance(pair, a):
    """τ is the first d with U^d(a) ≥ 1 − α: checked by walking, except where a value is within 1e-12 of 1 − α."""
    tau = pair.transition(a)
    bend = pair.balance[1]
    if math.isinf(tau):
        assert pair.reach(1, a) == pytest.approx(a, rel=1e-12, abs=4 * ULP)
        assert a < bend
        return
    if tau > 10**6:
        return
    assert pair.reach(int(tau), a) >= bend - 1e-12
    if tau > 0:
        assert pair.reach(int(tau) - 1, a) < bend + 1e-12


@pytest.mark.parametrize("epsilon", [0, 1e-30, 1e-17, 1e-14, 1e-9, 1e-3, 1, 20])
@pytest.mark.parametrize(("delta", "a"), [(0.01, 0.1), (0.3, 0.0), (1e-3, 0.4), (0, 0.2)])
def test_transition_survives_tiny_epsilon(epsilon, delta, a):
    """τ agrees with its formula in 400 digits even where E − 1 is far below an ulp (none of these is near a tie)."""
    with mpmath.workdps(400):
        if epsilon == 0:
            expected = math.ceil(((1 - delta) / 2 - a) / delta) if delta else math.inf
        else:
            expected = float(_mp_transition(Privacy(epsilon, delta), _mp(a)))
    assert Privacy(epsilon, delta).transition(a) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-320, 5e-324, 1e-17])
def test_reach_survives_tiny_epsilon(epsilon):
    """With ε below every ulp U^d(a) = a + dδ to within rounding."""
    assert Privacy(epsilon, 0.1).reach(3, 0.2) == pytest.approx(0.5, abs=4 * ULP)
    assert Privacy(epsilon, 0.1).reach(9, 0.2) == 1


def test_gaussian_transition_survives_tiny_mu():
    """A μ so small that τ exceeds every float means τ = ∞, not a warning."""
    assert GaussianDP(1e-310).transition(0.1) == math.inf


# arrays and bad arguments

PAIRS = [Privacy("ln 2", 0.1), Privacy(0, 0.1), GaussianDP(0.5), TradeOff(strategies.laplace_tradeoff)]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_arrays_broadcast_and_equal_single_values(pair):
    """Distances and probabilities broadcast like NumPy arrays; plain numbers give plain floats."""
    steps, starts = np.arange(4)[:, None], np.array([0.0, 0.2, 0.9])
    table = pair.reach(steps, starts)
    assert table.shape == (4, 3)
    assert table.tolist() == [[pair.reach(int(d), float(a)) for a in starts] for d in range(4)]
    assert pair.reach((0, 1, 2, 3), 0.2).tolist() == [pair.reach(d, 0.2) for d in range(4)]
    for method in (pair.upper, pair.lower, pair.transition):
        assert method(starts).tolist() == [method(float(a)) for a in starts]
        assert method(tuple(starts)).tolist() == method(list(starts)).tolist() == method(starts).tolist()
        assert isinstance(method(0.2), float)
        assert method(np.empty(0)).shape == (0,)
    assert isinstance(pair.reach(2, 0.2), float)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
@pytest.mark.parametrize("bad", [NAN, INF, -0.1, 1.1, 1e300, "x", None, [0.5, NAN], [[0.1], [0.2, 0.3]], {}], ids=repr)
def test_bad_probabilities_are_refused(pair, bad):
    """Nothing but numbers in [0, 1] goes in, so no NaN can come out."""
    for method in (pair.upper, pair.lower, pair.transition, lambda a: pair.reach(1, a)):
        with pytest.raises(ParameterError, match="must be a number in"):
            method(bad)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
@pytest.mark.parametrize("bad", [-1, 1.0, NAN, True, "3", None, 10**18 + 1, 10**40, [1, -1], [0.5]], ids=repr)
def test_bad_distances_are_refused(pair, bad):
    """A distance is a whole number from 0 to 10^18."""
    with pytest.raises(ParameterError, match="distance"):
        pair.reach(bad, 0.5)


# trade-off functions


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_tradeoff_of_a_gaussian_equals_gaussian_dp(mu):
    """f-DP with the Gaussian trade-off function is Gaussian DP, to 1e-9 (f itself is only good to an ulp of 1)."""
    from scipy.special import ndtr, ndtri

    pair, gaussian = TradeOff(lambda a: ndtr(-ndtri(a) - mu)), GaussianDP(mu)
    grid = np.linspace(0, 1, 101)
    for d in (1, 2, 5):
        np.testing.assert_allclose(pair.reach(d, grid), gaussian.reach(d, grid), rtol=0, atol=1e-9)
    np.testing.assert_allclose(pair.balance, gaussian.balance, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.0, 0.1), (1.0, 0.0), (0.3, 0.2)])
def test_tradeoff_of_differential_privacy_equals_privacy(epsilon, delta):
    """f-DP with the trade-off function of (ε, δ) is (ε, δ)-DP, in values, balance and τ."""
    pair, privacy = TradeOff(strategies.differential_tradeoff(epsilon, delta)), Privacy(epsilon, delta)
    grid = np.linspace(0, 1, 41)
    np.testing.assert_allclose(pair.reach(4, grid), privacy.reach(4, grid), rtol=0, atol=1e-13)
    assert pair.balance[0] == pytest.approx(privacy.balance[0], abs=1e-13)
    assert pair.transition(0.013) == privacy.transition(0.013)


def test_tradeoff_accepts_functions_of_one_number():
    """A function with an if, which cannot take arrays, works all the same."""
    pair = TradeOff(lambda a: max(0.0, 1 - 2 * a, (1 - a) / 2))
    np.testing.assert_allclose(pair.upper([0.1, 0.9]), [0.2, 0.95], atol=4 * ULP)


@pytest.mark.parametrize(
    ("f", "law", "where"),
    [
        (lambda a: np.where((a > 0.3) & (a < 0.4), 0.65, 1 - a), "exceed|increase|symmetric|convex", (0.3, 0.41)),
        (lambda a: 1 - a + 0.1 * (a > 0.5) * (1 - a), "exceed 1", (0.5, 0.51)),
        (lambda a: 0.5 * a, "increase|exceed", (0.0, 1.0)),
        (lambda a: (1 - a) ** 2, "symmetric", (0.0, 1.0)),
        (lambda a: np.sqrt(np.maximum(0, 1 - a**2)) * (1 - a), "symmetric|convex", (0.0, 1.0)),
        (lambda a: np.where(a < 0.5, 1 - a - 0.2 * np.sin(2 * np.pi * a) ** 2, np.nan), "lie in", (0.5, 0.51)),
        (lambda a: 2 - a, "lie in", (0.0, 0.01)),
        (lambda a: -a, "lie in", (0.0, 0.01)),
    ],
)
def test_what_is_not_a_tradeoff_function_is_refused_with_the_place(f, law, where):
    """The error names the law that fails and an a at which it does."""
    with pytest.raises(ParameterError, match=law) as caught:
        TradeOff(f)
    at = float(re.search(r"at a = (\S+) it is", str(caught.value))[1])
    assert where[0] <= at <= where[1]


def test_symmetric_but_not_convex_functions_are_refused():
    """A decreasing involution below 1 − a that bulges: symmetric, monotone, and yet no test achieves it."""
    corners_a = [0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 0.9]
    corners_f = [0.9, 0.6, 0.5, 0.4, 0.3, 0.1, 0.0]
    with pytest.raises(ParameterError, match="f must be convex; at a = "):
        TradeOff(lambda a: np.interp(a, corners_a, corners_f))


@pytest.mark.parametrize("bad", [None, 5, "f", lambda _: "x", lambda _: np.ones(3), lambda: 0.0, lambda _: None])
def test_what_is_not_a_function_of_a_number_is_refused(bad):
    """Anything but a function from numbers to numbers is a ParameterError."""
    with pytest.raises(ParameterError):
        TradeOff(bad)


def test_what_fails_between_the_points_of_the_grid_is_refused_when_it_is_met():
    """A function that is NaN at one a passes the check of the grid; NaN is not returned for that a all the same."""
    pair = TradeOff(lambda a: np.where(a == 0.123, math.nan, 1 - a))
    assert pair.upper(0.25) == 0.25
    for method in (pair.upper, pair.transition, lambda a: pair.reach(3, a)):
        with pytest.raises(ParameterError, match="not a trade-off function"):
            method(0.123)


@settings(max_examples=20)
@given(st.floats(0.01, 3), st.floats(0, 0.5))
def test_slow_tradeoff_iteration_stops_where_nothing_moves(epsilon, delta):
    """A huge distance takes no longer than reaching the fixed point does."""
    pair = TradeOff(strategies.differential_tradeoff(epsilon, delta))
    assert pair.reach(10**18, 0.3) == pytest.approx(Privacy(epsilon, delta).reach(10**18, 0.3), abs=1e-9)
