"""Groups that the owner of a budget declared disjoint are charged each by itself, and never under two names."""

from __future__ import annotations

import pandas as pd
import pytest

from tinct import BudgetExceeded, Ledger, ParameterError, Protection, ask
from tinct.asking import plan
from tinct.sources import Description

WARDS = ["N", "S", "1"]
ROWS = pd.DataFrame({"support": ["yes", "no"] * 3, "ward": [*WARDS, *WARDS], "id": [1, 2, 3, 1, 2, 3]})
QUESTION = "majority(support)"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "survey.csv"
    ROWS.to_csv(path, index=False)
    return path


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-6", protects=Protection(unit="id"))
    made.add_partition("ward", "everybody is registered in one ward")
    return made


def spent(ledger):
    return float(ledger.spent().epsilon)


def test_the_largest_spending_of_any_group_counts_not_the_sum(data, ledger):
    """Two wards on two days cost as much as one; the same ward again costs twice."""
    ask(data, QUESTION, "0.4", by="ward", groups=["N"], ledger=ledger)
    ask(data, QUESTION, "0.4", by="ward", groups=["S"], ledger=ledger)
    assert spent(ledger) == 0.4
    answer = ask(data, QUESTION, "0.4", by="ward", groups=["S"], ledger=ledger)
    assert spent(ledger) == 0.8
    assert "nobody is in two groups of 'ward'" in answer.plan.rules[-1]
    assert ledger.audit() == 3


def test_a_plan_knows_what_is_left_for_each_group(data, ledger):
    """What is refused for one group is granted for another; and what a plan says is what ask does."""
    ask(data, QUESTION, "0.7", by="ward", groups=["N"], ledger=ledger)
    options = {"epsilon": "0.7", "by": "ward", "ledger": ledger}
    assert plan(data, QUESTION, groups=["N"], **options).refused
    assert not plan(data, QUESTION, groups=["S"], **options).refused
    with pytest.raises(BudgetExceeded):
        ask(data, QUESTION, groups=["N", "S"], **options)
    ask(data, QUESTION, groups=["S"], **options)


def test_a_group_is_charged_under_one_name_however_it_is_spelt(data, ledger):
    """1 and 1.0 name the same rows, so they are one group of the ledger."""
    ask(data, QUESTION, "0.4", by="ward", groups=["1"], ledger=ledger)
    ask(data, QUESTION, "0.4", by="ward", groups=["1.0"], ledger=ledger)
    assert spent(ledger) == 0.8


@pytest.mark.parametrize(
    "options",
    [
        {"by": "ward", "delta": "1e-7"},  # any group may be found
        {"by": "support", "groups": ["yes"]},  # another column
        {"by": ["ward", "support"], "groups": ["N,yes"]},
        {"by": "ward", "groups": ["N"], "groups_per_person": 2},
        {"by": "ward", "groups": ["N"], "missing": ["N"]},  # cells read as the asker says
        {"by": "ward", "groups": ["N" * 201]},  # a name that no ledger holds
        {"where": "ward == 'N'"},
    ],
)
def test_everything_else_is_charged_to_everybody(data, ledger, options):
    """Where the answer may depend on other rows, or on a reading that the owner did not declare, costs add up."""
    ask(data, QUESTION, "0.1", by="ward", groups=["S"], ledger=ledger)
    ask(data, QUESTION, "0.1", ledger=ledger, **options)
    assert spent(ledger) == pytest.approx(0.2)


def test_a_declared_description_keeps_groups_apart(data, tmp_path):
    """With the reading that the owner declared, groups are charged by themselves again."""
    described = Description(person="id").with_format(missing=["-9"])
    whom = Protection(unit="id", description=described.digest)
    ledger = Ledger(tmp_path / "described.db", epsilon=1, protects=whom)
    ledger.add_partition("ward", "everybody is registered in one ward")
    for ward in ("N", "S"):
        ask(data, QUESTION, "0.4", by="ward", groups=[ward], ledger=ledger, description=described)
    assert spent(ledger) == 0.4


def test_an_answer_from_before_the_declaration_is_still_there(data, tmp_path):
    """The request was charged to everybody then; asked again, it returns its answer and charges nothing."""
    ledger = Ledger(tmp_path / "early.db", epsilon=1, protects=Protection(unit="id"))
    asked = {"epsilon": "0.4", "by": "ward", "groups": ["N"], "ledger": ledger, "request": "monday"}
    first = ask(data, QUESTION, **asked)
    ledger.add_partition("ward", "everybody is registered in one ward")
    again = ask(data, QUESTION, **asked)
    assert again.repeated
    assert again.value == first.value
    assert spent(ledger) == 0.4
    with pytest.raises(ParameterError, match="already used"):
        ask(data, QUESTION, **(asked | {"groups": ["S"]}))
