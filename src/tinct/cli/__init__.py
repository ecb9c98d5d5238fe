"""The ``tinct`` command: parse, call, print. No mathematics; heavy imports wait until a command runs."""
