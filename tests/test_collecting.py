"""Collecting and analysing local reports: exact units, honest estimates, tests, files, and clients elsewhere."""

from __future__ import annotations

import io
import json
import math
import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tinct import ParameterError, local
from tinct.errors import FileError, NotPrivate
from tinct.exact.proof import at_most_exp
from tinct.local._estimate import estimate_from, project
from tinct.local.answers_and_reports import codes_of
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanism_files import read_mechanism, write_mechanism
from tinct.local.mechanisms.hadamard_response import HadamardRandomiser
from tinct.local.mechanisms.local_hashing import HashRandomiser
from tinct.local.mechanisms.randomized_response import CellRandomiser
from tinct.local.mechanisms.subset_selection import SubsetRandomiser
from tinct.local.mechanisms.unary_encoding import UnaryRandomiser
from tinct.local.mechanisms.written_out_table import TableRandomiser

P0, P1 = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
NODE = shutil.which("node")
SURVEYS = 2000 if os.environ.get("TINCT_EVIDENCE") else 500

MECHANISMS = {
    "randomized response": local.randomized_response(5, "ln 3"),
    "optimal": local.optimal(P0, P1, 1),
    "binary": local.binary(P0, P1, "0.3"),
    "subset selection": local.subset_selection(6, 1, size=2),
    "unary encoding": local.unary_encoding(4, 2),
    "local hashing": local.local_hashing(6, 1),
    "Hadamard response": local.hadamard_response(5, 1),
    "geometric": local.geometric(4, 1),
    "quaternary": local.quaternary(1, "0.05"),
    "mutual information": local.mutual_information([0.5, 0.2, 0.2, 0.1], 1),
    "huge budget": local.randomized_response(4, 700),
    "tiny budget": local.randomized_response(4, "1e-6"),
}


def uniform(seed):
    """A seeded stand-in for entropy."""
    return np.random.default_rng(seed).bytes


# every matrix is private with no tolerance


@pytest.mark.parametrize("name", MECHANISMS)
def test_units_are_private_by_the_definition(name):
    """Enumerated probabilities of small randomisers: every output's ratio is at most R, and R is at most e^ε."""
    mechanism = MECHANISMS[name]
    randomiser = mechanism.randomiser
    assert at_most_exp(randomiser.growth, randomiser.epsilon)
    table = _enumerated(randomiser)
    allowed = Fraction(getattr(randomiser, "allowed", 0), randomiser.total)
    for row, other in product(table, repeat=2):
        assert sum(row.values()) == 1
        excess = sum(max(Fraction(0), p - randomiser.growth * other.get(y, Fraction(0))) for y, p in row.items())
        assert excess <= allowed


def _enumerated(randomiser):
    """For each symbol the exact distribution of reports, written out from the units by the definition."""
    k, total = randomiser.size, randomiser.total
    if isinstance(randomiser, TableRandomiser):
        return [{y: Fraction(n, total) for y, n in enumerate(row)} for row in randomiser.units.tolist()]
    if isinstance(randomiser, CellRandomiser):
        units = (randomiser.other, randomiser.own)
        cells = randomiser.cell_of.tolist()
        return [{y: Fraction(units[y == cell], total) for y in range(randomiser.count)} for cell in cells]
    if isinstance(randomiser, HadamardRandomiser):
        half = Fraction(2, randomiser.order)
        plus = Fraction(randomiser.plus, total)
        signs = [[(x + 1 & y).bit_count() % 2 for y in range(randomiser.order)] for x in range(k)]
        return [{y: half * (1 - plus if odd else plus) for y, odd in enumerate(row)} for row in signs]
    if isinstance(randomiser, UnaryRandomiser):
        chance = (Fraction(randomiser.other, total), Fraction(1, 2))
        return [
            {
                bits: math.prod(chance[at == x] if bit else 1 - chance[at == x] for at, bit in enumerate(bits))
                for bits in product((0, 1), repeat=k)
            }
            for x in range(k)
        ]
    if isinstance(randomiser, HashRandomiser):
        p, g = randomiser.prime, randomiser.buckets
        hashes = [(a, b) for a in range(1, p) for b in range(p)]
        units = (Fraction(randomiser.other, total), Fraction(randomiser.own, total))
        return [
            {(a, b, y): units[(a * x + b) % p % g == y] / len(hashes) for a, b in hashes for y in range(g)}
            for x in range(k)
        ]
    assert isinstance(randomiser, SubsetRandomiser)
    from itertools import combinations

    d, inside = randomiser.members, Fraction(randomiser.inside, total)
    return [
        {
            s: inside / math.comb(k - 1, d - 1) if x in s else (1 - inside) / math.comb(k - 1, d)
            for s in combinations(range(k), d)
        }
        for x in range(k)
    ]


