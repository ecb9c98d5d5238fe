"""Mechanisms as tables, and their files."""

from tinct.mechanism.table import Mechanism, require_table

__all__ = ["Mechanism", "require_table"]
