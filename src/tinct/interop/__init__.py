"""tinct's mechanisms in the words of other libraries: OpenDP, dp_accounting, pandas, Polars and Arrow.

None of them is imported before it is needed. Graphs go to and from NetworkX and SciPy by ``DatasetGraph`` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinct.interop.for_dp_accounting import DominatingPair, dominating_pair, privacy_event, privacy_loss
    from tinct.interop.for_frames import from_frame, to_frame
    from tinct.interop.for_opendp import measurement, question_measurement

_HOME = {
    "DominatingPair": "for_dp_accounting",
    "dominating_pair": "for_dp_accounting",
    "from_frame": "for_frames",
    "measurement": "for_opendp",
    "privacy_event": "for_dp_accounting",
    "privacy_loss": "for_dp_accounting",
    "question_measurement": "for_opendp",
    "to_frame": "for_frames",
}

__all__ = [
    "DominatingPair",
    "dominating_pair",
    "from_frame",
    "measurement",
    "privacy_event",
    "privacy_loss",
    "question_measurement",
    "to_frame",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tinct.interop' has no attribute {name!r}")
    value = getattr(import_module(f"tinct.interop.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
