"""The Budget page: what a ledger has left, and who asked what. It is only read."""
