"""Whom a budget protects: declared by the owner, once; costs in other terms are converted by a theorem or refused."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import shutil
import sqlite3
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tinct import FileError, Ledger, ParameterError, Protection, TinctError, ask, sources
from tinct.asking import plan
from tinct.asking.request import read_request
from tinct.cli.main import app
from tinct.ledger import State
from tinct.ledger.charges import checked_charge
from tinct.ledger.costs import budget_epsilon, cost_epsilon
from tinct.ledger.totals import spent_by_class
from tinct.numbers.bounds import exp_below
from tinct.privacy.neighbors import Neighbors
from tinct.spark import ask_groups

ROWS, PEOPLE = Protection(), Protection(unit="name")
FIXED = Protection(neighbors="replace", people=50)
OLD = Path(__file__).parent / "ledger_of_schema_1.sql"


def survey(yes=40, no=10):
    return pd.DataFrame(
        {"support": ["yes"] * yes + ["no"] * no, "name": [str(at) for at in range(yes + no)], "income": range(yes + no)}
    )


# what an owner may declare


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neighbors": "swap"}, "neighbors must be"),
        ({"neighbors": "replace"}, "declare it as people"),
        ({"neighbors": "replace", "people": -1}, "declare it as people"),
        ({"neighbors": "replace", "people": True}, "declare it as people"),
        ({"neighbors": "replace", "people": 1.5}, "declare it as people"),
        ({"people": 3}, "is secret"),
        ({"unit": ""}, "unit must be text"),
        ({"unit": 3}, "unit must be text"),
        ({"data": "a\0b"}, "data must be text"),
        ({"neighbors": "replace", "epsilon_column": "e"}, "belong together"),
        ({"neighbors": "replace", "budgets": {"1": 3}}, "belong together"),
        ({"neighbors": "replace", "epsilon_column": "e", "budgets": ["1"]}, "budgets must say"),
        ({"neighbors": "replace", "epsilon_column": "e", "budgets": {"1": -1}}, "how many people chose"),
        ({"neighbors": "replace", "epsilon_column": "e", "budgets": {"1": 2, " 1": 3}}, "different values"),
        ({"neighbors": "replace", "epsilon_column": "e", "budgets": {"x": 2}}, "epsilon must be"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(options, message):
    """Each says what is wrong and what would be right."""
    with pytest.raises(ParameterError, match=message):
        Protection(**options)


def test_a_declaration_is_stored_and_read_back(tmp_path):
    """Every field survives the ledger; personal budgets are kept from small to large and give the number of people."""
    whom = Protection("name", "replace", data="/data/survey.csv", epsilon_column="e", budgets={"2": 30, "ln 2": 20})
    Ledger(tmp_path / "b.db", 1, protects=whom)
    found = Ledger(tmp_path / "b.db").protects()
    assert found == whom
    assert (list(found.budgets), found.people, found.neighbors) == (["ln 2", "2"], 50, Neighbors.REPLACE)


def test_nothing_said_means_that_every_row_is_one_person(tmp_path):
    """A ledger made without a word protects rows that may be added or removed."""
    assert Ledger(tmp_path / "b.db", 1).protects() == ROWS


def test_a_declaration_is_final_with_the_first_charge(tmp_path):
    """Before it the owner may still say otherwise; afterwards costs of another kind would be added to the first."""
    ledger = Ledger(tmp_path / "b.db", 1)
    ledger.declare(PEOPLE)
    ledger.declare(FIXED)
    ledger.declare(PEOPLE)
    ledger.charge(lambda: 1, epsilon="0.1")
    ledger.declare(PEOPLE)  # the same again is fine
    with pytest.raises(ParameterError, match="has charges"):
        ledger.declare(ROWS)
    with pytest.raises(ParameterError, match="has another declaration"):
        Ledger(tmp_path / "b.db", 1, protects=ROWS)
    assert Ledger(tmp_path / "b.db", 1).protects() == PEOPLE
    with pytest.raises(ParameterError, match="must be a Protection"):
        ledger.declare("name")


# the asker cannot change it


@pytest.mark.parametrize(
    ("owner", "options", "message"),
    [
        (ROWS, {"unit": "name"}, "protects each row as one person, but the question is about the people"),
        (PEOPLE, {"unit": "income"}, "the people in the column 'name'"),
        (ROWS, {"neighbors": "replace"}, "adding or removing a person"),
        (ROWS, {"neighbors": "replace", "people": 50}, "adding or removing a person"),
        (FIXED, {"people": 51}, "people differs from what the owner"),
        (FIXED, {"unit": "income"}, "protects each row"),
        (
            FIXED,
            {"epsilon": None, "epsilon_column": "income", "budgets": ["1"]},
            "only the owner of the budget declares",
        ),
        (
            FIXED,
            {"epsilon": None, "epsilon_column": "income", "budgets": {"1": 50}},
            "only the owner of the budget declares",
        ),
        (Protection(data="/elsewhere.csv"), {}, "is for '/elsewhere.csv' only"),
    ],
    ids=str,
)
@pytest.mark.parametrize("action", [ask, plan])
def test_who_is_a_person_is_for_the_owner_to_say(tmp_path, monkeypatch, action, owner, options, message):
    """Another unit, relation, number, budget column or data set is refused before a row is read or anything charged."""
    ledger = Ledger(tmp_path / "b.db", 9, protects=owner)
    for name in ("count", "count_by", "group_batches"):
        monkeypatch.setattr(sources.Source, name, _never)
    if action is plan and owner.data is not None:
        return  # which data a charge is for is compared when it is charged
    with pytest.raises(ParameterError, match=message):
        action(survey(), "majority(support)", **{"epsilon": "0.5", "ledger": ledger, **options})
    assert ledger.history() == []


def _never(*_, **__):
    raise AssertionError("a row was read")


@pytest.mark.parametrize("owner", [ROWS, PEOPLE, FIXED, Protection("name", "replace", 50)], ids=str)
def test_what_the_owner_declared_need_not_be_repeated(tmp_path, owner):
    """Unit, relation and number are filled in, and may be repeated if they agree."""
    ledger = Ledger(tmp_path / "b.db", 900, protects=owner)
    bare = ask(survey(), "majority(support)", 300, ledger=ledger)
    options = {"unit": owner.unit, "neighbors": str(owner.neighbors), "people": owner.people}
    said = ask(survey(), "majority(support)", 300, ledger=ledger, **options)
    assert bare.value == said.value == "yes"
    assert bare.plan == said.plan
    assert ("one person" in bare.plan.neighbors) == (owner.unit is not None)


def test_personal_budgets_come_from_the_scope(tmp_path):
    """Column, values and numbers are the owner's; the plan is the same whatever stands in the data."""
    owner = Protection(neighbors="replace", epsilon_column="budget", budgets={"0.5": 20, "2": 30})
    ledger = Ledger(tmp_path / "b.db", 9, protects=owner)
    plans = []
    for split in (20, 3, 50):
        data = survey().assign(budget=["0.5"] * split + ["2"] * (50 - split))
        plans.append(replace(plan(data, "majority(support)", ledger=ledger), left=None))
        assert ask(data, "majority(support)", ledger=ledger).value in ("yes", "no")
    assert plans.count(plans[0]) == 3
    assert plans[0].epsilon == "2"


