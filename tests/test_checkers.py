"""Two checkers of one format: the library and ``tools/check_certificate.py`` accept the same files, and no others.

``TINCT_EVIDENCE=1`` raises the number of files to what the documentation claims.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections import Counter
from copy import deepcopy
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from independent_checker import signed, spelled, tool_accepts
from tinct import DatasetGraph, FileError, ParameterError, Privacy, exact, graphs
from tinct.exact.certified import Certified
from tinct.graphs import EdgeClasses
from tinct.numbers.amounts import Amount
from tinct.questions import Counts, mode
from tinct.questions.modes import ModeCertificate, PermuteAndFlip, mode_mechanism
from tinct.questions.modes.coins import retention
from tinct.questions.modes.margins import clipped_margins
from tinct.questions.modes.mode_design import certified_table
from tinct.questions.noise import GeometricNoise, NoiseCertificate, TableNoise, count_noise

FULL = os.environ.get("TINCT_EVIDENCE") == "1"
FILES = 1200 if FULL else 60  # of each kind


def library_accepts(path):
    """Whether the library proves the file, as whichever kind it is; any refusal must be a FileError."""
    for kind in (Certified, ModeCertificate, NoiseCertificate):
        try:
            kind.from_json(path)
        except FileError:
            continue
        return True
    return False


# certificates of every kind


def _old(document):
    """The same certificate as it was written before it named its question."""
    old = {name: value for name, value in document.items() if name not in ("question", "neighbors")}
    return {**old, "schema": "tinct/certificate@1"}


def _document(certificate, folder):
    path = folder / "whole.json"
    certificate.to_json(path)
    return json.loads(path.read_text(encoding="utf-8"))


def _mode(epsilon, mechanism, **options):
    return ModeCertificate("mode(x)", tuple("abc"), Amount.parse(epsilon, "epsilon"), mechanism, **options)


def _noise(epsilon, delta, noise, changes=1):
    return NoiseCertificate("count(x)", "replace", changes, Amount.parse(epsilon, "epsilon"), Fraction(delta), noise)


def _certificates():
    """One certificate of every kind by name, each with a function that may change its document."""
    odd = DatasetGraph([("ä b", (1, "x")), ((1, "x"), 2.5)], {"ä b": True, (1, "x"): False, 2.5: False})
    cube = graphs.hypercube(3, lambda bits: sum(bits) >= 2)
    apart = DatasetGraph([(0, 1), (2, 3)], {0: "a", 1: "b", 2: "a", 3: "a", 4: "b"}, disconnected=True)
    classes = EdgeClasses([Privacy("1/3"), Privacy("ln 3/2", "1/100")], np.arange(12) % 2)
    clipped = certified_table(clipped_margins(3, 3, missing=True), Amount.parse("ln 9", "epsilon"))
    half = PermuteAndFlip(3, retention(Amount.parse("1/2", "epsilon"), halved=True), "replace")
    return {
        "graph": exact.balanced(odd, Privacy(1), bits=20).about("is it so?", "people who differ in one answer"),
        "line": exact.line(Privacy("ln 2", "1/50"), bits=7),
        "ray": exact.ray(Privacy("ln 2", "1/16"), bits=8, outputs=(1, 0)),
        "budgets": exact.balanced(cube, classes, total=1000),
        "pieces": exact.balanced(apart, Privacy("ln 2"), total=12),
        "old": exact.balanced(graphs.line(2, 2), Privacy("ln 2", "1/8"), total=16),
        "old budgets": exact.balanced(graphs.line(2, 1), EdgeClasses([Privacy(1), Privacy(2)], [0, 1]), total=50),
        "mode of n": _mode("ln 2", mode_mechanism(3, "ln 2", neighbors="replace", n=4), n=4),
        "mode with rest": _mode(
            "ln 2", mode_mechanism(3, "ln 2", neighbors="replace", n=5, missing=False), n=5, rest=2
        ),
        "mode clipped": _mode("ln 9", clipped),
        "mode by a linear program": _mode("1/2", mode_mechanism(3, "1/2", neighbors="replace", n=6), n=6),
        "coin": _mode("ln 2", mode_mechanism(3, "ln 2", neighbors="add-remove")),
        "coin of two": _mode("1/2", half, n=10**15, rest=0),
        "noise": _noise("ln 2", "1/8", TableNoise(-2, (2, 4, 4, 4, 2), Fraction(2))),
        "noise of two": _noise("1", "1/1000", count_noise(Privacy(1, "1/1000"), changes=2), changes=2),
        "noise by a coin": _noise("ln 2", "0", GeometricNoise(Fraction(1, 2))),
    }


KINDS = list(_certificates())


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """The documents of all kinds."""
    folder = tmp_path_factory.mktemp("documents")
    found = {name: _document(certificate, folder) for name, certificate in _certificates().items()}
    return {name: _old(document) if name.startswith("old") else document for name, document in found.items()}


# edits


# texts as long as numbers may be, above the line and below it, and one digit longer
LONG = [f"{above}/{below}" for above, below in (
    (10**1299 + 7, 10**1299 + 6), (10**1299 + 6, 10**1299 + 7), (10**1298 + 1, 10**1299), (1, 10**1299), (1, 10**1300),
    (10**1300 + 1, 10**1300), (10**1299 + 7, 10**1300), (10**1300 + 1, 10**1299),
)] + ["9" * 1300, "9" * 1301]  # fmt: skip
ODD = [None, True, False, 0, 1, 2, -1, 1.5, 1.0, 10**399, 10**401, "", "0", "1", "2", "x", "-1", "01", "2/4", "1/3",
       LONG[0], LONG[1], f"ln {LONG[0]}", LONG[5],
       "3/2", "ln 2", "ln 1", "701", "1\n", [], {}, [[]], [None], [0], [0, 1], {"a": 1}, ["1"] * 3, "\ud800",
       float("inf"), "replace", "add-remove", ["clip", 3], ["cap", 4], ["rest", 1], ["margins"], ["sort"]]  # fmt: skip


def _paths(value, here=()):
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*here, key))


def _at(document, path):
    for key in path:
        document = document[key]
    return document


def _edit(rng, document):
    """One random edit in place: of any value by its type, or one that a forger would make."""
    if rng.random() < 0.35:
        return rng.choice(FORGERIES)(rng, document)
    *above, last = rng.choice([path for path in _paths(document) if path])
    holder = _at(document, above)
    value = holder[last]
    kind = rng.randrange(8)
    if kind == 0:
        holder[last] = deepcopy(rng.choice(ODD))
    elif kind == 1:
        del holder[last]
    elif kind == 2 and isinstance(holder, list):
        holder.insert(last, deepcopy(value))
    elif kind == 3 and isinstance(holder, list):
        other = rng.randrange(len(holder))
        holder[last], holder[other] = holder[other], holder[last]
    elif kind == 4:
        holder[last] = deepcopy(_at(document, rng.choice(list(_paths(document)))))
    elif kind == 5 and isinstance(holder, dict):
        items = list(holder.items())
        rng.shuffle(items)
        holder.clear()
        holder.update(items)
    elif kind == 6 and isinstance(holder, dict):
        holder[rng.choice(["pieces", "n", "verified", "line", "missing", "budget_of_edge", "question"])] = rng.choice(
            ODD
        )
    elif isinstance(value, bool):
        holder[last] = not value
    elif isinstance(value, int | float):
        holder[last] = rng.choice([value + 1, value - 1, float(value), bool(value), -value])
    elif isinstance(value, str):
        holder[last] = _other_text(rng, value)
    return None


def _other_text(rng, text):
    parts = text.removeprefix("ln ").split("/")
    if all(part.isdigit() for part in parts):
        at = rng.randrange(len(parts))
        parts[at] = str(max(0, int(parts[at]) + rng.choice([1, -1, 2, 10])))
        return rng.choice(["", "", "ln "]) + "/".join(parts)
    return rng.choice([text + "!", "", text[::-1]])


def _moved_units(rng, document):
    """Units that change column: rows stay distributions, and the inequalities decide."""
    row = rng.choice(document["rows"])
    giver, taker = rng.randrange(len(row)), rng.randrange(len(row))
    amount = rng.choice([1, 1, 2, int(row[giver]) // 10])
    if giver != taker and int(row[giver]) >= amount:
        row[giver], row[taker] = str(int(row[giver]) - amount), str(int(row[taker]) + amount)


def _scaled(rng, document):
    """Everything in smaller units."""
    times = rng.choice([2, 3, 10])
    document["denominator"] = str(int(document["denominator"]) * times)
    document["rows"] = [[str(int(entry) * times) for entry in row] for row in document["rows"]]


def _repriced(rng, document):
    """Another budget, or the same one twice."""
    budget = rng.choice(document["budgets"])
    rng.choice([
        lambda: budget.update(epsilon="1", growth="5/2"),
        lambda: budget.update(epsilon="ln 5", growth="5"),
        lambda: budget.update(delta=rng.choice(["0", "1/100", "1/3", "99/100", "1"])),
        lambda: document["budgets"].append(dict(budget)),
    ])()  # fmt: skip


def _rewired(rng, document):
    """Edges that come, go and turn round, and pieces that are counted or not."""
    edges = document["edges"]
    rng.choice([
        lambda: edges.pop(rng.randrange(len(edges))),
        lambda: edges.append([rng.randrange(len(document["rows"])) for _ in range(2)]),
        lambda: rng.choice(edges).reverse(),
        lambda: edges.clear(),
        lambda: rng.shuffle(edges),
    ])()  # fmt: skip
    if rng.random() < 0.5:
        document["pieces"] = rng.randint(1, len(document["rows"]))
        _in_order(document)


def _in_order(document):
    order = ["schema", "question", "neighbors", "outputs", "vertices", "edges", "pieces"]
    rest = [name for name in document if name not in order]
    items = [(name, document[name]) for name in [*(name for name in order if name in document), *rest]]
    document.clear()
    document.update(items)


def _renamed(rng, document):
    """Other answers."""
    at = rng.randrange(len(document["outputs"]))
    document["outputs"][at] = rng.choice([1, True, 1.0, "z", [1, [None]], json.loads("[" * 16 + "]" * 16), 10**300])


def _promised(rng, document):
    """Another ε or another coin for the mode."""
    name = rng.choice(["epsilon", "keep" if "keep" in document else "coin"])
    value = Fraction(document[name].removeprefix("ln "))
    if name == "epsilon":
        document[name] = rng.choice(["ln 2", "ln 3/2", "ln 9", "ln 10", "1/2", "1/3", "3", "0"])
    else:
        up, down = value.numerator, value.denominator
        document[name] = str(Fraction(max(0, up + rng.choice([-1, 1, 0])), down + rng.choice([-1, 0, 1]) or 1))


def _repositioned(rng, document):
    """Other steps from counts to a state."""
    steps = document["position"]
    rng.choice([
        lambda: steps.insert(0, ["rest", rng.choice([0, 1, 2, 3, True, -1])]),
        lambda: steps.pop(rng.randrange(len(steps))),
        lambda: document.update(neighbors=rng.choice(["add-remove", "replace"])),
        lambda: document.update(missing=rng.choice([True, False])),
        lambda: rng.choice(steps).append(rng.randrange(6)),
        lambda: document.update(n=rng.randrange(7)) if "n" in document else None,
    ])()  # fmt: skip


FORGERIES = [_moved_units, _moved_units, _scaled, _repriced, _rewired, _renamed, _promised, _repositioned]


def _mutated(rng, document):
    """A document after one to three edits that change something; one that makes no sense for it is tried again."""
    changed, wanted = deepcopy(document), rng.choice([1, 1, 1, 2, 3])
    while wanted:
        before = deepcopy(changed)
        try:
            _edit(rng, changed)
            different = spelled(changed) not in (spelled(before), spelled(document))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            different = False
        changed, wanted = (changed, wanted - 1) if different else (before, wanted)
    return changed


def _damaged(rng, text):
    """A file with a few bytes changed, and its digest left as it was."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(rng.randint(1, 2)):
        data[rng.randrange(len(data))] = rng.choice(b'019"[]{},:x \n\x00\xff')
    return bytes(data)


