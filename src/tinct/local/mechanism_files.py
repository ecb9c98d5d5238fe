"""Local mechanisms in files: everything a client needs to run one and an analyst to read its reports (docs/client.md).

The units are in the file as text; a reader proves them again before anybody uses them.
"""

from __future__ import annotations

import struct
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tinct._files import json_text, read_text, reading, strict_json, suffix_of, write_atomically
from tinct._files._strict_json import require_fields, require_schema
from tinct.errors import FileError, NotPrivate, ParameterError
from tinct.exact.proof import MAX_EPSILON, at_most_exp, parse_rational
from tinct.graphs.labels import hashable, plain
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms import KINDS
from tinct.local.mechanisms.base import Fields, filled_list
from tinct.local.parameters import TOTAL, Hypotheses, LocalBudget, named_symbols, share
from tinct.numbers.amounts import fraction_text

if TYPE_CHECKING:
    from tinct._files import FilePath

_BEYOND = 1e300  # no number for people is meant to be this large
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


def identity(mechanism: LocalMechanism) -> str:
    """The beginning of the SHA-256 of symbols and units, written so that every language writes them alike.

    Clients put it into the envelope of a report. They compute it: a name that the collector chooses could be another
    one for each person.
    """
    fields = mechanism.randomiser.fields()
    held = [_written([plain(symbol) for symbol in mechanism.symbols])]
    held += [_written(name) + _written(fields[name]) for name in sorted(fields)]
    return sha256(b"".join(held)).hexdigest()[:16]


def _written(value: Any) -> bytes:
    """A value with its length in front: text as it is, numbers by the bits of a double, lists in brackets."""
    if isinstance(value, list | tuple):
        return b"[" + b"".join(map(_written, value)) + b"]"
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return b"t%d:%s" % (len(text), text)
    if value is None:
        return b"z"
    if isinstance(value, int) and abs(value) > 2**53:  # no client that reads numbers as doubles takes these
        return b"i%d;" % value
    return b"n" + struct.pack(">d", value + 0.0)  # -0.0 is 0.0


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
    names = [plain(hashable(item)) for item in filled_list(read["symbols"], "symbols")]
    symbols = named_symbols(names, len(names))
    budget = _budget(read["epsilon"])
    delta = share(_plain_text(read["delta"], "delta"), "delta")
    growth = parse_rational(read["growth"], "growth")
    fields = read["randomiser"]
    if not isinstance(fields, dict) or not isinstance(fields.get("kind"), str) or fields["kind"] not in KINDS:
        raise ParameterError(f"randomiser must have a kind: one of {', '.join(KINDS)}")
    units = Fields(fields, growth, budget.text)
    randomiser = KINDS[units.kind].read(units)
    units.require_none_left()
    if randomiser.size != len(symbols) or not 2 <= randomiser.total <= TOTAL:
        raise ParameterError(f"the randomiser must be for {len(symbols)} symbols and at most 2^62 units")
    if randomiser.allowed > delta * randomiser.total:
        raise ParameterError("the randomiser uses more than delta allows")
    try:
        randomiser.prove()
    except NotPrivate as error:
        raise FileError(f"the randomiser is not private: {error}") from None
    value, utility = _words(read)
    mechanism = LocalMechanism(
        name=_text(read["name"], "name"), budget=budget, channel=randomiser.channel(budget), symbols=symbols,
        exact_delta=delta, utility=utility, value=value if type(value) is float else None,
        hypotheses=_hypotheses(read.get("p0"), read.get("p1"), symbols), note=_text(read.get("note", ""), "note"),
    )  # fmt: skip
    mechanism.__dict__["randomiser"] = randomiser  # the very units of the file, not ones computed again
    return mechanism


def _budget(given: Any) -> LocalBudget:
    """The stated ε; what rounding would let through above 700 is refused, as every other reader does."""
    budget = LocalBudget.parse(_plain_text(given, "epsilon"))
    if budget.exact.is_log and not at_most_exp(budget.exact.value, str(MAX_EPSILON)):
        raise ParameterError(f"epsilon must be at most {MAX_EPSILON}")
    return budget


def _words(read: dict[str, Any]) -> tuple[int | float | None, str | None]:
    """Value and utility, after a look at everything that is for people only: no draw depends on it."""
    for name in ("utility", "certificate"):
        if read.get(name) is not None:
            _text(read[name], name)
    for name in ("value", "upper_bound"):
        number = read.get(name)
        if number is not None and not (_is_number(number) and -_BEYOND < number < _BEYOND):
            raise ParameterError(f"{name} must be a number")
    if read.get("channel") is not None and not isinstance(read["channel"], dict):
        raise ParameterError("channel must be an object")
    return read.get("value"), read.get("utility")


def _hypotheses(p0: Any, p1: Any, symbols: tuple[Any, ...]) -> Hypotheses | None:
    if p0 is None and p1 is None:
        return None
    for name, given in (("p0", p0), ("p1", p1)):
        # NumPy would read text and true as numbers
        if not all(_is_number(chance) for chance in filled_list(given, name)):
            raise ParameterError(f"{name} must have a probability for each symbol")
    return Hypotheses.parse(p0, p1, symbols)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)  # not `isinstance`: true is no number


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > 10_000:
        raise ParameterError(f"{what} must be text")
    return value


def _plain_text(value: Any, what: str) -> str:
    """Text in ASCII without control characters, which every language splits in the same way."""
    if not (_text(value, what).isascii() and value.isprintable()):
        raise ParameterError(f"{what} must be plain text")
    return str(value)


SCHEMA = "tinct/local@1"


def document(mechanism: LocalMechanism) -> dict[str, Any]:
    """The mechanism as values that JSON can hold."""
    certificate = mechanism.certificate
    return {
        "schema": SCHEMA,
        "name": mechanism.name,
        "epsilon": str(mechanism.budget.exact),
        "delta": fraction_text(mechanism.exact_delta),
        "symbols": [str(symbol) for symbol in mechanism.symbols],
        "channel": mechanism.channel.describe(),
        "utility": mechanism.utility if mechanism.utility is None or isinstance(mechanism.utility, str) else "own",
        "value": mechanism.value,
        "upper_bound": None if certificate is None else certificate.upper_bound,
        "certificate": None if certificate is None else certificate.method,
        "note": mechanism.note,
    }
