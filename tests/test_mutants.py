"""The tests are tested: wrong edits of the privacy-critical modules must be noticed.

``make evidence`` tries every mutant in ``evidence/mutants``, this file a handful of them. The laws below were added
because a mutant would otherwise have survived.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
import math
import sqlite3
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from evidence.mutants import Mutant, catalogue, handful
from evidence.mutants.running import ROOT, SOURCE, fingerprint, workshop
from evidence.mutants.syntax import Package, syntax

import tinct
from tinct import (
    BudgetExceeded,
    FileError,
    Ledger,
    NotPrivate,
    ParameterError,
    Privacy,
    ask,
    exact,
    graphs,
    local,
    sources,
)
from tinct.asking import plan
from tinct.asking.designs import design
from tinct.asking.groups import Groups
from tinct.asking.request import read_request
from tinct.exact import sampler
from tinct.ledger import Planned
from tinct.ledger.costs import budget_delta, budget_epsilon, cost_delta, cost_epsilon
from tinct.local.mechanism_files import read_mechanism, write_mechanism
from tinct.local.mechanisms.randomized_response import CellChannel, CellRandomiser
from tinct.local.mechanisms.written_out_table import TableRandomiser
from tinct.local.parameters import TOTAL
from tinct.questions import Counts, Line, exists, majority, mode
from tinct.questions.modes import PermuteAndFlip
from tinct.questions.modes.margins import histogram_margins
from tinct.questions.modes.mode_proof import certify_rows

HANDFUL = 4


# the mutants themselves


PACKAGE = Package.of(SOURCE)


def test_there_are_at_least_sixty_mutants_and_each_still_applies():
    """Every edit finds exactly one place, leaves a module that compiles, and names tests that exist."""
    everything = catalogue()
    assert len(everything) >= 60
    assert len({mutant.name for mutant in everything}) == len(everything)
    known = {}
    for mutant in everything:
        file, bad = PACKAGE.mutated(mutant)
        assert mutant.old != mutant.new
        compile(bad, file, "exec")
        for test in mutant.tests:
            file, name = test.split("::")
            if file not in known:
                tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
                known[file] = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert name.partition("[")[0] in known[file], test


def test_mutants_are_wrong_and_not_broken():
    """What an edit brings in is known in its module: any test would notice a name that does not exist."""
    for mutant in catalogue():
        file, bad = PACKAGE.mutated(mutant)
        before, after = (list(ast.walk(ast.parse(text))) for text in (PACKAGE.modules[file], bad))
        known = {name for node in after for name in _names_made_by(node)} | set(dir(builtins))
        old, new = ({node.id for node in nodes if isinstance(node, ast.Name)} for nodes in (before, after))
        assert new - old <= known, mutant


def _names_made_by(node):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name


def _longer(module):
    """A module in which every message of an error has one more word."""

    class Words(ast.NodeTransformer):
        raising = False

        def visit_Raise(self, node):
            self.raising = True
            self.generic_visit(node)
            self.raising = False
            return node

        def visit_Constant(self, node):
            return ast.Constant(f"{node.value} indeed") if self.raising and isinstance(node.value, str) else node

    return ast.unparse(ast.fix_missing_locations(Words().visit(ast.parse(module))))


@pytest.mark.parametrize("rewritten", [syntax, _longer])
def test_prose_and_layout_move_no_mutant(rewritten):
    """In another layout without comments, and without docstrings or with other messages, every mutant applies."""
    other = Package({file: rewritten(text) for file, text in PACKAGE.modules.items()})
    for mutant in catalogue():
        assert other.mutated(mutant)[0] == PACKAGE.mutated(mutant)[0]


def test_a_function_may_move_to_another_file():
    """A definition is found by its name in whichever module it stands."""
    mutant = next(mutant for mutant in catalogue() if mutant.where == "prove")
    file, bad = PACKAGE.mutated(mutant)
    assert Package({"new/home.py": PACKAGE.modules[file]}).mutated(mutant) == ("new/home.py", bad)


CODE = """\
def kept(x):  # ε
    return f"{x + 1}"

