"""From the settings of the Verify page to a verdict, by the library's own check."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.mechanism import Mechanism, verify
from tinct.mechanism.table_files import read_table
from tinct.privacy import Privacy
from tinct.studio.families import is_mechanism
from tinct.studio.uploads import parsed
from tinct.studio.verify.state import KIND

if TYPE_CHECKING:
    from tinct.graphs import DatasetGraph
    from tinct.mechanism import Verdict
    from tinct.studio.verify.state import VerifyState
    from tinct.studio.workshop import Workshop

_POINTS = 61


@dataclass(frozen=True)
class Checked:
    """A table with its graph, the budget it was held against, and what came out."""

    graph: DatasetGraph
    table: Any
    privacy: Any
    stated: Any  # the budget of the file, if it has one
    verdict: Verdict
    epsilons: list[float]
    deltas: list[float]


def checked(state: VerifyState, workshop: Workshop) -> Checked | None:
    """Check the uploaded table; None if there is none yet."""
    if state.table is None:
        return None
    graph, table, stated = _loaded(state, workshop)
    privacy = stated if state.stated and stated is not None else Privacy(state.epsilon, state.delta)
    verdict = verify(table, graph, privacy)
    grid = _grid(verdict, privacy)
    return Checked(graph, np.asarray(table), privacy, stated, verdict, grid, verdict.profile(grid).tolist())


def _loaded(state: VerifyState, workshop: Workshop) -> tuple[DatasetGraph, Any, Any]:
    upload = workshop.uploads.get(state.table)
    if any(schema in upload.data[:200] for schema in (b'"tinct/certificate@', b'"tinct/mode-certificate@')):
        raise ParameterError(
            f"{upload.name} is a certificate, which can be proved rather than checked in floating point: run "
            f"tinct verify --exact {upload.name}"
        )
    if is_mechanism(upload.data) or upload.name.endswith(".json"):
        mechanism: Mechanism = parsed(upload, Mechanism.from_json)
        return mechanism.graph, mechanism.table, mechanism.privacy
    found = state.graph.read(KIND, workshop.files)
    return found.graph, parsed(upload, lambda path: read_table(path, found.graph)), found.privacy


def _grid(verdict: Verdict, privacy: Any) -> list[float]:
    """Budgets from 0 to well beyond what is needed and what was promised."""
    promised = privacy.epsilon if isinstance(privacy, Privacy) else 0.0
    needed = verdict.epsilon if math.isfinite(verdict.epsilon) else 0.0
    most = min(max(1.5 * needed, 1.5 * promised, 0.5), 700.0)
    return [round(float(value), 6) for value in np.linspace(0.0, most, _POINTS)]
