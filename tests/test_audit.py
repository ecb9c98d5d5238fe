"""Audits in small: releases against their tables, dp_accounting as a second opinion, secrets that must not come out.

``python -m evidence audit accounting canary`` runs the same with millions of draws, a thousand tables and every error.
"""

from __future__ import annotations

import numpy as np
import pytest
from evidence import report, results
from evidence.audits import accounting, canary, releases
from evidence.audits.channels import distributions
from evidence.audits.forcing import CANARIES
from evidence.audits.statistics import FALSE_ALARM, fit
from scipy import stats

from tinct import ParameterError, local

DRAWS, SINGLE = 20_000, 400
TABLES = 20


# the test itself


def test_p_values_are_uniform_where_the_table_is_right():
    """2,000 correct rows: p-values fall below 0.01 and 0.1 as often as they should (6 standard deviations)."""
    rng = np.random.default_rng(1)
    chance = np.array([0.5, 0.3, 0.15, 0.05])
    least = np.array([fit([rng.multinomial(4000, chance)], [chance]).least for _ in range(2000)])
    for level in (0.01, 0.1, 0.5):
        assert abs((least < level).sum() - 2000 * level) < 6 * np.sqrt(2000 * level * (1 - level))


def test_g_test_agrees_with_scipy():
    """The statistic is the one that scipy calls the log-likelihood power divergence."""
    rng = np.random.default_rng(2)
    chance = rng.dirichlet(np.ones(6))
    seen = rng.multinomial(10_000, chance * 0.98 + 0.02 / 6)
    expected = stats.power_divergence(seen, chance * 10_000, lambda_="log-likelihood").pvalue
    assert fit([seen], [chance]).least == pytest.approx(float(expected), rel=1e-6)


def test_an_answer_that_cannot_be_is_never_forgiven():
    """One draw of an answer with probability 0 fails the audit, however many rows there are."""
    right = fit([np.array([1000, 0])], [np.array([1.0, 0.0])])
    wrong = fit([np.array([1000, 1])], [np.array([1.0, 0.0])])
    assert (right.passed, wrong.passed, wrong.impossible) == (True, False, 1)


def test_a_wrong_table_is_noticed():
    """The control, off by twelve standard deviations, fails; the threshold is shared among the rows."""
    fitted, error = releases.control(DRAWS)
    assert not fitted.passed
    assert 0 < error < 0.5
    assert fitted.threshold == FALSE_ALARM / fitted.rows


# releases


@pytest.mark.parametrize("path", releases.PATHS)
def test_releases_follow_their_tables(path):
    """Every path a release can take, row by row; a correct sampler fails with probability 10^−6 a path."""
    few = "one at a time" in path or "coin by coin" in path
    fitted = releases.PATHS[path](SINGLE if few else DRAWS)
    assert fitted.passed, fitted
    assert fitted.draws >= 0.9 * (SINGLE if few else DRAWS)


@pytest.mark.parametrize(
    "mechanism",
    [local.randomized_response(5, 1), local.subset_selection(6, 1, size=2), local.unary_encoding(4, 2),
     local.local_hashing(5, 1), local.hadamard_response(5, 1), local.geometric(4, 1)],
    ids=lambda mechanism: mechanism.name,
)  # fmt: skip
def test_described_channels_are_distributions_with_the_promised_ratio(mechanism):
    """Rows sum to 1, and no ratio between two symbols exceeds e^ε by more than rounding."""
    _, chances = distributions(mechanism.randomiser)
    used = chances[:, chances.max(axis=0) > 0]
    assert used.sum(axis=1) == pytest.approx(np.ones(len(used)), abs=1e-12)
    assert np.log(used.max(axis=0) / used.min(axis=0)).max() <= mechanism.epsilon * (1 + 1e-12)


# a second opinion


def test_least_epsilon_and_delta_lie_between_the_bounds_of_dp_accounting():
    """Profiles, least δ and least ε of random tables, both directions: within the rounding of losses to 10^−4."""
    found = accounting.compare(TABLES, seed=7)
    assert found["outside"] == 0
    assert found["comparisons"] == 14 * TABLES
    assert found["widest"] <= 2 * accounting.STEP


def test_a_wrong_epsilon_would_lie_outside(monkeypatch):
    """The bounds are tight enough to notice an ε or δ that is wrong by a thousandth."""
    right = accounting._verified
    monkeypatch.setattr(accounting, "_verified", lambda table: [1.001 * value + 1e-3 for value in right(table)])
    assert accounting.compare(5, seed=7)["outside"] > 50


# canaries


def test_no_canary_comes_out():
    """A twelfth of the errors that the evidence forces, all that is printed about answers, and the ledger's bytes."""
    scan = canary.scanned(every=12)
    assert scan.found == []
    assert (scan.silent, scan.undocumented) == ([], [])
    assert scan.errors >= 25
    assert scan.searched > 2 * scan.errors


def test_the_scan_finds_what_it_looks_for():
    """A canary in an error, in what hangs on to it, in a log record or in what is printed is found."""
    import logging

    def hidden():
        try:
            raise KeyError(CANARIES[0])
        except KeyError:
            raise ValueError("nothing to see") from None

    scan = canary.Scan()
    with canary._overheard(scan):
        canary._force(scan, "hidden", hidden)
        canary._force(scan, "printed", lambda: (print(CANARIES[1]), 1 / 0))
        logging.getLogger("somewhere").debug("it was %s", CANARIES[3])
        canary._force(scan, "no error", lambda: None)
    assert len(scan.found) >= 4
    assert scan.silent == ["no error"]
    assert len(scan.undocumented) == 2


def test_cells_of_several_values_are_a_documented_error():
    """A column of unequal cells is refused in our words, not in NumPy's."""
    with pytest.raises(ParameterError, match="one column"):
        local.randomized_response(2, 1).privatize([[0], 1])


# the report


def test_the_report_says_what_was_run_and_what_was_not(tmp_path, monkeypatch):
    """A part that was never run, one that failed and one that passed are told apart, with their numbers."""
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(report, "PAGE", tmp_path / "evidence.md")
    results.save("races", passed=True, tests={"passed": 1}, count="200 races of 8 processes")
    fit = {"draws": 9, "rows": 2, "p_values": [0.3, 0.8], "least": 0.3, "threshold": 5e-7, "passed": True}
    more = {"false_alarm": 1e-6, "control_error": 0.01, "control_noticed": True}
    results.save("audit", passed=True, paths={"one": fit}, **more)
    (tmp_path / "images").mkdir()
    results.save("canary", passed=False, errors=301, searched=999, found=["an error: canary"])
    report.write()
    rows = {
        line.split("`")[-2]: line for line in report.PAGE.read_text(encoding="utf-8").splitlines() if " | `" in line
    }
    assert "200 races of 8 processes | **passed**: 1 test passed" in rows["races"]
    assert "301 forced errors, 999 texts searched | **not passed**: 1 canaries found" in rows["canary"]
    assert "not run yet" in rows["crashes"]
    assert "9 draws on 1 paths, 2 rows" in rows["audit"]
    assert (tmp_path / "images" / "evidence-audit.svg").read_bytes().startswith(b"<?xml")
