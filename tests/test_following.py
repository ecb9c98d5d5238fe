"""What follows from a recorded number is read off the ledger: free, from the very request, the data unseen."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from tinct import Ledger, ParameterError, Privacy, Protection, ask, asking
from tinct.asking.following import Recorded, _leading, _reaching, following
from tinct.asking.number_designs import number_design
from tinct.cli.main import app
from tinct.questions import Counts, parse
from tinct.questions.noise import count_noise

ROWS = pd.DataFrame(
    {
        "id": [f"p{at}" for at in range(900)],
        "age": [70 if at % 5 < 2 else 30 for at in range(900)],
        "ward": ["N" if at % 10 < 6 else "S" if at % 10 < 9 else "E" for at in range(900)],
        "support": ["yes" if at % 3 else "no" for at in range(900)],
    }
)
WARDS = "ward, categories=['N', 'S', 'E']"


@pytest.fixture
def book(tmp_path):
    """A ledger with a count, a margin and a histogram in it, and the answers."""
    found = Ledger(tmp_path / "b.db", epsilon=20, delta="1e-3")
    ask(ROWS, "count(age >= 65)", "ln 2", "1e-6", ledger=found, request="old")
    ask(ROWS, "margin(support)", "0.3", ledger=found, request="lead")
    ask(ROWS, f"histogram({WARDS})", 1, ledger=found, request="wards")
    ask(ROWS, "count(age >= 65)", 1, by="ward", groups=["N", "E"], ledger=found, request="old by ward")
    return found


def recorded(book, request):
    """The recorded answer."""
    return book.find(request).answer


FOLLOWS = [
    ("old", "threshold(age >= 65, at_least={y})", lambda _: "yes"),
    ("old", "threshold(age >= 65, above={y})", lambda _: "no"),
    ("old", "threshold(age >= 65, below={y})", lambda _: "no"),
    ("old", "threshold(age >= 65, at_most={y})", lambda _: "yes"),
    ("old", "count(age >= 65)", lambda y: y),
    ("lead", "majority(support)", lambda y: "yes" if y >= 1 else "no"),
    ("lead", "share(support, above=1/2)", lambda y: "yes" if y >= 1 else "no"),
    ("wards", f"mode({WARDS})", lambda y: max(y, key=y.get)),
    ("wards", f"top({WARDS}, k=2)", lambda y: dict(sorted(y.items(), key=lambda each: -each[1])[:2])),
    ("wards", "count(ward == 'S')", lambda y: y["S"]),
    ("wards", "threshold(ward == 'S', at_least=250)", lambda y: "yes" if y["S"] >= 250 else "no"),
    ("wards", "majority(ward, yes='N', no=['S', 'E'])", lambda y: "yes" if y["N"] > y["S"] + y["E"] else "no"),
]


@pytest.mark.parametrize(("request_id", "text", "expected"), FOLLOWS)
def test_what_follows_is_read_off_the_recorded_answer_and_costs_nothing(book, request_id, text, expected, monkeypatch):
    """The answer is a function of what is recorded; nothing is charged, nothing recorded, no row counted."""
    before = len(book.history())
    stored = recorded(book, request_id)
    monkeypatch.setattr("tinct.sources.source.Source.count", lambda *_, **__: pytest.fail("a row was read"))
    monkeypatch.setattr("tinct.exact.sampler.entropy", lambda _: pytest.fail("something was drawn"))
    answer = ask(ROWS, text.format(y=stored), ledger=book, after=request_id)
    assert answer.value == expected(stored)
    assert (answer.follows, answer.request, answer.plan.epsilon) == (True, request_id, "0")
    assert len(book.history()) == before
    assert answer.to_dict()["follows"]


def test_groups_that_were_declared_are_followed_group_by_group(book):
    """Each group's number answers for it."""
    stored = recorded(book, "old by ward")
    options = {"by": "ward", "groups": ["N", "E"], "ledger": book, "after": "old by ward"}
    found = ask(ROWS, "threshold(age >= 65, at_least=20)", **options)
    assert found.value == {name: "yes" if number >= 20 else "no" for name, number in stored.items()}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"question": "threshold(age >= 66, 3)"}, "does not follow from request 'old'.*the same predicate"),
        ({"question": "majority(support)"}, "does not follow"),
        ({"question": "exists(age >= 65)"}, "never says yes wrongly"),
        ({"question": "share(age >= 65, at_least=0.5)"}, "does not follow"),
        ({"question": f"mode({WARDS}, rest='E')", "after": "wards"}, "does not follow"),
        ({"question": "mode(ward, categories=['S', 'N', 'E'])", "after": "wards"}, "does not follow"),
        ({"question": "threshold(ward == 'W', 3)", "after": "wards"}, "tells its own categories"),
        ({"question": "share(support, at_least=1/2)", "after": "lead"}, "does not follow"),
        ({"where": "ward == 'N'"}, "same options as request 'old': that was"),
        ({"unit": "id"}, "protects each row as one person"),
        ({"by": "ward", "groups": ["N"]}, "same options as request 'old'"),
        ({"data": "other"}, "same data"),
        ({"after": "nothing"}, "has no request 'nothing'"),
        ({"after": "plain"}, "was not answered with numbers"),
        ({"epsilon": 1}, "leave out epsilon"),
        ({"delta": "1e-6"}, "leave out delta"),
        ({"request": "again"}, "leave out request"),
        ({"ledger": None}, "after needs a ledger"),
        ({"scope": "other"}, "no request 'old'"),
    ],
)
def test_what_does_not_follow_is_refused_with_the_reason(book, options, problem):
    """And nothing is charged for having asked."""
    ask(ROWS, "majority(support)", "0.1", ledger=book, request="plain")
    book.add_scope("other", epsilon=1)
    before = book.history()
    given = {"data": ROWS, "question": "threshold(age >= 65, 3)", "ledger": book, "after": "old", **options}
    if isinstance(given["data"], str):
        given["data"] = pa.Table.from_pandas(ROWS)  # which is called something else than a pandas DataFrame
    with pytest.raises(ParameterError, match=problem):
        ask(**given)
    assert book.history() == before


