"""The bytes of a text file as they are read: unpacked, as UTF-8, and from any place on.

What cannot be decoded becomes bytes that are not UTF-8, so that its cell is missing like any other that is no text, and
nothing else.
"""

from __future__ import annotations

import codecs
import io
import itertools
from typing import TYPE_CHECKING, BinaryIO, cast

from tinct.errors import FileError
from tinct.sources.duckdb_engine import pyarrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Rewriting = Callable[[Iterator[bytes]], Iterator[bytes]]

_BLOCK = 2**20
MAX_UNPACKED = 2**37  # bytes; an archive that grows without an end is not read to it
_UNREADABLE = "tinct.unreadable"
PACKINGS = {".gz": ("gzip", b"\x1f\x8b"), ".zst": ("zstd", b"\x28\xb5\x2f\xfd")}


# a surrogate stands for what means nothing in an encoding, whatever its bytes; written out it is not UTF-8
codecs.register_error(_UNREADABLE, lambda error: ("\udcff", error.end))  # type: ignore[attr-defined]


def is_packed(path: Path) -> bool:
    """Whether a file is compressed, by its name."""
    return path.suffix.lower() in PACKINGS


def opened(path: Path, encoding: str | None = None, rewritten: Rewriting | None = None) -> BinaryIO:
    """A file as a stream of UTF-8, in the end perhaps rewritten by one who gets and gives blocks of bytes."""
    if encoding is None and rewritten is None and not is_packed(path):
        return path.open("rb")

    def blocks() -> Iterator[bytes]:
        found = _unpacked(path) if is_packed(path) else _blocks(path)
        found = found if encoding is None else _recoded(found, encoding, path)
        return found if rewritten is None else rewritten(found)

    return cast("BinaryIO", io.BufferedReader(_Blocks(blocks), _BLOCK))


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _unpacked(path: Path) -> Iterator[bytes]:
    """The blocks of a compressed file, at most so many bytes."""
    arrow, (name, magic) = pyarrow(), PACKINGS[path.suffix.lower()]
    with path.open("rb") as packed:
        head = packed.read(len(magic))
    if head != magic:
        problem = f"this is not compressed with {name}, as its name says" if head else "the file is empty"
        raise FileError(problem, path=path)
    total = 0
    with arrow.CompressedInputStream(arrow.OSFile(str(path)), name) as file:
        while block := _block(file, path):
            total += len(block)
            if total > MAX_UNPACKED:
                problem = f"unpacked it has more than {MAX_UNPACKED:,} bytes, the most that is read"
                raise FileError(problem, path=path)
            yield block


def _block(file: BinaryIO, path: Path) -> bytes:
    try:
        return file.read(_BLOCK)
    except OSError:
        damaged = FileError("the file is damaged or incomplete: it cannot be unpacked to the end", path=path)
    raise damaged


def _recoded(blocks: Iterator[bytes], encoding: str, path: Path) -> Iterator[bytes]:
    """Text in another encoding, as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)(_UNREADABLE)
    for block in itertools.chain(blocks, (b"",)):
        try:
            text = decoder.decode(block, not block)
        except UnicodeError:  # UTF-16 and UTF-32 without the mark that says which they are
            text = None
        if text is None:
            raise FileError(f"this is not {encoding} text from its first bytes on", path=path)
        yield text.encode("utf-8", "surrogatepass")


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a file. Going back means starting again."""

    def __init__(self, start: Callable[[], Iterator[bytes]]) -> None:
        self._start = start
        self._begin()

    def _begin(self) -> None:
        self._blocks = self._start()
        self._ready = memoryview(b"")
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._ready = memoryview(block)
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
            self._let_go()
            self._begin()
        while self._at < place and self.read(min(_BLOCK, place - self._at)):
            pass
        return self._at

    def close(self) -> None:
        self._let_go()
        super().close()

    def _let_go(self) -> None:
        """Close what the blocks are read from."""
        getattr(self._blocks, "close", lambda: None)()
