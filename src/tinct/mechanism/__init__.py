"""Mechanisms as tables: their files, and whether they are private."""

from tinct.mechanism._verify import Verdict, Witness, verify
from tinct.mechanism.claims import Claim
from tinct.mechanism.table import Mechanism, require_table

__all__ = ["Claim", "Mechanism", "Verdict", "Witness", "require_table", "verify"]
