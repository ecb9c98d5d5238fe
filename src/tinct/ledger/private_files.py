"""Who can read the files of an SQLite ledger: nobody who cannot write them.

An answer is drawn before it is stored. If storing it fails half way, SQLite's write-ahead log may hold an answer that
was never shown, and the same request draws another. Whoever could read the log would see several draws for one charge
(docs/security/attacks.md). Whoever can write the files could replace them by an older copy, and so is trusted anyway.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

_ALONE = 0o600
_GROUP = 0o060
_LOGS = ("-wal", "-shm")
_HAS_MODES = os.name == "posix"  # elsewhere, the folder's access list decides


def make(path: str) -> None:
    """Make an empty file for its owner alone, whatever the umask, unless there is one; SQLite says why it cannot be."""
    with suppress(OSError):
        try:  # not opened: to close it would end the locks that other threads of this process may have on it by then
            os.mknod(path, stat.S_IFREG | _ALONE)
        except (AttributeError, PermissionError):  # not on this system
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _ALONE))
        os.chmod(path, _ALONE)


def close_to_readers(path: str) -> None:
    """Take the file from those who can read it and not write it, if we may."""
    if _HAS_MODES and _is_open(state := os.stat(path)):
        with suppress(OSError):  # not ours: see whats_open
            os.chmod(path, _ALONE | _shared(state))


def has_open_log(path: str) -> bool:
    """Whether those who cannot write the file can read its log, or could when the log was made."""
    return bool(_open_logs(os.path.realpath(path))) if _HAS_MODES else False


def whats_open(path: str) -> str:
    """What is wrong with the files, and what would be right; empty if only those who can write them can read them."""
    if not _HAS_MODES:
        return ""
    if _is_open(os.stat(path)):
        return "others can read this file, and it is not ours to change: its owner can, with chmod 600"
    if logs := _open_logs(os.path.realpath(path)):
        return (
            f"others can read its log {os.path.basename(logs[0])}: keep the ledger to one account (chmod 600), or have "
            "its folder hand on the group of the ledger (chmod g+s)"
        )
    return ""


def _open_logs(path: str) -> list[str]:
    """The logs that others can read. SQLite gives a log the mode of the file, but not always its group."""
    file, found = os.stat(path), []
    for log in (f"{path}{ending}" for ending in _LOGS):
        with suppress(FileNotFoundError):
            state = os.stat(log)
            same = _shared(file) if state.st_gid == file.st_gid else 0
            if stat.S_IMODE(state.st_mode) & ~(_ALONE | same):
                found.append(log)
    return found


def _is_open(state: os.stat_result) -> bool:
    return bool(stat.S_IMODE(state.st_mode) & ~(_ALONE | _shared(state)))


def _shared(state: os.stat_result) -> int:
    """The rights of a group that can read and write: its members run the ledger together."""
    return _GROUP if state.st_mode & _GROUP == _GROUP else 0
