"""Figures of mechanisms and of what is known about them.

Needs the ``plot`` extra; Matplotlib is imported when something is drawn, and never through pyplot. Every function
returns a Matplotlib figure; ``path=`` or ``save`` write it to a file.
"""

from tinct.plots.accuracies import accuracy
from tinct.plots.distances import errors
from tinct.plots.divergences import regimes, utilities
from tinct.plots.frontiers import frontier
from tinct.plots.mechanisms import mechanism
from tinct.plots.networks import graph
from tinct.plots.profiles import profile
from tinct.plots.rainbows import rainbow
from tinct.plots.saving import save

__all__ = [
    "accuracy",
    "errors",
    "frontier",
    "graph",
    "mechanism",
    "profile",
    "rainbow",
    "regimes",
    "save",
    "utilities",
]
