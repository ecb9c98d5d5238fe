"""Audits: what is released, counted and compared with what was certified; what is said, searched for secrets."""
