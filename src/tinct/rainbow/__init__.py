"""Optimal mechanisms for any number of answers, each dataset with an order of preference."""

from tinct.rainbow.boundaries import BestBoundary, balanced_boundary, best_boundary
from tinct.rainbow.comparison import Comparison, Difference, compare
from tinct.rainbow.extension import boundary_morphism, depths, extend
from tinct.rainbow.linear import BestMechanism, Case, Existence, best, optimum_exists
from tinct.rainbow.rows import at_distance

__all__ = [
    "BestBoundary",
    "BestMechanism",
    "Case",
    "Comparison",
    "Difference",
    "Existence",
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
