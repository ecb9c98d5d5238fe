"""repeated: asking the same people again, with noise that is drawn once and kept (docs/howto/repeat.md).

A chain has two stages. The first is drawn once for each answer a person ever gives, and kept on the device: however
often they are asked, that answer is known with ε∞ at most. The second is drawn anew for every report, from what is
kept, so that one report says only ε₁ and reports cannot be recognised. Both stages are whole units out of 2^31, so
their product is an ordinary mechanism in units out of 2^62, proved like any other: one report *is* that mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import json_text, read_text, reading, strict_json, suffix_of, write_atomically
from tinct._files._strict_json import require_fields, require_schema
from tinct.errors import FileError, NotPrivate, ParameterError
from tinct.exact import sampler
from tinct.graphs.labels import hashable, plain
from tinct.local.answers_and_reports import codes_of
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.base import Fields, filled_list, whole_text
from tinct.local.mechanisms.local_hashing import HashRandomiser, prime_from
from tinct.local.mechanisms.randomized_response import CellRandomiser, respond
from tinct.local.mechanisms.unary_encoding import UnaryRandomiser
from tinct.local.parameters import LocalBudget, named_symbols, whole

if TYPE_CHECKING:
    from tinct._files import FilePath
    from tinct.exact.sampler import Read
    from tinct.local._tally import Tally
    from tinct.local.parameters import BudgetLike, Floats, SymbolsLike

SCHEMA = "tinct/local-chain@1"
MEMO_SCHEMA = "tinct/memo@1"
HALF = 2**31  # units of each stage: their product is N
KINDS: dict[str, Any] = {"bits": UnaryRandomiser, "cells": CellRandomiser, "hash": HashRandomiser}
_NAMES = {"bits": "repeated unary encoding", "cells": "repeated randomized response", "hash": "repeated local hashing"}
MAX_EPSILON = 16  # beyond, 2^31 units are too few
_MOST_ROUNDS = 100_000


@dataclass(frozen=True, eq=False)
class Chain:
    """Two stages of noise for people who are asked again and again.

    Attributes:
        kind: ``"bits"``, ``"cells"`` or ``"hash"``.
        memo: The first stage, drawn once for each answer and kept; its ε is ε∞.
        mechanism: Both stages as one: what a single report is; its ε is ε₁. Estimates and tallies are made with it.
        noise: Units out of 2^31: with which a kept bit is flipped, or a kept cell becomes any one other.
    """

    kind: str
    memo: LocalMechanism
    mechanism: LocalMechanism
    noise: int

    @property
    def symbols(self) -> tuple[Any, ...]:
        """The possible answers."""
        return self.mechanism.symbols

    def lifetime(self, answers: int = 1) -> float:
        """ε of everything a person ever sends, if they gave so many different answers: each costs ε∞.

        With hashes, answers that meet in a bucket are one, so it is never more than the buckets times ε∞.
        """
        answers = whole(answers, "answers", 1, 10**9)
        if isinstance(self.memo.randomiser, HashRandomiser):
            answers = min(answers, self.memo.randomiser.buckets)
        return min(answers, len(self.symbols)) * self.memo.epsilon

    def epsilon_after(self, rounds: int) -> float:
        """ε of so many reports about one answer that stays the same, rounded up: from ε₁ towards ε∞."""
        rounds = whole(rounds, "rounds", 1, _MOST_ROUNDS)
        memo = self.memo.randomiser
        if isinstance(memo, UnaryRandomiser):
            # the likeliest evidence: the own bit always 1, another's always 0
            hit, miss = (HALF - self.noise) ** rounds, self.noise**rounds
            own, other = HALF // 2, memo.other
            first = Fraction(own * hit + own * miss, other * hit + (HALF - other) * miss)
            second = Fraction(other * miss + (HALF - other) * hit, own * miss + own * hit)
            return _log_up(first * second)
        count, own, other = _response(memo)
        hit, miss = (HALF - (count - 1) * self.noise) ** rounds, self.noise**rounds
        return _log_up(
            Fraction(own * hit + (count - 1) * other * miss, other * hit + own * miss + (count - 2) * other * miss)
        )

    def answer(self, value: Any, memory: Memory | None = None, read: Read | None = None) -> tuple[Any, Memory]:
        """One report of an answer, and what the device has to keep for the next one.

        The report is what ``mechanism.privatize`` gives: a number, or a list of numbers or truth values. ``read`` gives
        other bytes than the operating system's, for tests alone.
        """
        read = sampler.entropy if read is None else read
        code = int(codes_of(self.symbols, [value])[0])
        kept = self._kept(memory)
        memo = self.memo.randomiser
        report: Any
        if isinstance(memo, HashRandomiser):
            if kept.hash is None:
                a = int(sampler.below_many(memo.prime - 1, 1, read)[0]) + 1
                b = int(sampler.below_many(memo.prime, 1, read)[0])
                kept = Memory(self.memo.id, self.mechanism.id, (a, b), kept.drawn)
            a, b = kept.hash or (1, 0)
            at = (a * code + b) % memo.prime % memo.buckets
            drawn = kept.drawn.get(at)
            if drawn is None:
                drawn = _cell(at, memo.own, memo.other, read)
            report = [a, b, self._respond(drawn, memo.buckets, read)]
        elif isinstance(memo, UnaryRandomiser):
            at, drawn = code, kept.drawn.get(code)
            if drawn is None:
                drawn = tuple(memo.draw(np.array([code]), read)[0].tolist())
            flips = sampler.below_many(HALF, memo.size, read) < np.uint64(self.noise)
            report = (np.array(drawn) ^ flips).tolist()
        else:
            at, drawn = code, kept.drawn.get(code)
            if drawn is None:
                drawn = int(memo.draw(np.array([code]), read)[0])
            report = self._respond(drawn, _response(memo)[0], read)
        return report, Memory(kept.memo, kept.mechanism, kept.hash, {**kept.drawn, at: drawn})

    def _respond(self, cell: int, count: int, read: Read) -> int:
        return _cell(cell, HALF - (count - 1) * self.noise, self.noise, read)

    def _kept(self, memory: Memory | None) -> Memory:
        if memory is None:
            return Memory(self.memo.id, self.mechanism.id)
        if (memory.memo, memory.mechanism) != (self.memo.id, self.mechanism.id):
            raise ParameterError("this memory is of another chain: it must not be used, and not be thrown away either")
        memo = self.memo.randomiser
        many = memo.buckets if isinstance(memo, HashRandomiser) else memo.size
        for at, drawn in memory.drawn.items():
            fine = 0 <= at < many and (
                isinstance(drawn, tuple) and len(drawn) == memo.size
                if isinstance(memo, UnaryRandomiser)
                else isinstance(drawn, int) and 0 <= drawn < _response(memo)[0]
            )
            if not fine:
                raise ParameterError("this memory holds what the chain cannot have drawn")
        if memory.hash is not None:
            a, b = memory.hash
            prime = memo.prime if isinstance(memo, HashRandomiser) else 0
            if not (0 < a < prime and 0 <= b < prime):
                raise ParameterError("this memory holds what the chain cannot have drawn")
        return memory

    def change(self, before: Tally, after: Tally, confidence: float = 0.95) -> Change:
        """How the frequencies changed from one round to another, with intervals that all hold at once.

        The same people may have answered in both rounds. What is kept makes their reports alike, which can only make
        the differences vary less than those of different people, whose deviation is stated; with hashes the two
        deviations are added instead.
        """
        from scipy.special import ndtri

        if not 0 < confidence < 1:
            raise ParameterError.of("confidence", "a number between 0 and 1", confidence)
        for each in (before, after):
            if each.mechanism.id != self.mechanism.id:
                raise ParameterError("these are counts of another mechanism than that of the chain")
        if before.parts & after.parts:
            raise ParameterError("some of these reports are in both counts: they are of one round")
        one, two = before.estimate(confidence), after.estimate(confidence)
        spread = one.deviations + two.deviations
        if self.kind != "hash":
            spread = np.hypot(one.deviations, two.deviations)
        reach = float(ndtri(1 - (1 - confidence) / 2 / len(self.symbols))) * spread
        found = two.frequencies - one.frequencies
        low, high = (np.clip(end, -1.0, 1.0) for end in (found - reach, found + reach))
        return Change(self.symbols, found, spread, low, high, confidence)

    def to_json(self, path: FilePath) -> None:
        """Write both stages, for clients and analysts (docs/files.md)."""
        suffix_of(path, (".json",))
        fields = {
            "schema": SCHEMA,
            "kind": self.kind,
            "lifetime": str(self.memo.budget.exact),
            "first": str(self.mechanism.budget.exact),
            "symbols": [plain(symbol) for symbol in self.symbols],
            "lifetime_growth": str(self.memo.randomiser.growth),
            "first_growth": str(self.mechanism.randomiser.growth),
            "memo": self.memo.randomiser.fields(),
            "noise": str(self.noise),
        }
        write_atomically(path, json_text(fields))

    @classmethod
    def from_json(cls, path: FilePath) -> Chain:
        """Read a chain that ``to_json`` wrote, and prove both stages, and the two as one, again."""
        from tinct.exact.proof import parse_rational

        suffix_of(path, (".json",))
        read = strict_json(read_text(path), path)
        require_schema(read, path, SCHEMA)
        names = ("kind", "lifetime", "first", "symbols", "lifetime_growth", "first_growth", "memo", "noise")
        require_fields(read, path, "the chain", required=("schema", *names))
        with reading(path, "the chain"):
            kind = read["kind"]
            if not isinstance(kind, str) or kind not in KINDS:
                raise ParameterError(f"kind must be one of {', '.join(KINDS)}")
            given = [plain(hashable(item)) for item in filled_list(read["symbols"], "symbols")]
            symbols = named_symbols(given, len(given))
            lifetime, first = (_stated(read[name], name) for name in ("lifetime", "first"))
            held = read["memo"]
            if not isinstance(held, dict) or held.get("kind") != KINDS[kind].kind:
                raise ParameterError(f"memo must be a randomiser of kind {KINDS[kind].kind}")
            fields = Fields(held, parse_rational(read["lifetime_growth"], "lifetime_growth"), lifetime.text)
            memo: Any = KINDS[kind].read(fields)
            fields.require_none_left()
            if memo.size != len(symbols) or memo.total != HALF:
                raise ParameterError(f"memo must be for {len(symbols)} symbols and 2^31 units")
            noise = whole_text(read["noise"], "noise")
            growth = parse_rational(read["first_growth"], "first_growth")
            return _chain(kind, memo, noise, lifetime, first, symbols, growth)

    def __repr__(self) -> str:
        return (
            f"Chain({self.kind!r}, {len(self.symbols):,} symbols, lifetime={self.memo.epsilon:.6g}, "
            f"first={self.mechanism.epsilon:.6g})"
        )


@dataclass(frozen=True, eq=False)
class Change:
    """How frequencies changed between two rounds.

    Attributes:
        symbols: The symbols.
        changes: Unbiased estimates of frequency after minus frequency before.
        deviations: Upper bounds on their standard deviations.
        low: Lower ends of intervals that hold all at once with ``confidence`` (by the normal approximation).
        high: Upper ends.
        confidence: For all intervals together.
    """

    symbols: tuple[Any, ...]
    changes: Floats
    deviations: Floats
    low: Floats
    high: Floats
    confidence: float


@dataclass(frozen=True)
class Memory:
    """What a device keeps: the noise that was drawn for each answer a person has given, and their hash.

    Attributes:
        memo: The id of the first stage.
        mechanism: The id of the chain as one mechanism.
        hash: The two numbers of the person's hash, for chains with hashes.
        drawn: What was drawn, by the number of the answer (or of the bucket that the answer has).
    """

    memo: str
    mechanism: str
    hash: tuple[int, int] | None = None
    drawn: dict[int, Any] = field(default_factory=dict)

    def to_text(self) -> str:
        """The memory as JSON with a checksum, to be kept where only the person's own device can read it."""
        fields = self._fields()
        return json_text({**fields, "check": _checksum(fields)})

    def _fields(self) -> dict[str, Any]:
        drawn = {at: [*map(int, kept)] if isinstance(kept, tuple) else kept for at, kept in self.drawn.items()}
        return {
            "schema": MEMO_SCHEMA,
            "memo": self.memo,
            "mechanism": self.mechanism,
            "hash": None if self.hash is None else list(self.hash),
            "drawn": {str(at): drawn[at] for at in sorted(drawn)},
        }

    @classmethod
    def from_text(cls, text: str) -> Memory:
        """Read a memory again; what was damaged or changed is refused: drawing again would spend ε∞ once more."""
        where = "the memory"
        read = strict_json(text, where)
        require_schema(read, where, MEMO_SCHEMA)
        require_fields(read, where, where, required=("schema", "memo", "mechanism", "hash", "drawn", "check"))
        fields = {name: value for name, value in read.items() if name != "check"}
        if read["check"] != _checksum(fields):
            raise FileError("it was changed or damaged since it was written", path=where)
        drawn, pair = read["drawn"], read["hash"]
        fine = isinstance(drawn, dict) and all(at.isdecimal() and len(at) < 10 for at in drawn)
        fine = fine and all(isinstance(read[name], str) for name in ("memo", "mechanism"))
        fine = fine and (pair is None or (_are_whole(pair) and len(pair) == 2))
        fine = fine and all(type(value) is int or _are_bits(value) for value in drawn.values())
        if not fine:
            raise FileError("this is no memory of a chain", path=where)
        kept = {int(at): value if type(value) is int else tuple(map(bool, value)) for at, value in drawn.items()}
        made = cls(read["memo"], read["mechanism"], None if pair is None else (pair[0], pair[1]), kept)
        if made.to_text() != text:
            raise FileError("it is not as it was written", path=where)
        return made


