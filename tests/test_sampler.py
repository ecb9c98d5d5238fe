"""The dice: every draw enumerated, nothing else touches entropy, and nothing said about the dataset.

``TINCT_EVIDENCE=1`` raises the number of instances to what the documentation claims.
"""

from __future__ import annotations

import ast
import contextlib
import logging
import math
import os
import traceback
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct import DatasetGraph, ParameterError, Privacy, TinctError, exact, graphs
from tinct.exact import sampler
from tinct.exact.certified import Certified
from tinct.exact.proof import Terms

FULL = os.environ.get("TINCT_EVIDENCE") == "1"
SOURCES = Path(tinct.__file__).parent


def several(few, many):
    """How many instances: a few, or as many as the documentation claims."""
    return many if FULL else few


class Tape:
    """Bytes to be read in order; reading past the end is an error, and every request is remembered."""

    def __init__(self, data):
        self.data, self.requests = bytes(data), []

    def __call__(self, size):
        """The next bytes."""
        self.requests.append(size)
        if size > len(self.data):
            raise EOFError
        read, self.data = self.data[:size], self.data[size:]
        return read


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def _count(self):
        Counted.compared += 1

    def __ge__(self, other):
        self._count()
        return int(self) >= int(other)

    def __gt__(self, other):
        self._count()
        return int(self) > int(other)

    def __le__(self, other):
        self._count()
        return int(self) <= int(other)

    def __lt__(self, other):
        self._count()
        return int(self) < int(other)

    __hash__ = int.__hash__


# one draw


def _random_tables(rng, count):
    for _ in range(count):
        total, width = int(rng.integers(2, 65_537)), int(rng.integers(1, 12))
        cuts = np.sort(rng.integers(0, total + 1, width - 1)).tolist()
        yield total, [*cuts, total]


def test_every_draw_lands_where_the_table_says():
    """200 rows with N ≤ 65,536, zeros among them: over all draws each answer comes up exactly its units, no more.

    One at a time for small N (for all N with evidence), and in bulk.
    """
    rng = np.random.default_rng(1)
    for total, prefixes in _random_tables(rng, 200):
        units = np.diff([0, *prefixes])
        everything = np.arange(total, dtype=np.uint64)
        out = np.empty(total, np.intp)
        steps = sampler._steps(np.array([prefixes], np.uint64))
        sampler._place_many(everything, steps, np.zeros(total, np.intp), out)
        assert np.bincount(out, minlength=len(units)).tolist() == units.tolist()
        assert (np.diff(out) >= 0).all()
        some = range(total) if FULL or total < 3000 else rng.integers(0, total, 1000).tolist()
        assert [sampler.place(drawn, prefixes) for drawn in some] == out[list(some)].tolist()


