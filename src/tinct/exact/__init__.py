"""Integer mechanisms, proved private and sampled exactly: floats propose, integers dispose."""

from tinct.exact.certificate import Proof, Terms
from tinct.exact.certified import Certified, check
from tinct.exact.certifying import certify
from tinct.exact.designing import balanced, extend
from tinct.exact.families import line, ray
from tinct.exact.simulation import Simulation, simulate

__all__ = [
    "Certified",
    "Proof",
    "Simulation",
    "Terms",
    "balanced",
    "certify",
    "check",
    "extend",
    "line",
    "ray",
    "simulate",
]