# each person's own ε, which no asker can raise

OWN = Protection(neighbors="replace", epsilon_column="budget", budgets={"0.1": 20, "1": 30})


def careful():
    return survey().assign(budget=["0.1"] * 20 + ["1"] * 30)


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({"epsilon": 1}, "ε = 0.1 and δ = 0"),
        ({"epsilon": "0.100000000000000000000000000000000000001"}, "ε = 0.1 and δ = 0"),
        ({"epsilon": 0.1}, "ε = 0.1 and δ = 0"),  # the float is more than a tenth
        ({"epsilon": "0.1", "delta": "1e-9"}, "δ = 0"),
        ({"epsilon": "0.1", "neighbors": "add-remove"}, "counts twice"),
        ({"epsilon": "0.1", "neighbors": "add-remove", "by": "name", "groups": ["1"]}, "counts twice"),
        ({"epsilon": 1, "neighbors": "add-remove", "by": "name", "delta": "1e-6"}, "counts twice"),
        ({"epsilon": 1, "question": "mode(support, categories=['yes', 'no'])"}, "ε = 0.1"),
    ],
    ids=str,
)
@pytest.mark.parametrize("action", [ask, plan])
def test_one_epsilon_for_everybody_is_at_most_the_smallest_that_was_declared(
    tmp_path, monkeypatch, action, options, limit
):
    """Where people have an ε of their own, more than the smallest of them would break the promise to the most careful:
    it is refused before a row is read, and nothing is charged.
    """  # noqa: D205
    ledger = Ledger(tmp_path / "b.db", 9, "0.1", protects=OWN)
    for name in ("count", "count_by", "group_batches"):
        monkeypatch.setattr(sources.Source, name, _never)
    with pytest.raises(ParameterError, match=f"have an ε of their own.*{limit}") as caught:
        action(careful(), **{"question": "majority(support)", "ledger": ledger, **options})
    assert caught.value.parameter == "epsilon"
    assert ledger.history() == []


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epsilon": "0.1"},
        {"epsilon": "0.05", "neighbors": "add-remove"},
        {"epsilon": "0.05", "neighbors": "add-remove", "by": "name", "groups": ["1"]},
        {"epsilon": "ln 1.1"},
    ],
    ids=str,
)
def test_what_keeps_to_the_smallest_is_granted(tmp_path, options):
    """Each person's own ε, or one for everybody that is at most the smallest in the terms of the scope."""
    ledger = Ledger(tmp_path / "b.db", 9, protects=OWN)
    ask(careful(), "majority(support)", ledger=ledger, **options)
    assert len(ledger.history()) == 1


