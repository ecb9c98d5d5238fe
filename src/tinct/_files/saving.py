"""Files, written all at once or not at all."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tinct._files.loading import reason, require_path
from tinct.errors import FileError

if TYPE_CHECKING:
    from tinct._files.loading import FilePath


def write_atomically(path: FilePath, content: str | bytes) -> None:
    """Write a file in full, text as UTF-8, or leave whatever was there untouched.

    The content goes to a temporary file in the same folder, reaches the disk, and only then takes the name.
    """
    data = content if isinstance(content, bytes) else _encoded(path, content)
    target = _target(path)
    folder, name = os.path.split(target)
    # not `tempfile`: its files are private, and its names come from a random generator
    part = os.path.join(folder, f".{name[:40]}.{os.getpid()}-{time.time_ns()}.part")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(part, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(part, target)
    except BaseException as error:  # Ctrl-C too must leave nothing behind
        with suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError):
            raise FileError(f"cannot be written: {reason(error)}", path=path) from None
        raise
    sync_folder(folder)


def _encoded(path: FilePath, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileError(
            f"character {error.start:,} is half a surrogate pair, which UTF-8 cannot hold", path=path
        ) from None


def _target(path: FilePath) -> str:
    """The file to replace: behind a link, the file that it points to."""
    require_path(path)
    try:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise FileError(f"the folder {folder} does not exist: create it first", path=path)
        if os.path.isdir(target) or not os.path.basename(os.fspath(path)):
            raise FileError("this is a folder, not a file", path=path)
        if os.path.exists(target) and not os.path.isfile(target):
            raise FileError("this is not a regular file", path=path)
        if os.path.exists(target) and not os.access(target, os.W_OK):  # os.replace would not ask
            raise FileError("the file is write-protected", path=path)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot be written: {reason(error)}", path=path) from None
    return target


def sync_folder(folder: str) -> None:
    """Make a new name in the folder survive a power cut, where the system can; the content is safe already."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
