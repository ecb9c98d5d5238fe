"""Local mechanisms in files: everything a client needs to run one and an analyst to read its reports (docs/client.md).

The units are in the file as text; a reader proves them again before anybody uses them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._files import json_text, read_text, reading, strict_json, suffix_of, write_atomically
from tinct.errors import FileError, NotPrivate, ParameterError
from tinct.exact.certificate import parse_rational
from tinct.graphs.documents import require_fields, require_schema
from tinct.graphs.labels import hashable
from tinct.graphs.written import plain
from tinct.local.channels import (
    CellChannel,
    Channel,
    HadamardChannel,
    HashChannel,
    SubsetChannel,
    TableChannel,
    UnaryChannel,
)
from tinct.local.documents import SCHEMA, document
from tinct.local.encodings import HadamardRandomiser, HashRandomiser, SubsetRandomiser, UnaryRandomiser
from tinct.local.inputs import Hypotheses, LocalBudget, named_symbols, share
from tinct.local.mechanism import LocalMechanism
from tinct.local.randomisers import CellRandomiser, Randomiser, TableRandomiser

if TYPE_CHECKING:
    from fractions import Fraction

    from tinct._files import FilePath

_WHOLE = re.compile(r"0|[1-9]\d{0,18}", re.ASCII)
_MAX_TOTAL = 2**62
_FACTS = ("schema", "name", "epsilon", "delta", "symbols", "growth", "randomiser")


def write_mechanism(mechanism: LocalMechanism, path: FilePath) -> None:
    """Write a mechanism as JSON: what it is, and its units."""
    suffix_of(path, (".json",))
    both = mechanism.hypotheses
    fields = {
        **document(mechanism),
        "symbols": [plain(symbol) for symbol in mechanism.symbols],
        "growth": str(mechanism.randomiser.growth),
        "randomiser": mechanism.randomiser.fields(),
        "p0": None if both is None else both.p0.tolist(),
        "p1": None if both is None else both.p1.tolist(),
    }
    write_atomically(path, json_text(fields))


def read_mechanism(path: FilePath) -> LocalMechanism:
    """Read a mechanism that ``write_mechanism`` wrote, and prove its units again."""
    suffix_of(path, (".json",))
    read = strict_json(read_text(path), path)
    require_schema(read, path, SCHEMA)
    known = ("channel", "utility", "value", "upper_bound", "certificate", "note", "p0", "p1")
    require_fields(read, path, "the mechanism", required=_FACTS, optional=known)
    with reading(path, "the mechanism"):
        return _mechanism(read)


def _mechanism(read: dict[str, Any]) -> LocalMechanism:
    symbols = named_symbols([plain(hashable(item)) for item in _list(read["symbols"], "symbols")], len(read["symbols"]))
    budget = LocalBudget.parse(_text(read["epsilon"], "epsilon"))
    delta = share(_text(read["delta"], "delta"), "delta")
    growth = parse_rational(read["growth"], "growth")
    fields = read["randomiser"]
    if not isinstance(fields, dict) or fields.get("kind") not in _READERS:
        raise ParameterError(f"randomiser must have a kind: one of {', '.join(_READERS)}")
    randomiser = _READERS[fields["kind"]](fields, growth, _exact_text(budget))
    if randomiser.size != len(symbols) or not 2 <= randomiser.total <= _MAX_TOTAL:
        raise ParameterError(f"the randomiser must be for {len(symbols)} symbols and at most 2^62 units")
    if isinstance(randomiser, TableRandomiser) and randomiser.allowed > delta * randomiser.total:
        raise ParameterError("the randomiser uses more than delta allows")
    try:
        randomiser.prove()
    except NotPrivate as error:
        raise FileError(f"the randomiser is not private: {error}") from None
    hypotheses = None if read.get("p0") is None else Hypotheses.parse(read["p0"], read.get("p1"), symbols)
    value, utility = read.get("value"), read.get("utility")
    mechanism = LocalMechanism(
        name=_text(read["name"], "name"), budget=budget, channel=_channel(randomiser, budget), symbols=symbols,
        exact_delta=delta, utility=None if utility is None else _text(utility, "utility"),
        value=value if type(value) is float else None,
        hypotheses=hypotheses, note=_text(read.get("note", ""), "note"),
    )  # fmt: skip
    mechanism.__dict__["randomiser"] = randomiser  # the very units of the file, not ones computed again
    return mechanism


def _exact_text(budget: LocalBudget) -> str:
    return f"ln {budget.exact.value}" if budget.exact.is_log else str(budget.exact.value)


def _channel(randomiser: Randomiser, budget: LocalBudget) -> Channel:
    """The channel in floats, for looking at."""
    k, growth = randomiser.size, budget.growth
    if isinstance(randomiser, CellRandomiser):
        return CellChannel(k, growth, randomiser.cell_of, randomiser.count)
    if isinstance(randomiser, SubsetRandomiser):
        return SubsetChannel(k, growth, randomiser.members)
    if isinstance(randomiser, UnaryRandomiser):
        return UnaryChannel(k, 0.5, budget.low / (1.0 + budget.low))
    if isinstance(randomiser, HashRandomiser):
        return HashChannel(k, growth, randomiser.prime, randomiser.buckets)
    if isinstance(randomiser, HadamardRandomiser):
        return HadamardChannel(k, growth, randomiser.order)
    if isinstance(randomiser, TableRandomiser):
        return TableChannel(k, randomiser.units / randomiser.total)
    raise ParameterError(f"{randomiser.kind} is not a kind of randomiser")


class _Fields:
    """The numbers of a randomiser in a file, each asked for by name once."""

    def __init__(self, fields: dict[str, Any], growth: Fraction, epsilon: str) -> None:
        self.fields = dict(fields)
        self.start = (self.number("size"), self.units("denominator"), growth, epsilon)
        self.fields.pop("kind")

    def number(self, name: str) -> int:
        value = self.fields.pop(name, None)
        if type(value) is not int or not 0 <= value < 2**40:
            raise ParameterError(f"randomiser: {name} must be a whole number")
        return value

    def units(self, name: str) -> int:
        return _whole(self.fields.pop(name, None), name)

    def done(self, made: Randomiser) -> Randomiser:
        if self.fields:
            raise ParameterError(f"randomiser has an unknown field {next(iter(self.fields))!r:.80}")
        return made


def _cells(fields: dict[str, Any], growth: Fraction, epsilon: str) -> Randomiser:
    read = _Fields(fields, growth, epsilon)
    size, count = read.start[0], read.number("cells")
    cell_of = _list(read.fields.pop("cell_of", None), "cell_of")
    if len(cell_of) != size or not all(type(cell) is int and 0 <= cell < count for cell in cell_of):
        raise ParameterError(f"cell_of must have a cell from 0 to {count - 1} for each symbol")
    made = CellRandomiser(*read.start, np.array(cell_of, np.int64), count, read.units("own"), read.units("other"))
    return read.done(made)


def _table(fields: dict[str, Any], growth: Fraction, epsilon: str) -> Randomiser:
    read = _Fields(fields, growth, epsilon)
    rows = [
        [_whole(entry, "rows") for entry in _list(row, "rows")] for row in _list(read.fields.pop("rows", None), "rows")
    ]
    if len(rows) != read.start[0] or not rows or any(len(row) != len(rows[0]) or not row for row in rows):
        raise ParameterError("rows must have one row for each symbol, all of one length")
    if any(entry > _MAX_TOTAL for row in rows for entry in row):
        raise ParameterError("units must be at most 2^62")
    return read.done(TableRandomiser(*read.start, np.array(rows, np.int64), read.units("allowed")))


def _subset(fields: dict[str, Any], growth: Fraction, epsilon: str) -> Randomiser:
    read = _Fields(fields, growth, epsilon)
    members = read.number("members")
    if not 1 <= members < read.start[0]:
        raise ParameterError("members must be at least 1 and less than the number of symbols")
    return read.done(SubsetRandomiser(*read.start, members, read.units("inside")))


def _unary(fields: dict[str, Any], growth: Fraction, epsilon: str) -> Randomiser:
    read = _Fields(fields, growth, epsilon)
    return read.done(UnaryRandomiser(*read.start, read.units("other")))


def _hash(fields: dict[str, Any], growth: Fraction, epsilon: str) -> Randomiser:
    read = _Fields(fields, growth, epsilon)
    prime, buckets = read.number("prime"), read.number("buckets")
    if not (prime >= max(2, read.start[0]) and 2 <= buckets <= prime):
        raise ParameterError("prime must be at least the number of symbols, and buckets from 2 to prime")
    return read.done(HashRandomiser(*read.start, prime, buckets, read.units("own"), read.units("other")))


def _hadamard(fields: dict[str, Any], growth: Fraction, epsilon: str) -> Randomiser:
    read = _Fields(fields, growth, epsilon)
    return read.done(HadamardRandomiser(*read.start, read.number("order"), read.units("plus")))


_READERS = {
    "cells": _cells, "table": _table, "subset": _subset, "unary": _unary, "hash": _hash, "hadamard": _hadamard,
}  # fmt: skip


def _whole(value: Any, what: str) -> int:
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        raise ParameterError(f"{what} must hold whole numbers as text")
    return int(value)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ParameterError(f"{what} must be a list that is not empty")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > 10_000:
        raise ParameterError(f"{what} must be text")
    return value