@pytest.mark.parametrize("name", MECHANISMS)
def test_draws_follow_the_enumerated_distribution(name):
    """20,000 seeded reports of each symbol: every frequent output within 5.5 standard deviations.

    With at most some thousand comparisons in all a false alarm has probability below 10^−4, and the seed is fixed.
    """
    randomiser = MECHANISMS[name].randomiser
    for symbol, row in enumerate(_enumerated(randomiser)):
        drawn = randomiser.draw(np.full(20_000, symbol), uniform(symbol)).tolist()
        keys = [tuple(map(int, report)) if isinstance(report, list) else report for report in drawn]
        seen = Counter(keys)
        assert set(seen) <= {y for y, p in row.items() if p}
        for y, p in row.items():
            expected = 20_000 * float(p)
            if expected > 30:
                assert abs(seen[y] - expected) < 5.5 * math.sqrt(expected), (symbol, y)


@pytest.mark.parametrize("name", ["randomized response", "subset selection", "unary encoding", "Hadamard response"])
def test_one_unit_too_many_is_refused(name):
    """The units are the most that the ratio allows: one more and the proof fails."""
    randomiser = MECHANISMS[name].randomiser
    changed = {
        CellRandomiser: lambda r: {"own": r.own + r.count - 1, "other": r.other - 1},
        SubsetRandomiser: lambda r: {"inside": r.inside + 1},
        UnaryRandomiser: lambda r: {"other": r.other - 1},
        HadamardRandomiser: lambda r: {"plus": r.plus + 1},
    }[type(randomiser)](randomiser)
    with pytest.raises(NotPrivate):
        replace(randomiser, **changed).prove()


def test_delta_is_kept_exactly():
    """The truth is revealed with at most δ, not with the float next to it."""
    for thousandths in range(1, 1000, 7):
        delta = Fraction(thousandths, 1000)
        randomiser = local.quaternary(1, str(delta)).randomiser
        assert Fraction(randomiser.allowed, randomiser.total) <= delta


def test_support_chances_are_exact():
    """The probabilities (own, other) are those of the enumerated reports."""
    supports = {
        "randomized response": lambda x, y: x == y,
        "subset selection": lambda x, y: x in y,
        "unary encoding": lambda x, y: y[x] == 1,
        "Hadamard response": lambda x, y: (x + 1 & y).bit_count() % 2 == 0,
    }
    for name, holds in supports.items():
        randomiser = MECHANISMS[name].randomiser
        table = _enumerated(randomiser)
        for x, other in product(range(randomiser.size), repeat=2):
            share = sum(p for y, p in table[x].items() if holds(other, y))
            assert share == randomiser.chances[x != other], name


# values and labels


