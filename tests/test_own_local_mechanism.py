"""A local mechanism of one's own: one method, and the library proves, runs, reads and stores it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tinct import ParameterError, local
from tinct.errors import FileError, NotPrivate
from tinct.local.mechanisms import KINDS
from tinct.local.mechanisms.base import Channel
from tinct.local.mechanisms.randomized_response import CellChannel
from tinct.local.parameters import LocalBudget

SYMBOLS = ("bus", "train", "walk")


@dataclass(frozen=True, eq=False)
class TwoCoins(local.Channel):
    """A bit for each symbol, turned over by two coins; the class of docs/extending/local-mechanism.md."""

    first: float
    second: float

    def probabilities(self):
        """Products over the bits."""
        kept = self.first * self.second + (1 - self.first) * (1 - self.second)
        bits = np.array(self.labels())
        right = np.array([(bits == own).sum(axis=1) for own in np.eye(self.size)])
        return kept**right * (1 - kept) ** (self.size - right)

    def labels(self):
        """The bits."""
        return tuple(product((0, 1), repeat=self.size))


@dataclass(frozen=True, eq=False)
class Given(local.Channel):
    """Whatever rows it is given."""

    rows: tuple

    def probabilities(self):
        """The rows."""
        return np.array(self.rows, float)


def two_coins(epsilon):
    return local.LocalMechanism.of(TwoCoins(3, 0.75, 0.8), epsilon, name="two coins", symbols=SYMBOLS)


def test_reports_follow_the_probabilities():
    """20,000 seeded reports of each symbol, every output within 5.5 standard deviations of its probability."""
    mechanism = two_coins("1.24")
    for symbol, row in enumerate(mechanism.matrix):
        drawn = mechanism.randomiser.draw(np.full(20_000, symbol), np.random.default_rng(symbol).bytes)
        seen = np.bincount(drawn, minlength=8)
        assert (np.abs(seen - 20_000 * row) < 5.5 * np.sqrt(20_000 * row)).all()


def test_estimates_and_tests_need_nothing_more():
    """Frequencies within intervals that hold with confidence 1 − 10^−9, and the test finds the truth."""
    mechanism = two_coins("1.24")
    truth = np.array([0.25, 0.25, 0.5])
    reports = mechanism.privatize(["bus", "train", "walk", "walk"] * 5_000)
    found = mechanism.estimate(reports, confidence=1 - 1e-9)
    assert (found.low <= truth).all()
    assert (truth <= found.high).all()
    assert mechanism.test(reports, [0.8, 0.1, 0.1], truth.tolist()).favours == "p1"
    assert 0 < mechanism.information(truth) < math.log(3)


def test_the_file_needs_no_class(tmp_path):
    """It is read as a table with the very same units, proved again; an edited unit is refused."""
    mechanism = two_coins("1.24")
    path = tmp_path / "two-coins.json"
    mechanism.to_json(path)
    back = local.LocalMechanism.from_json(path)
    assert np.array_equal(back.randomiser.units, mechanism.randomiser.units)
    assert back.matrix == pytest.approx(mechanism.matrix, abs=1e-9)
    fields = json.loads(path.read_text())
    fields["epsilon"] = "1.2"
    path.write_text(json.dumps(fields))
    with pytest.raises(FileError, match="not private"):
        local.LocalMechanism.from_json(path)


def test_a_mechanism_that_exceeds_its_budget_is_refused_with_a_witness():
    """At its own ε it runs; a little below it does not, and the witness is a violation by the definition."""
    least = two_coins(1).least_epsilon()
    two_coins(least + 1e-6).privatize(["bus"])
    with pytest.raises(NotPrivate, match=r"two coins.*on edge") as refused:
        two_coins(least - 1e-6).privatize(["bus"])
    found = refused.value.witness
    mechanism = two_coins(least - 1e-6)
    u, v = (mechanism.row(symbol) for symbol in found.edge)
    (output,) = found.event
    at = mechanism.outputs.index(output)
    assert found.probability == pytest.approx(u[at])
    assert found.neighbor_probability == pytest.approx(v[at])
    assert u[at] > math.exp(least - 1e-6) * v[at]


def test_the_witness_of_delta_is_an_event():
    """With δ it is the set of outputs whose excess adds up to more than δ."""
    rows = ((0.5, 0.3, 0.1, 0.1), (0.1, 0.1, 0.4, 0.4))
    made = local.LocalMechanism.of(Given(2, rows), "ln 2", delta="0.5", name="given")
    made.privatize([0, 1])
    with pytest.raises(NotPrivate) as refused:
        local.LocalMechanism.of(Given(2, rows), "ln 2", delta="0.39", name="given").privatize([0])
    found = refused.value.witness
    assert (found.edge, found.event) in (((0, 1), (0, 1)), ((1, 0), (2, 3)))
    assert found.probability > 2 * found.neighbor_probability + 0.39


@pytest.mark.parametrize(
    "rows",
    [
        ((0.5, 0.5),),
        ((0.5, 0.6), (0.5, 0.5)),
        ((1.5, -0.5), (0.5, 0.5)),
        ((math.nan, 1), (0.5, 0.5)),
        ((), ()),
        (0.5, 0.5),
    ],
    ids=["a row is missing", "a sum is not 1", "negative", "not a number", "no outputs", "one row"],
)
def test_what_is_no_table_of_probabilities_is_refused(rows):
    """Before anything is drawn."""
    with pytest.raises(ParameterError, match="probabilities must"):
        local.LocalMechanism.of(Given(2, rows), 1, name="given").privatize([0])


def test_every_kind_is_one_file_and_in_the_registry():
    """The registry has every kind of randomiser by the name that files use, and channels lead to them and back."""
    assert all(made.kind == name for name, made in KINDS.items())
    assert len({made.__module__ for made in KINDS.values()}) == len(KINDS)
    builds = (local.randomized_response, local.geometric, local.subset_selection, local.unary_encoding)
    for build in (*builds, local.local_hashing, local.hadamard_response):
        mechanism = build(4, 1)
        randomiser = mechanism.randomiser
        assert type(randomiser) is KINDS[mechanism.channel.kind]
        back = randomiser.channel(mechanism.budget)
        assert isinstance(back, Channel)
        assert back.matrix() == pytest.approx(mechanism.matrix, abs=2e-9)


def test_symbols_that_share_a_cell_are_never_estimated_apart():
    """As many cells as symbols are not enough: each symbol needs one of its own."""
    terms = LocalBudget.parse(1).terms(Fraction(0))
    shared = CellChannel(2, math.e, np.array([0, 0]), 2).in_units(terms)
    shared.prove()
    assert shared.chances is None
    assert shared.rank() == 1
    spare = CellChannel(2, math.e, np.array([0, 2]), 3).in_units(terms)
    spare.prove()
    assert spare.chances is not None


def test_the_old_name_of_a_comparison_warns():
    """It is the same class."""
    with pytest.warns(DeprecationWarning, match="UtilityComparison"):
        assert local.Comparison is local.UtilityComparison
    with pytest.raises(AttributeError):
        _ = local.Contrast


def test_a_kind_of_ones_own_is_a_table_too(tmp_path):
    """Whatever a class calls its kind, its rows are checked and written out."""
    coins = type("Coins", (Given,), {"kind": "coins"})
    mechanism = local.LocalMechanism.of(coins(2, ((0.7, 0.3), (0.3, 0.7))), 1, name="coins")
    assert mechanism.channel.outputs == 2
    mechanism.to_json(tmp_path / "coins.json")
    assert local.LocalMechanism.from_json(tmp_path / "coins.json").randomiser.kind == "table"
    with pytest.raises(ParameterError, match="each row must sum to 1"):
        local.LocalMechanism.of(coins(2, ((0.7, 0.7), (0.3, 0.7))), 1, name="coins").privatize([0])
    units = type("Units", (coins,), {"in_units": lambda *_: None})
    with pytest.raises(ParameterError, match="Units has units of its own"):
        units(2, ((0.7, 0.3), (0.3, 0.7))).matrix()
