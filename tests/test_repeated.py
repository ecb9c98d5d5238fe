"""Asking the same people again: chains enumerated exactly, estimates and changes, memories, forged files."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from typer.testing import CliRunner

from tinct import local
from tinct.cli.main import app
from tinct.errors import FileError, ParameterError
from tinct.local._repeated import HALF

CHAINS = {
    "bits": local.repeated(3, "ln 5", "ln 2"),
    "bits of two": local.repeated(2, 1, "1/2"),
    "bits kept": local.repeated(3, 1, 1),
    "cells": local.repeated(3, 2, 1, kind="cells"),
    "cells of four": local.repeated(4, "ln 9", "ln 3", kind="cells"),
    "cells kept": local.repeated(3, "ln 2", "ln 2", kind="cells"),
    "hash": local.repeated(3, 2, 1, kind="hash"),
    "hash of three": local.repeated(3, 1, "1/4", kind="hash", buckets=3),
}
EVERY = pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)


def stages(chain):
    """For each answer the chances of what is kept, and for each kept value those of a report, in rationals."""
    memo, k = chain.memo.randomiser, len(chain.symbols)
    noise = Fraction(chain.noise, HALF)
    if chain.kind == "bits":
        q = Fraction(memo.other, HALF)
        rows = list(product((0, 1), repeat=k))

        def bits(row, ones):
            return math.prod(one if bit else 1 - one for bit, one in zip(row, ones, strict=True))

        first = [
            {row: bits(row, [Fraction(1, 2) if z == x else q for z in range(k)]) for row in rows} for x in range(k)
        ]
        second = {
            row: {seen: bits(seen, [1 - noise if bit else noise for bit in row]) for seen in rows} for row in rows
        }
        return first, second
    count = memo.count if chain.kind == "cells" else memo.buckets
    own, other = Fraction(memo.own, HALF), Fraction(memo.other, HALF)
    kept = 1 - (count - 1) * noise
    second = {y: {z: kept if z == y else noise for z in range(count)} for y in range(count)}
    if chain.kind == "cells":
        return [{y: own if x == y else other for y in range(count)} for x in range(k)], second
    p = memo.prime
    hashes = list(product(range(1, p), range(p)))
    first = [
        {
            (a, b, y): (own if (a * x + b) % p % count == y else other) / len(hashes)
            for a, b in hashes
            for y in range(count)
        }
        for x in range(k)
    ]
    return first, {(a, b, y): {(a, b, z): second[y][z] for z in second[y]} for a, b in hashes for y in range(count)}


def worst_ratio(chain, rounds):
    """The largest ratio of the chances of the same reports about two answers, over all sequences of reports."""
    first, second = stages(chain)
    seen = sorted({report for row in second.values() for report in row})
    found = Fraction(1)
    for reports in product(seen, repeat=rounds):
        chances = [
            sum(chance * math.prod(second[kept].get(report, 0) for report in reports) for kept, chance in row.items())
            for row in first
        ]
        if max(chances):
            found = max(found, max(chances) / min(chances))
    return found


@EVERY
@pytest.mark.parametrize("rounds", [1, 2])
def test_chains_are_as_private_as_enumeration_says(chain, rounds):
    """All sequences of reports: one report keeps ε₁, several what is stated, and never more than ε∞."""
    ratio = worst_ratio(chain, rounds)
    assert ratio <= chain.memo.randomiser.growth
    assert math.log(ratio) <= chain.epsilon_after(rounds) <= math.log(ratio) * (1 + 1e-9) + 1e-12
    if rounds == 1:
        assert ratio <= chain.mechanism.randomiser.growth
        assert math.log(ratio) == pytest.approx(chain.mechanism.epsilon, rel=1e-8)


@EVERY
def test_the_pair_is_the_one_channel_that_is_certified(chain):
    """The product of the stages is the composed mechanism, unit by unit."""
    first, second = stages(chain)
    composed = chain.mechanism.randomiser
    for x, row in enumerate(first):
        both: dict = {}
        for kept, chance in row.items():
            for report, more in second[kept].items():
                both[report] = both.get(report, 0) + chance * more
        if chain.kind == "cells":
            expected = {y: Fraction(composed.own if y == x else composed.other, HALF**2) for y in range(composed.count)}
        elif chain.kind == "bits":
            ones = [Fraction(1, 2) if z == x else Fraction(composed.other, HALF**2) for z in range(len(first))]
            expected = {r: math.prod(one if bit else 1 - one for bit, one in zip(r, ones, strict=True)) for r in both}
        else:
            p, g = composed.prime, composed.buckets
            units = {True: composed.own, False: composed.other}
            expected = {(a, b, y): Fraction(units[(a * x + b) % p % g == y], HALF**2 * p * (p - 1)) for a, b, y in both}
        assert both == expected


def test_a_kept_answer_is_sent_again_where_nothing_else_is_asked_for():
    """With ε₁ = ε∞ there is no second stage; with changes of answers, coming back finds what was kept."""
    for chain in (CHAINS["bits kept"], CHAINS["cells kept"]):
        assert chain.noise <= 1
        memory = None
        seen = {}
        for value in (0, 1, 0, 2, 1, 0):
            report, memory = chain.answer(value, memory)
            assert seen.setdefault(value, report) == report
        assert sorted(memory.drawn) == [0, 1, 2]


def test_lifetimes_add_up_and_hashes_end_them():
    """Each further answer costs ε∞ again, up to the symbols or the buckets."""
    assert local.repeated(10, 2, 1).lifetime(3) == 6
    assert local.repeated(10, 2, 1).lifetime(99) == 20
    assert local.repeated(10, 2, 1, kind="hash").lifetime(99) == 4
    chain = local.repeated(20, 3, 1)
    after = [chain.epsilon_after(rounds) for rounds in (1, 2, 5, 20, 1000)]
    assert after == sorted(after)
    assert after[-1] == pytest.approx(3, abs=1e-6)


def test_the_second_stage_is_the_published_one():
    """L-OSUE: p₂ = (1 − e^(ε₁+ε∞))/(e^ε₁ − e^ε∞ − e^(ε₁+ε∞) + 1)."""
    for most, least in ((2.0, 1.0), (4.0, 0.5), (3.0, 2.9)):
        e1, e2 = math.exp(least), math.exp(most)
        published = (1 - e1 * e2) / (e1 - e2 - e1 * e2 + 1)
        assert 1 - local.repeated(7, most, least).noise / HALF == pytest.approx(published, abs=1e-8)


@pytest.mark.parametrize("kind", ["bits", "cells", "hash"])
def test_reports_of_a_round_are_those_of_the_composed_mechanism(kind):
    """4,000 people, three rounds with their memories: each round's estimates are within 5 deviations."""
    chain = local.repeated(4, 3, 2, kind=kind, symbols=["a", "b", "c", "d"])
    rng = np.random.default_rng(5)
    people = rng.choice(4, 4000, p=[0.4, 0.3, 0.2, 0.1])
    memories = [None] * len(people)
    for turn in range(3):
        reports = []
        for at, code in enumerate(people):
            report, memories[at] = chain.answer(chain.symbols[code], memories[at])
            reports.append(report)
        found = chain.mechanism.estimate(np.array(reports))
        truth = np.bincount(people, minlength=4) / len(people)
        assert (np.abs(found.frequencies - truth) < 5 * found.deviations).all(), turn
        people[: 500 * (turn + 1)] = rng.integers(0, 4, 500 * (turn + 1))
    assert all(memory == local.Memory.from_text(memory.to_text()) for memory in memories[:50])


