"""Graphs of neighbouring datasets."""

from tinct.graphs.boundary import Boundary, missed_edge, smallest_hitting_set
from tinct.graphs.budgets import Budget, EdgeClasses, EdgePrivacy, PrivacyLike, personalized
from tinct.graphs.builders import (
    GraphLike,
    ImplicitGraph,
    box,
    grid,
    histograms,
    hypercube,
    line,
    majority,
    neighbors,
    rankings,
    threshold,
)
from tinct.graphs.dataset import DatasetGraph
from tinct.graphs.formats.graph_files import GraphFile, read, write
from tinct.graphs.formats.networkx import from_networkx
from tinct.graphs.metrics import metric
from tinct.graphs.morphisms import Morphism, boundary_morphism

__all__ = [
    "Boundary",
    "Budget",
    "DatasetGraph",
    "EdgeClasses",
    "EdgePrivacy",
    "GraphFile",
    "GraphLike",
    "ImplicitGraph",
    "Morphism",
    "PrivacyLike",
    "boundary_morphism",
    "box",
    "from_networkx",
    "grid",
    "histograms",
    "hypercube",
    "line",
    "majority",
    "metric",
    "missed_edge",
    "neighbors",
    "personalized",
    "rankings",
    "read",
    "smallest_hitting_set",
    "threshold",
    "write",
]
