"""Draw the figure of the README: the optimal mechanism beside what people would otherwise run."""

from pathlib import Path

from tinct import Privacy, balanced, graphs

HERE = Path(__file__).parent


def main() -> None:
    """Write docs/picture.png."""
    mechanism = balanced(graphs.line(12, 12, ("no", "yes")), Privacy("0.5", "0.01"))
    mechanism.plot(path=HERE / "picture.png")


if __name__ == "__main__":
    main()
