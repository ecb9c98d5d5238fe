"""Mechanisms for yes/no questions on dataset graphs: the fair optimum, and the optimum for given values."""

from tinct.binary._balanced import balanced
from tinct.binary._extend import extend, improve
from tinct.binary.equal_boundaries import Frontier, frontier, homogeneous
from tinct.binary.obstruction import Obstruction

__all__ = ["Frontier", "Obstruction", "balanced", "extend", "frontier", "homogeneous", "improve"]
