"""A budget can be lowered while nothing was charged to it, and never raised."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tinct import BudgetExceeded, Ledger, ParameterError
from tinct.ledger import Planned


def test_an_unused_budget_can_be_lowered(tmp_path):
    """The lower budget holds at once, and for whoever opens the ledger later."""
    place = tmp_path / "budget.db"
    ledger = Ledger(place, epsilon=10, delta="1e-5")
    ledger.lower("ln 2")
    again = Ledger(place)
    assert again.scopes()["default"].written == "ln 2"
    assert again.scopes()["default"].delta == Fraction(1, 10**5)
    with pytest.raises(BudgetExceeded):
        again.charge(lambda: "no", epsilon=1)
    again.lower("1/2", 0)
    assert str(ledger.remaining()) == "ε = 0.5"
    assert Ledger(place, epsilon="0.5").audit() == 0


def test_a_budget_is_never_raised(tmp_path):
    """Neither its ε nor its δ; equal amounts change nothing."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-6")
    for more in ({"epsilon": "1.1"}, {"epsilon": 1, "delta": "1e-5"}, {"epsilon": "0.5", "delta": "1e-5"}):
        with pytest.raises(ParameterError, match="only be lowered"):
            ledger.lower(**more)
    ledger.lower(1)
    assert str(ledger.remaining()) == "ε = 1, δ = 1e-06"


def test_a_used_budget_stays(tmp_path):
    """After the first charge it is final; another scope of the ledger is not."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=1)
    ledger.add_scope("staff", epsilon=2)
    ledger.charge(lambda: "yes", epsilon="0.1")
    with pytest.raises(ParameterError, match="has charges"):
        ledger.lower("0.5")
    ledger.lower("0.5", scope="staff")
    assert str(ledger.remaining("staff")) == "ε = 0.5"
    assert ledger.audit() == 1


def test_what_follows_from_a_budget_follows_from_the_lower_one(tmp_path):
    """With advanced composition the lowered scope is the one that would have been made; a plan cannot be lowered."""
    options = {"delta": "1e-6", "composition": "advanced", "slack": "1e-7"}
    lowered = Ledger(tmp_path / "lowered.db", epsilon=2, **options)
    lowered.lower(1)
    made = Ledger(tmp_path / "made.db", epsilon=1, **options)
    assert lowered.scopes()["default"].details == made.scopes()["default"].details
    with pytest.raises(ParameterError, match="slack"):
        lowered.lower(1, "1e-8")
    plan = [Planned("0.1", times=3)]
    planned = Ledger(tmp_path / "planned.db", epsilon=1, delta="1e-6", composition="accounting", plan=plan)
    with pytest.raises(ParameterError, match="is for this plan"):
        planned.lower("0.5")
