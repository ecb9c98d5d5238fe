"""Graphs of neighbouring datasets."""

from tinct.graphs.attributes import from_networkx
from tinct.graphs.boundary import Boundary, missed_edge, smallest_hitting_set
from tinct.graphs.budgets import Budget, EdgeClasses, EdgePrivacy, personalized
from tinct.graphs.builders import box, grid, histograms, hypercube, line, majority, threshold
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.files import GraphFile, read, write
from tinct.graphs.implicit import ImplicitGraph, neighbors
from tinct.graphs.morphisms import Morphism, boundary_morphism
from tinct.graphs.rankings import rankings

__all__ = [
    "Boundary",
    "Budget",
    "DatasetGraph",
    "EdgeClasses",
    "EdgePrivacy",
    "GraphFile",
    "ImplicitGraph",
    "Morphism",
    "boundary_morphism",
    "box",
    "from_networkx",
    "grid",
    "histograms",
    "hypercube",
    "line",
    "majority",
    "missed_edge",
    "neighbors",
    "personalized",
    "rankings",
    "read",
    "smallest_hitting_set",
    "threshold",
    "write",
]
