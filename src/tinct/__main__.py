"""``tinct`` and ``python -m tinct``."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command; Ctrl-C while it is still loading ends it without a word."""
    try:
        from tinct.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
