"""Kinds of local mechanisms, one file each: the channel, the randomiser, its fields in a file, what it is optimal for.

A new kind is a new file and a line here. ``binary`` is made of the first kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinct.local.mechanisms.hadamard_response import HadamardRandomiser
from tinct.local.mechanisms.local_hashing import HashRandomiser
from tinct.local.mechanisms.randomized_response import CellRandomiser
from tinct.local.mechanisms.reveal_or_cells import RevealRandomiser
from tinct.local.mechanisms.subset_selection import SubsetRandomiser
from tinct.local.mechanisms.unary_encoding import UnaryRandomiser
from tinct.local.mechanisms.written_out_table import TableRandomiser

if TYPE_CHECKING:
    from tinct.local.mechanisms.base import Randomiser

# by the kind that files state
KINDS: dict[str, type[Randomiser]] = {
    "cells": CellRandomiser,
    "table": TableRandomiser,
    "reveal": RevealRandomiser,
    "subset": SubsetRandomiser,
    "unary": UnaryRandomiser,
    "hash": HashRandomiser,
    "hadamard": HadamardRandomiser,
}
