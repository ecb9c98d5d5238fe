"""For scripts: answers as tables in files, errors as objects, and a ledger that the environment names."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from tinct import FileError, Ledger, ask
from tinct.asking import plan

QUESTION = "majority(a)"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wards = ["N", "=1+1", "1010"]
    pd.DataFrame({"a": ["yes"] * 300, "plz": [1010] * 300, "ward": wards * 100}).to_csv("d.csv", index=False)
    return tmp_path


def tinct(*words, status=0, **environment):
    line = [sys.executable, "-m", "tinct", *map(str, words)]
    done = subprocess.run(
        line, capture_output=True, text=True, encoding="utf-8", check=False, env={**os.environ, **environment}
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_answers_for_groups_are_written_as_a_table(folder, suffix):
    """The table holds what was printed; cells that a spreadsheet would run are escaped where one would run them."""
    done = tinct(
        "ask", "d.csv", QUESTION, "-e", 5, "--by", "ward", "--groups", "N,=1+1,none", "--json", "-o", f"out.{suffix}"
    )
    answers = json.loads(done.stdout)["answer"]
    if suffix == "parquet":
        table = pd.read_parquet("out.parquet")
    else:
        table = pd.read_csv(f"out.{suffix}", sep="\t" if suffix == "tsv" else ",")
        assert table["group"][1] == "'=1+1"
        table["group"] = table["group"].str.lstrip("'")
    assert dict(zip(table["group"], table["answer"], strict=True)) == answers


def test_numbers_stay_numbers_in_parquet(folder):
    """Whole ones are whole."""
    asked = ("ask", "d.csv", "mode(plz, categories=[1010, 1020])", "-e", 5, "--by", "ward", "--groups", "N")
    tinct(*asked, "-o", "out.parquet")
    table = pd.read_parquet("out.parquet")
    assert table["answer"].tolist() == [1010]
    assert str(table["answer"].dtype) == "int64"


def test_what_cannot_be_written_is_refused_before_the_charge(folder):
    """A wrong suffix, a missing folder, the data itself, an answer without groups, a plan."""
    Ledger("budget.db", epsilon=9)
    by = ("--by", "ward", "--groups", "N")
    refused = [(*by, "-o", "out.txt"), (*by, "-o", "no/out.csv"), (*by, "-o", "d.csv"), ("-o", "out.csv")]
    for more in (*refused, (*by, "--plan", "-o", "out.csv")):
        tinct("ask", "d.csv", QUESTION, "-e", 1, "--ledger", "budget.db", *more, status=2)
    assert Ledger("budget.db").history() == []
    assert sorted(path.name for path in folder.glob("*.*") if path.suffix in (".csv", ".txt")) == ["d.csv"]


def test_with_json_an_error_is_an_object(folder):
    """It says what kind it is and what it is about; nothing is on standard output."""
    done = tinct("ask", "d.csv", QUESTION, "-e", "x", "--json", status=2)
    said = json.loads(done.stderr)
    assert done.stdout == ""
    assert (said["schema"], said["error"], said["parameter"]) == ("tinct/error@1", "ParameterError", "epsilon")
    assert "--epsilon" in said["message"]
    Ledger("budget.db", epsilon=1)
    done = tinct("ask", "d.csv", QUESTION, "-e", 2, "--ledger", "budget.db", "--json", status=2)
    assert json.loads(done.stderr)["error"] == "BudgetExceeded"
    assert tinct("ask", "d.csv", QUESTION, "-e", "x", status=2).stderr.startswith("tinct: ")


def test_the_environment_can_name_the_ledger(folder):
    """TINCT_LEDGER stands for --ledger, which outranks it."""
    for name in ("one.db", "two.db"):
        Ledger(name, epsilon=1)
    tinct("ask", "d.csv", QUESTION, "-e", "0.5", TINCT_LEDGER="one.db")
    tinct("ask", "d.csv", QUESTION, "-e", "0.25", "--ledger", "two.db", TINCT_LEDGER="one.db")
    assert [str(Ledger(name).spent()) for name in ("one.db", "two.db")] == ["ε = 0.5", "ε = 0.25"]


def test_in_python_the_environment_can_name_the_ledger_too(folder, monkeypatch):
    """None does not mean that nothing is charged: whoever hands it on has not said. Empty is as good as not set."""
    rows = pd.DataFrame({"a": ["yes"] * 300})
    Ledger("one.db", epsilon=1)
    Ledger("two.db", epsilon=1)
    monkeypatch.setenv("TINCT_LEDGER", "one.db")
    assert ask(rows, QUESTION, "0.25").left == "ε = 0.75"
    assert ask(rows, QUESTION, "0.25", ledger=None, request="again").left == "ε = 0.5"
    assert ask(rows, QUESTION, "0.25", ledger="two.db").left == "ε = 0.75"
    assert plan(rows, QUESTION, epsilon="0.75").refused
    assert str(Ledger("one.db").spent()) == "ε = 0.5"
    monkeypatch.setenv("TINCT_LEDGER", "")
    assert ask(rows, QUESTION, "0.25").left is None
    monkeypatch.setenv("TINCT_LEDGER", "missing.db")
    with pytest.raises(FileError, match=r"missing\.db"):
        ask(rows, QUESTION, "0.25")
