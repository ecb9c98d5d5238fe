"""Draw the pictures of the pages into docs/images: small SVG by hand, numbers from the library.

Run ``python tools/make_images.py``. The same numbers give the same bytes. Every picture is drawn with names of colours
(``INK``, ``BLUE``, …) and written twice, with the light and the dark theme of all figures.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tinct import Privacy, balanced, exact, graphs, local
from tinct.local._estimate import estimate_from
from tinct.plots.style import DARK, LIGHT, Theme

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = DOCS / "images"
PAPER, INK, PALE, BLUE, RED, GREEN, PURPLE = "@paper", "@ink", "@pale", "@blue", "@red", "@green", "@purple"
_STYLE = f'font-family="system-ui, sans-serif" font-size="14" fill="{INK}"'


def _color(name: str, theme: Theme) -> str:
    others = {"paper": theme.background, "ink": theme.text, "pale": theme.line}
    return others.get(name) or theme.hues[name]


def _text(x: float, y: float, words: str, *, size: int = 14, anchor: str = "middle", color: str = INK) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{color}">{words}</text>'


def _box(x: float, y: float, width: float, height: float, color: str, *, round_by: float = 0) -> str:
    return f'<rect x="{x:g}" y="{y:.2f}" width="{width:g}" height="{height:.2f}" rx="{round_by:g}" fill="{color}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str = INK, *, dash: str = "", width: float = 1.5) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width:g}"{dashed}/>'


def _picture(name: str, title: str, width: int, height: int, parts: list[str]) -> None:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" {_STYLE}>'
    )
    text = "\n".join([head, f"<title>{title}</title>", _box(0, 0, width, height, PAPER), *parts, "</svg>"])
    for suffix, theme in (("", LIGHT), ("-dark", DARK)):
        colored = re.sub(r"@(\w+)", lambda found, theme=theme: _color(found[1], theme), text)
        (FOLDER / f"{name}{suffix}.svg").write_text(colored + "\n", encoding="utf-8")


def neighbours() -> None:
    """Nine voters: ten datasets in a row, the boundary, and how likely each answer is."""
    mechanism = balanced(graphs.majority(9), Privacy(1))
    parts = [_text(20, 28, "datasets: how many of 9 people say yes", anchor="start")]
    for votes in range(10):
        x, says_yes = 50 + 62 * votes, votes >= 5
        if votes < 9:
            parts.append(_line(x + 17, 62, x + 45, 62))
        color = BLUE if says_yes else RED
        parts += [f'<circle cx="{x}" cy="62" r="17" fill="{color}"/>', _text(x, 67, str(votes), color=PAPER)]
        yes = mechanism.probability(votes, "yes")
        parts += [_box(x - 12, 130, 24, 110 * (1 - yes), RED), _box(x - 12, 130 + 110 * (1 - yes), 24, 110 * yes, BLUE)]
        right = f"{max(yes, 1 - yes):.3f}"
        parts.append(_text(x, 258, right, size=12))
    parts += [_line(329, 36, 329, 100, INK, dash="4 4"), _text(329, 116, "boundary", size=12)]
    parts += [_text(20, 284, "how often the published answer is right (ε = 1)", anchor="start")]
    parts += [_box(430, 273, 12, 12, RED), _text(448, 284, "no", anchor="start")]
    parts += [_box(490, 273, 12, 12, BLUE), _text(508, 284, "yes", anchor="start")]
    _picture("neighbours", "Ten datasets in a row and how often each answer is given", 660, 300, parts)


def step() -> None:
    """The most that one step allows: U for two budgets."""
    parts = [_line(60, 260, 320, 260), _line(60, 260, 60, 0 + 20), _line(60, 260, 310, 20, PALE)]
    for privacy, color, label in ((Privacy(1), BLUE, "ε = 1"), (Privacy("0.3"), RED, "ε = 0.3")):
        points = " ".join(f"{60 + 2.5 * at:g},{260 - 240 * float(privacy.upper(at / 100)):.1f}" for at in range(101))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2.5"/>')
        parts.append(_text(345, 60 if color == BLUE else 100, label, anchor="start", color=color))
    parts += [
        _text(345, 140, "grey: the same", anchor="start", size=12),
        _text(345, 156, "probability", anchor="start", size=12),
    ]
    parts += [
        _text(190, 292, "probability of an answer at one dataset"),
        _text(60, 275, "0", size=12),
        _text(310, 275, "1", size=12),
    ]
    parts += [_text(66, 34, "1", size=12, anchor="start"), _text(190, 16, "the most it can be at a neighbour")]
    _picture("step", "How far a probability can move from one dataset to its neighbour", 460, 300, parts)


def units() -> None:
    """A row of a certificate with 32 units, and one draw."""
    row = exact.balanced(graphs.line(2, 2, ("no", "yes")), Privacy("ln 2"), bits=5).rows[0]
    parts = [_text(20, 28, "one row of the table: 32 units, counted, not rounded", anchor="start")]
    for unit in range(32):
        color = RED if unit < row[0] else BLUE
        parts += [
            _box(20 + 19 * unit, 44, 17, 34, color),
            _text(28.5 + 19 * unit, 66, str(unit), size=9, color=PAPER),
        ]
    parts += [
        _text(20 + 19 * 5, 100, f"no: {row[0]} units"),
        _text(20 + 19 * (row[0] + row[1] / 2), 100, f"yes: {row[1]} units"),
    ]
    parts += [
        _line(28.5 + 19 * 11, 136, 28.5 + 19 * 11, 82, width=2),
        _text(28.5 + 19 * 11, 152, "a uniform whole number: 11, so the answer is no"),
    ]
    _picture("units", "A row of whole units and a draw from it", 650, 170, parts)


def trust() -> None:
    """Where the chance comes in: after the file, or before it."""
    parts = []
    for top, title, noisy in ((20, "central: tinct ask, design, release", 1), (170, "local: tinct local", 0)):
        parts.append(_text(20, top + 10, title, anchor="start"))
        for person in range(3):
            y = top + 40 + 32 * person
            parts += [f'<circle cx="50" cy="{y}" r="11" fill="{INK}"/>', _line(64, y, 236, top + 72)]
            if not noisy:
                parts.append(_box(74, y - 11 + (top + 72 - y) * 0.16, 44, 22, BLUE, round_by=5))
                parts.append(_text(96, y + 4 + (top + 72 - y) * 0.16, "dice", size=11, color=PAPER))
        parts += [_box(236, top + 50, 110, 44, PALE, round_by=5), _text(291, top + 77, "the file")]
        parts.append(_line(346, top + 72, 560, top + 72))
        if noisy:
            parts += [
                _box(410, top + 60, 50, 24, BLUE, round_by=5),
                _text(435, top + 77, "dice", size=12, color=PAPER),
            ]
        parts.append(_text(566, top + 77, "published", anchor="start"))
    parts.append(_text(490, 124, "one draw for everybody: few people", size=12))
    parts.append(_text(490, 140, "are needed, but somebody holds the file", size=12))
    parts.append(_text(490, 274, "one draw for each person: nobody has", size=12))
    parts.append(_text(490, 290, "to be trusted, but many are needed", size=12))
    _picture("trust", "Central and local privacy", 650, 310, parts)


def cells() -> None:
    """Answers sorted by likelihood ratio and cut into cells, for three budgets."""
    p0 = {"foot": 0.1, "bike": 0.2, "bus": 0.3, "car": 0.4}
    p1 = {"foot": 0.4, "bike": 0.3, "bus": 0.2, "car": 0.1}
    parts = [_text(20, 28, "answers, sorted by how much likelier they are before than after", anchor="start")]
    for at, epsilon in enumerate((1, 2.7, 4)):
        y = 50 + 62 * at
        found = local.optimal(p0, p1, epsilon).cells or ()
        number_of = {symbol: number for number, cell in enumerate(found) for symbol in cell}
        parts.append(_text(20, y + 26, f"ε = {epsilon:g}", anchor="start"))
        for place, symbol in enumerate(p0):
            x, same = 100 + 118 * place, place and number_of[symbol] == number_of[list(p0)[place - 1]]
            parts.append(
                _box(
                    x - (10 if same else 0),
                    y,
                    108 + (10 if same else 0),
                    40,
                    (BLUE, RED, GREEN, PURPLE)[number_of[symbol]],
                )
            )
            parts.append(_text(x + 54, y + 26, symbol, color=PAPER))
        parts.append(_text(590, y + 26, f"{len(found)} cells", anchor="start"))
    _picture("cells", "Optimal cells at three budgets", 660, 245, parts)


def reports() -> None:
    """What reports of the survey's answers, in the expected numbers, and of 157 travellers say."""
    shares = {
        "travel time": 0.2,
        "cost": 0.18,
        "climate": 0.18,
        "noise": 0.12,
        "shops": 0.1,
        "other": 0.12,
        "none": 0.1,
    }
    survey = local.subset_selection(7, 1, symbols=shares)
    own, other = (float(chance) for chance in survey.randomiser.chances or (1, 0))
    seen = np.array([round(4000 * (other + share * (own - other))) for share in shares.values()])
    travel = local.optimal([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], 1)
    for found, name in ((estimate_from(survey, seen, 4000), "shares"), (travel.test([0] * 90 + [1] * 67), "test")):
        found.plot(path=FOLDER / f"{name}.svg")
        found.plot(path=FOLDER / f"{name}-dark.svg", dark=True)


def main() -> None:
    """Draw them all."""
    FOLDER.mkdir(exist_ok=True)
    neighbours()
    step()
    units()
    trust()
    cells()
    mechanism = balanced(graphs.line(12, 12, ("no", "yes")), Privacy("0.5", "0.01"))
    mechanism.plot(path=FOLDER / "errors.svg")
    mechanism.plot(path=FOLDER / "errors-dark.svg", dark=True)
    mechanism.plot(path=DOCS / "picture.png")  # of the README
    reports()


if __name__ == "__main__":
    main()
