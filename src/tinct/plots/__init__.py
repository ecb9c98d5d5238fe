"""Figures of mechanisms and of what is known about them.

Needs the ``plot`` extra; Matplotlib is imported when something is drawn, and never through pyplot. Every function
returns a Matplotlib figure; ``path=`` or ``save`` write it to a file.
"""

from tinct.plots._accuracy import accuracy
from tinct.plots._errors import errors
from tinct.plots._estimates import errors_of_test, shares
from tinct.plots._frontier import frontier
from tinct.plots._graph import graph
from tinct.plots._mechanism import mechanism
from tinct.plots._profile import profile
from tinct.plots._rainbow import rainbow
from tinct.plots._utilities import regimes, utilities
from tinct.plots.figure_files import save

__all__ = [
    "accuracy",
    "errors",
    "errors_of_test",
    "frontier",
    "graph",
    "mechanism",
    "profile",
    "rainbow",
    "regimes",
    "save",
    "shares",
    "utilities",
]