@pytest.mark.parametrize("group", [{}, {"partition": "ward", "group": "N"}], ids=str)
def test_a_charge_by_hand_keeps_to_the_smallest_too(tmp_path, group):
    """One ε for everybody is what a charge says that says nothing else; with the owner's declaration it is personal."""
    ledger = Ledger(tmp_path / "b.db", 9, "0.1", protects=OWN)
    ledger.add_partition("ward", "one each")
    for cost in ({"epsilon": 1}, {"epsilon": "0.1", "delta": "1e-9"}, {"epsilon": "0.11"}):
        for call in (ledger.grant, ledger.check, lambda **more: ledger.charge(_never, **more)):
            with pytest.raises(ParameterError, match="an ε of their own"):
                call(**cost, **({} if call == ledger.check else group))
    whole = replace(OWN, epsilon_column=None, budgets=None)
    with pytest.raises(ParameterError, match="an ε of their own"):
        ledger.grant(epsilon=1, protects=whole, **group)
    for cost in ({"epsilon": "1.1"}, {"epsilon": 1, "delta": "1e-9"}):  # nobody has agreed to this
        with pytest.raises(ParameterError, match="an ε of their own"):
            ledger.grant(**cost, protects=ledger.protects(), **group)
    ledger.charge(lambda: 1, epsilon="0.1", **group)
    ledger.charge(lambda: 1, epsilon=1, protects=ledger.protects(), **group)
    assert [entry.epsilon for entry in ledger.history()] == [Fraction(1, 10), 1]


