"""The most common of k categories: the mechanisms behind ``mode`` (docs/theory.md §9a, docs/proofs/mode.md).

One person joins or leaves: permute-and-flip, which no private rule improves on. One person changes category: a table
on the margins to the top, by linear program or water-filling, certified in integers; where there is none,
permute-and-flip with half the budget.
"""

from tinct.questions.modes.mode_certificate import ModeCertificate
from tinct.questions.modes.mode_design import ModeMechanism, mode_mechanism
from tinct.questions.modes.mode_table import ModeTable
from tinct.questions.modes.permute_and_flip import PermuteAndFlip
from tinct.questions.modes.truths import Exponential

__all__ = [
    "Exponential",
    "ModeCertificate",
    "ModeMechanism",
    "ModeTable",
    "PermuteAndFlip",
    "mode_mechanism",
]
