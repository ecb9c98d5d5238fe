"""Arrow arrays made safe for the engine: what a type can hold but the engine cannot read becomes missing.

A column's kind and the type it is handed on with are decided by its Arrow type, never by its values. Moments are looked
at as whole numbers, text as bytes, decimals as words of 64 bits; nothing here converts a value that might not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import FileError
from tinct.sources.columns import BOOLEAN, CELL, DECIMAL, FLOAT, MOMENT, OTHER, STRING, WHOLE
from tinct.sources.duckdb_engine import pyarrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second
_DAY = 86_400
_MOST_SECONDS = 9 * 10**12  # about 285,000 years from 1970, where microseconds nearly fill 64 bits
_MOST_DAYS = _MOST_SECONDS // _DAY
_MOST_TICKS = 2**63 - 2  # the number above means infinity to the engine
_MOST_DIGITS = 38


def kind_of_arrow(kind: Any) -> str:
    """What a column of an Arrow type holds; ``"other"`` if it cannot be asked about.

    >>> import pyarrow as pa
    >>> kind_of_arrow(pa.dictionary(pa.int8(), pa.string())), kind_of_arrow(pa.duration("s")), kind_of_arrow(pa.null())
    ('string', 'other', 'cell')
    """
    types = pyarrow().types
    if types.is_dictionary(kind):
        return kind_of_arrow(kind.value_type)
    tests = (
        (types.is_null, CELL),
        (types.is_boolean, BOOLEAN),
        (types.is_integer, WHOLE),
        (types.is_floating, FLOAT),
        (_is_decimal, DECIMAL),
        (_is_text, STRING),
        (_is_uuid, STRING),
        (types.is_date, MOMENT),
        (types.is_timestamp, MOMENT),
        (types.is_time, MOMENT),
    )
    return next((kind_ for test, kind_ in tests if test(kind)), OTHER)


def safe_type(kind: Any) -> Any:
    """The type with which a column of this type, whose kind is not ``"other"``, is handed on."""
    arrow = pyarrow()
    types = arrow.types
    if types.is_dictionary(kind):
        return safe_type(kind.value_type)
    if types.is_null(kind):
        return arrow.string()
    if types.is_float16(kind):
        return arrow.float32()
    if _is_decimal(kind):
        return arrow.decimal128(kind.precision, kind.scale)
    if _is_text(kind):
        return arrow.string() if types.is_string(kind) else arrow.large_string()
    if types.is_date(kind):
        return arrow.date32()
    if types.is_timestamp(kind) and kind.tz is not None:
        return arrow.timestamp(kind.unit, "UTC")  # that is what it counts from, whatever the zone it is shown in
    return kind


def safe(array: Any) -> Any:
    """An array of ``safe_type`` with the same cells, those missing that cannot be read."""
    arrow = pyarrow()
    types, kind = arrow.types, array.type
    _require_sound(array)
    if types.is_dictionary(kind):
        return _spelled_out(array)
    if _is_text(kind):
        return _text(array)
    if types.is_null(kind) or types.is_float16(kind):
        return array.cast(safe_type(kind))
    if _is_decimal(kind):
        return _decimals(array)
    if types.is_date(kind):
        return _dates(array)
    if types.is_timestamp(kind):
        most = min(_MOST_SECONDS * _TICKS[kind.unit], _MOST_TICKS)
        return _within(array, arrow.int64(), -most, most).view(safe_type(kind))
    if types.is_time(kind):
        ticks = arrow.int32() if types.is_time32(kind) else arrow.int64()
        return _within(array, ticks, 0, _DAY * _TICKS[kind.unit] - 1).view(kind)
    return array


def _is_text(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_uuid(kind: Any) -> bool:
    return getattr(kind, "extension_name", None) == "arrow.uuid"


def _is_decimal(kind: Any) -> bool:
    """Whether the engine has this kind of decimal numbers."""
    return bool(pyarrow().types.is_decimal(kind)) and 0 <= kind.scale <= kind.precision <= _MOST_DIGITS


def _require_sound(array: Any) -> None:
    """Refuse arrays whose buffers are too short for what they claim: no cell does that."""
    try:
        array.validate()
    except pyarrow().ArrowException:
        sound = False
    else:
        sound = True
    if not sound:
        raise FileError("the Arrow data is damaged: a column has not the bytes it says it has")


def _within(array: Any, ticks: Any, least: int, most: int) -> Any:
    """The numbers behind an array of moments, those missing that are out of range."""
    arrow = pyarrow()
    import pyarrow.compute as pc

    numbers = array.view(ticks)
    good = pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, most))
    if pc.all(good).as_py() is not False:
        return numbers
    return pc.if_else(good, numbers, arrow.scalar(None, ticks))


def _dates(array: Any) -> Any:
    arrow = pyarrow()
    if arrow.types.is_date32(array.type):
        return _within(array, arrow.int32(), -_MOST_DAYS, _MOST_DAYS).view(array.type)
    day = _DAY * _TICKS["ms"]
    numbers = _within(array, arrow.int64(), -_MOST_DAYS * day, _MOST_DAYS * day)
    whole = numbers.fill_null(0).to_numpy(zero_copy_only=False) // day  # part of a day belongs to its day
    return arrow.array(whole.astype(np.int32), mask=_absent(numbers)).view(arrow.date32())


def _text(array: Any) -> Any:
    """Text; cells that are not UTF-8 are missing."""
    arrow, target = pyarrow(), safe_type(array.type)
    if _is_valid(array):
        return array if array.type == target else array.cast(target)
    raw = array.cast(arrow.binary() if array.type == arrow.string() else arrow.large_binary())
    if not _is_valid(raw):
        raise FileError("the Arrow data is damaged: a text begins or ends outside of its column")
    return arrow.array([_decoded(cell) for cell in raw.to_pylist()], target)


def _is_valid(array: Any) -> bool:
    try:
        array.validate(full=True)
    except pyarrow().ArrowException:
        return False
    return True


def _decoded(cell: bytes | None) -> str | None:
    if cell is None:
        return None
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _spelled_out(array: Any) -> Any:
    """A dictionary's words in place of their numbers; a number without a word is missing."""
    arrow = pyarrow()
    words = safe(array.dictionary)
    numbers = array.indices.cast(arrow.int64(), safe=False)
    return words.take(_within(numbers, arrow.int64(), 0, len(words) - 1))