def test_a_charge_that_broke_a_promise_is_not_drawn_for(tmp_path):
    """An entry for one ε for everybody, written by other hands: repeating the request does not complete it."""
    ledger = Ledger(tmp_path / "b.db", 9, protects=OWN)
    wanted = checked_charge(1, 0, "r", "q", None, "default", None, None, None, None)
    with ledger._writing() as session:
        ledger._granted(session, replace(wanted, protects=OWN), 1)
    with pytest.raises(ParameterError, match="an ε of their own"):
        ledger.charge(_never, epsilon=1, question="q", request="r")


@pytest.mark.parametrize(
    ("declared", "asked", "fits"),
    [
        ({"ln 2": 3, "1": 4}, "ln 2", True),
        ({"ln 2": 3, "1": 4}, "log(2)", True),
        ({"ln 2": 3, "1": 4}, cost_epsilon("ln 2"), False),  # the rational that is charged for it lies just above
        ({"ln 2": 3, "1": 4}, budget_epsilon("ln 2"), True),
        ({"ln 2": 3, cost_epsilon("ln 2"): 4}, cost_epsilon("ln 2"), False),
        ({"0.7": 3, "1": 4}, "ln 2", True),
        ({"0.69": 3, "1": 4}, "ln 2", False),
        ({"0": 3, "1": 4}, "0.001", False),
        ({"1": 0, "2": 7}, "1.5", False),  # 1 was offered, and the data may hold somebody who chose it
    ],
    ids=str,
)
def test_the_smallest_epsilon_is_compared_exactly(declared, asked, fits):
    """Logarithms with logarithms, rationals with rationals, and one with the other by proved bounds."""
    owner = Protection(neighbors="replace", epsilon_column="budget", budgets=declared)
    single = Protection(neighbors="replace", people=7)
    if fits:
        assert owner.cost_of(single, asked, 0) == (cost_epsilon(asked), 0)
    else:
        with pytest.raises(ParameterError, match="an ε of their own"):
            owner.cost_of(single, asked, 0)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True),
    st.lists(st.tuples(st.sampled_from(["own", "all", "half"]), st.integers(0, 14)), max_size=8),
)
def test_nobody_loses_more_than_the_ledger_says_of_their_class(classes, asked):
    """Answers of all kinds, charged as they come: the exact loss of a person is the sum of the ε each granted answer
    had for them, no answer has more than their own, and ``spent_by_class`` is at least that sum.
    """  # noqa: D205
    tenths = [Fraction(each, 10) for each in classes]
    owner = Protection(neighbors="replace", epsilon_column="e", budgets={str(each): 2 for each in tenths})
    lost, entries = dict.fromkeys(tenths, Fraction(0)), []
    for kind, size in asked:
        epsilon = max(tenths) if kind == "own" else Fraction(size, 10)
        whom = {
            "own": owner,
            "all": replace(owner, epsilon_column=None, budgets=None),
            "half": Protection(),
        }[kind]
        try:
            cost, _ = owner.cost_of(whom, epsilon, 0)
        except ParameterError:
            assert epsilon * (2 if kind == "half" else 1) > min(tenths)
            continue
        for own in tenths:  # how far the answer lets one replaced person of this class move the odds
            loss = own if kind == "own" else epsilon * (2 if kind == "half" else 1)
            assert loss <= own
            lost[own] += loss
        entries.append(SimpleNamespace(epsilon=cost, partition=None, groups=()))
    found = spent_by_class(entries, owner.budgets)
    assert {Fraction(name): amount for name, amount in found.items()} == lost