def draws(chain, codes, rng):
    """Two rounds of many people at once, from the enumerated stages: what changed answers draw is new."""
    first, second = stages(chain)
    kept = list(second)
    one = np.array([[float(row.get(y, 0)) for y in kept] for row in first])
    seen = sorted({report for row in second.values() for report in row})
    two = np.array([[float(second[y].get(z, 0)) for z in seen] for y in kept])
    before, after = codes
    memo = (one.cumsum(axis=1)[before] < rng.random(len(before))[:, None]).sum(axis=1)
    again = (one.cumsum(axis=1)[after] < rng.random(len(after))[:, None]).sum(axis=1)
    again = np.where(before == after, memo, again)
    rounds = [(two.cumsum(axis=1)[row] < rng.random(len(row))[:, None]).sum(axis=1) for row in (memo, again)]
    return [np.array([seen[at] for at in row]) for row in rounds]


@pytest.mark.parametrize("name", ["bits", "cells"])
def test_intervals_of_changes_cover(name, tmp_path):
    """400 surveys of 500 people of whom a third changed: all changes are inside as often as stated."""
    chain = CHAINS[name]
    rng = np.random.default_rng(11)
    covered, errors = 0, []
    for _ in range(400):
        before = rng.choice(3, 500, p=[0.5, 0.3, 0.2])
        after = np.where(rng.random(500) < 1 / 3, rng.integers(0, 3, 500), before)
        tallies = []
        for rows in draws(chain, (before, after), rng):
            rows = rows.reshape(500, -1)
            randomiser = chain.mechanism.randomiser
            counts = np.bincount(rows[:, 0], minlength=3) if name == "cells" else randomiser.support(rows)
            tallies.append(local.Tally(chain.mechanism, counts, 500))
        found = chain.change(*tallies)
        truth = (np.bincount(after, minlength=3) - np.bincount(before, minlength=3)) / 500
        covered += bool(((found.low <= truth) & (truth <= found.high)).all())
        errors.append((found.changes - truth) / found.deviations)
    assert covered >= 400 * 0.95 - 3 * math.sqrt(400 * 0.95 * 0.05)
    assert np.abs(np.mean(errors, axis=0)).max() < 0.25
    assert np.std(errors, axis=0).max() < 1.1  # what is kept makes changes vary less, never more


