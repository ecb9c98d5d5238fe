"""tinct: provably optimal differential privacy.

Names load on first use, so that ``import tinct`` and ``tinct --help`` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tinct import baselines as baselines
    from tinct import exact as exact
    from tinct import graphs as graphs
    from tinct import rainbow as rainbow
    from tinct.binary import balanced, extend, frontier, homogeneous, improve
    from tinct.errors import (
        BudgetExceeded,
        FileError,
        NoOptimum,
        NotExtendable,
        NotPrivate,
        ParameterError,
        TinctError,
    )
    from tinct.graphs import DatasetGraph, EdgePrivacy, Morphism, personalized
    from tinct.mechanism import Mechanism
    from tinct.privacy import GaussianDP, Privacy, TradeOff
    from tinct.verification import Verdict, verify

_HOME = {
    "tinct.binary": ("balanced", "extend", "frontier", "homogeneous", "improve"),
    "tinct.errors": (
        "BudgetExceeded",
        "FileError",
        "NoOptimum",
        "NotExtendable",
        "NotPrivate",
        "ParameterError",
        "TinctError",
    ),
    "tinct.graphs": ("DatasetGraph", "EdgePrivacy", "Morphism", "personalized"),
    "tinct.mechanism": ("Mechanism",),
    "tinct.privacy": ("GaussianDP", "Privacy", "TradeOff"),
    "tinct.verification": ("Verdict", "verify"),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}
_ROOMS = ("baselines", "exact", "graphs", "rainbow")

__all__ = [
    "BudgetExceeded",
    "DatasetGraph",
    "EdgePrivacy",
    "FileError",
    "GaussianDP",
    "Mechanism",
    "Morphism",
    "NoOptimum",
    "NotExtendable",
    "NotPrivate",
    "ParameterError",
    "Privacy",
    "TinctError",
    "TradeOff",
    "Verdict",
    "balanced",
    "baselines",
    "exact",
    "extend",
    "frontier",
    "graphs",
    "homogeneous",
    "improve",
    "personalized",
    "rainbow",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"tinct.{name}")
    if name in _WHERE:
        value = getattr(import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tinct' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