def test_the_command_shows_what_each_class_has_spent(run):
    """Personal answers cost each person their own ε, one ε for everybody costs all the same; groups count once."""
    careful().to_csv("d.csv", index=False)
    run("budget", "init", "b.db", "-e", "3", "--neighbors", "replace", "--count", "d.csv", "--epsilon-column", "budget",
        "--budgets", "0.1,1", "--partition", "ward=one each")  # fmt: skip
    assert "spent so far" not in run("budget", "show", "b.db")
    for _ in range(2):
        run("ask", "d.csv", "majority(support)", "--ledger", "b.db")
    run("ask", "d.csv", "majority(support)", "--ledger", "b.db", "-e", "0.05")
    for ward in ("N", "S", "N"):
        Ledger("b.db").charge(lambda: 1, epsilon="0.1", partition="ward", group=ward)
    assert "spent so far by each person with ε = 0.1: 0.45, ε = 1: 2.25" in run("budget", "show", "b.db")
    (scope,) = json.loads(run("budget", "show", "b.db", "--json"))["scopes"]
    assert scope["spent_by_class"] == {"0.1": "0.45", "1": "2.25"}
    assert scope["spent"]["epsilon"] == "2.25"
    refused = run("ask", "d.csv", "majority(support)", "--ledger", "b.db", "-e", "1")
    assert "ask without epsilon and delta" in refused


@pytest.mark.parametrize("epsilon", ["1", "0.1", "0.01"])
def test_spark_answers_no_groups_where_people_have_their_own_epsilon(tmp_path, epsilon):
    """Groups need add-remove neighbours, and personal budgets replace: refused before the frame is even looked at."""
    ledger = Ledger(tmp_path / "b.db", 9, protects=OWN)
    with pytest.raises(ParameterError, match="neighbors='add-remove'"):
        ask_groups(object(), "majority(support)", epsilon, by="ward", path="out", ledger=ledger)
    assert ledger.history() == []


def test_a_certificate_is_one_epsilon_for_everybody(run):
    """It does not say whose ε an edge has, so release takes it up to the smallest only, even a personal one."""
    careful().to_csv("d.csv", index=False)
    Ledger("b.db", 9, protects=OWN)
    run("ask", "d.csv", "majority(support)", "--ledger", "b.db", "--plan", "--certificate", "own.json")
    for epsilon in ("0.1", "1"):
        words = ("ask", "d.csv", "majority(support)", "-e", epsilon, "--neighbors", "replace", "--people", "50")
        run(*words, "--plan", "--certificate", f"all-{epsilon}.json")
    run("design", "majority:50", "-e", "1", "--certificate", "graph.json")
    for name, at in (("own", "[0,0]"), ("all-1", "0"), ("graph", "0")):
        assert "an ε of their own" in run("release", f"{name}.json", "--at", at, "--ledger", "b.db")
    assert Ledger("b.db").history() == []
    run("release", "all-0.1.json", "--at", "0", "--ledger", "b.db")
    assert Ledger("b.db").spent().epsilon == Fraction(1, 10)


def test_the_ledger_takes_as_many_classes_as_a_question():
    """One number for both: what an owner may declare, somebody can ask."""
    sizes = {str(at): 1 for at in range(1, 17)}
    owner = Protection(neighbors="replace", epsilon_column="budget", budgets=sizes)
    read_request("majority(support)", owner=owner)
    with pytest.raises(ParameterError, match="1 to 16 values"):
        Protection(neighbors="replace", epsilon_column="budget", budgets=sizes | {"17": 1})


def test_plans_read_no_row(tmp_path, monkeypatch):
    """With every way to read a row gone, every kind of plan can be made; what would need a count is refused."""
    for name in ("count", "count_by", "group_batches"):
        monkeypatch.setattr(sources.Source, name, _never)
    path = tmp_path / "survey.csv"
    survey().to_csv(path, index=False)
    for options in (
        {"epsilon": 1},
        {"epsilon": 1, "unit": "name", "where": "income > 3"},
        {"epsilon": 1, "by": "name", "groups": ["1", "2"]},
        {"epsilon": 1, "delta": "1e-6", "by": "name"},
        {"epsilon": 1, "neighbors": "replace", "people": 50},
        {"epsilon_column": "income", "budgets": {"1": 10, "2": 20}, "neighbors": "replace"},
    ):
        assert plan(path, "majority(support)", **options).question == "majority(support)"
    for options in (
        {"epsilon": 1, "neighbors": "replace"},
        {"epsilon_column": "income", "budgets": ["1", "2"], "neighbors": "replace"},
    ):
        with pytest.raises(ParameterError, match="a plan reads no row"):
            plan(path, "majority(support)", **options)


