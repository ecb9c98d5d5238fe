"""Make council.csv: every way nine council members can vote, and what each of them is promised.

Three members are protected witnesses and are promised ε = 0.4; the others agreed to ε = 1.2. The chair's vote counts
twice. Two sets of votes are neighbours if one member votes differently. Run: python examples/council.py
"""

from pathlib import Path

from tinct import Privacy, graphs

MEMBERS = 9
PROTECTED = (2, 5, 7)
CHAIR = 0


def passes(votes: tuple[int, ...]) -> str:
    """Whether the motion passes: more than half of the ten votes, the chair having two."""
    return "passes" if 2 * (sum(votes) + votes[CHAIR]) > MEMBERS + 1 else "fails"


def main() -> None:
    """Write the graph with a budget for every edge."""
    council = graphs.hypercube(MEMBERS, passes)
    budgets = [Privacy("0.4" if member in PROTECTED else "1.2") for member in range(MEMBERS)]
    graphs.write(council, Path(__file__).with_name("council.csv"), graphs.personalized(council, budgets))


if __name__ == "__main__":
    main()
