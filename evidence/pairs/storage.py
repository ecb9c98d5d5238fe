"""Columns with a type: Arrow arrays of whatever such a column can hold, also what no reader should be given."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from evidence.pairs import values

if TYPE_CHECKING:
    from random import Random

_MOMENTS = (
    "date32",
    "date64",
    "timestamp[s]",
    "timestamp[ms]",
    "timestamp[us]",
    "timestamp[ns]",
    "timestamp[us, tz=UTC]",
)
_STRINGS = ("string", "string", "large_string", "dictionary")
_FLOATS = ("double", "float")
_WHOLES = ("int64", "int64", "int32", "uint64", "int8")
TYPES: dict[str, tuple[str, ...]] = {
    values.WORDS: (*_STRINGS, "bool", "bool", *_WHOLES, *_FLOATS, "decimal128(20, 2)", "object"),
    values.NUMBERS: (*_WHOLES, *_FLOATS, *_FLOATS, "decimal128(38, 4)", "object"),
    values.TEXTS: (*_STRINGS, *_MOMENTS, "object"),
    values.LABELS: (
        *_STRINGS,
        *_STRINGS,
        "bool",
        "int64",
        "double",
        "date32",
        "timestamp[s]",
        "timestamp[us]",
        "object",
    ),
    values.NAMES: (*_STRINGS, "int64", "uint64", "double", "decimal128(20, 2)", "date32", "timestamp[ms]", "object"),
    values.BUDGETS: ("string", "double", "decimal128(20, 2)", "object"),
    values.ANYTHING: (
        *_STRINGS,
        *_MOMENTS,
        *_FLOATS,
        "int64",
        "bool",
        "list",
        "struct",
        "binary",
        "time64[us]",
        "object",
    ),
}
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EXTREMES = (2**63 - 1, -(2**63), 2**62, -(2**62), 2**31, -(2**31), 10**14, -(10**14))
_FLOATING = (math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324, -0.0, 2.0**53 + 2, 1e22)
_NESTED: tuple[Any, ...] = ([], [None], [[1]] * 3, None)


def cell(dice: Random, use: str, kind: str, trouble: float) -> Any:
    """A value that a column of this type can hold."""
    if kind in (*_STRINGS, "object", "binary"):
        return values.text(dice, use, trouble)
    if dice.random() < 0.1:
        return None
    nasty = dice.random() < trouble
    if kind == "bool":
        return dice.random() < 0.5
    if kind in ("list", "struct"):
        return dice.choice(_NESTED)
    if kind in _FLOATS:
        return dice.choice(_FLOATING) if nasty else float(_number(dice, use))
    if kind.startswith("decimal"):
        return Decimal(dice.choice(("99999999999999.99", "-0.01", "0")) if nasty else str(_number(dice, use)))
    if kind.startswith(("date", "timestamp", "time64")):
        return _moment(dice, kind, nasty)
    return _whole(dice, use, kind, nasty)


def name(dice: Random, number: int, kind: str, trouble: float) -> Any:
    """The name of a person, different for every number as far as it can be read at all."""
    nasty = dice.random() < trouble
    if kind in (*_STRINGS, "object", "text"):
        unreadable = ("\udcff", None, "") if kind != "text" else (None, "")
        if nasty and dice.random() < 0.3:
            return dice.choice(unreadable)
        return f"p{number}{values.nasty_suffix(dice) if nasty else ''}"
    if nasty and dice.random() < 0.3:
        return math.nan if kind in _FLOATS else None
    if kind.startswith(("date", "timestamp")):
        return DAY(kind, 18_000 + number)
    if kind in _FLOATS:
        return float(number)
    if kind.startswith("decimal"):
        return Decimal(number)
    return 2**53 + number if nasty else number


def DAY(kind: str, day: int) -> int:  # noqa: N802 # a unit
    """A day in the ticks of a type."""
    if kind == "date32":
        return day
    return day * 86_400 * (1000 if kind == "date64" else _TICKS[kind[10:].split("]")[0].split(",")[0]])


def array(kind: str, cells: list[Any]) -> Any:
    """The cells as an Arrow array of the type; text is not checked for being UTF-8."""
    import pyarrow as pa

    if kind in (*_STRINGS, "object", "binary"):
        raw = pa.array([None if each is None else values.encoded(str(each)) for each in cells], pa.binary())
        if kind == "binary":
            return raw
        if kind == "dictionary":
            coded = raw.dictionary_encode()
            return pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.view(pa.string()))
        return raw.view(pa.string()) if kind != "large_string" else raw.cast(pa.large_binary()).view(pa.large_string())
    if kind == "list":
        return pa.array([None if each is None else [0] * len(each) for each in cells], pa.list_(pa.int64()))
    if kind == "struct":
        shaped = [None if each is None else {"n": len(each)} for each in cells]
        return pa.array(shaped, pa.struct([("n", pa.int64())]))
    made = arrow_type(kind)
    if kind.startswith(("date", "timestamp", "time64")):
        return pa.array(cells, pa.int32() if kind == "date32" else pa.int64()).view(made)
    return pa.array(cells, made)


def arrow_type(kind: str) -> Any:
    """The Arrow type of that name."""
    import pyarrow as pa

    if kind.startswith("timestamp"):
        unit, _, zone = kind[10:-1].partition(", tz=")
        return pa.timestamp(unit, tz=zone or None)
    if kind.startswith("decimal"):
        digits, places = kind[11:-1].split(", ")
        return pa.decimal128(int(digits), int(places))
    if kind.startswith("time64"):
        return pa.time64("us")
    return {"double": pa.float64(), "float": pa.float32(), "bool": pa.bool_()}.get(kind) or getattr(pa, kind)()


def _number(dice: Random, use: str) -> Any:
    if use == values.WORDS:
        return dice.choice((0, 1))
    if use == values.BUDGETS:
        return dice.choice(values.EPSILONS)
    return dice.choice((1, 2, 3, 4, 5, 3.5, -7))


def _whole(dice: Random, use: str, kind: str, nasty: bool) -> int:
    bits = int(kind.lstrip("uint"))
    least: int
    most: int
    least, most = (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    wanted = dice.choice((least, most, 2**53 + 1, 2)) if nasty else int(_number(dice, use))
    return min(max(wanted, least), most)


def _moment(dice: Random, kind: str, nasty: bool) -> int:
    if kind.startswith("time64"):
        return dice.choice((-1, 86_400_000_000, 2**62)) if nasty else dice.randrange(86_400_000_000)
    if not nasty:
        return DAY(kind, dice.choice(values.DAYS))
    extreme = dice.choice(_EXTREMES)
    return max(-(2**31), min(2**31 - 1, extreme)) if kind == "date32" else extreme
