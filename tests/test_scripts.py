"""For scripts: answers as tables in files, errors as objects, and a ledger that the environment names."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings

import pandas as pd
import pytest

from tinct import FileError, Ledger, ask
from tinct.asking import plan
from tinct.cli import main
from tinct.remarks import Remark

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


def test_answers_are_written_even_if_nobody_reads_what_is_printed(folder):
    """They are paid for."""
    line = [sys.executable, "-m", "tinct", "ask", "d.csv", QUESTION, "-e", "5", "--by", "ward", "--groups", "N"]
    reader, writer = os.pipe()
    os.close(reader)
    subprocess.run([*line, "-o", "out.csv"], stdout=writer, stderr=subprocess.DEVNULL, check=False)
    os.close(writer)
    assert (folder / "out.csv").read_text().splitlines() == ["group,answer", "N,yes"]


@pytest.mark.parametrize("by", [("--by", "ward,plz"), ("--by", "ward", "--by", "plz")])
def test_several_columns_name_groups_together(folder, by):
    """With commas or by repeating the option, for an answer and for the check of its owner alike."""
    done = tinct("ask", "d.csv", QUESTION, "-e", 5, *by, "--groups", "N,1010;N,1020", "--json")
    assert json.loads(done.stdout)["answer"].keys() == {"N,1010", "N,1020"}
    found = json.loads(tinct("check", "d.csv", QUESTION, *by, "--groups", "N,1010;N,1020", "--json", status=1).stdout)
    assert [each["column"] for each in found["cells"]] == ["a", "ward", "plz"]
    assert [(each["code"], each["value"]) for each in found["warnings"]] == [("no-such-cell", "1020")]


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


_WORDS = {  # what people read, or wrote themselves: nothing that a program would have to search for a fact
    "text", "meaning", "question", "record", "message", "notice", "margin", "neighbors", "note", "certificate",
}  # fmt: skip


def _sentences(value, place=""):
    """Every text of four words or more that is not in a field for people."""
    if isinstance(value, dict):
        return [found for name, part in value.items() if name not in _WORDS for found in _sentences(part, name)]
    if isinstance(value, list):
        return [found for part in value for found in _sentences(part, place)]
    return [(place, value)] if isinstance(value, str) and value.count(" ") >= 3 else []


_ASKED = ("ask", "d.csv", QUESTION, "-e", "0.25")
_IN_WARDS = ("--by", "ward", "-d", "1e-4")
_DESIGNED = ("design", "majority:5", "-e", 1, "-o", "m.json", "--certificate", "c.json")
_COMMANDS = {
    "an answer": _ASKED,
    "an answer with a ledger": (*_ASKED, "--ledger", "budget.db", "--request", "one"),
    "groups": (*_ASKED, *_IN_WARDS, "--unit", "plz"),
    "named groups": (*_ASKED, "--by", "ward", "--groups", "N,S", "--where", "plz == 1010", "--unit", "plz"),
    "a mode": ("ask", "d.csv", "mode(plz, categories=[1010, 1020])", "-e", 1),
    "exists": ("ask", "d.csv", "exists(plz == 1010)", "-e", 1, "-d", "1e-6"),
    "personal budgets": (
        *("ask", "d.csv", "threshold(a == 'yes', at_least=3)", "--epsilon-column", "plz", "--budgets", "1=3,2=4"),
        *("--neighbors", "replace"),
    ),
    "a plan": (*_ASKED, "--plan", "--ledger", "budget.db"),
    "a plan that would be refused": ("ask", "d.csv", QUESTION, "-e", 9, "--plan", "--ledger", "budget.db"),
    "a plan for large numbers": ("ask", "d.csv", QUESTION, "-e", 9, "-d", "0.01", "--plan"),
    "a design": _DESIGNED,
    "a design for orders": ("design", "votes:4,3", "-e", 1),
    "a Gaussian design": ("design", "majority:5", "--mu", 1),
    "a verdict": ("verify", "m.json"),
    "a proof": ("verify", "c.json", "--exact"),
    "a release": ("release", "c.json", "--at", "3", "--ledger", "budget.db"),
    "a budget": ("budget", "show", "budget.db"),
    "a history": ("budget", "history", "budget.db"),
}


def test_json_has_facts_as_fields(folder, capsys, monkeypatch):
    """No command makes a program read a sentence: facts are fields, and each remark says by a code which one it is."""
    Ledger("budget.db", epsilon=3)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command sets its own
    for name, words in _COMMANDS.items():  # in this process, which is quicker
        monkeypatch.setattr(sys, "argv", ["tinct", *map(str, words), "--json"])
        with pytest.raises(SystemExit) as ended:
            main.run()
        assert ended.value.code == 0, name
        said = json.loads(capsys.readouterr().out)
        assert _sentences(said) == [], name
        for remark in said.get("rules", []) + said.get("warnings", []):
            assert remark["code"], (name, remark)
            assert remark["text"], (name, remark)


def test_json_says_what_was_paid_and_what_is_left(folder):
    """Exact numbers as they were written, whether it was charged, and whether a plan would be granted."""
    Ledger("budget.db", epsilon="1", delta="1e-5")
    asked = (*_ASKED, "-d", "1e-6", "--json")
    alone = json.loads(tinct(*asked).stdout)
    assert alone["cost"] == {"epsilon": "0.25", "delta": "1e-06", "charged": False, "text": "ε = 0.25, δ = 1e-06"}
    assert alone["left"] is None
    charged = json.loads(tinct(*asked, "--ledger", "budget.db").stdout)
    assert charged["cost"] == alone["cost"] | {"charged": True}
    assert charged["left"] == {"epsilon": "0.75", "delta": "9e-06", "text": "ε = 0.75, δ = 9e-06"}
    assert json.loads(tinct(*asked, "--plan", "--ledger", "budget.db").stdout)["granted"] is True
    refused = json.loads(tinct(*asked, "-e", 2, "--plan", "--ledger", "budget.db").stdout)
    assert (refused["granted"], refused["refused"]["code"]) == (False, "budget-exceeded")
    assert refused["refused"]["asked"] == {"epsilon": "2", "delta": "1e-06"}
    error = json.loads(tinct(*asked, "-e", 2, "--ledger", "budget.db", status=2).stderr)
    assert error["facts"] == {name: value for name, value in refused["refused"].items() if name not in ("code", "text")}


def test_warnings_have_a_code_and_what_they_speak_of(folder):
    """A large ε, a large δ, a lone plan; and what the owner of the data is told by check."""
    asked = ("ask", "d.csv", QUESTION, "-e", 9, "-d", "0.01", "--plan", "--json")
    warnings = {each["code"]: each for each in json.loads(tinct(*asked).stdout)["warnings"]}
    assert warnings["large-epsilon"]["epsilon"] == "9"
    assert warnings["large-delta"]["delta"] == "0.01"
    assert warnings["rows-are-people"]["declared"] is False
    done = tinct("check", "d.csv", "majority(ward)", "--by", "ward", "--groups", "N,Q", "--json", status=1)
    found = {each["code"]: each for each in json.loads(done.stdout)["warnings"]}
    assert found["no-such-cell"]["value"] == "Q"
    assert found["many-unread"]["column"] == "ward"


@pytest.mark.parametrize("words", [("--people", "x"), ("--ledgr", "b.db"), ("--margin", "0", "--plan")])
def test_with_json_a_wrong_command_line_is_an_object_too(folder, words):
    """Also what the reader of options finds wrong."""
    done = tinct("ask", "d.csv", QUESTION, "-e", 1, "--json", *words, status=2)
    assert done.stdout == ""
    assert words[0] in json.loads(done.stderr)["message"]


def test_a_remark_is_a_text_that_keeps_its_facts():
    """It equals its words, and survives the way to another process."""
    said = Remark("ε = 6 promises little", "large-epsilon", epsilon="6")
    again = pickle.loads(pickle.dumps(said))  # noqa: S301 # our own bytes
    assert said == again == "ε = 6 promises little"
    assert (again.code, again.facts, type(str(again))) == (said.code, said.facts, str)
