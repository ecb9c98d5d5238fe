"""Publishing: a random result is computed into a private folder, checked, and renamed into place, once and in full.

Spark may run a task several times, and a frame that is not stored is computed anew by every action. For a result that
was drawn, that means other draws. So nothing drawn is ever handed out before it is stored: what exists at the target
was rolled once, and what was rolled and lost was never seen (docs/scale.md, "What retries can do").
"""

from __future__ import annotations

import posixpath
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError, ParameterError
from tinct.exact.sampler import token
from tinct.sources.spark_engine import guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def publish(frame: Any, path: str, *, check: Callable[[Any], None] | None = None) -> Any:
    """Store a frame as Parquet under a path that must not exist yet, and return it as read from there.

    Args:
        frame: What to store; it is computed once for each time Spark runs a task, and one of these is kept.
        path: A folder that does not exist, on any file system Spark knows; its parent must exist.
        check: Called with the stored frame before it is published; if it raises, nothing is.
    """
    publish_together({path: frame}, check=check)
    return read(frame.sparkSession, path)


def publish_together(frames: Mapping[str, Any], *, check: Callable[[Any], None] | None = None) -> None:
    """Store several frames, each under its path, as ``publish`` does; none gets its name before all are stored."""
    session, own = next(iter(frames.values())).sparkSession, token()
    for path in frames:
        require_free(session, path)
    try:
        for path, frame in frames.items():
            stage(frame, path, own)
            if check is not None:
                staged = _content(path, own)
                check(guarded(f"writing {path}", partial(session.read.parquet, staged)))
        for path in frames:
            reveal(session, path, own)
    except BaseException:  # Ctrl-C too must leave nothing behind
        for path in frames:
            discard(session, path, own)
        raise


def stage(frame: Any, path: str, own: str) -> None:
    """Compute a frame into a private folder next to ``path``, whose name has ``own`` in it: nobody else may enter."""
    session = frame.sparkSession
    guarded(f"writing {path}", lambda: _Folder(session, _staging(path, own)).make_private())
    guarded(f"writing {path}", lambda: frame.write.mode("errorifexists").parquet(_content(path, own)))


def is_staged(session: Any, path: str, own: str) -> bool:
    """Whether a whole result stands in the private folder."""
    done = posixpath.join(_content(path, own), "_SUCCESS")
    return guarded(f"looking for {path}", lambda: _Folder(session, done).exists())


def reveal(session: Any, path: str, own: str) -> None:
    """Give what was staged its name, and take the private folder away."""
    guarded(f"publishing {path}", partial(_rename, session, _content(path, own), path))
    discard(session, path, own)


def discard(session: Any, path: str, own: str) -> None:
    """Take a private folder away, with whatever is in it."""
    with suppress(Exception):
        _Folder(session, _staging(path, own)).delete()


def _staging(path: str, own: str) -> str:
    parent, name = posixpath.split(path.rstrip("/"))
    return posixpath.join(parent, f".{name}.{own}.part")


def _content(path: str, own: str) -> str:
    return posixpath.join(_staging(path, own), "rows")


def read(session: Any, path: str) -> Any:
    """What was published under a path."""
    return guarded(f"reading {path}", lambda: session.read.parquet(path))


def exists(session: Any, path: str) -> bool:
    """Whether something stands under a path."""
    return guarded(f"looking for {path}", lambda: _Folder(session, path).exists())


def require_free(session: Any, path: Any) -> None:
    """Refuse a path that cannot be published under."""
    if not isinstance(path, str) or not posixpath.basename(path.rstrip("/")):
        raise ParameterError(f"path must be text, the name of a folder to make, got {path!r:.80}")
    if exists(session, path):
        raise FileError("this exists already, and what is published is not replaced: choose another path", path=path)
    if not guarded(f"looking for {path}", lambda: _Folder(session, path).has_parent()):
        raise FileError(f"there is no folder {posixpath.dirname(path.rstrip('/'))!r}", path=path)


class _Folder:
    """A path on whatever file system it names, through Hadoop."""

    def __init__(self, session: Any, path: str) -> None:
        hadoop = session.sparkContext._jvm.org.apache.hadoop.fs
        configuration = session.sparkContext._jsc.hadoopConfiguration()
        self._path = hadoop.Path(path)
        self._only_me = hadoop.permission.FsPermission("700")
        self._system = self._path.getFileSystem(configuration)

    def exists(self) -> bool:
        return bool(self._system.exists(self._path))

    def has_parent(self) -> bool:
        return bool(self._system.exists(self.qualified.getParent()))

    def make_private(self) -> None:
        """Make the folder for this account alone; on file systems without permissions it is as open as they are."""
        self._system.mkdirs(self._path)
        self._system.setPermission(self._path, self._only_me)

    def delete(self) -> None:
        self._system.delete(self._path, True)

    @property
    def qualified(self) -> Any:
        return self._system.makeQualified(self._path)


def _rename(session: Any, source: str, target: str) -> None:
    """Give a folder its name if nobody has it; the older interface of Hadoop would move it inside what stands there."""
    context = session.sparkContext
    hadoop = context._jvm.org.apache.hadoop.fs
    old, new = _Folder(session, source).qualified, _Folder(session, target).qualified
    options = context._gateway.new_array(hadoop.Options.Rename, 1)
    options[0] = hadoop.Options.Rename.NONE
    hadoop.FileContext.getFileContext(old.toUri(), context._jsc.hadoopConfiguration()).rename(old, new, options)
