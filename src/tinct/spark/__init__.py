"""The jobs that outgrow one machine, on Apache Spark (the extra ``spark``).

Nothing here imports Spark before it is used. Results equal those of one machine; docs/scale.md says when to use which.
"""

from tinct.spark._ask_groups import GroupAnswers, ask_groups
from tinct.spark._balanced import balanced
from tinct.spark._boundary_distance import boundary_distance
from tinct.spark._estimate import estimate, likelihood_test, tally
from tinct.spark._extend import extend
from tinct.spark._privatize import privatize
from tinct.spark._session import session
from tinct.spark.fixed_point import Round
from tinct.spark.graph_frames import read_graph_frames, to_frames, write_graph_frames
from tinct.spark.mechanism_frame import MechanismFrame

__all__ = [
    "GroupAnswers",
    "MechanismFrame",
    "Round",
    "ask_groups",
    "balanced",
    "boundary_distance",
    "estimate",
    "extend",
    "likelihood_test",
    "privatize",
    "read_graph_frames",
    "session",
    "tally",
    "to_frames",
    "write_graph_frames",
]
