"""Text files as streams of Arrow batches: rows end where the file's line ends say, and every cell is text or missing.

The engine's own reader of CSV is not used: it ends rows at stray carriage returns, leaves out lines it cannot decode or
finds too long, and with several threads now and then loses one (docs/decisions/0014). Here nothing that stands in one
row decides how another is read, save for line ends in cells that nobody quoted and quotes that nobody closed.

Several threads split a file, each a part of it, and each guesses that a row begins where its part does. The guess is
taken if whoever read the part before came to the end of a row there; if not, that one reads on, and the guess is thrown
away. So what is read is what one thread would read, and only the time depends on quoted line ends.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tinct._kernels import text_splitting as kernels
from tinct.errors import FileError
from tinct.sources.byte_streams import is_packed, opened
from tinct.sources.duckdb_engine import pyarrow

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from tinct.sources.byte_streams import Rewriting

    CellRules = tuple[bool, Collection[int]]  # whether cells are trimmed, and which columns hold numbers only
    Guess = Future[tuple["_Splitter", list[Any]]]

BLOCK = 2**21  # bytes read at a time, and of a part, about
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
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


@dataclass(frozen=True)
class Part:
    """Some bytes of a file that follow each other, where they begin in it, and whether it ends with them."""

    data: bytes
    base: int
    last: bool

    @property
    def end(self) -> int:
        """Where they end in the file."""
        return self.base + len(self.data)


def batches(
    path: Path, layout: Layout, columns: Sequence[int], numbers: Collection[int] = (), *, trims: bool = False
) -> Iterator[Any]:
    """The rows of a file as Arrow batches with the columns c0, c1, … that were asked for, by place.

    If it ``trims``, cells come without the blanks around them. In the columns ``numbers``, by place too, whatever is no
    number is missing.
    """
    size = _ANY_SIZE if is_packed(path) else path.stat().st_size * (1 if layout.encoding is None else _WIDEST)
    reading = _TextPass(path, layout, columns, (trims, numbers), max(0, size - layout.begin))
    yield from reading.in_parallel() if THREADS > 1 and size > 2 * BLOCK else reading.alone()


def names(columns: Sequence[int]) -> list[str]:
    """What columns are called inside, by place."""
    return [f"c{at}" for at in columns]


def _is_loaded() -> bool:
    return "numba" in sys.modules


class _TextPass:
    """One pass over a file, part by part."""

    def __init__(self, path: Path, layout: Layout, columns: Sequence[int], rules: CellRules, size: int) -> None:
        self._path = path
        self._layout = layout
        self._new = partial(_Splitter, layout, columns, rules, size)
        self._spare: list[_Splitter] = []  # their buffers are large

    def alone(self) -> Iterator[Any]:
        """All batches, by one thread."""
        splitter = self._new()
        for part in self._parts():
            yield from self._through(splitter, part)

    def in_parallel(self) -> Iterator[Any]:
        """The same batches, by several threads."""
        splitter, waiting = self._new(), deque["tuple[Part, Guess]"]()
        with ThreadPoolExecutor(THREADS, "tinct-lines") as pool:
            try:
                for part in self._parts():
                    waiting.append((part, pool.submit(self._guessed, part)))
                    if len(waiting) > THREADS + 1:
                        splitter = yield from self._next(splitter, *waiting.popleft())
                while waiting:
                    splitter = yield from self._next(splitter, *waiting.popleft())
            finally:
                for _, guess in waiting:
                    guess.cancel()

    def _guessed(self, part: Part) -> tuple[_Splitter, list[Any]]:
        """What a part is if a row begins with it."""
        try:
            splitter = self._spare.pop()
        except IndexError:
            splitter = self._new()
        return splitter, list(splitter.through(part))

    def _next(self, splitter: _Splitter, part: Part, guess: Guess) -> Generator[Any, None, _Splitter]:
        """The batches of a part; returns who has read it, and may have to read on."""
        if splitter.is_between_rows:
            self._spare.append(splitter)
            splitter, found = guess.result()
            yield from found
        else:
            guess.cancel()
            yield from self._through(splitter, part)
        return splitter

    def _through(self, splitter: _Splitter, part: Part) -> Iterator[Any]:
        """Read a part from wherever the one before ended, which may be in the middle of a cell."""
        yield from splitter.through(part)
        while (again := splitter.goes_back_to) is not None:  # to a quote in an earlier part that nobody closed
            for earlier in self._from(again, part):
                yield from splitter.through(earlier)
                if splitter.goes_back_to is not None:
                    break

    def _from(self, again: int, part: Part) -> Iterator[Part]:
        """What the file has from an earlier place to the end of a part."""
        with self._opened(again) as file:
            held = b""
            while again < part.end:
                block = file.read(min(BLOCK, part.end - again - len(held)))
                if not block:
                    raise FileError("it has changed while it was read: make a copy, and ask about that")
                data = held + block
                held = b"\r" if data.endswith(b"\r") and again + len(data) < part.end else b""
                earlier = Part(data[: len(data) - len(held)], again, part.last and again + len(data) == part.end)
                yield earlier
                again = earlier.end

    def _parts(self) -> Iterator[Part]:
        """All of the file below its header; each part but the last ends with a line, unless that is very long."""
        with self._opened(self._layout.begin) as file:
            base, held = file.tell(), b""
            while block := file.read(BLOCK):
                block, held = held + block, b""
                end = block.rfind(self._layout.ending) + len(self._layout.ending)
                if end < len(self._layout.ending):  # no line ends here
                    # whether a carriage return ends one is seen from what follows
                    end = len(block) - block.endswith(b"\r") if len(block) > MAX_CELL else 0
                part = Part(block[:end], base, last=False)
                base, held = part.end, block[end:]
                if part.data:
                    yield part
            yield Part(held, base, last=True)

    def _opened(self, place: int) -> BinaryIO:
        file = opened(self._path, self._layout.encoding, self._layout.rewritten)
        file.seek(place)
        return file


class _Splitter:
    """Splits parts that follow each other into rows, and knows where in a row it is."""

    def __init__(self, layout: Layout, columns: Sequence[int], rules: CellRules, size: int) -> None:
        small = size + 1  # a small file needs no large buffers
        self._cell = min(MAX_CELL, small)
        bytes_, rows = min(max(2 * MAX_CELL, _BYTES // len(columns)), 2 * small), min(_ROWS, small)
        self._names = names(columns)
        self._columns = np.array(columns, np.int64)
        self._places = np.full(max(columns) + 2, -1, np.int64)
        self._places[self._columns] = np.arange(len(columns))
        self._trims = rules[0]
        self._numbers = np.isin(self._columns, np.array(list(rules[1]), np.int64))
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
        self._kinds = np.full(256, kernels.OTHER, np.uint8)
        self._kinds[[*b"0123456789"]] = kernels.DIGIT
        self._kinds[128:] = kernels.HIGH
        self._kinds[[*layout.delimiter, *b"\r\n"]] = kernels.STOP
        self._state = np.zeros(kernels.STATE, np.int64)
        self._values = np.empty((len(columns), bytes_), np.uint8)
        self._starts = np.zeros((len(columns), rows + 1), np.int32)
        self._valid = np.zeros((len(columns), rows), bool)
        self._split = kernels.split.plain if size <= _PLAIN and not _is_loaded() else kernels.split.compiled

    @property
    def is_between_rows(self) -> bool:
        """Whether a row ended where the last part did, so that what follows does not depend on what was before."""
        return bool(self._state[kernels.MODE] == kernels.START and self._state[kernels.COLUMN] == 0)

    @property
    def goes_back_to(self) -> int | None:
        """The place in an earlier part from which everything has to be read again."""
        return int(self._state[kernels.OPENED]) if self._state[kernels.SIGNAL] == kernels.AGAIN else None

    def through(self, part: Part) -> Iterator[Any]:
        """The batches of rows that are complete."""
        data, at = np.frombuffer(part.data, np.uint8), 0
        while True:
            at = self._split(
                data, at, len(data), part.base, part.last, self._rules, self._kinds, self._places, self._columns,
                self._trims, self._numbers, self._state, self._values, self._starts, self._valid,
            )  # fmt: skip
            if self._state[kernels.SIGNAL] != kernels.FULL:
                break
            yield self._batch()
        if self._state[kernels.ROW] and self.is_between_rows:
            yield self._batch()

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
