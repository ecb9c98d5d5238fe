"""Plans: the ε they find is enough for what is asked, with everything that takes a share of it, and they warn."""

from __future__ import annotations

import pandas as pd
import pytest

from tinct import Ledger, ParameterError, Protection
from tinct.asking import needed_epsilon, plan

ROWS = pd.DataFrame({"support": ["yes", "no"], "ward": ["N", "S"], "id": [1, 2]})
GROUPS = {"by": "ward", "groups": ["N", "S"]}
FOUND = {"by": "ward", "delta": "1e-6"}


def promised(found, margin):
    """What the accuracy table says at a margin: the least of all columns that are ours."""
    at = found.accuracy.margins.index(margin)
    return min(values[at] for name, values in found.accuracy.right.items() if name.startswith("tinct"))


@pytest.mark.parametrize("question", ["majority(support)", "mode(support, categories=['yes', 'no'])"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        GROUPS,
        FOUND,
        {**FOUND, "select": "1/4"},
        {**FOUND, "unit": "id", "groups_per_person": 3},
        {**GROUPS, "unit": "id", "groups_per_person": 2},
    ],
)
def test_the_epsilon_of_a_plan_is_enough_for_its_own_table(question, options):
    """The table at the ε found promises the probability; with 0.2 % less of it, it would not."""
    found = plan(ROWS, question, right="0.95", margin=20, **options)
    assert promised(found, 20) >= 0.95
    less = plan(ROWS, question, epsilon=repr(float(found.epsilon) * 0.998), **options)
    assert promised(less, 20) < 0.95


@pytest.mark.parametrize("options", [{}, {"delta": "0.001"}, {**FOUND, "select": "1/4"}])
@pytest.mark.parametrize("lean", ["0.2", "0.5", "0.9"])
def test_with_a_lean_yes_and_no_are_both_right_as_often_as_wanted(options, lean):
    """The worse of the two columns reaches the probability, and hardly more."""
    found = plan(ROWS, "majority(support)", right="0.95", margin=20, lean=lean, **options)
    assert promised(found, 20) >= 0.95
    less = plan(ROWS, "majority(support)", epsilon=repr(float(found.epsilon) * 0.998), lean=lean, **options)
    assert promised(less, 20) < 0.95


def test_a_lean_is_the_probability_at_the_boundary_whatever_epsilon_is():
    """No ε makes a yes at a margin of 1 right more often than the lean says."""
    with pytest.raises(ParameterError, match="raise it to right"):
        needed_epsilon("majority(support)", "0.95", 1, lean="0.9")
    assert needed_epsilon("majority(support)", "0.95", 1, lean="0.96") > 0


def test_what_is_wanted_takes_the_place_of_epsilon():
    """Both together are refused, as are people with an ε of their own."""
    with pytest.raises(ParameterError, match="leave out epsilon"):
        plan(ROWS, "majority(support)", epsilon=1, right="0.9", margin=3)
    with pytest.raises(ParameterError, match="leave out epsilon_column"):
        plan(ROWS, "majority(support)", right="0.9", epsilon_column="id", budgets={"1": 2}, neighbors="replace")
    with pytest.raises(ParameterError, match="number of people public"):
        plan(ROWS, "majority(support)", right="0.9", margin=3, neighbors="replace")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 5}, ()),
        ({"epsilon": "5.1"}, ("factor of up to 165",)),
        ({"epsilon": 30}, ("more than 100 million",)),
        ({"epsilon": 1, "delta": "1e-5"}, ()),
        ({"epsilon": 1, "delta": "1.1e-5"}, ("above 1e-05",)),
        ({"epsilon": 1, "delta": "1e-3", "neighbors": "replace", "people": 100}, ()),
        ({"epsilon": 1, "delta": "1e-3", "neighbors": "replace", "people": 101}, ("one in 101",)),
        ({"epsilon": 6, "delta": "0.1"}, ("promises little", "give somebody away")),
    ],
)
def test_a_large_epsilon_and_a_large_delta_get_one_plain_sentence_each(options, words):
    """The sentences are shown with every answer, not only in its details."""
    found = plan(ROWS, "majority(support)", unit="id", **options)
    said = [each for each in found.warnings if "promises" in each or "give somebody" in each]
    assert len(said) == len(words)
    assert all(word in each for word, each in zip(words, said, strict=True))
    assert set(said) <= set(found.rules)


def test_a_plan_without_a_ledger_says_so(tmp_path):
    """With one, it does not."""
    assert "no ledger counts this" in plan(ROWS, "majority(support)", epsilon=1).rules[-1]
    ledger = Ledger(tmp_path / "budget.db", epsilon=1, protects=Protection(unit="id"))
    assert not any("no ledger" in rule for rule in plan(ROWS, "majority(support)", epsilon=1, ledger=ledger).rules)
