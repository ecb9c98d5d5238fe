"""Files that somebody drops on a page: kept in memory, read by the library's own strict readers, never run.

The readers take paths, so an upload is put into a private folder for as long as it is being read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import tempfile
import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, ParameterError, TinctError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_FILE = 5 * 2**20
_KEPT = 16
_NAME = 60  # characters of up to four bytes: file systems take names of 255
_ENDING = 10


@dataclass(frozen=True)
class Upload:
    """A file as it came, and what it was called."""

    name: str
    data: bytes
    digest: str


class Uploads:
    """The latest few uploads by their digest, so that a page needs to remember only that."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Upload] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, contents: Any, name: Any) -> Upload:
        """Keep what the page sends: ``data:<type>;base64,<text>``."""
        return self._remember(decoded(contents, name))

    def keep(self, name: str, data: bytes) -> Upload:
        """Keep what another page has made."""
        return self._remember(_named(name, data))

    def _remember(self, upload: Upload) -> Upload:
        with self._lock:
            self._kept[upload.digest] = upload
            self._kept.move_to_end(upload.digest)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return upload

    def get(self, digest: Any) -> Upload:
        """An upload that was kept."""
        with self._lock:
            found = self._kept.get(digest) if isinstance(digest, str) else None
        if found is None:
            raise ParameterError("this file is no longer here: choose it again")
        return found


def decoded(contents: Any, name: Any) -> Upload:
    """The file in a page's message; refused if it is too large or is not what pages send."""
    if not isinstance(contents, str) or not isinstance(name, str):
        raise ParameterError("no file came with the request: choose one")
    if len(contents) > MAX_FILE * 4 // 3 + 200:
        raise FileError(f"{safe_name(name)}: the file is larger than {MAX_FILE // 2**20} MB, the most that is read")
    try:
        data = base64.b64decode(contents.partition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        raise FileError(f"{safe_name(name)}: the file did not arrive whole: choose it again") from None
    return _named(safe_name(name), data)


def _named(name: str, data: bytes) -> Upload:
    return Upload(name, data, hashlib.sha256(name.encode() + b"\0" + data).hexdigest())


def safe_name(name: str) -> str:
    r"""The last part of a file's name, printable, with its ending kept.

    >>> safe_name("../../etc/council.csv"), safe_name("x\0.json")
    ('council.csv', 'x_.json')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    clean = "".join(letter if letter.isprintable() and letter not in '<>:"|?*' else "_" for letter in last).strip(". ")
    stem, ending = os.path.splitext(clean)
    return f"{stem[: _NAME - _ENDING]}{ending[:_ENDING]}" or "upload"


def parsed(upload: Upload, read: Callable[[Path], Any]) -> Any:
    """What a reader makes of an upload. Its errors name the file, not where it was put."""
    with private_folder() as folder:
        path = folder / upload.name
        path.write_bytes(upload.data)
        try:
            return read(path)
        except TinctError as error:
            error.path = upload.name
            raise


def written(name: str, write: Callable[[Path], None]) -> str:
    """The text that a writer of the library puts into a file of that name."""
    with private_folder() as folder:
        path = folder / name
        write(path)
        return path.read_text(encoding="utf-8")


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that only this user can read, and that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tinct-studio-") as folder:
        yield Path(folder)