def test_columns_of_every_kind_give_the_same_codes():
    """NumPy, lists, pandas, Polars, Arrow, categories."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    symbols, values, codes = ("a", "b", "c"), ["c", "a", "b", "a"], [2, 0, 1, 0]
    columns = [
        values, np.array(values), np.array(values, object), pd.Series(values), pd.Series(values, dtype="category"),
        pl.Series(values), pl.Series(values, dtype=pl.Categorical), pa.array(values), pa.chunked_array([values]),
        pa.array(values).dictionary_encode(),
    ]  # fmt: skip
    for column in columns:
        assert codes_of(symbols, column).tolist() == codes
    assert codes_of((0, 1, 2), np.array([2, 0], np.uint8)).tolist() == [2, 0]


@pytest.mark.parametrize("values", [["a", "CANARY"], [None], np.array([["a"]]), [["a"]], [float("nan")]])
def test_unknown_values_are_refused_without_naming_them(values):
    """An error counts them and says where the first is."""
    with pytest.raises(ParameterError) as caught:
        local.randomized_response(2, 1, symbols=["a", "b"]).privatize(values)
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("symbols", [None, ["a", "b", "c"], [1.5, 2.5, 3.5], ["a", 1, 2.5], [(1, 2), "b", 2**70]])
def test_arrow_cells_that_cannot_be_read_like_the_symbols_are_unknown(symbols):
    """Arrow's own errors quote a cell; whatever the types, unknown cells are refused without a word, or stand in."""
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    mechanism = local.randomized_response(3, 1, symbols=symbols)
    first = mechanism.symbols[0]
    strange = [["CANARY"], [b"CANARY\xff"], [["CANARY"]], [0.123456], [2**62], ["CANARY", None]]
    for column in [*map(pa.array, strange), pa.chunked_array([["CANARY"]]), pl.Series(["CANARY"])]:
        with pytest.raises(ParameterError) as caught:
            mechanism.privatize(column)
        for error in (caught.value, caught.value.__context__):
            assert not any(secret in str(error) for secret in ("CANARY", "0.123456", str(2**62)))
        assert codes_of(mechanism.symbols, column, missing=first).tolist() == [0] * len(column)


def test_blank_and_strange_cells_of_frames_and_arrays_are_unknown():
    """A list in a cell of pandas is no error of pandas, and what lies under the mask of an array is not read."""
    pd = pytest.importorskip("pandas")
    assert codes_of(("a", "b"), pd.Series([["b"], "b", {}, None]), missing="a").tolist() == [0, 1, 0, 0]
    masked = np.ma.masked_array([1, 2, 1], [True, False, False])
    assert codes_of((0, 1, 2), masked, missing=0).tolist() == [0, 2, 1]
    assert codes_of(("a", "b"), np.ma.masked_array(["b", "b"], [True, False]), missing="a").tolist() == [0, 1]
    with pytest.raises(ParameterError, match="position 0"):
        local.randomized_response(3, 1).privatize(masked)


def test_arrow_cells_are_read_like_the_symbols():
    """The text 1 is the symbol 1, also beside a cell that is no number."""
    pa = pytest.importorskip("pyarrow")
    assert codes_of((0, 1, 2), pa.array(["1", "x", None, "2"]), missing=0).tolist() == [1, 0, 0, 2]
    assert codes_of(("0", "1"), pa.array([1, 0])).tolist() == [1, 0]
    assert codes_of(("a", 7), pa.array(["a", "7"]), missing="a").tolist() == [0, 0]


# estimates


@pytest.mark.parametrize("build", [local.subset_selection, local.unary_encoding, local.local_hashing])
def test_reports_that_tell_nothing_are_not_estimated_from(build):
    """An ε below the grid's resolution leaves reports that do not depend on the answer: private, and of no use."""
    mechanism = build(4, "1e-25")
    reports = mechanism.privatize([0, 1, 2])
    with pytest.raises(ParameterError, match="tell nothing"):
        mechanism.estimate(reports)