def test_the_words_of_an_entry_do_not_decide_what_follows(book):
    """An entry whose text says a count, made by something else, has another digest."""
    text = book.find("old").question
    book.charge(lambda: 10**6, epsilon="ln 2", delta="1e-6", request="forged", question=text)
    with pytest.raises(ParameterError, match="same options"):
        ask(ROWS, "threshold(age >= 65, 3)", ledger=book, after="forged")


def test_a_plan_says_what_is_already_paid_for(book):
    """For the very data and options, and for nothing else."""
    said = asking.plan(ROWS, "threshold(age >= 65, at_least=7)", epsilon=1, ledger=book)
    assert said.paid_by == "old"
    assert said.to_dict()["paid_by"] == "old"
    assert asking.plan(ROWS, f"mode({WARDS})", epsilon=1, ledger=book).paid_by == "wards"
    assert asking.plan(ROWS, "threshold(age >= 64, at_least=7)", epsilon=1, ledger=book).paid_by is None
    assert asking.plan(ROWS, "count(age >= 65)", epsilon=1, where="ward == 'N'", ledger=book).paid_by is None
    assert asking.plan(ROWS, "threshold(age >= 65, at_least=7)", epsilon=1).paid_by is None


def test_only_a_threshold_on_one_balanced_number_is_called_as_good_as_if_asked_alone(book):
    """A majority from several cells carries several noises; under replace a cell has half the budget."""
    alone = ask(ROWS, "threshold(age >= 65, 3)", ledger=book, after="old").plan
    assert "as if it alone had been asked" in alone.method
    asked = asking.plan(ROWS, "threshold(age >= 65, 3)", epsilon="ln 2", delta="1e-6")
    assert np.allclose(alone.accuracy.right["tinct"], asked.accuracy.right["tinct"], atol=1e-9)
    for text in ("majority(ward, yes='N', no='S')", f"mode({WARDS})", f"top({WARDS}, k=1)"):
        assert "alone" not in ask(ROWS, text, ledger=book, after="wards").plan.method


def test_under_replace_a_histogram_has_half_and_what_follows_says_less(tmp_path):
    """The public accuracy is that of two noises with half of ε, and a step of two."""
    protects = Protection(neighbors="replace", people=900)
    book = Ledger(tmp_path / "r.db", epsilon=5, protects=protects)
    ask(ROWS, f"histogram({WARDS})", 1, ledger=book, request="wards")
    found = ask(ROWS, "majority(ward, yes='N', no='S')", ledger=book, after="wards").plan
    assert "alone" not in found.method
    noise = count_noise(Privacy(1), changes=2)
    assert found.accuracy.right["tinct"][0] == pytest.approx(_reaching(noise, (1, -1), 2)(1))


# how often it is right, by brute force


