"""Whole jobs from files to files, for the command line: ``--engine spark --master …``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.errors import FileError
from tinct.sources.spark_frames import open_frame
from tinct.spark import publishing
from tinct.spark._ask_groups import ask_groups
from tinct.spark._balanced import balanced
from tinct.spark._estimate import estimate, likelihood_test
from tinct.spark._extend import extend
from tinct.spark._privatize import REPORT, privatize
from tinct.spark._session import session
from tinct.spark.graph_frames import read_graph_frames
from tinct.spark.parquet_rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tinct.local import LocalMechanism
    from tinct.local._estimate import Estimate
    from tinct.local.hypothesis_testing import TestResult
    from tinct.mechanism import Claim
    from tinct.sources.spark_frames import SparkSource
    from tinct.spark.fixed_point import Round
    from tinct.spark.mechanism_frame import MechanismFrame


_OTHER_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


@dataclass(frozen=True)
class MechanismFolder:
    """What ``extend_files`` and ``balanced_files`` did: where the table stands, its answers, rounds and claim."""

    path: str
    outputs: tuple[Any, ...]
    rounds: int
    claim: Claim


def open_parquet(path: str, *, master: str | None = None) -> SparkSource:
    """The rows of a Parquet file or folder as a source for ``ask``; other formats are read on one machine."""
    return open_frame(_rows(path, master), path)


def ask_groups_files(source: str, question: str, *, target: str, master: str | None = None, **options: Any) -> Any:
    """Answer a question for each group in a Parquet file or folder, and publish the answers as a Parquet folder.

    The options are those of ``ask_groups``, whose result this returns.
    """
    return ask_groups(open_parquet(source, master=master), question, path=target, **options)


def privatize_files(
    source: str,
    column: str,
    mechanism: LocalMechanism,
    target: str,
    *,
    master: str | None = None,
    missing: Any = None,
    keep: Sequence[str] = (),
) -> None:
    """Privatise a column of a Parquet file or folder, and publish the reports as a Parquet folder."""
    privatize(_rows(source, master), column, mechanism, path=target, missing=missing, keep=keep)


def estimate_files(
    source: str,
    mechanism: LocalMechanism,
    *,
    column: str = REPORT,
    confidence: float = 0.95,
    master: str | None = None,
) -> Estimate:
    """Frequencies from a Parquet file or folder of reports."""
    return estimate(_rows(source, master), mechanism, column=column, confidence=confidence)


def likelihood_test_files(
    source: str, mechanism: LocalMechanism, *, column: str = REPORT, master: str | None = None
) -> TestResult:
    """The test of the mechanism's two hypotheses, from a Parquet file or folder of reports."""
    return likelihood_test(_rows(source, master), mechanism, column=column)


def extend_files(
    graph: str,
    fixed: str | Mapping[Any, Any],
    target: str,
    *,
    privacy: Any = None,
    master: str | None = None,
    outputs: Sequence[Any] | None = None,
    disconnected: bool = False,
    progress: Callable[[Round], None] | None = None,
) -> MechanismFolder:
    """Extend fixed values over a graph in Parquet, and publish the table (vertex, color, first, second).

    Args:
        graph: A folder with vertices and edges, as ``write_graph_frames`` makes it.
        fixed: A Parquet file or folder (vertex, first[, second]), or ``{vertex: Pr[first color]}``.
        target: A folder that does not exist.
        privacy: One Privacy, or None if the edges have their own.
        master: Where to run.
        outputs: The two colors, the first one first.
        disconnected: Whether pieces without fixed vertices are meant.
        progress: Called after every round.
    """
    running = session(master)
    publishing.require_free(running, target)
    vertices, edges = read_graph_frames(running, graph)
    held = publishing.read(running, fixed) if isinstance(fixed, str) else fixed
    found = extend(vertices, edges, privacy, held, outputs=outputs, disconnected=disconnected, progress=progress)
    return _published(found, target)


def balanced_files(
    graph: str,
    target: str,
    *,
    privacy: Any = None,
    master: str | None = None,
    lean: float | Mapping[Any, float] | None = None,
    outputs: Sequence[Any] | None = None,
    disconnected: bool = False,
    progress: Callable[[Round], None] | None = None,
) -> MechanismFolder:
    """Design the fair optimum for a graph in Parquet, and publish the table (vertex, color, first, second).

    Args:
        graph: A folder with vertices and edges, as ``write_graph_frames`` makes it.
        target: A folder that does not exist.
        privacy: One Privacy, or None if the edges have their own.
        master: Where to run.
        lean: The truth of a color that is favoured.
        outputs: The two colors, the first one first.
        disconnected: Whether pieces with one color are meant.
        progress: Called after every round.
    """
    running = session(master)
    publishing.require_free(running, target)
    vertices, edges = read_graph_frames(running, graph)
    found = balanced(vertices, edges, privacy, lean=lean, outputs=outputs, disconnected=disconnected, progress=progress)
    return _published(found, target)


def _published(found: MechanismFrame, target: str) -> MechanismFolder:
    publishing.publish(found.table, target)
    return MechanismFolder(target, found.outputs, found.rounds, found.claim)


def _rows(path: str, master: str | None) -> Any:
    if path.lower().endswith(_OTHER_FORMATS):
        raise FileError(
            "Spark reads Parquet files and folders here; without --engine spark, CSV is read too", path=path
        )
    return read_rows(session(master), path)