@pytest.mark.parametrize("name", ["randomized response", "subset selection", "unary encoding", "geometric"])
def test_intervals_cover_all_frequencies_at_once(name):
    """Simulated surveys of 400 people: all intervals hold in at least 95 %, less 3 standard deviations (500: 92 %)."""
    mechanism = MECHANISMS[name]
    rng = np.random.default_rng(5)
    frequencies = rng.dirichlet(np.ones(len(mechanism.symbols)))
    covered = 0
    for survey in range(SURVEYS):
        reports = mechanism.randomiser.draw(rng.choice(len(frequencies), 400, p=frequencies), uniform(survey))
        found = mechanism.estimate(reports)
        covered += bool(((found.low <= frequencies) & (frequencies <= found.high)).all())
    assert covered >= SURVEYS * 0.95 - 3 * math.sqrt(SURVEYS * 0.95 * 0.05)


@pytest.mark.parametrize("name", ["randomized response", "subset selection", "local hashing", "quaternary"])
def test_estimates_are_unbiased_and_their_deviation_is_right(name):
    """The mean over 300 surveys is within 5 standard errors; the spread is the stated one to 20 %."""
    mechanism = MECHANISMS[name]
    rng = np.random.default_rng(6)
    frequencies = rng.dirichlet(np.full(len(mechanism.symbols), 5.0))
    found = []
    for survey in range(300):
        reports = mechanism.randomiser.draw(rng.choice(len(frequencies), 500, p=frequencies), uniform(survey))
        found.append(mechanism.estimate(reports))
    estimates = np.array([one.frequencies for one in found])
    spread = estimates.std(axis=0, ddof=1)
    assert (np.abs(estimates.mean(axis=0) - frequencies) < 5 * spread / math.sqrt(300)).all()
    np.testing.assert_allclose(spread, np.mean([one.deviations for one in found], axis=0), rtol=0.2)


def test_likelihood_is_maximal():
    """No other distribution tried makes the outputs likelier; where the unbiased estimate is one, it is that."""
    mechanism = MECHANISMS["geometric"]
    seen = np.array([40, 30, 20, 60])
    found = estimate_from(mechanism, seen, 150)
    matrix = mechanism.randomiser.units / mechanism.randomiser.total
    best = seen @ np.log(found.likeliest @ matrix)
    for other in np.random.default_rng(1).dirichlet(np.ones(4), 2000):
        assert seen @ np.log(other @ matrix) <= best + 1e-9
    plain = estimate_from(MECHANISMS["randomized response"], np.array([280, 220, 180, 160, 160]), 1000)
    assert plain.likeliest == pytest.approx(plain.frequencies, abs=1e-6)
    assert plain.frequencies == pytest.approx(project(plain.frequencies), abs=1e-12)
    assert plain.covariance.diagonal() == pytest.approx(plain.deviations**2, rel=1e-9)


def test_rank_deficient_mechanisms_are_refused_by_name():
    """Two cells cannot tell four symbols apart; the error says what can."""
    with pytest.raises(ParameterError, match=r"local\.randomized_response\(4"):
        MECHANISMS["binary"].estimate([0, 1, 0])


def test_sample_sizes_are_enough():
    """With so many reports the half-widths are as asked (at the middle, where they are widest)."""
    for name in ("randomized response", "unary encoding"):
        mechanism = MECHANISMS[name]
        people = mechanism.sample_size(0.05)
        for share in (0.2, 0.5):
            seen = np.full(len(mechanism.symbols), round(people * share))
            found = estimate_from(mechanism, seen, people)
            assert ((found.high - found.low) / 2).max() <= 0.0505


# tests of hypotheses


def test_p_values_are_exact_for_two_outputs():
    """The binomial tail, summed here in rationals."""
    mechanism = local.binary(P0, P1, "ln 3")
    chance = Fraction(mechanism.channel.push(np.array(P0))[0])  # output 0 speaks for P1
    people, seen = 40, 25
    result = mechanism.test(np.array([0] * seen + [1] * (people - seen)))
    tail = sum(math.comb(people, s) * chance**s * (1 - chance) ** (people - s) for s in range(seen, people + 1))
    assert result.exact
    assert result.p_value == pytest.approx(float(tail), rel=1e-9)
    assert result.favours == "p1"


