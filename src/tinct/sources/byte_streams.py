"""The bytes of a text file as UTF-8, whatever encoding it is written in, from any place on.

What cannot be decoded becomes bytes that are not UTF-8, so that its cell is missing like any other that is no text, and
nothing else.
"""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BLOCK = 2**20


def opened(path: Path, encoding: str | None) -> BinaryIO:
    """A file as a stream of UTF-8."""
    if encoding is None:
        return path.open("rb")
    return cast("BinaryIO", io.BufferedReader(_Recoded(lambda: path.open("rb"), encoding), _BLOCK))


class _Recoded(io.RawIOBase):
    """Text in another encoding, as UTF-8. Going back means starting again."""

    def __init__(self, start: Callable[[], BinaryIO], encoding: str) -> None:
        self._start = start
        self._encoding = encoding
        self._begin()

    def _begin(self) -> None:
        self._file = self._start()
        # surrogates stand for bytes that mean nothing here; written out they are not UTF-8
        self._decoder = codecs.getincrementaldecoder(self._encoding)("surrogateescape")
        self._ready = b""
        self._at = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            block = self._file.read(_BLOCK)
            self._ended = not block
            text = self._decoder.decode(block, self._ended)
            self._ready = text.encode("utf-8", "surrogatepass")
        part = self._ready[: len(buffer)]
        buffer[: len(part)] = part
        self._ready = self._ready[len(part) :]
        self._at += len(part)
        return len(part)

    def tell(self) -> int:
        return self._at

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            place += self._at
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("the end is not known before it is read")
        if place < self._at:
            self._file.close()
            self._begin()
        while self._at < place and self.read(min(_BLOCK, place - self._at)):
            pass
        return self._at

    def close(self) -> None:
        self._file.close()
        super().close()
