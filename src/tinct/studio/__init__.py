"""The studio: a local page on which mechanisms can be designed by hand. Needs the ``studio`` extra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.errors import ParameterError

if TYPE_CHECKING:
    from tinct.studio.serving import Studio

__all__ = ["open_studio"]


def open_studio(port: int = 0, ledger: Any = None) -> Studio:
    """A studio that listens on a port of this machine; ``serve()`` answers until interrupted.

    Args:
        port: The port, or 0 for any that is free.
        ledger: The path or address of a ledger to look at, if any; it is only read.
    """
    try:
        import dash  # noqa: F401 # to say early what is missing
        import dash_cytoscape  # noqa: F401
    except ImportError:
        raise ParameterError("the studio needs Dash: pip install 'tinct[studio]'") from None
    from tinct.studio.serving import Studio

    if ledger is not None:
        from tinct.ledger import Ledger

        Ledger(ledger)  # a ledger that cannot be opened is refused now, not on the page
    return Studio(port, None if ledger is None else str(ledger))