def test_p_values_are_uniform_or_larger_under_the_null():
    """Three outputs, 300 simulated surveys under P0: at most 5 % + 3 standard deviations have p ≤ 0.05."""
    mechanism = local.optimal([0.5, 0.3, 0.2], [0.1, 0.3, 0.6], 4)
    assert mechanism.channel.outputs == 3
    rng = np.random.default_rng(9)
    for people, exact in ((30, True), (2000, False)):
        low = 0
        for survey in range(300):
            reports = mechanism.randomiser.draw(rng.choice(3, people, p=[0.5, 0.3, 0.2]), uniform(survey))
            result = mechanism.test(reports)
            assert result.exact == exact
            low += result.p_value <= 0.05
        assert low <= 300 * 0.05 + 3 * math.sqrt(300 * 0.05 * 0.95)


@pytest.mark.parametrize("reports", [[], [0, 9], [[0, 1]], [0.5], ["0"], [-1]])
def test_bad_reports_are_refused(reports):
    """Neither estimates nor tests take what the mechanism cannot have said."""
    for mechanism in (MECHANISMS["randomized response"], MECHANISMS["geometric"]):
        with pytest.raises(ParameterError):
            mechanism.estimate(np.array(reports))
    with pytest.raises(ParameterError):
        MECHANISMS["optimal"].test(np.array(reports))


def test_reports_of_one_member_are_a_column():
    """A file has no rows of one number; the column says the same, and one number too few is still refused."""
    mechanism = local.subset_selection(4, 1, size=1)
    reports = mechanism.randomiser.draw(np.arange(400) % 4, uniform(1))
    assert reports.shape == (400, 1)
    there, here = mechanism.estimate(reports), mechanism.estimate(reports[:, 0])
    np.testing.assert_array_equal(there.frequencies, here.frequencies)
    with pytest.raises(ParameterError, match="2 for each person"):
        MECHANISMS["subset selection"].estimate(reports[:, 0])


# files and clients