class Cell:
    def kept(self, x):
        if x < 0:
            # a comment
            raise ValueError("no", x)
        elif x < 1:
            return g(x, y=2)
        return 2 * x
"""


@pytest.mark.parametrize(
    ("where", "old", "new", "line"),
    [
        ("Cell.kept", "2 * x", "x + 1 if x else 0", "        return (x + 1 if x else 0)"),
        ("module.kept", "x + 1", "x", "    return (f'{x}')"),
        ("Cell", "raise ValueError(...)", "pass", "            pass"),
        ("Cell", "if x < 1: ...", "if True: ...", "        elif True:\n            return g(x, y=2)"),
        ("Cell", "g(...)", "g(0, ...)", "            return (g(0, x, y=2))"),
        ("Cell", "2 * ...", "...", "        return (x)"),
        ("module", "x < 0", "False", "        if (False):\n            # a comment"),
        ("Cell", "return 2 * x", "x += 1\nreturn x", "        x += 1\n        return x"),
    ],
)
def test_an_edit_replaces_one_place_and_leaves_the_rest(where, old, new, line):
    """The text around the place stays as it is, and what ``...`` stands for is kept."""
    _, bad = Package({"some/module.py": CODE}).mutated(Mutant("", where, old, new, ()))
    assert line in bad
    ast.parse(bad)
    gone = set(CODE.splitlines()) - set(bad.splitlines())
    assert len(gone) <= 2


@pytest.mark.parametrize(
    ("where", "old", "count"),
    [("Cell.kept", "3 * x", 0), ("Cell", "x", 5), ("kept", "x + 2", 0), ("nowhere", "x", 0), ("ept", "2 * x", 0)],
)
def test_an_edit_that_does_not_fit_is_refused(where, old, count):
    """A mutant whose place is gone, or is there twice, is an error that names it and not a survivor."""
    with pytest.raises(LookupError, match=f"'wrong edit' must have exactly one place .* there are {count} "):
        Package({"some/module.py": CODE}).mutated(Mutant("wrong edit", where, old, "0", ()))


def test_only_code_makes_an_outcome_stale():
    """Comments, docstrings and layout leave a mutant's fingerprint alone; code, messages and the edit do not."""
    mutant, other = catalogue()[:2]
    file, _ = PACKAGE.mutated(mutant)
    text = PACKAGE.modules[file]

    def printed(changed, mutant=mutant):
        return fingerprint(mutant, Package({file: changed}))

    now = printed(text)
    assert printed("# a comment\n" + syntax(text)) == now
    assert len({now, printed(_longer(text)), printed(text + "\nx = 1\n"), printed(text, other)}) == 4


def test_evidence_does_not_import_tests():
    """Tests import evidence, and evidence runs tests by their names: never the other way round."""
    tests = {"tests", *(file.stem for file in (ROOT / "tests").glob("*.py"))}
    for folder in ("evidence", "src", "benchmarks", "gallery", "tools"):
        for file in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            taken = {name.split(".")[0] for node in ast.walk(tree) for name in _taken_by(node)}
            assert not taken & tests, file


def _taken_by(node):
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        yield node.module


@pytest.mark.skipif(Path(tinct.__file__).parent != SOURCE, reason="only where the package is the repository's own")
@pytest.mark.parametrize("mutant", handful(HANDFUL), ids=lambda mutant: mutant.name)
def test_mutants_are_killed_and_the_original_is_not(mutant):
    """The same tests pass on an untouched copy of the package and fail on the edited one."""
    with workshop() as copy:
        code, output = copy.run(mutant.tests)
        assert code == 0, output[-2000:]
        outcome = copy.attempt(mutant)
        assert outcome.killed, outcome


# laws that mutants asked for: exact tables


