"""tinct's mechanisms in the words of other libraries: OpenDP, dp_accounting, pandas, Polars and Arrow.

None of them is imported before it is needed. Graphs go to and from NetworkX and SciPy by ``DatasetGraph`` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinct.interop.dominating import DominatingPair, dominating_pair
    from tinct.interop.frames import from_frame, to_frame
    from tinct.interop.losses import privacy_event, privacy_loss
    from tinct.interop.measurements import measurement, question_measurement

_HOME = {
    "DominatingPair": "dominating",
    "dominating_pair": "dominating",
    "from_frame": "frames",
    "measurement": "measurements",
    "privacy_event": "losses",
    "privacy_loss": "losses",
    "question_measurement": "measurements",
    "to_frame": "frames",
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
