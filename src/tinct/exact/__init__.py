"""Integer mechanisms, proved private and sampled exactly: floats propose, integers dispose.

Names load on first use: the ledger needs a few lines of this room, and should not wait for the designers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinct.exact._certify import certify
    from tinct.exact._extend import balanced, extend
    from tinct.exact._line_and_ray import line, ray
    from tinct.exact._simulate import Simulation, simulate
    from tinct.exact.certified import Certified, check
    from tinct.exact.proof import Proof, Terms

_HOME = {
    "Certified": "certified",
    "Proof": "proof",
    "Simulation": "_simulate",
    "Terms": "proof",
    "balanced": "_extend",
    "certify": "_certify",
    "check": "certified",
    "extend": "_extend",
    "line": "_line_and_ray",
    "ray": "_line_and_ray",
    "simulate": "_simulate",
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
