"""Optimal mechanisms for any number of answers, each dataset with an order of preference."""

from __future__ import annotations

from typing import Any

from tinct.rainbow._best import BestBoundary, BestMechanism, balanced_boundary, best, best_boundary
from tinct.rainbow._compare import Difference, MechanismComparison, compare
from tinct.rainbow._extend import extend
from tinct.rainbow._optimum_exists import Existence, ProgramOptimum, optimum_exists
from tinct.rainbow.boundary_rows import BoundaryRows, at_distance, boundary_morphism, depths
from tinct.rainbow.envelope import Case

__all__ = [
    "BestBoundary",
    "BestMechanism",
    "BoundaryRows",
    "Case",
    "Difference",
    "Existence",
    "MechanismComparison",
    "ProgramOptimum",
    "at_distance",
    "balanced_boundary",
    "best",
    "best_boundary",
    "boundary_morphism",
    "compare",
    "depths",
    "extend",
    "optimum_exists",
]


def __getattr__(name: str) -> Any:
    if name != "Comparison":
        raise AttributeError(f"module 'tinct.rainbow' has no attribute {name!r}")
    from warnings import warn

    warn("rainbow.Comparison is now rainbow.MechanismComparison", DeprecationWarning, stacklevel=2)
    return MechanismComparison
