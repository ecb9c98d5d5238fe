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
    from tinct import interop as interop
    from tinct import local as local
    from tinct import rainbow as rainbow
    from tinct.asking import Answer, ask
    from tinct.binary import balanced, extend, frontier, homogeneous, improve
    from tinct.errors import (
        BudgetExceeded,
        FileError,
        NoOptimum,
        NotAnswered,
        NotExtendable,
        NotPrivate,
        ParameterError,
        TinctError,
    )
    from tinct.graphs import DatasetGraph, EdgePrivacy, GraphLike, Morphism, PrivacyLike, personalized
    from tinct.ledger import Ledger, Protection
    from tinct.mechanism import Mechanism, Verdict, verify
    from tinct.privacy import GaussianDP, Neighbors, Privacy, TradeOff
    from tinct.questions import (
        count,
        exists,
        histogram,
        majority,
        margin,
        median,
        mode,
        quantile,
        share,
        threshold,
        together,
        top,
    )
    from tinct.sources import Description, describe

_HOME = {
    "tinct.asking": ("Answer", "ask"),
    "tinct.binary": ("balanced", "extend", "frontier", "homogeneous", "improve"),
    "tinct.errors": (
        "BudgetExceeded",
        "FileError",
        "NoOptimum",
        "NotAnswered",
        "NotExtendable",
        "NotPrivate",
        "ParameterError",
        "TinctError",
    ),
    "tinct.graphs": ("DatasetGraph", "EdgePrivacy", "GraphLike", "Morphism", "PrivacyLike", "personalized"),
    "tinct.ledger": ("Ledger", "Protection"),
    "tinct.mechanism": ("Mechanism", "Verdict", "verify"),
    "tinct.privacy": ("GaussianDP", "Neighbors", "Privacy", "TradeOff"),
    "tinct.questions": (
        "count",
        "exists",
        "histogram",
        "majority",
        "margin",
        "median",
        "mode",
        "quantile",
        "share",
        "threshold",
        "together",
        "top",
    ),
    "tinct.sources": ("Description", "describe"),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}
_ROOMS = ("baselines", "exact", "graphs", "interop", "local", "rainbow")

__all__ = [
    "Answer",
    "BudgetExceeded",
    "DatasetGraph",
    "Description",
    "EdgePrivacy",
    "FileError",
    "GaussianDP",
    "GraphLike",
    "Ledger",
    "Mechanism",
    "Morphism",
    "Neighbors",
    "NoOptimum",
    "NotAnswered",
    "NotExtendable",
    "NotPrivate",
    "ParameterError",
    "Privacy",
    "PrivacyLike",
    "Protection",
    "TinctError",
    "TradeOff",
    "Verdict",
    "ask",
    "balanced",
    "baselines",
    "count",
    "describe",
    "exact",
    "exists",
    "extend",
    "frontier",
    "graphs",
    "histogram",
    "homogeneous",
    "improve",
    "interop",
    "local",
    "majority",
    "margin",
    "median",
    "mode",
    "personalized",
    "quantile",
    "rainbow",
    "share",
    "threshold",
    "together",
    "top",
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
