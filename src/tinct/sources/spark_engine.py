"""Apache Spark, imported only when it is used, and kept from quoting cells.

Messages of Spark may quote values, so none of them leaves this module: an error says which kind of failure it was and
what to do about it.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from tinct.errors import ParameterError, TinctError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Result = TypeVar("Result")

LEAST_VERSION = 4

_INSTALL = "install it with `pip install 'tinct[spark]'`"
_HINTS = (
    (
        "no module named",
        "a Python worker lacks a module: install tinct on every executor, and let PYSPARK_PYTHON name its Python",
    ),
    (
        "python_version_mismatch",
        "the executors have another version of Python than the driver: let PYSPARK_PYTHON name the same one everywhere",
    ),
    (
        "package_version",
        "pyarrow or pandas is too old for this version of Spark: install them with `pip install -U 'tinct[spark]'`",
    ),
    ("package_not_installed", f"a package is missing: {_INSTALL}"),
    (
        "no filesystem for scheme",
        "Spark does not know this kind of address: start it with the package for it (spark.jars.packages)",
    ),
    ("checkpoint block", "an executor was lost together with intermediate results: start the job again"),
    ("python worker exited", "a Python worker died, as often as Spark allows: nothing was published"),
    ("python_worker", "a Python worker died or was unusable: nothing was published"),
    ("path_already_exists", "the target exists already: choose another path"),
    ("path_not_found", "there is no such path"),
    ("outofmemory", "there is not enough memory: use more partitions (spark.sql.shuffle.partitions) or more executors"),
    ("no space left", "a disk is full"),
    ("permission", "a file or folder may not be used"),
)
_SAFE_NAME = re.compile(r"[A-Z][A-Z0-9_.]{2,80}")


def pyspark() -> ModuleType:
    """PySpark, if it is installed, recent enough, and has Arrow beside it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of pandas versions; no pandas is used here
            import pyspark as module
            import pyspark.sql  # what `module.sql` is later
    except ImportError:
        raise TinctError(f"Spark jobs need PySpark {LEAST_VERSION} or later: {_INSTALL}") from None
    require_version(module.__version__)
    try:
        import pyarrow  # type: ignore[import-untyped, unused-ignore] # noqa: F401, ICN001 # only whether it is there
    except ImportError:
        raise TinctError(
            "Spark jobs exchange rows with Python through pyarrow: install it with `pip install pyarrow`"
        ) from None
    return module


def require_version(version: str) -> None:
    """Refuse versions of Spark this was not written for.

    >>> require_version("3.5.1")
    Traceback (most recent call last):
    tinct.errors.TinctError: Spark 4 or later is needed, this is 3.5.1: install it with `pip install 'tinct[spark]'`
    """
    major = version.partition(".")[0]
    if not (major.isdecimal() and int(major) >= LEAST_VERSION):
        raise TinctError(f"Spark {LEAST_VERSION} or later is needed, this is {version:.20}: {_INSTALL}")


def require_frame(frame: Any, name: str) -> Any:
    """A Spark DataFrame of an ordinary session, or a ParameterError."""
    if not is_frame(frame):
        raise ParameterError(f"{name} must be a Spark DataFrame, got {type(frame).__name__}")
    if ".connect." in type(frame).__module__:
        raise ParameterError(f"{name} belongs to a Spark Connect session: run the job in the driver's own session")
    require_version(frame.sparkSession.version)
    return frame


def is_frame(given: object) -> bool:
    """Whether this is a Spark DataFrame, without importing Spark to find out."""
    return type(given).__module__.split(".")[0] == "pyspark" and type(given).__name__ == "DataFrame"


def guarded(what: str, action: Callable[[], Result]) -> Result:
    """What ``action`` returns; a failure of Spark becomes a TinctError that quotes no value.

    ``what`` says in public words what was being done.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas versions, as above
            return action()
    except TinctError:
        raise
    except Exception as error:  # Spark's, Py4J's, Arrow's, or of a cell that Python cannot decode: each may quote one
        reason = _reason(error)
    # raised out here, so that Spark's error, which may quote a cell, is not even its context
    raise TinctError(f"{what}: {reason}")


def _reason(error: Exception) -> str:
    text = f"{type(error).__name__} {error}".lower()
    for words, hint in _HINTS:
        if words in text:
            return hint
    condition = _condition(error)
    return f"the Spark job failed ({condition}); the executors' logs say more"


def _condition(error: Exception) -> str:
    """The name Spark has for this kind of failure; names hold no values."""
    name = error.getCondition() if hasattr(error, "getCondition") else None
    return name if isinstance(name, str) and _SAFE_NAME.fullmatch(name) else type(error).__name__