def _pairs(noise):
    low, high = (-60, 60) if noise.ends is None else noise.ends
    return [(z, noise.at_least(z) - noise.at_least(z + 1)) for z in range(low, high + 1)]


@pytest.mark.parametrize("delta", ["0.01", "0"])
def test_the_accuracy_of_a_sum_is_that_of_all_its_noises(delta):
    """Σ over every pair of draws."""
    noise = count_noise(Privacy(1, delta))
    pairs = _pairs(noise)
    for margin in (1, 2, 5):
        lead = margin  # yes − no where yes is just so far ahead that so many people must go
        right = sum(p * q for (a, p), (b, q) in product(pairs, pairs) if lead + a - b >= 1)
        wrong_no = sum(p * q for (a, p), (b, q) in product(pairs, pairs) if -(margin - 1) + a - b <= 0)
        assert _reaching(noise, (1, -1), 1)(margin) == pytest.approx(min(right, wrong_no), abs=1e-8)


def test_the_accuracy_of_a_leader_is_at_most_what_brute_force_finds():
    """All draws of three categories, the others so far behind, ties lost."""
    noise = count_noise(Privacy(1, "0.05"))
    pairs = _pairs(noise)
    for margin in (1, 3):
        won = sum(p * q * r for (a, p), (b, q), (c, r) in product(pairs, repeat=3) if a + margin > b and a + margin > c)
        assert _leading(noise, 2)(margin) == pytest.approx(won, abs=1e-8)


@pytest.mark.parametrize(
    "text", ["threshold(x, 3)", "majority(x)", "median(y, above=4)", "quantile(y, 1/2, at_most=4)"]
)
def test_what_follows_from_the_true_number_is_the_true_answer(text):
    """Without noise, reading off is answering: for all small counts."""
    question = parse(text)
    source = parse(f"{'count' if text.startswith('threshold') else 'margin'}({question.counted.predicate})")
    made = following(question, number_design(source, Privacy(1), "add-remove", None), "r", None)
    for yes, no in product(range(6), repeat=2):
        counts = Counts(yes + no, (yes, no))
        truth = "yes" if question.family("add-remove").truth(counts) else "no"
        assert made.read(source.numbers(counts, None)[0]) == truth


def test_a_record_says_what_it_was_asked_with_and_is_read_back(book):
    """Logarithms and fractions come back as they were; other records are none of numbers."""
    found = Recorded.of(book.find("old"))
    assert (str(found.question), found.privacy) == ("count(age >= 65)", Privacy("ln 2", "1e-6"))
    ask(ROWS, "majority(support)", "0.1", ledger=book, request="plain")
    assert Recorded.of(book.find("plain")) is None
    assert "epsilon" not in book.find("plain").question
    odd = pd.DataFrame({"a of b": [1, 2], "x": ["of , epsilon 3", "b"]})
    ask(odd, "count(\"a of b\" >= 1 and x == 'of , epsilon 3')", "1/3", ledger=book, request="odd")
    assert Recorded.of(book.find("odd")).privacy == Privacy("1/3")
    answer = ask(odd, "threshold(\"a of b\" >= 1 and x == 'of , epsilon 3', 99)", ledger=book, after="odd")
    assert answer.value in ("yes", "no")


def test_the_command_follows_too_and_says_that_it_cost_nothing(tmp_path):
    """``--after``, and the plan that points to it."""
    ROWS.to_csv(tmp_path / "s.csv", index=False)
    data, ledger = str(tmp_path / "s.csv"), str(tmp_path / "b.db")
    Ledger(ledger, epsilon=5)
    run = CliRunner().invoke
    assert run(app, ["ask", data, "count(age >= 65)", "-e", "1", "--ledger", ledger, "--request", "old"]).exit_code == 0
    threshold = "threshold(age >= 65, at_least=100)"
    planned = run(app, ["ask", data, threshold, "-e", "1", "--plan", "--ledger", ledger])
    assert "Already paid for by request old" in " ".join(planned.output.split())
    found = run(app, ["ask", data, threshold, "--ledger", ledger, "--after", "old"])
    assert found.exit_code == 0
    assert "Cost: nothing, it follows from the recorded answer of request old" in " ".join(found.output.split())
    refused = run(app, ["ask", data, threshold, "--ledger", ledger, "--after", "old", "--plan"])
    assert "--after does not go with --plan" in str(refused.exception)
    assert math.isclose(float(Ledger(ledger).spent().epsilon), 1)
