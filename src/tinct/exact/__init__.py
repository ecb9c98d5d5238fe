"""Integer mechanisms, proved private and sampled exactly: floats propose, integers dispose.

Names load on first use: the ledger needs a few lines of this room, and should not wait for the designers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinct.exact.certificate import Proof, Terms
    from tinct.exact.certified import Certified, check
    from tinct.exact.certifying import certify
    from tinct.exact.designing import balanced, extend
    from tinct.exact.families import line, ray
    from tinct.exact.simulation import Simulation, simulate

_HOME = {
    "Certified": "certified",
    "Proof": "certificate",
    "Simulation": "simulation",
    "Terms": "certificate",
    "balanced": "designing",
    "certify": "certifying",
    "check": "certified",
    "extend": "designing",
    "line": "families",
    "ray": "families",
    "simulate": "simulation",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tinct.exact' has no attribute {name!r}")
    value = getattr(import_module(f"tinct.exact.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
