"""Nothing that others wrote steers the terminal: labels, names of files, questions, ledgers, errors."""

from __future__ import annotations

import ast
import csv
import json
import os
import pty
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import tinct.cli
from tinct import graphs, local
from tinct.cli import main
from tinct.cli.printing import json_text, printable, sift_warnings
from tinct.ledger import Ledger

STEERING = {
    "colour": "\x1b[31m",
    "clipboard": "\x1b]52;c;eA==\x07",
    "one-byte escape": "\x9b31m",
    "override": "\u202e",
    "isolate": "\u2066",
    "carriage return": "\r",
    "backspace": "\b",
    "next line": "\x85",
    "line separator": "\u2028",
    "delete": "\x7f",
    "line end": "\nFORGED",
}
HOSTILE = "x" + "y".join(STEERING.values()) + "[/red]"
FILE = HOSTILE.replace("/", "|")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a hostile name, and a wide terminal."""
    folder = tmp_path / FILE
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "1000")
    return folder


def run(capsys, monkeypatch, *arguments, status=0):
    """What a command says, after making sure that nothing in it steers."""
    monkeypatch.setattr(sys, "argv", ["tinct", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main.run()
    said = capsys.readouterr()
    assert status is None or (ended.value.code or 0) == status, said.out + said.err
    for text in (said.out, said.err):
        require_harmless(text)
    return said


def require_harmless(text):
    """Only what can be printed, and line ends; none of them before what would be a forged line."""
    assert all(letter.isprintable() or letter == "\n" for letter in text), ascii(text)
    assert "\nFORGED" not in text


@pytest.fixture
def say(capsys, monkeypatch, place):  # the folder is where commands run
    """Run a command in the hostile folder."""
    return lambda *arguments, status=0: run(capsys, monkeypatch, *arguments, status=status)


def hostile_graph():
    """Two hostile colours along a path of hostile datasets."""
    names = [f"{at}{HOSTILE}" for at in range(4)]
    colors = dict(zip(names, [f"no{HOSTILE}"] * 2 + [f"yes{HOSTILE}"] * 2, strict=True))
    return graphs.DatasetGraph(list(pairwise(names)), colors)


# the two sieves


@pytest.mark.parametrize("name", STEERING)
def test_no_control_character_survives(name):
    """In lines it is replaced by one that can be seen, in JSON it is escaped and read back as it was."""
    text = f"a{STEERING[name]}b"
    require_harmless(printable(text))
    require_harmless(json_text([text]))
    assert json.loads(json_text({text: text})) == {text: text}


def test_every_character_is_printable_or_replaced():
    """All of Unicode: what can be printed stays, spaces become spaces, the rest is one visible character."""
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        shown = printable(letter)
        assert shown == letter if letter.isprintable() else shown in (" ", "�")
    everything = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, sys.maxunicode + 1)))
    assert json.loads(json_text(everything)) == everything
    require_harmless(json_text(everything))
    assert json_text(["ε", "日本", "😀"], None) == '["ε", "日本", "😀"]'


# every command


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_labels_of_graphs_do_not_reach_the_terminal(say, form):
    """Design, one row of it, and its verification, with hostile datasets, answers and names of files."""
    graphs.write(hostile_graph(), "g.json")
    target, certificate = f"m{FILE}.json", f"c{FILE}.json"
    assert "yesx" in say("design", "g.json", "-e", "1", "-o", target, "--certificate", certificate, *form).out
    assert "yesx" in say("design", "g.json", "-e", "1", "--at", f"0{HOSTILE}", *form).out
    say("verify", target, *form)
    assert "x" in say("verify", target, "-e", "0.1", *form, status=1).out
    say("verify", certificate, *form)
    fields = json.loads(Path(certificate).read_text())
    fields["rows"][0] = [fields["denominator"], "0"]
    Path("forged.json").write_text(json.dumps(fields))
    say("verify", "forged.json", *form, status=1)
    say("release", certificate, "--at", f"0{HOSTILE}", *form)
    say("release", certificate, "--at", f"nobody{HOSTILE}", *form, status=2)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_answers_in_orders_do_not_reach_the_terminal(say, form):
    """Orders of preference are printed with every answer's name."""
    answers = [f"{letter}{HOSTILE}" for letter in "abc"]
    colors = {0: tuple(answers), 1: tuple(answers), 2: tuple(reversed(answers)), 3: tuple(reversed(answers))}
    graphs.write(graphs.DatasetGraph([(0, 1), (1, 2), (2, 3)], colors, outputs=answers), "g.json")
    assert "bx" in say("design", "g.json", "-e", "1", *form).out


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_questions_and_groups_do_not_reach_the_terminal(say, form, tmp_path, monkeypatch):
    """Groups that were found in the data, questions that are refused, names of files, and a plan.

    A label that steers is no group at all.
    """
    monkeypatch.chdir(tmp_path)
    say("ask", f"d{FILE}.csv", "majority(support)", "-e", "1", *form, status=2)
    data = "d\x9b31m\u202e\r\b\nFORGED.csv"
    with open(data, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["ward", "support"])
        rows.writerows([f"N{HOSTILE}", "yes"] for _ in range(400))
    Ledger("b.db", epsilon=100)
    asked = ("ask", data, "majority(support)", "-e", "30", "-d", "1e-6", "--by", "ward")
    assert "Nx" not in say(*asked, *form).out
    say(*asked, "--plan", *form)
    for text in (STEERING["colour"], STEERING["override"], HOSTILE):
        say("ask", data, f"majority(a{text})", "-e", "1", *form, status=None)
        say("ask", data, "majority(support)", "-e", "1", "--where", f"ward = 'N{text}'", *form, status=None)
        say("ask", data, "majority(support)", "-e", "1", "--by", "ward", "--groups", f"a{text},b", *form, status=None)
        say("ask", data, f"mode(ward, categories=['a{text}', 'b'])", "-e", "1", *form, status=None)
        say("ask", data, "majority(support)", "-e", "1", "--ledger", f"b{text}.db", *form, status=None)
        say(
            "ask", data, "majority(support)", "-e", "1", "--ledger", "b.db", "--request", f"r{text}", *form, status=None
        )


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_texts_of_ledgers_do_not_reach_the_terminal(say, form):
    """Questions, answers, groups and statements that a ledger holds, and names of files that it is given."""
    ledger = Ledger("b.db", epsilon=3)
    ledger.add_partition("ward", f"one each{HOSTILE}")
    for text in (*STEERING.values(), HOSTILE):
        ledger.charge(lambda text=text: f"a{text}", epsilon="0.1", question=f"q{text}")
    ledger.charge(lambda: {HOSTILE: HOSTILE}, epsilon="0.1", question="q", partition="ward", group=["g"])
    assert "qx" in say("budget", "history", "b.db", *form).out
    assert "one eachx" in say("budget", "show", "b.db", *form).out
    say("budget", "show", "b.db", "--scope", f"s{HOSTILE}", *form, status=2)
    say("budget", "show", f"none{FILE}.db", *form, status=2)
    say("budget", "init", f"new{FILE}.db", "-e", "1", "--partition", f"p=w{HOSTILE}", *form)
    if not form:
        assert "Written: hx" in say("budget", "export", "b.db", f"h{FILE}.csv").out


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_symbols_of_local_mechanisms_do_not_reach_the_terminal(say, form):
    """Symbols, names and notes of mechanisms, in designs, estimates, tests and comparisons."""
    symbols = [f"{letter}{HOSTILE}" for letter in "abcd"]
    both = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
    mechanism = replace(local.randomized_response(4, 1, symbols=symbols), name=f"m{HOSTILE}", note=HOSTILE)
    mechanism.to_json("m.json")
    replace(local.optimal(*both, 1, symbols=symbols), name=f"o{HOSTILE}").to_json("o.json")
    Path("r.csv").write_text("report\n" + "0\n1\n" * 50)
    assert "ax" in say("local", "estimate", "r.csv", "-m", "m.json", *form).out
    say("local", "test", "r.csv", "-m", "o.json", *form)
    say("local", "test", "r.csv", "-m", "m.json", *form, status=2)
    with open("p.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["symbol", "p0", "p1"], *zip(symbols, *both, strict=True)])
    say("local", "design", "p.csv", "-e", "1", "-o", f"d{FILE}.json", *form)
    say("local", "design", "--mechanism", "geometric", "--symbols", ",".join(symbols), "-e", "1", *form)
    say("local", "design", "--mechanism", f"m{HOSTILE}", "--symbols", "a,b", "-e", "1", *form, status=2)
    say("local", "compare", "p.csv", "--epsilons", "1", *form)
    say("local", "compare", "p.csv", "--epsilons", "1", "-u", f"kl{HOSTILE}", *form, status=2)
    say("local", "regimes", "p.csv", *form)
    if not form:
        with open("a.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["answer"], *([symbol] for symbol in symbols)])
        assert "(mx" in say("local", "privatize", "a.csv", "-c", "answer", "-m", "m.json", "-o", f"r{FILE}.csv").out
        say("local", "privatize", "a.csv", "-c", HOSTILE, "-m", "m.json", "-o", "s.csv", status=2)


def test_figures_do_not_bring_names_to_the_terminal(say):
    """What is drawn, where it is written, and what is no kind of figure."""
    graphs.write(hostile_graph(), "g.json")
    assert "Written: fx" in say("plot", "g.json", "-e", "1", "-o", f"f{FILE}.svg").out
    say("plot", HOSTILE, "g.json", "-o", "f.svg", status=2)
    say("plot", f"none{FILE}.json", "-o", "f.svg", status=2)


@pytest.mark.parametrize("name", STEERING)
def test_errors_do_not_repeat_what_steers(say, name):
    """Names of files that are not there, options and commands that do not exist, and files that make no sense."""
    text = STEERING[name]
    path = f"f{text.replace('/', '|')}.json"
    for line in (
        ["verify", path], ["design", path, "-e", "1"], ["release", path, "--at", "1"], ["plot", path, "-o", "f.svg"],
        ["ask", path, "majority(a)", "-e", "1"], ["local", "estimate", path, "-m", path], [f"c{text}"],
        ["design", f"--no{text}"],
        ["design", "majority:3", "-e", f"1{text}"], ["design", "majority:3", f"extra{text}"],
        ["design", f"m{text}:3", "-e", "1"],
        ["budget", "show", path], ["studio", "--ledger", path, "--no-browser"], ["studio", "--port", f"p{text}"],
    ):  # fmt: skip
        say(*line, status=None if text.isspace() else 2)  # blanks around a number are no error
    Path(path).write_text(json.dumps({"schema": f"tinct/mechanism@{text}"}))
    say("verify", path, status=2)
    Path(path).write_text(json.dumps({"schema": "tinct/mechanism@1", f"a{text}": 1}))
    say("verify", path, status=2)


def test_a_bug_does_not_repeat_what_steers(say, monkeypatch):
    """A traceback may quote anything."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError(HOSTILE)

    monkeypatch.setattr("tinct.cli.design.load_graph", broken)
    assert "| ValueError: x" in say("design", "majority:3", "-e", "1", status=1).err


def test_warnings_do_not_repeat_what_steers(capsys):
    """Libraries warn about what they were given, in its own words."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        sift_warnings()
        warnings.warn(HOSTILE, stacklevel=1)
    said = capsys.readouterr().err
    require_harmless(said)
    assert said.startswith("tinct: UserWarning: x")


def test_a_terminal_gets_colours_and_no_others(tmp_path):
    """On a terminal, where there are escape sequences, all of them are the command's own."""
    graphs.write(hostile_graph(), tmp_path / "g.json")
    inner, outer = pty.openpty()
    line = [sys.executable, "-m", "tinct", "design", "g.json", "-e", "1", "-o", f"[|red]{FILE}.json"]
    environment = {**os.environ, "COLUMNS": "1000", "TERM": "xterm-256color"}
    with subprocess.Popen(line, cwd=tmp_path, env=environment, stdout=outer, stderr=outer) as process:
        os.close(outer)
        said = b""
        try:
            while part := os.read(inner, 1 << 16):
                said += part
        except OSError:  # the other end is closed
            pass
    os.close(inner)
    assert process.returncode == 0, said
    text = said.decode().replace("\r\n", "\n")
    assert "\x1b[1m" in text
    assert "yesx" in text
    for name in ("colour", "clipboard", "one-byte escape", "override", "backspace", "line end"):
        assert STEERING[name] not in text.replace("\x1b[31mnot", "")


# nobody can forget it

ALLOWED = {"printing.py"}
NAMES = {"echo", "secho", "style", "prompt", "confirm", "progressbar", "print", "stdout", "stderr", "write"}
METHODS = (
    r"typer\.(echo|secho|style|prompt|confirm|progressbar|echo_via_pager)|os\.(write|writev|system)"
    r"|sys\.(stdout|stderr|__stdout__|__stderr__)\.(write|writelines|buffer)"
)
PRINTERS = {"rich", "click", "logging", "warnings", "pprint"}
OF_RICH = {"rich.markup", "rich.progress"}  # a bar prints on the screen that it is given


def prints_past(source):
    """The lines of a module on which something is printed, or could be, past the two sieves."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if _prints(node)]


def _prints(node):
    if isinstance(node, ast.Name):
        return node.id == "print"
    if isinstance(node, ast.Attribute):
        return re.fullmatch(METHODS, ast.unparse(node)) is not None
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = {alias.name for alias in node.names}
        of_rich = module.split(".")[0] == "rich" and module not in OF_RICH
        return of_rich or module in PRINTERS or bool(names & NAMES and module in ("typer", "builtins", "sys", "os"))
    return isinstance(node, ast.Import) and any(alias.name.split(".")[0] in PRINTERS for alias in node.names)


def test_no_command_prints_past_the_sieve():
    """Every module of the commands prints through ``printing`` only."""
    modules = sorted(Path(tinct.cli.__file__).parent.rglob("*.py"))
    assert len(modules) > 10
    found = {
        path.name: list(prints_past(path.read_text(encoding="utf-8"))) for path in modules if path.name not in ALLOWED
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "print(1)", "import typer; typer.echo(1)", "import typer; typer.secho(1)", "from typer import echo",
        "from rich import print",
        "from rich.console import Console", "from rich.table import Table", "import sys; sys.stdout.write('')",
        "import rich",
        "import sys; sys.stderr.buffer.write(b'')", "import os; os.write(1, b'')", "from sys import stdout",
        "import click",
        "import warnings", "import logging", "from rich import console", "import sys; sys.__stdout__.write('')",
    ],
)  # fmt: skip
def test_the_search_finds_what_prints_past_the_sieve(line):
    """The search of the test above, on lines that it must find."""
    assert prints_past(line) == [1]
