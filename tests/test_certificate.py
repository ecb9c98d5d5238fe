"""The certificate: it says private exactly when the definition does, and no edited file gets past it.

``TINCT_EVIDENCE=1`` raises the number of instances to what the documentation claims.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from copy import deepcopy
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import naive
import strategies
from independent_checker import TOOL, signed, spelled, tool_accepts
from tinct import DatasetGraph, FileError, NotPrivate, ParameterError, Privacy, balanced, exact, graphs, rainbow
from tinct.exact import proof as certificate
from tinct.exact.certified import Certified
from tinct.exact.grid import GridPair, best_neighbor
from tinct.exact.proof import BrokenEdge, Terms, at_most_exp, parse_rational, prove, written
from tinct.graphs import EdgeClasses

FULL = os.environ.get("TINCT_EVIDENCE") == "1"
TOTALS = [2, 3, 5, 12, 1000, 2**20, 2**62 - 1, 2**62, 2**62 + 1, 2**64, 3**50, 2**200]


def several(few, many):
    """How many instances: a few, or as many as the documentation claims."""
    return many if FULL else few


# twins


def private_by_definition(rows, total, edges, terms):
    """Pr[S] ≤ R·Pr′[S] + D/N for all events, on all edges, in both directions, in exact arithmetic."""
    for u, v, number in edges:
        allowed = terms[number].delta.numerator * total // terms[number].delta.denominator
        for one, other in ((rows[u], rows[v]), (rows[v], rows[u])):
            if naive.hockey_stick(one, other, terms[number].growth) > allowed:
                return False
    return True


def library_accepts(path):
    """Whether the library loads the file; any refusal must be a FileError."""
    try:
        Certified.from_json(path)
    except FileError:
        return False
    return True


# the proof


def _random_row(rng, total, width):
    cuts = sorted(rng.randint(0, total) for _ in range(width - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


def _random_terms(rng, total):
    growth = rng.choice([Fraction(1), Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(7), Fraction(1000)])
    delta = rng.choice(
        [Fraction(0), Fraction(0), Fraction(1, 7), Fraction(rng.randint(0, 3), max(4, total)), Fraction(1, 10**6)]
    )
    return Terms(f"ln {growth}" if growth > 1 else "0", growth, delta)


def _near(rng, row, term, total):
    """A row next to ``row``: the same, the best one, the best one with units moved, or any."""
    pair = GridPair(total, term.growth, int(term.delta * total))
    order = rng.sample(range(len(row)), len(row))
    best = best_neighbor(pair, [row[at] for at in order])
    found = [0] * len(row)
    for at, units in zip(order, best, strict=True):
        found[at] = units
    kind = rng.randrange(4)
    if kind == 0:
        return list(row)
    if kind == 3:
        return _random_row(rng, total, len(row))
    if kind == 2:
        giver, taker = rng.choice([at for at, units in enumerate(found) if units]), rng.randrange(len(row))
        found[giver] -= 1
        found[taker] += 1
    return found


def _random_table(rng):
    total, width, n = rng.choice(TOTALS), rng.randint(2, 4), rng.randint(2, 4)
    terms = [_random_terms(rng, total) for _ in range(rng.randint(1, 3))]
    rows, edges = [_random_row(rng, total, width)], []
    for v in range(1, n):
        u, number = rng.randrange(v), rng.randrange(len(terms))
        rows.append(_near(rng, rows[u], terms[number], total))
        edges.append((u, v, number) if rng.random() < 0.5 else (v, u, number))
    if n > 2 and rng.random() < 0.3:
        edges.append((0, n - 1, rng.randrange(len(terms))))
    return rows, total, list({(min(u, v), max(u, v)): (u, v, number) for u, v, number in edges}.values()), terms


def _in_order(edges, terms):
    """The same promises, each once and as the edges first use them: the literal twin of what is written."""
    order = list(dict.fromkeys(terms[number] for *_, number in edges)) or terms[:1]
    return [(u, v, order.index(terms[number])) for u, v, number in edges], order


def _document(rows, total, edges, terms):
    edges, terms = _in_order(edges, terms)
    fields = {
        "schema": "tinct/certificate@2",
        "question": "",
        "neighbors": "the edges of this graph",
        "outputs": [f"o{at}" for at in range(len(rows[0]))],
        "vertices": [f"v{at}" for at in range(len(rows))],
        "edges": [[u, v] for u, v, _ in edges],
        "budgets": [{"epsilon": t.epsilon, "growth": str(t.growth), "delta": str(t.delta)} for t in terms],
    }
    if len(terms) != 1:
        fields["budget_of_edge"] = [number for *_, number in edges]
    return {**fields, "denominator": str(total), "rows": [[str(n) for n in row] for row in rows]}


def test_the_proof_agrees_with_the_definition_of_privacy(tool, tmp_path):
    """Random tables of 2 to 4 answers, private and not, N from 2 to 2^200: no disagreement in either direction.

    10,000 of them with evidence. Every 20th goes through a file, where the library and the independent checker
    have to agree as well.
    """
    rng = random.Random(1)
    private = 0
    count = several(2500, 10_000)
    path = tmp_path / "table.json"
    for at in range(count):
        rows, total, edges, terms = _random_table(rng)
        expected = private_by_definition(rows, total, edges, terms)
        try:
            proof = prove(rows, total, edges, terms, range(len(rows)))
        except NotPrivate as error:
            found = False
            broken = error.witness
            assert isinstance(broken, BrokenEdge)
            u, v = broken.edge
            (number,) = {number for a, b, number in edges if {a, b} == {u, v}}
            assert naive.hockey_stick(rows[u], rows[v], terms[number].growth) == broken.excess > broken.allowed
        else:
            found = True
            assert (proof.edges, proof.inequalities, proof.total) == (len(edges), 2 * len(edges), total)
        assert found == expected
        private += found
        if at % 20 == 0:
            path.write_text(signed(_document(rows, total, edges, terms)), encoding="utf-8")
            assert library_accepts(path) == expected
            assert tool_accepts(tool, path) == expected
    assert 0.2 * count < private < 0.8 * count


def _tight(rng):
    """A grid optimum on a random graph, and its fixed vertices: balanced, extended, or certified from floats."""
    case = strategies.random_case(rng, at_most=8)
    graph, total = case.graph, int(rng.choice([50, 10**4, 2**40, 2**62]))
    kind = int(rng.integers(3))
    boundary = sorted(naive.boundary_vertices(case.edges, case.codes))
    if kind == 0:
        return case, exact.balanced(graph, case.privacy, total=total), boundary
    if kind == 1:
        return case, exact.certify(balanced(graph, case.privacy), total=total), boundary
    floats = balanced(graph, case.privacy).table[:, 0]
    share = float(rng.random())
    values = share * floats + (1 - share) * 0.5
    fixed = {v: float(values[v]) for v in strategies.random_hitting_set(rng, case)}
    return case, exact.extend(graph, case.privacy, fixed, total=total), sorted(fixed)


def test_one_unit_more_truth_outside_the_fixed_set_is_rejected():
    """Optimal tables are tight: raise the truth of any single free vertex by one unit and the proof fails.

    10,000 tables with evidence; hitting sets are often proper subsets of the boundary.
    """
    rng = np.random.default_rng(2)
    raised = tables = subsets = 0
    wanted = several(500, 10_000)
    while tables < wanted:
        case, certified, fixed = _tight(rng)
        rows, total = certified.rows, certified.denominator
        free = [v for v in set(range(case.n)) - set(fixed) if rows[v][case.codes[v]] < total]
        if not free:
            continue
        tables += 1
        subsets += set(fixed) < naive.boundary_vertices(case.edges, case.codes)
        for v in free:
            changed = deepcopy(rows)
            changed[v][case.codes[v]] += 1
            changed[v][1 - case.codes[v]] -= 1
            with pytest.raises(NotPrivate):
                prove(changed, total, certified.edges(), certified.terms, certified.vertices)
            raised += 1
    assert raised >= tables
    assert subsets > tables // 20


def test_growth_is_compared_with_the_exponential_exactly(tool):
    """One unit in the last of 10 to 1,200 digits above e^ε is too much, one below is not: against mpmath.

    The independent checker decides the same, by other means.
    """
    rng = random.Random(3)
    for digits in (10, 20, 60, *([300, 1200] if FULL else [200])):
        with mpmath.workdps(2 * digits + 400):
            for epsilon in (Fraction(1), Fraction(1, 3), Fraction("699.9"), Fraction(rng.randint(1, 10**9), 10**8)):
                true = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
                below = int(mpmath.floor(true * 10**digits))
                if len(str(below)) > 1300:
                    continue
                for units, expected in ((below, True), (below + 1, False)):
                    growth = Fraction(units, 10**digits)
                    assert at_most_exp(growth, str(epsilon)) is expected
                    assert tool.below_exp(growth, str(epsilon)) is expected
    assert at_most_exp(Fraction(1), "0")
    assert not at_most_exp(1 + Fraction(1, 10**1200), "0")
    assert at_most_exp(Fraction(3, 2), "ln 3/2")
    assert not at_most_exp(Fraction(3, 2) + Fraction(1, 10**1200), "ln 3/2")


def test_a_growth_that_agrees_with_the_exponential_to_a_thousand_digits_is_decided():
    """An ε of 1,290 digits and an R that agrees with e^ε to 900: no hanging."""
    q = 10**1290 + 7
    epsilon = Fraction(699 * q + 12345, q)
    with mpmath.workdps(2000):
        units = int(mpmath.floor(mpmath.exp(mpmath.mpf(epsilon.numerator) / q) * 10**900))
    assert at_most_exp(Fraction(units, 10**900), str(epsilon))
    assert not at_most_exp(Fraction(units + 1, 10**900), str(epsilon))


@pytest.mark.parametrize(
    "text",
    ["", "x", "-1", "+1", "1.5", "1e3", "01", "2/4", "3/1", "0/5", "1/0", "1/00", "1/", "/1", " 1", "1 ", "1\n", "１",
     "1/-2", "9" * 1301, "1/" + "9" * 1301, "1" * 10**6, None, 1, 1.5, True, ["1"], b"1"],
)  # fmt: skip
def test_rationals_have_one_spelling(text):
    """Whole numbers or fractions in lowest terms, as text of up to 1,300 digits; nothing else is read."""
    with pytest.raises(ParameterError):
        parse_rational(text, "growth")


@pytest.mark.parametrize("value", [Fraction(10**1300 - 1), Fraction(1, 10**1300 - 1), Fraction(10**1300 - 1, 10**1299)])
def test_what_is_written_can_be_read(value):
    """Up to the last of 1,300 digits above the line and of as many below it."""
    assert parse_rational(written(value, "growth"), "growth") == value
    for more in (value + 10**1300, Fraction(value.numerator, value.denominator * 10**1300 + 1)):
        with pytest.raises(ParameterError, match="more than 1,300 digits"):
            written(more, "growth")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"total": 1}, "denominator"),
        ({"total": 4.0}, "denominator"),
        ({"total": True}, "denominator"),
        ({"rows": []}, "rows"),
        ({"rows": [[4, 0]]}, "rows"),
        ({"rows": [[4, 0], [4]]}, "row"),
        ({"rows": [[3, 0], [4, 0]]}, "sum"),
        ({"rows": [[5, -1], [4, 0]]}, "negative"),
        ({"rows": [[4.0, 0.0], [4, 0]]}, "whole"),
        ({"rows": [[True, 3], [4, 0]]}, "whole"),
        ({"edges": [(0, 2, 0)]}, "edge number 0"),
        ({"edges": [(-1, 0, 0)]}, "edge number 0"),
        ({"edges": [(0, 1, 1)]}, "edge number 0"),
        ({"edges": [(0, 1, -1)]}, "edge number 0"),
        ({"terms": [Terms("ln 2", Fraction(3), Fraction(0))]}, "growth"),
        ({"terms": [Terms("ln 2", Fraction(1, 2), Fraction(0))]}, "growth"),
        ({"terms": [Terms("1", Fraction(2718281829, 10**9), Fraction(0))]}, "growth"),
        ({"terms": [Terms("ln 2", Fraction(2), Fraction(1))]}, "delta"),
        ({"terms": [Terms("ln 2", Fraction(2), Fraction(-1, 2))]}, "delta"),
        ({"terms": [Terms("nan", Fraction(2), Fraction(0))]}, "epsilon"),
        ({"terms": [Terms("701", Fraction(2), Fraction(0))]}, "epsilon"),
        ({"terms": [Terms("ln 0", Fraction(1), Fraction(0))]}, "growth"),
        ({"terms": [Terms("ln 2", Fraction(2), Fraction(1, 10**1300))]}, "delta"),
    ],
)
def test_what_is_no_table_is_not_proved(change, match):
    """Rows, positions and terms are checked before any inequality."""
    good = {
        "rows": [[4, 0], [4, 0]],
        "total": 4,
        "edges": [(0, 1, 0)],
        "terms": [Terms("ln 2", Fraction(2), Fraction(0))],
    }
    arguments = {**good, **change}
    with pytest.raises(ParameterError, match=match):
        prove(*arguments.values(), ["a", "b"])


def test_proofs_say_what_they_prove():
    """The guarantee in words, with budgets as people write them."""
    line = graphs.line(2, 2)
    assert str(exact.balanced(line, Privacy("ln 2", "0.01")).proof) == (
        "ε = ln 2, δ = 0.01, exactly: 6 exact inequalities hold on 3 edges, rows of 2^62 units"
    )
    assert exact.balanced(line, Privacy(0.1), total=1000).guarantee == "ε = 0.1, exactly"
    assert exact.balanced(line, Privacy("1/3")).guarantee == "ε = 1/3, exactly"
    classes = EdgeClasses([Privacy(1), Privacy(2)], [0, 1, 0])
    assert exact.balanced(line, classes).guarantee == "each edge within its own budget, 2 different ones"


def test_progress_is_reported(monkeypatch):
    """Now and then, with the number of edges proved."""
    monkeypatch.setattr(certificate, "_PROGRESS", 4)
    seen = []
    exact.balanced(graphs.line(5, 5), Privacy(1), bits=20, progress=seen.append)
    assert seen == [4, 8]


# what a certificate says


def _file(tmp_path, fields):
    path = tmp_path / "stated.json"
    path.write_text(signed(fields), encoding="utf-8")
    return path


def test_pieces_are_counted_and_must_be_confirmed(tmp_path, tool):
    """A graph in pieces has a certificate that says so, and no other: whatever the number is, it must be right."""
    rng = random.Random(9)
    for _ in range(several(60, 600)):
        n = rng.randint(1, 7)
        pairs = [(u, v) for u in range(n) for v in range(u)]
        ends = [list(rng.sample(pair, 2)) for pair in rng.sample(pairs, rng.randint(0, min(n, len(pairs))))]
        group = list(range(n))
        for u, v in ends:
            group = [group[v] if one == group[u] else one for one in group]
        true = len(set(group))
        rows, term = [[2, 2]] * n, Terms("ln 2", Fraction(2), Fraction(0))
        edges = np.array(ends).reshape(-1, 2)
        for said in {1, true, rng.randint(1, n)}:
            parts = {**LINE, "vertices": range(n), "numerators": rows, "ends": edges, "classes": [0] * len(ends)}
            if said != true:
                with pytest.raises(ParameterError, match="pieces"):
                    Certified(**parts, pieces=said)
                continue
            certified = Certified(**parts, pieces=said)
            assert certified.proof.pieces == true
        document = {**_document(rows, 4, [(u, v, 0) for u, v in ends], [term]), "vertices": {"start": 0, "count": n}}
        for said in (None, 1, true, true + 1, "2", True):
            items = list(document.items())
            if said is not None:
                items.insert(6, ("pieces", said))
            path = _file(tmp_path, dict(items))
            right = said is None if true == 1 else said == true and type(said) is int
            assert library_accepts(path) == tool_accepts(tool, path) == right


def test_what_is_in_pieces_says_what_that_means(tmp_path, tool):
    """Designers take the confirmation of the graph, and every verdict repeats it in plain words."""
    apart = DatasetGraph(
        [("a", "b"), ("c", "d")], dict.fromkeys("ac", "x") | dict.fromkeys("bd", "y"), disconnected=True
    )
    path = tmp_path / "c.json"
    for certified in (exact.balanced(apart, Privacy(1)), exact.certify(balanced(apart, Privacy(1)))):
        assert certified.pieces == 2
        assert "nothing is promised between datasets of different pieces" in str(certified.proof)
        certified.to_json(path)
        assert json.loads(path.read_text())["pieces"] == 2
        assert Certified.from_json(path).proof.pieces == 2
        assert "IN 2 PIECES: nothing is promised between datasets of different pieces" in tool.check(path)


def test_a_table_lists_each_budget_once(tmp_path, tool):
    """However budgets are given, twice or unused, the table has the same promises, the same file and the same id."""
    line = graphs.line(2, 2)
    one, two = Privacy("ln 2"), Privacy("ln 3", "1/100")
    given = [
        ([one, two], [0, 1, 0]),
        ([two, one, two], [1, 0, 1]),
        ([one, two, one], [2, 1, 0]),
        ([one] * 9 + [two], [3, 9, 8]),
    ]
    made = [exact.balanced(line, EdgeClasses(pairs, numbers), total=600) for pairs, numbers in given]
    assert len({certified.id for certified in made}) == 1
    assert [term.epsilon for term in made[0].terms] == ["ln 2", "ln 3"]
    path = tmp_path / "c.json"
    made[1].to_json(path)
    document = json.loads(path.read_text())
    assert tool_accepts(tool, path)
    swapped = {"budgets": document["budgets"][::-1], "budget_of_edge": [1 - at for at in document["budget_of_edge"]]}
    unused = {"budgets": [*document["budgets"], {"epsilon": "1", "growth": "2", "delta": "0"}]}
    repeated = {"budgets": [*document["budgets"], document["budgets"][0]], "budget_of_edge": [0, 1, 2]}
    zero = [{"epsilon": text, "growth": "1", "delta": "1/3"} for text in ("0", "ln 1")]
    spelled_twice = {"budgets": zero, "budget_of_edge": [0, 1, 0], "rows": [["300", "300"]] * len(document["rows"])}
    assert library_accepts(_file(tmp_path, {**document, **spelled_twice, "budgets": [zero[0], document["budgets"][1]]}))
    for change in (swapped, unused, repeated, spelled_twice):
        path = _file(tmp_path, {**document, **change})
        assert not library_accepts(path)
        assert not tool_accepts(tool, path)


def test_a_certificate_names_its_question_and_its_neighbours(tmp_path, tool):
    """The statement is part of the file and of the id; the table is the same and is not proved again."""
    line = exact.line(Privacy("ln 2"), bits=10)
    stated = line.about("majority(support)", "add-remove")
    assert stated.rows == line.rows
    assert len({line.id, stated.id, line.about("majority(support)", "replace").id}) == 3
    assert stated.id == exact.line(Privacy("ln 2"), bits=10).about("majority(support)", "add-remove").id
    assert stated.release(100) in ("yes", "no")  # with 10 bits, one in 1,024 is a no
    path = tmp_path / "c.json"
    stated.to_json(path)
    back = Certified.from_json(path)
    assert (back.question, back.neighbors, back.id) == ("majority(support)", "add-remove", stated.id)
    assert "for 'majority(support)'; neighbours: add-remove" in tool.check(path)
    line.to_json(path)
    assert "names no question" in tool.check(path)
    for question, neighbors in (("", "replace"), ("x", ""), (None, "replace"), ("x", 5), ("\ud800", "replace")):
        with pytest.raises(ParameterError):
            line.about(question, neighbors)


OLD = """{
"schema": "tinct/certificate@1",
"outputs": ["no","yes"],
"vertices": ["a","b","c"],
"edges": [[0,1],[1,2]],
"budgets": [{"epsilon":"ln 2","growth":"2","delta":"1/100"}],
"denominator": "300",
"rows": [["252","48"],["201","99"],["99","201"]],
"digest": "09d535fb3d76fde314356ee8c9f40b66e94b79a7628e62ddd98b3ae4f6a88b1b"
}
"""


def test_old_files_are_read_by_their_own_rules(tmp_path, tool):
    """A file of the first schema keeps its id, names no question, and must be in one piece, which it cannot deny."""
    path = tmp_path / "old.json"
    path.write_text(OLD)
    old = Certified.from_json(path)
    assert (old.id, old.question, old.neighbors, old.edition) == (json.loads(OLD)["digest"], "", "", 1)
    old.to_json(path)
    assert path.read_text() == OLD
    assert "an old file, which names no neighbours" in tool.check(path)
    new = old.about("q", "the edges of this graph")
    new.to_json(path)
    assert Certified.from_json(path).edition == 2
    assert new.id != old.id
    document = json.loads(OLD)
    twice = {"budgets": document["budgets"] * 2, "budget_of_edge": [1, 0]}
    items = list({**document, **twice}.items())
    items.insert(5, items.pop())  # after budgets
    items.insert(5, items.pop(items.index(("budget_of_edge", [1, 0]))))
    path = _file(tmp_path, {name: value for name, value in items if name != "digest"})
    assert library_accepts(path)
    assert tool_accepts(tool, path)
    for change in ({"edges": [[0, 1]]}, {"edges": []}):
        path = _file(tmp_path, {**document, **change})
        assert not library_accepts(path)
        assert not tool_accepts(tool, path)


# making one


LINE = {
    "vertices": range(2),
    "outputs": ("a", "b"),
    "numerators": [[3, 1], [2, 2]],
    "denominator": 4,
    "ends": np.array([[0, 1]]),
    "classes": np.array([0]),
    "terms": (Terms("ln 2", Fraction(2), Fraction(0)),),
}


def test_a_certified_table_proves_itself_when_it_is_made():
    """There is no way around the proof: not by the constructor, not by the arrays it holds."""
    certified = Certified(**LINE)
    assert certified.proof.inequalities == 2
    with pytest.raises(NotPrivate):
        Certified(**{**LINE, "numerators": [[4, 0], [2, 2]]})
    for array in (certified.numerators, certified.prefixes, certified.ends, certified.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    given = np.array(LINE["numerators"])
    copied = Certified(**{**LINE, "numerators": given})
    given[0] = [4, 0]
    assert copied.rows == LINE["numerators"]
    names = ["x", "y"]
    named = Certified(**{**LINE, "vertices": names})
    names.reverse()
    assert list(named.vertices) == ["x", "y"]
    assert named.positions(["y", "x"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": ("a",)},
        {"outputs": ("a", "b", "c")},
        {"outputs": ("a", "a")},
        {"vertices": ["x", "x"]},
        {"vertices": ("x", "x", "y"), "numerators": [[4, 0], [3, 1], [2, 2]], "ends": np.array([[1, 2]])},
        {"numerators": [[3, 1]]},
        {"numerators": [[3.0, 1.0], [2, 2]]},
        {"numerators": np.array([[3.0, 1.0], [2.0, 2.0]])},
        {"numerators": []},
        {"numerators": [[3, 1], [2, 2, 0]]},
        {"ends": np.array([[0, 2]])},
        {"ends": np.array([[-1, 0]])},
        {"classes": np.array([1])},
        {"terms": ()},
        {"terms": (), "ends": np.empty((0, 2)), "classes": np.empty(0)},
        {"clamped": True, "ends": np.empty((0, 2)), "classes": np.empty(0)},
        {"clamped": True, "vertices": ["x", "y"]},
        {"clamped": True, "vertices": range(0, 4, 2)},
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change):
    """Widths, positions, classes, and lines that are none."""
    with pytest.raises(ParameterError):
        Certified(**{**LINE, **change})


# files


def _certificates():
    cube = graphs.hypercube(3, lambda bits: sum(bits) >= 2)
    odd = DatasetGraph([("ä b", (1, "x")), ((1, "x"), 2.5)], {"ä b": True, (1, "x"): False, 2.5: False})
    orders = graphs.rankings(3, "abc")
    yield exact.balanced(graphs.line(2, 2), Privacy("ln 2"), total=12)
    yield exact.balanced(cube, Privacy(0.1, 1e-6))
    yield exact.balanced(cube, EdgeClasses([Privacy("1/3"), Privacy("ln 3/2", "0.01")], np.arange(12) % 2))
    yield exact.balanced(odd, Privacy(1), bits=100)
    yield exact.certify(rainbow.extend(orders, Privacy(1), rainbow.balanced_boundary(orders, Privacy(1))))
    yield exact.line(Privacy("ln 2"), bits=10)
    yield exact.ray(Privacy("ln 2", "1/16"), outputs=(1, 0))
    yield Certified(**{**LINE, "numerators": [[3, 1]], "vertices": [7], "ends": np.empty((0, 2)), "classes": []})


@pytest.mark.parametrize("number", range(8))
def test_certificates_survive_a_file(number, tmp_path, tool):
    """What is read back is the same in every part, has the same id, and satisfies the independent checker."""
    certified = [*_certificates()][number]
    path = tmp_path / "certificate.json"
    certified.to_json(path)
    back = Certified.from_json(path)
    assert back.rows == certified.rows
    assert list(back.vertices) == list(certified.vertices)
    assert back.outputs == certified.outputs
    assert (back.denominator, back.terms, back.clamped) == (certified.denominator, certified.terms, certified.clamped)
    assert list(back.edges()) == list(certified.edges())
    assert back.proof == certified.proof
    assert back.id == certified.id == json.loads(path.read_text())["digest"]
    assert path.read_text() == signed(json.loads(path.read_text()))
    assert tool_accepts(tool, path)


def test_the_independent_checker_runs_by_itself(tmp_path):
    """As a script, isolated from everything installed: 0 and PRIVATE, or 1 and REFUSED, never a traceback."""
    path = tmp_path / "certificate.json"
    exact.line(Privacy(1, "1e-9")).to_json(path)

    def run():
        return subprocess.run([sys.executable, "-I", "-S", TOOL, path], capture_output=True, text=True, check=False)

    good = run()
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("PRIVATE")
    for text in ("", "[]", "{}", '{"schema": 1}', "[" * 10**5, path.read_text().replace("1", "2")):
        path.write_text(text)
        bad = run()
        assert bad.returncode == 1
        assert bad.stderr.startswith("REFUSED")
        assert "Traceback" not in bad.stderr
    alone = subprocess.run([sys.executable, "-I", "-S", TOOL], capture_output=True, text=True, check=False)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr.startswith("usage: ")


def _small(tmp_path):
    path = tmp_path / "certificate.json"
    exact.balanced(graphs.line(2, 1), Privacy("ln 2", "1/8"), total=16).to_json(path)
    return path


def test_no_byte_can_be_changed(tmp_path):
    """Every byte replaced in several ways, left out, or doubled: always a FileError, more than 500 times."""
    path = _small(tmp_path)
    data = path.read_bytes()
    edits = set()
    for at, byte in enumerate(data):
        for other in {*b'02"', byte ^ 1, byte ^ 128, *(b"/,[ \x00" if FULL else b"")} - {byte}:
            edits.add(data[:at] + bytes([other]) + data[at + 1 :])
        edits |= {data[:at] + data[at + 1 :], data[:at] + data[at : at + 1] + data[at:]}
    edits |= {b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data + b"\n", data[:-1], data + data, b""}
    edits.discard(data)
    assert len(edits) > 500
    for edit in edits:
        path.write_bytes(edit)
        with pytest.raises(FileError):
            Certified.from_json(path)


def _attacks():
    """Edits to the small certificate that keep the file well-formed; the digest is recomputed afterwards."""

    def of_budget(**change):
        return lambda doc: doc["budgets"][0].update(change)

    def of_row(at, row):
        return lambda doc: doc["rows"].__setitem__(at, row)

    def of_field(**change):
        return lambda doc: doc.update(change)

    numeric = {
        "truth raised by a unit": of_row(0, ["15", "1"]),
        "epsilon lowered": of_budget(epsilon="ln 3/2"),
        "epsilon and growth lowered": of_budget(epsilon="ln 3/2", growth="3/2"),
        "epsilon zero": of_budget(epsilon="0"),
        "growth above": of_budget(growth="2000000000000000001/1000000000000000000"),
        "growth of a rational above": of_budget(epsilon="1", growth="271828182845904523537/100000000000000000000"),
        "growth below one": of_budget(growth="1/2"),
        "delta lowered": of_budget(delta="0"),
        "delta a little lower": of_budget(delta="124/1000"),
        "delta one": of_budget(delta="1"),
        "row too large": of_row(1, ["11", "6"]),
        "row too small": of_row(1, ["10", "5"]),
        "negative units": of_row(1, ["17", "-1"]),
        "denominator doubled": of_field(denominator="32"),
        "denominator one": of_field(denominator="1", rows=[["1", "0"]] * 3),
        "row missing": lambda doc: doc["rows"].pop(),
        "row added": lambda doc: doc["rows"].append(["8", "8"]),
        "column added": lambda doc: [row.append("0") for row in doc["rows"]],
        "no columns": of_field(rows=[[], [], []], outputs=[]),
        "edge to a stranger": of_field(edges=[[0, 1], [1, 3]]),
        "edge from the end": of_field(edges=[[0, 1], [1, -1]]),
        "budget of nowhere": of_field(budgets=[]),
        "epsilon beyond": of_budget(epsilon="701", growth="2"),
        "ln of nothing": of_budget(epsilon="ln 0", growth="1"),
        "zero below": of_budget(growth="1/00"),
        "not in lowest terms": of_budget(growth="4/2"),
        "leading zero": of_row(1, ["011", "5"]),
        "other digits": of_row(1, ["1１", "5"]),
        "numbers, not text": of_row(1, [11, 5]),
        "floats": of_row(1, [11.0, 5.0]),
        "decimal text": of_budget(delta="0.125"),
        "exponent": of_budget(epsilon="1e999999999"),
        "10^6 digits as text": of_budget(epsilon="9" * 10**6),
        "10^6 digits in a row": of_row(1, ["9" * 10**6, "5"]),
        "10^6 digits as denominator": of_field(denominator="1" + "0" * 10**6),
        "digits of a secret exponential": of_budget(epsilon="ln " + "9" * 1301),
    }
    worded = {
        "verified": of_field(verified=True),
        "loss": of_field(loss="0"),
        "schema one": of_field(schema="tinct/certificate@1"),
        "schema three": of_field(schema="tinct/certificate@3"),
        "no edges": of_field(edges=[]),
        "an edge left out": of_field(edges=[[0, 1]]),
        "pieces that are one": of_field(pieces=1),
        "pieces that are none": of_field(pieces=2),
        "half a line": lambda doc: (doc.pop("vertices"), doc.pop("edges"), doc.update(line={"from": 0, "to": 2.0})),
        "a budget twice": lambda doc: doc.update(budgets=doc["budgets"] * 2, budget_of_edge=[0, 1]),
        "no budgets and no edges": of_field(budgets=[], edges=[]),
        "neighbours without a name": of_field(neighbors=""),
        "a question of a list": of_field(question=["majority(x)"]),
        "schema of a mechanism": of_field(schema="tinct/mechanism@1"),
        "line as well": of_field(line={"from": 0, "to": 2}),
        "budget with a note": of_budget(note="trust me"),
        "budget of an edge too many": of_field(budget_of_edge=[0, 0]),
        "edge twice": of_field(edges=[[0, 1], [1, 0]]),
        "edge to itself": of_field(edges=[[0, 1], [1, 1]]),
        "edge of truth values": of_field(edges=[[False, True], [1, 2]]),
        "vertices twice": of_field(vertices=["a", "a", "b"]),
        "vertices alike": of_field(vertices=[1, 1.0, 2]),
        "too many vertices": of_field(vertices={"start": 1, "count": 10**18}),
        "truth as a count": of_field(vertices={"start": True, "count": 3}),
        "outputs alike": of_field(outputs=["x", "x"]),
        "outputs one and true": of_field(outputs=[1, True]),
        "empty outputs": of_field(outputs=[]),
        "empty vertices": of_field(vertices=[]),
        "empty rows": of_field(rows=[]),
        "empty row": of_row(0, []),
        "deep label": of_field(outputs=["a", json.loads("[" * 60 + "]" * 60)]),
    }
    return numeric, worded


NUMERIC, WORDED = _attacks()


@pytest.mark.parametrize("name", [*NUMERIC, *WORDED])
def test_no_edit_with_its_digest_recomputed_gets_past_the_proof(name, tmp_path, tool):
    """What an attacker would change; the independent checker refuses all of it too."""
    path = _small(tmp_path)
    document = json.loads(path.read_text())
    assert signed(document) == path.read_text()
    (NUMERIC | WORDED)[name](document)
    path.write_text(signed(document), encoding="utf-8")
    with pytest.raises(FileError) as caught:
        Certified.from_json(path)
    assert len(str(caught.value)) < 2000 + len(str(path))
    assert not tool_accepts(tool, path)


def _paths(value, here=()):
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*here, key))


ODD = [None, True, False, 0, 1, -1, 1.5, 10**399, "", "x", "nan", "-1", [], {}, [[]], [None], {"a": 1}, ["1"] * 3]


@pytest.mark.parametrize("kind", ["graph", "line", "classes"])
def test_a_wrong_type_anywhere_is_a_file_error(kind, tmp_path, tool):
    """Every value of a certificate, at every depth, replaced by values of every type, digest recomputed.

    Other names, and other edges or budgets of edges to which the rows keep as well, make a certificate about
    another graph in its own right, to the independent checker too; everything else is refused.
    """
    path = tmp_path / "certificate.json"
    privacy = Privacy("ln 2", "1/8")
    if kind == "line":
        exact.line(privacy, bits=4).to_json(path)
    elif kind == "graph":
        graph = DatasetGraph([("a", "b"), ("b", "c")], {"a": "no", "b": "no", "c": "yes"})
        exact.balanced(graph, privacy, total=16).to_json(path)
    else:
        classes = EdgeClasses([privacy, Privacy(1)], [0, 1])
        exact.balanced(graphs.line(2, 1), classes, total=16).to_json(path)
    original = json.loads(path.read_text())
    refused = 0
    for where in _paths(original):
        for odd in ODD:
            document = deepcopy(original)
            if not where:
                text = json.dumps(odd)
            else:
                inner = document
                for key in where[:-1]:
                    inner = inner[key]
                if type(inner[where[-1]]) is type(odd) and inner[where[-1]] == odd:
                    continue
                inner[where[-1]] = odd
                text = spelled(document) if where == ("digest",) else signed(document)
            path.write_text(text, encoding="utf-8")
            try:
                found = Certified.from_json(path)
            except FileError:
                refused += 1
                continue
            named = ("question", "neighbors", "outputs", "vertices")
            assert where[0] in (*named, "edges", "budget_of_edge"), (where, odd)
            assert private_by_definition(found.rows, found.denominator, found.edges(), found.terms)
            assert tool_accepts(tool, path)
    assert refused > 250


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"denominator"', '"denominator": "16",\n"denominator"'),
        ('"epsilon"', '"epsilon":"ln 100","epsilon"'),
        ('"16"', "NaN"),
        ('"16"', "1e999"),
        ('"16"', "9" * 10**6),
        ('"16"', "[" * 10**6),
        ('"16"', "[" * 10**5 + "]" * 10**5),
        ('"16"', '"\\u0031\\u0036"'),
        ('"16"', '"\\ud800"'),
        ('"16"', " 16"),
        ("{\n", "{\n\n"),
        ('"rows": ', '"rows":'),
        ('"blue"', '"blu\\u0065"'),
    ],
)
def test_other_spellings_are_refused(old, new, tmp_path):
    """Duplicate keys, NaN, numbers and brackets without end, escapes and blanks: one spelling only."""
    path = _small(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FileError):
        Certified.from_json(path)


@pytest.mark.parametrize("path", [None, 5, "x.txt", "missing.json", "", b"x.json"])
def test_paths_that_are_none(path):
    """A path must be text that ends in .json, and the file must be there."""
    with pytest.raises((FileError, ParameterError)):
        Certified.from_json(path)


def test_vertices_that_no_file_can_hold_are_refused_in_writing(tmp_path):
    """A certificate about objects works in memory; writing it says what is wrong."""
    graph = DatasetGraph([(frozenset("a"), frozenset("b"))], {frozenset("a"): "x", frozenset("b"): "y"})
    certified = exact.balanced(graph, Privacy(1))
    assert certified.release(frozenset("a")) in ("x", "y")
    with pytest.raises(ParameterError, match="label"):
        certified.to_json(tmp_path / "certificate.json")


def test_the_documented_certificate_is_one(tmp_path, tool):
    """The example in docs/files.md, byte by byte: both checkers accept it."""
    text = (TOOL.parent.parent / "docs" / "files.md").read_text(encoding="utf-8")
    start = text.index('{\n"schema": "tinct/certificate@2"')
    path = tmp_path / "example.json"
    path.write_text(text[start : text.index("```", start)], encoding="utf-8")
    assert Certified.from_json(path).rows == [[252, 48], [201, 99], [99, 201]]
    assert tool_accepts(tool, path)