def repeated(
    k: int,
    lifetime: BudgetLike,
    first: BudgetLike,
    *,
    kind: str = "bits",
    buckets: int = 2,
    symbols: SymbolsLike | None = None,
) -> Chain:
    """A chain for people who are asked again and again.

    Args:
        k: The number of symbols.
        lifetime: ε∞, for everything that is ever sent about one answer; another answer costs it again.
        first: ε₁, for one report; at most ε∞. If they are equal, the kept report itself is sent each time.
        kind: ``"bits"``: a bit for each symbol, the most exact for many symbols (RAPPOR's idea with optimised unary
            encoding, as L-OSUE); ``"cells"``: randomized response (L-GRR); ``"hash"``: randomized response on a hash
            that each person keeps (LOLOHA), whose lifetime ends at ``buckets`` times ε∞ however answers change.
        buckets: With ``"hash"``: how many values the hash has.
        symbols: Names for the symbols.

    >>> chain = repeated(10, 2, 1)
    >>> chain.mechanism.epsilon, round(chain.epsilon_after(5), 3), chain.lifetime(), chain.lifetime(answers=3)
    (1.0, 1.994, 2.0, 6.0)
    """
    k = whole(k, "k", 2, 10_000_000)
    most, least = LocalBudget.parse(lifetime, "lifetime"), LocalBudget.parse(first, "first")
    if kind not in KINDS:
        raise ParameterError.of("kind", f"one of {', '.join(KINDS)}", kind)
    if most.epsilon > MAX_EPSILON:
        raise ParameterError.of("lifetime", f"at most {MAX_EPSILON}", lifetime)
    if least.epsilon > most.epsilon:
        raise ParameterError("first must be at most lifetime: one report is part of everything that is sent")
    terms = most.terms(Fraction(0))
    common = (k, HALF, terms.growth, terms.epsilon)
    memo: Any
    if kind == "bits":
        memo = UnaryRandomiser(*common, _best(2, terms.growth)[1])
    elif kind == "cells":
        memo = CellRandomiser(*common, np.arange(k), k, *_best(k, terms.growth))
    else:
        values = whole(buckets, "buckets", 2, k)
        memo = HashRandomiser(*common, prime_from(k), values, *_best(values, terms.growth))
    growth = least.terms(Fraction(0)).growth
    low, high = 0, HALF // 2 if kind == "bits" else HALF // _response(memo)[0]
    if _one(memo, 0, growth, least)._keeps_ratio():
        high = 0
    while low < high:  # the least noise that keeps ε₁
        middle = (low + high) // 2
        low, high = (low, middle) if _one(memo, middle, growth, least)._keeps_ratio() else (middle + 1, high)
    return _chain(kind, memo, low, most, least, named_symbols(symbols, k), growth)