# costs in other terms


def test_an_added_or_removed_person_is_half_a_replaced_one(tmp_path):
    """An add-remove question on a replace budget is charged 2ε and δ(1 + e^ε), rounded up; it fits that or nothing."""
    ledger = Ledger(tmp_path / "b.db", 1, "0.1", protects=FIXED)
    answer = ask(survey(), "majority(support)", "0.5", "0.03", neighbors="add-remove", ledger=ledger)
    (entry,) = ledger.history()
    assert entry.epsilon == 1
    assert 0 <= entry.delta - Fraction("0.03") * (1 + exp_below(Fraction(1, 2), 100)) < Fraction(1, 10**25)
    assert answer.plan.epsilon == "0.5"
    assert any("two steps are charged" in rule for rule in answer.plan.rules)


def test_relations_cannot_be_mixed_in_one_budget(tmp_path):
    """Add-remove 0.5 and replace 0.5 do not fit a budget of 1 together, in either kind of scope."""
    for number, owner in enumerate((ROWS, FIXED)):
        ledger = Ledger(tmp_path / f"{number}.db", 1, protects=owner)
        granted = []
        for neighbors in ("add-remove", "replace"):
            with contextlib.suppress(Exception):
                ask(survey(), "majority(support)", "0.5", neighbors=neighbors, ledger=ledger)
                granted.append(neighbors)
        assert granted == ["add-remove"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.tuples(st.booleans(), st.integers(1, 3)), min_size=1, max_size=6))
def test_the_worst_pair_over_mixed_charges_stays_within_the_budget(seed, charges):
    """Steps that are as bad as they may be for add-remove or replace neighbours, charged to one scope: the exact loss
    between any two neighbours of the scope's relation is at most what the ledger says was spent.

    A data set is (yes, no). The loss of a step is the difference of a linear function, such as the logarithm of the
    probability of a far answer under geometric noise: it moves by ε when somebody comes or goes, or is replaced.
    """  # noqa: D205
    dice = random.Random(seed)
    relations = {
        Neighbors.ADD_REMOVE: [((y, n), (y + 1, n)) for y, n in itertools.product(range(5), range(6))]
        + [((y, n), (y, n + 1)) for y, n in itertools.product(range(6), range(5))],
        Neighbors.REPLACE: [((y, 5 - y), (y + 1, 4 - y)) for y in range(5)],
    }
    for owner in (ROWS, Protection(neighbors="replace", people=5)):
        spent, steps = Fraction(0), []
        for is_replace, size in charges:
            relation = Neighbors.REPLACE if is_replace else Neighbors.ADD_REMOVE
            asked = Protection(neighbors=relation, people=5 if is_replace else None)
            try:
                cost, _ = owner.cost_of(asked, Fraction(size), Fraction(0))
            except ParameterError:
                assert (owner.neighbors, relation) == (Neighbors.ADD_REMOVE, Neighbors.REPLACE)
                continue
            spent += cost
            slope = [dice.choice((-1, 1)) * size, dice.choice((-1, 1)) * size]
            if is_replace:  # only the number of yes matters, and one replacement moves it by one
                slope[1] = 0
            steps.append(slope)
        worst = max(
            sum(abs(slope[0] * (b[0] - a[0]) + slope[1] * (b[1] - a[1])) for slope in steps)
            for a, b in relations[owner.neighbors]
        )
        assert worst <= spent


# ledgers of an older version


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.executescript(OLD.read_text())
    return path


