"""The gallery: every figure of the five papers, computed again by the library. ``python -m gallery`` draws it."""
