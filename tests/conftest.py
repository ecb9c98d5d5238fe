"""How all tests run: Hypothesis draws the same examples every time and never fails for being slow."""

from hypothesis import settings

settings.register_profile("tinct", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("tinct")