def test_an_older_ledger_opens_with_all_it_had(old):
    """Entries, answers, totals and budgets are as they were, and the file is of today's schema after one opening."""
    ledger = Ledger(old)
    assert ledger.audit() == 4
    assert [entry.answer for entry in ledger.history()] == ["yes", {}, ["b", 1], "no"]
    assert all(entry.older and entry.state is State.ANSWERED for entry in ledger.history())
    assert ledger.spent().epsilon == Fraction(19, 30)
    assert set(ledger.scopes()) == {"default", "staff"}
    with contextlib.closing(sqlite3.connect(old)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (2,)


def test_an_older_scope_asks_its_owner_whom_it_protects(old):
    """Nothing is answered from it until that is declared, once; charges in its own terms go on."""
    ledger = Ledger(old)
    with pytest.raises(ParameterError, match="did not record who is one person"):
        ask(survey(), "majority(support)", "0.1", ledger=ledger)
    ledger.charge(lambda: 1, epsilon="0.01")
    ledger.declare(PEOPLE)
    assert ask(survey(), "majority(support)", "0.1", ledger=ledger).value in ("yes", "no")
    with pytest.raises(ParameterError, match="has charges"):
        ledger.declare(ROWS)


def test_an_answer_of_an_older_version_is_free_and_says_so(old, tmp_path):
    """A request is known by its id, question, cost and scope; another under that id is refused."""
    path = tmp_path / "survey.csv"
    survey().assign(ward="N").to_csv(path, index=False)
    ledger = Ledger(old)
    ledger.declare(ROWS)
    again = ask(path, "majority(support)", "0.2", ledger=ledger, request="poll")
    assert (again.value, again.repeated, again.older) == ("yes", True, True)
    for changed in ({"epsilon": "0.1"}, {"where": "ward == 'N'"}):
        with pytest.raises(ParameterError, match="already used for a different request"):
            ask(path, "majority(support)", **{"epsilon": "0.2", "ledger": ledger, "request": "poll", **changed})
    assert len(ledger.history()) == 4


def test_an_upgrade_that_fails_leaves_the_older_ledger(old):
    """A damaged row stops it, and the file is as it was."""
    with contextlib.closing(sqlite3.connect(old)) as raw:
        raw.execute("UPDATE tinct_entries SET answer = '\"no\"' WHERE number = 1")
        raw.commit()
    with pytest.raises(Exception, match="checksum"):
        Ledger(old)
    with contextlib.closing(sqlite3.connect(old)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (1,)
        assert raw.execute("SELECT count(*), min(answer) FROM tinct_entries").fetchone() == (4, '"no"')


def test_many_may_open_an_older_ledger_at_once(old):
    """One of them upgrades it, and everybody finds it whole."""
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(Ledger(old).audit())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [4] * 8


def test_a_copy_of_an_older_ledger_with_strange_tables_is_refused(old, tmp_path):
    """A trigger would come along: only exactly the older tables are upgraded."""
    other = tmp_path / "other.db"
    shutil.copy(old, other)
    with contextlib.closing(sqlite3.connect(other)) as raw:
        raw.execute("CREATE TRIGGER t AFTER INSERT ON tinct_totals BEGIN DELETE FROM tinct_totals; END")
    with pytest.raises(Exception, match="something else has changed the file"):
        Ledger(other)


def test_an_older_ledger_whose_totals_are_gone_is_not_upgraded(old):
    """The seal of the totals is compared before they get a new one: spending must not be forgotten on the way."""
    with contextlib.closing(sqlite3.connect(old)) as raw:
        raw.execute("DELETE FROM tinct_totals")
        raw.commit()
    with pytest.raises(FileError, match="do not match their seal"):
        Ledger(old)


# whoever can write entries


@pytest.mark.parametrize("where", ["another scope", "a group"])
def test_a_charge_that_stands_elsewhere_is_not_taken_for_this_one(tmp_path, where):
    """An entry with the digest of a request, booked where it costs nothing here, does not pay for that request."""
    ledger = Ledger(tmp_path / "b.db", 1)
    ledger.add_scope("toy", 100)
    ledger.add_partition("ward", "one each")
    wanted = checked_charge(1, 0, "r", "q", None, "default", None, None, None, None)
    forged = (
        replace(wanted, scope="toy") if where == "another scope" else replace(wanted, partition="ward", groups=("n",))
    )
    with ledger._writing() as session:
        ledger._granted(session, forged, 1)
    with pytest.raises(ParameterError, match="already used for a different request"):
        ledger.charge(_never, epsilon=1, question="q", request="r")


def test_a_converted_cost_is_never_rounded_down_to_the_budget(tmp_path):
    """An add-remove request for the whole ε of a replace budget costs twice that, also if half of it was booked."""
    ledger = Ledger(tmp_path / "b.db", 1, protects=FIXED)
    wanted = checked_charge(1, 0, "r", "q", None, "default", None, None, None, None, protects=ROWS)
    with ledger._writing() as session:
        ledger._granted(session, replace(wanted, protects=None), 1)
    with pytest.raises(FileError, match="was charged less than it costs"):
        ledger.grant(epsilon=1, question="q", request="r", protects=ROWS)


def test_a_ledger_with_two_names_is_refused(tmp_path):
    """SQLite keeps a log for each name of a file, and one would not know of the other's charges."""
    Ledger(tmp_path / "b.db", 1)
    (tmp_path / "other.db").hardlink_to(tmp_path / "b.db")
    for name in ("b.db", "other.db"):
        with pytest.raises(FileError, match="a second name"):
            Ledger(tmp_path / name)


# release


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words, status=0):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == status or isinstance(done.exception, TinctError), done.output
        return str(done.exception) if isinstance(done.exception, TinctError) else done.output

    return call


def test_a_certificate_is_charged_in_the_terms_of_the_scope(run):
    """One for add-remove neighbours costs twice its ε on a replace budget; one for replace is refused the other way."""
    survey().to_csv("d.csv", index=False)
    for relation, more in (("add-remove", ()), ("replace", ("--people", "50"))):
        words = ("ask", "d.csv", "majority(support)", "-e", "1", "--neighbors", relation, *more, "--plan")
        run(*words, "--certificate", f"{relation}.json")
    Ledger("fixed.db", 1, protects=FIXED)
    assert "asked 2, left 1" in run("release", "add-remove.json", "--at", "0", "--ledger", "fixed.db")
    Ledger("rows.db", 1)
    assert "adding or removing" in run("release", "replace.json", "--at", "0", "--ledger", "rows.db")
    run("release", "add-remove.json", "--at", "0", "--ledger", "rows.db")
    assert (Ledger("fixed.db").spent().epsilon, Ledger("rows.db").spent().epsilon) == (0, 1)
    Ledger("one.db", 1, protects=Protection(data="/elsewhere.csv"))
    assert "is for '/elsewhere.csv' only" in run("release", "add-remove.json", "--at", "0", "--ledger", "one.db")


def test_pieces_are_not_charged_to_a_budget(run):
    """Between pieces nothing is promised, so there is no cost that would cover it."""
    Path("apart.csv").write_text("source,target,source_color,target_color\na,b,no,yes\nc,d,no,yes\n")
    run("design", "apart.csv", "-e", "1", "--disconnected", "--certificate", "c.json")
    Ledger("b.db", 1)
    assert "in 2 pieces" in run("release", "c.json", "--at", "a", "--ledger", "b.db")
    assert Ledger("b.db").history() == []


def test_whether_a_dataset_is_in_the_graph_is_not_told_for_free(run):
    """With a ledger a stranger is charged like any other, and the sentence is the one for everything that fails."""
    run("design", "majority:5", "-e", "1", "--certificate", "c.json")
    Ledger("b.db", 2)
    assert "is charged, but its answer could not be completed" in run(
        "release", "c.json", "--at", "99", "--ledger", "b.db"
    )
    assert Ledger("b.db").spent().epsilon == 1
    assert "not one of the certificate" in run("release", "c.json", "--at", "99")
