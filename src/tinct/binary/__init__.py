"""Optimal mechanisms for yes/no questions on dataset graphs."""

from tinct.binary.by_distance import Frontier, balanced, frontier, homogeneous
from tinct.binary.extension import extend
from tinct.binary.improvement import improve
from tinct.binary.obstruction import Obstruction

__all__ = ["Frontier", "Obstruction", "balanced", "extend", "frontier", "homogeneous", "improve"]