@pytest.mark.parametrize("name", MECHANISMS)
def test_files_carry_the_very_units(tmp_path, name):
    """What is read draws the same reports from the same bytes."""
    mechanism, path = MECHANISMS[name], tmp_path / "m.json"
    mechanism.to_json(path)
    back = LocalMechanism.from_json(path)
    codes = np.arange(300) % len(mechanism.symbols)
    drawn = [one.randomiser.draw(codes, uniform(3)) for one in (mechanism, back)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (back.symbols, back.epsilon, back.name) == (mechanism.symbols, mechanism.epsilon, mechanism.name)


def test_edited_files_are_refused(tmp_path):
    """Every number that matters, changed by one or to nonsense; nothing is believed."""
    path = tmp_path / "m.json"
    write_mechanism(MECHANISMS["randomized response"], path)
    text = path.read_text()
    fields = json.loads(text)
    own = int(fields["randomiser"]["own"])
    edits = [
        lambda f: f.update(p0=[1, 0, 0, 0, 0], p1=None),
        lambda f: (f.update(p0=[1, 0, 0, 0, 0]), f.pop("p1")),
        lambda f: f.update(utility={"kl": 1}),
        lambda f: f["randomiser"].update(own=str(own + 1)),
        lambda f: f["randomiser"].update(own=str(own + 4), other=str(int(f["randomiser"]["other"]) - 1)),
        lambda f: f["randomiser"].update(own=own),
        lambda f: f["randomiser"].update(denominator="0"),
        lambda f: f["randomiser"].update(cells=6),
        lambda f: f["randomiser"].update(kind="dice"),
        lambda f: f["randomiser"].update(verified=True),
        lambda f: f["randomiser"].update(cell_of=[0, 1, 2, 3, 9]),
        lambda f: f.update(growth="4"),
        lambda f: f.update(growth="3/0"),
        lambda f: f.update(epsilon="ln 2"),
        lambda f: f.update(epsilon=math.e),
        lambda f: f.update(symbols=["a"]),
        lambda f: f.update(delta="2"),
        lambda f: f.update(delta=0),
        lambda f: f.update(trusted=True),
        lambda f: f.pop("randomiser"),
    ]
    for edit in edits:
        changed = json.loads(text)
        edit(changed)
        path.write_text(json.dumps(changed))
        with pytest.raises(FileError):
            read_mechanism(path)


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_the_javascript_of_the_documentation_runs(tmp_path):
    """docs/client.md shows a page and a module; here the page has a server that does nothing but listen."""
    root = Path(__file__).parent.parent
    text = (root / "docs" / "client.md").read_text(encoding="utf-8")
    page, module = (text.partition(f"```{language}\n")[2].partition("```")[0] for language in ("html", "js"))
    (inline,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    for name in ("tinct.js", "package.json"):
        shutil.copy(root / "clients" / "javascript" / name, tmp_path)
    made = local.randomized_response(2, 1, symbols=["yes", "no"])
    made.to_json(tmp_path / "mechanism.json")
    (tmp_path / "module.mjs").write_text(module, encoding="utf-8")
    server = """import { readFileSync } from "fs";
        const fetch = (address, sent) => sent
          ? console.log(address, sent.body)
          : Promise.resolve({ text: () => readFileSync(address, "utf8") });\n"""
    (tmp_path / "page.mjs").write_text(server + inline, encoding="utf-8")
    envelope = rf'{{"version":1,"mechanism":"{made.id}","report":[01]}}\n'
    for script, said in (("module.mjs", "[01]\n"), ("page.mjs", f"/reports {envelope}")):
        run = subprocess.run([NODE, script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert re.fullmatch(said, run.stdout), run.stderr


CLIENT = {
    **{name: MECHANISMS[name] for name in ("randomized response", "optimal", "geometric", "quaternary", "huge budget")},
    **{name: MECHANISMS[name] for name in ("unary encoding", "local hashing", "Hadamard response")},
    **{f"subsets of {size}": local.subset_selection(7, 1, size=size) for size in (1, 2, 3, 6)},
    "subsets of 1 of 2": local.subset_selection(2, "1/2", size=1),
}


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
@pytest.mark.parametrize("name", CLIENT)
def test_the_javascript_client_agrees(tmp_path, name):
    """The same bytes give the same reports in JavaScript, which takes only the first ones of every eight."""
    mechanism = CLIENT[name]
    write_mechanism(mechanism, tmp_path / "m.json")
    vectors = []
    for at in range(200):
        stream = np.random.default_rng(at).bytes(8 * 64)
        code = at % len(mechanism.symbols)
        report = mechanism.randomiser.draw(np.array([code]), io.BytesIO(stream).read)[0].tolist()
        vectors.append({"symbol": mechanism.symbols[code], "bytes": list(stream), "report": report})
    (tmp_path / "vectors.json").write_text(json.dumps(vectors))
    client = Path(__file__).parent.parent / "clients" / "javascript" / "tinct.js"
    script = f"""
      import {{ createRequire }} from "module";
      import {{ privatize }} from {json.dumps(str(client))};
      const require = createRequire("/");
      const mechanism = require({json.dumps(str(tmp_path / "m.json"))});
      const vectors = require({json.dumps(str(tmp_path / "vectors.json"))});
      for (const v of vectors) {{
        const read = (size) => Uint8Array.from(v.bytes.splice(0, 8).slice(0, size));
        const got = JSON.stringify(privatize(mechanism, v.symbol, read));
        if (got !== JSON.stringify(v.report)) throw new Error(`got ${{got}}, expected ${{v.report}}`);
      }}
      const secure = privatize(mechanism, vectors[0].symbol);
      if (![secure].flat().every((part) => Number.isInteger(Number(part)))) throw new Error("no secure draw");
      let refused = false;
      try {{ privatize(mechanism, "nobody"); }} catch {{ refused = true; }}
      if (!refused) throw new Error("an unknown symbol was taken");
    """
    line = [NODE, "--input-type=module", "-e", script]
    run = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
