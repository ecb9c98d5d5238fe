"""Notions of privacy: what a neighbour's probability may be."""

from tinct.privacy.amounts import Amount
from tinct.privacy.differential import Privacy
from tinct.privacy.pairs import SuitablePair
from tinct.privacy.tradeoffs import GaussianDP, TradeOff

__all__ = ["Amount", "GaussianDP", "Privacy", "SuitablePair", "TradeOff"]