# certificates of the mode


MODES = [
    (2, "ln 2", 0, True), (2, "1/3", 7, True), (2, "1/3", 7, False), (3, "ln 2", 4, True), (3, "1", 30, False),
    (4, "0.5", 3, True), (4, "2", None, True), (3, "3", None, False), (7, "3/2", 5, True), (12, "1", 3, False),
    (3, "1/2", 9, True), (12, "0.3", 12, True), (12, "0.3", 12, False), (20, "1/2", 8, True),
]  # fmt: skip


@pytest.mark.parametrize(("k", "epsilon", "n", "missing"), MODES)
def test_certificates_of_the_mode_survive_a_file(k, epsilon, n, missing, tool, tmp_path):
    """Tables of n people and of any number, with missing people and without: read back the same, and checked twice."""
    table = mode_mechanism(k, epsilon, neighbors="replace", n=n, missing=missing)
    amount, rest = Amount.parse(epsilon, "epsilon"), None if missing else k - 1
    made = ModeCertificate("mode(x)", tuple(range(k)), amount, table, n=n, rest=rest)
    path = tmp_path / "mode.json"
    made.to_json(path)
    back = ModeCertificate.from_json(path)
    assert back.mechanism.rows == table.rows
    assert (back.id, back.position, back.n, back.rest) == (made.id, made.position, n, rest)
    assert back.mechanism.space.missing is missing
    assert json.loads(path.read_text())["digest"] == made.id
    assert path.read_text() == signed(json.loads(path.read_text()))
    assert tool_accepts(tool, path)
    assert back.mechanism.draw([0] * (k - 1) + [n or 0], lambda bound: bound - 1) in range(k)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_a_coin_that_keeps_too_little_is_refused(neighbors, tool, tmp_path):
    """q, or q² where one person changes two counts, is at least e^−ε to the last digit, or there is no certificate."""
    changes = 1 if neighbors == "add-remove" else 2
    path = tmp_path / "coin.json"
    with mpmath.workdps(200):
        root = mpmath.exp(-mpmath.mpf(1) / changes)
        above = Fraction(int(mpmath.ceil(root * 10**60)), 10**60)
    for epsilon, least in (("ln 4", Fraction(1, 4 // changes)), ("1", above)):
        amount = Amount.parse(epsilon, "epsilon")
        ModeCertificate("mode(x)", tuple("abc"), amount, PermuteAndFlip(3, least, neighbors)).to_json(path)
        assert library_accepts(path)
        assert tool_accepts(tool, path)
        short = least - Fraction(1, 10**60)
        with pytest.raises(ParameterError, match="coin"):
            ModeCertificate("mode(x)", tuple("abc"), amount, PermuteAndFlip(3, short, neighbors))
        path.write_text(signed({**json.loads(path.read_text()), "coin": str(short)}))
        assert not library_accepts(path)
        assert not tool_accepts(tool, path)


def test_a_certificate_of_the_mode_fits_its_mechanism():
    """Categories, ε, people and the rest have to belong to the table."""
    half, table = Amount.parse("1/2", "epsilon"), mode_mechanism(3, "1/2", neighbors="replace", n=4)
    full = mode_mechanism(3, "1/2", neighbors="replace", n=4, missing=False)
    good = {"question": "mode(x)", "categories": tuple("abc"), "epsilon": half, "mechanism": table, "n": 4}
    assert ModeCertificate(**good).guarantee == "ε = 0.5, exactly"
    for change in (
        {"categories": tuple("ab")}, {"categories": tuple("aab")}, {"epsilon": Amount.parse(1, "epsilon")}, {"n": 5},
        {"n": None}, {"rest": 3}, {"rest": True}, {"mechanism": full}, {"question": None}, {"n": True}, {"n": -1},
        {"mechanism": PermuteAndFlip(3, Fraction(1)), "n": 4},
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            ModeCertificate(**{**good, **change})
    assert ModeCertificate(**{**good, "mechanism": full, "rest": 0}).position[0] == ("rest", 0)


def test_the_independent_checker_follows_the_steps_of_the_file(tool):
    """Counts become weights as the library's own mechanism has them, also where counts do not sum to n."""
    rng = random.Random(4)
    for n, missing in ((4, True), (4, False), (None, True)):
        table = mode_mechanism(3, 2, neighbors="replace", n=n, missing=missing)
        clip = table.space.ceiling if n is None else None
        rows = zip(table.space.states.tolist(), table.rows, strict=True)
        weights = {tuple(state): dict(zip(state, row, strict=True)) for state, row in rows}
        family = mode("x", ["a", "b", "c"], rest="b").family("replace", 4)
        for _ in range(200):
            people = [rng.randrange(4) for _ in range(5)]
            found = tool.answer(people, weights, 3, n, clip, missing, 1)
            counts = Counts(sum(people), tuple(people[:3]), people[3])
            own = family.histogram(counts) if n is None else family.capped(counts, missing=missing)
            assert tuple(found) == table.row(own)


def _explicit_moves(k, most, n, clip, missing):
    """Every move of one person between explicit histograms, as margins before and after, sorted."""
    found = set()
    for counts in itertools.product(range(most + 1), repeat=k):
        if n is not None and not (sum(counts) == n or (missing and sum(counts) < n)):
            continue
        for giver, taker in itertools.permutations([*range(k), *([None] if missing else [])], 2):
            other = [c - (at == giver) + (at == taker) for at, c in enumerate(counts)]
            if min(other) < 0 or (n is not None and sum(other) > n):
                continue
            both = [[min(max(h) - c, clip if n is None else c + max(h)) for c in h] for h in (counts, other)]
            found.add(tuple(sorted(zip(*both, strict=True))))
    return found


@pytest.mark.parametrize(
    ("k", "most", "n", "clip"),
    [
        (2, 9, None, 1),
        (2, 9, None, 3),
        (3, 8, None, 2),
        (4, 6, None, 1),
        (3, 6, 6, None),
        (4, 5, 5, None),
        (2, 5, 5, None),
    ],
)
@pytest.mark.parametrize("missing", [True, False])
def test_the_independent_checker_looks_at_exactly_the_moves_there_are(k, most, n, clip, missing, tool):
    """Against explicit histograms, with enough people that every clipped margin has all that it stands for."""
    margins = itertools.combinations_with_replacement(range((most if clip is None else clip) + 1), k - 1)
    states = [(0, *rest) for rest in margins if tool.is_state((0, *rest), k, n, clip, missing)]
    assert tool.count_states(k, n, clip, missing, 10**4) == len(states)
    found = {tuple(sorted(after)) for state in states for after in tool.moves(state, k, n, clip, missing)}
    assert found == _explicit_moves(k, most, n, clip, missing)


# edits decided by both


@pytest.mark.parametrize("kind", KINDS)
def test_both_checkers_draw_the_line_at_the_same_digit(kind, documents, tool, tmp_path):
    """Every number of a certificate as long as it may be, and one digit longer, above the line and below it."""
    path, fates = tmp_path / "certificate.json", Counter()
    for *above, last in [at for at in _paths(documents[kind]) if _is_number(_at(documents[kind], at))][:40]:
        for text in (*LONG, *(f"ln {each}" for each in LONG)):
            changed = deepcopy(documents[kind])
            _at(changed, above)[last] = text
            path.write_text(signed(changed), encoding="utf-8")
            found = library_accepts(path)
            assert tool_accepts(tool, path) == found, (above, last, text)
            fates[found] += 1
    assert fates[True] > 0
    assert fates[False] > 0


def _is_number(value):
    return isinstance(value, str) and value.removeprefix("ln ").replace("/", "").isdigit()


@pytest.mark.parametrize("kind", KINDS)
def test_both_checkers_accept_the_same_files(kind, documents, tool, tmp_path):
    """Valid certificates with random edits, digests recomputed: accepted by both or refused by both.

    1,200 of each kind with evidence. Some of the edited files are certificates in their own right.
    """
    rng = random.Random(f"edits of {kind}")
    path = tmp_path / "certificate.json"
    path.write_text(signed(documents[kind]), encoding="utf-8")
    assert library_accepts(path)
    assert tool_accepts(tool, path)
    fates = Counter()
    for _ in range(FILES):
        changed = _mutated(rng, documents[kind])
        text = signed(changed)
        damaged = _damaged(rng, text) if rng.random() < 0.05 else text.encode("utf-8", "surrogatepass")
        path.write_bytes(damaged)
        found = library_accepts(path)
        assert tool_accepts(tool, path) == found, damaged.decode("utf-8", "replace")
        fates[found] += 1
    assert fates[False] > FILES // 4
    assert fates[True] > 0
