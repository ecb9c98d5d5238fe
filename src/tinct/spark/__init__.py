"""The jobs that outgrow one machine, on Apache Spark (the extra ``spark``).

Nothing here imports Spark before it is used. Results equal those of one machine; docs/scale.md says when to use which.
"""

from tinct.spark.analysing import estimate, tally
from tinct.spark.answering import GroupAnswers, ask_groups
from tinct.spark.collecting import privatize
from tinct.spark.distances import boundary_distance
from tinct.spark.extension import Extension, extend
from tinct.spark.propagation import Round
from tinct.spark.starting import session
from tinct.spark.tables import read_graph_frames, to_frames, write_graph_frames

__all__ = [
    "Extension",
    "GroupAnswers",
    "Round",
    "ask_groups",
    "boundary_distance",
    "estimate",
    "extend",
    "privatize",
    "read_graph_frames",
    "session",
    "tally",
    "to_frames",
    "write_graph_frames",
]