def test_memories_that_were_changed_are_refused():
    """A bit, a number, another chain's: nothing is drawn again behind somebody's back."""
    chain = CHAINS["cells"]
    _, memory = chain.answer(1)
    text = memory.to_text()
    fields = json.loads(text)
    for change in ({"drawn": {"1": 7}}, {"drawn": {}}, {"memo": "0"}, {"hash": [1, 2]}, {"check": "0"}, {"more": 1}):
        with pytest.raises(FileError):
            local.Memory.from_text(json.dumps({**fields, **change}))
    for name in ("cells of four", "bits", "hash"):
        with pytest.raises(ParameterError, match="another chain"):
            CHAINS[name].answer(1, memory)
    forged = local.Memory(memory.memo, memory.mechanism, None, {1: 7})
    with pytest.raises(ParameterError, match="cannot have drawn"):
        chain.answer(1, local.Memory.from_text(forged.to_text()))
    for text in ("", "{}", "[]", '{"schema": "tinct/memo@2"}'):
        with pytest.raises(FileError):
            local.Memory.from_text(text)


@EVERY
def test_files_carry_the_chain_and_forged_ones_are_refused(chain, tmp_path):
    """What is read is proved again: the first stage, and both as one."""
    path = tmp_path / "c.json"
    chain.to_json(path)
    back = local.Chain.from_json(path)
    assert (back.memo.id, back.mechanism.id, back.noise) == (chain.memo.id, chain.mechanism.id, chain.noise)
    fields = json.loads(path.read_text())
    truth = {"own": str(HALF - 2), "other": "1"} if "own" in fields["memo"] else {"other": "1"}
    for change in (
        {"memo": {**fields["memo"], **truth}}, {"first": "1/100"}, {"lifetime": "1/100"}, {"first_growth": "1000"},
        {"lifetime_growth": "1000"}, {"noise": "-1"}, {"noise": 0}, {"noise": str(HALF)}, {"kind": "dice"}, {"kind": 3},
        {"symbols": ["a"]}, {"memo": {}}, {"memo": {**fields["memo"], "more": 1}}, {"more": 1}, {"first": 1},
        {"schema": "tinct/local-chain@2"}, {"memo": {**fields["memo"], "denominator": str(2 * HALF)}},
    ):  # fmt: skip
        path.write_text(json.dumps({**fields, **change}))
        with pytest.raises(FileError):
            local.Chain.from_json(path)


def test_less_noise_than_the_file_states_is_refused(tmp_path):
    """One unit less noise, and one report says more than ε₁."""
    chain = CHAINS["cells"]
    chain.to_json(tmp_path / "c.json")
    fields = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps({**fields, "noise": str(chain.noise - 2)}))
    with pytest.raises(FileError, match="chain is not private"):
        local.Chain.from_json(tmp_path / "c.json")


def test_impossible_budgets_are_refused():
    """One report is part of everything that is sent."""
    with pytest.raises(ParameterError, match="first must be at most lifetime"):
        local.repeated(3, 1, 2)
    for wrong in (
        {"kind": "dice"},
        {"kind": "hash", "buckets": 9},
        {"k": 1},
        {"lifetime": 17},
        {"lifetime": 0},
        {"first": -1},
    ):
        with pytest.raises(ParameterError):
            local.repeated(**{"k": 3, "lifetime": 2, "first": 1, **wrong})
    chain = CHAINS["cells"]
    other = local.Tally(local.randomized_response(3, 1), np.array([1, 0, 0]), 1)
    with pytest.raises(ParameterError, match="another mechanism"):
        chain.change(other, other)
    same = local.Tally(chain.mechanism, np.array([1, 0, 0]), 1)
    with pytest.raises(ParameterError, match="of one round"):
        chain.change(same, same)


def test_the_command_designs_counts_and_compares(tmp_path):
    """From a chain to two rounds, their estimates and the change."""
    run = CliRunner().invoke
    line = ["local", "repeat", "--symbols", "a,b,c", "--lifetime", "2", "--first", "1", "--kind", "cells"]
    done = run(app, [*line, "--output", f"{tmp_path}/c.json", "--rounds", "12"])
    assert done.exit_code == 0, done.output
    assert "12 reports about one answer" in done.output
    chain = local.Chain.from_json(tmp_path / "c.json")
    rng = np.random.default_rng(3)
    for turn in (1, 2):
        rows = [chain.answer(chain.symbols[code])[0] for code in rng.integers(0, 3, 300)]
        (tmp_path / f"{turn}.jsonl").write_text("".join(f"{row}\n" for row in rows))
    given = [f"{tmp_path}/1.jsonl", f"{tmp_path}/2.jsonl", "-m", f"{tmp_path}/c.json"]
    found = json.loads(run(app, ["local", "change", *given, "--json"]).stdout)
    assert [each["symbol"] for each in found["symbols"]] == ["a", "b", "c"]
    assert run(app, ["local", "change", *given]).exit_code == 0
    assert json.loads(run(app, ["local", "estimate", given[0], *given[2:], "--json"]).stdout)["reports"] == 300
    wrong = run(app, [*line[:-4], "--first", "3"])
    assert isinstance(wrong.exception, ParameterError)


def test_answers_that_are_no_symbols_are_refused_without_naming_them():
    """And nothing is kept."""
    with pytest.raises(ParameterError) as caught:
        CHAINS["cells"].answer("secret")
    assert "secret" not in str(caught.value)
