"""Files, read with suspicion: regular, not too large, not compressed, UTF-8."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tinct.errors import FileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BYTES = 2**30
_GZIP = b"\x1f\x8b"

FilePath = str | os.PathLike[str]


def read_bytes(path: FilePath, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes. Compressed files are refused, not unpacked."""
    require_path(path)
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise FileError("this is a folder, not a file", path=path)
        if not stat.S_ISREG(found.st_mode):  # a pipe or a device might never end
            raise FileError("this is not a regular file", path=path)
        with open(path, "rb") as file:
            # not `limit + 1` at once: that much memory would be set aside for the smallest file
            data = file.read(min(found.st_size, limit) + 1)
            if found.st_size < len(data) <= limit:  # it has grown, or does not say how large it is
                data += file.read(limit + 1 - len(data))
    except FileNotFoundError:
        raise FileError("there is no such file", path=path) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise FileError(f"cannot be read: {reason(error)}", path=path) from None
    if len(data) > limit:
        raise FileError(f"the file is larger than {limit:,} bytes, the most that is read", path=path)
    if data.startswith(_GZIP):
        raise FileError("the file is compressed with gzip: decompress it first (gunzip)", path=path)
    return data


def read_text(path: FilePath, limit: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file, without a byte order mark if there is one."""
    data = read_bytes(path, limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"line {line}: this is not UTF-8 text (byte {error.start:,}): save it as UTF-8", path=path
        ) from None


def suffix_of(path: FilePath, known: Iterable[str]) -> str:
    """The suffix of a path in lower case, if it is one of the known ones."""
    require_path(path)
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise FileError(f"the name must end in {', '.join(known)}, got {suffix or 'no suffix'!r}", path=path)
    return suffix


@contextmanager
def naming(path: FilePath) -> Iterator[None]:
    """Name the file in a ParameterError that the library raises about what it holds."""
    try:
        yield
    except ParameterError as error:
        error.path = path if error.path is None else error.path
        raise


@contextmanager
def reading(path: FilePath, where: str) -> Iterator[None]:
    """Turn a ParameterError about one value into a FileError that says where the value stands."""
    try:
        yield
    except ParameterError as error:
        raise FileError(f"{where}: {error.problem}", path=path) from None


def require_path(path: object) -> None:
    """Refuse what is no path at all."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"a path must be text or a Path, got {path!r:.80}")


def reason(error: Exception) -> str:
    """What the system says is wrong."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