def test_what_is_possible_stays_possible():
    """A probability too small for the grid keeps one unit, and one too near to 1 leaves one: no zero on one side only.

    At ε = 60 the neighbours' 10^−21 and 10^−40 are within each other's reach; on the grid both round to nothing.
    """
    for tiny, tinier in (("1e-21", "1e-40"), ("1e-30", "1e-30")):
        table = exact.extend(graphs.line(1, 1), Privacy(60), {1: tiny, 2: tinier})
        assert all(entry > 0 for row in table.rows for entry in row)
        mirrored = exact.extend(graphs.line(1, 1), Privacy(60), {1: 1 - Fraction(tinier), 2: 1 - Fraction(tiny)})
        assert all(entry > 0 for row in mirrored.rows for entry in row)


def test_contradicting_sources_are_lowered():
    """Values that fit exactly and contradict each other once they are rounded still make a certified table."""
    for total in range(40, 140):
        table = exact.extend(graphs.line(3, 3), Privacy("ln 2"), {3: "2/3", 4: "1/3"}, total=total)
        assert sum(table.rows[0]) == total


def test_every_number_below_a_bound_can_be_drawn_in_bulk():
    """Every bound up to 300: each word counts as its low bits, and those too large are drawn again."""
    for bound in range(2, 301):
        width = (bound - 1).bit_length()
        words = np.arange(2**width, dtype=np.uint64) + np.uint64(2**63)  # high bits are to be masked
        given = iter([words.tobytes()])
        drawn = sampler.below_many(bound, len(words), lambda size, given=given: next(given, bytes(size)))
        assert drawn.tolist() == [*range(bound), *[0] * (len(words) - bound)]


