"""A local mechanism as a document: what it is, in plain values.

The document says how the mechanism works (cells, sizes, chances) rather than listing rounded probabilities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.privacy.amounts import fraction_text

if TYPE_CHECKING:
    from tinct.local.mechanism import LocalMechanism

SCHEMA = "tinct/local@1"


def document(mechanism: LocalMechanism) -> dict[str, Any]:
    """The mechanism as values that JSON can hold."""
    certificate = mechanism.certificate
    return {
        "schema": SCHEMA,
        "name": mechanism.name,
        "epsilon": str(mechanism.budget.exact),
        "delta": fraction_text(mechanism.exact_delta),
        "symbols": [str(symbol) for symbol in mechanism.symbols],
        "channel": mechanism.channel.describe(),
        "utility": mechanism.utility if mechanism.utility is None or isinstance(mechanism.utility, str) else "own",
        "value": mechanism.value,
        "upper_bound": None if certificate is None else certificate.upper_bound,
        "certificate": None if certificate is None else certificate.method,
        "note": mechanism.note,
    }
