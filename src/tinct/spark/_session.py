"""Starting Spark: a session with what these jobs need, or an error that says what is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from typing import Any

from tinct.errors import ParameterError, TinctError
from tinct.sources.spark_engine import pyspark

LEAST_JAVA = 17
_MASTER = re.compile(r"local(\[(\*|\d+)(,\d+)?\])?|(spark|k8s)://\S+|yarn")
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def session(master: str | None = None, *, config: dict[str, str] | None = None) -> Any:
    """A SparkSession: the one that is running, as it is, or a new one.

    Args:
        master: Where to run, such as ``"local[2]"``, ``"spark://host:7077"`` or ``"yarn"``; if left out, what
            spark-submit or the configuration says.
        config: More settings of Spark, for a new session.
    """
    if master is not None and not (isinstance(master, str) and _MASTER.fullmatch(master)):
        raise ParameterError(f"master must be such as 'local[2]', 'spark://host:7077' or 'yarn', got {master!r:.80}")
    module = pyspark()
    running = module.sql.SparkSession.getActiveSession()
    if running is not None:
        if master not in (None, running.sparkContext.master):
            raise ParameterError(
                f"Spark is running already, with the master {running.sparkContext.master}: stop it first"
            )
        return running
    require_java(java_version())
    builder = module.sql.SparkSession.builder.appName("tinct")
    for name, value in {**_settings(master), **(config or {})}.items():
        builder = builder.config(name, value)
    if master is not None:
        builder = builder.master(master)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PySpark warns of pandas versions; no pandas is used
            started = builder.getOrCreate()
    except Exception as error:
        name = type(error).__name__
    else:
        started.sparkContext.setLogLevel("ERROR")
        if started.sparkContext.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            started.sparkContext.pythonExec = sys.executable  # another Python of this machine might lack tinct
        return started
    raise TinctError(f"Spark could not be started ({name}): is {master or 'the configured master'} reachable?")


def java_version() -> int | None:
    """The major version of the Java that Spark would use, or None if there is none."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which(os.path.join(home, "bin", "java")) if home else shutil.which("java")
    if program is None:
        return None
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 # the Java that Spark starts next
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(done.stderr + done.stdout)
    return int(found[1]) if found else None


def require_java(version: int | None) -> None:
    """Refuse to start without a Java that Spark can use.

    >>> require_java(11)
    Traceback (most recent call last):
    tinct.errors.TinctError: Spark needs Java 17 or later, this is Java 11: install openjdk-17-jre-headless (Debian,
    Ubuntu) and point JAVA_HOME to it
    """
    if version is None:
        raise TinctError(
            f"Spark needs Java {LEAST_JAVA} or later, and none was found: install openjdk-17-jre-headless (Debian, "
            "Ubuntu), or set JAVA_HOME"
        )
    if version < LEAST_JAVA:
        raise TinctError(
            f"Spark needs Java {LEAST_JAVA} or later, this is Java {version}: install openjdk-17-jre-headless (Debian, "
            "Ubuntu) and point JAVA_HOME to it"
        )


def _settings(master: str | None) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.cleaner.referenceTracking.cleanCheckpoints": "true",
    }
    if master is not None and master.startswith("local"):
        # nobody else may connect
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
        }
    return settings