def test_rejection_is_uniform_for_every_bound():
    """Every bound up to 4,096: byte strings that stand for too large a number are passed over, all others count alike.

    All strings of one or two bytes are read one after the other, so each is looked at once (with evidence; otherwise
    those whose masked bits are 0). Every attempt reads the same number of bytes.
    """
    for bound in range(2, 4097):
        width = (bound - 1).bit_length()
        size = -(-width // 8)
        values = np.arange(256**size if FULL or size == 1 else 2**width)
        strings = iter(values.astype(f"<u{size}").view(f"V{size}").tolist())
        asked, drawn = set(), []

        def read(count, strings=strings, asked=asked):
            asked.add(count)
            return next(strings)

        with contextlib.suppress(StopIteration):
            while True:
                drawn.append(sampler.below(bound, read))
        masked = values % 2**width
        assert drawn == masked[masked < bound].tolist()
        assert set(np.bincount(drawn).tolist()) == {len(values) // 2**width}
        assert len(set(drawn)) == bound
        assert asked == {size}


def test_a_rejected_draw_is_drawn_again():
    """After any number of rejections the next string decides."""
    tape = Tape([7, 5, 6, 2])
    assert sampler.below(5, tape) == 2
    assert tape.requests == [1, 1, 1, 1]


@pytest.mark.parametrize("bits", [62, 63, 64, 200])
def test_large_bounds_read_whole_words(bits):
    """2^bits needs exactly its bits and never rejects; the number is read least byte first."""
    size = -(-bits // 8)
    data = bytes(range(1, size + 1))
    tape = Tape(data)
    assert sampler.below(2**bits, tape) == int.from_bytes(data, "little") % 2**bits
    assert tape.requests == [size]


def test_comparisons_depend_on_the_width_only():
    """⌈log2 width⌉ comparisons for every draw and every row of that width, wherever the draw lands."""
    rng = np.random.default_rng(2)
    for width in range(1, 40):
        counts = set()
        for _ in range(20):
            cuts = np.sort(rng.integers(0, 1001, width - 1)).tolist()
            for drawn in rng.integers(0, 1000, 20).tolist():
                Counted.compared = 0
                sampler.place(Counted(drawn), [*cuts, 1000])
                counts.add(Counted.compared)
        assert counts == {math.ceil(math.log2(width))}


def test_bulk_draws_follow_the_scalar_rule_on_the_same_bytes():
    """Word by word: what one draw makes of 8 bytes, draws in bulk make of them, rejections included."""
    rng = np.random.default_rng(3)
    for _ in range(several(40, 400)):
        bits = int(rng.integers(57, 64))  # a single draw reads 8 bytes, as draws in bulk always do
        total = int(rng.integers(2 ** (bits - 1) + 1, 2**bits, dtype=np.uint64))
        width, count = int(rng.integers(1, 6)), int(rng.integers(1, 50))
        table = np.array(
            [
                [*sorted(int(cut) for cut in rng.integers(0, total, width - 1, dtype=np.uint64)), total]
                for _ in range(4)
            ],
            object,
        )
        rows = rng.integers(0, 4, count)
        data = rng.bytes(8 * 40 * count)
        found = sampler.draw_many(table, rows, Tape(data))
        # each round reads one word for every draw that is still waiting
        words = [data[at : at + 8] for at in range(0, len(data), 8)]
        waiting, expected = list(range(count)), {}
        while waiting:
            read, words = words[: len(waiting)], words[len(waiting) :]
            left = []
            for at, word in zip(waiting, read, strict=True):
                try:
                    expected[at] = sampler.draw(table[rows[at]].tolist(), Tape(word))
                except EOFError:
                    left.append(at)
            waiting = left
        assert found.tolist() == [expected[at] for at in range(count)]


def test_bulk_and_single_draws_agree_beyond_a_word():
    """Denominators above 2^63 are drawn one after the other from the same bytes."""
    rng = np.random.default_rng(4)
    for total in (2**63 + 1, 2**64, 3**60):
        table = np.array([[total // 3, total // 2, total], [0, total, total]], object)
        rows = rng.integers(0, 2, 30)
        data = rng.bytes(4000)
        tape = Tape(data)
        expected = [sampler.draw(table[row].tolist(), tape) for row in rows]
        assert sampler.draw_many(table, rows, Tape(data)).tolist() == expected


def test_bulk_draws_cross_batches():
    """More draws than a batch holds: none is left out, and each batch reads for itself."""
    count = 2 * sampler._BATCH + 5
    tape = Tape(b"\x05" + bytes(7) + bytes(8 * (count - 1)))
    found = sampler.draw_many(np.array([[3, 16]]), np.zeros(count, np.intp), tape)
    assert found[0] == 1
    assert not found[1:].any()
    assert tape.requests == [8 * sampler._BATCH, 8 * sampler._BATCH, 40]
    assert sampler.draw_many(np.array([[3, 16]]), np.zeros(0, np.intp), Tape(b"")).tolist() == []


# entropy


def _fails(error):
    def urandom(size):
        raise error

    return urandom


@pytest.mark.parametrize(
    "urandom",
    [
        _fails(OSError("no device")),
        _fails(PermissionError("denied")),
        _fails(NotImplementedError("none")),
        lambda size: b"\0" * (size - 1),
        lambda _: b"",
        lambda size: b"\0" * (size + 1),
    ],
)
def test_without_entropy_there_is_no_answer(urandom, monkeypatch):
    """A generator that fails or gives too little: a TinctError from every way to draw, and nothing returned."""
    certified = exact.line(Privacy(1))
    monkeypatch.setattr(os, "urandom", urandom)
    for draw in (
        lambda: certified.release(0),
        lambda: certified.sample([0, 1]),
        lambda: certified.sample(np.arange(5)),
        lambda: sampler.below(10),
        lambda: sampler.draw([1, 2]),
        sampler.token,
    ):
        with pytest.raises(TinctError, match="nothing was drawn"):
            draw()


def test_tokens_differ():
    """128 bits in hexadecimal; 1,000 of them never collide."""
    tokens = {sampler.token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert {len(token) for token in tokens} == {32}


def _entropy_uses(tree):
    """The places where a module reaches for randomness, by any spelling."""
    names = {"secrets", "random", "uuid"}
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                aliases[name.asname or name.name.split(".")[0]] = name.name
                if name.name.split(".")[0] in names or name.name.startswith("numpy.random"):
                    yield name.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            for name in node.names:
                full = f"{module}.{name.name}"
                if module.split(".")[0] in names or full.startswith("numpy.random") or full in _OF_THE_SYSTEM:
                    yield full
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            full = f"{aliases.get(node.value.id, node.value.id)}.{node.attr}"
            if full in _OF_THE_SYSTEM or full == "numpy.random":
                yield full
        elif isinstance(node, ast.Constant) and node.value in (
            "secrets",
            "random",
            "urandom",
            "getrandom",
            "numpy.random",
        ):
            yield f"the text {node.value!r}"  # importlib and getattr


_OF_THE_SYSTEM = {"os.urandom", "os.getrandom"}


def test_only_the_sampler_touches_entropy():
    """No other module imports or names secrets, random, os.urandom, numpy.random; a simulation has NumPy's, seeded."""
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        uses = set(_entropy_uses(ast.parse(path.read_text(encoding="utf-8"))))
        if uses:
            found[path.relative_to(SOURCES).as_posix()] = uses
    assert found.pop("exact/sampler.py") == {"os.urandom"}
    assert found.pop("exact/_simulate.py") == {"numpy.random"}
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "import secrets", "import random as r", "from random import choice", "from os import urandom",
        "import os as system\nsystem.urandom(3)", "import os\nos.getrandom(1)", "import numpy as np\nnp.random.rand()",
        "from numpy import random", "from numpy.random import default_rng", "import numpy.random",
        "import uuid\nuuid.uuid4()", "__import__('secrets')",
    ],
)  # fmt: skip
def test_the_search_for_entropy_finds_it(source):
    """Every spelling that the previous test looks for."""
    assert list(_entropy_uses(ast.parse(source)))


# release


CANARY = "CANARY-7731"


def _everything(error):
    """All that a log, a traceback or an error reporter could show of an exception."""
    texts = [*traceback.format_exception(error), repr(error), str(error)]
    inner, seen = error, []
    while inner is not None and inner not in seen:
        seen.append(inner)
        texts += [repr(inner), repr(inner.args), str(getattr(inner, "witness", ""))]
        inner = inner.__cause__ or inner.__context__
    return "\n".join(texts)


def _certificates():
    yield exact.line(Privacy(1))
    yield exact.balanced(graphs.line(2, 2), Privacy(1))
    yield exact.balanced(graphs.hypercube(2, lambda bits: sum(bits) > 0), Privacy(1), bits=70)
    yield exact.balanced(DatasetGraph([("a", "b")], {"a": 0, "b": 1}), Privacy(1))
    yield exact.balanced(graphs.histograms(2, 2, lambda counts: counts[0] > 1), Privacy(1))


STRANGERS = [
    CANARY, (CANARY,), (CANARY, CANARY), [CANARY], {CANARY: 1}, {CANARY}, f"9{CANARY}", b"CANARY-7731",
    (0, CANARY), Fraction(7731, 2), 7731.5, float("nan"), None, np.array([7731.5, 1]), np.str_(CANARY), object,
]  # fmt: skip


def test_a_stranger_is_refused_without_a_word_about_it(caplog):
    """300 forced errors: the dataset given is in no message, no chained error, no log record."""
    forced = 0
    with caplog.at_level(logging.DEBUG):
        for certified in _certificates():
            for stranger in STRANGERS:
                calls = [
                    lambda c=certified, s=stranger: c.release(s),
                    lambda c=certified, s=stranger: c.sample([s]),
                    lambda c=certified, s=stranger: c.positions([c.vertices[0], s]),
                    lambda c=certified, s=stranger: exact.simulate(c, [s], seed=1),
                ]
                for call in calls:
                    with pytest.raises(ParameterError, match="not one of the certificate") as caught:
                        call()
                    error = caught.value
                    assert error.__cause__ is None
                    assert error.__context__ is None
                    assert "CANARY" not in _everything(error)
                    assert "7731" not in _everything(error)
                    forced += 1
    assert forced >= 300
    assert caplog.text == ""


def test_numbers_beyond_the_graph_are_refused_or_clamped():
    """On a line that stands for all beyond its ends every whole number has a row; elsewhere it is a stranger."""
    family, line = exact.line(Privacy("ln 2"), bits=10), exact.balanced(graphs.line(3, 3), Privacy(1))
    far = [-(10**30), -11, -10, -1, 0, 9, 10, 10**30]
    assert family.positions(far).tolist() == [0, 0, 0, 9, 10, 19, 19, 19]
    for number in (0, 7, -1, 10**30, np.int64(7), np.uint8(200)):
        with pytest.raises(ParameterError):
            line.release(number)
        with pytest.raises(ParameterError):
            line.sample([1, number])
    for array in (np.array([1, 7]), np.array([0], np.uint64), np.array([2**63], np.uint64), np.array([-1], np.int8)):
        with pytest.raises(ParameterError):
            line.sample(array)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_positions_are_the_same_for_every_type_of_number(dtype):
    """Narrow and unsigned types neither overflow nor wrap: the rows of an array are those of its numbers."""
    family = exact.line(Privacy(0.1), bits=40)  # from −254 to 253: more than a byte
    limits = np.iinfo(dtype)
    numbers = sorted({limits.min, limits.max, 0, 1, 99, 127} | ({-1, -128} if limits.min < 0 else set()))
    assert family.positions(np.array(numbers, dtype)).tolist() == family.positions(numbers).tolist()
    terms = (Terms("0", Fraction(1), Fraction(0)),)
    moved = Certified(
        range(2**70, 2**70 + 2), ("a", "b"), [[1, 1], [1, 1]], 2, [[0, 1]], [0], terms, clamped=True
    )  # fmt: skip
    assert set(moved.positions(np.array(numbers, dtype)).tolist()) == {0}
    spread = Certified(range(0, 4, 2), ("a", "b"), [[1, 1], [1, 1]], 2, [[0, 1]], [0], terms)
    assert spread.positions(np.array([2, 0], dtype)).tolist() == [1, 0]
    with pytest.raises(ParameterError):
        spread.positions(np.array([1], dtype))


@pytest.mark.parametrize("shape", [(), (2, 2), (1, 1, 1)])
def test_datasets_come_in_one_list(shape):
    """Arrays of other dimensions are refused."""
    with pytest.raises(ParameterError, match="one list"):
        exact.line(Privacy(1)).sample(np.zeros(shape, int))


def test_nothing_that_prints_shows_a_row():
    """Reprs and texts of the certificate and its proof hold no units and no probability of a single vertex."""
    for certified in _certificates():
        shown = f"{certified!r} {certified!s} {certified.proof!r} {certified.proof!s} {certified.guarantee}"
        for row in certified.rows:
            for units in row:
                if 10**6 < units < certified.denominator:  # a short number may stand there for another reason
                    assert str(units) not in shown
                    assert f"{units / certified.denominator:.6}" not in shown


def _false_alarm(observed, units, total):
    """χ² of counts against a row, and the value that a right sampler exceeds once in 10^9 times."""
    from scipy.stats import chi2

    count = sum(observed.values())
    expected = [count * n / total for n in units]
    statistic = sum((observed[k] - e) ** 2 / e for k, e in enumerate(expected) if e)
    assert all(observed[k] == 0 for k, e in enumerate(expected) if not e)
    return statistic, chi2.isf(1e-9, sum(e > 0 for e in expected) - 1)


@pytest.mark.parametrize("bits", [10, 62, 63, 100])
def test_releases_follow_the_row(bits):
    """10^5 draws in bulk and 10^4 one by one against their row; a right sampler fails once in 10^9 runs."""
    total = 2**bits - 3
    units = [total // 7, 0, total // 3, total - total // 7 - total // 3]
    terms = (Terms("0", Fraction(1), Fraction(0)),)
    certified = Certified(range(2), ("a", "b", "c", "d"), [units, units], total, [[0, 1]], [0], terms)
    number = {answer: at for at, answer in enumerate(certified.outputs)}
    bulk = Counter(number[answer] for answer in certified.sample(np.zeros(10**5, int)).tolist())
    single = Counter(number[certified.release(1)] for _ in range(10**4))
    for observed in (bulk, single):
        statistic, limit = _false_alarm(observed, units, total)
        assert statistic < limit


def test_answers_keep_their_type():
    """Whatever the outputs are, release gives one of them; sample gives an array of them."""
    for outputs in (("a", "b"), (0, 1), (True, False), (("x", 1), None), (1, "1"), (2.5, 3)):
        certified = exact.ray(Privacy(1, "1/4"), outputs)
        released = certified.release(3)
        assert any(released is output for output in outputs)
        drawn = certified.sample([0, 1, 2, 3] * 10).tolist()
        assert {type(answer) for answer in drawn} <= {type(output) for output in outputs}
        assert set(drawn) <= set(outputs)


# simulation


def test_simulations_are_repeatable_and_marked():
    """The same seed gives the same answers, another seed others, and all of them say that they are no release."""
    certified = exact.line(Privacy("ln 2"))
    datasets = np.zeros(200, int)
    one, same, other = (exact.simulate(certified, datasets, seed=seed) for seed in (5, 5, 6))
    assert one.answers.tolist() == same.answers.tolist() != other.answers.tolist()
    assert (one.released, one.seed) == (False, 5)
    assert not hasattr(certified.sample([0]), "released")
    big = exact.balanced(graphs.line(2, 2), Privacy(1), bits=100)
    assert exact.simulate(big, [1, 4], 0).answers.tolist() == exact.simulate(big, [1, 4], 0).answers.tolist()


def test_simulations_follow_the_row():
    """10^5 seeded draws against their row, which never changes."""
    certified = exact.line(Privacy(1, 0.01))
    at = certified.vertices.index(2)
    answers = exact.simulate(certified, np.full(10**5, 2), seed=7).answers.tolist()
    statistic, limit = _false_alarm(
        Counter(certified.outputs.index(answer) for answer in answers), certified.rows[at], certified.denominator
    )
    assert statistic < limit


@pytest.mark.parametrize("seed", [None, -1, 1.5, "1", True, float("nan"), [1]])
def test_seeds_are_whole_numbers(seed):
    """A simulation without a seed would be a release in disguise."""
    with pytest.raises(ParameterError, match="seed"):
        exact.simulate(exact.line(Privacy(1)), [0], seed=seed)
