"""Text files as streams of Arrow batches: rows end where the file's line ends say, and every cell is text or missing.

The engine's own reader of CSV is not used: it ends rows at stray carriage returns, leaves out lines it cannot decode or
finds too long, and with several threads now and then loses one (docs/decisions/0014). Here nothing that stands in one
row decides how another is read, save for line ends in cells that nobody quoted and quotes that nobody closed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct._kernels import text_splitting as kernels
from tinct.sources.byte_streams import is_packed, opened
from tinct.sources.duckdb_engine import pyarrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tinct._kernels.text_splitting import Bytes
    from tinct.sources.byte_streams import Rewriting

BLOCK = 2**21  # bytes read at a time
MAX_CELL = 2**20  # bytes; a longer cell is missing
_ROWS = 2**16  # in a batch, at most
_BYTES = 2**24  # of all columns in a batch, about
_ANY_SIZE = 2**62  # how large a compressed file is when unpacked, nobody knows
_WIDEST = 4  # bytes of UTF-8 for one byte of another encoding, at most
_PLAIN = 20_000  # bytes; a file up to this is split before numba is even loaded
ENDINGS = {b"\n": kernels.LF, b"\r\n": kernels.CRLF}


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out, all of it public.

    Attributes:
        begin: where the rows begin: behind the byte order mark and the header.
        delimiter: one byte, or nothing if a line is one cell.
        quote: the same.
        ending: what ends a row; a carriage return before a line feed never counts.
        blanks: whether an empty line is a row.
        encoding: what it is written in; None for UTF-8. Places are counted in UTF-8.
        rewritten: what makes lines of it, if it has none; as many bytes as there were.
    """

    begin: int
    delimiter: bytes
    quote: bytes
    ending: bytes
    blanks: bool
    encoding: str | None = None
    rewritten: Rewriting | None = None


def batches(path: Path, layout: Layout, columns: Sequence[int]) -> Iterator[Any]:
    """The rows of a file as Arrow batches with the columns c0, c1, … that were asked for, by place."""
    size = _ANY_SIZE if is_packed(path) else path.stat().st_size * (1 if layout.encoding is None else _WIDEST)
    with opened(path, layout.encoding, layout.rewritten) as file:
        file.seek(layout.begin)
        yield from _Splitter(layout, columns, max(0, size - layout.begin)).batches(file)


def names(columns: Sequence[int]) -> list[str]:
    """What columns are called inside, by place."""
    return [f"c{at}" for at in columns]


def _is_loaded() -> bool:
    return "numba" in sys.modules


class _Splitter:
    """One pass over a file."""

    def __init__(self, layout: Layout, columns: Sequence[int], size: int) -> None:
        small = size + 1  # a small file needs no large buffers
        self._block = min(BLOCK, small)
        self._cell = min(MAX_CELL, small)
        bytes_, rows = min(max(2 * MAX_CELL, _BYTES // len(columns)), 2 * small), min(_ROWS, small)
        self._names = names(columns)
        self._columns = np.array(columns, np.int64)
        self._places = np.full(max(columns) + 2, -1, np.int64)
        self._places[self._columns] = np.arange(len(columns))
        self._rules = np.zeros(kernels.RULES, np.int64)
        self._rules[:] = (
            layout.delimiter[0] if layout.delimiter else -1,
            layout.quote[0] if layout.quote else -1,
            ENDINGS[layout.ending],
            layout.blanks,
            self._cell,
            rows,
            bytes_,
        )
        self._stops = np.zeros(256, bool)
        self._stops[[*layout.delimiter, *b"\r\n"]] = True
        self._state = np.zeros(kernels.STATE, np.int64)
        self._values = np.empty((len(columns), bytes_), np.uint8)
        self._starts = np.zeros((len(columns), rows + 1), np.int32)
        self._valid = np.zeros((len(columns), rows), bool)
        self._split = kernels.split.plain if size <= _PLAIN and not _is_loaded() else kernels.split.compiled

    def batches(self, file: Any) -> Iterator[Any]:
        """All rows of what is left of a file."""
        base, held = file.tell(), b""
        while True:
            block = file.read(self._block)
            last = not block
            whole = held + block
            # whether a carriage return ends a line is seen from what follows
            held = b"\r" if whole.endswith(b"\r") and not last else b""
            data = np.frombuffer(whole, np.uint8)[: len(whole) - len(held)]
            for _ in self._through(data, base, last):
                yield self._batch()
            if self._state[kernels.SIGNAL] == kernels.AGAIN:
                base, held = int(self._state[kernels.OPENED]), b""
                file.seek(base)
                continue
            if last:
                break
            base += len(data)
        if self._state[kernels.ROW]:
            yield self._batch()

    def _through(self, data: Bytes, base: int, last: bool) -> Iterator[None]:
        """Go through a block, and stop whenever there are enough rows for a batch."""
        at = 0
        while True:
            at = self._split(
                data, at, len(data), base, last, self._rules, self._stops, self._places, self._columns, self._state,
                self._values, self._starts, self._valid,
            )  # fmt: skip
            if self._state[kernels.SIGNAL] != kernels.FULL:
                return
            yield

    def _batch(self) -> Any:
        """The complete rows, and a fresh start for those to come."""
        arrow, rows = pyarrow(), int(self._state[kernels.ROW])
        arrays = []
        for at in range(len(self._columns)):
            starts = self._starts[at, : rows + 1]
            there = np.packbits(self._valid[at, :rows], bitorder="little")
            buffers = [there, starts.copy(), self._values[at, : starts[-1]].copy()]
            arrays.append(arrow.Array.from_buffers(arrow.string(), rows, [arrow.py_buffer(each) for each in buffers]))
        self._state[kernels.ROW] = 0
        self._state[kernels.USED] = 0  # between two rows, where batches are made, no cell is open
        return arrow.RecordBatch.from_arrays(arrays, names=self._names)
