"""privatize: from a column of answers to reports that may leave the device, drawn exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import NotPrivate, ParameterError
from tinct.exact.growth import growth_below
from tinct.exact.repair import mended, rounded
from tinct.local.channels import CellChannel, HadamardChannel, HashChannel, SubsetChannel, UnaryChannel
from tinct.local.encodings import HadamardRandomiser, HashRandomiser, SubsetRandomiser, UnaryRandomiser
from tinct.local.randomisers import TOTAL, CellRandomiser, Randomiser, TableRandomiser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tinct.local.mechanism import LocalMechanism

LOSS = Fraction(1, 10**9)  # how far a table's probabilities may be moved to make their ratios exact


def randomiser_of(mechanism: LocalMechanism) -> Randomiser:
    """The mechanism in whole units, proved private; the ratio is at most e^ε with no tolerance."""
    amount, channel = mechanism.budget.exact, mechanism.channel
    epsilon = f"ln {amount.value}" if amount.is_log else str(amount.value)
    growth = min(growth_below(amount), Fraction(TOTAL))
    made: Randomiser
    if isinstance(channel, CellChannel):
        made = CellRandomiser.of(channel.size, channel.cell_of, channel.count, growth, epsilon)
    elif isinstance(channel, SubsetChannel):
        made = SubsetRandomiser.of(channel.size, channel.members, growth, epsilon)
    elif isinstance(channel, UnaryChannel):
        made = UnaryRandomiser.of(channel.size, growth, epsilon)
    elif isinstance(channel, HashChannel):
        made = HashRandomiser.of(channel.size, channel.prime, channel.buckets, growth, epsilon)
    elif isinstance(channel, HadamardChannel):
        made = HadamardRandomiser.of(channel.size, channel.order, growth, epsilon)
    else:
        made = _table(mechanism, growth, epsilon)
    made.prove()
    return made


def _table(mechanism: LocalMechanism, growth: Fraction, epsilon: str) -> TableRandomiser:
    allowed = int(mechanism.exact_delta * TOTAL)
    build = partial(TableRandomiser, len(mechanism.symbols), TOTAL, growth, epsilon, allowed=allowed)

    def check(rows: list[list[int]]) -> None:
        build(units=np.array(rows, np.int64)).prove()

    try:
        rows = mended(rounded(mechanism.matrix.tolist(), TOTAL), TOTAL, growth, LOSS, check)
    except NotPrivate:
        raise NotPrivate(
            f"{mechanism.name}: no table within {float(LOSS):g} of this one has ratios of at most e^ε in whole units",
            None,
        ) from None
    return build(units=np.array(rows, np.int64))


def codes_of(symbols: Sequence[Any], values: Any, missing: Any = None) -> NDArray[np.int64]:
    """The number of each value among the symbols; values are never repeated in an error.

    ``missing`` is the symbol that stands for values which are not among them; without it they are an error.

    >>> codes_of(("a", "b"), ["b", "a", None], missing="b")
    array([1, 0, 1])
    """
    if missing is not None and missing not in symbols:
        raise ParameterError(f"missing must be one of the {len(symbols):,} symbols, got {missing!r:.80}")
    found = _codes(symbols, values)
    unknown = found < 0
    if not unknown.any():
        return found
    if missing is None:
        raise ParameterError(
            f"values are not among the {len(symbols):,} symbols, the first at position {int(np.argmax(unknown))}: name "
            "a symbol that stands for them with missing=, or leave them out"
        )
    return np.where(unknown, symbols.index(missing), found)


def _codes(symbols: Sequence[Any], values: Any) -> NDArray[np.int64]:
    library = type(values).__module__.split(".")[0]
    if library in ("polars", "pyarrow"):
        return _arrow_codes(symbols, values.to_arrow() if library == "polars" else values)
    if library == "pandas":
        import pandas as pd

        try:
            return np.asarray(pd.Index(symbols).get_indexer(pd.Index(values)), np.int64)
        except TypeError:  # a list in a cell, or the like
            return _looked_up(symbols, list(values))
    try:
        column = np.asarray(values)
    except ValueError:  # rows of unequal length
        raise ParameterError("values must be one column, got cells that hold several values") from None
    if column.ndim != 1:
        raise ParameterError(f"values must be one column, got shape {column.shape}")
    if isinstance(values, np.ma.MaskedArray):  # what is under a mask is nobody's answer
        return np.where(np.ma.getmaskarray(values), -1, _codes(symbols, column))
    if column.dtype.kind in "iu" and symbols == tuple(range(len(symbols))):
        if column.dtype == np.int64 and len(column) and column.min() >= 0 and column.max() < len(symbols):
            return column
        inside = (column >= 0) & (column < len(symbols))
        return np.where(inside, column, -1).astype(np.int64)
    return _looked_up(symbols, column.tolist() if isinstance(values, np.ndarray) else list(values))


def _arrow_codes(symbols: Sequence[Any], values: Any) -> NDArray[np.int64]:
    """The same for an Arrow array: its cells are read like the symbols, so that the text "1" is the symbol 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        known = pa.array(symbols)
    except (pa.ArrowException, OverflowError):  # symbols of several kinds, for which Arrow has no type
        return _looked_up(symbols, values.to_pylist())
    try:
        cells = values.cast(known.type)
    except pa.ArrowException:  # it would quote the first cell that cannot be read so: find them one at a time
        cells = pa.array([_cast(cell, known.type) for cell in values], known.type)
    return np.asarray(pc.fill_null(pc.index_in(cells, value_set=known), -1)).astype(np.int64)


def _cast(cell: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        return cell.cast(kind).as_py()
    except (pa.ArrowException, ValueError):
        return None


def _looked_up(symbols: Sequence[Any], values: list[Any]) -> NDArray[np.int64]:
    place = {symbol: at for at, symbol in enumerate(symbols)}
    return np.fromiter((_lookup(place, value) for value in values), np.int64, len(values))


def _lookup(place: dict[Any, int], value: Any) -> int:
    try:
        return place.get(value, -1)
    except TypeError:  # a list in a cell, or the like
        return -1
