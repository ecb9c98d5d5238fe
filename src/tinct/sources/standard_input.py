"""Rows from standard input, kept in a private file until they have been counted.

They are read to the end before anything is charged. Reading them once, as they come, would not do: where a row ends can
depend on what stands behind it, and the people may have to be counted before their answers.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tinct.errors import FileError, ParameterError
from tinct.sources import byte_streams
from tinct.sources.data_files import HOLDING_TABLES, WORKBOOKS, DataFiles, kind_of, state_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.sources.source import Source

NAME = "standard input"
_BLOCK = 2**20


class StandardInput:
    """What is piped into the program, as data to ask about.

    Args:
        kind: how a file with the same content would end: ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"json"``, ``"parquet"``
            or ``"xlsx"``, with ``".gz"`` or ``".zst"`` behind if text is compressed.
        stream: where the bytes come from; standard input if it is left out.
    """

    def __init__(self, kind: str = "csv", stream: BinaryIO | None = None) -> None:
        if not isinstance(kind, str):
            raise ParameterError.of("format", "a text such as 'csv' or 'json'", kind)
        try:
            self._path = Path(f"input.{kind.removeprefix('.').lower()}")
            self._kind = kind_of(self._path)
        except FileError:
            self._kind = ""
        if not self._kind or self._kind in set(HOLDING_TABLES) - set(WORKBOOKS) or "/" in kind or "\\" in kind:
            expected = "csv, tsv, jsonl, json, parquet or xlsx; text also with .gz or .zst behind, such as csv.gz"
            raise ParameterError.of("format", expected, kind)
        self._stream = stream
        self._is_used = False

    def opened(self, make: Callable[[DataFiles], Source]) -> Source:
        """The rows, from a file that only this user can read, which is gone when they are closed."""
        if self._is_used:
            raise ParameterError("standard input can be read only once: keep it in a file")
        self._is_used = True
        folder = tempfile.mkdtemp(prefix="tinct-")  # with mode 0700
        try:
            path = Path(folder) / self._path.name
            self._keep(path)
            source = make(DataFiles((path,), self._kind, NAME, NAME, states=(state_of(path),)))
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, FileError):
                error.path = NAME
            raise
        engine = source._engine
        clean = weakref.finalize(engine, shutil.rmtree, folder, ignore_errors=True)
        engine.close = partial(_in_turn, engine.close, clean)
        return source

    def _keep(self, path: Path) -> None:
        stream = self._stream
        if stream is None:
            if sys.stdin is None or sys.stdin.isatty():
                raise ParameterError("there is nothing on standard input: pipe the data in, or name a file")
            stream = sys.stdin.buffer
        total = 0
        try:
            with path.open("xb") as file:
                while block := stream.read(_BLOCK):
                    total += len(block)
                    if total > byte_streams.MAX_UNPACKED:
                        raise FileError(f"it has more than {byte_streams.MAX_UNPACKED:,} bytes, the most that is read")
                    file.write(block)
        except OSError as error:
            raise FileError(f"it cannot be kept in a temporary file: {error.strerror}") from None


def _in_turn(*actions: Callable[[], object]) -> None:
    for action in actions:
        action()