def test_no_table_farther_than_the_loss_is_certified():
    """A table far from private is refused, whatever private table there is somewhere else; with loss 1 it is not."""
    truth = [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(NotPrivate):
        exact.certify(truth, graphs.line(1, 1), Privacy(1))
    assert exact.certify(truth, graphs.line(1, 1), Privacy(1), loss=1).loss > 0.1


# the ledger


def test_partitions_are_declared_before_they_are_used(tmp_path):
    """Groups nobody has declared to be disjoint are not charged in parallel."""
    book = Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(ParameterError, match="not declared"):
        book.charge(lambda: 1, epsilon="0.1", partition="wards", group="N")
    assert book.spent().epsilon == 0


def test_another_cost_is_another_request(tmp_path):
    """The same profile charged as another (ε, δ) is not the request that was answered."""
    book = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-6")
    profile = [("0.1", "1e-7"), ("0.2", 0)]
    book.charge(lambda: 1, epsilon="0.1", delta="1e-7", profile=profile, request="poll")
    for epsilon, delta in (("0.2", "1e-7"), ("0.1", "2e-7"), ("0.2", 0)):
        with pytest.raises(ParameterError, match="already used for a different request"):
            book.charge(lambda: 1, epsilon=epsilon, delta=delta, profile=profile, request="poll")


def test_a_budget_is_exceeded_by_the_least_amount(tmp_path):
    """10^−40 more than is left is too much, of ε as of δ, and what is left to the last digit is not."""
    book = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-6")
    book.charge(lambda: 1, epsilon="1/3", delta="3e-7")
    least = Fraction(1, 10**40)
    for epsilon, delta in ((Fraction(2, 3) + least, 0), (0, Fraction(7, 10**7) + least)):
        with pytest.raises(BudgetExceeded):
            book.charge(lambda: 1, epsilon=epsilon, delta=delta)
    book.charge(lambda: 1, epsilon="2/3", delta="7e-7")
    assert str(book.remaining()) == "ε = 0"


def test_long_costs_are_rounded_up_and_long_budgets_down():
    """An amount whose denominator is too long to be kept costs a little more and grants a little less than it is."""
    for value in (Fraction(1, 3**60), Fraction(2**80 + 1, 3**60), Fraction(1, 7**40)):
        assert budget_epsilon(value) < value < cost_epsilon(value)
        assert budget_delta(value) < value < cost_delta(value)
        assert cost_epsilon(value) - budget_epsilon(value) < Fraction(1, 10**50)


def test_a_planned_cost_covers_no_larger_delta(tmp_path):
    """A charge uses up a planned cost only if both its ε and its δ are within it."""
    plan = [Planned("0.1", "1e-8", times=2)]
    book = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-6", composition="accounting", plan=plan)
    with pytest.raises(BudgetExceeded):
        book.charge(lambda: 1, epsilon="0.1", delta="2e-8")
    assert book.charge(lambda: 1, epsilon="0.1", delta="1e-8").number == 1


def test_a_deleted_total_is_damage(tmp_path):
    """A total that is gone does not count as nothing spent: the ledger refuses to go on."""
    book = Ledger(tmp_path / "budget.db", epsilon=1)
    book.charge(lambda: 1, epsilon="0.9")
    with contextlib.closing(sqlite3.connect(tmp_path / "budget.db")) as raw:
        raw.execute("DELETE FROM tinct_totals")
        raw.commit()
    with pytest.raises(FileError, match="damaged"):
        book.charge(lambda: 1, epsilon="0.9")


# local mechanisms


def _table(rows, growth, epsilon, allowed=0):
    return TableRandomiser(len(rows), sum(rows[0]), Fraction(growth), epsilon, np.array(rows, np.int64), allowed)


def test_one_unit_too_many_of_a_table_or_a_hash_is_refused():
    """Tables at the very limit pass and one unit beyond it does not, with and without δ, in either order of rows."""
    best = local.randomized_response(2, "ln 3/2").randomiser
    own, other = best.own, best.other
    _table([[own, other], [other, own]], "3/2", "ln 3/2").prove()
    beyond = [[own + 1, other - 1], [other, own]]
    short = [[own, other], [other, own - 1]]
    for rows in (beyond, beyond[::-1], short, short[::-1]):
        with pytest.raises(NotPrivate):
            replace(_table([[own, other], [other, own]], "3/2", "ln 3/2"), units=np.array(rows, np.int64)).prove()
    spread = [[5, 5, 1, 1], [3, 3, 3, 3]]  # two answers exceed by 2 units each, either way
    _table(spread, 1, "0", allowed=4).prove()
    one_sided = [[8, 4], [12, 0]]  # only the first row has an answer that the second cannot give
    _table(one_sided, 2, "ln 2", allowed=4).prove()
    for rows, growth, epsilon in ((spread, 1, "0"), (one_sided, 2, "ln 2"), (one_sided[::-1], 2, "ln 2")):
        with pytest.raises(NotPrivate):
            _table(rows, growth, epsilon, allowed=3).prove()
    hashes = local.local_hashing(5, "ln 3/2", buckets=2).randomiser
    hashes.prove()
    with pytest.raises(NotPrivate):
        replace(hashes, own=hashes.own + 1, other=hashes.other - 1).prove()


def test_a_growth_above_the_budget_is_refused():
    """Units within R prove nothing if R is more than e^ε."""
    made = local.randomized_response(3, "ln 3").randomiser
    made.prove()
    with pytest.raises(NotPrivate):
        replace(made, epsilon="ln 2").prove()
    with pytest.raises(NotPrivate):
        replace(made, epsilon="109/100").prove()


def test_a_randomiser_that_is_not_private_is_never_run(monkeypatch):
    """Whatever makes the units, they are proved before anybody's answer is drawn from them."""
    bad = CellRandomiser(3, TOTAL, Fraction(2), "ln 2", np.arange(3), 3, TOTAL - 2, 1)
    monkeypatch.setattr(CellChannel, "in_units", lambda *_: bad)
    with pytest.raises(NotPrivate):
        local.randomized_response(3, "ln 2").privatize([0, 1, 2])


def test_a_file_cannot_spend_more_than_its_delta(tmp_path):
    """The units of a file are held to the δ that the same file states."""
    path = tmp_path / "quaternary.json"
    write_mechanism(local.quaternary(1, "0.05"), path)
    assert read_mechanism(path).delta == 0.05
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, "delta": "0.01"}))
    with pytest.raises(FileError, match="more than delta allows"):
        read_mechanism(path)


# questions


