"""What must work after ``pip install tinct`` with nothing else: run by ``test_wheel.py`` in an empty environment."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

EXTRAS = ("duckdb", "pyarrow", "psycopg", "dp_accounting", "matplotlib", "dash", "pyspark", "networkx", "pandas")
SHELLS = ("tinct.studio", "tinct.spark")  # each is one extra as a whole


def run(*arguments: object, code: int = 0) -> str:
    """The command, as somebody would type it; its output and its errors."""
    command = [str(Path(sys.executable).with_name("tinct")), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    said = ended.stdout + ended.stderr
    assert ended.returncode == code, f"{arguments}: ended with {ended.returncode}: {said}"
    assert "Traceback" not in said, said
    return said


def no_extra_is_here() -> None:
    """The environment is as empty as it claims to be."""
    for name in EXTRAS:
        assert importlib.util.find_spec(name) is None, f"{name} is installed"


def every_module_can_be_imported() -> None:
    """Without any extra, except for the two shells that are one."""
    import tinct

    for name in tinct.__all__:
        getattr(tinct, name)
    for module in pkgutil.walk_packages(tinct.__path__, "tinct."):
        if not module.name.startswith(SHELLS) and module.name != "tinct.__main__":
            importlib.import_module(module.name)
    assert tinct.__version__ == version("tinct")


def the_library_works() -> None:
    """Design, verify, certify, release, account, collect."""
    from tinct import Ledger, Privacy, balanced, exact, graphs, local, verify

    graph, privacy = graphs.line(5, 5), Privacy("ln 2")
    mechanism = balanced(graph, privacy)
    assert verify(mechanism, graph, privacy).private
    certified = exact.certify(mechanism)
    assert exact.check(certified).edges == 9
    assert certified.release(1) in ("blue", "red")
    assert "<img" not in mechanism._repr_html_()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "budget.db", epsilon=1)
        ledger.charge(lambda: certified.release(1), epsilon="0.25", request="first")
        assert str(ledger.remaining().epsilon) == "3/4"
    mechanism = local.randomized_response(3, 1)
    assert mechanism.estimate(mechanism.privatize([0, 1, 2] * 100)).reports == 300


def the_command_works(folder: Path) -> None:
    """The same on the command line; what needs an extra says which."""
    assert "tinct" in run("--version")
    designed = run("design", "line:3,3", "--epsilon", "ln 2", "--certificate", folder / "c.json", "--json")
    assert json.loads(designed)["datasets"] == 6
    assert "exact" in run("verify", folder / "c.json", "--exact")
    run("budget", "init", folder / "b.db", "--epsilon", "1")
    run("release", folder / "c.json", "--at", "1", "--ledger", folder / "b.db")
    assert "0.693" in run("budget", "show", folder / "b.db") + run("budget", "history", folder / "b.db")
    (folder / "p.csv").write_text("symbol,p0,p1\na,0.7,0.2\nb,0.3,0.8\n", encoding="utf-8")
    assert json.loads(run("local", "design", folder / "p.csv", "--epsilon", "1", "--json"))["symbols"] == ["a", "b"]
    (folder / "data.csv").write_text("support\nyes\nno\n", encoding="utf-8")
    refused = run("ask", folder / "data.csv", "majority(support)", "--epsilon", "1", code=2)
    assert "tinct[data]" in " ".join(refused.split()), refused


def main() -> None:
    """All of it, with warnings as errors."""
    warnings.simplefilter("error")
    no_extra_is_here()
    every_module_can_be_imported()
    the_library_works()
    with tempfile.TemporaryDirectory() as folder:
        the_command_works(Path(folder))


if __name__ == "__main__":
    main()
