"""The identity of a request: every byte of its canonical form is what ledgers already hold."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from tinct import Ledger, NotAnswered, ParameterError, Protection, ask
from tinct.asking.request import read_request
from tinct.ledger import stored_rows
from tinct.ledger.contents import canonical
from tinct.ledger.store import NotCommitted
from tinct.questions.predicates import And, Comparison, Or

CLASSES = {"0.5": 4, "ln 3": 6}
OWNERS = {
    "single": Protection(unit="who"),
    "counted people": Protection(neighbors="replace", people=10),
    "personal": Protection(neighbors="replace", epsilon_column="budget", budgets=CLASSES),
}

# one of each kind of request: for everybody, for each group, with everybody's own epsilon
ASKED = {
    "single": {"epsilon": "0.50", "delta": "1/1000", "unit": "who", "where": "age>3 and not ward=='N'", "lean": "0.9"},
    "counted people": {"epsilon": "ln 2", "neighbors": "replace", "people": 10, "delta": "0"},
    "declared groups": {"epsilon": 1, "by": "ward", "groups": ["N", "Ü"]},
    "found groups": {"epsilon": "ln 4", "delta": 1e-3, "by": "ward", "select": "1/4", "most_groups": 7, "lean": "0.9"},
    "personal": {"epsilon_column": "budget", "where": "age > 3", "unit": None},
}

_DECLARED = ("unit", "neighbors", "people", "epsilon_column", "budgets")
GOLDEN = {
    "single": (
        '{"by":null,"data":"the pandas DataFrame","delta":"0.001","epsilon":"0.5","groups":null,"lean":"0.9",'
        '"mechanism":"line","neighbors":"add-remove","people":null,"personal":null,"published":null,"question'
        '":"majority(support)","schema":"tinct/request@2","unit":"who","where":"age > 3 and not (ward == \'N\')'
        '"}'
    ),
    "counted people": (
        '{"by":null,"data":"the pandas DataFrame","delta":"0","epsilon":"ln 2","groups":null,"lean":null,"mec'
        'hanism":"line","neighbors":"replace","people":10,"personal":null,"published":null,"question":"majori'
        'ty(support)","schema":"tinct/request@2","unit":null,"where":null}'
    ),
    "declared groups": (
        '{"by":"ward","data":"the pandas DataFrame","delta":"0","epsilon":"1","groups":{"declared":["N","\\u00'
        'dc"]},"lean":null,"mechanism":"line","neighbors":"add-remove","people":null,"personal":null,"publish'
        'ed":null,"question":"majority(support)","schema":"tinct/request@2","unit":null,"where":null}'
    ),
    "found groups": (
        '{"by":"ward","data":"the pandas DataFrame","delta":"1152921504606847/1152921504606846976","epsilon":'
        '"ln 4","groups":{"found":7,"select":"86643397569993163677154015182272071/250000000000000000000000000'
        '000000000"},"lean":"0.9","mechanism":"line","neighbors":"add-remove","people":null,"personal":null,"'
        'published":null,"question":"majority(support)","schema":"tinct/request@2","unit":null,"where":null}'
    ),
    "personal": (
        '{"by":null,"data":"the pandas DataFrame","delta":null,"epsilon":null,"groups":null,"lean":null,"mech'
        'anism":"personal","neighbors":"replace","people":10,"personal":["budget",{"0.5":4,"ln 3":6}],"publis'
        'hed":null,"question":"majority(support)","schema":"tinct/request@2","unit":null,"where":"age > 3"}'
    ),
}

# what else may be asked: each changes the identity
OTHER = {
    "single": {
        "question": "majority(other)", "epsilon": "0.51", "delta": "2/1000", "where": "age > 4", "lean": "0.8",
        "unit": None,
    },
    "counted people": {"question": "median(age, above=3)", "epsilon": "ln 3", "people": 11},
    "declared groups": {
        "question": "majority(other)", "epsilon": 2, "delta": "0.1", "by": "town", "groups": ["Ü", "N"], "lean": "0.9",
        "where": "age > 3",
    },
    "found groups": {
        "question": "majority(other)", "epsilon": "ln 5", "delta": 1e-4, "by": "town", "select": "1/2",
        "most_groups": 8, "lean": "0.8", "where": "age > 3", "groups": ["N"],
    },
    "personal": {
        "question": "majority(other)", "where": "age > 4", "unit": "who", "epsilon_column": "town",
        "budgets": {"0.5": 5, "ln 3": 5}, "lean": "0.9",
    },
}  # fmt: skip


def people() -> pd.DataFrame:
    """Ten of them."""
    return pd.DataFrame(
        {
            "who": range(10), "age": range(10), "support": ["yes", "no"] * 5, "other": ["yes", "no"] * 5,
            "ward": ["N"] * 10, "town": ["N"] * 10, "budget": ["0.5"] * 4 + ["ln 3"] * 6,
        }
    )  # fmt: skip


@pytest.fixture
def identity(tmp_path, monkeypatch):
    """Ask with a ledger whose owner agrees, and return the canonical text of what was asked."""
    seen = []
    monkeypatch.setattr("tinct.asking.with_ledger.checksum", lambda found: seen.append(found) or "0" * 64)

    def of(kind, **changed):
        asked = {"question": "majority(support)", **ASKED[kind], **changed}
        if "groups" in changed:
            asked = {name: value for name, value in asked.items() if name not in ("select", "most_groups")}
        declared = {name: changed[name] for name in _DECLARED if name in changed}
        book = Ledger(
            tmp_path / f"{len(seen)}.db", epsilon=100, delta="0.5",
            protects=replace(OWNERS.get(kind, Protection()), **declared),
        )  # fmt: skip
        ask(people(), **asked, ledger=book)
        return canonical(seen[-1])

    return of


@pytest.mark.parametrize("kind", ASKED)
def test_the_identity_of_a_request_is_the_same_to_the_byte(kind, identity):
    """Text written before requests had three kinds: a retry of then is still the same request."""
    assert identity(kind) == GOLDEN[kind]
    assert json.loads(GOLDEN[kind])["schema"] == "tinct/request@2"


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in OTHER.items() for name in names])
def test_every_asked_thing_is_part_of_the_identity(kind, name, identity):
    """One thing asked otherwise: another identity."""
    assert identity(kind, **{name: OTHER[kind][name]}) != identity(kind)


def test_a_lean_is_the_number_and_not_its_spelling():
    """0.7, 0.70 and 7/10 are one request; the float next to 0.7 is another number with another table."""
    texts = {
        canonical(read_request("majority(a)", 1, lean=lean).identity("d", "line")) for lean in ("0.7", "0.70", "7/10")
    }
    assert len(texts) == 1
    assert canonical(read_request("majority(a)", 1, lean=0.7).identity("d", "line")) not in texts


@pytest.mark.parametrize(
    ("options", "parameter"),
    [({"people": 9}, "people"), ({"lean": "1.5"}, "lean"), ({"lean": "banana"}, "lean")],
)
def test_what_personal_budgets_would_pass_over_is_refused(options, parameter):
    """An option that changes nothing, or contradicts the budgets, is an error."""
    with pytest.raises(ParameterError) as refusal:
        read_request("majority(a)", epsilon_column="budget", budgets={"0.5": 4, "1": 6}, neighbors="replace", **options)
    assert refusal.value.parameter == parameter


def test_no_two_predicates_read_alike():
    """An Or of nothing would read like an And of nothing, and mean the opposite."""
    with pytest.raises(ParameterError, match="parts must be at least one predicate"):
        Or(())
    assert str(And((And(()), Comparison("a", "==", True)))) != str(Comparison("a", "==", True))


def test_an_error_after_the_draw_holds_nothing_that_was_drawn(tmp_path, monkeypatch):
    """Tools that keep the variables of every frame of an error must not keep an answer that is drawn again later."""
    book = Ledger(tmp_path / "budget.db", epsilon=1)

    def failing(*_):
        raise NotCommitted("the disk is full")

    monkeypatch.setattr(stored_rows, "add_answer", failing)
    with pytest.raises(NotAnswered) as failure:
        ask(pd.DataFrame({"a": ["yes"] * 900}), "majority(a)", epsilon="0.5", ledger=book)
    assert failure.value.__context__ is None
    frames = failure.value.__traceback__
    while frames is not None:
        if "/tinct/" in frames.tb_frame.f_code.co_filename:
            assert not any(
                value in ("yes", '"yes"') for value in frames.tb_frame.f_locals.values() if isinstance(value, str)
            )
        frames = frames.tb_next


def test_what_is_not_certain_is_not_called_certain():
    """One unit of error in 2^62 is less than a float can show; the sentence must not say 100 %."""
    from tinct.asking import plan

    made = plan(pd.DataFrame({"a": ["yes"]}), "majority(a)", epsilon=50)
    assert "100 %" not in made.accuracy.in_words()
    assert max(made.accuracy.right["tinct"]) < 1
    assert made.to_dict()["refused"] is None
