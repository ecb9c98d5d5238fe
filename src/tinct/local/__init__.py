"""Local privacy: everybody randomises their own answer, by the mechanism that is best for what will be asked of it."""

from tinct.local.bounds import information_bound
from tinct.local.cells import optimal
from tinct.local.comparison import Comparison, compare
from tinct.local.distortions import distortion
from tinct.local.guarantees import (
    binary_information_share,
    binary_share,
    large_budget_divergence,
    large_budget_information,
    small_budget_divergence,
    small_budget_information,
    symmetric_divergence_bound,
    total_variation_bound,
)
from tinct.local.information import binary_information, mutual_information
from tinct.local.mechanism import Certificate, LocalMechanism
from tinct.local.named import (
    binary,
    geometric,
    hadamard_response,
    local_hashing,
    quaternary,
    randomized_response,
    subset_selection,
    unary_encoding,
)
from tinct.local.patterns import staircase
from tinct.local.thresholds import Regime, Regimes, regimes
from tinct.local.utilities import Utility, divergence

__all__ = [
    "Certificate",
    "Comparison",
    "LocalMechanism",
    "Regime",
    "Regimes",
    "Utility",
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
    "local_hashing",
    "mutual_information",
    "optimal",
    "quaternary",
    "randomized_response",
    "regimes",
    "small_budget_divergence",
    "small_budget_information",
    "staircase",
    "subset_selection",
    "symmetric_divergence_bound",
    "total_variation_bound",
    "unary_encoding",
]