def _cell(cell: int, own: int, other: int, read: Read) -> int:
    """Randomized response; without noise too, the same bytes are read."""
    drawn = sampler.below_many(HALF, 1, read)
    return int(respond(np.array([cell]), own, other, drawn)[0]) if other else cell


def _best(count: int, growth: Fraction) -> tuple[int, int]:
    other = -(-HALF * growth.denominator // (growth.numerator + (count - 1) * growth.denominator))
    return HALF - (count - 1) * other, other


def _response(memo: Any) -> tuple[int, int, int]:
    """Of randomized response, on symbols or on hashes: how many values, and the units."""
    return memo.count if isinstance(memo, CellRandomiser) else memo.buckets, memo.own, memo.other


def _one(memo: Any, noise: int, growth: Fraction, budget: LocalBudget) -> Any:
    """Both stages as one randomiser, in units out of 2^62."""
    common = (memo.size, HALF * HALF, growth, budget.text)
    if isinstance(memo, UnaryRandomiser):  # the own bit is 1 with a half before and after flipping
        return UnaryRandomiser(*common, memo.other * (HALF - noise) + (HALF - memo.other) * noise)
    count, own, other = _response(memo)
    kept = HALF - (count - 1) * noise
    both = (own * kept + (count - 1) * other * noise, own * noise + other * kept + (count - 2) * other * noise)
    if isinstance(memo, CellRandomiser):
        return CellRandomiser(*common, memo.cell_of, count, *both)
    return HashRandomiser(*common, memo.prime, count, *both)


def _chain(
    kind: str,
    memo: Any,
    noise: int,
    lifetime: LocalBudget,
    first: LocalBudget,
    symbols: tuple[Any, ...],
    growth: Fraction,
) -> Chain:
    """The chain, with both stages and the two as one proved."""
    count = 2 if kind == "bits" else _response(memo)[0]
    if noise * count > HALF:
        raise ParameterError("noise must not be more than leaves the kept value the likeliest")
    if kind == "cells" and (memo.count != memo.size or memo.cell_of.tolist() != list(range(memo.size))):
        raise ParameterError("the cells of a chain must be its symbols")
    made = []
    both = _one(memo, noise, growth, first)
    for what, randomiser, budget in (("first stage", memo, lifetime), ("chain", both, first)):
        try:
            randomiser.prove()
        except NotPrivate as error:
            raise FileError(f"the {what} is not private: {error}") from None
        mechanism = LocalMechanism(
            f"{_NAMES[kind]}, {what}", budget, randomiser.channel(budget), symbols, "asking the same people again"
        )
        mechanism.__dict__["randomiser"] = randomiser  # these very units, not ones computed again
        made.append(mechanism)
    return Chain(kind, made[0], made[1], noise)


def _stated(value: Any, what: str) -> LocalBudget:
    if not isinstance(value, str) or not (value.isascii() and value.isprintable() and len(value) <= 10_000):
        raise ParameterError(f"{what} must be plain text")
    return LocalBudget.parse(value, what)


def _log_up(ratio: Fraction) -> float:
    return math.nextafter(math.log(ratio.numerator) - math.log(ratio.denominator), math.inf) * (1 + 1e-14)


def _checksum(fields: dict[str, Any]) -> str:
    return sha256(json_text(fields).encode()).hexdigest()[:16]


def _are_whole(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is int for each in value)


def _are_bits(value: Any) -> bool:
    return _are_whole(value) and all(each in (0, 1) for each in value)