def test_one_unit_too_little_of_a_mode_is_refused():
    """With one person and two categories the loser must keep q of the winner's weight, to the unit."""
    space, half = histogram_margins(2, 1), Fraction(1, 2)
    weight = 2**62 + 1
    assert certify_rows(space, ((2 * weight, weight),), 3 * weight, half).inequalities > 0
    with pytest.raises(NotPrivate):
        certify_rows(space, ((2 * weight + 1, weight - 1),), 3 * weight, half)
    # three people: from 3:0 to 2:1 nobody loses more than half, and only the way back breaks the ratio
    pair = histogram_margins(2, 3)
    rows = {(0, 1): (8, 4), (0, 3): (11, 1)}
    with pytest.raises(NotPrivate):
        certify_rows(pair, [rows[tuple(state)] for state in pair.states.tolist()], 12, half)
    rows[0, 3] = (10, 2)
    assert certify_rows(pair, [rows[tuple(state)] for state in pair.states.tolist()], 12, half).states == 2


def test_huge_counts_of_groups_do_not_wrap_around():
    """Positions of many groups are those of each by itself, also where products leave 64 bits."""
    line = Line("add-remove", None, gain=10**6, loss=1, bar=1)
    pairs = [(10**18, 0), (0, 10**18), (5 * 10**17, 5 * 10**17)]
    alone = [line.position(Counts(10**18, pair)) for pair in pairs]
    assert line.positions(np.array(pairs)).tolist() == alone
    assert alone[0] > 0 > alone[1]


def _moves(counts, n):
    """All counts after one person, who may be in no category, has answered otherwise."""
    k = len(counts)
    for giver, taker in product((*range(k), None), repeat=2):
        after = list(counts)
        if giver is not None:
            after[giver] -= 1
        if taker is not None:
            after[taker] += 1
        if min(after) >= 0 and sum(after) <= n:
            yield tuple(after)


def test_modes_keep_the_budget_of_their_neighbours():
    """With n public, every replacement keeps every ratio within e^ε, people in no category included."""
    n, categories = 5, ["a", "b", "c"]
    made = design(mode("c", categories), Privacy(1), "replace", n).mechanism
    weigh = made.probabilities if isinstance(made, PermuteAndFlip) else made.row
    with mpmath.workdps(60):
        for counts in product(range(n + 1), repeat=3):
            if sum(counts) > n:
                continue
            here = weigh(counts)
            for after in _moves(counts, n):
                for mine, theirs in zip(here, weigh(after), strict=True):
                    ratio = Fraction(mine) / Fraction(theirs)
                    assert mpmath.mpf(ratio.numerator) / ratio.denominator <= mpmath.e


# ask


def frame(yes=40, no=10, **more):
    return pd.DataFrame({"support": ["yes"] * yes + ["no"] * no, **more})


def test_delta_is_charged_too(tmp_path):
    """What an answer takes of δ is in the ledger, exactly."""
    book = Ledger(tmp_path / "budget.db", epsilon=1, delta="1e-6")
    ask(frame(), "exists(support == 'yes')", "0.5", "3e-7", ledger=book)
    assert book.spent().delta == Fraction(3, 10**7)


def test_exists_never_says_yes_about_nobody():
    """300 answers about nobody at δ = 1/2: with one person, each would be yes with probability 1/2."""
    made = design(exists("c == 1"), Privacy(1, "1/2"), "add-remove", None)
    assert {made.draw(Counts(9, (0, 9))) for _ in range(300)} == {"no"}
    assert {made.draw(Counts(9, (1, 8))) for _ in range(300)} == {"yes", "no"}


def test_over_budget_no_dice_are_touched(tmp_path, monkeypatch):
    """A request that cannot be paid is refused before anything is drawn for it."""
    book = Ledger(tmp_path / "budget.db", epsilon="0.1")
    monkeypatch.setattr("tinct.exact.sampler.os.urandom", lambda _: pytest.fail("something was drawn"))
    with pytest.raises(BudgetExceeded):
        ask(frame(), "majority(support)", "0.5", ledger=book, request="poll")


