"""Notions of privacy: what a neighbour's probability may be."""

from tinct.numbers.amounts import Amount
from tinct.privacy.differential import Privacy
from tinct.privacy.neighbors import Neighbors
from tinct.privacy.own_pairs import FunctionPair, TabulatedPair
from tinct.privacy.renyi import RenyiDP, ZeroConcentratedDP
from tinct.privacy.suitable_pairs import SuitablePair
from tinct.privacy.tradeoffs import GaussianDP, TradeOff

__all__ = [
    "Amount",
    "FunctionPair",
    "GaussianDP",
    "Neighbors",
    "Privacy",
    "RenyiDP",
    "SuitablePair",
    "TabulatedPair",
    "TradeOff",
    "ZeroConcentratedDP",
]
