"""A JSON array of objects, read like JSON lines: each element is a line, and is judged by itself.

So a value that a JSON parser would stumble over is missing, or its row has nothing in it, and no other row changes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels import array_elements as kernels
from tinct.errors import FileError
from tinct.sources.byte_streams import is_packed, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_AT_ENDS = 2**16  # bytes that are looked at in the beginning and in the end
_BLANKS = b" \t\r\n"
_INCOMPLETE = "the array does not end: the file is incomplete or damaged"


def require_array(path: Path, encoding: str | None) -> None:
    """Refuse what does not begin, and as far as that can be seen end, like an array; no element is looked at."""
    with opened(path, encoding) as file:
        head = file.read(_AT_ENDS).removeprefix(b"\xef\xbb\xbf").lstrip(_BLANKS)
    if not head:
        raise FileError("the file is empty", path=path)
    if head[:1] == b"{":
        raise FileError("this is one object, or JSON lines, which are named .jsonl: it must be an array", path=path)
    if head[:1] != b"[":
        raise FileError("this is not JSON: it must be an array of objects, and begin with [", path=path)
    if encoding is None and not is_packed(path):
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _AT_ENDS))
            tail = file.read().rstrip(_BLANKS)
        if tail[-1:] != b"]":
            raise FileError(_INCOMPLETE, path=path)


def elements_as_lines(path: Path, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes of an array with a line end after each element."""
    state = np.zeros(kernels.STATE, np.int64)
    for block in blocks:
        data = np.frombuffer(block, np.uint8)
        lines = np.empty_like(data)
        kernels.as_lines(data, state, lines)
        yield lines.tobytes()
    if state[kernels.DEPTH] or state[kernels.MODE] or not state[kernels.ENDED]:
        raise FileError(_INCOMPLETE, path=path)
    if state[kernels.STRAY]:
        raise FileError("something stands behind the array: the file is damaged", path=path)
