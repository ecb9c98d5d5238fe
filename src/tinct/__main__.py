"""``python -m tinct``."""

from tinct.cli.main import run

if __name__ == "__main__":
    run()
