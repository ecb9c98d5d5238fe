"""Questions: majority, threshold, share, median, quantile, exists, mode, numbers, several together, and their texts.

Each question knows what has to be counted and where a dataset with these counts lies among its neighbours.
"""

from tinct.questions._together import together
from tinct.questions.counts import Categories, Condition, Counts, GroupCounts
from tinct.questions.grammar import parse, parse_predicate
from tinct.questions.number_questions import Numbers, count, histogram, margin, top
from tinct.questions.positions import Histograms, Line
from tinct.questions.predicates import Predicate
from tinct.questions.questions import Question, YesNo, exists, majority, median, mode, quantile, share, threshold

__all__ = [
    "Categories",
    "Condition",
    "Counts",
    "GroupCounts",
    "Histograms",
    "Line",
    "Numbers",
    "Predicate",
    "Question",
    "YesNo",
    "count",
    "exists",
    "histogram",
    "majority",
    "margin",
    "median",
    "mode",
    "parse",
    "parse_predicate",
    "quantile",
    "share",
    "threshold",
    "together",
    "top",
]