def _decimals(array: Any) -> Any:
    """Decimals of at most 38 digits; those with more digits than their type has are missing."""
    arrow, target = pyarrow(), safe_type(array.type)
    width = array.type.bit_width // 8
    start, stop = array.offset * width, (array.offset + len(array)) * width
    there = array.buffers()[1]
    raw = np.frombuffer(there, np.uint8)[start:stop] if there is not None else np.zeros(stop - start, np.uint8)
    high, low = _words(raw, width)
    most = 10**array.type.precision - 1
    good = _at_least(high, low, -most) & ~_at_least(high, low, most + 1)
    if width > 16:  # nothing but the sign in front
        rest = raw.view("<i8").reshape(-1, 4)[:, 2:]
        good &= (rest == np.where(high < 0, -1, 0)[:, None]).all(axis=1)
    words = np.empty((len(array), 2), "<u8")
    words[:, 0], words[:, 1] = low, high.view("<u8")
    present = good & ~_absent(array)
    buffers = [np.packbits(present, bitorder="little"), words]
    return arrow.Array.from_buffers(target, len(array), [arrow.py_buffer(each) for each in buffers])


def _words(raw: NDArray[np.uint8], width: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The upper and the lower 64 of the lowest 128 bits."""
    if width < 16:
        numbers = raw.view(f"<i{width}").astype("<i8")
        return np.where(numbers < 0, np.int64(-1), np.int64(0)), numbers.view("<u8")
    words = raw.view("<u8").reshape(-1, width // 8)
    return words[:, 1].copy().view("<i8"), words[:, 0].copy()


def _at_least(high: NDArray[np.int64], low: NDArray[np.uint64], bound: int) -> NDArray[np.bool_]:
    upper, lower = np.int64(bound >> 64), np.uint64(bound & (2**64 - 1))
    return np.asarray((high > upper) | ((high == upper) & (low >= lower)))


def _absent(array: Any) -> NDArray[np.bool_]:
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), bool)