def test_another_plan_is_another_request(tmp_path):
    """The same question at the same cost about other rows, or answered in another way, is another request."""
    book = Ledger(tmp_path / "budget.db", epsilon=1)
    data = frame(ward=["N"] * 25 + ["S"] * 25)
    ask(data, "majority(support)", "0.1", ledger=book, request="poll")
    for other in ({"where": "ward == 'N'"}, {"lean": "0.51"}):
        with pytest.raises(ParameterError, match="already used for a different request"):
            ask(data, "majority(support)", "0.1", ledger=book, request="poll", **other)


@pytest.mark.parametrize("select", ["1/2", "1/3", "0.9"])
def test_finding_groups_and_answering_share_one_budget(select):
    """The two parts of ε add up to no more than ε, also where ε is a logarithm, and δ is used once."""
    for number in range(2, 60):
        made = Groups.of(majority("c"), Privacy(f"ln {number}", "1e-6"), None, select)
        parts = [made.selecting.exact_epsilon, made.answering.exact_epsilon]
        assert not any(part.is_log for part in parts)
        total = sum(part.value for part in parts)
        with mpmath.workdps(60):
            assert mpmath.mpf(total.numerator) / total.denominator <= mpmath.log(number)
        assert made.selecting.exact_delta + made.answering.exact_delta <= Fraction(1, 10**6)


def test_groups_of_one_are_shown_with_probability_delta():
    """4,000 groups of one person, δ = 0.05: 200 are shown, give or take 6 standard deviations (1 false alarm in 10^8).

    Counting a person twice would show 405 of them.
    """
    data = frame(yes=4000, no=0, ward=[f"w{at}" for at in range(4000)])
    shown = len(ask(data, "majority(support)", "0.1", "0.05", by="ward").value)
    assert abs(shown - 200) < 6 * math.sqrt(4000 * 0.05 * 0.95)


def _personal(data, **more):
    options = {"epsilon_column": "budget", "budgets": {"0.5": 4, "2": 7}, "neighbors": "replace", **more}
    return plan(data, "majority(support)", **options)


def test_everybody_keeps_their_own_budget(monkeypatch):
    """On the certified table, a person of class c changes no probability by more than the factor e^ε_c."""
    made, build = [], exact.balanced
    monkeypatch.setattr(exact, "balanced", lambda *given, **more: made.append(build(*given, **more)) or made[-1])
    _personal(frame(yes=6, no=5, budget=["0.5"] * 4 + ["2"] * 7))
    (certified,) = made
    rows = dict(zip(map(tuple, certified.vertices), certified.rows, strict=True))
    assert len(rows) == 5 * 8
    for vertex, row in rows.items():
        for axis, epsilon in enumerate((0.5, 2.0)):
            after = tuple(count + (at == axis) for at, count in enumerate(vertex))
            for mine, theirs in zip(row, rows.get(after, row), strict=True):
                assert abs(math.log(mine / theirs)) <= epsilon * (1 + 1e-12)


def test_conditions_do_not_shape_public_numbers():
    """Whom a condition lets in is secret: the plan is the same whoever it is."""
    budgets = ["0.5"] * 4 + ["2"] * 7
    wards = [["N"] * 11, ["S"] * 11, ["N", "S"] * 5 + ["S"]]
    plans = [_personal(frame(yes=6, no=5, budget=budgets, ward=ward), where="ward == 'N'") for ward in wards]
    assert plans[0] == plans[1] == plans[2]


def test_a_condition_moves_nobody_to_a_larger_budget():
    """Somebody with rows of two budgets has the smaller one, also if the condition leaves out just that row."""
    rows = pd.DataFrame({"who": ["a", "a"], "budget": ["0.5", "2"], "age": [1, 9], "support": ["yes", "yes"]})
    own = read_request(
        "majority(support)", epsilon_column="budget", budgets={"0.5": 3, "2": 3}, neighbors="replace", unit="who"
    ).budgets
    with sources.open(rows) as source:
        assert own.position(source, None, "who") == (1, 0)
        assert own.position(source, "age > 5", "who") == (0, 0)
