"""The part ``audit``: millions of releases through every path, against the certified table of each.

Everything is drawn from the operating system's entropy, as a release is; so a correct sampler fails an audit with the
stated probability. A control with a slightly wrong table shows what the number of draws is able to notice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evidence import results
from evidence.audits.channels import distributions
from evidence.audits.statistics import FALSE_ALARM, Fit, fit
from tinct import Privacy, exact, graphs, local, rainbow
from tinct.asking.designs import design
from tinct.exact import sampler
from tinct.questions import Counts, count, majority, mode
from tinct.questions.noise import count_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tinct.exact import Certified

PART = "audit"
DRAWS = 10**7
_SLOWER = {"one at a time": 100, "coin by coin": 1000}  # than draws in bulk, so there are so many times fewer of them


def run(draws: int = DRAWS) -> dict[str, Any]:
    """Audit every path; ``draws`` for each path in bulk, fewer where one draw takes longer."""
    found: dict[str, Any] = {}
    for name, audit in PATHS.items():
        slower = next((times for words, times in _SLOWER.items() if words in name), 1)
        fitted = audit(draws // slower)
        found[name] = {
            "draws": fitted.draws,
            "rows": fitted.rows,
            "p_values": [float(f"{p:.3g}") for p in fitted.p_values],
            "least": fitted.least,
            "impossible": fitted.impossible,
            "threshold": fitted.threshold,
            "passed": fitted.passed,
        }
        print(f"{name:58} {fitted.draws:11,} draws, {fitted.rows:4} rows, least p = {fitted.least:.3g}")
    fitted, error = control(draws)
    print(f"control: a table that is off by {error:.2g} at 1/2 is {'accepted' if fitted.passed else 'noticed'}")
    passed = not fitted.passed and all(one["passed"] for one in found.values())
    return results.save(
        PART,
        passed=passed,
        false_alarm=FALSE_ALARM,
        control_noticed=not fitted.passed,
        control_error=error,
        paths=found,
    )


def sampled(certified: Certified, draws: int) -> Fit:
    """``Certified.sample`` on every vertex alike."""
    vertices = certified.vertices
    each = max(1, draws // len(vertices))
    numbered = isinstance(vertices, range)
    counts = []
    for vertex in vertices:
        answers = certified.sample(np.full(each, vertex) if numbered else [vertex] * each)
        counts.append(np.array([(answers == answer).sum() for answer in certified.outputs]))
    return fit(counts, list(certified.table()))


def released(certified: Certified, draws: int) -> Fit:
    """``Certified.release`` on every vertex alike."""
    each = max(1, draws // len(certified.vertices))
    place = {answer: at for at, answer in enumerate(certified.outputs)}
    counts = [
        np.bincount([place[certified.release(vertex)] for _ in range(each)], minlength=len(place))
        for vertex in certified.vertices
    ]
    return fit(counts, list(certified.table()))


def privatized(mechanism: local.LocalMechanism, draws: int) -> Fit:
    """``LocalMechanism.privatize`` on every symbol alike, against the distribution worked out from the units."""
    keys, chances = distributions(mechanism.randomiser)
    each = max(1, draws // len(mechanism.symbols))
    counts = [keys(mechanism.privatize([symbol] * each)) for symbol in mechanism.symbols]
    return fit([np.bincount(seen, minlength=len(chances[0])) for seen in counts], list(chances))


def control(draws: int) -> tuple[Fit, float]:
    """Releases against a table that is wrong by twelve standard deviations at 1/2, and by how much that is.

    This must not pass: it shows that the test is able to notice such an error with so many draws.
    """
    certified = exact.line(Privacy("ln 2"), bits=10)
    each = max(1, draws // len(certified.vertices))
    error = 6 / math.sqrt(each)
    tilted = certified.table() * np.array([1 + 4 * error, 1.0])
    seen = [certified.sample(np.full(each, vertex)) == certified.outputs[0] for vertex in certified.vertices]
    counts = [np.array([first.sum(), each - first.sum()]) for first in seen]
    return fit(counts, list(tilted / tilted.sum(axis=1, keepdims=True))), error


def _modes(neighbors: str, n: int | None, draws: int, epsilon: str = "1") -> Fit:
    """Answers to a mode question, for several histograms, against its weights."""
    made = design(mode("c", ["a", "b", "c"]), Privacy(epsilon), neighbors, n)
    histograms = [(4, 1, 1), (2, 2, 2), (3, 3, 0), (0, 1, 5)]
    weigh: Callable[[Any], Any] = getattr(made.mechanism, "probabilities", None) or made.mechanism.row  # type: ignore[attr-defined]
    counts, chances = [], []
    for histogram in histograms:
        weights = np.array([float(weight) for weight in weigh(histogram)])
        answers = [made.draw(Counts(6, histogram)) for _ in range(draws // len(histograms))]
        counts.append(np.array([answers.count(name) for name in "abc"]))
        chances.append(weights / weights.sum())
    return fit(counts, chances)


def _questions(draws: int) -> Fit:
    """Answers to a majority question, margin by margin, against the certified row of each margin."""
    made: Any = design(majority("c"), Privacy("0.5", "0.01"), "add-remove", None)
    margins = range(1, 9)
    each = max(1, draws // len(margins))
    counts, chances = [], []
    for margin in margins:
        answers = [made.draw(Counts(2 * margin, (margin, margin // 2))) for _ in range(each)]
        row = int(made.certified.positions([made.line.position(Counts(2 * margin, (margin, margin // 2)))])[0])
        counts.append(np.array([answers.count(name) for name in made.certified.outputs]))
        chances.append(made.certified.table()[row])
    return fit(counts, chances)


def _counts(delta: str, draws: int, *, bulk: bool) -> Fit:
    """Noisy counts, drawn as a release draws them, against the weights of their noise; far tails are pooled."""
    privacy = Privacy("0.5", delta)
    made: Any = design(count("c"), privacy, "add-remove", None)
    noise, true = made.noise, 3
    if bulk:
        answers = true + noise.draw_many(draws, sampler.below_many, sampler.below)
    else:
        answers = np.array([made.draw(Counts(5, (true, 2))) for _ in range(draws)])
    reach = 60 if noise.ends is None else noise.reach
    numbers = range(true - reach, true + reach + 1)
    beyond = np.array([1.0, *(noise.at_least(number - true) for number in numbers[1:]), 0.0])
    seen = np.bincount(np.clip(answers, numbers[0], numbers[-1]) - numbers[0], minlength=len(numbers))
    impossible = 0 if noise.ends is None else int((np.abs(answers - true) > reach).sum())
    found = fit([seen], [beyond[:-1] - beyond[1:]])
    return Fit(found.draws, found.p_values, found.impossible + impossible)


def _found_groups(draws: int) -> Fit:
    """How often groups of several sizes are shown, and with which number, against the weights."""
    noise: Any = count_noise(Privacy(1, "0.01"), selecting=True)
    first, weights = noise.first, np.array([weight / noise.total for weight in noise.weights])
    seen = noise.draw_many(draws, sampler.below_many, sampler.below) - first
    return fit([np.bincount(seen, minlength=len(weights))], [weights])


def _three_answers() -> Certified:
    graph = graphs.rankings(3, "abc")
    order = len(graph.outputs)
    flat = {c: _spread(c, graph.outputs, order) for c in graph.coloring.palette}
    return exact.certify(rainbow.extend(graph, Privacy(1), flat))


def _spread(order: Any, outputs: Any, width: int) -> NDArray[np.float64]:
    """Half of e^ε-ary randomized response: private between any two orders."""
    chance = np.full(width, 1.0 / (width - 1 + np.e))
    chance[list(outputs).index(order[0])] *= np.e
    return chance


_P0, _P1 = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]

PATHS: dict[str, Callable[[int], Fit]] = {
    "Certified.sample, line of 40, N = 2^62": lambda n: sampled(exact.balanced(graphs.line(20, 20), Privacy("0.3")), n),
    "Certified.sample, line of 40, N = 1,000 (rejection)": lambda n: sampled(
        exact.balanced(graphs.line(20, 20), Privacy("0.3"), total=1000), n
    ),
    "Certified.sample, three answers": lambda n: sampled(_three_answers(), n),
    "exact.line, ε = 1, δ = 0.01": lambda n: sampled(exact.line(Privacy(1, "0.01")), n),
    "exact.ray, ε = 0.5, δ = 0.01": lambda n: sampled(exact.ray(Privacy("0.5", "0.01")), n),
    "Certified.release, N = 1,000, one at a time": lambda n: released(
        exact.balanced(graphs.line(5, 5), Privacy("0.3"), total=1000), n
    ),
    "majority by margin, one at a time": _questions,
    "mode, n public, one at a time": lambda n: _modes("replace", 6, n),
    "mode, n public, by linear program": lambda n: _modes("replace", 6, n, "0.5"),
    "mode, n secret, coin by coin": lambda n: _modes("add-remove", None, n),
    "count with δ, in bulk": lambda n: _counts("1e-3", n, bulk=True),
    "count, geometric, in bulk": lambda n: _counts("0", n, bulk=True),
    "count with δ, one at a time": lambda n: _counts("1e-3", n, bulk=False),
    "count, geometric, coin by coin": lambda n: _counts("0", n, bulk=False),
    "count of groups that are found, in bulk": _found_groups,
    "privatize, randomized response": lambda n: privatized(local.randomized_response(5, "ln 3"), n),
    "privatize, optimal cells": lambda n: privatized(local.optimal(_P0, _P1, 1), n),
    "privatize, subset selection": lambda n: privatized(local.subset_selection(6, 1, size=2), n),
    "privatize, unary encoding": lambda n: privatized(local.unary_encoding(4, 2), n),
    "privatize, local hashing": lambda n: privatized(local.local_hashing(5, 1), n),
    "privatize, Hadamard response": lambda n: privatized(local.hadamard_response(5, 1), n),
    "privatize, geometric": lambda n: privatized(local.geometric(4, 1), n),
    "privatize, quaternary with δ": lambda n: privatized(local.quaternary(1, "0.05"), n),
}
