"""Edges in compressed sparse rows: made, checked and numbered with array operations only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError, Way

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from tinct.graphs.dataset import DatasetGraph

    Csr = tuple[NDArray[np.int64], NDArray[np.int32]]


MAX_VERTICES = 2**31 - 1
_INSTEAD = Way(
    "use graphs.neighbors to evaluate single vertices, or a line when only the distance matters",
    "use a line when only the distance matters, such as line:50,50",
)


def edges_to_csr(
    ends: NDArray[np.int32], vertices: Sequence[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Rows, columns, the distinct edges in the order given, and the edge of every entry."""
    n = len(vertices)
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(loops):
        raise ParameterError(f"vertex {vertices[int(ends[loops[0], 0])]!r} is its own neighbour: remove the self-loop")
    low, high = ends.min(axis=1, initial=n), ends.max(axis=1, initial=-1)
    _, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    ends = ends[np.sort(first)]
    indptr, indices, ids = _fill(n, ends)
    return indptr, indices, ends, ids


def csr_of_pairs(n: int, first: NDArray[Any], second: NDArray[Any]) -> Csr:
    """Rows and columns for distinct edges that are known to be right."""
    indptr, indices, _ = _fill(n, np.column_stack([first, second]).astype(np.int32))
    return indptr, indices


def _fill(n: int, ends: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    rows = ends.T.ravel()
    columns = ends[:, ::-1].T.ravel()
    order = np.lexsort((columns, rows))
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    ids = np.tile(np.arange(len(ends), dtype=np.int32), 2)
    return indptr, np.ascontiguousarray(columns[order], np.int32), ids[order]


def number_edges(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The edges (u < v, in the order of the rows), and for every entry the number of its edge."""
    n = len(indptr) - 1
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    upward = rows < indices
    ends = np.column_stack([rows[upward], indices[upward]])
    ids = np.empty(len(indices), np.int32)
    ids[upward] = np.arange(len(ends), dtype=np.int32)
    by_key = np.argsort(ends[:, 0].astype(np.int64) * n + ends[:, 1], kind="stable")
    downward = indices[~upward].astype(np.int64) * n + rows[~upward]
    ids[~upward] = by_key[np.argsort(np.argsort(downward, kind="stable"), kind="stable")]
    return ends, ids


def require_simple_symmetric(indptr: ArrayLike, indices: ArrayLike) -> Csr:
    """Refuse arrays that are not the rows of an undirected graph without self-loops and duplicates."""
    rows_at, columns = np.asarray(indptr), np.asarray(indices)
    if rows_at.dtype.kind == "u":  # unsigned differences would wrap around
        rows_at = rows_at.astype(np.int64)
    if rows_at.dtype.kind not in "iu" or columns.dtype.kind not in "iu" or rows_at.ndim != 1 or columns.ndim != 1:
        raise ParameterError("indptr and indices must be one-dimensional arrays of integers")
    n = len(rows_at) - 1
    if n < 1:
        raise ParameterError("the graph is empty: give at least one vertex")
    if n > MAX_VERTICES:
        raise ParameterError(f"a graph may have at most {MAX_VERTICES:,} vertices, got {n:,}")
    if rows_at[0] != 0 or rows_at[-1] != len(columns) or (np.diff(rows_at) < 0).any():
        raise ParameterError("indptr must rise from 0 to len(indices)")
    if len(columns) and not 0 <= columns.min() <= columns.max() < n:
        raise ParameterError(f"indices must lie between 0 and {n - 1}, got {columns.min()} to {columns.max()}")
    columns = columns.astype(np.int64) if columns.dtype == np.uint64 else columns  # else sums with them are floats
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(rows_at))
    if (rows == columns).any():
        raise ParameterError(f"vertex {int(rows[rows == columns][0])} is its own neighbour: remove the self-loop")
    forward = np.sort(rows * n + columns)
    if (forward[1:] == forward[:-1]).any():
        raise ParameterError("an edge is listed twice in the same row: list each neighbour once")
    # 64 bits by name: NumPy 1 would take the product with one number in the 32 bits of the columns
    backward = np.sort(np.multiply(columns, n, dtype=np.int64) + rows)
    if not np.array_equal(forward, backward):
        odd = int(np.setdiff1d(forward, backward)[0])
        raise ParameterError(f"edge ({odd // n}, {odd % n}) is listed in one direction only: list both")
    return np.ascontiguousarray(rows_at, np.int64), np.ascontiguousarray(columns, np.int32)


def require_memory(vertices: int, edges: int, what: str, *, per_edge: int = 48, instead: Way = _INSTEAD) -> None:
    """Refuse a graph that this machine cannot hold, and say how much it would take.

    ``per_edge`` is how many bytes an edge takes while the graph is built: more where edges have to be sorted.
    """
    # measured at the peak of building, designing, verifying and comparing with the baselines
    needed = 160 * vertices + per_edge * edges
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        available = 2**34
    if vertices > MAX_VERTICES or needed > available * 0.8:
        raise ParameterError(
            f"{what} has {_count(vertices)} vertices and {_count(edges)} edges and would take about "
            f"{_bytes(needed)} of memory (this machine has {_bytes(available)}); ",
            instead,
        )


def _count(number: int) -> str:
    return f"{number:,}" if number < 10**12 else f"{float(number):.3g}" if number < 10**300 else "more than 10^300"


def _bytes(size: int) -> str:
    amount = float(min(size, 10**300))
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} PB"


def read_scipy(matrix: Any) -> tuple[Any, Any]:
    """The row offsets and columns of a sparse matrix, without stored zeros."""
    if not hasattr(matrix, "tocsr"):
        raise ParameterError(f"expected a SciPy sparse matrix, got {type(matrix).__name__}")
    rows = matrix.tocsr().copy()
    if rows.shape[0] != rows.shape[1]:
        raise ParameterError(f"an adjacency matrix must be square, got {rows.shape[0]} × {rows.shape[1]}")
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows.indptr, rows.indices


def write_scipy(graph: DatasetGraph) -> Any:
    """The adjacency matrix as a SciPy sparse array of ones."""
    from scipy.sparse import csr_array

    ones = np.ones(len(graph.indices), np.int8)
    return csr_array((ones, graph.indices, graph.indptr), shape=(len(graph), len(graph)))
