"""How often an answer is right, by how far the truth is from changing: the public table of an answer as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.errors import ParameterError
from tinct.plots import style
from tinct.plots.canvas import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tinct._files import FilePath
    from tinct.asking.accuracy import Accuracy
    from tinct.asking.answers import Answer, Plan


def accuracy(
    answer: Answer | Plan | Accuracy,
    *,
    title: str | None = None,
    dark: bool = False,
    path: FilePath | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the least probability of a right answer against the margin, for tinct and what it is compared with.

    Args:
        answer: What ``ask`` returned, its plan, or the table of accuracies in it. None of them knows the margin of the
            data, and neither does the figure.
        title: A headline instead of the usual one.
        dark: Whether to draw on a dark background.
        path: Write the figure there (.png, .svg or .pdf).
        ax: Draw into these axes of a Matplotlib figure, with a legend, instead of on a figure of its own.

    Returns:
        The Matplotlib figure, which a notebook shows; or ``ax`` if it was given.
    """
    from tinct.asking.accuracy import Accuracy  # imported here: asking brings sources and the ledger along
    from tinct.asking.answers import Answer, Plan

    plan = answer.plan if isinstance(answer, Answer) else answer if isinstance(answer, Plan) else None
    table = plan.accuracy if plan is not None else answer
    if not isinstance(table, Accuracy):
        raise ParameterError(f"an Answer, a Plan or an Accuracy is needed, got {answer!r:.80}")
    if not table.margins or not table.right:
        raise ParameterError("the table of accuracies is empty: there is nothing to draw")
    margins = np.array(table.margins, np.float64)
    with drawing(dark=dark, path=path, ax=ax) as canvas:
        others = [name for name in canvas.theme.hues if name != "blue"]
        for number, (name, values) in reversed(list(enumerate(table.right.items()))):
            color = canvas.theme.hues["blue" if number == 0 else others[(number - 1) % len(others)]]
            canvas.curve(margins, np.array(values), style.clean(name, 40), color, marker="o")
        axes = canvas.axes[0]
        if margins.min() > 0 and margins.max() > 10 * margins.min():
            axes.set_xscale("log")
            axes.set_xticks(margins, [f"{margin:,.0f}" for margin in margins])
            axes.minorticks_off()
        axes.set_ylim(top=1.002)
        canvas.axis_names(style.clean(table.axes[0], 100), table.axes[1])
        note = f"{plan.question}: ε = {plan.epsilon}, δ = {plan.delta}" if plan is not None else ""
        canvas.headline(title or table.title, style.clean(note, 90))
    return canvas.drawn
