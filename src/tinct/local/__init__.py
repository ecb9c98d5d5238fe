"""Local privacy: everybody randomises their own answer, by the mechanism that is best for what will be asked of it."""

from typing import Any

from tinct.local._compare import UtilityComparison, compare
from tinct.local._estimate import Estimate
from tinct.local._mutual_information import mutual_information
from tinct.local._optimal import optimal
from tinct.local._recommend import Choice, Recommendation, recommend
from tinct.local._regimes import Regime, Regimes, regimes
from tinct.local._repeated import Chain, Change, Memory, repeated
from tinct.local._robust import robust
from tinct.local._shuffled import Shuffled, local_epsilon, shuffled
from tinct.local._tally import Tally, tally
from tinct.local.divergences import Utility, divergence
from tinct.local.hypothesis_testing import TestResult
from tinct.local.information_bounds import information_bound
from tinct.local.local_mechanism import Certificate, LocalMechanism
from tinct.local.mechanisms.base import Channel
from tinct.local.mechanisms.binary import binary, binary_information
from tinct.local.mechanisms.hadamard_response import hadamard_response
from tinct.local.mechanisms.local_hashing import local_hashing
from tinct.local.mechanisms.randomized_response import randomized_response
from tinct.local.mechanisms.subset_selection import subset_selection
from tinct.local.mechanisms.unary_encoding import unary_encoding
from tinct.local.mechanisms.written_out_table import geometric, quaternary
from tinct.local.own_utilities import distortion, staircase
from tinct.local.paper_bounds import (
    binary_information_share,
    binary_share,
    large_budget_divergence,
    large_budget_information,
    small_budget_divergence,
    small_budget_information,
    symmetric_divergence_bound,
    total_variation_bound,
)

__all__ = [
    "Certificate",
    "Chain",
    "Change",
    "Channel",
    "Choice",
    "Estimate",
    "LocalMechanism",
    "Memory",
    "Recommendation",
    "Regime",
    "Regimes",
    "Shuffled",
    "Tally",
    "TestResult",
    "Utility",
    "UtilityComparison",
    "binary",
    "binary_information",
    "binary_information_share",
    "binary_share",
    "compare",
    "distortion",
    "divergence",
    "geometric",
    "hadamard_response",
    "information_bound",
    "large_budget_divergence",
    "large_budget_information",
    "local_epsilon",
    "local_hashing",
    "mutual_information",
    "optimal",
    "quaternary",
    "randomized_response",
    "recommend",
    "regimes",
    "repeated",
    "robust",
    "shuffled",
    "small_budget_divergence",
    "small_budget_information",
    "staircase",
    "subset_selection",
    "symmetric_divergence_bound",
    "tally",
    "total_variation_bound",
    "unary_encoding",
]


def __getattr__(name: str) -> Any:
    """Names that have changed, with a warning."""
    if name == "Comparison":
        import warnings

        warnings.warn("local.Comparison is now local.UtilityComparison", DeprecationWarning, stacklevel=2)
        return UtilityComparison
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
